from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr

from dpassay.arguments import UsageError
from dpassay.claims import PureDP
from dpassay.impl.mechanisms.noisy_max import GaussianNoisyMax, LaplaceNoisyMax

ANSWERS = np.array([0.1, 0.9, 0.4, 0.6])


def gaussian_distribution(answers: np.ndarray, sigma: float) -> dict[int, float]:
    z = np.linspace(-12, 12, 4001)
    weight = np.exp(-z * z / 2) / np.sqrt(2 * np.pi) * (z[1] - z[0])
    return {
        o: float(
            weight @ np.prod([ndtr(z + (answers[o] - q) / sigma) for i, q in enumerate(answers) if i != o], axis=0)
        )
        for o in range(answers.size)
    }


def laplace_distribution(answers: np.ndarray, scale: float) -> dict[int, float]:
    def cdf(x: float) -> float:
        return float(np.exp(x) / 2 if x < 0 else 1 - np.exp(-x) / 2)

    def density(x: float, o: int) -> float:
        others = np.prod([cdf((x - q) / scale) for i, q in enumerate(answers) if i != o])
        return float(np.exp(-abs(x - answers[o]) / scale) / (2 * scale) * others)

    cuts = [-40 * scale, *np.sort(answers), 40 * scale]
    return {o: sum(quad(density, a, b, args=(o,))[0] for a, b in pairwise(cuts)) for o in range(answers.size)}


def test_the_gaussian_sampler_follows_its_distribution(follows) -> None:  # type: ignore[no-untyped-def]
    mechanism = GaussianNoisyMax(4, 0.5, 0.0, 1.0, 0.1)
    outcomes = np.asarray(mechanism.sample(ANSWERS, 300_000, np.random.default_rng(1)))
    follows(outcomes.tolist(), gaussian_distribution(ANSWERS, 0.5))


def test_the_laplace_sampler_follows_its_distribution(follows) -> None:  # type: ignore[no-untyped-def]
    outcomes = np.asarray(LaplaceNoisyMax(4, 4.0, 1.0).sample(ANSWERS, 300_000, np.random.default_rng(2)))
    follows(outcomes.tolist(), laplace_distribution(ANSWERS, 0.5))


def test_the_claim_is_attained_by_the_worst_pair() -> None:
    size, sigma, step = 4, 0.5, 0.1
    mechanism = GaussianNoisyMax(size, sigma, 0.0, 1.0, step)
    left, right = np.full(size, 1 - step), np.ones(size)
    left[-1], right[-1] = step, 0.0
    loss = np.log(gaussian_distribution(left, sigma)[size - 1] / gaussian_distribution(right, sigma)[size - 1])
    [claim] = mechanism.claims
    assert isinstance(claim, PureDP)
    assert claim.epsilon == pytest.approx(loss, rel=1e-8)
    assert mechanism.neighbours.admits(left, right)


def test_the_same_seed_gives_the_same_sample_and_ties_go_to_the_first() -> None:
    mechanism = GaussianNoisyMax(3, 1e-300, 0.0, 1.0, 0.0)
    draws = [mechanism.sample(np.array([0.2, 0.7, 0.7]), 50, np.random.default_rng(7)) for _ in range(2)]
    np.testing.assert_array_equal(draws[0], draws[1])
    assert set(np.asarray(mechanism.sample(np.full(3, 0.5), 50, np.random.default_rng(7)))) == {0}


def test_large_samples_of_wide_mechanisms_are_drawn_in_chunks() -> None:
    mechanism = GaussianNoisyMax(100_000, 1.0, 0.0, 1.0, 0.1)
    assert len(mechanism.sample(np.zeros(100_000), 40, np.random.default_rng(0))) == 40


def test_edges_of_the_domain() -> None:
    lonely = GaussianNoisyMax(1, 1.0, 0.0, 1.0, 0.1)
    assert lonely.claims == (PureDP(0.0),)
    assert np.asarray(lonely.sample(np.array([0.5]), 3, np.random.default_rng(0))).tolist() == [0, 0, 0]
    assert GaussianNoisyMax(3, 1.0, 0.0, 1.0, 0.0).claims == (PureDP(0.0),)
    assert len(lonely.sample(np.array([0.5]), 0, np.random.default_rng(0))) == 0


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"size": 0}, "size"), ({"size": 2.0}, "size"), ({"size": True}, "size"), ({"sigma": 0.0}, "sigma"),
        ({"sigma": float("nan")}, "sigma"), ({"low": 2.0}, "low and high"), ({"high": float("inf")}, "low and high"),
        ({"sensitivity": -0.1}, "sensitivity"),
    ],
)  # fmt: skip
def test_parameters_are_checked(change: dict[str, float], name: str) -> None:
    good = {"size": 3, "sigma": 1.0, "low": 0.0, "high": 1.0, "sensitivity": 0.1}
    with pytest.raises(UsageError, match=f"^{name} must"):
        GaussianNoisyMax(**{**good, **change})  # type: ignore[arg-type]


@pytest.mark.parametrize("change", [{"size": 0}, {"epsilon": 0.0}, {"sensitivity": 0.0}])
def test_parameters_of_laplace_are_checked(change: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="must"):
        LaplaceNoisyMax(**{"size": 3, "epsilon": 1.0, "sensitivity": 1.0, **change})  # type: ignore[arg-type]


@pytest.mark.parametrize("data", [[0.1, 0.2], [0.1, 0.2, 1.1], [0.1, 0.2, np.nan], [[0.1, 0.2, 0.3]], [0, -1e-9, 0]])
def test_data_are_checked(data: list[float]) -> None:
    with pytest.raises(UsageError, match=r"^data must"):
        GaussianNoisyMax(3, 1.0, 0.0, 1.0, 0.1).sample(np.array(data), 5, np.random.default_rng(0))


def test_the_number_of_outcomes_is_checked() -> None:
    with pytest.raises(UsageError, match=r"^size must"):
        GaussianNoisyMax(1, 1.0, 0.0, 1.0, 0.1).sample(np.array([0.5]), -1, np.random.default_rng(0))


def test_the_claim_depends_on_the_width_of_the_answers_and_not_on_where_they_lie() -> None:
    claims = {GaussianNoisyMax(4, 0.5, low, low + 2.0, 0.25).claims for low in (-8.0, -2.0, -0.5, 0.0, 3.0)}
    assert len(claims) == 1
    assert claims != {GaussianNoisyMax(4, 0.5, 0.0, 4.0, 0.25).claims}
