"""A batch of outcomes in a normal form: numbers where all are, plain values otherwise, with their features."""

import math
import re
import sys
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.impl.libraries.reading import read
from dpassay.impl.libraries.reading_arrays import rows_of_masked, rows_of_table
from dpassay.properties.outcomes.columns import Columns
from dpassay.properties.outcomes.flattening import MISSING, OUTCOME
from dpassay.properties.outcomes.numeric_features import features_of_parts, partly_of_vectors
from dpassay.properties.outcomes.parts import Parts
from dpassay.properties.outcomes.raised import RAISES
from dpassay.properties.outcomes.structural_features import structural_features
from dpassay.properties.outcomes.symbols import (
    LONGEST_ATOM,
    comparable,
    floats_of,
    is_exact,
    part_at,
    too_long,
    tupled,
)
from dpassay.properties.outcomes.type_names import TYPE, type_of, type_of_rows
from dpassay.properties.outcomes.value_words import linear_parts

__all__ = ["Outcomes"]

Array = NDArray[np.float64]

_WIDEST = 8  # bytes of a number that float64 or int64 holds


def _told_apart(symbol: Hashable) -> Hashable:
    """Return what differs where symbols do, also in sign or type; Python writes no integers of 5,000 digits."""
    if isinstance(symbol, tuple):
        return tuple(map(_told_apart, symbol))
    return (type(symbol), symbol) if isinstance(symbol, int) else repr(symbol)


