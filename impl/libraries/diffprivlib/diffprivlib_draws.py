"""Relations of diffprivlib: draws of one random state follow the distribution that the documentation states.

A random state makes the draws repeatable. By the inequality of Dvoretzky, Kiefer and Wolfowitz a comparison fails for
the true distribution with a probability of at most 1e-12. The distributions are those of the parameters that a
mechanism is given, not of those that it keeps; every parameter changes the distribution by more than that.
"""

from __future__ import annotations

import math

import numpy as np
from diffprivlib import mechanisms
from diffprivlib.mechanisms.base import bernoulli_neg_exp
from diffprivlib_comparisons import DRAWS, compared, far
from diffprivlib_directions import bingham_directions, vectors
from diffprivlib_mechanisms import (
    between,
    bounded_noise_cells,
    folded_cells,
    folded_integers,
    laplace_function,
    noise_cells,
    snapped_cells,
    staircase_cells,
    truncated_integers,
    uniform_cells,
)
from diffprivlib_selection import CATEGORIES, categorical, exponential, flipped, hierarchical, response

from dpassay.adapter import Relations, protects, spends
from dpassay.impl.libraries.references import gaussian_delta, near, normal_cdf

__all__ = ["draw_relations"]

_CELLS = 16


def _noise(name, parameters, cells, value=lambda random: random.uniform(-3, 3), integer=False):
    """Return the relation that noise of a mechanism falls into cells with their probabilities.

    `cells(**parameters)` returns a function that maps outcomes to cells, and one from the value to the probabilities.
    """

    def relation(random):
        given, at, state = parameters(random), value(random), random.getrandbits(31)
        mechanism = getattr(mechanisms, name)(**given, random_state=state)
        place, probabilities = cells(**given)
        drawn = np.array([mechanism.randomise(int(at) if integer else at) for _ in range(DRAWS)], dtype=float)
        yield from compared(f"{name}, {given}, value {at!r}, random state {state}", place(drawn), probabilities(at))

    return relation


# --- cells by the parameters that a mechanism is given ------------------------------------------------------


def _with_leak(epsilon, delta):
    """Return the epsilon of Laplace noise that has a delta (Holohan, Leith and Mason 2015)."""
    return epsilon - math.log1p(-delta)


def _laplace(epsilon, delta, sensitivity):
    scale = sensitivity / _with_leak(epsilon, delta)
    return noise_cells(scale, sensitivity, laplace_function(scale))


def _edges(lower, upper):
    return np.linspace(lower, upper, _CELLS + 1)


def _clamped(epsilon, delta, sensitivity, lower, upper):
    function = laplace_function(sensitivity / _with_leak(epsilon, delta))
    # an end is a cell of its own
    inner = _edges(lower, upper)
    edges = [-math.inf, lower + 1e-9, *inner[1:-1], upper - 1e-9, math.inf]

    def probabilities(value):
        reached = [0.0, function(lower - value), *(function(x - value) for x in inner[1:-1])]
        return np.diff([*reached, 1 - function(value - upper), 1.0])

    return between(edges), probabilities


def _folded(epsilon, delta, sensitivity, lower, upper):
    return folded_cells(_with_leak(epsilon, delta), sensitivity, lower, upper)


def _folded_once(epsilon, delta, sensitivity, lower, upper):
    function = laplace_function(sensitivity / _with_leak(epsilon, delta))
    edges = [*(lower + sensitivity / epsilon * np.linspace(0, 5, _CELLS + 1)), upper]

    def probabilities(value):
        reached = [function(x - value) - function(2 * lower - x - value) for x in edges[:-1]]
        return np.diff([*reached, 1.0])

    return between(edges), probabilities


def _bounded_scale(epsilon, delta, sensitivity, width):
    """Return the scale at which the documented inequality is an equality (Holohan and others 2020, Theorem 3.5)."""

    def suffices(scale):
        grown = (2 - math.exp(-sensitivity / scale) - math.exp(-(width - sensitivity) / scale)) / -math.expm1(
            -width / scale
        )
        return scale * (epsilon - math.log(grown) - math.log1p(-delta)) >= sensitivity

    low, high = sensitivity / _with_leak(epsilon, delta), 1.0
    while not suffices(high):
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return high


