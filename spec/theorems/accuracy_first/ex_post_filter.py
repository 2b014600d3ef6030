"""The privacy filter for ex-post private mechanisms: charged by what came out, guarded by what might have.

Chapter after Rogers, Samorodnitsky, Wu and Ramdas (2023), Lemma 5.2 and Thm 3. The precondition of the lemma, printed
with a sum up to n - 1, must bound the sum up to n for *every* outcome of round n, before it runs. The printed rule
stops where the sum equals epsilon exactly, which need never happen; under the precondition that is harmless, as N
may be infinite.
"""

from fractions import Fraction

from dpassay.spec.adaptive_rounds import (
    ExPostRound,
    concentrated_leak,
    concentrated_response,
    ex_post_leak,
    ex_post_response,
)
from dpassay.spec.budget_rules import ConcentratedRule, ExPostRule, ExPostState, TwoBudgetRule
from dpassay.spec.interactions import Round, chain
from dpassay.spec.rational import at_most_exact
from dpassay.spec.sources import ROGERS_2023
from dpassay.spec.statement import Erratum, statement
from dpassay.spec.theorems.accuracy_first.parameters import (
    Budget,
    DeltaBudget,
    ExPostPrivate,
    Mixed,
    SlackDelta,
    filtered_law,
    filtered_loss,
)
from dpassay.spec.verdict import Verdict, conjunction

__all__ = ["LooksBackOnly"]


class LooksBackOnly(ExPostRule):
    """The printed precondition checked round by round: only what is spent already must be within the budget."""

    def admits(self, state: ExPostState, offer: Round) -> bool:
        """Whether the bounds of the rounds before are within the budget."""
        assert isinstance(offer, ExPostRound)
        return state[0] <= self.budget and state[1] + offer.delta <= self.delta


def _last_response(rule: ExPostRule, ratio: Fraction) -> Verdict:
    return at_most_exact(filtered_loss([ex_post_response(ratio)], rule, rule.budget), rule.delta, "delta")


PRECONDITION_LEAVES_OUT_THE_LAST_ROUND = Erratum(
    kind="false",
    printed_text="the precondition sums the bounds up to n - 1: checked before round n it says nothing about round n, "
    "whose bound may overshoot the budget at will",
    witness={"budget": Fraction(3), "ratio": Fraction(20)},
    printed=lambda budget, ratio: _last_response(LooksBackOnly(budget), ratio),
    corrected=lambda budget, ratio: _last_response(ExPostRule(budget), ratio),
)


@statement(
    ROGERS_2023,
    "ex_post_filter",
    errata=(PRECONDITION_LEAVES_OUT_THE_LAST_ROUND,),
    examples=(
        {
            "interaction": chain(*[ex_post_leak(Fraction(1, 10))] * 3),
            "budget": Fraction(2),
            "delta": Fraction(1, 10),
        },
        {"interaction": chain(*[ex_post_response(Fraction(3))] * 3), "budget": Fraction(9), "delta": Fraction(0)},
    ),
)
def probabilistic_dp_of_ex_post_filter(interaction: ExPostPrivate, budget: Budget, delta: DeltaBudget) -> Verdict:
    """If every outcome of round n would keep the sum of the bounds within epsilon, and the deltas sum to at most
    delta, the released A_1, ..., A_N have Pr[L > epsilon] <= delta; they are (epsilon, delta)-DP. The delta_n may
    depend on the history.
    """
    law = filtered_law(interaction, ExPostRule(budget, delta))
    return conjunction([
        at_most_exact(law.tail(budget), delta, "Pr[L > epsilon]"),
        at_most_exact(law.hockey_stick(budget), delta, "delta").with_(tightness=None),
    ])  # fmt: skip


@statement(ROGERS_2023, "ex_post_filter", cases=25)
def loss_of_pure_ex_post_filter_reaches_the_budget(ratio: Budget) -> Verdict:
    """With delta = 0 the filter is tight: responses with E = |L| whose bounds sum to epsilon exactly, which the
    filter admits, reach the loss epsilon; at any smaller epsilon' their delta is positive.
    """
    rounds = 3
    rule = ExPostRule(ratio**rounds)
    law = filtered_law(chain(*[ex_post_response(ratio)] * rounds), rule)
    below = ratio ** (rounds - 1)
    return conjunction([
        at_most_exact(law.tail(rule.budget), Fraction(0), "Pr[L > epsilon]"),
        at_most_exact((ratio / (1 + ratio)) ** rounds, law.tail(below), "mass at the loss epsilon"),
    ])  # fmt: skip


