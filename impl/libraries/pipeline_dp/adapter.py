"""PipelineDP on its local backend: its engine, combiners, noise, partition selection and budget accountants.

A privacy unit is added or removed. Each record of the input stands for one person; how many rows that person
contributes, and to which partitions, is said with the case. Partitions are public unless the case selects them.
"""

from __future__ import annotations

import functools
import logging
import math
import warnings

import numpy as np
import pipeline_dp as dp
from pipeline_dp import combiners, dp_computations, partition_selection
from pipeline_dp.aggregate_params import MechanismType, NormKind
from pipeline_dp_facts import facts_of_the_library
from pipeline_dp_families import families

from dpassay.adapter import Answer, Mechanism, Nonsense, answer_in_time, present_cases

LIBRARY = "pipeline-dp"

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)

_PEOPLE = "records:low={low!r},high={high!r},size=3,max-size=4,relation=add-remove"
_CALLS = 3_000
_Strategies = dp.PartitionSelectionStrategy


# --- noise on a number -------------------------------------------------------------------------------------------


def _noise(make, *, name, claim, family, step=1.0, slow=False):
    def sample_many(data, size):
        mechanism = make()
        return np.array([mechanism.add_noise(data[0]) for _ in range(size)])

    def distribution(data):
        return {"family": family, "location": data[0], "scale": float(make().noise_parameter)}

    notes = "the noise is drawn on a grid that is finer than its scale by a large power of two"
    neighbours = f"vector:size=1,linf={step!r}"
    return Mechanism(
        name,
        neighbours,
        claim,
        sample_many=sample_many,
        distribution=distribution,
        distribution_is_exact=False,
        notes=notes,
        slow=slow,
    )


def _numbers():
    laplace, gaussian = dp_computations.LaplaceMechanism, dp_computations.GaussianMechanism
    for epsilon, sensitivity in ((1.0, 1.0), (0.01, 1.0), (8.0, 0.3)):
        yield _noise(
            lambda e=epsilon, s=sensitivity: laplace.create_from_epsilon(e, s),
            name=f"LaplaceMechanism(epsilon={epsilon}, l1_sensitivity={sensitivity})",
            claim=f"pure:{epsilon!r}",
            family="laplace",
            step=sensitivity,
        )
    yield _noise(
        lambda: laplace.create_from_std_deviation(math.sqrt(2), 1.0),
        name="LaplaceMechanism of standard deviation sqrt(2)",
        claim="pure:1.0",
        family="laplace",
    )
    for epsilon, delta in ((1.0, 1e-5), (4.0, 0.1), (0.1, 0.01), (1.0, 1e-20), (20.0, 0.3)):
        yield _noise(
            lambda e=epsilon, d=delta: gaussian.create_from_epsilon_delta(e, d, 1.0),
            name=f"GaussianMechanism(epsilon={epsilon}, delta={delta})",
            claim=f"approx:{epsilon!r},{delta!r}",
            family="gaussian",
            slow=delta != 1e-5,  # the same sampler with another scale
        )
    yield _noise(
        lambda: gaussian.create_from_std_deviation(1.0, 1.0),
        name="GaussianMechanism of standard deviation 1",
        claim="zcdp:0.5",
        family="gaussian",
    )


# --- partition selection -----------------------------------------------------------------------------------------


def _slack(epsilon, delta):
    """Return a claim in words; nothing is promised of the last digits of the probabilities.

    Their rounding to float64, at most 2^-53 each, changes the excess of one over e^epsilon times another by at most
    (1 + e^epsilon) 2^-53.
    """
    rounding = math.exp(epsilon) * 2.0**-52
    return f"approx:{epsilon!r},{delta * (1 + 1e-9) + 1e-15 + rounding!r}"


