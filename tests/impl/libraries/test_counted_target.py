"""A search without an end raises, and one with an end is not disturbed."""

import numpy as np
import pytest

from dpassay.impl.libraries.counted_target import CountedTarget, EndlessSearchError


def _bisected(target: float, start: float, tolerance: float) -> float:
    low, high = 0.0, start
    while high - low > tolerance:
        middle = (low + high) / 2
        if np.float64(1 / (1 + middle)) > target:
            low = middle
        else:
            high = middle
    return high


def test_search_with_an_end_is_not_disturbed() -> None:
    assert _bisected(CountedTarget(0.25), 100.0, 1e-9) == _bisected(0.25, 100.0, 1e-9) == pytest.approx(3.0)


def test_search_below_the_spacing_of_floats_raises() -> None:
    with pytest.raises(EndlessSearchError, match="compared 10000 times"):
        _bisected(CountedTarget(1e-10), 1e11, 1e-9)


@pytest.mark.parametrize("other", [0.25, 0.5, 1.0, np.float64(0.25), np.float64(0.75)])
def test_comparisons_are_those_of_the_number(other: float) -> None:
    target = CountedTarget(0.5)
    assert (target < other, target <= other, target > other, target >= other) == (
        other > 0.5,
        other >= 0.5,
        other < 0.5,
        other <= 0.5,
    )
    assert (other < target, other <= target, other > target, other >= target) == (
        other < 0.5,
        other <= 0.5,
        other > 0.5,
        other >= 0.5,
    )
    assert other - target == other - 0.5
    assert (other == target) == (other == 0.5)
