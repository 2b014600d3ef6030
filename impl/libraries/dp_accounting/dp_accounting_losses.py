"""Exact relations of the privacy losses of dp-accounting: distributions, losses, their inverses, and curves of delta.

The reference is the pair of distributions as documented, with the noise computed anew: a delta is the largest
difference in mass over thresholds (or the sum over integers), because the loss falls along the line.
"""

from __future__ import annotations

import itertools
import math

import dp_accounting as dp
import numpy as np
from dp_accounting import pld
from dp_accounting.pld import privacy_loss_mechanism as mechanisms
from scipy import special

from dpassay.adapter import Relations

__all__ = ["loss_relations"]

_RELATIVE, _ABSOLUTE = 1e-7, 1e-11
"""Rounding of a delta, which is a difference of two probabilities."""

_INTERVAL = 2e-2
"""Between the losses of a distribution on a grid: coarse, because delta is compared at the next point of the grid."""

_BISECTIONS = 80
_distributions = pld.privacy_loss_distribution
_Way = mechanisms.AdjacencyType


class _Gaussian:
    discrete = False
    made = mechanisms.GaussianPrivacyLoss

    def __init__(self, scale):
        self.scale, self.reach = scale, 40 * scale

    def log_cdf(self, x):
        return special.log_ndtr(np.asarray(x) / self.scale)

    def log_density(self, x):
        return -0.5 * (x / self.scale) ** 2


class _Laplace:
    discrete = False
    made = mechanisms.LaplacePrivacyLoss

    def __init__(self, scale):
        self.scale, self.reach = scale, 40 * scale

    def log_cdf(self, x):
        x = np.asarray(x, dtype=float) / self.scale
        return np.where(x < 0, np.minimum(x, 0) - math.log(2), np.log1p(-0.5 * np.exp(-np.maximum(x, 0))))

    def log_density(self, x):
        return -abs(x) / self.scale


class _DiscreteLaplace:
    discrete = True
    made = mechanisms.DiscreteLaplacePrivacyLoss

    def __init__(self, scale):
        self.scale, self.reach = 1 / scale, math.ceil(40 * scale)  # the library counts in reciprocals

    def log_cdf(self, x):
        a, x = self.scale, np.floor(np.asarray(x, dtype=float))
        below = a * np.minimum(x, 0) - np.log1p(np.exp(-a))
        return np.where(x < 0, below, np.log1p(-np.exp(-a * (np.maximum(x, 0) + 1)) / (1 + np.exp(-a))))

    def log_density(self, x):
        return -self.scale * abs(x) + math.log(math.tanh(self.scale / 2))


class _DiscreteGaussian:
    discrete = True
    made = mechanisms.DiscreteGaussianPrivacyLoss

    def __init__(self, scale):
        self.scale, self.reach = scale, math.ceil(11.6 * scale)
        self.support = np.arange(-self.reach, self.reach + 1)
        weights = np.exp(-0.5 * (self.support / scale) ** 2)
        self.masses, self.log_total = weights / weights.sum(), math.log(weights.sum())

    def log_cdf(self, x):
        x = np.floor(np.asarray(x, dtype=float))
        with np.errstate(divide="ignore"):
            return np.log([min(self.masses[self.support <= y].sum(), 1.0) for y in np.atleast_1d(x)]).reshape(x.shape)

    def log_density(self, x):
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


class _Pair:
    """The two distributions of a mechanism: the loss of the first against the second falls along the line."""

    def __init__(self, noise, upper, lower):
        self.noise = noise
        self.upper, self.lower = (_Mixture(noise, *parts) for parts in (upper, lower))
        self.reach = noise.reach + max(map(abs, (*upper[0], *lower[0])))

    def loss(self, x):
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


def _pair(noise, way, sensitivity, rate):
    """Return the distributions as the library documents them for its three kinds of neighbours."""
    still = ((0.0,), (1.0,))

    def moved(by):
        return ((by,), (1.0,)) if rate == 1 else ((0.0, by), (1 - rate, rate))

    return _Pair(
        noise,
        still if way is _Way.ADD else moved(-sensitivity),
        still if way is _Way.REMOVE else moved(sensitivity),
    )


