"""The distributions of what the noise primitives of two replayed runs return: the calls as pairs of noise.

Values and scales of a library are float64 numbers. For a lower bound on the loss a change within their rounding is
none: distances are read a little smaller, and scales a little larger.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from dpassay.arguments import UsageError
from dpassay.spec.distributions.noise import NoiseDistribution, NoisePair

__all__ = ["ROUNDING", "does_not_adapt", "moved_noise"]

Calls = Sequence[dict[str, Any]]

ROUNDING = Fraction(1, 2**20)
"""Relative excess that counts as rounding of the account."""

_ROUNDED_SUMS = Fraction(1, 2**40)
"""Error of the values themselves, relative to them: they are sums in float64."""


def moved_noise(calls: Calls, others: Calls, *, upper: bool = False) -> tuple[NoisePair, ...] | None:
    """Return the noisy numbers that differ between two runs, as pairs of distributions.

    Parameters
    ----------
    calls, others : sequence of mappings
        The calls of the primitives, as a worker returns them.
    upper : bool
        Whether an upper bound on the loss is asked: then nothing is rounded, and sums that are folded into a range
        count as the sums themselves. Otherwise the distributions are those of the outputs.

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
        pairs = _pairs_of_call(one, two, upper)
        if pairs is None:
            return None
        moved += pairs
    return tuple(moved)


def _is_same(one: dict[str, Any], two: dict[str, Any]) -> bool:
    """Return whether two calls are alike, NaN included, so that their distribution need not be known."""
    return repr(one) == repr(two)


def _pairs_of_call(one: dict[str, Any], two: dict[str, Any], upper: bool) -> list[NoisePair] | None:
    if any(one.get(name) != two.get(name) for name in ("low", "high", "integer", "folded")):
        return None
    if one.get("folded") and not upper:
        return None
    family, (first, second), scales = _family(one), map(_values, (one, two)), (_scale(one), _scale(two))
    if family is None or family != _family(two) or first is None or second is None or len(first) != len(second):
        return None
    pairs = []
    for places in zip(first, second, strict=True):
        if scales[0] == scales[1] and (places[0] == places[1] or (not upper and _gap(one, places) == 0)):
            continue
        made = _pair(one, family, places, scales, upper)
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


def _gap(call: dict[str, Any], places: tuple[Fraction, Fraction]) -> Fraction:
    """Return the distance of two places without what may be rounding; integers are exact."""
    rounding = 0 if call.get("integer") else _ROUNDED_SUMS * max(map(abs, places))
    return max(Fraction(0), abs(places[1] - places[0]) - rounding)


def _pair(
    call: dict[str, Any],
    family: str,
    places: tuple[Fraction, Fraction],
    scales: tuple[Fraction | None, Fraction | None],
    upper: bool,
) -> NoisePair | None:
    """Return noise about two places; None if it has no such distribution.

    Sums that are clamped have the losses of the sums themselves if the places lie between the ends and the scales are
    equal: beyond an end the loss is constant, so that nothing is lost where it becomes an atom. Of noise without ends
    nothing but distance and scale matters. The loss of noise with ends is not known to fall with its scale, so that
    nothing is rounded there.
    """
    first, second = scales
    if first is None or second is None:
        return None
    low, high = call.get("low"), call.get("high")
    has_ends = (low is not None or high is not None) and not call.get("folded")
    is_within = all((low is None or low <= x) and (high is None or x <= high) for x in places)
    if family == "bounded laplace" or (has_ends and not (is_within and first == second)):
        if low is None or high is None or family == "discrete laplace":
            return None
        name = "bounded laplace" if family == "bounded laplace" else "clamped laplace"
        return _made(name, places, scales, low, high)
    if family == "discrete laplace" and any(x.denominator != 1 for x in places):
        return None
    distance, larger = abs(places[1] - places[0]) if upper else _gap(call, places), max(first, second)
    if not upper and larger - min(first, second) <= ROUNDING * larger:
        first = second = larger * (1 + ROUNDING)
    return _made(family, (Fraction(0), distance), (first, second))


def _made(
    family: str, places: Sequence[Fraction], scales: Sequence[Fraction | None], *ends: float
) -> NoisePair | None:
    """Return two distributions; None where the ends leave no room between them."""
    try:
        one, two = (
            NoiseDistribution(family, x, width, *ends) for x, width in zip(places, scales, strict=True) if width
        )
    except UsageError:
        return None
    return one, two
