"""Integrals of products of functions of one or two variables, whose graph is a forest.

The integrand is a product of factors h(a u + b v + c), h piecewise an exponential polynomial. A variable with one
neighbour is integrated out, and leaves a function of that neighbour:

    m(v) = int f(u) prod_i h_i(a_i u + b_i v + c_i) du.

The kinks of f and of all h_i are lines u = slope v + offset. Between two neighbouring crossings of these lines their
order is fixed; the integrand between two neighbouring lines is a sum of terms u^k e^(r u) v^l e^(s v), and its
integral is one of terms v^l e^(s v). Every integral runs between lines, never as 1 minus another one.

The leaves of one mechanism have many functions m in common, and products of them: these are remembered, by the
identity of the functions that they are made of.
"""

import itertools
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from math import comb
from typing import Any, Generic, TypeVar

from flint import arb, ctx

from dpassay.spec.leaves.exponential_sums import ExponentialSum
from dpassay.spec.leaves.piecewise import (
    ONE,
    ZERO,
    Lift,
    Piecewise,
    Terms,
    add_to,
    antiderivative,
    inner_points,
    substituted,
)

__all__ = ["Factor", "NotAForestError", "forest_integral", "forget_integrals"]

REMEMBERED, PRODUCTS = 1 << 12, 1 << 9
"""Functions and products that are remembered; products are large, and leaves with common ones follow each other."""

C = TypeVar("C", arb, ExponentialSum)

Line = tuple[Fraction, Fraction]
"""u = slope v + offset."""

Bivariate = dict[tuple[int, Fraction], Terms[C]]
"""sum u^k e^(r u) g(v): the function g of v by (k, r)."""


class NotAForestError(ArithmeticError):
    """Raised when factors share variables in a cycle, or one of them has more than two."""


@dataclass(frozen=True)
class Factor(Generic[C]):
    """The function h(sum_i coefficient_i variable_i + constant).

    Parameters
    ----------
    function : Piecewise
        h.
    form : Mapping of variable to Fraction
        Coefficients, none of them 0.
    constant : Fraction
        The constant term.
    """

    function: Piecewise[C]
    form: Mapping[Hashable, Fraction]
    constant: Fraction = ZERO


def forest_integral(variables: Iterable[Hashable], factors: Iterable[Factor[C]], lift: Lift[C]) -> C:
    """Integrate the product of the factors over all variables.

    Parameters
    ----------
    variables : iterable of Hashable
        All variables.
    factors : iterable of Factor
        Functions of one or two of them; each variable decays in at least one.
    lift : callable
        Makes coefficients: `lift_ball` or `ExponentialSum.lift`.

    Raises
    ------
    NotAForestError
        If the graph of the factors is no forest.
    """
    alone: dict[Hashable, Piecewise[C] | None] = dict.fromkeys(variables)
    pairs: dict[frozenset[Hashable], list[Factor[C]]] = {}
    for factor in factors:
        if len(factor.form) == 1:
            ((variable, slope),) = factor.form.items()
            alone[variable] = _product(alone[variable], _composed(factor.function, slope, factor.constant, lift))
        elif len(factor.form) == 2:
            pairs.setdefault(frozenset(factor.form), []).append(factor)
        else:
            raise NotAForestError(f"a factor of {len(factor.form)} variables")
    one: Piecewise[C] = Piecewise((), ({(0, ZERO): lift(ONE, ZERO)},))
    known = {variable: one if function is None else function for variable, function in alone.items()}
    return _eliminated(known, pairs, lift)


def forget_integrals() -> None:
    """Forget all functions that are remembered, as where rules are changed."""
    for remembered in (_known_composed, _known_product, _known_message):
        remembered.cache_clear()


def _composed(function: Piecewise[C], slope: Fraction, offset: Fraction, lift: Lift[C]) -> Piecewise[C]:
    found: Piecewise[C] = _known_composed(function, slope, offset, lift, ctx.prec)
    return found


@lru_cache(maxsize=REMEMBERED)
def _known_composed(function: Any, slope: Fraction, offset: Fraction, lift: Any, _bits: int) -> Any:
    return function.composed(slope, offset, lift)


def _product(left: Piecewise[C] | None, right: Piecewise[C]) -> Piecewise[C]:
    """Multiply two functions, None for 1."""
    if left is None:
        return right
    found: Piecewise[C] = _known_product(left, right, ctx.prec)
    return found


@lru_cache(maxsize=PRODUCTS)
def _known_product(left: Any, right: Any, _bits: int) -> Any:
    return left.times(right)


def _eliminated(
    alone: dict[Hashable, Piecewise[C]], pairs: dict[frozenset[Hashable], list[Factor[C]]], lift: Lift[C]
) -> C:
    total = lift(ONE, ZERO)
    while alone:
        degrees = {variable: [pair for pair in pairs if variable in pair] for variable in alone}
        ends = [variable for variable in alone if len(degrees[variable]) <= 1]
        if not ends:
            raise NotAForestError(f"a cycle among {len(alone)} noises")
        variable = min(ends, key=lambda end: len(alone[end].kinks))
        function = alone.pop(variable)
        if not degrees[variable]:
            total = total * function.integral(lift)
            continue
        (pair,) = degrees[variable]
        (neighbour,) = pair - {variable}
        parts = tuple(
            (factor.function, factor.form[variable], factor.form[neighbour], factor.constant)
            for factor in pairs.pop(pair)
        )
        alone[neighbour] = _product(alone[neighbour], _known_message(function, parts, lift, ctx.prec))
    return total


