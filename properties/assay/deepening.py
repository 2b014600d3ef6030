"""Depth bought with the time that is left: which checks run again, with more calls and points.

The first round asks every law of every case at its first depth. Each further round multiplies the depth of some
checks by `GROWTH`, or by `LEAST_GROWTH` if nothing else fits into the time, and repeats them with fresh random
numbers. A check takes part if it found nothing so far and if its gain for each second is among the largest that fit
into the time left:

- the gain of a sampled check is a part of its weakness, because the power of a test improves with the square root
  of its calls: the weaker the test, the more it gains;
- the gain of a computed check is that of a test of medium weakness;
- the time is the time of its last round, multiplied by the growth.

After the least depth, for which a first round had too little time, comes the first one.

The time of a check grows in every round, so that its gain for each second falls: in the end the checks share the time
by their gains, however fast each of them is. A check at which a failure is expected that has not appeared comes first.

The level of a check is divided between its rounds: half for the first, a quarter for the second, and so on.

What any round observed stays: a fault, a check that raised, a lost worker. A later pass replaces only what more calls
may decide, and such a result replaces no pass.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from dpassay.properties.assay.expected import FINE
from dpassay.properties.assay.finding import UNANSWERED, Finding, weakness_of
from dpassay.properties.assay.kinds import FindingKind
from dpassay.properties.assay.planning import Check, CheckResult, seed_of
from dpassay.properties.assay.sufficiency import MOST_SAMPLED_PAIRS

__all__ = [
    "GROWTH",
    "LEAST_GROWTH",
    "OPEN",
    "CheckState",
    "Place",
    "deeper",
    "in_round",
    "may_gain",
    "next_round",
    "place_of",
]

GROWTH = 4
"""Factor on the depth from round to round: a smaller one repeats more calls, a larger one overshoots the time."""

LEAST_GROWTH = 2
"""Smallest such factor: a round of the same depth would add no power."""

_GAIN_OF_COMPUTED = 0.5
"""Gain of a computed check, on the scale of the weakness of sampled ones: a compromise between the two kinds."""

_CAUTION = 1.5
"""Factor on the time that a check is expected to take, because other processes may slow it down."""

_WHOLE = 4
"""Times that the first depth takes as long as the least one, about: several pairs instead of one."""

_MOST_DEPTH = 4**10
"""Largest depth: at 10,000 calls and a microsecond each the next round would take a day."""

_MOST_ATTEMPTS = 4
"""Rounds after which a check that stays undecided is not repeated: more calls decide a weak test, nothing else."""

OPEN: frozenset[FindingKind] = frozenset({FindingKind.UNDECIDED, FindingKind.NOT_RUN})
"""Kinds without a result, which more calls or more time may decide."""

Place = tuple[str, str]


def place_of(check: Check) -> Place:
    """Return the names of the mechanism and the law of a check."""
    return (check.mechanism, check.law.name)


@dataclass(frozen=True)
class CheckState:
    """The state of a check between rounds: its result so far, and the depth and the time of its last round.

    The depth is 0 after the least depth: the next round then has depth 1.
    """

    result: CheckResult
    number: int = 0
    depth: int = 1

    @property
    def check(self) -> Check:
        """The check."""
        return self.result.check

    def expected_seconds(self, growth: int) -> float:
        """Return the time that the next round is expected to take if the depth grows by a factor."""
        return _CAUTION * (growth if self.depth else _WHOLE) * max(self.result.seconds, 1e-3)

    def gain_per_second(self, wanted: Collection[Place]) -> float:
        """Return the gain of the next round for each second."""
        finding = self.result.finding
        if place_of(self.check) in wanted:
            return float("inf")
        gain = _GAIN_OF_COMPUTED
        if self.check.law.sampled and finding.power is not None and finding.power.get("weakness") is not None:
            gain = float(finding.power["weakness"])
        return gain * 0.5**self.number / self.expected_seconds(GROWTH)


def in_round(check: Check, number: int, depth: int) -> Check:
    """Return a check as it runs in a round: with its part of the level, fresh random numbers and its depth."""
    settings, alpha = check.settings, check.settings.alpha / 2 ** (number + 1)
    return replace(
        check,
        least=replace(check.least, alpha=alpha) if check.least is not None and number == 0 else None,
        settings=replace(
            settings,
            alpha=alpha,
            seed=settings.seed if number == 0 else seed_of(settings.seed, str(number)),
            calls=settings.calls * depth,
            pairs=min(settings.pairs * depth, MOST_SAMPLED_PAIRS),
            depth=depth,
        ),
    )


def next_round(
    rounds: Sequence[CheckState], seconds: float, processes: int, wanted: Collection[Place] = ()
) -> list[CheckState]:
    """Return the checks that run again, with the number and the depth of their next round.

    Parameters
    ----------
    rounds : sequence of CheckState
        The state of all checks.
    seconds : float
        Time left.
    processes : int
        Number of processes that share the checks.
    wanted : collection of (mechanism, law)
        Checks that come first, because a failure is expected there that has not appeared.

    Returns
    -------
    list of CheckState
        In order of the gain for each second; empty if nothing fits into the time.
    """
    candidates = sorted(filter(may_gain, rounds), key=lambda one: -one.gain_per_second(wanted))
    chosen = (list(_fitting(candidates, seconds, processes, growth)) for growth in (GROWTH, LEAST_GROWTH))
    return next(filter(None, chosen), [])


def _fitting(candidates: Sequence[CheckState], seconds: float, processes: int, growth: int) -> Iterator[CheckState]:
    """Yield the next rounds that fit into the time, the first candidates first."""
    total = 0.0
    for one in candidates:
        expected = one.expected_seconds(growth)
        if expected <= seconds and total + expected <= seconds * processes:
            total += expected
            yield replace(one, number=one.number + 1, depth=max(1, one.depth * growth))


def may_gain(one: CheckState) -> bool:
    """Return whether a deeper round may change a result."""
    kind = one.result.finding.kind
    is_open = kind is FindingKind.OK or (kind in OPEN and one.number < _MOST_ATTEMPTS)
    return is_open and one.check.law.deepens and one.depth < _MOST_DEPTH


def deeper(before: CheckState, after: CheckResult, number: int, depth: int) -> CheckState:
    """Return the state of a check after a further round: its fault, or the more powerful of two passes.

    What was observed in any round stays: a fault, and what is undecided for a lasting reason, with its round.

    Parameters
    ----------
    before : CheckState
        The state before.
    after : CheckResult
        The result of the round.
    number, depth : int
        Of the round.
    """
    seconds, losses = before.result.seconds + after.seconds, before.result.losses + after.losses
    earlier = before.result.finding if before.number else _in_its_round(before.result.finding, 0)
    later = _in_its_round(after.finding, number)
    replaces = _says_more(earlier, later, is_first=before.depth == 0)
    finding, other = (later, earlier) if replaces else (earlier, later)
    if _weight(finding) and _weight(other) and (replaces or after.finding.detail not in finding.detail):
        finding = _beside(replace(finding, detail=f"{finding.detail}; {other.detail}"), other)
    calls = before.result.finding.calls + after.finding.calls
    told = replace(finding, calls=calls) if finding.kind is FindingKind.OK else finding
    result = CheckResult(before.check, told, seconds, losses)
    return CheckState(result, number, depth)


def _beside(finding: Finding, other: Finding) -> Finding:
    """Return a finding that names, as not answered, what another round could not observe: no entry excuses it."""
    if _weight(finding) == _weight(other) or not (other.is_lasting or other.kind is FindingKind.ERROR):
        return finding
    witness = finding.witness or {}
    return replace(finding, witness={**witness, UNANSWERED: [*witness.get(UNANSWERED, []), other.detail]})


def _weight(finding: Finding) -> int:
    """Return the weight of what was observed: a fault of the library, an error, a lasting reason, or nothing."""
    if finding.kind is FindingKind.ERROR:
        return 2
    if finding.kind in OPEN or finding.kind in FINE:
        return int(finding.is_lasting)
    return 3


def _in_its_round(finding: Finding, number: int) -> Finding:
    """Return a finding, with its round if it stays."""
    return replace(finding, detail=f"in round {number + 1}: {finding.detail}") if _weight(finding) else finding


def _says_more(before: Finding, after: Finding, *, is_first: bool) -> bool:
    """Return whether the finding of a deeper round replaces the one before; what more calls may decide does not.

    The least depth leaves open what the whole one may find void, and a pass on one pair is worth less than another.
    """
    if _weight(before) or _weight(after):
        return _weight(after) > _weight(before)
    if before.kind is FindingKind.NOT_RUN and after.kind is FindingKind.UNDECIDED and (is_first or not after.is_weak):
        return True
    if after.kind in OPEN or after.kind is FindingKind.NOT_APPLICABLE:
        return False
    if is_first and before.kind is FindingKind.OK:
        return True
    if after.kind is not FindingKind.OK or before.kind is not FindingKind.OK:
        return True
    return weakness_of(after) < weakness_of(before)