def _near(value, other, slack=0.0):
    if math.isinf(other):
        return other, value, other
    allowed = _RELATIVE * abs(other) + _ABSOLUTE + slack
    return other - allowed, value, other + allowed


def _drawn(random, kind):
    """Return noise, a sensitivity that is rarely 1, and a rate."""
    noise = kind(math.exp(random.uniform(math.log(0.5), math.log(4))))
    sensitivity = random.randint(1, 4) if noise.discrete else random.uniform(0.3, 3)
    return noise, sensitivity, random.choice([1.0, random.uniform(0.05, 0.95)])


def _made(random, kind):
    """Yield a loss of the library in every way that it knows, and its pair of distributions."""
    noise, sensitivity, rate = _drawn(random, kind)
    for way in _Way:
        try:
            loss = kind.made(noise.scale, sensitivity, sampling_prob=rate, adjacency_type=way)
        except NotImplementedError:
            continue
        words = f"{kind.made.__name__}({noise.scale!r}, {sensitivity!r}, sampling_prob={rate!r}, {way})"
        yield words, loss, _pair(noise, way, sensitivity, rate)


def _places(random, pair):
    places = [random.uniform(-0.1, 0.1) * pair.reach for _ in range(4)]
    return [round(place) for place in places] if pair.noise.discrete else places


def _distribution_functions(random, kind):
    for words, loss, pair in _made(random, kind):
        places = [*_places(random, pair), *_ends(pair)]
        for x in (places[0], np.array(places)):
            for name, found, other in (
                ("noise_cdf", loss.noise_cdf(x), np.exp(pair.noise.log_cdf(x))),
                ("noise_log_cdf", loss.noise_log_cdf(x), pair.noise.log_cdf(x)),
                ("mu_upper_cdf", loss.mu_upper_cdf(x), np.exp(pair.upper.log_cdf(x))),
                ("mu_lower_log_cdf", loss.mu_lower_log_cdf(x), pair.lower.log_cdf(x)),
            ):
                for at, one, two in zip(np.atleast_1d(x), np.atleast_1d(found), np.atleast_1d(other)):
                    yield (f"{words}.{name}({at!r})", *_near(float(one), float(two)))


def _losses(random, kind):
    for words, loss, pair in _made(random, kind):
        for x in (*_places(random, pair), *_ends(pair)):
            exact = pair.loss(x)
            if math.isfinite(exact):
                yield (f"{words}.privacy_loss({x!r})", *_near(float(loss.privacy_loss(x)), exact))
            elif not math.isnan(exact):  # neither distribution has this outcome
                yield f"{words}.privacy_loss({x!r})", exact, float(loss.privacy_loss(x)), exact


def _ends(pair):
    """Return the places on both sides of the ends of the two distributions."""
    if pair.noise.reach > 200 or not pair.noise.discrete:
        return []
    ends = {shift + side * pair.noise.reach for side in (-1, 1) for shift in (*pair.upper.shifts, *pair.lower.shifts)}
    return sorted({int(end) + step for end in ends for step in (-1, 0, 1)})


def _inverses(random, kind):
    """Check that the inverse is the largest place at which the loss is at least as large."""
    for words, loss, pair in _made(random, kind):
        for place in _places(random, pair)[:3]:
            level = pair.loss(place)
            if not math.isfinite(level):
                continue
            if pair.noise.discrete:
                # between two losses, neither of which rounding may change
                before = pair.loss(place + 1)
                level = (level + before) / 2 if math.isfinite(before) else level - 1e-9
            x = loss.inverse_privacy_loss(level)
            step = 1 if pair.noise.discrete else 1e-6 * pair.reach
            at = f"{words}.inverse_privacy_loss({level!r})={x!r}"
            if abs(x) < pair.reach:
                # the library takes a loss within a relative 1e-9 of the smallest one for that one
                least = level - 1e-9 * (1 + abs(level))
                yield f"{at}, loss there", least, pair.loss(x), math.inf
                beyond = pair.loss(x + step)
                constant = abs(beyond - pair.loss(x)) < 1e-12  # a Laplace loss is constant on both sides
                yield (
                    f"{at}, loss beyond",
                    -math.inf,
                    beyond if not math.isnan(beyond) else -math.inf,
                    (math.inf if constant else level + 1e-9),
                )


