"""Exact relations of the mechanisms of autodp, in each of their descriptions.

A mechanism states Renyi divergences, epsilons, deltas and trade-off functions. The
reference of each is a formula or an integral of its noise; epsilons and deltas that come from divergences lie between
the exact value and that of the documented conversion at the best order.
"""

from __future__ import annotations

import itertools
import math
from statistics import NormalDist

import numpy as np
from autodp import autodp_core, mechanism_zoo, transformer_zoo
from autodp_formulas import (
    close,
    closed_laplace_divergence,
    conversion_of_balle,
    conversion_of_mironov,
    delta_of_balle,
    finite_divergence,
    gaussian_divergence,
    laplace_divergence,
    least,
    pure_divergence,
    response_divergence,
    sampled_divergence,
)
from scipy import special

from dpassay.adapter import Relations
from dpassay.impl.libraries.references import composition_bounds, gaussian_delta, gaussian_epsilon, normal_cdf

__all__ = ["relations", "searches"]

_NORMAL = NormalDist()
_ORDERS = (2.0, 3.0, 7.0)


# --- mechanisms with a divergence -----------------------------------------------------------------------------


def _sparse_laplace(scale, count, queries, order):
    """Return the least of the four bounds of a sparse vector technique with Laplace noise."""
    step, whole = closed_laplace_divergence(scale, order), (count + 1) / scale
    return min(
        count / scale + step,
        count * math.log(queries / count) / (order - 1) + step * (count + 1),
        order * whole**2 / 2,
        pure_divergence(whole, order),
    )


def _sparse_gaussian(parameters, order):
    """Return the bounds of Zhu and Wang 2020 for the sparse vector technique that stops at the first answer."""
    first, second = parameters["sigma"], parameters.get("sigma_nu", math.sqrt(3) * parameters["sigma"])
    step, gamma, margin = parameters.get("Delta", 1.0), parameters.get("gamma", 2.0), parameters.get("margin", 0.0)
    noise = order * step**2 * (1 / first**2 + 2 / second**2)
    bounds = [math.log(parameters["k"]) / (order - 1)] if "k" in parameters else []
    if second >= math.sqrt(1 + gamma) * first:
        power = math.sqrt(1 + gamma) * math.sqrt(2 * math.pi) ** gamma
        moment = power * ((margin * (1 + gamma) / first) ** gamma + 1) * math.exp(gamma * margin**2 / (2 * first**2))
        bounds.append(math.log1p(moment) / (gamma * (order - 1)))
    return noise + min(bounds)


