"""General-purpose quadrature of the integrals of selection with Gaussian noise.

Lebensold, Precup and Balle (2024), Section 3.4, compute with mpmath, which can reach any precision. With the default
settings of `mpmath.quad`, which the paper does not name, the error target is absolute: integrals of size 1e-110 are
accepted after a few nodes that miss the peak, both expectations come out equal, and epsilon as 0. Divided by the peak
and split around it the same routine is right. That is a trap of the default settings, not an error of the paper.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
from flint import arb

from dpassay.lazy import mpmath, special
from dpassay.spec.ball import Exact, at_most, ball, exact
from dpassay.spec.domains.base import Integers, Reals
from dpassay.spec.sources import LEBENSOLD_2024
from dpassay.spec.statement import statement
from dpassay.spec.theorems.gaussian_selection.noisy_max import noisy_max_epsilon
from dpassay.spec.verdict import Verdict

__all__ = ["default_quadrature_epsilon", "windowed_quadrature_epsilon"]

DIGITS = 30
"""Working precision of mpmath, in decimal digits."""

AGREEMENT = Fraction(1, 10**12)
"""Relative agreement asked of a quadrature: twelve digits."""

PIECES = 12
DEPTH = 80.0  # the window ends where the integrand has fallen by e^-80

Integrand = Callable[[Any], Any]


def default_quadrature_epsilon(size: int, sigma: Fraction, sensitivity: Fraction) -> Any:
    """Return epsilon of Thm 8 by `mpmath.quad` over the whole line with default settings; certifies nothing."""
    with mpmath.workdps(DIGITS):
        above, below = (
            mpmath.quad(_integrand(size, lead), [-mpmath.inf, mpmath.inf]) for lead in _leads(sigma, sensitivity)
        )
        return mpmath.log(above / below)


def windowed_quadrature_epsilon(size: int, sigma: Fraction, sensitivity: Fraction) -> Any:
    """Return the same by `mpmath.quad` on the integrand divided by its peak, over pieces around the peak."""
    with mpmath.workdps(DIGITS):
        logs = [_log_windowed_integral(size, lead) for lead in _leads(sigma, sensitivity)]
        return logs[0] - logs[1]


def _leads(sigma: Fraction, sensitivity: Fraction) -> tuple[Fraction, Fraction]:
    """The shifts of the two expectations on a range of width 1, in units of sigma."""
    return (2 * sensitivity - 1) / sigma, -1 / sigma


def _integrand(size: int, lead: Fraction, log_scale: float = 0.0) -> Integrand:
    shift = mpmath.mpf(lead.numerator) / lead.denominator

    def value(z: Any) -> Any:
        return mpmath.npdf(z) * mpmath.ncdf(z + shift) ** (size - 1) * mpmath.exp(-log_scale)

    return value


def _log_windowed_integral(size: int, lead: Fraction) -> Any:
    grid = np.linspace(-DEPTH, DEPTH, 200_001)
    logs = -grid * grid / 2 - 0.5 * np.log(2 * np.pi) + (size - 1) * special.log_ndtr(grid + float(lead))
    peak = float(logs.max())
    window = grid[logs > peak - DEPTH]
    nodes = np.linspace(window[0], window[-1], PIECES + 1).tolist()
    return mpmath.log(mpmath.quad(_integrand(size, lead, peak), nodes)) + peak


def _agrees(approximation: Any, size: int, sigma: Fraction, sensitivity: Fraction) -> Verdict:
    """Decide whether a number of mpmath agrees with the enclosure to twelve digits."""
    claimed = arb(mpmath.nstr(approximation, DIGITS))

    def error() -> arb:
        return abs(claimed - noisy_max_epsilon(size, sigma, 1, sensitivity))

    verdict = at_most(error, lambda: ball(AGREEMENT) * noisy_max_epsilon(size, sigma, 1, sensitivity))
    return verdict.without_tightness()


def _windowed_agrees(size: int, sigma: Fraction, sensitivity: Fraction) -> Verdict:
    return _agrees(windowed_quadrature_epsilon(size, sigma, sensitivity), size, sigma, sensitivity)


@statement(
    LEBENSOLD_2024,
    "numerics_claims",
    examples=({"size": 100, "relative_sigma": Fraction(1, 10), "relative_sensitivity": Fraction(1, 1000)},),
    cases=3,
)
def windowed_quadrature_agrees_with_enclosure(
    size: Annotated[int, Integers("a number of queries", 2, 1000, (2, 365), logarithmic=True)],
    relative_sigma: Annotated[
        Exact, Reals("a noise scale, in widths", Fraction(1, 30), 30, (Fraction(1, 20),), logarithmic=True)
    ],
    relative_sensitivity: Annotated[
        Exact, Reals("a sensitivity, in widths", Fraction(1, 10**5), 1, (1, Fraction(1, 6946)), logarithmic=True)
    ],
) -> Verdict:
    """Applied to the integrand divided by its peak, in pieces around the peak, mpmath's quadrature agrees with the
    enclosure of epsilon to twelve digits.
    """
    sigma, step = exact("relative_sigma", relative_sigma), exact("relative_sensitivity", relative_sensitivity)
    return _windowed_agrees(size, sigma, step)
