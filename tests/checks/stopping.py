"""Whether a stopping rule and an ex-post bound read what was released, and nothing else.

A rule is replayed: with the same releases up to its decision and another future, and with the same releases from
another answer. A stopping function decides as before, always; one that looks ahead, or at the data, is told by the
runs that end elsewhere. (A rule that misuses what it may see on a set of runs that are never drawn goes unnoticed.)
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import ExPost
from dpassay.impl.mechanisms.noise_reduction import NoiseReduction

__all__ = ["ChangedDecisions", "bounds_that_read_the_data", "changed_decisions"]

Array = NDArray[np.float64]
_GRID = 2.0**20
_SHIFTS = (1.0, -1.0, 8.0, -8.0)


@dataclass(frozen=True)
class ChangedDecisions:
    """How many runs ended elsewhere in a replay.

    Parameters
    ----------
    by_the_future : int
        With the same releases, and another future.
    by_the_data : int
        With the same releases on another answer.
    """

    by_the_future: int
    by_the_data: int


def changed_decisions(
    mechanism: NoiseReduction, data: Array, rng: np.random.Generator, *, runs: int = 2000
) -> ChangedDecisions:
    """Replay `runs` runs of a mechanism on `data` and count the decisions that change.

    Noise is rounded to multiples of 2^-20 and answers to integers, so that a shift of both changes no release.

    Parameters
    ----------
    mechanism : NoiseReduction
        With its own `noise` and `released`.
    data : ndarray
        The answer, rounded.
    rng : numpy.random.Generator
        Source of randomness.
    runs : int
        How many runs are replayed, per future and shift.
    """
    answers = np.round(data)
    noise, other = (np.round(mechanism.noise(runs, rng) * _GRID) / _GRID for _ in range(2))
    counts = mechanism.released(answers, noise)
    released = np.arange(noise.shape[1]) < counts[:, None]
    replay = np.where(released[:, :, None], noise, other)
    by_the_future = int(np.sum(mechanism.released(answers, replay) != counts))
    by_the_data = [np.sum(mechanism.released(answers + x, noise - x) != counts) for x in _SHIFTS]
    return ChangedDecisions(by_the_future, int(max(by_the_data)))


def bounds_that_read_the_data(
    claim_of: Callable[[Array], ExPost], inputs: Sequence[Array], outcomes: Sequence[Hashable]
) -> list[Hashable]:
    """Return the outcomes at which an ex-post bound depends on the input, which it must not.

    Parameters
    ----------
    claim_of : callable
        From an input to the bound that the mechanism would report on it.
    inputs : sequence of arrays
        Inputs to compare.
    outcomes : sequence
        Outcomes at which the bounds are compared.
    """
    claims = [claim_of(data) for data in inputs]
    return [outcome for outcome in outcomes if len({claim.epsilon_of(outcome) for claim in claims}) > 1]
