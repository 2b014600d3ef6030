"""Outcomes of runs as values that can be compared: on symbols, and on numbers at a point of noise and data."""

import dataclasses
import enum
import math
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Self

import numpy as np

from dpassay.lazy import special
from dpassay.properties.tracing.conditions import Condition
from dpassay.properties.tracing.forms import Form
from dpassay.properties.tracing.images import Image as NoisyImage
from dpassay.properties.tracing.noisy import Noisy
from dpassay.properties.tracing.refusal import refuse
from dpassay.properties.tracing.symbols import Symbol
from dpassay.spec.leaves.model import Affine, Image, Raised, Step

__all__ = ["Members", "TypeTag", "affine_of", "agrees", "first_outcome", "image_value", "normal_form"]

_RELATIVE = 1e-7
"""The relative distance at which a number agrees with its symbol: far above the rounding of a run in float64."""

_FUNCTIONS: dict[str, Callable[[float], float]] = {
    "exp": math.exp, "expm1": math.expm1, "log": math.log, "log1p": math.log1p, "sqrt": math.sqrt,
    "floor": math.floor, "ceil": math.ceil, "rint": round, "erfinv": lambda x: float(special.erfinv(x)),
}  # fmt: skip


class TypeTag(str):
    """The first part of a normal form with named parts, which follow as pairs: the name of the type.

    Parameters
    ----------
    name : str
        The name.
    has_fields : bool
        Whether the names are attributes; else they are keys.
    """

    __slots__ = ("has_fields",)
    has_fields: bool

    def __new__(cls, name: str, *, has_fields: bool = False) -> Self:
        """Write the name as an identifier."""
        kind = super().__new__(cls, re.sub(r"\W", "_", name))
        kind.has_fields = has_fields
        return kind


class Members(frozenset[Hashable]):
    """The normal form of a set; a frozenset stays what it is."""

    __slots__ = ()


def first_outcome(returned: Any) -> Any:
    """Return the only one of the outcomes that a sampler returned when it was asked for one."""
    try:
        count = len(returned)
    except TypeError:
        name = "a number" if isinstance(returned, Noisy) else type(returned).__name__
        refuse(f"a sampler that returns {name} in place of a sequence of outcomes")
    if isinstance(returned, str | bytes | Mapping | set | frozenset) or count != 1:
        refuse(f"a sampler that returns {count} outcomes when asked for 1")
    try:
        return returned[0]
    except LookupError:  # a table has columns, not rows
        refuse(f"a sampler that returns {type(returned).__name__}, whose first outcome is not its item 0")


def normal_form(value: Any, to_affine: Callable[[Symbol], Affine | Fraction]) -> Hashable:
    """Return an outcome as a value: lists and arrays as tuples, numbers as Python's, symbols as affine forms.

    Parameters
    ----------
    value : object
        The outcome.
    to_affine : callable
        Converts a symbol; a fraction if it is constant.

    Raises
    ------
    Refusal
        If it contains something that cannot be compared, such as an iterator.
    """

    def convert(part: Any) -> Hashable:
        if isinstance(part, Noisy):
            return _noisy(part, to_affine)
        if isinstance(part, Condition):
            return bool(part)
        if isinstance(part, np.generic):
            part = part.item()
        if isinstance(part, float) and math.isnan(part):
            return math.nan
        if part is None or isinstance(part, str | bytes | int | float | Fraction | enum.Enum | Raised):
            return part
        return _container(part, convert)

    return convert(value)


def _noisy(value: Noisy, to_affine: Callable[[Symbol], Affine | Fraction]) -> Hashable:
    if isinstance(value, Symbol):
        return to_affine(value)
    assert isinstance(value, NoisyImage)
    form = to_affine(value.symbol)
    if isinstance(form, Fraction):
        return image_value(value.steps, float(form))
    return Image(value.steps, form)


