"""Exact relations of the accounts of opacus: the steps of a history, conversions, estimates, and noise for a budget.

The reference is the pair of distributions of a sampled Gaussian mechanism, and sums over its steps.
"""

from __future__ import annotations

import collections
import math

import numpy as np
import opacus_without_torch  # noqa: F401  # before the library
from opacus import accountants
from opacus.accountants.analysis import gdp, rdp
from opacus.accountants.analysis.prv import domain, prvs
from opacus.accountants.utils import get_noise_multiplier
from opacus_relations import chance_of_loss

from dpassay.adapter import Relations
from dpassay.impl.libraries.references import (
    gaussian_delta,
    gaussian_epsilon,
    near,
    normal_cdf,
    sampled_gaussian_divergence,
)
from dpassay.impl.libraries.refusing import raises

__all__ = ["account_relations"]

_ROUNDING = 1e-9


def _whole(random):
    """Return a history without sampling, and the noise of the Gaussian mechanism that it amounts to."""
    history = [(random.uniform(1.5, 4), 1.0, random.randint(1, 5)) for _ in range(random.randint(1, 4))]
    return history, math.fsum(n / s**2 for s, _, n in history) ** -0.5


def _gaussians(random):
    """Check that a history without sampling is one Gaussian mechanism to the accountant of losses."""
    (history, sigma), delta, error = _whole(random), 10 ** random.uniform(-6, -2), random.choice([0.01, 0.1])
    account = accountants.create_accountant("prv")
    account.history = list(history)
    exact = gaussian_epsilon(sigma, delta)
    for part in (None, 0.1 * delta):
        with np.errstate(all="ignore"):
            found = account.get_epsilon(delta, eps_error=error, delta_error=part)
        far = gaussian_epsilon(sigma, delta - 2 * (part or 1e-3 * delta))
        words = f"prv of {history!r}, epsilon at {delta!r}, errors {error}, {part}"
        yield words, exact, float(found), far + 2 * error


def _converted_gaussians(random):
    """Check that a history without sampling is one Gaussian mechanism to the accountant of divergences."""
    (history, sigma), delta = _whole(random), 10 ** random.uniform(-6, -2)
    account = accountants.create_accountant("rdp")
    account.history = list(history)
    found, order = account.get_privacy_spent(delta=delta)
    orders = account.DEFAULT_ALPHAS
    # Balle et al. 2020, Theorem 21
    best = min(_converted(o, o / (2 * sigma**2), delta) for o in orders)
    yield (f"rdp of {history!r}, epsilon at {delta!r}", *near(found, best, 1e-8))
    yield (f"rdp of {history!r}, at its order", *near(_converted(order, order / (2 * sigma**2), delta), best, 1e-8))


def _converted(order, divergence, delta):
    return divergence - (math.log(delta) + math.log(order)) / (order - 1) + math.log1p(-1 / order)


def _divergences(random):
    sigma, rate, steps = random.uniform(0.9, 4), random.uniform(0.01, 0.6), random.randint(1, 9)
    orders = [1.3, 1.8, 2.0, 2.6, 3.0, 4.5, 7.0]
    exact = [steps * sampled_gaussian_divergence(sigma, rate, order) for order in orders]
    found = rdp.compute_rdp(q=rate, noise_multiplier=sigma, steps=steps, orders=orders)
    for order, together, alone in zip(orders, found, exact):
        words = f"compute_rdp({rate!r}, {sigma!r}, {steps}, {order})"
        yield (words, *near(together, alone, 1e-6))
        single = rdp.compute_rdp(q=rate, noise_multiplier=sigma, steps=steps, orders=order)
        yield (f"{words}, alone", *near(single, alone, 1e-6))
    for order in (1.7, 3.0):
        for other, cost in ((0.0, 0.0), (1.0, steps * order / (2 * sigma**2))):
            found = rdp.compute_rdp(q=other, noise_multiplier=sigma, steps=steps, orders=order)
            yield (f"compute_rdp({other}, {sigma!r}, {steps}, {order})", *near(found, cost))


