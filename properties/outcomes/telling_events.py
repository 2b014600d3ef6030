"""The event of the past that speaks most clearly against a claim, to be shown to a reader.

Candidates come from the past only: thresholds, cells and sets of symbols.
"""

import itertools
import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from dpassay.properties.learners.side_tree import quantile_edges
from dpassay.properties.outcomes.batch import Outcomes
from dpassay.properties.outcomes.columns import CODE
from dpassay.properties.outcomes.events import Event, Interval, Symbols
from dpassay.properties.outcomes.flattening import MISSING, OUTCOME
from dpassay.properties.outcomes.raised import RAISES
from dpassay.properties.outcomes.symbols import comparable

__all__ = ["best_event"]

Array = NDArray[np.float64]
Sides = NDArray[np.bool_]

Candidate = tuple[Event, int, int, float]
"""An event, its calls on the left and on the right, and the largest epsilon of its outcomes."""

_MOST_SYMBOLS = 12
"""Symbols of an event at most: a reader understands few, and more fit the noise."""

_SPLIT = 256
"""From this number of calls on, every second call proposes events and the others choose among them."""


def best_event(
    outcomes: Outcomes,
    is_left: Sides,
    epsilon: float | Array,
    delta: float,
    ignored: frozenset[str] = frozenset(),
) -> Event:
    """Return the event of the past that speaks most clearly against (epsilon, delta), in either direction.

    It is the one with the largest deviation, in standard errors, of left - e^epsilon right - delta (or the mirror
    image), or a set of symbols that comes within a fifth of it: an exception says more than its type, and that more
    than a number. Half a call is added to each count, so that single calls prove nothing. If each outcome has an
    epsilon of its own, that of an event is the largest one in it. Calls that propose an event do not choose it: among
    many symbols some always look telling.

    Parameters
    ----------
    outcomes : Outcomes
        The outcomes of n calls.
    is_left : array of bool, shape (n,)
        Whether a call was made on the left input.
    epsilon : float or array of shape (n,)
        In nats; an array has one for each outcome.
    delta : float
        In [0, 1].
    ignored : frozenset of str
        Features that no event may mention.
    """
    bounds = np.broadcast_to(np.asarray(epsilon, dtype=np.float64), len(outcomes))
    if len(outcomes) < _SPLIT:
        return _most_telling(_candidates(outcomes, is_left, bounds, ignored), is_left, delta)
    first, second = outcomes.every_other(0), outcomes.every_other(1)
    proposed = _proposals(_candidates(first, is_left[::2], bounds[::2], ignored), is_left[::2], delta)
    return _most_telling(_counted(proposed, second, is_left[1::2]), is_left[1::2], delta)


def _candidates(outcomes: Outcomes, is_left: Sides, bounds: Array, ignored: frozenset[str]) -> Iterator[Candidate]:
    return itertools.chain(_symbol_sets(outcomes, is_left, bounds), _intervals(outcomes, is_left, bounds, ignored))


def _counted(candidates: Iterable[Candidate], outcomes: Outcomes, is_left: Sides) -> Iterator[Candidate]:
    """Count other calls in each event; the words at a place are read once for all sets of them."""
    places: dict[str, tuple[Counter[Hashable], Counter[Hashable]]] = {}
    for event, _, _, bound in candidates:
        if isinstance(event, Symbols):
            if event.place not in places:
                places[event.place] = _word_counts(outcomes.words(event.place), is_left)
            members = set(map(comparable, event.members))
            left, right = (sum(counts[member] for member in members) for counts in places[event.place])
        else:
            hits = event.holds(outcomes)
            left, right = int(np.count_nonzero(hits & is_left)), int(np.count_nonzero(hits & ~is_left))
        yield event, left, right, bound


def _word_counts(words: list[Hashable], is_left: Sides) -> tuple[Counter[Hashable], Counter[Hashable]]:
    """Return how often each word occurs on the left and on the right side."""
    sides = is_left.tolist()
    return Counter(itertools.compress(words, sides)), Counter(itertools.compress(words, (~is_left).tolist()))


def _proposals(candidates: Iterable[Candidate], is_left: Sides, delta: float) -> list[Candidate]:
    """Return every set of symbols, and the most telling interval of each feature."""
    kept: dict[Hashable, Candidate] = {}
    scores: dict[Hashable, float] = {}
    total = _calls_of_sides(is_left)
    for candidate in candidates:
        event = candidate[0]
        key: Hashable = event.feature if isinstance(event, Interval) else event
        score = _score(candidate, total, delta)
        if score > scores.get(key, -math.inf):
            kept[key], scores[key] = candidate, score
    return list(kept.values())


