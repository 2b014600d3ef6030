"""The privacy filter for approximately concentrated mechanisms chosen adaptively.

Chapter after Rogers, Samorodnitsky, Wu and Ramdas (2023), Def 3.1 and Thm 2 (of Whitehouse et al. 2023). The filter
releases A_1, ..., A_N with

    N = inf{n >= 0 : epsilon < 2 sqrt(log(1/delta'') R_{n+1}) + R_{n+1}  or  delta < D_{n+1}},

R_n and D_n the sums of the rho_m and delta_m up to n; N is a function of outcomes with values in {0, 1, 2, ...,
infinity}. The domain of N is printed as sequences of non-negative numbers; it is sequences of outcomes.
"""

from collections.abc import Hashable, Sequence
from fractions import Fraction
from math import inf

from flint import arb

from dpassay.spec.ball import Real, UndecidedError, at_most, ball, midpoint
from dpassay.spec.interactions.adaptive_rounds import (
    ConcentratedRound,
    concentrated_leak,
    concentrated_response,
    rho_of_ratio,
)
from dpassay.spec.interactions.budget_rules import (
    AdmitEverything,
    ConcentratedRule,
    concentrated_epsilon,
    within_concentrated_budget,
)
from dpassay.spec.interactions.transcripts import Interaction, Round, branches, chain
from dpassay.spec.proof.comparisons import agree
from dpassay.spec.proof.figures import Figures
from dpassay.spec.proof.pins import Pin
from dpassay.spec.rational import at_most_exact
from dpassay.spec.sources import ROGERS_2023
from dpassay.spec.statement import Erratum, Severity, statement
from dpassay.spec.theorems.accuracy_first.parameters import (
    Budget,
    Concentrated,
    ConversionDelta,
    DeltaBudget,
    SlackDelta,
    filtered_distributions,
    filtered_loss,
    keeps_delta,
)
from dpassay.spec.theorems.accuracy_first.second_derivations import rho_of_response, rho_within
from dpassay.spec.theorems.gaussian_selection.fully_adaptive_filter import LossPerRound, binomial_hockey_stick
from dpassay.spec.theorems.target_charging.second_derivations import responses_delta
from dpassay.spec.verdict import Evidence, Holds, Outcome, Verdict, Violated, conjunction

__all__ = ["concentrated_run_length", "largest_rho", "stopping_index"]

# --- Thm 2 --------------------------------------------------------------------------------------------------


class _AtLeastOneRound(ConcentratedRule):
    """The definition read literally: N is an infimum over n >= 1, so that the first mechanism always runs."""

    def admits(self, state: tuple[Fraction, Fraction], offer: Round) -> bool:
        return state == self.start() or super().admits(state, offer)


def _responses(ratio: Fraction, rounds: int, rule: ConcentratedRule, promised: Fraction) -> Verdict:
    offers = [concentrated_response(ratio)] * rounds
    return at_most_exact(filtered_loss(offers, rule, rule.budget), promised, "delta")


FIRST_MECHANISM_ALWAYS_RUNS = Erratum(
    kind="false",
    severity=Severity.INTERPRETATION,
    location="Section 3, Definition 3.1 and Theorem 2: N takes values in the natural numbers",
    printed_text="N takes values in the natural numbers, with no word on 0 and infinity; if N were at "
    "least 1, a first mechanism that alone exceeds the budget would be released",
    answer="The natural numbers include 0, and an infimum over the empty set is infinite, as Lemma 6.2 says.",
    witness={"ratio": Fraction(1000), "budget": Fraction(3), "slack_delta": Fraction(1, 10**6)},
    printed=lambda ratio, budget, slack_delta: _responses(
        ratio, 1, _AtLeastOneRound(budget, slack_delta), slack_delta
    ),
    corrected=lambda ratio, budget, slack_delta: _responses(
        ratio, 1, ConcentratedRule(budget, slack_delta), slack_delta
    ),
    figures=Figures(published=("0.9960 > 1.000e-6",), corrected=("0 <= 1.000e-6",)),
    item="privacy_filter",
)

DELTA_OF_THE_CONCENTRATION_DROPPED = Erratum(
    kind="false",
    severity=Severity.MINOR,
    location="Section 3, Theorem 2, its last sentence",
    printed_text="the last sentence of Thm 2 calls N an (epsilon, delta)-privacy filter, where the "
    "sentence before it has delta + delta''; with delta = 0 that would be pure privacy",
    answer="The sentence before it has (epsilon, delta + delta''), which is meant.",
    witness={
        "ratio": Fraction(3, 2),
        "rounds": 8,
        "budget": Fraction(9),
        "slack_delta": Fraction(1, 2),
    },
    printed=lambda ratio, rounds, budget, slack_delta: _responses(
        ratio, rounds, ConcentratedRule(budget, slack_delta), Fraction(0)
    ),
    corrected=lambda ratio, rounds, budget, slack_delta: _responses(
        ratio, rounds, ConcentratedRule(budget, slack_delta), slack_delta
    ),
    figures=Figures(published=("0.02970 > 0",), corrected=("0.02970 <= 0.5000",)),
)


