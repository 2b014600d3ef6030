"""Measurements of tables of Tumult Core: aggregations, quantiles, selections of groups, prefix sums.

Nothing here starts Spark: measurements are built, and asked what they cost.
"""

from __future__ import annotations

import math
from fractions import Fraction

from tmlt.core.domains.spark_domains import (
    SparkDataFrameDomain,
    SparkFloatColumnDescriptor,
    SparkIntegerColumnDescriptor,
    SparkStringColumnDescriptor,
)
from tmlt.core.measurements import aggregations, noise_mechanisms
from tmlt.core.measurements.spark_measurements import GeometricPartitionSelection, SparseVectorPrefixSums
from tmlt.core.measures import PureDP, RhoZCDP
from tmlt.core.metrics import HammingDistance, SymmetricDifference
from tmlt.core.utils.exact_number import ExactNumber
from tmlt_core_numbers import exactly, nearest_float, random_fraction

from dpassay.adapter import Relations

__all__ = ["tables"]


def _table():
    return SparkDataFrameDomain(
        {
            "group": SparkStringColumnDescriptor(),
            "whole": SparkIntegerColumnDescriptor(),
            "value": SparkFloatColumnDescriptor(),
        }
    )


def _noise_sizes(measurement):
    """Return the noise within a measurement of tables: scales of Laplace noise, variances of Gaussian noise."""
    found, open_, seen = [], [measurement], set()
    while open_:
        one = open_.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        sizes = [getattr(one, name) for name in ("alpha", "scale", "sigma_squared") if hasattr(one, name)]
        if isinstance(one, _NOISES):
            found += [Fraction(str(ExactNumber(size))) for size in sizes]
        for name in ("measurement", "measurements", "noise_measurement"):
            inner = getattr(one, name, None)
            open_ += list(inner) if isinstance(inner, (list, tuple)) else [inner] if inner is not None else []
    return found


_NOISES = (
    noise_mechanisms.AddLaplaceNoise,
    noise_mechanisms.AddGeometricNoise,
    noise_mechanisms.AddGaussianNoise,
    noise_mechanisms.AddDiscreteGaussianNoise,
)

_MAKERS = {
    "count": (aggregations.create_count_measurement, {}),
    "count_distinct": (aggregations.create_count_distinct_measurement, {}),
    "sum": (aggregations.create_sum_measurement, {"measure_column": "whole"}),
    "sum of floats": (aggregations.create_sum_measurement, {"measure_column": "value"}),
    "average": (aggregations.create_average_measurement, {"measure_column": "whole"}),
    "variance": (aggregations.create_variance_measurement, {"measure_column": "value"}),
    "standard_deviation": (aggregations.create_standard_deviation_measurement, {"measure_column": "value"}),
}


def _aggregates(random):
    """Check that aggregations cost what they are made for, at other distances too, and use the noise for it."""
    pure = random.random() < 0.5
    measure, power = (PureDP(), 1) if pure else (RhoZCDP(), 2)
    mechanisms = aggregations.NoiseMechanism
    low, high = -random.randint(2, 9), random.randint(1, 12)
    distance, factor = random.randint(2, 5), random.randint(2, 4)
    loss = random_fraction(random)
    for name in random.sample(sorted(_MAKERS), 2):  # to build one takes a fifth of a second
        make, columns = _MAKERS[name]
        whole = name.startswith("count") or name == "sum"
        if pure:
            noise = mechanisms.GEOMETRIC if whole else mechanisms.LAPLACE
        else:
            noise = mechanisms.DISCRETE_GAUSSIAN if whole else mechanisms.GAUSSIAN
        bounds = {"lower": low, "upper": high} if "measure_column" in columns else {}
        for metric, moved in ((SymmetricDifference(), 1), (HammingDistance(), 2)):
            built = make(
                _table(), metric, measure, d_out=loss, noise_mechanism=noise, d_in=distance, **columns, **bounds
            )
            words = f"{name}, {metric}, {measure}, {noise}, bounds {low}, {high}, loss {loss} at {distance}"
            yield exactly(words, built.privacy_function(distance), loss)
            yield exactly(
                f"{words}, at {factor} times that", built.privacy_function(factor * distance), factor**power * loss
            )
            sizes = _noise_sizes(built)
            if name in {"count", "count_distinct"} or (name == "sum" and metric == SymmetricDifference()):
                most = max(-low, high) if name == "sum" else 1
                step = distance * most * (moved if name == "count_distinct" else 1)
                if name == "count" and moved == 2:
                    step = 2 * distance  # a record out and one in
                exact = step / loss if pure else Fraction(step) ** 2 / (2 * loss)
                yield f"{words}, its noise {sizes}, {exact}", 1.0, float(sizes == [exact]), 1.0


