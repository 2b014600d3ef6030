"""Other names for the noises of a leaf: noises of one kind are independent and equally distributed.

A run that branches on data may draw the noise of one record first in one branch and second in another. The leaf is
compared with the target after its noises have been given the names of those of the target that stand beside the same
coordinates of the data. Any injective renaming within a kind extends to a permutation of all noises, which preserves
probabilities.
"""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from dpassay.spec.leaves.model import Affine, Constraint, Leaf, Noise
from dpassay.spec.leaves.outcomes import skeleton, with_forms

__all__ = ["forms_of", "renamed"]

Kind = tuple[object, Fraction]


def forms_of(leaf: Leaf) -> list[Affine]:
    """Return the forms of all constraints and released numbers of a leaf."""
    return [*(one.form for one in leaf.constraints), *skeleton(leaf.outcome, functions=True)[1]]


def renamed(source: Leaf, target: Leaf) -> Leaf:
    """Return the source with the names that the target gives to noises beside the same data, each name used once.

    Parameters
    ----------
    source, target : Leaf
        On symbolic data.
    """
    theirs: dict[tuple[Kind, frozenset[int]], list[Noise]] = {}
    for noise, data in _beside(target).items():
        theirs.setdefault((_kind(noise), data), []).append(noise)
    names: dict[Noise, Noise] = {}
    for noise, data in _beside(source).items():
        same = theirs.get((_kind(noise), data))
        if same:
            names[noise] = same.pop(0)
    _name_the_rest(names, source, target)
    return _with_names(source, names)


def _kind(noise: Noise) -> Kind:
    return noise.kind, noise.ratio


def _beside(leaf: Leaf) -> dict[Noise, frozenset[int]]:
    """Return for each noise the coordinates of the data in the forms in which it occurs."""
    found: dict[Noise, frozenset[int]] = {}
    for form in forms_of(leaf):
        for noise in form.noise:
            found[noise] = found.get(noise, frozenset()) | frozenset(form.data)
    return found


def _name_the_rest(names: dict[Noise, Noise], source: Leaf, target: Leaf) -> None:
    """Give names that neither leaf uses to the noises that have none."""
    used = {noise for leaf in (source, target) for form in forms_of(leaf) for noise in form.noise}
    fresh = 1 + max((noise.position for noise in used), default=0)
    for noise in _beside(source):
        if noise not in names:
            names[noise] = replace(noise, position=fresh)
            fresh += 1


def _with_names(leaf: Leaf, names: Mapping[Noise, Noise]) -> Leaf:
    def change(form: Affine) -> Affine:
        return replace(form, noise={names.get(noise, noise): value for noise, value in form.noise.items()})

    constraints = tuple(Constraint(change(one.form), one.relation) for one in leaf.constraints)
    return replace(leaf, constraints=constraints, outcome=with_forms(leaf.outcome, change))
