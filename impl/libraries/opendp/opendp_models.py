"""Models and means of the extras with every optional argument off its default: runs, fractions, components, origins.

What is stated with an argument is compared with what is stated without it, or with its definition; a release that has
next to no noise is compared with what it estimates.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import opendp.prelude as dp
from opendp_building import Collector
from opendp_extras import arrays, relations_of_extras

from dpassay.adapter import protects, spends
from dpassay.impl.libraries.references import near

if TYPE_CHECKING:
    from collections.abc import Iterator

    Row = tuple[str, float, float, float] | tuple[str, float, float, float, str]

__all__ = ["model_cases"]


# --- linear regression ---------------------------------------------------------------------------------------------


def _regression(measure: Any, scale: float, **options: Any) -> Any:
    bounds = {"x_bounds": [(-3, 10)], "y_bounds": (-30, 30)}
    return dp.sklearn.linear_model.LinearRegression(measure, **bounds, scale=scale, **options).measurement


def _runs(random: Any) -> Iterator[Row]:
    """Compare what a record costs with the pairs that it enters, one in every run, and with two medians of them.

    A median scores candidates by half a record, whichever side of them it lies on: its loss is 1 / scale a pair.
    """
    from opendp.extras.sklearn.linear_model._make_private_theil_sen import make_pairwise_predict

    scale, runs, moved = random.uniform(0.5, 9), random.randint(2, 6), random.randint(2, 4)
    for name, measure in (("pure", dp.max_divergence()), ("zCDP", dp.zero_concentrated_divergence())):
        for number in (1, moved):
            loss = runs * number / scale
            exact = 2 * loss if name == "pure" else 2 * loss**2 / 8
            found = _regression(measure, scale, runs=runs, candidates_count=random.randint(3, 9)).map(number)
            yield protects((f"{name}, {runs} runs, {number} records, scale {scale!r}", *near(found, exact)))
            once = _regression(measure, scale).map(number)
            times = runs if name == "pure" else runs**2
            yield (f"{name}, {runs} runs against one, {number} records, scale {scale!r}", *near(found, times * once))
    pairs = make_pairwise_predict(np.array([2.5, 7.5]), runs)
    records = np.array([[float(place), random.uniform(-5, 5)] for place in range(2 * moved + 1)])
    yield (f"{runs} runs, pairs of {len(records)} records", *near(len(pairs(records)), runs * moved, 0.0, 0.0))
    yield protects((f"{runs} runs, map of the pairs", *near(pairs.map(moved), runs * moved, 0.0, 0.0)))


_POINTS = 400
_SPREAD = 0.4
"""Half of the width of the band around a line in which points lie."""
_STEP = 0.1
"""Distance of candidates, which lie between -30 and 30."""


def _fractions(random: Any) -> Iterator[Row]:
    """Compare a line, of points around it and noise that is next to nothing, at the cuts of the range of x."""
    slope, height = random.uniform(-1.5, 1.5), random.uniform(-5, 5)
    fractions = (random.uniform(0.05, 0.3), random.uniform(0.6, 0.95))
    made = _regression(dp.max_divergence(), 1e-3, candidates_count=round(60 / _STEP) + 1, fraction_bounds=fractions)
    x = np.linspace(-3, 10, _POINTS)
    y = slope * x + height + np.array([random.uniform(-_SPREAD, _SPREAD) for _ in x])
    found, intercept = made(np.stack([x, y], axis=1))
    for fraction in fractions:
        cut = -3 + 13 * fraction
        # medians of pairs stay well within the band
        exact, words = slope * cut + height, f"{slope!r} x + {height!r}, fractions {fractions!r}, at {cut!r}"
        height_at = float(found * cut + intercept)
        yield (words, *near(height_at, exact, 0.0, _SPREAD + _STEP))
        yield f"{words}: distance from a candidate", 0.0, abs(height_at - round(height_at / _STEP) * _STEP), 1e-6


# --- means and sums ------------------------------------------------------------------------------------------------


def _drawn(random: Any) -> tuple[Any, float, Any, str]:
    """Return records of which some lie outside of a norm about an origin, and these."""
    columns, rows, norm = random.randint(2, 4), random.randint(3, 7), random.uniform(1.3, 5)
    origin = np.array([random.uniform(-9, 9) for _ in range(columns)])
    data = origin + np.array([[random.gauss(0, norm) for _ in range(columns)] for _ in range(rows)])
    return data, norm, origin, f"norm {norm!r}, origin {origin.tolist()!r}, {data.tolist()!r}"


def _means(random: Any) -> Iterator[Row]:
    """Compare a mean within a norm about an origin, and its loss: a changed record moves a sum by twice the norm."""
    from opendp.extras.sklearn.decomposition import make_private_np_mean

    data, norm, origin, words = _drawn(random)
    rows, columns = data.shape
    scale, quiet = random.uniform(0.3, 3), 1e-9
    for p, given in ((1, origin), (2, origin), (2, None)):
        space, about = arrays(columns, size=rows), 0.0 if given is None else given
        told = f"p={p}, origin {'omitted' if given is None else 'given'}, {words}"
        lengths = np.sum(np.abs(data - about) ** p, axis=1, keepdims=True) ** (1 / p)
        inside = about + (data - about) * np.minimum(1, norm / lengths)
        options = {"norm": norm, "p": p, "origin": given}
        found = make_private_np_mean(*space, quiet, **options)(data)
        apart = float(np.abs(np.array(found) - inside.mean(axis=0)).max())
        yield f"{told}: distance from the mean", 0.0, apart, 1e-6
        for changed in (1, 2):
            loss = changed * 2 * norm / rows / scale
            exact = loss if p == 1 else loss**2 / 2
            stated = make_private_np_mean(*space, scale, **options).map(2 * changed)
            yield protects((f"{told}: {changed} changed, scale {scale!r}", *near(stated, exact)))


def _sums(random: Any) -> Iterator[Row]:
    """Compare the maps of sums: norm and origin for each record, or twice the norm for each that is changed."""
    from opendp.extras.numpy import make_np_clamp
    from opendp.extras.numpy._make_np_sum import make_np_sum, make_private_np_sum

    data, norm, origin, _ = _drawn(random)
    scale = random.uniform(0.3, 3)
    for p, measure in ((1, dp.max_divergence()), (2, dp.zero_concentrated_divergence())):
        for size in (None, len(data)):
            clamp = make_np_clamp(*arrays(data.shape[1], size=size), norm, p, origin)
            total = make_np_sum(clamp.output_domain, clamp.output_metric)
            farthest = norm + float(np.sum(np.abs(origin) ** p) ** (1 / p))
            noisy = make_private_np_sum(clamp.output_domain, clamp.output_metric, measure, scale)
            for d_in in (2, 3, 4):
                exact = d_in * farthest if size is None else d_in // 2 * 2 * norm
                words = f"p={p}, {size=}, {d_in=}, norm {norm!r}, origin {origin.tolist()!r}"
                yield protects((f"sum, {words}", *near(total.map(d_in), exact)))
                loss = exact / scale
                yield protects((f"noisy sum, {words}", *near(noisy.map(d_in), loss if p == 1 else loss**2 / 2)))


def _fits(random: Any) -> Iterator[Row]:
    """Check that a fit of a line makes one release, of the records as they are given."""
    model = dp.sklearn.linear_model.LinearRegression(
        dp.max_divergence(), x_bounds=[(-3, 10)], y_bounds=(-30, 30), scale=random.uniform(0.5, 9)
    )
    released: list[Any] = []
    line = random.uniform(-2, 2), random.uniform(-5, 5)

    def measurement(records: Any) -> Any:
        released.append(np.array(records))
        return line

    model.measurement = measurement
    x, y = ([random.uniform(-3, 10) for _ in range(7)] for _ in range(2))
    fitted = model.fit([[value] for value in x], y)
    words = f"x {x!r}, y {y!r}"
    yield spends((f"releases, {words}", *near(len(released), 1, 0.0, 0.0)))
    same = released[0].shape == (7, 2) and np.all(released[0] == np.stack([x, y], axis=1))
    yield f"records, {words}", 1.0, float(same), 1.0
    yield (f"slope, {words}", *near(fitted.coef_[0], line[0]))
    yield (f"intercept, {words}", *near(fitted.intercept_, line[1]))


# --- principal components ------------------------------------------------------------------------------------------


def _components(random: Any) -> Iterator[Row]:
    """Compare the loss of some components with the epsilon that is given, however many are released."""
    from opendp.extras.sklearn.decomposition import make_private_pca

    columns, rows = random.randint(3, 5), random.randint(9, 30)
    epsilon, norm = random.uniform(0.5, 6), random.uniform(1.5, 4)
    for number in (1, random.randint(2, columns)):
        for told, domain in (
            ("known", arrays(columns, size=rows, norm=norm)),
            ("private", arrays(columns, size=rows)),
        ):
            stated = float(make_private_pca(*domain, epsilon, norm=norm, num_components=number).map(2))
            words = f"{number} of {columns} columns, {rows} rows, epsilon {epsilon!r}, mean {told}"
            yield spends((words, epsilon * (1 - 1e-6), stated, epsilon * (1 + 1e-9)))


class _Fitter:
    """Stands for a measurement, whatever is chained to it."""

    def __rshift__(self, other: Any) -> Any:
        return self


def _handed_on(**given: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments with which a model makes its principal components."""
    from opendp.extras.sklearn import decomposition

    calls: list[Any] = []

    def record(*arguments: Any, **options: Any) -> Any:
        calls.append((arguments, options))
        return _Fitter()

    make, decomposition.make_private_pca = decomposition.make_private_pca, record
    try:
        decomposition.PCA(**given)._prepare_fitter()
    finally:
        decomposition.make_private_pca = make
    (call,) = calls
    return call


