"""Densities of released numbers: exact losses where the numbers determine all noises and no decision touches them.

Let y = A z + c be the numbers that a leaf releases on the left and y = A z + c' those on the right, A invertible and
no constraint on z. The same y arises on the right from z + d, d = A^-1 (c - c'), and the privacy loss at y is

    log(w / w') + sum_i (log f_i(z_i) - log f_i(z_i + d_i)),

w and w' the weights of the two leaves. It is a sum over independent noises, and its supremum is the sum of theirs:

==================  ===========================================================
noise               sup of log f(z) - log f(z + d), for d not 0
==================  ===========================================================
Laplace, logistic   |d|
exponential         d for d > 0; for d < 0 the right has no density at some z
Gumbel              d for d > 0; unbounded for d < 0
uniform             the right has no density at some z
normal              unbounded; a Gaussian pair of shift |d| in its own right
==================  ===========================================================
"""

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from dpassay.spec.ball import ball, max_balls, sum_balls
from dpassay.spec.leaves.model import Leaf, LeafModel, Noise, NoiseKind
from dpassay.spec.leaves.outcomes import skeleton
from dpassay.spec.leaves.probability import UndecidedLeafError
from dpassay.spec.leaves.supports import inverse

__all__ = ["ReleasedLoss", "released_losses", "worst_released_loss"]


@dataclass(frozen=True)
class ReleasedLoss:
    """The privacy loss of all outcomes of one structure.

    Parameters
    ----------
    structure : Hashable
        The outcome without its numbers.
    weights : (Fraction, Fraction)
        Probability of the structure on the left and on the right.
    shifts : Mapping of Noise to Fraction
        The shift d of each noise from left to right, in units of the standard noise.
    """

    structure: Hashable
    weights: tuple[Fraction, Fraction]
    shifts: Mapping[Noise, Fraction]

    @property
    def supremum(self) -> arb:
        """Enclose the largest privacy loss; infinite where it is unbounded."""
        left, right = self.weights
        if not right:
            return arb.pos_inf()
        terms = [_supremum(noise.kind, shift) for noise, shift in self.shifts.items()]
        return (ball(left) / ball(right)).log() + sum_balls(terms)

    @property
    def gaussian_shift(self) -> arb | None:
        """Enclose the Euclidean norm of the shift if all noise is normal, None otherwise."""
        if any(noise.kind is not NoiseKind.NORMAL for noise in self.shifts):
            return None
        return ball(sum((shift**2 for shift in self.shifts.values()), Fraction(0))).sqrt()


def _supremum(kind: NoiseKind, shift: Fraction) -> arb:
    """Return the supremum of log f(z) - log f(z + shift)."""
    if not shift:
        return arb(0)
    if kind in {NoiseKind.LAPLACE, NoiseKind.LOGISTIC}:
        return ball(abs(shift))
    if kind in {NoiseKind.EXPONENTIAL, NoiseKind.GUMBEL} and shift > 0:
        return ball(shift)
    return arb(math.inf)


def worst_released_loss(left: LeafModel, right: LeafModel) -> arb:
    """Enclose the largest privacy loss of left against right.

    Raises
    ------
    UndecidedLeafError
        If the densities are not of the simple form above.
    """
    return max_balls(loss.supremum for loss in released_losses(left, right))


def released_losses(left: LeafModel, right: LeafModel) -> list[ReleasedLoss]:
    """Return the losses of all structures that the left can produce.

    Parameters
    ----------
    left, right : LeafModel
        On numeric data, without undecided mass.

    Raises
    ------
    UndecidedLeafError
        If two leaves share a structure, a released number is touched by a decision, or the numbers do not determine
        the noises by the same matrix on both sides.
    """
    if left.undecided or right.undecided:
        raise UndecidedLeafError("densities need models without undecided mass")
    others = _by_structure(right)
    return [_loss(structure, leaf, others.get(structure)) for structure, leaf in _by_structure(left).items()]


def _by_structure(model: LeafModel) -> dict[Hashable, Leaf]:
    leaves: dict[Hashable, Leaf] = {}
    for leaf in model.leaves:
        structure, numbers = skeleton(leaf.outcome)
        constants = tuple((i, number.constant) for i, number in enumerate(numbers) if number.is_constant)
        if (structure, constants) in leaves:
            raise UndecidedLeafError("two leaves release numbers in the same structure")
        if leaf.constraints:
            raise UndecidedLeafError("a decision depends on noise")
        if leaf.weight:
            leaves[structure, constants] = leaf
    return leaves


def _loss(structure: Hashable, left: Leaf, right: Leaf | None) -> ReleasedLoss:
    if right is None:
        return ReleasedLoss(structure, (left.weight, Fraction(0)), {})
    own, other = inverse(left), inverse(right)
    if own is None or other is None:
        raise UndecidedLeafError("the released numbers do not determine the noise")
    if any(noise not in other or other[noise].data != own[noise].data for noise in own) or len(own) != len(other):
        raise UndecidedLeafError("the scales or the noises differ between the two inputs")
    shifts = {noise: other[noise].constant - own[noise].constant for noise in own}
    return ReleasedLoss(structure, (left.weight, right.weight), shifts)
