"""The pytest plugin: a marker, a profile, and the sum of the levels of the tests that ran.

It imports dpassay only where a test has imported it already, so that a run without privacy tests pays nothing.
The levels travel as user properties of the reports, which pytest-xdist sends to the controlling process.
"""

import sys
from collections.abc import Generator

import pytest

DEFAULT_LEVEL = 1e-9
"""The probability with which one assertion may fail although its claim is true."""

_PROPERTY = "dpassay level"
_PROFILES = ("ci", "thorough")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--dpassay-profile`` and the options of the suite for libraries."""
    parser.getgroup("dpassay", "differential privacy").addoption(
        "--dpassay-profile",
        choices=_PROFILES,
        default=None,
        help="hypothesis profile to load: ci (derandomised, 100 examples) or thorough (random, 2,000 examples)",
    )
    _add_library_options(parser)


def _add_library_options(parser: pytest.Parser) -> None:
    """Add what `dpassay.properties.suite` reads: which library to assay, and where it is."""
    group = parser.getgroup("dpassay")
    group.addoption("--dpassay-library", metavar="NAME", help="library, or file of an adapter, to assay")
    group.addoption("--dpassay-version", metavar="V", help="release of the library to install and assay")
    group.addoption("--dpassay-python", metavar="PATH", help="interpreter that has the library")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, load the profile and start to count levels."""
    config.addinivalue_line("markers", "dpassay: a test of a claim of differential privacy")
    config.pluginmanager.register(_LevelCounter(), "dpassay-levels")
    profile = config.getoption("--dpassay-profile")
    if profile is not None:
        _load_profile(profile)


def _load_profile(profile: str) -> None:
    from hypothesis import settings

    settings.register_profile("ci", derandomize=True, deadline=None, max_examples=100, print_blob=True)
    # Stated, not left to the default: where the variable CI is set, hypothesis' default is to derandomise.
    settings.register_profile("thorough", derandomize=False, deadline=None, max_examples=2000, print_blob=True)
    settings.load_profile(profile)


def pytest_report_header(config: pytest.Config) -> str:
    """State the version, the profile and the level of an assertion that does not state its own."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        installed = version("dpassay")
    except PackageNotFoundError:
        installed = "not installed"
    profile = config.getoption("--dpassay-profile") or "default"
    return f"dpassay: {installed}, profile {profile}, level {DEFAULT_LEVEL:g} of each assertion unless stated"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,  # noqa: ARG001  # the name is part of the hook
    call: pytest.CallInfo[None],  # noqa: ARG001
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Attach the levels of the assertions made during the phase that ended."""
    report = yield
    testing = sys.modules.get("dpassay.testing")
    if testing is not None:
        report.user_properties.extend((_PROPERTY, level) for level in testing.take_levels())
    return report


class _LevelCounter:
    """Adds up the levels of a run; the false-alarm probability of the whole run is at most their sum."""

    def __init__(self) -> None:
        self.levels: list[float] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.levels.extend(float(str(level)) for name, level in report.user_properties if name == _PROPERTY)

    def pytest_terminal_summary(self, terminalreporter: "pytest.TerminalReporter") -> None:
        if self.levels:
            count, total = len(self.levels), sum(self.levels)
            terminalreporter.section("dpassay")
            terminalreporter.line(
                f"{count} assertion{'s' * (count != 1)} of privacy; probability of any false alarm at most {total:.3g}"
            )
