"""Measurements of tables of Tumult Core: aggregations, quantiles, selections of groups, prefix sums, bounds.

Nothing here starts Spark: measurements are built, and asked what they cost; those of pandas are run as well.
"""

from __future__ import annotations

import importlib
import math
from fractions import Fraction
from unittest import mock

import pandas as pd
from pyspark.sql import DataFrame
from tmlt.core.domains.numpy_domains import NumpyFloatDomain
from tmlt.core.domains.pandas_domains import PandasDataFrameDomain, PandasSeriesDomain
from tmlt.core.domains.spark_domains import (
    SparkDataFrameDomain,
    SparkFloatColumnDescriptor,
    SparkIntegerColumnDescriptor,
    SparkStringColumnDescriptor,
)
from tmlt.core.measurements import aggregations, noise_mechanisms
from tmlt.core.measurements.pandas_measurements.dataframe import AggregateByColumn
from tmlt.core.measurements.pandas_measurements.series import NoisyQuantile
from tmlt.core.measurements.postprocess import PostProcess
from tmlt.core.measurements.spark_measurements import GeometricPartitionSelection, SparseVectorPrefixSums
from tmlt.core.measures import ApproxDP, PureDP, RhoZCDP
from tmlt.core.metrics import HammingDistance, SymmetricDifference
from tmlt.core.random import rng
from tmlt.core.utils.exact_number import ExactNumber
from tmlt_core_bits import drawing, laplace_quantile
from tmlt_core_numbers import agrees, exactly, nearest_float, protected, random_fraction

from dpassay.adapter import Relations
from dpassay.impl.libraries.references import near
from dpassay.impl.libraries.refusing import raises

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


def _costs(words, built, distance, asked, factor, power):
    """Compare the loss that a measurement was made for with the one it states, and that one with the one farther off.

    What costs privacy is below its bounds: a loss that was asked for and is exceeded, or one that is stated too small.
    """
    stated = built.privacy_function(distance)
    yield exactly(f"{words}, the loss that was asked for and is stated", asked, stated)
    yield exactly(
        f"{words}, at {factor} times that", built.privacy_function(factor * distance), factor**power * stated
    )


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
            yield from _costs(words, built, distance, loss, factor, power)
            sizes = _noise_sizes(built)
            if name in {"count", "count_distinct"} or (name == "sum" and metric == SymmetricDifference()):
                most = max(-low, high) if name == "sum" else 1
                step = distance * most * (moved if name == "count_distinct" else 1)
                if name == "count" and moved == 2:
                    step = 2 * distance  # a record out and one in
                exact = step / loss if pure else Fraction(step) ** 2 / (2 * loss)
                yield agrees(f"{words}, its noise {sizes}", len(sizes) == 1)
                yield exactly(f"{words}, its noise", min(sizes, default=0), exact)


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
            yield from _costs(words, built, distance, loss, 3, power)


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
        yield exactly(f"the epsilon that was asked for and is stated, {words}", 1 / alpha, epsilon)
        # the threshold is whole: the next lower one has a delta that is larger by exp(epsilon / distance)
        most = math.exp(1 / float(alpha * step))
        ratio = float(wanted) / nearest_float(delta)
        yield f"the delta that was asked for over the one stated, {words}", 1 - 1e-9, ratio, most * (1 + 1e-9)


