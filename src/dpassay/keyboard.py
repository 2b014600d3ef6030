"""Telling Ctrl-C from a KeyboardInterrupt that foreign code raises by itself."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["noting_interruptions"]


@contextmanager
def noting_interruptions() -> Iterator[Callable[[], bool]]:
    """Yield a function that returns whether Ctrl-C was pressed since the block began.

    Python handles the signal in the main thread only. In other threads, and where the signal is ignored, every
    KeyboardInterrupt is raised by code.
    """
    arrived = threading.Event()
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield arrived.is_set
        return

    def note(number: int, frame: FrameType | None) -> None:
        arrived.set()
        handler(number, frame)

    signal.signal(signal.SIGINT, note)
    try:
        yield arrived.is_set
    finally:
        if signal.getsignal(signal.SIGINT) is note:  # unless the code has installed a handler of its own
            signal.signal(signal.SIGINT, handler)
