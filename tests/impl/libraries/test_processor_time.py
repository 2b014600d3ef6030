"""A limit of processor time ends a call that computes without end, also one that catches all exceptions."""

import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from random import Random
from threading import Thread

import pytest

from dpassay.adapter import Relations
from dpassay.impl.libraries.in_process import InProcessWorker
from dpassay.impl.libraries.processor_time import EndlessError, within
from dpassay.impl.libraries.remote import RemoteRelations, open_library

LIMIT = 0.02


def endless() -> None:
    while True:
        with suppress(Exception):  # a library may do this
            sum(range(100))


def test_a_call_that_computes_without_end_is_ended() -> None:
    with pytest.raises(EndlessError):
        within(LIMIT, endless)


def test_a_call_that_waits_takes_no_processor_time() -> None:
    assert within(LIMIT, lambda: time.sleep(3 * LIMIT) or "done") == "done"  # type: ignore[func-returns-value]


def test_the_handler_of_signals_is_put_back_and_no_timer_is_left() -> None:
    before = signal.getsignal(signal.SIGVTALRM)
    with pytest.raises(EndlessError):
        within(LIMIT, endless)
    assert signal.getsignal(signal.SIGVTALRM) == before
    assert signal.getitimer(signal.ITIMER_VIRTUAL)[0] == 0


def test_there_is_no_limit_in_other_threads() -> None:
    found: list[int] = []
    thread = Thread(target=lambda: found.append(within(1e-9, lambda: sum(range(10**5)))))
    thread.start()
    thread.join()
    assert found == [sum(range(10**5))]


def test_a_relation_that_does_not_end_is_broken() -> None:
    def searches(_: Random) -> Iterator[tuple[str, float, float, float]]:
        endless()
        yield "never", 0.0, 0.0, 0.0

    (case,) = open_library(InProcessWorker([Relations("search", {"it ends": searches}, seconds=LIMIT)]))
    assert isinstance(case, RemoteRelations)
    compared, broken = case.compare("it ends", 0)
    ((words, low, value, high, cost),) = broken
    assert cost == "time"  # and no loss, if the relation protects the records
    assert compared == 1
    assert "had not ended" in words
    assert low < high == LIMIT < value


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("inf"), float("nan")])
def test_a_limit_is_a_finite_positive_number(seconds: float) -> None:
    with pytest.raises(ValueError, match="finite positive"):
        Relations("search", {}, seconds=seconds)
