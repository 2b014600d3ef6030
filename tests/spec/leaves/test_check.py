"""The checker of certificates: the moves, against all moves of small relations, and forged alignments."""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

import pytest

from dpassay.neighbours import NeighbourRelation, RecordNeighbours, VectorNeighbours
from dpassay.spec.leaves.certificates import relation_record
from dpassay.spec.leaves.check import check_alignment, digest, extreme_boxes
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


@pytest.mark.parametrize(
    ("relation", "expected"),
    [
        (VectorNeighbours(3, linf=1, low=-2, high=5), {"l0": None, "span": "7", "linf": "1"}),
        (VectorNeighbours(3, l0=2, l1=1.5, l2=1, low=1, high=2.5), {"l0": 2, "span": "3/2", "l1": "3/2", "l2": "1"}),
        (VectorNeighbours(3, linf=1), {"l0": None, "span": None, "linf": "1"}),
        (RecordNeighbours(-1, 3, 3), {"l0": 1, "span": "4"}),
    ],
)
def test_a_certificate_states_its_relation(relation: NeighbourRelation, expected: dict[str, Any]) -> None:
    assert relation_record(relation) == {"size": 3, "integer": False, "monotone": False, **expected}


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


# --- forged alignments --------------------------------------------------------------------------------------

LOG_DENSITIES: dict[str, Callable[[float], float]] = {
    "laplace": lambda z: -abs(z),
    "logistic": lambda z: -abs(z) - 2 * math.log1p(math.exp(-abs(z))),
    "exponential": lambda z: -z if z >= 0 else -math.inf,
    "gumbel": lambda z: -z - math.exp(-z) if z > -500 else -math.inf,
    "uniform": lambda z: 0.0 if 0 <= z < 1 else -math.inf,
    "normal": lambda z: -z * z / 2,
}
FAR = 300
"""The largest loss of a shift is reached within this distance, to float64, or is beyond every epsilon here."""

SHIFTS = (Fraction(-1), -HALF, Fraction(0), HALF, Fraction(1))


def largest_loss(kind: str, shift: Fraction) -> float:
    """Return the largest log p(z) - log p(z + shift), z in steps of 1/4."""
    density, losses = LOG_DENSITIES[kind], [0.0]
    for step in range(-4 * FAR, 4 * FAR + 1):
        z = step / 4
        if density(z) > -math.inf:
            losses.append(density(z) - density(z + float(shift)))
    return max(losses)


def certificate(shifts: Mapping[str, Mapping[str, Fraction]], **forms: object) -> dict[str, Any]:
    """Return a certificate of epsilon = 1 for one datum that moves by at most 1, with a shift for each end."""
    alignments = [
        {"box": 0, "fixed": {"0": end}, "shift": {name: str(value) for name, value in shift.items()}}
        for end, shift in shifts.items()
    ]
    content: dict[str, Any] = {
        "format": "dpassay alignment 1",
        "epsilon": "1",
        "delta": "0",
        **stated(
            {"size": 1, "l0": None, "linf": Fraction(1), "integer": False, "monotone": False}, 1, Fraction(1), None
        ),
        "boxes": [[["-1", "1"]]],
        "leaves": [{"constraints": [], "released": [], "alignments": alignments, **forms}],
    }
    return {**content, "digest": digest(content)}


@pytest.mark.parametrize("kinds", list(itertools.combinations_with_replacement(LOG_DENSITIES, 2)), ids="-".join)
def test_a_shift_is_accepted_only_if_the_densities_pay_for_it(kinds: tuple[str, str]) -> None:
    """Two independent noises: their losses add up, whatever the signs of the shifts."""
    for shift in itertools.product(SHIFTS, repeat=2):
        paid = sum(largest_loss(kind, by) for kind, by in zip(kinds, shift, strict=True)) <= 1 + 1e-9
        names = {f"{kind}:{place}": by for place, (kind, by) in enumerate(zip(kinds, shift, strict=True))}
        accepted = not check_alignment(certificate({"-1": names, "1": names}))
        assert paid or not accepted, names
        if set(kinds) <= {"laplace", "logistic", "exponential", "gumbel"}:
            assert accepted is paid, names


DECISION = {"noise": {"laplace:0": "1", "laplace:1": "-1"}, "data": {"0": "1/2"}}


def change(form: Mapping[str, Mapping[str, str]], end: str, shift: Mapping[str, Fraction]) -> Fraction:
    moved = sum((Fraction(c) * shift[name] for name, c in form["noise"].items()), Fraction(0))
    return moved + sum(Fraction(c) * Fraction(end) for c in form["data"].values())


@pytest.mark.parametrize("role", ["constraints", "released"])
def test_a_decision_may_rise_and_a_released_number_stays(role: str) -> None:
    """z_0 - z_1 + x/2, all pairs of shifts for the two ends of the move."""
    shifts = [{f"laplace:{i}": by for i, by in enumerate(shift)} for shift in itertools.product(SHIFTS, repeat=2)]
    accepted = 0
    for down, up in itertools.product(shifts, repeat=2):
        ends = {"-1": down, "1": up}
        changes = [change(DECISION, end, shift) for end, shift in ends.items()]
        kept = all(x == 0 for x in changes) if role == "released" else min(changes) >= 0
        affordable = all(sum(map(abs, shift.values())) <= 1 for shift in ends.values())
        sound = kept and affordable
        assert (not check_alignment(certificate(ends, **{role: [DECISION]}))) is sound, ends
        accepted += sound
    assert 0 < accepted < len(shifts) ** 2


def test_a_certificate_that_lacks_anything_is_refused() -> None:
    shift = {"laplace:0": HALF, "laplace:1": Fraction(0)}
    negative = {name: -by for name, by in shift.items()}
    honest = certificate({"-1": shift, "1": negative}, released=[DECISION])
    assert check_alignment(honest) == []
    (leaf,) = honest["leaves"]
    forged: list[dict[str, Any]] = [
        {"epsilon": "1/4"},
        {"epsilon": "-1"},
        {"delta": "2"},
        {"boxes": [[["0", "1"]]]},
        {"leaves": []},
        {"leaves": [{**leaf, "alignments": leaf["alignments"][:1]}]},
        {"leaves": [{**leaf, "alignments": [leaf["alignments"][0]] * 2}]},
        {"leaves": [leaf, {**leaf, "alignments": []}]},
    ]
    for other in forged:
        content = {**honest, **other}
        assert check_alignment(content), "another content has another digest"
        assert check_alignment({**content, "digest": digest(content)}), other
