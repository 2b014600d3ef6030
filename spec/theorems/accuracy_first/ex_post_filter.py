"""The privacy filter for ex-post private mechanisms: charged by outcomes, guarded by possible outcomes.

Chapter after Rogers, Samorodnitsky, Wu and Ramdas (2023), Lemma 5.2 and Thm 3. The precondition of the lemma bounds
the sum up to n - 1 for every n of an infinite sequence. A filter that runs round by round must therefore bound the sum
up to n for *every* outcome of round n, before it runs. The published rule stops where the sum equals epsilon exactly,
which need never happen; under the precondition that is harmless, as N may be infinite.
"""

from fractions import Fraction

from dpassay.spec.interactions.adaptive_rounds import (
    ExPostRound,
    concentrated_leak,
    concentrated_response,
    ex_post_leak,
    ex_post_response,
)
from dpassay.spec.interactions.budget_rules import ConcentratedRule, ExPostRule, ExPostState, TwoBudgetRule
from dpassay.spec.interactions.transcripts import Round, chain
from dpassay.spec.proof.figures import Figures
from dpassay.spec.proof.pins import Pin
from dpassay.spec.rational import at_most_exact, equal_exact
from dpassay.spec.sources import ROGERS_2023
from dpassay.spec.statement import Erratum, Severity, statement
from dpassay.spec.theorems.accuracy_first.parameters import (
    Budget,
    DeltaBudget,
    ExPostPrivate,
    Mixed,
    SlackDelta,
    filtered_distributions,
    filtered_loss,
    keeps_delta,
)
from dpassay.spec.verdict import Verdict, conjunction

__all__ = ["LooksBackOnly"]


class LooksBackOnly(ExPostRule):
    """The precondition checked too late: only past charges must be within the budget."""

    def admits(self, state: ExPostState, offer: Round) -> bool:
        """Return whether the bounds of the rounds before are within the budget."""
        assert isinstance(offer, ExPostRound)
        return state[0] <= self.budget and state[1] + offer.delta <= self.delta


@statement(
    ROGERS_2023,
    "ex_post_filter",
    examples=(
        {
            "interaction": chain(*[ex_post_leak(Fraction(1, 10))] * 3),
            "budget": Fraction(2),
            "delta": Fraction(1, 10),
        },
        {"interaction": chain(*[ex_post_response(Fraction(3))] * 3), "budget": Fraction(9), "delta": Fraction(0)},
    ),
    pins=(
        Pin(
            {
                "interaction": chain(*[ex_post_leak(Fraction(1, 10))] * 3),
                "budget": Fraction(2),
                "delta": Fraction(1, 10),
            },
            "a single leak is admitted",
            both=lambda: [Fraction(1, 10)] * 4,
        ),
    ),
)
def probabilistic_dp_of_ex_post_filter(interaction: ExPostPrivate, budget: Budget, delta: DeltaBudget) -> Verdict:
    """If every outcome of round n would keep the sum of the bounds within epsilon, and the deltas sum to at most
    delta, the released A_1, ..., A_N have Pr[L > epsilon] <= delta; they are (epsilon, delta)-DP. The delta_n may
    depend on the history.
    """
    distributions = filtered_distributions(interaction, ExPostRule(budget, delta))
    return conjunction([
        *(at_most_exact(distribution.tail(budget), delta, "Pr[L > epsilon]") for distribution in distributions),
        keeps_delta(distributions, budget, delta).without_tightness(),
    ])  # fmt: skip


@statement(
    ROGERS_2023,
    "ex_post_filter",
    cases=15,
    examples=({"budget": Fraction(3), "excess": Fraction(20, 3)},),
    pins=(Pin({"budget": Fraction(3), "excess": Fraction(2)}, "nothing is released", both=lambda: 0),),
)
def precondition_must_cover_the_round_to_come(budget: Budget, excess: Budget) -> Verdict:
    """A filter that compares only the sum of the past bounds with epsilon releases a response with the bound epsilon'
    > epsilon; its delta at epsilon is then (e^epsilon' - e^epsilon)/(1 + e^epsilon'). The filter of the lemma does not
    release it.
    """
    ratio = budget * excess
    offer = [ex_post_response(ratio)]
    late, early = (filtered_loss(offer, rule, budget) for rule in (LooksBackOnly(budget), ExPostRule(budget)))
    return conjunction([
        equal_exact(late, (ratio - budget) / (1 + ratio), "delta of a filter that looks back only"),
        at_most_exact(early, Fraction(0), "delta of the filter"),
    ])  # fmt: skip


