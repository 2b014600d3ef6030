"""How tight the privacy filters are: for each the exact worst delta of an adaptive adversary, beside its claim."""

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
    """Exact worst-case delta of each privacy filter against its claim, by dynamic programming over lattices."""
    path = out / "filter-tightness.csv"
    games = list(filter_games())
    with table(path, *COLUMNS) as rows:
        for done, game in enumerate(games, start=1):
            rows.write(**game.row())
            progress(game.name, done / len(games))
    return [path]
