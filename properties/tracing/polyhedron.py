"""The noise and data that are consistent with the decisions of a run so far."""

from collections.abc import Sequence
from fractions import Fraction

from dpassay.properties.tracing.feasibility import Feasibility, feasibility
from dpassay.properties.tracing.forms import Form, Row
from dpassay.spec.leaves.model import NoiseKind

__all__ = ["Polyhedron"]

_MARGIN = 1e-7
"""A float point that satisfies constraints by this relative margin is inside; otherwise the programme is solved."""

_BELOW = {NoiseKind.EXPONENTIAL, NoiseKind.UNIFORM, NoiseKind.GEOMETRIC}
"""Noises that are bounded from below, by 0."""

Parallel = tuple[Fraction, bool]
"""The least value of a linear form, and whether it is left out."""


class Polyhedron:
    """Rows, with data that help to decide whether another one is possible.

    Parameters
    ----------
    kinds : dict of int to NoiseKind
        Distribution of each noise; shared with the run, which adds to it.
    """

    def __init__(self, kinds: dict[int, NoiseKind]) -> None:
        self.kinds = kinds
        self.rows: list[Row] = []
        self._touched: set[int] = set()
        self._least: dict[frozenset[tuple[int, Fraction]], Parallel] = {}
        self._point: dict[int, float] = {}

    def add(self, rows: Sequence[Row]) -> None:
        """Add rows; the supports of noises are known without them."""
        for row in rows:
            if not self.implies(row):
                self.rows.append(row)
                self._touched.update(row.form.terms)
                self._remember(row)

    def note(self, rows: Sequence[Row]) -> None:
        """Remember rows that the others imply, so that they need not be proved again."""
        for row in rows:
            if not self.implies(row):
                self._remember(row)

    def replace(self, key: int, rows: Sequence[Row]) -> None:
        """Put other rows in the place of those about a variable that stands for another one."""
        self.rows = [row for row in self.rows if key not in row.form.terms]
        self.add(rows)

    def _remember(self, row: Row) -> None:
        key, scale = _direction(row.form)
        self._least[key] = -row.form.constant / scale, row.is_strict

    def implies(self, row: Row) -> bool:
        """Return whether a parallel row, or the support of the noise, implies this one; False if in doubt."""
        if not row.form.terms:
            return row.form.constant > 0 or (not row.is_strict and row.form.constant == 0)
        key, scale = _direction(row.form)
        wanted = -row.form.constant / scale
        least, is_open = self._least.get(key) or self._support(row.form) or (None, False)
        if least is None:
            return False
        return least > wanted or (least == wanted and (is_open or not row.is_strict or self.has_density(row.form)))

    def is_empty_with(self, rows: Sequence[Row]) -> bool:
        """Return whether these rows contradict the others for certain, up to probability 0; False if in doubt."""
        rows = [row for row in rows if not self.implies(row)]
        if not rows or self._is_free(rows) or self._holds_at_point(rows):
            return False
        if any(self._is_contrary(row) for row in rows):
            return True
        answer, point = feasibility([self._as_strict(row) for row in (*self.rows, *rows, *self._supports(rows))])
        if answer is Feasibility.INTERIOR and not self._is_satisfied(self.rows):
            self._point = point
        return answer is Feasibility.EMPTY

    def interior_point(self) -> dict[int, float] | None:
        """Return a point inside, by variable; None if none was found, as where noise must be an integer."""
        if any(self.kinds.get(key) is NoiseKind.GEOMETRIC for row in self.rows for key in row.form.terms):
            return None
        if not self.rows:
            return {}
        answer, point = feasibility([self._as_strict(row) for row in (*self.rows, *self._supports(()))])
        return point if answer is Feasibility.INTERIOR else None

    def _supports(self, rows: Sequence[Row]) -> list[Row]:
        """Return the supports of the noises that occur here or in further rows."""
        touched = self._touched.union(*(row.form.terms for row in rows))
        return [row for key in sorted(touched) for row in self._support_rows(key)]

    def _support_rows(self, key: int) -> list[Row]:
        kind, zero, one = self.kinds.get(key), Fraction(0), Fraction(1)
        is_strict = kind is not NoiseKind.GEOMETRIC
        rows = [Row(Form(zero, {key: one}), is_strict)] if kind in _BELOW else []
        return [*rows, Row(Form(one, {key: -one}), is_strict=True)] if kind is NoiseKind.UNIFORM else rows

    def _support(self, form: Form) -> Parallel | None:
        """Return the least value of a multiple of a single bounded noise, scaled to coefficient 1 or -1."""
        if len(form.terms) != 1:
            return None
        [(key, factor)] = form.terms.items()
        kind = self.kinds.get(key)
        if factor > 0:
            return (Fraction(0), False) if kind in _BELOW else None
        return (Fraction(-1), True) if kind is NoiseKind.UNIFORM else None

    def has_density(self, form: Form) -> bool:
        """Return whether noise with a density occurs in a form: it is 0 with probability 0."""
        return any(self.kinds.get(key, NoiseKind.GEOMETRIC) is not NoiseKind.GEOMETRIC for key in form.terms)

    def _as_strict(self, row: Row) -> Row:
        """Return a row about noise as a strict one: the difference has probability 0."""
        return row._replace(is_strict=True) if self.has_density(row.form) else row

    def _is_contrary(self, row: Row) -> bool:
        """Return whether a parallel row says the contrary."""
        negated = Row(row.form.scaled(Fraction(-1)), not row.is_strict)
        return self.implies(negated) or (
            self.has_density(row.form) and self.implies(negated._replace(is_strict=False))
        )

    def _is_free(self, rows: Sequence[Row]) -> bool:
        """Return whether a variable without constraints and bounds makes all rows true."""
        for key, factor in rows[0].form.terms.items():
            if key in self._touched or not self._is_unbounded(key, factor > 0):
                continue
            if all(row.form.terms.get(key, 0) * factor > 0 for row in rows):
                return True
        return False

    def _is_unbounded(self, key: int, upwards: bool) -> bool:
        kind = self.kinds.get(key)
        return kind is not NoiseKind.UNIFORM and (upwards or kind not in _BELOW)

    def _holds_at_point(self, rows: Sequence[Row]) -> bool:
        return self._is_satisfied(rows) and self._is_satisfied(self.rows)

    def _is_satisfied(self, rows: Sequence[Row]) -> bool:
        """Return whether the point in floats is well inside all rows."""
        point = self._point
        for constant, terms in (row.form for row in rows):
            if any(key not in point for key in terms):
                return False
            parts = [float(value) * point[key] for key, value in terms.items()]
            if float(constant) + sum(parts) <= _MARGIN * (1 + abs(float(constant)) + sum(map(abs, parts))):
                return False
        return True


def _direction(form: Form) -> tuple[frozenset[tuple[int, Fraction]], Fraction]:
    """Return the linear part, scaled, and the positive number by which it was divided."""
    scale = abs(form.terms[min(form.terms)])
    if scale == 1:
        return frozenset(form.terms.items()), scale
    return frozenset((key, value / scale) for key, value in form.terms.items()), scale
