"""Both figures of a plain function by tracing: the loss at a pair, and the bound of an alignment for all inputs."""

import itertools
import math
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from flint import arb

from dpassay.neighbours import NeighbourRelation, VectorNeighbours
from dpassay.properties.neighbours.pairs import adversarial_pairs, are_neighbours
from dpassay.properties.tracing.factors import independent_parts
from dpassay.properties.tracing.refusal import Refusal
from dpassay.properties.tracing.trace import trace
from dpassay.properties.tracing.tree import Limits
from dpassay.spec.ball import ball, float_lower, float_upper, precision, sum_balls
from dpassay.spec.distributions.discrete import max_divergence
from dpassay.spec.leaves.alignment import Aligned, alignment_bound
from dpassay.spec.leaves.cells import in_cells, kinks
from dpassay.spec.leaves.data import at_data
from dpassay.spec.leaves.data_cells import AlignedCells, cell_bound
from dpassay.spec.leaves.distribution import LeafDistribution
from dpassay.spec.leaves.merging import merged
from dpassay.spec.leaves.model import LeafModel
from dpassay.spec.leaves.outcomes import released_numbers, skeleton
from dpassay.spec.leaves.probability import UndecidedLeafError
from dpassay.spec.leaves.released import worst_released_loss
from dpassay.spec.leaves.supports import infinite_loss

__all__ = ["Figures", "NotTracedError", "figures"]

Sampler = Callable[[Any, int, Any], Any]
Data = Sequence[float]
Pairs = Iterable[tuple[Any, Any]]
Models = list[LeafModel]
"""Independent factors of a mechanism on numbers."""

LIMITS = Limits(leaves=5_000, seconds=120.0)
_BITS = 96


class NotTracedError(Exception):
    """Raised where no input of a function can be traced."""


@dataclass(frozen=True)
class Figures:
    """What tracing certifies of a function.

    Parameters
    ----------
    lower, upper : float
        Bounds on the true epsilon: rounded down, at `pair`; rounded up, for all inputs (infinite without a proof).
    pair : tuple of sequence of float, optional
        The inputs of the lower figure; None where no pair was compared, and the figure is 0.
    scope : str
        The inputs that the upper figure speaks of, or why there is none.
    leaves : int
        Number of leaves that were enumerated.
    traced, proved, compared : float
        CPU seconds: of the trace on symbolic data, of the proof, of the losses at pairs.
    """

    lower: float
    upper: float
    pair: tuple[Data, Data] | None
    scope: str
    leaves: int
    traced: float
    proved: float
    compared: float

    @property
    def seconds(self) -> float:
        """CPU seconds of everything."""
        return self.traced + self.proved + self.compared


def figures(
    sampler: Sampler, relation: VectorNeighbours, *, more: Pairs = (), designed: int = 2, factors: int = 0,
    enough: float = -1.0, most: int | None = None,
) -> Figures:  # fmt: skip
    """Return both figures of a function for one relation.

    Parameters
    ----------
    sampler : callable
        ``f(data, size, rng)``.
    relation : VectorNeighbours
        Neighbours of one length.
    more : iterable of pairs
        Further inputs to compare, beside the move of the worst leaf far out.
    designed : int
        How many adversarial pairs of the relation are tried.
    factors : int
        If positive, the number of coordinates of an outcome, which are traced one by one.
    enough : float
        If not negative: no pair is compared if the upper figure is at most this, and no further one if a loss exceeds
        it; and only outcomes of the structure of the worst leaf are.
    most : int, optional
        How many pairs are compared at most.
    """
    clock = [time.process_time()]
    found = Refusal("traced in parts", "figures") if factors else trace(sampler, size=relation.size, limits=LIMITS)
    clock.append(time.process_time())
    bound = _Bound(math.inf, str(found)) if isinstance(found, Refusal) else _bound(found.model, relation)
    clock.append(time.process_time())

    def at(data: Data, *, is_merged: bool = False) -> Models:
        if isinstance(found, Refusal):
            return _traced_at(sampler, data, factors)
        own = bound.whole if is_merged and bound.whole is not None else found.model
        model = at_data(own, [Fraction(value) for value in data])
        return [model if enough < 0 or bound.structure is None else _part(model, bound.structure)]

    pairs = [*more, *_far_out(bound.moves, relation)]
    pairs += adversarial_pairs(relation, seed=0, limit=designed) if designed else []
    lower, pair, leaves = 0.0, None, 0
    if bound.upper > enough:
        try:  # merged leaves are fewer, but may be cyclic where their parts are not
            lower, pair, leaves = _worst(pairs[:most], relation, partial(at, is_merged=True), enough)
        except NotTracedError:
            lower, pair, leaves = _worst(pairs[:most], relation, at, enough)
    if not isinstance(found, Refusal):
        leaves = len(found.model.leaves)
    clock.append(time.process_time())
    spent = [after - before for before, after in itertools.pairwise(clock)]
    return Figures(lower, bound.upper, pair, bound.scope, leaves, *spent)


