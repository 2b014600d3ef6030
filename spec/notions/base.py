"""What a privacy notion is, as a record.

A notion bounds a divergence between the output distributions of neighbouring inputs. It knows which items of
the documents define it, how to decide a claim about two discrete distributions, and which notions follow from
it is stated, with the conversion, in :mod:`dpassay.spec.notions.implications`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from flint import arb

from dpassay.claims import Claim, Item, UsageError
from dpassay.discovery import import_all_below
from dpassay.spec.distributions.discrete import DiscreteDistribution
from dpassay.spec.verdict import Verdict

__all__ = ["Notion", "all_notions", "find_notion", "register", "tightness"]

C = TypeVar("C", bound=Claim)


@dataclass(frozen=True)
class Notion(Generic[C]):
    """One privacy definition.

    Parameters
    ----------
    name : str
        The field's name for it.
    claim_type : type
        The class of its claims.
    definition : str
        The definition in one sentence.
    items : tuple of (source key, item name)
        Items that define it.
    decide : callable
        ``decide(claim, left, right)``: whether the ordered pair of output distributions satisfies the claim.
    """

    name: str
    claim_type: type[C]
    definition: str
    items: tuple[Item, ...]
    decide: Callable[[C, DiscreteDistribution, DiscreteDistribution], Verdict]
    where: str


_NOTIONS: dict[type, "Notion[Claim]"] = {}


def register(notion: "Notion[C]") -> "Notion[C]":
    """Enter a notion; a second one for the same type of claim is refused."""
    if notion.claim_type in _NOTIONS:
        raise ValueError(f"{notion.claim_type.__name__} is defined by {_NOTIONS[notion.claim_type].where} already")
    _NOTIONS[notion.claim_type] = notion  # type: ignore[assignment]  # keyed by the type that makes it sound
    return notion


def all_notions() -> tuple["Notion[Claim]", ...]:
    """Return every notion; imports the modules that define them first."""
    import_all_below("dpassay.spec.notions")
    return tuple(_NOTIONS.values())


def find_notion(claim: Claim) -> "Notion[Claim]":
    """Return the notion that a claim belongs to.

    Raises
    ------
    UsageError
        If no notion is registered for it.
    """
    for notion in all_notions():
        if isinstance(claim, notion.claim_type):
            return notion
    raise UsageError(f"no notion is registered for {claim!r}")


def tightness(bound: arb, truth: arb) -> float | None:
    """Return bound / truth for a reader, where both are positive and finite."""
    if bound > 0 and truth > 0 and truth.is_finite():
        return float((bound / truth).mid())
    return None
