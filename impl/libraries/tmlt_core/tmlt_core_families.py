"""Families of Tumult Core: noise and quantiles at drawn parameters."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pandas as pd
from tmlt.core.domains.numpy_domains import NumpyFloatDomain
from tmlt.core.domains.pandas_domains import PandasSeriesDomain
from tmlt.core.measurements import noise_mechanisms
from tmlt.core.measurements.pandas_measurements.series import NoisyQuantile
from tmlt.core.measures import PureDP
from tmlt_core_numbers import nearest_float

from dpassay.adapter import Family, Mechanism

__all__ = ["families"]

_CELLS = 4
_DRAWS = 6000
"""Outcomes of a quantile, of which a thousand are drawn in a second."""


def _noise(name, family, *, integer, gaussian):
    make_noise = getattr(noise_mechanisms, name)

    def make(numerator, denominator, step):
        size = Fraction(numerator, denominator)
        domain = () if integer else (NumpyFloatDomain(),)
        measurement = make_noise(*domain, size)
        scale = math.sqrt(size) if gaussian else float(size)
        loss = step**2 / (2 * float(size)) if gaussian else step / float(size)
        stated = nearest_float(measurement.privacy_function(step))

        def sample_many(data, size):
            value = int(data[0]) if integer else float(data[0])
            return [measurement(value) for _ in range(size)]

        return Mechanism(
            "",
            f"vector:size=1,linf={step}" + (",integer" if integer else ""),
            f"zcdp:{min(loss, stated)!r}" if gaussian else f"pure:{min(loss, stated)!r}",
            sample_many=sample_many,
            distribution=lambda data: {"family": family, "location": data[0], "scale": scale},
            floats=False,
            slow=True,
            relative_error=1e-9,
            calls=12_000 if integer else None,
        )

    return Family(f"{name}, family", make, {"numerator": (3, 19), "denominator": (1, 4), "step": (2, 5)})


def _masses(data, quantile, rate, low, high):
    """Return the probability of each quarter of the bounds: the exponential mechanism on ranks."""
    target = quantile * len(data)
    inside = {min(max(value, low), high) for value in data}
    ends = sorted(inside | {low + (high - low) * cell / _CELLS for cell in range(_CELLS + 1)})
    weights = [0.0] * _CELLS
    for start, end in itertools.pairwise(ends):
        rank = sum(min(max(value, low), high) <= start for value in data)
        cell = min(int(((start + end) / 2 - low) / (high - low) * _CELLS), _CELLS - 1)
        weights[cell] += (end - start) * math.exp(-rate * abs(rank - target))
    return weights


def _quantile(quantile, epsilon, low, width):
    high = low + width
    measurement = NoisyQuantile(PandasSeriesDomain(NumpyFloatDomain()), PureDP(), quantile, low, high, epsilon)
    rate = epsilon / (2 * max(quantile, 1 - quantile))

    def sample_one(data):
        return min(int((measurement(pd.Series(data, dtype=float)) - low) / width * _CELLS), _CELLS - 1)

    return Mechanism(
        "",
        f"records:low={low - width!r},high={high + width!r},size=3,max-size=4,relation=add-remove",
        f"pure:{float(epsilon)!r}",
        sample_one=sample_one,
        distribution=lambda data: {
            "family": "finite",
            "symbols": list(range(_CELLS)),
            "probabilities": _masses(data, quantile, rate, low, high),
        },
        slow=True,
        relative_error=1e-9,
        calls=_DRAWS,
    )


def families():
    """Yield the families."""
    yield _noise("AddLaplaceNoise", "laplace", integer=False, gaussian=False)
    yield _noise("AddGeometricNoise", "discrete laplace", integer=True, gaussian=False)
    yield _noise("AddDiscreteGaussianNoise", "discrete gaussian", integer=True, gaussian=True)
    yield _noise("AddGaussianNoise", "gaussian", integer=False, gaussian=True)
    domain = {"quantile": (0.2, 0.9), "epsilon": (2, 3), "low": (-40.0, 30.0), "width": (0.5, 60.0)}
    yield Family("NoisyQuantile, family", _quantile, domain)
