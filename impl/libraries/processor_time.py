"""A limit of the processor time of a call, which a search that never ends exceeds however busy the machine is.

This module runs in a worker: Python 3.9, the standard library.
"""

from __future__ import annotations

import signal
import threading
import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

__all__ = ["EndlessError", "within"]

_T = TypeVar("_T")

_STEP = 0.05
"""Seconds of processor time between two looks at the clock."""


class EndlessError(BaseException):
    """A call that took more than its processor time; no handler of ordinary exceptions catches it."""


def within(seconds: float, call: Callable[[], _T]) -> _T:
    """Return what a call returns, or end it.

    Parameters
    ----------
    seconds : float
        Processor time of this thread that the call may take. Where there is no such clock (outside of the main thread,
        and on Windows) there is no limit.
    call : callable
        The call.

    Raises
    ------
    EndlessError
        If the call takes longer. Compiled code is not interrupted before it returns.

    Examples
    --------
    >>> within(10.0, lambda: 2 + 2)
    4
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        return call()
    end = time.thread_time() + seconds

    def look(_number: int, _frame: FrameType | None) -> None:
        # the timer counts the time of all threads
        if time.thread_time() >= end:
            raise EndlessError

    before = signal.signal(signal.SIGVTALRM, look)
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, _STEP, _STEP)
        return call()
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
