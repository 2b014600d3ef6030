"""Progress bars on standard error, shown on a terminal only and removed at the end."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

__all__ = ["progress_bar", "share_bar"]


@contextmanager
def progress_bar(title: str, total: int) -> Iterator[Callable[[str], None]]:
    """Show a count of steps; the yielded function takes the name of the step just finished."""
    columns = (
        TextColumn(title),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[at]}"),
    )
    with _bar(*columns) as bar:
        task = bar.add_task(title, total=total, at="")

        def advance(at: str) -> None:
            bar.update(task, advance=1, at=at)

        yield advance


@contextmanager
def share_bar(title: str) -> Iterator[Callable[[str, float], None]]:
    """Show a fraction between 0 and 1; the yielded function takes a description and the fraction done."""
    columns = (TextColumn(title), BarColumn(), TimeElapsedColumn(), TextColumn("{task.fields[at]}"))
    with _bar(*columns) as bar:
        task = bar.add_task(title, total=1.0, at="")

        def update(at: str, share: float) -> None:
            bar.update(task, completed=share, at=at)

        yield update


def _bar(*columns: TextColumn | BarColumn | MofNCompleteColumn | TimeElapsedColumn) -> Progress:
    console = Console(stderr=True)
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
