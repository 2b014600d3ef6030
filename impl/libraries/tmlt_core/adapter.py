"""Tumult Core without Spark: noise on numbers and series, the quantile, composition, conversion, calibration, budgets.

Claims are what the measurements' own privacy functions say: exact numbers, rounded here to the nearest float64. The
library's generator cannot be seeded.
"""

from __future__ import annotations

import importlib
import itertools
import math
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
from tmlt.core.domains.numpy_domains import NumpyFloatDomain, NumpyIntegerDomain
from tmlt.core.domains.pandas_domains import PandasSeriesDomain
from tmlt.core.measurements import noise_mechanisms
from tmlt.core.measurements.composition import Composition
from tmlt.core.measurements.converters import PureDPToApproxDP, PureDPToRhoZCDP
from tmlt.core.measurements.pandas_measurements.series import AddNoiseToSeries, NoisyQuantile
from tmlt.core.measures import ApproxDP, ApproxDPBudget, PureDP, PureDPBudget, RhoZCDP, RhoZCDPBudget
from tmlt.core.utils.parameters import calculate_noise_scale
from tmlt_core_budgets import budgets
from tmlt_core_facts import facts_of_the_library
from tmlt_core_families import families
from tmlt_core_generator import generator
from tmlt_core_metrics import metrics
from tmlt_core_numbers import nearest_float
from tmlt_core_records import records
from tmlt_core_tables import tables

from dpassay.adapter import Answer, Mechanism, Nonsense, present_cases

LIBRARY = "tmlt.core"

warnings.simplefilter("ignore")


def _exact(number):
    return Fraction(number)


def _claim(measurement, distance=1):
    """Return what the measurement's privacy function says, in words."""
    loss = measurement.privacy_function(_exact(distance))
    if measurement.output_measure == PureDP():
        return f"pure:{nearest_float(loss)!r}"
    if measurement.output_measure == RhoZCDP():
        return f"zcdp:{nearest_float(loss)!r}"
    epsilon, delta = loss
    return f"approx:{nearest_float(epsilon)!r},{nearest_float(delta)!r}"


# --- noise on a number -------------------------------------------------------------------------------------------


def _laplace(scale):
    return noise_mechanisms.AddLaplaceNoise(NumpyFloatDomain(), scale)


def _gaussian(sigma_squared):
    return noise_mechanisms.AddGaussianNoise(NumpyFloatDomain(), sigma_squared)


def _number(make, *, name, family, scale, step=1, integer=False, offset=0):
    measurement = make()
    cast = int if integer else float

    def sample_many(data, size):
        value = cast(data[0]) + offset
        if not integer:
            return np.array([measurement(value) for _ in range(size)])
        return [measurement(value) - offset for _ in range(size)]

    def distribution(data):
        return {"family": family, "location": data[0], "scale": scale(measurement)}

    bounds = ",integer" if integer else ""
    return Mechanism(
        name,
        f"vector:size=1,linf={step!r}{bounds}",
        lambda: _claim(measurement, step),
        sample_many=sample_many,
        distribution=distribution,
        slow=family != "gaussian",  # the lowest bits of Gaussian noise take some thousand calls
    )


def _deviation(measurement):
    return math.sqrt(nearest_float(measurement.sigma_squared))


def _numbers():
    for scale, step in ((1, 1), ("1/10", 1), ("1/3", 2), (50, 1)):
        yield _number(
            lambda s=scale: _laplace(s),
            name=f"AddLaplaceNoise({scale}), distance {step}",
            family="laplace",
            scale=lambda m: nearest_float(m.scale),
            step=step,
        )
    for variance, step in ((1, 1), ("1/4", 1), (100, 3)):
        yield _number(
            lambda s=variance: _gaussian(s),
            name=f"AddGaussianNoise({variance}), distance {step}",
            family="gaussian",
            scale=_deviation,
            step=step,
        )
    # the sampler changes at a scale of 10
    for alpha, step in ((1, 1), ("1/3", 2), ("999/100", 1), (10, 1), ("31/3", 5)):
        yield _number(
            lambda a=alpha: noise_mechanisms.AddGeometricNoise(a),
            name=f"AddGeometricNoise({alpha}), distance {step}",
            family="discrete laplace",
            scale=lambda m: nearest_float(m.alpha),
            step=step,
            integer=True,
        )
    for variance, step in ((1, 1), ("1/4", 1), (30, 2)):
        yield _number(
            lambda s=variance: noise_mechanisms.AddDiscreteGaussianNoise(s),
            name=f"AddDiscreteGaussianNoise({variance}), distance {step}",
            family="discrete gaussian",
            scale=_deviation,
            step=step,
            integer=True,
        )
    yield _number(
        lambda: noise_mechanisms.AddGeometricNoise(2),
        name="AddGeometricNoise(2) at 2^62",
        family="discrete laplace",
        scale=lambda m: nearest_float(m.alpha),
        integer=True,
        offset=2**62,
    )


