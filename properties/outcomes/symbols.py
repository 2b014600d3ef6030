"""Outcomes as the audit sees them: symbols that can be counted, and numbers that can be ordered.

Any function of the outcome may be bet on, so nothing here can invalidate a test; it decides only what the audit
is able to see.
"""

import inspect
import math
import re
import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import UsageError
from dpassay.impl.libraries.plain import NAN, Record
from dpassay.impl.libraries.reading import read
from dpassay.impl.libraries.reading_arrays import rows_of_masked, rows_of_table
from dpassay.impl.libraries.worker_process import WorkerError
from dpassay.keyboard import noting_interruptions
from dpassay.mechanism import ClaimedMechanism, SamplerLostError
from dpassay.properties.outcomes.columns import Columns
from dpassay.properties.outcomes.flattening import MISSING, OUTCOME, Flat, flattened, to_float, type_words
from dpassay.properties.outcomes.numeric_features import LOWEST_BIT, lowest_bit, numeric_features, partly_of_vectors
from dpassay.properties.outcomes.raised import raised_words
from dpassay.properties.outcomes.value_words import linear_parts

__all__ = [
    "LEFT_VALUES",
    "LONGEST_ATOM",
    "RAISES",
    "RIGHT_VALUES",
    "STRUCTURAL",
    "TYPE",
    "CallFailedError",
    "Outcomes",
    "Sampler",
    "WrongCountError",
    "call",
    "comparable",
    "sampler_of",
]

Array = NDArray[np.float64]
Sampler = Callable[[Array, int, np.random.Generator], Any]

TYPE = "type(outcome)"
"""The word for the type of an outcome and of its parts. It is looked at once types were seen to differ."""

INPUT_VALUES, LEFT_VALUES, RIGHT_VALUES = "input_values(outcome)", "left_values(outcome)", "right_values(outcome)"
"""Counts of the numbers of the outcome that are values of an input, and of one input alone; NaN for none."""

NEGATIVE_ZEROS = "negative_zeros(outcome)"
"""The count of the numbers of the outcome that are -0.0, which equals 0.0; NaN for none."""

SPECIAL_VALUES, REPEATED_VALUES = "special_values(outcome)", "repeated_values(outcome)"
"""Counts of the numbers of the outcome that are infinite or NaN, and that repeat another one; NaN for none.

0 and 1 are no repetition: flags hold little else, and their sum tells as much."""

STRUCTURAL = (SPECIAL_VALUES, REPEATED_VALUES, INPUT_VALUES, LEFT_VALUES, RIGHT_VALUES)
"""The features that continuous noise does not have."""

LONGEST_ATOM = 1024
"""Longer outcomes are seen through their features; as symbols only their lengths differ."""

_COMPARED, _COMPARED_AT_ONCE = 24, 1 << 11
"""Numbers of an outcome up to which each is compared with each: of more, rows are sorted; and rows at once."""

RAISES = "<raises "
"""Beginning of the symbol of a call that raised."""

_KINDS = {"b": "bool", "i": "int", "u": "int", "f": "float"}
_USUAL = frozenset({"bool", "int64", "float64"})
_NUMBERS = frozenset({bool, int, float})
_WIDEST = 8  # bytes of a number that float64 or int64 holds


class CallFailedError(Exception):
    """A call raised, which is itself something to observe; `symbol` is the outcome that stands for it."""

    def __init__(self, error: BaseException) -> None:
        words = raised_words(error)
        super().__init__(words)
        # libraries quote invalid arguments in messages, which no author of one calls a release
        self.symbol = f"{RAISES}{type(error).__name__ if isinstance(error, WorkerError) else words}>"


