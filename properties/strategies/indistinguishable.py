"""Strategies for epsilon-indistinguishable pairs, built from randomised response and a kernel."""

from fractions import Fraction

from hypothesis import strategies as st

from dpassay.properties.strategies.base import exact_reals, strategy_for
from dpassay.properties.strategies.distributions import finite_distributions
from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.distributions.indistinguishable import IndistinguishablePairs, TargetedPair, private_pair

__all__ = ["indistinguishable_pairs"]

# small epsilons, where the boundary wrapper is tight, its turning points, and large ones
RATIOS = tuple(map(Fraction, ("2", "3", "101/100", "3/2", "11/10", "1839/1000", "7", "1000", "1000001/1000000")))


@strategy_for.register
def _(domain: IndistinguishablePairs) -> st.SearchStrategy[TargetedPair]:
    return indistinguishable_pairs(domain.smallest_size, domain.largest_size)


@st.composite
def indistinguishable_pairs(draw: st.DrawFn, smallest_size: int, largest_size: int) -> TargetedPair:
    """Draw a pair: extremal (every likelihood ratio is extreme) and arbitrary ones equally often."""
    size = draw(st.integers(smallest_size, largest_size))
    plain = exact_reals(Fraction(1, 10**6), Fraction(10**4), logarithmic=True)
    ratio = draw(st.one_of(st.sampled_from(RATIOS), plain.map(lambda x: 1 + x)))
    hits = draw(st.integers(1, size - 1))
    if draw(st.booleans()):
        first, second = draw(finite_distributions(size)), draw(finite_distributions(size))
    else:
        first, second = _disjoint(draw, size)
    return private_pair(ratio, first, second, hits)


def _disjoint(draw: st.DrawFn, size: int) -> tuple[FiniteDistribution, FiniteDistribution]:
    """Draw K^0 and K^1 that share one outcome at most: all the others have the ratio e^epsilon or its inverse."""
    shared = draw(st.integers(0, size - 1))
    ours = [draw(st.booleans()) for _ in range(size)]
    weights = [draw(st.one_of(st.integers(0, 6), st.sampled_from([10**3, 10**6]))) for _ in range(2 * size)]
    first = [weights[o] if ours[o] or o == shared else 0 for o in range(size)]
    second = [weights[size + o] if not ours[o] or o == shared else 0 for o in range(size)]
    first[shared] += 1
    second[shared] += 1 if draw(st.booleans()) or not any(second) else 0
    return FiniteDistribution.of(*first), FiniteDistribution.of(*second)
