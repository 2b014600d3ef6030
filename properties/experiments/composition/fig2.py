"""The optimal delta of batches between all bounded range and all pure."""

import itertools
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from dpassay.impl.accounting.mixed_composition import MixedBatch
from dpassay.properties.experiments.base import Progress, experiment
from dpassay.properties.experiments.output import draw, table

__all__ = ["COLUMNS", "mixed_batch_figure", "mixed_rows"]

Row = dict[str, Any]

SETTINGS = ((20, 0.1), (100, 0.1))
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
POINTS = 61
DELTA = 1e-6
COLUMNS = ("mechanisms", "mechanism_epsilon", "pure", "epsilon", "delta")


@experiment("mixed-batch", ("cesar2020", "fig2_mixed_optimal"))
def mixed_batch_figure(out: Path, *, seed: int, trials: int | None, progress: Progress) -> list[Path]:  # noqa: ARG001  # nothing is random
    """Compute the optimal delta of batches of pure and bounded-range mechanisms, against epsilon.

    Cesar and Rogers 2020, Fig 2. k mechanisms, m of them pure; neither k nor epsilon nor m is in the text. Here
    k = 20 and 100, epsilon = 1/10 and m = 0, k/4, k/2, 3k/4, k. The curves rise with m, from the one
    of exponential mechanisms to the one of Laplace.

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
    rows: list[Row] = []
    with table(out / "mixed_batch.csv", *COLUMNS) as lines:
        for done, (count, epsilon) in enumerate(SETTINGS, 1):
            for row in mixed_rows(count, epsilon):
                lines.write(**row)
                rows.append(row)
            progress("mixed batch", 0.9 * done / len(SETTINGS))
    return [out / "mixed_batch.csv", *draw(out / "mixed_batch.png", len(SETTINGS), partial(_paint, rows), progress)]


def mixed_rows(count: int, epsilon: float) -> list[Row]:
    """Return delta of batches with several numbers of pure mechanisms, up to the epsilon at which it is 1e-6."""
    rows: list[Row] = []
    for share in SHARES:
        pure = round(share * count)
        batch = MixedBatch(pure=pure, bounded_range=count - pure, mechanism_epsilon=epsilon)
        rows.extend(
            {
                "mechanisms": count,
                "mechanism_epsilon": epsilon,
                "pure": pure,
                "epsilon": float(level),
                "delta": batch.delta(float(level)),
            }
            for level in np.linspace(0.0, batch.epsilon(DELTA), POINTS)
        )
    return rows


def _paint(rows: list[Row], *panels: Any) -> None:
    for axes, (count, epsilon) in zip(panels, SETTINGS, strict=True):
        chosen = [row for row in rows if row["mechanisms"] == count]
        for pure, group in itertools.groupby(chosen, key=lambda row: row["pure"]):
            points = list(group)
            axes.semilogy([p["epsilon"] for p in points], [p["delta"] for p in points], label=f"m = {pure}")
        axes.set(title=f"k = {count}, epsilon = {epsilon:g}", xlabel="epsilon_g", ylabel="delta")
        axes.legend(fontsize="small")
