"""Facts about what is handed over: budgets, bounds and counts, to noise, to scores and to the selection of partitions.

What selects below the library is replaced by recorders, which keep everything, and note what they are made with and
what they are asked: that is compared with the parameters and the records that the engine was given.
"""

from __future__ import annotations

import collections
import contextlib
import itertools
import math

import numpy as np
import pipeline_dp as dp
from pipeline_dp import dp_computations
from pipeline_dp.aggregate_params import MechanismType
from pydp.algorithms import partition_selection
from scipy.special import ndtr

from dpassay.adapter import Relations
from dpassay.impl.libraries.references import near

__all__ = ["budgets"]


@contextlib.contextmanager
def _replaced(owner, name, substitute):
    kept = getattr(owner, name)
    setattr(owner, name, substitute)
    try:
        yield
    finally:
        setattr(owner, name, kept)


# --- the selection of partitions -----------------------------------------------------------------------------------


def _asked(records, params, epsilon, delta):
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

    accountant = dp.NaiveBudgetAccountant(epsilon, delta)
    engine = dp.DPEngine(accountant, dp.LocalBackend())
    extractors = dp.DataExtractors(
        privacy_id_extractor=None if params.contribution_bounds_already_enforced else (lambda row: row[0]),
        partition_extractor=lambda row: row[1],
        value_extractor=lambda _: 0.0,
    )
    run = engine.select_partitions if isinstance(params, dp.SelectPartitionsParams) else engine.aggregate
    with _replaced(partition_selection, "create_partition_strategy", create):
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
        yield (f"{words}, epsilon", *near(one, epsilon, relative=5e-3))
        yield (f"{words}, delta", *near(other, delta, absolute=0.0))
        yield f"{words}, max_partitions_contributed", float(partitions), float(bound), float(partitions)
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


def _summed(taken, power=0):
    """Return the sums over the people of each partition of the number of their partitions to a power."""
    sums = collections.Counter()
    for own in taken:
        for key in own:
            sums[key] += len(own) ** power
    return list(sums.values())


def _setting(random):
    """Return an epsilon, a delta and three bounds that differ."""
    return random.uniform(0.3, 4), 10 ** random.uniform(-8, -2), *random.sample(range(2, 6), 3)


_STRATEGIES = {
    "truncated_geometric": dp.PartitionSelectionStrategy.TRUNCATED_GEOMETRIC,
    "laplace": dp.PartitionSelectionStrategy.LAPLACE_THRESHOLDING,
    "gaussian": dp.PartitionSelectionStrategy.GAUSSIAN_THRESHOLDING,
}


def _selected(random):
    """Compare what partitions are selected with, and the counts they are selected by, with parameters and records."""
    epsilon, delta, most, rows, threshold = _setting(random)
    taken, records = _crowd(random, most, rows)
    everywhere = [(person, key) for person in range(len(taken)) for key in range(most + 2)]
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
            asked = _asked(records, params, epsilon, delta)
            yield from _compared(words, asked, (name, epsilon / share, delta, most, before), people)
        for call, params in (("select_partitions", select), ("aggregate", aggregate)):
            total = math.fsum(people for _, people in _asked(everywhere, params, epsilon, delta))
            words = f"{call}, {name}, {len(taken)} people in {most + 2} partitions, of which {most} count"
            yield (words, *near(total, most * len(taken)))


def _thresholded(random):
    """Compare what noisy counts of people are thresholded with, and the counts, with parameters and records."""
    epsilon, delta, most, rows, before = _setting(random)
    taken, records = _crowd(random, most, rows)
    for kind in dp.NoiseKind:
        params = dp.AggregateParams(
            metrics=[dp.Metrics.PRIVACY_ID_COUNT],
            noise_kind=kind,
            max_partitions_contributed=most,
            max_contributions_per_partition=rows,
            pre_threshold=before,
            post_aggregation_thresholding=True,
        )
        words = f"{kind}, epsilon {epsilon!r}, delta {delta!r}, {most} partitions, {rows} rows"
        asked = _asked(records, params, epsilon, delta)
        yield from _compared(words, asked, (kind.value, epsilon, delta, most, before), _summed(taken))