def _quantiles(random):
    """Check that quantiles of tables cost what they are made for."""
    loss, distance = random_fraction(random), random.randint(2, 5)
    for measure, power in ((PureDP(), 1), (RhoZCDP(), 2)):
        for metric in (SymmetricDifference(), HammingDistance()):
            built = aggregations.create_quantile_measurement(
                _table(), metric, measure, d_out=loss, measure_column="value", quantile=0.3, lower=-2, upper=7,
                d_in=distance,
            )  # fmt: skip
            words = f"quantile, {metric}, {measure}, loss {loss} at {distance}"
            yield exactly(words, built.privacy_function(distance), loss)
            yield exactly(f"{words}, at 3 times that", built.privacy_function(3 * distance), 3**power * loss)


def _selections(random):
    """Compare the losses of partition selection with those of a count with geometric noise and a threshold."""
    alpha, threshold, distance = random_fraction(random, 2), random.randint(4, 12), random.randint(2, 3)
    domain = SparkDataFrameDomain({"group": SparkStringColumnDescriptor()})
    built = GeometricPartitionSelection(domain, threshold=threshold, alpha=alpha)
    epsilon, delta = built.privacy_function(1)
    words = f"alpha {alpha}, threshold {threshold}"
    yield exactly(f"epsilon, {words}", epsilon, 1 / alpha)
    # the noisy count of a group of one record reaches the threshold
    ratio = math.exp(-1 / float(alpha))
    exact = ratio ** (threshold - 1) / (1 + ratio)
    yield f"delta, {words}", exact * (1 - 1e-9), nearest_float(delta), exact * (1 + 1e-9)
    several, delta_of_several = built.privacy_function(distance)
    yield exactly(f"epsilon at {distance}, {words}", several, Fraction(distance) / alpha)
    # one person may own a group of that many records, or that many groups of one
    groups_of_one = -math.expm1(distance * math.log1p(-exact))
    alone = max(ratio ** (threshold - distance) / (1 + ratio), groups_of_one)
    yield f"delta at {distance}, {words}", alone * (1 - 1e-9), nearest_float(delta_of_several), 1.0
    yield from _made_selections(random, domain, alpha, distance)
    ranks = SparkDataFrameDomain({"rank": SparkIntegerColumnDescriptor(), "count": SparkIntegerColumnDescriptor()})
    vector = SparseVectorPrefixSums(ranks, count_column="count", rank_column="rank", alpha=alpha)
    # the threshold has noise of scale alpha / 2 and moves by one; a sum has noise of scale alpha and moves against it
    for step in (1, distance):
        exact = (1 / (alpha / 2) + 2 / alpha) * step
        yield exactly(f"SparseVectorPrefixSums, {alpha}, distance {step}", vector.privacy_function(step), exact)


def _made_selections(random, domain, alpha, distance):
    """Check that a partition selection made for a loss at a distance has it there, up to the step of its threshold."""
    wanted = Fraction(1, 10 ** random.randint(2, 9))
    for step in (1, distance):
        made = aggregations.create_partition_selection_measurement(domain, epsilon=1 / alpha, delta=wanted, d_in=step)
        epsilon, delta = made.privacy_function(step)
        words = f"create_partition_selection_measurement for epsilon {1 / alpha}, delta {wanted} at distance {step}"
        yield exactly(f"its epsilon, {words}", epsilon, 1 / alpha)
        # the threshold is whole: the next lower one has a delta that is larger by exp(epsilon / distance)
        low = float(wanted) * math.exp(-1 / float(alpha * step))
        yield f"its delta, {words}", low * (1 - 1e-9), nearest_float(delta), float(wanted) * (1 + 1e-9)


def tables():
    """Yield the cases."""
    yield Relations("aggregations of tables", {"they cost what they are made for": _aggregates})
    yield Relations("create_quantile_measurement", {"it costs what it is made for": _quantiles})
    yield Relations(
        "GeometricPartitionSelection, create_partition_selection_measurement, SparseVectorPrefixSums",
        {"losses are those of the noise": _selections},
    )