def _levels(random):
    """Return ascending levels; far below 0 a delta is the whole mass."""
    return [-30.0, -random.uniform(0, 1), 0.0, *sorted(random.uniform(0, 2.5) for _ in range(2))]


def _deltas(random, kind):
    for words, loss, pair in _made(random, kind):
        levels = _levels(random)
        for level, found in zip(levels, loss.get_delta_for_epsilon(levels)):
            yield (f"{words}.get_delta_for_epsilon({level!r})", *_near(float(found), pair.delta(level)))
        yield (f"{words}, alone", *_near(float(loss.get_delta_for_epsilon(levels[3])), pair.delta(levels[3])))


def _guarantees(random, kind):
    """Noise that is made for a guarantee gives it; noise that is smaller by a twentieth does not."""
    epsilon, delta = random.uniform(0.2, 3), math.exp(random.uniform(math.log(1e-8), math.log(0.05)))
    _, sensitivity, rate = _drawn(random, kind)
    is_pure = kind in (_Laplace, _DiscreteLaplace)
    target = pld.common.DifferentialPrivacyParameters(epsilon, 0.0 if is_pure else delta)
    loss = kind.made.from_privacy_guarantee(target, sensitivity, sampling_prob=rate)
    scale = loss.parameter if is_pure else loss.standard_deviation
    if kind is _DiscreteGaussian:
        scale = loss._sigma  # its standard deviation is not its parameter
    words = f"{kind.made.__name__}.from_privacy_guarantee({epsilon!r}, {delta!r}, {sensitivity!r}, {rate!r})"
    for factor, suffices in ((1.0, True), (0.95, False)):
        # the discrete Laplace mechanism counts in reciprocals
        noise = kind(1 / (scale * (2 - factor))) if kind is _DiscreteLaplace else kind(scale * factor)
        found = max(_pair(noise, way, sensitivity, rate).delta(epsilon) for way in (_Way.ADD, _Way.REMOVE))
        if suffices:
            yield f"{words}: delta", 0.0, found, target.delta * (1 + 1e-4) + _ABSOLUTE
        else:
            yield f"{words}: delta with less noise", max(target.delta, 1e-9), found, 1.0
    yield f"{words}: its sensitivity", sensitivity, float(loss.sensitivity), sensitivity
    yield f"{words}: its rate", rate, float(loss.sampling_prob), rate
    own = max(float(loss.get_delta_for_epsilon(epsilon)), 0.0)
    yield f"{words}: its own delta", 0.9 * target.delta, own, target.delta * (1 + 1e-4) + _ABSOLUTE


_CONSTRUCTORS = {
    _Gaussian: _distributions.from_gaussian_mechanism,
    _Laplace: _distributions.from_laplace_mechanism,
    _DiscreteLaplace: _distributions.from_discrete_laplace_mechanism,
    _DiscreteGaussian: _distributions.from_discrete_gaussian_mechanism,
}


def _on_a_grid(random, kind):
    """Check that a pessimistic curve lies above the exact one, by at most one interval; an optimistic one below it."""
    noise, sensitivity, rate = _drawn(random, kind)
    pairs = [_pair(noise, way, sensitivity, rate) for way in (_Way.ADD, _Way.REMOVE)]
    for dots, pessimistic in ((True, True), (False, True), (False, False)):
        more, lost = {}, 0.0
        if kind is _Gaussian:
            more["log_mass_truncation_bound"] = random.choice([-50.0, random.uniform(-8, -4)])
            lost = math.exp(more["log_mass_truncation_bound"])
        losses = _CONSTRUCTORS[kind](
            noise.scale,
            sensitivity,
            pessimistic_estimate=pessimistic,
            value_discretization_interval=_INTERVAL,
            use_connect_dots=dots,
            sampling_prob=rate,
            **more,
        )
        words = f"{kind.made.__name__}({noise.scale!r}, {sensitivity!r}, {rate!r}, {dots}, {pessimistic}, {more})"
        yield from _enclosed(words, losses, pairs, _levels(random), pessimistic=pessimistic, lost=lost)


