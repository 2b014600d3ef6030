"""Ordered counts, and thresholds for unknown labels: Cesar and Rogers 2020, Figs 6 and 7."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from dpassay.impl.accounting.histograms import gaussian_histogram_multiplier, laplace_histogram_epsilon
from dpassay.impl.accounting.truncation import truncation_half_width
from dpassay.impl.mechanisms.count_mle import CountMLE
from dpassay.properties.experiments.base import Progress, experiment
from dpassay.properties.experiments.output import draw, repetitions, table

__all__ = ["count_figures", "error_rows", "threshold_rows", "word_counts"]

Row = dict[str, Any]

SIZE, LAPLACE_EPSILON, DELTA = 25, 0.1, 1e-6
TRIALS = 100
LARGEST, SMALLEST = 733, 80  # of the synthetic list
THRESHOLD_EPSILON, THRESHOLD_DELTA = 0.1, 1e-10
THRESHOLD_SIZES = (1, 2, 3, 4, 5, 10, 20, 50, 100)
ERROR_COLUMNS = ("rank", "count", "trials", "laplace_deviation", "gaussian_deviation", "fit_rmse", "fit_bias")
THRESHOLD_COLUMNS = ("size", "sigma", "half_width", "assumed_laplace_threshold")


@experiment("count-figures", ("cesar2020", "fig6_macbeth_counts"), ("cesar2020", "fig7_threshold_vs_unklap"))
def count_figures(out: Path, *, seed: int, trials: int | None, progress: Progress) -> list[Path]:
    """Compute errors of counts fitted to their order, and compare the truncation half-width with a Laplace threshold.

    The word counts of the paper's play are not shipped: a list that falls geometrically from 733 to 80 stands for
    them. Its privacy, (2.079, 10^-6) and sigma = 13.1, is computed and agrees with the paper; it pays for the counts,
    not for their order, which must be public. The Laplace threshold for unknown labels belongs to another paper, and
    neither its formula nor the split of delta is stated; the table assumes 1 + Delta log(Delta/delta)/epsilon and
    halves.

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
    repeats = repetitions(trials, TRIALS)
    errors = error_rows(repeats, seed)
    progress("counts: errors", 0.6)
    thresholds = threshold_rows()
    paths = [out / "ordered_counts.csv", out / "unknown_label_thresholds.csv"]
    for path, columns, rows in zip(paths, (ERROR_COLUMNS, THRESHOLD_COLUMNS), (errors, thresholds), strict=True):
        with table(path, *columns) as lines:
            for row in rows:
                lines.write(**row)
    return [*paths, *draw(out / "counts.png", 2, partial(_paint, errors, thresholds), progress)]


def word_counts() -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return round(733 (80/733)^(j/24)) for j = 0, ..., 24."""
    return np.round(LARGEST * (SMALLEST / LARGEST) ** (np.arange(SIZE) / (SIZE - 1)))


def error_rows(trials: int, seed: int) -> list[Row]:
    """Return, rank by rank, the root mean squared error of the fit, and the deviations of both noises."""
    epsilon = float(laplace_histogram_epsilon(DELTA, LAPLACE_EPSILON, SIZE))
    sigma = float(gaussian_histogram_multiplier(epsilon, DELTA, SIZE))
    counts = word_counts()
    fits = CountMLE(SIZE, sigma).sample(counts, trials, np.random.default_rng(seed))
    rmse, bias = np.sqrt(np.square(fits - counts).mean(axis=0)), (fits - counts).mean(axis=0)
    return [
        {
            "rank": rank + 1,
            "count": counts[rank],
            "trials": trials,
            "laplace_deviation": np.sqrt(2) / LAPLACE_EPSILON,
            "gaussian_deviation": sigma,
            "fit_rmse": rmse[rank],
            "fit_bias": bias[rank],
        }
        for rank in range(SIZE)
    ]


def threshold_rows() -> list[Row]:
    """Return T of eq (10) by l0, for a total of (0.1, 10^-10), half of delta for T and half for the conversion."""
    half = THRESHOLD_DELTA / 2
    rows = []
    for size in THRESHOLD_SIZES:
        sigma = float(gaussian_histogram_multiplier(THRESHOLD_EPSILON, half, size))
        rows.append({
            "size": size,
            "sigma": sigma,
            "half_width": float(truncation_half_width(half, sigma, 1.0, size)),
            "assumed_laplace_threshold": 1 + size * np.log(size / THRESHOLD_DELTA) / THRESHOLD_EPSILON,
        })  # fmt: skip
    return rows


def _paint(errors: list[Row], thresholds: list[Row], counts: Any, widths: Any) -> None:
    ranks = [row["rank"] for row in errors]
    for column in ("laplace_deviation", "gaussian_deviation", "fit_rmse"):
        counts.plot(ranks, [row[column] for row in errors], label=column.replace("_", " "))
    counts.set(xlabel="rank of the count", ylabel="error", title="counts fitted to a public order")
    for column in ("half_width", "assumed_laplace_threshold"):
        widths.loglog([r["size"] for r in thresholds], [r[column] for r in thresholds], label=column.replace("_", " "))
    widths.set(xlabel="Delta", ylabel="threshold", title=f"unknown labels, delta = {THRESHOLD_DELTA:g}")
    for axes in (counts, widths):
        axes.legend(fontsize="small")
