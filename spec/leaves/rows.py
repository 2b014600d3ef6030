"""Affine functions of noise, data x and a move Delta, as rows of linear programmes.

A form at x is a row in noise and ("data", i); at x + Delta each ("data", i) has a ("move", i) beside it.
"""

from collections.abc import Hashable, Mapping
from fractions import Fraction

from dpassay.spec.leaves.model import Affine, Constraint, Noise

__all__ = ["ONE", "Vector", "constraint_of", "row_of", "shifted_row"]

Vector = dict[Hashable, Fraction]
"""An affine function: coefficients by variable, and the constant at `ONE`."""

ONE = "1"
"""The name of the constant function."""


def row_of(form: Affine, *, moved: bool) -> Vector:
    """Write a form at x, or at x + Delta."""
    total: Vector = {ONE: form.constant}
    total.update(form.noise.items())
    for i, value in form.data.items():
        total["data", i] = value
        if moved:
            total["move", i] = value
    return total


def constraint_of(row: Vector) -> Constraint:
    """Write a row as a constraint whose data are both x and Delta."""
    data = {_index(name): value for name, value in row.items() if isinstance(name, tuple)}
    noise = {name: value for name, value in row.items() if isinstance(name, Noise)}
    return Constraint(Affine(row.get(ONE, Fraction(0)), noise, data))


def _index(name: tuple[str, int]) -> int:
    return 2 * name[1] + (name[0] == "move")


def shifted_row(row: Vector, shift: Mapping[Noise, Vector]) -> Vector:
    """Return the row at Z + s."""
    total = dict(row)
    for noise, own in shift.items():
        for name, value in own.items():
            total[name] = total.get(name, Fraction(0)) + row.get(noise, Fraction(0)) * value
    return total
