"""Numbers of the data in exact arithmetic, in place of floats: what a mechanism computes from data without rounding.

A float is the dyadic rational that it is. Sums, products, quotients and whole powers are rational; roots, logarithms
and exponentials are enclosed so narrowly that two of them are taken for equal where they differ by no more than that.
"""

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, fmpq

from dpassay.properties.tracing.forms import Form, exact, is_number
from dpassay.properties.tracing.refusal import refuse
from dpassay.properties.tracing.symbols import Symbol
from dpassay.spec.ball import precision

__all__ = ["ExactFloat", "ExactNumber"]

_BITS = 320
"""Precision of functions without rational values."""

_EQUAL = Fraction(1, 2**200)
"""Values of such functions closer than this, relative to the larger one, are equal: far above the error of their
enclosures, far below what a program tells apart on purpose."""

_CLOSE = Fraction(1, 2**45)
"""The same for numbers whose constants stand for others: some hundred times the rounding of a float."""

_LARGEST_POWER = 4096
"""Exponents beyond it are refused: the digits of a power grow with it."""

_LARGEST_EXPONENT = 1024
"""Exponentials of larger numbers are refused: floats do not hold them, and their digits grow with the argument."""

_FUNCTIONS: dict[str, Callable[[arb], arb]] = {
    "exp": arb.exp, "expm1": arb.expm1, "log": arb.log, "log1p": arb.log1p, "sqrt": arb.sqrt,
}  # fmt: skip
_ROUNDINGS: dict[str, Callable[[Fraction], int]] = {"floor": math.floor, "ceil": math.ceil, "rint": round}