def _members(random):
    """Yield words, a mechanism, and its divergence as a function of the order."""
    sigma, scale, keep = random.uniform(1.2, 5), random.uniform(1.2, 5), random.uniform(0.55, 0.9)
    rho, shift, epsilon = random.uniform(0.01, 0.5), random.uniform(0.01, 0.5), random.uniform(0.3, 2)
    count, queries, rate = random.randint(2, 5), random.randint(20, 90), random.uniform(0.05, 0.4)
    p, q = random.uniform(0.2, 0.4), random.uniform(0.5, 0.8)
    zoo = mechanism_zoo
    yield f"GaussianMechanism({sigma!r})", zoo.GaussianMechanism(sigma), gaussian_divergence(sigma)
    yield f"ExactGaussianMechanism({sigma!r})", zoo.ExactGaussianMechanism(sigma), gaussian_divergence(sigma)
    yield f"LaplaceMechanism({scale!r})", zoo.LaplaceMechanism(b=scale), lambda o: laplace_divergence(scale, o)
    yield f"RandresponseMechanism({keep!r})", zoo.RandresponseMechanism(p=keep), lambda o: response_divergence(keep, o)
    yield f"zCDP_Mechanism({rho!r}, {shift!r})", zoo.zCDP_Mechanism(rho, shift), lambda o: shift + rho * o
    yield f"zCDP_Mechanism({rho!r})", zoo.zCDP_Mechanism(rho), lambda o: rho * o
    yield f"DiscreteGaussianMechanism({sigma!r})", zoo.DiscreteGaussianMechanism(sigma), gaussian_divergence(sigma)
    yield (
        f"ExponentialMechanism({epsilon!r})",
        zoo.ExponentialMechanism(epsilon),
        lambda o: min(epsilon**2 / 8 * o, pure_divergence(epsilon, o)),
    )
    yield f"PureDP_Mechanism({epsilon!r})", zoo.PureDP_Mechanism(epsilon), lambda o: pure_divergence(epsilon, o)
    composed = {"sigma": sigma, "coeff": count}
    yield (
        f"ComposedGaussianMechanism({composed})",
        zoo.ComposedGaussianMechanism(composed),
        lambda o: count * o / (2 * sigma**2),
    )
    yield (
        f"NoisyScreenMechanism({p!r}, {q!r})",
        zoo.NoisyScreenMechanism({"logp": math.log(p), "logq": math.log(q)}),
        lambda o: finite_divergence([p, 1 - p], [q, 1 - q], o),
    )
    for given in (
        {"k": queries, "sigma_nu": sigma * random.uniform(0.8, 1.5)},
        {"k": 2, "sigma_nu": sigma * random.uniform(1.8, 3), "margin": random.uniform(0.5, 2), "Delta": 0.7},
        {"k": 10**6, "sigma_nu": sigma * random.uniform(2.1, 3), "margin": random.uniform(0.5, 1), "gamma": 3.0},
        {"margin": random.uniform(0.3, 1)},
    ):
        parameters = {"sigma": sigma, **given}
        yield (
            f"GaussianSVT_Mechanism({parameters})",
            zoo.GaussianSVT_Mechanism(parameters),
            lambda o, p=parameters: _sparse_gaussian(p, o),
        )
    several = {"sigma": sigma, "k": queries, "c": count}
    yield (
        f"GaussianSVT_Mechanism({several}, rdp_c_1=False)",
        zoo.GaussianSVT_Mechanism(several, rdp_c_1=False),
        lambda o: count * math.log(queries / count) / (o - 1) + (count + 1) * o / (2 * sigma**2),
    )
    for size in (scale, 12 * scale):
        parameters = {"b": size, "k": queries, "c": count}
        yield (
            f"LaplaceSVT_Mechanism({parameters})",
            zoo.LaplaceSVT_Mechanism(parameters),
            lambda o, b=size: _sparse_laplace(b, count, queries, o),
        )
    sizes = np.array([random.uniform(2, 6) for _ in range(3)])
    yield f"NoisyGD_Mechanism({sizes})", zoo.NoisyGD_Mechanism(sizes), lambda o: o / 2 * sum(1 / s**2 for s in sizes)
    sampled = lambda o: count * sampled_divergence(gaussian_divergence(sigma), rate, round(o))  # noqa: E731  # a formula
    yield f"NoisySGD_Mechanism({rate!r}, {sigma!r}, {count})", zoo.NoisySGD_Mechanism(rate, sigma, count), sampled
    parameters = {"prob": rate, "sigma": sigma, "coeff": count}
    yield f"SubsampleGaussianMechanism({parameters})", zoo.SubsampleGaussianMechanism(parameters), sampled


_BY_A_THEOREM = ("ExponentialMechanism", "GaussianSVT", "LaplaceSVT")
"""Mechanisms whose divergence is a bound; that of every other one is attained."""


def _divergences(random, *, attained):
    for words, mechanism, curve in _members(random):
        if words.startswith(_BY_A_THEOREM) is attained:
            continue
        for order in _ORDERS:
            yield (f"{words}, order {order}", *close(mechanism.get_RDP(order), curve(order), 1e-6))


_WITH_FRACTIONAL_ORDERS = ("zCDP", "Discrete", "Composed", "NoisyScreen", "GaussianSVT", "LaplaceSVT")
"""Mechanisms whose epsilons come from their divergences alone, at every order."""


def _epsilons(random):
    delta, epsilon = 10 ** random.uniform(-7, -2), random.uniform(0.3, 2)
    for words, mechanism, curve in _members(random):
        if not words.startswith(_WITH_FRACTIONAL_ORDERS):
            continue
        last = 3.5 if math.isinf(curve(math.inf)) else 8  # of a bounded loss the best order may be large
        orders = [1 + 10**x for x in np.linspace(-3, last, 500)]
        exact = least(curve, conversion_of_balle(delta), orders)
        # a search with three starting points need not end at the best order
        found = float(mechanism.get_approxDP(delta))
        yield f"{words}, epsilon at {delta!r}", exact * (1 - 1e-5) - 1e-9, found, exact * (1 + 1e-2) + 1e-6
        exact = least(curve, delta_of_balle(epsilon), orders)
        found = float(mechanism.get_approx_delta(epsilon))
        yield f"{words}, delta at {epsilon!r}", exact * (1 - 1e-6) - 1e-12, found, 1.0
        yield (
            f"{words}, get_eps",
            *close(mechanism.get_eps(delta), min(mechanism.get_approxDP(delta), mechanism.get_pureDP())),
        )