def _models(random: Any) -> Iterator[Row]:
    """Compare what a model hands on with what it is given; epsilon, with what it hands on for one changed record."""
    columns, rows, changed = random.randint(4, 6), random.randint(9, 30), random.randint(2, 5)
    given = {"epsilon": random.uniform(0.5, 6), "row_norm": random.uniform(1.5, 4), "n_samples": rows}
    given["n_features"] = columns
    number = random.randint(2, columns - 1)
    (_, _, once), _ = _handed_on(**given)
    for components, exact in ((None, columns), (number, number), (0.7, columns), ("mle", columns)):
        arguments, options = _handed_on(**given, n_components=components, n_changes=changed)
        domain, metric, epsilon = arguments
        words = f"{given!r}, {components!r} components, {changed} changes"
        yield spends((f"{words}: epsilon", *near(epsilon, once / changed)))
        yield (f"{words}: norm", *near(options["norm"], given["row_norm"], 0.0, 0.0))
        yield (f"{words}: components", *near(options["num_components"], exact, 0.0, 0.0))
        found = domain.descriptor
        yield (f"{words}: rows", *near(found.size, rows, 0.0, 0.0))
        yield (f"{words}: columns", *near(found.num_columns, columns, 0.0, 0.0))
        yield protects((f"{words}: no norm is promised", 1.0, float(found.norm is None and found.nan), 1.0))
        yield f"{words}: metric", 1.0, float(metric == dp.symmetric_distance()), 1.0


