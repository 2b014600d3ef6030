import numpy as np
import pytest
from numpy.typing import NDArray
from tests.checks.laws import stopping_on_releases
from tests.checks.stopping import ChangedDecisions, bounds_that_read_the_data, changed_decisions

from dpassay.claims import ExPost
from dpassay.impl.broken.noise_reduction import (
    charges_the_processed_outcome,
    draws_fresh_noise,
    ends_when_the_noise_is_small,
    stops_on_the_next_release,
)
from dpassay.impl.mechanisms.brownian_noise_reduction import BrownianNoiseReduction, brownian_noise_reduction
from dpassay.impl.mechanisms.laplace_noise_reduction import laplace_noise_reduction
from dpassay.impl.mechanisms.noise_reduction import NoiseReduction
from dpassay.impl.mechanisms.noisy_max import gaussian_noisy_max

Array = NDArray[np.float64]


def replay(mechanism: NoiseReduction) -> ChangedDecisions:
    return changed_decisions(mechanism, np.array([0.3]), np.random.default_rng(7))


@pytest.mark.parametrize("mechanism", [brownian_noise_reduction, laplace_noise_reduction, draws_fresh_noise])
def test_a_rule_on_releases_decides_as_before(mechanism: NoiseReduction) -> None:
    assert replay(mechanism) == ChangedDecisions(0, 0)


def test_a_rule_that_peeks_at_the_noise_is_told_by_the_data() -> None:
    changed = replay(ends_when_the_noise_is_small)
    assert changed.by_the_data > 0
    assert changed.by_the_future == 0


def test_a_rule_that_looks_ahead_is_told_by_the_future() -> None:
    changed = replay(stops_on_the_next_release)
    assert changed.by_the_future > 0
    assert changed.by_the_data == 0


def test_a_rule_that_remembers_the_noise_of_the_best_step_is_told() -> None:
    class EndsAtTheSmallestNoise(BrownianNoiseReduction):
        def released(self, answers: Array, noise: Array) -> NDArray[np.int64]:  # noqa: ARG002  # the mistake
            counts: NDArray[np.int64] = np.abs(noise[:, :, 0]).argmin(axis=1) + 1
            return counts

    changed = replay(EndsAtTheSmallestNoise(size=1, times=(4.0, 2.0, 1.0)))
    assert changed.by_the_future > 0
    assert changed.by_the_data > 0


def test_other_mechanisms_obey_vacuously() -> None:
    assert stopping_on_releases(gaussian_noisy_max)


def test_a_bound_that_reads_the_data_is_told() -> None:
    inputs, outcomes = [np.array([0.0]), np.array([1.0])], [(1.0, 0.5), (2.0, 1.5)]

    def honest(data: Array) -> ExPost:  # as it must be
        return ExPost(lambda outcome: outcome[0])  # type: ignore[index]

    def by_the_error(data: Array) -> ExPost:
        return ExPost(lambda outcome: abs(outcome[1] - data[0]))  # type: ignore[index]

    assert bounds_that_read_the_data(honest, inputs, outcomes) == []
    assert bounds_that_read_the_data(by_the_error, inputs, outcomes) == [(2.0, 1.5)]


def test_the_processed_outcome_has_lost_its_time() -> None:
    rows = charges_the_processed_outcome.sample(np.zeros(1), 10, np.random.default_rng(0))
    assert rows.shape == (10,)
