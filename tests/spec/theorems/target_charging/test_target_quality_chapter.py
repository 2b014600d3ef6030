"""The chapter on targets: every statement, every erratum, and the figures of the counterexamples."""

from fractions import Fraction

import pytest

from dpassay.arguments import UsageError
from dpassay.properties.coverage import coverage
from dpassay.properties.verify import verify_errata, verify_statement
from dpassay.spec.distributions.discrete import FiniteDistribution, least_delta
from dpassay.spec.statement import all_statements, find_statement
from dpassay.spec.theorems.target_charging.boundary_quality import boundary_quality, printed_boundary_quality
from dpassay.spec.theorems.target_charging.boundary_wrapper import wrapped_classifier_ratio, wrapped_test_ratio
from dpassay.spec.theorems.target_charging.decomposition import pure_with_errors
from dpassay.spec.theorems.target_charging.double_run import double_run_quality, two_runs_quality

TOPICS = ("decomposition", "target_quality", "not_prior", "conditional_release", "between_thresholds",
          "boundary_wrapper", "boundary_quality", "double_run")  # fmt: skip
PLACES = tuple(f"dpassay.spec.theorems.target_charging.{topic}:" for topic in TOPICS)
STATEMENTS = [statement.name for statement in all_statements() if statement.where.startswith(PLACES)]
ITEMS = (
    "indistinguishability", "q_target_pure", "not_prior_target", "conditional_release_privacy",
    "revise_call_privacy", "between_thresholds_q_claim", "between_vs_above_cost", "boundary_wrapper",
    "wrapped_privacy_general", "boundary_target_q", "boundary_overhead_remark", "approx_dp_decomposition",
    "neighbouring_abstraction", "approx_dp_algorithm_decomposition", "q_target_pair_approx",
    "q_target_algorithm_approx", "q_target_iff_dp", "not_prior_target_pair", "private_testing_target_pair",
    "restriction_indistinguishable", "conditioning_doubles_eps", "revise_proof", "wrapped_test_ratios",
    "wrapped_test_privacy", "boundary_target_q_test", "wrapped_classifier_privacy", "double_run_target",
    "double_run_overhead", "between_thresholds_target", "logit_lipschitz", "prior_work_comparisons",
)  # fmt: skip


def test_there_is_no_less_than_there_was() -> None:
    assert len(STATEMENTS) >= 39


@pytest.mark.parametrize("name", STATEMENTS)
def test_statement_holds_with_nothing_undecided(name: str) -> None:
    assert verify_statement(find_statement(name)).as_expected


@pytest.mark.parametrize("name", STATEMENTS)
def test_every_erratum_is_as_stated(name: str) -> None:
    reports = list(verify_errata([find_statement(name)]))
    assert [report.record() for report in reports if not report.as_expected] == []


def test_the_errata_of_the_chapter() -> None:
    reports = verify_errata(map(find_statement, STATEMENTS))
    assert sorted((report.item, report.erratum.kind) for report in reports) == [
        ("App E extension", "proof"),
        ("Footnote 4", "false"),
        ("Lem 2.5", "false"),
        ("Lem 2.9", "false"),
        ("Lem C.3", "false"),
        ("Lem E.2", "loose"),
        ("Lem F.1", "loose"),
        ("Lem F.1", "proof"),
        ("Rem F.2", "loose"),
        ("Sec 2.6 claim", "false"),
        ("Sec 2.7 remark", "false"),
    ]


def test_every_item_is_covered_by_a_statement() -> None:
    covered = {row.row.name: row.covered_by for row in coverage("cohen2023")}
    assert {name: covered[name] for name in ITEMS} == dict.fromkeys(ITEMS, "statement")


# --- figures ------------------------------------------------------------------------------------------------


def test_the_wrapped_parameters_have_their_turning_points() -> None:
    assert wrapped_test_ratio(Fraction(3, 2)) == Fraction(3, 2)
    assert wrapped_test_ratio(Fraction(11, 10)) == Fraction(9, 8)
    assert wrapped_classifier_ratio(Fraction(11, 10)) == Fraction(363, 320)


def test_the_boundary_quality_is_that_of_the_paper_where_t_is_epsilon() -> None:
    for e in (Fraction(3, 2), Fraction(3)):
        assert boundary_quality(e, e) == printed_boundary_quality(e, e) == 1 / (2 * (e + 1))


def test_two_runs_turn_at_the_tribonacci_constant() -> None:
    low, high = Fraction(18392, 10000), Fraction(18393, 10000)
    assert double_run_quality(low) == 2 * low / (1 + low) ** 2
    assert double_run_quality(high) == (high**2 - 1) / (high**3 - 1)


def test_two_runs_of_randomised_response() -> None:
    assert two_runs_quality(FiniteDistribution.of(3, 1), FiniteDistribution.of(1, 3), Fraction(3)) == Fraction(3, 8)


def test_a_delta_that_is_too_small_has_no_decomposition() -> None:
    left, right = FiniteDistribution.of(9, 1, 0), FiniteDistribution.of(1, 8, 1)
    assert least_delta(left, right, Fraction(2)) == Fraction(7, 10)
    with pytest.raises(UsageError, match="delta"):
        pure_with_errors(left, right, Fraction(2), Fraction(69, 100))
    with pytest.raises(UsageError, match="delta"):
        pure_with_errors(left, right, Fraction(2), Fraction(1))
