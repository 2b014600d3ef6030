"""Facts about the accountant by privacy loss distributions: the loss of all that it hands out is the whole budget."""

from __future__ import annotations

import math

import numpy as np
import pipeline_dp as dp
from pipeline_dp.aggregate_params import MechanismType
from pipeline_dp_recorders import PROTECTING
from scipy.special import ndtr

from dpassay.adapter import Relations, spends
from dpassay.impl.libraries.references import marked, near

__all__ = ["accountants"]


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


def _spent(requests, deviations, epsilon):
    """Return the delta at an epsilon of the noise of some deviations that was handed out to requests."""
    scales, precision = [], 0.0
    for deviation, (kind, _, count) in zip(deviations, requests):
        if kind in (MechanismType.GAUSSIAN, MechanismType.GAUSSIAN_THRESHOLDING):
            precision += count / deviation**2
        else:
            scales += [deviation / math.sqrt(2)] * count
    return _delta_of(epsilon, scales, 1 / math.sqrt(precision))


def _weights(random, number):
    """Return weights that differ."""
    return [weight * random.uniform(0.8, 1.2) for weight in random.sample([0.5, 1.0, 2.0, 4.0], number)]


def _requested(requests, epsilon, delta):
    """Return what an accountant hands out to requests, and words with them."""
    # the default of 1e-4 takes seconds
    accountant = dp.PLDBudgetAccountant(epsilon, delta, pld_discretization=2e-3)
    specs = [accountant.request_budget(kind, weight=weight, count=count) for kind, weight, count in requests]
    accountant.compute_budgets()
    words = ", ".join(f"{kind.value} of weight {weight!r} {count} times" for kind, weight, count in requests)
    return specs, f"PLDBudgetAccountant({epsilon!r}, {delta!r}), {words}"


def _by_weights(words, requests, deviations):
    """Yield comparisons of the deviations of requests with their weights."""
    base = deviations[0] * requests[0][1]
    for deviation, (kind, weight, _) in zip(deviations, requests):
        yield (f"{words}, deviation of {kind.value} times {weight!r}", *near(deviation * weight, base))


def _composed(random):
    """Compare the loss of all noise that is handed out to unequal requests with the whole budget."""
    epsilon, delta = random.uniform(0.5, 3), 10 ** random.uniform(-6, -2)
    counts = random.randint(1, 2), random.randint(1, 3), random.randint(1, 3)
    kinds = MechanismType.LAPLACE, MechanismType.GAUSSIAN, MechanismType.GAUSSIAN
    requests = list(zip(kinds, _weights(random, 3), counts))
    random.shuffle(requests)
    specs, words = _requested(requests, epsilon, delta)
    deviations = [spec.noise_standard_deviation for spec in specs]
    yield f"spent delta, {words}", delta * 0.98, _spent(requests, deviations, epsilon), delta * (1 + 1e-6)
    yield from _by_weights(words, requests, deviations)


def _reserved(random):
    """Compare the loss of all noise and the deltas of all thresholds, with noise beside selections, with the budget.

    A selection hides a new partition but with the delta of its threshold, which adds to that of the noise.
    """
    epsilon, delta = random.uniform(0.5, 3), 10 ** random.uniform(-6, -2)
    both = [MechanismType.LAPLACE_THRESHOLDING, MechanismType.GAUSSIAN_THRESHOLDING]
    selections = both + random.sample(both, random.randint(0, 1))
    kinds = [(kind, 1) for kind in selections] + [(MechanismType.GAUSSIAN, random.randint(1, 4))]
    random.shuffle(kinds)
    requests = [(kind, weight, count) for (kind, count), weight in zip(kinds, _weights(random, len(kinds)))]
    specs, words = _requested(requests, epsilon, delta)
    deviations = [spec.noise_standard_deviation for spec in specs]
    thresholds = [spec.thresholding_delta for spec, (kind, _, _) in zip(specs, requests) if kind in both]
    by_noise, kept = _spent(requests, deviations, epsilon), -math.expm1(sum(math.log1p(-one) for one in thresholds))
    yield f"{words}, delta", delta * 0.98, by_noise + math.fsum(thresholds), delta * (1 + 1e-6)
    # a person of partitions with others moves the noise, and one of new partitions passes the thresholds
    yield f"spent delta of the noise, {words}", 0.0, by_noise, delta * (1 + 1e-6)
    yield f"spent delta of the thresholds, {words}", 0.0, kept, delta * (1 + 1e-9)
    for threshold in thresholds:
        yield (f"{words}, delta of a threshold", *near(threshold, thresholds[0], absolute=0.0))
    yield from _by_weights(words, requests, deviations)