def _bounds(random):
    """Check that bounds of a column cost what they are made for, and that their search has the noise for it."""
    loss, distance = random_fraction(random), random.randint(2, 5)
    for measure, power, stated in ((PureDP(), 1, loss), (RhoZCDP(), 2, loss), (ApproxDP(), 1, (loss, 0))):
        column = random.choice(["whole", "value"])
        with mock.patch.object(aggregations, "SparkSession", _session()):
            built = aggregations.create_bounds_measurement(
                _table(), SymmetricDifference(), measure, d_out=stated, measure_column=column,
                threshold=random.uniform(0.5, 0.95), d_in=distance,
            )  # fmt: skip
        words = f"create_bounds_measurement of {column}, {measure}, loss {loss} at {distance}"
        at_once, farther = (built.privacy_function(factor * distance) for factor in (1, 3))
        if isinstance(measure, ApproxDP):
            for _, delta in (at_once, farther):
                yield exactly(f"{words}, no delta, and the one that is stated", 0, delta)
            at_once, farther = at_once[0], farther[0]
        yield exactly(f"{words}, the loss that was asked for and is stated", loss, at_once)
        yield exactly(f"{words}, at 3 times that", farther, 3**power * at_once)
        # a record changes noisy sums and their threshold, against each other: scales of alpha and alpha / 2
        (alpha,) = _prefix_noise(built)
        epsilon = math.sqrt(2 * loss) if power == 2 else float(loss)
        yield (f"{words}, its noise", *near(nearest_float(alpha), 4 * distance / epsilon))


def _session():
    """Return a stand-in for the entry to Spark, whose tables have a schema and no rows."""

    def create(_rows, schema):
        made = mock.MagicMock(spec=DataFrame, schema=schema, columns=schema.names)
        made.filter.return_value.first.return_value = None
        return made

    session = mock.MagicMock()
    session.builder.getOrCreate.return_value.createDataFrame = create
    return session


def _prefix_noise(measurement):
    """Return the scales of the prefix sums within a measurement."""
    if isinstance(measurement, SparseVectorPrefixSums):
        return [measurement.alpha]
    inner = [getattr(measurement, name, None) for name in ("measurement", "pure_dp_measurement")]
    return [alpha for one in inner if one is not None for alpha in _prefix_noise(one)]


# --- tables of pandas ----------------------------------------------------------------------------------------------


class _Hinted(NoisyQuantile):
    """A quantile that has no function of its loss, only the relation."""

    def privacy_function(self, d_in):
        """Raise the exception that asks for a hint."""
        raise NotImplementedError

    def privacy_relation(self, d_in, d_out):
        """Return whether the loss is at most this one."""
        return ExactNumber(d_out) >= super().privacy_function(d_in)


def _by_column(losses, measure, *, make=NoisyQuantile, hint=None):
    """Return a measurement of one quantile of each column; they have different bounds."""
    domain = PandasSeriesDomain(NumpyFloatDomain())
    quantiles = {
        name: make(domain, measure, 0.3, 10.0 * place, 10.0 * place + 9.0, loss)
        for place, (name, loss) in enumerate(losses.items())
    }
    return AggregateByColumn(PandasDataFrameDomain(dict.fromkeys(losses, domain)), quantiles, hint)


def _columns(random):
    """Check that quantiles of columns of the same rows cost the sum of their losses, with a hint as well."""
    distance, less = random.randint(2, 5), Fraction(99, 100)
    for measure in (PureDP(), RhoZCDP()):
        losses = {name: random_fraction(random, 1 + 3 * place, 3 + 3 * place) for place, name in enumerate("uvw")}
        whole = _by_column(losses, measure)
        parts = {
            name: loss * distance if measure == PureDP() else (loss * distance) ** 2 / 8
            for name, loss in losses.items()
        }
        total, words = sum(parts.values()), f"AggregateByColumn, {measure}, {losses} at {distance}"
        yield exactly(f"{words}, loss", whole.privacy_function(distance), total)
        hinted = _by_column(losses, measure, make=_Hinted, hint=lambda *_, p=parts: p)
        for kind, one in (("", whole), ("with a hint, ", hinted)):
            yield agrees(f"{words}, {kind}a relation at it", one.privacy_relation(distance, total))
            found = not one.privacy_relation(distance, less * total)
            yield protected(f"{words}, {kind}a relation at {less} of it", found)
        for name in parts:
            short = _by_column(losses, measure, make=_Hinted, hint=lambda *_, p=parts, n=name: {**p, n: less * p[n]})
            found = not short.privacy_relation(distance, total)
            yield protected(f"{words}, a hint that the quantile of {name} exceeds", found)
        for fault, hint in (("no hint", None), ("a hint without a column", lambda *_, p=parts: {"u": p["u"]})):
            lacking = _by_column(losses, measure, make=_Hinted, hint=hint)
            found = raises(ValueError, lambda m=lacking, t=total: m.privacy_relation(distance, t))
            yield agrees(f"{words}, {fault}", found)


