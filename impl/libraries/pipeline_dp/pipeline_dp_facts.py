"""Facts about PipelineDP that need no samples: sensitivities, splits, sums of combiners, the noise that is asked for.

The mechanisms of the library below are replaced by recorders, which add nothing and note what they are made for: what
is computed around the noise is then compared with its definition, and the losses that are spent are added up.
"""

from __future__ import annotations

import contextlib
import math

import numpy as np
import pipeline_dp as dp
from pipeline_dp import budget_accounting, combiners, contribution_bounders, dp_computations
from pipeline_dp import private_contribution_bounds as private_bounds
from pipeline_dp.aggregate_params import MechanismType
from pipeline_dp.dataset_histograms import histograms

from dpassay.adapter import Relations
from dpassay.impl.libraries.references import gaussian_delta, near

__all__ = ["facts_of_the_library"]

_KINDS = (dp.NoiseKind.LAPLACE, dp.NoiseKind.GAUSSIAN)


# --- recorders -----------------------------------------------------------------------------------------------------


class _Recorder:
    """Adds nothing, and notes what each addition is made for."""

    def __init__(self) -> None:
        self.made = []

    def _noise(self, kind, epsilon, delta, sensitivity):
        recorder = self

        class Mechanism:
            """A mechanism that adds nothing."""

            def __init__(self):
                self.diversity = sensitivity / epsilon
                self.std = self.diversity

            def add_noise(self, value):
                """Return the value, and note the call."""
                recorder.made.append((kind, float(epsilon), float(delta), float(sensitivity)))
                return value

        return Mechanism()

    def laplace(self, epsilon, sensitivity):
        """Stand in for LaplaceMechanism."""
        return self._noise(dp.NoiseKind.LAPLACE, epsilon, 0.0, sensitivity)

    def gaussian(self, epsilon, delta, sensitivity):
        """Stand in for GaussianMechanism."""
        return self._noise(dp.NoiseKind.GAUSSIAN, epsilon, delta, sensitivity)


@contextlib.contextmanager
def _recording():
    recorder, module = _Recorder(), dp_computations.dp_mechanisms
    kept = module.LaplaceMechanism, module.GaussianMechanism
    module.LaplaceMechanism, module.GaussianMechanism = recorder.laplace, recorder.gaussian
    try:
        yield recorder
    finally:
        module.LaplaceMechanism, module.GaussianMechanism = kept


# --- parameters ----------------------------------------------------------------------------------------------------


def _bounds(random):
    low = random.uniform(-9, 7)
    return low, low + random.uniform(0.5, 12)


def _scalar_params(random, kind, **changed):
    low, high = _bounds(random)
    fields = {
        "eps": random.uniform(0.3, 4),
        "delta": 10 ** random.uniform(-9, -3) if kind == dp.NoiseKind.GAUSSIAN else 0.0,
        "min_value": low,
        "max_value": high,
        "min_sum_per_partition": None,
        "max_sum_per_partition": None,
        "max_partitions_contributed": random.randint(2, 5),
        "max_contributions_per_partition": random.randint(2, 6),
        "noise_kind": kind,
    }
    return dp_computations.ScalarNoiseParams(**{**fields, **changed})


def _exact_sensitivity(kind, partitions, largest):
    return partitions * largest if kind == dp.NoiseKind.LAPLACE else math.sqrt(partitions) * largest


def _spent(words, recorder, kind, wanted, sensitivities):
    """Yield comparisons of the noise that was asked for with its sensitivities and the whole loss."""
    made = recorder.made
    yield f"{words}, additions of noise", float(len(sensitivities)), float(len(made)), float(len(sensitivities))
    for (found, _, _, sensitivity), exact in zip(made, sensitivities):
        yield f"{words}, kind", 1.0, float(found == kind), 1.0
        yield (f"{words}, sensitivity", *near(sensitivity, exact))
    epsilon, delta = wanted
    yield (f"{words}, epsilons", *near(math.fsum(one[1] for one in made), epsilon))
    if kind == dp.NoiseKind.GAUSSIAN:
        yield (f"{words}, deltas", *near(math.fsum(one[2] for one in made), delta, absolute=0.0))


