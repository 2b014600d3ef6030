"""Directions of the extras, drawn at random: how sharply, and from which random words.

A direction is drawn by proposals of a Gaussian, whose covariance tells how sharp its distribution is.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from opendp_building import Collector
from opendp_extras import arrays, relations_of_extras

from dpassay.adapter import protects, spends
from dpassay.impl.libraries.references import near

if TYPE_CHECKING:
    from collections.abc import Iterator

    Row = tuple[str, float, float, float] | tuple[str, float, float, float, str]

__all__ = ["direction_cases"]


class _Proposals:
    """Stands for a random generator: keeps the covariances of proposals, and has every proposal accepted."""

    def __init__(self, random: Any) -> None:
        self.covariances: list[Any] = []
        self._random = random

    def multivariate_normal(self, mean: Any, cov: Any) -> Any:
        self.covariances.append(np.array(cov))
        return np.array([self._random.gauss(0, 1) for _ in mean])

    def random(self) -> float:
        return -1.0


def _proposed(random: Any, make: Any, data: Any) -> tuple[list[Any], Any]:
    """Return the covariances from which a measurement draws its directions, and what it releases."""
    from opendp.extras.sklearn import _make_eigenvector as home

    proposals = _Proposals(random)
    original, home.get_np_csprng = home.get_np_csprng, lambda: proposals
    try:
        release = make()(data)
    finally:
        home.get_np_csprng = original
    return proposals.covariances, release


def _penalties(words: str, epsilons: Any, covariances: Any, columns: Any, products: Any) -> Iterator[Row]:
    """Compare what directions away from the best one lose in log density with epsilon / 4 of the missing squares.

    Squares are in units of the squared norm of a row. The covariance is the inverse of I + 2 A / b, where A has the
    losses, of which the least is zero, and b is the trace of the covariance.
    """
    rest = np.eye(len(products))
    for number, (epsilon, covariance) in enumerate(zip(epsilons, covariances)):
        squares = np.linalg.eigvalsh(rest @ products @ rest.T)
        found = np.sort((1 / np.linalg.eigvalsh(covariance) - 1) * np.trace(covariance) / 2)
        exact = np.sort(epsilon / 4 * (squares[-1] - squares))
        for place in range(1, len(exact)):
            told = f"{words}: direction {number}, loss {place}"
            yield spends((told, *near(found[place], exact[place], 1e-6, 1e-9)))
        rest = np.linalg.svd(columns[:, : number + 1].T)[2][number + 1 :]  # what is orthogonal to those released
    yield (f"{words}: directions", *near(len(covariances), len(epsilons), 0.0, 0.0))


def _made(norm: float, epsilons: list[float], rows: int, columns: int) -> dict[str, tuple[Any, Any, Any]]:
    """Return what makes each measurement of directions, the norm of its rows, and its directions in a release."""
    from opendp.extras.numpy._make_np_sscp import make_np_sscp
    from opendp.extras.sklearn._make_eigendecomposition import make_private_np_eigendecomposition
    from opendp.extras.sklearn._make_eigenvector import make_private_eigenvector, make_private_eigenvectors
    from opendp.extras.sklearn.decomposition import PCAEpsilons, make_private_pca

    space, free, half = arrays(columns, size=rows, norm=norm), arrays(columns, size=rows), norm / 2
    products = make_np_sscp(*space)
    inner = products.output_domain, products.output_metric
    known = PCAEpsilons(eigvals=1.0, eigvecs=epsilons, mean=None)
    private = PCAEpsilons(eigvals=1.0, eigvecs=epsilons, mean=1e9)
    return {
        "one": (lambda: products >> make_private_eigenvector(*inner, epsilons[0]), norm, np.transpose),
        "several": (lambda: products >> make_private_eigenvectors(*inner, epsilons), norm, np.array),
        "all": (lambda: make_private_np_eigendecomposition(*space, 1.0, epsilons), norm, lambda found: found[1]),
        "components": (lambda: make_private_pca(*space, known), norm, lambda found: found.Vt.T),
        "components, clamped": (lambda: make_private_pca(*space, known, norm=half), half, lambda found: found.Vt.T),
        "components, private mean": (
            lambda: make_private_pca(*free, private, norm=half), half, lambda found: found.Vt.T),
    }  # fmt: skip


def _directions(random: Any) -> Iterator[Row]:
    """Compare how sharply directions are drawn with their epsilons, where norms of rows are not 1."""
    columns, rows = random.randint(4, 5), random.randint(9, 20)
    epsilons = [random.uniform(0.4, 2), random.uniform(0.4, 2)]
    for norm in (0.5, random.uniform(2, 6)):
        data = np.array([[random.gauss(0, 1 + place) for place in range(columns)] for _ in range(rows)])
        lengths = np.array([[norm * random.uniform(0.3, 0.999)] for _ in range(rows)])
        data *= lengths / np.linalg.norm(data, axis=1, keepdims=True)
        for name, (make, within, vectors) in _made(norm, epsilons, rows, columns).items():
            covariances, release = _proposed(random, make, data)
            inside = data - release.mean if "mean" in name else data
            inside = inside * np.minimum(1, within / np.linalg.norm(inside, axis=1, keepdims=True))
            found = np.asarray(vectors(release)).reshape(columns, -1)
            parts = epsilons[:1] if name == "one" else epsilons
            words = f"{name}, norm {norm!r}, epsilons {parts!r}, {data.tolist()!r}"
            yield from _penalties(words, parts, covariances, found, inside.T @ inside / within**2)


# --- random numbers ------------------------------------------------------------------------------------------------

_WORDS = 8192
"""Random words of 64 bits, several times those of a buffer; two are the same with a probability of 2e-12."""


def _random_words(_: Any) -> Iterator[Row]:
    """Check that no word of the random generator for arrays returns, and that every bit is set half of the time."""
    from opendp._lib import get_np_csprng

    found = get_np_csprng().integers(0, 2**64 - 1, endpoint=True, dtype=np.uint64, size=_WORDS)
    again = _WORDS - len(set(found.tolist()))
    yield spends((f"words that return among {_WORDS}", 0.0, float(again), 0.0))
    deviation = 7 * math.sqrt(_WORDS) / 2  # of 64 bits none is farther off, but with a probability of 2e-10
    for place in range(64):
        count = int(((found >> np.uint64(place)) & np.uint64(1)).sum())
        half = _WORDS / 2
        yield protects((f"bit {place} is set in {_WORDS} words", half - deviation, float(count), half + deviation))


def direction_cases(collect: Collector) -> None:
    """Add the relations of directions and of the random words that they are drawn from."""
    for name, relations in (
        ("make_private_eigenvectors", {"directions are drawn as sharply as epsilons say": _directions}),
        ("get_np_csprng", {"random words are new": _random_words}),
    ):
        collect.add(relations_of_extras, name, relations)
