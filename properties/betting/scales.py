"""Scales of power: departures of a reference mechanism from a claim, and the gain of an ideal bettor on it.

See :mod:`dpassay.properties.betting.power` for what the references are and when a test is weak.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpassay.properties.betting.bets import LEVELS, PROCESSES, log_factors
from dpassay.properties.betting.families import ClaimFamily
from dpassay.properties.betting.reference import Reference, gaussian, laplace, revealing
from dpassay.properties.betting.wealth import process_shares

__all__ = [
    "DELTA_SLACK",
    "LARGEST",
    "SLACK",
    "LeastGain",
    "Scale",
    "delta_scale",
    "gaussian_scale",
    "laplace_scale",
    "mean_gains",
    "range_gain",
    "range_scale",
]

Array = NDArray[np.float64]
Gain = Callable[[float], tuple[Array, Array]]
"""Takes the parameter of a reference; returns the mean gains of the bets, nats a call, and the cost of each."""

LeastGain = Callable[[Array], Array]
"""Takes the costs of bets; returns the mean gain that each must have, nats a call."""

SLACK = 0.5
"""Nats (or units of a multiplier) beyond twice the claim that a test may miss before it counts as weak."""

DELTA_SLACK = 2.0**-6
"""Probability beyond twice the claimed delta that a test may miss before it counts as weak."""

LARGEST = 64.0
"""The largest epsilon of a reference, nats: a larger one shows in fewer than e^64 calls no better."""

_LARGEST_MULTIPLIER = math.sqrt(2 * LARGEST)
"""The largest multiplier of a Gaussian reference: its zCDP parameter is `LARGEST`."""

_PRECISION = 2.0**-14
"""Relative accuracy of a smallest detectable parameter: it is printed with three digits."""


@dataclass(frozen=True)
class Scale:
    """One parameter along which a reference departs from the claim.

    Parameters
    ----------
    gain : callable
        As `Gain`; the gains increase with the parameter.
    claimed, allowed, most : float
        The reference at the claim, the one that a test must refute in order not to be weak, and the largest one.
    stated : callable
        The figures of a reference, in the parameters of the claim.
    """

    gain: Gain
    claimed: float
    allowed: float
    most: float
    stated: Callable[[float], dict[str, float]]

    def smallest(self, least_gain: LeastGain) -> float:
        """Return the smallest parameter, rounded up, on which some bet has its least gain; infinity if none has."""
        if self.claimed >= self.most:
            return math.inf
        low, step = self.claimed, 1 / 64
        high = min(low + step, self.most)
        while not self._is_refuted(high, least_gain):
            if high >= self.most:
                return math.inf
            low, step = high, 4 * step
            high = min(self.claimed + step, self.most)
        while high - low > _PRECISION * (high - self.claimed):
            middle = (low + high) / 2
            low, high = (low, middle) if self._is_refuted(middle, least_gain) else (middle, high)
        return high

    def _is_refuted(self, parameter: float, least_gain: LeastGain) -> bool:
        gains, costs = self.gain(parameter)
        return bool((gains >= least_gain(costs)).any())

    def gain_allowed(self) -> tuple[Array, Array]:
        """Return the gains and costs at the largest reference that a test may miss; none if it cannot be refuted."""
        return self.gain(self.allowed) if self.allowed < self.most else (np.empty(0), np.empty(0))


def laplace_scale(family: ClaimFamily, epsilon: float, stated: Callable[[float], dict[str, float]]) -> Scale:
    """Return the scale of a Laplace mechanism against the claim of a family; `epsilon` is its own at the claim."""
    points = _claimed_points(family)

    def gain(true_epsilon: float) -> tuple[Array, Array]:
        return mean_gains(laplace(true_epsilon, _kinks(points[0])), *points)

    return Scale(gain, epsilon, 2 * epsilon + SLACK, _most(epsilon, LARGEST), stated)


def gaussian_scale(family: ClaimFamily, multiplier: float, stated: Callable[[float], dict[str, float]]) -> Scale:
    """Return the scale of a Gaussian mechanism against the claim of a family; `multiplier` is its own at the claim."""
    points = _claimed_points(family)

    def gain(true_multiplier: float) -> tuple[Array, Array]:
        return mean_gains(gaussian(true_multiplier, _kinks(points[0])), *points)

    return Scale(gain, multiplier, 2 * multiplier + SLACK, _most(multiplier, _LARGEST_MULTIPLIER), stated)


def range_scale(epsilon: float) -> Scale:
    """Return the scale of a Laplace mechanism against bounded range, by bets on pairs of calls."""

    def gain(true_epsilon: float) -> tuple[Array, Array]:
        return np.array([range_gain(true_epsilon, epsilon)]), np.array(
            [math.log(2)]
        )  # one of two halves bets on pairs

    half = epsilon / 2
    return Scale(gain, half, 2 * half + SLACK / 2, _most(half, LARGEST), lambda e: {"epsilon": 2 * e})


def delta_scale(family: ClaimFamily, epsilon: float, delta: float) -> Scale:
    """Return the scale of randomised response that reveals its input, against the claim of a family."""
    points = _claimed_points(family)

    def gain(true_delta: float) -> tuple[Array, Array]:
        return mean_gains(revealing(epsilon, true_delta), *points)

    return Scale(gain, delta, 2 * delta + DELTA_SLACK, 1.0, lambda d: {"delta": d})


def _most(claimed: float, largest: float) -> float:
    """Return the largest parameter to try; the claimed one itself where nothing beyond it can be told apart."""
    return claimed + largest + SLACK if claimed < largest else claimed


def _claimed_points(family: ClaimFamily) -> tuple[Array, Array]:
    """Return the (epsilon, delta) statements through which the claim of a family is refuted."""
    return family.epsilon[family.claimed], family.delta[family.claimed]


def _kinks(epsilon: Array) -> list[float]:
    ends = [float(LEVELS[0]), float(LEVELS[-1])]  # predictions reach no further
    return [*ends, *(kink for e in epsilon.tolist() for kink in (-e, e))]


def mean_gains(reference: Reference, epsilon: Array, delta: Array) -> tuple[Array, Array]:
    """Return the mean gain of each bet of the mixture on a reference, and the cost of its share.

    Sides are drawn with probability 1/2. The mixture is that of :class:`dpassay.properties.betting.families.Family`
    over points and of :func:`dpassay.properties.betting.bets.log_wealth` over processes.

    Parameters
    ----------
    reference : Reference
        The mechanism.
    epsilon, delta : ndarray, shape (points,)
        The hypotheses.

    Returns
    -------
    gains, costs : ndarray
        Nats a call; nats.

    Examples
    --------
    >>> gains, _ = mean_gains(laplace(1.0, [-0.5, 0.5]), np.array([0.5]), np.array([0.0]))
    >>> round(math.log(1 / 0.05) / gains.max())
    153
    """
    guess = np.clip(reference.losses, LEVELS[0], LEVELS[-1])
    gains, costs = [], []
    processes = [(PROCESSES[0], np.ones(1))]
    if delta.any():
        processes = list(zip(PROCESSES, process_shares(delta), strict=True))
    for (direction, fraction), shares in processes:
        on_left, on_right = log_factors(
            guess, epsilon[:, None], delta[:, None], direction=direction, cap_fraction=fraction
        )
        gains.append((on_left @ reference.left + on_right @ reference.right) / 2)
        costs.append(np.broadcast_to(math.log(len(epsilon)) - np.log(shares), gains[-1].shape))
    return np.concatenate(gains), np.concatenate(costs)


def range_gain(true_epsilon: float, epsilon: float) -> float:
    """Return the mean gain of a call on Laplace noise against bounded range epsilon, from a left and a right call."""
    noise = laplace(true_epsilon, [-epsilon / 2, epsilon / 2], widest=4.0)
    guess = np.clip(noise.losses[:, None] - noise.losses[None, :], LEVELS[0], LEVELS[-1])
    on_left, _ = log_factors(guess, epsilon)
    return float(noise.left @ on_left @ noise.right) / 2