def _tight(random):
    """Check epsilons that are exact, and those of pure mechanisms."""
    sigma, keep, pure = random.uniform(0.8, 5), random.uniform(0.6, 0.9), random.uniform(0.3, 3)
    delta, zoo = 10 ** random.uniform(-7, -2), mechanism_zoo
    exact = gaussian_epsilon(sigma, delta)
    for name in ("GaussianMechanism", "ExactGaussianMechanism"):
        yield f"{name}({sigma!r}), {delta!r}", *close(getattr(zoo, name)(sigma).get_approxDP(delta), exact, 1e-7, 1e-8)
    found = zoo.GaussianMechanism(sigma, approxDP_off=True, RDP_off=True, fdp_off=False).get_approxDP(delta)
    yield f"GaussianMechanism({sigma!r}), by its trade-off function, {delta!r}", *close(found, exact, 1e-4, 1e-6)
    sizes = np.array([random.uniform(1, 6) for _ in range(3)])
    exact = gaussian_epsilon(1 / math.sqrt(sum(1 / s**2 for s in sizes)), delta)
    yield (
        f"NoisyGD_Mechanism({sizes}), {delta!r}",
        *close(zoo.NoisyGD_Mechanism(sizes).get_approxDP(delta), exact, 1e-6),
    )
    response = math.log((keep - delta) / (1 - keep))
    yield (
        f"RandresponseMechanism({keep!r}), {delta!r}",
        *close(zoo.RandresponseMechanism(p=keep).get_approxDP(delta), response),
    )
    for name in ("PureDP_Mechanism", "ExponentialMechanism"):
        mechanism = getattr(zoo, name)(pure)
        most = math.log(math.exp(pure) - delta)
        yield f"{name}({pure!r}), {delta!r}", 0.0, float(mechanism.get_approxDP(delta)), most * (1 + 1e-9)
        yield f"{name}({pure!r}), pure", *close(mechanism.get_pureDP(), pure)
        yield f"{name}({pure!r}), delta0", 0.0, float(mechanism.delta0), 0.0


def _converted(random):
    """Check epsilons by the conversion that is asked for, or by the one that the library has."""
    sigma, pure, delta = random.uniform(0.8, 5), random.uniform(0.3, 3), 10 ** random.uniform(-7, -2)
    zoo, curve = mechanism_zoo, gaussian_divergence(sigma)
    for words, flags, conversion in (
        ("by divergences", {}, conversion_of_balle),
        ("by the basic conversion", {"use_basic_RDP_to_approxDP_conversion": True}, conversion_of_mironov),
    ):
        found = zoo.GaussianMechanism(sigma, approxDP_off=True, **flags).get_approxDP(delta)
        yield f"GaussianMechanism({sigma!r}), {words}, {delta!r}", *close(found, least(curve, conversion(delta)), 1e-5)
    most = math.log(math.exp(pure) - delta)
    yield f"PureDP_Mechanism({pure!r}), {delta!r}", *close(zoo.PureDP_Mechanism(pure).get_approxDP(delta), most, 1e-6)


