"""Python's own words for numbers on noisy values: `int`, `float`, `isinstance`, sums and means."""

import math
import numbers
import statistics
from math import fsum, isfinite
from statistics import fmean
from typing import Any

import numpy as np
import pytest

from dpassay.claims import PureDP
from dpassay.neighbours import VectorNeighbours
from dpassay.properties.hunting.decision import Decision
from dpassay.properties.hunting.traced import decide

LINE = VectorNeighbours(size=1, linf=1)
FOUR = VectorNeighbours(size=4, l1=1)


def decided(release: Any, epsilon: float = 1.0, relation: Any = LINE) -> Decision:
    def sampler(data: Any, size: int, rng: Any) -> list[Any]:
        return [release(data, rng) for _ in range(size)]

    return decide(sampler, PureDP(epsilon), relation, 0, 10.0)


def checked(value: Any, types: Any) -> Any:
    if not isinstance(value, types):
        raise TypeError("expected a number")
    return value


@pytest.mark.parametrize(
    "release",
    [
        lambda data, rng: checked(data[0] + rng.laplace(), float),
        lambda data, rng: checked(data[0] + rng.laplace(), int | float),
        lambda data, rng: checked(data[0] + rng.laplace(), (int, float, np.floating, numbers.Real)),
        lambda data, rng: checked(round(data[0] + rng.laplace()), int),
        lambda data, rng: checked(math.exp(data[0] + rng.laplace()), numbers.Real),
        lambda data, rng: int(data[0] + rng.laplace()),
        lambda data, rng: max(0, int(round(data[0] + rng.laplace()))),  # noqa: RUF046
        lambda data, rng: (data[0] + rng.laplace()) // 0.5,
        lambda data, rng: data[0] + rng.laplace() if isfinite(data[0] + rng.laplace()) else 0.0,
        lambda data, rng: int(data[0] + rng.laplace() > 0.5),
        lambda data, rng: data[0] + rng.laplace() + int("3") + int(3.7) + np.zeros(2, dtype=int).sum(),
    ],
)
def test_words_for_numbers(release: Any) -> None:
    found = decided(release)
    assert str(found.verdict) == "holds"
    assert found.epsilon_upper == pytest.approx(1)


@pytest.mark.parametrize(
    "total",
    [
        lambda data: math.fsum(data),  # noqa: PLW0108 - the name is replaced in a trace
        lambda data: fsum(x for x in data),
        lambda data: 4 * statistics.mean(data),
        lambda data: 4 * fmean(list(data)),
    ],
)
def test_sums_and_means(total: Any) -> None:
    assert str(decided(lambda data, rng: total(data) + rng.laplace(), 1.0, FOUR).verdict) == "holds"
    assert str(decided(lambda data, rng: total(data) + rng.laplace(), 0.99, FOUR).verdict) == "violated"


def test_integers_of_data_move_by_a_whole_step() -> None:
    half = VectorNeighbours(size=1, linf=0.5)
    assert str(decided(lambda data, rng: int(data[0]) + rng.laplace(), 0.5, half).verdict) != "holds"


@pytest.mark.parametrize(
    "release",
    [
        lambda data, rng: data[0] if isinstance(round(data[0] + rng.laplace()), int) else 0,
        lambda data, rng: data[0] if isinstance(data[0] + rng.laplace(), float) else 0,
        lambda data, rng: 0 if isinstance(np.round(data[0] + rng.laplace()), int) else data[0],
        lambda data, rng: 0 if isinstance(rng.geometric(0.5), float) else data[0],
    ],
)
def test_types_that_release_the_data_are_never_proved(release: Any) -> None:
    assert str(decided(release).verdict) != "holds"


@pytest.mark.parametrize("sum_of", [lambda data: data[0], lambda data: data.sum()])
def test_a_branch_for_numbers_of_numpy_is_no_matter_of_rounding(sum_of: Any) -> None:
    def release(data: Any, rng: Any) -> Any:
        total = sum_of(data)
        return total if isinstance(total, np.floating) else total + rng.laplace()

    found = decided(release)
    assert str(found.verdict) == "violated"
    assert found.float64 is None


def test_data_above_an_end_are_compared() -> None:
    """Random data of the runs on numbers do not lie at the end itself, the boundary of ``x > 0``."""
    counts = VectorNeighbours(size=4, linf=1, low=0)
    found = decided(lambda data, rng: max(0, data[0]) + sum(x > 0 for x in data) * 0 + rng.laplace(), 1.0, counts)
    assert str(found.verdict) == "holds"


def as_int(value: Any) -> Any:
    return int(value)  # the name, for which a trace has its own function


@pytest.mark.parametrize("whole", [as_int, round, math.floor, math.ceil, math.trunc, np.rint])
def test_an_integer_of_lattice_noise_is_kept_as_it_is(whole: Any) -> None:
    integers = VectorNeighbours(size=1, linf=1, integer=True)

    def release(data: Any, rng: Any) -> Any:
        return data[0] + whole(2 + rng.geometric(0.625) - rng.geometric(0.625))

    found = decided(release, 1.0, integers)
    assert str(found.verdict) == "holds"  # the loss is log(1 / (1 - 0.625)) = 0.981
    assert found.epsilon_upper == pytest.approx(-math.log(0.375))


def test_a_part_of_lattice_noise_is_rounded() -> None:
    """Half of a geometric draw is no integer: what `int` makes of it is not taken for the half.

    The half alone would lose 2 log(1 / (1 - 0.625)) = 1.96; three differences are rounded to 0, and the loss is 2.2.
    """
    integers = VectorNeighbours(size=1, linf=1, integer=True)
    found = decided(lambda data, rng: data[0] + int((rng.geometric(0.625) - rng.geometric(0.625)) / 2), 2.0, integers)
    assert str(found.verdict) == "violated"
