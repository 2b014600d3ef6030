"""Betting on a Renyi moment: the claim E_Q[(dP/dQ)^alpha] <= C bounds what a bet of two expectations can win.

For every h from outcomes to [0, 1] and every t > 0, with beta = alpha/(alpha - 1),

    E_P[h] - c2 E_Q[h^beta] <= c1,      c1 = t^alpha C/alpha,   c2 = t^-beta/beta,

by the inequalities of Hoelder and Young. A call draws the left side, P, with probability w; the factor of the wealth
for a stake s is

    m = 1 + s (h 1[left]/(2w) - c2 h^beta 1[right]/(2(1 - w)) - c1/2).

Everything here is exact: alpha is an integer, distributions are rational, h = g^(alpha - 1) and t = u^(alpha - 1) for
rational g and u, so that h^beta = g^alpha, t^alpha = u^(alpha (alpha - 1)) and t^-beta = u^-alpha.
"""

from collections.abc import Callable, Hashable
from fractions import Fraction
from typing import Annotated

from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.distributions.pairs import FinitePairs, PairAtRatio
from dpassay.spec.domains.base import Choices, Integers
from dpassay.spec.proof.pins import Pin
from dpassay.spec.rational import at_most_exact
from dpassay.spec.sources import DPASSAY
from dpassay.spec.statement import statement
from dpassay.spec.verdict import Verdict, conjunction

__all__ = ["bounded_share", "constants", "largest_moment_stake", "moment_bet"]

Pair = Annotated[
    PairAtRatio,
    FinitePairs("output distributions on at most 4 outcomes; the right one gives each of them some mass", 4, True),
]
Belief = Annotated[
    PairAtRatio, FinitePairs("what the bettor believes the distributions to be, and the largest ratio bet on", 4, True)
]
Order = Annotated[int, Integers("alpha", 2, 5)]
Weight = Annotated[Fraction, Choices("w, the probability of the left side",
                                     (Fraction(1, 2), Fraction(1, 3), Fraction(1, 10), Fraction(9, 10)))]  # fmt: skip
Scale = Annotated[Fraction, Choices("u, the root of t", (Fraction(1, 2), Fraction(3, 4), Fraction(1), Fraction(3, 2)))]

_APART = PairAtRatio(FiniteDistribution.of(3, 1), FiniteDistribution.of(1, 3), Fraction(3))
_APART_LEFT, _APART_RIGHT = Fraction(3, 4) + Fraction(1, 4 * 81), Fraction(1, 4) + Fraction(3, 4 * 729)
_APART_FIRST, _APART_SECOND = Fraction(3**6, 4**6) * Fraction(61, 27), Fraction(2, 3) * Fraction(64, 27)
_APART_STAKE = 1 / (_APART_SECOND * Fraction(3, 4) + _APART_FIRST / 2)
"""E_P[h] and E_Q[h^beta], c1 and c2, and the largest stake at w = 1/3, for `_APART`, alpha = 3 and
u = 3/4: for pins."""
_ALIKE = PairAtRatio(FiniteDistribution.of(3, 2), FiniteDistribution.of(2, 3), Fraction(1))


def moment(pair: PairAtRatio, alpha: int) -> Fraction:
    """Return E_Q[(dP/dQ)^alpha], for a Q that gives each outcome some mass."""
    both = ((pair.left.probability(x), pair.right.probability(x)) for x in pair.left.outcomes)
    return sum((q * (p / q) ** alpha for p, q in both), Fraction(0))


def bounded_share(belief: PairAtRatio) -> Callable[[Hashable], Fraction]:
    """Return g(x) = min(1, p(x)/(r q(x))) of a believed pair; h = g^(alpha - 1) is the best one for it."""

    def share(outcome: Hashable) -> Fraction:
        p, q = belief.left.probability(outcome), belief.right.probability(outcome)
        return min(Fraction(1), p / (belief.ratio * q)) if q else Fraction(0)

    return share


def constants(claimed: Fraction, alpha: int, scale: Fraction) -> tuple[Fraction, Fraction]:
    """Return c1 = t^alpha C/alpha and c2 = t^-beta/beta for t = scale^(alpha - 1)."""
    return scale ** (alpha * (alpha - 1)) * claimed / alpha, Fraction(alpha - 1, alpha) / scale**alpha


def largest_moment_stake(first: Fraction, second: Fraction, weight: Fraction) -> Fraction:
    """Return the largest s: 1/(c2/(2 (1 - w)) + c1/2), with which the wealth may just reach 0."""
    return 1 / (second / (2 * (1 - weight)) + first / 2)


