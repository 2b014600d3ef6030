"""Noise on one number, and the selection of a candidate by its score."""

from __future__ import annotations

import math

import numpy as np
from pipeline_dp import dp_computations
from pipeline_dp_engine import CALLS

from dpassay.adapter import Mechanism, Relations
from dpassay.impl.libraries.references import near

__all__ = ["exponential", "numbers"]


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
