"""Cells of released numbers beside decisions: losses that are known, and cells that must not be cut."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpassay.claims import parse_claim
from dpassay.neighbours import parse_neighbours
from dpassay.properties.hunting.divergences import Tabulated
from dpassay.properties.hunting.traced import decide
from dpassay.properties.hunting.traced_cuts import refined
from dpassay.properties.hunting.traced_pairs import distributions
from dpassay.properties.tracing.trace import Trace, trace
from dpassay.spec.ball import float_lower, precision
from dpassay.spec.distributions.discrete import max_divergence
from dpassay.spec.leaves.cells import Cuts


def index_and_value(data: Any, size: Any, rng: Any) -> Any:
    noisy = data + rng.laplace(0, 2.0, len(data))
    return [(int(np.argmax(noisy)), np.max(noisy))]


def passing_value(data: Any, size: Any, rng: Any) -> Any:
    threshold = rng.laplace(0, 2.0)
    for place, value in enumerate(data):
        noisy = value + rng.laplace(0, 4.0)
        if noisy > threshold:
            return [(place, noisy)]
    return [(-1, 0.0)]


def loss(target: Any, left: list[float], right: list[float]) -> float:
    """Return the certified loss at a pair of inputs."""
    models = []
    for data in (left, right):
        found = trace(target, data, replays=0)
        assert isinstance(found, Trace)
        models.append(found.model)
    with precision(64):
        first, second = (Tabulated.of(side) for side in distributions(models[0], models[1]))
        return max(float_lower(max_divergence(a, b)) for a, b in ((first, second), (second, first)))


@pytest.mark.parametrize(
    ("target", "left", "right", "bound"),
    [
        (index_and_value, [-64.0, 64.0, 64.0], [-65.0, 65.0, 65.0], 1.5),
        (passing_value, [64.0, 64.0, -64.0], [65.0, 65.0, -65.0], 0.75),
    ],
)
def test_the_loss_far_out_is_that_of_all_shifts(target: Any, left: Any, right: Any, bound: float) -> None:
    """Each of three noises moves by 1: 3/2 for Lap(2), 3/4 for Lap(4) with a threshold that stays; and no more."""
    assert bound * (1 - 1e-9) <= loss(target, left, right) <= bound


def test_index_and_value_of_two_at_the_same_place() -> None:
    """Both at 0 against both at 1: the density at y < 0 is 2 f(y) F(y), f and F those of Lap(2), e times as large."""
    found = loss(index_and_value, [0.0, 0.0], [1.0, 1.0])
    assert 1 - 1e-9 <= found <= 1


@pytest.mark.parametrize(("rounding", "start"), [(np.floor, 0.25), (np.ceil, 0.25), (np.rint, 0.0)])
def test_a_rounded_number_is_not_cut_between_its_jumps(rounding: Any, start: float) -> None:
    """Uniform noise has an infinite loss; rounded to one and the same integer, it has none."""

    def target(data: Any, size: Any, rng: Any) -> Any:
        return rounding((data[0] + rng.uniform(0, 1, size)) / 4 + start)

    found = decide(target, parse_claim("pure:0.1"), parse_neighbours("vector:size=1,linf=0.5,low=0,high=0.5"), 0)
    assert found.verdict != "violated"


def test_cells_are_halved_or_cut_at_a_distance_from_their_end() -> None:
    cuts: Cuts = {"a": [[Fraction(0), Fraction(2)]]}
    cases: list[tuple[int | str, int, list[int]]] = [(1, 1, [0, 1, 2]), (0, 3, [-3, 0, 2]), (2, 3, [0, 2, 5])]
    for label, scale, expected in [*cases, ("7", 3, [0, 2])]:
        (ends,) = refined(cuts, "a", (label,), Fraction(scale))["a"]
        assert list(map(int, ends)) == expected


def test_a_claim_about_clipped_laplace_noise_is_cut_where_it_is_decided() -> None:
    """The delta of Lap(1/2) at a distance of 1 is 1 - e^((epsilon - 2)/2); clipping at -9 takes nothing from it."""

    def target(data: Any, size: Any, rng: Any) -> Any:
        return np.maximum(data[0] + rng.laplace(0, 0.5, size), -9)

    delta = 1 - math.exp((0.9 - 2) / 2)
    found = decide(
        target, parse_claim(f"approx:0.9,{delta * (1 - 1e-9)}"), parse_neighbours("vector:size=1,linf=1"), 0
    )
    assert found.verdict == "violated"