def _weighted(random, strategy):
    """Compare what partitions are selected with by weights, and sums of weights, with parameters and records."""
    epsilon, delta, most, rows, _ = _setting(random)
    taken, records = _crowd(random, most, rows)
    params = dp.SelectPartitionsParams(max_partitions_contributed=most, partition_selection_strategy=strategy)
    words = f"epsilon {epsilon!r}, delta {delta!r}, {most} partitions"
    asked = _asked(records, params, epsilon, delta)
    sums = _summed(taken, -0.5)
    yield from _compared(words, asked, ("gaussian", epsilon, delta, most, None), sums)
    everywhere = [(person, key) for person in range(len(taken)) for key in range(most + 2)]
    total = math.fsum(weight for _, weight in _asked(everywhere, params, epsilon, delta))
    words = f"weights of {len(taken)} people in {most + 2} partitions, of which {most} count"
    yield (words, *near(total, math.sqrt(most) * len(taken)))


# --- the choice of a bound -----------------------------------------------------------------------------------------


def _chosen(random):
    """Compare what the choice of a contribution bound is made with, with the parameters and the records."""
    upper, keys = random.sample(range(3, 8), 2)
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
    with _replaced(dp_computations, "ExponentialMechanism", Choice):
        found = list(engine.calculate_private_contribution_bounds(records, params, extractors, list(range(keys))))
    most = min(upper, keys)
    words = f"at most {upper} of {keys} partitions, epsilon {spent!r}, then {later!r}"
    yield f"{words}, choices", 1.0, float(len(asked)), 1.0
    yield f"{words}, the last bound", float(most), float(found[0].max_partitions_contributed), float(most)
    for scores, epsilon, candidates in asked:
        yield (f"{words}, epsilon", *near(epsilon, spent))
        yield (f"{words}, sensitivity", *near(scores.global_sensitivity, most))
        yield f"{words}, scores are monotonic", 1.0, float(scores.is_monotonic), 1.0
        yield f"{words}, candidates", 1.0, float(list(candidates) == list(range(1, most + 1))), 1.0
        for bound in candidates:
            noise = keys * math.sqrt(2) * bound / later
            dropped = sum(max(min(len(own), most) - bound, 0) for own in taken)
            yield (f"{words}, score of {bound}", *near(scores.score(bound), -0.5 * noise - 0.5 * dropped))


# --- the accountant by privacy loss distributions ------------------------------------------------------------------


def _delta_of(epsilon, scales, sigma):
    """Return the delta of Laplace noises of these scales and a Gaussian one, each on a number that moves by 1.

    A Laplace noise of scale b has the loss 1 / b with probability 1 / 2, -1 / b with probability exp(-1 / b) / 2, and
    (1 - 2 x) / b with density exp(-x / b) / (2 b) for x between 0 and 1. The delta of the Gaussian noise is averaged
    over what these losses leave of epsilon (Balle and Wang 2018, Thm 8).
    """
    left, weights = np.array([epsilon]), np.array([1.0])
    nodes, of_nodes = np.polynomial.legendre.leggauss(24)
    for b in scales:
        x = (nodes + 1) / 2
        losses = np.concatenate([[1 / b, -1 / b], (1 - 2 * x) / b])
        chances = np.concatenate([[0.5, math.exp(-1 / b) / 2], of_nodes / 2 * np.exp(-x / b) / (2 * b)])
        left = np.subtract.outer(left, losses).ravel()
        weights = np.multiply.outer(weights, chances).ravel()
    deltas = ndtr(0.5 / sigma - left * sigma) - np.exp(left) * ndtr(-0.5 / sigma - left * sigma)
    return float(weights @ deltas)


