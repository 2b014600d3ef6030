"""Adaptive composition of pure and bounded-range mechanisms: the recursion for the optimal delta.

Chapter after Cesar and Rogers (2020), Lemma 5.1, with the closed form for one bounded-range mechanism. Whatever was
released, the next pair is dominated by a response RR_{epsilon,t}, whose t the analyst chooses from the history; what
remains is judged at epsilon_g minus the loss.
"""

from fractions import Fraction
from typing import Annotated

from flint import arb

from dpassay.spec.distributions.generalized_randomized_response import hinge
from dpassay.spec.domains.base import Choices, Integers
from dpassay.spec.interactions.mechanism_classes import (
    ClassedInteraction,
    ClassedInteractions,
    ClassSequence,
    ClassSequences,
    LatticeBatch,
    MechanismClass,
    adaptive_delta,
    batch_delta,
    bounded_range,
    interaction_delta,
    pure,
    worst_interaction,
)
from dpassay.spec.interactions.transcripts import mirrored
from dpassay.spec.proof.figures import Figures
from dpassay.spec.proof.pins import Pin
from dpassay.spec.rational import at_most_exact, below_exact, equal_exact
from dpassay.spec.sources import CESAR_2020
from dpassay.spec.statement import Erratum, Severity, statement
from dpassay.spec.theorems.composition.mixed_batch import optimal_mixed_delta
from dpassay.spec.theorems.composition.second_derivations import (
    Masses,
    best_batch_delta,
    best_plan_delta,
    bounded_range_masses,
    response_masses,
)
from dpassay.spec.verdict import Verdict, conjunction

__all__ = ["bounded_range_delta", "bounded_range_delta_enclosed"]

Sequence = Annotated[ClassSequence, ClassSequences("pure and bounded-range classes on a lattice")]
Short = Annotated[ClassSequence, ClassSequences("pure and bounded-range classes on a lattice", 3, 3)]
Interaction = Annotated[
    ClassedInteraction, ClassedInteractions("an adaptive interaction of pure and bounded-range mechanisms")
]
Base = Annotated[
    Fraction,
    Choices("the base of the lattice", tuple(map(Fraction, ("2", "3/2", "5/4", "11/10", "21/20", "101/100", "3")))),
]


def _worst_member(sequence: ClassSequence) -> ClassedInteraction:
    worst = worst_interaction(sequence.base, sequence.classes, sequence.level)
    assert worst is not None  # a sequence holds at least one class
    return ClassedInteraction(sequence, worst)


ONE = ClassSequence(Fraction(3, 2), (bounded_range(4),), 2)


@statement(
    CESAR_2020,
    "adaptive_delta_recursion",
    examples=({"member": _worst_member(ONE)},),
    cases=60,
    pins=(
        Pin(
            {"member": _worst_member(ONE)},
            "the response 27/65, 8/65 at e^epsilon_g = 9/4",
            smaller=lambda: [Fraction(9, 65), 0],  # in the other order no loss exceeds epsilon/4
            larger=lambda: [Fraction(9, 65)] * 2,
        ),
    ),
)
def adaptive_interactions_stay_below_the_recursion(member: Interaction) -> Verdict:
    """Mechanisms of given classes in a given order, chosen adaptively and on neighbours in either order, have at every
    epsilon_g, negative ones included, at most the delta of the recursion.

    Decided for post-processed responses with t on the lattice, against the recursion with t on the same lattice: the
    hockey-stick divergences of the whole transcript, in both orders.
    """
    sequence = member.sequence
    bound = adaptive_delta(sequence.base, sequence.classes, sequence.level)
    return conjunction([
        at_most_exact(interaction_delta(each, sequence.budget), bound, "delta of the interaction")
        for each in (member.interaction, mirrored(member.interaction))
    ])  # fmt: skip


