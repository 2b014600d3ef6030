"""Reference values: enclosures of tight answers, and enclosures of the inverse of an enclosed curve.

`lower` and `upper` are float64 numbers rounded outward. An upper bound on a privacy parameter is unsound below
`lower`; a calibrator that maximises a parameter is unsound above `upper`. None means unknown.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from dpassay.spec.ball import Real, UndecidedError, enclosure, float_lower, float_upper, precision

__all__ = [
    "LARGEST",
    "WORKING_BITS",
    "Curve",
    "Truth",
    "Truths",
    "exceeds",
    "falls_to",
    "least_argument",
]

WORKING_BITS = 192
"""The first precision of an enclosure."""

LARGEST = 1e6
"""Largest parameter of the search for an inverse."""

STEPS = 64
"""Bisections for a least argument: each halves the distance of its two bounds."""


@dataclass(frozen=True)
class Truth:
    """An enclosure of a tight answer; None for an unknown side."""

    lower: float | None
    upper: float | None = None

    @classmethod
    def of(cls, value: Real) -> "Truth":
        """Enclose a number, increasing the precision; a side that cannot be enclosed is None."""
        with precision(WORKING_BITS):
            first = value()
        if first == 0:
            return cls(0.0, 0.0)
        try:
            ball_of = enclosure(value, relative_bits=60)
        except UndecidedError:
            ball_of = first
        lower, upper = float_lower(ball_of), float_upper(ball_of)
        return cls(None if lower == -math.inf else max(lower, 0.0), None if upper == math.inf else upper)


Curve = Callable[[float], Truth]
"""Function that encloses delta at an epsilon."""

Truths = dict[str, Callable[..., Truth]]
"""Reference values by the name of their question."""


def least_argument(
    curve: Curve, delta: float, *, start: float = 2.0**-20, largest: float = LARGEST, steps: int = STEPS
) -> Truth:
    """Enclose the least x >= 0 at which a non-increasing curve is at most delta.

    If the curve has no upper bound, neither has x.

    Parameters
    ----------
    curve : callable
        Encloses the curve at a float64.
    delta : float
        The level.
    start, largest : float
        Range of the search.
    steps : int
        Number of bisections.
    """
    if not exceeds(curve(0.0), delta):
        return Truth(0.0, 0.0 if falls_to(curve(0.0), delta) else None)
    low, high = 0.0, start
    while exceeds(curve(high), delta):
        low, high = high, 4 * high
        if high > largest:
            return Truth(low, None)
    for _ in range(steps):
        middle = low + (high - low) / 2
        if not low < middle < high:
            break
        if exceeds(curve(middle), delta):
            low = middle
        else:
            high = middle
    # at `high` the enclosure may still touch delta: a little further out it no longer does
    beyond = (high * (1 + step) for step in (0.0, 2.0**-50, 2.0**-40, 2.0**-30))
    return Truth(low, next((x for x in beyond if falls_to(curve(x), delta)), None))


def exceeds(truth: Truth, delta: float) -> bool:
    """Return whether a value is certainly above a level."""
    return truth.lower is not None and truth.lower > delta


def falls_to(truth: Truth, delta: float) -> bool:
    """Return whether something certainly lies at or below a level."""
    return truth.upper is not None and truth.upper <= delta
