"""The distribution of the largest noisy answer, and of its index under exponential noise."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import expon, gumbel_r, laplace

from dpassay.arguments import UsageError
from dpassay.spec.ball import sum_balls
from dpassay.spec.distributions.laplace import Side
from dpassay.spec.distributions.noisy_max_values import (
    ExponentialNoisyMaxDistribution,
    Noise,
    NoisyMaxValueDistribution,
)

ANSWERS = (0, 3, -1, 3)
SCIPY = {"laplace": laplace, "exponential": expon, "gumbel": gumbel_r}


@pytest.mark.parametrize("noise", ["laplace", "exponential", "gumbel"])
def test_the_cdf_of_the_maximum_is_a_product(noise: Noise) -> None:
    distribution = NoisyMaxValueDistribution(ANSWERS, 2, noise)
    for value in (-7, 0.5, 3, 3.25, 40):
        expected = float(np.prod(SCIPY[noise].cdf((value - np.array(ANSWERS)) / 2)))
        assert float(distribution.log_cdf(value).exp()) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("noise", ["laplace", "exponential", "gumbel"])
def test_intervals_sum_to_one(noise: Noise) -> None:
    distribution = NoisyMaxValueDistribution(ANSWERS, 2, noise)
    sides: list[Side] = [(None, -1), (-1, 3), (3, Fraction(7, 2)), (Fraction(7, 2), 60), (60, None)]
    assert float(sum_balls(distribution.log_interval(side).exp() for side in sides).mid()) == pytest.approx(
        1, rel=1e-13
    )


def test_far_tails_keep_their_digits() -> None:
    distribution = NoisyMaxValueDistribution(ANSWERS, 2)
    assert float(distribution.log_interval((None, -2000)).mid()) == pytest.approx(-4 * 1000 - 2.5 - 4 * math.log(2))
    upper = distribution.log_interval((100, None))
    assert upper.rel_accuracy_bits() > 20
    assert float(upper.mid()) == pytest.approx(math.log(laplace.sf((100 - np.array(ANSWERS)) / 2).sum()), rel=1e-9)


def test_exponential_noise_only_raises() -> None:
    distribution = NoisyMaxValueDistribution(ANSWERS, 2, "exponential")
    assert float(distribution.log_cdf(3)) == -math.inf
    assert float(distribution.log_interval((None, 4)).mid()) == float(distribution.log_interval((0, 4)).mid())


def test_two_answers_race_in_closed_form() -> None:
    distribution = ExponentialNoisyMaxDistribution((0, 2), 2, 1)  # rate 1
    assert float(distribution.log_probability(0).exp().mid()) == pytest.approx(math.exp(-2) / 2, rel=1e-15)
    assert float(distribution.log_probability(1).exp().mid()) == pytest.approx(1 - math.exp(-2) / 2, rel=1e-15)


def test_hundreds_of_ties() -> None:
    distribution = ExponentialNoisyMaxDistribution((0,) * 300, 1, 1)
    assert float(distribution.log_probability(7).exp().mid()) == pytest.approx(1 / 300, rel=1e-14)


def test_bad_input_is_refused() -> None:
    with pytest.raises(UsageError, match="answers"):
        NoisyMaxValueDistribution((), 1)
    with pytest.raises(UsageError, match="scale"):
        NoisyMaxValueDistribution((0,), 0)
    with pytest.raises(UsageError, match="at most"):
        ExponentialNoisyMaxDistribution((0,) * 2001, 1, 1).log_probability(0)
