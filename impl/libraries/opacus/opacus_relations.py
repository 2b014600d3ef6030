"""Exact relations of the privacy losses of opacus: distributions, grids and convolutions.

The reference is the pair of distributions of a sampled Gaussian mechanism, and sums over a few probabilities.
"""

from __future__ import annotations

import math

import numpy as np
import opacus_without_torch  # noqa: F401  # before the library
from opacus.accountants.analysis.prv import compose, domain, prvs
from scipy import integrate, optimize

from dpassay.adapter import Relations, understates
from dpassay.impl.libraries.references import (
    near,
    normal_cdf,
    sampled_gaussian_divergence,
)

__all__ = ["chance_of_loss", "relations"]

_ROUNDING = 1e-9


# --- the privacy loss of a sampled Gaussian mechanism -------------------------------------------------------


def _place(sigma, rate, loss):
    """Return the outcome at which the sampled mechanism has this loss."""
    return sigma**2 * math.log((math.exp(loss) - 1 + rate) / rate) + 0.5


def chance_of_loss(sigma, rate, loss):
    """Return the probability that the loss is at most this."""
    if loss <= math.log1p(-rate):
        return 0.0
    x = _place(sigma, rate, loss)
    return (1 - rate) * normal_cdf(x / sigma) + rate * normal_cdf((x - 1) / sigma)


def _density(sigma, rate, loss):
    if loss <= math.log1p(-rate):
        return 0.0
    x = _place(sigma, rate, loss)
    normal = lambda y: math.exp(-0.5 * (y / sigma) ** 2) / (sigma * math.sqrt(2 * math.pi))  # noqa: E731  # a formula
    slope = sigma**2 * math.exp(loss) / (math.exp(loss) - 1 + rate)
    return ((1 - rate) * normal(x) + rate * normal(x - 1)) * slope


def _drawn(random):
    return random.uniform(0.7, 3), random.choice([random.uniform(0.05, 0.9), random.uniform(0.3, 0.9)])


def _levels(random, sigma, rate):
    """Return losses of both signs, some of them less than any loss of the mechanism."""
    least = math.log1p(-rate)
    return [least - 0.5, least * random.uniform(0.2, 0.9), 0.0, random.uniform(0.05, 1), random.uniform(1, 3) / sigma]


def _losses(random):
    sigma, rate = _drawn(random)
    losses = prvs.PoissonSubsampledGaussianPRV(rate, sigma)
    levels = _levels(random, sigma, rate)
    with np.errstate(all="ignore"):
        rows = [(losses.cdf, chance_of_loss, "cdf"), (losses.pdf, _density, "pdf")]
        for found, exact, name in rows:
            for level, together in zip(levels, found(np.array(levels))):
                words = f"PoissonSubsampledGaussianPRV({rate!r}, {sigma!r}).{name}({level!r})"
                yield (words, *near(together, exact(sigma, rate, level), 1e-8))
                yield (f"{words}, alone", *near(found(level), exact(sigma, rate, level), 1e-8))
    for order in (2.0, 5.0, 1.5):
        yield (f"rdp({order})", *near(losses.rdp(order), sampled_gaussian_divergence(sigma, rate, order), 1e-6))


def _truncated(random):
    sigma, rate = _drawn(random)
    low, high = -random.uniform(0.1, 1) * 4, random.uniform(0.5, 3)
    losses = prvs.TruncatedPrivacyRandomVariable(prvs.PoissonSubsampledGaussianPRV(rate, sigma), low, high)
    mass = chance_of_loss(sigma, rate, high) - chance_of_loss(sigma, rate, low)
    words = f"rate {rate!r}, noise {sigma!r}, truncated to {low!r}, {high!r}"
    with np.errstate(all="ignore"):
        for level in (low - 0.1, *_levels(random, sigma, rate), high + 0.1):
            inside = low <= level < high
            exact = (
                (chance_of_loss(sigma, rate, level) - chance_of_loss(sigma, rate, low)) / mass
                if inside
                else float(level >= high)
            )
            yield (f"{words}, cdf({level!r})", *near(losses.cdf(level), exact, 1e-8))
            exact = _density(sigma, rate, level) / mass if inside else 0.0
            yield (f"{words}, pdf({level!r})", *near(losses.pdf(level), exact, 1e-8))
        least = max(low, math.log1p(-rate))
        area, _ = integrate.quad(lambda t: chance_of_loss(sigma, rate, t), least, high, limit=500, points=[0.0])
        exact = (high * chance_of_loss(sigma, rate, high) - least * chance_of_loss(sigma, rate, least) - area) / mass
        yield (f"{words}, mean", *near(losses.mean(), exact, 1e-6, 1e-6))


