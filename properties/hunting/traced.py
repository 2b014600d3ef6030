"""The exact decision of a claim from the traced code of a target: proofs for all inputs, violations at pairs.

The code is run on symbols in place of noise (:mod:`dpassay.properties.tracing`), on symbolic data of one length if
that is possible. Alignments of its leaves bound epsilon for all inputs of that length; the exact distributions on
pairs of inputs bound it from below and refute claims. All of this is about the ideal mechanism, in real arithmetic.
"""

import itertools
import math
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import ApproximateDP, BoundedRange, Claim, ExPost, PureDP
from dpassay.neighbours import NeighbourRelation, RecordNeighbours
from dpassay.properties.hunting.decision import TRACE_SECONDS, Decision
from dpassay.properties.hunting.idle import SAME_OUTCOME
from dpassay.properties.hunting.traced_modes import ModesOfTraces, refutes
from dpassay.properties.hunting.traced_pairs import WrongTraceError, distributions, exact_distributions
from dpassay.properties.hunting.traced_proofs import (
    BITS,
    BOUNDED,
    MOST_MERGED,
    TracedProof,
    gaussian_claim,
    implied,
    proof_of,
    within,
)
from dpassay.properties.hunting.verdicts import HuntVerdict
from dpassay.properties.hunting.white_box import WhiteBoxResult, hunt_known
from dpassay.properties.neighbours.finite_pairs import all_pairs
from dpassay.properties.neighbours.moves import Pair
from dpassay.properties.neighbours.pairs import are_neighbours
from dpassay.properties.notions.base import audited, epsilon_delta_of
from dpassay.properties.outcomes.symbols import sampler_of
from dpassay.properties.pairing.registry import DistributionPair
from dpassay.properties.tracing.outcome_types import Typed, may_tell
from dpassay.properties.tracing.refusal import Refusal
from dpassay.properties.tracing.trace import EVERYWHERE, Trace, trace
from dpassay.properties.tracing.tree import Limits
from dpassay.properties.tracing.watchdog import OutOfTime, time_limit
from dpassay.properties.tracing.words import outcome_words
from dpassay.spec.ball import Real, ball, float_upper, precision
from dpassay.spec.distributions.discrete import max_divergence
from dpassay.spec.leaves.alignment import Unaligned
from dpassay.spec.leaves.cell_pairs import has_cells, points_across
from dpassay.spec.leaves.data import at_data
from dpassay.spec.leaves.derived import corners, move_of_data
from dpassay.spec.leaves.gaussian_alignment import gaussian_bound
from dpassay.spec.leaves.lattice_alignment import has_geometric_noise
from dpassay.spec.leaves.merging import merged
from dpassay.spec.leaves.model import LeafModel, Raised
from dpassay.spec.leaves.moves import UndecidedMovesError
from dpassay.spec.leaves.outcomes import UnknownOutcomeError, has_open_bits, released_numbers
from dpassay.spec.leaves.probability import UndecidedLeafError
from dpassay.spec.notions.base import find_notion
from dpassay.spec.verdict import Outcome, Scope

__all__ = ["decide", "refuted_exactly"]

Array = NDArray[np.float64]

_SHARE = 1 / 2
"""Part of the time that the trace on symbolic data may take; proofs and pairs share the rest."""

_HANGS_SECONDS = 2.0
"""A target that does not stop so long after the time is over is left behind in its thread."""


_FOR_A_PROOF, _FOR_A_SEARCH = 60, 300
"""Enclosed probabilities of the search close by, where the claim is proved and where it is not."""

_FAR_OUT, _CLOSE_BY = (64,), (0, 1, 8, 1024)
"""Distances in the direction of the worst move at which data are tried. Far out, the loss of some mechanisms
approaches the bound of their alignments through very rare events; close by, a violation has a witness."""

_ACROSS = (-1,)
"""No distance: data on both sides of decisions about data alone are tried, last."""

_SHOWN = 2
"""The stage of the search at which a violation has a witness close by, if it has one at the first pair there."""

