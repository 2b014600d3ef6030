import numpy as np
import pytest
from scipy.special import ndtr

from dpassay.arguments import UsageError
from dpassay.impl.mechanisms.above_threshold import GaussianAboveThreshold
from dpassay.impl.mechanisms.sparse_vector import GaussianSparseVector, gaussian_sparse_vector

RUN = GaussianAboveThreshold(5, 0.5, 0.6, 1.0, 0.0, 1.0, 0.2)
ANSWERS = np.array([0.2, 0.9, 0.0, 0.6, 1.0])


def one_run(answers: np.ndarray) -> dict[int, float]:
    x = np.linspace(-12, 12, 2001)
    weight = np.exp(-x * x / 2) / np.sqrt(2 * np.pi) * (x[1] - x[0])
    margin = (RUN.sigma_threshold * x + RUN.threshold - answers[:, None]) / RUN.sigma_query
    below = np.cumprod(np.vstack([np.ones_like(x), ndtr(margin)]), axis=0)
    halted = {t: float(weight @ (below[t - 1] * ndtr(-margin[t - 1]))) for t in range(1, answers.size + 1)}
    return {0: float(weight @ below[-1]), **halted}


def distribution(mechanism: GaussianSparseVector, answers: np.ndarray) -> dict[tuple[int, ...], float]:
    result: dict[tuple[int, ...], float] = {}

    def extend(alarms: tuple[int, ...], chance: float, spent: float) -> None:
        start = alarms[-1] if alarms else 0
        if start == answers.size or spent + mechanism.offer.epsilon >= mechanism.epsilon:
            result[alarms] = result.get(alarms, 0.0) + chance
            return
        for time, share in one_run(answers[start:]).items():
            if time:
                extend((*alarms, start + time), chance * share, spent + float(RUN.losses[time]))
            else:
                result[alarms] = result.get(alarms, 0.0) + chance * share

    extend((), 1.0, 0.0)
    return result


@pytest.mark.parametrize("epsilon", [1.9, 3.0])
def test_the_sampler_follows_its_distribution(epsilon: float, follows) -> None:  # type: ignore[no-untyped-def]
    mechanism = GaussianSparseVector(RUN, epsilon, 1e-6)
    chances = distribution(mechanism, ANSWERS)
    cut_short = [alarms for alarms in chances if alarms and alarms[-1] < 5 and len(alarms) > 1]
    assert cut_short
    follows(mechanism.sample(ANSWERS, 8_000, np.random.default_rng(12)), chances)


@pytest.mark.parametrize("seed", range(5))
def test_the_claim_holds_on_random_neighbours(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mechanism = GaussianSparseVector(RUN, 1.9, 1e-6)
    left = rng.uniform(0, 1, 5)
    right = np.clip(left + rng.choice([-0.2, 0.2], 5), 0, 1)
    one, other = distribution(mechanism, left), distribution(mechanism, right)
    assert sum(max(0.0, one[o] - np.exp(1.9) * other[o]) for o in one) <= 1e-6


def test_a_budget_below_the_first_offer_releases_nothing() -> None:
    mechanism = GaussianSparseVector(RUN, 0.01, 1e-6)
    assert set(mechanism.sample(ANSWERS, 20, np.random.default_rng(0))) == {()}


def test_the_offer_is_the_smaller_of_two_bounds() -> None:
    assert gaussian_sparse_vector.offer.epsilon <= gaussian_sparse_vector.run.losses.max()
    assert RUN.size * gaussian_sparse_vector.offer.delta <= gaussian_sparse_vector.delta
    long = GaussianSparseVector(GaussianAboveThreshold(700, 0.6, 0.09, 0.16, 0.0, 1.0, 1 / 6946), 1.0, 1e-4)
    assert 0 < long.offer.epsilon < long.run.losses.max()
    assert long.offer.delta == pytest.approx(1e-4 / 700)


def test_bad_parameters() -> None:
    with pytest.raises(UsageError, match="epsilon must be"):
        GaussianSparseVector(RUN, 0.0, 1e-6)
    with pytest.raises(UsageError, match="delta must"):
        GaussianSparseVector(RUN, 1.0, 1.5)
