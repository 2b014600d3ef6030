"""Facts about the computations of PipelineDP that need no samples: sensitivities, splits, the noise that is asked for.

The mechanisms of the library below are replaced by recorders: what is computed around the noise is compared with its
definition, and the losses that are spent are added up.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pipeline_dp as dp
from pipeline_dp import dp_computations
from pipeline_dp_recorders import (
    KINDS,
    PROTECTING,
    aggregations,
    bounds,
    drawn,
    exact_sensitivity,
    for_each,
    recording,
    refused,
    scalar_params,
)

from dpassay.adapter import Relations, protects, spends
from dpassay.impl.libraries.references import gaussian_delta, marked, near

__all__ = ["facts_of_the_library"]


def _spent(words, recorder, kind, wanted, sensitivities):
    """Yield comparisons of the noise that was asked for with its sensitivities and the whole loss."""
    made = recorder.made
    yield (f"moved numbers without noise, {words}", *near(len(sensitivities) - len(made), 0.0))
    for (found, _, _, sensitivity), exact in zip(made, sensitivities):
        yield f"{words}, kind", 1.0, float(found == kind), 1.0
        yield (f"moved for each unit that is told, {words}", *near(for_each(exact, sensitivity), 1.0))
    epsilon, delta = wanted
    yield (f"spent epsilons, {words}", *near(math.fsum(one[1] for one in made), epsilon))
    if kind == dp.NoiseKind.GAUSSIAN:
        yield (f"spent deltas, {words}", *near(math.fsum(one[2] for one in made), delta, absolute=0.0))


def _variances(random):
    """Compare variances without noise with their definition, and the noise with what the sums move by."""
    for kind, (partitions, most) in itertools.product(KINDS, drawn(random, 2, 6)):
        params = scalar_params(
            random, kind, max_partitions_contributed=partitions, max_contributions_per_partition=most
        )
        low, high = params.min_value, params.max_value
        data = [random.uniform(low, high) for _ in range(random.randint(2, 6))]
        middle = (low + high) / 2
        squares = (0.0 if low < 0 < high else min(low**2, high**2), max(low**2, high**2))
        centre = sum(squares) / 2
        sums = math.fsum(x - middle for x in data), math.fsum(x**2 - centre for x in data)
        with recording() as recorder:
            count, total, mean, variance = dp_computations.compute_dp_var(len(data), *sums, params)
        words = f"compute_dp_var, {kind}, {data!r} in {(low, high)!r}"
        exact = math.fsum(data) / len(data)
        yield (f"{words}, count", *near(count, len(data)))
        yield (f"{words}, mean", *near(mean, exact))
        yield (f"{words}, sum", *near(total, math.fsum(data)))
        second = math.fsum(x**2 for x in data) / len(data)
        stated = variance + (mean - middle) ** 2 + centre  # the middles are not added before the subtraction
        yield (f"{words}, mean of squares", *near(stated, second, absolute=1e-9))
        halves = (1.0, (high - low) / 2, (squares[1] - squares[0]) / 2)
        exact = [exact_sensitivity(kind, partitions, most * half) for half in halves]
        yield from _spent(words, recorder, kind, (params.eps, params.delta), exact)


def _additions(random):
    """Check that noise is asked for with the parameters that are given, for numbers and for vectors."""
    value, epsilon, delta, moved = random.uniform(-9, 9), random.uniform(0.3, 4), 1e-5, random.uniform(0.5, 6)
    with recording() as recorder:
        found = dp_computations.apply_laplace_mechanism(value, epsilon, moved)
        again = dp_computations.apply_gaussian_mechanism(value, epsilon, delta, moved)
    exact = [(dp.NoiseKind.LAPLACE, epsilon, 0.0, moved), (dp.NoiseKind.GAUSSIAN, epsilon, delta, moved)]
    words = f"epsilon {epsilon!r}, sensitivity {moved!r}"
    yield f"apply_laplace_mechanism, apply_gaussian_mechanism, {words}", 1.0, float(recorder.made == exact), 1.0
    yield (f"values without noise, {words}", *near(found + again, 2 * value))
    for size, partitions in drawn(random, 2, 5):
        yield from _vectors(random, size, partitions, moved)


def _vectors(random, size, partitions, moved):
    """Yield comparisons of the noise that vectors are given with what one person moves them by."""
    vector = np.array([random.uniform(-3, 3) for _ in range(size)])
    norms = {
        (dp.NoiseKind.LAPLACE, dp.aggregate_params.NormKind.L1): moved * partitions,
        (dp.NoiseKind.LAPLACE, dp.aggregate_params.NormKind.Linf): moved * size * partitions,
        (dp.NoiseKind.GAUSSIAN, dp.aggregate_params.NormKind.L2): moved * math.sqrt(partitions),
        (dp.NoiseKind.GAUSSIAN, dp.aggregate_params.NormKind.Linf): moved * math.sqrt(size) * math.sqrt(partitions),
    }
    for (kind, norm), least in norms.items():
        params = dp_computations.AdditiveVectorNoiseParams(
            eps=random.uniform(0.3, 4),
            delta=1e-5 if kind == dp.NoiseKind.GAUSSIAN else 0.0,
            max_norm=moved,
            l0_sensitivity=partitions,
            linf_sensitivity=moved,
            norm_kind=norm,
            noise_kind=kind,
        )
        with recording() as recorder:
            found = dp_computations.add_noise_vector(vector, params)
        words = f"add_noise_vector, {kind}, {norm}, {size} entries, {partitions} partitions, {moved!r}"
        yield f"additions of noise, {words}", float(size), float(len(recorder.made)), float(size)
        yield f"{words}, values", 0.0, float(np.abs(found - vector).max()), 1e-9
        for made in recorder.made:
            yield f"{words}, kind, epsilon and delta", 1.0, float(made[:3] == (kind, params.eps, params.delta)), 1.0
            yield f"sensitivity, {words}", least * (1 - 1e-9), made[3], math.inf


def _draws(random):
    """Check that entries get noise of their own, and that noise is drawn anew."""
    for make in (
        lambda: dp_computations.LaplaceMechanism.create_from_epsilon(1.0, 2.0),
        lambda: dp_computations.GaussianMechanism.create_from_epsilon_delta(1.0, 1e-5, 2.0),
    ):
        mechanism = make()
        found = mechanism.add_noise(np.full(8, random.uniform(-5, 5)))
        yield f"{type(mechanism).__name__}, a vector", 8.0, float(len(set(found.tolist()))), 8.0
        alone = {mechanism.add_noise(1.0) for _ in range(8)}
        yield f"{type(mechanism).__name__}, a number", 8.0, float(len(alone)), 8.0
    for ask in (
        lambda: dp_computations.apply_laplace_mechanism(1.0, 1.0, 2.0),
        lambda: dp_computations.apply_gaussian_mechanism(1.0, 1.0, 1e-5, 2.0),
    ):
        yield "noise that is applied", 8.0, float(len({ask() for _ in range(8)})), 8.0


def _splits(random):
    """Check that a budget that is split adds up, and is split evenly."""
    epsilon, delta, parts = random.uniform(0.3, 6), 10 ** random.uniform(-9, -3), random.randint(2, 7)
    found = dp_computations.equally_split_budget(epsilon, delta, parts)
    words = f"{epsilon!r}, {delta!r} in {parts}"
    yield f"parts, {words}", float(parts), float(len(found)), float(parts)
    yield (f"spent epsilon, {words}", *near(math.fsum(one for one, _ in found), epsilon))
    yield (f"spent delta, {words}", *near(math.fsum(other for _, other in found), delta, absolute=0.0))
    for one, other in found:
        yield (f"epsilon, {words}", *near(one, epsilon / parts))
        yield (f"delta, {words}", *near(other, delta / parts, absolute=0.0))


def _deviations(random):
    """Compare standard deviations of counts and sums with what their noise needs."""
    for kind, (partitions, most) in itertools.product(KINDS, drawn(random, 2, 6)):
        low, high = bounds(random)
        params = scalar_params(
            random,
            kind,
            min_sum_per_partition=low,
            max_sum_per_partition=high,
            max_partitions_contributed=partitions,
            max_contributions_per_partition=most,
        )
        for name, largest in (("count", most), ("sum", max(abs(low), abs(high)))):
            found = getattr(dp_computations, f"compute_dp_{name}_noise_std")(params)
            moved = exact_sensitivity(kind, partitions, largest)
            words = f"compute_dp_{name}_noise_std, {kind}, {params!r}"
            if kind == dp.NoiseKind.LAPLACE:
                yield (words, *near(found, math.sqrt(2) * moved / params.eps, relative=1e-6))
            else:
                spent = gaussian_delta(found / moved, params.eps)
                yield words, params.delta * 0.9, spent, params.delta * (1 + 1e-6)


def _sensitivities(random):
    """Compare sensitivities of metrics with how far one person moves them."""
    for partitions, most, together in drawn(random, 3, 8):
        yield from _moved(random, partitions, most, together)


def _moved(random, partitions, most, together):
    """Yield comparisons of sensitivities, with bounds on partitions and records in each, or on all records."""
    params = aggregations(random, max_partitions_contributed=partitions, max_contributions_per_partition=most)
    low, high = params.min_value, params.max_value
    largest = max(abs(low), abs(high))
    bounded = aggregations(
        random, max_partitions_contributed=None, max_contributions_per_partition=None, max_contributions=together
    )
    far = max(abs(bounded.min_value), abs(bounded.max_value))
    wide = (bounded.max_value - bounded.min_value) / 2
    count, people, total = dp.Metrics.COUNT, dp.Metrics.PRIVACY_ID_COUNT, dp.Metrics.SUM
    of = dp_computations.compute_sensitivities
    normalised = dp_computations.compute_sensitivities_for_normalized_sum
    for name, found, exact in (
        ("COUNT", of(count, params), (partitions * most, math.sqrt(partitions) * most)),
        ("PRIVACY_ID_COUNT", of(people, params), (partitions, math.sqrt(partitions))),
        ("SUM", of(total, params), (partitions * most * largest, math.sqrt(partitions) * most * largest)),
        (
            "normalised sum",
            normalised(params),
            (partitions * most * (high - low) / 2, math.sqrt(partitions) * most * (high - low) / 2),
        ),
        ("COUNT, bounded together", of(count, bounded), (together, together)),
        ("PRIVACY_ID_COUNT, bounded together", of(people, bounded), (together, math.sqrt(together))),
        ("SUM, bounded together", of(total, bounded), (together * far, together * far)),
        ("normalised sum, bounded together", normalised(bounded), (together * wide, together * wide)),
    ):
        for norm, one, other in zip(("L1", "L2"), (found.l1, found.l2), exact):
            words = f"sensitivity of {name}, {norm}, in {(low, high)!r}, {partitions} partitions, {most} records"
            yield (words, *near(one, other))
    words = f"Sensitivities of {partitions} partitions and {most}"
    good = dp_computations.Sensitivities(
        l0=partitions, linf=most, l1=partitions * most, l2=math.sqrt(partitions) * most
    )
    yield (f"{words}, as given", *near(good.l1 + good.l2, (partitions + math.sqrt(partitions)) * most))
    for wrong in ({"l1": 1.0}, {"l2": 1.0}, {"l0": partitions, "linf": None}, {"l1": -1.0}, {"linf": 0.0}):
        fields = {"l0": partitions, "linf": most, **wrong}
        yield f"{words}, refused with {wrong}", 1.0, refused(lambda f=fields: dp_computations.Sensitivities(**f)), 1.0


def _gaussians(random):
    """Compare the epsilon of Gaussian noise with its delta, also where it is negative."""
    sigma, delta = random.uniform(0.3, 9), random.choice([10 ** random.uniform(-9, -2), random.uniform(0.3, 0.9)])
    found = dp_computations.gaussian_epsilon(sigma, delta)
    words = f"sigma {sigma!r}, delta {delta!r}"
    exact = gaussian_delta(sigma, found)
    yield f"gaussian_epsilon {found!r}, {words}", exact * (1 - 1e-6), delta, exact * (1 + 1e-6)
    yield (f"gaussian_delta, {words}", *near(dp_computations.gaussian_delta(sigma, 0.7), gaussian_delta(sigma, 0.7)))


def facts_of_the_library():
    """Yield the cases."""
    for name, words, relation, cost, starts in (
        ("compute_dp_var", "answers without noise are those of the definition", _variances, spends, PROTECTING),
        (
            "apply_laplace_mechanism, apply_gaussian_mechanism, add_noise_vector",
            "noise is as asked for",
            _additions,
            protects,
            ["additions of noise", "sensitivity"],
        ),
        ("equally_split_budget", "parts are equal", _splits, spends, PROTECTING),
        (
            "compute_sensitivities, Sensitivities",
            "sensitivities that contradict each other are refused",
            _sensitivities,
            protects,
            ["sensitivity of"],
        ),
    ):
        yield Relations(name, {words: marked(relation, cost, *starts)})
    words = "noise is drawn anew"
    yield Relations("LaplaceMechanism, GaussianMechanism, add_noise", {words: _draws}, unsafe={words: "below"})
    yield Relations(
        "compute_dp_count_noise_std, compute_dp_sum_noise_std", {"deviations are those of the noise": _deviations}
    )
    words = "each is the inverse of the other"
    yield Relations("gaussian_epsilon, gaussian_delta", {words: _gaussians}, understated=[words])
