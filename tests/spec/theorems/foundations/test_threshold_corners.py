"""Largest losses over a bounded range, against searches over pairs and over sequences of runs."""

import itertools
from fractions import Fraction

import pytest

from dpassay.arguments import UsageError
from dpassay.spec.distributions.discrete import max_divergence
from dpassay.spec.distributions.noisy_threshold import LaplaceThreshold
from dpassay.spec.distributions.sparse_vector import SparseVectorDistribution
from dpassay.spec.theorems.foundations.threshold_corners import CornerLosses, patterns

SETTING = LaplaceThreshold(Fraction(1, 2), 2, 3)
CORNERS = CornerLosses(SETTING, 0, 2, 1)


def largest_on_a_grid(size: int, cutoff: int, *, refreshed: bool, monotone: bool = False) -> float:
    """Search all pairs of integers in [0, 2]; monotone pairs move one way."""
    streams = list(itertools.product((0, 1, 2), repeat=size))
    pairs = (
        (left, right)
        for left in streams
        for right in streams
        if left != right and all(abs(a - b) <= 1 for a, b in zip(left, right, strict=True))
        if not monotone or len({a > b for a, b in zip(left, right, strict=True) if a != b}) == 1
    )
    return max(
        float(max_divergence(*(SparseVectorDistribution(side, SETTING, cutoff, refreshed) for side in pair)).mid())
        for pair in pairs
    )


@pytest.mark.parametrize(("size", "cutoff"), [(1, 1), (2, 1), (2, 2), (3, 1)])
@pytest.mark.parametrize("refreshed", [False, True])
def test_no_pair_of_the_grid_loses_more_and_one_loses_as_much(size: int, cutoff: int, refreshed: bool) -> None:
    worst = float(CORNERS.largest(size, cutoff, refreshed=refreshed).mid())
    assert worst == pytest.approx(largest_on_a_grid(size, cutoff, refreshed=refreshed), rel=1e-12)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_with_one_hit_no_monotone_pair_of_the_grid_loses_more_and_one_loses_as_much(size: int) -> None:
    worst = float(CornerLosses(SETTING, 0, 2, 1, monotone=True).largest(size, 1).mid())
    assert worst == pytest.approx(largest_on_a_grid(size, 1, refreshed=False, monotone=True), rel=1e-12)


@pytest.mark.parametrize("cost", [Fraction(0), Fraction(2, 3), Fraction(5)])
def test_restarted_runs_are_arranged_at_their_worst(cost: Fraction) -> None:
    size, cutoff = 7, 3
    losses = {p: float(CORNERS.loss(p).mid()) for n in range(size + 1) for p in ((n, 0), (n, 1))}

    def worst(left: int, hits: int) -> float:
        if hits == 0:
            return 0.0
        runs = (losses[k - 1, 1] + float(cost) + worst(left - k, hits - 1) for k in range(1, left + 1))
        return max([losses[left, 0], *runs])

    found = CORNERS.largest(size, cutoff, refreshed=True, cost_of_hit=cost)
    assert float(found.mid()) == pytest.approx(worst(size, cutoff), rel=1e-12)


def test_monotone_pairs_lose_less() -> None:
    monotone = CornerLosses(SETTING, 0, 2, 1, monotone=True)
    for pattern in ((3, 1), (0, 2), (4, 0)):
        assert not monotone.loss(pattern) > CORNERS.loss(pattern)
    assert monotone.loss((3, 1)) < CORNERS.loss((3, 1))


def test_a_cost_of_hits_is_added() -> None:
    plain, more = CORNERS.largest(3, 2), CORNERS.largest(3, 2, cost_of_hit=Fraction(5))
    assert float((more - plain).mid()) <= 10
    assert float(more.mid()) == pytest.approx(10 + max(float(CORNERS.loss((m, 2)).mid()) for m in (0, 1)))


def test_a_range_without_width_loses_nothing_and_a_wrong_one_is_refused() -> None:
    assert CornerLosses(SETTING, 1, 1, 1).largest(4, 2) == 0
    with pytest.raises(UsageError, match="low"):
        CornerLosses(SETTING, 1, 0, 1).loss((1, 1))


def test_patterns_of_a_cutoff_beyond_the_stream() -> None:
    assert list(patterns(2, 1)) == [(2, 0), (0, 1), (1, 1)]
    assert list(patterns(2, 5)) == [(2, 0), (1, 1), (0, 2)]
