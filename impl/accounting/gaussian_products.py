r"""Expectations of products of powers of Phi under a standard normal, and their ratio under shifts of the arguments.

Every selection bound with Gaussian noise is the logarithm of

    E[Phi(a1 + u1 + b1 x)^p1 Phi(a2 + u2 + b2 x)^p2] / E[Phi(a1 + b1 x)^p1 Phi(a2 + b2 x)^p2],   x ~ N(0, 1)

for lifts u1, u2 >= 0. Subtracting two logarithms would lose a small loss in the rounding of large ones; the ratio
minus 1 is therefore integrated as it stands. It telescopes into integrals of positive functions (one factor *gains*,
those before it stay, those after it are lifted), each of them log-concave: Phi(y + u)^p - Phi(y)^p is the probability
that the maximum of p normals falls in an interval of length u.

Error analysis. Relative to a common reference point all log-integrands are sums of exact-to-rounding steps
(:mod:`dpassay.impl.accounting.gaussian_tails`). Each integrand is log-concave with curvature at least 1 (the normal
weight), so it has one mode; the window ends where it has fallen by e^-44, beyond which less than 2^-60 of the integral
lies. Inside it the trapezoidal rule is wrong by about 2^-44 (:mod:`dpassay.impl.accounting.quadrature`). Compared with
balls of 300 bits, for d and t up to 10^6 and scales 10^5 apart, the losses were off by less than 2^-32 of themselves,
and all of that came from powers near 10^6, which multiply the rounding of a logarithm; it is added to the margin.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dpassay.impl.accounting.gaussian_tails import hazard, log_cdf, log_cdf_gain, log_cdf_step, mantissa
from dpassay.impl.accounting.quadrature import log_trapezoid

__all__ = ["LARGEST_RATIO", "SAFETY", "Factor", "lifted_loss", "log_expectation", "rounded_up"]

Array = NDArray[np.float64]

SAFETY = 2.0**-31
"""Relative margin by which bounds are enlarged: over a thousand times the error of the quadrature."""

LARGEST_RATIO = 2.0**20
"""The largest distance of arguments, in standard deviations; beyond it rounding dominates an integrand."""

_POINTS_AT_ONCE = 256  # keeps the arrays of one pass, points x nodes, inside the processor's cache
_FALL = 44.0
_REACH = 9.4  # sqrt(2 * _FALL): by then the normal weight alone has brought the integrand down by e^-44


@dataclass(frozen=True)
class Factor:
    """Phi(offset + slope x)^power and its lift, one row for each point of a column of parameters.

    Parameters
    ----------
    power : ndarray
        p > 0 or, for a factor that is never lifted, p >= 0.
    offset, slope : ndarray
        Argument of Phi as a function of x.
    lift : ndarray, optional
        u > 0, by how much the argument is raised in the numerator.
    form : {"base", "lifted", "gain"}
        Whether it stands for Phi(y)^p, Phi(y + u)^p or the difference of the two.
    """

    power: Array
    offset: Array
    slope: Array
    lift: Array | None = None
    form: Literal["base", "lifted", "gain"] = "base"

    def rows(self, index: NDArray[np.intp] | slice) -> "Factor":
        """Return the factor of the points at `index`."""
        lift = None if self.lift is None else self.lift[index]
        return replace(self, power=self.power[index], offset=self.offset[index], slope=self.slope[index], lift=lift)

    def log_value(self, x: Array, reference: Array) -> Array:
        """Return the log of the factor at x over that of Phi(y)^power at the reference."""
        start = self.offset + self.slope * reference
        step = self.slope * (x - reference)
        if self.form == "base" or self.lift is None:
            return self.power * log_cdf_step(start, step, start=mantissa(start))
        raised = self.power * log_cdf_step(start, step + self.lift, start=mantissa(start))
        if self.form == "lifted":
            return raised
        log_gain = np.log(self.power) + log_cdf_gain(self.offset + self.slope * x, self.lift)
        return raised + _log_one_minus_exp_of_minus_exp(log_gain)

    def log_slope(self, x: Array) -> Array:
        """Return the derivative of `log_value` in x; good enough to find a mode, not for more."""
        y = self.offset + self.slope * x
        if self.form == "base" or self.lift is None:
            return self.slope * self.power * hazard(y)
        if self.form == "lifted":
            return self.slope * self.power * hazard(y + self.lift)
        lift = np.maximum(self.lift, 1e-6)  # below, the difference of hazards is rounding; the mode hardly moves
        log_gain = log_cdf_gain(y, lift)
        far = y > 30  # the hazard is about to underflow; Phi^p - Phi^p is p times a difference of tails there
        with np.errstate(over="ignore"):
            growth = np.expm1(self.power * np.exp(np.where(far, 0.0, log_gain)))
        after, before = self.power * hazard(y + lift), self.power * hazard(y)
        near_slope = after + (after - before) / growth
        if not far.any():
            return self.slope * near_slope
        density = np.exp(np.where(far, -np.square(y) / 2 - log_gain, 0.0)) / np.sqrt(2 * np.pi)
        tail_slope = np.expm1(-lift * (np.where(far, y, 0.0) + lift / 2)) * density
        return self.slope * np.where(far, tail_slope, near_slope)


def _log_one_minus_exp_of_minus_exp(log_r: Array) -> Array:
    small = log_r < -37  # there 1 - e^-r is r in float64, and r itself may underflow
    with np.errstate(over="ignore"):
        r = np.exp(np.where(small, 0.0, log_r))
    return np.where(small, log_r, np.log(-np.expm1(-r)))


def rounded_up(loss: Array) -> Array:
    """Return positive losses enlarged by `SAFETY`; those that underflowed become the smallest normal number."""
    return np.maximum(loss * (1 + SAFETY), np.finfo(np.float64).tiny)


def lifted_loss(*factors: Factor) -> Array:
    """Return log E[product with every lift] - log E[product without], rounded up, one number for each point.

    Parameters
    ----------
    *factors : Factor
        At least one, parameters as one-dimensional arrays of the same length; a lift of None is 0.

    Returns
    -------
    ndarray
        Above the truth by `SAFETY` and 2^-52 times the size of the summed logarithms at the mode, relatively: by less
        than 1e-9 while the powers are at most 10^6 and the arguments of Phi within 10^3 of 0.
    """
    count = factors[0].power.size
    result = np.empty(count)
    for begin in range(0, count, _POINTS_AT_ONCE):
        index = slice(begin, begin + _POINTS_AT_ONCE)
        result[index] = _loss_of_chunk([_column(factor.rows(index)) for factor in factors])
    return result


def _column(factor: Factor) -> Factor:
    lift = None if factor.lift is None else factor.lift[:, None]
    return replace(
        factor,
        power=factor.power[:, None],
        offset=factor.offset[:, None],
        slope=factor.slope[:, None],
        lift=lift,
    )


def _loss_of_chunk(product: Sequence[Factor]) -> Array:
    reference = _mode(product, np.zeros_like(product[0].power))
    below = _log_integral(product, reference, reference)
    above = np.full_like(below, -np.inf)
    for number, factor in enumerate(product):
        if factor.lift is not None:
            lifted = [replace(later, form="lifted") for later in product[number + 1 :]]
            gain = [*product[:number], replace(factor, form="gain"), *lifted]
            above = np.logaddexp(above, _log_integral(gain, _mode(gain, reference), reference))
    # A power multiplies the rounding of its logarithm, of which only the slowly varying part is not exact.
    rounding = sum(factor.power * np.abs(mantissa(factor.offset + factor.slope * reference)) for factor in product)
    return rounded_up(np.logaddexp(0.0, above - below) * (1 + 2.0**-52 * np.ravel(rounding)))


def _slope(product: Sequence[Factor], x: Array) -> Array:
    total = -x
    for factor in product:
        total = total + factor.log_slope(x)
    return total


def _log_value(product: Sequence[Factor], x: Array, reference: Array) -> Array:
    total = -(x - reference) * (x + reference) / 2
    for factor in product:
        total = total + factor.log_value(x, reference)
    return total


def _mode(product: Sequence[Factor], start: Array, least_curvature: Array | float = 1.0) -> Array:
    """Return the mode to a tenth of its width, by Newton's method inside a shrinking bracket.

    The mode lies between x and x + slope(x)/curvature, for every x and the least curvature of the log-integrand.
    """
    x, slope = start, _slope(product, start)
    scale = 1e-3 / np.maximum(1.0, np.max([np.abs(factor.slope) for factor in product], axis=0))
    low, high = np.full_like(x, -np.inf), np.full_like(x, np.inf)
    for _ in range(200):
        end = x + slope / least_curvature
        low, high = np.maximum(low, np.minimum(x, end)), np.minimum(high, np.maximum(x, end))
        nudge = np.maximum(scale, np.abs(x) * 2.0**-30)
        curvature = np.maximum((slope - _slope(product, x + nudge)) / nudge, least_curvature)
        if bool(np.all(np.abs(slope) <= 0.1 * np.sqrt(curvature))):
            return x
        proposal = x + slope / curvature
        inside = (proposal > low) & (proposal < high)
        x = np.where(inside, proposal, (low + high) / 2)
        slope = _slope(product, x)
    raise ArithmeticError("the mode of an integrand was not found in 200 steps")


def _log_integral(
    product: Sequence[Factor], mode: Array, reference: Array, least_curvature: Array | float = 1.0
) -> Array:
    """Return the log of the integral of the product against the normal weight, relative to the reference."""
    reach = _REACH / np.sqrt(least_curvature)
    left, right = _edge(product, mode, -reach, reference), _edge(product, mode, reach, reference)

    def log_integrand(index: NDArray[np.intp], x: Array) -> Array:
        return _log_value([factor.rows(index) for factor in product], x, reference[index])

    return log_trapezoid(log_integrand, left[:, 0], right[:, 0])


def _edge(product: Sequence[Factor], mode: Array, reach: Array | float, reference: Array) -> Array:
    """Return a point between mode and mode + reach where the integrand is down by e^-44, at most a fifth too far."""
    top = _log_value(product, mode, reference)
    inner, outer = np.full_like(mode, -40.0), np.zeros_like(mode)
    for _ in range(8):
        middle = (inner + outer) / 2
        fallen = top - _log_value(product, mode + reach * np.exp2(middle), reference) >= _FALL
        inner, outer = np.where(fallen, inner, middle), np.where(fallen, middle, outer)
    return mode + reach * np.exp2(outer)


def log_expectation(*factors: Factor, least_curvature: Array) -> Array:
    """Return log E[product of the factors as they stand], powers of either sign, one number for each point.

    Parameters
    ----------
    *factors : Factor
        At least one, of form "base".
    least_curvature : ndarray
        A positive lower bound of the curvature of the log-integrand, normal weight included: 1 for positive powers.

    Returns
    -------
    ndarray
        Absolute error about 2^-40 while the logarithms of the factors are below 10^3.
    """
    product = [_column(factor) for factor in factors]
    curvature = least_curvature[:, None]
    mode = _mode(product, np.zeros_like(curvature), curvature)
    at_mode = -np.square(mode) / 2 - 0.5 * np.log(2 * np.pi)
    for factor in product:
        at_mode = at_mode + factor.power * log_cdf(factor.offset + factor.slope * mode)
    return np.asarray(at_mode[:, 0] + _log_integral(product, mode, mode, curvature))