# --- computations --------------------------------------------------------------------------------------------------


def _variances(random):
    """Compare variances without noise with their definition, and the noise with what the sums move by."""
    for kind in _KINDS:
        params = _scalar_params(random, kind)
        low, high = params.min_value, params.max_value
        data = [random.uniform(low, high) for _ in range(random.randint(2, 6))]
        middle = (low + high) / 2
        squares = (0.0 if low < 0 < high else min(low**2, high**2), max(low**2, high**2))
        centre = sum(squares) / 2
        sums = math.fsum(x - middle for x in data), math.fsum(x**2 - centre for x in data)
        with _recording() as recorder:
            count, total, mean, variance = dp_computations.compute_dp_var(len(data), *sums, params)
        words = f"compute_dp_var, {kind}, {data!r} in {(low, high)!r}"
        exact = math.fsum(data) / len(data)
        yield (f"{words}, count", *near(count, len(data)))
        yield (f"{words}, mean", *near(mean, exact))
        yield (f"{words}, sum", *near(total, math.fsum(data)))
        second = math.fsum(x**2 for x in data) / len(data)
        stated = variance + (mean - middle) ** 2 + centre  # the middles are not added before the subtraction
        yield (f"{words}, mean of squares", *near(stated, second, absolute=1e-9))
        most = params.max_contributions_per_partition
        halves = (1.0, (high - low) / 2, (squares[1] - squares[0]) / 2)
        exact = [_exact_sensitivity(kind, params.max_partitions_contributed, most * half) for half in halves]
        yield from _spent(words, recorder, kind, (params.eps, params.delta), exact)


def _additions(random):
    """Check that noise is asked for with the parameters that are given, for numbers and for vectors."""
    value, epsilon, delta, moved = random.uniform(-9, 9), random.uniform(0.3, 4), 1e-5, random.uniform(0.5, 6)
    with _recording() as recorder:
        found = dp_computations.apply_laplace_mechanism(value, epsilon, moved)
        again = dp_computations.apply_gaussian_mechanism(value, epsilon, delta, moved)
    exact = [(dp.NoiseKind.LAPLACE, epsilon, 0.0, moved), (dp.NoiseKind.GAUSSIAN, epsilon, delta, moved)]
    words = f"epsilon {epsilon!r}, sensitivity {moved!r}"
    yield f"apply_laplace_mechanism, apply_gaussian_mechanism, {words}", 1.0, float(recorder.made == exact), 1.0
    yield (f"values without noise, {words}", *near(found + again, 2 * value))
    size, partitions = random.randint(2, 5), random.randint(2, 4)
    vector = np.array([random.uniform(-3, 3) for _ in range(size)])
    norms = {
        (dp.NoiseKind.LAPLACE, dp.aggregate_params.NormKind.L1): moved * partitions,
        (dp.NoiseKind.LAPLACE, dp.aggregate_params.NormKind.Linf): moved * size * partitions,
        (dp.NoiseKind.GAUSSIAN, dp.aggregate_params.NormKind.L2): moved * math.sqrt(partitions),
        (dp.NoiseKind.GAUSSIAN, dp.aggregate_params.NormKind.Linf): moved * math.sqrt(size) * math.sqrt(partitions),
    }
    for (kind, norm), least in norms.items():
        params = dp_computations.AdditiveVectorNoiseParams(
            eps=epsilon,
            delta=delta if kind == dp.NoiseKind.GAUSSIAN else 0.0,
            max_norm=moved,
            l0_sensitivity=partitions,
            linf_sensitivity=moved,
            norm_kind=norm,
            noise_kind=kind,
        )
        with _recording() as recorder:
            found = dp_computations.add_noise_vector(vector, params)
        words = f"add_noise_vector, {kind}, {norm}, {size} entries, {partitions} partitions, {moved!r}"
        yield f"{words}, additions of noise", float(size), float(len(recorder.made)), float(size)
        yield f"{words}, values", 0.0, float(np.abs(found - vector).max()), 1e-9
        for _, _, _, sensitivity in recorder.made[:1]:
            yield f"{words}, sensitivity", least * (1 - 1e-9), sensitivity, math.inf


