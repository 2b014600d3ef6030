"""Combiners and accountants, by the sensitivity and the scale that their noise is made for."""

from __future__ import annotations

import functools
import math

import numpy as np
import pipeline_dp as dp
from pipeline_dp import combiners, dp_computations
from pipeline_dp.aggregate_params import MechanismType, NormKind
from pipeline_dp_engine import CALLS, PEOPLE

from dpassay.adapter import Mechanism

__all__ = ["bounded_params", "calibrations"]


def _spec(epsilon=1.0, delta=0.0):
    accountant = dp.NaiveBudgetAccountant(epsilon, delta)
    spec = accountant.request_budget(MechanismType.LAPLACE)
    accountant.compute_budgets()
    return spec


def bounded_params(low, high, metrics):
    """Return the parameters of an aggregation in one partition, with values between two bounds."""
    return dp.AggregateParams(
        metrics=metrics,
        min_value=low,
        max_value=high,
        max_partitions_contributed=1,
        max_contributions_per_partition=1,
    )


def _three_sums(low, high):
    """Return the count, sum and sum of squares of the variance, in units of what each has noise for."""
    params = bounded_params(low, high, [dp.Metrics.VARIANCE])
    combiner = combiners.VarianceCombiner(
        combiners.CombinerParams(_spec(), params), ["variance", "mean", "count", "sum"]
    )
    middle = dp_computations.compute_middle(low, high)
    squares = dp_computations.compute_squares_interval(low, high)
    units = [1.0, abs(middle - low), abs(dp_computations.compute_middle(*squares) - squares[0])]

    def noiseless(data):
        total = combiner.create_accumulator([])
        for value in data:
            total = combiner.merge_accumulators(total, combiner.create_accumulator([value]))
        return [float(number) / unit for number, unit in zip(total, units)]

    def sample_one(data):
        total = combiner.create_accumulator([])
        for value in data:
            total = combiner.merge_accumulators(total, combiner.create_accumulator([value]))
        answer = combiner.compute_metrics(total)
        count = answer["count"]
        mean = answer["mean"] - middle
        divisor = max(1.0, count)
        sums = (count, mean * divisor, (answer["variance"] + mean**2) * divisor)
        return [float(number) / unit for number, unit in zip(sums, units)]

    def distribution(data):
        return {"family": "laplace", "location": noiseless(data), "scale": 3.0}

    return Mechanism(
        f"VarianceCombiner in [{low}, {high}], its sums in units of their sensitivities",
        PEOPLE.format(low=low, high=high),
        "pure:1.0",
        sample_one=sample_one,
        distribution=distribution,
        noiseless=noiseless,
        sensitivity=3.0,
        distribution_is_exact=False,
        floats=False,
        calls=CALLS,
        notes="the noisy sums are computed back from the variance, the mean and the count",
    )


def _normalised_sum(low, high):
    """Return the sum of the mean, of which the middle of the bounds is taken away."""
    params = bounded_params(low, high, [dp.Metrics.MEAN])
    sensitivities = dp_computations.compute_sensitivities_for_normalized_sum(params)
    middle = dp_computations.compute_middle(low, high)

    def noiseless(data):
        return float(sum(float(np.clip(value, low, high)) - middle for value in data))

    def sample_many(data, size):
        mechanism = dp_computations.create_additive_mechanism(_spec(), sensitivities)
        total = noiseless(data)
        return np.array([mechanism.add_noise(total) for _ in range(size)])

    return Mechanism(
        f"the normalised sum of MEAN in [{low!r}, {high!r}]",
        PEOPLE.format(low=low, high=high),
        "pure:1.0",
        sample_many=sample_many,
        distribution=lambda data: {"family": "laplace", "location": noiseless(data), "scale": float(sensitivities.l1)},
        noiseless=noiseless,
        sensitivity=float(sensitivities.l1),
        distribution_is_exact=False,
    )


def _vector_sum(kind, norm):
    noise = dp.NoiseKind.LAPLACE if kind == "laplace" else dp.NoiseKind.GAUSSIAN
    params = dp.AggregateParams(
        metrics=[dp.Metrics.VECTOR_SUM],
        noise_kind=noise,
        vector_size=2,
        vector_max_norm=1.0,
        vector_norm_kind=norm,
        max_partitions_contributed=1,
        max_contributions_per_partition=1,
    )

    def sample_one(data):
        accountant = dp.NaiveBudgetAccountant(1.0, 0.01)
        spec = accountant.request_budget(params.noise_kind.convert_to_mechanism_type())
        accountant.compute_budgets()
        combiner = combiners.VectorSumCombiner(combiners.CombinerParams(spec, params))
        total = np.zeros(2)
        for value in data:
            total = combiner.merge_accumulators(total, combiner.create_accumulator([np.array([value, 1 - value])]))
        return combiner.compute_metrics(total)["vector_sum"].tolist()

    claim = "pure:1.0" if kind == "laplace" else "approx:1.0,0.01"
    name = f"VectorSumCombiner, {kind}, {norm.value}"
    calls = 2 * CALLS if kind == "gaussian" else CALLS  # the lowest bits of little noise take many calls
    return Mechanism(name, PEOPLE.format(low=0.0, high=1.0), claim, sample_one=sample_one, calls=calls)


def _budgeted(kind, *, weight, count, delta):
    """Return Laplace noise of the parameters that the accountant hands out, applied as often as it was told."""

    @functools.lru_cache(maxsize=1)
    def scale():
        accountant = dp.PLDBudgetAccountant(1.0, delta)
        spec = accountant.request_budget(kind, weight=weight, count=count)
        accountant.compute_budgets()
        return spec.noise_standard_deviation / math.sqrt(2) if kind is MechanismType.LAPLACE else 1 / spec.eps

    def sample_many(data, size):
        noise = np.random.default_rng().laplace(0.0, scale(), (size, count))
        return data[0] + noise

    return Mechanism(
        f"PLDBudgetAccountant(1, {delta}), {kind.value}, weight {weight}, count {count}",
        "vector:size=1,linf=1",
        f"approx:1.0,{delta!r}" if delta else "pure:1.0",
        sample_many=sample_many,
        distribution=lambda data: {"family": "laplace", "location": [data[0]] * count, "scale": scale()},
        floats=False,
        notes="the accountant's noise parameter is the subject; the noise is drawn here. It is called experimental",
    )


def calibrations():
    """Yield combiners, then budgets that are handed out."""
    yield _three_sums(0.0, 1.0)
    yield _three_sums(-1.0, 1.0)
    yield _three_sums(-2.0, -1.0)
    for low, high in ((0.0, 1.0), (1.0, 1.0 + 2**-52), (1e16, 1e16 + 2)):
        yield _normalised_sum(low, high)
    for kind, norm in (("laplace", NormKind.L1), ("laplace", NormKind.Linf), ("gaussian", NormKind.L2)):
        yield _vector_sum(kind, norm)
    yield _budgeted(MechanismType.LAPLACE, weight=1, count=1, delta=0.0)
    yield _budgeted(MechanismType.GENERIC, weight=1, count=1, delta=1e-6)
    yield _budgeted(MechanismType.GENERIC, weight=2, count=1, delta=1e-6)
    dp.PLDBudgetAccountant(1.0, 0.0).request_budget(MechanismType.LAPLACE, count=3)  # older versions refuse a count
    yield _budgeted(MechanismType.LAPLACE, weight=1, count=3, delta=0.0)
    yield _budgeted(MechanismType.LAPLACE, weight=1, count=3, delta=1e-6)