@dataclass(frozen=True)
class Outcomes:
    """A batch of outcomes in a normal form.

    Parameters
    ----------
    rows : ndarray
        Numbers of shape (n,) or (n, k), or plain values of shape (n,).
    summary : mapping, optional
        The features, where the rows themselves were forgotten.
    inputs : (left, right), optional
        The pair of the game, fixed before anything is drawn: outcomes may coincide with its values.
    shape : tuple of int, optional
        The shape of each outcome, where rows of numbers are arrays of two or more dimensions.
    types : ndarray of str, optional
        The type of each outcome in words; None where it is one of the batch: of an array that holds many outcomes.
    typed : bool
        Whether the features tell the types. A decision of the past: types differ in few mechanisms.
    """

    rows: NDArray[Any]
    summary: Mapping[str, Array] | None = None
    inputs: tuple[Array, Array] | None = None
    shape: tuple[int, ...] | None = None
    types: NDArray[Any] | None = None
    typed: bool = False

    @classmethod
    def of(cls, raw: Any) -> "Outcomes":
        """Bring the result of a target into the normal form: numbers where all rows are, plain values otherwise."""
        if type(raw) is np.ndarray and raw.dtype.kind in "biuf" and raw.dtype.itemsize <= _WIDEST:
            return cls._of_numbers(raw)
        listed = _listed(raw)
        symbols, types = _symbols_and_types(listed)
        shapes = {len(s) if isinstance(s, tuple) else -1 for s in symbols}
        if len(shapes) == 1 and 0 not in shapes and all(map(is_exact, symbols)):
            return cls(np.array(symbols), types=types)
        return cls(_objects(symbols), types=types)

    @classmethod
    def _of_numbers(cls, raw: NDArray[Any]) -> "Outcomes":
        types = _objects([type_of_rows(raw.dtype, raw.shape[1:])]) if len(raw) == 1 else None
        if raw.ndim <= 2:
            return cls(raw.copy(), types=types)  # a target may use its buffer again
        width = math.prod(raw.shape[1:])
        if width == 0:
            return cls(_objects([read(row) for row in raw]), types=types)
        return cls(raw.reshape(len(raw), width).copy(), shape=raw.shape[1:], types=types)

    @classmethod
    def joined(cls, parts: Sequence["Outcomes"]) -> "Outcomes":
        """Put batches one after the other."""
        types, typed = _joined_types(parts), any(part.typed for part in parts)
        if any(part.summary is not None for part in parts):
            atoms = _objects([atom for part in parts for atom in part.atoms()])
            return cls(atoms, _stacked(parts), types=types, typed=typed)
        # of different types, numbers would change: what an outcome is must not depend on the others
        if len({(part.rows.dtype, part.rows.shape[1:], part.shape) for part in parts}) == 1:
            return cls(np.concatenate([part.rows for part in parts]), None, None, parts[0].shape, types, typed)
        return replace(cls.of([symbol for part in parts for symbol in part.symbols()]), types=types, typed=typed)

    def __len__(self) -> int:
        return len(self.rows)

    def with_inputs(self, left: Array, right: Array) -> "Outcomes":
        """Return the same outcomes, with features that tell how many values of the inputs they hold."""
        return replace(self, inputs=(left, right))

    def every_other(self, first: int) -> "Outcomes":
        """Return every second outcome, from the first (0) or the second (1) on."""
        return self.taken(np.arange(first, len(self), 2))

    def taken(self, places: NDArray[np.intp]) -> "Outcomes":
        """Return the outcomes at some places, in this order."""
        summary = None if self.summary is None else {name: values[places] for name, values in self.summary.items()}
        types = None if self.types is None else self.types[places]
        return replace(self, rows=self.rows[places], summary=summary, types=types)

    def symbols(self) -> list[Hashable]:
        """Return each outcome as a plain value, as an ex-post bound or an event sees it."""
        if self.shape is not None:
            return [tupled(row) for row in self.rows.reshape(len(self), *self.shape).tolist()]
        listed: list[Any] = self.rows.tolist()
        return [tuple(row) for row in listed] if self.rows.ndim == 2 else listed

    def atoms(self) -> list[Hashable]:
        """Return each outcome as a symbol that equals itself; an outcome longer than `LONGEST_ATOM` by its length."""
        if self.rows.ndim == 2 and self.rows.shape[1] > LONGEST_ATOM:
            return [too_long(self.rows.shape[1])] * len(self)
        symbols = self.symbols()
        if self.rows.dtype.kind in "biu" or (self.rows.dtype.kind == "f" and not np.isnan(self.rows).any()):
            return symbols
        seen: dict[Hashable, Hashable] = {}  # most outcomes come again and again
        return [seen[s] if s in seen else seen.setdefault(s, comparable(s)) for s in symbols]

    def are_alike(self) -> bool:
        """Return whether all outcomes are one and the same, also in their types and in the signs of zeros."""
        if self.rows.dtype.kind in "biuf" and any(row.tobytes() != self.rows[0].tobytes() for row in self.rows[1:]):
            return False
        if len(set(map(_told_apart, self.symbols()))) > 1:  # symbols that are equal may differ: -0.0, 1.0
            return False
        if any(not np.array_equal(values, values[:1].repeat(len(self)), equal_nan=True) for values in self._summary()):
            return False
        # a missing type is that of an array of many outcomes
        kinds = set() if self.types is None else set(self.types.tolist()) - {MISSING}
        return len(kinds) <= 1

    def _summary(self) -> list[Array]:
        return [] if self.summary is None else list(self.summary.values())

    @property
    def failures(self) -> int:
        """The number of outcomes that stand for a call that raised."""
        if self.rows.dtype != object:
            return 0
        different, kinds = self.structured
        raised = [isinstance(symbol, str) and symbol.startswith(RAISES) for symbol in different]
        return int(np.count_nonzero(np.array([*raised, False])[kinds]))

    @property
    def width(self) -> int:
        """The most numbers in one outcome."""
        return self._parts.largest

    def condensed(self) -> "Outcomes":
        """Return all that events look at, without long rows."""
        if self.width <= LONGEST_ATOM:
            return self
        summary = {name: self.features[name] for name in self.common_features()}
        return Outcomes(_objects(self.atoms()), summary, self.inputs, None, self.types, self.typed)

    # --- features -----------------------------------------------------------------------------------------------

    @cached_property
    def features(self) -> Mapping[str, Array]:
        """Numbers that summarise an outcome, by the expression that computes them; NaN where there is none.

        Each is a function of its own outcome alone, whatever else is in the batch: a bet on an outcome must not
        depend on other outcomes of the batch. A feature that is not listed is NaN for the whole batch. Of structured
        outcomes there may be very many: see `common_features`.
        """
        if self.summary is not None:
            return self.summary
        return self._arrays if self.rows.dtype != object and not self.typed else self._columns

    def common_features(self, most: int = 128) -> list[str]:
        """Return the names of the features, of those that most outcomes have if there are more than `most`."""
        features = self.features
        return features.common(most) if isinstance(features, Columns) else list(features)

    @property
    def _arrays(self) -> dict[str, Array]:
        shape = self.shape or self.rows.shape[1:]
        return features_of_parts(self._parts, shape) | structural_features(self._parts, self.inputs)

    @cached_property
    def _columns(self) -> Columns:
        return Columns(self._arrays, self._parts.flats, self.structured[1], types=self._visible_types())

    def _visible_types(self) -> NDArray[Any] | None:
        return self.types if self.typed else None

    @cached_property
    def _parts(self) -> Parts:
        return Parts(self.rows)

    @property
    def structured(self) -> tuple[list[Hashable], NDArray[np.intp]]:
        """The different structured outcomes of the batch, and which of them each outcome is; -1 for numbers."""
        return self._parts.structured

    def widths(self) -> list[int]:
        """Return how many numbers there are in outcomes with parts, the different ones in order of appearance."""
        return self._parts.widths()

    def vectors(self, width: int) -> tuple[NDArray[np.intp], Array]:
        """Return the positions of the outcomes whose parts have this number of numbers, and these numbers."""
        return self._parts.vectors(width)

    def feature(self, name: str) -> Array | None:
        """Return a feature by its expression, None if there is no such feature.

        Any coordinate ``outcome[k]`` and any weighted sum of features is one, also if `features` lacks it.
        """
        if name in self.features:
            return self.features[name]
        if self.summary is not None:
            return None
        match = re.fullmatch(r"outcome((?:\[\d+\])+)", name)
        if match is not None:
            return self._coordinate(tuple(int(place) for place in re.findall(r"\d+", match[1])))
        parts = linear_parts(name)
        return None if parts is None or parts == [(1.0, name)] else self._weighted(parts)

    def _weighted(self, parts: Sequence[tuple[float, str]]) -> Array | None:
        """Return a weighted sum of features, None if one of them is missing."""
        total: Array = np.zeros(len(self))
        for weight, name in parts:
            values = self.feature(name)
            if values is None:
                return None
            with np.errstate(over="ignore", invalid="ignore"):
                total = total + weight * values
        return total

    def _coordinate(self, place: tuple[int, ...]) -> Array | None:
        if self.rows.dtype == object:
            return np.array([part_at(symbol, place) for symbol in self.rows])
        shape = self.shape or self.rows.shape[1:]
        if len(place) != len(shape) or any(k >= size for k, size in zip(place, shape, strict=True)):
            return None
        return np.asarray(self.rows[:, np.ravel_multi_index(place, shape)], dtype=np.float64)

    def words(self, expression: str) -> list[Hashable]:
        """Return the word at an expression for each outcome, the outcome itself for ``outcome``."""
        if expression == OUTCOME:
            return self.atoms()
        if expression == TYPE:
            return [MISSING] * len(self) if self.types is None else list(self.types)
        if self.summary is not None or self.rows.dtype != object:
            return [MISSING] * len(self)
        return self._columns.words(expression)

    def worded(self) -> list[str]:
        """Return the expressions that have words."""
        if self.summary is not None:
            return []
        return self._columns.worded() if self.rows.dtype == object or self.typed else []

    @property
    def array_type(self) -> str:
        """The type of the rows of an array of numbers, in words."""
        return type_of_rows(self.rows.dtype, self.shape or self.rows.shape[1:])

    # --- what could not be read ---------------------------------------------------------------------------------

    @property
    def unread(self) -> dict[str, str]:
        """The types of the parts of outcomes that could not be read, by expression."""
        if self.rows.dtype != object or self.summary is not None:
            return {}
        return {path: kind for flat in self._parts.flats for path, kind in flat.unread.items()}

    @property
    def partly(self) -> dict[str, str]:
        """The parts of outcomes that are looked at in part only, by expression, and what of them is left out."""
        if self.summary is not None:
            return {}
        if self.rows.dtype != object:
            vectors: Any = self.rows if self.rows.ndim > 1 else ()
        else:
            numeric = self.rows[self._parts.numeric()].tolist()
            vectors = (floats_of(row) for row in numeric if isinstance(row, tuple))
        found = {path: what for flat in self._parts.flats for path, what in flat.partly.items()}
        return found | partly_of_vectors(vectors, LONGEST_ATOM)

    @property
    def blanks(self) -> int:
        """The number of outcomes of which only the type can be read."""
        if self.rows.dtype != object or self.summary is not None:
            return 0
        blank = [not flat.readable for flat in self._parts.flats]
        return int(np.count_nonzero(np.array([*blank, False])[self.structured[1]]))

    @cached_property
    def is_continuous(self) -> bool:
        """Return whether nearly all outcomes of a long batch differ: counting symbols is then useless."""
        if self.rows.dtype.kind != "f" or len(self) < 64:
            return False
        sample = self.rows[:2048] if self.rows.ndim == 1 else self.rows[:2048, 0]
        return np.unique(sample).size > 0.95 * sample.size


