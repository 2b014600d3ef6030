"""The distribution of BetweenThresholds: a Laplace-noisy value below, between or above two thresholds.

Only the position s = e^((f - t_l) epsilon) of the value and W = e^(-(t_r - t_l) epsilon) enter, and rationally, so
that the same three formulas serve rational numbers, balls and symbols.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Literal

from flint import arb

from dpassay.arguments import UsageError
from dpassay.spec.ball import Exact, ball, exact

__all__ = ["ABOVE", "BELOW", "BETWEEN", "BetweenThresholdsDistribution", "Zone", "between_thresholds_probabilities"]

BELOW, BETWEEN, ABOVE = 0, 1, 2
"""The outcomes."""

Zone = Literal["below", "inside", "above"]
"""Where the value itself lies; on a threshold both neighbouring zones give the same."""


def between_thresholds_probabilities(position: Any, width: Any, zone: Zone) -> tuple[Any, Any, Any]:
    """Return the probabilities of the outcomes below, between and above.

    Parameters
    ----------
    position : Fraction, arb or sympy expression
        s = e^((f - t_l) epsilon), positive.
    width : the same kind of number
        W = e^(-(t_r - t_l) epsilon), in (0, 1).
    zone : {"below", "inside", "above"}
        s <= 1, 1 <= s <= 1/W, or s >= 1/W.

    Notes
    -----
    App. G of Cohen and Lyu 2023 prints the third one for a value below with an unbalanced parenthesis and the
    wrong sign in the exponent.
    """
    if zone == "below":
        return 1 - position / 2, position * (1 - width) / 2, position * width / 2
    if zone == "above":
        beyond = 1 / (position * width)
        return beyond * width / 2, beyond * (1 - width) / 2, 1 - beyond / 2
    low, high = 1 / (2 * position), position * width / 2
    return low, 1 - low - high, high


@dataclass(frozen=True)
class BetweenThresholdsDistribution:
    """The distribution of the outcome for a value and Laplace noise of scale 1/epsilon.

    Parameters
    ----------
    value : exact number
        The answer f(D).
    low, high : exact number
        The thresholds, low < high.
    epsilon : exact number
        Inverse scale of the noise, positive.

    Raises
    ------
    UsageError
        If the thresholds are not ordered or epsilon is not positive.
    """

    value: Exact
    low: Exact
    high: Exact
    epsilon: Exact

    def __post_init__(self) -> None:
        if not exact("low", self.low) < exact("high", self.high):
            raise UsageError(f"low must be below high, got low={self.low!r}, high={self.high!r}")
        if not exact("epsilon", self.epsilon) > 0:
            raise UsageError(f"epsilon must be positive, got {self.epsilon!r}")
        exact("value", self.value)

    @property
    def outcomes(self) -> tuple[Hashable, ...]:
        """Below, between, above."""
        return (BELOW, BETWEEN, ABOVE)

    def log_probability(self, outcome: Hashable) -> arb:
        """Enclose the logarithm of the probability of an outcome."""
        if outcome not in self.outcomes:
            raise UsageError(f"outcome must be 0, 1 or 2, got {outcome!r}")
        value, low, high = (exact("value", x) for x in (self.value, self.low, self.high))
        rate = exact("epsilon", self.epsilon)
        position, width = ball((value - low) * rate).exp(), ball((low - high) * rate).exp()
        zone: Zone = "below" if value <= low else "above" if value >= high else "inside"
        probability: arb = between_thresholds_probabilities(position, width, zone)[int(str(outcome))]
        return probability.log()