def _enclosed(words, losses, pairs, levels, *, pessimistic=True, lost=0.0):
    """Compare the curve of losses on a grid with the exact curve there and one interval aside."""
    together = losses.get_delta_for_epsilon(levels)
    for level, found, alone in zip(levels, together, [losses.get_delta_for_epsilon(level) for level in levels]):
        exact, aside = (
            max(pair.delta(at) for pair in pairs)
            for at in (level, level - _INTERVAL if pessimistic else level + _INTERVAL)
        )
        low, high = (exact, aside + lost) if pessimistic else (aside - lost, exact)
        for value in (found, alone):
            yield (
                f"{words}.get_delta_for_epsilon({level!r})",
                low * (1 - _RELATIVE) - _ABSOLUTE,
                float(value),
                high * (1 + _RELATIVE) + 1e-9,
            )


def _mixed(random):
    """Return three shifts, of which the first may be none, and their probabilities."""
    shifts = sorted(random.uniform(0, 3) for _ in range(3))
    weights = [random.uniform(0.1, 1) for _ in shifts]
    chances = [weight / sum(weights) for weight in weights]
    chances[-1] = 1 - sum(chances[:-1])
    return [random.choice([0.0, shifts[0]]), *shifts[1:]], chances


def _mixture_pairs(noise, shifts, chances):
    """Return the pairs of a mixture: the record is added, or removed."""
    still = ((0.0,), (1.0,))
    return [_Pair(noise, still, (shifts, chances)), _Pair(noise, ([-shift for shift in shifts], chances), still)]


def _mixtures(random):
    noise = _Gaussian(random.uniform(0.6, 3))
    shifts, chances = _mixed(random)
    pairs = _mixture_pairs(noise, shifts, chances)
    arguments = f"({noise.scale!r}, {shifts!r}, {chances!r})"
    for way, pair in zip((_Way.ADD, _Way.REMOVE), pairs):
        loss = mechanisms.MixtureGaussianPrivacyLoss(noise.scale, shifts, chances, adjacency_type=way)
        words = f"MixtureGaussianPrivacyLoss{arguments}, {way}"
        for x in _places(random, pair):
            yield (f"{words}.privacy_loss({x!r})", *_near(float(loss.privacy_loss(x)), pair.loss(x)))
            yield (
                f"{words}.mu_upper_cdf({x!r})",
                *_near(float(loss.mu_upper_cdf(x)), math.exp(pair.upper.log_cdf(x))),
            )
            yield (f"{words}.mu_lower_log_cdf", *_near(float(loss.mu_lower_log_cdf(x)), float(pair.lower.log_cdf(x))))
        levels = _levels(random)
        for level, found in zip(levels, loss.get_delta_for_epsilon(levels)):
            # its inverse is searched for, up to 1e-6 on the line
            yield (f"{words}.get_delta_for_epsilon({level!r})", *_near(float(found), pair.delta(level), 1e-5))
    yield from _mixtures_on_a_grid(random, noise.scale, shifts, chances, ((True, True),))


def _mixtures_on_a_grid(random, scale, shifts, chances, ways):
    """Check the curves of a mixture on a grid, with connected dots or without, pessimistic or optimistic."""
    pairs = _mixture_pairs(_Gaussian(scale), shifts, chances)
    for dots, pessimistic in ways:
        losses = _distributions.from_mixture_gaussian_mechanism(
            scale,
            shifts,
            chances,
            pessimistic_estimate=pessimistic,
            value_discretization_interval=_INTERVAL,
            use_connect_dots=dots,
        )
        words = f"from_mixture_gaussian_mechanism({scale!r}, {shifts!r}, {chances!r}), {dots}, {pessimistic}"
        yield from _enclosed(words, losses, pairs, _levels(random), pessimistic=pessimistic, lost=1e-6)


