"""The quantifiers that the statements of the chapter share."""

from fractions import Fraction
from typing import Annotated

from dpassay.spec.ball import Exact
from dpassay.spec.distributions.indistinguishable import IndistinguishablePairs, TargetedPair
from dpassay.spec.distributions.pairs import FinitePairs, PairAtRatio
from dpassay.spec.domains.base import Integers, Reals

__all__ = ["Kept", "Pair", "Ratio", "Several", "Share", "Targeted", "Test", "WideRatio"]

Targeted = Annotated[
    TargetedPair,
    IndistinguishablePairs("an indistinguishable pair on at most 5 outcomes, a target, and the ratio e^epsilon > 1"),
]
Several = Annotated[
    TargetedPair,
    IndistinguishablePairs("an indistinguishable pair on 3 to 6 outcomes, a target, and e^epsilon > 1", 6, 3),
]
Test = Annotated[
    TargetedPair,
    IndistinguishablePairs("an indistinguishable pair of Boolean outcomes, e^epsilon > 1", largest_size=2),
]
Pair = Annotated[PairAtRatio, FinitePairs("two distributions on at most 5 outcomes, and a ratio e^epsilon")]
Ratio = Annotated[
    Exact, Reals("e^epsilon", Fraction(1001, 1000), 10**4, (Fraction(2), Fraction(11, 10), 3), logarithmic=True)
]
Share = Annotated[
    Exact, Reals("a share of 1", Fraction(1, 10**9), 1, (1, Fraction(1, 2), Fraction(1, 10**9)), logarithmic=True)
]
WideRatio = Annotated[
    Exact, Reals("a factor", Fraction(1, 10**6), 10**6, (1, 10, Fraction(1, 2), Fraction(3, 2)), logarithmic=True)
]
Kept = Annotated[int, Integers("a number of outcomes", 0, 5)]
