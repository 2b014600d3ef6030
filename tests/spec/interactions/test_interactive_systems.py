"""Concurrent composition: known deltas, and the number of adversaries."""

from fractions import Fraction

import pytest

from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.interactions.interactive_systems import (
    InteractiveSystem,
    adversaries,
    concurrent_delta,
    one_query,
    optimal_composition_delta,
)

RESPONSE = one_query(FiniteDistribution.of(3, 1), FiniteDistribution.of(1, 3))


def test_two_responses_compose_as_a_binomial() -> None:
    # losses 2 log 3, 0, -2 log 3 with probabilities 9/16, 6/16, 1/16
    assert concurrent_delta([RESPONSE] * 2, Fraction(3)) == Fraction(9, 16) * Fraction(2, 3)
    assert optimal_composition_delta([(Fraction(3), Fraction(0))] * 2, Fraction(3)) == Fraction(3, 8)


@pytest.mark.parametrize(("first", "second"), [("1/10", "1/20"), ("0", "1/2"), ("1", "0")])
def test_deltas_compose_as_leaks(first: str, second: str) -> None:
    deltas = [(Fraction(1), Fraction(first)), (Fraction(1), Fraction(second))]
    expected = 1 - (1 - Fraction(first)) * (1 - Fraction(second))
    assert optimal_composition_delta(deltas, Fraction(5)) == expected


def test_no_mechanism_composes_to_nothing() -> None:
    assert optimal_composition_delta([], Fraction(1)) == 0
    assert concurrent_delta([], Fraction(1)) == 0


def test_the_number_of_adversaries() -> None:
    assert len(list(adversaries([RESPONSE]))) == 1
    assert len(list(adversaries([RESPONSE, RESPONSE]))) == 2
    coin = FiniteDistribution.of(1, 1)
    twice = InteractiveSystem({((), "a"): (coin, coin), **{((("a", k),), "b"): (coin, coin) for k in (0, 1)}})
    assert len(list(adversaries([twice, RESPONSE]))) == 5  # the response after 0, 1 or 2 answers
    choice = InteractiveSystem({((), "a"): (coin, coin), ((), "b"): (coin, coin)})
    assert len(list(adversaries([choice]))) == 2


def test_the_better_query_is_asked() -> None:
    coin = FiniteDistribution.of(1, 1)
    choice = InteractiveSystem({((), "a"): (coin, coin), ((), "b"): RESPONSE.answers[(), "ask"]})
    assert concurrent_delta([choice], Fraction(2)) == concurrent_delta([RESPONSE], Fraction(2)) == Fraction(1, 4)
