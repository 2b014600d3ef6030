"""Arrays whose rows lie within a norm about an origin other than zero: what is computed of them, and what it costs.

Noise is next to none, so that a release is compared with that of rows that are moved to the origin and clipped there.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import opendp.prelude as dp
from opendp_building import Collector, measurement_case
from opendp_extras import relations_of_extras

from dpassay.adapter import protects
from dpassay.impl.libraries.references import near

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dpassay.adapter import Mechanism

    Row = tuple[str, float, float, float] | tuple[str, float, float, float, str]

__all__ = ["origin_cases"]

_QUIET = {"eigvals": 1e12, "mean": 1e12}
"""Epsilons that leave next to no noise."""
_SHARP = 1e9
"""Epsilon of an eigenvector, which is then that of the matrix."""


def _about(origin: Any, norm: float, p: int, size: int | None = None) -> tuple[Any, Any]:
    """Return the space of rows within a norm about an origin."""
    more: dict[str, Any] = {"norm": norm, "p": p, "origin": origin, "size": size}
    return dp.numpy.array2_domain(num_columns=len(origin), T=float, nan=False, **more), dp.symmetric_distance()


def _clipped(rows: Any, norm: float, p: int = 2) -> Any:
    lengths = np.sum(np.abs(rows) ** p, axis=1, keepdims=True) ** (1 / p)
    return rows * np.minimum(1, norm / lengths)


def _drawn(random: Any, p: int = 2) -> tuple[Any, Any, float, str]:
    """Return rows within a norm about an origin, these two, and words; many rows lie just within the norm."""
    columns, size, norm = random.randint(2, 4), random.randint(9, 20), random.uniform(3, 6)
    origin = np.array([random.choice([-1, 1]) * random.uniform(4, 9) for _ in range(columns)])
    spread = np.array([[random.gauss(0, norm) for _ in range(columns)] for _ in range(size)])
    data = origin + _clipped(spread, norm * (1 - 1e-9), p)
    return data, origin, norm, f"p={p}, norm {norm!r}, origin {origin.tolist()!r}, {data.tolist()!r}"


# --- domains -------------------------------------------------------------------------------------------------------


def _is_member(domain: Any, rows: Any) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one tells why rows are no member
        return bool(domain.member(rows))


def _members(random: Any) -> Iterator[Row]:
    """Check which rows a domain has: those within the norm about the origin, and no others."""
    for p in (1, 2):
        data, origin, norm, words = _drawn(random, p)
        domain, _ = _about(origin, norm, p)
        yield f"{words}: rows within the norm", 1.0, float(_is_member(domain, data)), 1.0
        direction = _clipped(np.array([[random.choice([-1, 1]) * random.uniform(1, 2) for _ in origin]]), 1.0, p)
        for factor in (0.999, 1.001):
            inside = _is_member(domain, origin + factor * norm * direction)
            yield (f"{words}: a row at {factor} of the norm", *near(float(inside), float(factor < 1), 0.0, 0.0))
        inside = _is_member(domain, data - origin)
        exact = bool(np.all(np.sum(np.abs(data - 2 * origin) ** p, axis=1) ** (1 / p) <= norm))
        yield (f"{words}: rows about zero", *near(float(inside), float(exact), 0.0, 0.0))


def _centres(random: Any) -> Iterator[Row]:
    """Compare centred rows with the rows less the origin; no record changes another one."""
    from opendp.extras.sklearn.decomposition import _make_center

    for p in (1, 2):
        data, origin, norm, words = _drawn(random, p)
        for size in (None, len(data)):
            centre = _make_center(*_about(origin, norm, p, size))
            moved = float(np.abs(centre(data) - (data - origin)).max())
            yield f"{words}, {size=}: distance from the rows less the origin", 0.0, moved, 1e-12
            yield protects((f"{words}, {size=}: map", *near(centre.map(3), 3, 0.0, 0.0)))
            found = centre.output_domain.descriptor
            same = (found.norm, found.p, found.size, found.nan) == (norm, p, size, False)
            yield f"{words}, {size=}: promised domain", 1.0, float(same and not np.any(found.origin)), 1.0


# --- counts and means ----------------------------------------------------------------------------------------------


def _counts(random: Any) -> Iterator[Row]:
    """Compare counts of rows, of which a known size costs nothing."""
    from opendp.extras.numpy._make_np_count import make_np_count, make_private_np_count

    data, origin, norm, words = _drawn(random)
    scale = random.uniform(0.5, 3)
    for size in (None, len(data)):
        space = _about(origin, norm, 2, size)
        count = make_np_count(*space)
        yield (f"{words}, {size=}: count", *near(count(data), len(data), 0.0, 0.0))
        for d_in in (2, 3):
            exact = d_in if size is None else 0
            yield protects((f"{words}, {size=}: map of {d_in}", *near(count.map(d_in), exact, 0.0, 0.0)))
            loss = make_private_np_count(*space, dp.max_divergence(), scale).map(d_in)
            yield protects((f"{words}, {size=}: loss of {d_in}, scale {scale!r}", *near(loss, exact / scale)))


def _means(random: Any) -> Iterator[Row]:
    """Compare the mean of rows of a domain with a norm, about an origin of which nothing is left in it."""
    from opendp.extras.sklearn.decomposition import make_private_np_mean

    scale = random.uniform(0.3, 3)
    for p in (1, 2):
        data, origin, norm, words = _drawn(random, p)
        space = _about(origin, norm, p, len(data))
        apart = float(np.abs(np.array(make_private_np_mean(*space, 1e-9)(data)) - data.mean(axis=0)).max())
        yield f"{words}: distance from the mean", 0.0, apart, 1e-6
        for changed in (1, 3):
            loss = changed * 2 * norm / len(data) / scale
            stated = make_private_np_mean(*space, scale).map(2 * changed)
            exact = loss if p == 1 else loss**2 / 2
            yield protects((f"{words}: {changed} changed, scale {scale!r}", *near(stated, exact)))


# --- principal components ------------------------------------------------------------------------------------------


def _compared(words: str, values: Any, vectors: Any, rows: Any) -> Iterator[Row]:
    """Compare singular values and directions with those of rows: each direction has a sum of squares along it."""
    products = rows.T @ rows
    exact = np.linalg.eigvalsh(products)[::-1]
    for place, square in enumerate(exact):
        told = f"{words}: component {place}"
        yield (f"{told}, square of its value", *near(float(values[place]) ** 2, float(square), 0.0, 1e-5 * exact[0]))
        along = float(vectors[place] @ products @ vectors[place])
        yield (f"{told}, squares along it", *near(along, float(square), 0.0, 1e-5 * exact[0]))


def _components(random: Any) -> Iterator[Row]:
    """Compare the components of rows about a known origin with those of the rows less it, clipped about it."""
    from opendp.extras.sklearn.decomposition import PCAEpsilons, make_private_pca

    data, origin, wide, words = _drawn(random)
    epsilons = PCAEpsilons(eigvals=_QUIET["eigvals"], eigvecs=[_SHARP] * (len(origin) - 1), mean=None)
    space = _about(origin, wide, 2, len(data))
    for norm in (wide * random.uniform(0.3, 0.8), wide * random.uniform(1.2, 3), None):
        release = make_private_pca(*space, epsilons, norm=norm)(data)
        told = f"{words}, clipped to {norm!r}"
        yield f"{told}: distance of the mean from the origin", 0.0, float(np.abs(release.mean - origin).max()), 0.0
        inside = _clipped(data - origin, wide if norm is None else min(norm, wide))
        yield from _compared(told, release.S, release.Vt, inside)


def _private_means(random: Any) -> Iterator[Row]:
    """Compare the components of rows without a norm with those of the rows less the mean that is released."""
    from opendp.extras.sklearn.decomposition import PCAEpsilons, make_private_pca

    data, origin, wide, words = _drawn(random)
    epsilons = PCAEpsilons(eigvecs=[_SHARP] * (len(origin) - 1), **_QUIET)
    domain = dp.numpy.array2_domain(num_columns=len(origin), size=len(data), T=float, nan=False)
    norm = wide * random.uniform(0.6, 1.2)
    release = make_private_pca(domain, dp.symmetric_distance(), epsilons, norm=norm)(data)
    told = f"{words}, clipped to {norm!r}"
    exact = _clipped(data, norm, 1).mean(axis=0)  # the mean is that of rows that are clipped about zero
    yield f"{told}: distance from the mean", 0.0, float(np.abs(release.mean - exact).max()), 1e-6
    yield from _compared(told, release.S, release.Vt, _clipped(data - release.mean, norm))


def _models(random: Any) -> Iterator[Row]:
    """Compare a fitted model with the rows less the mean that it releases."""
    data, origin, wide, words = _drawn(random)
    norm = wide * random.uniform(0.6, 1.2)
    model = dp.sklearn.decomposition.PCA(
        epsilon=1e11, row_norm=norm, n_samples=len(data), n_features=len(origin)
    )  # fmt: skip
    model.fit(data)
    told = f"{words}, clipped to {norm!r}"
    exact = _clipped(data, norm, 1).mean(axis=0)
    yield f"{told}: distance from the mean", 0.0, float(np.abs(model.mean_ - exact).max()), 1e-6
    yield from _compared(told, model.singular_values_, model.components_, _clipped(data - model.mean_, norm))


def one_row(norm: float, distance: float, epsilon: float) -> Mechanism:
    """Return the case: the eigenvalues of one row, on one side of a distant origin or the other.

    Half of epsilon each is that of the eigenvalues and of an eigenvector. The outcome is whether the sum of the
    eigenvalues exceeds the square of the distance.
    """
    from opendp.extras.sklearn._make_eigendecomposition import make_private_np_eigendecomposition

    dp.enable_features("idealized-numerics")
    space = _about(np.array([distance, 0.0]), norm, 2, 1)
    measurement = make_private_np_eigendecomposition(*space, epsilon / 2, [epsilon / 2])
    return measurement_case(
        f"make_private_np_eigendecomposition({epsilon=}), a row within {norm} of ({distance}, 0)",
        measurement,
        2,
        "vector:size=1,linf=1,low=0,high=1,integer",
        lambda data: np.array([[distance + norm * (2 * data[0] - 1), 0.0]]),
        outcome=lambda release: bool(np.sum(release[0]) > distance**2),
        floats=False,
        slow=True,
        notes="the library asks for its flag of idealised numerics here",
    )


def origin_cases(collect: Collector) -> None:
    """Add the relations of rows about an origin, and the eigenvalues of one row."""
    for name, relations in (
        ("array2_domain, rows about an origin", {
            "members lie within the norm about it": _members,
            "centred rows are the rows less it": _centres,
            "counts are those of the rows": _counts,
            "means are those of the rows": _means,
        }),
        ("make_private_pca, rows about an origin", {
            "components are those of the rows less it": _components,
            "components are those of the rows less a private mean": _private_means,
        }),
        ("PCA, rows about a private mean", {"components are those of the rows less it": _models}),
    ):  # fmt: skip
        collect.add(relations_of_extras, name, relations)
    collect.add(one_row, 1.5, 9.0, 1.6)
