"""Noise, exponential mechanisms and conversions of dpmm, and the record of both while a model is fitted."""

from __future__ import annotations

import itertools
import math
import warnings
from contextlib import contextmanager

import numpy as np
from dpmm.models import aim, mst
from dpmm.models.base.mechanisms import cdp2adp, mechanism
from dpmm.models.base.utils import gaussian_noise, laplace_noise

from dpassay.adapter import Answer, Family, Mechanism, Relations
from dpassay.impl.libraries.references import gaussian_delta, near

warnings.simplefilter("ignore")


_LITTLE = 2.0**-10
"""Between the numbers that stand for noise: they stay below 1, and their sums with counts are exact."""


def recorded(call):
    """Return what a call returns with known noise, and the standard deviations with the noise of their entries.

    No two entries have the same noise, so that it shows where noise is left out, or is that of another entry.
    """
    noises, places = [], itertools.count(1)

    def known(sigma, size=None):
        count = int(np.prod(size)) if size is not None else 1
        entries = np.array([_LITTLE * place for place in itertools.islice(places, count)])
        noises.append((float(sigma), entries))
        return entries.reshape(size) if size is not None else float(entries[0])

    with in_place_of(known):
        return call(), noises


@contextmanager
def in_place_of(known):
    """Draw noise from a function of the standard deviation and the size."""
    owners = (mechanism, aim, mst)
    kept = [owner.gaussian_noise for owner in owners]
    for owner in owners:
        owner.gaussian_noise = known
    try:
        yield
    finally:
        for owner, function in zip(owners, kept):
            owner.gaussian_noise = function


def agrees(words, found, exact, relative=1e-9):
    """Return the comparison of a number with its reference, where a difference costs no privacy on either side.

    What does not agree is below its bounds; relations with such rows are unsafe above them alone.
    """
    is_near = math.isclose(found, exact, rel_tol=relative, abs_tol=1e-11)
    return f"{words}, {float(found)!r} for {float(exact)!r}", 1.0, float(is_near), 1.0


# --- primitives -------------------------------------------------------------------------------------------------


def _gaussian(sigma, size, shape, words):
    """Return the case of noise for some numbers, in an array of a shape."""
    return Mechanism(
        f"gaussian_noise({sigma=}, {words})",
        f"vector:size={size},l2=0.7",
        f"zcdp:{0.49 / (2 * sigma**2)!r}",
        sample_one=lambda data: (np.array(data) + np.ravel(gaussian_noise(sigma=sigma, size=shape))).tolist(),
        distribution=lambda data: {"family": "gaussian", "location": list(data), "scale": sigma},
        floats=False,
        slow=True,
    )


def _laplace(scale, size):
    return Mechanism(
        f"laplace_noise({scale=}, {size=})",
        f"vector:size={size},l1=0.7",
        f"pure:{0.7 / scale!r}",
        sample_one=lambda data: (np.array(data) + np.array(laplace_noise(scale=scale, size=size))).tolist(),
        distribution=lambda data: {"family": "laplace", "location": list(data), "scale": scale},
        floats=False,
        slow=True,
    )


# --- selection --------------------------------------------------------------------------------------------------

_SEEDED = np.random.RandomState(0)


def _seed(number):
    _SEEDED.seed(number % 2**32)


def _weights(qualities, epsilon, sensitivity):
    """Return the probabilities of an exponential mechanism, up to a factor."""
    top = max(qualities)
    return [math.exp(epsilon * (quality - top) / (2 * sensitivity)) for quality in qualities]


def _of_mst(epsilon, sensitivity):
    model = mst.MST(epsilon=1.0, delta=1e-5, prng=_SEEDED, n_jobs=1, compress=False)
    return lambda qualities: model.exponential_mechanism(np.array(qualities), epsilon, sensitivity)


def _of_aim(epsilon, sensitivity):
    model = aim.AIM(epsilon=1.0, delta=1e-5, prng=_SEEDED, n_jobs=1)

    def choose(qualities):
        return model.exponential_mechanism(dict(enumerate(qualities)), epsilon, sensitivity)

    return choose


def _selection(make):
    def member(epsilon, sensitivity, size):
        choose = make(epsilon, sensitivity)
        return Mechanism(
            "",
            f"vector:size={size},linf={sensitivity!r},low={-20 * sensitivity!r},high={20 * sensitivity!r}",
            f"pure:{epsilon!r}",
            sample_one=lambda data: int(choose(data)),
            seed=_seed,
            distribution=lambda data: {
                "family": "finite",
                "symbols": list(range(size)),
                "probabilities": _weights(data, epsilon, sensitivity),
            },
            relative_error=1e-9,
            calls=4000,
        )

    return member


