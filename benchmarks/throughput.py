"""What the auditor costs beyond the mechanism's own calls, and whether its memory stays flat.

Run with ``python -m benchmarks.throughput [--calls N] [--seed K] [--memory N]``. Time: one pair of correct mechanisms
with scalar outcomes, vectors of ten numbers, and words; CPU microseconds a call, without the calls of the mechanism
themselves, as whole and for the last half. Memory: the scalar mechanism for ``--memory`` calls (1e7 unless told; 1e8
takes minutes), with the peak of the resident memory at each power of ten from 1e6 on. The table is written to
``RESULTS.md``.
"""

import argparse
import resource
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from benchmarks.results import machine, markdown_table, write_section
from dpassay.claims import PureDP
from dpassay.properties.betting.campaign import Campaign
from dpassay.properties.drawing.draws import Draw, sample_side
from dpassay.properties.outcomes.batch import Outcomes
from dpassay.properties.outcomes.numeric_features import LOWEST_BIT

Array = NDArray[np.float64]

_FIRST_READING = 10**6
_MEGABYTE = 1 << 20


def number(data: Array, size: int, rng: np.random.Generator) -> Array:
    """Add Laplace noise of scale 10 to a number."""
    return np.asarray(data[0] + rng.laplace(0, 10, size))


def vector(data: Array, size: int, rng: np.random.Generator) -> Array:
    """Add Laplace noise of scale 100 to ten numbers that all move."""
    return np.asarray(data[0] + rng.laplace(0, 100, (size, 10)))


def word(data: Array, size: int, rng: np.random.Generator) -> list[str]:
    """Return a letter by randomised response among eight."""
    weights = np.where(np.arange(8) == int(data[0]), np.exp(0.1), 1.0)
    letters = rng.choice(8, size, p=weights / weights.sum())
    return ["abcdefgh"[letter] for letter in letters.tolist()]


KINDS: dict[str, Callable[..., Any]] = {"a number": number, "ten numbers": vector, "a word": word}


@dataclass
class Audit:
    """An audit of one pair that tells the time of the mechanism from its own."""

    sampler: Callable[..., Any]
    seed: int
    sampling: float = 0.0
    campaign: Campaign = field(init=False)

    def __post_init__(self) -> None:
        pairs = [(np.zeros(1), np.ones(1))]
        self.campaign = Campaign(PureDP(0.1), pairs, seed=self.seed, ignored=frozenset({LOWEST_BIT}))

    def play_to(self, calls: int) -> float:
        """Play until this number of calls is made; return the CPU seconds spent beyond the mechanism."""
        before = time.process_time() - self.sampling
        while self.campaign.calls < calls:
            self.campaign.play_round(self._draw, most_calls=calls - self.campaign.calls)
        return time.process_time() - self.sampling - before

    def _draw(self, draws: Sequence[Draw]) -> list[Outcomes | None]:
        before = time.process_time()
        outcomes = [sample_side(self.sampler, draw) for draw in draws]
        self.sampling += time.process_time() - before
        return outcomes


def peak_memory() -> float:
    """Return the largest resident memory of this process so far, in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / _MEGABYTE if sys.platform == "darwin" else peak * 1024 / _MEGABYTE


def main() -> None:
    """Measure, print and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--calls", type=lambda text: int(float(text)), default=10**6, help="for the time")
    parser.add_argument("--memory", type=lambda text: int(float(text)), default=10**7, help="calls for the memory")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    console = Console()

    memory = []
    audit, reading = Audit(number, options.seed), _FIRST_READING
    while reading <= options.memory:
        audit.play_to(reading)
        memory.append([f"{reading:,}", f"{peak_memory():.0f}"])
        console.print("calls, peak MiB:", *memory[-1])
        reading *= 10

    times = []
    for kind, sampler in KINDS.items():
        audit = Audit(sampler, options.seed)
        first = audit.play_to(options.calls // 2)
        second = audit.play_to(options.calls)
        micro = 1e6 / options.calls
        cells = [f"{(first + second) * micro:.2f}", f"{second * 2 * micro:.2f}", f"{audit.sampling * micro:.2f}"]
        times.append([kind, *cells])
        console.print(*times[-1])

    headings = ["outcome", "CPU seconds a million calls", "in the last half", "the mechanism's own"]
    write_section(
        "Throughput of the auditor",
        f"`python -m benchmarks.throughput --calls {options.calls} --memory {options.memory}`. {machine()}\n\n"
        "One pair of a correct mechanism; the time is that of the audit beyond the mechanism's own.\n\n"
        f"{markdown_table(headings, times)}\n\n"
        "Peak of the resident memory, numbers as outcomes.\n\n"
        f"{markdown_table(['calls', 'MiB'], memory)}",
    )


if __name__ == "__main__":
    main()
