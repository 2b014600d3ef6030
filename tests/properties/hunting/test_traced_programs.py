"""Ordinary programs with losses that were derived by hand: proved at their loss, refuted below it, never otherwise."""

import math
from typing import Any, NamedTuple

import numpy as np
import pytest

from dpassay.claims import GaussianDP, PureDP
from dpassay.neighbours import parse_neighbours
from dpassay.properties.hunting.traced import decide

pytestmark = pytest.mark.traced

LINE, PAIR, THREE = "vector:size=1,linf=1", "vector:size=2,linf=1", "vector:size=3,linf=1"
RECORDS = "records:size={},low=-10,high=10,relation=replace"
SECONDS = 60.0


class Program(NamedTuple):
    """A function with a known loss."""

    function: Any
    neighbours: str
    loss: float


# --- decisions about data -------------------------------------------------------------------------------------


def rises_and_falls(data: Any, size: Any, rng: Any) -> Any:
    """True has probability 3/8 below and above 0, and 1/4 at 0: the loss is there alone."""
    if rng.random() < 0.5:
        return [bool(rng.random() < (0.5 if data[0] > 0 else 0.25))]
    return [bool(rng.random() < (0.25 if data[0] >= 0 else 0.5))]


# --- functions of data ----------------------------------------------------------------------------------------


def clipped_sum(data: Any, size: Any, rng: Any) -> Any:
    return np.clip(data, 0, 1).sum() + rng.laplace(0, 1.0, size)


def clipped_by_python(data: Any, size: Any, rng: Any) -> Any:
    return [sum(min(max(record, 0), 2) for record in data) + rng.laplace(0, 2.0) for _ in range(size)]


def clipped_to_the_wrong_range(data: Any, size: Any, rng: Any) -> Any:
    return np.clip(data, -1, 1).sum() + rng.laplace(0, 1.0, size)


def clipped_numbers(data: Any, size: Any, rng: Any) -> Any:
    return [tuple(np.clip(data, 0, 2) + rng.laplace(0, 1.0, len(data)))]


def largest_of_zero(data: Any, size: Any, rng: Any) -> Any:
    return np.maximum(data, 0).sum() + rng.laplace(0, 10.0, size)


def floored(data: Any, size: Any, rng: Any) -> Any:
    return np.floor(data).sum() + rng.laplace(0, 1.0, size)


def rounded_to_tenths(data: Any, size: Any, rng: Any) -> Any:
    """Ten steps of 1/10: an even number of steps from a tie leads to a tie that is rounded the same way."""
    return np.round(data[0], 1) + rng.laplace(0, 1.0, size)


def rounded(data: Any, size: Any, rng: Any) -> Any:
    """From 1/2, a tie that goes to 0, to 3/2, a tie that goes to 2."""
    return round(data[0]) + rng.laplace(0, 1.0, size)


def count(data: Any, size: Any, rng: Any) -> Any:
    return np.sum(data > 0.5) + rng.laplace(0, 1.0, size)


def share(data: Any, size: Any, rng: Any) -> Any:
    return np.mean((data < -3) | (data >= 3)) + rng.laplace(0, 1.0, size)


def exactly_one_side(data: Any, size: Any, rng: Any) -> Any:
    return np.count_nonzero((data > -3) ^ (data > 3)) + rng.laplace(0, 1.0, size)


def chosen_numbers(data: Any, size: Any, rng: Any) -> Any:
    return np.where(data > 0.3, 1.0, -1.0).sum() + rng.laplace(0, 1.0, size)


def histogram(data: Any, size: Any, rng: Any) -> Any:
    counts = np.array([np.sum(data < -5), np.sum((data >= -5) & (data < 5)), np.sum(data >= 5)], dtype=float)
    return [tuple(counts + rng.laplace(0, 1.0, 3))]