_NEAR = 1 - 2.0**-20
"""A lower bound that comes so near to the upper one is not sharpened."""

_LARGEST_SHOWN = 1e6
"""An infinite loss is compared with this one."""

_OFF_LATTICE = 0.3828125
"""Part of a step by which data leave the lattice of the noise."""

_MOST_ACROSS = 32
"""Pairs of data on both sides of decisions about data alone that are tried."""

_MOST_PAIRS = 400
"""Pairs of a finite relation that are all decided."""


def decide(
    target: Any, claim: Claim, relation: NeighbourRelation, seed: int, seconds: float = TRACE_SECONDS
) -> Decision:
    """Trace a target and decide a claim exactly where that is possible in the time given.

    Parameters
    ----------
    target : Mechanism or callable
        ``f(data, size, rng)``; it is asked for one outcome at a time.
    claim, relation : Claim, NeighbourRelation
        What is decided.
    seed : int
        Of the random pairs and of the runs on numbers.
    seconds : float
        Time limit.
    """
    if isinstance(claim, ExPost):
        return Decision(reason="ex-post claims are only sampled")
    work = _Work(sampler_of(target), claim, relation, seed, seconds)
    thread = threading.Thread(target=work.carry_out, name="dpassay trace", daemon=True)
    thread.start()  # a call that waits in foreign code cannot be interrupted, but it can be left behind
    thread.join(seconds + _HANGS_SECONDS)
    if work.error is not None:
        raise work.error
    return work.answer or Decision(reason=f"the target does not return within {seconds:g} seconds")


def refuted_exactly(target: Any, claim: Claim, relation: NeighbourRelation, pair: Pair, seconds: float) -> bool | None:
    """Return whether exact arithmetic refutes a claim at a pair that floats refute; None where a trace does not tell.

    Parameters
    ----------
    target : Mechanism or callable
        As for `decide`.
    claim, relation : Claim, NeighbourRelation
        The claim and its relation.
    pair : (left, right)
        Two inputs.
    seconds : float
        Time limit of each of the two traces.
    """
    if isinstance(claim, ExPost):
        return None
    work = _Work(sampler_of(target), claim, relation, 0, 2 * seconds)
    on_floats = _Known(work, None, "")
    try:
        exactly = work.is_confirmed_exactly(on_floats, pair)
        return exactly if exactly or exactly is None or work.is_confirmed(on_floats, pair) else None
    except _UntraceableError:
        return None


