"""The command ``dpassay trace``: the decisions, leaves and outcomes of a mechanism on symbolic noise."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpassay import completion
from dpassay.arguments import UsageError, rounded_up
from dpassay.command_line import (
    EXPECTED,
    UNEXPECTED,
    json_option,
    print_records,
    print_table,
    require_plots,
    seconds_of,
)

if TYPE_CHECKING:
    from dpassay.properties.hunting.profile import PairProfile
    from dpassay.properties.tracing.refusal import Refusal
    from dpassay.properties.tracing.trace import Trace
    from dpassay.spec.leaves.model import Leaf

__all__ = ["trace"]


@click.command()
@click.argument("target", shell_complete=completion.mechanisms)
@click.option("--data", metavar="X,Y,...", help="The input: numbers, separated by commas.")
@click.option("--size", type=click.IntRange(min=1), help="In place of --data: symbolic data of this length.")
@click.option("--neighbour", metavar="X,Y,...", help="A second input: prints the certified epsilon of the pair.")
@click.option(
    "--plot",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File for a picture of the pair: its privacy-loss profile and trade-off curve (needs matplotlib).",
)
@click.option("--limit", metavar="SECONDS", default="60s", show_default=True, help="Time for the trace.")
@json_option
def trace(
    target: str,
    data: str | None,
    size: int | None,
    neighbour: str | None,
    plot: Path | None,
    limit: str,
    as_json: bool,
) -> int:
    """Trace TARGET on symbolic noise: print its decisions, leaves, probabilities and outcomes.

    TARGET is package.module:object or path/to/file.py:object, as for `dpassay hunt`; importing it runs its code. A
    function f(data) or f(data, rng) that makes one release a call is named per-call:path/to/file.py:f. The target
    is run once for each leaf, again to see that it does the same, and on numbers. All figures are of the ideal
    mechanism, in real arithmetic. If an operation has no exact counterpart it is named with file and line, and the
    exit status is 1.
    """
    from dpassay.properties.drawing.target import load_target
    from dpassay.properties.outcomes.calls import sampler_of
    from dpassay.properties.tracing.refusal import Refusal
    from dpassay.properties.tracing.trace import trace as run
    from dpassay.properties.tracing.tree import Limits

    if (data is None) == (size is None):
        raise UsageError(f"trace needs either --data or --size, got {'both' if size is not None else 'neither'}")
    if neighbour is not None and data is None:
        raise UsageError("--neighbour needs --data")
    if plot is not None:
        _require_plot(plot, neighbour)
    sampler, limits = sampler_of(load_target(target)), Limits(seconds=seconds_of("--limit", limit))
    inputs = [None if data is None else _numbers("--data", data)]
    inputs += [] if neighbour is None else [_neighbour_of(inputs[0] or [], _numbers("--neighbour", neighbour))]
    results = [run(sampler, numbers, size=size or 0, limits=limits) for numbers in inputs]
    refusal = next((result for result in results if isinstance(result, Refusal)), None)
    if refusal is not None:
        return _print_refusal(target, refusal, as_json)
    traces = [result for result in results if not isinstance(result, Refusal)]
    _print_trace(target, traces[0], as_json)
    if len(traces) == 1:
        return EXPECTED
    is_one_more = len({len(numbers) for numbers in inputs if numbers is not None}) > 1
    return _print_pair(target, traces, plot, as_json, is_one_more=is_one_more)


def _require_plot(plot: Path, neighbour: str | None) -> None:
    if neighbour is None:
        raise UsageError("--plot needs --neighbour: the curves are those of a pair")
    require_plots(plot)


def _numbers(option: str, text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(f"{option} must be numbers separated by commas, got {text!r}") from None


def _neighbour_of(data: list[float], neighbour: list[float]) -> list[float]:
    """Return a neighbour of some data: as many numbers, or one record more or less."""
    shorter, longer = sorted((data, neighbour), key=len)
    if len(shorter) == len(longer) or any(longer[:k] + longer[k + 1 :] == shorter for k in range(len(longer))):
        return neighbour
    raise UsageError(
        "--neighbour must have as many numbers as --data, or those of --data with one record added or removed, got "
        f"{len(neighbour)} and {len(data)} numbers"
    )


def _print_refusal(target: str, refusal: "Refusal", as_json: bool) -> int:
    from dpassay.properties.contract import NotTracedRecord

    if as_json:
        print_records([NotTracedRecord(target=target, not_traced=str(refusal))])
    else:
        click.echo(f"not traced: {refusal}")
    return UNEXPECTED


def _print_trace(target: str, result: "Trace", as_json: bool) -> None:
    from dpassay.properties.contract import LeafRecord
    from dpassay.properties.tracing.words import leaf_record

    leaves = [leaf_record(leaf) | {"probability": _enclosed(leaf)} for leaf in result.model.leaves]
    if as_json:
        print_records(LeafRecord(target=target, leaf=k, **record) for k, record in enumerate(leaves))
    else:
        print_table([_row(record) for record in leaves], ("decisions", "choices", "weight", "probability", "outcome"))
        click.echo(_summary(result))
    for note in result.notes:
        click.echo(f"dpassay: {note}", err=True)


def _enclosed(leaf: "Leaf") -> list[float] | None:
    """Return an enclosure of the probability of a leaf; None if no rule gives it, as for symbolic data."""
    from dpassay.spec.ball import float_lower, float_upper
    from dpassay.spec.leaves.probability import UndecidedLeafError, leaf_probability

    try:
        value = leaf_probability(leaf)
    except UndecidedLeafError:
        return None
    return [max(0.0, float_lower(value)), min(1.0, float_upper(value))]


def _row(record: dict[str, Any]) -> dict[str, Any]:
    from dpassay.properties.notions.bounds import interval_words

    enclosed = record["probability"]
    return record | {
        "decisions": "\n".join(record["decisions"]),
        "choices": "\n".join(record["choices"]),
        "probability": None if enclosed is None else interval_words(enclosed, 10),
    }


def _summary(result: "Trace") -> str:
    from dpassay.properties.notions.bounds import words_above

    model = result.model
    undecided = words_above(rounded_up(model.undecided), 3)
    outcomes = len({leaf.outcome for leaf in model.leaves})
    unity = "sum to 1" if result.unity.outcome.value == "holds" else f"sum undecided: {result.unity.detail}"
    return (
        f"{len(model.leaves)} leaves, {outcomes} outcomes, undecided probability <= {undecided}; "
        f"probabilities {unity}; {result.replays.agreed} runs on numbers agree"
    )


def _print_pair(target: str, traces: "list[Trace]", plot: Path | None, as_json: bool, *, is_one_more: bool) -> int:
    """Print the certified epsilon of the pair, and draw its curves."""
    from dpassay.properties.contract import PairRecord
    from dpassay.properties.hunting.profile import draw_profile, profile_of
    from dpassay.properties.hunting.traced_pairs import WrongTraceError, distributions
    from dpassay.properties.records import plain
    from dpassay.spec.leaves.outcomes import UnknownOutcomeError
    from dpassay.spec.leaves.probability import UndecidedLeafError

    try:
        profile = profile_of(distributions(traces[0].model, traces[1].model))
    except (UndecidedLeafError, UnknownOutcomeError, WrongTraceError) as error:
        click.echo(f"dpassay: the pair is undecided: {error}", err=True)
        return UNEXPECTED
    if plot is not None:
        draw_profile(profile, plot)
    if as_json:
        figures = {"epsilon_lower": profile.epsilon_lower, "epsilon_upper": profile.epsilon_upper}
        print_records([PairRecord(target=target, **plain(figures))])
    else:
        click.echo(_pair_words(profile, is_one_more=is_one_more))
    return EXPECTED


def _pair_words(profile: "PairProfile", *, is_one_more: bool) -> str:
    from dpassay.properties.notions.bounds import words_above, words_below

    upper = "" if profile.epsilon_upper is None else f", epsilon <= {words_above(profile.epsilon_upper)}"
    pair = "this pair of inputs (relation add-remove: one has a record more)" if is_one_more else "this pair of inputs"
    return f"{pair}, in both orders: epsilon >= {words_below(profile.epsilon_lower)}{upper}"
