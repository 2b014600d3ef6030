"""The sparse vector technique with Laplace noise: distribution of the places of the first hits (Gaboardi 2017, S10).

A hit is an answer that reaches the noisy threshold; after `cutoff` hits the mechanism halts. The threshold's noise is
drawn once, or anew after each hit. Outcomes are tuples of `cutoff` places, counted from 1 and padded with 0.
"""

import itertools
import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from flint import arb, ctx

from dpassay.arguments import UsageError
from dpassay.spec.ball import Exact, exact, sum_balls
from dpassay.spec.distributions.laplace import LaplaceDistribution, Side
from dpassay.spec.distributions.noisy_threshold import LaplaceThreshold

__all__ = [
    "BareQueriesDistribution",
    "NumericSparseVectorDistribution",
    "Places",
    "SparseVectorDistribution",
    "hit_places",
    "number_of_outcomes",
]

Places = tuple[int, ...]


def hit_places(size: int, cutoff: int) -> Iterator[Places]:
    """Yield every outcome: increasing places from 1 to `size`, at most `cutoff` of them, padded with 0."""
    for hits in range(min(cutoff, size) + 1):
        for places in itertools.combinations(range(1, size + 1), hits):
            yield places + (0,) * (cutoff - hits)


def number_of_outcomes(size: int, cutoff: int) -> int:
    """Return the number of outcomes of `hit_places`."""
    return sum(math.comb(size, hits) for hits in range(min(cutoff, size) + 1))


@dataclass(frozen=True)
class SparseVectorDistribution:
    """The distribution of the places of the first `cutoff` hits on a stream.

    Parameters
    ----------
    answers : tuple of exact numbers
        The stream, at least one answer.
    setting : LaplaceThreshold
        Threshold and noise.
    cutoff : int
        Hits after which the mechanism halts, at least 1; never, if it is the length of the stream.
    refreshed : bool
        Whether the threshold's noise is drawn anew after each hit: the technique is then `AboveThreshold`, restarted.
    """

    answers: tuple[Exact, ...]
    setting: LaplaceThreshold
    cutoff: int = 1
    refreshed: bool = False

    cost = 0.05
    """Time that one probability takes, in units of the 5 ms of a Gaussian race."""

    def __post_init__(self) -> None:
        if not self.answers or self.cutoff < 1:
            raise UsageError(f"a stream needs answers and a cutoff, got {self.answers!r} and {self.cutoff!r}")

    @cached_property
    def stream(self) -> tuple[Fraction, ...]:
        """The answers as rationals."""
        return tuple(exact("answers", answer) for answer in self.answers)

    @property
    def outcomes(self) -> tuple[Hashable, ...]:
        """All tuples of places."""
        return tuple(hit_places(len(self.answers), self.cutoff))

    def log_probability(self, outcome: Hashable) -> arb:
        """Enclose the logarithm of the probability of a tuple of places."""
        hits = _hits(outcome, len(self.stream), self.cutoff)
        asked = hits[-1] if len(hits) == self.cutoff else len(self.stream)
        if not self.refreshed:
            return self._log_run(0, asked, hits)
        ends = [*hits, *([asked] if asked > (hits[-1] if hits else 0) else [])]
        begins = [0, *ends[:-1]]
        return sum_balls(self._log_one(begin, end, end in hits) for begin, end in zip(begins, ends, strict=True))

    def _log_one(self, begin: int, end: int, hit: bool) -> arb:
        """Enclose the log-probability of one of the runs, which many outcomes share."""
        key = begin, end, hit, ctx.prec
        if key not in self._runs:
            self._runs[key] = self._log_run(begin, end, (end,) if hit else ())
        return self._runs[key]

    @cached_property
    def _runs(self) -> dict[tuple[int, int, bool, int], arb]:
        return {}

    def _log_run(self, begin: int, end: int, hits: Places) -> arb:
        """Enclose the log-probability of the comparisons after `begin` up to `end`; the others have a count of 0."""
        below = [(q, int(begin < k <= end and k not in hits)) for k, q in enumerate(self.stream, start=1)]
        return self.setting.log_pattern(below, [(self.stream[k - 1], 1) for k in hits])


