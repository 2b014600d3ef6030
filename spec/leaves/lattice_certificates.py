"""Proofs by integer shifts as plain data, for files: as in :mod:`certificates`, geometric noise with its ratio."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from dpassay.neighbours import NeighbourRelation
from dpassay.spec.leaves.certificates import moves_record, relation_record, sealed
from dpassay.spec.leaves.check_lattice import FORMAT
from dpassay.spec.leaves.lattice_alignment import AlignedOnLattice, IntegerShift, unit_cost
from dpassay.spec.leaves.model import Affine, Leaf, LeafModel, Noise, NoiseKind
from dpassay.spec.leaves.outcomes import released_numbers

__all__ = ["lattice_certificate"]


def lattice_certificate(model: LeafModel, relation: NeighbourRelation, proof: AlignedOnLattice) -> dict[str, Any]:
    """Return the proof as data that `json.dumps` accepts and `check_lattice.check_lattice` verifies.

    Parameters
    ----------
    model : LeafModel
        The model that was aligned, without functions of data.
    relation : NeighbourRelation
        The relation it was aligned for.
    proof : AlignedOnLattice
        The alignments found.
    """
    noises = {noise for own in proof.shifts for one in own for noise in one.shift}
    costs = {str(noise.ratio): str(unit_cost(noise)) for noise in noises if noise.kind is NoiseKind.GEOMETRIC}
    return sealed({
        "format": FORMAT,
        "epsilon": str(proof.epsilon),
        "delta": str(proof.delta),
        "relation": relation_record(relation),
        "moves": moves_record(proof.moves),
        "boxes": [[[str(low), str(high)] for low, high in box] for box in proof.moves.boxes],
        "costs": costs,
        "leaves": [_leaf(leaf, shifts) for leaf, shifts in zip(model.leaves, proof.shifts, strict=True)],
    })  # fmt: skip


def _leaf(leaf: Leaf, shifts: tuple[IntegerShift, ...]) -> dict[str, Any]:
    return {
        "constraints": [_affine(constraint.form) for constraint in leaf.constraints],
        "released": [_affine(number) for number in released_numbers(leaf.outcome)],
        "alignments": [_shift(one) for one in shifts],
    }


def _affine(form: Affine) -> dict[str, dict[str, str]]:
    return {"noise": _named(form.noise), "data": {str(index): str(value) for index, value in form.data.items()}}


def _named(values: Mapping[Noise, Fraction]) -> dict[str, str]:
    return {_name(noise): str(value) for noise, value in values.items()}


def _name(noise: Noise) -> str:
    ratio = f":{noise.ratio}" if noise.kind is NoiseKind.GEOMETRIC else ""
    return f"{noise.kind}:{noise.position}{ratio}"


def _shift(one: IntegerShift) -> dict[str, Any]:
    fixed = {str(i): str(value) for i, value in one.fixed.items()}
    return {"box": one.box, "fixed": fixed, "shift": _named(one.shift)}
