"""Exact relations of the privacy losses of prv-accountant: distributions, grids and convolutions.

The reference is the pair of distributions of each mechanism, and sums over a few probabilities.
"""

from __future__ import annotations

import math

import numpy as np
from prv_accountant import composers, discretisers
from prv_accountant import privacy_random_variables as variables
from prv_accountant.discrete_privacy_random_variable import DiscretePrivacyRandomVariable
from prv_accountant.domain import Domain
from scipy import integrate, optimize

from dpassay.adapter import Relations, understates
from dpassay.impl.libraries.references import (
    gaussian_delta,
    near,
    normal_cdf,
    sampled_gaussian_divergence,
)

__all__ = ["Gaussian", "relations"]

_ROUNDING = 1e-9


# --- the losses of the mechanisms ---------------------------------------------------------------------------


class _Sampled:
    """A Gaussian mechanism on a sample."""

    def __init__(self, random):
        self.sigma, self.rate = random.uniform(0.7, 3), random.uniform(0.05, 0.9)
        self.made = variables.PoissonSubsampledGaussianMechanism(self.rate, self.sigma)
        self.least, self.most = math.log1p(-self.rate), math.inf
        self.words = f"PoissonSubsampledGaussianMechanism({self.rate!r}, {self.sigma!r})"

    def place(self, loss):
        return self.sigma**2 * math.log((math.exp(loss) - 1 + self.rate) / self.rate) + 0.5

    def cdf(self, loss):
        if loss <= self.least:
            return 0.0
        x = self.place(loss)
        return (1 - self.rate) * normal_cdf(x / self.sigma) + self.rate * normal_cdf((x - 1) / self.sigma)

    def pdf(self, loss):
        if loss <= self.least:
            return 0.0
        x, sigma = self.place(loss), self.sigma
        normal = lambda y: math.exp(-0.5 * (y / sigma) ** 2) / (sigma * math.sqrt(2 * math.pi))  # noqa: E731  # a formula
        slope = sigma**2 * math.exp(loss) / (math.exp(loss) - 1 + self.rate)
        return ((1 - self.rate) * normal(x) + self.rate * normal(x - 1)) * slope

    def delta(self, epsilon):
        if epsilon <= self.least:
            return -math.expm1(epsilon)
        return 1 - self.cdf(epsilon) - math.exp(epsilon) * normal_cdf(-self.place(epsilon) / self.sigma)

    def rdp(self, order):
        return sampled_gaussian_divergence(self.sigma, self.rate, order)


class Gaussian:
    """A Gaussian mechanism of the library, with its parameters, and what it loses by formulas."""

    def __init__(self, random):
        self.sigma, norm = random.uniform(0.7, 3), random.choice([1.0, random.uniform(0.5, 2)])
        self.made = variables.GaussianMechanism(self.sigma * norm, norm)
        self.least, self.most, self.pdf = -math.inf, math.inf, None
        self.words = f"GaussianMechanism({self.sigma * norm!r}, {norm!r})"

    def cdf(self, loss):
        """Return the probability of at most a loss."""
        return normal_cdf(loss * self.sigma - 0.5 / self.sigma)

    def delta(self, epsilon):
        """Return delta at an epsilon."""
        return gaussian_delta(self.sigma, epsilon)

    def rdp(self, order):
        """Return the Renyi divergence of an order."""
        return order / (2 * self.sigma**2)


class _Laplace:
    def __init__(self, epsilon):
        self.epsilon = epsilon
        self.made = variables.LaplaceMechanism(self.epsilon)
        self.least, self.most, self.pdf = -self.epsilon, self.epsilon, None
        self.words = f"LaplaceMechanism({self.epsilon!r})"

    def cdf(self, loss):
        if loss >= self.epsilon:
            return 1.0
        return 0.5 * math.exp((loss - self.epsilon) / 2) if loss > -self.epsilon else 0.0

    def delta(self, epsilon):
        return max(-math.expm1((epsilon - self.epsilon) / 2), 0.0)

    def rdp(self, order):
        a, e = order, self.epsilon
        return math.log((a * math.exp((a - 1) * e) + (a - 1) * math.exp(-a * e)) / (2 * a - 1)) / (a - 1)


