"""The outcomes of traced mechanisms as symbols and events of sampled ones: what a reader sees, a replay can evaluate.

The event of a cell says where the numbers of an outcome lie, and as much about its form as tells it from the other
forms of the two models: ``keys(outcome) in {'0'}``, ``len(outcome) == 2``. Whether it does tell them is evaluated on
an example of each; where it does not, the event is described in words for a reader, which no replay evaluates.
"""

import itertools
import math
import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from dpassay.arguments import rounded_down, rounded_up
from dpassay.impl.libraries.plain import Record, Scalar, attribute, item
from dpassay.impl.libraries.reading import read
from dpassay.properties.outcomes.batch import Outcomes
from dpassay.properties.outcomes.events import AllOf, AnyOf, Event, Interval, Simple, Symbols, Words
from dpassay.properties.outcomes.flattening import OUTCOME
from dpassay.properties.outcomes.raised import RAISES
from dpassay.properties.outcomes.symbols import comparable
from dpassay.properties.tracing.outcomes import Members, TypeTag, image_value
from dpassay.properties.tracing.words import outcome_words
from dpassay.spec.leaves.model import Affine, Constraint, Image, Leaf, LeafModel, Noise, Raised, Relation, Step
from dpassay.spec.leaves.outcomes import ROUNDINGS, skeleton
from dpassay.spec.leaves.polyhedra import has_interior
from dpassay.spec.leaves.supports import InfiniteLoss, inverse, substituted

__all__ = ["Forms", "cell_ranges", "event_of_loss", "numbers_of", "range_of", "symbol_of"]

_MOST_FORMS, _MOST_PIECES = 64, 16
"""Forms of outcomes that are compared with each other, and parts of which an event consists."""

_ODD = 0.1234567890123
"""A number in examples in place of one with noise: no constant of a mechanism."""


# --- symbols ------------------------------------------------------------------------------------------------


def symbol_of(outcome: Hashable) -> Hashable:
    """Return an outcome in the normal form of a trace as the symbol that a sampled one would be."""
    return comparable(_plain(outcome))


def _plain(outcome: Any, noisy: float | None = None) -> Any:  # noqa: PLR0911 - a case for each kind of outcome
    """Return the plain value of an outcome in the normal form; numbers that hold noise are at their centres."""
    if isinstance(outcome, Raised):
        return f"{RAISES}{outcome.words}>"
    if isinstance(outcome, Image):
        if noisy is not None and not outcome.form.is_constant:
            return noisy
        return image_value(outcome.steps, float(outcome.form.constant))
    if isinstance(outcome, Affine):
        return float(outcome.constant) if noisy is None or outcome.is_constant else noisy
    if isinstance(outcome, Fraction):
        return float(outcome)
    if _is_named(outcome):
        parts = ((accessor, _plain(part, noisy)) for accessor, part in _named_parts(outcome))
        return Record(str(outcome[0]), tuple(parts))
    if isinstance(outcome, tuple):
        return tuple(_plain(part, noisy) for part in outcome)
    return read(set(outcome) if isinstance(outcome, Members) else outcome)


def _is_named(outcome: Any) -> bool:
    return isinstance(outcome, tuple) and len(outcome) == 2 and isinstance(outcome[0], TypeTag)


def _named_parts(outcome: Any) -> list[tuple[str, Any]]:
    kind, pairs = outcome
    if kind.has_fields:
        return [(attribute(name), part) for name, part in pairs]
    return [(item(_plain(key)), part) for key, part in pairs]


# --- forms --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Facet:
    """The information at one place of an outcome beside the values of noisy numbers.

    Parameters
    ----------
    path : str
        The expression that leads there.
    state : Hashable
        What tells it from the same place of other outcomes.
    condition : Interval or Symbols, optional
        The event that it does; None where no event says so.
    """

    path: str
    state: Hashable
    condition: Simple | None = None


_NOISY, _ROUNDED = ("number", None), ("rounded number", None)
"""The states of a number that holds continuous noise, as it is or rounded; that of a constant one has its value."""


