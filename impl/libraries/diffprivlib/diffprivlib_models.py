"""Families of the models and quantiles of diffprivlib, over their parameters and on records outside the bounds.

A known fault of a model hides others. So each model has a family on a part of its domain where its known faults do not
show.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from types import SimpleNamespace

import numpy as np
from diffprivlib import mechanisms, models, tools
from diffprivlib.accountant import BudgetAccountant
from diffprivlib.models import forest, linear_regression, logistic_regression
from diffprivlib_families import NOISE

from dpassay.adapter import Choice, Family, Mechanism, NoisePrimitive

__all__ = ["model_families"]

EPSILON, LOW, WIDTH = (0.2, 5.0), (-40.0, 30.0), (0.5, 60.0)
_CELLS, _GRID = 4, 24
_ALONE = "vector:size=1,linf=1,low=0,high=0,integer"
"""No two inputs are neighbours: only the distribution is tested."""


def _quiet():
    return {"accountant": BudgetAccountant()}


def _records(low, high, size, relation="replace"):
    reach = high - low
    sizes = f"size={size}" if relation == "replace" else f"size={size},max-size={size + 1}"
    return f"records:low={low - reach!r},high={high + reach!r},{sizes},relation={relation}"


def _replayed(neighbours, epsilon, sample_one, **more):
    more.setdefault("releases_noise", True)
    return Mechanism(
        "", neighbours, f"pure:{epsilon!r}", sample_one=sample_one, floats=False, slow=True, **{"noise": NOISE, **more}
    )


# --- quantiles -------------------------------------------------------------------------------------------------


def _quantile_masses(data, quant, epsilon, low, high):
    """Return the probability of each quarter of the bounds: the density is e^(-epsilon / 2 distance in rank)."""
    ends = sorted([low, high, *np.clip(data, low, high).tolist()])
    masses = [0.0] * _CELLS
    for rank, (start, end) in enumerate(itertools.pairwise(ends)):
        density = math.exp(-epsilon / 2 * abs(rank - quant * len(data)))
        for cell in range(_CELLS):
            edges = [low + (high - low) * k / _CELLS for k in (cell, cell + 1)]
            masses[cell] += density * max(0.0, min(end, edges[1]) - max(start, edges[0]))
    return [mass / sum(masses) for mass in masses]


def _product(parts):
    """Return the probabilities of independent cells, one after the other."""
    symbols, masses = [()], [1.0]
    for part in parts:
        symbols = [(*symbol, cell) for symbol in symbols for cell in range(len(part))]
        masses = [mass * one for mass in masses for one in part]
    return {"family": "finite", "symbols": [list(symbol) for symbol in symbols], "probabilities": masses}


def _quantiles(name, ask, quants):
    """Return quantiles; `ask(array, quant, epsilon=..., bounds=...)` returns a number or several."""

    def make(epsilon, low, width, size, quant):
        high, every = low + width, quants(quant)

        def cell(number):
            return min(max(int((number - low) / width * _CELLS), 0), _CELLS - 1)

        def sample_one(data):
            found = ask(np.array(data), quant, epsilon=epsilon, bounds=(low, high), **_quiet())
            return [cell(number) for number in np.ravel(found).tolist()]

        def distribution(data):
            return _product([_quantile_masses(data, one, epsilon / len(every), low, high) for one in every])

        return Mechanism(
            "",
            _records(low, high, size),
            f"pure:{epsilon!r}",
            sample_one=sample_one,
            distribution=distribution,
            slow=True,
            relative_error=1e-9,
        )

    domain = {"epsilon": (0.6, 5.0), "low": LOW, "width": WIDTH, "size": (2, 5), "quant": (0.2, 0.9)}
    return Family(f"tools.{name}, family", make, domain)


def _by_column(array, quant, *, bounds, **more):
    return tools.quantile(np.stack([array, array[::-1]], axis=1), quant, axis=0, bounds=bounds, **more)


# --- models ----------------------------------------------------------------------------------------------------


def _regression(epsilon, bound, size, beyond):
    """Return a linear regression whose bounds lie on both sides of 0 alike, on records up to `beyond` times as far."""
    bounds = ([-bound, -2 * bound], [bound, 2 * bound])

    def sample_one(data):
        features = np.stack([data, -np.array(data)], axis=1)
        model = models.LinearRegression(
            epsilon=epsilon,
            bounds_X=bounds,
            bounds_y=(-3.0 * bound, 5.0 * bound),
            fit_intercept=False,
            **_quiet(),
        )
        model.fit(features, 3 * np.array(data))
        return [float(number) for number in np.ravel(model.coef_)]

    start = Choice(
        linear_regression, "minimize", lambda _, start, **__: SimpleNamespace(x=np.asarray(start), message="")
    )
    reach = bound * beyond
    neighbours = f"records:low={-reach!r},high={reach!r},size={size},relation=replace"
    return _replayed(neighbours, epsilon, sample_one, choices=(start,), calls=500, splits_budget=True)


def _second_fit(epsilon, low, width, size, priors):
    """Return a naive Bayes that has seen other people before; every class occurs."""
    high = low + width

    def sample_one(data):
        model = models.GaussianNB(
            epsilon=epsilon, bounds=([low, low], [high, high]), priors=[0.3, 0.7] if priors else None, **_quiet()
        )
        with _unreplayed():
            model.partial_fit(np.full((4, 2), low), [0, 1, 0, 1], classes=[0, 1])
        features = np.stack([data, np.array(data)[::-1]], axis=1)
        model.partial_fit(features, np.arange(len(data)) % 2)
        return [*model.theta_.ravel().tolist(), *model.class_prior_.tolist()]

    return _replayed(_records(low, high, 2 * size), epsilon, sample_one)


@contextlib.contextmanager
def _unreplayed():
    """Leave noise out while the model learns from people who are not in the data."""
    names = ("GeometricTruncated", "LaplaceTruncated", "LaplaceBoundedDomain")
    kept = {name: getattr(mechanisms, name).randomise for name in names}
    for name in names:
        getattr(mechanisms, name).randomise = lambda _, value: value
    try:
        yield
    finally:
        for name, function in kept.items():
            getattr(mechanisms, name).randomise = function


def _clusters(epsilon, width, size, iterations):
    """Return the steps of k-means for given labels, of which none is empty, with bounds on both sides of 0."""

    def sample_one(data):
        model = models.KMeans(n_clusters=2, epsilon=epsilon, bounds=(-width, width), **_quiet())
        points = np.array([*data, -width, width]).reshape(-1, 1)
        model.bounds = model._check_bounds(model.bounds, 1)
        points = model._clip_to_bounds(points, model.bounds)
        labels = (points[:, 0] > 0).astype(int)
        released = []
        for _ in range(iterations):
            centres = model._update_centers(
                points,
                centers=np.zeros((2, 1)),
                labels=labels,
                dims=1,
                total_iters=iterations,
                random_state=np.random.RandomState(),
            )
            released += centres.ravel().tolist()
        return released

    return _replayed(_records(-width, width, size, "add-remove"), epsilon, sample_one)


def _tree(epsilon, low, width, size, depth):
    """Return the labels at the leaves of a tree, which is the same while runs are replayed."""
    high = low + width

    def sample_one(data):
        model = models.RandomForestClassifier(
            n_estimators=1,
            epsilon=epsilon,
            bounds=([low, low - width], [high, low]),
            classes=[0, 1],
            max_depth=depth,
            **_quiet(),
        )
        # others are everywhere: the noise of a leaf without people is drawn in another way
        sides = np.meshgrid(np.linspace(low, high, _GRID), np.linspace(low - width, low, _GRID))
        others = np.stack([side.ravel() for side in sides], axis=1)
        array = np.array(data)
        features = np.concatenate([np.stack([array, 2 * low - array], axis=1), others])
        model.fit(features, (features[:, 0] > low + width / 3).astype(int))
        return [tree.tree_.value.ravel().tolist() for tree in model.estimators_]

    neighbours = (
        f"records:low={low - width!r},high={high + width!r},size={size + 3},max-size={size + 4},relation=add-remove"
    )
    splits = Choice(forest, "check_random_state", lambda _: np.random.RandomState(5))
    return _replayed(neighbours, epsilon, sample_one, choices=(splits,))


def _directions(mechanism, value):
    """Read a matrix as its values along some directions, of which one is released."""
    size = value.shape[0]
    every = np.vstack([np.eye(size), np.ones((1, size)) / math.sqrt(size)])
    return {
        "value": ((every @ value) * every).sum(axis=1).tolist(),
        "family": "selection",
        "sensitivity": float(mechanism.sensitivity),
        "epsilon": float(mechanism.epsilon),
        "outputs": list(every),
    }


def _components(epsilon, norm, size, components, centred):
    """Return principal components; the mean is that of records within bounds far from 0."""
    low, high = (-norm, norm) if centred else (3 * norm, 4 * norm)

    def sample_one(data):
        array = np.array(data)
        model = models.PCA(
            n_components=components,
            epsilon=epsilon,
            data_norm=norm,
            bounds=(low, high),
            centered=centred,
            **_quiet(),
        )
        model.fit(np.stack([array, low + high - array, np.full_like(array, low)], axis=1))
        return [*model.mean_.tolist(), *model.explained_variance_.tolist()]

    noise = (*NOISE, NoisePrimitive(mechanisms.Bingham, "randomise", _directions))
    return _replayed(_records(low, high, size), epsilon, sample_one, noise=noise, releases_noise=False)


def _caught(fit):
    """Return the vector mechanisms of a fit, the gradients that it minimises at a fixed place, and the strengths.

    There is no noise. The strength of a regularisation is the slope of its gradient, summed over records.
    """
    found, gradients, strengths = [], [], []

    def randomise(mechanism, function):
        found.append(mechanism)
        return function

    def solved(function, start, *, args, **_):
        place = np.linspace(0.5, -0.25, len(start))
        gradients.append(function(place, *args)[1] * len(args[1]))
        # where all features are 0, the gradient is that of the regularisation alone
        slopes = function(place, np.zeros_like(args[0]), *args[1:])[1] * len(args[1]) / place
        strengths.append(float(np.min(slopes)))
        return np.asarray(start), 0.0, {"warnflag": 0, "nit": 1}

    optimize = logistic_regression.optimize
    kept = optimize.fmin_l_bfgs_b, mechanisms.Vector.randomise
    optimize.fmin_l_bfgs_b, mechanisms.Vector.randomise = solved, randomise
    try:
        fit()
    finally:
        optimize.fmin_l_bfgs_b, mechanisms.Vector.randomise = kept
    return found, gradients, strengths


def _logistic(epsilon, norm, size, regularisation, classes, asked):
    """Return whether the vector mechanism of a logistic regression is told what the fit needs, or the gradients."""
    splits = 1 if classes == 2 else classes

    def fitted(data):
        features = np.stack([data, 2 * np.array(data)], axis=1)
        labels = np.arange(len(data)) % classes
        return lambda: models.LogisticRegression(
            epsilon=epsilon, data_norm=norm, C=regularisation, fit_intercept=False, random_state=0, **_quiet()
        ).fit(features, labels)

    def sample_one(data):
        found, _, strengths = _caught(fitted(data))
        one = found[0]
        told = (
            len(found) == splits
            and one.epsilon <= epsilon / splits * (1 + 1e-9)
            and one.function_sensitivity >= 0.25
            and one.data_sensitivity >= norm
            and one.dimension == 2
            and one.alpha * regularisation <= 1 + 1e-9
            and one.n == len(data)
            # the proof needs a loss that is as strongly convex as the mechanism is told
            and len(strengths) == splits
            and all(strength >= one.alpha * (1 - 1e-9) for one, strength in zip(found, strengths))
        )
        return bool(told)

    def gradients_at(data):
        return np.concatenate([np.ravel(part) for part in _caught(fitted(data))[1]])

    def gradients_are_close():
        # with the labels fixed the loss of a record has a gradient of at most its norm
        here = gradients_at(records)
        there = [
            gradients_at([*records[:place], value, *records[place + 1 :]])
            for place in range(len(records))
            for value in (-4 * norm, 0.0, 4 * norm)
        ]
        return all(np.linalg.norm(one - here) <= 2 * norm * math.sqrt(splits) * (1 + 1e-9) for one in there)

    records = np.linspace(-norm, 4 * norm, size + classes).tolist()
    return Mechanism(
        "",
        _ALONE,
        f"pure:{epsilon!r}",
        sample_one=lambda _: sample_one(records) if asked == "parameters" else bool(gradients_are_close()),
        distribution=lambda _: {"family": "finite", "symbols": [True, False], "probabilities": [1.0, 0.0]},
        slow=True,
        calls=8,
    )


def model_families():
    """Yield the families of quantiles and models."""
    yield _quantiles("quantile", tools.quantile, lambda quant: [quant])
    yield _quantiles("median", lambda array, _, **more: tools.median(array, **more), lambda _: [0.5])
    yield _quantiles(
        "percentile, two",
        lambda array, quant, **more: tools.percentile(array, [100 * quant, 50.0], **more),
        lambda quant: [quant, 0.5],
    )
    for words, beyond in (("symmetric bounds", 1.0), ("records outside symmetric bounds", 3.0)):
        yield Family(
            f"models.LinearRegression, {words}, family",
            _regression,
            {"epsilon": EPSILON, "bound": (0.25, 40.0), "size": (2, 5), "beyond": [beyond]},
        )
    domain = {"epsilon": EPSILON, "low": LOW, "width": WIDTH, "size": (2, 3)}
    yield Family("models.GaussianNB, fitted again, family", _second_fit, {**domain, "priors": [False, True]})
    if hasattr(models.KMeans, "_update_centers"):
        yield Family(
            "models.KMeans, steps, family",
            _clusters,
            {"epsilon": EPSILON, "width": (0.25, 40.0), "size": (2, 4), "iterations": (2, 3)},
        )
    yield Family("models.RandomForestClassifier, family", _tree, {**domain, "depth": (2, 3)})
    yield Family(
        "models.PCA, family",
        _components,
        {"epsilon": EPSILON, "norm": (0.5, 20.0), "size": (3, 5), "components": (2, 3), "centred": [False, True]},
    )
    told = {"epsilon": EPSILON, "norm": (0.5, 20.0), "size": (2, 4), "regularisation": (0.1, 4.0), "classes": [2, 3]}
    for asked in ("parameters", "gradients"):
        yield Family(f"models.LogisticRegression, {asked}, family", _logistic, {**told, "asked": [asked]})
