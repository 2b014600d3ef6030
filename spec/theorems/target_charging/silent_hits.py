"""Hits that tell nothing: the calls against which the account of target charging is close to exact.

Chapter after Cohen and Lyu (2023), Thm B.4 and Eq. (1). Every call is randomised response beside a coin, and the coin
is the target: it hits with probability q on both sides, so that the hits say only how long it goes on. Where
e^epsilon is large nearly every answer has the loss epsilon, and the loss passes R epsilon nearly whenever call R + 1
comes. NotPrior targets, whose hits lower the loss, leave a gap in which a tail with one trial too many goes unseen.
"""

from fractions import Fraction
from math import comb
from typing import Annotated

from dpassay.spec.distributions.binomial import binomial_at_most_exact
from dpassay.spec.domains.base import Integers, Reals
from dpassay.spec.proof.pins import Pin
from dpassay.spec.rational import at_most_exact, equal_exact
from dpassay.spec.sources import COHEN_2023
from dpassay.spec.statement import statement
from dpassay.spec.theorems.target_charging.main_theorem import response_delta_exact, truncated_delta
from dpassay.spec.verdict import Verdict, conjunction

__all__ = ["silent_hits_delta"]

FewHits = Annotated[int, Integers("tau", 1, 4, (1, 2))]
Quality = Annotated[
    Fraction, Reals("q, in (0, 1]", Fraction(1, 100), 1, (Fraction(1, 2), 1, Fraction(1, 10), Fraction(9, 10)))
]  # fmt: skip
LargeRatio = Annotated[
    Fraction, Reals("e^epsilon", Fraction(11, 10), 10**6, (10**6, 3, 1000, Fraction(11, 10)), logarithmic=True)
]  # fmt: skip
Calls = Annotated[int, Integers("R, the calls of the data holder that are allowed for", 0, 10, (1, 0, 2, 5))]
Level = Annotated[int, Integers("epsilon'/epsilon", 0, 10, (0, 1, 2))]
Further = Annotated[int, Integers("how many calls after R the analyst is patient for", 1, 6, (1, 3))]


def silent_hits_delta(hits: int, ratio: Fraction, quality: Fraction, budget: Fraction, horizon: int) -> Fraction:
    """Return the exact delta at e^epsilon' = `budget` of calls until `hits` hits, but `horizon` calls at most.

    The number of calls does not depend on the data: given it, the answers are that many randomised responses.

    Parameters
    ----------
    hits : int
        tau, the number of hits after which the calls end.
    ratio : Fraction
        e^epsilon of each call.
    quality : Fraction
        Probability of a hit, which is not released.
    budget : Fraction
        e^epsilon'.
    horizon : int
        Largest number of calls.
    """
    ended = {
        calls: comb(calls - 1, hits - 1) * quality**hits * (1 - quality) ** (calls - hits)
        for calls in range(hits, horizon)
    }
    ended[horizon] = binomial_at_most_exact(hits - 1, horizon - 1, quality)
    masses = (mass * response_delta_exact(calls, ratio, budget) for calls, mass in ended.items())
    return sum(masses, Fraction(0))


@statement(
    COHEN_2023,
    "tct_privacy",
    cases=60,
    examples=(
        {"hits": 1, "quality": Fraction(1, 2), "ratio": Fraction(10**6), "calls": 1, "level": 1, "further": 1},
        {"hits": 3, "quality": Fraction(1), "ratio": Fraction(1000), "calls": 3, "level": 2, "further": 1},
    ),
    pins=(
        Pin(
            {"hits": 1, "quality": Fraction(1, 2), "ratio": Fraction(10**6), "calls": 1, "level": 0, "further": 1},
            "one answer has the total variation (r - 1)/(r + 1); call 2 comes with probability 1/2",
            smaller=lambda: [None, Fraction(1, 2)],
            larger=lambda: [Fraction(10**6 - 1, 10**6 + 1) + Fraction(1, 2), Fraction(1, 2)],
            within=Fraction(1, 10**5),
        ),
    ),
)
def account_of_target_charging_is_approached_where_hits_tell_nothing(
    hits: FewHits, quality: Quality, ratio: LargeRatio, calls: Calls, level: Level, further: Further
) -> Verdict:
    """Calls whose hits tell nothing are within (epsilon', delta_RR(R, epsilon') + Pr[Bin(R, q) <= tau - 1]), for
    every whole R; and no smaller tail will do: at epsilon' = R epsilon their delta after R + 1 calls is
    Pr[Bin(R, q) <= tau - 1] (1 + e^-epsilon)^-(R + 1) (1 - e^-epsilon), which tends to the tail as epsilon grows.
    """
    q, r = Fraction(quality), Fraction(ratio)
    verdicts = [
        at_most_exact(
            silent_hits_delta(hits, r, q, budget, calls + further), truncated_delta(hits, r, q, calls, budget), "delta"
        )
        for budget in (r**level, r**calls)
    ]
    reached = binomial_at_most_exact(hits - 1, calls, q) * (r / (1 + r)) ** (calls + 1) * (1 - 1 / r)
    attained = equal_exact(silent_hits_delta(hits, r, q, r**calls, calls + 1), reached, "delta after R + 1 calls")
    return conjunction([*verdicts, attained])