def _columns_run(random):
    """Compare the quantiles of columns with those of the columns alone, from the same random bits."""
    frame = pd.DataFrame({name: [random.uniform(0, 30) for _ in range(5)] for name in "uvw"})
    whole = _by_column({"u": 1, "v": Fraction(5, 2), "w": Fraction(1, 3)}, PureDP())
    parts = [random.random() for _ in range(40)]
    with drawing(*parts):
        found = whole(frame)
    with drawing(*parts):
        alone = {name: one(frame[name]) for name, one in whole.column_to_aggregation.items()}
    words = f"AggregateByColumn of {frame.to_dict('list')}"
    yield f"{words}, columns {list(found.columns)}", 1.0, float(list(found.columns) == list("uvw")), 1.0
    yield f"{words}, rows", 1.0, float(len(found)), 1.0
    for name, exact in alone.items():
        yield (f"{words}, {name}", *near(found[name][0], exact))
    # quantiles of nothing are uniform, each in bounds that begin 10 above those of the column before
    empty = whole(pd.DataFrame({name: pd.Series([], dtype=float) for name in "uvw"}))
    places = {round(float(empty[name][0]) - 10 * place, 9) for place, name in enumerate("uvw")}
    yield "AggregateByColumn of no rows, different places in the bounds", 3.0, float(len(places)), 3.0


def _derived(random, base):
    """Check that a measurement with a name states the loss of what it wraps, and draws what that draws."""
    scale, distance, value = random_fraction(random, 2), random.randint(2, 5), random.uniform(-9, 9)
    inner = PostProcess(noise_mechanisms.AddLaplaceNoise(NumpyFloatDomain(), scale), lambda answer: 2 * answer)

    class Derived(base):
        """Twice a number with Laplace noise."""

        def __init__(self):
            super().__init__(inner)

    measurement, exact = Derived(), distance / scale
    words = f"DerivedMeasurement of Laplace noise, scale {scale}, distance {distance}"
    yield exactly(f"{words}, loss", measurement.privacy_function(distance), exact)
    yield agrees(f"{words}, a relation at it", measurement.privacy_relation(distance, exact))
    less = Fraction(99, 100)
    yield protected(f"{words}, a relation at {less} of it", not measurement.privacy_relation(distance, less * exact))
    for name in ("input_domain", "input_metric", "output_measure", "is_interactive"):
        yield agrees(f"{words}, {name}", getattr(measurement, name) == getattr(inner, name))
    for part in (0.03, 0.7):
        with drawing(part, 0.5):
            found = measurement(value)
        drawn = 2 * (value + laplace_quantile(float(scale), part))
        is_near = math.isclose(found, drawn, rel_tol=1e-9, abs_tol=1e-11)
        yield agrees(f"{words}, a draw at {part}, {float(found)!r} for {drawn!r}", is_near)


def tables():
    """Yield the cases."""
    for name, relations in {
        "aggregations of tables": {"they cost what they are made for": _aggregates},
        "create_quantile_measurement": {"it costs what it is made for": _quantiles},
        "GeometricPartitionSelection, create_partition_selection_measurement, SparseVectorPrefixSums": {
            "losses are those of the noise": _selections,
        },
        "create_bounds_measurement": {"it costs what it is made for": _bounds},
    }.items():
        yield Relations(name, relations, unsafe=dict.fromkeys(relations, "below"))
    rng._core_privacy_prng  # noqa: B018  # older versions have none
    yield Relations(
        "AggregateByColumn",
        {"losses of columns add up": _columns, "columns have their own quantiles": _columns_run},
        unsafe={"losses of columns add up": "below"},
    )
    base = importlib.import_module("tmlt.core.measurements.derived").DerivedMeasurement  # nor that
    wrapped = {"it is what it wraps": lambda random: _derived(random, base)}
    yield Relations("DerivedMeasurement", wrapped, unsafe=dict.fromkeys(wrapped, "below"))