def _bounded(epsilon, delta, sensitivity, lower, upper):
    function = laplace_function(_bounded_scale(epsilon, delta, sensitivity, upper - lower))
    edges = _edges(lower, upper)

    def probabilities(value):
        inside = min(max(value, lower), upper)
        masses = np.diff([function(x - inside) for x in edges])
        return masses / masses.sum()

    return between(edges), probabilities


def _gaussian(epsilon, delta, sensitivity):
    scale = math.sqrt(2 * math.log(1.25 / delta)) * sensitivity / epsilon
    return noise_cells(scale, sensitivity, lambda x: normal_cdf(x / scale))


def _analytic_scale(epsilon, delta, sensitivity):
    """Return the least scale of Gaussian noise with a delta (Balle and Wang 2018, Theorem 8)."""
    low, high = 1e-3, 1e4
    for _ in range(200):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if gaussian_delta(middle, epsilon) <= delta else (middle, high)
    return sensitivity * high


def _analytic(epsilon, delta, sensitivity):
    scale = _analytic_scale(epsilon, delta, sensitivity)
    return noise_cells(scale, sensitivity, lambda x: normal_cdf(x / scale))


def _discrete_delta(scale, epsilon, sensitivity):
    reach = math.ceil(40 * scale)
    masses = {k: math.exp(-0.5 * (k / scale) ** 2) for k in range(-reach, reach + 1)}
    total = math.fsum(masses.values())
    lost = (p - math.exp(epsilon) * masses.get(k - sensitivity, 0.0) for k, p in masses.items())
    return math.fsum(max(x, 0.0) for x in lost) / total


def _integer_cells(low, high, mass):
    """Return a cell for each integer between ends that also stand for what lies beyond."""

    def probabilities(value):
        reach = 4000
        inside = np.array([mass(k - value) for k in range(low, high + 1)])
        inside[0] += math.fsum(mass(k - value) for k in range(low - reach, low))
        inside[-1] += math.fsum(mass(k - value) for k in range(high + 1, high + reach + 1))
        return inside

    return (lambda drawn: np.clip(drawn, low, high).astype(int) - low), probabilities


def _geometric(epsilon, sensitivity):
    ratio = math.exp(-epsilon / sensitivity)
    return _integer_cells(-20, 20, lambda k: (1 - ratio) / (1 + ratio) * ratio ** abs(k))


def _truncated(epsilon, sensitivity, lower, upper):
    place, probabilities = truncated_integers(epsilon, sensitivity, lower, upper)
    return (lambda drawn: place(drawn).astype(int)), lambda value: probabilities(int(value))


def _folded_whole(epsilon, sensitivity, lower, upper):
    place, probabilities = folded_integers(epsilon, sensitivity, lower, upper)
    return (lambda drawn: place(drawn).astype(int)), lambda value: probabilities(int(value))


def _folded_at_halves(epsilon, sensitivity, lower, upper):
    """Return a cell for each integer between two half-integers, at which sums are reflected."""
    ratio = math.exp(-epsilon / sensitivity)
    first, period = math.ceil(lower), 2 * (upper - lower)

    def probabilities(value):
        found = np.zeros(int(upper - lower))
        for distance in range(-2000, 2001):
            along = (int(value) + distance - lower) % period
            inside = lower + (along if along <= upper - lower else period - along)
            found[int(inside) - first if inside >= 0 else math.ceil(inside) - first] += (
                (1 - ratio) / (1 + ratio) * ratio ** abs(distance)
            )
        return found

    return (lambda drawn: drawn.astype(int) - first), probabilities


# --- parameters of which each changes the distribution by more than the distance ----------------------------


def _some(random):
    return {"epsilon": random.uniform(0.25, 0.5), "sensitivity": random.uniform(2, 5)}


def _leaking(random):
    return {**_some(random), "delta": random.uniform(0.3, 0.6)}


