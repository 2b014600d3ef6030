"""Replaying a witness: fresh samples on the saved pair, bets on the saved event alone."""

import json
import math
import shlex
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import UsageError, shown
from dpassay.claims import Claim, ExPost, parse_claim
from dpassay.mechanism import ClaimedMechanism
from dpassay.neighbours import AnyNeighbours, parse_relation
from dpassay.properties.drawing.call_guard import CALL_TIMEOUT
from dpassay.properties.drawing.decoding import decoding_sampler, through
from dpassay.properties.drawing.opened import open_target
from dpassay.properties.drawing.sessions import in_sessions, require_session
from dpassay.properties.drawing.target import Declaration, describe_target, full_name
from dpassay.properties.drawing.target_process import IMPORT_TIMEOUT
from dpassay.properties.hunting.black_box import sample_pairs
from dpassay.properties.hunting.result import HuntResult
from dpassay.properties.hunting.task import (
    Task,
    fresh_seed,
    own_claims,
    read_claim,
    read_neighbours,
    require_calls,
    require_level,
    require_seconds,
    require_seed,
)
from dpassay.properties.hunting.verdicts import Questions
from dpassay.properties.hunting.witness import with_inputs
from dpassay.properties.neighbours.pairs import are_neighbours
from dpassay.properties.outcomes.batch import Outcomes
from dpassay.properties.outcomes.calls import CallFailedError, Sampler, call
from dpassay.properties.outcomes.events import Event, Interval, mirrored, parse_event
from dpassay.properties.outcomes.flattening import OUTCOME
from dpassay.properties.outcomes.type_names import TYPE
from dpassay.spec.notions.ex_post import ex_post_bound

__all__ = ["replay"]

Array = NDArray[np.float64]


def replay(
    witness: Mapping[str, Any] | str | Path,
    target: str | ClaimedMechanism | Sampler,
    *,
    claim: Claim | None = None,
    neighbours: AnyNeighbours | None = None,
    calls: int = 100_000,
    alpha: float = 1e-6,
    seed: int = 0,
    budget_seconds: float = 60.0,
    call_timeout_seconds: float = CALL_TIMEOUT,
    import_timeout_seconds: float = IMPORT_TIMEOUT,
    isolate: bool | None = None,
) -> HuntResult:
    """Draw fresh samples on a saved pair and test the saved claim by bets on the saved event alone.

    The target that the witness names is not loaded: no code is run but that of the target given.

    Parameters
    ----------
    witness : mapping or path
        What `HuntResult.to_json` returned, or a file that holds it.
    target : str, ClaimedMechanism or callable
        As for `hunt`.
    claim : Claim, optional
        By default what the saved words say, or the claim of the target that is saved in these words.
    neighbours : AnyNeighbours, optional
        By default what the saved words say. A hypothesis strategy, too, must be given again.
    calls : int
        At least 1.
    alpha : float
        Level of the test.
    seed : int
        The samples are fresh whatever it is: no hunt draws them.
    budget_seconds : float
        Time after which no further batch begins.
    call_timeout_seconds, import_timeout_seconds, isolate
        As for `hunt`.

    Returns
    -------
    HuntResult
        Its bounds, too, come from the event alone.

    Raises
    ------
    UsageError
        If the file cannot be read or lacks a witness, if its inputs are no pair of its neighbour relation, or if its
        claim has no words on the command line, the target does not declare it and it is not given.
    """
    saved = _Saved.read(witness, None if neighbours is None else read_neighbours(neighbours))
    call_timeout = require_seconds("call_timeout_seconds", call_timeout_seconds, or_none=True)
    limits = require_calls(calls), require_seconds("budget_seconds", budget_seconds)
    level, checked_seed = require_level("alpha", alpha), require_seed(seed)
    given = None if claim is None else read_claim(claim)
    target = full_name(target) if isinstance(target, str) else target
    with open_target(
        target,
        isolate=isolate,
        import_timeout=require_seconds("import_timeout_seconds", import_timeout_seconds),
        call_timeout=call_timeout,
    ) as opened:
        tested = given if given is not None else _saved_claim(saved.claim, opened.declaration)
        task = Task(
            target=describe_target(target),
            claim=ExPost(_own_bound, tested.description) if isinstance(tested, ExPost) else tested,
            neighbours=saved.neighbours,
            alpha=level,
            seed=fresh_seed(checked_seed),
            calls=limits[0],
            budget_seconds=limits[1],
            call_timeout_seconds=call_timeout,
            session=saved.session,
            questions=Questions.FLOATS,
        )
        inner = in_sessions(decoding_sampler(opened.sampler, saved.neighbours), saved.session)
        if saved.event is None:
            result = sample_pairs(replace(task, claim=tested), inner, [saved.pair])
        else:
            # the event alone is seen: 0 if it occurred, None otherwise, or the bound of its outcome and None
            bounded = tested if isinstance(tested, ExPost) else ExPost(_no_bound)
            sampler = through(inner, _BoundsWithin(saved.event, bounded, saved.left, saved.right))
            result = sample_pairs(task, sampler, [saved.pair], shown=Interval(OUTCOME, -math.inf, math.inf))
    found = result.witness
    if found is not None and saved.event is not None:
        is_saved = np.array_equal(found.left, saved.left)
        found = replace(found, event=str(saved.event if is_saved else mirrored(saved.event)), certified=True)
    told = with_inputs(replace(result, witness=found), saved.neighbours)
    return replace(
        told,
        claim=saved.claim if given is None else str(given),
        seed=seed,
        replay=_command(witness, task.target, alpha, seed, result.calls),
        notes=(*result.notes, *saved.notes(task.target)),
    )


