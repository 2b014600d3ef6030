"""Adversarial pairs of finite distributions: ties at e^epsilon, leaks, randomised response, zeros, equality."""

from collections.abc import Hashable
from fractions import Fraction

from hypothesis import strategies as st

from dpassay.properties.strategies.base import strategy_for
from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.distributions.pairs import FinitePairs, Kernel, Kernels, PairAtRatio

__all__ = ["finite_distributions", "finite_pairs", "kernels", "positive_pairs"]

LARGEST_WEIGHT = 12
WEIGHTS = st.one_of(st.integers(0, LARGEST_WEIGHT), st.integers(0, 6).map(lambda k: 10**k))
SHARES = st.integers(0, 12).map(lambda k: Fraction(k, 12))


@strategy_for.register
def _(domain: FinitePairs) -> st.SearchStrategy[PairAtRatio]:
    return positive_pairs(domain.largest_size) if domain.positive else finite_pairs(domain.largest_size)


@strategy_for.register
def _(domain: Kernels) -> st.SearchStrategy[Kernel]:
    return kernels(domain.inputs, domain.largest_size)


@st.composite
def finite_distributions(draw: st.DrawFn, size: int) -> FiniteDistribution:
    """Draw a distribution on 0, ..., size - 1: zeros, small weights, weights of different orders of magnitude."""
    weights = draw(st.lists(WEIGHTS, min_size=size, max_size=size))
    weights[draw(st.integers(0, size - 1))] += 1
    return FiniteDistribution.of(*weights)


@st.composite
def finite_pairs(draw: st.DrawFn, largest_size: int) -> PairAtRatio:
    """Draw a pair with a shape at which comparisons are tight or fail, and a ratio, often one of the pair."""
    size = draw(st.integers(1, largest_size))
    shape = draw(st.sampled_from(["any", "tie", "response", "leak", "equal"]))
    if size == 1 or shape == "equal":
        left = right = draw(finite_distributions(size))
    elif shape == "tie":
        left, right = _tied(draw, size)
    elif shape == "response":
        left, right = _randomised_response(draw, size)
    elif shape == "leak":
        left, right = _leak(draw, size)
    else:
        left, right = draw(finite_distributions(size)), draw(finite_distributions(size))
    if draw(st.booleans()):
        left, right = right, left
    return PairAtRatio(left, right, _ratio(draw, left, right))


@st.composite
def positive_pairs(draw: st.DrawFn, largest_size: int) -> PairAtRatio:
    """Draw two different distributions, the right one positive everywhere: close, tied or arbitrary."""
    size = draw(st.integers(2, largest_size))
    weights = draw(st.lists(WEIGHTS.map(lambda w: max(w, 1)), min_size=size, max_size=size))
    right = FiniteDistribution.of(*weights)
    shape = draw(st.sampled_from(["any", "close", "constant"]))
    if shape == "any":
        left = draw(finite_distributions(size))
    elif shape == "close":
        left = FiniteDistribution.of(1000 * weights[0] + 1, *(1000 * weight for weight in weights[1:]))
    else:  # the loss is constant where the left can be
        kept = draw(st.integers(1, size - 1))
        left = FiniteDistribution.of(*weights[:kept], *[0] * (size - kept))
    if left == right:
        left = FiniteDistribution.of(1, *[0] * (size - 1))
    return PairAtRatio(left, right, _ratio(draw, left, right))


def _ratio(draw: st.DrawFn, left: FiniteDistribution, right: FiniteDistribution) -> Fraction:
    own = {p / q for o, p in left.weights.items() if (q := right.weights[o])}
    own |= {q / p for o, q in right.weights.items() if (p := left.weights[o])}
    ties = sorted(r for r in own if r >= 1)
    free = st.one_of(SHARES.map(lambda x: 1 + x), st.integers(1, 1000).map(Fraction))
    return draw(st.one_of(st.sampled_from([*ties, Fraction(1)]), free))


def _tied(draw: st.DrawFn, size: int) -> tuple[FiniteDistribution, FiniteDistribution]:
    """Draw P = r Q on a set of outcomes and P = r' Q off it: two levels of loss, at most two ratios."""
    right = draw(finite_distributions(size))
    event = draw(st.sets(st.integers(0, size - 1), min_size=1))
    mass = sum((right.weights[o] for o in event), Fraction(0))
    if mass in (0, 1):
        return right, right
    high = 1 + draw(SHARES) * (1 / mass - 1)
    low = (1 - high * mass) / (1 - mass)
    left = {o: (high if o in event else low) * q for o, q in right.weights.items()}
    return FiniteDistribution(left), right


def _randomised_response(draw: st.DrawFn, size: int) -> tuple[FiniteDistribution, FiniteDistribution]:
    """Draw the extremal pair of pure privacy, on two of the outcomes."""
    odds = draw(st.integers(1, LARGEST_WEIGHT))
    zeros = [0] * (size - 2)
    return FiniteDistribution.of(odds, 1, *zeros), FiniteDistribution.of(1, odds, *zeros)


def _leak(draw: st.DrawFn, size: int) -> tuple[FiniteDistribution, FiniteDistribution]:
    """Draw distributions that are equal but for outcomes that one side alone produces."""
    delta = draw(SHARES)
    common = list(draw(finite_distributions(size - 1)).weights.values())
    left: dict[Hashable, Fraction] = {0: delta, **{1 + k: (1 - delta) * p for k, p in enumerate(common)}}
    right: dict[Hashable, Fraction] = {0: Fraction(0), **dict(enumerate(common, 1))}
    return FiniteDistribution(left), FiniteDistribution(right)


@st.composite
def kernels(draw: st.DrawFn, inputs: int, largest_size: int) -> Kernel:
    """Draw a kernel: deterministic (merging outcomes) and randomised ones equally often."""
    size = draw(st.integers(1, largest_size))
    if draw(st.booleans()):
        images = draw(st.lists(st.integers(0, size - 1), min_size=inputs, max_size=inputs))
        return Kernel(tuple(FiniteDistribution.of(*(int(k == image) for k in range(size))) for image in images))
    return Kernel(tuple(draw(finite_distributions(size)) for _ in range(inputs)))
