"""Speak to StatDP: its databases and event search, its test on a grid of epsilons."""

import importlib
from typing import Any

import numpy as np

from benchmarks.peers.runners.row import RowMechanism, answer, ready, task

GRID = (0.1, 0.15, 0.2, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
LEVEL = 0.05
BUFFER = 2000
TEST_SHARE = 5
"""Samples of the test for each one of the search for an event, as in its defaults."""


class Buffered:
    """Single calls from outcomes that were drawn many at a time, in each process anew."""

    def __init__(self, row: RowMechanism) -> None:
        self.row = row
        self.waiting: dict[tuple[float, ...], list[float]] = {}

    def next(self, rng: np.random.Generator, queries: Any) -> np.float64:
        """Return the next outcome on these queries."""
        key = tuple(map(float, queries))
        if not self.waiting.get(key):
            self.waiting[key] = self.row.sample(key, BUFFER, rng).ravel().tolist()
        return np.float64(self.waiting[key].pop())


def main() -> None:
    """Test every epsilon of the grid, until one is not rejected."""
    given = task()
    statdp: Any = importlib.import_module("statdp")
    row = RowMechanism(given["target"], given["folder"])
    start = ready()
    if row.width() > 1:
        answer(None, "outcomes of several coordinates are too many events for it", start)
        return
    buffered = Buffered(row)

    def algorithm(prng: Any, queries: Any, epsilon: float) -> Any:
        assert epsilon > 0
        return buffered.next(prng, queries)

    globals()["algorithm"], algorithm.__qualname__ = algorithm, "algorithm"  # sent to its processes by name
    rejected = 0.0
    for epsilon in GRID:
        [(_, p_value, *_)] = statdp.detect_counterexample(
            algorithm,
            epsilon,
            {"epsilon": 0.1},
            num_input=row.neighbours.size,
            event_iterations=given["samples"],
            detect_iterations=TEST_SHARE * given["samples"],
            cores=1,
            sensitivity=statdp.ALL_DIFFER if row.all_differ else statdp.ONE_DIFFER,
            quiet=True,
            loglevel=40,
        )
        if p_value >= LEVEL:
            break
        rejected = epsilon
    answer(rejected, f"5 % for each epsilon of a grid: {', '.join(f'{value:g}' for value in GRID)}", start)


if __name__ == "__main__":
    main()
