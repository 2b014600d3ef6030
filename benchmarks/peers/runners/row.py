"""A row's mechanism, as the scripts that speak to other auditors need it; runs in the auditor's interpreter."""

import importlib
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["RowMechanism", "answer", "ready", "task"]

Array = NDArray[np.float64]


def task() -> dict[str, Any]:
    """Return the task from the command line, with the checkout put on the import path."""
    found: dict[str, Any] = json.loads(sys.argv[1])
    sys.path.insert(0, found["path"])
    return found


def ready() -> float:
    """Return the CPU seconds of this process; taken after the imports, they are the tool's start."""
    return time.process_time()


def answer(bound: float | None, note: str, start: float) -> None:
    """Print the result as the last line of the output, with the CPU seconds of the start."""
    print(json.dumps({"bound": bound, "note": note, "start": start}), flush=True)


class RowMechanism:
    """A mechanism of the benchmark that counts its calls, in any process, in a file.

    Parameters
    ----------
    target : str
        ``package.module:object``.
    folder : str
        Where the file ``calls`` is.
    """

    def __init__(self, target: str, folder: str) -> None:
        module, _, name = target.partition(":")
        self.mechanism = getattr(importlib.import_module(module), name)
        self.counter = Path(folder) / "calls"

    @property
    def neighbours(self) -> Any:
        """The mechanism's neighbour relation: vectors of numbers."""
        return self.mechanism.neighbours

    @property
    def all_differ(self) -> bool:
        """Whether neighbours may differ in every coordinate."""
        return self.neighbours.l0 is None and self.neighbours.linf is not None

    def sample(self, data: Any, size: int, rng: np.random.Generator) -> Array:
        """Return outcomes as numbers, shape (size,) or (size, coordinates)."""
        with self.counter.open("a", encoding="ascii") as file:
            file.write(f"{size}\n")
        outcomes = self.mechanism.sample(np.asarray(data, dtype=np.float64), size, rng)
        return np.asarray(outcomes, dtype=np.float64)

    def one_outcome(self) -> Array:
        """Return an outcome, shape () or (1, coordinates); not counted as a call."""
        least = np.full(self.neighbours.size, max(self.neighbours.low, 0.0))
        found = np.asarray(self.mechanism.sample(least, 1, np.random.default_rng(0)), dtype=np.float64)
        return found if found.ndim == 2 else found[0]

    def width(self) -> int:
        """Return how many coordinates an outcome has; 1 for a number."""
        return int(np.size(self.one_outcome()))
