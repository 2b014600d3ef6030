"""Exact relations of the calibrators of autodp: noise and rates for a target meet it, and less noise does not."""

from __future__ import annotations

import math
from unittest import mock

from autodp import calibrator_zoo, converter, dp_bank, mechanism_zoo, privacy_calibrator, rdp_bank
from autodp_formulas import (
    close,
    conversion_of_balle,
    gaussian_divergence,
    laplace_divergence,
    least,
    sampled_epsilon,
)
from scipy import optimize

from dpassay.adapter import Relations
from dpassay.impl.libraries.counted_target import CountedTarget, EndlessSearchError
from dpassay.impl.libraries.references import gaussian_delta, gaussian_epsilon
from dpassay.impl.libraries.refusing import raises

__all__ = ["analytic_sigma", "relations", "searches"]


def analytic_sigma(epsilon, delta):
    """Return the noise of the analytic calibrator; a search without an end raises `EndlessSearchError`."""
    made = calibrator_zoo.ana_gaussian_calibrator()(
        mechanism_zoo.ExactGaussianMechanism, epsilon, CountedTarget(delta)
    )
    return float(made.params["sigma"])


def _searches_end():
    """Return whether the analytic calibrator answers at a large epsilon, where deltas have few digits."""
    return not raises(EndlessSearchError, lambda: analytic_sigma(13.0, 0.5))


def _calibrators(random):
    """Check the calibrators of mechanisms; their code stops at a distance of 1e-3 in epsilon."""
    epsilon, delta = random.uniform(0.6, 3), 10 ** random.uniform(-6, -2)
    words, bounds = f"({epsilon!r}, {delta!r})", [0.3, 40.0]
    exact = mechanism_zoo.ExactGaussianMechanism
    for name, made in (
        ("eps_delta_calibrator", calibrator_zoo.eps_delta_calibrator()(exact, epsilon, delta, bounds)),
        (
            "eps_delta_calibrator, named",
            calibrator_zoo.eps_delta_calibrator()(exact, epsilon, delta, bounds, name="ours"),
        ),
        (
            "generalized_eps_delta_calibrator",
            calibrator_zoo.generalized_eps_delta_calibrator()(exact, epsilon, delta, bounds, name="ours"),
        ),
        ("ana_gaussian_calibrator", calibrator_zoo.ana_gaussian_calibrator()(exact, epsilon, delta)),
        ("ana_gaussian_calibrator, named", calibrator_zoo.ana_gaussian_calibrator()(exact, epsilon, delta, "ours")),
    ):
        found = gaussian_epsilon(made.params["sigma"], delta)
        yield f"{name}{words}, epsilon", *close(found, epsilon, 0.0, 2e-3 if "eps_delta" in name else 1e-5)
        yield f"{name}{words}, of the mechanism", *close(made.get_approxDP(delta), found, 1e-7, 1e-8)
        if "name" in name or "gen" in name:
            yield f"{name}{words}, name", 1.0, float(made.name == "ours"), 1.0
    count, rate = random.randint(2, 5), random.uniform(0.1, 0.4)
    parameters = {"sigma": None, "coeff": count}
    made = calibrator_zoo.generalized_eps_delta_calibrator()(
        mechanism_zoo.ComposedGaussianMechanism, epsilon, delta, bounds, params=parameters, para_name="sigma"
    )
    sigma = made.params["sigma"]
    found = least(lambda o: count * o / (2 * sigma**2), conversion_of_balle(delta))
    yield f"{count} Gaussian mechanisms, {words}, noise {sigma!r}", *close(found, epsilon, 0.0, 2e-3)
    yield f"{count} Gaussian mechanisms, {words}, count", *close(made.params["coeff"], count)
    for level in (gaussian_delta(1 / math.sqrt(2 * epsilon), epsilon) * f for f in (0.3, 0.999, 1.001, 1.6)):
        for more, tolerance in (({}, 1e-12), ({"tol": 1e-5}, 1e-5)):
            made = calibrator_zoo.ana_gaussian_calibrator()(exact, epsilon, level, **more)
            found = gaussian_delta(made.params["sigma"], epsilon)
            case = f"ana_gaussian_calibrator({epsilon!r}, {level!r}, {more}), delta"
            yield case, *close(found, level, 1e-9, tolerance + 1e-12)
        found = gaussian_delta(privacy_calibrator.ana_gaussian_mech(epsilon, level)["sigma"], epsilon)
        yield f"ana_gaussian_mech({epsilon!r}, {level!r}), delta", *close(found, level, 1e-9, 2e-12)
    sampled = {"prob": rate, "sigma": 0.0, "coeff": 2}
    small = epsilon / 3
    made = calibrator_zoo.generalized_eps_delta_calibrator()(
        mechanism_zoo.SubsampleGaussianMechanism, small, delta, [0.7, 30.0], params=sampled, para_name="sigma"
    )
    yield f"samples of Gaussian noise, {small!r}, {delta!r}", *close(made.get_approxDP(delta), small, 0.0, 2e-3)
    yield f"samples of Gaussian noise, {small!r}, rate", *close(made.params["prob"], rate)


