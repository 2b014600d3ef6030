"""Every sampler of the foundations follows the distribution that it is paired with, by outcomes or by cells."""

from typing import Any

import numpy as np
import pytest
from tests.checks.sampling import assert_follows

from dpassay.impl.broken.floats import InversionLaplace, PolarGaussian
from dpassay.impl.broken.foundations import (
    NoisyDatabase,
    claims_the_last_round,
    drops_the_factor_two,
    inverts_the_scale,
    noise_below_root_n,
    prefix_sum_of_all_answers,
    reports_each_bit_twice,
    shares_the_laplace_noise,
)
from dpassay.impl.broken.means import gaussian_mean_of_true_size, laplace_mean_of_true_size
from dpassay.impl.mechanisms.dual_query import dual_query
from dpassay.impl.mechanisms.hadamard_response import hadamard_response
from dpassay.impl.mechanisms.laplace import laplace_mechanism, laplace_of_benchmark
from dpassay.impl.mechanisms.laplace_sums import laplace_parallel, laplace_prefix_sum
from dpassay.impl.mechanisms.noisy_mean import NoisyMean
from dpassay.impl.mechanisms.posterior_sampling import posterior_sample
from dpassay.impl.mechanisms.randomised_response import RandomisedResponse, randomised_response
from dpassay.impl.mechanisms.rappor import one_time_rappor, rappor
from dpassay.impl.mechanisms.truncated_geometric import truncated_geometric
from dpassay.properties.neighbours.pairs import adversarial_pairs
from dpassay.properties.pairing.registry import exact_distribution, pair_distribution

DRAWS = 20_000

MECHANISMS: list[Any] = [
    laplace_mechanism, laplace_of_benchmark, laplace_parallel, laplace_prefix_sum, NoisyMean(1.0),
    NoisyMean(0.5, -1.0, 3.0), posterior_sample, randomised_response, RandomisedResponse(1, 0.3), rappor,
    one_time_rappor, truncated_geometric, hadamard_response, dual_query, InversionLaplace(6), PolarGaussian(3),
    inverts_the_scale, prefix_sum_of_all_answers, reports_each_bit_twice, shares_the_laplace_noise,
    noise_below_root_n, NoisyDatabase(2), drops_the_factor_two,
    claims_the_last_round, laplace_mean_of_true_size, gaussian_mean_of_true_size,
]  # fmt: skip


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda m: type(m).__name__)
def test_a_sampler_follows_its_distribution(mechanism: Any) -> None:
    for seed, (left, right) in enumerate(adversarial_pairs(mechanism.neighbours, seed=0, limit=2)):
        distributions = exact_distribution(mechanism, left), exact_distribution(mechanism, right)
        cells = pair_distribution(mechanism, left, right) if distributions[0] is None else distributions
        assert cells is not None
        for data, distribution in zip((left, right), cells, strict=True):
            assert distribution is not None
            assert_follows(mechanism, data, distribution, np.random.default_rng(seed), DRAWS)
