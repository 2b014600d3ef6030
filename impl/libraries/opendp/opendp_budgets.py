"""Budgets of contexts after each query: what is spent and what remains make the whole, in every component.

Losses of queries are computed from their noise: the distance of neighbours over the scale (pure), half its square
(zCDP), or what a query is given (approximate privacy).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import opendp.prelude as dp
import polars as pl  # noqa: F401  # the releases that come with it have filters and their remainders
from opendp_building import Collector, vector

from dpassay.adapter import Nonsense, Relations, protects, spends, understates
from dpassay.impl.libraries.references import near
from dpassay.impl.libraries.refusing import raises

if TYPE_CHECKING:
    from collections.abc import Iterator

    Row = tuple[str, float, float, float] | tuple[str, float, float, float, str]
    Parts = tuple[float, ...]

__all__ = ["budget_cases"]

_SEARCH = 1e-6
"""Relative: parameters are found by bisection, on the safe side."""

_DATA = [1.5, 2.5, -3.5, 0.5]


def _context(loss: dict[str, float], moved: int, **split: Any) -> Any:
    return dp.Context.compositor(
        data=_DATA,
        privacy_unit=dp.unit_of(contributions=moved),
        privacy_loss=dp.loss_of(**loss),
        domain=vector(float),
        **split,
    )


def _parts(loss: Any) -> Parts:
    return tuple(map(float, loss)) if isinstance(loss, (tuple, list)) else (float(loss),)


def _sum(losses: Any) -> Parts:
    """Return the sum of losses, each a number or a pair; that of none is (0, 0)."""
    found = list(map(_parts, losses))
    return tuple(map(math.fsum, zip(*found))) if found else (0.0, 0.0)


_LOSSES = ("pure", "zCDP", "approximate")


def _drawn(random: Any, kind: str) -> dict[str, float]:
    """Return the arguments of a loss."""
    amount = random.uniform(0.5, 2)
    if kind == "pure":
        return {"epsilon": amount}
    if kind == "zCDP":
        return {"rho": amount}
    return {"epsilon": amount, "delta": random.uniform(1e-4, 1e-2)}


def _noisy(query: Any, kind: str, scale: float | None = None) -> Any:
    """Return a query with noise of a scale, or of the one that its loss allows."""
    counted = query.count()
    if kind == "pure":
        return counted.laplace() if scale is None else counted.laplace(scale)
    return counted.gaussian() if scale is None else counted.gaussian(scale)


def _compared(words: str, spent: Parts, left: Parts, exact: Parts, whole: Parts, slack: float) -> Iterator[Row]:
    """Compare what is spent with its exact loss, and what is spent and left with the whole."""
    for name, *numbers in zip(("first", "second"), spent, left, exact, whole):
        one, other, loss, total = numbers
        low = loss * (1 - slack) - 1e-15
        yield understates((f"{words}: {name} component spent", low, one, loss * (1 + 1e-9) + 1e-15))
        yield (f"{words}: {name} component, spent and left", *near(one + other, total, 1e-12, 1e-15))
    yield (f"{words}: components", *near(len(spent) + len(left), 2 * len(whole), 0.0, 0.0))


def _filters(random: Any) -> Iterator[Row]:
    """Check filters of every loss: their queries are given a part of it, or a scale."""
    moved = random.randint(2, 5)
    for kind in _LOSSES:
        loss = _drawn(random, kind)
        context, exact = _context(loss, moved), [0.0] * len(loss)
        words, whole = f"{loss!r}, {moved} contributions", tuple(loss.values())
        yield from _compared(words, _parts(context.current_privacy_loss()), _parts(context.remaining_privacy_loss()),
                             tuple(exact), whole, _SEARCH)  # fmt: skip
        for number in range(1, 4):
            part = {name: value * random.uniform(0.1, 0.3) for name, value in loss.items()}
            if number == 2 and kind != "approximate":  # a scale of its own, without a search
                amount = next(iter(part.values()))
                scale = moved / amount if kind == "pure" else moved / math.sqrt(2 * amount)
                _noisy(context.query(), kind, scale).release()
            else:
                _noisy(context.query(**part), kind).release()
            exact = [before + spent for before, spent in zip(exact, part.values())]
            told = f"{words}, query {number} of {part!r}"
            spent, left = _parts(context.current_privacy_loss()), _parts(context.remaining_privacy_loss())
            yield from _compared(told, spent, left, tuple(exact), whole, _SEARCH)
            consumed = _sum(context.d_mids_consumed)
            for one, other in zip(consumed, spent):
                yield (f"{told}: sum of the losses of queries", *near(one, other, 1e-9, 1e-15))
            yield (f"{told}: queries", *near(len(context.d_mids_consumed), number, 0.0, 0.0))
        yield from _ends(random, kind, context, words)


def _ends(random: Any, kind: str, context: Any, words: str) -> Iterator[Row]:
    """Check that a filter refuses a query that is worth a little more than what is left, in any component."""
    before = len(context.d_mids_consumed)
    names = {"pure": ("epsilon",), "zCDP": ("rho",), "approximate": ("epsilon", "delta")}[kind]
    left = dict(zip(names, _parts(context.remaining_privacy_loss())))
    chosen = random.choice(names)
    part = {name: value * (1.01 if name == chosen else 0.5) for name, value in left.items()}
    refused = raises(dp.OpenDPException, lambda: _noisy(context.query(**part), kind).release())
    yield protects((f"{words}: {part!r} of {left!r} is refused", 1.0, float(refused), 1.0))
    yield (f"{words}: what is refused is not counted", *near(len(context.d_mids_consumed), before, 0.0, 0.0))


def _split(random: Any, loss: dict[str, float], moved: int, number: int) -> Any:
    """Return a context of different parts; weights whose roundings the library cannot compare are drawn again."""
    while True:
        try:
            return _context(loss, moved, split_by_weights=[random.uniform(0.5, 3) for _ in range(number)])
        except dp.OpenDPException as error:
            if "unknown ordering" not in str(error):
                raise


def _splits(random: Any) -> Iterator[Row]:
    """Check contexts that are split: losses are spent in order, and the last one ends the context."""
    moved, number = random.randint(2, 5), random.randint(2, 4)
    for kind in _LOSSES:
        loss = _drawn(random, kind)
        words, context = f"{loss!r}, {number} parts", _split(random, loss, moved, number)
        planned = list(map(_parts, context.d_mids))
        for one, total in zip(_sum(planned), loss.values()):
            yield spends((f"{words}: sum of the parts", total * (1 - _SEARCH), one, total * (1 + 1e-12)))
        for place in range(number):
            exact, measurement = planned[place], _noisy(context.query(), kind).resolve()
            for stated, most in zip(_parts(measurement.map(moved)), exact):
                low, high = most * (1 - _SEARCH) - 1e-15, most * (1 + 1e-12)
                yield spends((f"{words}, query {place}: loss", low, stated, high))
            context(measurement)
            spent, left = context.current_privacy_loss(), context.remaining_privacy_loss()
            same = (list(map(_parts, spent)), list(map(_parts, left))) == (planned[: place + 1], planned[place + 1 :])
            yield f"{words}, query {place}: spent and left", 1.0, float(same), 1.0
            spent.clear()
            kept = len(context.current_privacy_loss()) == place + 1 and context.current_privacy_loss() is not spent
            yield f"{words}, query {place}: the account is kept", 1.0, float(kept), 1.0
        yield protects((f"{words}: one query more is refused", 1.0, float(raises(ValueError, context.query)), 1.0))


def _unbounded(random: Any) -> Iterator[Row]:
    """Check that a context without a limit adds up what is spent, and has no remainder."""
    moved, epsilon = random.randint(2, 5), [random.uniform(0.3, 2) for _ in range(3)]
    for kind, limit in (("pure", {"epsilon": math.inf}), ("approximate", {"epsilon": math.inf, "delta": 1.0})):
        context, exact = _context(limit, moved), [0.0, 0.0]
        for part in epsilon:
            delta = {} if kind == "pure" else {"delta": 1e-3}
            _noisy(context.query(epsilon=part, **delta), kind).release()
            exact = [exact[0] + part, exact[1] + delta.get("delta", 0.0)]
            for one, other in zip(_parts(context.current_privacy_loss()), exact):
                low, high = other * (1 - _SEARCH), other * (1 + 1e-9) + 1e-15
                yield understates((f"{limit!r}, parts {epsilon!r}", low, one, high))
        unbounded = raises(ValueError, context.remaining_privacy_loss)
        yield f"{limit!r}: what remains", 1.0, float(unbounded), 1.0


def _given(random: Any) -> Iterator[Row]:
    """Compare the scale of a query with the loss that it is given, and a context within it with its own parts."""
    moved, epsilon = random.randint(2, 5), random.uniform(0.2, 0.9)
    context = _context({"epsilon": 2.0}, moved)
    scale = float(context.query(epsilon=epsilon).count().laplace().param())
    low, high = epsilon * (1 - _SEARCH), epsilon * (1 + 1e-9)
    yield spends((f"epsilon {epsilon!r}, {moved} contributions", low, moved / scale, high))
    sigma = float(_context({"rho": 2.0}, moved).query(rho=epsilon).count().gaussian().param())
    loss = (moved / sigma) ** 2 / 2
    yield spends((f"rho {epsilon!r}, {moved} contributions", low, loss, high))
    parts = random.randint(2, 4)
    inner = context.query(epsilon=epsilon).compositor(split_evenly_over=parts).release()
    total = _sum(inner.d_mids)[0]
    words = f"{parts} parts of {epsilon!r} within 2"
    yield spends((f"{words}: sum of the parts", low, total, epsilon * (1 + 1e-12)))
    outer = _parts(context.current_privacy_loss())[0]
    yield understates((f"{words}: spent outside", total * (1 - 1e-12), outer, high))
    inner.query().count().laplace().release()
    again = _parts(context.current_privacy_loss())[0]
    yield (f"{words}: a query inside costs nothing outside", *near(again, outer, 0.0, 0.0))
    yield (f"{words}: parts left", *near(len(inner.remaining_privacy_loss()), parts - 1, 0.0, 0.0))


def _invalid() -> Nonsense:
    """Return losses that a query of a context must not be given."""
    pure, both = {"epsilon": 1.0}, {"epsilon": 1.0, "delta": 1e-3}

    def asked(loss: dict[str, float], part: dict[str, float], **split: Any) -> Any:
        return lambda: _context(loss, 2, **split).query(**part)

    def after(loss: dict[str, float], kind: str, **split: Any) -> Any:
        def call() -> Any:
            context = _context(loss, 2, **split)
            for _ in range(2):
                count = context.query(**({} if split else loss)).count()
                (count.laplace() if kind == "laplace" else count.gaussian()).release()
            return context.current_privacy_loss()

        return call

    attempts = {
        "rho of a pure context": asked(pure, {"rho": 0.1}),
        "epsilon of a context of zCDP": asked({"rho": 1.0}, {"epsilon": 0.1}),
        "epsilon and delta of a pure context": asked(pure, both),
        "epsilon without delta of an approximate context": asked(both, {"epsilon": 0.1}),
        "epsilon and rho": asked(pure, {"epsilon": 0.1, "rho": 0.1}),
        "a loss of a query of a context that is split": asked(pure, {"epsilon": 0.1}, split_evenly_over=2),
        "both ways to split": asked(pure, {}, split_evenly_over=2, split_by_weights=[1.0, 2.0]),
        "a loss of nothing": dp.loss_of,
        "a loss of delta alone": lambda: dp.loss_of(delta=0.1),
        "all of a filter, twice": after(pure, "laplace"),
        "all of a filter, twice, zCDP": after({"rho": 1.0}, "gaussian"),
        "all of a filter, twice, approximate": after(both, "gaussian"),
        "all of one part, twice": after(pure, "laplace", split_evenly_over=1),
        "a query without noise": lambda: _context(pure, 2, split_evenly_over=1).query().count().release(),
        "a query without a loss, that lacks a scale": lambda: _context(pure, 2).query().count().laplace().release(),
        "two parameters lacking": lambda: _context(pure, 2, split_evenly_over=1).query().clamp().sum().laplace(),
        "data of a query that has some": lambda: _context(pure, 2).query().count().laplace(9.0).release(data=_DATA),
        "a query without a context": lambda: dp.Query(
            chain=(vector(float), dp.symmetric_distance()), output_measure=dp.max_divergence(), d_in=1, d_out=1.0
        ).count().laplace().release(),
        "the remainder of a context without a limit": _context({"epsilon": math.inf}, 2).remaining_privacy_loss,
    }  # fmt: skip
    return Nonsense("Context, refusals", attempts)


def budget_cases(collect: Collector) -> None:
    """Add the relations of budgets, and the losses that must be refused."""
    collect.add(
        Relations,
        "Context, budgets",
        {
            "a filter spends and keeps the whole": _filters,
            "parts are spent in order": _splits,
            "a context without a limit adds up": _unbounded,
            "queries cost what they are given": _given,
        },
    )
    collect.add(_invalid)
