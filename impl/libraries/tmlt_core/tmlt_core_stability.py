"""Transformations of frames of Tumult Core: how far they move tables, next to the definitions of their metrics.

Nothing here starts Spark: transformations are built, and asked for their stability. What they do is done again on
plain tables, whose measured distance is the least that may be stated. PublicJoin is left out: it counts the rows of a
table of Spark when it is built.
"""

from __future__ import annotations

import math
from unittest import mock

import sympy
from pyspark.sql import DataFrame
from tmlt.core.domains.spark_domains import SparkDataFrameDomain, SparkGroupedDataFrameDomain
from tmlt.core.metrics import (
    AbsoluteDifference,
    IfGroupedBy,
    OnColumn,
    RootSumOfSquared,
    SumOf,
    SymmetricDifference,
)
from tmlt.core.transformations.converters import HammingDistanceToSymmetricDifference, UnwrapIfGroupedBy
from tmlt.core.transformations.spark_transformations import (
    agg,
    cast,
    groupby,
    nan,
    partition,
    persist,
    rename,
    select,
    truncation,
)
from tmlt.core.transformations.spark_transformations import map as maps
from tmlt.core.transformations.spark_transformations.filter import Filter
from tmlt.core.transformations.spark_transformations.id import AddUniqueColumn
from tmlt_core_distances import IDS, REPLACED, ROWS, Distance, first_of, grouped, neighbours, parted
from tmlt_core_frames import SCHEMA, TABLE, WHOLES, one_row, rows_of_ids, several_rows, without_session
from tmlt_core_numbers import agrees, exactly, nearest_float

from dpassay.adapter import Relations

__all__ = ["stability"]

_GROUPS = SparkGroupedDataFrameDomain(WHOLES.schema, ["group"])


def _by_metric():
    """Return distances that most transformations take: of rows, of ids, and of groups in two ways."""
    return (ROWS, IDS, grouped(["group"], False), grouped(["group"], True))


def _stated(words, made, source, target, factor, random):
    """Compare what a transformation states at given distances, and its metrics, with its definition."""
    same = made.input_metric == source.metric and made.output_metric == target.metric
    yield agrees(f"{words}: {made.input_metric} to {made.output_metric}", same)
    # the root of a sum of squares need not be whole
    distances = [0, 1, random.randint(2, 40)]
    distances += [sympy.sqrt(random.randint(2, 40))] if "Root" in str(source.metric) else []
    for distance in distances:
        yield exactly(f"{words}, distance {distance}", made.stability_function(distance), factor(distance))


def _moves(random, words, made, source, target, factor, operate=lambda table: table):
    """Compare the stability with its definition, and with how far the operation moves tables."""
    words = f"{words}, {source.metric}"
    yield from _stated(words, made, source, target, factor, random)
    for left, right in neighbours(random):
        distance = source.between(left, right)
        if distance == math.inf:
            continue
        moved = nearest_float(target.between(operate(left), operate(right)))
        found, exact = made.stability_function(distance), nearest_float(factor(distance))
        yield f"{words}, {left} and {right}", moved, nearest_float(found), exact


def _same(distance):
    return distance


def _times(factor):
    return lambda distance: factor * distance


# --- one row from at most one row --------------------------------------------------------------------------------


def _value_is(kept):
    return lambda table: [row for row in table if kept(row[3])]


def _is_nan(value):
    return value is not None and math.isnan(value)


def _is_infinite(value):
    return value is not None and math.isinf(value)


def _replaced(chosen):
    return lambda table: [(*row[:3], 7.0 if chosen(row[3]) else row[3]) for row in table]


def _row_by_row():
    """Return transformations of single rows, whether they take replaced rows, and what they do."""
    seven = {"value": 7.0}
    return {
        "Select": (lambda m: select.Select(TABLE, m, ["id", "group"]), True, lambda t: [(*r[:2], 0, 0) for r in t]),
        "Rename": (lambda m: rename.Rename(TABLE, m, {"whole": "other"}), True, list),
        "CastToFloat": (lambda m: cast.CastToFloat(TABLE, m, ["whole"]), True, list),
        "Filter": (
            lambda m: without_session(Filter, TABLE, m, "whole = 1"),
            False,
            lambda table: [row for row in table if row[2] == 1],
        ),
        "DropInfs": (lambda m: nan.DropInfs(TABLE, m, ["value"]), False, _value_is(lambda v: not _is_infinite(v))),
        "DropNaNs": (lambda m: nan.DropNaNs(TABLE, m, ["value"]), False, _value_is(lambda v: not _is_nan(v))),
        "DropNulls": (lambda m: nan.DropNulls(TABLE, m, ["value"]), False, _value_is(lambda v: v is not None)),
        "ReplaceInfs": (lambda m: nan.ReplaceInfs(TABLE, m, {"value": (7.0, 7.0)}), True, _replaced(_is_infinite)),
        "ReplaceNaNs": (lambda m: nan.ReplaceNaNs(TABLE, m, seven), True, _replaced(_is_nan)),
        "ReplaceNulls": (lambda m: nan.ReplaceNulls(TABLE, m, seven), True, _replaced(lambda v: v is None)),
        "Map": (lambda m: maps.Map(m, one_row()), True, list),
        "Persist": (lambda m: persist.Persist(TABLE, m), True, list),
        "Unpersist": (lambda m: persist.Unpersist(TABLE, m), True, list),
        "SparkAction": (lambda m: persist.SparkAction(TABLE, m), True, list),
    }


