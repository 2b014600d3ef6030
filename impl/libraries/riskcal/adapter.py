"""riskcal: risks of attacks (error rates, advantage, Bayes risk) from parameters of privacy, and calibration to them.

A false negative rate is a lower bound on what an attack has at a false positive rate; an advantage is an upper bound.
"""

from __future__ import annotations

import functools
import math
import statistics
import sys
import warnings
from types import SimpleNamespace

from dp_accounting.pld import privacy_loss_distribution as pld
from riskcal import analysis
from riskcal.accountants import CTDAccountant
from riskcal.calibration import dpsgd

from dpassay.adapter import Answer, Nonsense, Refused, Relations
from dpassay.impl.libraries.references import gaussian_delta, near, normal_cdf

LIBRARY = "riskcal"

warnings.simplefilter("ignore")

_STEP = 1e-3
"""Between the losses on the grid."""

_SAMPLED = 1e-6
"""Absolute, in rates: probabilities on a grid are scaled so that they sum to 1."""

_RATES = (1e-12, 1e-6, 0.01, 0.2, 0.5, 0.83, 1 - 1e-6)


def _gaussian_rate(mu, rate):
    """Return the false negative rate of Gaussian noise at a false positive rate (Dong and others 2019)."""
    return normal_cdf(-statistics.NormalDist().inv_cdf(rate) - mu)


def _of_mu(random):
    mu = random.uniform(0.05, 6)
    for rate in (*_RATES, random.random()):
        words = f"mu={mu!r}, alpha={rate!r}"
        yield (f"get_beta_from_gdp, {words}", *near(analysis.get_beta_from_gdp(mu, rate), _gaussian_rate(mu, rate)))
    yield (f"get_advantage_from_gdp({mu!r})", *near(analysis.get_advantage_from_gdp(mu), 2 * normal_cdf(mu / 2) - 1))
    for prior in (0.01, 0.5, random.uniform(0.05, 0.95), 0.99):
        exact = _bayes(prior, lambda epsilon: gaussian_delta(1 / mu, epsilon))
        words = f"get_bayes_risk_from_gdp({mu!r}, {prior!r})"
        yield (words, *near(analysis.get_bayes_risk_from_gdp(mu, prior), exact, 1e-7))


def _bayes(prior, delta):
    """Return the error of the best guess of a bit that is 1 with probability `prior` (hockey-stick divergence)."""
    return (1 - prior) * (1 - delta(math.log(prior / (1 - prior))))


def _approximate_rate(epsilon, delta, rate):
    return max(0.0, 1 - delta - math.exp(epsilon) * rate, math.exp(-epsilon) * (1 - delta - rate))


def _of_epsilon(random):
    epsilon, delta = random.uniform(0, 7), random.choice([0.0, 10 ** random.uniform(-9, -0.3)])
    for rate in (0.0, *_RATES, random.random(), 1.0):
        exact = _approximate_rate(epsilon, delta, rate)
        words = f"epsilon={epsilon!r}, delta={delta!r}, alpha={rate!r}"
        yield (f"get_beta_from_adp, {words}", *near(analysis.get_beta_from_adp(epsilon, delta, rate), exact))
        if 1e-3 < rate < 1 - delta and exact > 1e-3:  # the rest is lost in float64
            back = analysis.get_epsilon_from_err_rates(delta, rate, exact)
            yield (f"get_epsilon_from_err_rates, {words}", *near(back, epsilon, 1e-6, 1e-6))
    exact = 1 - 2 * (1 - delta) / (1 + math.exp(epsilon))
    yield (
        f"get_advantage_from_adp({epsilon!r}, {delta!r})",
        *near(analysis.get_advantage_from_adp(epsilon, delta), exact),
    )


