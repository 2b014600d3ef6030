"""Aggregations of the engine on its local backend, by people who contribute in different ways."""

from __future__ import annotations

import math

import pipeline_dp as dp

from dpassay.adapter import Mechanism

__all__ = ["CALLS", "PEOPLE", "aggregation", "aggregations"]

PEOPLE = "records:low={low!r},high={high!r},size=3,max-size=4,relation=add-remove"
FIRST = "records:low={low!r},high={high!r},size=0,max-size=1,relation=add-remove"
CALLS = 3_000


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


def aggregation(
    name,
    metrics,
    *,
    rows=None,
    keys=(0,),
    selected=False,
    low=0.0,
    high=1.0,
    neighbours=PEOPLE,
    delta=0.0,
    floats=True,
    calls=CALLS,
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
    relation = neighbours.format(low=low, high=high)
    return Mechanism(f"aggregate, {name}", relation, claim, sample_one=sample_one, calls=calls, floats=floats)


def aggregations():
    """Yield aggregations of every metric."""
    metrics, unit = dp.Metrics, {"min_value": 0.0, "max_value": 1.0}
    gaussian = {"noise_kind": dp.NoiseKind.GAUSSIAN, "delta": 0.01}
    yield aggregation("COUNT", [metrics.COUNT])
    yield aggregation("COUNT and PRIVACY_ID_COUNT", [metrics.COUNT, metrics.PRIVACY_ID_COUNT])
    yield aggregation("SUM", [metrics.SUM], **unit)
    yield aggregation("SUM, gaussian", [metrics.SUM], **unit, **gaussian)
    yield aggregation("MEAN, COUNT, SUM", [metrics.MEAN, metrics.COUNT, metrics.SUM], **unit)
    every = [metrics.VARIANCE, metrics.MEAN, metrics.COUNT]
    yield aggregation("VARIANCE, MEAN, COUNT in [0, 1]", every, **unit)
    yield aggregation("VARIANCE, MEAN, COUNT in [-1, 1]", every, low=-1.0, min_value=-1.0, max_value=1.0)
    yield aggregation("PERCENTILE(50)", [metrics.PERCENTILE(50)], **unit)
    far = {"low": 1e16, "high": 1e16 + 2}
    yield aggregation(
        "MEAN, COUNT in [1e16, 1e16 + 2]", [metrics.MEAN, metrics.COUNT], **far, min_value=1e16, max_value=1e16 + 2
    )
    yield aggregation(
        "SUM, values above 1 missing",
        [metrics.SUM],
        high=2.0,
        rows=lambda person, value: [(person, 0, math.nan if value > 1 else value)],
        **unit,
    )
    for words, noise in (("SUM", {}), ("SUM, gaussian", gaussian)):
        yield aggregation(
            f"{words}, everybody in 3 partitions of which 2 count",
            [metrics.SUM],
            rows=lambda person, value: [(person, key, value) for key in range(3)],
            keys=(0, 1, 2),
            **{**unit, **noise, "max_partitions_contributed": 2},
        )
    yield aggregation(
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
    yield aggregation("SUM bounded by partition, 2 rows each", [metrics.SUM], **twice)
    yield aggregation(
        "SUM bounded by partition, 2 rows each, bounds already enforced",
        [metrics.SUM],
        **twice,
        contribution_bounds_already_enforced=True,
        calls=2 * CALLS,
    )
    yield aggregation("COUNT, partitions selected", [metrics.COUNT], selected=True, delta=0.1)
    yield aggregation(
        "COUNT, partitions selected, everybody in 3 of 3",
        [metrics.COUNT],
        rows=lambda person, value: [(person, key, value) for key in range(3)],
        selected=True,
        neighbours=FIRST,  # selected with a bound of 1, some partition of a first person is seen with probability 0.27
        delta=0.1,
        max_partitions_contributed=3,
    )
    yield aggregation(
        "PRIVACY_ID_COUNT, thresholded",
        [metrics.PRIVACY_ID_COUNT],
        selected=True,
        delta=0.1,
        post_aggregation_thresholding=True,
    )
