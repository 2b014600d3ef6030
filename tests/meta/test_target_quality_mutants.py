"""Mutants of the chapter on targets: wrong qualities, wrong decompositions, wrong charges. Each must be refuted.

Falsification alone cannot catch a smaller q than the exact one: the f of Lem F.1, or Lem E.2, are errata of the kind
"loose" instead, and the statements of attainment refute such mutants.
"""

from collections.abc import Hashable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from dpassay.properties.strategies import quantifier_strategies
from dpassay.properties.verify import verify_statement
from dpassay.spec.distributions.boundary_wrapper import BOUNDARY
from dpassay.spec.distributions.discrete import FiniteDistribution, hockey_stick_exact
from dpassay.spec.distributions.indistinguishable import conditioned, restricted
from dpassay.spec.notions import target_quality as notion
from dpassay.spec.notions.target_quality import Target, of_target, outcomes_of
from dpassay.spec.statement import Statement, find_statement
from dpassay.spec.theorems.target_charging import (
    between_thresholds,
    boundary_quality,
    boundary_wrapper,
    conditional_release,
    decomposition,
    double_run,
    not_prior,
    target_quality,
)
from dpassay.spec.verdict import Outcome

Finite = FiniteDistribution


# --- wrong formulas -----------------------------------------------------------------------------------------


def quality_by(common: Any, *, pick: Any = min) -> Any:
    """The closed form with another common mass, or with another choice of a side."""

    def quality(left: Finite, right: Finite, target: Target, ratio: Fraction) -> Fraction:
        outcomes = [o for o in outcomes_of(left, right) if o not in target]
        shared = sum((common(left.probability(o), right.probability(o), ratio) for o in outcomes), Fraction(0))
        hits = Fraction(pick((of_target(left, target), of_target(right, target))))
        return hits / (1 - shared) if shared != 1 else Fraction(1)

    return quality


def first_order_only(p: Fraction, q: Fraction, ratio: Fraction) -> Fraction:
    return (ratio * q - p) / (ratio - 1)


def plus_for_minus(p: Fraction, q: Fraction, ratio: Fraction) -> Fraction:
    return (ratio * min(p, q) - max(p, q)) / (ratio + 1)


def all_outcomes_shared(left: Finite, right: Finite, target: Target, ratio: Fraction) -> dict[Hashable, Fraction]:
    outcomes = outcomes_of(left, right)
    return {o: notion.common_mass(left.probability(o), right.probability(o), ratio) for o in outcomes}


def one_order(left: Finite, right: Finite, ratio: Fraction) -> Fraction:
    return hockey_stick_exact(left, right, ratio)


def sum_of_both_orders(left: Finite, right: Finite, ratio: Fraction) -> Fraction:
    return min(Fraction(1), hockey_stick_exact(left, right, ratio) + hockey_stick_exact(right, left, ratio))


def total_variation(left: Finite, right: Finite, ratio: Fraction) -> Fraction:
    return hockey_stick_exact(left, right, Fraction(1))


def renormalised(law: Finite, kept: Target) -> Finite:
    """What is hidden is drawn again instead of being replaced by nothing."""
    shown = conditioned(law, kept) if of_target(law, kept) else law
    return restricted(shown, kept)


def wrapped_with(cap: Fraction, *, quotient: bool) -> Any:
    def wrapped(law: Finite) -> Finite:
        doubt = 1 - max(law.weights.values())
        boundary = min(cap, doubt / (1 + doubt) if quotient else doubt)
        return Finite({**{o: p * (1 - boundary) for o, p in law.weights.items()}, BOUNDARY: boundary})

    return wrapped


HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
N, D, Q, P = notion, decomposition, target_quality, not_prior
C, B, W, BQ, R = conditional_release, between_thresholds, boundary_wrapper, boundary_quality, double_run
RIGHT = notion.common_mass

