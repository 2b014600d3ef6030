"""Ex-post private mechanisms in sequence: the sums of their bounds and deltas.

Chapter after Rogers, Samorodnitsky, Wu and Ramdas (2023), Def 4.1, Lemma 5.1, the claim after it and Remark 1. A
mechanism is (E, delta)-ex-post private if Pr[L(y) > E(y)] <= delta, strictly more; E is a function of the outcome.
"""

from collections.abc import Hashable, Iterable, Mapping
from fractions import Fraction
from functools import partial
from math import prod

from dpassay.spec.distributions.discrete import FiniteDistribution, least_delta
from dpassay.spec.interactions.adaptive_rounds import (
    ExPostRound,
    ex_post,
    ex_post_leak,
    ex_post_response,
    levels_of,
)
from dpassay.spec.interactions.budget_rules import AdmitEverything, ExPostRule
from dpassay.spec.interactions.transcripts import Branch, Interaction, branches, chain
from dpassay.spec.proof.figures import Figures
from dpassay.spec.proof.pins import Pin
from dpassay.spec.proof.steps import Proof, all_of, computed, proof
from dpassay.spec.rational import Ratio, at_most_exact, equal_exact, product
from dpassay.spec.sources import ROGERS_2023
from dpassay.spec.statement import Erratum, Severity, statement
from dpassay.spec.theorems.accuracy_first.parameters import Budget, DeltaBudget, ExPostPrivate
from dpassay.spec.verdict import Scope, Verdict, conjunction

__all__ = ["composed_delta", "constant_deltas", "excess_probability", "merged"]


def composed_delta(deltas: Iterable[Fraction]) -> Fraction:
    """Return 1 - prod(1 - delta_n): each delta_n bounds a failure *given* any history, so survivals multiply."""
    return 1 - prod((1 - delta for delta in deltas), start=Fraction(1))


def constant_deltas(interaction: Interaction) -> list[Fraction]:
    """Return the fixed delta_n of Lemma 5.1: the largest of the offers in round n."""
    return [
        max(offer.delta for offer in offers if isinstance(offer, ExPostRound)) for offers in levels_of(interaction)
    ]


def _sum_of_bounds(branch: Branch) -> Ratio:
    """Return e^(sum of the bounds at the realised outcomes)."""
    total: Ratio = Fraction(1)
    for offer, outcome in zip(branch.rounds, branch.transcript, strict=True):
        total = product(total, offer.charge(outcome))
    return total


def excess_probability(interaction: Interaction, *, strictly: bool = True, reverse: bool = False) -> Fraction:
    """Return Pr[L > sum of E_n], or Pr[L >= ...], under the left data set, or in the reverse order of the pair."""
    total = Fraction(0)
    for branch in branches(interaction, AdmitEverything()):
        bound = _sum_of_bounds(branch)
        own, other = (branch.right, branch.left) if reverse else (branch.left, branch.right)
        if own and isinstance(bound, Fraction):
            total += own if own > bound * other or (not strictly and own == bound * other) else 0
    return total


def _response_with_equality(ratio: Fraction) -> Verdict:
    reached = excess_probability(Interaction(ex_post_response(ratio)), strictly=False)
    return at_most_exact(reached, Fraction(0), "Pr[L >= E]")


def _response_strictly(ratio: Fraction) -> Verdict:
    return at_most_exact(excess_probability(Interaction(ex_post_response(ratio))), Fraction(0), "Pr[L > E]")


EQUALITY_COUNTED = Erratum(
    kind="proof",
    severity=Severity.MINOR,
    location="Section 5, proof of Lemma 5.1, first and last inequality",
    printed_text="the proof bounds Pr[L_i >= E_i] by delta_i and ends with Pr[L >= sum of E_i]; the "
    "definition bounds Pr[L > E] only, and randomised response attains its bound with probability e/(1 + e)",
    answer="The strict inequality is meant, as in Definition 4.1 and in the middle of the proof.",
    witness={"ratio": Fraction(3)},
    printed=_response_with_equality,
    corrected=_response_strictly,
    figures=Figures(published=("0.7500 > 0",), corrected=("0 <= 0",)),
)