class _Work:
    """The steps of a decision, and their results."""

    def __init__(
        self, sampler: Any, claim: Claim, relation: NeighbourRelation, seed: int, seconds: float
    ) -> None:  # fmt: skip
        self.sampler, self.claim, self.relation, self.seed = sampler, claim, relation, seed
        self.seconds, self.deadline = seconds, time.monotonic() + seconds
        self.answer: Decision | None = None
        self.error: BaseException | None = None
        self.notes: dict[str, None] = {}
        self.float64: WhiteBoxResult | None = None
        self.types_tell = False
        self.types: set[Typed] = set()

    def carry_out(self) -> None:
        try:
            self.answer = self._decision()
        except OutOfTime:
            self.answer = Decision(reason=self._too_long())
        except _UntraceableError as error:
            self.answer = Decision(reason=str(error))
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
            if self.left:
                self.error = error
            else:  # the end of the time strikes anywhere, also where it turns into another exception
                self.answer = Decision(reason=self._too_long())

    def _too_long(self) -> str:
        return f"the exact decision takes more than {self.seconds:g} seconds"

    @property
    def left(self) -> float:
        return max(0.0, self.deadline - time.monotonic())

    def _decision(self) -> Decision:
        known = self._proved(derives=True)
        finding: WhiteBoxResult | str | None = None
        if known.model is None or (known.model.derived and not known.implies(self.claim)):
            finding = self._search(known) if known.has_move else None
            if not _is_violated(finding):
                known, finding = self._better(known, self._proved(derives=False)), None
        if known.model is not None:
            outcomes = {leaf.outcome for leaf in known.model.leaves}
            if all(isinstance(outcome, Raised) for outcome in outcomes):
                return Decision(reason=f"every run {' or '.join(sorted(map(outcome_words, outcomes)))}")
            if len(outcomes) == 1 and not released_numbers(*outcomes):
                self.notes[SAME_OUTCOME] = None
        finding = finding or self._search(known)
        if isinstance(finding, WhiteBoxResult) and finding.verdict is HuntVerdict.VIOLATED and known.may_round:
            known, finding = self._without_rounding(known, finding)
        if not known.implies(self.claim) and not (
            isinstance(finding, WhiteBoxResult) and finding.verdict is HuntVerdict.VIOLATED
        ):
            self._exhaust(known)
        return self._judged(known, finding)

    def _without_rounding(self, known: "_Known", finding: WhiteBoxResult) -> "tuple[_Known, WhiteBoxResult | str]":
        """Return a violation if exact data show it as well; otherwise the result of a search on exact data.

        Traces on numbers compute in floats what depends on data alone. A violation that exact arithmetic does not
        have is one of float64. Code that converts exact numbers to floats by itself is run in other modes of
        rounding instead: what is a matter of rounding changes with the mode.
        """
        assert finding.witness is not None
        pair = np.array(finding.witness.left), np.array(finding.witness.right)
        confirmed = self.is_confirmed_exactly(known, pair)
        if confirmed is None:
            modes = ModesOfTraces(self.sampler, self.claim, self.relation, self.seed, lambda: self.left)
            if not modes.change(pair):
                return known, finding
            self.float64 = finding
            return known, "the pair that was found depends on the rounding of floats"
        if confirmed and self._figure_stands(known, finding, pair):
            return known, finding
        exactly = _on_exact_data(known)
        found = self._search(exactly)
        if confirmed and not self._is_sound(exactly, found):  # the time is over, or something else was in the way
            return known, finding
        self.float64 = finding
        is_doubtful = isinstance(found, WhiteBoxResult) and found.verdict is HuntVerdict.VIOLATED
        if is_doubtful and not self._is_sound(exactly, found):
            return exactly, "the pair that was found depends on the rounding of constants"
        return exactly, found

    def _figure_stands(self, known: "_Known", finding: WhiteBoxResult, pair: Pair) -> bool:
        """Return whether exact data lose as much as floats do at a pair, but for the last digits."""
        if audited(self.claim).compares_pairs:
            return True
        lower = min(finding.bounds[0].lower or 0.0, _LARGEST_SHOWN) * _NEAR
        delta = (epsilon_delta_of(self.claim) or (0.0, 0.0))[1]
        stronger = ApproximateDP(lower, delta) if delta else PureDP(lower)
        return bool(self.is_confirmed(_on_exact_data(known), pair, stronger))

    def _is_sound(self, exactly: "_Known", found: WhiteBoxResult | str) -> bool:
        """Return whether a search on exact data found a violation that does not rest on the last bits of constants."""
        if not isinstance(found, WhiteBoxResult) or found.verdict is not HuntVerdict.VIOLATED or found.witness is None:
            return False
        pair = np.array(found.witness.left), np.array(found.witness.right)
        return bool(self.is_confirmed(_on_exact_data(exactly, joins_close=True), pair))

    def is_confirmed_exactly(self, known: "_Known", pair: Pair) -> bool | None:
        """Return whether exact data show a violation at a pair, with constants as they are and as what they stand for.

        None if it cannot be traced there.
        """
        found = self.is_confirmed(_on_exact_data(known), pair)
        return self.is_confirmed(_on_exact_data(known, joins_close=True), pair) if found else found

    def is_confirmed(self, known: "_Known", pair: Pair, claim: Claim | None = None) -> bool | None:
        """Return whether the traces on a pair refute the claim, or another one; None if it cannot be traced there."""
        try:
            with time_limit(self.left), precision(BITS):
                return refutes(claim or self.claim, known.distributions(*pair))
        except (OutOfTime, UndecidedLeafError, UnknownOutcomeError, WrongTraceError, _NotTracedError):
            return None

    def _exhaust(self, known: "_Known") -> None:
        """Decide the claim on every pair of the relation if these are few."""
        try:
            with time_limit(self.left), precision(BITS):
                known.exhausted = _exhausted(known, self.claim, all_pairs(self.relation, most=_MOST_PAIRS))
        except (OutOfTime, UndecidedLeafError, UnknownOutcomeError, WrongTraceError, _NotTracedError):
            return  # the claim is not proved, and the reason why not by shifts stands

    def _better(self, derived: "_Known", decided: "_Known") -> "_Known":
        """Return what functions of data as coordinates prove if decisions about them prove less."""
        is_better = derived.epsilon < decided.epsilon or (derived.square is not None and decided.square is None)
        return derived if is_better and not decided.implies(self.claim) else decided

    def _proved(self, *, derives: bool) -> "_Known":
        symbolic = self._on_symbols(derives=derives)
        if not isinstance(symbolic, Trace):
            return _Known(self, None, symbolic)
        known = _Known(self, symbolic.model, "")
        known.proof = self._proof(known)
        known.is_whole = symbolic.unity.outcome is Outcome.HOLDS and symbolic.unity.scope is Scope.ALL
        if not isinstance(self.claim, PureDP | BoundedRange) and not known.implies(self.claim):
            known.square = self._gaussian(symbolic.model)
        return known

    def _on_symbols(self, *, derives: bool) -> "Trace | str":
        if isinstance(self.relation, RecordNeighbours) and (
            self.relation.relation != "replace" or self.relation.max_size not in {None, self.relation.size}
        ):
            return "neighbours have another number of records"
        if self.relation.size == 0:
            return "there are no data"
        domain = self.relation.low, self.relation.high
        size = self.relation.size
        seconds = _SHARE * self.left
        return self.traced(None, size=size, domain=domain, seconds=seconds, on_lattice=True, derives=derives)

    def traced(
        self,
        data: Any,
        *,
        seconds: float,
        size: int = 0,
        domain: Any = EVERYWHERE,
        on_lattice: bool = False,
        is_exact: bool = False,
        joins_close: bool = False,
        derives: bool = False,
    ) -> "Trace | str":
        """Return a trace, or why there is none."""
        found = trace(
            self.sampler, data, size=size, domain=domain, limits=Limits(seconds=seconds), seed=self.seed,
            on_lattice=on_lattice, is_exact=is_exact, joins_close=joins_close, derives=derives,
        )  # fmt: skip
        if isinstance(found, Refusal):
            if found.is_final:
                raise _UntraceableError(str(found))
            return str(found)
        self.notes |= dict.fromkeys(note for note in found.notes if not note.startswith("undecided"))
        self._note_types(found)
        return found

    def _note_types(self, found: Trace) -> None:
        """Note types that may tell outcomes of one value apart, in a trace or between traces."""
        typed = found.typed()
        self.types_tell = self.types_tell or may_tell(typed)
        if not self.types_tell:  # on symbols, traces in different modes have different types
            self.types |= {replace(leaf, on_symbols=None) for leaf in typed}
            self.types_tell = may_tell(self.types)

    def _proof(self, known: "_Known") -> "TracedProof | str":
        assert known.model is not None
        is_small = len(known.model.leaves) <= MOST_MERGED
        try:
            with time_limit(self.left):
                return proof_of(known.model, self.relation, self.claim, known.merged if is_small else known.model)
        except OutOfTime:
            return self._too_long()

    def _gaussian(self, model: LeafModel) -> Fraction | None:
        """Return the square of a mu of Gaussian DP that is proved, None if there is none."""
        try:
            with time_limit(self.left):
                found = gaussian_bound(model, self.relation)
        except OutOfTime:
            return None
        return None if isinstance(found, Unaligned) else found.square

    def _search(self, known: "_Known") -> WhiteBoxResult | str:
        """Return the certified result of a pair far out and of a search close by; a reason if nothing was compared."""
        found: WhiteBoxResult | str = "no pair of inputs was compared"
        if known.model is not None and known.model.on_lattice and known.implies(self.claim):
            return found  # the figures of pairs would have to be traced draw by draw
        most = _FOR_A_PROOF if known.implies(self.claim) else _FOR_A_SEARCH
        stages = ((_FAR_OUT, 1), (_CLOSE_BY, 1), (_CLOSE_BY, most), (_ACROSS, most))
        for number, (factors, limit) in enumerate(stages):
            if factors == _FAR_OUT and not known.has_move:
                continue  # there is no direction in which to go far
            if factors == _ACROSS and (not known.has_cells or _is_violated(found)):
                continue
            is_settled = isinstance(found, WhiteBoxResult) and (
                number == _SHOWN or found.verdict is not HuntVerdict.VIOLATED
            )
            if is_settled and isinstance(found, WhiteBoxResult) and known.is_met_by(found):
                break
            known.factors = factors
            try:
                with time_limit(self.left):
                    more = hunt_known(known, self.claim, self.relation, seed=self.seed, most_probabilities=limit)
                found = _joined(found, more) if isinstance(found, WhiteBoxResult) else more
            except OutOfTime:
                return found if isinstance(found, WhiteBoxResult) else self._too_long()
            except (UndecidedLeafError, UnknownOutcomeError, WrongTraceError, _NotTracedError) as error:
                return found if isinstance(found, WhiteBoxResult) else str(error)
        return found

    def _judged(self, known: "_Known", finding: WhiteBoxResult | str) -> Decision:
        is_violated = isinstance(finding, WhiteBoxResult) and finding.verdict is HuntVerdict.VIOLATED
        proves = not self.types_tell
        holds = proves and known.implies(self.claim)
        verdict = HuntVerdict.VIOLATED if is_violated else HuntVerdict.HOLDS if holds else None
        if is_violated and holds:
            return Decision(reason="the trace contradicts itself: its proof and its witness cannot both be right")
        proof = known.proof if proves and isinstance(known.proof, TracedProof) else None
        reason = _reason(known, finding) if proves else "outcomes of one value are of different types"
        return Decision(
            verdict,
            finding if isinstance(finding, WhiteBoxResult) else None,
            known.epsilon_upper() if proves else None,
            None if proof is None else proof.certificate,
            None if verdict else reason,
            tuple(self.notes),
            known.uppers() if proves else {},
            known.model is not None and any(has_open_bits(leaf.outcome) for leaf in known.model.leaves),
            self.float64,
        )


