"""Neighbour relations: which pairs of inputs a claim speaks of, with one text form each."""

import importlib
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import (
    UsageError,
    as_number,
    is_finite,
    is_number,
    require_at_least,
    require_flag,
    require_integer,
    rounded_down,
    rounded_up,
    set_fields,
    shown,
)

__all__ = [
    "LARGEST_INTEGER",
    "MOST_VALUES",
    "AnyNeighbours",
    "EncodedNeighbours",
    "NeighbourRelation",
    "RecordNeighbours",
    "VectorNeighbours",
    "farther_apart",
    "missing_options",
    "parse_neighbours",
    "parse_relation",
    "relation_forms",
]

MOST_VALUES = 1_000_000
"""Coordinates or records of one input at most: a hunt holds about a hundred pairs of inputs."""

LARGEST_INTEGER = 1 << 53
"""The largest integer of a relation of integers: float64 holds all integers up to here."""


def _set_range(relation: Any) -> None:
    """Make the ends of a range float64; an end that float64 does not hold is rounded inwards, as all data are float64.

    Raises
    ------
    UsageError
        If no float64 lies between the ends.
    """
    low, high = relation.low, relation.high
    inner_low = rounded_up(as_number(low)) if is_finite(low) else float(low)
    inner_high = rounded_down(as_number(high)) if is_finite(high) else float(high)
    if inner_low > inner_high:
        raise UsageError(f"a float64 must lie between low and high, got low={shown(low)}, high={shown(high)}")
    set_fields(relation, low=inner_low, high=inner_high)


@dataclass(frozen=True)
class VectorNeighbours:
    """Two vectors of `size` coordinates in [low, high] whose difference obeys every norm bound given.

    Parameters
    ----------
    size : int
        Number of coordinates, at least 1.
    l0 : int, optional
        Bound on the number of coordinates that differ.
    l1, l2, linf : float, optional
        Bounds on the norms of the difference.
    low, high : float
        Bounds of every coordinate; infinite where there is none.
    integer : bool
        Whether data and difference are integers.
    monotone : bool
        Whether all coordinates move the same way, up or down.
    """

    size: int
    l0: int | None = None
    l1: float | None = None
    l2: float | None = None
    linf: float | None = None
    low: float = -math.inf
    high: float = math.inf
    integer: bool = False
    monotone: bool = False

    def __post_init__(self) -> None:
        set_fields(self, size=require_integer("size", self.size, 1, MOST_VALUES))
        if self.l0 is not None:
            set_fields(self, l0=require_integer("l0", self.l0, 0))
        for name, bound in {"l1": self.l1, "l2": self.l2, "linf": self.linf}.items():
            if bound is not None:
                set_fields(self, **{name: rounded_down(require_at_least(name, as_number(bound), 0))})
        for name, flag in {"integer": self.integer, "monotone": self.monotone}.items():
            set_fields(self, **{name: require_flag(name, flag)})
        self._require_range()

    def _require_range(self) -> None:
        if not (is_number(self.low) and is_number(self.high) and self.low <= self.high):
            raise UsageError(f"low must not exceed high, got low={shown(self.low)}, high={shown(self.high)}")
        _set_range(self)
        unbounded = math.isinf(self.low) or math.isinf(self.high)
        if self.l1 is self.l2 is self.linf is None and (self.l0 is None or unbounded):
            raise UsageError("a vector relation needs at least one of l1, l2, linf, or l0 with finite low and high")
        if self.integer:
            self._require_integers()

    def _require_integers(self) -> None:
        """Refuse integers that float64, in which all data are given, does not hold."""
        values = {name: getattr(self, name) for name in ("low", "high", "l1", "l2", "linf")}
        for name, value in values.items():
            if value is not None and math.isfinite(value) and abs(value) > LARGEST_INTEGER:
                raise UsageError(
                    f"{name} must lie within +-2^53 = {LARGEST_INTEGER:,} for an integer relation, because "
                    f"float64 does not hold all larger integers, got {shown(value)}"
                )

    @property
    def largest_step(self) -> float:
        """The largest change that any single coordinate may make, before clipping to [low, high]."""
        bounds = [bound for bound in (self.l1, self.l2, self.linf) if bound is not None]
        step = 0.0 if self.l0 == 0 else min(bounds, default=self.high - self.low)
        return math.floor(step) if self.integer else step

    def admits(self, left: NDArray[np.float64], right: NDArray[np.float64]) -> bool:
        """Return whether (left, right) is a pair of this relation, exactly: a float stands for its rational value.

        A pair admitted by rounding alone would let a loss through that the claim does not speak of.
        """
        for data in (left, right):
            if data.shape != (self.size,) or not bool(np.all((data >= self.low) & (data <= self.high))):
                return False
            if not bool(np.isfinite(data).all()):
                return False
            if self.integer and not bool(np.all(data == np.floor(data))):
                return False
        moved = left != right
        return (
            (self.l0 is None or int(moved.sum()) <= self.l0)
            and (self.linf is None or not bool(farther_apart(left, right, self.linf).any()))
            and (not self.monotone or bool(np.all(right >= left)) or bool(np.all(right <= left)))
            and (self.l1 is self.l2 is None or self._sums_are_small(left[moved], right[moved]))
        )

    def _sums_are_small(self, left: NDArray[np.float64], right: NDArray[np.float64]) -> bool:
        """Return whether the changes of the coordinates that move obey l1 and l2."""
        points, counts = np.unique(left + 1j * right, return_counts=True)  # often few different ones
        steps = [
            (abs(Fraction(float(point.imag)) - Fraction(float(point.real))), int(count))
            for point, count in zip(points, counts, strict=True)
        ]
        return (self.l1 is None or sum(step * count for step, count in steps) <= self.l1) and (
            self.l2 is None or sum(step * step * count for step, count in steps) <= Fraction(self.l2) ** 2
        )