def _trade_offs(random):
    """Check the errors of tests: those of a bound lie below the exact ones, and not far below."""
    sigma, keep = random.uniform(0.8, 3), random.uniform(0.6, 0.9)
    zoo, rates = mechanism_zoo, [random.uniform(0.02, 0.9) for _ in range(3)]
    for rate in rates:
        exact = normal_cdf(_NORMAL.inv_cdf(1 - rate) - 1 / sigma)
        for words, mechanism in (
            ("GaussianMechanism, exact", zoo.GaussianMechanism(sigma, fdp_off=False, RDP_off=True, approxDP_off=True)),
            ("GaussianMechanism, by epsilons", zoo.GaussianMechanism(sigma)),
            ("ExactGaussianMechanism", zoo.ExactGaussianMechanism(sigma)),
        ):
            yield f"{words}, noise {sigma!r}, rate {rate!r}", *close(mechanism.get_fDP(rate), exact, 1e-3, 1e-5)
        found = zoo.GaussianMechanism(sigma, approxDP_off=True).get_fDP(rate)
        yield f"GaussianMechanism, by divergences, {sigma!r}, {rate!r}", exact * 0.3, float(found), exact * (1 + 1e-9)
        found = zoo.RandresponseMechanism(p=keep).get_fDP(rate)
        ratio = keep / (1 - keep)
        exact = max(1 - ratio * rate, (1 - rate) / ratio)
        yield f"RandresponseMechanism({keep!r}), rate {rate!r}", exact * (1 - 1e-3), float(found), exact * (1 + 1e-9)
    pure = random.uniform(0.3, 3)
    for name, rate in itertools.product(("PureDP_Mechanism", "ExponentialMechanism"), rates):
        found = getattr(zoo, name)(pure).get_fDP(rate)
        low = max(0.0, 1 - math.exp(pure) * rate, math.exp(-pure) * (1 - rate))
        yield f"{name}({pure!r}), rate {rate!r}", low * (1 - 1e-9), float(found), 1 - rate
    found = zoo.PureDP_Mechanism(1.3).plot_fDP(5)
    for rate, other in zip(*found):
        yield f"plot_fDP at {rate}", *close(other, max(1 - math.exp(1.3) * rate, math.exp(-1.3) * (1 - rate), 0.0))
    orders, values = zoo.GaussianMechanism(sigma).plot_RDP(5, 5)
    for order, value in zip(orders, values):
        yield f"plot_RDP at {order}", *close(value, order / (2 * sigma**2))


def _fdp_based(random):
    """Check the conversion by trade-off functions; its search for a tangent line fails at one of sixty parameters."""
    unanswered = 0
    for count in (1, 1, random.randint(2, 4)):
        noise, delta = random.uniform(1.2, 3), 10 ** random.uniform(-4, -2)
        # several mechanisms that together are the Gaussian mechanism of this noise
        mechanism = mechanism_zoo.GaussianMechanism(
            noise * math.sqrt(count), approxDP_off=True, use_fDP_based_RDP_to_approxDP_conversion=count == 1
        )
        if count > 1:
            mechanism = transformer_zoo.Composition()([mechanism], [count], fDP_based_conversion=True)
        try:
            found = float(mechanism.get_approxDP(delta))
        except RuntimeError:
            unanswered += 1  # no answer is no wrong answer
            continue
        low, high = gaussian_epsilon(noise, delta), least(gaussian_divergence(noise), conversion_of_balle(delta))
        words = f"{count} of together noise {noise!r}, {delta!r}, trade-off functions of divergences"
        yield words, low, found, high * (1 + 1e-2)
    yield "without an answer, of three", 0.0, float(unanswered), 2.0


def _approximate(random):
    """Check Renyi divergences that hold up to a delta: those of a pure mechanism of the epsilon at that delta."""
    # above an epsilon of log(4) an order that stands in for a delta is answered too
    pure, delta, order = random.uniform(1.5, 3), 10 ** random.uniform(-4, -2), random.uniform(1.5, 4)
    exact = pure_divergence(math.log(math.exp(pure) - delta), order)
    found = mechanism_zoo.PureDP_Mechanism(pure).get_approxRDP(delta, order)
    yield f"PureDP_Mechanism({pure!r}), delta {delta!r}, order {order!r}", *close(found, exact)


def _approximate_of_response(random):
    """Check that Renyi divergences up to a delta are no less than those of a randomised response without delta."""
    # above an epsilon of log(4) an order that stands in for a delta is answered too
    pure, delta, order = random.uniform(1.5, 3), 10 ** random.uniform(-4, -2), random.uniform(1.5, 4)
    keep = 1 / (1 + math.exp(-pure))
    rest = pure_divergence(math.log((keep - delta) / (1 - keep)), order)
    found = float(mechanism_zoo.PureDP_Mechanism(pure).get_approxRDP(delta, order))
    yield f"PureDP_Mechanism({pure!r}), delta {delta!r}, order {order!r}", rest * (1 - 1e-9), found, math.inf


# --- updates of a mechanism -----------------------------------------------------------------------------------


