"""Alignment proofs as plain data, for files: rationals are strings, noises are "kind:position"."""

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from dpassay.neighbours import NeighbourRelation, VectorNeighbours
from dpassay.spec.leaves.alignment import Aligned, Shift
from dpassay.spec.leaves.check import FORMAT, digest
from dpassay.spec.leaves.model import Affine, Derived, Leaf, LeafModel, Noise
from dpassay.spec.leaves.moves import Moves
from dpassay.spec.leaves.outcomes import released_numbers

__all__ = ["certificate", "moves_record", "relation_record", "sealed"]


def certificate(model: LeafModel, relation: NeighbourRelation, proof: Aligned) -> dict[str, Any]:
    """Return the proof as data that `json.dumps` accepts and `check.check_alignment` verifies.

    Parameters
    ----------
    model : LeafModel
        The model that was aligned.
    relation : NeighbourRelation
        The relation it was aligned for.
    proof : Aligned
        The alignments found.
    """
    relation_words = relation_record(relation)
    further: dict[str, Any] = {}
    if model.derived:
        relation_words |= {"low": _end(relation.low), "high": _end(relation.high)}
        further["derived"] = [_derived(one) for one in model.derived]
    return sealed({
        "format": FORMAT,
        "epsilon": str(proof.epsilon),
        "delta": str(proof.delta),
        "relation": relation_words,
        **further,
        "moves": moves_record(proof.moves),
        "boxes": [[[str(low), str(high)] for low, high in box] for box in proof.moves.boxes],
        "leaves": [_leaf(leaf, shifts) for leaf, shifts in zip(model.leaves, proof.shifts, strict=True)],
    })  # fmt: skip


def sealed(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return a certificate with its digest."""
    return {**content, "digest": digest(content)}


def relation_record(relation: NeighbourRelation) -> dict[str, Any]:
    """Return the bounds of the relation on a move; a replaced record is one coordinate that moves."""
    finite = math.isfinite(relation.high - relation.low)
    span = str(Fraction(relation.high) - Fraction(relation.low)) if finite else None
    if not isinstance(relation, VectorNeighbours):
        return {"size": relation.size, "l0": 1, "span": span, "integer": False, "monotone": False}
    norms = {"l1": relation.l1, "l2": relation.l2, "linf": relation.linf}
    exact = {name: str(Fraction(value)) for name, value in norms.items() if value is not None}
    flags = {"integer": relation.integer, "monotone": relation.monotone}
    return {"size": relation.size, "l0": relation.l0, "span": span, **exact, **flags}


def _end(value: float) -> str | None:
    return str(Fraction(value)) if math.isfinite(value) else None


def _derived(derived: Derived) -> dict[str, Any]:
    low, high = (None if end is None else str(end) for end in (derived.low, derived.high))
    data = {str(index): str(value) for index, value in derived.form.data.items()}
    constant = str(derived.form.constant)
    return {"function": str(derived.function), "constant": constant, "data": data, "low": low, "high": high}


def moves_record(moves: Moves) -> dict[str, Any]:
    """Return the bounds on a move that the boxes of a certificate hold."""
    total = None if moves.total is None else str(moves.total)
    return {"most": moves.most, "reach": str(moves.reach), "total": total}


def _leaf(leaf: Leaf, shifts: tuple[Shift, ...]) -> dict[str, Any]:
    return {
        "constraints": [_affine(constraint.form) for constraint in leaf.constraints],
        "released": [_affine(number) for number in released_numbers(leaf.outcome)],
        "alignments": [_shift(shift) for shift in shifts],
    }


def _affine(form: Affine) -> dict[str, dict[str, str]]:
    return {
        "noise": _named(form.noise),
        "data": {str(index): str(value) for index, value in form.data.items()},
    }


def _named(values: Mapping[Noise, Any]) -> dict[str, str]:
    return {f"{noise.kind}:{noise.position}": str(value) for noise, value in values.items()}


def _shift(shift: Shift) -> dict[str, Any]:
    return {
        "box": shift.box,
        "fixed": {str(i): str(value) for i, value in shift.fixed.items()},
        "shift": _named(shift.shift),
    }
