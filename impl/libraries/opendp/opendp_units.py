"""Units of privacy: every combination of distance, identifier and order has the metric that it names, or is refused.

The scale of a query follows from its unit: a change is one record less and one more, and a user may own several.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import opendp.prelude as dp
import polars as pl
from opendp_building import Collector, vector
from opendp_refusals import SCHEMA, made, margin, no_steps

from dpassay.adapter import Nonsense, Relations, protects
from dpassay.impl.libraries.references import near

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Row = tuple[str, float, float, float] | tuple[str, float, float, float, str]

__all__ = ["measured", "unit_cases"]

_USER = "user"


def _bounds(random: Any) -> list[Any]:
    return [dp.polars.Bound(by=[], per_group=random.randint(2, 9)), dp.polars.Bound(by=["group"], num_groups=3)]


def _named(unit: str, *, identified: bool, ordered: bool) -> Any:
    """Return the metric of records: its name says what counts as a step, and whether order or a user does."""
    if identified:
        return (dp.symmetric_id_distance if unit == "contributions" else dp.change_one_id_distance)(_USER)
    named = {
        ("contributions", False): dp.symmetric_distance,
        ("contributions", True): dp.insert_delete_distance,
        ("changes", False): dp.change_one_distance,
        ("changes", True): dp.hamming_distance,
    }
    return named[unit, ordered]()


def _records(random: Any) -> Iterator[Row]:
    """Check units of records with and without an identifier, an order and bounds."""
    number, bounds = random.randint(2, 9), _bounds(random)
    for unit, identified, ordered, listed in itertools.product(
        ("contributions", "changes"), (False, True), (False, True), (False, True)
    ):
        if (identified and ordered) or (listed and unit == "changes"):
            continue
        amount = bounds if listed else number
        given = {unit: amount, "ordered": ordered, **({"identifier": _USER} if identified else {})}
        metric, found = dp.unit_of(**given)
        exact = _named(unit, identified=identified, ordered=ordered)
        if listed:
            exact = dp.frame_distance(exact)
        yield f"unit_of({given!r}): metric {metric}", 1.0, float(metric == exact), 1.0
        others = [
            other
            for each in itertools.product(("contributions", "changes"), (False, True), (False, True))
            if (other := _named(each[0], identified=each[1], ordered=each[2] and not each[1])) != exact
        ]
        yield f"unit_of({given!r}): no other metric", 1.0, float(all(metric != other for other in others)), 1.0
        yield f"unit_of({given!r}): distance", 1.0, float(found is amount or found == amount), 1.0
        if identified:
            inner = metric.inner_metric if listed else metric
            same = str(inner.identifier.meta.output_name()) == _USER
            yield f"unit_of({given!r}): identifier", 1.0, float(same), 1.0


def _aggregates(random: Any) -> Iterator[Row]:
    """Check units of aggregates, of which each has a type."""
    for kind, amount in ((int, random.randint(2, 9)), (float, random.uniform(0.3, 5))):
        for name, make in (("absolute", dp.absolute_distance), ("l1", dp.l1_distance), ("l2", dp.l2_distance)):
            for given in ({name: amount}, {name: amount, "U": kind}):
                same = dp.unit_of(**given) == (make(T=kind), amount)
                yield f"unit_of({given!r})", 1.0, float(same), 1.0
        other = float if kind is int else int
        typed = dp.unit_of(l1=amount, U=other)[0] == dp.l1_distance(T=other)
        yield f"unit_of(l1={amount!r}, U={other.__name__})", 1.0, float(typed), 1.0
    yield "unit_of(local=True)", 1.0, float(dp.unit_of(local=True) == (dp.discrete_distance(), 1)), 1.0
    epsilon, delta = random.uniform(0.3, 3), 10 ** random.uniform(-9, -3)
    pure, concentrated = dp.max_divergence(), dp.zero_concentrated_divergence()
    for loss, exact in (
        ({"epsilon": epsilon}, (pure, epsilon)),
        ({"rho": epsilon}, (concentrated, epsilon)),
        ({"epsilon": epsilon, "delta": delta}, (dp.approximate(pure), (epsilon, delta))),
        ({"rho": epsilon, "delta": delta}, (dp.approximate(concentrated), (epsilon, delta))),
        ({"epsilon": epsilon, "delta": 0.0}, (dp.approximate(pure), (epsilon, 0.0))),
    ):
        yield f"loss_of({loss!r})", 1.0, float(dp.loss_of(**loss) == exact), 1.0


def _shorthands(_: Any) -> Iterator[Row]:
    """Check that a metric or a space of a name, or of a type, is the one of this name."""
    plain = {
        "SymmetricDistance": dp.symmetric_distance(),
        "InsertDeleteDistance": dp.insert_delete_distance(),
        "ChangeOneDistance": dp.change_one_distance(),
        "HammingDistance": dp.hamming_distance(),
        "DiscreteDistance": dp.discrete_distance(),
    }
    typed = {"AbsoluteDistance": dp.absolute_distance, "L1Distance": dp.l1_distance, "L2Distance": dp.l2_distance}
    kinds = {"int": int, "float": float, "i64": dp.i64, "f32": dp.f32}
    metrics = plain | {f"{name}<{kind}>": make(T=kinds[kind]) for name, make in typed.items() for kind in kinds}
    for name, exact in metrics.items():
        for told, found in (
            (f"metric_of({name})", dp.metric_of(name)),
            (f"metric_of({exact})", dp.metric_of(exact)),
            (f"space_of(list[int], {name})", dp.space_of(list[int], name)[1]),
        ):
            yield told, 1.0, float(found == exact and str(found) == str(exact)), 1.0
    for name, make in typed.items():
        for kind in (int, float):
            found = dp.space_of(list[kind], getattr(dp, name))[1]
            yield f"space_of(list[{kind.__name__}], {name}) without a type", 1.0, float(found == make(T=kind)), 1.0
    for kind in (int, float):
        number, found = dp.space_of(kind)
        same = str(number) == str(dp.atom_domain(T=kind)) and found == dp.absolute_distance(T=kind)
        yield f"space_of({kind.__name__})", 1.0, float(same), 1.0
    for kind in ("int", "float", "str", "bool", "i32", "i64", "f32", "f64"):
        one = dp.atom_domain(T=kind)
        for told, exact in (
            (kind, one),
            (f"Vec<{kind}>", dp.vector_domain(one)),
            (f"Option<{kind}>", dp.option_domain(one)),
            (f"HashMap<str, {kind}>", dp.map_domain(dp.atom_domain(T=str), one)),
        ):
            yield f"domain_of({told})", 1.0, float(str(dp.domain_of(told)) == str(exact)), 1.0
    for kind in ("i8", "i16", "u8", "u16", "u32", "u64"):  # vectors of some of these are not built
        yield f"domain_of({kind})", 1.0, float(str(dp.domain_of(kind)) == f"AtomDomain(T={kind})"), 1.0


def _scales(random: Any) -> Iterator[Row]:
    """Compare the scale of a count with its unit: k changes move it by 0 or by k, of a known size or not."""
    number, epsilon, size = random.randint(2, 5), random.uniform(0.3, 2), random.randint(6, 9)
    data = [random.uniform(-5, 5) for _ in range(size)]
    bounds = (-3.0, 5.0)
    for name, unit, domain, moved in (
        ("contributions", {"contributions": number}, vector(float, None, bounds), number),
        ("contributions, ordered", {"contributions": number, "ordered": True}, vector(float, None, bounds), number),
        ("changes", {"changes": number}, vector(float, size, bounds), number),
        ("changes, ordered", {"changes": number, "ordered": True}, vector(float, size, bounds), number),
    ):
        context = dp.Context.compositor(
            data=[min(max(value, -3.0), 5.0) for value in data],
            privacy_unit=dp.unit_of(**unit),
            privacy_loss=dp.loss_of(epsilon=epsilon),
            split_evenly_over=1,
            domain=domain,
        )
        query = context.query()
        if "ordered" in unit:
            query = query.unordered()
        if "changes" in unit:  # to a metric of records added and removed: two steps a change
            query = query.metric_unbounded()
            measurement = query.sum().laplace().resolve()
            exact = moved * (bounds[1] - bounds[0])
        else:
            measurement = query.count().laplace().resolve()
            exact = moved
        words = f"{name}, {number}, epsilon {epsilon!r}"
        yield protects((f"{words}: scale", exact * (1 - 1e-9), measurement.param * epsilon, exact * (1 + 1e-6)))
        yield protects((f"{words}: loss", *near(measurement.map(number), exact / measurement.param, 1e-6)))


_ROWS = {"user": [1, 1, 2, 3, 3, 3], "group": ["a", "b", "a", "a", "b", "b"], "value": [1, 2, 3, 4, 5, 6]}


def measured(query: Any, scale: float) -> Any:
    """Return the measurement of a query of frames with a scale, for which nothing is searched.

    The noise of a length has this scale, and that of a sum its multiple by the largest value.
    """
    plan, inner = (object.__getattribute__(query, name) for name in ("polars_plan", "_query"))
    return dp.m.make_private_lazyframe(*inner._chain, inner._output_measure, plan, global_scale=scale)


def _frames(random: Any) -> Iterator[Row]:
    """Compare losses of lengths and sums with the records that a unit adds and removes: two for each change.

    A changed record does not change how many there are.
    """
    number, limit, scale = random.randint(2, 5), random.randint(2, 6), random.uniform(0.5, 4)
    length, total = dp.len(signed=True), pl.col("value").dp.sum((-2, 7))
    for name, unit, moved in (
        ("contributions", {"contributions": number}, number),
        ("changes", {"changes": number}, 2 * number),
        ("users", {"contributions": number, "identifier": _USER}, number * limit),
        ("changed users", {"changes": number, "identifier": _USER}, 2 * number * limit),
    ):
        context = dp.Context.compositor(
            data=pl.LazyFrame(_ROWS),
            privacy_unit=dp.unit_of(**unit),
            privacy_loss=dp.loss_of(epsilon=1.0),
            split_evenly_over=1,
            margins=[dp.polars.Margin(by=["group"], max_length=9, max_groups=5, invariant="keys")],
        )
        query = context.query()
        if "identifier" in unit:
            query = query.truncate_per_group(limit)
        words = f"{name}, {number}, {limit} records of a user, scale {scale!r}"
        queries = {"len": query.select(length)}
        if "identifier" not in unit:  # a truncation leaves no public keys
            grouped = query.group_by("group")
            queries |= {"len by group": grouped.agg(length), "sum by group": grouped.agg(total)}
        for told, asked in queries.items():
            exact = 0.0 if (name, told) == ("changes", "len") else moved / scale
            yield protects((f"{told}, {words}", *near(measured(asked, scale).map(number), exact)))


def _own_scales(random: Any) -> Iterator[Row]:
    """Compare statistics that have a scale of their own with its loss, and with their value where it is next to none.

    The noise of a sum has the scale itself; without one, its multiple by the largest value.
    """
    size, scale, low, high = random.randint(5, 9), random.uniform(0.5, 4), random.randint(-5, -1), random.randint(2, 9)
    data = [random.choice([random.randint(-12, 12), None]) for _ in range(size - 1)] + [random.randint(-12, 12)]
    frame = pl.LazyFrame({name: data if name == "whole" else [None] * size for name in SCHEMA}, schema=SCHEMA)
    present, farthest = [each for each in data if each is not None], max(-low, high)
    whole, clipped = pl.col("whole"), pl.col("whole").fill_null(0).clip(low, high).sum()
    total = sum(min(max(each, low), high) for each in present)
    statistics = {
        "dp.len": (lambda own: dp.len(own, signed=True), size, 1),
        "len": (lambda own: whole.dp.len(own, signed=True), size, 1),
        "count": (lambda own: whole.dp.count(own, signed=True), len(present), 1),
        "null_count": (lambda own: whole.dp.null_count(own, signed=True), size - len(present), 1),
        "n_unique": (lambda own: whole.dp.n_unique(own, signed=True), len(set(data)), 1),
        "sum": (lambda own: whole.fill_null(0).dp.sum((low, high), own), total, farthest),
        "noise": (clipped.dp.noise, total, farthest),
    }
    pure, concentrated = dp.max_divergence(), dp.zero_concentrated_divergence()
    for told, (asked, exact, moved) in statistics.items():
        words = f"{told} of {data!r} in {(low, high)!r}"
        for name, measure in (("pure", pure), ("zCDP", concentrated)):
            plan, every = no_steps().select(asked(scale)), margin(max_length=size)
            measurement = made(plan, every, scale=None, measure=measure)
            for number in (1, 3):
                loss = number * moved / scale
                stated, cost = measurement.map(number), loss if name == "pure" else loss**2 / 2
                yield protects((f"{words}, {name}, scale {scale!r}: {number}", *near(stated, cost)))
            quiet = made(no_steps().select(asked(1e-7)), every, scale=None, measure=measure)
            yield (f"{words}, {name}", *near(quiet(frame).collect().item(), exact, 0.0, 0.0))


def _invalid() -> Nonsense:
    """Return the attempts: combinations that name no unit."""
    of = dp.unit_of
    amounts = {"contributions": 2, "changes": 2, "absolute": 2.0, "l1": 2.0, "l2": 2.0, "local": True}
    attempts: dict[str, Callable[[], Any]] = {"nothing": of}
    for one, other in itertools.combinations(amounts, 2):
        attempts[f"{one} and {other}"] = lambda one=one, other=other: of(**{one: amounts[one], other: amounts[other]})
    for name in ("absolute", "l1", "l2"):
        attempts[f"{name}, ordered"] = lambda name=name: of(**{name: 2.0}, ordered=True)
    for name in ("contributions", "changes"):
        attempts[f"{name} of a user, ordered"] = lambda name=name: of(**{name: 2}, identifier=_USER, ordered=True)
    attempts |= {
        "local, ordered": lambda: of(local=True, ordered=True),
        "local, of a user": lambda: of(local=True, identifier=_USER),
        "local, with a type": lambda: of(local=True, U=int),
        "an identifier alone": lambda: of(identifier=_USER),
        "an order alone": lambda: of(ordered=True),
        "a loss of epsilon and rho": lambda: dp.loss_of(epsilon=1.0, rho=1.0),
        "a loss of nothing": dp.loss_of,
    }
    return Nonsense("unit_of, refusals", attempts)


def unit_cases(collect: Collector) -> None:
    """Add the relations of units, and the combinations that must be refused."""
    collect.add(
        Relations,
        "unit_of, loss_of, every combination",
        {
            "units of records have the metric that they name": _records,
            "units of aggregates have the metric that they name": _aggregates,
            "metrics, spaces and domains are those of their names": _shorthands,
            "scales of vectors follow units": _scales,
            "noise of frames follows units": _frames,
            "noise of frames has the scale of a statistic": _own_scales,
        },
        unsafe={"metrics, spaces and domains are those of their names": "either"},
    )
    collect.add(_invalid)