def _reason(known: "_Known", finding: WhiteBoxResult | str) -> str:
    """Say why nothing was decided."""
    if isinstance(finding, str) and known.model is None:
        return finding  # the code could not be traced on numbers either
    if known.exhausted is not None:
        upper = f"epsilon <= {known.exhausted.epsilon:.17g} on all pairs of inputs, which does not imply the claim"
    elif known.square is not None:
        upper = f"Gaussian DP with mu <= {math.sqrt(known.square):.6g} is proved for all inputs, no more"
    elif isinstance(known.proof, str):
        upper = f"no proof for all inputs ({known.proof})"
    elif known.proof.is_partial:
        figures = f"epsilon <= {float(known.proof.epsilon):.6g} and delta <= {float(known.proof.delta):.6g}"
        upper = f"{figures} are proved for all inputs, which do not imply the claim"
    elif known.proof.delta:
        upper = f"runs of probability {float(known.proof.delta):.3g} were not traced"
    else:
        upper = f"epsilon <= {float(known.proof.epsilon):.6g} is proved for all inputs, which does not imply the claim"
    lower = finding if isinstance(finding, str) else "no violation at the pairs that were compared"
    return f"{upper}; {lower}"


def _is_violated(found: WhiteBoxResult | str | None) -> bool:
    return isinstance(found, WhiteBoxResult) and found.verdict is HuntVerdict.VIOLATED


