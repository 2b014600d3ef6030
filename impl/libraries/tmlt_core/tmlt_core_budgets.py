"""Budgets of Tumult Core that are spent: interactive measurements, accountants, aggregations of tables (not run).

Nothing here starts Spark: measurements of tables are built, and asked what they cost.
"""

from __future__ import annotations

import math
from fractions import Fraction

from tmlt.core.domains.collections import ListDomain
from tmlt.core.domains.numpy_domains import NumpyFloatDomain, NumpyIntegerDomain
from tmlt.core.domains.spark_domains import (
    SparkDataFrameDomain,
    SparkFloatColumnDescriptor,
    SparkIntegerColumnDescriptor,
    SparkStringColumnDescriptor,
)
from tmlt.core.measurements import aggregations, noise_mechanisms
from tmlt.core.measurements.chaining import ChainTM
from tmlt.core.measurements.composition import Composition
from tmlt.core.measurements.converters import PureDPToRhoZCDP
from tmlt.core.measurements.interactive_measurements import (
    DecorateQueryable,
    MakeInteractive,
    MeasurementQuery,
    ParallelComposition,
    PrivacyAccountant,
    SequentialComposition,
    TransformationQuery,
    create_adaptive_composition,
)
from tmlt.core.measurements.postprocess import NonInteractivePostProcess, PostProcess
from tmlt.core.measurements.spark_measurements import GeometricPartitionSelection, SparseVectorPrefixSums
from tmlt.core.measures import (
    ApproxDP,
    InsufficientBudgetError,
    PureDP,
    RhoZCDP,
)
from tmlt.core.metrics import (
    AbsoluteDifference,
    DictMetric,
    HammingDistance,
    NullMetric,
    OnColumn,
    OnColumns,
    RootSumOfSquared,
    SumOf,
    SymmetricDifference,
)
from tmlt.core.transformations.chaining import ChainTT
from tmlt.core.transformations.identity import Identity
from tmlt.core.utils.exact_number import ExactNumber
from tmlt_core_numbers import nearest_float

from dpassay.adapter import Mechanism, Relations

__all__ = ["budgets"]


def _exactly(words, found, exact):
    """Return a comparison of exact numbers."""
    same = ExactNumber(found) == ExactNumber(exact)
    return f"{words}: {found} in place of {exact}", 1.0, float(same), 1.0


def _ratio(random, low=1, high=9):
    return Fraction(random.randint(low, high), random.randint(1, 6))


def _laplace(scale):
    return noise_mechanisms.AddLaplaceNoise(NumpyFloatDomain(), scale)


def _gaussian(variance):
    return noise_mechanisms.AddGaussianNoise(NumpyFloatDomain(), variance)


_SPACE = (NumpyFloatDomain(), AbsoluteDifference())


def _refused(ask, kind=Exception):
    try:
        ask()
    except kind:
        return 1.0
    return 0.0


def _fresh(random, pure):
    """Return a distance, a noise whose loss at it is drawn, and that loss."""
    distance, size = _ratio(random, 2), _ratio(random, 2)
    if pure:
        return distance, _laplace, size, lambda scale: distance / scale
    return distance, _gaussian, size, lambda variance: distance**2 / (2 * variance)


def _sequences(random):
    """Check that queries are answered until the budget is spent, and not beyond it."""
    pure = random.random() < 0.5
    distance, make, size, loss = _fresh(random, pure)
    measure = PureDP() if pure else RhoZCDP()
    parts = random.randint(2, 4)
    spent = loss(size)
    whole = SequentialComposition(*_SPACE, measure, distance, parts * spent)
    words = f"{measure}, distance {distance}, {parts} queries of {spent}"
    yield _exactly(f"loss, {words}", whole.privacy_function(distance), parts * spent)
    far = _refused(lambda: whole.privacy_function(2 * distance))
    yield f"a larger distance is refused, {words}", 1.0, far, 1.0
    queryable = whole(7.0)
    for _ in range(parts - 1):
        queryable(MeasurementQuery(MakeInteractive(make(size))))
    beyond = make(size * Fraction(9, 10))
    yield (
        f"slightly more is refused, {words}",
        1.0,
        _refused(lambda: queryable(MeasurementQuery(MakeInteractive(beyond)))),
        1.0,
    )
    queryable(MeasurementQuery(MakeInteractive(make(size))))
    last = make(size * 1000)
    yield (
        f"more than all is refused, {words}",
        1.0,
        _refused(lambda: queryable(MeasurementQuery(MakeInteractive(last)))),
        1.0,
    )


