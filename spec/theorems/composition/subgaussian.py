"""The tail of an adaptively scaled subgaussian sum: Cesar and Rogers (2020), Lemma 3.1 and Appendix A.

The appendix prints the trivial sigma-algebra as the empty set, and sum B_i^2 <= b for b^2; both without consequence.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Annotated, Any

from flint import arb

from dpassay.spec.ball import Exact, Real, at_most, ball, exact, sum_balls
from dpassay.spec.domains.base import Domain, Reals
from dpassay.spec.proof.pins import Pin
from dpassay.spec.sources import CESAR_2020
from dpassay.spec.statement import statement
from dpassay.spec.verdict import Verdict, conjunction

__all__ = ["Scales", "subgaussian_tail", "total_square", "worst_tail"]


@dataclass(frozen=True)
class Scales(Domain):
    """Between one and `largest_size` positive rational scales, to be used in any order."""

    largest_size: int = 6

    def contains(self, value: Any) -> bool:
        """Return whether `value` is a tuple of that number of positive rationals."""
        return (
            isinstance(value, tuple)
            and 1 <= len(value) <= self.largest_size
            and all(isinstance(b, Fraction) and b > 0 for b in value)
        )


def worst_tail(scales: tuple[Fraction, ...], level: Fraction, step: Callable[[Fraction], Fraction]) -> Fraction:
    """Return the largest Pr[sum X_i >= level] over adversaries that scale the next fair sign or stop.

    Each scale is used once at most. The adversary sees the sum so far, so that the scale B_i is predictable and the
    multiset bounds sum B_i^2. Without stopping (a scale of 0 from then on) the order of the scales would not matter.
    """

    @cache
    def solve(unused: tuple[Fraction, ...], missing: Fraction) -> Fraction:
        if missing <= 0 or not unused:
            return Fraction(int(missing <= 0))
        choices = (
            sum(solve(unused[:k] + unused[k + 1 :], missing - sign * step(b)) for sign in (1, -1)) / 2
            for k, b in enumerate(unused)
        )
        return max(Fraction(x) for x in choices)

    return solve(tuple(sorted(scales)), level)


def total_square(scales: tuple[Fraction, ...]) -> Fraction:
    """Return b^2 = sum B_i^2, which the adversary cannot exceed."""
    return sum((b * b for b in scales), Fraction(0))


def subgaussian_tail(level: Fraction, square: Fraction) -> arb:
    """Enclose exp(-beta^2/(2 b^2))."""
    return ball(-(level**2) / (2 * square)).exp()


@statement(
    CESAR_2020,
    "adaptive_subgaussian_tail",
    examples=(
        {"scales": (Fraction(1),), "level": Fraction(1), "order": Fraction(1)},
        {"scales": (Fraction(1), Fraction(1)), "level": Fraction(2), "order": Fraction(1)},
        {"scales": (Fraction(3), Fraction(1), Fraction(1), Fraction(1)), "level": Fraction(3), "order": Fraction(1)},
    ),
    pins=(
        Pin(
            {"scales": (Fraction(1), Fraction(1)), "level": Fraction(2), "order": Fraction(1)},
            "two signs: 1/4 against 1/e, cosh(1)^2 = (cosh(2) + 1)/2 against e",
            smaller=lambda: [Fraction(1, 4), (arb(2).cosh() + 1) / 2],
            larger=lambda: [arb(-1).exp(), arb(1).exp()],
        ),
        Pin(
            {"scales": (Fraction(1), Fraction(2), Fraction(4)), "level": Fraction(1), "order": Fraction(1)},
            "doubling after each loss and stopping at the first gain misses 1 with probability 1/8 only",
            smaller=lambda: [Fraction(7, 8), (arb(7).cosh() + arb(5).cosh() + arb(3).cosh() + arb(1).cosh()) / 4],
            larger=lambda: [(-ball(Fraction(1, 42))).exp(), ball(Fraction(21, 2)).exp()],
        ),
    ),
)
def tail_of_adaptively_scaled_subgaussian_sum(
    scales: Annotated[tuple[Fraction, ...], Scales("scales B_i of the increments")],
    level: Annotated[Exact, Reals("beta", Fraction(1, 10), 10, (1, 2))],
    order: Annotated[Exact, Reals("lambda", Fraction(1, 100), 5, (1,), logarithmic=True)],
) -> Verdict:
    """If X_i is subgaussian with the predictable scale B_i given the past, and sum B_i^2 <= b^2, then
    Pr[sum X_i >= beta] <= exp(-beta^2/(2 b^2)) for beta > 0, because E[e^(lambda sum X_i)] <= e^(lambda^2 b^2/2).

    Tried with fair signs, scaled by an optimal adversary who takes the scales in any order and stops at any time.
    """
    beta, square = exact("level", level), total_square(scales)
    rate = exact("order", order)
    moment: Real = lambda: _product(((ball(rate * b).exp() + ball(-rate * b).exp()) / 2) for b in scales)
    return conjunction([
        at_most(lambda: ball(worst_tail(scales, beta, lambda b: b)), lambda: subgaussian_tail(beta, square)),
        at_most(moment, lambda: ball(rate**2 * square / 2).exp()),
    ])  # fmt: skip


def _product(factors: Any) -> arb:
    return sum_balls(factor.log() for factor in factors).exp()
