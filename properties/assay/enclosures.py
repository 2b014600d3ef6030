"""Truths: enclosures of what a tight answer would be, and how a curve that is enclosed gives its inverse.

`lower` and `upper` are float64 numbers rounded outward. An upper bound on a privacy parameter is unsound below
`lower`; a calibrator that wants a large parameter is unsound above `upper`. None stands for what is not known.
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
LARGEST = 1e6
"""Parameters are looked for up to here."""

STEPS = 64


@dataclass(frozen=True)
class Truth:
    """An enclosure of a tight answer; None where a side is not known."""

    lower: float | None
    upper: float | None = None

    @classmethod
    def of(cls, value: Real) -> "Truth":
        """Enclose a number, at growing precision; unknown where it cannot be enclosed."""
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
"""Encloses delta at an epsilon."""

Truths = dict[str, Callable[..., Truth]]
"""Truths by the question that they answer."""


def least_argument(
    curve: Curve, delta: float, *, start: float = 2.0**-20, largest: float = LARGEST, steps: int = STEPS
) -> Truth:
    """Enclose the least x >= 0 at which a curve that does not increase falls to delta.

    Where the curve is only known from below, so is x.

    Parameters
    ----------
    curve : callable
        Encloses the curve at a float64.
    delta : float
        The level.
    start, largest : float
        Where the search begins and ends.
    steps : int
        Bisections.
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
    """Whether something certainly lies above a level."""
    return truth.lower is not None and truth.lower > delta


def falls_to(truth: Truth, delta: float) -> bool:
    """Whether something certainly lies at or below a level."""
    return truth.upper is not None and truth.upper <= delta
