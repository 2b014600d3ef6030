"""What travels between dpassay and a worker: JSON lines whose numbers arrive bit by bit as they were sent.

Floats travel as hexadecimal (many of them, and arrays, as the hexadecimal digits of their bytes), bytes likewise, an
exception that stands for an outcome as a symbol of its own. Standard library only: this module also runs inside
workers.

>>> decode(encode((1.5, None, True, "a", b"b", [2])))
(1.5, None, True, 'a', b'b', (2,))
"""

from __future__ import annotations

from array import array
from typing import Any

from dpassay.impl.libraries.kit import Raised

__all__ = ["decode", "encode"]


def encode(value: Any) -> Any:  # noqa: PLR0911  # a form for each type
    """Return JSON for an outcome, an answer or a batch of them; what has no form of its own travels as its repr."""
    if value is None or isinstance(value, (bool, str)) or type(value) is int:
        return value
    if isinstance(value, float):
        return {"f": float(value).hex()}
    if isinstance(value, (bytes, bytearray)):
        return {"b": bytes(value).hex()}
    if isinstance(value, Raised):
        return {"raises": value.name}
    if isinstance(value, (list, tuple)):
        if len(value) > 1 and all(isinstance(part, float) for part in value):
            return {"fs": array("d", value).tobytes().hex()}
        return [encode(part) for part in value]
    if isinstance(value, dict):
        return {"d": [[encode(key), encode(part)] for key, part in value.items()]}
    if isinstance(value, (set, frozenset)):
        return {"s": sorted((encode(part) for part in value), key=repr)}
    return _encode_foreign(value)


def _encode_foreign(value: Any) -> Any:
    dtype = getattr(value, "dtype", None)
    kind = getattr(dtype, "kind", "")
    if kind and hasattr(value, "tobytes"):
        if getattr(value, "ndim", 0) and kind in "biuf" and getattr(dtype, "itemsize", 99) <= 8:
            plain = (
                value.astype("<f8") if kind == "f" else value.astype("<i8") if kind in "bi" else value.astype("<u8")
            )
            form = {"f": "<f8", "b": "<i8", "i": "<i8", "u": "<u8"}[kind]
            return {"a": plain.tobytes().hex(), "t": "?" if kind == "b" else form, "n": list(value.shape)}
        return encode(value.tolist())
    if hasattr(value, "__index__"):
        return int(value.__index__())
    if hasattr(value, "__float__"):
        return encode(float(value))
    return {"r": repr(value)}


def decode(value: Any) -> Any:  # noqa: PLR0911  # a type for each form
    """Return what `encode` was given: lists as tuples, arrays as arrays of numpy, foreign objects as their repr."""
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
    return str(body)


def _decode_array(value: dict[str, Any]) -> Any:
    import numpy as np

    form = "<i8" if value["t"] == "?" else value["t"]
    numbers = np.frombuffer(bytes.fromhex(value["a"]), dtype=form).reshape(value["n"])
    return numbers.astype(bool) if value["t"] == "?" else numbers
