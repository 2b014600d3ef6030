"""Noise on one number, or on those of partitions, and the selection of a candidate by its score."""

from __future__ import annotations

import math

import numpy as np
import pipeline_dp as dp
from pipeline_dp import dp_computations
from pipeline_dp_engine import CALLS
from pipeline_dp_recorders import KINDS, PROTECTING, exact_sensitivity, for_each, recording

from dpassay.adapter import Mechanism, Relations, protects, spends
from dpassay.impl.libraries.references import gaussian_delta, marked, near

__all__ = ["exponential", "noise_of_partitions", "numbers"]


def _noise(make, *, name, claim, family, step=1.0, slow=False):
    def sample_many(data, size):
        mechanism = make()
        return np.array([mechanism.add_noise(data[0]) for _ in range(size)])

    def distribution(data):
        return {"family": family, "location": data[0], "scale": float(make().noise_parameter)}

    notes = "the noise is drawn on a grid that is finer than its scale by a large power of two"
    neighbours = f"vector:size=1,linf={step!r}"
    return Mechanism(
        name,
        neighbours,
        claim,
        sample_many=sample_many,
        distribution=distribution,
        distribution_is_exact=False,
        notes=notes,
        slow=slow,
    )


def numbers():
    """Yield Laplace and Gaussian noise, by their privacy and by their standard deviation."""
    laplace, gaussian = dp_computations.LaplaceMechanism, dp_computations.GaussianMechanism
    for epsilon, sensitivity in ((1.0, 1.0), (0.01, 1.0), (8.0, 0.3)):
        yield _noise(
            lambda e=epsilon, s=sensitivity: laplace.create_from_epsilon(e, s),
            name=f"LaplaceMechanism(epsilon={epsilon}, l1_sensitivity={sensitivity})",
            claim=f"pure:{epsilon!r}",
            family="laplace",
            step=sensitivity,
        )
    deviation, sensitivity = 1.3, 2.5
    yield _noise(
        lambda: laplace.create_from_std_deviation(deviation, sensitivity),
        name=f"LaplaceMechanism of standard deviation {deviation} sensitivities, l1_sensitivity={sensitivity}",
        claim=f"pure:{math.sqrt(2) / deviation!r}",
        family="laplace",
        step=sensitivity,
    )
    for epsilon, delta in ((1.0, 1e-5), (4.0, 0.1), (0.1, 0.01), (1.0, 1e-20), (20.0, 0.3)):
        yield _noise(
            lambda e=epsilon, d=delta: gaussian.create_from_epsilon_delta(e, d, 1.0),
            name=f"GaussianMechanism(epsilon={epsilon}, delta={delta})",
            claim=f"approx:{epsilon!r},{delta!r}",
            family="gaussian",
            slow=delta != 1e-5,  # the same sampler with another scale
        )
    yield _noise(
        lambda: gaussian.create_from_std_deviation(deviation, sensitivity),
        name=f"GaussianMechanism of standard deviation {deviation} sensitivities, l2_sensitivity={sensitivity}",
        claim=f"zcdp:{0.5 / deviation**2!r}",
        family="gaussian",
        step=sensitivity,
    )


class _Scores(dp_computations.ExponentialMechanism.ScoringFunction):
    """The scores of the candidates 0, 1, ..., and what one person moves them by."""

    def __init__(self, scores, sensitivity, monotonic):
        self._scores, self._sensitivity, self._monotonic = scores, sensitivity, monotonic

    def score(self, k):
        return self._scores[k]

    @property
    def global_sensitivity(self):
        return self._sensitivity

    @property
    def is_monotonic(self):
        return self._monotonic


def _probabilities(epsilon, scores, sensitivity, monotonic):
    """Return the probabilities of the exponential mechanism by its definition."""
    rate = epsilon / (sensitivity if monotonic else 2 * sensitivity)
    weights = [math.exp(rate * (score - max(scores))) for score in scores]
    return [weight / math.fsum(weights) for weight in weights]


def _chances(random):
    """Compare the probabilities of candidates with their definition."""
    epsilon, sensitivity = random.uniform(0.2, 0.9), random.uniform(1.5, 6)
    scores = [random.uniform(-9, 9) for _ in range(random.randint(2, 6))]
    for monotonic in (False, True):
        mechanism = dp_computations.ExponentialMechanism(_Scores(scores, sensitivity, monotonic))
        found = mechanism._calculate_probabilities(epsilon, list(range(len(scores))))
        words = f"epsilon {epsilon!r}, sensitivity {sensitivity!r}, monotonic {monotonic}, scores {scores!r}"
        yield f"{words}, candidates", float(len(scores)), float(len(found)), float(len(scores))
        for one, exact in zip(found, _probabilities(epsilon, scores, sensitivity, monotonic)):
            yield (words, *near(one, exact))


