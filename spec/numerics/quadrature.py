"""Enclosures of integrals over the whole real line.

`log_line_integral` is the trapezoidal rule for a log-concave density that is analytic in a strip about the real
line, without absolute tolerances (which is where general-purpose quadrature silently returns 0 for the tiny
integrals of this field). Its error is at most ``2 M / (e^(2 pi a / h) - 1)`` for step ``h`` and strip half-width
``a``, where ``M`` bounds the integral of the modulus along the edge of the strip [TrefethenWeideman2014]_, Thm 5.1.
The edge is enclosed by balls, the truncated tails by the slope of the logarithm (log-concavity).

References
----------
.. [TrefethenWeideman2014] L. N. Trefethen and J. A. C. Weideman. The exponentially convergent trapezoidal rule.
   SIAM Review 56 (2014), 385-458.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray

from dpassay.spec.ball import precision, sum_balls

__all__ = ["StripDensity", "log_line_integral"]

Array = NDArray[np.float64]


class StripDensity(Protocol):
    """A positive log-concave function on the real line, analytic in a strip about it.

    The float64 methods only choose where to look; whatever they return, the enclosure is valid.
    """

    @property
    def widest_strip(self) -> float:
        """The largest useful half-width of the strip."""
        ...

    @property
    def landmarks(self) -> Array:
        """Float64 points at which the modulus off the axis may be large, far from the peak."""
        ...

    def log_value(self, x: arb) -> arb:
        """Enclose the logarithm at real x."""
        ...

    def log_slope(self, x: arb) -> arb:
        """Enclose the derivative of the logarithm at real x; it does not increase."""
        ...

    def log_modulus_upper(self, left: arb, right: arb, y: arb) -> arb:
        """Bound the logarithm of the modulus at x + iy from above, for all x in [left, right]."""
        ...

    def log_edge_tail(self, x: arb, y: arb, side: int) -> arb:
        """Bound the log-integral of the modulus at height y over [x, inf) (side 1) or (-inf, x] (side -1)."""
        ...

    def approximate_log(self, x: Array) -> Array:
        """Approximate `log_value` in float64."""
        ...

    def approximate_slope(self, x: Array) -> Array:
        """Approximate `log_slope` in float64."""
        ...

    def approximate_log_modulus(self, x: Array, y: float) -> Array:
        """Approximate the logarithm of the modulus in float64."""
        ...


def log_line_integral(density: StripDensity) -> arb:
    """Enclose the logarithm of the integral of `density` over the real line.

    The relative radius of the integral is about 2^-p at working precision p, unless the parameters of the
    density are themselves wide balls.

    Parameters
    ----------
    density : StripDensity
        The integrand.

    Returns
    -------
    arb
        The logarithm; indeterminate if no enclosure was reached.
    """
    bits = ctx.prec
    with precision(bits + 24):
        chosen = _plan_with_error(density, bits)
        if chosen is None:
            return arb.nan()
        plan, error = chosen
        total = _trapezoidal_sum(density, plan) + _tails(density, plan)
        result: arb = (total + arb(0, error.abs_upper())).log()
    return result + plan.log_scale


def _plan_with_error(density: StripDensity, bits: int) -> tuple["_Plan", arb] | None:
    """Choose nodes, narrowing the strip while its edge hides a bulge that the float64 grid did not see."""
    widest = density.widest_strip
    best: tuple[_Plan, arb] | None = None
    for _ in range(NARROWINGS):
        plan = _plan(density, bits, widest)
        if plan is None:
            break
        error, accurate = _strip_error(density, plan)
        if best is None or best[1].is_nan() or error < best[1]:
            best = plan, error
        if accurate:
            break
        widest = plan.half_width / 2
    return best


@dataclass(frozen=True)
class _Plan:
    """Where to put the nodes: chosen in float64, exact thereafter."""

    first: float
    step: float
    count: int
    half_width: float
    log_scale: arb

    @property
    def last(self) -> float:
        return self.first + self.step * (self.count - 1)


STRIP_CANDIDATES = np.geomspace(0.004, 1.0, 24)
EDGE_POINTS = 40
EDGE_PIECES = 18
EDGE_EXTENSIONS = 200
EDGE_ROUNDS = 12
LARGEST_EDGE = 1000
LARGEST_COUNT = 100_000
NARROWINGS = 5


def _plan(density: StripDensity, bits: int, widest: float) -> _Plan | None:
    """Choose nodes; None where float64 does not see the density at all."""
    depth = bits * math.log(2) + 8
    mode = _root(density.approximate_slope, 0.0)
    peak = float(density.approximate_log(np.array([mode]))[0])
    right = _root(lambda x: density.approximate_log(x) - peak + depth, mode)
    left = -_root(lambda x: density.approximate_log(-x) - peak + depth, -mode)
    width = right - left
    bulge = 30 * width * np.linspace(0, 1, EDGE_POINTS) ** 3  # the edge may bulge far beside the peak
    grid = np.concatenate([left - bulge, np.linspace(left, right, EDGE_POINTS), right + bulge, density.landmarks])
    best_step, best_half_width = 0.0, 0.0
    for half_width in np.minimum(STRIP_CANDIDATES * width, widest):
        edge = density.approximate_log_modulus(grid, float(half_width))
        excess = float(np.max(edge)) - peak + 4  # 4: the edge is bounded by balls, not by its values
        step = 2 * math.pi * half_width / (depth + max(excess, 0.0)) if math.isfinite(excess) else 0.0
        if step > best_step:
            best_step, best_half_width = step, float(half_width)
    if not (best_step > 0 and width / best_step < LARGEST_COUNT):
        return None
    step = _short(best_step)
    first = math.floor(left / step) * step
    count = math.ceil((right - first) / step) + 1
    return _Plan(first, step, count, best_half_width, arb(peak))


def _short(x: float) -> float:
    """Round down to eight binary digits, so that nodes are exact at any precision."""
    mantissa, exponent = math.frexp(x)
    return math.ldexp(math.floor(mantissa * 256), exponent - 8)


def _root(f: Callable[[Array], Array], start: float) -> float:
    """Approximate the zero of a function that is positive at the left and negative at the right of it."""
    reach = 1.0
    while reach < 1e300 and float(f(np.array([start + reach]))[0]) > 0:
        reach *= 4
    low, high = start, start + reach
    if reach == 1.0 and float(f(np.array([start]))[0]) < 0:
        while reach < 1e300 and float(f(np.array([start - reach]))[0]) < 0:
            reach *= 4
        low, high = start - reach, start
    for _ in range(8):
        grid = np.linspace(low, high, 33)
        below = np.flatnonzero(f(grid) <= 0)
        index = int(below[0]) if below.size else 32
        low, high = float(grid[max(index - 1, 0)]), float(grid[index])
    return high


def _trapezoidal_sum(density: StripDensity, plan: _Plan) -> arb:
    nodes = (arb(plan.first) + arb(plan.step) * k for k in range(plan.count))
    return arb(plan.step) * sum_balls((density.log_value(x) - plan.log_scale).exp() for x in nodes)


def _tails(density: StripDensity, plan: _Plan) -> arb:
    """Enclose the tails that the sum leaves out: from 0 to the integral beyond each end, where the density falls."""
    total, last = arb(0), arb(plan.first) + arb(plan.step) * (plan.count - 1)  # `plan.last` may be rounded
    for x, side in ((last, 1), (arb(plan.first), -1)):
        rate = -side * density.log_slope(x)
        if not rate > 0:
            return arb.nan()
        bound = (density.log_value(x) - plan.log_scale).exp() / rate
        total = total + arb(0).union(bound)
    return total


def _strip_error(density: StripDensity, plan: _Plan) -> tuple[arb, bool]:
    """Bound the error of the infinite trapezoidal sum, and say whether it is as small as planned."""
    growth = (2 * arb.pi() * arb(plan.half_width) / arb(plan.step)).exp() - 1
    allowed = growth * arb(2) ** (-ctx.prec + 20)
    with precision(64):
        edge = _edge_integral(density, plan, allowed)
    return 2 * edge / growth, bool(edge < allowed)


@dataclass(frozen=True)
class _Piece:
    """A piece of the edge, with an upper bound of the integral of the modulus over it."""

    left: float
    right: float
    bound: arb

    @classmethod
    def of(cls, density: StripDensity, plan: _Plan, left: float, right: float) -> "_Piece":
        a, b = arb(left), arb(right)
        bound = (density.log_modulus_upper(a, b, arb(plan.half_width)) - plan.log_scale).exp()
        return cls(left, right, bound * (b - a))


def _edge_integral(density: StripDensity, plan: _Plan, allowed: arb) -> arb:
    """Bound the integral along the edge; pieces are halved where the bound is too large, while that pays."""
    pieces, tails = _first_pieces(density, plan, allowed)
    total = sum_balls(piece.bound for piece in pieces) + tails
    for _ in range(EDGE_ROUNDS):
        if total < allowed or len(pieces) > LARGEST_EDGE:
            break
        share, before = allowed / (2 * len(pieces)), total
        pieces = [part for piece in pieces for part in _halved(density, plan, piece, share)]
        total = sum_balls(piece.bound for piece in pieces) + tails
        if 2 * total > before:
            break  # the modulus itself is too large
    return arb(total.abs_upper())


def _halved(density: StripDensity, plan: _Plan, piece: _Piece, share: arb) -> tuple[_Piece, ...]:
    if piece.bound < share:
        return (piece,)
    middle = (piece.left + piece.right) / 2
    return _Piece.of(density, plan, piece.left, middle), _Piece.of(density, plan, middle, piece.right)


def _first_pieces(density: StripDensity, plan: _Plan, allowed: arb) -> tuple[list[_Piece], arb]:
    """Cover the nodes and as much beside them as it takes for the tails to be small; return the tails' bound too."""
    corners = [float(x) for x in np.linspace(plan.first, plan.last, EDGE_PIECES + 1)]
    pieces, tails = [_Piece.of(density, plan, a, b) for a, b in itertools.pairwise(corners)], arb(0)
    for side in (-1, 1):
        end, width = (plan.last if side > 0 else plan.first), corners[1] - corners[0]
        for _ in range(EDGE_EXTENSIONS):
            tail = (density.log_edge_tail(arb(end), arb(plan.half_width), side) - plan.log_scale).exp()
            if tail < allowed / 8:
                break
            further = end + side * width
            pieces.append(_Piece.of(density, plan, min(end, further), max(end, further)))
            end, width = further, 1.125 * width
        tails = tails + tail
    return pieces, tails
