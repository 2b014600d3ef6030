"""The fast Walsh-Hadamard transform."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpassay.arguments import UsageError

__all__ = ["walsh_hadamard"]


def walsh_hadamard(values: ArrayLike) -> NDArray[np.float64]:
    """Multiply vectors of length 2^k by Sylvester's matrix, entry (i, j) = (-1)^(common binary ones of i and j).

    Parameters
    ----------
    values : array_like
        Shape (..., 2^k).

    Returns
    -------
    ndarray
        Of the same shape; exact for integers as long as they stay below 2^53.

    Raises
    ------
    UsageError
        If the length is not a power of 2.
    """
    result = np.array(values, dtype=np.float64)
    length = result.shape[-1] if result.ndim else 0
    if length < 1 or length & (length - 1):
        raise UsageError(f"values must have a length that is a power of 2, got {length}")
    width = 1
    while width < length:
        blocks = result.reshape(*result.shape[:-1], -1, 2, width)
        first, second = blocks[..., 0, :] + blocks[..., 1, :], blocks[..., 0, :] - blocks[..., 1, :]
        blocks[..., 0, :], blocks[..., 1, :] = first, second
        width *= 2
    return result