def _facets(value: Any, path: str) -> Iterator[_Facet]:
    """Yield the facets of an outcome in the normal form; one for each number, in the order of `skeleton`."""
    if _is_named(value):
        parts = _named_parts(value)
        names = ", ".join(accessor[1:-1] for accessor, _ in parts)
        condition = None  # no feature tells the names of attributes
        if parts and not value[0].has_fields:
            condition = Symbols((names,), f"keys({path})")
        elif not parts and path == OUTCOME:
            condition = Symbols((_plain(value),))
        yield _Facet(path, (value[0], names), condition)
        for accessor, part in parts:
            yield from _facets(part, path + accessor)
    elif isinstance(value, tuple):
        length = float(len(value))
        is_empty = not value and path == OUTCOME
        yield _Facet(path, ("length", length), Symbols(((),)) if is_empty else _exactly(f"len({path})", length))
        for place, part in enumerate(value):
            yield from _facets(part, f"{path}[{place}]")
    elif skeleton(value, functions=True)[1]:
        constant = _constant(value)
        if constant is None:
            yield _noisy(path, is_rounded=isinstance(value, Image) and value.steps[0][0] in ROUNDINGS)
        else:
            yield _Facet(path, (_NOISY[0], constant), _exactly(path, constant))
    else:
        yield from _plain_facets(_plain(value), path)


def _plain_facets(value: Any, path: str) -> Iterator[_Facet]:
    """Yield the facets of a plain value without noisy numbers, in one piece where an event can name it."""
    if isinstance(value, bool):
        yield _Facet(path, value, _exactly(path, float(value)) if path != OUTCOME else Symbols((value,)))
    elif path == OUTCOME or not isinstance(value, Record | tuple | float | int):
        is_named = path == OUTCOME or not isinstance(value, Scalar)
        yield _Facet(path, comparable(value), Symbols((comparable(value),), path) if is_named else None)
    elif isinstance(value, Record):
        yield _Facet(path, value.kind)
        for accessor, part in value.parts:
            yield from _plain_facets(part, path + accessor)
    elif isinstance(value, tuple):
        yield _Facet(path, ("length", len(value)), _exactly(f"len({path})", float(len(value))))
        for place, part in enumerate(value):
            yield from _plain_facets(part, f"{path}[{place}]")
    else:
        yield _Facet(path, comparable(value), _exactly(path, float(value)) if math.isfinite(value) else None)


def _constant(value: Any) -> float | None:
    """Return a number that holds no noise, None for others."""
    if isinstance(value, Image):
        return _plain(value) if value.form.is_constant else None
    (number,) = skeleton(value)[1]
    return float(number.constant) if number.is_constant else None


@dataclass(frozen=True)
class _Form:
    """The form of an outcome, with an outcome of the form."""

    facets: tuple[_Facet, ...]
    example: Hashable = field(compare=False)

    @classmethod
    def of(cls, outcome: Hashable, *, on_lattice: bool = False) -> "_Form":
        facets = tuple(_facets(outcome, OUTCOME))
        if on_lattice:  # noise takes the value of a constant with positive probability
            facets = tuple(_noisy(facet.path) if _constant_in(facet.state) is not None else facet for facet in facets)
        return cls(facets, outcome)


class Forms:
    """The forms of the outcomes of some models: an outcome without its noisy numbers.

    Parameters
    ----------
    models : iterable of LeafModel
        On numeric data, with their outcomes as they are released.
    on_lattice : bool
        Whether constant numbers are no part of a form.
    """

    def __init__(self, models: Iterable[LeafModel], *, on_lattice: bool = False) -> None:
        self._on_lattice = on_lattice
        outcomes = (leaf.outcome for model in models for leaf in model.leaves)
        self._known = tuple(dict.fromkeys(_Form.of(outcome, on_lattice=on_lattice) for outcome in outcomes))

    def event(self, outcome: Hashable, ranges: Iterable[Interval] = ()) -> Event | Words:
        """Return the event that an outcome has the form of the one given, and its noisy numbers lie in ranges.

        Parameters
        ----------
        outcome : Hashable
            In the normal form, as it is released.
        ranges : iterable of Interval
            By their features; other numbers may be anywhere.

        Returns
        -------
        Event or Words
            Words where no event tells the form from the others.
        """
        given = {each.feature: each for each in ranges}
        telling = _telling(self._known, _Form.of(outcome, on_lattice=self._on_lattice))
        event = None if telling is None else telling.event(given)
        return Words(", ".join([outcome_words(outcome), *map(str, given.values())])) if event is None else event


