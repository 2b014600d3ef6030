"""AboveThreshold and sparse vector with Laplace noise: exact distributions, worst pairs and worst cases.

What is released besides places goes through cells at the pair: half-lines beyond all answers, where the loss of a
number with Laplace noise is largest, and what lies between.
"""

import itertools
import math
from collections.abc import Hashable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dpassay.claims import Claim, PureDP
from dpassay.impl.broken.sparse_vector import (
    BareQueries,
    HaltsLate,
    IgnoresEpsilon,
    NeverHalts,
    OneMoveForgotten,
    QuarterSplit,
    ReleasesTestedAnswer,
    StaleThresholdNoise,
    ThirdAndFourth,
    ThresholdFromData,
)
from dpassay.impl.mechanisms.laplace_above_threshold import LaplaceAboveThreshold
from dpassay.impl.mechanisms.laplace_sparse_vector import (
    LaplaceSparseVector,
    NumericSparseVector,
    RestartedSparseVector,
)
from dpassay.neighbours import NeighbourRelation, VectorNeighbours
from dpassay.properties.neighbours.moves import Pair
from dpassay.properties.outcomes.events import AllOf, Interval, NoneOf
from dpassay.properties.pairing.corners import WIDE, corner_pair, corner_range
from dpassay.properties.pairing.registry import (
    DistributionPair,
    PushedForward,
    register_distribution,
    register_pair_distribution,
    register_worst_case,
    register_worst_pairs,
)
from dpassay.spec.ball import START_BITS, Real, ball, midpoint, precision, sum_balls
from dpassay.spec.distributions.discrete import DiscreteDistribution
from dpassay.spec.distributions.laplace import Side
from dpassay.spec.distributions.laplace_above_threshold import LaplaceAboveThresholdDistribution
from dpassay.spec.distributions.noisy_threshold import LaplaceThreshold
from dpassay.spec.distributions.sparse_vector import (
    BareQueriesDistribution,
    NumericSparseVectorDistribution,
    Places,
    SparseVectorDistribution,
    hit_places,
    number_of_outcomes,
)
from dpassay.spec.theorems.foundations.sparse_vector import cells_of_places, pattern_cost
from dpassay.spec.theorems.foundations.threshold_corners import CornerLosses, patterns

Array = NDArray[np.float64]
Cell = tuple[Places, tuple[Side, ...]]

MOST_OUTCOMES = 2_000
"""With more places than this, and with longer streams than that, nothing is certified outcome by outcome."""
LONGEST_STREAM = 500
"""Queries up to which the exact distribution is used."""


def _setting(mechanism: Any) -> LaplaceThreshold:
    """Read the noise that a mechanism really adds: its scales are float64 numbers."""
    return LaplaceThreshold(mechanism.threshold, mechanism.threshold_scale, mechanism.query_scale)


# --- outcome by outcome -------------------------------------------------------------------------------------


def _above_threshold_distribution(mechanism: LaplaceAboveThreshold, data: Array) -> DiscreteDistribution | None:
    if mechanism.size > LONGEST_STREAM or data.size != mechanism.size:
        return None
    return LaplaceAboveThresholdDistribution(tuple(data.tolist()), _setting(mechanism))


def _places_distribution(mechanism: LaplaceSparseVector, data: Array) -> DiscreteDistribution | None:
    if number_of_outcomes(mechanism.size, mechanism.most_hits) > MOST_OUTCOMES or data.size != mechanism.size:
        return None
    refreshed = isinstance(mechanism, RestartedSparseVector)
    return SparseVectorDistribution(tuple(data.tolist()), _setting(mechanism), mechanism.most_hits, refreshed)


def _distribution_about_the_first(mechanism: ThresholdFromData, data: Array) -> DiscreteDistribution | None:
    return _places_distribution(mechanism, data - (data[0] - mechanism.threshold))


def _bare_distribution(mechanism: BareQueries, data: Array) -> DiscreteDistribution:
    return BareQueriesDistribution(tuple(data.tolist()), mechanism.threshold, mechanism.threshold_scale)


# --- places and numbers -------------------------------------------------------------------------------------


