"""Binomial tails, as rationals and as balls."""

from fractions import Fraction
from math import comb

from flint import arb

from dpassay.spec.ball import ball

__all__ = ["binomial_at_most", "binomial_at_most_exact", "negative_binomial_above"]


def binomial_at_most_exact(successes: int, trials: int, chance: Fraction) -> Fraction:
    """Return Pr[Bin(trials, chance) <= successes].

    Examples
    --------
    >>> binomial_at_most_exact(1, 3, Fraction(1, 2))
    Fraction(1, 2)
    """
    last = min(successes, trials)
    terms = (comb(trials, j) * chance**j * (1 - chance) ** (trials - j) for j in range(last + 1))
    return sum(terms, Fraction(0))


def binomial_at_most(successes: int, trials: int, chance: arb) -> arb:
    """Enclose Pr[Bin(trials, chance) <= successes] for 0 < chance < 1, accurate relative to itself.

    All terms are positive; the sum takes `successes` + 1 multiplications, however many trials there are.
    """
    if successes >= trials:
        return arb(1)
    if successes < 0:
        return arb(0)
    odds = chance / (1 - chance)
    term = (trials * (-chance).log1p()).exp()
    total = term
    for j in range(1, successes + 1):
        term = term * (trials - j + 1) / j * odds
        total = total + term
    return total


def negative_binomial_above(count: int, hits: int, chance: Fraction) -> arb:
    """Enclose Pr[X > count], X the number of trials up to and including the success number `hits`."""
    if chance == 1:
        return arb(int(count < hits))
    return binomial_at_most(hits - 1, count, ball(chance))
