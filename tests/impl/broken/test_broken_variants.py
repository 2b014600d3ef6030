"""Every broken variant is visibly broken: a pair of inputs and an event that refute its claim.

Samples are compared through Clopper and Pearson's limits, each wrong with probability at most 1e-11.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta

from dpassay.claims import ApproximateDP, ExPost, PureDP
from dpassay.impl.broken import above_threshold, filters, noisy_max
from dpassay.impl.catalogue import entries
from dpassay.impl.mechanisms.above_threshold import GaussianAboveThreshold
from dpassay.impl.mechanisms.noisy_max import GaussianNoisyMax

LEVEL = 1e-11
Event = Callable[[Any], bool]


def refuted(
    mechanism: Any, left: list[float], right: list[float], event: Event, epsilon: float, delta: float, draws: int
) -> bool:
    counts = []
    for seed, data in enumerate((left, right)):
        outcomes = mechanism.sample(np.array(data), draws, np.random.default_rng(seed))
        counts.append(sum(event(outcome) for outcome in outcomes))
    least = beta.ppf(LEVEL, counts[0], draws - counts[0] + 1)
    most = beta.ppf(1 - LEVEL, counts[1] + 1, draws - counts[1])
    return bool(least > np.exp(epsilon) * most + delta)


# The last of five candidates gains on all the others; a stream stays high and ends low.
BEHIND = ([0.8, 0.8, 0.8, 0.8, 0.2], [1.0, 1.0, 1.0, 1.0, 0.0])
NEAR_TIE = ([0.5, 0.5, 0.5, 0.5, 0.6], [0.6, 0.6, 0.6, 0.6, 0.5])
HIGH_THEN_LOW = ([1.8] * 7 + [1.2], [2.0] * 7 + [1.0])
RISING = ([1.3] * 7 + [1.5], [1.5] * 7 + [1.3])

CASES: dict[str, tuple[list[float], list[float], Event, int]] = {
    "noisy_max:shares_the_noise": (*NEAR_TIE, lambda o: o == 4, 1000),
    "noisy_max:takes_the_variance_for_sigma": (*BEHIND, lambda o: o == 4, 2_000_000),
    "noisy_max:releases_the_noisy_value": ([0.0, 1.0], [1.0, 0.0], lambda o: bool(o[0] == 1 and o[1] > 4), 50_000),
    "noisy_max:halves_the_laplace_scale": ([0.0] * 4 + [2.0], [1.0] * 4 + [1.0], lambda o: o == 4, 20_000),
    "above_threshold:reuses_the_query_noise": (*RISING, lambda o: o == 8, 20_000),
    "above_threshold:adds_no_noise_to_queries": (*RISING, lambda o: o == 8, 20_000),
    "above_threshold:redraws_the_threshold_noise": ([1.3] * 8, [1.5] * 8, lambda o: o == 0, 200_000),
    "above_threshold:adds_no_noise_to_threshold": ([1.3] * 8, [1.5] * 8, lambda o: o == 0, 200_000),
    "above_threshold:takes_variances_for_sigmas": (*RISING, lambda o: o == 8, 200_000),
    "above_threshold:releases_the_noisy_answer": (
        [1.2] + [1.0] * 7, [1.0] * 8, lambda o: bool(o[0] == 1 and o[1] > 2.1), 200_000,
    ),
    "filters:checks_after_running": ([1.0], [0.0], lambda o: o == (1, 1, 1), 50_000),
    "filters:never_stops": ([1.0], [0.0], lambda o: o == (1,) * 6, 20_000),
    "filters:keeps_only_the_last_charge": ([1.0], [0.0], lambda o: o == (1,) * 6, 20_000),
    "filters:charges_the_mean_loss": ([1.0], [0.0], lambda o: o == (1,) * 4, 20_000),
    "filters:advertises_the_delta_of_one_round": ([1.0], [0.0], lambda o: 1 in o, 5_000),
    "filters:halts_and_continues_the_wrong_way_round": ([1.0], [0.0], lambda o: o == (1, 1, 1), 1_000),
    "filters:leaves_out_the_next_mechanism": ([1.0], [0.0], lambda o: o == (1,), 1_000),
}  # fmt: skip

PLACES = {
    f"{module.__name__.rpartition('.')[2]}:{name}"
    for module in (above_threshold, filters, noisy_max)
    for name in module.__all__
    if not isinstance(getattr(module, name), type)
}
BOUNDS = PLACES - set(CASES)


def mutant(name: str) -> Any:
    module, _, place = name.partition(":")
    return getattr({"noisy_max": noisy_max, "above_threshold": above_threshold, "filters": filters}[module], place)


@pytest.mark.parametrize("name", CASES)
def test_a_broken_sampler_is_refuted(name: str) -> None:
    mechanism = mutant(name)
    left, right, event, draws = CASES[name]
    assert mechanism.neighbours.admits(np.array(left), np.array(right))
    claim = mechanism.claims[0]
    if isinstance(claim, ExPost):
        outcomes = [(t, 3.0) if "answer" in name else t for t in range(9)]
        epsilon = max(claim.epsilon_of(o) for o in outcomes if event(o))
    else:
        epsilon = claim.epsilon
    delta = claim.delta if isinstance(claim, ApproximateDP) else 0.0
    assert refuted(mechanism, left, right, event, epsilon, delta, draws)


@pytest.mark.parametrize("name", sorted(BOUNDS))
def test_a_broken_bound_is_not_the_worst_loss(name: str) -> None:
    mechanism = mutant(name)
    [claim] = mechanism.claims
    if isinstance(claim, PureDP):
        right = GaussianNoisyMax(mechanism.size, mechanism.sigma, 0.0, 1.0, mechanism.sensitivity).claims[0]
        assert isinstance(right, PureDP)
        too_small = claim.epsilon < 0.99 * right.epsilon
        assert too_small or (claim.epsilon > 1.01 * right.epsilon and name.endswith("one_rival_too_many"))
    else:
        assert isinstance(claim, ExPost)
        attained = GaussianAboveThreshold(
            mechanism.size, mechanism.threshold, mechanism.sigma_threshold, mechanism.sigma_query, mechanism.low,
            mechanism.high, mechanism.sensitivity,
        ).losses  # fmt: skip
        assert any(claim.epsilon_of(t) < 0.99 * attained[t] for t in range(mechanism.size + 1))


def test_every_mutant_is_catalogued_and_examined() -> None:
    places = {e.where.removeprefix("dpassay.impl.broken.") for e in entries() if e.mutation is not None}
    chapter = {place.partition(":")[0] for place in PLACES}
    assert {place for place in places if place.partition(":")[0] in chapter} == PLACES
    assert set(CASES) <= PLACES


def test_every_mutant_says_what_is_wrong_and_what_catches_it() -> None:
    for entry in entries():
        if entry.where.startswith("dpassay.impl.broken"):
            assert entry.mutation is not None
            assert entry.mutation.fault
            assert entry.mutation.caught_by
        else:
            assert entry.mutation is None
            assert entry.items