def _numeric_distribution(mechanism: LaplaceSparseVector, answers: Array) -> NumericSparseVectorDistribution:
    scale = mechanism.value_scale if isinstance(mechanism, NumericSparseVector) else None
    return NumericSparseVectorDistribution(tuple(answers.tolist()), _setting(mechanism), mechanism.most_hits, scale)


def _edges(mechanism: LaplaceSparseVector, left: Array, right: Array) -> tuple[Fraction, ...]:
    """Return where cells of numbers end: at the least and the largest answer, for a tested one at the next ones too.

    The loss of a number with fresh noise is largest beyond all answers. One that was tested tells, besides, that the
    noisy threshold lies below it; that tells most where it lies below the answers that rise and above those that fall.
    """
    points = sorted({*left.tolist(), *right.tolist()})
    inner = [] if isinstance(mechanism, NumericSparseVector) else [*points[1:2], *points[-2:-1]]
    return tuple(sorted({Fraction(x) for x in (points[0], points[-1], *inner)}))


def _cells(mechanism: LaplaceSparseVector, left: Array, right: Array) -> Iterator[Cell]:
    edges = _edges(mechanism, left, right)
    for places in hit_places(mechanism.size, mechanism.most_hits):
        for sides in cells_of_places(places, edges):
            yield places, sides


def _equal_to(place: int, value: int) -> Interval:
    return Interval(f"outcome[{place}]", math.nextafter(value, -math.inf), float(value))


def _event(cell: Cell) -> AllOf:
    """Say in words that a row (place, number, place, number, ...) lies in a cell."""
    places, sides = cell
    members = [_equal_to(2 * k, place) for k, place in enumerate(places)]
    for k, (low, high) in enumerate(sides):
        ends = (-math.inf if low is None else float(low), math.inf if high is None else float(high))
        members.append(Interval(f"outcome[{2 * k + 1}]", *ends))
    return AllOf(tuple(members))


def _numeric_pair(mechanism: LaplaceSparseVector, left: Array, right: Array) -> DistributionPair | None:
    cells = list(itertools.islice(_cells(mechanism, left, right), MOST_OUTCOMES + 1))
    if len(cells) > MOST_OUTCOMES or left.size != mechanism.size:
        return None
    events: dict[Hashable, Cell] = {_event(cell): cell for cell in cells}

    def pushed(answers: Array) -> PushedForward:
        distribution = _numeric_distribution(mechanism, answers)
        return PushedForward({event: _log_cell(distribution, cell) for event, cell in events.items()}, cost=0.1)

    return pushed(left), pushed(right)


def _log_cell(distribution: NumericSparseVectorDistribution, cell: Cell) -> Real:
    return lambda: distribution.log_cell(*cell)


# --- two mechanisms on one input ----------------------------------------------------------------------------


def _parallel_pair(mechanism: ThirdAndFourth, left: Array, right: Array) -> DistributionPair | None:
    """Join the most and the least telling cell of the one part with those of the other, and the rest."""
    third, fourth = mechanism.parts
    if number_of_outcomes(mechanism.size, mechanism.cutoff) > MOST_OUTCOMES or left.size != mechanism.size:
        return None
    released = [_numeric_distribution(third, answers) for answers in (left, right)]
    compared = [SparseVectorDistribution(tuple(x.tolist()), _setting(fourth), fourth.most_hits) for x in (left, right)]
    cells = list(_cells(third, left, right))
    with precision(START_BITS):
        by_cell = sorted(
            cells, key=lambda cell: midpoint(_difference([distribution.log_cell(*cell) for distribution in released]))
        )
        places = sorted(
            hit_places(fourth.size, fourth.most_hits),
            key=lambda o: midpoint(_difference([distribution.log_probability(o) for distribution in compared])),
        )
    joint = [(by_cell[-1], places[-1]), (by_cell[0], places[0])]
    events = [_joint_event(cell, o) for cell, o in joint]

    def pushed(side: int) -> PushedForward:
        def log_joint(cell: Cell, outcome: Places) -> Real:
            return lambda: released[side].log_cell(*cell) + compared[side].log_probability(outcome)

        logs = [log_joint(*each) for each in joint]
        joined: dict[Hashable, Real] = dict(zip(events, logs, strict=True))
        joined[NoneOf(tuple(events))] = _log_rest(logs)
        return PushedForward(joined, cost=10.0)

    return pushed(0), pushed(1)


