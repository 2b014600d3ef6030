"""The task of a hunt: its parameters, read and checked once."""

import math
import sys
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpassay.arguments import MOST_CALLS, MOST_SECONDS, UsageError, is_finite, require_integer, require_positive, shown
from dpassay.claims import Claim, claim_forms, parse_claim
from dpassay.neighbours import AnyNeighbours, parse_relation, relation_forms
from dpassay.properties.betting.game import LowOrder
from dpassay.properties.drawing.call_guard import CALL_TIMEOUT
from dpassay.properties.drawing.target import Declaration, declaration_of, describe_target
from dpassay.properties.hunting.decision import TRACE_SECONDS
from dpassay.properties.hunting.formatting import relation_words
from dpassay.properties.hunting.result import replay_command
from dpassay.properties.hunting.verdicts import Float64Policy, Questions
from dpassay.properties.outcomes.numeric_features import LOWEST_BIT

__all__ = [
    "FLOAT64_SHARE",
    "Task",
    "claim_of",
    "fresh_seed",
    "neighbours_of",
    "own_claims",
    "read_claim",
    "read_neighbours",
    "read_policy",
    "require_calls",
    "require_level",
    "require_seconds",
    "require_seed",
]


FLOAT64_SHARE = 1 / 8
"""The part of the level for the float64 question where both are asked: the ideal mechanism keeps 7/8, which costs it
0.13 nats. Low-order bits leak grossly, so that they show with a small part."""


_LEAST_SHARE = 1 / 4
"""The part of the budget that each phase after the samples has in any case."""

_FOR_THE_REPORT = 1 / 16
"""The part of the budget that sampling leaves for bounds, witnesses and the power."""


@dataclass(frozen=True)
class Task:
    """The parameters that `hunt` documents.

    Parameters
    ----------
    target : object
        As given, a name or an object.
    claim, neighbours : Claim, AnyNeighbours
        What is tested.
    alpha, seed, calls, budget_seconds
        As for `hunt`.
    own_claim : bool
        Whether the claim is the one that the target declares; it need not have words on the command line then.
    questions : Questions
        What samples are to answer.
    call_timeout_seconds : float
        As for `hunt`.
    trace_seconds : float
        As for `hunt`.
    session : int
        How many calls of the target make one outcome; `claim` is the claim for that many.
    stated : Claim, optional
        The claim for one call, where it is another.
    float64 : Float64Policy
        As for `hunt`.
    begins_small : bool
        As for `Campaign`.
    began : float
        When the time of the budget begins, on the monotonic clock: now, unless stated otherwise.
    """

    target: Any
    claim: Claim
    neighbours: AnyNeighbours
    alpha: float
    seed: int
    calls: int | None
    budget_seconds: float
    own_claim: bool = False
    questions: Questions = Questions.BOTH
    call_timeout_seconds: float = CALL_TIMEOUT
    trace_seconds: float = TRACE_SECONDS
    session: int = 1
    stated: Claim | None = None
    float64: Float64Policy = Float64Policy.WARN
    begins_small: bool = True
    began: float = field(default_factory=time.monotonic, compare=False)

    def __post_init__(self) -> None:
        if self.claim.is_vacuous:
            raise UsageError(
                f"claim {self.claim} is vacuous: delta must be below 1, else every mechanism satisfies it"
            )

    def seconds_left(self, least: float = _LEAST_SHARE) -> float:
        """Return the time that is left, at least a part of the budget: no phase of a hunt goes without.

        Parameters
        ----------
        least : float
            The part of the budget that the phase has in any case, in [0, 1].
        """
        left = self.began + self.budget_seconds - time.monotonic()
        return max(left, least * self.budget_seconds)

    @property
    def sampling_seconds(self) -> float:
        """The time for samples: what is left of the budget, half of it at least.

        Where no number of calls is the limit, part of it is for the report.
        """
        report = _FOR_THE_REPORT if self.calls is None else 0.0
        return self.seconds_left(1 / 2) - report * self.budget_seconds

    @property
    def ideal_alpha(self) -> float:
        """The level of the verdict, and of its figures."""
        return self.alpha * (1 - FLOAT64_SHARE) if self.questions is Questions.BOTH else self.alpha

    @property
    def float64_alpha(self) -> float:
        """The level of the float64 question."""
        return self.alpha * FLOAT64_SHARE

    @property
    def ignored_features(self) -> frozenset[str]:
        """The features of outcomes that the verdict does not rest on."""
        return frozenset() if self.questions is Questions.FLOATS else frozenset({LOWEST_BIT})

    @property
    def low_order(self) -> LowOrder:
        """The parameter of games that keeps evidence on rounding apart."""
        return "beside" if self.questions in {Questions.BOTH, Questions.IDEAL} else "none"

    def replay_command(self, calls: int | None, *, trace: bool = True) -> str:
        """Return the shell command that repeats the hunt, with the number of calls that it took if that decides.

        The decision of a trace may depend on the speed of the machine: a hunt that sampled is repeated without.
        """
        return replay_command(
            describe_target(self.target),
            None if self.own_claim else str(self.stated or self.claim),
            relation_words(self.neighbours),
            alpha=self.alpha,
            seed=self.seed,
            calls=calls,
            float64=self.float64,
            trace=trace,
            session=self.session,
            budget_seconds=self.budget_seconds,
            call_timeout_seconds=self.call_timeout_seconds,
            trace_seconds=self.trace_seconds,
        )


