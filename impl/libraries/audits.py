"""Audits of scores of known loss: the scores of members and of others are drawn, and an auditor states its bound.

`dpassay.adapter.Auditor` describes the families of scores. This module runs inside workers; of what is not in the
standard library it needs numpy.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["audits", "draw_scores"]


def audits(
    bound: Callable[..., Any],
    scores: Mapping[str, Any],
    numbers: Sequence[int],
    seed: Sequence[int],
    is_mistake: Callable[[Exception], bool] = lambda _: False,
) -> list[float | None]:
    """Return the bounds of audits on fresh scores; None for one that the library refused.

    Parameters
    ----------
    bound : callable
        As for `dpassay.adapter.Auditor`.
    scores : mapping
        ``family``, ``parameter``, ``size`` (one count or two), ``significance`` and ``delta``.
    numbers : sequence of int
        Numbers of the first audit, and of the one after the last.
    seed : sequence of int
        Determines the scores of an audit, together with its number.
    is_mistake : callable
        Tells an exception that is a mistake of the adapter from a refusal.

    Raises
    ------
    Exception
        What the last audit raised, if each of them raised; or a mistake of the adapter.
    """
    import numpy as np

    found: list[float | None] = []
    refusal = None
    for number in range(*numbers):
        rng = np.random.default_rng([*seed, number])
        counts = list(scores["size"])
        if len(counts) == 1:
            members = int(rng.binomial(counts[0], 0.5))
            counts = [members, counts[0] - members]
        drawn = [
            draw_scores(rng, scores["family"], scores["parameter"], scores["delta"], count, is_member=place == 0)
            for place, count in enumerate(counts)
        ]
        try:
            found.append(float(bound(*drawn, scores["significance"], scores["delta"])))
        except Exception as error:  # a refusal; if all audits end so, the parent is told whose it is
            if is_mistake(error):
                raise
            refusal = error
            found.append(None)
    if refusal is not None and all(one is None for one in found):
        raise refusal
    return found


def draw_scores(rng: Any, family: str, parameter: float, delta: float, size: int, *, is_member: bool) -> Any:
    """Return the scores of some members, or of some other records, as a numpy array.

    Parameters
    ----------
    rng : numpy.random.Generator
        The generator.
    family : str
        One of `dpassay.adapter.SCORES`.
    parameter : float
        The epsilon of a response or of Laplace noise; the distance over the standard deviation of Gaussian noise.
    delta : float
        Probability with which a revealing response reveals.
    size : int
        Number of scores.
    is_member : bool
        Whether the records are members.

    Raises
    ------
    ValueError
        If the family is unknown.
    """
    side = float(is_member)
    if family == "equal":
        return rng.normal(size=size)
    if family == "tied":
        return rng.integers(4, size=size).astype(float)
    if family == "laplace":
        return side + rng.laplace(scale=1 / parameter, size=size)
    if family == "gaussian":
        return side + rng.normal(scale=1 / parameter, size=size)
    kept = rng.random(size) < 1 / (1 + math.exp(-parameter))
    answers = (kept == is_member).astype(float)
    if family == "response":
        return answers
    if family == "revealing response":
        answers[rng.random(size) < delta] = 3 * side - 1
        return answers
    raise ValueError(f"unknown family of scores {family!r}")
