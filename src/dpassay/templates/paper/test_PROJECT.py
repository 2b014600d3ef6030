"""Mutants: each test plants a fault that a statement must detect."""

from fractions import Fraction
from typing import Any

import pytest

import PROJECT
from dpassay.statements import assert_errata, assert_kills


@pytest.mark.kills("pure_dp_of_randomised_response")
def test_a_bound_without_the_denominator_is_refuted() -> None:
    def without_denominator(truth: Fraction) -> Fraction:
        return truth / (1 - truth / 2)

    assert_kills(PROJECT.pure_dp_of_randomised_response, PROJECT, "ratio_bound", without_denominator)


@pytest.mark.kills("epsilon_of_randomised_response_is_attained")
def test_an_answer_with_less_truth_is_noticed() -> None:
    def with_less_truth(bit: int, truth: Fraction) -> dict[int, Fraction]:
        return {bit: truth * Fraction(99, 100), 1 - bit: 1 - truth * Fraction(99, 100)}

    assert_kills(PROJECT.epsilon_of_randomised_response_is_attained, PROJECT, "response", with_less_truth)


@pytest.mark.kills("estimate_is_unbiased")
def test_a_wrong_identity_is_not_proved() -> None:
    original = PROJECT.identity

    def shifted(left: Any, right: Any, name: str) -> Any:
        return original(left + 1, right, name)

    assert_kills(PROJECT.estimate_is_unbiased, PROJECT, "identity", shifted)


def test_the_erratum_is_confirmed() -> None:
    assert_errata(PROJECT.pure_dp_of_randomised_response)
