"""Every mechanism of the catalogue beside its entry: each parameter is moved alone, and everything must follow.

The sampler, the exact distribution, the worst-pair theorem and the claim are four derivations. At the parameters of
the catalogue many a factor is 1 and many an end 0, so that two of them agree by accident.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from flint import arb
from numpy.typing import NDArray
from tests.checks.parameters import moved
from tests.checks.sampling import assert_follows

from dpassay.impl.catalogue import Entry, entries
from dpassay.properties.neighbours.pairs import adversarial_pairs
from dpassay.properties.pairing.registry import (
    exact_distribution,
    has_exact_distribution,
    pair_distribution,
    worst_case,
    worst_pairs,
)
from dpassay.spec.distributions.discrete import DiscreteDistribution
from dpassay.spec.notions.base import allowed, find_notion

DRAWS = 2_500
MANY = 200
"""Distributions with more outcomes are left to the other tests of their mechanisms."""
CLAIM_OF_THE_CALLER = {"ResponseSequence", "FilteredStars"}
"""The claim is a parameter of its own, and is false at other parameters."""
SLOW = {"GaussianAboveThreshold", "GaussianNoisyMax", "IndividualSVT", "RepeatedSums", "ResponseTopK", "SweptTopK"}
"""Their distributions or samplers take seconds; tests of their own move their parameters."""
REACHED = 0.999
"""Share of a bound that is reached at moved parameters where all of it is at those of the catalogue."""
NOT_REACHED = {("restarted_sparse_vector", "cutoff")}
"""The pair that is declared is the worst one for a single answer above the threshold."""
UNITS = ("sensitivity", "linf")
"""Whole numbers that are neighbours have no other."""

Array = NDArray[np.float64]
Sides = tuple[DiscreteDistribution, DiscreteDistribution]

COVERED = [
    entry
    for entry in entries()
    if entry.mutation is None
    and type(entry.mechanism).__name__ not in CLAIM_OF_THE_CALLER | SLOW
    and has_exact_distribution(entry.mechanism)
]


def name_of(entry: Entry) -> str:
    return entry.where.rpartition(":")[2]


def pair_of(mechanism: Any) -> tuple[Array, Array]:
    """Return the pair that is declared to be the worst, or an adversarial one."""
    relation = mechanism.neighbours
    return next(iter(worst_pairs(mechanism, relation)), None) or adversarial_pairs(relation, seed=0, limit=1)[0]


def sides_of(mechanism: Any, pair: tuple[Array, Array]) -> Sides | None:
    left, right = (exact_distribution(mechanism, data) for data in pair)
    sides = pair_distribution(mechanism, *pair) if left is None or right is None else (left, right)
    return sides if sides is not None and len(sides[0].outcomes) <= MANY else None


def variants(entry: Entry) -> Iterator[tuple[str, Any]]:
    yield "as it is", entry.mechanism
    for name, mechanism in moved(entry.mechanism):
        if not (getattr(mechanism.neighbours, "integer", False) and name in UNITS):
            yield name, mechanism


def figures(mechanism: Any, sides: Sides) -> Iterator[tuple[arb, list[arb]]]:
    """Yield, for each claim, its divergence over both orders, and what must not be below it: claim and theorem."""
    for claim in mechanism.claims:
        found = [find_notion(claim).divergence(claim, *order) for order in (sides, sides[::-1])]
        theorem = worst_case(mechanism, claim)
        yield found[0].max(found[1]), [allowed(claim), *([theorem()] if theorem is not None else [])]


@pytest.mark.parametrize("entry", COVERED, ids=name_of)
def test_samplers_follow_their_distributions(entry: Entry) -> None:
    for _, mechanism in variants(entry):
        pair = pair_of(mechanism)
        sides = sides_of(mechanism, pair)
        for data, side in zip(pair, sides, strict=True) if sides is not None else ():
            assert_follows(mechanism, data, side, np.random.default_rng(1), DRAWS)


@pytest.mark.parametrize("entry", COVERED, ids=name_of)
def test_claims_and_theorems_bound_the_divergence_and_stay_attained(entry: Entry) -> None:
    attained: list[list[bool]] = []
    for name, mechanism in variants(entry):
        sides = sides_of(mechanism, pair_of(mechanism))
        rows = list(figures(mechanism, sides)) if sides is not None else []
        assert not any(bound < found for found, bounds in rows for bound in bounds), name
        reached = [[bool(found > bound * REACHED) for bound in bounds] for found, bounds in rows]
        attained = attained or [[bool(found > bound * (1 - 1e-9)) for bound in bounds] for found, bounds in rows]
        if (name_of(entry), name) not in NOT_REACHED:
            for before, after in zip(attained, reached, strict=False):
                assert all(not b or a for b, a in zip(before, after, strict=True)), name
