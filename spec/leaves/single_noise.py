"""Bounds on one noise: probabilities of intervals under the standard distributions."""

from collections.abc import Callable, Sequence
from fractions import Fraction

from flint import arb

from dpassay.spec.ball import ball, normal_cdf
from dpassay.spec.distributions.laplace import log_laplace_interval
from dpassay.spec.leaves.model import Constraint, NoiseKind

__all__ = ["bounds_of", "interval_probability"]


def interval_probability(constraints: Sequence[Constraint]) -> arb:
    """Enclose the probability that one noise obeys all constraints, which hold no other noise."""
    (kind,) = {noise.kind for constraint in constraints for noise in constraint.form.noise}
    low, high = bounds_of(constraints)
    if low is not None and high is not None and low >= high:
        return arb(0)
    return _INTERVALS[kind](low, high)


def bounds_of(constraints: Sequence[Constraint]) -> tuple[Fraction | None, Fraction | None]:
    """Return the interval that constraints on one noise leave to it; None where there is no bound."""
    low: Fraction | None = None
    high: Fraction | None = None
    for constraint in constraints:
        (slope,) = constraint.form.noise.values()
        end = -constraint.form.constant / slope
        if slope > 0:
            low = end if low is None else max(low, end)
        else:
            high = end if high is None else min(high, end)
    return low, high


Bound = Fraction | None


def _laplace(low: Bound, high: Bound) -> arb:
    return log_laplace_interval(low, high).exp()


def _exponential(low: Bound, high: Bound) -> arb:
    start = max(low or Fraction(0), Fraction(0))
    if high is None:
        return ball(-start).exp()
    return ball(-start).exp() * -ball(start - high).expm1() if high > start else arb(0)


def _uniform(low: Bound, high: Bound) -> arb:
    start = max(low or Fraction(0), Fraction(0))
    end = Fraction(1) if high is None else min(high, Fraction(1))
    return ball(max(end - start, Fraction(0)))


def _normal(low: Bound, high: Bound) -> arb:
    if low is not None and low > 0:  # both tails on the side where they are small
        return _normal(None if high is None else -high, -low)
    upper = arb(1) if high is None else normal_cdf(ball(high))
    return upper - normal_cdf(ball(low)) if low is not None else upper


def _gumbel(low: Bound, high: Bound) -> arb:
    """Enclose e^-a - e^-b with a = e^-high, b = e^-low: e^-a (1 - e^-(b - a))."""
    start = arb(0) if high is None else ball(-high).exp()
    if low is None:
        return (-start).exp()
    return (-start).exp() * -(start - ball(-low).exp()).expm1()


def _logistic(low: Bound, high: Bound) -> arb:
    """Enclose s(high) - s(low) = (1 - e^(low - high)) s(high) s(-low), s the distribution function."""
    upper = arb(1) if high is None else 1 / (1 + ball(-high).exp())
    if low is None:
        return upper
    lower = 1 / (1 + ball(low).exp())
    return upper * lower if high is None else -ball(low - high).expm1() * upper * lower


_INTERVALS: dict[NoiseKind, Callable[[Bound, Bound], arb]] = {
    NoiseKind.LAPLACE: _laplace,
    NoiseKind.EXPONENTIAL: _exponential,
    NoiseKind.UNIFORM: _uniform,
    NoiseKind.NORMAL: _normal,
    NoiseKind.GUMBEL: _gumbel,
    NoiseKind.LOGISTIC: _logistic,
}
