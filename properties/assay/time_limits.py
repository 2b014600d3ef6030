"""Time limits of the checks of a run: one slow check may not use the time of all others.

A computed check of the first round has a part of the time that is left, and passes with the points that it had. A
check that draws needs a number of outcomes; where the time is too short for all such checks, each has less depth.
"""

import math
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from dpassay.properties.assay.finding import Law, Turn
from dpassay.properties.assay.planning import Check, CheckResult

__all__ = ["Budget", "Pace"]

_PART_OF_COMPUTED, _LEAST_SECONDS = 1 / 12, 5.0
"""Part of the time, and seconds at least, that a computed check has: it then passes with the points that it had."""

_SHARE, _LEAST_SHARE = 1.5, 0.25
"""Equal parts of the time left that a computed check of the first round has at most, and seconds that it has at least:
the time is for all checks, and a computed one passes with the points that it had, and is repeated if time is left."""

_KNOWN = 4
"""Checks of a law after which its mean time is known well enough."""

_RESERVE = 1.5
"""Factor by which a first round may take longer than expected."""


@dataclass(frozen=True)
class Budget:
    """Time limits of checks, in seconds.

    Parameters
    ----------
    deadline : float
        When the run ends, on the clock of `time.time`.
    sampled, computed : float
        Limits of a sampled and a computed check.
    wished : float
        When all checks should have been asked, on the same clock; infinite if there is no hurry.
    """

    deadline: float
    sampled: float
    computed: float
    wished: float = math.inf

    @classmethod
    def of(cls, seconds: float, checks: int, jobs: int, *, overrun: float = 1.0) -> "Budget":
        """Return the limits of a run that starts now; one slow check may not use the time of all others.

        Parameters
        ----------
        seconds : float
            Time of the run.
        checks, jobs : int
            Numbers of checks and of processes.
        overrun : float
            Factor on the time after which no check starts.
        """
        longest = overrun * seconds
        if checks <= jobs:
            return cls(time.time() + longest, longest, longest)
        computed = max(_PART_OF_COMPUTED * seconds, _LEAST_SECONDS)
        return cls(time.time() + longest, longest / 2, computed, time.time() + seconds)

    @property
    def paced(self) -> float:
        """When a first round should end at its depth, on the same clock: a selection may take longer than its part."""
        now = time.time()
        return max(self.wished, now + (self.deadline - now) / _RESERVE)

    @classmethod
    def until(cls, deadline: float) -> "Budget":
        """Return the limits of checks that may take all of the time until a deadline."""
        left = deadline - time.time()
        return cls(deadline, left, left)

    def shared(self, checks: int, processes: int) -> "Budget":
        """Return the limits of the next check, where a computed one leaves their parts to the others.

        Parameters
        ----------
        checks, processes : int
            Numbers of checks that are still to be asked, and of processes.
        """
        part = _SHARE * processes * (self.wished - time.time()) / checks
        return replace(self, computed=min(self.computed, max(part, _LEAST_SHARE)))

    def left(self, law: Law) -> float:
        """Return the time limit of the next check; not positive after the deadline."""
        draws = law.place in {Turn.FITTED, Turn.SAMPLED}
        return min(self.deadline - time.time(), self.sampled if draws else self.computed)


class Pace:
    """Tells whether the checks that draw can all be asked at their depth in the time that is left.

    Parameters
    ----------
    checks : sequence of Check
        All checks, in the order in which they start.
    wished : float
        When all checks should have been asked, on the clock of `time.time`.
    processes : int
        Number of processes.
    """

    def __init__(self, checks: Sequence[Check], wished: float, processes: int) -> None:
        self._wished, self._processes = wished, processes
        self._noted = list[tuple[str, float]]()
        self._names = [check.law.name if check.least is not None else None for check in checks]

    def note(self, result: CheckResult) -> None:
        """Take account of a result; only those at the whole depth tell how long it takes."""
        if result.check.least is not None:
            self._noted.append((result.check.law.name, result.seconds))

    def is_behind(self, place: int) -> bool:
        """Return whether the time is too short for a check and all later ones, given its place."""
        noted = tuple(self._noted)  # checks are started by one thread while another one notes results
        if sum(name == self._names[place] for name, _ in noted) < _KNOWN:
            return False
        usual = fmean(seconds for _, seconds in noted)
        seconds_of = {law: [seconds for name, seconds in noted if name == law] for law, _ in noted}
        later = Counter(name for name in self._names[place:] if name is not None)
        expected = sum(number * fmean(seconds_of.get(name, [usual])) for name, number in later.items())
        return expected / self._processes > self._wished - time.time()
