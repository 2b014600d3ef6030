"""Modifiers and strategies of flwr: what a client sends with local noise, and what the server releases after a round.

Local DP: all updates of a client are neighbours, and the sensitivity is the diameter of what clipping leaves. Central
DP: one client sends another update. Noise of the documented size, the norm times the multiplier over the number of
clients, suffices for half of this change: the claim is mu-GDP with mu twice the inverse of the multiplier, or what it
implies for concentrated privacy.
"""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np
from flwr.supercore.differential_privacy import KEY_CLIPPING_NORM
from flwr_rounds import (
    APIS,
    DIRECTION,
    MODEL,
    MULTIPLIERS,
    NOISE,
    NORMS,
    SCALARS,
    SIDES,
    clipped,
    flat,
    moved,
    no_config,
    noise_of_entries,
    noises_of_arrays,
    norm,
    one_round,
    recorded,
    shifted,
    strategy,
    through_mod,
    wrapper,
)

from dpassay.adapter import Answer, Mechanism, Relations
from dpassay.impl.libraries.references import divided, gaussian_sigma, near


def _seed(number):
    np.random.seed(number % 2**32)  # noqa: NPY002  # the generator that the library draws from


_UNIT = np.array(flat(DIRECTION)) / norm(DIRECTION)


def _along(entries):
    """Return the part of a model along the direction of all updates: the rest has noise only."""
    return float(np.dot(_UNIT, entries))


def _gaussian(location, noises):
    """Return the distribution of a model with noise along the updates; all arrays have the noise of one size."""
    means, scales = {mean for mean, _ in noises}, {scale for _, scale in noises}
    if len(noises) < 2 or means != {0.0} or len(scales) != 1:
        raise ValueError(f"the arrays must get noise of one size each, got {noises}")
    return {"family": "gaussian", "location": _along(location), "scale": scales.pop()}


# --- local ------------------------------------------------------------------------------------------------------


def _local(epsilon, delta, norm_bound, api):
    make = (norm_bound, 2 * norm_bound, epsilon, delta)

    def send(data):
        return _along(flat(through_mod(api, "LocalDpMod", moved(data[0]), make=make)[0]))

    def noiseless(data):
        return recorded(lambda: send(data))[0]

    return Mechanism(
        f"LocalDpMod({epsilon=}, {delta=}, {api})",
        f"vector:size=1,linf={8 * norm_bound!r},low={-4 * norm_bound!r},high={4 * norm_bound!r}",
        f"approx:{epsilon!r},{delta!r}",
        sample_one=send,
        seed=_seed,
        distribution=lambda data: _gaussian(clipped(data[0], norm_bound), recorded(lambda: send(data))[1]),
        noiseless=noiseless,
        sensitivity=2 * norm_bound,
        floats=False,
        relative_error=1e-9,
        calls=2500,
        call=_call_of_mod(api, make),
    )


def _call_of_mod(api, make):
    place = "flwr.clientapp.mod" if api == "message" else "flwr.client.mod"
    return (
        f"from {place} import LocalDpMod\n"
        f"# asked on an update with the norm {norm(DIRECTION):.6g} * abs({{data}}[0])\n"
        f"LocalDpMod{make!r}"
    )


def _local_noise(epsilon, delta):
    """Return the standard deviation for sensitivity 1, in whatever interface the smaller one."""
    make = (0.5, 1.0, epsilon, delta)
    sent = [recorded(lambda api=api: through_mod(api, "LocalDpMod", moved(2.0), make=make))[1] for api in APIS]
    return min(scale for noises in sent for _, scale in noises)


def _local_scalar(api):
    """Return the case of a model whose only parameter is an array without dimensions, as that of a temperature."""
    model, direction = SCALARS
    bound, epsilon, delta = 0.4, 0.6, 1e-4
    make = (bound, 2 * bound, epsilon, delta)
    return Mechanism(
        f"LocalDpMod, a scalar parameter, {api}",
        "vector:size=1,linf=80,low=-40,high=40",
        f"approx:{epsilon!r},{delta!r}",
        sample_one=lambda data: flat(through_mod(api, "LocalDpMod", moved(data[0], model, direction), model, make)[0]),
        seed=_seed,
        floats=False,
        calls=2500,
        call=_call_of_mod(api, make),
    )


