"""Neighbour relations between tables: rows of columns, of which one row, or all rows of one user, differ.

>>> relation = parse("table", "age=0..99,sex=F/M,size=1,max-size=2,relation=add-remove")
>>> relation.decoded(np.array([30.0, 1.0]))
[(30, 'M')]
"""

import importlib.util
import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import UsageError, is_finite, require_integer, shown
from dpassay.neighbours import MOST_VALUES, EncodedNeighbours, missing_options

__all__ = ["Interval", "TableNeighbours", "Values", "parse"]

Array = NDArray[np.float64]
Pair = tuple[Array, Array]
Row = tuple[float, ...]

_RESERVED = ("size", "max-size", "relation", "user", "user-rows")
_MARKS = frozenset(",=/:;")
_SIGNS = "the signs , = / : ;"
_CORNERS, _SIZES = 12, 4
_MOST_CELLS = 10_000


@dataclass(frozen=True)
class Interval:
    """The domain of a numeric column.

    Parameters
    ----------
    low, high : float
        Ends, both included.
    integer : bool
        Whether only integers belong to it.
    """

    low: float
    high: float
    integer: bool = False

    def __post_init__(self) -> None:
        if not (is_finite(self.low) and is_finite(self.high) and self.low <= self.high):
            raise UsageError(f"a column must be low..high with low <= high, got {shown(self.low)}..{shown(self.high)}")
        if self.integer and not (float(self.low).is_integer() and float(self.high).is_integer()):
            raise UsageError(f"the ends of an integer column must be integers, got {self.low}..{self.high}")

    def __contains__(self, code: float) -> bool:
        return self.low <= code <= self.high and (not self.integer or float(code).is_integer())

    def __str__(self) -> str:
        kind: Callable[[float], float] = int if self.integer else float
        return f"{kind(self.low)!r}..{kind(self.high)!r}"

    @property
    def corners(self) -> list[float]:
        """The codes to try first: the ends, zero, and the middle."""
        middle = (self.low + self.high) / 2
        levels = [self.low, self.high, 0.0, math.floor(middle) if self.integer else middle]
        return [float(code) for code in dict.fromkeys(levels) if code in self]

    def random(self, rng: np.random.Generator) -> float:
        """Return a random code."""
        if self.integer:
            return float(rng.integers(int(self.low), int(self.high), endpoint=True))
        return float(rng.uniform(self.low, self.high))

    def value(self, code: float) -> Any:
        """Return the value that a code stands for."""
        return int(code) if self.integer else float(code)


