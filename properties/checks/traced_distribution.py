"""The law that the code of a sampler has the distribution of its theorem: by tracing, outcome by outcome.

The code is run on symbolic noise; the probability of each outcome, or of each cell of outcomes, is enclosed from its
leaves and compared with the enclosure of the distribution that `spec` derives. No sample is drawn for the comparison.
"""

import itertools
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dpassay.mechanism import ClaimedMechanism
from dpassay.properties.neighbours.pairs import adversarial_pairs
from dpassay.properties.outcomes.events import AllOf, AnyOf, Interval, NoneOf, Symbols
from dpassay.properties.pairing.registry import exact_distribution, pair_distribution
from dpassay.properties.tracing.outcomes import normal_form
from dpassay.properties.tracing.refusal import Refusal
from dpassay.properties.tracing.regions import probability_of
from dpassay.properties.tracing.trace import Trace, trace
from dpassay.properties.tracing.tree import Limits
from dpassay.spec.ball import ball, precision, sum_balls
from dpassay.spec.distributions.discrete import DiscreteDistribution
from dpassay.spec.leaves.model import Leaf, LeafModel
from dpassay.spec.leaves.probability import UndecidedLeafError, leaf_probability
from dpassay.spec.verdict import Evidence, Holds, Undecided, Verdict, Violated

__all__ = ["ROUNDING", "distribution_of_theorem", "theorem_inputs", "traced_distribution"]

Array = NDArray[np.float64]

ROUNDING = Fraction(1, 2**40)
"""Allowed difference of log-probabilities, relative to 1 + |log p|.

Samplers compute scales and sums of answers in float64, with relative errors of 2^-53 each; the logarithm of a
probability moves by at most the relative change of the noise's argument times its square. 2^13 roundings fit in.
"""
MOST_UNDECIDED = Fraction(1, 2**30)
"""Traces with more undecided mass are not compared."""

PAIRS = 3
"""Adversarial pairs on which distributions are compared."""

LIMITS = Limits(leaves=4_000, seconds=20.0)
_BITS = 128
"""The precision of the comparison."""

_EVENTS = (AllOf, AnyOf, Interval, NoneOf, Symbols)


@dataclass(frozen=True)
class Theorem:
    """The distribution that `spec` gives a mechanism on an input."""

    data: Array
    distribution: DiscreteDistribution


def theorem_inputs(mechanism: ClaimedMechanism, *, pairs: int = PAIRS, seed: int = 0) -> Iterator[Theorem]:
    """Yield inputs with the distributions that are registered for them, both sides of each adversarial pair."""
    for left, right in adversarial_pairs(mechanism.neighbours, seed=seed, limit=pairs):
        yield from distribution_of_theorem(mechanism, left, right)


def distribution_of_theorem(mechanism: Any, left: Array, right: Array) -> list[Theorem]:
    """Return the registered distributions on the two inputs of a pair; none where nothing is registered."""
    single = [(data, exact_distribution(mechanism, data)) for data in (left, right)]
    found = [Theorem(data, distribution) for data, distribution in single if distribution is not None]
    if found:
        return found
    both = pair_distribution(mechanism, left, right)
    return [] if both is None else [Theorem(left, both[0]), Theorem(right, both[1])]


def traced_distribution(
    mechanism: ClaimedMechanism, theorems: Iterable[Theorem] | None = None, *, limits: Limits = LIMITS
) -> Verdict:
    """Decide whether the traced code of a mechanism has the distribution of its theorem, at some inputs.

    Parameters
    ----------
    mechanism : ClaimedMechanism
        Its `sample` is traced.
    theorems : iterable of Theorem, optional
        Inputs with their distributions; by default those of `theorem_inputs`.
    limits : Limits
        Limits of each trace.

    Returns
    -------
    Verdict
        Violated if the probability of an outcome or cell differs by more than `ROUNDING`; undecided if nothing is
        registered, or the code or one of its probabilities is beyond the tracer.
    """
    checked = 0
    for theorem in theorem_inputs(mechanism) if theorems is None else theorems:
        verdict = _at_input(mechanism, theorem, limits)
        if not isinstance(verdict, Holds):
            return verdict
        checked += 1
    if not checked:
        return Undecided(evidence=Evidence.ENCLOSED, detail="no distribution is registered")
    return Holds(evidence=Evidence.ENCLOSED, slack=ROUNDING, detail=f"{checked} inputs")