def _joined(first: WhiteBoxResult, second: WhiteBoxResult) -> WhiteBoxResult:
    """Return the second finding with the larger figures of both, and the first witness where only that violates."""
    lower = {bound.quantity: bound.lower for bound in first.bounds}
    bounds = tuple(
        replace(bound, lower=max(value for value in (bound.lower, lower.get(bound.quantity)) if value is not None))
        for bound in second.bounds
    )
    shown = first if first.verdict is HuntVerdict.VIOLATED is not second.verdict else second
    return replace(shown, bounds=bounds)


# --- what is known of the target ----------------------------------------------------------------------------


class _NotTracedError(Exception):
    """The target cannot be traced on an input."""


class _UntraceableError(Exception):
    """The target cannot be traced on any input."""


@dataclass(frozen=True)
class _Exhausted:
    """Every pair was decided: whether the claim holds on all of them, and an epsilon that does."""

    holds: bool
    epsilon: float


def _exhausted(known: "_Known", claim: Claim, pairs: Sequence[Pair] | None) -> _Exhausted | None:
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
    return _Exhausted(holds, epsilon)


def _on_exact_data(known: "_Known", *, joins_close: bool = False) -> "_Known":
    """Return what is known of a target, with exact numbers as data in place of floats; see `trace`."""
    exactly = _Known(known.work, known.model, known.proof, exactness={"is_exact": True, "joins_close": joins_close})
    exactly.factors, exactly.square, exactly.is_whole = known.factors, known.square, known.is_whole
    return exactly


