"""Conversion of foreign values: any ordinary structure becomes a plain value; unreadable parts are marked.

Nothing depends on `__eq__` or `__hash__` of foreign objects, on the order of a hash table, or on addresses. numpy and
pandas are looked at only if they were imported. Python 3.9 or newer, standard library only: this module also runs
inside workers.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import re
import sys
import uuid
from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence, ValuesView
from collections.abc import Set as AbstractSet
from decimal import Decimal
from fractions import Fraction
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from dpassay.impl.libraries.plain import UNREADABLE, Record, Scalar, attribute, item, written
from dpassay.impl.libraries.reading_arrays import read_numpy, read_pandas

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ACCEPTED", "read"]

ACCEPTED = (
    "numbers, text, bytes, None, dates, sequences, arrays, mappings, sets, dataclasses, objects with public "
    "attributes and objects with a repr that shows their value"
)
"""Outcomes that can be read, in words for a message."""

_BUILT_IN = frozenset({type(None), bool, int, float, str, bytes})
_DEEPEST = 48
_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001  # the clock's own zone, whatever it is
_ADDRESS = re.compile(r"\bat 0x[0-9A-Fa-f]+")


class _UnreadableError(Exception):
    """An object shows nothing but its type."""


def read(value: Any, inside: tuple[int, ...] = ()) -> Any:
    """Return the plain value of an object.

    An object, or a part of one, that cannot be read becomes a :class:`Scalar` of the kind ``unreadable``: functions,
    iterators, objects that show nothing but an address, circular and extremely deep structures, and whatever raises
    when it is looked at.

    Parameters
    ----------
    value : object
        The return value of a mechanism.
    inside : tuple of int
        The identities of the containers around it.

    Examples
    --------
    >>> read({"total": Decimal("2.5"), "parts": [1, 2]})["total"]
    Scalar(kind='Decimal', text='2.5', number=2.5)
    >>> read(x for x in "ab")
    Scalar(kind='unreadable', text='generator', number=nan)
    """
    if type(value) in _BUILT_IN or isinstance(value, (Record, Scalar)):
        return value
    if id(value) in inside or len(inside) > _DEEPEST:
        return Scalar(
            UNREADABLE, f"{_kind(value)} contained in itself" if id(value) in inside else "too deeply nested"
        )
    within = (*inside, id(value))
    if type(value) is tuple or type(value) is list:
        return tuple([read(part, within) for part in value])

    def part_of(part: Any) -> Any:
        return read(part, within)

    try:
        return _read_foreign(value, part_of)
    except Exception:  # noqa: BLE001  # whatever foreign code raises when it is looked at
        return Scalar(UNREADABLE, _kind(value))


def _read_foreign(value: Any, read_part: Callable[[Any], Any]) -> Any:
    for reader in _READERS:
        found = reader(value, read_part)
        if found is not NotImplemented:
            return found
    raise _UnreadableError


def _kind(value: Any) -> str:
    return re.sub(r"\W", "_", type(value).__name__)


# --- values without parts -----------------------------------------------------------------------------------


def _seconds(value: dt.datetime) -> float:
    return (value.replace(tzinfo=None) - _EPOCH).total_seconds()


def _clock(value: dt.time) -> float:
    return 3600.0 * value.hour + 60.0 * value.minute + value.second + value.microsecond / 1e6


def _moment(value: Any) -> str:
    return f"{value.isoformat()}{' again' if value.fold else ''}{'' if value.tzinfo is None else f' {value.tzname()}'}"


_SCALARS: list[tuple[type, Callable[[Any], str], Callable[[Any], float] | None]] = [
    (Decimal, str, float),
    (Fraction, str, float),
    (dt.datetime, _moment, _seconds),
    (dt.date, str, lambda value: float(value.toordinal())),
    (dt.time, _moment, _clock),
    (dt.timedelta, repr, lambda value: float(value.total_seconds())),
    (uuid.UUID, str, lambda value: float(value.int)),
    (PurePath, str, None),
    (type, lambda value: f"{value.__module__}.{value.__qualname__}", None),
]


def _read_scalar(value: Any, _: Callable[[Any], Any]) -> Any:
    for kind, text, number in _SCALARS:
        if isinstance(value, kind):
            return Scalar(_kind(value), text(value), *(() if number is None else (_number(number, value),)))
    return NotImplemented


_DERIVED: dict[type, Callable[[Any], Any]] = {
    int: int.__int__,
    float: float.__float__,
    str: str.__str__,
    bytes: lambda value: bytes(memoryview(value)),
}


def _number(function: Callable[[Any], float], value: Any) -> float:
    try:
        return float(function(value))
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
    except Exception:  # noqa: BLE001  # not a date, signalling NaN: no number
        return float("nan")


def _read_enum(value: Any, read_part: Callable[[Any], Any]) -> Any:
    if not isinstance(value, enum.Enum):
        return NotImplemented
    return Record(_kind(value), ((".name", read_part(value.name)), (".value", read_part(value.value))))


def _read_complex(value: Any, _: Callable[[Any], Any]) -> Any:
    if not isinstance(value, complex):
        return NotImplemented
    return Record("complex", ((".real", float(value.real)), (".imag", float(value.imag))))


def _read_derived(value: Any, read_part: Callable[[Any], Any]) -> Any:
    """Read an object of a class derived from a built-in one: its value, and its own attributes."""
    for base, plain in _DERIVED.items():
        if isinstance(value, base):
            own = _attributes(value, read_part)
            return Record(_kind(value), (("", plain(value)), *own)) if own else plain(value)
    return NotImplemented


def _read_buffer(value: Any, _: Callable[[Any], Any]) -> Any:
    if isinstance(value, (bytearray, memoryview)):
        return Record(_kind(value), (("", bytes(value)),))
    if isinstance(value, array):
        return Record("array", (("", tuple(value.tolist())), (".typecode", value.typecode)))
    if isinstance(value, (range, slice)):
        ends = ((f".{name}", getattr(value, name)) for name in ("start", "stop", "step"))
        return Record(_kind(value), tuple(ends))
    return NotImplemented


# --- values with parts --------------------------------------------------------------------------------------


def _read_fields(value: Any, read_part: Callable[[Any], Any]) -> Any:
    """Read named tuples, dataclasses and classes of attrs by their declared fields, private ones included."""
    if isinstance(value, type):
        return NotImplemented
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
    elif hasattr(type(value), "__attrs_attrs__"):
        names = [field.name for field in type(value).__attrs_attrs__]
    elif isinstance(value, tuple) and hasattr(type(value), "_fields"):
        fields: Any = type(value)
        names = list(fields._fields)  # the documented name
    else:
        return NotImplemented
    absent = object()
    declared = [(name, getattr(value, name, absent)) for name in names]
    parts = [(attribute(name), read_part(part)) for name, part in declared if part is not absent]
    own = _attributes(value, read_part, left_out=frozenset(names))
    if not parts and not own:  # a marker: all there is to know is its type
        return Record(_kind(value), ())
    return Record(_kind(value), (*parts, *own))


def _read_mapping(value: Any, read_part: Callable[[Any], Any]) -> Any:
    if not isinstance(value, Mapping):
        return NotImplemented
    parts = [(item(read_part(key)), read_part(part)) for key, part in value.items()]
    if not isinstance(value, dict):  # a dict keeps the order of insertion, which is part of what it shows
        parts.sort(key=lambda part: part[0])
    return Record(_kind(value), (*parts, *_attributes(value, read_part)))


def _read_set(value: Any, read_part: Callable[[Any], Any]) -> Any:
    if not isinstance(value, AbstractSet):
        return NotImplemented
    members = tuple(sorted((read_part(part) for part in value), key=_rank))
    return Record(_kind(value), (("", members), *_attributes(value, read_part)))


def _rank(member: Any) -> tuple[float, str]:
    """Order members by value where they are numbers: the order of a hash table tells the process."""
    number = float("inf")
    if isinstance(member, (int, float)):
        number = _number(float, member)
    return (float("inf") if number != number else number), written(member)  # noqa: PLR0124  # NaN


def _read_sequence(value: Any, read_part: Callable[[Any], Any]) -> Any:
    if isinstance(value, Iterator) or not isinstance(value, (Sequence, ValuesView)):
        return NotImplemented
    return Record(_kind(value), (("", tuple([read_part(part) for part in value])), *_attributes(value, read_part)))


def _read_collection(value: Any, read_part: Callable[[Any], Any]) -> Any:
    if isinstance(value, Iterator) or not isinstance(value, Collection):
        return NotImplemented
    if not callable(getattr(type(value), "__getitem__", None)) and type(value).__name__ != "deque":
        return NotImplemented  # without an order of its own
    return Record(_kind(value), (("", tuple([read_part(part) for part in value])), *_attributes(value, read_part)))


def _read_exception(value: Any, read_part: Callable[[Any], Any]) -> Any:
    if not isinstance(value, BaseException):
        return NotImplemented
    return Record(_kind(value), ((".args", read_part(value.args)), *_attributes(value, read_part)))


def _read_object(value: Any, read_part: Callable[[Any], Any]) -> Any:
    """Read an object by its public attributes, else by the repr that its class has defined."""
    if isinstance(value, Iterator):
        raise _UnreadableError
    parts = _attributes(value, read_part)
    if any(not (isinstance(part, Scalar) and part.kind == UNREADABLE) for _, part in parts):
        return Record(_kind(value), parts)
    text = repr(value)
    if _ADDRESS.search(text) or hex(id(value)) in text.lower():
        raise _UnreadableError
    return Scalar(_kind(value), text, _number(float, value) if hasattr(type(value), "__float__") else float("nan"))


def _attributes(
    value: Any, read_part: Callable[[Any], Any], left_out: frozenset[str] = frozenset()
) -> tuple[tuple[str, Any], ...]:
    """Return the public attributes that an object holds; private ones are marked as not read."""
    held = dict(getattr(value, "__dict__", {}))
    for cls in reversed(type(value).__mro__):
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if hasattr(value, name):
                held[name] = getattr(value, name)
    names = [name for name in held if isinstance(name, str) and name not in left_out]
    names = [name for name in names if not (name.startswith("__") and name.endswith("__"))]
    return tuple(
        (attribute(name), Scalar(UNREADABLE, "private") if name.startswith("_") else read_part(held[name]))
        for name in names
    )


# --- values of libraries ------------------------------------------------------------------------------------


def _read_numpy(value: Any, read_part: Callable[[Any], Any]) -> Any:
    numpy = sys.modules.get("numpy")
    return NotImplemented if numpy is None else read_numpy(numpy, value, read_part)


def _read_pandas(value: Any, read_part: Callable[[Any], Any]) -> Any:
    pandas = sys.modules.get("pandas")
    return (
        NotImplemented if pandas is None or not hasattr(pandas, "DataFrame") else read_pandas(pandas, value, read_part)
    )


def _read_array_like(value: Any, read_part: Callable[[Any], Any]) -> Any:
    """Read an array-like object (tensors, columns of other libraries) by way of numpy."""
    numpy = sys.modules.get("numpy")
    if numpy is None or isinstance(value, type) or not hasattr(type(value), "__array__"):
        return NotImplemented
    found = numpy.asarray(value)
    if found.dtype == object:
        return NotImplemented
    return Record(_kind(value), (("", read_part(found)),))


_READERS: list[Callable[[Any, Callable[[Any], Any]], Any]] = [
    _read_enum,
    _read_numpy,
    _read_pandas,
    _read_scalar,
    _read_complex,
    _read_derived,
    _read_buffer,
    _read_fields,
    _read_mapping,
    _read_set,
    _read_array_like,
    _read_sequence,
    _read_exception,
    _read_collection,
    _read_object,
]