def _refits(random: Any) -> Iterator[Row]:
    """Check that a fitted model refuses to be fitted to the records again: it has spent its epsilon."""
    columns, rows = random.randint(3, 5), random.randint(9, 20)
    given = {"epsilon": random.uniform(0.5, 6), "row_norm": random.uniform(1.5, 4)}
    data = np.array([[random.gauss(0, 1) for _ in range(columns)] for _ in range(rows)])
    for first in ("fit", "measurement"):
        model = dp.sklearn.decomposition.PCA(**given, n_samples=rows, n_features=columns)
        if first == "fit":
            model.fit(data)
        else:
            model.measurement()(data)
        before = model.components_.copy()
        for name, again in (
            ("fit", lambda model=model: model.fit(data)),
            ("fit_transform", lambda model=model: model.fit_transform(data)),
            ("measurement", lambda model=model: model.measurement()(data)),
        ):
            refused = 0
            try:
                again()
            except ValueError as error:
                refused = "already been fitted" in str(error)
            words = f"{name} after {first}, {given!r}, {rows} rows"
            yield spends((f"{words}: is fitted again", 0.0, 1.0 - refused, 0.0))
            yield spends((f"{words}: moved", 0.0, float(np.abs(model.components_ - before).max()), 0.0))


def _eigendecompositions(random: Any) -> Iterator[Row]:
    """Compare the loss of eigenvalues and eigenvectors with the sum of the epsilons, each a changed record."""
    from opendp.extras.numpy._make_np_sscp import make_np_sscp
    from opendp.extras.sklearn._make_eigendecomposition import make_private_np_eigendecomposition
    from opendp.extras.sklearn._make_eigenvalues import make_eigenvalues, make_private_eigenvalues
    from opendp.extras.sklearn._make_eigenvector import make_private_eigenvector, make_private_eigenvectors

    columns, rows, norm = random.randint(4, 6), random.randint(9, 30), random.uniform(1.5, 4)
    values = random.uniform(0.3, 2)
    vectors = [random.uniform(0.2, 2) for _ in range(random.randint(2, 3))]
    space = arrays(columns, size=rows, norm=norm)
    words = f"norm {norm!r}, eigenvalues {values!r}, eigenvectors {vectors!r}"
    whole = float(make_private_np_eigendecomposition(*space, values, vectors).map(2))
    total = values + math.fsum(vectors)
    yield protects((f"all, {words}", total * (1 - 1e-6), whole, total * (1 + 1e-9)))
    products = make_np_sscp(*space)
    inner = products.output_domain, products.output_metric
    every = make_private_eigenvectors(*inner, vectors).map(2)
    yield protects((f"eigenvectors, {words}", *near(every, math.fsum(vectors))))
    for changed in (1, 3):
        one = make_private_eigenvector(*inner, vectors[0]).map(2 * changed)
        yield protects((f"an eigenvector, {changed} changed, {words}", *near(one, changed * vectors[0])))
        moved, stated = 2 * changed * norm**2, make_eigenvalues(*inner).map(2 * changed)
        yield protects((f"eigenvalues, {changed} changed, {words}", *near(stated, moved)))
        noisy = make_private_eigenvalues(*inner, dp.max_divergence(), values).map(2 * changed)
        yield protects((f"noisy eigenvalues, {changed} changed, {words}", *near(noisy, moved / values)))


def model_cases(collect: Collector) -> None:
    """Add the relations of models."""
    for name, relations in (
        ("LinearRegression, runs", {"a record costs a pair in every run": _runs}),
        ("LinearRegression, fractions", {"a line is that of the points": _fractions}),
        ("make_private_np_mean, make_np_sum", {"means and their losses": _means, "maps of sums": _sums}),
        ("make_private_pca, components", {"they cost epsilon": _components}),
        ("LinearRegression, fit", {"a fit is one release": _fits}),
        ("PCA, a second fit", {"epsilon is spent once": _refits}),
        ("PCA, arguments", {"they are handed on": _models}),
        ("make_private_np_eigendecomposition", {"epsilons add up": _eigendecompositions}),
    ):
        collect.add(relations_of_extras, name, relations)