def _keeping(make, *, name, claim, least=0, most=12, calls=None):
    """Return the decision whether to keep a partition, by the number of people who contribute to it."""
    make = functools.lru_cache(maxsize=1)(make)

    def sample_many(data, size):
        strategy, people = make(), int(data[0])
        return np.array([int(strategy.should_keep(people)) for _ in range(size)])

    def distribution(data):
        kept = make().probability_of_keep(int(data[0]))
        return {"family": "finite", "symbols": [0, 1], "probabilities": [1 - kept, kept]}

    neighbours = f"vector:size=1,linf=1,low={least},high={most},integer"
    return Mechanism(name, neighbours, claim, sample_many=sample_many, distribution=distribution, calls=calls)


_OPEN = {0.1: {"least": 80, "most": 130}, 10.0: {"most": 4}}
"""Numbers of people by epsilon, where not up to 12: up to those at which the decision on their partition is open."""


def _selections():
    kinds = (_Strategies.TRUNCATED_GEOMETRIC, _Strategies.LAPLACE_THRESHOLDING, _Strategies.GAUSSIAN_THRESHOLDING)
    for kind in kinds:
        for epsilon, delta, before in ((1.0, 0.1, None), (0.1, 1e-5, None), (10.0, 1e-9, None), (1.0, 0.1, 3)):
            yield _keeping(
                lambda k=kind, e=epsilon, d=delta, b=before: partition_selection.create_partition_selection_strategy(
                    k, e, d, 1, b
                ),
                name=f"{kind.value}(epsilon={epsilon}, delta={delta}, pre_threshold={before})",
                claim=_slack(epsilon, delta),
                **_OPEN.get(epsilon, {}),
                calls=1_400_000 if epsilon == 10.0 else None,
            )
        if kind is _Strategies.TRUNCATED_GEOMETRIC:
            continue

        def noised(data, size, k=kind):
            mechanism = dp_computations.ThresholdingMechanism(1.0, 0.1, k, 1, None)
            return [mechanism.noised_value_if_should_keep(int(data[0])) for _ in range(size)]

        name = f"ThresholdingMechanism, {kind.value}, noised value"
        yield Mechanism(name, "vector:size=1,linf=1,low=0,high=12,integer", "approx:1.0,0.1", sample_many=noised)
    for kind in kinds:
        yield _selected(kind, 5.0)
    for name, make in (
        ("gaussian", partition_selection.create_gaussian_thresholding),
        ("laplace", partition_selection.create_laplace_thresholding),
    ):
        for sigma in (1.0, 0.02):
            yield _keeping(
                lambda m=make, s=sigma: m(s, 0.05, 1),
                name=f"create_{name}_thresholding(sigma={sigma}, thresholding_delta=0.05), one person",
                claim=_slack(0.0, 0.05),
                most=1,
            )
    for epsilon, delta, most in ((1.0, 1e-5, 40), (5.0, 0.1, 4), (3.0, 1e-5, 16)):
        yield _weighted(epsilon, delta, most)


def _weighted(epsilon, delta, most):
    """Return which of two partitions are kept to which everybody contributes, with weight 1 / sqrt(2) in each.

    About half of the partitions with `most` people are kept: of fewer people almost none, and nothing would be tested.
    """

    @functools.lru_cache(maxsize=1)
    def make():
        return partition_selection.create_weighted_gaussian_thresholding(epsilon, delta, 2)

    def sample_many(data, size):
        strategy, weight = make(), data[0] / np.sqrt(2)
        return [int(strategy.should_keep(weight)) + 2 * int(strategy.should_keep(weight)) for _ in range(size)]

    def distribution(data):
        kept = make().probability_of_keep(data[0] / np.sqrt(2))
        return {
            "family": "finite",
            "symbols": [0, 1, 2, 3],
            "probabilities": [(1 - kept) ** 2, kept * (1 - kept), kept * (1 - kept), kept**2],
        }

    return Mechanism(
        f"Weighted Gaussian(epsilon={epsilon}, delta={delta}), two partitions of everybody",
        f"vector:size=1,linf=1,low=0,high={most},integer",
        _slack(epsilon, delta),
        sample_many=sample_many,
        distribution=distribution,
        notes="select_partitions with max_partitions_contributed=2; each person contributes to one partition only",
    )


