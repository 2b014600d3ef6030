"""Exact relations of autodp: its banks of divergences, its accountant and its calibrators, by sums and integrals.

The reference of a divergence is the sum or the integral that defines it; of an epsilon, the least value of the
documented conversion over all orders.
"""

from __future__ import annotations

import math

import autodp_screens
import numpy as np
from autodp import converter, dp_bank, mechanism_zoo, privacy_calibrator, rdp_acct, rdp_bank, transformer_zoo
from autodp_formulas import (
    chord,
    close,
    conversion_of_balle,
    conversion_of_mironov,
    finite_divergence,
    laplace_divergence,
    least,
    response_divergence,
    sampled_divergence,
    sampled_epsilon,
    sampled_without_replacement,
)
from scipy import integrate

from dpassay.adapter import Relations
from dpassay.impl.libraries.references import gaussian_delta, gaussian_epsilon, normal_cdf

__all__ = ["relations", "searches"]

_ORDERS = (1.0, 1.3, 2.0, 2.7, 5.0, 12.0)


# --- divergences --------------------------------------------------------------------------------------------


def _bank(random):
    sigma, scale, keep = random.uniform(0.5, 4), random.uniform(0.5, 4), random.uniform(0.55, 0.9)
    rho, xi, epsilon = random.uniform(0.01, 1), random.uniform(0, 0.5), random.uniform(0.1, 3)
    pure = 1 / (1 + math.exp(-epsilon))
    p, q = random.uniform(0.1, 0.9), random.uniform(0.1, 0.9)
    end = random.uniform(2, 9)
    for order in (*_ORDERS, math.inf):
        rows = [
            ("RDP_laplace", {"b": scale}, laplace_divergence(scale, order)),
            ("RDP_randresponse", {"p": keep}, response_divergence(keep, order)),
            ("RDP_randresponse", {"p": 1 - keep}, response_divergence(keep, order)),
            ("RDP_pureDP", {"eps": epsilon}, response_divergence(pure, order)),
        ]
        if order < math.inf:
            rows += [
                ("RDP_gaussian", {"sigma": sigma}, order / (2 * sigma**2)),
                ("RDP_zCDP", {"rho": rho}, rho * order),
                ("RDP_zCDP", {"rho": rho, "xi": xi}, xi + rho * order),
                ("RDP_truncatedCDP", {"rho": rho, "w": end}, rho * order if order < end else math.inf),
                (
                    "RDP_noisy_screen",
                    {"logp": math.log(p), "logq": math.log(q)},
                    finite_divergence([p, 1 - p], [q, 1 - q], order),
                ),
                # the votes for two classes change by 1: a sensitivity of sqrt(2)
                ("RDP_inde_pate_gaussian", {"sigma": sigma}, order / sigma**2),
            ]
        for name, parameters, exact in rows:
            found = getattr(rdp_bank, name)(parameters, order)
            words = f"{name}({parameters}, {order})"
            if math.isinf(exact):
                yield words, exact, float(found), exact
            else:
                yield (words, *close(found, exact))
        found = converter.puredp_to_rdp(epsilon)(order)
        yield (f"puredp_to_rdp({epsilon!r})({order})", *close(found, response_divergence(pure, order)))
    half = -2 * (math.log1p(1 / (2 * scale)) - 1 / (2 * scale))
    yield (f"RDP_laplace of {scale!r}, order 1/2", *close(rdp_bank.RDP_laplace({"b": scale}, 0.5), half))
    means, variances = np.array([0.0, 0.3]), np.array([random.uniform(1, 2), random.uniform(1, 2)])
    for order in (1.5, 2.0, 4.0):
        moved = np.array([random.uniform(-1, 1), random.uniform(-1, 1)])
        parameters = {"mu1": means, "mu2": moved, "sigma1": variances, "sigma2": variances * 1.1}
        exact = math.fsum(_normals(m, v, n, 1.1 * v, order) for m, n, v in zip(means, moved, variances))
        yield (
            f"pRDP_diag_gaussian({parameters}, {order})",
            *close(rdp_bank.pRDP_diag_gaussian(parameters, order), exact),
        )


