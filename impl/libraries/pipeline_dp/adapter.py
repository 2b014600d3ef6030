"""PipelineDP on its local backend: its engine, combiners, noise, partition selection and budget accountants.

A privacy unit is added or removed. Each record of the input stands for one person; how many rows that person
contributes, and to which partitions, is said with the case. Partitions are public unless the case selects them.
"""

from __future__ import annotations

import logging
import math
import sys
import warnings

import pipeline_dp as dp
from pipeline_dp import dp_computations
from pipeline_dp.aggregate_params import MechanismType
from pipeline_dp_accountants import accountants
from pipeline_dp_budgets import budgets
from pipeline_dp_calibrations import bounded_params, calibrations
from pipeline_dp_combiners import facts_of_combiners
from pipeline_dp_engine import aggregation, aggregations
from pipeline_dp_facts import facts_of_the_library
from pipeline_dp_families import families
from pipeline_dp_limits import facts_of_limits
from pipeline_dp_noise import exponential, noise_of_partitions, numbers
from pipeline_dp_selection import selections

from dpassay.adapter import Answer, Nonsense, answer_in_time, present_cases

LIBRARY = "pipeline-dp"

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)


# --- answers -----------------------------------------------------------------------------------------------------

_ONCE = {"count": (1, 1), "sigma": (1e-3, 1e4)}


def _accounted(kind, epsilon, delta):
    accountant = dp.PLDBudgetAccountant(epsilon, delta)
    spec = accountant.request_budget(kind)
    accountant.compute_budgets()
    return float(spec.noise_standard_deviation)


def _accounted_gaussian(epsilon, delta):
    if math.isnan(epsilon) or math.isnan(delta):
        raise ValueError("not asked here: there may be no answer")
    return _accounted(MechanismType.GAUSSIAN, epsilon, delta)


def _one(count):
    if count != 1:
        raise ValueError("the function knows no composition")


def _delta(sigma, epsilon, count):
    _one(count)
    return float(dp_computations.gaussian_delta(sigma, epsilon))


def _epsilon(sigma, delta, count):
    _one(count)
    return float(dp_computations.gaussian_epsilon(sigma, delta))


def _answers():
    exact = {"claims_exact": True, "relative_error": 1e-9}
    # terms of relative error z^2 2^-52, z < 39 deviations out, nearly cancel: what is left has z^3 sigma 2^-52
    cancelled = {**exact, "relative_error": 2e-7}
    for name, domain in (
        # there both terms are at most 36 deviations out, and neither underflows
        ("gaussian_delta, where it is above 1e-300", {**_ONCE, "sigma": (0.02, 7.0), "epsilon": (0.0, 5.0)}),
        ("gaussian_delta", _ONCE),
    ):
        yield Answer(
            name,
            "gaussian_delta",
            _delta,
            domain=domain,
            absolute_error=sys.float_info.min,  # smaller numbers lose their relative precision
            **cancelled,
        )
    for name, domain in (
        # there the answer is positive, and exp does not overflow: it is at most 430 at the least delta of float64
        ("gaussian_epsilon, where it is positive", {**_ONCE, "sigma": (0.1, 10.0), "delta": (0.0, 1e-3)}),
        ("gaussian_epsilon", _ONCE),
    ):
        yield Answer(
            name,
            "gaussian_epsilon",
            _epsilon,
            domain=domain,
            absolute_error=1e-10,
            notes="a tolerance of 1e-10 is written in the code, not documented",
            **exact,
        )
    for name, domain in (
        # there both terms of delta keep ten digits of their difference
        ("compute_sigma, where terms do not cancel", {"epsilon": (0.01, 20.0), "delta": (1e-30, 0.1)}),
        ("compute_sigma", {}),
    ):
        yield Answer(
            name,
            "gaussian_sigma",
            lambda epsilon, delta: dp_computations.compute_sigma(epsilon, delta, 1.0),
            domain=domain,
        )
    yield Answer(
        "LaplaceMechanism.create_from_epsilon",
        "laplace_scale",
        lambda epsilon: dp_computations.LaplaceMechanism.create_from_epsilon(epsilon, 1.0).noise_parameter,
    )
    yield Answer(
        "PLDBudgetAccountant, Laplace",
        "laplace_scale",
        lambda epsilon: _accounted(MechanismType.LAPLACE, epsilon, 0.0) / math.sqrt(2),
        relative_error=1e-12,
    )
    yield Answer(
        "PLDBudgetAccountant, Gaussian",
        "gaussian_sigma",
        _accounted_gaussian,
        domain={"epsilon": (0.3, 5.0), "delta": (1e-9, 0.1)},  # more takes seconds
        calls=3,
        notes="NaN, for which the library does not return, is asked with a limit of time elsewhere",
    )