def _within(random):
    lower = random.uniform(-9, -5)
    return {"lower": lower, "upper": lower + random.uniform(14, 20)}


def _small_delta(random):
    return {**_some(random), "delta": random.uniform(0.05, 0.2)}


def _whole(random):
    return {"epsilon": random.uniform(0.5, 1), "sensitivity": random.randint(3, 5)}


def _whole_within(random):
    return {**_whole(random), "lower": random.randint(-6, -4), "upper": random.randint(4, 7)}


def _halves_within(random):
    return {**_whole(random), "lower": random.randint(-6, -4) + 0.5, "upper": random.randint(4, 7) + 0.5}


def _an_integer(random):
    return float(random.randint(-3, 3))


def _noises():
    yield "Laplace", _leaking, _laplace, {}
    yield "LaplaceTruncated", lambda r: {**_leaking(r), **_within(r)}, _clamped, {}
    yield "LaplaceFolded", lambda r: {**_leaking(r), **_within(r)}, _folded, {}
    yield "LaplaceFolded", lambda r: {**_leaking(r), "lower": -4.0, "upper": math.inf}, _folded_once, {}
    bounded = {"epsilon": 0.3, "delta": 0.5, "sensitivity": 2.5}
    far = {"value": lambda random: random.choice([random.uniform(-3, 3), -30.0, 30.0])}
    yield "LaplaceBoundedDomain", lambda r: {**bounded, **_within(r), "epsilon": r.uniform(0.3, 1)}, _bounded, far
    yield "LaplaceBoundedNoise", _small_delta, bounded_noise_cells, {}
    yield "Gaussian", _small_delta, _gaussian, {}
    yield "GaussianAnalytic", lambda r: {**_small_delta(r), "epsilon": r.uniform(1, 3)}, _analytic, {}
    yield "Geometric", _whole, _geometric, {"value": _an_integer, "integer": True}
    yield "GeometricTruncated", _whole_within, _truncated, {"value": _an_integer, "integer": True}
    yield "GeometricFolded", _whole_within, _folded_whole, {"value": _an_integer, "integer": True}
    yield "GeometricFolded", _halves_within, _folded_at_halves, {"value": _an_integer, "integer": True}
    steep = {"epsilon": 1.5, "sensitivity": 3.0}
    yield (
        "Staircase",
        lambda r: {**steep, "epsilon": r.uniform(1, 2), "gamma": r.uniform(0.2, 0.8)},
        staircase_cells,
        {},
    )
    wide = {"epsilon": 0.5, "sensitivity": 1.5}
    yield "Snapping", lambda r: {**wide, "epsilon": r.uniform(0.3, 0.9), **_within(r)}, snapped_cells, {}
    yield "Uniform", lambda r: {"delta": r.uniform(0.1, 0.4), "sensitivity": r.uniform(2, 5)}, uniform_cells, {}


def _scales_suffice(random):
    """Check the scale of discrete Gaussian noise, whose search ends slightly below the one that suffices."""
    given = {
        "epsilon": random.uniform(0.3, 2),
        "delta": random.uniform(0.01, 0.2),
        "sensitivity": random.randint(2, 5),
    }
    scale = float(mechanisms.GaussianDiscrete(**given)._scale)
    found = _discrete_delta(scale, given["epsilon"], given["sensitivity"])
    words = f"GaussianDiscrete, {given}, delta of the scale {scale}"
    yield spends((words, 0.9 * given["delta"], found, 1.001 * given["delta"]))
    state = random.getrandbits(31)
    mechanism = mechanisms.GaussianDiscrete(**given, random_state=state)
    reach = math.ceil(3 * scale)
    total = math.fsum(math.exp(-0.5 * (k / scale) ** 2) for k in range(-20 * reach, 20 * reach + 1))
    place, probabilities = _integer_cells(-reach, reach, lambda k: math.exp(-0.5 * (k / scale) ** 2) / total)
    drawn = np.array([mechanism.randomise(2) for _ in range(DRAWS)])
    yield from compared(f"GaussianDiscrete, {given}, random state {state}", place(drawn), probabilities(2))
    given = {**_small_delta(random), "epsilon": random.uniform(0.5, 5)}
    scale = float(mechanisms.GaussianAnalytic(**given)._scale)
    yield protects((f"GaussianAnalytic, {given}, scale", *near(scale, _analytic_scale(**given), 1e-6)))
    given = {**_leaking(random), **_within(random), "delta": random.choice([0.0, 0.4]), "sensitivity": 2.5}
    scale = float(mechanisms.LaplaceBoundedDomain(**given)._find_scale())
    own = {key: given[key] for key in ("epsilon", "delta", "sensitivity")}
    exact = _bounded_scale(**own, width=given["upper"] - given["lower"])
    yield protects((f"LaplaceBoundedDomain, {given}, scale", *near(scale, exact, 1e-9)))