def _known_for_positive_levels(base: Fraction, classes: tuple[MechanismClass, ...], level: int) -> Fraction:
    """Evaluate the recursion with nothing but delta <= 1 known at epsilon_g <= 0, as printed."""
    if not classes:
        return Fraction(hinge(1 - base**level))
    if level <= 0:
        return Fraction(1)
    first, rest = classes[0], classes[1:]
    values = []
    for top in first.tops:
        keep = (base**first.reach - base**top) / (base**first.reach - 1)
        after = [_known_for_positive_levels(base, rest, level + gone) for gone in (-top, first.reach - top)]
        values.append(keep * after[0] + (1 - keep) * after[1])
    return max(values)


def _recursion_for_positive_levels_only(sequence: ClassSequence) -> Verdict:
    delta = adaptive_delta(sequence.base, sequence.classes, sequence.level)
    known = _known_for_positive_levels(sequence.base, sequence.classes, sequence.level)
    return conjunction([at_most_exact(delta, known, "delta"), below_exact(delta, known, "delta")])


def _recursion_for_all_levels(sequence: ClassSequence) -> Verdict:
    return adaptive_recursion_is_attained(sequence=sequence)


POSITIVE_LEVELS_ONLY = Erratum(
    kind="loose",
    severity=Severity.SHARPENING,
    location="Section 5, Lemma 5.1",
    printed_text="Lemma 5.1 is stated for epsilon_g > 0, and holds for every real epsilon_g: it evaluates "
    "itself at epsilon_g - t <= 0",
    answer="The recursion holds for every real epsilon_g, and is used so.",
    witness={"sequence": ClassSequence(Fraction(3, 2), (bounded_range(2), bounded_range(2)), 1)},
    printed=_recursion_for_positive_levels_only,
    corrected=_recursion_for_all_levels,
    figures=Figures(
        published=("0.1200 <= 0.6000", "0.1200 <= 0.6000"),
        corrected=("0.1200 = 0.1200",),
    ),
)


@statement(
    CESAR_2020,
    "adaptive_delta_recursion",
    errata=(POSITIVE_LEVELS_ONLY,),
    cases=30,
)
def adaptive_recursion_is_attained(sequence: Sequence) -> Verdict:
    """delta_OPT(BR(epsilon_0), rest; a) = sup_t {q delta_OPT(rest; a-t) + (1 - q) delta_OPT(rest; a + epsilon_0 - t)},
    and the same with t = epsilon_0 and 2 epsilon_0 for DP(epsilon_0): the analyst that plays the best t after every
    history has exactly this delta, by the hockey-stick divergence of the transcript. Valid for all real a.
    """
    worst = worst_interaction(sequence.base, sequence.classes, sequence.level)
    delta = adaptive_delta(sequence.base, sequence.classes, sequence.level)
    return equal_exact(interaction_delta(worst, sequence.budget), delta, "delta of the best analyst")


TELLS_NOTHING: Masses = ((Fraction(1), Fraction(1)),)


def _responses(base: Fraction, each: MechanismClass) -> list[Masses]:
    """The responses of a class: ratios r^t and r^(t - epsilon) for bounded range, r^(+-epsilon) for pure DP.

    At the ends t = 0 and t = epsilon the response tells nothing.
    """
    if each.kind == "pure":
        return [response_masses(base ** (2 * each.steps), base**each.steps)]
    return [TELLS_NOTHING, *(response_masses(base**each.steps, base**t) for t in range(1, each.steps))]


@statement(
    CESAR_2020,
    "adaptive_delta_recursion",
    cases=20,
    examples=tuple(
        {"sequence": ClassSequence(Fraction(4, 3), classes, level)}
        for classes, level in (
            ((bounded_range(3), bounded_range(4)), 1),
            ((bounded_range(4), pure(1)), 2),
            ((pure(2), bounded_range(2)), -1),
        )
    ),
)
def adaptive_recursion_is_best_of_all_plans(sequence: Sequence) -> Verdict:
    """The recursion for two rounds is the largest hockey-stick divergence of all plans: each response of the first
    class, with each choice of a response of the second after each outcome, tried one by one.
    """
    base, classes = sequence.base, sequence.classes[:2]
    offers = [_responses(base, each) for each in classes] + [[TELLS_NOTHING]]
    best = best_plan_delta(offers[0], offers[1], sequence.budget)
    return equal_exact(best, adaptive_delta(base, classes, sequence.level), "best of all plans")


