"""Joins of private frames of Tumult Core, transformations of dictionaries of frames, and metrics that are refused.

Nothing here starts Spark. PublicJoinValue is left out, like PublicJoin.
"""

from __future__ import annotations

import math

from tmlt.core.domains.collections import DictDomain
from tmlt.core.domains.spark_domains import SparkGroupedDataFrameDomain
from tmlt.core.metrics import (
    AddRemoveIDs,
    DictMetric,
    HammingDistance,
    IfGroupedBy,
    RootSumOfSquared,
    SumOf,
    SymmetricDifference,
)
from tmlt.core.transformations.spark_transformations import (
    add_remove_ids,
    agg,
    cast,
    groupby,
    join,
    nan,
    partition,
    rename,
    select,
    truncation,
)
from tmlt.core.transformations.spark_transformations import map as maps
from tmlt.core.transformations.spark_transformations.filter import Filter
from tmlt_core_distances import ROWS, first_of, neighbours
from tmlt_core_frames import SCHEMA, TABLE, WHOLES, one_row, rows_of_ids, several_rows, without_session
from tmlt_core_numbers import agrees, exactly, nearest_float

from dpassay.adapter import Nonsense, Relations

__all__ = ["joins"]

_TWO = DictDomain({"left": TABLE, "right": TABLE})

# --- joins of two private tables ---------------------------------------------------------------------------------


def _without_large(table, most):
    groups = [row[1] for row in table]
    return [row for row in table if groups.count(row[1]) <= most]


def _joined(left, right):
    return [(one, other) for one in left for other in right if one[1] == other[1]]


_STRATEGIES = {
    # a new row may take the place of another one
    join.TruncationStrategy.TRUNCATE: (lambda table, most: first_of(table, ["group"], most), lambda _most: 2),
    # a new row may drop as many as are allowed
    join.TruncationStrategy.DROP: (_without_large, lambda most: most),
}


def _private_join(strategies, most):
    return join.PrivateJoin(_TWO, "left", "right", *strategies, *most, ["group"])


def _private_joins(random):
    """Check that joined tables are as far apart as the rows that are left, and what a row of the other side meets."""
    for one, (cut_left, moved_left) in _STRATEGIES.items():
        for other, (cut_right, moved_right) in _STRATEGIES.items():
            most = random.sample(range(2, 6), 2)
            made = _private_join((one, other), most)
            words = f"{one} at {most[0]}, {other} at {most[1]}"
            same = made.output_metric == ROWS.metric and made.input_metric == DictMetric(
                {"left": ROWS.metric, "right": ROWS.metric}
            )
            yield agrees(f"metrics, {words}", same)
            others = neighbours(random)
            random.shuffle(others)
            pairs = list(zip(neighbours(random), others))
            # the same group is in both tables as often as is left, and then once more
            full = [[(k, "g0", 0, 0.5) for k in range(count)] for count in most]
            more = [[*table, (-1, "g0", 0, 0.5)] for table in full]
            pairs += [((full[0], more[0]), (full[1], full[1])), ((full[0], full[0]), (full[1], more[1]))]
            for (left, left_changed), (right, right_changed) in pairs:
                apart = {
                    "left": ROWS.between(left, left_changed),
                    "right": ROWS.between(right, right_changed),
                }
                before = _joined(cut_left(left, most[0]), cut_right(right, most[1]))
                after = _joined(cut_left(left_changed, most[0]), cut_right(right_changed, most[1]))
                exact = most[1] * moved_left(most[0]) * apart["left"] + most[0] * moved_right(most[1]) * apart["right"]
                stated = nearest_float(made.stability_function(apart))
                moved = float(ROWS.between(before, after))
                yield f"{words}, {left} and {left_changed}, {right} and {right_changed}", moved, stated, float(exact)
    never = join.TruncationStrategy.NO_TRUNCATION
    for one, other in ((never, never), (never, join.TruncationStrategy.DROP), (join.TruncationStrategy.DROP, never)):
        most = [math.inf if strategy == never else 3 for strategy in (one, other)]
        stated = _private_join((one, other), most).stability_function({"left": 2, "right": 3})
        yield exactly(f"{one} and {other}", stated, math.inf)


