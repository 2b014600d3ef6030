"""What `show` says of mechanisms, and of names that it does not know."""

import math
from typing import Any

import pytest

from dpassay.arguments import UsageError
from dpassay.properties.drawing.target import full_name
from dpassay.properties.show import show_record


def test_a_mutant_by_its_name_in_the_literature() -> None:
    record: Any = show_record("noisymax3")
    assert record.where == "dpassay.impl.broken.noisy_max_values:laplace_value"
    assert "class LaplaceValue" in record.code
    low, high = record.ratio
    assert low <= math.exp(0.25) * (1 + 1e-9)
    assert high >= math.exp(0.25) * (1 - 1e-9)
    assert "DP-Sniper" in record.reference


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("SVT33", "SVT3"),
        ("exponential_noisy_maxx", "exponential_noisy_max"),
        ("pure_dp_of_gaussian_noisy_mx", "noisy_max"),
    ],
)
def test_similar_names_are_suggested(name: str, meant: str) -> None:
    with pytest.raises(UsageError, match=f"did you mean .*{meant}"):
        show_record(name)


def test_a_target_without_a_colon() -> None:
    assert full_name("prefixsum") == "dpassay.impl.broken.foundations:prefix_sum_of_all_answers"
    with pytest.raises(UsageError, match="did you mean NoisyMax4"):
        full_name("NoisyMax44")
