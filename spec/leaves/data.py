"""Models on symbolic data at numbers."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from dpassay.claims import UsageError
from dpassay.spec.leaves.model import Affine, Constraint, Image, Leaf, LeafModel

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
    return LeafModel(tuple(_leaf(leaf, values) for leaf in model.leaves), model.undecided)


def _leaf(leaf: Leaf, values: Sequence[Fraction]) -> Leaf:
    constraints = tuple(Constraint(_form(one.form, values), one.relation) for one in leaf.constraints)
    return replace(leaf, constraints=constraints, outcome=_outcome(leaf.outcome, values))


def _form(form: Affine, values: Sequence[Fraction]) -> Affine:
    constant = form.constant + sum((b * values[i] for i, b in form.data.items()), Fraction(0))
    return Affine(constant, form.noise)


def _outcome(outcome: Any, values: Sequence[Fraction]) -> Hashable:
    """Return the outcome with its affine numbers at the data; containers keep their type."""
    if isinstance(outcome, Affine):
        return _form(outcome, values)
    if isinstance(outcome, Image):
        return replace(outcome, form=_form(outcome.form, values))
    if isinstance(outcome, Mapping):
        pairs = {key: _outcome(part, values) for key, part in outcome.items()}
        return type(outcome)(pairs)  # type: ignore[call-arg]
    if type(outcome) in {tuple, list, set, frozenset}:
        kept: Hashable = type(outcome)(_outcome(part, values) for part in outcome)
        return kept
    return outcome  # type: ignore[no-any-return]
