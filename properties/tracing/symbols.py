"""Symbols: affine expressions in noise and data that behave as Python numbers.

Long sums are kept as a graph and added up when a decision needs them, so that summing n symbols costs time
proportional to n.
"""

import heapq
import itertools
import math
import numbers
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from dpassay.properties.tracing.forms import Form, combine, exact, is_number
from dpassay.properties.tracing.images import Image, image_of
from dpassay.properties.tracing.noisy import Noisy
from dpassay.properties.tracing.refusal import refuse
from dpassay.spec.leaves.model import Function

__all__ = ["Symbol", "constant_of", "symbol_sum"]

_EAGER_TERMS = 16
"""Sums of at most this many terms are computed at once; longer ones are when they are needed."""

_ORDER = itertools.count()
_ONE, _MINUS_ONE = Fraction(1), Fraction(-1)


class Symbol(Noisy):
    """An affine expression of one run.

    Parameters
    ----------
    run : Run
        The run whose noises occur in it; symbols of different runs cannot be combined.
    form : Form, optional
        The expression; None if it is the sum of `parts`.
    parts : tuple of (Fraction, Symbol)
        Factors and summands.
    """

    __slots__ = ("_form", "_order", "_parts", "run")

    def __init__(self, run: Any, form: Form | None, parts: tuple[tuple[Fraction, "Symbol"], ...] = ()) -> None:
        self.run = run
        self._form = form
        self._parts = parts
        self._order = next(_ORDER)

    @property
    def form(self) -> Form:
        """The expression, added up."""
        if self._form is None:
            self._form, self._parts = _add_up(self), ()
        return self._form

    @property
    def is_short(self) -> bool:
        """Return whether the expression is known and has few terms."""
        return self._form is not None and len(self._form.terms) <= _EAGER_TERMS

    @property
    def parts(self) -> tuple[tuple[Fraction, "Symbol"], ...]:
        """Factors and summands that have not been added up."""
        return self._parts if self._form is None else ()

    # --- arithmetic ---

    def __add__(self, other: Any) -> Any:
        return _sum(self, other, _ONE)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return _sum(self, other, _MINUS_ONE)

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __neg__(self) -> "Symbol":
        return _times(self, _MINUS_ONE)

    def __pos__(self) -> "Symbol":
        return self

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Symbol):
            return _product(self, other)
        if not is_number(other):
            return NotImplemented
        factor = exact(other)
        if factor is None:
            return math.nan if math.isnan(other) else _signed_infinity(self, float(other))
        return _times(self, factor, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, Symbol):
            if (divisor := constant_of(other)) is None:
                refuse("division by a noisy value")
            return self / divisor
        if not is_number(other):
            return NotImplemented
        divisor = exact(other)
        if divisor is None:
            return math.nan if math.isnan(other) else 0.0
        if divisor == 0:
            return _by_zero(self, other)
        return _times(self, 1 / divisor)

    def __rtruediv__(self, other: Any) -> Any:
        if not is_number(other):
            return NotImplemented
        if (divisor := constant_of(self)) is None:
            refuse("division by a noisy value")
        return other / float(divisor)

    def __pow__(self, exponent: Any) -> Any:
        if is_number(exponent) and exponent == 2 and self.run.derives(self.form):
            return self * self
        return Noisy.__pow__(self, exponent)

    def __abs__(self) -> "Symbol":
        if self.run.derives(self.form):
            made: Symbol = self.run.derived(Function.ABS, self.form)
            return made
        return self if self >= 0 else -self

    # --- comparisons: decisions ---

    def __lt__(self, other: Any) -> Any:
        return _compare(other, self, is_strict=True)

    def __le__(self, other: Any) -> Any:
        return _compare(other, self, is_strict=False)

    def __gt__(self, other: Any) -> Any:
        return _compare(self, other, is_strict=True)

    def __ge__(self, other: Any) -> Any:
        return _compare(self, other, is_strict=False)

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, Symbol) and not is_number(other):
            return NotImplemented
        difference = self - other
        if not isinstance(difference, Symbol):  # the other side is infinite or NaN
            return False
        return self.run.is_zero(difference.form)

    def __ne__(self, other: object) -> Any:
        answer = self.__eq__(other)
        return answer if answer is NotImplemented else not answer

    __hash__ = Noisy.__hash__

    def __bool__(self) -> bool:
        return not self == 0  # noqa: SIM201 - one way to decide

    # --- rounding: kept post-processing ---

    def __floor__(self) -> Any:
        return image_of(self, "floor")

    def __ceil__(self) -> Any:
        return image_of(self, "ceil")

    def __trunc__(self) -> Any:
        if self.run.is_integer(self.form):
            return self
        return math.floor(self) if self >= 0 else math.ceil(self)

    def __floordiv__(self, divisor: Any) -> Any:
        if not is_number(divisor) or not exact(divisor):
            return Noisy.__floordiv__(self, divisor)
        return math.floor(self / divisor)

    def __round__(self, digits: int | None = None) -> Any:
        if not digits:
            return image_of(self, "rint")
        power = 10**digits if digits > 0 else Fraction(1, 10**-digits)
        return image_of(self * power, "rint") / power

    def __float__(self) -> float:
        value = constant_of(self)
        return float(value) if value is not None else refuse("float() of a noisy value")

    # --- what numpy's floats have besides ---

    @property
    def real(self) -> "Symbol":
        """The expression itself."""
        return self

    @property
    def imag(self) -> float:
        """Zero."""
        return 0.0

    def conjugate(self) -> "Symbol":
        """Return the expression itself."""
        return self

    def item(self) -> "Symbol":
        """Return the expression itself."""
        return self

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        from dpassay.properties.tracing.arrays import apply_ufunc

        return apply_ufunc(ufunc, method, inputs, options)

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        from dpassay.properties.tracing.arrays import apply_function

        return apply_function(function, types, arguments, options)


