"""Risks that riskcal reads from parameters of privacy: error rates, advantage and Bayes risk.

A false negative rate is a lower bound on what an attack has at a false positive rate; an advantage is an upper bound.
So rates and errors are compared as what they leave of 1: a number below its bounds then understates an attack.
"""

from __future__ import annotations

import functools
import math
import sys
import warnings

from dp_accounting.pld import privacy_loss_distribution as pld
from riskcal import analysis
from riskcal.analysis.rdp import pure

from dpassay.adapter import Relations
from dpassay.impl.libraries.references import (
    gaussian_delta,
    gaussian_rate,
    near,
    normal_cdf,
    sampled_gaussian_deltas,
    short_of,
)

warnings.simplefilter("ignore")

STEP = 1e-3
"""Between the losses on the grid."""

SCALED = 1e-6
"""Absolute, in rates: probabilities on a grid are scaled so that they sum to 1."""


_RATES = (1e-12, 1e-6, 0.01, 0.2, 0.5, 0.83, 1 - 1e-6)


def _of_mu(random):
    mu = random.uniform(0.05, 6)
    for rate in (*_RATES, random.random()):
        words = f"mu={mu!r}, alpha={rate!r}"
        found = near(analysis.get_beta_from_gdp(mu, rate), gaussian_rate(mu, rate))
        yield short_of(1, f"get_beta_from_gdp, {words}", *found)
    yield (f"get_advantage_from_gdp({mu!r})", *near(analysis.get_advantage_from_gdp(mu), 2 * normal_cdf(mu / 2) - 1))
    for prior in (0.01, 0.5, random.uniform(0.05, 0.95), 0.99):
        exact = _bayes(prior, lambda epsilon: gaussian_delta(1 / mu, epsilon))
        words = f"get_bayes_risk_from_gdp({mu!r}, {prior!r})"
        yield short_of(1, words, *near(analysis.get_bayes_risk_from_gdp(mu, prior), exact, 1e-7))


def _bayes(prior, delta):
    """Return the error of the best guess of a bit that is 1 with probability `prior` (hockey-stick divergence)."""
    return (1 - prior) * (1 - delta(math.log(prior / (1 - prior))))


def approximate_rate(epsilon, delta, rate):
    """Return the least false negative rate that is (epsilon, delta)-DP at a false positive rate."""
    return max(0.0, 1 - delta - math.exp(epsilon) * rate, math.exp(-epsilon) * (1 - delta - rate))


def _of_epsilon(random):
    """Ask on both sides of the corner, where one of two constraints decides, with no delta and with a large one."""
    epsilon = random.uniform(0, 7)
    for delta in (0.0, random.uniform(0.01, 0.3), 10 ** random.uniform(-9, -3)):
        corner = (1 - delta) / (1 + math.exp(epsilon))
        sides = [corner * random.uniform(0.1, 0.9), corner + (1 - delta - corner) * random.uniform(0.1, 0.9)]
        for rate in (0.0, *_RATES, *sides, random.random(), 1.0):
            exact = approximate_rate(epsilon, delta, rate)
            words = f"epsilon={epsilon!r}, delta={delta!r}, alpha={rate!r}"
            found = near(analysis.get_beta_from_adp(epsilon, delta, rate), exact)
            yield short_of(1, f"get_beta_from_adp, {words}", *found)
            if 1e-6 < rate < 1 - delta and exact > 1e-6:  # the rest is lost in float64
                back = analysis.get_epsilon_from_err_rates(delta, rate, exact)
                yield (f"get_epsilon_from_err_rates, {words}", *near(back, epsilon, 1e-6, 1e-6))
        exact = 1 - 2 * (1 - delta) / (1 + math.exp(epsilon))
        words = f"get_advantage_from_adp({epsilon!r}, {delta!r})"
        yield (words, *near(analysis.get_advantage_from_adp(epsilon, delta), exact))


def _distributions(random):
    """Yield names, loss distributions, their divergences, and an epsilon where these have a kink."""
    sigma, scale = random.uniform(0.6, 4), random.uniform(0.4, 4)
    yield (
        f"Gaussian {sigma!r}",
        pld.from_gaussian_mechanism(sigma, value_discretization_interval=STEP),
        functools.partial(gaussian_delta, sigma),
        0.0,
    )
    yield (
        f"Laplace {scale!r}",
        pld.from_laplace_mechanism(scale, value_discretization_interval=STEP),
        functools.partial(_laplace_delta, scale),
        1 / scale,
    )
    rate = random.uniform(0.05, 0.6)
    yield (
        f"Gaussian {sigma!r} on a sample {rate!r}",
        pld.from_gaussian_mechanism(sigma, sampling_prob=rate, value_discretization_interval=STEP),
        lambda epsilon: max(sampled_gaussian_deltas(sigma, rate, epsilon)),
        0.0,
    )


def _laplace_delta(scale, epsilon):
    top = 1 / scale
    if epsilon >= top:
        return 0.0
    return -math.expm1(epsilon) if epsilon <= -top else -math.expm1((epsilon - top) / 2)


def _least_rate(delta, kink, rate):
    """Return the least false negative rate: the largest bound of an epsilon, sought near the best of coarse ones."""

    def bound(level):
        return approximate_rate(level, delta(level), rate)

    best = max([*(k / 400 for k in range(3200)), kink], key=bound)
    return max(bound(max(best + k / 40_000, 0.0)) for k in range(-100, 101))


