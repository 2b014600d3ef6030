"""Calls in other modes of rounding."""

import pickle
from typing import Any

import numpy as np
import pytest

from dpassay.properties.drawing.rounding_modes import RoundingMode, in_rounding_mode, modes_are_known

pytestmark = pytest.mark.skipif(not modes_are_known(), reason="the modes of this machine are not known")


RNG = np.random.default_rng(0)


def third(data: Any, size: int, rng: Any) -> list[float]:
    del size, rng
    return [float(data[0]) / 3, float((data / 3)[0])]


def test_modes_round_to_both_sides_and_end_with_the_call() -> None:
    data, rng = np.array([1.0]), np.random.default_rng(0)
    nearest = third(data, 1, rng)
    up, down = (in_rounding_mode(mode)(third)(data, 1, rng) for mode in RoundingMode)
    for high, low in zip(up, down, strict=True):
        assert high == np.nextafter(low, np.inf)
    assert third(data, 1, rng) == nearest


def test_the_mode_ends_with_an_exception() -> None:
    def raises(data: Any, size: int, rng: Any) -> Any:
        raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011 - of the function above
        in_rounding_mode(RoundingMode.UPWARDS)(raises)(np.zeros(1), 1, RNG)
    assert 1.0 / 3 == 0.3333333333333333


def test_the_wrapper_can_be_sent() -> None:
    wrapper = pickle.loads(pickle.dumps(in_rounding_mode(RoundingMode.DOWNWARDS)))  # noqa: S301  # made here
    assert (
        wrapper(third)(np.array([1.0]), 1, RNG)[0]
        < in_rounding_mode(RoundingMode.UPWARDS)(third)(np.array([1.0]), 1, RNG)[0]
    )
