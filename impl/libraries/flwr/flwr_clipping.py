"""Clipping and noise of flwr: norms, standard deviations, and the split of a noise multiplier in adaptive clipping."""

from __future__ import annotations

import logging
import math
import warnings

import numpy as np
from flwr.compat.client.dpfedavg_numpy_client import DPFedAvgNumPyClient
from flwr.compat.common import dp as deprecated
from flwr.server.strategy import DPFedAvgAdaptive, DPFedAvgFixed, FedAvg
from flwr.supercore import differential_privacy as functions
from flwr_rounds import DIRECTION, MODEL, clipped, flat, moved, norm, recorded

from dpassay.adapter import Relations
from dpassay.impl.libraries.references import near

warnings.simplefilter("ignore")
logging.getLogger("flwr").setLevel(logging.CRITICAL)


def _arrays(random):
    """Return arrays of different shapes with entries of one magnitude, drawn over many."""
    scale = 10 ** random.uniform(-5, 5)
    return [
        np.array([random.gauss(0, 1) * scale for _ in range(random.randint(1, 5))]),
        np.array([[random.gauss(0, 1) * scale, random.gauss(0, 1) * scale]]),
    ]


def _clip_functions():
    """Yield the names of the functions that clip, and functions that return clipped arrays and the bit, or None."""

    def in_place(name):
        def clip(arrays, bound):
            copies = [np.array(array) for array in arrays]
            return copies, getattr(functions, name)(copies, bound)

        return clip

    def of_models(name):
        def clip(arrays, bound):
            origin = [np.full_like(array, 3.7) for array in arrays]
            models = [array + start for array, start in zip(arrays, origin)]
            bit = getattr(functions, name)(models, origin, bound)
            return [model - start for model, start in zip(models, origin)], bit

        return clip

    yield "clip_inputs_inplace", in_place("clip_inputs_inplace")
    yield "adaptive_clip_inputs_inplace", in_place("adaptive_clip_inputs_inplace")
    yield "compute_clip_model_update", of_models("compute_clip_model_update")
    yield "compute_adaptive_clip_model_update", of_models("compute_adaptive_clip_model_update")
    yield "clip_by_l2", deprecated.clip_by_l2


def _norms(random):
    for name, clip in _clip_functions():
        arrays = _arrays(random)
        length = norm(arrays)
        for bound in (length * random.uniform(0.03, 0.95), length * random.uniform(1.05, 30)):
            found, bit = clip(arrays, bound)
            words = f"{name} of norm {length!r}, {bound!r}"
            # differences of models lose digits where the updates are small beside them
            slack = 1e-14 * (1 + 3.7) if "model" in name else 0.0
            yield (f"{words}, norm", *near(norm(found), min(length, bound), 1e-9, 8 * slack))
            factor = min(1.0, bound / length)
            for place, (one, other) in enumerate(zip(flat(found), flat(arrays))):
                yield (f"{words}, entry {place}", *near(one, factor * other, 1e-9, 8 * slack))
            if bit is not None:
                yield (
                    f"{words}, the bit says that it is clipped",
                    *(float(bound < length), float(bit)),
                    float(bound < length),
                )
        yield (f"get_norm, {length!r}", *near(functions.get_norm(arrays), length))


def _deviations(random):
    z, bound, clients = random.uniform(0.3, 5), random.uniform(0.2, 9), random.randint(2, 60)
    words = f"noise multiplier {z!r}, norm {bound!r}, {clients} clients"
    yield (f"compute_stdv, {words}", *near(functions.compute_stdv(z, bound, clients), z * bound / clients))
    epsilon, delta = random.uniform(0.1, 1), 10 ** random.uniform(-9, -1)
    parameters = functions.ndarrays_to_parameters(MODEL)
    expected = [
        (
            "add_gaussian_noise_to_params",
            lambda: functions.add_gaussian_noise_to_params(parameters, z, bound, clients),
            z * bound / clients,
        ),
        (
            "add_localdp_gaussian_noise_to_params",
            lambda: functions.add_localdp_gaussian_noise_to_params(parameters, bound, epsilon, delta),
            bound * math.sqrt(2 * math.log(1.25 / delta)) / epsilon,
        ),
        ("add_gaussian_noise_inplace", lambda: functions.add_gaussian_noise_inplace(_copies(), z), z),
        ("add_gaussian_noise", lambda: deprecated.add_gaussian_noise(_copies(), z), z),
    ]
    for name, call, scale in expected:
        _, noises = recorded(call)
        yield f"{name}, arrays with noise, {words}", len(MODEL), len(noises), len(MODEL)
        for mean, found in noises:
            yield (f"{name}, mean, {words}", *near(mean, 0.0))
            yield (f"{name}, standard deviation, {words}, {epsilon!r}, {delta!r}", *near(found, scale))


