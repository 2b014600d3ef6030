"""Claims given as functions: a curve delta(epsilon), or a trade-off function beta(alpha).

A curve is tested at points of it: (epsilon, delta)-DP at the epsilons at which the curve passes through `LEVELS`. A
mechanism that obeys the curve obeys all of them; one that breaks it between them only is not seen.

>>> for claim in profile(lambda epsilon: max(0.0, 1 - math.exp((epsilon - 1) / 2))):  # Laplace noise, epsilon 1
...     print(f"epsilon {claim.epsilon:.4f}, delta {claim.delta:.4f}")
epsilon 0.0000, delta 0.3935
epsilon 0.5537, delta 0.2000
epsilon 0.8974, delta 0.0500
epsilon 0.9799, delta 0.0100
epsilon 0.9980, delta 0.0010
"""

import math
from collections.abc import Callable

import numpy as np

from dpassay.arguments import UsageError, shown
from dpassay.claims import ApproximateDP

__all__ = ["LEVELS", "profile", "trade_off"]

LEVELS = (0.2, 0.05, 1e-2, 1e-3)
"""The deltas of the points, beside that of epsilon 0. A rarer event needs more calls than tests make."""

_LARGEST_EPSILON = 100.0
_HALVINGS = 60
_SMALLEST_ALPHA, _ALPHAS = 1e-12, 20_000


def profile(delta_of: Callable[[float], float]) -> tuple[ApproximateDP, ...]:
    """Return the (epsilon, delta) claims that stand for a curve in a test.

    Parameters
    ----------
    delta_of : callable
        ``delta_of(epsilon)``: the claimed delta in [0, 1], not increasing; epsilon in nats, at least 0.

    Returns
    -------
    tuple of ApproximateDP
        Without those of delta 1, which claim nothing.

    Raises
    ------
    UsageError
        If the curve raises an exception, has a value that is no probability, or claims nothing at any epsilon up
        to 100.
    """
    epsilons = [0.0, *(_first_below(delta_of, level) for level in LEVELS)]
    points = {epsilon: _delta(delta_of, epsilon) for epsilon in sorted(epsilons) if epsilon < math.inf}
    claims = tuple(ApproximateDP(epsilon, delta) for epsilon, delta in points.items() if delta < 1)
    if not claims:
        raise UsageError("claim must be a curve delta(epsilon) that is below 1 at some epsilon up to 100")
    return claims


def trade_off(beta_of: Callable[[float], float]) -> tuple[ApproximateDP, ...]:
    """Return the (epsilon, delta) claims that stand for a trade-off function (f-DP, Dong, Roth and Su 2022) in a test.

    delta(epsilon) is the largest 1 - beta(alpha) - e^epsilon alpha. It is rounded up: on each cell of a grid of alpha
    the least beta and the least alpha are taken, so that no mechanism which obeys the function breaks the claims.

    Parameters
    ----------
    beta_of : callable
        ``beta_of(alpha)``: the least error of type II that is claimed of tests with an error alpha of type I, in
        [0, 1 - alpha], not increasing.

    Raises
    ------
    UsageError
        If the function raises an exception or rises, or a value is out of its range.
    """
    alphas = np.concatenate([[0.0], np.geomspace(_SMALLEST_ALPHA, 1.0, _ALPHAS)])
    sentence = "trade_off must be given a function beta(alpha) in [0, 1 - alpha] that does not increase"
    betas = np.array([_number(beta_of, alpha, "alpha", sentence) for alpha in alphas.tolist()])
    slack = 1e-12  # float64 evaluates a function that a user writes to about this
    inside = (betas >= -slack) & (betas <= 1 - alphas + slack)
    falls = np.concatenate([[True], np.diff(betas) <= slack])
    wrong = np.flatnonzero(~(inside & falls))
    if wrong.size:
        place = wrong[0]
        before = "" if falls[place] or not inside[place] else f" and {betas[place - 1]:.12g} at {alphas[place - 1]:g}"
        raise UsageError(f"{sentence}, got {betas[place]:.12g} at alpha {alphas[place]:g}{before}")

    def delta_of(epsilon: float) -> float:
        return float(np.clip(np.max(1 - betas[1:] - math.exp(epsilon) * alphas[:-1]) + slack, 0.0, 1.0))

    return profile(delta_of)


def _first_below(delta_of: Callable[[float], float], level: float) -> float:
    """Return an epsilon at which the curve is at most `level`, close to the first one; infinity if none is found."""
    low, high = 0.0, _LARGEST_EPSILON
    if _delta(delta_of, high) > level:
        return math.inf
    if _delta(delta_of, low) <= level:
        return 0.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if _delta(delta_of, middle) <= level else (middle, high)
    return high


def _delta(delta_of: Callable[[float], float], epsilon: float) -> float:
    sentence = "claim must be a curve delta(epsilon) in [0, 1]"
    delta = _number(delta_of, epsilon, "epsilon", sentence)
    if not 0 <= delta <= 1:
        raise UsageError(f"{sentence}, got {shown(delta)} at epsilon {epsilon:g}")
    return delta


def _number(function: Callable[[float], float], argument: float, name: str, sentence: str) -> float:
    """Return the value of a function of the user at an argument; errors begin with the sentence of what it must be."""
    try:
        value = function(argument)
    except Exception as error:  # whatever it raises
        raise UsageError(
            f"{sentence}, but it raises {type(error).__name__}: {error} at {name} {argument:g}"
        ) from error
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise UsageError(f"{sentence}, got {shown(value)} at {name} {argument:g}") from None
