"""Facts about the limits of PipelineDP that need no samples: weights of budgets, scores of bounds, records kept."""

from __future__ import annotations

import math

import pipeline_dp as dp
from pipeline_dp import contribution_bounders
from pipeline_dp import private_contribution_bounds as private_bounds
from pipeline_dp.aggregate_params import MechanismType
from pipeline_dp.dataset_histograms import histograms
from pipeline_dp_recorders import PROTECTING, aggregations, drawn, refused

from dpassay.adapter import Relations, spends
from dpassay.impl.libraries.references import marked, near

__all__ = ["facts_of_limits"]


def _shared(requests, epsilon, delta):
    """Yield comparisons of what requests of kinds, weights and counts are handed with their shares of a budget."""
    accountant = dp.NaiveBudgetAccountant(epsilon, delta)
    specs = [accountant.request_budget(kind, weight=weight, count=count) for kind, weight, count in requests]
    accountant.compute_budgets()
    words = ", ".join(f"{kind.value} of weight {weight} {count} times" for kind, weight, count in requests)
    # Laplace noise spends no delta
    users = [kind is not MechanismType.LAPLACE for kind, _, _ in requests]
    whole = sum(weight * count for _, weight, count in requests)
    using = sum(weight * count for (_, weight, count), uses in zip(requests, users) if uses)
    counts = [count for _, _, count in requests]
    spent = math.fsum(spec.eps * count for spec, count in zip(specs, counts))
    yield (f"spent epsilon, {words}", *near(spent, epsilon))
    spent = math.fsum(spec.delta * count for spec, count in zip(specs, counts))
    yield (f"spent delta, {words}", *near(spent, delta, absolute=0.0))
    for spec, (kind, weight, _), uses in zip(specs, requests, users):
        yield (f"epsilon of {kind.value}, {words}", *near(spec.eps, epsilon * weight / whole))
        share = delta * weight / using if uses else 0.0
        yield (f"delta of {kind.value}, {words}", *near(spec.delta, share, absolute=0.0))


def _weights(random):
    """Check that budgets follow weights, and that declared weights are those that are used."""
    epsilon, delta = random.uniform(0.3, 5), 10 ** random.uniform(-8, -3)
    both = MechanismType.LAPLACE, MechanismType.GAUSSIAN
    mixed = [*both, random.choice([kind for kind in MechanismType if kind not in both])]
    for kinds in ([MechanismType.GAUSSIAN] * 3, random.sample(mixed, 3)):
        weights, counts = random.sample(range(1, 7), 3), random.sample(range(1, 6), 3)
        yield from _shared(list(zip(kinds, weights, counts)), epsilon, delta)
    weights = [random.randint(1, 5) for _ in range(3)]

    def scopes(declared, used):
        accountant = dp.NaiveBudgetAccountant(epsilon, delta, aggregation_weights=declared)
        for weight in used:
            with accountant.scope(weight=weight):
                accountant.request_budget(MechanismType.GAUSSIAN)
                accountant._compute_budgets_for_aggregation(weight)  # what an aggregation of the engine calls
        accountant.compute_budgets()

    yield f"declared weights {weights}", 0.0, refused(lambda: scopes(weights, weights)), 0.0
    yield f"more than declared, {weights}", 1.0, refused(lambda: scopes(weights[:2], weights)), 1.0
    other = [*weights[:2], weights[2] + 1]
    yield f"others than declared, {weights}", 1.0, refused(lambda: scopes(weights, other)), 1.0


