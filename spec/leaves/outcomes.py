"""The numbers in an outcome, and its structure without them.

A number may be a function of an affine form (`Image`), such as a rounded one. For an upper bound it is enough that the
form keeps its value. For a lower bound it is not: rounded numbers coincide where their forms differ, and functions
that differ may have common values. `plain` replaces the functions where that is sound.
"""

import math
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import replace
from enum import Enum
from fractions import Fraction
from numbers import Number
from typing import Any

import numpy as np

from dpassay.spec.leaves.model import Affine, Image, LeafModel, NoiseKind, Raised, Step

__all__ = [
    "SLOT",
    "Lattice",
    "UnknownOutcomeError",
    "has_open_bits",
    "plain",
    "released_numbers",
    "skeleton",
    "with_forms",
]

ATOMS = (Number, str, bytes, type(None), Enum, np.generic, Raised)
"""Parts of outcomes in which no affine number can stand."""


SLOT = "number"
"""Stands for a number in the structure of an outcome."""

ROUNDINGS = {"floor": Fraction(0), "ceil": Fraction(0), "rint": Fraction(1, 2)}
"""Functions that are constant between the integers plus an offset, and the offset."""

Lattice = Fraction | None
"""The offset of the places, one for each integer, at which a released number jumps; None where it has no jumps."""


class UnknownOutcomeError(TypeError):
    """Raised for an outcome that holds an object of unknown type, or numbers that cannot be compared."""


def released_numbers(outcome: object) -> list[Affine]:
    """Return the affine numbers in an outcome that are not constant, also those of which a function is released.

    Raises
    ------
    UnknownOutcomeError
        If a part of the outcome is of a type that may hide a number.
    """
    if outcome is None or type(outcome) in {bool, int, float, str}:
        return []
    if isinstance(outcome, Affine):
        return [] if outcome.is_constant else [outcome]
    if isinstance(outcome, Image):
        return released_numbers(outcome.form)
    if isinstance(outcome, Mapping):
        return [number for item in outcome.items() for number in released_numbers(item)]
    if isinstance(outcome, (tuple, list, set, frozenset)):
        return [number for part in outcome for number in released_numbers(part)]
    if not isinstance(outcome, ATOMS):
        raise UnknownOutcomeError(f"an outcome holds a {type(outcome).__name__}, which is not read")
    return []


def with_forms(outcome: Any, change: Callable[[Affine], Affine]) -> Hashable:
    """Return the outcome with other affine forms in place of its own; containers keep their type."""
    if isinstance(outcome, Affine):
        return change(outcome)
    if isinstance(outcome, Image):
        return replace(outcome, form=change(outcome.form))
    if isinstance(outcome, Mapping):
        pairs = {key: with_forms(part, change) for key, part in outcome.items()}
        return type(outcome)(pairs)  # type: ignore[call-arg]
    if isinstance(outcome, tuple | list | set | frozenset):
        kept: tuple[Any, ...] | frozenset[Any] = type(outcome)(with_forms(part, change) for part in outcome)  # type: ignore[assignment]
        return kept
    return outcome  # type: ignore[no-any-return]


def has_open_bits(outcome: object) -> bool:
    """Return whether a number in an outcome may hold noise in its low-order bits, which floats round.

    Rounded numbers, and integers plus integer multiples of noise on a lattice, hold none if the data are integers.
    """
    if isinstance(outcome, Image):
        return not any(step[0] in ROUNDINGS for step in outcome.steps) and has_open_bits(outcome.form)
    if isinstance(outcome, Affine):
        if any(noise.kind is not NoiseKind.GEOMETRIC for noise in outcome.noise):
            return True
        values = (outcome.constant, *outcome.noise.values(), *outcome.data.values())
        return any(value.denominator != 1 for value in values)
    if isinstance(outcome, Mapping):
        return any(has_open_bits(item) for item in outcome.items())
    return isinstance(outcome, tuple | list | set | frozenset) and any(map(has_open_bits, outcome))


def skeleton(outcome: object, *, functions: bool = False) -> tuple[Hashable, tuple[Affine, ...]]:
    """Return the structure of an outcome, and the numbers in it from left to right, constant ones too.

    Two outcomes of the same structure are equal exactly if their numbers are.

    Parameters
    ----------
    outcome : object
        The outcome.
    functions : bool
        Whether functions of affine numbers are accepted. They are a part of the structure then, and outcomes of
        different structure may be equal.

    Raises
    ------
    UnknownOutcomeError
        If a number stands in a set, whose order is lost, a part is of unknown type, or a function is not accepted.
    """
    numbers: list[Affine] = []
    return _structure(outcome, numbers, functions), tuple(numbers)