class WrongCountError(CallFailedError):
    """A call returned something else than the outcomes asked for; now and then, that is something to observe too."""

    def __init__(self, size: int, raw: Any) -> None:
        kind = type(raw).__name__
        try:
            count = f"{len(raw)} in a {kind}"
        except Exception:  # noqa: BLE001  # whatever a foreign __len__ raises
            count = kind
        self.complaint = f"target must return {size} outcomes (a sequence or an array) for size={size}, got {count}"
        super().__init__(UsageError(self.complaint))
        self.symbol = f"{RAISES}wrong number: {count}>"


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
        if type(raw) is np.ndarray and raw.dtype.kind in _KINDS and raw.dtype.itemsize <= _WIDEST:
            return cls._of_numbers(raw)
        listed = _listed(raw)
        symbols, types = _symbols_and_types(listed)
        shapes = {len(s) if isinstance(s, tuple) else -1 for s in symbols}
        if len(shapes) == 1 and 0 not in shapes and all(map(_is_exact, symbols)):
            return cls(np.array(symbols), types=types)
        return cls(_objects(symbols), types=types)

    @classmethod
    def _of_numbers(cls, raw: NDArray[Any]) -> "Outcomes":
        types = _objects([_type_of_rows(raw.dtype, raw.shape[1:])]) if len(raw) == 1 else None
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
            return [_tupled(row) for row in self.rows.reshape(len(self), *self.shape).tolist()]
        listed: list[Any] = self.rows.tolist()
        return [tuple(row) for row in listed] if self.rows.ndim == 2 else listed

    def atoms(self) -> list[Hashable]:
        """Return each outcome as a symbol that equals itself; an outcome longer than `LONGEST_ATOM` by its length."""
        if self.rows.ndim == 2 and self.rows.shape[1] > LONGEST_ATOM:
            return [_too_long(self.rows.shape[1])] * len(self)
        symbols = self.symbols()
        if self.rows.dtype.kind in "biu" or (self.rows.dtype.kind == "f" and not np.isnan(self.rows).any()):
            return symbols
        seen: dict[Hashable, Hashable] = {}  # most outcomes come again and again
        return [seen[s] if s in seen else seen.setdefault(s, comparable(s)) for s in symbols]

    def are_alike(self) -> bool:
        """Return whether all outcomes are one and the same, also in their types and in the signs of zeros."""
        if self.rows.dtype.kind in "biuf" and any(row.tobytes() != self.rows[0].tobytes() for row in self.rows[1:]):
            return False
        if len({repr(symbol) for symbol in self.symbols()}) > 1:  # symbols that are equal may differ: -0.0, 1.0
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

    @cached_property
    def width(self) -> int:
        """The most numbers in one outcome."""
        if self.rows.ndim == 2:
            return int(self.rows.shape[1])
        if self.rows.dtype != object:
            return 1
        sizes = map(_size, self.structured[0]), map(_size, self.rows[self._numeric()])
        return max((size for part in sizes for size in part), default=1)

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
        if self.rows.dtype != object and not self.typed:
            shape = self.shape or self.rows.shape[1:]
            return numeric_features(self.rows, shape) | self._structural_features()
        return self._columns

    def common_features(self, most: int = 128) -> list[str]:
        """Return the names of the features, of those that most outcomes have if there are more than `most`."""
        features = self.features
        return features.common(most) if isinstance(features, Columns) else list(features)

    @cached_property
    def _columns(self) -> Columns:
        return Columns(
            self._vector_features() | self._structural_features(),
            self._flats,
            self.structured[1],
            types=self._visible_types(),
        )

    def _visible_types(self) -> NDArray[Any] | None:
        return self.types if self.typed else None

    @cached_property
    def structured(self) -> tuple[list[Hashable], NDArray[np.intp]]:
        """The different structured outcomes of the batch, and which of them each outcome is; -1 for numbers.

        Most outcomes come again and again: what follows from an outcome is found once for all that are the same.
        """
        if self.rows.dtype != object:
            return [], np.full(len(self), -1, dtype=np.intp)
        different: list[Hashable] = []
        words: dict[str, int] = {}
        others: dict[str, int] = {}
        kinds = []
        for symbol in self.rows.tolist():
            kind = -1
            if type(symbol) is str:
                kind = words.setdefault(symbol, len(different))
            elif _shape_of(symbol) is None:  # values that are equal may differ: -0.0 and 0.0
                kind = others.setdefault(repr(symbol), len(different))
            if kind == len(different):
                different.append(symbol)
            kinds.append(kind)
        return different, np.array(kinds, dtype=np.intp)

    @cached_property
    def _flats(self) -> list[Flat]:
        """The different structured outcomes of the batch, flattened."""
        return [flattened(symbol) for symbol in self.structured[0]]

    def _numeric(self) -> NDArray[np.intp]:
        """Return the positions of the numbers and of the vectors and arrays of numbers."""
        return np.flatnonzero(self.structured[1] < 0)

    def _by_outcome(self, of_structured: Sequence[int], of_numbers: Callable[[Any], int]) -> NDArray[np.intp]:
        """Return a number for each outcome, from those of the different structured ones and a function of others."""
        own = np.array([*of_structured, 0], dtype=np.intp)[self.structured[1]]
        places = self._numeric()
        own[places] = [of_numbers(symbol) for symbol in self.rows[places].tolist()]
        return own

    def _vector_features(self) -> dict[str, Array]:
        if self.rows.dtype != object:
            return numeric_features(self.rows, self.shape or self.rows.shape[1:])
        result: dict[str, Array] = {}
        groups: dict[tuple[int, ...], list[int]] = {}
        for position in self._numeric().tolist():
            shape = _shape_of(self.rows[position])
            assert shape is not None
            groups.setdefault(shape, []).append(position)
        for shape, positions in groups.items():
            exact = [_numbers_of(self.rows[k]) for k in positions]
            for name, values in numeric_features(_floats(exact, shape), shape, exact).items():
                result.setdefault(name, np.full(len(self), np.nan))[positions] = values
        return result | self._lowest_bits(result.get(LOWEST_BIT))

    def _lowest_bits(self, known: Array | None) -> dict[str, Array]:
        """Return the lowest bit of all numbers in structured outcomes beside that of vectors."""
        kinds = self.structured[1]
        if not any(flat.leaves for flat in self._flats):
            return {} if known is None else {LOWEST_BIT: known}
        least = [lowest_bit(np.array(flat.leaves)).min() if flat.leaves else np.nan for flat in self._flats]
        own = np.array([*least, np.nan])[kinds]
        return {LOWEST_BIT: own if known is None else np.where(kinds >= 0, own, known)}

    def _structural_features(self) -> dict[str, Array]:
        """Count the events that continuous noise never shows; the cost is negligible if there are none."""
        values, owners = self._numbers()
        found = {SPECIAL_VALUES: owners[~np.isfinite(values)], REPEATED_VALUES: self._repetitions()}
        found[NEGATIVE_ZEROS] = owners[(values == 0) & np.signbit(values)]
        if self.inputs is not None:
            left, right = self.inputs
            hits = np.isin(values, np.concatenate([left, right]))
            values, owners = values[hits], owners[hits]
            found[INPUT_VALUES] = owners
            found[LEFT_VALUES] = owners[np.isin(values, np.setdiff1d(left, right))]
            found[RIGHT_VALUES] = owners[np.isin(values, np.setdiff1d(right, left))]
        counts = {name: np.bincount(those, minlength=len(self)) for name, those in found.items() if those.size}
        return {name: np.where(count > 0, count, np.nan) for name, count in counts.items()}

    def _repetitions(self) -> NDArray[np.intp]:
        """Return to which outcome each number belongs that repeats another one of its outcome."""
        if self.rows.dtype != object:
            if self.rows.ndim != 2 or not _may_repeat(self.rows):
                return np.empty(0, dtype=np.intp)
            ordered = np.sort(self.rows, axis=1)
            later = ordered[:, 1:]
            return np.nonzero((later == ordered[:, :-1]) & (later != 0) & (later != 1))[0]
        counts = self._by_outcome(
            [_repeated(flat.leaves) for flat in self._flats], lambda symbol: _repeated(_floats_of(symbol))
        )
        return np.repeat(np.arange(len(self)), counts)

    @cached_property
    def _leaves(self) -> list[list[float]]:
        """Return the numbers of each outcome."""
        flats = self._flats
        pairs = zip(self.rows.tolist(), self.structured[1].tolist(), strict=True)
        return [flats[kind].leaves if kind >= 0 else _floats_of(symbol) for symbol, kind in pairs]

    def _numbers(self) -> tuple[Array, NDArray[np.intp]]:
        """Return all numbers in the outcomes, and which outcome each belongs to."""
        if self.rows.dtype != object:
            width = self.rows.shape[1] if self.rows.ndim == 2 else 1
            return np.asarray(self.rows, dtype=np.float64).ravel(), np.repeat(np.arange(len(self)), width)
        if not self._numeric().size and not any(flat.leaves for flat in self._flats):  # of words, for instance
            return np.empty(0), np.empty(0, dtype=np.intp)
        leaves = self._leaves
        owners = np.repeat(np.arange(len(self)), [len(listed) for listed in leaves])
        return np.array([value for listed in leaves for value in listed], np.float64), owners

    def widths(self) -> list[int]:
        """Return how many numbers there are in outcomes with parts, the different ones in order of appearance."""
        if self.rows.dtype != object:
            return [int(self.rows.shape[1])] if self.rows.ndim == 2 else []
        different, firsts = np.unique(self._row_widths, return_index=True)
        return [int(width) for width in different[np.argsort(firsts)]]

    @cached_property
    def _row_widths(self) -> NDArray[np.intp]:
        return self._by_outcome(
            [len(flat.leaves) for flat in self._flats],
            lambda symbol: 0 if isinstance(symbol, (int, float)) else len(_numbers_of(symbol)),
        )

    def vectors(self, width: int) -> tuple[NDArray[np.intp], Array]:
        """Return the positions of the outcomes whose parts have this number of numbers, and these numbers."""
        if self.rows.dtype != object:
            fits = self.rows.ndim == 2 and self.rows.shape[1] == width
            positions = np.arange(len(self) if fits else 0)
            return positions, np.asarray(self.rows if fits else np.empty((0, width)), dtype=np.float64)
        positions = np.flatnonzero(self._row_widths == width)
        leaves = self._leaves
        return positions, np.array([leaves[k] for k in positions], np.float64).reshape(len(positions), width)

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
            return np.array([_part(symbol, place) for symbol in self.rows])
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
        return _type_of_rows(self.rows.dtype, self.shape or self.rows.shape[1:])

    # --- what could not be read ---------------------------------------------------------------------------------

    @property
    def unread(self) -> dict[str, str]:
        """The types of the parts of outcomes that could not be read, by expression."""
        if self.rows.dtype != object or self.summary is not None:
            return {}
        return {path: kind for flat in self._flats for path, kind in flat.unread.items()}

    @property
    def partly(self) -> dict[str, str]:
        """The parts of outcomes that are looked at in part only, by expression, and what of them is left out."""
        if self.summary is not None:
            return {}
        if self.rows.dtype != object:
            vectors: Any = self.rows if self.rows.ndim > 1 else ()
        else:
            numeric = self.rows[self._numeric()].tolist()
            vectors = (_floats_of(row) for row in numeric if isinstance(row, tuple))
        found = {path: what for flat in self._flats for path, what in flat.partly.items()}
        return found | partly_of_vectors(vectors, LONGEST_ATOM)

    @property
    def blanks(self) -> int:
        """The number of outcomes of which only the type can be read."""
        if self.rows.dtype != object or self.summary is not None:
            return 0
        blank = [not flat.readable for flat in self._flats]
        return int(np.count_nonzero(np.array([*blank, False])[self.structured[1]]))

    @cached_property
    def is_continuous(self) -> bool:
        """Return whether nearly all outcomes of a long batch differ: counting symbols is then useless."""
        if self.rows.dtype.kind != "f" or len(self) < 64:
            return False
        sample = self.rows[:2048] if self.rows.ndim == 1 else self.rows[:2048, 0]
        return np.unique(sample).size > 0.95 * sample.size


