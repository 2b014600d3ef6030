"""Domains of finite distributions: pairs of output distributions with a ratio e^epsilon, and kernels."""

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.domains.base import Domain

__all__ = ["FinitePairs", "Kernel", "Kernels", "PairAtRatio"]


@dataclass(frozen=True)
class PairAtRatio:
    """The output distributions of two neighbouring inputs on the outcomes 0, ..., n - 1, and ratio = e^epsilon.

    The ratio is rational, so that a comparison with e^epsilon may be an exact tie.
    """

    left: FiniteDistribution
    right: FiniteDistribution
    ratio: Fraction = Fraction(1)

    @property
    def swapped(self) -> "PairAtRatio":
        """The two inputs in the other order."""
        return PairAtRatio(self.right, self.left, self.ratio)

    @property
    def size(self) -> int:
        """The number of outcomes."""
        return len(self.left.weights)

    def mapped(self, kernel: "Kernel") -> "PairAtRatio":
        """Both distributions after one randomised post-processing step."""
        rows: dict[Hashable, FiniteDistribution] = dict(enumerate(kernel.rows))
        return PairAtRatio(self.left.mapped(rows), self.right.mapped(rows), self.ratio)


@dataclass(frozen=True)
class FinitePairs(Domain):
    """Pairs of rational distributions on at most `largest_size` common outcomes, with a ratio of at least 1.

    Parameters
    ----------
    largest_size : int
        Largest number of outcomes.
    positive : bool
        Whether the two differ and the right one gives every outcome a positive probability: then all divergences,
        left from right, are finite and above 0.
    """

    largest_size: int = 5
    positive: bool = False

    def contains(self, value: Any) -> bool:
        """Return whether `value` is such a pair; both distributions must list the outcomes 0, ..., n - 1."""
        if not (isinstance(value, PairAtRatio) and value.ratio >= 1 and 1 <= value.size <= self.largest_size):
            return False
        if self.positive and (value.left == value.right or not all(value.right.weights.values())):
            return False
        outcomes = tuple(range(value.size))
        return value.left.outcomes == outcomes == value.right.outcomes


@dataclass(frozen=True)
class Kernel:
    """A randomised map: `rows[o]` is the distribution of the image of outcome o."""

    rows: tuple[FiniteDistribution, ...]


@dataclass(frozen=True)
class Kernels(Domain):
    """Rational kernels from `inputs` outcomes to at most `largest_size` outcomes."""

    inputs: int = 5
    largest_size: int = 3

    def contains(self, value: Any) -> bool:
        """Return whether `value` is such a kernel; all its rows list the same outcomes."""
        return (
            isinstance(value, Kernel)
            and len(value.rows) == self.inputs
            and len({row.outcomes for row in value.rows}) == 1
            and 1 <= len(value.rows[0].outcomes) <= self.largest_size
        )
