"""Discrete output distributions and their divergences.

A distribution tells the logarithm of each outcome's probability, enclosed at the working precision. Where the
probabilities are rational it is a `FiniteDistribution`, and the comparisons have exact forms, in which
``e^epsilon`` enters as a rational `ratio`.
"""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from flint import arb

from dpassay.arguments import UsageError
from dpassay.spec.ball import ball, sum_balls

__all__ = [
    "DiscreteDistribution",
    "FiniteDistribution",
    "hockey_stick",
    "hockey_stick_exact",
    "least_delta",
    "loss_range",
    "loss_tail",
    "loss_tail_exact",
    "losses",
    "max_divergence",
    "mixture",
    "privacy_loss",
    "relative_entropy",
    "renyi_divergence",
    "renyi_moment_exact",
]


class DiscreteDistribution(Protocol):
    """A distribution on finitely many outcomes."""

    @property
    def outcomes(self) -> tuple[Hashable, ...]:
        """All outcomes that may have positive probability."""
        ...

    def log_probability(self, outcome: Hashable) -> arb:
        """Enclose the logarithm of the probability of an outcome; -inf if it is 0."""
        ...


@dataclass(frozen=True)
class FiniteDistribution:
    """A distribution with rational probabilities.

    Parameters
    ----------
    weights : Mapping of outcome to Fraction
        Probabilities, summing to 1.

    Raises
    ------
    UsageError
        If a probability is negative or they do not sum to 1.
    """

    weights: Mapping[Hashable, Fraction]

    def __post_init__(self) -> None:
        if any(weight < 0 for weight in self.weights.values()) or sum(self.weights.values()) != 1:
            raise UsageError(f"weights must be probabilities that sum to 1, got {dict(self.weights)!r}")

    @classmethod
    def of(cls, *weights: int | Fraction) -> "FiniteDistribution":
        """Make a distribution on 0, 1, ... proportional to non-negative weights."""
        total = sum(weights)
        if total <= 0:
            raise UsageError(f"weights must have a positive sum, got {weights!r}")
        return cls({k: Fraction(weight, 1) / total for k, weight in enumerate(weights)})

    @property
    def outcomes(self) -> tuple[Hashable, ...]:
        """All outcomes, also those of probability 0."""
        return tuple(self.weights)

    def probability(self, outcome: Hashable) -> Fraction:
        """Return the probability of an outcome, 0 for one that is not listed."""
        return self.weights.get(outcome, Fraction(0))

    def log_probability(self, outcome: Hashable) -> arb:
        """Enclose the logarithm of the probability."""
        weight = self.probability(outcome)
        return ball(weight).log() if weight else arb.neg_inf()

    def mapped(self, kernel: Mapping[Hashable, "FiniteDistribution"]) -> "FiniteDistribution":
        """Return the distribution after a randomised post-processing step."""
        result: dict[Hashable, Fraction] = {}
        for outcome, weight in self.weights.items():
            for image, share in kernel[outcome].weights.items():
                result[image] = result.get(image, Fraction(0)) + weight * share
        return FiniteDistribution(result)


def mixture(share: Fraction, first: FiniteDistribution, second: FiniteDistribution) -> FiniteDistribution:
    """Return share first + (1 - share) second."""
    outcomes = dict.fromkeys((*first.outcomes, *second.outcomes))
    return FiniteDistribution({
        outcome: share * first.probability(outcome) + (1 - share) * second.probability(outcome)
        for outcome in outcomes
    })  # fmt: skip


def _joined(left: DiscreteDistribution, right: DiscreteDistribution) -> Iterator[tuple[Hashable, arb, arb]]:
    """Yield (outcome, log P, log Q) for every outcome that the left can produce."""
    known = frozenset(right.outcomes)
    for outcome in left.outcomes:
        log_p = left.log_probability(outcome)
        if log_p == arb.neg_inf():
            continue  # only a certain 0 is dropped: between balls ``!=`` is not the negation of ``==``
        yield outcome, log_p, right.log_probability(outcome) if outcome in known else arb.neg_inf()


def _log_probability(distribution: DiscreteDistribution, outcome: Hashable) -> arb:
    return distribution.log_probability(outcome) if outcome in distribution.outcomes else arb.neg_inf()


# --- comparisons, enclosed ----------------------------------------------------------------------------------


def privacy_loss(left: DiscreteDistribution, right: DiscreteDistribution, outcome: Hashable) -> arb:
    """Enclose log(P(outcome) / Q(outcome)): +inf where only the left can produce it, -inf where only the right can.

    Raises
    ------
    UsageError
        If neither can: such an outcome has no loss.
    """
    log_p, log_q = _log_probability(left, outcome), _log_probability(right, outcome)
    if log_q == arb.neg_inf():
        if log_p == arb.neg_inf():
            raise UsageError(f"outcome {outcome!r} has probability 0 under both distributions")
        return arb.pos_inf()
    return log_p - log_q


