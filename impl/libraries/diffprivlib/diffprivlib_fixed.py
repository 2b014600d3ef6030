"""Mechanisms of diffprivlib at fixed parameters: noise that is added to a number, selections and responses."""

from __future__ import annotations

import math

import numpy as np
from diffprivlib import mechanisms
from diffprivlib.mechanisms.base import bernoulli_neg_exp

from dpassay.adapter import Mechanism

__all__ = ["fixed_noise", "fixed_selection"]

_ONE = "vector:size=1,linf={step}"
_ROUNDING = 1e-9
"""Relative; nothing is promised of the last digits of float64."""


def _words(mechanism):
    epsilon, delta = float(mechanism.epsilon), float(mechanism.delta)
    return f"approx:{epsilon!r},{delta!r}" if delta else f"pure:{epsilon!r}"


def _number(make, *, name, step=1.0, bounds="", integer=False, **more):
    """Return a mechanism that randomises one number: `make()` builds it, `randomise` is all of its interface."""
    neighbours = _ONE.format(step=step) + bounds + (",integer" if integer else "")
    if "distribution" in more:
        distribution = more.pop("distribution")
        more["distribution"] = lambda data: distribution(make(), data)

    def sample_many(data, size):
        mechanism = make()
        value = int(data[0]) if integer else data[0]
        return np.array([mechanism.randomise(value) for _ in range(size)])

    return Mechanism(name, neighbours, lambda: _words(make()), sample_many=sample_many, **more)


# --- mechanisms that add noise to a number ---------------------------------------------------------------------


def _laplace_distribution(mechanism, data):
    scale = mechanism.sensitivity / (mechanism.epsilon - math.log1p(-mechanism.delta))
    return {"family": "laplace", "location": data[0], "scale": scale}


def _gaussian_distribution(mechanism, data):
    return {"family": "gaussian", "location": data[0], "scale": float(mechanism._scale)}


def _bounded_laplace_distribution(mechanism, data):
    mechanism.randomise(data[0])  # the scale is found at the first call
    location = min(max(data[0], mechanism.lower), mechanism.upper)
    bounds = {"low": float(mechanism.lower), "high": float(mechanism.upper)}
    return {"family": "bounded laplace", "location": location, "scale": float(mechanism._scale), **bounds}


def _geometric_distribution(mechanism, data):
    return {"family": "discrete laplace", "location": data[0], "scale": -1 / mechanism._scale}


def _clamped_laplace_distribution(mechanism, data):
    bounds = {"low": float(mechanism.lower), "high": float(mechanism.upper)}
    return {**_laplace_distribution(mechanism, data), "family": "clamped laplace", **bounds}


def _clamped_geometric_distribution(mechanism, data):
    """Return the probabilities of the integers between the bounds, which also stand for all that lies beyond."""
    ratio, low, high = math.exp(mechanism._scale), mechanism.lower, mechanism.upper
    inside = [(1 - ratio) * ratio ** abs(k - data[0]) for k in range(low + 1, high)]
    probabilities = [ratio ** (data[0] - low), *inside, ratio ** (high - data[0])]
    return {"family": "finite", "symbols": list(range(low, high + 1)), "probabilities": probabilities}


