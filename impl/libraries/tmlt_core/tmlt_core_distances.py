"""Plain tables, their distances from the definitions of the metrics, and tables that are as far as an operation moves.

A table is a list of rows (id, group, whole, value). A missing value is None.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sympy
from tmlt.core.metrics import HammingDistance, IfGroupedBy, RootSumOfSquared, SumOf, SymmetricDifference

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["COLUMNS", "IDS", "REPLACED", "ROWS", "Distance", "first_of", "grouped", "neighbours", "parted"]

COLUMNS = ("id", "group", "whole", "value")


@dataclass(frozen=True)
class Distance:
    """A metric of the library, and the same distance of plain tables."""

    metric: Any
    between: Callable[[list, list], Any]


def _changed_rows(left, right):
    one, other = Counter(left), Counter(right)
    return sum(((one - other) + (other - one)).values())


def _replaced_rows(left, right):
    if len(left) != len(right):
        return math.inf
    return sum((Counter(left) - Counter(right)).values())


ROWS = Distance(SymmetricDifference(), _changed_rows)
REPLACED = Distance(HammingDistance(), _replaced_rows)


def _split(table, positions):
    parts = defaultdict(list)
    for row in table:
        parts[tuple(row[k] for k in positions)].append(row)
    return parts


def _positions(columns):
    return [COLUMNS.index(column) for column in columns]


def _changed_ids(left, right, positions):
    """Return the distance of tables whose records are all rows of an id: one that is changed goes and comes."""
    one, other = _split(left, positions), _split(right, positions)
    different = [key for key in one.keys() | other.keys() if Counter(one[key]) != Counter(other[key])]
    return sum(bool(one[key]) + bool(other[key]) for key in different)


def _combined(moves, root):
    return sympy.sqrt(sum(move**2 for move in moves)) if root else sum(moves)


def _by_group(columns, inner, root):
    positions = _positions(columns)

    def between(left, right):
        one, other = _split(left, positions), _split(right, positions)
        return _combined([inner.between(one[key], other[key]) for key in one.keys() | other.keys()], root)

    return between


IDS = Distance(IfGroupedBy(["id"], SymmetricDifference()), lambda one, other: _changed_ids(one, other, [0]))


def grouped(columns, root, inner=ROWS):
    """Return the distance of tables that are grouped by columns: a sum, or the root of the sum of squares."""
    combination = RootSumOfSquared if root else SumOf
    return Distance(IfGroupedBy(columns, combination(inner.metric)), _by_group(columns, inner, root))


def parted(columns, root, inner=ROWS):
    """Return the distance of lists of tables, given as the table whose parts by columns they are."""
    combination = RootSumOfSquared if root else SumOf
    return Distance(combination(inner.metric), _by_group(columns, inner, root))


def first_of(table, columns, most, *, items=()):
    """Return the rows of the first few items of every part by columns; without items, its first few rows.

    What is first depends on the contents of a row alone, like in the library, whose order is that of hashes.
    """
    kept, positions = [], _positions(items)
    for part in _split(table, _positions(columns)).values():
        ordered = sorted(part, key=repr)
        if not items:
            kept += ordered[:most]
            continue
        chosen = sorted(_split(part, positions), key=repr)[:most]
        kept += [row for row in ordered if tuple(row[k] for k in positions) in chosen]
    return kept


_VALUES = (None, math.inf, math.nan, 0.5, 2.5)


def _row(random, *, ids=4, groups=3):
    """Return a row; its numbers are few, so that rows are often equal."""
    place = (random.randrange(ids), f"g{random.randrange(groups)}")
    return (*place, random.choice((None, 0, 1, 2)), random.choice(_VALUES))


def _block(ids, groups, wholes):
    """Return a row for every id, group and whole number."""
    return [(one, f"g{group}", whole, 0.5) for one in ids for group in groups for whole in wholes]


def neighbours(random):
    """Return pairs of tables: random ones, and those that are far apart once they are cut, copied or counted."""
    table = [_row(random) for _ in range(random.randint(4, 9))]
    gone = random.randint(1, 3)
    swapped = [*table[gone:], *(_row(random) for _ in range(gone))]
    base = _block(range(2), range(2), range(1))
    count = random.randint(2, 4)
    new = range(10, 10 + count)
    pairs = [
        (table, table[gone:]),
        (table, swapped),
        (table, [*table, *(_row(random) for _ in range(gone))]),
        # new ids with more rows, in more groups, than any bound leaves
        (base, base + _block(new, range(6), range(6))),
        # ids of which all rows are others
        (_block(new, range(6), range(6)), _block(new, range(6, 12), range(6, 12))),
        # new rows in one group, and one new row in each of several groups
        (base, base + _block(new, [0], [0])),
        (base, base + _block([10], range(count**2), [0])),
        # rows that are replaced within a group, and by those of another one
        (_block(new, [0], [0]), _block(new, [0], [1])),
        (_block(new, [0], [0]), _block(new, [1], [0])),
    ]
    return [pair for one, other in pairs for pair in ((one, other), (other, one))]