def _distributions(random):
    """Yield names, loss distributions, their divergences, and an epsilon where these have a kink."""
    sigma, scale = random.uniform(0.6, 4), random.uniform(0.4, 4)
    yield (
        f"Gaussian {sigma!r}",
        pld.from_gaussian_mechanism(sigma, value_discretization_interval=_STEP),
        functools.partial(gaussian_delta, sigma),
        0.0,
    )
    yield (
        f"Laplace {scale!r}",
        pld.from_laplace_mechanism(scale, value_discretization_interval=_STEP),
        functools.partial(_laplace_delta, scale),
        1 / scale,
    )
    rate = random.uniform(0.05, 0.6)
    sampled = pld.from_gaussian_mechanism(sigma, sampling_prob=rate, value_discretization_interval=_STEP)
    yield f"Gaussian {sigma!r} on a sample {rate!r}", sampled, functools.partial(_sampled_delta, sigma, rate), 0.0


def _laplace_delta(scale, epsilon):
    top = 1 / scale
    if epsilon >= top:
        return 0.0
    return -math.expm1(max(epsilon, -top)) if epsilon <= -top else -math.expm1((epsilon - top) / 2)


def _sampled_delta(sigma, rate, epsilon):
    """Return the larger divergence of a Poisson sample, with the record in it left or right."""
    floor = math.log(1 - rate)
    removed, added = _one_sided(epsilon, floor, rate, sigma), _one_sided(-epsilon, floor, rate, sigma)
    return max(removed, math.exp(epsilon) * added - math.expm1(epsilon))


def _one_sided(epsilon, floor, rate, sigma):
    """Return the divergence of the mixture from the noise alone."""
    if epsilon <= floor:
        return -math.expm1(epsilon)
    inner = math.log1p((math.expm1(epsilon)) / rate)
    return rate * gaussian_delta(sigma, inner)


def _of_losses(random):
    for name, losses, delta, kink in _distributions(random):
        levels = [*(k / 400 for k in range(3200)), kink]
        for rate in (1e-4, 0.03, 0.3, 0.7, random.random()):
            found = float(analysis.get_beta_from_pld(losses, alpha=rate))
            least = max(_approximate_rate(level, delta(level), rate) for level in levels)
            words = f"{name}, alpha={rate!r}"
            yield (
                f"get_beta_from_pld, {words}",
                least - 3 * _STEP - _SAMPLED,
                found,
                least + _SAMPLED + 1e-5,
            )
        advantage = analysis.get_advantage_from_pld(losses)
        yield f"get_advantage_from_pld, {name}", delta(0.0) - 1e-9, advantage, delta(0.0) + 2 * _STEP
        for prior in (0.5, 0.8, random.uniform(0.5, 0.97)):
            exact, found = _bayes(prior, delta), analysis.get_bayes_risk_from_pld(losses, prior)
            yield f"get_bayes_risk_from_pld, {name}, {prior!r}", exact - 2 * _STEP, float(found), exact + 1e-9


def _renyi_rate(epsilon, order, rate):
    """Return the least false negative rate whose two-point divergences do not exceed epsilon, both ways."""

    def divergence(one, two):
        """Return that of two points, of which both probabilities are given: 1 - p is 1 for a small p."""
        if order == 1:
            return math.fsum(p * math.log(p / q) for p, q in zip(one, two))
        terms = [order * math.log(p) + (1 - order) * math.log(q) for p, q in zip(one, two)]
        top = max(terms)
        return (top + math.log(math.fsum(math.exp(term - top) for term in terms))) / (order - 1)

    low, high = 1e-300, 1 - rate
    for _ in range(2000):
        middle = math.sqrt(low) * math.sqrt(high) if high > 4 * low else (low + high) / 2
        if middle in (low, high):
            break
        one, two = (1 - middle, middle), (rate, 1 - rate)
        fits = max(divergence(one, two), divergence(two, one)) <= epsilon
        low, high = (low, middle) if fits else (middle, high)
    return high


def _of_renyi(random):
    for order in (0.7, 1.0, 1.5, 2.0, random.uniform(1.1, 30)):
        epsilon = random.uniform(0.05, 4)
        for rate in (1e-5, 0.01, 0.3, random.uniform(0.05, 0.9)):
            exact = _renyi_rate(epsilon, order, rate)
            words = f"get_beta_from_rdp({epsilon!r}, alpha={rate!r}, order={order!r})"
            yield (words, *near(analysis.get_beta_from_rdp(epsilon, rate, order), exact, 1e-7, 2e-7))


