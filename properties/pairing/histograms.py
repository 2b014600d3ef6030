"""The mechanisms of set-wise composition: the distribution of ranked lists, and the worst events of noisy counts."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.impl.broken.histograms import HalfTheScale
from dpassay.impl.mechanisms.count_mle import CountMLE
from dpassay.impl.mechanisms.gumbel_top_k import GumbelTopK
from dpassay.impl.mechanisms.histograms import GaussianHistogram, LaplaceHistogram
from dpassay.impl.mechanisms.truncated_gaussian_histogram import TruncatedGaussianCounts
from dpassay.impl.mechanisms.two_phase_top_k import TwoPhaseTopK
from dpassay.properties.checks.events import KnownEvent, register_events
from dpassay.properties.pairing.registry import register_distribution
from dpassay.spec.ball import exact
from dpassay.spec.distributions.peeling import PeelingDistribution

Array = NDArray[np.float64]
Rows = NDArray[Any]
Truths = NDArray[np.bool_]

MOST_LISTS = 1000
"""Lists of labels whose probabilities are enclosed."""


# --- ranked lists -------------------------------------------------------------------------------------------


def _peeling_distribution(mechanism: GumbelTopK, data: Array, factor: int = 1) -> PeelingDistribution | None:
    rate = factor * exact("epsilon", mechanism.epsilon) / exact("linf", mechanism.linf)
    distribution = PeelingDistribution(tuple(data.tolist()), mechanism.k, rate)
    return distribution if len(distribution.outcomes) <= MOST_LISTS else None


register_distribution(GumbelTopK, _peeling_distribution)
register_distribution(HalfTheScale, lambda mechanism, data: _peeling_distribution(mechanism, data, 2))


# --- truncated Gaussian noise -------------------------------------------------------------------------------


def _any(cells: Truths) -> Truths:
    return np.asarray(cells.any(axis=1))


def _truncated_events(mechanism: TruncatedGaussianCounts) -> Iterator[KnownEvent]:
    """Move all that may up: values that only one side can produce, atoms at the ends, labels that appear, orders."""
    size, step, width = mechanism.size, mechanism.linf, mechanism.half_width
    high = float(np.ceil(4 * (step + width)))
    plain = np.full(size, high)
    moved = plain + step * (np.arange(size) < mechanism.l0)
    yield KnownEvent(moved, plain, lambda rows: _any(rows > high + width))
    yield KnownEvent(moved, plain, lambda rows: rows[:, 0] > high + step)
    ends = np.array([high + step - width, high + step + width])
    yield KnownEvent(moved, plain, lambda rows: _any(np.isin(rows, ends)))
    alone = np.where(np.arange(size) == 0, step, 0.0)
    yield KnownEvent(alone, np.zeros(size), lambda rows: _any(rows > 0))
    if size > 1:
        overtaken = plain + step * (np.arange(size) == 1)
        yield KnownEvent(overtaken, plain, lambda rows: rows[:, 0] == 1)
        yield KnownEvent(plain, overtaken, lambda rows: rows[:, 0] != 0)


register_events(TruncatedGaussianCounts, _truncated_events)


# --- histograms ---------------------------------------------------------------------------------------------


def _shifted(size: int, moved: int, step: float, base: Array, event: Callable[[Rows], Truths]) -> KnownEvent:
    return KnownEvent(base + step * (np.arange(size) < moved), base, event)


def _laplace_events(mechanism: LaplaceHistogram) -> Iterator[KnownEvent]:
    """Let every moved count reach its value on the left."""
    size, moved = mechanism.size, min(mechanism.l0, mechanism.size)
    yield _shifted(size, moved, mechanism.linf, np.zeros(size), lambda rows: ~_any(rows[:, :moved] < mechanism.linf))


def _gaussian_events(mechanism: GaussianHistogram) -> Iterator[KnownEvent]:
    """Let the sum of the moved counts exceed a level: half-lines along the line through the two means."""
    moved = min(mechanism.l0, mechanism.size)
    yield from _sums(mechanism, moved, np.zeros(mechanism.size), mechanism.linf)


def _count_mle_events(mechanism: CountMLE) -> Iterator[KnownEvent]:
    """Set counts so far apart that the fit leaves them alone; and two that change places."""
    size, step = mechanism.size, mechanism.linf
    spread = 100 * mechanism.sigma * step * np.arange(size, 0, -1.0)
    yield from _sums(mechanism, size, spread, step)
    if size > 1:
        tied = np.full(size, spread[0])
        overtaken = tied + step * (np.arange(size) == 1)
        yield KnownEvent(overtaken, tied, lambda rows: rows[:, 0] == 1)


def _sums(mechanism: Any, moved: int, base: Array, step: float) -> Iterator[KnownEvent]:
    deviation = step * mechanism.sigma * np.sqrt(moved)
    for level in (0.0, 1.0, 2.0):
        bound = float(base[:moved].sum()) + moved * step + level * deviation
        yield _shifted(mechanism.size, moved, step, base, _sum_above(moved, bound))


def _sum_above(moved: int, bound: float) -> Callable[[Rows], Truths]:
    return lambda rows: rows[:, :moved].sum(axis=1) > bound


def _two_phase_events(mechanism: TwoPhaseTopK) -> Iterator[KnownEvent]:
    """Let the released counts together exceed a level, while all move up."""
    k, size, step = mechanism.k, mechanism.size, mechanism.linf
    bound = k * step + step * mechanism.sigma * np.sqrt(k)
    yield _shifted(size, size, step, np.zeros(size), lambda rows: rows[:, k:].sum(axis=1) > bound)


register_events(LaplaceHistogram, _laplace_events)
register_events(GaussianHistogram, _gaussian_events)
register_events(CountMLE, _count_mle_events)
register_events(TwoPhaseTopK, _two_phase_events)