def exponential():
    """Yield the exponential mechanism on two scores, and its probabilities on more."""
    for low, high, monotonic, epsilon, sensitivity in (
        (-9.0, 9.0, False, 0.6, 2.5),
        (-9.0, 9.0, True, 0.6, 2.5),
        (-1491.0, -1490.0, False, 1.0, 1.0),
    ):

        def sample_one(data, mono=monotonic, spent=epsilon, moved=sensitivity):
            mechanism = dp_computations.ExponentialMechanism(_Scores(data, moved, mono))
            return int(mechanism.apply(spent, list(range(len(data)))))

        def distribution(data, mono=monotonic, spent=epsilon, moved=sensitivity):
            probabilities = _probabilities(spent, data, moved, mono)
            return {"family": "finite", "symbols": list(range(len(data))), "probabilities": probabilities}

        direction = ",monotone" if monotonic else ""
        yield Mechanism(
            f"ExponentialMechanism, 2 scores in [{low:g}, {high:g}], monotonic={monotonic}, epsilon={epsilon}, "
            f"sensitivity={sensitivity}",
            f"vector:size=2,linf={sensitivity},low={low},high={high}{direction}",
            f"pure:{epsilon!r}",
            sample_one=sample_one,
            distribution=distribution if high < 700 and low > -700 else None,  # where exp neither under- nor overflows
            calls=CALLS,
        )
    yield Relations("ExponentialMechanism, probabilities", {"probabilities follow the scores": _chances})


# --- noise on numbers of partitions --------------------------------------------------------------------------------


def _noised(random):
    """Compare the noise that numbers of partitions are given with what it is asked for, and its share of a budget."""
    epsilon, delta = random.uniform(0.3, 4), 10 ** random.uniform(-8, -2)
    for given in ("l0 and linf", "the norm"):
        partitions, count = random.sample(range(2, 7), 2)
        largest, weights = random.uniform(1.5, 6), random.sample(range(1, 6), 2)
        moved = {kind: exact_sensitivity(kind, partitions, largest) for kind in KINDS}
        values = [(key, random.uniform(-9, 9)) for key in range(count)]
        accountant = dp.NaiveBudgetAccountant(epsilon, delta)
        engine, words = dp.DPEngine(accountant, dp.LocalBackend()), f"add_dp_noise, {given}, epsilon {epsilon!r}"
        results = {}
        for kind, weight in zip(KINDS, weights):
            if given == "the norm":
                norm = {"l1_sensitivity" if kind == dp.NoiseKind.LAPLACE else "l2_sensitivity": moved[kind]}
            else:
                norm = {"l0_sensitivity": partitions, "linf_sensitivity": largest}
            params = dp.aggregate_params.AddDPNoiseParams(
                noise_kind=kind, budget_weight=weight, output_noise_stddev=True, **norm
            )
            results[kind] = engine.add_dp_noise(values, params)
        accountant.compute_budgets()
        largest_parts = []
        for kind, weight in zip(KINDS, weights):
            # a mechanism is made for each number
            share, spent = epsilon * weight / sum(weights), delta if kind == dp.NoiseKind.GAUSSIAN else 0.0
            with recording() as recorder:
                found = dict(results[kind])
            told = f"{words}, {kind}, {weight} of {weights}, {partitions} partitions of {largest!r}"
            yield (f"moved numbers without noise, {told}", *near(count - len(recorder.made), 0.0))
            largest_parts.append([max((one[place] for one in recorder.made), default=0.0) for place in (1, 2)])
            for (noise, one, other, sensitivity), (key, value) in zip(recorder.made, values):
                yield f"{told}, kind", 1.0, float(noise == kind), 1.0
                yield (f"{told}, epsilon", *near(one, share))
                yield (f"{told}, delta", *near(other, spent, absolute=0.0))
                yield (f"moved for each unit that is told, {told}", *near(for_each(moved[kind], sensitivity), 1.0))
                yield (f"{told}, value", *near(found[key].noised_value, value))
                if kind == dp.NoiseKind.LAPLACE:
                    yield (f"{told}, deviation", *near(found[key].noise_stddev, math.sqrt(2) * moved[kind] / share))
        epsilons, deltas = zip(*largest_parts)
        yield (f"spent epsilon, {words}", *near(math.fsum(epsilons), epsilon))
        yield (f"spent delta, {words}", *near(math.fsum(deltas), delta, absolute=0.0))


def _noised_apart(random):
    """Check that each partition gets noise of its own, of the deviation that is told."""
    value, count = random.uniform(-9, 9), 12.0
    for kind in KINDS:
        epsilon, delta = random.uniform(0.3, 4), 10 ** random.uniform(-8, -2)
        accountant = dp.NaiveBudgetAccountant(epsilon, delta)
        engine = dp.DPEngine(accountant, dp.LocalBackend())
        params = dp.aggregate_params.AddDPNoiseParams(
            noise_kind=kind, l0_sensitivity=3, linf_sensitivity=2.5, output_noise_stddev=True
        )
        found = engine.add_dp_noise([(key, value) for key in range(int(count))], params)
        accountant.compute_budgets()
        found = dict(found)
        words = f"add_dp_noise, {kind}, epsilon {epsilon!r}, delta {delta!r}"
        yield f"different numbers, {words}", count, float(len({one.noised_value for one in found.values()})), count
        if kind == dp.NoiseKind.GAUSSIAN:
            moved = exact_sensitivity(kind, 3, 2.5)
            for one in found.values():
                spent = gaussian_delta(one.noise_stddev / moved, epsilon)
                yield f"{words}, deviation {one.noise_stddev!r}", delta * 0.9, spent, delta * (1 + 1e-6)


def noise_of_partitions():
    """Yield facts about the noise that the engine adds to numbers of partitions."""
    dp.DPEngine.add_dp_noise  # noqa: B018  # older versions have none
    yield Relations(
        "DPEngine, add_dp_noise",
        {
            "noise is as asked for": marked(_noised, spends, *PROTECTING),
            "noise has the deviation that is told": marked(_noised_apart, protects, "different numbers"),
        },
    )
