"""The optimal delta of adaptively chosen pure and bounded-range mechanisms in a given order.

Whatever was released, the next pair of neighbouring distributions is dominated by a response with losses t and t -
epsilon, whose t the analyst chooses, and the rest is judged at the global epsilon minus the loss: the recursion of
Cesar and Rogers 2020, Lemma 5.1. It is evaluated on a lattice of global epsilons, from both sides.

*From below*, t is restricted to the lattice. *From above*, every delta is convex in e^epsilon, so that between lattice
points it lies below its chord; with chords in place of the deltas, what the analyst maximises has the form
A + B e^-t + C e^t between neighbouring lattice points, and its maximum is known. The chord of the last step is exact,
and the two sides differ by the square of the lattice unit.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import UsageError, require_positive
from dpassay.impl.accounting.composition import (
    AdaptiveAccountant,
    delta_lower,
    delta_upper,
    level_margin,
    require_epsilon,
    sum_upper,
)
from dpassay.impl.accounting.optimal_composition import Grid, common_grid
from dpassay.impl.validation import require_count

__all__ = ["AdaptiveComposition", "ComposedMechanism", "bounded_range_mechanism", "pure_mechanism"]

Array = NDArray[np.float64]

CELLS = 4096
"""Lattice units in the sum of the epsilons, about; the gap between the two sides falls with its square."""

SLOPE_ERROR = 2.0**-49
"""Rounding of differences of deltas, relative to these: of no account unless epsilon is tiny."""


@dataclass(frozen=True)
class ComposedMechanism:
    """One mechanism of a sequence: any epsilon-DP, or any epsilon-bounded-range one.

    Parameters
    ----------
    kind : {"pure", "bounded range"}
        The class.
    epsilon : float
        Positive and finite.

    Raises
    ------
    UsageError
        If an argument is out of its domain.
    """

    kind: Literal["pure", "bounded range"]
    epsilon: float

    def __post_init__(self) -> None:
        if self.kind not in {"pure", "bounded range"}:
            raise UsageError(f"kind must be 'pure' or 'bounded range', got {self.kind!r}")
        require_positive("epsilon", self.epsilon)


def pure_mechanism(epsilon: float) -> ComposedMechanism:
    """Return the round of any epsilon-DP mechanism."""
    return ComposedMechanism("pure", epsilon)


def bounded_range_mechanism(epsilon: float) -> ComposedMechanism:
    """Return the round of any mechanism of bounded range epsilon."""
    return ComposedMechanism("bounded range", epsilon)


class AdaptiveComposition(AdaptiveAccountant):
    """The optimal delta of an adaptive sequence; its order matters.

    Parameters
    ----------
    rounds : sequence of ComposedMechanism
        At least one, in the order in which they run.
    cells : int
        Lattice units in the sum of the epsilons, about. Work grows with its square, the gap between `delta` and
        `delta_lower` falls with it.

    Raises
    ------
    UsageError
        If an argument is out of its domain.

    Examples
    --------
    >>> worst = AdaptiveComposition([pure_mechanism(1.0), bounded_range_mechanism(1.0), bounded_range_mechanism(1.0)])
    >>> best = AdaptiveComposition([bounded_range_mechanism(1.0), pure_mechanism(1.0), bounded_range_mechanism(1.0)])
    >>> round(worst.delta(0.1), 5), round(best.delta(0.1), 5)
    (0.46707, 0.4622)
    """

    def __init__(self, rounds: Sequence[ComposedMechanism], *, cells: int = CELLS) -> None:
        if len(rounds) == 0:
            raise UsageError("rounds must hold at least one round, got none")
        self.rounds = tuple(rounds)
        self._cells = require_count("cells", cells)

    @property
    def total_epsilon(self) -> float:
        """The sum of the epsilons, rounded up."""
        return sum_upper(each.epsilon for each in self.rounds)

    @cached_property
    def _upper(self) -> "_Curve":
        return _Curve.of(self.rounds, self._grid(upward=True))

    @cached_property
    def _lower(self) -> "_Curve":
        return _Curve.of(self.rounds, self._grid(upward=False))

    def _grid(self, *, upward: bool) -> Grid:
        epsilons = [each.epsilon for each in self.rounds]
        grid = common_grid(epsilons, cells=self._cells, most=self._cells, upward=upward)
        finer = max(1, self._cells // max(int(grid.steps.sum()), 1))
        return Grid(grid.unit / finer, grid.steps * finer, grid.exact)

    def delta(self, epsilon: float) -> float:
        """Return an upper bound on the optimal delta at a finite epsilon; the excess is quadratic in the unit."""
        level = require_epsilon(epsilon)
        if level >= self.total_epsilon:
            return 0.0
        level -= level_margin(level, self.total_epsilon)
        return delta_upper(self._upper.above(level))

    def delta_lower(self, epsilon: float) -> float:
        """Return a lower bound on the optimal delta."""
        level = require_epsilon(epsilon)
        return delta_lower(self._lower.below(level + level_margin(level, self.total_epsilon)))


@dataclass(frozen=True)
class _Curve:
    """Bounds on a delta at the global epsilons `unit` (i - reach), i = 0..2 reach; 0 and 1 - e^epsilon beyond."""

    unit: float
    reach: int
    low: Array
    high: Array

    @classmethod
    def of(cls, rounds: Sequence[ComposedMechanism], grid: Grid) -> "_Curve":
        curve = cls(grid.unit, 0, np.zeros(1), np.zeros(1))
        for each, steps in zip(reversed(rounds), grid.steps[::-1].tolist(), strict=True):
            if steps:
                curve = curve.before_pure(steps) if each.kind == "pure" else curve.before_bounded_range(steps)
        return curve

    def before_pure(self, steps: int) -> "_Curve":
        keep = 1 / (1 + np.exp(-self.unit * steps))
        sides = (self.wide(2 * steps, side) for side in (self.low, self.high))
        low, high = (keep * side[: -2 * steps] + (1 - keep) * side[2 * steps :] for side in sides)
        return _Curve(self.unit, self.reach + steps, low, high)

    def before_bounded_range(self, steps: int) -> "_Curve":
        low, high = (self.wide(2 * steps, side) for side in (self.low, self.high))
        size = low.size - 2 * steps
        best_low, best_high = np.zeros(size), np.zeros(size)
        for t in range(steps + 1):
            lost, gained = (slice(place - t, place - t + size) for place in (steps, 2 * steps))
            keep = self.keep(steps, self.unit * t)
            np.maximum(best_low, keep * low[lost] + (1 - keep) * low[gained], out=best_low)
        for t in range(steps):
            corners = [high[place - t - d : place - t - d + size] for place in (steps, 2 * steps) for d in (0, 1)]
            np.maximum(best_high, self.best_on_chords(steps, t, *corners), out=best_high)
        return _Curve(self.unit, self.reach + steps, best_low, best_high)

    def wide(self, more: int, side: Array) -> Array:
        """Continue a side by `more` points to the left and to the right."""
        left = -np.expm1(self.unit * np.arange(-self.reach - more, -self.reach))
        return np.concatenate([left, side, np.zeros(more)])

    def keep(self, steps: int, top: Array | float) -> Array:
        """Return q_{epsilon,t}."""
        return np.asarray(np.expm1(top - self.unit * steps) / np.expm1(-self.unit * steps))

    def best_on_chords(  # the four corners of two chords
        self, steps: int, t: int, lost: Array, lost_next: Array, gained: Array, gained_next: Array
    ) -> Array:
        """Bound the mean from above for t in [t, t + 1] lattice units, with both deltas on their chords.

        In y = e^-(part of a unit) the mean is A + B y + C/y. Wherever rounding puts the peak, the mean is computed
        there; by concavity it falls short of its maximum by at most the error of its slope, over the whole unit.
        """
        width, weight = -np.expm1(-self.unit), -np.expm1(-self.unit * steps)
        slope_lost, slope_gained = (lost - lost_next) / width, (gained - gained_next) / width
        falling = slope_lost - np.exp(-self.unit * steps) * slope_gained  # B
        rising = (gained - slope_gained) - (lost - slope_lost)  # C e^(epsilon - t)
        inner = (falling < 0) & (rising < 0)
        quotient = np.divide(rising, falling, out=np.ones_like(falling), where=inner)
        peak = np.clip((self.unit * (steps - t) - np.log(quotient)) / 2, 0.0, self.unit)
        best: Array = np.zeros_like(falling)
        for offset in (0.0, self.unit, peak):
            share = np.expm1(-offset) / np.expm1(-self.unit)
            keep = self.keep(steps, self.unit * t + offset)
            mean = keep * ((1 - share) * lost + share * lost_next)
            np.maximum(best, mean + (1 - keep) * ((1 - share) * gained + share * gained_next), out=best)
        return best + np.where(inner, SLOPE_ERROR / weight * (lost_next + gained_next), 0.0)

    def above(self, level: float) -> float:
        """Return the chord at a global epsilon between two lattice points."""
        place = level / self.unit
        if place <= -self.reach:
            return float(-np.expm1(level))
        if place >= self.reach:
            return 0.0
        index = int(np.floor(place))
        beyond = level - self.unit * index
        share = np.exp(beyond - self.unit) * np.expm1(-beyond) / np.expm1(-self.unit)
        ends = self.high[index + self.reach : index + self.reach + 2]
        return float((1 - share) * ends[0] + share * ends[1])

    def below(self, level: float) -> float:
        """Return the next lattice value, raised along the chord beyond it: convex functions lie above."""
        trivial = float(-np.expm1(min(level, 0.0)))
        index = int(np.ceil(level / self.unit))
        if not -self.reach <= index < self.reach:
            return trivial
        value, beyond = self.low[index + self.reach], self.high[index + self.reach + 1]
        share = np.expm1(level - self.unit * index) * np.exp(-self.unit) / np.expm1(-self.unit)
        return max(trivial, float(value + max(0.0, share * (value - beyond))))
