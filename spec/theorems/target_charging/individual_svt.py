"""The sparse vector technique with a counter for each record.

Chapter after Cohen and Lyu (2023), Alg 5, Thm 2.10 and Appendix H. Neighbours differ by one record more or less. A
query is released with noise if its noisy value reaches the threshold; every record that takes part in a released
query counts one, and is removed at tau. The paper tests f(x) > 0 without an index, and says f(x) = 1 in its prose:
records with any positive contribution must count.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Annotated

from flint import arb

from dpassay.spec.ball import at_most, ball
from dpassay.spec.domains.base import Choices, Integers
from dpassay.spec.interactions.charged_calls import not_prior_quality
from dpassay.spec.proof.figures import Figures
from dpassay.spec.proof.pins import Pin
from dpassay.spec.sources import COHEN_2023
from dpassay.spec.statement import Erratum, Severity, statement
from dpassay.spec.theorems.target_charging.composition import SlackDelta
from dpassay.spec.theorems.target_charging.holder_calls import Hits, Slack, chernoff_tail
from dpassay.spec.theorems.target_charging.main_theorem import advanced_epsilon_of_target_charging, delta_of_misses
from dpassay.spec.theorems.target_charging.one_shot_selection import ModerateExcess, leading_epsilon
from dpassay.spec.theorems.target_charging.second_derivations import (
    advanced_epsilon,
    misses_before_hits_delta,
    rare_hits_by_gamma,
)
from dpassay.spec.verdict import Evidence, Holds, Verdict, Violated, conjunction

__all__ = ["active_after", "rare_hits_delta", "threshold_at_the_value_delta"]


# --- Thm 2.10 -----------------------------------------------------------------------------------------------


def rare_hits_delta(hits: int, ratio: Fraction, epsilon: arb) -> arb:
    """Enclose the exact delta at epsilon of tau hits that are as rare as can be: thresholds far above all values.

    Number of queries times the chance of a hit tends to S, a Gamma(tau) variable of rate 1 on one side and rate
    e^epsilon_0 on the other; the loss is (e^epsilon_0 - 1) S - tau epsilon_0.
    """
    step, growth = ball(ratio).log(), ball(ratio)
    least = (epsilon + hits * step) / (growth - 1)
    return (_gamma_tail(hits, least) - epsilon.exp() * _gamma_tail(hits, growth * least)).max(arb(0))


def threshold_at_the_value_delta(hits: int, ratio: Fraction, epsilon: arb) -> arb:
    """Enclose the exact delta at epsilon of queries that count x alone, with the threshold 1, until tau hits.

    A hit has probability e^-epsilon_0/2 without x, 1/2 with it, and what is released has the loss -epsilon_0 whatever
    it is, as all of it lies above both values; a miss has the loss log(2 - e^-epsilon_0).
    """
    return delta_of_misses(hits, 1 / (2 * Fraction(ratio)), Fraction(1, 2), epsilon)


def _gamma_tail(shape: int, x: arb) -> arb:
    """Enclose Pr[Gamma(shape) > x] for a whole shape: fewer than `shape` events of a Poisson process by time x."""
    term = (-x).exp()
    total = term
    for j in range(1, shape):
        term = term * x / j
        total = total + term
    return total


def _within_theorem(hits: int, excess: Fraction, slack: Fraction, delta: Fraction) -> Verdict:
    ratio = 1 + Fraction(excess)

    def truth(family: Callable[[int, Fraction, arb], arb]) -> arb:
        calls = ball((1 + Fraction(slack)) * hits / not_prior_quality(ratio))
        return family(hits, ratio, advanced_epsilon_of_target_charging(calls, ball(ratio).log(), ball(delta)))

    return conjunction([
        at_most(partial(truth, family), lambda: ball(delta) + chernoff_tail(arb(hits), ball(slack)))
        for family in (rare_hits_delta, threshold_at_the_value_delta)
    ])  # fmt: skip


def _without_the_square(hits: int, excess: Fraction, slack: Fraction, delta: Fraction) -> Verdict:  # noqa: ARG001
    ratio, constant = 1 + Fraction(excess), 8

    def truth() -> arb:
        epsilon = leading_epsilon(arb(hits), ball(ratio).log(), -ball(delta).log(), arb(constant))
        return rare_hits_delta(hits, ratio, epsilon)

    return at_most(truth, lambda: ball(delta) + (-arb(hits) * arb(2).log() / constant).exp())


SQUARE_MISSING = Erratum(
    kind="false",
    severity=Severity.ERROR,
    location="Section 2.8, Theorem 2.10",
    printed_text="Thm 2.10 has O(sqrt(tau ln(1/delta)) epsilon) without the term of order tau epsilon^2: "
    "for fixed epsilon < 1 and large tau it fails for every constant",
    answer="The bound is meant where tau epsilon^2 is at most of the order of the other term.",
    consequence_of="approximate_dp_of_one_shot_top_k",
    witness={
        "hits": 2500,
        "excess": Fraction(146, 100),
        "slack": Fraction(1),
        "delta": Fraction(1, 10**6),
    },
    printed=_without_the_square,
    corrected=_within_theorem,
    figures=Figures(
        published=("0.2939 > 1.000e-6",),
        corrected=("1.420e-775 <= 1.000e-6", "6.446e-357 <= 1.000e-6"),
    ),
)


def _pinned_epsilon() -> arb:
    return advanced_epsilon(Fraction(27, 2), Fraction(2), HALF)


HALF = Fraction(1, 2)
_MANY_HITS = {"hits": 1000, "excess": Fraction(146, 100), "slack": Fraction(1), "delta": Fraction(1, 10**6)}


@statement(
    COHEN_2023,
    "individual_svt_privacy",
    errata=(SQUARE_MISSING,),
    cases=30,
    examples=(_MANY_HITS,),
    pins=(
        Pin(
            {"hits": 3, "excess": Fraction(1), "slack": HALF, "delta": HALF},
            "r = 27/2; an incomplete gamma function; tails of misses; alpha^2 tau/(2 (1 + alpha)) = 1/4",
            smaller=lambda: [
                rare_hits_by_gamma(3, Fraction(2), _pinned_epsilon()),
                misses_before_hits_delta(3, Fraction(1, 4), HALF, _pinned_epsilon()),
            ],
            larger=lambda: [ball(HALF) + ball(Fraction(-1, 4)).exp()] * 2,
        ),
    ),
)
def approximate_dp_of_individual_svt(hits: Hits, excess: ModerateExcess, slack: Slack, delta: SlackDelta) -> Verdict:
    """With tau hits for each record, epsilon < 1 and r = (1 + alpha) tau (e^epsilon + 1), the released values are
    (r epsilon^2/2 + epsilon sqrt(2 r ln(1/delta)), delta + delta*)-DP. (Against thresholds far above all values,
    where hits are as rare as they can be, and thresholds at the value with x, where misses tell the most.)
    """
    return _within_theorem(hits, excess, slack, delta)


# --- App H --------------------------------------------------------------------------------------------------

Query = frozenset[str]  # the records, by value, to which it contributes
Records = Annotated[
    tuple[str, ...],
    Choices("a data set with repeated records", (("a", "a", "b"), ("a",), ("b", "b", "c", "a"), (), ("a",) * 4)),
]
Added = Annotated[str, Choices("the record of the larger data set", ("a", "b", "c"))]
Queries = Annotated[
    tuple[Query, ...],
    Choices(
        "released queries, each given by whom it counts",
        tuple(
            tuple(frozenset(part) for part in queries.split())
            for queries in ("a a a a", "ab b a ab c", "abc abc abc", "a b c a b c a b", "b ab ab b a a")
        ),
    ),
]
FewHits = Annotated[int, Integers("tau", 1, 4, (1, 2, 4))]


def count_each_record(records: Sequence[str], query: Query, counts: dict[int, int]) -> None:
    """Count the hit of every record, by its place in the data set: one counter for each copy."""
    for place in counts:
        counts[place] += records[place] in query


def active_after(records: Sequence[str], queries: Sequence[Query], hits: int) -> list[tuple[tuple[int, int], ...]]:
    """Return, after each released query, the counters (place, count) of the records that are still in."""
    counts = dict.fromkeys(range(len(records)), 0)
    history = []
    for query in queries:
        count_each_record(records, query, counts)
        counts = {place: count for place, count in counts.items() if count < hits}
        history.append(tuple(sorted(counts.items())))
    return history


@statement(
    COHEN_2023,
    "individual_svt_proof",
    examples=({"records": ("a", "a", "b"), "added": "a", "queries": (frozenset("a"),) * 4, "hits": 3},),
)
def counters_of_the_others_agree(records: Records, added: Added, queries: Queries, hits: FewHits) -> Verdict:
    """Given the released outcomes, the counters of all other records are the same with and without a record x, also
    where copies of x are among them; x takes part in at most tau hits, and once it is removed the data sets agree.
    """
    larger, place = (*records, added), len(records)
    without, with_it = (active_after(data, queries, hits) for data in (records, larger))
    taken = 0
    for query, before, after in zip(queries, without, with_it, strict=True):
        others = tuple(entry for entry in after if entry[0] != place)
        if others != before:
            return Violated(evidence=Evidence.EXACT, detail=f"counters {before} without x, {others} with it")
        present = len(others) != len(after)
        taken += added in query and (present or taken < hits)
        if present != (taken < hits):
            return Violated(evidence=Evidence.EXACT, detail=f"x was removed after {taken} hits, not after {hits}")
    return Holds(evidence=Evidence.EXACT)
