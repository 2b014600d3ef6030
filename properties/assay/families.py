"""Laws of families: a law is asked at parameters drawn from their documented domain, the ends of domains first.

A draw at which the law finds a fault is shrunk to the simplest parameters that show it.
"""

import itertools
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from dpassay.impl.libraries.remote import RemoteFamily, RemoteMechanism
from dpassay.impl.libraries.worker_process import WorkerError
from dpassay.mechanism import SamplerLostError
from dpassay.properties.assay.finding import (
    Finding,
    Settings,
    weakness_of,
    with_beside,
)
from dpassay.properties.assay.kinds import FindingKind
from dpassay.properties.assay.sufficiency import MOST_SAMPLED_PAIRS, sufficient_calls
from dpassay.spec.verdict import Scope

__all__ = ["COMPUTED", "FITTED", "SAMPLED", "Asking", "check_family", "corners", "unless_member"]

Arguments = dict[str, Any]
Check = Callable[[RemoteMechanism, Settings], Finding]


_FAULTS = (FindingKind.VIOLATION, FindingKind.UNSOUND_NUMBER, FindingKind.WRONG_ANSWER)
"""Kinds of faults, the worst first."""

_SHRINKING_SECONDS = 5.0
"""Time for simpler parameters once a fault is found: more takes the time of other cases."""

_MOST_CORNERS = 8
"""Corners that are asked: an orthogonal array of seven parameters has eight rows."""


@dataclass(frozen=True)
class Asking:
    """Parameters of a family at which a law is asked.

    Parameters
    ----------
    corners : int
        Corners at most, those that differ most first.
    draws : int
        Random parameters after the corners.
    shrinks : bool
        Whether the law is asked without samples, is asked again at simpler parameters where it finds a fault, and with
        samples at the last of them. Otherwise the parameters share the level and the time.
    saves_calls : bool
        Whether as few outcomes are drawn as a test of the claim needs.
    asks_adapter : bool
        Whether the number of outcomes that the adapter states, if any, holds also where it is larger than the limit.
    """

    corners: int
    draws: int
    shrinks: bool = False
    saves_calls: bool = False
    asks_adapter: bool = False


COMPUTED = Asking(corners=_MOST_CORNERS, draws=2, shrinks=True)
"""A law that computes: more draws take the time of other cases."""

FITTED = Asking(corners=2, draws=2, asks_adapter=True)
"""The fit of a distribution that is known."""

SAMPLED = Asking(corners=2, draws=0, saves_calls=True)
"""A law that samples: at each parameter a hunt must draw enough not to be weak."""


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


def check_family(check: Check, family: RemoteFamily, settings: Settings, asking: Asking) -> Finding:
    """Ask a law at the corners of a family, then at random parameters; return its worst finding.

    Parameters
    ----------
    check : callable
        The law for one mechanism.
    family : RemoteFamily
        The family.
    settings : Settings
        Settings of the check.
    asking : Asking
        Where the law is asked.
    """
    every = list(_spread(list(corners(family.parameters)), asking.corners))
    parts = len(every) + asking.draws
    if asking.shrinks:
        share = replace(settings, confirms=False)
    else:
        share = replace(settings, alpha=settings.alpha / parts, seconds=settings.seconds / parts)
    series = _Series(check, family, share, asking, time.monotonic() + settings.seconds)
    for arguments in every:
        series.ask(arguments)
    if asking.draws:
        _search(series, asking, settings.seed)
    if asking.shrinks:
        series.confirm(settings)
    return series.result()


def _spread(every: list[Arguments], most: int) -> Iterator[Arguments]:
    """Yield all corners, or the first and the last one, which differ most."""
    yield from every if len(every) <= most else (every[0], every[-1])


