"""Composition of differentially private calls, on which target charging rests.

Chapter after Cohen and Lyu (2023), Appendix A: Lem A.4, Cor A.7. The exact worst case of r calls that are
epsilon-DP is r-fold randomised response. The constant r epsilon^2/2 of Lem A.4 is that of concentrated DP, not the
r epsilon (e^epsilon - 1) of the paper it is attributed to.
"""

from fractions import Fraction
from typing import Annotated

from flint import arb

from dpassay.spec.ball import at_most, ball
from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.domains.base import Choices, Integers, Reals
from dpassay.spec.interactions.transcripts import (
    AdaptiveInteractions,
    Analyst,
    Interaction,
    LossDistribution,
    Round,
    branches,
    chain,
    loss_distribution_of_branches,
    randomised_response,
    repeated,
)
from dpassay.spec.proof.pins import Pin
from dpassay.spec.rational import at_most_exact, equal_exact
from dpassay.spec.sources import COHEN_2023
from dpassay.spec.statement import statement
from dpassay.spec.theorems.gaussian_selection.fully_adaptive_filter import binomial_hockey_stick
from dpassay.spec.theorems.target_charging.second_derivations import advanced_epsilon, responses_delta
from dpassay.spec.verdict import Verdict, conjunction

__all__ = ["Count", "Everything", "ExcessRatio", "SlackDelta", "advanced_composition", "composed_parameters"]

ExcessRatio = Annotated[
    Fraction,
    Reals(
        "e^epsilon - 1", Fraction(1, 10**4), 50, (2, Fraction(1, 10), 1, Fraction(1, 100), 50), logarithmic=True
    ),
]  # fmt: skip
Count = Annotated[int, Integers("r", 1, 2000, (1, 16, 30, 100, 1000), logarithmic=True)]
SlackDelta = Annotated[
    Fraction,
    Reals(
        "a probability", Fraction(1, 10**14), 1, (Fraction(1, 10**6), Fraction(1, 2), Fraction(1, 10**9)),
        logarithmic=True,
    ),
]  # fmt: skip
Leaks = Annotated[
    tuple[Fraction, ...],
    Choices(
        "delta_1, ..., delta_k",
        tuple(
            tuple(map(Fraction, deltas.split()))
            for deltas in ("0", "1/10", "1/100 1/10", "1/2 1/2 1/2", "0 1/1000 1/7", "1 0", "1/10 1/10 1/10 1/10")
        ),
    ),
]
Budget = Annotated[
    Fraction, Reals("a ratio e^epsilon", 1, 100, (1, 3, Fraction(3, 2), 9), logarithmic=True)
]  # fmt: skip
Adaptive = Annotated[
    Interaction, AdaptiveInteractions("an adaptive interaction of at most 4 finite mechanisms")
]  # fmt: skip


ELEVEN_TENTHS = Fraction(11, 10)


def advanced_composition(count: arb, epsilon: arb, delta: arb) -> arb:
    """Enclose r epsilon^2/2 + epsilon sqrt(2 r ln(1/delta)); the number r of calls may be any real."""
    return count * epsilon * epsilon / 2 + epsilon * (-2 * count * delta.log()).sqrt()


@statement(
    COHEN_2023,
    "dp_composition",
    cases=30,
    examples=(
        {"count": 30, "excess": Fraction(523, 10**4), "delta": Fraction(1, 10**12)},
        {"count": 16, "excess": Fraction(817, 10**4), "delta": Fraction(1, 10**6)},
    ),
    pins=(
        Pin(
            {"count": 100, "excess": Fraction(1, 10), "delta": Fraction(1, 3)},
            "the square completed; tails of truthful answers",
            smaller=lambda: responses_delta(100, ELEVEN_TENTHS, advanced_epsilon(100, ELEVEN_TENTHS, Fraction(1, 3))),
            larger=lambda: Fraction(1, 3),
        ),
    ),
)
def approximate_dp_of_pure_composition(count: Count, excess: ExcessRatio, delta: SlackDelta) -> Verdict:
    """r epsilon-DP calls compose to (r epsilon^2/2 + epsilon sqrt(2 r ln(1/delta)), delta)-DP for any delta in (0, 1].
    (Against r randomised responses, the worst case.)
    """
    ratio = 1 + Fraction(excess)

    def truth() -> arb:
        epsilon = advanced_composition(arb(count), ball(ratio).log(), ball(delta))
        return binomial_hockey_stick(ratio, count, epsilon)

    return at_most(truth, lambda: ball(delta))


