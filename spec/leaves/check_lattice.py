"""An independent checker of certificates with noise on a lattice: the standard library alone.

Geometric noise of ratio q is shifted upwards by integers, at a cost of log(1/q) a unit; the certificate states an
upper bound of it for each ratio. Each leaf has either a shift for every move of one coordinate by 1 or -1, which add
up to shifts for all integer moves, or a shift for every integer move of every box, where coordinates that are not
fixed may be anywhere. That the leaves describe the mechanism is not part of the certificate.
"""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from dpassay.spec.leaves.check import (
    BOTH_WAYS,
    UPWARDS_ONLY,
    Box,
    Form,
    MalformedCertificateError,
    box_words,
    change_of,
    extreme_boxes,
    faults_found,
    parameter_faults,
    read_count,
    read_flag,
    read_form,
    read_index,
    read_rational,
)
from dpassay.spec.leaves.check_cells import exp_lower

__all__ = ["FORMAT", "check_lattice"]

FORMAT = "dpassay lattice alignment 1"
GEOMETRIC = "geometric"

Costs = Mapping[Fraction, Fraction]
"""The cost of a unit of shift, by ratio."""

Forms = Sequence[tuple[Form, bool]]
"""The functions that a shift keeps, and whether each is a released number rather than a decision."""


def check_lattice(certificate: Mapping[str, Any]) -> list[str]:
    """Return all faults of a certificate; an empty list means that its epsilon is proved for the leaves it lists.

    Raises
    ------
    MalformedCertificateError
        If it is not a certificate at all.
    """
    return faults_found(certificate, FORMAT, "a certificate of shifts on a lattice", _all_faults)


def _all_faults(certificate: Mapping[str, Any]) -> Iterator[str]:
    epsilon = read_rational(certificate["epsilon"])
    yield from parameter_faults(certificate)
    if not read_flag(certificate["relation"]["integer"]):
        yield "the data are not integers"
    boxes = [[(read_rational(low), read_rational(high)) for low, high in box] for box in certificate["boxes"]]
    missing = (box for box in extreme_boxes(certificate, boxes) if box not in boxes)
    yield from (f"the boxes lack {box_words(box)}" for box in missing)
    costs = {read_rational(ratio): read_rational(cost) for ratio, cost in certificate["costs"].items()}
    for ratio, cost in costs.items():
        if not 0 < ratio < 1 or cost < 0 or exp_lower(cost) * ratio < 1:
            yield f"a unit of noise with the ratio {ratio} costs more than {cost}"
    if not certificate["leaves"]:
        yield "there are no leaves"
    for number, leaf in enumerate(certificate["leaves"]):
        forms = [(read_form(form, boxes[0]), False) for form in leaf["constraints"]]
        forms += [(read_form(form, boxes[0]), True) for form in leaf["released"]]
        faults = _leaf_faults(certificate, epsilon, leaf["alignments"], forms, boxes, costs)
        yield from (f"leaf {number}: {fault}" for fault in faults)


def _leaf_faults(
    certificate: Mapping[str, Any], epsilon: Fraction, alignments: Sequence[Mapping[str, Any]], forms: Forms,
    boxes: Sequence[Box], costs: Costs,
) -> Iterator[str]:  # fmt: skip
    if all(one["box"] is None for one in alignments):
        yield from _unit_faults(certificate, epsilon, alignments, forms, boxes[0], costs)
        return
    if certificate["moves"]["total"] is not None:
        yield "the boxes hold the extreme moves of a bounded sum only"
    for index, box in enumerate(boxes):
        own = [one for one in alignments if one["box"] == index]
        yield from (f"box {index}: {fault}" for fault in _box_faults(epsilon, own, forms, box, costs))