class ExactNumber(Symbol):
    """A rational number that behaves as a float without rounding.

    Parameters
    ----------
    run : Run
        The run that it belongs to.
    value : Fraction
        The number.
    is_rounded : bool
        Whether it is the value of a function that is not rational.
    """

    __slots__ = ("is_rounded",)

    def __init__(self, run: Any, value: Fraction, *, is_rounded: bool = False) -> None:
        super().__init__(run, Form(value, {}))
        self.is_rounded = is_rounded

    @property
    def value(self) -> Fraction:
        """The number."""
        return self.form.constant

    def _of(self, value: Any, *others: Any) -> Any:
        """Return a result as a number of this kind, where neither noise nor infinity is in it."""
        if isinstance(value, Symbol):
            if value.form.terms:
                return value
            value = value.form.constant
        if isinstance(value, float):
            return value
        is_rounded = self.is_rounded or any(isinstance(other, ExactNumber) and other.is_rounded for other in others)
        return ExactNumber(self.run, Fraction(value), is_rounded=is_rounded)

    # --- arithmetic ---

    def __add__(self, other: Any) -> Any:
        return self._through(super().__add__(other), other)

    def __radd__(self, other: Any) -> Any:
        return self._through(super().__radd__(other), other)

    def __sub__(self, other: Any) -> Any:
        return self._snapped(self._through(super().__sub__(other), other), other)

    def __rsub__(self, other: Any) -> Any:
        return self._snapped(self._through((-self) + other, other), other)

    def __mul__(self, other: Any) -> Any:
        return self._through(super().__mul__(other), other)

    def __rmul__(self, other: Any) -> Any:
        return self._through(super().__rmul__(other), other)

    def __neg__(self) -> "ExactNumber":
        return ExactNumber(self.run, -self.value, is_rounded=self.is_rounded)

    def __abs__(self) -> "ExactNumber":
        return ExactNumber(self.run, abs(self.value), is_rounded=self.is_rounded)

    def __truediv__(self, other: Any) -> Any:
        _require_divisor(other)
        return self._through(super().__truediv__(other), other)

    def __rtruediv__(self, other: Any) -> Any:
        _require_divisor(self)
        if isinstance(other, Symbol):
            return other * ExactNumber(self.run, 1 / self.value, is_rounded=self.is_rounded)
        number = exact(other) if is_number(other) else None
        if number is None:
            return other / float(self.value) if is_number(other) else NotImplemented
        return self._of(number / self.value)

    def _through(self, result: Any, other: Any) -> Any:
        return result if result is NotImplemented else self._of(result, other)

    def _snapped(self, difference: Any, other: Any) -> Any:
        """Return 0 for the difference of two numbers that are taken for equal."""
        if isinstance(difference, ExactNumber) and (tolerance := difference.tolerance):
            size: Fraction = max(abs(self.value), abs(_value_of(other)))
            if abs(difference.value) <= tolerance * size:
                return ExactNumber(self.run, Fraction(0))
        return difference

    @property
    def tolerance(self) -> Fraction:
        """The relative difference of numbers that are taken for equal."""
        if self.run.mode.joins_close:
            return _CLOSE
        return _EQUAL if self.is_rounded else Fraction(0)

    def __floordiv__(self, other: Any) -> Any:
        return self._by(operator.floordiv, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return self._by(lambda a, b: b // a, other, is_divisor=True)

    def __mod__(self, other: Any) -> Any:
        return self._by(operator.mod, other)

    def __rmod__(self, other: Any) -> Any:
        return self._by(lambda a, b: b % a, other, is_divisor=True)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def _by(self, operation: Callable[[Fraction, Fraction], Any], other: Any, *, is_divisor: bool = False) -> Any:
        if isinstance(other, Symbol) and other.form.terms:
            refuse("division with a noisy value")
        if not isinstance(other, Symbol) and not is_number(other):
            return NotImplemented
        _require_divisor(self if is_divisor else other)
        if self.tolerance:
            refuse("the remainder of a rounded value")
        return self._of(Fraction(operation(self.value, _value_of(other))))

    def __pow__(self, other: Any) -> Any:
        if isinstance(other, Symbol) and other.form.terms:
            refuse("** of a noisy value")
        exponent = _value_of(other)
        if exponent == Fraction(1, 2):
            return self.image("sqrt")
        if exponent.denominator != 1 or abs(exponent) > _LARGEST_POWER or (self.value == 0 and exponent < 0):
            refuse("** of an exact number")
        return self._of(self.value ** int(exponent))

    def __rpow__(self, other: Any) -> Any:
        return ExactNumber(self.run, _value_of(other)) ** self

    # --- rounding, conversions ---

    def __floor__(self) -> int:
        return math.floor(self._settled())

    def __ceil__(self) -> int:
        return math.ceil(self._settled())

    def __trunc__(self) -> int:
        return math.trunc(self._settled())

    __int__ = __trunc__

    def __round__(self, digits: int | None = None) -> Any:
        value = self._settled()
        return round(value) if digits is None else ExactNumber(self.run, Fraction(round(value, digits)))

    def _settled(self) -> Fraction:
        """Return the number; a rounded one that is next to an integer is that integer, or cannot be told from it."""
        nearest = Fraction(round(self.value))
        is_near = abs(self.value - nearest) <= self.tolerance * abs(nearest)
        return nearest if is_near else self.value

    def __float__(self) -> float:
        return refuse("float() of an exact number")

    def __index__(self) -> int:
        raise TypeError("'float' object cannot be interpreted as an integer")

    def __hash__(self) -> int:
        return hash(self._settled())

    def is_integer(self) -> bool:
        """Return whether the number is whole."""
        return self._settled().denominator == 1

    def image(self, name: str) -> Any:
        """Return a function of the number: a float outside of its domain, as numpy does."""
        if name in _ROUNDINGS:
            return ExactNumber(self.run, Fraction(_ROUNDINGS[name](self._settled())))
        end = {"log": Fraction(0), "log1p": Fraction(-1), "sqrt": Fraction(0)}.get(name)
        if end is not None and self.value < end:
            return math.nan
        if name != "sqrt" and self.value == end:
            return -math.inf
        known = _rational_image(name, self.value)
        if known is not None:
            return self._of(known)
        if name not in _FUNCTIONS:
            refuse(f"{name} of an exact number")
        if name in {"exp", "expm1"} and abs(self.value) > _LARGEST_EXPONENT:
            refuse(f"{name} of a large number")
        with precision(_BITS):
            middle = _FUNCTIONS[name](arb(fmpq(self.value.numerator, self.value.denominator))).mid().fmpq()
        return ExactNumber(self.run, Fraction(int(middle.p), int(middle.q)), is_rounded=True)


def _rational_image(name: str, value: Fraction) -> Fraction | None:
    """Return the value of a function where it is rational."""
    if name == "sqrt":
        root = Fraction(math.isqrt(value.numerator), math.isqrt(value.denominator))
        return root if root * root == value else None
    if value == (1 if name == "log" else 0):
        return Fraction(name == "exp")
    return None


def _value_of(other: Any) -> Fraction:
    """Return a number that has no noise as a fraction."""
    if isinstance(other, Symbol):
        return other.form.constant
    number = exact(other) if is_number(other) else None
    return number if number is not None else refuse("an operation of an exact number with no finite number")


def _require_divisor(other: Any) -> None:
    """Refuse a division by 0: Python's floats raise there, and numpy's do not."""
    is_zero = isinstance(other, Symbol) and not other.form.terms and other.form.constant == 0
    if is_zero or (is_number(other) and other == 0):
        refuse("division by zero")


class _FloatType(type):
    """The type that stands for ``float`` in the code under test."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, float | ExactNumber)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, float)

    def __call__(cls, *arguments: Any) -> Any:
        [value] = arguments or (0.0,)
        if isinstance(value, np.ndarray) and value.dtype == object and value.size == 1:
            value = value.item()
        return value if isinstance(value, ExactNumber) else float(value)

    def __getattr__(cls, name: str) -> Any:
        return getattr(float, name)


class ExactFloat(metaclass=_FloatType):
    """The name ``float`` in the code under test: it keeps exact numbers; arrays of this type are arrays of floats."""

    dtype = np.dtype(np.float64)