def _of_losses(random):
    for name, losses, delta, kink in _distributions(random):
        for rate in (1e-4, 0.03, 0.3, 0.7, random.random()):
            found = float(analysis.get_beta_from_pld(losses, alpha=rate))
            least = _least_rate(delta, kink, rate)
            words = f"{name}, alpha={rate!r}"
            # the best of levels 1 / 40,000 apart is missed by less than 1e-7 where losses have a density below 1,000
            ends = least - 3 * STEP - SCALED, found, least + SCALED + 1e-7
            yield short_of(1, f"get_beta_from_pld, {words}", *ends)
        advantage = analysis.get_advantage_from_pld(losses)
        yield f"get_advantage_from_pld, {name}", delta(0.0) - 1e-9, advantage, delta(0.0) + 2 * STEP
        for prior in (0.2, 0.5, 0.8, random.uniform(0.03, 0.5), random.uniform(0.5, 0.97)):
            exact, found = _bayes(prior, delta), analysis.get_bayes_risk_from_pld(losses, prior)
            yield short_of(1, f"get_bayes_risk_from_pld, {name}, {prior!r}", exact - 2 * STEP, found, exact + 1e-9)


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
            words = f"({epsilon!r}, alpha={rate!r}, order={order!r})"
            found = analysis.get_beta_from_rdp(epsilon, rate, order)
            yield short_of(1, f"get_beta_from_rdp{words}", *near(found, exact, 1e-7, 2e-7))
            # used only where the compiled module cannot be imported
            found = pure.get_FNR(rate, order, epsilon)
            yield short_of(1, f"get_FNR in Python, {words}", *near(found, exact, 1e-7, 2e-7))


def _of_large_orders(random):
    """Check bounds at the orders from which the power of a rate overflows."""
    epsilon = random.uniform(1.0, 3.0)
    for rate in (1e-6, 1e-4, 1e-3):
        order = 1.002 + math.log(sys.float_info.max) / -math.log(rate)
        exact = _renyi_rate(epsilon, order, rate)
        words = f"get_beta_from_rdp({epsilon!r}, alpha={rate!r}, order={order!r})"
        yield short_of(1, words, -math.inf, analysis.get_beta_from_rdp(epsilon, rate, order), exact + 2e-7)


def _of_little_loss(random):
    """Check that the bound of a small rho admits an attack on Gaussian noise."""
    rho = 10 ** random.uniform(-3, -1.3)
    found = analysis.get_beta_from_zcdp(rho, 1e-6)
    most = gaussian_rate(math.sqrt(2 * rho), 1e-6) + 1e-8
    yield short_of(1, f"get_beta_from_zcdp({rho!r}, 1e-06)", 0.0, found, most)


def _of_concentrated(random):
    """Gaussian noise is rho-zCDP: no bound may exclude what an attack on it reaches.

    Where rho is small, bounds at large orders decide, which are known to be wrong.
    """
    rho = 10 ** random.uniform(-0.5, 1.2)
    mu = math.sqrt(2 * rho)
    for rate in (1e-8, 1e-3, random.uniform(0.05, 0.6)):
        found = analysis.get_beta_from_zcdp(rho, rate)
        least = max(_renyi_rate(rho * order, order, rate) for order in (1.0, 1.7, 3.0, 8.0))
        ends = least - 1e-2, found, gaussian_rate(mu, rate) + 1e-8
        yield short_of(1, f"get_beta_from_zcdp({rho!r}, {rate!r})", *ends)


def _advantage_of_concentrated(random):
    rho = 10 ** random.uniform(-2, 0.5)
    found = analysis.get_advantage_from_zcdp(rho, grid_size=60)
    yield f"get_advantage_from_zcdp({rho!r})", 2 * normal_cdf(math.sqrt(rho / 2)) - 1 - 1e-9, found, 1.0


def _between_losses():
    """Return whether a randomised response whose loss is not on the grid keeps its curve, but for the grid."""
    epsilon, rate = 2.5 + STEP / 3, 0.05
    losses = pld.from_randomized_response(2 / (1 + math.exp(epsilon)), 2, value_discretization_interval=STEP)
    return analysis.get_beta_from_pld(losses, alpha=rate) >= 1 - math.exp(epsilon) * rate - 2 * STEP


def _edges():
    return {
        "losses between points of the grid keep the curve": _between_losses,
        "rates that no attack needs cost nothing": lambda: analysis.get_epsilon_from_err_rates(0.1, 0.95, 0.01) == 0,
        "no shift leaves the error of the prior": lambda: analysis.get_bayes_risk_from_gdp(0.0, 0.5) == 0.5,
        "a large epsilon allows any advantage": lambda: analysis.get_advantage_from_adp(800.0, 0.0) == 1,
        "zCDP does not forbid rare false positives": lambda: (
            analysis.get_beta_from_zcdp(20.0, 1e-9) <= gaussian_rate(math.sqrt(40.0), 1e-9)
        ),
    }


def analysis_relations():
    """Yield relations and facts of what is read from parameters and from loss distributions."""
    risks = {
        "risks of Gaussian privacy are exact": _of_mu,
        "risks of approximate privacy are exact": _of_epsilon,
        "risks of loss distributions enclose the truth": _of_losses,
        "error rates of Renyi privacy are the least": _of_renyi,
        "zCDP admits Gaussian noise": _of_concentrated,
        "zCDP admits the advantage of Gaussian noise": _advantage_of_concentrated,
    }
    yield Relations("riskcal.analysis, relations", risks, understated=list(risks))
    # the other facts break where the library states too much, or NaN
    yield Relations("riskcal.analysis, facts", {}, _edges(), understated=["zCDP does not forbid rare false positives"])
    large = {
        "error rates of Renyi privacy are no larger": _of_large_orders,
        "zCDP of a small rho admits Gaussian noise": _of_little_loss,
    }
    yield Relations("riskcal.analysis, large orders", large, understated=list(large))