def _repeated(random):
    """Check that selections that are applied several times keep no partition of one person beyond the total delta.

    Each keeps it with the delta of the threshold, and none without the person.
    """
    for kind in (MechanismType.LAPLACE_THRESHOLDING, MechanismType.GAUSSIAN_THRESHOLDING):
        epsilon, delta, count = random.uniform(0.5, 3), 10 ** random.uniform(-6, -2), random.randint(6, 40)
        (spec,), words = _requested([(kind, 1.0, count)], epsilon, delta)
        kept = -math.expm1(count * math.log1p(-spec.thresholding_delta))
        yield f"{words}, chance that a new partition is kept", 0.0, kept, delta * (1 + 1e-9)


def _added(random):
    """Compare the sum of the losses of unequal requests without delta with the whole epsilon."""
    epsilon, weights = random.uniform(0.3, 5), [random.uniform(0.3, 6) for _ in range(random.randint(2, 5))]
    accountant = dp.PLDBudgetAccountant(epsilon, 0.0)
    specs = [accountant.request_budget(MechanismType.LAPLACE, weight=weight) for weight in weights]
    accountant.compute_budgets()
    losses = [math.sqrt(2) / spec.noise_standard_deviation for spec in specs]
    words = f"PLDBudgetAccountant({epsilon!r}, 0), Laplace of weights {weights!r}"
    yield (f"spent epsilon, {words}", *near(math.fsum(losses), epsilon))
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


class _Backend(dp.LocalBackend):
    """A backend that keeps the budgets of annotations."""

    def __init__(self):
        self.stated = []

    def annotate(self, col, _, **more):
        """Keep the budgets, and return the collection."""
        self.stated += more["budget"]
        return col


def _budgets(random):
    """Return what annotations state of the budgets of two aggregations, what is handed out, and words with both."""
    epsilon, delta = random.uniform(0.3, 4), 10 ** random.uniform(-8, -2)
    accountant, backend = dp.NaiveBudgetAccountant(epsilon, delta, num_aggregations=2), _Backend()
    engine = dp.DPEngine(accountant, backend)
    extractors = dp.DataExtractors(lambda row: row[0], lambda row: row[1], lambda row: row[2])
    for kind, public in ((dp.NoiseKind.LAPLACE, [0]), (dp.NoiseKind.GAUSSIAN, random.choice([[0], None]))):
        params = dp.AggregateParams(
            metrics=[dp.Metrics.COUNT],
            noise_kind=kind,
            max_partitions_contributed=random.randint(1, 3),
            max_contributions_per_partition=random.randint(1, 3),
        )
        engine.aggregate([(1, 0, 1.0)], params, extractors, public_partitions=public)
    accountant.compute_budgets()
    handed = [(spec.eps, spec.delta) for spec in accountant.mechanism_specs]
    return backend.stated, handed, f"NaiveBudgetAccountant({epsilon!r}, {delta!r}, num_aggregations=2)"


def _annotations(random):
    """Check that annotations state as many budgets as are handed out."""
    stated, handed, words = _budgets(random)
    yield words, len(handed), len(stated), len(handed)


def _annotated(random, number):
    """Compare one number of the budgets that annotations state, with that which is handed out."""
    budgets, handed, words = _budgets(random)
    for stated, found in zip(budgets, handed):
        yield (f"{words}, {stated.mechanism_type.value}", *near(stated[number], found[number], absolute=0.0))


def accountants():
    """Yield the cases."""
    relations = {"losses without delta follow weights": marked(_added, spends, *PROTECTING)}
    yield Relations("PLDBudgetAccountant, several requests", relations)
    total = "a selection gets no more than the total"
    yield Relations("PLDBudgetAccountant, selections", {total: _selections}, unsafe={total: "above"})
    dp.PLDBudgetAccountant(1.0, 0.0).request_budget(MechanismType.LAPLACE, count=3)  # older versions refuse a count
    relations = {"the noise of all requests follows weights": marked(_composed, spends, *PROTECTING)}
    yield Relations("PLDBudgetAccountant, several kinds", relations)
    dp.PLDBudgetAccountant(1.0, 0.1).request_budget(MechanismType.LAPLACE_THRESHOLDING)  # nor have they thresholds
    reserved = marked(_reserved, spends, *PROTECTING)
    yield Relations(
        "PLDBudgetAccountant, thresholds", {"the noise and the thresholds of all requests spend the budget": reserved}
    )
    total = "all applications keep a new partition with delta"
    yield Relations("PLDBudgetAccountant, repeated thresholds", {total: _repeated}, unsafe={total: "above"})
    assert dp.NaiveBudgetAccountant._compute_budgets_for_aggregation  # nor do they state budgets
    stated = {
        "epsilons are those handed out": lambda random: _annotated(random, 0),
        "deltas are those handed out": lambda random: _annotated(random, 1),
    }
    yield Relations(
        "NaiveBudgetAccountant, annotations", {**stated, "all budgets are stated": _annotations}, understated=stated
    )
