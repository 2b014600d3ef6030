"""Planted faults: every kind is made, draws repeat, and what is drawn is valid Python that differs from the source."""

import ast
import tomllib
from pathlib import Path

import pytest
from benchmarks.planted_faults import draw
from benchmarks.public_bugs import read
from benchmarks.written_faults import read_faults

from dpassay.arguments import UsageError
from dpassay.impl.libraries.registry import known_libraries

SOURCE = '''
"""A library."""
import numpy as np

LIMIT = 3 * 4


class Mechanism:
    def variance(self, x):
        return x * x / 2

    def randomise(self, value, mech, scale):
        """Add noise."""
        value = np.clip(value, -scale, scale)
        if value < 0:
            value = mech.add_noise(value)
        return max(value, len(self.parts)) * scale + make(epsilon=self.epsilon, sensitivity=scale - 1) / self.epsilon
'''
KINDS = {
    "bound",
    "clip",
    "comparison",
    "count",
    "factor",
    "guard",
    "noise left out",
    "noise scale",
    "noise used again",
    "sign",
    "split",
}


@pytest.fixture
def package(tmp_path: Path) -> Path:
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "code.py").write_text(SOURCE, "utf-8")
    return tmp_path / "library"


def test_every_kind_of_fault_is_drawn_before_any_kind_twice(package: Path) -> None:
    drawn = draw(package, ["code.py"], len(KINDS), seed=3)
    assert {mutant.operator for mutant in drawn} == KINDS


def test_faults_are_other_programs_in_functions_that_compute_privacy(package: Path) -> None:
    drawn = draw(package, ["code.py"], 1000, seed=3)
    assert len({mutant.changed for mutant in drawn}) == len(drawn) > 15
    for mutant in drawn:
        assert ast.dump(ast.parse(mutant.changed)) != ast.dump(ast.parse(SOURCE))
        assert mutant.function == "Mechanism.randomise"


def test_a_draw_repeats_and_a_larger_one_begins_alike(package: Path) -> None:
    few, many = (draw(package, ["code.py"], count, seed=5) for count in (7, 12))
    assert [mutant.key for mutant in many[:7]] == [mutant.key for mutant in few]
    assert [mutant.key for mutant in draw(package, ["code.py"], 7, seed=6)] != [mutant.key for mutant in few]


def test_every_public_bug_names_a_thread_and_its_checks_or_a_reason() -> None:
    bugs = read()
    assert len(bugs) >= 25
    for bug in bugs:
        assert bug.issue.startswith("https://github.com/")
        assert bool(bug.why) != bool(bug.mechanism and bug.law)
        assert bug.library in known_libraries()


def test_causes_of_survivors_are_known() -> None:
    path = Path(__file__).parents[2] / "benchmarks" / "planted_faults.toml"
    causes = tomllib.loads(path.read_text("utf-8"))
    assert {entry["cause"] for entry in causes.values()} <= {"equivalent", "weaker", "not adapted", "too little power"}
    assert all(entry["reason"] for entry in causes.values())


WRITTEN = """
[[fault]]
path = "library/code.py"
old = "np.clip(value, -scale, scale)"
new = "np.clip(value, -scale, 2 * scale)"
what = "The upper bound is twice as far."
level = "obvious"
"""


def test_a_written_fault_is_planted_where_it_says(package: Path, tmp_path: Path) -> None:
    file = tmp_path / "faults.toml"
    file.write_text(WRITTEN, "utf-8")
    (mutant,) = read_faults(file, tmp_path)
    assert mutant.changed == SOURCE.replace("-scale, scale)", "-scale, 2 * scale)")
    assert SOURCE.splitlines()[mutant.line - 1].strip() == "value = np.clip(value, -scale, scale)"
    assert (mutant.path, mutant.function) == ("library/code.py", "Mechanism.randomise")
    assert mutant.diff == (
        "-value = np.clip(value, -scale, scale)",
        "+value = np.clip(value, -scale, 2 * scale)",
    )


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("scale", "2", "occurs 5 times"),
        ("absent", "2", "occurs 0 times"),
        ("value < 0", "value<0", "is the same program"),
        ("value < 0", "value <", "is no valid Python"),
    ],
)
def test_a_fault_that_cannot_be_planted_is_refused(
    package: Path, tmp_path: Path, old: str, new: str, words: str
) -> None:
    file = tmp_path / "faults.toml"
    file.write_text(
        WRITTEN.replace('"np.clip(value, -scale, scale)"', f'"{old}"').replace(
            "np.clip(value, -scale, 2 * scale)", new
        ),
        "utf-8",
    )
    with pytest.raises(UsageError, match=words):
        read_faults(file, tmp_path)