@statement(
    ROGERS_2023,
    "ex_post_filter",
    cases=25,
    pins=(Pin({"ratio": Fraction(2)}, "three truthful answers", both=lambda: Fraction(8, 27)),),
)
def loss_of_pure_ex_post_filter_reaches_the_budget(ratio: Budget) -> Verdict:
    """With delta = 0 the filter is tight: responses with E = |L| whose bounds sum to epsilon exactly, which the
    filter admits, reach the loss epsilon; at any smaller epsilon' their delta is positive.
    """
    rounds = 3
    rule = ExPostRule(ratio**rounds)
    distribution, _ = filtered_distributions(
        chain(*[ex_post_response(ratio)] * rounds), rule
    )  # a response is its own mirror image
    below = ratio ** (rounds - 1)
    return conjunction([
        equal_exact(distribution.tail(rule.budget), Fraction(0), "Pr[L > epsilon]"),
        at_most_exact((ratio / (1 + ratio)) ** rounds, distribution.tail(below), "mass at the loss epsilon"),
    ])  # fmt: skip


# --- Thm 3 --------------------------------------------------------------------------------------------------


SLACK = Fraction(1, 10**9)


def _two_budgets(delta: Fraction) -> TwoBudgetRule:
    return TwoBudgetRule(ConcentratedRule(Fraction(2), SLACK, delta), ExPostRule(Fraction(2), delta))


def _leaks_of_both_kinds(delta: Fraction, promised: Fraction) -> Verdict:
    rule = _two_budgets(delta)
    truth = filtered_loss([concentrated_leak(delta), ex_post_leak(delta)], rule, rule.budget)
    return at_most_exact(truth, promised, "delta")


def _sum_is_weaker(delta: Fraction) -> Verdict:
    """Decide that the sum is a bound, and that it exceeds the product form by the product of the two totals."""
    rule = _two_budgets(delta)
    gap = equal_exact(rule.total_delta - rule.composed_delta, (delta + SLACK) * delta, "the increase of the sum")
    return conjunction([_leaks_of_both_kinds(delta, rule.total_delta), gap])


def _product_form(delta: Fraction) -> Verdict:
    """Decide that leaks of both kinds have delta 1 - (1 - delta)^2, the product form but for the slack."""
    rule = _two_budgets(delta)
    exact = 1 - (1 - delta) ** 2
    return conjunction([
        _leaks_of_both_kinds(delta, rule.composed_delta),
        equal_exact(filtered_loss([concentrated_leak(delta), ex_post_leak(delta)], rule, rule.budget), exact, "delta"),
        at_most_exact(rule.composed_delta, exact + SLACK, "the product form").without_tightness(),
    ])  # fmt: skip


DELTAS_OF_THE_BUDGETS_ADDED = Erratum(
    kind="loose",
    severity=Severity.SHARPENING,
    location="Section 5, Theorem 3, the delta of the conclusion",
    printed_text="Thm 3 composes the two budgets by basic composition, delta + delta' + delta''; Thm 1, "
    "which its proof cites, gives 1 - (1 - delta - delta'')(1 - delta'): 0.51 in place of 0.6 for two budgets of "
    "0.3",
    answer="Basic composition was chosen for its simple form; the theorem is right.",
    witness={"delta": Fraction(3, 10)},
    printed=_sum_is_weaker,
    corrected=_product_form,
    figures=Figures(
        published=("0.09000 = 0.09000", "0.5100 <= 0.6000"),
        corrected=("0.5100 <= 0.5100", "0.5100 = 0.5100", "0.5100 <= 0.5100"),
    ),
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
        {
            "interaction": chain(*[concentrated_leak(Fraction(1, 10))] * 3),
            "budget": Fraction(10**4),
            "slack_delta": Fraction(1, 10**6),
            "delta": Fraction(1, 5),
            "ex_post_budget": Fraction(3),
            "ex_post_delta": Fraction(0),
        },
    ),
    pins=(
        Pin(
            {
                "interaction": chain(ex_post_leak(Fraction(1, 10)), concentrated_leak(Fraction(1, 10))),
                "budget": Fraction(3),
                "slack_delta": Fraction(1, 10**6),
                "delta": Fraction(1, 10),
                "ex_post_budget": Fraction(3),
                "ex_post_delta": Fraction(1, 10),
            },
            "two leaks, 1 - (9/10)^2; the slack adds 9/10 of itself",
            smaller=lambda: [Fraction(19, 100)] * 2,
            larger=lambda: [Fraction(19, 100) + Fraction(9, 10**7)] * 2,
        ),
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
    two interactive systems compose optimally. The published arguments of N are garbled.
    """
    rule = TwoBudgetRule(ConcentratedRule(budget, slack_delta, delta), ExPostRule(ex_post_budget, ex_post_delta))
    return keeps_delta(filtered_distributions(interaction, rule), rule.budget, rule.composed_delta)