@lru_cache(maxsize=REMEMBERED)
def _known_message(function: Any, parts: Any, lift: Any, _bits: int) -> Any:
    factors = [Factor(own, {_INNER: a, _OUTER: b}, constant) for own, a, b, constant in parts]
    return _integrated(function, _INNER, _OUTER, factors, lift)


_INNER, _OUTER = "inner", "outer"
"""Names of the two variables of a message, which does not depend on the names of noises."""


def _integrated(
    function: Piecewise[C], inner: Hashable, outer: Hashable, factors: Sequence[Factor[C]], lift: Lift[C]
) -> Piecewise[C]:
    """Integrate the product of the function and the factors over the inner variable."""
    lines: set[Line] = {(ZERO, kink) for kink in function.kinks}
    for factor in factors:
        a, b = factor.form[inner], factor.form[outer]
        lines |= {(-b / a, (kink - factor.constant) / a) for kink in factor.function.kinks}
    crossings = {(q - p) / (a - b) for (a, p), (b, q) in itertools.combinations(lines, 2) if a != b}
    kinks = tuple(sorted(crossings))
    strips = _Strips(function, inner, outer, factors, lift)
    return Piecewise(kinks, tuple(strips.integral(lines, at) for at in inner_points(kinks)))


@dataclass
class _Strips(Generic[C]):
    """Integrals between two lines, remembered: most of them recur in several intervals of the outer variable."""

    function: Piecewise[C]
    inner: Hashable
    outer: Hashable
    factors: Sequence[Factor[C]]
    lift: Lift[C]
    _known: dict[tuple[Line | None, Line | None, tuple[int, ...]], Terms[C]] = field(default_factory=dict)

    def integral(self, lines: Iterable[Line], at: Fraction) -> Terms[C]:
        """Return the integral over the inner variable, as a function of the outer one near `at`."""
        ordered: list[Line | None] = [*sorted(lines, key=lambda line: line[0] * at + line[1])]
        total: Terms[C] = {}
        for low, high in itertools.pairwise([None, *ordered, None]):
            pieces = self._pieces(low, high, at)
            if (low, high, pieces) not in self._known:
                self._known[low, high, pieces] = self._between(low, high, pieces)
            for key, value in self._known[low, high, pieces].items():
                add_to(total, key, value)
        return total

    def _pieces(self, low: Line | None, high: Line | None, at: Fraction) -> tuple[int, ...]:
        """Return which piece of each function holds between two lines that are neighbours at `at`."""
        ends = [None if line is None else line[0] * at + line[1] for line in (low, high)]
        inside: Fraction = _inside(ends[0], ends[1])
        own = self.function.index_at(inside)
        return own, *(factor.function.index_at(self._argument(factor, inside, at)) for factor in self.factors)

    def _argument(self, factor: Factor[C], inside: Fraction, at: Fraction) -> Fraction:
        return factor.form[self.inner] * inside + factor.form[self.outer] * at + factor.constant

    def _between(self, low: Line | None, high: Line | None, pieces: tuple[int, ...]) -> Terms[C]:
        """Integrate between two lines, given the piece of each function."""
        own = self.function.parts[pieces[0]]
        integrand: Bivariate[C] = {key: {(0, ZERO): value} for key, value in own.items()}
        for factor, piece in zip(self.factors, pieces[1:], strict=True):
            a, b = factor.form[self.inner], factor.form[self.outer]
            integrand = _times(integrand, _expanded(factor.function.parts[piece], a, b, factor.constant, self.lift))
        total: Terms[C] = {}
        for key, outer in integrand.items():
            whole = antiderivative({key: self.lift(ONE, ZERO)}, self.lift)
            for line, side in ((high, 1), (low, -1)):
                for left, value in _at_line(whole, line, side, self.lift).items():
                    for right, weight in outer.items():
                        add_to(total, (left[0] + right[0], left[1] + right[1]), value * weight)
        return total


def _inside(low: Fraction | None, high: Fraction | None) -> Fraction:
    if low is None:
        return ZERO if high is None else high - 1
    return low + 1 if high is None else (low + high) / 2


def _at_line(whole: Terms[C], line: Line | None, side: int, lift: Lift[C]) -> Terms[C]:
    """Return the antiderivative at one end of the integral, with its sign."""
    if line is not None:
        return substituted({key: value * lift(Fraction(side), ZERO) for key, value in whole.items()}, *line, lift)
    if any(side * r >= 0 for _, r in whole):
        raise ArithmeticError("the integrand does not decay")
    return {}


def _expanded(part: Terms[C], a: Fraction, b: Fraction, c: Fraction, lift: Lift[C]) -> Bivariate[C]:
    """Expand the function at a u + b v + c into terms of u with functions of v."""
    result: Bivariate[C] = {}
    for (k, r), x in part.items():
        for i in range(k + 1):
            rest = substituted({(k - i, r): x * lift(comb(k, i) * a**i, ZERO)}, b, c, lift)
            target = result.setdefault((i, r * a), {})
            for key, value in rest.items():
                add_to(target, key, value)
    return result


def _times(left: Bivariate[C], right: Bivariate[C]) -> Bivariate[C]:
    result: Bivariate[C] = {}
    for (k, r), g in left.items():
        for (m, s), h in right.items():
            target = result.setdefault((k + m, r + s), {})
            for (i, a), x in g.items():
                for (j, b), y in h.items():
                    add_to(target, (i + j, a + b), x * y)
    return result
