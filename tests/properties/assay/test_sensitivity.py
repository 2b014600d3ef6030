import itertools
import math
import re
import statistics
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from dpassay.adapter import Mechanism
from dpassay.impl.libraries.in_process import InProcessWorker
from dpassay.impl.libraries.remote import open_library
from dpassay.impl.libraries.worker_process import WorkerLostError
from dpassay.neighbours import parse_neighbours
from dpassay.properties.assay.boundaries import boundary_pairs, nearby_pairs
from dpassay.properties.assay.finding import Finding, Settings
from dpassay.properties.assay.kinds import FindingKind
from dpassay.properties.assay.laws import LAWS
from dpassay.properties.assay.sensitivity import (
    CertainGap,
    Compute,
    Value,
    WidestGap,
    as_vector,
    certain_gap,
    length,
    widest_gap,
)
from dpassay.properties.neighbours.pairs import are_neighbours

RNG = np.random.default_rng(5)

RELATIONS = [
    "vector:size=1,linf=1",
    "vector:size=7,l0=2,linf=0.5,low=0,high=2",
    "vector:size=3,l1=1,integer",
    "records:low=0,high=1,size=0,max-size=6,relation=add-remove",
    "records:low=-3,high=2,size=5,relation=replace",
    "records:low=1,high=1,size=2,relation=add-remove",
]


@pytest.mark.parametrize("words", RELATIONS)
def test_boundary_pairs_are_neighbours(words: str) -> None:
    relation = parse_neighbours(words)
    pairs = boundary_pairs(relation, seed=0, limit=40)
    assert pairs
    assert all(are_neighbours(relation, *pair) and not np.array_equal(*pair) for pair in pairs)
    assert len({(left.tobytes(), right.tobytes()) for left, right in pairs}) == len(pairs)
    assert [len(boundary_pairs(relation, seed=0, limit=limit)) for limit in range(2)] == [0, 1]
    again = boundary_pairs(relation, seed=0, limit=40)
    assert all(
        np.array_equal(a, b) for one, two in zip(pairs, again, strict=True) for a, b in zip(one, two, strict=True)
    )


@pytest.mark.parametrize("words", RELATIONS)
def test_changes_of_a_pair_are_often_neighbours(words: str) -> None:
    relation = parse_neighbours(words)
    changes = nearby_pairs(relation, boundary_pairs(relation, seed=0, limit=1)[0], np.random.default_rng(0))
    assert sum(are_neighbours(relation, *next(changes)) for _ in range(100)) > 20


def on_all(compute: Callable[[Any], Any]) -> Compute:
    """Return the function that computes the values on several inputs."""
    return lambda inputs: [as_vector(compute(data)) for data in inputs]


def searched(compute: Callable[[Any], Any], words: str, *, norm: int = 1, evaluations: int = 250) -> WidestGap:
    relation = parse_neighbours(words)
    return widest_gap(on_all(compute), relation, norm=norm, seed=0, evaluations=evaluations, seconds=60)


def found(compute: Callable[[Any], Any], words: str, *, norm: int = 1, evaluations: int = 250) -> WidestGap:
    widest = searched(compute, words, norm=norm, evaluations=evaluations)
    assert widest.pair is not None
    return widest


def test_sums_move_by_the_range() -> None:
    assert found(np.sum, RELATIONS[4]).gap == 5


def test_a_threshold_that_is_met_exactly_is_found() -> None:
    gap = found(lambda data: 10.0 * (np.sum(data) == 2.0), RELATIONS[3]).gap
    assert gap == 10


def test_a_lone_record_is_found() -> None:
    assert found(lambda data: np.mean(data) if len(data) else 0.5, RELATIONS[3]).gap == 0.5


def test_the_variance_of_one_record_among_many_is_found() -> None:
    """Replacing a record moves the variance of n records in [0, 1] by (n - 1) / n^2, an even split less."""
    gap = found(np.var, "records:low=0,high=1,size=5,relation=replace").gap
    assert gap == pytest.approx(4 / 25)


def test_the_norm_is_that_of_the_noise() -> None:
    words = "vector:size=4,linf=1"
    assert found(lambda data: data, words, norm=1).gap == 4
    assert found(lambda data: data, words, norm=2).gap == pytest.approx(2)


