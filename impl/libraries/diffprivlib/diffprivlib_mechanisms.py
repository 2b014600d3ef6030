"""Families of the mechanisms of diffprivlib that add noise to a number, with the distributions that they document.

Where no closed form of a family of distributions fits, the outcome is the cell into which the released number falls,
and the distribution is that of the cell.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from diffprivlib import mechanisms
from diffprivlib.mechanisms.base import bernoulli_neg_exp

from dpassay.adapter import Family, Mechanism

__all__ = [
    "between",
    "bounded_noise_cells",
    "folded_cells",
    "folded_integers",
    "laplace_function",
    "mechanism_families",
    "noise_cells",
    "snapped_cells",
    "staircase_cells",
    "truncated_integers",
    "uniform_cells",
]

_ROUNDING = 1e-9
"""Relative; nothing is promised of the last digits of float64."""

_REACH = 4.0
"""Distance of the inputs from 0 in sensitivities, where the mechanism has no bounds."""

_CELLS = 8
"""Cells between the bounds, or between two scales of the noise to each side."""

_IMAGES = 400
"""Reflections of a folded distribution on each side."""


def _call(name, arguments, value):
    words = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
    return f"from diffprivlib import mechanisms\nmechanisms.{name}({words}).randomise({value})"


def _randomised(name, domain, *, delta=False, integer=False, bounded=False, distribution=None, cells=None, **more):
    """Return a mechanism that adds noise to a number, over its parameters; the claim is what the user asked for.

    `distribution(mechanism, data)` is the distribution of the outcome. Or `cells(**arguments)` returns a function that
    maps outcomes to cells, and one that returns the probabilities of the cells.
    """
    cls = getattr(mechanisms, name)

    def make(**arguments):
        width = arguments.pop("width", None)
        if bounded:
            arguments["upper"] = arguments["lower"] + width
        known = {key: arguments.get(key, 0.0) for key in ("epsilon", "delta")}
        place, probabilities = (None, None) if cells is None else cells(**arguments)

        def sample_many(data, size):
            mechanism = cls(**arguments)
            value = int(data[0]) if integer else data[0]
            drawn = np.array([mechanism.randomise(value) for _ in range(size)])
            return drawn if place is None else place(drawn)

        def of_data(data):
            if cells is None:
                return distribution(cls(**arguments), data)
            found = probabilities(int(data[0]) if integer else data[0])
            return {"family": "finite", "symbols": list(range(len(found))), "probabilities": found}

        step = arguments.get("sensitivity", 1)
        reach = f",low={-_REACH * step!r},high={_REACH * step!r}"
        if bounded:
            reach = f",low={arguments['lower']},high={arguments['upper']}"
        return Mechanism(
            "",
            f"vector:size=1,linf={step}{reach}" + (",integer" if integer else ""),
            f"approx:{known['epsilon']!r},{known['delta']!r}" if delta else f"pure:{known['epsilon']!r}",
            sample_many=sample_many,
            distribution=None if distribution is None and cells is None else of_data,
            floats=False,
            slow=True,
            relative_error=_ROUNDING,
            call=_call(name, arguments, "int({data}[0])" if integer else "{data}[0]"),
            **more,
        )

    return Family(f"mechanisms.{name}, family", make, domain)


def _laplace_scale(epsilon, delta, sensitivity):
    return sensitivity / (epsilon - math.log1p(-delta))


def _laplace_distribution(mechanism, data):
    scale = _laplace_scale(mechanism.epsilon, mechanism.delta, mechanism.sensitivity)
    return {"family": "laplace", "location": data[0], "scale": scale}


def _clamped_distribution(mechanism, data):
    bounds = {"low": float(mechanism.lower), "high": float(mechanism.upper)}
    return {**_laplace_distribution(mechanism, data), "family": "clamped laplace", **bounds}


def _scaled(family):
    return lambda mechanism, data: {"family": family, "location": data[0], "scale": float(mechanism._scale)}


def _geometric_distribution(mechanism, data):
    return {"family": "discrete laplace", "location": data[0], "scale": -1 / mechanism._scale}


def _bounded_distribution(mechanism, data):
    mechanism.randomise(data[0])  # the scale is found at the first call
    location = min(max(data[0], mechanism.lower), mechanism.upper)
    bounds = {"low": float(mechanism.lower), "high": float(mechanism.upper)}
    return {"family": "bounded laplace", "location": location, "scale": float(mechanism._scale), **bounds}


# --- cells of noise --------------------------------------------------------------------------------------------


def between(edges):
    """Return a function that maps numbers to the cells that the edges part."""
    inner = np.asarray(edges[1:-1], dtype=float)
    return lambda drawn: np.searchsorted(inner, np.asarray(drawn, dtype=float), side="right")


def _mass(function, low, high):
    """Return the probability of an interval under a symmetric distribution, of small numbers where it is small."""
    if low > 0:
        low, high = -high, -low
    return max(0.0, (1.0 if high == math.inf else function(high)) - (0.0 if low == -math.inf else function(low)))


def _masses(function, edges, centre):
    """Return the probabilities of cells under noise with a distribution function that is symmetric about 0."""
    return [_mass(function, low - centre, high - centre) for low, high in itertools.pairwise(edges)]


def laplace_function(scale):
    """Return the distribution function of Laplace noise."""
    return lambda x: 0.5 * math.exp(x / scale) if x < 0 else 1 - 0.5 * math.exp(-x / scale)


def _around(scale, sensitivity):
    """Return the edges of cells around 0, the outer ones infinite."""
    inner = np.linspace(-2 * scale - _REACH * sensitivity, 2 * scale + _REACH * sensitivity, 2 * _CELLS + 1)
    return [-math.inf, *inner.tolist(), math.inf]


def noise_cells(scale, sensitivity, function):
    """Return cells around 0 and their probabilities, for noise with a distribution function."""
    edges = _around(scale, sensitivity)

    return between(edges), lambda value: _masses(function, edges, value)


def folded_cells(epsilon, sensitivity, lower, upper):
    """Return cells of Laplace noise that is reflected at two ends."""
    function = laplace_function(sensitivity / epsilon)
    edges = np.linspace(lower, upper, _CELLS + 1).tolist()

    def probabilities(value):
        found = []
        for low, high in itertools.pairwise(edges):
            mass = 0.0
            for k in range(-_IMAGES, _IMAGES + 1):
                shift = 2 * k * (upper - lower) - value
                mass += _mass(function, low + shift, high + shift)
                mass += _mass(function, 2 * lower - high + shift, 2 * lower - low + shift)
            found.append(mass)
        return found

    return between(edges), probabilities


def bounded_noise_cells(epsilon, delta, sensitivity):
    """Return cells of Laplace noise on the condition that it lies within a bound."""
    scale = sensitivity / epsilon
    bound = scale * math.log1p(math.expm1(epsilon) / 2 / delta)
    laplace = laplace_function(scale)
    outside = laplace(-bound)

    def function(x):
        return (laplace(min(max(x, -bound), bound)) - outside) / (1 - 2 * outside)

    return noise_cells(scale, sensitivity, function)


def staircase_cells(epsilon, sensitivity, gamma):
    """Return cells of staircase noise (Geng and others 2015)."""
    ratio = math.exp(-epsilon)
    height = (1 - ratio) / (2 * sensitivity * (gamma + ratio * (1 - gamma)))

    def function(x):
        steps, rest = divmod(abs(x) / sensitivity, 1.0)
        past = (1 - ratio**steps) / 2  # each step has the ratio of the mass of the one before
        part = height * sensitivity * ratio**steps * (min(rest, gamma) + ratio * max(0.0, rest - gamma))
        return 0.5 + past + part if x > 0 else ratio**steps / 2 - part

    return noise_cells(sensitivity * max(1.0, 1 / epsilon), sensitivity, function)


def uniform_cells(delta, sensitivity):
    """Return cells of uniform noise."""
    half = sensitivity / delta / 2
    return noise_cells(half / 2, sensitivity, lambda x: min(max(0.5 + x / (2 * half), 0.0), 1.0))


def snapped_cells(epsilon, sensitivity, lower, upper):
    """Return the multiples of the smallest power of two that is at least the scale, between the bounds."""
    bound = (upper - lower) / 2 / sensitivity
    grid = 2.0 ** math.ceil(math.log2(1 / epsilon) + 1e-12)  # the epsilon that it uses is slightly smaller
    most = math.floor(bound / grid + 0.5)
    function = laplace_function(1 / epsilon)
    edges = [-math.inf, *(grid * (k + 0.5) for k in range(-most, most)), math.inf]

    def place(drawn):
        return np.clip(np.rint(((drawn - lower) / sensitivity - bound) / grid), -most, most).astype(int) + most

    def probabilities(value):
        return _masses(function, edges, (value - lower) / sensitivity - bound)

    return place, probabilities


def _integers(epsilon, sensitivity):
    ratio = math.exp(-epsilon / sensitivity)
    return lambda distance: (1 - ratio) / (1 + ratio) * ratio ** abs(distance)


def truncated_integers(epsilon, sensitivity, lower, upper):
    """Return the integers between two ends, which also stand for what lies beyond."""
    mass, ratio = _integers(epsilon, sensitivity), math.exp(-epsilon / sensitivity)

    def probabilities(value):
        ends = [mass(value - end) / (1 - ratio) for end in (lower, upper)]
        return [ends[0], *(mass(k - value) for k in range(lower + 1, upper)), ends[1]]

    return (lambda drawn: np.asarray(drawn) - lower), probabilities


def folded_integers(epsilon, sensitivity, lower, upper):
    """Return the integers between two ends at which sums are reflected."""
    mass = _integers(epsilon, sensitivity)

    def fold(k):
        # the bounds are reflected at: those that are integers occur once in each period
        period = 2 * (upper - lower)
        k = (k - lower) % period
        return lower + (k if k <= upper - lower else period - k)

    def probabilities(value):
        found = [0.0] * (upper - lower + 1)
        for distance in range(-_IMAGES, _IMAGES + 1):
            found[fold(value + distance) - lower] += mass(distance)
        return found

    return (lambda drawn: np.asarray(drawn) - lower), probabilities


def _coin():
    def make(rate):
        def sample_many(_data, size):
            return np.array([int(bernoulli_neg_exp(rate)) for _ in range(size)])

        chances = {"symbols": [0, 1], "probabilities": [-math.expm1(-rate), math.exp(-rate)]}
        return Mechanism(
            "",
            "vector:size=1,linf=1",
            "pure:0.0",
            sample_many=sample_many,
            distribution=lambda _: {"family": "finite", **chances},
            slow=True,
        )

    return Family("bernoulli_neg_exp, family", make, {"rate": (0.1, 2.6)})


def mechanism_families():
    """Yield the mechanisms over their parameters."""
    pure, delta = {"epsilon": (0.6, 4.0), "sensitivity": (0.25, 7.0)}, {"delta": (0.02, 0.2)}
    whole = {"epsilon": (0.6, 4.0), "sensitivity": (2, 5)}
    interval = {"lower": (-9.0, 4.0), "width": (3.0, 20.0)}
    steps = {"lower": (-9, 4), "width": (7, 20)}
    yield _randomised("Laplace", {**pure, **delta}, delta=True, distribution=_laplace_distribution)
    yield _randomised("LaplaceTruncated", {**pure, **interval}, bounded=True, distribution=_clamped_distribution)
    yield _randomised("LaplaceFolded", {**pure, **interval}, bounded=True, cells=folded_cells)
    # where the sensitivity exceeds the width, a call may take minutes
    narrow = {"sensitivity": (0.25, 2.5)}
    yield _randomised(
        "LaplaceBoundedDomain", {**pure, **narrow, **interval}, bounded=True, distribution=_bounded_distribution
    )
    yield _randomised("LaplaceBoundedNoise", {**pure, **delta}, delta=True, cells=bounded_noise_cells)
    yield _randomised(
        "Gaussian",
        {"epsilon": (0.3, 1.0), **delta, "sensitivity": (0.25, 7.0)},
        delta=True,
        distribution=_scaled("gaussian"),
    )
    yield _randomised("GaussianAnalytic", {**pure, **delta}, delta=True, distribution=_scaled("gaussian"))
    yield _randomised(
        "GaussianDiscrete", {**whole, **delta}, delta=True, integer=True, distribution=_scaled("discrete gaussian")
    )
    yield _randomised("Geometric", whole, integer=True, distribution=_geometric_distribution)
    yield _randomised("GeometricTruncated", {**whole, **steps}, integer=True, bounded=True, cells=truncated_integers)
    yield _randomised("GeometricFolded", {**whole, **steps}, integer=True, bounded=True, cells=folded_integers)
    yield _randomised("Staircase", {**pure, "gamma": (0.2, 0.8)}, cells=staircase_cells)
    yield _randomised(
        "Snapping",
        {**pure, **narrow, "lower": (-9.0, -3.0), "width": (12.0, 20.0)},
        bounded=True,
        cells=snapped_cells,
    )
    yield _randomised("Uniform", {"delta": (0.1, 0.4), "sensitivity": (0.25, 7.0)}, delta=True, cells=uniform_cells)
    yield _coin()
