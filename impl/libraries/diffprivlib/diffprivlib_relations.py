"""Relations of diffprivlib that need no samples: what mechanisms keep of their parameters, and how noise scales.

Noise is drawn from a random state of its own, and the same state draws the same noise: an answer on data, bounds and
noise of another unit is the same answer in that unit. What is compared are noises of one state, never distributions.
"""

from __future__ import annotations

import math

import numpy as np
from diffprivlib import mechanisms, models, tools
from diffprivlib.accountant import BudgetAccountant

from dpassay.adapter import Relations
from dpassay.impl.libraries.references import near

__all__ = ["relations"]

_ROUNDING = 1e-9
"""Relative; nothing is promised of the last digits of float64."""


# --- parameters ---------------------------------------------------------------------------------------------


def _pure(random):
    return {"epsilon": random.uniform(0.2, 3), "sensitivity": random.uniform(0.3, 5)}


def _bounds(random):
    lower = random.uniform(-7, 3)
    return {"lower": lower, "upper": lower + random.uniform(2, 9)}


def _integers(random):
    return {"epsilon": random.uniform(0.2, 3), "sensitivity": random.randint(2, 6)}


def _delta(random):
    return {"delta": random.uniform(0.01, 0.3)}


_PARAMETERS = {
    "Laplace": lambda random: {**_pure(random), **_delta(random)},
    "LaplaceTruncated": lambda random: {**_pure(random), **_bounds(random)},
    "LaplaceFolded": lambda random: {**_pure(random), **_bounds(random)},
    "LaplaceBoundedDomain": lambda random: {**_pure(random), **_bounds(random)},
    "LaplaceBoundedNoise": lambda random: {**_pure(random), **_delta(random)},
    "Staircase": lambda random: {**_pure(random), "gamma": random.uniform(0.1, 0.9)},
    "Snapping": lambda random: {**_pure(random), **_bounds(random)},
    "Gaussian": lambda random: {**_pure(random), **_delta(random), "epsilon": random.uniform(0.2, 1)},
    "GaussianAnalytic": lambda random: {**_pure(random), **_delta(random)},
    "GaussianDiscrete": lambda random: {**_integers(random), **_delta(random)},
    "Geometric": _integers,
    "GeometricTruncated": lambda random: {**_integers(random), "lower": -3, "upper": random.randint(4, 9)},
    "GeometricFolded": lambda random: {**_integers(random), "lower": -3, "upper": random.randint(4, 9)},
    "Uniform": lambda random: {"delta": random.uniform(0.01, 0.3), "sensitivity": random.uniform(0.3, 5)},
    "Binary": lambda random: {"epsilon": random.uniform(0.2, 3), "value0": "a", "value1": "b"},
    "Exponential": lambda random: {**_pure(random), "utility": [0.5, 2.0, 1.0]},
    "PermuteAndFlip": lambda random: {**_pure(random), "utility": [0.5, 2.0, 1.0]},
}
"""Valid parameters of each mechanism."""


def _kept(name):
    """Return the relation that a mechanism of this name has the parameters that it was given."""

    def relation(random):
        parameters = _PARAMETERS[name](random)
        made = getattr(mechanisms, name)(**parameters)
        for key, value in parameters.items():
            if isinstance(value, (int, float)) and hasattr(made, key):
                yield (f"{key}={value}", *near(float(getattr(made, key)), float(value), 0.0))

    return relation


# --- noise of one random state ------------------------------------------------------------------------------


def _noise_of(name, parameters, seed, value=0.0):
    return float(getattr(mechanisms, name)(**parameters, random_state=seed).randomise(value)) - value


def _in_other_units(name):
    """Return the relation that noise for `unit` times the sensitivity is `unit` times the noise."""

    def relation(random):
        parameters, seed, unit = _PARAMETERS[name](random), random.getrandbits(31), random.choice([2.0, 0.25, 8.0])
        wider = {**parameters, "sensitivity": unit * parameters["sensitivity"]}
        once, other = _noise_of(name, parameters, seed), _noise_of(name, wider, seed)
        yield (f"{parameters}, random state {seed}, {unit} times", *near(other, unit * once, _ROUNDING))

    return relation


def _variance_is_that_of_its_scale(random):
    """Compare with 2 b^2, with the variance of a difference of two geometric draws, and with sigma^2.

    The scale b is sensitivity / (epsilon - log(1 - delta)) (Holohan and others 2015).
    """
    given = _PARAMETERS["Laplace"](random)
    scale = given["sensitivity"] / (given["epsilon"] - math.log(1 - given["delta"]))
    yield (f"Laplace, {given}", *near(float(mechanisms.Laplace(**given).variance(0)), 2 * scale**2, _ROUNDING))
    given = _PARAMETERS["Geometric"](random)
    ratio = math.exp(-given["epsilon"] / given["sensitivity"])
    expected = 2 * ratio / (1 - ratio) ** 2
    yield (f"Geometric, {given}", *near(float(mechanisms.Geometric(**given).variance(0)), expected, _ROUNDING))
    given = _PARAMETERS["Gaussian"](random)
    expected = 2 * math.log(1.25 / given["delta"]) * (given["sensitivity"] / given["epsilon"]) ** 2
    yield (f"Gaussian, {given}", *near(float(mechanisms.Gaussian(**given).variance(0)), expected, _ROUNDING))


