"""An odometer: a running bound on the privacy loss of adaptively chosen mechanisms without a fixed budget.

Rogers, Samorodnitsky, Wu and Ramdas 2023, Thm 5 with its drift, by a mixture over positive rates only. With V twice
the zCDP parameters spent (sensitivity^2 / t for a round of Brownian noise reduction that ended at t), g the tuning and
d the level, the loss stays below V/2 + x sqrt(V + g) at all times with probability at least 1 - d, where

    x^2/2 + log(2 Phi(x)) = log(1/d) + log(1 + V/g)/2.

The left side is convex and increasing for x >= 0, and at least x^2/2: Newton's method from sqrt(2 right side) comes
down towards the root and stops above it, on the safe side.
"""

import math
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpassay.arguments import UsageError, require_at_least, require_positive
from dpassay.claims import ApproximateDP
from dpassay.impl.accounting.filters.interface import (
    ConcentratedOffer,
    NoiseReductionOffer,
    RemainingRho,
    exactly,
    refuse_if_it_exceeds,
    require_offer,
)
from dpassay.impl.validation import broadcast, real_array, require_open_probability
from dpassay.lazy import special

__all__ = ["Odometer", "half_normal_boundary", "mixture_boundary", "tuned_for"]

Array = NDArray[np.float64]
_ROUNDED_UP = 1 + 2.0**-44
_NEWTON_STEPS = 8
_LARGEST = 1e300


def _log_target(information: ArrayLike, tuning: ArrayLike, delta: ArrayLike) -> tuple[Array, Array]:
    """Return V + g and log(1/d) + log(1 + V/g)/2."""
    v, g, d = broadcast(
        information=real_array("information", information, low=0.0, high=_LARGEST),
        tuning=real_array("tuning", tuning, low=0.0, high=_LARGEST, strict=True),
        delta=real_array("delta", delta, low=0.0, high=1.0, strict=True),
    )
    if not bool(np.all(d < 1)):
        raise UsageError(f"delta must lie strictly between 0 and 1, got {delta!r}")
    with np.errstate(over="ignore", divide="ignore"):
        ratio = v / g
        growth = np.where(np.isfinite(ratio), np.log1p(ratio), np.log(v) - np.log(g))
    return v + g, growth / 2 - np.log(d)


def mixture_boundary(information: ArrayLike, tuning: ArrayLike, delta: ArrayLike) -> Array:
    """Bound |S|, S the sum of B(t)/t over all rounds, at all times at once.

    Rogers, Samorodnitsky, Wu and Ramdas 2023, psi(V; g, d) = sqrt((V + g) log((V + g)/(d^2 g))).

    Parameters
    ----------
    information : array_like
        V, the sum of 1/t, at least 0.
    tuning : array_like
        g, positive; chosen beforehand.
    delta : array_like
        The probability that the bound ever fails, in (0, 1).

    Returns
    -------
    ndarray
        At least psi, and above it by at most 1e-12 of it.

    Raises
    ------
    UsageError
        If an argument is out of its domain.
    """
    total, target = _log_target(information, tuning, delta)
    bound: Array = np.sqrt(total) * np.sqrt(2 * target) * _ROUNDED_UP
    return bound


def half_normal_boundary(information: ArrayLike, tuning: ArrayLike, delta: ArrayLike) -> Array:
    """Bound S from above at all times at once: sharper than `mixture_boundary`, which bounds -S, too.

    Parameters and errors are those of `mixture_boundary`; the result is at least the root, and above it by at most
    1e-12 of it.
    """
    total, target = _log_target(information, tuning, delta)
    x = np.sqrt(2 * target)
    for _ in range(_NEWTON_STEPS):
        bent = special.erf(x / math.sqrt(2))  # 2 Phi(x) - 1, accurate near 0, too
        slope = x + math.sqrt(2 / math.pi) * np.exp(-x * x / 2) / (1 + bent)
        x = np.maximum(x - (x * x / 2 + np.log1p(bent) - target) / slope, 0.0)
    bound: Array = np.sqrt(total) * x * _ROUNDED_UP
    return bound


