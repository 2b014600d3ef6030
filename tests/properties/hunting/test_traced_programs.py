"""Ordinary programs with losses that were derived by hand: proved at their loss, refuted below it, never otherwise."""

import math
from typing import Any, NamedTuple

import pytest

from dpassay.claims import PureDP, parse_neighbours
from dpassay.properties.hunting.traced import decide

pytestmark = pytest.mark.traced

LINE = "vector:size=1,linf=1"


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


PROGRAMS = [
    Program(rises_and_falls, LINE, math.log(3 / 2)),
]


def named(program: Any) -> str:
    return str(program.function.__name__)


@pytest.mark.parametrize("program", PROGRAMS, ids=named)
def test_a_program_is_proved_at_its_loss_and_refuted_below_it(program: Program) -> None:
    relation = parse_neighbours(program.neighbours)
    found = decide(program.function, PureDP(program.loss * (1 + 1e-9)), relation, 0, 60.0)
    assert found.verdict == "holds", found.reason
    if program.loss:
        assert decide(program.function, PureDP(program.loss * 0.99), relation, 0, 60.0).verdict == "violated"
