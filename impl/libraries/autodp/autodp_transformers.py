"""Exact relations of the transformers of autodp: compositions, samples, and characteristic functions of losses."""

from __future__ import annotations

import cmath
import math
from unittest import mock

import numpy as np
from autodp import autodp_core, mechanism_zoo, transformer_zoo
from autodp_formulas import (
    chord,
    close,
    conversion_of_balle,
    conversion_of_mironov,
    gaussian_divergence,
    laplace_divergence,
    least,
    pure_divergence,
    sampled_divergence,
    sampled_without_replacement,
)
from scipy import integrate

from dpassay.adapter import Relations
from dpassay.impl.libraries.references import gaussian_delta, gaussian_epsilon

__all__ = ["relations"]


def _several(random):
    """Return words, the pure epsilon of the last of three mechanisms, the mechanisms, counts, and their divergence."""
    sigma, scale, pure = random.uniform(1.2, 4), random.uniform(1.2, 4), random.uniform(0.1, 0.5)
    counts = [random.randint(2, 5) for _ in range(3)]
    zoo = mechanism_zoo
    parts = [zoo.GaussianMechanism(sigma), zoo.LaplaceMechanism(b=scale), zoo.PureDP_Mechanism(pure)]
    words = f"{counts} Gaussian, Laplace and pure mechanisms, {sigma!r}, {scale!r}, {pure!r}"

    def curve(order):
        each = (order / (2 * sigma**2), laplace_divergence(scale, order), pure_divergence(pure, order))
        return math.fsum(count * one for count, one in zip(counts, each))

    return words, pure, parts, counts, curve


def _converted(random):
    """Check the epsilons of compositions, which are those of their divergences by either conversion."""
    delta = 10 ** random.uniform(-6, -2)
    words, _, parts, counts, curve = _several(random)
    for flag, conversion in ((True, conversion_of_balle), (False, conversion_of_mironov)):
        whole = transformer_zoo.Composition()(parts, counts, BBGHS_conversion=flag)
        exact = least(curve, conversion(delta), [1 + 10**x for x in np.linspace(-2, 2, 60)])
        found = float(whole.get_approxDP(delta))
        yield f"{words}, {flag}, epsilon at {delta!r}", exact * (1 - 1e-5), found, exact * (1 + 1e-2)


def _compositions(random):
    delta, zoo = 10 ** random.uniform(-6, -2), mechanism_zoo
    words, pure, parts, counts, curve = _several(random)
    for flag in (True, False):
        whole = transformer_zoo.Composition()(parts, counts, BBGHS_conversion=flag)
        for order in (1.5, 2.0, 6.0):
            yield f"{words}, order {order}", *close(whole.get_RDP(order), curve(order), 1e-6)
    yield f"{words}, pure", math.inf, float(whole.get_pureDP()), math.inf
    parts[0], parts[1] = zoo.ExponentialMechanism(pure / 2), zoo.PureDP_Mechanism(2 * pure)
    whole = transformer_zoo.Composition()(parts, counts)
    exact = counts[0] * pure / 2 + counts[1] * 2 * pure + counts[2] * pure
    yield f"{counts} pure mechanisms, {pure!r}", *close(whole.get_pureDP(), exact)
    yield f"{counts} pure mechanisms, delta0", 0.0, float(whole.delta0), 0.0
    sizes = [random.uniform(1, 4) for _ in range(3)]
    found = transformer_zoo.ComposeGaussian()([zoo.ExactGaussianMechanism(s) for s in sizes], counts)
    noise = 1 / math.sqrt(sum(count / size**2 for count, size in zip(counts, sizes)))
    words = f"ComposeGaussian, {sizes}, {counts}"
    # ComposeGaussian inherits the call of Composition, which adds divergences up
    for of, low, high in (
        (
            found.get_approxDP,
            gaussian_epsilon(noise, delta),
            least(gaussian_divergence(noise), conversion_of_balle(delta)),
        ),
        (transformer_zoo.ComposeGaussian().compose([zoo.GaussianMechanism(s) for s in sizes], counts).get_approxDP,)
        + (gaussian_epsilon(noise, delta),) * 2,
    ):
        yield f"{words}, epsilon at {delta!r}", low * (1 - 1e-6) - 1e-8, float(of(delta)), high * (1 + 1e-6) + 1e-8


