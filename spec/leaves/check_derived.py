"""The part of the checker of certificates about functions of data: the standard library alone.

A certificate may list functions of data, each of coordinates before it. Whatever box of moves the data have, the
functions move within intervals that are computed here, and a box of the certificate must hold all of them. Where a
single coordinate of the data moves, comparisons of it move by differences of the values that they have together.
"""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from dpassay.spec.leaves.reading import MalformedCertificateError, read_rational

__all__ = ["Derived", "has_steps", "read_derived", "required_boxes"]

End = Fraction | float
Ends = tuple[End, End]
FUNCTIONS = {"clip", "abs", "floor", "ceil", "rint", "above", "at least", "square"}
COMPARISONS = {"above", "at least"}
NEVER = Fraction(0), Fraction(0)
MOST_VECTORS = 64


class Derived(NamedTuple):
    """A function as a certificate states it."""

    function: str
    constant: Fraction
    slopes: Mapping[int, Fraction]
    low: End
    high: End


class _Coordinate(NamedTuple):
    """Interval of values, interval of moves, and whether all values are integers."""

    values: Ends
    moves: Ends
    is_whole: bool


def read_derived(certificate: Mapping[str, Any], size: int) -> list[Derived]:
    """Return the functions of a certificate.

    Raises
    ------
    MalformedCertificateError
        If a function is unknown, or of a coordinate that does not come before it.
    """
    found: list[Derived] = []
    for one in certificate.get("derived", ()):
        slopes = {int(i): read_rational(value) for i, value in one["data"].items() if i.isdecimal()}
        is_known = one["function"] in FUNCTIONS and len(slopes) == len(one["data"]) > 0 and all(slopes.values())
        if not is_known or max(slopes) >= size + len(found):
            raise MalformedCertificateError("a function of data is unknown, or of a coordinate that comes later")
        low, high = (end if one[name] is None else read_rational(one[name])
                     for name, end in (("low", -math.inf), ("high", math.inf)))  # fmt: skip
        found.append(Derived(one["function"], read_rational(one["constant"]), slopes, low, high))
    return found


def has_steps(derived: Sequence[Derived]) -> bool:
    """Return whether a function jumps: many of them may do so for moves of a small sum."""
    return any(one.function not in {"clip", "abs", "square"} for one in derived)


def required_boxes(
    box: Sequence[tuple[Fraction, Fraction]], derived: Sequence[Derived], domain: Ends, *, is_integer: bool,
    is_limited: bool,
) -> Iterator[list[Ends]]:  # fmt: skip
    """Yield boxes of data and functions that together hold all moves of a box of the data.

    Parameters
    ----------
    box : sequence of (Fraction, Fraction)
        Moves of the data.
    derived : sequence of Derived
        The functions.
    domain : (number, number)
        Least and largest value of the data.
    is_integer : bool
        Whether the data are integers.
    is_limited : bool
        Whether a function moves by no more than the difference of its largest and its least value. Where boxes stand
        for their convex hull, only multiples of the moves of the data may be used.
    """
    moving = [i for i, ends in enumerate(box) if any(ends)]
    together = _differences(moving[0], len(box), derived) if len(moving) == 1 and is_limited else [{}]
    for known in together:
        found = [_Coordinate(domain, ends, is_integer) for ends in box]
        for one in derived:
            own = _coordinate(one, found, is_limited=is_limited)
            fixed = known.get(len(found))
            if fixed is not None and not own.moves[0] <= fixed <= own.moves[1]:
                break
            found.append(own if fixed is None else own._replace(moves=(fixed, fixed)))
        else:
            yield [one.moves for one in found]


