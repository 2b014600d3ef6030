"""The suite is deterministic: hypothesis draws the same examples in every run; and it can be interrupted anywhere."""

import signal
import threading

from hypothesis import settings

settings.register_profile("deterministic", derandomize=True, deadline=None)
settings.load_profile("deterministic")

# A shell starts what it puts into the background deaf to Ctrl-C, and so would be the processes that tests interrupt.
if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