# --- series, composition, conversion -----------------------------------------------------------------------------


def _series(make, *, name, integer, step):
    noise = make()
    measurement = AddNoiseToSeries(noise)

    def sample_one(data):
        values = pd.Series([int(x) for x in data] if integer else list(map(float, data)))
        return measurement(values).tolist()

    norm = "l1" if measurement.output_measure == PureDP() else "l2"
    bounds = ",integer" if integer else ""
    neighbours = f"vector:size=2,{norm}={step}{bounds}"
    return Mechanism(name, neighbours, lambda: _claim(measurement, step), sample_one=sample_one, slow=True)


def _combined(measurement, name, *, claim=None):
    def sample_one(data):
        return [float(answer) for answer in np.ravel(measurement(float(data[0])))]

    return Mechanism(
        name, "vector:size=1,linf=1", claim or (lambda: _claim(measurement)), sample_one=sample_one, slow=True
    )


def _combinations():
    yield _series(lambda: _laplace(1), name="AddNoiseToSeries, Laplace", integer=False, step=1)
    yield _series(
        lambda: noise_mechanisms.AddGeometricNoise(1), name="AddNoiseToSeries, geometric", integer=True, step=2
    )
    yield _series(
        lambda: noise_mechanisms.AddDiscreteGaussianNoise(1),
        name="AddNoiseToSeries, discrete gaussian",
        integer=True,
        step=1,
    )
    yield _combined(Composition([_laplace(1), _laplace("1/2")]), "Composition of two Laplace measurements")
    yield _combined(PureDPToApproxDP(_laplace(1)), "PureDPToApproxDP of Laplace")
    yield _combined(
        Composition([PureDPToRhoZCDP(_laplace(1)), PureDPToRhoZCDP(_laplace(2))]),
        "Composition of two converted Laplace measurements",
    )


# --- the quantile ------------------------------------------------------------------------------------------------


def _quantile(quantile, epsilon, *, low=0.0, high=1.0, zcdp=False, integer=False):
    domain = NumpyIntegerDomain() if integer else NumpyFloatDomain()
    measurement = NoisyQuantile(
        PandasSeriesDomain(domain), RhoZCDP() if zcdp else PureDP(), quantile, low, high, epsilon
    )
    kind = int if integer else float

    def sample_one(data):
        values = pd.Series([kind(value) for value in data], dtype="int64" if integer else float)
        return float(measurement(values))

    measure = "zCDP" if zcdp else "pure"
    return Mechanism(
        f"NoisyQuantile({quantile}, epsilon={epsilon}, [{low}, {high}], {measure})",
        f"records:low={low - 1.0!r},high={high + 1.0!r},size=3,max-size=4,relation=add-remove",
        lambda: _claim(measurement),
        sample_one=sample_one,
        slow=True,
    )


_CELLS = 4


def _quantile_cells(quantile, epsilon):
    """Return the quarter of [0, 1] that the quantile falls into, of which the distribution is known."""
    measurement = NoisyQuantile(PandasSeriesDomain(NumpyFloatDomain()), PureDP(), quantile, 0.0, 1.0, epsilon)

    def sample_one(data):
        return min(int(measurement(pd.Series(data, dtype=float)) * _CELLS), _CELLS - 1)

    def distribution(data):
        target, rate = quantile * len(data), epsilon / (2 * max(quantile, 1 - quantile))
        inside = {value for value in data if 0 < value < 1}
        ends = sorted(inside | {cell / _CELLS for cell in range(_CELLS + 1)})
        weights = [0.0] * _CELLS
        for low, high in itertools.pairwise(ends):
            rank = sum(value <= low for value in data)
            weights[int(low * _CELLS)] += (high - low) * math.exp(-rate * abs(rank - target))
        return {"family": "finite", "symbols": list(range(_CELLS)), "probabilities": weights}

    return Mechanism(
        f"NoisyQuantile({quantile}, epsilon={epsilon}), its quarter of [0, 1]",
        "records:low=-1,high=2,size=3,max-size=4,relation=add-remove",
        lambda: _claim(measurement),
        sample_one=sample_one,
        distribution=distribution,
        slow=True,
    )


def _quantiles():
    yield _quantile_cells(0.5, 2)
    yield _quantile_cells(0.9, 4)
    yield _quantile(0.5, 1)
    yield _quantile(0.5, 4)
    yield _quantile(0.9, 1)
    yield _quantile(0.0, 2)
    yield _quantile(0.5, 2, zcdp=True)
    yield _quantile(0.5, 2, low=0, high=3, integer=True)
    yield _quantile(0.5, 1, low=1.0, high=1.0 + 2**-52)


