"""Relations that must hold among the numbers of a library, and facts about single numbers.

A comparison is a tuple: words with the parameters, a lower bound, a number of the library, and an upper bound. The
number that breaks it may cost privacy. The adapter says so of a comparison (`protects`, `spends`, `understates`), or
of all comparisons of a relation.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    Compared = tuple[str, float, float, float]
    Marked = tuple[str, float, float, float, str]

__all__ = ["Relations", "protects", "spends", "understates"]

_SIDES = ("below", "above", "either")


def protects(comparison: Compared) -> Marked:
    """Return a comparison whose number costs privacy below its bounds, such as a sensitivity or a scale of noise.

    Examples
    --------
    >>> protects(("sensitivity of a sum", 2.0, 1.0, float("inf")))
    ('sensitivity of a sum', 2.0, 1.0, inf, 'below')
    """
    words, low, value, high = comparison
    return words, low, value, high, "below"


def spends(comparison: Compared) -> Marked:
    """Return a comparison whose number costs privacy above its bounds, such as an epsilon or a loss at a point.

    Examples
    --------
    >>> spends(("epsilons of a fit", 0.0, 2.0, 1.0))
    ('epsilons of a fit', 0.0, 2.0, 1.0, 'above')
    """
    words, low, value, high = comparison
    return words, low, value, high, "above"


def understates(comparison: Compared) -> Marked:
    """Return a comparison whose number is stated as a bound on a loss: below its bounds it is unsound.

    Examples
    --------
    >>> understates(("epsilon of two steps", 2.0, 1.0, 2.1))
    ('epsilon of two steps', 2.0, 1.0, 2.1, 'understated')
    """
    words, low, value, high = comparison
    return words, low, value, high, "understated"


@dataclass(frozen=True)
class Relations:
    """Relations among the numbers of a library, at random valid parameters, and facts about single numbers.

    They need no samples and are asked before the laws that draw. Choose parameters that are not 1 and differ from each
    other, so that no factor, bound or count can be missing unnoticed.

    Parameters
    ----------
    name : str
        Unique in the adapter, such as ``GaussianPrivacyLoss``.
    relations : mapping
        Description such as ``delta is a sum``, to a function that takes a `random.Random`, draws valid parameters with
        it and yields comparisons: words with the parameters, a lower bound, a number of the
        library, and an upper bound. A number outside its bounds is a finding, and so is NaN; an exception of the
        library is one, because the parameters are valid.
    facts : mapping
        Description such as ``a half is subtracted from 2``, to a function without arguments that returns whether the
        fact holds. No description may be that of a relation.
    seconds : float, default 15.0
        Processor time that a relation or fact may take; one that takes longer is a finding, since a search that does
        not end answers nothing. It should be several times what they take on a slow machine.
    unsafe : mapping
        Description of a relation or fact that protects the records, to the side of its bounds on which a number of
        the library does not: ``below`` for noise and sensitivities, ``above`` for what is spent or lost, or
        ``either``. A number on this side is a violation, and every other one a wrong answer. A fact that does not
        hold is on both sides. It concerns the comparisons that say nothing of their own.
    understated : collection of str
        Descriptions of relations whose numbers the library states as bounds on a loss: below its bounds such a number
        is unsound.

    Raises
    ------
    ValueError
        If `seconds` is not a finite positive number, a description is used twice, or `unsafe` or `understated` have
        an unknown description or side.

    Examples
    --------
    >>> def squares(random):
    ...     x = random.uniform(0, 10)
    ...     yield f"x={x}", 0.0, x * x, 100.0
    >>> case = Relations("square", {"squares are positive": squares}, {"of three": lambda: 3**2 == 9})
    >>> case.compare("squares are positive", 1), case.compare("of three", 1)
    ({'compared': 1, 'broken': []}, {'compared': 1, 'broken': []})
    """

    name: str
    relations: Mapping[str, Callable[[random.Random], Iterable[Compared | Marked]]]
    facts: Mapping[str, Callable[[], Any]] = field(default_factory=dict)
    seconds: float = 15.0
    unsafe: Mapping[str, str] = field(default_factory=dict)
    understated: Collection[str] = ()

    def __post_init__(self) -> None:
        if not 0 < self.seconds < math.inf:
            raise ValueError(f"{self.name}: seconds must be a finite positive number, got {self.seconds!r}")
        both = sorted(self.relations.keys() & self.facts.keys())
        if both:
            raise ValueError(f"{self.name}: facts must not have the descriptions of relations, got {both}")
        for name, words in (("unsafe", list(self.unsafe)), ("understated", list(self.understated))):
            unknown = sorted(set(words) - (self.relations.keys() | self.facts.keys()))
            if unknown:
                raise ValueError(f"{self.name}: {name} must have descriptions of relations or facts, got {unknown}")
        sides = sorted(set(self.unsafe.values()) - set(_SIDES))
        if sides:
            raise ValueError(f"{self.name}: the sides of unsafe must be among {', '.join(_SIDES)}, got {sides}")

    def compare(self, relation: str, seed: int, *, until_broken: bool = False) -> dict[str, Any]:
        """Return the number of comparisons, and those that fail as (words, lower, value, upper, what it costs).

        The last one is ``below``, ``above`` or ``either`` for a number that costs privacy on this side,
        ``understated`` for a bound on a loss, and empty for others. A fact is one comparison; where it fails the words
        are empty. With `until_broken` the first that fails is the last: what the library was asked last is then what
        shows it.
        """
        compared, broken = 0, []
        for words, low, value, high, *cost in self._rows(relation, seed):
            compared += 1
            if not low <= value <= high:
                told = cost[0] if cost else self._cost_of(relation)
                broken.append([words, float(low), float(value), float(high), told])
                if until_broken:
                    break
        return {"compared": compared, "broken": broken}

    def _cost_of(self, relation: str) -> str:
        """Return what the numbers cost of comparisons that say nothing of their own."""
        if relation in self.understated:
            return "understated"
        if relation in self.facts and relation in self.unsafe:
            return "either"
        return self.unsafe.get(relation, "")

    def _rows(self, relation: str, seed: int) -> Iterable[Compared | Marked]:
        if relation in self.facts:
            return [("", 1.0, float(bool(self.facts[relation]())), 1.0)]
        return self.relations[relation](random.Random(seed))  # noqa: S311  # no secret: a draw that is repeated

    def describe(self) -> dict[str, Any]:
        """Return the description that the parent process reads."""
        facts = list(self.facts)
        return {"kind": "relations", "name": self.name, "relations": [*self.relations, *facts], "facts": facts}