def _of_large_orders(random):
    """Check bounds at the orders from which the power of a rate overflows."""
    epsilon = random.uniform(1.0, 3.0)
    for rate in (1e-6, 1e-4, 1e-3):
        order = 1.002 + math.log(sys.float_info.max) / -math.log(rate)
        exact = _renyi_rate(epsilon, order, rate)
        words = f"get_beta_from_rdp({epsilon!r}, alpha={rate!r}, order={order!r})"
        yield words, -math.inf, float(analysis.get_beta_from_rdp(epsilon, rate, order)), exact + 2e-7


def _of_little_loss(random):
    """Check that the bound of a small rho admits an attack on Gaussian noise."""
    rho = 10 ** random.uniform(-3, -1.3)
    found = analysis.get_beta_from_zcdp(rho, 1e-6)
    yield f"get_beta_from_zcdp({rho!r}, 1e-06)", 0.0, found, _gaussian_rate(math.sqrt(2 * rho), 1e-6) + 1e-8


def _of_concentrated(random):
    """Gaussian noise is rho-zCDP: no bound may exclude what an attack on it reaches.

    Where rho is small, bounds at large orders decide, which are known to be wrong.
    """
    rho = 10 ** random.uniform(-0.5, 1.2)
    mu = math.sqrt(2 * rho)
    for rate in (1e-8, 1e-3, random.uniform(0.05, 0.6)):
        found = analysis.get_beta_from_zcdp(rho, rate)
        least = max(_renyi_rate(rho * order, order, rate) for order in (1.0, 1.7, 3.0, 8.0))
        yield f"get_beta_from_zcdp({rho!r}, {rate!r})", least - 1e-2, found, _gaussian_rate(mu, rate) + 1e-8


def _advantage_of_concentrated(random):
    rho = 10 ** random.uniform(-2, 0.5)
    found = analysis.get_advantage_from_zcdp(rho, grid_size=60)
    yield f"get_advantage_from_zcdp({rho!r})", 2 * normal_cdf(math.sqrt(rho / 2)) - 1 - 1e-9, found, 1.0


def _calibrated(random):
    """Full batches are Gaussian noise, whose risks are known; the search ends within its tolerance."""
    count, tolerance = random.randint(1, 6), 1e-3
    advantage, rate = random.uniform(0.1, 0.6), random.uniform(0.02, 0.3)
    target = (1 - rate) * random.uniform(0.3, 0.9)
    sigma = dpsgd.find_noise_multiplier_for_advantage(advantage, 1.0, count, grid_step=_STEP)
    exact = 2 * normal_cdf(math.sqrt(count) / sigma / 2) - 1
    words = f"find_noise_multiplier_for_advantage({advantage!r}, 1.0, {count})"
    yield words, advantage - tolerance - 1e-6, exact, advantage + 1e-9
    sigma = dpsgd.find_noise_multiplier_for_err_rates(rate, target, 1.0, count, grid_step=_STEP)
    exact = _gaussian_rate(math.sqrt(count) / sigma, rate)
    words = f"find_noise_multiplier_for_err_rates({rate!r}, {target!r}, 1.0, {count})"
    yield words, target - tolerance - 1e-4, exact, target + tolerance + 1e-4


def _accounts(random):
    account, parts = CTDAccountant(), [(random.uniform(1, 4), random.randint(1, 3)) for _ in range(3)]
    iterations = random.choice([2, 4])  # over which the batches of the second part are spread
    hook = account.get_optimizer_hook_fn(1 / iterations)
    for place, (sigma, count) in enumerate(parts):
        for _ in range(count):
            if place == 1:
                hook(SimpleNamespace(noise_multiplier=sigma, accumulated_iterations=iterations))
            else:
                account.step(noise_multiplier=sigma, sample_rate=1.0)
    mu = math.sqrt(math.fsum(count / sigma**2 for sigma, count in parts))
    words, rate = f"CTDAccountant, {parts!r}, {iterations} iterations", random.uniform(0.01, 0.5)
    total = sum(count for _, count in parts)
    yield f"{words}, len", total, len(account), total
    exact = 2 * normal_cdf(mu / 2) - 1
    yield f"{words}, advantage", exact - 1e-9, account.get_advantage(grid_step=_STEP), exact + 0.01
    exact = _gaussian_rate(mu, rate)
    yield (
        f"{words}, beta at {rate!r}",
        exact - 0.01,
        float(account.get_beta(alpha=rate, grid_step=_STEP)),
        exact + _SAMPLED,
    )
    other = CTDAccountant()
    other.load_state_dict(account.state_dict())
    yield f"{words}, a loaded state", len(account), len(other), len(account)