# --- dictionaries of tables --------------------------------------------------------------------------------------


def _of_dictionaries(random):
    """Check that tables made from those of a dictionary are changed for the ids that were changed."""
    most = random.randint(2, 5)
    metric = AddRemoveIDs({"left": "id", "right": "id"})
    given = (_TWO, metric, "left", "made")
    seven = {"value": 7.0}
    values = {
        "LimitRowsPerIDValue": (most,),
        "LimitGroupsPerIDValue": (["group"], most),
        "LimitRowsPerGroupPerIDValue": (["group"], most),
        "FilterValue": ("whole = 1",),
        "FlatMapByIDValue": (rows_of_ids(),),
        "FlatMapValue": (several_rows(), most),
        "MapValue": (one_row(),),
        "DropInfsValue": (["value"],),
        "DropNaNsValue": (["value"],),
        "DropNullsValue": (["value"],),
        "ReplaceInfsValue": ({"value": (7.0, 7.0)},),
        "ReplaceNaNsValue": (seven,),
        "ReplaceNullsValue": (seven,),
        "PersistValue": (),
        "UnpersistValue": (),
        "SparkActionValue": (),
        "RenameValue": ({"id": "person"},),
        "SelectValue": (["id", "whole"],),
    }
    made = {name: without_session(getattr(add_remove_ids, name), *given, *more) for name, more in values.items()}
    made["PrivateJoinOnIDs"] = join.PrivateJoinOnIDs(_TWO, metric, "left", "right", "made", ["id"])
    for name, one in made.items():
        column = "person" if name == "RenameValue" else "id"
        output = AddRemoveIDs({"left": "id", "right": "id", "made": column})
        same = one.input_metric == metric and one.output_metric == output
        yield agrees(f"{name}, at most {most}: {one.output_metric.df_to_id_column}", same)
        kept = all(one.output_domain[key] == TABLE for key in ("left", "right")) and "made" in str(one.output_domain)
        yield agrees(f"{name}, the tables that were given", kept)
        for distance in (0, 1, random.randint(2, 40)):
            stated = one.stability_function(distance)
            yield exactly(f"{name}, at most {most}, distance {distance}", stated, distance)


# --- metrics that are refused ------------------------------------------------------------------------------------


