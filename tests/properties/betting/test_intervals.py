"""Intervals for the probability of an event."""

import pytest

from dpassay.properties.betting.intervals import clopper_pearson


def test_intervals_of_clopper_and_pearson_cover_at_their_ends() -> None:
    from scipy.stats import binom

    low, high = clopper_pearson(3, 20)
    assert binom.sf(2, 20, low) == pytest.approx(0.025)
    assert binom.cdf(3, 20, high) == pytest.approx(0.025)
    assert clopper_pearson(0, 0) == (0.0, 1.0)
