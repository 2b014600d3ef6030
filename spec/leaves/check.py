"""An independent checker of alignment certificates: the standard library alone, no code shared with the search.

For every leaf and every box of moves, all combinations of ends of the enumerated coordinates must be there, and each
of their shifts must keep the constraints and the released numbers of the leaf for every move of the box with these
ends, at a cost of at most epsilon. The boxes must hold all extreme moves of the relation. That the leaves describe the
mechanism is not part of the certificate.
"""

import itertools
import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

__all__ = ["check_alignment", "extreme_boxes"]

UPWARDS_ONLY = {"exponential", "gumbel"}
BOTH_WAYS = {"laplace", "logistic"}


def check_alignment(certificate: Mapping[str, Any]) -> list[str]:
    """Return all faults of a certificate; an empty list means that its epsilon is proved for the leaves it lists.

    Raises
    ------
    KeyError, ValueError, TypeError
        If it is not a certificate at all.
    """
    if certificate["format"] != "dpassay alignment 1" or not certificate["leaves"]:
        raise ValueError("not an alignment certificate")
    boxes = [[(Fraction(low), Fraction(high)) for low, high in box] for box in certificate["boxes"]]
    faults = [f"the boxes lack {box}" for box in extreme_boxes(certificate) if box not in boxes]
    for number, leaf in enumerate(certificate["leaves"]):
        for index, box in enumerate(boxes):
            own = [one for one in leaf["alignments"] if one["box"] == index]
            moving = {i for one in own for i in one["fixed"]}
            corners = {tuple(Fraction(one["fixed"][i]) for i in moving) for one in own}
            if not own or not corners >= set(itertools.product(*(box[int(i)] for i in moving))):
                faults.append(f"leaf {number}, box {index}: not all corners are aligned")
            for one in own:
                faults += [f"leaf {number}, box {index}: {fault}" for fault in _faults(certificate, leaf, box, one)]
    return faults


def _faults(
    certificate: Mapping[str, Any],
    leaf: Mapping[str, Any],
    box: list[tuple[Fraction, Fraction]],
    one: Mapping[str, Any],
) -> Iterator[str]:
    """Yield the faults of one shift."""
    shift = {name: Fraction(value) for name, value in one["shift"].items()}
    ends = [(Fraction(one["fixed"].get(str(i), low)), Fraction(one["fixed"].get(str(i), high)))
            for i, (low, high) in enumerate(box)]  # fmt: skip
    if sum(map(abs, shift.values())) > Fraction(certificate["epsilon"]):
        yield "the cost exceeds epsilon"
    for name, value in shift.items():
        kind = name.split(":")[0]
        if kind not in BOTH_WAYS and not (kind in UPWARDS_ONLY and value >= 0):
            yield f"{name} must not be shifted by {value}"
    for form, released in [*((f, False) for f in leaf["constraints"]), *((f, True) for f in leaf["released"])]:
        fixed = sum(Fraction(c) * shift.get(name, 0) for name, c in form["noise"].items())
        changes = [sorted(Fraction(b) * end for end in ends[int(i)]) for i, b in form["data"].items()]
        low, high = (fixed + sum(change[side] for change in changes) for side in (0, 1))
        if low < 0 or (released and high > 0):
            yield f"{form} changes by {low} to {high}"


def extreme_boxes(certificate: Mapping[str, Any]) -> Iterator[list[tuple[Fraction, Fraction]]]:
    """Yield boxes whose hull holds all moves of the relation.

    Raises
    ------
    ValueError
        If the bounds on the moves that the certificate states do not hold all moves of the relation.
    """
    relation, moves = certificate["relation"], certificate["moves"]
    size, most, reach = relation["size"], moves["most"], Fraction(moves["reach"])
    down = math.floor if relation["integer"] else Fraction
    norms = {name: Fraction(relation[name]) for name in ("l1", "l2", "linf", "span") if relation.get(name) is not None}
    if most < min(size, size if relation["l0"] is None else relation["l0"]) or reach < down(min(norms.values())):
        raise ValueError("the moves do not hold the relation")
    total = most * reach if moves["total"] is None else Fraction(moves["total"])
    by_norm = "l1" in norms and total >= down(norms["l1"])
    by_square = "l2" in norms and (
        total**2 >= most * norms["l2"] ** 2 or (relation["integer"] and total >= math.floor(norms["l2"] ** 2))
    )
    if not (total >= most * reach or by_norm or by_square):
        raise ValueError("the moves do not hold the relation")
    full = min(most, total // reach) if reach else 0
    rest = min(total - full * reach, reach) if full < most else Fraction(0)
    for chosen in itertools.combinations(range(size), full):
        for extra in [i for i in range(size) if i not in chosen] if rest else [size]:
            widths = [reach if i in chosen else rest if i == extra else Fraction(0) for i in range(size)]
            if not relation["monotone"]:
                yield [(-width, width) for width in widths]
                continue
            yield [(Fraction(0), width) for width in widths]
            yield [(-width, Fraction(0)) for width in widths]
