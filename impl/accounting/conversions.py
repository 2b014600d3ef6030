"""Conversions from Renyi DP to probabilistic DP and to approximate DP.

A privacy filter that charges what an outcome reports needs a bound on the privacy loss itself, that is probabilistic
DP. The sharper conversion to approximate DP bounds a divergence only; its epsilon is no bound on the loss.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpassay.impl.validation import broadcast, real_array

__all__ = [
    "approximate_epsilon",
    "best_approximate_epsilon",
    "best_probabilistic_epsilon",
    "probabilistic_epsilon",
    "probabilistic_epsilon_of_affine_rdp",
]

Array = NDArray[np.float64]
RenyiCurve = Callable[[Array], Array]
"""From orders alpha > 1 to bounds on the Renyi divergence of that order."""

_ROUNDING = 1 + 2.0**-45


def probabilistic_epsilon(alpha: ArrayLike, rdp: ArrayLike, delta: ArrayLike) -> Array:
    """Return epsilon such that (alpha, rdp)-Renyi DP implies (epsilon, delta)-probabilistic DP, rounded up.

    epsilon = rdp + log(1/delta)/(alpha - 1), by Markov's inequality on the exponentiated loss.

    Parameters
    ----------
    alpha : array_like
        Order, above 1.
    rdp : array_like
        Bound on the Renyi divergence of that order, at least 0.
    delta : array_like
        In (0, 1].

    Returns
    -------
    ndarray
        epsilon in nats, of the broadcast shape.

    Notes
    -----
    Lebensold, Precup and Balle 2024, section 2.
    """
    orders, divergences, deltas = _arguments(alpha, rdp, delta)
    return (divergences - np.log(deltas) / (orders - 1)) * _ROUNDING


def approximate_epsilon(alpha: ArrayLike, rdp: ArrayLike, delta: ArrayLike) -> Array:
    """Return epsilon such that (alpha, rdp)-Renyi DP implies (epsilon, delta)-approximate DP, rounded up.

    epsilon = rdp + log((alpha - 1)/alpha) - (log delta + log alpha)/(alpha - 1), or 0 where that is negative.
    Parameters and result as for :func:`probabilistic_epsilon`; the result is no bound on the privacy loss.

    Notes
    -----
    Balle, Barthe, Gaboardi, Hsu and Sato 2020, Thm 21.
    """
    orders, divergences, deltas = _arguments(alpha, rdp, delta)
    gain = np.log1p(-1 / orders) - np.log(orders) / (orders - 1)
    rounding = 2.0**-45 * (divergences - gain - np.log(deltas) / (orders - 1))
    return np.maximum(divergences + gain - np.log(deltas) / (orders - 1) + rounding, 0.0)


def probabilistic_epsilon_of_affine_rdp(linear: ArrayLike, constant: ArrayLike, delta: ArrayLike) -> Array:
    """Return the least `probabilistic_epsilon` over all orders of a curve alpha linear + constant/(alpha - 1).

    The minimum is linear + 2 sqrt(linear (constant + log(1/delta))). With linear = sensitivity^2/(2 sigma^2) and
    constant = 0 it is the Gaussian mechanism's.

    Parameters
    ----------
    linear, constant : array_like
        Coefficients, at least 0.
    delta : array_like
        In (0, 1].

    Returns
    -------
    ndarray
        epsilon in nats, rounded up.

    Examples
    --------
    >>> round(float(probabilistic_epsilon_of_affine_rdp(0.1**2 / 2, 0, 1e-5)), 5)
    0.48485
    """
    slopes, constants, deltas = broadcast(
        linear=real_array("linear", linear, low=0),
        constant=real_array("constant", constant, low=0),
        delta=real_array("delta", delta, low=0, high=1, strict=True),
    )
    return np.asarray((slopes + 2 * np.sqrt(slopes * (constants - np.log(deltas)))) * _ROUNDING)


def best_probabilistic_epsilon(curve: RenyiCurve, delta: float) -> float:
    """Return the least :func:`probabilistic_epsilon` found over orders alpha of a Renyi curve.

    Parameters
    ----------
    curve : callable
        From an array of orders to bounds on the Renyi divergence; infinite where there is none.
    delta : float
        In (0, 1].

    Returns
    -------
    float
        epsilon in nats. Every order gives a valid one, so that a search which misses the best is loose, not wrong.
    """
    return _best(curve, delta, probabilistic_epsilon)


def best_approximate_epsilon(curve: RenyiCurve, delta: float) -> float:
    """Return the least :func:`approximate_epsilon` over orders, as :func:`best_probabilistic_epsilon` does."""
    return _best(curve, delta, approximate_epsilon)


def _best(curve: RenyiCurve, delta: float, convert: Callable[[Array, Array, float], Array]) -> float:
    low, high, best = -8.0, 14.0, np.inf  # of log(alpha - 1)
    for _ in range(4):
        exponents = np.linspace(low, high, 45)
        orders = 1 + np.exp(exponents)
        divergences = curve(orders)
        finite = np.isfinite(divergences)
        values = np.full(orders.shape, np.inf)
        values[finite] = convert(orders[finite], divergences[finite], delta)
        place = int(np.argmin(values))
        best = min(best, float(values[place]))
        low, high = exponents[max(place - 1, 0)], exponents[min(place + 1, exponents.size - 1)]
    return best


def _arguments(alpha: ArrayLike, rdp: ArrayLike, delta: ArrayLike) -> tuple[Array, ...]:
    return broadcast(
        alpha=real_array("alpha", alpha, low=1, strict=True),
        rdp=real_array("rdp", rdp, low=0),
        delta=real_array("delta", delta, low=0, high=1, strict=True),
    )