def fixed_noise():
    """Yield the mechanisms that add noise."""
    laplace, geometric = mechanisms.Laplace, mechanisms.Geometric
    for epsilon, delta, sensitivity in ((1.0, 0.0, 1.0), (0.1, 0.0, 1.0), (4.0, 0.0, 1.0), (0.5, 0.1, 2.0)):
        yield _number(
            lambda e=epsilon, d=delta, s=sensitivity: laplace(epsilon=e, delta=d, sensitivity=s),
            name=f"Laplace(epsilon={epsilon}, delta={delta}, sensitivity={sensitivity})",
            step=sensitivity,
            distribution=_laplace_distribution,
        )
    for cls in (mechanisms.LaplaceTruncated, mechanisms.LaplaceFolded):
        yield _number(
            lambda c=cls: c(epsilon=1.0, sensitivity=1.0, lower=0.0, upper=2.0),
            name=f"{cls.__name__}(epsilon=1, sensitivity=1, [0, 2])",
            bounds=",low=0,high=2",
            **({"distribution": _clamped_laplace_distribution} if cls is mechanisms.LaplaceTruncated else {}),
        )
    for sensitivity in (1.0, 0.25, 1.3):
        yield _number(
            lambda s=sensitivity: mechanisms.LaplaceBoundedDomain(epsilon=1.0, sensitivity=s, lower=0.0, upper=1.0),
            name=f"LaplaceBoundedDomain(epsilon=1, sensitivity={sensitivity}, [0, 1])",
            step=sensitivity,
            bounds=",low=0,high=1",
            distribution=_bounded_laplace_distribution,
        )
    yield _number(
        lambda: mechanisms.LaplaceBoundedNoise(epsilon=1.0, delta=0.01, sensitivity=1.0),
        name="LaplaceBoundedNoise(epsilon=1, delta=0.01, sensitivity=1)",
    )
    for epsilon, delta in ((1.0, 1e-5), (0.1, 0.01)):
        yield _number(
            lambda e=epsilon, d=delta: mechanisms.Gaussian(epsilon=e, delta=d, sensitivity=1.0),
            name=f"Gaussian(epsilon={epsilon}, delta={delta})",
            distribution=_gaussian_distribution,
        )
    for epsilon, delta in ((1.0, 1e-5), (4.0, 0.1)):
        yield _number(
            lambda e=epsilon, d=delta: mechanisms.GaussianAnalytic(epsilon=e, delta=d, sensitivity=1.0),
            name=f"GaussianAnalytic(epsilon={epsilon}, delta={delta})",
            distribution=_gaussian_distribution,
            relative_error=_ROUNDING,  # the scale is found by bisection
        )
    yield _number(
        lambda: mechanisms.Uniform(delta=0.1, sensitivity=1.0),
        name="Uniform(delta=0.1, sensitivity=1)",
    )
    yield _number(
        lambda: mechanisms.Staircase(epsilon=1.0, sensitivity=1.0), name="Staircase(epsilon=1, sensitivity=1)"
    )
    yield _number(
        lambda: mechanisms.Snapping(epsilon=1.0, sensitivity=1.0, lower=0.0, upper=4.0),
        name="Snapping(epsilon=1, sensitivity=1, [0, 4])",
        bounds=",low=0,high=4",
    )
    for epsilon, sensitivity in ((1.0, 1), (0.2, 1), (1.0, 3)):
        yield _number(
            lambda e=epsilon, s=sensitivity: geometric(epsilon=e, sensitivity=s),
            name=f"Geometric(epsilon={epsilon}, sensitivity={sensitivity})",
            step=sensitivity,
            integer=True,
            distribution=_geometric_distribution,
        )
    yield _beyond_float64(geometric)
    yield _number(
        lambda: mechanisms.GeometricTruncated(epsilon=1.0, sensitivity=1, lower=0, upper=3),
        name="GeometricTruncated(epsilon=1, sensitivity=1, [0, 3])",
        bounds=",low=0,high=3",
        integer=True,
        distribution=_clamped_geometric_distribution,
    )
    yield _number(
        lambda: mechanisms.GeometricFolded(epsilon=1.0, sensitivity=1, lower=0.5, upper=3),
        name="GeometricFolded(epsilon=1, sensitivity=1, [0.5, 3])",
        bounds=",low=1,high=3",
        integer=True,
    )
    for sensitivity in (1, 2):
        yield _number(
            lambda s=sensitivity: mechanisms.GaussianDiscrete(epsilon=1.0, delta=0.01, sensitivity=s),
            name=f"GaussianDiscrete(epsilon=1, delta=0.01, sensitivity={sensitivity})",
            step=sensitivity,
            integer=True,
            distribution=lambda m, data: {
                "family": "discrete gaussian",
                "location": data[0],
                "scale": float(m._scale),
            },
        )


