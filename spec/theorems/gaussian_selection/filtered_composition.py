"""Self-reporting composition: mechanisms that report their cost afterwards, behind a filter.

Chapter after Lebensold, Precup and Balle (2024), Section 3.3 and Appendix B. A round has two guarantees: an
a-priori one, (epsilon_max, delta)-probabilistic DP, which decides whether it may run, and an ex-post bound per
outcome, which is what it is charged.

The paper gives the whole interaction the delta of one round. The bad rounds are those whose own loss makes them
the last, and each of them has its chance: delta accumulates, as 1 - prod(1 - delta_t), and the leak-or-nothing
mechanism attains that.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import prod
from typing import Annotated, Any

from flint import arb

from dpassay.lazy import sympy as sp
from dpassay.spec.ball import Exact, at_least, at_most, ball, exact, sum_balls
from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.domains.base import Integers, Reals
from dpassay.spec.interactions.filter_rules import SelfReportingRule
from dpassay.spec.interactions.transcripts import (
    AdaptiveInteractions,
    Analyst,
    Branch,
    FilterRule,
    Interaction,
    Round,
    both_loss_distributions,
    branches,
    chain,
    leak_or_nothing,
    loss_distribution,
    loss_distribution_of_branches,
    randomised_response,
    repeated,
    star_or_nothing,
    two_sided,
)
from dpassay.spec.proof.figures import Figures
from dpassay.spec.proof.pins import Pin
from dpassay.spec.proof.steps import Proof, all_of, checked, proof, prose
from dpassay.spec.proof.symbolic import identity
from dpassay.spec.rational import Ratio, at_most_exact, equal_exact, product, show_ratio
from dpassay.spec.sources import LEBENSOLD_2024
from dpassay.spec.statement import Erratum, Severity, statement
from dpassay.spec.verdict import Evidence, Holds, Verdict, Violated, conjunction

__all__ = ["accumulated_delta", "geometric_leak", "largest_accumulated_delta", "leaked_by_then"]

Adaptive = Annotated[
    Interaction, AdaptiveInteractions("an adaptive interaction of at most 4 rounds of finite mechanisms")
]
Budget = Annotated[
    Fraction,
    Reals("a budget e^epsilon", 1, 100, (2, 1, Fraction(3, 2), 3, 4, 6, Fraction(9, 2), 9, 50), logarithmic=True),
]
Leak = Annotated[
    Fraction,
    Reals(
        "a probability of a leak", Fraction(1, 10**9), 1, (Fraction(1, 10), Fraction(1, 10**5), 1), logarithmic=True
    ),
]
Rounds = Annotated[int, Integers("a number of rounds", 1, 10**6, (1, 2, 100, 10**5), logarithmic=True)]
FewRounds = Annotated[int, Integers("a number of rounds", 1, 60, (1, 2, 10))]


def accumulated_delta(deltas: Iterator[Fraction]) -> Fraction:
    """Return 1 - prod(1 - delta_t): the probability that some round goes wrong if each does independently."""
    return 1 - prod((1 - delta for delta in deltas), start=Fraction(1))


def largest_accumulated_delta(complete: list[Branch]) -> Fraction:
    """Return the largest accumulated delta over the transcripts: the delta of the corrected Thm 11 = Thm 19."""
    return max(accumulated_delta(offer.probabilistic_delta for offer in branch.rounds) for branch in complete)


def _filtered(analyst: Analyst, rule: FilterRule, budget: Fraction, delta: Fraction | None = None) -> Verdict:
    """Decide (log budget, delta)-probabilistic DP of a filtered interaction, and the DP that follows from it."""
    complete = list(branches(analyst, rule))
    distribution = loss_distribution_of_branches(iter(complete))
    allowed = largest_accumulated_delta(complete) if delta is None else delta
    what = f"beyond e^epsilon = {show_ratio(budget)}"
    return conjunction([
        at_most_exact(distribution.tail(budget), allowed, f"Pr[loss > epsilon] {what}"),
        at_most_exact(distribution.hockey_stick(budget), allowed, f"delta {what}").without_tightness(),
    ])  # fmt: skip


# --- Thm 11 = Thm 19 ----------------------------------------------------------------------------------------


def _leaks(delta: Fraction, rounds: int) -> Analyst:
    return repeated([leak_or_nothing(delta)] * rounds)


def _stars(delta: Fraction, ratio: Fraction, rounds: int) -> Analyst:
    return repeated([star_or_nothing(delta, ratio)] * rounds)


LEAK_OR_NOTHING = Erratum(
    kind="false",
    severity=Severity.ERROR,
    location="Section 3.3, Theorem 11, and Appendix A.3, Theorem 19",
    printed_text="Thm 11 keeps the delta of a single round for the whole: a mechanism that leaks the "
    "secret with probability delta, and otherwise nothing, is offered until it does",
    answer="Each round adds its delta: the guarantee is (epsilon, sum of delta_t), which needs a bound on the rounds.",
    witness={"delta": Fraction(1, 100), "rounds": 10, "budget": Fraction(2)},
    printed=lambda delta, rounds, budget: _filtered(_leaks(delta, rounds), SelfReportingRule(budget), budget, delta),
    corrected=lambda delta, rounds, budget: _filtered(_leaks(delta, rounds), SelfReportingRule(budget), budget),
    figures=Figures(
        published=("0.09562 > 0.01000", "0.09562 > 0.01000"),
        corrected=("0.09562 <= 0.09562", "0.09562 <= 0.09562"),
    ),
)
STAR_OR_NOTHING = Erratum(
    kind="false",
    severity=Severity.ERROR,
    location="Section 3.3, Theorem 11, and Appendix A.3, Theorem 19",
    printed_text="the same with finite losses: a star for the secret with probability delta, for its "
    "opposite with delta e^-L, otherwise nothing",
    answer="The same as for an unbounded loss.",
    consequence_of="probabilistic_dp_of_self_reporting_filter",
    witness={"delta": Fraction(1, 100), "ratio": Fraction(20), "rounds": 100, "budget": Fraction(7)},
    printed=lambda delta, ratio, rounds, budget: _filtered(
        _stars(delta, ratio, rounds), SelfReportingRule(budget), budget, delta
    ),
    corrected=lambda delta, ratio, rounds, budget: _filtered(
        _stars(delta, ratio, rounds), SelfReportingRule(budget), budget
    ),
    figures=Figures(
        published=("0.6210 > 0.01000", "0.4036 > 0.01000"),
        corrected=("0.6210 <= 0.6340", "0.4036 <= 0.6340"),
    ),
)


@statement(
    LEBENSOLD_2024,
    "fsrc_privacy",
    errata=(LEAK_OR_NOTHING, STAR_OR_NOTHING),
    examples=(
        {"interaction": chain(*[leak_or_nothing(Fraction(1, 10))] * 3), "budget": Fraction(2)},
        {"interaction": chain(*[star_or_nothing(Fraction(1, 10), Fraction(8))] * 3), "budget": Fraction(2)},
        {"interaction": chain(*[randomised_response(Fraction(2))] * 4), "budget": Fraction(4)},
    ),
    pins=(
        Pin(
            {"interaction": chain(*[leak_or_nothing(Fraction(1, 10))] * 3), "budget": Fraction(2)},
            "none of three leaks with probability 9^3/10^3",
            both=lambda: [Fraction(271, 1000)] * 4,
        ),
    ),
)
def probabilistic_dp_of_self_reporting_filter(interaction: Adaptive, budget: Budget) -> Verdict:
    """If round t is (epsilon_max,t, delta_t)-pDP and ex-post private given every prefix, the filtered interaction
    is (epsilon, 1 - prod(1 - delta_t))-pDP, hence DP, the product over the rounds of the worst path.

    Off the event that some round that ran lost more than its epsilon_max, the loss is at most the spend before
    the last round plus its epsilon_max, hence at most epsilon. Both rules, >= as printed and >, have it.
    """
    return conjunction(
        _filtered(interaction, SelfReportingRule(budget, halts_on_equality=strict), budget) for strict in (True, False)
    )


@statement(
    LEBENSOLD_2024,
    "fsrc_privacy",
    examples=(
        {
            "interaction": chain(*[leak_or_nothing(Fraction(1, 10))] * 4),
            "budget": Fraction(2),
            "delta": Fraction(271, 1000),
        },
    ),
    pins=(
        Pin(
            {
                "interaction": chain(*[leak_or_nothing(Fraction(1, 10))] * 4),
                "budget": Fraction(2),
                "delta": Fraction(271, 1000),
            },
            "none of three leaks with probability 9^3/10^3, and the fourth is refused",
            both=lambda: [Fraction(271, 1000)] * 2,
        ),
    ),
)
def approximate_dp_of_self_reporting_filter_with_delta_budget(
    interaction: Adaptive,
    budget: Budget,
    delta: Annotated[Fraction, Reals("a budget for delta", 0, 1, (0, Fraction(1, 10), Fraction(19, 100), 1))],
) -> Verdict:
    """A self-reporting filter that also refuses a round which would take 1 - prod(1 - delta_t) above delta is
    (epsilon, delta)-DP, however many rounds there are and however they are chosen.
    """
    return _filtered(interaction, SelfReportingRule(budget, delta), budget, delta)


LEAKS_ON_THE_LEFT = Round(FiniteDistribution.of(9, 1), FiniteDistribution.of(1, 0), Fraction(10, 9))
"""Tells with probability 1/10 that the input is the left one; silence speaks for the right one, 10 to 9."""


@statement(
    LEBENSOLD_2024,
    "fsrc_privacy",
    examples=({"interaction": chain(*[LEAKS_ON_THE_LEFT.mirror] * 3), "budget": Fraction(4, 3)},),
    pins=(
        Pin(
            {"interaction": chain(*[LEAKS_ON_THE_LEFT] * 3), "budget": Fraction(4, 3)},
            "two rounds, as (10/9)^3 exceeds 4/3: a leak with probability 19/100, and (10/9)^2 on the other side",
            smaller=lambda: [Fraction(19, 100), Fraction(19, 100), 0, 0],
            larger=lambda: [Fraction(19, 100)] * 4,
        ),
    ),
)
def self_reporting_filter_protects_both_orders(interaction: Adaptive, budget: Budget) -> Verdict:
    """If the ex-post bounds hold in both orders of the neighbours, and the a-priori deltas too, one filter, which does
    not know which of the two is the input, keeps (epsilon, 1 - prod(1 - delta_t)) in both orders.
    """
    complete = list(branches(two_sided(interaction), SelfReportingRule(budget)))
    allowed = largest_accumulated_delta(complete)
    return conjunction([
        at_most_exact(found, allowed, what).without_tightness()
        for each in both_loss_distributions(complete)
        for found, what in ((each.tail(budget), "Pr[loss > epsilon]"), (each.hockey_stick(budget), "delta"))
    ])  # fmt: skip


def leaked_by_then(deltas: list[arb]) -> arb:
    """Enclose 1 - prod(1 - delta_t), stable for tiny deltas."""
    if any(delta.contains(1) for delta in deltas):
        return arb(1) if any(delta == 1 for delta in deltas) else arb.nan()
    return -sum_balls((-delta).log1p() for delta in deltas).expm1()


def _first_leaks(delta: Exact, rounds: int) -> arb:
    """Enclose the geometric sum of Pr[the first leak is in round t], in closed form (proved below)."""
    p = ball(exact("delta", delta))
    return arb(1) if p == 1 else -(rounds * (-p).log1p()).expm1()


@statement(LEBENSOLD_2024, "fsrc_privacy")
def self_reporting_filter_delta_is_attained(delta: Leak, rounds: FewRounds, budget: Budget) -> Verdict:
    """For N rounds of leak-or-nothing the exact delta of the filtered interaction equals 1 - (1 - delta)^N at
    every epsilon > 0 (epsilon = 0 admits nothing): the corrected theorem is tight.
    """
    distribution = loss_distribution([leak_or_nothing(Fraction(delta))] * rounds, SelfReportingRule(budget))
    expected = accumulated_delta(iter([Fraction(delta)] * rounds)) if budget > 1 else Fraction(0)
    return conjunction([
        equal_exact(distribution.hockey_stick(budget), expected, "delta"),
        equal_exact(distribution.tail(budget), expected, "Pr[loss > epsilon]"),
    ])  # fmt: skip


# --- no hyperparameters -------------------------------------------------------------------------------------


def _constant_delta_is_kept(delta: Fraction, rounds: int) -> Verdict:
    return at_most(lambda: _first_leaks(delta, rounds), lambda: ball(delta))


def _summable_delta_is_kept(delta: Fraction, rounds: int) -> Verdict:
    total = delta * Fraction(rounds, rounds + 1)
    shares = [delta / (t * (t + 1)) for t in range(1, rounds + 1)]

    def truth() -> arb:
        return leaked_by_then([ball(share) for share in shares])

    return conjunction([
        at_most(truth, lambda: ball(delta)),
        at_least(truth, lambda: ball(total - total**2 / 2)).without_tightness(),
    ])  # fmt: skip


ROUNDS_MATTER = Erratum(
    kind="false",
    severity=Severity.INTERPRETATION,
    location="Section 1, Contributions, and Section 3.3: neither the number of releases nor that of "
    "queries is needed up front",
    printed_text="neither the number of releases nor of queries has to be fixed beforehand: with the same "
    "delta in every round the delta of the whole grows to 1 with their number",
    answer="True with deltas whose sum is bounded beforehand.",
    consequence_of="probabilistic_dp_of_self_reporting_filter",
    witness={"delta": Fraction(1, 10**5), "rounds": 10**5},
    printed=_constant_delta_is_kept,
    corrected=_summable_delta_is_kept,
    figures=Figures(
        published=("0.6321 > 1.000e-5",),
        corrected=("1.000e-5 <= 1.000e-5", "1.000e-5 <= 1.000e-5"),
    ),
)


@statement(
    LEBENSOLD_2024,
    "fsrc_no_hyperparameters",
    errata=(ROUNDS_MATTER,),
    pins=(
        Pin(
            {"delta": Fraction(1, 2), "rounds": 2},
            "shares 1/4 and 1/12, sum 1/3: 1 - 3/4 * 11/12, and 1/3 - 1/18",
            smaller=lambda: [Fraction(5, 16), Fraction(5, 18)],
            larger=lambda: [Fraction(1, 2), Fraction(5, 16)],
        ),
    ),
)
def summable_deltas_need_no_number_of_rounds(
    delta: Leak, rounds: Annotated[int, Integers("a number of rounds", 1, 2000, (1, 2, 2000), logarithmic=True)]
) -> Verdict:
    """With delta_t = delta / (t (t + 1)), which sum to delta, leak-or-nothing (which attains the accumulated
    delta) stays (epsilon, delta)-private for every number of rounds; and the guarantee is used up in the end.

    The last part says that sum delta_t - 1 + prod(1 - delta_t) is at most (sum delta_t)^2 / 2.
    """
    return _summable_delta_is_kept(Fraction(delta), rounds)


def geometric_leak(survival: Any, rounds: Any) -> Any:
    """Return 1 - survival^rounds, for sympy expressions: the probability of a leak in that number of equal rounds."""
    return 1 - survival**rounds


SUMMABLE_SHARES: tuple[Callable[[Any], Any], ...] = (
    lambda t: 6 / (sp.pi * t) ** 2,
    lambda t: 1 / (t * (t + 1)),
)
"""Shares of delta for round t that need no number of rounds, as sympy expressions."""


@statement(LEBENSOLD_2024, "fsrc_no_hyperparameters")
def constant_deltas_accumulate() -> Proof:
    """For leak-or-nothing the filtered delta is sum_{t <= N} delta (1 - delta)^(t-1) = 1 - (1 - delta)^N, which
    grows to 1: a constant delta needs a number of rounds; delta_t = 6 delta / (pi t)^2 and
    delta / (t (t + 1)) sum to delta and need none.
    """
    n = sp.Symbol("N", positive=True, integer=True)
    survival = sp.exp(-sp.Symbol("h", positive=True))  # any number between 0 and 1: delta = 1 - survival
    shares = [
        checked(f"sum of {share(n)}", f"{share(n)} sums to 1.", identity, sp.summation(share(n), (n, 1, sp.oo)), 1)
        for share in SUMMABLE_SHARES
    ]
    return proof(
        checked("start", "Nothing leaks in no rounds.", identity, geometric_leak(survival, sp.Integer(0)), 0),
        checked(
            "next round",
            "Round N + 1 leaks first with probability delta (1 - delta)^N.",
            identity,
            geometric_leak(survival, n + 1) - geometric_leak(survival, n),
            (1 - survival) * survival**n,
        ),
        prose(
            "sum",
            "sum_{t <= N} delta (1 - delta)^(t-1) = 1 - (1 - delta)^N, by induction.",
            given=["start", "next round"],
        ),
        checked(
            "limit", "It tends to 1.", identity, sp.limit(geometric_leak(survival, n), n, sp.oo), 1, given=["sum"]
        ),
        *shares,
        all_of("constant deltas accumulate, summable ones do not", "limit", *(step.name for step in shares)),
    )


# --- Alg 2 = Alg 4 ------------------------------------------------------------------------------------------


def _spends(branch: Branch) -> list[Ratio]:
    """Return e^spend before each round and after the last."""
    charges = (offer.charge(outcome) for offer, outcome in zip(branch.rounds, branch.transcript, strict=True))
    spends: list[Ratio] = [Fraction(1)]
    for charge in charges:
        spends.append(product(spends[-1], charge))
    return spends


def _obeys(branch: Branch, budget: Fraction) -> bool:
    """Return whether every round that ran was within the budget beforehand, and a refused one was not."""
    spends = _spends(branch)
    ran = all(product(spent, offer.ratio_max) < budget for spent, offer in zip(spends, branch.rounds, strict=False))
    return ran and (branch.refused is None or product(spends[-1], branch.refused.ratio_max) >= budget)


@statement(
    LEBENSOLD_2024,
    "fsrc_filter",
    examples=(
        {"interaction": chain(*[randomised_response(Fraction(2))] * 4), "budget": Fraction(4)},
        {"interaction": chain(*[randomised_response(Fraction(3))] * 2), "budget": Fraction(3)},
        {"interaction": chain(*[leak_or_nothing(Fraction(1, 2))] * 2), "budget": Fraction(2)},
    ),
)
def self_reporting_filter_halts_before_it_runs(interaction: Adaptive, budget: Budget) -> Verdict:
    """Round t runs if and only if S_{t-1} + epsilon_max,t < epsilon, S being the sum of the ex-post bounds of the
    released outcomes; so the spend before the last round never reaches epsilon, an infinite charge is the last, and
    every transcript of the rule that halts on >= begins one of the rule that halts on >.
    """
    complete = list(branches(interaction, SelfReportingRule(budget)))
    for branch in complete:
        if not _obeys(branch, budget):
            return Violated(
                evidence=Evidence.EXACT, detail=f"{branch.transcript} ran past its budget or stopped early"
            )
    lenient = {
        branch.transcript for branch in branches(interaction, SelfReportingRule(budget, halts_on_equality=False))
    }
    for branch in complete:
        k = len(branch.transcript)
        if not any(other[:k] == branch.transcript for other in lenient):
            return Violated(evidence=Evidence.EXACT, detail=f"{branch.transcript} is impossible under the rule with >")
    return Holds(evidence=Evidence.EXACT)
