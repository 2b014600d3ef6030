"""Small interactive systems: responses, leaks, a second query that depends on the first answer."""

from collections.abc import Hashable

from hypothesis import strategies as st

from dpassay.properties.strategies.base import strategy_for
from dpassay.properties.strategies.distributions import finite_pairs
from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.interactions.interactive_systems import InteractiveSystem, InteractiveSystems

__all__ = ["interactive_systems"]

Answers = dict[tuple[tuple[tuple[Hashable, Hashable], ...], Hashable], tuple[FiniteDistribution, FiniteDistribution]]


@strategy_for.register
def _(domain: InteractiveSystems) -> st.SearchStrategy[tuple[InteractiveSystem, ...]]:
    return st.tuples(interactive_systems(2), interactive_systems(1))


@st.composite
def interactive_systems(draw: st.DrawFn, depth: int) -> InteractiveSystem:
    """Draw a system that is asked at most `depth` times, its later answers depending on the earlier ones."""
    answers: Answers = {}
    pair = draw(finite_pairs(2))
    answers[(), "a"] = pair.left, pair.right
    if depth > 1:
        for answer in pair.left.outcomes:
            if draw(st.integers(0, 3)):
                later = draw(finite_pairs(2))
                answers[(("a", answer),), "b"] = later.left, later.right
    elif draw(st.booleans()):
        other = draw(finite_pairs(2))
        answers[(), "b"] = other.left, other.right
    return InteractiveSystem(answers)
