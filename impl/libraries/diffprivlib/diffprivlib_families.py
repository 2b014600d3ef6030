"""Families of diffprivlib: tools and models over the domain of their parameters, on records that break every bound.

Bounds lie far from 0 and far apart, no factor is 1, and the noise of every aggregate is replayed.
"""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
from diffprivlib import mechanisms, models, tools
from diffprivlib.accountant import BudgetAccountant
from diffprivlib.models import linear_regression

from dpassay.adapter import Choice, Family, Mechanism, NoisePrimitive

_IMPORTS = (
    "import numpy as np\nfrom diffprivlib import models, tools\nfrom diffprivlib.accountant import BudgetAccountant\n"
)
EPSILON, LOW, WIDTH = (0.05, 5.0), (-40.0, 30.0), (0.25, 60.0)


def _read(family, *, integer=False, folded=False):
    def read(mechanism, value):
        found = {
            "value": value,
            "family": family,
            "sensitivity": float(mechanism.sensitivity),
            "epsilon": float(mechanism.epsilon),
            "integer": integer,
            "folded": folded,
        }
        for name, bound in (("low", "lower"), ("high", "upper")):
            if math.isfinite(getattr(mechanism, bound, math.inf)):
                found[name] = float(getattr(mechanism, bound))
        return found

    return read


def _read_bounded(mechanism, value):
    """Read noise on the condition that the sum lies between the ends, whose scale is searched for."""
    scale = mechanism._find_scale() if mechanism._scale is None else mechanism._scale
    return {**_read("bounded")(mechanism, value), "scale": float(scale)}


def _selected(mechanism):
    return {
        "value": list(mechanism.utility),
        "family": "selection",
        "sensitivity": float(mechanism.sensitivity),
        "epsilon": float(mechanism.epsilon),
    }


def _noise():
    """Return the mechanisms that tools and models draw their noise from."""
    kinds = {
        "Laplace": _read("laplace"),
        "LaplaceTruncated": _read("laplace"),
        "LaplaceFolded": _read("laplace", folded=True),
        "LaplaceBoundedDomain": _read_bounded,
        "Geometric": _read("laplace", integer=True),
        "GeometricTruncated": _read("laplace", integer=True),
        "GeometricFolded": _read("laplace", integer=True, folded=True),
        "PermuteAndFlip": _selected,
    }
    return tuple(NoisePrimitive(getattr(mechanisms, name), "randomise", read) for name, read in kinds.items())


NOISE = _noise()


def _records(low, high, size, relation="replace"):
    reach = high - low
    sizes = f"size={size}" if relation == "replace" else f"size={size},max-size={size + 1}"
    return f"records:low={low - 2 * reach!r},high={high + 2 * reach!r},{sizes},relation={relation}"


def _quiet():
    return {"accountant": BudgetAccountant()}


def _member(neighbours, epsilon, sample_one, call, **more):
    """Return the member of a family that replays all noise."""
    more.setdefault("releases_noise", True)
    return Mechanism(
        "",
        neighbours,
        f"pure:{epsilon!r}",
        sample_one=sample_one,
        noise=NOISE,
        call=_IMPORTS + call,
        floats=False,
        slow=True,
        **more,
    )


def _aggregate(name, *, missing=False):
    function = getattr(tools, name)

    def make(epsilon, low, width, size, missing):
        bounds = (low, low + width)

        def sample_one(data):
            array = np.array(data)
            if missing:  # a missing value is encoded as a record far above the bounds
                array = np.where(array > low + 2 * width, np.nan, array)
            return float(function(array, epsilon=epsilon, bounds=bounds, **_quiet()))

        call = (
            f"tools.{name}(np.array({{data}}), epsilon={epsilon!r}, bounds={bounds!r}, accountant=BudgetAccountant())"
        )
        return _member(_records(*bounds, size), epsilon, sample_one, call, splits_budget=True)

    domain = {"epsilon": EPSILON, "low": LOW, "width": WIDTH, "size": (2, 7), "missing": [missing]}
    return Family(f"tools.{name}{', missing values' if missing else ''}, family", make, domain)


def _by_column(name):
    """Return an aggregate of two columns, which share the budget."""
    function = getattr(tools, name)

    def make(epsilon, low, width, size):
        bounds = ([low, low - 3 * width], [low + width, low - width])

        def sample_one(data):
            array = np.stack([data, np.array(data)[::-1]], axis=1)
            return function(array, epsilon=epsilon, bounds=bounds, axis=0, **_quiet()).tolist()

        call = (
            f"records = np.array({{data}})\ntools.{name}(np.stack([records, records[::-1]], axis=1), "
            f"epsilon={epsilon!r}, bounds={bounds!r}, axis=0, accountant=BudgetAccountant())"
        )
        # the second column holds the records in reverse order: one record changes two rows, one in each column
        return _member(_records(low - 3 * width, low + width, size), epsilon, sample_one, call, splits_budget=True)

    return Family(
        f"tools.{name} by column, family", make, {"epsilon": EPSILON, "low": LOW, "width": WIDTH, "size": (2, 5)}
    )


def _integer_sum():
    def make(epsilon, low, width, size):
        bounds = (low, low + width)

        def sample_one(data):
            return int(tools.sum(np.array(data).astype(int), epsilon=epsilon, bounds=bounds, dtype=int, **_quiet()))

        call = (
            f"tools.sum(np.array({{data}}).astype(int), epsilon={epsilon!r}, bounds={bounds!r}, dtype=int, "
            "accountant=BudgetAccountant())"
        )
        neighbours = f"records:low={low - width},high={low + 3 * width},size={size},relation=replace"
        return _member(neighbours, epsilon, sample_one, call, splits_budget=True)

    return Family(
        "tools.sum of integers, family", make, {"epsilon": EPSILON, "low": (-40, 30), "width": (2, 60), "size": (2, 7)}
    )