def _conversions(random):
    """Check the conversion of divergences at the best of a few orders, and the sums of their series."""
    sigma, rate, delta = random.uniform(0.9, 4), random.uniform(0.01, 0.6), 10 ** random.uniform(-8, -2)
    orders, steps = [1.3, 1.8, 2.0, 2.6, 3.0, 4.5, 7.0], random.randint(1, 9)
    exact = [steps * sampled_gaussian_divergence(sigma, rate, order) for order in orders]
    best, order = rdp.get_privacy_spent(orders=orders, rdp=exact, delta=delta)
    least = min(_converted(o, r, delta) for o, r in zip(orders, exact))
    yield (f"get_privacy_spent({orders}, {exact}, {delta!r})", *near(best, least))
    yield "its order is the best", *near(_converted(order, exact[orders.index(order)], delta), least)
    for a, b in ((random.uniform(-9, 3), random.uniform(-9, 3)), (1.0, -math.inf)):
        high, low = max(a, b), min(a, b)
        yield (f"_log_add({a}, {b})", *near(rdp._log_add(a, b), math.log(math.exp(a) + math.exp(b))))
        yield (f"_log_sub({high}, {low})", *near(rdp._log_sub(high, low), math.log(math.exp(high) - math.exp(low))))


_TOUR = ((0, 0), (1, 0), (1, 1), (0, 0), (0, 1), (1, 0), (0, 0))
"""Which of two noises and which of two rates: neighbours differ in the noise alone, in the rate alone, and in both."""


def _toured(random):
    """Return the runs of a tour as (noise, rate, steps)."""
    noises = random.sample([random.uniform(1, 1.8), random.uniform(2.2, 3)], 2)
    rates = random.sample([random.uniform(0.1, 0.25), random.uniform(0.35, 0.6)], 2)
    return [(noises[one], rates[two], random.randint(1, 3)) for one, two in _TOUR]


def _stepped(name, runs):
    """Return an account of the steps, taken one by one."""
    account = accountants.create_accountant(name)
    for sigma, rate, steps in runs:
        for _ in range(steps):
            account.step(noise_multiplier=sigma, sample_rate=rate)
    return account


def _steps(random):
    """Check that steps one by one are the history, that equal neighbours are counted together, and states."""
    runs = _toured(random)
    for name in ("rdp", "prv"):
        one, two = _stepped(name, runs), accountants.create_accountant(name)
        words = f"{name}, runs {runs!r}"
        yield f"{name}, no steps, length", 0.0, float(len(two)), 0.0
        yield f"{words}, history {one.history!r}", 1.0, float([tuple(run) for run in one.history] == runs), 1.0
        yield (f"{words}, length", *near(len(one), len(runs)))
        two.load_state_dict(one.state_dict())
        yield f"{words}, state", 1.0, float(two.history == one.history and two.mechanism() == name), 1.0
    hook = accountants.create_accountant("rdp")
    rate = random.uniform(0.01, 0.2)
    hook.get_optimizer_hook_fn(rate)(type("Optimizer", (), {"noise_multiplier": 1.5, "accumulated_iterations": 3})())
    yield (f"the hook of rate {rate!r} after 3 accumulated iterations", *near(hook.history[-1][1], 3 * rate))


def _sums_of_steps(random):
    """Check that steps of changing noise and rate cost the sum of their divergences, and of their losses."""
    runs, delta, error = _toured(random), 10 ** random.uniform(-5, -3), 0.05
    orders = [2.0, 3.5, 8.0]
    costs = [math.fsum(n * sampled_gaussian_divergence(s, r, order) for s, r, n in runs) for order in orders]
    exact = min(_converted(order, cost, delta) for order, cost in zip(orders, costs))
    yield (
        f"rdp, runs {runs!r}, epsilon at {delta!r}",
        *near(_stepped("rdp", runs).get_epsilon(delta, orders), exact, 1e-6),
    )
    del runs[3:]  # an odd number, changed in the noise and in the rate; all of them would take seconds
    with np.errstate(all="ignore"):
        found = float(_stepped("prv", runs).get_epsilon(delta, eps_error=error))
    words = f"prv, runs {runs!r}, delta at {found!r}, the stated epsilon at {delta!r}"
    yield words, 0.0, _delta_of_steps(runs, found, up=False), delta
    least = _delta_of_steps(runs, found - 2 * error, up=True)
    yield f"{words}, with the documented error in both", delta * (1 - 2e-3), least, 1.0


_GRID = 2e-3
"""Between the losses of steps whose sums are computed: each is rounded to the next point, up or down."""


