"""Every mechanism of the catalogue looks at all of its data: a check of privacy alone passes one that does not.

With one seed, a mechanism that ignores a number draws the same outcomes whatever that number is. The outcomes on two
inputs that differ in this number alone, and much, must therefore differ somewhere.
"""

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpassay.arguments import UsageError
from dpassay.impl.catalogue import Entry, entries
from dpassay.mechanism import ClaimedMechanism
from dpassay.neighbours import RecordNeighbours, VectorNeighbours

Array = NDArray[np.float64]

SOUND = [entry for entry in entries() if entry.mutation is None]
FAR = 50
"""How many units of the neighbour relation an unbounded number is moved."""
DRAWS = (40, 6000)
"""How often a mechanism is sampled; more often if that shows nothing (a session may halt before the last number)."""


def ends(relation: VectorNeighbours | RecordNeighbours) -> tuple[float, float]:
    """Return two values that every number may have, far apart."""
    units = (getattr(relation, name, None) for name in ("linf", "l2", "l1"))
    reach = FAR * next((unit for unit in units if unit is not None), 1.0)
    low = relation.low if np.isfinite(relation.low) else -reach
    high = relation.high if np.isfinite(relation.high) else reach
    return low, high


def outcomes(mechanism: ClaimedMechanism, data: Array, draws: int) -> list[str]:
    drawn: Any = mechanism.sample(data, draws, np.random.default_rng(5))
    assert len(drawn) == draws
    return [str(outcome) for outcome in drawn]


def matters(mechanism: ClaimedMechanism, size: int, position: int, values: tuple[float, float]) -> bool:
    """Return whether the number at a position changes an outcome, the others all low or all high."""
    for draws, others in itertools.product(DRAWS, values):
        pair = []
        for value in values:
            data = np.full(size, others)
            data[position] = value
            pair.append(outcomes(mechanism, data, draws))
        if pair[0] != pair[1]:
            return True
    return False


@pytest.mark.parametrize("entry", SOUND, ids=[entry.where.rpartition(":")[2] for entry in SOUND])
def test_every_number_matters(entry: Entry) -> None:
    relation = entry.mechanism.neighbours
    size = max(relation.size, 1)
    ignored = [k for k in range(size) if not matters(entry.mechanism, size, k, ends(relation))]
    assert ignored == []


class IgnoresTheLast:
    """A histogram that never looks at its last count: private, and useless."""

    claims = ()
    neighbours = VectorNeighbours(size=3, linf=1.0)

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        """Draw `size` outcomes."""
        return np.asarray(np.append(data[:-1], 0.0) + rng.laplace(size=(size, 3)))


def test_a_number_that_is_ignored_is_seen() -> None:
    values = ends(IgnoresTheLast.neighbours)
    assert [matters(IgnoresTheLast(), 3, k, values) for k in range(3)] == [True, True, False]


def test_ends_are_inside_the_domain() -> None:
    for entry, values in itertools.product(SOUND, (0, 1)):
        relation = entry.mechanism.neighbours
        assert relation.low <= ends(relation)[values] <= relation.high


@pytest.mark.parametrize("entry", SOUND, ids=[entry.where.rpartition(":")[2] for entry in SOUND])
def test_data_outside_the_domain_is_refused(entry: Entry) -> None:
    """One number a little below or above the range, one that is none, and a vector of the wrong length."""
    relation = entry.mechanism.neighbours
    size, (low, high) = max(relation.size, 1), ends(relation)
    inside = np.full(size, low)
    entry.mechanism.sample(inside, 1, np.random.default_rng(0))
    beside = (relation.low - (high - low) / 8, relation.high + (high - low) / 8)
    wrong = [np.append(inside[1:], x) for x in (np.nan, np.inf, *beside)]
    if isinstance(relation, VectorNeighbours):
        wrong += [np.append(inside, low), inside[1:]]
    accepted = []
    for data in wrong:
        try:
            entry.mechanism.sample(data, 1, np.random.default_rng(0))
        except UsageError:
            continue
        accepted.append(data.tolist())
    assert accepted == []