def _adaptive(random):
    """Check that a composition in which queries are measurements costs what they cost."""
    pure = random.random() < 0.5
    distance, make, size, loss = _fresh(random, pure)
    measure = PureDP() if pure else RhoZCDP()
    whole = create_adaptive_composition(*_SPACE, distance, 2 * loss(size), measure)
    words = f"{measure}, distance {distance}, budget {2 * loss(size)}"
    yield _exactly(f"loss, {words}", whole.privacy_function(distance), 2 * loss(size))
    queryable = whole(7.0)
    queryable(MeasurementQuery(make(size)))
    more = make(size / 2) if pure else make(size / Fraction(3, 2))
    yield f"more is refused, {words}", 1.0, _refused(lambda: queryable(MeasurementQuery(more))), 1.0
    queryable(MeasurementQuery(make(size)))


def _accountants(random):
    """Check what an accountant has left after measurements, and after a transformation."""
    pure = random.random() < 0.5
    distance, make, size, loss = _fresh(random, pure)
    measure = PureDP() if pure else RhoZCDP()
    whole = SequentialComposition(*_SPACE, measure, distance, 5 * loss(size))
    accountant = PrivacyAccountant.launch(whole, 7.0)
    words = f"{measure}, distance {distance}, budget {5 * loss(size)}"
    accountant.measure(make(size))
    yield _exactly(f"left after one, {words}", accountant.privacy_budget, 4 * loss(size))
    accountant.transform_in_place(Identity(domain=NumpyFloatDomain(), metric=AbsoluteDifference()))
    yield _exactly(f"distance after a transformation, {words}", accountant.d_in, distance)
    accountant.measure(make(size / 2))
    exact = 4 * loss(size) - loss(size / 2)
    yield _exactly(f"left after another, {words}", accountant.privacy_budget, exact)
    beyond = make(size / 100)
    refused = _refused(lambda: accountant.measure(beyond), InsufficientBudgetError)
    yield f"more is refused, {words}", 1.0, refused, 1.0
    accountant.retire()
    yield f"after it is retired, {words}", 1.0, _refused(lambda: accountant.measure(make(size))), 1.0


def _parallel(random):
    """Compare measurements of the parts of a list with the largest of their losses, and the sum that they may have."""
    sizes = [_ratio(random, 2) for _ in range(3)]
    distance = _ratio(random, 2)
    parts = [MakeInteractive(_laplace(size)) for size in sizes]
    domain = ListDomain(NumpyFloatDomain(), length=3)
    whole = ParallelComposition(domain, SumOf(AbsoluteDifference()), PureDP(), parts)
    words = f"scales {[str(size) for size in sizes]}, distance {distance}"
    yield _exactly(f"pure, {words}", whole.privacy_function(distance), distance / min(sizes))
    parts = [MakeInteractive(_gaussian(size)) for size in sizes]
    whole = ParallelComposition(domain, RootSumOfSquared(AbsoluteDifference()), RhoZCDP(), parts)
    yield _exactly(f"zCDP, {words}", whole.privacy_function(distance), distance**2 / (2 * min(sizes)))
    wrong = _refused(lambda: ParallelComposition(domain, RootSumOfSquared(AbsoluteDifference()), PureDP(), parts))
    yield "pure privacy with a root of squares is refused", 1.0, wrong, 1.0


def _wrappers(random):
    """Check that what wraps a measurement states its loss."""
    size, distance = _ratio(random, 2), _ratio(random, 2)
    inner, exact = _laplace(size), distance / size
    words = f"scale {size}, distance {distance}"
    identity = Identity(domain=NumpyFloatDomain(), metric=AbsoluteDifference())
    wrapped = {
        "MakeInteractive": MakeInteractive(inner),
        "DecorateQueryable": DecorateQueryable(MakeInteractive(inner), lambda query: query, lambda answer: answer),
        "NonInteractivePostProcess": NonInteractivePostProcess(MakeInteractive(inner), lambda queryable: queryable),
        "PostProcess": PostProcess(inner, lambda answer: answer + 1),
        "ChainTM": ChainTM(identity, inner),
        "ChainTM with a hint": ChainTM(identity, inner, hint=lambda d_in, _: d_in),
        "ChainTM of ChainTT": ChainTM(ChainTT(identity, identity), inner),
        "Composition of two": Composition([inner, PostProcess(inner, float)]),
    }
    for name, measurement in wrapped.items():
        factor = 2 if name.startswith("Composition") else 1
        yield _exactly(f"{name}, {words}", measurement.privacy_function(distance), factor * exact)
        holds = measurement.privacy_relation(distance, factor * exact)
        yield f"{name}, a relation that holds, {words}", 1.0, float(holds), 1.0
        fails = measurement.privacy_relation(distance, factor * exact * Fraction(99, 100))
        yield f"{name}, one that does not, {words}", 0.0, float(fails), 0.0


