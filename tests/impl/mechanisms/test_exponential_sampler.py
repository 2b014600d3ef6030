import itertools

import numpy as np
import pytest

from dpassay.arguments import UsageError
from dpassay.claims import BoundedRange, PureDP
from dpassay.impl.mechanisms.exponential import ExponentialMechanism, PermuteAndFlip

SCORES = np.array([1.0, -2.0, 0.5, 1.0])
EPSILON, STEP = 1.5, 0.5


def softmax(scores: np.ndarray) -> dict[int, float]:
    weights = np.exp(EPSILON * (scores - scores.max()) / (2 * STEP))
    return dict(enumerate((weights / weights.sum()).tolist()))


def by_all_orders(scores: np.ndarray) -> dict[int, float]:
    heads = np.exp(EPSILON * (scores - scores.max()) / (2 * STEP))
    distribution = dict.fromkeys(range(scores.size), 0.0)
    orders = list(itertools.permutations(range(scores.size)))
    for order in orders:
        refused = 1.0
        for candidate in order:
            distribution[candidate] += refused * heads[candidate] / len(orders)
            refused *= 1 - heads[candidate]
    return distribution


@pytest.mark.parametrize(
    ("mechanism", "distribution"), [(ExponentialMechanism, softmax), (PermuteAndFlip, by_all_orders)]
)
def test_the_samplers_follow_their_distributions(mechanism, distribution, follows) -> None:  # type: ignore[no-untyped-def]
    outcomes = mechanism(4, EPSILON, STEP).sample(SCORES, 300_000, np.random.default_rng(5))
    follows(np.asarray(outcomes).tolist(), distribution(SCORES))


@pytest.mark.parametrize("distribution", [softmax, by_all_orders])
def test_the_distributions_are_as_private_as_claimed(distribution) -> None:  # type: ignore[no-untyped-def]
    worst = 0.0
    for signs in itertools.product([-STEP, 0, STEP], repeat=4):
        left, right = distribution(SCORES), distribution(SCORES + np.array(signs))
        worst = max(worst, *(abs(np.log(left[o] / right[o])) for o in left))
    assert worst <= EPSILON * (1 + 2**-45)  # rounding of the distributions


def test_claims() -> None:
    assert ExponentialMechanism(4, 2.0).claims == (PureDP(2.0), BoundedRange(2.0))
    assert PermuteAndFlip(4, 2.0).claims == (PureDP(2.0),)


@pytest.mark.parametrize("mechanism", [ExponentialMechanism, PermuteAndFlip])
def test_huge_scores_neither_overflow_nor_matter_by_their_level(mechanism) -> None:  # type: ignore[no-untyped-def]
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        far = mechanism(3, 1.0).sample(np.array([1e300, -1e300, 0.0]), 100, np.random.default_rng(0))
        np.testing.assert_array_equal(far, 0)
    low = mechanism(3, 1.0).sample(np.array([0.0, 1.0, 2.0]), 100, np.random.default_rng(0))
    high = mechanism(3, 1.0).sample(np.array([64.0, 65.0, 66.0]), 100, np.random.default_rng(0))
    np.testing.assert_array_equal(low, high)


@pytest.mark.parametrize("mechanism", [ExponentialMechanism, PermuteAndFlip])
@pytest.mark.parametrize("arguments", [(0, 1.0, 1.0), (3, 0.0, 1.0), (3, 1.0, 0.0), (3, float("inf"), 1.0)])
def test_bad_parameters(mechanism, arguments: tuple[float, ...]) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UsageError, match="must"):
        mechanism(*arguments)


@pytest.mark.parametrize("mechanism", [ExponentialMechanism, PermuteAndFlip])
def test_bad_data(mechanism) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UsageError, match=r"^data must be finite"):
        mechanism(2, 1.0).sample(np.array([0.0, np.inf]), 1, np.random.default_rng(0))
