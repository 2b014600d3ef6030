"""Violations that a trace finds and that may come from rounding, when there is no time to tell."""

from typing import Any

import numpy as np
import pytest

from dpassay.claims import PureDP
from dpassay.neighbours import parse_neighbours
from dpassay.properties.hunting.traced import _Work, decide
from dpassay.properties.hunting.traced_modes import ModesOfTraces
from dpassay.properties.hunting.verdicts import HuntVerdict

RELATION = parse_neighbours("records:low=0.2,high=1,size=3,relation=replace")
CLAIM = PureDP(1.0)
# in floats the variance of three records of 0.2 is below 0, and its root not a number
PAIR = np.full(3, 0.2), np.array([0.2, 0.2, 1.0])


def noisy_deviation(data: Any, size: int, rng: Any) -> Any:
    """Release a standard deviation, whose sensitivity is 0.8 sqrt(2) / 3: the claim is true in real arithmetic."""
    with np.errstate(invalid="ignore"):
        deviation = np.sqrt(np.mean(data**2) - np.mean(data) ** 2)
    return deviation + rng.laplace(scale=0.8 * np.sqrt(2) / 3, size=size)


@pytest.mark.parametrize(
    ("depends", "verdict"), [(None, None), (True, None), (False, HuntVerdict.VIOLATED)], ids=["unknown", "yes", "no"]
)
def test_a_violation_that_was_not_told_from_rounding_is_no_verdict(
    monkeypatch: pytest.MonkeyPatch, depends: bool | None, verdict: HuntVerdict | None
) -> None:
    monkeypatch.setattr(_Work, "is_confirmed_exactly", lambda *_: None)
    monkeypatch.setattr(ModesOfTraces, "change", lambda *_: depends)
    answer = decide(noisy_deviation, CLAIM, RELATION, 0, 60)
    assert answer.verdict is verdict
    if verdict is None:
        expected = "depends on the rounding" if depends else "was not compared with exact data in the time"
        assert f"the pair that was found {expected}" in str(answer.reason)


def test_modes_of_rounding_tell_nothing_without_time() -> None:
    assert ModesOfTraces(noisy_deviation, CLAIM, RELATION, 0, lambda: 0.0).change(PAIR) is None
    assert ModesOfTraces(noisy_deviation, CLAIM, RELATION, 0, lambda: 60.0).change(PAIR) is not None
