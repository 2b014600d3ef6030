"""Polyhedra of noise and data: rows of linear programmes, supports of noise, interiors."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction

from dpassay.spec.leaves.model import Affine, Constraint, Noise, NoiseKind, Relation
from dpassay.spec.leaves.programmes import Row, interior_point

__all__ = ["has_interior", "negated", "opposite", "shared", "support"]


def negated(form: Affine) -> Affine:
    """Return the form with the other sign."""
    return Affine(
        -form.constant,
        {noise: -value for noise, value in form.noise.items()},
        {index: -value for index, value in form.data.items()},
    )


def opposite(constraint: Constraint) -> Constraint:
    """Return the constraint that holds exactly where this one does not."""
    strict = constraint.relation is Relation.ABOVE
    return Constraint(negated(constraint.form), Relation.AT_LEAST if strict else Relation.ABOVE)


def has_interior(constraints: Iterable[Constraint]) -> bool:
    """Return whether for some data the noise has positive probability to obey all constraints and its supports.

    Constraints on noise are strict: their boundaries have probability 0. Those on data alone are strict as they say.
    """
    distinct = dict.fromkeys(constraints)
    if any(one.form.is_constant and not _holds(one) for one in distinct):
        return False
    left = _bound_together([one for one in distinct if not one.form.is_constant])
    noises = dict.fromkeys(noise for one in left for noise in one.form.noise)
    left += [one for noise in noises for one in support(noise)]
    variables = {name: j for j, name in enumerate(dict.fromkeys(_names([one.form for one in left])))}
    rows: dict[bool, list[tuple[Row, Fraction]]] = {True: [], False: []}
    for one in left:
        rows[bool(one.form.noise) or one.relation is Relation.ABOVE].append(_row(one.form, variables))
    return interior_point(rows[True], len(variables), rows[False]) is not None


def shared(constraints: Sequence[Constraint]) -> list[Constraint]:
    """Return the constraints without an unbounded variable of their own: no other constraint can be implied."""
    counts = Counter(name for one in constraints for name in _names([one.form]))
    return [one for one in constraints if not any(_is_own(name, counts) for name in _names([one.form]))]


def _is_own(name: Hashable, counts: Mapping[Hashable, int]) -> bool:
    return counts[name] == 1 and not (isinstance(name, Noise) and support(name))


def _bound_together(constraints: list[Constraint]) -> list[Constraint]:
    """Leave out constraints that a variable of their own makes true whatever the others ask, one after the other."""
    left = constraints
    while True:
        counts = Counter(name for one in left for name in _names([one.form]))
        kept = [
            one for one in left if not any(counts[name] == 1 and _can_help(one, name) for name in _names([one.form]))
        ]
        if len(kept) == len(left):
            return left
        left = kept


def _can_help(constraint: Constraint, name: Hashable) -> bool:
    """Return whether a variable alone can make a constraint true, given any values of the others."""
    if not isinstance(name, Noise):
        return name in constraint.form.data
    value = constraint.form.noise.get(name, Fraction(0))
    return bool(value) and not any(wall.form.noise[name] * value < 0 for wall in support(name))


def _holds(constraint: Constraint) -> bool:
    """Return whether a constraint without noise and data is true."""
    constant = constraint.form.constant
    return constant > 0 or (constant == 0 and constraint.relation is Relation.AT_LEAST)


def support(noise: Noise) -> Sequence[Constraint]:
    """Return the constraints that the support of a noise imposes: exponential noise is positive, uniform in (0, 1)."""
    above = Constraint(Affine(Fraction(0), {noise: Fraction(1)}))
    below = Constraint(Affine(Fraction(1), {noise: Fraction(-1)}))
    if noise.kind is NoiseKind.EXPONENTIAL:
        return (above,)
    return (above, below) if noise.kind is NoiseKind.UNIFORM else ()


def _names(forms: Iterable[Affine]) -> list[Hashable]:
    return [name for form in forms for name in (*form.noise, *form.data)]


def _row(form: Affine, variables: dict[Hashable, int]) -> tuple[Row, Fraction]:
    coefficients = {variables[name]: value for name, value in (*form.noise.items(), *form.data.items())}
    return coefficients, form.constant
