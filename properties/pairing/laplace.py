"""Mechanisms with Laplace noise: their distributions through partitions of the real line, and worst cases.

The loss of one noisy answer is constant outside the interval between the two answers, and largest there. The cells
are made of the two half-lines and, for answers that few coordinates share, of pieces of the interval between.
"""

import itertools
import math
from collections.abc import Hashable, Sequence
from fractions import Fraction

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dpassay.claims import Claim, PureDP
from dpassay.impl.mechanisms.laplace import LaplaceMechanism
from dpassay.properties.audit.events import AllOf, Interval, NoneOf
from dpassay.properties.search.laws import LawPair, PushedForward, register_pair_law, register_worst_case
from dpassay.spec.ball import Exact, Real, ball, exact, sum_balls
from dpassay.spec.distributions.laplace import LaplaceLaw, Side

__all__ = ["laplace_cells"]

Array = NDArray[np.float64]
Box = tuple[tuple[int, Side], ...]
"""Intervals of some coordinates."""

MOST_CELLS = 100
PIECES = 16
"""Of the interval between two answers, if a single one differs."""


def laplace_cells(left: Sequence[float], right: Sequence[float], scale: Exact) -> LawPair:
    """Return the distributions of two noisy vectors through a partition made by the coordinates that differ.

    A product of the intervals of each coordinate as long as there are at most `MOST_CELLS`, with finer pieces for
    a single coordinate; otherwise the two boxes of extreme loss and the rest.
    """
    moved = [place for place, (a, b) in enumerate(zip(left, right, strict=True)) if a != b]
    if 3 ** len(moved) > MOST_CELLS:
        return _extreme_cells(left, right, moved, scale)
    pieces = PIECES if len(moved) == 1 else 1
    sides = [[(place, side) for side in _sides(left[place], right[place], pieces)] for place in moved]
    boxes = {_event(box, len(left)): box for box in itertools.product(*sides)}

    def pushed(centres: Sequence[float]) -> PushedForward:
        law = LaplaceLaw(tuple(centres), scale)
        return PushedForward({event: _log_box(law, box) for event, box in boxes.items()})

    return pushed(left), pushed(right)


def _log_box(law: LaplaceLaw, box: Box) -> Real:
    return lambda: law.log_box(box)


def _log_rest(law: LaplaceLaw, boxes: Sequence[Box]) -> Real:
    def rest() -> arb:
        inside = sum_balls(law.log_box(box).exp() for box in boxes)
        return (1 - inside).log()

    return rest


def _sides(a: float, b: float, pieces: int) -> list[Side]:
    """Cut the line at the two answers, and between them into pieces with ends that are floats."""
    low, high = min(a, b), max(a, b)
    cuts = sorted({low, high, *(low + (high - low) * k / pieces for k in range(1, pieces))})
    return [(None, cuts[0]), *itertools.pairwise(cuts), (cuts[-1], None)]


def _extreme_cells(left: Sequence[float], right: Sequence[float], moved: list[int], scale: Exact) -> LawPair:
    """Return the box where each answer of the left is the more likely, its mirror image, and the rest."""
    boxes: list[Box] = []
    for near, far in ((left, right), (right, left)):
        boxes.append(tuple((k, (near[k], None) if near[k] > far[k] else (None, near[k])) for k in moved))
    events = [_event(box, len(left)) for box in boxes]

    def pushed(centres: Sequence[float]) -> PushedForward:
        law = LaplaceLaw(tuple(centres), scale)
        cells: dict[Hashable, Real] = {event: _log_box(law, box) for event, box in zip(events, boxes, strict=True)}
        cells[NoneOf(tuple(events))] = _log_rest(law, boxes)
        return PushedForward(cells)

    return pushed(left), pushed(right)


def _event(box: Box, size: int) -> Interval | AllOf:
    """Say in words that the outcome lies in a box; a single answer is returned as a number."""
    members = [Interval("outcome" if size == 1 else f"outcome[{place}]", *_ends(side)) for place, side in box]
    return members[0] if len(members) == 1 else AllOf(tuple(members))


def _ends(side: Side) -> tuple[float, float]:
    low, high = side
    return (-math.inf if low is None else float(low)), (math.inf if high is None else float(high))


def _laplace_pair(mechanism: LaplaceMechanism, left: Array, right: Array) -> LawPair | None:
    if mechanism.sensitivity == 0:
        return None  # nothing differs
    return laplace_cells(left.tolist(), right.tolist(), Fraction(mechanism.scale))


def _laplace_worst_case(mechanism: LaplaceMechanism, claim: Claim) -> Real | None:
    """Return the l1 sensitivity over the scale: exact, and attained in the tails."""
    if not isinstance(claim, PureDP) or mechanism.sensitivity == 0:
        return None
    return lambda: ball(exact("sensitivity", mechanism.sensitivity) / exact("scale", mechanism.scale))


register_pair_law(LaplaceMechanism, _laplace_pair)
register_worst_case(LaplaceMechanism, _laplace_worst_case)
