"""The library under test; replace it by your own."""

import math


def noise(epsilon, rng):
    """Draw geometric noise of both signs for answers of sensitivity 1."""
    if not (math.isfinite(epsilon) and epsilon > 0):
        raise ValueError(f"epsilon must be a finite positive number, got {epsilon!r}")
    stop = -math.expm1(-epsilon)
    return int(rng.geometric(stop) - rng.geometric(stop))


def noisy_count(records, epsilon, rng):
    """Return the number of records with noise."""
    return len(records) + noise(epsilon, rng)


def noisy_sum(records, low, high, epsilon, rng):
    """Return the sum of integer records, clipped to [low, high], with noise; one record is added or removed."""
    clipped = (min(max(round(record), low), high) for record in records)
    return sum(clipped) + noise(epsilon / max(abs(low), abs(high)), rng)
