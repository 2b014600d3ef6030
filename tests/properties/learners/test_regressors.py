"""Regressors of numbers of any size."""

import numpy as np
import pytest

from dpassay.properties.learners.regressors import Regressors

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    "rows",
    [
        np.concatenate([RNG.normal(size=(60, 1)) * 1e-3, np.full((20, 1), 1e300)]),
        np.clip(RNG.normal(size=(50, 2)), -1.7, 1.7) * 1e308,
        np.concatenate([RNG.normal(size=(60, 3)), np.full((30, 3), -1e307)]),
        np.concatenate([np.linspace(0, 5e-322, 50)[:, None], RNG.normal(size=(50, 1)) * 1e200]),
    ],
)
def test_no_number_overflows(rows: np.ndarray) -> None:
    """Warnings are errors in the tests."""
    assert np.isfinite(Regressors.fitted(rows).of(rows)).all()