# --- selections and responses ----------------------------------------------------------------------


def _chosen(make, parameters, data):
    """Return the relation of a mechanism with finitely many outcomes."""

    def relation(random):
        given, at, state = parameters(random), data(random), random.getrandbits(31)
        case = make(**given, state=np.random.RandomState(state))
        exact = case.distribution(at)
        cells = {repr(symbol): place for place, symbol in enumerate(exact["symbols"])}
        drawn = [cells.get(repr(one), len(cells)) for one in case.sample_many(at, DRAWS)]
        probabilities = np.array([*exact["probabilities"], 0.0]) / math.fsum(exact["probabilities"])
        yield from compared(f"{make.__name__}, {given}, {at}, random state {state}", drawn, probabilities)

    return relation


def _utilities(random):
    return [random.uniform(-3, 3) for _ in range(4)]


def _budget(random):
    return {"epsilon": random.uniform(0.8, 2)}


def _selecting(random):
    return {**_budget(random), "sensitivity": random.choice([0.4, 1.7]), "monotonic": random.random() < 0.5}


def _selections():
    yield "Exponential", exponential, lambda r: {**_selecting(r), "measure": r.random() < 0.5}, _utilities
    yield "PermuteAndFlip", flipped, _selecting, _utilities
    yield "Binary", response, _budget, lambda random: [float(random.randint(0, 1))]
    yield (
        "ExponentialCategorical",
        categorical,
        lambda r: {"epsilon": r.uniform(1.5, 3), "kind": r.choice(CATEGORIES)},
        lambda r: [float(r.randint(0, 3))],
    )
    yield (
        "ExponentialHierarchical",
        hierarchical,
        lambda r: {"epsilon": r.uniform(2, 4)},
        lambda r: [float(r.randint(0, 7))],
    )


def _coins(random):
    rate, state = random.choice([random.uniform(0.2, 0.9), random.uniform(1.2, 2.4)]), random.getrandbits(31)
    generator = np.random.RandomState(state)
    ones = sum(int(bernoulli_neg_exp(rate, generator)) for _ in range(DRAWS)) / DRAWS
    low, high = math.exp(-rate) - far(DRAWS), math.exp(-rate) + far(DRAWS)
    yield f"bernoulli_neg_exp({rate!r}), random state {state}", low, ones, high


def draw_relations():
    """Yield the relations."""
    found = {}
    for name, parameters, cells, more in _noises():
        if hasattr(mechanisms, name):
            words = f"{name}{', half-integers' if cells is _folded_at_halves else ''}"
            words += ", one bound" if cells is _folded_once else ""
            found[f"noise of {words}"] = _noise(name, parameters, cells, **more)
    scales = {"scales suffice": _scales_suffice}
    yield Relations("mechanisms, draws of one state", {**found, **scales})
    chosen = {f"choices of {name}": _chosen(*rest) for name, *rest in _selections() if hasattr(mechanisms, name)}
    yield Relations(
        "selections, draws of one state",
        {
            **chosen,
            "noise of Vector": vectors,
            "directions of Bingham": bingham_directions,
            "coins of bernoulli_neg_exp": _coins,
        },
    )