def _sampled_calibration(random):
    epsilon, delta, rate = random.uniform(0.4, 3), 10 ** random.uniform(-7, -3), random.uniform(0.05, 0.3)
    sigma = privacy_calibrator.gaussian_mech(epsilon, delta, 2, rate)["sigma"]
    low, high = sampled_epsilon(gaussian_divergence(sigma), rate, delta, 2)
    words = f"gaussian_mech({epsilon!r}, {delta!r}, 2, {rate!r})={sigma!r}, epsilon by the theorem"
    yield f"{words}, at least", 0.0, low, epsilon * 1.001
    yield f"{words}, at most", epsilon * 0.99, high, math.inf


def _passed_on(random):
    """Check that calibrators of other noise search with the rate and the count that they are told.

    The search itself takes minutes where losses are bounded; that of Gaussian noise is checked by itself.
    """
    epsilon, delta, rate, count = random.uniform(0.4, 3), 10 ** random.uniform(-7, -3), random.uniform(0.05, 0.3), 3
    for calibrate, name, value in (
        (privacy_calibrator.laplace_mech, "b", 0.3 / epsilon),
        (privacy_calibrator.randresponse_mech, "p", 1 - 1e-6),
    ):
        search = mock.Mock(return_value={name: value})
        with mock.patch.object(privacy_calibrator, "RDP_mech", search):
            found = calibrate(epsilon, delta, count, rate)[name]
        words, told = f"{calibrate.__name__}({epsilon!r}, {delta!r}, {count}, {rate!r})", search.call_args
        yield f"{words}, noise", *close(found, value)
        exact = (epsilon, delta, count, rate)
        for one, other in zip((*told.args[1:3], told.kwargs.get("k", 1), told.kwargs.get("prob", 1.0)), exact):
            yield f"{words}, of {other!r}", *close(one, other)


def _rate_of_sample(random):
    """Check that the rate of a sample for the epsilon of a rate is that rate."""
    delta, rate = 10 ** random.uniform(-5, -3), random.uniform(0.05, 0.3)
    noise, count = random.uniform(0.8, 1.5), random.randint(2, 5)
    curve = lambda order: order / (2 * noise**2)  # noqa: E731  # a formula
    target = sampled_epsilon(curve, rate, delta, count)[1]

    def search(function, low, high):
        # at rate 0, where the library begins, its account goes through thousands of orders
        return optimize.brentq(function, max(low, rate * 0.7), high, xtol=1e-5)

    with mock.patch.object(privacy_calibrator, "brentq", search):
        found = privacy_calibrator.subsampled_RDP_mech_get_prob(
            rdp_bank.RDP_gaussian, target, delta, {"sigma": noise}, k=count
        )
    words = f"subsampled_RDP_mech_get_prob, noise {noise!r}, {target!r}, {delta!r}, {count}"
    yield words, *close(found, rate, 1e-3)


def _general(random):
    """Check the calibration of any divergence, between bounds and for any parameter."""
    epsilon, delta, count = random.uniform(0.5, 2), 10 ** random.uniform(-6, -3), random.randint(2, 4)
    found = privacy_calibrator.RDP_mech(
        rdp_bank.RDP_zCDP, epsilon, delta, "rho", {"xi": 0.01}, bounds=[1e-4, 50.0], k=count
    )
    curve = lambda o: count * (0.01 + found["rho"] * o)  # noqa: E731  # a formula
    from_library = float(dp_bank.get_eps_rdp(curve, delta))
    yield f"RDP_mech({epsilon!r}, {delta!r}, {count})", *close(from_library, epsilon, 1e-3, 1e-4)
    yield "RDP_mech, the other parameter", *close(found["xi"], 0.01)
    pure = privacy_calibrator.RDP_mech(rdp_bank.RDP_laplace, epsilon, delta, "b", {}, bounds=[0.05, 1000.0])["b"]
    from_library = float(dp_bank.get_eps_rdp(lambda o: laplace_divergence(pure, o) if o < 200 else 1 / pure, delta))
    yield f"RDP_mech, Laplace noise, ({epsilon!r}, {delta!r})", *close(from_library, epsilon, 1e-2, 1e-3)


def _rates(random):
    """Check the largest rate of a sample of a pair of losses."""
    base, leak, share = random.uniform(0.5, 3), random.uniform(1e-6, 1e-3), random.uniform(0.1, 0.9)
    amplified = math.log1p(share * math.expm1(base))
    found = privacy_calibrator.subsample_epsdelta_get_prob(amplified, leak * 0.99, base, leak)
    yield f"subsample_epsdelta_get_prob, ({base!r}, {leak!r}), rate {share!r}", *close(found, share)


def _below(random):
    """Check that nothing is known of a divergence up to a delta below that of a pair of losses."""
    pure, leak = random.uniform(0.2, 2), random.uniform(0.01, 0.2)
    found = converter.approxdp_to_approxrdp(pure, leak)(3.0, leak / 2)
    yield f"approxdp_to_approxrdp, {pure!r}, {leak!r}, at {leak / 2!r}", math.inf, float(found), math.inf