# --- answers -----------------------------------------------------------------------------------------------------

_FEW = {"count": (1, 100), "sigma": (0.05, 1e4), "scale": (0.01, 1e4), "epsilon0": (1e-6, 100.0)}


def _sum(make, count, delta):
    """Return the epsilon of `count` measurements; the library has no use for delta but to refuse what is none."""
    if count != int(count):
        raise ValueError("a list has a whole length")
    ApproxDP().validate((0, Fraction(delta)))
    return nearest_float(Composition([make()] * int(count)).privacy_function(1))


def _answers():
    pure = {"relative_error": 1e-15}
    yield Answer(
        "Composition of Laplace",
        "laplace_epsilon",
        lambda scale, count, delta: _sum(lambda: _laplace(Fraction(scale)), count, delta),
        domain=_FEW,
        account="Laplace noise",
        **pure,
    )
    yield Answer(
        "Composition, pure",
        "pure_composition_epsilon",
        lambda epsilon0, count, delta: _sum(lambda: _laplace(1 / Fraction(epsilon0)), count, delta),
        domain=_FEW,
        **pure,
    )
    yield Answer(
        "Composition of geometric",
        "discrete_laplace_epsilon",
        lambda scale, count, delta: _sum(lambda: noise_mechanisms.AddGeometricNoise(Fraction(scale)), count, delta),
        domain=_FEW,
        **pure,
    )
    yield Answer(
        "calculate_noise_scale, pure",
        "laplace_scale",
        lambda epsilon: nearest_float(calculate_noise_scale(1, Fraction(epsilon), PureDP())),
        claims_exact=True,
        account="Laplace noise",
        **pure,
    )


# --- transformations of frames ------------------------------------------------------------------------------------


def _frames():
    # older versions lack the metric of dictionaries that these are about
    joins = importlib.import_module("tmlt_core_joins")
    yield from importlib.import_module("tmlt_core_stability").stability()
    yield from importlib.import_module("tmlt_core_nested").nested()
    yield from joins.joins()


# --- what must be refused ----------------------------------------------------------------------------------------


def _refusals():
    nan, infinity = math.nan, math.inf
    words = ("nan", "-1", -1, nan, "I", "zoo", "x")
    makers = {
        "AddLaplaceNoise": lambda v: _laplace(v)(1.0),
        "AddGaussianNoise": lambda v: _gaussian(v)(1.0),
        "AddGeometricNoise": lambda v: noise_mechanisms.AddGeometricNoise(v)(1),
        "AddDiscreteGaussianNoise": lambda v: noise_mechanisms.AddDiscreteGaussianNoise(v)(1),
        "PureDPBudget": PureDPBudget,
        "RhoZCDPBudget": RhoZCDPBudget,
        "calculate_noise_scale": lambda v: calculate_noise_scale(1, v, PureDP()),
    }
    for name, make in makers.items():
        yield Nonsense(name, {f"{value!r}": lambda m=make, v=value: m(v) for value in words})
    yield Nonsense(
        "ApproxDPBudget",
        {
            f"{value}": lambda v=value: ApproxDPBudget(v)
            for value in ((-1, 0), (1, -1), (1, 2), ("nan", 0), (1, "nan"), (1, nan))
        }
        | {
            "overspent": lambda: ApproxDPBudget((1, "1/10")).subtract((1, "1/5")),
            "compare with a delta of 2": lambda: ApproxDP().compare((1, 0), (1, 2)),
        },
    )
    yield Nonsense(
        "values outside the domain",
        {
            f"{name}({value})": lambda m=make, v=value: m(v)
            for name, make in (("AddLaplaceNoise", _laplace(1)), ("AddGaussianNoise", _gaussian(1)))
            for value in (nan, infinity)
        },
    )

    def quantile(**changed):
        good = {"quantile": 0.5, "lower": 0.0, "upper": 1.0, "epsilon": 1, **changed}
        return NoisyQuantile(PandasSeriesDomain(NumpyFloatDomain()), PureDP(), **good)(pd.Series([0.5]))

    yield Nonsense(
        "NoisyQuantile, refusals",
        {
            f"{key}={value}": lambda k=key, v=value: quantile(**{k: v})
            for key, value in (
                ("quantile", nan),
                ("quantile", 2.0),
                ("lower", 2.0),
                ("lower", nan),
                ("upper", infinity),
                ("epsilon", -1),
                ("epsilon", "nan"),
            )
        },
    )


def cases():
    """Return all cases that this version of the library has."""
    return list(
        present_cases(
            facts_of_the_library,
            generator,
            budgets,
            tables,
            metrics,
            records,
            _frames,
            _numbers,
            families,
            _combinations,
            _quantiles,
            _answers,
            _refusals,
            lacking=(AttributeError, ImportError, TypeError, ValueError),
        )
    )
