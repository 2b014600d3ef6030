"""The figures of the table err on the safe side."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpassay.properties.assay.table import figures, power_words

NUMBERS = st.floats(0.0, 1e6)


@given(NUMBERS, NUMBERS)
def test_certified_number_is_rounded_towards_the_claimed_one(claimed: float, certified: float) -> None:
    stated, bound = map(float, figures(claimed, certified))  # type: ignore[arg-type]
    assert stated == pytest.approx(claimed, rel=5e-6)
    assert bound == pytest.approx(certified, rel=1e-5)
    assert bound <= certified if certified > claimed else bound >= certified
    assert (stated < bound) == (claimed < certified)
    assert (stated > bound) == (claimed > certified)


@pytest.mark.parametrize(
    ("claimed", "certified", "words"),
    [
        (0.5, 2 / 3, ("0.5", "0.666666")),
        (1.0, 0.9999999, ("1", "0.9999999")),
        (1.0000006, 1.0000009, ("1.0000006", "1.0000009")),
        (1.0, 1.0000000000000002, ("1", "1.0000000000000002")),
        (0.1, 0.1, ("0.1", "0.1")),
        (2.0, float("inf"), ("2", "inf")),
        (float("nan"), 1.5, ("nan", "1.5")),
        (None, 1 / 3, (None, "0.333333")),
        (1 / 3, None, ("0.333333", None)),
    ],
)
def test_figures(claimed: float | None, certified: float | None, words: tuple[str | None, str | None]) -> None:
    assert figures(claimed, certified) == words


def test_power_is_rounded_up() -> None:
    """A violation smaller than the power may be missed, so the power must not be printed smaller than it is."""
    assert power_words({"epsilon": 1.00001, "delta": 1e-5}) == "epsilon 1.001, delta 1e-05"