def _unit_faults(
    certificate: Mapping[str, Any], epsilon: Fraction, alignments: Sequence[Mapping[str, Any]], forms: Forms,
    box: Box, costs: Costs,
) -> Iterator[str]:  # fmt: skip
    """Yield the faults of shifts for moves of one coordinate by 1 or -1, and of their sums."""
    known: dict[tuple[int, int], Fraction] = {}
    for one in alignments:
        [(place, step)] = ((read_index(i, box), read_rational(value)) for i, value in one["fixed"].items())
        if abs(step) != 1:
            raise MalformedCertificateError("a unit of a move is 1 or -1")
        cost, faults = _shifted(one["shift"], costs)
        yield from faults
        yield from _changes(forms, one["shift"], [(step, step) if i == place else (Fraction(0),) * 2
                                                  for i in range(len(box))])  # fmt: skip
        known[place, int(step)] = cost
    if known.keys() != set(itertools.product(range(len(box)), (1, -1))):
        yield "not all units of moves are aligned"
        return
    ups, downs = ([known[place, sign] for place in range(len(box))] for sign in (1, -1))
    is_monotone = read_flag(certificate["relation"]["monotone"])
    for own in (ups, downs) if is_monotone else ([max(pair) for pair in zip(ups, downs, strict=True)],):
        if _largest_sum(own, certificate["moves"]) > epsilon:
            yield "the cost exceeds epsilon"


def _largest_sum(costs: Sequence[Fraction], moves: Mapping[str, Any]) -> Fraction:
    """Return the largest sum of costs of an integer move that obeys its bounds: the most expensive units first."""
    reach = math.floor(read_rational(moves["reach"]))
    left = None if moves["total"] is None else math.floor(read_rational(moves["total"]))
    total = Fraction(0)
    for cost in sorted(costs, reverse=True)[: read_count(moves["most"])]:
        step = reach if left is None else min(reach, left)
        left = None if left is None else left - step
        total += step * cost
    return total


def _box_faults(
    epsilon: Fraction, own: Sequence[Mapping[str, Any]], forms: Forms, box: Box, costs: Costs
) -> Iterator[str]:
    """Yield the faults of the shifts for the integer moves of a box."""
    fixed = [{read_index(i, box): read_rational(value) for i, value in one["fixed"].items()} for one in own]
    moving = sorted({i for one in fixed for i in one})
    ranges = [range(math.ceil(box[i][0]), math.floor(box[i][1]) + 1) for i in moving]
    listed = {tuple(one.get(i) for i in moving) for one in fixed}
    if math.prod(map(len, ranges)) > len(own) or not listed >= set(itertools.product(*ranges)):
        yield "not all integer moves are aligned"
    for one, ends in zip(own, fixed, strict=True):
        cost, faults = _shifted(one["shift"], costs)
        yield from faults
        if cost > epsilon:
            yield "the cost exceeds epsilon"
        yield from _changes(forms, one["shift"], [(ends[i], ends[i]) if i in ends else side
                                                  for i, side in enumerate(box)])  # fmt: skip


def _changes(forms: Forms, shift: Mapping[str, str], moves: Box) -> Iterator[str]:
    """Yield the decisions and the released numbers that a shift does not keep for all moves between the ends."""
    own = {name: read_rational(value) for name, value in shift.items()}
    for form, is_released in forms:
        low, high = change_of(form, own, moves)
        if low < 0 or (is_released and high > 0):
            yield f"a {'released number' if is_released else 'decision'} changes by {low} to {high}"


def _shifted(shift: Mapping[str, str], costs: Costs) -> tuple[Fraction, list[str]]:
    """Return the cost of a shift, and what noise must not be shifted so."""
    total, faults = Fraction(0), []
    for name, text in shift.items():
        kind, value = name.split(":")[0], read_rational(text)
        is_upwards = value >= 0
        if kind == GEOMETRIC:
            ratio = read_rational(name.split(":")[2])
            if ratio not in costs:
                raise MalformedCertificateError(f"there is no cost of noise with the ratio {ratio}")
            total += value * costs[ratio]
            is_allowed = is_upwards and value.denominator == 1
        else:
            total += abs(value)
            is_allowed = kind in BOTH_WAYS or (kind in UPWARDS_ONLY and is_upwards)
        if not is_allowed:
            faults.append(f"{name} must not be shifted by {value}")
    return total, faults
