"""A fixed stream of small mechanisms behind a privacy filter; the outcome is the released transcript.

A *star* says nothing most of the time, and now and then names the secret bit, rightly or (less often) wrongly. It is
the worst mechanism that its privacy parameters allow, so a filter that lets one too many pass shows it at once.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import UsageError, require_probability
from dpassay.claims import ApproximateDP, Claim
from dpassay.impl.accounting.filters import (
    AnyOffer,
    ConcentratedOffer,
    ExPostFilter,
    ExPostOffer,
    FullyAdaptiveFilter,
    Offer,
    OfferedMechanism,
    PrivacyFilter,
    SelfReportingFilter,
    TwoBudgetFilter,
    ZCDPFilter,
    run_filtered,
)
from dpassay.impl.catalogue import catalogue
from dpassay.impl.validation import require_vector
from dpassay.neighbours import VectorNeighbours

__all__ = [
    "SILENT",
    "FilteredStars",
    "Star",
    "concentrated_composition",
    "ex_post_composition",
    "fully_adaptive_composition",
    "randomised_response",
    "self_reporting_composition",
    "two_budget_composition",
]

Array = NDArray[np.float64]

SILENT = -1
"""The symbol of a round in which the star said nothing."""


@dataclass(frozen=True)
class Star:
    """Names the bit with probability `truth`, the other with `truth` e^-loss, and is silent otherwise.

    Parameters
    ----------
    truth : float
        In [0, 1], such that the two probabilities sum to at most 1 (but for rounding).
    loss : float
        Privacy loss of naming the bit, at least 0; infinite for a star that never lies.
    offer : Offer
        What it promises the filter: any epsilon below `loss` with delta = `truth`, or epsilon = `loss` with delta 0.

    Raises
    ------
    UsageError
        If a parameter is out of its domain.
    """

    truth: float
    loss: float
    offer: AnyOffer

    def __post_init__(self) -> None:
        require_probability("truth", self.truth)
        if not self.loss >= 0:
            raise UsageError(f"loss must be at least 0, got {self.loss!r}")
        if self.truth + self.lie > 1 + 2.0**-50:
            raise UsageError(f"truth (1 + e^-loss) must be at most 1, got truth={self.truth!r}, loss={self.loss!r}")

    @property
    def lie(self) -> float:
        """Probability of naming the other bit."""
        return self.truth * math.exp(-self.loss)

    def loss_of(self, symbol: Any) -> float:
        """Return the ex-post bound of a symbol: silence reveals nothing."""
        return 0.0 if symbol == SILENT else self.loss


def randomised_response(epsilon: float) -> Star:
    """Return the star that is never silent: epsilon-DP, and the worst such mechanism."""
    return Star(1 / (1 + math.exp(-epsilon)), epsilon, Offer(epsilon))


@dataclass(frozen=True)
class FilteredStars:
    """The transcript of a stream of stars behind a filter: 0, 1 and `SILENT`, truncated where the filter halts.

    Parameters
    ----------
    stream : tuple of Star
        The mechanisms, in order; at least one.
    make_filter : callable
        Returns a fresh filter for a run.
    claim : Claim
        The claim of the composition.

    Raises
    ------
    UsageError
        If the stream is empty.
    """

    stream: tuple[Star, ...]
    make_filter: Callable[[], PrivacyFilter]
    claim: Claim

    def __post_init__(self) -> None:
        if not self.stream:
            raise UsageError("stream must hold at least one star")

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The guarantee of the composition."""
        return (self.claim,)

    @property
    def neighbours(self) -> VectorNeighbours:
        """A secret bit and the other one."""
        return VectorNeighbours(size=1, linf=1, low=0, high=1, integer=True)

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> Sequence[Any]:
        """Draw `size` transcripts on the bit `data`."""
        [bit] = require_vector("data", data, 1, 0, 1)
        if bit not in {0, 1}:
            raise UsageError(f"data must be [0] or [1], got {data!r}")
        spoken = np.array([star.truth for star in self.stream])
        spoken_or_lied = np.array([star.truth + star.lie for star in self.stream])
        uniform = rng.random((size, len(self.stream)))
        symbols = np.where(uniform < spoken, int(bit), np.where(uniform < spoken_or_lied, 1 - int(bit), SILENT))
        distinct, which = np.unique(symbols, axis=0, return_inverse=True)  # what the filter lets out depends on these
        transcripts = [self.released([int(symbol) for symbol in row]) for row in distinct]
        return [transcripts[index] for index in np.ravel(which)]

    def released(self, symbols: Sequence[int]) -> tuple[int, ...]:
        """Return the symbols of the stars that the filter releases."""

        def choose(outcomes: Sequence[Any]) -> OfferedMechanism | None:
            place = len(outcomes)
            if place == len(symbols):
                return None
            star = self.stream[place]
            return OfferedMechanism(star.offer, lambda: symbols[place], star.loss_of)

        return tuple(run_filtered(self.make_filter(), choose))


self_reporting_composition = catalogue(
    __name__,
    FilteredStars(
        stream=(Star(truth=0.01, loss=3.0, offer=Offer(0.1, 0.01)),) * 20,
        make_filter=lambda: SelfReportingFilter(epsilon=2.0, delta=0.05),
        claim=ApproximateDP(2.0, 0.05),
    ),
    items=(("lebensold2024", "fsrc_filter"), ("lebensold2024", "fsrc_privacy")),
)

fully_adaptive_composition = catalogue(
    __name__,
    FilteredStars(
        stream=(randomised_response(0.1),) * 10,
        make_filter=lambda: FullyAdaptiveFilter(epsilon=1.0, delta_slack=1e-5),
        claim=ApproximateDP(1.0, 1e-5),
    ),
    items=(
        ("lebensold2024", "dp_filter"),
        ("lebensold2024", "dp_privacy_filter"),
        ("lebensold2024", "compose_with_filter"),
    ),
)

concentrated_composition = catalogue(
    __name__,
    FilteredStars(
        stream=(Star(0.02, math.inf, ConcentratedOffer(0.0, 0.02)),) * 2
        + (Star(1 / (1 + math.exp(-0.5)), 0.5, ConcentratedOffer.of_approximate_dp(0.5)),) * 6,
        make_filter=lambda: ZCDPFilter(epsilon=2.0, delta_slack=0.05, delta_mechanisms=0.04),
        claim=ApproximateDP(2.0, 0.09),
    ),
    items=(("rogers2023", "privacy_filter"), ("rogers2023", "zcdp_filter")),
)

ex_post_composition = catalogue(
    __name__,
    FilteredStars(
        stream=(Star(0.3, 0.7, ExPostOffer(0.7)),) * 10,
        make_filter=lambda: ExPostFilter(epsilon=1.5),
        claim=ApproximateDP(1.5, 0.0),
    ),
    items=(("rogers2023", "ex_post_filter"),),
)

two_budget_composition = catalogue(
    __name__,
    FilteredStars(
        stream=(
            Star(0.3, 0.7, ExPostOffer(0.7)),
            Star(1 / (1 + math.exp(-0.5)), 0.5, ConcentratedOffer.of_approximate_dp(0.5)),
        )
        * 4,
        make_filter=lambda: TwoBudgetFilter(ZCDPFilter(epsilon=2.0, delta_slack=0.05), ExPostFilter(epsilon=1.5)),
        claim=ApproximateDP(3.5, 0.05),
    ),
    items=(("rogers2023", "two_budget_filter"), ("rogers2023", "zcdp_ex_post_sequence")),
)
