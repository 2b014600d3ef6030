"""The command ``dpassay hunt``: search for a counterexample to the claim of one target."""

import math
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpassay import completion
from dpassay.arguments import UsageError
from dpassay.check_command import leaf_words, save_certificate
from dpassay.claims import claim_forms, parse_claim
from dpassay.command_line import (
    CALLS,
    EXPECTED,
    INTERRUPTED,
    UNEXPECTED,
    USAGE,
    json_option,
    print_records,
    require_plots,
    require_writable,
    seconds_of,
    seed_option,
)
from dpassay.neighbours import relation_forms
from dpassay.properties.hunting.verdicts import HuntVerdict, StopReason
from dpassay.spec.verdict import Evidence

if TYPE_CHECKING:
    from dpassay.properties.hunting.black_box import Progress as HuntProgress
    from dpassay.properties.hunting.result import HuntResult

__all__ = ["hunt"]


@click.command()
@click.argument("target", shell_complete=completion.mechanisms)
@click.option("--claim", metavar="CLAIM", help=f"One of {claim_forms()}.")
@click.option("--neighbours", metavar="SPEC", help=f"Text that begins with one of {relation_forms()}.")
@click.option(
    "--budget",
    metavar="SECONDS",
    default="60s",
    show_default=True,
    help="Time for the trace, the samples and a simpler witness together; batches that were begun are ended.",
)
@click.option("--calls", type=CALLS, help="Maximum number of calls of TARGET.")
@click.option(
    "--alpha", type=float, default=1e-6, show_default=True, help="Bound on the probability of a false alarm."
)
@seed_option
@click.option(
    "--jobs",
    type=int,
    help="Number of worker processes; -1 for one per core.  [default: 1; all workers of a dask or ray cluster]",
)
@click.option(
    "--backend",
    default="loky",
    show_default=True,
    help="Joblib backend: loky, threading, dask or ray. dask and ray start a local cluster for the run; set "
    "RAY_ADDRESS to use an existing ray cluster.",
)
@click.option(
    "--call-timeout",
    metavar="SECONDS",
    default="60s",
    show_default=True,
    help="Time limit of each call of TARGET, inf for none. With a limit, TARGET is called in a thread.",
)
@click.option(
    "--import-timeout",
    metavar="SECONDS",
    default="60s",
    show_default=True,
    help="Time limit for importing TARGET.",
)
@click.option(
    "--float64",
    type=click.Choice(["fail", "warn", "ignore"]),
    default="warn",
    show_default=True,
    help="Violations by low-order bits of floats and by visible rounding: fail (exit status 1), warn, or ignore "
    "(do not look for them). The verdict speaks of the ideal mechanism, in real arithmetic.",
)
@click.option(
    "--session",
    metavar="K",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Calls on one input that make one outcome, tested against the claim composed K times: finds state kept "
    "between calls.",
)
@click.option(
    "--no-trace",
    is_flag=True,
    help="Sample TARGET, without running it on symbols in place of noise first. A violation that samples show is "
    "still compared with exact arithmetic at its pair of inputs: it may be a matter of rounding.",
)
@click.option(
    "--trace-limit",
    metavar="SECONDS",
    default="5s",
    show_default=True,
    help="Time limit of the exact decision from the traced code; undecided claims are sampled.",
)
@click.option(
    "--certificate",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File for the proof of a claim that holds; `dpassay check` verifies it.",
)
@click.option(
    "--plot",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File (.svg, .png, ...) for a picture of claim, excluded region and evidence (needs matplotlib).",
)
@click.option(
    "--replay",
    "witness",
    type=click.Path(path_type=Path),
    help="Saved result whose pair and event are tested again with fresh samples of TARGET.",
)
@json_option
def hunt(
    target: str,
    claim: str | None,
    neighbours: str | None,
    budget: str,
    calls: int | None,
    alpha: float,
    seed: int,
    jobs: int | None,
    backend: str,
    call_timeout: str,
    import_timeout: str,
    float64: str,
    session: int,
    no_trace: bool,
    trace_limit: str,
    certificate: Path | None,
    plot: Path | None,
    witness: Path | None,
    as_json: bool,
) -> int:
    """Hunt for a counterexample to the privacy claim of TARGET.

    The code of TARGET is first traced: it is run on symbols in place of noise, which decides many claims exactly and
    without a sample, for all inputs of the given length. What cannot be traced is named with file and line, and
    sampled. The verdict is on the ideal mechanism, in real arithmetic; a second one is on float64.

    TARGET is package.module:object or path/to/file.py:object: a mechanism, or a callable f(data, size, rng) that
    returns `size` independent outcomes, each with fresh noise. per-call:file.py:f is a function that makes one release
    a call, with or without rng; 'cmd:./program {seed}' a program that reads data as JSON on standard input and prints
    an outcome as JSON; 'http://127.0.0.1:8000/path?seed={seed}' a server on this machine that receives data as JSON
    and answers with an outcome. The hunt imports and runs the code of TARGET; use only code that you trust. The folder
    of a file is added to sys.path. A target that is not part of dpassay runs in a separate process, except with
    --backend threading. --claim and --neighbours are optional if the target declares them. Ctrl-C stops the hunt and
    prints the result so far.
    """
    from dpassay.properties.hunting.hunt import hunt as run

    limits: dict[str, Any] = {
        "alpha": alpha,
        "seed": seed,
        "budget_seconds": seconds_of("--budget", budget),
        "call_timeout_seconds": math.inf if call_timeout == "inf" else seconds_of("--call-timeout", call_timeout),
        "import_timeout_seconds": seconds_of("--import-timeout", import_timeout),
    }
    tracing = seconds_of("--trace-limit", trace_limit)
    history: list[tuple[int, float]] = []
    if plot is not None:
        require_plots(plot)
    if certificate is not None:
        require_writable("--certificate", certificate)
    if witness is not None:
        if claim is not None or neighbours is not None:
            raise UsageError("--replay reads the claim and the inputs from the file; omit --claim and --neighbours")
        result = _replayed(witness, target, calls, limits)
    else:
        with _output_to_stderr(), _hunting(target, limits["budget_seconds"], history) as progress:
            result = run(
                target, claim, neighbours, calls=calls, jobs=jobs, backend=backend, progress=progress, float64=float64,
                trace=not no_trace, trace_seconds=tracing, session=session, **limits,
            )  # fmt: skip
    if as_json:
        print_records([result.record()])
    else:
        _print_hunt(result)
    for note in result.notes:
        click.echo(f"dpassay: {note}", err=True)
    if certificate is not None:
        _save_proof(result, certificate)
    if plot is not None:
        _draw(result, history, plot)
    return _status_of(result, float64)