def _unchanged(api):
    """Return the case of clients whose update may be 0."""
    bound, epsilon, delta = 0.4, 0.6, 1e-4

    def send(data):
        arrays = moved(data[0]) if data[0] else [np.array(part) for part in MODEL]
        return _along(flat(through_mod(api, "LocalDpMod", arrays, make=(bound, 2 * bound, epsilon, delta))[0]))

    return Mechanism(
        f"LocalDpMod, updates of 0, {api}",
        "vector:size=1,linf=1,low=0,high=1,integer",
        f"approx:{epsilon!r},{delta!r}",
        sample_one=send,
        seed=_seed,
        floats=False,
        calls=2500,
    )


def _local_rounds(random):
    """Compare what a client sends in each interface with its definition."""
    for api in APIS:
        bound, sensitivity = random.uniform(*NORMS), random.uniform(0.3, 9)
        epsilon, delta, x = random.uniform(0.1, 0.9), 10 ** random.uniform(-9, -1), random.uniform(-4, 4) * bound
        make = (bound, sensitivity, epsilon, delta)
        (sent, _), noises = shifted(functools.partial(through_mod, api, "LocalDpMod", moved(x), make=make), random)
        words = f"{api}, {make!r}, x={x!r}"
        for place, (found, exact) in enumerate(zip(flat(sent), clipped(x, bound) + noise_of_entries(noises))):
            yield (f"entry {place}, {words}", *near(found, float(exact), 1e-9, 1e-8))
        yield f"arrays with noise, {words}", len(MODEL), len(noises), len(MODEL)
        yield f"noises of the shape of an array, {words}", len(MODEL), noises_of_arrays(noises), len(MODEL)
        scale = sensitivity * math.sqrt(2 * math.log(1.25 / delta)) / epsilon
        least = sensitivity * gaussian_sigma(epsilon, delta) * (1 - 1e-9)
        for place, (centre, found, _) in enumerate(noises):
            yield (f"mean of noise {place}, {words}", *near(centre, 0.0))
            yield f"enough noise of array {place}, {words}", least, found, math.inf
            yield (f"documented noise of array {place}, {words}", *near(found, scale))


def _clips_scalars(api, name, **config):
    """Return whether a modifier clips the only parameter of a model, an array without dimensions."""
    model, direction = SCALARS
    make = (0.4, 0.8, 0.6, 1e-4) if name == "LocalDpMod" else None
    call = functools.partial(through_mod, api, name, moved(40.0, model, direction), model, make, **config)
    return abs(flat(recorded(call)[0][0])[0] - flat(model)[0]) <= 0.4 * (1 + 1e-9)


def _clips_zero(api):
    """Return whether a client may send an update of 0."""
    try:
        through_mod(api, "LocalDpMod", [np.array(part) for part in MODEL], make=(0.4, 0.8, 0.6, 1e-4))
    except ZeroDivisionError:
        return False
    return True


def local_cases():
    """Yield the cases of local noise; a draw takes milliseconds, so that most is compared without samples."""
    noise = "a client has the noise of its parameters"
    relations = divided(_local_rounds, noise, "a client sends its clipped model with noise", *NOISE)
    yield Relations("LocalDpMod", relations, unsafe={noise: "below"})
    facts = {
        **{
            f"a scalar parameter is clipped, {api}": functools.partial(_clips_scalars, api, "LocalDpMod")
            for api in APIS
        },
        # who raises is known
        **{f"updates may be 0, {api}": functools.partial(_clips_zero, api) for api in APIS},
    }
    yield Relations("LocalDpMod, facts", {}, facts, unsafe=dict.fromkeys(facts, "either"))
    facts = {
        f"{name}: a scalar parameter is clipped, {api}": functools.partial(
            _clips_scalars, api, name, **{KEY_CLIPPING_NORM: 0.4}
        )
        for name in ("fixedclipping_mod", "adaptiveclipping_mod")
        for api in APIS
    }
    yield Relations("fixedclipping_mod, adaptiveclipping_mod", {}, facts, unsafe=dict.fromkeys(facts, "either"))
    for words, low, high in (("small epsilon", 1e-3, 1.0), ("large epsilon", 9.0, 40.0)):
        yield Answer(
            f"LocalDpMod, noise, {words}",
            "gaussian_sigma",
            _local_noise,
            domain={"epsilon": (low, high), "delta": (1e-9, 0.05)},
            calls=60,
        )
    yield _local(2.5, 0.01, 0.7, "message")  # its own formula suffices here, as the law shows
    yield _local_scalar("message")
    yield _unchanged("message")


# --- central, fixed clipping ------------------------------------------------------------------------------------


def _neighbours(clients, bound):
    reach = 6 * bound
    return f"vector:size={clients},l0=1,linf={2 * reach!r},low={-reach!r},high={reach!r}"