@pytest.mark.parametrize("value", ["no number", None, [None, 1.0], np.nan, [np.inf, -np.inf]])
def test_what_has_no_finite_number_on_any_input_compares_nothing(value: Any) -> None:
    nothing = searched(lambda data: value, RELATIONS[0])
    assert (nothing.pair, nothing.compared, nothing.breaches) == (None, 0, ())
    assert nothing.pairs > 0


def test_what_cannot_be_computed_is_left_out() -> None:
    some = found(lambda data: "no number" if data[0] > 0 else 0.0, RELATIONS[0])
    assert (some.gap, some.breaches) == (0, ())
    assert 0 < some.compared < some.pairs


@pytest.mark.parametrize(
    ("value", "words", "is_value"),
    [
        (np.nan, "finite on one side and nan on the other", True),
        (-np.inf, "-inf on one side and finite on the other", True),
        ([1.0, 2.0], "1 numbers on one side and 2 numbers on the other", False),
        ([], "0 numbers on one side and 1 numbers on the other", False),
    ],
)
def test_a_value_without_a_distance_is_a_breach(value: Any, words: str, is_value: bool) -> None:
    some = found(lambda data: value if data[0] > 0 else 0.0, RELATIONS[0])
    assert some.gap == 0
    assert [(one.words, one.is_value) for one in some.breaches] == [(words, is_value)]
    assert 0 < some.compared < some.pairs


def test_infinities_of_both_neighbours_are_left_out() -> None:
    some = found(lambda data: [np.inf, np.nan, np.sum(data)], RELATIONS[4])
    assert (some.gap, some.breaches) == (5, ())
    assert some.compared == some.pairs
    assert found(lambda data: [np.inf, 1.0], RELATIONS[0]).is_constant
    assert searched(lambda data: [np.inf, np.nan], RELATIONS[0]).is_constant


def noiselessly(noiseless: Callable[[list[float]], Any], **fields: Any) -> Finding:
    """Return the finding about a mechanism that adds Laplace noise to what is computed without noise."""
    rng = np.random.default_rng(1)
    given: dict[str, Any] = {
        "claim": "pure:1",
        "sample_one": lambda data: noiseless(data) + rng.laplace(),
        "sensitivity": 1.0,
        "floats": False,
    }
    case = Mechanism("case", RELATIONS[0], noiseless=noiseless, **(given | fields))
    (remote,) = open_library(InProcessWorker([case]))
    (law,) = (law for law in LAWS if law.name == "sensitivity")
    return law.check(remote, Settings(1e-9, 1, 2000, 30.0))


def mean_of_positive(data: list[float]) -> float:
    """Return the number itself if it is positive; otherwise the standard library raises."""
    return statistics.fmean(x for x in data if x > 0)


def test_a_finding_says_how_many_pairs_it_compared() -> None:
    whole = noiselessly(lambda data: data[0])
    assert whole.kind is FindingKind.OK
    assert whole.power is not None
    assert f"({whole.power['points']} pairs compared, {whole.calls} inputs)" in whole.detail


@pytest.mark.parametrize("value", [math.inf, math.nan])
def test_an_infinity_of_one_neighbour_is_a_violation_of_known_noise(value: float) -> None:
    def noiseless(data: list[float]) -> float:
        return value if data[0] > 0 else data[0]

    def law(data: list[float]) -> dict[str, Any]:
        return {"family": "laplace", "location": noiseless(data), "scale": 1.0}

    certified = noiselessly(noiseless, distribution=law)
    assert certified.kind is FindingKind.VIOLATION
    assert certified.certified is not None
    assert certified.certified > 1e9
    assert "finite on one side" in certified.detail
    wide = noiselessly(noiseless, claim="approx:1,0.1", distribution=lambda data: {**law(data), "family": "gaussian"})
    assert wide.kind is FindingKind.VIOLATION
    assert wide.certified == pytest.approx(1)
    hidden = noiselessly(  # a sum that is clamped is the same for all large values
        noiseless,
        sample_one=lambda data: RNG.laplace(),
        distribution=lambda data: {**law(data), "family": "clamped laplace", "low": -1.0, "high": 1.0},
    )
    assert hidden.kind is FindingKind.WRONG_ANSWER
    assert noiselessly(noiseless).kind is FindingKind.VIOLATION  # samples confirm it