def _normals(mean, variance, other, second, order):
    """Return the divergence of two normal distributions by an integral."""
    log = lambda x, m, v: -0.5 * (x - m) ** 2 / v - 0.5 * math.log(2 * math.pi * v)  # noqa: E731  # a formula
    weigh = lambda x: math.exp(order * log(x, mean, variance) + (1 - order) * log(x, other, second))  # noqa: E731
    return math.log(integrate.quad(weigh, -60, 60, limit=400, points=[mean, other])[0]) / (order - 1)


def _sparse(random):
    """Check the bounds of Zhu and Wang 2020 for the sparse vector technique with Gaussian noise."""
    sigma, count, queries = random.uniform(1, 5), random.randint(2, 5), random.randint(10, 90)
    for order in (1.5, 3.0, 8.0):
        found = rdp_bank.RDP_gaussian_svt_cgreater1({"sigma": sigma, "c": count, "k": queries}, order)
        exact = count * math.log(queries / count) / (order - 1) + (count + 1) * order / (2 * sigma**2)
        yield (f"RDP_gaussian_svt_cgreater1({sigma!r}, {count}, {queries}), order {order}", *close(found, exact))
        small = sigma * random.uniform(0.8, 1.5)
        found = rdp_bank.RDP_gaussian_svt_c1({"sigma": sigma, "sigma_nu": small, "k": queries}, order)
        exact = math.log(queries) / (order - 1) + order / sigma**2 + 2 * order / small**2
        yield (f"RDP_gaussian_svt_c1({sigma!r}, {small!r}, {queries}), order {order}", *close(found, exact))


# --- conversions --------------------------------------------------------------------------------------------


def _conversions(random):
    sigma, delta, epsilon = random.uniform(0.8, 6), 10 ** random.uniform(-8, -3), random.uniform(0.1, 3)
    curve = lambda order: order / (2 * sigma**2)  # noqa: E731  # a formula
    for flag, of in ((True, conversion_of_balle), (False, conversion_of_mironov)):
        found = converter.rdp_to_approxdp(curve, BBGHS_conversion=flag)(delta)
        yield (f"rdp_to_approxdp, noise {sigma!r}, {delta!r}, {flag}", *close(found, least(curve, of(delta)), 1e-6))

        def of_delta(order, divergence, flag=flag):
            log = (order - 1) * (divergence - epsilon)
            log += (order - 1) * math.log1p(-1 / order) - math.log(order) if flag else 0.0
            return min(math.exp(min(log, 50.0)), 1.0)

        exact = least(curve, of_delta)
        found = converter.rdp_to_delta(curve, BBGHS_conversion=flag)(epsilon)
        # the search may end at another order, on the safe side
        yield f"rdp_to_delta, noise {sigma!r}, {epsilon!r}, {flag}", exact * (1 - 1e-6) - 1e-12, float(found), 1.0
    leak, rate = random.uniform(0, 0.1), random.uniform(0, 1)
    exact = max(0.0, 1 - leak - math.exp(epsilon) * rate, math.exp(-epsilon) * (1 - leak - rate))
    yield (
        f"approxdp_to_fdp({epsilon!r}, {leak!r})({rate!r})",
        *close(converter.approxdp_to_fdp(epsilon, leak)(rate), exact),
    )
    exact = max(0.0, 1 - math.exp(epsilon) * rate, math.exp(-epsilon) * (1 - rate))
    yield (f"puredp_to_fdp({epsilon!r})({rate!r})", *close(converter.puredp_to_fdp(epsilon)(rate), exact))
    pure = 1 / (1 + math.exp(-epsilon))
    low = math.log((pure - delta) / (1 - pure))
    yield (
        f"puredp_to_approxdp({epsilon!r})({delta!r})",
        low,
        float(converter.puredp_to_approxdp(epsilon)(delta)),
        epsilon,
    )
    loss = lambda t: normal_cdf(t * sigma - 0.5 / sigma)  # noqa: E731  # a formula
    found = converter.cdf_to_approxdelta(loss, loss)(epsilon)
    yield (f"cdf_to_approxdelta, noise {sigma!r}, {epsilon!r}", *close(found, gaussian_delta(sigma, epsilon)))
    base, share = random.uniform(0.1, 3), random.uniform(0.05, 0.9)
    amplified = math.log1p(share * math.expm1(base))
    found = privacy_calibrator.subsample_epsdelta(base, leak, share)
    yield (f"subsample_epsdelta({base!r}, {leak!r}, {share!r}), epsilon", *close(found[0], amplified))
    yield (f"subsample_epsdelta({base!r}, {leak!r}, {share!r}), delta", *close(found[1], share * leak))
    back = privacy_calibrator.subsample_epsdelta_inverse(amplified, share * leak, share)
    yield ("subsample_epsdelta_inverse, epsilon", *close(back[0], base))
    yield ("subsample_epsdelta_inverse, delta", *close(back[1], leak))


