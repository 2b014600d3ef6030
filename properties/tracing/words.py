"""Leaves, constraints and outcomes in words."""

from collections.abc import Hashable
from fractions import Fraction
from typing import Any

from dpassay.spec.leaves.model import Affine, Constraint, Image, Leaf, Raised

__all__ = ["affine_words", "leaf_record", "outcome_words"]


def affine_words(form: Affine) -> str:
    """Return a form in words, such as ``0.5 + 2 laplace[0] - x[1]``."""
    parts = [(value, f"{noise.kind.value}[{noise.position}]") for noise, value in form.noise.items()]
    parts += [(value, f"x[{index}]") for index, value in form.data.items()]
    words = [_term(value, name) for value, name in parts]
    if form.constant or not words:
        words.insert(
            0, f"+ {number_words(form.constant)}" if form.constant >= 0 else f"- {number_words(-form.constant)}"
        )
    joined = " ".join(words)
    return joined[2:] if joined.startswith("+ ") else joined.replace("- ", "-", 1)


def number_words(number: Fraction) -> str:
    """Return a number, exactly if it is short, and to 12 digits otherwise."""
    exact = str(number)
    return exact if len(exact) <= 8 else f"{float(number):.12g}"


def outcome_words(outcome: Hashable) -> str:  # noqa: PLR0911 - a case for each kind of outcome
    """Return an outcome in words."""
    if isinstance(outcome, Affine):
        return affine_words(outcome)
    if isinstance(outcome, Image):
        return _image_words(outcome)
    if isinstance(outcome, Raised):
        return f"raises {outcome.words}"
    if isinstance(outcome, Fraction):
        return number_words(outcome)
    if isinstance(outcome, tuple):
        return f"({', '.join(map(outcome_words, outcome))})"
    if isinstance(outcome, frozenset):
        return f"{{{', '.join(sorted(map(outcome_words, outcome)))}}}"
    return repr(outcome)


def leaf_record(leaf: Leaf) -> dict[str, Any]:
    """Return a leaf as a record: its decisions, discrete draws, their probability, and its outcome."""
    return {
        "decisions": [_constraint_words(constraint) for constraint in leaf.constraints],
        "choices": [f"{label} = {value}" for label, value in leaf.choices],
        "weight": number_words(leaf.weight),
        "outcome": outcome_words(leaf.outcome),
    }


def _constraint_words(constraint: Constraint) -> str:
    return f"{affine_words(constraint.form)} {constraint.relation.value}"


def _image_words(image: Image) -> str:
    words = affine_words(image.form)
    for step in image.steps:
        if step[0] == "scale":
            factor, shift = step[1:]
            words = f"{number_words(factor)} ({words}) + {number_words(shift)}"
        else:
            words = f"{step[0]}({words})"
    return words


def _term(value: Fraction, name: str) -> str:
    sign, size = ("-", -value) if value < 0 else ("+", value)
    return f"{sign} {name}" if size == 1 else f"{sign} {number_words(size)} {name}"