@statement(
    ROGERS_2023,
    "zcdp_filter",
    errata=(DELTA_OF_THE_CONCENTRATION_DROPPED,),
    examples=(
        {
            "interaction": chain(*[concentrated_leak(Fraction(1, 10))] * 3),
            "budget": Fraction(2),
            "slack_delta": Fraction(1, 10**12),
            "delta": Fraction(1, 10),
        },
        {
            "interaction": chain(*[concentrated_response(Fraction(2))] * 3),
            "budget": Fraction(9),
            "slack_delta": Fraction(1, 100),
            "delta": Fraction(0),
        },
    ),
    pins=(
        Pin(
            {
                "interaction": chain(*[concentrated_leak(Fraction(1, 10))] * 3),
                "budget": Fraction(2),
                "slack_delta": Fraction(1, 12),
                "delta": Fraction(1, 10),
            },
            "a single leak is admitted; 1/10 + 1/12",
            smaller=lambda: [Fraction(1, 10)] * 2,
            larger=lambda: [Fraction(11, 60)] * 2,
        ),
    ),
)
def approximate_dp_of_zcdp_filter(
    interaction: Concentrated, budget: Budget, slack_delta: SlackDelta, delta: DeltaBudget
) -> Verdict:
    """If A_n is delta_n-approximate rho_n-zCDP given every prefix, with parameters chosen adaptively, the released
    A_1, ..., A_N are (epsilon, delta + delta'')-DP, delta the budget of the delta_n and delta'' the slack.
    """
    rule = ConcentratedRule(budget, slack_delta, delta)
    return keeps_delta(filtered_distributions(interaction, rule), budget, rule.total_delta)


def _filtered_responses_delta() -> arb:
    """Enclose the delta of the responses with e^epsilon_t = 11/10 that fit into (log 9, 1/100).

    rho = epsilon_t tanh(epsilon_t/2) = epsilon_t/21, and the budget admits (sqrt(L + log 9) - sqrt(L))^2, L = log 100.
    """
    level = ball(100).log()
    admitted = ((level + ball(9).log()).sqrt() - level.sqrt()) ** 2
    rounds = int(midpoint(21 * admitted / ball(Fraction(11, 10)).log()))
    return responses_delta(rounds, Fraction(11, 10), ball(9).log())


def concentrated_run_length(ratio: Fraction, rule: ConcentratedRule, most: int = 20_000) -> int:
    """Return how many equal responses the rule admits, at most `most`."""
    rho, low, high = rho_of_ratio(ratio), 0, most + 1
    while high - low > 1:
        middle = (low + high) // 2
        fits = within_concentrated_budget(middle * rho, rule.budget, rule.slack_delta)
        low, high = (middle, high) if fits else (low, middle)
    return low


@statement(
    ROGERS_2023,
    "zcdp_filter",
    cases=25,
    examples=({"loss_per_round": Fraction(3, 1000), "budget": Fraction(10**6), "slack_delta": Fraction(1, 10**300)},),
    pins=(
        Pin(
            {"loss_per_round": Fraction(1, 10), "budget": Fraction(9), "slack_delta": Fraction(1, 100)},
            "as many rounds as fit into the budget solved for rho; tails of truthful answers",
            smaller=_filtered_responses_delta,
            larger=lambda: Fraction(1, 100),
        ),
    ),
)
def approximate_dp_of_zcdp_filtered_responses(
    loss_per_round: LossPerRound, budget: Budget, slack_delta: ConversionDelta
) -> Verdict:
    """N randomised responses, N as the filter allows, are (epsilon, delta'')-DP; their delta is a binomial sum."""
    ratio = 1 + Fraction(loss_per_round)
    count = concentrated_run_length(ratio, ConcentratedRule(budget, slack_delta))

    def delta() -> arb:
        return binomial_hockey_stick(ratio, count, ball(budget).log())

    return at_most(delta, lambda: ball(slack_delta))


# --- Def 3.1 ------------------------------------------------------------------------------------------------


