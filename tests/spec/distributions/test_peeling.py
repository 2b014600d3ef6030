"""The ranked list of exponential mechanisms without replacement, against rational weights and arrivals."""

import itertools
import math
from fractions import Fraction

import pytest
from flint import arb

from dpassay.spec.ball import precision, sum_balls
from dpassay.spec.distributions.peeling import (
    PeelingDistribution,
    arrival_probability_exact,
    peeling_probability_exact,
    ranked_lists,
)

SCORES = [(0, 1, 2), (0, 0, 0, 0), (3, -1, Fraction(1, 2), 3), (Fraction(1, 3), 5, 0, -2, 2)]
CASES = [(scores, k) for scores in SCORES for k in range(1, len(scores) + 1)]


@pytest.mark.parametrize(("scores", "k"), CASES)
def test_the_law_is_that_of_its_weights(scores: tuple[Fraction, ...], k: int) -> None:
    """Float64 weights, taken as rational numbers, change a list of k by 2 k roundings at most."""
    law = PeelingDistribution(scores, k, Fraction(3, 4))
    weights = [Fraction(math.exp(0.75 * score)) for score in scores]
    for ranked in ranked_lists(len(scores), k):
        exact = peeling_probability_exact(weights, ranked)
        assert float(law.log_probability(ranked).exp()) == pytest.approx(float(exact), rel=1e-13)
        assert arrival_probability_exact(weights, ranked) == exact


@pytest.mark.parametrize(("scores", "k"), CASES)
def test_the_lists_sum_to_one_and_shorter_ones_are_their_beginnings(scores: tuple[Fraction, ...], k: int) -> None:
    law, shorter = (PeelingDistribution(scores, length, 2) for length in (k, k - 1))
    with precision(128):
        total = sum_balls(law.log_probability(o).exp() for o in law.outcomes)
        assert total.overlaps(arb(1))
        assert total.rel_accuracy_bits() > 100
        for start, lists in itertools.groupby(law.outcomes, key=lambda o: o[:-1] if isinstance(o, tuple) else ()):
            mass = sum_balls(law.log_probability(o).exp() for o in lists)
            assert mass.overlaps(shorter.log_probability(start).exp())