def _refused_metrics():
    rows, nested = SymmetricDifference(), IfGroupedBy(["group"], SumOf(IfGroupedBy(["id"], SymmetricDifference())))
    by_sum, by_root = (IfGroupedBy(["group"], kind(rows)) for kind in (SumOf, RootSumOfSquared))
    ids, by_value = IfGroupedBy(["id"], rows), IfGroupedBy(["whole"], SumOf(rows))
    seven = {"value": 7.0}
    grouped = SparkGroupedDataFrameDomain(SCHEMA, ["group"])
    makers = {
        "Select": (lambda m: select.Select(TABLE, m, ["id", "group"]), (nested, by_value)),
        "Rename": (lambda m: rename.Rename(TABLE, m, {"whole": "other"}), (nested,)),
        # groups of whole numbers may be one group of floats
        "CastToFloat": (lambda m: cast.CastToFloat(TABLE, m, ["whole"]), (nested, by_value)),
        "Filter": (lambda m: without_session(Filter, TABLE, m, "whole = 1"), (HammingDistance(), nested)),
        "DropInfs": (lambda m: nan.DropInfs(TABLE, m, ["value"]), (HammingDistance(), nested)),
        "DropNaNs": (lambda m: nan.DropNaNs(TABLE, m, ["value"]), (HammingDistance(), nested)),
        "DropNulls": (lambda m: nan.DropNulls(TABLE, m, ["value"]), (HammingDistance(), nested)),
        "ReplaceInfs": (lambda m: nan.ReplaceInfs(TABLE, m, {"value": (7.0, 7.0)}), (nested,)),
        "ReplaceNaNs": (lambda m: nan.ReplaceNaNs(TABLE, m, seven), (nested,)),
        "ReplaceNulls": (lambda m: nan.ReplaceNulls(TABLE, m, {"whole": 7}), (nested, by_value)),
        "Map": (lambda m: maps.Map(m, one_row()), (nested,)),
        # new rows need not keep their groups
        "Map without its input": (lambda m: maps.Map(m, one_row(augment=False)), (by_sum, by_root, ids)),
        "FlatMap": (lambda m: maps.FlatMap(m, several_rows(), 3), (HammingDistance(), nested)),
        "FlatMap without its input": (
            lambda m: maps.FlatMap(m, several_rows(augment=False), 3),
            (by_sum, by_root, ids),
        ),
        "GroupingFlatMap": (
            lambda m: maps.GroupingFlatMap(m, several_rows(), 3),
            (SumOf(ids), RootSumOfSquared(ids)),
        ),
        "FlatMapByID": (
            lambda m: maps.FlatMapByID(m, rows_of_ids()),
            (by_sum, by_root, nested, IfGroupedBy(["id", "group"], rows)),
        ),
        "LimitRowsPerID": (
            lambda m: truncation.LimitRowsPerID(TABLE, m, ["id"], 3),
            (by_sum, by_root, nested, IfGroupedBy(["group"], rows), IfGroupedBy(["id"], SumOf(rows))),
        ),
        "LimitGroupsPerID": (
            lambda m: truncation.LimitGroupsPerID(TABLE, m, ["id"], ["group"], 3),
            (by_sum, by_root, IfGroupedBy(["whole"], SumOf(ids)), IfGroupedBy(["group"], rows)),
        ),
        "LimitRowsPerGroupPerID": (
            lambda m: truncation.LimitRowsPerGroupPerID(TABLE, m, ["id"], ["group"], 3),
            (by_sum, by_root, IfGroupedBy(["whole"], SumOf(ids)), IfGroupedBy(["group"], rows)),
        ),
        "PartitionByKeys": (
            lambda m: partition.PartitionByKeys(TABLE, m, False, ["group"], [("a",)]),
            (by_root, ids, HammingDistance()),
        ),
        "PartitionByKeys, l2": (
            lambda m: partition.PartitionByKeys(TABLE, m, True, ["group"], [("a",)]),
            (by_sum, ids, HammingDistance()),
        ),
        "GroupBy": (lambda m: groupby.GroupBy(TABLE, m, False, None), (by_sum, by_root, ids)),
        "Count": (lambda m: agg.Count(TABLE, m), (by_sum, by_root, ids)),
        "CountDistinct": (lambda m: agg.CountDistinct(TABLE, m), (by_sum, by_root, ids)),
        "Sum": (lambda m: agg.Sum(WHOLES, m, "whole", 0, 3), (by_sum, by_root, ids)),
        "CountGrouped": (lambda m: agg.CountGrouped(grouped, m), (SumOf(ids), RootSumOfSquared(ids), rows)),
        "CountDistinctGrouped": (
            lambda m: agg.CountDistinctGrouped(grouped, m),
            (SumOf(ids), RootSumOfSquared(ids), rows),
        ),
        "SumGrouped": (
            lambda m: agg.SumGrouped(SparkGroupedDataFrameDomain(WHOLES.schema, ["group"]), m, "whole", 0, 3),
            (SumOf(ids), RootSumOfSquared(ids), SumOf(HammingDistance()), rows),
        ),
    }
    yield Nonsense(
        "metrics of transformations of frames",
        {
            f"{name}, {metric}": lambda m=make, d=metric: m(d)
            for name, (make, metrics) in makers.items()
            for metric in metrics
        },
    )
    joined = {"left": "id", "right": "group"}
    makers = {
        "negative distance of Select": lambda: select.Select(TABLE, rows, ["id"]).stability_function(-1),
        "LimitRowsPerID, threshold": lambda: truncation.LimitRowsPerID(TABLE, rows, ["id"], -1),
        "LimitGroupsPerID, threshold": lambda: truncation.LimitGroupsPerID(TABLE, ids, ["id"], ["group"], -1),
        "LimitRowsPerGroupPerID, threshold": lambda: truncation.LimitRowsPerGroupPerID(
            TABLE, ids, ["id"], ["group"], -1
        ),
        "FlatMap, max_num_rows": lambda: maps.FlatMap(rows, several_rows(), -1),
        "GroupingFlatMap, max_num_rows": lambda: maps.GroupingFlatMap(SumOf(rows), several_rows(), -1),
        "PrivateJoin, a threshold without truncation": lambda: _private_join(
            (join.TruncationStrategy.NO_TRUNCATION, join.TruncationStrategy.TRUNCATE), (3, 3)
        ),
        "PrivateJoinOnIDs, without the id": lambda: join.PrivateJoinOnIDs(
            _TWO, AddRemoveIDs({"left": "id", "right": "id"}), "left", "right", "made", ["group"]
        ),
        "PrivateJoinOnIDs, of two ids": lambda: join.PrivateJoinOnIDs(
            _TWO, AddRemoveIDs(joined), "left", "right", "made", ["id"]
        ),
        "PartitionByKeys, a part twice": lambda: partition.PartitionByKeys(
            TABLE, rows, False, ["group"], [("a",), ("a",)]
        ),
        "Sum, bounds": lambda: agg.Sum(WHOLES, rows, "whole", 3, 2),
    }
    yield Nonsense("parameters of transformations of frames", makers)


