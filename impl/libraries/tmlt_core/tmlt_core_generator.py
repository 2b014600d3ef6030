"""The generator of Tumult Core: it has no seed, and no process has that of the one it was made by."""

from __future__ import annotations

import os
from unittest import mock

import numpy as np
import pandas as pd
from tmlt.core.domains.numpy_domains import NumpyFloatDomain
from tmlt.core.domains.pandas_domains import PandasSeriesDomain
from tmlt.core.measurements import noise_mechanisms
from tmlt.core.measurements.pandas_measurements.series import NoisyQuantile
from tmlt.core.measures import PureDP
from tmlt.core.random import rng

from dpassay.adapter import Relations

__all__ = ["generator"]

_DRAWS = 16
_MANY = 10**9
_BY_CHANCE = 2
"""Equal draws of integers of that many values: one pair has a probability near 1e-7."""


def _measurements():
    """Return what draws, with values to ask it about; its noise is so wide that equal draws are no accident."""
    quantile = NoisyQuantile(PandasSeriesDomain(NumpyFloatDomain()), PureDP(), 0.5, 0.0, 1.0, 1)
    return {
        "AddLaplaceNoise": (noise_mechanisms.AddLaplaceNoise(NumpyFloatDomain(), _MANY), 0.5),
        "AddGaussianNoise": (noise_mechanisms.AddGaussianNoise(NumpyFloatDomain(), _MANY**2), 0.5),
        "AddGeometricNoise": (noise_mechanisms.AddGeometricNoise(_MANY), 3),
        "AddDiscreteGaussianNoise": (noise_mechanisms.AddDiscreteGaussianNoise(_MANY**2), 3),
        "NoisyQuantile": (quantile, pd.Series([0.25, 0.5])),
    }


def _no_noise_again(_random):
    """Compare draws with each other, and those of a seed of NumPy with those of the same seed."""
    for name, (measurement, value) in _measurements().items():
        runs, state = [], np.random.get_state()  # noqa: NPY002
        for _ in range(2):
            np.random.seed(7)  # noqa: NPY002  # the generator that a user may have seeded
            runs += [float(measurement(value)) for _ in range(_DRAWS)]
        np.random.set_state(state)  # noqa: NPY002
        yield f"draws that are another one, {name}", 0.0, len(runs) - len(set(runs)), _BY_CHANCE


class _Marked(np.random.Generator):
    """A generator that notes that it was asked."""

    asked = 0

    def integers(self, *arguments, **named):
        """Draw integers."""
        _Marked.asked += 1
        return super().integers(*arguments, **named)


def _of_another_process():
    """Return whether all that draws takes a new generator once the number of its process has changed."""
    for measurement, value in _measurements().values():
        rng.prng()
        _Marked.asked = 0
        made = _Marked(np.random.PCG64())
        with (
            mock.patch.object(rng, "_core_privacy_prng", rng.prng()),
            mock.patch.object(rng, "_core_privacy_prng_pid", os.getpid() + 1),
            mock.patch.object(rng, "_create_prng", return_value=made) as create,
        ):
            measurement(value)
        if create.call_count != 1 or not _Marked.asked:
            return False
    return True


def _words():
    return [rng._random_raw(None) for _ in range(_DRAWS)]


def _is_fresh():
    """Return whether generators that are made one after the other, and words of the system, differ."""
    draws = [int(rng._create_prng().integers(2**62)) for _ in range(_DRAWS)]
    return len({*draws, *_words()}) == 2 * _DRAWS


def generator():
    """Yield the case."""
    noise, fresh, facts = {"noise is drawn anew": _no_noise_again}, {}, {}
    if hasattr(rng, "_core_privacy_prng_pid"):
        fresh = {
            "another process has a generator of its own": _of_another_process,
            "generators are made without a seed": _is_fresh,
        }
        facts = {"words of the system have 64 bits": lambda: max(_words()) >= 2**60}
    unsafe = dict.fromkeys(noise, "above") | dict.fromkeys(fresh, "either")
    yield Relations("generator", noise, {**fresh, **facts}, unsafe=unsafe)
