"""Clipping and noise of flwr: norms, standard deviations, and the split of a noise multiplier in adaptive clipping."""

from __future__ import annotations

import functools
import itertools
import logging
import math
import warnings

import numpy as np
from flwr.compat.client.dpfedavg_numpy_client import DPFedAvgNumPyClient
from flwr.compat.common import dp as deprecated
from flwr.server.strategy import DPFedAvgAdaptive, DPFedAvgFixed, FedAvg
from flwr.supercore import differential_privacy as functions
from flwr_rounds import (
    DIRECTION,
    MODEL,
    MULTIPLIERS,
    NOISE,
    NORMS,
    InPlace,
    Unclipped,
    clipped,
    flat,
    instructions,
    no_config,
    noise_of_entries,
    noises_of_arrays,
    norm,
    one_round,
    shifted,
)

from dpassay.adapter import Relations, protects, spends
from dpassay.impl.libraries.references import gaussian_sigma, marked, near

warnings.simplefilter("ignore")
logging.getLogger("flwr").setLevel(logging.CRITICAL)


def _arrays(random):
    """Return arrays of different shapes with entries of one magnitude, drawn over many."""
    scale = 10 ** random.uniform(-5, 5)
    return [
        np.array([random.gauss(0, 1) * scale for _ in range(random.randint(1, 5))]),
        *(
            np.array([random.gauss(0, 1) * scale for _ in range(math.prod(shape))]).reshape(shape)
            for shape in ((2, 3), (2, 1, 2))
        ),
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
            yield (f"norm, {words}", *near(norm(found), min(length, bound), 1e-9, 8 * slack))
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
    stated = functions.compute_stdv(z, bound, clients)
    yield (f"enough noise, compute_stdv, {words}", *near(stated, z * bound / clients))
    epsilon, delta = random.uniform(0.1, 1), 10 ** random.uniform(-9, -1)
    parameters = functions.ndarrays_to_parameters(MODEL)
    expected = [
        (
            "add_gaussian_noise_to_params",
            lambda: functions.parameters_to_ndarrays(
                functions.add_gaussian_noise_to_params(parameters, z, bound, clients)
            ),
            z * bound / clients,
        ),
        (
            "add_localdp_gaussian_noise_to_params",
            lambda: functions.parameters_to_ndarrays(
                functions.add_localdp_gaussian_noise_to_params(parameters, bound, epsilon, delta)
            ),
            bound * math.sqrt(2 * math.log(1.25 / delta)) / epsilon,
        ),
        ("add_gaussian_noise_inplace", lambda: _noisy_in_place(z), z),
        ("add_gaussian_noise", lambda: deprecated.add_gaussian_noise(_copies(), z), z),
    ]
    for name, call, scale in expected:
        arrays, noises = shifted(call, random)
        yield f"arrays with noise, {name}, {words}", len(MODEL), len(noises), len(MODEL)
        shaped = noises_of_arrays(noises)
        yield f"noises of the shape of an array, {name}, {words}", len(MODEL), shaped, len(MODEL)
        # the formula of local noise has more than its epsilon and delta need
        least = bound * gaussian_sigma(epsilon, delta) if "localdp" in name else scale
        for mean, found, _ in noises:
            yield (f"{name}, mean, {words}", *near(mean, 0.0))
            yield f"enough noise, {name}, {words}, {epsilon!r}, {delta!r}", least * (1 - 1e-9), found, math.inf
            yield (f"{name}, standard deviation, {words}, {epsilon!r}, {delta!r}", *near(found, scale))
        for place, (found, exact) in enumerate(zip(flat(arrays), flat(MODEL) + noise_of_entries(noises))):
            yield (f"{name}, entry {place}, {words}", *near(found, float(exact)))


def _noisy_in_place(scale):
    arrays = _copies()
    functions.add_gaussian_noise_inplace(arrays, scale)
    return arrays


def _copies():
    return [np.array(array) for array in MODEL]


def _together(multiplier, deviation):
    """Return the noise multiplier of updates with one and of a count with noise of a deviation together."""
    return (multiplier**-2 + (2 * deviation) ** -2) ** -0.5


def _splits(random):
    """Compare the cost of updates and count together with that of the noise multiplier (Andrew and others 2021)."""
    z, clients = random.uniform(0.2, 2), random.randint(60, 200)
    given = random.choice([None, random.uniform(1.1, 20) * z])
    found, multiplier = functions.compute_adaptive_noise_params(z, clients, given)
    words = f"compute_adaptive_noise_params({z!r}, {clients}, {given!r})"
    yield (f"{words}, of the count", *near(found, clients / 20 if given is None else given))
    yield (f"together, {words}", *near(_together(multiplier, found), z))
    adaptive = DPFedAvgAdaptive(FedAvg(), clients, 0.3, z, clip_count_stddev=given)
    used = _together(adaptive.noise_multiplier, adaptive.clip_count_stddev)
    yield (f"together, DPFedAvgAdaptive, {words}", *near(used, z))
    yield (f"DPFedAvgAdaptive, {words}", *near(adaptive.noise_multiplier, multiplier))
    yield (f"DPFedAvgAdaptive, {words}, of the count", *near(adaptive.clip_count_stddev, found))


def _deprecated_client(random):
    """Compare the model of the deprecated client, its noise and its bit with their definitions."""
    x, bound, scale = random.uniform(-9, 9), random.uniform(0.3, 9), random.uniform(0.1, 4)
    config = {"dpfedavg_clip_norm": bound, "dpfedavg_noise_stddev": scale, "dpfedavg_adaptive_clip_enabled": True}
    client = random.choice([Unclipped, InPlace])
    (sent, _, metrics), noises = shifted(lambda: DPFedAvgNumPyClient(client(x)).fit(_copies(), config), random)
    words = f"{client.__name__}, x={x!r}, {config!r}"
    for place, (found, exact) in enumerate(zip(flat(sent), clipped(x, bound) + noise_of_entries(noises))):
        yield (f"entry {place}, {words}", *near(found, float(exact), 1e-9, 1e-9))
    is_within = float(abs(x) * norm(DIRECTION) <= bound)
    yield f"bit, {words}", is_within, float(metrics["dpfedavg_norm_bit"]), is_within
    yield f"arrays with noise, {words}", len(MODEL), len(noises), len(MODEL)
    yield f"noises of the shape of an array, {words}", len(MODEL), noises_of_arrays(noises), len(MODEL)
    for _, found, _ in noises:
        yield (f"noise of an array, {words}", *near(found, scale))


def _deprecated_rounds(random):
    """Compare two rounds with their definition: models count alike, and have a share of the noise each."""
    for is_adaptive, at_server in itertools.product((False, True), repeat=2):
        yield from _deprecated_round(random, is_adaptive, at_server)


def _deprecated_round(random, is_adaptive, at_server):
    multiplier, clients = random.uniform(*MULTIPLIERS), random.randint(2, 5)
    norm_of_clipping = random.uniform(*NORMS)
    quantile, rate = random.uniform(0.1, 0.9), random.uniform(0.1, 0.9)
    deviation = multiplier * random.uniform(0.6, 3)
    if is_adaptive:
        wrapped = DPFedAvgAdaptive(
            FedAvg(), clients, norm_of_clipping, multiplier, at_server, rate, quantile, deviation
        )
        multiplier = (multiplier**-2 - (2 * deviation) ** -2) ** -0.5
    else:
        wrapped = DPFedAvgFixed(FedAvg(), clients, norm_of_clipping, multiplier, at_server)
    model, config = MODEL, no_config("legacy")
    for number in (1, 2):
        xs = [random.uniform(-2, 2) * norm_of_clipping for _ in range(clients)]
        weights = random.sample(range(1, 300), clients)
        words = f"round {number}, {type(wrapped).__name__}, {multiplier!r}, {norm_of_clipping!r}, {at_server}, {xs!r}"
        scale = multiplier * norm_of_clipping / math.sqrt(clients)
        in_use = multiplier * wrapped.clip_norm / math.sqrt(clients)
        for _, told in instructions("legacy", wrapped, model, clients, config):
            at_client = 0.0 if at_server else scale
            yield (
                f"told to a client, {words}",
                *near(told.get("dpfedavg_noise_stddev", 0.0), at_client),
            )
        call = functools.partial(one_round, "legacy", wrapped, xs, weights, model, config=config)
        (arrays, _), noises = shifted(call, random)
        counts = [noise for noise in noises if np.ndim(noise[2]) == 0]
        of_arrays = [noise for noise in noises if np.ndim(noise[2]) > 0]
        mean = (sum(clipped(x, norm_of_clipping, model) for x in xs) + noise_of_entries(of_arrays)) / clients
        for place, (found, exact) in enumerate(zip(flat(arrays), mean)):
            yield (f"entry {place}, {words}, weights {weights!r}", *near(found, float(exact), 1e-9, 1e-8))
        # the server adds noise in any case, clients that are told so as well
        arrays_at_most = len(MODEL) * clients * (1 if at_server else 2)
        yield f"arrays with noise, {words}", len(MODEL) * clients, len(of_arrays), arrays_at_most
        shaped = noises_of_arrays(of_arrays)
        yield f"noises of the shape of an array, {words}", len(MODEL) * clients, shaped, len(of_arrays)
        yield f"noises of another shape, {words}", 0, len(of_arrays) - shaped, 0
        for place, (centre, found, _) in enumerate(of_arrays):
            yield (f"mean of noise {place}, {words}", *near(centre, 0.0))
            # of the norm that the strategy has, be it the documented one or not
            yield f"enough noise of array {place}, {words}", in_use * (1 - 1e-9), found, math.inf
            yield (f"documented noise of array {place}, {words}", *near(found, scale))
        yield f"noise of counts, {words}", float(is_adaptive), len(counts), float(is_adaptive)
        for centre, found, added in counts:
            count = sum(abs(x) * norm(DIRECTION) <= norm_of_clipping for x in xs)
            yield (f"mean of the count, {words}", *near(centre, count))
            yield (f"noise of the count, {words}", *near(found, deviation))
            norm_of_clipping *= math.exp(-rate * ((count + float(added)) / clients - quantile))
        yield (f"next norm, {words}, {rate!r}, {quantile!r}", *near(wrapped.clip_norm, norm_of_clipping))
        model = arrays


def _small_entries_are_clipped():
    """Return whether 10,000 small entries in float16, of norm 0.01, are clipped to 0.001."""
    arrays = [np.full(10_000, 1e-4, np.float16), np.full(1, 1e-3, np.float16)]
    functions.clip_inputs_inplace(arrays, 0.001)
    return norm([array.astype(np.float64) for array in arrays]) <= 0.0011


def clipping_relations():
    """Yield relations of the functions that the modifiers and strategies share."""
    small = "half precision: small entries are clipped"
    yield Relations(
        "flwr.supercore.differential_privacy",
        {
            "clipped updates have the norm and their direction": marked(_norms, spends, "norm"),
            "standard deviations are those of the documentation": marked(_deviations, protects, *NOISE),
            "the noise multiplier is split": marked(_splits, protects, "together"),
        },
        {small: _small_entries_are_clipped},
        unsafe={small: "either"},
    )
    yield Relations(
        "DPFedAvgFixed, DPFedAvgAdaptive, DPFedAvgNumPyClient",
        {
            "clients clip and add noise": marked(_deprecated_client, protects, *NOISE),
            "rounds are means of clipped models with noise": marked(_deprecated_rounds, protects, *NOISE),
        },
    )
