"""Independent parts of an outcome: coordinates that depend on different noises, traced one by one.

A run is a function of the tape of its noises. If a trace shows that one part of the outcome is a function of some
noises of the tape, and another part of others, then the parts are independent, and their joint distribution is the
product: 20 bits of 4 leaves each take 80 runs in place of 4^20. Divergences of products follow from those of factors;
the largest privacy loss is the sum of theirs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dpassay.properties.tracing.execution import Sampler
from dpassay.properties.tracing.inversion import draw_of
from dpassay.properties.tracing.outcomes import first_outcome
from dpassay.properties.tracing.refusal import Refusal, refuse
from dpassay.properties.tracing.trace import trace
from dpassay.spec.leaves.model import LeafModel, Noise
from dpassay.spec.leaves.outcomes import released_numbers

__all__ = ["Factor", "independent_parts"]


@dataclass(frozen=True)
class Factor:
    """Coordinates of an outcome that share noise, and the leaves of these coordinates alone."""

    places: tuple[int, ...]
    model: LeafModel


def independent_parts(sampler: Sampler, data: Sequence[float], length: int, **options: Any) -> list[Factor] | Refusal:
    """Split the coordinates of an outcome into parts that depend on different noises.

    Only arrays of comparisons are decided element by element: a loop that takes a decision for each coordinate is
    traced with all of them, whatever part is asked for.

    Parameters
    ----------
    sampler : callable
        ``f(data, size, rng)``, whose outcomes are vectors.
    data : sequence of float
        The input.
    length : int
        Number of coordinates of an outcome.
    **options
        Options of `trace`.

    Returns
    -------
    list of Factor or Refusal
        Factors that together have all coordinates; or what is not supported. A discrete draw is refused: its
        probabilities may depend on what was drawn before.
    """
    groups: list[tuple[set[Noise], Factor]] = []
    for place in range(length):
        found = _part(sampler, data, (place,), length, options)
        if isinstance(found, Refusal):
            return found
        noises = _noises(found.model)
        joined = [group for group in groups if group[0] & noises]
        if joined:
            places = tuple(sorted((place, *(k for _, factor in joined for k in factor.places))))
            found = _part(sampler, data, places, length, options)
            if isinstance(found, Refusal):
                return found
            noises = _noises(found.model)
        groups = [group for group in groups if group not in joined] + [(noises, found)]
    return [factor for _, factor in groups]


def _part(
    sampler: Sampler, data: Sequence[float], places: tuple[int, ...], length: int, options: dict[str, Any]
) -> Factor | Refusal:
    def part(given: Any, size: int, rng: Any) -> Any:
        whole = first_outcome(sampler(given, size, rng))
        if len(whole) != length:
            refuse(f"an outcome with {len(whole)} coordinates, not {length}")
        return [tuple(whole[place] for place in places)]

    traced = trace(part, data, **options)
    if isinstance(traced, Refusal):
        return traced
    if any(leaf.choices for leaf in traced.model.leaves):
        return Refusal("discrete draws in an outcome that is to be split", "trace")
    return Factor(places, traced.model)


def _noises(model: LeafModel) -> set[Noise]:
    forms = [one.form for leaf in model.leaves for one in leaf.constraints]
    forms += [number for leaf in model.leaves for number in released_numbers(leaf.outcome)]
    return {draw_of(noise) for form in forms for noise in form.noise}
