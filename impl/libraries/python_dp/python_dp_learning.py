"""The mechanisms of pydp.ml, the bias and the variance that they tell, and how their inputs are clipped.

The scale of Laplace noise on a bounded domain is found from the loss of its own density, and moments by integration.
"""

from __future__ import annotations

import math

import numpy as np
from pydp.ml.mechanisms import geometric, laplace
from pydp.ml.util import validation

from dpassay.adapter import Family, Mechanism, Nonsense, Relations, protects, spends
from dpassay.impl.libraries.references import near

__all__ = ["learning_cases"]

_STEPS = 200
"""Steps of a bisection, more than the bits of a float64."""


# --- Laplace noise on a bounded domain -------------------------------------------------------------------------------


def _inside(value, low, high, scale):
    """Return the probability that Laplace noise of this scale leaves a value inside of a domain."""
    return 1 - (math.exp((low - value) / scale) + math.exp((value - high) / scale)) / 2


def _loss(scale, sensitivity, width):
    """Return the largest loss of Laplace noise on the condition of a sum in [0, width]: at 0, against Delta."""
    ratio = _inside(sensitivity, 0.0, width, scale) / _inside(0.0, 0.0, width, scale)
    return sensitivity / scale + math.log(ratio)


def _scale_of(epsilon, delta, sensitivity, width):
    """Return the smallest scale that suffices; delta is the part of outcomes that epsilon need not cover."""
    allowed = epsilon - math.log1p(-delta)
    low, high = sensitivity / allowed / 4, 1e3 * sensitivity / allowed
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if _loss(middle, sensitivity, width) > allowed else (low, middle)
    return (low + high) / 2


def _bounded(epsilon, delta, sensitivity, low, high):
    mechanism = laplace.LaplaceBoundedDomain().set_epsilon_delta(epsilon, delta).set_sensitivity(sensitivity)
    return mechanism.set_bounds(low, high)


def _bounded_case(epsilon, sensitivity, widths, low):
    """Return the mechanism on a domain that is `widths` times as wide as the sensitivity."""
    high = low + widths * sensitivity
    scale = _scale_of(epsilon, 0.0, sensitivity, high - low)

    def sample_many(data, size):
        mechanism = _bounded(epsilon, 0.0, sensitivity, low, high)
        return [float(mechanism.randomise(data[0])) for _ in range(size)]

    return Mechanism(
        "",
        f"vector:size=1,linf={sensitivity!r},low={low!r},high={high!r}",
        f"pure:{epsilon!r}",
        sample_many=sample_many,
        distribution=lambda data: {
            "family": "bounded laplace", "location": data[0], "scale": scale, "low": low, "high": high,
        },
        relative_error=1e-9,  # nothing is promised of the last digits of float64
        floats=False,
    )  # fmt: skip


# --- moments -----------------------------------------------------------------------------------------------------


def _moments(value, scale, low, high, *outcome):
    """Return the bias and the variance of value + Laplace noise, changed by functions of the sum and of its weight.

    `outcome` has the sum as it is released, and the weight of a sum. The density is integrated between the ends and
    beyond them, where there are kinks.
    """
    nodes, weights = np.polynomial.legendre.leggauss(60)
    far = 45 * scale  # beyond it the density is below the rounding of the rest
    around = math.ceil(far / (high - low)) + 1
    kinks = low + np.arange(-around, around + 2) * (high - low)
    kinks = sorted({value - far, value, value + far, *kinks[np.abs(kinks - value) < far]})
    pieces = [(start, end) for end, start in zip(kinks[1:], kinks)]
    sums = np.concatenate([(end - start) / 2 * nodes + (end + start) / 2 for start, end in pieces])
    parts = np.concatenate([(end - start) / 2 * weights for start, end in pieces])
    released, weight = outcome
    parts = parts * np.exp(-np.abs(sums - value) / scale) / (2 * scale) * weight(sums)
    parts /= parts.sum()
    mean = float(parts @ released(sums))
    return mean - value, float(parts @ (released(sums) - mean) ** 2)


def _everywhere(sums):
    return np.ones_like(sums)