REFUTED = [
    # decompositions
    ("approximate_dp_iff_pure_dp_with_errors", "one direction only", D, "least_delta", one_order),
    ("approximate_dp_iff_pure_dp_with_errors", "total variation", D, "least_delta", total_variation),
    ("approximate_dp_algorithm_iff_every_pair_decomposes", "deltas added", D, "least_delta", sum_of_both_orders),
    # the exact quality
    ("quality_of_target_in_closed_form", "the second orientation is forgotten", Q, "target_quality",
     quality_by(first_order_only)),
    ("quality_of_target_in_closed_form", "e^eps + 1 in c_max", N, "common_mass", plus_for_minus),
    ("quality_of_target_in_closed_form", "C has mass on T", N, "_common", all_outcomes_shared),
    ("quality_of_target_in_closed_form", "the likelier side", Q, "target_quality", quality_by(RIGHT, pick=max)),
    ("quality_grows_with_target_and_epsilon", "1/(e^eps - 1) for e^eps - 1", Q, "target_quality",
     lambda left, right, target, ratio: quality_by(RIGHT)(left, right, target, 1 + 1 / (ratio - 1))),
    ("approximate_dp_iff_whole_range_is_target", "total variation", Q, "least_delta", total_variation),
    ("quality_of_algorithm_is_the_worst_over_its_pairs", "one side only", Q, "target_quality",
     quality_by(RIGHT, pick=lambda sides: sides[0])),
    # NotPrior
    *(
        (name, fault, P, "not_prior_quality", wrong)
        for name in ("not_prior_outcomes_are_a_target", "not_prior_outcomes_are_a_target_with_delta",
                     "either_outcome_of_a_private_test_is_a_target")
        for fault, wrong in (("q = 1/2", lambda r: HALF), ("q = 1/e^eps", lambda r: 1 / r))
    ),
    ("not_prior_outcomes_are_a_target", "q = 1/(e^eps - 1)", P, "not_prior_quality", lambda r: 1 / (r - 1)),
    ("not_prior_quality_is_attained", "q = e^-eps/2", P, "not_prior_quality", lambda r: 1 / (2 * r)),
    ("quality_falls_where_two_outcomes_are_left_out", "T never charged in vain", P, "target_quality",
     lambda left, right, target, ratio: Fraction(1)),
    ("logit_of_private_test_moves_by_two_epsilon", "(1 - p)^2", P, "odds", lambda p: p / (1 - p) ** 2),
    # conditional release
    ("restriction_is_post_processing", "hidden outcomes drawn again", C, "restricted", renormalised),
    ("conditional_release_is_private_with_not_prior_target", "hidden drawn again", C, "restricted",
     renormalised),
    ("conditional_release_is_private_with_not_prior_target", "what is hidden is published", C, "release",
     lambda laws, target: laws),
    ("conditioning_doubles_epsilon", "epsilon for 2 epsilon", C, "revision_ratio", lambda r: r),
    ("two_epsilon_of_a_revision_is_approached", "3 epsilon", C, "revision_ratio", lambda r: r**3),
    ("revision_is_private_at_two_epsilon_with_not_prior_target", "revised at epsilon", C, "revision_ratio",
     lambda r: r),
    ("revision_is_private_at_two_epsilon_with_not_prior_target", "q of the release", C, "not_prior_quality",
     lambda r: HALF),
    ("release_and_revisions_publish_one_draw", "drawn again at each revision", C, "revise",
     lambda laws, before, target: (restricted(laws[0], target), restricted(laws[1], target))),
    # BetweenThresholds
    *(
        (name, "the factor 1 - W is missing", B, "between_quality", lambda e, w: 1 / (e + 1))
        for name in ("between_is_target_of_between_thresholds", "between_is_target_at_real_parameters",
                     "between_thresholds_quality_by_algebra",
                     "gap_of_log_ten_over_epsilon_keeps_nine_tenths")
    ),
    ("between_is_target_of_between_thresholds", "1 + W", B, "between_quality", lambda e, w: (1 + w) / (e + 1)),
    ("between_thresholds_quality_is_attained", "e^(2 eps)", B, "between_quality",
     lambda e, w: (1 - w) / (e**2 + 1)),
    ("between_thresholds_is_cheaper_only_above", "the costs exchanged", B, "charge_ratio",
     lambda offset, _ratio=B.charge_ratio: 1 / _ratio(offset)),
    # the boundary wrapper
    ("pure_dp_of_boundary_wrapped_algorithm", "min(1/3, pi)", W, "boundary_wrapped",
     wrapped_with(THIRD, quotient=False)),
    ("pure_dp_of_boundary_wrapped_algorithm", "min(1/2, pi)", W, "boundary_wrapped",
     wrapped_with(HALF, quotient=False)),
    ("pure_dp_of_boundary_wrapped_algorithm", "t of a test", W, "wrapped_classifier_ratio",
     W.wrapped_test_ratio),
    ("pure_dp_of_boundary_wrapped_test", "t = epsilon", W, "wrapped_test_ratio", lambda e: e),
    ("pure_dp_of_boundary_wrapped_test", "min(1/2, pi)", W, "boundary_wrapped",
     wrapped_with(HALF, quotient=False)),
    ("wrapped_classifier_epsilon_is_approached", "1 % too much", W, "wrapped_classifier_ratio",
     lambda e, _ratio=W.wrapped_classifier_ratio: _ratio(e) * Fraction(101, 100)),
    ("wrapped_test_ratios_by_algebra", "epsilon for 4 epsilon/3", W, "four_thirds", lambda y: y**3),
    *(
        (name, fault, BQ, "boundary_quality", wrong)
        for name in ("boundary_is_target_of_wrapped_algorithm", "boundary_is_target_of_wrapped_test")
        for fault, wrong in (
            ("q = 2/7", lambda e, r: Fraction(2, 7)),
            ("e^(t - 1)", lambda e, r: r * Fraction(36, 100) / (2 * (e * r - 1))),
            ("q of NotPrior", lambda e, r: 1 / (e + 1)),
        )
    ),
    ("rises_beside_the_boundary_are_small", "min(1/2, pi)", W, "boundary_wrapped",
     wrapped_with(HALF, quotient=False)),
    # the double run
    ("disagreement_of_two_runs_is_a_target", "the larger of the two", R, "double_run_quality",
     lambda x: max(2 * x / (1 + x) ** 2, (x + 1) / (x**2 + x + 1))),
    ("double_run_quality_is_attained", "half of it", R, "_quality_of_response", lambda x: x / (1 + x) ** 2),
    ("merging_outcomes_lowers_the_quality_of_disagreement", "agreement for disagreement", R, "disagreement",
     lambda law: frozenset((o, o) for o in law.outcomes)),
    ("disagreement_costs_four_epsilon_a_hit", "half of q", R, "_quality_of_response",
     lambda x: x / (1 + x) ** 2),
]  # fmt: skip

