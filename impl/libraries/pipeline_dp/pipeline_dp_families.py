"""Families of pipeline-dp: aggregations over the domain of their parameters, by people who break every bound.

Everybody contributes to more partitions than are allowed, with more rows in each than are allowed, and with values
outside the bounds. The noise of PyDP is replayed, and contributions are bounded by taking the first ones.
"""

from __future__ import annotations

import numpy as np
import pipeline_dp as dp
from pipeline_dp import combiners
from pipeline_dp.aggregate_params import NormKind
from pydp.algorithms import numerical_mechanisms

from dpassay.adapter import Choice, Family, Mechanism, NoisePrimitive

EPSILON, LOW, WIDTH = (0.05, 5.0), (-40.0, 30.0), (0.25, 60.0)


def _laplace(mechanism, value):
    return {
        "value": float(value),
        "family": "laplace",
        "sensitivity": float(mechanism.sensitivity),
        "epsilon": float(mechanism.sensitivity / mechanism.diversity),
    }


def _gaussian(mechanism, value):
    sensitivity = float(mechanism.l2_sensitivity)
    if not 0 < sensitivity < np.inf:  # made from its standard deviation
        sensitivity = float("inf")
    return {"value": float(value), "family": "gaussian", "sensitivity": sensitivity, "scale": float(mechanism.std)}


NOISE = (
    NoisePrimitive(numerical_mechanisms.LaplaceMechanism, "add_noise", _laplace),
    NoisePrimitive(numerical_mechanisms.GaussianMechanism, "add_noise", _gaussian),
)
CHOICES = (Choice(np.random, "choice", lambda a, size, **_: np.asarray(a)[:size]),)

_CALL = """import pipeline_dp as dp

values = {{data}}
rows = [(person, key, value) for person, value in enumerate(values) for key in range({keys}) for _ in range({rows})]
accountant = {accountant}
engine = dp.DPEngine(accountant, dp.LocalBackend())
extractors = dp.DataExtractors(lambda row: row[0], lambda row: row[1], lambda row: row[2])
params = dp.AggregateParams({params})
result = engine.aggregate(rows, params, extractors, public_partitions=list(range({keys})))
accountant.compute_budgets()
print(dict(result))"""


def _aggregated(data, params, *, keys, rows, accountant):
    table = [(person, key, float(x)) for person, x in enumerate(data) for key in range(keys) for _ in range(rows)]
    engine = dp.DPEngine(accountant, dp.LocalBackend())
    extractors = dp.DataExtractors(
        privacy_id_extractor=lambda row: row[0],
        partition_extractor=lambda row: row[1],
        value_extractor=lambda row: row[2],
    )
    # without people there would be no table to read
    table = table or [(-1, -1, 0.0)]
    result = engine.aggregate(table, params, extractors, public_partitions=list(range(keys)))
    accountant.compute_budgets()
    found = dict(result)
    return [number for key in range(keys) for number in map(float, found[key])]


_KINDS = {"laplace": (dp.NoiseKind.LAPLACE, 0.0), "gaussian": (dp.NoiseKind.GAUSSIAN, 0.01)}


def _member(arguments, *, epsilon, noise, low, high, keys, rows):
    """Return an aggregation in which everybody has `rows` rows in each of `keys` partitions."""
    kind, delta = _KINDS[noise]

    def sample_one(data):
        params = dp.AggregateParams(**arguments, noise_kind=kind)
        made = dp.NaiveBudgetAccountant(epsilon, delta)
        return _aggregated(data, params, keys=keys, rows=rows, accountant=made)

    words = ", ".join(f"{name}={_words(argument)}" for name, argument in arguments.items())
    call = _CALL.format(
        keys=keys,
        rows=rows,
        accountant=f"dp.NaiveBudgetAccountant({epsilon!r}, {delta!r})",
        params=f"{words}, noise_kind=dp.{kind}",
    )
    reach = high - low
    return Mechanism(
        "",
        f"records:low={low - 2 * reach!r},high={high + 2 * reach!r},size=2,max-size=3,relation=add-remove",
        _claim(epsilon, delta),
        sample_one=sample_one,
        noise=NOISE,
        choices=CHOICES,
        releases_noise=True,
        floats=False,
        slow=True,
        call=call,
    )


def _claim(epsilon, delta):
    return f"approx:{epsilon!r},{delta!r}" if delta else f"pure:{epsilon!r}"


def _words(argument):
    if isinstance(argument, list):
        return "[" + ", ".join(f"dp.Metrics.{metric}" for metric in argument) + "]"
    return repr(argument)