@dataclass(frozen=True)
class NumericSparseVectorDistribution:
    """Sparse vector with one noisy threshold that also releases a number for each hit.

    Parameters
    ----------
    answers, setting, cutoff
        As for `SparseVectorDistribution`.
    value_scale : exact number, optional
        Scale of the fresh Laplace noise on the number released. Without it the noisy answer that was tested is
        released itself: then the threshold is known to lie below it, and the technique is not private.
    """

    answers: tuple[Exact, ...]
    setting: LaplaceThreshold
    cutoff: int = 1
    value_scale: Exact | None = None

    def log_cell(self, places: Places, sides: tuple[Side, ...]) -> arb:
        """Enclose the log-probability of these hits, with the number released for each in its interval (low, high].

        Parameters
        ----------
        places : tuple of int
            An outcome of `SparseVectorDistribution`.
        sides : tuple of (low, high)
            One for each hit; None is no bound.
        """
        hits = _hits(places, len(self.answers), self.cutoff)
        if len(sides) != len(hits):
            raise UsageError(f"sides must hold one interval for each of {len(hits)} hits, got {sides!r}")
        if self.value_scale is not None:
            fresh = LaplaceDistribution(tuple(self.answers[k - 1] for k in hits), self.value_scale)
            return self._tested.log_probability(places) + fresh.log_box(list(enumerate(sides)))
        stream = self._tested.stream
        asked = hits[-1] if len(hits) == self.cutoff else len(stream)
        below: dict[Fraction, int] = {}
        for k in range(1, asked + 1):
            if k not in hits:
                below[stream[k - 1]] = below.get(stream[k - 1], 0) + 1
        released = tuple((stream[k - 1], _end(low), _end(high)) for k, (low, high) in zip(hits, sides, strict=True))
        return self.setting.log_released(tuple(below.items()), released)

    @cached_property
    def _tested(self) -> SparseVectorDistribution:
        return SparseVectorDistribution(self.answers, self.setting, self.cutoff)


@dataclass(frozen=True)
class BareQueriesDistribution:
    """Hits of answers without noise against a threshold with Laplace noise, without a halt.

    The answers that reach the threshold are the largest ones: few tuples of places are possible, and which they are
    depends on the data.

    Parameters
    ----------
    answers : tuple of exact numbers
        The stream.
    threshold : exact number
        The public threshold.
    threshold_scale : exact number
        Scale of its noise, positive.
    """

    answers: tuple[Exact, ...]
    threshold: Exact
    threshold_scale: Exact

    @cached_property
    def _intervals(self) -> dict[Hashable, Side]:
        """The threshold's interval (low, high] for each possible outcome."""
        levels: list[Exact | None] = [None, *sorted({exact("answers", answer) for answer in self.answers}), None]
        found: dict[Hashable, Side] = {}
        for low, high in itertools.pairwise(levels):
            hits = tuple(k for k, q in enumerate(self.answers, start=1) if low is None or exact("answers", q) > low)
            found[hits + (0,) * (len(self.answers) - len(hits))] = (low, high)
        return found

    @property
    def outcomes(self) -> tuple[Hashable, ...]:
        """The possible tuples of places."""
        return tuple(self._intervals)

    def log_probability(self, outcome: Hashable) -> arb:
        """Enclose the logarithm of the probability of a tuple of places; minus infinity if it is impossible."""
        if outcome not in self._intervals:
            return arb.neg_inf()
        return LaplaceDistribution((self.threshold,), self.threshold_scale).log_side(0, self._intervals[outcome])


def _end(end: Exact | None) -> Fraction | None:
    return None if end is None else exact("side", end)


def _hits(outcome: Hashable, size: int, cutoff: int) -> Places:
    """Return the places of an outcome without the padding; raise `UsageError` if it is none."""
    if isinstance(outcome, tuple) and len(outcome) == cutoff and all(isinstance(k, int) for k in outcome):
        hits = tuple(k for k in outcome if k)
        padded = hits + (0,) * (cutoff - len(hits)) == outcome
        if padded and all(a < b for a, b in itertools.pairwise((0, *hits))) and all(k <= size for k in hits):
            return hits
    raise UsageError(f"outcome must be {cutoff} increasing places up to {size}, padded with 0, got {outcome!r}")