numbers.Real.register(Symbol)


def constant_of(symbol: Symbol) -> Fraction | None:
    """Return the number that an expression is, or None if noise or data occur in it."""
    form = symbol.form
    return None if form.terms else form.constant


def symbol_sum(values: Iterable[Any]) -> Any:
    """Return the sum of numbers and symbols, in one step."""
    constant: Any = 0
    parts: list[tuple[Fraction, Symbol]] = []
    images: list[Any] = []
    for value in values:
        if isinstance(value, Symbol):
            parts.append((Fraction(1), value))
        elif isinstance(value, Image):
            images.append(value)
        else:
            constant = constant + value
    total: Any = constant
    if parts:
        total = Symbol(_common_run([symbol for _, symbol in parts]), None, tuple(parts)) + constant
    for image in images:
        total = image + total
    return total


def _common_run(symbols: Iterable[Symbol]) -> Any:
    symbols = iter(symbols)
    run = next(symbols).run
    if any(symbol.run is not run for symbol in symbols):
        refuse("a noisy value kept from an earlier call")
    return run


def _sum(left: Symbol, right: Any, sign: Fraction) -> Any:
    if isinstance(right, Symbol):
        run = left.run if left.run is right.run else _common_run((left, right))
        if left.is_short and right.is_short:
            return Symbol(run, run.forms.added(left.form, right.form, is_minus=sign is _MINUS_ONE))
        return Symbol(run, None, ((_ONE, left), (sign, right)))
    if not is_number(right):
        return NotImplemented
    number = exact(right)
    if number is None:
        return float(right) * float(sign)
    if left.is_short:
        return left if not number else _moved(left, sign * number, other=right, is_minus=sign is _MINUS_ONE)
    return Symbol(left.run, None, ((Fraction(1), left), (sign, Symbol(left.run, Form(number, {})))))


def _moved(symbol: Symbol, number: Fraction, *, other: Any, is_minus: bool) -> Symbol:
    """Return a short expression plus a number: `other`, or its contrary."""

    def make(form: Form) -> Form:
        return Form(form.constant + number, form.terms)

    key = ("minus" if is_minus else "plus"), other
    return Symbol(symbol.run, symbol.run.forms.with_number(key, symbol.form, make))


def _times(symbol: Symbol, factor: Fraction, other: Any = None) -> Symbol:
    """Return a multiple; `other` is the factor as the number that it was, which is quicker to compare."""
    if symbol.is_short or not factor:
        key = "times", factor if other is None else other
        return Symbol(symbol.run, symbol.run.forms.with_number(key, symbol.form, lambda form: form.scaled(factor)))
    return Symbol(symbol.run, None, ((factor, symbol),))


def _product(left: Symbol, right: Symbol) -> Symbol:
    _common_run((left, right))
    for one, other in ((left, right), (right, left)):
        if (factor := constant_of(one)) is not None:
            return _times(other, factor)
    squared = _square(left, right)
    return refuse("the product of two noisy values") if squared is None else squared


def _square(left: Symbol, right: Symbol) -> Symbol | None:
    """Return the product of two multiples of one function of data, if such functions are coordinates; else None."""
    if not left.run.derives(left.form) or not left.run.derives(right.form):
        return None
    key = min(right.form.terms)
    factor = left.form.terms.get(key, Fraction(0)) / right.form.terms[key]
    if not factor or right.form.scaled(factor) != left.form:
        return None
    return _times(left.run.derived(Function.SQUARE, right.form), factor)


def _signed_infinity(symbol: Symbol, infinity: float) -> float:
    if symbol == 0:
        return math.nan
    return infinity if symbol > 0 else -infinity


def _by_zero(symbol: Symbol, zero: Any) -> float:
    if not isinstance(zero, np.generic):
        raise ZeroDivisionError("float division by zero")
    return _signed_infinity(symbol, math.copysign(math.inf, float(zero)))


def _compare(larger: Any, smaller: Any, *, is_strict: bool) -> Any:
    """Decide ``larger > smaller`` (strict) or ``larger >= smaller``."""
    symbol = larger if isinstance(larger, Symbol) else smaller
    difference = larger - smaller if _is_real(larger) and _is_real(smaller) else NotImplemented
    if difference is NotImplemented:
        return NotImplemented
    if not isinstance(difference, Symbol):
        return bool(difference > 0)  # infinite or NaN
    return _common_run((symbol, difference)).decide(difference.form, is_strict=is_strict)


def _is_real(value: Any) -> bool:
    return isinstance(value, Symbol) or is_number(value)


def _add_up(symbol: Symbol) -> Form:
    """Add up a graph of sums: each node once, from the last to the first."""
    factors = {symbol._order: Fraction(1)}  # noqa: SLF001 - of its own class
    nodes = {symbol._order: symbol}  # noqa: SLF001
    waiting = [-symbol._order]  # noqa: SLF001
    known: list[tuple[Fraction, Form]] = []
    while waiting:
        order = -heapq.heappop(waiting)
        node, factor = nodes.pop(order), factors.pop(order)
        if not node.parts:
            known.append((factor, node.form))
        for weight, part in node.parts:
            key = part._order  # noqa: SLF001
            if key not in nodes:
                nodes[key], factors[key] = part, Fraction(0)
                heapq.heappush(waiting, -key)
            factors[key] += factor * weight
    return combine(known)
