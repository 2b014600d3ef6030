"""The selection of partitions: the decisions of each strategy, and that of the engine."""

from __future__ import annotations

import functools
import math

import numpy as np
import pipeline_dp as dp
from pipeline_dp import dp_computations, partition_selection

from dpassay.adapter import Mechanism

__all__ = ["selections"]

_Strategies = dp.PartitionSelectionStrategy


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


def selections():
    """Yield the strategies by themselves, in the engine and with weights."""
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
