"""The moves that the checker of certificates accepts, against all moves of small relations."""

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

from dpassay.spec.leaves.check import extreme_boxes
from dpassay.spec.leaves.moves import Moves, UndecidedMovesError

HALF = Fraction(1, 2)
STILL = [(Fraction(0), Fraction(0))] * 2
DIRECTIONS = [*itertools.product((-2, -1, 1, 2), repeat=2), (0, 1), (0, -1), (1, 0), (-1, 0)]
BOUNDS = (None, Fraction(1), Fraction(3, 2), Fraction(2))
Move = tuple[Fraction, ...]


def stated(relation: dict[str, Any], most: int, reach: Fraction, total: Fraction | None) -> dict[str, Any]:
    moves = {"most": most, "reach": str(reach), "total": None if total is None else str(total)}
    return {"relation": {key: str(x) if isinstance(x, Fraction) else x for key, x in relation.items()}, "moves": moves}


def extremes(certificate: dict[str, Any]) -> Iterator[list[tuple[Fraction, Fraction]]]:
    return extreme_boxes(certificate, [STILL])


def moves_of(relation: dict[str, Any]) -> list[Move]:
    """Return every move of the relation whose coordinates are whole, or halves where they may be."""
    step = Fraction(1) if relation["integer"] else HALF
    reach = 2 / step
    grid = [k * step for k in range(-int(reach), int(reach) + 1)]
    return [move for move in itertools.product(grid, repeat=relation["size"]) if allowed(move, relation)]


def allowed(move: Move, relation: dict[str, Any]) -> bool:
    sizes = [abs(x) for x in move]
    norms = {"l1": sum(sizes), "linf": max(sizes), "span": max(sizes)}
    return (
        all(relation.get(name) is None or value <= relation[name] for name, value in norms.items())
        and (relation.get("l2") is None or sum(x * x for x in move) <= relation["l2"] ** 2)
        and (relation["l0"] is None or sum(x != 0 for x in move) <= relation["l0"])
        and not (relation["monotone"] and min(move) < 0 < max(move))
    )


def relations(**fixed: bool) -> Iterator[dict[str, Any]]:
    for l0, l1, l2, linf in itertools.product((None, 1), BOUNDS, BOUNDS[::2], BOUNDS[::3]):
        if any(bound is not None for bound in (l1, l2, linf)):
            yield {"size": 2, "l0": l0, "l1": l1, "l2": l2, "linf": linf, "span": None, **fixed}


def furthest(moves: list[Move]) -> list[Fraction]:
    """Return how far the moves reach in each direction of a grid."""
    return [max(c * x + d * y for x, y in moves) for c, d in DIRECTIONS]


def holds_all(boxes: list[list[tuple[Fraction, Fraction]]], reached: list[Fraction]) -> bool:
    """Return whether no direction of the grid leads from the hull of the boxes to a move."""
    corners = list({corner: None for box in boxes for corner in itertools.product(*box)})
    return all(far <= own for far, own in zip(reached, furthest(corners), strict=True))


@pytest.mark.parametrize("integer", [False, True])
@pytest.mark.parametrize("monotone", [False, True])
def test_bounds_that_are_accepted_hold_every_move(integer: bool, monotone: bool) -> None:
    accepted = refused = 0
    for relation in relations(integer=integer, monotone=monotone):
        reached = furthest(moves_of(relation))
        for most, reach, total in itertools.product((1, 2), BOUNDS[1:], (*BOUNDS, Fraction(3))):
            assert reach is not None
            try:
                boxes = list(extremes(stated(relation, most, reach, total)))
            except ValueError:
                refused += 1
                continue
            accepted += 1
            assert holds_all(boxes, reached), (relation, most, reach, total)
    assert accepted > 50
    assert refused > 50


def test_the_span_of_the_data_bounds_a_move() -> None:
    relation = {"size": 2, "l0": 1, "span": Fraction(3, 2), "integer": False, "monotone": False}
    boxes = list(extremes(stated(relation, 1, Fraction(3, 2), None)))
    assert holds_all(boxes, furthest(moves_of(relation)))
    with pytest.raises(ValueError, match="do not hold"):
        list(extremes(stated(relation, 1, Fraction(1), None)))


def test_bounds_that_just_hold_are_accepted() -> None:
    """A bound on the sum of all changes from the l1 norm, from the l2 norm and from the largest change."""
    plain: dict[str, Any] = {"size": 2, "l0": None, "span": None, "integer": False, "monotone": False}
    for bound, most, reach, total in (
        ({"linf": Fraction(2)}, 2, Fraction(2), Fraction(4)),
        ({"linf": Fraction(2), "l1": Fraction(3)}, 2, Fraction(2), Fraction(3)),
        ({"linf": Fraction(2), "l2": Fraction(2)}, 2, Fraction(2), Fraction(8**3, 180)),
        ({"linf": Fraction(2), "l2": Fraction(2), "integer": True}, 2, Fraction(2), Fraction(4)),
    ):
        less = total - Fraction(1, 100)
        assert list(extremes(stated({**plain, **bound}, most, reach, total)))
        if "l2" not in bound:
            with pytest.raises(ValueError, match="do not hold"):
                list(extremes(stated({**plain, **bound}, most, reach, less)))


def test_boxes_are_counted_before_they_are_listed() -> None:
    """One coordinate moves by 1 and another by 1/2: size (size - 1) boxes."""
    assert len(Moves(64, 64, Fraction(1), total=Fraction(3, 2)).boxes) == 64 * 63
    with pytest.raises(UndecidedMovesError, match="4160 sets"):
        _ = Moves(65, 65, Fraction(1), total=Fraction(3, 2)).boxes
