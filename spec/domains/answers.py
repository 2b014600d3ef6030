"""Query answers on two neighbouring data sets.

Every bound of this field on query-answering mechanisms depends on the data only through the answers: vectors
in [low, high] whose coordinates differ by at most the sensitivity. Equal coordinates are grouped, so that a
million queries are as easy to write down as two.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dpassay.spec.domains.base import Domain

__all__ = ["AnswerPairs", "Block", "NeighbouringAnswers"]


@dataclass(frozen=True)
class Block:
    """`count` queries that all answer `left` on one data set and `right` on its neighbour."""

    left: Fraction
    right: Fraction
    count: int = 1


@dataclass(frozen=True)
class NeighbouringAnswers:
    """The answers of queries with range [low, high] and the given sensitivity on two neighbouring data sets."""

    blocks: tuple[Block, ...]
    low: Fraction
    high: Fraction
    sensitivity: Fraction

    @property
    def size(self) -> int:
        """The number of queries."""
        return sum(block.count for block in self.blocks)

    @property
    def width(self) -> Fraction:
        """The width of the range."""
        return self.high - self.low

    @property
    def swapped(self) -> "NeighbouringAnswers":
        """The same two data sets in the other order."""
        blocks = tuple(Block(block.right, block.left, block.count) for block in self.blocks)
        return NeighbouringAnswers(blocks, self.low, self.high, self.sensitivity)

    def others(self, own: Block) -> tuple[Block, ...]:
        """Return the blocks of all queries but one of the block `own`."""
        remaining = list(self.blocks)
        remaining.remove(own)
        rest = (replace(own, count=own.count - 1),) if own.count > 1 else ()
        return (*remaining, *rest)

    @property
    def is_valid(self) -> bool:
        """Return whether range and sensitivity are obeyed."""
        return self.size > 0 and all(
            self.low <= min(block.left, block.right)
            and max(block.left, block.right) <= self.high
            and abs(block.left - block.right) <= self.sensitivity
            and block.count > 0
            for block in self.blocks
        )


@dataclass(frozen=True)
class AnswerPairs(Domain):
    """Pairs of answer vectors: any range, any sensitivity (also above the width), ties, corners, both orders.

    Parameters
    ----------
    largest_size : int
        Largest number of queries.
    largest_blocks : int
        Largest number of groups of equal queries.
    """

    largest_size: int = 10**6
    largest_blocks: int = 4

    def contains(self, value: Any) -> bool:
        """Return whether `value` is a valid pair of that size."""
        return (
            isinstance(value, NeighbouringAnswers)
            and value.is_valid
            and value.size <= self.largest_size
            and len(value.blocks) <= self.largest_blocks
        )