class _Known:
    """The exact distributions of a traced target, and the proved bounds."""

    def __init__(
        self, work: _Work, model: LeafModel | None, proof: "TracedProof | str", *,
        exactness: Mapping[str, bool] | None = None,
    ) -> None:  # fmt: skip
        self.work, self.model, self.proof, self.exactness = work, model, proof, exactness or {}
        self.factors: tuple[int, ...] = ()
        self.exhausted: _Exhausted | None = None
        self.square: Fraction | None = None
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
            return distributions(self._at(left), self._at(right))
        reason: UndecidedLeafError | UnknownOutcomeError | None = None
        for own, is_whole in self._choices:
            try:
                found = distributions(*(at_data(own, _exact(side)) for side in (left, right)), is_whole=is_whole)
            except (UndecidedLeafError, UnknownOutcomeError) as error:
                reason = error
            else:
                self._choices = [(own, is_whole)]
                return found
        if has_geometric_noise(self.model):  # drawn trial by trial, it has probabilities for every decision
            return distributions(self._at(left), self._at(right))
        assert reason is not None
        raise reason

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
                raise _NotTracedError(found)
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
        move = self.proof.move if isinstance(self.proof, TracedProof) else None
        if move is None:
            return self._pairs_across(relation) if self.factors == _ACROSS else []
        assert self.model is not None
        step, zero = np.array([float(value) for value in move_of_data(self.model, move)]), 0.0  # -0.0 + 0.0 is 0.0
        points = [*self._corners(step), *(k * step for k in self.factors)]
        starts = [np.clip(point, relation.low, relation.high) + zero for point in points]
        ends = [(start, np.clip(start + step, relation.low, relation.high) + zero) for start in starts]
        return [pair for pair in ends if are_neighbours(relation, *pair) and not np.array_equal(*pair)]

    def _corners(self, step: Array) -> Iterator[Array]:
        """Yield data before the places at which derived coordinates change their rule or jump."""
        if self.model is None or self.factors != _CLOSE_BY:
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
        return lower is not None and upper is not None and lower >= _NEAR * upper

    def epsilon_upper(self) -> float | None:
        """Return the proved bound on epsilon, or on the range of the losses for a claim about that."""
        claim = self.work.claim
        if self.exhausted is not None and not audited(claim).compares_pairs:
            return self.exhausted.epsilon if math.isfinite(self.exhausted.epsilon) else None
        bound = self.bound(claim if audited(claim).compares_pairs else PureDP(0.0), self.work.relation)
        return None if bound is None else float_upper(bound())


def _exact(data: Array) -> list[Fraction]:
    return [Fraction(value) for value in data.tolist()]
