"""The pytest plugin: a marker, profiles, the sum of the levels of all assertions, and the weakest power.

The plugin does not import dpassay unless a test has imported it; a run without privacy tests has no overhead.
Levels and powers are user properties of the reports, which pytest-xdist sends to the controlling process. Powers are
also properties of the test item, so that the JUnit report contains them.
"""

import json
import sys
from collections.abc import Generator

import pytest

DEFAULT_LEVEL = 1e-9
"""Bound on the probability that one assertion fails although its claim is true."""

_PROPERTY, _POWER = "dpassay level", "dpassay power"
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
    parser.getgroup("dpassay").addoption(
        "--dpassay-statements",
        metavar="MODULE",
        action="append",
        default=[],
        help="module, package or .py file whose statements are tested, one test each; may be repeated",
    )


def _add_library_options(parser: pytest.Parser) -> None:
    """Add the options of `dpassay.properties.suite`: the library, its version, its interpreter."""
    group = parser.getgroup("dpassay")
    group.addoption("--dpassay-library", metavar="NAME", help="library to assay: a name, or the file of an adapter")
    group.addoption("--dpassay-version", metavar="V", help="release of the library to install and assay")
    group.addoption(
        "--dpassay-calls",
        metavar="N",
        type=int,
        help="outcomes that a sampled law draws from each mechanism of the library (default: 10,000, or more if the "
        "claim needs them)",
    )
    group.addoption("--dpassay-python", metavar="PATH", help="interpreter in which the library is installed")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, load the profile and start the count of levels."""
    config.addinivalue_line("markers", "dpassay: test of a differential-privacy claim")
    config.addinivalue_line("markers", "kills(*names): a test that statements with these names detect a fault")
    config.pluginmanager.register(_LevelCounter(), "dpassay-levels")
    profile = config.getoption("--dpassay-profile")
    if profile is not None:
        _load_profile(profile)


@pytest.hookimpl(tryfirst=True)  # before -k and -m deselect
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Add the tests of the statements that ``--dpassay-statements`` names."""
    places = config.getoption("--dpassay-statements")
    if places:
        from dpassay.arguments import UsageError
        from dpassay.properties.suite.statement_suite import MutantWatch, statement_items

        try:
            items.extend(statement_items(session, places, items))
            config.pluginmanager.register(MutantWatch(places), "dpassay-mutants")
        except UsageError as error:
            raise pytest.UsageError(str(error)) from None


def _load_profile(profile: str) -> None:
    from hypothesis import settings

    settings.register_profile("ci", derandomize=True, deadline=None, max_examples=100, print_blob=True)
    # Explicit, because hypothesis derandomises by default if the variable CI is set.
    settings.register_profile("thorough", derandomize=False, deadline=None, max_examples=2000, print_blob=True)
    settings.load_profile(profile)


def pytest_report_header(config: pytest.Config) -> str:
    """Return the header line: the version, the profile and the default level of an assertion."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        installed = version("dpassay")
    except PackageNotFoundError:
        installed = "not installed"
    profile = config.getoption("--dpassay-profile") or "default"
    return f"dpassay: {installed}, profile {profile}, default level {DEFAULT_LEVEL:g} per assertion"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
    call: pytest.CallInfo[None],  # noqa: ARG001  # the name is part of the hook
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Attach the levels and the powers of the assertions made during the phase that ended."""
    report = yield
    testing = sys.modules.get("dpassay.testing")
    if testing is not None:
        report.user_properties.extend((_PROPERTY, level) for level in testing.take_levels())
        powers = [(_POWER, json.dumps({"weakness": w, "power": words})) for w, words in testing.take_powers()]
        item.user_properties.extend(powers)
        report.user_properties.extend(powers)
    return report


class _LevelCounter:
    """Adds up the levels of a run and keeps the weakest power.

    The false-alarm probability of the whole run is at most the sum of the levels.
    """

    def __init__(self) -> None:
        self.levels: list[float] = []
        self.weakest: tuple[float, str] | None = None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.levels.extend(float(str(level)) for name, level in report.user_properties if name == _PROPERTY)
        for name, value in report.user_properties:
            if name == _POWER:  # several reports of a test may repeat the same power
                power = json.loads(str(value))
                if self.weakest is None or power["weakness"] > self.weakest[0]:
                    self.weakest = power["weakness"], f"{power['power']} ({report.nodeid})"

    def pytest_terminal_summary(self, terminalreporter: "pytest.TerminalReporter") -> None:
        if self.levels:
            count, total, exact = len(self.levels), sum(self.levels), self.levels.count(0.0)
            terminalreporter.section("dpassay")
            weakest = "" if self.weakest is None else f"; weakest power: {self.weakest[1]}"
            without_level = f", {exact} of them decided exactly" if exact else ""
            terminalreporter.line(
                f"{count} privacy assertion{'s' * (count != 1)}{without_level}; "
                f"probability of any false alarm at most {total:.3g}{weakest}"
            )
