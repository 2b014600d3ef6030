import math

import numpy as np
import pytest

from dpassay.arguments import UsageError
from dpassay.claims import ZCDP
from dpassay.impl.mechanisms.gumbel_selection import GumbelSelection, peeling_order

RUNS = 40_000
MARGIN = math.sqrt(math.log(2e10) / (2 * RUNS))
"""Hoeffding: a frequency is further off with probability below 1e-10."""

COUNTS = np.array([3.0, 2.0, 0.0])
WEIGHTS = np.exp(0.5 * COUNTS)


def test_selection_follows_the_exponential_weights() -> None:
    picks = GumbelSelection(3, 0.5).sample(COUNTS, RUNS, np.random.default_rng(0))
    frequencies = np.bincount(picks, minlength=3) / RUNS
    assert np.abs(frequencies - WEIGHTS / WEIGHTS.sum()).max() < MARGIN


def test_peeling_is_selection_without_replacement() -> None:
    order = peeling_order(COUNTS, 0.5, RUNS, np.random.default_rng(1))
    assert (np.sort(order, axis=1) == np.arange(3)).all()
    for first in range(3):
        for second in set(range(3)) - {first}:
            rest = WEIGHTS.sum() - WEIGHTS[first]
            expected = WEIGHTS[first] / WEIGHTS.sum() * WEIGHTS[second] / rest
            assert abs(((order[:, 0] == first) & (order[:, 1] == second)).mean() - expected) < MARGIN


def test_it_claims_an_eighth_of_the_square() -> None:
    claim = GumbelSelection(3, 0.1).claims[0]
    assert isinstance(claim, ZCDP)
    assert claim.rho == pytest.approx(0.00125, rel=1e-12)
    assert GumbelSelection(3, 0.1).neighbours.monotone


def test_bad_parameters() -> None:
    with pytest.raises(UsageError, match="epsilon"):
        GumbelSelection(3, 0.0)
    with pytest.raises(UsageError, match="size"):
        GumbelSelection(0, 1.0)
    with pytest.raises(UsageError, match="epsilon"):
        peeling_order(COUNTS, math.nan, 1, np.random.default_rng(0))
    for counts in ([1.0, math.nan], [[1.0]], "many"):
        with pytest.raises(UsageError, match="counts"):
            peeling_order(counts, 1.0, 1, np.random.default_rng(0))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="runs"):
        peeling_order(COUNTS, 1.0, -1, np.random.default_rng(0))
