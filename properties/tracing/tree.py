"""The tree of decisions of a traced mechanism."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from dpassay.properties.tracing.forms import Row

__all__ = ["Cell", "Choice", "Limits", "Node", "Pending"]

Cell = tuple[Row, ...]


@dataclass(frozen=True)
class Limits:
    """The limits of a trace.

    Parameters
    ----------
    leaves : int
        Number of runs that end; the rest is undecided.
    decisions : int
        Number of decisions in a run; a run with more of them is undecided.
    seconds : float
        Time for the whole trace.
    values : int
        Number of values that one discrete draw may take.
    draws : int
        Number of noises in a run.
    negligible : Fraction
        Runs whose probability is certified to be smaller are undecided.
    """

    leaves: int = 20_000
    decisions: int = 2_000
    seconds: float = 60.0
    values: int = 4_096
    draws: int = 1_000_000
    negligible: Fraction = Fraction(1, 2**64)


@dataclass
class Node:
    """A decision, or a discrete draw, and the node after each answer.

    Parameters
    ----------
    question : object
        What is decided, as a value that can be compared with ``==``.
    count : int
        Number of answers.
    cell : callable
        From the place of an answer to the rows that it says about noise and data; together the cells cover
        everything. A discrete draw says nothing.
    label : str
        Name of a discrete draw; empty for decisions.
    weights : tuple of Fraction
        Probability of each value of a discrete draw.
    place : str
        File and line.
    missing : Fraction
        Upper bound on the probability of what no cell covers, beside an irrational number.
    """

    question: object
    count: int
    cell: Callable[[int], Cell]
    label: str = ""
    weights: tuple[Fraction, ...] = ()
    place: str = ""
    missing: Fraction = Fraction(0)
    options: tuple[int, ...] = ()
    children: "dict[int, Node]" = field(default_factory=dict)

    def agrees(self, other: "Node") -> bool:
        """Return whether the other node asks the same question."""
        return (self.label, self.weights, self.question) == (other.label, other.weights, other.question)

    @property
    def is_draw(self) -> bool:
        """Return whether this is a discrete draw."""
        return bool(self.label)


@dataclass(frozen=True, order=True)
class Pending:
    """A prefix of decisions with which the mechanism is to be run; shorter ones come first.

    Parameters
    ----------
    length, number : int
        Length of the prefix, and order of arrival.
    prefix : tuple of int
        The answers.
    mass : Fraction
        Upper bound on the probability of the runs with this prefix.
    """

    length: int
    number: int
    prefix: tuple[int, ...] = field(compare=False)
    mass: Fraction = field(compare=False)

    @classmethod
    def at(cls, prefix: Sequence[int], number: int, mass: Fraction) -> "Pending":
        """Return the prefix as pending."""
        return cls(len(prefix), number, tuple(prefix), mass)


Choice = tuple[str, Hashable]
