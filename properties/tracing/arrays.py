"""Arrays that hold symbols: numpy's protocols for ufuncs and functions, indexing and assignment."""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.properties.tracing.conditions import Condition, as_number, decided
from dpassay.properties.tracing.elements import element_operation
from dpassay.properties.tracing.noisy import Noisy
from dpassay.properties.tracing.orders import largest, smallest
from dpassay.properties.tracing.refusal import active, refuse
from dpassay.properties.tracing.symbols import symbol_sum

__all__ = ["SymbolArray", "apply_function", "apply_ufunc", "lowered", "objects", "wrap"]

RULES: dict[Any, Callable[..., Any]] = {}
"""Own rules for functions of numpy, entered by `array_rules`."""

_REDUCTIONS: dict[str, Callable[[list[Any]], Any]] = {
    "add": symbol_sum,
    "maximum": largest,
    "minimum": smallest,
    "logical_and": all,
    "logical_or": any,
}
_EMPTY = {"add": 0.0, "multiply": 1.0, "logical_and": True, "logical_or": False}


class SymbolArray(np.ndarray[Any, Any]):
    """An array of symbols, conditions and numbers."""

    __array_priority__ = 10.0

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return apply_ufunc(ufunc, method, inputs, options)

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        return apply_function(function, types, arguments, options)

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(_as_index(key))
        return found if isinstance(found, SymbolArray) else decided(found)

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(_as_index(key), value)

    def __bool__(self) -> bool:
        if self.size == 1:
            return bool(self.reshape(-1)[0])
        raise ValueError("The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()")

    def __iter__(self) -> Any:
        if self.ndim == 1:
            return (decided(element) for element in self.view(np.ndarray))
        return (self[place] for place in range(len(self)))

    def __reduce__(self) -> Any:
        refuse("pickling of noisy values")

    def __repr__(self) -> str:
        return refuse("formatting of noisy values") if active.run is not None else super().__repr__()

    __str__ = __repr__

    def item(self, *place: Any) -> Any:
        """Return one element."""
        return decided(super().item(*place))

    def tolist(self) -> Any:
        """Return the elements as nested lists."""
        return _element_wise(decided, self).view(np.ndarray).tolist()

    def astype(self, dtype: Any, *arguments: Any, **options: Any) -> Any:  # noqa: ARG002
        """Return the array with another type; symbols stay unchanged if the type is a float."""
        kind = np.dtype(dtype).kind
        if kind in "fO":
            return wrap(_element_wise(_as_float if kind == "f" else _unchanged, self))
        if kind == "b":
            return _element_wise(bool, self).astype(bool)
        if kind in "iu":
            whole = _element_wise(_as_whole, self)
            return wrap(whole) if _is_noisy(whole) else whole.astype(dtype)
        return refuse(f"conversion of noisy values to {np.dtype(dtype)}")

    def _by_rule(self, name: str, *arguments: Any, **options: Any) -> Any:
        return RULES[getattr(np, name)](self, *arguments, **options)

    argmax = functools.partialmethod(_by_rule, "argmax")
    argmin = functools.partialmethod(_by_rule, "argmin")
    argsort = functools.partialmethod(_by_rule, "argsort")
    argpartition = functools.partialmethod(_by_rule, "argpartition")
    clip = functools.partialmethod(_by_rule, "clip")
    cumsum = functools.partialmethod(_by_rule, "cumsum")
    dot = functools.partialmethod(_by_rule, "dot")
    mean = functools.partialmethod(_by_rule, "mean")
    nonzero = functools.partialmethod(_by_rule, "nonzero")
    round = functools.partialmethod(_by_rule, "round")
    searchsorted = functools.partialmethod(_by_rule, "searchsorted")

    def sort(self, axis: int = -1, **_: Any) -> None:  # type: ignore[override]
        """Sort in place."""
        self[...] = RULES[np.sort](self, axis)

    def partition(self, kth: Any, axis: int = -1, **_: Any) -> None:  # type: ignore[override]
        """Partition in place."""
        self[...] = RULES[np.partition](self, kth, axis)

    def tobytes(self, *_: Any) -> Any:
        """Refuse."""
        refuse("reading the digits of a noisy value")

    tostring = tofile = dump = dumps = tobytes  # type: ignore[assignment]


def wrap(values: NDArray[Any]) -> SymbolArray:
    """Return an array of objects as an array of symbols."""
    return np.asarray(values, dtype=object).view(SymbolArray)


def objects(value: Any) -> NDArray[Any]:
    """Return anything like an array as a plain array of objects."""
    if isinstance(value, np.ndarray):
        plain = value.view(np.ndarray)
        return plain if plain.dtype == object else plain.astype(object)
    if isinstance(value, Noisy | Condition):
        single = np.empty((), dtype=object)
        single[()] = value
        return single
    return np.array(value, dtype=object)


