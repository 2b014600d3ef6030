"""The command ``dpassay report``: a verification run, or the saved output of other commands, as one HTML file."""

import importlib.util
import platform
import shlex
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

import dpassay
from dpassay.arguments import UsageError
from dpassay.command_line import (
    EXPECTED,
    INTERRUPTED,
    UNEXPECTED,
    json_option,
    print_records,
    require_writable,
    seed_option,
)
from dpassay.verify_command import (
    erratum_reports,
    jobs_option,
    module_option,
    name_option,
    profile_option,
    select,
    source_option,
    statement_reports,
    statements_of,
)

if TYPE_CHECKING:
    from dpassay.properties.contract import Record
    from dpassay.properties.report.results import Results
    from dpassay.properties.verify import StatementReport
    from dpassay.spec.statement import Statement

__all__ = ["report"]

LIBRARIES = ("hypothesis", "mpmath", "numpy", "python-flint", "scipy", "sympy")
"""Packages whose versions the page states, because the verdicts depend on them."""

OF_A_RUN = {
    "modules": "--module",
    "source": "--source",
    "pattern": "--name",
    "profile": "--profile",
    "seed": "--seed",
    "jobs": "--jobs",
}


@click.command()
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    default=Path("report.html"),
    show_default=True,
    help="File to write.",
)
@click.option(
    "--from",
    "saved",
    metavar="FILE",
    type=click.Path(path_type=Path),
    multiple=True,
    help="Saved --json output of verify, list, show, hunt or assay, shown instead of a new run; repeat the option for "
    "several files.",
)
@module_option
@source_option
@name_option
@profile_option
@seed_option
@jobs_option
@json_option
@click.pass_context
def report(
    context: click.Context,
    output: Path,
    saved: tuple[Path, ...],
    modules: tuple[str, ...],
    source: str | None,
    pattern: str,
    profile: str,
    seed: int,
    jobs: int,
    as_json: bool,
) -> int:
    """Write one self-contained HTML report.

    Verifies statements and errata and lists items and mechanisms; unexpected results come first. With --from the page
    shows the saved output of other commands. Ctrl-C stops the run and writes the results so far.
    """
    given = [
        option
        for name, option in OF_A_RUN.items()
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    ]
    _check(output, saved, given)
    began, start = datetime.now(UTC), time.monotonic()
    words = ["dpassay", "report", "--output", str(output)]
    if saved:
        results = _read(saved)
        require_writable("--output", output)
        facts = [("Input files", ", ".join(map(str, saved)))]
        words += [word for path in saved for word in ("--from", str(path))]
    else:
        statements = select(source, pattern, modules)
        require_writable("--output", output)
        reports = statement_reports(statements, profile, seed, jobs, modules)
        results = _run(statements, reports, _listed(modules, source))
        facts = [("Profile", profile), ("Seed", str(seed)), *_versions()]
        words += [word for module in modules for word in ("--module", module)]
        words += [] if source is None else ["--source", source]
        words += [] if pattern == "*" else ["--name", pattern]
        words += ["--profile", profile, "--seed", str(seed)]
    facts += [
        ("Started", began.isoformat(sep=" ", timespec="seconds")),
        ("Duration", f"{time.monotonic() - start:.1f} s"),
    ]
    _write(output, results, facts, shlex.join(words))
    _print(output, results, as_json=as_json)
    if results.interrupted:
        return INTERRUPTED
    return EXPECTED if results.as_expected else UNEXPECTED


def _check(output: Path, saved: Sequence[Path], of_a_run: Sequence[str]) -> None:
    """Raise `UsageError` for incompatible options, or if the page cannot be written."""
    if importlib.util.find_spec("jinja2") is None:
        raise UsageError("the report needs jinja2, which is not installed: pip install 'dpassay[report]'")
    if saved and of_a_run:
        raise UsageError(f"--from shows saved results and runs nothing; omit {', '.join(of_a_run)}")
    if output.resolve() in {path.resolve() for path in saved}:
        raise UsageError(f"--output {output} would overwrite a file that --from reads")


def _read(saved: Sequence[Path]) -> "Results":
    from dpassay.properties.report.lines import read_lines
    from dpassay.properties.report.results import Results

    results = Results()
    for path in saved:
        results.add(read_lines(path))
    return results


def _listed(modules: Sequence[str], source: str | None) -> Iterator["Record"]:
    """Yield the items and, without modules of others, of the mechanisms."""
    from dpassay.properties.coverage import coverage, coverage_by
    from dpassay.properties.mechanisms import mechanism_records

    if modules:
        yield from (item.record() for item in coverage_by(statements_of(modules), source))
        return
    yield from (item.record() for item in coverage(source))
    yield from mechanism_records(source)


def _run(
    statements: Sequence["Statement"], verified: Iterator["StatementReport"], listed: Iterator["Record"]
) -> "Results":
    from dpassay.properties.report.results import Results

    results = Results()
    try:
        results.add(listed)
        for erratum in erratum_reports(statements):
            results.add([erratum.record()])
        for statement in verified:
            results.add([statement.record()])
    except KeyboardInterrupt:
        click.echo("dpassay: interrupted; the page contains the results so far", err=True)
        results.interrupted = True
        results.not_run = _not_run(statements, results)
    return results


def _not_run(statements: Sequence["Statement"], results: "Results") -> tuple[str, ...]:
    """Return the names of the errata and statements without a result; results keep the order of the statements."""
    from dpassay.properties.contract import ErratumRecord, StatementRecord
    from dpassay.spec.statement import faults

    errata = [f"{fault.statement.name} (erratum)" for fault in faults(statements)]
    names = [statement.name for statement in statements]
    return (*errata[len(results.of(ErratumRecord)) :], *names[len(results.of(StatementRecord)) :])


def _versions() -> list[tuple[str, str]]:
    found = [("dpassay", dpassay.__version__), ("Python", f"{platform.python_version()} on {platform.system()}")]
    for name in LIBRARIES:
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:  # installed without its metadata
            found.append((name, "unknown"))
    return found


def _write(output: Path, results: "Results", facts: Sequence[tuple[str, str]], command: str) -> None:
    from dpassay.properties.report.page import Origin, render

    page = render(results, Origin(facts, command, dpassay.__version__))
    # JSON can contain unpaired surrogates, which UTF-8 cannot encode
    output.write_bytes(page.encode("utf-8", "backslashreplace"))


def _print(output: Path, results: "Results", *, as_json: bool) -> None:
    summary = results.summary(str(output))
    if as_json:
        print_records([summary])
    else:
        click.echo(output)
    names = ("statements", "errata", "hunts", "findings", "items", "mechanisms")
    counts = ", ".join(f"{name}: {getattr(summary, name)}" for name in names if getattr(summary, name))
    click.echo(f"{counts}; not as expected: {summary.unexpected}", err=True)
