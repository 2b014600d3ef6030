"""Sampled laws where the time allows one pair only, and coordinates of which some say nothing."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpassay.adapter import Mechanism
from dpassay.impl.libraries.in_process import InProcessWorker
from dpassay.impl.libraries.remote import open_library
from dpassay.properties.assay.finding import Finding, Settings
from dpassay.properties.assay.privacy_laws import PRIVACY_LAWS

LAWS = {law.name: law for law in PRIVACY_LAWS}
RNG = np.random.default_rng(0)
WHOLE = Settings(1e-9, 0, 1300, 1e6, pairs=4)
LEAST = Settings(1e-9, 0, 560, 1e6, pairs=1, is_least=True)


def found(settings: Settings, sample_many: Any, *, law: str = "privacy_of_claim", size: int = 2) -> Finding:
    case = Mechanism("case", f"vector:size={size},linf=1", "pure:1", sample_many=sample_many)
    (remote,) = open_library(InProcessWorker([case]))
    return LAWS[law].check(remote, settings)


def noisy_sum(scale: float) -> Any:
    return lambda data, size: sum(data) + RNG.laplace(scale=scale, size=size)


@pytest.mark.parametrize("settings", [WHOLE, LEAST])
def test_the_only_pair_moves_the_sum(settings: Settings) -> None:
    """On the first designed pair, (0, 0) and (1, -1), a sum has one distribution."""
    assert found(settings, noisy_sum(0.25)).kind == "violation"


def test_a_pass_on_one_pair_says_so_and_that_others_were_not_looked_at() -> None:
    whole, least = found(WHOLE, noisy_sum(3.0)), found(LEAST, noisy_sum(3.0))
    assert whole.kind == least.kind == "ok"
    assert "on one pair" in least.detail
    assert "on one pair" not in whole.detail
    assert least.power is not None
    assert least.power["on_a_single_pair"] == {"epsilon": "inf"}
    assert "if one pair alone shows it: none" in least.detail


def test_a_target_that_raises_on_the_only_pair_is_no_mistake_of_the_adapter() -> None:
    def raises(*_: Any) -> Any:
        raise ValueError("no records")

    assert found(WHOLE, raises).kind == "error"
    assert found(LEAST, raises).kind == "not run"


def test_a_coordinate_that_no_calls_would_decide_comes_before_a_weak_one() -> None:
    def last_is_constant(data: list[float], size: int) -> Any:
        noisy = np.array(data) + RNG.laplace(scale=2.0 * len(data), size=(size, len(data)))
        noisy[:, -1] = 7.0
        return noisy

    few = Settings(1e-9, 0, 400, 1e6, pairs=4)
    end = found(few, last_is_constant, law="coordinates", size=4)
    assert (end.kind, end.is_weak, "coordinate 3" in end.detail) == ("undecided", False, True)


def test_coordinates_say_so_too() -> None:
    def noisy(data: list[float], size: int) -> Any:
        return np.array(data) + RNG.laplace(scale=2.0, size=(size, len(data)))

    for settings, says_so in ((WHOLE, False), (replace(LEAST, calls=700), True)):
        end = found(settings, noisy, law="coordinates")
        assert (end.kind, "on one pair" in end.detail) == ("ok", says_so), end