# --- tables --------------------------------------------------------------------------------------------------------


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
    loss = _ratio(random)
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
            yield _exactly(words, built.privacy_function(distance), loss)
            yield _exactly(
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
    loss, distance = _ratio(random), random.randint(2, 5)
    for measure, power in ((PureDP(), 1), (RhoZCDP(), 2)):
        for metric in (SymmetricDifference(), HammingDistance()):
            built = aggregations.create_quantile_measurement(
                _table(), metric, measure, d_out=loss, measure_column="value", quantile=0.3, lower=-2, upper=7,
                d_in=distance,
            )  # fmt: skip
            words = f"quantile, {metric}, {measure}, loss {loss} at {distance}"
            yield _exactly(words, built.privacy_function(distance), loss)
            yield _exactly(f"{words}, at 3 times that", built.privacy_function(3 * distance), 3**power * loss)


def _selections(random):
    """Compare the losses of partition selection with those of a count with geometric noise and a threshold."""
    alpha, threshold, distance = _ratio(random, 2), random.randint(4, 12), random.randint(2, 3)
    domain = SparkDataFrameDomain({"group": SparkStringColumnDescriptor()})
    built = GeometricPartitionSelection(domain, threshold=threshold, alpha=alpha)
    epsilon, delta = built.privacy_function(1)
    words = f"alpha {alpha}, threshold {threshold}"
    yield _exactly(f"epsilon, {words}", epsilon, 1 / alpha)
    # the noisy count of a group of one record reaches the threshold
    ratio = math.exp(-1 / float(alpha))
    exact = ratio ** (threshold - 1) / (1 + ratio)
    yield f"delta, {words}", exact * (1 - 1e-9), nearest_float(delta), exact * (1 + 1e-9)
    several, delta_of_several = built.privacy_function(distance)
    yield _exactly(f"epsilon at {distance}, {words}", several, Fraction(distance) / alpha)
    # one person may own a group of that many records, or that many groups of one
    groups_of_one = -math.expm1(distance * math.log1p(-exact))
    alone = max(ratio ** (threshold - distance) / (1 + ratio), groups_of_one)
    yield f"delta at {distance}, {words}", alone * (1 - 1e-9), nearest_float(delta_of_several), 1.0
    wanted = Fraction(1, 10 ** random.randint(2, 9))
    made = aggregations.create_partition_selection_measurement(domain, epsilon=1 / alpha, delta=wanted, d_in=1)
    epsilon, delta = made.privacy_function(1)
    yield (
        f"create_partition_selection_measurement, delta {wanted}",
        0.0,
        nearest_float(delta),
        float(wanted) * (1 + 1e-9),
    )
    yield f"its epsilon, {words}", 0.0, nearest_float(epsilon), float(1 / alpha) * (1 + 1e-9)
    ranks = SparkDataFrameDomain({"rank": SparkIntegerColumnDescriptor(), "count": SparkIntegerColumnDescriptor()})
    vector = SparseVectorPrefixSums(ranks, count_column="count", rank_column="rank", alpha=alpha)
    # noise of scale alpha on the threshold, and of 2 alpha on queries that move one way
    yield (
        f"SparseVectorPrefixSums, {alpha}",
        float(1 / alpha) * (1 - 1e-9),
        nearest_float(vector.privacy_function(1)),
        math.inf,
    )


# --- metrics -------------------------------------------------------------------------------------------------------


def _metrics(random):
    """Compare distances of values, and of lists of them, with their definitions."""
    left, right = [[random.randint(-9, 9) for _ in range(4)] for _ in range(2)]
    moves = [abs(x - y) for x, y in zip(left, right)]
    domain = NumpyIntegerDomain()
    several = ListDomain(domain, length=4)
    import numpy as np

    boxed = [[np.int64(value) for value in values] for values in (left, right)]
    words = f"{left} and {right}"
    yield _exactly(
        f"AbsoluteDifference, {words}", AbsoluteDifference().distance(*(b[0] for b in boxed), domain), moves[0]
    )
    yield _exactly(f"SumOf, {words}", SumOf(AbsoluteDifference()).distance(*boxed, several), sum(moves))
    found = RootSumOfSquared(AbsoluteDifference()).distance(*boxed, several)
    yield _exactly(f"RootSumOfSquared, {words}", found**2, sum(move**2 for move in moves))
    one, other = Fraction(random.randint(1, 9), 4), Fraction(random.randint(1, 9), 4)
    for metric in (AbsoluteDifference(), SymmetricDifference(), HammingDistance(), SumOf(AbsoluteDifference())):
        whole = isinstance(metric, (SymmetricDifference, HammingDistance))
        a, b = (int(4 * one), int(4 * other)) if whole else (one, other)
        yield f"{metric} compares {a} and {b}", float(a <= b), float(metric.compare(a, b)), float(a <= b)
    both = DictMetric({"x": AbsoluteDifference(), "y": SymmetricDifference()})
    agrees = both.compare({"x": one, "y": 3}, {"x": other, "y": 2})
    yield f"{both} compares every part, {one}, {other}", 0.0, float(agrees), 0.0
    agrees = both.compare({"x": one, "y": 2}, {"x": other, "y": 2})
    yield f"{both} compares {one} and {other}", float(one <= other), float(agrees), float(one <= other)
    on = OnColumns([OnColumn(name, SumOf(AbsoluteDifference())) for name in "xy"])
    agrees = on.compare((one, one), (other, one))
    yield f"{on} compares {one} and {other}", float(one <= other), float(agrees), float(one <= other)
    yield "NullMetric has no distances", 1.0, _refused(lambda: NullMetric().compare(1, 2)), 1.0


def _sequence_of_noise(scale):
    """Return the case: two queries of an interactive measurement, the second after a transformation."""
    whole = SequentialComposition(*_SPACE, PureDP(), 2, 3 / scale)

    def sample_one(data):
        queryable = whole(float(data[0]))
        first = queryable(MeasurementQuery(MakeInteractive(_laplace(scale))))(None)
        queryable(TransformationQuery(Identity(domain=NumpyFloatDomain(), metric=AbsoluteDifference())))
        second = queryable(MeasurementQuery(MakeInteractive(_laplace(2 * scale))))(None)
        return [float(first), float(second)]

    return Mechanism(
        f"SequentialComposition of Laplace noise at {scale} and {2 * scale}, distance 2",
        "vector:size=1,linf=2",
        f"pure:{nearest_float(whole.privacy_function(2))!r}",
        sample_one=sample_one,
        slow=True,
        relative_error=1e-9,
    )


def budgets():
    """Yield the cases."""
    approximate = {
        "approximate privacy": lambda: (
            SequentialComposition(*_SPACE, ApproxDP(), 1, (2, Fraction(1, 9))).privacy_function(1)
            == (2, Fraction(1, 9))
        ),
        "pure measurements in zCDP": lambda: (
            SequentialComposition(*_SPACE, RhoZCDP(), 1, 1)(0.0)(
                MeasurementQuery(MakeInteractive(PureDPToRhoZCDP(_laplace(1))))
            )
            is not None
        ),
    }
    yield Relations("SequentialComposition, SequentialQueryable", {"budgets are spent": _sequences}, approximate)
    yield Relations("create_adaptive_composition", {"budgets are spent": _adaptive})
    yield Relations("PrivacyAccountant", {"budgets are spent": _accountants})
    yield Relations("ParallelComposition, ParallelQueryable", {"losses are those of the parts": _parallel})
    yield Relations(
        "MakeInteractive, DecorateQueryable, PostProcess, ChainTM, ChainTT", {"losses are kept": _wrappers}
    )
    yield Relations("aggregations of tables", {"they cost what they are made for": _aggregates})
    yield Relations("create_quantile_measurement", {"it costs what it is made for": _quantiles})
    yield Relations(
        "GeometricPartitionSelection, create_partition_selection_measurement, SparseVectorPrefixSums",
        {"losses are those of the noise": _selections},
    )
    yield Relations("metrics", {"distances are those of their definitions": _metrics})
    yield _sequence_of_noise(Fraction(3, 2))