def _moments_are_those_of_the_noise(random):
    epsilon, sensitivity, delta = random.uniform(0.5, 3), random.uniform(0.3, 3), random.uniform(0.01, 0.3)
    low = random.uniform(-4, 4)
    high = low + random.uniform(1.5, 6) * sensitivity
    value = random.uniform(low, high)
    pure, plain = sensitivity / epsilon, sensitivity / (epsilon - math.log1p(-delta))
    words = f"epsilon={epsilon!r}, sensitivity={sensitivity!r}, [{low!r}, {high!r}], value={value!r}"
    told = laplace.Laplace().set_epsilon_delta(epsilon, delta).set_sensitivity(sensitivity)
    yield (f"Laplace, {words}, delta={delta!r}: variance", *near(told.get_variance(value), 2 * plain**2))
    yield (f"Laplace, {words}: bias", *near(told.get_bias(value), 0.0))
    yield (f"Laplace, {words}: error", *near(told.get_mse(value), 2 * plain**2))
    for name, of, scale, outcome, has in (
        ("LaplaceTruncated", laplace.LaplaceTruncated(), pure, (lambda x: np.clip(x, low, high), _everywhere), True),
        ("LaplaceFolded", laplace.LaplaceFolded(), pure, (lambda x: _folded(x, low, high), _everywhere), False),
        (
            "LaplaceBoundedDomain", laplace.LaplaceBoundedDomain(), _scale_of(epsilon, 0.0, sensitivity, high - low),
            (lambda x: x, lambda x: ((low <= x) & (x <= high)).astype(float)), True,
        ),
    ):  # fmt: skip
        told = of.set_epsilon(epsilon).set_sensitivity(sensitivity).set_bounds(low, high)
        bias, variance = _moments(value, scale, low, high, *outcome)
        yield (f"{name}, {words}: bias", *near(told.get_bias(value), bias, 1e-7, 1e-7))
        if has:
            yield (f"{name}, {words}: variance", *near(told.get_variance(value), variance, 1e-7, 1e-7))
            yield (f"{name}, {words}: error", *near(told.get_mse(value), variance + bias**2, 1e-7, 1e-7))
    whole, step = random.randint(2, 6), random.uniform(0.3, 3)
    ratio = math.exp(-step / whole)
    told = geometric.Geometric().set_epsilon(step).set_sensitivity(whole).get_variance(3)
    yield (f"Geometric, epsilon={step!r}, sensitivity={whole}: variance", *near(told, 2 * ratio / (1 - ratio) ** 2))


def _folded(x, low, high):
    """Return numbers reflected at the ends until they lie inside."""
    width = high - low
    apart = np.mod(x - low, 2 * width)
    return low + np.minimum(apart, 2 * width - apart)


def _scales(random):
    """Compare the scale on a bounded domain, narrow or wide, with the smallest one whose loss is allowed."""
    for widths in (random.uniform(1.01, 2.5), random.uniform(3, 40)):
        epsilon, sensitivity, low = random.uniform(0.2, 3), random.uniform(0.2, 4), random.uniform(-5, 5)
        high = low + widths * sensitivity
        for delta in (0.0, random.uniform(0.01, 0.3)):
            scale = _scale_of(epsilon, delta, sensitivity, high - low)
            words = f"epsilon={epsilon!r}, delta={delta!r}, sensitivity={sensitivity!r}, [{low!r}, {high!r}]"
            told, asked = (_bounded(epsilon, delta, sensitivity, low, high) for _ in range(2))
            asked.randomise(low)
            yield protects((f"{words}: scale", *near(asked._scale, scale)))
            effective = told.get_effective_epsilon()
            if delta:
                yield f"{words}: no effective epsilon", 1.0, float(effective is None), 1.0
            else:
                yield (f"{words}: effective epsilon", *near(effective, sensitivity / scale))


# --- clipped inputs ----------------------------------------------------------------------------------------------


def _apart(found, exact):
    return float(np.max(np.abs(np.subtract(found, exact)))) if np.shape(found) == np.shape(exact) else math.inf


def _clips(random):
    generator = np.random.RandomState(random.getrandbits(31))
    array = generator.uniform(-4, 4, (7, 3))
    kept, norms = array.copy(), np.sqrt(np.sum(array**2, axis=1, keepdims=True))
    norm = float(np.median(norms)) * random.uniform(0.9, 1.1)  # some rows are longer, some shorter
    found = validation.clip_to_norm(array, norm)
    yield f"clip_to_norm, {norm!r}", 0.0, _apart(found, array * np.minimum(1, norm / norms)), 1e-9
    yield spends((f"clip_to_norm, {norm!r}: norms", 0.0, float(np.linalg.norm(found, axis=1).max()), norm + 1e-9))
    low, high = generator.uniform(-3, 0, 3), generator.uniform(0, 3, 3)
    for words, *bounds in (
        ("of each column", low, high),
        ("of all columns", low[0], high[0]),
        ("equal", np.full(3, low[0]), np.full(3, high[0])),
        ("whose lower ends differ", low, np.full(3, high[0])),
        ("whose upper ends differ", np.full(3, low[0]), high),
        ("of which one lower end differs", np.array([low[0], low[0], low[1]]), np.full(3, high[0])),
        ("of which one upper end differs", np.full(3, low[0]), np.array([high[1], high[0], high[0]])),
    ):
        found = validation.clip_to_bounds(array, tuple(bounds))
        exact = np.minimum(np.maximum(array, bounds[0]), bounds[1])
        yield f"clip_to_bounds, bounds {words}: {bounds}", 0.0, _apart(found, exact), 1e-9
        beyond = float(np.max(np.maximum(np.subtract(bounds[0], found), np.subtract(found, bounds[1]))))
        yield spends((f"clip_to_bounds, distance beyond bounds {words}: {bounds}", -math.inf, beyond, 1e-9))
    yield "the array is kept", 0.0, _apart(array, kept), 0.0
    middle, apart = random.uniform(-3, 3), random.uniform(0.5, 2)
    for words, bounds, shape, exact in (
        ("one number, too near", (middle, middle), 0, (middle - apart / 2, middle + apart / 2)),
        ("one number", (middle, middle + 2 * apart), 0, (middle, middle + 2 * apart)),
        ("one for three", (middle, middle + 2 * apart), 3, ([middle] * 3, [middle + 2 * apart] * 3)),
        ("two, the first too near", ([middle, 1.0], [middle, 1 + 3 * apart]), 2,
         ([middle - apart / 2, 1.0], [middle + apart / 2, 1 + 3 * apart])),
    ):  # fmt: skip
        found = validation.check_bounds(bounds, shape, min_separation=apart)
        for end, one, other in zip(("lower", "upper"), found, exact):
            yield f"check_bounds, {words}, {end}: {bounds}", 0.0, _apart(one, other), 1e-9


