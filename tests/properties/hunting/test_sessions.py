"""Several calls on one input as one outcome, against the composed claim."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpassay.arguments import UsageError
from dpassay.claims import (
    ZCDP,
    ApproximateDP,
    ApproximateZCDP,
    BoundedRange,
    Claim,
    ConcentratedDP,
    ExPost,
    GaussianDP,
    ProbabilisticDP,
    PureDP,
    RenyiDP,
    parse_claim,
)
from dpassay.properties.drawing.call_guard import Habit
from dpassay.properties.drawing.sessions import SessionSampler
from dpassay.properties.hunting.hunt import hunt
from dpassay.properties.hunting.replay import replay
from dpassay.properties.hunting.result import HuntResult
from dpassay.properties.notions.base import composed_claim
from dpassay.testing import assert_private

Array = NDArray[np.float64]
Rng = np.random.Generator
LINE = "vector:size=1,linf=1,low=0,high=1,integer"


def geometric(data: Array, size: int, rng: Rng) -> Array:
    """Attain 1-DP, with fresh noise for every outcome."""
    rate = 1 - math.exp(-1)
    return np.asarray(data[0] + rng.geometric(rate, size) - rng.geometric(rate, size))


@dataclass
class Antithetic:
    """Each call is 1-DP; the noise of every second one is that of the call before with the other sign."""

    kept: list[float] = field(default_factory=list)

    def __call__(self, data: Array, size: int, rng: Rng) -> list[float]:
        """Draw with noise that cancels."""
        return [float(data[0]) + self._noise(rng) for _ in range(size)]

    def _noise(self, rng: Rng) -> float:
        if self.kept:
            return -self.kept.pop()
        rate = 1 - math.exp(-1)
        self.kept.append(float(rng.geometric(rate) - rng.geometric(rate)))
        return self.kept[-1]


def exact_from_the_third_call_on() -> Callable[..., Array]:
    calls = 0

    def counting(data: Array, size: int, rng: Rng) -> Array:
        nonlocal calls
        calls += 1
        return geometric(data, size, rng) if calls <= 2 else np.full(size, data[0])

    return counting


def hunted(target: Any, session: int, calls: int = 250, claim: str = "pure:1") -> HuntResult:
    return hunt(target, claim, LINE, calls=calls, session=session, call_timeout_seconds=math.inf, shrink=False)


@pytest.mark.parametrize(("target", "session"), [(Antithetic(), 2), (exact_from_the_third_call_on(), 3)])
def test_state_between_calls_is_found(target: Any, session: int) -> None:
    result = hunted(target, session, calls=500)
    assert (result.verdict, result.session) == ("violated", session)
    assert result.claim == f"pure:{float(session)}"
    assert result.epsilon_lower > session
    assert f"--session {session}" in result.replay
    assert "--claim pure:1.0" in result.replay


@pytest.mark.slow
def test_one_call_does_not_show_noise_that_cancels() -> None:
    result = hunt(Antithetic(), "pure:1", LINE, calls=200, shrink=False, trace=False)
    assert result.verdict != "violated"


@pytest.mark.parametrize(("session", "seed"), [(2, 0), pytest.param(4, 1, marks=pytest.mark.slow)])
def test_fresh_noise_is_no_violation(session: int, seed: int) -> None:
    result = hunt(geometric, "pure:1", LINE, calls=250, session=session, seed=seed, call_timeout_seconds=math.inf)
    assert result.verdict == "not refuted"
    assert (result.traced, result.calls) == (False, 250)


@pytest.mark.slow
def test_the_sum_of_the_claims_is_the_bound() -> None:
    result = hunted(geometric, 3, calls=1000, claim="pure:0.1")  # three calls attain 3, the claim is 0.3
    assert result.verdict == "violated"
    assert 0.3 < result.epsilon_lower <= 3


class Sticky:
    """Keep one noise for each input, from a generator of its own."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(7)
        self.kept: dict[bytes, float] = {}

    def __call__(self, data: Array, size: int, rng: Rng) -> Array:
        """Repeat the release."""
        del rng
        key = data.tobytes()
        if key not in self.kept:
            self.kept[key] = float(data[0]) + self.rng.laplace()
        return np.full(size, self.kept[key])


@pytest.mark.parametrize("session", [1, 2])
def test_sticky_noise_of_an_own_generator_is_no_fresh_draw(session: int) -> None:
    result = hunt(Sticky(), "pure:1", LINE, calls=100, session=session, trace=False)
    assert (result.verdict, result.witness) == ("undecided", None)
    assert Habit.REPEATS_OWN.value in result.notes


