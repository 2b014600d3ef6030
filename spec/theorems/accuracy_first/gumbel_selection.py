"""The exponential mechanism by Gumbel noise of scale 1/epsilon, and the condition on its neighbours.

Chapter after Rogers, Samorodnitsky, Wu and Ramdas (2023), Sec 7.2. Counts that all move the same way, by at most 1
(a user added or removed), move log-weights by an interval of length epsilon. "A user can modify each count by
at most 1" alone allows both directions, and 2 epsilon.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any

from flint import arb

from dpassay.spec.ball import at_most, ball
from dpassay.spec.distributions.discrete import FiniteDistribution, relative_entropy, renyi_divergence
from dpassay.spec.domains.base import Choices, Domain, Reals
from dpassay.spec.proof.figures import Figures
from dpassay.spec.proof.pins import Pin
from dpassay.spec.rational import at_most_exact
from dpassay.spec.sources import ROGERS_2023
from dpassay.spec.statement import Erratum, Severity, statement
from dpassay.spec.verdict import Evidence, Holds, Verdict, conjunction

__all__ = ["CountVectors", "Counts", "gumbel_selection_distribution", "selection_rho"]


@dataclass(frozen=True)
class CountVectors(Domain):
    """Pairs of short vectors of counts, the second with some counts larger by 1 (a user added)."""

    def contains(self, value: Any) -> bool:
        """Return whether `value` is a pair of equally long vectors of integers that differ by 0 or 1 everywhere."""
        if not (isinstance(value, tuple) and len(value) == 2 and all(isinstance(side, tuple) for side in value)):
            return False
        left, right = value
        return (
            len(left) == len(right) >= 1
            and all(isinstance(count, int) for count in (*left, *right))
            and all(b - a in (0, 1) for a, b in zip(left, right, strict=True))
        )


Counts = tuple[int, ...]
Pair = Annotated[tuple[Counts, Counts], CountVectors("counts before and after a user is added")]
Ratio = Annotated[
    Fraction,
    Reals("e^epsilon", Fraction(1001, 1000), 50, (Fraction(11, 10), 2, Fraction(101, 100)), logarithmic=True),
]
Order = Annotated[
    Fraction, Choices("an order", (Fraction(1), Fraction(3, 2), Fraction(2), Fraction(8), Fraction(100)))
]


def gumbel_selection_distribution(counts: Sequence[int], ratio: Fraction) -> FiniteDistribution:
    """Return the distribution of the index of the largest count plus Gumbel noise, scale 1/epsilon."""
    top = max(counts)
    return FiniteDistribution.of(*(ratio ** (count - top) for count in counts))


def selection_rho(epsilon: arb) -> arb:
    """Enclose epsilon^2 / 8, the zCDP parameter of a loss of range epsilon."""
    return epsilon**2 / 8


def _divergence(left: FiniteDistribution, right: FiniteDistribution, order: Fraction) -> arb:
    return relative_entropy(left, right) if order == 1 else renyi_divergence(left, right, ball(order))


def _within_rho(left: Sequence[int], right: Sequence[int], ratio: Fraction, order: Fraction) -> Verdict:
    """Decide D_order <= order epsilon^2 / 8 for two vectors of counts, in both orders."""
    distributions = gumbel_selection_distribution(left, ratio), gumbel_selection_distribution(right, ratio)
    if distributions[0] == distributions[1]:
        return Holds(evidence=Evidence.EXACT)
    return conjunction(
        at_most(lambda p=p, q=q: _divergence(p, q, order), lambda: ball(order) * selection_rho(ball(ratio).log()))  # type: ignore[misc]
        for p, q in (distributions, distributions[::-1])
    )


BOTH_DIRECTIONS = Erratum(
    kind="false",
    severity=Severity.INTERPRETATION,
    location="Section 7.2, the sentences on the Exponential Mechanism and on how a user may modify counts",
    printed_text="a user may modify each count by at most 1, and the mechanism is called "
    "epsilon^2/8-zCDP; that needs counts that move in one direction: if one may rise while another falls, "
    "epsilon^2/2 is needed",
    answer="One user only adds to counts, so that all counts of a neighbour move in one direction, and "
    "epsilon^2/8 is right.",
    witness={"left": (7, 7), "right": (8, 6), "ratio": Fraction(11, 10), "order": Fraction(1)},
    printed=_within_rho,
    corrected=lambda left, right, ratio, order: _within_rho(
        left, tuple(max(a, b) for a, b in zip(left, right, strict=True)), ratio, order
    ),
    figures=Figures(
        published=("0.004535 > 0.001136", "0.004521 > 0.001136"),
        corrected=("0.001135 <= 0.001136", "0.001134 <= 0.001136"),
    ),
)


@statement(
    ROGERS_2023,
    "exponential_mechanism_gumbel",
    errata=(BOTH_DIRECTIONS,),
    examples=({"counts": ((5, 5), (6, 5)), "ratio": Fraction(11, 10), "order": Fraction(1)},),
    pins=(
        Pin(
            {"counts": ((5, 5), (6, 5)), "ratio": Fraction(11, 10), "order": Fraction(1)},
            "relative entropies of (1/2, 1/2) and (11/21, 10/21); log(1.1)^2/8",
            smaller=lambda: [
                -ball(Fraction(440, 441)).log() / 2,
                (11 * ball(Fraction(22, 21)).log() + 10 * ball(Fraction(20, 21)).log()) / 21,
            ],
            larger=lambda: [ball(Fraction(11, 10)).log() ** 2 / 8] * 2,
        ),
    ),
)
def zcdp_of_gumbel_selection(counts: Pair, ratio: Ratio, order: Order) -> Verdict:
    """Choosing the largest of counts with Gumbel noise of scale 1/epsilon is (epsilon^2/8)-zCDP, if all counts move
    the same way by at most 1 between neighbours; nearly attained as lambda -> 1, at small epsilon.
    """
    return _within_rho(*counts, ratio, order)


@statement(
    ROGERS_2023,
    "exponential_mechanism_gumbel",
    pins=(
        Pin(
            {"counts": ((0, 3), (1, 3)), "ratio": Fraction(11, 10)},
            "weights 1 and 1331/1000 against 11/10 and 1331/1000",
            smaller=lambda: [Fraction(11, 10), Fraction(2431, 2331), Fraction(2331, 2210)],
            larger=lambda: [Fraction(11, 10)] * 3,
        ),
    ),
)
def bounded_range_of_gumbel_selection(counts: Pair, ratio: Ratio) -> Verdict:
    """For such neighbours the losses of any two candidates differ by at most epsilon, and none exceeds epsilon."""
    left, right = (gumbel_selection_distribution(each, ratio) for each in counts)
    losses = [left.probability(o) / right.probability(o) for o in left.outcomes]
    return conjunction([
        at_most_exact(max(losses) / min(losses), ratio, "e^range of the loss"),
        at_most_exact(max(losses), ratio, "e^loss").without_tightness(),
        at_most_exact(1 / min(losses), ratio, "e^-loss").without_tightness(),
    ])  # fmt: skip