def _draws(random):
    """Check that entries get noise of their own, and that noise is drawn anew."""
    for make in (
        lambda: dp_computations.LaplaceMechanism.create_from_epsilon(1.0, 2.0),
        lambda: dp_computations.GaussianMechanism.create_from_epsilon_delta(1.0, 1e-5, 2.0),
    ):
        mechanism = make()
        found = mechanism.add_noise(np.full(8, random.uniform(-5, 5)))
        yield f"{type(mechanism).__name__}, a vector", 8.0, float(len(set(found.tolist()))), 8.0
        alone = {mechanism.add_noise(1.0) for _ in range(8)}
        yield f"{type(mechanism).__name__}, a number", 8.0, float(len(alone)), 8.0
    for ask in (
        lambda: dp_computations.apply_laplace_mechanism(1.0, 1.0, 2.0),
        lambda: dp_computations.apply_gaussian_mechanism(1.0, 1.0, 1e-5, 2.0),
    ):
        yield "noise that is applied", 8.0, float(len({ask() for _ in range(8)})), 8.0


def _splits(random):
    """Check that a budget that is split adds up, and is split evenly."""
    epsilon, delta, parts = random.uniform(0.3, 6), 10 ** random.uniform(-9, -3), random.randint(2, 7)
    found = dp_computations.equally_split_budget(epsilon, delta, parts)
    words = f"{epsilon!r}, {delta!r} in {parts}"
    yield f"parts, {words}", float(parts), float(len(found)), float(parts)
    for one, other in found:
        yield (f"epsilon, {words}", *near(one, epsilon / parts))
        yield (f"delta, {words}", *near(other, delta / parts, absolute=0.0))


def _deviations(random):
    """Compare standard deviations of counts and sums with what their noise needs."""
    for kind in _KINDS:
        low, high = _bounds(random)
        params = _scalar_params(random, kind, min_sum_per_partition=low, max_sum_per_partition=high)
        for name, largest in (("count", params.max_contributions_per_partition), ("sum", max(abs(low), abs(high)))):
            found = getattr(dp_computations, f"compute_dp_{name}_noise_std")(params)
            moved = _exact_sensitivity(kind, params.max_partitions_contributed, largest)
            words = f"compute_dp_{name}_noise_std, {kind}, {params!r}"
            if kind == dp.NoiseKind.LAPLACE:
                yield (words, *near(found, math.sqrt(2) * moved / params.eps, relative=1e-6))
            else:
                spent = gaussian_delta(found / moved, params.eps)
                yield words, params.delta * 0.9, spent, params.delta * (1 + 1e-6)


def _aggregations(random, **changed):
    low, high = _bounds(random)
    fields = {
        "metrics": [dp.Metrics.SUM],
        "max_partitions_contributed": random.randint(2, 5),
        "max_contributions_per_partition": random.randint(2, 6),
        "min_value": low,
        "max_value": high,
    }
    return dp.AggregateParams(**{**fields, **changed})