def _coordinate(one: Derived, before: Sequence[_Coordinate], *, is_limited: bool) -> _Coordinate:
    argument = [(slope, before[i]) for i, slope in one.slopes.items()]
    values = [(slope, part.values) for slope, part in argument]
    moves = [(slope, part.moves) for slope, part in argument]
    least, most = (one.constant + sum(_end(ends, slope, up) for slope, ends in values) for up in (False, True))
    down, rise = (sum((_end(ends, slope, up) for slope, ends in moves), Fraction(0)) for up in (False, True))
    is_whole = one.constant.denominator == 1 and all(s.denominator == 1 and part.is_whole for s, part in argument)
    found = _moved(one, (least, most), (down, rise), is_whole=is_whole)
    span = found.values[1] - found.values[0]
    limited = max(found.moves[0], -span), min(found.moves[1], span)
    return found._replace(moves=limited) if is_limited else found


def _end(ends: Ends, slope: Fraction, is_upper: bool) -> End:
    return slope * ends[is_upper if slope > 0 else not is_upper]


def _moved(one: Derived, values: Ends, moves: Ends, *, is_whole: bool) -> _Coordinate:
    """Return the range of a function of an argument with a range."""
    (least, most), (down, rise) = values, moves
    largest = max(least, -least, most, -most)
    match one.function:
        case "clip":
            ends: list[End] = [min(max(end, one.low), one.high) for end in values]
            whole = is_whole and all(math.isinf(end) or Fraction(end).denominator == 1 for end in (one.low, one.high))
            inward = min(down, Fraction(0)), max(rise, Fraction(0))  # outside the interval nothing moves
            return _Coordinate((ends[0], ends[1]), inward, whole)
        case "abs":
            far = max(-down, rise)
            return _Coordinate((Fraction(0), largest), (-far, far), is_whole)
        case "square":
            far = 2 * largest * max(-down, rise) if any(moves) and largest else Fraction(0)
            return _Coordinate((Fraction(0), largest * largest), (-far, far), is_whole)
        case "above" | "at least":
            signs = Fraction(-1 if down < 0 else 0), Fraction(1 if rise > 0 else 0)
            return _Coordinate((Fraction(0), Fraction(1)), signs, is_whole=True)
    if is_whole:
        return _Coordinate(values, moves, is_whole)
    steps = _steps(-down, to_even=one.function == "rint"), _steps(rise, to_even=one.function == "rint")
    return _Coordinate((least - 1, most + 1), (-steps[0], steps[1]), is_whole=True)


def _steps(distance: End, *, to_even: bool) -> End:
    """Return the most whole numbers that rounding can pass over a distance."""
    if math.isinf(distance):
        return distance
    steps = math.ceil(distance)
    return Fraction(steps + 1 if to_even and steps == distance and steps % 2 == 1 else steps)


def _differences(index: int, size: int, derived: Sequence[Derived]) -> list[dict[int, Fraction]]:
    """Return the moves of all comparisons of one coordinate of the data, and of comparisons of these."""
    own: list[tuple[int, Derived]] = []
    jumps: list[Fraction] = []
    for place, one in enumerate(derived, start=size):
        inner = {known for known, _ in own}
        if one.function in COMPARISONS and set(one.slopes) == {index}:
            jumps.append(-one.constant / one.slopes[index])
            own.append((place, one))
        elif one.function in COMPARISONS and set(one.slopes) <= inner:
            own.append((place, one))
    jumps.sort()
    middles = [(low + high) / 2 for low, high in itertools.pairwise(jumps)]
    beyond = [jumps[0] - 1, jumps[-1] + 1] if jumps else []
    vectors = {tuple(_values(index, x, own).items()) for x in (*jumps, *middles, *beyond)}
    if not vectors or len(vectors) > MOST_VECTORS:
        return [{}]
    pairs = itertools.product(map(dict, vectors), repeat=2)
    return [{place: there[place] - here[place] for place in here} for here, there in pairs]


def _values(index: int, x: Fraction, own: Sequence[tuple[int, Derived]]) -> dict[int, Fraction]:
    known = {index: x}
    for place, one in own:
        argument = one.constant + sum((slope * known[i] for i, slope in one.slopes.items()), Fraction(0))
        known[place] = Fraction(argument > 0 or (argument == 0 and one.function == "at least"))
    del known[index]
    return known
