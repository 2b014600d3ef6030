"""The way of writing a pair changes nothing: listed zeros, the order of outcomes, their names, the side."""

import itertools
from fractions import Fraction

import pytest

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
from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.interactions.transcripts import Round
from dpassay.spec.notions.base import all_notions, find_notion
from dpassay.spec.notions.bounded_range import range_ratio

Pair = tuple[FiniteDistribution, FiniteDistribution]

CLAIMS: list[Claim] = [
    PureDP(1.2),
    ApproximateDP(0.5, 0.2),
    ProbabilisticDP(0.7, 0.3),
    RenyiDP(2, 0.4),
    ZCDP(0.3),
    ApproximateZCDP(0.2, 0.3, 0.3),
    ConcentratedDP(0.3, 1.0),
    BoundedRange(1.5),
    GaussianDP(0.9),
]
PAIRS: dict[str, Pair] = {
    "response": (FiniteDistribution.of(3, 1), FiniteDistribution.of(1, 3)),
    "uneven": (FiniteDistribution.of(5, 3, 2), FiniteDistribution.of(2, 3, 5)),
    "left only": (FiniteDistribution.of(1, 8, 1), FiniteDistribution.of(0, 9, 1)),
    "right only": (FiniteDistribution.of(0, 9, 1), FiniteDistribution.of(1, 8, 1)),
    "each alone": (FiniteDistribution.of(1, 9, 0), FiniteDistribution.of(0, 9, 1)),
    "apart": (FiniteDistribution.of(1, 0), FiniteDistribution.of(0, 1)),
    "equal": (FiniteDistribution.of(1, 2), FiniteDistribution.of(1, 2)),
}


def without_zeros(distribution: FiniteDistribution) -> FiniteDistribution:
    return FiniteDistribution({o: p for o, p in distribution.weights.items() if p})


def reversed_and_renamed(distribution: FiniteDistribution) -> FiniteDistribution:
    return FiniteDistribution({f"outcome {o}": p for o, p in reversed(list(distribution.weights.items()))})


def test_every_notion_is_asked() -> None:
    asked = {type(claim) for claim in CLAIMS}
    assert {notion.claim_type.__name__ for notion in all_notions()} - {t.__name__ for t in asked} == {"ExPost"}


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("claim", CLAIMS, ids=repr)
def test_the_way_of_writing_a_pair_does_not_matter(claim: Claim, name: str) -> None:
    left, right = PAIRS[name]
    decide = find_notion(claim).decide
    plain = decide(claim, left, right).outcome
    for write in (without_zeros, reversed_and_renamed):
        for sides in ((write(left), write(right)), (without_zeros(write(left)), write(right))):
            assert decide(claim, *sides).outcome is plain, write.__name__


@pytest.mark.parametrize("name", PAIRS)
def test_the_range_is_the_same_from_both_sides(name: str) -> None:
    left, right = PAIRS[name]
    ways = itertools.product((left, without_zeros(left)), (right, without_zeros(right)))
    assert len({range_ratio(*pair) for pair in ways} | {range_ratio(right, left)}) == 1


@pytest.mark.parametrize("name", PAIRS)
def test_the_delta_of_a_round_covers_both_orders(name: str) -> None:
    left, right = PAIRS[name]
    for ratio in (Fraction(1), Fraction(3, 2), Fraction(4)):
        forth, back = Round(left, right, ratio), Round(right, left, ratio)
        excess = [
            sum(max(p.probability(o) - ratio * q.probability(o), Fraction(0)) for o in {*p.outcomes, *q.outcomes})
            for p, q in ((left, right), (right, left))
        ]
        assert forth.approximate_delta == back.approximate_delta == max(excess)
