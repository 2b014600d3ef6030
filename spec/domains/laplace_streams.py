"""Streams of answers on two neighbouring data sets, for comparisons with a threshold that has Laplace noise.

The noise is not part of a stream: statements calibrate it to the sensitivity.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpassay.spec.distributions.noisy_threshold import LaplaceThreshold
from dpassay.spec.domains.answers import Block
from dpassay.spec.domains.base import Domain

__all__ = ["Answers", "NoisyRun", "NoisyRuns", "ThresholdStream", "ThresholdStreams"]

Answers = tuple[Fraction, ...]


@dataclass(frozen=True)
class ThresholdStream:
    """The answers to a stream of queries on two neighbouring data sets, in order, and a public threshold.

    Parameters
    ----------
    blocks : tuple of Block
        Equal neighbours in the stream are grouped.
    threshold : Fraction
        The threshold.
    sensitivity : Fraction
        Largest change of an answer, positive.
    """

    blocks: tuple[Block, ...]
    threshold: Fraction
    sensitivity: Fraction

    @property
    def size(self) -> int:
        """The number of queries."""
        return sum(block.count for block in self.blocks)

    @property
    def sides(self) -> tuple[Answers, Answers]:
        """The answers on the left and on the right data set."""
        left = tuple(block.left for block in self.blocks for _ in range(block.count))
        return left, tuple(block.right for block in self.blocks for _ in range(block.count))

    @property
    def low(self) -> Fraction:
        """The least answer on either side."""
        return min(min(block.left, block.right) for block in self.blocks)

    @property
    def high(self) -> Fraction:
        """The largest answer on either side."""
        return max(max(block.left, block.right) for block in self.blocks)

    @property
    def is_monotone(self) -> bool:
        """Return whether all answers move the same way."""
        moves = [block.right - block.left for block in self.blocks]
        return min(moves) >= 0 or max(moves) <= 0

    def noise(self, threshold_cost: Fraction, query_cost: Fraction) -> LaplaceThreshold:
        """Return the noise of the threshold and of a query at which a step of the sensitivity has these costs."""
        return LaplaceThreshold(self.threshold, self.sensitivity / threshold_cost, self.sensitivity / query_cost)


@dataclass(frozen=True)
class ThresholdStreams(Domain):
    """Streams of arbitrary answers and thresholds, inside and far outside the range, with ties and both orders.

    Parameters
    ----------
    largest_size : int
        Largest number of queries.
    largest_blocks : int
        Largest number of groups.
    monotone : bool
        Whether all answers move the same way.
    """

    largest_size: int = 40
    largest_blocks: int = 4
    monotone: bool = False

    def contains(self, value: Any) -> bool:
        """Return whether `value` is such a stream."""
        return (
            isinstance(value, ThresholdStream)
            and value.sensitivity > 0
            and 0 < value.size <= self.largest_size
            and len(value.blocks) <= self.largest_blocks
            and all(abs(b.left - b.right) <= value.sensitivity and b.count > 0 for b in value.blocks)
            and (not self.monotone or value.is_monotone)
        )


@dataclass(frozen=True)
class NoisyRun:
    """A stream with the noise of one run: the variables of the proof of AboveThreshold.

    Parameters
    ----------
    stream : ThresholdStream
        Answers on both sides.
    noises : tuple of Fraction
        The noise of each answer.
    noisy_threshold : Fraction
        The threshold with its noise.
    """

    stream: ThresholdStream
    noises: Answers
    noisy_threshold: Fraction


@dataclass(frozen=True)
class NoisyRuns(Domain):
    """Runs on short streams, with ties between noisy answers and the noisy threshold."""

    largest_size: int = 6

    def contains(self, value: Any) -> bool:
        """Return whether `value` is such a run."""
        streams = ThresholdStreams(self.sentence, self.largest_size, self.largest_size)
        return (
            isinstance(value, NoisyRun) and streams.contains(value.stream) and len(value.noises) == value.stream.size
        )
