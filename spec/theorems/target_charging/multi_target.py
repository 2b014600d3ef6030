"""Several targets at once: a counter each, and a factor in delta.

Chapter after Cohen and Lyu (2023), Alg 8, Lem 2.7 and the remark of Section 2.5. The run halts when the counter that
is hit least reaches tau. The proof drops the transcripts that are complete for no single target; there are none if a
run that the analyst ends is complete for every target that is still below tau.
"""

from fractions import Fraction
from typing import Annotated

from dpassay.spec.domains.base import Choices, Integers, Reals
from dpassay.spec.interactions.charged_calls import ChargedInteractions, ChargedRound, ChargingRule, charged_delta
from dpassay.spec.interactions.charged_calls import two_target_response as response
from dpassay.spec.interactions.transcripts import Analyst, Interaction, Round, Transcript, branches, chain, repeated
from dpassay.spec.proof.pins import Pin
from dpassay.spec.rational import at_most_exact
from dpassay.spec.sources import COHEN_2023
from dpassay.spec.statement import statement
from dpassay.spec.verdict import Evidence, Holds, Verdict, Violated

__all__ = ["only_target", "orientations"]

TwoTargets = Annotated[
    Interaction, ChargedInteractions("an adaptive tree of at most 5 private tests, both answers targets", counters=2)
]
FewHits = Annotated[int, Integers("tau", 1, 3, (1, 2))]
Budget = Annotated[
    Fraction, Reals("a ratio e^epsilon'", 1, 100, (1, 3, 9, Fraction(3, 2), 2), logarithmic=True)
]  # fmt: skip
Pattern = Annotated[
    str, Choices("which tests are mirrored", ("....", ".x.x.x.x.x", "xx..xx..xx", ".........x", "x..x.x.xx.x"))
]  # fmt: skip


HALF = Fraction(1, 2)


def only_target(analyst: Analyst, index: int) -> Analyst:
    """Return the same analyst with one target of each call."""

    def offers(transcript: Transcript) -> Round | None:
        offer = analyst(transcript)
        if not isinstance(offer, ChargedRound):
            return offer
        return ChargedRound(offer.left, offer.right, offer.ratio_max, offer.charges, (offer.targets[index],))

    return offers


def orientations(pattern: str, ratio: Fraction) -> Analyst:
    """Return the analyst that asks a fixed sequence of tests, mirrored where the pattern has an x."""
    return repeated([response(ratio, mirrored=mark == "x") for mark in pattern])


def _sum_of_single_deltas(analyst: Analyst, hits: int, budget: Fraction) -> Fraction:
    return sum((charged_delta(only_target(analyst, i), ChargingRule(hits), budget) for i in range(2)), Fraction(0))


@statement(
    COHEN_2023,
    "multi_target_privacy",
    cases=60,
    pins=(
        Pin(
            {"interaction": chain(*[response(Fraction(3))] * 2), "hits": 1, "budget": Fraction(1)},
            "two tests at 1/4 and 3/4: total variation 1/2, with both targets and with each",
            smaller=lambda: HALF,
            larger=lambda: 1,
        ),
        Pin(
            {"interaction": chain(*[response(Fraction(3))] * 2), "hits": 2, "budget": Fraction(3)},
            "both answers alike, to the side of the answer: (9 - 3)/16, with both targets and with each",
            smaller=lambda: Fraction(3, 8),
            larger=lambda: Fraction(3, 4),
        ),
    ),
)
def delta_of_several_targets(interaction: TwoTargets, hits: FewHits, budget: Budget) -> Verdict:
    """If charging any single one of k targets is (epsilon', delta')-DP, charging all and halting at the last is
    (epsilon', k delta')-DP: at every epsilon', the exact delta is at most the sum over the targets of those of the
    same analyst, charged for that target alone.
    """
    truth = charged_delta(interaction, ChargingRule(hits, counters=2), Fraction(budget))
    return at_most_exact(truth, _sum_of_single_deltas(interaction, hits, Fraction(budget)), "delta")


@statement(
    COHEN_2023,
    "multi_target_charging",
    "best_of_targets_cost",
    examples=({"pattern": ".x.x.x.x.x", "ratio": Fraction(3), "hits": 3},),
)
def run_with_both_answers_lasts_until_the_rarer(pattern: Pattern, ratio: Budget, hits: FewHits) -> Verdict:
    """With both answers of private tests for targets, a run goes on while the rarer answer was given fewer than tau
    times, and not a call longer: the analyst need not know beforehand which answer is rare.
    """
    rule = ChargingRule(hits, counters=2)
    for branch in branches(orientations(pattern, ratio), rule):
        rarer = [
            min(branch.transcript[:n].count(answer) for answer in ("hit", "miss")) for n in range(len(pattern) + 1)
        ]
        lasted = next((n for n, count in enumerate(rarer) if count >= hits), len(pattern))
        if len(branch.transcript) != lasted:
            detail = f"{branch.transcript} has {len(branch.transcript)} calls, {lasted} expected"
            return Violated(evidence=Evidence.EXACT, detail=detail)
    return Holds(evidence=Evidence.EXACT)
