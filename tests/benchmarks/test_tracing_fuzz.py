"""Random programs against the bounds that tracing proves."""

from typing import Any

import pytest
from benchmarks.tracing_fuzz import bound_of, distribution, excess, pairs, random_program
from flint import arb
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from dpassay.spec.ball import precision
from dpassay.spec.leaves import alignment
from dpassay.spec.leaves.model import NoiseKind


@seed(20261122)
@settings(max_examples=40, deadline=None, database=None)
@given(number=st.integers(0, 10**6))
def test_exact_losses_never_exceed_the_bound(number: int) -> None:
    program = random_program(number)
    epsilon = bound_of(program)
    for left, right in pairs(number, program.size, 6) if epsilon is not None else ():
        assert excess(program, epsilon, left, right) is None


@pytest.mark.parametrize("number", range(8))
def test_probabilities_sum_to_one(number: int) -> None:
    program = random_program(number)
    with precision(128):
        total = sum(distribution(program, [0] * program.size, ()).values(), arb(0))
        assert total.contains(1)
        assert total.rad() < 1e-30


def test_some_programs_have_a_bound() -> None:
    assert sum(bound_of(random_program(number)) is not None for number in range(20)) >= 3


def exceeded() -> bool:
    """Whether one of the first programs exceeds its bound."""
    for number in range(60):
        program = random_program(number)
        epsilon = bound_of(program)
        if epsilon is not None and any(
            excess(program, epsilon, left, right) is not None for left, right in pairs(number, program.size, 6)
        ):
            return True
    return False


def test_negative_shifts_of_exponential_noise_are_seen(monkeypatch: Any) -> None:
    monkeypatch.setitem(alignment.DIRECTIONS, NoiseKind.EXPONENTIAL, (1, -1))
    assert exceeded()


def test_half_of_the_cost_is_seen(monkeypatch: Any) -> None:
    bound = alignment._Programme.least_cost

    def halved(self: Any, move: Any) -> Any:
        found = bound(self, move)
        return None if found is None else (found[0] / 2, found[1])

    monkeypatch.setattr(alignment._Programme, "least_cost", halved)
    assert exceeded()