# A wrong step of a proof is not reduced to 0; whether the difference is a number is another matter.
UNPROVED = [
    ("not_prior_decomposition_by_algebra", "r + 1 in p", P, "not_prior_weight",
     lambda r, low, high: 1 - (r * high - low) / (r + 1)),
    ("not_prior_decomposition_by_algebra", "pi and pi' exchanged", P, "not_prior_weight",
     lambda r, low, high: 1 - (r * low - high) / (r - 1)),
    ("wrapped_epsilon_is_at_most_four_thirds_of_epsilon", "e + 1", W, "wrapped_classifier_ratio",
     lambda e: 3 * e**2 / (e + 2)),
    ("boundary_quality_by_algebra", "that of Lem E.2", BQ, "boundary_quality", BQ.printed_boundary_quality),
    ("boundary_quality_by_algebra", "eps and t exchanged", BQ, "boundary_quality",
     lambda e, r, _quality=BQ.boundary_quality: _quality(r, e)),
    ("boundary_wrapper_costs_up_to_fourteen_ninths", "the exact q for Lem E.2", BQ, "printed_boundary_quality",
     BQ.boundary_quality),
    ("double_run_quality_by_algebra", "q of NotPrior", R, "_quality_of_rarity", lambda x: 1 / (1 + x)),
]  # fmt: skip


class RefutedError(Exception):
    """A point violates the statement."""


def is_refuted(statement: Statement) -> bool:
    """Whether a proof, an example or one of the points that the quick profile draws is violated; without shrinking."""
    if not statement.quantifiers:
        return statement().outcome is Outcome.VIOLATED

    @seed(0)
    @settings(max_examples=statement.cases, database=None, deadline=None, suppress_health_check=list(HealthCheck),
              phases=(Phase.generate,), report_multiple_bugs=False)  # fmt: skip
    @given(**quantifier_strategies(statement))
    def attack(**values: Any) -> None:
        if statement(**values).outcome is Outcome.VIOLATED:
            raise RefutedError

    if any(statement(**example).outcome is Outcome.VIOLATED for example in statement.examples):
        return True
    try:
        attack()
    except RefutedError:
        return True
    return False


def test_a_wrong_formula_is_refuted(refuted: Statement) -> None:
    assert is_refuted(refuted)


@pytest.mark.parametrize("name", sorted({name for name, *_ in REFUTED}))
def test_the_unmutated_statement_is_not_refuted(name: str) -> None:
    assert not is_refuted(find_statement(name))


def test_a_proof_of_a_wrong_formula_does_not_go_through(unproved: Statement) -> None:
    assert verify_statement(unproved).outcome is not Outcome.HOLDS
