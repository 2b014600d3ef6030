import itertools
import math
from collections import Counter
from fractions import Fraction

import pytest

from dpassay.spec.ball import midpoint
from dpassay.spec.distributions.charged_responses import (
    charged_responses_distribution,
    response_top_k_distribution,
    truthful_count_distribution,
)
from dpassay.spec.distributions.repeated_sums import RepeatedSumsDistribution
from dpassay.spec.interactions.charged_calls import ChargingRule, not_prior_response
from dpassay.spec.interactions.transcripts import branches, repeated
from dpassay.spec.theorems.target_charging.sweep import one_shot_top_k

TRUTH = Fraction(3, 4)


def test_charged_responses_are_branches_of_the_rule() -> None:
    distribution = charged_responses_distribution([0] * 4, TRUTH, 2, both=False)
    words = {"hit": 1, "miss": 0}
    expected = {
        tuple(words[str(word)] for word in branch.transcript): branch.left
        for branch in branches(repeated([not_prior_response(Fraction(3))] * 4), ChargingRule(2))
    }
    assert distribution.weights == expected


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("hits", [1, 2, 3])
@pytest.mark.parametrize("bits", [(0, 0, 0, 0, 0), (1, 0, 0, 1, 0), (1, 1, 0, 1, 1), (1, 0)])
def test_sessions_end_as_in_an_enumeration_of_all_answers(bits: tuple[int, ...], hits: int, both: bool) -> None:
    """The answers are published up to the first place at which every target has been hit often enough."""
    targets = {0, 1} if both else {1}
    expected: dict[tuple[int, ...], Fraction] = {}
    for answers in itertools.product((0, 1), repeat=len(bits)):
        weight = math.prod((TRUTH if answer == bit else 1 - TRUTH for answer, bit in zip(answers, bits, strict=True)))
        starts = [answers[:length] for length in range(1, len(bits) + 1)]
        enough = (start for start in starts if all(Counter(start)[target] >= hits for target in targets))
        shown = next(enough, answers)
        expected[shown] = expected.get(shown, Fraction(0)) + weight
    law = charged_responses_distribution(bits, TRUTH, hits, both=both)
    assert law.weights == expected
    assert sum(law.weights.values()) == 1


def test_the_best_of_responses_by_enumeration() -> None:
    bits, k = (1, 0, 0, 1), 2
    expected: dict[tuple[tuple[int, int], ...], Fraction] = {}
    for answers in itertools.product((0, 1), repeat=4):
        weight = Fraction(1)
        for answer, bit in zip(answers, bits, strict=True):
            weight *= TRUTH if answer == bit else 1 - TRUTH
        chosen = tuple(one_shot_top_k(answers, k))
        expected[chosen] = expected.get(chosen, Fraction(0)) + weight
    assert response_top_k_distribution(bits, TRUTH, k).weights == expected


def test_counts_are_binomial() -> None:
    assert truthful_count_distribution(2, TRUTH).weights == {
        0: Fraction(1, 16),
        1: Fraction(6, 16),
        2: Fraction(9, 16),
    }


def test_repeated_sums_are_a_distribution() -> None:
    distribution = RepeatedSumsDistribution((Fraction(1), Fraction(1, 2)), 4, 2, 2, 1)
    total = sum(midpoint(distribution.log_probability(outcome).exp()) for outcome in distribution.outcomes)
    assert total == pytest.approx(1, abs=1e-14)
    assert midpoint(distribution.log_probability((1, 2)).exp()) == pytest.approx(
        (1 - 0.5 * 0.7788007830714049) ** 2 * (1 - 0.5 * 0.6065306597126334) ** 2
    )
