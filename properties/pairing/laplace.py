"""Mechanisms with Laplace noise: their distributions through partitions of the real line, and worst cases.

The loss of one noisy answer is constant outside the interval between the two answers, and largest there. The cells
are made of the two half-lines and, for answers that few coordinates share, of pieces of the interval between.
"""

import itertools
import math
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dpassay.claims import Claim, PureDP
from dpassay.impl.broken.foundations import (
    AllDiffer,
    HadamardAnswers,
    InvertedScale,
    MaximumNorm,
    NoisyDatabase,
    SharedNoise,
    UnscaledNoise,
)
from dpassay.impl.broken.means import GaussianMeanOfTrueSize, LaplaceMeanOfTrueSize
from dpassay.impl.mechanisms.laplace import LaplaceMechanism
from dpassay.impl.mechanisms.laplace_sums import LaplaceParallel, LaplacePrefixSum
from dpassay.impl.mechanisms.noisy_mean import NoisyMean
from dpassay.properties.outcomes.events import AllOf, Interval, NoneOf
from dpassay.properties.pairing.registry import (
    DistributionPair,
    PushedForward,
    register_pair_distribution,
    register_worst_case,
)
from dpassay.spec.ball import Exact, Real, ball, exact, log_normal_cdf, log_normal_sf, sum_balls
from dpassay.spec.distributions.laplace import LaplaceDistribution, Side
from dpassay.spec.distributions.noisy_mean import NoisyMeanDistribution

__all__ = ["laplace_cells"]

Array = NDArray[np.float64]
Box = tuple[tuple[int, Side], ...]
"""Intervals of some coordinates."""

Name = Callable[[int, int], str]

MOST_CELLS = 100
"""Cells of a product of intervals; for more coordinates two extreme boxes stand for them."""

PIECES = 16
"""Pieces of the interval between two answers, if a single one differs."""


def _coordinate(place: int, size: int) -> str:
    return f"outcome[{place}]" if size > 1 else "outcome"


def laplace_cells(
    left: Sequence[float], right: Sequence[float], scale: Exact, *, name: Name = _coordinate
) -> DistributionPair:
    """Return the distributions of two noisy vectors through a partition made by the coordinates that differ.

    A product of the intervals of each coordinate as long as there are at most `MOST_CELLS`, with finer pieces for
    a single coordinate; otherwise the two boxes of extreme loss and the rest.

    Parameters
    ----------
    left, right : sequence of float
        The answers without noise, of one length; not all equal.
    scale : exact number
        Scale of the noise.
    name : callable
        From the place of a coordinate, and how many there are, to the feature of the outcome that tells it.
    """
    names = [name(place, len(left)) for place in range(len(left))]
    moved = [place for place, (a, b) in enumerate(zip(left, right, strict=True)) if a != b]
    if 3 ** len(moved) > MOST_CELLS:
        return _extreme_cells(left, right, moved, scale, names)
    pieces = PIECES if len(moved) == 1 else 1
    sides = [[(place, side) for side in _sides(left[place], right[place], pieces)] for place in moved]
    boxes = {_event(box, names): box for box in itertools.product(*sides)}

    def pushed(centres: Sequence[float]) -> PushedForward:
        distribution = LaplaceDistribution(tuple(centres), scale)
        return PushedForward({event: _log_box(distribution, box) for event, box in boxes.items()})

    return pushed(left), pushed(right)


def _log_box(distribution: LaplaceDistribution, box: Box) -> Real:
    return lambda: distribution.log_box(box)


def _log_rest(distribution: LaplaceDistribution, boxes: Sequence[Box]) -> Real:
    def rest() -> arb:
        inside = sum_balls(distribution.log_box(box).exp() for box in boxes)
        return (1 - inside).log()

    return rest


def _sides(a: float, b: float, pieces: int) -> list[Side]:
    """Cut the line at the two answers, and between them into pieces with ends that are floats."""
    low, high = min(a, b), max(a, b)
    cuts = sorted({low, high, *(low + (high - low) * k / pieces for k in range(1, pieces))})
    return [(None, cuts[0]), *itertools.pairwise(cuts), (cuts[-1], None)]


