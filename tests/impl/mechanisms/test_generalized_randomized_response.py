import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dpassay.arguments import UsageError
from dpassay.claims import ApproximateDP, BoundedRange, PureDP
from dpassay.impl.mechanisms.exponential import ExponentialMechanism, RangeExponentialMechanism
from dpassay.impl.mechanisms.generalized_randomized_response import (
    GeneralizedRandomizedResponse,
    ResponseSequence,
    answer_probability,
    best_second,
)

SIZE = 20_000
BITS = np.zeros(1), np.ones(1)


def within_the_binomial(count: int, probability: float) -> bool:
    """False with probability 1e-11 at most if the count is binomial."""
    low, high = (stats.binom.ppf(level, SIZE, probability) for level in (5e-12, 1 - 5e-12))
    return bool(low <= count <= high)


@pytest.mark.parametrize(("epsilon", "top"), [(1.0, 0.3), (2.0, 1.0), (1e-9, 3e-10), (50.0, 25.0), (1.0, 0.0)])
def test_answers_have_the_two_losses(epsilon: float, top: float) -> None:
    ones = [answer_probability(epsilon, top, bit) for bit in (0, 1)]
    if 0 < top < epsilon:
        assert math.log(ones[0] / ones[1]) == pytest.approx(top - epsilon)
        assert math.log((1 - ones[0]) / (1 - ones[1])) == pytest.approx(top, rel=1e-6)
    mechanism = GeneralizedRandomizedResponse(epsilon, top)
    for bit, data in enumerate(BITS):
        count = int(mechanism.sample(data, SIZE, np.random.default_rng(5)).sum())
        assert within_the_binomial(count, ones[bit])


def test_classical_randomised_response() -> None:
    assert answer_probability(2.0, 1.0, 1) == pytest.approx(1 / (1 + math.exp(-1)))
    assert GeneralizedRandomizedResponse(2.0, 1.0).claims == (BoundedRange(2.0), PureDP(1.0))


def test_sequences_follow_the_history() -> None:
    choose = best_second(1.0, 0.2, first=0.5)
    assert choose(()) == (1.0, 0.5)
    assert choose((0,))[1] == pytest.approx(0.35)
    assert choose((1,))[1] == pytest.approx(0.85)
    rows = ResponseSequence(2, choose, lambda: ApproximateDP(0.2, 0.3)).sample(BITS[0], SIZE, np.random.default_rng(6))
    assert len(rows) == SIZE
    first, then = answer_probability(1.0, 0.5, 0), answer_probability(1.0, choose((1,))[1], 0)
    assert within_the_binomial(sum(row == (1, 1) for row in rows), first * then)
    assert (
        ResponseSequence(2, choose, lambda: ApproximateDP(0.2, 0.3)).sample(BITS[0], 0, np.random.default_rng(6)) == []
    )


def test_the_range_convention_doubles_the_exponent() -> None:
    data = np.array([0.0, 1.0, 3.0])
    ranged, usual = RangeExponentialMechanism(3, 1.0, 2.0), ExponentialMechanism(3, 1.0, 1.0)
    draws = [m.sample(data, 100, np.random.default_rng(7)).tolist() for m in (ranged, usual)]
    assert draws[0] == draws[1]
    assert ranged.neighbours.monotone


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: GeneralizedRandomizedResponse(0.0, 0.0), "epsilon"),
        (lambda: GeneralizedRandomizedResponse(math.nan, 0.0), "epsilon"),
        (lambda: GeneralizedRandomizedResponse(1.0, 1.1), "top"),
        (lambda: GeneralizedRandomizedResponse(1.0, math.nan), "top"),
        (lambda: ResponseSequence(0, lambda _: (1.0, 0.5), lambda: PureDP(1.0)), "length"),
        (lambda: sampled(lambda _: (1.0, 2.0)), "top"),
        (lambda: GeneralizedRandomizedResponse(1.0, 0.5).sample(np.full(1, 0.5), 1, np.random.default_rng(0)), "data"),
        (lambda: GeneralizedRandomizedResponse(1.0, 0.5).sample(np.zeros(1), -1, np.random.default_rng(0)), "size"),
        (lambda: RangeExponentialMechanism(3, 1.0, 0.0), "score_range"),
        (lambda: RangeExponentialMechanism(0, 1.0), "size"),
    ],
)
def test_bad_input_is_refused(make: Callable[[], Any], word: str) -> None:
    with pytest.raises(UsageError, match=word):
        make()


def sampled(choose: Callable[[tuple[int, ...]], tuple[float, float]]) -> Any:
    return ResponseSequence(1, choose, lambda: PureDP(1.0)).sample(BITS[0], 1, np.random.default_rng(0))