def _empty(domain, columns):
    """Return a stand-in for a table of Spark that has a schema and no rows."""
    made = mock.MagicMock(spec=DataFrame, schema=domain.spark_schema, columns=columns)
    made.filter.return_value.first.return_value = None
    return made


def _keep_rows(random):
    """Check that what changes or drops single rows moves tables no further apart."""
    for name, (make, replaces, operate) in _row_by_row().items():
        # one of the distances is enough for a seed
        source = random.choice((*_by_metric(), *([REPLACED] if replaces else [])))
        yield from _moves(random, name, make(source.metric), source, source, _same, operate)
    moved = Distance(IfGroupedBy(["other"], RootSumOfSquared(SymmetricDifference())), None)
    made = rename.Rename(TABLE, grouped(["group"], True).metric, {"group": "other"})
    yield from _stated("Rename, its groups", made, grouped(["group"], True), moved, _same, random)
    made = AddUniqueColumn(TABLE, "number")
    # a row becomes an id of its own
    numbered = Distance(IfGroupedBy(["number"], SymmetricDifference()), ROWS.between)
    yield from _moves(random, "AddUniqueColumn", made, ROWS, numbered, _same)


# --- several rows from one ---------------------------------------------------------------------------------------


def _copies(most):
    """Return an operation that gives several rows for one, each with a new number in place of its value."""
    return lambda table: [(*row[:3], (row[3], number)) for row in table for number in range(most)]


def _multiply_rows(random):
    """Check that what gives a bounded number of rows for one moves tables as many times as far."""
    most = random.randint(2, 5)
    words = f"at most {most} rows"
    for source in _by_metric():
        factor = _same if source is IDS else _times(most)
        made = maps.FlatMap(source.metric, several_rows(), most)
        yield from _moves(random, f"FlatMap, {words}", made, source, source, factor, _copies(most))
        unbounded = maps.FlatMap(source.metric, several_rows(), None).stability_function(3)
        yield exactly(f"FlatMap without a bound, {source.metric}", unbounded, 3 if source is IDS else math.inf)
    for root in (False, True):
        # every new number is a group of its own, of one row
        inner = (RootSumOfSquared if root else SumOf)(SymmetricDifference())
        made = maps.GroupingFlatMap(inner, several_rows(), most)
        target = Distance(IfGroupedBy(["new"], inner), parted(["value"], root).between)
        factor = _times(sympy.sqrt(most) if root else most)

        def number(table, most=most):
            return [(one, f"{group} {whole} {value}", 0, k) for one, group, whole, value in table for k in range(most)]

        yield from _moves(random, f"GroupingFlatMap, {words}", made, ROWS, target, factor, number)
    made = maps.FlatMapByID(IDS.metric, rows_of_ids())

    def of_ids(table):
        ids = [row[0] for row in table]
        return [(one, "", ids.count(one), None) for one in set(ids)]

    yield from _moves(random, "FlatMapByID", made, IDS, IDS, _same, of_ids)


# --- bounds of ids -----------------------------------------------------------------------------------------------


def _truncate(random):
    """Check that cut tables are as far apart as their ids have rows or groups left."""
    most = random.randint(2, 5)
    words = f"at most {most}"
    for target, factor in ((ROWS, _times(most)), (IDS, _same)):
        made = truncation.LimitRowsPerID(TABLE, target.metric, ["id"], most)
        yield from _moves(
            random, f"LimitRowsPerID, {words}", made, IDS, target, factor, lambda t: first_of(t, ["id"], most)
        )
    by_sum, by_root = grouped(["group"], False, IDS), grouped(["group"], True, IDS)
    for target, factor in ((by_sum, _times(most)), (by_root, _times(sympy.sqrt(most))), (IDS, _same)):
        made = truncation.LimitGroupsPerID(TABLE, target.metric, ["id"], ["group"], most)

        def few_groups(table):
            return first_of(table, ["id"], most, items=["group"])

        yield from _moves(random, f"LimitGroupsPerID, {words}", made, IDS, target, factor, few_groups)
    for source, target, factor in (
        (by_sum, ROWS, _times(most)),
        (by_root, grouped(["group"], True), _times(most)),
        (IDS, IDS, _same),
    ):
        made = truncation.LimitRowsPerGroupPerID(TABLE, source.metric, ["id"], ["group"], most)

        def few_rows(table):
            return first_of(table, ["id", "group"], most)

        yield from _moves(random, f"LimitRowsPerGroupPerID, {words}", made, source, target, factor, few_rows)


