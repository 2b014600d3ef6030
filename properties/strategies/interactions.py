"""Adversarial adaptive interactions: leaks, stars, randomised responses, arbitrary small mechanisms, ties."""

from collections.abc import Hashable
from fractions import Fraction
from math import inf

from hypothesis import strategies as st

from dpassay.properties.strategies.base import strategy_for
from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.interactions.transcripts import (
    AdaptiveInteractions,
    Interaction,
    Round,
    leak_or_nothing,
    randomised_response,
    star_or_nothing,
)
from dpassay.spec.rational import Ratio

__all__ = ["interactions", "rounds"]

RATIOS = tuple(map(Fraction, ("2", "3", "3/2", "4", "9/4", "11/10")))
LEAKS = tuple(map(Fraction, ("1/10", "1/2", "1/100", "1/1000000", "1", "0")))


@strategy_for.register
def _(domain: AdaptiveInteractions) -> st.SearchStrategy[Interaction]:
    return interactions(domain.largest_depth)


@st.composite
def interactions(draw: st.DrawFn, largest_depth: int) -> Interaction:
    """Draw a tree of offers; after each outcome the analyst stops or continues adaptively."""
    offer = draw(rounds())
    if largest_depth == 1:
        return Interaction(offer)
    goes_on = [outcome for outcome in offer.outcomes if draw(st.integers(0, 3))]
    if draw(st.booleans()):  # the same continuation after every outcome: long interactions are cheap to draw
        child = draw(interactions(largest_depth - 1))
        return Interaction(offer, dict.fromkeys(goes_on, child))
    return Interaction(offer, {outcome: draw(interactions(largest_depth - 1)) for outcome in goes_on})


def rounds() -> st.SearchStrategy[Round]:
    """Draw a mechanism; half of them are building blocks of worst cases."""
    stars = st.builds(
        star_or_nothing, st.sampled_from(LEAKS).map(lambda p: p / 2), st.sampled_from(RATIOS), st.sampled_from(RATIOS)
    )
    special = st.one_of(
        st.sampled_from(RATIOS).map(randomised_response), st.sampled_from(LEAKS).map(leak_or_nothing), stars
    )
    return st.one_of(special, _arbitrary_round())


@st.composite
def _arbitrary_round(draw: st.DrawFn) -> Round:
    size = draw(st.integers(1, 3))
    weights = st.lists(st.integers(0, 6), min_size=size, max_size=size).map(_not_all_zero)
    left, right = FiniteDistribution.of(*draw(weights)), FiniteDistribution.of(*draw(weights))
    ratios = [_ratio(left, right, outcome) for outcome in left.outcomes]
    known = draw(st.sampled_from([Fraction(1), *RATIOS, *(r for r in ratios if isinstance(r, Fraction) and r > 1)]))
    excess = draw(st.sampled_from([Fraction(1), Fraction(1), Fraction(2)]))
    charges: dict[Hashable, Ratio] = {
        outcome: max(Fraction(1), ratio) * excess for outcome, ratio in zip(left.outcomes, ratios, strict=True)
    }
    return Round(left, right, known, charges)


def _not_all_zero(weights: list[int]) -> list[int]:
    return weights if any(weights) else [1, *weights[1:]]


def _ratio(left: FiniteDistribution, right: FiniteDistribution, outcome: Hashable) -> Ratio:
    p, q = left.probability(outcome), right.probability(outcome)
    return p / q if q else (inf if p else Fraction(0))
