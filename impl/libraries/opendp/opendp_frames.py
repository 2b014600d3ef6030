"""Queries of data frames: aggregates by group, private keys and their threshold, users behind a truncation.

A frame holds many groups of records, whose noises are independent and of which a record changes one: one release is a
sample of as many outcomes as there are groups.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import opendp.prelude as dp
import polars as pl
from opendp_building import Collector, measurement_case

from dpassay.adapter import Family

if TYPE_CHECKING:
    from dpassay.adapter import Mechanism

__all__ = ["frame_cases"]

_GROUPS = 1_000_000
_LONGEST = 40
"""Records of a group at most."""


def _domain(*, keys: str | None = "keys", user: bool = False) -> Any:
    """Return the domain of frames of a group, an integer and a float, and of a user."""
    kinds = {"group": dp.atom_domain(T="i64"), "whole": dp.option_domain(dp.atom_domain(T="i64"))}
    kinds["value"] = dp.atom_domain(T=float, nan=True)
    if user:
        kinds["user"] = dp.atom_domain(T="i64")
    domain = dp.lazyframe_domain([dp.series_domain(name, kind) for name, kind in kinds.items()])
    domain = dp.with_margin(domain, dp.polars.Margin(by=[], max_length=_GROUPS * _LONGEST, max_groups=1))
    by_group = dp.polars.Margin(by=["group"], max_length=_LONGEST, max_groups=_GROUPS, invariant=keys)
    return dp.with_margin(domain, by_group)


_SCHEMA = {"group": pl.Int64, "whole": pl.Int64, "value": pl.Float64}


def _plan(*, user: bool = False) -> Any:
    return pl.LazyFrame(schema={**_SCHEMA, "user": pl.Int64} if user else _SCHEMA)


def _frame(data: list[float], count: int, *, records: int = 1) -> Any:
    """Return a frame in which each of `count` groups holds these records, and as many copies of each."""
    values = [value for value in data for _ in range(records)]
    columns = {
        "group": [group for group in range(count) for _ in values],
        "whole": [round(value) for value in values] * count,
        "value": values * count,
    }
    return pl.LazyFrame(columns, schema=_SCHEMA)


def _released(measurement: Any, frame: Any) -> list[Any]:
    found = measurement(frame).collect().sort("group")
    return list(found.drop("group").to_series().to_list())


def _grouped(query: Any, scale: float, *, measure: Any = None, aggregate: Any = None) -> Any:
    measure = dp.max_divergence() if measure is None else measure
    plan = _plan() if aggregate is None else aggregate(_plan())
    return dp.m.make_private_lazyframe(
        _domain(), dp.symmetric_distance(), measure, plan.group_by("group").agg(query), global_scale=scale
    )


_RECORDS = "low=-30,high=30,size=2,max-size=5,relation=add-remove"


def aggregate(name: str, query: Any, scale: float, *, exact: Any = None, concentrated: bool = False) -> Mechanism:
    """Return the case: an aggregate of the records of a group, of which one is added or removed.

    `exact` is the value without noise, an integer, and how far one record moves it at most.
    """
    measure = dp.zero_concentrated_divergence() if concentrated else dp.max_divergence()
    measurement = _grouped(query, scale, measure=measure)
    distribution = None
    if exact is not None:
        value_of, sensitivity = exact
        family = "discrete gaussian" if concentrated else "discrete laplace"
        distribution = lambda data: {  # noqa: E731
            "family": family,
            "location": value_of([round(value) for value in data]),
            "scale": scale * sensitivity,
        }
    return measurement_case(
        f"make_private_lazyframe({name}, {scale=}, {'zcdp' if concentrated else 'pure'})",
        measurement,
        1,
        f"records:{_RECORDS}",
        list,
        sample_many=lambda data, count: _released(measurement, _frame(data, count)),
        distribution=distribution,
        floats=False,
        notes="each group of a frame is a draw; what a float sum rounds to is left out",
    )


def _clamped_sum(low: int, high: int) -> Any:
    return lambda data: sum(min(max(value, low), high) for value in data)


def total(low: int, width: int, numerator: int, denominator: int, *, concentrated: bool = False) -> Mechanism:
    """Return the case: the sum of integers within bounds, of records of which some lie outside."""
    bounds, scale = (low, low + width), numerator / denominator
    query = pl.col("whole").fill_null(0).dp.sum(bounds)
    exact = _clamped_sum(*bounds), max(map(abs, bounds))
    return aggregate(f"sum in {bounds}", query, scale, exact=exact, concentrated=concentrated)


def repeated(step: int, numerator: int, denominator: int, *, concentrated: bool = False) -> Mechanism:
    """Return the case: the number of records of a group, of which up to `step` are those of one person."""
    scale = numerator / denominator
    measure = dp.zero_concentrated_divergence() if concentrated else dp.max_divergence()
    measurement = _grouped(dp.len(signed=True), scale, measure=measure)

    def sample_many(data: list[float], count: int) -> list[Any]:
        return _released(measurement, _frame([0.0], count, records=1 + int(data[0])))

    return measurement_case(
        f"make_private_lazyframe(len, {scale=}, {step} records a person, {'zcdp' if concentrated else 'pure'})",
        measurement,
        step,
        f"vector:size=1,linf={step},low=0,high=9,integer",
        list,
        sample_many=sample_many,
        distribution=lambda data: {
            "family": "discrete gaussian" if concentrated else "discrete laplace",
            "location": 1 + int(data[0]),
            "scale": scale,
        },
        floats=False,
    )


def private_keys(scale: float, threshold: int, records: int, *, concentrated: bool = False) -> Mechanism:
    """Return the case: the keys of groups are private, and one person owns all records of a group or none."""
    measure = dp.zero_concentrated_divergence() if concentrated else dp.max_divergence()
    bounds = [dp.polars.Bound(by=[], per_group=records), dp.polars.Bound(by=["group"], num_groups=1)]
    measurement = dp.m.make_private_lazyframe(
        _domain(keys=None),
        dp.frame_distance(dp.symmetric_distance()),
        dp.approximate(measure),
        _plan().group_by("group").agg(dp.len(signed=True)),
        global_scale=scale,
        threshold=threshold,
    )

    def sample_many(data: list[float], count: int) -> list[int | None]:
        columns = {"group": list(range(count)) * int(data[0])}
        columns |= {"whole": [0] * len(columns["group"]), "value": [0.0] * len(columns["group"])}
        found = measurement(pl.LazyFrame(columns, schema=_SCHEMA)).collect()
        present = dict(zip(found["group"].to_list(), found["len"].to_list()))
        return [present.get(group) for group in range(count)]

    return measurement_case(
        f"make_private_lazyframe(len of private keys, {scale=}, {threshold=}, {records} records a person, "
        f"{'zcdp' if concentrated else 'pure'})",
        measurement,
        bounds,
        f"vector:size=1,linf={records},low=0,high={records},integer",
        list,
        sample_many=sample_many,
        floats=False,
    )


_KEYS = 512
"""Groups of a release whose keys are stated."""


def _of_stated_keys(name: str, query: Any, frame_of: Any, neighbours: str, exact: Any, scale: float) -> Mechanism:
    """Return the case: lengths of groups whose keys the query states, so that a group may be empty."""
    measurement = query.with_keys(pl.LazyFrame({"group": list(range(_KEYS))})).resolve()

    def sample_many(data: list[float], count: int) -> list[Any]:
        found: list[Any] = []
        while len(found) < count:
            found += _released(measurement, frame_of(data))
        return found[:count]

    return measurement_case(
        name,
        measurement,
        1,
        neighbours,
        list,
        sample_many=sample_many,
        distribution=lambda data: {"family": "discrete laplace", "location": exact(data), "scale": scale},
        floats=False,
    )


def _query(unit: Any, epsilon: float, *, user: bool = False) -> Any:
    context = dp.Context.compositor(
        data=_plan(user=user),
        privacy_unit=unit,
        privacy_loss=dp.loss_of(epsilon=epsilon),
        split_evenly_over=1,
        domain=_domain(user=user, keys=None),
    )
    return context.query()


def truncated(limit: int, epsilon: float, keep: str) -> Mechanism:
    """Return the case: one user owns any number of the records of a group, of which `limit` count."""

    def frame_of(data: list[float]) -> Any:
        own = int(data[0])
        groups = [group for group in range(_KEYS) for _ in range(own)]
        columns = {"group": groups, "user": groups, "whole": [0] * len(groups)}
        columns["value"] = [float(place % 7) for place in range(len(groups))]
        return pl.LazyFrame(columns, schema={**_SCHEMA, "user": pl.Int64})

    query = _query(dp.unit_of(contributions=1, identifier="user"), epsilon, user=True)
    return _of_stated_keys(
        f"truncate_per_group({limit}, {keep=}), with_keys and len, {epsilon=}",
        query.truncate_per_group(limit, keep=keep).group_by("group").agg(dp.len(signed=True)),
        frame_of,
        "vector:size=1,linf=9,low=0,high=9,integer",
        lambda data: min(int(data[0]), limit),
        limit / epsilon,
    )


def stated_keys(epsilon: float) -> Mechanism:
    """Return the case: groups that the query names, which may hold no record."""
    return _of_stated_keys(
        f"with_keys and len, {epsilon=}",
        _query(dp.unit_of(contributions=1), epsilon).group_by("group").agg(dp.len(signed=True)),
        lambda data: _frame([0.0] * int(data[0]), _KEYS),
        "vector:size=1,linf=1,low=0,high=3,integer",
        lambda data: int(data[0]),
        1 / epsilon,
    )


def _sums(*, concentrated: bool) -> Family:
    def make(low: int, width: int, numerator: int, denominator: int) -> Mechanism:
        return dataclasses.replace(total(low, width, numerator, denominator, concentrated=concentrated), calls=60_000)

    domain = {"low": (-20, 5), "width": (3, 15), "numerator": (3, 7), "denominator": (4, 9)}
    found = Family(f"make_private_lazyframe, sums{' with zCDP' if concentrated else ''}, family", make, domain)
    found.member({"low": -4, "width": 6, "numerator": 3, "denominator": 2})
    return found


def _lengths(*, concentrated: bool) -> Family:
    def make(step: int, numerator: int, denominator: int) -> Mechanism:
        found = repeated(step, step * numerator, denominator, concentrated=concentrated)
        return dataclasses.replace(found, calls=60_000)

    domain = {"step": (2, 4), "numerator": (2, 5), "denominator": (2, 3)}
    found = Family(f"make_private_lazyframe, lengths{' with zCDP' if concentrated else ''}, family", make, domain)
    found.member({"step": 2, "numerator": 3, "denominator": 2})
    return found


def frame_cases(collect: Collector) -> None:
    """Add the cases of frames."""
    for concentrated in (False, True):
        collect.add(_sums, concentrated=concentrated)
        collect.add(_lengths, concentrated=concentrated)
    whole = pl.col("whole").fill_null(0)
    value = pl.col("value").fill_nan(0.0)
    for name, query, value_of in (
        ("count", pl.col("whole").dp.count(signed=True), len),
        ("n_unique", pl.col("whole").dp.n_unique(signed=True), lambda data: len(set(data))),
    ):
        collect.add(aggregate, name, query, 0.75, exact=(value_of, 1))
    collect.add(aggregate, "sum of floats in (-7, 3)", value.dp.sum((-7.0, 3.0)), 0.8)
    candidates = [-20.0, -3.0, 2.5, 11.0]
    for alpha in (0.3, 0.5):
        collect.add(aggregate, f"quantile {alpha}", value.dp.quantile(alpha, candidates), 1.5)
    collect.add(aggregate, "median of integers", whole.dp.median([-9, 0, 9]), 1.5)
    for concentrated in (False, True):
        collect.add(private_keys, 1.5, 6, 2, concentrated=concentrated)
    for keep in ("sample", "first", "last"):
        collect.add(truncated, 2, 1.6, keep)
    collect.add(stated_keys, 1.3)