# --- groups and parts --------------------------------------------------------------------------------------------


def _split_tables(random):
    """Check how far parts of tables are, and tables whose metric loses its groups."""
    parts = [(f"g{k}",) for k in range(4)]
    for root in (False, True):
        by_group, inner = grouped(["group"], root), parted(["group"], root)
        for source in (ROWS, by_group):
            made = partition.PartitionByKeys(TABLE, source.metric, root, ["group"], parts)
            yield from _moves(random, "PartitionByKeys", made, source, inner, _same)
        both = grouped(["id", "group"], root)
        made = partition.PartitionByKeys(TABLE, both.metric, root, ["group"], parts)
        # the groups of a part are those of its ids
        left = parted(["group"], root, grouped(["id"], root))
        yield from _moves(random, "PartitionByKeys, of two groupings", made, both, left, _same)
        made = UnwrapIfGroupedBy(TABLE, by_group.metric)
        yield from _moves(random, "UnwrapIfGroupedBy", made, by_group, ROWS, (lambda d: d**2) if root else _same)
        for source in (ROWS, REPLACED, by_group):
            keys = _empty(SparkDataFrameDomain({"group": SCHEMA["group"]}), ["group"])
            made = groupby.GroupBy(TABLE, source.metric, root, keys)
            # a row that is replaced goes and comes
            factor = _times(2) if source is REPLACED else _same
            yield from _moves(random, "GroupBy", made, source, inner, factor)
        made = groupby.GroupBy(TABLE, REPLACED.metric, root, None)
        whole = parted([], root)
        yield from _moves(random, "GroupBy without columns", made, REPLACED, whole, _times(2))
    made = HammingDistanceToSymmetricDifference(TABLE)
    yield from _moves(random, "HammingDistanceToSymmetricDifference", made, REPLACED, ROWS, _times(2))


# --- numbers of tables -------------------------------------------------------------------------------------------


def _number(compute):
    return Distance(AbsoluteDifference(), lambda left, right: abs(compute(left) - compute(right)))


def _clamped(low, high):
    return lambda table: sum(min(max(row[2] or 0, low), high) for row in table)


def _numbers_of(column, compute, root):
    """Return the distance of columns of numbers, one for every group."""

    def between(left, right):
        groups = {row[1] for row in left + right}
        sides = [{g: compute([row for row in side if row[1] == g]) for g in groups} for side in (left, right)]
        moves = [sides[0][g] - sides[1][g] for g in groups]
        return sympy.sqrt(sum(move**2 for move in moves)) if root else sum(map(abs, moves))

    return Distance(OnColumn(column, (RootSumOfSquared if root else SumOf)(AbsoluteDifference())), between)


def _aggregate(random):
    """Check how far counts and sums are apart."""
    count, distinct = _number(len), _number(lambda table: len(set(table)))
    for source, factor in ((ROWS, 1), (REPLACED, 2)):
        yield from _moves(random, "Count", agg.Count(WHOLES, source.metric), source, count, _times(factor))
        made = agg.CountDistinct(WHOLES, source.metric)
        yield from _moves(random, "CountDistinct", made, source, distinct, _times(factor))
    for root in (False, True):
        source = parted(["group"], root)
        for name, make, target in (
            ("CountGrouped", agg.CountGrouped, _numbers_of("n", len, root)),
            ("CountDistinctGrouped", agg.CountDistinctGrouped, _numbers_of("n", lambda t: len(set(t)), root)),
        ):
            yield from _moves(random, name, make(_GROUPS, source.metric, "n"), source, target, _same)
    small, large = random.randint(1, 9), random.randint(10, 30)
    for low, high in ((-large, small), (small, large)):
        words, clamp = f"[{low}, {high}]", _clamped(low, high)
        for source, factor in ((ROWS, large), (REPLACED, high - low)):
            made = agg.Sum(WHOLES, source.metric, "whole", low, high)
            yield from _moves(random, f"Sum, {words}", made, source, _number(clamp), _times(factor))
        for root in (False, True):
            made = agg.SumGrouped(_GROUPS, parted(["group"], root).metric, "whole", low, high, "n")
            target = _numbers_of("n", clamp, root)
            yield from _moves(random, f"SumGrouped, {words}", made, parted(["group"], root), target, _times(large))


def stability():
    """Yield the case."""
    distances = {
        "single rows are kept, dropped or changed": _keep_rows,
        "several rows come from one": _multiply_rows,
        "ids are bounded": _truncate,
        "tables are split": _split_tables,
        "tables are counted and summed": _aggregate,
    }
    yield Relations("stability of transformations of frames", distances, unsafe=dict.fromkeys(distances, "below"))
