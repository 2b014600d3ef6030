"""What targets do that they should not: noticed, said, and no danger to the hunt."""

import math
import os
import random
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.keys import press_control_c

from dpassay.arguments import UsageError
from dpassay.properties.drawing import call_guard
from dpassay.properties.drawing.call_guard import CallTimeoutError, Habit, carry_out, habits_of
from dpassay.properties.drawing.draws import Draw
from dpassay.properties.hunting.hunt import hunt
from dpassay.properties.hunting.idle import CONSTANT_OUTCOME
from dpassay.testing import MechanismWarning, assert_private

Array = NDArray[np.float64]
Target = Callable[[Array, int, np.random.Generator], Any]
LINE = "vector:size=1,linf=1"
SHORT = 3.0  # seconds; the targets that hang do so for ever, the others take microseconds


def lattice(outcomes: Array) -> Array:
    return np.asarray(np.round(outcomes, 3))


def well_behaved(data: Array, size: int, rng: np.random.Generator) -> Array:
    return lattice(data[0] + rng.laplace(0, 1, size))


def edits_its_input(data: Array, size: int, rng: np.random.Generator) -> Array:
    data += 1
    return well_behaved(data, size, rng)


def uses_the_generator_of_numpy(data: Array, size: int, rng: np.random.Generator) -> Array:
    return lattice(data[0] + np.random.laplace(0, 1, size))  # noqa: NPY002  # the point of the test


def uses_the_generator_of_python(data: Array, size: int, rng: np.random.Generator) -> list[float]:
    return [random.random() for _ in range(size)]  # noqa: S311  # the point of the test


def asks_the_system(data: Array, size: int, rng: np.random.Generator) -> list[bytes]:
    return [os.urandom(1) for _ in range(size)]


def seeds_its_own(data: Array, size: int, rng: np.random.Generator) -> Array:
    return well_behaved(data, size, np.random.default_rng(0))


def is_not_random(data: Array, size: int, rng: np.random.Generator) -> Array:
    return np.zeros(size)


@pytest.mark.parametrize(
    ("target", "habit"),
    [
        (well_behaved, None),
        (edits_its_input, Habit.EDITS_INPUT),
        (uses_the_generator_of_numpy, Habit.GLOBAL_GENERATORS),
        (uses_the_generator_of_python, Habit.GLOBAL_GENERATORS),
        (asks_the_system, Habit.NOT_REPRODUCIBLE),
        (seeds_its_own, Habit.REPEATS_ITSELF),
        (is_not_random, Habit.NOT_RANDOM),
    ],
)
@pytest.mark.parametrize("call_timeout", [60.0, math.inf])
def test_habits_are_noticed(target: Target, habit: Habit | None, call_timeout: float) -> None:
    result = hunt(target, "pure:1", LINE, calls=2_000, alpha=1e-9, call_timeout_seconds=call_timeout)
    noted = CONSTANT_OUTCOME if target is is_not_random else habit and habit.value
    assert result.notes == (() if noted is None else (noted,))
    assert result.is_void == (habit in {Habit.REPEATS_ITSELF, Habit.NOT_RANDOM})
    assert result.verdict == ("undecided" if result.is_void else "not refuted")
    assert result.calls == 2_000
    assert result.to_json()["notes"] == list(result.notes)


def test_a_rare_outcome_is_no_habit() -> None:
    """The same few outcomes from several generators are no news where hardly anything else can come."""
    rare: Target = lambda _, size, rng: rng.random(size) < 1e-3
    assert habits_of(rare, np.zeros(1), seed=0) == set()
    coin: Target = lambda _, size, rng: rng.random(size) < 0.5
    assert habits_of(coin, np.zeros(1), seed=0) == set()


def test_a_short_hunt_is_not_probed() -> None:
    drawn = 0

    def counting(data: Array, size: int, rng: np.random.Generator) -> Array:
        nonlocal drawn
        drawn += size
        return rng.random(size)

    assert hunt(counting, "pure:1", LINE, calls=100).calls == drawn == 100
    drawn = 0
    assert hunt(counting, "pure:1", LINE, calls=2_000).calls + 24 == drawn


def test_the_global_generators_are_left_as_they_were_and_make_a_hunt_repeatable() -> None:
    np.random.seed(1)  # noqa: NPY002  # what a user may have done
    random.seed(1)
    expected = np.random.random(), random.random()  # noqa: NPY002, S311  # see above
    for target in (uses_the_generator_of_numpy, uses_the_generator_of_python):
        results = []
        for _ in range(2):
            np.random.seed(1)  # noqa: NPY002  # see above
            random.seed(1)
            results.append(hunt(target, "pure:0.2", LINE, calls=2_000))
            assert (np.random.random(), random.random()) == expected  # noqa: NPY002, S311  # see above
        assert results[0].epsilon_lower == results[1].epsilon_lower
        assert results[0].e_value_log10 == results[1].e_value_log10


