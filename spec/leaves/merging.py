"""Merging of leaves with the same outcome into one polyhedron, and removal of implied constraints.

Let G be leaves with the same outcome, the same discrete draws and the same weight, and let K be the polyhedron of all
their decisions that every leaf of G implies. Then K contains the union of G. If K meets the interior of no other leaf
of the same discrete draws, K is that union up to a set of measure 0, because all leaves together fill the space. If
it does, the leaves of G below one node of the tree of decisions are tried, deepest nodes first.

Noise and data are variables of the same linear programmes, so that the result holds for all data: constraints on noise
are strict there, those on data alone as strict as the decision was, since a single input counts. A model with
undecided mass is left as it is: its leaves do not fill the space. So is one with decisions about noise on a lattice,
where boundaries have mass.
"""

import itertools
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

from dpassay.spec.leaves.model import Constraint, Leaf, LeafModel, Relation
from dpassay.spec.leaves.polyhedra import has_interior, negated, opposite, shared

__all__ = ["have_common_interior", "is_implied", "merged", "reduced"]


@dataclass(frozen=True)
class _Part:
    """Leaves that are one polyhedron, and the decisions that lead to the lowest node above all of them."""

    node: tuple[Constraint, ...]
    leaves: tuple[Leaf, ...]
    whole: Leaf


def merged(model: LeafModel) -> LeafModel:
    """Return the model with fewer, larger leaves: unions are exact up to sets of measure 0.

    Examples
    --------
    Noise that is compared with 0 without consequence:

    >>> from dpassay.spec.leaves.model import Affine, Noise, NoiseKind
    >>> z = Affine(0, {Noise(NoiseKind.LAPLACE, 0): 1})
    >>> sides = [Leaf((Constraint(form),), 1, "same") for form in (z, negated(z))]
    >>> [leaf.constraints for leaf in merged(LeafModel(tuple(sides))).leaves]
    [()]
    """
    if model.undecided or model.on_lattice:
        return model
    groups: dict[Hashable, list[Leaf]] = {}
    for leaf in model.leaves:
        groups.setdefault((leaf.outcome, leaf.choices, leaf.weight), []).append(leaf)
    leaves = [whole for group in groups.values() for whole in _merged_group(group, model.leaves)]
    return replace(model, leaves=tuple(reduced(leaf) for leaf in leaves))


def reduced(leaf: Leaf) -> Leaf:
    """Return the leaf without constraints on noise that the others imply; a leaf without interior as it is."""
    if not has_interior(leaf.constraints):
        return leaf
    kept = list(dict.fromkeys(leaf.constraints))
    for constraint in shared(kept):
        others = [other for other in kept if other is not constraint]
        if constraint.form.noise and is_implied(constraint, others):
            kept = others
    return replace(leaf, constraints=tuple(kept))


def is_implied(constraint: Constraint, others: Sequence[Constraint]) -> bool:
    """Return whether no interior point of the others, and of the supports, violates the constraint."""
    return not has_interior([*others, opposite(constraint)])


def have_common_interior(first: Sequence[Constraint], second: Sequence[Constraint]) -> bool:
    """Return whether two polyhedra overlap in more than a set of measure 0."""
    known = {constraint.form: constraint for constraint in first}
    for constraint in second:
        other = known.get(negated(constraint.form))
        if other is not None and (constraint.form.noise or Relation.ABOVE in {constraint.relation, other.relation}):
            return False
    return has_interior([*first, *second])


# --- groups -------------------------------------------------------------------------------------------------


def _merged_group(group: Sequence[Leaf], leaves: Sequence[Leaf]) -> list[Leaf]:
    """Merge leaves of one outcome as far as possible."""
    if len(group) == 1:
        return list(group)
    rest = [leaf for leaf in leaves if leaf not in group and _compatible(leaf, group[0])]
    parts = [_Part(leaf.constraints, (leaf,), leaf) for leaf in group]
    together = _union(parts, (), rest)
    if together is not None:
        return [together.whole]
    for depth in range(max(len(leaf.constraints) for leaf in group) - 1, -1, -1):
        parts = _merged_below(parts, depth, [*rest, *group])
    return [part.whole for part in parts]


def _merged_below(parts: Sequence[_Part], depth: int, leaves: Sequence[Leaf]) -> list[_Part]:
    """Try to merge all parts below each node of one depth."""
    result = [part for part in parts if len(part.node) < depth]
    deep = [part for part in parts if len(part.node) >= depth]
    nodes: dict[tuple[Constraint, ...], list[_Part]] = {}
    for part in deep:
        nodes.setdefault(part.node[:depth], []).append(part)
    for node, below in nodes.items():
        own = {leaf for part in below for leaf in part.leaves}
        union = _union(below, node, [leaf for leaf in leaves if leaf not in own]) if len(below) > 1 else None
        result += below if union is None else [union]
    return result


def _union(parts: Sequence[_Part], node: tuple[Constraint, ...], rest: Iterable[Leaf]) -> _Part | None:
    """Return the union of some parts if it is a polyhedron cut out by their decisions."""
    leaves = tuple(leaf for part in parts for leaf in part.leaves)
    if len(leaves) == 1:
        return parts[0]
    decisions = dict.fromkeys(itertools.chain.from_iterable(leaf.constraints for leaf in leaves))
    common = tuple(
        one for one in decisions
        if all(one in leaf.constraints or is_implied(one, leaf.constraints) for leaf in leaves)
    )  # fmt: skip
    if any(have_common_interior(common, leaf.constraints) for leaf in rest):
        return None
    return _Part(node, leaves, replace(leaves[0], constraints=common))


def _compatible(first: Leaf, second: Leaf) -> bool:
    """Return whether some run may give both leaves the discrete draws that they ask for."""
    known = dict(first.choices)
    return all(known.get(label, value) == value for label, value in second.choices)
