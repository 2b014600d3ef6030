import math
import re
import warnings

import numpy as np
import pytest
from numpy.typing import NDArray

import dpassay
from dpassay.arguments import UsageError
from dpassay.claims import ZCDP, ApproximateDP, BoundedRange, Claim, ExPost, PureDP, RenyiDP
from dpassay.testing import (
    DEFAULT_LEVEL,
    LowBitsWarning,
    MechanismWarning,
    assert_private,
    take_levels,
    take_powers,
)

Array = NDArray[np.float64]
LINE = "vector:size=1,linf=1"


def half_the_noise(data: Array, size: int, rng: np.random.Generator) -> Array:
    return np.asarray(np.round(data[0] + rng.laplace(0, 0.5, size), 6))


def test_a_failure_prints_all_that_is_needed() -> None:
    with pytest.raises(AssertionError) as caught:
        assert_private(half_the_noise, PureDP(1.0), LINE, calls=5_000, seed=4)
    first, *rest = str(caught.value).splitlines()
    assert first.startswith("privacy loss > 1.")
    assert "(confidence 1 - 1e-09), but PureDP(1.0) allows at most 1 [assert_private(" in first
    for label in ("left:", "right:", "event: outcome", "probability on the left:", "probability on the right:"):
        assert any(line.startswith(label) for line in rest)
    assert "seed:  4, calls: 5000, alpha: 1e-09" in rest
    assert f"    from {half_the_noise.__module__} import half_the_noise" in rest
    assert "PureDP(1.0), 'vector:size=1,linf=1.0', level=1e-09, seed=4, calls=5000)" in rest[-1]


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        (ApproximateDP(1.0, 1e-3), "epsilon at delta 0.001 > "),
        (ZCDP(0.05), "rho > "),
        (RenyiDP(2.0, 0.05), "Renyi divergence of order 2 > "),
        (BoundedRange(1.0), "range of the privacy loss > "),
        (ExPost(lambda _: 0.5), "privacy loss above its ex-post bound (e-value 10^"),
    ],
    ids=repr,
)
def test_every_notion_has_its_own_quantity(claim: Claim, words: str) -> None:
    with pytest.raises(AssertionError) as caught:
        assert_private(half_the_noise, claim, LINE, calls=20_000)
    assert str(caught.value).startswith(words)


def test_levels_are_counted_and_forgotten() -> None:
    take_levels()
    result = assert_private(lambda _, size, rng: rng.random(size), "pure:1", LINE, calls=1500, level=1e-4)
    assert result.verdict == "not refuted"
    assert_private(lambda _, size, rng: rng.random(size), "pure:1", LINE, calls=1500)
    assert take_levels() == [1e-4, DEFAULT_LEVEL]
    assert take_levels() == []


def test_the_assertion_is_at_hand_and_refuses_nonsense() -> None:
    assert dpassay.assert_private is assert_private
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        dpassay.nonsense  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(UsageError, match="level must"):
        assert_private(half_the_noise, "pure:1", LINE, level=math.nan)


@pytest.mark.parametrize("calls", [1, 50])
def test_a_test_that_could_find_nothing_does_not_pass(calls: int) -> None:
    weak = f"calls={calls} is a weak test: no run could be expected to refute pure:1.0"
    words = rf"{weak}.*at least ([\d,]+) calls are needed"
    with pytest.raises(UsageError, match=words) as caught:
        assert_private(half_the_noise, "pure:1", LINE, calls=calls)
    assert "allow_weak=True" in str(caught.value)
    with pytest.warns(MechanismWarning, match="weak test"):
        assert assert_private(half_the_noise, "pure:1", LINE, calls=calls, allow_weak=True).power is not None


def test_the_calls_that_an_error_names_are_enough() -> None:
    take_powers()
    with pytest.raises(UsageError, match="weak test") as caught:
        assert_private(lambda _, size, rng: rng.random(size), "pure:1", LINE, calls=100)
    match = re.search(r"at least ([\d,]+) calls", str(caught.value))
    assert match is not None
    needed = int(match[1].replace(",", ""))
    assert_private(lambda _, size, rng: rng.random(size), "pure:1", LINE, calls=needed)
    ((weakness, words),) = take_powers()
    assert 0.75 < weakness <= 1  # some of the calls test float64 only, and how many is estimated
    assert words.endswith("for the claim pure:1.0")
    with pytest.raises(UsageError, match="weak test"):
        assert_private(lambda _, size, rng: rng.random(size), "pure:1", LINE, calls=2 * needed // 3)


@pytest.mark.traced
def test_a_proof_for_the_ideal_mechanism_says_that_the_low_order_bits_are_open() -> None:
    def laplace(data: Array, size: int, rng: np.random.Generator) -> Array:
        noisy: Array = data[0] + rng.laplace(0, 1, size)
        return noisy

    def bit(data: Array, size: int, rng: np.random.Generator) -> NDArray[np.bool_]:
        is_above: NDArray[np.bool_] = data[0] + rng.laplace(0, 1, size) > 0
        return is_above

    def integer(data: Array, size: int, rng: np.random.Generator) -> Array:
        noisy: Array = data[0] + rng.geometric(0.5, size) - rng.geometric(0.5, size)
        return noisy

    def rounded(data: Array, size: int, rng: np.random.Generator) -> Array:
        noisy: Array = np.round(data[0] + rng.laplace(0, 1, size))
        return noisy

    with pytest.warns(LowBitsWarning, match="float64: violated"):
        assert assert_private(laplace, "pure:1", LINE).verdict == "holds"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert assert_private(laplace, "pure:1", LINE, float64="ignore").traced
        assert assert_private(bit, "pure:1", LINE).traced
        assert assert_private(rounded, "pure:1", LINE).traced
        assert assert_private(integer, "pure:0.7", f"{LINE},integer").traced