def _selected(kind, epsilon):
    """Return the engine's selection; everybody contributes to both partitions."""

    def sample_one(data):
        rows = [(person, key) for person in range(len(data)) for key in (0, 1)]
        accountant = dp.NaiveBudgetAccountant(epsilon, 0.1)
        engine = dp.DPEngine(accountant, dp.LocalBackend())
        params = dp.SelectPartitionsParams(max_partitions_contributed=2, partition_selection_strategy=kind)
        extractors = dp.DataExtractors(privacy_id_extractor=lambda row: row[0], partition_extractor=lambda row: row[1])
        kept = engine.select_partitions(rows, params, extractors)
        accountant.compute_budgets()
        return "".join(str(key) for key in sorted(kept))

    return Mechanism(
        f"select_partitions, {kind.value}, epsilon={epsilon}, two partitions of everybody",
        "records:low=0,high=1,size=1,max-size=2,relation=add-remove",
        f"approx:{epsilon!r},0.1",
        sample_one=sample_one,
        slow=True,
    )


# --- the engine --------------------------------------------------------------------------------------------------


def _aggregated(rows, params, *, epsilon, delta, public):
    accountant = dp.NaiveBudgetAccountant(epsilon, delta)
    engine = dp.DPEngine(accountant, dp.LocalBackend())
    identified = not params.contribution_bounds_already_enforced
    extractors = dp.DataExtractors(
        privacy_id_extractor=(lambda row: row[0]) if identified else None,
        partition_extractor=lambda row: row[1],
        value_extractor=lambda row: row[2],
    )
    result = engine.aggregate(rows, params, extractors, public_partitions=public)
    accountant.compute_budgets()
    return dict(result)


def _engine(
    name,
    metrics,
    *,
    rows=None,
    keys=(0,),
    selected=False,
    low=0.0,
    high=1.0,
    delta=0.0,
    floats=True,
    calls=_CALLS,
    **params,
):
    """Return an aggregation: `rows(person, value)` are the rows of a person, one row in partition 0 by default."""
    bounds = {} if "max_contributions" in params else {"max_partitions_contributed": 1}
    if "max_contributions" not in params:
        bounds["max_contributions_per_partition"] = 1
    arguments = {**bounds, **params, "metrics": metrics}

    def sample_one(data):
        contributed = rows or (lambda person, value: [(person, 0, value)])
        table = [row for person, value in enumerate(data) for row in contributed(person, value)]
        if selected and not table:
            return {}
        found = _aggregated(
            table or [(-1, -1, 0.0)],
            dp.AggregateParams(**arguments),
            epsilon=1.0,
            delta=delta,
            public=None if selected else list(keys),
        )
        if selected:
            return {str(key): list(map(float, found[key])) for key in sorted(found)}
        return [float(number) for key in keys for number in found[key]]

    claim = f"approx:1.0,{delta!r}" if delta else "pure:1.0"
    neighbours = _PEOPLE.format(low=low, high=high)
    return Mechanism(f"aggregate, {name}", neighbours, claim, sample_one=sample_one, calls=calls, floats=floats)


