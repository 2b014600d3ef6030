"""Conversion of values of numpy and pandas; the caller passes the modules, which are never imported here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpassay.impl.libraries.plain import Record, Scalar, item

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["read_numpy", "read_pandas", "rows_of_masked", "rows_of_table"]

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
    if not isinstance(value, numpy.ma.MaskedArray):
        return shown
    parts = []
    if numpy.ma.getmaskarray(value).any():
        parts.append((".data", _read_array(value.data, read_part)))
    if repr(value.fill_value) != repr(numpy.ma.array(value.data).fill_value):
        parts.append((".fill_value", read_part(value.fill_value)))
    return Record("MaskedArray", (("", shown), *parts)) if parts else shown


def rows_of_masked(numpy: Any, value: Any) -> Any:
    """Return the rows of a masked array as masked arrays, NotImplemented for anything else."""
    if not isinstance(value, numpy.ma.MaskedArray) or value.ndim == 0:
        return NotImplemented
    return [value[k : k + 1].reshape(value.shape[1:]) for k in range(len(value))]


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
        name = () if value.names == [None] else ((".names", read_part(list(value.names))),)
        dtypes = _unusual([value.dtype], read_part)
        return Record(type(value).__name__, (("", read_part(value.tolist())), *name, *dtypes))
    return NotImplemented


def rows_of_table(pandas: Any, value: Any, read_part: Callable[[Any], Any]) -> Any:
    """Return the rows of a table, a column or an index, NotImplemented for anything else.

    What a table says beside its rows (attributes, names, unusual types, an index) is a part of every row.
    """
    if isinstance(value, pandas.DataFrame):
        kind, columns = "dict", [value.iloc[:, k] for k in range(value.shape[1])]
        names = [item(read_part(name)) for name in value.columns]
        own = () if value.columns.names == [None] else ((".columns", read_part(list(value.columns.names))),)
    elif isinstance(value, (pandas.Series, pandas.Index)):
        kind, columns, names = type(value).__name__, [value], [""]
        own = () if value.name is None else ((".name", read_part(value.name)),)
    else:
        return NotImplemented
    beside = (*own, *_beside(value, [column.dtype for column in columns], read_part))
    places = _places(pandas, value, read_part)
    cells = [column.tolist() for column in columns]
    if kind != "dict" and not beside and places is None:
        return cells[0]
    rows = []
    for k in range(len(value)):
        parts = [(name, read_part(column[k])) for name, column in zip(names, cells)]  # noqa: B905  # Python 3.9
        rows.append(Record(kind, (*parts, *(() if places is None else ((".index", places[k]),)), *beside)))
    return rows


def _beside(value: Any, dtypes: list[Any], read_part: Callable[[Any], Any]) -> tuple[tuple[str, Any], ...]:
    index = getattr(value, "index", None)
    names = () if index is None or index.names == [None] else ((".names", read_part(list(index.names))),)
    return (*names, *_unusual(dtypes, read_part), *(_attrs(value, read_part) if hasattr(value, "attrs") else ()))


def _places(pandas: Any, value: Any, read_part: Callable[[Any], Any]) -> Any:
    """Return the label of each row, None where an index only numbers the rows or there is none."""
    index = getattr(value, "index", None)
    return None if index is None or _is_plain(pandas, index) else [read_part(label) for label in index.tolist()]


def _is_plain(pandas: Any, index: Any) -> bool:
    return isinstance(index, pandas.RangeIndex) and (index.start, index.step) == (0, 1)


def _index(pandas: Any, value: Any, read_part: Callable[[Any], Any]) -> tuple[tuple[str, Any], ...]:
    index = value.index
    parts = () if _is_plain(pandas, index) else ((".index", read_part(index.tolist())),)
    return parts if index.names == [None] else (*parts, (".names", read_part(list(index.names))))


def _unusual(dtypes: list[Any], read_part: Callable[[Any], Any]) -> tuple[tuple[str, Any], ...]:
    """Return the types of columns, with all their categories, unless the values show them."""
    if all(str(dtype) in _SHOWN_DTYPES for dtype in dtypes):
        return ()
    words = [(str(dtype), *map(read_part, getattr(dtype, "categories", ()))) for dtype in dtypes]
    return ((".dtypes", tuple(words)),)


def _attrs(value: Any, read_part: Callable[[Any], Any]) -> tuple[tuple[str, Any], ...]:
    return ((".attrs", read_part(dict(value.attrs))),) if value.attrs else ()
