"""Output distributions of leaf models on numeric data, and the check that their leaves fill the space."""

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from flint import arb

from dpassay.arguments import UsageError
from dpassay.spec.ball import ATTAINED, ball, refine, sum_balls
from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.leaves.exponential_sums import ExponentialSum
from dpassay.spec.leaves.model import Leaf, LeafModel
from dpassay.spec.leaves.outcomes import released_numbers
from dpassay.spec.leaves.probability import UndecidedLeafError, exact_probability, leaf_probability
from dpassay.spec.verdict import Evidence, Holds, Undecided, Verdict, Violated

__all__ = ["LeafDistribution", "finite_distribution", "partition_of_unity"]


@dataclass(frozen=True)
class LeafDistribution:
    """The distribution of a model whose outcomes hold no noise, for the notions and divergences of `spec`.

    An outcome may have up to the undecided mass more than its leaves: the enclosures contain that. Outcomes that are
    not listed may have undecided mass, too, so that a pair of such distributions is not ready for comparison.

    Parameters
    ----------
    model : LeafModel
        On numeric data.

    Raises
    ------
    UsageError
        If an outcome holds noise, or data that are not numbers.
    """

    model: LeafModel

    def __post_init__(self) -> None:
        for leaf in self.model.leaves:
            if released_numbers(leaf.outcome):
                raise UsageError(f"outcomes must be discrete, got {leaf.outcome!r}")

    @cached_property
    def leaves_of(self) -> dict[Hashable, list[Leaf]]:
        """The leaves of each outcome."""
        groups: dict[Hashable, list[Leaf]] = {}
        for leaf in self.model.leaves:
            groups.setdefault(leaf.outcome, []).append(leaf)
        return groups

    @property
    def outcomes(self) -> tuple[Hashable, ...]:
        """All outcomes, also those of probability 0."""
        return tuple(self.leaves_of)

    def listed(self, outcome: Hashable) -> arb:
        """Enclose the probability of the leaves of an outcome, undecided mass aside; 0 for one that no leaf has.

        Raises
        ------
        UndecidedLeafError
            If no rule gives the probability of one of its leaves.
        """
        return sum_balls(leaf_probability(leaf) for leaf in self.leaves_of.get(outcome, []))

    def probability(self, outcome: Hashable) -> arb:
        """Enclose the probability of an outcome, which is at most the undecided mass for one that no leaf has.

        Raises
        ------
        UndecidedLeafError
            If no rule gives the probability of one of its leaves.
        """
        known = self.listed(outcome)
        return known.union(known + ball(self.model.undecided)) if self.model.undecided else known

    def log_probability(self, outcome: Hashable) -> arb:
        """Enclose the logarithm of the probability of an outcome; -inf if it is 0."""
        value = self.probability(outcome)
        return arb.neg_inf() if value.is_zero() else value.log()


def finite_distribution(model: LeafModel) -> FiniteDistribution | None:
    """Return the distribution with exact probabilities if all of them are rational, None otherwise.

    Raises
    ------
    UndecidedLeafError
        If an exact probability is undecided.
    """
    weights: dict[Hashable, Fraction] = {}
    for outcome, leaves in LeafDistribution(model).leaves_of.items():
        weight = sum((exact_probability(leaf) for leaf in leaves), start=ExponentialSum({})).rational
        if weight is None or model.undecided:
            return None
        weights[outcome] = weight
    return FiniteDistribution(weights)


def partition_of_unity(model: LeafModel) -> Verdict:
    """Decide whether the probabilities of all leaves sum to 1, up to the undecided mass.

    Balls cannot decide an equality: the sum is compared with 1 and with 1 - undecided with the slack `ATTAINED`.
    A leaf that is lost, overlaps with another one or has a wrong constraint shows here, unless its fault is smaller
    than the undecided mass.
    """

    def decide() -> Verdict | None:
        total = sum_balls(leaf_probability(leaf) for leaf in model.leaves)
        low, high = 1 - ball(model.undecided) - ball(ATTAINED), 1 + ball(ATTAINED)
        if total >= low and total <= high:
            return Holds(evidence=Evidence.ENCLOSED, slack=ATTAINED)
        if total < low or total > high:
            detail = f"the leaves have probability {total.str(12)} in total, undecided are {float(model.undecided):g}"
            return Violated(evidence=Evidence.ENCLOSED, slack=ATTAINED, detail=detail)
        return None

    try:
        verdict = refine(decide, start=96)
    except UndecidedLeafError as error:
        return Undecided(evidence=Evidence.ENCLOSED, detail=str(error))
    unknown = Undecided(evidence=Evidence.ENCLOSED, detail="the sum of the leaves is not enclosed")
    return unknown if verdict is None else verdict
