"""Adversarial trees of charged calls: rare hits, certain calls, mirrored calls, common parts, leaks."""

from fractions import Fraction

from hypothesis import strategies as st

from dpassay.properties.strategies.base import strategy_for
from dpassay.spec.interactions.charged_calls import (
    ChargedInteractions,
    ChargedRound,
    mixed_response,
    not_prior_response,
    two_target_response,
    whole_range_response,
    with_leak,
)
from dpassay.spec.interactions.transcripts import Interaction

__all__ = ["charged_interactions", "charged_rounds"]

RATIOS = tuple(map(Fraction, ("3", "2", "3/2", "11/10", "9")))
RARITIES = tuple(map(Fraction, ("1", "1/2", "1/10", "1/1000")))
SHARES = tuple(map(Fraction, ("0", "1/2", "1/3", "9/10", "1")))
MOST_DRAWN = 5  # deeper trees are given as examples
LEAKS = tuple(map(Fraction, ("0", "1/10", "1/100", "1/2")))


@strategy_for.register
def _(domain: ChargedInteractions) -> st.SearchStrategy[Interaction]:
    depth = min(domain.largest_depth, MOST_DRAWN)
    return st.sampled_from(RATIOS).flatmap(lambda ratio: charged_interactions(domain, ratio, depth))


@st.composite
def charged_interactions(draw: st.DrawFn, domain: ChargedInteractions, ratio: Fraction, depth: int) -> Interaction:
    """Draw a tree of calls of one ratio; after each outcome the analyst stops or continues adaptively."""
    offer = draw(charged_rounds(domain, ratio))
    if depth == 1:
        return Interaction(offer)
    goes_on = [outcome for outcome in offer.outcomes if draw(st.integers(0, 5))]
    if draw(st.booleans()):  # the same continuation after every outcome: long interactions are cheap to draw
        child = draw(charged_interactions(domain, ratio, depth - 1))
        return Interaction(offer, dict.fromkeys(goes_on, child))
    return Interaction(offer, {outcome: draw(charged_interactions(domain, ratio, depth - 1)) for outcome in goes_on})


@st.composite
def charged_rounds(draw: st.DrawFn, domain: ChargedInteractions, ratio: Fraction) -> ChargedRound:
    """Draw one call; most often randomised response, the offer of optimal adversaries."""
    mirrored, rarity = draw(st.booleans()), draw(st.sampled_from(RARITIES))
    if domain.counters == 2:
        return two_target_response(ratio, mirrored=mirrored, rarity=rarity)
    kind = draw(st.integers(0, 4))
    if kind == 3:
        offer = mixed_response(ratio, draw(st.sampled_from(SHARES)), draw(st.sampled_from(SHARES)))
    elif kind == 4:
        offer = whole_range_response(ratio, mirrored=mirrored)
    else:
        offer = not_prior_response(ratio, mirrored=mirrored, rarity=rarity)
    return with_leak(offer, draw(st.sampled_from(LEAKS))) if domain.leaks and draw(st.booleans()) else offer
