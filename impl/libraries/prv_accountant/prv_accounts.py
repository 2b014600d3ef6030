"""Exact relations of the accounts of prv-accountant: three bounds, conversions, training, and noise for a budget.

The reference is one Gaussian mechanism, to which several amount, and formulas.
"""

from __future__ import annotations

import math

from prv_accountant import Accountant, PRVAccountant
from prv_accountant import privacy_random_variables as variables
from prv_accountant.dpsgd import DPSGDAccountant, find_noise_multiplier
from prv_accountant.other_accountants import RDP
from prv_relations import Gaussian

from dpassay.adapter import Relations, understates
from dpassay.impl.libraries.references import gaussian_delta, gaussian_epsilon, near

__all__ = ["account_relations"]


def _conversions(random):
    parts = [Gaussian(random) for _ in range(2)]
    counts, delta = [random.randint(1, 6) for _ in parts], 10 ** random.uniform(-9, -2)
    for orders in (None, [1.5, 3.0, 7.0, 20.0]):
        found = RDP([part.made for part in parts], orders).compute_epsilon(delta, counts)[2]
        used = orders or [1.0 + x / 10.0 for x in range(1, 100)] + list(range(12, 64))
        cost = math.fsum(n / (2 * part.sigma**2) for part, n in zip(parts, counts))
        exact = min(o * cost - math.log(delta * o) / (o - 1) + math.log1p(-1 / o) for o in used)
        yield (
            f"RDP of {counts} times {[part.words for part in parts]}, {orders}, {delta!r}",
            *near(found, exact, 1e-8),
        )


def _gaussians(random):
    """Gaussian mechanisms amount to one: the lower bound lies below it, the upper bound above it, both near it."""
    parts = [Gaussian(random) for _ in range(random.randint(1, 3))]
    counts = [random.randint(1, 4) for _ in parts]
    sigma = math.fsum(n / part.sigma**2 for part, n in zip(parts, counts)) ** -0.5
    delta, error = 10 ** random.uniform(-6, -2), random.choice([0.03, 0.1])
    more = [count + random.randint(0, 2) for count in counts]
    chance = delta / 1000
    made = [part.made for part in parts]
    words = f"{counts} of {more} times {[part.words for part in parts]}, error {error}"
    account = PRVAccountant(made, error, chance, more)
    yield from _near_one_gaussian(words, account, counts, sigma, delta, random.uniform(0, 1.5))
    sigma = math.fsum(part.sigma**-2 for part in parts) ** -0.5
    reach = 3 + gaussian_epsilon(sigma, _BEYOND)
    words = f"each of {[part.words for part in parts]} once, error {error}, epsilon at most {reach!r}"
    account = PRVAccountant(made, error, chance, eps_max=reach)
    yield from _near_one_gaussian(words, account, None, sigma, delta, random.uniform(0, 1.5))


_BEYOND = 1e-12
"""The chance of a loss beyond the largest epsilon that an account allows for: less than any error in delta."""


def _near_one_gaussian(words, account, counts, sigma, delta, part):
    """Compare the numbers of an account with those of one Gaussian mechanism, widened by the errors of the account."""
    error, chance = account.eps_error, account.delta_error
    exact, low, high = (gaussian_epsilon(sigma, d) for d in (delta, delta + 2 * chance, delta - 2 * chance))
    below, about, above = account.compute_epsilon(delta, counts)
    yield understates((f"{words}, upper epsilon at {delta!r}", exact, above, high + 2 * error))
    yield f"{words}, lower epsilon at {delta!r}", low - 2 * error, below, exact
    yield f"{words}, epsilon at {delta!r}", low - error, about, high + error
    level = part * exact
    exact, low, high = (gaussian_delta(sigma, e) for e in (level, level + 2 * error, level - 2 * error))
    below, about, above = account.compute_delta(level, counts)
    yield understates((f"{words}, upper delta at {level!r}", exact, above, high + 2 * chance))
    yield f"{words}, lower delta at {level!r}", low - 2 * chance, below, exact
    yield f"{words}, delta at {level!r}", low - chance, about, high + chance


def _training(random):
    """Check that the accountants for stochastic gradient descent are the general one; steps compose."""
    sigma, rate = random.uniform(1, 2), random.choice([1.0, random.uniform(0.1, 0.4)])
    steps, delta = random.randint(1, 6), 10 ** random.uniform(-6, -3)
    mechanism = variables.PoissonSubsampledGaussianMechanism(rate, sigma)
    general = PRVAccountant([mechanism], 0.1, delta / 1000, [steps]).compute_epsilon(delta, [steps])
    alone = PRVAccountant(mechanism, 0.1, delta / 1000, steps).compute_epsilon(delta, steps)
    training = DPSGDAccountant(sigma, rate, steps, 0.1, delta / 1000).compute_epsilon(delta, steps)
    older = Accountant(sigma, rate, delta, steps, 0.1).compute_epsilon(steps)
    words = f"noise {sigma!r}, rate {rate!r}, {steps} steps, delta {delta!r}"
    for name, found in (("alone", alone), ("DPSGDAccountant", training), ("Accountant", older)):
        for place in range(3):
            yield (f"{words}, {name}, number {place}", *near(found[place], general[place]))
    if rate == 1.0:
        exact = gaussian_epsilon(sigma / math.sqrt(steps), delta)
        yield f"{words}, upper", exact, general[2], exact + 0.25


def _noise(random):
    epsilon, delta, steps, error = random.uniform(1, 4), 10 ** random.uniform(-6, -4), random.randint(2, 8), 0.2
    sigma = find_noise_multiplier(1.0, steps, epsilon, delta, error)
    words = f"find_noise_multiplier(1, {steps}, {epsilon!r}, {delta!r}, {error})"
    found = gaussian_epsilon(sigma / math.sqrt(steps), delta)
    yield f"{words}={float(sigma)!r}, exact epsilon", epsilon - 2 * error, found, epsilon + error


def account_relations():
    """Yield the relations."""
    yield Relations(
        "PRVAccountant, relations",
        {
            "divergences are converted at the best order": _conversions,
            "Gaussian mechanisms amount to one": _gaussians,
            "accountants for training are the general one": _training,
            "noise for a budget meets it": _noise,
        },
    )