def _count():
    def make(epsilon, size):
        def sample_one(data):
            array = np.where(np.array(data) > 0, np.array(data), 0.0)
            return int(tools.count_nonzero(array, epsilon=epsilon, **_quiet()))

        call = (
            "records = np.array({data})\n"
            f"tools.count_nonzero(np.where(records > 0, records, 0.0), epsilon={epsilon!r}, "
            "accountant=BudgetAccountant())"
        )
        return _member(_records(-1.0, 3.0, size), epsilon, sample_one, call, splits_budget=True)

    return Family("tools.count_nonzero, family", make, {"epsilon": EPSILON, "size": (2, 7)})


def _histogram(dimensions):
    def make(epsilon, low, width, size, bins):
        high = low + width

        def sample_one(data):
            array = np.array(data)
            if dimensions == 1:
                return tools.histogram(array, epsilon=epsilon, bins=bins, range=(low, high), **_quiet())[0].tolist()
            sample = np.stack([array, low + high - array], axis=1).reshape(-1, 2)
            ranges = [(low, high)] * 2
            return tools.histogramdd(sample, epsilon=epsilon, bins=bins, range=ranges, **_quiet())[0].ravel().tolist()

        call = (
            f"tools.histogram(np.array({{data}}), epsilon={epsilon!r}, bins={bins}, range=({low!r}, {high!r}), "
            "accountant=BudgetAccountant())"
        )
        if dimensions == 2:
            call = (
                "records = np.array({data})\n"
                f"tools.histogramdd(np.stack([records, {low + high!r} - records], axis=1), "
                f"epsilon={epsilon!r}, bins={bins}, range=[({low!r}, {high!r})] * 2, accountant=BudgetAccountant())"
            )
        return _member(_records(low, high, size, "add-remove"), epsilon, sample_one, call)

    domain = {"epsilon": EPSILON, "low": LOW, "width": WIDTH, "size": (1, 5), "bins": (2, 5)}
    return Family("tools.histogram, family" if dimensions == 1 else "tools.histogramdd, family", make, domain)


def _modelled(name, fit, call, **more):
    """Return a model of two features; `fit(features, labels, epsilon, bounds)` returns what it releases."""

    def make(epsilon, low, width, size):
        bounds = ([low, 2 * low - width], [low + width, 2 * low + 2 * width])

        def sample_one(data):
            features = np.stack([data, 2 * np.array(data)], axis=1)
            labels = (np.arange(len(data)) % 2).astype(int)
            return fit(features, labels, epsilon, bounds)

        text = (
            "records = np.array({data})\n"
            "X, y = np.stack([records, 2 * records], axis=1), np.arange(len(records)) % 2\n"
            + call.replace("EPSILON", repr(epsilon)).replace("BOUNDS", repr(bounds))
        )
        return _member(_records(low, low + width, size), epsilon, sample_one, text, releases_noise=False, **more)

    return Family(f"models.{name}, family", make, {"epsilon": EPSILON, "low": LOW, "width": WIDTH, "size": (2, 6)})


def _bayes(features, labels, epsilon, bounds):
    model = models.GaussianNB(epsilon=epsilon, bounds=bounds, **_quiet())
    model.partial_fit(features, labels, classes=[0, 1])
    return [*map(float, model.class_count_), *model.theta_.ravel().tolist(), *model.var_.ravel().tolist()]


def _scaler(features, _labels, epsilon, bounds):
    model = models.StandardScaler(epsilon=epsilon, bounds=bounds, **_quiet())
    model.fit(features)
    return [*model.mean_.tolist(), *model.var_.tolist()]


def _unsolved(_objective, start, **_):
    """Return the start: how the noisy polynomial is minimised does not touch the data."""
    return SimpleNamespace(x=np.asarray(start), message="")


def _regression(features, labels, epsilon, bounds):
    model = models.LinearRegression(
        epsilon=epsilon, bounds_X=bounds, bounds_y=(-3.0, 2.0), fit_intercept=True, **_quiet()
    )
    model.fit(features, labels * 9.0 - 4)
    return [float(number) for number in (*model.coef_.ravel(), model.intercept_)]


def families():
    """Yield the families of tools and models."""
    for name in ("mean", "sum", "var", "std", "nanmean", "nansum", "nanvar", "nanstd"):
        yield _aggregate(name)
    yield _aggregate("nansum", missing=True)
    for name in ("mean", "sum", "var"):
        yield _by_column(name)
    yield _integer_sum()
    yield _count()
    yield _histogram(1)
    yield _histogram(2)
    accountant = ", accountant=BudgetAccountant())"
    yield _modelled(
        "GaussianNB",
        _bayes,
        f"models.GaussianNB(epsilon=EPSILON, bounds=BOUNDS{accountant}.partial_fit(X, y, classes=[0, 1])",
    )
    yield _modelled(
        "StandardScaler",
        _scaler,
        f"models.StandardScaler(epsilon=EPSILON, bounds=BOUNDS{accountant}.fit(X)",
        splits_budget=True,
    )
    yield _modelled(
        "LinearRegression",
        _regression,
        "models.LinearRegression(epsilon=EPSILON, bounds_X=BOUNDS, bounds_y=(-3.0, 2.0)"
        f"{accountant}.fit(X, y * 9.0 - 4)",
        choices=(Choice(linear_regression, "minimize", _unsolved),),
        calls=500,
    )