# --- the accountant -----------------------------------------------------------------------------------------


def _account(random):
    """Divergences of mechanisms add up, and so do those of repetitions of one."""
    words, account, total, counts, laplace, scale = _several(random)
    orders = [1.5, 2.0, 7.0]
    for order, found in zip(orders, account.get_rdp(orders)):
        yield (f"{words}, order {order}", *close(found, total(order)))
    alone = rdp_acct.anaRDPacct()
    alone.compose_mechanism(laplace, coeff=counts[1])
    yield (f"{counts[1]} Laplace mechanisms, {scale!r}, pure", *close(alone.get_eps(0), counts[1] / scale))


def _several(random):
    """Return words, an account of mechanisms, its divergence, the counts, and the divergence and scale of one."""
    sigma, scale = random.uniform(1, 6), random.uniform(1, 6)
    counts = [random.randint(2, 5) for _ in range(3)]
    gaussian = lambda order: order / (2 * sigma**2)  # noqa: E731  # a function that the accountant recognises again
    laplace = lambda order: rdp_bank.RDP_laplace({"b": scale}, order)  # noqa: E731  # as above
    account = rdp_acct.anaRDPacct()
    for one, count in ((gaussian, counts[0]), (laplace, counts[1]), (gaussian, counts[2])):
        account.compose_mechanism(one, coeff=count)
    total = lambda a: (counts[0] + counts[2]) * gaussian(a) + counts[1] * laplace(a)  # noqa: E731  # a formula
    return f"{counts} Gaussian and Laplace mechanisms, {sigma!r}, {scale!r}", account, total, counts, laplace, scale


def _converted(random):
    """Check the epsilons of accounts, which are those of the best order by the conversion of Mironov."""
    words, account, total, counts, *_ = _several(random)
    for delta in (10 ** random.uniform(-9, -3), random.uniform(0.01, 0.3)):
        exact = least(total, conversion_of_mironov(delta))
        yield f"{words}, epsilon at {delta!r}", exact * (1 - 1e-6), float(account.get_eps(delta)), exact * (1 + 1e-3)
    # the best order lies beyond the last one that an approximate account tries
    last, delta, large = random.randint(25, 35), 10 ** random.uniform(-9, -3), random.uniform(30, 40)
    quiet = lambda order: order / (2 * large**2)  # noqa: E731  # a function that the accountant recognises again
    account = rdp_acct.anaRDPacct(m=10, m_max=20, m_lin_max=last, approx=True)
    account.compose_mechanism(quiet, coeff=counts[0])
    total = lambda a: counts[0] * quiet(a)  # noqa: E731  # a formula
    exact, high = least(total, conversion_of_mironov(delta)), conversion_of_mironov(delta)(last, total(last))
    words = f"{counts[0]} Gaussian mechanisms, {large!r}, orders up to {last}, epsilon at {delta!r}"
    yield words, exact * (1 - 1e-6), float(account.get_eps(delta)), high


