"""Composition of independent randomised responses: the frequency of each privacy loss.

One response tells the bit with probability e^epsilon / (1 + e^epsilon). Of all pairs of mechanisms that are
epsilon-DP it is the least private one: each of the others is a function of its outcome (Kairouz, Oh and Viswanath
2015, Thm 2), so that compositions of epsilon-DP mechanisms, also adaptive ones, are dominated by compositions of it.
"""

import itertools
from collections.abc import Hashable
from fractions import Fraction

from flint import arb

from dpassay.spec.ball import ball
from dpassay.spec.distributions.discrete import FiniteDistribution

__all__ = ["composed_response_hockey_stick", "responses"]


def composed_response_hockey_stick(copies: int, epsilon: Fraction, level: arb) -> arb:
    """Enclose the least delta, at `level`, of `copies` independent responses of epsilon each.

    sum_j C(r, j) p^j (1 - p)^(r - j) max(0, 1 - e^(level - epsilon (2 j - r))), from j = r downwards for as long as
    the loss epsilon (2 j - r) may exceed the level.
    """
    log_p = -((-ball(epsilon)).exp().log1p())
    odds = ball(-epsilon).exp()
    mass = (copies * log_p).exp()
    total = arb(0)
    for right in range(copies, -1, -1):
        excess = ball(epsilon * (2 * right - copies)) - level
        if excess <= 0:
            break
        total = total + mass * (-(-excess).expm1()).max(arb(0))
        mass = mass * odds * right / (copies - right + 1)
    return total


def responses(bits: tuple[int, ...], truth: Fraction) -> FiniteDistribution:
    """Return the distribution of a vector of bits, each reported truthfully with probability `truth`; 2^n outcomes."""
    weights: dict[Hashable, Fraction] = {}
    for told in itertools.product((0, 1), repeat=len(bits)):
        wrong = sum(a != b for a, b in zip(told, bits, strict=True))
        weights[told] = truth ** (len(bits) - wrong) * (1 - truth) ** wrong
    return FiniteDistribution(weights)
