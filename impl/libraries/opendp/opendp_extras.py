"""Extras that need numpy and scikit-learn: clamped norms, means, principal components, linear regression."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import opendp.prelude as dp
from opendp_building import Collector, measurement_case

from dpassay.adapter import Family, Relations, protects, spends

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dpassay.adapter import Mechanism

    Row = tuple[str, float, float, float] | tuple[str, float, float, float, str]

__all__ = ["arrays", "extra_cases", "relations_of_extras"]

_SLACK = 1e-9
"""Relative: norms of float64 numbers are computed here and there in float64."""


def _idealised() -> None:
    dp.enable_features("idealized-numerics")


def relations_of_extras(name: str, relations: dict[str, Any]) -> Relations:
    """Return the case of relations of functions that ask for the flag of idealised numerics."""
    _idealised()
    return Relations(name, relations)


def arrays(columns: int, *, size: int | None = None, norm: float | None = None) -> tuple[Any, Any]:
    """Return the space of arrays without NaN, and with a norm about zero where one is given."""
    more = {} if norm is None else {"norm": norm, "p": 2, "origin": np.zeros(columns)}
    return dp.numpy.array2_domain(num_columns=columns, size=size, T=float, nan=False, **more), dp.symmetric_distance()


# --- clamped norms and what is computed of them --------------------------------------------------------------------


def _table(random: Any, rows: int, columns: int, width: float) -> Any:
    return np.array(
        [[random.choice([random.gauss(0, width), 0.0, width]) for _ in range(columns)] for _ in range(rows)]
    )


def _clamps(random: Any) -> Iterator[Row]:
    """Check that rows are within the norm about the origin, and that rows within it stay as they are."""
    from opendp.extras.numpy import make_np_clamp

    norm, rows, columns = random.uniform(0.3, 6), random.randint(1, 6), random.randint(2, 4)
    far = np.array([random.uniform(-9, 9) for _ in range(columns)])
    for p, origin in ((1, far), (2, far), (1, None), (2, None)):
        clamp, centre = make_np_clamp(*arrays(columns), norm, p, origin), 0.0 if origin is None else origin
        words = f"norm {norm!r}, p={p}, origin {None if origin is None else origin.tolist()!r}"
        data = centre + _table(random, rows, columns, 12.0)
        data[0] = centre + 12.0  # as far along each axis, where the norms differ most
        found = clamp(data)
        lengths = np.linalg.norm(found - centre, ord=p, axis=1)
        low, high = norm * (1 - _SLACK), norm * (1 + _SLACK) + 1e-12
        yield spends((f"{words}, {data.tolist()!r}", low, float(lengths[0]), high))
        yield spends((f"{words}, {data.tolist()!r}, any row", 0.0, float(lengths.max()), high))
        inside = centre + _table(random, rows, columns, norm / columns / 3)
        moved = float(np.abs(clamp(inside) - inside).max())
        yield f"{words}, within the norm", 0.0, moved, 1e-12 * (1 + abs(float(np.abs(inside).max())))
        yield protects((f"{words}, map", 3.0, float(clamp.map(3)), 3.0))
        promised = clamp.output_domain.descriptor
        same = (promised.norm, promised.p, promised.nan) == (norm, p, False) and np.all(promised.origin == centre)
        yield f"{words}, promised domain", 1.0, float(same), 1.0


def _moves(random: Any) -> Iterator[Row]:
    """Compare how far results of neighbours lie apart with the maps of the sums and of eigenvalues."""
    from opendp.extras.numpy import make_np_clamp
    from opendp.extras.numpy._make_np_sscp import make_np_sscp
    from opendp.extras.numpy._make_np_sum import make_np_sum
    from opendp.extras.sklearn._make_eigenvalues import make_eigenvalues

    norm, rows, columns = random.uniform(0.3, 6), random.randint(2, 6), random.randint(2, 4)
    left = _table(random, rows, columns, 9.0)
    right = left.copy()
    right[0] = -9 * left[0] if random.random() < 0.5 else _table(random, 1, columns, 30.0)[0]
    words = f"norm {norm!r}, {left.tolist()!r}, first row {right[0].tolist()!r}"
    for p in (1, 2):
        for size in (None, rows):
            origin = np.array([random.uniform(-4, 4) for _ in range(columns)])
            clamp = make_np_clamp(*arrays(columns, size=size), norm, p, origin)
            chain = clamp >> make_np_sum(clamp.output_domain, clamp.output_metric)
            pairs = [(left, right, 2)] if size else [(left, right, 2), (left, left[1:], 1)]
            for one, other, d_in in pairs:
                found = np.linalg.norm(np.array(chain(one)) - np.array(chain(other)), ord=p)
                stated = float(chain.map(d_in))
                told = f"sum, p={p}, {size=}, d_in={d_in}, {words}"
                yield spends((told, 0.0, float(found), stated * (1 + _SLACK) + 1e-9))
    clamp = make_np_clamp(*arrays(columns, size=rows), norm, 2)
    products = clamp >> make_np_sscp(clamp.output_domain, clamp.output_metric)
    values = products >> make_eigenvalues(products.output_domain, products.output_metric)
    found = np.abs(np.array(values(left)) - np.array(values(right))).sum()
    stated, exact = float(values.map(2)), 2 * norm**2
    yield spends((f"eigenvalues, {words}", 0.0, float(found), stated * (1 + _SLACK) + 1e-9))
    yield protects((f"map of eigenvalues, norm {norm!r}", exact * (1 - _SLACK), stated, exact * (1 + _SLACK)))


def _component_budgets(random: Any) -> Iterator[Row]:
    """Compare the maps of principal components with the epsilons of their parts."""
    from opendp.extras.sklearn.decomposition import PCAEpsilons, make_private_pca

    columns, rows = random.randint(3, 5), random.randint(9, 30)
    epsilon, norm = random.uniform(0.5, 6), random.uniform(0.5, 4)
    words = f"{columns} columns, {rows} rows, epsilon {epsilon!r}"
    whole = make_private_pca(*arrays(columns, size=rows), epsilon, norm=norm)
    yield spends((f"make_private_pca, {words}", epsilon * (1 - 1e-6), float(whole.map(2)), epsilon * (1 + _SLACK)))
    parts = PCAEpsilons(eigvals=epsilon / 5, eigvecs=[epsilon / 2, epsilon / 9], mean=epsilon / 7)
    total = epsilon * (1 / 5 + 1 / 2 + 1 / 9 + 1 / 7)
    stated = float(make_private_pca(*arrays(columns, size=rows), parts, norm=norm).map(2))
    yield protects((f"PCAEpsilons, {words}", total * (1 - 1e-6), stated, total * (1 + 1e-6)))


def _model_budgets(random: Any) -> Iterator[Row]:
    """Compare what a model says that a changed record costs with its part of the epsilon that it was given."""
    columns, rows, changed = random.randint(3, 5), random.randint(9, 30), random.randint(1, 4)
    epsilon, norm = random.uniform(0.5, 6), random.uniform(0.5, 4)
    model = dp.sklearn.decomposition.PCA(
        epsilon=epsilon, row_norm=norm, n_samples=rows, n_features=columns, n_changes=changed
    )
    stated, exact = float(model.measurement().map(2)), epsilon / changed
    words = f"epsilon {epsilon!r}, n_changes={changed}, one changed record"
    yield spends((words, exact * (1 - 1e-6), stated, exact * (1 + _SLACK)))


def mean(norm: float, size: int, numerator: int, denominator: int) -> Mechanism:
    """Return the case: the mean of one column, clamped, with Laplace noise."""
    from opendp.extras.sklearn.decomposition import make_private_np_mean

    _idealised()
    scale = numerator / denominator
    measurement = make_private_np_mean(*arrays(1, size=size), scale, norm=norm, p=1)
    return measurement_case(
        f"make_private_np_mean({norm=}, {size=}, {scale=})",
        measurement,
        2,
        f"records:low={-3 * norm!r},high={3 * norm!r},size={size},relation=replace",
        lambda data: np.array(data).reshape(-1, 1),
        outcome=lambda release: float(release[0]),
        distribution=lambda data: {
            "family": "laplace",
            "location": float(np.clip(data, -norm, norm).sum() / size),
            "scale": scale,
        },
        distribution_is_exact=False,
        floats=False,
        notes="the library asks for its flag of idealised numerics here",
    )


def _means() -> Family:
    domain = {"norm": (0.4, 5.0), "size": (2, 4), "numerator": (2, 5), "denominator": (2, 3)}
    found = Family("make_private_np_mean, family", mean, domain)
    found.member({"norm": 2.0, "size": 3, "numerator": 3, "denominator": 2})
    return found


# --- directions ----------------------------------------------------------------------------------------------------


def _directions(columns: int, size: int, norm: float, epsilon: float) -> Any:
    """Return a measurement of the first eigenvector, whose eigenvalues take next to nothing of the budget."""
    from opendp.extras.sklearn.decomposition import PCAEpsilons, make_private_pca

    _idealised()
    epsilons = PCAEpsilons(eigvals=1e-3, eigvecs=[epsilon], mean=None)
    return make_private_pca(*arrays(columns, size=size, norm=norm), epsilons, num_components=1)


_ARCS = 8

_CALLS_OF_DIRECTIONS = 1000
"""Outcomes of a direction, each of which is searched for in Python and takes some milliseconds."""


def direction(norm: float, epsilon: float, angle: float, strength: int) -> Mechanism:
    """Return the case: the arc of the half circle into which the direction of points of a plane falls."""
    measurement = _directions(2, strength, norm, epsilon)
    towards = np.array([math.cos(angle), math.sin(angle)])
    data = np.array([norm * towards] * strength)

    def outcome(release: Any) -> int:
        x, y = release.Vt[0]
        return min(int(math.atan2(y, x) % math.pi / math.pi * _ARCS), _ARCS - 1)

    middle = (np.arange(_ARCS * 512) + 0.5) * math.pi / (_ARCS * 512)
    points = np.stack([np.cos(middle), np.sin(middle)], axis=1)
    weights = np.exp(epsilon / 4 * strength * (points @ towards) ** 2).reshape(_ARCS, -1).sum(axis=1)
    return measurement_case(
        f"make_private_pca, direction, {norm=}, {epsilon=}, {angle=}, {strength=}",
        measurement,
        2,
        "vector:size=1,linf=1,low=0,high=0",  # one input: the fit alone is of interest
        lambda _: data,
        outcome=outcome,
        distribution=lambda _: {
            "family": "finite",
            "symbols": list(range(_ARCS)),
            "probabilities": weights.tolist(),
        },
        floats=False,
        calls=_CALLS_OF_DIRECTIONS,
    )


def _planes() -> Family:
    domain = {"norm": (0.5, 3.0), "epsilon": (1.5, 4.0), "angle": (0.3, 2.5), "strength": (4, 8)}
    found = Family("make_private_pca, direction, family", direction, domain)
    found.member({"norm": 1.5, "epsilon": 2.0, "angle": 0.7, "strength": 5})
    return found


def first_of_two(columns: int, half: int, epsilon: float) -> Mechanism:
    """Return the case: records along two axes, as many along each, of which one turns from the first to the second."""
    measurement = _directions(columns, 2 * half, 1.0, epsilon)
    axes = np.eye(columns)

    def argument(data: list[float]) -> Any:
        first = half - int(data[0])
        return np.array([axes[0]] * first + [axes[1]] * (2 * half - first))

    return measurement_case(
        f"make_private_pca, {columns} columns, {half} records along each of two, {epsilon=}",
        measurement,
        2,
        "vector:size=1,linf=1,low=0,high=1,integer",
        argument,
        outcome=lambda release: bool(release.Vt[0][0] ** 2 > 0.9),
        floats=False,
        calls=4000,
        slow=True,
    )


# --- lines ---------------------------------------------------------------------------------------------------------

_BASE = 17
"""Points on a line, which decide where most pairs lead."""


def line(scale: float, candidates: int) -> Mechanism:
    """Return the case: points on a line and three far above it, and one further point, far below, in their midst.

    The regression pairs points, and drops the last of an odd number: the further point replaces one.
    """
    _idealised()
    model = dp.sklearn.linear_model.LinearRegression(
        dp.max_divergence(), x_bounds=[(0, 10)], y_bounds=(5, 10), scale=scale, candidates_count=candidates
    )
    above = [[5.0, 1e9]] * 3
    base = [[0.1 * place, 5.0] for place in range(_BASE)]

    def argument(data: list[float]) -> Any:
        return np.array(base + above[1:] + [[5.0, -1e9]] * int(data[0]) + above[:1])

    return measurement_case(
        f"LinearRegression({scale=}, {candidates} candidates), a point more",
        model.measurement,
        1,
        "vector:size=1,linf=1,low=0,high=1,integer",
        argument,
        outcome=lambda release: tuple(round(float(number), 6) for number in release),
        floats=False,
        slow=True,
    )


def _predictions(random: Any) -> Iterator[Row]:
    """Compare predictions of two points, and of these with another one in their midst, with the stated stability."""
    from opendp.extras.sklearn.linear_model._make_private_theil_sen import make_pairwise_predict

    points = [[float(place), random.uniform(-5, 5)] for place in range(3)]
    pairs = make_pairwise_predict(np.array([2.5, 7.5]))
    left, right = (
        {tuple(np.round(row, 9)) for row in pairs(np.array(data))} for data in ([points[0], points[2]], points)
    )
    yield spends((f"{points!r}, without the second one", 0.0, float(len(left ^ right)), float(pairs.map(1))))


_RUNS_OF_PAIRS = 240
"""Runs, in all of which a pair of six records is missing with a probability of 0.8 to this power: below 1e-23."""


def _pairings(random: Any) -> Iterator[Row]:
    """Count pairs of records: each record enters one in a run, and every two records are paired in some run."""
    from opendp.extras.sklearn.linear_model._make_private_theil_sen import make_pairwise_predict

    records = np.array([[place + random.uniform(-0.3, 0.3), random.uniform(-5, 5)] for place in range(6)])
    cuts = np.array([2.3, 7.7])
    slopes = {
        (one, other): (records[other, 1] - records[one, 1]) / (records[other, 0] - records[one, 0])
        for one, other in itertools.combinations(range(6), 2)
    }
    pairs = list(slopes)
    lines = np.array([records[one, 1] + slopes[one, other] * (cuts - records[one, 0]) for one, other in pairs])
    predict, counts, uneven = make_pairwise_predict(cuts), dict.fromkeys(pairs, 0), 0
    for _ in range(_RUNS_OF_PAIRS):
        found = [pairs[int(np.abs(lines - np.array(row)).sum(axis=1).argmin())] for row in predict(records)]
        uneven += sorted(itertools.chain.from_iterable(found)) != list(range(6))
        for pair in found:
            counts[pair] += 1
    words = f"{records.tolist()!r}, {_RUNS_OF_PAIRS} runs"
    yield spends((f"{words}, in which a record enters not one pair", 0.0, float(uneven), 0.0))
    for pair, count in counts.items():
        yield protects((f"{words}, pairs of {pair}", 1.0, float(count), _RUNS_OF_PAIRS / 2))


def extra_cases(collect: Collector) -> None:
    """Add the cases of the extras."""
    for name, words, relation in (
        ("make_np_clamp", "rows are within the norm", _clamps),
        ("make_np_sum, make_np_sscp, make_eigenvalues", "outputs move as the maps say", _moves),
        ("PCAEpsilons, make_private_pca", "budgets add up", _component_budgets),
        ("LinearRegression, pairs", "predictions move as the map says", _predictions),
        ("LinearRegression, pairings", "every two records may be a pair", _pairings),
        ("PCA", "a changed record costs its part of epsilon", _model_budgets),
    ):
        collect.add(relations_of_extras, name, {words: relation})
    collect.add(_means)
    collect.add(_planes)
    collect.add(first_of_two, 5, 40, 2.0)
    collect.add(line, 1.0, 2)
