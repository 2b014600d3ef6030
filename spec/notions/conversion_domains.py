"""The pairs of distributions and the parameters at which conversions between notions are decided.

A statement about a conversion takes a pair, computes the sharpest claim of one notion that the pair satisfies,
converts it, and decides the claim of the other notion.
"""

from fractions import Fraction
from typing import Annotated

from dpassay.spec.ball import Exact
from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.distributions.pairs import FinitePairs, PairAtRatio
from dpassay.spec.domains.base import Reals
from dpassay.spec.verdict import Evidence, Holds

__all__ = ["SPIKE", "VACUOUS", "Delta", "Order", "Pair", "Rho", "Shift"]

Pair = Annotated[PairAtRatio, FinitePairs("a pair of rational distributions and a ratio e^epsilon")]
Order = Annotated[Exact, Reals("an order", Fraction(1001, 1000), 1000, (2, Fraction(3, 2)), logarithmic=True)]
Delta = Annotated[
    Exact, Reals("a probability", Fraction(1, 10**12), Fraction(999, 1000), (Fraction(1, 2),), logarithmic=True)
]
Shift = Annotated[Exact, Reals("a shift, in noise scales", Fraction(1, 1000), 20, (1,), logarithmic=True)]
Rho = Annotated[Exact, Reals("a parameter of zCDP", Fraction(1, 1000), 10, (Fraction(1, 2),), logarithmic=True)]

SPIKE = PairAtRatio(FiniteDistribution.of(1, 99), FiniteDistribution.of(1, 9999))
VACUOUS = Holds(evidence=Evidence.EXACT, detail="an infinite loss, or none at all: nothing to show")