class _Response:
    """Pure privacy at its worst; with a leak if it is approximate. Its divergence is known to be understated."""

    def __init__(self, random):
        self.epsilon, self.leak = random.uniform(0.3, 2), random.choice([0.0, random.uniform(0, 0.1)])
        make = variables.ApproximateDPMechanism if self.leak else variables.PureDPMechanism
        arguments = (self.epsilon, self.leak) if self.leak else (self.epsilon,)
        self.made, self.words = make(*arguments), f"{make.__name__}{arguments}"
        self.least, self.most, self.pdf, self.rdp = -self.epsilon, self.epsilon, None, None

    def cdf(self, loss):
        if loss >= self.epsilon:
            return 1.0
        return 1 / (1 + math.exp(self.epsilon)) if loss >= -self.epsilon else 0.0


def _laplace(random):
    return _Laplace(random.uniform(0.3, 2))


_MECHANISMS = (_Sampled, Gaussian, _laplace, _Response)


def _losses(random):
    for kind in _MECHANISMS:
        mechanism = kind(random)
        low, high = max(mechanism.least, -3.0), min(mechanism.most, 3.0)
        levels = [low - 0.3, *sorted(random.uniform(low, high) for _ in range(4)), 0.0, high + 0.3]
        with np.errstate(all="ignore"):
            for name, exact in (("cdf", mechanism.cdf), ("pdf", mechanism.pdf)):
                if exact is None:
                    continue
                for level, found in zip(levels, getattr(mechanism.made, name)(np.array(levels))):
                    yield (f"{mechanism.words}.{name}({level!r})", *near(found, exact(level), 1e-8))
            a, b = levels[1], levels[-1]
            exact = mechanism.cdf(b) - mechanism.cdf(a)
            yield (
                f"{mechanism.words}.probability({a!r}, {b!r})",
                *near(mechanism.made.probability(a, b), exact, 1e-8),
            )
        if mechanism.rdp is not None:
            for order in (1.3, 2.0, 2.6, 5.0):
                yield (
                    f"{mechanism.words}.rdp({order})",
                    *near(mechanism.made.rdp(order), mechanism.rdp(order), 1e-6),
                )
        leak = getattr(mechanism, "leak", 0.0)
        yield (f"{mechanism.words}.pm_inf", *near(mechanism.made.pm_inf, leak))
    for rate, exact in ((0.0, 0.0), (1.0, 3.0 / (2 * 1.7**2))):
        found = variables.PoissonSubsampledGaussianMechanism(rate, 1.7).rdp(3.0)
        yield (f"a sample of rate {rate}, divergence", *near(found, exact))


def _truncated(random):
    for kind in _MECHANISMS:
        mechanism = kind(random)
        low, high = (
            max(mechanism.least, -4.0) * random.uniform(0.3, 0.9),
            random.uniform(0.3, 1) * min(mechanism.most, 3),
        )
        found = variables.PrivacyRandomVariableTruncated(mechanism.made, low, high)
        below, mass = mechanism.cdf(low), mechanism.cdf(high) - mechanism.cdf(low)
        if mass < 1e-3:
            continue
        words = f"{mechanism.words}, truncated to {low!r}, {high!r}"
        inner = lambda t, m=mechanism, a=low, b=high: m.cdf(min(max(t, a), b))  # noqa: E731  # a formula
        for a, b in ((low - 0.2, 0.1), (-0.05, high + 0.2), (low / 2, high / 2), (low - 1, high + 1)):
            exact = (inner(b) - inner(a)) / mass
            yield (f"{words}, probability({a!r}, {b!r})", *near(found.probability(a, b), exact, 1e-8))
        for level in (low - 0.1, low / 2, 0.0, high / 2, high + 0.1):
            # the library leaves out the subtraction of what lies below
            exact = 0.0 if level < low else (mechanism.cdf(level) - below) / mass if level < high else 1.0
            slack = below / mass if low <= level < high else 0.0
            yield f"{words}, cdf({level!r})", exact - 1e-9, float(found.cdf(level)), exact + slack + 1e-9
            if mechanism.pdf is not None:
                with np.errstate(all="ignore"):
                    density = mechanism.pdf(level) / mass if low <= level < high else 0.0
                    yield (f"{words}, pdf({level!r})", *near(found.pdf(level), density, 1e-8))
        yield (f"{words}, pm_inf", *near(found.pm_inf, getattr(mechanism, "leak", 0.0)))