def _replayed(witness: Path, target: str, calls: int | None, limits: dict[str, Any]) -> "HuntResult":
    from dpassay.properties.hunting.replay import replay

    most: dict[str, Any] = {} if calls is None else {"calls": calls}
    with _output_to_stderr():
        return replay(witness, target, **limits, **most)


def _draw(result: "HuntResult", history: list[tuple[int, float]], path: Path) -> None:
    from dpassay.properties.hunting.picture import draw_hunt

    if result.claim.startswith("ex-post:"):
        click.echo("dpassay: no picture: an ex-post claim has no point in the plane of epsilon and delta", err=True)
    else:
        draw_hunt(result, parse_claim(result.claim), history, path)


def _save_proof(result: "HuntResult", path: Path) -> None:
    if result.certificate is None:
        click.echo(f"dpassay: no certificate: {_why_no_certificate(result)}", err=True)
    else:
        save_certificate(dict(result.certificate), path)


def _why_no_certificate(result: "HuntResult") -> str:
    if result.verdict != "holds":
        return f"the claim is {result.verdict}"
    return "the proof is of another form" if result.traced else "the verdict does not rest on traced code"


def _status_of(result: "HuntResult", float64: str) -> int:
    """Return the exit status; an interrupted hunt without a violation is not a success."""
    fails_in_float64 = float64 == "fail" and result.float64 is not None and result.float64.is_violated
    if result.verdict is HuntVerdict.VIOLATED or fails_in_float64:
        return UNEXPECTED
    if result.stopped == StopReason.INTERRUPTED:
        return INTERRUPTED
    return USAGE if result.is_void else EXPECTED


_ABOUT_THE_IDEAL = "the verdict is on the ideal mechanism, in real arithmetic"


def _print_hunt(result: "HuntResult") -> None:
    from dpassay.properties.hunting.formatting import event_figure_words, event_words, float64_lines, power_words
    from dpassay.properties.notions.bounds import interval_words

    click.echo(str(result))
    if result.witness is not None:
        click.echo(f"  left   {result.witness.shown[0]}")
        click.echo(f"  right  {result.witness.shown[1]}")
        click.echo(f"  event  {event_words(result.witness.event)}")
        left, right = map(interval_words, (result.witness.p_left, result.witness.p_right))
        click.echo(f"  Pr[event | left] in {left}, Pr[event | right] in {right}")
        if (figure := event_figure_words(result)) is not None:
            click.echo(f"  {figure}")
    if result.evidence is Evidence.SAMPLED:
        click.echo(
            f"  {result.calls:,} calls in {result.seconds:.3g} s, e-value 10^{result.e_value_log10:.1f}, "
            f"false-alarm probability at most {result.alpha:g}"
        )
    if result.traced:
        click.echo(f"  0 calls, {result.seconds:.3g} s; {_ABOUT_THE_IDEAL}")
    elif result.float64 is not None:
        click.echo(f"  {_ABOUT_THE_IDEAL}")
    for line in float64_lines(result.float64) if result.float64 is not None else ():
        click.echo(f"  {line}")
    if result.not_traced is not None:
        click.echo(f"  tracing did not decide: {result.not_traced}; sampling instead")
    if result.certificate is not None:
        leaves = result.certificate.get("leaves")
        aligned = "" if leaves is None else f"alignments, leaf by leaf, of {leaf_words(len(leaves))}"
        click.echo(f"  proof: {aligned or 'probabilities on cells of data'}")
    if result.stopped == StopReason.INTERRUPTED:
        click.echo("  interrupted: the result covers the calls made until then")
    if result.verdict is HuntVerdict.NOT_REFUTED:
        click.echo("  Not refuted is not a proof: the samples are consistent with the claim.")
    if result.is_void:
        click.echo("  Undecided is not a pass: the notes on standard error give the reason.")
    if result.power is not None:
        click.echo(f"  {power_words(result.power, result.claim)}")
    click.echo(f"  {result.replay}")


@contextmanager
def _output_to_stderr() -> Iterator[None]:
    """Redirect the output of a target, also from C and from worker processes, to standard error."""
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
def _hunting(target: str, seconds: float, history: list[tuple[int, float]]) -> Iterator["HuntProgress"]:
    from dpassay.properties.notions.bounds import words_below
    from dpassay.properties.progress import share_bar

    with share_bar(f"hunting {target}") as update:

        def progress(
            *, calls: int, seconds: float, e_value_log10: float, epsilon_lower: float, limit: float = seconds
        ) -> None:
            history.append((calls, e_value_log10))
            update(
                f"{calls:,} calls, epsilon >= {words_below(epsilon_lower, 3)}, e-value 10^{e_value_log10:.1f}",
                min(seconds / limit, 1.0),
            )

        yield progress
