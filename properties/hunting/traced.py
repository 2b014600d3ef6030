"""The exact decision of a claim from the traced code of a target: proofs for all inputs, violations at pairs.

The code is run on symbols in place of noise (:mod:`dpassay.properties.tracing`), on symbolic data of one length if
that is possible. Alignments of its leaves bound epsilon for all inputs of that length; the exact distributions on
pairs of inputs bound it from below and refute claims. All of this is about the ideal mechanism, in real arithmetic.
"""

import threading
import time
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import rounded_up
from dpassay.claims import ApproximateDP, BoundedRange, Claim, ExPost, PureDP
from dpassay.neighbours import NeighbourRelation, RecordNeighbours
from dpassay.properties.hunting.decision import TRACE_SECONDS, Decision
from dpassay.properties.hunting.idle import SAME_OUTCOME
from dpassay.properties.hunting.traced_modes import ModesOfTraces, refutes, use_other_noise
from dpassay.properties.hunting.traced_pairs import WrongTraceError
from dpassay.properties.hunting.traced_proofs import BITS, MOST_MERGED, TracedProof, proof_of
from dpassay.properties.hunting.traced_target import (
    ACROSS,
    CLOSE_BY,
    FAR_OUT,
    NEAR,
    NotTracedError,
    TracedTarget,
    UntraceableError,
    exhausted_pairs,
    on_exact_data,
)
from dpassay.properties.hunting.verdicts import HuntVerdict
from dpassay.properties.hunting.white_box import WhiteBoxResult, hunt_known
from dpassay.properties.neighbours.finite_pairs import all_pairs
from dpassay.properties.neighbours.moves import Pair
from dpassay.properties.notions.base import audited, epsilon_delta_of
from dpassay.properties.notions.bounds import words_above
from dpassay.properties.outcomes.calls import sampler_of
from dpassay.properties.tracing.kept_state import kept_state
from dpassay.properties.tracing.outcome_types import Typed, may_tell
from dpassay.properties.tracing.refusal import Refusal
from dpassay.properties.tracing.trace import EVERYWHERE, Trace, trace
from dpassay.properties.tracing.tree import Limits
from dpassay.properties.tracing.watchdog import OutOfTime, time_limit
from dpassay.properties.tracing.words import outcome_words
from dpassay.spec.ball import ball, float_upper, precision
from dpassay.spec.leaves.alignment import Unaligned
from dpassay.spec.leaves.gaussian_alignment import GaussianAligned, gaussian_bound
from dpassay.spec.leaves.model import LeafModel, Raised
from dpassay.spec.leaves.outcomes import UnknownOutcomeError, has_open_bits, released_numbers
from dpassay.spec.leaves.probability import UndecidedLeafError
from dpassay.spec.verdict import Outcome, Scope

__all__ = ["decide", "refuted_exactly"]

Array = NDArray[np.float64]

_SHARE = 1 / 2
"""Part of the time that the trace on symbolic data may take; proofs and pairs share the rest."""

_HANGS_SECONDS = 2.0
"""A target that does not stop so long after the time is over is left behind in its thread."""

_FOR_CONFIRMATION = 1 / 3
"""Part of the time left that a search leaves for the comparison of what it finds with exact data."""

_FOR_A_PROOF, _FOR_A_SEARCH = 60, 300
"""Enclosed probabilities of the search close by, where the claim is proved and where it is not."""

_SHOWN = 2
"""The stage of the search at which a violation has a witness close by, if it has one at the first pair there."""

_LARGEST_SHOWN = 1e6
"""An infinite loss is compared with this one."""

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
    with kept_state(target) as state:
        answer = _decided(target, claim, relation, seed, seconds)
    return replace(answer, leaves_marks=not state.is_clean)


def _decided(target: Any, claim: Claim, relation: NeighbourRelation, seed: int, seconds: float) -> Decision:
    work = _Work(sampler_of(target), claim, relation, seed, seconds)
    thread = threading.Thread(target=work.carry_out, name="dpassay trace", daemon=True)
    thread.start()  # a call that waits in foreign code cannot be interrupted, but it can be left behind
    thread.join(seconds + _HANGS_SECONDS)
    if work.error is not None:
        raise work.error
    return work.answer or Decision(reason=f"the target does not return within {seconds:g} seconds")


