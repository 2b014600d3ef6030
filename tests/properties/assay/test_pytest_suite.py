"""A library's tests in pytest: expected failures are strict, one by one and as globs; options are checked."""

import pytest

from dpassay.properties.suite import library_suite

pytest_plugins = ["pytester"]

IMPORTED_BEFORE = (library_suite,)  # pytester forgets what an inner run imports first

ADAPTER = """
from dpassay.adapter import Nonsense
LIBRARY = "numpy"
CASES = [
    Nonsense("careful", {"a word": lambda: int("word")}, refused_by=("ValueError",)),
    Nonsense("careless", {"minus one": lambda: -1}),
    Nonsense("careless too", {"minus one": lambda: -1}),
]
"""
FAILURE = '[[failure]]\nmechanism = "{}"\nlaw = "*"\nversions = ""\nfinding = "{}"\nreason = "known"\nupstream = "-"\n'


def run(pytester: pytest.Pytester, *options: str) -> tuple[int, str]:
    result = pytester.runpytest_inprocess("--pyargs", "dpassay.properties.suite", "-v", *options)
    return result.ret, result.stdout.str() + result.stderr.str()


def write(pytester: pytest.Pytester, *failures: tuple[str, str]) -> str:
    (pytester.path / "adapter.py").write_text(ADAPTER)
    (pytester.path / "expected_failures.toml").write_text("".join(FAILURE.format(*failure) for failure in failures))
    return "adapter.py"


def test_findings_fail_and_expected_ones_do_not(pytester: pytest.Pytester) -> None:
    adapter = write(pytester, ("careless", "wrong answer"))
    status, printed = run(pytester, "--dpassay-library", adapter)
    assert status == 1
    assert "test_law[careful-rejects_invalid_calls] PASSED" in printed
    assert "test_law[careless-rejects_invalid_calls] XFAIL" in printed
    assert "test_law[careless too-rejects_invalid_calls] FAILED" in printed
    assert "wrong answer: " in printed
    assert "[rejects_invalid_calls(careless too)]" in printed


def test_an_expected_failure_that_does_not_appear_fails(pytester: pytest.Pytester) -> None:
    failures = (
        ("careless*", "wrong answer"),
        ("careful", "wrong answer"),
        ("care*", "violation"),
        ("no*", "violation"),
    )
    adapter = write(pytester, *failures)
    status, printed = run(pytester, "--dpassay-library", adapter)
    assert status == 1
    assert "[XPASS(strict)] known (-)" in printed
    assert "test_expected_failure_appears[careless*-*] PASSED" in printed
    assert "test_expected_failure_appears[care*-*] FAILED" in printed
    assert "test_expected_failure_appears[no*-*] FAILED" in printed
    assert "no mechanism and law of adapter.py matches 'no*', '*'" in printed


def test_without_a_library_nothing_runs(pytester: pytest.Pytester) -> None:
    status, printed = run(pytester, "-rs")
    assert status == 0
    assert "give --dpassay-library NAME or FILE" in printed


NOISY = """
import numpy as np
from dpassay.adapter import Mechanism

LIBRARY = "noisy"
CASES = [
    Mechanism(
        "laplace", neighbours="vector:size=1,linf=1", claim="pure:1",
        sample_many=lambda data, size: data[0] + np.random.default_rng().laplace(size=size),
    )
]
"""


def test_the_number_of_outcomes_is_an_option(pytester: pytest.Pytester) -> None:
    (pytester.path / "adapter.py").write_text(NOISY)
    options = ("--dpassay-library", "adapter.py", "-k", "privacy_of_claim")
    status, printed = run(pytester, *options, "--dpassay-calls", "600")
    assert (status, "weak test" in printed) == (1, True)
    assert "calls: 600" in printed
    assert run(pytester, *options, "--dpassay-calls", "20000")[0] == 0
    assert "--dpassay-calls must be at least 1, got 0" in run(pytester, *options, "--dpassay-calls", "0")[1]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--dpassay-library", "nothing"), "LIBRARY 'nothing' is not one of"),
        (
            ("--dpassay-library", "adapter.py", "--dpassay-python", "/nowhere"),
            "not an interpreter that can be started",
        ),
        (
            ("--dpassay-library", "adapter.py", "--dpassay-version", "1.0"),
            "needs a library.toml with an environment beside",
        ),
    ],
)
def test_wrong_options_are_named(pytester: pytest.Pytester, options: tuple[str, ...], words: str) -> None:
    write(pytester)
    status, printed = run(pytester, *options)
    assert status != 0
    assert words in printed
    assert "Traceback" not in printed
