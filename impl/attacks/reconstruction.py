"""Reconstruction of bits from noisy sums over them: by Hadamard queries, and by linear programming."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpassay.arguments import UsageError
from dpassay.impl.hadamard import walsh_hadamard
from dpassay.impl.validation import real_array, require_count
from dpassay.lazy import optimize, sparse

__all__ = ["hadamard_bits", "linear_programming_bits", "random_queries"]

Array = NDArray[np.float64]
Bits = NDArray[np.int64]


def hadamard_bits(answers: ArrayLike) -> Bits:
    """Return the bits decoded from noisy sums with the coefficients of a Hadamard matrix.

    Parameters
    ----------
    answers : array_like
        Shape (..., n), n a power of 2: noisy values of H x, H as in :func:`dpassay.impl.hadamard.walsh_hadamard`.

    Returns
    -------
    ndarray of 0 and 1
        Of the same shape. If every answer errs by at most E, at most 4 E^2 bits of each row are wrong.

    Raises
    ------
    UsageError
        If n is not a power of 2, or an answer is not finite.

    Notes
    -----
    Dwork and Yekhanin 2008; Gaboardi 2017, S4.
    """
    decoded = walsh_hadamard(real_array("answers", answers))
    return np.asarray(decoded > decoded.shape[-1] / 2, dtype=np.int64)


def random_queries(count: int, bits: int, rng: np.random.Generator) -> Array:
    """Return `count` random subsets of `bits` bits, as rows of 0 and 1."""
    shape = require_count("count", count), require_count("bits", bits)
    return np.asarray(rng.integers(0, 2, shape), dtype=np.float64)


def linear_programming_bits(queries: ArrayLike, answers: ArrayLike, residual: Literal["l1", "linf"] = "l1") -> Bits:
    """Return the bits of the point of [0, 1]^n whose sums are closest to noisy answers, rounded at 1/2.

    Dinur and Nissim 2003, with the residual that Dwork, McSherry and Talwar 2007 minimise.

    Parameters
    ----------
    queries : array_like
        Shape (m, n): the coefficients of the sums.
    answers : array_like
        Shape (m,).
    residual : {"l1", "linf"}
        What is minimised: the sum of the errors, which forgives a few wild ones, or the largest.

    Returns
    -------
    ndarray of 0 and 1
        Shape (n,).

    Raises
    ------
    UsageError
        If the shapes do not fit, a number is not finite, or the solver fails.
    """
    rows, values = real_array("queries", queries), real_array("answers", answers)
    if rows.ndim != 2 or not rows.size or values.shape != (rows.shape[0],):
        raise UsageError(f"queries and answers must have shapes (m, n) and (m,), got {rows.shape} and {values.shape}")
    if residual not in {"l1", "linf"}:
        raise UsageError(f"residual must be l1 or linf, got {residual!r}")
    count, bits = rows.shape
    slack = sparse.identity(count, format="csr") if residual == "l1" else sparse.csr_matrix(np.ones((count, 1)))
    table = sparse.csr_matrix(rows)
    constraints = sparse.vstack([sparse.hstack([table, -slack]), sparse.hstack([-table, -slack])], format="csr")
    costs = np.concatenate([np.zeros(bits), np.ones(slack.shape[1])])
    limits = [(0, 1)] * bits + [(0, None)] * slack.shape[1]
    found = optimize.linprog(costs, constraints, np.concatenate([values, -values]), bounds=limits, method="highs")
    if not found.success or found.x is None:
        raise UsageError(f"queries and answers make a program that is not solved: {found.message}")
    return np.asarray(found.x[:bits] > 0.5, dtype=np.int64)
