"""Frames whose columns are made anew, and groups that change entirely: what is promised must hold of what Polars does.

A case releases one number from one of two frames, which are neighbours at a distance that its map is asked for.
"""

from __future__ import annotations

import datetime as dt
import math
from typing import TYPE_CHECKING, Any

import opendp.prelude as dp
import polars as pl
from opendp_building import Collector, measurement_case
from opendp_refusals import SCHEMA, made, margin, no_steps
from opendp_units import measured

from dpassay.adapter import Relations, protects, spends

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dpassay.adapter import Mechanism

    Row = tuple[str, float, float, float] | tuple[str, float, float, float, str]

__all__ = ["column_cases"]


def _either(
    name: str, measurement: Any, d_in: int, frames: tuple[Any, Any], outcome: Callable[[Any], Any], **options: Any
) -> Mechanism:  # fmt: skip
    """Return the case of a measurement on one of two frames, from the only number that it releases."""
    return measurement_case(
        name,
        measurement,
        d_in,
        "vector:size=1,linf=1,low=0,high=1,integer",
        lambda data: frames[int(data[0])],
        outcome=lambda release: outcome(release.collect().to_series(-1).item()),
        floats=False,
        slow=True,
        **options,
    )


def _frame(**columns: list[Any]) -> Any:
    """Return a frame whose other columns are null."""
    (size,) = {len(column) for column in columns.values()}
    return pl.LazyFrame({name: columns.get(name, [None] * size) for name in SCHEMA}, schema=SCHEMA)


# --- values that are made null -------------------------------------------------------------------------------------

_SIZE = 16
_VALUE, _WHOLE, _USER = pl.col("value").fill_null(0.0), pl.col("whole").fill_null(0), pl.col("user").fill_null(3)
_MADE_NULL = {
    "a cast": _VALUE.cast(pl.Int64, strict=False),
    "a cut": _VALUE.cut([1.5]),
    "a remainder": _WHOLE % _USER,
}
"""Expressions that Polars makes null of NaN, or of a divisor of 0."""


def counted(told: str, scale: float) -> Mechanism:
    """Return the case: the count of values, of which one is made null, in a frame whose length is not protected.

    The sum that is released beside the count is all that costs anything.
    """
    total = pl.col("whole").dp.sum((0, 1))
    plan = no_steps().select(total, _MADE_NULL[told].count().dp.noise().alias("number"))
    measurement = made(plan, margin(max_length=_SIZE, invariant="lengths"), scale=scale)
    frames = tuple(
        _frame(value=[value] + [1.0] * (_SIZE - 1), user=[user] + [3] * (_SIZE - 1), whole=[0] * _SIZE)
        for value, user in ((1.0, 3), (math.nan, 0))
    )
    name = f"make_private_lazyframe(sum, {scale=}, and count after {told}, lengths not protected)"
    return _either(name, measurement, 2, frames, int)


_ANY_VALUE, _ANY_OTHER = (math.nan, math.inf, -math.inf, -0.0, 0.0, 1e300), (-5, 0, 3, 2**40, 2**63 - 1)


def _kept() -> dict[str, Any]:
    """Return expressions of which none is null, whatever the values are."""
    value, whole, user = _VALUE, _WHOLE, _USER
    return {
        "fill_null": value,
        "fill_nan": value.fill_nan(0.0),
        "clip": value.clip(0.0, 1.0),
        "sum of columns": whole + user,
        "difference of columns": value - user,
        "product of columns": whole * user,
        "comparison": value < user,
        "equality": whole == user,
        "is_nan": value.is_nan(),
        "is_finite": value.is_finite(),
        "is_null": pl.col("value").is_null(),
        "cast to String": whole.cast(pl.String, strict=False),
        "cast of integers to Float64": whole.cast(pl.Float64, strict=False),
        "cast of what is finite": value.fill_nan(0.0).clip(-9.0, 9.0).cast(pl.Int64, strict=False),
        "cut of what is finite": value.fill_nan(0.0).clip(-9.0, 9.0).cut([1.5]),
        "replace_strict": whole.replace_strict({0: 1, -5: 2}, default=7),
        "fraction": value / user,
        "whole fraction": whole // user,
        "replace": whole.replace(0, None),
        "replace_strict by null": whole.replace_strict({0: 1}, default=None),
    }


def _free_counts(random: Any) -> Iterator[Row]:
    """Compare counts that cost nothing with the length of a frame, which is not protected.

    A count that costs as much as a changed record moves it may be another one.
    """
    value = [random.choice([*_ANY_VALUE, random.gauss(0, 9), None]) for _ in range(_SIZE)]
    whole, user = ([random.choice([*_ANY_OTHER, random.randint(-9, 9), None]) for _ in range(_SIZE)] for _ in range(2))
    scale, data = random.uniform(0.5, 3), _frame(value=value, whole=whole, user=user)
    for told, expression in _kept().items():
        plan = no_steps().select(expression.count().dp.noise())
        measurement = made(plan, margin(max_length=_SIZE, invariant="lengths"), scale=scale)
        words = f"count after {told}, {value!r}, {whole!r}, {user!r}"
        if stated := measurement.map(2):
            yield protects((f"{words}: loss, scale {scale!r}", 1 / scale * (1 - 1e-9), stated, math.inf))
        else:
            apart = abs(measurement(data).collect().item() - _SIZE)
            yield spends((f"{words}: distance from the length", 0.0, float(apart), 0.0))


# --- groups that are made anew -------------------------------------------------------------------------------------


