"""Relations of diffprivlib: parameters that are omitted or given in another form, and the range of outcomes.

A bound that is omitted is read from the data, with a warning of the leak: the noise is then that of this bound. A
number for all columns means what a list for each of them means, and a random state what its seed means. What is
documented to lie in a range lies there, however large the noise.
"""

from __future__ import annotations

import math
import warnings

import numpy as np
from diffprivlib import mechanisms, models, tools
from diffprivlib.accountant import BudgetAccountant
from diffprivlib.models import forest
from diffprivlib.utils import PrivacyLeakWarning
from diffprivlib_calls import without_noise
from diffprivlib_comparisons import apart

from dpassay.adapter import Relations

__all__ = ["form_relations"]

_MADE_FOR = ("epsilon", "delta", "sensitivity", "lower", "upper", "data_sensitivity", "alpha", "n", "measure")
_AGGREGATES = ("mean", "sum", "var", "std", "nanmean", "nansum", "nanvar", "nanstd")
_FAR = 1e9
"""Stands for an infinite end, so that ends can be compared."""


def _quiet():
    return {"accountant": BudgetAccountant()}


def _numbers(call):
    """Return the numbers of a call of a mechanism: its value, unless that is a function, and its parameters."""
    parts = [] if callable(call.value) else [call.value]
    parts += [part for part in (getattr(call.of, name, None) for name in _MADE_FOR) if part is not None]
    flat = np.concatenate([np.ravel(np.asarray(part, dtype=float)) for part in parts])
    return np.clip(flat, -_FAR, _FAR)


def _asked(ask):
    """Return the numbers that reach the mechanisms in a call without noise, and how often it warns of a leak.

    The first number is that of the calls of mechanisms.
    """
    with warnings.catch_warnings(record=True) as told, without_noise() as calls:
        warnings.simplefilter("always")
        ask()
    leaks = sum(issubclass(one.category, PrivacyLeakWarning) for one in told)
    return np.concatenate([[float(len(calls))], *map(_numbers, calls)]), leaks


def _as_if_given(words, omitted, given):
    """Compare a call with a parameter omitted and one with what is read from the data."""
    (found, warned), (exact, others) = _asked(omitted), _asked(given)
    yield f"{words} omitted: calls of mechanisms", 1.0, float(found[0]), math.inf  # without any, nothing is compared
    yield apart(f"{words} omitted: noise", found, exact)
    yield f"{words} omitted: warnings of a leak", 1.0, float(warned), math.inf
    yield f"{words} given: warnings of a leak", 0.0, float(others), 0.0


# --- omitted parameters -------------------------------------------------------------------------------------


def _omitted_in_tools(random):
    array = np.random.RandomState(random.getrandbits(31)).uniform(-3, 5, (9, 2))
    ends = (float(array.min()), float(array.max()))
    ranges = [(float(column.min()), float(column.max())) for column in array.T]

    def asked(name, *given, **more):
        return lambda: getattr(tools, name)(*given, epsilon=0.7, **more, **_quiet())

    for name in _AGGREGATES:
        yield from _as_if_given(f"{name}: bounds", asked(name, array), asked(name, array, bounds=ends))
    for name, quant in (("median", ()), ("quantile", (0.3,)), ("percentile", (30,))):
        with_bounds = asked(name, array, *quant, bounds=ends)
        yield from _as_if_given(f"{name}: bounds", asked(name, array, *quant), with_bounds)
    for name, records, limits in (
        ("histogram", (array[:, 0],), ranges[0]),
        ("histogramdd", (array,), ranges),
        ("histogram2d", (array[:, 0], array[:, 1]), ranges),
    ):
        with_range = asked(name, *records, bins=3, range=limits)
        yield from _as_if_given(f"{name}: range", asked(name, *records, bins=3), with_range)


