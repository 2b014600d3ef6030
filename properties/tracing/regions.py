"""The parts of a leaf that lie in an event of :mod:`dpassay.properties.outcomes.events`, and those that do not.

A bound on a released number is one more constraint on the noise of the leaf, so that the probability of an event is
the sum of the probabilities of parts of leaves.
"""

import math
import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import singledispatch
from typing import Any

from flint import arb

from dpassay.properties.outcomes.events import AllOf, AnyOf, Interval, NoneOf, Symbols
from dpassay.properties.outcomes.flattening import OUTCOME
from dpassay.properties.outcomes.symbols import comparable
from dpassay.spec.ball import sum_balls
from dpassay.spec.leaves.model import Affine, Constraint, Leaf, LeafModel, Relation
from dpassay.spec.leaves.polyhedra import negated
from dpassay.spec.leaves.probability import UndecidedLeafError, leaf_probability

__all__ = ["probability_of", "split"]

Parts = tuple[list[Leaf], list[Leaf]]
"""Inside and outside."""

_PLACE = re.compile(r"outcome(?:\[(\d+)\])?")


def probability_of(model: LeafModel, event: Any) -> arb:
    """Enclose the probability that the outcome of a model on numeric data lies in an event, undecided mass aside.

    Raises
    ------
    UndecidedLeafError
        If the event is about a feature that is not read from leaves, or a probability is undecided.
    """
    return sum_balls(leaf_probability(part) for leaf in model.leaves for part in split(event, leaf)[0])


@singledispatch
def split(event: Any, leaf: Leaf) -> Parts:  # noqa: ARG001 - what it is registered for uses it
    """Return disjoint leaves that make up the given one: those in the event, and those outside.

    Raises
    ------
    UndecidedLeafError
        If the event is about a feature that is not read from leaves.
    """
    raise UndecidedLeafError(f"an event of type {type(event).__name__} is not read from leaves")


@split.register
def _(event: Interval, leaf: Leaf) -> Parts:
    value = _feature(event.feature, leaf.outcome)
    if value is None:
        return [], [leaf]
    if not isinstance(value, Affine):
        inside = event.low < value <= event.high or value == event.low == -math.inf
        return ([leaf], []) if inside else ([], [leaf])
    walls = [_above(value, event.low)] if math.isfinite(event.low) else []
    walls += [_at_most(value, event.high)] if math.isfinite(event.high) else []
    beyond = [_at_most(value, event.low)] if math.isfinite(event.low) else []
    beyond += [_above(value, event.high)] if math.isfinite(event.high) else []
    if event.low == math.inf or event.high == -math.inf:
        return [], [leaf]
    return [_with(leaf, walls)], [_with(leaf, [wall]) for wall in beyond]


@split.register
def _(event: Symbols, leaf: Leaf) -> Parts:
    if event.place != OUTCOME:
        raise UndecidedLeafError(f"{event.place} is not read from leaves")
    inside = comparable(leaf.outcome) in set(map(comparable, event.members))
    return ([leaf], []) if inside else ([], [leaf])


@split.register
def _(event: AllOf, leaf: Leaf) -> Parts:
    return _all_of(event.members, leaf)


@split.register
def _(event: AnyOf, leaf: Leaf) -> Parts:
    outside, inside = _all_of(event.members, leaf, _turned)
    return inside, outside


@split.register
def _(event: NoneOf, leaf: Leaf) -> Parts:
    return _all_of(event.members, leaf, _turned)


def _turned(event: Any, leaf: Leaf) -> Parts:
    inside, outside = split(event, leaf)
    return outside, inside


def _all_of(members: Sequence[Any], leaf: Leaf, divide: Callable[[Any, Leaf], Parts] = split) -> Parts:
    """Split by one member after the other: outside is whatever the first failing member puts there."""
    inside, outside = [leaf], list[Leaf]()
    for member in members:
        parts = [divide(member, part) for part in inside]
        inside = [part for within, _ in parts for part in within]
        outside += [part for _, beyond in parts for part in beyond]
    return inside, outside


def _feature(feature: str, outcome: Hashable) -> Affine | float | None:
    """Return a number of an outcome, or a difference of two; None if the outcome has no such number."""
    names = feature.split("-")
    values = [_number(name, outcome) for name in names]
    if len(values) == 1 or values[0] is None or values[1] is None:
        return values[0] if len(values) == 1 else None
    return _difference(values[0], values[1])


def _number(name: str, outcome: Hashable) -> Affine | float | None:
    found = _PLACE.fullmatch(name)
    if found is None:
        raise UndecidedLeafError(f"{name} is not read from leaves")
    part: Any = outcome
    if found[1] is not None:
        if not isinstance(outcome, tuple) or int(found[1]) >= len(outcome):
            return None
        part = outcome[int(found[1])]
    if isinstance(part, Affine):
        return part
    if isinstance(part, int | float | Fraction):
        return part if isinstance(part, float) else float(part) if float(part) == part else _refuse_rounding(part)
    if part is None or isinstance(part, str | bytes | tuple | frozenset):
        return None
    raise UndecidedLeafError(f"a {type(part).__name__} in an outcome is not read from leaves")


def _refuse_rounding(value: int | Fraction) -> float:
    raise UndecidedLeafError(f"{value} is no float")


def _difference(left: Affine | float, right: Affine | float) -> Affine | float:
    if not isinstance(left, Affine) and not isinstance(right, Affine):
        return left - right
    one, other = (side if isinstance(side, Affine) else Affine(Fraction(side)) for side in (left, right))
    noise = {key: one.noise.get(key, Fraction(0)) - other.noise.get(key, Fraction(0))
             for key in dict.fromkeys((*one.noise, *other.noise))}  # fmt: skip
    noise = {key: value for key, value in noise.items() if value}
    constant = one.constant - other.constant
    return Affine(constant, noise) if noise else float(constant)


def _above(value: Affine, end: float) -> Constraint:
    return Constraint(Affine(value.constant - Fraction(end), value.noise, value.data), Relation.ABOVE)


def _at_most(value: Affine, end: float) -> Constraint:
    return Constraint(negated(_above(value, end).form))


def _with(leaf: Leaf, constraints: Sequence[Constraint]) -> Leaf:
    return replace(leaf, constraints=(*leaf.constraints, *constraints))
