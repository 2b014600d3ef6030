import math
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpassay.claims import PureDP
from dpassay.properties.betting.campaign import Campaign
from dpassay.properties.betting.screening import EventEvidence, Pair, Screening, evidence_beyond
from dpassay.properties.drawing.draws import Draw, sample_side
from dpassay.properties.outcomes.batch import Outcomes
from dpassay.properties.outcomes.numeric_features import LOWEST_BIT


def pairs_at(*levels: float) -> Iterator[Pair]:
    return ((np.array([level]), np.array([level + 1])) for level in levels)


def named(screening: Screening, sampler, calls: int) -> list[float]:  # type: ignore[no-untyped-def]
    """Return the left levels of all pairs that are named while `calls` calls are spent elsewhere."""
    found: list[float] = []
    for _ in range(200):
        draws = screening.due(calls)
        if not draws:
            break
        found += [float(left[0]) for left, _ in screening.observe([sample_side(sampler, draw) for draw in draws])]
    return found


def test_evidence_is_the_likelihood_ratio_of_the_side() -> None:
    counts = np.array([30.0]), np.array([10.0])
    share, allowed = 0.75, math.e / (1 + math.e)
    expected = 30 * math.log(share / allowed) + 10 * math.log((1 - share) / (1 - allowed))
    assert evidence_beyond(*counts, 40, 1.0, 0.0)[0] == pytest.approx(expected)
    assert evidence_beyond(counts[1], counts[0], 40, 1.0, 0.0)[0] == pytest.approx(expected)


@given(left=st.integers(0, 40), right=st.integers(0, 40), epsilon=st.floats(0, 3), delta=st.floats(0, 0.5))
def test_evidence_needs_more_than_the_claim_allows(left: int, right: int, epsilon: float, delta: float) -> None:
    found = evidence_beyond(np.array([float(left)]), np.array([float(right)]), 40, epsilon, delta)[0]
    allowed = max(left - delta * 40, 0) <= math.exp(epsilon) * right
    allowed &= max(right - delta * 40, 0) <= math.exp(epsilon) * left
    assert math.isfinite(found)
    assert found >= 0
    if allowed:
        assert found == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("samples", [8, 1 << 20])
def test_evidence_of_events_needs_no_table_of_all_counts(samples: int) -> None:
    """The table of a late round took a minute, on which no limit of time was looked at."""
    rng = np.random.default_rng(0)
    left, right = rng.integers(0, samples + 1, (2, 5, 40))
    points = [(0.5, 0.01), (1.0, 0.0)]
    expected = np.max([evidence_beyond(left, right, samples, *point) for point in points], axis=0)
    np.testing.assert_array_equal(EventEvidence(points, samples).of(left, right), expected)


def leaks_at(level: float):  # type: ignore[no-untyped-def]
    """Laplace noise of scale 10, and the answer itself in a second number at one level."""

    def sample(data, size, rng):  # type: ignore[no-untyped-def]
        noisy = data[0] + rng.laplace(scale=10, size=size)
        return np.column_stack([noisy, rng.laplace(scale=10, size=size) + 100 * (data[0] == level)])

    return sample


@pytest.mark.parametrize("level", [0, 31, 200, 299])
def test_the_one_leaking_pair_of_three_hundred_is_named(level: float) -> None:
    screening = Screening(pairs_at(*range(300)), [(0.1, 0.0)], seed=1)
    found = named(screening, leaks_at(level), calls=40_000)
    assert {level, level - 1.0} & set(found)
    assert screening.calls <= 8000


def test_exceptions_and_missing_numbers_are_compared() -> None:
    def raises(data, size, rng):  # type: ignore[no-untyped-def]
        if data[0] == 40:
            raise ValueError("no such record")
        return [None if data[0] == 90 else float(x) for x in rng.laplace(size=size)]

    found = named(Screening(pairs_at(*range(128)), [(1.0, 0.0)], seed=0), raises, calls=40_000)
    assert {39.0, 40.0} & set(found)
    assert {89.0, 90.0} & set(found)


def test_after_an_exception_calls_are_made_one_by_one_so_that_it_hides_no_other_outcome() -> None:
    def leaks_and_fails_rarely(data, size, rng):  # type: ignore[no-untyped-def]
        if rng.random() < 1 - 0.98**size:
            raise OSError("rarely")
        return rng.normal(3 * (data[0] == 5), 1, size)

    screening = Screening(pairs_at(*range(16)), [(1.0, 0.0)], seed=0)
    assert {4.0, 5.0} & set(named(screening, leaks_and_fails_rarely, calls=40_000))
    assert all(draw.one_by_one for draw in screening.due(10**7))