def _extreme_cells(
    left: Sequence[float], right: Sequence[float], moved: list[int], scale: Exact, names: list[str]
) -> DistributionPair:
    """Return the box where each answer of the left is the more likely, its mirror image, and the rest."""
    boxes: list[Box] = []
    for near, far in ((left, right), (right, left)):
        boxes.append(tuple((k, (near[k], None) if near[k] > far[k] else (None, near[k])) for k in moved))
    events = [_event(box, names) for box in boxes]

    def pushed(centres: Sequence[float]) -> PushedForward:
        distribution = LaplaceDistribution(tuple(centres), scale)
        cells: dict[Hashable, Real] = {
            event: _log_box(distribution, box) for event, box in zip(events, boxes, strict=True)
        }
        cells[NoneOf(tuple(events))] = _log_rest(distribution, boxes)
        return PushedForward(cells)

    return pushed(left), pushed(right)


def _event(box: Box, names: Sequence[str]) -> Interval | AllOf:
    """Say in words that the outcome lies in a box."""
    members = [Interval(names[place], *_ends(side)) for place, side in box]
    return members[0] if len(members) == 1 else AllOf(tuple(members))


def _ends(side: Side) -> tuple[float, float]:
    low, high = side
    return (-math.inf if low is None else float(low)), (math.inf if high is None else float(high))


# --- one vector of answers ----------------------------------------------------------------------------------


def _accepted(data: tuple[Array, ...], size: int, low: float, high: float) -> bool:
    """Return whether data are vectors of `size` numbers in [low, high]; others are refused."""
    return all(x.shape == (size,) and bool(np.all((x >= low) & (x <= high))) for x in data)


def _laplace_pair(mechanism: LaplaceMechanism, left: Array, right: Array) -> DistributionPair | None:
    if not _accepted((left, right), mechanism.size, mechanism.low, mechanism.high):
        return None
    return laplace_cells(left.tolist(), right.tolist(), Fraction(mechanism.scale))


def _cost_of_distance(distance: Exact, scale: Exact, claim: Claim) -> Real | None:
    """Return the largest l1 distance of the answers over the scale: exact, and attained in the tails."""
    if not isinstance(claim, PureDP):
        return None
    cost = exact("distance", distance) / exact("scale", scale)
    return lambda: ball(cost)


def _laplace_worst_case(mechanism: LaplaceMechanism, claim: Claim) -> Real | None:
    if mechanism.sensitivity == 0:
        return (lambda: arb(0)) if isinstance(claim, PureDP) else None
    distance = Fraction(mechanism.sensitivity)
    if math.isfinite(mechanism.high - mechanism.low):
        moving = mechanism.size if mechanism.l0 is None else min(mechanism.l0, mechanism.size)
        distance = min(distance, moving * (Fraction(mechanism.high) - Fraction(mechanism.low)))
    return _cost_of_distance(math.floor(distance) if mechanism.integer else distance, mechanism.scale, claim)


def _maximum_norm_worst_case(mechanism: MaximumNorm, claim: Claim) -> Real | None:
    return _cost_of_distance(mechanism.size * Fraction(mechanism.sensitivity), mechanism.scale, claim)


for laplace_type in (LaplaceMechanism, InvertedScale, UnscaledNoise):
    register_pair_distribution(laplace_type, _laplace_pair)
    register_worst_case(laplace_type, _laplace_worst_case)
register_pair_distribution(MaximumNorm, _laplace_pair)
register_worst_case(MaximumNorm, _maximum_norm_worst_case)


def _shared_noise_pair(mechanism: SharedNoise, left: Array, right: Array) -> DistributionPair | None:
    """Return the distributions of a difference of two answers, which has no noise; float64 sums round it slightly."""
    if not _accepted((left, right), mechanism.size, mechanism.low, mechanism.high):
        return None
    moved = [
        (a, b) for a, b in itertools.combinations(range(len(left)), 2) if left[a] - left[b] != right[a] - right[b]
    ]
    if not moved:  # all answers move alike: the first tells all
        return laplace_cells([left[0]], [right[0]], Fraction(mechanism.scale), name=lambda *_: "outcome[0]")
    first, second = moved[0]
    feature = f"outcome[{first}]-outcome[{second}]"
    here, there = left[first] - left[second], right[first] - right[second]
    middle = (here + there) / 2
    cells = Interval(feature, -math.inf, middle), Interval(feature, middle, math.inf)

    def pushed(value: float) -> PushedForward:
        return PushedForward({
            cells[0]: lambda: arb(0) if value < middle else arb.neg_inf(),
            cells[1]: lambda: arb(0) if value > middle else arb.neg_inf(),
        })  # fmt: skip

    return pushed(here), pushed(there)


