"""Encoding of messages between dpassay and a worker: JSON lines that preserve numbers exactly.

Floats travel as hexadecimal (many of them, and arrays, as the hexadecimal digits of their bytes), bytes likewise, an
exception that stands for an outcome as a symbol of its own, any other object as its plain value, with its parts and
its type (:mod:`dpassay.impl.libraries.reading`). Standard library only: this module also runs inside workers.

>>> decode(encode((1.5, None, True, "a", b"b", [2])))
(1.5, None, True, 'a', b'b', (2,))
"""

from __future__ import annotations

from array import array
from typing import Any

from dpassay.adapter import Raised
from dpassay.impl.libraries.plain import Record, Scalar
from dpassay.impl.libraries.reading import read

__all__ = ["decode", "encode"]

_ARRAYS = {"f": "<f8", "b": "<i8", "i": "<i8", "u": "<u8"}
"""The forms in which arrays of numbers travel, by the kinds of their types."""


def encode(value: Any) -> Any:  # noqa: PLR0911  # a form for each type
    """Return JSON for an outcome, an answer or a batch of them; foreign objects are encoded as plain values."""
    if value is None or type(value) in (bool, str, int):
        return value
    if _is_float(value):
        return {"f": float(value).hex()}
    if type(value) is bytes:
        return {"b": value.hex()}
    if isinstance(value, Raised):
        return {"raises": value.name}
    if type(value) in (list, tuple):
        if len(value) > 1 and all(map(_is_float, value)):
            return {"fs": array("d", value).tobytes().hex()}
        return [encode(part) for part in value]
    if type(value) is dict:
        return {"d": [[encode(key), encode(part)] for key, part in value.items()]}
    if type(value) in (set, frozenset):
        return {"s": sorted((encode(part) for part in value), key=repr)}
    return _encode_foreign(value)


def _is_float(value: Any) -> bool:
    return isinstance(value, float) and type(value).__module__ in {"builtins", "numpy"}


def _encode_foreign(value: Any) -> Any:
    dtype = getattr(value, "dtype", None)
    kind = getattr(dtype, "kind", "")
    if (
        kind in _ARRAYS
        and getattr(value, "ndim", 0) > 0
        and dtype is not None
        and dtype.itemsize <= 8
        and _is_plain(value)
    ):
        form = _ARRAYS[kind]
        return {"a": value.astype(form).tobytes().hex(), "t": "?" if kind == "b" else form, "n": list(value.shape)}
    plain = value if isinstance(value, (Record, Scalar)) else read(value)
    if isinstance(plain, Record):
        return {"o": plain.kind, "p": [[accessor, encode(part)] for accessor, part in plain.parts]}
    if isinstance(plain, Scalar):
        return {"v": plain.kind, "t": plain.text, "n": encode(plain.number)}
    return encode(plain)


def _is_plain(value: Any) -> bool:
    """Return whether an object is an array and nothing more: not masked, no column of a table."""
    return type(value).__name__ == "ndarray"


def decode(value: Any) -> Any:  # noqa: PLR0911  # a type for each form
    """Return the value passed to `encode`: lists as tuples, arrays of numpy, foreign objects as plain values."""
    if isinstance(value, list):
        return tuple(decode(part) for part in value)
    if not isinstance(value, dict):
        return value
    ((tag, body), *_) = value.items()
    if tag == "f":
        return float.fromhex(body)
    if tag == "fs":
        return tuple(array("d", bytes.fromhex(body)))
    if tag == "b":
        return bytes.fromhex(body)
    if tag == "raises":
        return Raised(body)
    if tag == "d":
        return {decode(key): decode(part) for key, part in body}
    if tag == "s":
        return frozenset(decode(part) for part in body)
    if tag == "a":
        return _decode_array(value)
    if tag == "o":
        return Record(body, tuple((accessor, decode(part)) for accessor, part in value["p"]))
    return Scalar(body, value["t"], decode(value["n"]))


def _decode_array(value: dict[str, Any]) -> Any:
    import numpy as np

    form = "<i8" if value["t"] == "?" else value["t"]
    numbers = np.frombuffer(bytes.fromhex(value["a"]), dtype=form).reshape(value["n"])
    return numbers.astype(bool) if value["t"] == "?" else numbers
