"""Parameters of PipelineDP, and recorders in place of its noise: they add nothing, and note what they are made for."""

from __future__ import annotations

import contextlib
import math

import pipeline_dp as dp
from pipeline_dp import dp_computations

__all__ = [
    "KINDS",
    "PROTECTING",
    "aggregations",
    "bounds",
    "drawn",
    "exact_sensitivity",
    "for_each",
    "recording",
    "refused",
    "scalar_params",
]

PROTECTING = ("spent", "moved")
"""Beginnings of the words of comparisons of what is spent, and of what a person moves for each unit that is told.

A number that is too large has less noise than the total allows.
"""

KINDS = (dp.NoiseKind.LAPLACE, dp.NoiseKind.GAUSSIAN)
"""The kinds of noise."""


class _Recorder:
    """Adds nothing, and notes what each addition is made for."""

    def __init__(self) -> None:
        self.made = []

    def _noise(self, kind, epsilon, delta, sensitivity):
        recorder = self

        class Mechanism:
            """A mechanism that adds nothing."""

            def __init__(self):
                self.diversity = sensitivity / epsilon
                self.std = self.diversity

            def add_noise(self, value):
                """Return the value, and note the call."""
                recorder.made.append((kind, float(epsilon), float(delta), float(sensitivity)))
                return value

        return Mechanism()

    def laplace(self, epsilon, sensitivity):
        """Stand in for LaplaceMechanism."""
        return self._noise(dp.NoiseKind.LAPLACE, epsilon, 0.0, sensitivity)

    def gaussian(self, epsilon, delta, sensitivity):
        """Stand in for GaussianMechanism."""
        return self._noise(dp.NoiseKind.GAUSSIAN, epsilon, delta, sensitivity)


@contextlib.contextmanager
def recording():
    """Replace the noise of the library by a recorder."""
    recorder, module = _Recorder(), dp_computations.dp_mechanisms
    kept = module.LaplaceMechanism, module.GaussianMechanism
    module.LaplaceMechanism, module.GaussianMechanism = recorder.laplace, recorder.gaussian
    try:
        yield recorder
    finally:
        module.LaplaceMechanism, module.GaussianMechanism = kept


def bounds(random):
    """Return a lower and an upper bound that are far from 0 and of different sizes."""
    low = random.uniform(-9, 7)
    return low, low + random.uniform(0.5, 12)


def drawn(random, number, most):
    """Yield draws of whole numbers above 1 that differ, then one for each of them in which it alone is 1.

    A bound of 1 may have a branch of its own, and hides a factor that is missing.
    """
    yield tuple(random.sample(range(2, most + 1), number))
    for place in range(number):
        others = random.sample(range(2, most + 1), number)
        yield (*others[:place], 1, *others[place + 1 :])


def scalar_params(random, kind, **changed):
    """Return parameters of noise, some of them given."""
    low, high = bounds(random)
    fields = {
        "eps": random.uniform(0.3, 4),
        "delta": 10 ** random.uniform(-9, -3) if kind == dp.NoiseKind.GAUSSIAN else 0.0,
        "min_value": low,
        "max_value": high,
        "min_sum_per_partition": None,
        "max_sum_per_partition": None,
        "max_partitions_contributed": random.randint(2, 5),
        "max_contributions_per_partition": random.randint(2, 6),
        "noise_kind": kind,
    }
    return dp_computations.ScalarNoiseParams(**{**fields, **changed})


def aggregations(random, **changed):
    """Return parameters of an aggregation, some of them given."""
    low, high = bounds(random)
    fields = {
        "metrics": [dp.Metrics.SUM],
        "max_partitions_contributed": random.randint(2, 5),
        "max_contributions_per_partition": random.randint(2, 6),
        "min_value": low,
        "max_value": high,
    }
    return dp.AggregateParams(**{**fields, **changed})


def exact_sensitivity(kind, partitions, largest):
    """Return how far one person moves the partitions together, each by at most `largest`."""
    return partitions * largest if kind == dp.NoiseKind.LAPLACE else math.sqrt(partitions) * largest


def for_each(moved, told):
    """Return how far one person moves a number for each unit that is told, infinitely far if nothing is told."""
    return math.inf if told == 0 else moved / told


def refused(ask):
    """Return 1 if a call is refused, else 0."""
    try:
        ask()
    except (ValueError, TypeError, AssertionError):
        return 1.0
    return 0.0