# --- Thm 3 --------------------------------------------------------------------------------------------------


def _leaks_of_both_kinds(promised: Fraction, delta: Fraction) -> Verdict:
    rule = TwoBudgetRule(ConcentratedRule(Fraction(2), Fraction(1, 10**9), delta), ExPostRule(Fraction(2), delta))
    truth = filtered_loss([concentrated_leak(delta), ex_post_leak(delta)], rule, rule.budget)
    return at_most_exact(truth, promised, "delta")


def _sum_is_weaker(delta: Fraction) -> Verdict:
    total, sharper = 2 * delta + Fraction(1, 10**9), 1 - (1 - delta - Fraction(1, 10**9)) * (1 - delta)
    weaker = at_most_exact(sharper, total * Fraction(99, 100), "the product form").with_(tightness=None)
    return conjunction([_leaks_of_both_kinds(total, delta), weaker])


DELTAS_OF_THE_BUDGETS_ADDED = Erratum(
    kind="loose",
    printed_text="the totals of the two budgets are composed by basic composition, delta + delta' + delta''; Thm 1, "
    "which the proof cites, gives 1 - (1 - delta - delta'')(1 - delta'): 0.51 in place of 0.6 for two budgets of 0.3",
    witness={"delta": Fraction(3, 10)},
    printed=_sum_is_weaker,
    corrected=lambda delta: _leaks_of_both_kinds(1 - (1 - delta - Fraction(1, 10**9)) * (1 - delta), delta),
)


@statement(
    ROGERS_2023,
    "two_budget_filter",
    "zcdp_ex_post_sequence",
    errata=(DELTAS_OF_THE_BUDGETS_ADDED,),
    cases=30,
    examples=(
        {
            "interaction": chain(
                ex_post_response(Fraction(3)), concentrated_response(Fraction(3, 2)), ex_post_leak(Fraction(1, 10))
            ),
            "budget": Fraction(3),
            "slack_delta": Fraction(1, 2),
            "delta": Fraction(0),
            "ex_post_budget": Fraction(3),
            "ex_post_delta": Fraction(1, 10),
        },
        {
            "interaction": chain(ex_post_response(Fraction(3)), concentrated_response(Fraction(11, 10))),
            "budget": Fraction(3),
            "slack_delta": Fraction(1, 100),
            "delta": Fraction(0),
            "ex_post_budget": Fraction(3),
            "ex_post_delta": Fraction(0),
        },
        {
            "interaction": chain(ex_post_leak(Fraction(1, 10)), concentrated_leak(Fraction(1, 10))),
            "budget": Fraction(3),
            "slack_delta": Fraction(1, 10**6),
            "delta": Fraction(1, 10),
            "ex_post_budget": Fraction(3),
            "ex_post_delta": Fraction(1, 10),
        },
        {
            "interaction": chain(*[ex_post_response(Fraction(3))] * 3),
            "budget": Fraction(101, 100),
            "slack_delta": Fraction(1, 100),
            "delta": Fraction(0),
            "ex_post_budget": Fraction(3),
            "ex_post_delta": Fraction(0),
        },
    ),
)
def approximate_dp_of_two_budget_filter(
    interaction: Mixed,
    budget: Budget,
    slack_delta: SlackDelta,
    delta: DeltaBudget,
    ex_post_budget: Budget,
    ex_post_delta: DeltaBudget,
) -> Verdict:
    """Concentrated and ex-post private rounds in any adaptive order, each kind behind its own filter, the
    interaction ending when either refuses, are (epsilon + epsilon', 1 - (1 - delta - delta'')(1 - delta'))-DP; printed
    is the sum of the three deltas.

    Either analyst's choice may depend on all outcomes: that is concurrent composition, and the guarantees of the
    two interactive systems compose optimally. The arguments of N are garbled in print.
    """
    rule = TwoBudgetRule(ConcentratedRule(budget, slack_delta, delta), ExPostRule(ex_post_budget, ex_post_delta))
    return at_most_exact(filtered_law(interaction, rule).hockey_stick(rule.budget), rule.composed_delta, "delta")
