"""Enclosures of normal means of log-convex analytic functions.

For E[e^(f(x))] with f convex and not decreasing, f lies below its chord on every cell and above its tangents; the
normal mean of the exponential of a line is known. Cells are halved where the two sums differ most: that finds the
mass wherever it is, to a few bits. The cells that are not narrow enough then are integrated by Arb's quadrature, so
that the enclosure becomes narrower with the precision; convexity bounds what lies outside the cells. (The trapezoidal
rule of `quadrature` needs a log-concave integrand, which the product with the normal density need not be.)
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from itertools import count, pairwise

from flint import acb, arb

from dpassay.arguments import UsageError
from dpassay.spec.ball import midpoint, normal_cdf, sum_balls

__all__ = ["CELL_BITS", "ConvexExponent", "log_normal_mean"]

FIRST_CELLS = 8
LARGEST_CELLS = 2000
CELL_BITS = 12
"""The number of bits that determines the width of the cells: their number grows like 2^(bits / 2)."""


@dataclass(frozen=True)
class ConvexExponent:
    """A convex, non-decreasing function f with bounds on E[e^(f(x))] outside a window.

    Parameters
    ----------
    value, slope : callable
        Enclose f and f' at a point.
    tail_slope : callable
        Bounds f' at x from above.
    tail_curvature : arb
        Bounds f'' from above beyond the window together with `tail_slope`: for x > w, f(x) <= f(w) +
        tail_slope(w) (x - w) + tail_curvature (x - w)^2/2. Below 1.
    continued : callable
        Encloses f at a complex ball; indeterminate if its second argument is true and f is not analytic there.
    """

    value: Callable[[arb], arb]
    slope: Callable[[arb], arb]
    tail_slope: Callable[[arb], arb]
    tail_curvature: arb
    continued: Callable[[acb, bool], acb]


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
        How narrow the enclosure of the part inside the window is to be.

    Returns
    -------
    arb
        With a radius of about 2^-relative_bits, unless the window is too small or the working precision is spent.

    Raises
    ------
    UsageError
        If the parts of the exponent contradict each other: on a cell its chord is not between the slopes of its ends,
        the bound on the tail is below the slope, or the integral of `continued` is outside of the bounds by `value`.
    """
    low, high = window
    nodes = [_Node.of(exponent, low + (high - low) * k / FIRST_CELLS) for k in range(FIRST_CELLS + 1)]
    outside = _left_tail(nodes[0], mean) + _right_tail(exponent, nodes[-1], mean)
    cells = _halved(exponent, mean, [_Cell.of(a, b, mean) for a, b in pairwise(nodes)], min(relative_bits, CELL_BITS))
    total = sum_balls(cell.contribution for cell in cells)
    allowed = arb((total * arb(2) ** -relative_bits / len(cells)).abs_lower())
    inside = sum_balls(
        cell.contribution if cell.gap < allowed else _integral(exponent, cell, mean, allowed) for cell in cells
    )
    result: arb = (inside + outside).log()
    return result


def _halved(exponent: ConvexExponent, mean: arb, cells: list["_Cell"], bits: int) -> list["_Cell"]:
    """Halve the widest cells until the sums differ by 2^-bits of the mean, or there are too many."""
    heapify(cells)
    goal = arb(2) ** -bits
    while len(cells) < LARGEST_CELLS and not (_is_checkpoint(len(cells)) and _is_narrow(cells, goal)):
        worst = heappop(cells)
        middle = _Node.of(exponent, (worst.left.x + worst.right.x) / 2)
        heappush(cells, _Cell.of(worst.left, middle, mean))
        heappush(cells, _Cell.of(middle, worst.right, mean))
    return cells


def _integral(exponent: ConvexExponent, cell: "_Cell", mean: arb, allowed: arb) -> arb:
    """Enclose the contribution of a cell by Arb's quadrature, to an absolute radius of about `allowed`."""
    scale = arb(cell.upper.mid())

    def density(x: acb, analytic: bool) -> acb:
        return (exponent.continued(x, analytic) - (x - mean) ** 2 / 2).exp() / scale

    tolerance = allowed / scale
    integral = acb.integral(density, acb(cell.left.x), acb(cell.right.x), rel_tol=tolerance, abs_tol=tolerance)
    value = arb(integral.real) * scale / (2 * arb.pi()).sqrt()
    if value.is_finite() and not value.overlaps(cell.contribution):
        raise UsageError(f"continued must be the analytic continuation of value; they differ right of {cell.left.x}")
    return value if value.is_finite() and value.rad() < cell.gap else cell.contribution


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
        chord = _chord(left, right)
        lower = _mean_of_line(left.value, left.slope, left.x, right.x, mean)
        upper = _mean_of_line(left.value, chord, left.x, right.x, mean)
        return cls(-midpoint(_gap(lower, upper).log()), next(_NUMBERS), left, right, lower, upper)

    @property
    def contribution(self) -> arb:
        """An enclosure of the integral over the cell."""
        return self.lower.union(self.upper)

    @property
    def gap(self) -> arb:
        """Distance of the bounds."""
        return _gap(self.lower, self.upper)


def _chord(left: _Node, right: _Node) -> arb:
    """Enclose the slope of the chord; the tangents of a convex function are flatter left of it, and steeper right."""
    chord = (right.value - left.value) / (right.x - left.x)
    if chord < left.slope or chord > right.slope:
        raise UsageError(
            f"slope must be the derivative of value, and value convex: between {left.x} and {right.x} the chord has "
            f"the slope {chord}, the ends have {left.slope} and {right.slope}"
        )
    return chord


def _gap(lower: arb, upper: arb) -> arb:
    return arb(abs(upper - lower).abs_upper())


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
    if steepest < node.slope:
        raise UsageError(f"tail_slope must be at least slope, which is {node.slope} at {node.x}, got {steepest}")
    lower = _mean_of_quadratic(node, node.slope, arb(0), mean)
    return lower.union(_mean_of_quadratic(node, steepest, exponent.tail_curvature, mean))


def _mean_of_quadratic(node: _Node, slope: arb, curvature: arb, mean: arb) -> arb:
    """Enclose the integral over x > node.x of e^(value + slope (x - node.x) + curvature (x - node.x)^2/2) phi."""
    narrowing, distance = 1 - curvature, node.x - mean
    rate = distance - slope
    peak = node.value - distance * distance / 2 + rate * rate / (2 * narrowing)
    return peak.exp() * normal_cdf(-rate / narrowing.sqrt()) / narrowing.sqrt()
