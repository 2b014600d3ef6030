"""Experiments and their registry."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from dpassay.arguments import UsageError
from dpassay.registry import Item, Registry, place_of, similar_words

__all__ = ["Experiment", "Progress", "Runner", "all_experiments", "experiment"]

Progress = Callable[[str, float], None]
"""Progress callback: takes a description and the fraction done, between 0 and 1."""


class Runner(Protocol):
    """The function that runs an experiment."""

    def __call__(self, out: Path, *, seed: int, trials: int | None, progress: Progress) -> list[Path]:
        """Write tables and figures into the folder `out` and return their paths.

        Parameters
        ----------
        out : Path
            An existing folder.
        seed : int
            Seed of everything random.
        trials : int or None
            Number of repetitions, None for the paper's own.
        progress : callable
            To be told how far the run is.
        """
        ...


@dataclass(frozen=True)
class Experiment:
    """One experiment of a paper: its name on the command line, its summary, its items."""

    name: str
    summary: str
    items: tuple[Item, ...]
    run: Runner
    where: str


_EXPERIMENTS: Registry[str, Experiment] = Registry(
    "experiment", "dpassay.properties.experiments", where=lambda experiment: experiment.where
)


def experiment(name: str, *items: Item) -> Callable[[Runner], Runner]:
    """Register a function as the experiment `name`; its docstring's first line is the summary.

    Raises
    ------
    ValueError
        If the name is taken.
    """

    def register(run: Runner) -> Runner:
        summary = (run.__doc__ or "").strip().splitlines()[0]
        _EXPERIMENTS.enter(name, Experiment(name, summary, items, run, place_of(run)))
        return run

    return register


def all_experiments() -> tuple[Experiment, ...]:
    """Return every experiment; imports the modules that define them first."""
    return tuple(_EXPERIMENTS)


def find_experiment(name: str) -> Experiment:
    """Return the experiment of that name.

    Raises
    ------
    UsageError
        If there is none; the message names all of them.
    """
    experiments = {one.name: one for one in all_experiments()}
    if name not in experiments:
        hint = similar_words(name, experiments)
        raise UsageError(
            f"there is no experiment {name!r}; the experiments are {', '.join(sorted(experiments))}{hint}"
        )
    return experiments[name]
