"""Base classes of the accountants of composition, with separate types for adaptive and batch composition.

A *batch* is chosen before any interaction; an *adaptive* sequence may choose every mechanism, and the data sets it
is compared on, from what was released. A bound for batches is unsafe for adaptive sequences as soon as bounded-range
mechanisms take part (Cesar and Rogers 2020 mix the two up in eq. (5)), so that the two have different types: ask for
an `AdaptiveAccountant` where the analyst interacts.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from fractions import Fraction

import numpy as np

from dpassay.arguments import UsageError, require_probability
from dpassay.claims import ApproximateDP

__all__ = [
    "AdaptiveAccountant",
    "BatchAccountant",
    "CompositionAccountant",
    "delta_lower",
    "delta_upper",
    "level_margin",
    "require_epsilon",
    "sum_upper",
]

MARGIN = 1 + 2.0**-34
"""Factor on every float64 delta; it exceeds the rounding errors, which are below 1e-10."""

UNDERFLOW = 1e-300
"""A bound on the error of a delta by products below the range of float64: a positive delta never becomes 0."""

BACK_OFF = 2.0**-48
"""Relative margin of the global epsilon that absorbs the rounding of sums of losses."""

CLOSE = 2.0**-40


class CompositionAccountant(ABC):
    """An accountant of the composition of mechanisms with known parameters; all numbers in nats.

    Sub-types say whether it may be used for adaptively chosen mechanisms.
    """

    @property
    @abstractmethod
    def total_epsilon(self) -> float:
        """The sum of the epsilons, rounded up; from there on delta is 0."""

    @abstractmethod
    def delta(self, epsilon: float) -> float:
        """Return delta such that the composition is (epsilon, delta)-DP, rounded up.

        Parameters
        ----------
        epsilon : float
            The global epsilon; any finite number, negative ones included: delta is then near 1 - e^epsilon.

        Raises
        ------
        UsageError
            If epsilon is not a finite number.
        """

    def epsilon(self, delta: float) -> float:
        """Return the least epsilon found, at least 0, with which the composition is (epsilon, delta)-DP.

        Rounded up: `delta` has been seen to hold there. Within 2^-40 of the total epsilon of the least such number.

        Parameters
        ----------
        delta : float
            In [0, 1].

        Raises
        ------
        UsageError
            If delta is outside.
        """
        require_probability("delta", delta)
        return _least(lambda level: self.delta(level) <= delta, self.total_epsilon)

    def claim(self, epsilon: float) -> ApproximateDP:
        """Return the claim of approximate DP at an epsilon >= 0."""
        return ApproximateDP(epsilon, min(1.0, self.delta(epsilon)))


class AdaptiveAccountant(CompositionAccountant):
    """An accountant whose delta bounds adaptively chosen mechanisms, and therefore batches."""


class BatchAccountant(CompositionAccountant):
    """An accountant whose delta bounds batches only: mechanisms that are chosen before the interaction."""


def level_margin(level: float, total: float) -> float:
    """Return how far a global epsilon is moved to the safe side, for the rounding of sums of losses up to `total`."""
    return BACK_OFF * (abs(level) + abs(total))


def delta_upper(computed: float) -> float:
    """Return a computed positive delta, rounded up."""
    return min(1.0, computed * MARGIN + UNDERFLOW)


def delta_lower(computed: float) -> float:
    """Return a computed delta, rounded down."""
    return max(0.0, computed / MARGIN - UNDERFLOW)


def require_epsilon(value: float) -> float:
    """Return a global epsilon if it is a finite number; raise `UsageError` otherwise."""
    if not np.isfinite(value):
        raise UsageError(f"epsilon must be a finite number, got {value!r}")
    return float(value)


def sum_upper(epsilons: Iterable[float | Fraction]) -> float:
    """Return the sum of some numbers, rounded up; raise `UsageError` if it is beyond float64."""
    exact = sum((Fraction(x) for x in epsilons), Fraction(0))
    try:
        nearest = float(exact)
    except OverflowError:
        raise UsageError("epsilons must have a sum that float64 can hold") from None
    return nearest if Fraction(nearest) >= exact else math.nextafter(nearest, math.inf)


def _least(enough: Callable[[float], bool], total: float) -> float:
    if enough(0.0):
        return 0.0
    low, high = 0.0, total
    while high - low > CLOSE * total:
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
