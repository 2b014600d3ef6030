"""Optimal composition of pure mechanisms, equal or different, chosen adaptively or not.

The worst epsilon-DP mechanism is randomised response whatever the history, so that the privacy loss of the whole is a
sum of independent losses, +epsilon_i with probability e^epsilon_i / (1 + e^epsilon_i) and -epsilon_i otherwise
(Kairouz, Oh and Viswanath 2015; Cesar and Rogers 2020, Thm 1). The distribution of that sum is computed by dynamic
programming on the multiples of a common unit. All terms are positive: nothing cancels.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

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
from dpassay.impl.validation import require_count

__all__ = ["Grid", "PureComposition", "common_grid"]

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

EXACT_CELLS = 2**21
"""Largest sum of the epsilons, in common units, that is handled exactly."""

CELLS = 2**17
"""Number of units into which the sum of the epsilons is divided where there is no common one."""

WIDENED = 2.0**-47
"""A bound on the error by rounding to fifteen decimal digits."""


@dataclass(frozen=True)
class Grid:
    """Epsilons as multiples of a unit, all rounded the same way.

    Parameters
    ----------
    unit : float
        The unit, in nats.
    steps : ndarray of int
        One multiple for each epsilon.
    exact : bool
        Whether the multiples are the epsilons themselves, but for a relative 2^-46.
    """

    unit: float
    steps: Integers
    exact: bool


def common_grid(
    epsilons: Sequence[float | Fraction], *, cells: int = CELLS, most: int = EXACT_CELLS, upward: bool
) -> Grid:
    """Return a grid on which every epsilon, rounded up (or down), is a multiple of the unit.

    Floats are read as decimals of fifteen digits, and the unit is then widened by 2^-47, so that 0.1 and 0.1 + 0.2
    have the common unit 0.1 and no multiple falls short of a float64. Without a common unit of reasonable size each
    epsilon is rounded to one of `cells` units.

    Parameters
    ----------
    epsilons : sequence of float or Fraction
        Positive and finite, at least one.
    cells : int
        Into how many units the sum is divided where there is no common unit; at least 1.
    most : int
        Up to how many common units in the sum are taken as they are.
    upward : bool
        The direction.

    Raises
    ------
    UsageError
        If the sequence is empty or an epsilon is not a finite positive number.
    """
    exact = checked_epsilons(epsilons)
    require_count("cells", cells)
    decimals = [x if isinstance(given, Fraction) else _decimal(x) for given, x in zip(epsilons, exact, strict=True)]
    unit = _common_unit(set(decimals))
    direction = WIDENED if upward else -WIDENED
    if sum(decimals) / unit <= most:
        return Grid(float(unit) * (1 + direction), np.array([int(x / unit) for x in decimals]), exact=True)
    wide = float(sum(exact)) / cells
    rounded = [math.ceil(x / Fraction(wide)) if upward else math.floor(x / Fraction(wide)) for x in exact]
    return Grid(wide, np.array(rounded), exact=False)


def checked_epsilons(epsilons: Sequence[float | Fraction]) -> list[Fraction]:
    """Return the epsilons as rationals; raise `UsageError` unless there are some, all positive and finite."""
    if len(epsilons) == 0:
        raise UsageError("epsilons must hold at least one number, got none")
    checked = [(x, require_positive("epsilons", float(x))) for x in epsilons]
    return [x if isinstance(x, Fraction) else Fraction(value) for x, value in checked]


def _decimal(number: Fraction) -> Fraction:
    """Return the decimal of fifteen digits next to a float64."""
    return Fraction(f"{float(number):.15g}")


def _common_unit(numbers: Collection[Fraction]) -> Fraction:
    """Return the largest rational of which all are multiples."""
    denominator = math.lcm(*(x.denominator for x in numbers))
    return Fraction(math.gcd(*(x.numerator * (denominator // x.denominator) for x in numbers)), denominator)


class PureComposition(AdaptiveAccountant):
    """The optimal delta of adaptively composing epsilon_i-DP mechanisms, in any order.

    Exact for epsilons with a common unit, within a relative 1e-9 above the truth while epsilon stays a thousandth of
    the sum away from it; otherwise the epsilons are rounded up to `cells` units, and `delta_lower` tells, with the
    epsilons rounded down, how much that costs.

    Parameters
    ----------
    epsilons : sequence of float or Fraction
        Positive and finite, at least one.
    cells : int
        Into how many units the sum is divided where there is no common unit.

    Raises
    ------
    UsageError
        If an argument is out of its domain.

    Examples
    --------
    >>> round(PureComposition([0.1] * 20).epsilon(1e-6), 6)
    1.788609
    """

    def __init__(self, epsilons: Sequence[float | Fraction], *, cells: int = CELLS) -> None:
        self._total = sum_upper(checked_epsilons(epsilons))
        self._grids = tuple(common_grid(epsilons, cells=cells, upward=upward) for upward in (True, False))

    @property
    def total_epsilon(self) -> float:
        """The sum of the epsilons, rounded up."""
        return self._total

    @property
    def exact(self) -> bool:
        """True if the epsilons have a common unit."""
        return self._grids[0].exact

    @cached_property
    def _distributions(self) -> tuple[tuple[Array, Array], ...]:
        return tuple(loss_distribution(grid) for grid in self._grids)

    def delta(self, epsilon: float) -> float:
        """Return the optimal delta at any finite epsilon, rounded up."""
        level = require_epsilon(epsilon)
        if level >= self._total:
            return 0.0
        level -= level_margin(level, self._total)
        return delta_upper(_hinge_mean(*self._distributions[0], level))

    def delta_lower(self, epsilon: float) -> float:
        """Return a lower bound on the optimal delta."""
        level = require_epsilon(epsilon)
        level += level_margin(level, self._total)
        return delta_lower(_hinge_mean(*self._distributions[1], level))


def loss_distribution(grid: Grid) -> tuple[Array, Array]:
    """Return the possible losses, in nats, and their probabilities under the first of the two neighbours."""
    total = int(grid.steps.sum())
    distribution = np.zeros(2 * total + 1)  # of the number of units, moved up by `total`
    distribution[total], reach = 1.0, 0
    for step in grid.steps.tolist():
        epsilon = grid.unit * step
        keep, lose = 1 / (1 + math.exp(-epsilon)), 1 / (1 + math.exp(min(epsilon, 700.0)))
        inside = distribution[total - reach : total + reach + 1].copy()
        distribution[total - reach : total + reach + 1] = 0.0
        distribution[total - reach + step : total + reach + step + 1] += keep * inside
        distribution[total - reach - step : total + reach - step + 1] += lose * inside
        reach += step
    places = np.flatnonzero(distribution)
    return np.asarray(grid.unit * (places - total)), distribution[places]


def _hinge_mean(losses: Array, masses: Array, level: float) -> float:
    """Return the mean of [1 - e^(level - loss)]_+."""
    above = losses > level
    return float(np.sum(masses[above] * -np.expm1(level - losses[above])))
