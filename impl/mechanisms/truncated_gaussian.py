"""Sampling the normal distribution truncated to a half-width about its mean."""

import math

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import require_positive
from dpassay.lazy import special

__all__ = ["truncated_normal"]

Array = NDArray[np.float64]


def truncated_normal(half_width: float, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Draw from N(0, 1) conditioned on [-half_width, half_width], by the inverse of its odd distribution function.

    Nothing is clipped: what rounding puts outside, with probability 2^-50 or so, is moved to the end.

    Parameters
    ----------
    half_width : float
        In standard deviations, positive; beyond 9 it makes no difference to float64.
    shape : tuple of int
        Shape of the result.
    rng : numpy.random.Generator
        Source of randomness.
    """
    require_positive("half_width", half_width)
    central = rng.uniform(-1.0, 1.0, shape) * special.erf(half_width * math.sqrt(0.5))
    values: Array = np.clip(math.sqrt(2) * special.erfinv(central), -half_width, half_width)
    return values
