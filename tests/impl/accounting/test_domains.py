"""What every bound does at and beyond the edge of its domain: a refusal that names the argument, or a safe number."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dpassay.claims import UsageError
from dpassay.impl.accounting.above_threshold import (
    gaussian_above_threshold_all_below_loss,
    gaussian_above_threshold_loss,
)
from dpassay.impl.accounting.above_threshold_renyi import (
    above_threshold_affine_rdp,
    above_threshold_rdp,
    above_threshold_rdp_by_halting_time,
)
from dpassay.impl.accounting.advanced_composition import advanced_composition_epsilon
from dpassay.impl.accounting.calibration import above_threshold_sigma, gaussian_sigma, noisy_max_sigma
from dpassay.impl.accounting.conversions import (
    approximate_epsilon,
    probabilistic_epsilon,
    probabilistic_epsilon_of_affine_rdp,
)
from dpassay.impl.accounting.gaussian import (
    gaussian_delta,
    gaussian_epsilon,
    gaussian_log_delta,
    gaussian_rdp,
    gaussian_zcdp,
)
from dpassay.impl.accounting.histograms import (
    gaussian_histogram_epsilon,
    gaussian_histogram_multiplier,
    gaussian_histogram_zcdp,
    laplace_histogram_delta,
    laplace_histogram_epsilon,
)
from dpassay.impl.accounting.laplace_accuracy import largest_laplace_error, split_budget_error
from dpassay.impl.accounting.noisy_max import gaussian_noisy_max_epsilon
from dpassay.impl.accounting.odometers import half_normal_boundary, mixture_boundary
from dpassay.impl.accounting.target_quality import between_thresholds_quality
from dpassay.impl.accounting.truncation import truncation_delta, truncation_half_width

STREAM = {"threshold": 0.5, "sigma_threshold": 0.3, "sigma_query": 0.6, "low": 0.0, "sensitivity": 0.2}
BOUNDS: list[tuple[Callable[..., Any], dict[str, float]]] = [
    (gaussian_noisy_max_epsilon, {"size": 5, "sigma": 1.0, "width": 1.0, "sensitivity": 0.2}),
    (gaussian_above_threshold_loss, {"halting_time": 3, "high": 1.0} | STREAM),
    (gaussian_above_threshold_all_below_loss, {"stream_length": 3, "high": 1.0} | STREAM),
    (above_threshold_rdp, {"alpha": 2.0} | STREAM),
    (above_threshold_rdp_by_halting_time, {"alpha": 2.0} | STREAM),
    (noisy_max_sigma, {"epsilon": 1.0, "size": 5, "width": 1.0, "sensitivity": 0.2}),
    (gaussian_sigma, {"epsilon": 1.0, "delta": 1e-6, "sensitivity": 1.0}),
    (gaussian_zcdp, {"sigma": 1.0, "sensitivity": 1.0}),
    (gaussian_delta, {"epsilon": 1.0, "sigma": 1.0, "sensitivity": 1.0}),
]
FURTHER_BOUNDS: list[tuple[Callable[..., Any], dict[str, float]]] = [
    (gaussian_epsilon, {"delta": 1e-6, "sigma": 1.0, "sensitivity": 1.0}),
    (gaussian_rdp, {"alpha": 2.0, "sigma": 1.0, "sensitivity": 1.0}),
    (above_threshold_affine_rdp, STREAM),
    (above_threshold_sigma, {"epsilon": 1.0, "halting_time": 3, "threshold": 0.5, "low": 0.0, "high": 1.0,
                             "sensitivity": 0.2, "noise_ratio": 2.0}),
    (advanced_composition_epsilon, {"copies": 5, "epsilon": 0.1, "delta": 1e-6}),
    (probabilistic_epsilon, {"alpha": 2.0, "rdp": 1.0, "delta": 1e-6}),
    (approximate_epsilon, {"alpha": 2.0, "rdp": 1.0, "delta": 1e-6}),
    (probabilistic_epsilon_of_affine_rdp, {"linear": 1.0, "constant": 1.0, "delta": 1e-6}),
    (laplace_histogram_delta, {"epsilon": 1.0, "base": 0.5, "size": 5}),
    (laplace_histogram_epsilon, {"delta": 1e-6, "base": 0.5, "size": 5}),
    (gaussian_histogram_zcdp, {"sigma": 1.0, "size": 5}),
    (gaussian_histogram_epsilon, {"delta": 1e-6, "sigma": 1.0, "size": 5}),
    (gaussian_histogram_multiplier, {"epsilon": 1.0, "delta": 1e-6, "size": 5}),
    (largest_laplace_error, {"queries": 5, "scale": 1.0, "failure": 0.1}),
    (split_budget_error, {"queries": 5, "epsilon": 1.0, "failure": 0.1}),
    (mixture_boundary, {"information": 1.0, "tuning": 1.0, "delta": 1e-6}),
    (half_normal_boundary, {"information": 1.0, "tuning": 1.0, "delta": 1e-6}),
    (between_thresholds_quality, {"epsilon": 1.0, "gap": 3.0}),
    (truncation_delta, {"half_width": 9.0, "sigma": 1.0, "linf": 1.0, "size": 5}),
    (truncation_half_width, {"delta": 1e-6, "sigma": 1.0, "linf": 1.0, "size": 5}),
]  # fmt: skip
COUNTS = {"size", "halting_time", "stream_length", "copies", "queries"}
EACH_ARGUMENT = [
    pytest.param(bound, arguments, name, id=f"{bound.__name__}-{name}")
    for bound, arguments in (*BOUNDS, *FURTHER_BOUNDS)
    for name in arguments
]
OUTSIDE = [
    pytest.param(bound, arguments, name, value, id=f"{bound.__name__}-{name}-{value}")
    for bound, arguments in BOUNDS
    for name in arguments
    for value in (-1.0, 0.0)
    if name not in {"threshold", "low", "high"}
    and (value < 0 or bound is noisy_max_sigma or name not in {"width", "sensitivity", "epsilon"})
]


@pytest.mark.parametrize(("bound", "arguments", "name"), EACH_ARGUMENT)
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, None, "many"])
def test_what_is_no_number_is_refused_by_name(
    bound: Callable[..., Any], arguments: dict[str, float], name: str, value: Any
) -> None:
    with pytest.raises(UsageError, match=rf"^{name} must be"):
        bound(**arguments | {name: value})


@pytest.mark.parametrize(("bound", "arguments", "name"), EACH_ARGUMENT)
def test_counts_that_are_not_whole_and_numbers_far_below_their_domain_are_refused_by_name(
    bound: Callable[..., Any], arguments: dict[str, float], name: str
) -> None:
    assert np.all(np.isfinite(bound(**arguments)))
    if name in COUNTS:
        with pytest.raises(UsageError, match=rf"^{name} must be"):
            bound(**arguments | {name: [3, 2.5]})
    if name in {"sigma", "failure"}:
        with pytest.raises(UsageError, match=rf"^{name} "):
            bound(**arguments | {name: 0.0})
    if name not in {"threshold", "low", "high", "epsilon"}:
        for value in (-1e-300, -1.0, [arguments[name], -1.0]):
            with pytest.raises(UsageError, match=rf"^{name} "):
                bound(**arguments | {name: value})


@pytest.mark.parametrize(("bound", "arguments", "name", "value"), OUTSIDE)
def test_scales_and_counts_below_their_domain_are_refused_by_name(
    bound: Callable[..., Any], arguments: dict[str, float], name: str, value: float
) -> None:
    with pytest.raises(UsageError, match=rf"^{name} "):
        bound(**arguments | {name: value})


@pytest.mark.parametrize("name", ["size", "halting_time", "stream_length"])
def test_counts_beyond_the_largest_are_refused_and_the_largest_is_not(name: str) -> None:
    [(bound, arguments)] = [(bound, arguments) for bound, arguments in BOUNDS[:3] if name in arguments]
    with pytest.raises(UsageError, match=f"^{name} must be whole"):
        bound(**arguments | {name: 1e100})
    assert float(bound(**arguments | {name: 1e50})) >= float(bound(**arguments | {name: 1e6}))


@pytest.mark.parametrize("bound", [above_threshold_rdp, above_threshold_rdp_by_halting_time])
@pytest.mark.parametrize("change", [{"threshold": 1e20}, {"low": -1e20}, {"sigma_threshold": 1e-20}])
def test_ratios_that_float64_cannot_resolve_are_refused(bound: Callable[..., Any], change: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="sigma_threshold and sigma_query must be at least"):
        bound(**{"alpha": 2.0} | STREAM | change)


def test_calibration_names_the_target_that_it_cannot_meet() -> None:
    for epsilon in (1e-20, 1e20):
        with pytest.raises(UsageError, match=r"^epsilon is too"):
            noisy_max_sigma(epsilon, 5, 1, 0.2)
    with pytest.raises(UsageError, match=r"^noise_ratio must be"):
        above_threshold_sigma(1.0, 3, 0.5, 0.0, 1.0, 0.2, noise_ratio=1e20)


@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1e-100, 1e-20, 1e20, 1e100, 1e200, 1e308])
def test_gaussian_figures_at_extreme_noise_stay_above_the_truth(scale: float) -> None:
    with np.errstate(all="raise", under="ignore"):
        log_delta = float(gaussian_log_delta(1.0, scale))
        delta, rho, rdp = (
            float(f) for f in (gaussian_delta(1.0, scale), gaussian_zcdp(scale), gaussian_rdp(2, scale))
        )
    y = max(0.5 / scale - scale if scale > 1e-300 else math.inf, -1e150)
    assert -(y**2) / 2 - 1000 <= log_delta <= 0 if y < 0 else log_delta == 0
    assert 0 < delta <= 1
    assert 0 < rho <= rdp


def test_gaussian_log_delta_far_in_the_tail_is_a_finite_bound() -> None:
    assert gaussian_log_delta([1e200, 1e308], 1.0).max() < -1e250
    assert np.isfinite(gaussian_log_delta([1e200, 1e308], 1.0)).all()