def _shared_noise_worst_case(mechanism: SharedNoise, claim: Claim) -> Real | None:
    """Return infinity: one answer changes, and its difference from another one has no noise."""
    return arb.pos_inf if isinstance(claim, PureDP) and mechanism.size > 1 and mechanism.sensitivity > 0 else None


register_pair_distribution(SharedNoise, _shared_noise_pair)
register_worst_case(SharedNoise, _shared_noise_worst_case)


# --- the same number many times, and running sums -----------------------------------------------------------


def _parallel_pair(mechanism: LaplaceParallel, left: Array, right: Array) -> DistributionPair | None:
    if not _accepted((left, right), 1, mechanism.low, mechanism.high):
        return None
    here, there = ([float(data[0])] * mechanism.copies for data in (left, right))
    return laplace_cells(here, there, 1 / Fraction(mechanism.epsilon))


def _parallel_worst_case(mechanism: LaplaceParallel, claim: Claim) -> Real | None:
    """Return the sum of the epsilons, attained in the tails."""
    return (lambda: ball(mechanism.copies * Fraction(mechanism.epsilon))) if isinstance(claim, PureDP) else None


def _prefix_pair(mechanism: LaplacePrefixSum, left: Array, right: Array) -> DistributionPair | None:
    """Return the distributions of the noisy terms, which are differences of successive sums."""
    if not _accepted((left, right), mechanism.size, mechanism.low, mechanism.high):
        return None
    return laplace_cells(left.tolist(), right.tolist(), 1 / Fraction(mechanism.epsilon), name=_term)


def _term(place: int, _: int) -> str:
    return f"outcome[{place}]-outcome[{place - 1}]" if place else "outcome[0]"


def _prefix_worst_case(mechanism: LaplacePrefixSum, claim: Claim) -> Real | None:
    """Return the epsilon of one answer: a function of the noisy answers, and one to one."""
    return (lambda: ball(mechanism.epsilon)) if isinstance(claim, PureDP) else None


def _prefix_worst_case_of_all(mechanism: AllDiffer, claim: Claim) -> Real | None:
    """Return the epsilons of all answers, where each of them moves by 1: attained in the tails of all terms."""
    return (lambda: ball(mechanism.size * Fraction(mechanism.epsilon))) if isinstance(claim, PureDP) else None


register_pair_distribution(LaplaceParallel, _parallel_pair)
register_worst_case(LaplaceParallel, _parallel_worst_case)
register_pair_distribution(LaplacePrefixSum, _prefix_pair)
register_worst_case(LaplacePrefixSum, _prefix_worst_case)
register_pair_distribution(AllDiffer, _prefix_pair)
register_worst_case(AllDiffer, _prefix_worst_case_of_all)


# --- answers about bits -------------------------------------------------------------------------------------


def _hadamard_pair(mechanism: HadamardAnswers, left: Array, right: Array) -> DistributionPair | None:
    if not _accepted((left, right), mechanism.size, 0.0, 1.0):
        return None
    here, there = (mechanism.answers(data).tolist() for data in (left, right))
    return laplace_cells(here, there, Fraction(mechanism.scale))


def _noisy_database_pair(mechanism: NoisyDatabase, left: Array, right: Array) -> DistributionPair | None:
    """Return the distributions of the noisy bits a and b, of which the sums are a + b and a - b."""
    if mechanism.size != 2 or not _accepted((left, right), 2, 0.0, 1.0):
        return None
    here, there = ([2.0 * float(bit) for bit in data] for data in (left, right))
    feature = ("sum(outcome)", "outcome[0]-outcome[1]")
    return laplace_cells(here, there, 2 * Fraction(mechanism.scale), name=lambda place, _: feature[place])


def _hadamard_worst_case(mechanism: HadamardAnswers, claim: Claim) -> Real | None:
    """Return n/scale: one bit moves every sum by 1."""
    return _cost_of_distance(mechanism.size, mechanism.scale, claim)


def _noisy_database_worst_case(mechanism: NoisyDatabase, claim: Claim) -> Real | None:
    """Return 1/scale: the sums tell the noisy bits, one to one."""
    return _cost_of_distance(1, mechanism.scale, claim)


