"""Proofs by the distributions on cells of data as plain data, for files."""

import itertools
from collections.abc import Hashable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from dpassay.neighbours import NeighbourRelation
from dpassay.spec.leaves.cell_pairs import Cell
from dpassay.spec.leaves.certificates import relation_record, sealed
from dpassay.spec.leaves.check_cells import FORMAT
from dpassay.spec.leaves.discrete_cells import DiscreteCells
from dpassay.spec.leaves.model import Constraint, LeafModel, Relation
from dpassay.spec.leaves.polyhedra import negated, opposite
from dpassay.spec.leaves.programmes import Form, contradiction

__all__ = ["cell_certificate"]


class _End(NamedTuple):
    """A cell, and the decisions that lead to it; between the sides of a boundary that is a cell these are more."""

    cell: Cell
    path: tuple[Constraint, ...]


def cell_certificate(model: LeafModel, relation: NeighbourRelation, proof: DiscreteCells) -> dict[str, Any]:
    """Return the proof as data that `json.dumps` accepts and `check_cells.check_cells` verifies.

    Parameters
    ----------
    model : LeafModel
        The model.
    relation : NeighbourRelation
        The relation of the proof.
    proof : DiscreteCells
        The distributions on its cells.
    """
    record = relation_record(relation)
    ends: list[_End] = []
    names: dict[Hashable, str] = {}
    tree = _tree(proof.masses, tuple(proof.masses), (), ends, names)
    return sealed({
        "format": FORMAT,
        "epsilon": str(proof.epsilon),
        "delta": str(proof.delta),
        "undecided": str(model.undecided),
        "relation": record,
        "outcomes": {name: repr(outcome) for outcome, name in names.items()},
        "tree": tree,
        "apart": list(_apart(ends, proof, record, model.size)),
    })  # fmt: skip


def _tree(
    masses: Mapping[Cell, Mapping[Hashable, Fraction]],
    cells: Sequence[Cell],
    path: tuple[Constraint, ...],
    ends: list[_End],
    names: dict[Hashable, str],
) -> dict[str, Any]:
    """Return the tree of decisions that leads to the cells; they take the same ones, which some cells imply."""
    asked = next((one for cell in cells for one in cell if one not in path), None)
    if not cells:
        return {"empty": [str(y) for y in _multipliers(path)]}
    if asked is None:
        [cell] = cells
        ends.append(_End(cell, path))
        own = masses[cell].items()
        return {"masses": {names.setdefault(outcome, str(len(names))): str(mass) for outcome, mass in own}}
    sides = {}
    for name, side in (("yes", asked), ("no", opposite(asked))):
        left = [cell for cell in cells if not _is_across(cell, side)]
        sides[name] = _tree(masses, left, (*path, side), ends, names)
    return {
        "constant": str(asked.form.constant),
        "data": {str(i): str(value) for i, value in asked.form.data.items()},
        "strict": asked.relation is Relation.ABOVE,
        **sides,
    }


def _is_across(cell: Cell, side: Constraint) -> bool:
    """Return whether a cell lies on the other side of a decision; a boundary that is a cell has both closed sides."""
    return side not in cell and any(Constraint(negated(side.form), relation) in cell for relation in Relation)


def _multipliers(path: Sequence[Constraint]) -> tuple[Fraction, ...]:
    size = 1 + max((i for one in path for i in one.form.data), default=0)
    return _contradiction([(_form(one), _is_strict(one)) for one in path], size) or ()


def _form(one: Constraint) -> Form:
    return one.form.data, one.form.constant


def _is_strict(one: Constraint) -> bool:
    return one.relation is Relation.ABOVE


def _contradiction(forms: Sequence[tuple[Form, bool]], count: int) -> tuple[Fraction, ...] | None:
    """Return multipliers of forms, strict or not, in their order; None if a point obeys all."""
    order = sorted(range(len(forms)), key=lambda k: not forms[k][1])  # strict ones first
    strict, closed = ([forms[k][0] for k in order if forms[k][1] is side] for side in (True, False))
    found = contradiction(strict, count, closed)
    if found is None:
        return None
    placed = dict(zip(order, found, strict=True))
    return tuple(placed[k] for k in range(len(forms)))


def _apart(
    ends: Sequence[_End], proof: DiscreteCells, record: Mapping[str, Any], size: int
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """Yield proofs that no neighbours lie in two cells, where there are such."""
    reach = min(Fraction(record[name]) for name in ("l1", "l2", "linf", "span") if record.get(name) is not None)
    most = size if record["l0"] is None else min(size, record["l0"])
    for i, j in itertools.product(range(len(ends)), repeat=2):
        if (ends[i].cell, ends[j].cell) not in proof.joined:
            forms = [(_form(one), _is_strict(one)) for one in ends[i].path]
            forms += [
                (({**one.form.data, **_moved(one, size)}, one.form.constant), _is_strict(one)) for one in ends[j].path
            ]
            proofs = [
                _contradiction([*forms, *((bound, False) for bound in _within(reach, moving, size))], 2 * size)
                for moving in itertools.combinations(range(size), most)
            ]
            if all(own is not None for own in proofs):
                yield {"from": i, "to": j, "proofs": [[str(y) for y in own or ()] for own in proofs]}


def _within(reach: Fraction, moving: tuple[int, ...], size: int) -> list[Form]:
    """Return the bounds on a move of some coordinates."""
    return [
        ({size + k: Fraction(sign)}, reach if k in moving else Fraction(0)) for k in range(size) for sign in (1, -1)
    ]


def _moved(one: Constraint, size: int) -> dict[int, Fraction]:
    return {size + i: value for i, value in one.form.data.items()}
