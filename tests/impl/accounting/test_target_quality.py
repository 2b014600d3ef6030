"""Qualities of targets in float64: figures, extreme arguments, bad input, and the linear programme beside."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dpassay.arguments import UsageError
from dpassay.impl.accounting.target_programme import quality_by_programme
from dpassay.impl.accounting.target_quality import (
    between_thresholds_quality,
    boundary_quality,
    double_run_quality,
    not_prior_quality,
    printed_boundary_quality,
    printed_double_run_quality,
    revision_quality,
    target_quality,
    wrapped_classifier_epsilon,
    wrapped_test_epsilon,
)

FAMILIES: list[Callable[[Any], Any]] = [
    not_prior_quality,
    revision_quality,
    wrapped_test_epsilon,
    wrapped_classifier_epsilon,
    boundary_quality,
    printed_boundary_quality,
    double_run_quality,
    printed_double_run_quality,
]
HIT = [False, True]


@pytest.mark.parametrize(
    ("family", "values"),
    [
        (wrapped_test_epsilon, [0.01322, 0.12314, 0.32082, 0.5, 1, 2, 4]),
        (wrapped_classifier_epsilon, [0.01332, 0.13223, 0.39036, 0.64059, 1.23662, 2.33999, 4.39635]),
        (double_run_quality, [0.5, 0.49875, 0.48892, 0.47001, 0.33476, 0.13319, 0.01831]),
        (printed_double_run_quality, [0.28937, 0.25849, 0.19647, 0.14498, 0.06149, 0.00903, 0.00017]),
    ],
)
def test_figures(family: Callable[[Any], Any], values: list[float]) -> None:
    assert family(np.array([0.01, 0.1, 0.3, 0.5, 1, 2, 4])) == pytest.approx(values, abs=2e-5)


def test_figures_of_the_boundary() -> None:
    epsilon = np.array([0.01, 0.1, 0.3, 0.5, 1.0])
    assert boundary_quality(epsilon, 4 * epsilon / 3) == pytest.approx(
        [0.30615, 0.29219, 0.26084, 0.22984, 0.15919], abs=6e-6
    )
    assert printed_boundary_quality(epsilon, 4 * epsilon / 3) == pytest.approx(
        [0.2843, 0.2714, 0.2426, 0.2143, 0.1500], abs=6e-5
    )


@pytest.mark.parametrize("family", FAMILIES)
def test_tiny_and_huge_epsilons(family: Callable[[Any], Any]) -> None:
    values = family(np.array([1e-300, 1e-12, 30.0, 700.0]))
    assert np.all(np.isfinite(values))
    assert np.all(values >= 0)


@pytest.mark.parametrize("family", [*FAMILIES, lambda epsilon: between_thresholds_quality(epsilon, 1.0)])
@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan, math.inf, "one"])
def test_bad_epsilons_are_refused(family: Callable[[Any], Any], epsilon: Any) -> None:
    with pytest.raises(UsageError, match="epsilon"):
        family(epsilon)


def test_bad_gaps_and_charges_are_refused() -> None:
    for gap in (0.0, -1.0, math.nan):
        with pytest.raises(UsageError, match="gap"):
            between_thresholds_quality(1.0, gap)
    with pytest.raises(UsageError, match="wrapped_epsilon"):
        boundary_quality(0.1, [0.12, 4 / 30])
    with pytest.raises(UsageError, match="broadcast"):
        between_thresholds_quality(np.ones(2), np.ones(3))


def test_limits() -> None:
    assert float(boundary_quality(1e-9)) == pytest.approx(4 / 13)
    assert float(double_run_quality(1e-9)) == pytest.approx(1 / 2)
    assert float(between_thresholds_quality(1e-9, 1e-3)) == pytest.approx(5e-13)
    assert float(between_thresholds_quality(1.0, 1e300)) == pytest.approx(float(not_prior_quality(1.0)))


# --- the exact quality of a pair ----------------------------------------------------------------------------


def test_a_tiny_probability_keeps_its_accuracy() -> None:
    rare = np.array([1e-6, 1e-12, 1e-200])
    for epsilon in (0.01, 1.0):
        left = np.stack([1 - rare, rare], axis=1)
        right = np.stack([1 - math.exp(epsilon) * rare, math.exp(epsilon) * rare], axis=1)
        assert target_quality(left, right, HIT, epsilon) == pytest.approx(float(not_prior_quality(epsilon)), rel=1e-12)


def test_degenerate_pairs() -> None:
    assert float(target_quality([0.5, 0.5], [0.5, 0.5], HIT, 1.0)) == 1
    assert float(target_quality([1.0, 0.0], [1.0, 0.0], HIT, 1.0)) == 1
    assert float(target_quality([0.6, 0.4, 0.0], [0.5, 0.5, 0.0], [False, False, True], 1.0)) == 0
    assert float(target_quality([0.6, 0.4], [0.5, 0.5], [True, True], 1.0)) == pytest.approx(1)


def test_nothing_is_certified_at_huge_epsilons() -> None:
    assert float(target_quality([0.6, 0.4], [0.5, 0.5], HIT, 40.0)) == 0


def test_the_order_of_the_data_sets_does_not_matter() -> None:
    rng = np.random.default_rng(3)
    left = rng.dirichlet(np.ones(5), 50)
    right = left * np.exp(rng.uniform(-0.4, 0.4, left.shape))
    right /= right.sum(axis=1, keepdims=True)
    target = rng.random(left.shape) < 0.5
    forth, back = target_quality(left, right, target, 1.0), target_quality(right, left, target, 1.0)
    assert forth == pytest.approx(back, rel=1e-13)


@pytest.mark.parametrize(
    ("left", "right", "target", "epsilon", "blamed"),
    [
        ([0.5, 0.4], [0.5, 0.5], HIT, 1.0, "left must hold probabilities that sum to 1"),
        ([0.5, 0.5], [0.7, 0.5], HIT, 1.0, "right must hold"),
        ([1.5, -0.5], [0.5, 0.5], HIT, 1.0, "left"),
        ([math.nan, 0.5], [0.5, 0.5], HIT, 1.0, "left"),
        ([0.9, 0.1], [0.5, 0.5], HIT, 1.0, "indistinguishable"),
        ([1.0, 0.0], [0.5, 0.5], HIT, 800.0, "indistinguishable"),
        ([0.5, 0.5], [0.5, 0.5], [0, 1], 1.0, "target"),
        ([0.5, 0.5], [0.5, 0.5], [True], 1.0, "one entry for each outcome"),
        ([], [], np.array([], dtype=bool), 1.0, "at least one"),
        ([0.5, 0.5], [0.5, 0.5], HIT, 0.0, "epsilon"),
    ],
)
def test_bad_pairs_are_refused(left: Any, right: Any, target: Any, epsilon: float, blamed: str) -> None:
    with pytest.raises(UsageError, match=blamed):
        target_quality(left, right, target, epsilon)


# --- the linear programme -----------------------------------------------------------------------------------


def test_the_programme_agrees_with_the_closed_form() -> None:
    rng = np.random.default_rng(11)
    for _ in range(60):
        size, epsilon = int(rng.integers(2, 6)), float(rng.choice([0.1, 0.5, 1.0, 2.0]))
        first, second = rng.dirichlet(np.full(size, 0.5), 2) * (rng.random((2, size)) < 0.8) + 1e-3
        first, second = first / first.sum(), second / second.sum()
        r = math.exp(epsilon)
        left, right = (r * first + second) / (r + 1), (first + r * second) / (r + 1)
        target = rng.permutation(np.arange(size) < rng.integers(1, size))
        found = quality_by_programme(left, right, target, epsilon)
        assert found == pytest.approx(float(target_quality(left, right, target, epsilon)), abs=1e-6)


def test_the_programme_with_delta() -> None:
    r, delta = 3.0, 0.2  # NotPrior, each side leaking itself: exactly 1/(e^epsilon + 1)
    left = [0.8 * 0.1, 0.8 * 0.9, delta, 0.0]
    right = [0.8 * 0.3, 0.8 * 0.7, 0.0, delta]
    hit = [True, False, True, True]
    assert quality_by_programme(left, right, hit, math.log(r), delta) == pytest.approx(0.25, abs=1e-6)
    assert quality_by_programme(left, right, hit, math.log(r), delta / 2) is None
    assert quality_by_programme([0.5, 0.5], [0.5, 0.5], HIT, 1.0) == pytest.approx(1)


@pytest.mark.parametrize("delta", [-0.1, 1.0, math.nan])
def test_the_programme_refuses_bad_input(delta: float) -> None:
    with pytest.raises(UsageError, match="delta"):
        quality_by_programme([0.5, 0.5], [0.5, 0.5], HIT, 1.0, delta)
    with pytest.raises(UsageError, match="target"):
        quality_by_programme([0.5, 0.5], [0.5, 0.5], [True], 1.0)
    with pytest.raises(UsageError, match="sum to 1"):
        quality_by_programme([0.5, 0.6], [0.5, 0.5], HIT, 1.0)