def test_a_second_pass_looks_longer() -> None:
    screening = Screening(pairs_at(*range(16)), [(1.0, 0.0)], seed=0)
    sizes = []
    for _ in range(6):
        draws = screening.due(10**7)
        sizes.append(draws[0].size)
        screening.observe([sample_side(leaks_at(3), draw) for draw in draws])
    assert max(sizes) > 64
    assert screening.due(100) == ()


def test_ignored_features_are_not_compared() -> None:
    def grid(data, size, rng):  # type: ignore[no-untyped-def]
        noise = rng.normal(size=size)
        return np.floor(noise * 2**20) / 2**20 if data[0] == 7 else noise

    for ignored, is_seen in ((frozenset[str](), True), (frozenset({LOWEST_BIT}), False)):
        screening = Screening(pairs_at(*range(24)), [(3.0, 0.0)], seed=0, ignored=ignored)
        assert bool({6.0, 7.0} & set(named(screening, grid, calls=2000))) is is_seen


def campaign_on(sampler, seed: int, calls: int) -> tuple[Campaign, list[int]]:  # type: ignore[no-untyped-def]
    known = list(pairs_at(-5, -9))
    campaign = Campaign(PureDP(0.2), known, seed=seed, further=pairs_at(*range(100)))
    sizes: list[int] = []

    def run(draws) -> Iterator[Outcomes | None]:  # type: ignore[no-untyped-def]
        sizes.extend(draw.size for draw in draws)
        return (sample_side(sampler, draw) for draw in draws)

    while campaign.calls < calls and campaign.play_round(run, most_calls=calls - campaign.calls):
        pass
    return campaign, sizes


def test_a_campaign_plays_on_the_pairs_that_are_named_and_counts_every_call() -> None:
    campaign, sizes = campaign_on(leaks_at(60), 0, 30_000)
    assert sum(sizes) == campaign.calls == 30_000
    assert len(campaign.games) > 2
    assert campaign.evidence.log_value() > math.log(1e6)
    assert 60.0 in {*campaign.best_game().left, *campaign.best_game().right}


def test_samples_of_the_screening_are_never_bet_on() -> None:
    """Every game starts without evidence, and its draws have seeds that no screening draw has."""
    seeds: list[tuple[str, tuple[int, ...]]] = []

    def sampler(draws: Sequence[Draw]) -> list[Outcomes | None]:
        seeds.extend((repr(draw.seed.entropy), draw.seed.spawn_key) for draw in draws)
        return [sample_side(leaks_at(60), draw) for draw in draws]

    campaign = Campaign(PureDP(0.2), list(pairs_at(-5, -9)), seed=0, further=pairs_at(*range(100)))
    while campaign.calls < 20_000:
        before = len(campaign.games)
        campaign.play_round(sampler)
        assert all(game.calls == 0 and not game.archive for game in campaign.games[before:])
    assert len(set(seeds)) == len(seeds)


def test_open_places_are_paid_for_from_the_start() -> None:
    """The weights of all places sum to 1 whichever of them are taken."""
    campaign, _ = campaign_on(leaks_at(60), 0, 5000)
    assert campaign.weights.sum() + campaign.pool_share == pytest.approx(1)
    assert len(campaign.games) <= len(campaign.weights)


def test_false_alarms_stay_below_the_level_although_pairs_are_chosen_by_samples() -> None:
    """A mechanism that attains its claim on every pair: two alarms at 1e-5 in four runs: below 1e-9."""

    def attains(data, size, rng):  # type: ignore[no-untyped-def]
        bit = int(data[0]) % 2
        keep = rng.random(size) < math.exp(0.2) / (1 + math.exp(0.2))
        return np.where(keep, bit, 1 - bit).astype(float)

    alarms = 0
    for seed in range(4):
        campaign = Campaign(PureDP(0.2), list(pairs_at(-2, -4)), seed=seed, further=pairs_at(*range(24)))
        crossed = False
        while campaign.calls < 1200:
            campaign.play_round(lambda draws: [sample_side(attains, draw) for draw in draws])
            crossed = crossed or campaign.evidence.log_value() >= math.log(1e5)
        alarms += crossed
    assert alarms < 2


def test_the_result_depends_on_seed_and_calls_alone() -> None:
    runs = [campaign_on(leaks_at(60), 3, 6000)[0] for _ in range(2)]
    assert runs[0].evidence.log_value() == runs[1].evidence.log_value()
    assert [game.calls for game in runs[0].games] == [game.calls for game in runs[1].games]
    lefts = [[game.left.tolist() for game in run.games] for run in runs]
    assert lefts[0] == lefts[1]
