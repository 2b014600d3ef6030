"""Accounts of target charging compared with the optimal adaptive analyst."""

import itertools
from functools import partial
from pathlib import Path
from typing import Any

from dpassay.properties.experiments.base import Progress, experiment
from dpassay.properties.experiments.output import draw, table
from dpassay.properties.games.target_charging import compared_accounts

__all__ = ["target_charging_accounts"]

Row = dict[str, Any]

HITS = (1, 2, 5, 10, 20, 50, 100, 200)
EPSILONS = (0.1, 0.5, 1.0)
DELTA = 1e-6
COLUMNS = (
    "hits", "epsilon", "delta", "account", "calls", "total_epsilon", "adversary_lower", "adversary_upper", "tightness",
)  # fmt: skip


@experiment("target-charging-accounts", ("cohen2023", "tct_privacy"), ("cohen2023", "target_charging"))
def target_charging_accounts(out: Path, *, seed: int, trials: int | None, progress: Progress) -> list[Path]:  # noqa: ARG001  # nothing is random
    """Compare every account of target charging with the exact game, for several numbers of hits and epsilons.

    Corrected Thm B.4 of Cohen and Lyu 2023, its form with the raw Chernoff bound, and the exact account, at
    delta = 1e-6 and NotPrior targets; the adversary is optimal and adaptive, over any number of calls.

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
    path, rows = out / "target_charging_accounts.csv", list[Row]()
    points = list(itertools.product(EPSILONS, HITS))
    with table(path, *COLUMNS) as lines:
        for done, (epsilon, hits) in enumerate(points, 1):
            for row in compared_accounts(hits, epsilon, DELTA):
                lines.write(**row)
                rows.append(row)
            progress(f"target charging: {hits} hits at epsilon {epsilon:g}", done / len(points))
    return [path, *draw(out / "target_charging_accounts.png", len(EPSILONS), partial(_paint, rows), progress)]


def _paint(rows: list[Row], *panels: Any) -> None:
    for axes, epsilon in zip(panels, EPSILONS, strict=True):
        here = [row for row in rows if row["epsilon"] == epsilon]
        for account in dict.fromkeys(row["account"] for row in here):
            points = [row for row in here if row["account"] == account]
            axes.plot([p["hits"] for p in points], [p["tightness"] for p in points], "o-", label=account, markersize=3)
        axes.set(xscale="log", xlabel="hits", ylabel="epsilon of the account / of the adversary")
        axes.set_title(f"calls of epsilon = {epsilon:g}")
        axes.legend(fontsize="small")