def _means(random):
    """Check the mean of losses on a wide domain.

    The library integrates the distribution from the lower end to -0.1 in one piece, and may miss the part above its
    least loss if that lies near -0.1. Its mean is then larger by that part, on the safe side.
    """
    for kind in (_Sampled, Gaussian):
        yield from _mean_of(kind(random))


def _means_across_jumps(random):
    """Check the mean of losses whose distribution jumps, which an integral across the jump may miss."""
    yield from _mean_of(_laplace(random))


_ABOVE_A_TENTH = 0.1134
"""The integral that begins at 0.1 has its first point beyond this jump."""


def _mean_above_a_tenth(_):
    """Check the mean where the integral is sure to miss the jump, so that the known finding appears in every run."""
    yield from _mean_of(_Laplace(_ABOVE_A_TENTH))


def _mean_of(mechanism):
    """Compare a mean with the area above the distribution."""
    reach = 3 + 12 / getattr(mechanism, "sigma", 1.0)
    found = variables.PrivacyRandomVariableTruncated(mechanism.made, -reach, reach).mean()
    ends = (max(mechanism.least, -reach), min(mechanism.most, reach))
    area, _ = integrate.quad(mechanism.cdf, *ends, limit=500, points=[0.0])
    exact = ends[1] - area
    missed = integrate.quad(mechanism.cdf, mechanism.least, -0.1)[0] if -0.3 < mechanism.least < -0.1 else 0.0
    low, value, high = near(found, exact, 1e-5, 1e-5)
    yield f"{mechanism.words}, mean", low, value, high + missed


# --- losses on a grid ---------------------------------------------------------------------------------------


