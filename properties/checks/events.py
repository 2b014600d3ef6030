"""A law for mechanisms with continuous outcomes: the claim at the pairs and events that are known to be the worst.

A hunt has to find pair and event; where theory names them, the claim is tested there directly, by fresh samples and
exact binomial limits. The events are registered for a family of mechanisms, mutants included.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import Claim
from dpassay.discovery import import_all_below
from dpassay.lazy import special
from dpassay.mechanism import ClaimedMechanism
from dpassay.properties.notions.base import epsilon_delta_of, families_of

__all__ = ["KnownEvent", "implied_points", "known_events", "privacy_at_known_events", "register_events"]

Array = NDArray[np.float64]

LEVEL = 1e-10
"""The probability that a correct mechanism is accused."""

DRAWS = 200_000
"""Outcomes for each input of a pair."""


@dataclass(frozen=True)
class KnownEvent:
    """A pair of neighbours with an event that is likelier on the left: from rows of outcomes to truth values."""

    left: Array
    right: Array
    event: Callable[[NDArray[Any]], NDArray[np.bool_]]


Events = Callable[[Any], Iterable[KnownEvent]]
_EVENTS: dict[type, Events] = {}


def register_events(mechanism_type: type, events: Events) -> None:
    """Declare the worst events of a family of mechanisms; they are tried on subtypes, too.

    Raises
    ------
    ValueError
        If the type has some already.
    """
    if mechanism_type in _EVENTS:
        raise ValueError(f"{mechanism_type.__name__} has events already")
    _EVENTS[mechanism_type] = events


@cache
def _import_pairing() -> None:
    import_all_below("dpassay.properties.pairing")


def known_events(mechanism: Any) -> list[KnownEvent]:
    """Return the events of all types that the mechanism is an instance of."""
    _import_pairing()
    return [event for kind, events in _EVENTS.items() if isinstance(mechanism, kind) for event in events(mechanism)]


def implied_points(claim: Claim) -> list[tuple[float, float]]:
    """Return the (epsilon, delta) statements that are tested: the claim's own, or points of the curve it implies."""
    own = epsilon_delta_of(claim)
    if own is not None:
        return [own]
    family = families_of(claim)[-1]
    return list(zip(family.epsilon[family.claimed].tolist(), family.delta[family.claimed].tolist(), strict=True))


def privacy_at_known_events(mechanism: ClaimedMechanism, *, draws: int = DRAWS, seed: int = 0) -> bool:
    """Return whether no known event refutes the first claim.

    Clopper and Pearson's limits for each probability; a right mechanism is accused with probability at most 1e-10,
    whatever the number of events. Mechanisms without known events obey vacuously.
    """
    events, points = known_events(mechanism), implied_points(mechanism.claims[0])
    rng = np.random.default_rng(seed)
    level = LEVEL / (2 * max(1, len(events)))
    for known in events:
        left, right = (
            int(known.event(np.asarray(mechanism.sample(data, draws, rng))).sum())
            for data in (known.left, known.right)
        )
        least = special.betaincinv(left, draws - left + 1, level) if left else 0.0
        most = special.betainccinv(right + 1, draws - right, level) if right < draws else 1.0
        with np.errstate(over="ignore"):
            if any(least > np.exp(epsilon) * most + delta for epsilon, delta in points):
                return False
    return True
