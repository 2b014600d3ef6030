"""Pairs of inputs whose released numbers hold normal noise: half-spaces across the direction of the difference.

A half-space {w . y > t} is the best event of its size against two normal distributions of the same covariances, w the
direction of :mod:`dpassay.spec.leaves.noise_behind`. So a single cut at the right place shows the least delta at an
epsilon, and any cut the least mu of Gaussian DP; cuts and weights are floats, as a replay evaluates them.
"""

import itertools
import math
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from statistics import NormalDist

from flint import arb

from dpassay.claims import Claim
from dpassay.properties.hunting.traced_events import Forms, numbers_of, range_of
from dpassay.properties.notions.base import epsilon_delta_of
from dpassay.properties.outcomes.events import Interval, Words
from dpassay.properties.pairing.registry import PushedForward
from dpassay.spec.ball import ball, normal_cdf
from dpassay.spec.leaves.model import Image, LeafModel
from dpassay.spec.leaves.noise_behind import Direction
from dpassay.spec.leaves.outcomes import skeleton

__all__ = ["across"]

_GRID, _REACH = 32, 8
"""Further cuts evenly around both means: their number, and the standard deviations within which they lie."""

_FAR = tuple(2**k for k in range(4, 11))
"""Further cuts beyond, in standard deviations."""

_COST = 0.02
"""Time that the probability of a cell takes, in units of the 5 ms of a Gaussian race."""

_STEPS = 60
"""Halvings of the range in which an epsilon is looked for."""


@dataclass(frozen=True)
class _Sum:
    """A sum of released numbers with weights that are floats.

    Parameters
    ----------
    weights : Mapping of int to float
        By the places of the numbers; the first one is positive.
    means : (Fraction, Fraction)
        Its means on the left and on the right.
    variance : Fraction
        Its variance on both.
    """

    weights: Mapping[int, float]
    means: tuple[Fraction, Fraction]
    variance: Fraction

    @classmethod
    def along(cls, direction: Direction, models: tuple[LeafModel, LeafModel]) -> "_Sum":
        """Return the sum in the direction, with its weights rounded: its distribution is that of the rounded ones."""
        (_, first), (_, second) = (skeleton(model.leaves[0].outcome) for model in models)
        sign = 1 if next(iter(direction.weights.values())) > 0 else -1
        weights = {place: float(sign * weight) for place, weight in direction.weights.items()}
        means = tuple(
            sum((Fraction(weight) * numbers[place].constant for place, weight in weights.items()), Fraction(0))
            for numbers in (first, second)
        )
        noise: dict[Hashable, Fraction] = {}
        for place, weight in weights.items():
            for name, value in first[place].noise.items():
                noise[name] = noise.get(name, Fraction(0)) + Fraction(weight) * value
        return cls(weights, (means[0], means[1]), sum((value**2 for value in noise.values()), Fraction(0)))

    @property
    def deviation(self) -> float:
        """Return about the standard deviation."""
        return math.sqrt(self.variance)

    @property
    def distance(self) -> float:
        """Return about the distance of the means in standard deviations; 0 where floats do not tell it."""
        gap = abs(float(self.means[1] - self.means[0]))
        return gap / self.deviation if self.deviation and math.isfinite(gap / self.deviation) else 0.0

    def ends(self, losses: Iterable[float]) -> list[float]:
        """Return the ends of cells: at losses given, in the middle, on a grid, and far away."""
        low, high = sorted(map(float, self.means))
        middle, deviation = (low + high) / 2, self.deviation
        found = [middle, *(middle + side * loss * deviation / self.distance for loss in losses for side in (1, -1))]
        start, end = low - _REACH * deviation, high + _REACH * deviation
        found += [start + (end - start) * k / _GRID for k in range(_GRID + 1)]
        found += [place for k in _FAR for place in (low - k * deviation, high + k * deviation)]
        return sorted({place for place in found if math.isfinite(place)})


