"""Linear programmes in rational arithmetic: optima with dual certificates, and proofs that there is no solution.

The programmes of this folder minimise costs that are not negative,

    minimise c . x   subject to   A x >= b, x >= 0,   c >= 0,

so that the basis of slacks is dual feasible at the start and the dual simplex method needs no first phase. All numbers
are rational: nothing is rounded, an answer is exact, and ties are broken by the smallest index, which ends every run
(Bland's rule for the dual method).

Free variables are differences of two. Strict inequalities are decided by the largest margin that all of them share.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq

__all__ = ["Infeasible", "Optimum", "contradiction", "interior_point", "margin", "minimum"]

Row = Mapping[int, Fraction]
"""Coefficients by variable, zeros left out."""


@dataclass(frozen=True)
class Optimum:
    """A solution and its proof: `duals` are multipliers y >= 0 of the rows with y A <= c and y . b = value."""

    value: Fraction
    point: tuple[Fraction, ...]
    duals: tuple[Fraction, ...]


@dataclass(frozen=True)
class Infeasible:
    """A proof that no solution exists: multipliers y >= 0 of the rows with y A <= 0 and y . b > 0 (Farkas)."""

    multipliers: tuple[Fraction, ...]


def minimum(cost: Sequence[Fraction], rows: Sequence[tuple[Row, Fraction]]) -> Optimum | Infeasible:
    """Minimise cost . x subject to row . x >= bound for all rows and x >= 0.

    Parameters
    ----------
    cost : sequence of Fraction
        One for each variable, none negative.
    rows : sequence of (Row, Fraction)
        Left and right sides.

    Raises
    ------
    ValueError
        If a cost is negative: the method would not start.
    """
    if any(value < 0 for value in cost):
        raise ValueError(f"costs must not be negative, got {cost!r}")
    table = _Table(cost, rows)
    while (row := table.violated_row()) is not None:
        column = table.entering_column(row)
        if column is None:
            return Infeasible(table.multipliers(row))
        table.pivot(row, column)
    return table.optimum()


class _Table:
    """Basic variables as functions of the others; variables are numbered, slacks after the given ones."""

    def __init__(self, cost: Sequence[Fraction], rows: Sequence[tuple[Row, Fraction]]) -> None:
        self.count, self.slacks = len(cost), len(rows)
        self.others = list(range(self.count))
        self.basis = [self.count + i for i in range(self.slacks)]
        self.rows = [self._dense(row) for row, _ in rows]
        self.constants = [-_flint(bound) for _, bound in rows]
        self.costs = [_flint(value) for value in cost]
        self.value = fmpq(0)

    def _dense(self, row: Row) -> list[fmpq]:
        dense = [fmpq(0)] * self.count
        for j, value in row.items():
            dense[j] = _flint(value)
        return dense

    def violated_row(self) -> int | None:
        """Return the row of the first basic variable that is negative, None if there is none."""
        negative = [row for row in range(self.slacks) if self.constants[row] < 0]
        return min(negative, key=lambda row: self.basis[row], default=None)

    def entering_column(self, row: int) -> int | None:
        """Return the column that keeps all costs non-negative, None if the row stays negative for all points."""
        able = [(self.costs[j] / a, self.others[j], j) for j, a in enumerate(self.rows[row]) if a > 0]
        return min(able)[2] if able else None

    def pivot(self, row: int, column: int) -> None:
        """Exchange a basic variable with another one."""
        own, scale = self.rows[row], 1 / self.rows[row][column]
        solved = [-a * scale for a in own]
        solved[column] = scale
        offset = -self.constants[row] * scale
        for i, other in enumerate(self.rows):
            factor = other[column]
            if i != row and factor != 0:
                self.constants[i] += factor * offset
                self.rows[i] = _replaced(other, column, factor, solved)
        factor = self.costs[column]
        self.value += factor * offset
        self.costs = _replaced(self.costs, column, factor, solved)
        self.rows[row], self.constants[row] = solved, offset
        self.basis[row], self.others[column] = self.others[column], self.basis[row]

    def multipliers(self, row: int) -> tuple[Fraction, ...]:
        """Return Farkas multipliers: the row says s = -d - (non-negative combination), d > 0."""
        result = [Fraction(0)] * self.slacks
        if self.basis[row] >= self.count:
            result[self.basis[row] - self.count] = Fraction(1)
        for variable, a in zip(self.others, self.rows[row], strict=True):
            if variable >= self.count:
                result[variable - self.count] = _fraction(-a)
        return tuple(result)

    def optimum(self) -> Optimum:
        """Return the solution that the table shows."""
        point = [Fraction(0)] * self.count
        for variable, constant in zip(self.basis, self.constants, strict=True):
            if variable < self.count:
                point[variable] = _fraction(constant)
        duals = [Fraction(0)] * self.slacks
        for variable, cost in zip(self.others, self.costs, strict=True):
            if variable >= self.count:
                duals[variable - self.count] = _fraction(cost)
        return Optimum(_fraction(self.value), tuple(point), tuple(duals))


def _replaced(row: list[fmpq], column: int, factor: fmpq, solved: Sequence[fmpq]) -> list[fmpq]:
    """Substitute the solved variable of a column into a row."""
    if factor == 0:
        return row
    result = [a + factor * s if s != 0 else a for a, s in zip(row, solved, strict=True)]
    result[column] = factor * solved[column]
    return result


def _flint(value: Fraction) -> fmpq:
    return fmpq(value.numerator, value.denominator)


def _fraction(value: fmpq) -> Fraction:
    return Fraction(int(value.p), int(value.q))


# --- systems of strict inequalities in free variables -------------------------------------------------------


Form = tuple[Row, Fraction]
"""row . x + constant."""


def interior_point(forms: Sequence[Form], count: int, closed: Sequence[Form] = ()) -> tuple[Fraction, ...] | None:
    """Return a point of free variables with row . x + constant > 0 for all forms; None if there is none.

    Parameters
    ----------
    forms : sequence of Form
        Coefficients and constants.
    count : int
        Number of variables.
    closed : sequence of Form
        Forms that may be 0 as well.
    """
    found = _margin(forms, count, closed)
    return None if isinstance(found, Infeasible) or found.value >= 1 else _joined(found.point, count)


def contradiction(forms: Sequence[Form], count: int, closed: Sequence[Form] = ()) -> tuple[Fraction, ...] | None:
    """Return a proof that no point makes all forms positive and the closed ones not negative; None if there is one.

    The proof consists of multipliers y >= 0, first of the forms and then of the closed ones, with sum_i y_i row_i = 0
    and sum_i y_i constant_i below 0, or 0 with a positive multiplier of a form that must be positive.

    Parameters
    ----------
    forms, count, closed
        As for `interior_point`.
    """
    found = _margin(forms, count, closed)
    if isinstance(found, Infeasible):
        return found.multipliers
    return found.duals if found.value >= 1 else None


def margin(forms: Sequence[Form], count: int) -> tuple[Fraction, tuple[Fraction, ...], tuple[Fraction, ...]]:
    """Return the largest margin, at most 1, by which a point of free variables obeys all forms.

    Parameters
    ----------
    forms : sequence of Form
        Coefficients and constants.
    count : int
        Number of variables.

    Returns
    -------
    margin : Fraction
        The margin; negative where no point obeys all forms.
    point : tuple of Fraction
        A point that has it.
    duals : tuple of Fraction
        Multipliers that prove it: their combination of the forms is constant, and at most 0 if the margin is.
    """
    found = _margin(forms, count, ())
    assert isinstance(found, Optimum)  # a margin far below 0 is always possible
    return 1 - found.value, _joined(found.point, count), found.duals


def _margin(forms: Sequence[Form], count: int, closed: Sequence[Form]) -> Optimum | Infeasible:
    """Minimise 1 - margin, at least 0, such that row . x + constant >= margin for all forms, >= 0 for closed ones.

    Variables are the positive parts, the negative parts, and 1 - margin.
    """
    rows = [({**_split(row, count), 2 * count: Fraction(1)}, 1 - constant) for row, constant in forms]
    rows += [(_split(row, count), -constant) for row, constant in closed]
    return minimum([Fraction(0)] * (2 * count) + [Fraction(1)], rows)


def _split(row: Row, count: int) -> dict[int, Fraction]:
    return {**row, **{count + j: -a for j, a in row.items()}}


def _joined(point: Sequence[Fraction], count: int) -> tuple[Fraction, ...]:
    return tuple(point[j] - point[count + j] for j in range(count))
