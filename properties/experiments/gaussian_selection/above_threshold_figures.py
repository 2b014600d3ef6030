"""Figures on AboveThreshold: ex-post loss of an outcome beside the a-priori guarantee."""

import itertools
import math
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from dpassay.impl.accounting.above_threshold import gaussian_above_threshold_loss
from dpassay.properties.experiments.base import Progress, experiment
from dpassay.properties.experiments.gaussian_selection.above_threshold_ante import ANTE_BOUNDS
from dpassay.properties.experiments.gaussian_selection.halting_times import halting_time_quantile
from dpassay.properties.experiments.output import draw, repetitions, table

__all__ = ["above_threshold_figures", "comparison_rows", "loss_rows", "quantile_rows"]

Row = dict[str, Any]

LOW, HIGH = 0.0, 1.0
SENSITIVITY = 1e-3
DELTA = 1e-5
NOISE_RATIO = math.sqrt(3)  # sigma_query over sigma_threshold: the least that Thm 7 admits
QUANTILES = (0.5, 0.8)
THRESHOLDS = (0.2, 0.5, 0.8, 1.0)
SIGMAS = tuple(float(s) for s in np.linspace(0.05, 0.3, 26))
TIMES = tuple(int(t) for t in np.unique(np.round(np.geomspace(1, 1e6, 31))))
LOSS_SIGMA = 0.15
LOSS_TIMES = (1, 2, 3, 10, 100)
LOSS_THRESHOLDS = tuple(float(x) for x in np.linspace(LOW, HIGH, 51))

COMPARISON_COLUMNS = ("threshold", "sigma_threshold", "halting_time", "ex_post", *ANTE_BOUNDS, "saving")
QUANTILE_COLUMNS = ("threshold", "sigma_threshold", "quantile", "halting_time", "ex_post", *ANTE_BOUNDS, "saving")
LOSS_COLUMNS = ("halting_time", "threshold", "ex_post")