# --- symbols ------------------------------------------------------------------------------------------------


def _may_repeat(rows: NDArray[Any]) -> bool:
    """Return whether some row may hold a number twice; to sort rows that do not takes long."""
    width = rows.shape[1]
    if width > _COMPARED:
        return True
    for start in range(0, len(rows), _COMPARED_AT_ONCE):
        columns = rows[start : start + _COMPARED_AT_ONCE].T.copy()
        if any((columns[:k] == columns[k]).any() for k in range(1, width)):
            return True
    return False


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
    return symbols, _objects([_type_of(row, symbol) for row, symbol in pairs])


def _type_of(row: Any, symbol: Any) -> str:
    """Return the type of one outcome; numbers of the usual numpy types count as those of Python."""
    if isinstance(row, np.generic) and row.dtype.kind in _KINDS:
        return _number_type(row.dtype)
    return ("list" if type(row) is list else "") + type_words(symbol)


@lru_cache(maxsize=64)  # numpy makes the name anew each time
def _number_type(dtype: np.dtype[Any]) -> str:
    return _KINDS[dtype.kind] if dtype.name in _USUAL else dtype.name


def _type_of_rows(dtype: np.dtype[Any], shape: tuple[int, ...]) -> str:
    """Return the type of the outcomes in an array, in the words of `type_words`."""
    return "[" * len(shape) + _number_type(dtype) + "]" * len(shape)


