"""Laws of families: a law is asked at parameters drawn from their documented domain, the ends of domains first.

A draw at which the law finds a fault is shrunk to the simplest parameters that show it.
"""

import itertools
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from dpassay.impl.libraries.remote import RemoteFamily, RemoteMechanism, WorkerError
from dpassay.properties.assay.finding import Finding, Settings
from dpassay.properties.assay.kinds import FindingKind
from dpassay.properties.assay.sufficiency import MOST_SAMPLED_PAIRS, sufficient_calls
from dpassay.spec.verdict import Scope

__all__ = ["check_family", "corners", "unless_member"]

Arguments = dict[str, Any]
Check = Callable[[RemoteMechanism, Settings], Finding]

_DRAWS = 10
"""Random parameters of a law that computes, after the corners: more take the time of other cases."""

_SAMPLED_DRAWS = 2
"""Parameters of a law that samples: at each of them a hunt must draw enough not to be weak."""

_FAULTS = {FindingKind.VIOLATION, FindingKind.UNSOUND_NUMBER, FindingKind.WRONG_ANSWER, FindingKind.ERROR}
_MOST_CORNERS = 8
"""Corners that are asked: an orthogonal array of seven parameters has eight rows."""


class _FaultError(Exception):
    """A draw at which the law finds a fault."""


def corners(parameters: dict[str, dict[str, Any]]) -> Iterator[Arguments]:
    """Yield the ends of the domains: all combinations if they are few, else eight of them."""
    ends = {name: domain["choices"] if "choices" in domain else _ends(domain) for name, domain in parameters.items()}
    combinations = math.prod(len(values) for values in ends.values())
    if combinations <= _MOST_CORNERS:
        yield from (dict(zip(ends, values, strict=True)) for values in itertools.product(*ends.values()))
        return
    for number in range(_MOST_CORNERS):
        yield {name: _corner(values, number, place) for place, (name, values) in enumerate(ends.items())}


def _corner(values: list[Any], number: int, place: int) -> Any:
    """Return an end: of any two of up to seven parameters, all four pairs of ends occur in eight corners."""
    if len(values) == 2:  # a column of an orthogonal array
        return values[(number & (place % 7 + 1)).bit_count() % 2]
    return values[(number + place) % len(values)]


def _ends(domain: dict[str, Any]) -> list[Any]:
    return list(dict.fromkeys([domain["low"], domain["high"]]))


def unless_member(family: RemoteFamily, condition: Callable[[RemoteMechanism], str | None]) -> str | None:
    """Return None if a law applies to the first member of a family, else the reason that it does not."""
    return condition(family.member(next(corners(family.parameters))))


def check_family(check: Check, family: RemoteFamily, settings: Settings, *, sampled: bool) -> Finding:
    """Ask a law at the corners of a family, then at random parameters; return its worst finding.

    Parameters
    ----------
    check : callable
        The law for one mechanism.
    family : RemoteFamily
        The family.
    settings : Settings
        Settings of the check; draws share the level and the time of a sampled law.
    sampled : bool
        Whether the law draws outcomes: then few parameters are drawn, and nothing is shrunk. Otherwise it is asked
        without samples, and with samples at the parameters at which it finds a fault.
    """
    if sampled:
        parts = _SAMPLED_DRAWS
        share = replace(settings, alpha=settings.alpha / parts, seconds=settings.seconds / parts)
    else:
        share = replace(settings, confirms=False)
    series = _Series(check, family, share, time.monotonic() + settings.seconds)
    for arguments in _first(family, sampled=sampled):
        series.ask(arguments)
    if not sampled:
        _search(series, settings.seed)
        series.confirm(settings)
    return series.result()


def _first(family: RemoteFamily, *, sampled: bool) -> Iterator[Arguments]:
    """Yield the corners; for a sampled law those that differ most, from both ends."""
    every = list(corners(family.parameters))
    yield from (every[0], every[-1])[: len(every)] if sampled else every


class _Series:
    """The findings of a law at several parameters."""

    def __init__(self, check: Check, family: RemoteFamily, settings: Settings, deadline: float) -> None:
        self._check, self._family, self._settings, self._deadline = check, family, settings, deadline
        self.parameters = family.parameters
        self.faults: list[Finding] = []
        self._worst: Arguments = {}
        self._others: list[Finding] = []

    @property
    def is_over(self) -> bool:
        """True when the time is over."""
        return time.monotonic() > self._deadline

    def ask(self, arguments: Arguments) -> None:
        """Ask the law at some parameters, unless it is too late."""
        if self.is_over:
            return
        try:
            member = self._family.member(arguments)
        except WorkerError as error:
            self.faults.append(Finding(FindingKind.ERROR, f"no member with {arguments!r}: {error}"))
            return
        finding = self._check(member, self._settings_of(member))
        told = replace(finding, detail=f"{member.name}: {finding.detail}")
        if finding.kind in _FAULTS:
            self.faults.append(told)
            self._worst = arguments
        else:
            self._others.append(told)

    def _settings_of(self, member: RemoteMechanism) -> Settings:
        """Return the settings with as few calls as a test of the member's claim needs."""
        enough = sufficient_calls(member.claims[0], self._settings.alpha, pairs=MOST_SAMPLED_PAIRS)
        return self._settings if enough is None else replace(self._settings, calls=min(self._settings.calls, enough))

    def confirm(self, settings: Settings) -> None:
        """Ask the law again, with samples, at the parameters of the last fault."""
        if self.faults and self.faults[-1].kind is FindingKind.WRONG_ANSWER:
            member = self._family.member(self._worst)
            limit = member.description["calls"]
            calls = settings.calls if limit is None else min(settings.calls, limit)
            finding = self._check(member, replace(settings, calls=calls))
            self.faults.append(replace(finding, detail=f"{member.name}: {finding.detail}"))

    def result(self) -> Finding:
        """Return the last fault, which is the simplest; else the first undecided finding; else ok."""
        calls = sum(one.calls for one in (*self.faults, *self._others))
        if self.faults:
            return replace(self.faults[-1], calls=calls)
        for kind in (FindingKind.UNDECIDED, FindingKind.OK):
            for one in self._others:
                if one.kind is kind:
                    detail = f"{len(self._others)} parameters; {one.detail}"
                    scope = Scope.POINTS if one.scope is None else one.scope
                    return replace(one, detail=detail, calls=calls, scope=scope)
        if self._others:
            return self._others[0]
        return Finding(FindingKind.UNDECIDED, "no parameters were drawn in time")


def _search(series: _Series, seed: int) -> None:
    """Draw parameters with hypothesis, which shrinks those at which a fault is found."""
    import hypothesis

    from dpassay.properties.strategies.parameters import parameters_of

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=_DRAWS,
        database=None,
        deadline=None,
        derandomize=False,
        report_multiple_bugs=False,
        phases=(hypothesis.Phase.generate, hypothesis.Phase.shrink),
        suppress_health_check=list(hypothesis.HealthCheck),
        verbosity=hypothesis.Verbosity.quiet,
    )
    @hypothesis.given(parameters_of(series.parameters))
    def ask(arguments: Arguments) -> None:
        before = len(series.faults)
        series.ask(arguments)
        if len(series.faults) > before:
            raise _FaultError

    try:
        ask()
    except (_FaultError, hypothesis.errors.Flaky):
        return
