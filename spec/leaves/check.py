"""An independent checker of alignment certificates: the standard library alone, no code shared with the search.

For every leaf and every box of moves, all combinations of ends of the enumerated coordinates must be there, and each
of their shifts must keep the constraints and the released numbers of the leaf for every move of the box with these
ends, at a cost of at most epsilon. The boxes must hold all extreme moves of the relation. That the leaves describe the
mechanism is not part of the certificate. A digest shows accidental changes; it is no signature.
"""

import hashlib
import itertools
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from dpassay.spec.leaves.check_derived import Derived, has_steps, read_derived, required_boxes
from dpassay.spec.leaves.reading import MalformedCertificateError, read_count, read_rational, short

__all__ = [
    "BOTH_WAYS",
    "UPWARDS_ONLY",
    "Box",
    "Form",
    "MalformedCertificateError",
    "box_words",
    "change_of",
    "check_alignment",
    "digest",
    "extreme_boxes",
    "faults_found",
    "parameter_faults",
    "read_count",
    "read_flag",
    "read_form",
    "read_index",
    "read_rational",
]

FORMAT = "dpassay alignment 1"
UPWARDS_ONLY = {"exponential", "gumbel"}
BOTH_WAYS = {"laplace", "logistic"}
MOST_MISSING = 4096
"""With more boxes missing, they are not listed."""

Box = list[tuple[Fraction, Fraction]]


def digest(certificate: Mapping[str, Any]) -> str:
    """Return the SHA-256 digest of all entries but the digest itself, in hexadecimal digits."""
    content = {key: value for key, value in certificate.items() if key != "digest"}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def check_alignment(certificate: Mapping[str, Any]) -> list[str]:
    """Return all faults of a certificate; an empty list means that its epsilon is proved for the leaves it lists.

    Raises
    ------
    MalformedCertificateError
        If it is not a certificate at all.
    """
    return faults_found(certificate, FORMAT, "an alignment certificate", _all_faults)


def faults_found(
    certificate: Mapping[str, Any], form: str, name: str, faults: Callable[[Mapping[str, Any]], Iterator[str]]
) -> list[str]:
    """Return what a checker finds in a certificate of its format, and whether the content was changed.

    Parameters
    ----------
    certificate : mapping
        It may hold anything.
    form, name : str
        The format, and what a certificate of this format is called.
    faults : callable
        The checker; that it stumbles on a certificate means that this is malformed.

    Raises
    ------
    MalformedCertificateError
        If it is not such a certificate at all.
    """
    if not isinstance(certificate, Mapping) or certificate.get("format") != form:
        raise MalformedCertificateError(f"not {name}: its format is not {form!r}")
    try:
        is_changed = certificate["digest"] != digest(certificate)
        changed = ["the content was changed: it does not have its digest"] if is_changed else []
        return [*changed, *faults(certificate)]
    except MalformedCertificateError:
        raise
    except (KeyError, ValueError, TypeError, AttributeError, ArithmeticError, IndexError, RecursionError) as error:
        raise MalformedCertificateError(f"malformed certificate: {type(error).__name__}: {error}") from None


def parameter_faults(certificate: Mapping[str, Any]) -> Iterator[str]:
    """Yield a fault if epsilon or delta is outside its domain."""
    epsilon, delta = read_rational(certificate["epsilon"]), read_rational(certificate["delta"])
    if epsilon < 0 or not 0 <= delta <= 1:
        yield f"({epsilon}, {delta}) are no privacy parameters"


def _all_faults(certificate: Mapping[str, Any]) -> Iterator[str]:
    epsilon = read_rational(certificate["epsilon"])
    yield from parameter_faults(certificate)
    boxes = [[(read_rational(low), read_rational(high)) for low, high in box] for box in certificate["boxes"]]
    yield from (f"the boxes lack {box_words(box)}" for box in _missing(certificate, boxes))
    if not certificate["leaves"]:
        yield "there are no leaves"
    for number, leaf in enumerate(certificate["leaves"]):
        kept = [(read_form(form, boxes[0]), False) for form in leaf["constraints"]]
        kept += [(read_form(form, boxes[0]), True) for form in leaf["released"]]
        for index, box in enumerate(boxes):
            faults = _box_faults(epsilon, leaf, kept, index, box)
            yield from (f"leaf {number}, box {index}: {fault}" for fault in faults)


