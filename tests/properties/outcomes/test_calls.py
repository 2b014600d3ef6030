"""Calls of a target, and what they return or raise as an outcome."""

import numpy as np
import pytest
from numpy.typing import NDArray

from dpassay.properties.outcomes.calls import CallFailedError, WrongCountError, call

Array = NDArray[np.float64]


@pytest.mark.parametrize("returned", [3.0, [1.0], "ab", {"a": 1, "b": 2}, np.zeros((3, 2)), None])
def test_a_wrong_number_of_outcomes_is_named(returned: object) -> None:
    with pytest.raises(WrongCountError, match="2 outcomes"):
        call(lambda *_: returned, np.zeros(1), 2, np.random.default_rng(0))


def test_an_exception_is_a_symbol() -> None:
    def raising(data: Array, size: int, rng: np.random.Generator) -> Array:
        raise KeyError("secret")

    with pytest.raises(CallFailedError) as caught:
        call(raising, np.zeros(1), 2, np.random.default_rng(0))
    assert caught.value.symbol == "<raises KeyError: 'secret'>"


def test_a_target_that_edits_its_input_does_not_spoil_the_pair() -> None:
    data = np.zeros(2)

    def editing(data: Array, size: int, rng: np.random.Generator) -> Array:
        data += 1
        return np.zeros(size)

    call(editing, data, 2, np.random.default_rng(0))
    assert not data.any()
