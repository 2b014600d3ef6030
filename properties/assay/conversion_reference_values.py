"""Certified values of tight conversions between notions of privacy."""

import math
from fractions import Fraction
from functools import lru_cache

from flint import arb

from dpassay.properties.assay.composition_reference_values import responses_delta
from dpassay.properties.assay.enclosures import (
    LARGEST,
    STEPS,
    WORKING_BITS,
    Curve,
    Truth,
    Truths,
    exceeds,
    least_argument,
)
from dpassay.spec.ball import ball, exact, float_lower, precision
from dpassay.spec.distributions.gaussian import gaussian_hockey_stick
from dpassay.spec.notions.pure_conversions import zcdp_rho_of_pure

__all__ = ["CONVERSION_TRUTHS"]


@lru_cache(maxsize=256)
def _pure_epsilon_of(rho: float) -> Fraction:
    """Return an epsilon with epsilon tanh(epsilon/2) <= rho, so that epsilon-DP implies rho-zCDP; nearly the largest.

    Zero if none is found.
    """
    low, high = 0.0, rho + 2.0
    for _ in range(52):
        middle = (low + high) / 2
        low, high = (middle, high) if middle * math.tanh(middle / 2) <= rho else (low, middle)
    return Fraction(next((x for x in (low, low * (1 - 2.0**-40)) if _implies(x, rho)), 0.0))


def _implies(epsilon: float, rho: float) -> bool:
    with precision(96):
        return bool(zcdp_rho_of_pure(ball(epsilon)) <= ball(exact("rho", rho)))


def zcdp_delta(rho: float, epsilon: float) -> Truth:
    """Bound from below the delta that rho-zCDP implies: by the Gaussian mechanism and by randomised response."""
    if rho == 0:
        return Truth(0.0, 0.0)
    gaussian = Truth.of(lambda: gaussian_hockey_stick((2 * ball(exact("rho", rho))).sqrt(), epsilon))
    response = responses_delta(_pure_epsilon_of(rho), epsilon, 1)
    return Truth(max(gaussian.lower or 0.0, response.lower or 0.0), None)


def zcdp_epsilon(rho: float, delta: float) -> Truth:
    """Bound from below the epsilon that rho-zCDP implies."""
    return least_argument(lambda epsilon: zcdp_delta(rho, epsilon), delta, largest=1e300)


def zcdp_rho(epsilon: float, delta: float) -> Truth:
    """Bound from above the rho that suffices: a larger one lets a mechanism through that is not private enough."""
    return Truth(None, _least_rho(lambda rho: zcdp_delta(rho, epsilon), delta))


def _least_rho(curve: Curve, delta: float) -> float | None:
    """Return nearly the least rho at which a curve that does not decrease certainly exceeds delta."""
    low, high = 0.0, 1e-30
    while not exceeds(curve(high), delta):
        low, high = high, 8 * high
        if high > LARGEST:
            return None
    for _ in range(STEPS):
        middle = math.sqrt(low) * math.sqrt(high) if low else high / 2
        if not low < middle < high or high - low < 2.0**-50 * high:
            break
        low, high = (low, middle) if exceeds(curve(middle), delta) else (middle, high)
    return high


def renyi_epsilon(order: float, renyi: float, delta: float) -> Truth:
    """Bound from below the epsilon that a Renyi divergence of one order implies, by pairs of two-point laws.

    The pairs keep to the divergence in both orders of the neighbours.
    """
    best = 0.0
    depth = -math.log(delta) if delta > 0 else 700.0
    for step in range(1, 48):
        p = delta + (1 - delta) * math.exp(-depth * 1.1 * step / 48)
        q = _least_second(p, order, renyi)
        if q is not None and p > delta:
            with precision(WORKING_BITS):
                level = ((ball(p) - ball(exact("delta", delta))) / ball(q)).log()
                best = max(best, float_lower(level))
    return Truth(best, None)


def _least_second(p: float, order: float, renyi: float) -> float | None:
    """Return nearly the least q for which (p, 1 - p) and (q, 1 - q) keep to the divergence, None if there is none.

    It is looked for in float64 and certified afterwards, a little further in.
    """
    if not 0 < p < 1:
        return None
    low, high = math.log(p) - 700.0, math.log(p)
    for _ in range(50):
        middle = (low + high) / 2
        if _approximate_renyi(math.log(p), middle, order) <= renyi:
            high = middle
        else:
            low = middle
    for inward in (2.0**-40, 2.0**-30, 2.0**-20):
        q = math.exp(high) * (1 + inward)
        if q < p and _keeps(p, q, order, renyi):
            return q
    return None


def _approximate_renyi(log_p: float, log_q: float, order: float) -> float:
    """Approximate the larger of both divergences of two-point laws."""
    rest_p, rest_q = math.log(-math.expm1(min(log_p, -1e-300))), math.log(-math.expm1(min(log_q, -1e-300)))
    larger = []
    for a, b, c, d in ((log_p, log_q, rest_p, rest_q), (log_q, log_p, rest_q, rest_p)):
        terms = (order * a + (1 - order) * b, order * c + (1 - order) * d)
        peak = max(terms)
        larger.append((peak + math.log(sum(math.exp(term - peak) for term in terms))) / (order - 1))
    return max(larger)


def _keeps(p: float, q: float, order: float, renyi: float) -> bool:
    if not 0 < q < 1:
        return False
    with precision(WORKING_BITS):
        bound, alpha = ball(exact("renyi", renyi)), ball(exact("order", order))
        return all(_two_point_renyi(a, b, alpha) <= bound for a, b in ((p, q), (q, p)))


def _two_point_renyi(p: float, q: float, alpha: arb) -> arb:
    first, second = ball(p), ball(q)
    moment = (first.log() * alpha + second.log() * (1 - alpha)).exp()
    moment = moment + ((-first).log1p() * alpha + (-second).log1p() * (1 - alpha)).exp()
    return moment.log() / (alpha - 1)


CONVERSION_TRUTHS: Truths = {
    "zcdp_delta": zcdp_delta,
    "zcdp_epsilon": zcdp_epsilon,
    "zcdp_rho": zcdp_rho,
    "renyi_epsilon": renyi_epsilon,
}
"""Certified values by question."""
