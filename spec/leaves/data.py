"""Models on symbolic data at numbers."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from dpassay.arguments import UsageError
from dpassay.spec.leaves.derived import with_derived
from dpassay.spec.leaves.model import Affine, Constraint, Leaf, LeafModel
from dpassay.spec.leaves.outcomes import with_forms

__all__ = ["at_data"]


def at_data(model: LeafModel, values: Sequence[Fraction]) -> LeafModel:
    """Return the model with numbers in place of the coordinates of its data.

    Raises
    ------
    UsageError
        If the number of values is not the length of the data.
    """
    if len(values) != model.size:
        raise UsageError(f"values must hold {model.size} numbers, got {len(values)}")
    values = with_derived(model.derived, values)
    known: dict[int, Constraint] = {}  # leaves share the objects of their decisions
    return LeafModel(tuple(_leaf(leaf, values, known) for leaf in model.leaves), model.undecided)


def _leaf(leaf: Leaf, values: Sequence[Fraction], known: dict[int, Constraint]) -> Leaf:
    for one in leaf.constraints:
        if id(one) not in known:
            known[id(one)] = Constraint(_form(one.form, values), one.relation)
    constraints = tuple(known[id(one)] for one in leaf.constraints)
    outcome = with_forms(leaf.outcome, lambda form: _form(form, values))
    return replace(leaf, constraints=constraints, outcome=outcome)


def _form(form: Affine, values: Sequence[Fraction]) -> Affine:
    constant = form.constant + sum((b * values[i] for i, b in form.data.items()), Fraction(0))
    return Affine(constant, form.noise)
