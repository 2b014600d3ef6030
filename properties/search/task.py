"""What a hunt is asked to do: its parameters, read and checked once."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpassay.claims import Claim, NeighbourRelation, UsageError, parse_claim, parse_neighbours
from dpassay.properties.audit.watching import CALL_TIMEOUT
from dpassay.properties.search.result import replay_command
from dpassay.properties.search.target import describe_target
from dpassay.properties.search.words import claim_words, relation_words

__all__ = ["Task", "claim_of", "neighbours_of", "own_claims", "require_level", "require_seed"]


@dataclass(frozen=True)
class Task:
    """The parameters that `hunt` documents.

    Parameters
    ----------
    target : object
        As given, a name or an object.
    claim, neighbours : Claim, NeighbourRelation
        What is tested.
    alpha, seed, calls, budget_seconds
        As for `hunt`.
    own_claim : bool
        Whether the claim is the one that the target declares; it need not have words on the command line then.
    low_bits : bool
        Whether the low-order bits of numbers may be bet on.
    call_timeout_seconds : float
        As for `hunt`.
    """

    target: Any
    claim: Claim
    neighbours: NeighbourRelation
    alpha: float
    seed: int
    calls: int | None
    budget_seconds: float
    own_claim: bool = False
    low_bits: bool = True
    call_timeout_seconds: float = CALL_TIMEOUT

    def replay_command(self, calls: int | None) -> str:
        """Return the shell command that repeats the hunt, with the number of calls that it took if that decides."""
        return replay_command(
            describe_target(self.target),
            None if self.own_claim else claim_words(self.claim),
            relation_words(self.neighbours),
            alpha=self.alpha,
            seed=self.seed,
            calls=calls,
            low_bits=self.low_bits,
        )


def claim_of(target: Any, claim: Claim | str | None) -> Claim:
    """Return the claim given, or else the first one that the target declares."""
    if isinstance(claim, str):
        return parse_claim(claim)
    if claim is not None:
        return claim
    own = own_claims(target)
    if not own:
        raise UsageError("claim must be given for a target that declares none")
    return own[0]


def own_claims(target: Any) -> tuple[Claim, ...]:
    """Return the claims that a target declares."""
    declared = getattr(target, "claims", ())
    if not isinstance(declared, tuple | list):
        raise UsageError(f"the claims that a target declares must be a tuple, got {type(declared).__name__}")
    return tuple(declared)


def neighbours_of(target: Any, neighbours: NeighbourRelation | str | None) -> NeighbourRelation:
    """Return the relation given, or else the one that the target declares."""
    if isinstance(neighbours, str):
        return parse_neighbours(neighbours)
    own: NeighbourRelation | None = neighbours if neighbours is not None else getattr(target, "neighbours", None)
    if own is None:
        raise UsageError("neighbours must be given for a target that declares none")
    return own


def require_level(alpha: float) -> float:
    """Return an error level if it lies strictly between 0 and 1; raise `UsageError` otherwise."""
    if not 0 < alpha < 1:
        raise UsageError(f"alpha must lie strictly between 0 and 1, got {alpha!r}")
    return alpha


def require_seed(seed: int) -> int:
    """Return a seed if it is an integer, at least 0; raise `UsageError` otherwise."""
    if not (isinstance(seed, int | np.integer) and seed >= 0):
        raise UsageError(f"seed must be an integer, at least 0, got {seed!r}")
    return int(seed)
