"""Interactive mechanisms in concurrent composition: admissible queries, and the exact delta of the best adversary.

An interactive system answers queries depending on the queries and answers so far. In a concurrent composition the
adversary picks, after every answer, a system and a query, looking at everything; each system sees its own part of
the history only. Rogers, Samorodnitsky, Wu and Ramdas 2023, Defs 2.6 and 2.7.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from math import prod
from typing import Any

from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.domains.base import Domain

__all__ = [
    "Adversary",
    "History",
    "InteractiveSystem",
    "InteractiveSystems",
    "adversaries",
    "concurrent_delta",
    "delta_of_adversary",
    "one_query",
    "optimal_composition_delta",
    "own_history",
]

History = tuple[tuple[Hashable, Hashable], ...]
Transcript = tuple[tuple[int, Hashable, Hashable], ...]
Move = tuple[int, Hashable]


@dataclass(frozen=True)
class InteractiveSystem:
    """A pair of interactive systems, one for each of two neighbouring data sets.

    Parameters
    ----------
    answers : Mapping
        From (history, query) to the distributions of the answer on the left and on the right data set; a query that is
        not listed may not be asked.
    """

    answers: Mapping[tuple[History, Hashable], tuple[FiniteDistribution, FiniteDistribution]]

    def queries(self, history: History) -> list[Hashable]:
        """Return the admissible queries after a history."""
        return [query for past, query in self.answers if past == history]

    @property
    def swapped(self) -> "InteractiveSystem":
        """The two data sets in the other order."""
        return InteractiveSystem({key: (right, left) for key, (left, right) in self.answers.items()})


def one_query(left: FiniteDistribution, right: FiniteDistribution) -> InteractiveSystem:
    """Make the system that answers one query: a mechanism."""
    return InteractiveSystem({((), "ask"): (left, right)})


def own_history(transcript: Transcript, system: int) -> History:
    """Return the part of a transcript that belongs to a system: its queries and answers."""
    return tuple((query, answer) for who, query, answer in transcript if who == system)


def _moves(systems: Sequence[InteractiveSystem], transcript: Transcript) -> list[Move]:
    return [(i, q) for i, system in enumerate(systems) for q in system.queries(own_history(transcript, i))]


def _answers(
    systems: Sequence[InteractiveSystem], transcript: Transcript, move: Move
) -> Iterator[tuple[Hashable, Fraction, Fraction]]:
    i, query = move
    left, right = systems[i].answers[own_history(transcript, i), query]
    for answer in dict.fromkeys((*left.outcomes, *right.outcomes)):
        yield answer, left.probability(answer), right.probability(answer)


# --- the best adversary -------------------------------------------------------------------------------------


def concurrent_delta(systems: Sequence[InteractiveSystem], ratio: Fraction) -> Fraction:
    """Return the delta at e^epsilon = `ratio` of the concurrent composition: the largest over all adversaries.

    The hockey-stick divergence is a sum over transcripts, so that the best adversary is found by recursion. In both
    orders; randomised adversaries are mixtures and gain nothing; asking one more query loses nothing.
    """
    swapped = [system.swapped for system in systems]
    return max(_best(each, (), Fraction(1), Fraction(1), ratio) for each in (systems, swapped))


def _best(
    systems: Sequence[InteractiveSystem], transcript: Transcript, p: Fraction, q: Fraction, ratio: Fraction
) -> Fraction:
    if not p:
        return Fraction(0)
    moves = _moves(systems, transcript)
    if not moves:
        return max(Fraction(0), p - ratio * q)
    return max(
        sum(
            (
                _best(systems, (*transcript, (*move, answer)), p * a, q * b, ratio)
                for answer, a, b in _answers(systems, transcript, move)
            ),
            Fraction(0),
        )
        for move in moves
    )


# --- all adversaries, one by one ----------------------------------------------------------------------------

Adversary = Callable[[Transcript], Move]
"""A deterministic adversary that goes on as long as anything may be asked."""


def adversaries(systems: Sequence[InteractiveSystem]) -> Iterator[Adversary]:
    """Enumerate all deterministic adversaries; their number grows doubly exponentially."""
    for plan in _plans(systems, ()):
        yield plan.__getitem__


def _plans(systems: Sequence[InteractiveSystem], transcript: Transcript) -> Iterator[dict[Transcript, Move]]:
    moves = _moves(systems, transcript)
    if not moves:
        yield {}
    for move in moves:
        following = [(*transcript, (*move, answer)) for answer, _, _ in _answers(systems, transcript, move)]
        for choice in product(*(list(_plans(systems, after)) for after in following)):
            yield {transcript: move} | {key: value for plan in choice for key, value in plan.items()}


def delta_of_adversary(systems: Sequence[InteractiveSystem], adversary: Adversary, ratio: Fraction) -> Fraction:
    """Return the hockey-stick divergence of the transcripts of one adversary, in the order left, right."""
    total = Fraction(0)
    stack: list[tuple[Transcript, Fraction, Fraction]] = [((), Fraction(1), Fraction(1))]
    while stack:
        transcript, p, q = stack.pop()
        if not _moves(systems, transcript):
            total += max(Fraction(0), p - ratio * q)
            continue
        move = adversary(transcript)
        for answer, a, b in _answers(systems, transcript, move):
            stack.append(((*transcript, (*move, answer)), p * a, q * b))
    return total


# --- optimal composition ------------------------------------------------------------------------------------


def optimal_composition_delta(parameters: Sequence[tuple[Fraction, Fraction]], ratio: Fraction) -> Fraction:
    """Return the least delta at e^epsilon = `ratio` of any composition of (epsilon_i, delta_i)-DP mechanisms.

    1 - prod(1 - delta_i) (1 - S) with S = sum over subsets of max(0, e^(sum inside) - e^epsilon e^(sum outside)),
    divided by prod(1 + e^epsilon_i). Murtagh and Vadhan 2016, after Kairouz, Oh and Viswanath 2015.

    Parameters
    ----------
    parameters : sequence of (ratio, delta)
        e^epsilon_i and delta_i of each mechanism.
    ratio : Fraction
        At least 1.
    """
    ratios = [each for each, _ in parameters]
    everything = prod(ratios, start=Fraction(1))
    excess = Fraction(0)
    for size in range(len(ratios) + 1):
        for inside in combinations(ratios, size):
            chosen = prod(inside, start=Fraction(1))
            excess += max(Fraction(0), chosen - ratio * everything / chosen)
    excess /= prod((1 + each for each in ratios), start=Fraction(1))
    survival = prod((1 - delta for _, delta in parameters), start=Fraction(1))
    return 1 - survival * (1 - excess)


@dataclass(frozen=True)
class InteractiveSystems(Domain):
    """Pairs of small interactive systems with rational answers, each asked once or twice."""

    def contains(self, value: Any) -> bool:
        """Return whether `value` is a tuple of at most two interactive systems."""
        return (
            isinstance(value, tuple) and 1 <= len(value) <= 2 and all(isinstance(s, InteractiveSystem) for s in value)
        )