def _engines():
    metrics, unit = dp.Metrics, {"min_value": 0.0, "max_value": 1.0}
    gaussian = {"noise_kind": dp.NoiseKind.GAUSSIAN, "delta": 0.01}
    yield _engine("COUNT", [metrics.COUNT])
    yield _engine("COUNT and PRIVACY_ID_COUNT", [metrics.COUNT, metrics.PRIVACY_ID_COUNT])
    yield _engine("SUM", [metrics.SUM], **unit)
    yield _engine("SUM, gaussian", [metrics.SUM], **unit, **gaussian)
    yield _engine("MEAN, COUNT, SUM", [metrics.MEAN, metrics.COUNT, metrics.SUM], **unit)
    every = [metrics.VARIANCE, metrics.MEAN, metrics.COUNT]
    yield _engine("VARIANCE, MEAN, COUNT in [0, 1]", every, **unit)
    yield _engine("VARIANCE, MEAN, COUNT in [-1, 1]", every, low=-1.0, min_value=-1.0, max_value=1.0)
    yield _engine("PERCENTILE(50)", [metrics.PERCENTILE(50)], **unit)
    far = {"low": 1e16, "high": 1e16 + 2}
    yield _engine(
        "MEAN, COUNT in [1e16, 1e16 + 2]", [metrics.MEAN, metrics.COUNT], **far, min_value=1e16, max_value=1e16 + 2
    )
    yield _engine(
        "SUM, values above 1 missing",
        [metrics.SUM],
        high=2.0,
        rows=lambda person, value: [(person, 0, math.nan if value > 1 else value)],
        **unit,
    )
    for words, noise in (("SUM", {}), ("SUM, gaussian", gaussian)):
        yield _engine(
            f"{words}, everybody in 3 partitions of which 2 count",
            [metrics.SUM],
            rows=lambda person, value: [(person, key, value) for key in range(3)],
            keys=(0, 1, 2),
            **{**unit, **noise, "max_partitions_contributed": 2},
        )
    yield _engine(
        "COUNT, everybody with 4 rows of which 2 count",
        [metrics.COUNT],
        rows=lambda person, value: [(person, key, value) for key in (0, 0, 0, 1)],
        keys=(0, 1),
        max_contributions=2,
    )
    twice = {
        "rows": lambda person, value: [(person, 0, value), (person, 0, value)],
        "min_sum_per_partition": 0.0,
        "max_sum_per_partition": 1.0,
        "max_contributions_per_partition": 2,
    }
    yield _engine("SUM bounded by partition, 2 rows each", [metrics.SUM], **twice)
    yield _engine(
        "SUM bounded by partition, 2 rows each, bounds already enforced",
        [metrics.SUM],
        **twice,
        contribution_bounds_already_enforced=True,
        calls=2 * _CALLS,
    )
    yield _engine("COUNT, partitions selected", [metrics.COUNT], selected=True, delta=0.1)
    yield _engine(
        "PRIVACY_ID_COUNT, thresholded",
        [metrics.PRIVACY_ID_COUNT],
        selected=True,
        delta=0.1,
        post_aggregation_thresholding=True,
    )


# --- what the noise is made for ----------------------------------------------------------------------------------


def _spec(epsilon=1.0, delta=0.0):
    accountant = dp.NaiveBudgetAccountant(epsilon, delta)
    spec = accountant.request_budget(MechanismType.LAPLACE)
    accountant.compute_budgets()
    return spec


def _params(low, high, metrics):
    return dp.AggregateParams(
        metrics=metrics,
        min_value=low,
        max_value=high,
        max_partitions_contributed=1,
        max_contributions_per_partition=1,
    )


def _three_sums(low, high):
    """Return the count, sum and sum of squares of the variance, in units of what each has noise for."""
    params = _params(low, high, [dp.Metrics.VARIANCE])
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
        _PEOPLE.format(low=low, high=high),
        "pure:1.0",
        sample_one=sample_one,
        distribution=distribution,
        noiseless=noiseless,
        sensitivity=3.0,
        distribution_is_exact=False,
        floats=False,
        calls=_CALLS,
        notes="the noisy sums are computed back from the variance, the mean and the count",
    )


def _normalised_sum(low, high):
    """Return the sum of the mean, of which the middle of the bounds is taken away."""
    params = _params(low, high, [dp.Metrics.MEAN])
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
        _PEOPLE.format(low=low, high=high),
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
    calls = 2 * _CALLS if kind == "gaussian" else _CALLS  # the lowest bits of little noise take many calls
    return Mechanism(name, _PEOPLE.format(low=0.0, high=1.0), claim, sample_one=sample_one, calls=calls)


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


def _calibrations():
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


class _Scores(dp_computations.ExponentialMechanism.ScoringFunction):
    """The scores of the candidates 0, 1, ..., of sensitivity 1."""

    def __init__(self, scores, monotonic):
        self._scores, self._monotonic = scores, monotonic

    def score(self, k):
        return self._scores[k]

    @property
    def global_sensitivity(self):
        return 1.0

    @property
    def is_monotonic(self):
        return self._monotonic


