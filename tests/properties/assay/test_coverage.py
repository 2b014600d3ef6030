"""The table of a library's public functions names the cases that reach them, by calls or by name."""

import json
import sys
from pathlib import Path

import pytest

from dpassay.arguments import UsageError
from dpassay.cli import main
from dpassay.properties.assay.coverage import coverage, summary
from dpassay.properties.assay.suite import Target

TOY = """
import functools
from json import dumps
__all__ = ["Noise", "Base", "Refusal", "dumps", "epsilon", "gaussian_delta", "wrapped", "unused", "constant"]
constant = 3
class Refusal(ValueError): pass
class Base:
    def release(self, value): return float(value)
class Noise(Base):
    pass
def epsilon(rho): return _helper(rho)
def _helper(rho): return 1.0
def gaussian_delta(sigma): raise Refusal("no")
def _decorated(function):
    @functools.wraps(function)
    def inner(*arguments): return function(*arguments)
    return inner
@_decorated
def wrapped(value):
    if value < 0: raise Refusal("negative")
    return value
def unused(): pass
def named(): pass
"""
ADAPTER = """
import toy
from dpassay.adapter import Answer, Family, Mechanism, Nonsense
LIBRARY = "numpy"
def make(width):
    return Mechanism("", "vector:size=1,linf=1", "pure:1", sample_one=lambda data: toy.wrapped(width))
CASES = [
    Mechanism("sum", "vector:size=1,linf=1", "pure:1", sample_one=lambda data: toy.Noise().release(data[0])),
    Family("family", make, {"width": (2, 3)}),
    Answer("refuses", "gaussian_delta", lambda sigma, epsilon, count: toy.gaussian_delta(sigma)),
    Nonsense("invalid", {"-1": lambda: toy.wrapped(-1), "rho": lambda: toy.epsilon(1)}),
    Nonsense("unused(built before)", {"none": lambda: 1}),
]
"""
ASKED = {
    "toy.Noise": ["sum"],
    "toy.Base": ["sum"],
    "toy.epsilon": ["invalid"],
    "toy.gaussian_delta": ["refuses"],
    "toy.wrapped": ["family", "invalid"],
    "toy.unused": ["unused(built before)"],
}


@pytest.fixture
def adapter(tmp_path: Path) -> Path:
    (tmp_path / "toy.py").write_text(TOY)
    path = tmp_path / "adapter.py"
    path.write_text(ADAPTER)
    return path


def test_each_public_function_has_the_cases_that_reach_it(adapter: Path) -> None:
    records, missing = coverage(Target(sys.executable, str(adapter)), ["toy", "toy_of_another_version"])
    assert {record.function: record.cases for record in records} == ASKED
    assert {record.function for record in records if record.kind == "class"} == {"toy.Noise", "toy.Base"}
    assert missing == [
        "toy_of_another_version: ModuleNotFoundError: No module named 'toy_of_another_version'",
    ]
    assert summary(records).endswith(": 6 of 6 public functions are asked")


def test_a_function_that_no_case_reaches_is_listed(adapter: Path) -> None:
    (adapter.with_name("toy.py")).write_text(TOY.replace('"constant"]', '"constant", "named"]'))
    records, _ = coverage(Target(sys.executable, str(adapter)), ["toy"])
    assert [record.function for record in records if not record.cases] == ["toy.named"]
    assert summary(records).endswith(": 6 of 7 public functions are asked")


def test_the_command_reads_the_modules_of_the_library(adapter: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError, match="--coverage needs a list of modules"):
        coverage(Target(sys.executable, str(adapter)), [])
    adapter.with_name("library.toml").write_text('distribution = "numpy"\nmodules = ["toy"]\n')
    assert main(["assay", str(adapter), "--coverage", "--json"]) == 0
    out, err = capsys.readouterr()
    assert {record["function"]: record["cases"] for record in map(json.loads, out.splitlines())} == ASKED
    assert "6 of 6 public functions" in err
    assert main(["assay", str(adapter), "--coverage"]) == 0
    assert "toy.wrapped" in capsys.readouterr().out
