"""Conversions to and from concentrated DP, bounded range and approximate zCDP.

Parameters are rounded as in :mod:`dpassay.spec.notions.implications`: up when converting, down when pulling back. The
statements that the conversions are sound stand in :mod:`dpassay.spec.theorems.composition.concentrated`.
"""

import math
from collections.abc import Callable
from fractions import Fraction

from flint import arb

from dpassay.arguments import UsageError
from dpassay.claims import ZCDP, ApproximateDP, ApproximateZCDP, BoundedRange, ConcentratedDP, PureDP
from dpassay.spec.ball import at_most, ball, float_lower, float_upper, precision
from dpassay.spec.notions.approximate_zcdp import implied_epsilon
from dpassay.spec.notions.pure_conversions import zcdp_rho_of_pure
from dpassay.spec.verdict import Outcome

__all__ = [
    "approximate_zcdp_implying_approximate",
    "approximate_zcdp_to_approximate",
    "bounded_range_implying_concentrated",
    "bounded_range_implying_pure",
    "bounded_range_implying_zcdp",
    "bounded_range_to_concentrated",
    "bounded_range_to_pure",
    "bounded_range_to_zcdp",
    "concentrated_implying_approximate_zcdp",
    "concentrated_to_approximate_zcdp",
    "mean_loss_of_bounded_range",
    "pure_implying_bounded_range",
    "pure_implying_concentrated",
    "pure_to_bounded_range",
    "pure_to_concentrated",
    "zcdp_implying_approximate_zcdp",
    "zcdp_to_approximate_zcdp",
]

WORKING_BITS = 192


def mean_loss_of_bounded_range(width: arb) -> arb:
    """Enclose kappa(a) = a/(e^a - 1) - 1 - log(a/(e^a - 1)), the largest mean loss of an a-bounded-range pair.

    Written log(sinh(a/2)/(a/2)) + (a/2) coth(a/2) - 1; at most a^2/8, and about a - log a - 1 for large a.

    Examples
    --------
    >>> round(float(mean_loss_of_bounded_range(arb(1))), 8)
    0.12330156
    """
    if width == 0:
        return arb(0)
    half = width / 2
    # sinh overflows nothing in balls, but for wide a its logarithm is half + log1p(-e^-a) - log(2 half)
    log_quotient = half + (-(-width).exp()).log1p() - width.log()
    return log_quotient + half / half.tanh() - 1


# --- forwards -----------------------------------------------------------------------------------------------


def pure_to_concentrated(claim: PureDP) -> ConcentratedDP:
    """Convert to mu = epsilon tanh(epsilon/2), tau = epsilon."""
    return ConcentratedDP(_upper(lambda: zcdp_rho_of_pure(ball(claim.epsilon))), claim.epsilon)


def pure_to_bounded_range(claim: PureDP) -> BoundedRange:
    """Convert to twice the epsilon."""
    return BoundedRange(2 * claim.epsilon)


def bounded_range_to_pure(claim: BoundedRange) -> PureDP:
    """Convert with the same epsilon."""
    return PureDP(claim.epsilon)


def bounded_range_to_concentrated(claim: BoundedRange) -> ConcentratedDP:
    """Convert to mu = kappa(epsilon), tau = epsilon/2."""
    return ConcentratedDP(_upper(lambda: mean_loss_of_bounded_range(ball(claim.epsilon))), claim.epsilon / 2)


def bounded_range_to_zcdp(claim: BoundedRange) -> ZCDP:
    """Convert to rho = kappa(epsilon)."""
    return ZCDP(_upper(lambda: mean_loss_of_bounded_range(ball(claim.epsilon))))


def concentrated_to_approximate_zcdp(claim: ConcentratedDP) -> ApproximateZCDP:
    """Convert to rho = tau^2/2, xi = mu - tau^2/2, delta = 0; for tau^2/2 > mu + rounding xi is negative."""
    rho = _upper(lambda: ball(Fraction(claim.tau) ** 2 / 2))
    xi = _upper_signed(lambda: ball(Fraction(claim.mu) - Fraction(claim.tau) ** 2 / 2))
    return ApproximateZCDP(rho, 0.0, max(xi, -rho))


def zcdp_to_approximate_zcdp(claim: ZCDP) -> ApproximateZCDP:
    """Convert with the same rho, delta 0 and xi 0."""
    return ApproximateZCDP(claim.rho, 0.0)


