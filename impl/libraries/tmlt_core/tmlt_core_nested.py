"""Transformations of frames of Tumult Core whose metric counts ids within groups, for its adapter.

An id that is changed in one group counts once there, whatever the number of its rows. In several tables, or in a table
without groups, it may count more often. Nothing here starts Spark.
"""

from __future__ import annotations

import itertools
import math

from tmlt.core.transformations.converters import UnwrapIfGroupedBy
from tmlt.core.transformations.spark_transformations.partition import PartitionByKeys
from tmlt_core_distances import IDS, grouped, parted
from tmlt_core_frames import TABLE
from tmlt_core_numbers import agrees, nearest_float

from dpassay.adapter import Relations

__all__ = ["nested"]

_GROUPS = ("g0", "g1", "g2")
_WHOLES = range(4)


def _row(random):
    return (random.randrange(3), random.choice(_GROUPS), random.choice(_WHOLES), 0.5)


def _pairs(random):
    """Return pairs of tables: with other rows, with a new id of one group, and with an id that is new in a group."""
    table, gone = [_row(random) for _ in range(4)], random.randint(1, 3)
    group = random.choice(_GROUPS)
    new = [(7, group, whole, 0.5) for whole in range(random.randint(2, 4))]
    first, second = ((7, group, 0, 0.5) for group in random.sample(_GROUPS, 2))
    pairs = [
        (table, table[gone:]),
        (table, [*table[gone:], *(_row(random) for _ in range(gone))]),
        (table, table + new),
        (table, [row for row in table if row[0] != table[0][0]]),
        ([first], [first, second]),
    ]
    return [pair for one, other in pairs for pair in ((one, other), (other, one))]


def _no_less(random, words, make, source, target):
    """Check that a transformation that takes a metric states no less than tables move."""
    try:
        made = make(source.metric)
    except ValueError:
        yield f"{words} is refused", 1.0, 1.0, 1.0
        return
    same = made.output_metric == target.metric
    yield agrees(f"{words}: {made.output_metric} in place of {target.metric}", same)
    for left, right in _pairs(random):
        moved = nearest_float(target.between(left, right))
        stated = nearest_float(made.stability_function(source.between(left, right)))
        yield f"{words}, {left} and {right}", moved, stated, math.inf


def _parts(columns, of_part):
    values = {"group": _GROUPS, "whole": _WHOLES}
    keys = list(itertools.product(*(values[column] for column in columns)))

    def compare(random):
        for root in (False, True):
            target = parted(columns, root, of_part(root))

            def make(metric, root=root):
                return PartitionByKeys(TABLE, metric, root, columns, keys)

            yield from _no_less(random, f"keys {columns}", make, grouped(["group"], root, IDS), target)

    return compare


def _unwrapped(random):
    for root in (False, True):
        source = grouped(["group"], root, IDS)
        yield from _no_less(random, "UnwrapIfGroupedBy", lambda m: UnwrapIfGroupedBy(TABLE, m), source, IDS)


def nested():
    """Yield the cases."""
    parts = {
        "parts by the groups are as far as stated": _parts(["group"], lambda _root: IDS),
        "parts by another column are as far as stated": _parts(["whole"], lambda root: grouped(["group"], root, IDS)),
        "parts by the groups and another column are as far as stated": _parts(["group", "whole"], lambda _root: IDS),
    }
    yield Relations("PartitionByKeys, ids in groups", parts, unsafe=dict.fromkeys(parts, "below"))
    converted = {"ids without groups are as far as stated": _unwrapped}
    yield Relations("UnwrapIfGroupedBy, ids in groups", converted, understated=[*converted])
