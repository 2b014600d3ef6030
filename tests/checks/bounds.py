"""Implementation bounds against enclosures: never below the truth, and above it by no more than is stated.

A bound of :mod:`dpassay.impl.accounting` is a float64; the truth is enclosed by :mod:`dpassay.spec`. Both ends of
the comparison are decided by balls.
"""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from flint import arb

from dpassay.spec.ball import Exact, Real, at_most, ball, exact
from dpassay.spec.verdict import Verdict, conjunction

SMALLEST = ball(float(np.finfo(np.float64).tiny))

__all__ = ["ACCURACY", "on_the_safe_side", "safe_at_a_rounded_level"]

ACCURACY = Fraction(1, 10**9)
"""Relative error that the bounds of the selection chapter state for their domain."""


def on_the_safe_side(bound: float, truth: Real, accuracy: Exact = ACCURACY) -> Verdict:
    """Decide whether ``truth <= bound <= truth (1 + accuracy)``; the smallest normal float64 bounds all below it.

    Parameters
    ----------
    bound : float
        What the implementation returned; infinite or NaN is refused as a usage error.
    truth : Real
        Encloses the quantity that is bounded, not negative.
    accuracy : exact number
        The stated relative error.
    """
    value, allowance = exact("bound", bound), exact("accuracy", accuracy)
    return conjunction([
        at_most(truth, lambda: ball(value)),
        at_most(lambda: ball(value), lambda: (truth() * (1 + ball(allowance))).max(SMALLEST)).without_tightness(),
    ])  # fmt: skip


def safe_at_a_rounded_level(
    bound: float, truth: Callable[[Fraction], arb], level: Exact, lowered: Exact, underflow: float
) -> Verdict:
    """Decide ``truth(level) <= bound <= truth(lowered) (1 + ACCURACY) + 2 underflow`` for a truth that falls.

    Close below the sum of all epsilons delta is a difference of nearly equal numbers; no relative error of delta can
    be stated there, but one of the level.

    Parameters
    ----------
    bound : float
        The delta that the implementation returned at `level`.
    truth : callable
        Encloses delta at a level in nats.
    level, lowered : exact number
        The global epsilon, and the smallest one that the stated rounding may turn it into.
    underflow : float
        The stated absolute error.
    """
    at, lower, value = exact("level", level), exact("lowered", lowered), exact("bound", bound)

    def above() -> arb:
        return truth(lower) * (1 + ball(ACCURACY)) + 2 * ball(underflow)

    return conjunction([
        at_most(lambda: truth(at), lambda: ball(value)),
        at_most(lambda: ball(value), above).without_tightness(),
    ])  # fmt: skip
