"""Adaptive clipping of flwr: rounds whose noise and whose next norm are compared with their definition."""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np
from flwr_rounds import (
    APIS,
    DIRECTION,
    MODEL,
    MULTIPLIERS,
    NOISE,
    NORMS,
    SIDES,
    clipped,
    flat,
    no_config,
    noise_of_entries,
    noises_of_arrays,
    norm,
    one_round,
    recorded,
    shifted,
    strategy,
    wrapper,
)

from dpassay.adapter import Relations
from dpassay.impl.libraries.references import divided, near


def _adaptive_strategy(api, side, multiplier, clients, bound, quantile, rate, deviation):
    return strategy(
        api,
        wrapper(side, "Adaptive"),
        multiplier,
        clients,
        initial_clipping_norm=bound,
        target_clipped_quantile=quantile,
        clip_norm_lr=rate,
        clipped_count_stddev=deviation,
    )


def _adapted(random):
    """Compare two rounds of adaptive clipping in each interface, clipped on each side, with their definition."""
    for api, side in itertools.product(APIS, SIDES):
        multiplier, bound, clients = random.uniform(*MULTIPLIERS), random.uniform(*NORMS), random.randint(2, 5)
        quantile, rate = random.uniform(0.1, 0.9), random.uniform(0.1, 0.9)
        deviation = multiplier * random.uniform(0.6, 3)
        wrapped = _adaptive_strategy(api, side, multiplier, clients, bound, quantile, rate, deviation)
        model, config = MODEL, no_config(api)
        for number in (1, 2):
            used = wrapped.clipping_norm
            xs = [random.uniform(-2, 2) * used for _ in range(clients)]
            call = functools.partial(one_round, api, wrapped, xs, model=model, config=config)
            (arrays, _), noises = shifted(call, random)
            words = f"round {number}, {api}, {side}, {multiplier!r}, {used!r}, {xs!r}, {quantile!r}, {deviation!r}"
            count = sum(abs(x) * norm(DIRECTION) > used for x in xs)
            counted = [noise for noise in noises if abs(noise[1] - deviation) < 1e-12 and noise[0] == count]
            yield f"one noisy count of {count}, {words}", 1, len(counted), 1
            noisy = count + sum(float(added) for _, _, added in counted)
            moved_by = abs(math.log(wrapped.clipping_norm / used))
            yield (f"step of the norm, {words}, {rate!r}", *near(moved_by, rate * abs(noisy / clients - quantile)))
            of_arrays = [noise for noise in noises if np.ndim(noise[2]) > 0]
            released = sum(clipped(x, used, model) for x in xs) / clients + noise_of_entries(of_arrays)
            for place, (found, exact) in enumerate(zip(flat(arrays), released)):
                yield (f"entry {place}, {words}", *near(found, float(exact), 1e-9, 1e-8))
            counts = [noise for noise in noises if np.ndim(noise[2]) == 0]
            yield f"noise of counts, {words}", 1, len(counts), 1
            for _, found, _ in counts:
                yield (f"noise of the count, {words}", *near(found, deviation))
            effective = (multiplier**-2 - (2 * deviation) ** -2) ** -0.5
            # the norm after the round may be the larger one, for which the noise is larger than necessary
            least = effective * min(used, wrapped.clipping_norm) / clients
            for place, (mean, found, _) in enumerate(of_arrays):
                yield f"noise of array {place}, {words}", least * (1 - 1e-9), found, math.inf
                yield (f"mean of noise {place}, {words}", *near(mean, 0.0))
            yield f"arrays with noise, {words}", len(MODEL), len(of_arrays), len(MODEL)
            yield f"noises of the shape of an array, {words}", len(MODEL), noises_of_arrays(of_arrays), len(MODEL)
            model = arrays


def _after_a_round(xs, quantile, side="Server"):
    """Return the strategy after a round without noise on the count, its release and the noise."""
    wrapped = _adaptive_strategy("message", side, 0.9, len(xs), 0.5, quantile, 0.7, 2.0)
    (_, metrics), noises = recorded(lambda: one_round("message", wrapped, xs))
    return wrapped, metrics, noises


def _noise_of_the_norm_in_use():
    wrapped, _, noises = _after_a_round([3.0, -4.0, 5.0], 0.3)
    return all(scale >= wrapped.noise_multiplier * 0.5 / 3 * (1 - 1e-9) for mean, scale in noises[1:])


def adaptive_cases():
    """Yield the cases of adaptive clipping."""
    noise = "a round has the noise of its parameters"
    relations = divided(_adapted, noise, "a round is that of its parameters beside the noise", *NOISE)
    yield Relations("adaptive clipping", relations, unsafe={noise: "below"})
    protecting = {
        "noise is that of the norm to which updates were clipped": _noise_of_the_norm_in_use,
        "the metrics do not repeat the norm bits without noise": (
            lambda: "norm_bit" not in _after_a_round([3.0, 0.01, 5.0], 0.5, "Client")[1]
        ),
    }
    yield Relations(
        "adaptive clipping, facts",
        {},
        {
            **protecting,
            "the norm grows if more updates are clipped than the target": (
                lambda: _after_a_round([3.0, -4.0, 5.0], 0.5)[0].clipping_norm > 0.5
            ),
        },
        unsafe=dict.fromkeys(protecting, "either"),
    )
