"""Privacy maps of measurements and combinators: what they state, compared with theorems, without samples."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import opendp.prelude as dp
from opendp_building import Collector, atom, constructor, l1, l2, max_divergence, measurement_case, vector

from dpassay.adapter import Relations, protects, spends, understates
from dpassay.impl.libraries.references import gaussian_delta, near

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dpassay.adapter import Mechanism

    Row = tuple[str, float, float, float] | tuple[str, float, float, float, str]

__all__ = ["map_cases"]

_UP = 1e-9
"""Relative: maps round up."""


def _upper(value: float, exact: float, slack: float = _UP) -> tuple[float, float, float]:
    """Return a comparison of a number that must not be below the exact one, and hardly above it."""
    return exact * (1 - 1e-12), float(value), exact * (1 + slack) + 1e-12


def _laplace(scale: float) -> Any:
    return constructor("laplace")(atom(float), dp.absolute_distance(T=float), scale=scale)


def _gaussian(scale: float) -> Any:
    return constructor("gaussian")(atom(float), dp.absolute_distance(T=float), scale=scale)


def _noises(random: Any) -> Iterator[Row]:
    scale, d_in = random.uniform(0.2, 9), random.uniform(0.3, 6)
    words = f"scale {scale!r}, d_in {d_in!r}"
    yield (f"laplace, {words}", *_upper(_laplace(scale).map(d_in), d_in / scale))
    yield (f"gaussian, {words}", *_upper(_gaussian(scale).map(d_in), (d_in / scale) ** 2 / 2))
    several = constructor("noise")(vector(float), l1(float), dp.max_divergence(), scale=scale)
    yield (f"noise, L1, {words}", *_upper(several.map(d_in), d_in / scale))
    several = constructor("noise")(vector(float), l2(float), dp.zero_concentrated_divergence(), scale=scale)
    yield (f"noise, L2, {words}", *_upper(several.map(d_in), (d_in / scale) ** 2 / 2))
    whole = random.randint(2, 9)
    geometric = constructor("geometric")(dp.atom_domain(T=int), dp.absolute_distance(T=int), scale=scale)
    yield (f"geometric, scale {scale!r}, {whole}", *_upper(geometric.map(whole), whole / scale))


def _selections(random: Any) -> Iterator[Row]:
    """Compare the losses of selections with those of exponential and Gumbel noise."""
    scale, d_in, k = random.uniform(0.3, 6), random.uniform(0.3, 6), random.randint(2, 4)
    words = f"scale {scale!r}, d_in {d_in!r}"
    for monotonic, factor in ((False, 2.0), (True, 1.0)):
        metric = dp.linf_distance(T=float, monotonic=monotonic)
        for name, measure, rho in (
            ("pure", dp.max_divergence(), False),
            ("zCDP", dp.zero_concentrated_divergence(), True),
        ):
            loss = factor * d_in / scale
            exact = loss**2 / 8 if rho else loss
            single = constructor("noisy_max")(vector(float), metric, measure, scale=scale)
            yield (f"noisy_max, {name}, monotonic {monotonic}, {words}", *_upper(single.map(d_in), exact))
            several = constructor("noisy_top_k")(vector(float), metric, measure, k=k, scale=scale)
            yield (f"noisy_top_k, {k}, {name}, monotonic {monotonic}, {words}", *_upper(several.map(d_in), k * exact))


def _chains(random: Any) -> Iterator[Row]:
    scale, size, changed = random.uniform(0.5, 9), random.randint(3, 9), random.choice([2, 4])
    bounds = (-17.5, -2.25)
    mean = constructor("mean")(vector(float, size, bounds), dp.symmetric_distance())
    chained = mean >> constructor("laplace")(mean.output_domain, mean.output_metric, scale=scale)
    exact = (bounds[1] - bounds[0]) / size * (changed // 2) / scale
    words = f"mean of {size} in {bounds!r}, scale {scale!r}, d_in {changed}"
    yield (f"{words}", *_upper(chained.map(changed), exact))
    processed = constructor("chain_pm")(dp.new_function(lambda x: x + 1, TO=float), chained)
    yield (f"chain_pm, {words}", *_upper(processed.map(changed), exact))
    built = constructor("chain_mt")(
        constructor("laplace")(mean.output_domain, mean.output_metric, scale=scale),
        constructor("chain_tt")(mean, dp.t.make_identity(vector(float, size, bounds), dp.symmetric_distance())),
    )
    yield (f"chain_mt of chain_tt, {words}", *_upper(built.map(changed), exact))


def _conversions(random: Any) -> Iterator[Row]:
    scale, d_in = random.uniform(0.4, 6), random.uniform(0.3, 3)
    delta = 10 ** random.uniform(-9, -2)
    words = f"scale {scale!r}, d_in {d_in!r}, delta {delta!r}"
    epsilon = d_in / scale
    pure, concentrated = _laplace(scale), _gaussian(scale)
    found = constructor("pureDP_to_zCDP")(pure).map(d_in)
    # the least rho of pure epsilon lies between that of Laplace noise itself and half the square
    least = epsilon * math.tanh(epsilon / 2) * (1 - 1e-12)
    yield understates((f"pureDP_to_zCDP, {words}", least, found, epsilon**2 / 2 * (1 + _UP)))
    loosened = constructor("approximate")(pure).map(d_in)
    yield understates((f"approximate, epsilon, {words}", *_upper(loosened[0], epsilon)))
    yield (f"approximate, delta, {words}", *near(loosened[1], 0.0, 0.0, 0.0))
    loosened = constructor("approximate")(concentrated).map(d_in)
    yield understates((f"approximate zCDP, rho, {words}", *_upper(loosened[0], (d_in / scale) ** 2 / 2)))
    curve = constructor("zCDP_to_approxDP")(concentrated)
    fixed = constructor("fix_delta")(curve, delta).map(d_in)
    yield (f"fix_delta, delta, {words}", *near(fixed[1], delta, 0.0, 0.0))
    exact = gaussian_delta(scale / d_in, float(fixed[0]))
    yield understates((f"fix_delta, delta at epsilon {fixed[0]!r}, {words}", exact * (1 - 1e-9), float(fixed[1]), 1.0))
    rho = (d_in / scale) ** 2 / 2
    most = rho + 2 * math.sqrt(rho * math.log(1 / delta))
    yield f"fix_delta, epsilon, {words}", 0.0, float(fixed[0]), most * (1 + _UP)
    again = constructor("fixed_approxDP_to_approxDP")(constructor("fix_delta")(curve, delta)).map(d_in)
    yield f"fixed_approxDP_to_approxDP, {words}", float(fixed[0]) * (1 - 1e-12), again.epsilon(delta), math.inf


def _compositions(random: Any) -> Iterator[Row]:
    scales, d_in = [random.uniform(0.4, 6) for _ in range(3)], random.uniform(0.3, 3)
    words = f"scales {scales!r}, d_in {d_in!r}"
    pure = math.fsum(d_in / scale for scale in scales)
    rho = math.fsum((d_in / scale) ** 2 / 2 for scale in scales)
    space = atom(float), dp.absolute_distance(T=float)
    for name, make, measure, exact in (
        ("pure", _laplace, dp.max_divergence(), pure),
        ("zCDP", _gaussian, dp.zero_concentrated_divergence(), rho),
    ):
        parts = [make(scale) for scale in scales]
        yield (f"composition, {name}, {words}", *_upper(constructor("composition")(parts).map(d_in), exact))
        mids = [float(part.map(d_in)) for part in parts]
        for kind in ("adaptive_composition", "sequential_composition"):
            at_once = constructor(kind)(*space, measure, d_in=d_in, d_mids=mids)
            yield (f"{kind}, {name}, {words}", *_upper(at_once.map(d_in), exact))
        meter = constructor("fully_adaptive_composition")(*space, measure)(0.0)
        for part in parts:
            meter(part)
        yield (f"fully_adaptive_composition, {name}, {words}", *_upper(meter.privacy_loss(d_in), exact))
        behind = constructor("privacy_filter")(
            constructor("fully_adaptive_composition")(*space, measure), d_in=d_in, d_out=exact
        )
        yield (f"privacy_filter, {name}, {words}", *_upper(behind.map(d_in), exact))
        queryable = behind(0.0)
        queryable(parts[0])
        queryable(parts[1])
        refused = 0.0
        try:
            queryable(make(scales[2] * 0.9))
        except dp.OpenDPException:
            refused = 1.0
        yield f"privacy_filter refuses more than its budget, {name}, {words}", 1.0, refused, 1.0


def _amplified(random: Any) -> Iterator[Row]:
    """Compare a sample without replacement with log(1 + n / N (e^epsilon - 1)) (Balle and others 2018)."""
    size, population, scale = random.randint(2, 9), random.randint(20, 300), random.uniform(0.5, 9)
    mean = constructor("mean")(vector(float, size, (-17.5, -2.25)), dp.symmetric_distance())
    chained = mean >> constructor("laplace")(mean.output_domain, mean.output_metric, scale=scale)
    amplified = constructor("population_amplification")(chained, population)
    epsilon = float(chained.map(2))
    exact = math.log1p(size / population * math.expm1(epsilon))
    words = f"{size} of {population}, epsilon {epsilon!r}"
    yield understates((words, *_upper(amplified.map(2), exact, 1e-6)))


def _users(random: Any) -> Iterator[Row]:
    """Check that measurements of users keep their maps through combinators."""
    slope, d_in = random.uniform(0.2, 3), random.uniform(0.3, 4)

    def user() -> Any:
        return dp.m.make_user_measurement(
            atom(float),
            dp.absolute_distance(T=float),
            dp.max_divergence(),
            lambda _: 0.25,
            lambda distance: slope * distance,
            TO=float,
        )

    words = f"slope {slope!r}, d_in {d_in!r}"
    yield protects((f"map, {words}", *near(float(user().map(d_in)), slope * d_in)))
    both = constructor("composition")([user(), _laplace(2.0)])
    yield protects((f"in a composition, {words}", *_upper(both.map(d_in), slope * d_in + d_in / 2)))
    chained = dp.t.make_user_transformation(
        atom(float),
        dp.absolute_distance(T=float),
        atom(float),
        dp.absolute_distance(T=float),
        lambda x: 3 * x,
        lambda distance: 3 * distance,
    )
    yield protects((f"in a chain, {words}", *_upper((chained >> user()).map(d_in), 3 * slope * d_in)))
    answer = constructor("composition")([user(), _laplace(2.0)])(7.0)
    yield f"release of a user, {words}", 0.25, answer[0], 0.25


def _contexts(random: Any) -> Iterator[Row]:
    """Check what a context spends: its budget, divided by weights, and the scale that each query gets."""
    epsilon, parts = random.uniform(0.4, 6), random.randint(2, 4)
    words = f"epsilon {epsilon!r}, {parts} queries"
    context = dp.Context.compositor(
        data=[1.5, 2.5, -3.5],
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(epsilon=epsilon),
        split_evenly_over=parts,
        domain=vector(float),
    )
    spent = 0.0
    for number in range(parts):
        query = context.query().count().laplace()
        scale = float(query.param()) if query.param() is not None else math.nan
        yield (f"scale of query {number}, {words}", *_upper(scale, parts / epsilon, 1e-6))
        spent += 1 / scale
        query.release()
    yield spends((f"epsilon of all queries, {words}", 0.0, spent, epsilon * (1 + 1e-9)))
    refused = 0.0
    try:
        context.query().count().laplace(1.0).release()
    except (dp.OpenDPException, ValueError):
        refused = 1.0
    yield protects((f"one query more, {words}", 1.0, refused, 1.0))
    weights = [random.uniform(0.5, 4) for _ in range(2)]
    context = dp.Context.compositor(
        data=[3, 5, 8],
        privacy_unit=dp.unit_of(contributions=3),
        privacy_loss=dp.loss_of(rho=epsilon),
        split_by_weights=weights,
        domain=vector(int),
    )
    spent = 0.0
    for number, weight in enumerate(weights):
        share = epsilon * weight / sum(weights)
        query = context.query().clamp((-5, 9)).sum().gaussian()
        exact = 27 / math.sqrt(2 * share)
        yield (f"weights {weights!r}, scale {number}, {words}", *_upper(float(query.param()), exact, 1e-6))
        spent += (27 / float(query.param())) ** 2 / 2
        query.release()
    yield spends((f"weights {weights!r}, rho of all queries, {words}", 0.0, spent, epsilon * (1 + 1e-9)))


def _projection(scale: float) -> Any:
    return constructor("alp_queryable")(
        dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=int)),
        dp.l01inf_distance(dp.absolute_distance(T=int)),
        scale=scale,
        total_limit=24,
        value_limit=9,
    )


def _projections(random: Any) -> Iterator[Row]:
    scale, moved = random.uniform(0.3, 4), random.randint(2, 6)
    stated = float(_projection(scale).map((2, moved, moved - 1)))
    yield (f"scale {scale!r}, counts that move by {moved}", *_upper(stated, scale * moved))


def projection(scale: float) -> Mechanism:
    """Return the case of two counts that are asked from a projection."""
    return measurement_case(
        f"make_alp_queryable({scale=})",
        _projection(scale),
        (1, 2, 2),
        "vector:size=2,l0=1,linf=2,low=0,high=9,integer",
        lambda data: {"a": int(data[0]), "b": int(data[1])},
        outcome=lambda queryable: (queryable("a"), queryable("b")),
        floats=False,
    )


def quantile(alpha: float, scale: float) -> Mechanism:
    """Return the case of a quantile among candidates."""
    return measurement_case(
        f"make_private_quantile(alpha={alpha}, {scale=})",
        constructor("private_quantile")(
            vector(float), dp.symmetric_distance(), max_divergence(), [-3.0, 0.5, 7.0], alpha, scale
        ),
        2,
        "records:low=-9,high=9,size=0,max-size=5,relation=add-remove",
        list,
        notes="two records may differ, of which one does",
        floats=False,
    )


def _maps() -> Iterator[tuple[str, str, Any]]:
    """Yield relations of maps, which cost privacy where they state too small a loss."""
    yield "make_laplace, make_gaussian, make_noise, make_geometric", "maps of noise are those of theorems", _noises
    yield "make_noisy_max, make_noisy_top_k", "maps of selections are those of theorems", _selections
    yield "make_chain_mt, make_chain_pm, make_chain_tt", "chains cost what their parts cost", _chains
    yield (
        (
            "make_composition, make_adaptive_composition, make_sequential_composition, "
            "make_fully_adaptive_composition, make_privacy_filter"
        ),
        "compositions add up",
        _compositions,
    )
    yield "make_alp_queryable, map", "the map is that of the theorem", _projections


def _relations() -> Iterator[tuple[str, str, Any]]:
    yield (
        (
            "make_pureDP_to_zCDP, make_zCDP_to_approxDP, make_fix_delta, make_approximate, "
            "make_fixed_approxDP_to_approxDP"
        ),
        "conversions never understate",
        _conversions,
    )
    yield "make_population_amplification", "samples cost what the theorem says", _amplified
    yield "make_user_measurement, make_user_transformation", "maps of users are kept", _users
    yield "Context, Query", "budgets are divided and spent", _contexts


def _of(name: str, words: str, relation: Any, unsafe: str | None = None) -> Relations:
    return Relations(name, {words: relation}, unsafe={words: unsafe} if unsafe else {})


def map_cases(collect: Collector) -> None:
    """Collect the cases of privacy maps."""
    for name, words, relation in _maps():
        collect.add(_of, name, words, relation, "below")
    for name, words, relation in _relations():
        collect.add(_of, name, words, relation)
    collect.add(quantile, 0.3, 1.5)
    collect.add(projection, 0.7)
