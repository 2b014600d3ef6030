import math
from typing import Any

import numpy as np
import pytest

from dpassay.arguments import UsageError
from dpassay.claims import ZCDP, ApproximateDP, BoundedRange, Claim, ExPost, PureDP, RenyiDP
from dpassay.properties.assay.ideal_distributions import ideal_distribution, ideal_loss
from dpassay.spec.ball import ball, float_lower, precision

Words = dict[str, Any]


def loss(claim: Claim, left: Words, right: Words) -> float:
    with precision(128):
        return float_lower(ideal_loss(claim, ideal_distribution(left), ideal_distribution(right)))


def law(family: str, location: Any, scale: float = 2.0, **ends: float) -> Words:
    return {"family": family, "location": location, "scale": scale, **ends}


def test_laplace_in_closed_form() -> None:
    pair = law("laplace", 0.0), law("laplace", 1.0)
    assert loss(PureDP(1.0), *pair) == 0.5
    assert loss(BoundedRange(1.0), *pair) == 1.0
    assert loss(ApproximateDP(0.25, 0.1), *pair) == pytest.approx(-math.expm1(-0.125))
    assert loss(RenyiDP(2.0, 1.0), *pair) == pytest.approx(math.log(2 / 3 * math.exp(0.5) + math.exp(-1) / 3))


def test_gaussian_in_closed_form() -> None:
    pair = law("gaussian", [0.0, 0.0]), law("gaussian", [3.0, 4.0])
    assert loss(PureDP(1.0), *pair) == math.inf
    assert loss(ZCDP(1.0), *pair) == pytest.approx(2.5**2 / 2)
    assert loss(RenyiDP(3.0, 1.0), *pair) == pytest.approx(1.5 * 2.5**2)


def test_coordinates_add_up() -> None:
    pair = law("laplace", [0.0, 0.0, 7.0]), law("laplace", [1.0, -2.0, 7.0])
    assert loss(PureDP(1.0), *pair) == 1.5
    together = loss(ApproximateDP(0.5, 0.1), *pair)
    assert loss(ApproximateDP(0.5, 0.1), law("laplace", 0.0), law("laplace", 2.0)) < together < 1 - math.exp(-0.5)


def test_a_scale_that_depends_on_the_data_is_seen() -> None:
    wide, narrow = law("laplace", 0.0, 2.0), law("laplace", 0.0, 1.0)
    assert loss(PureDP(1.0), wide, narrow) == math.inf
    assert loss(PureDP(1.0), narrow, wide) == pytest.approx(math.log(2))
    wide, narrow = law("gaussian", 0.0, 2.0), law("gaussian", 0.0, 1.0)
    assert loss(PureDP(1.0), wide, narrow) == math.inf
    assert loss(PureDP(1.0), narrow, wide) == pytest.approx(math.log(2))
    exact = 2 * (0.8413447460685429 - 0.6914624612740131)  # within one of N(0, 1), beyond N(0, 4): roughly
    assert loss(ApproximateDP(0.0, 0.1), narrow, wide) > exact


def test_discrete_laws() -> None:
    assert loss(PureDP(1.0), law("discrete laplace", 0), law("discrete laplace", 3)) == 1.5
    halfway = loss(PureDP(1.0), law("discrete laplace", 0.5), law("discrete laplace", 1.0))
    assert 0 < halfway <= 0.5 + 1e-9
    pair = law("discrete gaussian", 0), law("discrete gaussian", 1)
    assert loss(PureDP(1.0), *pair) == math.inf
    assert loss(ZCDP(1.0), *pair) == pytest.approx(1 / 8, rel=1e-6)


def test_bounded_noise_pays_for_its_ends() -> None:
    """Bounded Laplace noise of scale s about the ends of [0, 1] has the loss 1/s + log of its normalisers: 2 here."""
    pair = (law("bounded laplace", x, 0.5, low=0.0, high=1.0) for x in (0.0, 1.0))
    assert loss(PureDP(1.0), *pair) == pytest.approx(2.0, rel=1e-6)
    middle = law("bounded laplace", 0.5, 0.5, low=0.0, high=1.0)
    end = law("bounded laplace", 0.0, 0.5, low=0.0, high=1.0)
    ratio = (1 - math.exp(-2)) / (2 * (1 - math.exp(-1)))  # normaliser at an end over that in the middle, halved scale
    assert loss(PureDP(1.0), end, middle) == pytest.approx(1.0 - math.log(ratio), rel=1e-6)
    clamped = [law("clamped laplace", x, 0.5, low=0.0, high=1.0) for x in (0.0, 1.0)]
    assert loss(PureDP(1.0), *clamped) == pytest.approx(2.0, rel=1e-6)


def test_finite_laws_are_exact() -> None:
    left = {"family": "finite", "symbols": [0, 1], "probabilities": [3, 1]}
    right = {"family": "finite", "symbols": [0, 1], "probabilities": [1, 3]}
    assert loss(PureDP(1.0), left, right) == pytest.approx(math.log(3))
    with precision(128):
        assert ideal_loss(ApproximateDP(0.0, 0.1), ideal_distribution(left), ideal_distribution(right)) <= ball(
            0.5
        ) * (1 + ball(2.0**-80))


def test_equal_laws_lose_nothing() -> None:
    for claim in (PureDP(1.0), ApproximateDP(1.0, 0.1), ZCDP(1.0), RenyiDP(2.0, 1.0), BoundedRange(1.0)):
        assert loss(claim, law("gaussian", [0.0, 1.0]), law("gaussian", [0.0, 1.0])) == 0


@pytest.mark.parametrize(
    "words",
    [
        {"family": "cauchy", "location": 0.0, "scale": 1.0},
        {"family": "laplace", "location": 0.0},
        {"family": "laplace", "location": [0.0, 1.0], "scale": [1.0]},
        {"family": "laplace", "location": np.float64(0.0), "scale": np.float64(math.inf)},
        {"family": "finite", "symbols": [1], "probabilities": [0.0]},
        {},
    ],
)
def test_what_is_no_law_is_refused(words: Words) -> None:
    with pytest.raises(UsageError):
        ideal_distribution(words)


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(UsageError, match="same form"):
        loss(PureDP(1.0), law("laplace", [0.0, 0.0]), law("laplace", 0.0))
    with pytest.raises(UsageError, match="no certified loss"):
        loss(ExPost(lambda _: 0.0), law("laplace", 0.0), law("laplace", 1.0))
