"""The record of a privacy notion and its registry.

A notion bounds a divergence between the output distributions of neighbouring inputs. Its record names the items of
the documents that define it, encloses the divergence of two discrete distributions and decides a claim about them.
Which notions follow from it is stated, with the conversions, in :mod:`dpassay.spec.notions.implications`.

The float64 parameter of a claim may itself be a rounded number. A test reads a claim as `enlarged`: with its bound
larger by the relative `ALLOWANCE`, exactly.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, TypeVar

from flint import arb

from dpassay.claims import Claim
from dpassay.registry import Item, Registry, address_in
from dpassay.spec.ball import float_lower
from dpassay.spec.distributions.discrete import DiscreteDistribution, privacy_loss
from dpassay.spec.distributions.noise import NoisePair
from dpassay.spec.verdict import Verdict

__all__ = [
    "ALLOWANCE",
    "Notion",
    "all_notions",
    "allowed",
    "find_notion",
    "grown",
    "largest_loss_event",
    "losses_beyond",
    "register",
    "tightness",
]

ALLOWANCE = Fraction(1, 2**50)
"""The relative allowance for the rounding of a claim's own parameter."""

C = TypeVar("C", bound=Claim)
Event = tuple[Hashable, ...]


def grown(value: float) -> Any:
    """Return a parameter enlarged by `ALLOWANCE`, exactly.

    Examples
    --------
    >>> grown(1.0) - 1 == ALLOWANCE
    True
    """
    return Fraction(value) * (1 + ALLOWANCE)


def largest_loss_event(_claim: Claim, left: DiscreteDistribution, right: DiscreteDistribution) -> Event:
    """Return the outcome of the left with the largest privacy loss, as an event."""
    losses = _certified_losses(left, right)
    return (max(losses, key=losses.__getitem__),)


def losses_beyond(epsilon: float, left: DiscreteDistribution, right: DiscreteDistribution) -> Event:
    """Return the outcomes whose loss certainly exceeds epsilon, or the one with the largest loss if there are none."""
    losses = _certified_losses(left, right)
    beyond = tuple(outcome for outcome, loss in losses.items() if loss > epsilon)
    return beyond or (max(losses, key=losses.__getitem__),)


def _certified_losses(left: DiscreteDistribution, right: DiscreteDistribution) -> dict[Hashable, float]:
    possible = (o for o in left.outcomes if left.log_probability(o) != arb.neg_inf())
    return {outcome: float_lower(privacy_loss(left, right, outcome)) for outcome in possible}


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
    divergence : callable
        ``divergence(claim, left, right)``: an enclosure of the quantity that the claim bounds, for the left over the
        right. It ranks pairs and is reported; `decide` alone decides.
    bound : callable
        ``bound(claim)``: the largest divergence that the claim allows.
    enlarged : callable
        ``enlarged(claim)``: the claim with its bound enlarged by `ALLOWANCE`, exactly.
    event : callable
        ``event(claim, left, right)``: outcomes that show a large divergence; by default the one with the largest loss.
    over_all_orders : bool
        Whether `decide` goes through a continuum of orders: then more digits of the probabilities do not help, while
        rational probabilities may.
    through_cells : callable
        ``through_cells(claim)``: the claim that follows of the outcomes after post-processing: the claim itself, where
        it survives that.
    of_noise : callable, optional
        ``of_noise(claim, moved)``: the divergence of independent noise, or a lower bound on it. `moved` are the pairs
        of distributions of the coordinates that differ, at least one.
    of_noise_upper : callable, optional
        The same as an upper bound, or None where none is known.
    """

    name: str
    claim_type: type[C]
    definition: str
    items: tuple[Item, ...]
    decide: Callable[[C, DiscreteDistribution, DiscreteDistribution], Verdict]
    divergence: Callable[[C, DiscreteDistribution, DiscreteDistribution], arb]
    bound: Callable[[C], arb]
    enlarged: Callable[[C], C]
    event: Callable[[C, DiscreteDistribution, DiscreteDistribution], Event] = largest_loss_event
    over_all_orders: bool = False
    through_cells: Callable[[C], Claim] = lambda claim: claim
    of_noise: Callable[[C, Sequence[NoisePair]], arb] | None = None
    of_noise_upper: Callable[[C, Sequence[NoisePair]], arb | None] | None = None

    @property
    def where(self) -> str:
        """The address of the notion: its name in the module of its decision."""
        return address_in(self.decide.__module__, self)


_NOTIONS: Registry[type, "Notion[Claim]"] = Registry(
    "notion of the claim", "dpassay.spec.notions", where=lambda notion: notion.where
)


def register(notion: "Notion[C]") -> "Notion[C]":
    """Register a notion; a second notion for the same type of claim is an error."""
    _NOTIONS.enter(notion.claim_type, notion)  # type: ignore[arg-type]  # keyed by the type that makes it sound
    return notion


def all_notions() -> tuple["Notion[Claim]", ...]:
    """Return every notion; imports the modules that define them first."""
    return tuple(_NOTIONS)


def find_notion(claim: Claim) -> "Notion[Claim]":
    """Return the notion of a claim.

    Raises
    ------
    UsageError
        If no notion is registered for it.
    """
    return _NOTIONS.find(type(claim))


def allowed(claim: Claim) -> arb:
    """Enclose the largest divergence that a claim allows, its own rounding included."""
    notion = find_notion(claim)
    return notion.bound(notion.enlarged(claim))


def tightness(bound: arb, truth: arb) -> float | None:
    """Return bound / truth as a float if both are positive and finite, else None."""
    if bound > 0 and truth > 0 and truth.is_finite():
        return float((bound / truth).mid())
    return None