def _missing(certificate: Mapping[str, Any], boxes: Sequence[Box]) -> Iterator[Sequence[tuple[Any, Any]]]:
    """Yield boxes of moves that no box of the certificate holds."""
    size = read_count(certificate["relation"]["size"])
    derived = read_derived(certificate, size)
    if not derived:
        yield from (box for box in extreme_boxes(certificate, boxes) if box not in boxes)
        return
    if any(len(box) != size + len(derived) for box in boxes):
        raise MalformedCertificateError(f"the boxes must have {size + len(derived)} coordinates")
    used = sorted(_used(certificate))
    known = [[box[i] for i in used] for box in boxes]
    listed = set(map(tuple, known))
    for box in _required(certificate, [box[:size] for box in boxes], derived):
        own = [box[i] for i in used]
        if tuple(own) not in listed and not any(_holds(other, own) for other in known):
            yield box


def _required(
    certificate: Mapping[str, Any], boxes: Sequence[Box], derived: Sequence[Derived]
) -> Iterator[Sequence[tuple[Any, Any]]]:
    """Yield the boxes of data and functions of them; those of data stand for their hull if their sum is bounded."""
    relation, moves = certificate["relation"], certificate["moves"]
    is_hull = moves["total"] is not None
    if is_hull and has_steps(derived):
        raise MalformedCertificateError("functions that jump do not obey a bound on the sum of all changes")
    ends = [end if relation[name] is None else read_rational(relation[name])
            for name, end in (("low", -math.inf), ("high", math.inf))]  # fmt: skip
    span = math.inf if relation["span"] is None else read_rational(relation["span"])
    if ends[1] - ends[0] != span:
        raise MalformedCertificateError("the span is not that of the domain")
    for box in extreme_boxes(certificate, boxes):
        yield from required_boxes(
            box, derived, (ends[0], ends[1]), is_integer=read_flag(relation["integer"]), is_limited=not is_hull
        )


def _used(certificate: Mapping[str, Any]) -> set[int]:
    forms = (form for leaf in certificate["leaves"] for form in (*leaf["constraints"], *leaf["released"]))
    return {int(i) for form in forms for i in form["data"]}


def _holds(box: Sequence[tuple[Any, Any]], other: Sequence[tuple[Any, Any]]) -> bool:
    """Return whether a box holds another one."""
    return all(low <= least and most <= high for (low, high), (least, most) in zip(box, other, strict=True))


Form = tuple[Mapping[str, Fraction], Mapping[int, Fraction]]
"""Coefficients of the noises and of the data."""


def _box_faults(
    epsilon: Fraction, leaf: Mapping[str, Any], forms: Sequence[tuple[Form, bool]], index: int, box: Box
) -> Iterator[str]:
    """Yield the faults of the alignments of one leaf for one box."""
    own = [one for one in leaf["alignments"] if one["box"] == index]
    fixed = [{read_index(i, box): read_rational(end) for i, end in one["fixed"].items()} for one in own]
    moving = sorted({i for one in fixed for i in one})
    ends_of = [set(box[i]) for i in moving]
    corners = {tuple(one.get(i) for i in moving) for one in fixed}
    if math.prod(map(len, ends_of)) > len(own) or not corners >= set(itertools.product(*ends_of)):
        yield "not all corners are aligned"
    for one, ends in zip(own, fixed, strict=True):
        shift = {name: read_rational(value) for name, value in one["shift"].items()}
        yield from _shift_faults(epsilon, shift)
        for form, is_released in forms:
            low, high = change_of(
                form, shift, [(ends[i], ends[i]) if i in ends else side for i, side in enumerate(box)]
            )
            if low < 0 or (is_released and high > 0):
                yield f"a {'released number' if is_released else 'decision'} changes by {low} to {high}"


def _shift_faults(epsilon: Fraction, shift: Mapping[str, Fraction]) -> Iterator[str]:
    if sum(map(abs, shift.values())) > epsilon:
        yield "the cost exceeds epsilon"
    for name, value in shift.items():
        kind = name.split(":")[0]
        if kind not in BOTH_WAYS and not (kind in UPWARDS_ONLY and value >= 0):
            yield f"{name} must not be shifted by {value}"