def _updates(random):
    """Check what the parts of a description become when a mechanism is told one of them, then a better one."""
    sigma, delta, pure = random.uniform(1.2, 4), 10 ** random.uniform(-5, -2), random.uniform(0.2, 2)
    leak, rate = random.uniform(0.01, 0.1), random.uniform(0.05, 0.5)
    made = autodp_core.Mechanism
    mechanism = made()
    mechanism.propagate_updates(pure + 1, "pureDP")
    mechanism.propagate_updates(pure, "pureDP")
    mechanism.propagate_updates(pure + 2, "pureDP")
    yield f"pure, {pure!r}", *close(mechanism.get_pureDP(), pure)
    yield f"pure, {pure!r}, divergence", *close(mechanism.get_RDP(3.0), pure_divergence(pure, 3.0))
    yield f"pure, {pure!r}, epsilon", *close(mechanism.get_approxDP(delta), math.log(math.exp(pure) - delta))
    exact = pure_divergence(math.log(math.exp(pure) - delta), 3.0)
    yield f"pure, {pure!r}, divergence up to {delta!r}", *close(mechanism.approxRDP(3.0, delta), exact)
    yield (
        f"pure, {pure!r}, trade-off",
        *close(mechanism.get_fDP(rate), max(1 - math.exp(pure) * rate, math.exp(-pure) * (1 - rate))),
    )
    mechanism = made()
    mechanism.propagate_updates((pure + 1, leak), "approxDP")
    mechanism.propagate_updates((pure, leak), "approxDP")
    for at, exact in ((leak, pure), (2 * leak, pure), (leak / 2, math.inf)):
        yield f"({pure!r}, {leak!r}), epsilon at {at!r}", exact, float(mechanism.get_approxDP(at)), exact
    exact = max(0.0, 1 - leak - math.exp(pure) * rate, math.exp(-pure) * (1 - leak - rate))
    yield f"({pure!r}, {leak!r}), trade-off at {rate!r}", *close(mechanism.get_fDP(rate), exact)
    yield f"({pure!r}, {leak!r}), delta0", *close(mechanism.delta0, leak)
    mechanism = made()
    for factor in (1.4, 1.0, 1.2):
        mechanism.propagate_updates(lambda o, f=factor: f * o / (2 * sigma**2), "RDP")
    yield f"divergence, {sigma!r}", *close(mechanism.get_RDP(5.0), 5 / (2 * sigma**2))
    exact = least(gaussian_divergence(sigma), conversion_of_balle(delta))
    yield f"divergence, {sigma!r}, epsilon", *close(mechanism.get_approxDP(delta), exact, 1e-5)
    exact = least(gaussian_divergence(sigma), delta_of_balle(pure))
    yield f"divergence, {sigma!r}, delta at {pure!r}", exact * (1 - 1e-6), float(mechanism.get_approx_delta(pure)), 1.0
    mechanism = made()
    mechanism.propagate_updates(lambda d: gaussian_epsilon(sigma * 0.7, d), "approxDP_func", delta0=0.2)
    mechanism.propagate_updates(lambda d: gaussian_epsilon(sigma, d), "approxDP_func", delta0=0.1)
    yield f"epsilons, {sigma!r}, at {delta!r}", *close(mechanism.get_approxDP(delta), gaussian_epsilon(sigma, delta))
    exact = normal_cdf(_NORMAL.inv_cdf(1 - rate) - 1 / sigma)
    yield f"epsilons, {sigma!r}, trade-off at {rate!r}", *close(mechanism.get_fDP(rate), exact, 1e-3, 1e-5)
    yield "epsilons, delta0", *close(mechanism.delta0, 0.1)
    cdf = lambda t: normal_cdf(t * sigma - 0.5 / sigma)  # noqa: E731  # a formula
    mechanism = made()
    mechanism.propagate_updates((cdf, cdf), "cdf")
    yield (
        f"losses, {sigma!r}, delta at {pure!r}",
        *close(mechanism.get_approx_delta(pure), gaussian_delta(sigma, pure)),
    )
    yield f"losses, {sigma!r}, at {rate!r}", *close(mechanism.get_cdf_p2q(rate), cdf(rate))
    yield f"losses, {sigma!r}, the other way", *close(mechanism.get_cdf_q2p(-rate), cdf(-rate))
    other = made()
    whole = mechanism_zoo.GaussianMechanism(sigma)
    other.set_all_representation(whole)
    yield (
        f"a copy of noise {sigma!r}, epsilon",
        *close(other.get_approxDP(delta), gaussian_epsilon(sigma, delta), 1e-7, 1e-8),
    )
    yield f"a copy of noise {sigma!r}, divergence", *close(other.get_RDP(3.0), 3 / (2 * sigma**2))
    yield f"a copy of noise {sigma!r}, trade-off", *close(other.get_fDP(rate), exact, 1e-3, 1e-5)
    yield "a copy, delta0", 0.0, float(other.delta0), 0.0


