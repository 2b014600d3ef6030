"""Emptiness of polyhedra, certified by a combination of rows in fractions.

A small linear programme is solved in fractions; a larger one is solved in floats, and proposes the combination.

By Farkas' lemma, rows ``c_i + a_i z >= 0`` contradict each other if weights ``y_i >= 0`` make ``sum y_i a_i`` vanish
and ``sum y_i c_i`` negative, or 0 where a strict row has a positive weight. Only a combination that holds in fractions
counts as a proof of emptiness.
"""

from collections.abc import Sequence
from enum import Enum
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpassay.properties.tracing.forms import Row
from dpassay.spec.leaves.programmes import margin

__all__ = ["Feasibility", "feasibility", "is_contradiction"]

_TOLERANCE = 1e-9
"""A larger margin of the float programme counts as an interior point."""

_DENOMINATOR = 10**6
"""The largest denominator of proposed multipliers, before they are made exact."""

_MOST_EXACT = 400
"""Rows times variables of a system that is solved in fractions, which is faster than floats up to about there."""

_MOST_ROWS = 400
"""Systems with more rows are not decided: the float programme becomes slow."""


class Feasibility(Enum):
    """The decision on a polyhedron."""

    INTERIOR = "has an interior point, in floats"
    EMPTY = "certified empty"
    DOUBTFUL = "neither"


def feasibility(rows: Sequence[Row]) -> tuple[Feasibility, dict[int, float]]:
    """Decide whether rows have a common solution; return also a point inside, by variable, if there is one.

    The point maximises the least slack of a row, relative to the row's largest coefficient.
    """
    if any(_is_absurd(row) for row in rows):
        return Feasibility.EMPTY, {}
    rows = [row for row in rows if row.form.terms]
    variables = sorted({key for row in rows for key in row.form.terms})
    if len(rows) * len(variables) <= _MOST_EXACT:
        return _exactly(rows, variables)
    return _in_floats_first(rows, variables) if len(rows) <= _MOST_ROWS else (Feasibility.DOUBTFUL, {})


def _exactly(rows: Sequence[Row], variables: Sequence[int]) -> tuple[Feasibility, dict[int, float]]:
    """Solve the programme in fractions; rows are scaled so that the largest coefficient is 1."""
    place = {key: column for column, key in enumerate(variables)}
    forms = []
    for row in rows:
        scale = max(abs(value) for value in row.form.terms.values())
        terms = {place[key]: value / scale for key, value in row.form.terms.items()}
        forms.append((terms, row.form.constant / scale))
    least, point, duals = margin(forms, len(variables))
    if least > _TOLERANCE:
        return Feasibility.INTERIOR, dict(zip(variables, map(float, point), strict=True))
    weights = [weight / max(map(abs, row.form.terms.values())) for weight, row in zip(duals, rows, strict=True)]
    return (Feasibility.EMPTY if is_contradiction(rows, weights) else Feasibility.DOUBTFUL), {}


def _in_floats_first(rows: Sequence[Row], variables: Sequence[int]) -> tuple[Feasibility, dict[int, float]]:
    """Solve the programme in floats, and certify in fractions that there is no point."""
    from scipy.optimize import linprog  # takes a while to import

    matrix, constants = _in_floats(rows, variables)
    ones = np.ones((len(rows), 1))
    bounds = [(None, None)] * len(variables) + [(None, 1.0)]
    cost = np.zeros(len(variables) + 1)
    cost[-1] = -1.0
    solution = linprog(cost, A_ub=np.hstack([-matrix, ones]), b_ub=constants, bounds=bounds, method="highs")
    if solution.status != 0 or solution.x is None or solution.ineqlin.marginals is None:
        return Feasibility.DOUBTFUL, {}
    if solution.x[-1] > _TOLERANCE:
        return Feasibility.INTERIOR, dict(zip(variables, solution.x[:-1].tolist(), strict=True))
    if is_contradiction(rows, _weights(rows, -solution.ineqlin.marginals / _scales(rows))):
        return Feasibility.EMPTY, {}
    return Feasibility.DOUBTFUL, {}


def is_contradiction(rows: Sequence[Row], weights: Sequence[Fraction]) -> bool:
    """Return whether the combination of the rows with these weights proves that they have no common solution."""
    if any(weight < 0 for weight in weights):
        return False
    total: dict[int, Fraction] = {}
    for row, weight in zip(rows, weights, strict=True):
        for key, value in row.form.terms.items():
            total[key] = total.get(key, Fraction(0)) + weight * value
    if any(total.values()):
        return False
    constant = sum((weight * row.form.constant for row, weight in zip(rows, weights, strict=True)), Fraction(0))
    is_strict = any(row.is_strict and weight > 0 for row, weight in zip(rows, weights, strict=True))
    return constant < 0 or (constant == 0 and is_strict)


def _is_absurd(row: Row) -> bool:
    constant, terms = row.form
    return not terms and (constant < 0 or (row.is_strict and constant == 0))


def _scales(rows: Sequence[Row]) -> NDArray[np.float64]:
    return np.array([float(max(abs(value) for value in row.form.terms.values())) for row in rows])


def _in_floats(rows: Sequence[Row], variables: Sequence[int]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    place = {key: column for column, key in enumerate(variables)}
    matrix = np.zeros((len(rows), len(variables)))
    for number, row in enumerate(rows):
        for key, value in row.form.terms.items():
            matrix[number, place[key]] = float(value)
    scales = _scales(rows)
    return matrix / scales[:, None], np.array([float(row.form.constant) for row in rows]) / scales


def _weights(rows: Sequence[Row], proposed: NDArray[np.float64]) -> list[Fraction]:
    """Return fractions near the proposed weights whose combination has no variables; all 0 if there are none."""
    used = [number for number, weight in enumerate(proposed) if weight > _TOLERANCE * proposed.max()]
    variables = sorted({key for number in used for key in rows[number].form.terms})
    matrix = [[rows[number].form.terms.get(key, Fraction(0)) for number in used] for key in variables]
    pivots = _reduce(matrix)
    top = Fraction(float(proposed.max())) if used else Fraction(1)
    values = [(Fraction(float(proposed[n])) / top).limit_denominator(_DENOMINATOR) for n in used]
    for line, column in enumerate(pivots):
        free = (matrix[line][k] * values[k] for k in range(len(used)) if k not in pivots)
        values[column] = -sum(free, Fraction(0))
    weights = [Fraction(0)] * len(rows)
    for number, value in zip(used, values, strict=True):
        weights[number] = value
    return weights


def _reduce(matrix: list[list[Fraction]]) -> list[int]:
    """Bring a matrix into reduced row echelon form, in place; return the columns of the pivots, line by line."""
    pivots: list[int] = []
    for column in range(len(matrix[0]) if matrix else 0):
        line = len(pivots)
        found = next((k for k in range(line, len(matrix)) if matrix[k][column]), None)
        if found is None:
            continue
        matrix[line], matrix[found] = matrix[found], matrix[line]
        pivot = matrix[line][column]
        matrix[line] = [value / pivot for value in matrix[line]]
        for k in range(len(matrix)):
            if k != line and (factor := matrix[k][column]):
                matrix[k] = [a - factor * b for a, b in zip(matrix[k], matrix[line], strict=True)]
        pivots.append(column)
    return pivots