def _told(random):
    """Compare the budgets that aggregations are told with their shares of the whole, and with what they are handed.

    All aggregations request the same kinds, with the same weights.
    """
    epsilon, delta, number = random.uniform(0.3, 5), 10 ** random.uniform(-8, -3), random.randint(2, 4)
    kinds = [MechanismType.LAPLACE, MechanismType.GAUSSIAN, MechanismType.TRUNCATED_GEOMETRIC]
    requests = list(zip(random.sample(kinds, 3), random.sample(range(1, 7), 3)))
    whole, using = (sum(weight for kind, weight in requests if kind in some) for some in (kinds, kinds[1:]))
    declared = random.sample(range(1, 7), number)
    for arguments, weights in (
        ({"num_aggregations": number}, [1] * number),
        ({"aggregation_weights": declared}, declared),
    ):
        accountant, handed = dp.NaiveBudgetAccountant(epsilon, delta, **arguments), []
        for weight in weights:
            with accountant.scope(weight=weight):
                specs = [accountant.request_budget(kind, weight=own) for kind, own in requests]
                handed += zip(specs, accountant._compute_budgets_for_aggregation(weight), requests, [weight] * 3)
        accountant.compute_budgets()
        words = f"{arguments}, {', '.join(f'{kind.value} of weight {own}' for kind, own in requests)}"
        yield (f"spent epsilon, {words}", *near(math.fsum(spec.eps for spec, *_ in handed), epsilon))
        yield (f"spent delta, {words}", *near(math.fsum(spec.delta for spec, *_ in handed), delta, absolute=0.0))
        yield f"{words}, budgets", 3.0 * number, float(len(handed)), 3.0 * number
        for spec, told, (kind, own), weight in handed:
            share = weight / sum(weights)
            yield (f"{words}, told epsilon of {kind.value}", *near(told.epsilon, epsilon * share * own / whole))
            spent = delta * share * own / using if kind in kinds[1:] else 0.0
            yield (f"{words}, told delta of {kind.value}", *near(told.delta, spent, absolute=0.0))
            yield (f"{words}, epsilon of {kind.value}", *near(spec.eps, told.epsilon))
            yield (f"{words}, delta of {kind.value}", *near(spec.delta, told.delta, absolute=0.0))
            yield f"{words}, {told.mechanism_type}", 1.0, float(told.mechanism_type is kind), 1.0

    def counted(weights):
        accountant = dp.NaiveBudgetAccountant(epsilon, delta, num_aggregations=number)
        for weight in weights:
            with accountant.scope(weight=weight):
                accountant.request_budget(MechanismType.GAUSSIAN)
                accountant._compute_budgets_for_aggregation(weight)
        accountant.compute_budgets()

    yield f"{number} aggregations", 0.0, refused(lambda: counted([1] * number)), 0.0
    for wrong in ([1] * (number + 1), [1] * (number - 1), [1] * (number - 1) + [2]):
        yield f"weights {wrong} of {number} aggregations", 1.0, refused(lambda w=wrong: counted(w)), 1.0


def _private_bounds(random):
    """Compare the scores of contribution bounds with their definition, and what one person moves them by."""
    for upper, partitions in drawn(random, 2, 14):
        yield from _scored(random, upper, partitions)
    candidates = private_bounds.generate_possible_contribution_bounds(2345)
    small = candidates[:999] == list(range(1, 1000))
    yield "possible bounds", 1.0, float(small and candidates[999:] == list(range(1000, 2346, 10))), 1.0


def _scored(random, upper, partitions):
    """Yield comparisons of the scores of contribution bounds up to an upper one, or the number of partitions."""
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
            f"moved score of {bound} by one person, {words}",
            0.0,
            moved,
            float(whole.global_sensitivity) + 1e-9,
        )


def _samplers(random):
    """Check that samplers keep what they must, and all of it where there is room."""
    records = random.randint(5, 9)
    rows = [(person, key, 1.0) for person in range(2) for key in range(3) for _ in range(records)]

    class Report:
        """A report that keeps nothing."""

        def add_stage(self, _):
            """Take a line."""

    for partitions, most in ((1, random.randint(2, 4)), (2, 1)):
        by_partition = aggregations(
            random, max_partitions_contributed=partitions, max_contributions_per_partition=most
        )
        together = aggregations(
            random, max_partitions_contributed=None, max_contributions_per_partition=None, max_contributions=most
        )
        for sampler, params, keys, kept in (
            (contribution_bounders.LinfSampler, by_partition, 3, most),
            (contribution_bounders.NoOpSampler, by_partition, 3, records),
            (contribution_bounders.SamplingCrossAndPerPartitionContributionBounder, by_partition, partitions, most),
            (contribution_bounders.SamplingCrossPartitionContributionBounder, by_partition, partitions, records),
            (contribution_bounders.SamplingPerPrivacyIdContributionBounder, together, None, most),
        ):
            found = dict(sampler().bound_contributions(rows, params, dp.LocalBackend(), Report(), sum))
            words = f"{sampler.__name__}, {records} records in each of 3 partitions, {partitions}, {most}"
            for person in range(2):
                own = [total for (one, _), total in found.items() if one == person]
                if keys is None:  # all records of a person together
                    yield words, float(kept), math.fsum(own), float(kept)
                    continue
                yield f"{words}, partitions", float(keys), float(len(own)), float(keys)
                for total in own:
                    yield words, float(kept), float(total), float(kept)


def facts_of_limits():
    """Yield the cases."""
    for name, words, relation in (
        ("NaiveBudgetAccountant, weights", "budgets follow weights", _weights),
        (
            "L0ScoringFunction, generate_possible_contribution_bounds, CalculatePrivateContributionBoundsParams",
            "scores are those of their definition",
            _private_bounds,
        ),
    ):
        yield Relations(name, {words: marked(relation, spends, *PROTECTING)})
    bounded = "records are kept up to a bound"
    yield Relations("LinfSampler, NoOpSampler", {bounded: _samplers}, unsafe={bounded: "above"})
    dp.NaiveBudgetAccountant(1.0, 0.1).request_budget(MechanismType.TRUNCATED_GEOMETRIC)  # older versions have none
    relations = {"aggregations are told what they are handed": marked(_told, spends, *PROTECTING)}
    yield Relations("NaiveBudgetAccountant, aggregations", relations)