def _log_rest(logs: list[Real]) -> Real:
    def rest() -> arb:
        return (1 - sum_balls(log().exp() for log in logs)).log()

    return rest


def _difference(pair: list[arb]) -> arb:
    return pair[0] - pair[1]


def _joint_event(cell: Cell, outcome: Places) -> AllOf:
    behind = 2 * len(cell[0])
    return AllOf((*_event(cell).members, *(_equal_to(behind + k, place) for k, place in enumerate(outcome))))


# --- worst pairs --------------------------------------------------------------------------------------------

MOST_CORNERS = 2
"""Worst patterns that are tried."""


def _corner_losses(mechanism: Any, low: float, high: float, *, monotone: bool = False) -> CornerLosses:
    return CornerLosses(_setting(mechanism), low, high, mechanism.sensitivity, monotone)


def _hits(mechanism: Any) -> int:
    return int(getattr(mechanism, "most_hits", 1))


def _corners(mechanism: Any, relation: NeighbourRelation) -> Iterator[Pair]:
    """Yield the corners of the patterns that lose most: hits fall behind answers that stay below and rise."""
    if not isinstance(relation, VectorNeighbours) or relation.size > LONGEST_STREAM:
        return
    reach = WIDE * (mechanism.threshold_scale + mechanism.query_scale)
    ends = corner_range(relation, mechanism, mechanism.threshold, reach)
    losses = _corner_losses(mechanism, *ends, monotone=relation.monotone)
    cost = mechanism.sensitivity / mechanism.value_scale if isinstance(mechanism, NumericSparseVector) else 0.0
    with precision(START_BITS):
        ranked = sorted(
            patterns(relation.size, _hits(mechanism)), key=lambda p: -midpoint(losses.loss(p)) - p[1] * cost
        )
    index = np.arange(relation.size)
    for below, hits in ranked[:MOST_CORNERS]:
        falls = (index >= below) & (index < below + hits)
        ways = [(True, False), (False, True)] if relation.monotone else [(True, True)]
        for rise, fall in ways:
            yield corner_pair(relation, ends, falls, rise=rise, fall=fall)


def _rise_then_fall(mechanism: Any, relation: NeighbourRelation) -> Iterator[Pair]:
    """Yield the pairs whose first answers rise and whose last ones fall: as many as there may be hits, or fewer."""
    if not isinstance(relation, VectorNeighbours):
        return
    ends = corner_range(relation, mechanism, mechanism.threshold, WIDE * mechanism.query_scale)
    index = np.arange(relation.size)
    for falling in range(_hits(mechanism), -1, -1):
        yield corner_pair(relation, ends, index >= relation.size - falling)


def _first_and_last_fall(mechanism: ThresholdFromData, relation: NeighbourRelation) -> Iterator[Pair]:
    """Yield the pair where the answer that serves as threshold falls with the one that reaches it."""
    if isinstance(relation, VectorNeighbours):
        index = np.arange(relation.size)
        ends = corner_range(relation, mechanism, 0.0, WIDE * mechanism.query_scale)
        yield corner_pair(relation, ends, (index == 0) | (index == relation.size - 1))


def _order_changes(mechanism: BareQueries, relation: NeighbourRelation) -> Iterator[Pair]:
    """Yield a pair with two answers that change places."""
    if isinstance(relation, VectorNeighbours):
        low, high = corner_range(relation, mechanism, mechanism.threshold, 1.0)
        base = np.full(relation.size, min(max(mechanism.threshold, low), high - relation.largest_step))
        left, right = base.copy(), base.copy()
        left[0] += relation.largest_step
        right[-1] += relation.largest_step
        yield left, right


# --- worst cases --------------------------------------------------------------------------------------------


def _worst_case(mechanism: Any, claim: Claim) -> Real | None:
    """Return the exact loss on a bounded range, whose worst pairs are known; else its limit as the range grows."""
    if not isinstance(claim, PureDP) or mechanism.size > LONGEST_STREAM:
        return None
    cost = Fraction(0)
    if isinstance(mechanism, NumericSparseVector):
        cost = Fraction(mechanism.sensitivity) / Fraction(mechanism.value_scale)
    refreshed = isinstance(mechanism, RestartedSparseVector)
    if not math.isfinite(mechanism.high - mechanism.low):
        supremum = _cost_on_any_range(mechanism, cost, refreshed=refreshed)
        return lambda: ball(supremum)
    corners = _corner_losses(mechanism, mechanism.low, mechanism.high, monotone=getattr(mechanism, "monotone", False))
    return lambda: corners.largest(mechanism.size, _hits(mechanism), refreshed=refreshed, cost_of_hit=cost)