class _Series:
    """The findings of a law at several parameters."""

    def __init__(
        self, check: Check, family: RemoteFamily, settings: Settings, asking: Asking, deadline: float
    ) -> None:
        self._check, self._family, self._settings, self._deadline = check, family, settings, deadline
        self._asking = asking
        self.parameters = family.parameters
        self.faults: list[Finding] = []
        self._late = 0
        self._last: Arguments = {}
        self._others: list[Finding] = []
        self._unanswered: list[tuple[str, Finding]] = []

    @property
    def is_over(self) -> bool:
        """True when the time is over."""
        return time.monotonic() > self._deadline

    def ask(self, arguments: Arguments) -> None:
        """Ask the law at some parameters, or count them if it is too late."""
        if self.is_over:
            self._late += 1
            return
        name = repr(arguments)
        try:
            member = self._family.member(arguments)
            name = member.name
            finding = self._check(member, self._settings_of(member))
        except WorkerError as error:
            finding = Finding(FindingKind.ERROR, f"no member: {error}")
        except SamplerLostError as error:  # nothing was observed; hypothesis must not take it for a fault of the law
            finding = Finding(FindingKind.UNDECIDED, str(error), is_lasting=not error.is_late)
        told = replace(finding, detail=f"{name}: {finding.detail}")
        if finding.kind in _FAULTS:
            self.faults.append(told)
            self._last = arguments
        elif finding.kind is FindingKind.ERROR or finding.is_lasting:
            self._unanswered.append((name, told))
        else:
            self._others.append(told)

    def hurry(self) -> None:
        """Leave little time for simpler parameters, if a fault is known."""
        if self.faults:
            self._deadline = min(self._deadline, time.monotonic() + _SHRINKING_SECONDS)

    def _settings_of(self, member: RemoteMechanism) -> Settings:
        """Return the settings with as few calls as are enough, or, for a fit, as many as the adapter states."""
        stated = member.description["calls"]
        own = None if stated is None else stated * self._settings.depth
        if own is not None and self._asking.asks_adapter and not self._settings.is_least:
            return replace(self._settings, calls=own)
        limits = [self._settings.calls, own]
        if self._asking.saves_calls:
            limits.append(self._enough_for(member))
        return replace(self._settings, calls=min(limit for limit in limits if limit is not None))

    def _enough_for(self, member: RemoteMechanism) -> int | None:
        """Return the calls that a hunt needs, on the most pairs unless the time is short."""
        settings = self._settings
        pairs = settings.pairs if settings.is_least else MOST_SAMPLED_PAIRS
        enough = sufficient_calls(member.claims[0], settings.alpha, pairs=pairs)
        return None if enough is None else enough * settings.depth

    def confirm(self, settings: Settings) -> None:
        """Ask the law again, with samples, at the parameters of the last fault."""
        if not self.faults or self.faults[-1].kind is not FindingKind.WRONG_ANSWER:
            return
        try:
            member = self._family.member(self._last)
            limit = member.description["calls"]
            calls = settings.calls if limit is None else min(settings.calls, limit)
            finding = self._check(member, replace(settings, calls=calls))
        except (WorkerError, SamplerLostError):
            return  # the fault is known without samples
        if finding.kind in _FAULTS:
            self.faults.append(replace(finding, detail=f"{member.name}: {finding.detail}"))

    def result(self) -> Finding:
        """Return the last fault of the worst kind, which is the simplest; else what was not answered, then ok.

        What is beside the fault stands in its witness: the numbers of other faults of this kind, and the parameters
        without an answer.
        """
        unanswered = [finding for _, finding in self._unanswered]
        calls = sum(one.calls for one in (*self.faults, *self._others, *unanswered))
        for kind in _FAULTS:
            alike = [one for one in self.faults if one.kind is kind]
            if alike:
                return replace(self._with_others(alike), calls=calls)
        for kind in (FindingKind.ERROR, FindingKind.UNDECIDED, FindingKind.NOT_RUN, FindingKind.OK):
            alike = [one for one in (*unanswered, *self._others) if one.kind is kind]
            if alike:
                return replace(self._in_words(alike), calls=calls)
        if self._others:
            return self._others[0]
        return Finding(FindingKind.UNDECIDED, "no parameters were drawn in time")

    def _with_others(self, alike: list[Finding]) -> Finding:
        """Return the last of some faults, with the others and what was not answered in its witness."""
        told = alike[-1]
        names, reasons = [name for name, _ in self._unanswered], [one.detail for _, one in self._unanswered]
        return with_beside(told, [(one.claimed, one.certified) for one in alike[:-1]], names, reasons)

    def _in_words(self, alike: list[Finding]) -> Finding:
        """Return that of least power among findings of a kind, first what no more calls decide; with their number."""
        one = max(alike, key=lambda each: (each.is_lasting, not each.is_weak, weakness_of(each)))
        every = len(self._others) + len(self._unanswered)
        count = f"{every}" if len(alike) == every else f"{len(alike)} of {every}"
        scope = Scope.POINTS if one.scope is None else one.scope
        if not self._late or one.kind is not FindingKind.OK:
            return replace(one, detail=f"{count} parameters; {one.detail}", scope=scope)
        detail = f"{count} parameters, {self._late} not asked in time; {one.detail}"
        return replace(one, detail=detail, power={**(one.power or {}), "late": self._late}, scope=scope)


def _search(series: _Series, asking: Asking, seed: int) -> None:
    """Draw parameters with hypothesis, which may shrink those at which a fault is found."""
    import hypothesis

    from dpassay.properties.strategies.parameters import parameters_of

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=asking.draws,
        database=None,
        deadline=None,
        derandomize=False,
        report_multiple_bugs=False,
        phases=(hypothesis.Phase.generate, *((hypothesis.Phase.shrink,) if asking.shrinks else ())),
        suppress_health_check=list(hypothesis.HealthCheck),
        verbosity=hypothesis.Verbosity.quiet,
    )
    @hypothesis.given(parameters_of(series.parameters))
    def ask(arguments: Arguments) -> None:
        before = len(series.faults)
        series.ask(arguments)
        if len(series.faults) > before:
            series.hurry()
            raise _FaultError

    series.hurry()
    try:
        ask()
    except (_FaultError, hypothesis.errors.Flaky):
        return
