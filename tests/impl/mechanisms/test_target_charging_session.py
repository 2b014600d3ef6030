from typing import Any

import numpy as np
import pytest

from dpassay.arguments import UsageError
from dpassay.impl.accounting.filters import BudgetExceeded
from dpassay.impl.mechanisms.halting import HaltedError
from dpassay.impl.mechanisms.target_charging import (
    ChargedResponses,
    LeakyCalls,
    OutcomeError,
    TargetCharging,
    multi_target_charging,
    target_charging,
    target_charging_approx,
)

ONE = frozenset({1})


def never() -> int:
    raise AssertionError("a refused call must not run")


def test_misses_are_free_and_hits_halt() -> None:
    session = TargetCharging(2, 0.1, 0.475)
    assert [session.ask(lambda: 0, ONE) for _ in range(50)] == [0] * 50
    assert session.ask(lambda: 1, ONE) == 1
    assert not session.halted
    assert session.ask(lambda: 1, ONE) == 1
    assert session.halted
    assert session.counts == (2,)
    with pytest.raises(HaltedError):
        session.ask(never, ONE)


def test_several_targets_halt_at_the_least_counter() -> None:
    session = TargetCharging(1, 0.1, 0.475, targets=2)
    zero, one = frozenset({0}), ONE
    for _ in range(5):
        session.ask(lambda: 0, zero, one)
    assert not session.halted
    session.ask(lambda: 1, zero, one)
    assert session.halted
    assert session.counts == (5, 1)


def test_a_delta_that_does_not_fit_is_refused_before_the_call_runs() -> None:
    session = TargetCharging(1, 0.1, 0.475, delta_of_calls=0.25)
    session.ask(lambda: 0, ONE, delta=0.125)
    session.ask(lambda: 0, ONE, delta=0.125)
    with pytest.raises(BudgetExceeded):
        session.ask(never, ONE, delta=0.125)
    assert session.delta_spent == 0.25
    assert session.ask(lambda: 0, ONE) == 0  # what costs nothing still runs


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"epsilon": 0.2}, "epsilon"),
        ({"epsilon": float("nan")}, "epsilon"),
        ({"quality": 0.4}, "quality"),
        ({"quality": 0.0}, "quality"),
        ({"quality": 1.5}, "quality"),
        ({"delta": -0.1}, "delta"),
        ({"delta": 2.0}, "delta"),
    ],
)
def test_bad_calls_run_nothing_and_charge_nothing(arguments: dict[str, Any], named: str) -> None:
    session = TargetCharging(1, 0.1, 0.475, delta_of_calls=0.5)
    with pytest.raises(UsageError, match=named):
        session.ask(never, ONE, **arguments)
    assert (session.counts, session.delta_spent, session.halted) == ((0,), 0.0, False)


def test_bad_targets_run_nothing() -> None:
    session = TargetCharging(1, 0.1, 0.475)
    for targets in ((), (ONE, ONE), (3,)):
        with pytest.raises(UsageError, match="targets"):
            session.ask(never, *targets)


def test_an_outcome_outside_the_declared_range_is_neither_published_nor_told() -> None:
    session = TargetCharging(3, 0.1, 0.475)
    with pytest.raises(OutcomeError) as caught:
        session.ask(lambda: 12345, ONE, outcomes=range(2))
    assert "12345" not in str(caught.value)
    assert session.counts == (0,)
    with pytest.raises(HaltedError):  # the error told something
        session.ask(never, ONE)


def test_a_call_that_raises_closes_the_session() -> None:
    session = TargetCharging(3, 0.1, 0.475)
    with pytest.raises(ZeroDivisionError):
        session.ask(lambda: 1 // 0, ONE)
    assert session.halted


class Raising:
    """A target that fails on an outcome: what it was can be read off the error."""

    def __contains__(self, outcome: object) -> bool:
        raise ZeroDivisionError(outcome)


def test_a_target_that_raises_closes_the_session_and_counts_nothing() -> None:
    session = TargetCharging(3, 0.1, 0.475, targets=2)
    with pytest.raises(ZeroDivisionError):
        session.ask(lambda: 1, ONE, Raising())
    assert (session.halted, session.counts) == (True, (0, 0))
    session = TargetCharging(3, 0.1, 0.475)
    with pytest.raises(TypeError, match="unhashable"):
        session.ask(lambda: [1], ONE)
    assert session.halted


def test_what_cannot_run_is_refused_and_leaves_the_session_open() -> None:
    session = TargetCharging(3, 0.1, 0.475, delta_of_calls=0.5)
    with pytest.raises(UsageError, match="run must be callable"):
        session.ask(3, ONE, delta=0.25)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="outcomes"):
        session.ask(never, ONE, delta=0.25, outcomes=3)  # type: ignore[arg-type]
    assert (session.halted, session.counts, session.delta_spent) == (False, (0,), 0.0)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [((0, 0.1, 0.5), "hits"), ((1, 0.0, 0.5), "epsilon"), ((1, 0.1, 0.0), "quality"), ((1, 0.1, 1.01), "quality")],
)
def test_sessions_out_of_their_domain(arguments: tuple[Any, ...], named: str) -> None:
    with pytest.raises(UsageError, match=named):
        TargetCharging(*arguments)


@pytest.mark.parametrize("delta", [-0.1, 1.0, float("nan")])
def test_budgets_for_the_deltas_out_of_their_domain(delta: float) -> None:
    with pytest.raises(UsageError, match="delta_of_calls"):
        TargetCharging(1, 0.1, 0.475, delta_of_calls=delta)


def test_published_answers_do_not_depend_on_the_account() -> None:
    """The session publishes what the calls return: all responses, cut after the last hit."""
    mechanism = ChargedResponses(size=12, hits=2, truth=0.75, delta=0.01)
    bits = np.array([0.0, 1.0] * 6)
    for answers in mechanism.sample(bits, 500, np.random.default_rng(1)):
        assert sum(answers) <= 2
        assert len(answers) == 12 or (sum(answers) == 2 and answers[-1] == 1)


def test_samplers_agree_with_the_session() -> None:
    rng = np.random.default_rng(2)
    for mechanism in (target_charging, multi_target_charging):
        answers = (rng.random((200, mechanism.size)) < 0.5).astype(np.float64)
        for row, length in zip(answers, mechanism.lengths(answers), strict=True):
            session, asked = mechanism.session(), 0
            targets = (frozenset({0.0}), frozenset({1.0})) if mechanism.both else (frozenset({1.0}),)
            for answer in row:
                if session.halted:
                    break
                session.ask(lambda answer=answer: answer, *targets)  # type: ignore[misc]
                asked += 1
            assert asked == length


def test_leaky_calls_stop_at_their_budget() -> None:
    drawn = target_charging_approx.sample(np.ones(1), 300, np.random.default_rng(3))
    assert {len(words) for words in drawn} == {2}
    assert {word for words in drawn for word in words} == {1, -1}


def test_mechanisms_out_of_their_domain() -> None:
    with pytest.raises(UsageError, match="truth"):
        ChargedResponses(size=3, hits=1, truth=0.5, delta=0.01)
    with pytest.raises(UsageError, match="delta"):
        ChargedResponses(size=3, hits=1, truth=0.75, delta=0.0)
    with pytest.raises(UsageError, match="leak"):
        LeakyCalls(calls=3, leak=1.5, make_session=lambda: TargetCharging(1, 0.1, 0.4))
    with pytest.raises(UsageError, match="data"):
        target_charging.sample(np.full(16, 2.0), 1, np.random.default_rng(0))
