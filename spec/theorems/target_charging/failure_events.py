"""Analysis with a failure event: all but a rare part of the computation is private.

Chapter after Cohen and Lyu (2023), Appendix A.2, Lem A.6. Its statement has epsilon and delta where epsilon' and
delta' must stand (a misprint).
"""

from fractions import Fraction
from typing import Annotated

from dpassay.spec.distributions.discrete import FiniteDistribution, least_delta, mixture
from dpassay.spec.distributions.pairs import FinitePairs, PairAtRatio
from dpassay.spec.domains.base import Reals
from dpassay.spec.proof.figures import Figures
from dpassay.spec.proof.pins import Pin
from dpassay.spec.rational import at_most_exact, equal_exact
from dpassay.spec.sources import COHEN_2023
from dpassay.spec.statement import Erratum, Severity, statement
from dpassay.spec.verdict import Verdict

__all__ = ["with_failures"]

Pair = Annotated[PairAtRatio, FinitePairs("the distributions (Z^0, Z^1) of the part without failure, and a ratio")]
Failures = Annotated[PairAtRatio, FinitePairs("the distributions (F^0, F^1) of the part with failure")]
Chance = Annotated[
    Fraction,
    Reals("the probability of failure on one side", 0, 1, (0, Fraction(1, 10), Fraction(1, 2), 1, Fraction(1, 1000))),
]  # fmt: skip


def with_failures(
    pair: PairAtRatio, failures: PairAtRatio, chances: tuple[Fraction, Fraction]
) -> tuple[FiniteDistribution, FiniteDistribution]:
    """Return the distributions (1 - d_b) Z^b + d_b F^b, b = 0, 1."""
    return (
        mixture(chances[0], failures.left, pair.left),
        mixture(chances[1], failures.right, pair.right),
    )


def _printed_weights(delta: Fraction, largest: Fraction) -> Verdict:
    """The last displays of the proof: delta* times [delta^(b) F^b + (1 - delta^(b)/delta*) N^b] + (1 - delta*) N^b."""
    total = largest * (delta + 1 - delta / largest) + 1 - largest
    return equal_exact(total, Fraction(1), "sum of the weights")


def _corrected_weights(delta: Fraction, largest: Fraction) -> Verdict:
    total = largest * (delta / largest + 1 - delta / largest) + 1 - largest
    return equal_exact(total, Fraction(1), "sum of the weights")


WEIGHTS_DO_NOT_SUM_TO_ONE = Erratum(
    kind="proof",
    severity=Severity.MINOR,
    location="Appendix A.2, proof of Lemma A.6, the last three displays",
    printed_text="in the last displays of the proof F^b has the weight delta* delta^(b): the weights sum "
    "to 1 - delta^(b) (1 - delta*), not to 1; inside the bracket it must be delta^(b)/delta*",
    answer="delta^(b)/delta* is meant inside the bracket.",
    witness={"delta": Fraction(1, 10), "largest": Fraction(1, 5)},
    printed=_printed_weights,
    corrected=_corrected_weights,
    figures=Figures(published=("0.9200 != 1.000",), corrected=("1.000 = 1.000",)),
)


@statement(
    COHEN_2023,
    "failure_event_privacy",
    "failure_event_analysis",
    errata=(WEIGHTS_DO_NOT_SUM_TO_ONE,),
    examples=(
        {
            "pair": PairAtRatio(FiniteDistribution.of(1, 1), FiniteDistribution.of(1, 1), Fraction(1)),
            "failures": PairAtRatio(FiniteDistribution.of(1, 0), FiniteDistribution.of(0, 1)),
            "left_chance": Fraction(1, 10),
            "right_chance": Fraction(1, 10),
        },
    ),
    pins=(
        Pin(
            {
                "pair": PairAtRatio(FiniteDistribution.of(2, 1), FiniteDistribution.of(1, 2), Fraction(1)),
                "failures": PairAtRatio(FiniteDistribution.of(1, 0), FiniteDistribution.of(0, 1)),
                "left_chance": Fraction(1, 10),
                "right_chance": Fraction(1, 10),
            },
            "7/10 against 3/10",
            both=lambda: Fraction(2, 5),
        ),
    ),
)
def approximate_dp_of_rare_failures(
    pair: Pair, failures: Failures, left_chance: Chance, right_chance: Chance
) -> Verdict:
    """If A(D^b) = (1 - d_b) Z^b + d_b F^b with d_b <= delta* and Z^0, Z^1 (epsilon', delta')-indistinguishable, then
    A is (epsilon', delta'(1 - delta*) + delta*)-DP, whatever F^0 and F^1 are.
    """
    largest = max(left_chance, right_chance)
    allowed = least_delta(pair.left, pair.right, pair.ratio) * (1 - largest) + largest
    distributions = with_failures(pair, failures, (Fraction(left_chance), Fraction(right_chance)))
    return at_most_exact(least_delta(*distributions, pair.ratio), allowed, "delta")
