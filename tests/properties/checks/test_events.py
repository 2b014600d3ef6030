from typing import Any

import numpy as np
import pytest
from flint import arb

from dpassay.claims import ZCDP, ApproximateZCDP, Claim, ConcentratedDP, PureDP
from dpassay.impl.catalogue import Entry, entries
from dpassay.impl.mechanisms.gumbel_top_k import gumbel_top_k
from dpassay.properties.checks.events import implied_points, known_events, privacy_at_known_events, register_events
from dpassay.properties.hunting.hunt import hunt
from dpassay.properties.neighbours.pairs import are_neighbours
from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.notions.base import find_notion

KNOWN = [entry for entry in entries() if known_events(entry.mechanism)]


def name(entry: Entry) -> str:
    return entry.where.rpartition(".")[2]


@pytest.mark.parametrize("entry", [e for e in KNOWN if e.mutation is None], ids=name)
def test_right_mechanisms_pass_at_their_worst_events(entry: Entry) -> None:  # falsely accused with 1e-10
    assert privacy_at_known_events(entry.mechanism, draws=50_000)


@pytest.mark.parametrize("entry", KNOWN, ids=name)
def test_the_pairs_of_known_events_are_neighbours(entry: Entry) -> None:
    for known in known_events(entry.mechanism):
        assert are_neighbours(entry.mechanism.neighbours, np.asarray(known.left), np.asarray(known.right))


def test_events_are_registered_once() -> None:
    class Nothing:
        claims = (PureDP(1.0),)

    register_events(Nothing, lambda _mechanism: [])
    with pytest.raises(ValueError, match="Nothing"):
        register_events(Nothing, lambda _mechanism: [])
    assert privacy_at_known_events(Nothing())  # type: ignore[arg-type]  # vacuously


@pytest.mark.parametrize("claim", [ZCDP(0.5), ApproximateZCDP(0.5, 0.01), ConcentratedDP(0.5, 1.0)])
def test_concentrated_claims_imply_points_of_a_falling_curve(claim: Any) -> None:
    points = sorted(implied_points(claim))
    assert len(points) == 6
    deltas = [delta for _, delta in points]
    assert deltas == sorted(deltas, reverse=True)


@pytest.mark.parametrize(
    ("make", "verdict"),
    [(lambda x: ApproximateZCDP(x, x), "not refuted"), (lambda x: ConcentratedDP(x, x), "holds")],
)
def test_the_notion_decides_what_is_established(make: Any, verdict: str) -> None:
    """Approximate zCDP is proved of rational distributions only; concentrated DP by a walk along all orders."""
    assert hunt(gumbel_top_k, make(1e-3)).verdict == "violated"
    assert hunt(gumbel_top_k, make(0.9)).verdict == verdict


def _excess(claim: Claim, left: FiniteDistribution, right: FiniteDistribution) -> arb:
    return find_notion(claim).divergence(claim, left, right)


def test_a_finite_pair_is_held_against_the_implied_curve() -> None:
    left, right = FiniteDistribution.of(99, 1), FiniteDistribution.of(1, 99)
    assert _excess(ApproximateZCDP(0.01, 0.01), left, right) > 0
    assert _excess(ConcentratedDP(0.01, 0.1), left, right) > 0
    assert _excess(ApproximateZCDP(20.0, 0.5), left, right) <= 0
