"""The Laplace process of noise reduction: exact densities, forwards and backwards in time.

X(0) = 0, increments are independent, X(t) has the density e^(-|x|/t)/(2t). An increment over [s, t] vanishes with
probability (s/t)^2 and is Laplace with scale t otherwise (Rogers, Samorodnitsky, Wu and Ramdas 2023, eq 13; the
interval is printed as 0 < t_1 < t_1, and the list of increments begins outside of its range). For rational times and
values a density is a rational times e^(a rational), and two of them can be compared exactly.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from dpassay.spec.ball import ball

__all__ = [
    "ScaledExponential",
    "backward_density",
    "backward_path_density",
    "flat_probability",
    "forward_path_density",
    "laplace_density",
    "stopped_laplace_mean",
]


@dataclass(frozen=True)
class ScaledExponential:
    """The number `coefficient` e^`exponent` with rational coefficient and exponent."""

    coefficient: Fraction
    exponent: Fraction = Fraction(0)

    def __mul__(self, other: "ScaledExponential") -> "ScaledExponential":
        return ScaledExponential(self.coefficient * other.coefficient, self.exponent + other.exponent)

    def over(self, other: "ScaledExponential") -> "ScaledExponential":
        """Divide by a non-zero number."""
        return ScaledExponential(self.coefficient / other.coefficient, self.exponent - other.exponent)


ONE = ScaledExponential(Fraction(1))


def laplace_density(x: Fraction, scale: Fraction) -> ScaledExponential:
    """Return e^(-|x|/t)/(2t)."""
    return ScaledExponential(1 / (2 * scale), -abs(x) / scale)


def flat_probability(s: Fraction, t: Fraction) -> Fraction:
    """Return (s/t)^2: the probability that the process is constant on [s, t]."""
    return (s / t) ** 2


def _increment(step: Fraction, s: Fraction, t: Fraction) -> ScaledExponential:
    """Return the density of X(t) - X(s), its mass at 0."""
    flat = flat_probability(s, t)
    if step == 0:
        return ScaledExponential(flat)
    return ScaledExponential(1 - flat) * laplace_density(step, t)


def forward_path_density(times: Sequence[Fraction], values: Sequence[Fraction]) -> ScaledExponential:
    """Return the density of the values at decreasing times, from the smallest time upwards."""
    total = laplace_density(values[-1], times[-1])
    for (t, x), (s, y) in itertools.pairwise(zip(times, values, strict=True)):
        total = total * _increment(x - y, s, t)
    return total


def backward_density(y: Fraction, z: Fraction, s: Fraction, t: Fraction) -> ScaledExponential:
    """Return the density of X(s) at y given X(t) = z, s < t; its mass at y = z.

    On the side of z: e^(-A|y|) below 0, e^(-B y) up to z, e^(-B z - A (y - z)) beyond, with A = 1/s + 1/t and
    B = 1/s - 1/t, all times (t^2 - s^2)/(2 s t^2); the mass is (s/t) e^(-B |z|).

    Parameters
    ----------
    y : Fraction
        Value at time `s`.
    z : Fraction
        Value at time `t`.
    s, t : Fraction
        Times, 0 < s < t.
    """
    rise, fall = 1 / s + 1 / t, 1 / s - 1 / t
    if y == z:
        return ScaledExponential(s / t, -fall * abs(z))
    side = -1 if z < 0 else 1
    place, end = side * y, abs(z)
    beyond = max(place - end, Fraction(0))
    between = min(max(place, Fraction(0)), end)
    below = max(-place, Fraction(0))
    return ScaledExponential((t**2 - s**2) / (2 * s * t**2), -rise * (below + beyond) - fall * between)


def backward_path_density(times: Sequence[Fraction], values: Sequence[Fraction]) -> ScaledExponential:
    """Return the density of the values at decreasing times, in the order of release."""
    total = laplace_density(values[0], times[0])
    for (t, z), (s, y) in itertools.pairwise(zip(times, values, strict=True)):
        total = total * backward_density(y, z, s, t)
    return total


# --- a stopped exponential moment of the loss ---------------------------------------------------------------

Term = tuple[Fraction, Fraction, Fraction]
"""c e^(a y + b), as (c, a, b)."""


def stopped_laplace_mean(
    looks: tuple[Fraction, Fraction], threshold: Fraction, order: Fraction, constant: Fraction
) -> arb:
    """Enclose E[exp(theta L - C theta (theta + 1) u^2/2)] at the precision u at which a run ends.

    The query moves from 0 to 1, L = u (|X - 1| - |X|); the run ends at the first of two precisions u = 1/t if the
    release X there is at most the threshold, and at the second otherwise. By the increments of the process, piece by
    piece; elementary integrals.

    Parameters
    ----------
    looks : (Fraction, Fraction)
        The precisions, rising.
    threshold : Fraction
        At which the run ends.
    order, constant : Fraction
        theta and C.
    """
    first, second = looks
    t, s = 1 / first, 1 / second
    flat = flat_probability(s, t)
    total = arb(0)
    corners = sorted({Fraction(0), Fraction(1), threshold})
    for low, high in itertools.pairwise([None, *corners, None]):
        below = high is not None and high <= threshold
        at_once = _integrand(low, high, first, order, constant)
        if below:
            total = total + _integral([at_once], low, high)
        later = _integrand(low, high, second, order, constant)
        goes_on = _times(later, _passes(threshold, t, below, 1 - flat))
        if not below:
            goes_on.append((later[0] * flat, later[1], later[2]))
        total = total + _integral(goes_on, low, high)
    return total


def _inner_point(low: Fraction | None, high: Fraction | None) -> Fraction:
    if low is None:
        return high - 1 if high is not None else Fraction(0)
    return low + 1 if high is None else (low + high) / 2


def _integrand(
    low: Fraction | None, high: Fraction | None, precision: Fraction, order: Fraction, constant: Fraction
) -> Term:
    """Return e^(theta L - C theta (theta + 1) u^2/2) times the density of X(1/u), on a piece where both are smooth."""
    x = _inner_point(low, high)
    slope, offset = (
        (Fraction(0), Fraction(1)) if x < 0 else (Fraction(-2), Fraction(1)) if x < 1 else (0, Fraction(-1))
    )
    rate = precision if x < 0 else -precision
    penalty = constant * order * (order + 1) * precision**2 / 2
    return precision / 2, order * precision * slope + rate, order * precision * offset - penalty


def _passes(threshold: Fraction, t: Fraction, below: bool, weight: Fraction) -> list[Term]:
    """Return weight Pr[y + J > threshold], J Laplace with scale t, for y below or above the threshold."""
    if below:
        return [(weight / 2, 1 / t, -threshold / t)]
    return [(weight, Fraction(0), Fraction(0)), (-weight / 2, -1 / t, threshold / t)]


def _times(term: Term, others: list[Term]) -> list[Term]:
    return [(term[0] * c, term[1] + a, term[2] + b) for c, a, b in others]


def _integral(terms: list[Term], low: Fraction | None, high: Fraction | None) -> arb:
    total = arb(0)
    for c, a, b in terms:
        if a == 0 and low is not None and high is not None:
            total = total + ball(c * (high - low)) * ball(b).exp()
            continue
        ends = [arb(0) if end is None else (ball(a * end + b)).exp() for end in (high, low)]
        total = total + ball(c / a) * (ends[0] - ends[1])
    return total