def lowered(values: Any) -> Any:  # noqa: PLR0911 - a case for each kind of elements
    """Return a result as numpy would: a plain array where all elements are numbers, an element where there is one.

    Floats stay in an array of symbols while arrays are lifted, so that symbols can be assigned to it.
    """
    if not isinstance(values, np.ndarray):
        return decided(values)
    values = objects(values)
    if active.run is not None and not active.run.mode.is_lazy:
        values = _element_wise(decided, values)
    if values.shape == ():
        return _plain_scalar(decided(values[()]))
    if values.size == 0:
        return values.astype(float)
    if any(isinstance(element, Noisy | Condition) for element in values.flat):
        return wrap(values)
    if all(isinstance(element, bool | np.bool_) for element in values.flat):
        return values.astype(bool)
    if all(isinstance(element, int | np.integer | np.bool_) for element in values.flat):
        return values.astype(np.int64)
    return _lowered_floats(values)


def _lowered_floats(values: NDArray[Any]) -> Any:
    if all(isinstance(element, int | float | np.number | np.bool_) for element in values.flat):
        is_lifted = active.run is not None and active.run.mode.is_lifted
        return wrap(values) if is_lifted else values.astype(float)
    return wrap(values)


def apply_ufunc(ufunc: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Carry out a ufunc, or one of its methods, element by element.

    Parameters
    ----------
    ufunc : numpy.ufunc
        The function.
    method : str
        ``__call__`` or the name of a method, such as ``reduce``.
    inputs : tuple
        Arrays or elements, some of them symbolic.
    options : dict
        Keyword arguments; `out` and `where` are removed.
    """
    out = options.pop("out", None)
    where = options.pop("where", True)
    if where is not True:
        refuse(f"where= of numpy.{ufunc.__name__} on noisy values")
    if ufunc is np.matmul:
        result = RULES[np.dot](*inputs)
    elif ufunc.signature is not None or ufunc.nout != 1:
        refuse(f"numpy.{ufunc.__name__} of a noisy value")
    elif method == "__call__":
        elements = np.frompyfunc(element_operation(ufunc), ufunc.nin, 1)
        result = lowered(elements(*(objects(x) for x in inputs)))
    else:
        result = _method(ufunc, method, inputs, options)
    return result if out is None else _stored(result, out[0], inputs)


def _method(ufunc: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    operation = element_operation(ufunc)
    if method == "reduce":
        return reduced(ufunc, operation, objects(inputs[0]), options)
    if method == "accumulate":
        axis = inputs[1] if len(inputs) > 1 else options.get("axis", 0)
        if ufunc is np.add:  # numpy counts truth values in sums, and joins them in additions
            operation = _added
        return lowered(along(functools.partial(_accumulated, operation), objects(inputs[0]), axis))
    if method == "outer":
        left, right = (objects(value) for value in inputs)
        left = left.reshape(left.shape + (1,) * right.ndim)
        return lowered(np.frompyfunc(operation, 2, 1)(left, right))
    return refuse(f"numpy.{ufunc.__name__}.{method} of noisy values")


def reduced(ufunc: Any, operation: Callable[..., Any], values: NDArray[Any], options: dict[str, Any]) -> Any:
    """Reduce along the axes of the options (the first by default; None: all).

    Parameters
    ----------
    ufunc : numpy.ufunc
        The function.
    operation : callable
        The same function of two elements.
    values : array
        The elements.
    options : dict
        Keyword arguments of ``ufunc.reduce``: `axis`, `keepdims`, `initial`.
    """
    axis, keep = options.get("axis", 0), options.get("keepdims", False) is True
    start = [] if isinstance(options.get("initial", np._NoValue), type(np._NoValue)) else [options["initial"]]  # noqa: SLF001
    start = [] if start == [None] else start
    combine: Callable[[list[Any]], Any] = _REDUCTIONS.get(
        ufunc.__name__, functools.partial(functools.reduce, operation)
    )

    def total(elements: list[Any]) -> Any:
        elements = [*start, *elements]
        if not elements and ufunc.__name__ not in _EMPTY:
            raise ValueError(f"zero-size array to reduction operation {ufunc.__name__} which has no identity")
        if not elements:
            return _EMPTY[ufunc.__name__]
        return combine([as_number(element) for element in elements] if ufunc is np.add else elements)

    return lowered(over(total, values, axis, keep_dims=keep))


def over(function: Callable[[list[Any]], Any], values: NDArray[Any], axis: Any, *, keep_dims: bool = False) -> Any:
    """Apply a function from a list to an element along an axis, along several, or to all elements (None).

    Parameters
    ----------
    function : callable
        A function of the list of elements along the axes.
    values : array
        The elements.
    axis : int, tuple of int or None
        The axes.
    keep_dims : bool
        Whether the axes stay, with length 1.
    """
    axes = tuple(range(values.ndim)) if axis is None else tuple(np.atleast_1d(axis) % max(values.ndim, 1))
    kept = [k for k in range(values.ndim) if k not in axes]
    shape = tuple(values.shape[k] for k in kept)
    flat = values.transpose(*kept, *axes).reshape(*shape, -1) if values.size else np.empty((*shape, 0), dtype=object)
    result = np.empty(shape, dtype=object)
    for place in np.ndindex(shape):
        result[place] = function(list(flat[place]))
    if keep_dims:
        result = result.reshape([1 if k in axes else values.shape[k] for k in range(values.ndim)])
    return result


def along(function: Callable[[list[Any]], list[Any]], values: NDArray[Any], axis: int | None) -> NDArray[Any]:
    """Apply a function from a list to a list of the same length along an axis (None: to all elements, flattened)."""
    values = values.reshape(-1) if axis is None else values
    moved = np.moveaxis(values, -1 if axis is None else axis, -1)
    result = np.empty(moved.shape, dtype=object)
    for place in np.ndindex(moved.shape[:-1]):
        for k, element in enumerate(function(list(moved[place]))):
            result[(*place, k)] = element
    return np.moveaxis(result, -1, -1 if axis is None else axis)


def apply_function(function: Any, types: Any, arguments: Any, options: Any) -> Any:
    """Carry out a function of numpy: by our own rule, or by its own code on arrays of objects.

    Parameters
    ----------
    function : callable
        The function of numpy.
    types, arguments, options
        As numpy passes them to ``__array_function__``.
    """
    if function in RULES:
        return RULES[function](*arguments, **options)
    if function.__module__.split(".")[-1] in {"linalg", "fft"}:
        refuse(f"{function.__module__}.{function.__name__} of noisy values")
    plain = np.ndarray.__array_function__(
        np.empty(0).view(SymbolArray),
        function,
        tuple(set(types) - {_symbol_type()} | {SymbolArray}),
        arguments,
        options,
    )
    return wrap(plain) if isinstance(plain, np.ndarray) and plain.dtype == object else plain


@functools.cache
def _symbol_type() -> Any:
    from dpassay.properties.tracing.symbols import Symbol

    return Symbol


def _stored(result: Any, out: Any, inputs: tuple[Any, ...]) -> Any:
    if isinstance(out, SymbolArray) or (isinstance(out, np.ndarray) and out.dtype == object):
        out[...] = result
        return out
    if _is_noisy(result):
        if active.run.mode.is_lifted and inputs and inputs[0] is out:
            return result  # a += b: Python binds the name to what is returned
        refuse("storing a noisy value in an array of numbers")
    np.copyto(out, np.asarray(result, dtype=out.dtype))
    return out


def _added(left: Any, right: Any) -> Any:
    return symbol_sum((decided(left), decided(right)))


def _accumulated(operation: Callable[..., Any], elements: list[Any]) -> list[Any]:
    result: list[Any] = []
    for element in elements:
        result.append(operation(result[-1], element) if result else element)
    return result


def _as_index(key: Any) -> Any:
    if isinstance(key, tuple):
        return tuple(_as_index(part) for part in key)
    if isinstance(key, Condition):
        return bool(key)
    if not isinstance(key, SymbolArray):
        return key
    plain = _element_wise(decided, key)
    if any(isinstance(element, Noisy) for element in plain.flat):
        refuse("use of a noisy value as an index")
    is_mask = all(isinstance(element, bool | np.bool_) for element in plain.flat)
    return plain.astype(bool if is_mask else np.int64)


def _element_wise(function: Callable[[Any], Any], values: NDArray[Any]) -> NDArray[Any]:
    result = np.empty(values.shape, dtype=object)
    result.reshape(-1)[:] = [function(element) for element in objects(values).flat] if values.size else []
    return result


def _as_float(element: Any) -> Any:
    element = as_number(element)
    return element if isinstance(element, Noisy) else float(element)


def _as_whole(element: Any) -> Any:
    if isinstance(element, Condition):
        return as_number(element) if element.number is not None else int(element)
    convert: Callable[[Any], Any] = math.trunc if isinstance(element, Noisy) else int
    return convert(element)


def _unchanged(element: Any) -> Any:
    return element


def _plain_scalar(element: Any) -> Any:
    if isinstance(element, Noisy):
        return element
    return np.asarray(element)[()] if isinstance(element, bool | int | float) else element


def _is_noisy(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.dtype == object and any(isinstance(element, Noisy | Condition) for element in value.flat)
    return isinstance(value, Noisy | Condition)
