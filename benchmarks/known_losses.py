"""The true losses of the common benchmark's 20 rows beside the published ones.

Run with ``python -m benchmarks.known_losses``. For every row: its claim; the loss certified at the worst pair and
event that the search finds (lower) and the one that a worst-pair theorem gives (upper, a dash without one): where they
agree the true epsilon is known; what was published for it, and the best certified lower bound of a peer at any budget
(published result files of DP-Sniper, 2021, and StatDP verified on fresh samples; a dash where none is published). Then
the time to certify the loss at that pair (median, probabilities computed anew; what SVT34Parallel spends once on
choosing its cells, about a second, is not in it), how many outcomes a second the sampler draws, the pair and the
event.
"""

import math
import statistics
import time
from typing import Any

import numpy as np
from flint import arb
from rich.console import Console
from rich.table import Table

from benchmarks.rows import ROWS, Row
from dpassay.claims import PureDP
from dpassay.properties.drawing.target import load_target
from dpassay.properties.hunting.hunt import hunt
from dpassay.properties.hunting.result import Witness
from dpassay.properties.pairing.registry import exact_distribution, pair_distribution, worst_case
from dpassay.spec.ball import float_upper, precision
from dpassay.spec.distributions.discrete import max_divergence

REPETITIONS = 5
DRAWS = 500_000


def upper_figure(mechanism: Any) -> str:
    """Return the upper figure of a worst-pair theorem, rounded up; a dash where there is none."""
    bound = worst_case(mechanism, PureDP(1.0))
    if bound is None:
        return "-"
    with precision(128):
        value = bound()
    return "inf" if value == arb.pos_inf() else f"{float_upper(value):.12g}"


def milliseconds(mechanism: Any, witness: Witness) -> float:
    """Return the median time to enclose the loss at a pair; the precision changes, so that no cache helps."""
    left, right = np.array(witness.left), np.array(witness.right)
    times = []
    for repetition in range(REPETITIONS):
        start = time.perf_counter()
        with precision(80 + repetition):
            one, other = exact_distribution(mechanism, left), exact_distribution(mechanism, right)
            distributions = (
                (one, other) if one is not None and other is not None else pair_distribution(mechanism, left, right)
            )
            if distributions is None:
                return math.nan
            max_divergence(*distributions)
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times)


def outcomes_per_second(mechanism: Any, witness: Witness) -> float:
    """Return how fast the sampler draws on the left input."""
    data, rng = np.array(witness.left), np.random.default_rng(0)
    mechanism.sample(data, 1000, rng)
    start = time.perf_counter()
    mechanism.sample(data, DRAWS, rng)
    return DRAWS / (time.perf_counter() - start)


def main() -> None:
    """Print the table."""
    table = Table(title="Certified losses of the common benchmark, in nats", show_lines=False)
    headings = (
        "row",
        "claim",
        "lower",
        "upper",
        "published",
        "best peer",
        "ms",
        "outcomes/s",
        "left",
        "right",
        "event",
    )
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for row in ROWS:
        mechanism = load_target(row.target)
        claim = mechanism.claims[0]
        found = hunt(mechanism, PureDP(0.0))  # any loss at all refutes it: the pair with the largest one is shown
        if found.witness is None:
            raise RuntimeError(f"the distribution of {row.name} is not known")
        figures = f"{claim.epsilon:.6g}", f"{found.epsilon_lower:.12g}", upper_figure(mechanism)
        times = milliseconds(mechanism, found.witness), outcomes_per_second(mechanism, found.witness)
        pair = map(_shown, (found.witness.left, found.witness.right))
        speeds = f"{times[0]:.1f}", f"{times[1]:.2g}"
        table.add_row(row.name, *figures, row.epsilon, _best_peer(row), *speeds, *pair, found.witness.event)
    Console(width=200).print(table)


def _best_peer(row: Row) -> str:
    return "-" if row.best_peer is None else f"{row.best_peer:g}"


def _shown(data: tuple[float, ...]) -> str:
    """Write an input, runs of equal numbers once."""
    runs: list[tuple[float, int]] = []
    for value in data:
        count = runs.pop()[1] if runs and runs[-1][0] == value else 0
        runs.append((value, count + 1))
    return ", ".join(f"{value:g}" + (f" x{count}" if count > 1 else "") for value, count in runs)


if __name__ == "__main__":
    main()
