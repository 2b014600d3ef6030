"""A time limit for code that takes no decisions, such as an endless loop."""

import ctypes
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["OutOfTime", "time_limit"]

_AGAIN_SECONDS = 0.5
"""Time after which a thread that caught the interruption is interrupted again."""


class OutOfTime(BaseException):
    """Raised in the traced thread when the time is over; again and again, should the code swallow it."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise `OutOfTime` in this thread at its next line of Python when the time is over.

    Parameters
    ----------
    seconds : float
        Time that the body of the context may take.
    """
    finished, is_over, lock, thread = threading.Event(), threading.Event(), threading.Lock(), threading.get_ident()

    def watch() -> None:
        wait = seconds
        while not finished.wait(wait):
            with lock:
                if not finished.is_set():
                    is_over.set()
                    _raise_in(thread, OutOfTime)
            wait = _AGAIN_SECONDS

    watcher = threading.Thread(target=watch, daemon=True)
    if seconds <= 0:
        raise OutOfTime
    hook = sys.unraisablehook
    sys.unraisablehook = _quiet(hook)
    try:
        watcher.start()  # in the block: the time may be over before it returns
        yield
    except Exception as error:  # code in between may have caught the interruption, and raise something of its own
        if is_over.is_set():
            raise OutOfTime from error
        raise
    finally:
        _end(finished, is_over, lock, thread)
        sys.unraisablehook = hook


def _quiet(hook: Callable[[Any], object]) -> Callable[[Any], object]:
    """Return a hook that is silent on `OutOfTime`: in a callback that cannot raise it is lost, and comes again."""

    def report(unraisable: Any) -> None:
        if unraisable.exc_type is not OutOfTime:
            hook(unraisable)

    return report


def _end(finished: threading.Event, is_over: threading.Event, lock: threading.Lock, thread: int) -> None:
    """Stop the watcher. An exception that may be on its way arrives here.

    It cannot be taken back: CPython 3.11 would still look for one at every call, and with a profiler, a debugger or a
    measurement of coverage the next call would never begin.
    """
    is_sent = False
    while True:
        try:
            with lock:
                finished.set()
            if not is_over.is_set():
                return
            is_sent = True
            while True:  # one that arrives in a callback is lost
                _raise_in(thread, OutOfTime)
                time.sleep(0)
        except OutOfTime:
            if is_sent:
                return


def _raise_in(thread: int, exception: type[BaseException]) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(exception))
