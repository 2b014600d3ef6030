"""Rounding that is no matter of the ideal mechanism: of the parameters of draws, and of numbers before the noise.

The exact decision takes the floats of a mechanism as they are. Some of them stand for other numbers: a probability
computed from epsilon, or a sum of decimals that should equal another one. A claim that holds for these is not refuted.
"""

import itertools
import math
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from flint import arb

from dpassay.spec.ball import ball, max_balls
from dpassay.spec.leaves.model import Leaf, LeafModel, NoiseKind

__all__ = ["CLOSE", "STEEPNESS", "read_with_rounding", "representatives", "snapped_constants", "widened"]

_ROUNDING = Fraction(1, 2**51)
"""By how much the probability of a draw may differ from the number that its parameter stands for."""

STEEPNESS = 64
"""Multiple of `_ROUNDING` by which a sum of masses of geometric noise changes at most, k q^(k-1) for the tail q^k,
where the ratio is not above 0.99; beyond that, the parameter of the draw is small and its rounding as well."""

_LEAST = Fraction(1, 2**100)
"""The part of a probability that is left at least, where its rounding is larger than itself."""

_UNIFORM_DRAWS = {"integers", "randint", "permutation", "permuted", "shuffle"}

CLOSE, _CLOSE_TO_ZERO = Fraction(1, 2**40), Fraction(1, 2**48)
"""Numbers of outcomes closer than this, relative to the larger one, are taken for one number, and so are those closer
than the second relative to the largest one of all: sums and products of floats that should be equal differ in their
last bits, which is no matter of the ideal mechanism."""


def read_with_rounding(log_probability: arb, leaves: Iterable[Leaf]) -> arb:
    """Widen the logarithm of a probability by the rounding of the parameters of the draws behind it.

    A draw whose probabilities are floats, such as randomised response with e^eps / (1 + e^eps), stands for one whose
    probabilities are up to `_ROUNDING` larger or smaller: that is what a few operations leave, and what 1 - p
    inherits. A leaf with k draws has a probability of at most its weight w < 1 under the draws, which is a product,
    so that it changes by at most k `_ROUNDING`. A probability of 0 stays 0.
    """
    return widened(log_probability, sum(map(_rounded_draws, leaves)))


def widened(log_probability: arb, draws: int) -> arb:
    """Widen the logarithm of a probability by the rounding of this number of draws; a probability of 0 stays 0."""
    if not draws or not log_probability.is_finite():
        return log_probability
    slack = ball(draws * _ROUNDING) / log_probability.exp()
    lower = max_balls([1 - slack, ball(_LEAST)])
    return (log_probability + lower.log()).union(log_probability + (1 + slack).log())


def _rounded_draws(leaf: Leaf) -> int:
    """Count the draws with probabilities that may be rounded: ``random() < p`` is uniform noise beside a number."""
    drawn = sum(label.split("[")[0] not in _UNIFORM_DRAWS for label, _ in leaf.choices)
    noises = {noise for one in leaf.constraints for noise in one.form.noise if noise.kind is NoiseKind.UNIFORM}
    return drawn + len(noises)


def representatives(outcomes: Iterable[Hashable]) -> dict[Hashable, Hashable]:
    """Return, for outcomes that differ from another one in the last bits of their numbers only, the one they join."""
    numbers = sorted({number for outcome in outcomes for number in _floats_in(outcome)})
    slack = float(_CLOSE_TO_ZERO) * min(max(map(abs, numbers), default=0.0), 1 / float(CLOSE))
    snapped: dict[float, float] = {}
    for last, number in itertools.pairwise(numbers):
        if number - last <= max(float(CLOSE) * max(abs(last), abs(number)), slack):
            snapped[number] = snapped.get(last, last)
    return {outcome: _snapped(outcome, snapped) for outcome in outcomes} if snapped else {}


def _floats_in(outcome: Hashable) -> Iterator[float]:
    if isinstance(outcome, tuple):
        for part in outcome:
            yield from _floats_in(part)
    elif isinstance(outcome, float | Fraction) and math.isfinite(outcome):
        yield float(outcome)


def _snapped(outcome: Any, snapped: Mapping[float, float]) -> Any:
    if isinstance(outcome, tuple):
        return tuple(_snapped(part, snapped) for part in outcome)
    return snapped.get(float(outcome), outcome) if isinstance(outcome, float | Fraction) else outcome


def snapped_constants(*models: LeafModel) -> tuple[LeafModel, ...]:
    """Return models with one constant in place of those that differ in their last bits."""
    joined = representatives({leaf.outcome for model in models for leaf in model.leaves})
    return tuple(
        replace(
            model, leaves=tuple(replace(leaf, outcome=joined.get(leaf.outcome, leaf.outcome)) for leaf in model.leaves)
        )
        for model in models
    )