def _samples(random):
    """Divergences on samples lie above those of the densities, and not above the theorems."""
    sigma, rate, count = random.uniform(1, 4), random.uniform(0.02, 0.5), random.randint(3, 5)
    curve = lambda order: order / (2 * sigma**2)  # noqa: E731  # a function that the accountant recognises again

    def binomial(order, *, shift):
        return sampled_divergence(curve, rate, order, general=shift)

    def without_replacement(order):
        return sampled_without_replacement(curve, rate, order)

    orders = [2, 3, 5, 9]
    for name, exact in (
        ("compose_poisson_subsampled_mechanisms", lambda order: binomial(order, shift=False)),
        ("compose_poisson_subsampled_mechanisms1", lambda order: binomial(order, shift=True)),
        ("compose_subsampled_mechanism", without_replacement),
    ):
        account = rdp_acct.anaRDPacct(m=20, m_max=40)
        getattr(account, name)(curve, rate, coeff=count)
        getattr(account, name)(curve, rate, coeff=2)  # a divergence that it has computed before
        words = f"{name}, noise {sigma!r}, rate {rate!r}, {count} times and twice"
        for order, found in zip(orders, account.get_rdp(orders)):
            yield (f"{words}, order {order}", *close(found, (count + 2) * exact(order), 1e-6))
        for order in (4.3, 4.8):  # at 4.5 the two orders beside it weigh the same
            middle, high = float(account.get_rdp([order])[0]), (count + 2) * chord(exact, order)
            low = min(high, (count + 2) * curve(order))
            yield f"{words}, order {order}", low * (1 - 1e-6), middle, high * (1 + 1e-6)
        delta = 10 ** random.uniform(-6, -3)
        bound = lambda o, e=exact: (count + 2) * min(chord(e, o), curve(o))  # noqa: E731  # a formula
        tried = [1.02 + 0.25 * k for k in range(160)]
        best = least(bound, conversion_of_mironov(delta), tried)
        # a divergence grows with its order, so that larger orders cost as much as the last one at least; the search
        # need not end at the best order
        low, high = min(best, bound(tried[-1])), best * 1.5
        yield f"{words}, epsilon at {delta!r}", low * (1 - 1e-3), float(account.get_eps(delta)), high
    account = rdp_acct.anaRDPacct(m=20, m_max=40)
    account.compose_subsampled_mechanism(curve, rate, coeff=count, improved_bound_flag=True)
    for order, found in zip(orders, account.get_rdp(orders)):
        low, high = count * binomial(order, shift=False), count * without_replacement(order)
        words = f"compose_subsampled_mechanism, improved, noise {sigma!r}, rate {rate!r}, {count} times, order {order}"
        yield words, low * (1 - 1e-6), float(found), max(high, low) * (1 + 1e-6)
    ends = random.uniform(4.2, 4.8)
    account = rdp_acct.anaRDPacct(m=20, m_max=40)
    account.compose_poisson_subsampled_mechanisms(lambda order: curve(order) if order < ends else math.inf, rate)
    low = sampled_divergence(curve, rate, 4)
    words = f"noise {sigma!r} up to order {ends!r}, rate {rate!r}, order 4.1"
    yield words, low * (1 - 1e-6), float(account.get_rdp([4.1])[0]), math.inf
    for approximate in (True,):
        account = rdp_acct.anaRDPacct(m=20, m_max=40, approx=approximate)
        account.compose_poisson_subsampled_mechanisms(curve, rate, coeff=count)
        between = [*orders, 4.3, 4.8]
        for order, found in zip(between, account.get_rdp(between)):
            low = count * min(chord(lambda o: binomial(o, shift=False), order), curve(order))
            yield f"k terms, noise {sigma!r}, rate {rate!r}, order {order}", low * (1 - 1e-6), float(found), math.inf
    for order in (4, 7, 12):
        for terms in (2, 3):
            found = rdp_acct.fast_k_subsample_upperbound(curve, order, rate, terms) / (order - 1)
            words = f"fast_k_subsample_upperbound, noise {sigma!r}, rate {rate!r}, order {order}, {terms} terms"
            yield words, binomial(order, shift=False) * (1 - 1e-6), float(found), math.inf
        found = rdp_acct.fast_poission_subsampled_cgf_upperbound(curve, order, rate) / (order - 1)
        yield (
            f"fast Poisson bound, {sigma!r}, {rate!r}, order {order}",
            binomial(order, shift=False),
            float(found),
            math.inf,
        )


