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

from dpassay.spec.adaptive_rounds import ConcentratedRound, concentrated_leak, concentrated_response, rho_of_ratio
from dpassay.spec.ball import at_most, ball
from dpassay.spec.budget_rules import AdmitEverything, ConcentratedRule, within_concentrated_budget
from dpassay.spec.interactions import Interaction, Round, branches, chain
from dpassay.spec.rational import at_most_exact
from dpassay.spec.sources import ROGERS_2023
from dpassay.spec.statement import Erratum, statement
from dpassay.spec.theorems.accuracy_first.parameters import (
    Budget,
    Concentrated,
    ConversionDelta,
    DeltaBudget,
    SlackDelta,
    filtered_law,
    filtered_loss,
)
from dpassay.spec.theorems.gaussian_selection.fully_adaptive_filter import LossPerRound, binomial_hockey_stick
from dpassay.spec.verdict import Evidence, Holds, Verdict, Violated

__all__ = ["concentrated_run_length", "stopping_index"]

# --- Thm 2 --------------------------------------------------------------------------------------------------


class _AtLeastOneRound(ConcentratedRule):
    """The print read literally: N is an infimum over n >= 1, so that the first mechanism always runs."""

    def admits(self, state: tuple[Fraction, Fraction], offer: Round) -> bool:
        return state == self.start() or super().admits(state, offer)


def _responses(ratio: Fraction, rounds: int, rule: ConcentratedRule, promised: Fraction) -> Verdict:
    offers = [concentrated_response(ratio)] * rounds
    return at_most_exact(filtered_loss(offers, rule, rule.budget), promised, "delta")


FIRST_MECHANISM_ALWAYS_RUNS = Erratum(
    kind="false",
    printed_text="N is an infimum over n with values in the integers, and nothing says that it may be 0 (or "
    "infinite): a first mechanism that alone exceeds the budget would be released",
    witness={"ratio": Fraction(1000), "budget": Fraction(3), "slack_delta": Fraction(1, 10**6)},
    printed=lambda ratio, budget, slack_delta: _responses(
        ratio, 1, _AtLeastOneRound(budget, slack_delta), slack_delta
    ),
    corrected=lambda ratio, budget, slack_delta: _responses(
        ratio, 1, ConcentratedRule(budget, slack_delta), slack_delta
    ),
    item="privacy_filter",
)

DELTA_OF_THE_CONCENTRATION_DROPPED = Erratum(
    kind="false",
    printed_text="the last sentence calls N an (epsilon, delta)-privacy filter, delta being the budget of the sum of "
    "the delta_n; the delta'' that pays for the concentration is dropped: with delta = 0 that would be pure privacy",
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
)
def approximate_dp_of_zcdp_filter(
    interaction: Concentrated, budget: Budget, slack_delta: SlackDelta, delta: DeltaBudget
) -> Verdict:
    """If A_n is delta_n-approximate rho_n-zCDP given every prefix, with parameters chosen adaptively, the released
    A_1, ..., A_N are (epsilon, delta + delta'')-DP, delta the budget of the delta_n and delta'' the slack.
    """
    rule = ConcentratedRule(budget, slack_delta, delta)
    return at_most_exact(filtered_law(interaction, rule).hockey_stick(budget), rule.total_delta, "delta")


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


def stopping_index(offers: Sequence[Round], rule: ConcentratedRule) -> float:
    """Return N for the parameters of some offers by its definition: the first n whose sums to n + 1 are too large."""
    for n in range(len(offers)):
        head = [offer for offer in offers[: n + 1] if isinstance(offer, ConcentratedRound)]
        rho, delta = (sum((getattr(o, name) for o in head), Fraction(0)) for name in ("rho", "delta"))
        if delta > rule.delta or not within_concentrated_budget(rho, rule.budget, rule.slack_delta):
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
    return Holds(evidence=Evidence.EXACT)