def test_an_infinity_that_no_sample_shows_is_a_wrong_answer() -> None:
    found = noiselessly(lambda data: math.inf if data[0] > 0 else data[0], sample_one=lambda data: RNG.laplace())
    assert (found.kind, found.certified) == (FindingKind.WRONG_ANSWER, math.inf)


def test_an_exception_on_one_neighbour_is_a_violation_if_samples_show_it() -> None:
    found = noiselessly(mean_of_positive)
    assert found.kind is FindingKind.VIOLATION
    assert "raises StatisticsError" in found.detail
    hidden = noiselessly(mean_of_positive, sample_one=lambda data: data[0] + RNG.laplace())
    assert hidden.kind is FindingKind.UNDECIDED
    assert "samples do not show" in hidden.detail


def test_what_the_adapter_raises_is_no_difference() -> None:
    def noiseless(data: list[float]) -> float:
        if data[0] > 0:
            raise ValueError("the adapter does not know")
        return data[0]

    found = noiselessly(noiseless, sample_one=lambda data: data[0] + RNG.laplace())
    assert found.kind is FindingKind.OK
    assert re.search(r"\(\d+ of \d+ pairs compared", found.detail), found.detail


@pytest.mark.parametrize("value", [math.inf, math.nan, [math.nan, -math.inf]])
def test_the_same_infinity_everywhere_compares_nothing(value: Any) -> None:
    found = noiselessly(lambda data: value, sample_one=lambda data: data[0] + RNG.laplace())
    assert found.kind is FindingKind.UNDECIDED
    assert re.search(r"\(0 of \d+ pairs compared", found.detail), found.detail


@pytest.mark.parametrize(("noise", "kind"), [(1e-3, FindingKind.UNDECIDED), (1e-12, FindingKind.OK)])
def test_a_gap_that_remaining_noise_explains_is_undecided(noise: float, kind: FindingKind) -> None:
    found = noiselessly(lambda data: data[0] + noise * RNG.random(), sample_one=lambda data: data[0] + RNG.laplace())
    assert found.kind is kind, found.detail


def test_values_that_come_and_go_are_undecided() -> None:
    numbers = itertools.count()

    def noiseless(data: list[float]) -> float:
        return math.inf if next(numbers) % 40 == 0 else 0.5 * data[0]

    found = noiselessly(noiseless, sample_one=lambda data: data[0] + RNG.laplace())
    assert found.kind is FindingKind.UNDECIDED
    assert "not each time" in found.detail


def test_remaining_noise_is_not_taken_for_a_gap() -> None:
    rng = np.random.default_rng(0)
    noisy = on_all(lambda data: data[0] + 1e-3 * rng.laplace())
    widest = widest_gap(noisy, parse_neighbours(RELATIONS[0]), norm=1, seed=0, evaluations=200, seconds=60)
    assert widest.pair is not None
    assert widest.gap > 1
    certain = certain_gap(noisy, widest.pair, widest.gap, norm=1)
    assert not certain.is_deterministic
    assert certain.lower < 1 < certain.upper
    exact = found(lambda data: 3 * data[0], RELATIONS[0])
    assert exact.pair is not None
    certain = certain_gap(on_all(lambda data: 3 * data[0]), exact.pair, exact.gap, norm=1)
    assert certain == CertainGap(exact.gap, exact.gap, True)


def test_the_length_of_a_change_neither_overflows_nor_vanishes() -> None:
    for size in (1e200, 1e-200):
        assert length(np.array([size, size]), 2) == pytest.approx(math.sqrt(2) * size, rel=1e-15)
        assert length(np.array([size, -size]), 1) == 2 * size


def test_what_was_seen_before_the_worker_was_lost_stays() -> None:
    asked = itertools.count()

    def compute(inputs: Sequence[Any]) -> list[Value]:
        if next(asked) == 1:
            raise WorkerLostError("the worker hangs")
        return [as_vector(5 * data[:1]) for data in inputs]

    widest = widest_gap(compute, parse_neighbours(RELATIONS[0]), norm=1, seed=0, evaluations=500, seconds=60.0)
    assert widest.gap >= 5
    assert str(widest.lost) == "the worker hangs"
