"""Figures on the privacy of Gaussian noisy max: growth with the number of queries, gain, Monte Carlo."""

import itertools
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.impl.accounting.conversions import probabilistic_epsilon_of_affine_rdp
from dpassay.impl.accounting.gaussian import gaussian_epsilon, gaussian_zcdp
from dpassay.impl.accounting.noisy_max import gaussian_noisy_max_epsilon
from dpassay.properties.experiments.base import Progress, experiment
from dpassay.properties.experiments.monte_carlo import ESTIMATORS, NoisyMaxPoint
from dpassay.properties.experiments.output import draw, mean_and_error, repetitions, table

__all__ = ["gain_rows", "growth_rows", "noisy_max_figures"]

Array = NDArray[np.float64]
Row = dict[str, Any]

WIDTH = 1.0
DELTA = 1e-5  # of the baselines; the bound itself is pure
SENSITIVITY = 0.01
GROWTH_SIZES = (2, 3, 5, 10, 20, 50, 100, 200, 500, 829, 1000, 10_000, 100_000)
GROWTH_SIGMAS = (0.05, 0.1, 0.3, 1.0)
GAIN_SIZES = tuple(int(d) for d in np.unique(np.round(np.geomspace(2, 1000, 28))))
GAIN_SIGMAS = tuple(float(s) for s in np.geomspace(0.05, 1.0, 27))
GAIN_SENSITIVITIES = (0.01, 0.001)
MONTE_CARLO_SIGMAS = (0.2, 0.25, 0.3, 0.35, 0.4)
MONTE_CARLO_SAMPLES = (10_000, 100_000)
MONTE_CARLO_SIZE = 100
MONTE_CARLO_TRIALS = 100

GROWTH_COLUMNS = ("sigma", "size", "sensitivity", "noisy_max", "analytic_gaussian")
GAIN_COLUMNS = (*GROWTH_COLUMNS, "renyi", "gain_over_renyi", "gain_over_analytic")
MONTE_CARLO_COLUMNS = ("sigma", "estimator", "samples", "trials", "exact", "mean", "standard_error", "deviation")


