"""Released Gaussian numbers: claims next to their closed forms, computed by mpmath."""

from typing import Any

import mpmath
import numpy as np
import pytest

from dpassay.claims import parse_claim
from dpassay.neighbours import parse_neighbours
from dpassay.properties.hunting.decision import Decision
from dpassay.properties.hunting.traced import decide
from dpassay.properties.outcomes.batch import Outcomes
from dpassay.properties.outcomes.events import parse_event

LINE, PLANE = "vector:size=1,linf=1", "vector:size=2,linf=1"


def one(data: Any, size: Any, rng: Any) -> Any:
    """At a distance of 2."""
    return data[0] + rng.normal(0, 0.5, size)


def two_of_a_sum(data: Any, size: Any, rng: Any) -> Any:
    """At a distance of 2 (1 + 1/4)^(1/2)."""
    return [(data.sum() + rng.normal(), data.sum() + rng.normal(0, 2)) for _ in range(size)]


def logarithmic(data: Any, size: Any, rng: Any) -> Any:
    return np.exp(data[0] + rng.normal(0, 0.5, size))


def clipped(data: Any, size: Any, rng: Any) -> Any:
    return np.clip(data[0] + rng.normal(0, 0.5, size), -3, 3)


def decision(target: Any, claim: str, relation: str) -> Decision:
    return decide(target, parse_claim(claim), parse_neighbours(relation), 0, seconds=60.0)


def delta(mu: float, epsilon: float) -> float:
    """Balle and Wang 2018, Theorem 8."""
    m, e = mpmath.mpf(mu), mpmath.mpf(epsilon)
    return float(mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m))


NEXT = 1e-6
FIVE = 5**0.5


@pytest.mark.parametrize(
    ("target", "relation", "claim", "value"),
    [
        pytest.param(one, LINE, "gdp:{}", 2.0, id="gdp"),
        pytest.param(one, LINE, "zcdp:{}", 2.0, id="zcdp"),
        pytest.param(one, LINE, "rdp:3,{}", 6.0, id="rdp"),
        pytest.param(one, LINE, "approx:10,{}", delta(2, 10), id="small delta"),
        pytest.param(one, LINE, "approx:0.1,{}", delta(2, 0.1), id="large delta"),
        pytest.param(two_of_a_sum, PLANE, "gdp:{}", FIVE, id="gdp of two"),
        pytest.param(two_of_a_sum, PLANE, "zcdp:{}", 2.5, id="zcdp of two"),
        pytest.param(two_of_a_sum, PLANE, "approx:4,{}", delta(FIVE, 4), id="delta of two"),
        pytest.param(logarithmic, LINE, "approx:1,{}", delta(2, 1), id="delta of a function"),
    ],
)
def test_claims_just_below_are_refuted_and_just_above_proved(
    target: Any, relation: str, claim: str, value: float
) -> None:
    below = decision(target, claim.format(value * (1 - NEXT)), relation)
    assert below.verdict == "violated"
    assert below.finding is not None
    assert not below.finding.witness.is_described
    assert decision(target, claim.format(value * (1 + NEXT)), relation).verdict == "holds"


def test_a_clipped_number_is_cut_where_the_claim_is_decided() -> None:
    assert decision(clipped, f"approx:2,{delta(2, 2) * (1 - NEXT)}", LINE).verdict == "violated"


def test_the_event_of_a_sum_has_the_probability_that_is_printed() -> None:
    """4,000 calls on each side: a deviation of 0.06 has probability below 2 exp(-2 * 4000 * 0.06^2) = 7e-13."""
    found = decision(two_of_a_sum, "gdp:2", PLANE).finding
    assert found is not None
    assert "+0.25*" in found.witness.event
    event, rng, witness = parse_event(found.witness.event), np.random.default_rng(1), found.witness
    for side, interval in ((witness.left, witness.p_left), (witness.right, witness.p_right)):
        outcomes = Outcomes.of(two_of_a_sum(np.array(side), 4_000, rng))
        assert abs(float(event.holds(outcomes).mean()) - sum(interval) / 2) < 0.06
