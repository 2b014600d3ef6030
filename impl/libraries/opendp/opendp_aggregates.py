"""Aggregates with noise: counts, sums, means, variances; what is noised has a sensitivity of its own to check."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import opendp.prelude as dp
from opendp_building import Collector, atom, constructor, l1, measurement_case, vector

if TYPE_CHECKING:
    from dpassay.adapter import Mechanism

__all__ = ["aggregate_cases"]


def aggregate(
    name: str,
    transformation: Any,
    kind: Any,
    size: int | None,
    bounds: tuple[Any, Any],
    *,
    epsilon: float = 1.0,
) -> Mechanism:
    """Laplace noise on the result of a transformation of records, at its own sensitivity over `epsilon`."""
    d_in = 1 if size is None else 2
    sensitivity = transformation.map(d_in)
    scale = float(sensitivity) / epsilon
    output = kind if isinstance(kind, str) else type(sensitivity)
    measurement = transformation >> constructor("laplace")(
        transformation.output_domain, transformation.output_metric, scale=scale
    )
    turn = (lambda data: [int(value) for value in data]) if kind is int else list
    noise = constructor("laplace")(vector(output), l1(output), scale=scale)

    def sample_many(data: list[float], count: int) -> Any:
        return noise([transformation(turn(data))] * count)

    family = "discrete laplace" if output is int else "laplace"
    relation = "size=0,max-size=8,relation=add-remove" if size is None else f"size={size},relation=replace"
    return measurement_case(
        f"{name} with Laplace noise, {bounds=}, {size=}, {epsilon=}",
        measurement,
        d_in,
        f"records:low={float(bounds[0])!r},high={float(bounds[1])!r},{relation}",
        turn,
        sample_many=sample_many if size is not None and size > 3 else None,
        distribution=(lambda data: {"family": family, "location": transformation(turn(data)), "scale": scale})
        if scale
        else None,
        noiseless=lambda data: transformation(turn(data)),
        sensitivity=float(sensitivity),
        distribution_is_exact=False,
        floats=output is not int,
        slow=True,
        notes="the distribution is that of noise about the value that the transformation computed; of many records, "
        "that value is computed once for all draws of a batch, and noised by the constructor for vectors",
    )


def named(name: str, kind: Any, size: int | None, bounds: tuple[Any, Any], **options: Any) -> Mechanism:
    """Return the case: an aggregate that takes a domain of bounded records and the symmetric distance."""
    transformation = constructor(name)(vector(kind, size, bounds), dp.symmetric_distance(), **options)
    words = "".join(f", {key}={value}" for key, value in options.items())
    title = kind if isinstance(kind, str) else kind.__name__
    return aggregate(f"make_{name}({title}{words})", transformation, kind, size, bounds)


def clamped(name: str, size: int | None, bounds: tuple[float, float], wide: tuple[float, float]) -> Mechanism:
    """Return the case: an aggregate behind a clamp: records lie outside the bounds that it is told."""
    space = (vector(float, size), dp.symmetric_distance())
    clamp = constructor("clamp")(*space, bounds)
    rest = constructor(name)(clamp.output_domain, clamp.output_metric)
    return aggregate(f"make_clamp >> make_{name}, records in {wide}", clamp >> rest, float, size, wide)


def ordered(name: str, size: int, bounds: tuple[float, float]) -> Mechanism:
    """Return the case: a sum in the order of the records, under the insert-delete distance."""
    transformation = constructor(name)(size, bounds, S="Sequential<f64>")
    return aggregate(f"make_{name}(Sequential)", transformation, float, size, bounds)


def count(kind: str) -> Mechanism:
    """Return the case: the number of records, or of different ones."""
    transformation = constructor(kind)(vector(int), dp.symmetric_distance())
    return aggregate(f"make_{kind}", transformation, int, None, (0, 3))


def by_categories() -> Mechanism:
    """Return the case: counts of known categories, each with noise."""
    transformation = constructor("count_by_categories")(
        dp.vector_domain(atom(int)), dp.symmetric_distance(), categories=[0, 1, 2]
    )
    sensitivity = transformation.map(1)
    measurement = transformation >> constructor("laplace")(
        transformation.output_domain, transformation.output_metric, scale=float(sensitivity)
    )

    def turn(data: list[float]) -> list[int]:
        return [int(value) for value in data]

    return measurement_case(
        "make_count_by_categories(3 and others) with Laplace noise",
        measurement,
        1,
        "records:low=0,high=4,size=0,max-size=8,relation=add-remove",
        turn,
        distribution=lambda data: {
            "family": "discrete laplace",
            "location": transformation(turn(data)),
            "scale": float(sensitivity),
        },
        noiseless=lambda data: transformation(turn(data)),
        sensitivity=float(sensitivity),
    )


def amplified(sample: int, population: int, epsilon: float) -> Mechanism:
    """Return the case: the mean of a simple random sample of the records, with the claim for the whole population."""
    import random

    bounds = (0.0, 1.0)
    mean = constructor("mean")(vector(float, sample, bounds), dp.symmetric_distance())
    noisy = mean >> constructor("laplace")(mean.output_domain, mean.output_metric, scale=float(mean.map(2)) / epsilon)
    chance = random.SystemRandom()
    return measurement_case(
        f"make_population_amplification(mean of {sample} of {population}, {epsilon=})",
        constructor("population_amplification")(noisy, population),
        2,
        f"records:low=0,high=1,size={population},relation=replace",
        lambda data: chance.sample(data, sample),
        notes="the sample is drawn by the adapter: the combinator asks for one",
    )


def aggregate_cases(collect: Collector) -> None:
    """Add the cases of aggregates."""
    one_up = math.nextafter(1.0, 2.0)
    far = (2.0**50, 2.0**50 + 1)
    for name in ("sum", "mean", "variance"):
        collect.add(named, name, float, 3, (0.0, 1.0))
    for name, bounds in (("sum", (1.0, one_up)), ("sum", far), ("mean", far), ("variance", (1.0, one_up))):
        collect.add(named, name, float, 1000, bounds)
    collect.add(named, "variance", "f32", 3000, (1e6, 1e6 + 1))
    collect.add(named, "sum", float, 1000, (-1e16, 1.0))
    collect.add(named, "mean", float, 1, (0.25, 0.5))
    collect.add(clamped, "mean", 5, (0.0, 1.0), (-10.0, 10.0))
    collect.add(named, "sum_of_squared_deviations", float, 1000, (1.0, one_up), S="Pairwise<f64>")
    collect.add(named, "sum_of_squared_deviations", float, 10_000, (1e15, 1e15 + 1), S="Pairwise<f64>")
    for size, whole in ((None, (0, 10)), (None, (-5, 5)), (1000, (0, 2**31 - 1)), (None, (7, 7))):
        collect.add(named, "sum", int, size, whole)
    for name in ("sized_bounded_float_ordered_sum", "sized_bounded_float_checked_sum"):
        collect.add(ordered, name, 1000, (0.1, 0.3))
    for kind in ("count", "count_distinct"):
        collect.add(count, kind)
    collect.add(by_categories)
    collect.add(amplified, 2, 10, 1.0)