@experiment(
    "noisy-max-figures",
    ("lebensold2024", "fig_rnm_vs_d"),
    ("lebensold2024", "fig_rnm_heatmap"),
    ("lebensold2024", "fig_mc_vs_quadrature"),
)
def noisy_max_figures(out: Path, *, seed: int, trials: int | None, progress: Progress) -> list[Path]:
    """Compute epsilon of Gaussian noisy max by the number of queries, with its baselines and Monte Carlo estimates.

    Lebensold, Precup and Balle 2024, Figs 7, 8, 3 and 6. The paper's Monte Carlo takes 10^10 samples on a GPU; here
    it takes the sample sizes written in the table, in as many trials.

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
    repeats = repetitions(trials, MONTE_CARLO_TRIALS)
    paths = [out / name for name in ("noisy_max_vs_size.csv", "noisy_max_gain.csv", "noisy_max_monte_carlo.csv")]
    growth = growth_rows(GROWTH_SIZES, GROWTH_SIGMAS, SENSITIVITY)
    gain = [row for step in GAIN_SENSITIVITIES for row in gain_rows(GAIN_SIZES, GAIN_SIGMAS, step)]
    for path, columns, rows in ((paths[0], GROWTH_COLUMNS, growth), (paths[1], GAIN_COLUMNS, gain)):
        with table(path, *columns) as lines:
            for row in rows:
                lines.write(**row)
    progress("noisy max: bounds", 0.1)
    estimates = _monte_carlo(paths[2], repeats, seed, progress)
    return [
        *paths,
        *draw(out / "noisy_max_vs_size.png", 2, partial(_paint_growth, growth), progress),
        *draw(out / "noisy_max_gain.png", 2, partial(_paint_gain, gain), progress),
        *draw(out / "noisy_max_monte_carlo.png", 1, partial(_paint_monte_carlo, estimates), progress),
    ]


def growth_rows(sizes: tuple[int, ...], sigmas: tuple[float, ...], sensitivity: float) -> list[Row]:
    """Return epsilon of Gaussian noisy max and of its post-processing bound at delta = 1e-5, point by point.

    The post-processing bound is that of the Gaussian mechanism on all answers, at l2 sensitivity Delta sqrt(d)
    (Balle and Wang 2018, Thm 8).
    """
    points = list(itertools.product(sigmas, sizes))
    sigma, size = np.array(points).T
    own = gaussian_noisy_max_epsilon(size.astype(np.int64), sigma, WIDTH, sensitivity)
    analytic = gaussian_epsilon(DELTA, sigma, sensitivity * np.sqrt(size))
    return [
        {"sigma": s, "size": d, "sensitivity": sensitivity, "noisy_max": e, "analytic_gaussian": a}
        for (s, d), e, a in zip(points, own, analytic, strict=True)
    ]


def gain_rows(sizes: tuple[int, ...], sigmas: tuple[float, ...], sensitivity: float) -> list[Row]:
    """Return `growth_rows` with the Renyi post-processing bound at delta = 1e-5 and the gains over both.

    The figure's delta is not printed; 1e-5 is the paper's choice elsewhere.
    """
    rows = growth_rows(sizes, sigmas, sensitivity)
    sigma = np.array([row["sigma"] for row in rows])
    l2_sensitivity = sensitivity * np.sqrt([row["size"] for row in rows])
    renyi = probabilistic_epsilon_of_affine_rdp(gaussian_zcdp(sigma, l2_sensitivity), 0.0, DELTA)
    for row, bound in zip(rows, renyi, strict=True):
        row["renyi"] = bound
        row["gain_over_renyi"] = bound - row["noisy_max"]
        row["gain_over_analytic"] = row["analytic_gaussian"] - row["noisy_max"]
    return rows


def _monte_carlo(path: Path, trials: int, seed: int, progress: Progress) -> list[Row]:
    rng = np.random.default_rng(seed)
    rows: list[Row] = []
    runs = list(itertools.product(MONTE_CARLO_SAMPLES, MONTE_CARLO_SIGMAS, ESTIMATORS))
    with table(path, *MONTE_CARLO_COLUMNS) as lines:
        for done, (samples, sigma, name) in enumerate(runs, 1):
            point = NoisyMaxPoint(MONTE_CARLO_SIZE, sigma, WIDTH, SENSITIVITY)
            estimates = [ESTIMATORS[name](point, samples, rng) for _ in range(trials)]
            mean, error = mean_and_error(estimates)
            row: Row = {
                "sigma": sigma,
                "estimator": name,
                "samples": samples,
                "trials": trials,
                "exact": float(gaussian_noisy_max_epsilon(point.size, sigma, WIDTH, SENSITIVITY)),
                "mean": mean,
                "standard_error": error,
                "deviation": error * trials**0.5,
            }
            lines.write(**row)
            rows.append(row)
            progress("noisy max: Monte Carlo", 0.1 + 0.8 * done / len(runs))
    return rows


def _paint_growth(rows: list[Row], own: Any, analytic: Any) -> None:
    for sigma, group in itertools.groupby(rows, key=lambda row: row["sigma"]):
        points = list(group)
        sizes = [row["size"] for row in points]
        for axes, column in ((own, "noisy_max"), (analytic, "analytic_gaussian")):
            axes.loglog(sizes, [row[column] for row in points], marker=".", label=f"sigma = {sigma:g}")
    for axes, title in ((own, "noisy max, pure"), (analytic, f"post-processing, delta = {DELTA:g}")):
        axes.set(title=title, xlabel="queries d", ylabel="epsilon")
        axes.set_ylim(1e-2, 1e3)
        axes.legend(fontsize="small")


def _paint_gain(rows: list[Row], *panels: Any) -> None:
    from matplotlib.colors import AsinhNorm  # the gain spans decades and both signs

    reach = max(abs(row["gain_over_renyi"]) for row in rows)
    for axes, sensitivity in zip(panels, GAIN_SENSITIVITIES, strict=True):
        chosen = [row["gain_over_renyi"] for row in rows if row["sensitivity"] == sensitivity]
        gain = np.array(chosen).reshape(len(GAIN_SIGMAS), len(GAIN_SIZES))
        norm = AsinhNorm(linear_width=0.01, vmin=-reach, vmax=reach)
        mesh = axes.pcolormesh(GAIN_SIZES, GAIN_SIGMAS, gain, cmap="RdBu", norm=norm, shading="nearest")
        axes.contour(GAIN_SIZES, GAIN_SIGMAS, gain, levels=[0], colors="black", linewidths=1)
        axes.set(xscale="log", yscale="log", xlabel="queries d", ylabel="sigma", title=f"Delta = {sensitivity:g}")
        ticks = [-10, -1, -0.1, 0, 0.1, 1, 10]
        axes.figure.colorbar(mesh, ax=axes, label="Renyi bound minus noisy max", ticks=ticks, format="%g")


def _paint_monte_carlo(rows: list[Row], axes: Any) -> None:
    for name, samples in itertools.product(ESTIMATORS, MONTE_CARLO_SAMPLES):
        points = [row for row in rows if row["estimator"] == name and row["samples"] == samples]
        label = f"deviation, {name}, {samples:,} samples"
        axes.semilogy(MONTE_CARLO_SIGMAS, [row["deviation"] for row in points], marker=".", label=label)
    exact = [row["exact"] for row in points]
    axes.semilogy(MONTE_CARLO_SIGMAS, exact, "k--", label="epsilon itself, integrated")
    axes.set(xlabel="sigma", ylabel="epsilon", title=f"Monte Carlo, d = {MONTE_CARLO_SIZE}", ylim=(1e-4, 1e5))
    axes.legend(fontsize="small")