def test_workers_share_no_stream_of_a_global_generator() -> None:
    """Draws with seeds of their own from one process give different outcomes, and equal seeds equal ones."""

    def outcomes(key: int) -> list[Any]:
        drawn, _ = carry_out(uses_the_generator_of_numpy, Draw(np.zeros(1), 50, np.random.SeedSequence(key), False))
        assert drawn is not None
        return drawn.symbols()

    np.random.seed(0)  # noqa: NPY002  # as a target may do when it is imported, in every worker
    first = outcomes(1)
    np.random.seed(0)  # noqa: NPY002  # see above
    assert outcomes(2) != first
    assert outcomes(1) == first


# --- calls that hang ----------------------------------------------------------------------------------------


def waits_on_many(data: Array, size: int, rng: np.random.Generator) -> Array:
    if size > 100:
        threading.Event().wait()
    return lattice(rng.random(size))


def spins_on_many(data: Array, size: int, rng: np.random.Generator) -> Array:
    while size > 100:
        pass
    return lattice(rng.random(size))


def waits(data: Array, size: int, rng: np.random.Generator) -> Array:
    threading.Event().wait()
    return np.zeros(size)


@pytest.mark.parametrize(
    ("target", "jobs"),
    [
        pytest.param(waits_on_many, 1, marks=pytest.mark.slow),
        (spins_on_many, 1),
        pytest.param(waits_on_many, 2, marks=pytest.mark.slow),
    ],
)
def test_a_call_that_hangs_ends_the_hunt_and_what_was_found_is_reported(target: Target, jobs: int) -> None:
    result = hunt(target, "pure:1", LINE, jobs=jobs, call_timeout_seconds=SHORT)
    assert result.stopped == "call timeout"
    assert result.is_void
    assert result.calls > 0
    (note,) = result.notes
    assert note.startswith("the target hangs: f([")
    assert note.endswith("did not return within 3 s")


def test_a_target_that_hangs_at_once_is_named() -> None:
    with pytest.raises(UsageError, match=r"waits': the target hangs: f\(\[.*\], 1, rng\) did not return within 3 s"):
        hunt(waits, "pure:1", LINE, call_timeout_seconds=SHORT)


def test_one_thread_makes_the_calls_of_one_draw_after_the_other() -> None:
    seen: list[int] = []

    def notes_its_thread(data: Array, size: int, rng: np.random.Generator) -> Array:
        seen.append(threading.get_ident())
        return np.asarray(rng.normal(size=size))

    for seed in range(3):
        carry_out(notes_its_thread, Draw(np.zeros(1), 4, np.random.SeedSequence(seed), one_by_one=False))
    assert len(set(seen)) == 1
    assert seen[0] != threading.get_ident()


def test_a_thread_that_spins_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_guard, "_IDLE", [])  # so that the thread is a new one
    before = set(threading.enumerate())
    draw = Draw(np.zeros(1), 200, np.random.SeedSequence(0), one_by_one=False)
    with pytest.raises(CallTimeoutError):
        carry_out(spins_on_many, draw, SHORT)
    started = set(threading.enumerate()) - before
    assert started
    for thread in started:
        thread.join(60)
        assert not thread.is_alive()


def test_a_slow_target_of_fast_calls_is_no_hang() -> None:
    """The limit is one of each call, not of a draw of many."""
    draw = Draw(np.zeros(1), 32, np.random.SeedSequence(0), one_by_one=True)
    pause: Target = lambda _, size, __: [threading.Event().wait(0.1)] * size
    outcomes, _ = carry_out(pause, draw, SHORT)
    assert outcomes is not None
    assert len(outcomes) == 32


@pytest.mark.parametrize("seconds", [0, -1, math.nan])
def test_a_limit_that_makes_no_sense_is_named(seconds: float) -> None:
    with pytest.raises(UsageError, match="call_timeout_seconds must be a finite positive number"):
        hunt(well_behaved, "pure:1", LINE, call_timeout_seconds=seconds)


# --- in tests -----------------------------------------------------------------------------------------------


def test_an_assertion_warns_of_habits_and_passes() -> None:
    with pytest.warns(MechanismWarning, match="changes its input in place"):
        assert_private(edits_its_input, "pure:1", LINE, calls=2_000)


def test_an_assertion_that_tested_nothing_does_not_pass() -> None:
    with pytest.raises(UsageError, match="was not fully tested: not a fresh draw"):
        assert_private(seeds_its_own, "pure:1", LINE, calls=2_000)
    with pytest.raises(UsageError, match="was not fully tested: the target hangs"):
        assert_private(waits_on_many, "pure:1", LINE, call_timeout_seconds=SHORT)


def test_an_interruption_of_an_assertion_is_one_of_the_run() -> None:
    def interrupted(data: Array, size: int, rng: np.random.Generator) -> Array:
        if size > 100:
            press_control_c()
        return rng.random(size)

    with pytest.raises(KeyboardInterrupt):
        assert_private(interrupted, "pure:1", LINE)
