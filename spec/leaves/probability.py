"""Probabilities of leaves: which rule applies to which part of the constraint graph.

Vertices are the noises of a leaf, and two of them are neighbours if they share a constraint. Connected components are
independent; the probability of a leaf is its weight times the product over them.

========================================  ==================================================
component                                 rule
========================================  ==================================================
one noise of any kind                     difference of distribution functions
Laplace, exponential, uniform             forest, perhaps after a triangular substitution
Gumbel, differences only                  forest of exponential clocks
normal                                    orthogonal blocks with one common factor
anything else                             undecided, with the reason
========================================  ==================================================
"""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import lru_cache

from flint import arb, ctx

from dpassay.spec.ball import UndecidedError, ball, precision
from dpassay.spec.leaves.elimination import NotAForestError, forest_integral
from dpassay.spec.leaves.exponential_sums import ExponentialSum
from dpassay.spec.leaves.gaussian_leaves import NoCommonFactorError, gaussian_probability
from dpassay.spec.leaves.gumbel_races import gumbel_probability
from dpassay.spec.leaves.model import Constraint, Leaf, LeafModel, Noise, NoiseKind, Relation
from dpassay.spec.leaves.piecewise import lift_ball
from dpassay.spec.leaves.single_noise import interval_probability
from dpassay.spec.leaves.substitution import factors_of, forget_functions

__all__ = [
    "UndecidedLeafError",
    "exact_probability",
    "forget_probabilities",
    "leaf_probability",
    "total_probability",
]

PIECEWISE = frozenset({NoiseKind.LAPLACE, NoiseKind.EXPONENTIAL, NoiseKind.UNIFORM})
GUARD = 24
FOREST_BITS = 128
LIMIT = 8
"""The largest multiple of the working precision before a probability is decided exactly or given up."""


class UndecidedLeafError(UndecidedError):
    """Raised when no rule gives the probability of a leaf; the message is the reason."""


def leaf_probability(leaf: Leaf) -> arb:
    """Enclose the probability of a leaf on numeric data, with relative radius about 2^-p at working precision p.

    Raises
    ------
    UndecidedLeafError
        If no rule applies, or a constraint is about data that are not numbers.
    """
    constraints = _decided(leaf.constraints)
    if constraints is None:
        return arb(0)
    total = ball(leaf.weight)
    for component in _components(constraints):
        total = total * _component_probability(component, _bits(component))
    return total


def _bits(component: Sequence[Constraint]) -> int:
    """Return the accuracy that is asked for: in a forest, rational numbers take the time and not the digits of balls.

    So a probability that is asked for again with more digits is known already.
    """
    return max(ctx.prec, FOREST_BITS) if _kinds(component) <= PIECEWISE else ctx.prec


def exact_probability(leaf: Leaf) -> ExponentialSum:
    """Return the probability of a leaf of Laplace, exponential and uniform noise as a sum of exponentials.

    Raises
    ------
    UndecidedLeafError
        If another kind of noise occurs in a constraint, or the constraints are no forest.
    """
    constraints = _decided(leaf.constraints)
    if constraints is None:
        return ExponentialSum({})
    total = ExponentialSum.lift(leaf.weight, Fraction(0))
    for component in _components(constraints):
        total = total * _exact(component)
    return total


def total_probability(model: LeafModel) -> arb:
    """Enclose the sum of the probabilities of all leaves; 1 lies within the undecided mass of it.

    Raises
    ------
    UndecidedLeafError
        If the probability of a leaf is undecided.
    """
    total = arb(0)
    for leaf in model.leaves:
        total = total + leaf_probability(leaf)
    return total


def _decided(constraints: Iterable[Constraint]) -> list[Constraint] | None:
    """Return the constraints on noise; None if a constant one fails.

    Raises
    ------
    UndecidedLeafError
        If data occur that are not numbers.
    """
    left = []
    for constraint in constraints:
        form = constraint.form
        if form.data:
            raise UndecidedLeafError("the data are not numbers")
        if any(noise.kind is NoiseKind.GEOMETRIC for noise in form.noise):
            raise UndecidedLeafError("a decision depends on noise on a lattice")
        if form.noise:
            left.append(constraint)
        elif form.constant < 0 or (form.constant == 0 and constraint.relation is Relation.ABOVE):
            return None
    return left


def _components(constraints: Sequence[Constraint]) -> list[tuple[Constraint, ...]]:
    """Split constraints into groups that share no noise."""
    groups: list[tuple[set[Noise], list[Constraint]]] = []
    for constraint in constraints:
        noises, joined = set(constraint.form.noise), [constraint]
        apart = []
        for other in groups:
            if other[0] & noises:
                noises |= other[0]
                joined = other[1] + joined
            else:
                apart.append(other)
        groups = [*apart, (noises, joined)]
    return [tuple(dict.fromkeys(joined)) for _, joined in groups]


@lru_cache(maxsize=1 << 14)
def _component_probability(constraints: tuple[Constraint, ...], bits: int) -> arb:
    """Enclose the probability of one component with about `bits` accurate bits."""
    rule = _rule(constraints)
    working = bits + GUARD
    while working <= LIMIT * bits + GUARD:
        with precision(working):
            value = _attempt(rule, constraints)
        if value.is_zero() or (value.is_finite() and value.rel_accuracy_bits() >= bits):
            return value
        working *= 2
    if _kinds(constraints) <= PIECEWISE:
        with precision(bits):
            return _exact(constraints).enclose()
    return value


def forget_probabilities() -> None:
    """Forget all probabilities and integrals that are remembered, as where rules are changed."""
    _component_probability.cache_clear()
    forget_functions()


def _attempt(rule: Callable[[Sequence[Constraint]], arb], constraints: Sequence[Constraint]) -> arb:
    try:
        return rule(constraints)
    except (NotAForestError, NoCommonFactorError) as error:
        kinds = ", ".join(sorted(_kinds(constraints)))
        raise UndecidedLeafError(f"{len(constraints)} constraints on {kinds} noise: {error}") from error


def _rule(constraints: Sequence[Constraint]) -> Callable[[Sequence[Constraint]], arb]:
    kinds, noises = _kinds(constraints), {noise for c in constraints for noise in c.form.noise}
    if len(noises) == 1:
        return interval_probability
    if kinds <= PIECEWISE:
        return _forest
    if kinds == {NoiseKind.GUMBEL}:
        return gumbel_probability
    if kinds == {NoiseKind.NORMAL}:
        return gaussian_probability
    raise UndecidedLeafError(f"{', '.join(sorted(kinds))} noise share constraints")


def _kinds(constraints: Iterable[Constraint]) -> set[NoiseKind]:
    return {noise.kind for constraint in constraints for noise in constraint.form.noise}


def _forest(constraints: Sequence[Constraint]) -> arb:
    variables, factors = factors_of(constraints, lift_ball)
    return forest_integral(variables, factors, lift_ball)


def _exact(constraints: Sequence[Constraint]) -> ExponentialSum:
    if not _kinds(constraints) <= PIECEWISE:
        raise UndecidedLeafError("only Laplace, exponential and uniform noise have exact probabilities")
    variables, factors = factors_of(constraints, ExponentialSum.lift)
    try:
        return forest_integral(variables, factors, ExponentialSum.lift)
    except NotAForestError as error:
        raise UndecidedLeafError(str(error)) from error
