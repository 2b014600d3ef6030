"""The command ``dpassay trace``: the decisions, leaves and outcomes of a mechanism on symbolic noise."""

from typing import TYPE_CHECKING, Any

import click

from dpassay.claims import UsageError
from dpassay.command_line import EXPECTED, UNEXPECTED, json_option, print_records, print_table, seconds_of

if TYPE_CHECKING:
    from dpassay.properties.tracing.trace import Trace

__all__ = ["trace"]


@click.command()
@click.argument("target")
@click.option("--data", metavar="X,Y,...", help="The input: numbers, separated by commas.")
@click.option("--size", type=click.IntRange(min=1), help="In place of --data: symbolic data of this length.")
@click.option("--limit", metavar="SECONDS", default="60s", show_default=True, help="Time for the trace.")
@json_option
def trace(target: str, data: str | None, size: int | None, limit: str, as_json: bool) -> int:
    """Trace TARGET on symbolic noise: print its decisions, leaves and outcomes, of the ideal mechanism.

    TARGET is package.module:object or path/to/file.py:object, as for `dpassay hunt`; importing it runs its code. It
    is run once for each leaf, again to see that it does the same, and on numbers. If an operation has no exact
    counterpart it is named with file and line, and the exit status is 1.
    """
    from dpassay.properties.drawing.target import load_target
    from dpassay.properties.outcomes.symbols import sampler_of
    from dpassay.properties.tracing.refusal import Refusal
    from dpassay.properties.tracing.trace import trace as run
    from dpassay.properties.tracing.tree import Limits

    if (data is None) == (size is None):
        raise UsageError("trace needs either --data or --size")
    sampler = sampler_of(load_target(target))
    numbers = None if data is None else _numbers(data)
    result = run(sampler, numbers, size=size or 0, limits=Limits(seconds=seconds_of("--limit", limit)))
    if isinstance(result, Refusal):
        return _print_refusal(target, result, as_json)
    return _print_trace(target, result, as_json)


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(f"--data must be numbers separated by commas, got {text!r}") from None


def _print_refusal(target: str, refusal: BaseException, as_json: bool) -> int:
    from dpassay.properties.contract import NotTracedRecord

    if as_json:
        print_records([NotTracedRecord(target=target, not_traced=str(refusal))])
    else:
        click.echo(f"not traced: {refusal}")
    return UNEXPECTED


def _print_trace(target: str, result: "Trace", as_json: bool) -> int:
    from dpassay.properties.contract import LeafRecord
    from dpassay.properties.tracing.words import leaf_record

    leaves = [leaf_record(leaf) for leaf in result.model.leaves]
    if as_json:
        print_records(LeafRecord(target=target, leaf=k, **record) for k, record in enumerate(leaves))
    else:
        rows: list[dict[str, Any]] = [
            record | {"decisions": "\n".join(record["decisions"]), "choices": "\n".join(record["choices"])}
            for record in leaves
        ]
        print_table(rows, ("decisions", "choices", "weight", "outcome"))
        click.echo(_summary(result))
    for note in result.notes:
        click.echo(f"dpassay: {note}", err=True)
    return EXPECTED


def _summary(result: "Trace") -> str:
    model = result.model
    outcomes = len({leaf.outcome for leaf in model.leaves})
    return (
        f"{len(model.leaves)} leaves, {outcomes} outcomes, undecided probability <= {float(model.undecided):.3g}; "
        f"{result.replays.agreed} runs on numbers agree"
    )
