"""Relations given by a hypothesis strategy of pairs."""

from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from dpassay.arguments import UsageError
from dpassay.properties.hunting.hunt import hunt
from dpassay.properties.hunting.replay import replay
from dpassay.properties.hunting.task import read_neighbours
from dpassay.properties.neighbours.drawn import DrawnNeighbours
from dpassay.testing import assert_private

words = st.lists(st.sampled_from("abc"), max_size=1)
PAIRS = st.builds(lambda some, one: (some, [*some, one]), words, st.sampled_from("abc"))


def noisy_length(data: Any, size: int, rng: np.random.Generator) -> list[float]:
    data.append("an edit of the input, which no other call sees")
    return (len(data) - 1 + rng.laplace(scale=1 / 6, size=size)).tolist()  # type: ignore[no-any-return]


def test_the_target_receives_what_is_drawn() -> None:
    result = hunt(noisy_length, "pure:1", PAIRS, calls=2000, float64="ignore")
    assert result.verdict == "violated"
    assert result.witness is not None
    assert result.witness.inputs in {("[]", "['a']"), ("['a']", "[]")}  # shrunk to the smallest pair
    again = replay(result.to_json(), noisy_length, neighbours=read_neighbours(PAIRS), calls=500)
    assert again.verdict == "violated"


def test_a_failure_says_that_the_strategy_must_be_given_again() -> None:
    with pytest.raises(AssertionError) as failure:
        assert_private(noisy_length, "pure:1", PAIRS, calls=2000, float64="ignore")
    message = str(failure.value)
    assert "neighbours = ...  # strategy:builds(" in message
    assert "PureDP(1.0), neighbours, level=" in message
    assert "left:  []" in message or "right: []" in message


def test_draws_are_the_same_every_time() -> None:
    one, other = DrawnNeighbours(PAIRS), DrawnNeighbours(PAIRS)
    pairs = list(one.pairs(np.random.default_rng(0)))
    assert len(pairs) > 8
    for left, right in pairs:
        assert one.admits(left, right)
        assert one.decoded(left) == other.decoded(left)
        assert len(one.decoded(right)) == len(one.decoded(left)) + 1
    assert not one.admits(pairs[0][0], pairs[1][0])


@pytest.mark.parametrize(
    ("strategy", "message"),
    [
        (st.integers(), "must draw pairs"),
        (st.just((1, 1)), "two different inputs"),
        (st.nothing(), "draws nothing"),
    ],
)
def test_errors_of_use(strategy: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_neighbours(strategy)
