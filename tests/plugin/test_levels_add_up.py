"""The sum of the levels under everything that runs tests in another way: workers, reruns, failures, selections."""

import subprocess
import sys

import pytest

from dpassay.impl.catalogue import entries
from dpassay.properties.mechanisms import mechanism_records
from dpassay.spec.statement import all_statements

pytest_plugins = ["pytester"]

MODULE = """
import pytest
from dpassay.testing import assert_private

def noisy(data, size, rng):
    return (data[0] + rng.laplace(0, 1, size)).round(6)

@pytest.mark.parametrize("level", [1e-7, 2e-7, 4e-7])
def test_noisy(level):
    assert_private(noisy, "pure:2", "vector:size=1,linf=1", calls=600, level=level, trace=False)
"""

RERUNS = """
from _pytest.runner import runtestprotocol

def pytest_runtest_protocol(item, nextitem):
    '''Run every test three times, as a plugin for flaky tests does with one that fails.'''
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for last in (False, False, True):
        for report in runtestprotocol(item, nextitem=nextitem, log=False):
            if not last and report.when == "call":
                report.outcome = "rerun"
            item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True
"""


# pytester forgets what an inner run imports first; imported again, a module would fill its registry a second time
IMPORTED_BEFORE = (mechanism_records(), entries(), all_statements())


def summary(pytester: pytest.Pytester, *options: str) -> list[str]:
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", *options)
    return [line.partition("; weakest")[0] for line in result.outlines if "privacy assertion" in line]


def test_workers_change_nothing(pytester: pytest.Pytester) -> None:
    pytest.importorskip("xdist")
    pytester.makepyfile(MODULE)
    expected = "3 privacy assertions; probability of any false alarm at most 7e-07"
    assert summary(pytester) == [expected]
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-n", "2")
    assert expected in [line.partition("; weakest")[0] for line in result.outlines]


def test_reruns_are_counted_as_often_as_they_run(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(MODULE)
    pytester.makeconftest(RERUNS)
    assert summary(pytester) == ["9 privacy assertions; probability of any false alarm at most 2.1e-06"]


def test_a_selection_changes_no_level_of_the_others(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(MODULE)
    assert summary(pytester, "-k", "2e-07") == ["1 privacy assertion; probability of any false alarm at most 2e-07"]


def test_a_test_that_goes_on_to_fail_is_counted(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(MODULE + "    assert level < 3e-7\n")
    assert summary(pytester) == ["3 privacy assertions; probability of any false alarm at most 7e-07"]


def test_a_run_without_privacy_tests_loads_nothing(pytester: pytest.Pytester) -> None:
    """Neither the library nor numpy, scipy, sympy or hypothesis' own strategies because of the plugin."""
    pytester.makepyfile("def test_other(): pass")
    program = (
        "import sys, pytest\n"
        "status = pytest.main(['-q', '-p', 'no:cacheprovider', '-p', 'no:hypothesispytest'])\n"
        "heavy = {'dpassay', 'numpy', 'scipy', 'sympy', 'joblib', 'rich'}\n"
        "loaded = heavy & {name.partition('.')[0] for name in sys.modules}\n"
        "sys.exit(f'{status} {loaded}' if status or loaded else 0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=pytester.path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "privacy assertion" not in done.stdout


EXACT = """
import pytest
from dpassay.testing import assert_private

def noisy(data, size, rng):
    return data[0] + rng.laplace(0, 1, size)

def test_proved():
    result = assert_private(noisy, "pure:1", "vector:size=1,linf=1", level=1e-7, float64="ignore")
    assert (result.verdict, result.evidence, result.calls) == ("holds", "exact", 0)

def test_sampled():
    assert_private(noisy, "pure:2", "vector:size=1,linf=1", calls=600, level=1e-7, float64="ignore", trace=False)

def test_refuted():
    with pytest.raises(AssertionError, match="certified"):
        assert_private(noisy, "pure:0.5", "vector:size=1,linf=1")
"""


@pytest.mark.traced
def test_exact_decisions_take_no_level(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(EXACT)
    assert summary(pytester) == [
        "3 privacy assertions, 2 of them decided exactly; probability of any false alarm at most 1e-07"
    ]
