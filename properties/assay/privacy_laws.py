"""Sampled tests of the claim of a library: the whole outcome, its low-order bits, each coordinate.

A claim is refuted by e-values at the level of the law. The settings limit the calls and the time.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import UsageError
from dpassay.impl.libraries.remote import RemoteMechanism
from dpassay.mechanism import SamplerLostError
from dpassay.neighbours import NeighbourRelation, VectorNeighbours
from dpassay.properties.assay.boundaries import boundary_pairs
from dpassay.properties.assay.finding import Finding, Law, Settings
from dpassay.properties.assay.kinds import FindingKind
from dpassay.properties.assay.mechanism_cases import claim_in_words, mechanism_law, moves
from dpassay.properties.assay.sufficiency import LEAST_CALLS, sufficient_calls
from dpassay.properties.drawing.call_guard import NOT_FRESH
from dpassay.properties.hunting.black_box import sample_pairs
from dpassay.properties.hunting.formatting import figures_words
from dpassay.properties.hunting.result import HuntResult
from dpassay.properties.hunting.task import Task
from dpassay.properties.hunting.verdicts import HuntVerdict, Questions, StopReason
from dpassay.properties.neighbours.moves import Pair
from dpassay.properties.neighbours.pairs import adversarial_pairs, are_neighbours
from dpassay.properties.notions.base import decisive_bound
from dpassay.properties.notions.bounds import words_below
from dpassay.properties.outcomes.calls import CallFailedError, Sampler, call
from dpassay.properties.records import plain
from dpassay.spec.verdict import Evidence, Scope

__all__ = ["PRIVACY_LAWS", "confirm_on_pair", "confirm_on_pairs", "finding_of_hunt", "run_hunt"]

Array = NDArray[np.float64]

MOST_COORDINATES = 20
"""Maximum number of coordinates that are tested separately."""

_DESIGNED = 2 / 3
"""Part of the pairs that is designed; the others lie at the boundary of the domain."""

_HABITS = frozenset(habit.value for habit in NOT_FRESH)
"""Notes on outcomes that are not drawn anew: a target that was seen to repeat its outcomes has no later verdict."""

_LOOKED_AT = 4
"""Designed pairs beside those that move one coordinate. A hunt on one pair takes that of them whose sum moves most:
noise is most often added to sums."""


def _pairs(relation: NeighbourRelation, settings: Settings) -> list[Pair]:
    """Return the designed and boundary pairs without repetition, or the only one of the least depth."""
    if settings.is_least:
        return [max(adversarial_pairs(relation, seed=settings.seed, limit=_LOOKED_AT), key=_moved)]
    most = math.ceil(_DESIGNED * settings.pairs)
    designed = adversarial_pairs(relation, seed=settings.seed, limit=most)
    known = {frozenset({left.tobytes(), right.tobytes()}) for left, right in designed}
    extra = [
        pair
        for pair in boundary_pairs(relation, seed=settings.seed, limit=settings.pairs - most)
        if frozenset({pair[0].tobytes(), pair[1].tobytes()}) not in known
    ]
    return [*designed, *extra]


def _moved(pair: Pair) -> float:
    """Return how far the sum of the data moves, records that are added or removed included."""
    left, right = pair
    return abs(float(np.sum(right)) - float(np.sum(left))) + abs(right.size - left.size)


def run_hunt(
    case: RemoteMechanism,
    settings: Settings,
    pairs: list[Pair],
    *,
    questions: Questions,
    sampler: Sampler | None = None,
) -> HuntResult:
    """Hunt on the pairs against the claim of the library, with the level, seed, calls and time of the settings.

    Parameters
    ----------
    case : RemoteMechanism
        The mechanism.
    settings : Settings
        Level, seed and limits.
    pairs : list of pairs
        Neighbouring inputs to test.
    questions : Questions
        What the samples are to answer.
    sampler : callable, optional
        Sampler to test instead of that of the mechanism.
    """
    task = Task(
        case,
        case.claims[0],
        case.neighbours,
        settings.alpha,
        settings.seed,
        settings.calls,
        settings.seconds,
        own_claim=True,
        questions=questions,
        begins_small=not settings.is_least,
    )
    return sample_pairs(task, sampler if sampler is not None else case.sampler, pairs)


def finding_of_hunt(case: RemoteMechanism, settings: Settings, result: HuntResult, note: str = "") -> Finding:
    """Return the finding of a hunt; undecided if it is void or its test is weak.

    Parameters
    ----------
    case : RemoteMechanism
        The mechanism.
    settings : Settings
        Settings of the hunt.
    result : HuntResult
        Result of the hunt.
    note : str
        Text that is appended to the detail.
    """
    claim = case.claims[0]
    bound = decisive_bound(claim, result)
    what, certified, claimed = bound.label, bound.lower, 0.0 if bound.allowed is None else bound.allowed
    strength = f"e-value 10^{result.e_value_log10 or 0.0:.1f}"
    if result.verdict is HuntVerdict.VIOLATED:
        figure = what if certified is None else f"{what} >= {words_below(certified, 6)}, claimed {claimed:.6g}"
        detail = f"{figure} ({strength} in {result.calls} calls{note})"
        witness = plain(result.witness) if result.witness is not None else None
        return Finding(
            FindingKind.VIOLATION,
            detail,
            claim_in_words(case),
            claimed,
            certified,
            Evidence.SAMPLED,
            Scope.SAMPLES,
            result.calls,
            witness,
        )
    doubt = _doubt(result, settings)
    if doubt is not None:
        # without a power nothing was tested, and no number of calls would change that
        return Finding(
            FindingKind.UNDECIDED,
            f"{doubt}{note}",
            claim_in_words(case),
            claimed,
            calls=result.calls,
            is_weak=result.power is not None and result.power.is_weak,
            is_lasting=result.stopped is StopReason.CALL_TIMEOUT or bool(_HABITS & set(result.notes)),
        )
    assert result.power is not None
    measured = result.power
    if settings.is_least:  # a violation on another pair would not have been seen
        single = dict.fromkeys(measured.figures, math.inf)
        measured, note = replace(measured, on_a_single_pair=single), f"{note}, on one pair"
    power, found = measured.record(), figures_words(measured)
    detail = f"not refuted in {result.calls} calls ({strength}; power: {found}){note}"
    return Finding(
        FindingKind.OK,
        detail,
        claim_in_words(case),
        claimed,
        certified,
        Evidence.SAMPLED,
        Scope.SAMPLES,
        result.calls,
        power=power,
    )


def confirm_on_pairs(case: RemoteMechanism, settings: Settings, pairs: list[Pair], suspected: Finding) -> Finding:
    """Return a violation if samples on some pairs refute the claim, else the suspected finding.

    Where the samples test nothing, it says why: a library that raises or ends its process hides no suspicion.

    Parameters
    ----------
    case : RemoteMechanism
        The mechanism.
    settings : Settings
        Level, seed and limits.
    pairs : list of pairs
        Neighbouring inputs.
    suspected : Finding
        What another law has found.
    """
    try:
        result = run_hunt(case, settings, pairs, questions=Questions.VALUES)
    except (SamplerLostError, UsageError) as error:
        return replace(suspected, detail=f"{suspected.detail}; no samples confirm it: {error}")
    calls = suspected.calls + result.calls
    if result.verdict is HuntVerdict.VIOLATED:
        finding = finding_of_hunt(case, settings, result)
        return replace(finding, detail=f"{suspected.detail}; {finding.detail}", calls=calls)
    why = f"; no samples confirm it: {'; '.join(result.notes)}" if result.is_void else ""
    return replace(suspected, detail=f"{suspected.detail}{why}", calls=calls)


def confirm_on_pair(case: RemoteMechanism, settings: Settings, pair: Pair, suspected: Finding) -> Finding:
    """Return a violation if samples on a pair refute the claim, else the suspected finding; its witness stays.

    Parameters
    ----------
    case, settings, suspected
        As for `confirm_on_pairs`.
    pair : pair of arrays
        Neighbouring inputs that another law suspects.
    """
    return replace(confirm_on_pairs(case, settings, [pair], suspected), witness=suspected.witness)


def _doubt(result: HuntResult, settings: Settings) -> str | None:
    """Return the reason that a hunt without a violation does not count as a pass, or None if it does."""
    if result.is_void:
        return "; ".join(result.notes)
    if result.calls < min(LEAST_CALLS, settings.calls):
        return f"only {result.calls} calls in {settings.seconds:g} s"
    if result.power is None:
        return "the power of the test is unknown"
    return "; ".join(result.notes) if result.power.is_weak else None


def _check_privacy(case: RemoteMechanism, settings: Settings) -> Finding:
    pairs = _pairs(case.neighbours, settings)
    return finding_of_hunt(case, settings, run_hunt(case, settings, pairs, questions=Questions.VALUES))


def _check_float_privacy(case: RemoteMechanism, settings: Settings) -> Finding:
    pairs = _pairs(case.neighbours, settings)
    if not _has_floats(case, pairs[0], settings.seed):
        return Finding(FindingKind.NOT_APPLICABLE, "no outcome is a float64 number", claim=claim_in_words(case))
    return finding_of_hunt(
        case, settings, run_hunt(case, settings, pairs, questions=Questions.FLOATS), ", low-order bits included"
    )


def _has_floats(case: RemoteMechanism, pair: Pair, seed: int) -> bool:
    """Return whether a few outcomes contain a float64 number; True if all calls raise, so that the hunt decides."""
    try:
        outcomes = [call(case.sample, data, 4, np.random.default_rng(seed)) for data in pair]
    except CallFailedError:
        return True
    if all(batch.failures == len(batch) for batch in outcomes):
        return True
    symbols = [symbol for batch in outcomes for symbol in batch.symbols()]
    parts = [part for symbol in symbols for part in (symbol if isinstance(symbol, tuple) else (symbol,))]
    return any(isinstance(part, float) for part in parts)


def _float_condition(case: RemoteMechanism) -> str | None:
    return moves(case) if case.description["floats"] else "the library does not claim privacy of its float64 numbers"


def _check_coordinates(case: RemoteMechanism, settings: Settings) -> Finding:
    """Hunt on each marginal separately, on pairs that change its coordinate first.

    Each coordinate takes an equal part of the calls, but as many as its test needs if all calls together are enough.
    """
    width = _width(case, settings)
    if width is None:
        return _check_privacy(case, settings)
    if width < 2:
        return Finding(
            FindingKind.NOT_APPLICABLE, "an outcome is not a sequence of numbers", claim=claim_in_words(case)
        )
    places = range(min(width, MOST_COORDINATES))
    ends = []
    for place in places:
        pairs = _pairs_moving(case.neighbours, place, width, settings)
        share = _share_of_coordinate(case, settings, len(places), len(pairs))
        result = run_hunt(case, share, pairs, questions=Questions.VALUES, sampler=_Marginal(case, place))
        ends.append(finding_of_hunt(case, share, result, f", coordinate {place}"))
        if ends[-1].kind is FindingKind.VIOLATION:
            return ends[-1]
    calls = sum(end.calls for end in ends)
    undecided = [end for end in ends if end.kind is FindingKind.UNDECIDED]
    undecided.sort(key=lambda end: (end.is_weak, not end.is_lasting))
    if undecided:  # first what more calls do not decide
        return replace(undecided[0], calls=calls)
    detail = f"{len(places)} of {width} coordinates, not refuted in {calls} calls"
    detail += ", each on one pair" if settings.is_least else ""
    weakest = max(ends, key=lambda end: _needed(end.power))
    return Finding(
        FindingKind.OK,
        detail,
        claim_in_words(case),
        None,
        None,
        Evidence.SAMPLED,
        Scope.SAMPLES,
        calls,
        power=weakest.power,
    )


def _share_of_coordinate(case: RemoteMechanism, settings: Settings, places: int, pairs: int) -> Settings:
    """Return the settings of one of several coordinates: its part of the calls, or more if it needs them."""
    alpha = settings.alpha / places
    enough = sufficient_calls(case.claims[0], alpha, pairs=pairs) or 0
    calls = max(1, settings.calls // places, min(settings.calls, enough))
    return replace(settings, alpha=alpha, calls=calls, seconds=settings.seconds / places)


def _needed(power: Mapping[str, Any] | None) -> float:
    """Return the nats per call that a detectable violation gains; larger for a weaker test."""
    return math.inf if power is None else float(power["nats_per_call"])


def _width(case: RemoteMechanism, settings: Settings) -> int | None:
    """Return the length of the longest of a few outcomes, 0 if none is a vector; None if all calls raise."""
    ((left, _),) = adversarial_pairs(case.neighbours, seed=settings.seed, limit=1)
    try:
        outcomes = call(case.sample, left, 4, np.random.default_rng(settings.seed))
    except CallFailedError:
        return None
    if outcomes.failures == len(outcomes):
        return None
    vectors = [symbol for symbol in outcomes.symbols() if isinstance(symbol, tuple)]
    is_number = [all(isinstance(part, (int, float)) for part in vector) for vector in vectors]
    return max((len(vector) for vector, numeric in zip(vectors, is_number, strict=True) if numeric), default=0)


@dataclass(frozen=True)
class _Marginal:
    """Samples one coordinate; outcomes without that coordinate are unchanged."""

    case: RemoteMechanism
    place: int

    def __call__(self, data: Array, size: int, rng: np.random.Generator) -> Any:
        outcomes = self.case.sample(data, size, rng)
        if isinstance(outcomes, np.ndarray) and outcomes.ndim == 2 and outcomes.shape[1] > self.place:
            return outcomes[:, self.place]
        return [_part(row, self.place) for row in outcomes]

    def one_by_one(self, data: Array, size: int, rng: np.random.Generator) -> list[Any]:
        """Draw call by call."""
        return [_part(row, self.place) for row in self.case.sample_one_by_one(data, size, rng)]

    def raising(self, data: Array, size: int, rng: np.random.Generator) -> list[Any]:
        """Draw call by call and propagate exceptions."""
        return self.case.sampler.raising(data, size, rng)


def _part(row: Any, place: int) -> Any:
    return row[place] if isinstance(row, (tuple, list, np.ndarray)) and len(row) > place else row


def _pairs_moving(relation: NeighbourRelation, place: int, width: int, settings: Settings) -> list[Pair]:
    """Return pairs that change one coordinate only, if the input has it, and a few designed pairs."""
    designed = adversarial_pairs(relation, seed=settings.seed, limit=_LOOKED_AT)
    if not isinstance(relation, VectorNeighbours) or relation.size != width:
        return [max(designed, key=_moved)] if settings.is_least else designed
    step, alone = relation.largest_step, list[Pair]()
    for base in (np.clip(0.0, relation.low, relation.high), relation.low, relation.high):
        if not math.isfinite(base):
            continue
        for sign in (1.0, -1.0):
            left = np.full(relation.size, float(base))
            right = left.copy()
            right[place] += sign * step
            if are_neighbours(relation, left, right):
                alone.append((left, right))
    found = [*alone[:2], *designed]
    return found[:1] if settings.is_least else found


_HUNTS = (
    mechanism_law(
        "privacy_of_claim",
        "Samples do not refute the claim of the library; low-order bits are ignored.",
        moves,
        _check_privacy,
        sampled=True,
    ),
    mechanism_law(
        "privacy_in_float64",
        "Samples including the low-order bits of float64 numbers do not refute the claim.",
        _float_condition,
        _check_float_privacy,
        sampled=True,
    ),
    mechanism_law(
        "coordinates",
        "No single coordinate of the outcome refutes the claim.",
        moves,
        _check_coordinates,
        sampled=True,
    ),
)

PRIVACY_LAWS: tuple[Law, ...] = tuple(replace(law, hunts=True) for law in _HUNTS)