def _one_term(random):
    """Check that the bound of one term lies above the sum that it bounds."""
    sigma, rate = random.uniform(1.2, 1.6), random.uniform(0.4, 0.5)
    for order in (4, 7, 12):
        exact = (1 - rate) ** order + order * rate * (1 - rate) ** (order - 1)
        for j in range(2, order + 1):
            exact += math.comb(order, j) * rate**j * (1 - rate) ** (order - j) * math.exp(j * (j - 1) / (2 * sigma**2))
        found = rdp_acct.fast_k_subsample_upperbound(lambda o: o / (2 * sigma**2), order, rate, 1)
        yield f"noise {sigma!r}, rate {rate!r}, order {order}", math.log(exact) * (1 - 1e-9), float(found), math.inf


# --- epsilons and calibrators -------------------------------------------------------------------------------


def _epsilons(random):
    """Check epsilons that no mechanism of the noise can be below."""
    sigma, scale, keep = random.uniform(0.8, 5), random.uniform(0.8, 5), random.uniform(0.55, 0.9)
    delta = 10 ** random.uniform(-7, -2)
    response = math.log(keep / (1 - keep))
    rows = (
        ("get_eps_gaussian", sigma, lambda o: o / (2 * sigma**2), gaussian_epsilon(sigma, delta)),
        (
            "get_eps_laplace",
            scale,
            lambda o: rdp_bank.RDP_laplace({"b": scale}, o),
            1 / scale + 2 * math.log1p(-delta),
        ),
        ("get_eps_randresp", keep, lambda o: response_divergence(keep, o), math.log((keep - delta) / (1 - keep))),
    )
    for name, parameter, curve, tight in rows:
        found = float(getattr(dp_bank, name)(parameter, delta))
        exact = least(curve, conversion_of_mironov(delta), [1 + 10**x for x in np.linspace(-2, 2, 400)])
        yield f"{name}({parameter!r}, {delta!r})", tight * (1 - 1e-9), found, exact * (1 + 1e-2)
    best = dp_bank.get_eps_randresp_optimal(keep, delta)
    yield (f"get_eps_randresp_optimal({keep!r}, {delta!r})", *close(best, math.log((keep - delta) / (1 - keep))))
    yield (f"get_eps_randresp_optimal({keep!r}, 0)", *close(dp_bank.get_eps_randresp_optimal(keep, 0), response))
    yield (
        f"get_eps_ana_gaussian({sigma!r}, {delta!r})",
        *close(dp_bank.get_eps_ana_gaussian(sigma, delta), gaussian_epsilon(sigma, delta), 1e-7, 1e-8),
    )


def _epsilons_of_samples(random):
    sigma, delta = random.uniform(0.8, 5), 10 ** random.uniform(-7, -2)
    rate, curve = random.uniform(0.05, 0.4), lambda o: o / (2 * sigma**2)
    found = dp_bank.get_eps_rdp_subsampled(curve, delta, rate)
    whole = dp_bank.get_eps_rdp_subsampled(curve, delta, 1)
    low, high = sampled_epsilon(curve, rate, delta)
    words = f"get_eps_rdp_subsampled, noise {sigma!r}, rate {rate!r}, {delta!r}"
    yield words, low * (1 - 1e-6), float(found), high * (1 + 1e-3)
    yield (f"get_eps_rdp_subsampled, noise {sigma!r}, all", *close(whole, dp_bank.get_eps_gaussian(sigma, delta)))
    yield "get_eps_rdp_subsampled, nothing", 0.0, float(dp_bank.get_eps_rdp_subsampled(curve, delta, 0)), 0.0
    sampled = {"sigma": sigma + 1, "prob": rate, "coeff": random.randint(2, 5)}
    found = mechanism_zoo.SubsampleGaussianMechanism(sampled).get_approxDP(delta)
    poisson = transformer_zoo.AmplificationBySampling()(
        mechanism_zoo.GaussianMechanism(sigma + 1), rate, improved_bound_flag=True
    )
    other = transformer_zoo.Composition()([poisson], [sampled["coeff"]]).get_approxDP(delta)
    yield (f"SubsampleGaussianMechanism({sampled}), {delta!r}", *close(found, float(other)))


