"""Common part of the distributions of selection mechanisms: one score per candidate, one rate, equal scores grouped.

The exponential mechanism, permute-and-flip and Laplace noisy max depend on the scores only through
``rate * score`` with the rate epsilon / (2 sensitivity), or epsilon / sensitivity for monotone neighbours (all
scores move the same way). That factor 2 is where implementations differ, and go wrong.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from flint import arb

from dpassay.arguments import UsageError
from dpassay.spec.ball import Exact, exact
from dpassay.spec.domains.answers import NeighbouringAnswers

__all__ = ["LogReport", "Rivals", "SelectionDistribution", "block_losses", "selection_rate"]

Rivals = tuple[tuple[Fraction, int], ...]
"""The other candidates, as (score, how many have it)."""

LogReport = Callable[[Fraction, Rivals], arb]
"""The log-probability that a candidate is reported, of its score and its rivals."""


def block_losses(pair: NeighbouringAnswers, log_report: LogReport) -> list[arb]:
    """Enclose the privacy loss of reporting one candidate of each block, left over right.

    Where nothing moves the loss is exactly 0: two equal balls would not cancel.
    """
    losses = []
    for own in pair.blocks:
        others = pair.others(own)
        left = own.left, tuple((block.left, block.count) for block in others)
        right = own.right, tuple((block.right, block.count) for block in others)
        losses.append(arb(0) if left == right else log_report(*left) - log_report(*right))
    return losses


def selection_rate(epsilon: Exact, sensitivity: Exact, *, monotone: bool = False) -> Fraction:
    """Return epsilon / (2 sensitivity), without the 2 for monotone neighbours.

    Raises
    ------
    UsageError
        If epsilon or sensitivity is not a finite positive number.
    """
    budget, step = exact("epsilon", epsilon), exact("sensitivity", sensitivity)
    for name, value in (("epsilon", budget), ("sensitivity", step)):
        if value <= 0:
            raise UsageError(f"{name} must be positive, got {value}")
    return budget / (step if monotone else 2 * step)


@dataclass(frozen=True)
class SelectionDistribution(ABC):
    """The distribution of the index that a selection mechanism reports, on the outcomes 0, ..., d - 1.

    Parameters
    ----------
    answers : tuple of exact numbers
        The scores, at least one.
    epsilon, sensitivity : exact number
        Calibration, both positive.
    monotone : bool
        Whether the factor 2 is dropped.
    """

    answers: tuple[Exact, ...]
    epsilon: Exact
    sensitivity: Exact
    monotone: bool = False

    def __post_init__(self) -> None:
        if not self.answers:
            raise UsageError("answers must hold at least one number, got none")
        for answer in self.answers:
            exact("answers", answer)
        self.rate  # noqa: B018  # refuses bad calibrations at once

    @property
    def rate(self) -> Fraction:
        """Nats per unit of score."""
        return selection_rate(self.epsilon, self.sensitivity, monotone=self.monotone)

    @property
    def outcomes(self) -> tuple[Hashable, ...]:
        """The indices."""
        return tuple(range(len(self.answers)))

    def log_probability(self, outcome: Hashable) -> arb:
        """Enclose the logarithm of the probability that this index is reported."""
        if not (isinstance(outcome, int) and 0 <= outcome < len(self.answers)):
            raise UsageError(f"outcome must be an index below {len(self.answers)}, got {outcome!r}")
        own = exact("answers", self.answers[outcome])
        rivals = tuple((score, count - (score == own)) for score, count in self._counts if count > (score == own))
        return self.log_report_probability(own, rivals, self.rate)

    @cached_property
    def _counts(self) -> Rivals:
        return tuple(sorted(Counter(exact("answers", answer) for answer in self.answers).items()))

    @staticmethod
    @abstractmethod
    def log_report_probability(own: Fraction, rivals: Rivals, rate: Fraction) -> arb:
        """Enclose the log-probability that one candidate is reported against its rivals."""
