"""Domains: the sets over which statements quantify, as data.

A domain is a sentence for the reader, a predicate, and bounds. How to draw adversarial members of a domain is
not mathematics and lives in :mod:`dpassay.properties.strategies`, keyed by the type of the domain.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpassay.spec.ball import Exact

__all__ = ["Choices", "Domain", "Integers", "Reals"]


@dataclass(frozen=True)
class Domain:
    """A set, described by a sentence; subclasses add the predicate and the data for drawing members."""

    sentence: str

    def contains(self, value: Any) -> bool:
        """Return whether `value` is a member."""
        raise NotImplementedError

    def complaint(self) -> str:
        """Return what is wrong with the data of the domain and what is accepted; empty if nothing is."""
        return ""


@dataclass(frozen=True)
class Reals(Domain):
    """Exact reals in [low, high].

    Parameters
    ----------
    low, high : int, float or Fraction
        Bounds, both included.
    corners : tuple
        Members at which theorems are tight or break; they are tried first.
    logarithmic : bool
        Whether orders of magnitude matter more than differences (needs low > 0).
    """

    low: Exact
    high: Exact
    corners: tuple[Exact, ...] = ()
    logarithmic: bool = False

    def contains(self, value: Any) -> bool:
        """Return whether `value` is an exact number between the bounds."""
        return isinstance(value, (int, float, Fraction)) and self.low <= value <= self.high

    def complaint(self) -> str:
        """Return what is wrong with the bounds or the corners."""
        return _interval_complaint(self)


@dataclass(frozen=True)
class Integers(Domain):
    """Integers in [low, high]; the parameters are those of `Reals`."""

    low: int
    high: int
    corners: tuple[int, ...] = ()
    logarithmic: bool = False

    def contains(self, value: Any) -> bool:
        """Return whether `value` is an integer between the bounds."""
        return isinstance(value, int) and not isinstance(value, bool) and self.low <= value <= self.high

    def complaint(self) -> str:
        """Return what is wrong with the bounds or the corners."""
        return _interval_complaint(self)


@dataclass(frozen=True)
class Choices(Domain):
    """A finite set of values."""

    values: tuple[Hashable, ...]

    def contains(self, value: Any) -> bool:
        """Return whether `value` is one of them."""
        return value in self.values

    def complaint(self) -> str:
        """Return whether there are no values, in words."""
        return "" if self.values else "must have at least one value, got none"


def _interval_complaint(domain: Reals | Integers) -> str:
    if not domain.low <= domain.high:
        return f"must have low <= high, got low {domain.low} and high {domain.high}: it is empty"
    outside = [corner for corner in domain.corners if not domain.contains(corner)]
    if outside:
        return f"must have its corners in [{domain.low}, {domain.high}], got {', '.join(map(str, outside))}"
    if isinstance(domain, Reals) and domain.logarithmic and domain.low <= 0:
        return f"must have low > 0 to be logarithmic, got low {domain.low}"
    return ""