def _accounts_of_samples(random):
    """Compare an account of samples whose rates differ with the losses of its steps, composed one by one."""
    account, losses, delta = CTDAccountant(), [], 10 ** random.uniform(-6, -2)
    parts = [(random.uniform(1, 4), random.uniform(0.05, 0.6), random.randint(2, 4)) for _ in range(3)]
    for sigma, share, count in parts:
        step = pld.from_gaussian_mechanism(sigma, sampling_prob=share, value_discretization_interval=_STEP)
        for _ in range(count):
            account.step(noise_multiplier=sigma, sample_rate=share)
            losses.append(step)
    exact = functools.reduce(lambda one, other: one.compose(other), losses).get_epsilon_for_delta(delta)
    found = account.get_epsilon(delta=delta, grid_step=_STEP)
    yield (f"CTDAccountant, {parts!r}, epsilon at {delta!r}", *near(found, exact, 1e-6, 1e-6))


def _training(random):
    """Check at the default grid that attacks succeed as often as on an optimistic estimate of the training."""
    sigma, share, count = random.uniform(0.8, 1.2), random.uniform(0.01, 0.03), random.randint(200, 900)
    account = CTDAccountant()
    account.history = [(sigma, share, count)]
    step = pld.from_gaussian_mechanism(sigma, sampling_prob=share, pessimistic_estimate=False, use_connect_dots=False)
    losses = step.self_compose(count)
    curve = [(k / 100, losses.get_delta_for_epsilon(k / 100)) for k in range(-200, 801)]
    for rate in (1e-6, 1e-5, 1e-4, 0.01, random.uniform(0.05, 0.6)):
        least = min(d + math.exp(e) * rate for e, d in curve)
        found = 1 - float(account.get_beta(alpha=rate))
        words = f"true positive rate at {rate!r}, noise {sigma!r}, sample {share!r}, {count} steps"
        yield words, max(rate, least) * (1 - 1e-6) - _SAMPLED * rate, found, 1.0


def _account_epsilon(sigma, count, delta, rate=1.0):
    parts = count if isinstance(count, tuple) else (count,)
    if any(part != int(part) for part in parts):
        raise ValueError("steps are counted one by one")
    account = CTDAccountant()
    account.history = [(sigma, rate, int(part)) for part in parts]
    return float(account.get_epsilon(delta=delta, grid_step=_STEP))


def _between_losses():
    """Return whether a randomised response whose loss is not on the grid keeps its curve, but for the grid."""
    epsilon, rate = 2.5 + _STEP / 3, 0.05
    losses = pld.from_randomized_response(2 / (1 + math.exp(epsilon)), 2, value_discretization_interval=_STEP)
    return analysis.get_beta_from_pld(losses, alpha=rate) >= 1 - math.exp(epsilon) * rate - 2 * _STEP


def _edges():
    return {
        "losses between points of the grid keep the curve": _between_losses,
        "rates that no attack needs cost nothing": lambda: analysis.get_epsilon_from_err_rates(0.1, 0.95, 0.01) == 0,
        "no shift leaves the error of the prior": lambda: analysis.get_bayes_risk_from_gdp(0.0, 0.5) == 0.5,
        "a large epsilon allows any advantage": lambda: analysis.get_advantage_from_adp(800.0, 0.0) == 1,
        "zCDP does not forbid rare false positives": lambda: (
            analysis.get_beta_from_zcdp(20.0, 1e-9) <= _gaussian_rate(math.sqrt(40.0), 1e-9)
        ),
    }


