"""The command line: ``dpassay list | show | verify | hunt | assay | experiment | report``.

With ``--json`` a command prints one JSON object per line on standard output and nothing else there; progress,
warnings and summaries go to standard error. Exit status: 0 everything as expected, 1 something is not, 2 wrong
usage or bad input (also a target that hangs), with one line on standard error; 130 an interruption from the
keyboard, 141 a reader, such as `head`, that left before the end.
"""

import math
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import dpassay
from dpassay.assay_command import assay
from dpassay.claims import UsageError
from dpassay.command_line import (
    EXPECTED,
    INTERRUPTED,
    PIPE_CLOSED,
    UNEXPECTED,
    USAGE,
    json_option,
    print_records,
    print_table,
    seconds_of,
    seed_option,
)
from dpassay.report_command import report
from dpassay.verify_command import require_source, source_option, verify

if TYPE_CHECKING:
    from dpassay.properties.audit.exclusion import Exclusion
    from dpassay.properties.search.black_box import Progress as HuntProgress
    from dpassay.properties.search.result import HuntResult

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    try:
        status = cli.main(args=arguments, prog_name="dpassay", standalone_mode=False)
    except click.ClickException as error:
        return _usage(error.format_message())
    except (UsageError, OSError) as error:
        return _usage(str(error))
    except MemoryError as error:
        return _usage(f"not enough memory: {error}")
    except (KeyboardInterrupt, click.Abort):
        click.echo("dpassay: interrupted", err=True)
        return INTERRUPTED
    except SystemExit:  # so click ends on a closed pipe; its status 1 would say that something is not as expected
        return PIPE_CLOSED
    return status if isinstance(status, int) else EXPECTED


def _usage(message: str) -> int:
    click.echo(f"dpassay: {' '.join(message.split())}", err=True)
    return USAGE


class _Commands(click.Group):
    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except SystemExit as error:
            if isinstance(error.__context__, BrokenPipeError):  # so rich ends on a closed pipe
                raise
            raise UsageError(f"the code that was called ended the program with status {error.code!r}") from None