def _exponential():
    for low, high, monotonic in ((-3.0, 3.0, False), (-3.0, 3.0, True), (-1491.0, -1490.0, False)):

        def sample_one(data, mono=monotonic):
            mechanism = dp_computations.ExponentialMechanism(_Scores(data, mono))
            return int(mechanism.apply(1.0, list(range(len(data)))))

        def distribution(data, mono=monotonic):
            candidates = list(range(len(data)))
            weights = dp_computations.ExponentialMechanism(_Scores(data, mono))._calculate_probabilities(
                1.0, candidates
            )
            return {"family": "finite", "symbols": candidates, "probabilities": [float(weight) for weight in weights]}

        direction = ",monotone" if monotonic else ""
        yield Mechanism(
            f"ExponentialMechanism, 2 scores in [{low:g}, {high:g}], monotonic={monotonic}",
            f"vector:size=2,linf=1,low={low},high={high}{direction}",
            "pure:1.0",
            sample_one=sample_one,
            distribution=distribution if high < 700 and low > -700 else None,  # where exp neither under- nor overflows
            calls=_CALLS,
        )


# --- answers -----------------------------------------------------------------------------------------------------

_ONCE = {"count": (1, 1), "sigma": (1e-3, 1e4)}


def _accounted(kind, epsilon, delta):
    accountant = dp.PLDBudgetAccountant(epsilon, delta)
    spec = accountant.request_budget(kind)
    accountant.compute_budgets()
    return float(spec.noise_standard_deviation)


def _accounted_gaussian(epsilon, delta):
    if math.isnan(epsilon) or math.isnan(delta):
        raise ValueError("not asked here: there may be no answer")
    return _accounted(MechanismType.GAUSSIAN, epsilon, delta)


def _one(count):
    if count != 1:
        raise ValueError("the function knows no composition")


def _delta(sigma, epsilon, count):
    _one(count)
    return float(dp_computations.gaussian_delta(sigma, epsilon))


def _epsilon(sigma, delta, count):
    _one(count)
    return float(dp_computations.gaussian_epsilon(sigma, delta))


def _answers():
    exact = {"claims_exact": True, "relative_error": 1e-9}
    # terms of relative error z^2 2^-52, z < 39 deviations out, nearly cancel: what is left has z^3 sigma 2^-52
    cancelled = {**exact, "relative_error": 2e-7}
    yield Answer("gaussian_delta", "gaussian_delta", _delta, domain=_ONCE, **cancelled)
    for name, domain in (
        ("gaussian_epsilon, where it is positive", {**_ONCE, "sigma": (1e-3, 10.0), "delta": (0.0, 1e-3)}),
        ("gaussian_epsilon", _ONCE),
    ):
        yield Answer(
            name,
            "gaussian_epsilon",
            _epsilon,
            domain=domain,
            absolute_error=1e-10,
            notes="a tolerance of 1e-10 is written in the code, not documented",
            **exact,
        )
    yield Answer(
        "compute_sigma", "gaussian_sigma", lambda epsilon, delta: dp_computations.compute_sigma(epsilon, delta, 1.0)
    )
    yield Answer(
        "LaplaceMechanism.create_from_epsilon",
        "laplace_scale",
        lambda epsilon: dp_computations.LaplaceMechanism.create_from_epsilon(epsilon, 1.0).noise_parameter,
    )
    yield Answer(
        "PLDBudgetAccountant, Laplace",
        "laplace_scale",
        lambda epsilon: _accounted(MechanismType.LAPLACE, epsilon, 0.0) / math.sqrt(2),
        relative_error=1e-12,
    )
    yield Answer(
        "PLDBudgetAccountant, Gaussian",
        "gaussian_sigma",
        _accounted_gaussian,
        domain={"epsilon": (0.3, 5.0), "delta": (1e-9, 0.1)},  # more takes seconds
        calls=3,
        notes="NaN, for which the library does not return, is asked with a limit of time elsewhere",
    )


