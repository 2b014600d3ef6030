"""What every bound does at and beyond the edge of its domain: a refusal that names the argument, or a safe number."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dpassay.arguments import UsageError
from dpassay.impl.accounting.above_threshold import (
    gaussian_above_threshold_all_below_loss,
    gaussian_above_threshold_loss,
)
from dpassay.impl.accounting.above_threshold_renyi import (
    above_threshold_affine_rdp,
    above_threshold_rdp,
    above_threshold_rdp_by_halting_time,
)
from dpassay.impl.accounting.advanced_composition import advanced_composition_epsilon, best_share
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
    equal_variance_multiplier,
    gaussian_histogram_epsilon,
    gaussian_histogram_multiplier,
    gaussian_histogram_zcdp,
    laplace_histogram_delta,
    laplace_histogram_epsilon,
)
from dpassay.impl.accounting.laplace_accuracy import largest_laplace_error, split_budget_error
from dpassay.impl.accounting.noisy_max import gaussian_noisy_max_epsilon
from dpassay.impl.accounting.odometers import half_normal_boundary, mixture_boundary, tuned_for
from dpassay.impl.accounting.target_quality import (
    between_thresholds_quality,
    boundary_quality,
    double_run_quality,
    not_prior_quality,
    revision_quality,
    wrapped_test_epsilon,
)
from dpassay.impl.accounting.truncation import truncation_delta, truncation_half_width
from dpassay.impl.accounting.zcdp_budget import epsilon_of_rho, largest_rho

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


ARRAY_GUARDS: list[tuple[Callable[..., Any], dict[str, float]]] = [
    (bound, arguments) for bound, arguments in (*BOUNDS, *FURTHER_BOUNDS) if "threshold" in arguments
]


@pytest.mark.parametrize(("bound", "arguments"), ARRAY_GUARDS, ids=lambda x: getattr(x, "__name__", None))
@pytest.mark.parametrize("change", [{"threshold": 1e20}, {"low": -1e20}])
def test_one_bad_entry_of_an_array_is_enough_for_a_refusal(
    bound: Callable[..., Any], arguments: dict[str, float], change: dict[str, float]
) -> None:
    """What relates several arguments is asked of every entry, as what concerns one argument is."""
    [(name, bad)] = change.items()
    for entries in ([arguments[name], bad], [bad, arguments[name]]):
        with pytest.raises(UsageError, match=r"must|is too"):
            bound(**arguments | {name: entries})


@pytest.mark.parametrize(
    ("bound", "arguments"),
    [(b, a) for b, a in ARRAY_GUARDS if "high" in a],
    ids=lambda x: getattr(x, "__name__", None),
)
def test_one_range_of_an_array_that_is_upside_down_is_refused(
    bound: Callable[..., Any], arguments: dict[str, float]
) -> None:
    with pytest.raises(UsageError, match=r"^low must (not exceed|be below) high"):
        bound(**arguments | {"low": [0.0, 1.5]})


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


# --- both sides of every edge -------------------------------------------------------------------------------

EDGES: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "any": ((), (0.5,)),
    "positive": ((-1.0, 0.0), (1e-3,)),
    "nonnegative": ((-1.0, -1e-9), (0.0,)),
    "order": ((0.5, 1.0), (1.0 + 1e-6,)),
    "level": ((-1.0, 0.0, 1.0 + 1e-9), (1.0,)),
    "inner level": ((-1.0, 0.0, 1.0), (0.999,)),
    "level or 0": ((-1e-9, 1.0 + 1e-9), (0.0, 1.0)),
    "count": ((-1.0, 0.0, 1.5), (1.0,)),
    "share of the size": ((-1.0, 0.0, 2.0), (1.999,)),
    "half-width": ((-1.0, 0.0, 0.49), (0.5,)),
}
"""For each domain, values that are refused and values that are accepted."""

DOMAINS: list[tuple[Callable[..., Any], dict[str, tuple[float, str]]]] = [
    (
        advanced_composition_epsilon,
        {"copies": (5, "count"), "epsilon": (0.5, "nonnegative"), "delta": (1e-6, "level")},
    ),
    (
        above_threshold_sigma,
        {
            "epsilon": (1.0, "any"),
            "halting_time": (3, "count"),
            "threshold": (0.5, "any"),
            "low": (0.0, "any"),
            "high": (1.0, "any"),
            "sensitivity": (0.2, "positive"),
        },
    ),
    (
        gaussian_above_threshold_loss,
        {
            "halting_time": (3, "count"),
            "threshold": (0.5, "any"),
            "sigma_threshold": (0.3, "positive"),
            "sigma_query": (0.6, "positive"),
            "low": (0.0, "any"),
            "high": (1.0, "any"),
            "sensitivity": (0.2, "nonnegative"),
        },
    ),
    (
        gaussian_above_threshold_all_below_loss,
        {
            "stream_length": (3, "count"),
            "threshold": (0.5, "any"),
            "sigma_threshold": (0.3, "positive"),
            "sigma_query": (0.6, "positive"),
            "low": (0.0, "any"),
            "high": (1.0, "any"),
            "sensitivity": (0.2, "nonnegative"),
        },
    ),
    (
        gaussian_noisy_max_epsilon,
        {"size": (5, "count"), "sigma": (1.0, "positive"), "width": (1.0, "any"), "sensitivity": (0.2, "nonnegative")},
    ),
    (best_share, {"copies": (5, "count"), "epsilon": (1.0, "nonnegative"), "delta": (1e-6, "level")}),
    (probabilistic_epsilon, {"alpha": (2.0, "order"), "rdp": (0.5, "nonnegative"), "delta": (1e-6, "level")}),
    (approximate_epsilon, {"alpha": (2.0, "order"), "rdp": (0.5, "nonnegative"), "delta": (1e-6, "level")}),
    (
        probabilistic_epsilon_of_affine_rdp,
        {"linear": (0.5, "nonnegative"), "constant": (0.1, "nonnegative"), "delta": (1e-6, "level")},
    ),
    (gaussian_rdp, {"alpha": (2.0, "order"), "sigma": (1.0, "positive"), "sensitivity": (1.0, "nonnegative")}),
    (
        gaussian_log_delta,
        {"epsilon": (1.0, "nonnegative"), "sigma": (1.0, "positive"), "sensitivity": (1.0, "nonnegative")},
    ),
    (gaussian_epsilon, {"delta": (1e-6, "level"), "sigma": (1.0, "positive"), "sensitivity": (1.0, "nonnegative")}),
    (laplace_histogram_delta, {"epsilon": (1.0, "nonnegative"), "base": (0.5, "nonnegative")}),
    (laplace_histogram_epsilon, {"delta": (1e-6, "level or 0"), "base": (0.5, "nonnegative")}),
    (gaussian_histogram_zcdp, {"sigma": (1.0, "positive"), "size": (3, "count")}),
    (gaussian_histogram_epsilon, {"delta": (1e-6, "level"), "sigma": (1.0, "positive"), "size": (3, "count")}),
    (gaussian_histogram_multiplier, {"epsilon": (1.0, "positive"), "delta": (1e-6, "level"), "size": (3, "count")}),
    (equal_variance_multiplier, {"epsilon": (1.0, "positive")}),
    (largest_laplace_error, {"queries": (3, "count"), "scale": (1.0, "nonnegative"), "failure": (0.05, "level")}),
    (
        mixture_boundary,
        {"information": (1.0, "nonnegative"), "tuning": (1.0, "positive"), "delta": (1e-6, "inner level")},
    ),
    (
        half_normal_boundary,
        {"information": (1.0, "nonnegative"), "tuning": (1.0, "positive"), "delta": (1e-6, "inner level")},
    ),
    (tuned_for, {"information": (1.0, "positive"), "delta": (1e-6, "inner level")}),
    (not_prior_quality, {"epsilon": (0.5, "positive")}),
    (revision_quality, {"epsilon": (0.5, "positive")}),
    (between_thresholds_quality, {"epsilon": (0.5, "positive"), "gap": (40.0, "positive")}),
    (wrapped_test_epsilon, {"epsilon": (0.5, "positive")}),
    (boundary_quality, {"epsilon": (0.5, "positive")}),
    (double_run_quality, {"epsilon": (0.5, "positive")}),
    (
        truncation_delta,
        {
            "half_width": (3.0, "half-width"),
            "sigma": (1.0, "positive"),
            "linf": (1.0, "positive"),
            "size": (2, "count"),
        },
    ),
    (
        truncation_half_width,
        {
            "delta": (1e-6, "share of the size"),
            "sigma": (1.0, "positive"),
            "linf": (1.0, "positive"),
            "size": (2, "count"),
        },
    ),
    (largest_rho, {"epsilon": (1.0, "positive"), "delta": (1e-6, "inner level")}),
    (epsilon_of_rho, {"rho": (0.5, "nonnegative"), "delta": (1e-6, "inner level")}),
]


@pytest.mark.parametrize(
    ("bound", "domains", "name"),
    [
        pytest.param(bound, domains, name, id=f"{bound.__name__}-{name}")
        for bound, domains in DOMAINS
        for name in domains
    ],
)
def test_each_side_of_each_edge(bound: Callable[..., Any], domains: dict[str, tuple[float, str]], name: str) -> None:
    arguments = {each: value for each, (value, _) in domains.items()}
    if "histogram" in bound.__name__ and bound.__name__.startswith("laplace"):
        arguments["size"] = 3
    outside, inside = EDGES[domains[name][1]]
    for value in outside:
        with pytest.raises(UsageError, match=rf"^{name} "):
            bound(**arguments | {name: value})
    for value in inside:
        assert np.all(np.asarray(bound(**arguments | {name: value})) >= -math.inf)
