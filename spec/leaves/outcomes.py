"""The numbers in an outcome, and its structure without them."""

import math
from collections.abc import Hashable, Mapping
from enum import Enum
from fractions import Fraction
from numbers import Number

import numpy as np

from dpassay.spec.leaves.model import Affine

__all__ = ["SLOT", "UnknownOutcomeError", "released_numbers", "skeleton"]

ATOMS = (Number, str, bytes, type(None), Enum, np.generic)
"""Parts of outcomes in which no affine number can stand."""


SLOT = "number"
"""Stands for a number in the structure of an outcome."""


class UnknownOutcomeError(TypeError):
    """Raised for an outcome that holds an object of unknown type."""


def released_numbers(outcome: object) -> list[Affine]:
    """Return the affine numbers in an outcome that are not constant.

    Raises
    ------
    UnknownOutcomeError
        If a part of the outcome is of a type that may hide a number.
    """
    if outcome is None or type(outcome) in {bool, int, float, str}:
        return []
    if isinstance(outcome, Affine):
        return [] if outcome.is_constant else [outcome]
    if isinstance(outcome, Mapping):
        return [number for item in outcome.items() for number in released_numbers(item)]
    if isinstance(outcome, (tuple, list, set, frozenset)):
        return [number for part in outcome for number in released_numbers(part)]
    if not isinstance(outcome, ATOMS):
        raise UnknownOutcomeError(f"an outcome holds a {type(outcome).__name__}, which is not read")
    return []


def skeleton(outcome: object) -> tuple[Hashable, tuple[Affine, ...]]:
    """Return the structure of an outcome, and the numbers in it from left to right, constant ones too.

    Two outcomes of the same structure are equal exactly if their numbers are.

    Raises
    ------
    UnknownOutcomeError
        If a number stands in a set, whose order is lost, or a part is of unknown type.
    """
    numbers: list[Affine] = []
    return _structure(outcome, numbers), tuple(numbers)


def _structure(outcome: object, numbers: list[Affine]) -> Hashable:
    if isinstance(outcome, Affine):
        numbers.append(outcome)
        return SLOT
    if isinstance(outcome, (int, float, Fraction, np.integer, np.floating)) and not isinstance(outcome, bool):
        if isinstance(outcome, Fraction) or math.isfinite(outcome):
            plain = outcome.item() if isinstance(outcome, np.generic) else outcome
            numbers.append(Affine(Fraction(plain)))
            return SLOT
        return repr(float(outcome))
    if isinstance(outcome, (tuple, list)):
        return type(outcome).__name__, *(_structure(part, numbers) for part in outcome)
    if isinstance(outcome, Mapping):
        return "mapping", *((key, _structure(part, numbers)) for key, part in outcome.items())
    if released_numbers(outcome):
        raise UnknownOutcomeError("a noisy number stands in a set")
    return type(outcome).__name__, frozenset(outcome) if isinstance(outcome, set) else outcome