@dataclass(frozen=True)
class Values:
    """The domain of a categorical column: a list of values, whose codes are their places."""

    values: tuple[Any, ...]

    def __post_init__(self) -> None:
        if len(self.values) < 2 or len(set(self.values)) < len(self.values):
            raise UsageError(f"a column must have at least two different values, got {shown(list(self.values))}")

    def __contains__(self, code: float) -> bool:
        return 0 <= code < len(self.values) and float(code).is_integer()

    def __str__(self) -> str:
        return "/".join(map(str, self.values))

    @property
    def corners(self) -> list[float]:
        """The codes to try first."""
        last = len(self.values) - 1
        return [float(code) for code in dict.fromkeys((0, last, last // 2))]

    def random(self, rng: np.random.Generator) -> float:
        """Return a random code."""
        return float(rng.integers(len(self.values)))

    def value(self, code: float) -> Any:
        """Return the value that a code stands for."""
        return self.values[int(code)]


Domain = Interval | Values
_FORMS = ("table", "dicts", "frame", "multiset", "histogram")


@dataclass(frozen=True)
class TableNeighbours(EncodedNeighbours):
    """Two tables of which one row, or all rows of one user, were added, removed or replaced.

    Parameters
    ----------
    columns : tuple of (str, Interval or Values)
        The columns in their order. A mapping is accepted.
    size : int
        Least number of rows.
    max_size : int, optional
        Largest number of rows; by default `size`, and as many more as one user may have for add-remove.
    relation : {"add-remove", "replace"}
        What happens to the row, or to the rows of the user.
    form : {"table", "dicts", "frame", "multiset", "histogram"}
        What the mechanism receives: a list of tuples, a list of dicts, a pandas DataFrame, a Counter of rows, or a
        dict with the count of every possible row, zeros included. A row of a single column is its value there.
    user : str, optional
        The column that names the user: neighbours then differ in the rows of one user.
    user_rows : int
        Largest number of rows of a user.

    Raises
    ------
    UsageError
        If a parameter is out of its domain, or the form is a frame and pandas is not installed.
    """

    columns: tuple[tuple[str, Domain], ...]
    size: int
    max_size: int | None = None
    relation: str = "replace"
    form: str = "table"
    user: str | None = None
    user_rows: int = 1

    def __post_init__(self) -> None:
        columns = tuple(self.columns.items()) if isinstance(self.columns, Mapping) else tuple(self.columns)
        object.__setattr__(self, "columns", columns)
        if not columns or not all(isinstance(domain, Interval | Values) for _, domain in columns):
            raise UsageError(f"columns must map names to Interval or Values, got {shown(self.columns)}")
        for name, domain in columns:
            self._require_words(name, *(domain.values if isinstance(domain, Values) else ()))
        if self.form not in _FORMS:
            raise UsageError(f"form must be one of {', '.join(_FORMS)}, got {shown(self.form)}")
        if self.form == "frame" and importlib.util.find_spec("pandas") is None:
            raise UsageError("neighbours frame: needs pandas; pip install pandas, or use dicts: or table:")
        if self.relation not in {"add-remove", "replace"}:
            raise UsageError(f"relation must be add-remove or replace, got {shown(self.relation)}")
        if self.user is not None and self.user not in dict(columns):
            raise UsageError(f"user must be one of the columns {', '.join(dict(columns))}, got {shown(self.user)}")
        if self.user is None and self.user_rows != 1:
            raise UsageError(f"user-rows must be 1 without a user column, got {shown(self.user_rows)}")
        most = MOST_VALUES // len(columns)
        require_integer("size", self.size, 0, most)
        require_integer("user-rows", self.user_rows, 1, most)
        if self.max_size is not None:
            require_integer("max-size", self.max_size, self.size, most)
        if self.form == "histogram" and not 0 < self._cell_count <= _MOST_CELLS:
            raise UsageError(f"a histogram must have from 1 to {_MOST_CELLS} cells: integers or values in each column")

    @staticmethod
    def _require_words(name: str, *values: Any) -> None:
        """Refuse a name and values from which the form of the command line could not be read back."""
        if not isinstance(name, str) or not name or name in _RESERVED or _MARKS & set(name):
            raise UsageError(
                f"a column must not be named {shown(name)}: {', '.join(_RESERVED)} and {_SIGNS} are taken"
            )
        wrong = next((value for value in values if ".." in str(value) or _MARKS & set(str(value))), None)
        if wrong is not None or not all(isinstance(value, int | str) for value in values):
            raise UsageError(f"values of column {name} must be integers or text without {_SIGNS}, got {shown(values)}")

    # --- what it means --------------------------------------------------------------------------------------

    @property
    def words(self) -> str:
        """The relation in the form of the command line."""
        parts = [f"{name}={domain}" for name, domain in self.columns]
        parts += [f"size={self.size}", *([] if self.max_size is None else [f"max-size={self.max_size}"])]
        parts += [] if self.user is None else [f"user={self.user}", f"user-rows={self.user_rows}"]
        return f"{self.form}:" + ",".join([*parts, f"relation={self.relation}"])

    def admits(self, left: Array, right: Array) -> bool:
        """Return whether two arrays of codes stand for a pair of this relation."""
        tables = [self._rows(codes) for codes in (left, right)]
        if any(rows is None or not self._is_table(rows) for rows in tables):
            return False
        small, large = sorted((rows for rows in tables if rows is not None), key=len)
        if self.user is None:
            return _differ_in_a_row(small, large, extra=self.relation == "add-remove")
        return self._differ_in_a_user(small, large)

    def decoded(self, codes: Array) -> Any:
        """Return the table, in its form."""
        rows = [tuple(self._values(row)) for row in self._rows(codes) or ()]
        names = [name for name, _ in self.columns]
        if self.form == "table":
            return rows
        if self.form == "dicts":
            return [dict(zip(names, row, strict=True)) for row in rows]
        if self.form == "frame":
            return _frame(names, rows)
        records = [row[0] for row in rows] if len(names) == 1 else rows
        if self.form == "multiset":
            return Counter(records)
        return dict.fromkeys(self._cells(), 0) | dict(Counter(records))

    @property
    def _most_rows(self) -> int:
        if self.max_size is not None:
            return self.max_size
        return self.size + (self.user_rows if self.relation == "add-remove" else 0)

    @property
    def _cell_count(self) -> int:
        counts = [
            len(domain.values) if isinstance(domain, Values) else int(domain.high - domain.low) + 1
            for _, domain in self.columns
            if isinstance(domain, Values) or domain.integer
        ]
        return math.prod(counts) if len(counts) == len(self.columns) else 0

    def _cells(self) -> Iterator[Any]:
        parts = [
            domain.values if isinstance(domain, Values) else range(int(domain.low), int(domain.high) + 1)
            for _, domain in self.columns
        ]
        return (row[0] if len(row) == 1 else row for row in itertools.product(*parts))

    def _values(self, row: Row) -> list[Any]:
        return [domain.value(code) for (_, domain), code in zip(self.columns, row, strict=True)]

    def _rows(self, codes: Array) -> list[Row] | None:
        """Return the rows of codes; None if they do not fill whole rows."""
        if codes.ndim != 1 or codes.size % len(self.columns):
            return None
        return [tuple(row) for row in codes.reshape(-1, len(self.columns)).tolist()]

    def _is_table(self, rows: list[Row]) -> bool:
        return self.size <= len(rows) <= self._most_rows and all(
            code in domain for row in rows for (_, domain), code in zip(self.columns, row, strict=True)
        )

    @property
    def _user_place(self) -> int:
        return [name for name, _ in self.columns].index(self.user or "")

    def _differ_in_a_user(self, left: list[Row], right: list[Row]) -> bool:
        """Return whether the tables without the rows of one user (of one on either side) are equal."""
        place = self._user_place
        users = [{row[place] for row in rows} for rows in (left, right)]
        counts = Counter((side, row[place]) for side, rows in enumerate((left, right)) for row in rows)
        if any(count > self.user_rows for count in counts.values()):
            return False

        def without(rows: list[Row], user: float | None) -> list[Row]:
            return [row for row in rows if row[place] != user]

        if self.relation == "add-remove":
            return any(without(left, u) == without(right, u) for u in users[0] ^ users[1])
        return any(without(left, u) == without(right, v) for u in users[0] for v in users[1])

    # --- the search -----------------------------------------------------------------------------------------

    def pairs(self, rng: np.random.Generator) -> Iterator[Pair]:
        """Yield pairs of arrays of codes: corners of the columns first, then random ones without end."""
        corners = self._corner_rows()
        for others, (old, new) in itertools.product(
            self._designed_others(corners), itertools.permutations(corners, 2)
        ):
            for count in dict.fromkeys((self.user_rows, 1)):
                yield from self._changed(others, [old] * count, [new] * count, len(others))
        while True:
            # a domain with few rows may leave a draw without a pair; the next one has another size
            others = [self._random_row(rng) for _ in range(rng.integers(0, self._most_rows + 1))]
            blocks = [[self._random_row(rng) for _ in range(rng.integers(1, self.user_rows + 1))] for _ in range(2)]
            yield from self._changed(others, blocks[0], blocks[1], int(rng.integers(0, len(others) + 1)))

    def simpler(self, left: Array, right: Array) -> Iterator[Pair]:
        """Yield pairs with one common row fewer, then with one cell at its first value."""
        one, other = self._rows(left) or [], self._rows(right) or []
        common = range(min(len(one), len(other)))
        for k in common:
            for i, j in ((k, k), (len(one) - 1 - k, len(other) - 1 - k)):
                if one[i] == other[j]:
                    yield _codes([*one[:i], *one[i + 1 :]]), _codes([*other[:j], *other[j + 1 :]])
        simplest = [domain.corners[0] for _, domain in self.columns]
        for row, place in itertools.product(dict.fromkeys([*one, *other]), range(len(simplest))):
            if row[place] != simplest[place]:
                changed = (*row[:place], simplest[place], *row[place + 1 :])
                yield tuple(_codes([changed if each == row else each for each in rows]) for rows in (one, other))  # type: ignore[misc]

    def _changed(self, others: list[Row], old: list[Row], new: list[Row], at: int) -> Iterator[Pair]:
        """Yield the pair of a table with `others` that has the block `new` too, in place of `old` or of nothing."""
        if self.user is not None:
            place = self._user_place
            own = new[0][place]
            new = [(*row[:place], own, *row[place + 1 :]) for row in new]
            others = [row for row in others if row[place] not in {own, old[0][place]}]
            old = [(*row[:place], old[0][place], *row[place + 1 :]) for row in old]
            at = min(at, len(others))
        before = [] if self.relation == "add-remove" else old
        yield tuple(_codes([*others[:at], *block, *others[at:]]) for block in (before, new))  # type: ignore[misc]

    def _designed_others(self, corners: Sequence[Row]) -> Iterator[list[Row]]:
        """Yield the rows that do not change: of few sizes, all equal, or all corners in turn."""
        least = max(0, self.size - (self.user_rows if self.relation == "replace" else 0))
        most = max(least, self._most_rows - 1)
        counts = [least + k for k in range(min(_SIZES, most - least + 1))]
        for count, first in itertools.product(dict.fromkeys([*counts, most]), (0, 1, -1)):
            yield [corners[first % len(corners)]] * count
            yield [corners[(first + k) % len(corners)] for k in range(count)]

    def _corner_rows(self) -> list[Row]:
        """Return rows of corners: all columns at the same end, then each column by itself."""
        levels = [domain.corners for _, domain in self.columns]
        ends = [tuple(level[k % len(level)] for level in levels) for k in range(max(map(len, levels)))]
        single = [
            tuple(level[1] if k == place and len(level) > 1 else level[0] for k, level in enumerate(levels))
            for place in range(len(levels))
        ]
        return list(dict.fromkeys([*ends, *single]))[:_CORNERS]

    def _random_row(self, rng: np.random.Generator) -> Row:
        return tuple(
            float(rng.choice(domain.corners)) if rng.random() < 1 / 2 else domain.random(rng)
            for _, domain in self.columns
        )


def _differ_in_a_row(small: list[Row], large: list[Row], *, extra: bool) -> bool:
    if not extra:
        return len(small) == len(large) and sum(a != b for a, b in zip(small, large, strict=True)) <= 1
    shorter = (large[:k] + large[k + 1 :] for k in range(len(large)))
    return len(large) == len(small) + 1 and any(rest == small for rest in shorter)


def _codes(rows: list[Row]) -> Array:
    return np.array([code for row in rows for code in row], dtype=np.float64)


def _frame(names: list[str], rows: list[tuple[Any, ...]]) -> Any:
    import pandas as pd

    return pd.DataFrame(rows, columns=names)


# --- reading ------------------------------------------------------------------------------------------------


def parse(kind: str, text: str) -> TableNeighbours:
    """Read ``age=0..99,sex=F/M,size=3,relation=replace``, the words after the kind and the colon.

    Parameters
    ----------
    kind : {"table", "dicts", "frame", "multiset", "histogram"}
        The form of the table.
    text : str
        Columns (``low..high``, integer if both ends are written as integers, or ``value/value/...``), and the words
        ``size=``, ``max-size=``, ``relation=``, ``user=`` and ``user-rows=``.

    Raises
    ------
    UsageError
        If a part cannot be read, or a value is out of its domain.
    """
    given: dict[str, str] = {}
    for part in filter(None, text.split(",")):
        key, separator, value = part.partition("=")
        if not separator or not key or not value:
            raise UsageError(f"neighbours {kind}: {part!r} is not of the form NAME=VALUE; {_accepted()}")
        if key in given:
            hint = f"; {key}= is an option, and a column needs another name" if key in _RESERVED else ""
            raise UsageError(f"neighbours {kind}: gives {key} twice{hint}")
        given[key] = value
    columns = tuple((key, _domain(kind, key, value)) for key, value in given.items() if key not in _RESERVED)
    missing = [key for key in ("size", "relation") if key not in given]
    if not columns or missing:
        lacking = [*filter(None, [missing_options(missing)]), *([] if columns else ["columns as NAME=low..high"])]
        raise UsageError(f"neighbours {kind}: lacks {', '.join(lacking)}")
    numbers = {key: _whole(kind, key, given[key]) for key in ("size", "max-size", "user-rows") if key in given}
    return TableNeighbours(
        columns=columns,
        size=numbers["size"],
        max_size=numbers.get("max-size"),
        relation=given["relation"],
        form=kind,
        user=given.get("user"),
        user_rows=numbers.get("user-rows", 1),
    )


def _accepted() -> str:
    return f"accepted are columns as NAME=low..high or NAME=value/value, and {', '.join(f'{w}=' for w in _RESERVED)}"


def _whole(kind: str, key: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"neighbours {kind}: {key} must be an integer written in digits, got {text!r}") from None


def _domain(kind: str, name: str, text: str) -> Domain:
    low, separator, high = text.partition("..")
    if separator:
        integer = all(end.lstrip("+-").isdecimal() for end in (low, high))
        try:
            ends = (int(low), int(high)) if integer else (float(low), float(high))
        except ValueError:
            raise UsageError(f"neighbours {kind}: column {name}={text} must be low..high with numbers") from None
        return Interval(ends[0], ends[1], integer)
    values = text.split("/")
    if len(values) < 2:
        raise UsageError(f"neighbours {kind}: column {name}={text} has one value only; {_accepted()}")
    try:
        return Values(tuple(map(int, values)))
    except ValueError:
        return Values(tuple(values))