def _samples(random):
    """Check samples of mechanisms: their divergences, and their epsilons by the theorem for every mechanism."""
    sigma, scale, rate = random.uniform(1.2, 4), random.uniform(1.2, 4), random.uniform(0.02, 0.5)
    delta, zoo = 10 ** random.uniform(-6, -3), mechanism_zoo
    bases = (
        ("Gaussian noise", lambda: zoo.GaussianMechanism(sigma), gaussian_divergence(sigma), math.inf),
        ("Laplace noise", lambda: zoo.LaplaceMechanism(b=scale), lambda o: laplace_divergence(scale, o), 1 / scale),
    )
    for words, make, curve, pure in bases:
        for poisson, improved in ((True, True), (True, False), (False, False), (False, True)):
            base = make()
            base.neighboring = "add_remove" if poisson else "replace_one"
            found = transformer_zoo.AmplificationBySampling(poisson)(base, rate, improved_bound_flag=improved)
            case = f"{words}, {sigma!r}, {scale!r}, rate {rate!r}, Poisson {poisson}, improved {improved}"
            most = math.log1p(rate * math.expm1(pure)) if pure < math.inf else math.inf
            if poisson:
                bound = lambda o, c=curve, i=improved: sampled_divergence(c, rate, o, general=not i)  # noqa: E731
            else:  # the improved bound of the library is not capped
                bound = lambda o, c=curve, p=pure, i=improved: sampled_without_replacement(c, rate, o, p, capped=not i)  # noqa: E731
            for order in (2, 3, 6):
                exact = min(bound(order), most)
                low = sampled_divergence(curve, rate, order) if improved and not poisson else exact
                yield f"{case}, order {order}", low * (1 - 1e-6), float(found.get_RDP(order)), exact * (1 + 1e-6)
            top = most if most < math.inf else math.inf
            yield f"{case}, order infinity", top * (1 - 1e-9), float(found.get_RDP(math.inf)), top * (1 + 1e-9)
            high = min(chord(bound, 3.4), most)
            low = sampled_divergence(curve, rate, 3) * 0.9 if improved and not poisson else min(high, curve(3.4))
            yield f"{case}, order 3.4", low * (1 - 1e-6), float(found.get_RDP(3.4)), high * (1 + 1e-6)
            if pure == math.inf and (poisson or not improved):  # the search takes long for others
                whole = math.log1p(rate * math.expm1(float(base.get_approxDP(delta / rate))))
                yield f"{case}, epsilon at {delta!r}", 1e-9, float(found.get_approxDP(delta)), whole * (1 + 1e-9)
            yield f"{case}, replaces one", float(not poisson), float(found.replace_one), float(not poisson)
    for poisson in (True, False):
        base = zoo.LaplaceMechanism(b=scale)
        base.neighboring = "add_remove" if poisson else "replace_one"
        nothing = transformer_zoo.AmplificationBySampling(poisson)(base, 0) if poisson else None
        if nothing is not None:
            yield "a sample of nothing, epsilon", 0.0, float(nothing.get_approxDP(delta)), 0.0
            yield "a sample of nothing, divergence", 0.0, float(nothing.get_RDP(3.0)), 0.0