def _delta_of_steps(runs, epsilon, *, up):
    """Return the delta of sampled Gaussian mechanisms, each of whose losses is rounded up, or down."""
    counts = collections.Counter()
    for sigma, rate, steps in runs:
        counts[sigma, rate] += steps
    size = 2 ** math.ceil(math.log2(sum(n * (12 / sigma + 5) / _GRID for (sigma, _), n in counts.items())))
    spectrum, least = 1.0, sum(counts.values()) if up else 0
    for (sigma, rate), steps in counts.items():
        low, high = math.floor(math.log1p(-rate) / _GRID), math.ceil((12 / sigma + 4) / _GRID)
        chances = np.array([chance_of_loss(sigma, rate, k * _GRID) for k in range(low, high + 1)])
        spectrum = spectrum * np.fft.rfft(np.diff(chances), size) ** steps
        least += low * steps
    losses = (least + np.arange(size)) * _GRID
    return float(np.sum(np.fft.irfft(spectrum, size) * -np.expm1(np.minimum(epsilon - losses, 0.0))))


def _constant(random):
    """Check that an account of one noise and one rate counts its steps, and refuses either of them to change."""
    (sigma, rate, _), (other, *_), *_ = _toured(random)
    steps = random.randint(2, 6)
    yield "gdp, no steps, length", 0.0, float(len(accountants.create_accountant("gdp"))), 0.0
    for words, changed in (
        ("noise", {"noise_multiplier": other, "sample_rate": rate}),
        ("rate", {"noise_multiplier": sigma, "sample_rate": rate / 2}),
        ("noise and rate", {"noise_multiplier": other, "sample_rate": rate / 2}),
    ):
        account = _stepped("gdp", [(sigma, rate, steps)])
        counted = [tuple(run) for run in account.history] == [(sigma, rate, steps)] and len(account) == 1
        yield f"gdp, {steps} steps, history {account.history!r}", 1.0, float(counted), 1.0
        refused = raises(ValueError, lambda a=account, c=changed: a.step(**c))
        yield f"gdp, {sigma!r} and {rate!r}, refuses other {words}", 1.0, float(refused), 1.0


def _refused(random):
    """Check that a step that an account refuses leaves it as it was."""
    (sigma, rate, _), (other, *_), *_ = _toured(random)
    steps, delta = random.randint(20, 60), 1e-4
    account = _stepped("gdp", [(sigma, rate, steps)])
    before = account.get_epsilon(delta)
    raises(ValueError, lambda: account.step(noise_multiplier=other, sample_rate=rate))
    account.step(noise_multiplier=sigma, sample_rate=rate)
    words = f"gdp, {steps} steps of {sigma!r} and {rate!r}, a refused one of noise {other!r}, and one more"
    yield f"{words}, history {account.history!r}", steps + 1, account.history[-1][2], steps + 1
    yield f"{words}, epsilon at {delta}", before, account.get_epsilon(delta), math.inf


def _limits(random):
    """Check the formulas of the central limit theorem."""
    sigma, rate, steps = random.uniform(0.8, 4), random.uniform(0.01, 0.3), random.randint(1, 50)
    poisson = rate * math.sqrt(steps * math.expm1(sigma**-2))
    inner = math.exp(sigma**-2) * normal_cdf(1.5 / sigma) + 3 * normal_cdf(-0.5 / sigma) - 2
    uniform = math.sqrt(2 * steps * inner) * rate
    given = {"steps": steps, "noise_multiplier": sigma, "sample_rate": rate}
    yield (f"compute_mu_poisson({given})", *near(gdp.compute_mu_poisson(**given), poisson))
    yield (f"compute_mu_uniform({given})", *near(gdp.compute_mu_uniform(**given), uniform))
    account = accountants.create_accountant("gdp")
    account.history = [(sigma, rate, steps)]
    for mu, choice in ((poisson, True), (uniform, False)):
        level = random.uniform(0, 2)
        yield (
            f"delta_eps_mu({level!r}, {mu!r})",
            *near(gdp.delta_eps_mu(eps=level, mu=mu), gaussian_delta(1 / mu, level)),
        )
        delta = gaussian_delta(1 / mu, 0.0) * random.uniform(0.01, 0.9)
        found = account.get_epsilon(delta, poisson=choice)
        yield (
            f"gdp of {given}, epsilon at {delta!r}, {choice}",
            *near(found, gaussian_epsilon(1 / mu, delta), 1e-7, 1e-7),
        )


