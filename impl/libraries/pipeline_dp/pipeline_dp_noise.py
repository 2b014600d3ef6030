"""Noise on one number, and the selection of a candidate by its score."""

from __future__ import annotations

import math

import numpy as np
from pipeline_dp import dp_computations
from pipeline_dp_engine import CALLS

from dpassay.adapter import Mechanism

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
    yield _noise(
        lambda: laplace.create_from_std_deviation(math.sqrt(2), 1.0),
        name="LaplaceMechanism of standard deviation sqrt(2)",
        claim="pure:1.0",
        family="laplace",
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
        lambda: gaussian.create_from_std_deviation(1.0, 1.0),
        name="GaussianMechanism of standard deviation 1",
        claim="zcdp:0.5",
        family="gaussian",
    )


class _Scores(dp_computations.ExponentialMechanism.ScoringFunction):
    """The scores of the candidates 0, 1, ..., of sensitivity 1."""

    def __init__(self, scores, monotonic):
        self._scores, self._monotonic = scores, monotonic

    def score(self, k):
        return self._scores[k]

    @property
    def global_sensitivity(self):
        return 1.0

    @property
    def is_monotonic(self):
        return self._monotonic


def exponential():
    """Yield the exponential mechanism on two scores."""
    for low, high, monotonic in ((-3.0, 3.0, False), (-3.0, 3.0, True), (-1491.0, -1490.0, False)):

        def sample_one(data, mono=monotonic):
            mechanism = dp_computations.ExponentialMechanism(_Scores(data, mono))
            return int(mechanism.apply(1.0, list(range(len(data)))))

        def distribution(data, mono=monotonic):
            candidates = list(range(len(data)))
            weights = dp_computations.ExponentialMechanism(_Scores(data, mono))._calculate_probabilities(
                1.0, candidates
            )
            return {"family": "finite", "symbols": candidates, "probabilities": [float(weight) for weight in weights]}

        direction = ",monotone" if monotonic else ""
        yield Mechanism(
            f"ExponentialMechanism, 2 scores in [{low:g}, {high:g}], monotonic={monotonic}",
            f"vector:size=2,linf=1,low={low},high={high}{direction}",
            "pure:1.0",
            sample_one=sample_one,
            distribution=distribution if high < 700 and low > -700 else None,  # where exp neither under- nor overflows
            calls=CALLS,
        )