@statement(
    ROGERS_2023,
    "ex_post_basic_composition",
    "ex_post_private",
    errata=(EQUALITY_COUNTED,),
    examples=({"interaction": chain(*[ex_post_leak(Fraction(1, 10))] * 2)},),
    pins=(
        Pin(
            {"interaction": chain(*[ex_post_leak(Fraction(1, 10))] * 2)},
            "1 - (9/10)^2 against 2/10",
            smaller=lambda: [Fraction(19, 100)] * 3,
            larger=lambda: [Fraction(19, 100)] * 2 + [Fraction(1, 5)],
        ),
    ),
)
def ex_post_bounds_and_deltas_add(interaction: ExPostPrivate) -> Verdict:
    """If A_n is (E_n, delta_n)-ex-post private given every prefix, with fixed delta_n, then A_1, ..., A_m are
    (sum of E_n at the realised outcomes, 1 - prod(1 - delta_n))-ex-post private; printed is the sum of the delta_n.
    """
    deltas = constant_deltas(interaction)
    excess = (excess_probability(interaction, reverse=reverse) for reverse in (False, True))
    return conjunction([
        *(at_most_exact(each, composed_delta(deltas), "Pr[L > sum of E]") for each in excess),
        at_most_exact(composed_delta(deltas), sum(deltas, Fraction(0)), "the product form").without_tightness(),
    ])  # fmt: skip


def _leaks(delta: Fraction, rounds: int) -> Fraction:
    return excess_probability(chain(*[ex_post_leak(delta)] * rounds))


SUM_OF_DELTAS_IS_NEVER_ATTAINED = Erratum(
    kind="false",
    severity=Severity.INTERPRETATION,
    location="Section 5, the sentences after the proof of Lemma 5.1",
    printed_text="basic composition is said to be not improvable; read for the sum of the deltas it is "
    "not attained, since each delta_n bounds the failure given every history: two rounds of 0.1 fail with "
    "probability 0.19, not 0.2",
    answer="The sentence speaks of the sum of the bounds E_i, which is attained; nothing is said of the deltas.",
    witness={"delta": Fraction(1, 10), "rounds": 2},
    printed=lambda delta, rounds: equal_exact(_leaks(delta, rounds), rounds * delta, "Pr[L > sum of E] of leaks"),
    corrected=lambda delta, rounds: equal_exact(
        _leaks(delta, rounds), composed_delta([delta] * rounds), "Pr[L > sum of E] of leaks"
    ),
    figures=Figures(published=("0.1900 != 0.2000",), corrected=("0.1900 = 0.1900",)),
)


@statement(ROGERS_2023, "basic_composition_not_improvable_claim", errata=(SUM_OF_DELTAS_IS_NEVER_ATTAINED,))
def ex_post_composition_is_attained() -> Proof:
    """Neither part of the corrected composition can be improved: where all responses agree the sum of the E_n is the
    loss itself (E_n the modulus of the loss, as it may not depend on the order of the data sets), and leaks fail
    with probability 1 - prod(1 - delta_n).
    """
    ratios = (Fraction(2), Fraction(3), Fraction(3, 2))
    agreeing = next(
        branch
        for branch in branches(chain(*map(ex_post_response, ratios)), AdmitEverything())
        if branch.transcript == (0, 0, 0)
    )
    deltas = [Fraction(1, 10), Fraction(1, 3), Fraction(1, 20)]
    return proof(
        computed(
            "agreeing responses",
            "For responses of ratios 2, 3 and 3/2 that agree, the loss is the sum of the bounds.",
            lambda: equal_exact(agreeing.left / agreeing.right, _sum_of_bounds(agreeing), "loss and bound"),
            scope=Scope.ALL,
        ),
        computed(
            "leaks",
            "Leaks with delta 1/10, 1/3 and 1/20 fail with probability 1 - prod(1 - delta_n).",
            lambda: equal_exact(
                excess_probability(chain(*map(ex_post_leak, deltas))), composed_delta(deltas), "leaks"
            ),
            scope=Scope.ALL,
        ),
        computed(
            "sharper",
            "The product form is below the sum: ten leaks of 1/20 stay below 1/2.",
            lambda: equal_exact(composed_delta([Fraction(1, 20)] * 10) < Fraction(1, 2), True, "the product form"),
            scope=Scope.ALL,
        ),
        all_of("no part can be improved", "agreeing responses", "leaks", "sharper"),
    )