# --- what must be refused ----------------------------------------------------------------------------------------


def _refusals():
    nan, infinity = math.nan, math.inf
    good = {"epsilon": 1.0, "delta": 0.01, "sensitivity": 1.0}

    def gaussian(epsilon, delta, sensitivity):
        mechanism = dp_computations.GaussianMechanism.create_from_epsilon_delta(epsilon, delta, sensitivity)
        return mechanism.add_noise(0.0)

    def laplace(epsilon, sensitivity):
        return dp_computations.LaplaceMechanism.create_from_epsilon(epsilon, sensitivity).add_noise(0.0)

    bad = [(key, value) for key in good for value in (-1.0, nan)]
    yield Nonsense(
        "GaussianMechanism",
        {
            f"{key}={value}": lambda k=key, v=value: gaussian(**{**good, k: v})
            for key, value in (*bad, ("delta", 0.0), ("delta", 2.0))
        },
    )
    yield Nonsense(
        "LaplaceMechanism",
        {
            f"{key}={value}": lambda k=key, v=value: laplace(**{"epsilon": 1.0, "sensitivity": 1.0, k: v})
            for key, value in bad
            if key != "delta"
        }
        | {"sensitivity=inf": lambda: laplace(1.0, infinity)},
    )
    yield Nonsense(
        "NaiveBudgetAccountant",
        {
            f"epsilon={epsilon}, delta={delta}": lambda e=epsilon, d=delta: dp.NaiveBudgetAccountant(e, d)
            for epsilon, delta in ((-1.0, 0.0), (nan, 0.0), (1.0, -1.0), (1.0, nan), (1.0, 2.0))
        }
        | {"weight=-1": lambda: dp.NaiveBudgetAccountant(1.0, 0.0).request_budget(MechanismType.LAPLACE, weight=-1)},
    )
    yield Nonsense(
        "PLDBudgetAccountant of Gaussian noise",
        {
            f"epsilon={epsilon}, delta={delta}": lambda e=epsilon, d=delta: answer_in_time(
                lambda: _accounted(MechanismType.GAUSSIAN, e, d), seconds=5
            )
            for epsilon, delta in ((nan, 1e-6), (1.0, nan))
        },
    )
    yield Nonsense(
        "AggregateParams",
        {
            f"bounds=({low}, {high})": lambda lo=low, hi=high: bounded_params(lo, hi, [dp.Metrics.SUM])
            for low, high in ((1.0, 0.0), (nan, 1.0), (0.0, nan), (0.0, infinity))
        }
        | {
            f"PERCENTILE({rank})": lambda r=rank: aggregation(
                "refused", [dp.Metrics.PERCENTILE(r)], min_value=0.0, max_value=1.0
            ).sample_one([0.5])
            for rank in (-1, 101, nan)
        },
    )
    yield Nonsense(
        "Gaussian functions",
        {
            "gaussian_delta(sigma=nan)": lambda: dp_computations.gaussian_delta(nan, 1.0),
            "gaussian_delta(sigma=-1)": lambda: dp_computations.gaussian_delta(-1.0, 1.0),
            "gaussian_delta(epsilon=nan)": lambda: dp_computations.gaussian_delta(1.0, nan),
            "gaussian_epsilon(sigma=nan)": lambda: dp_computations.gaussian_epsilon(nan, 0.1),
            "gaussian_epsilon(delta=nan)": lambda: dp_computations.gaussian_epsilon(1.0, nan),
            "gaussian_epsilon(delta=2)": lambda: dp_computations.gaussian_epsilon(1.0, 2.0),
        },
    )


def cases():
    """Return all cases that this version of the library has."""
    lacking = (AttributeError, NotImplementedError, TypeError, ValueError)
    return list(
        present_cases(
            facts_of_the_library,
            facts_of_combiners,
            facts_of_limits,
            budgets,
            accountants,
            numbers,
            noise_of_partitions,
            selections,
            aggregations,
            families,
            calibrations,
            exponential,
            _answers,
            _refusals,
            lacking=lacking,
        )
    )