def _domains(random):
    """Check that the grid reaches beyond what each mechanism, and all of them, cost with the stated chances."""
    one = (random.uniform(0.8, 3), random.uniform(0.05, 0.9), 1)  # costs most at the chance that a step has for itself
    more = [(random.uniform(0.8, 3), random.uniform(0.05, 0.9), random.randint(1, 20)) for _ in range(2)]
    for history in ([one], more):
        yield from _domain_of(random, history)


def _domain_of(random, history):
    error, chance = random.uniform(0.01, 0.2), 10 ** random.uniform(-9, -4)
    losses = [prvs.PoissonSubsampledGaussianPRV(rate, sigma) for sigma, rate, _ in history]
    counts = [count for *_, count in history]
    found = domain.compute_safe_domain_size(losses, counts, error, chance)

    def cost(history, delta):
        account = accountants.create_accountant("rdp")
        account.history = list(history)
        return account.get_epsilon(delta)

    singles = [cost([(sigma, rate, 1)], chance / (8 * sum(counts))) for sigma, rate, _ in history]
    least = max(cost(history, chance / 4), *singles, error) + 3
    yield (f"compute_safe_domain_size({history!r}, {error!r}, {chance!r})", *near(found, least))
    account = accountants.create_accountant("prv")
    grid = account._get_domain(losses, counts, error, chance)
    step = error / math.sqrt(sum(counts) / 2 * math.log(12 / chance))  # Theorem 5.5 of Gopi, Lee and Wutschitz 2021
    yield (f"the step of the grid of {history!r}, {error!r}, {chance!r}", *near(grid.dt, step, 1e-7))
    yield f"the grid of {history!r} reaches down", -math.inf, grid.t_min, -least * (1 - _ROUNDING)
    yield f"the grid of {history!r} reaches up", least * (1 - _ROUNDING), grid.t_max, least + 3 * step


def _noise(random):
    """Noise for a budget meets it, by the tolerance at most, for steps and for epochs."""
    batches, epochs = random.randint(3, 60), random.randint(1, 4)
    epsilon, delta, tolerance = random.uniform(0.5, 5), 10 ** random.uniform(-7, -3), random.choice([0.01, 0.1])

    def cost(sigma, steps):
        account = accountants.create_accountant("rdp")
        account.history = [(sigma, 1 / batches, steps)]
        return account.get_epsilon(delta)

    given = {"target_epsilon": epsilon, "target_delta": delta, "sample_rate": 1 / batches}
    for more, steps in (({"steps": 7 * epochs}, 7 * epochs), ({"epochs": epochs}, epochs * batches)):
        sigma = get_noise_multiplier(**given, **more, accountant="rdp", epsilon_tolerance=tolerance)
        words = f"get_noise_multiplier({given}, {more}, {tolerance})={sigma!r}, epsilon of {steps} steps"
        yield words, epsilon - tolerance * (1 + 1e-9), cost(sigma, steps), epsilon


def _large_orders(_):
    """Check a large fractional order, at which a known finding appears in every run."""
    smaller, middle, greater = (
        rdp.compute_rdp(q=0.5, noise_multiplier=50.0, steps=1, orders=order) for order in (60.0, 60.5, 61.0)
    )
    words = "compute_rdp(q=0.5, noise_multiplier=50.0, steps=1), order 60.5"
    yield words, smaller * (1 - _ROUNDING), middle, greater * (1 + _ROUNDING)


def account_relations():
    """Yield the relations."""
    attained = {"a divergence lies between those of smaller and greater orders": _large_orders}
    yield Relations("analysis.rdp, order 60.5", attained, understated=attained)
    attained = {
        "Gaussian mechanisms amount to one": _gaussians,
        "divergences are those of the densities": _divergences,
        "a refused step leaves the account as it was": _refused,
    }
    yield Relations(
        "accountants, histories",
        {
            **attained,
            "divergences of Gaussian mechanisms are converted like those of one": _converted_gaussians,
            "divergences are converted at the best order": _conversions,
            "steps are counted": _steps,
            "changing steps cost the sum of all": _sums_of_steps,
            "estimates have one noise and one rate": _constant,
            "estimates follow the central limit theorem": _limits,
            "the grid is large and fine enough": _domains,
            "noise for a budget meets it": _noise,
        },
        understated=attained,
    )
