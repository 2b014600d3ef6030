"""The tests that a library gets; without ``--dpassay-library`` there is one, which says so and is skipped."""

import pytest

from dpassay.properties.assay.expected import ExpectedFailure
from dpassay.properties.assay.suite import Check
from dpassay.properties.suite.library_suite import LibrarySuite, suite_of

_NOTHING = pytest.param(None, id="no library", marks=pytest.mark.skip(reason="give --dpassay-library NAME or FILE"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make a test of each check, and of each expected failure that stands for many or for none."""
    suite = suite_of(metafunc.config)
    if "check" in metafunc.fixturenames:
        metafunc.parametrize("check", [_NOTHING] if suite is None else suite.parameters())
    if "entry" in metafunc.fixturenames:
        metafunc.parametrize("entry", [_NOTHING] if suite is None else suite.shared_entries())


@pytest.fixture
def library(pytestconfig: pytest.Config) -> LibrarySuite:
    """Return the suite of the library."""
    suite = suite_of(pytestconfig)
    assert suite is not None
    return suite


@pytest.mark.dpassay
def test_law(library: LibrarySuite, check: Check) -> None:
    """The law holds of the mechanism or accountant."""
    __tracebackhide__ = True
    library.demand(check)


@pytest.mark.dpassay
def test_expected_failure_appears(library: LibrarySuite, entry: ExpectedFailure) -> None:
    """What is expected of several of them is found in one at least."""
    __tracebackhide__ = True
    library.demand_appearance(entry)