def _mixtures_without_dots(random):
    """Check mixtures of shifts without connected dots, one of them always the same."""
    for scale, shifts, chances in ((1.0, [0.5, 1.5, 3.0], [0.4, 0.4, 0.2]), (random.uniform(0.6, 3), *_mixed(random))):
        yield from _mixtures_on_a_grid(random, scale, shifts, chances, ((False, True), (False, False)))


def _truncated_batches(random):
    """Check the delta of batches that may be full: the record is not sampled, or it may displace another one."""
    sigma, rate, size = random.uniform(1, 3), random.uniform(0.1, 0.6), random.randint(4, 12)
    for relation, most in itertools.product(dp.NeighboringRelation, (1, max(1, round(rate * size)), size)):
        ways = [_Way.REPLACE] if relation is dp.NeighboringRelation.REPLACE_ONE else [_Way.ADD, _Way.REMOVE]
        sampled = [_pair(_Gaussian(sigma), way, 1.0, rate) for way in ways]
        words = f"truncated({size}, {rate!r}, {most}, {sigma!r}), {relation}"
        losses = _distributions.from_truncated_subsampled_gaussian_mechanism(
            size, rate, most, sigma, value_discretization_interval=_INTERVAL, neighboring_relation=relation
        )
        # either the record is not sampled, or it or the one that it displaces counts: an exact sum over both events
        full = _chance_of_more(size - 1, rate, most - 1)
        if not full:
            yield from _enclosed(words, losses, sampled, _levels(random))
            continue
        kept = most * _chance_of_more(size, rate, most) / full / size
        replaced = _pair(_Gaussian(sigma / 2), _Way.REPLACE, 1.0, kept)
        for level in _levels(random):
            low, high = (
                (1 - full) * max(pair.delta(at) for pair in sampled) + full * replaced.delta(at)
                for at in (level, level - _INTERVAL)
            )
            yield (
                f"{words}.get_delta_for_epsilon({level!r})",
                low * (1 - _RELATIVE) - _ABSOLUTE,
                float(losses.get_delta_for_epsilon(level)),
                high * (1 + _RELATIVE) + 1e-9,
            )


def _chance_of_more(size, rate, most):
    """Return the chance that more than `most` of `size` records are sampled."""
    return math.fsum(math.comb(size, k) * rate**k * (1 - rate) ** (size - k) for k in range(most + 1, size + 1))


def _replaced(random):
    """One record is replaced: both distributions are sampled."""
    noise, sensitivity, rate = _drawn(random, _Gaussian)
    pair = _pair(noise, _Way.REPLACE, sensitivity, rate)
    for dots in (True, False):
        losses = _distributions.from_gaussian_mechanism(
            noise.scale,
            sensitivity,
            value_discretization_interval=_INTERVAL,
            use_connect_dots=dots,
            sampling_prob=rate,
            neighboring_relation=dp.NeighboringRelation.REPLACE_ONE,
        )
        words = f"from_gaussian_mechanism({noise.scale!r}, {sensitivity!r}, {rate!r}, {dots}), replace one"
        yield from _enclosed(words, losses, [pair], _levels(random))


def loss_relations():
    """Yield the relations of each kind of noise."""
    for kind in _CONSTRUCTORS:
        yield Relations(
            f"privacy_loss_mechanism.{kind.made.__name__}",
            {
                sentence: lambda random, check=check, kind=kind: check(random, kind)
                for sentence, check in (
                    ("its distribution functions are those of the noise", _distribution_functions),
                    ("its loss is the logarithm of a ratio of densities", _losses),
                    ("its inverse is the largest place of a loss", _inverses),
                    ("its delta is the largest difference in mass", _deltas),
                    ("noise for a guarantee gives it and no more", _guarantees),
                    ("on a grid delta is rounded to the stated side", _on_a_grid),
                )
            },
        )
    yield Relations(
        "privacy_loss_distribution, exact pairs",
        {
            "a mixture of shifts has the delta of its densities": _mixtures,
            "a mixture of shifts without connected dots has the delta of its densities": _mixtures_without_dots,
            "a truncated batch costs a displaced record": _truncated_batches,
            "a replaced record moves both distributions": _replaced,
        },
        seconds=25.0,
    )
