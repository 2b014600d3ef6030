"""The experiments on bike sharing: the day of peak use, and the busy days."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from dpassay.properties.experiments.base import Progress, experiment
from dpassay.properties.experiments.gaussian_selection.bike_selection import (
    EPSILONS,
    SELECTION_COLUMNS,
    WINDOWS,
    paint_selection,
    selection_rows,
)
from dpassay.properties.experiments.gaussian_selection.bike_threshold import (
    BUDGET_COLUMNS,
    SIGMAS,
    SPENT_COLUMNS,
    budget_rows,
    paint_threshold,
    passes_at,
    spent_rows,
)
from dpassay.properties.experiments.output import draw, repetitions, table

__all__ = ["bike_sharing"]

Row = dict[str, Any]

SELECTION_TRIALS = 1000
THRESHOLD_TRIALS = 50
MECHANISMS = 6


@experiment(
    "bike-sharing",
    ("lebensold2024", "fig_rnm_utility"),
    ("lebensold2024", "fig_bikes_online"),
    ("lebensold2024", "rnm_accuracy"),
    ("lebensold2024", "at_f1_score"),
)
def bike_sharing(out: Path, *, seed: int, trials: int | None, progress: Progress) -> list[Path]:
    """Measure utility against epsilon on two years of bike rides: the day of peak use, the busy days.

    Lebensold, Precup and Balle 2024, Figs 13 to 16 and 4, 17, 18: 1,000 trials of each selection, 50 passes of
    AboveThreshold at each noise level, unless `trials` says otherwise for both.

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
    selection_rng, threshold_rng = np.random.default_rng(seed).spawn(2)
    selection_paths = _selection(out, repetitions(trials, SELECTION_TRIALS), selection_rng, progress)
    return selection_paths + _threshold(out, repetitions(trials, THRESHOLD_TRIALS), threshold_rng, progress)


def _selection(out: Path, trials: int, rng: np.random.Generator, progress: Progress) -> list[Path]:
    path, rows = out / "bike_peak_day.csv", []
    expected = len(WINDOWS) * len(EPSILONS) * MECHANISMS
    with table(path, *SELECTION_COLUMNS) as lines:
        for row in selection_rows(trials, rng, EPSILONS):
            lines.write(**row)
            rows.append(row)
            progress("bike sharing: the day of peak use", 0.3 * len(rows) / expected)
    return [path, *draw(out / "bike_peak_day.png", len(WINDOWS), partial(paint_selection, rows), progress, 0.3)]


def _threshold(out: Path, trials: int, rng: np.random.Generator, progress: Progress) -> list[Path]:
    paths = [out / "bike_busy_days.csv", out / "bike_busy_days_at_budget.csv"]
    spent: list[Row] = []
    budgets: list[Row] = []
    with table(paths[0], *SPENT_COLUMNS) as spent_lines, table(paths[1], *BUDGET_COLUMNS) as budget_lines:
        for done, sigma in enumerate(SIGMAS, 1):
            passes = passes_at(sigma, trials, rng)
            for rows, lines, source in ((spent, spent_lines, spent_rows), (budgets, budget_lines, budget_rows)):
                for row in source(passes):
                    lines.write(**row)
                    rows.append(row)
            progress("bike sharing: the busy days", 0.3 + 0.7 * done / len(SIGMAS))
    return [*paths, *draw(out / "bike_busy_days.png", 2, partial(paint_threshold, spent, budgets), progress)]
