"""How many exact bounds a second the float64 code computes, on one core; run it as a script.

The points are drawn over the whole domain: sizes and halting times log-uniform up to a limit, noise from a thousandth
to a thousand widths, sensitivities from a millionth of the width to all of it. Nothing in it uses several threads.
"""

import time
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from dpassay.impl.accounting.above_threshold import (
    gaussian_above_threshold_all_below_loss,
    gaussian_above_threshold_loss,
)
from dpassay.impl.accounting.noisy_max import gaussian_noisy_max_epsilon

Array = NDArray[np.float64]
POINTS, REPEATS, SEED = 4000, 3, 20240321


def counts(rng: np.random.Generator, most: float) -> Array:
    """Draw whole numbers from 2 to `most`, log-uniformly."""
    return np.floor(np.exp(rng.uniform(np.log(2), np.log(most + 1), POINTS)))


def noises(rng: np.random.Generator) -> Array:
    """Draw standard deviations in units of the width."""
    return 10 ** rng.uniform(-3, 3, POINTS)


def sensitivities(rng: np.random.Generator) -> Array:
    """Draw sensitivities in units of the width."""
    return 10 ** rng.uniform(-6, 0, POINTS)


def cases() -> list[tuple[str, str, int | None, Callable[[], Array]]]:
    """Return what is timed: name, domain, points a second that are required, the call."""
    rng = np.random.default_rng(SEED)
    noisy = partial(gaussian_noisy_max_epsilon, counts(rng, 1e6), noises(rng), 1.0, sensitivities(rng))
    rho = rng.uniform(0, 1, POINTS)
    noise = (rho, noises(rng), noises(rng), 0.0, 1.0, sensitivities(rng))
    return [
        ("noisy max", "d <= 10^6", 5000, noisy),
        ("halting", "t <= 100", 500, partial(gaussian_above_threshold_loss, counts(rng, 100), *noise)),
        ("halting", "t <= 10^6", None, partial(gaussian_above_threshold_loss, counts(rng, 1e6), *noise)),
        ("all below", "k <= 100", None, partial(gaussian_above_threshold_all_below_loss, counts(rng, 100), *noise)),
    ]


def points_per_second(call: Callable[[], Array]) -> float:
    """Return the best of a few runs, after one to warm up."""
    call()
    best = float("inf")
    for _ in range(REPEATS):
        begin = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - begin)
    return POINTS / best


def main() -> None:
    """Print the table."""
    table = Table("bound", "domain", "points/s", "required", title=f"{POINTS} random points, best of {REPEATS}")
    for bound, domain, required, call in cases():
        table.add_row(bound, domain, f"{points_per_second(call):,.0f}", f"{required:,}" if required else "-")
    Console().print(table)


if __name__ == "__main__":
    main()
