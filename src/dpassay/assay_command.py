"""The command ``dpassay assay``: check a library against the laws of mechanisms and accountants."""

import shlex
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpassay import completion
from dpassay.arguments import UsageError
from dpassay.command_line import (
    CALLS,
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
    from dpassay.properties.assay.suite import Plan, Target
    from dpassay.properties.contract import FunctionRecord

__all__ = ["assay"]

_LEAST_PART = 1 / 2
"""Part of the time of a profile that checks have, however long the plan took."""


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
@click.option("--calls", type=CALLS, help="Maximum number of outcomes that a sampled law draws from a mechanism.")
@click.option(
    "--profile",
    type=click.Choice(["quick", "thorough", "nightly"]),
    default="quick",
    show_default=True,
    help="Time of a whole run: two minutes, twenty minutes or eight hours; a selection has its part of it. On a "
    "slow machine quick takes three minutes at most.",
)
@click.option(
    "--budget", metavar="SECONDS", help="Time limit instead of that of the profile; no new check starts after it."
)
@click.option(
    "--resume",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Keep the results in a file, and continue the run whose results it has.",
)
@seed_option
@click.option(
    "--jobs", type=int, default=-1, show_default=True, help="Number of worker processes; -1 for one per core."
)
@click.option(
    "--backend",
    type=click.Choice(["loky", "dask", "ray"]),
    default="loky",
    show_default=True,
    help="Where the worker processes run: on this machine, or on a cluster.",
)
@click.option(
    "--coverage",
    is_flag=True,
    help="List the public functions of the library that concern privacy, and the cases that ask them.",
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
    profile: str,
    budget: str | None,
    resume: Path | None,
    seed: int,
    jobs: int,
    backend: str,
    coverage: bool,
    as_json: bool,
    form: str,
) -> int:
    """Assay a library: check its mechanisms and accountants against the laws that they must obey.

    Every law of every case is asked; the rest of the time of the profile goes to more calls and points, where a check
    gains most. Checks for which the time is too short are not run: the last lines count them. A run with --calls does
    not use the rest of the time, and is the same on every machine.

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
    from dpassay.properties.assay.suite import close_session, make_plan
    from dpassay.properties.assay.targets import targets_of

    click.get_current_context().call_on_close(close_session)
    seconds = None if budget is None else seconds_of("--budget", budget)
    found = find_library(library)
    if coverage:
        _print_coverage(found, list(targets_of(found, versions, python, _tell)), as_json=as_json)
        return EXPECTED
    plans, planned = [], []
    for target in targets_of(found, versions, python, _tell):
        start = time.monotonic()
        plans.append(
            make_plan(
                target, LAWS, alpha=alpha, seed=seed, calls=calls, mechanism=mechanism, law=law, keeps_session=True
            )
        )
        planned.append(time.monotonic() - start)
    if resume is not None and len(plans) > 1:
        raise UsageError("--resume keeps one run; give one --version with it")
    form = _form_of(form, as_json=as_json)
    runs, times = [], []
    for plan, spent in zip(plans, planned, strict=True):
        start = time.monotonic() - spent
        options = {**_time_limits(plan, profile, seconds, spent), "jobs": jobs, "backend": backend}
        asking = _asking(library, mechanism, law, profile)
        lines, interrupted = _run(plan, found, options, resume, form, asking, start)
        runs.append(lines)
        times.append(time.monotonic() - start)
        if interrupted:
            break
    _print_whole(runs, times, found, form)
    if interrupted:
        return INTERRUPTED
    _print_changes(runs, is_table=form == "table")
    return max(map(_status_of, runs))


def _print_coverage(library: "Library", targets: Sequence["Target"], *, as_json: bool) -> None:
    """Print which public functions of a library are asked."""
    from dpassay.properties.assay.coverage import coverage, summary

    for target in targets:
        records, missing = coverage(target, library.modules)
        if as_json:
            print_records(records)
        else:
            print_table([_coverage_row(record) for record in records], ("function", "kind", "cases", "such_as"))
        for module in missing:
            _tell(f"a module cannot be imported: {module}")
        if records:
            click.echo(summary(records), err=True)


def _coverage_row(record: "FunctionRecord") -> dict[str, Any]:
    return {
        "function": record.function,
        "kind": record.kind,
        "cases": len(record.cases),
        "such_as": next(iter(record.cases), None),
    }


def _time_limits(plan: "Plan", profile: str, seconds: float | None, spent: float) -> dict[str, Any]:
    """Return the time limits of a run; a limit that the user gave is not exceeded.

    Parameters
    ----------
    plan : Plan
        The plan.
    profile : str
        The profile.
    seconds : float or None
        The limit that the user gave.
    spent : float
        Seconds that the plan took, which belong to the time of the profile.
    """
    from dpassay.properties.assay.profiles import PROFILES
    from dpassay.properties.assay.suite import time_of

    if seconds is not None:
        return {"budget": seconds}
    chosen = PROFILES[profile]
    left = max(chosen.seconds - spent, _LEAST_PART * chosen.seconds)
    part = time_of(plan, left)
    if part == 0:  # no law applies to what is selected: nothing takes time
        return {"budget": left}
    return {"budget": part, "overrun": (left + (chosen.overrun - 1) * chosen.seconds) / part}


def _asking(library: str, mechanism: str, law: str, profile: str) -> str:
    """Return the command that runs what a run had no time for: the same selection with the next longer profile."""
    from dpassay.properties.assay.profiles import PROFILES

    names = list(PROFILES)
    longer = names[min(names.index(profile) + 1, len(names) - 1)]
    selection = [("--mechanism", mechanism), ("--law", law)]
    options = [word for name, glob in selection if glob != "*" for word in (name, glob)]
    return shlex.join(["dpassay", "assay", library, *options, "--profile", longer])


def _form_of(form: str, *, as_json: bool) -> str:
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
    """Return the exit status of a run of one version.

    An error in the adapter counts as wrong usage. A run fails if it ran nothing, or if nothing applied.
    """
    unexpected = [line for line in lines if not line.as_expected]
    if {line.finding.kind for line in lines} <= {FindingKind.NOT_APPLICABLE, FindingKind.NOT_RUN}:
        return UNEXPECTED
    if any(line.finding.kind is FindingKind.ERROR for line in unexpected):
        return USAGE
    return UNEXPECTED if unexpected else EXPECTED


def _tell(message: str) -> None:
    click.echo(f"dpassay: {message}", err=True)


def _run(
    plan: "Plan",
    library: "Library",
    options: dict[str, Any],
    resume: Path | None,
    form: str,
    asking: str,
    start: float,
) -> tuple[list["Assessment"], bool]:
    """Run a plan, and print its findings as a table or JSON; also return whether the keyboard interrupted it.

    Parameters
    ----------
    plan : Plan
        The plan.
    library : Library
        The library.
    options : dict
        Of `run_plan`.
    resume : Path or None
        The file of the journal.
    form : str
        Form of the report.
    asking : str
        The command that runs what this run has no time for.
    start : float
        When the run began, on the clock of `time.monotonic`.
    """
    from dpassay.properties.assay import table
    from dpassay.properties.assay.assessment import assess, not_found
    from dpassay.properties.assay.expected import load_expected
    from dpassay.properties.assay.journal import Journal
    from dpassay.properties.assay.own_calls import with_own_calls
    from dpassay.properties.assay.suite import run_plan
    from dpassay.properties.progress import progress_bar

    entries = load_expected(library.expected_failures, plan.version)
    results, interrupted = [], False
    options |= {
        "wanted": lambda results: not_found(plan, results, entries),
        "journal": None if resume is None else Journal(resume, plan),
    }
    try:
        with progress_bar(f"assaying {plan.library} {plan.version or ''}", len(plan.checks)) as advance:
            for result in run_plan(plan, **options):
                results.append(result)
                advance(f"{result.check.mechanism}: {result.check.law.name}")
    except KeyboardInterrupt:
        interrupted = True
        _tell("interrupted; the results so far follow")
    lines = with_own_calls(plan.target, assess(plan, results, entries))
    if form == "json":
        print_records(line.record() for line in lines)
    elif form == "table":
        print_table(table.rows(lines), table.COLUMNS)
        for text in table.shown_witnesses(lines):
            click.echo(f"\n{text}")
    if (unasked := table.unasked(lines, asking)) is not None:
        _tell(unasked)
    if all(line.finding.kind is FindingKind.NOT_APPLICABLE for line in lines):
        _tell("no law applies to what was selected, so that nothing was decided")
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