# --- post-processing ----------------------------------------------------------------------------------------


def merged(weights: FiniteDistribution, cells: Mapping[Hashable, Hashable]) -> FiniteDistribution:
    """Return the distribution after merging outcomes into cells; outcomes that are not listed stay."""
    image: dict[Hashable, Fraction] = {}
    for outcome, weight in weights.weights.items():
        cell = cells.get(outcome, outcome)
        image[cell] = image.get(cell, Fraction(0)) + weight
    return FiniteDistribution(image)


@statement(ROGERS_2023, "ex_post_no_post_processing", "ex_post_private")
def ex_post_privacy_does_not_survive_post_processing() -> Proof:
    """(log 3, 1/100)-ex-post privacy, with a constant bound, is lost by merging two outcomes: P = (.01, .6, .39),
    Q = (0, .2, .8) fails with probability .01 (the first outcome), and the union of the first two, whose ratio
    is 61/20 > 3, with probability .61.
    """
    left = FiniteDistribution({"a": Fraction(1, 100), "b": Fraction(60, 100), "c": Fraction(39, 100)})
    right = FiniteDistribution({"a": Fraction(0), "b": Fraction(20, 100), "c": Fraction(80, 100)})
    constant: dict[Hashable, Ratio] = dict.fromkeys((*left.outcomes, "ab"), Fraction(3))
    before = ex_post(left, right, constant)
    cells: dict[Hashable, Hashable] = {"a": "ab", "b": "ab"}
    after = ex_post(merged(left, cells), merged(right, cells), constant)
    return proof(
        computed(
            "before",
            "With the constant bound log 3 the pair has delta 1/100.",
            lambda: equal_exact(before.delta, Fraction(1, 100), "delta before merging"),
            scope=Scope.ALL,
        ),
        computed(
            "after",
            "After merging the first two outcomes it has delta 61/100.",
            lambda: equal_exact(after.delta, Fraction(61, 100), "delta after merging"),
            scope=Scope.ALL,
        ),
        all_of("lost by merging", "before", "after"),
    )


def _four_times(delta: Fraction) -> list[Fraction]:
    return [delta] * 4


@statement(
    ROGERS_2023,
    "ex_post_no_post_processing",
    cases=25,
    examples=(
        {"interaction": chain(*[ex_post_response(Fraction(3))] * 3), "budget": Fraction(9), "delta": Fraction(0)},
    ),
    pins=tuple(
        Pin(
            {
                "interaction": chain(*[ex_post_response(Fraction(3))] * 3),
                "budget": Fraction(9),
                "delta": delta,
            },
            "two of three responses with odds 3 fit: no ratio exceeds 9",
            smaller=lambda: [0] * 4,
            larger=partial(_four_times, delta),
        )
        for delta in (Fraction(0), Fraction(1, 10))
    ),
)
def filtered_transcript_survives_post_processing(
    interaction: ExPostPrivate, budget: Budget, delta: DeltaBudget
) -> Verdict:
    """The complete transcript behind an ex-post filter is (epsilon, delta)-DP, and so is any function of it: of the
    number of rounds, of the last outcome, of the sum of the bounds.
    """
    complete = list(branches(interaction, ExPostRule(budget, delta)))
    verdicts = [_image_is_private(complete, image, budget, delta) for image in IMAGES.values()]
    return conjunction(verdicts)


IMAGES = {
    "the number of rounds": lambda branch: len(branch.transcript),
    "the answers without their order": lambda branch: tuple(sorted(map(str, branch.transcript))),
    "the last outcome": lambda branch: branch.transcript[-1:],
    "the sum of the bounds": _sum_of_bounds,
}


def _image_is_private(complete: list[Branch], image: object, budget: Fraction, delta: Fraction) -> Verdict:
    assert callable(image)
    left: dict[Hashable, Fraction] = {}
    right: dict[Hashable, Fraction] = {}
    for branch in complete:
        cell = image(branch)
        left[cell] = left.get(cell, Fraction(0)) + branch.left
        right[cell] = right.get(cell, Fraction(0)) + branch.right
    found = least_delta(FiniteDistribution(left), FiniteDistribution(right), budget)
    return at_most_exact(found, delta, "delta of a function of the transcript")
