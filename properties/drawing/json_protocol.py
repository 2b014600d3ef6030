"""Data and outcomes as JSON, as programs and servers exchange them with a hunt."""

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["LONGEST_COMPLAINT", "as_json", "filled", "makes_many", "outcomes_of"]

_SEEDS = 1 << 32
"""Number of seeds: more would not be accepted by programs that take 32 bits."""

LONGEST_COMPLAINT = 200
"""Characters of the answer of a program that an exception repeats."""


def makes_many(sampler: Any) -> bool:
    """Return whether a sampler is a program that makes many releases in one run, which takes about as long as one."""
    return getattr(sampler, "makes_many", False) is True


def filled(template: str, size: int, rng: np.random.Generator) -> str:
    """Return a template with a fresh seed for ``{seed}`` and the number of releases for ``{size}``.

    Examples
    --------
    >>> filled("--count {size}", 3, np.random.default_rng(0))
    '--count 3'
    """
    if "{seed}" in template:
        template = template.replace("{seed}", str(rng.integers(_SEEDS)))
    return template.replace("{size}", str(size))


def outcomes_of(ask: Callable[[int], str], size: int, makes_many: bool, error: type[Exception]) -> list[Any]:
    """Return `size` outcomes of a program that answers with JSON.

    Parameters
    ----------
    ask : callable
        Returns the answer to a request for a number of releases.
    size : int
        Number of outcomes.
    makes_many : bool
        Whether the program makes many releases at once, as an array; otherwise it is asked for each.
    error : type
        Exception for an answer of another form.
    """
    if not makes_many:
        return [_frozen(_read(ask(1), error)) for _ in range(size)]
    found = _read(ask(size), error)
    if not isinstance(found, list):
        raise error(f"expected a JSON array of {size} outcomes, got {type(found).__name__}")
    return [_frozen(outcome) for outcome in found]


def as_json(data: Any) -> Any:
    """Return data as JSON has them: an array as a list, a frame as a list of objects, counts as pairs."""
    if hasattr(data, "to_dict"):
        return data.to_dict(orient="records")
    if isinstance(data, Counter | dict):
        return [[value, count] for value, count in data.items()]
    return data.tolist() if isinstance(data, np.ndarray) else data


def _read(answer: str, error: type[Exception]) -> Any:
    try:
        return json.loads(answer)
    except ValueError:
        raise error(f"not JSON: {answer.strip()[:LONGEST_COMPLAINT]!r}") from None


def _frozen(value: Any) -> Any:
    """Return a JSON value with tuples for lists, so that a list is one outcome."""
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
