"""Pairs that are declared for a mechanism are tried first, if the relation admits them."""

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from dpassay.claims import Claim, PureDP
from dpassay.neighbours import VectorNeighbours
from dpassay.properties.hunting.hunt import hunt
from dpassay.properties.pairing.registry import register_distribution, register_worst_pairs, worst_pairs
from dpassay.spec.distributions.discrete import FiniteDistribution

Array = NDArray[np.float64]
RELATION = VectorNeighbours(2, linf=1.0, low=0.0, high=100.0)
SECRET = np.array([37.25, 61.5])


@dataclass(frozen=True)
class GivesItselfAway:
    """Outputs 1 on one input that no search would think of, and 0 on all others."""

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Pure DP."""
        return (PureDP(1.0),)

    @property
    def neighbours(self) -> VectorNeighbours:
        """Moves of at most 1."""
        return RELATION

    def sample(self, data: Array, size: int, _rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw `size` outcomes."""
        return np.full(size, int(np.array_equal(data, SECRET)))


class GivesItselfAwayToo(GivesItselfAway):
    """The same, with a pair that shows it."""


def distribution(_mechanism: GivesItselfAway, data: Array) -> FiniteDistribution:
    return FiniteDistribution.of(*((0, 1) if np.array_equal(data, SECRET) else (1, 0)))


register_distribution(GivesItselfAway, distribution)
register_distribution(GivesItselfAwayToo, distribution)
register_worst_pairs(GivesItselfAwayToo, lambda _mechanism, _relation: [(SECRET, SECRET + 2), (SECRET, SECRET + 1)])


def test_a_declared_pair_is_tried() -> None:
    assert hunt(GivesItselfAway()).verdict == "holds"
    found = hunt(GivesItselfAwayToo())
    assert found.verdict == "violated"
    assert found.epsilon_lower == np.inf


def test_pairs_outside_the_relation_are_left_out() -> None:
    ((left, right),) = worst_pairs(GivesItselfAwayToo(), RELATION)
    assert np.array_equal(right - left, [1.0, 1.0])
    assert worst_pairs(GivesItselfAway(), RELATION) == []


def test_pairs_are_declared_once() -> None:
    with pytest.raises(ValueError, match="two entries for the worst pairs"):
        register_worst_pairs(GivesItselfAwayToo, lambda _mechanism, _relation: [])
