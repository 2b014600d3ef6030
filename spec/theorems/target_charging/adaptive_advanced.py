"""The advanced bound of target charging against the best adaptive adversary, with calls of different parameters.

Chapter after Cohen and Lyu (2023), Thm B.4 with Rem B.6. The adversary picks each call after what came out before,
from a menu of calls with different epsilon_i, qualities q_i and leaks delta_i; the account charges the largest epsilon
and the smallest q.
"""

from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import Annotated, Any

from flint import arb

from dpassay.spec.ball import at_most, ball, float_lower, precision
from dpassay.spec.distributions.binomial import binomial_at_most_exact
from dpassay.spec.domains.base import Choices, Integers, Reals
from dpassay.spec.interactions.charged_calls import (
    ChargedRound,
    ChargingRule,
    not_prior_quality,
    not_prior_response,
    whole_range_response,
    with_leak,
)
from dpassay.spec.proof.pins import Pin
from dpassay.spec.rational import Ratio, product
from dpassay.spec.sources import COHEN_2023
from dpassay.spec.statement import statement
from dpassay.spec.theorems.target_charging.main_theorem import advanced_epsilon_of_target_charging
from dpassay.spec.verdict import Verdict

__all__ = ["best_charged_delta", "calls_of_different_parameters"]

Root = Annotated[Fraction, Choices("e^(epsilon/2)", (Fraction(11, 10), Fraction(5, 4), Fraction(3, 2), Fraction(2)))]
Hits = Annotated[int, Integers("tau", 1, 2, (1, 2))]
Most = Annotated[int, Integers("the most calls of the adversary", 1, 5, (5,))]
Charged = Annotated[int, Integers("R, the calls that are accounted for", 1, 8, (2, 4))]
Leak = Annotated[Fraction, Choices("the leak of a call", (Fraction(0), Fraction(1, 50), Fraction(1, 10)))]
Slack = Annotated[Fraction, Reals("delta", Fraction(1, 1000), Fraction(9, 10), (Fraction(1, 10), Fraction(1, 2)))]


def calls_of_different_parameters(root: Fraction, leak: Fraction) -> list[ChargedRound]:
    """Return calls of epsilon and epsilon/2, in both orders, with qualities from 1/(e^epsilon + 1) to 1, and leaks."""
    menu = [not_prior_response(ratio, mirrored=side) for ratio in (root**2, root) for side in (False, True)]
    menu += [whole_range_response(root), whole_range_response(root**2)]
    return [*menu, with_leak(not_prior_response(root**2), leak)] if leak else menu


def best_charged_delta(menu: Sequence[ChargedRound], rule: ChargingRule, calls: int, budget: Fraction) -> Fraction:
    """Return the largest delta at e^epsilon' = `budget` of adversaries with at most `calls` calls from a menu.

    By backward induction over the calls left, the state of the rule and the likelihood ratio.

    Parameters
    ----------
    menu : sequence of ChargedRound
        The calls that the adversary may make.
    rule : ChargingRule
        The rule that admits and charges calls.
    calls : int
        Largest number of calls.
    budget : Fraction
        e^epsilon', at least 1.
    """
    known: dict[tuple[int, Any, Ratio], Fraction] = {}

    def best(left: int, state: Any, ratio: Ratio) -> Fraction:
        key = left, state, ratio
        if key not in known:
            stopped = max(Fraction(0), 1 - budget / ratio) if isinstance(ratio, Fraction) else Fraction(1)
            offers = [offer for offer in menu if left and rule.admits(state, offer)]
            known[key] = max([stopped, *(after(left, state, ratio, offer) for offer in offers)])
        return known[key]

    def after(left: int, state: Any, ratio: Ratio, offer: ChargedRound) -> Fraction:
        likely: list[tuple[Fraction, Hashable]] = [(offer.left.probability(o), o) for o in offer.outcomes]
        values = (
            p * best(left - 1, rule.spend(state, offer, o), product(ratio, offer.likelihood_ratio(o)))
            for p, o in likely
            if p
        )
        return sum(values, Fraction(0))

    return best(calls, rule.start(), Fraction(1))


def _budget(charged: int, root: Fraction, slack: Fraction) -> Fraction:
    """Return a rational just below e^epsilon', epsilon' = R epsilon^2/2 + epsilon sqrt(2 R log(1/delta))."""
    with precision(96):
        epsilon = advanced_epsilon_of_target_charging(arb(charged), 2 * ball(root).log(), ball(slack))
        return Fraction(float_lower(epsilon.exp()))


WORST = {"root": Fraction(2), "hits": 2, "calls": 5, "charged": 1, "leak": Fraction(0), "slack": Fraction(1, 2)}


@statement(
    COHEN_2023,
    "tct_privacy",
    "mix_and_match",
    "target_charging_approx",
    cases=15,
    examples=(WORST, {**WORST, "leak": Fraction(1, 50)}),
    pins=(
        Pin(
            {
                "root": Fraction(2),
                "hits": 1,
                "calls": 1,
                "charged": 1,
                "leak": Fraction(1, 50),
                "slack": Fraction(1, 2),
            },
            "one call leaks; 1/2 + 2/50, and no hit in a call of quality 1/5",
            smaller=lambda: Fraction(1, 50),
            larger=lambda: Fraction(1, 2) + Fraction(1, 25) + Fraction(4, 5),
        ),
    ),
)
def advanced_bound_holds_for_adaptive_calls_of_different_parameters(
    root: Root, hits: Hits, calls: Most, charged: Charged, leak: Leak, slack: Slack
) -> Verdict:
    """Calls that are (epsilon_i, delta_i)-DP with q_i-targets, picked adaptively until tau hits or until the next
    delta_i would carry the sum past tau_delta, are (R epsilon^2/2 + epsilon sqrt(2 R ln(1/delta)),
    delta + tau_delta + Pr[Bin(R, q) <= tau - 1])-DP for every whole R, epsilon the largest epsilon_i and q the
    smallest q_i. Decided for the best adaptive adversary with a menu of calls, tau_delta two leaks.
    """
    ratio, spent = root**2, 2 * leak
    rule = ChargingRule(hits, delta=spent)
    menu = calls_of_different_parameters(root, leak)
    truth = best_charged_delta(menu, rule, calls, _budget(charged, root, slack))
    tail = binomial_at_most_exact(hits - 1, charged, not_prior_quality(ratio))
    return at_most(lambda: ball(truth), lambda: ball(slack + spent + tail)).without_tightness()
