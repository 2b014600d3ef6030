"""Exact deltas of the chapter's adversaries by a second derivation, for pins.

Where the loss depends on a count, the worst event is a tail of that count: delta is the difference of two tails, each
an exact binomial sum (or an incomplete gamma function), at the count from which the loss exceeds epsilon'.
"""

import itertools
from fractions import Fraction
from math import comb

from flint import arb

from dpassay.spec.ball import ball, midpoint

__all__ = [
    "advanced_epsilon",
    "binomial_below",
    "misses_before_hits_delta",
    "rare_hits_by_gamma",
    "responses_delta",
    "top_k_delta_by_enumeration",
]


def binomial_below(limit: int, trials: int, chance: Fraction) -> Fraction:
    """Return Pr[Bin(trials, chance) < limit]."""
    terms = (comb(trials, j) * chance**j * (1 - chance) ** (trials - j) for j in range(limit))
    return sum(terms, Fraction(0))


def advanced_epsilon(calls: int | Fraction, ratio: Fraction, delta: Fraction) -> arb:
    """Enclose r epsilon^2/2 + epsilon sqrt(2 r L) as (sqrt(r/2) epsilon + sqrt(L))^2 - L, L = ln(1/delta)."""
    step, log_inverse = ball(ratio).log(), -ball(delta).log()
    return ((ball(calls) / 2).sqrt() * step + log_inverse.sqrt()) ** 2 - log_inverse


def responses_delta(count: int, ratio: Fraction, epsilon: arb) -> arb:
    """Enclose the delta of `count` randomised responses: the event of too many truthful answers."""
    needed = _first_above((epsilon / ball(ratio).log() + count) / 2)
    truthful, untruthful = (1 - binomial_below(needed, count, r / (1 + r)) for r in (ratio, 1 / ratio))
    return ball(truthful) - epsilon.exp() * ball(untruthful)


def misses_before_hits_delta(hits: int, rare: Fraction, frequent: Fraction, epsilon: arb) -> arb:
    """Enclose the delta of tests until `hits` hits: the event of too many misses before them.

    Parameters
    ----------
    hits : int
        The number of hits after which the tests end.
    rare, frequent : Fraction
        Probability of a hit on the left and on the right side, rare < frequent.
    epsilon : arb
        The level.
    """
    miss, hit = ball((1 - rare) / (1 - frequent)).log(), ball(frequent / rare).log()
    trials = _first_above((epsilon + hits * hit) / miss) + hits - 1
    left, right = (binomial_below(hits, trials, chance) for chance in (rare, frequent))
    return ball(left) - epsilon.exp() * ball(right)


def rare_hits_by_gamma(hits: int, ratio: Fraction, epsilon: arb) -> arb:
    """Enclose the delta of hits that come as a Poisson process: the event of too long a wait."""
    wait = (epsilon + hits * ball(ratio).log()) / ball(ratio - 1)
    left, right = ((rate * wait).gamma_upper(hits, regularized=1) for rate in (ball(1), ball(ratio)))
    return left - epsilon.exp() * right


def _first_above(level: arb) -> int:
    """Return the least whole number above a number that is not close to one."""
    return int(midpoint(level)) + 1


def top_k_delta_by_enumeration(m: int, k: int, ratio: Fraction, budget: Fraction) -> Fraction:
    """Return the larger delta, over both orders, of the k best of m tests: by sorting all vectors of scores 0 and 1.

    A test scores 1 with odds 1 to `ratio` on the left and `ratio` to 1 on the right; `budget` is e^epsilon'.

    Parameters
    ----------
    m : int
        Number of tests; the run time grows as 2^m.
    k : int
        Number of selected tests.
    ratio : Fraction
        e^epsilon of a test.
    budget : Fraction
        e^epsilon'.
    """
    masses: dict[tuple[tuple[int, int], ...], list[Fraction]] = {}
    for scores in itertools.product((0, 1), repeat=m):
        order = sorted(range(m), key=lambda i: (-scores[i], i))[:k]
        released = tuple((i, scores[i]) for i in order)
        ones = sum(scores)
        sides = masses.setdefault(released, [Fraction(0), Fraction(0)])
        for side, count in enumerate((m - ones, ones)):  # factors ratio/(1 + ratio)
            sides[side] += ratio**count / (1 + ratio) ** m
    return max(
        sum((max(sides[a] - budget * sides[1 - a], Fraction(0)) for sides in masses.values()), Fraction(0))
        for a in (0, 1)
    )