def _sensitivities(random):
    """Compare sensitivities of metrics with how far one person moves them."""
    params = _aggregations(random)
    low, high = params.min_value, params.max_value
    partitions, most = params.max_partitions_contributed, params.max_contributions_per_partition
    largest = max(abs(low), abs(high))
    together = random.randint(2, 9)
    bounded = _aggregations(
        random, max_partitions_contributed=None, max_contributions_per_partition=None, max_contributions=together
    )
    far = max(abs(bounded.min_value), abs(bounded.max_value))
    wide = (bounded.max_value - bounded.min_value) / 2
    count, people, total = dp.Metrics.COUNT, dp.Metrics.PRIVACY_ID_COUNT, dp.Metrics.SUM
    of = dp_computations.compute_sensitivities
    normalised = dp_computations.compute_sensitivities_for_normalized_sum
    for name, found, exact in (
        ("COUNT", of(count, params), (partitions * most, math.sqrt(partitions) * most)),
        ("PRIVACY_ID_COUNT", of(people, params), (partitions, math.sqrt(partitions))),
        ("SUM", of(total, params), (partitions * most * largest, math.sqrt(partitions) * most * largest)),
        (
            "normalised sum",
            normalised(params),
            (partitions * most * (high - low) / 2, math.sqrt(partitions) * most * (high - low) / 2),
        ),
        ("COUNT, bounded together", of(count, bounded), (together, together)),
        ("PRIVACY_ID_COUNT, bounded together", of(people, bounded), (together, math.sqrt(together))),
        ("SUM, bounded together", of(total, bounded), (together * far, together * far)),
        ("normalised sum, bounded together", normalised(bounded), (together * wide, together * wide)),
    ):
        for norm, one, other in zip(("L1", "L2"), (found.l1, found.l2), exact):
            yield (f"{name}, {norm}, in {(low, high)!r}, {partitions} partitions, {most} records", *near(one, other))
    words = f"Sensitivities of {partitions} partitions and {most}"
    good = dp_computations.Sensitivities(
        l0=partitions, linf=most, l1=partitions * most, l2=math.sqrt(partitions) * most
    )
    yield (f"{words}, as given", *near(good.l1 + good.l2, (partitions + math.sqrt(partitions)) * most))
    for wrong in ({"l1": 1.0}, {"l2": 1.0}, {"l0": partitions, "linf": None}, {"l1": -1.0}, {"linf": 0.0}):
        fields = {"l0": partitions, "linf": most, **wrong}
        yield f"{words}, refused with {wrong}", 1.0, _refused(lambda f=fields: dp_computations.Sensitivities(**f)), 1.0


def _refused(ask):
    try:
        ask()
    except (ValueError, TypeError, AssertionError):
        return 1.0
    return 0.0


def _gaussians(random):
    """Compare the epsilon of Gaussian noise with its delta, also where it is negative."""
    sigma, delta = random.uniform(0.3, 9), random.choice([10 ** random.uniform(-9, -2), random.uniform(0.3, 0.9)])
    found = dp_computations.gaussian_epsilon(sigma, delta)
    words = f"sigma {sigma!r}, delta {delta!r}"
    yield f"gaussian_epsilon {found!r}, {words}", delta * (1 - 1e-6), gaussian_delta(sigma, found), delta * (1 + 1e-6)
    yield (f"gaussian_delta, {words}", *near(dp_computations.gaussian_delta(sigma, 0.7), gaussian_delta(sigma, 0.7)))


# --- combiners -----------------------------------------------------------------------------------------------------


def _accountant(epsilon, delta=0.0, **options):
    return dp.NaiveBudgetAccountant(epsilon, delta, **options)


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
        params = _aggregations(random, metrics=[_METRICS[name] for name in names])
        low, high = params.min_value, params.max_value
        epsilon = random.uniform(0.5, 5)
        accountant = _accountant(epsilon)
        combiner = combiners.create_compound_combiner(params, accountant)
        accountant.compute_budgets()
        data = [[random.uniform(low - 9, high + 9) for _ in range(3)] for _ in range(2)]
        with _recording() as recorder:
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
        yield f"epsilon of {words}", epsilon * (1 - 1e-9), spent, epsilon * (1 + 1e-9)


