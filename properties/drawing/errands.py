"""Questions to a target that may be in another process; the imports here slow the start of that process."""

import pickle
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dpassay.arguments import UsageError
from dpassay.claims import Claim
from dpassay.neighbours import NeighbourRelation
from dpassay.properties.drawing.shipping import pickled
from dpassay.properties.drawing.target import Declaration, declaration_of

if TYPE_CHECKING:
    from dpassay.properties.hunting.decision import Decision
    from dpassay.properties.hunting.white_box import WhiteBoxResult

__all__ = ["certified", "received_declaration", "refuted_exactly", "sent_declaration", "traced"]


def certified(target: Any, claim: Claim | None, neighbours: NeighbourRelation, seed: int) -> "WhiteBoxResult | None":
    """Search by the exact distribution of a target; None if it is not known.

    Parameters
    ----------
    target : object
        The target.
    claim : Claim or None
        None stands for the first claim that the target declares.
    neighbours, seed
        As for `hunt`.
    """
    from dpassay.properties.pairing.registry import is_registered

    if not is_registered(type(target)):
        return None
    from dpassay.properties.hunting.task import claim_of
    from dpassay.properties.hunting.white_box import has_distribution, hunt_white_box  # takes seconds to import

    if not has_distribution(target, neighbours, seed=seed):
        return None
    return hunt_white_box(target, claim_of(target, claim), neighbours, seed=seed)


def traced(
    target: Any, claim: Claim | None, neighbours: NeighbourRelation, seed: int, seconds: float
) -> "Decision":  # fmt: skip
    """Trace a target and decide a claim by its code.

    Parameters
    ----------
    target, claim, neighbours, seed
        As for `certified`.
    seconds : float
        Time limit.
    """
    from dpassay.properties.hunting.task import claim_of
    from dpassay.properties.hunting.traced import decide

    return decide(target, claim_of(target, claim), neighbours, seed, seconds)


def refuted_exactly(
    target: Any, claim: Claim | None, neighbours: NeighbourRelation, pair: tuple[Any, Any], seconds: float
) -> tuple[bool | None, bool]:
    """Return whether exact arithmetic refutes a claim at a pair that floats refute; None where a trace does not tell.

    The second answer is whether the target keeps something of the traces that could not be removed.

    Parameters
    ----------
    target, claim, neighbours, seconds
        As for `traced`.
    pair : (left, right)
        Two inputs.
    """
    from dpassay.properties.hunting.task import claim_of
    from dpassay.properties.hunting.traced import refuted_exactly as decide

    return decide(target, claim_of(target, claim), neighbours, pair, seconds)


def sent_declaration(target: Any) -> tuple[Declaration, bytes]:
    """Return the declaration of a target, with its claims apart: they may contain functions of the target's module."""
    declared = declaration_of(target)
    return replace(declared, claims=()), pickled(declared.claims, target, "the process that settles the bets")


def received_declaration(sent: tuple[Declaration, bytes]) -> Declaration:
    """Return the declaration of `sent_declaration` in another process as one value.

    Raises
    ------
    UsageError
        If the claims cannot be loaded here.
    """
    declared, claims = sent
    try:
        return replace(declared, claims=pickle.loads(claims))  # noqa: S301  # made by the process started here
    except Exception as error:
        raise UsageError(
            f"the claims that the target declares cannot be loaded here: {type(error).__name__}: {error}"
        ) from error