def _fixed(multiplier, norm_bound, clients, side, api, weights=None):
    words = "weights by the number of examples" if weights else "equal weights"

    def release(data):
        wrapped = strategy(api, wrapper(side, "Fixed"), multiplier, norm_bound, clients)
        return _along(flat(one_round(api, wrapped, data, weights)[0]))

    def distribution(data):
        shares = np.full(clients, 1 / clients) if weights is None else np.array(weights) / sum(weights)
        mean = sum(share * clipped(x, norm_bound) for share, x in zip(shares, data))
        return _gaussian(mean, recorded(lambda: release(data))[1])

    place = "flwr.serverapp.strategy" if api == "message" else "flwr.server.strategy"
    return Mechanism(
        f"{wrapper(side, 'Fixed')}({multiplier=}, {norm_bound=}, {clients=}), {words}, {api}",
        _neighbours(clients, norm_bound),
        f"zcdp:{2 / multiplier**2!r}",
        sample_one=release,
        seed=_seed,
        distribution=distribution,
        noiseless=lambda data: recorded(lambda: release(data))[0],
        sensitivity=2 * norm_bound / clients,
        floats=False,
        relative_error=1e-9,
        calls=2500,
        call=(
            f"from {place} import {wrapper(side, 'Fixed')}, FedAvg\n"
            f"# asked on updates with norms {norm(DIRECTION):.6g} * abs(x) for x in {{data}}, "
            f"weights {weights or 'equal'}\n"
            f"{wrapper(side, 'Fixed')}(FedAvg(), {multiplier!r}, {norm_bound!r}, {clients})"
        ),
    )


def _scalars_are_clipped(api, side):
    """Return whether a round moves a parameter without dimensions by no more than the noise is made for."""
    wrapped = strategy(api, wrapper(side, "Fixed"), 1.6, 0.4, 2)
    released = [
        recorded(functools.partial(one_round, api, wrapped, xs, None, *SCALARS))[0][0]
        for xs in ([9.0, 1.0], [-9.0, 1.0])
    ]
    return abs(flat(released[0])[0] - flat(released[1])[0]) <= 2 * 0.4 / 2 * (1 + 1e-9)


def _fixed_rounds(random):
    """Compare two rounds in each interface, clipped on each side, with their definition."""
    for api, side in itertools.product(APIS, SIDES):
        multiplier, bound, clients = random.uniform(*MULTIPLIERS), random.uniform(*NORMS), random.randint(2, 5)
        wrapped = strategy(api, wrapper(side, "Fixed"), multiplier, bound, clients)
        model, config = MODEL, no_config(api)
        for number in (1, 2):
            xs = [random.uniform(-3, 3) * bound for _ in range(clients)]
            call = functools.partial(one_round, api, wrapped, xs, model=model, config=config)
            (arrays, _), noises = shifted(call, random)
            words = f"round {number}, {api}, {side}, {multiplier!r}, {bound!r}, {xs!r}"
            released = sum(clipped(x, bound, model) for x in xs) / clients + noise_of_entries(noises)
            for place, (found, exact) in enumerate(zip(flat(arrays), released)):
                yield (f"entry {place}, {words}", *near(found, float(exact), 1e-9, 1e-8))
            yield f"arrays with noise, {words}", len(MODEL), len(noises), len(MODEL)
            yield f"noises of the shape of an array, {words}", len(MODEL), noises_of_arrays(noises), len(MODEL)
            for place, (centre, scale, _) in enumerate(noises):
                yield (f"mean of noise {place}, {words}", *near(centre, 0.0))
                yield (f"noise of array {place}, {words}", *near(scale, multiplier * bound / clients))
            model = arrays


def fixed_cases():
    """Yield the cases of fixed clipping; a round of messages, or with clients that clip, is too slow for samples."""
    noise = "a round has the noise of its parameters"
    relations = divided(_fixed_rounds, noise, "a round is that of its parameters beside the noise", *NOISE)
    yield Relations("fixed clipping", relations, unsafe={noise: "below"})
    facts = {
        f"a scalar parameter is clipped, {api}, {side}": functools.partial(_scalars_are_clipped, api, side)
        for api in APIS
        for side in SIDES
    }
    yield Relations("fixed clipping, facts", {}, facts, unsafe=dict.fromkeys(facts, "either"))
    yield _fixed(1.75, 2.5, 3, "Server", "legacy")
    yield _fixed(1.7, 0.6, 3, "Server", "legacy", weights=[11, 600, 23])
