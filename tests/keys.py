"""Keys that tests press."""

import os
import signal
import threading

__all__ = ["press_control_c"]


def press_control_c() -> None:
    """Interrupt the main thread, from a call of a target in a thread of its own, and wait for that to end the call."""
    os.kill(os.getpid(), signal.SIGINT)
    threading.Event().wait(5)
