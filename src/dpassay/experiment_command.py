"""The command ``dpassay experiment``: tables and figures of the experiments of papers."""

from pathlib import Path

import click

from dpassay import completion
from dpassay.command_line import json_option, print_records, print_table, seed_option

__all__ = ["experiment"]


@click.command()
@click.argument("name", required=False, shell_complete=completion.experiments)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("results"),
    show_default=True,
    help="Folder for tables and figures.",
)
@click.option("--trials", type=click.IntRange(min=1), help="Number of repetitions, instead of that of the paper.")
@seed_option
@json_option
def experiment(name: str | None, out: Path, trials: int | None, seed: int, as_json: bool) -> None:
    """Run an experiment of a paper and write its tables and figures. Without NAME, list the experiments."""
    from dpassay.properties.contract import ExperimentRecord
    from dpassay.properties.experiments.base import all_experiments, find_experiment
    from dpassay.properties.experiments.output import NO_FIGURES, can_draw
    from dpassay.properties.progress import share_bar

    experiments = all_experiments()
    if name is None and as_json:
        print_records(ExperimentRecord(experiment=one.name, summary=one.summary) for one in experiments)
        return
    if name is None:
        print_table([{"name": one.name, "summary": one.summary} for one in experiments], ("name", "summary"))
        return
    chosen = find_experiment(name)
    out.mkdir(parents=True, exist_ok=True)
    with share_bar(name) as progress:
        paths = chosen.run(out, seed=seed, trials=trials, progress=progress)
    if as_json:
        files = [str(path) for path in paths]
        print_records(
            [ExperimentRecord(experiment=name, summary=chosen.summary, seed=seed, trials=trials, files=files)]
        )
    else:
        for path in paths:
            click.echo(path)
    if not can_draw():
        click.echo(f"dpassay: {NO_FIGURES}", err=True)
