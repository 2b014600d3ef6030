"""Two verdicts of one run: on the ideal mechanism, and on float64."""

import math
from math import sqrt
from typing import Any

import numpy as np
import pytest

from dpassay.arguments import UsageError
from dpassay.claims import PureDP
from dpassay.neighbours import VectorNeighbours
from dpassay.properties.contract import HuntRecord
from dpassay.properties.hunting.formatting import float64_lines
from dpassay.properties.hunting.hunt import hunt
from dpassay.properties.hunting.result import HuntResult
from dpassay.properties.hunting.task import Task
from dpassay.properties.hunting.verdicts import Questions
from dpassay.testing import LowBitsWarning, assert_private, replay

LINE = "vector:size=1,linf=1"
CALLS = 3_000


def laplace(data: Any, size: int, rng: Any) -> Any:
    return data[0] + rng.laplace(size=size)


def too_little_noise(data: Any, size: int, rng: Any) -> Any:
    return data[0] + rng.laplace(scale=0.4, size=size)


def each(release: Any) -> Any:
    """Return a mechanism of releases, one call of the function each."""

    def mechanism(data: Any, size: int, rng: Any) -> list[Any]:
        return [release(data, rng) for _ in range(size)]

    return mechanism


def sampled(mechanism: Any, relation: str = LINE, **options: Any) -> HuntResult:
    return hunt(mechanism, "pure:1", relation, calls=CALLS, trace=False, shrink=False, alpha=1e-9, **options)


def float64_verdict(result: HuntResult) -> str | None:
    return None if result.float64 is None else str(result.float64.verdict)


# --- low-order bits -----------------------------------------------------------------------------------------


def test_the_low_order_bits_of_private_noise_are_a_verdict_of_their_own() -> None:
    result = sampled(laplace)
    assert (result.verdict, float64_verdict(result)) == ("not refuted", "violated")
    assert result.float64 is not None
    assert result.float64.witness is not None
    assert "lowest_bit" in result.float64.witness.event
    assert result.float64.epsilon_lower > 1 >= result.epsilon_lower


@pytest.mark.parametrize("kind", [float, int])
def test_a_violation_that_needs_no_bits_is_not_attributed_to_them(kind: type) -> None:
    def randomised_response(data: Any, rng: Any) -> Any:
        return kind(data[0]) if rng.random() < 0.9 else 1 - kind(data[0])

    bit = "vector:size=1,linf=1,low=0,high=1,integer"
    result = hunt(each(randomised_response), "pure:1.0986", bit, calls=CALLS, trace=False, shrink=False)
    assert (result.verdict, float64_verdict(result)) == ("violated", "violated")
    assert result.float64 is not None
    assert result.float64.is_same
    (line,) = float64_lines(result.float64)
    assert line.endswith("the same violation, which needs neither low-order bits nor rounding")


def test_floats_that_refute_a_claim_refute_it_in_float64_whatever_their_bits_tell() -> None:
    kinds = set()
    for seed in range(4):
        result = sampled(too_little_noise, seed=seed)
        assert result.float64 is not None
        assert (result.verdict, float64_verdict(result)) == ("violated", "violated")
        assert result.float64.epsilon_lower > 1
        kinds.add(result.float64.is_same)
    assert True in kinds  # in so few calls the bits alone do not always show it


def test_low_order_bits_that_break_a_claim_beside_its_violation_are_named() -> None:
    # most calls go to the pair that leads against the claim, which may be one without such bits
    result = hunt(too_little_noise, "pure:1", LINE, calls=10_000, trace=False, shrink=False, alpha=1e-9)
    assert (result.verdict, float64_verdict(result)) == ("violated", "violated")
    assert result.float64 is not None
    assert not result.float64.is_same
    assert "through low-order bits or rounding" in float64_lines(result.float64)[0]


def test_a_violation_of_the_ideal_mechanism_is_no_matter_of_low_order_bits() -> None:
    result = sampled(too_little_noise)
    assert result.verdict == "violated"
    assert 1 < result.epsilon_lower <= 2.5
    assert result.witness is not None
    assert "lowest_bit" not in result.witness.event