def _composed(random):
    """Compare the loss of all noise that is handed out to unequal requests with the whole budget."""
    epsilon, delta = random.uniform(0.5, 3), 10 ** random.uniform(-6, -2)
    weights = [weight * random.uniform(0.8, 1.2) for weight in random.sample([0.5, 1.0, 2.0, 4.0], 3)]
    counts = random.randint(1, 2), random.randint(1, 3), random.randint(1, 3)
    kinds = MechanismType.LAPLACE, MechanismType.GAUSSIAN, MechanismType.GAUSSIAN
    # the default of 1e-4 takes seconds
    accountant = dp.PLDBudgetAccountant(epsilon, delta, pld_discretization=2e-3)
    requests = list(zip(kinds, weights, counts))
    random.shuffle(requests)
    specs = [accountant.request_budget(kind, weight=weight, count=count) for kind, weight, count in requests]
    accountant.compute_budgets()
    deviations = [spec.noise_standard_deviation for spec in specs]
    scales, precision = [], 0.0
    for deviation, (kind, _, count) in zip(deviations, requests):
        scales += [deviation / math.sqrt(2)] * count if kind is MechanismType.LAPLACE else []
        precision += count / deviation**2 if kind is MechanismType.GAUSSIAN else 0.0
    words = ", ".join(f"{kind.value} of weight {weight!r} {count} times" for kind, weight, count in requests)
    words = f"PLDBudgetAccountant({epsilon!r}, {delta!r}), {words}"
    spent = _delta_of(epsilon, scales, 1 / math.sqrt(precision))
    yield f"{words}, delta", delta * 0.98, spent, delta * (1 + 1e-6)
    base = deviations[0] * requests[0][1]
    for deviation, (kind, weight, _) in zip(deviations, requests):
        yield (f"{words}, deviation of {kind.value} times {weight!r}", *near(deviation * weight, base))


def _added(random):
    """Compare the sum of the losses of unequal requests without delta with the whole epsilon."""
    epsilon, weights = random.uniform(0.3, 5), [random.uniform(0.3, 6) for _ in range(random.randint(2, 5))]
    accountant = dp.PLDBudgetAccountant(epsilon, 0.0)
    specs = [accountant.request_budget(MechanismType.LAPLACE, weight=weight) for weight in weights]
    accountant.compute_budgets()
    losses = [math.sqrt(2) / spec.noise_standard_deviation for spec in specs]
    words = f"PLDBudgetAccountant({epsilon!r}, 0), Laplace of weights {weights!r}"
    yield (f"{words}, epsilon", *near(math.fsum(losses), epsilon))
    for loss, weight in zip(losses, weights):
        yield (f"{words}, epsilon of {weight!r}", *near(loss, epsilon * weight / math.fsum(weights)))


def _selections(random):
    """Check that a selection of partitions beside noise gets no more than the total, whatever its strategy."""
    epsilon, delta = random.uniform(0.5, 3), 10 ** random.uniform(-6, -2)
    accountant = dp.PLDBudgetAccountant(epsilon, delta, pld_discretization=2e-3)
    accountant.request_budget(MechanismType.LAPLACE, weight=random.uniform(0.3, 0.8))
    weight = random.uniform(4, 9)
    selection = accountant.request_budget(MechanismType.TRUNCATED_GEOMETRIC, weight=weight)
    accountant.compute_budgets()
    words = f"PLDBudgetAccountant({epsilon!r}, {delta!r}), a selection of weight {weight!r}"
    yield f"{words}, epsilon", 0.0, selection.eps, epsilon * (1 + 1e-9)
    yield f"{words}, delta", 0.0, selection.delta, delta * (1 + 1e-9)


def budgets():
    """Yield the cases."""
    yield Relations(
        "DPEngine, calculate_private_contribution_bounds", {"scores are as the parameters and records say": _chosen}
    )
    yield Relations(
        "DPEngine, selection of partitions",
        {
            "select_partitions and aggregate hand over bounds, budget and counts": _selected,
            "thresholding hands over bounds, budget and counts": _thresholded,
        },
    )
    yield Relations("PLDBudgetAccountant, several requests", {"losses without delta add up to epsilon": _added})
    yield Relations("PLDBudgetAccountant, selections", {"a selection gets no more than the total": _selections})
    dp.PLDBudgetAccountant(1.0, 0.0).request_budget(MechanismType.LAPLACE, count=3)  # older versions refuse a count
    yield Relations("PLDBudgetAccountant, several kinds", {"the noise of all requests spends the budget": _composed})
    weighted = dp.PartitionSelectionStrategy.WEIGHTED_GAUSSIAN_THRESHOLDING  # older versions have none
    yield Relations(
        "DPEngine, weighted selection of partitions",
        {"weights are those of people": lambda random: _weighted(random, weighted)},
    )
