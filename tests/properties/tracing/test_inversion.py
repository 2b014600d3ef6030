"""Logarithms of uniform noise are noise of other distributions, where nothing else depends on the draw."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpassay.claims import PureDP
from dpassay.neighbours import parse_neighbours
from dpassay.properties.hunting.traced import decide
from dpassay.properties.tracing.factors import independent_parts
from dpassay.properties.tracing.inversion import draw_of
from dpassay.properties.tracing.refusal import Refusal
from dpassay.properties.tracing.trace import Trace, trace
from dpassay.spec.ball import ball, precision
from dpassay.spec.leaves.data import at_data
from dpassay.spec.leaves.merging import merged
from dpassay.spec.leaves.model import Affine, Noise, NoiseKind
from dpassay.spec.leaves.probability import leaf_probability

LINE, THREE = "vector:size=1,linf=1", "vector:size=3,linf=1"


def traced(sampler: Any, size: int = 1) -> Any:
    result = trace(sampler, size=size, replays=32)
    assert isinstance(result, Trace), result
    assert result.replays.agreed
    return result.model


# --- programs -------------------------------------------------------------------------------------------------


def laplace(data: Any, size: Any, rng: Any) -> Any:
    u = rng.uniform(-0.5, 0.5, size)
    return data[0] - np.sign(u) * np.log(1 - 2 * np.abs(u))


def laplace_by_math(data: Any, size: Any, rng: Any) -> Any:
    u = rng.random() - 0.5
    return [data[0] - math.copysign(2.0, u) * math.log(1 - 2 * abs(u))]


def laplace_in_branches(data: Any, size: Any, rng: Any) -> Any:
    u = rng.random()
    return [data[0] + (math.log(2 * u) if u < 0.5 else -math.log1p(1 - 2 * u))]


def forgets_the_sign(data: Any, size: Any, rng: Any) -> Any:
    """Exponential noise: what is below the datum is impossible for a larger one."""
    u = rng.random() - 0.5
    return [data[0] - math.log(1 - 2 * abs(u))]


def half_of_the_scale(data: Any, size: Any, rng: Any) -> Any:
    u = rng.random() - 0.5
    return [data[0] - 0.5 * np.sign(u) * np.log(1 - 2 * np.abs(u))]


def largest_by_gumbel(data: Any, size: Any, rng: Any) -> Any:
    return [int(np.argmax(data - 2 * np.log(-np.log(rng.random(3)))))]


def largest_by_exponential(data: Any, size: Any, rng: Any) -> Any:
    return [int(np.argmax([x - 2 * math.log(rng.random()) for x in data]))]


@pytest.mark.traced
@pytest.mark.parametrize(
    ("sampler", "neighbours", "loss"),
    [
        (laplace, LINE, 1.0),
        (laplace_by_math, LINE, 0.5),
        (laplace_in_branches, LINE, 1.0),
        (half_of_the_scale, LINE, 2.0),
        (largest_by_gumbel, THREE, 1.0),
        (largest_by_exponential, THREE, 1.0),
    ],
)
def test_a_program_is_proved_at_its_loss_and_refuted_below_it(sampler: Any, neighbours: str, loss: float) -> None:
    relation = parse_neighbours(neighbours)
    found = decide(sampler, PureDP(loss), relation, 0, 60.0)
    assert found.verdict == "holds", found.reason
    assert decide(sampler, PureDP(0.9 * loss), relation, 0, 60.0).verdict == "violated"


@pytest.mark.traced
def test_noise_on_one_side_is_refuted() -> None:
    assert decide(forgets_the_sign, PureDP(50.0), parse_neighbours(LINE), 0, 60.0).verdict == "violated"


def test_both_sides_are_one_leaf_of_laplace_noise() -> None:
    [leaf] = merged(traced(laplace)).leaves
    assert leaf.outcome == Affine(Fraction(0), {Noise(NoiseKind.LAPLACE, -1): Fraction(1)}, {0: Fraction(1)})
    assert not leaf.constraints


# --- distributions ----------------------------------------------------------------------------------------------


def of_exponential(rng: Any) -> Any:
    return 0 - np.log(rng.random())


def of_the_rest(rng: Any) -> Any:
    return 0 - np.log1p(-rng.random())


def of_gumbel(rng: Any) -> Any:
    return 0 - np.log(-np.log(rng.random()))


def of_a_half(rng: Any) -> Any:
    u = rng.random()
    return 3 + np.log(2 * u) if u < 0.5 else 0.0


@pytest.mark.parametrize(
    ("make", "chance"),
    [
        (of_exponential, lambda: 1 / ball(2).exp()),
        (of_the_rest, lambda: 1 / ball(2).exp()),
        (of_gumbel, lambda: 1 - (-((-ball(2)).exp())).exp()),
        (of_a_half, lambda: (1 - (-ball(1)).exp()) / 2),
    ],
)
def test_the_noise_has_its_distribution(make: Callable[[Any], Any], chance: Any) -> None:
    model = at_data(traced(lambda data, size, rng: [bool(data[0] + make(rng) > 2)]), [Fraction(0)])
    with precision(96):
        total = sum((leaf_probability(leaf) for leaf in model.leaves if leaf.outcome is True), ball(0))
        assert abs(total - chance()) < ball(Fraction(1, 2**60))


# --- what depends on the draw elsewhere --------------------------------------------------------------------------


def released_twice(data: Any, size: Any, rng: Any) -> Any:
    u = rng.random()
    return [(data[0] - math.log(u), u)]


def compared_before(data: Any, size: Any, rng: Any) -> Any:
    u = rng.random()
    return [data[0] - math.log(u) if u > 0.25 else 0.0]


def compared_with_data_before(data: Any, size: Any, rng: Any) -> Any:
    u = rng.random()
    return [data[0] - math.log(u) if u > data[0] else 0.0]


def compared_afterwards(data: Any, size: Any, rng: Any) -> Any:
    u = rng.random()
    noisy = data[0] - math.log(u)
    return [noisy if u > 0.25 else 0.0]


def another_logarithm(data: Any, size: Any, rng: Any) -> Any:
    u = rng.random()
    return [data[0] - math.log(u) + math.log(1 - u)]


def logarithm_of_a_limited_one(data: Any, size: Any, rng: Any) -> Any:
    noise = 0 * data[0] - math.log(rng.random())
    return [data[0] - math.log(noise) if noise < 5 else 0.0]


@pytest.mark.parametrize(
    "sampler",
    [
        released_twice,
        compared_before,
        compared_with_data_before,
        compared_afterwards,
        another_logarithm,
        logarithm_of_a_limited_one,
    ],
)
def test_a_draw_that_is_used_elsewhere_is_refused(sampler: Any) -> None:
    assert isinstance(trace(sampler, size=1, replays=8), Refusal)


def test_a_logarithm_is_used_as_often_as_wanted() -> None:
    def sampler(data: Any, size: Any, rng: Any) -> Any:
        noise = np.log(rng.random())
        return [(data[0] - noise, bool(data[0] - noise > 1))]

    assert len(traced(sampler).leaves) == 2


def test_parts_that_share_a_draw_are_not_independent() -> None:
    def sampler(data: Any, size: Any, rng: Any) -> Any:
        u = rng.random(1)
        near = np.log(u) + rng.exponential(size=1) > -1
        return [np.concatenate([near, u > 0.5])]

    found = independent_parts(sampler, [0.0], 2)
    assert isinstance(found, Refusal) or len(found) == 1


@pytest.mark.parametrize(("position", "draw"), [(-1, 0), (-2, 0), (-3, 1), (-4, 1)])
def test_the_draw_behind_a_noise_is_known(position: int, draw: int) -> None:
    assert draw_of(Noise(NoiseKind.EXPONENTIAL, position)) == Noise(NoiseKind.UNIFORM, draw)
    assert draw_of(Noise(NoiseKind.LAPLACE, draw)) == Noise(NoiseKind.LAPLACE, draw)
