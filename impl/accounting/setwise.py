"""Set-wise adaptive composition: registered parameters, used in any adaptive order with any mechanisms.

Every bound here is for *adaptive* use, which its type says: optimal bounds for batches that are fixed beforehand are
smaller and must not stand in for it. All of them have one form. A registered set has a mean bound M and a variance
proxy V, and its privacy loss exceeds M + sqrt(2 V log(1/delta)) with probability at most delta:

- concentrated DP (mu, tau): mu and tau^2;
- epsilon-DP: epsilon tanh(epsilon/2) and epsilon^2 (or 2 epsilon tanh(epsilon/2), which is less);
- a-bounded range: kappa(a) and a^2/4 (or 2 kappa(a), which is less);
- (xi, rho)-zCDP: xi + rho and 2 rho.

Notes
-----
Cesar and Rogers 2020, Section 3: Lemmas 3.3 and 3.4, eqs (2) and (3).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpassay.impl.validation import broadcast, real_array
from dpassay.lazy import special

__all__ = [
    "LossProxy",
    "SetwiseAdaptive",
    "approximate_zcdp_proxy",
    "bounded_range_mean_loss",
    "bounded_range_proxy",
    "concentrated_proxy",
    "pure_mean_loss",
    "pure_proxy",
    "setwise_delta",
    "setwise_epsilon",
]

Array = NDArray[np.float64]

_ROUNDING = 1 + 2.0**-44
_TINY = float(np.finfo(np.float64).tiny)
_UNDERFLOW = 1e-300  # a tail that is positive never becomes 0
_LARGEST = 1e150  # squares stay within float64
_SERIES_TERMS = 16


@dataclass(frozen=True)
class LossProxy:
    """Contribution of a registered parameter: a mean bound, a variance proxy, and an excluded probability.

    Parameters
    ----------
    mean, variance : float
        Nats and nats^2.
    delta : float
        Probability with which the bounds may fail, in [0, 1].

    Raises
    ------
    UsageError
        If a number is not finite, the variance negative, or delta outside [0, 1].
    """

    mean: float
    variance: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        real_array("mean", self.mean)
        real_array("variance", self.variance, low=0)
        real_array("delta", self.delta, low=0, high=1)


@dataclass(frozen=True)
class SetwiseAdaptive:
    """(epsilon, delta)-DP of a registered set under set-wise adaptive composition in any order."""

    epsilon: float
    delta: float


def pure_mean_loss(epsilon: ArrayLike) -> Array:
    """Return epsilon tanh(epsilon/2), the largest mean loss of epsilon-DP, rounded up; relative error below 2^-43."""
    levels = real_array("epsilon", epsilon, low=0)
    return _rounded_up(levels * np.tanh(levels / 2), levels)


@cache
def _kappa_series() -> Array:
    """Return the coefficients of kappa(a) = d/da [a log(sinh(a/2)/(a/2))] at a, a^3, a^5, ...

    The logarithm is sum_n B_2n a^(2n)/(2n (2n)!), for |a| < 2 pi.
    """
    n = np.arange(1, _SERIES_TERMS)
    bernoulli = special.bernoulli(2 * _SERIES_TERMS)[2 * n]
    return np.asarray((2 * n + 1) * bernoulli / (2 * n) / np.exp(special.gammaln(2 * n + 1)))


def bounded_range_mean_loss(width: ArrayLike) -> Array:
    """Return kappa(a) = a/(e^a - 1) - 1 - log(a/(e^a - 1)), the largest mean loss of a-bounded range, rounded up.

    By its power series below 1, where the formula cancels; relative error below 2^-43. It is also the zCDP parameter
    of a-bounded range.

    Examples
    --------
    >>> round(float(bounded_range_mean_loss(1e-8)) * 1e17, 6)
    1.25
    """
    widths = real_array("width", width, low=0)
    small = np.minimum(widths, 1.0)
    series = np.zeros_like(widths)
    for coefficient in _kappa_series()[::-1]:
        series = (series + coefficient) * np.square(small)
    large = np.maximum(widths, 1.0)
    with np.errstate(under="ignore"):
        decay = np.exp(-large)
    direct = (large - np.log(large) - 1) + np.log1p(-decay) + large * decay / -np.expm1(-large)
    return _rounded_up(np.where(widths < 1, series, direct), widths)


def concentrated_proxy(mu: float, tau: float) -> LossProxy:
    """Return the contribution of a (mu, tau)-CDP parameter."""
    return LossProxy(_number("mu", mu), _square("tau", tau))


def pure_proxy(epsilon: float, *, sharp: bool = False) -> LossProxy:
    """Return the contribution of an epsilon-DP parameter; `sharp` uses proxy 2 epsilon tanh(epsilon/2), not eq (3)."""
    mean = float(pure_mean_loss(epsilon))
    square = _square("epsilon", epsilon)
    return LossProxy(mean, 2 * mean if sharp else square)


def bounded_range_proxy(width: float, *, sharp: bool = False) -> LossProxy:
    """Return the contribution of an a-bounded-range parameter; `sharp` uses the proxy 2 kappa(a), not eq (3)."""
    mean = float(bounded_range_mean_loss(width))
    square = _square("width", width) / 4
    return LossProxy(mean, 2 * mean if sharp else square)


def approximate_zcdp_proxy(rho: float, delta: float = 0.0, xi: float = 0.0) -> LossProxy:
    """Return the contribution of a delta-approximate (xi, rho)-zCDP parameter; xi is at least -rho."""
    _number("rho", rho)
    real_array("xi", xi, low=-rho)
    real_array("delta", delta, low=0, high=1)
    return LossProxy((rho + xi) * _ROUNDING, 2 * rho, delta)


def setwise_epsilon(registered: Sequence[LossProxy], delta: float) -> SetwiseAdaptive:
    """Return epsilon for a tail delta in (0, 1], rounded up; the delta of the result adds the excluded probabilities.

    epsilon = sum mean_i + sqrt(2 sum variance_i log(1/delta)), delta + (1 - delta) (1 - prod (1 - delta_i)).

    Raises
    ------
    UsageError
        If delta is not in (0, 1]. An empty set is (0, delta)-DP.

    Examples
    --------
    >>> round(setwise_epsilon([pure_proxy(1.0)] * 25 + [bounded_range_proxy(1.0)] * 25, 1e-6).epsilon, 4)
    44.0203
    """
    real_array("delta", delta, low=0, high=1, strict=True)
    mean, variance, kept = _totals(registered)
    epsilon = (mean + np.sqrt(-2 * variance * np.log(delta))) * _ROUNDING
    return SetwiseAdaptive(max(float(epsilon), 0.0), _with_left_out(delta, kept))


def setwise_delta(registered: Sequence[LossProxy], epsilon: float) -> SetwiseAdaptive:
    """Return delta for a chosen epsilon >= 0, rounded up: the inverse of :func:`setwise_epsilon`.

    Above exp(-(epsilon - M)^2/(2 V)), for epsilon above M, by at most a relative 2^-42 (1 + epsilon^2/V).
    """
    _number("epsilon", epsilon)
    mean, variance, kept = _totals(registered)
    gap = epsilon - mean - 2.0**-44 * (epsilon + abs(mean))
    if gap <= 0:
        return SetwiseAdaptive(epsilon, 1.0 if registered else 0.0)
    tail = float(np.exp(-(gap / variance) * (gap / 2) * (1 - 2.0**-44)) + _UNDERFLOW) if variance > 0 else 0.0
    return SetwiseAdaptive(epsilon, _with_left_out(tail, kept))


def _totals(registered: Sequence[LossProxy]) -> tuple[float, float, float]:
    mean = math.fsum(each.mean for each in registered)  # a running sum of many numbers may fall short of the margins
    variance = math.fsum(each.variance for each in registered)
    kept = float(np.sum(np.log1p([-each.delta for each in registered if each.delta < 1])))
    return mean, variance, -np.inf if any(each.delta == 1 for each in registered) else kept


def _with_left_out(tail: float, log_kept: float) -> float:
    return min(float((tail - (1 - tail) * np.expm1(log_kept)) * _ROUNDING), 1.0)


def _number(name: str, value: float) -> float:
    return float(broadcast(value=real_array(name, value, low=0))[0])


def _square(name: str, value: float) -> float:
    """Return the square of a number from 0 to 1e150, rounded up."""
    given = real_array(name, value, low=0, high=_LARGEST)
    return float(_rounded_up(given**2, given))


def _rounded_up(computed: Array, positive: Array) -> Array:
    """Return the computed value, rounded up; it does not underflow to 0 where `positive` is above 0."""
    return np.where(positive > 0, np.maximum(computed * _ROUNDING, _TINY), 0.0)
