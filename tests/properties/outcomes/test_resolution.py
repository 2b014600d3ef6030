"""The step of float64 beside the spread of outcomes."""

import numpy as np
import pytest

from dpassay.properties.outcomes.batch import Outcomes
from dpassay.properties.outcomes.resolution import LATTICE_SHOWS, ROUNDING_SHOWS, rounding_step

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("answer", "low", "high"),
    [(0.0, 0.0, 2.0**-50), (1e6, 2.0**-35, 2.0**-33), (2.0**53, 1.0, 2.0)],
)
def test_the_step_grows_with_the_data(answer: float, low: float, high: float) -> None:
    """The noisy numbers modulo 7 have an interquartile range between 1 and 7."""
    data = np.array([answer])
    outcomes = Outcomes.of((answer + RNG.laplace(size=1000)) % 7)  # the numbers released are small
    assert low <= rounding_step(outcomes, data, data + 2) <= high


def test_words_and_whole_numbers_have_the_spread_of_the_move() -> None:
    left, right = np.array([2.0**40]), np.array([2.0**40 + 2.0**30])
    expected = float(np.spacing(2.0**40 + 2.0**30)) / 2.0**30
    for outcomes in (Outcomes.of(["a", "b"]), Outcomes.of(np.array([1, 2, 3])), Outcomes.of([("a", 1), ("b", 2)])):
        assert rounding_step(outcomes, left, right) == expected


def test_the_narrowest_number_counts() -> None:
    wide, narrow = RNG.normal(size=500), RNG.normal(size=500) / 2**20
    data = np.array([1.0])
    both = rounding_step(Outcomes.of(np.stack([wide, narrow], axis=1)), data, data)
    assert both == rounding_step(Outcomes.of(narrow), data, data)
    listed = Outcomes.of([{"wide": w, "narrow": n} for w, n in zip(wide, narrow, strict=True)])
    assert rounding_step(listed, data, data) == pytest.approx(both)


def test_large_released_numbers_count_as_well() -> None:
    data = np.array([1.0])
    released = Outcomes.of(2.0**40 + RNG.laplace(size=1000))
    assert rounding_step(released, data, data) > ROUNDING_SHOWS > LATTICE_SHOWS