def change_of(form: Form, shift: Mapping[str, Fraction], ends: Box) -> tuple[Fraction, Fraction]:
    """Return the range of the change of a form under a shift and all moves between the ends."""
    noise, data = form
    start = sum((c * shift.get(name, Fraction(0)) for name, c in noise.items()), Fraction(0))
    changes = [sorted(b * end for end in ends[i]) for i, b in data.items()]
    low, high = (sum((change[side] for change in changes), start) for side in (0, 1))
    return low, high


def extreme_boxes(certificate: Mapping[str, Any], boxes: Sequence[Box]) -> Iterator[Box]:
    """Yield boxes whose hull holds all moves of the relation.

    Raises
    ------
    MalformedCertificateError
        If the bounds on the moves that the certificate states do not hold all moves of the relation, or the boxes that
        it lists are of another size, or too few by far.
    """
    relation, moves = certificate["relation"], certificate["moves"]
    size, most, reach = read_count(relation["size"]), read_count(moves["most"]), read_rational(moves["reach"])
    down = math.floor if read_flag(relation["integer"]) else Fraction
    norms = {
        name: read_rational(relation[name]) for name in ("l1", "l2", "linf", "span") if relation.get(name) is not None
    }
    moved = size if relation["l0"] is None else min(size, read_count(relation["l0"]))
    if not boxes or any(len(box) != size for box in boxes):
        raise MalformedCertificateError(f"the boxes must have {size} coordinates")
    if not norms or reach < 0 or most > size or most < moved or reach < down(min(norms.values())):
        raise MalformedCertificateError("the moves do not hold the relation")
    total = most * reach if moves["total"] is None else read_rational(moves["total"])
    if not _is_total(total, most, reach, norms, is_integer=relation["integer"]):
        raise MalformedCertificateError("the moves do not hold the relation")
    full = min(most, int(total // reach)) if reach else 0
    rest = min(total - full * reach, reach) if full < most else Fraction(0)
    if math.comb(size, full) > MOST_MISSING + len(boxes):
        raise MalformedCertificateError(f"{len(boxes)} boxes do not hold the relation")
    for chosen in itertools.combinations(range(size), full):
        for extra in [i for i in range(size) if i not in chosen] if rest else [size]:
            widths = [reach if i in chosen else rest if i == extra else Fraction(0) for i in range(size)]
            if not read_flag(relation["monotone"]):
                yield [(-width, width) for width in widths]
                continue
            yield [(Fraction(0), width) for width in widths]
            yield [(-width, Fraction(0)) for width in widths]


def _is_total(
    total: Fraction, most: int, reach: Fraction, norms: Mapping[str, Fraction], *, is_integer: bool
) -> bool:  # fmt: skip
    """Return whether no move of the relation has a larger sum of changes."""
    down = math.floor if is_integer else Fraction
    by_norm = "l1" in norms and total >= down(norms["l1"])
    by_square = "l2" in norms and (
        total**2 >= most * norms["l2"] ** 2 or (is_integer and total >= math.floor(norms["l2"] ** 2))
    )
    return total >= 0 and (total >= most * reach or by_norm or by_square)


# --- reading ------------------------------------------------------------------------------------------------


def read_flag(value: object) -> bool:
    """Return a truth value.

    Raises
    ------
    MalformedCertificateError
        If it is anything else.
    """
    if type(value) is not bool:
        raise MalformedCertificateError(f"a flag is true or false, got {short(value)}")
    return value


def read_index(text: str, box: Box) -> int:
    """Return the number of a coordinate of a box.

    Raises
    ------
    MalformedCertificateError
        If there is no such coordinate.
    """
    if not text.isdecimal() or int(text) >= len(box):
        raise MalformedCertificateError(f"there is no coordinate {short(text)}")
    return int(text)


def read_form(form: Mapping[str, Any], box: Box) -> Form:
    """Return the coefficients of an affine function of noise and data."""
    noise = {name: read_rational(value) for name, value in form["noise"].items()}
    return noise, {read_index(index, box): read_rational(value) for index, value in form["data"].items()}


def box_words(box: Sequence[tuple[Any, Any]]) -> str:
    """Return a box of moves in words."""
    return ", ".join(f"[{low}, {high}]" for low, high in box)
