"""The distributions of what the noise primitives of two replayed runs return: the calls as pairs of noise.

Values and scales of a library are float64 numbers. A change within their rounding is none: distances are read a
little smaller, and scales a little larger, so that a loss is one of the ideal mechanism.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from dpassay.claims import UsageError
from dpassay.spec.distributions.noise import NoiseDistribution, NoisePair

__all__ = ["ROUNDING", "moved_noise"]

Calls = Sequence[dict[str, Any]]

ROUNDING = Fraction(1, 2**20)
"""Relative excess that counts as rounding of the account."""

_ROUNDED_SUMS = Fraction(1, 2**40)
"""Error of the values themselves, relative to them: they are sums in float64."""


def moved_noise(calls: Calls, others: Calls) -> tuple[NoisePair, ...] | None:
    """Return the noisy numbers that differ between two runs, as pairs of distributions.

    Parameters
    ----------
    calls, others : sequence of mappings
        The calls of the primitives, as a worker returns them.

    Returns
    -------
    tuple of NoisePair, or None
        None where the calls do not determine the distributions: their numbers or forms differ, what is read of one
        is not a known distribution, or a number is not finite.
    """
    if len(calls) != len(others):
        return None
    moved: list[NoisePair] = []
    for one, two in zip(calls, others, strict=True):
        if _is_same(one, two):
            continue
        pairs = _pairs_of_call(one, two)
        if pairs is None:
            return None
        moved += pairs
    return tuple(moved)


def _is_same(one: dict[str, Any], two: dict[str, Any]) -> bool:
    """Return whether two calls are alike, NaN included, so that their distribution need not be known."""
    return repr(one) == repr(two)


def _pairs_of_call(one: dict[str, Any], two: dict[str, Any]) -> list[NoisePair] | None:
    first, second = _values(one), _values(two)
    scales = _scale(one), _scale(two)
    families = _family(one), _family(two)
    if first is None or second is None or len(first) != len(second) or None in scales or families[0] is None:
        return None
    if families[0] != families[1] or any(one.get(name) != two.get(name) for name in ("low", "high")):
        return None
    widths = _rounded_scales(*scales)  # type: ignore[arg-type]  # None was excluded
    pairs = []
    for left, right in zip(first, second, strict=True):
        near = right if one.get("integer") else _towards(left, right)
        if left == near and widths[0] == widths[1]:
            continue
        made = [_distribution(one, families[0], place, width) for place, width in ((left, widths[0]), (near, widths[1]))]
        if made[0] is None or made[1] is None:
            return None
        pairs.append((made[0], made[1]))
    return pairs


def _values(call: dict[str, Any]) -> list[Fraction] | None:
    values = np.atleast_1d(np.asarray(call["value"], dtype=np.float64)).ravel()
    return [Fraction(x) for x in values.tolist()] if np.isfinite(values).all() else None


def _family(call: dict[str, Any]) -> str | None:
    """Return the family of the distributions; None if the loss of the primitive is all that is known."""
    family, is_integer = call["family"], bool(call.get("integer"))
    if family == "laplace":
        return "discrete laplace" if is_integer else "laplace"
    if family == "gaussian" and not is_integer and not {"low", "high"} & call.keys():
        return "gaussian"
    if family == "bounded" and not is_integer and {"scale", "low", "high"} <= call.keys():
        return "bounded laplace"
    return None


def _scale(call: dict[str, Any]) -> Fraction | None:
    names = ("sensitivity", "epsilon") if call["family"] == "laplace" else ("scale",)
    numbers = [call.get(name) for name in names]
    if not all(isinstance(number, float) and 0 < number < math.inf for number in numbers):
        return None
    exact = [Fraction(number) for number in numbers]  # type: ignore[arg-type]  # all are floats
    return exact[0] / exact[1] if len(exact) == 2 else exact[0]


def _rounded_scales(one: Fraction, two: Fraction) -> tuple[Fraction, Fraction]:
    """Return scales that are a little larger, and equal if they are so up to rounding."""
    larger = max(one, two) * (1 + ROUNDING)
    return (larger, larger) if abs(one - two) <= ROUNDING * max(one, two) else (one, two)


def _towards(left: Fraction, right: Fraction) -> Fraction:
    """Return the right value nearer to the left one by what may be rounding."""
    gap = right - left
    rounding = _ROUNDED_SUMS * max(abs(left), abs(right))
    return left if abs(gap) <= rounding else right - (rounding if gap > 0 else -rounding)


def _distribution(call: dict[str, Any], family: str | None, place: Fraction, width: Fraction) -> NoiseDistribution | None:
    """Return noise about a place; None if it has no such distribution.

    A sum that is clamped has the losses of the sum itself if the place is within the ends: beyond an end the loss is
    constant, so that nothing is lost where it becomes an atom.
    """
    assert family is not None
    low, high = call.get("low"), call.get("high")
    ends = -math.inf if low is None else low, math.inf if high is None else high
    try:
        if family == "bounded laplace":
            return NoiseDistribution(family, place, width, low, high)
        if family == "discrete laplace" and place.denominator != 1:
            return None
        if ends[0] <= place <= ends[1]:
            return NoiseDistribution(family, place, width)
        is_clamped = family == "laplace" and low is not None and high is not None
        return NoiseDistribution("clamped laplace", place, width, low, high) if is_clamped else None
    except UsageError:
        return None