register_pair_distribution(HadamardAnswers, _hadamard_pair)
register_worst_case(HadamardAnswers, _hadamard_worst_case)
register_pair_distribution(NoisyDatabase, _noisy_database_pair)
register_worst_case(NoisyDatabase, _noisy_database_worst_case)


# --- means --------------------------------------------------------------------------------------------------


def _noisy_mean_pair(mechanism: NoisyMean, left: Array, right: Array) -> DistributionPair | None:
    """Return the distributions of the outcomes with a small noisy count, where the mean tells the noisy sum."""
    if not all(_accepted((data,), data.size, mechanism.low, mechanism.high) for data in (left, right)):
        return None
    if mechanism.low == mechanism.high:
        return None  # the sum has no noise, and needs none
    distributions = [
        NoisyMeanDistribution(tuple(data.tolist()), mechanism.epsilon, mechanism.low, mechanism.high)
        for data in (left, right)
    ]
    most = min(len(left), len(right), 1)
    low, high = sorted(float(distribution.total) for distribution in distributions)
    sides: list[Side] = [(None, low), (low, high), (high, None)] if low < high else [(None, low), (low, None)]
    middle = mechanism.middle

    def pushed(distribution: NoisyMeanDistribution) -> PushedForward:
        cells: dict[Hashable, Real] = {Interval("outcome[0]", most, math.inf): lambda: distribution.log_many(most)}
        for side in sides:
            bottom, top = _ends(side)
            few = Interval("outcome[0]", -math.inf, most)
            cells[AllOf((few, Interval("outcome[1]", middle + bottom, middle + top)))] = _log_few(
                distribution, most, side
            )
        return PushedForward(cells)

    return pushed(distributions[0]), pushed(distributions[1])


def _log_few(distribution: NoisyMeanDistribution, most: int, side: Side) -> Real:
    return lambda: distribution.log_few(most, side)


def _noisy_mean_worst_case(mechanism: NoisyMean, claim: Claim) -> Real | None:
    """Return the epsilon: half for the count, half for the sum, attained where both are small or both large."""
    return (lambda: ball(mechanism.epsilon)) if isinstance(claim, PureDP) else None


def _true_size_pair(mechanism: LaplaceMeanOfTrueSize, left: Array, right: Array) -> DistributionPair | None:
    """Return the distributions between ever farther points: noise of two scales, the loss has no bound."""
    if not all(_accepted((data,), data.size, 0.0, 1.0) for data in (left, right)):
        return None
    centres, scales = zip(*((mechanism.centre(data), mechanism.scale(data)) for data in (left, right)), strict=True)
    steps = [max(scales) * 2.0**k for k in range(-3, 11)]
    cuts = sorted({centres[0], *(centres[0] + sign * step for step in steps for sign in (-1, 1))})
    sides: list[Side] = [(None, cuts[0]), *itertools.pairwise(cuts), (cuts[-1], None)]
    gaussian = isinstance(mechanism, GaussianMeanOfTrueSize)

    def pushed(centre: float, scale: float) -> PushedForward:
        distribution = LaplaceDistribution((centre,), scale)
        return PushedForward({
            Interval("outcome", *_ends(side)): (
                _log_normal_side(centre, scale, side) if gaussian else _log_box(distribution, ((0, side),))
            )
            for side in sides
        })  # fmt: skip

    return pushed(centres[0], scales[0]), pushed(centres[1], scales[1])


def _log_normal_side(centre: float, sigma: float, side: Side) -> Real:
    def enclosed() -> arb:
        low, high = ((ball(end) - ball(centre)) / ball(sigma) if end is not None else None for end in side)
        if low is None or high is None:
            return log_normal_sf(low) if low is not None else log_normal_cdf(high if high is not None else arb(0))
        if low > 0:
            low, high = -high, -low  # the difference of two small numbers, not of two that are nearly 1
        return log_normal_cdf(high) + (-(log_normal_cdf(low) - log_normal_cdf(high)).exp()).log1p()

    return enclosed


register_pair_distribution(NoisyMean, _noisy_mean_pair)
register_worst_case(NoisyMean, _noisy_mean_worst_case)
register_pair_distribution(LaplaceMeanOfTrueSize, _true_size_pair)
register_pair_distribution(GaussianMeanOfTrueSize, _true_size_pair)
