"""The operations of numpy's ufuncs on single elements that may be symbols or conditions."""

import math
import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from dpassay.properties.tracing.conditions import Condition, as_number, compare, connect, decided, negate
from dpassay.properties.tracing.derived import clipped, comparison, is_of_data, power
from dpassay.properties.tracing.images import image_of
from dpassay.properties.tracing.noisy import Noisy
from dpassay.properties.tracing.refusal import refuse

__all__ = ["element_operation", "larger", "smaller"]


def larger(left: Any, right: Any) -> Any:
    """Return the larger of two numbers; NaN if one of them is NaN."""
    if _is_nan(left) or _is_nan(right):
        return math.nan
    known = clipped(left, right, is_above=True)
    return (left if left >= right else right) if known is None else known


def smaller(left: Any, right: Any) -> Any:
    """Return the smaller of two numbers; NaN if one of them is NaN."""
    if _is_nan(left) or _is_nan(right):
        return math.nan
    known = clipped(left, right, is_above=False)
    return (left if left <= right else right) if known is None else known


def element_operation(ufunc: Any) -> Callable[..., Any]:
    """Return the operation of a ufunc on elements: ours where noise is in them, numpy's otherwise.

    Operations without an exact counterpart are refused when they meet noise.
    """
    name = ufunc.__name__
    if name in _LAZY:
        return _LAZY[name]
    own = _OPERATIONS.get(name)

    def operation(*elements: Any) -> Any:
        convert = as_number if name in _ARITHMETIC and _has_number(elements) else decided
        elements = tuple(convert(element) for element in elements)
        if not any(isinstance(element, Noisy) for element in elements):
            return ufunc(*(_in_numpy(element) for element in elements))
        if own is None and name in _EXACT and all(not isinstance(e, Noisy) or hasattr(e, "image") for e in elements):
            return _EXACT[name](*elements)
        if own is None and (known := _power(name, elements)) is not None:
            return known
        if own is None:
            refuse(f"numpy.{name} of a noisy value")
        return own(*(element.item() if isinstance(element, np.generic) else element for element in elements))

    return operation


def _has_number(elements: tuple[Any, ...]) -> bool:
    """Return whether one of the elements is not a truth value: then numpy takes truth values for 0 and 1."""
    return any(not isinstance(element, Condition | bool | np.bool_) for element in elements)


def _power(name: str, elements: tuple[Any, ...]) -> Any:
    if name == "square":
        return power(elements[0], 2)
    return power(*elements) if name in {"power", "float_power"} else None


def _in_numpy(element: Any) -> Any:
    """Return a float as numpy's, which divides by zero and takes logarithms as arrays do."""
    return np.float64(element) if type(element) is float else element


def _is_nan(value: Any) -> bool:
    return not isinstance(value, Noisy) and value != value  # noqa: PLR0124 - the test for NaN


def _divided(left: Any, right: Any) -> Any:
    return left / (np.float64(right) if isinstance(right, int | float) and right == 0 else right)


def _sign(value: Any) -> Any:
    if is_of_data(value):
        return comparison("greater", value, 0) - comparison("less", value, 0)
    return 1 if value > 0 else 0 if value == 0 else -1


def _logical(name: str) -> Callable[[Any, Any], Any]:
    def operation(left: Any, right: Any) -> Any:
        return connect(name, _truth(left), _truth(right))

    return operation


def _bitwise(name: str, ufunc: Any) -> Callable[[Any, Any], Any]:
    def operation(left: Any, right: Any) -> Any:
        if all(isinstance(value, Condition | bool | np.bool_) for value in (left, right)):
            return connect(name, left, right)
        if isinstance(left, Noisy) or isinstance(right, Noisy):
            refuse(f"numpy.{ufunc.__name__} of a noisy value")
        return ufunc(decided(left), decided(right))

    return operation


def _truth(value: Any) -> Any:
    return Condition(lambda: bool(value)) if isinstance(value, Noisy) else value


def _inverted(value: Any) -> Any:
    if isinstance(value, Condition | bool | np.bool_):
        return negate(value)
    if isinstance(value, Noisy):
        refuse("numpy.invert of a noisy value")
    return ~value


_LAZY: dict[str, Callable[..., Any]] = {
    **{name: partial(compare, name)
       for name in ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")},
    **{f"logical_{name}": _logical(name) for name in ("and", "or", "xor")},
    "bitwise_and": _bitwise("and", np.bitwise_and),
    "bitwise_or": _bitwise("or", np.bitwise_or),
    "bitwise_xor": _bitwise("xor", np.bitwise_xor),
    "logical_not": lambda value: negate(_truth(value)),
    "invert": _inverted,
}  # fmt: skip

_EXACT: dict[str, Callable[..., Any]] = {
    "floor_divide": operator.floordiv,
    "remainder": operator.mod,
    "power": operator.pow,
    "float_power": operator.pow,
    "square": lambda value: value * value,
    "reciprocal": lambda value: 1 / value,
}
"""Operations on exact numbers that noise does not support."""

_ARITHMETIC = {"add", "subtract", "multiply", "divide"}

_OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": _divided,
    "negative": operator.neg,
    "positive": operator.pos,
    "absolute": abs,
    "fabs": abs,
    "conjugate": lambda value: value,
    "maximum": larger,
    "minimum": smaller,
    "fmax": lambda left, right: right if _is_nan(left) else left if _is_nan(right) else larger(left, right),
    "fmin": lambda left, right: right if _is_nan(left) else left if _is_nan(right) else smaller(left, right),
    "sign": _sign,
    "signbit": lambda value: value < 0,
    "isnan": lambda _: False,
    "isinf": lambda _: False,
    "isfinite": lambda _: True,
    "floor": math.floor,
    "ceil": math.ceil,
    "trunc": math.trunc,
    "rint": round,
    **{
        name: lambda value, name=name: image_of(value, name)
        for name in ("exp", "expm1", "log", "log1p", "sqrt", "erfinv")
    },
}
