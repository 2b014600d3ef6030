"""A traced target: its exact distributions on pairs of inputs, and the bounds that are proved of it."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import BoundedRange, Claim, PureDP
from dpassay.neighbours import NeighbourRelation
from dpassay.properties.hunting.traced_pairs import distributions, exact_distributions
from dpassay.properties.hunting.traced_proofs import BOUNDED, MOST_MERGED, TracedProof, gaussian_claim, implied, within
from dpassay.properties.hunting.white_box import WhiteBoxResult
from dpassay.properties.neighbours.moves import Pair
from dpassay.properties.neighbours.pairs import are_neighbours
from dpassay.properties.notions.base import audited
from dpassay.properties.pairing.registry import DistributionPair
from dpassay.properties.tracing.trace import Trace
from dpassay.spec.ball import Real, ball, float_upper
from dpassay.spec.distributions.discrete import max_divergence
from dpassay.spec.leaves.cell_pairs import has_cells, points_across
from dpassay.spec.leaves.data import at_data
from dpassay.spec.leaves.derived import corners, move_of_data
from dpassay.spec.leaves.gaussian_alignment import GaussianAligned
from dpassay.spec.leaves.lattice_alignment import has_geometric_noise
from dpassay.spec.leaves.merging import merged
from dpassay.spec.leaves.model import LeafModel
from dpassay.spec.leaves.moves import UndecidedMovesError
from dpassay.spec.leaves.outcomes import UnknownOutcomeError
from dpassay.spec.leaves.probability import UndecidedLeafError
from dpassay.spec.notions.base import find_notion
from dpassay.spec.verdict import Outcome

__all__ = [
    "ACROSS",
    "CLOSE_BY",
    "FAR_OUT",
    "NEAR",
    "Exhausted",
    "NotTracedError",
    "TracedTarget",
    "UntraceableError",
    "exhausted_pairs",
    "on_exact_data",
]

Array = NDArray[np.float64]

FAR_OUT, CLOSE_BY = (64,), (0, 1, 8, 1024)
"""Distances in the direction of the worst move at which data are tried. Far out, the loss of some mechanisms
approaches the bound of their alignments through very rare events; close by, a violation has a witness."""

ACROSS = (-1,)
"""No distance: data on both sides of decisions about data alone are tried, last."""

NEAR = 1 - 2.0**-20
"""A lower bound that comes so near to the upper one is not sharpened."""

_OFF_LATTICE = 0.3828125
"""Part of a step by which data leave the lattice of the noise."""

_MOST_ACROSS = 32
"""Pairs of data on both sides of decisions about data alone that are tried."""


class Tracer(Protocol):
    """A tracer of one target, with a time limit."""

    claim: Claim
    relation: NeighbourRelation

    @property
    def left(self) -> float:
        """Seconds that are left."""
        ...

    def traced(self, data: Any, *, seconds: float, is_exact: bool = False, joins_close: bool = False) -> Trace | str:
        """Return a trace, or why there is none.

        Parameters
        ----------
        data : array
            The input.
        seconds : float
            Time limit.
        is_exact, joins_close : bool
            As for `trace`.
        """
        ...


class NotTracedError(Exception):
    """The target cannot be traced on an input."""


class UntraceableError(Exception):
    """The target cannot be traced on any input."""


@dataclass(frozen=True)
class Exhausted:
    """Every pair was decided: whether the claim holds on all of them, and an epsilon that does."""

    holds: bool
    epsilon: float


def exhausted_pairs(known: "TracedTarget", claim: Claim, pairs: Sequence[Pair] | None) -> Exhausted | None:
    """Return a proof by cases: all pairs of a finite relation, in both orders; None if there is none."""
    notion, holds, epsilon = find_notion(claim), True, 0.0
    if not pairs:
        return None
    for pair in pairs:
        found = exact_distributions(*known.models(*pair))
        if found is None:
            return None
        for left, right in (found, found[::-1]):
            holds = holds and notion.decide(notion.enlarged(claim), left, right).outcome is Outcome.HOLDS
            epsilon = max(epsilon, float_upper(max_divergence(left, right)))
    return Exhausted(holds, epsilon)


def on_exact_data(known: "TracedTarget", *, joins_close: bool = False) -> "TracedTarget":
    """Return what is known of a target, with exact numbers as data in place of floats; see `trace`."""
    exactly = TracedTarget(
        known.work, known.model, known.proof, exactness={"is_exact": True, "joins_close": joins_close}
    )
    exactly.factors, exactly.gaussian, exactly.is_whole = known.factors, known.gaussian, known.is_whole
    return exactly


class TracedTarget:
    """The exact distributions of a traced target, and the proved bounds."""

    def __init__(
        self, work: Tracer, model: LeafModel | None, proof: "TracedProof | str", *,
        exactness: Mapping[str, bool] | None = None,
    ) -> None:  # fmt: skip
        self.work, self.model, self.proof, self.exactness = work, model, proof, exactness or {}
        self.factors: tuple[int, ...] = ()
        self.exhausted: Exhausted | None = None
        self.not_exhausted = ""
        self.gaussian: GaussianAligned | None = None
        self.is_whole = False
        self._models: dict[bytes, LeafModel] = {}
        self._distributions: dict[tuple[bytes, bytes], DistributionPair] = {}

    def distributions(self, left: Array, right: Array) -> DistributionPair:
        """Return the distributions on a pair; a search asks for those of its best pairs again and again."""
        key = left.tobytes(), right.tobytes()
        if key not in self._distributions:
            self._distributions[key] = self._distributions_on(left, right)
        return self._distributions[key]

    def _distributions_on(self, left: Array, right: Array) -> DistributionPair:
        """Return the distributions on a pair, from merged leaves if these are fewer and have probabilities."""
        if self.model is None or self.is_traced_anew:
            return distributions(self._at(left), self._at(right), claim=self.work.claim)
        reason: UndecidedLeafError | UnknownOutcomeError | None = None
        for own, is_whole in self._choices:
            try:
                sides = at_data(own, _exact(left)), at_data(own, _exact(right))
                found = distributions(*sides, is_whole=is_whole, claim=self.work.claim)
            except (UndecidedLeafError, UnknownOutcomeError) as error:
                reason = error
            else:
                self._choices = [(own, is_whole)]
                return found
        if has_geometric_noise(self.model):  # drawn trial by trial, it has probabilities for every decision
            return distributions(self._at(left), self._at(right), claim=self.work.claim)
        assert reason is not None
        raise reason

    @property
    def square(self) -> Fraction | None:
        """Return the square of a mu of Gaussian DP that is proved for all inputs, None if there is none."""
        return None if self.gaussian is None else self.gaussian.square

    @property
    def may_round(self) -> bool:
        """Return whether a violation may rest on the rounding of floats: of data, or of constants beside jumps."""
        return self.traces_numbers or (self.model is not None and bool(self.model.derived))

    @property
    def traces_numbers(self) -> bool:
        """Return whether pairs are traced on numbers, and the leaves of symbolic data do not serve."""
        return self.model is None or self.is_traced_anew or has_geometric_noise(self.model)

    @property
    def is_traced_anew(self) -> bool:
        """Return whether exact numbers are traced, because functions of data jump."""
        return bool(self.exactness) and self.model is not None and bool(self.model.derived)

    def models(self, left: Array, right: Array) -> tuple[LeafModel, LeafModel]:
        """Return the leaves on a pair."""
        if self.model is None or self.traces_numbers:
            return self._at(left), self._at(right)
        return at_data(self.model, _exact(left)), at_data(self.model, _exact(right))

    @cached_property
    def _choices(self) -> list[tuple[LeafModel, bool]]:
        """The leaves to be compared, and whether they sum to 1 for certain; others only where the first are undecided.

        Merged leaves may be cyclic where their parts are not, and the other way round.
        """
        assert self.model is not None
        plain = self.model, self.is_whole
        if has_geometric_noise(self.model) or len(self.model.leaves) > MOST_MERGED:
            return [plain]
        others = self.merged, False
        return [others, plain] if len(self.merged.leaves) < len(self.model.leaves) else [plain, others]

    @cached_property
    def merged(self) -> LeafModel:
        """The model with its leaves merged."""
        assert self.model is not None
        return merged(self.model)

    def _at(self, data: Array) -> LeafModel:
        key = data.tobytes()
        if key not in self._models:
            found = self.work.traced(data, seconds=self.work.left, **self.exactness)
            if isinstance(found, str):
                raise NotTracedError(found)
            self._models[key] = found.model
        return self._models[key]

    @property
    def has_cells(self) -> bool:
        """Return whether decisions about data alone cut the data into cells, and no worst move is known."""
        return self.model is not None and not self.has_move and has_cells(self.model)

    @property
    def has_move(self) -> bool:
        """Return whether a worst move of the data, or noise on a lattice, tells which pairs to try."""
        has_noise = self.model is not None and has_geometric_noise(self.model)
        return has_noise or (isinstance(self.proof, TracedProof) and self.proof.move is not None)

    def pairs(self, relation: NeighbourRelation) -> list[Pair]:
        """Return pairs in the direction of the worst move, far out first; off the lattice of discrete noise."""
        if self.model is not None and has_geometric_noise(self.model) and not getattr(relation, "integer", False):
            start = np.clip(np.zeros(self.model.size), relation.low, relation.high)
            step = min(getattr(relation, "largest_step", math.inf), relation.high - relation.low, 1.0)
            moved = [start + _OFF_LATTICE * side * step * np.eye(1, self.model.size)[0] for side in (1, -1)]
            return [(start, end) for end in moved if are_neighbours(relation, start, end)]
        move = self._move
        if move is None:
            return self._pairs_across(relation) if self.factors == ACROSS else []
        assert self.model is not None
        step, zero = np.array([float(value) for value in move_of_data(self.model, move)]), 0.0  # -0.0 + 0.0 is 0.0
        points = [*self._corners(step), *(k * step for k in self.factors)]
        starts = [np.clip(point, relation.low, relation.high) + zero for point in points]
        ends = [(start, np.clip(start + step, relation.low, relation.high) + zero) for start in starts]
        return [pair for pair in ends if are_neighbours(relation, *pair) and not np.array_equal(*pair)]

    @property
    def _move(self) -> tuple[Fraction, ...] | None:
        """Return the move of the data that costs most, or needs the longest shift of Gaussian noise."""
        known = self.proof.move if isinstance(self.proof, TracedProof) else None
        return known or (None if self.gaussian is None else self.gaussian.move)

    def _corners(self, step: Array) -> Iterator[Array]:
        """Yield data before the places at which derived coordinates change their rule or jump."""
        if self.model is None or self.factors != CLOSE_BY:
            return
        for part in (1.0, 0.5, 0.0):
            start = np.zeros(self.model.size)
            for index, place in corners(self.model):
                start[index] = place
            yield start - part * step

    def _pairs_across(self, relation: NeighbourRelation) -> list[Pair]:
        """Return pairs in different cells of the data, on both sides of a decision about data alone."""
        assert self.model is not None
        try:
            points = list(itertools.islice(points_across(self.model, relation), _MOST_ACROSS))
        except UndecidedMovesError:
            return []
        pairs = [(np.array(left, dtype=np.float64), np.array(right, dtype=np.float64)) for left, right in points]
        return [pair for pair in pairs if are_neighbours(relation, *pair)]

    @property
    def epsilon(self) -> float:
        """The proved bound; infinite if there is none, or if runs are given up for a delta."""
        return float(self.proof.epsilon) if isinstance(self.proof, TracedProof) and not self.proof.delta else math.inf

    def bound(self, claim: Claim, relation: NeighbourRelation) -> Real | None:  # noqa: ARG002 - there is one relation
        """Return the proved bound on epsilon, or on the range of the losses; None for other figures."""
        if not isinstance(self.proof, TracedProof) or self.proof.delta:
            return None
        epsilon = self.proof.epsilon
        if isinstance(claim, PureDP):
            return lambda: ball(epsilon)
        weaker = implied(self.proof, claim) if isinstance(claim, BoundedRange) else None
        return None if not isinstance(weaker, BoundedRange) else lambda: ball(weaker.epsilon)

    def implies(self, claim: Claim) -> bool:
        """Return whether a proof implies a claim, read with its allowance."""
        if self.exhausted is not None and self.exhausted.holds:
            return True
        known = [] if not isinstance(self.proof, TracedProof) else [implied(self.proof, claim)]
        known += [] if self.square is None else [gaussian_claim(self.square, claim)]
        return any(within(weaker, claim) for weaker in known if weaker is not None)

    def uppers(self) -> dict[str, float]:
        """Return the bounds that are not on the finding, by the names of their quantities in a result."""
        claim = self.work.claim
        if self.exhausted is not None and math.isfinite(self.exhausted.epsilon) and not audited(claim).compares_pairs:
            return {"epsilon": self.exhausted.epsilon}
        weaker = None if self.square is None else gaussian_claim(self.square, claim)
        if isinstance(self.proof, TracedProof) and self.proof.is_partial:
            weaker = implied(self.proof, claim)
        name = BOUNDED.get(type(claim))
        return {} if weaker is None or name is None else {name[1]: float(getattr(weaker, name[0]))}

    def is_met_by(self, found: WhiteBoxResult) -> bool:
        """Return whether a pair loses as much as the proof allows."""
        lower, upper = (getattr(found.bounds[0], end) for end in ("lower", "upper"))
        return lower is not None and upper is not None and lower >= NEAR * upper

    def epsilon_upper(self) -> float | None:
        """Return the proved bound on epsilon, or on the range of the losses for a claim about that."""
        claim = self.work.claim
        if self.exhausted is not None and not audited(claim).compares_pairs:
            return self.exhausted.epsilon if math.isfinite(self.exhausted.epsilon) else None
        bound = self.bound(claim if audited(claim).compares_pairs else PureDP(0.0), self.work.relation)
        return None if bound is None else float_upper(bound())


def _exact(data: Array) -> list[Fraction]:
    return [Fraction(value) for value in data.tolist()]
