"""Our audit with as much as a peer had: as many calls, or at most its CPU time."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.rows import Row, audit
from dpassay.properties.hunting.result import HuntResult

__all__ = ["LEAST_CALLS", "Ours", "with_calls", "within_cpu"]

LEAST_CALLS = 1000
GROWTH = 4
"""Largest step from one try to the next: the first batches of a hunt cost more than later ones."""
ENOUGH, SAFE, TRIES = 0.75, 0.9, 5
"""A try that uses the first share of the time is the last one; the next one aims at the second share. After too long
a try it is shortened by the square, since part of a hunt's time does not depend on its calls."""


@dataclass(frozen=True)
class Ours:
    """Our audit of a row, and the CPU seconds of all of it, the choice of pairs and the report included."""

    result: HuntResult
    cpu_seconds: float


def with_calls(row: Row, calls: int, *, seed: int, alpha: float) -> Ours:
    """Audit a row, black-box, with so many calls."""
    start = time.process_time()
    result = audit(row, calls=max(calls, LEAST_CALLS), seed=seed, alpha=alpha)
    return Ours(result, time.process_time() - start)


def within_cpu(seconds: float, calls: int, run: Callable[[int], Ours]) -> Ours:
    """Return the longest of a few tries that took at most the time.

    The tries have the same seed and differ in their calls only, which follow from the time that was measured, not from
    what was found. The bound is valid at every number of calls.

    Parameters
    ----------
    seconds : float
        CPU time, positive.
    calls : int
        How many the first try has.
    run : callable
        Audits with a number of calls.

    Returns
    -------
    Ours
        The last try where all of them took longer.
    """
    best = None
    for _ in range(TRIES):
        found = run(max(calls, LEAST_CALLS))
        share = found.cpu_seconds / seconds
        if share <= 1 and (best is None or found.result.calls > best.result.calls):
            best = found
        if ENOUGH <= share <= 1:
            break
        step = SAFE / share
        calls = int(found.result.calls * min(step if step > 1 else step**2, GROWTH))
    return best or found