def _cost_on_any_range(mechanism: Any, cost_of_hit: Fraction, *, refreshed: bool) -> Fraction:
    """Return the largest bound of a pattern: a substitution moves the threshold by 0 or by the sensitivity.

    Where all answers move the same way either those above move, or the threshold with those below. No answer pays for
    more than one move if no threshold moves, whatever the order of the runs.
    """
    size, hits, step = int(mechanism.size), _hits(mechanism), Fraction(mechanism.sensitivity)
    threshold, query = step / Fraction(mechanism.threshold_scale), step / Fraction(mechanism.query_scale)
    if getattr(mechanism, "monotone", False):
        return min(size * query, threshold + hits * query) + hits * cost_of_hit
    if refreshed:
        return min(size * query, hits * (threshold + 2 * query)) + hits * cost_of_hit
    return max(pattern_cost(p, threshold, query) + p[1] * cost_of_hit for p in patterns(size, hits))


def _cost_of_every_query(mechanism: ReleasesTestedAnswer, claim: Claim) -> Real | None:
    """Return n Delta/s_Q: each answer is compared with, or is, a number that is released."""
    if not isinstance(claim, PureDP):
        return None
    return lambda: ball(mechanism.size * Fraction(mechanism.sensitivity) / Fraction(mechanism.query_scale))


def _sum_of_parts(mechanism: ThirdAndFourth, claim: Claim) -> Real | None:
    """Return the sum of the largest losses, attained at one pair: both hits of SVT3 fall, with numbers in between.

    A number that was tested and lies between the answers that fall and those that rise confines the noisy threshold to
    where every factor is a single exponential.
    """
    third, fourth = (_cost_of_every_query(mechanism.parts[0], claim), _worst_case(mechanism.parts[1], claim))
    return None if third is None or fourth is None else lambda: third() + fourth()


def _order_is_revealed(mechanism: BareQueries, claim: Claim) -> Real | None:
    """Return infinity, or the cost of the noisy threshold where there is no other answer to change places with."""
    if not isinstance(claim, PureDP):
        return None
    cost = Fraction(mechanism.sensitivity) / Fraction(mechanism.threshold_scale)
    return (lambda: ball(cost)) if mechanism.size == 1 else arb.pos_inf


# --- registration -------------------------------------------------------------------------------------------

register_distribution(LaplaceAboveThreshold, _above_threshold_distribution)
register_worst_pairs(LaplaceAboveThreshold, _corners)
register_worst_case(LaplaceAboveThreshold, _worst_case)

PLACES: tuple[type[LaplaceSparseVector], ...] = (
    LaplaceSparseVector, RestartedSparseVector, QuarterSplit, NeverHalts, OneMoveForgotten, StaleThresholdNoise,
    IgnoresEpsilon, HaltsLate,
)  # fmt: skip
for places_type in PLACES:
    register_distribution(places_type, _places_distribution)
    register_worst_pairs(places_type, _corners)
    register_worst_case(places_type, _worst_case)

register_distribution(ThresholdFromData, _distribution_about_the_first)
register_worst_pairs(ThresholdFromData, _first_and_last_fall)

register_distribution(BareQueries, _bare_distribution)
register_worst_pairs(BareQueries, _order_changes)
register_worst_case(BareQueries, _order_is_revealed)

register_pair_distribution(NumericSparseVector, _numeric_pair)
register_worst_pairs(NumericSparseVector, _corners)
register_worst_case(NumericSparseVector, _worst_case)

register_pair_distribution(ReleasesTestedAnswer, _numeric_pair)
register_worst_pairs(ReleasesTestedAnswer, _rise_then_fall)
register_worst_case(ReleasesTestedAnswer, _cost_of_every_query)

register_pair_distribution(ThirdAndFourth, _parallel_pair)
register_worst_pairs(ThirdAndFourth, _rise_then_fall)
register_worst_case(ThirdAndFourth, _sum_of_parts)
