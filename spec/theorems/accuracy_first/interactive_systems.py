"""Concurrent composition of interactive mechanisms: as private as the optimal composition of one-shot mechanisms.

Chapter after Rogers, Samorodnitsky, Wu and Ramdas (2023), Defs 2.6 and 2.7, Thm 1 (of Lyu 2022): tried exactly on
small systems, against every deterministic adversary.
"""

from collections.abc import Hashable
from fractions import Fraction
from typing import Annotated

from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.domains.base import Reals
from dpassay.spec.interactions.adaptive_rounds import concentrated_response
from dpassay.spec.interactions.interactive_systems import (
    History,
    InteractiveSystem,
    InteractiveSystems,
    adversaries,
    concurrent_delta,
    delta_of_adversary,
    one_query,
    optimal_composition_delta,
)
from dpassay.spec.proof.pins import Pin
from dpassay.spec.rational import at_most_exact, equal_exact
from dpassay.spec.sources import ROGERS_2023
from dpassay.spec.statement import statement
from dpassay.spec.theorems.accuracy_first.parameters import DeltaBudget
from dpassay.spec.verdict import Verdict

__all__ = ["leaky_response"]

Systems = Annotated[tuple[InteractiveSystem, ...], InteractiveSystems("two small interactive systems")]
Ratio = Annotated[
    Fraction, Reals("e^epsilon", 1, 30, (1, 2, 3, Fraction(3, 2), 6), logarithmic=True)
]  # fmt: skip


def leaky_response(ratio: Fraction, delta: Fraction) -> InteractiveSystem:
    """Make the worst (log ratio, delta)-DP mechanism: names the data set with probability delta, else responds."""
    response = concentrated_response(ratio)
    left: dict[object, Fraction] = {o: (1 - delta) * w for o, w in response.left.weights.items()}
    right: dict[object, Fraction] = {o: (1 - delta) * w for o, w in response.right.weights.items()}
    return one_query(
        FiniteDistribution({**left, "left": delta, "right": Fraction(0)}),
        FiniteDistribution({**right, "left": Fraction(0), "right": delta}),
    )


RESPONSES = (leaky_response(Fraction(2), Fraction(1, 10)), leaky_response(Fraction(3), Fraction(0)))


@statement(
    ROGERS_2023,
    "concurrent_equals_sequential_optimal",
    "concurrent_composition",
    examples=(
        {"systems": RESPONSES, "first": Fraction(2), "second": Fraction(3), "ratio": Fraction(5)},
        {"systems": RESPONSES, "first": Fraction(1), "second": Fraction(1), "ratio": Fraction(3, 2)},
    ),
    pins=(
        Pin(
            {"systems": RESPONSES, "first": Fraction(2), "second": Fraction(3), "ratio": Fraction(5)},
            "1/10 + 9/10 (1/2 - 5/12), attained",
            both=lambda: Fraction(7, 40),
        ),
        Pin(
            {"systems": RESPONSES, "first": Fraction(1), "second": Fraction(1), "ratio": Fraction(3, 2)},
            "1/10 + 9/10 (6 - 3/2)/12 against 1 - (1 - 4/10) (1 - 1/2)",
            smaller=lambda: Fraction(7, 16),
            larger=lambda: Fraction(7, 10),
        ),
    ),
)
def concurrent_composition_is_no_worse_than_optimal_composition(
    systems: Systems, first: Ratio, second: Ratio, ratio: Ratio
) -> Verdict:
    """If interactive systems are (epsilon_i, delta_i)-DP against an adversary of their own, their concurrent
    composition has at every epsilon at most the delta of the optimal composition of (epsilon_i, delta_i)-DP
    mechanisms. (The parameters fixed in advance; Lyu 2022, cited; tried with the exact delta_i of each system.)
    """
    parameters = [
        (own, concurrent_delta([system], own)) for system, own in zip(systems, (first, second), strict=False)
    ]
    promised = optimal_composition_delta(parameters, ratio)
    return at_most_exact(concurrent_delta(systems, ratio), promised, "delta of the concurrent composition")


@statement(ROGERS_2023, "concurrent_equals_sequential_optimal")
def optimal_composition_is_attained(
    first: Ratio, second: Ratio, delta: DeltaBudget, other_delta: DeltaBudget, ratio: Ratio
) -> Verdict:
    """The formula of optimal composition is the exact delta of two mechanisms that name the data set with
    probability delta_i and answer by randomised response otherwise.
    """
    systems = leaky_response(first, delta), leaky_response(second, other_delta)
    formula = optimal_composition_delta([(first, delta), (second, other_delta)], ratio)
    return equal_exact(concurrent_delta(systems, ratio), formula, "delta")


CHOICE = InteractiveSystem({
    ((), "coin"): (FiniteDistribution.of(1, 1), FiniteDistribution.of(1, 1)),
    ((), "response"): (FiniteDistribution.of(3, 1), FiniteDistribution.of(1, 3)),
})  # fmt: skip


@statement(
    ROGERS_2023,
    "concurrent_dp",
    "interactive_system",
    "concurrent_composition",
    cases=30,
    examples=({"systems": (RESPONSES[0], CHOICE), "ratio": Fraction(2)},),
)
def concurrent_delta_is_that_of_the_best_deterministic_adversary(systems: Systems, ratio: Ratio) -> Verdict:
    """The concurrent composition is (epsilon, delta)-DP if the transcripts are, in both orders, for every adversary:
    its least delta is the largest over all deterministic adversaries, which pick a system and a query after every
    answer, looking at the whole history, while a system sees its own part only.
    """
    swapped = tuple(system.swapped for system in systems)
    one_by_one = [
        delta_of_adversary(each, adversary, ratio) for each in (systems, swapped) for adversary in adversaries(each)
    ]
    return equal_exact(max(one_by_one), concurrent_delta(systems, ratio), "largest delta")


def _padded(secret_left: int, secret_right: int) -> InteractiveSystem:
    """Answer by a fair coin; but add the secret to the pad, should "pad" ever stand in its own history."""
    coin = FiniteDistribution.of(1, 1)
    answers: dict[tuple[History, Hashable], tuple[FiniteDistribution, FiniteDistribution]] = {
        ((), "add"): (coin, coin)
    }
    for pad in (0, 1):
        told = [FiniteDistribution({(secret + pad) % 2: Fraction(1)}) for secret in (secret_left, secret_right)]
        answers[(("pad", pad),), "add"] = told[0], told[1]
    return InteractiveSystem(answers)


@statement(ROGERS_2023, "concurrent_dp", "interactive_system")
def systems_see_their_own_history_only() -> Verdict:
    """A system that gives out a coin and one that would add the secret to that coin, if it saw it, are 0-DP together:
    in a concurrent composition no system sees the answers of another one.
    """
    coin = FiniteDistribution.of(1, 1)
    systems = InteractiveSystem({((), "pad"): (coin, coin)}), _padded(0, 1)
    return equal_exact(concurrent_delta(systems, Fraction(1)), Fraction(0), "delta of pad and padded secret")