def _command(witness: Mapping[str, Any] | str | Path, target: str, alpha: float, seed: int, calls: int) -> str:
    name = str(witness) if isinstance(witness, str | Path) else "WITNESS.json"
    words = ["dpassay", "hunt", target, "--replay", name, "--alpha", repr(alpha), "--seed", str(seed)]
    return shlex.join([*words, *(["--calls", str(calls)] if calls else [])])


@dataclass(frozen=True)
class _Saved:
    """The contents of a witness file, read and checked."""

    target: str
    claim: str
    neighbours: AnyNeighbours
    event: Event | None
    left: Array
    right: Array
    session: int
    is_of_floats: bool = False

    @classmethod
    def read(cls, witness: Mapping[str, Any] | str | Path, given: AnyNeighbours | None) -> "_Saved":
        record = _read_record(witness)
        saved = _witness_of(record)
        event, left, right = _saved_game(saved)
        neighbours = parse_relation(record["neighbours"]) if given is None else given
        if not are_neighbours(neighbours, left, right):
            raise UsageError(
                f"witness left={shown(left.tolist())}, right={shown(right.tolist())} is not a pair of its neighbour "
                f"relation {record['neighbours']}"
            )
        session = require_session(record.get("session", 1))
        is_of_floats = saved is not record.get("witness")
        return cls(record["target"], record["claim"], neighbours, event, left, right, session, is_of_floats)

    @property
    def pair(self) -> tuple[Array, Array]:
        return self.left, self.right

    def notes(self, target: str) -> tuple[str, ...]:
        """Return notes if the target is named in another way than in the file, or the witness speaks of float64."""
        told = []
        if self.is_of_floats:
            told.append("the witness is one of float64: it says nothing of the ideal mechanism")
        if self.event is None:
            told.append("the event of the witness is described only: any event of its pair was looked for")
        if target == self.target:
            return tuple(told)
        return (*told, f"the witness was found for target {self.target!r} and is replayed on {target!r}")


def _saved_game(saved: Mapping[str, Any]) -> tuple[Event | None, Array, Array]:
    try:
        left, right = (np.array(saved[side], dtype=np.float64) for side in ("left", "right"))
    except (TypeError, ValueError):
        left = right = np.full(1, np.nan)
    if not (left.ndim == right.ndim == 1 and np.isfinite(left).all() and np.isfinite(right).all()):
        raise UsageError("witness must have lists of finite numbers for left and right")
    return None if saved.get("is_described") is True else parse_event(saved["event"]), left, right


def _saved_claim(words: str, target: Declaration) -> Claim:
    """Read the claim from its words, or recognise it among those that the target declares."""
    own = next((claim for claim in own_claims(target) if str(claim) == words), None)
    if own is None and words.startswith("ex-post:"):
        raise UsageError(f"claim must be given, because the target does not declare {words!r}")
    return own if own is not None else parse_claim(words)


@dataclass(frozen=True)
class _BoundsWithin:
    """Makes of a sampler one that returns the bound of each outcome if the event occurred, None otherwise.

    A function of the outcome obeys the claim with the largest bound of the outcomes that it maps to one value.
    """

    event: Event
    claim: ExPost
    left: Array
    right: Array

    def __call__(self, sampler: Sampler) -> Sampler:
        return lambda data, size, rng: self._sample(sampler, data, size, rng)

    def _sample(self, sampler: Sampler, data: Array, size: int, rng: np.random.Generator) -> list[float | None]:
        if size > 1 and f"{TYPE} in " in str(self.event):  # of an array of many outcomes, the type is not that of each
            return [bound for _ in range(size) for bound in self._sample(sampler, data, 1, rng)]
        try:
            outcomes = call(sampler, data, size, rng)
        except CallFailedError as failure:
            if size > 1:
                raise
            outcomes = Outcomes.of([failure.symbol])
        hits = self.event.holds(outcomes.with_inputs(self.left, self.right)).tolist()
        members = zip(hits, outcomes.symbols(), strict=True)
        return [ex_post_bound(self.claim, symbol) if inside else None for inside, symbol in members]


def _no_bound(_: Hashable) -> float:
    return 0.0


def _own_bound(outcome: Hashable) -> float:
    return float(outcome) if isinstance(outcome, int | float) else math.inf


def _read_record(witness: Mapping[str, Any] | str | Path) -> Mapping[str, Any]:
    record: Any = witness
    if isinstance(witness, str | Path):
        record = _read_file(Path(witness))
    saved = _witness_of(record) if isinstance(record, Mapping) else None
    words = ("target", "claim", "neighbours")
    complete = isinstance(saved, Mapping) and {"left", "right"} <= saved.keys() and isinstance(saved.get("event"), str)
    if not (complete and all(isinstance(record.get(key), str) for key in words)):
        raise UsageError(
            "witness must be the output of `dpassay hunt --json` for a violated claim: an object with target, claim, "
            "neighbours and witness (left, right, event)"
        )
    checked: Mapping[str, Any] = record
    return checked


def _witness_of(record: Mapping[str, Any]) -> Any:
    """Return the witness of a record, or else that of its verdict on float64."""
    if record.get("witness") is not None:
        return record["witness"]
    floats = record.get("float64")
    return floats.get("witness") if isinstance(floats, Mapping) else None


def _read_file(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"witness file {str(path)!r} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise UsageError(f"witness file {str(path)!r} is not JSON") from None