def _omitted_in_models(random):
    features = np.random.RandomState(random.getrandbits(31)).uniform(-3, 5, (12, 2))
    labels, answers, state = np.arange(12) % 2, features.sum(axis=1), random.getrandbits(31)
    ends, norm = (features.min(axis=0), features.max(axis=0)), np.linalg.norm
    centred = features - features.mean(axis=0)
    for name, given, more, other in (
        ("GaussianNB", {"bounds": ends}, {}, labels),
        ("StandardScaler", {"bounds": ends}, {}, None),
        ("KMeans", {"bounds": ends}, {"n_clusters": 2}, None),
        ("LinearRegression", {"bounds_X": ends, "bounds_y": (answers.min(), answers.max())}, {}, answers),
        ("LogisticRegression", {"data_norm": norm(features, axis=1).max()}, {}, labels),
        ("PCA", {"bounds": ends, "data_norm": norm(centred, axis=1).max()}, {"n_components": 1}, None),
        ("RandomForestClassifier", {"bounds": ends, "classes": [0, 1]}, {"n_estimators": 2}, labels),
        ("DecisionTreeClassifier", {"bounds": ends, "classes": [0, 1]}, {}, labels),
    ):
        make = getattr(models, name, None) or getattr(forest, name, None)
        if make is None:  # in older releases
            continue

        def fit(parameters, make=make, more=more, other=other):
            model = make(epsilon=0.7, random_state=state, **parameters, **more, **_quiet())
            return lambda: model.fit(features.copy(), other)

        for left_out in given:
            rest = {key: value for key, value in given.items() if key != left_out}
            yield from _as_if_given(f"{name}: {left_out}", fit(rest), fit(given))


# --- other forms of parameters ------------------------------------------------------------------------------


def _forms_in_tools(random):
    array, state = np.random.RandomState(random.getrandbits(31)).uniform(0, 1, (6, 3)), random.getrandbits(31)

    def asked(name, *given, **more):
        return getattr(tools, name)(*given, epsilon=0.7, **{"random_state": state, **more}, **_quiet())

    unit, columns = {"bounds": (0, 1)}, {"bounds": ([0, 0, 0], [1, 1, 1])}
    for name in (*_AGGREGATES, "median"):
        whole, entries = asked(name, array, **unit), asked(name, array, axis=1, **unit)
        yield apart(
            f"{name}: a random state", asked(name, array, random_state=np.random.RandomState(state), **unit), whole
        )
        yield apart(f"{name}: an axis from the end", asked(name, array, axis=-1, **unit), entries)
        yield apart(f"{name}: all axes", asked(name, array, axis=(0, 1), **unit), whole)
        if name != "median":
            by_column = asked(name, array, axis=0, **columns)
            yield apart(f"{name}: bounds of each column", by_column, asked(name, array, axis=0, **unit))
    one = asked("quantile", array, 0.3, **unit)
    yield apart("quantile: a list of one", np.ravel(asked("quantile", array, [0.3], **unit)), np.ravel(one))
    yield apart("percentile: of a hundred", asked("percentile", array, 30, **unit), one)
    column, pair = array[:, 0], array[:, :2]
    counts = asked("histogram", column, bins=3, range=(0, 1))[0]
    yield apart("histogram: edges", asked("histogram", column, bins=np.linspace(0, 1, 4))[0], counts)
    square, ranges = {"range": [(0, 1), (0, 1)]}, np.linspace(0, 1, 4)
    table = asked("histogramdd", pair, bins=3, **square)[0]
    yield apart("histogramdd: bins of each column", asked("histogramdd", pair, bins=[3, 3], **square)[0], table)
    yield apart("histogramdd: edges", asked("histogramdd", pair, bins=[ranges, ranges])[0], table)
    yield apart("histogram2d: of pairs", asked("histogram2d", pair[:, 0], pair[:, 1], bins=3, **square)[0], table)


def _forms_in_models(random):
    features = np.random.RandomState(random.getrandbits(31)).uniform(0, 1, (12, 2))
    labels, state = np.arange(12) % 2, random.getrandbits(31)
    unit, columns = (0, 1), ([0, 0], [1, 1])
    for name, key, more, other in (
        ("GaussianNB", "bounds", {}, labels),
        ("StandardScaler", "bounds", {}, None),
        ("KMeans", "bounds", {"n_clusters": 2}, None),
        ("LinearRegression", "bounds_X", {"bounds_y": (0, 1)}, labels.astype(float)),
        ("PCA", "bounds", {"n_components": 1, "data_norm": 2.0}, None),
        ("RandomForestClassifier", "bounds", {"n_estimators": 2, "classes": [0, 1]}, labels),
    ):

        def asked(bounds, state, name=name, key=key, more=more, other=other):
            model = getattr(models, name)(epsilon=0.7, random_state=state, **{key: bounds}, **more, **_quiet())
            return _asked(lambda: model.fit(features.copy(), other))[0]

        exact = asked(columns, state)
        yield f"{name}: calls of mechanisms", 1.0, float(exact[0]), math.inf
        yield apart(f"{name}: a bound for all columns", asked(unit, state), exact)
        yield apart(f"{name}: a random state", asked(columns, np.random.RandomState(state)), exact)


