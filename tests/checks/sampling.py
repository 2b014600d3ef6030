"""Whether outcomes follow a distribution, counted by outcomes or by cells.

A count k of n with chance p satisfies n KL(k/n, p) > t with probability at most 2 e^-t (Chernoff); shared by union.
"""

import math
from collections import Counter
from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.properties.outcomes.batch import Outcomes
from dpassay.properties.outcomes.events import Event
from dpassay.spec.distributions.discrete import DiscreteDistribution

__all__ = ["ALARM", "assert_follows"]

ALARM = 1e-11
"""Probability, at most, that one call of `assert_follows` fails on a correct sampler."""


def assert_follows(
    mechanism: Any, data: NDArray[np.float64], distribution: DiscreteDistribution, rng: np.random.Generator, draws: int
) -> None:
    """Assert that `draws` outcomes of a mechanism on some data follow a distribution.

    Parameters
    ----------
    mechanism
        What is sampled.
    data : array
        Its input.
    distribution : DiscreteDistribution
        What its outcomes should follow; an outcome of the distribution that is an event stands for the outcomes in it.
    rng : numpy.random.Generator
        Source of randomness.
    draws : int
        How many outcomes are drawn.
    """
    counts = _counted(distribution.outcomes, Outcomes.of(mechanism.sample(data, draws, rng)))
    limit = math.log(2 * len(counts) / ALARM)
    for cell, count in counts.items():
        share, chance = count / draws, float(distribution.log_probability(cell).exp())
        parts = ((share, chance), (1 - share, 1 - chance))
        divergence = sum(a * math.log(a / b) if b > 0 else math.inf for a, b in parts if a > 0)
        assert draws * divergence <= limit, f"{cell}: {share}, but should be {chance} on {data} of {mechanism}"
    assert sum(counts.values()) == draws


def _counted(cells: tuple[Hashable, ...], outcomes: Outcomes) -> dict[Hashable, int]:
    """Count the outcomes in each cell; an outcome that is no event stands for itself."""
    seen = Counter(outcomes.atoms())
    return {cell: int(cell.holds(outcomes).sum()) if isinstance(cell, Event) else seen.get(cell, 0) for cell in cells}
