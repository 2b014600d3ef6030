"""Exact relations of mixtures of shifts, of batches that may be full, and of replaced records in dp-accounting.

The reference is the pair of distributions as documented, with the noise computed anew.
"""

from __future__ import annotations

import itertools
import math

import dp_accounting as dp
from dp_accounting import pld
from dp_accounting.pld import privacy_loss_mechanism as mechanisms
from dp_accounting_pairs import (
    ABSOLUTE,
    INTERVAL,
    RELATIVE,
    Gaussian,
    Pair,
    Way,
    drawn,
    enclosed,
    levels_drawn,
    near_exact,
    pair_of,
    places_drawn,
    tails,
)

from dpassay.adapter import Relations

__all__ = ["mixture_relations"]

_INVERSE = 1e-6
"""Absolute, in delta: the inverse of the loss of a mixture is searched for, to as much."""

_LEAST_MASS = -50.0
"""The default logarithm of the mass that may be cut off."""

_distributions = pld.privacy_loss_distribution


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
    return [Pair(noise, still, (shifts, chances)), Pair(noise, ([-shift for shift in shifts], chances), still)]


def _mixtures(random):
    noise = Gaussian(random.uniform(0.6, 3))
    shifts, chances = _mixed(random)
    pairs = _mixture_pairs(noise, shifts, chances)
    arguments = f"({noise.scale!r}, {shifts!r}, {chances!r})"
    for way, pair in zip((Way.ADD, Way.REMOVE), pairs):
        loss = mechanisms.MixtureGaussianPrivacyLoss(noise.scale, shifts, chances, adjacency_type=way)
        words = f"MixtureGaussianPrivacyLoss{arguments}, {way}"
        for x in places_drawn(random, pair):
            yield (f"{words}.privacy_loss({x!r})", *near_exact(float(loss.privacy_loss(x)), pair.loss(x)))
            yield (
                f"{words}.mu_upper_cdf({x!r})",
                *near_exact(float(loss.mu_upper_cdf(x)), math.exp(pair.upper.log_cdf(x))),
            )
            yield (
                f"{words}.mu_lower_log_cdf",
                *near_exact(float(loss.mu_lower_log_cdf(x)), float(pair.lower.log_cdf(x))),
            )
        levels = levels_drawn(random)
        for level, found in zip(levels, loss.get_delta_for_epsilon(levels)):
            # its inverse is searched for, up to 1e-6 on the line
            yield (f"{words}.get_delta_for_epsilon({level!r})", *near_exact(float(found), pair.delta(level), 1e-5))
    yield from _of_one_shift(random, pessimistic=False)


def _mixtures_rounded_up(random):
    scale, mixed = random.uniform(0.6, 3), _mixed(random)
    for log in (_LEAST_MASS, random.uniform(-8, -4)):
        yield from _mixtures_on_a_grid(random, scale, *mixed, ((True, True),), log)
    yield from _of_one_shift(random, pessimistic=True)


def _of_one_shift(random, *, pessimistic):
    """Check a mixture without connected dots; the inverse of one of several shifts is a finding of its own."""
    one, chance = random.uniform(0.5, 2), random.uniform(0.1, 0.9)
    arguments, log = (random.uniform(0.6, 3), [0.0, one], [1 - chance, chance]), random.uniform(-8, -4)
    yield from _mixtures_on_a_grid(random, *arguments, ((False, pessimistic),), log)


def _mixtures_on_a_grid(random, scale, shifts, chances, ways, log=_LEAST_MASS):
    """Check the curves of a mixture on a grid, with connected dots or without, pessimistic or optimistic."""
    pairs = _mixture_pairs(Gaussian(scale), shifts, chances)
    lost = _INVERSE + math.exp(log)
    for dots, pessimistic in ways:
        losses = _distributions.from_mixture_gaussian_mechanism(
            scale,
            shifts,
            chances,
            pessimistic_estimate=pessimistic,
            value_discretization_interval=INTERVAL,
            log_mass_truncation_bound=log,
            use_connect_dots=dots,
        )
        words = f"from_mixture_gaussian_mechanism({scale!r}, {shifts!r}, {chances!r}), {dots}, {pessimistic}, {log!r}"
        yield from enclosed(words, losses, pairs, levels_drawn(random), pessimistic=pessimistic, lost=lost)


