"""Conversion of values of numpy and pandas; the caller passes the modules, which are never imported here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpassay.impl.libraries.plain import Record, Scalar, item

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["read_numpy", "read_pandas"]

_WIDEST = 8  # bytes of a number that Python's own float or int holds
_SHOWN_DTYPES = frozenset({"int64", "float64", "bool", "object", "str"})
_PLAIN_KINDS, _TIME_KINDS = "biufUS", "mM"


def read_numpy(numpy: Any, value: Any, read_part: Callable[[Any], Any]) -> Any:
    """Return the plain value of a scalar or an array of numpy, NotImplemented for anything else.

    Arrays of numbers become nested tuples, structured ones records with the names of their fields.
    """
    if isinstance(value, numpy.ndarray):
        return _read_masked(numpy, value, read_part)
    if not isinstance(value, numpy.generic):
        return NotImplemented
    kind = value.dtype.kind
    if kind == "V" and value.dtype.names:
        return Record("void", tuple((item(name), read_part(value[name])) for name in value.dtype.names))
    if kind in _TIME_KINDS:
        number = float("nan") if numpy.isnat(value) else float(value.astype("int64"))
        return Scalar(value.dtype.name.partition("[")[0], f"{value} {value.dtype.name}", number)
    if kind == "f" and value.dtype.itemsize > _WIDEST:
        return Scalar("longdouble", str(value), float(value))
    return read_part(value.tobytes() if kind == "V" else value.item())


def _read_masked(numpy: Any, value: Any, read_part: Callable[[Any], Any]) -> Any:
    """Read an array; a mask covers values without removing them."""
    shown = _read_array(value, read_part)
    if not isinstance(value, numpy.ma.MaskedArray) or not numpy.ma.getmaskarray(value).any():
        return shown
    return Record("MaskedArray", (("", shown), (".data", _read_array(value.data, read_part))))


def _read_array(value: Any, read_part: Callable[[Any], Any]) -> Any:
    if value.ndim == 0:
        return read_part(value.tolist() if value.dtype.kind in _PLAIN_KINDS else value[()])
    if value.size == 0 and value.ndim > 1:
        return Record("array", ((".shape", value.shape),))
    if value.dtype.kind in _PLAIN_KINDS:
        return read_part(value.tolist())  # also where a mask makes None of some
    return tuple([read_part(part) for part in value])


def read_pandas(pandas: Any, value: Any, read_part: Callable[[Any], Any]) -> Any:
    """Return the plain value of a table, a column or an index, NotImplemented for anything else.

    A table has its columns as parts. An index that only numbers the rows is left out.
    """
    if isinstance(value, pandas.DataFrame):
        columns = [(item(read_part(name)), value.iloc[:, k]) for k, name in enumerate(value.columns)]
        parts = [(accessor, read_part(column.tolist())) for accessor, column in columns]
        names = [] if value.columns.names == [None] else [(".columns", read_part(list(value.columns.names)))]
        dtypes = _unusual([value.iloc[:, k].dtype for k in range(value.shape[1])], read_part)
        return Record(
            "DataFrame", (*parts, *_index(pandas, value, read_part), *names, *dtypes, *_attrs(value, read_part))
        )
    if isinstance(value, pandas.Series):
        parts = [("", read_part(value.tolist())), (".name", read_part(value.name))]
        dtypes = _unusual([value.dtype], read_part)
        return Record("Series", (*parts, *_index(pandas, value, read_part), *dtypes, *_attrs(value, read_part)))
    if isinstance(value, pandas.Index):
        return Record(type(value).__name__, (("", read_part(value.tolist())),))
    return NotImplemented


def _index(pandas: Any, value: Any, read_part: Callable[[Any], Any]) -> tuple[tuple[str, Any], ...]:
    index = value.index
    is_plain = isinstance(index, pandas.RangeIndex) and (index.start, index.step) == (0, 1)
    parts = () if is_plain else ((".index", read_part(index.tolist())),)
    return parts if index.names == [None] else (*parts, (".names", read_part(list(index.names))))


def _unusual(dtypes: list[Any], read_part: Callable[[Any], Any]) -> tuple[tuple[str, Any], ...]:
    """Return the types of columns, with all their categories, unless the values show them."""
    if all(str(dtype) in _SHOWN_DTYPES for dtype in dtypes):
        return ()
    words = [(str(dtype), *map(read_part, getattr(dtype, "categories", ()))) for dtype in dtypes]
    return ((".dtypes", tuple(words)),)


def _attrs(value: Any, read_part: Callable[[Any], Any]) -> tuple[tuple[str, Any], ...]:
    return ((".attrs", read_part(dict(value.attrs))),) if value.attrs else ()
