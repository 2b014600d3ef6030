"""The time limit of a trace."""

import subprocess
import sys
import time

import pytest

from dpassay.properties.tracing.watchdog import OutOfTime, time_limit

AFTERWARDS = """
import sys, time
from dpassay.properties.tracing.watchdog import OutOfTime, time_limit
{limited}
def one(): return 1
sys.setprofile(lambda *_: None)
sum(one() for _ in range(100))
print("done")
"""


def test_an_endless_loop_ends() -> None:
    def endless() -> None:
        while True:
            time.sleep(0)

    with pytest.raises(OutOfTime), time_limit(0.05):
        endless()


def test_what_code_makes_of_the_interruption_is_the_end_of_the_time_too() -> None:
    """Hypothesis runs a test again whose drawing was interrupted, and calls its strategy flaky."""

    def reports_something_else() -> None:
        try:
            while True:
                time.sleep(0)
        except OutOfTime as interruption:
            raise ValueError("flaky") from interruption

    with pytest.raises(OutOfTime), time_limit(0.05):
        reports_something_else()
    with pytest.raises(ValueError, match="own"), time_limit(60):
        raise ValueError("own")


@pytest.mark.parametrize(
    "limited",
    [
        "with time_limit(60): pass",
        "try:\n    with time_limit(0.02):\n        while True: time.sleep(0)\nexcept OutOfTime: pass",
    ],
)
def test_calls_begin_under_a_profiler_afterwards(limited: str) -> None:
    """A pending exception that was taken back let CPython 3.11 begin the next call again and again."""
    program = AFTERWARDS.format(limited=limited)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert (done.stdout, done.stderr) == ("done\n", "")