_SCALAR = {
    "COUNT": [dp.Metrics.COUNT],
    "PRIVACY_ID_COUNT": [dp.Metrics.PRIVACY_ID_COUNT],
    "SUM": [dp.Metrics.SUM],
    "MEAN": [dp.Metrics.MEAN, dp.Metrics.COUNT],
    "VARIANCE": [dp.Metrics.VARIANCE, dp.Metrics.MEAN, dp.Metrics.COUNT],
    "several": [dp.Metrics.MEAN, dp.Metrics.COUNT, dp.Metrics.SUM, dp.Metrics.PRIVACY_ID_COUNT],
}
_BOUNDED = {"epsilon": EPSILON, "noise": list(_KINDS), "low": LOW, "width": WIDTH}
_CONTRIBUTIONS = {"partitions": (1, 4), "rows": (1, 3)}


def _scalar(name):
    def make(epsilon, noise, low, width, partitions, rows):
        arguments = {
            "metrics": _SCALAR[name],
            "min_value": low,
            "max_value": low + width,
            "max_partitions_contributed": partitions,
            "max_contributions_per_partition": rows,
        }
        bounds = {"low": low, "high": low + width, "keys": partitions + 1, "rows": rows + 1}
        return _member(arguments, epsilon=epsilon, noise=noise, **bounds)

    return Family(f"aggregate, {name}, family", make, _BOUNDED | _CONTRIBUTIONS)


def _by_partition():
    def make(epsilon, noise, low, width, partitions, rows):
        arguments = {
            "metrics": [dp.Metrics.SUM],
            "min_sum_per_partition": low,
            "max_sum_per_partition": low + width,
            "max_partitions_contributed": partitions,
            "max_contributions_per_partition": rows,
        }
        bounds = {"low": low, "high": low + width, "keys": partitions + 1, "rows": rows + 1}
        return _member(arguments, epsilon=epsilon, noise=noise, **bounds)

    return Family("aggregate, SUM bounded by partition, family", make, _BOUNDED | _CONTRIBUTIONS)


def _by_person():
    def make(epsilon, noise, low, width, contributions, metric):
        arguments = {"metrics": _SCALAR[metric], "max_contributions": contributions}
        if metric != "COUNT":
            arguments |= {"min_value": low, "max_value": low + width}
        return _member(arguments, epsilon=epsilon, noise=noise, low=low, high=low + width, keys=3, rows=2)

    domain = _BOUNDED | {"contributions": (1, 4), "metric": ["COUNT", "SUM", "MEAN"]}
    return Family("aggregate, max_contributions, family", make, domain)


def _vector_sums(data, params, size, *, epsilon, delta, keys):
    """Return the sums of all partitions by the combiner itself: the engine raises for it with public partitions."""
    accountant = dp.NaiveBudgetAccountant(epsilon, delta)
    spec = accountant.request_budget(params.noise_kind.convert_to_mechanism_type())
    accountant.compute_budgets()
    combiner = combiners.VectorSumCombiner(combiners.CombinerParams(spec, params))
    released = []
    for key in range(keys):
        total = np.zeros(size)
        for x in data if key < params.max_partitions_contributed else []:
            vector = np.array([x, x / 2, -x, x, x / 3][:size])
            total = combiner.merge_accumulators(total, combiner.create_accumulator([vector, vector + 1]))
        released.append(combiner.compute_metrics(total)["vector_sum"].tolist())
    return released


def _vectors():
    def make(epsilon, norm, bound, size, partitions):
        noise, kind = {
            "L1": ("laplace", NormKind.L1),
            "Linf": ("laplace", NormKind.Linf),
            "L2": ("gaussian", NormKind.L2),
            "Linf, gaussian": ("gaussian", NormKind.Linf),
        }[norm]
        noise_kind, delta = _KINDS[noise]
        params = dp.AggregateParams(
            metrics=[dp.Metrics.VECTOR_SUM],
            noise_kind=noise_kind,
            vector_size=size,
            vector_max_norm=bound,
            vector_norm_kind=kind,
            max_partitions_contributed=partitions,
            max_contributions_per_partition=2,
        )
        return Mechanism(
            "",
            f"records:low={-9 * bound!r},high={9 * bound!r},size=2,max-size=3,relation=add-remove",
            _claim(epsilon, delta),
            sample_one=lambda data: _vector_sums(
                data, params, size, epsilon=epsilon, delta=delta, keys=partitions + 1
            ),
            noise=NOISE,
            releases_noise=True,
            floats=False,
            slow=True,
        )

    domain = {
        "epsilon": EPSILON,
        "norm": ["L1", "Linf", "L2", "Linf, gaussian"],
        "bound": (0.25, 40.0),
        "size": (1, 5),
        "partitions": (1, 3),
    }
    return Family("VectorSumCombiner, family", make, domain)


def families():
    """Yield the families of this version."""
    for name in _SCALAR:
        yield _scalar(name)
    yield _by_partition()
    yield _by_person()
    yield _vectors()