def refuted_exactly(
    target: Any, claim: Claim, relation: NeighbourRelation, pair: Pair, seconds: float
) -> tuple[bool | None, bool]:
    """Return whether exact arithmetic refutes a claim at a pair that floats refute; None where a trace does not tell.

    The second answer is whether the target keeps something of the traces that could not be removed.

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
        return None, False
    with kept_state(target) as state:
        answer = _refuted(target, claim, relation, pair, seconds)
    return answer, not state.is_clean


def _refuted(target: Any, claim: Claim, relation: NeighbourRelation, pair: Pair, seconds: float) -> bool | None:
    work = _Work(sampler_of(target), claim, relation, 0, 2 * seconds)
    on_floats = TracedTarget(work, None, "")
    try:
        exactly = work.is_confirmed_exactly(on_floats, pair)
        return exactly if exactly or exactly is None or work.is_confirmed(on_floats, pair) else None
    except UntraceableError:
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
        except UntraceableError as error:
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

    def _without_rounding(
        self, known: "TracedTarget", finding: WhiteBoxResult
    ) -> "tuple[TracedTarget, WhiteBoxResult | str]":
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
            depends = modes.change(pair)
            if depends is False:
                return known, finding
            self.float64 = finding
            why = "depends on the rounding of floats" if depends else "was not compared with exact data in the time"
            return known, f"the pair that was found {why}"
        if confirmed and self._figure_stands(known, finding, pair):
            return known, finding
        exactly = on_exact_data(known)
        found = self._search(exactly)
        if confirmed and not self._is_sound(exactly, found):  # the time is over, or something else was in the way
            return known, finding
        self.float64 = finding
        is_doubtful = isinstance(found, WhiteBoxResult) and found.verdict is HuntVerdict.VIOLATED
        if is_doubtful and not self._is_sound(exactly, found):
            return exactly, "the pair that was found depends on the rounding of constants"
        return exactly, found

    def _figure_stands(self, known: "TracedTarget", finding: WhiteBoxResult, pair: Pair) -> bool:
        """Return whether exact data lose as much as floats do at a pair, but for the last digits."""
        if audited(self.claim).compares_pairs:
            return True
        lower = min(finding.bounds[0].lower or 0.0, _LARGEST_SHOWN) * NEAR
        delta = (epsilon_delta_of(self.claim) or (0.0, 0.0))[1]
        stronger = ApproximateDP(lower, delta) if delta else PureDP(lower)
        return bool(self.is_confirmed(on_exact_data(known), pair, stronger))

    def _is_sound(self, exactly: "TracedTarget", found: WhiteBoxResult | str) -> bool:
        """Return whether a search on exact data found a violation that does not rest on the last bits of constants."""
        if not isinstance(found, WhiteBoxResult) or found.verdict is not HuntVerdict.VIOLATED or found.witness is None:
            return False
        pair = np.array(found.witness.left), np.array(found.witness.right)
        return bool(self.is_confirmed(on_exact_data(exactly, joins_close=True), pair))

    def is_confirmed_exactly(self, known: "TracedTarget", pair: Pair) -> bool | None:
        """Return whether exact data show a violation at a pair, with constants as they are and as what they stand for.

        None if it cannot be traced there, or if exact numbers take other ways than floats with other noise: code that
        asks for the types of its numbers does so.
        """
        found = self.is_confirmed(on_exact_data(known), pair)
        if found is False and self._takes_other_ways(pair):
            return None
        return self.is_confirmed(on_exact_data(known, joins_close=True), pair) if found else found

    def _takes_other_ways(self, pair: Pair) -> bool:
        """Return whether exact numbers lead to other noise than floats do, at one of two inputs."""
        for side in pair:
            found = [self.traced(side, seconds=self.left, is_exact=is_exact) for is_exact in (False, True)]
            models = [one.model for one in found if isinstance(one, Trace)]
            if len(models) == len(found) and use_other_noise(*models):
                return True
        return False

    def is_confirmed(self, known: "TracedTarget", pair: Pair, claim: Claim | None = None) -> bool | None:
        """Return whether the traces on a pair refute the claim, or another one; None if it cannot be traced there."""
        try:
            with time_limit(self.left), precision(BITS):
                return refutes(claim or self.claim, known.distributions(*pair))
        except (OutOfTime, UndecidedLeafError, UnknownOutcomeError, WrongTraceError, NotTracedError):
            return None

    def _exhaust(self, known: "TracedTarget") -> None:
        """Decide the claim on every pair of the relation if these are few."""
        pairs = all_pairs(self.relation, most=_MOST_PAIRS)
        try:
            with time_limit(self.left), precision(BITS):
                known.exhausted = exhausted_pairs(known, self.claim, pairs)
        except OutOfTime:
            if pairs:
                known.not_exhausted = f"the {len(pairs)} pairs of inputs were not all compared: {self._too_long()}"
        except (UndecidedLeafError, UnknownOutcomeError, WrongTraceError, NotTracedError):
            return  # the claim is not proved, and the reason why not by shifts stands

    def _better(self, derived: "TracedTarget", decided: "TracedTarget") -> "TracedTarget":
        """Return what functions of data as coordinates prove if decisions about them prove less."""
        is_better = derived.epsilon < decided.epsilon or (derived.gaussian is not None and decided.gaussian is None)
        return derived if is_better and not decided.implies(self.claim) else decided

    def _proved(self, *, derives: bool) -> "TracedTarget":
        symbolic = self._on_symbols(derives=derives)
        if not isinstance(symbolic, Trace):
            return TracedTarget(self, None, symbolic)
        known = TracedTarget(self, symbolic.model, "")
        known.proof = self._proof(known)
        known.is_whole = symbolic.unity.outcome is Outcome.HOLDS and symbolic.unity.scope is Scope.ALL
        if not isinstance(self.claim, PureDP | BoundedRange) and not known.implies(self.claim):
            known.gaussian = self._gaussian(symbolic.model)
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
                raise UntraceableError(str(found))
            return str(found) if self.left else self._too_long()  # not that no run ends in the seconds left
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

    def _proof(self, known: "TracedTarget") -> "TracedProof | str":
        assert known.model is not None
        is_small = len(known.model.leaves) <= MOST_MERGED
        try:
            with time_limit(self.left):
                return proof_of(known.model, self.relation, self.claim, known.merged if is_small else known.model)
        except OutOfTime:
            return self._too_long()

    def _gaussian(self, model: LeafModel) -> GaussianAligned | None:
        """Return a proof of Gaussian DP, None if there is none."""
        try:
            with time_limit(self.left):
                found = gaussian_bound(model, self.relation)
        except OutOfTime:
            return None
        return None if isinstance(found, Unaligned) else found

    def _search(self, known: "TracedTarget") -> WhiteBoxResult | str:
        """Return the certified result of a pair far out and of a search close by; a reason if nothing was compared."""
        found: WhiteBoxResult | str = "no pair of inputs was compared"
        if known.model is not None and known.model.on_lattice and known.implies(self.claim):
            return found  # the figures of pairs would have to be traced draw by draw
        most = _FOR_A_PROOF if known.implies(self.claim) else _FOR_A_SEARCH
        stages = ((FAR_OUT, 1), (CLOSE_BY, 1), (CLOSE_BY, most), (ACROSS, most))
        for number, (factors, limit) in enumerate(stages):
            if factors == FAR_OUT and not known.has_move:
                continue  # there is no direction in which to go far
            if factors == ACROSS and (not known.has_cells or _is_violated(found)):
                continue
            is_settled = isinstance(found, WhiteBoxResult) and (
                number == _SHOWN or found.verdict is not HuntVerdict.VIOLATED
            )
            if is_settled and isinstance(found, WhiteBoxResult) and known.is_met_by(found):
                break
            known.factors, kept = factors, list[WhiteBoxResult]()
            try:
                with time_limit(self.left * (1 - _FOR_CONFIRMATION if known.may_round else 1)):
                    more = hunt_known(
                        known, self.claim, self.relation, seed=self.seed, most_probabilities=limit, keep=kept.append
                    )
                found = _joined(found, more) if isinstance(found, WhiteBoxResult) else more
            except OutOfTime:
                if kept:
                    return _joined(found, kept[0]) if isinstance(found, WhiteBoxResult) else kept[0]
                return found if isinstance(found, WhiteBoxResult) else self._too_long()
            except (UndecidedLeafError, UnknownOutcomeError, WrongTraceError, NotTracedError) as error:
                return found if isinstance(found, WhiteBoxResult) else str(error)
        return found

    def _judged(self, known: "TracedTarget", finding: WhiteBoxResult | str) -> Decision:
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


def _reason(known: "TracedTarget", finding: WhiteBoxResult | str) -> str:
    """Say why nothing was decided."""
    if isinstance(finding, str) and known.model is None:
        return finding  # the code could not be traced on numbers either
    if known.exhausted is not None:
        upper = f"epsilon <= {known.exhausted.epsilon:.17g} on all pairs of inputs, which does not imply the claim"
    elif known.square is not None:
        mu = words_above(float_upper(ball(known.square).sqrt()), 6)
        upper = f"Gaussian DP with mu <= {mu} is proved for all inputs, no more"
    elif isinstance(known.proof, str):
        upper = f"no proof for all inputs ({known.proof})"
    elif known.proof.is_partial:
        epsilon, delta = (words_above(rounded_up(bound), 6) for bound in (known.proof.epsilon, known.proof.delta))
        upper = f"epsilon <= {epsilon} and delta <= {delta} are proved for all inputs, which do not imply the claim"
    elif known.proof.delta:
        upper = f"runs of probability {words_above(rounded_up(known.proof.delta), 3)} were not traced"
    else:
        epsilon = words_above(rounded_up(known.proof.epsilon), 6)
        upper = f"epsilon <= {epsilon} is proved for all inputs, which does not imply the claim"
    lower = finding if isinstance(finding, str) else "no violation at the pairs that were compared"
    return "; ".join(dict.fromkeys(words for words in (upper, lower, known.not_exhausted) if words))


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
