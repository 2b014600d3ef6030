import math
from fractions import Fraction

import pytest

from dpassay.spec.ball import ball, float_upper
from dpassay.spec.distributions.randomised_response import composed_response_hockey_stick, responses
from dpassay.spec.interactions.transcripts import Interaction, randomised_response
from dpassay.spec.statement import find_statement
from dpassay.spec.theorems.foundations.composition import advanced_composition_epsilon, composed_ratio


@pytest.mark.parametrize(
    ("copies", "epsilon", "level"), [(1, Fraction(1), 0.25), (3, Fraction(1, 2), 0.5), (6, Fraction(1), 2.0)]
)
def test_the_binomial_sum_is_the_hockey_stick_of_the_product(copies: int, epsilon: Fraction, level: float) -> None:
    truth = 1 / (1 + math.exp(-epsilon))
    masses = [math.comb(copies, j) * truth**j * (1 - truth) ** (copies - j) for j in range(copies + 1)]
    excess = (1 - math.exp(level - float(epsilon) * (2 * j - copies)) for j in range(copies + 1))
    expected = sum(m * max(0.0, x) for m, x in zip(masses, excess, strict=True))
    found = composed_response_hockey_stick(copies, epsilon, ball(level))
    assert float(found) == pytest.approx(expected, rel=1e-12)


def test_without_the_two_the_print_fails_by_the_factors_of_the_catalogue() -> None:
    # r = 16: 1.25 times delta; r = 30: 44 times; r = 100: 4400 times
    for copies, epsilon, delta, factor in (
        (16, "0.136", 2.5e-6, 1.2),
        (30, "0.051", 1e-12, 43),
        (100, "0.173", 1e-12, 4300),
    ):
        each = Fraction(epsilon)
        level = copies * ball(each) ** 2 / 2 + ball(each) * (-copies * ball(delta).log()).sqrt()
        assert float(composed_response_hockey_stick(copies, each, level)) > factor * delta


def test_the_distributions_of_responses() -> None:
    distribution = responses((0, 1), Fraction(3, 4))
    assert distribution.probability((0, 1)) == Fraction(9, 16)
    assert distribution.probability((1, 0)) == Fraction(1, 16)


def test_the_ratio_of_a_tree_takes_the_dearest_of_each_round() -> None:
    cheap, dear = (Interaction(randomised_response(Fraction(ratio))) for ratio in (2, 5))
    assert composed_ratio(Interaction(randomised_response(Fraction(3)), {0: cheap, 1: dear})) == 15


def test_the_formula_at_a_point() -> None:
    assert float_upper(advanced_composition_epsilon(8, ball(Fraction(1, 2)), 1)) == pytest.approx(1.0)
    assert find_statement("approximate_dp_of_advanced_composition").covered_items[1] == ("cohen2023", "dp_composition")
