"""Facts about what is handed over: budgets, bounds and counts, to noise, to scores and to the selection of partitions.

What selects below the library is replaced by recorders, which keep everything, and note what they are made with and
what they are asked: that is compared with the parameters and the records that the engine was given.
"""

from __future__ import annotations

import collections
import itertools
import math
from unittest import mock

import pipeline_dp as dp
from pipeline_dp import dp_computations
from pipeline_dp.aggregate_params import MechanismType
from pipeline_dp_recorders import PROTECTING, drawn, for_each
from pydp.algorithms import partition_selection

from dpassay.adapter import Relations, spends
from dpassay.impl.libraries.references import gaussian_epsilon, marked, near

__all__ = ["budgets"]


# --- the selection of partitions -----------------------------------------------------------------------------------


def _asked(records, params, accountant):
    """Return what the selections of an aggregation, or of `select_partitions`, were made with and were asked."""
    asked = []

    def create(name, epsilon, delta, partitions, before=None):
        class Selection:
            """A selection that keeps every partition."""

            def should_keep(self, people):
                """Return True, and note the call."""
                asked.append(((name, epsilon, delta, partitions, before), float(people)))
                return True

            def noised_value_if_should_keep(self, people):
                """Return the number without noise, and note the call."""
                self.should_keep(people)
                return float(people)

        return Selection()

    engine = dp.DPEngine(accountant, dp.LocalBackend())
    extractors = dp.DataExtractors(
        privacy_id_extractor=None if params.contribution_bounds_already_enforced else (lambda row: row[0]),
        partition_extractor=lambda row: row[1],
        value_extractor=lambda _: 0.0,
    )
    run = engine.select_partitions if isinstance(params, dp.SelectPartitionsParams) else engine.aggregate
    with mock.patch.object(partition_selection, "create_partition_strategy", create):
        result = run(records, params, extractors)
        accountant.compute_budgets()
        list(result)
    return asked


def _compared(words, asked, wanted, counts):
    """Yield comparisons of what selections were made with, and of the counts, or sums of weights, that they got."""
    name, epsilon, delta, partitions, before = wanted
    for (found, one, other, bound, threshold), _ in asked[:1]:
        yield f"{words}, {found}", 1.0, float(found == name), 1.0
        # the noise for sums of weights is found by a search
        yield (f"spent epsilon, {words}", *near(one, epsilon, relative=5e-3))
        yield (f"spent delta, {words}", *near(other, delta, absolute=0.0))
        yield (f"moved partitions for each of those that are told, {words}", *near(for_each(partitions, bound), 1.0))
        yield f"{words}, pre_threshold {threshold}", 1.0, float(threshold == before), 1.0
    yield f"{words}, different selections", 1.0, float(len({made for made, _ in asked})), 1.0
    yield f"{words}, partitions", float(len(counts)), float(len(asked)), float(len(counts))
    for count, exact in zip(sorted(count for _, count in asked), sorted(counts)):
        yield (f"{words}, a count", *near(count, exact))


def _crowd(random, most, rows):
    """Return the partitions of people, at most `most` each, and their records, at most `rows` in a partition."""
    taken = [random.sample(range(most + 2), random.randint(1, most)) for _ in range(random.randint(4, 9))]
    records = [
        (person, key) for person, own in enumerate(taken) for key in own for _ in range(random.randint(1, rows))
    ]
    return taken, records


def _everywhere(people, keys):
    """Return a record of everybody in each partition."""
    return [(person, key) for person in range(people) for key in range(keys)]


def _summed(taken, power=0):
    """Return the sums over the people of each partition of the number of their partitions to a power."""
    sums = collections.Counter()
    for own in taken:
        for key in own:
            sums[key] += len(own) ** power
    return list(sums.values())


def _budget(random):
    """Return an epsilon and a delta."""
    return random.uniform(0.3, 4), 10 ** random.uniform(-8, -2)


_STRATEGIES = {
    "truncated_geometric": dp.PartitionSelectionStrategy.TRUNCATED_GEOMETRIC,
    "laplace": dp.PartitionSelectionStrategy.LAPLACE_THRESHOLDING,
    "gaussian": dp.PartitionSelectionStrategy.GAUSSIAN_THRESHOLDING,
}


def _selected(random):
    """Compare what partitions are selected with, and the counts they are selected by, with parameters and records."""
    for most, rows, threshold in drawn(random, 3, 5):
        yield from _selected_with(random, most, rows, threshold)


