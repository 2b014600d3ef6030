"""The rows of the common benchmark and what is published about them, from ``rows.toml``, which names the sources."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from dpassay.arguments import MOST_SECONDS
from dpassay.properties.drawing.target import load_target
from dpassay.properties.hunting.black_box import Progress, sample_pairs
from dpassay.properties.hunting.result import HuntResult
from dpassay.properties.hunting.task import Task
from dpassay.properties.hunting.verdicts import Questions
from dpassay.properties.neighbours.code_numbers import numbers_in_code
from dpassay.properties.neighbours.pairs import adversarial_pairs, further_pairs

__all__ = ["EXTRAS", "PEERS", "ROWS", "Row", "audit"]

PEERS = ("dp_sniper", "dp_sniper_small", "stat_dp", "delta_siege")


@dataclass(frozen=True)
class Row:
    """A row of the benchmark.

    Parameters
    ----------
    name, target : str
        What it is called, and the mechanism's place.
    epsilon : str
        What was published about the true epsilon.
    dp_sniper, dp_sniper_small, stat_dp, delta_siege : float, optional
        Published lower bounds on epsilon.
    ours_to_reach : float
        The share of the true epsilon that is to be certified.
    low_bits : bool
        Whether the row is about the floats of the noise, not about the ideal mechanism.
    independent, noise_scale : int, float
        How many independent Laplace variables of this scale move by 1; 0 where the row is of another kind.
    """

    name: str
    target: str
    epsilon: str
    dp_sniper: float | None = None
    dp_sniper_small: float | None = None
    stat_dp: float | None = None
    delta_siege: float | None = None
    ours_to_reach: float = 0.0
    low_bits: bool = False
    independent: int = 0
    noise_scale: float = 1.0

    @property
    def best_peer(self) -> float | None:
        """The largest published lower bound."""
        return max((bound for peer in PEERS if (bound := getattr(self, peer)) is not None), default=None)


_TABLES = tomllib.loads(Path(__file__).with_name("rows.toml").read_text(encoding="utf-8"))

ROWS = tuple(Row(**table) for table in _TABLES["row"])
"""The twenty mechanisms that the peers were compared on."""

EXTRAS = tuple(Row(**table) for table in _TABLES["extra"])
"""Two means that reveal the number of records, and Laplace noise in floats."""


def audit(row: Row, *, calls: int, seed: int, alpha: float, progress: Progress | None = None) -> HuntResult:
    """Sample a row: its ideal mechanism, or its floats as they are in one question where the row is about them.

    Parameters
    ----------
    row : Row
        The row.
    calls, seed, alpha, progress
        As for `hunt`.
    """
    mechanism = load_target(row.target)
    task = Task(
        row.target,
        mechanism.claims[0],
        mechanism.neighbours,
        alpha,
        seed,
        calls,
        MOST_SECONDS,
        own_claim=True,
        questions=Questions.FLOATS if row.low_bits else Questions.IDEAL,
    )
    pairs = adversarial_pairs(mechanism.neighbours, seed=seed)
    further = further_pairs(mechanism.neighbours, pairs, seed=seed, numbers=numbers_in_code(mechanism))
    return sample_pairs(task, mechanism.sample, pairs, progress=progress, further=further)
