"""Kept post-processing: monotone functions of an affine expression that are released or compared with numbers."""

import math
import numbers
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from flint import arb

from dpassay.properties.tracing.forms import exact, is_number
from dpassay.properties.tracing.noisy import Noisy
from dpassay.properties.tracing.refusal import refuse
from dpassay.spec.ball import ball, precision
from dpassay.spec.leaves.model import Function, Step

if TYPE_CHECKING:
    from dpassay.properties.tracing.symbols import Symbol

__all__ = ["ROUNDINGS", "Image", "image_of"]

_HALF = Fraction(1, 2)
_ERFINV = "erfinv"
ROUNDINGS = {"floor", "ceil", "rint"}
"""Functions whose values are integers."""
_DOMAINS = {"log": (0, True), "log1p": (-1, True), "sqrt": (0, False)}
"""Where a function begins to be defined, and whether the end is left out."""
_KNOWN = {"exp": (Fraction(1), Fraction(0)), "expm1": (Fraction(0), Fraction(0)),
          "log": (Fraction(0), Fraction(1)), "log1p": (Fraction(0), Fraction(0)),
          "erfinv": (Fraction(0), Fraction(0))}  # fmt: skip
"""A value with a rational preimage, and the preimage."""
_INVERSES: dict[str, Callable[[arb], arb]] = {
    "exp": lambda y: y.log(), "expm1": lambda y: y.log1p(), "log": lambda y: y.exp(), "log1p": lambda y: y.expm1(),
    "erfinv": lambda y: y.erf(),
}  # fmt: skip
_BITS = 320
"""Precision of irrational preimages."""
_LARGEST_EXPONENT = 1000
_INFIMA = {"exp": Fraction(0), "expm1": Fraction(-1)}


class _Bound(NamedTuple):
    """The condition ``x > number`` (strict), or ``x >= number``; negated: its contrary.

    An irrational number lies between `number` and `upper`.
    """

    number: Fraction
    is_strict: bool
    is_negated: bool = False
    upper: Fraction | None = None


