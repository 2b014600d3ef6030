"""Samples with Gaussian noise in gdpnum: their curve and their mu, and accounts of them, against their losses."""

from __future__ import annotations

import functools
import math

import numpy as np
from dp_accounting.pld import privacy_loss_distribution as pld
from gdpnum import CTDAccountant, PLDConverter
from gdpnum.dpsgd import get_mu_and_regret_for_dpsgd

from dpassay.impl.libraries.phases import drawn_phases, stepped
from dpassay.impl.libraries.references import gaussian_delta, gaussian_rate, near, short_of

__all__ = ["STEP", "certainly_lost", "sampled"]

STEP = 1e-3
"""Between the losses on the grid."""

_LEFT_OUT = 1e-10
"""Default of the parameter `err` of get_mu: rates this near to 0 or 1 are not looked at."""


def sampled(random):
    """Compare a sample with the supporting lines of its divergences, both ways."""
    sigma, share, count = random.uniform(0.8, 3), random.uniform(0.05, 0.6), random.randint(1, 4)
    losses = pld.from_gaussian_mechanism(
        sigma, sampling_prob=share, use_connect_dots=True, value_discretization_interval=STEP
    ).self_compose(count)
    found, words = PLDConverter(losses), f"noise {sigma!r}, sample {share!r}, {count} times"
    deltas = [(k / 200, losses.get_delta_for_epsilon(k / 200)) for k in range(1600)]
    for rate in (1e-4, 0.02, 0.2, 0.5, random.random()):
        least = max(max(1 - d - math.exp(e) * rate, math.exp(-e) * (1 - d - rate)) for e, d in deltas)
        yield f"get_beta({rate!r}), {words}", least - 1e-4, found.get_beta(rate), max(least, 0) + 1e-4
    stated, _ = found.get_mu_and_regret()
    yield from _covered(words, (sigma, share, count), losses)
    direct = get_mu_and_regret_for_dpsgd(sigma, share, count, grid_step=STEP)
    yield (f"get_mu_and_regret_for_dpsgd, {words}", *near(float(direct[0]), float(stated)))
    account = CTDAccountant()
    for _ in range(count):
        account.step(noise_multiplier=sigma, sample_rate=share)
    yield (f"CTDAccountant, {words}, mu", *near(float(account.get_mu_and_regret(grid_step=STEP)[0]), float(stated)))
    yield (f"CTDAccountant, {words}, beta", *near(account.get_beta(0.2, grid_step=STEP), found.get_beta(0.2)))
    yield f"CTDAccountant, {words}, len", count, len(account), count


def _covered(words, sample, losses):
    """Compare the deltas of the mu of a sample with those of losses."""
    sigma, share, count = sample
    # connected dots leave rounding in the tails, a known fault that the case "CTDAccountant, training" shows
    apart = pld.from_gaussian_mechanism(
        sigma, sampling_prob=share, use_connect_dots=False, value_discretization_interval=STEP
    ).self_compose(count)
    mu = float(PLDConverter(apart).get_mu())
    for epsilon in (0.1, 0.5, 1.0, 2.0):
        exact = losses.get_delta_for_epsilon(epsilon)
        # to the left of _LEFT_OUT, 1 - f(alpha) - e^epsilon alpha <= 1 - f(_LEFT_OUT), which mu bounds
        most = max(gaussian_delta(1 / mu, epsilon), 1 - gaussian_rate(mu, _LEFT_OUT)) + _LEFT_OUT
        yield f"delta of mu at {epsilon}, {words}", exact, most, 1.0 + _LEFT_OUT


def _least_losses(sigma, share, count):
    """Return an optimistic estimate of the losses of samples: whatever is below it understates them."""
    return pld.from_gaussian_mechanism(
        sigma,
        sampling_prob=share,
        value_discretization_interval=STEP,
        pessimistic_estimate=False,
        use_connect_dots=False,
    ).self_compose(count)


def certainly_lost(random):
    """Compare samples, and accounts of them, with optimistic estimates of their losses, from below."""
    sigma, share, count = random.uniform(0.8, 3), random.uniform(0.05, 0.6), random.randint(1, 4)
    losses, words = _least_losses(sigma, share, count), f"noise {sigma!r}, sample {share!r}, {count} times"
    yield from _covered(words, (sigma, share, count), losses)
    losses_of = pld.from_gaussian_mechanism(sigma, sampling_prob=share, value_discretization_interval=STEP)
    found = PLDConverter(losses_of.self_compose(count))
    (one, other), (low, high) = ([random.uniform(*ends) for _ in range(2)] for ends in ((1, 4), (0.05, 0.6)))
    parts = drawn_phases(random, (one, low), (one, high), (other, high), (other, low))
    account = stepped(CTDAccountant(), parts)
    in_parts = functools.reduce(
        lambda one, other: one.compose(other), (_least_losses(sigma, share, count) for sigma, share, count, _ in parts)
    )
    delta = 10 ** random.uniform(-6, -2)
    exact, stated = in_parts.get_epsilon_for_delta(delta), account.get_epsilon(delta=delta, grid_step=STEP)
    yield f"CTDAccountant, {parts!r}, epsilon at {delta!r}", exact - 1e-6, stated, math.inf
    for at, get_beta, least in (
        (words, found.get_beta, losses),
        (f"CTDAccountant, {parts!r}", functools.partial(account.get_beta, grid_step=STEP), in_parts),
    ):
        levels = np.arange(0, 8, 0.005)
        slopes, deltas = np.exp(levels), least.get_delta_for_epsilon(levels)
        rates = [0.02, 0.2, 0.5, random.random()]
        for rate, found in zip(rates, get_beta(np.array(rates))):  # in one call: the losses are composed once
            most = max(np.max(1 - deltas - slopes * rate), np.max((1 - deltas - rate) / slopes), 0)
            yield short_of(1, f"get_beta({rate!r}), {at}", -math.inf, found, most + 1e-4)
