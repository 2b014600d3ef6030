"""The largest loss of AboveThreshold with Laplace noise, and the halting place on the boundary."""

import random
from fractions import Fraction

import pytest

from dpassay.spec.distributions.discrete import max_divergence
from dpassay.spec.distributions.laplace_above_threshold import LaplaceAboveThresholdDistribution
from dpassay.spec.domains.answers import Block
from dpassay.spec.domains.laplace_streams import ThresholdStream
from dpassay.spec.theorems.foundations.laplace_above_threshold import calibrated, halts_at, largest_loss

ONE = Fraction(1)


@pytest.mark.parametrize("seed", range(8))
def test_the_largest_loss_is_that_of_both_orders(seed: int) -> None:
    generator = random.Random(seed)  # noqa: S311
    blocks = []
    for _ in range(3):
        left = Fraction(generator.randint(-6, 6), 2)
        blocks.append(Block(left, left + Fraction(generator.randint(-2, 2), 2), generator.randint(1, 3)))
    swapped = [Block(block.right, block.left, block.count) for block in blocks]
    stream, other = (ThresholdStream(tuple(sides), Fraction(1, 2), ONE) for sides in (blocks, swapped))
    noise = calibrated(stream, Fraction(2))
    laws = [LaplaceAboveThresholdDistribution(answers, noise) for answers in stream.sides]
    expected = max(float(max_divergence(*pair)) for pair in (laws, laws[::-1]))
    for one in (stream, other):
        assert float(largest_loss(one, noise)) == pytest.approx(expected, rel=1e-12)


def test_an_answer_at_the_noisy_threshold_reaches_it() -> None:
    assert halts_at((ONE, ONE), (-ONE, ONE), Fraction(0)) == 1
    assert halts_at((ONE, ONE), (-2 * ONE, -ONE), Fraction(0)) == 2
    assert halts_at((ONE,), (-2 * ONE,), Fraction(0)) == 0
