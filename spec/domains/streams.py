"""Streams of queries for AboveThreshold, on two neighbouring data sets.

A setting is what the analyst fixes (range, sensitivity, threshold, noise); a pair of neighbouring streams adds
the answers, in the order in which they are asked.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated, Any

from flint import arb

from dpassay.spec.distributions.above_threshold import GaussianAboveThresholdDistribution, log_halting_probability
from dpassay.spec.domains.answers import Block
from dpassay.spec.domains.base import Domain

__all__ = ["AnyStreams", "NeighbouringStreams", "StreamPairs", "ThresholdSetting", "ThresholdSettings", "last_apart"]

FARTHEST = 5
"""The largest distance of a threshold from the range, in units of noise (sigma_threshold + sigma_query).

Farther out some outcome has a probability so close to 1 that its loss, positive still, has no digits left.
"""


@dataclass(frozen=True)
class ThresholdSetting:
    """The parameters of AboveThreshold on queries with range [low, high] and the given sensitivity."""

    low: Fraction
    high: Fraction
    sensitivity: Fraction
    threshold: Fraction
    sigma_threshold: Fraction
    sigma_query: Fraction

    @property
    def width(self) -> Fraction:
        """The width of the range."""
        return self.high - self.low

    @property
    def step(self) -> Fraction:
        """Largest change of an answer: the sensitivity, at most the width of the range."""
        return min(self.sensitivity, self.width)

    def is_moderate(self, noise: Fraction) -> bool:
        """Return whether a noise scale lies between a tenth of the width of the range and ten widths."""
        return self.width <= 10 * noise <= 100 * self.width

    @classmethod
    def of(cls, text: str) -> "ThresholdSetting":
        """Make a setting of six rationals: low, high, sensitivity, threshold, sigma_threshold, sigma_query.

        Examples
        --------
        >>> ThresholdSetting.of("0 1 1/10 1/2 3/20 13/50").width
        Fraction(1, 1)
        """
        return cls(*map(Fraction, text.split()))

    def shifted(self, by: Fraction) -> "ThresholdSetting":
        """Return the setting with range and threshold moved."""
        return replace(self, low=self.low + by, high=self.high + by, threshold=self.threshold + by)

    def scaled(self, by: Fraction) -> "ThresholdSetting":
        """Return the setting in other units."""
        return ThresholdSetting(
            *(by * x for x in (self.low, self.high, self.sensitivity)),
            *(by * x for x in (self.threshold, self.sigma_threshold, self.sigma_query)),
        )

    def log_halts(self, below: Iterable[tuple[Fraction, int]], above: Fraction | None) -> arb:
        """Enclose the log-probability that the answers `below` stay below and `above` passes (None: no more)."""
        return log_halting_probability(below, above, self.threshold, self.sigma_threshold, self.sigma_query)

    def distribution(self, answers: Iterable[Fraction]) -> GaussianAboveThresholdDistribution:
        """Return the exact distribution of the halting time."""
        return GaussianAboveThresholdDistribution(
            tuple(answers), self.threshold, self.sigma_threshold, self.sigma_query
        )


@dataclass(frozen=True)
class ThresholdSettings(Domain):
    """Settings with any range, any positive sensitivity, thresholds in the range and well outside it.

    Parameters
    ----------
    moderate : bool
        Whether both noise scales lie between a tenth of the width of the range and ten widths.
    """

    moderate: bool = False

    def contains(self, value: Any) -> bool:
        """Return whether `value` is such a setting."""
        return (
            isinstance(value, ThresholdSetting)
            and self._is_valid(value)
            and (not self.moderate or all(map(value.is_moderate, (value.sigma_threshold, value.sigma_query))))
        )

    @staticmethod
    def _is_valid(value: ThresholdSetting) -> bool:
        noise = value.sigma_threshold + value.sigma_query
        return (
            min(value.width, value.sensitivity, value.sigma_threshold, value.sigma_query) > 0
            and value.low - FARTHEST * noise <= value.threshold <= value.high + FARTHEST * noise
        )


@dataclass(frozen=True)
class NeighbouringStreams:
    """The answers to a stream of queries on two neighbouring data sets, with equal consecutive queries grouped."""

    setting: ThresholdSetting
    blocks: tuple[Block, ...]

    @property
    def size(self) -> int:
        """The number of queries."""
        return sum(block.count for block in self.blocks)

    @property
    def swapped(self) -> "NeighbouringStreams":
        """The same two data sets in the other order."""
        return NeighbouringStreams(self.setting, tuple(Block(b.right, b.left, b.count) for b in self.blocks))

    @property
    def left(self) -> tuple[tuple[Fraction, int], ...]:
        """The left answers as (answer, count)."""
        return tuple((block.left, block.count) for block in self.blocks)

    @property
    def right(self) -> tuple[tuple[Fraction, int], ...]:
        """The right answers as (answer, count)."""
        return tuple((block.right, block.count) for block in self.blocks)

    def distributions(self) -> tuple[GaussianAboveThresholdDistribution, GaussianAboveThresholdDistribution]:
        """Return the exact distributions on both data sets."""
        left, right = ([x for x, n in side for _ in range(n)] for side in (self.left, self.right))
        return self.setting.distribution(left), self.setting.distribution(right)

    def halting_loss(self) -> arb:
        """Enclose the privacy loss, left over right, of halting at the last query."""
        return self.setting.log_halts(*last_apart(self.left)) - self.setting.log_halts(*last_apart(self.right))

    def all_below_loss(self) -> arb:
        """Enclose the privacy loss, left over right, of never halting."""
        return self.setting.log_halts(self.left, None) - self.setting.log_halts(self.right, None)


@dataclass(frozen=True)
class StreamPairs(Domain):
    """Pairs of neighbouring streams in any setting, with ties, corners and both orders.

    Parameters
    ----------
    largest_size : int
        Largest number of queries.
    largest_blocks : int
        Largest number of groups.
    non_negative : bool
        Whether thresholds lie at or above the lower end of the range and sigma_query >= sqrt(3) sigma_threshold.
    """

    largest_size: int = 10**6
    largest_blocks: int = 4
    non_negative: bool = False

    def contains(self, value: Any) -> bool:
        """Return whether `value` is a valid pair of that size."""
        return (
            isinstance(value, NeighbouringStreams)
            and ThresholdSettings(self.sentence).contains(value.setting)
            and 0 < value.size <= self.largest_size
            and len(value.blocks) <= self.largest_blocks
            and all(_is_obeyed(value.setting, block) for block in value.blocks)
            and (not self.non_negative or _is_non_negative(value.setting))
        )


AnyStreams = Annotated[
    NeighbouringStreams, StreamPairs("a pair of streams of answers of neighbouring data sets", largest_blocks=3)
]
"""The quantifier of most statements on AboveThreshold."""


def last_apart(answers: tuple[tuple[Fraction, int], ...]) -> tuple[list[tuple[Fraction, int]], Fraction]:
    """Split grouped answers into all but the last one, and the last one."""
    *first, (last, count) = answers
    return [*first, (last, count - 1)], last


def _is_obeyed(setting: ThresholdSetting, block: Block) -> bool:
    return (
        setting.low <= min(block.left, block.right)
        and max(block.left, block.right) <= setting.high
        and abs(block.left - block.right) <= setting.sensitivity
        and block.count > 0
    )


def _is_non_negative(setting: ThresholdSetting) -> bool:
    return setting.threshold >= setting.low and setting.sigma_query**2 >= 3 * setting.sigma_threshold**2