def _refusals():
    nan = math.nan
    yield Nonsense(
        "riskcal.analysis",
        {
            "get_beta_from_gdp, alpha=1.5": lambda: float(_number(analysis.get_beta_from_gdp(1.0, 1.5))),
            "get_beta_from_gdp, mu=-1": lambda: _number(analysis.get_beta_from_gdp(-1.0, 0.1)),
            "get_advantage_from_gdp, mu=-1": lambda: _number(analysis.get_advantage_from_gdp(-1.0)),
            "get_bayes_risk_from_gdp, mu=-1": lambda: _number(analysis.get_bayes_risk_from_gdp(-1.0, 0.5)),
            "get_beta_from_adp, epsilon=-1": lambda: _number(analysis.get_beta_from_adp(-1.0, 0.0, 0.1)),
            "get_beta_from_adp, epsilon=nan": lambda: float(analysis.get_beta_from_adp(nan, 0.0, 0.1)),
            "get_beta_from_adp, delta=2": lambda: _number(analysis.get_beta_from_adp(1.0, 2.0, 0.1)),
            "get_advantage_from_adp, epsilon=-1": lambda: _number(analysis.get_advantage_from_adp(-1.0, 0.0)),
            "get_epsilon_from_err_rates, beta=1.5": lambda: _number(
                analysis.get_epsilon_from_err_rates(0.0, 0.1, 1.5)
            ),
            "get_beta_from_rdp, epsilon=-1": lambda: analysis.get_beta_from_rdp(-1.0, 0.1, 2.0),
            "get_beta_from_rdp, alpha=1.5": lambda: analysis.get_beta_from_rdp(1.0, 1.5, 2.0),
            "get_beta_from_rdp, order=-1": lambda: analysis.get_beta_from_rdp(1.0, 0.1, -1.0),
            "get_beta_from_rdp, epsilon=nan": lambda: analysis.get_beta_from_rdp(nan, 0.1, 2.0),
            "get_beta_from_zcdp, rho=-1": lambda: analysis.get_beta_from_zcdp(-1.0, 0.1),
            "find_noise_multiplier_for_advantage, advantage=-1": lambda: dpsgd.find_noise_multiplier_for_advantage(
                -1.0, 1.0, 1, grid_step=0.1
            ),
            "find_noise_multiplier_for_err_rates, alpha=1.5": lambda: dpsgd.find_noise_multiplier_for_err_rates(
                1.5, 0.1, 1.0, 1, grid_step=0.1
            ),
            "an empty state": lambda: CTDAccountant().load_state_dict({}),
        },
    )


def _number(value):
    """Return a number; NaN is as good as a refusal."""
    if math.isnan(float(value)):
        raise Refused("nan")
    return float(value)


def cases():
    """Return all cases."""
    domain = {"count": (1, 20), "sigma": (0.7, 50.0), "rate": (0.01, 1.0), "delta": (1e-9, 0.5)}
    return [
        Relations(
            "riskcal.analysis, relations",
            {
                "risks of Gaussian privacy are exact": _of_mu,
                "risks of approximate privacy are exact": _of_epsilon,
                "risks of loss distributions enclose the truth": _of_losses,
                "error rates of Renyi privacy are the least": _of_renyi,
                "zCDP admits Gaussian noise": _of_concentrated,
                "zCDP admits the advantage of Gaussian noise": _advantage_of_concentrated,
            },
            _edges(),
        ),
        Relations(
            "riskcal.analysis, large orders",
            {
                "error rates of Renyi privacy are no larger": _of_large_orders,
                "zCDP of a small rho admits Gaussian noise": _of_little_loss,
            },
        ),
        Relations("riskcal.calibration", {"noise meets the target": _calibrated}, seconds=120.0),
        Relations(
            "CTDAccountant, relations",
            {
                "accounts of full batches are Gaussian": _accounts,
                "accounts of samples are composed losses": _accounts_of_samples,
            },
        ),
        Relations("CTDAccountant, training", {"error rates of training admit the attacks on it": _training}),
        *(
            Answer(
                f"CTDAccountant, {stem}",
                f"{stem}_epsilon",
                _account_epsilon,
                domain=domain,
                looseness=40 * _STEP,
                relative_error=1e-9,
                calls=40,
            )
            for stem in ("gaussian", "subsampled_gaussian")
        ),
        *_refusals(),
    ]
