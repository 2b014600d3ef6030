"""The search where output distributions are known: certified figures at the worst pair that is found.

Candidates are the adversarial pairs, then a climb over corners from the best one. The work is limited by the
number of probabilities that are enclosed, not by time, so that the same seed gives the same answer.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dpassay.arguments import UsageError
from dpassay.claims import Claim, ExPost, PureDP
from dpassay.neighbours import NeighbourRelation, VectorNeighbours
from dpassay.properties.hunting.divergences import Tabulated, decided, divergence_of, epsilon_at_lower
from dpassay.properties.hunting.result import Witness
from dpassay.properties.hunting.verdicts import HuntVerdict
from dpassay.properties.neighbours.finite_pairs import all_pairs
from dpassay.properties.neighbours.moves import Pair
from dpassay.properties.neighbours.pairs import adversarial_pairs, are_neighbours
from dpassay.properties.notions.base import audited, bounds_of, epsilon_delta_of
from dpassay.properties.notions.bounds import Bound
from dpassay.properties.outcomes.events import Words, described
from dpassay.properties.pairing.registry import (
    DistributionPair,
    PushedForward,
    exact_distribution,
    pair_distribution,
    worst_case,
    worst_pairs,
)
from dpassay.spec.ball import (
    START_BITS,
    Real,
    at_most,
    ball,
    float_lower,
    float_upper,
    precision,
)
from dpassay.spec.distributions.discrete import (
    DiscreteDistribution,
    FiniteDistribution,
    hockey_stick,
)
from dpassay.spec.notions.base import allowed, find_notion, losses_beyond
from dpassay.spec.notions.ex_post import ex_post_bound
from dpassay.spec.verdict import Evidence, Outcome, Scope

__all__ = [
    "Known",
    "WhiteBoxResult",
    "has_distribution",
    "hunt_known",
    "hunt_white_box",
]

Array = NDArray[np.float64]

MOST_PROBABILITIES = 110
"""Enclosed probabilities in one search; a Gaussian race takes about 5 ms each."""

_CHEAP = 50  # rational probabilities are cheap: the budget is this many times larger
_MOST_LISTED = 1000  # pairs of a finite domain that are all tried; each takes about a millisecond
_LIMIT_BITS = 512
"""The largest precision of a decision whether a worst pair certifies the claim."""

_FOR_SHRINKING = 1 / 4
"""The part of the budget of probabilities that shrinking gets in any case."""

_RARE = 1e-3
"""A violation whose event has less than this mass is shown by all outcomes whose loss exceeds the claim: a replay must
see it."""


class Known(Protocol):
    """Exact knowledge of a mechanism's output distributions."""

    def distributions(self, left: Array, right: Array) -> DistributionPair:
        """Return the distributions on both inputs, outcome by outcome or `PushedForward` through one partition.

        Raises
        ------
        UsageError
            If they are not known there.
        """
        ...

    def pairs(self, relation: NeighbourRelation) -> list[Pair]:
        """Return pairs of the relation that a search should try first."""
        ...

    def bound(self, claim: Claim, relation: NeighbourRelation) -> Real | None:
        """Return an upper bound on the figure that the claim bounds, over all pairs; None if none is known."""
        ...


@dataclass(frozen=True)
class _Registered:
    """The entries of a mechanism in the registries of `properties.pairing`."""

    mechanism: Any

    def distributions(self, left: Array, right: Array) -> DistributionPair:
        on_left, on_right = exact_distribution(self.mechanism, left), exact_distribution(self.mechanism, right)
        if on_left is not None and on_right is not None:
            return on_left, on_right
        cells = pair_distribution(self.mechanism, left, right)
        if cells is None:
            pair = f"{left.tolist()!r} and {right.tolist()!r}"
            raise UsageError(f"no exact distribution is known for {type(self.mechanism).__name__} on {pair}")
        return cells

    def pairs(self, relation: NeighbourRelation) -> list[Pair]:
        return worst_pairs(self.mechanism, relation)

    def bound(self, claim: Claim, relation: NeighbourRelation) -> Real | None:
        """Return the bound of a worst-pair theorem, which speaks of the mechanism's own relation only."""
        is_own = getattr(self.mechanism, "neighbours", None) == relation
        return worst_case(self.mechanism, claim) if is_own else None


@dataclass(frozen=True)
class WhiteBoxResult:
    """The result of a white-box search; the fields are those of a `HuntResult`."""

    verdict: HuntVerdict
    scope: Scope
    evidence: Evidence
    bounds: tuple[Bound, ...]
    divergence_lower: float
    witness: Witness


