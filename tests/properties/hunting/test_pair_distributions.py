"""Mechanisms with continuous outcomes are certified through a partition that is made at the pair."""

import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpassay.arguments import UsageError
from dpassay.claims import ApproximateDP, Claim, PureDP
from dpassay.impl.mechanisms.dual_query import DualQuery
from dpassay.impl.mechanisms.hadamard_response import HadamardResponse
from dpassay.impl.mechanisms.laplace import LaplaceMechanism
from dpassay.impl.mechanisms.laplace_sums import LaplaceParallel, LaplacePrefixSum
from dpassay.impl.mechanisms.noisy_mean import NoisyMean
from dpassay.impl.mechanisms.posterior_sampling import PosteriorSample
from dpassay.impl.mechanisms.randomised_response import RandomisedResponse
from dpassay.impl.mechanisms.rappor import Rappor
from dpassay.impl.mechanisms.truncated_geometric import TruncatedGeometric
from dpassay.neighbours import VectorNeighbours, parse_neighbours
from dpassay.properties.hunting.hunt import hunt
from dpassay.properties.hunting.replay import replay
from dpassay.properties.hunting.white_box import has_distribution
from dpassay.properties.outcomes.batch import Outcomes
from dpassay.properties.outcomes.events import AllOf, AnyOf, Interval, NoneOf, Symbols, parse_event, union
from dpassay.properties.pairing.laplace import laplace_cells
from dpassay.properties.pairing.registry import (
    PushedForward,
    has_exact_distribution,
    pair_distribution,
    register_distribution,
    register_pair_distribution,
)
from dpassay.spec.ball import ball, sum_balls

NEAR = VectorNeighbours(1, linf=1.0, low=-1, high=1)
LOW, HIGH = Interval("outcome", -math.inf, 0.0), Interval("outcome", 0.0, math.inf)


@dataclass(frozen=True)
class OneOrAnything:
    """Answers 7 with probability 1/2, else a uniform number about the answer."""

    claims: tuple[Claim, ...] = (PureDP(0.5),)
    neighbours: VectorNeighbours = NEAR

    def sample(self, data: NDArray[np.float64], size: int, rng: np.random.Generator) -> Any:
        return np.where(rng.random(size) < 0.5, 7.0, rng.uniform(data[0] - 2, data[0] + 2, size))


def _cells(_: OneOrAnything, left: NDArray[np.float64], right: NDArray[np.float64]) -> Any:
    def pushed(data: NDArray[np.float64]) -> PushedForward:
        above = 0.25 + data[0] / 8  # of a uniform number on [data - 2, data + 2]
        return PushedForward({
            7.0: lambda: ball(0.5).log(), LOW: lambda: ball(0.5 - above).log(), HIGH: lambda: ball(above).log(),
        })  # fmt: skip

    return pushed(left), pushed(right)


register_pair_distribution(OneOrAnything, _cells)


def test_what_the_cells_refute_is_refuted() -> None:
    result = hunt(OneOrAnything(), PureDP(0.4))
    assert (result.verdict, result.evidence, result.calls) == ("violated", "enclosed", 0)
    assert result.epsilon_lower == pytest.approx(math.log(2), rel=1e-12)
    assert result.witness is not None
    assert parse_event(result.witness.event) in {LOW, HIGH}


def test_what_the_cells_do_not_refute_is_not_thereby_proved() -> None:
    assert hunt(OneOrAnything(), PureDP(0.7)).verdict == "not refuted"  # the truth is infinite
    assert hunt(LaplaceMechanism(2, 1.0), ApproximateDP(0.5, 0.3)).verdict == "not refuted"


def test_a_worst_case_theorem_proves_it_for_all_pairs() -> None:
    result = hunt(LaplaceMechanism(3, 0.25))
    assert (result.verdict, result.scope) == ("holds", "all")
    assert result.epsilon_lower == pytest.approx(0.25, rel=1e-14)


def test_who_has_a_distribution_for_pairs() -> None:
    assert has_exact_distribution(OneOrAnything())
    assert pair_distribution(object(), np.zeros(1), np.ones(1)) is None
    with pytest.raises(ValueError, match="two entries for the pair distribution of OneOrAnything"):
        register_pair_distribution(OneOrAnything, _cells)


def test_a_distribution_for_inputs_goes_before_one_for_pairs() -> None:
    @dataclass(frozen=True)
    class Both(OneOrAnything):
        pass

    register_distribution(Both, lambda _, data: PushedForward({"same": lambda: ball(1).log()}))
    register_pair_distribution(Both, _cells)
    assert hunt(Both()).epsilon_lower == 0


@pytest.mark.parametrize("size", [1, 2, 3, 7, 20])
def test_the_cells_of_a_partition_have_probability_one(size: int) -> None:
    left, right = np.zeros(size), np.linspace(0.5, 1.5, size)
    for distribution in laplace_cells(left.tolist(), right.tolist(), 2):
        assert sum_balls(distribution.log_probability(cell).exp() for cell in distribution.outcomes).contains(1)


