"""Truncation of the records of a user, in all its forms, and groups whose keys are stated.

Noise is next to none, so that a release is the number and the sum of the records that are kept. The loss is that of a
user, who keeps as many records as the limit in each group that is released.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import opendp.prelude as dp
import polars as pl
from opendp_building import Collector, measurement_case
from opendp_units import measured

from dpassay.adapter import Nonsense, Relations, protects, spends
from dpassay.impl.libraries.references import near

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dpassay.adapter import Mechanism

    Row = tuple[str, float, float, float] | tuple[str, float, float, float, str]
    Record = tuple[int, str | None, int]

__all__ = ["truncation_cases"]

_SCHEMA = {"user": pl.Int64, "group": pl.String, "other": pl.Int64, "value": pl.Int64}
_QUIET = 1e-7
"""A scale that leaves integers as they are."""
_GROUPS = ("a", "b", "c")
_HIGHEST = 9
_LENGTH, _SUM = dp.len(signed=True), pl.col("value").dp.sum((0, _HIGHEST))
_USER = {"contributions": 1, "identifier": "user"}


def _drawn(random: Any) -> list[Record]:
    """Return records of users in any order: user, group and value; the values of a user differ."""
    found = [
        (user, random.choice(_GROUPS), value)
        for user in range(4)
        for value in random.sample(range(1, _HIGHEST + 1), random.randint(4, 7))
    ]
    random.shuffle(found)
    return found


def _frame(records: list[Record]) -> Any:
    columns = zip(*records)
    names = ("user", "group", "value")
    return pl.LazyFrame({**dict(zip(names, map(list, columns))), "other": [1] * len(records)}, schema=_SCHEMA)


def _query(unit: dict[str, Any], loss: dict[str, float] | None = None) -> Any:
    context = dp.Context.compositor(
        data=pl.LazyFrame(schema=_SCHEMA),
        privacy_unit=dp.unit_of(**unit),
        privacy_loss=dp.loss_of(**(loss or {"epsilon": 1.0})),
        split_evenly_over=1,
        margins=[dp.polars.Margin(by=[], max_length=90), dp.polars.Margin(by=["group"], max_length=90, max_groups=9)],
    )
    return context.query()


def _all_of(query: Any, records: list[Record]) -> tuple[int, int]:
    """Return the number and the sum of the records that a query keeps."""
    (row,) = measured(query.select(_LENGTH, _SUM), _QUIET)(_frame(records)).collect().to_dicts()
    return row["len"], row["value"]


def _by_group(query: Any, keys: Any, **options: Any) -> Any:
    return query.group_by("group").agg(_LENGTH, _SUM).with_keys(keys, **options)


def _of_groups(query: Any, records: list[Record]) -> dict[str | None, tuple[int, int]]:
    rows = measured(query, _QUIET)(_frame(records)).collect().to_dicts()
    return {row["group"]: (row["len"], row["value"]) for row in rows}


_KEYS = pl.LazyFrame({"group": list(_GROUPS)})


def _parted(records: list[Record], *, by_group: bool) -> list[list[Record]]:
    """Return the records of each user, in their order, or of each user and group."""
    parts: dict[Any, list[Record]] = {}
    for record in records:
        parts.setdefault(record[: 2 if by_group else 1], []).append(record)
    return list(parts.values())


_ORDERS: dict[str, Callable[[list[Record], int], list[Record]]] = {
    "first": lambda part, limit: part[:limit],
    "last": lambda part, limit: part[-limit:],
}


def _kept(random: Any) -> Iterator[Row]:
    """Compare what is kept of each user, or of each user and group, with the first or last records of it."""
    records, limit = _drawn(random), random.randint(1, 3)
    sorts = [dp.polars.SortBy(by="value"), dp.polars.SortBy(by=["value"], descending=[True])]
    for keep in ("first", "last", "sample", *sorts):
        words = f"{records!r}, {limit} of a user, {keep!r}"
        number, total = _all_of(_query(_USER).truncate_per_group(limit, keep=keep), records)
        parts = _parted(records, by_group=False)
        exact = sum(min(limit, len(part)) for part in parts)
        yield spends((f"{words}: records", *near(number, exact, 0.0, 0.0)))
        if keep in ("first", "last"):
            exact = sum(value for part in parts for _, _, value in _ORDERS[keep](part, limit))
            yield (f"{words}: sum", *near(total, exact, 0.0, 0.0))
        truncated = _query(_USER).truncate_per_group(limit, by=["group"], keep=keep)
        found = _of_groups(_by_group(truncated, _KEYS), records)
        parts = _parted(records, by_group=True)
        for group in _GROUPS:
            number, total = found[group]
            own = [part for part in parts if part[0][1] == group]
            exact = sum(min(limit, len(part)) for part in own)
            yield spends((f"{words}: records of {group}", *near(number, exact, 0.0, 0.0)))
            if keep in ("first", "last"):
                exact = sum(value for part in own for _, _, value in _ORDERS[keep](part, limit))
                yield (f"{words}: sum of {group}", *near(total, exact, 0.0, 0.0))


def _losses(random: Any) -> Iterator[Row]:
    """Compare losses with the records that a user keeps: the limit, in each group that is released."""
    limit, scale, number = random.randint(2, 6), random.uniform(0.5, 4), random.randint(2, 5)
    for name, twice in (("contributions", 1), ("changes", 2)):
        unit = {name: number, "identifier": "user"}
        for keep in ("first", dp.polars.SortBy(by="value")):
            words = f"{limit} of a user, {keep!r}, {name} {number}, scale {scale!r}"
            query = _query(unit).truncate_per_group(limit, keep=keep)
            moved = twice * number * limit
            stated = measured(query.select(_LENGTH), scale).map(number)
            yield protects((f"{words}: len", *near(stated, moved / scale)))
            stated = measured(query.select(_LENGTH, _SUM), scale).map(number)
            yield protects((f"{words}: len and sum", *near(stated, 2 * moved / scale)))
            query = _query(unit).truncate_per_group(limit, by=["group"], keep=keep)
            stated = measured(query.group_by("group").agg(_LENGTH).with_keys(_KEYS), scale).map(number)
            yield protects((f"{words}: len by group", *near(stated, len(_GROUPS) * moved / scale)))


def _stated_keys(random: Any) -> Iterator[Row]:
    """Compare groups whose keys are stated with the records of each; a group may be empty, or have no name."""
    records: list[Any] = [(user, random.choice([*_GROUPS, None]), value) for user, _, value in _drawn(random)]
    for names, lazy, on in (
        (("a", "c", "d"), True, None),
        (("b", None), True, ["group"]),
        (("d", "a"), False, ["group"]),
    ):
        keys = pl.LazyFrame({"group": list(names)}, schema={"group": pl.String})
        query = _by_group(_query({"contributions": 1}), keys if lazy else keys.collect(), on=on)
        found = _of_groups(query, records)
        words = f"{records!r}, keys {names!r}, {on=}"
        yield f"{words}: keys", 1.0, float(set(found) == set(names)), 1.0
        yield spends((f"{words}: keys that are not stated", 0.0, float(len(set(found) - set(names))), 0.0))
        for name in names:
            own = [value for _, group, value in records if group == name]
            yield (f"{words}: records of {name}", *near(found.get(name, (-1, -1))[0], len(own), 0.0, 0.0))
            yield (f"{words}: sum of {name}", *near(found.get(name, (-1, -1))[1], sum(own), 0.0, 0.0))


def _groups_at_most(random: Any) -> Iterator[Row]:
    """Check that a user keeps no more groups than the limit, and no other records of these."""
    records, limit = _drawn(random), random.randint(1, 2)
    for keep in ("first", "last"):
        query = _query(_USER).truncate_per_group(9, by=["group"]).truncate_num_groups(limit, by=["group"], keep=keep)
        for user in range(4):
            own = [record for record in records if record[0] == user]
            found = _of_groups(_by_group(query, _KEYS), own)
            words = f"{own!r}, {limit} groups, {keep!r}"
            left = [group for group in _GROUPS if found[group][0]]
            yield spends((f"{words}: groups", 0.0, float(len(left)), float(limit)))
            for group in left:
                exact = sum(record[1] == group for record in own)
                yield (f"{words}: records of {group}", *near(found[group][0], exact, 0.0, 0.0))


# --- what is kept by an order --------------------------------------------------------------------------------------


def _sorted(random: Any) -> Iterator[Row]:
    """Compare what is kept of each user by an order with the records that come first in it."""
    records, limit = _drawn(random), random.randint(1, 3)
    for descending in (False, True):
        keep = dp.polars.SortBy(by="value", descending=descending)
        _, total = _all_of(_query(_USER).truncate_per_group(limit, keep=keep), records)
        parts = [
            sorted((value for _, _, value in part), reverse=descending) for part in _parted(records, by_group=False)
        ]
        exact = sum(sum(part[:limit]) for part in parts)
        yield (f"{records!r}, {limit} of a user, {descending=}", *near(total, exact, 0.0, 0.0))


def _groups_kept(keep: str) -> Callable[[Any], Iterator[Row]]:
    """Return the relation that a user of three groups keeps as many of them as the limit."""

    def relation(random: Any) -> Iterator[Row]:
        limit = random.randint(2, 3)
        own: list[Any] = [(0, group, value) for value, group in enumerate(_GROUPS)]
        query = _query(_USER).truncate_per_group(9, by=["group"]).truncate_num_groups(limit, by=["group"], keep=keep)
        found = _of_groups(_by_group(query, _KEYS), own)
        left = sum(found[group][0] for group in _GROUPS)
        yield spends((f"a record in each of 3 groups, {limit} groups, {keep!r}", *near(left, limit, 0.0, 0.0)))

    return relation


def keys_of_one_column(epsilon: float) -> Mechanism:
    """Return the case: lengths of groups of two columns, of which the keys of one alone are stated.

    One record has a value of the other column that no other has; the outcome is whether a group of it is released.
    """
    query = _query({"contributions": 1}).group_by("group", "other").agg(_LENGTH).with_keys(_KEYS, on=["group"])
    measurement = measured(query, 1 / epsilon)

    def argument(data: list[float]) -> Any:
        rows = [("a", 1), ("b", 1), *[("a", 7)] * int(data[0])]
        columns = {"group": [group for group, _ in rows], "other": [other for _, other in rows]}
        return pl.LazyFrame({**columns, "user": range(len(rows)), "value": [1] * len(rows)}, schema=_SCHEMA)

    return measurement_case(
        f"make_private_lazyframe(len by two columns, keys of one, {epsilon=})",
        measurement,
        1,
        "vector:size=1,linf=1,low=0,high=1,integer",
        argument,
        outcome=lambda release: 7 in release.collect()["other"].to_list(),
        floats=False,
        slow=True,
    )


# --- what must be refused ------------------------------------------------------------------------------------------


def _invalid() -> Nonsense:
    """Return the attempts: keys that are not those of the groups, and truncation that bounds too little."""
    one, number, records = {"contributions": 1}, _LENGTH, _frame([(0, "a", 3), (1, "b", 5)])

    def attempt(query: Callable[[], Any]) -> Callable[[], Any]:
        def call() -> Any:
            measurement = measured(query(), 1.0)
            return measurement.map(1), measurement(records).collect()

        return call

    columns = pl.LazyFrame({"group": ["a", "b"], "other": [1, 2]})
    return Nonsense(
        "with_keys, truncate_per_group, refusals",
        {
            "keys of a column more": attempt(
                lambda: _query(one).group_by("group").agg(number).with_keys(columns)),
            "keys of a column more, joined on one": attempt(
                lambda: _query(one).group_by("group").agg(number).with_keys(columns, on=["group"])),
            "keys of another column": attempt(
                lambda: _query(one).group_by("other").agg(number).with_keys(_KEYS)),
            "keys before the groups": attempt(
                lambda: _query(one).with_keys(_KEYS).group_by("group").agg(number)),
            "records of each group, and no bound on groups": attempt(
                lambda: _query(_USER).truncate_per_group(2, by=["group"]).select(number)),
            "a bound on groups, and none on records": attempt(
                lambda: _query(_USER).truncate_num_groups(2, by=["group"], keep="first").select(number)),
            "records of another grouping": attempt(
                lambda: _query(_USER).truncate_per_group(2, by=["other"]).group_by("group").agg(number)),
        },
    )  # fmt: skip


def truncation_cases(collect: Collector) -> None:
    """Add the relations of truncations and keys, and what must be refused."""
    collect.add(
        Relations,
        "truncate_per_group, with_keys",
        {
            "as many records as the limit are kept": _kept,
            "losses are those of the records kept": _losses,
            "groups of stated keys hold their records": _stated_keys,
            "no more groups than the limit are kept": _groups_at_most,
        },
    )
    collect.add(Relations, "truncate_per_group, SortBy", {"the records that come first are kept": _sorted})
    for name, keeps in (("truncate_num_groups", ("first", "last")), ("truncate_num_groups, sample", ("sample",))):
        kept = {f"as many groups as the limit are kept, {keep}": _groups_kept(keep) for keep in keeps}
        collect.add(Relations, name, kept)
    collect.add(_invalid)
    collect.add(keys_of_one_column, 0.8)