def largest_rho(budget: Fraction, slack_delta: Fraction) -> arb:
    """Enclose the rho at which rho + 2 sqrt(rho log(1/delta'')) is log budget: (sqrt(l + epsilon) - sqrt(l))^2.

    With l = log(1/delta'') the left side is (sqrt(rho) + sqrt(l))^2 - l: the budget solved for rho.
    """
    level = -ball(slack_delta).log()
    return ((level + ball(budget).log()).sqrt() - level.sqrt()) ** 2


def _fits(rho: Fraction, rule: ConcentratedRule) -> bool:
    """Return whether rho is at most the largest one, by balls that separate."""
    verdict = at_most(lambda: ball(rho), lambda: largest_rho(rule.budget, rule.slack_delta))
    if verdict.outcome is Outcome.UNDECIDED:
        raise UndecidedError(f"rho = {rho} does not separate from the largest one of {rule}")
    return verdict.outcome is Outcome.HOLDS


def stopping_index(offers: Sequence[Round], rule: ConcentratedRule) -> float:
    """Return N for the parameters of some offers: the first n whose sums to n + 1 are too large.

    Decided through `largest_rho`, not through the formula that the rule evaluates.
    """
    for n in range(len(offers)):
        head = [offer for offer in offers[: n + 1] if isinstance(offer, ConcentratedRound)]
        rho, delta = (sum((getattr(o, name) for o in head), Fraction(0)) for name in ("rho", "delta"))
        if delta > rule.delta or not _fits(rho, rule):
            return n
    return inf


def _rounds_run(interaction: Interaction, rule: ConcentratedRule, transcript: tuple[Hashable, ...]) -> int:
    """Return how many rounds the filtered interaction runs along a path of the analyst."""
    state = rule.start()
    for n, outcome in enumerate(transcript):
        offer = interaction(transcript[:n])
        if offer is None or not rule.admits(state, offer):
            return n
        state = rule.spend(state, offer, outcome)
    return len(transcript)


@statement(
    ROGERS_2023,
    "privacy_filter",
    errata=(FIRST_MECHANISM_ALWAYS_RUNS,),
    examples=(
        {
            "interaction": chain(*[concentrated_response(Fraction(2))] * 3),
            "budget": Fraction(20),
            "slack_delta": Fraction(1, 100),
            "delta": Fraction(0),
        },
        {
            "interaction": chain(*[concentrated_leak(Fraction(1, 10))] * 2),
            "budget": Fraction(2),
            "slack_delta": Fraction(1, 100),
            "delta": Fraction(15, 100),
        },
    ),
    pins=(
        Pin(
            {
                "interaction": chain(*[concentrated_response(Fraction(2))] * 2),
                "budget": Fraction(20),
                "slack_delta": Fraction(1, 100),
                "delta": Fraction(0),
            },
            "log(2)/3 a round, and the budget in rho as a difference of roots",
            smaller=lambda: [rho_of_response(), 2 * rho_of_response()] * 4,
            larger=lambda: [rho_within(Fraction(20), Fraction(1, 100))] * 8,
            within=Fraction(1, 10**9),
        ),
    ),
)
def privacy_filter_is_a_stopping_time(
    interaction: Concentrated, budget: Budget, slack_delta: SlackDelta, delta: DeltaBudget
) -> Verdict:
    """N takes values in {0, 1, ..., infinity}, {N = n} depends on the outcomes of the first n rounds only, and along
    every path the filter that asks before it runs releases exactly min(N, length) rounds.
    """
    rule = ConcentratedRule(budget, slack_delta, delta)
    decided: dict[tuple[Hashable, ...], bool] = {}
    for branch in branches(interaction, AdmitEverything()):
        length = stopping_index(branch.rounds, rule)
        for n in range(len(branch.rounds)):
            prefix = branch.transcript[:n]
            if decided.setdefault(prefix, length == n) != (length == n):
                return Violated(evidence=Evidence.EXACT, detail=f"N = {n} is not decided by {prefix}")
        ran = _rounds_run(interaction, rule, branch.transcript)
        if ran != min(length, len(branch.rounds)):
            return Violated(evidence=Evidence.EXACT, detail=f"{ran} rounds ran, N = {length}: {branch.transcript}")
    return conjunction([Holds(evidence=Evidence.EXACT), _budget_is_solved(budget, slack_delta)])


def _budget_is_solved(budget: Fraction, slack_delta: Fraction) -> Verdict:
    """Decide that the rule's epsilon is the budget at the largest rho: the comparisons are of the same number."""
    needed: Real = lambda: concentrated_epsilon(largest_rho(budget, slack_delta), ball(slack_delta))
    return agree(needed, lambda: ball(budget).log(), "epsilon of the largest rho, and the budget")