# --- ranges of outcomes -------------------------------------------------------------------------------------


def _inside(words, drawn, lower, upper=math.inf):
    """Yield the least and the greatest of some outcomes, with the ends between which they lie."""
    slack = 1e-9
    drawn = np.concatenate([np.ravel(one) for one in drawn])
    yield f"{words}: least outcome", lower - slack, float(drawn.min()), math.inf
    yield f"{words}: greatest outcome", -math.inf, float(drawn.max()), upper + slack


def _ranges_of_mechanisms(random):
    """Draw with noise that is much wider than the bounds: each end is reached many times."""
    for name in ("LaplaceTruncated", "LaplaceFolded", "LaplaceBoundedDomain", "Snapping", "GeometricTruncated",
                 "GeometricFolded"):  # fmt: skip
        lower = random.randint(-6, -1)
        upper = lower + random.randint(3, 6)
        whole = name.startswith("Geometric")
        mechanism = getattr(mechanisms, name)(
            epsilon=random.uniform(0.1, 0.2), sensitivity=1 if whole else 1.5, lower=lower, upper=upper,
            random_state=random.getrandbits(31),
        )  # fmt: skip
        values = [lower, upper, random.randint(lower, upper), lower - 3, upper + 3]
        drawn = [mechanism.randomise(value if whole else float(value)) for value in values for _ in range(40)]
        yield from _inside(f"{name} in [{lower}, {upper}]", drawn, lower, upper)
    bounded = mechanisms.LaplaceBoundedNoise(
        epsilon=0.5, delta=0.1, sensitivity=2.0, random_state=random.getrandbits(31)
    )
    drawn = [bounded.randomise(7.0) - 7.0 for _ in range(100)]
    # Theorem 1 of Geng, Ding, Guo and Kumar (2020)
    most = 4.0 * math.log1p((math.exp(0.5) - 1) / 0.2)
    yield from _inside("LaplaceBoundedNoise", drawn, -most, most)


def _values_beyond(random):
    """Check that a value beyond a bound is read as the bound, by mechanisms that clamp what they are given."""
    lower, width, state = random.uniform(-6, -1), random.uniform(3, 6), random.getrandbits(31)
    for name in ("Snapping", "LaplaceBoundedDomain"):

        def drawn(value, name=name):
            mechanism = getattr(mechanisms, name)(
                epsilon=0.7, sensitivity=1.5, lower=lower, upper=lower + width, random_state=state
            )
            return [mechanism.randomise(value) for _ in range(60)]

        for end, beyond in ((lower, lower - 2 * width), (lower + width, lower + 3 * width)):
            yield apart(f"{name} in [{lower!r}, {lower + width!r}], value {beyond!r}", drawn(beyond), drawn(end))


def _ranges_of_tools(random):
    array, state = np.random.RandomState(random.getrandbits(31)).uniform(0, 1, 7), random.getrandbits(31)
    quiet, state = {"epsilon": 0.05, **_quiet()}, np.random.RandomState(state)
    for name in (*_AGGREGATES, "median"):
        if "sum" in name:
            continue  # the sum of a known number of records is not cut to the range of sums
        upper = 1.0 if "mean" in name or name == "median" else math.inf
        drawn = [getattr(tools, name)(array, bounds=(0, 1), random_state=state, **quiet) for _ in range(30)]
        yield from _inside(name, drawn, 0.0, upper)
    counts = [tools.count_nonzero(array, random_state=state, **quiet) for _ in range(30)]
    yield from _inside("count_nonzero", counts, 0.0, 7.0)
    bins = [tools.histogram(array, bins=2, range=(0, 1), random_state=state, **quiet)[0] for _ in range(30)]
    yield from _inside("histogram", bins, 0.0)


def form_relations():
    """Yield the relations."""
    yield Relations(
        "forms of parameters",
        {
            "what tools lack is read from the data": _omitted_in_tools,
            "what models lack is read from the data": _omitted_in_models,
            "parameters of tools in other forms": _forms_in_tools,
            "parameters of models in other forms": _forms_in_models,
        },
    )
    yield Relations(
        "ranges of outcomes",
        {
            "outcomes of mechanisms": _ranges_of_mechanisms,
            "values beyond bounds": _values_beyond,
            "outcomes of tools": _ranges_of_tools,
        },
    )
