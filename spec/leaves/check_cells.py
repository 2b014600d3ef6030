"""An independent checker of certificates of mechanisms that are discrete on cells of data: the standard library alone.

A certificate is a tree of decisions about data. At its ends stand the probabilities of the outcomes, or multipliers
that prove that no data lead there. For every ordered pair of ends the probabilities have to agree with (epsilon,
delta), unless multipliers prove that no neighbours lead to them. That the tree describes the mechanism is not part of
the certificate. Multipliers y >= 0 of constraints f_i >= 0 or f_i > 0 prove that no point obeys all of them if
sum y_i f_i is a constant below 0, or 0 with a positive multiplier of a strict constraint.
"""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpassay.spec.leaves.check import MalformedCertificateError, faults_found, read_count, read_rational

__all__ = ["FORMAT", "check_cells", "exp_lower"]

FORMAT = "dpassay discrete cells 1"

MOST_TERMS = 100_000
"""Terms of the exponential series at most."""

MOST_SETS = 4096
"""Sets of coordinates that may move at most."""

LEAST_TERM = Fraction(1, 2**160)
"""Terms below this, relative to the sum, are left out."""

Form = tuple[Fraction, Mapping[str, Fraction], bool]
"""The constant, the coefficients by variable, and whether the form is above 0 rather than at least 0."""


@dataclass(frozen=True)
class _End:
    """An end of the tree: the constraints on the way, and what stands there."""

    path: tuple[Form, ...]
    masses: Mapping[str, Fraction]


def check_cells(certificate: Mapping[str, Any]) -> list[str]:
    """Return all faults of a certificate; an empty list means that (epsilon, delta) is proved for its tree.

    Raises
    ------
    MalformedCertificateError
        If it is not a certificate at all.
    """
    return faults_found(certificate, FORMAT, "a certificate of cells", _all_faults)


def _all_faults(certificate: Mapping[str, Any]) -> Iterator[str]:
    epsilon, delta, undecided = (read_rational(certificate[name]) for name in ("epsilon", "delta", "undecided"))
    if epsilon < 0 or not 0 <= undecided <= delta <= 1:
        yield f"({epsilon}, {delta}) with undecided mass {undecided} are no privacy parameters"
    size = read_count(certificate["relation"]["size"])
    ends: list[_End] = []
    yield from _walk(certificate["tree"], (), size, ends)
    for number, end in enumerate(ends):
        total = sum(end.masses.values(), Fraction(0))
        if min(end.masses.values(), default=0) < 0 or not 1 - undecided <= total <= 1:
            yield f"cell {number}: the probabilities sum to {total}"
    moves = _moves(certificate["relation"], size)
    apart = {(one["from"], one["to"]): one["proofs"] for one in certificate["apart"]}
    factor = exp_lower(epsilon)
    for (i, here), (j, there) in itertools.product(enumerate(ends), repeat=2):
        if (i, j) in apart:
            forms = [*_named(here.path, moved=False), *_named(there.path, moved=True)]
            if not _are_apart(forms, moves, apart[i, j]):
                yield f"cells {i} and {j}: it is not proved that no neighbours lie in them"
            continue
        lost = (mass - factor * there.masses.get(outcome, Fraction(0)) for outcome, mass in here.masses.items())
        if sum((one for one in lost if one > 0), Fraction(0)) + undecided > delta:
            yield f"cells {i} and {j}: their probabilities differ by more than epsilon and delta"


def _walk(node: Mapping[str, Any], path: tuple[Form, ...], size: int, ends: list[_End]) -> Iterator[str]:
    """Collect the ends of the tree; yield its faults."""
    if "masses" in node:
        ends.append(_End(path, {outcome: read_rational(mass) for outcome, mass in node["masses"].items()}))
    elif "empty" in node:
        if not _is_contradiction(path, [read_rational(y) for y in node["empty"]]):
            yield "a branch is left out that data may take"
    else:
        constant, data, is_strict = read_rational(node["constant"]), node["data"], node["strict"]
        slopes = {name: read_rational(value) for name, value in data.items()}
        if type(is_strict) is not bool or not all(name.isdecimal() and int(name) < size for name in slopes):
            raise MalformedCertificateError("a decision is about a coordinate that there is not")
        yes = constant, slopes, is_strict
        no = -constant, {name: -value for name, value in slopes.items()}, not is_strict
        yield from _walk(node["yes"], (*path, yes), size, ends)
        yield from _walk(node["no"], (*path, no), size, ends)


def _named(path: Sequence[Form], *, moved: bool) -> Iterator[Form]:
    """Yield constraints at x, or at x + Delta, whose variables are "x0", ... and "d0", ..."""
    for constant, slopes, is_strict in path:
        names = {f"x{i}": value for i, value in slopes.items()}
        yield constant, names | ({f"d{i}": value for i, value in slopes.items()} if moved else {}), is_strict


def _moves(relation: Mapping[str, Any], size: int) -> list[list[Form]]:
    """Return sets of constraints such that every move obeys one: a bound on each coordinate that may move, else 0."""
    bounds = [read_rational(relation[name]) for name in ("l1", "l2", "linf", "span") if relation.get(name) is not None]
    most = size if relation["l0"] is None else min(size, read_count(relation["l0"]))
    if not bounds or min(bounds) < 0 or math.comb(size, most) > MOST_SETS:
        raise MalformedCertificateError("the relation has no bound, or too many sets of coordinates may move")
    reach = min(bounds)
    return [
        [
            (reach if i in moving else Fraction(0), {f"d{i}": Fraction(sign)}, False)
            for i in range(size)
            for sign in (1, -1)
        ]
        for moving in itertools.combinations(range(size), most)
    ]


def _are_apart(forms: Sequence[Form], moves: Sequence[Sequence[Form]], proofs: Sequence[Sequence[object]]) -> bool:
    """Return whether there is a proof for each set of moves that no point and move obey the constraints."""
    return len(moves) == len(proofs) and all(
        _is_contradiction([*forms, *own], [read_rational(y) for y in proof])
        for own, proof in zip(moves, proofs, strict=True)
    )


def _is_contradiction(forms: Sequence[Form], multipliers: Sequence[Fraction]) -> bool:
    if len(forms) != len(multipliers) or any(y < 0 for y in multipliers):
        return False
    total: dict[str, Fraction] = {}
    for (_, slopes, _), y in zip(forms, multipliers, strict=True):
        for name, value in slopes.items():
            total[name] = total.get(name, Fraction(0)) + y * value
    constant = sum((y * form[0] for form, y in zip(forms, multipliers, strict=True)), Fraction(0))
    is_strict = any(form[2] and y > 0 for form, y in zip(forms, multipliers, strict=True))
    return not any(total.values()) and (constant < 0 or (constant == 0 and is_strict))


def exp_lower(epsilon: Fraction) -> Fraction:
    """Return a rational number that is at most e^epsilon: the first terms of its series, which are positive."""
    total = term = Fraction(1)
    for k in range(1, MOST_TERMS):
        term *= epsilon / k
        total += term
        if k > epsilon and term < LEAST_TERM * total:
            break
    return total