def _sides(random):
    """Check samples that treat added and removed records apart."""
    sigma, rate, delta = random.uniform(1.2, 4), random.uniform(0.05, 0.5), 10 ** random.uniform(-6, -3)
    base = mechanism_zoo.GaussianMechanism(sigma, phi_off=False, approxDP_off=True, RDP_off=True)
    upper, lower = base.pdf_p, base.pdf_q
    for side, poisson in (("add_only", True), ("remove_only", True), ("remove_only", False)):
        found = transformer_zoo.AmplificationBySampling_pld(poisson, side)(base, rate)
        for x in (-1.3, 0.4, 2.1):
            p, q = float(upper(x)), float(lower(x))
            mixed = (1 - rate) * q + rate * p if side == "remove_only" and poisson else (1 - rate) * p + rate * q
            # of a sample of a fixed size the pair is reflected, which symmetric noise does not notice
            pair = (p, mixed) if side == "add_only" else (mixed, q if poisson else p)
            for name, value, exact in zip("pq", (found.pdf_p(x), found.pdf_q(x)), pair):
                case = f"{side}, Poisson {poisson}, noise {sigma!r}, rate {rate!r}, density {name} at {x}"
                yield case, *close(value, exact)
        yield f"{side}", 1.0, float(found.neighboring == side), 1.0
        exact = math.log1p(rate * math.expm1(gaussian_epsilon(sigma, delta / rate)))
        noise = mechanism_zoo.GaussianMechanism(sigma)
        found = transformer_zoo.AmplificationBySampling_pld(poisson, side)(noise, rate)
        case = f"{side}, Poisson {poisson}, noise {sigma!r}, rate {rate!r}, epsilon at {delta!r}"
        yield case, *close(found.get_approxDP(delta), exact, 1e-6)
    nothing = transformer_zoo.AmplificationBySampling_pld(True, "add_only")(mechanism_zoo.GaussianMechanism(sigma), 0)
    yield "a sample of nothing, epsilon", 0.0, float(nothing.get_approxDP(delta)), 0.0


def _refused():
    """Return whether samples of another neighbour relation, and sums of other mechanisms as if Gaussian, raise."""
    zoo, transformers = mechanism_zoo, transformer_zoo

    def sampled(transformer, relation):
        base = zoo.GaussianMechanism(2.0)
        base.neighboring = relation
        return lambda: transformer(base, 0.1)

    calls = (
        sampled(transformers.AmplificationBySampling(True), "replace_one"),
        sampled(transformers.AmplificationBySampling(False), "add_remove"),
        sampled(transformers.AmplificationBySampling_pld(True, "add_only"), "remove_only"),
        sampled(transformers.AmplificationBySampling_pld(True, "remove_only"), "add_only"),
        lambda: transformers.ComposeGaussian().compose([zoo.LaplaceMechanism(b=2.0)], [1]),
    )
    for call in calls:
        try:
            call()
        except AssertionError:
            continue
        return False
    return True


def _shifted_densities(random):
    """Check that the two densities are those of one noise, and that they are densities."""
    base = mechanism_zoo.GaussianMechanism(random.uniform(1.3, 3), phi_off=False, approxDP_off=True, RDP_off=True)
    for x in (-0.7, 0.3, 1.9):
        yield f"{base.params}, density at {x}", *close(base.pdf_p(x + 1), float(base.pdf_q(x)))
    yield f"{base.params}, total", *close(integrate.quad(base.pdf_q, -80, 80, points=[0], limit=200)[0], 1.0, 1e-6)


def _densities(random):
    """Check the densities of Gaussian noise that samples mix."""
    sigma = random.uniform(1.3, 3)
    base = mechanism_zoo.GaussianMechanism(sigma, phi_off=False, approxDP_off=True, RDP_off=True)
    for x in (-1.3, 0.4, 2.1):
        for name, value, mean in (("p", base.pdf_p(x), 1), ("q", base.pdf_q(x), 0)):
            exact = math.exp(-0.5 * ((x - mean) / sigma) ** 2) / (sigma * math.sqrt(2 * math.pi))
            yield f"noise {sigma!r}, density {name} at {x}", *close(value, exact)


# --- characteristic functions ---------------------------------------------------------------------------------


