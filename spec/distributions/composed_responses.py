"""Composition of randomised responses: an enclosure of the curve delta(epsilon) for any number of them.

`count` responses with loss plus or minus epsilon0 have the loss (2 j - count) epsilon0 when j of them are truthful, so
that delta is a difference of two binomial tails. By the optimality of randomised response it is the least delta of
`count` mechanisms of which no more is known than that they are epsilon0-DP; a leak with probability delta0 in each
makes them (epsilon0, delta0)-DP (Kairouz, Oh and Viswanath 2017, Thms 3.3 and 3.5).
"""

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from flint import arb, ctx

from dpassay.spec.ball import Exact, ball, exact, sum_balls

__all__ = ["composed_approximate_delta", "composed_response_delta", "heterogeneous_delta", "response_renyi_divergence"]

WORKING_BITS = 192


def composed_response_delta(epsilon0: Exact, count: int, epsilon: Exact) -> arb:
    """Enclose the delta at epsilon of `count` responses with loss plus or minus epsilon0.

    Parameters
    ----------
    epsilon0 : exact number
        At least 0, nats.
    count : int
        At least 0; the work grows with it.
    epsilon : exact number
        At least 0.
    """
    unit, level = exact("epsilon0", epsilon0), exact("epsilon", epsilon)
    if unit == 0 or level >= count * unit:
        return arb(0)
    least = math.floor((level / unit + count) / 2) + 1  # truthful answers from which on the loss exceeds epsilon
    truthful, lying = _tails(unit, count, ctx.prec)
    return truthful[least] - ball(level).exp() * lying[least]


@lru_cache(maxsize=64)
def _tails(unit: Fraction, count: int, _bits: int) -> tuple[list[arb], list[arb]]:
    """Return, for every j, the probability of at least j truthful answers under the one input and the other."""
    log_true, odds = -(-ball(unit)).exp().log1p(), -ball(unit)
    terms, weight = [], count * log_true  # all truthful
    for j in range(count, -1, -1):
        terms.append((weight.exp(), (weight + (2 * j - count) * odds).exp()))
        if j:
            weight = weight + (ball(Fraction(j, count - j + 1))).log() + odds
    truthful, lying = [arb(0)], [arb(0)]
    for p, q in terms:
        truthful.append(truthful[-1] + p)
        lying.append(lying[-1] + q)
    return truthful[:0:-1], lying[:0:-1]


def composed_approximate_delta(epsilon0: Exact, delta0: Exact, count: int, epsilon: Exact) -> arb:
    """Enclose the least delta at epsilon of `count` (epsilon0, delta0)-DP mechanisms.

    Parameters
    ----------
    epsilon0, delta0 : exact number
        Privacy parameters of each mechanism.
    count : int
        Number of mechanisms.
    epsilon : exact number
        Privacy parameter of the composition, nats.
    """
    none_leaks = count * (-ball(exact("delta0", delta0))).log1p() if delta0 != 1 else arb.neg_inf()
    if count == 0:
        return arb(0)
    kept = none_leaks.exp()
    return -none_leaks.expm1() + kept * composed_response_delta(epsilon0, count, epsilon)


def heterogeneous_delta(epsilons: Sequence[Exact], deltas: Sequence[Exact], epsilon: Exact) -> arb:
    """Enclose the least delta at epsilon of mechanisms with these (epsilon, delta) each.

    The work grows with the number of different combinations of truthful answers.
    """
    level = exact("epsilon", epsilon)
    groups = Counter(exact("epsilons", value) for value in epsilons)
    none_leaks = sum_balls((-ball(exact("deltas", value))).log1p() for value in deltas if value != 1)
    if any(value == 1 for value in deltas):
        return arb(1)
    total = arb(0)
    for lies in itertools.product(*(range(count + 1) for count in groups.values())):
        pairs = list(zip(groups.items(), lies, strict=True))
        loss = sum(((count - 2 * lied) * unit for (unit, count), lied in pairs), Fraction(0))
        if loss <= level:
            continue
        log_p = sum_balls(
            arb(math.comb(count, lied)).log() - count * (-ball(unit)).exp().log1p() - lied * ball(unit)
            for (unit, count), lied in pairs
        )
        total = total + log_p.exp() * -((ball(level - loss)).expm1())
    return -none_leaks.expm1() + none_leaks.exp() * total


def response_renyi_divergence(epsilon0: Exact, order: Exact) -> arb:
    """Enclose the Renyi divergence of order above 1 of one response with loss plus or minus epsilon0.

    log(cosh((order - 1/2) epsilon0) / cosh(epsilon0 / 2)) / (order - 1), without overflow.
    """
    unit, alpha = ball(exact("epsilon0", epsilon0)), ball(exact("order", order))
    wide = 2 * alpha - 1
    return ((alpha - 1) * unit + (-wide * unit).exp().log1p() - (-unit).exp().log1p()) / (alpha - 1)
