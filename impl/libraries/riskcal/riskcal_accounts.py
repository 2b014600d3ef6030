"""The accountant of riskcal: accounts of full batches and of samples, their states, and a training."""

from __future__ import annotations

import bisect
import functools
import math

import numpy as np
from dp_accounting.pld import privacy_loss_distribution as pld
from riskcal.accountants import CTDAccountant
from riskcal_analysis import SCALED, STEP
from riskcal_curves import composed, error_rate, least_composed, lower_ends

from dpassay.adapter import Answer, Relations
from dpassay.impl.libraries.phases import drawn_phases, stepped
from dpassay.impl.libraries.references import gaussian_epsilon, gaussian_rate, near, normal_cdf, short_of


def _accounts(random):
    """Compare an account of full batches with Gaussian noise."""
    parts = drawn_phases(random, *((random.uniform(1, 4), 1.0) for _ in range(3)))
    account, words = stepped(CTDAccountant(), parts), f"CTDAccountant, {parts!r}"
    mu = math.sqrt(math.fsum(count / sigma**2 for sigma, _, count, _ in parts))
    rate, delta = random.uniform(0.01, 0.5), 10 ** random.uniform(-6, -2)
    exact = 2 * normal_cdf(mu / 2) - 1
    yield f"{words}, advantage", exact - 1e-9, account.get_advantage(grid_step=STEP), exact + 0.01
    exact, found = gaussian_rate(mu, rate), float(account.get_beta(alpha=rate, grid_step=STEP))
    yield short_of(1, f"{words}, beta at {rate!r}", exact - 0.01, found, exact + SCALED)
    exact, found = gaussian_epsilon(1 / mu, delta), account.get_epsilon(delta=delta, grid_step=STEP)
    yield f"{words}, epsilon at {delta!r}", exact - 1e-9, found, exact + 0.05
    other = CTDAccountant()
    other.load_state_dict(account.state_dict())
    found = other.get_epsilon(delta=delta, grid_step=STEP)
    yield f"{words}, epsilon of a loaded state", exact - 1e-9, found, exact + 0.05


def _states(random):
    """Compare an account with its own state, loaded."""
    parts = drawn_phases(random, *((random.uniform(1, 4), 1.0) for _ in range(3)))
    account, words = stepped(CTDAccountant(), parts), f"CTDAccountant, {parts!r}"
    total, delta = sum(count for _, _, count, _ in parts), 10 ** random.uniform(-6, -2)
    yield f"{words}, len", total, len(account), total
    found = account.get_epsilon(delta=delta, grid_step=STEP)
    other = CTDAccountant()
    other.load_state_dict(account.state_dict())
    yield f"{words}, a loaded state", total, len(other), total
    yield (f"{words}, epsilon of a loaded state", *near(other.get_epsilon(delta=delta, grid_step=STEP), found))
    other.step(noise_multiplier=parts[-1][0], sample_rate=1.0)
    yield f"{words}, a step after loading", total + 1, len(other), total + 1
    yield f"{words}, len after a step of the other", total, len(account), total


def _accounts_of_samples(losses_of, random):
    """Compare an account of samples with the losses of its steps, composed one by one."""
    (one, other), (low, high) = ([random.uniform(*ends) for _ in range(2)] for ends in ((1, 4), (0.05, 0.6)))
    parts = drawn_phases(random, (one, low), (one, high), (other, high), (other, low))
    account, words = stepped(CTDAccountant(), parts), f"CTDAccountant, {parts!r}"
    delta = 10 ** random.uniform(-6, -2)
    steps = [losses_of(sigma, share, count, STEP) for sigma, share, count, _ in parts]
    losses = functools.reduce(lambda one, other: one.compose(other), steps)
    found = account.get_epsilon(delta=delta, grid_step=STEP)
    yield (f"{words}, epsilon at {delta!r}", *near(found, losses.get_epsilon_for_delta(delta), 1e-6, 1e-6))
    found = account.get_advantage(grid_step=STEP)
    yield (f"{words}, advantage", *near(found, losses.get_delta_for_epsilon(0.0), 1e-6, 1e-6))
    for rate in (random.uniform(0.01, 0.4), random.uniform(0.6, 0.95)):  # one direction decides for each
        found = account.get_beta(alpha=rate, grid_step=STEP)
        yield short_of(1, f"{words}, beta at {rate!r}", *near(found, error_rate(losses, rate), 0, 1e-4))


def _training(random):
    """Check at the default grid that attacks succeed as often as on an optimistic estimate of the training."""
    sigma, share, count = random.uniform(0.8, 1.2), random.uniform(0.01, 0.03), random.randint(200, 900)
    account = CTDAccountant()
    account.history = [(sigma, share, count)]
    step = pld.from_gaussian_mechanism(sigma, sampling_prob=share, pessimistic_estimate=False, use_connect_dots=False)
    losses = step.self_compose(count)
    delta = functools.cache(lambda place: losses.get_delta_for_epsilon(place / 100))

    def line(place, rate):
        return delta(place) + math.exp(place / 100) * rate

    rates = np.array([1e-6, 1e-5, 1e-4, 0.01, random.uniform(0.05, 0.6)])
    # in one call: the losses are composed once
    for rate, beta in zip(rates.tolist(), account.get_beta(alpha=rates)):
        # a convex function of exp(epsilon) falls up to its least value
        place = bisect.bisect_left(range(-200, 800), True, key=lambda k: line(k + 1, rate) >= line(k, rate)) - 200
        least, found = float(line(place, rate)), 1 - float(beta)
        words = f"true positive rate at {rate!r}, noise {sigma!r}, sample {share!r}, {count} steps"
        yield words, max(rate, least) * (1 - 1e-6) - SCALED * rate, found, 1.0


def _account_epsilon(sigma, count, delta, rate=1.0):
    parts = count if isinstance(count, tuple) else (count,)
    if any(part != int(part) for part in parts):
        raise ValueError("steps are counted one by one")
    account = CTDAccountant()
    account.history = [(sigma, rate, int(part)) for part in parts]
    return float(account.get_epsilon(delta=delta, grid_step=STEP))


def account_cases():
    """Yield relations and answers of the accountant."""
    bounds = {
        "accounts of full batches are Gaussian": _accounts,
        "accounts of samples admit what is certainly lost": lower_ends(
            functools.partial(_accounts_of_samples, least_composed)
        ),
    }
    yield Relations(
        "CTDAccountant, relations",
        {
            **bounds,
            "accounts of samples are composed losses": functools.partial(_accounts_of_samples, composed),
            "accounts keep their states": _states,
        },
        understated=list(bounds),
    )
    training = {"error rates of training admit the attacks on it": _training}
    yield Relations("CTDAccountant, training", training, understated=list(training))
    for stem in ("gaussian", "subsampled_gaussian"):
        yield Answer(
            f"CTDAccountant, {stem}",
            f"{stem}_epsilon",
            _account_epsilon,
            domain={"count": (1, 20), "sigma": (0.7, 50.0), "rate": (0.01, 1.0), "delta": (1e-9, 0.5)},
            looseness=40 * STEP,
            relative_error=1e-9,
            calls=40,
        )
