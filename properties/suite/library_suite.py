"""State shared by the tests of a library: its plan, its expected failures and the findings so far."""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from dpassay.arguments import UsageError
from dpassay.impl.libraries.registry import find_library
from dpassay.properties.assay.assessment import Assessment, assess
from dpassay.properties.assay.expected import FINE, ExpectedFailure, covering, load_expected
from dpassay.properties.assay.finding import Finding
from dpassay.properties.assay.laws import LAWS
from dpassay.properties.assay.suite import Budget, Check, CheckResult, Plan, close_session, make_plan, run_check
from dpassay.properties.assay.table import power_words
from dpassay.properties.assay.targets import targets_of
from dpassay.testing import note_level, note_power

__all__ = ["ExpectedFindingError", "LibrarySuite", "suite_of"]

_QUIET: Callable[[str], None] = lambda _: None  # noqa: E731  # silent during collection
_SECONDS_EACH = 600.0  # ends hanging checks; the calls limit all others


class ExpectedFindingError(AssertionError):
    """A finding that is listed in the file of expected failures."""


@dataclass
class LibrarySuite:
    """The checks of a library in a pytest run.

    Parameters
    ----------
    library : str
        Value of ``--dpassay-library``.
    plan : Plan
        The checks of the library.
    entries : sequence of ExpectedFailure
        The expected failures of the tested version.
    """

    library: str
    plan: Plan
    entries: Sequence[ExpectedFailure]
    _results: dict[tuple[str, str], CheckResult] = field(default_factory=dict)

    def parameters(self) -> list[object]:
        """Return the applicable checks as test parameters; a check with its own expected failure is marked xfail."""
        return [
            pytest.param(check, id=f"{check.mechanism}-{check.law.name}", marks=self._marks(check))
            for check in self._applying()
        ]

    def shared_entries(self) -> list[object]:
        """Return the entries that match several checks or none."""
        return [
            pytest.param(entry, id=f"{entry.mechanism}-{entry.law}")
            for entry in self.entries
            if len(self._covered(entry)) != 1 and entry.occasional is None
        ]

    def _applying(self) -> list[Check]:
        return [check for check in self.plan.checks if check.reason is None]

    def _covered(self, entry: ExpectedFailure) -> list[Check]:
        return [check for check in self._applying() if entry.covers(check.mechanism, check.law.name)]

    def _marks(self, check: Check) -> list[pytest.MarkDecorator]:
        alone = [entry for entry in self.entries if self._covered(entry) == [check] and entry.occasional is None]
        return [pytest.mark.xfail(reason=str(entry), raises=ExpectedFindingError, strict=True) for entry in alone[:1]]

    def result(self, check: Check) -> CheckResult:
        """Return the result of a check, which is run at most once."""
        place = (check.mechanism, check.law.name)
        if place not in self._results:
            self._results[place] = run_check(self.plan.target, check, Budget(math.inf, _SECONDS_EACH, _SECONDS_EACH))
            note_level(check.settings.alpha if check.law.sampled else 0.0)
            _note_power_of(self._results[place].finding)
        return self._results[place]

    def demand(self, check: Check) -> None:
        """Raise AssertionError if a check has a finding; an expected finding is reported as xfail."""
        __tracebackhide__ = True
        finding = self.result(check).finding
        if finding.kind in FINE:
            return
        entry, excess = covering(self.entries, check.mechanism, check.law.name, finding)
        if entry is None:
            raise AssertionError(self._words(check) if excess is None else f"{self._words(check)}\n{excess}")
        if self._covered(entry) == [check] and entry.occasional is None:
            raise ExpectedFindingError(self._words(check))
        pytest.xfail(str(entry))

    def demand_appearance(self, entry: ExpectedFailure) -> None:
        """Raise AssertionError if no check that an entry covers has the expected finding."""
        __tracebackhide__ = True
        covered = self._covered(entry)
        if not covered:
            raise AssertionError(f"no mechanism and law of {self.library} matches {entry.mechanism!r}, {entry.law!r}")
        if not any(self.result(check).finding.kind == entry.finding for check in covered):
            raise AssertionError(f"expected a finding ({entry.finding}) that did not appear: {entry}")

    def _words(self, check: Check) -> str:
        line = self._line(check)
        finding = line.finding
        figures = ""
        if finding.claimed is not None or finding.certified is not None:
            figures = f" (claimed {finding.claimed}, certified {finding.certified})"
        witness = json.dumps(line.record().witness, ensure_ascii=False)
        return "\n".join(
            [
                f"{finding.kind}: {finding.detail}{figures} [{check.law.name}({check.mechanism})]",
                f"law:     {check.law.sentence}",
                f"claim:   {finding.claim}",
                f"witness: {witness}",
                f"seed:    {check.settings.seed}, calls: {finding.calls}, alpha: {check.settings.alpha:g}",
            ]
        )

    def _line(self, check: Check) -> Assessment:
        result = self._results[check.mechanism, check.law.name]
        return next(
            line
            for line in assess(self.plan, [result], [])
            if (line.mechanism, line.law) == (check.mechanism, check.law.name)
        )


def _note_power_of(finding: Finding) -> None:
    """Record the power of a sampled test; the power of decided points is only their number."""
    weakness = None if finding.power is None else finding.power.get("weakness")
    if weakness is not None:
        note_power(float(weakness), f"{power_words(finding.power)} for the claim {finding.claim}")


_KEY = pytest.StashKey[LibrarySuite | None]()


def suite_of(config: pytest.Config) -> LibrarySuite | None:
    """Return the suite of the library that the options name, or None without ``--dpassay-library``.

    Raises
    ------
    pytest.UsageError
        If the library, its version or its interpreter is not available.
    """
    if _KEY not in config.stash:
        config.add_cleanup(close_session)
        config.stash[_KEY] = _make_suite(config)
    return config.stash[_KEY]


def _calls_of(config: pytest.Config) -> int | None:
    calls: int | None = config.getoption("--dpassay-calls")
    if calls is not None and calls < 1:
        raise UsageError(f"--dpassay-calls must be at least 1, got {calls}")
    return calls


def _make_suite(config: pytest.Config) -> LibrarySuite | None:
    name = config.getoption("--dpassay-library")
    if name is None:
        return None
    version = config.getoption("--dpassay-version")
    try:
        library = find_library(name)
        versions = () if version is None else (version,)
        (target,) = targets_of(library, versions, config.getoption("--dpassay-python"), _QUIET)
        plan = make_plan(target, LAWS, calls=_calls_of(config), keeps_session=True)
        return LibrarySuite(name, plan, load_expected(library.expected_failures, plan.version))
    except UsageError as error:
        raise pytest.UsageError(str(error)) from error
