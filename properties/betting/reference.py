"""Reference mechanisms: the privacy losses on their worst pair, as finitely many values with probabilities.

They measure the power of a test in the parameter of a claim. Continuous distributions of the loss are replaced by
Gauss-Legendre nodes between the points where the gain of a bet has a kink; the gains that `power` integrates are
smooth between them.

- Laplace mechanism with epsilon E (Dwork, McSherry, Nissim, Smith 2006): L = E with probability 1/2, L = -E with
  probability e^-E / 2, density e^((L - E)/2) / 4 between. Its hockey-stick divergence at e <= E is 1 - e^((e - E)/2).
- Gaussian mechanism with multiplier m, sensitivity over standard deviation: L ~ N(m^2/2, m^2). It is m^2/2-zCDP and
  this is attained at every order (Bun and Steinke 2016).
- Randomised response that reveals its input with probability delta: L = infinity with probability delta, otherwise
  +-epsilon; every (epsilon, delta)-DP mechanism is a function of it (Kairouz, Oh and Viswanath 2015).
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

__all__ = ["Reference", "gaussian", "laplace", "revealing"]

Array = NDArray[np.float64]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)  # exact up to degree 23
_REACH = 10.0
"""Standard deviations that are integrated; the mass beyond is below 2e-23."""


@dataclass(frozen=True)
class Reference:
    """The privacy losses of a reference mechanism on its worst pair.

    Parameters
    ----------
    losses : ndarray
        Losses of the left input against the right one, in nats; may be infinite.
    left, right : ndarray
        Their probabilities (nodes: quadrature weights) on each input.
    """

    losses: Array
    left: Array
    right: Array


def laplace(epsilon: float, kinks: Iterable[float] = (), *, widest: float = 1.0) -> Reference:
    """Return the Laplace mechanism with this epsilon.

    Parameters
    ----------
    epsilon : float
        Nats, positive.
    kinks : iterable of float
        Losses between which the integrand is smooth.
    widest : float
        Largest distance between two panels of nodes, nats.
    """
    inner = [kink for kink in kinks if -epsilon < kink < epsilon]
    nodes, weights = _panels([-epsilon, *inner, epsilon], widest)
    losses = np.concatenate([[-epsilon, epsilon], nodes])
    left = np.concatenate([[math.exp(-epsilon) / 2, 0.5], weights * np.exp((nodes - epsilon) / 2) / 4])
    return Reference(losses, left, left * np.exp(-losses))


def gaussian(multiplier: float, kinks: Iterable[float] = ()) -> Reference:
    """Return the Gaussian mechanism with this multiplier (sensitivity / standard deviation, positive)."""
    mean, reach = multiplier**2 / 2, _REACH * multiplier
    low, high = -mean - reach, mean + reach
    nodes, weights = _panels([low, *(kink for kink in kinks if low < kink < high), high], min(multiplier, 1.0))
    scale = weights / (multiplier * math.sqrt(2 * math.pi))
    left, right = (scale * np.exp(-0.5 * ((nodes - side) / multiplier) ** 2) for side in (mean, -mean))
    return Reference(nodes, left, right)


def revealing(epsilon: float, delta: float) -> Reference:
    """Return randomised response with this epsilon that reveals its input with probability delta."""
    kept = (1 - delta) / (1 + math.exp(-epsilon))
    left = np.array([delta, kept, (1 - delta) - kept, 0.0])
    return Reference(np.array([math.inf, epsilon, -epsilon, -math.inf]), left, left[::-1].copy())


def _panels(corners: Iterable[float], widest: float) -> tuple[Array, Array]:
    """Return Gauss-Legendre nodes and weights between the corners."""
    edges: list[Array] = []
    for low, high in pairwise(sorted(set(corners))):
        edges.append(np.linspace(low, high, math.ceil((high - low) / widest) + 1))
    starts = np.concatenate([each[:-1] for each in edges])
    half = np.concatenate([np.diff(each) for each in edges]) / 2
    nodes = (starts + half)[:, None] + half[:, None] * _NODES
    return nodes.ravel(), (half[:, None] * _WEIGHTS).ravel()
