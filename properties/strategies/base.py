"""Strategies for exact numbers: corners, neighbourhoods of corners, all orders of magnitude."""

import math
from fractions import Fraction
from functools import singledispatch
from typing import Any

from hypothesis import strategies as st

from dpassay.spec.domains.base import Choices, Domain, Integers, Reals

__all__ = ["exact_reals", "log_integers", "members_of", "strategy_for"]


@singledispatch
def strategy_for(domain: Domain) -> st.SearchStrategy[Any]:
    """Return a strategy that draws members of a domain."""
    raise NotImplementedError(f"no strategy is registered for {type(domain).__name__}; see docs/extending.md")


@strategy_for.register
def _(domain: Choices) -> st.SearchStrategy[Any]:
    return st.sampled_from(domain.values)


@strategy_for.register
def _(domain: Integers) -> st.SearchStrategy[Any]:
    plain = log_integers(domain.low, domain.high) if domain.logarithmic else st.integers(domain.low, domain.high)
    return st.one_of(st.sampled_from(domain.corners), plain) if domain.corners else plain


@strategy_for.register
def _(domain: Reals) -> st.SearchStrategy[Any]:
    low, high = Fraction(domain.low), Fraction(domain.high)
    plain = exact_reals(low, high, logarithmic=domain.logarithmic)
    corners = [Fraction(corner) for corner in domain.corners]
    return st.one_of(st.sampled_from(corners), plain) if corners else plain


@singledispatch
def members_of(domain: Domain, most: int) -> list[Any] | None:
    """Return the members of a finite domain, the simplest first; None if it is infinite or has more than `most`.

    Examples
    --------
    >>> members_of(Integers("a shift", -2, 1), 100)
    [0, 1, -1, -2]
    """
    return None


@members_of.register
def _(domain: Choices, most: int) -> list[Any] | None:
    return list(domain.values) if len(domain.values) <= most else None


@members_of.register
def _(domain: Integers, most: int) -> list[Any] | None:
    if domain.high - domain.low >= most:
        return None
    return sorted(range(domain.low, domain.high + 1), key=lambda member: (abs(member), member < 0))


@members_of.register
def _(domain: Reals, most: int) -> list[Any] | None:
    return [Fraction(domain.low)] if most and domain.low == domain.high else None


def log_integers(low: int, high: int) -> st.SearchStrategy[int]:
    """Draw integers in [low, high], uniformly in order of magnitude, shrinking to `low`."""

    @st.composite
    def draw_integer(draw: st.DrawFn) -> int:
        bits = draw(st.integers(0, max(high - low, 1).bit_length()))
        return min(low + draw(st.integers(0, 2**bits - 1 if bits else 0)), high)

    return draw_integer()


def exact_reals(
    low: Fraction, high: Fraction, *, logarithmic: bool = False, digits: int = 4
) -> st.SearchStrategy[Fraction]:
    """Draw exact rationals in [low, high], with short representations.

    Parameters
    ----------
    low, high : Fraction
        Bounds, both included and both drawn.
    logarithmic : bool
        Whether orders of magnitude are drawn equally often (needs low > 0).
    digits : int
        Number of decimal digits of the position between the bounds, or of the mantissa.
    """
    if low == high:
        return st.just(low)
    scale = 10**digits
    if not logarithmic:
        return st.integers(0, scale).map(lambda k: low + (high - low) * Fraction(k, scale))
    decades = math.log10(high / low) if high / low < 10**300 else 300.0

    def magnitude(k: int) -> Fraction:
        value = Fraction(f"{float(low) * 10 ** (decades * k / scale):.{digits}g}")
        return min(max(value, low), high)

    return st.integers(0, scale).map(magnitude)
