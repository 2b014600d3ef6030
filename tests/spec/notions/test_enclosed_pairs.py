"""A pair whose probabilities are enclosed is decided as the same pair with rational ones, in either order."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass

import pytest
from flint import arb

from dpassay.claims import (
    ZCDP,
    ApproximateDP,
    ApproximateZCDP,
    BoundedRange,
    Claim,
    ConcentratedDP,
    ExPost,
    GaussianDP,
    ProbabilisticDP,
    PureDP,
    RenyiDP,
)
from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.notions.base import all_notions, find_notion
from dpassay.spec.verdict import Outcome

CLAIMS: dict[type[Claim], Callable[[float], Claim]] = {
    PureDP: PureDP,
    ApproximateDP: lambda level: ApproximateDP(0.25, min(level, 1.0)),
    ProbabilisticDP: lambda level: ProbabilisticDP(level, 0.1),
    RenyiDP: lambda level: RenyiDP(3.0, level),
    ZCDP: ZCDP,
    ApproximateZCDP: lambda level: ApproximateZCDP(level, 0.0, level / 8),
    ConcentratedDP: lambda level: ConcentratedDP(level, 4 * level),
    BoundedRange: BoundedRange,
    GaussianDP: GaussianDP,
    ExPost: lambda level: ExPost(lambda outcome: level * (1 + int(str(outcome)))),
}
SYMMETRIC = {BoundedRange, GaussianDP}
"""The range of the losses is the same in either order; the trade-off functions of both orders are inverse to each
other, and that of two unit Gaussians is its own inverse."""

ONE, OTHER = FiniteDistribution.of(40, 9, 1), FiniteDistribution.of(35, 5, 10)
LEVELS = [0.02 * 1.2**step for step in range(32)]


@dataclass(frozen=True)
class Enclosed:
    """A rational distribution that shows balls only."""

    exact: FiniteDistribution

    @property
    def outcomes(self) -> tuple[Hashable, ...]:
        return self.exact.outcomes

    def log_probability(self, outcome: Hashable) -> arb:
        return self.exact.log_probability(outcome)


def test_every_notion_is_asked() -> None:
    assert {notion.claim_type for notion in all_notions()} == set(CLAIMS)


@pytest.mark.parametrize("notion", CLAIMS, ids=lambda notion: notion.__name__)
def test_enclosed_pairs_are_decided_as_rational_ones(notion: type[Claim]) -> None:
    """Both orders, from claims that either one violates to claims that both obey."""
    decided = []
    for claim in map(CLAIMS[notion], LEVELS):
        decide = find_notion(claim).decide
        orders = (ONE, OTHER), (OTHER, ONE)
        exact = [decide(claim, *pair).outcome for pair in orders]
        enclosed = [decide(claim, *map(Enclosed, pair)).outcome for pair in orders]
        for expected, found in zip(exact, enclosed, strict=True):
            assert Outcome.UNDECIDED in {expected, found} or expected is found, claim
        decided.append(tuple(enclosed))
    assert {(Outcome.HOLDS, Outcome.HOLDS), (Outcome.VIOLATED, Outcome.VIOLATED)} <= set(decided)
    apart = {(Outcome.HOLDS, Outcome.VIOLATED), (Outcome.VIOLATED, Outcome.HOLDS)}
    assert bool(apart & set(decided)) is (notion not in SYMMETRIC)