def farther_apart(left: NDArray[np.float64], right: NDArray[np.float64], step: float) -> NDArray[np.bool_]:
    """Decide exactly where two finite numbers differ by more than `step`, including the rounding of the difference."""
    far, near = np.where(np.abs(right) >= np.abs(left), (right, left), (left, right))
    with np.errstate(over="ignore", invalid="ignore"):  # an infinite gap is too large, whatever it lost
        gap = far - near
        lost = np.sign(gap) * ((far - gap) - near)  # exact, as |far| >= |near| (Dekker 1971)
    result: NDArray[np.bool_] = (np.abs(gap) > step) | ((np.abs(gap) == step) & (lost > 0))
    return result


@dataclass(frozen=True)
class RecordNeighbours:
    """Two arrays of records in [low, high], one with a record added, removed or replaced.

    Parameters
    ----------
    low, high : float
        Bounds of a record.
    size : int
        Number of records (the least one, if `max_size` is given); 0 is an empty data set.
    max_size : int, optional
        The largest number of records.
    relation : {"add-remove", "replace"}
        Which change of one record makes a neighbour.
    """

    low: float
    high: float
    size: int
    max_size: int | None = None
    relation: str = "replace"

    def __post_init__(self) -> None:
        if not (is_finite(self.low) and is_finite(self.high) and self.low <= self.high):
            raise UsageError(
                f"low and high must be finite, low <= high, got low={shown(self.low)}, high={shown(self.high)}"
            )
        _set_range(self)
        set_fields(self, size=require_integer("size", self.size, 0, MOST_VALUES))
        if self.max_size is not None:
            set_fields(self, max_size=require_integer("max-size", self.max_size, self.size, MOST_VALUES))
        if not (isinstance(self.relation, str) and self.relation in {"add-remove", "replace"}):
            raise UsageError(f"relation must be add-remove or replace, got {shown(self.relation)}")


class EncodedNeighbours(ABC):
    """A relation between inputs of any type, each of which a float64 array of codes stands for.

    A search works on the codes; the mechanism receives what `decoded` returns. Such inputs are sampled, not traced.
    """

    @property
    @abstractmethod
    def words(self) -> str:
        """The relation in the form of the command line, or a description of one that has none."""

    @abstractmethod
    def decoded(self, codes: NDArray[np.float64]) -> Any:
        """Return a new object: the input that the codes stand for."""

    @abstractmethod
    def admits(self, left: NDArray[np.float64], right: NDArray[np.float64]) -> bool:
        """Return whether two arrays of codes stand for a pair of this relation."""

    @abstractmethod
    def pairs(self, rng: np.random.Generator) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """Yield pairs of arrays of codes, the most promising first, then random ones."""

    @abstractmethod
    def simpler(
        self, left: NDArray[np.float64], right: NDArray[np.float64]
    ) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """Yield pairs that are one step simpler than a given one; `admits` need not accept them."""


