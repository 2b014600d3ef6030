"""Classes of pure and bounded-range mechanisms, and the exact delta of their batch or adaptive composition.

A *batch* is chosen before any interaction (the paper writes M_1 x M_2); in an *adaptive* sequence the mechanism and
the neighbours of each round may depend on all earlier outcomes ((M_1, M_2)). The two have different optimal deltas
as soon as bounded-range mechanisms take part, and mixing them up is the paper's own slip in eq. (5).

On a lattice everything is rational: parameters are multiples of log r, r = `base` rational, and so are the t of the
responses and the global epsilon. Losses then stay on the lattice, and the recursion of Lemma 5.1 with t restricted
to it is exact: it is the value of the game whose moves are the lattice responses, a lower bound of the supremum
over all t. Cesar and Rogers 2020, Defs 2.4 and 2.5, Lemma 5.1.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any, Literal

from dpassay.spec.distributions.discrete import hockey_stick_exact
from dpassay.spec.distributions.generalized_randomized_response import (
    RandomizedResponse,
    hinge,
    keep_probability,
    product_distributions,
    pure_response,
)
from dpassay.spec.domains.base import Domain
from dpassay.spec.interactions.transcripts import Interaction

__all__ = [
    "BatchesOnLattice",
    "ClassSequence",
    "ClassSequences",
    "ClassedInteraction",
    "ClassedInteractions",
    "LatticeBatch",
    "MechanismClass",
    "Shares",
    "adaptive_delta",
    "batch_delta",
    "bounded_range",
    "interaction_delta",
    "pure",
    "responses_of",
    "worst_interaction",
]


@dataclass(frozen=True)
class MechanismClass:
    """All epsilon-DP or all epsilon-bounded-range mechanisms, epsilon = `steps` log r on a lattice of base r."""

    kind: Literal["pure", "bounded range"]
    steps: int

    @property
    def reach(self) -> int:
        """The range of the losses of its worst mechanisms, in lattice steps."""
        return 2 * self.steps if self.kind == "pure" else self.steps

    @property
    def tops(self) -> tuple[int, ...]:
        """The largest losses, in lattice steps, of the responses to which its worst case reduces."""
        return (self.steps,) if self.kind == "pure" else tuple(range(self.steps + 1))


def pure(steps: int) -> MechanismClass:
    """Return the class of pure mechanisms."""
    return MechanismClass("pure", steps)


def bounded_range(steps: int) -> MechanismClass:
    """Return the class of bounded-range mechanisms."""
    return MechanismClass("bounded range", steps)


Classes = tuple[MechanismClass, ...]


@lru_cache(maxsize=200_000)
def adaptive_delta(base: Fraction, classes: Classes, level: int) -> Fraction:
    """Return delta_OPT of an adaptive sequence at epsilon_g = `level` log r, with every t on the lattice.

    delta(; a) = [1 - e^a]_+, and with a first class delta(class, rest; a) is the largest, over its responses, of
    q delta(rest; a - t) + (1 - q) delta(rest; a + epsilon - t). Printed for epsilon_g > 0 only, but it evaluates
    itself at negative levels, and holds at all of them (Lemma 5.1).
    """
    if not classes:
        return Fraction(hinge(1 - base**level))
    first, rest = classes[0], classes[1:]
    return max(_mean_after(base, first, rest, level, top) for top in first.tops)


def _mean_after(base: Fraction, first: MechanismClass, rest: Classes, level: int, top: int) -> Fraction:
    q = keep_probability(base**first.reach, base**top)
    kept = adaptive_delta(base, rest, level - top)
    return Fraction(q * kept + (1 - q) * adaptive_delta(base, rest, level + first.reach - top))


def responses_of(base: Fraction, each: MechanismClass) -> tuple[RandomizedResponse, ...]:
    """Return the lattice responses of a class."""
    if each.kind == "pure":
        return (pure_response(base**each.steps),)
    return tuple(RandomizedResponse(base**each.steps, base**top) for top in each.tops)


def batch_delta(base: Fraction, classes: Classes, level: int) -> Fraction:
    """Return delta_OPT of a batch at epsilon_g = `level` log r, with every t on the lattice, by enumeration."""
    budget = base**level
    choices = product(*(responses_of(base, each) for each in classes))
    return max(hockey_stick_exact(*product_distributions(chosen), budget) for chosen in choices)


# --- interactions -------------------------------------------------------------------------------------------


def interaction_delta(interaction: Interaction | None, budget: Fraction) -> Fraction:
    """Return the exact delta of an adaptive interaction at e^epsilon_g = `budget`, in the order left, right.

    The hockey-stick divergence of the two distributions of the whole transcript.
    """
    return sum((max(p - budget * q, Fraction(0)) for p, q in _transcript_masses(interaction)), Fraction(0))


def _transcript_masses(interaction: Interaction | None) -> Iterator[tuple[Fraction, Fraction]]:
    if interaction is None:
        yield Fraction(1), Fraction(1)
        return
    offer = interaction.offer
    for outcome in offer.outcomes:
        p, q = offer.left.probability(outcome), offer.right.probability(outcome)
        for left, right in _transcript_masses(interaction.after.get(outcome)):
            yield p * left, q * right


def worst_interaction(base: Fraction, classes: Classes, level: int) -> Interaction | None:
    """Return the analyst that attains `adaptive_delta`: the best response of each class, at the level of the loss."""
    if not classes:
        return None
    first, rest = classes[0], classes[1:]
    top = max(first.tops, key=lambda t: _mean_after(base, first, rest, level, t))
    offer = RandomizedResponse(base**first.reach, base**top).as_round()
    levels = {0: level - top, 1: level + first.reach - top}
    following = {answer: worst_interaction(base, rest, after) for answer, after in levels.items()}
    return Interaction(offer, {answer: node for answer, node in following.items() if node is not None})


# --- domains ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ClassSequence:
    """Classes in order, and a global epsilon, on a lattice of base `base`."""

    base: Fraction
    classes: Classes
    level: int

    @property
    def budget(self) -> Fraction:
        """e^epsilon_g."""
        return self.base**self.level

    def orders(self) -> Iterator[Classes]:
        """Yield every exchange of two neighbours."""
        for k in range(len(self.classes) - 1):
            swapped = list(self.classes)
            swapped[k], swapped[k + 1] = swapped[k + 1], swapped[k]
            yield tuple(swapped)


@dataclass(frozen=True)
class ClassSequences(Domain):
    """Sequences of mechanism classes on a lattice.

    Parameters
    ----------
    largest_length : int
        Largest number of classes, at least 1.
    largest_steps : int
        Largest parameter, in lattice steps.
    homogeneous : bool
        Whether all classes have one epsilon.
    kinds : tuple of str
        Which kinds take part.
    """

    largest_length: int = 4
    largest_steps: int = 4
    homogeneous: bool = False
    kinds: tuple[str, ...] = ("pure", "bounded range")

    def contains(self, value: Any) -> bool:
        """Return whether `value` is such a sequence."""
        return (
            isinstance(value, ClassSequence)
            and value.base > 1
            and 1 <= len(value.classes) <= self.largest_length
            and all(1 <= c.steps <= self.largest_steps and c.kind in self.kinds for c in value.classes)
            and not (self.homogeneous and len({c.steps for c in value.classes}) > 1)
        )


@dataclass(frozen=True)
class ClassedInteraction:
    """An adaptive interaction in which round i is a mechanism of class i of the sequence."""

    sequence: ClassSequence
    interaction: Interaction


@dataclass(frozen=True)
class ClassedInteractions(Domain):
    """Adaptive interactions of mechanisms of given classes: post-processed responses with any lattice t.

    Parameters
    ----------
    largest_length : int
        Largest number of rounds.
    """

    largest_length: int = 3

    def contains(self, value: Any) -> bool:
        """Return whether `value` is an interaction as long as its sequence, with rounds of the right classes."""
        return (
            isinstance(value, ClassedInteraction)
            and len(value.sequence.classes) <= self.largest_length
            and _obeys(value.sequence.base, value.sequence.classes, value.interaction)
        )


def _obeys(base: Fraction, classes: Classes, node: Interaction) -> bool:
    if not classes:
        return False
    ratios = [r for o in node.offer.outcomes if isinstance(r := node.offer.likelihood_ratio(o), Fraction) and r > 0]
    largest, least, first = max(ratios), min(ratios), classes[0]
    inside = largest <= base**first.steps * (1 if first.kind == "pure" else least)
    if first.kind == "pure":
        inside = inside and least * base**first.steps >= 1
    everywhere = len(ratios) == len(node.offer.outcomes)
    return inside and everywhere and all(_obeys(base, classes[1:], child) for child in node.after.values())


@dataclass(frozen=True)
class LatticeBatch:
    """A batch of m = `pure` and k - m = `bounded` mechanisms of one epsilon, on a lattice that holds the best t.

    epsilon = (k - m + 1) `epsilon_units` log r and epsilon_g = (k - m + 1) `level_units` log r, so that the
    candidates (epsilon_g + epsilon (l + 1 - m)) / (k - m + 1) of Thm 3 are multiples of log r.
    """

    base: Fraction
    bounded: int
    pure: int
    epsilon_units: int
    level_units: int

    @property
    def steps(self) -> int:
        """Epsilon in lattice steps."""
        return (self.bounded + 1) * self.epsilon_units

    @property
    def level(self) -> int:
        """epsilon_g in lattice steps."""
        return (self.bounded + 1) * self.level_units

    @property
    def ratio(self) -> Fraction:
        """e^epsilon."""
        return self.base**self.steps

    @property
    def budget(self) -> Fraction:
        """e^epsilon_g."""
        return self.base**self.level

    @property
    def classes(self) -> Classes:
        """The classes, bounded range first."""
        return (bounded_range(self.steps),) * self.bounded + (pure(self.steps),) * self.pure


@dataclass(frozen=True)
class BatchesOnLattice(Domain):
    """Such batches.

    Parameters
    ----------
    largest_bounded, largest_pure, largest_units : int
        Limits; at least one mechanism takes part.
    least_bounded : int
        The smallest number of bounded-range mechanisms.
    """

    largest_bounded: int = 3
    largest_pure: int = 3
    largest_units: int = 2
    least_bounded: int = 0

    def contains(self, value: Any) -> bool:
        """Return whether `value` is such a batch."""
        return (
            isinstance(value, LatticeBatch)
            and value.base > 1
            and self.least_bounded <= value.bounded <= self.largest_bounded
            and 0 <= value.pure <= self.largest_pure
            and value.bounded + value.pure >= 1
            and 1 <= value.epsilon_units <= self.largest_units
        )


@dataclass(frozen=True)
class Shares(Domain):
    """Tuples of rationals in [0, 1], as positions of parameters within their ranges."""

    length: int = 6

    def contains(self, value: Any) -> bool:
        """Return whether `value` is such a tuple."""
        return isinstance(value, tuple) and len(value) == self.length and all(0 <= share <= 1 for share in value)