def across(
    direction: Direction,
    models: tuple[LeafModel, LeafModel],
    originals: tuple[LeafModel, LeafModel],
    claim: Claim | None,
) -> tuple[PushedForward, PushedForward] | None:
    """Return the distributions of the cells between half-spaces across a direction.

    Parameters
    ----------
    direction : Direction
        Of both models.
    models : (LeafModel, LeafModel)
        With affine numbers in place of functions of them, and with leaves that fill the space of the noise.
    originals : (LeafModel, LeafModel)
        The same models with the outcomes as they are released.
    claim : Claim, optional
        The claim, which tells where to cut.

    Returns
    -------
    (PushedForward, PushedForward) or None
        None where floats do not tell the means apart.
    """
    own = _Sum.along(direction, models)
    if not own.distance:
        return None
    ends = own.ends(_losses(claim, own.distance))
    edges: list[float] = [-math.inf, *ends, math.inf]
    words = _Words(own, originals)
    sides: tuple[dict[Hashable, partial[arb]], ...] = ({}, {})
    for low, high in itertools.pairwise(edges):
        event = words.event(low, high)
        for cells, mean in zip(sides, own.means, strict=True):
            cells[event] = partial(_log_interval, low, high, mean, own.variance)
    left, right = (PushedForward(cells, _COST) for cells in sides)
    return left, right


def _losses(claim: Claim | None, distance: float) -> Iterator[float]:
    """Return the losses at which the claim, or its epsilon at its delta, is decided."""
    point = None if claim is None else epsilon_delta_of(claim)
    if point is None:
        return
    yield point[0]
    if 0 < point[1] < 1:
        yield _epsilon_at(point[1], distance)


def _epsilon_at(delta: float, distance: float) -> float:
    """Return about the epsilon at which two normal distributions at a distance have a delta."""
    normal = NormalDist()
    low, high = 0.0, distance * (distance / 2 + 40)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        tails = (normal.cdf(distance / 2 - middle / distance), normal.cdf(-distance / 2 - middle / distance))
        value = tails[0] - math.exp(min(middle, 700.0)) * tails[1]
        low, high = (middle, high) if value > delta else (low, middle)
    return low


class _Words:
    """Cells of a sum as events of outcomes."""

    def __init__(self, own: _Sum, originals: tuple[LeafModel, LeafModel]) -> None:
        self.own, self.forms = own, Forms(originals)
        self.outcome = originals[0].leaves[0].outcome

    def event(self, low: float, high: float) -> Hashable:
        known = _event_of_sum(self.outcome, self.own.weights, low, high)
        if isinstance(known, Interval):
            return self.forms.event(self.outcome, [known])
        return Words(known)


def _event_of_sum(outcome: Hashable, weights: Mapping[int, float], low: float, high: float) -> Interval | str:
    """Return the event that a weighted sum of the noisy numbers lies in (low, high]; words where there is none."""
    numbers = list(numbers_of(outcome))
    (first, *others) = (numbers[place] for place in weights)
    if not others and first[0] is not None:
        return range_of(first[1], first[0], low, high)
    words = "".join(_weighted(weight, numbers[place][0]) for place, weight in weights.items()).removeprefix("+")
    interval = Interval(words, low, high)
    if any(path is None or isinstance(value, Image) for path, value in (first, *others)):
        return f"{interval}, of the numbers before functions of them"
    return interval


def _weighted(weight: float, path: str | None) -> str:
    """Return a term of a sum with its sign."""
    factor = "" if abs(weight) == 1 else f"{abs(weight)!r}*"
    return f"{'-' if weight < 0 else '+'}{factor}{path or 'a number in a key'}"


def _log_interval(low: float, high: float, mean: Fraction, variance: Fraction) -> arb:
    """Enclose the logarithm of the probability that a normal number lies in an interval."""
    deviation = ball(variance).sqrt()
    a, b = (None if math.isinf(end) else ball(Fraction(end) - mean) / deviation for end in (low, high))
    if a is not None and a > 0:  # both tails on the side where they are small
        return _log_interval(-high, -low, -mean, variance)
    upper = arb(1) if b is None else normal_cdf(b)
    return (upper if a is None else upper - normal_cdf(a)).log()
