"""Pairs of distributions as dp-accounting documents them, with the noise computed anew, and comparisons with them.

A delta is the largest difference in mass over thresholds (or the sum over integers), because the loss falls along the
line.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from dp_accounting.pld import privacy_loss_mechanism as mechanisms
from scipy import special

__all__ = [
    "ABSOLUTE",
    "INTERVAL",
    "RELATIVE",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Gaussian",
    "Laplace",
    "Pair",
    "Way",
    "drawn",
    "enclosed",
    "levels_drawn",
    "near_exact",
    "pair_of",
    "places_drawn",
    "tails",
]

RELATIVE, ABSOLUTE = 1e-7, 1e-11
"""Rounding of a delta, which is a difference of two probabilities."""

INTERVAL = 2e-2
"""Between the losses of a distribution on a grid: coarse, because delta is compared at the next point of the grid."""

_BISECTIONS = 80
Way = mechanisms.AdjacencyType


class _Noise:
    options: Mapping[str, Any] = {}
    """Further arguments of the constructors of its losses."""


class Gaussian(_Noise):
    """Gaussian noise of a standard deviation."""

    discrete = False
    made = mechanisms.GaussianPrivacyLoss

    def __init__(self, scale):
        self.scale, self.reach = scale, 40 * scale

    def log_cdf(self, x):
        """Return the logarithm of the distribution function."""
        return special.log_ndtr(np.asarray(x) / self.scale)

    def log_density(self, x):
        """Return the logarithm of the density, up to a constant."""
        return -0.5 * (x / self.scale) ** 2


class Laplace(_Noise):
    """Laplace noise of a scale."""

    discrete = False
    made = mechanisms.LaplacePrivacyLoss

    def __init__(self, scale):
        self.scale, self.reach = scale, 40 * scale

    def log_cdf(self, x):
        """Return the logarithm of the distribution function."""
        x = np.asarray(x, dtype=float) / self.scale
        return np.where(x < 0, np.minimum(x, 0) - math.log(2), np.log1p(-0.5 * np.exp(-np.maximum(x, 0))))

    def log_density(self, x):
        """Return the logarithm of the density, up to a constant."""
        return -abs(x) / self.scale


class DiscreteLaplace(_Noise):
    """Discrete Laplace noise of a scale."""

    discrete = True
    made = mechanisms.DiscreteLaplacePrivacyLoss

    def __init__(self, scale):
        self.scale, self.reach = 1 / scale, math.ceil(40 * scale)  # the library counts in reciprocals

    def log_cdf(self, x):
        """Return the logarithm of the distribution function."""
        a, x = self.scale, np.floor(np.asarray(x, dtype=float))
        below = a * np.minimum(x, 0) - np.log1p(np.exp(-a))
        return np.where(x < 0, below, np.log1p(-np.exp(-a * (np.maximum(x, 0) + 1)) / (1 + np.exp(-a))))

    def log_density(self, x):
        """Return the logarithm of the probability of an integer."""
        return -self.scale * abs(x) + math.log(math.tanh(self.scale / 2))


class DiscreteGaussian(_Noise):
    """Discrete Gaussian noise within a bound: an outcome beyond the end of the noise reveals the input."""

    discrete = True
    made = mechanisms.DiscreteGaussianPrivacyLoss

    def __init__(self, scale, bound=None):
        self.scale, self.reach = scale, bound or math.ceil(11.6 * scale)
        self.options = {"truncation_bound": bound} if bound else {}
        self.support = np.arange(-self.reach, self.reach + 1)
        weights = np.exp(-0.5 * (self.support / scale) ** 2)
        self.masses, self.log_total = weights / weights.sum(), math.log(weights.sum())

    def log_cdf(self, x):
        """Return the logarithm of the distribution function."""
        x = np.floor(np.asarray(x, dtype=float))
        with np.errstate(divide="ignore"):
            return np.log([min(self.masses[self.support <= y].sum(), 1.0) for y in np.atleast_1d(x)]).reshape(x.shape)

    def log_density(self, x):
        """Return the logarithm of the probability of an integer."""
        if abs(x) > self.reach:
            return -math.inf
        return -0.5 * (x / self.scale) ** 2 - self.log_total


class _Mixture:
    """Noise that is shifted by one of several amounts, with these chances."""

    def __init__(self, noise, shifts, chances):
        self.noise, self.shifts, self.chances = noise, shifts, chances

    def log_cdf(self, x):
        terms = [math.log(c) + self.noise.log_cdf(np.asarray(x) - s) for s, c in zip(self.shifts, self.chances)]
        return special.logsumexp(terms, axis=0)

    def log_density(self, x):
        terms = [math.log(c) + self.noise.log_density(x - s) for s, c in zip(self.shifts, self.chances)]
        most = max(terms)
        return most if most == -math.inf else most + math.log(math.fsum(math.exp(term - most) for term in terms))


class Pair:
    """The two distributions of a mechanism: the loss of the first against the second falls along the line."""

    def __init__(self, noise, upper, lower):
        self.noise = noise
        self.upper, self.lower = (_Mixture(noise, *parts) for parts in (upper, lower))
        self.reach = noise.reach + max(map(abs, (*upper[0], *lower[0])))

    def loss(self, x):
        """Return the logarithm of the ratio of the two densities."""
        return self.upper.log_density(x) - self.lower.log_density(x)

    def delta(self, epsilon):
        """Return the largest difference in mass."""
        if self.noise.discrete:
            pairs = [
                (self.upper.log_density(x), self.lower.log_density(x)) for x in range(-self.reach, self.reach + 1)
            ]
            return math.fsum(max(math.exp(a) - math.exp(epsilon + b), 0.0) for a, b in pairs if a > -math.inf)
        low, high = -self.reach, self.reach
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            low, high = (middle, high) if self.loss(middle) >= epsilon else (low, middle)
        return max(math.exp(self.upper.log_cdf(low)) - math.exp(epsilon + self.lower.log_cdf(low)), 0.0)


def pair_of(noise, way, sensitivity, rate):
    """Return the distributions as the library documents them for its three kinds of neighbours."""
    still = ((0.0,), (1.0,))

    def moved(by):
        return ((by,), (1.0,)) if rate == 1 else ((0.0, by), (1 - rate, rate))

    return Pair(
        noise,
        still if way is Way.ADD else moved(-sensitivity),
        still if way is Way.REMOVE else moved(sensitivity),
    )


def near_exact(value, other, slack=0.0):
    """Return a comparison with a probability, a loss or a delta, which may be infinite."""
    if math.isinf(other):
        return other, value, other
    allowed = RELATIVE * abs(other) + ABSOLUTE + slack
    return other - allowed, value, other + allowed


def drawn(random, kind):
    """Return noise, a sensitivity that is rarely 1, and a rate; two of three discrete Gaussian noises have a bound."""
    scale = math.exp(random.uniform(math.log(0.5), math.log(4)))
    sensitivity = random.randint(1, 4) if kind.discrete else random.uniform(0.3, 3)
    noise = kind(scale)
    if kind is DiscreteGaussian and random.random() < 2 / 3:
        least = math.ceil(sensitivity / 2)
        noise = kind(scale, bound=random.randint(least, least + math.ceil(3 * scale)))
    return noise, sensitivity, random.choice([1.0, random.uniform(0.05, 0.95)])


def places_drawn(random, pair):
    """Return places where the noise has most of its mass: all of them if it has a bound."""
    spread = pair.reach if pair.noise.options else 0.1 * pair.reach
    places = [random.uniform(-spread, spread) for _ in range(4)]
    return [round(place) for place in places] if pair.noise.discrete else places


def levels_drawn(random):
    """Return ascending levels; far below 0 a delta is the whole mass."""
    return [-30.0, -random.uniform(0, 1), 0.0, *sorted(random.uniform(0, 2.5) for _ in range(2))]


def enclosed(words, losses, pairs, levels, *, pessimistic=True, lost=0.0):
    """Compare the curve of losses on a grid with the exact curve there and one interval aside."""
    together = losses.get_delta_for_epsilon(levels)
    for level, found, alone in zip(levels, together, [losses.get_delta_for_epsilon(level) for level in levels]):
        exact, aside = (
            max(pair.delta(at) for pair in pairs)
            for at in (level, level - INTERVAL if pessimistic else level + INTERVAL)
        )
        low, high = (exact, aside + lost) if pessimistic else (aside - lost, exact)
        for value in (found, alone):
            yield (
                f"{words}.get_delta_for_epsilon({level!r})",
                low * (1 - RELATIVE) - ABSOLUTE,
                float(value),
                high * (1 + RELATIVE) + 1e-9,
            )


def tails(words, found, pair, mass, *, pessimistic):
    """Compare the tails of a loss with the mass beyond their ends, of which each has at most this one.

    Rounded up, what lies below the lower end has no finite loss; rounded down, what lies above the upper end is lost.
    """
    low, high = found.lower_x_truncation, found.upper_x_truncation
    below, above = math.exp(pair.upper.log_cdf(low)), -math.expm1(pair.upper.log_cdf(high))
    exact = {math.inf: below, pair.loss(high): above} if pessimistic else {pair.loss(low): below}
    yield f"{words}, tails", len(exact), len(found.tail_probability_mass_function), len(exact)
    both = (sorted(each.items()) for each in (found.tail_probability_mass_function, exact))
    for (at, part), (loss, chance) in zip(*both):
        yield (f"{words}, loss of a tail", *near_exact(float(at), loss))
        yield (f"{words}, mass of the tail with loss {at!r}", *near_exact(float(part), chance))
    yield f"{words}, mass below {low!r}", 0.0, below, mass * (1 + RELATIVE)
    yield f"{words}, mass above {high!r}", 0.0, above, mass * (1 + RELATIVE)