def _at_input(mechanism: ClaimedMechanism, theorem: Theorem, limits: Limits) -> Verdict:
    traced = trace(mechanism.sample, [float(value) for value in theorem.data], limits=limits, replays=8)
    if isinstance(traced, Refusal):
        return Undecided(evidence=Evidence.ENCLOSED, detail=f"not traced: {traced}")
    if traced.model.undecided > MOST_UNDECIDED:
        return Undecided(evidence=Evidence.ENCLOSED, detail=f"undecided mass {float(traced.model.undecided):.3g}")
    try:
        with precision(_BITS):
            return _compare(traced, theorem)
    except UndecidedLeafError as error:
        return Undecided(evidence=Evidence.ENCLOSED, detail=str(error))


def _compare(traced: Trace, theorem: Theorem) -> Verdict:
    model, distribution = traced.model, theorem.distribution
    for cell in distribution.outcomes:
        found = _probability(model, cell)
        told = distribution.log_probability(cell)
        verdict = _agreement(found, told, model.undecided, f"{cell} on {theorem.data.tolist()}")
        if verdict is not None:
            return verdict
    return _nothing_else(model, distribution, theorem.data)


def _probability(model: LeafModel, cell: Hashable) -> arb:
    if isinstance(cell, _EVENTS):
        return probability_of(model, cell)
    return sum_balls(leaf_probability(leaf) for leaf in _leaves_of(model, cell))


def _leaves_of(model: LeafModel, outcome: Hashable) -> list[Leaf]:
    wanted = _plain(outcome)
    return [leaf for leaf in model.leaves if _plain(leaf.outcome) == wanted]


def _plain(outcome: Hashable) -> Hashable:
    """Return an outcome in the form that traced outcomes have."""
    return normal_form(outcome, _impossible)


def _impossible(symbol: Any) -> Fraction:
    raise UndecidedLeafError(f"an outcome holds a {type(symbol).__name__}")


def _agreement(found: arb, told: arb, undecided: Fraction, where: str) -> Verdict | None:
    """Return None if the probability found agrees with the logarithm told."""
    detail = f"{where}: traced {found.str(12)}, by the theorem {told.exp().str(12)}"
    rest = ball(undecided)
    if told == arb.neg_inf():
        if found > rest:
            return Violated(evidence=Evidence.ENCLOSED, slack=ROUNDING, detail=detail)
        return None if found.is_zero() else Undecided(evidence=Evidence.ENCLOSED, detail=detail)
    expected = told.exp()
    slack = expected * ball(ROUNDING) * (1 + abs(told)) + rest
    if abs(found - expected) <= slack:
        return None
    wrong = abs(found - expected) > slack
    return (Violated if wrong else Undecided)(evidence=Evidence.ENCLOSED, slack=ROUNDING, detail=detail)


def _nothing_else(model: LeafModel, distribution: DiscreteDistribution, data: Array) -> Verdict:
    """Require that outcomes which the theorem does not list have probability 0; a partition into events has none."""
    cells = list(distribution.outcomes)
    if any(isinstance(cell, _EVENTS) for cell in cells):
        return Holds(evidence=Evidence.ENCLOSED, slack=ROUNDING)
    listed = {_plain(cell) for cell in cells}
    others = [leaf for leaf in model.leaves if _plain(leaf.outcome) not in listed]
    for outcome, group in itertools.groupby(sorted(others, key=lambda leaf: repr(leaf.outcome)), _outcome):
        found = sum_balls(leaf_probability(leaf) for leaf in group)
        verdict = _agreement(found, arb.neg_inf(), model.undecided, f"{outcome!r} on {data.tolist()}")
        if verdict is not None:
            return verdict
    return Holds(evidence=Evidence.ENCLOSED, slack=ROUNDING)


def _outcome(leaf: Leaf) -> Hashable:
    return leaf.outcome