def _unknown():
    """Return whether a mechanism of which nothing is known, or all of it turned off, states no privacy."""
    mechanism = autodp_core.Mechanism()
    infinite = (
        mechanism.get_RDP(2.0),
        mechanism.get_approxDP(0.1),
        mechanism.get_approxRDP(0.1, 2.0),
        mechanism.get_pureDP(),
        mechanism.get_eps(0.1),
        mechanism.delta0,
    )
    off = (
        mechanism_zoo.GaussianMechanism(2.0, RDP_off=True, approxDP_off=True),
        mechanism_zoo.SubsampleGaussianMechanism({"prob": 0.3, "sigma": 2.0, "coeff": 3}, RDP_off=True),
        mechanism_zoo.StageWiseMechanism({"sigma": 20.0, "k": 8, "c": 4}, approxDP_off=True),
    )
    return (
        all(math.isinf(x) for x in (*infinite, *(made.get_approxDP(0.1) for made in off)))
        and mechanism.get_approx_delta(3.0) == 1
        and mechanism.get_fDP(0.2) == 0
    )


# --- sparse vectors in stages ---------------------------------------------------------------------------------


def _stages(parameters, delta, sizes):
    """Return the epsilon of Zhu and Wang 2020, Theorem 12, at the best share of delta for each stage of a size."""
    sigma, queries = parameters["sigma"], parameters["k"]

    def whole(log):
        losses = [
            (1 + size) / (2 * sigma**2)
            + math.sqrt((1 + size) / (2 * sigma**2) * (math.log(special.comb(queries, size)) - log))
            for size in sizes
        ]
        slack = 1 - math.exp(math.log1p(-delta) - len(sizes) * math.log1p(-math.exp(log)))
        if slack <= 0:
            return math.inf
        return min(composition_bounds(losses, slack))

    most = min(delta / len(sizes), 1 / special.comb(queries, sizes[0]))
    return min(whole(math.log(most) - 0.01 - x) for x in np.linspace(0, 4, 200))


def _staged(random, counts):
    for count in counts:
        size = math.isqrt(count)
        parameters = {"sigma": random.uniform(8, 20), "k": random.randint(6, 12), "c": count}
        sizes = [size] * (count // size) + ([count % size] if count % size else [])
        delta = 10 ** random.uniform(-6, -4)
        exact = _stages(parameters, delta, sizes)
        found = float(mechanism_zoo.StageWiseMechanism(parameters).get_approxDP(delta))
        yield f"StageWiseMechanism({parameters}), {delta!r}", exact * (1 - 1e-2), found, exact * 1.5


def searches():
    """Yield the relations for which the library searches, and which take long."""
    attained = {"trade-off functions of divergences cost as much as the exact one": _fdp_based}
    yield Relations(
        "epsilons of mechanisms",
        {"epsilons are those of the best order": _epsilons, **attained},
        understated=attained,
    )


def relations():
    """Yield the relations."""
    attained = {
        "divergences are those of the noise": lambda random: _divergences(random, attained=True),
        "exact epsilons are exact": _tight,
    }
    yield Relations(
        "divergences of mechanisms",
        {
            **attained,
            "divergences are those of the theorems": lambda random: _divergences(random, attained=False),
            "epsilons are those of the conversions": _converted,
            "trade-off functions are those of the noise": _trade_offs,
            "stages cost what the theorem says": lambda random: _staged(random, (4, 6, 9)),
            "a last stage costs what the theorem says": lambda random: _staged(random, (5, 11)),
        },
        understated=attained,
    )
    attained = {"they are no less than those of a response": _approximate_of_response}
    yield Relations(
        "approximate divergences",
        {"they are those of the epsilon at the delta": _approximate, **attained},
        understated=attained,
    )
    yield Relations(
        "descriptions of mechanisms",
        {"parts of a description follow from each other": _updates},
        {"nothing is known of a new mechanism": _unknown},
    )
