"""Laplace against Gaussian noise of equal variance on histograms: Cesar and Rogers 2020, Figs 4 and 5."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from dpassay.impl.accounting.gaussian import gaussian_epsilon
from dpassay.impl.accounting.histograms import (
    equal_variance_multiplier,
    gaussian_histogram_epsilon,
    laplace_histogram_delta,
    laplace_histogram_epsilon,
)
from dpassay.impl.accounting.search import smallest_accepted
from dpassay.properties.experiments.base import Progress, experiment
from dpassay.properties.experiments.output import draw, table

__all__ = ["composed_rows", "crossover", "histogram_figures", "one_shot_rows"]

Row = dict[str, Any]

DELTA = 1e-6
ONE_SHOT_EPSILONS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
SIZES = (1, 2, 3, 5, 8, 10, 15, 25, 50, 100)
COMPOSED_EPSILONS = (0.05, 0.1, 0.2)
COMPOSED_SIZE = 10
COMPOSITIONS = tuple(range(1, 11))
LARGEST_CROSSOVER = 100
ONE_SHOT_COLUMNS = ("epsilon", "size", "laplace", "analytic_gaussian", "zcdp_gaussian")
COMPOSED_COLUMNS = ("epsilon", "compositions", "laplace", "zcdp_gaussian", "composed_analytic", "exact_gaussian")
CROSSOVER_COLUMNS = ("epsilon", "analytic", "zcdp")


@experiment("histogram-figures", ("cesar2020", "fig4_one_shot"), ("cesar2020", "fig5_composed"))
def histogram_figures(
    out: Path,
    *,
    seed: int,  # noqa: ARG001  # nothing is random
    trials: int | None,  # noqa: ARG001
    progress: Progress,
) -> list[Path]:
    """Compare epsilon of Laplace and Gaussian noise of the same variance, for one histogram and for several.

    delta = 10^-6 as printed; the figures' epsilons are lost, those here are in the tables. Composed through its
    (epsilon', delta'), Gaussian noise looks worse than it is: composed exactly it is below both other curves.

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
    one_shot = [row for epsilon in ONE_SHOT_EPSILONS for row in one_shot_rows(epsilon)]
    crossovers = [
        {"epsilon": e, "analytic": crossover(e, exact=True), "zcdp": crossover(e, exact=False)}
        for e in ONE_SHOT_EPSILONS
    ]
    progress("histograms: one shot", 0.4)
    composed = [row for epsilon in COMPOSED_EPSILONS for row in composed_rows(epsilon)]
    progress("histograms: composed", 0.8)
    paths = [out / name for name in ("histogram_one_shot.csv", "histogram_composed.csv", "histogram_crossovers.csv")]
    for path, columns, rows in zip(
        paths,
        (ONE_SHOT_COLUMNS, COMPOSED_COLUMNS, CROSSOVER_COLUMNS),
        (one_shot, composed, crossovers),
        strict=True,
    ):
        with table(path, *columns) as lines:
            for row in rows:
                lines.write(**row)
    return [
        *paths,
        *draw(out / "histogram_one_shot.png", 2, partial(_paint, one_shot, "size", (0.1, 1.0)), progress),
        *draw(out / "histogram_composed.png", 2, partial(_paint, composed, "compositions", (0.05, 0.1)), progress),
    ]


def one_shot_rows(epsilon: float) -> list[Row]:
    """Return epsilon_g of Laplace noise of scale tau/epsilon and of Gaussian noise of its variance, by l0."""
    sigma = float(equal_variance_multiplier(epsilon))
    return [
        {
            "epsilon": epsilon,
            "size": size,
            "laplace": float(laplace_histogram_epsilon(DELTA, epsilon, size)),
            "analytic_gaussian": float(gaussian_epsilon(DELTA, sigma, np.sqrt(size))),
            "zcdp_gaussian": float(gaussian_histogram_epsilon(DELTA, sigma, size)),
        }
        for size in SIZES
    ]


def crossover(epsilon: float, *, exact: bool) -> int:
    """Return the least l0, up to 100, at which Gaussian noise of equal variance costs less epsilon; 0 for none."""
    sigma = float(equal_variance_multiplier(epsilon))
    sizes = np.arange(1, LARGEST_CROSSOVER + 1)
    curve = (
        gaussian_epsilon(DELTA, sigma, np.sqrt(sizes)) if exact else gaussian_histogram_epsilon(DELTA, sigma, sizes)
    )
    for size, gaussian in zip(sizes.tolist(), curve.tolist(), strict=True):
        if float(laplace_histogram_delta(gaussian, epsilon, size)) > DELTA:  # Laplace noise needs a larger epsilon
            return size
    return 0


def composed_rows(epsilon: float) -> list[Row]:
    """Return epsilon_g of k histograms of l0 = 10."""
    sigma = float(equal_variance_multiplier(epsilon))
    return [
        {
            "epsilon": epsilon,
            "compositions": count,
            "laplace": float(laplace_histogram_epsilon(DELTA, epsilon, count * COMPOSED_SIZE)),
            "zcdp_gaussian": float(gaussian_histogram_epsilon(DELTA, sigma, count * COMPOSED_SIZE)),
            "composed_analytic": composed_analytic(sigma, count),
            "exact_gaussian": float(gaussian_epsilon(DELTA, sigma, np.sqrt(count * COMPOSED_SIZE))),
        }
        for count in COMPOSITIONS
    ]


def composed_analytic(sigma: float, count: int) -> float:
    """Return the best epsilon_g of `count` (epsilon', delta')-DP mechanisms, over a grid of splits of delta.

    They are (epsilon_g, 1 - (1 - delta')^k (1 - delta_OPT(DP(epsilon')^k; epsilon_g)))-DP.
    """
    best = np.inf
    for share in (0.3, 0.6, 0.9, 0.99, 0.999):
        each = -np.expm1(np.log1p(-share * DELTA) / count)
        level = float(gaussian_epsilon(each, sigma, np.sqrt(COMPOSED_SIZE)))
        target = -np.expm1(np.log1p(-DELTA) - count * np.log1p(-each))  # what delta_OPT may be
        best = min(best, _least_level(level, count, target))
    return best


def _least_level(level: float, count: int, target: float) -> float:
    found = smallest_accepted(
        lambda epsilon: laplace_histogram_delta(epsilon, level, count) <= target,
        np.array(0.0),
        np.array(count * level * (1 + 2.0**-50)),
    )
    return float(found)


def _paint(rows: list[Row], across: str, epsilons: tuple[float, float], *panels: Any) -> None:
    for axes, epsilon in zip(panels, epsilons, strict=True):
        chosen = [row for row in rows if row["epsilon"] == epsilon]
        for column in [name for name in chosen[0] if name not in {"epsilon", across}]:
            axes.plot(
                [r[across] for r in chosen], [r[column] for r in chosen], marker=".", label=column.replace("_", " ")
            )
        axes.set(title=f"epsilon = {epsilon:g}, delta = {DELTA:g}", xlabel=across, ylabel="epsilon_g")
        axes.legend(fontsize="small")