def _structure(outcome: object, numbers: list[Affine], functions: bool) -> Hashable:  # noqa: PLR0911 - cases
    if isinstance(outcome, Affine):
        numbers.append(outcome)
        return SLOT
    if isinstance(outcome, Image):
        if not functions:
            raise UnknownOutcomeError(f"a function of a noisy number is released: {_words(outcome)}")
        numbers.append(outcome.form)
        return SLOT, outcome.steps
    if isinstance(outcome, (int, float, Fraction, np.integer, np.floating)) and not isinstance(outcome, bool):
        if isinstance(outcome, Fraction) or math.isfinite(outcome):
            plain = outcome.item() if isinstance(outcome, np.generic) else outcome
            numbers.append(Affine(Fraction(plain)))
            return SLOT
        return repr(float(outcome))
    if isinstance(outcome, (tuple, list)):
        return type(outcome).__name__, *(_structure(part, numbers, functions) for part in outcome)
    if isinstance(outcome, Mapping):
        return "mapping", *((key, _structure(part, numbers, functions)) for key, part in outcome.items())
    if released_numbers(outcome):
        raise UnknownOutcomeError("a noisy number stands in a set")
    return type(outcome).__name__, frozenset(outcome) if isinstance(outcome, set) else outcome


def _words(image: Image) -> str:
    return ", then ".join(step[0] for step in image.steps)


# --- functions of numbers -----------------------------------------------------------------------------------


def plain(*models: LeafModel) -> tuple[tuple[LeafModel, ...], Mapping[Hashable, tuple[Lattice, ...]]]:
    """Return models with affine numbers in place of functions of them, and where each number jumps.

    Strictly monotone functions are left out: they are the same bijection in all outcomes of a structure. After a
    rounding as the first function only strictly monotone ones may follow: then two numbers are equal exactly if they
    lie between the same jumps.

    Parameters
    ----------
    *models : LeafModel
        Models that are compared with each other.

    Returns
    -------
    tuple of LeafModel
        The models.
    Mapping of structure to tuple of Lattice
        For each structure, the jumps of each number.

    Raises
    ------
    UnknownOutcomeError
        If different functions, or a function and a constant, are released at one place, a number is rounded after
        another function, or a number without noise is rounded.
    """
    known: dict[Hashable, tuple[tuple[Step, ...], ...]] = {}
    found = []
    for model in models:
        leaves = []
        for leaf in model.leaves:
            outcome, steps = _without_functions(leaf.outcome), tuple(_steps(leaf.outcome))
            if known.setdefault(skeleton(outcome)[0], steps) != steps:
                raise UnknownOutcomeError("different functions of noisy numbers are released at one place")
            leaves.append(replace(leaf, outcome=outcome))
        found.append(replace(model, leaves=tuple(leaves)))
    return tuple(found), {structure: tuple(map(_lattice, steps)) for structure, steps in known.items()}


def _without_functions(outcome: object) -> Hashable:
    if isinstance(outcome, Image):
        if outcome.form.is_constant and _lattice(outcome.steps) is not None:
            raise UnknownOutcomeError("a number that holds no noise is rounded")
        return outcome.form
    if isinstance(outcome, tuple):
        return tuple(map(_without_functions, outcome))
    if isinstance(outcome, list | Mapping):
        raise UnknownOutcomeError(f"an outcome holds a {type(outcome).__name__}, which is not in normal form")
    if released_numbers(outcome) and not isinstance(outcome, Affine):
        raise UnknownOutcomeError("a noisy number stands in a set")
    return outcome


def _steps(outcome: object) -> Iterator[tuple[Step, ...]]:
    """Yield the functions of each number in the order of `skeleton`."""
    if isinstance(outcome, Image):
        yield outcome.steps
    elif isinstance(outcome, tuple):
        for part in outcome:
            yield from _steps(part)
    else:
        yield from ((),) * len(skeleton(outcome)[1])


def _lattice(steps: tuple[Step, ...]) -> Lattice:
    roundings = [place for place, step in enumerate(steps) if step[0] in ROUNDINGS]
    if not roundings:
        return None
    if roundings != [0]:
        raise UnknownOutcomeError("a number is rounded after another function")
    return ROUNDINGS[steps[0][0]]
