"""Tightness of the privacy filters: the exact worst delta of an adaptive adversary beside each claim."""

from pathlib import Path
from typing import Any

from dpassay.properties.experiments.base import Progress, experiment
from dpassay.properties.experiments.output import draw, table
from dpassay.properties.games.filter_tightness import filter_games

__all__ = ["COLUMNS", "run_filter_tightness"]

COLUMNS = (
    "filter", "setting", "rounds", "levels", "epsilon", "delta_claimed", "delta_worst_lower", "delta_worst_upper",
    "claimed_over_worst", "delta_gaussian",
)  # fmt: skip


@experiment("filter-tightness")
def run_filter_tightness(out: Path, *, seed: int, trials: int | None, progress: Progress) -> list[Path]:  # noqa: ARG001
    """Compare the exact worst-case delta of each privacy filter with its claim, by dynamic programming on lattices.

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
    path = out / "filter-tightness.csv"
    games = list(filter_games())
    found = []
    with table(path, *COLUMNS) as rows:
        for done, game in enumerate(games, start=1):
            row = game.row()
            rows.write(**row)
            found.append(row)
            progress(game.name, done / len(games))

    def paint(axes: Any) -> None:
        places = [len(found) - place for place in range(len(found))]
        for column, shift, label in (
            ("delta_claimed", 0.2, "claimed"),
            ("delta_worst_lower", -0.2, "worst adversary"),
        ):
            heights = [place + shift for place in places]
            axes.barh(heights, [row[column] for row in found], height=0.38, label=label)
        axes.set(xscale="log", xlabel="delta")
        axes.set_yticks(places, [f"{row['filter']}: {row['setting']}" for row in found], fontsize=5)
        axes.legend(fontsize="small", loc="lower right", bbox_to_anchor=(1, 1), ncols=2)

    return [path, *draw(out / "filter-tightness.png", 1, paint, progress)]