def _characteristic(density, loss, t, points, reach):
    """Return the logarithm of the expectation of exp(i t loss) under a density, by an integral."""
    parts = [
        integrate.quad(lambda x, f=f: density(x) * f(t * loss(x)), -reach, reach, limit=400, points=points)[0]
        for f in (math.cos, math.sin)
    ]
    return cmath.log(complex(*parts))


def _fourier(random):
    """Check characteristic functions by their integrals, and deltas of compositions by the noise of their sum."""
    sigma, scale, keep = random.uniform(0.8, 2.5), random.uniform(0.7, 3), random.uniform(0.6, 0.9)
    zoo, count, other = mechanism_zoo, random.randint(2, 4), random.uniform(1, 3)
    normal = lambda x: math.exp(-0.5 * ((x - 1) / sigma) ** 2) / (sigma * math.sqrt(2 * math.pi))  # noqa: E731  # a formula
    laplace = lambda x: math.exp(-abs(x - 1) / scale) / (2 * scale)  # noqa: E731  # a formula
    gaussian = zoo.GaussianMechanism(sigma, phi_off=False, RDP_off=True, approxDP_off=True)
    noisy = zoo.LaplaceMechanism(b=scale, phi_off=False, RDP_off=True)
    response = zoo.RandresponseMechanism(p=keep, phi_off=False, RDP_off=True)
    for t in (0.3, -0.9, 1.7):
        rows = (
            ("Gaussian", gaussian, _characteristic(normal, lambda x: (2 * x - 1) / (2 * sigma**2), t, [1], 25)),
            ("Laplace", noisy, _characteristic(laplace, lambda x: (abs(x) - abs(x - 1)) / scale, t, [0, 1], 90)),
            (
                "response",
                response,
                cmath.log(keep * (keep / (1 - keep)) ** (1j * t) + (1 - keep) * ((1 - keep) / keep) ** (1j * t)),
            ),
        )
        for words, mechanism, exact in rows:
            for way in ("log_phi_p2q", "log_phi_q2p"):
                found = cmath.exp(complex(getattr(mechanism, way)(t)))
                case = f"{words}, {sigma!r}, {scale!r}, {keep!r}, {way} at {t}"
                yield f"{case}, real", *close(found.real, cmath.exp(exact).real, 1e-7, 1e-7)
                yield f"{case}, imaginary", *close(found.imag, cmath.exp(exact).imag, 1e-7, 1e-7)
    second = zoo.GaussianMechanism(other, phi_off=False, RDP_off=True, approxDP_off=True)
    noise = 1 / math.sqrt(count / sigma**2 + 3 / other**2)
    whole = transformer_zoo.ComposeAFA()([gaussian, second], [count, 3])
    for epsilon in (0.2, random.uniform(0.5, 2)):
        found = whole.get_approx_delta(epsilon)
        words = f"{count} and 3 Gaussian mechanisms, {sigma!r}, {other!r}, delta at {epsilon!r}"
        yield words, *close(found, gaussian_delta(noise, epsilon), 1e-5, 1e-7)
        found = gaussian.get_approx_delta(epsilon)
        yield f"noise {sigma!r}, delta at {epsilon!r}", *close(found, gaussian_delta(sigma, epsilon), 1e-5, 1e-7)
        for points in (500, 800):
            told, log = autodp_core.Mechanism(), lambda t: (1j * t - t**2) / (2 * sigma**2)
            told.propagate_updates((log, log), "log_phi", n_quad=points)
            case = f"noise {sigma!r}, {points} points, delta at {epsilon!r}"
            yield case, *close(told.get_approx_delta(epsilon), gaussian_delta(sigma, epsilon), 1e-5, 1e-7)


_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(300)


def _quadrature(function, low, high, **_):
    """Integrate from -1 to 1 with a fixed number of points: scipy has no adaptive Gaussian quadrature any more."""
    assert (low, high) == (-1.0, 1.0)
    return np.sum(_WEIGHTS * function(_POINTS)), 0.0


