"""Strategies for the chapter on composition: classes on lattices, interactions within them, scores."""

from collections.abc import Hashable
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from dpassay.properties.strategies.base import strategy_for
from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.distributions.generalized_randomized_response import RandomizedResponse
from dpassay.spec.interactions.mechanism_classes import (
    BatchesOnLattice,
    ClassedInteraction,
    ClassedInteractions,
    ClassSequence,
    ClassSequences,
    LatticeBatch,
    MechanismClass,
    Shares,
)
from dpassay.spec.interactions.transcripts import Interaction, Round
from dpassay.spec.theorems.composition.bounded_range import ScorePairs

__all__ = ["class_sequences", "classed_interactions", "lattice_batches"]

BASES = tuple(map(Fraction, ("2", "3/2", "5/4", "11/10", "21/20", "3")))
IDENTITY = (FiniteDistribution.of(1, 0), FiniteDistribution.of(0, 1))


@strategy_for.register
def _(domain: ClassSequences) -> st.SearchStrategy[ClassSequence]:
    return class_sequences(domain)


@strategy_for.register
def _(domain: ClassedInteractions) -> st.SearchStrategy[ClassedInteraction]:
    return classed_interactions(domain.largest_length)


@strategy_for.register
def _(domain: ScorePairs) -> st.SearchStrategy[Any]:
    score = st.integers(-domain.largest_score, domain.largest_score)
    return st.lists(st.tuples(score, score), min_size=1, max_size=domain.largest_size).map(tuple)


@strategy_for.register
def _(domain: Shares) -> st.SearchStrategy[Any]:
    share = st.integers(0, 12).map(lambda k: Fraction(k, 12))
    return st.lists(share, min_size=domain.length, max_size=domain.length).map(tuple)


@strategy_for.register
def _(domain: BatchesOnLattice) -> st.SearchStrategy[LatticeBatch]:
    return lattice_batches(domain)


@st.composite
def lattice_batches(draw: st.DrawFn, domain: BatchesOnLattice) -> LatticeBatch:
    """Draw a batch and a level between minus and plus the sum of the epsilons, usually positive."""
    bounded = draw(st.integers(domain.least_bounded, domain.largest_bounded))
    pure = draw(st.integers(0 if bounded else 1, domain.largest_pure))
    units = draw(st.integers(1, domain.largest_units))
    total = (bounded + pure) * units
    level = draw(st.one_of(st.integers(0, total), st.integers(-total - 1, total + 1)))
    return LatticeBatch(draw(st.sampled_from(BASES)), bounded, pure, units, level)


@st.composite
def class_sequences(draw: st.DrawFn, domain: ClassSequences) -> ClassSequence:
    """Draw classes and a level, often between 0 and the sum of the parameters, where delta is neither 0 nor 1."""
    length = draw(st.integers(1, domain.largest_length))
    common = draw(st.integers(1, domain.largest_steps))
    steps = [common] * length
    if not domain.homogeneous and draw(st.booleans()):
        steps = draw(st.lists(st.integers(1, domain.largest_steps), min_size=length, max_size=length))
    kinds = draw(st.lists(st.sampled_from(domain.kinds), min_size=length, max_size=length))
    classes = tuple(MechanismClass(kind, size) for kind, size in zip(kinds, steps, strict=True))  # type: ignore[arg-type]
    total = sum(steps)
    level = draw(st.one_of(st.integers(0, max(total // 2, 1)), st.integers(-total - 1, total + 1)))
    return ClassSequence(draw(st.sampled_from(BASES)), classes, level)


@st.composite
def classed_interactions(draw: st.DrawFn, largest_length: int) -> ClassedInteraction:
    """Draw a sequence and a tree of post-processed responses of its classes, in either order of the neighbours."""
    sequence = draw(class_sequences(ClassSequences("", largest_length, 4)))
    return ClassedInteraction(sequence, _tree(draw, sequence.base, sequence.classes, swapped=draw(st.booleans())))


def _tree(draw: st.DrawFn, base: Fraction, classes: tuple[MechanismClass, ...], *, swapped: bool) -> Interaction:
    each, rest = classes[0], classes[1:]
    top = draw(st.sampled_from(each.tops))
    response = RandomizedResponse(base**each.reach, base**top)
    rows: dict[Hashable, FiniteDistribution] = dict(enumerate(draw(st.one_of(st.just(IDENTITY), _kernels()))))
    left, right = response.left.mapped(rows), response.right.mapped(rows)
    if swapped:
        left, right = right, left
    offer = Round(left, right, base**each.reach)
    if not rest:
        return Interaction(offer)
    return Interaction(offer, {o: _tree(draw, base, rest, swapped=swapped) for o in offer.outcomes})


@st.composite
def _kernels(draw: st.DrawFn) -> tuple[FiniteDistribution, ...]:
    rows = []
    for _ in range(2):
        weights = draw(st.lists(st.integers(0, 5), min_size=3, max_size=3))
        rows.append(FiniteDistribution.of(weights[0] + 1, *weights[1:]))
    return tuple(rows)
