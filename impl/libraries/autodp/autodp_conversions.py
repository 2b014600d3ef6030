"""Exact relations of the converters of autodp: divergences, epsilons, trade-off functions and losses."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from autodp import converter
from autodp_formulas import (
    close,
    conversion_of_balle,
    conversion_of_mironov,
    gaussian_divergence,
    pure_divergence,
)

from dpassay.adapter import Relations
from dpassay.impl.libraries.references import gaussian_delta, gaussian_epsilon, normal_cdf

__all__ = ["relations"]

_NORMAL = NormalDist()


def _trade_off(sigma, rate):
    """Return the least error of the second kind at a rate of errors of the first kind, for Gaussian noise."""
    return normal_cdf(_NORMAL.inv_cdf(1 - rate) - 1 / sigma)


def _of_two(p, q, order):
    """Return the divergence of two distributions on two outcomes, at any positive order."""
    rows = ((p, q), (1 - p, 1 - q))
    if order == 1:
        return math.fsum(a * math.log(a / b) for a, b in rows)
    return math.log(math.fsum(a**order * b ** (1 - order) for a, b in rows)) / (order - 1)


def _power(order, bound, rate):
    """Return the largest power of a test with a rate of false alarms whose answers diverge by at most a bound."""
    low, high = rate, 1 - 1e-15
    for _ in range(100):
        power = (low + high) / 2
        fits = max(_of_two(rate, power, order), _of_two(power, rate, order)) <= bound
        low, high = (power, high) if fits else (low, power)
    return low


def _from_one_divergence(random):
    """Check the trade-off function of one divergence, its logarithm and its slope."""
    for order in (0.7, 1, random.uniform(1.5, 2), random.uniform(3, 5)):
        bound, rate = random.uniform(0.05, 0.6), random.uniform(0.05, 0.6)
        words = f"divergence {bound!r} of order {order!r}, rate {rate!r}"
        power = _power(order, bound, rate)
        yield f"{words}", *close(converter.single_rdp_to_fdp(order, bound)(rate), 1 - power, 1e-5, 1e-6)
        value, slope = converter.single_rdp_to_fdp_and_fdp_grad_log(order, bound)
        log = math.log(rate)
        yield f"{words}, logarithm", *close(value(log), math.log(power), 1e-4, 1e-5)
        step = 1e-5
        steep = (_power(order, bound, rate + step) - _power(order, bound, rate - step)) / (2 * step)
        for side in slope(log):
            yield f"{words}, slope", *close(side, math.log(steep), 1e-2, 1e-3)
        for at, exact in ((0, 1), (1, 0)):
            yield f"{words}, at {at}", *close(converter.single_rdp_to_fdp(order, bound)(at), exact)
        yield f"{words}, logarithm at 0", -math.inf, float(value(-math.inf)), -math.inf
        yield f"{words}, logarithm at 1", *close(value(0), 0.0)


def _from_divergences(random):
    sigma, rate = random.uniform(0.8, 3), random.uniform(0.05, 0.8)
    curve = gaussian_divergence(sigma)
    best = min(_power(order, curve(order), rate) for order in (0.5 + 0.25 * k for k in range(60)))
    exact = _trade_off(sigma, rate)
    found = float(converter.rdp_to_fdp(curve)(rate))
    yield f"noise {sigma!r}, rate {rate!r}", (1 - best) * 0.9, found, exact * (1 + 1e-6)
    value, slope = converter.rdp_to_fdp_and_fdp_grad_log(curve)
    power = float(np.exp(value(math.log(rate))))
    yield f"noise {sigma!r}, rate {rate!r}, power", 1 - exact - 1e-6, power, 1 - (1 - best) * 0.9
    for rare in (10 ** random.uniform(-7, -2) for _ in range(2)):
        # relative to the power, which is tiny itself; 1e-15 is the rounding of a number near 1
        power, most = _NORMAL.cdf(_NORMAL.inv_cdf(rare) + 1 / sigma), 1 - float(converter.rdp_to_fdp(curve)(rare))
        yield f"noise {sigma!r}, rate {rare!r}, power", power * (1 - 1e-6) - 1e-15, most, 1.0
    for at, exact in ((0, 1), (1, 0)):
        yield f"noise {sigma!r}, rate {at}", *close(converter.rdp_to_fdp(curve)(at), exact)
    yield f"noise {sigma!r}, logarithm at 0", -math.inf, float(value(-math.inf)), -math.inf
    yield f"noise {sigma!r}, logarithm at 1", *close(value(0), 0.0)
    yield f"noise {sigma!r}, slope at 0", math.inf, float(slope(-math.inf)[0]), math.inf


def _pure(random):
    pure, leak = random.uniform(0.2, 2), random.uniform(0.01, 0.2)
    of = converter.puredp_to_rdp(pure)
    for order in (1, 1.4, 2.0, 6.0):
        yield f"puredp_to_rdp({pure!r})({order})", *close(of(order), pure_divergence(pure, order))
    for order in (0.3, 0.8):
        low, high = pure_divergence(pure, order), min(pure_divergence(pure, 1), order * pure**2 / 2)
        yield f"puredp_to_rdp({pure!r})({order})", low * (1 - 1e-9), float(of(order)), high * (1 + 1e-9)
    yield f"puredp_to_rdp({pure!r})(inf)", *close(of(math.inf), pure)
    made = converter.approxdp_to_approxrdp(pure, leak)
    for at in (leak, 2 * leak):
        words = f"approxdp_to_approxrdp, {pure!r}, {leak!r}, at {at!r}"
        yield words, *close(made(3.0, at), pure_divergence(pure, 3.0))
    for function, exact in (
        (converter.rdp_to_approxdp(gaussian_divergence(1.5)), math.inf),
        (converter.rdp_to_approxdp(lambda _: pure), pure),
    ):
        yield f"epsilon at 0, {pure!r}", exact - 1e-9, float(function(0)), exact + 1e-9


def _by_formulas(random):
    """Check the conversions of pairs of losses that a formula of the library has."""
    pure, leak, rate = random.uniform(0.2, 2), random.uniform(0.01, 0.2), random.uniform(0.01, 0.5)
    made = converter.approxdp_func_to_approxrdp(lambda d: pure * leak / d)
    for at in (leak, 2 * leak):
        words = f"approxdp_func_to_approxrdp, {pure!r}, {leak!r}, at {at!r}"
        yield words, *close(made(3.0, at), pure_divergence(pure * leak / at, 3.0))
    delta = 10 ** random.uniform(-4, -1)
    found, exact = float(converter.puredp_to_approxdp(pure)(delta)), math.log(math.exp(pure) - delta)
    yield f"puredp_to_approxdp({pure!r})({delta!r})", exact - 1e-9, found, exact + 1e-9
    made = converter.approxdp_to_fdp(pure, leak)
    yield f"approxdp_to_fdp({pure!r}, {leak!r})(0)", *close(made(0), 1 - leak)
    yield "approxdp_to_fdp(inf, ...)", 0.0, float(converter.approxdp_to_fdp(math.inf, leak)(rate)), 0.0
    yield f"approxdp_to_fdp({pure!r}, {leak!r})(1)", *close(made(1), 0.0)


def _trade_offs_of_epsilons(random):
    """Check trade-off functions from epsilons and back."""
    sigma, rate, delta = random.uniform(0.8, 3), random.uniform(0.05, 0.8), 10 ** random.uniform(-4, -2)
    exact = _trade_off(sigma, rate)
    made = converter.approxdp_func_to_fdp(lambda d: gaussian_epsilon(sigma, d))
    yield f"approxdp_func_to_fdp, noise {sigma!r}, rate {rate!r}", *close(made(rate), exact, 1e-3, 1e-5)
    yield f"approxdp_func_to_fdp, noise {sigma!r}, rate 1", *close(made(1), 0.0)
    normal = lambda x: math.exp(-0.5 * x * x)  # noqa: E731  # a density up to a factor that cancels

    def slope(x):
        if not 0 < x < 1:
            return (-math.inf, -math.inf) if x <= 0 else (-1e-300, -1e-300)
        z = _NORMAL.inv_cdf(1 - x)
        value = -normal(z - 1 / sigma) / normal(z)
        return value, value

    def value(x):
        return _trade_off(sigma, x) if 0 < x < 1 else 1.0 - x

    exact = gaussian_epsilon(sigma, delta)
    found = converter.fdp_fdp_grad_to_approxdp(value, slope)(delta)
    yield f"fdp_fdp_grad_to_approxdp, noise {sigma!r}, {delta!r}", *close(found, exact, 1e-3, 1e-4)
    steep = -2.5
    made = converter.fdp_fdp_grad_to_approxdp(lambda x: max(0.0, 1 + steep * x), lambda _: (steep, steep))
    yield "fdp_fdp_grad_to_approxdp at 0", *close(made(0), math.log(-steep))
    yield "fdp_fdp_grad_to_approxdp at 1", 0.0, float(made(1)), 0.0


def _from_trade_offs(random):
    """Check the epsilon of a trade-off function alone."""
    sigma, delta = random.uniform(0.8, 3), 10 ** random.uniform(-2, -1)
    found = converter.fdp_to_approxdp(lambda x: _trade_off(sigma, x) if 0 < x < 1 else 1.0 - x)(delta)
    yield f"noise {sigma!r}, {delta!r}", gaussian_epsilon(sigma, delta) * 0.95, float(found), math.inf


def _losses(random):
    """Check conversions from distributions of losses, and from their characteristic functions."""
    sigma, epsilon = random.uniform(0.8, 2.5), random.uniform(0.2, 2)
    cdf = lambda t: normal_cdf(t * sigma - 0.5 / sigma)  # noqa: E731  # a formula
    log_phi = lambda t: (1j * t - t**2) / (2 * sigma**2)  # noqa: E731  # a formula
    exact = gaussian_delta(sigma, epsilon)
    yield f"cdf_to_approxdelta, {sigma!r}, {epsilon!r}", *close(converter.cdf_to_approxdelta(cdf, cdf)(epsilon), exact)
    for at in (-epsilon, 0.3, epsilon):
        for points in (500, 700):
            found = converter.phi_to_cdf(log_phi, at, n_quad=points)
            yield f"phi_to_cdf, {sigma!r}, {points} points, at {at!r}", *close(found, cdf(at), 1e-6, 1e-7)
    reach, points = 20.0, 400
    grid = converter.cdf_approx_fft(log_phi, reach, N=points)
    mesh = 2 * reach / (2 * points - 1)  # on so coarse a grid the error is some hundredths
    for place in (points - 30, points - 1, points + 20, points + 45):
        at = -reach + mesh * place
        yield f"cdf_approx_fft, {sigma!r}, at {at!r}", *close(np.real(grid[place]), cdf(at), 0.0, 0.04)
    number = 20001
    fine = lambda end: [cdf(-end + 2 * end * k / number) for k in range(number)]  # noqa: E731  # a grid
    step = 2 * reach / number
    delta = gaussian_delta(sigma, epsilon)
    found = converter.cdf_to_approxdelta_fft(fine, fine, l=reach)(np.float64(epsilon))
    yield f"cdf_to_approxdelta_fft, {sigma!r}, {epsilon!r}", *close(found, delta, 0.0, 3 * step)
    found = converter.cdf_to_approxdp_fft(fine, fine, l=reach)(delta)
    yield f"cdf_to_approxdp_fft, {sigma!r}, {delta!r}", epsilon - 10 * step, float(found), math.inf


def _inverse():
    """Return whether the inverse and the conjugate of functions are those of the formulas."""
    square = converter.numerical_inverse(lambda x: x * x, bounds=None)(4.0)
    conjugate = converter.conjugate(lambda y: y * y / 2)
    coarse = converter.conjugate(lambda y: y * y / 2, tol=1e-4)(0.6)
    if not 0.18 - 2e-4 <= coarse <= 0.18 + 2e-4:
        return False
    ends = math.isclose(conjugate(0.6), 0.18, rel_tol=1e-6) and math.isclose(conjugate(-1.0), 0.0, abs_tol=1e-6)
    return math.isclose(square, 2.0, rel_tol=1e-3) and ends


def _below():
    """Return whether no finite divergence is stated below the delta of a pair of losses."""
    try:
        found = converter.approxdp_to_approxrdp(0.7, 0.1)(3.0, 0.05)
    except AttributeError:
        return True  # no answer is no wrong answer: a relation of its own asks whether there is one
    return math.isinf(found)


def _pointwise():
    """Return whether the least and the greatest of functions are so."""
    one, two = (lambda x: x + 1), (lambda x: 2 * x)
    pairs = [(converter.pointwise_minimum(one, two)(x), converter.pointwise_maximum(one, two)(x)) for x in (0.5, 3)]
    of_two = converter.pointwise_minimum_two_arguments(lambda x, y: x - y, lambda x, y: x + y)
    return pairs == [(1.0, 1.5), (4, 6)] and (of_two(3, 1), of_two(3, -1)) == (2, 2)


def _basic(random):
    """Check the conversions of a curve that a search can leave through an infinite divergence."""
    rho, end, delta = random.uniform(0.05, 0.3), random.uniform(3, 6), 10 ** random.uniform(-4, -2)
    curve = lambda o: rho * o if o < end else math.inf  # noqa: E731  # a formula
    orders = [1 + (end - 1.0000001) * k / 400 for k in range(1, 400)]
    for flag, conversion in ((True, conversion_of_balle), (False, conversion_of_mironov)):
        exact = min(conversion(delta)(o, curve(o)) for o in orders)
        found = float(converter.rdp_to_approxdp(curve, BBGHS_conversion=flag)(delta))
        words = f"divergence {rho!r} up to order {end!r}, {delta!r}, {flag}"
        yield words, exact * (1 - 1e-2), found, math.inf


def relations():
    """Yield the relations."""
    attained = {
        "a pure mechanism costs what it should": _pure,
        "epsilons are those of a trade-off function": _from_trade_offs,
    }
    nothing = {"no divergence is finite below the delta of a pair of losses": _below}
    yield Relations(
        "converter",
        {
            **attained,
            "pairs of losses are converted by the formulas": _by_formulas,
            "trade-off functions are those of one divergence": _from_one_divergence,
            "trade-off functions are those of the best order": _from_divergences,
            "trade-off functions are those of epsilons": _trade_offs_of_epsilons,
            "losses are converted by their distribution": _losses,
            "infinite divergences do not count": _basic,
        },
        {
            "functions are inverted": _inverse,
            "functions are compared at each point": _pointwise,
            **nothing,
        },
        understated=attained | nothing,
    )