def _choices_of_models(random):
    """Yield the probabilities that models choose by, with scores and the parts of the definition.

    The parts are the sensitivity, the factor of scores over it in the exponent, and weights; some calls use defaults.
    """
    seen, names = [], "abcd"

    class _Choices:
        @staticmethod
        def choice(_, p):
            seen.append(p)
            return 0

    of_mst, of_aim = (model(epsilon=1.0, delta=1e-5, prng=_Choices(), n_jobs=1) for model in (mst.MST, aim.AIM))
    scores = [random.uniform(-4, 4) for _ in names]
    named, measure = dict(zip(names, scores)), {name: random.uniform(0.2, 5) for name in names}
    epsilon, sensitivity, equal = random.uniform(0.3, 4), random.uniform(1.5, 3), dict.fromkeys(names, 1.0)
    chosen = [
        (of_mst, np.array(scores), (epsilon, sensitivity), {}, 0.5, equal),
        (of_mst, np.array(scores), (epsilon, sensitivity), {"monotonic": False}, 0.5, equal),
        (of_mst, np.array(scores), (epsilon, sensitivity), {"monotonic": True}, 1.0, equal),
        (of_aim, named, (epsilon,), {}, 0.5, equal),
        (of_aim, named, (epsilon, sensitivity), {}, 0.5, equal),
        (of_aim, named, (epsilon, sensitivity), {"base_measure": measure}, 0.5, measure),
        (of_aim, scores, (epsilon, sensitivity), {}, 0.5, equal),
    ]
    for model, qualities, numbers, more, factor, weights in chosen:
        seen.clear()
        model.exponential_mechanism(qualities, *numbers, **more)
        words = f"{type(model).__name__}, {qualities!r}, {numbers!r}, {more!r}"
        yield words, seen, scores, numbers[1] if len(numbers) > 1 else 1.0, factor * epsilon, list(weights.values())


def _probabilities(random):
    """Compare the probabilities of choices with those of the exponential mechanism."""
    for words, seen, scores, sensitivity, factor, weights in _choices_of_models(random):
        yield f"draws, {words}", 1, len(seen), 1
        exact = [weight * math.exp(factor * score / sensitivity) for score, weight in zip(scores, weights)]
        yield f"options, {words}", len(exact), len(seen[0]), len(exact)
        for place, (found, value) in enumerate(zip(seen[0], exact)):
            yield (f"probability {place}, {words}", *near(float(found), value / math.fsum(exact)))


def noise_cases():
    """Yield the cases of noise and of selection."""
    yield _gaussian(0.4, 2, (2, 1), "size=2")
    # AIM passes the product of the sizes of its columns, which is a number of numpy
    yield _gaussian(0.4, 2, np.int64(2), "size=np.int64(2)")
    yield _laplace(0.35, 2)
    parameters = {"epsilon": (1.2, 2.5), "sensitivity": (0.3, 7.0), "size": [3]}
    yield Family("MST.exponential_mechanism", _selection(_of_mst), parameters)
    yield Family("AIM.exponential_mechanism", _selection(_of_aim), parameters)
    yield Relations("exponential_mechanism", {"probabilities are those of the scores": _probabilities})


# --- conversions ------------------------------------------------------------------------------------------------


_SMALLEST = 1e-300
"""Smaller deltas have few bits in float64, or none."""


def _parameters(random):
    return 10 ** random.uniform(-4, 1), random.uniform(0.01, 20), 10 ** random.uniform(-12, -1)


def _sound(random):
    """Compare both bounds on delta with that of Gaussian noise, and a delta with that of the rho found for it."""
    rho, epsilon, delta = _parameters(random)
    standard, found = cdp2adp.cdp_delta_standard(rho, epsilon), cdp2adp.cdp_delta(rho, epsilon)
    words = f"rho={rho!r}, epsilon={epsilon!r}"
    if epsilon > rho:
        least = gaussian_delta(1 / math.sqrt(2 * rho), epsilon) * (1 - 1e-9) - _SMALLEST
        yield f"cdp_delta_standard, {words}", least, standard, 1.0
        yield f"cdp_delta, {words}", least, found, min(1.0, standard) * (1 + 1e-9) + _SMALLEST
    reached = cdp2adp.cdp_delta(cdp2adp.cdp_rho(epsilon, delta), epsilon)
    yield f"delta over that of cdp_rho({epsilon!r}, {delta!r})", 1 - 1e-9, delta / reached, math.inf


def _tight(random):
    """Compare the simpler bound with its formula, and delta with that of a rho slightly above the one found for it."""
    rho, epsilon, delta = _parameters(random)
    if epsilon > rho:
        standard, exact = cdp2adp.cdp_delta_standard(rho, epsilon), math.exp(-((epsilon - rho) ** 2) / 4 / rho)
        yield (f"cdp_delta_standard, rho={rho!r}, epsilon={epsilon!r}", *near(standard, exact))
    larger = cdp2adp.cdp_delta(cdp2adp.cdp_rho(epsilon, delta) * 1.001, epsilon)
    if cdp2adp.cdp_delta(epsilon + 1, epsilon) > delta:
        yield f"cdp_rho({epsilon!r}, {delta!r}) is the largest", delta, larger, math.inf


def conversion_cases():
    """Yield the conversions of concentrated privacy."""
    domain = {"rho": (1e-6, 50.0), "epsilon": (1e-3, 60.0), "delta": (1e-15, 0.9)}
    for name, question, compute in (
        ("cdp_delta", "zcdp_delta", lambda rho, epsilon: float(cdp2adp.cdp_delta(rho, epsilon))),
        ("cdp_eps", "zcdp_epsilon", lambda rho, delta: float(cdp2adp.cdp_eps(rho, delta))),
        ("cdp_rho", "zcdp_rho", lambda epsilon, delta: float(cdp2adp.cdp_rho(epsilon, delta))),
    ):
        yield Answer(name, question, compute, domain=domain, relative_error=1e-9, calls=60)
    yield Relations(
        "dpmm.models.base.mechanisms.cdp2adp",
        {"bounds hold": _sound, "bounds are those of their proofs": _tight},
        understated=["bounds hold"],
    )
