"""The selection of partitions: the decisions of each strategy, and that of the engine."""

from __future__ import annotations

import functools
import math
from statistics import NormalDist

import numpy as np
import pipeline_dp as dp
from pipeline_dp import dp_computations, partition_selection

from dpassay.adapter import Mechanism, Relations, spends
from dpassay.impl.libraries.references import marked, near

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
    """Yield the strategies by themselves, in the engine, with weights and for several partitions."""
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
    yield Relations(
        "selections, several partitions",
        {
            "thresholds split delta, and noise grows with the partitions": marked(
                _noise_of_partitions, spends, "alone"
            ),
            "a truncated geometric selection splits epsilon and delta": marked(
                _geometric_of_partitions, spends, "more than"
            ),
        },
    )


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


# --- several partitions --------------------------------------------------------------------------------------------


def _share(delta, partitions):
    """Return the probability for each of some partitions of which one alone is kept with probability delta."""
    return -math.expm1(math.log1p(-delta) / partitions)


def _laplace_tail(distance):
    return 0.5 * math.exp(-distance) if distance > 0 else 1 - 0.5 * math.exp(distance)


def _normal_tail(distance):
    return 0.5 * math.erfc(distance / math.sqrt(2))


def _noise_of_partitions(random):
    """Check thresholds from the deviation of the noise for one partition and the delta for all of a person."""
    for partitions in (1, *random.sample(range(2, 8), 2)):
        sigma, delta = random.uniform(0.6, 4.0), 10 ** random.uniform(-6, -1.5)
        share, before = _share(delta, partitions), random.randint(2, 9)
        for make, scale, far, tail, most in (
            (
                partition_selection.create_laplace_thresholding,
                sigma / math.sqrt(2) * partitions,
                -math.log(2 * share),
                _laplace_tail,
                1e-9,
            ),
            (
                partition_selection.create_gaussian_thresholding,
                sigma * math.sqrt(partitions),
                -NormalDist().inv_cdf(share),
                _normal_tail,
                3e-3,  # the deviation is that of an epsilon, which a search for the deviation ends a little above
            ),
        ):
            strategy, late = make(sigma, delta, partitions), make(sigma, delta, partitions, before)
            words = f"{make.__name__}({sigma!r}, {delta!r}, {partitions})"
            threshold = float(strategy.threshold)
            found = (threshold - 1) / far
            alone = float(strategy.probability_of_keep(1))
            yield f"alone, {words}", 0.0, alone, share * (1 + 1e-6) + 1e-12
            yield f"{words}, scale", scale * (1 - 1e-9), found, scale * (1 + most)
            # one person, some at whom the decision is open, and the whole number above the threshold
            for people in (1, 2, math.ceil(threshold / 2), math.ceil(threshold)):
                kept = near(strategy.probability_of_keep(people), tail((threshold - people) / found), 1e-6, 1e-12)
                yield f"{words}, {people} people", *kept
                kept = near(late.probability_of_keep(people + before - 1), kept[1])
                yield f"{words}, pre_threshold {before}, {people} people more than {before - 1}", *kept
            yield f"{words}, pre_threshold {before}, fewer", 0.0, late.probability_of_keep(before - 1), 0.0


def _geometric_of_partitions(random):
    """Check that each person more changes a decision as much as the losses for one partition allow, and not more."""
    for partitions in (1, *random.sample(range(2, 8), 2)):
        epsilon, delta = random.uniform(0.3, 4.0), 10 ** random.uniform(-5, -1.5)
        share, growth = _share(delta, partitions), math.exp(epsilon / partitions)
        strategy = partition_selection.create_partition_selection_strategy(
            _Strategies.TRUNCATED_GEOMETRIC, epsilon, delta, partitions
        )
        words = f"truncated geometric({epsilon!r}, {delta!r}, {partitions})"
        kept = before = 0.0
        for people in range(1, 30):
            found, most = float(strategy.probability_of_keep(people)), min(growth * before + share, 1.0)
            most = min(most, 1 - (1 - before - share) / growth)
            yield f"more than {people - 1} people allow, {words}", 0.0, found, most * (1 + 1e-9) + 1e-12
            before = found
            kept = min(growth * kept + share, 1 - (1 - kept - share) / growth, 1.0)
            yield f"{words}, {people} people", *near(found, kept, 1e-6)
