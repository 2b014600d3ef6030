"""Gaussian races: normal means of products of powers of normal cdfs.

The exact distribution of every selection mechanism with Gaussian noise is an expectation

    E[ prod_j Phi(slope_j x + offset_j)^exponent_j ],     x standard normal,

with positive exponents: all comparisons but one are settled given the noise that they share. The integrand is
log-concave and entire, so `log_line_integral` encloses its logarithm, however small it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import acb, arb, ctx
from numpy.typing import NDArray

from dpassay.arguments import UsageError
from dpassay.spec.ball import (
    Exact,
    ball,
    log_abs_normal_cdf_upper,
    log_normal_cdf,
    midpoint,
    normal_cdf,
    reversed_hazard,
    sum_balls,
)
from dpassay.spec.numerics.quadrature import log_line_integral

__all__ = ["GaussianRace", "Hurdle"]

Array = NDArray[np.float64]

DEEP = -4
"""Where a tail of the normal cdf begins to be bounded by its real part (any value is valid)."""

ZERO_FREE = Fraction(14, 5)
"""The normal cdf has no zero with a smaller imaginary part (the first is 1.916 + 2.816 i; DLMF 7.13)."""

LANDMARKS = np.linspace(-8, 8, 25)
"""Arguments of the normal cdf about which its modulus off the real axis may exceed 1."""


@dataclass(frozen=True)
class Hurdle:
    """One factor Phi(slope x + offset)^exponent, with exponent >= 0.

    `exact_slope` is the slope where it is known exactly: equality of two balls cannot be decided.
    """

    slope: arb
    offset: arb
    exponent: arb
    exact_slope: Fraction | None = None

    @classmethod
    def of(cls, slope: Exact | arb, offset: Exact | arb, exponent: Exact | arb = 1) -> "Hurdle":
        """Make a hurdle from exact numbers or balls."""
        known = None if isinstance(slope, arb) else Fraction(slope)
        return cls(ball(slope), ball(offset), ball(exponent), known)

    def at(self, x: arb) -> arb:
        """Return the argument of the normal cdf at x."""
        return self.slope * x + self.offset


class GaussianRace:
    """The density phi(x) prod_j Phi(slope_j x + offset_j)^exponent_j on the real line.

    Parameters
    ----------
    hurdles : iterable of Hurdle
        Factors; those with exponent 0 are dropped (0 log 0 would be indeterminate).

    Raises
    ------
    UsageError
        If an exponent may be negative: the density need not be log-concave then.
    """

    def __init__(self, *hurdles: Hurdle) -> None:
        for hurdle in hurdles:
            if not hurdle.exponent >= 0:
                raise UsageError(f"exponent must be at least 0, got {hurdle.exponent}")
        self.hurdles = tuple(hurdle for hurdle in hurdles if not hurdle.exponent.is_zero())
        self._floats = [
            (midpoint(hurdle.slope), midpoint(hurdle.offset), midpoint(hurdle.exponent)) for hurdle in self.hurdles
        ]

    def log_expectation(self) -> arb:
        """Enclose the logarithm of the expectation."""
        if not self.hurdles:
            return arb(0)
        return self._log_expectation_over_the_field() if self._all_steep else log_line_integral(self)

    @property
    def _all_steep(self) -> bool:
        slope = self.hurdles[0].exact_slope
        if slope is None or abs(slope) <= 1:
            return False
        return all(h.exact_slope == slope and h.exponent >= 1 for h in self.hurdles)

    def _log_expectation_over_the_field(self) -> arb:
        """Integrate over the largest of the rivals' noises in place of x.

        Hurdles of one steep slope make the density a step that the trapezoidal rule would need many nodes for. The
        same probability is Pr[slope x > max_j max(noises of j) - offset_j]; given that group j holds the maximum m,
        with density n_j phi(m) Phi(m)^(n_j - 1) prod_{i != j} Phi(m + offset_i - offset_j)^(n_i), all slopes are at
        most 1.
        """
        flat = 1 / abs(self.hurdles[0].slope)
        terms = []
        for index, own in enumerate(self.hurdles):
            others = self.hurdles[:index] + self.hurdles[index + 1 :]
            field = (Hurdle(arb(1), h.offset - own.offset, h.exponent) for h in others)
            race = GaussianRace(
                Hurdle(arb(1), arb(0), own.exponent - 1), *field, Hurdle(-flat, own.offset * flat, arb(1))
            )
            terms.append((race, own.exponent.log()))
        return _log_weighted_sum(terms)

    @property
    def log_upper(self) -> arb:
        """Return a fast upper bound of the logarithm: the least of log E[Phi(s x + o)] = log Phi(o/sqrt(1 + s^2))."""
        bound = arb(0)
        for h in self.hurdles:
            if h.exponent >= 1:
                bound = bound.min(log_normal_cdf(h.offset / (1 + h.slope * h.slope).sqrt()))
        return bound

    @property
    def widest_strip(self) -> float:
        """A half-width that excludes the complex zeros of the cdf, which have imaginary part above 2.8."""
        steepest = max((abs(slope) for slope, _, _ in self._floats), default=0.0)
        return 2.4 / max(steepest, 0.1)

    @property
    def landmarks(self) -> Array:
        """Points at which a hurdle is undecided; off the axis a high power of it may be large there."""
        places = [(LANDMARKS - offset) / slope for slope, offset, _ in self._floats if slope]
        return np.concatenate(places) if places else np.empty(0)

    # --- StripDensity: rigorous part ------------------------------------------------------------------------

    def log_value(self, x: arb) -> arb:
        """Enclose the logarithm of the density at x."""
        return _log_normal_pdf(x) + sum_balls(h.exponent * log_normal_cdf(h.at(x)) for h in self.hurdles)

    def log_slope(self, x: arb) -> arb:
        """Enclose the derivative of the logarithm at x."""
        return -x + sum_balls(h.exponent * h.slope * reversed_hazard(h.at(x)) for h in self.hurdles)

    def log_modulus_upper(self, left: arb, right: arb, y: arb) -> arb:
        """Bound the logarithm of the modulus at height y over [left, right] from above, by the mean value theorem.

        Deep in its tail a hurdle is bounded by |Phi(u + iv)| <= e^(v^2/2) Phi(u), whose logarithmic slope is
        monotone in u; elsewhere the cdf and its slope are evaluated at complex balls. The slopes of the Gaussian
        and of the hurdles nearly cancel near the peak, which separate bounds would not see.
        """
        if not all(h.exponent.is_integer() or abs(h.slope * y) < ball(ZERO_FREE) for h in self.hurdles):
            return arb.pos_inf()  # a broken power is analytic only where its base has no zero
        centre, piece = (left + right) / 2, left.union(right)
        value = _log_normal_pdf(centre) + y * y / 2
        slope = -piece
        for h in self.hurdles:
            v, u = h.slope * y, h.at(centre)
            ends = h.at(left), h.at(right)
            if ends[0] < DEEP and ends[1] < DEEP:
                value = value + h.exponent * (v * v / 2 + log_normal_cdf(u))
                slope = slope + h.exponent * h.slope * reversed_hazard(ends[0]).union(reversed_hazard(ends[1]))
            else:
                value = value + h.exponent * log_abs_normal_cdf_upper(u, v)
                slope = slope + h.exponent * h.slope * _complex_slope(h.at(piece), v)
        spread = arb(slope.abs_upper()) * (right - left) / 2
        if spread < 4:
            return value + spread
        on_ball = self._log_modulus_on_ball(piece, y)
        return (value + spread).min(on_ball) if spread.is_finite() else on_ball

    def _log_modulus_on_ball(self, piece: arb, y: arb) -> arb:
        """Bound it by plain ball arithmetic, which survives the complex zeros of the cdf."""
        return (
            _log_normal_pdf(piece)
            + y * y / 2
            + sum_balls(h.exponent * log_abs_normal_cdf_upper(h.at(piece), h.slope * y) for h in self.hurdles)
        )

    def log_edge_tail(self, x: arb, y: arb, side: int) -> arb:
        """Bound the log-integral of the modulus at height y beyond x.

        By |Phi(u + iv)| <= e^(v^2/2) Phi(u) the modulus is at most a multiple of the density itself, which is
        log-concave. That multiple is enormous for large exponents; then the hurdles that rise towards the tail
        are bounded by a constant instead, |Phi(u + iv)| <= 1 + e^(v^2/2) Phi(-u). The smaller bound is returned.
        """
        rising = [h for h in self.hurdles if side * h.slope >= 0]
        falling = [h for h in self.hurdles if not side * h.slope >= 0]  # or in doubt: that bound asks for no sign
        constant = sum_balls(
            h.exponent * (_half_square(h.slope * y).exp() * normal_cdf(-h.at(x))).log1p() for h in rising
        )
        return _edge_tail(falling, x, y, side, constant).min(_edge_tail(self.hurdles, x, y, side, arb(0)))

    # --- StripDensity: float64 part, which only chooses where to look ---------------------------------------

    def approximate_log(self, x: Array) -> Array:
        """Approximate the logarithm of the density."""
        from scipy.special import log_ndtr  # takes a while to import

        total: Array = -0.5 * x * x - 0.5 * np.log(2 * np.pi)
        for slope, offset, exponent in self._floats:
            total = total + exponent * log_ndtr(slope * x + offset)
        return total

    def approximate_slope(self, x: Array) -> Array:
        """Approximate the derivative of the logarithm."""
        from scipy.special import erfcx  # takes a while to import

        total: Array = -x
        for slope, offset, exponent in self._floats:
            u = slope * x + offset
            total = total + exponent * slope * np.sqrt(2 / np.pi) / erfcx(-u / np.sqrt(2))
        return total

    def approximate_log_modulus(self, x: Array, y: float) -> Array:
        """Approximate the logarithm of the modulus at height y."""
        from scipy.special import log_ndtr  # takes a while to import

        total: Array = 0.5 * (y * y - x * x) - 0.5 * np.log(2 * np.pi)
        for slope, offset, exponent in self._floats:
            total = total + exponent * np.real(log_ndtr(slope * x + offset + 1j * slope * y))
        return total


def _log_weighted_sum(terms: Sequence[tuple[GaussianRace, arb]]) -> arb:
    """Enclose log sum e^weight E[race]; a race whose bound is negligible beside the others is not run."""
    ranked = sorted(terms, key=lambda term: -midpoint(term[0].log_upper + term[1]))
    results: list[arb] = []
    negligible: list[arb] = []
    peak = arb.neg_inf()
    for race, weight in ranked:
        upper = race.log_upper + weight
        if results and upper < peak - (ctx.prec + 16):  # in nats, hence well below the last bit
            negligible.append(upper)
        else:
            results.append(race.log_expectation() + weight)
            peak = arb(max(midpoint(result) for result in results))
    total = sum_balls((result - peak).exp() for result in results)
    return (total + sum_balls(arb(0).union((upper - peak).exp()) for upper in negligible)).log() + peak


def _edge_tail(hurdles: Sequence[Hurdle], x: arb, y: arb, side: int, constant: arb) -> arb:
    """Bound the tail of phi times some hurdles by its value and its slope at x, times a constant."""
    rate = side * x - side * sum_balls(h.exponent * h.slope * reversed_hazard(h.at(x)) for h in hurdles)
    if not rate > 0:
        return arb.pos_inf()
    lifted = sum_balls(h.exponent * (_half_square(h.slope * y) + log_normal_cdf(h.at(x))) for h in hurdles)
    return _log_normal_pdf(x) + y * y / 2 + lifted + constant - rate.log()


def _half_square(x: arb) -> arb:
    return x * x / 2


def _log_normal_pdf(x: arb) -> arb:
    return -x * x / 2 - (2 * arb.pi()).log() / 2


def _complex_slope(u: arb, v: arb) -> arb:
    """Enclose the derivative of log |Phi(u + iv)| by u."""
    z = acb(u, v)
    density = (-z * z / 2).exp() / (2 * arb.pi()).sqrt()
    quotient: acb = density / ((-z / arb(2).sqrt()).erfc() / 2)
    return quotient.real