def test_the_question_can_be_left_out() -> None:
    alone = sampled(laplace, float64="ignore")
    assert (alone.verdict, alone.float64) == ("not refuted", None)
    assert "--float64 ignore" in alone.replay


def test_the_shares_of_the_level_sum_to_it() -> None:
    relation = VectorNeighbours(1, linf=1.0)
    both, ideal = (
        Task(laplace, PureDP(1.0), relation, 1e-6, 0, None, 1.0, questions=questions)
        for questions in (Questions.BOTH, Questions.IDEAL)
    )
    assert both.ideal_alpha + both.float64_alpha == pytest.approx(1e-6)
    assert both.float64_alpha > 0
    assert ideal.ideal_alpha == 1e-6


@pytest.mark.traced
def test_an_exact_verdict_has_one_on_floats_beside_it() -> None:
    result = hunt(laplace, "pure:1", LINE, calls=CALLS)
    assert (result.verdict, result.calls, float64_verdict(result)) == ("holds", 0, "violated")
    assert result.float64 is not None
    assert 0 < result.float64.calls <= CALLS
    assert hunt(laplace, "pure:1", LINE, calls=CALLS, float64="ignore").float64 is None


@pytest.mark.traced
def test_outcomes_without_noisy_floats_have_none() -> None:
    result = hunt(each(lambda data, rng: bool(data[0] + rng.laplace() > 0)), "pure:1", LINE, calls=CALLS)
    assert (result.verdict, result.float64) == ("holds", None)


def test_the_record_has_both() -> None:
    result = sampled(laplace)
    record = result.record()
    assert isinstance(record, HuntRecord)
    assert record.float64 is not None
    assert record.float64.verdict == "violated"
    found = result.to_json()["float64"]
    assert set(found) == {"verdict", "epsilon_lower", "evidence", "calls", "witness", "is_same"}


def test_a_saved_verdict_on_floats_can_be_replayed() -> None:
    saved = sampled(laplace).to_json()
    assert saved["witness"] is None
    again = replay(saved, laplace, calls=CALLS)
    assert again.verdict == "violated"
    assert any("float64" in note for note in again.notes)


# --- rounding that is visible beside the noise ----------------------------------------------------------------


def index_and_gap(data: Any, size: int, rng: Any) -> list[Any]:
    """Report index and gap of a noisy maximum, which is 1-DP (Ding and others 2019)."""
    noisy = data + rng.laplace(scale=2.0, size=(size, len(data)))
    ordered = np.sort(noisy, axis=1)
    return list(zip(noisy.argmax(axis=1).tolist(), (ordered[:, -1] - ordered[:, -2]).tolist(), strict=True))


def test_where_rounding_is_visible_nothing_is_said_of_the_ideal_mechanism() -> None:
    low = 2.0**52
    result = sampled(index_and_gap, f"vector:size=5,linf=1,low={low},high={low + 64}")
    assert result.verdict == "undecided"
    assert result.epsilon_lower == 0
    assert any("rounding of float64 is visible" in note for note in result.notes)
    assert float64_verdict(result) is not None


@pytest.mark.parametrize("threshold", [1000.0, 1e6, 1e8])
def test_a_leak_at_large_data_is_one_of_the_ideal_mechanism(threshold: float) -> None:
    leaky = each(lambda data, rng: (bool(data[0] > threshold), data[0] + rng.laplace()))
    result = sampled(leaky, f"vector:size=1,linf=1,low={threshold - 1},high={threshold + 1}")
    assert result.verdict == "violated"


# --- rounding of what depends on data alone -------------------------------------------------------------------

