"""BetweenThresholds depends on the width between its thresholds, wherever they lie, in units of the sensitivity."""

import numpy as np
import pytest

from dpassay.impl.accounting.target_quality import between_thresholds_quality
from dpassay.impl.mechanisms.between_thresholds import BetweenThresholds


@pytest.mark.parametrize("low", [-7.5, 0.0, 100.0])
@pytest.mark.parametrize("sensitivity", [0.5, 1.0, 3.0])
def test_the_quality_depends_on_the_width_in_units_of_the_sensitivity(low: float, sensitivity: float) -> None:
    mechanism = BetweenThresholds(0.5, low, low + 4 * sensitivity, sensitivity)
    assert mechanism.quality == float(between_thresholds_quality(0.5, 4.0))


@pytest.mark.parametrize("low", [-7.5, 0.0, 100.0])
def test_outcomes_are_those_of_the_shifted_and_scaled_problem(low: float) -> None:
    plain = BetweenThresholds(0.5, 0.0, 2.0).sample(np.array([1.25]), 500, np.random.default_rng(3))
    moved = BetweenThresholds(0.5, low, low + 4.0, 2.0).sample(np.array([low + 2.5]), 500, np.random.default_rng(3))
    assert np.array_equal(plain, moved)
    assert set(plain.tolist()) == {0, 1, 2}