# --- what must be refused ----------------------------------------------------------------------------------------


def _refusals():
    nan, infinity = math.nan, math.inf
    good = {"epsilon": 1.0, "delta": 0.01, "sensitivity": 1.0}

    def gaussian(epsilon, delta, sensitivity):
        mechanism = dp_computations.GaussianMechanism.create_from_epsilon_delta(epsilon, delta, sensitivity)
        return mechanism.add_noise(0.0)

    def laplace(epsilon, sensitivity):
        return dp_computations.LaplaceMechanism.create_from_epsilon(epsilon, sensitivity).add_noise(0.0)

    bad = [(key, value) for key in good for value in (-1.0, nan)]
    yield Nonsense(
        "GaussianMechanism",
        {
            f"{key}={value}": lambda k=key, v=value: gaussian(**{**good, k: v})
            for key, value in (*bad, ("delta", 0.0), ("delta", 2.0))
        },
    )
    yield Nonsense(
        "LaplaceMechanism",
        {
            f"{key}={value}": lambda k=key, v=value: laplace(**{"epsilon": 1.0, "sensitivity": 1.0, k: v})
            for key, value in bad
            if key != "delta"
        }
        | {"sensitivity=inf": lambda: laplace(1.0, infinity)},
    )
    yield Nonsense(
        "NaiveBudgetAccountant",
        {
            f"epsilon={epsilon}, delta={delta}": lambda e=epsilon, d=delta: dp.NaiveBudgetAccountant(e, d)
            for epsilon, delta in ((-1.0, 0.0), (nan, 0.0), (1.0, -1.0), (1.0, nan), (1.0, 2.0))
        }
        | {"weight=-1": lambda: dp.NaiveBudgetAccountant(1.0, 0.0).request_budget(MechanismType.LAPLACE, weight=-1)},
    )
    yield Nonsense(
        "PLDBudgetAccountant of Gaussian noise",
        {
            f"epsilon={epsilon}, delta={delta}": lambda e=epsilon, d=delta: answer_in_time(
                lambda: _accounted(MechanismType.GAUSSIAN, e, d), seconds=5
            )
            for epsilon, delta in ((nan, 1e-6), (1.0, nan))
        },
    )
    yield Nonsense(
        "AggregateParams",
        {
            f"bounds=({low}, {high})": lambda lo=low, hi=high: _params(lo, hi, [dp.Metrics.SUM])
            for low, high in ((1.0, 0.0), (nan, 1.0), (0.0, nan), (0.0, infinity))
        }
        | {
            f"PERCENTILE({rank})": lambda r=rank: _engine(
                "refused", [dp.Metrics.PERCENTILE(r)], min_value=0.0, max_value=1.0
            ).sample_one([0.5])
            for rank in (-1, 101, nan)
        },
    )
    yield Nonsense(
        "Gaussian functions",
        {
            "gaussian_delta(sigma=nan)": lambda: dp_computations.gaussian_delta(nan, 1.0),
            "gaussian_delta(sigma=-1)": lambda: dp_computations.gaussian_delta(-1.0, 1.0),
            "gaussian_delta(epsilon=nan)": lambda: dp_computations.gaussian_delta(1.0, nan),
            "gaussian_epsilon(sigma=nan)": lambda: dp_computations.gaussian_epsilon(nan, 0.1),
            "gaussian_epsilon(delta=nan)": lambda: dp_computations.gaussian_epsilon(1.0, nan),
            "gaussian_epsilon(delta=2)": lambda: dp_computations.gaussian_epsilon(1.0, 2.0),
        },
    )


def cases():
    """Return all cases that this version of the library has."""
    lacking = (AttributeError, NotImplementedError, TypeError, ValueError)
    return list(
        present_cases(
            facts_of_the_library,
            _numbers,
            _selections,
            _engines,
            families,
            _calibrations,
            _exponential,
            _answers,
            _refusals,
            lacking=lacking,
        )
    )
