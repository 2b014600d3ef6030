"""Mutants of the chapter on composition and ordering: wrong formulas, one supremum for two, exchanged counts.

Equivalent mutants, which nothing can refute: t = epsilon/2 in Thm 3 where the optimum happens to be there (for
instance one pure and three bounded-range mechanisms at epsilon_g = epsilon), the last candidate l = k + m left out
for epsilon_g > 0, and a ceiling in Thm 1 that slips at an exact integer, where the boundary term vanishes.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import comb
from typing import Any

import pytest
from hypothesis import Phase, settings

from dpassay.properties import verify
from dpassay.properties.verify import verify_statement
from dpassay.spec.ball import ball
from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.distributions.generalized_randomized_response import (
    RandomizedResponse,
    hinge,
    keep_probability,
    product_delta,
    product_distributions,
    pure_response,
)
from dpassay.spec.interactions import mechanism_classes
from dpassay.spec.interactions.mechanism_classes import Classes, LatticeBatch, adaptive_delta, bounded_range, pure
from dpassay.spec.notions.bounded_range import ratios
from dpassay.spec.rational import at_most_exact
from dpassay.spec.statement import Statement, find_statement
from dpassay.spec.theorems.composition import (
    adaptive_recursion,
    counting,
    mixed_batch,
    optimal_bounded_range,
    optimal_pure,
    ordering,
)
from dpassay.spec.theorems.composition import (
    bounded_range as ranges,
)
from dpassay.spec.theorems.composition import (
    three_mechanisms as three,
)
from dpassay.spec.verdict import Outcome, Verdict

own_range_delta = adaptive_recursion.bounded_range_delta_enclosed
three_z, SINGLE_POSITIONS = three.z_of, ordering.single_positions


# --- one supremum for two, or the other way round -----------------------------------------------------------


def ends(low: int, high: int) -> ordering.Ends:
    return Fraction(low, 10**4), Fraction(high, 10**4)


def one_supremum(base: Fraction, classes: Classes, level: int) -> Fraction:
    """The batch: every t is chosen in advance."""
    return mechanism_classes.batch_delta(base, classes, level)


def wrong_signs(base: Fraction, classes: Classes, level: int) -> Fraction:
    """a + t and a - epsilon + t in place of a - t and a + epsilon - t."""
    if not classes:
        return Fraction(hinge(1 - base**level))
    first, rest = classes[0], classes[1:]
    values = []
    for top in first.tops:
        q = keep_probability(base**first.reach, base**top)
        kept, lost = (wrong_signs(base, rest, level + move) for move in (top, top - first.reach))
        values.append(q * kept + (1 - q) * lost)
    return Fraction(max(values))


def clipped_at_zero(base: Fraction, classes: Classes, level: int) -> Fraction:
    """epsilon_g < 0 is taken for 0."""
    if not classes:
        return Fraction(hinge(1 - base ** max(level, 0)))
    first, rest = classes[0], classes[1:]
    values = []
    for top in first.tops:
        q = keep_probability(base**first.reach, base**top)
        kept, lost = (clipped_at_zero(base, rest, max(level + move, 0)) for move in (-top, first.reach - top))
        values.append(q * kept + (1 - q) * lost)
    return Fraction(max(values))


def first_parameter_only(base: Fraction, classes: Classes, level: int) -> Fraction:
    """Takes every class to have the epsilon of the first."""
    steps = classes[0].steps if classes else 0
    return adaptive_delta(base, tuple(mechanism_classes.MechanismClass(c.kind, steps) for c in classes), level)


def half_range(base: Fraction, classes: Classes, level: int) -> Fraction:
    """Bounded range epsilon treated as epsilon/2-DP: t = epsilon/2 only."""
    if not classes:
        return Fraction(hinge(1 - base**level))
    first, rest = classes[0], classes[1:]
    top = first.reach // 2
    q = keep_probability(base**first.reach, base**top)
    kept, lost = (half_range(base, rest, level + move) for move in (-top, first.reach - top))
    return Fraction(q * kept + (1 - q) * lost)


def order_dependent(base: Fraction, classes: Classes, level: int) -> Fraction:
    """Adaptive where a batch is meant."""
    return adaptive_delta(base, classes, level)


def sorted_epsilons(laws: Any) -> Any:
    """Associates the epsilons with the wrong t's: sorts them."""
    responses = list(laws)
    ratios = sorted(r.range_ratio for r in responses)
    return PRODUCT_LAWS(
        RandomizedResponse(ratio, min(r.top, ratio)) for ratio, r in zip(ratios, responses, strict=True)
    )


