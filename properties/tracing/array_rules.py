"""Own rules for functions of numpy on arrays of symbols.

Functions without a rule here are carried out by numpy's own code on arrays of objects: the elements take the
decisions, and refuse what they do not support.
"""

import bisect
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpassay.properties.tracing.arrays import RULES, along, apply_ufunc, lowered, objects, over, wrap
from dpassay.properties.tracing.conditions import Condition, as_number, decided
from dpassay.properties.tracing.forms import is_number
from dpassay.properties.tracing.noisy import Noisy
from dpassay.properties.tracing.orders import first_largest, first_smallest, order, partition_order, refuse_ties
from dpassay.properties.tracing.refusal import refuse
from dpassay.properties.tracing.symbols import symbol_sum

__all__: list[str] = []

Rule = Callable[..., Any]


def _rule(*functions: Any) -> Callable[[Rule], Rule]:
    def enter(rule: Rule) -> Rule:
        RULES.update(dict.fromkeys(functions, rule))
        return rule

    return enter


def _refuse_out(out: Any) -> None:
    if out is not None:
        refuse("out= of a function of noisy values")


# --- order ---


@_rule(np.argmax)
def _argmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
    _refuse_out(out)
    return lowered(over(first_largest, objects(a), axis, keep_dims=keepdims is True))


@_rule(np.argmin)
def _argmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
    _refuse_out(out)
    return lowered(over(first_smallest, objects(a), axis, keep_dims=keepdims is True))


@_rule(np.argsort)
def _argsort(a: Any, axis: Any = -1, kind: Any = None, order_: Any = None, *, stable: Any = None) -> Any:  # noqa: ARG001
    def places(elements: list[Any]) -> list[int]:
        if kind != "stable" and stable is not True:
            refuse_ties([decided(element) for element in elements])
        return order(elements)

    return lowered(along(places, objects(a), axis))


@_rule(np.sort)
def _sort(a: Any, axis: Any = -1, kind: Any = None, order_: Any = None, *, stable: Any = None) -> Any:  # noqa: ARG001
    return lowered(along(lambda elements: [elements[k] for k in order(elements)], objects(a), axis))


@_rule(np.argpartition)
def _argpartition(a: Any, kth: Any, axis: Any = -1, kind: Any = None, order_: Any = None) -> Any:  # noqa: ARG001
    return lowered(along(_partitioning(kth), objects(a), axis))


@_rule(np.partition)
def _partition(a: Any, kth: Any, axis: Any = -1, kind: Any = None, order_: Any = None) -> Any:  # noqa: ARG001
    places = _partitioning(kth)
    return lowered(along(lambda elements: [elements[k] for k in places(elements)], objects(a), axis))


def _partitioning(kth: Any) -> Callable[[list[Any]], list[int]]:
    if np.ndim(kth) == 0:
        return lambda elements: partition_order([decided(element) for element in elements], int(kth))
    return order


@_rule(np.searchsorted)
def _searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    values = objects(a) if sorter is None else objects(a)[sorter]
    search = bisect.bisect_left if side == "left" else bisect.bisect_right
    return lowered(np.frompyfunc(lambda element: search(list(values), element), 1, 1)(objects(v)))


# --- truth ---


@_rule(np.any)
def _any(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = True) -> Any:
    return _truth_of(any, a, axis, out, keepdims, where)


@_rule(np.all)
def _all(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = True) -> Any:
    return _truth_of(all, a, axis, out, keepdims, where)


def _truth_of(function: Any, a: Any, axis: Any, out: Any, keepdims: Any, where: Any) -> Any:
    _refuse_out(out)
    if where not in (True, np._NoValue):  # noqa: SLF001 - numpy's sign for "not given"
        refuse("where= of a function of noisy values")
    return lowered(over(function, objects(a), axis, keep_dims=keepdims is True))