# --- answers of the tools -----------------------------------------------------------------------------------

_EPSILON = 400.0
"""Large enough for answers to stay inside the range to which they are cut."""

_EXACT = {"sum": np.sum, "mean": np.mean, "var": np.var, "std": np.std}


def _of_tool(name, records, seed, bounds, epsilon=_EPSILON):
    return float(getattr(tools, name)(records, epsilon=epsilon, bounds=bounds, random_state=seed,
                                      accountant=BudgetAccountant()))  # fmt: skip


def _records(random):
    return np.array([random.uniform(0.2, 0.8) for _ in range(random.randint(11, 17))])


def _answer_in_other_units(name):
    """Return the relation that an answer on records and bounds in another unit is that answer in the unit."""

    def relation(random):
        records, seed, unit = _records(random), random.getrandbits(31), random.choice([2.0, 4.0, 0.5])
        power = unit**2 if name == "var" else unit
        once = _of_tool(name, records, seed, (0.0, 1.0))
        other = _of_tool(name, unit * records, seed, (0.0, unit))
        yield (f"{records.tolist()}, random state {seed}, {unit} times", *near(other, power * once, 1e-6))

    return relation


def _noise_halves_with_twice_the_epsilon(name):
    def relation(random):
        records, seed = _records(random), random.getrandbits(31)
        truth = _EXACT[name](records)
        once, other = (_of_tool(name, records, seed, (0.0, 1.0), epsilon) - truth for epsilon in (400.0, 800.0))
        yield (f"{records.tolist()}, random state {seed}", *near(2 * other, once, 1e-6))

    return relation


def _noise_of_a_mean_falls_with_the_records(random):
    records, seed = _records(random), random.getrandbits(31)
    twice = np.concatenate([records, records])
    once, other = (_of_tool("mean", each, seed, (0.0, 1.0)) - float(np.mean(each)) for each in (records, twice))
    yield (f"{records.tolist()}, random state {seed}", *near(2 * other, once, 1e-6))


def _noise_of_a_sum_is_that_of_its_range(random):
    """Compare with that of a mean, times the number of records: both move by the range over one record."""
    records, seed = _records(random), random.getrandbits(31)
    total, mean = (
        _of_tool(name, records, seed, (0.0, 1.0)) - float(_EXACT[name](records)) for name in ("sum", "mean")
    )
    yield (f"{records.tolist()}, random state {seed}", *near(total, mean * len(records), 1e-6))


# --- models -------------------------------------------------------------------------------------------------


def _coefficients_have_noise_of_their_own(random):
    """With two columns that are alike the coefficients are alike, but for their noise."""
    column = np.array([random.uniform(0.1, 0.9) for _ in range(12)])
    model = models.LinearRegression(
        epsilon=random.uniform(1, 5), bounds_X=(0, 1), bounds_y=(0, 1), fit_intercept=False,
        random_state=random.getrandbits(31), accountant=BudgetAccountant(),
    )  # fmt: skip
    model.fit(np.column_stack([column, column]), column)
    first, second = map(float, np.ravel(model.coef_))
    yield (f"{first} and {second}", 1.0, float(first != second), 1.0)


def relations():
    """Yield the relations: of parameters, of noise, of tools and of models."""
    there = [name for name in _PARAMETERS if hasattr(mechanisms, name)]
    yield Relations("mechanisms, parameters", {f"{name} keeps what it is given": _kept(name) for name in there})
    scaled = [name for name in ("Laplace", "Gaussian", "GaussianAnalytic", "Uniform", "Staircase") if name in there]
    yield Relations(
        "mechanisms, noise",
        {
            **{f"{name}: noise in other units": _in_other_units(name) for name in scaled},
            "variances are those of the scales": _variance_is_that_of_its_scale,
        },
    )
    yield Relations(
        "tools, noise of one state",
        {
            **{f"{name} in other units": _answer_in_other_units(name) for name in _EXACT},
            **{f"{name}: twice the epsilon": _noise_halves_with_twice_the_epsilon(name) for name in ("sum", "mean")},
            "mean of twice the records": _noise_of_a_mean_falls_with_the_records,
            "sum against mean": _noise_of_a_sum_is_that_of_its_range,
        },
    )
    own = "coefficients have noise of their own"
    yield Relations("models, noise", {own: _coefficients_have_noise_of_their_own}, unsafe={own: "below"})
