import math
from collections.abc import Hashable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpassay.arguments import UsageError
from dpassay.claims import (
    ZCDP,
    ApproximateDP,
    ApproximateZCDP,
    BoundedRange,
    Claim,
    ConcentratedDP,
    ExPost,
    ProbabilisticDP,
    PureDP,
    RenyiDP,
)
from dpassay.mechanism import ClaimedMechanism
from dpassay.neighbours import VectorNeighbours
from dpassay.properties.hunting import white_box
from dpassay.properties.hunting.hunt import hunt
from dpassay.properties.hunting.white_box import hunt_white_box
from dpassay.properties.pairing.registry import (
    exact_distribution,
    register_distribution,
    register_worst_case,
    worst_case,
)
from dpassay.spec.ball import ball
from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.distributions.noisy_max import GaussianNoisyMaxDistribution
from dpassay.spec.notions.base import find_notion
from dpassay.spec.verdict import Evidence, Undecided

FIRST_THIRTY = VectorNeighbours(1, linf=1.0, low=0, high=30, integer=True)
BIT = VectorNeighbours(1, linf=1.0, low=0, high=1, integer=True)


@dataclass(frozen=True)
class RandomisedResponse:
    """Tells the bit with probability 3/4; epsilon = log 3."""

    claims: tuple[Claim, ...] = (PureDP(math.log(3) * (1 + 2**-52)),)
    neighbours: VectorNeighbours = BIT

    def sample(self, data: NDArray[np.float64], size: int, rng: np.random.Generator) -> Any:
        return np.where(rng.random(size) < 0.75, data[0], 1 - data[0])


@dataclass(frozen=True)
class Certain(RandomisedResponse):
    """Tells the bit."""


@dataclass(frozen=True)
class TellsThirteen:
    """Tells whether the answer is 13, out of 0 .. 30."""

    claims: tuple[Claim, ...] = (PureDP(1.0),)
    neighbours: VectorNeighbours = FIRST_THIRTY

    def sample(self, data: NDArray[np.float64], size: int, _rng: np.random.Generator) -> Any:
        return np.full(size, data[0] == 13)


register_distribution(
    TellsThirteen, lambda mechanism, data: FiniteDistribution.of(*([1, 0] if data[0] == 13 else [0, 1]))
)


@dataclass(frozen=True)
class NoisyMax:
    neighbours: VectorNeighbours
    claims: tuple[Claim, ...] = ()

    def sample(self, data: NDArray[np.float64], size: int, rng: np.random.Generator) -> Any:
        return np.argmax(data + rng.normal(0, 1, (size, data.size)), axis=1)


@dataclass(frozen=True)
class TellsWhetherPositive(RandomisedResponse):
    """Tells of the first coordinate whether it is positive, with probability 3/4."""


def _response(truth: Fraction, data: NDArray[np.float64]) -> FiniteDistribution:
    bit = int(data[0])
    return FiniteDistribution({bit: truth, 1 - bit: 1 - truth})


register_distribution(RandomisedResponse, lambda _, data: _response(Fraction(3, 4), data))
register_distribution(Certain, lambda _, data: _response(Fraction(1), data))
register_distribution(
    TellsWhetherPositive, lambda _, data: _response(Fraction(3, 4), np.minimum(np.ceil(data.clip(0)), 1))
)
register_distribution(NoisyMax, lambda _, data: GaussianNoisyMaxDistribution(tuple(data.tolist()), 1))
register_worst_case(
    RandomisedResponse, lambda _, claim: (lambda: ball(3).log()) if isinstance(claim, PureDP) else None
)


def test_mechanisms_and_distributions_fit_together() -> None:
    assert isinstance(RandomisedResponse(), ClaimedMechanism)
    assert exact_distribution(object(), np.zeros(1)) is None
    assert worst_case(object(), PureDP(1)) is None
    with pytest.raises(ValueError, match="two entries for the distribution of RandomisedResponse"):
        register_distribution(RandomisedResponse, lambda *_: None)


LOG3 = math.log(3)
CASES: list[tuple[Claim, str, str, float]] = [
    (PureDP(1.0), "violated", "epsilon_lower", LOG3),
    (PureDP(1.0986), "violated", "epsilon_lower", LOG3),
    (BoundedRange(2.19), "violated", "epsilon_lower", 2 * LOG3),
    (BoundedRange(2.2), "holds", "epsilon_lower", 2 * LOG3),
    (ApproximateDP(0.0, 0.49), "violated", "delta_lower", 0.5),
    (ApproximateDP(0.0, 0.5), "holds", "delta_lower", 0.5),
    (ApproximateDP(0.5, 0.1), "violated", "epsilon_lower", math.log(2.6)),
    (ProbabilisticDP(1.0, 0.7), "violated", "delta_lower", 0.75 - math.e / 4),
    (ProbabilisticDP(1.0, 0.75), "holds", "delta_lower", 0.75 - math.e / 4),
    (RenyiDP(2.0, 0.84), "violated", "renyi_epsilon_lower", math.log(7 / 3)),
    (RenyiDP(2.0, 0.85), "holds", "renyi_epsilon_lower", math.log(7 / 3)),
    (ZCDP(0.4), "violated", "rho_lower", math.log(7 / 3) / 2),
    (ZCDP(0.549), "violated", "rho_lower", LOG3 / 2),  # the relative entropy: all orders count
    (ZCDP(0.55), "holds", "epsilon_lower", LOG3),
    (ApproximateZCDP(0.55, 0.0), "holds", "epsilon_lower", LOG3),
    (ConcentratedDP(0.5, 2.0), "violated", "epsilon_lower", LOG3),
    (ConcentratedDP(0.55, 2.0), "holds", "epsilon_lower", LOG3),
]