# --- one bounded-range mechanism ----------------------------------------------------------------------------


def bounded_range_delta(root_budget: Fraction, root_ratio: Fraction) -> Fraction:
    """Return delta_OPT(BR(epsilon); a) from e^(a/2) and e^(epsilon/2), exactly.

    0 for a >= epsilon, 1 - e^a for a <= -epsilon, (1 - e^((a - epsilon)/2))^2 / (1 - e^-epsilon) between.
    """
    if root_budget >= root_ratio:
        return Fraction(0)
    if root_budget <= 1 / root_ratio:
        return 1 - root_budget**2
    return (1 - root_budget / root_ratio) ** 2 / (1 - 1 / root_ratio**2)


def bounded_range_delta_enclosed(level: arb, epsilon: arb) -> arb:
    """Enclose delta_OPT(BR(epsilon); level) for balls of any width: the two ends joined on by clipping."""
    inside = level.max(-epsilon).min(epsilon)
    below: arb = hinge((-epsilon).exp() - level.exp())
    root: arb = 1 - ((inside - epsilon) / 2).exp()
    return root * root / (1 - (-epsilon).exp()) + below


@statement(CESAR_2020, "adaptive_delta_recursion")
def single_bounded_range_delta_has_a_closed_form(
    base: Base,
    half: Annotated[int, Integers("half of epsilon, in lattice steps", 1, 12)],
    half_level: Annotated[int, Integers("half of epsilon_g, in lattice steps", -14, 14, (0, 1))],
) -> Verdict:
    """One epsilon-bounded-range mechanism has delta_OPT = (1 - e^((a - epsilon)/2))^2 / (1 - e^-epsilon) for |a| <=
    epsilon, attained at t = (a + epsilon)/2; 0 above and 1 - e^a below.
    """
    recursion = adaptive_delta(base, (bounded_range(2 * half),), 2 * half_level)
    return equal_exact(bounded_range_delta(base**half_level, base**half), recursion, "delta_OPT of one mechanism")


# --- batch against adaptive ---------------------------------------------------------------------------------

STRICT = LatticeBatch(Fraction(16, 15), 2, 0, 5, 1)
"""Two bounded-range mechanisms at epsilon = 15 log(16/15) = 0.97 and epsilon_g = epsilon / 5."""


def _strict_responses() -> list[Masses]:
    return bounded_range_masses(STRICT.base, STRICT.steps)


@statement(
    CESAR_2020,
    "class_composition_notation",
    cases=25,
    pins=(
        Pin(
            {"sequence": ClassSequence(Fraction(3, 2), (bounded_range(3), bounded_range(2)), 1)},
            "the best of all batches and of all plans, tried one by one",
            smaller=lambda: [
                best_batch_delta([bounded_range_masses(Fraction(3, 2), steps) for steps in (3, 2)], Fraction(3, 2)),
                best_batch_delta([_strict_responses()] * 2, STRICT.budget),
            ],
            larger=lambda: [
                best_plan_delta(
                    bounded_range_masses(Fraction(3, 2), 3), bounded_range_masses(Fraction(3, 2), 2), Fraction(3, 2)
                ),
                best_plan_delta(_strict_responses(), _strict_responses(), STRICT.budget),
            ],
        ),
    ),
)
def non_adaptive_delta_at_most_adaptive(sequence: Short) -> Verdict:
    """A batch M_1 x M_2 is a special case of an adaptive sequence (M_1, M_2(., outcome)), and for two bounded-range
    mechanisms the adaptive delta_OPT is strictly larger: an accountant for the one is unsafe for the other.
    """
    base, classes, level = sequence.base, sequence.classes, sequence.level
    adaptive = adaptive_delta(STRICT.base, STRICT.classes, STRICT.level)
    return conjunction(
        [
            at_most_exact(
                batch_delta(base, classes, level), adaptive_delta(base, classes, level), "delta of the batch"
            ),
            below_exact(optimal_mixed_delta(STRICT), adaptive, "delta of a batch of two"),
        ]
    ).without_tightness()