def approximate_zcdp_to_approximate(claim: ApproximateZCDP, *, delta: float) -> ApproximateDP:
    """Convert to any delta in (claim.delta, 1]: the tail (delta - claim.delta)/(1 - claim.delta) is on the events."""
    if not claim.delta < delta <= 1:
        raise UsageError(f"delta must lie in ({claim.delta!r}, 1], got {delta!r}")
    if delta == 1:
        return ApproximateDP(0.0, 1.0)
    left_out = Fraction(claim.delta)
    tail = (Fraction(delta) - left_out) / (1 - left_out)
    return ApproximateDP(_upper(lambda: implied_epsilon(Fraction(claim.rho), Fraction(claim.xi), tail)), delta)


# --- backwards ----------------------------------------------------------------------------------------------


def pure_implying_concentrated(target: ConcentratedDP) -> tuple[PureDP, ...]:
    """Return PureDP with epsilon tanh(epsilon/2) <= mu and epsilon <= tau."""
    return (PureDP(_largest(target.tau, lambda epsilon: zcdp_rho_of_pure(ball(epsilon)), target.mu)),)


def pure_implying_bounded_range(target: BoundedRange) -> tuple[PureDP, ...]:
    """Return PureDP with half the epsilon."""
    return (PureDP(target.epsilon / 2),)


def bounded_range_implying_pure(target: PureDP) -> tuple[BoundedRange, ...]:
    """Return BoundedRange with the same epsilon."""
    return (BoundedRange(target.epsilon),)


def bounded_range_implying_concentrated(target: ConcentratedDP) -> tuple[BoundedRange, ...]:
    """Return BoundedRange with kappa <= mu and epsilon/2 <= tau."""
    return (BoundedRange(_largest(2 * target.tau, lambda a: mean_loss_of_bounded_range(ball(a)), target.mu)),)


def bounded_range_implying_zcdp(target: ZCDP) -> tuple[BoundedRange, ...]:
    """Return BoundedRange with kappa(epsilon) <= rho."""
    top = 4 * math.sqrt(target.rho) + 4 * target.rho + 4  # kappa exceeds rho there
    return (BoundedRange(_largest(top, lambda a: mean_loss_of_bounded_range(ball(a)), target.rho)),)


def concentrated_implying_approximate_zcdp(target: ApproximateZCDP) -> tuple[ConcentratedDP, ...]:
    """Return ConcentratedDP(rho + xi, sqrt(2 rho))."""
    mu = _lower(lambda: ball(Fraction(target.rho) + Fraction(target.xi)))
    return (ConcentratedDP(max(mu, 0.0), _lower(lambda: ball(2 * Fraction(target.rho)).sqrt())),)


def zcdp_implying_approximate_zcdp(target: ApproximateZCDP) -> tuple[ZCDP, ...]:
    """Return ZCDP(rho), or ZCDP(rho + xi) for a negative xi: (rho + xi) alpha <= rho alpha + xi."""
    total = Fraction(target.rho) + min(Fraction(target.xi), Fraction(0))
    return (ZCDP(max(_lower(lambda: ball(total)), 0.0)),)


def approximate_zcdp_implying_approximate(target: ApproximateDP) -> tuple[ApproximateZCDP, ...]:
    """Return ApproximateZCDP with half of delta outside its events, and xi = 0."""
    if not 0 < target.delta < 1 or target.epsilon == 0:
        return ()
    left_out = Fraction(target.delta) / 2
    tail = left_out / (1 - left_out)

    def rho() -> arb:
        level, log_inverse = ball(target.epsilon), -ball(tail).log()
        return (level / ((log_inverse + level).sqrt() + log_inverse.sqrt())) ** 2

    return (ApproximateZCDP(_lower(rho), target.delta / 2),)


def _largest(top: float, increasing: Callable[[float], arb], bound: float) -> float:
    """Return the largest float64 up to `top` at which an increasing function is certified to keep a bound."""

    def kept(value: float) -> bool:
        return value == 0 or at_most(lambda: increasing(value), lambda: ball(bound)).outcome is Outcome.HOLDS

    low, high = 0.0, top
    if kept(high):
        return high
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if kept(middle) else (low, middle)
    return low


def _upper(value: Callable[[], arb]) -> float:
    return max(_upper_signed(value), 0.0)


def _upper_signed(value: Callable[[], arb]) -> float:
    with precision(WORKING_BITS):
        return float_upper(value())


def _lower(value: Callable[[], arb]) -> float:
    with precision(WORKING_BITS):
        return float_lower(value())