@click.group(
    cls=_Commands,
    no_args_is_help=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(dpassay.__version__, prog_name="dpassay")
def cli() -> None:
    """Assay claims of differential privacy: verify theorems, hunt for counterexamples."""


cli.add_command(assay)
cli.add_command(report)
cli.add_command(verify)


# --- list ---------------------------------------------------------------------------------------------------


@cli.command("list")
@source_option
@click.option("--mechanisms", is_flag=True, help="List mechanisms, right and broken, in place of items.")
@json_option
def list_command(source: str | None, mechanisms: bool, as_json: bool) -> None:
    """List the items of the documents with what covers them, or the mechanisms."""
    from dpassay.properties.coverage import coverage
    from dpassay.properties.mechanisms import mechanism_records

    require_source(source)
    if mechanisms:
        records = mechanism_records(source)
        columns: tuple[str, ...] = ("where", "claims", "neighbours", "exact_distribution", "fault")
    else:
        records = [item.record() for item in coverage(source)]
        columns = ("source", "item", "name", "kind", "covered_by", "where")
    if as_json:
        print_records(records)
    else:
        print_table(records, columns)


# --- show ---------------------------------------------------------------------------------------------------


@cli.command()
@click.argument("name")
@json_option
def show(name: str, as_json: bool) -> None:
    """Show a statement or a mechanism: the sentence, the source, the erratum, its evidence and scope."""
    from dpassay.properties.show import show_record

    record = show_record(name)
    if as_json:
        print_records([record])
    else:
        _print_card(record)


def _print_card(record: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.markup import escape

    console = Console()
    for key, value in record.items():
        if key == "schema" or value in (None, [], {}):
            continue
        console.print(f"[bold]{escape(key.replace('_', ' '))}[/bold]")
        for line in value if isinstance(value, list) else str(value).splitlines():
            console.print(f"  {line}", markup=False, highlight=False, soft_wrap=True)


# --- hunt ---------------------------------------------------------------------------------------------------


@cli.command()
@click.argument("target", required=False)
@click.option(
    "--claim", metavar="CLAIM", help="pure:EPS, approx:EPS,DELTA, zcdp:RHO, rdp:ALPHA,EPS or bounded-range:EPS."
)
@click.option("--neighbours", metavar="SPEC", help="vector:size=N,... or records:size=N,...")
@click.option(
    "--budget", metavar="SECONDS", default="60s", show_default=True, help="Time after which no batch begins."
)
@click.option("--calls", type=click.IntRange(min=1), help="Number of calls to spend.")
@click.option("--alpha", type=float, default=1e-6, show_default=True, help="Probability of a false alarm.")
@seed_option
@click.option(
    "--jobs", type=int, help="Workers that sample; -1: one per core.  [default: 1; all of a cluster of dask or ray]"
)
@click.option(
    "--backend",
    default="loky",
    show_default=True,
    help="Joblib backend: loky, threading, dask or ray; for the last two a local cluster runs until the end, unless "
    "RAY_ADDRESS says where there is one.",
)
@click.option(
    "--call-timeout",
    metavar="SECONDS",
    default="60s",
    show_default=True,
    help="Time that each call of TARGET may take, inf for no limit. With a limit it is called in a thread.",
)
@click.option(
    "--ignore-low-bits", is_flag=True, help="Test the ideal mechanism: do not look at the low-order bits of floats."
)
@click.option(
    "--replay",
    "witness",
    type=click.Path(path_type=Path),
    help="Draw fresh samples on the pair and event of a saved result.",
)
@json_option
def hunt(
    target: str | None,
    claim: str | None,
    neighbours: str | None,
    budget: str,
    calls: int | None,
    alpha: float,
    seed: int,
    jobs: int | None,
    backend: str,
    call_timeout: str,
    ignore_low_bits: bool,
    witness: Path | None,
    as_json: bool,
) -> int:
    """Hunt for a counterexample to the privacy claim of TARGET.

    TARGET is package.module:object or path/to/file.py:object, a Mechanism or a callable f(data, size, rng) that
    returns `size` outcomes. Importing it runs its code: the risk is yours. The folder of a file is put on sys.path.
    Claim and neighbours may be left out where the target declares them. Ctrl-C ends the hunt and prints what is known.
    """
    from dpassay.properties.search.hunt import hunt as run
    from dpassay.properties.search.replay import replay

    seconds = seconds_of("--budget", budget)
    patience = math.inf if call_timeout == "inf" else seconds_of("--call-timeout", call_timeout)
    if witness is not None:
        if claim is not None or neighbours is not None:
            raise UsageError("--replay takes claim and inputs from the file: leave out --claim and --neighbours")
        limit: dict[str, Any] = {} if calls is None else {"calls": calls}
        with _output_to_stderr():
            result = replay(
                witness, target, alpha=alpha, seed=seed, budget_seconds=seconds, call_timeout_seconds=patience,
                **limit,
            )  # fmt: skip
    elif target is None:
        raise UsageError("hunt needs a TARGET, or --replay WITNESS.json")
    else:
        with _output_to_stderr(), _hunting(target, seconds) as progress:
            result = run(
                target, claim, neighbours, budget_seconds=seconds, calls=calls, alpha=alpha, seed=seed, jobs=jobs,
                backend=backend, call_timeout_seconds=patience, progress=progress, low_bits=not ignore_low_bits,
            )  # fmt: skip
    if as_json:
        print_records([result.to_json()])
    else:
        _print_hunt(result)
    for note in result.notes:
        click.echo(f"dpassay: {note}", err=True)
    return _status_of(result)


def _status_of(result: "HuntResult") -> int:
    """Return the exit status: a hunt that was cut short is no success, unless it had found a violation by then."""
    if result.verdict == "violated":
        return UNEXPECTED
    if result.stopped == "interrupted":
        return INTERRUPTED
    return USAGE if result.is_void else EXPECTED


def _print_hunt(result: "HuntResult") -> None:
    from dpassay.properties.audit.outcomes import LOWEST_BIT

    click.echo(f"{result.verdict} ({result.evidence}, scope {result.scope}): {result.target}, claim {result.claim}")
    figures = {"epsilon": result.epsilon_lower, "delta": result.delta_lower, "rho": result.rho_lower}
    at_least = (f"{name} >= {value:.10g}" for name, value in figures.items() if value is not None)
    at_most = [] if result.epsilon_upper is None else [f"epsilon <= {result.epsilon_upper:.10g}"]
    click.echo(f"  {', '.join([*at_least, *at_most])}")
    if result.witness is not None:
        click.echo(f"  left   {list(result.witness.left)}")
        click.echo(f"  right  {list(result.witness.right)}")
        click.echo(f"  event  {result.witness.event}")
        if LOWEST_BIT in result.witness.event:
            click.echo(
                "         floating-point noise gives the answer away; --ignore-low-bits tests the ideal mechanism"
            )
        intervals = (result.witness.p_left, result.witness.p_right)
        left, right = (f"[{low:.6g}, {high:.6g}]" for low, high in intervals)
        click.echo(f"  Pr[event | left] in {left}, Pr[event | right] in {right}")
    if result.evidence == "sampled":
        click.echo(
            f"  {result.calls:,} calls in {result.seconds:.3g} s, evidence 10^{result.e_value_log10:.1f}, "
            f"false-alarm probability at most {result.alpha:g}"
        )
    if result.stopped == "interrupted":
        click.echo("  interrupted: this is what was known by then")
    if result.verdict == "not refuted":
        click.echo("  not refuted is no proof: what was drawn does not tell the two sides apart further than claimed")
    if result.excluded is not None:
        click.echo(f"  {_exclusion_words(result.excluded, result.claim)}")
    click.echo(f"  {result.replay}")


def _exclusion_words(excluded: "Exclusion", claim: str) -> str:
    rate = f"{excluded.rate:.2g} nats a call"
    if excluded.laplace_epsilon is None:
        return f"excluded is a pair on which an ideal bettor gains {rate} on average"
    if math.isinf(excluded.laplace_epsilon):
        return f"nothing is excluded: on no pair of a Laplace mechanism does an ideal bettor gain {rate}"
    return (
        f"excluded is the like of a Laplace mechanism with true epsilon {excluded.laplace_epsilon:.4g} or more, "
        f"instead of {claim}: with so many calls on its worst pair an ideal bettor ({rate}) refutes it on average"
    )


@contextmanager
def _output_to_stderr() -> Iterator[None]:
    """Send what a target prints, also from C and from worker processes, to standard error: ours is for results."""
    sys.stdout.flush()
    with redirect_stdout(sys.stderr):
        saved = os.dup(1)
        os.dup2(2, 1)
        try:
            yield
        finally:
            os.dup2(saved, 1)
            os.close(saved)


@contextmanager
def _hunting(target: str, seconds: float) -> Iterator["HuntProgress"]:
    from dpassay.properties.progress import share_bar

    with share_bar(f"hunting {target}") as update:

        def progress(
            *, calls: int, seconds: float, e_value_log10: float, epsilon_lower: float, limit: float = seconds
        ) -> None:
            update(
                f"{calls:,} calls, epsilon >= {epsilon_lower:.3g}, evidence 10^{e_value_log10:.1f}",
                min(seconds / limit, 1.0),
            )

        yield progress


# --- experiments --------------------------------------------------------------------------------------------


@cli.command()
@click.argument("name", required=False)
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), default=Path("results"), show_default=True)
@click.option("--trials", type=click.IntRange(min=1), help="Repetitions, in place of the paper's number.")
@seed_option
def experiment(name: str | None, out: Path, trials: int | None, seed: int) -> None:
    """Run an experiment of a paper and write its tables and figures; without NAME, list them."""
    from dpassay.properties.experiments import all_experiments
    from dpassay.properties.experiments.base import find_experiment
    from dpassay.properties.experiments.output import NO_FIGURES, can_draw
    from dpassay.properties.progress import share_bar

    experiments = all_experiments()
    if name is None:
        print_table([{"name": one.name, "summary": one.summary} for one in experiments], ("name", "summary"))
        return
    chosen = find_experiment(name)
    out.mkdir(parents=True, exist_ok=True)
    with share_bar(name) as progress:
        paths = chosen.run(out, seed=seed, trials=trials, progress=progress)
    for path in paths:
        click.echo(path)
    if not can_draw():
        click.echo(f"dpassay: {NO_FIGURES}", err=True)


if __name__ == "__main__":
    sys.exit(main())
