"""Progress bars on standard error: for a terminal only, and gone when the work is done."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

__all__ = ["progress_bar", "share_bar"]


@contextmanager
def progress_bar(title: str, total: int) -> Iterator[Callable[[str], None]]:
    """Count steps; the yielded function takes the name of the step that is done."""
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
    """Show a share between 0 and 1; the yielded function takes what is being done and how much of it is."""
    columns = (TextColumn(title), BarColumn(), TimeElapsedColumn(), TextColumn("{task.fields[at]}"))
    with _bar(*columns) as bar:
        task = bar.add_task(title, total=1.0, at="")

        def update(at: str, share: float) -> None:
            bar.update(task, completed=share, at=at)

        yield update


def _bar(*columns: TextColumn | BarColumn | MofNCompleteColumn | TimeElapsedColumn) -> Progress:
    console = Console(stderr=True)
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