@dataclass(frozen=True)
class _Scored:
    """An ordered pair, its figure at the starting precision, and the tables of both distributions."""

    pair: Pair
    figure: arb
    tables: tuple[Tabulated, Tabulated]

    @property
    def score(self) -> float:
        return float_lower(self.figure)


class _Search:
    """Evaluates pairs within a budget; tables of probabilities are kept by input."""

    def __init__(self, known: Known, claim: Claim, most: int) -> None:
        self.known, self.claim, self.left_over = known, claim, float(most)
        self.notion, self.audited = find_notion(claim), audited(claim)
        self.tables: dict[bytes, Tabulated] = {}

    def tabulated(self, left: Array, right: Array) -> tuple[Tabulated, Tabulated]:
        """Compute the tables; those of single inputs are kept, a partition belongs to its pair."""
        keys = left.tobytes(), right.tobytes()
        if all(key in self.tables for key in keys):
            return self.tables[keys[0]], self.tables[keys[1]]
        distributions = self.known.distributions(left, right)
        if any(isinstance(distribution, PushedForward) for distribution in distributions):
            return self._table(distributions[0]), self._table(distributions[1])
        for key, distribution in zip(keys, distributions, strict=True):
            if key not in self.tables:
                self.tables[key] = self._table(distribution)
        return self.tables[keys[0]], self.tables[keys[1]]

    def _table(self, distribution: DiscreteDistribution) -> Tabulated:
        if isinstance(distribution, PushedForward):
            self.left_over -= distribution.cost * len(distribution.outcomes)
        else:
            cost = 1 / _CHEAP if isinstance(distribution, FiniteDistribution) else getattr(distribution, "cost", 1)
            self.left_over -= max(1, int(cost * len(distribution.outcomes)))
        return Tabulated.of(distribution)

    def scored(self, pair: Pair) -> _Scored:
        """Return the worse order of a pair."""
        tables = self.tabulated(*pair)
        orders = ((pair, tables), (pair[::-1], tables[::-1]))
        return max(
            (_Scored(each, self.divergence(*both), both) for each, both in orders),
            key=lambda s: s.score,
        )

    def _asked(self, left: Tabulated) -> Claim:
        """Return the claim that is decided: through a partition, the claim on the outcomes behind it."""
        return self.notion.through_cells(self.claim) if left.is_partition else self.claim

    def divergence(self, left: Tabulated, right: Tabulated) -> arb:
        """Enclose a figure that the mechanism's divergence on a pair is not below."""
        return divergence_of(self._asked(left), left, right)

    def event(self, left: Tabulated, right: Tabulated) -> tuple[Any, ...]:
        """Return outcomes that show a large divergence."""
        asked = self._asked(left)
        return find_notion(asked).event(asked, left, right)

    def mass(self, scored: _Scored) -> float:
        """Return how likely the event is that a witness on this pair would show."""
        left, right = scored.tables
        return left.mass(self.event(left, right))[0]

    def decided(self, scored: _Scored) -> Outcome:
        """Decide the claim, with its allowance, on both orders of a pair; partitions refute it and prove nothing."""
        orders = ((scored.pair, scored.tables), (scored.pair[::-1], scored.tables[::-1]))
        outcomes = {self._decided_in_order(pair, tables) for pair, tables in orders}
        return next(each for each in (Outcome.VIOLATED, Outcome.UNDECIDED, Outcome.HOLDS) if each in outcomes)

    def _decided_in_order(self, pair: Pair, tables: tuple[Tabulated, Tabulated]) -> Outcome:
        """Ask the notion: first on the tables, where that suffices, then on the distributions at any precision."""
        asked = self._asked(tables[0])
        notion, allowing = find_notion(asked), find_notion(asked).enlarged(asked)
        outcome = decided(notion, allowing, *tables)
        if outcome is Outcome.HOLDS and _states_less_than_nothing(self.claim, tables):
            return Outcome.UNDECIDED
        distributions = self.known.distributions(*pair)
        if isinstance(distributions[0], PushedForward):
            return outcome if outcome is Outcome.VIOLATED else Outcome.UNDECIDED
        # along all orders more digits do not help, but rational probabilities do
        helps = not notion.over_all_orders or isinstance(distributions[0], FiniteDistribution)
        if outcome is Outcome.UNDECIDED and helps:
            return notion.decide(allowing, *distributions).outcome
        return outcome


def _states_less_than_nothing(claim: Claim, tables: DistributionPair) -> bool:
    """Return whether an ex-post bound is negative: it is read as 0, which may refute it but cannot prove it."""
    return isinstance(claim, ExPost) and any(ex_post_bound(claim, outcome) < 0 for outcome in tables[0].outcomes)


