"""Frames and arrays: what defaults and inferred domains must not promise, and what becomes of null and NaN.

Noise is next to none, so that an aggregate of records, of which some are none, is a number between bounds.
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

import opendp.prelude as dp
import polars as pl
from opendp import domains
from opendp_building import Collector, measurement_case
from opendp_refusals import LONG, SCHEMA, made, margin, no_steps

from dpassay.adapter import Relations
from dpassay.impl.libraries.references import near

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dpassay.adapter import Mechanism

    Row = tuple[str, float, float, float]

__all__ = ["promise_cases"]

_KINDS = {
    "categories": (pl.Categorical, domains.categorical_domain),
    "an enumeration": (pl.Enum(["a", "b"]), lambda: domains.enum_domain(pl.Series(["a", "b"]))),
    "times of microseconds": (pl.Datetime("us"), lambda: domains.datetime_domain("us", None)),
    "times of nanoseconds": (pl.Datetime("ns", "UTC"), lambda: domains.datetime_domain("ns", "UTC")),
    "arrays of floats": (pl.Array(pl.Float64, 2), lambda: domains.array_domain(_floats(nan=True), 2)),
    "arrays of integers": (pl.Array(pl.Int32, 3), lambda: domains.array_domain(dp.atom_domain(T="i32"), 3)),
    "f64": (pl.Float64, lambda: _floats(nan=True)),
    "f32": (pl.Float32, lambda: dp.atom_domain(T="f32", nan=True)),
    **{
        name: (kind, lambda name=name: dp.atom_domain(T=name))
        for name, kind in {
            "u32": pl.UInt32, "u64": pl.UInt64, "i32": pl.Int32, "i64": pl.Int64, "bool": pl.Boolean,
            "String": pl.String, "NaiveTime": pl.Time, "NaiveDate": pl.Date,
        }.items()
    },
}  # fmt: skip
"""Types of columns, and the domains of their values, of which floats may be NaN."""


def _floats(*, nan: bool) -> Any:
    return dp.atom_domain(T="f64", nan=nan)


def _inferred(name: str) -> Callable[[], bool]:
    """Return the fact that the domain of a column admits null, and every value of its type."""

    def fact() -> bool:
        kind, make = _KINDS[name]
        found = dp.domain_of(pl.LazyFrame(schema={"column": kind}), infer=True)
        broadest = dp.lazyframe_domain([dp.series_domain("column", dp.option_domain(make()))])
        without_null = dp.lazyframe_domain([dp.series_domain("column", make())])
        members = name not in {"f64", "f32", "i64"} or all(
            found.member(pl.LazyFrame({"column": [value]}, schema={"column": kind}))
            for value in [None, math.nan, math.inf][: 1 if name == "i64" else 3]
        )
        return found == broadest and found != without_null and members

    return fact


def _empty() -> Iterator[bool]:
    """Yield whether each default promises nothing."""
    for promise in (dp.polars.Margin(), dp.polars.Bound(), margin("group"), dp.polars.Bound(by=["group"])):
        given = {field.name: getattr(promise, field.name) for field in dataclasses.fields(promise)}
        yield given.pop("by") in ([], ["group"])
        yield set(given.values()) == {None}


def _promises_nothing() -> bool:
    return all(_empty())


def _arrays_promise_nothing() -> bool:
    """Return whether arrays may have NaN, any norm and any size, unless they are said not to."""
    found = [dp.numpy.array2_domain(T=kind).descriptor for kind in ("f64", "f32")]
    free = {"norm", "p", "origin", "size", "num_columns", "cardinalities"}
    plain = all(one.nan is True and all(getattr(one, name) is None for name in free) for one in found)
    with_norm = dp.numpy.array2_domain(T="f64", norm=1.5, p=2, num_columns=2).descriptor
    return plain and with_norm.nan is True and with_norm.size is None and not with_norm.origin.any()


def _none_of_it_counts(random: Any) -> Iterator[Row]:
    """Compare aggregates of records of which some are null or NaN with counts, and with the ends of a sum.

    A record that is none counts as some value within the bounds. Noise is next to none.
    """
    value = [random.uniform(-9, 9) for _ in range(random.randint(3, 6))]
    value += [math.nan] * random.randint(1, 3) + [None] * random.randint(1, 3)
    whole = [random.randint(-9, 9) for _ in value[:-2]] + [None, None]
    random.shuffle(value)
    random.shuffle(whole)
    low, high = random.uniform(-7, -2), random.uniform(1, 7)
    rows = pl.LazyFrame({"group": ["a"] * len(value), "user": range(len(value)), "whole": whole, "value": value},
                        schema=SCHEMA)  # fmt: skip
    words, every = f"{value!r}, {whole!r}, bounds {(low, high)!r}", margin(**LONG)

    def asked(expression: Any) -> float:
        return float(made(no_steps().select(expression), every, scale=1e-7)(rows).collect().item())

    for name, column, told in (("value", value, value), ("whole", whole, [math.nan, *whole])):
        present = [each for each in column if each is not None]
        numbers = [each for each in present if not math.isnan(each)]
        different = len(set(numbers)) + (None in column) + any(map(math.isnan, present))
        expression = pl.col(name).dp
        yield (f"len of {name}, {words}", *near(asked(expression.len(signed=True)), len(column), 0.0, 1e-4))
        yield (f"count of {name}, {words}", *near(asked(expression.count(signed=True)), len(present), 0.0, 1e-4))
        nulls = len(column) - len(present)
        yield (f"null_count of {name}, {words}", *near(asked(expression.null_count(signed=True)), nulls, 0.0, 1e-4))
        yield (f"n_unique of {name}, {words}", *near(asked(expression.n_unique(signed=True)), different, 0.0, 1e-4))
        ends = (low, high) if told is value else (math.floor(low), math.ceil(high))
        clipped, missing = math.fsum(min(max(each, ends[0]), ends[1]) for each in numbers), len(column) - len(numbers)
        found = asked(expression.sum(ends))
        yield f"sum of {name}, {words}", clipped + missing * ends[0] - 1e-2, found, clipped + missing * ends[1] + 1e-2
        found = asked(expression.mean(ends))
        low_mean, high_mean = ((clipped + missing * end) / len(column) for end in ends)
        yield f"mean of {name}, {words}", low_mean - 1e-2, found, high_mean + 1e-2
        found = asked(expression.median([-5, 0, 5] if told is not value else [-5.0, 0.0, 5.0]))
        yield f"median of {name}, {words}", 1.0, float(found in {-5, 0, 5}), 1.0


def promises() -> Relations:
    """Return the facts about defaults and inferred domains, and what becomes of records that are none."""
    return Relations(
        "frames, promises",
        {"records that are null or NaN stay within the bounds": _none_of_it_counts},
        {
            **{f"a column of {name} may be null, and any value": _inferred(name) for name in _KINDS},
            "margins and bounds promise nothing": _promises_nothing,
            "arrays promise nothing": _arrays_promise_nothing,
        },
    )


def filled_with_nan(epsilon: float, records: int) -> Mechanism:
    """Return the case: the sum of records at the upper bound, beside one that is null and is filled with NaN."""
    expression = pl.col("value").fill_nan(0.0).fill_null(math.nan).clip(0.0, 5.0).sum().dp.noise()
    measurement = made(no_steps().select(expression), margin(**LONG), scale=1 / epsilon)

    def argument(data: list[float]) -> Any:
        value = [5.0] * records + [None] * int(data[0])
        return pl.LazyFrame({name: value if name == "value" else [None] * len(value) for name in SCHEMA},
                            schema=SCHEMA)  # fmt: skip

    return measurement_case(
        f"make_private_lazyframe(sum of {records} records, one more that is null and is filled with NaN, {epsilon=})",
        measurement,
        1,
        "vector:size=1,linf=1,low=0,high=1,integer",
        argument,
        outcome=lambda release: float(release.collect().item()),
        floats=False,
        slow=True,
    )


def promise_cases(collect: Collector) -> None:
    """Add the facts, and the sum of a record that is none."""
    collect.add(promises)
    collect.add(filled_with_nan, 0.8, 20)
