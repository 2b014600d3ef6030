"""The command ``dpassay assay``: check a library against the laws of mechanisms and accountants."""

import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpassay import completion
from dpassay.command_line import (
    EXPECTED,
    INTERRUPTED,
    UNEXPECTED,
    USAGE,
    json_option,
    print_records,
    print_table,
    seconds_of,
    seed_option,
)
from dpassay.properties.assay.kinds import FindingKind

if TYPE_CHECKING:
    from dpassay.impl.libraries.registry import Library
    from dpassay.properties.assay.assessment import Assessment
    from dpassay.properties.assay.suite import Plan

__all__ = ["assay"]


@click.command()
@click.argument("library", metavar="LIBRARY", required=False, shell_complete=completion.libraries)
@click.option(
    "--version",
    "versions",
    metavar="V",
    multiple=True,
    help="Release to assay; repeat the option to compare releases.",
)
@click.option("--python", metavar="PATH", help="Interpreter in which the library is installed, instead of --version.")
@click.option(
    "--mechanism", metavar="GLOB", default="*", help="Check only mechanisms and accountants whose name matches."
)
@click.option("--law", metavar="GLOB", default="*", help="Check only laws whose name matches.")
@click.option(
    "--alpha",
    type=float,
    default=1e-6,
    show_default=True,
    help="Bound on the probability of any false alarm in the run.",
)
@click.option(
    "--calls", type=click.IntRange(min=1), help="Maximum number of outcomes that a sampled law draws from a mechanism."
)
@click.option(
    "--budget", metavar="SECONDS", default="170s", show_default=True, help="Time limit; no new check starts after it."
)
@seed_option
@click.option(
    "--jobs", type=int, default=-1, show_default=True, help="Number of worker processes; -1 for one per core."
)
@json_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json", "github", "sarif", "junit", "markdown"]),
    default="table",
    show_default=True,
    help="Form of the report; json is --json.",
)
def assay(
    library: str | None,
    versions: tuple[str, ...],
    python: str | None,
    mechanism: str,
    law: str,
    alpha: float,
    calls: int | None,
    budget: str,
    seed: int,
    jobs: int,
    as_json: bool,
    form: str,
) -> int:
    """Assay a library: check its mechanisms and accountants against the laws that they must obey.

    LIBRARY is the name of a supported library or the file of an adapter; without LIBRARY the supported libraries are
    listed. A supported library is installed into a separate environment, by default in its newest release; the adapter
    in a file runs in this interpreter. Expected failures are read from expected_failures.toml beside the adapter.
    Ctrl-C stops the run and prints the results so far.
    """
    from dpassay.impl.libraries.registry import find_library, known_libraries

    if library is None:
        print_table([{"library": name} for name in known_libraries()], ("library",))
        return EXPECTED
    from dpassay.properties.assay.laws import LAWS
    from dpassay.properties.assay.suite import make_plan
    from dpassay.properties.assay.targets import targets_of

    seconds = seconds_of("--budget", budget)
    found = find_library(library)
    plans = [
        make_plan(target, LAWS, alpha=alpha, seed=seed, calls=calls, mechanism=mechanism, law=law)
        for target in targets_of(found, versions, python, _tell)
    ]
    form = _form_of(form, as_json=as_json)
    runs, times = [], []
    for plan in plans:
        start = time.monotonic()
        lines, interrupted = _run(plan, found, seconds, jobs, form)
        runs.append(lines)
        times.append(time.monotonic() - start)
        if interrupted:
            break
    _print_whole(runs, times, found, form)
    if interrupted:
        return INTERRUPTED
    _print_changes(runs, is_table=form == "table")
    return _status_of([line for lines in runs for line in lines])


def _form_of(form: str, *, as_json: bool) -> str:
    from dpassay.claims import UsageError

    if as_json and form not in {"table", "json"}:
        raise UsageError(f"--json and --format {form} contradict each other; give only one of them")
    return "json" if as_json else form


def _print_whole(
    runs: Sequence[Sequence["Assessment"]], times: Sequence[float], library: "Library", form: str
) -> None:
    """Print all runs in a form that holds them together."""
    from dpassay.properties.assay.formats import FORMATS, render

    for name in FORMATS:
        if name == form:
            click.echo(render(name, runs, _relative(library.adapter), times))


def _relative(path: Path) -> str:
    """Return a path relative to the current folder, if it lies there, with slashes."""
    here = Path.cwd()
    return (path.relative_to(here) if path.is_relative_to(here) else path).as_posix()


def _status_of(lines: Sequence["Assessment"]) -> int:
    """Return the exit status; an error in the adapter counts as wrong usage."""
    unexpected = [line for line in lines if not line.as_expected]
    if any(line.finding.kind is FindingKind.ERROR for line in unexpected):
        return USAGE
    return UNEXPECTED if unexpected else EXPECTED


def _tell(message: str) -> None:
    click.echo(f"dpassay: {message}", err=True)


def _run(plan: "Plan", library: "Library", seconds: float, jobs: int, form: str) -> tuple[list["Assessment"], bool]:
    """Run a plan, and print its findings as a table or JSON; also return whether the keyboard interrupted it."""
    from dpassay.properties.assay import table
    from dpassay.properties.assay.assessment import assess
    from dpassay.properties.assay.expected import load_expected
    from dpassay.properties.assay.suite import run_plan
    from dpassay.properties.progress import progress_bar

    entries = load_expected(library.expected_failures, plan.version)
    start = time.monotonic()
    results, interrupted = [], False
    try:
        with progress_bar(f"assaying {plan.library} {plan.version or ''}", len(plan.checks)) as advance:
            for result in run_plan(plan, budget=seconds, jobs=jobs):
                results.append(result)
                advance(f"{result.check.mechanism}: {result.check.law.name}")
    except KeyboardInterrupt:
        interrupted = True
        _tell("interrupted; the results so far follow")
    lines = assess(plan, results, entries)
    if form == "json":
        print_records(line.record() for line in lines)
    elif form == "table":
        print_table(table.rows(lines), table.COLUMNS)
        for text in table.calls(lines):
            click.echo(f"\n{text}")
    for loss in dict.fromkeys(loss for result in results for loss in result.losses):
        _tell(f"{loss}; the worker was restarted")
    click.echo(table.summary(lines, time.monotonic() - start), err=True)
    return lines, interrupted


def _print_changes(runs: Sequence[Sequence["Assessment"]], *, is_table: bool) -> None:
    """Print the changes from each version to the next; in short form on standard error, unless there are tables."""
    from dpassay.properties.assay import table
    from dpassay.properties.assay.versions import compare

    for before, after in pairwise(runs):
        changes = compare(before, after)
        title = f"from {before[0].library} {before[0].version} to {after[0].version}: {len(changes)} changes"
        if not is_table:
            click.echo(title, err=True)
            for change in changes:
                click.echo(f"  {change.mechanism}, {change.law}: {change.before} -> {change.after}", err=True)
        elif changes:
            print_table(table.change_rows(changes), table.CHANGE_COLUMNS, title=title)
        else:
            click.echo(title)