def _invalid_clips():
    check, clip, norm = validation.check_bounds, validation.clip_to_bounds, validation.clip_to_norm
    square = np.ones((2, 2))
    wrong = [((1, 0), 0), ([0, 1], 0), (([0, 0], [1, 1]), 3), ((0, 1), 1.5), (([0, 0], [1, 1, 1]), 2)]
    wrong += [(([0, 2], [1, 1]), 2), (([[0, 0], [0, 0]], [[1, 1], [1, 1]]), 2), (([0, 0, 0], 1), 3)]
    attempts = {f"check_bounds({bounds}, {shape})": lambda b=bounds, s=shape: check(b, s) for bounds, shape in wrong}
    attempts |= {f"clip_to_norm by {bad!r}": lambda b=bad: norm(square, b) for bad in (0.0, -1.0, "1")}
    attempts |= {
        "clip_to_norm of a list": lambda: norm([[1.0]], 1.0),
        "clip_to_norm of a vector": lambda: norm(np.ones(2), 1.0),
        "clip_to_bounds of a list": lambda: clip([1.0], (0, 1)),
        "clip_to_bounds of a vector, of each column": lambda: clip(np.ones(2), ([0, 0], [1, 2])),
        "clip_to_bounds, ends of different shapes": lambda: clip(square, ([0, 0], 1)),
        "clip_to_bounds, reversed": lambda: clip(square, (1, 0)),
        "clip_to_bounds, one column reversed": lambda: clip(square, ([0, 2], [1, 1])),
    }
    return attempts


# --- sampled mechanisms ------------------------------------------------------------------------------------------


def _sampled():
    whole = "vector:size=1,linf=1,integer"
    probability = -math.expm1(-1.0)

    def one_sided(data, size):
        mechanism = geometric.Geometric().set_epsilon(1.0).set_sensitivity(1).set_probability(probability)
        return [mechanism.randomise(int(data[0])) for _ in range(size)]

    yield Mechanism("ml.Geometric(epsilon=1)", whole, "pure:1.0", sample_many=one_sided)

    def truncated(data, size):
        mechanism = geometric.GeometricTruncated().set_epsilon(1.0).set_sensitivity(1).set_probability(probability)
        mechanism.set_bounds(0, 8)
        return [mechanism.randomise(int(data[0])) for _ in range(size)]

    yield Mechanism(
        "ml.GeometricTruncated(epsilon=1, [0, 8])", whole + ",low=0,high=8", "pure:1.0", sample_many=truncated
    )
    yield Mechanism(
        "ml.Laplace(epsilon=1)",
        "vector:size=1,linf=1",
        "pure:1.0",
        sample_one=lambda data: laplace.Laplace().set_epsilon(1.0).set_sensitivity(1).randomise(data[0]),
        distribution=lambda data: {"family": "laplace", "location": data[0], "scale": 1.0},
        floats=False,
    )
    bounds = {"low": -1.0, "high": 4.0}
    for name in ("LaplaceTruncated", "LaplaceFolded"):

        def cut(data, name=name):
            mechanism = getattr(laplace, name)().set_epsilon(0.7).set_sensitivity(2.0)
            return mechanism.set_bounds(*bounds.values()).randomise(data[0])

        def distribution(data):
            return {"family": "clamped laplace", "location": data[0], "scale": 2.0 / 0.7, **bounds}

        yield Mechanism(
            f"ml.{name}(epsilon=0.7, sensitivity=2, [-1, 4])",
            "vector:size=1,linf=2,low=-1,high=4",
            "pure:0.7",
            sample_one=cut,
            distribution=distribution if name == "LaplaceTruncated" else None,
            relative_error=1e-9,  # nothing is promised of the last digits of float64
            floats=False,
        )
    yield Family(
        "ml.LaplaceBoundedDomain",
        _bounded_case,
        {"epsilon": (0.4, 3.0), "sensitivity": (0.3, 2.0), "widths": (1.2, 6.0), "low": (-3.0, 2.0)},
    )


def learning_cases():
    """Yield the mechanisms, the relations and the invalid clips."""
    yield from _sampled()
    scales, clips = {"scales on a bounded domain are those of the loss": _scales}, {"records are clipped": _clips}
    yield Relations("ml.mechanisms", {**scales, "moments are those of the noise": _moments_are_those_of_the_noise})
    yield Relations("ml.validation", clips)
    yield Nonsense("ml.validation, refusals", _invalid_clips())