def _ends():
    """Return whether budgets at the ends of their ranges are met."""
    calibrate = privacy_calibrator
    return (
        calibrate.randresponse_mech(1.3, 1) == {"p": 1}
        and math.isinf(calibrate.classical_gaussian_mech(0.5, 0))
        and calibrate.classical_gaussian_mech(0.5, 1) == 0
        and tuple(calibrate.subsample_epsdelta(1.3, 0.01, 0)) == (0, 0)
        and math.isclose(calibrate.subsample_epsdelta_inverse(0.5, 0.9, 0.1)[1], 1.0)
    )


def _refused():
    """Return whether targets out of reach, and invalid ones, raise."""
    exact = mechanism_zoo.ExactGaussianMechanism
    calls = (
        (RuntimeError, lambda: calibrator_zoo.eps_delta_calibrator()(exact, 1.0, 1e-5, [8.0, 30.0])),
        (RuntimeError, lambda: calibrator_zoo.generalized_eps_delta_calibrator()(exact, 1.0, 1e-5, [8.0, 30.0])),
        (AssertionError, lambda: privacy_calibrator.classical_gaussian_mech(1.5, 1e-5)),
        (AssertionError, lambda: privacy_calibrator.classical_gaussian_mech(-0.5, 1e-5)),
        (AssertionError, lambda: privacy_calibrator.gaussian_mech(-1.0, 1e-5)),
        (AssertionError, lambda: privacy_calibrator.gaussian_mech(1.0, 0)),
        (AssertionError, lambda: privacy_calibrator.laplace_mech(-1.0, 1e-5)),
        (AssertionError, lambda: privacy_calibrator.laplace_mech(1.0, -1e-5)),
        (AssertionError, lambda: privacy_calibrator.randresponse_mech(-1.0, 1e-5)),
        (AssertionError, lambda: privacy_calibrator.subsample_epsdelta_inverse(1.0, 0.1, 0)),
        (AssertionError, lambda: privacy_calibrator.subsample_epsdelta_inverse(1.0, 0.1, 1.5)),
    )
    return all(raises(kind, call) for kind, call in calls)


def _banks_at_ends():
    """Return whether epsilons at the ends of the ranges of delta are right, and deltas beyond them raise."""
    bank = dp_bank
    curve = gaussian_divergence(2.0)
    return (
        math.isinf(bank.get_eps_ana_gaussian(2.0, 0))
        and bank.get_eps_ana_gaussian(2.0, 0.9) == 0
        and math.isinf(bank.get_eps_gaussian(2.0, 0))
        and math.isclose(bank.get_eps_laplace(2.0, 0), 0.5)
        and math.isclose(bank.get_eps_randresp(0.8, 0), math.log(4))
        and math.isclose(bank.get_eps_randresp_optimal(0.2, 0), math.log(4))
        and math.isinf(bank.get_eps_randresp_optimal(1, 0.1))
        and bank.get_eps_randresp_optimal(0.8, 0.65) == 0
        and bank.get_eps_rdp_subsampled(curve, 1e-5, 0) == 0
        and all(
            raises(AssertionError, lambda f=f: f(-0.1))
            for f in (
                lambda d: bank.get_eps_ana_gaussian(2.0, d),
                lambda d: bank.get_eps_ana_gaussian(2.0, 1 - 10 * d),
                lambda d: bank.get_logdelta_ana_gaussian(2.0, d),
                lambda d: bank.get_eps_gaussian(2.0, d),
                lambda d: bank.get_eps_laplace(2.0, d),
                lambda d: bank.get_eps_randresp(0.8, d),
                lambda d: bank.get_eps_randresp_optimal(0.8, d),
                lambda d: bank.get_eps_rdp(curve, d),
                lambda d: bank.get_eps_rdp_subsampled(curve, d, 0.1),
                lambda d: bank.get_eps_rdp_subsampled(curve, 1e-5, d),
            )
        )
    )


def relations():
    """Yield the relations."""
    yield Relations(
        "budgets",
        {"the rate of a sample of a pair of losses is the largest": _rates},
        {
            "budgets at the ends of their ranges are met": _ends,
            "targets out of reach are refused": _refused,
            "epsilons at the ends of the ranges of delta are right": _banks_at_ends,
        },
    )
    attained = {"nothing is known below the delta of a pair of losses": _below}
    yield Relations("divergences up to a delta", attained, understated=attained)
    yield Relations("analytic calibrator", {}, {"its search ends at a large epsilon": _searches_end})


def searches():
    """Yield the relations for which the library searches, and which take long."""
    yield Relations(
        "calibrators",
        {"noise for a target meets it": _calibrators, "parameters of any divergence meet it": _general},
    )
    yield Relations(
        "privacy_calibrator, samples",
        {
            "noise for a target on a sample meets it": _sampled_calibration,
            "rates and counts are passed on": _passed_on,
            "the rate of a sample for a target meets it": _rate_of_sample,
        },
    )
