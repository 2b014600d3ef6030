"""The record of a privacy notion for the audit.

The divergence that a notion bounds and its decision are stated in :mod:`dpassay.spec.notions`. The record here adds
the (epsilon, delta) statements that the game bets against, the reference mechanism that measures the power of a test
and the labels under which bounds are printed.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from dpassay.arguments import UsageError, rounded_up
from dpassay.claims import Claim
from dpassay.properties.betting.families import ClaimFamily
from dpassay.properties.betting.scales import Scale
from dpassay.properties.notions.bounds import Bound
from dpassay.registry import Registry, place_of

if TYPE_CHECKING:
    from dpassay.properties.hunting.result import HuntResult

__all__ = [
    "AuditedNotion",
    "all_audited",
    "audited",
    "bounds_of",
    "composed_claim",
    "decisive_bound",
    "epsilon_delta_of",
    "families_of",
    "quantity",
    "register",
    "times",
    "times_root",
]

C = TypeVar("C", bound=Claim)
Label = tuple[str, float | None]
"""The words for a quantity, and the value that the claim allows."""


@dataclass(frozen=True)
class AuditedNotion(Generic[C]):
    """One notion, for claims with float64 parameters.

    Parameters
    ----------
    claim_type : type
        The class of its claims.
    families : callable
        ``families(claim)``: the families whose lower bounds are reported; at most one of them contains the claim.
    labels : callable
        ``labels(claim)``: for each quantity that is reported, its words and the value that the claim allows.
    divergence : str
        The quantity that the divergence of the notion is, in an exact search.
    decisive : callable
        ``decisive(claim, result)``: the quantity whose bound shows that the claim is violated.
    scales : callable
        ``scales(claim, family)``: the reference mechanisms by which the power of a test is measured, for the family
        that contains the claim; none if no reference is known.
    reference : str or None
        The name of the reference mechanism.
    point : callable
        ``point(claim)``: the (epsilon, delta) that the claim states or directly implies, or None.
    compares_pairs : bool
        Whether the game bets on pairs of calls, which is exact for the range of the losses.
    composed : callable
        ``composed(claim, count)``: the claim that `count` independent releases satisfy if each satisfies the claim,
        with exact parameters or such as are rounded up; None if no rule is known.
    moments : callable
        ``moments(claim)``: the (alpha, epsilon) of bounds on Renyi divergences that the claim states, which are bet
        against beside its (epsilon, delta) curve.
    """

    claim_type: type[C]
    families: Callable[[C], list[ClaimFamily]]
    labels: Callable[[C], dict[str, Label]]
    divergence: str
    decisive: Callable[[C, "HuntResult"], Bound]
    scales: Callable[[C, ClaimFamily], list[Scale]]
    reference: str | None
    point: Callable[[C], tuple[float, float] | None] = lambda _: None
    compares_pairs: bool = False
    moments: Callable[[C], tuple[tuple[float, float], ...]] = lambda _: ()
    composed: Callable[[C, int], Claim | None] = lambda _claim, _count: None


_AUDITED: Registry[type, "AuditedNotion[Claim]"] = Registry(
    "notion of the claim", "dpassay.properties.notions", where=lambda notion: place_of(notion.families)
)


def register(notion: "AuditedNotion[C]") -> "AuditedNotion[C]":
    """Enter a notion; a second one for the same type of claim is refused."""
    _AUDITED.enter(notion.claim_type, notion)  # type: ignore[arg-type]  # keyed by the type that makes it sound
    return notion


def all_audited() -> tuple["AuditedNotion[Claim]", ...]:
    """Return every notion; imports the modules that register them first."""
    return tuple(_AUDITED)


def audited(claim: Claim) -> "AuditedNotion[Claim]":
    """Return the notion of a claim.

    Raises
    ------
    UsageError
        If no notion is registered for it.
    """
    return _AUDITED.find(type(claim))


@lru_cache(maxsize=64)
def _families(claim: Claim) -> tuple[ClaimFamily, ...]:
    return tuple(audited(claim).families(claim))


def families_of(claim: Claim) -> list[ClaimFamily]:
    """Return the families whose lower confidence bounds are reported for a claim."""
    return list(_families(claim.in_float64()))


def epsilon_delta_of(claim: Claim) -> tuple[float, float] | None:
    """Return the (epsilon, delta) that the claim states or implies directly; None if there is none."""
    return audited(claim).point(claim.in_float64())


def composed_claim(claim: Claim, count: int) -> Claim:
    """Return the claim for `count` independent releases, each of which satisfies the claim.

    Raises
    ------
    UsageError
        If no rule of composition is known for the notion.
    """
    if count == 1:
        return claim
    composed = audited(claim).composed(claim, count)
    if composed is None:
        raise UsageError(f"session must be 1 for the claim {claim}: no rule of composition is known for it")
    return composed


def times(count: int, value: float) -> Any:
    """Return a multiple of a parameter: exact for an exact ratio, rounded up for a float."""
    exact = count * Fraction(value)
    return exact if isinstance(value, Fraction) else rounded_up(exact)


def times_root(count: int, value: float) -> float:
    """Return the square root of `count` times a parameter, rounded up."""
    return rounded_up(Fraction(math.nextafter(math.sqrt(count), math.inf)) * Fraction(value))


# --- bounds -------------------------------------------------------------------------------------------------


def bounds_of(claim: Claim, lower: Mapping[str, float], epsilon_upper: float | None = None) -> tuple[Bound, ...]:
    """Return the bounds on the quantities of a claim, given the lower ones, in the order of its labels."""
    uppers = {"epsilon": epsilon_upper}
    labels = audited(claim).labels(claim.in_float64())
    return tuple(
        Bound(name, lower[name], uppers.get(name), allowed, label)
        for name, (label, allowed) in labels.items()
        if name in lower
    )


def decisive_bound(claim: Claim, result: "HuntResult") -> Bound:
    """Return the bound that shows a violation; its `lower` is None where a verdict rests on no single value."""
    return audited(claim).decisive(claim.in_float64(), result)


def quantity(name: str) -> Callable[[Claim, "HuntResult"], Bound]:
    """Return the choice of one quantity as the decisive one.

    The value is left out where it is not known, and where an excess is not positive: then the verdict rests on more.
    """

    def chosen(claim: Claim, result: "HuntResult") -> Bound:
        label, allowed = audited(claim).labels(claim)[name]
        found = next((bound for bound in result.bounds if bound.quantity == name), None)
        shows_it = found is not None and found.lower is not None and (allowed is None or found.lower > allowed)
        return (
            found if found is not None and (shows_it or name != "excess") else Bound(name, None, None, allowed, label)
        )

    return chosen


def at_delta(epsilon: float, delta: float) -> float:
    """Return the epsilon at delta of the Laplace mechanism whose pure epsilon is given."""
    return max(0.0, epsilon + 2 * math.log1p(-delta)) if delta < 1 else math.inf