def _container(value: Any, convert: Callable[[Any], Hashable]) -> Hashable:  # noqa: PLR0911 - a case for each type
    if isinstance(value, np.ndarray):
        return convert(list(value)) if value.ndim else convert(value.item())
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return _with_fields(value, value._fields, convert)
    if isinstance(value, list | tuple):
        return tuple(convert(part) for part in value)
    if isinstance(value, Mapping):
        pairs = [(convert(k), convert(v)) for k, v in value.items()]
        if not isinstance(value, dict):  # a dict keeps the order of insertion, which is part of what it shows
            pairs.sort(key=lambda pair: repr(pair[0]))
        return TypeTag(type(value).__name__), tuple(pairs)
    if isinstance(value, set | frozenset):
        members = Members if isinstance(value, set) else frozenset
        return members(convert(part) for part in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _with_fields(value, [field.name for field in dataclasses.fields(value)], convert)
    return refuse(f"an outcome that contains an object of type {type(value).__name__}")


def _with_fields(value: Any, names: Sequence[str], convert: Callable[[Any], Hashable]) -> Hashable:
    kind = TypeTag(type(value).__name__, has_fields=True)
    return kind, tuple((name, convert(getattr(value, name))) for name in names)


def agrees(symbolic: Hashable, numeric: Hashable, point: Callable[[Affine], Fraction]) -> bool:
    """Return whether an outcome on numbers is the outcome on symbols at a point, up to rounding.

    Parameters
    ----------
    symbolic, numeric : hashable
        Normal forms.
    point : callable
        The value of an affine form.
    """
    if isinstance(symbolic, Affine):
        return _is_near(float(point(symbolic)), numeric, _magnitude(symbolic, point))
    if isinstance(symbolic, Image):
        return _is_image(symbolic, numeric, point)
    if isinstance(symbolic, tuple) and isinstance(numeric, tuple):
        return len(symbolic) == len(numeric) and all(map(lambda a, b: agrees(a, b, point), symbolic, numeric))
    if isinstance(symbolic, int | float | Fraction) and isinstance(numeric, int | float):
        if symbolic == numeric or symbolic is numeric or isinstance(symbolic, int):
            return symbolic == numeric or symbolic is numeric
        return _is_near(float(symbolic), numeric, abs(float(symbolic)))
    return type(symbolic) is type(numeric) and symbolic == numeric


def _is_near(value: float, numeric: Hashable, magnitude: float) -> bool:
    if not isinstance(numeric, int | float):
        return False
    return abs(value - numeric) <= _RELATIVE * max(1.0, magnitude)


def _magnitude(form: Affine, point: Callable[[Affine], Fraction]) -> float:
    parts = [Affine(Fraction(0), {noise: c}) for noise, c in form.noise.items()]
    parts += [Affine(Fraction(0), {}, {index: c}) for index, c in form.data.items()]
    return abs(float(form.constant)) + sum(abs(float(point(part))) for part in parts)


def _is_image(symbolic: Image, numeric: Hashable, point: Callable[[Affine], Fraction]) -> bool:
    """Compare up to rounding of the argument: near a jump both values are right."""
    if not isinstance(numeric, int | float):
        return False
    argument = float(point(symbolic.form))
    margin = _RELATIVE * max(1.0, _magnitude(symbolic.form, point))
    ends = [image_value(symbolic.steps, argument + sign * margin) for sign in (-1, 0, 1)]
    slack = _RELATIVE * max(1.0, *map(abs, ends))
    return min(ends) - slack <= numeric <= max(ends) + slack


def image_value(steps: tuple[Step, ...], argument: float) -> float:
    """Return a function of a number in floats; NaN outside of its domain."""
    for name, *parameters in steps:
        if name == "scale":
            argument = float(parameters[0]) * argument + float(parameters[1])
        else:
            try:
                argument = float(_FUNCTIONS[name](argument))
            except ValueError:  # just outside the domain
                return math.nan
            except OverflowError:  # the argument is infinite, or its exponential is
                argument = math.copysign(math.inf, argument)
    return argument


def affine_of(form: Form, split: Callable[[int], Any], size: int) -> Affine | Fraction:
    """Return a form over numbered variables as a form over noises and data; a fraction if it is constant."""
    if not form.terms:
        return form.constant
    noise = {split(key): value for key, value in form.terms.items() if key >= size}
    data = {key if key >= 0 else size - 1 - key: value for key, value in form.terms.items() if key < size}
    return Affine(form.constant, noise, data)
