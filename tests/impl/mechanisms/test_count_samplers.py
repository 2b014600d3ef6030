"""Samplers of noisy counts and ranked lists against their exact distributions; outcomes ignore true orders."""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from scipy.optimize import isotonic_regression
from scipy.stats import norm

from dpassay.arguments import UsageError
from dpassay.claims import ZCDP, ApproximateDP, ApproximateZCDP, PureDP
from dpassay.impl.mechanisms.count_mle import CountMLE, count_mle, ordered_fit
from dpassay.impl.mechanisms.gumbel_top_k import GumbelTopK
from dpassay.impl.mechanisms.histograms import GaussianHistogram, LaplaceHistogram
from dpassay.impl.mechanisms.truncated_gaussian import truncated_normal
from dpassay.impl.mechanisms.truncated_gaussian_histogram import TruncatedGaussianCounts, truncated_gaussian_counts
from dpassay.impl.mechanisms.two_phase_top_k import TwoPhaseTopK

Follows = Callable[[Sequence[Any], dict[Any, float]], None]


@pytest.mark.parametrize("k", [1, 2, 5])
def test_both_phases_of_top_k_are_charged_for_every_count(k: int) -> None:
    (claim,) = TwoPhaseTopK(size=5, k=k, epsilon=0.01, sigma=2.0).claims
    assert isinstance(claim, ZCDP)
    # kappa is epsilon^2/8 up to a relative epsilon^2
    assert claim.rho == pytest.approx(k * 0.01**2 / 8 + k / (2 * 2.0**2), rel=1e-8)


@pytest.mark.parametrize("half_width", [0.01, 1.0, 3.0, 40.0])
def test_truncated_noise_follows_the_conditional_normal_distribution(half_width: float, follows: Follows) -> None:
    draws = truncated_normal(half_width, (40_000,), np.random.default_rng(5))
    assert np.abs(draws).max() <= half_width
    edges = np.linspace(-min(half_width, 5), min(half_width, 5), 11)
    inside = norm.cdf(half_width) - norm.cdf(-half_width)
    chances = np.diff(norm.cdf(edges)) / inside if half_width > 1e-1 else np.full(10, 0.1)
    rest = 1 - chances.sum()
    distribution = {k: float(p) for k, p in enumerate(chances)} | ({"tail": float(rest)} if rest > 1e-12 else {})
    places = np.digitize(draws, edges) - 1
    follows([int(k) if 0 <= k < 10 else "tail" for k in places], distribution)


def test_ranked_lists_follow_peeling(follows: Follows) -> None:
    mechanism, counts = GumbelTopK(size=4, k=2, epsilon=0.5), np.array([3.0, 1.0, 0.0, 2.0])
    weights = np.exp(0.5 * counts)
    distribution = {
        (i, j): float(weights[i] / weights.sum() * weights[j] / (weights.sum() - weights[i]))
        for i, j in itertools.permutations(range(4), 2)
    }
    outcomes = mechanism.sample(counts, 40_000, np.random.default_rng(2))
    follows([tuple(row) for row in outcomes.tolist()], distribution)


@pytest.mark.parametrize("size", [1, 2, 7, 40])
def test_the_fit_is_isotonic_regression_cut_off_at_zero(size: int) -> None:
    rows = np.random.default_rng(1).normal(size=(50, size)) * 5
    expected = [np.maximum(isotonic_regression(row, increasing=False).x, 0) for row in rows]
    assert ordered_fit(rows) == pytest.approx(np.array(expected), abs=1e-12)
    assert (np.diff(ordered_fit(rows), axis=1) <= 1e-12).all()


def test_the_fit_is_returned_in_the_given_order() -> None:
    mechanism = CountMLE(size=3, sigma=1e-9, order=(2, 0, 1))
    assert mechanism.sample(np.array([5.0, 1.0, 9.0]), 2, np.random.default_rng(0)) == pytest.approx(
        np.array([[9.0, 5.0, 1.0]] * 2), abs=1e-6
    )


