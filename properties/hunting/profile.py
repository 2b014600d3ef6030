"""The privacy loss of a pair of known distributions as two curves: delta at every epsilon, and the trade-off curve.

For distributions through a partition both curves are those of the cells: the ones of the mechanism are no better.
"""

import itertools
import math
from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpassay.properties.hunting.divergences import Tabulated
from dpassay.properties.pairing.registry import DistributionPair, PushedForward
from dpassay.spec.ball import float_lower, float_upper, max_balls
from dpassay.spec.distributions.discrete import max_divergence

__all__ = ["PairProfile", "draw_profile", "profile_of"]

_POINTS = 200
"""Points of the drawn curve."""

_LARGEST = 50.0
"""The largest epsilon that is drawn, nats: the curve of a pair with unbounded loss ends here."""


@dataclass(frozen=True)
class PairProfile:
    """The curves of a pair, in floats, and the certified bounds on its epsilon.

    Parameters
    ----------
    epsilon_lower : float
        Certified bound from below, nats, for the worse order of the pair.
    epsilon_upper : float or None
        Certified bound from above; None where the outcomes were seen through cells.
    deltas : tuple of (float, float)
        (epsilon, delta): the larger hockey-stick divergence of both orders.
    errors : tuple of (float, float)
        (false positives, false negatives) of the best tests of left against right.
    """

    epsilon_lower: float
    epsilon_upper: float | None
    deltas: tuple[tuple[float, float], ...]
    errors: tuple[tuple[float, float], ...]


def profile_of(distributions: DistributionPair) -> PairProfile:
    """Return the profile of a pair of distributions, at the working precision.

    Parameters
    ----------
    distributions : (DiscreteDistribution, DiscreteDistribution)
        On the left and on the right input.
    """
    left, right = (Tabulated.of(one) for one in distributions)
    worst = max_balls([max_divergence(left, right), max_divergence(right, left)])
    is_whole = not any(isinstance(one, PushedForward) for one in distributions)
    masses = [(_mass(left, outcome), _mass(right, outcome)) for outcome in {**left.table, **right.table}]
    lower = max(0.0, float_lower(worst))
    return PairProfile(lower, float_upper(worst) if is_whole else None, _deltas(masses, lower), _errors(masses))


def _mass(distribution: Tabulated, outcome: Hashable) -> float:
    return float(distribution.log_probability(outcome).exp().mid())


def _deltas(masses: list[tuple[float, float]], largest: float) -> tuple[tuple[float, float], ...]:
    top = 1.1 * min(largest, _LARGEST) or 1.0
    return tuple((top * k / _POINTS, _delta(masses, top * k / _POINTS)) for k in range(_POINTS + 1))


def _delta(masses: list[tuple[float, float]], epsilon: float) -> float:
    ratio = math.exp(epsilon)
    return max(
        math.fsum(max(0.0, p - ratio * q) for p, q in masses), math.fsum(max(0.0, q - ratio * p) for p, q in masses)
    )


def _errors(masses: list[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    """Return the errors of the tests that reject the left hypothesis on the outcomes most likely on the right."""
    ordered = sorted(masses, key=lambda both: both[1] / both[0] if both[0] else math.inf, reverse=True)
    on_left = itertools.accumulate([p for p, _ in ordered], initial=0.0)
    on_right = itertools.accumulate([q for _, q in ordered], initial=0.0)
    return tuple((min(1.0, p), max(0.0, 1.0 - q)) for p, q in zip(on_left, on_right, strict=True))


def draw_profile(profile: PairProfile, path: Path) -> None:
    """Draw both curves as a picture; the end of the file's name says in which format.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    _paint_deltas(axes[0], profile)
    _paint_errors(axes[1], profile)
    figure.savefig(path)
    plt.close(figure)


def _paint_deltas(axes: Any, profile: PairProfile) -> None:
    positive = [(epsilon, delta) for epsilon, delta in profile.deltas if delta > 0]
    axes.plot(*zip(*positive, strict=True) if positive else ((), ()))
    axes.set(xlabel="epsilon", ylabel="delta", title="privacy-loss profile", yscale="log" if positive else "linear")


def _paint_errors(axes: Any, profile: PairProfile) -> None:
    axes.plot(*zip(*profile.errors, strict=True), label="this pair")
    axes.plot((0, 1), (1, 0), linestyle=":", label="no difference")
    axes.set(xlabel="false positives", ylabel="false negatives", title="trade-off curve")
    axes.legend()