def _joined_types(parts: Sequence[Outcomes]) -> NDArray[Any] | None:
    if all(part.types is None for part in parts):
        return None
    return np.concatenate([_objects([MISSING] * len(part)) if part.types is None else part.types for part in parts])


def _shape_of(symbol: Any) -> tuple[int, ...] | None:
    """Return the shape of a number, a vector or an array of numbers, None for anything else."""
    if isinstance(symbol, (int, float)):
        return ()
    if not isinstance(symbol, tuple) or not symbol:
        return None
    if set(map(type, symbol)) <= _NUMBERS:
        return (len(symbol),)
    shapes = {_shape_of(part) for part in symbol}
    (first, *others) = shapes
    return None if others or first is None else (len(symbol), *first)


def _floats(exact: Sequence[Sequence[float]], shape: tuple[int, ...]) -> Array:
    """Return the numbers of outcomes of one shape as rows; integers beyond float64 become infinite."""
    values = np.array([to_float(number) for row in exact for number in row], np.float64)
    return values.reshape(len(exact), -1) if shape else values


def _numbers_of(symbol: Any) -> list[float]:
    if isinstance(symbol, (int, float)):
        return [symbol]
    if set(map(type, symbol)) <= _NUMBERS:
        return list(symbol)
    return [number for part in symbol for number in _numbers_of(part)]


