"""Exact relations of the privacy losses of dp-accounting: distributions, losses, their inverses, and curves of delta.

The reference is the pair of distributions as documented, with the noise computed anew: a delta is the largest
difference in mass over thresholds (or the sum over integers), because the loss falls along the line.
"""

from __future__ import annotations

import math

import numpy as np
from dp_accounting import pld
from dp_accounting_mixtures import mixture_relations
from dp_accounting_pairs import (
    ABSOLUTE,
    INTERVAL,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Laplace,
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

__all__ = ["loss_relations"]

_distributions = pld.privacy_loss_distribution


def _made(random, kind):
    """Yield a loss of the library in every way that it knows, and its pair of distributions."""
    noise, sensitivity, rate = drawn(random, kind)
    for way in Way:
        try:
            loss = kind.made(noise.scale, sensitivity, sampling_prob=rate, adjacency_type=way, **noise.options)
        except NotImplementedError:
            continue
        words = f"{kind.made.__name__}({noise.scale!r}, {sensitivity!r}, {rate!r}, {way}, {noise.options})"
        yield words, loss, pair_of(noise, way, sensitivity, rate)


def _distribution_functions(random, kind):
    for words, loss, pair in _made(random, kind):
        places = [*places_drawn(random, pair), *_ends(pair)]
        for x in (places[0], np.array(places)):
            for name, found, other in (
                ("noise_cdf", loss.noise_cdf(x), np.exp(pair.noise.log_cdf(x))),
                ("noise_log_cdf", loss.noise_log_cdf(x), pair.noise.log_cdf(x)),
                ("mu_upper_cdf", loss.mu_upper_cdf(x), np.exp(pair.upper.log_cdf(x))),
                ("mu_lower_log_cdf", loss.mu_lower_log_cdf(x), pair.lower.log_cdf(x)),
            ):
                for at, one, two in zip(np.atleast_1d(x), np.atleast_1d(found), np.atleast_1d(other)):
                    yield (f"{words}.{name}({at!r})", *near_exact(float(one), float(two)))


def _losses(random, kind):
    for words, loss, pair in _made(random, kind):
        for x in (*places_drawn(random, pair), *_ends(pair)):
            exact = pair.loss(x)
            if math.isfinite(exact):
                yield (f"{words}.privacy_loss({x!r})", *near_exact(float(loss.privacy_loss(x)), exact))
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
        for place in places_drawn(random, pair)[:3]:
            level = pair.loss(place)
            if not math.isfinite(level):
                continue
            if pair.noise.discrete:
                # between two losses, neither of which rounding may change
                before = pair.loss(place + 1)
                if math.isnan(before):
                    continue  # the last outcome, on a sample: no loss is less
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


def _deltas(random, kind):
    for words, loss, pair in _made(random, kind):
        levels = levels_drawn(random)
        for level, found in zip(levels, loss.get_delta_for_epsilon(levels)):
            yield (f"{words}.get_delta_for_epsilon({level!r})", *near_exact(float(found), pair.delta(level)))
        yield (f"{words}, alone", *near_exact(float(loss.get_delta_for_epsilon(levels[3])), pair.delta(levels[3])))


def _tails_of(random, kind):
    """Check the tails of noise that is cut off where the mass beyond is at most a bound on either side."""
    noise, sensitivity, rate = drawn(random, kind)
    log = random.uniform(-8, -3)
    for way in Way:
        for pessimistic in (True, False):
            loss = kind.made(
                noise.scale,
                sensitivity,
                pessimistic_estimate=pessimistic,
                log_mass_truncation_bound=log,
                sampling_prob=rate,
                adjacency_type=way,
            )
            words = f"{kind.made.__name__}({noise.scale!r}, {sensitivity!r}, {rate!r}, {way}, {pessimistic}, {log!r})"
            pair = pair_of(noise, way, sensitivity, rate)
            yield from tails(words, loss.privacy_loss_tail(), pair, math.exp(log) / 2, pessimistic=pessimistic)


def _target(random, kind):
    """Return a guarantee that the kind of noise can give."""
    epsilon, delta = random.uniform(0.2, 3), math.exp(random.uniform(math.log(1e-8), math.log(0.05)))
    return pld.common.DifferentialPrivacyParameters(epsilon, 0.0 if kind in (Laplace, DiscreteLaplace) else delta)


def _scale_of(loss, kind):
    """Return the parameter of the noise of a loss."""
    if kind is DiscreteGaussian:
        return loss._sigma  # its standard deviation is not its parameter
    return loss.standard_deviation if kind is Gaussian else loss.parameter


def _added(random, kind):
    """Check that a guarantee gets the noise of a removed record, which costs more, also where one is added."""
    target = _target(random, kind)
    _, sensitivity, _ = drawn(random, kind)
    rate = random.uniform(0.05, 0.95)  # without a sample both cost the same
    make = kind.made.from_privacy_guarantee
    for more in ({},) if kind.discrete else ({}, {"pessimistic_estimate": False}):
        added, removed = (
            _scale_of(make(target, sensitivity, sampling_prob=rate, adjacency_type=way, **more), kind)
            for way in (Way.ADD, Way.REMOVE)
        )
        words = f"{kind.made.__name__}.from_privacy_guarantee({target}, {sensitivity!r}, {rate!r}, {more})"
        yield (f"{words}, a record is added", *near_exact(float(added), float(removed)))


def _guarantees(random, kind):
    """Noise that is made for a guarantee gives it; noise that is smaller by a twentieth does not."""
    target = _target(random, kind)
    epsilon, delta = target.epsilon, target.delta
    _, sensitivity, rate = drawn(random, kind)
    loss = kind.made.from_privacy_guarantee(target, sensitivity, sampling_prob=rate)
    scale = _scale_of(loss, kind)
    words = f"{kind.made.__name__}.from_privacy_guarantee({epsilon!r}, {delta!r}, {sensitivity!r}, {rate!r})"
    for factor, suffices in ((1.0, True), (0.95, False)):
        # the discrete Laplace mechanism counts in reciprocals
        noise = kind(1 / (scale * (2 - factor))) if kind is DiscreteLaplace else kind(scale * factor)
        found = max(pair_of(noise, way, sensitivity, rate).delta(epsilon) for way in (Way.ADD, Way.REMOVE))
        if suffices:
            yield f"{words}: delta", 0.0, found, delta * (1 + 1e-4) + ABSOLUTE
        else:
            yield f"{words}: delta with less noise", max(delta, 1e-9), found, 1.0
    yield f"{words}: its sensitivity", sensitivity, float(loss.sensitivity), sensitivity
    yield f"{words}: its rate", rate, float(loss.sampling_prob), rate
    own = max(float(loss.get_delta_for_epsilon(epsilon)), 0.0)
    yield f"{words}: its own delta", 0.9 * delta, own, delta * (1 + 1e-4) + ABSOLUTE


_CONSTRUCTORS = {
    Gaussian: _distributions.from_gaussian_mechanism,
    Laplace: _distributions.from_laplace_mechanism,
    DiscreteLaplace: _distributions.from_discrete_laplace_mechanism,
    DiscreteGaussian: _distributions.from_discrete_gaussian_mechanism,
}


def _rounded_up(random, kind):
    """Check that a pessimistic curve lies above the exact one, by at most one interval."""
    yield from _on_a_grid(random, kind, ((True, True), (False, True)))


def _rounded_down(random, kind):
    """Check that an optimistic curve lies below the exact one, by at most one interval."""
    yield from _on_a_grid(random, kind, ((False, False),))


def _on_a_grid(random, kind, ways):
    """Compare curves on a grid, with connected dots or without, pessimistic or optimistic, with the exact one."""
    noise, sensitivity, rate = drawn(random, kind)
    pairs = [pair_of(noise, way, sensitivity, rate) for way in (Way.ADD, Way.REMOVE)]
    for dots, pessimistic in ways:
        more, lost = dict(noise.options), 0.0
        if kind is Gaussian:
            more["log_mass_truncation_bound"] = random.choice([-50.0, random.uniform(-8, -4)])
            lost = math.exp(more["log_mass_truncation_bound"])
        losses = _CONSTRUCTORS[kind](
            noise.scale,
            sensitivity,
            pessimistic_estimate=pessimistic,
            value_discretization_interval=INTERVAL,
            use_connect_dots=dots,
            sampling_prob=rate,
            **more,
        )
        words = f"{kind.made.__name__}({noise.scale!r}, {sensitivity!r}, {rate!r}, {dots}, {pessimistic}, {more})"
        yield from enclosed(words, losses, pairs, levels_drawn(random), pessimistic=pessimistic, lost=lost)


def loss_relations():
    """Yield the relations of each kind of noise, and of mixtures."""
    for kind in _CONSTRUCTORS:
        # only Gaussian noise is cut off where a caller says
        cut_off = [("its tails are the mass beyond its ends", _tails_of)] if kind is Gaussian else []
        understated = ["its delta is the largest difference in mass", "on a grid a pessimistic delta is rounded up"]
        if kind is not DiscreteLaplace:  # its parameter is a reciprocal: a smaller one is more noise
            understated.append("noise for a guarantee is that of a removed record")
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
                    ("noise for a guarantee is that of a removed record", _added),
                    ("on a grid a pessimistic delta is rounded up", _rounded_up),
                    ("on a grid an optimistic delta is rounded down", _rounded_down),
                    *cut_off,
                )
            },
            understated=understated,
        )
    yield from mixture_relations()
