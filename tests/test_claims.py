import math

import numpy as np
import pytest

from dpassay.claims import PureDP, UsageError, VectorNeighbours, parse_claim, parse_neighbours


def test_claims_are_read_in_the_form_of_the_command_line() -> None:
    assert parse_claim("pure:1.5") == PureDP(1.5)


@pytest.mark.parametrize(
    "text", ["pure", "pure:x", "pure:1,2", "pure:-1", "approx:1,2", "rdp:1,1", "what:1", "pure:nan"]
)
def test_bad_claims_are_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_claim(text)


@pytest.mark.parametrize(
    "text",
    ["vector:size=0,linf=1", "vector:size=2", "vector:linf=1", "vector:size=2,linf=1,wrong", "records:size=1", "x:"],
)
def test_bad_relations_are_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_neighbours(text)


def test_all_bounds_of_a_vector_relation_are_obeyed() -> None:
    relation = VectorNeighbours(3, l0=1, linf=1.0, low=0, high=2)
    zero, one = np.zeros(3), np.array([1.0, 0.0, 0.0])
    assert relation.admits(zero, one)
    assert not relation.admits(zero, np.array([1.0, 1.0, 0.0]))
    assert not relation.admits(zero, np.array([1.5, 0.0, 0.0]))
    assert not relation.admits(zero, np.array([-1.0, 0.0, 0.0]))
    assert relation.largest_step == 1.0
    assert math.isinf(VectorNeighbours(1, linf=1.0).high)
