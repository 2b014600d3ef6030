"""The certified epsilon of Gaussian noisy max against mpmath's quadrature, in one run on one core.

Run with ``python benchmarks/noisy_max_enclosure.py``. Columns: our enclosure and its relative radius, its time
(median of repetitions, first call excluded); mpmath at its best (integrand divided by its peak, window of the
mass, 12 correct digits demanded) and the ratio of the times; and what mpmath and scipy return by default.
"""

import statistics
import time
import warnings
from collections.abc import Callable
from fractions import Fraction
from functools import partial

import mpmath
import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.integrate import quad
from scipy.special import log_ndtr
from scipy.stats import norm

from dpassay.spec.ball import enclosure, float_upper, midpoint
from dpassay.spec.theorems.gaussian_selection.noisy_max import noisy_max_epsilon

Case = tuple[int, Fraction, Fraction, Fraction]  # d, sigma, width, sensitivity
CASES: tuple[Case, ...] = (
    (365, Fraction(1, 20), Fraction(1), Fraction(1, 6946)),
    (829, Fraction(1, 20), Fraction(1), Fraction(1, 5564)),
    (10**6, Fraction(1, 20), Fraction(1), Fraction(1, 6946)),
)
REPETITIONS = 15


def certified(case: Case) -> tuple[float, float]:
    """Return the midpoint of our enclosure and its relative radius."""
    x = enclosure(lambda: noisy_max_epsilon(*case), relative_bits=40)
    return midpoint(x), float_upper(x.rad() / abs(x))


def mpmath_at_its_best(case: Case) -> mpmath.mpf:
    """Integrate with mpmath on the window of the mass, divided by the peak, with just enough digits."""
    d, sigma, width, step = case

    def log_expectation(lead: mpmath.mpf) -> mpmath.mpf:
        def log_density(z: mpmath.mpf) -> mpmath.mpf:
            return -z * z / 2 + (d - 1) * mpmath.log(mpmath.ncdf(z + lead))

        mode = mpmath.mpf(float(modes[0]))
        peak = log_density(mode)
        mass = mpmath.quad(lambda z: mpmath.exp(log_density(z) - peak), [mode - 3, mode + 4])
        return mpmath.log(mass) + peak

    # the mode, for free: a grid in float64
    grid = np.linspace(0, 40, 4001)
    modes = grid[[np.argmax(-(grid**2) / 2 + (d - 1) * log_ndtr(grid - float(width / sigma)))]]
    with mpmath.workdps(17):
        gap, move = exact_mpf(width / sigma), exact_mpf(2 * step / sigma)
        return log_expectation(move - gap) - log_expectation(-gap)


def exact_mpf(x: Fraction) -> mpmath.mpf:
    """Return a rational at the working precision."""
    return mpmath.mpf(x.numerator) / x.denominator


def mpmath_by_default(case: Case) -> float:
    """Integrate with mpmath over the whole line, as the paper suggests."""
    d, sigma, width, step = (float(x) for x in case)

    def expectation(lead: float) -> mpmath.mpf:
        return mpmath.quad(lambda z: mpmath.npdf(z) * mpmath.ncdf(z + lead) ** (d - 1), [-mpmath.inf, mpmath.inf])

    return float(mpmath.log(expectation((2 * step - width) / sigma) / expectation(-width / sigma)))


def scipy_by_default(case: Case) -> float:
    """Integrate with scipy over the whole line."""
    d, sigma, width, step = (float(x) for x in case)

    def expectation(lead: float) -> float:
        return float(quad(lambda z: norm.pdf(z) * norm.cdf(z + lead) ** (d - 1), -np.inf, np.inf)[0])

    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(np.log(expectation((2 * step - width) / sigma) / expectation(-width / sigma)))


def median_milliseconds(run: Callable[[], object], repetitions: int) -> float:
    """Return the median time of `run`, after one call that is not counted."""
    run()
    times = []
    for _ in range(repetitions):
        start = time.perf_counter()
        run()
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times)


def main() -> None:
    """Print the table."""
    table = Table(title="epsilon of Gaussian noisy max: enclosure against quadrature")
    columns = (
        "d",
        "certified",
        "relative radius",
        "ms",
        "mpmath, best",
        "its ms",
        "ratio",
        "mpmath, default",
        "scipy",
    )
    for column in columns:
        table.add_column(column)
    for case in CASES:
        value, radius = certified(case)
        ours = median_milliseconds(partial(certified, case), REPETITIONS)
        best = float(mpmath_at_its_best(case))
        theirs = median_milliseconds(partial(mpmath_at_its_best, case), 3)
        table.add_row(
            str(case[0]), f"{value:.13f}", f"{radius:.1e}", f"{ours:.1f}",
            f"{best:.13f}", f"{theirs:.0f}", f"{theirs / ours:.0f}",
            f"{mpmath_by_default(case):.6g}", f"{scipy_by_default(case):.6g}",
        )  # fmt: skip
    Console(width=150).print(table)


if __name__ == "__main__":
    main()