def _floats_of(symbol: Any) -> list[float]:
    return list(map(to_float, _numbers_of(symbol)))


def _repeated(leaves: Sequence[float]) -> int:
    """Return how many of the numbers of an outcome repeat another one of them."""
    telling = list(filter(_is_telling, leaves))
    return len(telling) - len(set(telling))


def _tupled(listed: Any) -> Any:
    return tuple(map(_tupled, listed)) if isinstance(listed, list) else listed


def _size(symbol: Any) -> int:
    """Return how many numbers and characters a plain value holds, about."""
    if isinstance(symbol, (str, bytes)):
        return len(symbol)
    if isinstance(symbol, Record):
        return sum(_size(part) for _, part in symbol.parts)
    if not isinstance(symbol, tuple):
        return 1
    return len(symbol) if set(map(type, symbol)) <= _NUMBERS else sum(map(_size, symbol))


def _is_numeric(symbol: Any) -> bool:
    parts = symbol if isinstance(symbol, tuple) else (symbol,)
    return all(isinstance(part, (int, float)) for part in parts)


def _is_telling(part: float) -> bool:
    """Return whether a repeated part of an outcome is informative; NaN equals nothing, not even itself."""
    return not math.isnan(part) and part not in {0, 1}


def _is_exact(symbol: Any) -> bool:
    """Return whether an array of floats holds a number unchanged: otherwise its value would depend on its batch."""
    parts = symbol if isinstance(symbol, tuple) else (symbol,)
    return _is_numeric(symbol) and all(isinstance(part, float) or abs(part) <= 2**53 for part in parts)


def _objects(symbols: Sequence[Any]) -> NDArray[Any]:
    rows = np.empty(len(symbols), dtype=object)
    rows[:] = symbols
    return rows