def has_distribution(mechanism: Any, neighbours: NeighbourRelation, *, seed: int = 0) -> bool:
    """Return whether the exact output distribution of a mechanism is known on the first adversarial pair."""
    ((left, right),) = adversarial_pairs(neighbours, seed=seed, limit=1)
    return exact_distribution(mechanism, left) is not None or pair_distribution(mechanism, left, right) is not None


def hunt_white_box(
    mechanism: Any,
    claim: Claim,
    neighbours: NeighbourRelation,
    *,
    seed: int = 0,
    most_probabilities: int = MOST_PROBABILITIES,
) -> WhiteBoxResult:
    """Look for the pair of inputs on which a mechanism with a known distribution is worst, and certify the loss there.

    Parameters
    ----------
    mechanism : object
        With a distribution in the registry.
    claim : Claim
        The claim.
    neighbours : NeighbourRelation
        The pairs over which it is made.
    seed : int
        For the random pairs.
    most_probabilities : int
        Budget of enclosed probabilities; the first pair is tried in any case.

    Returns
    -------
    Finding
        "violated" with a witness; "holds" at the points tried, or for all pairs where a worst-pair theorem certifies
        it for the mechanism's own relation; "not refuted" where the notion stayed undecided, and for outcomes seen
        through partitions, which prove nothing.
    """
    return hunt_known(_Registered(mechanism), claim, neighbours, seed=seed, most_probabilities=most_probabilities)


def hunt_known(
    known: Known,
    claim: Claim,
    neighbours: NeighbourRelation,
    *,
    seed: int = 0,
    most_probabilities: int = MOST_PROBABILITIES,
    keep: Callable[[WhiteBoxResult], None] | None = None,
) -> WhiteBoxResult:
    """Search as `hunt_white_box` does, with the knowledge given.

    Parameters
    ----------
    known : Known
        The exact distributions of the mechanism.
    claim, neighbours, seed, most_probabilities
        As for `hunt_white_box`.
    keep : callable, optional
        Receives a violation before its pair is simplified, for a caller whose time may end in between.
    """
    search = _Search(known, claim, most_probabilities)
    with precision(START_BITS):
        listed = all_pairs(neighbours, most=_MOST_LISTED) or []
        pairs = [*known.pairs(neighbours), *adversarial_pairs(neighbours, seed=seed), *listed]
        tried = [search.scored(pair) for pair in _affordable(search, pairs)]
        best = max(tried, key=lambda scored: scored.score)
        best = _climbed(search, best, neighbours, tried)
        verdict, best = _verdict(search, best, tried)
        if verdict is HuntVerdict.VIOLATED:
            if keep is not None:
                keep(_finding(search, best, verdict, Scope.POINTS, neighbours))
            search.left_over = max(search.left_over, most_probabilities * _FOR_SHRINKING)
            best = _simplified(search, best, neighbours, seed)
    scope = Scope.POINTS
    if verdict is not HuntVerdict.VIOLATED and _holds_for_all(search, neighbours):
        verdict, scope = HuntVerdict.HOLDS, Scope.ALL
    return _finding(search, best, verdict, scope, neighbours)


def _affordable(search: _Search, pairs: list[Pair]) -> Iterator[Pair]:
    """Go through the pairs while at least a third of the budget is left for the climb."""
    reserve = search.left_over // 3
    for count, pair in enumerate(pairs):
        if count and search.left_over <= reserve:
            return
        yield pair


def _climbed(search: _Search, start: _Scored, relation: NeighbourRelation, tried: list[_Scored]) -> _Scored:
    """Change one coordinate at a time for as long as it helps and the budget lasts."""
    best, improved = start, True
    if not isinstance(relation, VectorNeighbours):
        return best
    while improved:
        improved = False
        for pair in _corner_changes(relation, best.pair):
            if search.left_over <= 0:
                return best
            scored = search.scored(pair)
            tried.append(scored)
            if scored.figure > best.figure:
                best, improved = scored, True
                break
    return best


def _corner_changes(relation: VectorNeighbours, pair: Pair) -> Iterator[Pair]:
    """Swap, or send to an end of the range, one coordinate of both inputs."""
    left, right = pair
    for k in range(relation.size):
        gap = right[k] - left[k]
        options = [(right[k], left[k])]
        for end in (relation.low, relation.high):
            if math.isfinite(end):
                inner = end + abs(gap) if end == relation.low else end - abs(gap)
                options += [(end, inner), (inner, end)]
        for a, b in options:
            changed = left.copy(), right.copy()
            changed[0][k], changed[1][k] = a, b
            if (a, b) != (left[k], right[k]) and are_neighbours(relation, *changed):
                yield changed


