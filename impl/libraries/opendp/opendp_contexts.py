"""Contexts: budgets translated between measures, queries cast to the measure of a context, units of frames."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import opendp.prelude as dp
from opendp_building import Collector, vector

from dpassay.adapter import Relations, protects, spends
from dpassay.impl.libraries.references import gaussian_delta

if TYPE_CHECKING:
    from collections.abc import Iterator

    Row = tuple[str, float, float, float] | tuple[str, float, float, float, str]

__all__ = ["context_cases"]

_SLACK = 1e-6
"""Relative: parameters are found by bisection, on the safe side."""

_NUDGES = (1.0, 1 + 1e-12, 1 + 1e-10, 1 + 1e-9)
"""Factors on epsilon, far below the slack, of which the first one that the library does not refuse is taken."""

_DATA = [1.5, 2.5, -3.5]


def _context(loss: tuple[Any, Any], *, contributions: int = 1, data: Any = None, **options: Any) -> Any:
    options = options or {"split_evenly_over": 1}
    return dp.Context.compositor(
        data=_DATA if data is None else data,
        privacy_unit=dp.unit_of(contributions=contributions),
        privacy_loss=loss,
        domain=vector(float) if data is None else None,
        **options,
    )


def _losses(random: Any) -> tuple[float, float, str]:
    epsilon, delta = random.uniform(0.3, 3), 10 ** random.uniform(-9, -3)
    return epsilon, delta, f"epsilon {epsilon!r}, delta {delta!r}"


def _inner(
    measure: Any, parts: int, *, alpha: float | None = None, epsilon: float | None = None, **loss: float
) -> list[Any]:
    """Return the losses of the queries of a context within a query, in another measure.

    A translated budget may exceed the whole one by a rounding, which the library refuses; a slightly larger epsilon
    has another rounding.
    """
    for nudge in _NUDGES:
        whole = loss if epsilon is None else {"epsilon": epsilon * nudge, **loss}
        context = _context(dp.loss_of(**whole))
        query = context.query().compositor(split_evenly_over=parts, output_measure=measure, alpha=alpha)
        try:
            return list(query.release().d_mids)
        except dp.OpenDPException as error:
            if "insufficient budget" not in str(error):
                raise
            refused = error
    raise refused


def _concentrated_delta(rho: float, epsilon: float) -> float:
    """Return delta at epsilon of the Gaussian mechanism, one of those that satisfy rho-zCDP."""
    return float(gaussian_delta(1 / math.sqrt(2 * rho), epsilon))


def _translations(random: Any) -> Iterator[Row]:
    """Compare budgets in another measure with what they cost in the first one."""
    epsilon, delta, words = _losses(random)
    parts = random.randint(2, 4)
    concentrated = dp.zero_concentrated_divergence()
    rho = math.fsum(_inner(concentrated, parts, epsilon=epsilon, delta=delta))
    whole = _concentrated_delta(rho, epsilon)
    yield spends((f"zCDP within approximate privacy, {words}", 0.0, whole, delta * (1 + _SLACK)))
    # rho + 2 sqrt(rho log(1/delta)) is the weakest of the conversions
    weakest = (math.sqrt(math.log(1 / delta) + epsilon) - math.sqrt(math.log(1 / delta))) ** 2
    yield f"zCDP within approximate privacy, rho, {words}", weakest * (1 - _SLACK), rho, math.inf
    alpha = random.uniform(0.1, 0.8)
    found = _inner(dp.approximate(concentrated), parts, alpha=alpha, epsilon=epsilon, delta=delta)
    rho, spent = math.fsum(part[0] for part in found), math.fsum(part[1] for part in found)
    whole = _concentrated_delta(rho, epsilon) + spent
    told = f"approximate zCDP within approximate privacy, {alpha!r}, {words}"
    yield spends((told, 0.0, whole, delta * (1 + _SLACK)))
    yield f"its part of delta, {alpha!r}, {words}", 0.0, spent, alpha * delta * (1 + _SLACK)
    pure = math.fsum(_inner(dp.max_divergence(), parts, rho=epsilon))
    least = pure * math.tanh(pure / 2)  # rho of randomised response is not below that of Laplace noise
    yield spends((f"pure within zCDP, rho {epsilon!r}", 0.0, least, epsilon * (1 + _SLACK)))
    yield f"pure within zCDP, half the square, {epsilon!r}", epsilon * (1 - _SLACK), pure**2 / 2, math.inf


def _parameter(query: Any) -> float:
    """Return the parameter that a query lacks; a query that is cast to another measure does not tell it itself."""
    chain, output_measure = query._chain, query._output_measure
    return float(chain.fix(query._d_in, query._d_out, output_measure).param)


def _casts(random: Any) -> Iterator[Row]:
    """Compare the scales of queries in a context of another measure with the loss of their noise."""
    epsilon, delta, words = _losses(random)
    moved, parts = random.randint(2, 5), random.randint(2, 4)
    words = f"{words}, {moved} contributions, {parts} queries"
    both = {"contributions": moved, "split_evenly_over": parts}
    context = _context(dp.loss_of(rho=epsilon), **both)
    scale = _parameter(context.query().count().laplace())
    loss = moved / scale
    most = epsilon / parts * (1 + _SLACK)
    yield spends((f"Laplace within zCDP, {words}", 0.0, loss * math.tanh(loss / 2), most))
    context = _context(dp.loss_of(epsilon=epsilon, delta=delta), **both)
    scale = _parameter(context.query().count().laplace())
    yield spends((f"Laplace within approximate privacy, {words}", 0.0, moved / scale, most))
    share, rest = context.d_mids[0]
    sigma = _parameter(context.query().count().gaussian())
    spent = _concentrated_delta((moved / sigma) ** 2 / 2, share)
    yield spends((f"Gaussian within approximate privacy, {words}", 0.0, spent, rest * (1 + _SLACK)))
    yield f"delta of a query, {words}", 0.0, rest, delta / parts * (1 + _SLACK)
    yield f"epsilon of a query, {words}", 0.0, share, epsilon / parts * (1 + _SLACK)


def _weights(random: Any) -> Iterator[Row]:
    """Check that budgets follow weights, and that a filter stops at its budget."""
    epsilon, delta, words = _losses(random)
    weights, context = _split_by_weights(dp.loss_of(epsilon=epsilon, delta=delta), random)
    for number, weight in enumerate(weights):
        for part, whole in zip(context.d_mids[number], (epsilon, delta)):
            exact = whole * weight / sum(weights)
            yield f"part {number} of {weights!r}, {words}", exact * (1 - _SLACK), float(part), exact * (1 + _SLACK)
    context = dp.Context.compositor(
        data=_DATA,
        privacy_unit=dp.unit_of(contributions=2),
        privacy_loss=dp.loss_of(epsilon=epsilon),
        domain=vector(float),
    )
    left, is_exhausted = epsilon, False
    for _ in range(3):
        scale = random.uniform(2, 9) / epsilon
        cost = 2 / scale
        allowed = cost <= left and not is_exhausted  # after one query too many it answers no other
        if abs(cost - left) < 1e-9 * epsilon:
            continue
        try:
            context.query().count().laplace(scale).release()
            answered = True
        except (dp.OpenDPException, ValueError):
            answered, is_exhausted = False, True
        left -= cost * answered
        told = f"a filter with {left!r} left and a query of {cost!r}"
        yield spends((told, float(allowed), float(answered), float(allowed)))


def _split_by_weights(loss: Any, random: Any) -> tuple[list[float], Any]:
    """Return weights, and a context that is split by them.

    Epsilon and delta are rounded each by itself: where the parts of one add up to less than the whole, and those of
    the other to more, the library finds no order between the two and refuses; other weights are tried then.
    """
    while True:
        weights = [random.uniform(0.3, 4) for _ in range(3)]
        try:
            return weights, _context(loss, split_by_weights=weights)
        except dp.OpenDPException as error:
            if "unknown ordering" not in str(error):
                raise


def _units(random: Any) -> Iterator[Row]:
    """Check that units and losses are what they say, and that shorthands build the spaces that they name."""
    number = random.randint(2, 9)
    amount = random.uniform(0.3, 5)
    stated = {
        "contributions": (dp.symmetric_distance(), {}, number),
        "changes": (dp.change_one_distance(), {}, number),
        "absolute": (dp.absolute_distance(T=float), {}, amount),
        "l1": (dp.l1_distance(T=float), {}, amount),
        "l2": (dp.l2_distance(T=float), {}, amount),
    }
    for name, (metric, options, value) in stated.items():
        found = dp.unit_of(**{name: value}, **options)
        yield f"unit_of({name})", 1.0, float(found == (metric, value)), 1.0
    ordered = {"contributions": dp.insert_delete_distance(), "changes": dp.hamming_distance()}
    for name, metric in ordered.items():
        yield f"unit_of({name}, ordered)", 1.0, float(dp.unit_of(**{name: number}, ordered=True)[0] == metric), 1.0
    for name, kind in (("List[int]", int), ("Vec<float>", float)):
        space = dp.space_of(name if "<" in name else list[int])
        same = str(space[0]) == str(dp.vector_domain(dp.atom_domain(T=kind)))
        yield f"space_of {name}", 1.0, float(same and space[1] == dp.symmetric_distance()), 1.0
    yield "metric_of", 1.0, float(dp.metric_of("L1Distance<int>") == dp.l1_distance(T=int)), 1.0
    yield "domain_of", 1.0, float(str(dp.domain_of(dict[str, int])) == str(dp.map_domain(_atom(str), _atom(int)))), 1.0


def _guesses(random: Any) -> Iterator[Row]:
    """Check that no domain is guessed from the length or the values of data, and that a sum costs its farthest bound.

    The number of records is private where a unit adds records.
    """
    few, many = random.randint(1, 4), random.randint(5, 9)
    drawn = {
        int: lambda: random.randint(-99, 99),
        float: lambda: random.uniform(-99, 99),
        str: lambda: str(random.randint(0, 99)),
        bool: lambda: random.random() < 0.5,
    }
    unit, loss = dp.unit_of(contributions=2), dp.loss_of(epsilon=1.5)
    for kind, draw in drawn.items():
        for number in (few, many):
            data = [draw() for _ in range(number)]
            context = dp.Context.compositor(data=data, privacy_unit=unit, privacy_loss=loss, split_evenly_over=1)
            told, exact = f"{data!r}", str(dp.vector_domain(_atom(kind)))
            for name, domain in (
                ("domain_of", dp.domain_of(data, infer=True)),
                ("space_of", dp.space_of(data, dp.symmetric_distance(), infer=True)[0]),
                ("context", context.accountant.input_domain),
            ):
                yield protects((f"{name} {told}", 1.0, float(str(domain) == exact), 1.0))
    low, high, moved = -random.randint(2, 9), random.randint(10, 19), random.randint(2, 5)
    epsilon = random.uniform(0.3, 3)
    for number in (few, many):
        data = [random.randint(-99, 99) for _ in range(number)]
        context = dp.Context.compositor(
            data=data,
            privacy_unit=dp.unit_of(contributions=moved),
            privacy_loss=dp.loss_of(epsilon=epsilon),
            split_evenly_over=1,
        )
        exact = moved * high / epsilon
        scale = _parameter(context.query().clamp((low, high)).sum().laplace())
        words = f"scale of a sum, epsilon {epsilon!r}, {moved} contributions, bounds {(low, high)!r}, {data!r}"
        yield protects((words, exact * (1 - _SLACK), scale, exact * (1 + _SLACK)))


def _atom(kind: Any) -> Any:
    return dp.atom_domain(T=kind)


def _frame() -> Any:
    import polars as pl

    return pl.LazyFrame({"group": ["a", "b", "a"], "whole": [3, 5, 8], "value": [1.5, -2.0, 4.0]})


def _frames(random: Any) -> Iterator[Row]:
    """Compare the scales of queries of frames with the losses that they make, by the unit and the bounds."""
    import polars as pl

    epsilon, parts, moved = random.uniform(0.3, 3), random.randint(2, 4), random.randint(2, 4)
    low, high = -random.randint(2, 9), random.randint(1, 12)
    words = f"epsilon {epsilon!r}, {parts} queries, {moved} contributions, bounds {(low, high)!r}"
    margins = [dp.polars.Margin(by=[], max_length=100), dp.polars.Margin(by=["group"], max_length=9, invariant="keys")]
    name, loss = random.choice([("pure", dp.loss_of(epsilon=epsilon)), ("zCDP", dp.loss_of(rho=epsilon))])
    context = _context(loss, contributions=moved, data=_frame(), split_evenly_over=parts, margins=margins)
    whole, most = pl.col("whole").fill_null(0).dp.sum((low, high)), max(-low, high)
    what, query, steps = random.choice(  # one, because a search for a scale takes long
        [
            ("len", context.query().select(dp.len(signed=True)), [moved]),
            ("sum", context.query().select(whole), [moved * most]),
            ("len by group", context.query().group_by("group").agg(dp.len(signed=True)), [moved]),
            (
                "len and sum by group",
                context.query().group_by("group").agg(dp.len(signed=True), whole),
                [moved, moved * most],
            ),
        ]
    )
    share, spent = epsilon / parts, 0.0
    for step, scale in zip(steps, query.summarize()["scale"].to_list()):
        spent += step / scale if name == "pure" else (step / scale) ** 2 / 2
    yield spends((f"{what}, {name}, {words}", share * (1 - 1e-3), spent, share * (1 + _SLACK)))


def _bounds(random: Any) -> Iterator[Row]:
    """Compare scales with bounds on the groups of a person and on the records in each."""
    epsilon, groups, records = random.uniform(0.3, 3), random.randint(2, 5), random.randint(2, 5)
    words = f"epsilon {epsilon!r}, {groups} groups, {records} records in each"
    unit = [dp.polars.Bound(by=["group"], num_groups=groups, per_group=records)]
    name, loss = random.choice([("pure", dp.loss_of(epsilon=epsilon)), ("zCDP", dp.loss_of(rho=epsilon))])
    context = dp.Context.compositor(
        data=_frame(),
        privacy_unit=dp.unit_of(contributions=unit),
        privacy_loss=loss,
        split_evenly_over=1,
        margins=[dp.polars.Margin(by=["group"], max_length=9, invariant="keys")],
    )
    (scale,) = context.query().group_by("group").agg(dp.len(signed=True)).summarize()["scale"].to_list()
    spent = groups * records / scale if name == "pure" else groups * (records / scale) ** 2 / 2
    yield spends((f"len by group, {name}, {words}", epsilon * (1 - 1e-3), spent, epsilon * (1 + _SLACK)))


def _private_keys(random: Any) -> Iterator[Row]:
    """Compare scale and threshold of private keys with the probability that a key of one person is released."""
    epsilon, delta, words = _losses(random)
    records = random.randint(2, 4)
    unit = [dp.polars.Bound(by=["group"], num_groups=1, per_group=records)]
    context = dp.Context.compositor(
        data=_frame(),
        privacy_unit=dp.unit_of(contributions=unit),
        privacy_loss=dp.loss_of(epsilon=epsilon, delta=delta),
        split_evenly_over=1,
    )
    query = context.query().group_by("group").agg(dp.len(signed=True))
    row = query.summarize().to_dicts()[0]
    scale, threshold = row["scale"], row["threshold"]
    yield spends((f"epsilon of a key, {words}", epsilon * (1 - 1e-3), records / scale, epsilon * (1 + _SLACK)))
    beyond = threshold - records
    ratio = math.exp(-1 / scale)
    exceeds = ratio ** (beyond + 1) / (1 + ratio) if beyond >= 0 else 1.0
    yield spends((f"Pr[a key is released], threshold {threshold!r}, {words}", 0.0, exceeds, delta * (1 + _SLACK)))


def _of(name: str, words: str, relation: Any) -> Relations:
    return Relations(name, {words: relation})


def context_cases(collect: Collector) -> None:
    """Collect the cases of contexts."""
    for name, words, relation in (
        ("Context, compositor within a query", "budgets are translated safely", _translations),
        ("Context, PartialChain", "queries are cast safely", _casts),
        ("Context, weights and filters", "budgets follow weights and end", _weights),
        ("Context, guessed domain", "data tell nothing but their type", _guesses),
        ("unit_of, loss_of, space_of, domain_of, metric_of", "shorthands are what they name", _units),
    ):
        collect.add(_of, name, words, relation)
    _frame()  # raises where Polars is missing
    for name, words, relation in (
        ("Context, queries of frames", "scales follow sensitivities", _frames),
        ("Context, bounds on groups", "scales follow bounds", _bounds),
        ("Context, private keys", "a key of one person stays hidden", _private_keys),
    ):
        collect.add(_of, name, words, relation)
