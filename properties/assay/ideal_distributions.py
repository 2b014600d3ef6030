"""Certified losses of the ideal distributions that an adapter states for the parameters of a mechanism.

Where a closed form is known the figure is that of the two distributions; else it is a lower bound through finitely
many cells, which is all that a violation needs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb

from dpassay.arguments import UsageError
from dpassay.claims import Claim
from dpassay.properties.outcomes.batch import Outcomes
from dpassay.properties.outcomes.symbols import comparable
from dpassay.spec.ball import exact
from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.distributions.noise import FAMILIES, NoiseDistribution
from dpassay.spec.notions.base import find_notion

__all__ = ["IdealDistribution", "UnreadableLawError", "ideal_distribution", "ideal_loss", "is_decided"]


@dataclass(frozen=True)
class IdealDistribution:
    """The distribution of an outcome: independent noisy coordinates, or finitely many symbols.

    Parameters
    ----------
    coordinates : tuple of NoiseDistribution
        Empty for a finite distribution.
    finite : FiniteDistribution, optional
        The distribution on symbols.
    is_vector : bool
        Whether an outcome is a sequence of its coordinates, even of one.
    """

    coordinates: tuple[NoiseDistribution, ...] = ()
    finite: FiniteDistribution | None = None
    is_vector: bool = False


class UnreadableLawError(UsageError):
    """The ideal distribution that an adapter states is none."""


_FINITE_WORDS = ("family", "symbols", "probabilities")
_NOISE_WORDS = ("family", "location", "scale", "low", "high")


def ideal_distribution(words: Mapping[str, Any]) -> IdealDistribution:
    """Read a distribution as an adapter states it.

    Raises
    ------
    UnreadableLawError
        If it is no mapping, the family or a parameter is unknown, or a parameter is missing.
    UsageError
        If a parameter is out of its domain.
    """
    if not isinstance(words, Mapping):
        raise UnreadableLawError(f"law must return a mapping with a family and its parameters, got {words!r}")
    family = words.get("family")
    accepted = _FINITE_WORDS if family == "finite" else _NOISE_WORDS
    strangers = [name for name in words if name not in accepted]
    if strangers:
        raise UnreadableLawError(f"law must return only {', '.join(accepted)}, got {', '.join(map(repr, strangers))}")
    try:
        if family == "finite":
            return IdealDistribution(finite=_finite(words["symbols"], words["probabilities"]))
        if family in FAMILIES:
            return _noisy(str(family), words["location"], words["scale"], words.get("low"), words.get("high"))
    except KeyError as error:
        raise UnreadableLawError(f"a distribution of the family {family!r} lacks {error.args[0]!r}") from None
    raise UnreadableLawError(f"family must be one of {', '.join((*FAMILIES, 'finite'))}, got {family!r}")


def _finite(symbols: Sequence[Any], probabilities: Sequence[Any]) -> FiniteDistribution:
    weights: dict[Any, Fraction] = {}
    for symbol, weight in zip(Outcomes.of(list(symbols)).atoms(), probabilities, strict=True):
        weights[comparable(symbol)] = weights.get(comparable(symbol), Fraction(0)) + exact("probabilities", weight)
    total = sum(weights.values(), Fraction(0))
    if total <= 0:
        raise UsageError(f"probabilities must have a positive sum, got {probabilities!r}")
    return FiniteDistribution({symbol: weight / total for symbol, weight in weights.items()})


def _noisy(family: str, location: Any, scale: Any, low: Any, high: Any) -> IdealDistribution:
    is_vector = isinstance(location, (tuple, list, np.ndarray))
    places = [_plain(x) for x in location] if is_vector else [_plain(location)]
    scales = (
        [_plain(x) for x in scale] if isinstance(scale, (tuple, list, np.ndarray)) else [_plain(scale)] * len(places)
    )
    if len(scales) != len(places):
        raise UsageError(f"a distribution needs as many scales as locations, got {len(scales)} and {len(places)}")
    distributions = (
        NoiseDistribution(family, place, width, _plain(low), _plain(high))
        for place, width in zip(places, scales, strict=True)
    )
    return IdealDistribution(tuple(distributions), is_vector=is_vector)


def _plain(number: Any) -> Any:
    return number.item() if isinstance(number, np.generic) else number


# --- the loss that a claim bounds ---------------------------------------------------------------------------


def ideal_loss(claim: Claim, left: IdealDistribution, right: IdealDistribution) -> arb:
    """Enclose the quantity that the claim bounds, for the left over the right, or a lower bound on it.

    Parameters
    ----------
    claim : Claim
        One that `is_decided`.
    left, right : IdealDistribution
        The distributions on two neighbouring inputs.

    Raises
    ------
    UsageError
        If the distributions have different numbers of coordinates, or one is finite and one is not.
    """
    if left.finite is not None and right.finite is not None:
        return find_notion(claim).divergence(claim, left.finite, right.finite)
    if len(left.coordinates) != len(right.coordinates) or not left.coordinates:
        raise UsageError("the distributions of neighbouring inputs must have the same form")
    moved = [(a, b) for a, b in zip(left.coordinates, right.coordinates, strict=True) if a != b]
    if not moved:
        return arb(0)
    of_noise = find_notion(claim).of_noise
    if of_noise is None:
        raise UsageError(f"no certified loss is known for {claim!r}")
    return of_noise(claim, moved)


def is_decided(claim: Claim) -> bool:
    """Return whether `ideal_loss` is known for claims of this kind."""
    return find_notion(claim).of_noise is not None