@_rule(np.count_nonzero)
def _count_nonzero(a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    return lowered(
        over(lambda elements: symbol_sum(map(_counted, elements)), objects(a), axis, keep_dims=keepdims is True)
    )


def _counted(element: Any) -> Any:
    number = as_number(element) if isinstance(element, Condition) else bool(element)
    return number if isinstance(number, Noisy) else int(number)


@_rule(np.nonzero)
def _nonzero(a: Any) -> Any:
    return np.nonzero(np.frompyfunc(bool, 1, 1)(objects(a)).astype(bool))


@_rule(np.where)
def _where(condition: Any, *branches: Any) -> Any:
    if not branches:
        return _nonzero(condition)
    return lowered(np.frompyfunc(_selected, 3, 1)(objects(condition), *(objects(branch) for branch in branches)))


def _selected(condition: Any, left: Any, right: Any) -> Any:
    if isinstance(condition, Condition):
        if not isinstance(left, Noisy) and left is right:
            return left
        if all(isinstance(branch, Condition | bool | np.bool_) for branch in (left, right)):
            return Condition(lambda: bool(left if condition else right))
        if condition.number is not None and all(
            is_number(branch) and math.isfinite(branch) for branch in (left, right)
        ):
            return condition.number * (Fraction(left) - Fraction(right)) + right
    return left if condition else right


# --- numbers ---


@_rule(np.cumsum)
def _cumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:  # noqa: ARG001
    values = objects(a).reshape(-1) if axis is None else objects(a)
    options = {"axis": axis or 0} | ({} if out is None else {"out": (out,)})
    return apply_ufunc(np.add, "accumulate", (values,), options)


@_rule(np.mean)
def _mean(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False) -> Any:  # noqa: ARG001
    _refuse_out(out)

    def mean(elements: list[Any]) -> Any:
        return symbol_sum(as_number(element) for element in elements) / np.float64(len(elements))

    return lowered(over(mean, objects(a), axis, keep_dims=keepdims is True))


@_rule(np.dot)
def _dot(a: Any, b: Any, out: Any = None) -> Any:
    _refuse_out(out)
    return lowered(np.dot(_numbers(a), _numbers(b)))


@_rule(np.inner, np.vdot)
def _inner(a: Any, b: Any) -> Any:
    return lowered(np.inner(_numbers(a), _numbers(b)))


def _numbers(a: Any) -> Any:
    return np.frompyfunc(decided, 1, 1)(objects(a))


@_rule(np.clip)
def _clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, **bounds: Any) -> Any:
    low, high = bounds.get("min", a_min), bounds.get("max", a_max)
    result = a if low is None else apply_ufunc(np.maximum, "__call__", (a, low), {})
    result = result if high is None else apply_ufunc(np.minimum, "__call__", (result, high), {})
    if out is None:
        return result
    out[...] = result
    return out


@_rule(np.round, np.around)
def _round(a: Any, decimals: int = 0, out: Any = None) -> Any:
    _refuse_out(out)
    return lowered(np.frompyfunc(lambda value: round(decided(value), decimals), 1, 1)(objects(a)))


# --- arrays of the same shape ---


def _filled(a: Any, value: Any, dtype: Any, shape: Any) -> Any:
    if dtype is not None and np.dtype(dtype).kind not in "fO":
        return np.full(np.shape(a) if shape is None else shape, value, dtype)
    return wrap(np.full(np.shape(a) if shape is None else shape, value, dtype=object))


@_rule(np.zeros_like)
def _zeros_like(a: Any, dtype: Any = None, order: Any = "K", subok: bool = True, shape: Any = None) -> Any:  # noqa: ARG001
    return _filled(a, 0.0, dtype, shape)


@_rule(np.empty_like)
def _empty_like(a: Any, dtype: Any = None, order: Any = "K", subok: bool = True, shape: Any = None) -> Any:  # noqa: ARG001
    return _filled(a, 0.0, dtype, shape)


@_rule(np.ones_like)
def _ones_like(a: Any, dtype: Any = None, order: Any = "K", subok: bool = True, shape: Any = None) -> Any:  # noqa: ARG001
    return _filled(a, 1.0, dtype, shape)


@_rule(np.full_like)
def _full_like(a: Any, fill_value: Any, dtype: Any = None, shape: Any = None, **_: Any) -> Any:
    result = _filled(a, 0.0, dtype, shape)
    result[...] = fill_value
    return result