@dataclass(frozen=True)
class _Telling:
    """Conditions that tell a form from others, and single values that a noisy number never has."""

    conditions: tuple[Simple, ...] = ()
    holes: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    def event(self, ranges: Mapping[str, Interval]) -> Event | None:
        """Return the event that an outcome is of the form and in ranges; None if it has too many parts."""
        kept = [each for each in self.conditions if not (isinstance(each, Interval) and each.feature in ranges)]
        whole = {path: Interval(path, -math.inf, math.inf) for path in self.holes}
        pieces = [_without(each, self.holes.get(path, ())) for path, each in (whole | dict(ranges)).items()]
        if math.prod(map(len, pieces)) > _MOST_PIECES:
            return None
        parts = [_all_of([*kept, *choice]) for choice in itertools.product(*pieces)]
        return parts[0] if len(parts) == 1 else AnyOf(tuple(parts))


@lru_cache(maxsize=256)
def _telling(forms: tuple[_Form, ...], own: _Form) -> _Telling | None:
    """Return what tells one form from the others; None if nothing does."""
    others = [form for form in forms if form != own]
    if len(forms) > _MOST_FORMS:
        return None
    examples = Outcomes.of([_plain(form.example, _ODD) for form in (own, *others)])
    kept: list[Simple] = []
    hits = _all_of(kept).holds(examples) | True
    for facet in own.facets:
        if facet.condition is not None and any(facet not in other.facets for other in others):
            narrower = hits & facet.condition.holds(examples)
            if narrower.sum() < hits.sum():
                kept, hits = [*kept, facet.condition], narrower
    left = [form for form, hit in zip(others, hits[1:].tolist(), strict=True) if hit]
    found = _Telling(tuple(kept), _holes(own, left))
    event = found.event({})
    expected = [True] + [False] * len(others)
    return found if event is not None and (not others or event.holds(examples).tolist() == expected) else None


def _holes(own: _Form, others: Sequence[_Form]) -> dict[str, tuple[float, ...]]:
    """Return the values that other forms have in place of a continuous number."""
    noisy = [facet.path for facet in own.facets if facet.state == _NOISY]
    pairs = [(facet.path, _constant_in(facet.state)) for other in others for facet in other.facets]
    found = {path: sorted({value for place, value in pairs if place == path and value is not None}) for path in noisy}
    return {path: tuple(values) for path, values in found.items() if values}


def _constant_in(state: Hashable) -> float | None:
    """Return the number of a facet that is a constant one; None for others."""
    return state[1] if isinstance(state, tuple) and state[:1] == _NOISY[:1] else None


def _noisy(path: str, *, is_rounded: bool = False) -> _Facet:
    return _Facet(path, _ROUNDED if is_rounded else _NOISY, Interval(path, -math.inf, math.inf))


def _without(interval: Interval, values: Iterable[float]) -> list[Interval]:
    """Return the parts of an interval between single values, which are left out."""
    parts, low = [], interval.low
    for value in values:
        if interval.low < value <= interval.high:
            parts.append(Interval(interval.feature, low, math.nextafter(value, -math.inf)))
            low = value
    parts.append(Interval(interval.feature, low, interval.high))
    return [part for part in parts if part.low < part.high]


def _all_of(parts: Iterable[Simple]) -> Simple | AllOf:
    listed = tuple(dict.fromkeys(parts))
    return listed[0] if len(listed) == 1 else AllOf(listed) if listed else Interval(OUTCOME, -math.inf, math.inf)