def _tails_of_mixtures(random):
    """Check the tails of mixtures, and the inverse of one shift, each searched for up to a precision."""
    scale, log = random.uniform(0.6, 3), random.uniform(-8, -3)
    for way, pessimistic, precision in itertools.product((Way.ADD, Way.REMOVE), (True, False), (1e-4, 1e-2)):
        shifts, chances = _mixed(random)
        add, remove = _mixture_pairs(Gaussian(scale), shifts, chances)
        pair, mass = add if way is Way.ADD else remove, math.exp(log) / 2
        loss = mechanisms.MixtureGaussianPrivacyLoss(scale, shifts, chances, pessimistic, log, way)
        found = loss.privacy_loss_tail(precision)
        words = f"MixtureGaussianPrivacyLoss({scale!r}, {shifts!r}, {chances!r}, {pessimistic}, {log!r}, {way})"
        yield from tails(f"{words}, {precision}", found, pair, mass, pessimistic=pessimistic)
        beside = math.exp(pair.upper.log_cdf(found.lower_x_truncation + precision))
        yield f"{words}, mass below the lower end and {precision}", mass * (1 - RELATIVE), beside, 1.0
        one, chance = random.uniform(0.5, 2), random.uniform(0.1, 0.9)
        add, remove = _mixture_pairs(Gaussian(scale), [0.0, one], [1 - chance, chance])
        pair = add if way is Way.ADD else remove
        loss = mechanisms.MixtureGaussianPrivacyLoss(scale, [0.0, one], [1 - chance, chance], adjacency_type=way)
        x = random.uniform(-2, 2) * scale
        back = loss.inverse_privacy_loss(pair.loss(x), precision)
        words = f"MixtureGaussianPrivacyLoss({scale!r}, [0.0, {one!r}], {chance!r}, {way}).inverse_privacy_loss"
        # the middle of the halves of an interval is rounded to the precision, down or not
        yield f"{words}(the loss at {x!r}, {precision})", x - 2 * precision, back, x + precision


def _mixtures_without_dots(random, *, pessimistic):
    """Check mixtures of shifts without connected dots, one of them always the same."""
    for scale, shifts, chances in ((1.0, [0.5, 1.5, 3.0], [0.4, 0.4, 0.2]), (random.uniform(0.6, 3), *_mixed(random))):
        yield from _mixtures_on_a_grid(random, scale, shifts, chances, ((False, pessimistic),))


def _truncated_batches(random):
    """Check the delta of batches that may be full: the record is not sampled, or it may displace another one."""
    sigma, rate, size = random.uniform(1, 3), random.uniform(0.1, 0.6), random.randint(4, 12)
    for relation, most in itertools.product(dp.NeighboringRelation, (1, max(1, round(rate * size)), size)):
        dots, log = random.choice([True, False]), random.choice([_LEAST_MASS, random.uniform(-8, -4)])
        lost = math.exp(log)
        ways = [Way.REPLACE] if relation is dp.NeighboringRelation.REPLACE_ONE else [Way.ADD, Way.REMOVE]
        sampled = [pair_of(Gaussian(sigma), way, 1.0, rate) for way in ways]
        words = f"truncated({size}, {rate!r}, {most}, {sigma!r}), {relation}, {log!r}, {dots}"
        losses = _distributions.from_truncated_subsampled_gaussian_mechanism(
            size,
            rate,
            most,
            sigma,
            value_discretization_interval=INTERVAL,
            log_mass_truncation_bound=log,
            use_connect_dots=dots,
            neighboring_relation=relation,
        )
        # either the record is not sampled, or it or the one that it displaces counts: an exact sum over both events
        full = _chance_of_more(size - 1, rate, most - 1)
        if not full:
            yield from enclosed(words, losses, sampled, levels_drawn(random), lost=lost)
            continue
        kept = most * _chance_of_more(size, rate, most) / full / size
        replaced = pair_of(Gaussian(sigma / 2), Way.REPLACE, 1.0, kept)
        for level in levels_drawn(random):
            low, high = (
                (1 - full) * max(pair.delta(at) for pair in sampled) + full * replaced.delta(at)
                for at in (level, level - INTERVAL)
            )
            yield (
                f"{words}.get_delta_for_epsilon({level!r})",
                low * (1 - RELATIVE) - ABSOLUTE,
                float(losses.get_delta_for_epsilon(level)),
                high * (1 + RELATIVE) + lost + 1e-9,
            )


def _chance_of_more(size, rate, most):
    """Return the chance that more than `most` of `size` records are sampled."""
    return math.fsum(math.comb(size, k) * rate**k * (1 - rate) ** (size - k) for k in range(most + 1, size + 1))


def _replaced(random):
    """One record is replaced: both distributions are sampled."""
    noise, sensitivity, rate = drawn(random, Gaussian)
    pair = pair_of(noise, Way.REPLACE, sensitivity, rate)
    for dots in (True, False):
        losses = _distributions.from_gaussian_mechanism(
            noise.scale,
            sensitivity,
            value_discretization_interval=INTERVAL,
            use_connect_dots=dots,
            sampling_prob=rate,
            neighboring_relation=dp.NeighboringRelation.REPLACE_ONE,
        )
        words = f"from_gaussian_mechanism({noise.scale!r}, {sensitivity!r}, {rate!r}, {dots}), replace one"
        yield from enclosed(words, losses, [pair], levels_drawn(random))


def mixture_relations():
    """Yield the relations."""
    without_dots = "a mixture of shifts without connected dots has the delta of its densities"
    attained = {
        "a pessimistic mixture of shifts is rounded up": _mixtures_rounded_up,
        without_dots: lambda random: _mixtures_without_dots(random, pessimistic=True),
        "a replaced record moves both distributions": _replaced,
    }
    yield Relations(
        "privacy_loss_distribution, exact pairs",
        {
            **attained,
            "a mixture of shifts has the delta of its densities": _mixtures,
            "the tails of a mixture are the mass beyond its ends": _tails_of_mixtures,
            f"{without_dots}, rounded down": lambda random: _mixtures_without_dots(random, pessimistic=False),
            "a truncated batch costs a displaced record": _truncated_batches,
        },
        seconds=25.0,
        understated=attained,
    )
