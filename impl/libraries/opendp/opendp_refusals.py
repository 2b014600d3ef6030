"""Frames: queries that must be refused, of private keys, of records that may be null or NaN, and of users.

A measurement is made from the plan of a query and the domain that the library reads off a frame, which needs no search
for a scale. Queries of contexts are asked as well, a few of them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import opendp.prelude as dp
import polars as pl
from opendp_building import Collector

from dpassay.adapter import Nonsense

if TYPE_CHECKING:
    from collections.abc import Callable

    Attempts = dict[str, Callable[[], Any]]

__all__ = ["LONG", "SCHEMA", "made", "margin", "no_steps", "refusal_cases"]

SCHEMA = {"group": pl.String, "user": pl.Int64, "whole": pl.Int64, "value": pl.Float64}
_MANY = 100
"""Bound on the number of records where one is stated."""


def no_steps() -> Any:
    """Return a plan of no steps on a frame of each type."""
    return pl.LazyFrame(schema=SCHEMA)


def made(plan: Any, *margins: Any, **more: Any) -> Any:
    """Return the measurement of a plan on the domain that is inferred, with margins."""
    domain = dp.domain_of(no_steps(), infer=True)
    for margin in margins:
        domain = dp.with_margin(domain, margin)
    given = {
        "metric": dp.symmetric_distance(),
        "measure": dp.max_divergence(),
        "threshold": None,
        "scale": 1.0,
        **more,
    }
    return dp.m.make_private_lazyframe(
        domain, given["metric"], given["measure"], plan, global_scale=given["scale"], threshold=given["threshold"]
    )


def margin(*by: str, **promised: Any) -> Any:
    """Return what is promised of groups by some columns."""
    return dp.polars.Margin(by=list(by), **promised)


def _grouped(*aggregates: Any) -> Any:
    return no_steps().group_by("group").agg(*(aggregates or (dp.len(signed=True),)))


LONG = {"max_length": _MANY}


def keys() -> Nonsense:
    """Return the attempts: keys of groups that no margin calls public, without a threshold."""
    measures = {
        "pure": dp.max_divergence(),
        "zCDP": dp.zero_concentrated_divergence(),
        "approximate": dp.approximate(dp.max_divergence()),
    }
    margins = {
        "no margin": (),
        "lengths alone": (margin("group", **LONG),),
        "groups alone": (margin("group", max_groups=5),),
        "lengths and groups": (margin("group", **LONG, max_groups=5),),
        "keys of another column": (margin("whole", invariant="keys"), margin("group", **LONG)),
        "keys of all records": (margin(invariant="keys", **LONG),),
    }
    attempts: Attempts = {
        f"{words}, {name}": lambda promised=promised, measure=measure: made(_grouped(), *promised, measure=measure)
        for words, promised in margins.items()
        for name, measure in measures.items()
    }
    public = margin("group", invariant="keys", **LONG)
    changed = no_steps().with_columns(pl.col("group") + pl.lit("x"))
    attempts |= {
        "keys that are left by a filter": lambda: made(
            no_steps().filter(pl.col("whole") > 0).group_by("group").agg(dp.len(signed=True)), public),
        "keys that are changed": lambda: made(changed.group_by("group").agg(dp.len(signed=True)), public),
        "keys alone": lambda: made(no_steps().select(pl.col("group").unique()), public),
        "lengths without noise, of public keys": lambda: made(_grouped(pl.len()), public),
        "a sum without noise, of public lengths": lambda: made(
            _grouped(pl.col("whole").fill_null(0).clip(0, 5).sum()), margin("group", invariant="lengths", **LONG)),
    }  # fmt: skip
    return Nonsense("frames, private keys", attempts)


def values() -> Nonsense:
    """Return the attempts: sums of what may be null, NaN, unbounded or of any length."""
    whole, value = pl.col("whole"), pl.col("value")
    every, by_group = margin(**LONG), margin("group", invariant="keys", **LONG)

    def total(expression: Any, low: Any = 0.0, high: Any = 5.0) -> Any:
        return expression.clip(low, high).sum().dp.noise()

    unfilled = {
        "floats": value,
        "floats, null filled": value.fill_null(0.0),
        "floats, NaN filled": value.fill_nan(0.0),
        "integers": whole,
    }
    attempts: Attempts = {}
    for words, expression in unfilled.items():
        ends = (0, 5) if words == "integers" else (0.0, 5.0)
        noisy = total(expression, *ends)
        attempts[f"sum of {words}"] = lambda noisy=noisy: made(no_steps().select(noisy), every)
        attempts[f"sum of {words}, by group"] = lambda noisy=noisy: made(_grouped(noisy), by_group)
    filled = value.fill_null(0.0).fill_nan(0.0)
    attempts["sum of floats without bounds"] = lambda: made(no_steps().select(filled.sum().dp.noise()), every)
    attempts["sum of floats without noise"] = lambda: made(no_steps().select(filled.clip(0.0, 5.0).sum()), every)
    attempts["sum of integers without noise"] = lambda: made(
        no_steps().select(whole.fill_null(0).clip(0, 5).sum()), every
    )
    attempts["records"] = lambda: made(no_steps().select(value), every)
    attempts["number of records without noise"] = lambda: made(no_steps().select(pl.len()), every)
    lengths = {
        "sum of floats": value.dp.sum((0.0, 5.0)),
        "sum of floats, filled": total(filled),
        "mean of floats": value.dp.mean((0.0, 5.0)),
        "median of floats": value.dp.median([0.0, 5.0]),
        "quantile of floats": value.dp.quantile(0.3, [0.0, 5.0]),
        "sum of integers": whole.dp.sum((0, 5)),
        "mean of integers": whole.dp.mean((0, 5)),
        "median of integers": whole.dp.median([0, 5]),
    }
    promised = {"no margin": (), "a margin of a group": (by_group,), "groups alone": (margin(max_groups=1),)}
    for words, noisy in lengths.items():
        for told, margins in promised.items():
            attempts[f"{words}, no max_length, {told}"] = lambda noisy=noisy, margins=margins: made(
                no_steps().select(noisy), *margins
            )
        attempts[f"{words}, no max_length, by group"] = lambda noisy=noisy: made(
            _grouped(noisy), margin("group", invariant="keys")
        )
    for low, high in ((5.0, 0.0), (math.nan, 1.0), (0.0, math.nan), (-math.inf, 1.0), (0.0, math.inf)):
        attempts[f"sum in ({low}, {high})"] = lambda ends=(low, high): made(
            no_steps().select(value.dp.sum(ends)), every
        )
    for scale in (-1.0, math.nan):
        attempts[f"scale={scale}"] = lambda scale=scale: made(no_steps().select(dp.len(signed=True)), scale=scale)
        attempts[f"len, scale={scale}"] = lambda scale=scale: made(no_steps().select(dp.len(scale=scale, signed=True)))
    return Nonsense("frames, sums and lengths", attempts)


def users() -> Nonsense:
    """Return the attempts: records of a user without a bound, and truncation where no column tells the user."""
    number, identified = dp.len(signed=True), dp.symmetric_id_distance("user")
    first_two = pl.int_range(pl.len())
    public = margin("group", invariant="keys", **LONG)
    moved: dict[str, Any] = {
        "no truncation": no_steps().select(number),
        "no truncation, by group": _grouped(),
        "truncation by a column that tells no user": no_steps().filter(first_two.over("group") < 2).select(number),
        "a filter that bounds nothing": no_steps().filter(first_two.over("user") >= 2).select(number),
    }
    attempts: Attempts = {
        words: lambda plan=plan: made(plan, public, metric=identified) for words, plan in moved.items()
    }
    attempts["truncation without an identifier, in a plan"] = lambda: made(
        no_steps().filter(first_two.over("user") < 2).select(number)
    )
    unordered = {
        "head": no_steps().head(3),
        "a running sum": no_steps().with_columns(pl.col("whole").cum_sum()),
        "a shift": no_steps().with_columns(pl.col("whole").shift()),
        "a maximum of a group": no_steps().with_columns(pl.col("whole").max().over("group")),
        "a join with itself": no_steps().join(no_steps(), on="group"),
    }
    attempts |= {words: lambda plan=plan: made(plan.select(number)) for words, plan in unordered.items()}
    without = {"contributions": 1}, {"changes": 1}, {"contributions": [dp.polars.Bound(by=["group"], num_groups=1)]}
    for unit in without:
        told = f"{next(iter(unit))}{', bounds' if isinstance(next(iter(unit.values())), list) else ''}"
        attempts[f"truncate_per_group without an identifier, {told}"] = lambda unit=unit: _query(
            **unit
        ).truncate_per_group(2)
        attempts[f"truncate_num_groups without an identifier, {told}"] = lambda unit=unit: _query(
            **unit
        ).truncate_num_groups(2, ["group"])
    with_user = {"contributions": 1, "identifier": "user"}
    attempts["truncate_per_group, keep='any'"] = lambda: _query(**with_user).truncate_per_group(2, keep="any")
    attempts["truncate_per_group, by a word"] = lambda: _query(**with_user).truncate_per_group(2, by="group")
    attempts["truncate_num_groups, keep='any'"] = lambda: _query(**with_user).truncate_num_groups(
        2, ["group"], keep="any"
    )
    attempts["truncate_num_groups, by a word"] = lambda: _query(**with_user).truncate_num_groups(2, "group")
    return Nonsense("frames, users and order", attempts)


_FRAME = {"group": ["a", "b", "a"], "user": [1, 2, 2], "whole": [3, None, 8], "value": [1.5, math.nan, None]}


def _context(unit: dict[str, Any], margins: list[Any], **split: Any) -> Any:
    return dp.Context.compositor(
        data=pl.LazyFrame(_FRAME, schema=SCHEMA),
        privacy_unit=dp.unit_of(**unit),
        privacy_loss=dp.loss_of(epsilon=1.0),
        margins=margins,
        **split,
    )


def _query(**unit: Any) -> Any:
    return _context(unit, [], split_evenly_over=1).query()


def queries() -> Nonsense:
    """Return the attempts: queries of contexts, of which a second answer, and an answer without noise."""
    one, number = {"contributions": 1}, dp.len(signed=True)

    def again(**split: Any) -> Any:
        """Return a call: a second query, of all that was split or of more than is left of 1."""
        loss = {} if split else {"epsilon": 0.6}

        def call() -> Any:
            context = _context(one, [], **split)
            return [context.query(**loss).select(number).release().collect() for _ in range(2)]

        return call

    def collected_twice() -> Any:
        answer = _context(one, [], split_evenly_over=1).query().select(number).release()
        return [answer.collect(), answer.collect()]

    return Nonsense(
        "Context of frames, refusals",
        {
            "keys, with their lengths": lambda: _context(one, [margin("group", **LONG)], split_evenly_over=1)
            .query().group_by("group").agg(number).release(),
            "a query after all is spent": again(split_evenly_over=1),
            "a query that exceeds a filter": again(),
            "an answer that is collected twice": collected_twice,
            "a query that is collected": lambda: _query(**one).select(number).collect(),
            "a query that is described": lambda: _query(**one).select(number).describe(),
        },
    )  # fmt: skip


def refusal_cases(collect: Collector) -> None:
    """Add the queries that must be refused."""
    for build in (keys, values, users, queries):
        collect.add(build)
