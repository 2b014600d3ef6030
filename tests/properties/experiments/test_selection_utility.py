import itertools

import numpy as np
import pytest

from dpassay.properties.experiments.gaussian_selection.selection_utility import (
    accuracy_of_choices,
    exponential_probabilities,
    gaussian_max_probabilities,
    laplace_max_probabilities,
    permute_and_flip_probabilities,
    relative_regret,
)
from dpassay.spec.ball import midpoint
from dpassay.spec.distributions.noisy_max import GaussianNoisyMaxDistribution

ANSWERS = np.array([0.1, 0.9, 0.85, 0.4, 0.9])


@pytest.mark.parametrize("sigma", [0.02, 0.3, 10.0])
def test_the_gaussian_distribution_agrees_with_its_enclosure(sigma: float) -> None:
    distribution = GaussianNoisyMaxDistribution(tuple(ANSWERS.tolist()), sigma)
    enclosed = [midpoint(distribution.log_probability(o).exp()) for o in range(5)]
    assert gaussian_max_probabilities(ANSWERS, sigma) == pytest.approx(enclosed, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("scale", [0.03, 0.5, 20.0])
def test_the_laplace_distribution_of_two_answers_is_the_distribution_of_a_difference(scale: float) -> None:
    gap = 0.35 / scale  # Pr[X - Y > gap] = (2 + gap) e^-gap / 4 for X, Y of scale 1
    expected = (2 + gap) * np.exp(-gap) / 4
    assert laplace_max_probabilities(np.array([0.5, 0.15]), scale)[1] == pytest.approx(expected, rel=1e-10)


def test_permute_and_flip_agrees_with_the_sum_over_all_orders() -> None:
    epsilon, sensitivity = 0.7, 0.1
    heads = np.exp(epsilon * (ANSWERS - ANSWERS.max()) / (2 * sensitivity))
    expected = np.zeros(5)
    for order in itertools.permutations(range(5)):
        reached = 1.0
        for o in order:
            expected[o] += reached * heads[o] / 120
            reached *= 1 - heads[o]
    assert permute_and_flip_probabilities(ANSWERS, epsilon, sensitivity) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("epsilon", [1e-3, 0.5, 50.0])
def test_every_distribution_sums_to_one(epsilon: float) -> None:
    answers = np.random.default_rng(3).uniform(size=90)
    distributions = [
        gaussian_max_probabilities(answers, 1 / epsilon),
        laplace_max_probabilities(answers, 0.02 / epsilon),
        exponential_probabilities(answers, epsilon, 0.01),
        permute_and_flip_probabilities(answers, epsilon, 0.01),
    ]
    assert [distribution.sum() for distribution in distributions] == pytest.approx([1] * 4, abs=1e-12)


def test_accuracy_is_one_at_the_maximum_and_falls_with_the_answer() -> None:
    assert relative_regret(ANSWERS)[1] == 0
    assert accuracy_of_choices(ANSWERS, np.array([1, 4, 0])) == pytest.approx([1, 1, 1 / 9])