def _part(symbol: Any, place: tuple[int, ...]) -> float:
    for k in place:
        if not isinstance(symbol, tuple) or k >= len(symbol):
            return math.nan
        symbol = symbol[k]
    return to_float(symbol) if isinstance(symbol, (int, float)) else math.nan


def comparable(symbol: Hashable) -> Hashable:
    """Return a symbol that equals itself: NaN by its name, also inside; a value that is too long by its length."""
    if isinstance(symbol, (tuple, str, bytes)) and len(symbol) > LONGEST_ATOM:
        return _too_long(len(symbol))
    if isinstance(symbol, tuple):
        return tuple(map(comparable, symbol))
    if isinstance(symbol, Record):
        if len(symbol.parts) > LONGEST_ATOM:
            return _too_long(len(symbol.parts))
        return Record(symbol.kind, tuple((accessor, comparable(part)) for accessor, part in symbol.parts))
    return NAN if isinstance(symbol, float) and math.isnan(symbol) else symbol


def _too_long(length: int) -> str:
    return f"<{length} values>"


def _stacked(parts: Sequence["Outcomes"]) -> dict[str, Array]:
    names = {name: None for part in parts for name in part.common_features()}
    return {
        name: np.concatenate([part.features.get(name, np.full(len(part), np.nan)) for part in parts]) for name in names
    }


# --- calling a target ---------------------------------------------------------------------------------------


def sampler_of(target: Any) -> Sampler:
    """Return the function ``(data, size, rng) -> outcomes`` of a mechanism or of a plain callable.

    Raises
    ------
    UsageError
        If the target is neither, or a function that does not take three arguments.
    """
    if isinstance(target, ClaimedMechanism):
        return target.sample
    if callable(target):
        _require_signature(target)
        function: Sampler = target
        return function
    raise UsageError(f"target must be a mechanism or a callable f(data, size, rng), got {type(target).__name__}")


def _require_signature(target: Callable[..., Any]) -> None:
    """Raise `UsageError` for a function that cannot be called with data, size and rng; some in C do not tell."""
    try:
        signature = inspect.signature(target)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(None, 1, None)
    except TypeError:
        name = getattr(target, "__name__", type(target).__name__)
        raise UsageError(
            f"target must take f(data, size, rng), got {name}{signature}; a function that makes one release a call is "
            f"named per-call:FILE.py:{name}, or given as per_call({name})"
        ) from None


def call(
    sampler: Sampler,
    data: Array,
    size: int,
    rng: np.random.Generator,
    is_interrupted: Callable[[], bool] | None = None,
) -> Outcomes:
    """Draw `size` outcomes.

    Parameters
    ----------
    sampler : Sampler
        The target.
    data : array of shape (n,)
        The input; the target gets a copy.
    size : int
        Number of outcomes, at least 1.
    rng : numpy.random.Generator
        Source of randomness for the target.
    is_interrupted : callable, optional
        As `noting_interruptions` yields it, for one call of many: the handler is then installed once for all.

    Raises
    ------
    CallFailedError
        If the target raises, also KeyboardInterrupt, while Ctrl-C itself passes; a `WrongCountError` if it returns
        something else than `size` outcomes.
    SamplerLostError
        If the target says that nothing was observed.
    """
    if is_interrupted is None:
        with noting_interruptions() as noted:
            return call(sampler, data, size, rng, noted)
    try:
        raw = sampler(data.copy(), size, rng)  # a copy: a target that edits its input must not spoil the pair
    except SamplerLostError:
        raise
    except BaseException as error:  # also sys.exit: a target must not end the hunt with a status of its own
        if is_interrupted():
            raise KeyboardInterrupt from error
        raise CallFailedError(error) from error
    if not _has_rows(raw, size):
        raise WrongCountError(size, raw)
    return Outcomes.of(raw)


def _has_rows(raw: Any, size: int) -> bool:
    try:
        return len(raw) == size and not isinstance(raw, (str, bytes, dict, set))
    except Exception:  # noqa: BLE001  # whatever a foreign __len__ raises
        return False
