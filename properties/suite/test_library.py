"""The tests of a library; without ``--dpassay-library`` one test is collected and skipped."""

import pytest

from dpassay.properties.assay.expected import ExpectedFailure
from dpassay.properties.assay.suite import Check
from dpassay.properties.suite.library_suite import LibrarySuite, suite_of

_NOTHING = pytest.param(None, id="no library", marks=pytest.mark.skip(reason="give --dpassay-library NAME or FILE"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrise the tests by the checks, and by the expected failures that match several checks or none."""
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
    """The law holds for the mechanism or accountant."""
    __tracebackhide__ = True
    library.demand(check)


@pytest.mark.dpassay
def test_expected_failure_appears(library: LibrarySuite, entry: ExpectedFailure) -> None:
    """An expected failure that matches several checks appears in at least one of them."""
    __tracebackhide__ = True
    library.demand_appearance(entry)
