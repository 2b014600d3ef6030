"""Mutants of the mathematics of leaves: elimination, merging, alignments, certificates."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from dpassay.neighbours import VectorNeighbours
from dpassay.properties.verify import verify_statement
from dpassay.spec.leaves import (
    alignment,
    cell_certificates,
    cell_pairs,
    check_cells,
    data_cells,
    derived,
    discrete_cells,
    elimination,
    gaussian_alignment,
    given_up,
    gumbel_races,
    lattice_alignment,
    merging,
    noise_behind,
    piecewise,
    probability,
    siblings,
    substitution,
)
from dpassay.spec.leaves.model import Constraint, Function, NoiseKind, Relation
from dpassay.spec.leaves.moves import Moves, covers
from dpassay.spec.leaves.piecewise import Lift, Piecewise, Terms, density
from dpassay.spec.leaves.polyhedra import negated, opposite
from dpassay.spec.leaves.probability import forget_probabilities
from dpassay.spec.leaves.programmes import Infeasible, Optimum, minimum
from dpassay.spec.leaves.rows import ONE
from dpassay.spec.statement import Statement
from dpassay.spec.verdict import Outcome

TRUE = {name: getattr(module, name) for module, name in (
    (elimination, "antiderivative"), (probability, "_decided"), (merging, "_union"),
)}  # fmt: skip


@pytest.fixture(autouse=True)
def _nothing_remembered() -> Iterator[None]:
    """Integrals that are remembered would hide a wrong step, and those of a wrong step would outlive it."""
    forget_probabilities()
    yield
    forget_probabilities()


# --- elimination --------------------------------------------------------------------------------------------


def without_the_left_tail(kind: NoiseKind, lift: Lift[Any]) -> Piecewise[Any]:
    whole = density(kind, lift)
    return Piecewise(whole.kinks, ({}, *whole.parts[1:]))


def wrong_sign_of_powers(terms: Terms[Any], lift: Lift[Any]) -> Terms[Any]:
    return {(k, r): value if k == 0 else -value for (k, r), value in TRUE["antiderivative"](terms, lift).items()}


def without_the_rate(terms: Terms[Any], lift: Lift[Any]) -> Terms[Any]:
    whole = TRUE["antiderivative"](terms, lift)
    return {(k, r): value * lift(abs(r), Fraction(0)) if r else value for (k, r), value in whole.items()}


def without_jacobian(factor: Any, weight: Any) -> Any:
    return factor.function


def ties_always_pass(constraints: Any) -> Any:
    return TRUE["_decided"]([replace(one, relation=Relation.AT_LEAST) for one in constraints])


def one_bound_for_both_directions(edge: Any) -> Any:
    return edge.log_low, edge.log_high


def rates_of_the_first(left: Any, right: Any) -> Any:
    return [(a * b, r) for a, r in left for b, _ in right]


# --- merging ------------------------------------------------------------------------------------------------


def nothing_stands_in_the_way(first: Any, second: Any) -> bool:
    return False


def everything_is_implied(constraint: Any, others: Any) -> bool:
    return True


def nothing_is_implied(constraint: Any, others: Any) -> bool:
    return False


def union_of_the_first_constraints(parts: Any, node: Any, rest: Any) -> Any:
    """The union is the first leaf: the others are lost."""
    whole = TRUE["_union"](parts, node, rest)
    return None if whole is None else replace(whole, whole=parts[0].whole)


def the_heaviest_sibling_counts(level: Any, family: Any) -> Fraction:
    heaviest: Fraction = max(level.pop(path) for path in family)
    return heaviest


def the_first_of_two(left: Any, right: Any) -> Any:
    return left


# --- alignments ---------------------------------------------------------------------------------------------


def half_of_the_moves(model: Any, relation: VectorNeighbours) -> tuple[Moves, ...]:
    return tuple(replace(moves, reach=moves.reach / 2) for moves in covers(relation))


def moves_upwards_only(model: Any, relation: VectorNeighbours) -> tuple[Moves, ...]:
    def upwards(moves: Moves) -> Moves:
        made = replace(moves)
        made.__dict__["boxes"] = tuple(tuple((Fraction(0), high) for _, high in box) for box in moves.boxes)
        return made

    return tuple(map(upwards, covers(relation)))


def good_end_for_bad(leaf: Any, released: Any) -> Mapping[int, int | None]:
    return {i: end if end is None else 1 - end for i, end in BAD_ENDS(leaf, released).items()}


def low_end_always(leaf: Any, released: Any) -> Mapping[int, int | None]:
    return dict.fromkeys(BAD_ENDS(leaf, released), 0)


def half_of_the_cost(cost: Sequence[Fraction], rows: Any) -> Optimum | Infeasible:
    found = minimum(cost, rows)
    return replace(found, value=found.value / 2) if isinstance(found, Optimum) else found


def violated_rows_left_alone(cost: Sequence[Fraction], rows: Any) -> Optimum | Infeasible:
    return minimum(cost, rows[:-1])


def wrong_side(cost: Sequence[Fraction], rows: Any) -> Optimum | Infeasible:
    return minimum(cost, [(row, -bound) for row, bound in rows])


BAD_ENDS = alignment._bad_ends
BOTH_WAYS = dict.fromkeys(alignment.DIRECTIONS, (1, -1))


def images_may_overlap(first: Any, second: Any, place: Any) -> bool:
    return True


def half_of_the_regions(moves: Moves) -> Any:
    return REGIONS(replace(moves, reach=moves.reach / 2))


REGIONS = cell_pairs._regions


def half_of_a_unit(noise: Any) -> Fraction:
    return UNIT_COST(noise) / 2


def as_if_independent(noise: Any, data: Any) -> Any:
    return [[sum((b[i] * b[j] for b in data), Fraction(0)) for j in range(len(data[0]))] for i in range(len(data[0]))]


def forms_of_numbers_with_data(leaf: Any) -> Any:
    known = PROGRAMME(leaf)
    return replace(known, forms=tuple(one for one in known.forms if one[0].data))


PROGRAMME = alignment.programme_of
UNIT_COST = lattice_alignment.unit_cost


def nothing_is_given_up(parts: Any, place: Any) -> Fraction:
    return Fraction(0)


def value_at_a_point(row: Any, place: Any) -> Fraction | None:
    point = given_up._point([name for name in row if name != ONE], place)
    return None if point is None else given_up._at(row, point)


def every_leaf_alone(parts: Any) -> list[Any]:
    return []


# --- cells of data --------------------------------------------------------------------------------------------


def boundaries_below(model: Any, form: Any) -> Any:
    return (opposite(Constraint(negated(form))),), (Constraint(negated(form)),)


def other_side_only(model: Any, cell: Any) -> Any:
    return (leaf for leaf in model.leaves if {opposite(one) for one in cell}.isdisjoint(leaf.constraints))


def weight_alone(leaf: Any) -> Fraction:
    weight: Fraction = leaf.weight
    return weight


def one_end_alone(leaf: Any) -> Fraction:
    mass: Fraction = DISCRETE_MASS(replace(leaf, constraints=leaf.constraints[:-1] + leaf.constraints[:1]))
    return mass


def last_leaf_alone(leaves: Any) -> Any:
    return {leaf.outcome: DISCRETE_MASS(leaf) for leaf in leaves}


def most_likely_outcome(own: Any, other: Any) -> Fraction:
    outcome = max(own, key=own.get)
    ratio: Fraction = own[outcome] / other[outcome]
    return ratio


def largest_excess(own: Any, other: Any, epsilon: Fraction) -> Fraction:
    excesses = [mass - FACTOR(epsilon) * other.get(outcome, Fraction(0)) for outcome, mass in own.items()]
    largest: Fraction = max(Fraction(0), *excesses)
    return largest


def difference_of_masses(own: Any, other: Any, epsilon: Fraction) -> Fraction:
    excesses = (mass - other.get(outcome, Fraction(0)) for outcome, mass in own.items())
    return sum((excess for excess in excesses if excess > 0), Fraction(0))


def half_of_the_logarithm(ratio: Fraction) -> Fraction:
    return LOGARITHM(ratio) / 2


def ties_on_both_sides(constraint: Constraint) -> Constraint:
    return Constraint(negated(constraint.form), constraint.relation)


def nothing_is_apart(ends: Any, proof: Any, record: Any, size: int) -> Any:
    return ()


def double_exponential(epsilon: Fraction) -> Fraction:
    return 2 * FACTOR(epsilon)


def zero_contradicts(forms: Any, multipliers: Any) -> bool:
    return len(forms) == len(multipliers)


def moves_below(relation: Any, size: int) -> Any:
    return [[one for one in own if next(iter(one[1].values())) < 0] for own in CHECKED_MOVES(relation, size)]


DISCRETE_MASS, LOGARITHM = discrete_cells._mass, discrete_cells.log_upper
FACTOR, CHECKED_MOVES = check_cells.exp_lower, check_cells._moves

# --- functions of data ----------------------------------------------------------------------------------------


def changed_range(function: Function, change: Any) -> Any:
    def wrong(derived: Any, argument: Any) -> Any:
        found = DERIVED_RANGE(derived, argument)
        return change(found, argument) if derived.function is function else found

    return wrong


def as_the_argument(found: Any, argument: Any) -> Any:
    return replace(found, moves=argument.moves)


def half_of_the_range(found: Any, argument: Any) -> Any:
    return replace(found, moves=tuple(end / 2 for end in found.moves))


def everything_is_linear(derived: Any, argument: Any) -> Any:
    return replace(DERIVED_RANGE(derived, argument), is_linear=True)


def everything_is_whole(derived: Any, argument: Any) -> Any:
    return DERIVED_RANGE(derived, replace(argument, is_whole=True))


def whole_steps_alone(value: Any) -> Any:
    return Fraction(math.floor(value))


def first_slope_alone(form: Any, ranges: Any) -> Any:
    return ARGUMENT(replace(form, data=dict(itertools.islice(form.data.items(), 1))), ranges)


def no_limit(values: Any, moves: Any) -> Any:
    return moves


def nothing_together(moves: Any, box: Any) -> Any:
    return ({},)


def first_vector_alone(moves: Any, index: int) -> Any:
    return VECTORS(moves, index)[:1]


def intervals_alone(form: Any, box: Any) -> Any:
    return IN_BOX(form, tuple(ends if ends[0] < ends[1] else (Fraction(0), Fraction(0)) for ends in box))


def variances_alone(one: Any, other: Any) -> Fraction:
    return COVARIANCE(one, other) if one == other else Fraction(0)


COVARIANCE = noise_behind._covariance
IN_BOX = gaussian_alignment._in_box
DERIVED_RANGE, ARGUMENT, VECTORS = derived._derived, derived._argument, derived.DerivedMoves._vectors

FUNCTIONS = "pure_dp_of_functions_of_data"
CERTIFIED = "certificates_of_functions_of_data_pass_the_checker"
SENSITIVITY = "alignment_of_a_function_of_data_costs_its_sensitivity"

REFUTED = [
    ("leaves_of_a_decision_tree_sum_to_one", "lost tail", substitution, "density", without_the_left_tail),
    ("leaves_of_a_decision_tree_sum_to_one", "wrong sign", elimination, "antiderivative", wrong_sign_of_powers),
    ("difference_of_two_laplace_noises_by_elimination", "lost tail", substitution, "density", without_the_left_tail),
    ("difference_of_two_laplace_noises_by_elimination", "rate", piecewise, "antiderivative", without_the_rate),
    ("sum_of_uniform_noises_by_substitution", "no Jacobian", substitution, "_scaled", without_jacobian),
    ("ties_of_discrete_draws_are_decided_by_the_relation", "non-strict", probability, "_decided", ties_always_pass),
    ("largest_of_gumbel_noises_is_softmax", "direction", gumbel_races, "_inverted", one_bound_for_both_directions),
    ("order_of_gumbel_noises_is_plackett_luce", "rates", gumbel_races, "_times", rates_of_the_first),
    ("merging_leaves_every_distribution_as_it_is", "overlap", merging, "have_common_interior",
    nothing_stands_in_the_way), ("merging_leaves_every_distribution_as_it_is", "too small", merging, "is_implied",
    everything_is_implied), ("merging_leaves_every_distribution_as_it_is", "first leaf", merging, "_union",
    union_of_the_first_constraints), ("paths_of_a_loop_merge_into_one_leaf_each", "nothing implied", merging,
    "is_implied", nothing_is_implied), ("alignment_of_noisy_max_costs_epsilon", "nothing implied", merging,
    "is_implied", nothing_is_implied), ("alignment_of_noisy_max_costs_epsilon", "half of the moves", alignment,
    "covers_of", half_of_the_moves), ("alignment_of_noisy_max_costs_epsilon", "wrong end", alignment, "_bad_ends",
    good_end_for_bad), ("alignment_of_sparse_vector_is_approached_far_out", "half of the cost",
    alignment, "minimum", half_of_the_cost), ("pure_dp_of_alignment", "negative shifts of exponential noise",
    alignment, "DIRECTIONS", BOTH_WAYS), ("pure_dp_of_alignment", "half of the moves", alignment, "covers_of",
    half_of_the_moves), ("pure_dp_of_alignment", "moves upwards only", alignment, "covers_of", moves_upwards_only),
    ("pure_dp_of_alignment", "wrong end", alignment, "_bad_ends", good_end_for_bad),
    ("pure_dp_of_alignment", "low end always", alignment, "_bad_ends", low_end_always),
    ("pure_dp_of_alignment", "half of the cost", alignment, "minimum", half_of_the_cost),
    ("pure_dp_of_alignment", "a decision forgotten", alignment, "minimum", violated_rows_left_alone),
    ("pure_dp_of_alignment", "wrong sign", alignment, "minimum", wrong_side),
    ("certificates_of_alignments_pass_the_checker", "wrong sign", alignment, "minimum", wrong_side),
    ("certificates_of_alignments_pass_the_checker", "a decision forgotten", alignment, "minimum",
    violated_rows_left_alone), ("certificates_of_alignments_pass_the_checker", "wrong end", alignment, "_bad_ends",
    good_end_for_bad), ("certificates_of_alignments_pass_the_checker", "negative shifts", alignment,
    "DIRECTIONS", BOTH_WAYS), ("certificates_of_alignments_pass_the_checker", "half of the cost", alignment,
    "minimum", half_of_the_cost),
    ("joining_siblings_leaves_the_sum_as_it_is", "weights", siblings, "_take", the_heaviest_sibling_counts),
    ("siblings_fill_the_whole_space", "differences", siblings, "_difference", the_first_of_two),
    ("pure_dp_of_alignment_into_other_cells", "images overlap", data_cells, "_are_disjoint", images_may_overlap),
    ("pure_dp_of_integer_alignment", "downwards", lattice_alignment, "UPWARDS", (1, -1)),
    ("pure_dp_of_integer_alignment", "halves", lattice_alignment, "_is_integral", lambda columns, point: True),
    ("pure_dp_of_integer_alignment", "half of a unit", lattice_alignment, "unit_cost", half_of_a_unit),
    ("pure_dp_of_integer_alignment", "a decision forgotten", lattice_alignment, "minimum", violated_rows_left_alone),
    ("gaussian_dp_of_a_common_shift", "no covariance", gaussian_alignment, "_quadratic", as_if_independent),
    ("gaussian_dp_of_a_common_shift", "half of the moves", gaussian_alignment, "covers_of", half_of_the_moves),
    ("no_gaussian_dp_of_shifts_that_depend_on_the_leaf", "one leaf", gaussian_alignment, "programme_of",
    forms_of_numbers_with_data),
    ("noise_behind_released_numbers", "variances alone", noise_behind, "_covariance", variances_alone),
    ("half_spaces_lose_what_released_numbers_lose", "variances alone", noise_behind, "_covariance", variances_alone),
    ("approximate_dp_of_leaves_given_up", "no price", data_cells, "union_mass", nothing_is_given_up),
    ("approximate_dp_of_leaves_given_up", "some data", given_up, "largest_value", value_at_a_point),
    ("approximate_dp_of_leaves_given_up", "no cover", given_up, "_shared_rows", every_leaf_alone),
    ("approximate_dp_of_leaves_given_up", "half moves", cell_pairs, "_regions", half_of_the_regions),
    ("alignment_of_a_clipped_answer_costs_its_range", "half moves", cell_pairs, "_regions", half_of_the_regions),
    (SENSITIVITY, "clip", derived, "_derived", changed_range(Function.CLIP, as_the_argument)),
    (SENSITIVITY, "absolute value", derived, "_derived", changed_range(Function.ABS, half_of_the_range)),
    (SENSITIVITY, "ceil", derived, "_derived", changed_range(Function.CEIL, as_the_argument)),
    (FUNCTIONS, "square", derived, "_derived", changed_range(Function.SQUARE, half_of_the_range)),
    (SENSITIVITY, "comparison", derived, "_derived", changed_range(Function.ABOVE, as_the_argument)),
    (FUNCTIONS, "linear", derived, "_derived", everything_is_linear),
    (FUNCTIONS, "whole", derived, "_derived", everything_is_whole),
    (FUNCTIONS, "sums", derived, "_argument", first_slope_alone),
    (SENSITIVITY, "whole steps", derived, "_ceil", whole_steps_alone),
    (SENSITIVITY, "ties", derived, "_with_ties", whole_steps_alone),
    (SENSITIVITY, "no limit", derived, "_within", no_limit),
    (SENSITIVITY, "not together", derived.DerivedMoves, "_together", nothing_together),
    ("alignment_of_a_histogram_costs_two_records", "not together", derived.DerivedMoves, "_together",
     nothing_together), ("alignment_of_a_histogram_costs_two_records", "one vector", derived.DerivedMoves,
     "_vectors", first_vector_alone),
    (CERTIFIED, "floor", derived, "_derived", changed_range(Function.FLOOR, half_of_the_range)),
    (CERTIFIED, "comparison", derived, "_derived", changed_range(Function.ABOVE, half_of_the_range)),
    (CERTIFIED, "one vector", derived.DerivedMoves, "_vectors", first_vector_alone),
    (CERTIFIED, "half of the cost", alignment, "minimum", half_of_the_cost),
    ("gaussian_dp_of_functions_of_data", "intervals alone", gaussian_alignment, "_in_box", intervals_alone),
    ("exact_loss_of_distributions_on_cells", "half moves", cell_pairs, "_regions", half_of_the_regions),
    ("exact_loss_of_distributions_on_cells", "boundaries", cell_pairs, "_sides", boundaries_below),
    ("exact_loss_of_distributions_on_cells", "other side", cell_pairs, "_leaves", other_side_only),
    ("exact_loss_of_distributions_on_cells", "no noise", discrete_cells, "_mass", weight_alone),
    ("exact_loss_of_distributions_on_cells", "one end", discrete_cells, "_mass", one_end_alone),
    ("exact_loss_of_distributions_on_cells", "last leaf", discrete_cells, "_masses", last_leaf_alone),
    ("exact_loss_of_distributions_on_cells", "one outcome", discrete_cells, "_largest_ratio", most_likely_outcome),
    ("exact_loss_of_distributions_on_cells", "half", discrete_cells, "log_upper", half_of_the_logarithm),
    ("delta_of_distributions_on_cells", "one outcome", discrete_cells, "_delta", largest_excess),
    ("delta_of_distributions_on_cells", "no epsilon", discrete_cells, "_delta", difference_of_masses),
    ("delta_of_distributions_on_cells", "half moves", cell_pairs, "_regions", half_of_the_regions),
    ("boundaries_of_branches_are_cells", "boundaries", cell_pairs, "_sides", boundaries_below),
    ("boundaries_of_branches_are_cells", "other side", cell_pairs, "_leaves", other_side_only),
    ("certificates_of_cells_prove_the_loss_and_no_less", "ties", cell_certificates, "opposite", ties_on_both_sides),
    ("certificates_of_cells_prove_the_loss_and_no_less", "not apart", cell_certificates, "_apart", nothing_is_apart),
    ("certificates_of_cells_prove_the_loss_and_no_less", "factor", check_cells, "exp_lower", double_exponential),
    ("certificates_of_cells_prove_the_loss_and_no_less", "zero", check_cells, "_is_contradiction", zero_contradicts),
    ("certificates_of_cells_prove_the_loss_and_no_less", "moves", check_cells, "_moves", moves_below),
]  # fmt: skip


def test_a_wrong_step_is_refuted(refuted: Statement) -> None:
    assert verify_statement(refuted).outcome is Outcome.VIOLATED
