"""Random bits that are given, in place of those of the library, and the quantiles that draws from them have."""

from __future__ import annotations

import math
from contextlib import contextmanager
from fractions import Fraction
from statistics import NormalDist

import numpy as np
from tmlt.core.random import rng

__all__ = ["drawing", "gaussian_quantile", "laplace_quantile"]


class _Bits:
    """A generator that returns given parts of its range, the last of them for ever.

    Parameters
    ----------
    parts : sequence
        Numbers in [0, 1), or a list of them for a draw of several.
    """

    def __init__(self, *parts):
        self._parts, self._place = parts, 0
        self.ranges = []

    def integers(self, low, high=None, size=None, endpoint=False, **_):
        """Return the next part of the range, as an integer."""
        low, high = (0, low) if high is None else (low, high)
        count = int(high) - int(low) + bool(endpoint)
        self.ranges.append(count)
        part = self._parts[min(self._place, len(self._parts) - 1)]
        self._place += 1
        if size is None:
            return int(low) + math.floor(Fraction(part) * count)
        parts = part if isinstance(part, (list, tuple)) else [part] * size
        return np.array([int(low) + math.floor(Fraction(one) * count) for one in parts[:size]], dtype=np.int64)


@contextmanager
def drawing(*parts):
    """Replace the generator of the library by one that returns given parts of its ranges, and yield it."""
    kept, bits = rng._core_privacy_prng, _Bits(*parts)
    rng._core_privacy_prng = bits
    try:
        yield bits
    finally:
        rng._core_privacy_prng = kept


def laplace_quantile(scale, probability):
    """Return the quantile of Laplace noise of a scale."""
    centred = probability - 0.5
    return scale * math.copysign(math.log1p(-2 * abs(centred)), centred) if centred else 0.0


def gaussian_quantile(variance, probability):
    """Return the quantile of Gaussian noise of a variance."""
    return NormalDist(0, math.sqrt(variance)).inv_cdf(probability)