class Everything:
    """The rule that admits everything: plain adaptive composition."""

    def start(self) -> None:
        """No state."""

    def admits(self, state: None, offer: Round) -> bool:  # noqa: ARG002  # the signature of a rule
        """Always."""
        return True

    def spend(self, state: None, offer: Round, outcome: object) -> None:
        """Nothing to remember."""


def composed_parameters(analyst: Analyst) -> tuple[Fraction, Fraction]:
    """Return the largest product of the ratios e^(epsilon_i), and the largest sum of the delta_i, over all paths."""
    paths = [branch.rounds for branch in branches(analyst, Everything())]
    ratio, delta = Fraction(1), Fraction(0)
    for rounds in paths:
        product = Fraction(1)
        for offer in rounds:
            product *= offer.ratio_max
        ratio = max(ratio, product)
        delta = max(delta, sum((offer.approximate_delta for offer in rounds), Fraction(0)))
    return ratio, delta


def leaking_response(ratio: Fraction, delta: Fraction) -> Round:
    """Return the worst (log ratio, delta)-DP call: it names the bit with probability delta, else it responds."""
    truth, lie = ((1 - delta) * share / (1 + ratio) for share in (ratio, Fraction(1)))
    left = FiniteDistribution({"left": delta, 0: truth, 1: lie})
    right = FiniteDistribution({"right": delta, 0: lie, 1: truth})
    return Round(left, right, ratio)


@statement(
    COHEN_2023,
    "approx_composition",
    pins=(
        Pin(
            {"interaction": Interaction(leaking_response(Fraction(2), Fraction(1, 10)))},
            "",
            both=lambda: Fraction(1, 10),
        ),
        Pin(
            {"interaction": chain(*[leaking_response(Fraction(2), Fraction(1, 10))] * 2)},
            "one of two leaks",
            smaller=lambda: 1 - Fraction(9, 10) ** 2,
            larger=lambda: Fraction(1, 5),
        ),
    ),
)
def approximate_dp_of_adaptive_composition(interaction: Adaptive) -> Verdict:
    """Adaptively chosen (epsilon_i, delta_i)-DP calls compose to (epsilon', delta' + sum delta_i)-DP whenever their
    pure counterparts compose to (epsilon', delta')-DP: here epsilon' = sum epsilon_i and delta' = 0.
    """
    ratio, delta = composed_parameters(interaction)
    distribution = loss_distribution_of_branches(branches(interaction, Everything()))
    return at_most_exact(distribution.hockey_stick(ratio), delta, "delta")


def _distribution(rounds: list[Round]) -> LossDistribution:
    return loss_distribution_of_branches(branches(repeated(rounds), Everything()))


@statement(
    COHEN_2023,
    "approx_composition",
    pins=(
        Pin(
            {"ratio": Fraction(3), "deltas": (Fraction(1, 100), Fraction(1, 10)), "budget": Fraction(3)},
            "two truthful answers lose 2 epsilon: (9 - 3)/16",
            smaller=lambda: 1 - (1 - Fraction(6, 16)) * Fraction(99, 100) * Fraction(9, 10),
            larger=lambda: Fraction(6, 16) + Fraction(11, 100),
        ),
    ),
)
def delta_of_worst_approximate_composition(ratio: Budget, deltas: Leaks, budget: Budget) -> Verdict:
    """The composition of the worst (epsilon, delta_i)-DP calls has delta exactly
    1 - (1 - delta') prod(1 - delta_i), delta' being that of the pure calls: at most delta' + sum delta_i, and no less
    to first order.
    """
    pure = _distribution([randomised_response(ratio)] * len(deltas)).hockey_stick(budget)
    leaking = _distribution([leaking_response(ratio, delta) for delta in deltas]).hockey_stick(budget)
    kept = 1 - pure
    for delta in deltas:
        kept *= 1 - delta
    return conjunction([
        equal_exact(leaking, 1 - kept, "delta of the composition"),
        at_most_exact(leaking, pure + sum(deltas, Fraction(0)), "delta of the composition"),
    ])  # fmt: skip
