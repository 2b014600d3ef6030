"""Adversarial interactions for the accuracy-first filters: leaks, responses, stopped runs, ties."""

from collections.abc import Hashable
from fractions import Fraction

from hypothesis import strategies as st

from dpassay.properties.strategies.base import strategy_for
from dpassay.properties.strategies.distributions import finite_distributions, finite_pairs
from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.interactions.adaptive_rounds import (
    ConcentratedRound,
    ConcentratedRun,
    ExPostRound,
    MixedInteractions,
    concentrated,
    concentrated_leak,
    concentrated_response,
    ex_post,
    ex_post_leak,
    ex_post_response,
    stopped_run,
)
from dpassay.spec.interactions.transcripts import Interaction, Round

__all__ = ["concentrated_rounds", "ex_post_rounds", "mixed_interactions", "stopped_runs"]

RATIOS = st.sampled_from(tuple(map(Fraction, ("2", "3", "3/2", "11/10", "101/100", "9", "20", "1"))))
LEAKS = st.sampled_from(tuple(map(Fraction, ("1/10", "1/2", "1/100", "1/1000000", "1", "0"))))


@strategy_for.register
def _(domain: MixedInteractions) -> st.SearchStrategy[Interaction]:
    return mixed_interactions(domain.kinds, domain.largest_depth)


@st.composite
def mixed_interactions(draw: st.DrawFn, kinds: tuple[str, ...], largest_depth: int) -> Interaction:
    """Draw a tree of offers of these kinds; after each outcome the analyst stops or continues adaptively."""
    offer = draw(st.sampled_from(kinds).flatmap(ROUNDS.__getitem__))
    if largest_depth == 1:
        return Interaction(offer)
    goes_on = [outcome for outcome in offer.outcomes if draw(st.integers(0, 3))]
    if draw(st.integers(0, 2)):  # mostly the same continuation: long interactions are cheap to draw
        return Interaction(offer, dict.fromkeys(goes_on, draw(mixed_interactions(kinds, largest_depth - 1))))
    return Interaction(offer, {outcome: draw(mixed_interactions(kinds, largest_depth - 1)) for outcome in goes_on})


@st.composite
def _arbitrary_concentrated(draw: st.DrawFn) -> ConcentratedRound:
    size = draw(st.integers(2, 3))
    weights = st.lists(st.integers(1, 6), min_size=size, max_size=size)
    left, right = FiniteDistribution.of(*draw(weights)), FiniteDistribution.of(*draw(weights))
    delta = draw(LEAKS)
    rests = draw(finite_distributions(size)), draw(finite_distributions(size))
    return concentrated(left, right, delta, *rests) if delta else concentrated(left, right)


def concentrated_rounds() -> st.SearchStrategy[ConcentratedRound]:
    """Draw an approximately concentrated mechanism: responses, leaks, mixtures."""
    return st.one_of(RATIOS.map(concentrated_response), LEAKS.map(concentrated_leak), _arbitrary_concentrated())


@st.composite
def _arbitrary_ex_post(draw: st.DrawFn) -> ExPostRound:
    pair = draw(finite_pairs(3))
    charges: dict[Hashable, Fraction] = {
        outcome: draw(RATIOS) for outcome in pair.left.outcomes if draw(st.booleans())
    }
    return ex_post(pair.left, pair.right, charges)


def ex_post_rounds() -> st.SearchStrategy[ExPostRound]:
    """Draw an ex-post private mechanism with exact bounds for some outcomes and arbitrary bounds for others."""
    return st.one_of(RATIOS.map(ex_post_response), LEAKS.map(ex_post_leak), _arbitrary_ex_post())


@st.composite
def stopped_runs(draw: st.DrawFn) -> ConcentratedRun:
    """Draw a run of one to three responses that may stop after any answer, as the answers decide."""
    steps = draw(st.lists(RATIOS.map(concentrated_response), min_size=1, max_size=3))
    pattern = draw(st.integers(0, 63))
    return stopped_run(steps, lambda answers: bool(pattern >> (2 * len(answers) + int(bool(answers[-1]))) & 1))


ROUNDS: dict[str, st.SearchStrategy[Round]] = {
    "concentrated": concentrated_rounds(),
    "ex-post": ex_post_rounds(),
    "noise reduction": stopped_runs(),
}