class _Few:
    """A few losses near 0 with probabilities, on a grid that is wide enough for their sums, and a leak."""

    def __init__(self, random):
        self.grid = Domain.create_aligned(-10.0, 10.0, 0.05).shift_right(random.uniform(-0.02, 0.02))
        size = len(self.grid)
        places = random.sample(range(size // 2 - 8, size // 2 + 12), random.randint(3, 6))
        weights = [random.random() + 0.05 for _ in places]
        self.masses = np.zeros(size)
        for place, weight in zip(places, weights):
            self.masses[place] = weight / sum(weights)
        self.leak = random.choice([0.0, random.uniform(0, 0.01)])
        self.losses = DiscretePrivacyRandomVariable(self.masses, self.grid, math.log1p(-self.leak))
        self.pairs = [(float(self.grid.ts()[k]), float(self.masses[k])) for k in places]


def _sums(pairs, others):
    return [(one + two, p * q) for one, p in pairs for two, q in others]


def _delta(pairs, epsilon, leak=0.0):
    return leak + (1 - leak) * math.fsum(p * -math.expm1(min(epsilon - loss, 0.0)) for loss, p in pairs)


def _epsilon(pairs, delta):
    """Return the epsilon with this delta, of either sign."""
    low, high = min(loss for loss, _ in pairs) - 20, max(loss for loss, _ in pairs)
    return optimize.brentq(lambda e: _delta(pairs, e) - delta, low, high, xtol=1e-13)


def _grids(random):
    low, high, step = -random.uniform(1, 5), random.uniform(1, 5), random.uniform(0.01, 0.3)
    grid = Domain.create_aligned(low, high, step)
    words = f"Domain.create_aligned({low!r}, {high!r}, {step!r})"
    yield f"{words}, lower end", low - step * (1 + _ROUNDING), grid.t_min(), low
    yield f"{words}, upper end", high, grid.t_max(), high + 2 * step * (1 + _ROUNDING)
    yield (f"{words}, step", *near(grid.dt(), step, 1e-7))
    yield f"{words}, evenly many points", 0.0, float(len(grid) % 2), 0.0
    yield f"{words}, as many as it says", float(len(grid)), float(len(grid.ts())), float(len(grid))
    yield f"{words}, zero is a point", 0.0, float(np.min(np.abs(grid.ts()))), step * 1e-6
    moved = grid.shift_right(0.7 * step).shift_left(0.2 * step)
    for place in (0, 1, len(grid) - 1):
        yield (f"{words}, point {place}", *near(grid[place], grid.t_min() + place * step, 1e-7, 1e-7))
        yield (
            f"{words}, point {place}, moved",
            *near(float(moved.ts()[place]), float(grid.ts()[place]) + 0.5 * step),
        )
    yield (f"{words}, shifts", *near(moved.shifts(), 0.5 * step))
    yield f"{words}, equal to itself", 1.0, float(grid == Domain.create_aligned(low, high, step)), 1.0
    yield f"{words}, not equal when moved", 0.0, float(grid == moved), 0.0


def _numbers(random):
    """Check the three epsilons and estimates of delta; the upper epsilon is the one that is a bound."""
    few = _Few(random)
    error, slack = random.choice([0.0, random.uniform(0, 0.02)]), random.uniform(0, 0.1)
    for delta in (random.uniform(0.05, 0.3), 0.03 + error + few.leak):
        finite = (delta - few.leak) / (1 - few.leak)
        exact = (
            _epsilon(few.pairs, finite + error) - slack,
            _epsilon(few.pairs, finite),
            _epsilon(few.pairs, finite - error) + slack,
        )
        for name, value, one in zip(
            ("lower", "estimate", "upper"), few.losses.compute_epsilon(delta, error, slack), exact
        ):
            words = f"{few.pairs!r}, leak {few.leak!r}, {name} epsilon at {delta!r} with {error!r}, {slack!r}"
            found = (words, *near(value, one, 1e-8))
            yield understates(found) if name == "upper" else found
    infinite = few.losses.compute_epsilon(few.leak / 2, 0.0, 0.0)[2]
    yield understates(("epsilon below the leak", math.inf, infinite, math.inf))
    for level in (-0.1, 0.0, 0.11, 0.3):
        exact = _delta(few.pairs, level, few.leak)
        yield (
            f"{few.pairs!r}, leak {few.leak!r}, delta at {level}",
            *near(few.losses.compute_delta_estimate(level), exact),
        )


def _convolutions(random):
    """Composed losses on a grid are the sums of the losses."""
    some = [_Few(random) for _ in range(random.randint(2, 5))]
    counts = [random.randint(1, 3) for _ in some]
    one, two = some[:2]
    every = (
        ("twice", composers.Fourier([one.losses]), [2], _sums(one.pairs, one.pairs), [one, one]),
        ("thrice", composers.Fourier([one.losses]), [3], _sums(one.pairs, _sums(one.pairs, one.pairs)), [one] * 3),
        ("both", composers.ConvolutionTree([one.losses, two.losses]), [1, 1], _sums(one.pairs, two.pairs), [one, two]),
        (
            "1 and 2 times",
            composers.Heterogeneous([one.losses, two.losses]),
            [1, 2],
            _sums(one.pairs, _sums(two.pairs, two.pairs)),
            [one, two, two],
        ),
    )
    for words, composer, times, pairs, parts in every:
        found = composer.compute_composition(times)
        leak = 1 - math.prod(1 - part.leak for part in parts)
        for level in (-0.2, 0.0, 0.13, 0.4):
            exact = _delta(pairs, level, leak)
            about = f"{words}: {[(few.pairs, few.leak) for few in some[:2]]!r}, delta at {level}"
            yield (about, *near(found.compute_delta_estimate(level), exact))
    found = composers.Heterogeneous([few.losses for few in some]).compute_composition(counts)
    mean = math.fsum(n * _moment(few.pairs, 1) for few, n in zip(some, counts))
    spread = math.fsum(n * (_moment(few.pairs, 2) - _moment(few.pairs, 1) ** 2) for few, n in zip(some, counts))
    masses = list(zip(map(float, found.domain.ts()), map(float, found.pmf)))
    words = f"{counts} times {[few.pairs for few in some]!r}"
    yield (f"{words}, mass", *near(math.fsum(p for _, p in masses), 1.0))
    yield (f"{words}, mean", *near(_moment(masses, 1), mean, 1e-8, 1e-9))
    yield (f"{words}, variance", *near(_moment(masses, 2) - _moment(masses, 1) ** 2, spread, 1e-7))
    leak = 1 - math.prod((1 - few.leak) ** n for few, n in zip(some, counts))
    yield (f"{words}, leak", *near(1 - math.exp(found.log_pmc_inf), leak))


_LEAST_MEAN = 1.01
"""More than 1 by more than any rounding."""


def _costly(random):
    """Return losses whose mean of e^loss is above 1, as that of every mechanism is: without them it is smaller."""
    while True:
        few = _Few(random)
        if math.fsum(p * math.exp(loss) for loss, p in few.pairs) > _LEAST_MEAN:
            return few


def _again(random):
    """Check that two to five losses that are composed again are the same sums, by the mean of e^loss."""
    for number in (2, 3, 4, 5):
        some = [_costly(random) for _ in range(number)]
        composer = composers.ConvolutionTree([few.losses for few in some])
        exact = math.prod(math.fsum(p * math.exp(loss) for loss, p in few.pairs) for few in some)
        for turn in ("once", "again"):
            found = composer.compute_composition([1] * number)
            mean = float(np.dot(found.pmf, np.exp(found.domain.ts())))
            words = f"ConvolutionTree of {[few.pairs for few in some]!r}, composed {turn}, mean of e^loss"
            yield (words, *near(mean, exact, 1e-8))


def _moment(pairs, power):
    return math.fsum(p * loss**power for loss, p in pairs)


class _Leaking(variables.PrivacyRandomVariableTruncated):
    """Truncated losses that are infinite with a probability."""

    pm_inf = 0.0  # in place of the property, which cannot be set

    def __init__(self, made, grid, leak):
        super().__init__(made, grid.t_min(), grid.t_max())
        self.pm_inf = leak


def _discretised(random):
    """Losses on a grid keep their mass, of which a part is infinite, and their mean."""
    for kind, discretiser in ((_Sampled, discretisers.CellCentred), (Gaussian, discretisers.LeftNode)):
        mechanism, leak = kind(random), random.uniform(0.01, 0.05)
        reach = 12 / mechanism.sigma + 4
        grid = Domain.create_aligned(-reach, reach, 0.01)
        losses = _Leaking(mechanism.made, grid, leak)
        with np.errstate(all="ignore"):
            found = discretiser().discretise(losses, grid)
        words = f"{mechanism.words} on a grid by {discretiser.__name__}, leak {leak!r}"
        yield (f"{words}, mass", *near(float(np.sum(found.pmf)), 1.0, 1e-8))
        yield (f"{words}, mass of infinity", *near(1 - math.exp(found.log_pmc_inf), leak))
        yield (f"{words}, mean", *near(float(np.dot(found.pmf, found.domain.ts())), losses.mean(), 1e-5, 1e-6))
        for level in (0.0, 0.3, 1.0):
            low, high = (leak + (1 - leak) * mechanism.delta(end) for end in (level + 0.02, level - 0.02))
            yield f"{words}, delta at {level}", low - 1e-9, found.compute_delta_estimate(level), high + 1e-9


def relations():
    """Yield the relations."""
    attained = {
        "the mean of losses is the area above their distribution": _means,
        "the mean of losses is that area where their distribution jumps": _means_across_jumps,
        "the mean of losses is that area where they are a little above 0.1": _mean_above_a_tenth,
        "composed losses are sums": _convolutions,
        "losses on a grid keep their mean": _discretised,
    }
    yield Relations(
        "privacy_random_variables",
        {
            **attained,
            "losses have the distribution of their mechanism": _losses,
            "truncated losses are conditioned": _truncated,
            "a grid is even and covers what is asked": _grids,
            "epsilon and delta are those of the probabilities": _numbers,
        },
        understated=attained,
    )
    attained = {"losses that are composed again are the same sums": _again}
    yield Relations("composers.ConvolutionTree", attained, understated=attained)