def _beyond_float64(geometric):
    """Return the geometric mechanism on integers that float64 cannot tell from their neighbours."""
    base = 2**53

    def sample_many(data, size):
        mechanism, value = geometric(epsilon=1.0, sensitivity=1), base + int(data[0])
        return [mechanism.randomise(value) - base for _ in range(size)]

    name = "Geometric(epsilon=1, sensitivity=1) at 2^53"
    return Mechanism(name, "vector:size=1,linf=1,integer,low=0,high=8", "pure:1.0", sample_many=sample_many)


# --- mechanisms that select or respond ---------------------------------------------------------------------------


def fixed_selection():
    """Yield the mechanisms that select or respond."""
    for cls in (mechanisms.Exponential, mechanisms.PermuteAndFlip):
        for monotonic in (False, True):

            def make(data, c=cls, mono=monotonic):
                return c(epsilon=1.0, sensitivity=1.0, utility=list(data), monotonic=mono)

            def sample_many(data, size, make=make):
                mechanism = make(data)
                return np.array([mechanism.randomise() for _ in range(size)])

            direction = ",monotone" if monotonic else ""
            yield Mechanism(
                f"{cls.__name__}(epsilon=1, sensitivity=1, monotonic={monotonic}), 4 candidates",
                f"vector:size=4,linf=1{direction}",
                "pure:1.0",
                sample_many=sample_many,
                distribution=_exponential_distribution(monotonic) if cls is mechanisms.Exponential else None,
            )

    def respond(data, size):
        mechanism = mechanisms.Binary(epsilon=1.0, value0="no", value1="yes")
        return [mechanism.randomise("yes" if data[0] else "no") for _ in range(size)]

    def response_distribution(data):
        truth, other = ("yes", "no") if data[0] else ("no", "yes")
        return {"family": "finite", "symbols": [truth, other], "probabilities": [math.e, 1.0]}

    one_bit = "vector:size=1,linf=1,low=0,high=1,integer"
    yield Mechanism("Binary(epsilon=1)", one_bit, "pure:1.0", sample_many=respond, distribution=response_distribution)

    labels = ["a", "b", "c"]
    distances = [["a", "b", 1], ["a", "c", 2], ["b", "c", 2]]

    def categorise(data, size):
        mechanism = mechanisms.ExponentialCategorical(epsilon=1.0, utility_list=distances)
        return [mechanism.randomise(labels[int(data[0])]) for _ in range(size)]

    any_label = "vector:size=1,linf=2,low=0,high=2,integer"
    yield Mechanism("ExponentialCategorical(epsilon=1)", any_label, "pure:1.0", sample_many=categorise)

    def climb(data, size):
        mechanism = mechanisms.ExponentialHierarchical(epsilon=1.0, hierarchy=[["a", "b"], ["c", "d"]])
        return [mechanism.randomise("abcd"[int(data[0])]) for _ in range(size)]

    any_leaf = "vector:size=1,linf=3,low=0,high=3,integer"
    yield Mechanism("ExponentialHierarchical(epsilon=1)", any_leaf, "pure:1.0", sample_many=climb)
    yield Mechanism(
        "bernoulli_neg_exp(0.7)",
        "vector:size=1,linf=1",
        "pure:0.0",
        sample_many=_coins,
        distribution=_coin_distribution,
    )


def _exponential_distribution(monotonic):
    def distribution(data):
        rate = 1.0 if monotonic else 0.5
        best = max(data)
        return {
            "family": "finite",
            "symbols": list(range(len(data))),
            "probabilities": [math.exp(rate * (utility - best)) for utility in data],
        }

    return distribution


def _coins(_data, size):
    return np.array([int(bernoulli_neg_exp(0.7)) for _ in range(size)])


def _coin_distribution(_data):
    return {"family": "finite", "symbols": [0, 1], "probabilities": [-math.expm1(-0.7), math.exp(-0.7)]}
