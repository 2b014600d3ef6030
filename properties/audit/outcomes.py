"""Outcomes as the audit sees them: symbols that can be counted, and numbers that can be ordered.

Any function of the outcome may be bet on, so nothing here can invalidate a test; it decides only what the audit
is able to see.
"""

import math
import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import Mechanism, SamplerLostError, UsageError

__all__ = [
    "LEFT_VALUES",
    "LONGEST_ATOM",
    "LOWEST_BIT",
    "OUTCOME",
    "RIGHT_VALUES",
    "CallFailedError",
    "Outcomes",
    "Sampler",
    "call",
    "comparable",
    "lowest_bit",
    "sampler_of",
]

Array = NDArray[np.float64]
Sampler = Callable[[Array, int, np.random.Generator], Any]

OUTCOME = "outcome"
LOWEST_BIT = "lowest_bit(outcome)"
INPUT_VALUES, LEFT_VALUES, RIGHT_VALUES = "input_values(outcome)", "left_values(outcome)", "right_values(outcome)"
"""How many numbers of the outcome are values of an input, and how many are so of one input alone; NaN for none."""

SPECIAL_VALUES, REPEATED_VALUES = "special_values(outcome)", "repeated_values(outcome)"
"""How many numbers of the outcome are infinite or NaN, and how many repeat another one of it; NaN for none.

0 and 1 are no repetition: flags hold little else, and their sum tells as much."""

LONGEST_ATOM = 1024
"""Longer outcomes are seen through their features; as symbols only their lengths differ."""

_SHOWN_COORDINATES = 6
_RAISES = "<raises "
_SIZED = -2  # the group of outcomes that have a length and are not all numbers