def cell_ranges(outcome: Hashable, slots: Iterable[tuple[Sequence[Fraction], Any]]) -> list[Interval]:
    """Return the ranges of the noisy numbers of an outcome from the ends of their cells and their places.

    Parameters
    ----------
    outcome : Hashable
        In the normal form, as it is released.
    slots : iterable of (ends, place)
        For each number in the order of `skeleton`; the place of a constant is text.
    """
    found = []
    for (path, value), (ends, label) in zip(numbers_of(outcome, OUTCOME), slots, strict=True):
        if path is not None and not isinstance(label, str):
            low, high = ([-math.inf, *map(float, ends), math.inf][label + side] for side in (0, 1))
            found.append(range_of(value, path, low, high))
    return [each for each in found if (each.low, each.high) != (-math.inf, math.inf)]


def numbers_of(value: Any, path: str = OUTCOME) -> Iterator[tuple[str | None, Any]]:
    """Yield the numbers of an outcome in the order of `skeleton`, with their paths; a number in a key has none."""
    if _is_named(value):
        for (accessor, part), (key, _) in zip(_named_parts(value), value[1], strict=True):
            yield from ((None, number) for number in skeleton(key)[1])
            yield from numbers_of(part, path + accessor)
    elif isinstance(value, tuple):
        for place, part in enumerate(value):
            yield from numbers_of(part, f"{path}[{place}]")
    elif skeleton(value, functions=True)[1]:
        yield path, value


def range_of(value: Any, path: str, low: float, high: float) -> Interval:
    """Return the range of a released number whose form lies in (low, high].

    Parameters
    ----------
    value : Affine or Image
        The number.
    path : str
        The expression that leads to it.
    low, high : float
        The ends.
    """
    return Interval(path, *(_through(value.steps, low, high) if isinstance(value, Image) else (low, high)))


def _exactly(path: str, value: float) -> Interval:
    return Interval(path, math.nextafter(value, -math.inf), value)


def _through(steps: Sequence[Step], low: float, high: float) -> tuple[float, float]:
    """Return the range of a function on an interval, in floats; a rounding is constant between its jumps."""
    if steps[0][0] in ROUNDINGS:
        ends = sorted(image_value(tuple(steps), end) for end in (low + 0.5, high - 0.5))
        return math.nextafter(ends[0], -math.inf), ends[1]
    first, last = sorted(image_value(tuple(steps), end) for end in (low, high))
    return (-math.inf if math.isnan(first) else first), (math.inf if math.isnan(last) else last)


# --- infinite losses ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Bound:
    """A bound on a released number, or on the difference of two: weights of the numbers, above or below an end."""

    weights: tuple[tuple[int, int], ...]
    end: Fraction
    is_above: bool

    def on(self, leaf: Leaf) -> Constraint:
        """Return the bound as a constraint on the noise of a leaf."""
        _, numbers = skeleton(leaf.outcome)
        sign = 1 if self.is_above else -1
        constant, noise = -sign * self.end, dict[Noise, Fraction]()
        for place, weight in self.weights:
            constant += sign * weight * numbers[place].constant
            for name, value in numbers[place].noise.items():
                noise[name] = noise.get(name, Fraction(0)) + sign * weight * value
        kept = {name: value for name, value in noise.items() if value}
        return Constraint(Affine(constant, kept), Relation.ABOVE if self.is_above else Relation.AT_LEAST)


def event_of_loss(
    found: InfiniteLoss, sides: tuple[LeafModel, LeafModel], released: tuple[LeafModel, LeafModel]
) -> "tuple[Event, list[Leaf]] | None":
    """Return an event of infinite loss that a replay can evaluate, and the disjoint leaves whose union it is.

    Parameters
    ----------
    found : InfiniteLoss
        A leaf, and the part of it that is impossible on the other side.
    sides : (LeafModel, LeafModel)
        The models, that of the leaf first, with affine numbers in place of functions of them.
    released : (LeafModel, LeafModel)
        The same models with the outcomes as they are released.

    Returns
    -------
    (Event, list of Leaf) or None
        None where the language of events has none.
    """
    own, other = (
        [(leaf, original.outcome) for leaf, original in zip(side.leaves, model.leaves, strict=True) if leaf.weight]
        for side, model in zip(sides, released, strict=True)
    )
    outcome = next(outcome for leaf, outcome in own if leaf is found.leaf)
    form = _Form.of(outcome)
    own_leaves, others = ([leaf for leaf, shown in side if _Form.of(shown) == form] for side in (own, other))
    bounds = _bounds(found, [leaf for leaf in others if has_interior(leaf.constraints)])
    if bounds is None:
        return None
    ranges = _bounded_ranges(outcome, bounds)
    if ranges is None:
        return None
    if any(has_interior([*leaf.constraints, *(bound.on(leaf) for bound in bounds)]) for leaf in others):
        return None
    event = Forms(released).event(outcome, ranges)
    parts = [
        replace(leaf, constraints=(*leaf.constraints, *(bound.on(leaf) for bound in bounds))) for leaf in own_leaves
    ]
    return None if isinstance(event, Words) else (event, [part for part in parts if has_interior(part.constraints)])