def test_fresh_noise_of_an_own_generator_is_no_fresh_draw_in_sessions() -> None:
    own = np.random.default_rng(7)

    def unseeded(data: Array, size: int, rng: Rng) -> Array:
        del rng
        return np.asarray(data[0] + own.laplace(size=size))

    result = hunted(unseeded, 2)
    assert result.verdict == "undecided"
    assert Habit.REPEATS_OWN.value in result.notes


def test_each_session_begins_in_the_given_state() -> None:
    target = Antithetic()
    sessions = SessionSampler(target, 3)(np.zeros(1), 50, np.random.default_rng(0))
    assert all(first == -second for first, second, _ in sessions)  # type: ignore[operator]
    assert len({first for first, _, _ in sessions}) > 3
    assert target.kept == []


def raises_at_the_second_call() -> Callable[..., Array]:
    calls = 0

    def counting(data: Array, size: int, rng: Rng) -> Array:
        nonlocal calls
        calls += 1
        if calls > 1 and data[0] == 1:
            raise ValueError("used up")
        return geometric(data, size, rng)

    return counting


def test_an_exception_in_a_session_is_a_part_of_its_outcome() -> None:
    assert hunted(raises_at_the_second_call(), 2).verdict == "violated"


def test_a_witness_of_a_session_is_replayed_in_sessions() -> None:
    result = hunted(Antithetic(), 2, calls=500)
    record = result.to_json()
    assert record["session"] == 2
    again = replay(record, Antithetic(), calls=1000)
    assert (again.verdict, again.session) == ("violated", 2)


def test_an_assertion_takes_a_session() -> None:
    with pytest.raises(AssertionError, match=r"for 2 calls[\s\S]*PureDP\(1.0\), .*session=2"):
        assert_private(Antithetic(), "pure:1", LINE, session=2, calls=250, call_timeout_seconds=math.inf)


COMPOSED: list[tuple[Claim, Claim]] = [
    (PureDP(1.5), PureDP(6.0)),
    (parse_claim("pure:1/3"), parse_claim("pure:4/3")),
    (ApproximateDP(1.0, 0.125), ApproximateDP(4.0, 0.5)),
    (ApproximateDP(1.0, 0.5), ApproximateDP(4.0, 1.0)),
    (ProbabilisticDP(1.0, 0.125), ProbabilisticDP(4.0, 0.5)),
    (ZCDP(0.5), ZCDP(2.0)),
    (ApproximateZCDP(0.5, 0.125, 0.25), ApproximateZCDP(2.0, 0.5, 1.0)),
    (RenyiDP(2.0, 0.5), RenyiDP(2.0, 2.0)),
    (BoundedRange(0.5), BoundedRange(2.0)),
]


@pytest.mark.parametrize(("claim", "four"), COMPOSED)
def test_claims_add_up(claim: Claim, four: Claim) -> None:
    assert composed_claim(claim, 4) == four
    assert composed_claim(claim, 1) is claim


def test_composed_claims_are_rounded_up() -> None:
    tripled = composed_claim(PureDP(0.1), 3)
    assert isinstance(tripled, PureDP)
    assert Fraction(tripled.epsilon) >= 3 * Fraction(0.1)
    gaussian, concentrated = composed_claim(GaussianDP(0.7), 3), composed_claim(ConcentratedDP(0.7, 0.7), 3)
    assert isinstance(gaussian, GaussianDP)
    assert isinstance(concentrated, ConcentratedDP)
    assert Fraction(gaussian.mu) ** 2 >= 3 * Fraction(0.7) ** 2
    assert gaussian.mu == pytest.approx(math.sqrt(3) * 0.7, rel=1e-12)
    assert concentrated.tau == gaussian.mu


@pytest.mark.parametrize("session", [0, 1.5, 1001, True])
def test_a_session_is_a_number_of_calls(session: Any) -> None:
    with pytest.raises(UsageError, match="session must be an integer"):
        hunt(geometric, "pure:1", LINE, session=session, calls=10)


def test_a_session_needs_a_claim_that_composes_and_a_target_that_can_be_copied() -> None:
    with pytest.raises(UsageError, match="session must be 1 for the claim"):
        hunt(geometric, ExPost(lambda outcome: 1.0), LINE, session=2, calls=10)
    lock = __import__("threading").Lock()

    def locked(data: Array, size: int, rng: Rng) -> Array:
        with lock:
            return geometric(data, size, rng)

    with pytest.raises(UsageError, match="session must be 1 for a target that cannot be copied"):
        hunt(locked, "pure:1", LINE, session=2, calls=10)