def _selected_with(random, most, rows, threshold):
    """Yield comparisons of selections with bounds on partitions and on records, and without and with a threshold."""
    epsilon, delta = _budget(random)
    taken, records = _crowd(random, most, rows)
    everywhere = _everywhere(len(taken), most + 2)
    lengths = collections.Counter(key for _, key in records).values()
    least = [math.ceil(length / rows) for length in lengths]  # as many people have so many rows
    for name, before in itertools.product(_STRATEGIES, (None, threshold)):
        shared = {
            "max_partitions_contributed": most,
            "partition_selection_strategy": _STRATEGIES[name],
            "pre_threshold": before,
        }
        select = dp.SelectPartitionsParams(**shared)
        count = {"metrics": [dp.Metrics.COUNT], "max_contributions_per_partition": rows, **shared}
        aggregate = dp.AggregateParams(**count)
        enforced = dp.AggregateParams(**count, contribution_bounds_already_enforced=True)
        for call, params, share, people in (
            ("select_partitions", select, 1, _summed(taken)),
            ("aggregate", aggregate, 2, _summed(taken)),  # half of epsilon is spent on the count
            ("aggregate, bounds already enforced", enforced, 2, least),
        ):
            words = f"{call}, {name}, epsilon {epsilon!r}, delta {delta!r}, {most} partitions, {rows} rows"
            asked = _asked(records, params, dp.NaiveBudgetAccountant(epsilon, delta))
            yield from _compared(words, asked, (name, epsilon / share, delta, most, before), people)
        for call, params in (("select_partitions", select), ("aggregate", aggregate)):
            asked = _asked(everywhere, params, dp.NaiveBudgetAccountant(epsilon, delta))
            total = math.fsum(people for _, people in asked)
            words = f"{call}, {name}, {len(taken)} people in {most + 2} partitions, of which {most} count"
            yield (f"moved counts, {words}", *near(total, most * len(taken)))


def _thresholded(random):
    """Compare what noisy counts of people are thresholded with, and the counts, with parameters and records."""
    for kind, (most, rows, before) in itertools.product(dp.NoiseKind, drawn(random, 3, 5)):
        epsilon, delta = _budget(random)
        taken, records = _crowd(random, most, rows)
        params = dp.AggregateParams(
            metrics=[dp.Metrics.PRIVACY_ID_COUNT],
            noise_kind=kind,
            max_partitions_contributed=most,
            max_contributions_per_partition=rows,
            pre_threshold=before,
            post_aggregation_thresholding=True,
        )
        words = f"{kind}, epsilon {epsilon!r}, delta {delta!r}, {most} partitions, {rows} rows"
        asked = _asked(records, params, dp.NaiveBudgetAccountant(epsilon, delta))
        yield from _compared(words, asked, (kind.value, epsilon, delta, most, before), _summed(taken))
        asked = _asked(_everywhere(len(taken), most + 2), params, dp.NaiveBudgetAccountant(epsilon, delta))
        words = f"{words}, {len(taken)} people in {most + 2} partitions"
        yield (f"moved counts, {words}", *near(math.fsum(people for _, people in asked), most * len(taken)))


def _by_deviation(random):
    """Compare what partitions are selected with, beside a count, with what an accountant of losses hands out."""
    epsilon, delta = random.uniform(0.5, 3), 10 ** random.uniform(-6, -2)
    most, rows, before = random.sample(range(2, 6), 3)
    taken, records = _crowd(random, most, rows)
    for name in ("laplace", "gaussian"):
        params = dp.AggregateParams(
            metrics=[dp.Metrics.COUNT],
            max_partitions_contributed=most,
            max_contributions_per_partition=rows,
            partition_selection_strategy=_STRATEGIES[name],
            pre_threshold=before,
        )
        # the default of 1e-4 takes seconds
        accountant = dp.PLDBudgetAccountant(epsilon, delta, pld_discretization=2e-3)
        asked = _asked(records, params, accountant)
        (spec,) = (spec for spec in accountant.mechanism_specs if spec.mechanism_type.is_thresholding_mechanism)
        deviation, reserved = spec.noise_standard_deviation, spec.thresholding_delta
        if name == "laplace":
            wanted = math.sqrt(2) / deviation, reserved
        else:  # made with a delta of which half is for the noise, and half for the threshold
            wanted = gaussian_epsilon(deviation, reserved), 2 * reserved
        words = f"aggregate, {name}, PLDBudgetAccountant({epsilon!r}, {delta!r}), {most} partitions, {rows} rows"
        yield from _compared(words, asked, (name, *wanted, most, before), _summed(taken))