class Image(Noisy):
    """Functions that are monotone, applied to a symbol one after the other.

    Parameters
    ----------
    symbol : Symbol
        The argument.
    steps : tuple of Step
        The functions, as in `dpassay.spec.leaves.model.Image`.
    """

    __slots__ = ("steps", "symbol")

    def __init__(self, symbol: "Symbol", steps: tuple[Step, ...]) -> None:
        self.symbol = symbol
        self.steps = steps

    @property
    def is_strictly_monotone(self) -> bool:
        """Return whether different arguments have different images."""
        return not any(step[0] in ROUNDINGS for step in self.steps)

    def as_noise(self) -> Any:
        """Return a logarithm of a draw as a symbol of other noise; None if it is no noise of a known distribution."""
        name, rest = self.steps[0][0], self.steps[1:]
        if name not in {"log", "log1p"} or any(step[0] != "scale" for step in rest):
            return None
        value = self.symbol.run.logarithm((self.symbol + 1 if name == "log1p" else self.symbol).form)
        for step in rest if value is not None else ():
            value = value * step[1:][0] + step[1:][1]
        return value

    def then(self, name: str) -> Any:
        """Return the image under one more function."""
        if name in ROUNDINGS and self.steps[-1][0] in ROUNDINGS:
            return self
        if name in _DOMAINS and (noise := self.as_noise()) is not None:
            return image_of(noise, name)
        if name in _DOMAINS or name == _ERFINV:
            refuse(f"{name} of a function of a noisy value")
        return Image(self.symbol, (*self.steps, (name,)))

    def _scaled(self, factor: Fraction, shift: Fraction) -> Any:
        if not factor:
            return float(shift)
        last = self.steps[-1]
        if last[0] != "scale":
            return Image(self.symbol, (*self.steps, ("scale", factor, shift)))
        a, b = last[1:]
        if factor * a == 1 and factor * b + shift == 0 and len(self.steps) > 1:
            return Image(self.symbol, self.steps[:-1])
        return Image(self.symbol, (*self.steps[:-1], ("scale", factor * a, factor * b + shift)))

    def __add__(self, other: Any) -> Any:
        if is_number(other):
            number = exact(other)
            return float(other) if number is None else self._scaled(Fraction(1), number)
        if isinstance(other, Noisy) and (noise := self.as_noise()) is not None:
            return noise + other
        return self._refused("a sum", other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return (
            self + (-other) if is_number(other) or isinstance(other, Noisy) else self._refused("a difference", other)
        )

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __neg__(self) -> Any:
        return self._scaled(Fraction(-1), Fraction(0))

    def __pos__(self) -> "Image":
        return self

    def __mul__(self, other: Any) -> Any:
        if is_number(other) and (factor := exact(other)) is not None:
            return self._scaled(factor, Fraction(0))
        return self._refused("a product", other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if is_number(other) and (divisor := exact(other)):
            return self._scaled(1 / divisor, Fraction(0))
        return self._refused("a quotient", other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._refused("a quotient", other)

    def _refused(self, operation: str, other: Any) -> Any:
        if not isinstance(other, Noisy) and not is_number(other):
            return NotImplemented
        return refuse(f"{operation} with a function of a noisy value")

    def __abs__(self) -> Any:
        return self if self >= 0 else -self

    def __floor__(self) -> Any:
        return self.then("floor")

    def __ceil__(self) -> Any:
        return self.then("ceil")

    def __trunc__(self) -> Any:
        if self.steps[-1][0] in ROUNDINGS:
            return self
        return math.floor(self) if self >= 0 else math.ceil(self)

    def __round__(self, digits: int | None = None) -> Any:
        if digits:
            refuse("round() to digits of a function of a noisy value")
        return self.then("rint")

    def __bool__(self) -> bool:
        return not self == 0  # noqa: SIM201 - one way to decide

    # --- comparisons ---

    def __gt__(self, other: Any) -> Any:
        return self._exceeds(other, is_strict=True)

    def __ge__(self, other: Any) -> Any:
        return self._exceeds(other, is_strict=False)

    def __lt__(self, other: Any) -> Any:
        answer = self._exceeds(other, is_strict=False)
        return answer if answer is NotImplemented else not answer

    def __le__(self, other: Any) -> Any:
        answer = self._exceeds(other, is_strict=True)
        return answer if answer is NotImplemented else not answer

    def __eq__(self, other: object) -> Any:
        at_least = self._exceeds(other, is_strict=False)
        return at_least if at_least is NotImplemented else at_least and not self._exceeds(other, is_strict=True)

    def __ne__(self, other: object) -> Any:
        answer = self.__eq__(other)
        return answer if answer is NotImplemented else not answer

    __hash__ = Noisy.__hash__

    def _exceeds(self, other: Any, *, is_strict: bool) -> Any:
        if isinstance(other, Image):
            return self._exceeds_image(other, is_strict=is_strict)
        if isinstance(other, Noisy):
            noise = self.as_noise()
            if noise is None:
                refuse("a comparison of a function of a noisy value with a noisy value")
            return noise > other if is_strict else noise >= other
        if not is_number(other):
            return NotImplemented
        number = exact(other)
        if number is None:
            return bool(float(other) < 0)  # no number exceeds NaN
        condition = _pulled_back(self.steps, _Bound(number, is_strict))
        if isinstance(condition, bool):
            return condition
        if condition.upper is not None:
            answer = self._exceeds_enclosed(condition.number, condition.upper)
        elif condition.is_strict:
            answer = self.symbol > condition.number
        else:
            answer = self.symbol >= condition.number
        return answer is not condition.is_negated

    def _exceeds_enclosed(self, low: Fraction, high: Fraction) -> bool:
        """Compare the argument with an irrational number; between its bounds the run is undecided."""
        run, form = self.symbol.run, self.symbol.form
        answer = run.exceeds_enclosed(form, low, high)
        if answer is None:
            refuse(f"a comparison of {self.steps[0][0]} of a noisy value with a number")
        return bool(answer)

    def _exceeds_image(self, other: "Image", *, is_strict: bool) -> bool:
        if self.steps != other.steps and (noises := [self.as_noise(), other.as_noise()]).count(None) == 0:
            return bool(noises[0] > noises[1] if is_strict else noises[0] >= noises[1])
        if self.steps != other.steps or not (self.is_strictly_monotone or self.symbol.form == other.symbol.form):
            refuse("a comparison of two functions of noisy values")
        falls = sum(step[0] == "scale" and step[1:][0] < 0 for step in self.steps) % 2 == 1
        larger, smaller = (other.symbol, self.symbol) if falls else (self.symbol, other.symbol)
        return bool(larger > smaller) if is_strict else bool(larger >= smaller)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        from dpassay.properties.tracing.arrays import apply_ufunc

        return apply_ufunc(ufunc, method, inputs, options)


numbers.Real.register(Image)


def image_of(value: Any, name: str) -> Any:
    """Return a monotone function of a noisy value; outside its domain, the value that numpy gives.

    Parameters
    ----------
    value : Symbol or Image
        The argument; an exact number has an exact image.
    name : str
        The function, one of those of `dpassay.spec.leaves.model.Image`.
    """
    if isinstance(value, Image):
        return value.then(name)
    if (known := getattr(value, "image", None)) is not None:
        return known(name)
    if name in ROUNDINGS and value.run.is_integer(value.form):
        return value
    if name in ROUNDINGS and value.run.derives(value.form):
        return value.run.derived(Function(name), value.form)
    outside = _outside(value, name)
    return Image(value, ((name,),)) if outside is None else outside


def _outside(value: Any, name: str) -> float | None:
    """Return what numpy gives where a function is not defined; None where it is."""
    if name == _ERFINV:
        return math.nan if value < -1 or value > 1 else None
    if name not in _DOMAINS:
        return None
    end, is_open = _DOMAINS[name]
    if value < end:
        return math.nan
    return -math.inf if is_open and value == end else None


def _pulled_back(steps: tuple[Step, ...], bound: _Bound) -> _Bound | bool:
    """Return the condition on the argument that is equivalent to a bound on the image."""
    for step in reversed(steps):
        name, *parameters = step
        if bound.upper is not None and name != "scale":
            refuse("a comparison of a function of a noisy value with a number")
        if name == "scale":
            bound = _before_scale(parameters[0], parameters[1], bound)
        elif name in ROUNDINGS:
            bound = _before_rounding(name, bound)
        else:
            before = _before_function(name, bound)
            if isinstance(before, bool):
                return before
            bound = before
    return bound


def _before_scale(factor: Fraction, shift: Fraction, bound: _Bound) -> _Bound:
    ends = [None if end is None else (end - shift) / factor for end in (bound.number, bound.upper)]
    number, upper = ends if factor > 0 or ends[1] is None else ends[::-1]
    assert number is not None
    if factor > 0:
        return bound._replace(number=number, upper=upper)
    return _Bound(number, not bound.is_strict, not bound.is_negated, upper)


def _before_rounding(name: str, bound: _Bound) -> _Bound:
    least = math.floor(bound.number) + 1 if bound.is_strict else math.ceil(bound.number)  # image >= least
    if name == "floor":
        return bound._replace(number=Fraction(least), is_strict=False)
    if name == "ceil":
        return bound._replace(number=Fraction(least - 1), is_strict=True)
    return bound._replace(number=least - _HALF, is_strict=least % 2 != 0)  # halves are rounded to even


def _before_function(name: str, bound: _Bound) -> _Bound | bool:
    if name == "sqrt":
        return not bound.is_negated if bound.number < 0 else bound._replace(number=bound.number**2)
    if name in _INFIMA and bound.number <= _INFIMA[name]:
        return not bound.is_negated
    value, preimage = _KNOWN[name]
    if bound.number == value:
        return bound._replace(number=preimage)
    low, high = _enclosed(name, bound.number)
    return bound._replace(number=low, upper=high)


def _enclosed(name: str, number: Fraction) -> tuple[Fraction, Fraction]:
    """Return rational bounds on the argument at which a function has a value."""
    if name in {"log", "log1p"} and abs(number) > _LARGEST_EXPONENT:
        refuse(f"a comparison of {name} of a noisy value with a large number")
    with precision(_BITS):
        found = _INVERSES[name](ball(number))
        low, high = (end.fmpq() for end in (found.lower(), found.upper()))
    return Fraction(int(low.p), int(low.q)), Fraction(int(high.p), int(high.q))