@experiment(
    "above-threshold-figures", ("lebensold2024", "fig_expost_vs_exante"), ("lebensold2024", "fig_expost_vs_rho")
)
def above_threshold_figures(out: Path, *, seed: int, trials: int | None, progress: Progress) -> list[Path]:  # noqa: ARG001 - nothing is random
    """Compare the ex-post loss of AboveThreshold with the ex-ante bound, and plot it against the threshold.

    Lebensold, Precup and Balle 2024, Figs 1 and 2, with the corrected loss (Thm 17+) and exact quantiles of the
    halting time, which the paper simulates: nothing here is random, and seed and trials change nothing.

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
    repetitions(trials, 1)
    paths = [out / name for name in ("expost_vs_exante.csv", "expost_at_quantiles.csv", "expost_vs_threshold.csv")]
    comparison: list[Row] = []
    with table(paths[0], *COMPARISON_COLUMNS) as lines:
        for done, threshold in enumerate(THRESHOLDS, 1):
            for row in comparison_rows(threshold, SIGMAS, TIMES):
                lines.write(**row)
                comparison.append(row)
            progress("AboveThreshold: ex post against ex ante", 0.5 * done / len(THRESHOLDS))
    quantiles: list[Row] = []
    with table(paths[1], *QUANTILE_COLUMNS) as lines:
        for done, threshold in enumerate(THRESHOLDS, 1):
            for row in quantile_rows(threshold, SIGMAS):
                lines.write(**row)
                quantiles.append(row)
            progress("AboveThreshold: quantiles of the halting time", 0.5 + 0.4 * done / len(THRESHOLDS))
    losses = loss_rows(LOSS_TIMES, LOSS_THRESHOLDS)
    with table(paths[2], *LOSS_COLUMNS) as lines:
        for row in losses:
            lines.write(**row)
    return [
        *paths,
        *draw(
            out / "expost_vs_exante.png", len(THRESHOLDS), partial(_paint_comparison, comparison, quantiles), progress
        ),
        *draw(out / "expost_vs_threshold.png", 2, partial(_paint_losses, losses), progress),
    ]


def comparison_rows(threshold: float, sigmas: tuple[float, ...], times: tuple[int, ...]) -> list[Row]:
    """Return ex-post and ex-ante bounds for every noise and halting time; `saving` is published bound less ex-post."""
    points = list(itertools.product(sigmas, times))
    return _compared(threshold, [sigma for sigma, _ in points], [float(time) for _, time in points])


def quantile_rows(threshold: float, sigmas: tuple[float, ...]) -> list[Row]:
    """Return the bounds at the median and the 80th percentile of the halting time on the slowest stream, q = low."""
    points = list(itertools.product(sigmas, QUANTILES))
    times = [halting_time_quantile(level, threshold - LOW, s, NOISE_RATIO * s) for s, level in points]
    rows = _compared(threshold, [sigma for sigma, _ in points], times)
    return [{**row, "quantile": level} for row, (_, level) in zip(rows, points, strict=True)]


def _compared(threshold: float, sigmas: list[float], times: list[float]) -> list[Row]:
    sigma = np.array(sigmas)
    losses = gaussian_above_threshold_loss(
        np.array(times), threshold, sigma, NOISE_RATIO * sigma, LOW, HIGH, SENSITIVITY
    )
    rows = []
    for s, time, loss in zip(sigmas, times, losses, strict=True):
        row: Row = {"threshold": threshold, "sigma_threshold": s, "halting_time": time, "ex_post": float(loss)}
        for name, bound in ANTE_BOUNDS.items():
            row[name] = bound(DELTA, threshold, s, NOISE_RATIO * s, low=LOW, sensitivity=SENSITIVITY)
        rows.append({**row, "saving": row["halting_moment"] - row["ex_post"]})
    return rows


def loss_rows(times: tuple[int, ...], thresholds: tuple[float, ...]) -> list[Row]:
    """Return the ex-post loss at sigma_threshold = 0.15 for every halting time and threshold."""
    points = list(itertools.product(times, thresholds))
    time, threshold = np.array(points).T
    losses = gaussian_above_threshold_loss(
        time, threshold, LOSS_SIGMA, NOISE_RATIO * LOSS_SIGMA, LOW, HIGH, SENSITIVITY
    )
    return [
        {"halting_time": t, "threshold": x, "ex_post": float(loss)}
        for (t, x), loss in zip(points, losses, strict=True)
    ]


def _paint_comparison(rows: list[Row], quantiles: list[Row], *panels: Any) -> None:
    from matplotlib.colors import AsinhNorm  # both signs, and far larger where the noise is small

    reach = max(abs(row["saving"]) for row in rows)
    for axes, threshold in zip(panels, THRESHOLDS, strict=True):
        chosen = [row["saving"] for row in rows if row["threshold"] == threshold]
        saving = np.array(chosen).reshape(len(SIGMAS), len(TIMES))
        norm = AsinhNorm(linear_width=0.003, vmin=-reach, vmax=reach)
        mesh = axes.pcolormesh(TIMES, SIGMAS, saving, cmap="RdBu", norm=norm, shading="nearest")
        axes.contour(TIMES, SIGMAS, saving, levels=[0], colors="black", linewidths=1)
        for level, style in zip(QUANTILES, ("b:", "r--"), strict=True):
            line = [row for row in quantiles if row["threshold"] == threshold and row["quantile"] == level]
            axes.plot([row["halting_time"] for row in line], SIGMAS, style, label=f"{level:.0%} have halted")
        axes.set(xscale="log", xlim=(TIMES[0], TIMES[-1]), ylim=(SIGMAS[0], SIGMAS[-1]))
        axes.set(xlabel="halting time", ylabel="sigma of the threshold", title=f"rho = {threshold:g}")
        ticks = [-0.3, -0.03, -0.003, 0, 0.003, 0.03, 0.3]
        axes.figure.colorbar(mesh, ax=axes, label="ex ante minus ex post", ticks=ticks, format="%g")
    panels[0].legend(fontsize="small", loc="lower right")


def _paint_losses(rows: list[Row], early: Any, all_times: Any) -> None:
    for time, group in itertools.groupby(rows, key=lambda row: row["halting_time"]):
        points = list(group)
        xs, ys = [row["threshold"] for row in points], [row["ex_post"] for row in points]
        all_times.plot(xs, ys, label=f"t = {time}")
        if time <= 2:
            early.plot(xs, ys, label=f"t = {time}")
    for axes in (early, all_times):
        axes.set(xlabel="threshold rho", ylabel="ex-post epsilon")
        axes.legend(fontsize="small")