def _sampled_fourier(random):
    """Check the characteristic functions of samples by their integrals."""
    sigma, rate = random.uniform(0.8, 2.5), random.uniform(0.1, 0.6)
    normal = lambda x, mean: math.exp(-0.5 * ((x - mean) / sigma) ** 2) / (sigma * math.sqrt(2 * math.pi))  # noqa: E731  # a formula
    removed = (lambda x: (1 - rate) * normal(x, 0) + rate * normal(x, 1)), (lambda x: normal(x, 0))
    added = (lambda x: normal(x, 1)), (lambda x: (1 - rate) * normal(x, 1) + rate * normal(x, 0))
    reach = 12 * sigma + 1  # beyond it a density is 0 in float64
    for side, (upper, lower) in (("remove_only", removed), ("add_only", added)):
        base = mechanism_zoo.GaussianMechanism(sigma)
        sampled = transformer_zoo.AmplificationBySampling_pld(True, side)(base, rate)
        for t in (0.3, -0.9, 1.7):
            for way, p, q in (("log_phi_p2q", upper, lower), ("log_phi_q2p", lower, upper)):
                exact = _characteristic(p, lambda x, p=p, q=q: math.log(p(x) / q(x)), t, [0, 1], reach)
                with mock.patch.object(transformer_zoo.phi_bank.integrate, "quadrature", _quadrature, create=True):
                    found = cmath.exp(complex(getattr(sampled, way)(t)))
                case = f"noise {sigma!r}, rate {rate!r}, {side}, {way} at {t}"
                yield f"{case}, real", *close(found.real, cmath.exp(exact).real, 1e-6, 1e-7)
                yield f"{case}, imaginary", *close(found.imag, cmath.exp(exact).imag, 1e-6, 1e-7)


def _fourier_epsilons(random):
    sigma, delta = random.uniform(0.8, 2.5), 10 ** random.uniform(-3, -2)
    mechanism = mechanism_zoo.GaussianMechanism(sigma, phi_off=False, RDP_off=True, approxDP_off=True)
    exact = gaussian_epsilon(sigma, delta)
    yield f"noise {sigma!r}, epsilon at {delta!r}", exact * 0.95, float(mechanism.get_approxDP(delta)), math.inf


def _fourier_atoms(random):
    scale, keep = random.uniform(0.7, 3), random.uniform(0.6, 0.9)
    for part in (0.2, 0.5, 0.8):
        mechanism = mechanism_zoo.LaplaceMechanism(b=scale, phi_off=False, RDP_off=True)
        exact = -math.expm1((part - 1) / (2 * scale))
        found = float(mechanism.get_approx_delta(part / scale))
        yield f"Laplace noise {scale!r}, delta at {part} of its loss", exact * 0.95, found, 1.0
        mechanism = mechanism_zoo.RandresponseMechanism(p=keep, phi_off=False, RDP_off=True)
        exact = keep - (keep / (1 - keep)) ** part * (1 - keep)
        found = float(mechanism.get_approx_delta(part * math.log(keep / (1 - keep))))
        yield f"randomised response {keep!r}, delta at {part} of its loss", exact * 0.95, found, 1.0


def relations():
    """Yield the relations."""
    attained = {"compositions add up": _compositions}
    yield Relations(
        "transformers",
        {
            **attained,
            "epsilons of compositions are those of the best order": _converted,
            "samples cost what the theorems say": _samples,
            "added and removed records are apart": _sides,
            "the two densities are those of one noise": _shifted_densities,
            "densities are those of the noise": _densities,
        },
        {"other neighbour relations and mechanisms are refused": _refused},
        understated=attained,
    )
    yield Relations(
        "characteristic functions",
        {"they are those of the losses": _fourier, "those of samples are those of the losses": _sampled_fourier},
    )
    attained = {"epsilon is not too small": _fourier_epsilons}
    yield Relations("epsilons of characteristic functions", attained, understated=attained)
    attained = {"delta is not too small": _fourier_atoms}
    yield Relations("losses with atoms", attained, understated=attained)