def _listed(raw: Any) -> Sequence[Any]:
    """Return the outcomes of a batch one by one: the rows of a table, each with what the table says beside them."""
    pandas = sys.modules.get("pandas")
    rows: Any = rows_of_masked(np, raw)
    if rows is NotImplemented and pandas is not None and hasattr(pandas, "DataFrame"):
        rows = rows_of_table(pandas, raw, read)
    listed: list[Any] = list(raw) if rows is NotImplemented else rows
    return listed


def _symbols_and_types(listed: Sequence[Any]) -> tuple[list[Any], NDArray[Any]]:
    kinds = set(map(type, listed))
    if kinds <= {int, float, bool, str}:
        return list(listed), _objects([type(row).__name__ for row in listed])
    symbols = [read(row) for row in listed]
    pairs = zip(listed, symbols, strict=True)
    return symbols, _objects([type_of(row, symbol) for row, symbol in pairs])


def _joined_types(parts: Sequence[Outcomes]) -> NDArray[Any] | None:
    if all(part.types is None for part in parts):
        return None
    return np.concatenate([_objects([MISSING] * len(part)) if part.types is None else part.types for part in parts])


def _objects(symbols: Sequence[Any]) -> NDArray[Any]:
    rows = np.empty(len(symbols), dtype=object)
    rows[:] = symbols
    return rows


def _stacked(parts: Sequence["Outcomes"]) -> dict[str, Array]:
    names = {name: None for part in parts for name in part.common_features()}
    return {
        name: np.concatenate([part.features.get(name, np.full(len(part), np.nan)) for part in parts]) for name in names
    }
