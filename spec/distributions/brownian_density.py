"""The exact density of a whole run of Brownian noise reduction, by three formulas.

For rational times, answers and noises the logarithm of a ratio of two densities with the same variances is rational:
the normalisations cancel. A run released at falling times t_1 > ... > t_k has the density of its values

- by the Brownian bridge, each given the one before;
- in information time u = 1/t, as independent Gaussian mechanisms of precision u_k - u_(k-1);
- or, as far as ratios go, of its last value alone: which is what the theorems say.
"""

import itertools
from fractions import Fraction

from dpassay.spec.interactions.released_paths import ReleasedPath, Vector

__all__ = ["bridge_log_ratio", "increment_log_ratio", "last_log_ratio"]


def _log_density(residual: Vector, mean: Vector, variance: Fraction) -> Fraction:
    """Return the log-density of a spherical normal distribution, up to a constant."""
    return -sum(((x - m) ** 2 for x, m in zip(residual, mean, strict=True)), Fraction(0)) / (2 * variance)


def bridge_log_ratio(path: ReleasedPath) -> Fraction:
    """Return the log-ratio of the joint densities, each release given the one before."""
    logs = []
    for answer in (path.left, path.right):
        noise = path.residuals(answer)
        total = _log_density(noise[0], (Fraction(0),) * len(answer), path.times[0])
        for (t, before), (s, after) in itertools.pairwise(zip(path.times, noise, strict=True)):
            mean = tuple(s / t * x for x in before)
            total += _log_density(after, mean, s * (t - s) / t)
        logs.append(total)
    return logs[0] - logs[1]


def increment_log_ratio(path: ReleasedPath) -> Fraction:
    """Return the log-ratio of the densities of u_k y_k - u_(k-1) y_(k-1): independent Gaussian mechanisms."""
    size = len(path.left)
    total, before_u, before = Fraction(0), Fraction(0), (Fraction(0),) * size
    releases = path.residuals((Fraction(0),) * size)
    for time, release in zip(path.times, releases, strict=True):
        precision = 1 / time
        scaled = tuple(precision * y for y in release)
        step, gained = tuple(a - b for a, b in zip(scaled, before, strict=True)), precision - before_u
        for answer, sign in ((path.left, 1), (path.right, -1)):
            total += sign * _log_density(step, tuple(gained * f for f in answer), gained)
        before_u, before = precision, scaled
    return total


def last_log_ratio(path: ReleasedPath) -> Fraction:
    """Return the log-ratio of the densities of the last release."""
    zero = (Fraction(0),) * len(path.left)
    left, right = (_log_density(path.residuals(f)[-1], zero, path.last_time) for f in (path.left, path.right))
    return left - right