class CallFailedError(Exception):
    """A call raised, which is itself something to observe; `symbol` is the outcome that stands for it."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(f"{type(error).__name__}: {error}")
        self.symbol = f"{_RAISES}{type(error).__name__}>"


@dataclass(frozen=True)
class Outcomes:
    """A batch of outcomes in a normal form.

    Parameters
    ----------
    rows : ndarray
        Numbers of shape (n,) or (n, k), or hashable objects of shape (n,).
    summary : dict, optional
        The features, where the rows themselves were forgotten.
    inputs : (left, right), optional
        The pair of the game, fixed before anything is drawn: outcomes may coincide with its values.
    """

    rows: NDArray[Any]
    summary: dict[str, Array] | None = None
    inputs: tuple[Array, Array] | None = None

    @classmethod
    def of(cls, raw: Any) -> "Outcomes":
        """Bring what a target returned into the normal form: numbers where all rows are, tuples for sequences."""
        if isinstance(raw, np.ndarray) and raw.dtype.kind in "biuf" and raw.ndim in {1, 2}:
            return cls(raw.copy())  # a target may use its buffer again
        symbols = [_symbol(row) for row in raw]
        shapes = {len(s) if isinstance(s, tuple) else -1 for s in symbols}
        if len(shapes) == 1 and 0 not in shapes and all(map(_is_exact, symbols)):
            return cls(np.array(symbols))
        return cls(_objects(symbols))

    @classmethod
    def joined(cls, parts: Sequence["Outcomes"]) -> "Outcomes":
        """Put batches one after the other."""
        # of different types, numbers would change: what an outcome is must not depend on the others
        if len({(part.rows.dtype, part.rows.shape[1:]) for part in parts}) == 1 and not any(
            part.summary is not None for part in parts
        ):
            return cls(np.concatenate([part.rows for part in parts]))
        if any(part.summary is not None for part in parts):
            return cls(_objects([atom for part in parts for atom in part.atoms()]), _stacked(parts))
        return cls.of([symbol for part in parts for symbol in part.symbols()])

    def __len__(self) -> int:
        return len(self.rows)

    def with_inputs(self, left: Array, right: Array) -> "Outcomes":
        """Return the same outcomes, with features that tell how many values of the inputs they hold."""
        return replace(self, inputs=(left, right))

    def every_other(self, first: int) -> "Outcomes":
        """Return every second outcome, from the first (0) or the second (1) on."""
        chosen = slice(first, None, 2)
        summary = None if self.summary is None else {name: values[chosen] for name, values in self.summary.items()}
        return Outcomes(self.rows[chosen], summary, self.inputs)

    def symbols(self) -> list[Hashable]:
        """Return each outcome as a hashable Python object, as an ex-post bound or an event sees it."""
        listed: list[Any] = self.rows.tolist()
        return [tuple(row) for row in listed] if self.rows.ndim == 2 else listed

    def atoms(self) -> list[Hashable]:
        """Return each outcome as a symbol that equals itself; what is longer than `LONGEST_ATOM` by its length."""
        if self.rows.ndim == 2 and self.rows.shape[1] > LONGEST_ATOM:
            return [_too_long(self.rows.shape[1])] * len(self)
        symbols = self.symbols()
        if self.rows.dtype.kind in "biu" or (self.rows.dtype.kind == "f" and not np.isnan(self.rows).any()):
            return symbols
        seen: dict[Hashable, Hashable] = {}  # most outcomes come again and again
        return [seen[s] if s in seen else seen.setdefault(s, comparable(s)) for s in symbols]

    @property
    def failures(self) -> int:
        """How many of the outcomes stand for a call that raised."""
        if self.rows.dtype != object:
            return 0
        return sum(isinstance(row, str) and row.startswith(_RAISES) for row in self.rows)

    @property
    def width(self) -> int:
        """The most numbers in one outcome."""
        if self.rows.ndim == 2:
            return int(self.rows.shape[1])
        if self.rows.dtype != object:
            return 1
        return max((len(row) for row in self.rows if isinstance(row, (tuple, str, bytes))), default=1)

    def condensed(self) -> "Outcomes":
        """Return all that events look at, without long rows."""
        return self if self.width <= LONGEST_ATOM else Outcomes(_objects(self.atoms()), self.features, self.inputs)

    @cached_property
    def features(self) -> dict[str, Array]:
        """Numbers that summarise an outcome, by the expression that computes them; NaN where there is none.

        Each is a function of its own outcome alone, whatever else is in the batch: a bet on an outcome must not
        depend on other outcomes of the batch. A feature that is not listed is NaN for the whole batch.
        """
        if self.summary is not None:
            return self.summary
        return self._plain_features() | self._structural_features()

    def _plain_features(self) -> dict[str, Array]:
        if self.rows.dtype != object:
            return _numeric_features(self.rows)
        result: dict[str, Array] = {}
        groups: dict[int, list[int]] = {}
        for position, symbol in enumerate(self.rows):
            if _is_numeric(symbol):
                groups.setdefault(len(symbol) if isinstance(symbol, tuple) else -1, []).append(position)
            elif isinstance(symbol, (str, bytes, tuple)):
                groups.setdefault(_SIZED, []).append(position)
        for width, positions in groups.items():
            members = [self.rows[k] for k in positions]
            partial = _sized_features(members) if width == _SIZED else _numeric_features(_floats(members, width))
            for name, values in partial.items():
                result.setdefault(name, np.full(len(self), np.nan))[positions] = values
        return result

    def _structural_features(self) -> dict[str, Array]:
        """Count what continuous noise never shows: where no outcome has any of it, it costs next to nothing."""
        values, owners = self._numbers()
        found = {SPECIAL_VALUES: owners[~np.isfinite(values)], REPEATED_VALUES: self._repetitions()}
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
            ordered = np.sort(self.rows, axis=1) if self.rows.ndim == 2 else np.empty((len(self), 0))
            later = ordered[:, 1:]
            return np.nonzero((later == ordered[:, :-1]) & (later != 0) & (later != 1))[0]
        numbers = (list(filter(_is_telling, row)) for row in self._tuples())
        return np.repeat(np.arange(len(self)), [len(listed) - len(set(listed)) for listed in numbers])

    def _tuples(self) -> list[tuple[Any, ...]]:
        return [row if isinstance(row, tuple) else (row,) for row in self.rows]

    def _numbers(self) -> tuple[Array, NDArray[np.intp]]:
        """Return all numbers in the outcomes, and which outcome each belongs to."""
        if self.rows.dtype != object:
            width = self.rows.shape[1] if self.rows.ndim == 2 else 1
            return self.rows.astype(np.float64).ravel(), np.repeat(np.arange(len(self)), width)
        listed = [
            (_float(part), k) for k, row in enumerate(self._tuples()) for part in row if isinstance(part, (int, float))
        ]
        return np.array([value for value, _ in listed], np.float64), np.array([k for _, k in listed], np.intp)

    def widths(self) -> list[int]:
        """Return the different lengths of the outcomes that are vectors of numbers, in order of appearance."""
        if self.rows.dtype != object:
            return [int(self.rows.shape[1])] if self.rows.ndim == 2 else []
        return list(dict.fromkeys(len(row) for row in self.rows if isinstance(row, tuple) and _is_numeric(row)))

    def vectors(self, width: int) -> tuple[NDArray[np.intp], Array]:
        """Return the positions of the outcomes that are vectors of so many numbers, and their coordinates."""
        if self.rows.dtype != object:
            fits = self.rows.ndim == 2 and self.rows.shape[1] == width
            positions = np.arange(len(self) if fits else 0)
            return positions, (self.rows if fits else np.empty((0, width))).astype(np.float64)
        found = [
            k for k, row in enumerate(self.rows) if isinstance(row, tuple) and len(row) == width and _is_numeric(row)
        ]
        return np.array(found, dtype=np.intp), _floats([self.rows[k] for k in found], width)

    def feature(self, name: str) -> Array | None:
        """Return a feature by its expression, None if there is no such feature.

        Any coordinate ``outcome[k]`` and any difference ``outcome[j]-outcome[k]`` is one, also if `features` lacks it.
        """
        if name in self.features:
            return self.features[name]
        match = re.fullmatch(r"(?:(outcome\[\d+\])-)?outcome\[(\d+)\]", name)
        if match is None or self.summary is not None:
            return None
        if match[1]:
            first, second = self.feature(match[1]), self.feature(f"outcome[{match[2]}]")
            return None if first is None or second is None else first - second
        place = int(match[2])
        if self.rows.dtype != object:
            inside = self.rows.ndim == 2 and place < self.rows.shape[1]
            return np.asarray(self.rows[:, place], dtype=np.float64) if inside else None
        return np.array([_coordinate(symbol, place) for symbol in self.rows])

    @cached_property
    def is_continuous(self) -> bool:
        """Whether (nearly) every outcome of a long batch is a number of its own: then counting symbols is idle."""
        if self.rows.dtype.kind != "f" or len(self) < 64:
            return False
        sample = self.rows[:2048] if self.rows.ndim == 1 else self.rows[:2048, 0]
        return np.unique(sample).size > 0.95 * sample.size


def _numeric_features(rows: NDArray[Any]) -> dict[str, Array]:
    values = np.asarray(rows, dtype=np.float64)
    if values.ndim == 1:
        return {OUTCOME: values, LOWEST_BIT: lowest_bit(values)}
    count, width = values.shape
    result = {"len(outcome)": np.full(count, float(width))}
    # copies: a view would keep all of the rows
    result |= {f"outcome[{k}]": values[:, k].copy() for k in range(min(width, _SHOWN_COORDINATES))}
    if width > 1:
        result |= {
            "outcome[-1]": values[:, -1].copy(),
            "max(outcome)": values.max(axis=1),
            "min(outcome)": values.min(axis=1),
        }
        with np.errstate(over="ignore", invalid="ignore"):
            result["sum(outcome)"] = reduce(np.add, values.T)  # in the same order for every shape and layout
        result["argmax(outcome)"] = values.argmax(axis=1).astype(np.float64)
        result[LOWEST_BIT] = lowest_bit(values).min(axis=1)
    return result


def lowest_bit(values: Array) -> Array:
    """Return the exponent of the lowest set bit of each float64: the finest lattice of powers of two it lies on.

    Noise that is computed in float64 and added to an answer lies on a lattice that depends on the answer (Mironov
    2012). 0, infinity and NaN have no lowest bit: they get one above all others.

    Examples
    --------
    >>> lowest_bit(np.array([1.0, 0.75, 6.0, 0.1])).tolist()
    [0.0, -2.0, 1.0, -55.0]
    """
    bits = np.ascontiguousarray(values, dtype=np.float64).view(np.int64)
    biased = (bits >> 52) & 0x7FF
    mantissa = (bits & ((1 << 52) - 1)) | np.where(biased > 0, 1 << 52, 0)
    trailing = np.frexp((mantissa & -mantissa).astype(np.float64))[1] - 1
    exponents = (np.maximum(biased, 1) - 1075 + trailing).astype(np.float64)
    return np.where((mantissa == 0) | (biased == 0x7FF), 1100.0, exponents)


def _sized_features(symbols: Sequence[Any]) -> dict[str, Array]:
    result = {"len(outcome)": np.array([float(len(symbol)) for symbol in symbols])}
    for k in range(_SHOWN_COORDINATES):
        result[f"outcome[{k}]"] = np.array([_coordinate(symbol, k) for symbol in symbols])
    result["outcome[-1]"] = np.array([_coordinate(s, len(s) - 1) if len(s) > 1 else math.nan for s in symbols])
    return result


def _floats(symbols: Sequence[Any], width: int) -> Array:
    """Return numbers or equally long tuples of numbers as an array; integers beyond float64 become infinite."""
    flat = [part for symbol in symbols for part in (symbol if isinstance(symbol, tuple) else (symbol,))]
    values = np.array([_float(part) for part in flat])
    return values if width < 0 else values.reshape(len(symbols), width)


def _float(number: float) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _symbol(row: Any) -> Hashable:
    if isinstance(row, (np.generic, np.ndarray)):
        row = row.tolist()
    if isinstance(row, (list, tuple)):
        return tuple(_symbol(part) for part in row)
    if isinstance(row, Mapping):
        return _in_one_order((_symbol(key), _symbol(value)) for key, value in row.items())
    if isinstance(row, (set, frozenset)):
        return _in_one_order(map(_symbol, row))
    return row if row is None or isinstance(row, (bool, int, float, str, bytes)) else _description(row)


def _in_one_order(parts: Iterable[Hashable]) -> Hashable:
    """Order what has no order of its own: the order of a hash table tells the process, not the outcome."""
    return tuple(sorted(parts, key=repr))


def _description(row: Any) -> str:
    """Describe any other object by its value, without the addresses that tell one process or call from another."""
    try:
        return re.sub(r" at 0x[0-9A-Fa-f]+", "", repr(row))
    except Exception:  # noqa: BLE001  # whatever a foreign __repr__ raises
        return f"<{type(row).__qualname__}>"


def _is_numeric(symbol: Any) -> bool:
    parts = symbol if isinstance(symbol, tuple) else (symbol,)
    return all(isinstance(part, (int, float)) for part in parts)


def _is_telling(part: Any) -> bool:
    """Whether it says something that a part of an outcome comes twice; NaN equals nothing, not even itself."""
    is_number = isinstance(part, int) or (isinstance(part, float) and not math.isnan(part))
    return is_number and part not in {0, 1}


def _is_exact(symbol: Any) -> bool:
    """Whether an array of floats can hold a number unchanged: else what it is would depend on its batch."""
    parts = symbol if isinstance(symbol, tuple) else (symbol,)
    return _is_numeric(symbol) and all(isinstance(part, float) or abs(part) <= 2**53 for part in parts)


def _objects(symbols: Sequence[Any]) -> NDArray[Any]:
    rows = np.empty(len(symbols), dtype=object)
    rows[:] = symbols
    return rows


def _coordinate(symbol: Any, k: int) -> float:
    if isinstance(symbol, tuple) and k < len(symbol) and isinstance(symbol[k], (int, float)):
        return _float(symbol[k])
    return math.nan


def comparable(symbol: Hashable) -> Hashable:
    """Return a symbol that equals itself: NaN by its name, also inside tuples; what is too long by its length."""
    if isinstance(symbol, (tuple, str, bytes)) and len(symbol) > LONGEST_ATOM:
        return _too_long(len(symbol))
    if isinstance(symbol, tuple):
        return tuple(map(comparable, symbol))
    return "<nan>" if isinstance(symbol, float) and math.isnan(symbol) else symbol


def _too_long(length: int) -> str:
    return f"<{length} values>"


def _stacked(parts: Sequence["Outcomes"]) -> dict[str, Array]:
    names = {name: None for part in parts for name in part.features}
    return {
        name: np.concatenate([part.features.get(name, np.full(len(part), np.nan)) for part in parts]) for name in names
    }


# --- calling a target ---------------------------------------------------------------------------------------


def sampler_of(target: Any) -> Sampler:
    """Return the function ``(data, size, rng) -> outcomes`` of a Mechanism or of a plain callable.

    Raises
    ------
    UsageError
        If the target is neither.
    """
    if isinstance(target, Mechanism):
        return target.sample
    if callable(target):
        function: Sampler = target
        return function
    raise UsageError(f"target must be a Mechanism or a callable f(data, size, rng), got {type(target).__name__}")


def call(sampler: Sampler, data: Array, size: int, rng: np.random.Generator) -> Outcomes:
    """Draw `size` outcomes.

    Raises
    ------
    CallFailedError
        If the target raises.
    SamplerLostError
        If the target says that nothing was observed.
    UsageError
        If it returns something else than `size` outcomes.
    """
    try:
        raw = sampler(data.copy(), size, rng)  # a copy: a target that edits its input must not spoil the pair
    except (KeyboardInterrupt, SamplerLostError):
        raise
    except BaseException as error:  # also sys.exit: a target must not end the hunt with a status of its own
        raise CallFailedError(error) from error
    try:
        count = len(raw)
    except Exception:  # noqa: BLE001  # whatever a foreign __len__ raises
        raise UsageError(
            f"target must return {size} outcomes (a sequence or an array), got {type(raw).__name__}"
        ) from None
    if count != size or isinstance(raw, (str, bytes, dict, set)):
        raise UsageError(f"target must return {size} outcomes for size={size}, got {count} in a {type(raw).__name__}")
    return Outcomes.of(raw)