def _bounds(found: InfiniteLoss, others: Sequence[Leaf]) -> list[_Bound] | None:
    """Return bounds on released numbers that a part of a leaf obeys and the other leaves of its form do not."""
    if not others:
        return []
    if not found.part:
        return _apart(found.leaf, others)
    noises = inverse(found.leaf)
    if noises is None:
        return None
    bounds = [_bound(substituted(one.form, noises)) for one in found.part]
    known = [bound for bound in bounds if bound is not None]
    return known if len(known) == len(bounds) else None


def _apart(leaf: Leaf, others: Sequence[Leaf]) -> list[_Bound] | None:
    """Return bounds on a difference of two numbers that is constant in all leaves, and another one in this leaf."""
    _, numbers = skeleton(leaf.outcome)
    for places in itertools.combinations(range(len(numbers)), 2):
        own, *rest = (_difference(each, places) for each in (leaf, *others))
        if own is None or any(value is None or value == own for value in rest):
            continue
        below = [value for value in rest if value is not None and value < own]
        above = [value for value in rest if value is not None and value > own]
        weights = ((places[0], 1), (places[1], -1))
        found = [_Bound(weights, _rounded((own + max(below)) / 2, up=True), is_above=True)] if below else []
        found += [_Bound(weights, _rounded((own + min(above)) / 2, up=False), is_above=False)] if above else []
        return found
    return None


def _difference(leaf: Leaf, places: tuple[int, ...]) -> Fraction | None:
    """Return the difference of two released numbers if noise does not change it."""
    first, second = (skeleton(leaf.outcome)[1][place] for place in places)
    return first.constant - second.constant if first.noise == second.noise else None


def _bound(form: Affine) -> _Bound | None:
    """Return the bound that a form in released numbers is not negative; None if it is of other numbers than two."""
    values = sorted(form.data.items())
    first = values[0][1] if values else Fraction(0)
    if not (len(values) == 1 or (len(values) == 2 and values[1][1] == -first)):
        return None
    weights = tuple((place, 1 if value == first else -1) for place, value in values)
    return _Bound(weights, _rounded(-form.constant / first, up=first > 0), is_above=first > 0)


def _rounded(end: Fraction, *, up: bool) -> Fraction:
    """Return a float next to an end; the event of it must not reach beyond."""
    return Fraction(rounded_up(end) if up else rounded_down(end))


def _bounded_ranges(outcome: Hashable, bounds: Sequence[_Bound]) -> list[Interval] | None:
    """Return the ranges of features that bounds describe; None if the features of outcomes lack one."""
    numbers = list(numbers_of(outcome, OUTCOME))
    ends: dict[str, tuple[float, float]] = {}
    for bound in bounds:
        paths = [numbers[place][0] for place, _ in bound.weights]
        (value, *others) = (numbers[place][1] for place, _ in bound.weights)
        low, high = (float(bound.end), math.inf) if bound.is_above else (-math.inf, float(bound.end))
        if others and (isinstance(value, Image) or any(isinstance(each, Image) for each in others)):
            return None
        if any(path is None or (others and not re.fullmatch(r"outcome\[\d+\]", path)) for path in paths):
            return None
        each = range_of(value, "-".join(path for path in paths if path is not None), low, high)
        known = ends.get(each.feature, (-math.inf, math.inf))
        ends[each.feature] = max(known[0], each.low), min(known[1], each.high)
    return [Interval(feature, low, high) for feature, (low, high) in ends.items()]
