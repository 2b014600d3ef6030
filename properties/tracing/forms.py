"""Affine forms with exact coefficients, and the rows of a polyhedron."""

import functools
import math
import numbers
from collections.abc import Callable, Hashable, Iterable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from dpassay.properties.tracing.noisy import Noisy

__all__ = ["Form", "KnownForms", "Row", "combine", "exact", "is_number", "row"]


_PLAIN = {float, int}
_REAL = (numbers.Real, np.bool_)
_MOST_KNOWN = 1 << 16
"""Forms that are kept at most."""


class Form(NamedTuple):
    """A constant plus rational multiples of variables, which are numbered; no coefficient is 0."""

    constant: Fraction
    terms: Mapping[int, Fraction]

    def scaled(self, factor: Fraction) -> "Form":
        """Return the form times a number."""
        if not factor:
            return Form(Fraction(0), {})
        if factor == 1:
            return self
        if factor == -1:
            return Form(-self.constant, {key: -value for key, value in self.terms.items()})
        return Form(self.constant * factor, {key: value * factor for key, value in self.terms.items()})

    def value(self, point: Mapping[int, Fraction]) -> Fraction:
        """Return the value at a point."""
        return self.constant + sum((value * point[key] for key, value in self.terms.items()), Fraction(0))


class Row(NamedTuple):
    """A form that is at least 0, or above 0 if strict."""

    form: Form
    is_strict: bool

    @property
    def signature(self) -> tuple[Any, ...]:
        """The row as a value that can be compared."""
        return self.form.constant, frozenset(self.form.terms.items()), self.is_strict


def row(form: Form, *, is_strict: bool) -> Row:
    """Return the row that asks for a form above 0 (strict), or of at least 0."""
    return Row(form, is_strict)


def combine(parts: Iterable[tuple[Fraction, Form]]) -> Form:
    """Return a linear combination of forms."""
    constant, terms = Fraction(0), dict[int, Fraction]()
    for factor, form in parts:
        own_constant, own_terms = form.scaled(factor)
        constant += own_constant
        for key, value in own_terms.items():
            terms[key] = terms[key] + value if key in terms else value
    return Form(constant, {key: value for key, value in terms.items() if value})


class KnownForms:
    """Forms that runs with a common beginning make again: one object for each, so that comparing them is quick."""

    def __init__(self) -> None:
        self._variables: dict[int, Form] = {}
        self._known: dict[tuple[int, Hashable, Hashable], tuple[Form, tuple[Form, ...]]] = {}

    def variable(self, key: int) -> Form:
        """Return a variable."""
        return self._variables.setdefault(key, Form(Fraction(0), {key: Fraction(1)}))

    def added(self, left: Form, right: Form, *, is_minus: bool) -> Form:
        """Return the sum or the difference of two forms."""
        key = id(left), id(right), is_minus
        found = self._known.get(key)
        if found is None:
            sign = Fraction(-1 if is_minus else 1)
            found = self._keep(key, combine(((Fraction(1), left), (sign, right))), (left, right))
        return found[0]

    def with_number(self, operation: tuple[str, Hashable], form: Form, make: Callable[[Form], Form]) -> Form:
        """Return the result of an operation with a number, which `make` carries out."""
        key = id(form), *operation
        return (self._known.get(key) or self._keep(key, make(form), (form,)))[0]

    def _keep(self, key: Any, made: Form, parents: tuple[Form, ...]) -> tuple[Form, tuple[Form, ...]]:
        """Keep a form with those that it comes from: while these live on, their ids are their own."""
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        self._known[key] = found = made, parents
        return found


def is_number(value: Any) -> bool:
    """Return whether `value` is a real number of Python or numpy; noisy values are not."""
    return type(value) in _PLAIN or (isinstance(value, _REAL) and not isinstance(value, Noisy))


def exact(value: Any) -> Fraction | None:
    """Return a number as a fraction, a float as the dyadic rational that it is; None if it is not finite."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return _fraction_of(value) if math.isfinite(value) else None
    return _fraction_of(value) if type(value) is int else Fraction(value)


@functools.lru_cache(1 << 12)
def _fraction_of(value: float) -> Fraction:
    return Fraction(value)