def _thresholds(random):
    """Compare thresholding mechanisms with the strategies that they stand for."""
    epsilon, delta, partitions = random.uniform(0.3, 4), 10 ** random.uniform(-8, -3), random.randint(2, 5)
    for kind, strategy in (
        (MechanismType.LAPLACE_THRESHOLDING, dp.PartitionSelectionStrategy.LAPLACE_THRESHOLDING),
        (MechanismType.GAUSSIAN_THRESHOLDING, dp.PartitionSelectionStrategy.GAUSSIAN_THRESHOLDING),
    ):
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
    partitions, most = random.sample(range(2, 6), 2)
    ranks = random.sample(range(1, 100), 2)
    asked = {}

    class Tree:
        """A tree that notes what it is asked with."""

        def compute_quantiles(self, **arguments):
            """Return the quantiles that are asked for, and note the call."""
            asked.update(arguments)
            return arguments["quantiles"]

    def computed(kind, *, deviation=None):
        """Ask with a specification by its standard deviation, or by its epsilon and delta."""
        params = _aggregations(
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

    for kind in _KINDS:
        for deviation in (sigma, None):
            asked.clear()
            found = computed(kind, deviation=deviation)
            if deviation is None:
                words = f"{kind}, epsilon {epsilon!r}, delta {delta!r}"
                spent = epsilon, delta if kind == dp.NoiseKind.GAUSSIAN else 0.0
            elif kind == dp.NoiseKind.LAPLACE:
                words = f"{kind}, standard deviation {sigma!r}"
                spent = math.sqrt(2) / sigma, 0.0
            else:
                words = f"{kind}, standard deviation {sigma!r}"
                spent = asked["epsilon"], gaussian_delta(sigma, asked["epsilon"])
            yield (f"epsilon, {words}", *near(asked["epsilon"], spent[0]))
            yield (f"delta, {words}", *near(asked["delta"], spent[1], absolute=0.0))
            bounds = (asked["max_partitions_contributed"], asked["max_contributions_per_partition"])
            yield f"bounds {bounds}, {words}", 1.0, float(bounds == (partitions, most)), 1.0
            yield f"noise {asked['noise_type']}, {words}", 1.0, float(asked["noise_type"] == kind.value), 1.0
            exact = {f"percentile_{rank}": rank / 100 for rank in ranks}
            yield f"quantiles {found}, {words}", 1.0, float(found == exact), 1.0


def _created(random):
    """Compare mechanisms that are made for a specification with the noise that it stands for."""
    sigma, epsilon, delta = random.uniform(0.6, 9), random.uniform(0.3, 4), 10 ** random.uniform(-9, -3)
    partitions, largest = random.randint(2, 5), random.uniform(1.5, 6)
    sensitivities = dp_computations.Sensitivities(l0=partitions, linf=largest)
    for kind in _KINDS:
        moved = _exact_sensitivity(kind, partitions, largest)
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
            yield f"delta, {words}", delta * 0.9, gaussian_delta(other.std / moved, epsilon), delta * (1 + 1e-6)
        for mechanism in (made, other):
            yield (f"sensitivity, {words}", *near(mechanism.sensitivity, moved))


# --- budgets and bounds --------------------------------------------------------------------------------------------


def _weights(random):
    """Check that budgets follow weights, and that declared weights are those that are used."""
    epsilon, delta = random.uniform(0.3, 5), 10 ** random.uniform(-8, -3)
    weights = [random.randint(1, 5) for _ in range(3)]
    accountant = _accountant(epsilon, delta)
    specs = [accountant.request_budget(MechanismType.GAUSSIAN, weight=weight) for weight in weights]
    accountant.compute_budgets()
    for spec, weight in zip(specs, weights):
        share = weight / sum(weights)
        yield (f"epsilon of {weight} of {weights}", *near(spec.eps, epsilon * share))
        yield (f"delta of {weight} of {weights}", *near(spec.delta, delta * share, absolute=0.0))

    def scopes(declared, used):
        accountant = _accountant(epsilon, delta, aggregation_weights=declared)
        for weight in used:
            with accountant.scope(weight=weight):
                accountant.request_budget(MechanismType.GAUSSIAN)
                accountant._compute_budgets_for_aggregation(weight)  # what an aggregation of the engine calls
        accountant.compute_budgets()

    yield f"declared weights {weights}", 0.0, _refused(lambda: scopes(weights, weights)), 0.0
    yield f"more than declared, {weights}", 1.0, _refused(lambda: scopes(weights[:2], weights)), 1.0
    other = [*weights[:2], weights[2] + 1]
    yield f"others than declared, {weights}", 1.0, _refused(lambda: scopes(weights, other)), 1.0


def _private_bounds(random):
    """Compare the scores of contribution bounds with their definition, and what one person moves them by."""
    upper, partitions = random.randint(3, 12), random.randint(4, 20)
    contributions = sorted(random.randint(1, 15) for _ in range(6))
    bins = [histograms.FrequencyBin(lower=c, upper=c + 1, count=1, sum=c, min=c, max=c) for c in contributions]
    params = dp.CalculatePrivateContributionBoundsParams(
        aggregation_noise_kind=dp.NoiseKind.LAPLACE,
        aggregation_eps=random.uniform(0.3, 3),
        aggregation_delta=0.0,
        calculation_eps=random.uniform(0.3, 3),
        max_partitions_contributed_upper_bound=upper,
    )

    def scored(records):
        histogram = histograms.Histogram(histograms.HistogramType.L0_CONTRIBUTIONS, records)
        return private_bounds.L0ScoringFunction(params, partitions, histogram)

    whole, less = scored(bins), scored(bins[:-1])
    most = min(upper, partitions)
    words = f"contributions {contributions}, at most {upper} of {partitions}, epsilon {params.aggregation_eps!r}"
    for bound in private_bounds.generate_possible_contribution_bounds(most):
        noise = partitions * math.sqrt(2) * bound / params.aggregation_eps
        dropped = sum(max(min(c, most) - bound, 0) for c in contributions)
        yield (f"score of {bound}, {words}", *near(whole.score(bound), -0.5 * noise - 0.5 * dropped, relative=1e-6))
        moved = abs(whole.score(bound) - less.score(bound))
        yield (
            f"what one person moves the score of {bound}, {words}",
            0.0,
            moved,
            float(whole.global_sensitivity) + 1e-9,
        )
    candidates = private_bounds.generate_possible_contribution_bounds(2345)
    small = candidates[:999] == list(range(1, 1000))
    yield "possible bounds", 1.0, float(small and candidates[999:] == list(range(1000, 2346, 10))), 1.0


def _samplers(random):
    """Check that samplers keep what they must, and all of it where there is room."""
    most, records = random.randint(2, 4), random.randint(5, 9)
    rows = [(person, key, 1.0) for person in range(2) for key in range(3) for _ in range(records)]
    params = _aggregations(random, max_contributions_per_partition=most)

    class Report:
        """A report that keeps nothing."""

        def add_stage(self, _):
            """Take a line."""

    for sampler, kept in ((contribution_bounders.LinfSampler(), most), (contribution_bounders.NoOpSampler(), records)):
        found = dict(sampler.bound_contributions(rows, params, dp.LocalBackend(), Report(), sum))
        words = f"{type(sampler).__name__}, {records} records, at most {most}"
        yield f"{words}, groups", 6.0, float(len(found)), 6.0
        for total in found.values():
            yield words, float(kept), float(total), float(kept)


def facts_of_the_library():
    """Yield the cases."""
    for name, words, relation in (
        ("compute_dp_var", "sums get noise for what they move by", _variances),
        ("apply_laplace_mechanism, apply_gaussian_mechanism, add_noise_vector", "noise is as asked for", _additions),
        ("LaplaceMechanism, GaussianMechanism, add_noise", "noise is drawn anew", _draws),
        ("equally_split_budget", "parts add up", _splits),
        ("compute_dp_count_noise_std, compute_dp_sum_noise_std", "deviations are those of the noise", _deviations),
        ("compute_sensitivities, Sensitivities", "one person moves a metric so far", _sensitivities),
        ("gaussian_epsilon, gaussian_delta", "each is the inverse of the other", _gaussians),
        ("create_compound_combiner", "answers are those of clipped records", _combined),
        ("create_thresholding_mechanism, ThresholdingMechanism", "thresholds hide one person", _thresholds),
        ("QuantileCombiner, compute_dp_quantiles", "the loss is that of the noise", _quantiles),
        ("create_additive_mechanism", "the noise is that of the specification", _created),
        ("NaiveBudgetAccountant, weights", "budgets follow weights", _weights),
        (
            "L0ScoringFunction, generate_possible_contribution_bounds, CalculatePrivateContributionBoundsParams",
            "scores are those of their definition",
            _private_bounds,
        ),
        ("LinfSampler, NoOpSampler", "records are kept up to a bound", _samplers),
    ):
        yield Relations(name, {words: relation})