TRAPS = {
    "cancelled": lambda data, rng: ((float(data[0]) + 0.1) - float(data[0]) > 0.1, data[0] + rng.laplace()),
    "absorbed": lambda data, rng: (float(data[0]) + 1e-20 > float(data[0]), data[0] + rng.laplace()),
    "thirds": lambda data, rng: (bool(data[0] / 3 * 3 == data[0]), data[0] + rng.laplace()),
    "roots": lambda data, rng: (math.sqrt(abs(data[0])) ** 2 == abs(data[0]), data[0] + rng.laplace()),
    "roots by another name": lambda data, rng: (sqrt(abs(data[0])) ** 2 == abs(data[0]), data[0] + rng.laplace()),
    "decimals": lambda data, rng: (bool(data[0] * 0.1 + data[0] * 0.2 == data[0] * 0.3), data[0] + rng.laplace()),
}
EQUATIONS = {
    "tiny": lambda data, rng: ((float(data[0]) + 1e-20) - float(data[0]) == 1e-20, data[0] + rng.laplace()),
    "huge": lambda data, rng: ((float(data[0]) + 1e16) - 1e16 == float(data[0]), data[0] + rng.laplace()),
}
LEAKS = {
    "a sign": lambda data, rng: (float(data[0]) > 0.5, data[0] + rng.laplace()),
    "zero": lambda data, rng: ("zero" if float(data[0]) == 0 else "other", data[0] + rng.laplace()),
    "whole numbers": lambda data, rng: (float(data[0]).is_integer(), data[0] + rng.laplace()),
    "a root": lambda data, rng: (sqrt(abs(float(data[0]))) > 0.5, data[0] + rng.laplace()),
    "a root and rounding": lambda data, rng: (
        math.sqrt(abs(data[0])) ** 2 == abs(data[0]),
        data[0] + rng.laplace(scale=0.4),
    ),
}


@pytest.mark.traced
@pytest.mark.parametrize("name", TRAPS)
def test_rounding_of_data_is_no_accusation(name: str) -> None:
    result = hunt(each(TRAPS[name]), "pure:1", LINE, calls=1_000, shrink=False, trace_seconds=30)
    assert result.verdict != "violated"
    assert float64_verdict(result) == "violated"


@pytest.mark.parametrize("name", ["cancelled", "thirds"])
def test_rounding_of_data_is_no_accusation_by_samples(name: str) -> None:
    result = sampled(each(TRAPS[name]))
    assert result.verdict != "violated"
    assert float64_verdict(result) == "violated"
    assert result.confirm_calls > 0


@pytest.mark.traced
@pytest.mark.parametrize("name", EQUATIONS)
def test_an_equation_that_floats_break_in_every_mode_is_no_accusation_by_samples(name: str) -> None:
    result = sampled(each(EQUATIONS[name]))
    assert result.verdict != "violated"
    assert float64_verdict(result) == "violated"


@pytest.mark.traced
@pytest.mark.parametrize("name", LEAKS)
def test_leaks_of_the_ideal_mechanism_stay_what_they_are(name: str) -> None:
    result = hunt(each(LEAKS[name]), "pure:1", LINE, calls=CALLS, trace_seconds=30)
    assert (result.verdict, result.evidence) == ("violated", "enclosed")


@pytest.mark.traced
def test_the_figure_of_a_leak_is_that_of_exact_arithmetic() -> None:
    result = hunt(each(LEAKS["a root and rounding"]), "pure:1", LINE, calls=CALLS, trace_seconds=30)
    assert result.epsilon_lower == pytest.approx(2.5)
    assert result.float64 is not None
    assert result.float64.epsilon_lower == math.inf


@pytest.mark.parametrize("name", ["zero", "a root"])
def test_leaks_stay_what_they_are_by_samples(name: str) -> None:
    assert sampled(each(LEAKS[name])).verdict == "violated"


# --- assertions -----------------------------------------------------------------------------------------------


def test_assertions_warn_fail_or_do_not_look() -> None:
    with pytest.warns(LowBitsWarning, match=r"(?s)float64: violated.*lowest_bit"):
        assert_private(laplace, "pure:1", LINE, calls=CALLS)
    with pytest.raises(AssertionError, match=r"(?s)epsilon in float64 is at least .*float64='fail'"):
        assert_private(laplace, "pure:1", LINE, calls=CALLS, float64="fail")
    assert assert_private(laplace, "pure:1", LINE, calls=CALLS, float64="ignore").float64 is None
    with pytest.raises(UsageError, match="float64 must be one of"):
        assert_private(laplace, "pure:1", LINE, float64="no")
