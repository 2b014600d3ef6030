"""Noisy max with exponential noise, and the broken ones that release values, against their distributions."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import kstest

from dpassay.arguments import UsageError
from dpassay.impl.broken.noisy_max_values import ExponentialValue, LaplaceValue, NoiseOnTiesOnly
from dpassay.impl.mechanisms.exponential_noisy_max import ExponentialNoisyMax
from dpassay.spec.distributions.noisy_max_values import NoisyMaxValueDistribution
from dpassay.spec.distributions.permute_and_flip import PermuteAndFlipDistribution

ANSWERS = np.array([0.0, 1.0, 3.0, 3.0])


def test_the_index_follows_permute_and_flip(follows) -> None:  # type: ignore[no-untyped-def]
    distribution = PermuteAndFlipDistribution((0, 1, 3, 3), 2, 1)
    outcomes = ExponentialNoisyMax(4, 2.0).sample(ANSWERS, 200_000, np.random.default_rng(1)).tolist()
    follows(outcomes, {o: float(distribution.log_probability(o).exp().mid()) for o in range(4)})


@pytest.mark.parametrize(("kind", "noise"), [(LaplaceValue, "laplace"), (ExponentialValue, "exponential")])
def test_values_follow_their_distribution(kind: Any, noise: Any) -> None:  # false alarm below 1e-9
    distribution = NoisyMaxValueDistribution((0, 1, 3, 3), 1, noise)
    values = kind(4, 2.0).sample(ANSWERS, 3_000, np.random.default_rng(2))
    assert kstest(values, np.vectorize(lambda x: float(distribution.log_cdf(x).exp().mid()))).pvalue > 1e-9


def test_ties_alone_are_random() -> None:
    outcomes = NoiseOnTiesOnly(4, 2.0).sample(ANSWERS, 1000, np.random.default_rng(3))
    assert set(np.asarray(outcomes).tolist()) == {2, 3}


def test_huge_answers_are_compared_and_bad_ones_refused() -> None:
    mechanism = ExponentialNoisyMax(2, 1.0)
    assert set(mechanism.sample(np.array([-1.7e308, 1.7e308]), 9, np.random.default_rng(4)).tolist()) == {1}
    with pytest.raises(UsageError, match="sensitivity"):
        ExponentialNoisyMax(2, 1.0, sensitivity=0.0)
    with pytest.raises(UsageError, match="data"):
        mechanism.sample(np.zeros(3), 1, np.random.default_rng(4))
