from fractions import Fraction

import pytest

from dpassay.spec.ball import max_balls
from dpassay.spec.domains.answers import Block, NeighbouringAnswers
from dpassay.spec.statement import find_statement
from dpassay.spec.theorems.gaussian_selection.monotone_ratios import _mgf_quotient_exists
from dpassay.spec.theorems.gaussian_selection.noisy_max import noisy_max_epsilon, noisy_max_losses
from dpassay.spec.verdict import Outcome

HALF, ONE = Fraction(1, 2), Fraction(1)
UNMOVED = NeighbouringAnswers(
    (Block(Fraction(0), Fraction(0), 3), Block(HALF, HALF), Block(ONE, ONE)), Fraction(0), ONE, Fraction(0)
)


def test_queries_that_cannot_move_cost_nothing() -> None:
    assert noisy_max_epsilon(5, HALF, 1, 0) == 0
    assert max_balls(noisy_max_losses(UNMOVED, HALF)) == 0


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("pure_dp_of_gaussian_noisy_max", {}),
        ("noisy_max_ratio_at_most_its_enlargement", {}),
        ("approximate_dp_of_gaussian_noisy_max_by_post_processing", {"epsilon": 0}),
    ],
)
def test_equal_data_sets_are_decided(name: str, more: dict[str, int]) -> None:
    verdict = find_statement(name)(pair=UNMOVED, relative_sigma=HALF, **more)
    assert verdict.outcome is Outcome.HOLDS


def test_the_quotient_of_a_point_at_0_is_decided() -> None:
    atom = ((Fraction(0), Fraction(648, 25)),)
    verdict = find_statement("mgf_ratio_monotone")(atoms=atom, shift=Fraction(1, 1000), s=0, step=ONE)
    assert verdict.outcome is Outcome.HOLDS


@pytest.mark.parametrize(
    ("shift", "s", "outcome"),
    [(1, Fraction(-3, 2), Outcome.HOLDS), (1, Fraction(1, 4), Outcome.HOLDS), (1, Fraction(3, 2), Outcome.VIOLATED)],
)
def test_a_quotient_is_missing_only_where_both_moments_are_infinite(shift: int, s: Fraction, outcome: Outcome) -> None:
    assert _mgf_quotient_exists(shift, s).outcome is outcome


def test_blocks_that_are_one_object_are_two_blocks() -> None:
    block = Block(Fraction(0), ONE)
    twice = NeighbouringAnswers((block, block), Fraction(0), ONE, ONE)
    assert twice.others(block) == (block,)
    assert all(abs(loss) < 1e-9 for loss in noisy_max_losses(twice, HALF))  # each wins as often as the other


def test_a_single_query_is_decided_against_a_delta_that_is_tiny() -> None:
    block = Block(Fraction(1999991, 3000000), Fraction(2, 3))
    single = NeighbouringAnswers((block,), Fraction(-7, 3), Fraction(2, 3), Fraction(3, 10**6))
    statement = find_statement("approximate_dp_of_gaussian_noisy_max_by_post_processing")
    assert statement(pair=single, relative_sigma=Fraction(2448, 5), epsilon=1).outcome is Outcome.HOLDS


def test_a_ratio_within_e_to_the_minus_25000_of_1_is_decided() -> None:
    blocks = (Block(-ONE, -ONE), Block(Fraction(-23, 50), Fraction(-14, 25)))
    pair = NeighbouringAnswers(blocks, -ONE, Fraction(0), Fraction(1, 10))
    verdict = find_statement("noisy_max_ratio_at_most_its_enlargement")(pair=pair, relative_sigma=Fraction(123, 62500))
    assert verdict.outcome is Outcome.HOLDS
