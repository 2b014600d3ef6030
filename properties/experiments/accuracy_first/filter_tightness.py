"""Tightness of the privacy filters: the exact worst delta of an adaptive adversary beside each claim."""

from pathlib import Path

from dpassay.properties.experiments.base import Progress, experiment
from dpassay.properties.experiments.output import table
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
    with table(path, *COLUMNS) as rows:
        for done, game in enumerate(games, start=1):
            rows.write(**game.row())
            progress(game.name, done / len(games))
    return [path]
