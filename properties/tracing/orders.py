"""Order statistics of lists that hold symbols: one decision with as many answers as there are outcomes."""

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from dpassay.properties.tracing.conditions import Condition, decided
from dpassay.properties.tracing.forms import Form, Row, combine, exact
from dpassay.properties.tracing.images import Image
from dpassay.properties.tracing.noisy import Noisy
from dpassay.properties.tracing.refusal import active, refuse
from dpassay.properties.tracing.symbols import Symbol
from dpassay.properties.tracing.tree import Cell
from dpassay.spec.leaves.model import NoiseKind

__all__ = ["first_largest", "first_smallest", "largest", "order", "partition_order", "refuse_ties", "smallest"]

_ONE = Fraction(1)


def largest(elements: list[Any]) -> Any:
    """Return the largest element; NaN if there is one."""
    return elements[first_largest(elements)]


def smallest(elements: list[Any]) -> Any:
    """Return the smallest element; NaN if there is one."""
    return elements[first_smallest(elements)]


def first_largest(elements: list[Any]) -> int:
    """Return the first place of the largest element, or of a NaN."""
    if any(isinstance(element, Condition) for element in elements):
        return next((place for place, element in enumerate(elements) if element), 0)
    if not any(isinstance(element, Noisy) for element in elements):
        return int(np.argmax(elements))
    for place, element in enumerate(elements):
        if not isinstance(element, Noisy) and (math.isnan(element) or element == math.inf):
            return place
    places = [place for place, element in enumerate(elements) if isinstance(element, Noisy) or element > -math.inf]
    forms = _forms([elements[place] for place in places])
    return places[_one_by_one(elements, places) if forms is None else _pick_largest(forms)]


def first_smallest(elements: list[Any]) -> int:
    """Return the first place of the smallest element, or of a NaN."""
    if any(isinstance(element, Condition) for element in elements):
        return next((place for place, element in enumerate(elements) if not element), 0)
    return first_largest([-element for element in elements])


def order(elements: list[Any]) -> list[int]:
    """Return the places in increasing order of the elements, equal ones as they stand, NaN last."""
    values = [decided(element) for element in elements]
    numbers = [k for k, value in enumerate(values) if isinstance(value, Noisy) or not math.isnan(value)]
    return sorted(numbers, key=values.__getitem__) + [k for k in range(len(values)) if k not in numbers]


def partition_order(elements: list[Any], kth: int) -> list[int]:
    """Return places such that the k-th is in its sorted position, smaller ones before it and larger ones behind.

    On either side the places increase; numpy promises no order there. Of equal elements the first is the smaller.
    """
    size = len(elements)
    kth = kth + size if kth < 0 else kth
    if not 0 <= kth < size:
        raise ValueError(f"kth(={kth}) out of bounds ({size})")
    if not any(isinstance(element, Noisy) for element in elements):
        return order(elements)
    refuse_ties(elements)
    forms = _forms(elements)
    if forms is None or math.comb(size, kth) * (size - kth) > active.run.limits.values:
        return order(elements)
    splits = [
        (first, middle, tuple(k for k in range(size) if k != middle and k not in first))
        for first in itertools.combinations(range(size), kth)
        for middle in range(size)
        if middle not in first
    ]

    def cell(place: int) -> Cell:
        first, middle, last = splits[place]
        return tuple(
            [Row(_difference(forms[middle], forms[k]), k > middle) for k in first]
            + [Row(_difference(forms[k], forms[middle]), k < middle) for k in last]
        )

    first, middle, last = splits[active.run.pick(("partition", kth, forms), len(splits), cell)]
    return [*first, middle, *last]


def refuse_ties(elements: Sequence[Any]) -> None:
    """Refuse noise on a lattice, whose ties have mass, where numpy promises no order of equal elements."""
    symbols = [element.symbol if isinstance(element, Image) else element for element in elements]
    forms = [symbol.form for symbol in symbols if isinstance(symbol, Symbol)]
    if any(active.run.kinds.get(key) is NoiseKind.GEOMETRIC for form in forms for key in form.terms):
        refuse("the order of equal values of discrete noise")


def _pick_largest(forms: Sequence[Form]) -> int:
    def cell(place: int) -> Cell:
        others = (k for k in range(len(forms)) if k != place)
        return tuple(Row(_difference(forms[place], forms[k]), k < place) for k in others)

    return int(active.run.pick(("largest", forms), len(forms), cell)) if len(forms) > 1 else 0


def _difference(left: Form, right: Form) -> Form:
    return combine(((_ONE, left), (-_ONE, right)))


def _forms(elements: Sequence[Any]) -> list[Form] | None:
    """Return the elements as forms in the same order; None if there are functions of noise among them."""
    if all(isinstance(element, Image) for element in elements):
        return _forms_of_images(elements)
    if any(isinstance(element, Image) for element in elements):
        return None
    numbers = [None if isinstance(element, Symbol) else exact(element) for element in elements]
    if any(
        number is None and not isinstance(element, Symbol) for element, number in zip(elements, numbers, strict=True)
    ):
        return None  # infinite or NaN
    return [element.form if number is None else Form(number, {})
            for element, number in zip(elements, numbers, strict=True)]  # fmt: skip


def _forms_of_images(images: Sequence[Any]) -> list[Form] | None:
    steps = images[0].steps
    if any(image.steps != steps or not image.is_strictly_monotone for image in images):
        return None
    sign = math.prod(-1 for step in steps if step[0] == "scale" and step[1] < 0)
    return [image.symbol.form.scaled(Fraction(sign)) for image in images]


def _one_by_one(elements: Sequence[Any], places: Sequence[int]) -> int:
    best = 0
    for k in range(1, len(places)):
        if elements[places[k]] > elements[places[best]]:
            best = k
    return best
