"""How many exact target qualities a second, by the closed form and by the linear programme; run it as a script.

Random indistinguishable pairs on ten outcomes with random targets. The two are compared as well.
"""

import time

import numpy as np
from rich.console import Console
from rich.table import Table

from dpassay.impl.accounting.target_programme import quality_by_programme
from dpassay.impl.accounting.target_quality import target_quality
from dpassay.properties.experiments.target_charging.quality_families import random_pairs

PAIRS, PROGRAMMES, OUTCOMES, REPEATS, SEED, EPSILON = 100_000, 300, 10, 3, 20231111, 1.0
REQUIRED = 100_000


def main() -> None:
    """Print pairs a second, their ratio, and the largest difference."""
    rng = np.random.default_rng(SEED)
    left, right = random_pairs(EPSILON, PAIRS, OUTCOMES, rng)
    targets = rng.random(left.shape) < 0.5
    targets[:, 0] = True
    best = np.inf
    for _ in range(REPEATS):
        begin = time.perf_counter()
        closed = target_quality(left, right, targets, EPSILON)
        best = min(best, time.perf_counter() - begin)
    begin = time.perf_counter()
    solved = [quality_by_programme(left[k], right[k], targets[k], EPSILON) for k in range(PROGRAMMES)]
    programme = (time.perf_counter() - begin) / PROGRAMMES
    known = [k for k, value in enumerate(solved) if value is not None]
    difference = max(abs(float(closed[k]) - float(solved[k] or 0.0)) for k in known)
    table = Table("method", "pairs/s", "required", title=f"random pairs on {OUTCOMES} outcomes, best of {REPEATS}")
    table.add_row("closed form", f"{PAIRS / best:,.0f}", f"{REQUIRED:,}")
    table.add_row("linear programme", f"{1 / programme:,.0f}", "-")
    console = Console()
    console.print(table)
    console.print(f"ratio {programme * PAIRS / best:,.0f}; {len(known)} solved, largest difference {difference:.1e}")


if __name__ == "__main__":
    main()
