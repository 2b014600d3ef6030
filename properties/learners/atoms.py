"""A learner that counts how often each symbol came from each side: exact values, ties, words, exceptions."""

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.properties.learners.side_tree import STRENGTHS, evidence_and_chance
from dpassay.properties.log_domain import logit
from dpassay.properties.outcomes.batch import Outcomes
from dpassay.properties.outcomes.symbols import LONGEST_ATOM, comparable

__all__ = ["AtomLearner", "Codes", "codes_of_numbers"]

Array = NDArray[np.float64]
Codes = NDArray[np.uint64]
Sides = NDArray[np.bool_]

_MOST_ATOMS = 50_000
"""Different values that are counted: more find rarer atoms and take more memory and time for each batch."""

_MANY = 2048
"""Calls after which the learner retires if most values were seen once: earlier, frequent atoms may still be rare."""

_SOME, _NEARLY_ALL = 64, 0.95
"""Calls with numbers after which the learner retires if this part of them were different: frequent atoms come
again within as many, and to count numbers of a continuum is useless."""

_EXACT = 2**53
"""The largest integer below which float64 holds every integer."""

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
"""The multiplier of the hash of rows: odd, with bits that look random."""

_START = np.uint64(0xD1B54A32D192ED03)
"""The first state of the hash of rows."""

_ABOVE_WORDS = np.uint64(1 << 63)
"""The bit that tells the codes of numbers from those of words."""


class AtomLearner:
    """Predicts the side of a symbol by its counts; all chances share a Beta prior, of one of several strengths.

    It retires for good when a batch has nothing but different numbers, or when most symbols came but once.
    """

    def __init__(self) -> None:
        self.names = ["atoms"]
        self._words: dict[Hashable, int] = {}
        self._codes: Codes = np.empty(0, dtype=np.uint64)
        self._counts = np.zeros((2, 0), dtype=np.int64)  # of the right and of the left side
        self._logits: Array = np.empty(0)
        self._cached: tuple[Outcomes | None, Codes] = (None, self._codes)

    def opinions(self, outcomes: Outcomes) -> dict[str, Array]:
        """Predict by the counts of each symbol, 0 for one that is new."""
        if not self.names:
            return {}
        codes = self._codes_of(outcomes, learning=False)
        self._cached = (outcomes, codes)
        if not self._codes.size:
            return {"atoms": np.zeros(len(outcomes))}
        places = np.minimum(np.searchsorted(self._codes, codes), self._codes.size - 1)
        return {"atoms": np.where(self._codes[places] == codes, self._logits[places], 0.0)}

    def observe(self, outcomes: Outcomes, is_left: Sides, won: Mapping[str, float]) -> None:
        """Count the batch."""
        del won
        if self.names and outcomes.is_continuous:
            self.retire("atoms")
        if not self.names:
            return
        codes = self._cached[1]
        if self._cached[0] is not outcomes or not codes.all():
            codes = self._codes_of(outcomes, learning=True)
        self._cached = (None, codes[:0])
        self._count(codes[codes > 0], is_left[codes > 0])
        calls = int(self._counts.sum())
        # words and integers come again later than numbers of a continuum would
        is_float = outcomes.rows.dtype.kind == "f"
        if (calls >= _MANY and self._codes.size > calls / 2) or (
            is_float and calls >= _SOME and self._codes.size > _NEARLY_ALL * calls
        ):
            self.retire("atoms")
            return
        parts = [evidence_and_chance(self._counts[1], self._counts[0], strength) for strength in STRENGTHS]
        evidence = np.array([logs.sum() for logs, _ in parts])
        shares = np.exp(evidence - evidence.max())
        self._logits = logit(shares / shares.sum() @ np.array([chances for _, chances in parts]))

    def retire(self, name: str) -> None:
        """Leave the learner out for good."""
        self.names.remove(name)
        self._words, self._codes, self._counts = {}, self._codes[:0], self._counts[:, :0]

    def _count(self, codes: Codes, is_left: Sides) -> None:
        known, inverse = np.unique(np.concatenate([self._codes, codes]), return_inverse=True)
        old, places = inverse[: self._codes.size], inverse[self._codes.size :]
        counts = np.zeros((2, known.size), dtype=np.int64)
        counts[:, old] = self._counts
        counts[0] += np.bincount(places[~is_left], minlength=known.size)
        counts[1] += np.bincount(places[is_left], minlength=known.size)
        if known.size > _MOST_ATOMS and old.size:  # no new ones
            kept = np.sort(old)
            known, counts = known[kept], counts[:, kept]
        self._codes, self._counts = known, counts

    def _codes_of(self, outcomes: Outcomes, *, learning: bool) -> Codes:
        """Return a number for each outcome, the same for equal ones; 0 for new outcomes that are not numbers."""
        rows = outcomes.rows
        if rows.dtype != object and outcomes.width <= LONGEST_ATOM and _are_exact(rows):
            return _codes_of_numbers(rows)
        seen: dict[Hashable, int] = {}  # most outcomes come again and again
        codes = [
            seen[symbol] if symbol in seen else seen.setdefault(symbol, self._code_of(symbol, learning))
            for symbol in outcomes.symbols()
        ]
        return np.array(codes, dtype=np.uint64)

    def _code_of(self, symbol: Hashable, learning: bool) -> int:
        parts = symbol if isinstance(symbol, tuple) else (symbol,)
        if 0 < len(parts) <= LONGEST_ATOM and all(isinstance(part, (int, float)) for part in parts):
            numbers = np.array([symbol])
            if numbers.dtype != object and _are_exact(numbers):
                return int(_codes_of_numbers(numbers)[0])
        word = comparable(symbol)
        if learning and len(self._words) < _MOST_ATOMS:
            return self._words.setdefault(word, len(self._words) + 1)
        return self._words.get(word, 0)


def codes_of_numbers(outcomes: Outcomes) -> Codes | None:
    """Return a number for each outcome, the same for equal ones; None where outcomes are no numbers."""
    rows = outcomes.rows
    if rows.dtype == object or outcomes.width > LONGEST_ATOM or not _are_exact(rows):
        return None
    return _codes_of_numbers(rows)


def _are_exact(rows: NDArray[Any]) -> bool:
    """Return whether float64 holds all the numbers unchanged."""
    return rows.dtype.kind in "bf" or rows.size == 0 or max(-int(rows.min()), int(rows.max())) <= _EXACT


def _codes_of_numbers(rows: NDArray[Any]) -> Codes:
    """Return hashes of numbers, shape (calls,), or vectors, (calls, width), above the codes of words."""
    values = np.asarray(rows, dtype=np.float64) + 0.0  # one zero
    values = np.where(np.isnan(values), np.nan, values)
    columns = values[:, None] if values.ndim == 1 else values
    codes = np.full(len(values), _START + np.uint64(0 if values.ndim == 1 else values.shape[1]))
    for column in columns.T:
        codes = (codes ^ np.ascontiguousarray(column).view(np.uint64)) * _MULTIPLIER
        codes ^= codes >> np.uint64(29)
    return codes | _ABOVE_WORDS