def _simplified(search: _Search, best: _Scored, relation: NeighbourRelation, seed: int) -> _Scored:
    """Replace the witness by the simplest inputs that show the same figure (to 2^-40) and still break the claim.

    The event that shows it keeps at least half of its probability: an event that never occurs is no useful witness.
    """
    from dpassay.properties.hunting.shrinking import simplest_pair  # hypothesis takes a while to import

    least = best.figure * (1 - ball(2.0**-40))
    least_mass = search.mass(best) / 2
    found = {}

    def is_as_bad(left: Array, right: Array) -> bool:
        if search.left_over <= 0:
            return False
        try:
            scored = search.scored((left, right))
        except UsageError:  # no distribution is known there
            return False
        found[left.tobytes(), right.tobytes()] = scored
        shows_it = not scored.figure < least and search.mass(scored) >= least_mass
        return shows_it and search.decided(scored) is Outcome.VIOLATED

    left, right = simplest_pair(relation, best.pair, is_as_bad, seed=seed)
    return found.get((left.tobytes(), right.tobytes()), best)


def _verdict(search: _Search, best: _Scored, tried: list[_Scored]) -> tuple[HuntVerdict, _Scored]:
    """Return the verdict on the pairs tried, and the pair that shows it; those with the largest figures first."""
    undecided = False
    for scored in (best, *sorted((each for each in tried if each is not best), key=lambda each: -each.score)):
        outcome = search.decided(scored)
        if outcome is Outcome.VIOLATED:
            return HuntVerdict.VIOLATED, scored
        undecided = undecided or outcome is Outcome.UNDECIDED
    return HuntVerdict.NOT_REFUTED if undecided else HuntVerdict.HOLDS, best


def _holds_for_all(search: _Search, neighbours: NeighbourRelation) -> bool:
    bound = search.known.bound(search.claim, neighbours)
    if bound is None:
        return False
    return at_most(bound, lambda: allowed(search.claim), limit=_LIMIT_BITS).outcome is Outcome.HOLDS


def _epsilon_upper(search: _Search, neighbours: NeighbourRelation) -> float | None:
    """Return the upper bound beside the epsilon that was found: on the range of the losses for bounded range."""
    claim = search.claim if search.audited.compares_pairs else PureDP(0.0)
    bound = search.known.bound(claim, neighbours)
    return float_upper(bound()) if bound is not None else None


def _finding(
    search: _Search, best: _Scored, verdict: HuntVerdict, scope: Scope, neighbours: NeighbourRelation
) -> WhiteBoxResult:
    """Certify the reported figures with two more words of precision."""
    claim = search.claim
    with precision(2 * START_BITS):
        left, right = (Tabulated.of(distribution) for distribution in search.known.distributions(*best.pair))
        value = float_lower(search.divergence(left, right))
        event = _shown_event(search, left, right, verdict)
        witness = Witness(
            left=tuple(best.pair[0].tolist()),
            right=tuple(best.pair[1].tolist()),
            event=described(event),
            p_left=left.mass(event),
            p_right=right.mass(event),
            certified=verdict is HuntVerdict.VIOLATED,
            is_described=any(isinstance(outcome, Words) for outcome in event),
        )
        return WhiteBoxResult(
            verdict=verdict,
            scope=scope,
            evidence=Evidence.ENCLOSED,
            bounds=bounds_of(claim, _lower_bounds(search, (left, right), value), _epsilon_upper(search, neighbours)),
            divergence_lower=value,
            witness=witness,
        )


def _shown_event(search: _Search, left: Tabulated, right: Tabulated, verdict: str) -> tuple[Any, ...]:
    """Return the event of the notion, or all outcomes beyond the claim if that event is very rare."""
    event, point = search.event(left, right), epsilon_delta_of(search.claim)
    if verdict is not HuntVerdict.VIOLATED or point is None or left.mass(event)[1] >= _RARE:
        return event
    return losses_beyond(point[0], left, right)


def _lower_bounds(search: _Search, tables: DistributionPair, divergence: float) -> dict[str, float]:
    """Certify the epsilon and the delta of a pair, and the divergence under its own name."""
    point = epsilon_delta_of(search.claim)
    orders = (tables, tables[::-1])
    bounds = {"epsilon": max(epsilon_at_lower(a, b, point[1] if point else 0.0) for a, b in orders)}
    if point is not None:
        bounds["delta"] = max(0.0, *(float_lower(hockey_stick(a, b, ball(point[0]))) for a, b in orders))
    name = search.audited.divergence
    return bounds | ({} if name in bounds and not search.audited.compares_pairs else {name: divergence})
