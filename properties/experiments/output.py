"""Output of experiments: tables row by row, and figures if matplotlib is installed."""

import csv
import importlib.util
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from dpassay.arguments import UsageError
from dpassay.properties.experiments.base import Progress

__all__ = ["NO_FIGURES", "Table", "can_draw", "draw", "mean_and_error", "repetitions", "table"]

NO_FIGURES = "matplotlib is not installed, tables only: pip install 'dpassay[report]' draws the figures"
DOTS_PER_INCH = 110

Cell = int | float | str


class Table:
    """A CSV file that is being written; each row is flushed to disk.

    Parameters
    ----------
    columns : tuple of str
        Names of the columns.
    lines : text file
        Where the rows go.
    """

    def __init__(self, columns: tuple[str, ...], lines: Any) -> None:
        self.columns = columns
        self._lines = lines
        self._writer = csv.writer(lines, lineterminator="\n")
        self._put(columns)

    def write(self, **row: Cell) -> None:
        """Append one row, given by the names of all columns; floats are written without loss."""
        if set(row) != set(self.columns):
            raise ValueError(f"a row needs the columns {self.columns}, got {tuple(row)}")
        self._put(tuple(_plain(row[column]) for column in self.columns))

    def _put(self, cells: tuple[Cell, ...]) -> None:
        self._writer.writerow(cells)
        self._lines.flush()


def _plain(cell: Cell) -> Cell:
    """Strip numpy's types, whose repr is not a number."""
    return cell.item() if isinstance(cell, np.generic) else cell


@contextmanager
def table(path: Path, *columns: str) -> Iterator[Table]:
    """Open a CSV file for rows with these columns; written rows survive an error."""
    with path.open("w", encoding="utf-8", newline="") as lines:
        yield Table(columns, lines)


def can_draw() -> bool:
    """Return whether matplotlib is installed."""
    return importlib.util.find_spec("matplotlib") is not None


def draw(path: Path, panels: int, paint: Callable[..., None], progress: Progress, share: float = 1.0) -> list[Path]:
    """Draw `panels` axes side by side and save them as `path`.

    Parameters
    ----------
    path : Path
        Where the PNG goes.
    panels : int
        Number of axes.
    paint : callable
        Called with the axes.
    progress : callable
        Told when there can be no figure.
    share : float
        Share of the experiment that is done by then.

    Returns
    -------
    list of Path
        The file, or nothing where matplotlib is not installed.
    """
    if not can_draw():
        progress(NO_FIGURES, share)
        return []
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # not pyplot: no global state, no display
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.6 * panels, 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(1, panels, squeeze=False)[0]
    paint(*axes)
    figure.savefig(path, dpi=DOTS_PER_INCH, metadata={"Software": None})
    return [path]


def mean_and_error(values: Any) -> tuple[float, float]:
    """Return the mean and its standard error (NaN for a single value)."""
    sample = np.asarray(values, dtype=np.float64)
    error = float(sample.std(ddof=1)) / len(sample) ** 0.5 if len(sample) > 1 else float("nan")
    return float(sample.mean()), error


def repetitions(trials: int | None, default: int) -> int:
    """Return the number of repetitions: `trials` if it is given, else that of the paper.

    Raises
    ------
    UsageError
        If `trials` is below 1.
    """
    if trials is not None and trials < 1:
        raise UsageError(f"trials must be at least 1, got {trials!r}")
    return default if trials is None else trials
