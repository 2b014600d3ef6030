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

__all__ = ["ROUNDING", "does_not_adapt", "moved_noise"]

Calls = Sequence[dict[str, Any]]

ROUNDING = Fraction(1, 2**20)
"""Relative excess that counts as rounding of the account."""

_ROUNDED_SUMS = Fraction(1, 2**40)
"""Error of the values themselves, relative to them: they are sums in float64."""


def moved_noise(calls: Calls, others: Calls, *, rounded: bool = True) -> tuple[NoisePair, ...] | None:
    """Return the noisy numbers that differ between two runs, as pairs of distributions.

    Parameters
    ----------
    calls, others : sequence of mappings
        The calls of the primitives, as a worker returns them.
    rounded : bool
        Whether distances and scales are read with allowance for rounding, for a lower bound on the loss.

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
        pairs = _pairs_of_call(one, two, rounded)
        if pairs is None:
            return None
        moved += pairs
    return tuple(moved)


def _is_same(one: dict[str, Any], two: dict[str, Any]) -> bool:
    """Return whether two calls are alike, NaN included, so that their distribution need not be known."""
    return repr(one) == repr(two)


def _pairs_of_call(one: dict[str, Any], two: dict[str, Any], rounded: bool) -> list[NoisePair] | None:
    family = _family(one)
    first, second, widths = _values(one), _values(two), _scales(one, two, family, rounded)
    if family is None or family != _family(two) or first is None or second is None or widths is None:
        return None
    if len(first) != len(second) or any(one.get(name) != two.get(name) for name in ("low", "high")):
        return None
    pairs = []
    for left, right in zip(first, second, strict=True):
        near = _towards(left, right) if rounded and not one.get("integer") else right
        if left == near and widths[0] == widths[1]:
            continue
        made = _pair(one, family, (left, near), widths)
        if made is None:
            return None
        pairs.append(made)
    return pairs


def does_not_adapt(runs: Sequence[dict[str, Any]]) -> bool:
    """Return whether the calls of the primitives are the same in several replays, whatever the outputs were.

    Parameters
    ----------
    runs : sequence of mappings
        The replays of one pair, with different outputs.
    """
    return len({repr([run[side][0] for side in ("left", "right")]) for run in runs}) == 1


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
    exact = [Fraction(number) for number in numbers if number is not None]
    return exact[0] / exact[1] if len(exact) == 2 else exact[0]


def _scales(
    one: dict[str, Any], two: dict[str, Any], family: str | None, rounded: bool
) -> tuple[Fraction, Fraction] | None:
    """Return the scales of two calls; rounded a little larger, and equal if they are so up to rounding.

    The loss of bounded noise is not known to fall with its scale, which therefore stays as it is.
    """
    first, second = _scale(one), _scale(two)
    if first is None or second is None:
        return None
    larger = max(first, second)
    if not rounded or family == "bounded laplace" or larger - min(first, second) > ROUNDING * larger:
        return first, second
    return larger * (1 + ROUNDING), larger * (1 + ROUNDING)


def _towards(left: Fraction, right: Fraction) -> Fraction:
    """Return the right value nearer to the left one by what may be rounding."""
    gap = right - left
    rounding = _ROUNDED_SUMS * max(abs(left), abs(right))
    return left if abs(gap) <= rounding else right - (rounding if gap > 0 else -rounding)


def _pair(
    call: dict[str, Any], family: str, places: tuple[Fraction, Fraction], widths: tuple[Fraction, Fraction]
) -> NoisePair | None:
    """Return noise about two places; None if it has no such distribution.

    Sums that are clamped have the losses of the sums themselves if the places lie between the ends and the scales are
    equal: beyond an end the loss is constant, so that nothing is lost where it becomes an atom.
    """
    low, high = call.get("low"), call.get("high")
    ends: tuple[float | None, float | None] = (None, None)
    if family == "bounded laplace":
        ends = low, high
    elif not all((low is None or low <= x) and (high is None or x <= high) for x in places) or (
        widths[0] != widths[1] and (low is not None or high is not None)
    ):
        if family != "laplace" or low is None or high is None:
            return None
        family, ends = "clamped laplace", (low, high)
    if family == "discrete laplace" and any(x.denominator != 1 for x in places):
        return None
    try:
        one, two = (NoiseDistribution(family, x, width, *ends) for x, width in zip(places, widths, strict=True))
    except UsageError:  # ends without room between them
        return None
    return one, two