def test_released_counts_lie_within_the_half_width_and_above_the_threshold() -> None:
    mechanism = TruncatedGaussianCounts(size=4, sigma=2.0, delta=0.01)
    counts = np.array([0.0, 5.0, 20.0, 200.0])
    rows = mechanism.sample(counts, 20_000, np.random.default_rng(3))
    assert (rows[:, 0] == 0).all()
    assert (rows[:, 3] > 0).all()
    shown = rows > 0
    assert (np.abs(rows - counts)[shown] <= mechanism.half_width).all()
    assert (rows[shown] > mechanism.threshold).all()


def test_outcomes_are_indexed_by_label_not_by_rank() -> None:
    rows = truncated_gaussian_counts.sample(np.array([0.0, 500.0, 100.0]), 10, np.random.default_rng(0))
    assert (rows[:, 1] > rows[:, 2]).all()
    assert (rows[:, 0] == 0).all()


def test_claims() -> None:
    (claim,) = TruncatedGaussianCounts(size=3, sigma=2.0, delta=0.05, l0=2).claims
    assert isinstance(claim, ApproximateZCDP)
    assert claim.rho == pytest.approx(0.25)
    assert claim.delta == 0.05
    (rho,) = count_mle.claims
    assert isinstance(rho, ZCDP)
    assert rho.rho == pytest.approx(3 / 8)
    pure, approximate = LaplaceHistogram(size=2, l0=5, linf=1.0, epsilon=0.5).claims
    assert pure == PureDP(1.0)
    assert isinstance(approximate, ApproximateDP)
    assert approximate.epsilon == 0.5
    both_true = (math.exp(0.5) / (1 + math.exp(0.5))) ** 2  # two randomised responses compose to losses 1, 0, -1
    exact = both_true * (1 - math.exp(-0.5))
    assert exact <= approximate.delta <= exact * (1 + 1e-9)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: TruncatedGaussianCounts(size=3, sigma=1.0, delta=0.1, limit=2), "limit"),
        (lambda: TruncatedGaussianCounts(size=3, sigma=1.0, delta=0.0), "delta"),
        (lambda: TruncatedGaussianCounts(size=3, sigma=1.0, delta=1.0), "delta"),
        (lambda: TruncatedGaussianCounts(size=3, sigma=float("nan"), delta=0.1), "sigma"),
        (lambda: CountMLE(size=2, sigma=1.0, order=(0, 0)), "order"),
        (lambda: CountMLE(size=0, sigma=1.0), "size"),
        (lambda: GumbelTopK(size=2, k=3, epsilon=1.0), "k"),
        (lambda: TwoPhaseTopK(size=2, k=3, epsilon=1.0, sigma=1.0), "k"),
        (lambda: TwoPhaseTopK(size=2, k=1, epsilon=1.0, sigma=-1.0), "sigma"),
        (lambda: GaussianHistogram(size=2, l0=0, linf=1.0, sigma=1.0), "l0"),
        (lambda: LaplaceHistogram(size=2, l0=1, linf=1.0, epsilon=0.0), "epsilon"),
    ],
)
def test_bad_parameters_are_refused_by_name(make: Callable[[], Any], name: str) -> None:
    with pytest.raises(UsageError, match=name):
        make()


@pytest.mark.parametrize("counts", [[-1.0, 0, 0], [float("nan"), 0, 0], [0.0, 0]])
def test_bad_counts_are_refused(counts: list[float]) -> None:
    with pytest.raises(UsageError, match="data"):
        truncated_gaussian_counts.sample(np.array(counts), 1, np.random.default_rng(0))


def test_no_outcomes_and_one_label() -> None:
    rng = np.random.default_rng(0)
    assert GumbelTopK(size=1, k=1, epsilon=1.0).sample(np.zeros(1), 3, rng).tolist() == [[0]] * 3
    assert len(count_mle.sample(np.zeros(3), 0, rng)) == 0