def _most_telling(candidates: Iterable[Candidate], is_left: Sides, delta: float) -> Event:
    best: Event = Interval("outcome", -math.inf, math.inf)
    best_score, total = -math.inf, _calls_of_sides(is_left)
    for candidate in sorted(candidates, key=lambda each: -_plainness(each[0])):
        score = _score(candidate, total, delta)
        says_less = _plainness(candidate[0]) < _plainness(best)
        if score > best_score + (abs(best_score) / 5 if says_less else 0):
            best, best_score = candidate[0], score
    return best


def _plainness(event: Event) -> int:
    """Rank what an event says to a reader: exceptions most, then outcomes themselves, an interval least."""
    if not isinstance(event, Symbols):
        return 0
    if event.place != OUTCOME:
        return 1
    return 3 if all(isinstance(each, str) and each.startswith(RAISES) for each in event.members) else 2


def _calls_of_sides(is_left: Sides) -> tuple[int, int]:
    left = int(np.count_nonzero(is_left))
    return left, len(is_left) - left


def _score(candidate: Candidate, total: tuple[int, int], delta: float) -> float:
    _, left, right, bound = candidate
    return max(_deviation(left, right, total, bound, delta), _deviation(right, left, total[::-1], bound, delta))


def _deviation(a: int, b: int, total: tuple[int, int], epsilon: float, delta: float) -> float:
    ratio = math.exp(min(epsilon, 50.0))
    p, q = (a + 0.5) / (total[0] + 1), (b + 0.5) / (total[1] + 1)
    return (p - ratio * q - delta) / math.sqrt(p / (total[0] + 1) + ratio**2 * q / (total[1] + 1))


def _intervals(outcomes: Outcomes, is_left: Sides, epsilons: Array, ignored: frozenset[str]) -> Iterator[Candidate]:
    words = CODE.partition("{}")[0]
    for feature in outcomes.common_features():
        if feature in ignored or feature.startswith(words):
            continue
        values = outcomes.features[feature]
        edges = quantile_edges(values)
        cells = np.searchsorted(edges, values)
        cells[np.isnan(values)] = len(edges) + 1
        left = np.bincount(cells[is_left], minlength=len(edges) + 2)[:-1]
        right = np.bincount(cells[~is_left], minlength=len(edges) + 2)[:-1]
        largest = np.zeros(len(edges) + 2)
        np.maximum.at(largest, cells, epsilons)
        largest = largest[:-1]
        below_left, below_right, below = np.cumsum(left), np.cumsum(right), np.maximum.accumulate(largest)
        above = np.maximum.accumulate(largest[::-1])[::-1]
        bounds = [-math.inf, *edges.tolist(), math.inf]
        for k, (low, high) in enumerate(itertools.pairwise(bounds)):
            yield Interval(feature, low, high), int(left[k]), int(right[k]), float(largest[k])
            if high < math.inf:  # the whole line is no event worth showing
                yield Interval(feature, -math.inf, high), int(below_left[k]), int(below_right[k]), float(below[k])
            if low > -math.inf:
                rest_left, rest_right = below_left[-1] - below_left[k - 1], below_right[-1] - below_right[k - 1]
                yield Interval(feature, low, math.inf), int(rest_left), int(rest_right), float(above[k])


def _symbol_sets(outcomes: Outcomes, is_left: Sides, epsilons: Array) -> Iterator[Candidate]:
    if outcomes.is_continuous and not outcomes.typed:
        return
    for place in (OUTCOME, *outcomes.worded()):
        yield from _word_sets(place, outcomes.words(place), is_left, epsilons)


def _word_sets(place: str, words: list[Hashable], is_left: Sides, epsilons: Array) -> Iterator[Candidate]:
    left, right = _word_counts(words, is_left)
    bound: dict[Hashable, float] = {}
    for symbol, epsilon in zip(words, epsilons.tolist(), strict=True):
        bound[symbol] = max(epsilon, bound.get(symbol, 0.0))
    bound.pop(MISSING, None)
    for a, b in ((left, right), (right, left)):
        ranked = sorted(bound, key=lambda s: math.exp(min(bound[s], 50.0)) * (b[s] + 0.5) / (a[s] + 0.5))
        likely = [s for s in ranked[:_MOST_SYMBOLS] if a[s] > math.exp(min(bound[s], 50.0)) * b[s]]
        often = [s for s in likely if a[s] > 1]  # seen once, a symbol is as likely noise
        likely = often or likely
        for count in range(1, len(likely) + 1):
            chosen = tuple(likely[:count])
            yield (
                Symbols(chosen, place),
                sum(left[s] for s in chosen),
                sum(right[s] for s in chosen),
                max(bound[s] for s in chosen),
            )