# --- losses on a grid ---------------------------------------------------------------------------------------


class _Few:
    """A few losses near 0 with probabilities, on a grid that is wide enough for their sums."""

    def __init__(self, random):
        self.grid = domain.Domain.create_aligned(-10.0, 10.0, 0.05)
        shift = random.choice([0.0, random.uniform(-0.02, 0.02)])
        self.grid = self.grid.shift_right(shift) if shift else self.grid
        size = self.grid.size
        places = random.sample(range(size // 2 - 8, size // 2 + 12), random.randint(3, 6))
        weights = [random.random() + 0.05 for _ in places]
        self.masses = np.zeros(size)
        for place, weight in zip(places, weights):
            self.masses[place] = weight / sum(weights)
        self.losses = prvs.DiscretePRV(self.masses, self.grid)
        self.pairs = [(float(self.grid.ts[k]), float(self.masses[k])) for k in places]


def _sums(pairs, others):
    return [(one + two, p * q) for one, p in pairs for two, q in others]


def _delta(pairs, epsilon):
    return math.fsum(p * -math.expm1(min(epsilon - loss, 0.0)) for loss, p in pairs)


def _epsilon(pairs, delta):
    """Return the epsilon with this delta, of either sign."""
    low, high = min(loss for loss, _ in pairs) - 20, max(loss for loss, _ in pairs)
    return optimize.brentq(lambda e: _delta(pairs, e) - delta, low, high, xtol=1e-13)


def _grids(random):
    low, high, step = -random.uniform(1, 5), random.uniform(1, 5), random.uniform(0.01, 0.3)
    grid = domain.Domain.create_aligned(low, high, step)
    words = f"Domain.create_aligned({low!r}, {high!r}, {step!r})"
    yield f"{words}, lower end", low - step * (1 + _ROUNDING), grid.t_min, low
    yield f"{words}, upper end", high, grid.t_max, high + 2 * step * (1 + _ROUNDING)
    yield (f"{words}, step", *near(grid.dt, step, 1e-7))
    yield f"{words}, evenly many points", 0.0, float(len(grid.ts) % 2), 0.0
    yield f"{words}, as many as it says", float(grid.size), float(len(grid.ts)), float(grid.size)
    yield f"{words}, zero is a point", 0.0, float(np.min(np.abs(grid.ts))), step * 1e-6
    moved = grid.shift_right(0.3 * step).shift_right(0.2 * step)
    for place in (0, 1, grid.size - 1):
        yield (f"{words}, point {place}", *near(grid[place], grid.t_min + place * step, 1e-7, 1e-7))
        yield (f"{words}, point {place}, moved", *near(moved.ts[place], grid.ts[place] + 0.5 * step))
    yield (f"{words}, shifts", *near(moved.shifts, 0.5 * step))


def _numbers(random):
    """Check the three epsilons and estimates of delta; the upper epsilon is the one that is a bound."""
    few = _Few(random)
    error, slack = random.choice([0.0, random.uniform(0, 0.02)]), random.uniform(0, 0.1)
    for delta in (random.uniform(0.05, 0.3), 0.03 + error):
        for name, value, exact in zip(
            ("lower", "estimate", "upper"),
            few.losses.compute_epsilon(delta, error, slack),
            (
                _epsilon(few.pairs, delta + error) - slack,
                _epsilon(few.pairs, delta),
                _epsilon(few.pairs, delta - error) + slack,
            ),
        ):
            words = f"{few.pairs!r}, {name} epsilon at {delta!r} with {error!r}, {slack!r}"
            found = (words, *near(value, exact, 1e-8))
            yield understates(found) if name == "upper" else found
    yield understates(("epsilon at no delta", math.inf, few.losses.compute_epsilon(0.0, 0.0, 0.0)[2], math.inf))
    for level in (-0.1, 0.0, 0.11, 0.3):
        exact = _delta(few.pairs, level)
        yield (f"{few.pairs!r}, delta at {level}", *near(few.losses.compute_delta_estimate(level), exact))


def _convolutions(random):
    """Composed losses on a grid are the sums of the losses."""
    some = [_Few(random) for _ in range(random.randint(2, 5))]
    counts = [random.randint(1, 3) for _ in some]
    parts = some[:1]
    for words, found, pairs in (
        ("twice", compose._compose_two(some[0].losses, some[1].losses), _sums(some[0].pairs, some[1].pairs)),
        (
            "thrice",
            compose._compose_fourier(some[0].losses, 3),
            _sums(some[0].pairs, _sums(some[0].pairs, some[0].pairs)),
        ),
    ):
        yield from _same(f"{words}: {[few.pairs for few in some[:2]]!r}", found, pairs)
    found = compose.compose_heterogeneous([few.losses for few in some], counts)
    # the sum of all is compared by its first two moments, because it has very many values
    mean = math.fsum(n * _moment(few.pairs, 1) for few, n in zip(some, counts))
    spread = math.fsum(n * (_moment(few.pairs, 2) - _moment(few.pairs, 1) ** 2) for few, n in zip(some, counts))
    masses = list(zip(map(float, found.domain.ts), map(float, found.pmf)))
    words = f"{counts} times {[few.pairs for few in some]!r}"
    yield (f"{words}, mass", *near(math.fsum(p for _, p in masses), 1.0))
    yield (f"{words}, mean", *near(_moment(masses, 1), mean, 1e-8, 1e-9))
    yield (f"{words}, variance", *near(_moment(masses, 2) - _moment(masses, 1) ** 2, spread, 1e-7))
    two = compose.compose_heterogeneous([few.losses for few in parts], [2])
    yield from _same(f"2 times {parts[0].pairs!r}", two, _sums(parts[0].pairs, parts[0].pairs))


def _moment(pairs, power):
    return math.fsum(p * loss**power for loss, p in pairs)


def _same(words, found, pairs):
    for level in (-0.2, 0.0, 0.13, 0.4):
        yield (f"{words}, delta at {level}", *near(found.compute_delta_estimate(level), _delta(pairs, level)))


def _discretised(random):
    sigma, rate = _drawn(random)
    reach = 12 / sigma + 4
    grid = domain.Domain.create_aligned(-reach, reach, 0.01)
    losses = prvs.TruncatedPrivacyRandomVariable(
        prvs.PoissonSubsampledGaussianPRV(rate, sigma), grid.t_min, grid.t_max
    )
    with np.errstate(all="ignore"):
        found = prvs.discretize(losses, grid)
    words = f"rate {rate!r}, noise {sigma!r} on a grid"
    yield (f"{words}, mass", *near(float(np.sum(found.pmf)), 1.0, 1e-8))
    mean = float(np.dot(found.pmf, found.domain.ts))
    yield (f"{words}, mean", *near(mean, losses.mean(), 1e-6, 1e-8))
    for level in (0.0, 0.3, 1.0):
        exact = _sampled_delta(sigma, rate, level)
        low, high = _sampled_delta(sigma, rate, level + 0.02), _sampled_delta(sigma, rate, level - 0.02)
        yield (
            f"{words}, delta at {level}, exactly {exact!r}",
            low - 1e-9,
            float(found.compute_delta_estimate(level)),
            high + 1e-9,
        )


def _sampled_delta(sigma, rate, epsilon):
    """Return delta where the record is in the first of the two data sets."""
    if epsilon <= math.log1p(-rate):
        return -math.expm1(epsilon)
    x = _place(sigma, rate, epsilon)
    return 1 - chance_of_loss(sigma, rate, epsilon) - math.exp(epsilon) * normal_cdf(-x / sigma)


def relations():
    """Yield the relations."""
    attained = {
        "composed losses are sums": _convolutions,
        "losses on a grid keep their mean": _discretised,
    }
    yield Relations(
        "analysis.prv, losses",
        {
            **attained,
            "the loss of a sampled Gaussian mechanism has its distribution": _losses,
            "truncated losses are conditioned": _truncated,
            "a grid is even and covers what is asked": _grids,
            "epsilon and delta are those of the probabilities": _numbers,
        },
        understated=attained,
    )