def _traced_at(sampler: Sampler, data: Data, factors: int) -> Models:
    parts = independent_parts(sampler, data, factors) if factors else trace(sampler, data, limits=LIMITS)
    if isinstance(parts, Refusal):
        raise NotTracedError(str(parts))
    return [part.model for part in parts] if isinstance(parts, list) else [parts.model]


# --- the bound for all inputs -------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Bound:
    """The bound, the inputs it speaks of or why there is none, worst move, structure of its outcome, merged leaves."""

    upper: float
    scope: str
    moves: tuple[tuple[Fraction, ...], ...] = ()
    structure: Hashable = None
    whole: LeafModel | None = None


def _bound(model: LeafModel, relation: VectorNeighbours) -> _Bound:
    whole = merged(model)
    about_data = any(not one.form.noise for leaf in whole.leaves for one in leaf.constraints)
    proof = cell_bound(whole, relation) if about_data else alignment_bound(whole, relation)
    everywhere = f"all inputs of length {relation.size}"
    if isinstance(proof, AlignedCells):
        return _Bound(float_upper(ball(proof.epsilon)), everywhere)
    if isinstance(proof, Aligned):
        structure = skeleton(whole.leaves[proof.worst_leaf].outcome)[0]
        return _Bound(float_upper(ball(proof.epsilon)), everywhere, (proof.worst_move,), structure, whole)
    return _Bound(math.inf, proof.reason, () if proof.move is None else (proof.move,))


def _part(model: LeafModel, structure: Hashable) -> LeafModel:
    """Return the leaves with outcomes of one structure: their losses bound that of the model from below."""
    return replace(model, leaves=tuple(leaf for leaf in model.leaves if skeleton(leaf.outcome)[0] == structure))


def _far_out(moves: Iterable[tuple[Fraction, ...]], relation: VectorNeighbours) -> Iterator[tuple[Any, Any]]:
    """Yield inputs as far out as the relation allows, in the direction of a move and against it; all alike last."""
    steps = [np.array([float(value) for value in move]) for move in moves]
    if relation.l0 is None and relation.l1 is None and relation.linf is not None:
        steps.append(np.full(relation.size, relation.linf))
    for step in steps:
        reach = min(abs(relation.low), abs(relation.high), 1e3)
        far = np.where(step == 0, 0, np.sign(step) * reach)
        for outer in (far, -far):
            for sign in (1, -1):
                inner = np.clip(outer - sign * step, relation.low, relation.high)
                if are_neighbours(relation, outer, inner):
                    yield outer, inner


# --- losses at pairs ----------------------------------------------------------------------------------------


def _worst(
    pairs: Pairs, relation: NeighbourRelation, at: Callable[[Data], Models], enough: float
) -> tuple[float, tuple[Data, Data], int]:
    best, where, leaves = -1.0, None, 0
    for left, right in pairs:
        if not are_neighbours(relation, np.asarray(left, dtype=float), np.asarray(right, dtype=float)):
            continue
        here, there = at(left), at(right)
        leaves = max(leaves, sum(len(model.leaves) for model in here))
        for one, other, pair in ((here, there, (left, right)), (there, here, (right, left))):
            loss = _loss(one, other)
            if loss > best:
                best, where = loss, pair
        if best > enough >= 0 or best == math.inf:
            break
    if where is None:
        raise NotTracedError("no pair has a loss that is decided")
    return best, where, leaves


def _loss(left: Models, right: Models) -> float:
    """Return a lower bound on the largest loss: the sum of the factors' losses; -inf if it is undecided."""
    with precision(_BITS):
        try:
            total = sum_balls(_divergence(one, other) for one, other in zip(left, right, strict=True))
        except UndecidedLeafError:
            return -math.inf
        return math.inf if total == arb.pos_inf() else float_lower(total)


def _divergence(left: LeafModel, right: LeafModel) -> arb:
    if infinite_loss(left, right) is not None:
        return arb.pos_inf()
    released = any(released_numbers(leaf.outcome) for model in (left, right) for leaf in model.leaves)
    if released and not any(leaf.constraints for model in (left, right) for leaf in model.leaves):
        return worst_released_loss(left, right)
    cuts = kinks(left, right)
    sides = (in_cells(model, cuts) for model in (left, right)) if released else (left, right)
    return max_divergence(*map(LeafDistribution, sides))
