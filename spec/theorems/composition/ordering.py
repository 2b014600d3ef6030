"""Whether the order of adaptively chosen mechanisms matters: swaps, one bounded-range mechanism, different epsilons.

Chapter after Cesar and Rogers (2020), Section 5 with Appendix C.1: Props 1 and 2, Lemma C.1, Cor 5.1. On a lattice
the inequalities and equalities hold exactly with every t restricted to it, so that they are decided there without
rounding. The print exchanges the indices of q in Section 5.1 and App. C.1 (q_{t,epsilon}, q_{epsilon,2 epsilon}).
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Annotated, Any

import sympy as sp
from flint import arb

from dpassay.spec.ball import at_most, ball
from dpassay.spec.distributions.generalized_randomized_response import hinge, keep_probability
from dpassay.spec.domains import Integers, Reals
from dpassay.spec.mechanism_classes import (
    BatchesOnLattice,
    ClassSequence,
    ClassSequences,
    LatticeBatch,
    MechanismClass,
    adaptive_delta,
    bounded_range,
    pure,
)
from dpassay.spec.proof.box import prove_on_box
from dpassay.spec.proof.symbolic import identity, proof
from dpassay.spec.rational import at_most_exact, equal_exact
from dpassay.spec.sources import CESAR_2020, DPASSAY
from dpassay.spec.statement import Erratum, statement
from dpassay.spec.theorems.composition.adaptive_recursion import bounded_range_delta_enclosed
from dpassay.spec.theorems.composition.mixed_batch import optimal_mixed_delta
from dpassay.spec.verdict import Evidence, Holds, Verdict, conjunction

__all__ = ["active_index", "single_positions"]

Fine = Annotated[  # on coarse lattices the two orders hardly ever differ
    ClassSequence, ClassSequences("pure and bounded-range classes on a fine lattice", largest_steps=12)
]
Base = Annotated[Fraction, Reals("the base of the lattice", Fraction(21, 20), 3, (2, Fraction(3, 2)))]
Count = Annotated[int, Integers("a number of mechanisms", 2, 5)]
Steps = Annotated[int, Integers("epsilon, in lattice steps", 1, 10)]
Excess = Annotated[int, Integers("by how much the pure epsilon is larger, in lattice steps", 0, 6)]
Level = Annotated[int, Integers("epsilon_g, in lattice steps", -40, 40, (0, 1, 3))]
Ratio = Annotated[Fraction, Reals("e^epsilon", Fraction(101, 100), 30, (2, 3), logarithmic=True)]
Share = Annotated[Fraction, Reals("the position of e^t between 1 and e^epsilon", 0, 1, (0, 1, Fraction(1, 2)))]
Budget = Annotated[Fraction, Reals("e^alpha", Fraction(1, 100), 100, (1, 2, 3, Fraction(1, 2)), logarithmic=True)]

Classes = tuple[MechanismClass, ...]


# --- Prop 1 -------------------------------------------------------------------------------------------------


@statement(
    CESAR_2020,
    "br_last_is_worst",
    examples=(
        {"sequence": ClassSequence(Fraction(3, 2), (bounded_range(2), pure(2), bounded_range(2)), 1)},
        {"sequence": ClassSequence(Fraction(3, 2), (bounded_range(4), pure(4), pure(4), bounded_range(4)), 4)},
        {"sequence": ClassSequence(Fraction(12, 11), (bounded_range(12), pure(12), bounded_range(12)), 2)},  # strict
    ),
    cases=60,
)
def bounded_range_after_pure_is_worse(sequence: Fine) -> Verdict:
    """Exchanging neighbours (BR, DP) into (DP, BR), anywhere in an adaptive sequence, never lowers delta_OPT: all
    bounded-range mechanisms last is worst. Both sides are the same four terms, under one supremum or under two.

    Holds for different epsilons and negative epsilon_g as well; printed for one epsilon and epsilon_g >= 0.
    """
    base, level = sequence.base, sequence.level
    before = adaptive_delta(base, sequence.classes, level)
    verdicts = [
        at_most_exact(before, adaptive_delta(base, order, level), "delta with BR first")
        for k, order in enumerate(sequence.orders())
        if sequence.classes[k].kind == "bounded range" and order[k].kind == "pure"
    ]
    return conjunction(verdicts or [Holds(evidence=Evidence.EXACT, detail="nothing to exchange")])


# --- Lemma C.1 ----------------------------------------------------------------------------------------------


def reduced(ratio: Any, top: Any, budget: Any) -> Any:
    """Return the right side of Lemma C.1, with e^epsilon, e^t and e^alpha."""
    if top <= budget:
        return 0 * top
    if top <= budget * ratio:
        return keep_probability(ratio, top) * (1 - budget / top)
    return 1 - budget


@statement(CESAR_2020, "reduction_identity", cases=60)
def two_hinges_reduce_to_one(ratio: Ratio, share: Share, budget: Budget) -> Verdict:
    """q [1 - e^(alpha - t)]_+ + (1 - q) [1 - e^(alpha + epsilon - t)]_+ is 0 for t <= alpha, q (1 - e^(alpha - t))
    for alpha <= t <= alpha + epsilon, and 1 - e^alpha beyond, for t in [0, epsilon] and real alpha.
    """
    top = 1 + share * (ratio - 1)
    q = keep_probability(ratio, top)
    left = q * hinge(1 - budget / top) + (1 - q) * hinge(1 - budget * ratio / top)
    return equal_exact(left, reduced(ratio, top, budget), "the two hinges")


@statement(CESAR_2020, "reduction_identity")
def two_open_hinges_do_not_depend_on_the_parameter() -> Verdict:
    """Where both hinges are open their mixture is 1 - e^alpha for every t, since q + e^epsilon (1 - q) = e^t, and
    the three branches of Lemma C.1 meet at t = alpha and t = alpha + epsilon. Symbolic.
    """
    s, top, budget = sp.symbols("s T A", positive=True)
    q = keep_probability(s, top)
    both = q * (1 - budget / top) + (1 - q) * (1 - budget * s / top)
    middle = q * (1 - budget / top)
    return proof(
        identity(both, 1 - budget, "both open"),
        identity(middle.subs(top, budget), 0, "t = alpha"),
        identity(middle.subs(budget, top / s), (1 - budget).subs(budget, top / s), "t = alpha + epsilon"),
    )


# --- Prop 2 -------------------------------------------------------------------------------------------------


def single_positions(count: int, steps: int) -> list[Classes]:
    """Return the orders of one bounded-range and count - 1 pure mechanisms of one epsilon."""
    return [tuple(bounded_range(steps) if k == place else pure(steps) for k in range(count)) for place in range(count)]


def active_index(count: int, shift: int, steps: int, level: int) -> int | None:
    """Return the i in 0..N-2 for which epsilon_g + (shift + 2i - (N-2)) epsilon lies strictly inside (-epsilon,
    epsilon), where a term of the sum depends on t; None if there is none.
    """
    indices = range(count - 1)
    return next((i for i in indices if abs(level + (shift + 2 * i - (count - 2)) * steps) < steps), None)


def _same_index_in_both_sums(base: Fraction, count: int, steps: int, level: int) -> Verdict:  # noqa: ARG001  # the index does not depend on the base
    indices = [active_index(count, shift, steps, level) for shift in (-1, 1)]
    return equal_exact(indices[0], indices[1], "the active index of the two sums")


def _first_terms_vanish(base: Fraction, count: int, steps: int, level: int) -> Verdict:  # noqa: ARG001  # the base case is N = 2
    largest = max(hinge(1 - base ** (level + steps - top)) for top in range(steps + 1))
    return equal_exact(largest, Fraction(0), "the largest [1 - e^(epsilon_g + epsilon - t)]_+")


def _literal_indices(base: Fraction, count: int, steps: int, level: int) -> Verdict:  # noqa: ARG001  # a probability
    literal = keep_probability(base**steps, base ** (2 * steps))
    return at_most_exact(Fraction(0), literal, "0 against q_{epsilon, 2 epsilon}")


def _single_position(base: Fraction, count: int, steps: int, level: int) -> Verdict:
    return position_of_single_bounded_range_never_matters(base=base, count=count, steps=steps, level=level)


SAME_INDEX = Erratum(
    kind="proof",
    printed_text="the same index i* is said to depend on t in both sums; in the second sum it is i* - 1",
    witness={"base": Fraction(11, 10), "count": 4, "steps": 10, "level": 3},
    printed=_same_index_in_both_sums,
    corrected=_single_position,
)
POSITIVE_TERMS = Erratum(
    kind="proof",
    printed_text="for N = 2 the terms with + epsilon are said to be 0, which needs epsilon_g >= 0; the claim does not",
    witness={"base": Fraction(11, 10), "count": 2, "steps": 10, "level": -5},
    printed=_first_terms_vanish,
    corrected=_single_position,
)
INDICES_EXCHANGED = Erratum(
    kind="proof",
    printed_text="q_{epsilon, 2 epsilon} is printed for q_{2 epsilon, epsilon}: literally -e^epsilon, no probability",
    witness={"base": Fraction(11, 10), "count": 3, "steps": 10, "level": 3},
    printed=_literal_indices,
    corrected=_single_position,
)


@statement(CESAR_2020, "single_br_order_free", errata=(SAME_INDEX, POSITIVE_TERMS, INDICES_EXCHANGED), cases=25)
def position_of_single_bounded_range_never_matters(base: Base, count: Count, steps: Steps, level: Level) -> Verdict:
    """One epsilon-bounded-range mechanism among N - 1 adaptively chosen epsilon-DP ones: delta_OPT is the same
    wherever it stands, for all real epsilon_g. Needs one epsilon (`larger_bounded_range_makes_its_position_matter`).
    """
    values = [adaptive_delta(base, order, level) for order in single_positions(count, steps)]
    return conjunction(equal_exact(value, values[0], "delta at another place") for value in values[1:])


@statement(DPASSAY, "position of a bounded-range mechanism among larger pure ones", cases=25)
def position_among_larger_pure_mechanisms_never_matters(
    base: Base, count: Count, steps: Steps, excess: Excess, level: Level
) -> Verdict:
    """Prop 2 extends to a bounded-range mechanism beside pure ones of one larger epsilon: tested, on lattices, not
    proved. It does not extend to pure ones of different epsilons
    (`position_matters_beside_pure_mechanisms_of_different_epsilons`).
    """
    others = (pure(steps + excess),) * (count - 1)
    orders = [(*others[:place], bounded_range(steps), *others[place:]) for place in range(count)]
    values = [adaptive_delta(base, order, level) for order in orders]
    return conjunction(equal_exact(value, values[0], "delta at another place") for value in values[1:])


# --- Cor 5.1 ------------------------------------------------------------------------------------------------

Single = Annotated[
    LatticeBatch, BatchesOnLattice("one bounded-range mechanism beside pure ones", 1, 4, 6, least_bounded=1)
]


def _through_thm_3_with_m_1(batch: LatticeBatch) -> Verdict:
    count = batch.bounded + batch.pure
    swapped = LatticeBatch(batch.base, count - 1, 1, batch.steps // count, batch.level // count)
    delta = adaptive_delta(batch.base, batch.classes, batch.level)
    return at_most_exact(delta, optimal_mixed_delta(swapped), "delta")


def _through_thm_3_with_m_k_minus_1(batch: LatticeBatch) -> Verdict:
    return single_bounded_range_follows_from_thm_3(batch=batch)


COUNTED_BOUNDED_RANGE = Erratum(
    kind="false",
    printed_text="Theorem 3 'with m = 1', while m counts the pure mechanisms: m = k - 1; unsafe, delta is too small",
    witness={"batch": LatticeBatch(Fraction(12, 11), 1, 2, 6, 3)},
    printed=_through_thm_3_with_m_1,
    corrected=_through_thm_3_with_m_k_minus_1,
)


@statement(CESAR_2020, "single_br_via_thm3", errata=(COUNTED_BOUNDED_RANGE,), cases=25)
def single_bounded_range_follows_from_thm_3(batch: Single) -> Verdict:
    """k - 1 adaptively chosen epsilon-DP mechanisms and one of bounded range epsilon, at any position, have the
    delta_OPT of Thm 3 with m = k - 1.
    """
    best = optimal_mixed_delta(batch)
    orders = single_positions(batch.bounded + batch.pure, batch.steps)
    values = [adaptive_delta(batch.base, order, batch.level) for order in orders]
    return conjunction(equal_exact(value, best, "delta of the recursion") for value in values)


# --- different epsilons -------------------------------------------------------------------------------------


def pure_delta(level: arb, epsilon: Fraction) -> arb:
    """Enclose delta_OPT(DP(epsilon); level)."""
    return after_pure(lambda at: hinge(1 - at.exp()), epsilon, level)


def after_pure(rest: Callable[[arb], arb], epsilon: Fraction, level: arb) -> arb:
    """Enclose Q rest(level - epsilon) + (1 - Q) rest(level + epsilon)."""
    keep, step = 1 / (1 + (-ball(epsilon)).exp()), ball(epsilon)
    return keep * rest(level - step) + (1 - keep) * rest(level + step)


def after_response(rest: Callable[[arb], arb], epsilon: Fraction, top: arb, level: arb) -> arb:
    """Enclose q rest(level - t) + (1 - q) rest(level + epsilon - t)."""
    e = ball(epsilon)
    keep = (-(top - e).expm1()) / (-(-e).expm1())
    return keep * rest(level - top) + (1 - keep) * rest(level + e - top)


def _supremum_below(rest: Callable[[arb], arb], epsilon: Fraction, level: Fraction, bound: Fraction) -> Verdict:
    """Decide, for every t in [0, epsilon], that the best response leaves delta below `bound`."""
    margin = lambda top: ball(bound) - after_response(rest, epsilon, top, ball(level))
    return prove_on_box(margin, {"top": (0, epsilon)})


@statement(CESAR_2020, "open_questions", "single_br_order_free")
def larger_bounded_range_makes_its_position_matter() -> Verdict:
    """With a larger epsilon than the pure one's the position matters: at epsilon_g = 0, delta_OPT of (BR(1), DP(1/2))
    is below 0.28 while that of (DP(1/2), BR(1)) is above 0.30. The supremum over t is bounded on the whole interval.
    """
    half, one = Fraction(1, 2), Fraction(1)

    def pure_first() -> arb:
        return after_pure(lambda level: bounded_range_delta_enclosed(level, ball(one)), half, arb(0))

    return conjunction([
        _supremum_below(lambda level: pure_delta(level, half), one, Fraction(0), PURE_LAST_BELOW),
        at_most(lambda: ball(PURE_FIRST_ABOVE), pure_first).with_(tightness=None),
    ])  # fmt: skip


PURE_LAST_BELOW, PURE_FIRST_ABOVE = Fraction(28, 100), Fraction(30, 100)


@statement(CESAR_2020, "open_questions")
def order_of_different_bounded_range_mechanisms_matters() -> Verdict:
    """Two bounded-range mechanisms of epsilon 2/5 and 1 at epsilon_g = 6/25: the smaller first has delta_OPT above
    0.168, the larger first below 0.159. The paper's third question, for bounded range; for pure mechanisms the order
    never matters (`order_of_pure_mechanisms_never_matters`).
    """
    small, large, level = Fraction(2, 5), Fraction(1), Fraction(6, 25)

    def rest(epsilon: Fraction) -> Callable[[arb], arb]:
        return lambda at: bounded_range_delta_enclosed(at, ball(epsilon))

    best = Fraction(1, 5)  # near the best t of the smaller one

    def smaller_first() -> arb:
        return after_response(rest(large), small, ball(best), ball(level))

    return conjunction([
        _supremum_below(rest(small), large, level, LARGER_FIRST_BELOW),
        at_most(lambda: ball(SMALLER_FIRST_ABOVE), smaller_first).with_(tightness=None),
    ])  # fmt: skip


LARGER_FIRST_BELOW, SMALLER_FIRST_ABOVE = Fraction(159, 1000), Fraction(168, 1000)


@statement(DPASSAY, "position of a bounded-range mechanism beside different pure ones")
def position_matters_beside_pure_mechanisms_of_different_epsilons() -> Verdict:
    """Even if the bounded-range epsilon is the smallest: with BR(3/10), DP(2/5), DP(1/2) at epsilon_g = 0, delta_OPT
    is below 0.258 when the bounded-range mechanism comes first and above 0.260 when it comes second.
    """
    small, middle, large = Fraction(3, 10), Fraction(2, 5), Fraction(1, 2)
    last = lambda level: pure_delta(level, large)
    both = lambda level: after_pure(last, middle, level)
    best = {True: Fraction(1, 5), False: Fraction(1, 10)}  # near the best t after a loss, and after a gain

    def second() -> arb:
        keep = 1 / (1 + ball(-middle).exp())
        parts = [
            after_response(last, small, ball(best[lost]), ball(-middle if lost else middle)) for lost in (True, False)
        ]
        return keep * parts[0] + (1 - keep) * parts[1]

    return conjunction([
        _supremum_below(both, small, Fraction(0), BOUNDED_RANGE_FIRST_BELOW),
        at_most(lambda: ball(BOUNDED_RANGE_SECOND_ABOVE), second).with_(tightness=None),
    ])  # fmt: skip


BOUNDED_RANGE_FIRST_BELOW, BOUNDED_RANGE_SECOND_ABOVE = Fraction(258, 1000), Fraction(260, 1000)
