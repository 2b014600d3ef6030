"""Progress bars on standard error, shown on a terminal only and removed at the end."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn

__all__ = ["progress_bar", "share_bar"]


@contextmanager
def progress_bar(title: str, total: int) -> Iterator[Callable[[str], None]]:
    """Show a count of steps; the yielded function takes the name of the step just finished."""
    if not _is_shown():
        yield lambda _: None
        return
    from rich.progress import MofNCompleteColumn

    with _bar(title, MofNCompleteColumn()) as bar:
        task = bar.add_task(title, total=total, at="")

        def advance(at: str) -> None:
            bar.update(task, advance=1, at=at)

        yield advance


@contextmanager
def share_bar(title: str) -> Iterator[Callable[[str, float], None]]:
    """Show a fraction between 0 and 1; the yielded function takes a description and the fraction done."""
    if not _is_shown():
        yield lambda *_: None
        return
    with _bar(title) as bar:
        task = bar.add_task(title, total=1.0, at="")

        def update(at: str, share: float) -> None:
            bar.update(task, completed=share, at=at)

        yield update


def _is_shown() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def _bar(title: str, *columns: "ProgressColumn") -> "Progress":
    from rich.console import Console  # takes a tenth of a second to import
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    every = (TextColumn(title), BarColumn(), *columns, TimeElapsedColumn(), TextColumn("{task.fields[at]}"))
    return Progress(*every, console=Console(stderr=True), transient=True)