NeighbourRelation = VectorNeighbours | RecordNeighbours
"""A relation between arrays of numbers, of which exact decisions are possible."""

AnyNeighbours = NeighbourRelation | EncodedNeighbours

_ENCODED = dict.fromkeys(("table", "dicts", "frame", "multiset", "histogram"), "dpassay.tables")
"""Modules that read the further kinds of relations, by a function `parse`."""


def relation_forms() -> str:
    """Return the openings of neighbour relations on the command line, for messages."""
    return ", ".join(f"{kind}:" for kind in ("vector", "records", *_ENCODED))


_VECTOR_KEYS: dict[str, Callable[[str], Any]] = {
    "size": int, "l0": int, "l1": float, "l2": float, "linf": float, "low": float, "high": float,
}  # fmt: skip
_RECORD_KEYS: dict[str, Callable[[str], Any]] = {
    "low": float, "high": float, "size": int, "max-size": int, "relation": str,
}  # fmt: skip


def parse_neighbours(text: str) -> NeighbourRelation:
    """Read a neighbour relation in the form of the command line.

    Raises
    ------
    UsageError
        If a key is unknown or missing, or a value is out of its domain.

    Examples
    --------
    >>> parse_neighbours("vector:size=5,linf=1").size
    5
    >>> parse_neighbours("records:low=0,high=1,size=3,relation=add-remove").relation
    'add-remove'
    """
    if not isinstance(text, str):
        raise UsageError(f"neighbours must be text that begins with vector: or records:, got {shown(text)}")
    kind, _, rest = text.partition(":")
    if kind == "vector":
        values = _options(text, rest, _VECTOR_KEYS, flags=("integer", "monotone"), required=("size",))
        return VectorNeighbours(**values)
    if kind == "records":
        values = _options(text, rest, _RECORD_KEYS, flags=(), required=("low", "high", "size", "relation"))
        return RecordNeighbours(**{key.replace("-", "_"): value for key, value in values.items()})
    raise UsageError(f"neighbours {shown(text)} must begin with vector: or records:")


def parse_relation(text: str) -> AnyNeighbours:
    """Read a neighbour relation between inputs of any type; as `parse_neighbours`, and the relations of tables.

    Raises
    ------
    UsageError
        If the kind or a key is unknown or missing, or a value is out of its domain.

    Examples
    --------
    >>> parse_relation("dicts:age=0..99,sex=F/M,size=2,relation=replace").words
    'dicts:age=0..99,sex=F/M,size=2,relation=replace'
    """
    kind, _, rest = text.partition(":")
    if kind in _ENCODED:
        relation: EncodedNeighbours = importlib.import_module(_ENCODED[kind]).parse(kind, rest)
        return relation
    if kind not in {"vector", "records"}:
        raise UsageError(f"neighbours {shown(text)} must begin with one of {relation_forms()}")
    return parse_neighbours(text)


def _options(
    text: str,
    rest: str,
    keys: dict[str, Callable[[str], Any]],
    *,
    flags: tuple[str, ...],
    required: tuple[str, ...],
) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for part in filter(None, rest.split(",")):
        key, separator, value = part.partition("=")
        if key in values:
            raise UsageError(f"neighbours {text!r} gives {key} twice")
        if key in flags and not separator:
            values[key] = True
        elif key in keys and separator:
            try:
                values[key] = keys[key](value)
            except ValueError:
                accepted = "an integer written in digits, such as 1000" if keys[key] is int else "a number"
                raise UsageError(f"neighbours {text!r}: {key} must be {accepted}, got {value!r}") from None
        else:
            accepted = ", ".join([*(f"{name}=" for name in keys), *flags])
            raise UsageError(f"neighbours {text!r}: {part!r} is not one of {accepted}")
    missing = [key for key in required if key not in values]
    if missing:
        raise UsageError(f"neighbours {text!r} lacks {missing_options(missing)}")
    return values


def missing_options(keys: Iterable[str]) -> str:
    """Return options that a neighbour relation lacks, with the form of their values, for error messages."""
    forms = {"size": "size=N", "relation": "relation=add-remove or relation=replace"}
    return ", ".join(forms.get(key, f"{key}=NUMBER") for key in keys)
