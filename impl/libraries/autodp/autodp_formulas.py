"""Formulas of privacy that the relations of autodp are compared with, written apart from the library."""

from __future__ import annotations

import math

import numpy as np
from scipy import integrate, optimize, special

from dpassay.impl.libraries.references import near

__all__ = [
    "chord",
    "close",
    "closed_laplace_divergence",
    "conversion_of_balle",
    "conversion_of_mironov",
    "delta_of_balle",
    "finite_divergence",
    "gaussian_divergence",
    "laplace_divergence",
    "least",
    "pure_divergence",
    "response_divergence",
    "sampled_divergence",
    "sampled_epsilon",
    "sampled_without_replacement",
]


def close(value, other, relative=1e-7, absolute=1e-10):
    """Return a comparison of a number with its reference, up to the errors of the numerical methods of both."""
    return near(value, other, relative, absolute)


def laplace_divergence(scale, order):
    """Return the divergence of Laplace noise by an integral."""
    log = lambda x: -abs(x) / scale - math.log(2 * scale)  # noqa: E731  # a formula
    if math.isinf(order):
        return 1 / scale
    if order == 1:
        weigh = lambda x: math.exp(log(x)) * (log(x) - log(x - 1))  # noqa: E731  # a formula
    else:
        largest = (order - 1) / scale
        weigh = lambda x: math.exp(order * log(x) + (1 - order) * log(x - 1) - largest)  # noqa: E731  # a formula
    parts = [(-60 * scale, 0.0), (0.0, 1.0), (1.0, 1 + 60 * scale)]
    total = math.fsum(integrate.quad(weigh, *part, limit=200)[0] for part in parts)
    return total if order == 1 else 1 / scale + math.log(total) / (order - 1)


def closed_laplace_divergence(scale, order):
    """Return the divergence of Laplace noise by its closed form, which is fast and has all orders from 1 on."""
    if math.isinf(order):
        return 1 / scale
    if order == 1:
        return 1 / scale + math.expm1(-1 / scale)
    first, last = math.log(order / (2 * order - 1)) + (order - 1) / scale, math.log((order - 1) / (2 * order - 1))
    return float(np.logaddexp(first, last - order / scale)) / (order - 1)


def finite_divergence(upper, lower, order):
    """Return the divergence of two distributions on a few outcomes."""
    if math.isinf(order):
        return max(math.log(a / b) for a, b in zip(upper, lower))
    if order == 1:
        return math.fsum(a * math.log(a / b) for a, b in zip(upper, lower))
    terms = [order * math.log(a) + (1 - order) * math.log(b) for a, b in zip(upper, lower)]
    return float(special.logsumexp(terms)) / (order - 1)


def response_divergence(keep, order):
    """Return the divergence of a randomised response that keeps the answer with a probability."""
    return finite_divergence([keep, 1 - keep], [1 - keep, keep], order)


def pure_divergence(epsilon, order):
    """Return the largest divergence of a pure mechanism: that of a randomised response."""
    return response_divergence(1 / (1 + math.exp(-epsilon)), order)


def gaussian_divergence(sigma):
    """Return the divergence of Gaussian noise with sensitivity 1 as a function of the order."""
    return lambda order: order / (2 * sigma**2)


def least(curve, of, orders=None):
    """Return the least value over orders of a function of an order and its divergence."""
    orders = orders or [1 + 10**x for x in np.linspace(-3, 3.5, 400)]
    values = [of(order, curve(order)) for order in orders]
    best = int(np.argmin(values))
    ends = orders[max(best - 1, 0)], orders[min(best + 1, len(orders) - 1)]
    found = optimize.minimize_scalar(
        lambda order: of(order, curve(order)), bounds=ends, method="bounded", options={"xatol": 1e-9}
    )
    return min(values[best], float(found.fun))


def conversion_of_mironov(delta):
    """Return the conversion of Mironov 2017."""
    return lambda order, divergence: divergence + math.log(1 / delta) / (order - 1)


def conversion_of_balle(delta):
    """Return the conversion of Balle et al. 2020."""
    return lambda order, divergence: max(
        divergence + math.log1p(-1 / order) - (math.log(delta) + math.log(order)) / (order - 1), 0.0
    )


def delta_of_balle(epsilon):
    """Return the conversion of Balle et al. 2020 to a delta, as a function of an order and its divergence."""

    def of(order, renyi):
        log = (order - 1) * (renyi - epsilon) + (order - 1) * math.log1p(-1 / order) - math.log(order)
        return math.exp(min(log, 0.0))

    return of


def chord(curve, order):
    """Return the bound between integer orders: the chord of a convex function."""
    if order <= 2:
        return curve(2)
    low = math.floor(order)
    part = order - low
    return ((1 - part) * (low - 1) * curve(low) + part * low * curve(low + 1)) / (order - 1)


def sampled_divergence(curve, rate, order, *, general=False):
    """Return the bound of Zhu and Wang 2019 for a Poisson sample, at an integer order.

    Parameters
    ----------
    curve : callable
        Divergence of the mechanism as a function of the order.
    rate : float
        Rate of the sample, in (0, 1).
    order : int
        At least 2.
    general : bool
        The bound for every mechanism, in the form that the library has: its terms from the third on are at the next
        order. Without it the bound for mechanisms such as Gaussian and Laplace noise.
    """
    terms = [(order - 1) * math.log1p(-rate) + math.log1p((order - 1) * rate)]
    for j in range(2, order + 1):
        weight = math.log(math.comb(order, j)) + j * math.log(rate) + (order - j) * math.log1p(-rate)
        terms.append(weight + (j * curve(j + 1) if general and j > 2 else (j - 1) * curve(j)))
    return float(special.logsumexp(terms)) / (order - 1)


def sampled_without_replacement(curve, rate, order, pure=math.inf, *, capped=True):
    """Return the bound of Wang, Balle and Kasiviswanathan 2019, Theorem 9, at an integer order.

    Parameters
    ----------
    curve, rate, order
        As of `sampled_divergence`.
    pure : float
        The largest loss, or infinity.
    capped : bool
        Whether a sample is known to cost no more than the whole: near rate 1/2 the theorem may say more.
    """
    large = math.log(math.expm1(pure)) if pure < math.inf else math.inf
    second = min(math.log(4 * math.expm1(curve(2))), curve(2) + min(math.log(2), 2 * large))
    terms = [0.0, second + 2 * math.log(rate) + math.log(math.comb(order, 2))]
    for j in range(3, order + 1):
        weight = min(math.log(2), j * large) + j * math.log(rate) + math.log(math.comb(order, j))
        terms.append(weight + (j - 1) * curve(j))
    found = float(special.logsumexp(terms)) / (order - 1)
    return min(found, curve(order)) if capped else found


def sampled_epsilon(curve, rate, delta, count=1):
    """Return bounds of the least epsilon over orders of samples without replacement, by the theorem."""

    def bound(order):
        return count * min(chord(lambda o: sampled_without_replacement(curve, rate, o), order), curve(order))

    tried = [1.02 + 0.25 * k for k in range(400)]
    best = least(bound, conversion_of_mironov(delta), tried)
    return min(best, bound(tried[-1])), best  # larger orders cost as much as the last one at least