PRODUCT_LAWS = product_distributions


# --- Thms 1, 2, 3 -------------------------------------------------------------------------------------------


def floor_in_place_of_ceiling(count: int, ratio: Fraction, budget: Fraction) -> Fraction:
    first = next((ell for ell in range(count + 1) if ratio ** (2 * ell - count) >= budget), count + 1)
    first = max(first - 1, 0)
    terms = (comb(count, ell) * (ratio**ell - budget * ratio ** (count - ell)) for ell in range(first, count + 1))
    return sum(terms, Fraction(0)) / (1 + ratio) ** count


def exponent_of_the_budget(count: int, ratio: Fraction, budget: Fraction) -> Fraction:
    first = next((ell for ell in range(count + 1) if ratio ** (2 * ell - count) >= budget), count + 1)
    terms = (comb(count, ell) * (ratio**ell - budget * ratio**ell) for ell in range(first, count + 1))
    return sum(terms, Fraction(0)) / (1 + ratio) ** count


def wrong_weights(count: int, ratio: Fraction) -> list[Fraction]:
    return [comb(count, i) * ratio**i / (1 + ratio) ** count for i in range(count + 1)]


def unclipped(count: int, steps: int, level: int) -> list[int]:
    inside = [(level + (ell + 1) * steps) // (count + 1) for ell in range(count + 1)]
    return [t for t in inside if 0 <= t <= steps] or [steps // 2]


def k_for_k_plus_1(count: int, steps: int, level: int) -> list[int]:
    return [min(max((level + (ell + 1) * steps) // count, 0), steps) for ell in range(count + 1)]


def l_for_l_plus_1(count: int, steps: int, level: int) -> list[int]:
    return [min(max((level + ell * steps) // (count + 1), 0), steps) for ell in range(count)]


def half(bounded: int, pure_count: int, epsilon: Fraction, level: Fraction) -> list[Fraction]:  # the fault
    return [Fraction(int(epsilon) // 2)]


def too_few_candidates(bounded: int, pure_count: int, epsilon: Fraction, level: Fraction) -> list[Fraction]:
    tops = ((level + epsilon * (ell + 1 - pure_count)) / (bounded + 1) for ell in range(bounded + 1))
    return [min(max(t, Fraction(0)), epsilon) for t in tops]


def reversed_inequality(value: Fraction, bound: Fraction, what: str) -> Verdict:
    return at_most_exact(bound, value, what)


def swapped_counts(bounded: int, pure_count: int, ratio: Any, top: Any, budget: Any) -> Any:
    return product_delta(pure_count, bounded, ratio, top, budget)


def loss_of_pure_is_epsilon(bounded: int, pure_count: int, ratio: Any, top: Any, budget: Any) -> Any:
    """epsilon (m - j - i) for epsilon (m - 2j - i)."""
    q, own = keep_probability(ratio, top), ratio / (1 + ratio)
    return sum(
        comb(bounded, i) * comb(pure_count, j) * own ** (pure_count - j) * (1 - own) ** j
        * q ** (bounded - i) * (1 - q) ** i
        * hinge(1 - budget / (ratio ** (pure_count - j - i) * top**bounded))
        for i in range(bounded + 1) for j in range(pure_count + 1)
    )  # fmt: skip


def q_side_weights(windows: Sequence[tuple[Fraction, Fraction]], budget: Fraction) -> Fraction:
    """Both sides weighted with q: the loss is forgotten."""
    return max(Fraction(0), 1 - budget) * (len(windows) > 0)


def two_bounded_range(count: int, steps: int) -> list[Classes]:
    """The first mechanism is of bounded range, too."""
    return [(bounded_range(steps), *order[1:]) for order in SINGLE_POSITIONS(count, steps)]


def flipped(base: Fraction, classes: Classes, level: int) -> Fraction:
    """Pure and bounded range exchanged."""
    return adaptive_delta(base, tuple((bounded_range if c.kind == "pure" else pure)(c.steps) for c in classes), level)


def pure_block_of_bounded_range(batch: LatticeBatch, tops: Sequence[Fraction]) -> list[RandomizedResponse]:
    """epsilon_i = epsilon for the pure block."""
    ratio = batch.ratio
    mixed = [RandomizedResponse(ratio, 1 + share * (ratio - 1)) for share in tops[: batch.bounded]]
    return [*mixed, *[RandomizedResponse(ratio, ratio)] * batch.pure]


def printed_partial_sum(*args: Any, **kwargs: Any) -> Any:
    return PARTIAL_SUM(*args, **{**kwargs, "printed": True})


PARTIAL_SUM = mixed_batch.partial_sum


def derivative_with_k(ell: int, bounded: int, pure_count: int, ratio: Any, top: Any, budget: Any) -> Any:
    """m + l for l - m in the exponent."""
    return DERIVATIVE(ell + 2 * pure_count, bounded, pure_count, ratio, top, budget)


DERIVATIVE = mixed_batch.derivative_formula


def first_is_kept(first: int, second: int) -> tuple[int, int]:
    """Both are replaced by the first."""
    return first, first


def pushed_apart(first: int, second: int) -> tuple[int, int]:  # the fault
    return 0, first + second if first + second < 2 else 2 * ((first + second) // 4)


# --- bounded range ------------------------------------------------------------------------------------------


def largest_loss_twice(left: FiniteDistribution, right: FiniteDistribution) -> Any:
    """max |L| in place of the range."""
    values = [r for r in ratios(left, right).values() if isinstance(r, Fraction)]
    return max(*values, 1 / min(values))


REFUTED = [
    ("pure_dp_of_bounded_range", "t is the middle", ranges, "extremal_response",
     lambda span, top: RandomizedResponse(span, (1 + top) / 2)),
    ("bounded_range_of_pure_dp", "max |L| for the range", ranges, "range_ratio", largest_loss_twice),
    ("bounded_range_of_pure_dp", "factor 2 dropped", ranges, "range_ratio_of_pure", lambda ratio: ratio),
    ("generalized_randomized_response_has_two_losses", "-epsilon dropped", ranges, "keep_probability",
     lambda s, top: (s - s * top) / (s - 1)),
    ("bounded_range_of_exponential_mechanism", "min omitted", ranges, "score_range",
     lambda scores: max(a - b for a, b in scores)),
    ("bounded_range_of_exponential_mechanism", "sensitivity for range", ranges, "score_range",
     ranges.sensitivity),
    ("score_range_at_most_twice_the_sensitivity", "one direction", ranges, "sensitivity",
     lambda scores: max(0, *(a - b for a, b in scores))),
    ("optimal_delta_of_pure_composition", "floor", optimal_pure, "optimal_pure_delta",
     floor_in_place_of_ceiling),
    ("optimal_delta_of_pure_composition", "e^l", optimal_pure, "optimal_pure_delta", exponent_of_the_budget),
    ("optimal_delta_of_pure_composition", "RR_{eps,eps/2}", optimal_pure, "pure_response",
     lambda ratio: RandomizedResponse(ratio, (1 + ratio) / 2)),
    ("pure_delta_is_a_mixture_of_hinges", "l - 2i", optimal_pure, "hinge_level", lambda count, i: count - 2 * i),
    ("pure_delta_is_a_mixture_of_hinges", "e^i", optimal_pure, "hinge_weights", wrong_weights),
    ("order_of_pure_mechanisms_never_matters", "order matters", optimal_pure, "adaptive_delta",
     first_parameter_only),
    ("optimal_delta_is_its_own_dual", "clipped at 0", optimal_pure, "adaptive_delta", clipped_at_zero),
    ("optimal_delta_is_its_own_dual", "e^-epsilon missing", optimal_pure, "opposite_delta",
     lambda delta, budget: 1 - 1 / budget + delta),
    ("batch_of_bounded_range_at_most_subset_sum", "q side", optimal_bounded_range, "subset_sum_delta",
     q_side_weights),
    ("subset_sum_ignores_the_order", "epsilons sorted", optimal_bounded_range, "product_distributions",
     sorted_epsilons),
    ("optimal_delta_of_bounded_range_batch", "k for k + 1", optimal_bounded_range, "candidate_tops",
     k_for_k_plus_1),
    ("optimal_delta_of_bounded_range_batch", "l for l + 1", optimal_bounded_range, "candidate_tops",
     l_for_l_plus_1),
    ("optimal_delta_of_bounded_range_batch", "t = epsilon/2", optimal_bounded_range, "candidate_tops",
     lambda count, steps, level: [steps // 2]),  # the fault
    ("order_of_a_batch_never_matters", "adaptive", mixed_batch, "batch_delta", order_dependent),
    ("mixed_subset_sum_factorises", "epsilon for 2 epsilon", mixed_batch, "_responses",
     pure_block_of_bounded_range),
    ("averaging_two_parameters_never_lowers_delta", "the first twice", mixed_batch, "averaged", first_is_kept),
    ("averaging_two_parameters_never_lowers_delta", "pushed apart", mixed_batch, "averaged", pushed_apart),
    ("one_parameter_suffices_for_a_batch", "adaptive tuple", mixed_batch, "batch_delta", adaptive_delta),
    ("one_parameter_suffices_for_a_batch", "counts exchanged", mixed_batch, "product_delta", swapped_counts),
    ("delta_is_the_largest_partial_sum", "exponent j", mixed_batch, "partial_sum", printed_partial_sum),
    ("optimal_delta_of_mixed_batch", "t = epsilon/2", mixed_batch, "candidate_tops", half),
    ("optimal_delta_of_mixed_batch", "l up to k - m", mixed_batch, "candidate_tops", too_few_candidates),
    ("optimal_delta_of_mixed_batch", "counts exchanged", mixed_batch, "product_delta", swapped_counts),
    ("optimal_delta_of_mixed_batch", "m - j - i", mixed_batch, "product_delta", loss_of_pure_is_epsilon),
    ("mixed_batch_interpolates_between_pure_and_bounded_range", "counts exchanged", mixed_batch, "product_delta",
     swapped_counts),
    ("adaptive_interactions_stay_below_the_recursion", "one supremum", adaptive_recursion, "adaptive_delta",
     half_range),
    ("adaptive_interactions_stay_below_the_recursion", "a + t", adaptive_recursion, "adaptive_delta",
     wrong_signs),
    ("adaptive_recursion_is_attained", "batch", adaptive_recursion, "adaptive_delta", one_supremum),
    ("adaptive_recursion_is_best_of_all_plans", "batch", adaptive_recursion, "adaptive_delta", one_supremum),
    ("adaptive_recursion_is_best_of_all_plans", "half the range", adaptive_recursion, "adaptive_delta", half_range),
    ("adaptive_recursion_is_attained", "clipped at 0", adaptive_recursion, "adaptive_delta", clipped_at_zero),
    ("single_bounded_range_delta_has_a_closed_form", "half of it as DP", adaptive_recursion, "adaptive_delta",
     half_range),
    ("non_adaptive_delta_at_most_adaptive", "one supremum", adaptive_recursion, "adaptive_delta", one_supremum),
    ("bounded_range_after_pure_is_worse", "reversed", ordering, "at_most_exact", reversed_inequality),
    ("bounded_range_after_pure_is_worse", "kinds exchanged", ordering, "adaptive_delta", flipped),
    ("two_hinges_reduce_to_one", "t in the last case", ordering, "reduced",
     lambda s, top, budget: 0 * s if top <= budget else keep_probability(s, top) * (1 - budget / top)),
    ("position_of_single_bounded_range_never_matters", "two of them", ordering, "single_positions",
     two_bounded_range),
    ("position_of_single_bounded_range_never_matters", "other epsilons", ordering, "bounded_range",
     lambda steps: bounded_range(2 * steps)),
    ("position_among_larger_pure_mechanisms_never_matters", "a larger one", ordering, "bounded_range",
     lambda steps: bounded_range(steps + 12)),
    ("single_bounded_range_follows_from_thm_3", "m = 1", ordering, "optimal_mixed_delta",
     lambda batch: mixed_batch.optimal_mixed_delta(
         LatticeBatch(batch.base, 1, 1, batch.epsilon_units, batch.level_units))),
    ("larger_bounded_range_makes_its_position_matter", "too small", ordering, "PURE_LAST", ends(2739, 2741)),
    ("larger_bounded_range_makes_its_position_matter", "too large", ordering, "PURE_FIRST", ends(3034, 3036)),
    ("order_of_different_bounded_range_mechanisms_matters", "3 % more", ordering, "bounded_range_delta_enclosed",
     lambda level, epsilon: own_range_delta(level, epsilon) * 103 / 100),
    ("order_of_different_bounded_range_mechanisms_matters", "3 % less", ordering, "bounded_range_delta_enclosed",
     lambda level, epsilon: own_range_delta(level, epsilon) * 97 / 100),
    ("position_matters_beside_pure_mechanisms_of_different_epsilons", "the truth is always told", ordering,
     "after_pure", lambda rest, epsilon, level: rest(level - ball(epsilon))),
    ("position_matters_beside_pure_mechanisms_of_different_epsilons", "too large", ordering, "AFTER_A_GAIN",
     ends(790, 792)),
    ("three_mechanism_deltas_split_into_x_y_z", "no square", three, "z_of",
     lambda u, v, w: keep_probability(v**2, u**2)),
    ("three_mechanism_deltas_split_into_x_y_z", "epsilon - (..)/2", three, "z_of",
     lambda u, v, w: three_z(u, v, u**2 / w)),
    ("orders_of_three_agree_from_epsilon_on", "below epsilon", three, "adaptive_delta",
     lambda base, classes, level: adaptive_delta(base, classes, level - classes[0].steps)),
    ("order_of_two_bounded_range_and_one_pure_matters", "x and y exchanged", three, "x_of", three.y_of),
    ("order_of_two_bounded_range_and_one_pure_matters", "equal", three, "pure_first_delta",
     three.interleaved_delta),
    ("orders_of_two_and_two_form_three_groups", "batch", three, "adaptive_delta",
     lambda base, classes, level: adaptive_delta(base, tuple(sorted(classes, key=str)), level)),
    ("three_to_four_times_as_many_bounded_range_mechanisms", "half of it as DP", counting, "candidate_tops",
     lambda bounded, pure_count, epsilon, level: [epsilon / 2]),  # the fault
    ("partial_sums_have_one_peak", "exponent j", mixed_batch, "partial_sum", printed_partial_sum),
    ("partial_sums_have_one_peak", "m + l", mixed_batch, "derivative_formula", derivative_with_k),
    ("derivatives_of_three_mechanism_deltas", "no constants", three, "missing_constants",
     lambda v: dict.fromkeys(("x", "y", "z", "y + z"), 1 + 0 * v)),
]  # fmt: skip


UNPROVED = [
    ("generalized_randomized_response_has_two_losses", "arguments exchanged", ranges, "keep_probability",
     lambda s, top: keep_probability(top, s)),
    ("two_open_hinges_do_not_depend_on_the_parameter", "arguments exchanged", ordering, "keep_probability",
     lambda s, top: keep_probability(top, s)),
    ("pure_mechanism_first_is_strictly_worse", "peaks exchanged", three, "peaks",
     lambda v, w: {"y": v**2 * w, "z": v * w}),
]  # fmt: skip


@pytest.fixture(autouse=True)
def _without_shrinking(monkeypatch: pytest.MonkeyPatch) -> None:
    """A refutation is enough here; its smallest point costs more than all the rest."""
    phases = (Phase.generate, Phase.target)
    monkeypatch.setattr(verify, "settings", lambda **options: settings(**{**options, "phases": phases}))


def test_a_wrong_formula_is_refuted(refuted: Statement) -> None:
    assert verify_statement(refuted).outcome is Outcome.VIOLATED


def test_a_proof_of_a_wrong_formula_does_not_go_through(unproved: Statement) -> None:
    assert verify_statement(unproved).outcome is not Outcome.HOLDS


@pytest.mark.kills("pure_mechanism_first_is_strictly_worse")
def test_a_peak_before_the_middle_is_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(three, "_slope", lambda root, cube, lower, peak: (root + lower) * (cube - peak))
    assert verify_statement(find_statement("pure_mechanism_first_is_strictly_worse")).outcome is not Outcome.HOLDS


def test_the_responses_of_the_mutants_are_right() -> None:
    assert pure_response(Fraction(2)) == RandomizedResponse(Fraction(4), Fraction(2))


@pytest.mark.kills("derivatives_of_three_mechanism_deltas")
def test_a_negative_constant_is_refuted_though_the_identity_is_true(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("missing_constants", "printed_derivatives"):
        original = getattr(three, name)
        turned = lambda *at, original=original: {  # both change sign: their product does not
            key: -value if key == "z" else value for key, value in original(*at).items()
        }
        monkeypatch.setattr(three, name, turned)
    assert find_statement("derivatives_of_three_mechanism_deltas")().outcome is Outcome.VIOLATED
