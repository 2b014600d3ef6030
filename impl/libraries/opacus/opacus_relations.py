"""Exact relations of the accountants of opacus: losses, grids, convolutions, conversions, and the steps of a history.

The reference is the pair of distributions of a sampled Gaussian mechanism, and sums over a few probabilities.
"""

from __future__ import annotations

import math

import numpy as np
import opacus_without_torch  # noqa: F401  # before the library
from opacus import accountants
from opacus.accountants.analysis import gdp, rdp
from opacus.accountants.analysis.prv import compose, domain, prvs
from opacus.accountants.utils import get_noise_multiplier
from scipy import integrate, optimize

from dpassay.adapter import Relations
from dpassay.impl.libraries.references import (
    gaussian_delta,
    gaussian_epsilon,
    near,
    normal_cdf,
    sampled_gaussian_divergence,
)

__all__ = ["relations"]

_ROUNDING = 1e-9


# --- the privacy loss of a sampled Gaussian mechanism -------------------------------------------------------


def _place(sigma, rate, loss):
    """Return the outcome at which the sampled mechanism has this loss."""
    return sigma**2 * math.log((math.exp(loss) - 1 + rate) / rate) + 0.5


def _chance(sigma, rate, loss):
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
        rows = [(losses.cdf, _chance, "cdf"), (losses.pdf, _density, "pdf")]
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
    mass = _chance(sigma, rate, high) - _chance(sigma, rate, low)
    words = f"rate {rate!r}, noise {sigma!r}, truncated to {low!r}, {high!r}"
    with np.errstate(all="ignore"):
        for level in (low - 0.1, *_levels(random, sigma, rate), high + 0.1):
            inside = low <= level < high
            exact = (
                (_chance(sigma, rate, level) - _chance(sigma, rate, low)) / mass if inside else float(level >= high)
            )
            yield (f"{words}, cdf({level!r})", *near(losses.cdf(level), exact, 1e-8))
            exact = _density(sigma, rate, level) / mass if inside else 0.0
            yield (f"{words}, pdf({level!r})", *near(losses.pdf(level), exact, 1e-8))
        least = max(low, math.log1p(-rate))
        area, _ = integrate.quad(lambda t: _chance(sigma, rate, t), least, high, limit=500, points=[0.0])
        exact = (high * _chance(sigma, rate, high) - least * _chance(sigma, rate, least) - area) / mass
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
    few = _Few(random)
    error, slack = random.choice([0.0, random.uniform(0, 0.02)]), random.uniform(0, 0.1)
    for delta in (random.uniform(0.05, 0.3), 0.03 + error):
        found = few.losses.compute_epsilon(delta, error, slack)
        for name, value, exact in zip(
            ("lower", "estimate", "upper"),
            found,
            (
                _epsilon(few.pairs, delta + error) - slack,
                _epsilon(few.pairs, delta),
                _epsilon(few.pairs, delta - error) + slack,
            ),
        ):
            yield (f"{few.pairs!r}, {name} epsilon at {delta!r} with {error!r}, {slack!r}", *near(value, exact, 1e-8))
    yield "epsilon at no delta", math.inf, few.losses.compute_epsilon(0.0, 0.0, 0.0)[2], math.inf
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
    return 1 - _chance(sigma, rate, epsilon) - math.exp(epsilon) * normal_cdf(-x / sigma)


# --- accounts -----------------------------------------------------------------------------------------------


def _gaussians(random):
    """Check that a history without sampling is one Gaussian mechanism, to each accountant."""
    history = [(random.uniform(1.5, 4), 1.0, random.randint(1, 5)) for _ in range(random.randint(1, 4))]
    sigma = math.fsum(n / s**2 for s, _, n in history) ** -0.5
    delta, error = 10 ** random.uniform(-6, -2), random.choice([0.01, 0.1])
    account = accountants.create_accountant("prv")
    account.history = list(history)
    with np.errstate(all="ignore"):
        found = account.get_epsilon(delta, eps_error=error)
    exact, far = (gaussian_epsilon(sigma, d) for d in (delta, delta * (1 - 2e-3)))
    yield f"prv of {history!r}, epsilon at {delta!r}, error {error}", exact, float(found), far + 2 * error
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
    delta = 10 ** random.uniform(-8, -2)
    best, order = rdp.get_privacy_spent(orders=orders, rdp=exact, delta=delta)
    least = min(_converted(o, r, delta) for o, r in zip(orders, exact))
    yield (f"get_privacy_spent({orders}, {exact}, {delta!r})", *near(best, least))
    yield "its order is the best", *near(_converted(order, exact[orders.index(order)], delta), least)
    for a, b in ((random.uniform(-9, 3), random.uniform(-9, 3)), (1.0, -math.inf)):
        high, low = max(a, b), min(a, b)
        yield (f"_log_add({a}, {b})", *near(rdp._log_add(a, b), math.log(math.exp(a) + math.exp(b))))
        yield (f"_log_sub({high}, {low})", *near(rdp._log_sub(high, low), math.log(math.exp(high) - math.exp(low))))


