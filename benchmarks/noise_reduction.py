"""How many values of noise reduction are drawn in a second, on one core; run it as a script.

A value is one release of one run: grid points times samples. The grids have 1000 points, equally spaced in information
time 1/t for Brownian noise and geometric for Laplace noise; sessions refine one run at a time, as an analyst would.
"""

import time
from collections.abc import Callable

import numpy as np
from rich.console import Console
from rich.table import Table

from dpassay.impl.mechanisms.brownian_noise_reduction import BrownianRun, brownian_noise
from dpassay.impl.mechanisms.laplace_noise_reduction import backward_laplace_noise, forward_laplace_noise

REQUIRED = 1_000_000
STEPS, RUNS, SESSION_RUNS, REPEATS, SEED = 1000, 1000, 20, 3, 20230613


def brownian_sessions(times: list[float], rng: np.random.Generator) -> None:
    """Refine some runs through the whole grid."""
    for _ in range(SESSION_RUNS):
        run = BrownianRun(0.0, rng)
        for each in times:
            run.refine(each)


def seconds(call: Callable[[], object]) -> float:
    """Return the best of a few runs, after one to warm up."""
    call()
    best = float("inf")
    for _ in range(REPEATS):
        begin = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - begin)
    return best


def main() -> None:
    """Print the table."""
    rng = np.random.default_rng(SEED)
    linear = 1 / np.linspace(1e-4, 2.7, STEPS)
    geometric = np.geomspace(1e4, 0.1, STEPS)
    cases: list[tuple[str, int, Callable[[], object]]] = [
        ("Brownian, one coordinate", STEPS * RUNS, lambda: brownian_noise(linear, RUNS, rng)),
        ("Brownian, ten coordinates", STEPS * RUNS, lambda: brownian_noise(linear, RUNS // 10, rng, dimension=10)),
        ("Laplace, forward", STEPS * RUNS, lambda: forward_laplace_noise(geometric, RUNS, rng)),
        ("Laplace, backward", STEPS * RUNS, lambda: backward_laplace_noise(geometric, RUNS, rng)),
        ("Brownian, sessions", STEPS * SESSION_RUNS, lambda: brownian_sessions(linear.tolist(), rng)),
    ]
    table = Table("sampler", "values/s", f"times {REQUIRED:,}/s", title=f"grids of {STEPS}, best of {REPEATS}")
    for name, values, call in cases:
        rate = values / seconds(call)
        table.add_row(name, f"{rate:,.0f}", f"{rate / REQUIRED:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