def _copies():
    return [np.array(array) for array in MODEL]


def _splits(random):
    """Compare the cost of updates and count together with that of the noise multiplier (Andrew and others 2021)."""
    z, clients = random.uniform(0.2, 2), random.randint(60, 200)
    given = random.choice([None, random.uniform(1.1, 20) * z])
    found, multiplier = functions.compute_adaptive_noise_params(z, clients, given)
    words = f"compute_adaptive_noise_params({z!r}, {clients}, {given!r})"
    yield (f"{words}, of the count", *near(found, clients / 20 if given is None else given))
    yield (f"{words}, together", *near(multiplier**-2 + (2 * found) ** -2, z**-2))
    adaptive = DPFedAvgAdaptive(FedAvg(), clients, 0.3, z, clip_count_stddev=given)
    yield (f"DPFedAvgAdaptive, {words}", *near(adaptive.noise_multiplier, multiplier))
    yield (f"DPFedAvgAdaptive, {words}, of the count", *near(adaptive.clip_count_stddev, found))


class _Client:
    def __init__(self, x):
        self.x = x

    def fit(self, parameters, _):
        return moved(self.x, parameters), 5, {}


def _deprecated_client(random):
    """Compare the model of the deprecated client, its noise and its bit with their definitions."""
    x, bound, scale = random.uniform(-9, 9), random.uniform(0.3, 9), random.uniform(0.1, 4)
    config = {"dpfedavg_clip_norm": bound, "dpfedavg_noise_stddev": scale, "dpfedavg_adaptive_clip_enabled": True}
    (sent, _, metrics), noises = recorded(lambda: DPFedAvgNumPyClient(_Client(x)).fit(_copies(), config))
    words = f"x={x!r}, {config!r}"
    for place, (found, exact) in enumerate(zip(flat(sent), clipped(x, bound))):
        yield (f"entry {place}, {words}", *near(found, float(exact), 1e-9, 1e-9))
    is_within = float(abs(x) * norm(DIRECTION) <= bound)
    yield f"bit, {words}", is_within, float(metrics["dpfedavg_norm_bit"]), is_within
    yield f"arrays with noise, {words}", len(MODEL), len(noises), len(MODEL)
    for _, found in noises:
        yield (f"noise, {words}", *near(found, scale))


def _deprecated_server(random):
    """Compare the noise of one client: all together have that of the multiplier."""
    z, bound, clients = random.uniform(0.3, 3), random.uniform(0.3, 7), random.randint(2, 30)
    exact = z * bound / math.sqrt(clients)
    words = f"noise multiplier {z!r}, norm {bound!r}, {clients} clients"
    fixed = DPFedAvgFixed(FedAvg(), clients, bound, z)
    yield (f"standard deviation, {words}", *near(fixed._calc_client_noise_stddev(), exact))


def _small_entries_are_clipped():
    """Return whether 10,000 small entries in float16, of norm 0.01, are clipped to 0.001."""
    arrays = [np.full(10_000, 1e-4, np.float16), np.full(1, 1e-3, np.float16)]
    functions.clip_inputs_inplace(arrays, 0.001)
    return norm([array.astype(np.float64) for array in arrays]) <= 0.0011


def clipping_relations():
    """Yield relations of the functions that the modifiers and strategies share."""
    yield Relations(
        "flwr.supercore.differential_privacy",
        {
            "clipped updates have the norm, in one direction": _norms,
            "standard deviations are those of the documentation": _deviations,
            "the noise multiplier is split": _splits,
        },
        {"half precision: small entries are clipped": _small_entries_are_clipped},
    )
    yield Relations(
        "DPFedAvgFixed, DPFedAvgAdaptive, DPFedAvgNumPyClient",
        {"clients clip and add noise": _deprecated_client, "noise is that of a share": _deprecated_server},
    )