def tuned_for(information: float, delta: float) -> float:
    """Return the g at which psi(V; g, d) is smallest at a given V, to be fixed before the first round.

    With y = 1 + V/g it solves y - log y = 1 + 2 log(1/d).

    Raises
    ------
    UsageError
        If `information` is not positive or `delta` not in (0, 1).
    """
    require_positive("information", information)
    constant = 1 - 2 * math.log(require_open_probability("delta", delta))
    y = constant + math.log(constant)
    for _ in range(60):
        y = constant + math.log(y)
    return information / (y - 1)


def _nearest(exact: Fraction) -> float:
    try:
        return float(exact)
    except OverflowError:
        return math.inf


class Odometer:
    """Bounds the privacy loss so far, simultaneously at all times and so at data-dependent stopping times.

    It has the interface of the filters: offers are counted, and with a limit they are refused before the reading would
    exceed it. The reading grows with V, so that everything admitted is (limit, delta)-DP, even probabilistically.

    Parameters
    ----------
    delta : float
        The probability that the loss ever exceeds the reading, in (0, 1).
    tuning : float
        g, positive: the reading is sharpest around one magnitude of V (`tuned_for`); it must not be changed later.
    limit : float
        In nats, positive; by default there is none, and nothing is refused.

    Raises
    ------
    UsageError
        If a parameter is out of its domain.

    Examples
    --------
    >>> odometer = Odometer(delta=1e-6, tuning=tuned_for(2.7, 1e-6))
    >>> odometer.spend(NoiseReductionOffer.of_time(0.5), 1.0)
    >>> odometer.spend(ConcentratedOffer(0.85))
    >>> 10 < odometer.reading < 11
    True
    """

    def __init__(self, delta: float, tuning: float = 1.0, limit: float = math.inf) -> None:
        self.delta = require_open_probability("delta", delta)
        self.tuning = require_positive("tuning", tuning)
        self.limit = limit if limit == math.inf else require_positive("limit", limit)
        self._information = Fraction(0)

    @property
    def information(self) -> float:
        """V, twice the sum of the zCDP parameters; infinite beyond the range of float64."""
        return _nearest(self._information)

    @property
    def reading(self) -> float:
        """The bound on the loss so far, in nats; 0 before the first charge, infinite beyond the range of float64."""
        return self._reading_at(self._information)

    @property
    def claim(self) -> ApproximateDP:
        """The guarantee of all mechanisms that an odometer with a finite limit admits."""
        return ApproximateDP(self.limit, self.delta)

    @property
    def remaining(self) -> RemainingRho:
        """The largest zCDP parameter that is still admitted, to 2^-60 of the limit; infinite without a limit."""
        if self.limit == math.inf:
            return RemainingRho(math.inf, 0.0)
        low, high = 0.0, self.limit  # the reading is above half of V, and that is above rho
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (low, middle) if self.reading_after(middle) > self.limit else (middle, high)
        return RemainingRho(low, 0.0)

    def reading_after(self, rho: float) -> float:
        """Return the reading after a further mechanism, before it runs."""
        return self._reading_at(self._information + 2 * exactly(require_at_least("rho", rho, 0)))

    def would_exceed(self, offer: ConcentratedOffer | NoiseReductionOffer) -> bool:
        """Return whether the reading would exceed the limit after the worst-case outcome of the offer.

        Raises
        ------
        UsageError
            If the offer is of another kind, or has a delta: the reading bounds losses, and counts no failures.
        """
        require_offer(offer, ConcentratedOffer, NoiseReductionOffer)
        if offer.delta != 0:
            raise UsageError(f"delta of an offer to an odometer must be 0, got {offer.delta!r}")
        return self._reading_at(self._information + 2 * offer.largest_cost) > self.limit

    def spend(self, offer: ConcentratedOffer | NoiseReductionOffer, loss: float = math.nan) -> None:
        """Charge a concentrated mechanism its rho, noise reduction the cost of the precision `loss` at its stop.

        Raises
        ------
        BudgetExceeded
            If the limit does not admit the offer; nothing is counted.
        UsageError
            If noise reduction did not stop at a positive precision of at most the one offered; nothing is counted.
        """
        refuse_if_it_exceeds(self, offer)
        self._information += 2 * offer.charge(loss)

    def _reading_at(self, information: Fraction) -> float:
        if information == 0:
            return 0.0
        rounded = _nearest(information) * _ROUNDED_UP
        if rounded > _LARGEST:
            return math.inf
        return (rounded / 2 + float(half_normal_boundary(rounded, self.tuning, self.delta))) * _ROUNDED_UP
