"""Replaying a witness: fresh samples on the saved pair, bets on the saved event alone."""

import json
import math
import shlex
from collections.abc import Hashable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import (
    Claim,
    ExPost,
    Mechanism,
    UsageError,
    VectorNeighbours,
    parse_claim,
    require_at_least,
    require_positive,
)
from dpassay.properties.audit.events import Event, Interval, mirrored, parse_event
from dpassay.properties.audit.hypotheses import ex_post_bound
from dpassay.properties.audit.outcomes import OUTCOME, CallFailedError, Outcomes, Sampler, call, sampler_of
from dpassay.properties.audit.watching import CALL_TIMEOUT, require_call_timeout
from dpassay.properties.search.black_box import sample_pairs
from dpassay.properties.search.result import HuntResult
from dpassay.properties.search.target import describe_target, load_target
from dpassay.properties.search.task import Task, own_claims, require_level, require_seed
from dpassay.properties.search.witness import fresh_seed
from dpassay.properties.search.words import claim_words

__all__ = ["replay"]

Array = NDArray[np.float64]


def replay(
    witness: Mapping[str, Any] | str | Path,
    target: str | Mechanism | Sampler | None = None,
    *,
    claim: Claim | None = None,
    calls: int = 100_000,
    alpha: float = 1e-6,
    seed: int = 0,
    budget_seconds: float = 60.0,
    call_timeout_seconds: float = CALL_TIMEOUT,
) -> HuntResult:
    """Draw fresh samples on a saved pair and test the saved claim by bets on the saved event alone.

    Parameters
    ----------
    witness : mapping or path
        What `HuntResult.to_json` returned, or a file that holds it.
    target : optional
        By default the saved name of the target.
    claim : Claim, optional
        By default what the saved words say, or the claim of the target that is saved in these words.
    calls : int
        At least 1.
    alpha : float
        Level of the test.
    seed : int
        The samples are fresh whatever it is: no hunt draws them.
    budget_seconds : float
        Time after which no further batch begins.
    call_timeout_seconds : float
        As for `hunt`.

    Returns
    -------
    HuntResult
        Its bounds, too, come from the event alone.

    Raises
    ------
    UsageError
        If the file cannot be read or lacks a witness, or if its claim has no words on the command line, the target
        does not declare it and it is not given.
    """
    record = _read_record(witness)
    source = record["target"] if target is None else target
    loaded = load_target(source) if isinstance(source, str) else source
    event, left, right = _saved_game(record["witness"])
    tested = claim if claim is not None else _saved_claim(record["claim"], loaded)
    sampler: Sampler = _membership(sampler_of(loaded), event, left, right)
    if isinstance(tested, ExPost):
        bounds = _bounds_within(sampler_of(loaded), event, tested, left, right)
        sampler, tested = bounds, ExPost(_own_bound, tested.description)
    task = Task(
        target=describe_target(source),
        claim=tested,
        neighbours=VectorNeighbours(max(1, left.size), linf=0.0),  # not used: the pair is given
        alpha=require_level(alpha),
        seed=fresh_seed(require_seed(seed)),
        calls=int(require_at_least("calls", calls, 1)),
        budget_seconds=require_positive("budget_seconds", budget_seconds),
        call_timeout_seconds=require_call_timeout(call_timeout_seconds),
    )
    result = sample_pairs(task, sampler, [(left, right)], shown=Interval(OUTCOME, -math.inf, math.inf))
    found = result.witness
    if found is not None:
        is_saved = np.array_equal(found.left, left)
        found = replace(found, event=str(event if is_saved else mirrored(event)), certified=True)
    name = str(witness) if isinstance(witness, str | Path) else "WITNESS.json"
    command = ["dpassay", "hunt", "--replay", name, "--alpha", repr(alpha), "--seed", str(seed)]
    command += ["--calls", str(result.calls)] if result.calls else []
    return replace(
        result,
        claim=record["claim"] if claim is None else claim_words(claim),
        witness=found,
        seed=seed,
        replay=shlex.join(command),
    )


def _saved_game(saved: Mapping[str, Any]) -> tuple[Event, Array, Array]:
    try:
        left, right = (np.array(saved[side], dtype=np.float64) for side in ("left", "right"))
    except (TypeError, ValueError):
        left = right = np.full(1, np.nan)
    if not (left.ndim == right.ndim == 1 and np.isfinite(left).all() and np.isfinite(right).all()):
        raise UsageError("witness must have lists of finite numbers for left and right")
    return parse_event(str(saved["event"])), left, right


def _saved_claim(words: str, target: Any) -> Claim:
    """Read the claim from its words, or recognise it among those that the target declares."""
    own = next((claim for claim in own_claims(target) if claim_words(claim) == words), None)
    if own is None and words.startswith("ex-post:"):
        raise UsageError(f"claim must be given: {words!r} is none that the target declares")
    return own if own is not None else parse_claim(words)


def _membership(sampler: Sampler, event: Event, left: Array, right: Array) -> Sampler:
    """Return the target followed by the question whether the event occurred: 0 if it did, None otherwise."""
    return _bounds_within(sampler, event, ExPost(lambda _: 0.0), left, right)


def _bounds_within(sampler: Sampler, event: Event, claim: ExPost, left: Array, right: Array) -> Sampler:
    """Return the target followed by the bound of its outcome if the event occurred, by None otherwise.

    A function of the outcome obeys the claim with the largest bound of the outcomes that it maps to one value.
    """

    def sample(data: Array, size: int, rng: np.random.Generator) -> list[float | None]:
        try:
            outcomes = call(sampler, data, size, rng)
        except CallFailedError as failure:
            if size > 1:
                raise
            outcomes = Outcomes.of([failure.symbol])
        members = zip(event.holds(outcomes.with_inputs(left, right)).tolist(), outcomes.symbols(), strict=True)
        return [ex_post_bound(claim, symbol) if inside else None for inside, symbol in members]

    return sample


def _own_bound(outcome: Hashable) -> float:
    return float(outcome) if isinstance(outcome, int | float) else math.inf


def _read_record(witness: Mapping[str, Any] | str | Path) -> Mapping[str, Any]:
    record: Any = witness
    if not isinstance(witness, Mapping):
        try:
            record = json.loads(Path(witness).read_text(encoding="utf-8"))
        except OSError as error:
            raise UsageError(f"witness file {str(witness)!r} cannot be read: {error.strerror}") from None
        except ValueError:
            raise UsageError(f"witness file {str(witness)!r} is not JSON") from None
    saved = record.get("witness") if isinstance(record, Mapping) else None
    complete = isinstance(saved, Mapping) and {"left", "right", "event"} <= saved.keys()
    if not (complete and all(isinstance(record.get(key), str) for key in ("target", "claim"))):
        raise UsageError("witness must be what `dpassay hunt --json` printed, with a target, a claim and a witness")
    checked: Mapping[str, Any] = record
    return checked
