import subprocess
import sys

import pytest

import _dpassay_pytestplugin
from dpassay.impl.catalogue import entries
from dpassay.properties.mechanisms import mechanism_records
from dpassay.spec.statement import all_statements
from dpassay.testing import DEFAULT_LEVEL

pytest_plugins = ["pytester"]

# pytester forgets what an inner run imports first; imported again, a module would fill its registry a second time
IMPORTED_BEFORE = (mechanism_records(), entries(), all_statements())

MODULE = """
import pytest
from dpassay.testing import assert_private

def noisy(data, size, rng):
    return (data[0] + rng.laplace(0, SCALE, size)).round(6)

@pytest.mark.dpassay
def test_noisy():
    assert_private(noisy, "pure:1", "vector:size=1,linf=1", calls=3000, level=1e-7)

def test_again():
    assert_private(noisy, "pure:2", "vector:size=1,linf=1", calls=2000)

def test_other():
    pass
"""


def test_the_header_and_the_summary_state_the_levels(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(MODULE.replace("SCALE", "1.0"))
    result = pytester.runpytest_inprocess("--strict-markers")
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(
        [
            "dpassay: *, profile default, default level 1e-09 per assertion",
            (
                "2 privacy assertions; probability of any false alarm at most 1.01e-07; "
                "weakest power: epsilon 3.* for the claim pure:2.0 (*::test_again)"
            ),
        ]
    )


def test_a_selection_states_its_own_sum(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(MODULE.replace("SCALE", "1.0"))
    selected = pytester.runpytest_inprocess("-m", "dpassay")
    selected.stdout.fnmatch_lines(
        ["1 privacy assertion; probability of any false alarm at most 1e-07; weakest power: *"]
    )
    without = pytester.runpytest_inprocess("-k", "other")
    without.stdout.no_fnmatch_line("*privacy assertion*")


def test_the_power_is_a_property_of_the_test_in_junit(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(MODULE.replace("SCALE", "1.0"))
    pytester.runpytest_inprocess("--junitxml", "report.xml", "-k", "again")
    report = (pytester.path / "report.xml").read_text(encoding="utf-8")
    assert report.count('name="dpassay power"') == 1
    assert "for the claim pure:2.0" in report


def test_a_violation_fails_with_the_report_alone(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(MODULE.replace("SCALE", "0.3"))
    result = pytester.runpytest_inprocess("-k", "noisy")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["E * privacy loss > *but PureDP(1.0) allows at most 1 *", "E * event: *", "E * assert_private(noisy, *"]
    )
    result.stdout.no_fnmatch_line("*in hunt*")


@pytest.mark.parametrize("on_ci", [False, True])
@pytest.mark.parametrize(("profile", "examples", "derandomised"), [("ci", 100, True), ("thorough", 2000, False)])
def test_profiles_are_loaded(
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    profile: str,
    examples: int,
    derandomised: bool,
    on_ci: bool,
) -> None:
    if on_ci:
        monkeypatch.setenv("CI", "true")
    else:
        monkeypatch.delenv("CI", raising=False)
    pytester.makepyfile(
        f"""
        from hypothesis import settings
        def test_profile():
            assert settings().max_examples == {examples}
            assert settings().derandomize is {derandomised}
        """
    )
    result = pytester.runpytest_subprocess(f"--dpassay-profile={profile}", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines([f"dpassay: *, profile {profile}, *"])


def test_an_unknown_profile_is_refused(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_inprocess("--dpassay-profile=hasty")
    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_the_plugin_does_not_import_the_library() -> None:
    code = "import sys, _dpassay_pytestplugin; sys.exit(any(name.split('.')[0] == 'dpassay' for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    assert _dpassay_pytestplugin.DEFAULT_LEVEL == DEFAULT_LEVEL