def fresh_seed(seed: int, *place: int) -> int:
    """Return a seed of its own for each place of a run: no hunt draws its samples, not even with the same seed."""
    state = np.random.SeedSequence(seed, spawn_key=((1 << 30), *place)).generate_state(4)
    return int.from_bytes(state.tobytes(), "little")


def claim_of(target: Any, claim: Claim | str | None) -> Claim:
    """Return the claim given, or else the first one that the target declares.

    Raises
    ------
    UsageError
        If it is no claim, or None where the target declares none.
    """
    if claim is not None:
        return read_claim(claim)
    own = own_claims(target)
    if not own:
        raise UsageError(
            f"claim must be given, such as pure:1, for a target that declares none; accepted are {claim_forms()}"
        )
    return own[0]


def read_claim(claim: Claim | str) -> Claim:
    """Return a claim given as an object or in the words of the command line; raise `UsageError` for all else."""
    if isinstance(claim, str):
        return parse_claim(claim)
    if not isinstance(claim, Claim):
        raise UsageError(
            f"claim must be an object of dpassay.claims, such as PureDP(1.0), or text of the form {claim_forms()}, "
            f"got {shown(claim)}"
        )
    return claim


def read_policy(float64: Float64Policy | str) -> Float64Policy:
    """Return the policy of `hunt` on float64; raise `UsageError` for all else."""
    if isinstance(float64, str) and float64 in list(Float64Policy):
        return Float64Policy(float64)
    raise UsageError(f"float64 must be one of {', '.join(Float64Policy)}, got {shown(float64)}")


def own_claims(target: Any) -> tuple[Claim, ...]:
    """Return the claims that a target declares."""
    return declaration_of(target).claims if not isinstance(target, Declaration) else target.claims


def neighbours_of(target: Any, neighbours: Any) -> AnyNeighbours:
    """Return the relation given, or else the one that the target declares.

    Raises
    ------
    UsageError
        If it is no neighbour relation, or None where the target declares none.
    """
    if neighbours is not None:
        return read_neighbours(neighbours)
    own: AnyNeighbours | None = getattr(target, "neighbours", None)
    if own is None:
        raise UsageError(
            "neighbours must be given, such as vector:size=1,linf=1, for a target that declares none; "
            f"accepted is text that begins with one of {relation_forms()}"
        )
    return own


def read_neighbours(neighbours: Any) -> AnyNeighbours:
    """Return a relation given as an object, in the words of the command line, or as a hypothesis strategy of pairs.

    Raises
    ------
    UsageError
        For all else.
    """
    if isinstance(neighbours, str):
        return parse_relation(neighbours)
    if isinstance(neighbours, AnyNeighbours):
        return neighbours
    strategies = sys.modules.get("hypothesis.strategies")  # takes a while to import; a caller with one has done so
    if strategies is not None and isinstance(neighbours, strategies.SearchStrategy):
        from dpassay.properties.neighbours.drawn import DrawnNeighbours

        return DrawnNeighbours(neighbours)
    raise UsageError(
        "neighbours must be a VectorNeighbours, a RecordNeighbours, a TableNeighbours, a hypothesis strategy of "
        f"pairs, or text such as vector:size=1,linf=1, got {shown(neighbours)}"
    )


def require_level(name: str, level: float) -> float:
    """Return an error level if it lies strictly between 0 and 1; raise `UsageError` naming `name` otherwise."""
    if not (is_finite(level) and 0 < float(level) < 1):
        raise UsageError(f"{name} must lie strictly between 0 and 1, got {shown(level)}")
    return float(level)


def require_seed(seed: int) -> int:
    """Return a seed if it is an integer, at least 0; raise `UsageError` otherwise."""
    return require_integer("seed", seed, 0)


def require_calls(calls: float) -> int:
    """Return a number of calls if it is an integer within `MOST_CALLS`; raise `UsageError` otherwise."""
    whole = int(calls) if isinstance(calls, float) and calls.is_integer() else calls
    return require_integer("calls", whole, 1, MOST_CALLS)


def require_seconds(name: str, seconds: float, *, or_none: bool = False) -> float:
    """Return a time if it is positive and within `MOST_SECONDS`, or infinite where that stands for no limit.

    Raises
    ------
    UsageError
        Naming `name`, otherwise.
    """
    if or_none and isinstance(seconds, float) and seconds == math.inf:
        return seconds
    if require_positive(name, seconds) > MOST_SECONDS:
        no_limit = " (inf for no limit)" if or_none else ""
        raise UsageError(f"{name} must be at most {MOST_SECONDS:g} seconds{no_limit}, got {shown(seconds)}")
    return float(seconds)
