"""Facts about the limits of PipelineDP that need no samples: weights of budgets, scores of bounds, records kept."""

from __future__ import annotations

import math

import pipeline_dp as dp
from pipeline_dp import contribution_bounders
from pipeline_dp import private_contribution_bounds as private_bounds
from pipeline_dp.aggregate_params import MechanismType
from pipeline_dp.dataset_histograms import histograms
from pipeline_dp_recorders import aggregations, refused

from dpassay.adapter import Relations
from dpassay.impl.libraries.references import near

__all__ = ["facts_of_limits"]


def _weights(random):
    """Check that budgets follow weights, and that declared weights are those that are used."""
    epsilon, delta = random.uniform(0.3, 5), 10 ** random.uniform(-8, -3)
    weights = [random.randint(1, 5) for _ in range(3)]
    accountant = dp.NaiveBudgetAccountant(epsilon, delta)
    specs = [accountant.request_budget(MechanismType.GAUSSIAN, weight=weight) for weight in weights]
    accountant.compute_budgets()
    for spec, weight in zip(specs, weights):
        share = weight / sum(weights)
        yield (f"epsilon of {weight} of {weights}", *near(spec.eps, epsilon * share))
        yield (f"delta of {weight} of {weights}", *near(spec.delta, delta * share, absolute=0.0))

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
    params = aggregations(random, max_contributions_per_partition=most)

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


def facts_of_limits():
    """Yield the cases."""
    for name, words, relation in (
        ("NaiveBudgetAccountant, weights", "budgets follow weights", _weights),
        (
            "L0ScoringFunction, generate_possible_contribution_bounds, CalculatePrivateContributionBoundsParams",
            "scores are those of their definition",
            _private_bounds,
        ),
        ("LinfSampler, NoOpSampler", "records are kept up to a bound", _samplers),
    ):
        yield Relations(name, {words: relation})