def missing_from_one(data: Any, size: Any, rng: Any) -> Any:
    """How much a count falls short of 1; a function of a function of data."""
    count = np.sum(data > 1)
    return np.clip(count, 1, 2) - count + rng.laplace(0, 1.0, size)


def squares(data: Any, size: Any, rng: Any) -> Any:
    return (data**2).sum() + rng.laplace(0, 100.0, size)


def absolute_values(data: Any, size: Any, rng: Any) -> Any:
    return np.abs(data).sum() + rng.laplace(0, 1.0, size)


PROGRAMS = [
    Program(rises_and_falls, LINE, math.log(3 / 2)),
    Program(clipped_sum, RECORDS.format(6), 1.0),
    Program(clipped_sum, "vector:size=3,l1=1", 1.0),
    Program(clipped_by_python, RECORDS.format(4), 1.0),
    Program(clipped_sum, "vector:size=3,linf=0.5,monotone", 1.5),
    Program(clipped_to_the_wrong_range, RECORDS.format(6), 2.0),
    Program(clipped_numbers, "vector:size=5,linf=1", 5.0),
    Program(largest_of_zero, RECORDS.format(4), 1.0),
    Program(floored, THREE, 3.0),
    Program(floored, "vector:size=3,l1=1", 3.0),
    Program(rounded, LINE, 2.0),
    Program(rounded, "vector:size=1,linf=1,integer", 1.0),
    Program(rounded_to_tenths, LINE, 1.0),
    Program(count, RECORDS.format(6), 1.0),
    Program(share, RECORDS.format(5), 0.2),
    Program(exactly_one_side, RECORDS.format(5), 1.0),
    Program(chosen_numbers, PAIR, 4.0),
    Program(histogram, RECORDS.format(6), 2.0),
    Program(missing_from_one, "vector:size=2,l0=1,linf=3", 1.0),
    Program(squares, RECORDS.format(3), 1.0),
    Program(absolute_values, PAIR, 2.0),
]


def named(program: Any) -> str:
    return f"{program.function.__name__}, {program.neighbours}"


@pytest.mark.parametrize("program", PROGRAMS, ids=named)
def test_a_program_is_proved_at_its_loss_and_refuted_below_it(program: Program) -> None:
    relation = parse_neighbours(program.neighbours)
    found = decide(program.function, PureDP(program.loss * (1 + 1e-9)), relation, 0, SECONDS)
    assert found.verdict == "holds", found.reason
    assert decide(program.function, PureDP(program.loss * 0.95), relation, 0, SECONDS).verdict == "violated"


def test_gaussian_noise_beside_functions_of_data_is_proved() -> None:
    def mean(data: Any, size: Any, rng: Any) -> Any:
        return np.clip(data, 0, 1).mean() + rng.normal(0, 0.25, size)

    relation = parse_neighbours(RECORDS.format(8))
    assert decide(mean, GaussianDP(0.5), relation, 0, SECONDS).verdict == "holds"


def test_a_jump_that_rests_on_the_rounding_of_a_constant_refutes_nothing() -> None:
    """Ten times the float 0.1 is a little more than 1, so that neighbours may be two steps apart; for 1/10 they are
    one step apart.
    """

    def steps(data: Any, size: Any, rng: Any) -> Any:
        return np.floor(data[0] * 0.1 * 10) + rng.laplace(0, 1.0, size)

    found = decide(steps, PureDP(1.0), parse_neighbours(LINE), 0, SECONDS)
    assert found.verdict is None
    assert found.reason is not None
    assert "rounding of constants" in found.reason


def test_the_type_of_a_clipped_number_is_not_lost() -> None:
    """At 0.0 this returns the record, a float; elsewhere the limit, an integer."""

    def typed(data: Any, size: Any, rng: Any) -> Any:
        return [type(min(max(data[0], 0), 0)).__name__ for _ in range(size)]

    assert decide(typed, PureDP(1.0), parse_neighbours(LINE), 0, SECONDS).verdict != "holds"
