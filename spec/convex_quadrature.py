"""Enclosures of normal means of log-convex functions.

For E[e^(f(x))] with f convex and not decreasing, f lies below its chord on every cell and above its tangents; the
normal mean of the exponential of a line is known. Cells are halved where the two sums differ most, so that the
enclosure is of second order and finds the mass wherever it is. (The trapezoidal rule of `quadrature` needs a
log-concave integrand, which the product with the normal density need not be.)
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from itertools import count, pairwise

from flint import arb

from dpassay.spec.ball import midpoint, normal_cdf, sum_balls

__all__ = ["ConvexExponent", "log_normal_mean"]

FIRST_CELLS = 8
LARGEST_CELLS = 2000


@dataclass(frozen=True)
class ConvexExponent:
    """A convex, non-decreasing function f, and what is needed to bound E[e^(f(x))] from outside a window.

    Parameters
    ----------
    value, slope : callable
        Enclose f and f' at a point.
    tail_slope : callable
        Bounds f' at x from above.
    tail_curvature : arb
        Bounds f'' from above beyond the window together with `tail_slope`: for x > w, f(x) <= f(w) +
        tail_slope(w) (x - w) + tail_curvature (x - w)^2/2. Below 1.
    """

    value: Callable[[arb], arb]
    slope: Callable[[arb], arb]
    tail_slope: Callable[[arb], arb]
    tail_curvature: arb


def log_normal_mean(exponent: ConvexExponent, mean: arb, window: tuple[arb, arb], relative_bits: int) -> arb:
    """Enclose log E[e^(f(x))] for x normal with the given mean and variance 1.

    Parameters
    ----------
    exponent : ConvexExponent
        The function f.
    mean : arb
        The mean of x.
    window : (arb, arb)
        Where most of the mass lies; any window is valid, the contribution from outside is bounded.
    relative_bits : int
        How narrow the enclosure of the mean is to be; the number of cells grows like 2^(relative_bits / 2).

    Returns
    -------
    arb
        With a radius of about 2^-relative_bits, unless the budget of cells or the working precision is spent.
    """
    low, high = window
    nodes = [_Node.of(exponent, low + (high - low) * k / FIRST_CELLS) for k in range(FIRST_CELLS + 1)]
    outside = _left_tail(nodes[0], mean) + _right_tail(exponent, nodes[-1], mean)
    cells = [_Cell.of(a, b, mean) for a, b in pairwise(nodes)]
    heapify(cells)
    goal = arb(2) ** -relative_bits
    while len(cells) < LARGEST_CELLS and not (_is_checkpoint(len(cells)) and _is_narrow(cells, goal)):
        worst = heappop(cells)
        middle = _Node.of(exponent, (worst.left.x + worst.right.x) / 2)
        heappush(cells, _Cell.of(worst.left, middle, mean))
        heappush(cells, _Cell.of(middle, worst.right, mean))
    result: arb = (sum_balls(cell.lower.union(cell.upper) for cell in cells) + outside).log()
    return result


@dataclass(frozen=True)
class _Node:
    x: arb
    value: arb
    slope: arb

    @classmethod
    def of(cls, exponent: ConvexExponent, x: arb) -> "_Node":
        x = x.mid()
        return cls(x, exponent.value(x), exponent.slope(x))


@dataclass(frozen=True, order=True)
class _Cell:
    """A cell with bounds of its contribution, ordered by how far they are apart, widest first."""

    rank: float
    number: int
    left: _Node = field(compare=False)
    right: _Node = field(compare=False)
    lower: arb = field(compare=False)
    upper: arb = field(compare=False)

    @classmethod
    def of(cls, left: _Node, right: _Node, mean: arb) -> "_Cell":
        chord = (right.value - left.value) / (right.x - left.x)
        lower = _mean_of_line(left.value, left.slope, left.x, right.x, mean)
        upper = _mean_of_line(left.value, chord, left.x, right.x, mean)
        gap = abs(upper - lower).abs_upper()
        return cls(-midpoint(arb(gap).log()), next(_NUMBERS), left, right, lower, upper)


_NUMBERS = count()  # breaks ties in the order of making


def _is_checkpoint(cells: int) -> bool:
    return cells % 32 == 0


def _is_narrow(cells: list[_Cell], goal: arb) -> bool:
    lower, upper = sum_balls(cell.lower for cell in cells), sum_balls(cell.upper for cell in cells)
    return bool(upper - lower < goal * lower)


def _mean_of_line(value: arb, slope: arb, left: arb, right: arb, mean: arb) -> arb:
    """Enclose the integral over [left, right] of e^(value + slope (x - left)) times the normal density."""
    shifted = mean + slope
    a, b = left - shifted, right - shifted
    # the smaller of the two tails, so that a weight far out keeps its relative accuracy
    weight = normal_cdf(-a) - normal_cdf(-b) if a > 0 else normal_cdf(b) - normal_cdf(a)
    return (value + slope * (mean - left) + slope * slope / 2).exp() * weight


def _left_tail(node: _Node, mean: arb) -> arb:
    """Enclose the integral left of a node: f does not decrease, and lies above its tangent."""
    shifted = mean + node.slope
    lower = (node.value + node.slope * (mean - node.x) + node.slope * node.slope / 2).exp()
    return (lower * normal_cdf(node.x - shifted)).union(node.value.exp() * normal_cdf(node.x - mean))


def _right_tail(exponent: ConvexExponent, node: _Node, mean: arb) -> arb:
    """Enclose the integral right of a node: f lies above its tangent and below a quadratic."""
    steepest = exponent.tail_slope(node.x)
    lower = _mean_of_quadratic(node, node.slope, arb(0), mean)
    return lower.union(_mean_of_quadratic(node, steepest, exponent.tail_curvature, mean))


def _mean_of_quadratic(node: _Node, slope: arb, curvature: arb, mean: arb) -> arb:
    """Enclose the integral over x > node.x of e^(value + slope (x - node.x) + curvature (x - node.x)^2/2) phi."""
    narrowing, distance = 1 - curvature, node.x - mean
    rate = distance - slope
    peak = node.value - distance * distance / 2 + rate * rate / (2 * narrowing)
    return peak.exp() * normal_cdf(-rate / narrowing.sqrt()) / narrowing.sqrt()
