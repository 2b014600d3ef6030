"""Adversarial set-wise games: extremal responses, arbitrary pairs of a class, adaptive analysts that reuse or stop."""

from fractions import Fraction

from hypothesis import strategies as st

from dpassay.properties.strategies.base import exact_reals, strategy_for
from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.interactions.setwise import Parameter, RegisteredRound, SetwiseGame, SetwiseGames
from dpassay.spec.interactions.transcripts import Interaction
from dpassay.spec.theorems.composition.subgaussian import Scales
from dpassay.spec.theorems.composition.top_k import RationalVectors, ScoredLabels

__all__ = ["parameters", "setwise_games"]

RATIOS = tuple(map(Fraction, ("3/2", "2", "3", "11/10", "101/100", "8")))
LEAKS = tuple(map(Fraction, ("1/10", "1/100", "1/1000000", "3/10", "0")))
SHARES = st.one_of(st.just(Fraction(1, 2)), st.integers(1, 7).map(lambda k: Fraction(k, 8)))


@strategy_for.register
def _(domain: SetwiseGames) -> st.SearchStrategy[SetwiseGame]:
    return setwise_games(domain.largest_size, leaks=domain.leaks)


@strategy_for.register
def _(domain: Scales) -> st.SearchStrategy[tuple[Fraction, ...]]:
    scale = st.one_of(
        st.sampled_from([Fraction(1), Fraction(2)]), exact_reals(Fraction(1, 100), Fraction(3), digits=2)
    )
    return st.lists(scale, min_size=1, max_size=domain.largest_size).map(tuple)


def parameters(*, leaks: bool) -> st.SearchStrategy[Parameter]:
    """Draw a registered parameter."""
    delta = st.sampled_from(LEAKS) if leaks else st.just(Fraction(0))
    return st.builds(Parameter, st.sampled_from(["pure", "range"]), st.sampled_from(RATIOS), delta)


@st.composite
def setwise_games(draw: st.DrawFn, largest_size: int, *, leaks: bool) -> SetwiseGame:
    """Draw registered parameters and a tree of offers under them."""
    registered = tuple(draw(st.lists(parameters(leaks=leaks), min_size=1, max_size=largest_size)))
    return SetwiseGame(registered, _tree(draw, registered, frozenset(range(len(registered)))))


def _tree(draw: st.DrawFn, registered: tuple[Parameter, ...], unused: frozenset[int]) -> Interaction:
    index = draw(st.sampled_from(sorted(unused)))
    offer = RegisteredRound.of(index, registered[index], _pair(draw, registered[index]))
    rest = unused - {index}
    if not rest:  # the rule refuses the same parameter again, which ends the game
        return Interaction(offer, dict.fromkeys(offer.outcomes, Interaction(offer)) if draw(st.booleans()) else {})
    return Interaction(offer, {outcome: _tree(draw, registered, rest) for outcome in offer.outcomes})


def _pair(draw: st.DrawFn, parameter: Parameter) -> tuple[FiniteDistribution, FiniteDistribution]:
    if draw(st.integers(0, 3)):
        pair = parameter.response(draw(SHARES))
        return pair if draw(st.booleans()) else (pair[1], pair[0])
    right = FiniteDistribution.of(*draw(st.lists(st.integers(1, 9), min_size=2, max_size=3)))
    # tilts within the square root of the ratio keep both bounds after normalisation
    largest = (parameter.ratio - 1) / (parameter.ratio + 1)
    tilts = [1 + largest * draw(SHARES) * draw(st.sampled_from([1, -1])) for _ in right.weights]
    left = FiniteDistribution.of(*(p * tilt for p, tilt in zip(right.weights.values(), tilts, strict=True)))
    return left, right


@strategy_for.register
def _(domain: RationalVectors) -> st.SearchStrategy[tuple[Fraction, ...]]:
    entry = st.one_of(st.integers(-3, 3).map(Fraction), exact_reals(Fraction(-20), Fraction(20), digits=2))
    return st.lists(entry, min_size=1, max_size=domain.largest_size).map(tuple)


@strategy_for.register
def _(domain: ScoredLabels) -> st.SearchStrategy[tuple[tuple[Fraction, bool], ...]]:
    weight = st.one_of(st.integers(1, 5), st.integers(0, 8).map(lambda k: 10**k)).map(Fraction)
    return st.lists(st.tuples(weight, st.booleans()), min_size=1, max_size=domain.largest_size).map(tuple)
