"""Facts about PipelineDP's combiners that need no samples: answers, thresholds, quantiles, and noise that is made."""

from __future__ import annotations

import itertools
import math

import pipeline_dp as dp
from pipeline_dp import budget_accounting, combiners, dp_computations
from pipeline_dp.aggregate_params import MechanismType
from pipeline_dp_recorders import KINDS, PROTECTING, aggregations, drawn, exact_sensitivity, for_each, recording

from dpassay.adapter import Relations, protects, spends
from dpassay.impl.libraries.references import gaussian_delta, marked, near

__all__ = ["facts_of_combiners"]

_METRICS = {
    "count": dp.Metrics.COUNT,
    "sum": dp.Metrics.SUM,
    "mean": dp.Metrics.MEAN,
    "variance": dp.Metrics.VARIANCE,
    "privacy_id_count": dp.Metrics.PRIVACY_ID_COUNT,
}


def _combined(random):
    """Compare the answers of combiners without noise with those of clipped records, and what they spend."""
    for names in (("count", "sum"), ("mean", "count", "sum"), ("variance", "mean", "count", "sum"), ("sum",)):
        params = aggregations(random, metrics=[_METRICS[name] for name in names])
        low, high = params.min_value, params.max_value
        epsilon = random.uniform(0.5, 5)
        accountant = dp.NaiveBudgetAccountant(epsilon, 0.0)
        combiner = combiners.create_compound_combiner(params, accountant)
        accountant.compute_budgets()
        data = [[random.uniform(low - 9, high + 9) for _ in range(3)] for _ in range(2)]
        with recording() as recorder:
            whole = combiner.create_accumulator(data[0])
            whole = combiner.merge_accumulators(whole, combiner.create_accumulator(data[1]))
            found = combiner.compute_metrics(whole)._asdict()
        clipped = [min(max(x, low), high) for x in data[0] + data[1]]
        mean = math.fsum(clipped) / len(clipped)
        exact = {"count": len(clipped), "sum": math.fsum(clipped), "mean": mean}
        words = f"{names}, {data!r} in {(low, high)!r}"
        for name in names:
            if name in exact:
                yield (f"{name} of {words}", *near(found[name], exact[name], absolute=1e-9))
        spent = math.fsum(one[1] for one in recorder.made)
        yield f"spent epsilon, {words}", epsilon * (1 - 1e-9), spent, epsilon * (1 + 1e-9)


def _thresholds(random):
    """Compare thresholding mechanisms with the strategies that they stand for."""
    epsilon, delta = random.uniform(0.3, 4), 10 ** random.uniform(-8, -3)
    kinds = (
        (MechanismType.LAPLACE_THRESHOLDING, dp.PartitionSelectionStrategy.LAPLACE_THRESHOLDING),
        (MechanismType.GAUSSIAN_THRESHOLDING, dp.PartitionSelectionStrategy.GAUSSIAN_THRESHOLDING),
    )
    for (kind, strategy), (partitions,) in itertools.product(kinds, drawn(random, 1, 5)):
        spec = budget_accounting.MechanismSpec(kind)
        spec.set_eps_delta(epsilon, delta)
        words = f"{kind}, epsilon {epsilon!r}, delta {delta!r}, {partitions} partitions"
        made = dp_computations.create_thresholding_mechanism(
            spec, dp_computations.Sensitivities(l0=partitions, linf=1), None
        )
        other = dp_computations.ThresholdingMechanism(epsilon, delta, strategy, partitions, None)
        yield (f"create_thresholding_mechanism, {words}", *near(made.threshold(), other.threshold()))
        if kind == MechanismType.LAPLACE_THRESHOLDING:
            # a new person of each partition stays hidden but with probability delta
            share = -math.expm1(math.log1p(-delta) / partitions)
            exact = 1 - math.log(2 * share) * partitions / epsilon
            yield f"threshold, {words}", exact * (1 - 1e-6), made.threshold(), exact * (1 + 1e-6)


