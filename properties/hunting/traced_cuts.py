"""Where to cut released numbers into cells: kinks of densities, jumps, a grid, and the loss that a claim allows."""

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from fractions import Fraction

from dpassay.arguments import rounded_down, rounded_up
from dpassay.spec.leaves.cells import Cuts, kinks
from dpassay.spec.leaves.model import Affine, LeafModel, NoiseKind
from dpassay.spec.leaves.outcomes import Lattice, skeleton

__all__ = ["cuts_of", "refined"]

_MOST_CELLS = 256
"""Cells of one model; with more of them the cuts are fewer."""

_GRID, _REACH = 32, 8
"""Cuts of noise without kinks: their number, and the scales within which they lie; further ones have doubling
distances."""

_FAR = tuple(2**k for k in range(4, 11))

_WITHOUT_KINKS = {NoiseKind.NORMAL, NoiseKind.LOGISTIC, NoiseKind.GUMBEL}
_JUMPS = 8
"""Integers on each side of the middle at which discrete outcomes are cut."""

Choices = list[list[Fraction]]
"""Cuts of one number, the most first."""


def cuts_of(
    models: Sequence[LeafModel], jumps: Mapping[Hashable, tuple[Lattice, ...]], loss: Fraction | None
) -> Iterator[Cuts]:
    """Yield cuts of all numbers, the finest affordable ones first, none at all last."""
    at_kinks = kinks(*models)
    choices = {
        structure: [
            _choices(_numbers_at(models, structure, place), at_kinks[structure][place], lattice, loss)
            for place, lattice in enumerate(jumps[structure])
        ]
        for structure in at_kinks
    }
    depth = max((len(own) for numbers in choices.values() for own in numbers), default=0)
    for level in range(depth):
        cuts = {s: [own[min(level, len(own) - 1)] for own in numbers] for s, numbers in choices.items()}
        count = sum(math.prod(len(ends) + 1 for ends in own) for own in cuts.values())
        if count <= _MOST_CELLS or level == depth - 1:
            yield cuts
    yield {structure: [()] * len(numbers) for structure, numbers in choices.items()}


def refined(cuts: Cuts, structure: Hashable, labels: Sequence[object], scale: Fraction) -> Cuts:
    """Return cuts with the cell of some labels in halves, or a part of a cell without an end cut off.

    Parameters
    ----------
    cuts : Cuts
        The cuts so far.
    structure, labels
        The cell, as `in_cells` names it; constants are not cut.
    scale : Fraction
        The distance of a new cut from the only end of a cell.
    """
    found = []
    for ends, label in zip(cuts[structure], labels, strict=True):
        place = None
        if isinstance(label, int) and ends:
            low, high = [None, *ends, None][label : label + 2]
            if low is not None:
                place = low + scale if high is None else (low + high) / 2
            elif high is not None:
                place = high - scale
        new = None if place is None else Fraction(float(place))
        found.append(sorted({*ends, *([] if new is None else [new])}))
    return {**cuts, structure: found}


def _numbers_at(models: Sequence[LeafModel], structure: Hashable, place: int) -> list[Affine]:
    found = (skeleton(leaf.outcome) for model in models for leaf in model.leaves)
    return [numbers[place] for own, numbers in found if own == structure]


def _choices(
    numbers: Sequence[Affine], at_kinks: Sequence[Fraction], lattice: Lattice, loss: Fraction | None
) -> Choices:
    """Return cuts of one number: many, those at kinks, and one on the far side of the first input."""
    noisy = [number for number in numbers if number.noise]
    if not noisy:
        return [[]]
    centres = sorted({number.constant for number in noisy})
    scale = max(sum(map(abs, number.noise.values()), Fraction(0)) for number in noisy)
    if lattice is not None:
        middle = round(float(centres[0] + centres[-1]) / 2)
        around = [Fraction(middle + k) + lattice for k in range(-_JUMPS, _JUMPS + 1)]
        return [around, around[_JUMPS - 2 : _JUMPS + 3], [around[_JUMPS]]]
    losses = [] if loss is None else _at_loss(loss, noisy, centres)
    own = _outwards([*(at_kinks or centres), *losses])
    scales = {tuple(sorted(map(abs, number.noise.values()))) for number in noisy}
    if len(scales) > 1 or any(noise.kind in _WITHOUT_KINKS for number in noisy for noise in number.noise):
        own = _outwards([*own, *_grid(centres, scale)])
        few = _outwards(losses) or own[:: max(1, len(own) // 8)]
        return [own, few, _outwards([centres[0]])]
    return [own, _outwards([centres[0], centres[-1]]), _outwards([centres[0]])]


def _at_loss(loss: Fraction, numbers: Sequence[Affine], centres: Sequence[Fraction]) -> list[Fraction]:
    """Return where the densities of the outer two of the centres differ by a loss, for one noise of one scale.

    log f(y) - log f(y - c) is c (c - 2 y) / (2 s^2) for normal noise of deviation s, and (c - 2 y) / s between the
    centres of Laplace noise of scale s.
    """
    (kinds, scales), gap = _spread(numbers), centres[-1] - centres[0]
    if len(scales) != 1 or len(kinds) != 1 or not gap:
        return []
    (kind,), (scale,) = kinds, scales
    middle = (centres[0] + centres[-1]) / 2
    if kind is NoiseKind.NORMAL:
        away = loss * scale**2 / gap
    elif kind is NoiseKind.LAPLACE and loss * scale < gap:
        away = loss * scale / 2
    else:
        return []
    return [middle - away, middle + away]


def _spread(numbers: Sequence[Affine]) -> tuple[set[NoiseKind], set[Fraction]]:
    """Return the kinds and scales of numbers of one noise each; no scales where one has several."""
    kinds = {noise.kind for number in numbers for noise in number.noise}
    is_single = all(len(number.noise) == 1 for number in numbers)
    return kinds, {abs(value) for number in numbers for value in number.noise.values()} if is_single else set()


def _grid(centres: Sequence[Fraction], scale: Fraction) -> list[Fraction]:
    low, high = centres[0] - _REACH * scale, centres[-1] + _REACH * scale
    near = [low + (high - low) * Fraction(k, _GRID) for k in range(_GRID + 1)]
    return near + [end for k in _FAR for end in (centres[0] - k * scale, centres[-1] + k * scale)]


def _outwards(ends: Sequence[Fraction]) -> list[Fraction]:
    """Return the ends as floats, those below the middle rounded down and the others up, without repetition.

    Beyond the outer kinks the ratio of the densities is constant: rounding outwards loses nothing there.
    """
    ordered = sorted(set(ends))
    half = len(ordered) // 2
    lower, upper = ordered[: max(1, half)], ordered[max(1, half) :]
    floats = [*map(rounded_down, lower), *map(rounded_up, upper)]
    return sorted({Fraction(end) for end in floats if math.isfinite(end)})
