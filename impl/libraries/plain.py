"""Plain values: the form in which outcomes of any type are counted, compared, printed and encoded.

A plain value is None, a bool, an int, a float, a str, bytes, a tuple of plain values, a :class:`Record` or a
:class:`Scalar`. All of them are hashable, compare by value and have words that Python's own parser reads. Standard
library only, Python 3.9 or newer: this module also runs inside workers.
"""

from __future__ import annotations

import keyword
import math
from dataclasses import dataclass, field
from typing import Any

__all__ = ["NAN", "UNREADABLE", "Record", "Scalar", "attribute", "item", "numbers_of", "written"]

UNREADABLE = "unreadable"
"""The kind of the scalar that stands for an object that cannot be read; its text names the type."""

NAN = "<nan>"
"""The words of NaN, which equals nothing, not even itself."""

_LONG_INTEGER = 1 << 12  # bits: decimal digits of longer integers take quadratic time, and Python limits them


@dataclass(frozen=True)
class Scalar:
    """A value without parts that is of no built-in type.

    Parameters
    ----------
    kind : str
        The name of its type.
    text : str
        Different for different values of the type.
    number : float
        The value as a number, NaN if it is none. It follows from the text and takes no part in comparisons.
    """

    kind: str
    text: str
    number: float = field(default=math.nan, compare=False)


@dataclass(frozen=True)
class Record:
    """A value with named parts: a mapping, an object with attributes, a set, a sequence of a special type.

    Parameters
    ----------
    kind : str
        The name of its type.
    parts : tuple of (str, plain value)
        Each with its accessor, which is ``['key']``, ``.attribute``, or empty for the value without its attributes.
    """

    kind: str
    parts: tuple[tuple[str, Any], ...]

    def __getitem__(self, key: Any) -> Any:
        """Return the part with a key; elements of the value itself where it is a sequence."""
        found = dict(self.parts)
        return found[item(key)] if item(key) in found else found[""][key]

    def __getattr__(self, name: str) -> Any:
        """Return the part with the name of an attribute."""
        for accessor, part in self.__dict__.get("parts", ()):
            if accessor == f".{name}":
                return part
        raise AttributeError(name)


def item(key: Any) -> str:
    """Return the accessor of a key, a plain value.

    >>> item("a"), item((1, None))
    ("['a']", '[(1, None)]')
    """
    return f"[{written(key)}]"


def attribute(name: str) -> str:
    """Return the accessor of an attribute, whose name need not be a Python identifier."""
    return f".{name}" if name.isidentifier() and not keyword.iskeyword(name) else item(name)


def written(value: Any) -> str:
    """Return a plain value as text.

    >>> written(Record("Point", ((".x", 1), (".y", (2.5, None)))))
    'Point(x=1, y=(2.5, None))'
    >>> written(Record("dict", (("['a']", Scalar("Decimal", "1.50")),)))
    "{'a': Decimal('1.50')}"
    """
    if isinstance(value, float):
        return _written_float(value)
    if type(value) is int and value.bit_length() > _LONG_INTEGER:
        return hex(value)
    if isinstance(value, tuple):
        return f"({', '.join(map(written, value))}{',' * (len(value) == 1)})"
    if isinstance(value, Scalar):
        return f"{value.kind}({value.text!r})"
    return _written_record(value) if isinstance(value, Record) else repr(value)


def _written_float(value: float) -> str:
    if math.isnan(value):
        return repr(NAN)
    if math.isinf(value):
        return "1e999" if value > 0 else "-1e999"  # a literal that reads as infinity; inf is none
    return repr(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)


def _written_record(record: Record) -> str:
    keyed = ", ".join(f"{accessor[1:-1]}: {written(part)}" for accessor, part in record.parts if accessor[:1] == "[")
    if record.kind == "dict" and all(accessor[:1] == "[" for accessor, _ in record.parts):
        return f"{{{keyed}}}"
    words = [written(part) for accessor, part in record.parts if not accessor]
    words += [f"{{{keyed}}}"] if keyed else []
    words += [f"{accessor[1:]}={written(part)}" for accessor, part in record.parts if accessor[:1] == "."]
    return f"{record.kind}({', '.join(words)})"


def numbers_of(value: Any) -> Any:
    """Return a value with its numeric scalars as floats, such as the answer of an accountant.

    >>> numbers_of((Scalar("Fraction", "1/4", 0.25), {"rho": Scalar("Decimal", "0.5", 0.5)}))
    (0.25, {'rho': 0.5})
    """
    if isinstance(value, Scalar):
        return value if math.isnan(value.number) else value.number
    if isinstance(value, Record) and [accessor for accessor, _ in value.parts] == [""]:
        return numbers_of(value.parts[0][1])
    if isinstance(value, tuple):
        return tuple(map(numbers_of, value))
    return {key: numbers_of(part) for key, part in value.items()} if isinstance(value, dict) else value
