"""Upper bounds on divergences of independent noise, where the distribution of every coordinate has a known loss.

They stand beside the lower bounds and closed forms of `noise_pairs`; a claim between the two is undecided. Of each
coordinate family and scale must be the same on both inputs, and the location of noise on the integers an integer.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from flint import arb

from dpassay.spec.ball import ball, exact, float_upper, max_balls, sum_balls
from dpassay.spec.distributions.gaussian import gaussian_hockey_stick
from dpassay.spec.distributions.interpolated_losses import LossCurve, composed_delta_upper
from dpassay.spec.distributions.laplace_pair import laplace_hockey_stick
from dpassay.spec.distributions.noise import NoiseDistribution, NoisePair
from dpassay.spec.distributions.noise_pairs import common_shift_of_noise, largest_loss_of_noise

__all__ = ["concentrated_upper_of_noise", "hockey_stick_upper_of_noise", "largest_loss_upper_of_noise"]

_MOST_INTEGERS = 64
"""Integers between the locations at most: each is a term of the divergence at each point of the grid."""

_DEVIATIONS = 12.0
"""Standard deviations of a normal loss within the grid: beyond them it has a probability of 1e-33."""


def largest_loss_upper_of_noise(moved: Sequence[NoisePair]) -> arb | None:
    """Enclose the largest privacy loss of independent noise; None where only a lower bound is known."""
    return largest_loss_of_noise(moved) if all(_has_known_loss(a, b) for a, b in moved) else None


def concentrated_upper_of_noise(moved: Sequence[NoisePair]) -> arb | None:
    """Return an upper bound on the rho of zCDP: d^2 / 2 for Gaussian noise, and for a largest loss d of any other.

    References
    ----------
    Bun and Steinke 2016, Prop. 1.4 and 1.6: the first asks for a loss of at most d in both directions.
    """
    if not all(_has_known_loss(a, b) for a, b in moved):
        return None
    terms = []
    for a, b in moved:
        shift = common_shift_of_noise([(a, b)], on_lattice=True)
        loss = shift if shift is not None else max_balls(largest_loss_of_noise([one]) for one in ((a, b), (b, a)))
        terms.append(loss * loss / 2)
    return sum_balls(terms)


def hockey_stick_upper_of_noise(moved: Sequence[NoisePair], epsilon: float) -> arb | None:
    """Return an upper bound on the divergence at epsilon, left over right; None if a coordinate has no known curve.

    Parameters
    ----------
    moved : sequence of NoisePair
        The coordinates that differ, at least one.
    epsilon : float
        At least 0, nats.
    """
    normal = [one for one in moved if common_shift_of_noise([one]) is not None]
    shift = common_shift_of_noise(normal)
    others = [_curve(a, b) for a, b in moved if common_shift_of_noise([(a, b)]) is None]
    known = [curve for curve in others if curve is not None]
    if len(known) < len(others):
        return None
    if normal:
        assert shift is not None
        known.append(_normal_curve(shift))
    if len(known) == 1:
        return known[0].delta(exact("epsilon", epsilon))
    return arb(composed_delta_upper(known, epsilon))


def _has_known_loss(left: NoiseDistribution, right: NoiseDistribution) -> bool:
    """Return whether `largest_loss_of_noise` is the loss, and not a lower bound."""
    if (left.family, exact("scale", left.scale)) != (right.family, exact("scale", right.scale)):
        return False
    if left.has_ends:
        return (left.low, left.high) == (right.low, right.high)
    return not left.is_discrete or all(exact("location", one.location).denominator == 1 for one in (left, right))


def _normal_curve(shift: arb) -> LossCurve:
    width = float_upper(shift)
    return LossCurve(lambda epsilon: gaussian_hockey_stick(shift, epsilon), width * width / 2 + _DEVIATIONS * width)


def _curve(left: NoiseDistribution, right: NoiseDistribution) -> LossCurve | None:
    if not _has_known_loss(left, right):
        return None
    gap = abs(exact("location", left.location) - exact("location", right.location))
    distance = gap / exact("scale", left.scale)
    reach = float_upper(ball(distance))
    if left.family == "laplace":
        return LossCurve(lambda epsilon: _laplace_delta(distance, epsilon), reach)
    if left.family == "discrete laplace" and gap <= _MOST_INTEGERS:
        return LossCurve(_delta_of_cells(left, right), reach)
    return None


def _laplace_delta(distance: Fraction, epsilon: Fraction) -> arb:
    """Return the divergence at any epsilon: H(e^-x) = 1 - e^-x + e^-x H(e^x) for a pair that is symmetric."""
    above = laplace_hockey_stick(distance, abs(epsilon))
    return above if epsilon >= 0 else -(ball(epsilon).expm1()) + ball(epsilon).exp() * above


def _delta_of_cells(left: NoiseDistribution, right: NoiseDistribution) -> Callable[[Fraction], arb]:
    """Return the divergence of noise on the integers: beyond the two locations the loss is constant."""
    first, last = sorted(math.floor(exact("location", one.location)) for one in (left, right))
    edges = [None, *range(first, last), None]
    cells = [(left.interval(*edge), right.interval(*edge)) for edge in itertools.pairwise(edges)]

    def delta(epsilon: Fraction) -> arb:
        level = ball(epsilon).exp()
        return sum_balls((p - level * q).max(arb(0)) for p, q in cells)

    return delta
