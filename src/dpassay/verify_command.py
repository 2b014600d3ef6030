"""The command ``dpassay verify``, and the selection and verification of statements that the report also uses."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, TypeVar

import click

from dpassay import completion
from dpassay.arguments import UsageError
from dpassay.command_line import (
    EXPECTED,
    INTERRUPTED,
    UNEXPECTED,
    json_option,
    print_records,
    print_table,
    seed_option,
)
from dpassay.registry import similar_words

if TYPE_CHECKING:
    from dpassay.properties.verify import ErratumReport, Profile, StatementReport
    from dpassay.spec.statement import Severity, Statement

__all__ = [
    "erratum_reports",
    "jobs_option",
    "module_option",
    "modules_argument",
    "name_option",
    "profile_option",
    "require_source",
    "select",
    "source_option",
    "statement_reports",
    "statements_of",
    "verify",
]

R = TypeVar("R", "StatementReport", "ErratumReport")

modules_argument = click.argument("modules", nargs=-1, metavar="[MODULE | FILE.py]...")
module_option = click.option(
    "--module",
    "modules",
    metavar="MODULE",
    multiple=True,
    help="Module, package or .py file with statements of your own; may be repeated.",
)
source_option = click.option(
    "--source",
    metavar="KEY",
    shell_complete=completion.sources,
    help="Only the document with this key, such as lebensold2024.",
)
name_option = click.option(
    "--name",
    "pattern",
    metavar="GLOB",
    default="*",
    shell_complete=completion.statements,
    help="Only statements whose name matches.",
)
profile_option = click.option(
    "--profile",
    type=click.Choice(["quick", "thorough"]),
    default="quick",
    show_default=True,
    help="Number of cases per statement.",
)
jobs_option = click.option(
    "--jobs", type=int, default=-1, show_default=True, help="Number of worker processes; -1 for one per core."
)


@click.command()
@modules_argument
@source_option
@name_option
@click.option("--errata", is_flag=True, help="Evaluate the published claims instead, and their corrections.")
@profile_option
@seed_option
@jobs_option
@json_option
def verify(
    modules: tuple[str, ...],
    source: str | None,
    pattern: str,
    errata: bool,
    profile: str,
    seed: int,
    jobs: int,
    as_json: bool,
) -> int:
    """Verify statements in their corrected form, or evaluate the errata of the documents.

    MODULES are modules, packages or .py files with statements of your own; their code is run. Without any, the
    statements of dpassay are verified.

    The scope of a verdict is `all` parameters, a `box` of parameters, or the `points` that were decided. Decided
    points are not a proof. Proof steps that are not machine-checked (prose steps) are counted beside the scope.
    """
    statements = select(source, pattern, modules)
    if errata:
        return _print_errata(erratum_reports(statements), as_json)
    return _print_statements(statement_reports(statements, profile, seed, jobs, modules), as_json)


def require_source(source: str | None, statements: Iterable["Statement"] = ()) -> None:
    """Raise `UsageError` unless it is the key of a document, also of one that `statements` cite, or None."""
    from dpassay.spec.sources import SOURCES

    known = set(SOURCES).union(*map(_sources, statements))
    if source is not None and source not in known:
        raise UsageError(f"--source {source!r} is not one of {', '.join(sorted(known))}{similar_words(source, known)}")


def statements_of(modules: Sequence[str]) -> tuple["Statement", ...]:
    """Return the statements of modules of others, without repetition; those of dpassay if there are none."""
    from dpassay.spec.statement import all_statements, load_statements

    if not modules:
        return all_statements()
    return tuple({one.name: one for place in modules for one in load_statements(place)}.values())


def select(source: str | None, pattern: str, modules: Sequence[str] = ()) -> list["Statement"]:
    """Return the statements of a document (of all, if None) whose name matches, raising `UsageError` if none does."""
    statements = statements_of(modules)
    require_source(source, statements)
    chosen = [
        statement
        for statement in statements
        if fnmatchcase(statement.name, pattern) and (source is None or source in _sources(statement))
    ]
    if not chosen:
        of = f" of {source}" if source else ""
        raise UsageError(f"no statement{of} matches --name {pattern!r}; `dpassay list` prints all names")
    return chosen


def _sources(statement: "Statement") -> set[str]:
    return {statement.source.key, *(row.source for row in statement.also)}


def statement_reports(
    statements: Sequence["Statement"], profile: str, seed: int, jobs: int, modules: tuple[str, ...] = ()
) -> Iterator["StatementReport"]:
    """Verify statements, in their order, with a progress bar; options are checked before the run.

    Parameters
    ----------
    statements : sequence of Statement
        The statements.
    profile : {"quick", "thorough"}
        Number of cases for each statement.
    seed : int
        Seed of the cases.
    jobs : int
        Number of worker processes, -1 for one per core.
    modules : tuple of str
        Places of statements of the user, which workers import.
    """
    from dpassay.properties.verify import verify as run

    if jobs == 0:
        raise UsageError("--jobs must not be 0; -1 means one per core")
    chosen: Profile = "thorough" if profile == "thorough" else "quick"
    reports = run(statements, chosen, seed, jobs=jobs, places=modules)
    return _watched("statements", reports, len(statements))


def erratum_reports(statements: Sequence["Statement"]) -> Iterator["ErratumReport"]:
    """Evaluate the errata of statements, in their order, with a progress bar."""
    from dpassay.properties.verify import verify_errata
    from dpassay.spec.statement import faults

    return _watched("errata", verify_errata(statements), len(faults(statements)))


def _watched(what: str, reports: Iterable[R], count: int) -> Iterator[R]:
    from dpassay.properties.progress import progress_bar

    with progress_bar(f"verifying {what}", count) as advance:
        for report in reports:
            advance(report.statement.name)
            yield report


def _print_statements(reports: Iterator["StatementReport"], as_json: bool) -> int:
    columns = ("statement", "item", "verdict", "evidence", "scope", "cases", "tightness", "seconds")
    printed, interrupted = _print("statements", reports, columns, as_json, _statement_cells)
    unexpected = _unexpected(printed)
    for report in unexpected:
        click.echo(f"{report.outcome}: {report.statement.name}: {report.detail}", err=True)
        if report.witness:
            click.echo(f"  at {json.dumps(report.record().witness, ensure_ascii=False)}", err=True)
    return UNEXPECTED if unexpected else INTERRUPTED if interrupted else EXPECTED


def _statement_cells(report: "StatementReport") -> dict[str, Any]:
    return {"scope": report.reach, "evidence": ", ".join(filter(None, (report.evidence, report.allowance)))}


def _print_errata(reports: Iterator["ErratumReport"], as_json: bool) -> int:
    from dpassay.properties.contract import as_dictionary

    columns = ("item", "severity", "class", "location", "printed", "corrected", "evidence", "text", "detail")
    printed, interrupted = _print("errata", reports, ("erratum_of", *columns), as_json, lambda _: {})
    click.echo(_severities(report.erratum.severity for report in printed), err=True)
    unexpected = _unexpected(printed)
    for report in unexpected:
        click.echo(f"not as expected: {report.statement.name}: {as_dictionary(report.record())}", err=True)
    return UNEXPECTED if unexpected else INTERRUPTED if interrupted else EXPECTED


def _severities(found: Iterable["Severity"]) -> str:
    """Return the count of each severity as text; only errors and minor slips count as errata."""
    from dpassay.spec.statement import Severity

    counts = Counter(found)
    errata = ", ".join(f"{severity} {counts[severity]}" for severity in Severity if severity.counts)
    others = ", ".join(f"{severity} {counts[severity]}" for severity in Severity if not severity.counts)
    return f"errata: {errata}; not counted as errata: {others}"


def _print(
    what: str, reports: Iterator[R], columns: Sequence[str], as_json: bool, cells: Callable[[R], dict[str, Any]]
) -> tuple[list[R], bool]:
    """Print reports, one by one or as a table, and their count; return them, and whether Ctrl-C ended them early.

    Parameters
    ----------
    what : str
        Noun for the reports, plural.
    reports : iterator of reports
        Printed one by one with `as_json`, as one table otherwise.
    columns : sequence of str
        Fields of the table.
    as_json : bool
        Print records.
    cells : callable
        Cells of the table that differ from the fields of the record.
    """
    from dpassay.properties.contract import as_dictionary

    collected, interrupted = [], False
    try:
        for report in reports:
            collected.append(report)
            if as_json:
                print_records([report.record()])
    except KeyboardInterrupt:
        interrupted = True
    if not as_json:
        print_table([as_dictionary(report.record()) | cells(report) for report in collected], columns)
    expected = len(collected) - len(_unexpected(collected))
    early = "interrupted: the results until then; " if interrupted else ""
    click.echo(f"{early}{expected} of {len(collected)} {what} as expected", err=True)
    return collected, interrupted


def _unexpected(reports: Sequence[R]) -> list[R]:
    return [report for report in reports if not report.as_expected]
