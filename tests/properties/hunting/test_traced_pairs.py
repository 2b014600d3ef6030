"""Pairs of traced distributions of which a part is not known: what is certified of them holds for the whole."""

import math
from collections.abc import Mapping
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from dpassay.claims import (
    ZCDP,
    ApproximateDP,
    ApproximateZCDP,
    BoundedRange,
    Claim,
    ConcentratedDP,
    GaussianDP,
    ProbabilisticDP,
    PureDP,
    RenyiDP,
)
from dpassay.neighbours import parse_neighbours
from dpassay.properties.hunting.decision import Decision
from dpassay.properties.hunting.divergences import Tabulated
from dpassay.properties.hunting.traced import decide
from dpassay.properties.hunting.traced_pairs import distributions
from dpassay.spec.ball import float_lower, float_upper
from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.leaves.model import Leaf, LeafModel
from dpassay.spec.notions.base import find_notion

Array = NDArray[np.float64]
CLAIMS: tuple[Claim, ...] = (
    PureDP(0.5),
    ApproximateDP(0.3, 0.01),
    ProbabilisticDP(0.3, 0.01),
    ZCDP(0.1),
    ApproximateZCDP(0.1, 0.01),
    ConcentratedDP(0.1, 0.5),
    RenyiDP(2.0, 0.1),
    RenyiDP(1.25, 0.1),
    BoundedRange(0.5),
    GaussianDP(0.5),
)
LATTICE = parse_neighbours("vector:size=1,linf=1,integer")

weights = st.lists(st.integers(0, 9), min_size=2, max_size=5).filter(any)


def known_part(whole: FiniteDistribution, hidden: Mapping[int, Fraction]) -> LeafModel:
    """Return the model of which a share of each outcome was not traced; outcomes that are not traced at all go."""
    leaves, lost = [], Fraction(0)
    for outcome, weight in whole.weights.items():
        share = hidden.get(int(str(outcome)), Fraction(0))
        lost += share * weight
        if share < 1:
            leaves.append(Leaf((), (1 - share) * weight, outcome))
    return LeafModel(tuple(leaves), lost)


shares = st.dictionaries(
    st.integers(0, 4), st.sampled_from([Fraction(1, 2**60), Fraction(1, 100), Fraction(1, 2), Fraction(1)])
)


@pytest.mark.parametrize("claim", CLAIMS, ids=str)
@given(weights, weights, shares, shares)
def test_the_divergence_of_what_is_known_is_not_above_that_of_the_whole(
    claim: Claim, left: list[int], right: list[int], on_left: dict[int, Fraction], on_right: dict[int, Fraction]
) -> None:
    wholes = FiniteDistribution.of(*left), FiniteDistribution.of(*right)
    models = [known_part(whole, hidden) for whole, hidden in zip(wholes, (on_left, on_right), strict=True)]
    if any(not model.leaves for model in models):
        return  # a trace without a leaf is refused before
    first, second = (Tabulated.of(one) for one in distributions(*models))
    asked = find_notion(claim).through_cells(claim) if first.is_partition else claim
    known = find_notion(asked).divergence(asked, first, second)
    whole = find_notion(claim).divergence(claim, *wholes)
    assert not float_lower(known) > float_upper(whole)
    for outcome in first.outcomes:
        low, high = first.mass([outcome])
        assert low <= float(wholes[0].weights.get(outcome, Fraction(0))) * (1 + 1e-15)
        assert high >= float(wholes[0].weights.get(outcome, Fraction(0))) * (1 - 1e-15)


@pytest.mark.parametrize("claim", CLAIMS, ids=str)
def test_a_loss_is_found_beside_a_little_unknown_mass(claim: Claim) -> None:
    wholes = FiniteDistribution.of(4, 1), FiniteDistribution.of(1, 4)
    models = [known_part(whole, {0: Fraction(1, 2**60)}) for whole in wholes]
    first, second = (Tabulated.of(one) for one in distributions(*models))
    asked = find_notion(claim).through_cells(claim)
    known = find_notion(asked).divergence(asked, first, second)
    assert float_lower(known) == pytest.approx(float_lower(find_notion(asked).divergence(asked, *wholes)), rel=1e-9)


# --- noise whose tails are cut off ---------------------------------------------------------------------------


LOSS = math.log(8)
"""The loss of the two-sided geometric mechanism with p = 7/8, -log(1 - p), at every outcome beyond both inputs."""


def two_sided(data: Array, size: int, rng: np.random.Generator) -> Array:
    noisy: Array = data[0] + rng.geometric(0.875, size) - rng.geometric(0.875, size)
    return noisy


def counted(data: Array, size: int, rng: np.random.Generator) -> Array:
    noisy: Array = data[0] + rng.poisson(2.0, size)
    return noisy


def poisson_delta(epsilon: float) -> float:
    """Return the larger hockey-stick divergence of Poisson(2) and its shift by 1, both orders."""
    masses = [math.exp(k * math.log(2) - 2 - math.lgamma(k + 1)) for k in range(80)]
    pairs = [(masses[0], 0.0), *((masses[k], masses[k - 1]) for k in range(1, 80))]
    ratio = math.exp(epsilon)
    return max(math.fsum(max(0.0, a - ratio * b) for a, b in order)
               for order in (pairs, [(b, a) for a, b in pairs]))  # fmt: skip


def decision(target: object, claim: Claim) -> Decision:
    return decide(target, claim, LATTICE, seed=0, seconds=30)


@pytest.mark.traced
@pytest.mark.parametrize(
    "claim",
    [PureDP(LOSS), ZCDP(LOSS**2 / 2), BoundedRange(2 * LOSS), RenyiDP(8.0, LOSS)],
    ids=str,
)
def test_geometric_noise_keeps_what_it_is_known_to_keep(claim: Claim) -> None:
    found = decision(two_sided, claim)
    assert found.verdict != "violated"
    assert found.finding is not None
    bound = next(bound for bound in found.finding.bounds if bound.quantity == "epsilon")
    assert bound.lower == pytest.approx(2 * LOSS if isinstance(claim, BoundedRange) else LOSS, rel=1e-6)


@pytest.mark.traced
def test_geometric_noise_is_refuted_beyond_its_loss() -> None:
    assert decision(two_sided, PureDP(LOSS * (1 - 1e-6))).verdict == "violated"


@pytest.mark.traced
def test_poisson_noise_at_the_delta_that_it_has() -> None:
    delta = poisson_delta(0.5)
    assert decision(counted, ApproximateDP(0.5, delta * (1 + 1e-6))).verdict != "violated"
    assert decision(counted, ApproximateDP(0.5, delta * (1 - 1e-6))).verdict == "violated"
    assert decision(counted, PureDP(30.0)).verdict == "violated"