def redefined(epsilon: float, days: int) -> Mechanism:
    """Return the case: the records of a month, to which a user adds one on each of some days.

    A user's records are truncated by day, and grouped by month.
    """
    schema = {"user": pl.Int64, "day": pl.Date}
    context = dp.Context.compositor(
        data=pl.LazyFrame(schema=schema),
        privacy_unit=dp.unit_of(contributions=1, identifier="user"),
        privacy_loss=dp.loss_of(epsilon=epsilon),
        split_evenly_over=1,
    )
    query = context.query().truncate_per_group(1, by=["day"]).with_columns(pl.col("day").dt.month())
    keys = pl.LazyFrame({"day": [1]}, schema={"day": pl.Int8})
    measurement = measured(query.group_by("day").agg(dp.len(signed=True)).with_keys(keys), 1 / epsilon)
    january = [dt.date(2024, 1, 1 + day) for day in range(days)]
    frames = tuple(
        pl.LazyFrame({"user": [user] * days, "day": january}, schema=schema).head(number)
        for user, number in ((1, 0), (1, days))
    )
    name = f"truncate_per_group by day, len by month, {days} days, {epsilon=}"
    return _either(name, measurement, 1, frames, lambda number: number > days / 2)


# --- groups that change entirely -----------------------------------------------------------------------------------


def exchanged(length: int, high: int, scale: float) -> Mechanism:
    """Return the case: the sum of a group in which every record is another one, at twice its length."""
    plan = no_steps().group_by("group").agg(pl.col("whole").dp.sum((-high, high)))
    promised = {"max_length": length, "max_groups": 1, "invariant": "keys"}
    measurement = made(plan, margin("group", **promised), scale=scale)
    frames = tuple(_frame(group=["a"] * length, whole=[sign * high] * length) for sign in (-1, 1))
    return _either(
        f"make_private_lazyframe(sum of a group of {length} in (-{high}, {high}), {scale=}), all of them changed",
        measurement,
        2 * length,
        frames,
        int,
        distribution=lambda data: {
            "family": "discrete laplace",
            "location": round(2 * data[0] - 1) * length * high,
            "scale": scale * high,
        },
    )


# --- columns of another type ---------------------------------------------------------------------------------------


def _of_a_column(kind: Any, expression: Any, length: int, scale: float) -> Any:
    """Return the measurement of an expression of a frame of one column."""
    plan = pl.LazyFrame(schema={"column": kind})
    domain = dp.with_margin(dp.domain_of(plan, infer=True), margin(max_length=length))
    metric, measure = dp.symmetric_distance(), dp.max_divergence()
    return dp.m.make_private_lazyframe(domain, metric, measure, plan.select(expression), global_scale=scale)


def _exceeds(
    name: str, column: tuple[Any, Any], columns: tuple[list[Any], list[Any]], scale: float, middle: float = 0.0
) -> Mechanism:  # fmt: skip
    """Return the case: whether a sum of a column of a type is above a number, and with one record more."""
    kind, expression = column
    measurement = _of_a_column(kind, expression, len(columns[1]), scale)
    frames = tuple(pl.LazyFrame({"column": values}, schema={"column": kind}) for values in columns)
    return _either(
        f"make_private_lazyframe(sum of {name}, {scale=})", measurement, 1, frames, lambda number: number > middle
    )


_COLUMN = pl.col("column")
_LARGE = 1e38
"""A third of the largest number of a 32-bit float."""
_LATEST = dt.date(9999, 12, 31)
_DAYS = (_LATEST - dt.date(1970, 1, 1)).days
_MOST_DATES = (2**31 - 1) // _DAYS
"""As many of the latest dates as fit into 32 bits when their numbers of days are added."""


def codes(scale: float, records: int) -> Mechanism:
    """Return the case: codes of two ranges, of which the upper one comes first in one of the frames."""
    code = _COLUMN.fill_nan(0.0).cut([1.0]).to_physical().dp.sum((0, 1))
    columns = [0.5] * records, [2.0] + [0.5] * records
    return _exceeds("codes of a cut", (pl.Float64, code), columns, scale, records / 2)


def dates(scale: float) -> Mechanism:
    """Return the case: the days since 1970 of as many dates as fit into 32 bits, and of one more."""
    columns = [_LATEST] * _MOST_DATES, [_LATEST] * (_MOST_DATES + 1)
    return _exceeds("days of dates", (pl.Date, _COLUMN.to_physical().dp.sum((0, _DAYS))), columns, scale)


def narrowed(scale: float) -> Mechanism:
    """Return the case: large floats of 32 bits, of which one more makes a part of a sum overflow."""
    total = _COLUMN.cast(pl.Float32).fill_null(0.0).fill_nan(0.0).clip(-_LARGE, _LARGE).sum().dp.noise()
    columns = [_LARGE] * 3 + [-_LARGE] * 7, [_LARGE] * 4 + [-_LARGE] * 7
    return _exceeds("floats cast to 32 bits", (pl.Float64, total), columns, scale)


def column_cases(collect: Collector) -> None:
    """Add the counts that cost nothing, the groups that are made anew or change entirely, and columns cast."""
    collect.add(Relations, "counts, lengths not protected", {"counts that cost nothing are the length": _free_counts})
    for told in _MADE_NULL:
        collect.add(counted, told, 1.25)
    collect.add(redefined, 0.8, 15)
    collect.add(exchanged, 3, 10, 1.5)
    collect.add(codes, 1.25, 20)
    collect.add(dates, 1.25)
    collect.add(narrowed, 1.25)