@pytest.mark.parametrize("size", [1, 2, 7])
def test_every_outcome_lies_in_exactly_one_cell_about_as_often_as_the_distribution_says(size: int) -> None:
    left, right = np.zeros(size), np.ones(size)
    mechanism = LaplaceMechanism(size, 1.0, float(size))
    (distribution, _), draws = laplace_cells(left.tolist(), right.tolist(), mechanism.scale), 20_000
    outcomes = Outcomes.of(mechanism.sample(left, draws, np.random.default_rng(0)))
    members = np.array([union([cell]).holds(outcomes) for cell in distribution.outcomes])
    assert np.all(members.sum(axis=0) == 1)
    for cell, hits in zip(
        distribution.outcomes, members.sum(axis=1), strict=True
    ):  # Hoeffding: 2 e^(-2 0.03^2 n) < 1e-15
        assert abs(hits / draws - float(distribution.log_probability(cell).exp())) < 0.03


def test_a_witness_in_a_box_is_replayed(tmp_path: Any) -> None:
    mechanism = LaplaceMechanism(2, 1.0, 2.0)
    found = hunt(mechanism, PureDP(0.2), VectorNeighbours(2, linf=1.0))
    assert found.verdict == "violated"
    path = tmp_path / "witness.json"
    path.write_text(json.dumps(found.to_json()), encoding="utf-8")
    again = replay(path, mechanism, calls=20_000)
    assert again.verdict == "violated"
    assert again.witness is not None
    assert " and " in again.witness.event


EVENTS = [
    AllOf((Interval("outcome[0]", -math.inf, 1.5), Interval("outcome[1]", 0.0, 2.0))),
    AnyOf((Symbols((3,)), AllOf((LOW, HIGH)), HIGH)),
    NoneOf((LOW, AllOf((HIGH, Symbols((2, "b")))))),
    Symbols((" and ", " or ", "not (x)")),
]


@pytest.mark.parametrize("event", EVENTS, ids=str)
def test_words_of_events_are_read_back(event: Any) -> None:
    assert parse_event(str(event)) == event


def test_words_that_are_no_event_are_refused() -> None:
    for words in ("outcome > 1 or", "not (outcome)", "outcome > 1 and more"):
        with pytest.raises(UsageError, match="event"):
            parse_event(words)


def test_events_are_sets() -> None:
    outcomes = Outcomes.of([-1.0, 0.0, 0.5, 3.0])
    assert AllOf((HIGH, Interval("outcome", -math.inf, 1.0))).holds(outcomes).tolist() == [False, False, True, False]
    assert union([LOW, 3.0]).holds(outcomes).tolist() == [True, True, False, True]
    assert NoneOf((LOW, Symbols((3.0,)))).holds(outcomes).tolist() == [False, False, True, False]
    assert union([HIGH, LOW]) == Interval("outcome", -math.inf, math.inf)
    assert union([NoneOf((LOW, HIGH)), HIGH]) == NoneOf((LOW,))
    assert union([NoneOf((LOW, HIGH))]) == NoneOf((LOW, HIGH))
    for cells in ([LOW, NoneOf((LOW,))], [HIGH, NoneOf((LOW,))], [NoneOf((LOW,)), NoneOf((HIGH,))]):
        with pytest.raises(UsageError, match="can only be merged"):
            union(cells)


def test_a_witness_may_hold_the_rest_of_a_partition() -> None:
    wide = VectorNeighbours(7, linf=1.0, low=0.0, high=3.0)
    result = hunt(LaplaceMechanism(7, 1.0, low=0.0, high=3.0), ApproximateDP(0.0, 1e-6), wide)
    assert result.verdict == "violated"
    assert result.witness is not None
    parse_event(result.witness.event)


def test_a_far_coordinate_is_seen_by_an_event() -> None:
    rows = Outcomes.of(np.arange(40.0).reshape(2, 20))
    assert Interval("outcome[15]", 20.0, 40.0).holds(rows).tolist() == [False, True]
    mixed = Outcomes.of([tuple([None] * 15 + [1.0]), (1, "x")])
    assert Interval("outcome[15]", 0.0, 2.0).holds(mixed).tolist() == [True, False]
    assert Interval("outcome[99]", 0.0, 2.0).holds(rows).tolist() == [False, False]


FOREIGN: list[tuple[Any, str]] = [
    (LaplaceMechanism(3, 1.0), "vector:size=2,linf=1"),
    (LaplaceMechanism(1, 1.0, low=0.0, high=1.0), "vector:size=1,linf=1,low=5,high=6"),
    (RandomisedResponse(1, 1.0), "vector:size=1,linf=0.5,low=0.25,high=0.75"),
    (TruncatedGeometric(5, 3), "vector:size=1,linf=1,low=6,high=9,integer"),
    (HadamardResponse(3, 1.0), "vector:size=1,linf=1,low=4,high=9,integer"),
    (Rappor(), "vector:size=1,linf=1,low=20,high=30,integer"),
    (LaplaceParallel(2, 1.0), "vector:size=2,linf=1"),
    (LaplacePrefixSum(2, 1.0), "vector:size=3,linf=1"),
    (PosteriorSample((0.5, 0.25)), "records:low=2,high=3,size=2,relation=replace"),
    (DualQuery(((1, 0), (0, 1)), 3, 2), "records:low=0,high=1,size=2,relation=replace"),
    (NoisyMean(1.0), "records:low=5,high=6,size=2,relation=replace"),
]


@pytest.mark.parametrize(("mechanism", "neighbours"), FOREIGN, ids=lambda value: type(value).__name__)
def test_data_that_a_mechanism_refuses_have_no_distribution(mechanism: Any, neighbours: str) -> None:
    assert not has_distribution(mechanism, parse_neighbours(neighbours))
