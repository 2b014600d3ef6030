"""The exchange of the two sides of a pair, and the maps of both."""

import dataclasses
import random
from fractions import Fraction

from dpassay.spec.distributions.discrete import FiniteDistribution, hockey_stick_exact
from dpassay.spec.distributions.pairs import Kernel, PairAtRatio


def drawn(generator: random.Random, size: int) -> FiniteDistribution:
    return FiniteDistribution.of(*(generator.randint(1, 20) for _ in range(size)))


def test_a_swapped_pair_exchanges_its_sides_and_nothing_else() -> None:
    generator = random.Random(7)  # noqa: S311
    for _ in range(20):
        ratio = Fraction(generator.randint(11, 40), 10)
        pair = PairAtRatio(drawn(generator, 3), drawn(generator, 3), ratio)
        assert pair.swapped == dataclasses.replace(pair, left=pair.right, right=pair.left)
        assert pair.swapped.swapped == pair
        kernel = Kernel(tuple(drawn(generator, 2) for _ in range(3)))
        assert pair.mapped(kernel).swapped == pair.swapped.mapped(kernel)
        assert pair.mapped(kernel).ratio == ratio
        for one in (pair, pair.swapped):  # a map of the outcomes adds no divergence at the ratio of the pair
            after, before = (hockey_stick_exact(x.left, x.right, x.ratio) for x in (one.mapped(kernel), one))
            assert after <= before
