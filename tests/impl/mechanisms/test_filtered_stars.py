import itertools
import math

import numpy as np
import pytest

from dpassay.arguments import UsageError
from dpassay.claims import ApproximateDP
from dpassay.impl.accounting.filters import ConcentratedOffer, ExPostOffer, Offer, SelfReportingFilter
from dpassay.impl.catalogue import entries
from dpassay.impl.mechanisms.filtered_stars import (
    SILENT,
    FilteredStars,
    Star,
    fully_adaptive_composition,
    randomised_response,
    self_reporting_composition,
)


def distribution(mechanism: FilteredStars, bit: int) -> dict[tuple[int, ...], float]:
    symbols = {bit: lambda star: star.truth, 1 - bit: lambda star: star.lie,
               SILENT: lambda star: 1 - star.truth - star.lie}  # fmt: skip
    result: dict[tuple[int, ...], float] = {}
    for row in itertools.product(symbols, repeat=len(mechanism.stream)):
        released = mechanism.released(row)
        chance = math.prod(symbols[s](star) for s, star in zip(row, mechanism.stream, strict=True))
        result[released] = result.get(released, 0.0) + chance
    return result


def hockey_stick(mechanism: FilteredStars, epsilon: float) -> float:
    right, left = distribution(mechanism, 0), distribution(mechanism, 1)
    return sum(max(0.0, chance - math.exp(epsilon) * right.get(t, 0.0)) for t, chance in left.items())


def shortened(mechanism: FilteredStars, rounds: int) -> FilteredStars:
    return FilteredStars(mechanism.stream[:rounds], mechanism.make_filter, mechanism.claim)


STREAMS = [entry.mechanism for entry in entries() if isinstance(entry.mechanism, FilteredStars) and not entry.mutation]


@pytest.mark.parametrize("star", dict.fromkeys(star for mechanism in STREAMS for star in mechanism.stream))
def test_a_star_keeps_what_it_promises(star: Star) -> None:
    """At the order 1 for zCDP, where the divergence is the mean of the loss; in both orders, which are alike."""
    offer = star.offer
    if star.loss == math.inf:
        assert offer.delta >= star.truth
    elif isinstance(offer, ConcentratedOffer):
        assert (star.truth - star.lie) * star.loss <= offer.rho
    else:
        assert isinstance(offer, Offer | ExPostOffer)
        assert max(0.0, star.truth - math.exp(offer.epsilon) * star.lie) <= offer.delta + 1e-15


def test_the_sampler_follows_its_distribution(follows) -> None:  # type: ignore[no-untyped-def]
    star = Star(0.3, 1.0, Offer(0.5, 0.3))
    mechanism = FilteredStars((star,) * 4, lambda: SelfReportingFilter(1.4, 1.0), ApproximateDP(1.4, 1.0))
    follows(mechanism.sample(np.array([1.0]), 100_000, np.random.default_rng(8)), distribution(mechanism, 1))


def test_a_star_that_never_lies_leaks_the_whole_of_the_accumulated_delta() -> None:
    delta, rounds = 1e-3, 6
    leak = Star(delta, math.inf, Offer(0.0, delta))
    spent = 1 - (1 - delta) ** rounds
    mechanism = FilteredStars((leak,) * 9, lambda: SelfReportingFilter(5.0, spent * 1.0001), ApproximateDP(5.0, spent))
    assert hockey_stick(mechanism, 5.0) == pytest.approx(spent, rel=1e-9)


@pytest.mark.parametrize("mechanism", [self_reporting_composition, fully_adaptive_composition])
def test_the_catalogued_compositions_are_as_private_as_claimed(mechanism: FilteredStars) -> None:
    assert isinstance(mechanism.claim, ApproximateDP)
    short = shortened(mechanism, 7)
    longest = max(map(len, distribution(short, 1)))
    assert longest < 7, "the filter halts within the part that is enumerated"
    assert hockey_stick(short, mechanism.claim.epsilon) <= mechanism.claim.delta


def test_bad_parameters_and_data() -> None:
    with pytest.raises(UsageError, match="truth must lie"):
        Star(1.5, 1.0, Offer(1.0))
    with pytest.raises(UsageError, match="at most 1"):
        Star(0.9, 0.1, Offer(1.0))
    with pytest.raises(UsageError, match="loss must be"):
        Star(0.1, math.nan, Offer(1.0))
    with pytest.raises(UsageError, match="stream must hold"):
        FilteredStars((), lambda: SelfReportingFilter(1.0, 0.0), ApproximateDP(1.0, 0.0))
    for data in ([0.5], [0.0, 1.0], [2.0]):
        with pytest.raises(UsageError, match=r"^data must"):
            self_reporting_composition.sample(np.array(data), 1, np.random.default_rng(0))


def test_randomised_response_is_as_private_as_its_name() -> None:
    star = randomised_response(2.0)
    assert star.truth / star.lie == pytest.approx(math.exp(2))
    assert star.truth + star.lie == pytest.approx(1, abs=1e-15)