@pytest.mark.parametrize(("claim", "verdict", "field", "truth"), CASES, ids=repr)
def test_figures_of_randomised_response_are_certified(claim: Claim, verdict: str, field: str, truth: float) -> None:
    result = hunt(RandomisedResponse(), claim)
    assert result.verdict == verdict
    assert (result.evidence, result.calls) == ("enclosed", 0)
    value = getattr(result, field)
    if field == "rho_lower":  # the largest over a few orders, at least the one at order 2
        assert value >= truth * (1 - 1e-12)
    else:
        assert truth * (1 - 1e-9) <= value <= truth * (1 + 1e-15)


def test_a_worst_pair_theorem_reaches_all_pairs_of_the_own_relation_only() -> None:
    assert hunt(RandomisedResponse()).scope == "all"
    wider = VectorNeighbours(1, linf=1.0, low=0, high=1)
    assert (
        hunt(RandomisedResponse(), PureDP(1.2), VectorNeighbours(1, l1=1.0, low=0, high=1, integer=True)).scope
        == "points"
    )
    assert wider != BIT


def test_an_infinite_loss_is_stated_as_infinite() -> None:
    result = hunt(Certain(), PureDP(5.0))
    assert result.verdict == "violated"
    assert result.epsilon_lower == math.inf
    record = result.to_json()
    assert (record["schema"], record["epsilon_lower"], record["witness"]["p_right"]) == (2, "inf", [0.0, 0.0])


def test_ex_post_bounds_are_compared_outcome_by_outcome() -> None:
    def generous(outcome: Hashable) -> float:
        return math.inf if outcome == 1 else 1.1

    def strict(outcome: Hashable) -> float:
        return math.inf if outcome == 1 else 1.09

    assert hunt(RandomisedResponse(), ExPost(generous)).verdict == "holds"
    broken = hunt(RandomisedResponse(), ExPost(strict))
    assert broken.verdict == "violated"
    assert broken.witness is not None
    assert broken.witness.event == "outcome in {0}"
    with pytest.raises(UsageError, match="epsilon_of"):
        hunt(RandomisedResponse(), ExPost(lambda _: math.nan))


def test_the_worst_pair_of_noisy_max_is_found() -> None:
    relation = VectorNeighbours(4, linf=1.0, low=0, high=3)
    result = hunt(NoisyMax(relation), PureDP(2.0))
    # one index moves up while all others move down: gaps of 1 and 3 between it and the others
    distributions = [GaussianNoisyMaxDistribution((0, gap, gap, gap), 1).log_probability(0) for gap in (1, 3)]
    assert result.verdict == "violated"
    assert result.epsilon_lower == pytest.approx(float(distributions[0] - distributions[1]), rel=1e-12)


def test_the_search_is_deterministic() -> None:
    relation = VectorNeighbours(3, linf=1.0, low=0, high=3)
    first, again = (hunt_white_box(NoisyMax(relation), ApproximateDP(0.5, 0.01), relation, seed=3) for _ in range(2))
    assert first == again


def test_the_distribution_can_be_set_aside() -> None:
    result = hunt(RandomisedResponse(), PureDP(0.5), calls=2000, white_box=False)
    assert (result.verdict, result.evidence, result.scope) == ("violated", "sampled", "samples")
    assert 0.5 <= result.epsilon_lower < LOG3


def test_a_certified_witness_is_minimal_and_shows_the_reported_figure() -> None:
    relation = VectorNeighbours(4, linf=1.0, low=-10, high=10)
    result = hunt(NoisyMax(relation), PureDP(0.1))
    assert result.witness is not None
    assert result.witness.certified
    left, right = map(np.array, (result.witness.left, result.witness.right))
    assert relation.admits(left, right)
    distributions = [GaussianNoisyMaxDistribution(tuple(side.tolist()), 1) for side in (left, right)]
    winners = [k for k in range(4) if str(k) in result.witness.event]
    losses = [distributions[0].log_probability(k) - distributions[1].log_probability(k) for k in winners]
    assert max(map(float, losses)) == pytest.approx(result.epsilon_lower, rel=1e-11)

    wide = VectorNeighbours(3, linf=1.0, low=-10, high=10)
    small = hunt(TellsWhetherPositive(), PureDP(1.0), wide).witness
    assert small is not None
    assert {small.left, small.right} == {(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)}
    telling = hunt(Certain(), PureDP(1.0)).witness
    assert telling is not None
    assert {telling.left, telling.right} == {(0.0,), (1.0,)}


def test_the_notion_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the figures say: there is one place where a claim about two distributions is decided."""
    notion = find_notion(PureDP(1.0))
    asked: list[Claim] = []

    def undecided(claim: Claim, *distributions: object) -> Undecided:
        asked.append(claim)
        return Undecided(evidence=Evidence.ENCLOSED)

    monkeypatch.setattr(white_box, "find_notion", lambda _: replace(notion, decide=undecided))
    assert hunt(Certain(), PureDP(1.0)).verdict == "not refuted"
    assert set(asked) == {PureDP(1 + Fraction(1, 2**50))}  # type: ignore[arg-type]  # exact parameters


def test_all_pairs_of_a_finite_domain_are_tried() -> None:
    result = hunt_white_box(TellsThirteen(), PureDP(1.0), TellsThirteen().neighbours)
    assert result.verdict == "violated"
    assert 13.0 in {*result.witness.left, *result.witness.right}
