"""Statements of a module as tests: ``--dpassay-statements``."""

from pathlib import Path

import pytest

from dpassay.impl.catalogue import entries
from dpassay.init_command import write_template
from dpassay.properties.mechanisms import mechanism_records
from dpassay.spec.statement import all_statements

pytest_plugins = ["pytester"]

# pytester forgets what an inner run imports first; imported again, a module would fill its registry a second time
IMPORTED_BEFORE = (mechanism_records(), entries(), all_statements())


@pytest.fixture
def paper(pytester: pytest.Pytester) -> Path:
    folder = pytester.path / "paper"
    write_template("paper", "tested_paper", folder)
    return folder


def test_each_statement_is_a_test_and_needs_a_mutant(pytester: pytest.Pytester, paper: Path) -> None:
    tests = paper / "test_tested_paper.py"
    text = tests.read_text(encoding="utf-8")
    without = text.replace('@pytest.mark.kills("estimate_is_unbiased")\n', "")
    tests.write_text(without, encoding="utf-8")
    result = pytester.runpytest_subprocess("-v", "--dpassay-statements", str(paper / "tested_paper.py"), str(paper))
    result.assert_outcomes(passed=7, failed=1)
    result.stdout.fnmatch_lines([
        "*tested_paper::estimate_is_unbiased PASSED*",
        "*tested_paper::every statement detects a fault FAILED*",
        "no collected test has the marker kills for estimate_is_unbiased:*",
    ])  # fmt: skip


def test_a_mutant_must_be_detected_during_its_test(pytester: pytest.Pytester, paper: Path) -> None:
    tests = paper / "test_tested_paper.py"
    tests.write_text(
        "import pytest, tested_paper\n"
        "from fractions import Fraction\n"
        "@pytest.mark.kills('pure_dp_of_randomised_response', 'estimate_is_unbiased')\n"
        "def test_nothing():\n"
        "    tested_paper.estimate_is_unbiased()\n"
        "@pytest.mark.kills('epsilon_of_randomised_response_is_attained')\n"
        "def test_a_fault(monkeypatch):\n"
        "    monkeypatch.setattr(tested_paper, 'largest_ratio', lambda truth: Fraction(2))\n"
        "    tested_paper.epsilon_of_randomised_response_is_attained(truth=Fraction(3, 4))\n",
        encoding="utf-8",
    )
    file = str(paper / "tested_paper.py")
    result = pytester.runpytest_subprocess("-v", "-k", "test_", "--dpassay-statements", file, str(paper))
    result.stdout.fnmatch_lines([
        "*::test_nothing FAILED*",
        "*::test_a_fault PASSED*",
        "the test is marked kills('estimate_is_unbiased', *), but no verdict*(pure_dp_of_*: not decided at all)*",
    ])  # fmt: skip


def test_a_false_statement_fails_with_its_witness(pytester: pytest.Pytester, paper: Path) -> None:
    file = paper / "tested_paper.py"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("return truth / (1 - truth)", "return 2 * truth"), encoding="utf-8")
    result = pytester.runpytest_subprocess(
        "-k", "pure_dp_of_randomised_response or every", "--dpassay-statements", str(file)
    )
    result.assert_outcomes(failed=1, passed=1, deselected=6)
    result.stdout.fnmatch_lines(["pure_dp_of_randomised_response is violated at {'truth':*"])


def test_a_module_without_statements_is_wrong_use(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_subprocess("--dpassay-statements", "json")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: 'json' has no statements*"])
