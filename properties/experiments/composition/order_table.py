"""Delta of all orders of adaptively chosen mechanisms, with equal and with different epsilons."""

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dpassay.impl.accounting.adaptive_composition import (
    AdaptiveComposition,
    ComposedMechanism,
    bounded_range_mechanism,
    pure_mechanism,
)
from dpassay.properties.experiments.base import Progress, experiment
from dpassay.properties.experiments.output import draw, table

__all__ = ["COLUMNS", "SETS", "order_rows", "order_table"]

D, B = pure_mechanism, bounded_range_mechanism
SETS: tuple[tuple[tuple[ComposedMechanism, ...], float], ...] = (
    ((D(1.0), B(1.0), B(1.0)), 0.1),
    ((D(1.0), D(1.0), B(1.0), B(1.0)), 1.1),
    ((D(1.0), D(1.0), D(1.0), B(1.0)), 0.5),
    ((D(0.4), D(0.9)), 0.3),
    ((B(0.4), B(1.0)), 0.24),
    ((B(0.3), B(0.6), B(1.2)), 0.12),
    ((D(0.5), B(1.0)), 0.0),
    ((D(0.4), D(0.5), B(0.3)), 0.0),
)
"""Mechanisms, and the global epsilon at which their orders are compared."""

COLUMNS = ("mechanisms", "epsilon", "order", "delta_lower", "delta")


@experiment("order-table", ("cesar2020", "open_questions"))
def order_table(out: Path, *, seed: int, trials: int | None, progress: Progress) -> list[Path]:  # noqa: ARG001  # nothing is random
    """Compute delta of every order of small sets of adaptively chosen pure (D) and bounded-range (B) mechanisms.

    Not in the paper, which asks whether the order matters for different epsilons: for pure mechanisms it never does;
    for bounded range, smaller ones first are worse; beside pure mechanisms of different epsilons it does, too.

    Parameters
    ----------
    out : Path
        Folder for tables and figures.
    seed : int
        Seed of all random choices.
    trials : int or None
        Number of repetitions; None for that of the paper.
    progress : callable
        Takes a description and the fraction done.
    """
    sets = []
    with table(out / "order_table.csv", *COLUMNS) as lines:
        for done, (rounds, level) in enumerate(SETS, 1):
            rows = order_rows(rounds, level)
            for row in rows:
                lines.write(**row)
            sets.append(rows)
            progress("order table", done / len(SETS))

    def paint(axes: Any) -> None:
        for place, rows in enumerate(reversed(sets)):
            best = rows[-1]["delta_lower"]
            excess = [100 * (row["delta_lower"] / best - 1) for row in rows]
            axes.plot(excess, [place] * len(rows), marker="o", fillstyle="none")
        names = [f"{rows[0]['mechanisms']}, {rows[0]['epsilon']:g}" for rows in reversed(sets)]
        axes.set_yticks(range(len(sets)), names, fontsize=5)
        axes.set(xlabel="delta above that of the best order, %")

    return [out / "order_table.csv", *draw(out / "order_table.png", 1, paint, progress)]


def order_rows(rounds: Sequence[ComposedMechanism], level: float, *, cells: int = 1024) -> list[dict[str, Any]]:
    """Return one row per order, sorted by decreasing delta."""
    rows = []
    for order in sorted(set(itertools.permutations(rounds)), key=_words):
        accountant = AdaptiveComposition(order, cells=cells)
        rows.append({
            "mechanisms": _words(sorted(rounds, key=lambda each: _words([each]))),
            "epsilon": level,
            "order": _words(order),
            "delta_lower": accountant.delta_lower(level),
            "delta": accountant.delta(level),
        })  # fmt: skip
    return sorted(rows, key=lambda row: -row["delta"])


def _words(rounds: Sequence[ComposedMechanism]) -> str:
    return " ".join(f"{'D' if each.kind == 'pure' else 'B'}({each.epsilon:g})" for each in rounds)
