"""Functions on the real line that are sums of exponentials between kinks: products and integrals in closed form.

Densities, distribution and survival functions of Laplace and exponential noise are of this kind, and so are their
products. All the noise but one variable has the same rate, the `step`: on a piece that begins at `origin`, with
u the distance from there and y = e^(-step u), a function is

    e^(outer u) y^(-shift) p(y),

p a polynomial whose coefficients are balls. An integral over the piece is a sum of integrals of exponentials, of which
one with exponent 0 is the width. Nothing is discretised and no quadrature meets a kink.

Between kinks a factor is either a single exponential or 1 minus one that is at most 1/2, so that the terms of a
product of n factors sum to at most 3^n times its value: an integral loses at most 1.6 n bits (`guard_bits`).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

from flint import arb, arb_poly

from dpassay.arguments import UsageError
from dpassay.spec.ball import ball
from dpassay.spec.distributions.laplace import log_laplace_interval

__all__ = ["Line", "Piece", "PiecewiseExponential", "guard_bits"]


WIDEST = 10**12
"""Scales of the noise between two kinks: exponentials of numbers far beyond overflow even a ball."""


def guard_bits(factors: int) -> int:
    """Return the number of guard bits for the integral of a product of a given number of factors."""
    return (8 * factors) // 5 + 32


@dataclass(frozen=True)
class Piece:
    """The points origin + direction u with 0 <= u <= width; a width of None is an infinite one.

    The leftmost piece is seen from its right end (direction -1), every other one from its left end.
    """

    origin: Fraction
    direction: int
    width: Fraction | None

    def lies_right_of(self, point: Fraction) -> bool:
        """Return whether no point of the piece is to the left of `point`, which must not lie inside it."""
        return self.direction > 0 and self.origin >= point


@dataclass(frozen=True)
class _Part:
    """e^(outer u) y^(-shift) p(y) on one piece."""

    outer: Fraction
    shift: int
    polynomial: arb_poly


_NONE = Fraction(0)
_ZERO = _Part(_NONE, 0, arb_poly([]))


class Line:
    """The real line cut at kinks, with the rate that all noises but one share.

    Its balls are made at the precision at which they are first asked for: make one line for each precision.

    Parameters
    ----------
    kinks : iterable of Fraction
        The centres of all noises, and wherever else a function or an integral is cut; at least one.
    step : Fraction
        The common rate, positive.

    Raises
    ------
    UsageError
        If there is no kink, the rate is not positive, or the kinks lie more than `WIDEST` scales apart.
    """

    def __init__(self, kinks: Iterable[Fraction], step: Fraction) -> None:
        self.kinks = tuple(sorted(set(kinks)))
        self.step = step
        if not self.kinks or step <= 0:
            raise UsageError(f"a line needs a kink and a positive rate, got {self.kinks!r} and {step!r}")
        if step * (self.kinks[-1] - self.kinks[0]) > WIDEST:
            raise UsageError(
                f"answers and thresholds must lie within {WIDEST:g} scales of the noise of each other, "
                f"got {float(self.kinks[0]):g} and {float(self.kinks[-1]):g} at the scale {float(1 / step):g}"
            )
        self._moments: dict[tuple[int, Fraction], dict[int, arb]] = {}

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        """All pieces, from left to right."""
        inner = [Piece(low, 1, high - low) for low, high in pairwise(self.kinks)]
        return (Piece(self.kinks[0], -1, None), *inner, Piece(self.kinks[-1], 1, None))

    # --- functions ----------------------------------------------------------------------------------------

    def constant(self, value: arb) -> "PiecewiseExponential":
        """Return a constant function."""
        return self._of(lambda _piece: _Part(_NONE, 0, arb_poly([value])))

    def laplace_density(self, centre: Fraction, rate: Fraction) -> "PiecewiseExponential":
        """Return the density rate/2 e^(-rate |t - centre|); the rate may be any."""

        def part(piece: Piece) -> _Part:
            height = ball(rate) / 2 * _decay(rate, piece.origin - centre)
            towards = piece.direction > 0 and not piece.lies_right_of(centre)
            return _Part(rate if towards else -rate, 0, arb_poly([height]))

        return self._of(part)

    def laplace_cdf(self, centre: Fraction) -> "PiecewiseExponential":
        """Return the distribution function of Laplace noise of the common rate about `centre`."""
        return self._of(lambda piece: self._lower_tail(piece, centre))

    def laplace_sf(self, centre: Fraction) -> "PiecewiseExponential":
        """Return the survival function of Laplace noise of the common rate about `centre`."""
        return self._of(lambda piece: self._upper_tail(piece, centre))

    def laplace_mass(self, centre: Fraction, low: Fraction | None, high: Fraction | None) -> "PiecewiseExponential":
        """Return, as a function of t, the probability that Laplace noise about `centre` is above t and in (low, high].

        The ends are kinks, or None where there is none. Left of the centre the probability is a difference of two
        lower tails, right of it of two upper ones: neither is close to 1.
        """
        beyond = arb(0) if high is None else _decay(self.step, high - centre) / 2
        below_top = 1 - beyond if high is None or high > centre else beyond  # the two are used on their own sides

        def part(piece: Piece) -> _Part:
            if high is not None and piece.lies_right_of(high):
                return _ZERO
            if low is not None and not piece.lies_right_of(low):
                ends = (None if end is None else self.step * (end - centre) for end in (low, high))
                return _Part(_NONE, 0, arb_poly([log_laplace_interval(*ends).exp()]))
            if piece.lies_right_of(centre):
                return _plus(self._upper_tail(piece, centre), -beyond)
            tail = self._lower_tail(piece, centre)
            return _plus(_Part(tail.outer, tail.shift, -tail.polynomial), below_top)

        return self._of(part)

    def exponential_density(self, origin: Fraction) -> "PiecewiseExponential":
        """Return the density of exponential noise of the common rate above `origin`."""

        def part(piece: Piece) -> _Part:
            if not piece.lies_right_of(origin):
                return _ZERO
            return _Part(-self.step, 0, arb_poly([ball(self.step) * _decay(self.step, piece.origin - origin)]))

        return self._of(part)

    def exponential_cdf(self, origin: Fraction) -> "PiecewiseExponential":
        """Return the distribution function of exponential noise of the common rate above `origin`."""

        def part(piece: Piece) -> _Part:
            if not piece.lies_right_of(origin):
                return _ZERO
            return _Part(_NONE, 0, arb_poly([1, -_decay(self.step, piece.origin - origin)]))

        return self._of(part)

    def _lower_tail(self, piece: Piece, centre: Fraction) -> _Part:
        half = _decay(self.step, piece.origin - centre) / 2
        if piece.lies_right_of(centre):
            return _Part(_NONE, 0, arb_poly([1, -half]))
        return _Part(_NONE, 1, arb_poly([half])) if piece.direction > 0 else _Part(Fraction(0), 0, arb_poly([0, half]))

    def _upper_tail(self, piece: Piece, centre: Fraction) -> _Part:
        half = _decay(self.step, piece.origin - centre) / 2
        if piece.lies_right_of(centre):
            return _Part(_NONE, 0, arb_poly([0, half]))
        return (
            _Part(_NONE, 1, arb_poly([-half, 1]))
            if piece.direction > 0
            else _Part(Fraction(0), 0, arb_poly([1, -half]))
        )

    def _of(self, part: Callable[[Piece], _Part]) -> "PiecewiseExponential":
        return PiecewiseExponential(self, tuple(part(piece) for piece in self.pieces))

    # --- integrals ----------------------------------------------------------------------------------------

    def integral_of(self, index: int, part: _Part) -> arb:
        """Enclose the integral of a part over its piece."""
        known = self._moments.setdefault((index, part.outer), {})
        total = arb(0)
        for power, coefficient in enumerate(part.polynomial.coeffs(), start=-part.shift):
            if power not in known:
                known[power] = self._moment(self.pieces[index].width, power * self.step - part.outer)
            total = total + coefficient * known[power]
        return total

    @staticmethod
    def _moment(width: Fraction | None, rate: Fraction) -> arb:
        """Enclose the integral of e^(-rate u) over 0 <= u <= width."""
        if width is None:
            return 1 / ball(rate) if rate > 0 else arb.pos_inf()
        return -(-ball(rate * width)).expm1() / ball(rate) if rate else ball(width)


@dataclass(frozen=True)
class PiecewiseExponential:
    """A function on a `Line`, one part for each piece.

    Examples
    --------
    The probability that one Laplace variable of rate 1 does not exceed another:

    >>> line = Line([Fraction(0)], Fraction(1))
    >>> product = line.laplace_density(Fraction(0), Fraction(1)) * line.laplace_cdf(Fraction(0))
    >>> float(product.integral().mid())
    0.5
    """

    line: Line
    parts: tuple[_Part, ...]

    def __mul__(self, other: "PiecewiseExponential") -> "PiecewiseExponential":
        if other.line is not self.line:
            raise UsageError("functions on different lines cannot be multiplied")
        return PiecewiseExponential(self.line, tuple(map(_times, self.parts, other.parts)))

    def __pow__(self, exponent: int) -> "PiecewiseExponential":
        return PiecewiseExponential(self.line, tuple(_power(part, exponent) for part in self.parts))

    def integral(self, low: Fraction | None = None, high: Fraction | None = None) -> arb:
        """Enclose the integral from `low` to `high`, kinks both; None is the end of the line."""
        total = arb(0)
        for index, (piece, part) in enumerate(zip(self.line.pieces, self.parts, strict=True)):
            if (low is None or piece.lies_right_of(low)) and (high is None or not piece.lies_right_of(high)):
                total = total + self.line.integral_of(index, part)
        return total


def _decay(rate: Fraction, distance: Fraction) -> arb:
    return (-ball(rate * abs(distance))).exp()


def _times(left: _Part, right: _Part) -> _Part:
    outer = left.outer + right.outer if right.outer else left.outer  # most factors have none
    return _Part(outer, left.shift + right.shift, left.polynomial * right.polynomial)


def _power(part: _Part, exponent: int) -> _Part:
    return _Part(exponent * part.outer, exponent * part.shift, part.polynomial**exponent)


def _plus(part: _Part, value: arb) -> _Part:
    """Add a constant to a part without outer rate."""
    return _Part(part.outer, part.shift, part.polynomial + arb_poly([*[arb(0)] * part.shift, value]))
