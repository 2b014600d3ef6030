"""The order of adaptively chosen mechanisms: swaps, one bounded-range mechanism, different epsilons.

Chapter after Cesar and Rogers (2020), Section 5 with Appendix C.1: Props 1 and 2, Lemma C.1, Cor 5.1. On a lattice
the inequalities and equalities hold exactly with every t restricted to it, so that they are decided there without
rounding. The paper exchanges the indices of q in Section 5.1 and App. C.1 (q_{t,epsilon}, q_{epsilon,2 epsilon}).
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Annotated, Any

import sympy as sp
from flint import arb

from dpassay.spec.ball import at_most, ball
from dpassay.spec.distributions.generalized_randomized_response import hinge, keep_probability
from dpassay.spec.domains.base import Integers, Reals
from dpassay.spec.interactions.mechanism_classes import (
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
from dpassay.spec.proof.figures import Figures
from dpassay.spec.proof.pins import Pin
from dpassay.spec.proof.steps import Proof, Step, all_of, checked, computed, proof, prose
from dpassay.spec.proof.symbolic import identity
from dpassay.spec.rational import at_most_exact, below_exact, equal_exact
from dpassay.spec.sources import CESAR_2020, DPASSAY
from dpassay.spec.statement import Erratum, Severity, statement
from dpassay.spec.theorems.composition.adaptive_recursion import bounded_range_delta_enclosed
from dpassay.spec.theorems.composition.mixed_batch import optimal_mixed_delta
from dpassay.spec.theorems.composition.second_derivations import (
    Masses,
    best_plan_delta,
    bounded_range_masses,
    response_masses,
)
from dpassay.spec.verdict import Evidence, Holds, Scope, Verdict, conjunction

__all__ = ["active_index", "single_positions"]

Fine = Annotated[  # on coarse lattices the two orders rarely differ
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


def _range_and_pure() -> tuple[list[Masses], list[Masses]]:
    base = Fraction(3, 2)
    return bounded_range_masses(base, 4), [response_masses(base**4, base**2)]


@statement(
    CESAR_2020,
    "br_last_is_worst",
    examples=(
        {"sequence": ClassSequence(Fraction(3, 2), (bounded_range(2), pure(2), bounded_range(2)), 1)},
        {"sequence": ClassSequence(Fraction(3, 2), (bounded_range(4), pure(4), pure(4), bounded_range(4)), 4)},
        {"sequence": ClassSequence(Fraction(12, 11), (bounded_range(12), pure(12), bounded_range(12)), 2)},  # strict
    ),
    cases=60,
    pins=(
        Pin(
            {"sequence": ClassSequence(Fraction(3, 2), (bounded_range(4), pure(2)), 1)},
            "the best of all plans, tried one by one",
            smaller=lambda: best_plan_delta(*_range_and_pure(), Fraction(3, 2)),
            larger=lambda: best_plan_delta(*_range_and_pure()[::-1], Fraction(3, 2)),
        ),
    ),
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
    if not verdicts:
        return Holds(evidence=Evidence.EXACT, detail="nothing to exchange")
    return conjunction(verdicts).without_tightness()


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
def two_open_hinges_do_not_depend_on_the_parameter() -> Proof:
    """Where both hinges are open their mixture is 1 - e^alpha for every t, since q + e^epsilon (1 - q) = e^t, and
    the three branches of Lemma C.1 meet at t = alpha and t = alpha + epsilon. Symbolic.
    """
    s, top, budget = sp.symbols("s T A", positive=True)
    q = keep_probability(s, top)
    both = q * (1 - budget / top) + (1 - q) * (1 - budget * s / top)
    middle = q * (1 - budget / top)
    return proof(
        checked("sum", "q + e^epsilon (1 - q) = e^t.", identity, q + s * (1 - q), top),
        checked(
            "both open",
            "Where both hinges are open, their mixture is 1 - e^alpha.",
            identity,
            both,
            1 - budget,
            given=["sum"],
        ),
        checked("t = alpha", "At t = alpha the first hinge closes.", identity, middle.subs(top, budget), 0),
        checked(
            "t = alpha + epsilon",
            "At t = alpha + epsilon the second hinge closes: the first alone is 1 - e^alpha.",
            identity,
            middle.subs(budget, top / s),
            (1 - budget).subs(budget, top / s),
        ),
        all_of("three branches", "both open", "t = alpha", "t = alpha + epsilon"),
    )


# --- Prop 2 -------------------------------------------------------------------------------------------------


def single_positions(count: int, steps: int) -> list[Classes]:
    """Return the orders of one bounded-range and count - 1 pure mechanisms of one epsilon."""
    return [tuple(bounded_range(steps) if k == place else pure(steps) for k in range(count)) for place in range(count)]


def active_index(count: int, shift: int, steps: int, level: int) -> int | None:
    """Return the i in 0..N-2 for which epsilon_g + (shift + 2i - (N-2)) epsilon lies strictly inside (-epsilon,
    epsilon), where a term of the sum depends on t; None if there is none.

    Parameters
    ----------
    count : int
        N, the number of mechanisms.
    shift : int
        An integer of the level.
    steps : int
        epsilon, in steps of the lattice.
    level : int
        epsilon_g, in steps of the lattice.
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
    severity=Severity.MINOR,
    location="Appendix C.1, proof of Proposition 2, and its sketch in Section 5.1",
    printed_text="the same index i* is said to depend on t in both sums; in the second sum it is i* - 1",
    answer="The index of the second sum is one less; the maximiser is the same.",
    witness={"base": Fraction(11, 10), "count": 4, "steps": 10, "level": 3},
    printed=_same_index_in_both_sums,
    corrected=_single_position,
    figures=Figures(
        published=("1.000 != 0",),
        corrected=("0.5647 = 0.5647", "0.5647 = 0.5647", "0.5647 = 0.5647"),
    ),
)
POSITIVE_TERMS = Erratum(
    kind="proof",
    severity=Severity.MINOR,
    location="Appendix C.1, proof of Proposition 2, base case N = 2",
    printed_text="for N = 2 the terms with + epsilon are said to be 0, which needs epsilon_g >= 0; the claim does not",
    answer="Shown for epsilon_g >= 0; the other case follows in the same way.",
    witness={"base": Fraction(11, 10), "count": 2, "steps": 10, "level": -5},
    printed=_first_terms_vanish,
    corrected=_single_position,
    figures=Figures(published=("0.3791 != 0",), corrected=("0.5685 = 0.5685",)),
)
INDICES_EXCHANGED = Erratum(
    kind="proof",
    severity=Severity.MINOR,
    location="Section 5.1, proof sketch of Proposition 2, and Appendix C.1",
    printed_text="q_{epsilon, 2 epsilon} stands for q_{2 epsilon, epsilon}; by Definition 2.4 that would "
    "be -e^epsilon, no probability",
    answer="The indices of q are written in the other order there.",
    witness={"base": Fraction(11, 10), "count": 3, "steps": 10, "level": 3},
    printed=_literal_indices,
    corrected=_single_position,
    figures=Figures(
        published=("0 > -2.594",),
        corrected=("0.4694 = 0.4694", "0.4694 = 0.4694"),
    ),
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
    severity=Severity.ERROR,
    location="Section 5.1, the sentence before Corollary 5.1",
    printed_text="Cor 5.1 is introduced as Theorem 3 with m = 1, while m counts the pure mechanisms "
    "there: it must be m = k - 1, and with m = 1 delta is too small",
    answer="m = k - 1 is meant: m counts the pure mechanisms in Theorem 3.",
    witness={"batch": LatticeBatch(Fraction(12, 11), 1, 2, 6, 3)},
    printed=_through_thm_3_with_m_1,
    corrected=_through_thm_3_with_m_k_minus_1,
    figures=Figures(
        published=("0.4642 > 0.3711",),
        corrected=("0.4642 = 0.4642", "0.4642 = 0.4642", "0.4642 = 0.4642"),
    ),
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
    """Enclose q rest(level - t) + (1 - q) rest(level + epsilon - t).

    Parameters
    ----------
    rest : callable
        delta of the mechanisms that follow, as a function of the level.
    epsilon : Fraction
        Width of the range of losses.
    top : arb
        t, the largest loss, in [0, epsilon].
    level : arb
        epsilon_g before the response.
    """
    e = ball(epsilon)
    keep = (-(top - e).expm1()) / (-(-e).expm1())
    return keep * rest(level - top) + (1 - keep) * rest(level + e - top)


Ends = tuple[Fraction, Fraction]
"""Certified ends of a delta, less than a hundredth of it apart."""


def _supremum_between(
    rest: Callable[[arb], arb], epsilon: Fraction, level: Fraction, ends: Ends, best: Fraction
) -> Verdict:
    """Decide that the best response leaves delta between two ends: below one at every t in [0, epsilon], and above
    the other at t = `best`.
    """
    low, high = ends
    margin: Callable[[arb], arb] = lambda top: ball(high) - after_response(rest, epsilon, top, ball(level))
    return conjunction([
        _are_close(ends),
        prove_on_box(margin, {"top": (0, epsilon)}),
        at_most(lambda: ball(low), lambda: after_response(rest, epsilon, ball(best), ball(level))),
    ]).without_tightness()  # fmt: skip


def _between(value: Callable[[], arb], ends: Ends) -> Verdict:
    low, high = ends
    return conjunction([
        _are_close(ends),
        at_most(lambda: ball(low), value),
        at_most(value, lambda: ball(high)),
    ]).without_tightness()  # fmt: skip


def _are_close(ends: Ends) -> Verdict:
    low, high = ends
    return below_exact(high, low * Fraction(101, 100), "the upper end of a delta").without_tightness()


def _position_matters(small: Ends, large: Ends, names: tuple[str, str]) -> Step:
    """Return the step that two deltas between their ends differ."""
    return computed(
        "the position matters",
        f"{float(small[1])} is below {float(large[0])}.",
        lambda: below_exact(small[1], large[0], "the smaller delta").without_tightness(),
        given=names,
        scope=Scope.ALL,
    )


RECURSION = prose(
    "recursion",
    "delta_OPT obeys the recursion of Cesar and Rogers, Lemma 5.1, with randomised responses as the worst members of "
    "each class (decided on lattices by `adaptive_recursion_is_attained`).",
)


@statement(CESAR_2020, "open_questions", "single_br_order_free")
def larger_bounded_range_makes_its_position_matter() -> Proof:
    """With a larger epsilon than the pure one's the position matters: at epsilon_g = 0, delta_OPT of (BR(1), DP(1/2))
    is 0.2741 to 0.2743 while that of (DP(1/2), BR(1)) is 0.3033 to 0.3034. The supremum over t is bounded on the
    whole interval.
    """
    half, one = Fraction(1, 2), Fraction(1)

    def pure_first() -> arb:
        return after_pure(lambda level: bounded_range_delta_enclosed(level, ball(one)), half, arb(0))

    return proof(
        RECURSION,
        computed(
            "bounded range first",
            "The supremum over t in [0, 1] of delta of (BR(1), DP(1/2)) at epsilon_g = 0 is 0.2741 to 0.2743.",
            lambda: _supremum_between(
                lambda level: pure_delta(level, half), one, Fraction(0), PURE_LAST, Fraction(1, 4)
            ),
            given=["recursion"],
            scope=Scope.ALL,
        ),
        computed(
            "pure first",
            "delta of (DP(1/2), BR(1)) at epsilon_g = 0 is 0.3033 to 0.3034.",
            lambda: _between(pure_first, PURE_FIRST),
            given=["recursion"],
            scope=Scope.ALL,
        ),
        _position_matters(PURE_LAST, PURE_FIRST, ("bounded range first", "pure first")),
    )


PURE_LAST: Ends = (Fraction(2741, 10**4), Fraction(2743, 10**4))
PURE_FIRST: Ends = (Fraction(3033, 10**4), Fraction(3034, 10**4))


@statement(CESAR_2020, "open_questions")
def order_of_different_bounded_range_mechanisms_matters() -> Proof:
    """Two bounded-range mechanisms of epsilon 2/5 and 1 at epsilon_g = 6/25: the smaller first has a delta_OPT of
    0.1688 to 0.1690, the larger first of 0.1582 to 0.1584. The paper's third question, for bounded range; for pure
    mechanisms the order never matters (`order_of_pure_mechanisms_never_matters`).
    """
    small, large, level = Fraction(2, 5), Fraction(1), Fraction(6, 25)

    def rest(epsilon: Fraction) -> Callable[[arb], arb]:
        return lambda at: bounded_range_delta_enclosed(at, ball(epsilon))

    return proof(
        RECURSION,
        computed(
            "larger first",
            "The supremum over t in [0, 1] of delta with the larger first is 0.1582 to 0.1584.",
            lambda: _supremum_between(rest(small), large, level, LARGER_FIRST, Fraction(613, 1000)),
            given=["recursion"],
            scope=Scope.ALL,
        ),
        computed(
            "smaller first",
            "The supremum over t in [0, 2/5] of delta with the smaller first is 0.1688 to 0.1690.",
            lambda: _supremum_between(rest(large), small, level, SMALLER_FIRST, Fraction(1, 5)),
            given=["recursion"],
            scope=Scope.ALL,
        ),
        _position_matters(LARGER_FIRST, SMALLER_FIRST, ("larger first", "smaller first")),
    )


LARGER_FIRST: Ends = (Fraction(1582, 10**4), Fraction(1584, 10**4))
SMALLER_FIRST: Ends = (Fraction(1688, 10**4), Fraction(1690, 10**4))


@statement(DPASSAY, "position of a bounded-range mechanism beside different pure ones")
def position_matters_beside_pure_mechanisms_of_different_epsilons() -> Proof:
    """Even if the bounded-range epsilon is the smallest: with BR(3/10), DP(2/5), DP(1/2) at epsilon_g = 0, delta_OPT
    is 0.2566 to 0.2569 when the bounded-range mechanism comes first and 0.2605 to 0.2609 when it comes second, where
    t is chosen after the first loss.
    """
    small, middle, large = Fraction(3, 10), Fraction(2, 5), Fraction(1, 2)
    last: Callable[[arb], arb] = lambda level: pure_delta(level, large)
    both: Callable[[arb], arb] = lambda level: after_pure(last, middle, level)
    after = {-middle: (AFTER_A_LOSS, Fraction(1, 5)), middle: (AFTER_A_GAIN, Fraction(1, 10))}

    def second() -> arb:
        return after_pure(lambda level: _ball_between(AFTER_A_LOSS if level < 0 else AFTER_A_GAIN), middle, arb(0))

    return proof(
        RECURSION,
        computed(
            "bounded range first",
            "The supremum over t in [0, 3/10] of delta with the bounded-range mechanism first is 0.2566 to 0.2569.",
            lambda: _supremum_between(both, small, Fraction(0), BOUNDED_RANGE_FIRST, Fraction(3, 20)),
            given=["recursion"],
            scope=Scope.ALL,
        ),
        computed(
            "after the first loss",
            "The suprema over t of delta after a loss and after a gain of DP(2/5) are 0.3824 to 0.3827 and 0.0788 to "
            "0.0790.",
            lambda: conjunction(
                [_supremum_between(last, small, level, ends, best) for level, (ends, best) in after.items()]
            ),
            given=["recursion"],
            scope=Scope.ALL,
        ),
        computed(
            "bounded range second",
            "Their mean over the first loss, which is delta with the bounded-range mechanism second, is 0.2605 to "
            "0.2609.",
            lambda: _between(second, BOUNDED_RANGE_SECOND),
            given=["after the first loss"],
            scope=Scope.ALL,
        ),
        _position_matters(BOUNDED_RANGE_FIRST, BOUNDED_RANGE_SECOND, ("bounded range first", "bounded range second")),
    )


def _ball_between(ends: Ends) -> arb:
    return ball(ends[0]).union(ball(ends[1]))


AFTER_A_LOSS: Ends = (Fraction(3824, 10**4), Fraction(3827, 10**4))
AFTER_A_GAIN: Ends = (Fraction(788, 10**4), Fraction(790, 10**4))
BOUNDED_RANGE_FIRST: Ends = (Fraction(2566, 10**4), Fraction(2569, 10**4))
BOUNDED_RANGE_SECOND: Ends = (Fraction(2605, 10**4), Fraction(2609, 10**4))