def _quantiles(random):
    """Compare the loss and the bounds that a tree of quantiles is given with those that were asked for."""
    sigma, epsilon, delta = random.uniform(0.6, 9), random.uniform(0.3, 4), 10 ** random.uniform(-9, -3)
    ranks = random.sample(range(1, 100), 2)
    asked = {}

    class Tree:
        """A tree that notes what it is asked with."""

        def compute_quantiles(self, **arguments):
            """Return the quantiles that are asked for, and note the call."""
            asked.update(arguments)
            return arguments["quantiles"]

    def computed(kind, deviation, partitions, most):
        """Ask with a specification by its standard deviation, or by its epsilon and delta."""
        params = aggregations(
            random,
            metrics=[dp.Metrics.PERCENTILE(rank) for rank in ranks],
            noise_kind=kind,
            max_partitions_contributed=partitions,
            max_contributions_per_partition=most,
        )
        spec = budget_accounting.MechanismSpec(kind.convert_to_mechanism_type())
        if deviation is None:
            spec.set_eps_delta(epsilon, delta if kind == dp.NoiseKind.GAUSSIAN else 0.0)
        else:
            spec.set_noise_standard_deviation(deviation)
        combiner = combiners.QuantileCombiner(combiners.CombinerParams(spec, params), ranks)
        whole = combiner.create_accumulator([])
        whole.tree = Tree()
        return combiner.compute_metrics(whole)

    for kind, deviation, (partitions, most) in itertools.product(KINDS, (sigma, None), drawn(random, 2, 5)):
        asked.clear()
        found = computed(kind, deviation, partitions, most)
        if deviation is None:
            words = f"{kind}, epsilon {epsilon!r}, delta {delta!r}"
            spent = epsilon, delta if kind == dp.NoiseKind.GAUSSIAN else 0.0
        elif kind == dp.NoiseKind.LAPLACE:
            words = f"{kind}, standard deviation {sigma!r}"
            spent = math.sqrt(2) / sigma, 0.0
        else:
            words = f"{kind}, standard deviation {sigma!r}"
            spent = asked["epsilon"], gaussian_delta(sigma, asked["epsilon"])
        yield (f"spent epsilon, {words}", *near(asked["epsilon"], spent[0]))
        yield (f"spent delta, {words}", *near(asked["delta"], spent[1], absolute=0.0))
        bounds = (asked["max_partitions_contributed"], asked["max_contributions_per_partition"])
        for told, exact in zip(bounds, (partitions, most)):
            yield (f"moved for each that is told, bounds {bounds}, {words}", *near(for_each(exact, told), 1.0))
        yield f"noise {asked['noise_type']}, {words}", 1.0, float(asked["noise_type"] == kind.value), 1.0
        exact = {f"percentile_{rank}": rank / 100 for rank in ranks}
        yield f"quantiles {found}, {words}", 1.0, float(found == exact), 1.0


def _created(random):
    """Compare mechanisms that are made for a specification with the noise that it stands for."""
    sigma, epsilon, delta = random.uniform(0.6, 9), random.uniform(0.3, 4), 10 ** random.uniform(-9, -3)
    largest = random.uniform(1.5, 6)
    for kind, (partitions,) in itertools.product(KINDS, drawn(random, 1, 5)):
        sensitivities = dp_computations.Sensitivities(l0=partitions, linf=largest)
        moved = exact_sensitivity(kind, partitions, largest)
        by_deviation, by_loss = (budget_accounting.MechanismSpec(kind.convert_to_mechanism_type()) for _ in range(2))
        by_deviation.set_noise_standard_deviation(sigma)
        by_loss.set_eps_delta(epsilon, delta if kind == dp.NoiseKind.GAUSSIAN else 0.0)
        made = dp_computations.create_additive_mechanism(by_deviation, sensitivities)
        words = f"{kind}, standard deviation {sigma!r}, {partitions} partitions of {largest!r}"
        yield (f"standard deviation, {words}", *near(made.std, sigma * moved))
        parameter = sigma * moved / (math.sqrt(2) if kind == dp.NoiseKind.LAPLACE else 1)
        yield (f"parameter, {words}", *near(made.noise_parameter, parameter))
        other = dp_computations.create_additive_mechanism(by_loss, sensitivities)
        words = f"{kind}, epsilon {epsilon!r}, delta {delta!r}, {partitions} partitions of {largest!r}"
        if kind == dp.NoiseKind.LAPLACE:
            yield (f"parameter, {words}", *near(other.noise_parameter, moved / epsilon))
        else:
            spent = gaussian_delta(other.noise_parameter / moved, epsilon)
            yield f"delta that is told, {words}", spent * (1 - 1e-6), delta, spent / 0.9
            yield (f"standard deviation, {words}", *near(other.std, other.noise_parameter))
        for mechanism in (made, other):
            yield (f"sensitivity, {words}", *near(mechanism.sensitivity, moved))


def facts_of_combiners():
    """Yield the cases."""
    for name, words, relation, cost, starts in (
        ("create_compound_combiner", "answers are those of clipped records", _combined, spends, PROTECTING),
        (
            "create_thresholding_mechanism, ThresholdingMechanism",
            "thresholds are those of their strategy",
            _thresholds,
            protects,
            ["threshold"],
        ),
        (
            "QuantileCombiner, compute_dp_quantiles",
            "kinds and quantiles are those asked for",
            _quantiles,
            spends,
            PROTECTING,
        ),
        (
            "create_additive_mechanism",
            "deviations and sensitivities are those of the noise",
            _created,
            protects,
            ["parameter", "delta"],
        ),
    ):
        yield Relations(name, {words: marked(relation, cost, *starts)})
