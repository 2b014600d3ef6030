"""A small library of private counts, as somebody might write it; one of its mechanisms has a known fault."""

import math

import numpy as np

__all__ = ["approximate_histogram", "noisy_count", "noisy_sign"]


def _geometric_noise(epsilon, size, rng):
    stop = -math.expm1(-epsilon)
    return rng.geometric(stop, size) - rng.geometric(stop, size)


def noisy_count(records, epsilon, size, rng):
    """Return `size` independent private counts of the records."""
    if not (math.isfinite(epsilon) and epsilon > 0):
        raise ValueError(f"epsilon must be a finite positive number, got {epsilon!r}")
    return len(records) + _geometric_noise(epsilon, size, rng)


def noisy_sign(value, epsilon, rng):
    """Return the sign of a number, flipped with probability 1 / (1 + e^epsilon)."""
    sign = 1 if value > 0 else -1
    return sign if rng.random() < 1 / (1 + math.exp(-epsilon)) else -sign


def approximate_histogram(records, epsilon, size, rng):
    """Return private counts of the records below and above 1/2; the budget is spent twice (issue 12)."""
    low = sum(record < 0.5 for record in records)
    counts = np.array([low, len(records) - low])
    return np.round(counts + rng.laplace(scale=0.5 / epsilon, size=(size, 2)))
