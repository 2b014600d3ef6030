"""Privacy filters for adaptively chosen (epsilon_t, delta_t)-DP mechanisms, with advanced composition rates.

Chapter after Lebensold, Precup and Balle (2024), Appendix C: Thm 20 (of Whitehouse et al. 2023), Def 21, Alg 5.
The filter may release M_1, ..., M_N with

    N = inf{n >= 0 : epsilon < sqrt(2 log(1/delta') V_{n+1}) + V_{n+1} / 2  or  delta'' < delta_1 + ... + delta_{n+1}},

V_n = epsilon_1^2 + ... + epsilon_n^2. Printed are sums up to t + 1 in place of n + 1, an infimum that nothing
lets be 0, and, in Def 21, the two answers of the filter exchanged.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from fractions import Fraction
from typing import Annotated, Any

from flint import arb

from dpassay.spec.ball import Real, UndecidedError, at_most, ball, sum_balls
from dpassay.spec.distributions.discrete import FiniteDistribution, hockey_stick_exact
from dpassay.spec.domains.base import Reals
from dpassay.spec.interactions.filter_rules import (
    FullyAdaptiveRule,
    FullyAdaptiveState,
    SelfReportingRule,
    advanced_epsilon,
    longest_run,
)
from dpassay.spec.interactions.transcripts import (
    AdaptiveInteractions,
    Analyst,
    FilterRule,
    Interaction,
    Round,
    Transcript,
    branches,
    chain,
    delta_of_branches,
    leak_or_nothing,
    randomised_response,
    repeated,
)
from dpassay.spec.proof.comparisons import agree
from dpassay.spec.proof.figures import Figures
from dpassay.spec.proof.pins import Pin
from dpassay.spec.rational import at_most_exact, equal_exact
from dpassay.spec.sources import LEBENSOLD_2024
from dpassay.spec.statement import Erratum, Severity, statement
from dpassay.spec.theorems.target_charging.second_derivations import responses_delta
from dpassay.spec.verdict import Evidence, Holds, Outcome, Verdict, Violated, conjunction

__all__ = [
    "DISCARDED",
    "binomial_hockey_stick",
    "check_first_distributions",
    "filter_halts",
    "filter_length",
    "filtered_delta",
    "largest_sum_of_squares",
    "run_first_distributions",
]

Adaptive = Annotated[
    Interaction, AdaptiveInteractions("an adaptive interaction of at most 4 rounds of finite mechanisms")
]
Budget = Annotated[
    Fraction, Reals("a budget e^epsilon", Fraction(101, 100), 10**6, (2, 3, 9, 100, 10**4), logarithmic=True)
]
SlackDelta = Annotated[
    Fraction,
    Reals("delta'", Fraction(1, 10**12), 1, (Fraction(1, 100), Fraction(1, 10**5), 1), logarithmic=True),
]  # fmt: skip
DeltaBudget = Annotated[
    Fraction, Reals("delta''", 0, 1, (0, Fraction(1, 10), Fraction(1, 2), Fraction(1, 100)))
]  # fmt: skip
LossPerRound = Annotated[
    Fraction,
    Reals("e^epsilon_t - 1", Fraction(1, 1000), 30, (1, Fraction(1, 10), Fraction(1, 100), 2), logarithmic=True),
]  # fmt: skip


def filtered_delta(analyst: Analyst, rule: FilterRule, budget: Fraction) -> Fraction:
    """Return the exact delta at e^epsilon = `budget` of a filtered interaction, in the worse of the two orders."""
    return delta_of_branches(branches(analyst, rule), budget)


# --- Thm 20 -------------------------------------------------------------------------------------------------


class _AtLeastOneRound(FullyAdaptiveRule):
    """The definition read literally: N is an infimum over n >= 1, so that the first mechanism always runs."""

    def admits(self, state: FullyAdaptiveState, offer: Round) -> bool:
        return state == self.start() or super().admits(state, offer)


def _first_round_is_free(ratio: Fraction, budget: Fraction, slack_delta: Fraction) -> Verdict:
    rule = _AtLeastOneRound(budget, slack_delta)
    return at_most_exact(filtered_delta(repeated([randomised_response(ratio)]), rule, budget), slack_delta, "delta")


def _first_round_is_checked(ratio: Fraction, budget: Fraction, slack_delta: Fraction) -> Verdict:
    offer = Interaction(randomised_response(ratio))
    return approximate_dp_of_fully_adaptive_filter(
        interaction=offer, budget=budget, slack_delta=slack_delta, delta=Fraction(0)
    )


FIRST_ROUND_ALWAYS_RUNS = Erratum(
    kind="false",
    severity=Severity.INTERPRETATION,
    location="Appendix C, Theorem 20, eq. (40)",
    printed_text="the infimum runs over n while the sums end at t + 1, with no word on n = 0; if N were "
    "at least 1, a first mechanism that alone exceeds the budget (epsilon_1 = log 22026 = 9.99998 against "
    "epsilon = 1.0986) would be released",
    answer="The theorem is cited; t stands for n, and the natural numbers include 0.",
    witness={"ratio": Fraction(22026), "budget": Fraction(3), "slack_delta": Fraction(1, 100)},
    printed=_first_round_is_free,
    corrected=_first_round_is_checked,
    figures=Figures(published=("0.9998 > 0.01000",), corrected=("0 <= 0.01000",)),
)


@statement(
    LEBENSOLD_2024,
    "dp_filter",
    errata=(FIRST_ROUND_ALWAYS_RUNS,),
    examples=(
        {
            "interaction": chain(*[randomised_response(Fraction(3, 2))] * 4),
            "budget": Fraction(19, 5),
            "slack_delta": Fraction(1, 100),
            "delta": Fraction(0),
        },
    ),
    pins=(
        Pin(
            {
                "interaction": chain(*[leak_or_nothing(Fraction(1, 10))] * 2),
                "budget": Fraction(2),
                "slack_delta": Fraction(1, 100),
                "delta": Fraction(1, 2),
            },
            "one of two leaks; 1/100 + 1/2",
            smaller=lambda: Fraction(19, 100),
            larger=lambda: Fraction(51, 100),
        ),
    ),
)
def approximate_dp_of_fully_adaptive_filter(
    interaction: Adaptive, budget: Budget, slack_delta: SlackDelta, delta: DeltaBudget
) -> Verdict:
    """If M_t is (epsilon_t, delta_t)-DP given every prefix, with parameters chosen adaptively, the released
    M_1, ..., M_N are (epsilon, delta' + delta'')-DP. (Whitehouse et al. 2023, cited.)
    """
    rule = FullyAdaptiveRule(budget, slack_delta, delta)
    return at_most_exact(filtered_delta(interaction, rule, budget), rule.total_delta, "delta")


def binomial_hockey_stick(ratio: Fraction, count: int, epsilon: arb) -> arb:
    """Enclose the exact delta at epsilon of `count` randomised responses with e^epsilon_t = `ratio`.

    sum_j C(k, j) max(0, p^j q^(k-j) - e^epsilon q^j p^(k-j)) over j truthful answers, p = ratio / (1 + ratio): the
    worst case of k mechanisms that are (log ratio)-DP. From the top term downwards, until the losses fall below
    epsilon, so that the tiniest delta keeps its relative accuracy.
    """
    log_ratio = ball(ratio).log()
    term = (count * -ball(1 / ratio).log1p()).exp()
    total = arb(0)
    for j in range(count, -1, -1):
        loss = (2 * j - count) * log_ratio
        if loss <= epsilon:
            break
        total = total + term * (-(epsilon - loss).expm1()).max(arb(0))
        term = term * j / ((count - j + 1) * ball(ratio))
    return total


@statement(
    LEBENSOLD_2024,
    "dp_filter",
    pins=(
        Pin(
            {"loss_per_round": Fraction(1, 10), "budget": Fraction(9), "slack_delta": Fraction(1, 100)},
            "n epsilon^2 <= (sqrt(2 (log 100 + log 9)) - sqrt(2 log 100))^2 for n up to 47; tails of truthful answers",
            smaller=lambda: responses_delta(47, Fraction(11, 10), arb(9).log()),
            larger=lambda: Fraction(1, 100),
        ),
    ),
    cases=25,
)
def approximate_dp_of_filtered_randomised_response(
    loss_per_round: LossPerRound, budget: Budget, slack_delta: SlackDelta
) -> Verdict:
    """N randomised responses, N as the filter allows, are (epsilon, delta')-DP: the worst case of equal pure
    mechanisms, whose exact delta is a binomial sum.
    """
    ratio = 1 + Fraction(loss_per_round)
    count = min(longest_run(ratio, FullyAdaptiveRule(budget, slack_delta)), 20_000)
    return at_most(lambda: binomial_hockey_stick(ratio, count, ball(budget).log()), lambda: ball(slack_delta))


# --- Def 21 -------------------------------------------------------------------------------------------------


def largest_sum_of_squares(budget: Fraction, slack_delta: Fraction) -> arb:
    """Enclose the V at which sqrt(2 log(1/delta') V) + V/2 is log budget: (sqrt(2 l + 2 epsilon) - sqrt(2 l))^2.

    With l = log(1/delta') the left side is (sqrt(V) + sqrt(2 l))^2/2 - l: the budget solved for V.
    """
    level = -2 * ball(slack_delta).log()
    return ((level + 2 * ball(budget).log()).sqrt() - level.sqrt()) ** 2


def _variance_fits(ratios: Sequence[Fraction], rule: FullyAdaptiveRule) -> bool:
    """Return whether the sum of the squares is at most the largest one, by balls that separate."""
    squares: Real = lambda: sum_balls(ball(ratio).log() ** 2 for ratio in ratios if ratio > 1)
    verdict = at_most(squares, lambda: largest_sum_of_squares(rule.budget, rule.slack_delta))
    if verdict.outcome is Outcome.UNDECIDED:
        raise UndecidedError(f"the squares of {ratios} do not separate from the budget of {rule}")
    return verdict.outcome is Outcome.HOLDS


def filter_length(offers: Sequence[Round], rule: FullyAdaptiveRule) -> int | None:
    """Return N((epsilon_m), (delta_m)) for the parameters of some offers; None stands for infinity.

    Decided through `largest_sum_of_squares`, not through the formula that the rule evaluates.
    """
    for n in range(len(offers)):
        head = offers[: n + 1]
        fits = _variance_fits([offer.ratio_max for offer in head], rule)
        if not fits or sum(offer.approximate_delta for offer in head) > rule.delta:
            return n
    return None


def filter_halts(offers: Sequence[Round], rule: FullyAdaptiveRule) -> bool:
    """Return whether the filter answers HALT to the parameters of the first t offers: N < t (printed is N > t)."""
    length = filter_length(offers, rule)
    return length is not None and length < len(offers)


class _InvertedRule(FullyAdaptiveRule):
    """Def 21 as printed: halt while the budget lasts, continue once it is spent."""

    def admits(self, state: FullyAdaptiveState, offer: Round) -> bool:
        return not super().admits(state, offer)


def _randomised_responses(rule: FullyAdaptiveRule, ratio: Fraction, rounds: int) -> Verdict:
    analyst = repeated([randomised_response(ratio)] * rounds)
    return at_most_exact(filtered_delta(analyst, rule, rule.budget), rule.total_delta, "delta")


ANSWERS_EXCHANGED = Erratum(
    kind="false",
    severity=Severity.ERROR,
    location="Appendix C, Definition 21, eq. (41)",
    printed_text="Definition 21 halts if N > t and continues otherwise: it halts while the budget lasts "
    "and releases everything once it is spent",
    answer="The two cases are exchanged; the experiments halt where the budget is spent.",
    witness={"ratio": Fraction(3), "rounds": 5, "budget": Fraction(2), "slack_delta": Fraction(1, 100)},
    printed=lambda ratio, rounds, budget, slack_delta: _randomised_responses(
        _InvertedRule(budget, slack_delta), ratio, rounds
    ),
    corrected=lambda ratio, rounds, budget, slack_delta: _randomised_responses(
        FullyAdaptiveRule(budget, slack_delta), ratio, rounds
    ),
    figures=Figures(published=("0.6895 > 0.01000",), corrected=("0 <= 0.01000",)),
)


class _Everything:
    """The rule that admits everything, to list the possible offers of an analyst."""

    def start(self) -> None:
        """No state."""

    def admits(self, state: None, offer: Round) -> bool:  # noqa: ARG002  # the signature of a rule
        return True

    def spend(self, state: None, offer: Round, outcome: Hashable) -> None:
        """Nothing to remember."""


def _square_of_half_more() -> arb:
    return ball(Fraction(3, 2)).log() ** 2


def _squares_within() -> arb:
    twice = 2 * arb(100).log()
    return ((twice + 2 * ball(Fraction(19, 5)).log()).sqrt() - twice.sqrt()) ** 2


@statement(
    LEBENSOLD_2024,
    "dp_privacy_filter",
    errata=(ANSWERS_EXCHANGED,),
    pins=(
        Pin(
            {
                "interaction": chain(*[randomised_response(Fraction(3, 2))] * 2),
                "budget": Fraction(19, 5),
                "slack_delta": Fraction(1, 100),
                "delta": Fraction(0),
            },
            "log(3/2)^2 a round, and the root of V/2 + sqrt(2 V log(100)) = log(19/5)",
            smaller=lambda: [_square_of_half_more(), _square_of_half_more(), 2 * _square_of_half_more()] * 4,
            larger=lambda: [_squares_within()] * 12,
            within=Fraction(1, 10**9),
        ),
    ),
)
def filter_halts_iff_release_would_overspend(
    interaction: Adaptive, budget: Budget, slack_delta: SlackDelta, delta: DeltaBudget
) -> Verdict:
    """With HALT if and only if N < t, the filter lets M_t run exactly if the sums with epsilon_t and delta_t are
    within the budget, and after a first HALT it stays halted. (For every path of the analyst.)
    """
    rule = FullyAdaptiveRule(budget, slack_delta, delta)
    for branch in branches(interaction, _Everything()):
        state, halted = rule.start(), False
        for t, offer in enumerate(branch.rounds, start=1):
            halted = halted or not rule.admits(state, offer)
            if filter_halts(branch.rounds[:t], rule) != halted:
                return Violated(evidence=Evidence.EXACT, detail=f"wrong answer in round {t} of {branch.transcript}")
            state = rule.spend(state, offer, branch.transcript[t - 1])
    return conjunction([Holds(evidence=Evidence.EXACT), _budget_is_solved(budget, slack_delta)])


def _budget_is_solved(budget: Fraction, slack_delta: Fraction) -> Verdict:
    """Decide that the rule's epsilon is the budget at the largest V: the comparisons are of the same number."""
    needed: Real = lambda: advanced_epsilon(largest_sum_of_squares(budget, slack_delta), ball(slack_delta))
    return agree(needed, lambda: ball(budget).log(), "epsilon of the largest V, and the budget")


# --- Alg 5, and what may be printed -------------------------------------------------------------------------

DISCARDED = "discarded"
"""The entry of the released vector for a round that the filter refused."""

Distributions = tuple[FiniteDistribution, FiniteDistribution]
Report = Callable[[Any], Hashable]
_Running = tuple[Transcript, Transcript, Fraction, Fraction, Any]  # vector, released, left, right, state


def check_first_distributions(analyst: Analyst, rule: FilterRule, length: int) -> Distributions:
    """Return the distributions of the released vector if refused mechanisms never run, padded to `length`."""
    left: dict[Hashable, Fraction] = {}
    right: dict[Hashable, Fraction] = {}
    for branch in branches(analyst, rule):
        padding = (DISCARDED,) * (length - len(branch.transcript)) if branch.refused is not None else ()
        released = (*branch.transcript, *padding)
        left[released] = left.get(released, Fraction(0)) + branch.left
        right[released] = right.get(released, Fraction(0)) + branch.right
    return FiniteDistribution(left), FiniteDistribution(right)


def run_first_distributions(
    analyst: Analyst, rule: FilterRule, length: int, report: Report | None = None
) -> Distributions:
    """Return the distributions of the released vector of Alg 5, which runs every mechanism and then asks the filter.

    Parameters
    ----------
    analyst : Analyst
        Sees the released outcomes; a refused offer is repeated.
    rule : FilterRule
        The filter.
    length : int
        The number of rounds.
    report : callable, optional
        The printed part of the final state of the filter, beside the vector.
    """
    running: list[_Running] = [((), (), Fraction(1), Fraction(1), rule.start())]
    for _ in range(length):
        running = [after for before in running for after in _run_then_ask(before, analyst, rule)]
    left: dict[Hashable, Fraction] = {}
    right: dict[Hashable, Fraction] = {}
    for vector, _, p, q, state in running:
        printed = vector if report is None else (vector, report(state))
        left[printed] = left.get(printed, Fraction(0)) + p
        right[printed] = right.get(printed, Fraction(0)) + q
    return FiniteDistribution(left), FiniteDistribution(right)


def _run_then_ask(before: _Running, analyst: Analyst, rule: FilterRule) -> Iterator[_Running]:
    vector, released, left, right, state = before
    offer = analyst(released)
    if offer is None:
        yield before
        return
    for outcome in offer.outcomes:
        p, q = left * offer.left.probability(outcome), right * offer.right.probability(outcome)
        if rule.admits(state, offer):
            yield (*vector, outcome), (*released, outcome), p, q, rule.spend(state, offer, outcome)
        else:
            yield (*vector, DISCARDED), released, p, q, state


def _positive(distribution: FiniteDistribution) -> dict[Hashable, Fraction]:
    return {outcome: weight for outcome, weight in distribution.weights.items() if weight}


@statement(
    LEBENSOLD_2024,
    "compose_with_filter",
    examples=(
        {
            "interaction": chain(*[leak_or_nothing(Fraction(1, 10))] * 2),
            "budget": Fraction(2),
            "slack_delta": Fraction(1, 100),
            "delta": Fraction(1, 2),
        },
    ),
    pins=(
        Pin(
            {
                "interaction": chain(*[leak_or_nothing(Fraction(1, 10))] * 3),
                "budget": Fraction(2),
                "slack_delta": Fraction(1, 100),
                "delta": Fraction(1, 4),
            },
            "one of two leaks, which are released before the third would overspend; 1/100 + 1/4",
            smaller=lambda: [Fraction(19, 100)] * 2,
            larger=lambda: [Fraction(26, 100)] * 2,
        ),
    ),
)
def running_before_the_check_changes_nothing(
    interaction: Adaptive, budget: Budget, slack_delta: SlackDelta, delta: DeltaBudget
) -> Verdict:
    """The vector that Alg 5 returns has the same distribution, on both data sets, as if no refused mechanism ran: the
    outcomes of discarded rounds sum out. It is therefore (epsilon, delta' + delta'')-DP as well.
    """
    rule = FullyAdaptiveRule(budget, slack_delta, delta)
    ran, checked = (
        distributions(interaction, rule, interaction.depth)
        for distributions in (run_first_distributions, check_first_distributions)
    )
    return conjunction([
        equal_exact(_positive(ran[0]), _positive(checked[0]), "distribution of the released vector, left"),
        equal_exact(_positive(ran[1]), _positive(checked[1]), "distribution of the released vector, right"),
        at_most_exact(hockey_stick_exact(*ran, budget), rule.total_delta, "delta").without_tightness(),
        at_most_exact(hockey_stick_exact(ran[1], ran[0], budget), rule.total_delta, "delta").without_tightness(),
    ])  # fmt: skip


@statement(LEBENSOLD_2024, "filter_spend_disclosure")
def printing_the_spend_is_post_processing(
    interaction: Adaptive, budget: Budget, slack_delta: SlackDelta, delta: DeltaBudget
) -> Verdict:
    """The spend of a filter is a function of the released vector, if the parameters of each round are: printing it
    leaves the exact delta unchanged at every epsilon, for the fully adaptive and for the self-reporting filter.

    The paper says that it cannot be disclosed without an odometer. An odometer is needed for another thing, a
    guarantee at the spend itself when the interaction stops early depending on the data.
    """
    rules: tuple[FilterRule, ...] = (FullyAdaptiveRule(budget, slack_delta, delta), SelfReportingRule(budget))
    verdicts = []
    for rule in rules:
        silent = run_first_distributions(interaction, rule, interaction.depth)
        printing = run_first_distributions(interaction, rule, interaction.depth, report=lambda state: state)
        for ratio in (Fraction(1), Fraction(3, 2), budget):
            deltas = (hockey_stick_exact(*printing, ratio), hockey_stick_exact(*silent, ratio))
            verdicts.append(equal_exact(*deltas, f"delta at e^epsilon = {ratio} with and without the spend"))
    return conjunction(verdicts)