def losses(left: DiscreteDistribution, right: DiscreteDistribution) -> list[tuple[arb, arb]]:
    """Enclose (log P(o), privacy loss of o) for every outcome o that the left can produce."""
    return [(log_p, log_p - log_q) for _, log_p, log_q in _joined(left, right)]


def max_divergence(left: DiscreteDistribution, right: DiscreteDistribution) -> arb:
    """Enclose the largest privacy loss over the outcomes that the left can produce."""
    largest = arb.neg_inf()
    for _, loss in losses(left, right):
        largest = largest.max(loss)
    return largest


def loss_range(left: DiscreteDistribution, right: DiscreteDistribution) -> arb:
    """Enclose the largest minus the smallest privacy loss over the outcomes that the left can produce."""
    (_, smallest), *others = losses(left, right)
    for _, loss in others:
        smallest = smallest.min(loss)
    return max_divergence(left, right) - smallest


def hockey_stick(left: DiscreteDistribution, right: DiscreteDistribution, epsilon: arb) -> arb:
    """Enclose sum_o max(0, P(o) - e^epsilon Q(o)): the least delta for this epsilon."""
    excess = (log_p.exp() - (epsilon + log_q).exp() for _, log_p, log_q in _joined(left, right))
    return sum_balls(x.max(arb(0)) for x in excess)


def loss_tail(left: DiscreteDistribution, right: DiscreteDistribution, epsilon: arb) -> arb:
    """Enclose the probability that the privacy loss exceeds epsilon, strictly, under the left."""
    total = arb(0)
    for log_p, loss in losses(left, right):
        if loss > epsilon:
            total = total + log_p.exp()
        elif not loss <= epsilon:
            total = total + arb(0).union(log_p.exp())
    return total


def renyi_divergence(left: DiscreteDistribution, right: DiscreteDistribution, alpha: arb) -> arb:
    """Enclose the Renyi divergence of order alpha > 1: log(sum_o P^alpha Q^(1-alpha)) / (alpha - 1).

    The exponent stands inside the expectation: D_alpha = log E_Q[(P/Q)^alpha] / (alpha - 1).
    """
    moments = []
    for log_p, loss in losses(left, right):
        if loss == arb.pos_inf():
            return arb.pos_inf()
        moments.append((log_p + (alpha - 1) * loss).exp())
    return sum_balls(moments).log() / (alpha - 1)


def relative_entropy(left: DiscreteDistribution, right: DiscreteDistribution) -> arb:
    """Enclose E_P[log P/Q], the limit of the Renyi divergence for alpha -> 1."""
    terms = losses(left, right)
    if any(loss == arb.pos_inf() for _, loss in terms):
        return arb.pos_inf()
    return sum_balls(log_p.exp() * loss for log_p, loss in terms)


# --- comparisons, exact -------------------------------------------------------------------------------------


def hockey_stick_exact(left: FiniteDistribution, right: FiniteDistribution, ratio: Fraction) -> Fraction:
    """Return sum_o max(0, P(o) - ratio Q(o)), with ratio = e^epsilon."""
    excess = (weight - ratio * right.probability(o) for o, weight in left.weights.items())
    return sum((x for x in excess if x > 0), Fraction(0))


def least_delta(left: FiniteDistribution, right: FiniteDistribution, ratio: Fraction) -> Fraction:
    """Return the least delta of (epsilon, delta)-indistinguishability, ratio e^epsilon: the larger of both orders."""
    return max(hockey_stick_exact(left, right, ratio), hockey_stick_exact(right, left, ratio))


def loss_tail_exact(left: FiniteDistribution, right: FiniteDistribution, ratio: Fraction) -> Fraction:
    """Return the left probability of {o : P(o) > ratio Q(o)}, with ratio = e^epsilon."""
    return sum((w for o, w in left.weights.items() if w > ratio * right.probability(o)), Fraction(0))


def renyi_moment_exact(left: FiniteDistribution, right: FiniteDistribution, alpha: int) -> Fraction | None:
    """Return E_Q[(P/Q)^alpha] = e^((alpha - 1) D_alpha) for an integer alpha >= 1; None if it is infinite."""
    total = Fraction(0)
    for outcome, p in left.weights.items():
        if p:
            q = right.probability(outcome)
            if not q:
                return None
            total += q * (p / q) ** alpha
    return total