def _steps(random):
    """Check that steps one by one are the history, that equal neighbours are counted together, and states."""
    kinds = [(random.uniform(1, 3), random.uniform(0.1, 0.6)) for _ in range(3)]
    taken = [kind for kind in random.choices(kinds, k=4) for _ in range(random.randint(1, 3))]
    runs = []
    for kind in taken:
        if runs and runs[-1][:2] == kind:
            runs[-1] = (*kind, runs[-1][2] + 1)
        else:
            runs.append((*kind, 1))
    delta = 1e-4
    for name in ("rdp", "prv", "gdp"):
        empty = accountants.create_accountant(name)
        yield f"{name}, no steps, length", 0.0, float(len(empty)), 0.0
    for name in ("rdp", "prv"):
        one, two = accountants.create_accountant(name), accountants.create_accountant(name)
        for sigma, rate in taken:
            one.step(noise_multiplier=sigma, sample_rate=rate)
        words = f"{name}, steps {taken!r}"
        yield f"{words}, history {one.history!r}", 1.0, float([tuple(run) for run in one.history] == runs), 1.0
        yield (f"{words}, length", *near(len(one), len(runs)))
        two.load_state_dict(one.state_dict())
        yield f"{words}, state", 1.0, float(two.history == one.history and two.mechanism() == name), 1.0
        if name == "rdp":
            two.history = [(sigma, rate, 1) for sigma, rate in taken]
            orders = [2.0, 3.5, 8.0]
            yield (f"{words}, epsilon", *near(one.get_epsilon(delta, orders), two.get_epsilon(delta, orders)))
    same = accountants.create_accountant("gdp")
    for _ in range(5):
        same.step(noise_multiplier=kinds[0][0], sample_rate=kinds[0][1])
    yield "gdp, length", 1.0, float(len(same)), 1.0
    yield (
        f"gdp, five steps {same.history!r}",
        1.0,
        float([tuple(run) for run in same.history] == [(*kinds[0], 5)]),
        1.0,
    )
    try:
        same.step(noise_multiplier=kinds[1][0], sample_rate=kinds[0][1])
        refused = 0.0
    except ValueError:
        refused = 1.0
    yield "gdp refuses other noise", 1.0, refused, 1.0
    hook = accountants.create_accountant("rdp")
    rate = random.uniform(0.01, 0.2)
    hook.get_optimizer_hook_fn(rate)(type("Optimizer", (), {"noise_multiplier": 1.5, "accumulated_iterations": 3})())
    yield (f"the hook of rate {rate!r} after 3 accumulated iterations", *near(hook.history[-1][1], 3 * rate))


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


def relations():
    """Yield the relations."""
    yield Relations(
        "analysis.prv, losses",
        {
            "the loss of a sampled Gaussian mechanism has its distribution": _losses,
            "truncated losses are conditioned": _truncated,
            "a grid is even and covers what is asked": _grids,
            "epsilon and delta are those of the probabilities": _numbers,
            "composed losses are sums": _convolutions,
            "losses on a grid keep their mean": _discretised,
        },
    )
    yield Relations(
        "accountants, histories",
        {
            "Gaussian mechanisms amount to one": _gaussians,
            "divergences are those of the densities": _divergences,
            "steps are counted": _steps,
            "estimates follow the central limit theorem": _limits,
            "the grid is large and fine enough": _domains,
            "noise for a budget meets it": _noise,
        },
    )
