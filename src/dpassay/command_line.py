"""Helpers of all commands: options, exit statuses, time limits, records and tables."""

import io
import json
import math
import stat
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from dpassay.arguments import MOST_CALLS, MOST_SECONDS, UsageError

__all__ = [
    "CALLS",
    "EXPECTED",
    "INTERNAL_ERROR",
    "INTERRUPTED",
    "PIPE_CLOSED",
    "UNEXPECTED",
    "USAGE",
    "json_option",
    "print_records",
    "print_table",
    "require_plots",
    "require_writable",
    "seconds_of",
    "seed_option",
    "use_any_encoding",
]

EXPECTED, UNEXPECTED, USAGE, INTERNAL_ERROR = 0, 1, 2, 3
INTERRUPTED, PIPE_CLOSED = 130, 141  # the shell's conventions


class _Calls(click.IntRange):
    """A number of calls, also written as 1e5."""

    name = "number of calls"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read an integer, or a float that is one."""
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        is_whole = abs(number) < 2**53 and number == int(number)
        return super().convert(int(number) if is_whole else value, param, ctx)


CALLS = _Calls(min=1, max=MOST_CALLS)

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object per line on standard output."
)
seed_option = click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of all random choices."
)


def seconds_of(option: str, text: str) -> float:
    """Read a time such as 30s, 5m or 1h, raising `UsageError` if it is invalid."""
    units = {"s": 1.0, "m": 60.0, "h": 3600.0}
    number, unit = (text[:-1], units[text[-1]]) if text and text[-1] in units else (text, 1.0)
    try:
        seconds = float(number) * unit
    except ValueError:
        seconds = math.nan
    if not 0 < seconds <= MOST_SECONDS:
        raise UsageError(f"{option} {text!r} is not a time such as 30s, 5m or 1h of at most {MOST_SECONDS:g} seconds")
    return seconds


def require_writable(option: str, output: Path) -> None:
    """Raise `UsageError` unless a file can be written; asked before the run, which may take minutes."""
    try:
        if output.exists() and not stat.S_ISREG(output.stat().st_mode) and not output.is_dir():
            return  # a pipe or a device: opening it may block until it has a reader
        is_new = not output.exists()
        with output.open("ab"):
            pass
        if is_new:
            output.unlink()
    except OSError as error:
        raise UsageError(
            f"{option} {str(output)!r} cannot be written ({error.strerror}); expected a file in an existing folder"
        ) from None


def require_plots(path: Path) -> None:
    """Raise `UsageError` unless pictures can be drawn, and in the format that the name of a file asks for."""
    from dpassay.properties.experiments.output import NO_FIGURES, can_draw

    if not can_draw():
        raise UsageError(f"--plot: {NO_FIGURES}")
    from matplotlib.backend_bases import FigureCanvasBase

    accepted = sorted(f".{name}" for name in FigureCanvasBase.get_supported_filetypes())
    if path.suffix.lower() not in accepted:
        raise UsageError(f"--plot must be a file that ends in one of {', '.join(accepted)}, got {str(path)!r}")


def use_any_encoding() -> None:
    """Make standard output and error escape characters that their encoding lacks, instead of raising."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and not _is_unicode(stream):
            stream.reconfigure(errors="backslashreplace")


def _is_unicode(stream: Any) -> bool:
    return (getattr(stream, "encoding", None) or "").lower().replace("-", "").startswith("utf")


def print_records(records: Iterable[msgspec.Struct]) -> None:
    """Print one JSON object per line on standard output."""
    for record in records:
        line = json.dumps(msgspec.to_builtins(record), ensure_ascii=not _is_unicode(sys.stdout), allow_nan=False)
        click.echo(line)


def print_table(records: Sequence[dict[str, Any]], columns: Sequence[str], title: str | None = None) -> None:
    """Print a table on standard output.

    A pipe or a file receives one line for each record, however long, padded in narrow columns only. A terminal
    receives a table whose cells break between words; where one that is too narrow would break names, it receives a
    block for each record.
    """
    from rich.console import Console

    console = Console()
    rows = [[_cell(record.get(column)) for column in columns] for record in records]
    headings = [column.replace("_", " ") for column in columns]
    if not console.is_terminal:
        _print_as_lines(console, headings, [[" ".join(cell.split()) for cell in row] for row in rows], title)
    elif _width([headings, *rows]) <= console.width:
        _print_as_table(console, headings, rows, title)
    else:
        _print_as_blocks(console, headings, rows, title)


_WIDEST_PADDED = 40
"""Cells of a pipe are padded up to this width; a longer cell moves the rest of its line."""


def _width(rows: Sequence[Sequence[str]]) -> int:
    """Return the width of a table whose columns are as wide as the longest word of a cell."""
    from rich.cells import cell_len

    columns = zip(*rows, strict=True)
    return sum(max((cell_len(word) for cell in column for word in cell.split()), default=0) + 2 for column in columns)


def _print_as_lines(console: Any, headings: Sequence[str], rows: Sequence[Sequence[str]], title: str | None) -> None:
    from rich.cells import cell_len
    from rich.text import Text

    lines = [headings, *rows]
    widths = [min(max(map(cell_len, column)), _WIDEST_PADDED) for column in zip(*lines, strict=True)]
    if title is not None:
        console.print(Text(title), soft_wrap=True)
    for line in lines:
        padded = (cell + " " * (width - cell_len(cell)) for cell, width in zip(line, widths, strict=True))
        console.print(Text("  ".join(padded).rstrip()), soft_wrap=True)


def _print_as_table(console: Any, headings: Sequence[str], rows: Sequence[Sequence[str]], title: str | None) -> None:
    from rich.table import Table
    from rich.text import Text  # Text, not markup: brackets denote intervals

    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for place, heading in enumerate(headings):
        longest = max((len(word) for row in [headings, *rows] for word in row[place].split()), default=1)
        table.add_column(heading, overflow="fold", min_width=longest)
    for row in rows:
        table.add_row(*map(Text, row))
    console.print(table)


def _print_as_blocks(console: Any, headings: Sequence[str], rows: Sequence[Sequence[str]], title: str | None) -> None:
    """Print the first cell of each row on a line, and the others below it with their headings."""
    from rich.padding import Padding
    from rich.text import Text

    if title is not None:
        console.print(Text(title, "bold"))
    for name, *others in rows:
        console.print(Text(name, "bold"), soft_wrap=True)
        known = zip(headings[1:], others, strict=True)
        words = [f"{heading} {' '.join(cell.split())}" for heading, cell in known if cell != "-"]
        console.print(Padding(Text("; ".join(words)), (0, 0, 0, 2)))


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list):
        return "\n".join(map(str, value)) or "-"
    return str(value)