def moment_bet(
    share: Fraction, alpha: int, first: Fraction, second: Fraction, weight: Fraction, stake: Fraction
) -> tuple[Fraction, Fraction]:
    """Return the factors of the wealth on a left and on a right call.

    Parameters
    ----------
    share : Fraction
        g of the outcome, in [0, 1].
    alpha : int
        Order of the moment.
    first, second : Fraction
        The constants c1 and c2.
    weight : Fraction
        w, the probability of the left side.
    stake : Fraction
        s, at most `largest_moment_stake`.
    """
    on_left = share ** (alpha - 1) / (2 * weight) - first / 2
    return 1 + stake * on_left, 1 - stake * (second * share**alpha / (2 * (1 - weight)) + first / 2)


@statement(
    DPASSAY,
    "moment inequality",
    examples=(
        {"pair": _APART, "belief": _APART, "alpha": 2, "scale": Fraction(3, 4)},
        {"pair": _APART, "belief": _APART, "alpha": 3, "scale": Fraction(1)},
        {"pair": _ALIKE, "belief": _ALIKE, "alpha": 2, "scale": Fraction(1)},
    ),
    pins=(
        Pin(
            {"pair": _APART, "belief": _APART, "alpha": 3, "scale": Fraction(3, 4)},
            "g = 1 and 1/9, C = 27/4 + 1/36, t^3 = (3/4)^6 and t^(-3/2) = (4/3)^3",
            smaller=lambda: _APART_LEFT,
            larger=lambda: _APART_FIRST + _APART_SECOND * _APART_RIGHT,
        ),
    ),
)
def renyi_moment_bounds_two_expectations(pair: Pair, belief: Belief, alpha: Order, scale: Scale) -> Verdict:
    """If E_Q[(dP/dQ)^alpha] is C, then E_P[h] <= c1 + c2 E_Q[h^beta] for every h from outcomes to [0, 1] and t > 0,
    with beta = alpha/(alpha - 1), c1 = t^alpha C/alpha and c2 = t^-beta/beta.
    """
    first, second = constants(moment(pair, alpha), alpha, scale)
    g = bounded_share(belief)
    on_left = sum((pair.left.probability(x) * g(x) ** (alpha - 1) for x in pair.left.outcomes), Fraction(0))
    on_right = sum((pair.right.probability(x) * g(x) ** alpha for x in pair.left.outcomes), Fraction(0))
    return at_most_exact(on_left, first + second * on_right, "E_P[h]")


@statement(
    DPASSAY,
    "moment bet",
    examples=(
        {"pair": _APART, "belief": _APART, "alpha": 2, "scale": Fraction(3, 4), "weight": Fraction(1, 2)},
        {"pair": _APART, "belief": _APART, "alpha": 3, "scale": Fraction(1), "weight": Fraction(9, 10)},
        {"pair": _ALIKE, "belief": _ALIKE, "alpha": 2, "scale": Fraction(1), "weight": Fraction(1, 10)},
    ),
    pins=(
        Pin(
            {"pair": _APART, "belief": _APART, "alpha": 3, "scale": Fraction(3, 4), "weight": Fraction(1, 3)},
            "half the stake times the gap of the moment inequality is lost in the mean, everything on a right call",
            smaller=lambda: [1 - _APART_STAKE * (_APART_FIRST + _APART_SECOND * _APART_RIGHT - _APART_LEFT) / 2, 1],
            larger=lambda: [1, 1],
        ),
    ),
)
def fair_bet_on_a_renyi_moment(pair: Pair, belief: Belief, alpha: Order, scale: Scale, weight: Weight) -> Verdict:
    """If E_Q[(dP/dQ)^alpha] is C, the mean factor of the bet on the moment is at most 1 for the largest stake
    1/(c2/(2 (1 - w)) + c1/2), and no factor is negative.
    """
    first, second = constants(moment(pair, alpha), alpha, scale)
    stake = largest_moment_stake(first, second, weight)
    g = bounded_share(belief)
    factors = {x: moment_bet(g(x), alpha, first, second, weight, stake) for x in pair.left.outcomes}
    mean = sum(
        (
            weight * pair.left.probability(x) * on_left + (1 - weight) * pair.right.probability(x) * on_right
            for x, (on_left, on_right) in factors.items()
        ),
        Fraction(0),
    )
    return conjunction([
        at_most_exact(mean, Fraction(1), "mean factor of the wealth"),
        at_most_exact(1 - min(map(min, factors.values())), Fraction(1), "share of the wealth that is lost"),
    ])  # fmt: skip