def _refused_distances():
    """Yield distances and thresholds below zero, and columns that would have one name."""
    rows, replaced = SymmetricDifference(), HammingDistance()
    grouped = SparkGroupedDataFrameDomain(WHOLES.schema, ["group"])
    makers = {}
    for metric in (rows, replaced):
        makers |= {
            f"Count, {metric}": lambda m=metric: agg.Count(WHOLES, m),
            f"CountDistinct, {metric}": lambda m=metric: agg.CountDistinct(WHOLES, m),
            f"Sum, {metric}": lambda m=metric: agg.Sum(WHOLES, m, "whole", -2, 3),
        }
    for metric in (SumOf(rows), RootSumOfSquared(rows)):
        makers |= {
            f"CountGrouped, {metric}": lambda m=metric: agg.CountGrouped(grouped, m, "n"),
            f"CountDistinctGrouped, {metric}": lambda m=metric: agg.CountDistinctGrouped(grouped, m, "n"),
            f"SumGrouped, {metric}": lambda m=metric: agg.SumGrouped(grouped, m, "whole", -2, 3, "n"),
        }
    strategies = {strategy.name: strategy for strategy in _STRATEGIES}
    yield Nonsense(
        "distances and thresholds below zero",
        {f"{name}, distance -1": lambda m=make: m().stability_function(-1) for name, make in makers.items()}
        | {
            f"PrivateJoin, {name}, {most}": lambda s=strategy, m=most: _private_join((s, s), m)
            for name, strategy in strategies.items()
            for most in ((-1, 3), (3, -2))
        },
    )
    yield Nonsense(
        "names of columns",
        {
            "Rename, to one that is there": lambda: rename.Rename(TABLE, rows, {"whole": "value"}),
            "Rename, two to one": lambda: rename.Rename(TABLE, rows, {"whole": "new", "value": "new"}),
        },
    )


def _states_no_distance():
    """Return whether a join without truncation states a distance of equal tables, 0 or an upper bound."""
    strategies = (join.TruncationStrategy.NO_TRUNCATION,) * 2
    try:
        stated = _private_join(strategies, (math.inf, math.inf)).stability_function({"left": 0, "right": 0})
    except ValueError:
        return False
    return nearest_float(stated) >= 0


def joins():
    """Yield the cases."""
    distances = {"private tables are joined": _private_joins, "dictionaries grow by a table": _of_dictionaries}
    name = "stability of joins and dictionaries of frames"
    yield Relations(name, distances, unsafe=dict.fromkeys(distances, "below"))
    yield Relations("PrivateJoin without truncation", {}, {"equal tables are at a distance": _states_no_distance})
    yield from _refused_metrics()
    yield from _refused_distances()