def _calibrations(random):
    """Noise for a target meets it by the documented conversion, and a little less noise does not."""
    epsilon, delta, count = random.uniform(0.4, 3), 10 ** random.uniform(-7, -3), random.randint(2, 5)
    words = f"({epsilon!r}, {delta!r}, {count})"
    sigma = privacy_calibrator.gaussian_mech(epsilon, delta, count)["sigma"]
    cost = lambda s: least(lambda o: count * o / (2 * s**2), conversion_of_mironov(delta))  # noqa: E731  # a formula
    yield f"gaussian_mech{words}, epsilon", 0.0, cost(sigma), epsilon * (1 + 1e-4)
    yield f"gaussian_mech{words}, epsilon with less noise", epsilon, cost(sigma * 0.99), math.inf
    scale = privacy_calibrator.laplace_mech(epsilon, delta, count)["b"]
    bank = lambda b: lambda o: count * rdp_bank.RDP_laplace({"b": b}, o)  # noqa: E731  # a formula
    cost = lambda b: min(least(bank(b), conversion_of_mironov(delta)), count / b)  # noqa: E731  # a formula
    yield f"laplace_mech{words}, epsilon", 0.0, cost(scale), epsilon * (1 + 1e-3)
    yield f"laplace_mech{words}, scale", 0.0, scale, count / epsilon * (1 + 1e-9)
    yield (
        f"laplace_mech({epsilon!r}, 0, {count})",
        *close(privacy_calibrator.laplace_mech(epsilon, 0, count)["b"], count / epsilon),
    )
    keep = privacy_calibrator.randresponse_mech(epsilon, delta, count)["p"]
    floor = 1 / (1 + math.exp(-epsilon / count))
    most = min(
        least(lambda o: count * response_divergence(keep, o), conversion_of_mironov(delta)),
        count * math.log(keep / (1 - keep)),
    )
    yield f"randresponse_mech{words}", floor * (1 - 1e-9), keep, 1.0
    yield f"randresponse_mech{words}, epsilon", 0.0, most, epsilon * (1 + 1e-3)
    yield (
        f"randresponse_mech({epsilon!r}, 0, {count})",
        *close(privacy_calibrator.randresponse_mech(epsilon, 0, count)["p"], floor),
    )
    small = min(epsilon, 0.9)
    found = privacy_calibrator.classical_gaussian_mech(small, delta)["sigma"]
    yield (
        f"classical_gaussian_mech({small!r}, {delta!r})",
        *close(found, math.sqrt(2 * math.log(1.25 / delta)) / small),
    )
    for level in (delta, random.uniform(0.05, 0.4)):
        # documented: the tolerance is that of delta
        for more, tolerance in (({}, 1e-12), ({"tol": 1e-5}, 1e-5)):
            found = privacy_calibrator.ana_gaussian_mech(epsilon, level, **more)["sigma"]
            yield (
                f"ana_gaussian_mech({epsilon!r}, {level!r}, {more}), delta",
                *close(gaussian_delta(found, epsilon), level, 1e-9, tolerance + 1e-12),
            )


def relations():
    """Yield the relations."""
    attained = {
        "divergences are those of the densities": _bank,
        "a noisy screen costs as much as at every count": autodp_screens.every_count,
        "a noisy screen costs as much as at one of the counts": autodp_screens.one_of_the_counts,
    }
    yield Relations(
        "rdp_bank",
        {
            **attained,
            "sparse vectors cost what the theorems say": _sparse,
            "conversions take the best order": _conversions,
        },
        understated=attained,
    )
    attained = {"divergences of mechanisms add up": _account, "one term bounds a sample": _one_term}
    yield Relations(
        "anaRDPacct",
        {
            **attained,
            "epsilons are those of the best order": _converted,
            "samples cost what the theorems say": _samples,
        },
        understated=attained,
    )


def searches():
    """Yield the relations for which the library searches, and which take long."""
    attained = {"epsilon is that of the best order": _epsilons}
    yield Relations(
        "privacy_calibrator, dp_bank",
        {
            **attained,
            "epsilon of a sample is that of the theorem": _epsilons_of_samples,
            "noise for a target meets it": _calibrations,
        },
        understated=attained,
    )