def _weighted(random, strategy):
    """Compare what partitions are selected with by weights, and sums of weights, with parameters and records."""
    for (most,) in drawn(random, 1, 5):
        epsilon, delta = _budget(random)
        taken, records = _crowd(random, most, random.randint(2, 5))
        params = dp.SelectPartitionsParams(max_partitions_contributed=most, partition_selection_strategy=strategy)
        words = f"epsilon {epsilon!r}, delta {delta!r}, {most} partitions"
        asked = _asked(records, params, dp.NaiveBudgetAccountant(epsilon, delta))
        yield from _compared(words, asked, ("gaussian", epsilon, delta, most, None), _summed(taken, -0.5))
        asked = _asked(_everywhere(len(taken), most + 2), params, dp.NaiveBudgetAccountant(epsilon, delta))
        words = f"weights of {len(taken)} people in {most + 2} partitions, of which {most} count"
        yield (
            f"moved weights, {words}",
            *near(math.fsum(weight for _, weight in asked), math.sqrt(most) * len(taken)),
        )


# --- the choice of a bound -----------------------------------------------------------------------------------------


def _chosen(random):
    """Compare what the choice of a contribution bound is made with, with the parameters and the records."""
    for upper, keys in drawn(random, 2, 7):
        yield from _chosen_up_to(random, upper, keys)


def _chosen_up_to(random, upper, keys):
    """Yield comparisons of the choice of a bound up to an upper one, or the number of partitions."""
    spent, later = random.uniform(0.2, 0.9), random.uniform(1.5, 4)
    taken = [random.sample(range(keys), random.randint(1, keys)) for _ in range(random.randint(3, 8))]
    # one partition twice, which counts once, and one that is not among those asked for
    records = [(person, key) for person, own in enumerate(taken) for key in [*own, own[0], -1]]
    params = dp.CalculatePrivateContributionBoundsParams(
        aggregation_noise_kind=dp.NoiseKind.LAPLACE,
        aggregation_eps=later,
        aggregation_delta=0.0,
        calculation_eps=spent,
        max_partitions_contributed_upper_bound=upper,
    )
    asked = []

    class Choice:
        """A choice that takes the last candidate."""

        def __init__(self, scores):
            self._scores = scores

        def apply(self, eps, inputs_to_score_col):
            """Return the last candidate, and note the call."""
            asked.append((self._scores, eps, inputs_to_score_col))
            return inputs_to_score_col[-1]

    engine = dp.DPEngine(dp.NaiveBudgetAccountant(1.0, 0.0), dp.LocalBackend())
    extractors = dp.DataExtractors(lambda row: row[0], lambda row: row[1], lambda _: 0.0)
    with mock.patch.object(dp_computations, "ExponentialMechanism", Choice):
        found = list(engine.calculate_private_contribution_bounds(records, params, extractors, list(range(keys))))
    most = min(upper, keys)
    words = f"at most {upper} of {keys} partitions, epsilon {spent!r}, then {later!r}"
    yield f"spent choices, {words}", 1.0, float(len(asked)), 1.0
    yield f"{words}, the last bound", float(most), float(found[0].max_partitions_contributed), float(most)
    for scores, epsilon, candidates in asked:
        yield (f"spent epsilon, {words}", *near(epsilon, spent))
        yield (f"moved for each unit that is told, {words}", *near(for_each(most, scores.global_sensitivity), 1.0))
        yield f"{words}, scores are monotonic", 1.0, float(scores.is_monotonic), 1.0
        yield f"{words}, candidates", 1.0, float(list(candidates) == list(range(1, most + 1))), 1.0
        for bound in candidates:
            noise = keys * math.sqrt(2) * bound / later
            dropped = sum(max(min(len(own), most) - bound, 0) for own in taken)
            yield (f"{words}, score of {bound}", *near(scores.score(bound), -0.5 * noise - 0.5 * dropped))


def _handed(name, relations):
    """Return the case of relations between what is handed over and what protects people."""
    return Relations(name, {words: marked(relation, spends, *PROTECTING) for words, relation in relations.items()})


def budgets():
    """Yield the cases."""
    yield _handed(
        "DPEngine, calculate_private_contribution_bounds", {"scores are as the parameters and records say": _chosen}
    )
    yield _handed(
        "DPEngine, selection of partitions",
        {
            "select_partitions and aggregate hand over budgets, bounds, kinds and counts": _selected,
            "thresholding hands over budgets, bounds, kinds and counts": _thresholded,
        },
    )
    weighted = dp.PartitionSelectionStrategy.WEIGHTED_GAUSSIAN_THRESHOLDING  # older versions have none
    yield _handed(
        "DPEngine, weighted selection of partitions",
        {"weights are those of people": lambda random: _weighted(random, weighted)},
    )
    dp.PLDBudgetAccountant(1.0, 0.1).request_budget(MechanismType.LAPLACE_THRESHOLDING)  # nor have they thresholds
    yield _handed(
        "DPEngine, selection of partitions by deviations",
        {"aggregate hands over noise, thresholds, kinds and counts": _by_deviation},
    )
