"""The mixed adaptive bound against the optimal composition of pure mechanisms: Cesar and Rogers 2020, Fig 1."""

from pathlib import Path
from typing import Any

from dpassay.impl.accounting.histograms import laplace_histogram_epsilon
from dpassay.impl.accounting.setwise import LossProxy, bounded_range_proxy, pure_proxy, setwise_epsilon
from dpassay.properties.experiments.base import Progress, experiment
from dpassay.properties.experiments.output import draw, table

__all__ = ["mixed_rows", "setwise_figure"]

Row = dict[str, Any]

DELTA = 1e-6
PANELS = ((20, 0.1), (50, 0.1), (100, 0.1), (20, 0.5), (100, 0.01), (50, 1.0))
COLUMNS = ("mechanisms", "epsilon", "pure", "mixed_bound", "sharper_bound", "basic", "optimal_pure")


@experiment("setwise-figure", ("cesar2020", "fig1_mixed_advanced_bound"))
def setwise_figure(
    out: Path,
    *,
    seed: int,  # noqa: ARG001  # nothing is random
    trials: int | None,  # noqa: ARG001
    progress: Progress,
) -> list[Path]:
    """Compare epsilon of set-wise adaptive composition of m pure and k - m bounded-range mechanisms with k pure ones.

    The figure's k, epsilon and delta are lost; delta is 10^-6 here, and k and epsilon are in the table. Beside eq (3)
    stands the bound with the smaller variance proxies 2 epsilon tanh(epsilon/2) and 2 kappa(epsilon), and basic
    composition, k epsilon, which an accountant takes where it is less.

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
    rows = [row for count, epsilon in PANELS for row in mixed_rows(count, epsilon)]
    path = out / "setwise_mixed_bound.csv"
    with table(path, *COLUMNS) as lines:
        for row in rows:
            lines.write(**row)
    progress("set-wise: bounds", 0.5)

    def paint(*panels: Any) -> None:
        for axes, (count, epsilon) in zip(panels, ((50, 0.1), (50, 1.0)), strict=True):
            chosen = [row for row in rows if (row["mechanisms"], row["epsilon"]) == (count, epsilon)]
            pure = [row["pure"] for row in chosen]
            for column in ("mixed_bound", "sharper_bound", "optimal_pure"):
                axes.plot(pure, [row[column] for row in chosen], marker=".", label=column.replace("_", " "))
            axes.set(title=f"k = {count}, epsilon = {epsilon:g}", xlabel="pure mechanisms m", ylabel="epsilon_g")
            axes.legend(fontsize="small")

    return [path, *draw(out / "setwise_mixed_bound.png", 2, paint, progress)]


def mixed_rows(count: int, epsilon: float) -> list[Row]:
    """Return the bounds for m = 0, k/4, ..., k pure mechanisms among k."""
    optimal = float(laplace_histogram_epsilon(DELTA, epsilon, count))
    return [
        {
            "mechanisms": count,
            "epsilon": epsilon,
            "pure": pure,
            "mixed_bound": setwise_epsilon(_registered(count, pure, epsilon, sharp=False), DELTA).epsilon,
            "sharper_bound": setwise_epsilon(_registered(count, pure, epsilon, sharp=True), DELTA).epsilon,
            "basic": count * epsilon,
            "optimal_pure": optimal,
        }
        for pure in sorted({count * quarter // 4 for quarter in range(5)})
    ]


def _registered(count: int, pure: int, epsilon: float, *, sharp: bool) -> list[LossProxy]:
    return [pure_proxy(epsilon, sharp=sharp)] * pure + [bounded_range_proxy(epsilon, sharp=sharp)] * (count - pure)
