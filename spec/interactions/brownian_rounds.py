"""Rounds of Brownian noise reduction as offers to a budget: a grid of precisions, and the end of the run."""

import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpassay.spec.domains.base import Domain

__all__ = ["BrownianRound", "BrownianRounds"]


@dataclass(frozen=True)
class BrownianRound:
    """One round for a query of sensitivity 1.

    Parameters
    ----------
    precisions : tuple of Fraction
        u = 1/t, positive and rising strictly.
    end : int
        The index of the precision at which the run ended.
    """

    precisions: tuple[Fraction, ...]
    end: int

    @property
    def spent(self) -> Fraction:
        """The zCDP parameter of the actual round: half of the precision at its end."""
        return self.precisions[self.end] / 2


@dataclass(frozen=True)
class BrownianRounds(Domain):
    """Sequences of at most `most` rounds."""

    most: int = 6

    def contains(self, value: Any) -> bool:
        """Return whether `value` is such a sequence."""
        return isinstance(value, tuple) and len(value) <= self.most and all(_is_round(each) for each in value)


def _is_round(value: Any) -> bool:
    return (
        isinstance(value, BrownianRound)
        and 0 <= value.end < len(value.precisions)
        and value.precisions[0] > 0
        and all(a < b for a, b in itertools.pairwise(value.precisions))
    )
