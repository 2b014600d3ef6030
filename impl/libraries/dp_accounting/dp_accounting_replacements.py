"""Exact relations of the Renyi divergences of dp-accounting where one record is replaced by another one.

`GaussianDpEvent` and `LaplaceDpEvent` document sums of values of norm at most C and a noise multiplier s / C: a record
that is replaced moves such a sum by up to 2 C. The divergences of samples without replacement are documented for the
distance that a record moves: Wang, Balle and Kasiviswanathan 2019, Theorem 27.
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import dp_accounting as dp
from dp_accounting import rdp
from scipy import integrate, special

from dpassay.adapter import Relations
from dpassay.impl.libraries.references import near

__all__ = ["bounds_moved", "laplace_divergence", "replacement_relations"]

_REPLACE = dp.NeighboringRelation.REPLACE_ONE
_LAST_OF_DIFFERENCES = 256
"""The last order of Theorem 27; greater ones get Theorem 9, whose terms do not need differences."""

_DIGITS = 120
"""The terms of a difference of order 60 cancel to a small part of the largest one."""


def laplace_divergence(scale, order):
    """Return the divergence of Laplace noise with sensitivity 1 (Mironov 2017, Proposition 6)."""
    terms = order * math.exp((order - 1) / scale) + (order - 1) * math.exp(-order / scale)
    return math.log(terms / (2 * order - 1)) / (order - 1)


def _whole(sigma, size=7):
    """Return Gaussian noise on a sample of all records."""
    return dp.SampledWithoutReplacementDpEvent(size, size, dp.GaussianDpEvent(sigma))


_UNITS = {
    "gaussian": (dp.GaussianDpEvent(1.0), lambda bounds: bounds**2),
    "sample": (_whole(1.0), lambda bounds: bounds**2),
    "laplace": (dp.LaplaceDpEvent(1.0), lambda bounds: laplace_divergence(1 / bounds, 2)),
}
"""Events of noise 1, and their divergences of order 2 by the number of bounds that a record moves a sum."""


def bounds_moved(kind):
    """Return by how many bounds the accountant takes a replaced record to move a sum: 1 or 2, whichever is nearer.

    A relation of its own says that it is 2. To the other relations it is a number that no parameter may change.
    """
    event, divergence = _UNITS[kind]
    found = rdp.RdpAccountant([2.0], _REPLACE).compose(event).rdp[0]
    return min((1, 2), key=lambda bounds: abs(found - divergence(bounds)))


def _replaced(random):
    """Check that a record of norm at most C that is replaced moves a sum by up to 2 C."""
    sigma, scale, count = random.uniform(0.7, 4), random.uniform(0.7, 4), random.randint(2, 5)
    orders = [1.5, 2.0, 4.0, 9.0]
    for event, divergence in (
        (dp.GaussianDpEvent(sigma), lambda order: 4 * order / (2 * sigma**2)),
        (dp.LaplaceDpEvent(scale), lambda order: laplace_divergence(scale / 2, order)),
        (_whole(sigma, random.randint(2, 50)), lambda order: 4 * order / (2 * sigma**2)),
    ):
        found = rdp.RdpAccountant(orders, _REPLACE).compose(event, count).rdp
        for order, value in zip(orders, found):
            yield (f"{count} times {event!r}, order {order}", *near(float(value), count * divergence(order)))
    size, part = 40, random.randint(4, 39)
    event = dp.SampledWithoutReplacementDpEvent(size, part, dp.GaussianDpEvent(sigma))
    for order, value in zip(orders, rdp.RdpAccountant(orders, _REPLACE).compose(event, count).rdp):
        low, high = (count * bound(sigma / 2, part / size, order) for bound in (_of_one_record, _theorem))
        yield f"{count} times {event!r}, order {order}", low * (1 - 1e-6), float(value), high * (1 + 1e-9)


def _of_one_record(sigma, rate, order):
    """Return the divergence where all other values are 0 and the replaced ones lie on both sides of it.

    The distance of the two values is 1.
    """

    def integrand(x):
        logs = [
            special.logsumexp([math.log1p(-rate) + -0.5 * (x / sigma) ** 2, math.log(rate) - 0.5 * y**2])
            for y in ((x - 0.5) / sigma, (x + 0.5) / sigma)
        ]
        return math.exp(order * logs[0] + (1 - order) * logs[1]) / (sigma * math.sqrt(2 * math.pi))

    # the integrand is largest near order - 1/2 where the sample is large, and near 0 where it is small
    value, _ = integrate.quad(
        integrand, -12 * sigma - 1, order + 12 * sigma, limit=500, points=[-0.5, 0.0, 0.5, order - 0.5]
    )
    return math.log(value) / (order - 1)


def _theorem(sigma, rate, order):
    """Return the bound of Wang, Balle and Kasiviswanathan 2019, Theorem 27, between integers by Corollary 10."""
    below = math.floor(order)
    log = _log_moment(sigma, rate, below)
    if order > below:
        log += (order - below) * (_log_moment(sigma, rate, below + 1) - log)
    return log / (order - 1)


def _log_moment(sigma, rate, order):
    if order == 1:
        return 0.0
    with localcontext() as context:
        context.prec = _DIGITS
        rate, step = Decimal(rate), (1 / (2 * Decimal(sigma) ** 2)).exp()
        powers = [step ** (j * (j - 1)) for j in range(order + 2)]

        def difference(j):
            return sum((-1) ** (j - i) * math.comb(j, i) * powers[i] for i in range(j + 1))

        total = 1 + rate**2 * math.comb(order, 2) * min(4 * (powers[2] - 1), 2 * powers[2])
        for j in range(3, order + 1):
            least = 2 * powers[j]
            if order <= _LAST_OF_DIFFERENCES:
                least = min(least, 4 * (difference(j - j % 2) * difference(j + j % 2)).sqrt())
            total += rate**j * math.comb(order, j) * least
        return float(total.ln())


def _without_replacement(random):
    """Check samples of a fixed size, composed several times, at integer orders and between them."""
    moved = bounds_moved("sample")
    sigma, count, size = random.uniform(0.8, 4), random.randint(2, 5), random.randint(20, 60)
    part = random.randint(1, size - 1)
    event = dp.SampledWithoutReplacementDpEvent(size, part, dp.GaussianDpEvent(sigma))
    orders = [1.3, 2.0, 3.0, 3.7, 6.0, float(random.randint(9, 60)), random.uniform(9, 30), 257.0, 300.0]
    for order, value in zip(orders, rdp.RdpAccountant(orders, _REPLACE).compose(event, count).rdp):
        exact = count * _theorem(sigma / moved, part / size, order)
        yield (f"{count} times {event!r}, order {order}", *near(float(value), exact))


def replacement_relations():
    """Yield the relations."""
    attained = {"a replaced record moves a sum by twice its bound": _replaced}
    yield Relations(
        "RdpAccountant, replaced records",
        {**attained, "a sample without replacement costs what the theorem says": _without_replacement},
        understated=attained,
    )
