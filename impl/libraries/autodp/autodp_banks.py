"""Exact relations of the rarer divergences of autodp and of the bounds for samples, by sums and published formulas."""

from __future__ import annotations

import math

import numpy as np
from autodp import rdp_acct, rdp_bank
from autodp_formulas import (
    close,
    closed_laplace_divergence,
    finite_divergence,
    gaussian_divergence,
    laplace_divergence,
    pure_divergence,
    response_divergence,
    sampled_divergence,
    sampled_without_replacement,
)
from scipy import special

from dpassay.adapter import Relations

__all__ = ["relations"]


def _mixed(upper, lower, rate):
    return [(1 - rate) * b + rate * a for a, b in zip(upper, lower)]


def _sampled_pure(random):
    """Check samples of pure mechanisms: the theorem, and the divergence of a sampled randomised response."""
    pure, rate = random.uniform(0.3, 2), random.uniform(0.05, 0.6)
    keep = 1 / (1 + math.exp(-pure))
    for second in (None, pure**2 * random.uniform(0.2, 0.8)):
        parameters = {"eps": pure, "prob": rate} | ({} if second is None else {"eps2": second})
        gain, at_two = math.expm1(pure), math.expm1(min(pure, pure**2) if second is None else second)
        least = min(gain, gain**2, at_two)

        def exact(order, gain=gain, least=least):
            whole = (1 + rate * gain) ** order - order * rate * gain
            return math.log(whole - order * (order - 1) / 2 * rate**2 * (gain**2 - least)) / (order - 1)

        for order in (2, 3, 7):
            found = rdp_bank.RDP_subsampled_pureDP(parameters, order)
            words = f"RDP_subsampled_pureDP({parameters}, {order})"
            yield words, *close(found, min(exact(order), pure), 1e-6)
        middle = min(pure, (exact(3) * 2 * 0.6 + exact(4) * 3 * 0.4) / 2.4)
        yield (
            f"RDP_subsampled_pureDP({parameters}, 3.4)",
            *close(rdp_bank.RDP_subsampled_pureDP(parameters, 3.4), middle),
        )
        for order, value in ((math.inf, pure), (0.5, 0.0), (1.5, exact(2))):
            found = rdp_bank.RDP_subsampled_pureDP(parameters, order)
            yield f"RDP_subsampled_pureDP({parameters}, {order})", *close(found, value, 1e-6)
    tight = finite_divergence(_mixed([keep, 1 - keep], [1 - keep, keep], rate), [1 - keep, keep], 3)
    found = rdp_bank.RDP_subsampled_pureDP({"eps": pure, "prob": rate}, 3)
    yield f"a sampled response, {pure!r}, {rate!r}", tight * (1 - 1e-9), float(found), math.inf


def _asymptotic(random):
    """Check the asymptotic divergences of samples of data sets (Wang et al. 2018, Examples 19 and 20)."""
    sigma, rate, size = random.uniform(0.7, 2), random.uniform(0.1, 0.6), random.randint(10, 60)
    spread = rate * (1 - rate)
    for order in (1.5, 3.0):
        # two normal distributions whose variances differ by that of one record
        end = sigma**2 / spread + 1
        if order < end:
            exact = rate**2 / (2 * sigma**2) * order * (end - 1) / (end - order)
            exact += math.log((end - 1) / end) / 2 + math.log((end - 1) / (end - order)) / 2 / (order - 1)
            found = rdp_bank.pRDP_asymp_subsampled_gaussian({"sigma": sigma, "prob": rate}, order)
            yield f"pRDP_asymp_subsampled_gaussian, {sigma!r}, {rate!r}, {order}", *close(found, exact)
        exact = rate**2 * order / (2 * sigma**2 + spread * (size - 1 / size) / 2)
        parameters = {"sigma": sigma, "prob": rate, "n": size}
        found = rdp_bank.pRDP_asymp_subsampled_gaussian_best_case(parameters, order)
        yield f"pRDP_asymp_subsampled_gaussian_best_case({parameters}, {order})", *close(found, exact)
    beyond = rdp_bank.pRDP_asymp_subsampled_gaussian({"sigma": sigma, "prob": rate}, end + 0.5)
    yield f"noise {sigma!r}, rate {rate!r}, beyond the last order", math.inf, float(beyond), math.inf
    below = rdp_bank.pRDP_asymp_subsampled_gaussian({"sigma": sigma, "prob": rate}, 1)
    yield f"noise {sigma!r}, rate {rate!r}, order 1", 0.0, float(below), 0.0


def _families(random):
    """Check exponential families at the normal and at the Poisson distribution, whose divergences are known."""
    mean, other = random.uniform(0.5, 3), random.uniform(0.5, 3)
    poisson = {"eta1": np.array([math.log(mean)]), "eta2": np.array([math.log(other)])}
    poisson |= {"A": lambda eta: float(np.exp(eta).sum()), "mu": np.array([mean])}
    counts = range(600)
    p, q = ([k * math.log(m) - m - math.lgamma(k + 1) for k in counts] for m in (mean, other))
    for order in (1.3, 1.7, 4.0):
        terms = [order * a + (1 - order) * b for a, b in zip(p, q)]
        exact = float(special.logsumexp(terms)) / (order - 1)
        found = rdp_bank.pRDP_expfamily(poisson, order)
        yield f"pRDP_expfamily, Poisson {mean!r} and {other!r}, order {order}", *close(found, exact, 1e-6)
    bounded = {**poisson, "A": lambda eta: math.inf if eta.sum() > 40 or eta.sum() < -40 else float(np.exp(eta).sum())}
    found = rdp_bank.pRDP_expfamily(bounded, 1 + 80 / abs(math.log(mean / other)))
    yield f"pRDP_expfamily beyond its parameters, {mean!r}, {other!r}", math.inf, float(found), math.inf


def _smooth_families(random):
    """Check the bound for families whose log-partition function is smooth or has a bounded slope."""
    step, bound = random.uniform(0.2, 0.9), random.uniform(0.5, 2)
    for order in (2.0, 6.0):
        smooth, slope = (lambda radius: 0.3 + radius), (lambda radius: bound + radius / 2)
        exact = min(order * smooth(order * step) * step**2, (slope((order - 1) * step) + slope(step)) * step)
        found = rdp_bank.RDP_expfamily({"Delta": step, "L": smooth, "B": slope}, order)
        yield f"RDP_expfamily, {step!r}, {bound!r}, order {order}", *close(found, exact)


def _families_at_one(random):
    means = random.uniform(0.5, 3), random.uniform(0.5, 3)
    for mean, other in (means, means[::-1]):
        parameters = {"eta1": np.array([math.log(mean)]), "eta2": np.array([math.log(other)])}
        parameters |= {"A": lambda eta: float(np.exp(eta).sum()), "mu": np.array([mean])}
        exact = mean * math.log(mean / other) - mean + other
        yield f"Poisson {mean!r} and {other!r}, order 1", *close(rdp_bank.pRDP_expfamily(parameters, 1), exact, 1e-6)


def _noisy_votes(random):
    """Check the divergence of noisy votes that depends on the data (Papernot et al. 2018, Theorem 6)."""
    sigma, order = random.uniform(16, 20), random.uniform(2, 6)
    for log in (-random.uniform(20, 60), -random.uniform(0.3, 0.5)):
        found = rdp_bank.RDP_depend_pate_gaussian({"logq": log, "sigma": sigma}, np.array([order]))
        second = sigma * math.sqrt(-log)
        first, q = second + 1, math.exp(log)
        exact, one, two = order / sigma**2, first / sigma**2, second / sigma**2
        limit = (second - 1) * two - second * (math.log1p(1 / (first - 1)) + math.log1p(1 / (second - 1)))
        if first > order and second > 1 and log <= limit and -log > two:
            upper = (1 - q) / -math.expm1((log + two) * (1 - 1 / second))
            lower = math.exp(one) / q ** (1 / (first - 1))
            bound = (1 - q) * upper ** (order - 1) + q * lower ** (order - 1)
            exact = min(exact, math.log(bound) / (order - 1))
        yield f"RDP_depend_pate_gaussian, {log!r}, {sigma!r}, order {order!r}", *close(float(found[0]), exact, 1e-6)
    probability = math.exp(log)
    found = rdp_bank.RDP_depend_pate_gaussian({"logq": log, "sigma": sigma}, 1)
    exact = (2 * probability - 1) * math.log(probability / (1 - probability))
    yield f"RDP_depend_pate_gaussian, {log!r}, order 1", *close(found, exact)


def _low_orders(random):
    """Check divergences of orders below 1, at 1/2, at 1 and at infinity."""
    scale, pure, keep = random.uniform(0.6, 3), random.uniform(0.2, 2), random.uniform(0.6, 0.9)
    for order in (0.3, 0.8):
        exact = laplace_divergence(scale, order)
        yield f"RDP_laplace({scale!r}, {order})", *close(rdp_bank.RDP_laplace({"b": scale}, order), exact, 1e-6)
        low, high = pure_divergence(pure, order), min(order * pure**2 / 2, pure_divergence(pure, 1))
        found = rdp_bank.RDP_pureDP({"eps": pure}, order)
        yield f"RDP_pureDP({pure!r}, {order})", low * (1 - 1e-9), float(found), high * (1 + 1e-9)
        exact = response_divergence(keep, order)
        yield f"RDP_randresponse({keep!r}, {order})", *close(rdp_bank.RDP_randresponse({"p": keep}, order), exact)
    for end in (0, 1):
        yield f"RDP_randresponse({end})", math.inf, float(rdp_bank.RDP_randresponse({"p": end}, 2)), math.inf
    for order in (0, 1, 1e6):
        yield (
            f"RDP_gaussian, order {order}",
            *close(rdp_bank.RDP_gaussian({"sigma": scale}, order), order / 2 / scale**2),
        )
    sizes = {"mu1": np.array([0.3]), "mu2": np.array([1.0]), "sigma1": np.array([3.0]), "sigma2": np.array([1.0])}
    yield "pRDP_diag_gaussian beyond its orders", math.inf, float(rdp_bank.pRDP_diag_gaussian(sizes, 2.0)), math.inf


def _sparse_at_the_ends(random):
    """Check the bound of a sparse vector technique with Laplace noise at order 1 and at infinity."""
    scale = random.uniform(0.6, 3)
    for name, order in (("RDP_svt_laplace", 1.0), ("RDP_svt_laplace", math.inf)):
        whole, step = 3 / scale, laplace_divergence(scale, order)
        exact = min(2 / scale + step, order * whole**2 / 2)
        if order > 1:
            exact = min(exact, 3 * step)
        found = getattr(rdp_bank, name)({"b": scale, "k": 50, "c": 2}, order)
        yield f"{name}({scale!r}), order {order}", *close(found, exact)


# --- bounds for samples ---------------------------------------------------------------------------------------


def _general_bound(random):
    """Check the bound for every mechanism on a Poisson sample (Zhu and Wang 2019, Theorem 5)."""
    sigma, rate = random.uniform(1, 4), random.uniform(0.02, 0.4)
    curve = gaussian_divergence(sigma)
    for order in (3, 4, 8, 20):
        terms = [order * math.log1p(-rate), (order - 1) * math.log1p(-rate) + math.log(order * rate)]
        for j in range(2, order + 1):
            weight = math.log(math.comb(order, j)) + j * math.log(rate) + (order - j) * math.log1p(-rate)
            terms.append(weight + (j - 1) * curve(j) + (math.log(3) if j > 2 else 0.0))
        words = f"general_upperbound, noise {sigma!r}, rate {rate!r}, order {order}"
        yield words, *close(rdp_acct.general_upperbound(curve, order, rate), float(special.logsumexp(terms)), 1e-6)
    for order in (0, 1):
        yield f"general_upperbound, order {order}", 0.0, float(rdp_acct.general_upperbound(curve, order, rate)), 0.0
    for name, further in (
        ("general_upperbound", ()),
        ("fast_k_subsample_upperbound", (2,)),
        ("fast_poission_subsampled_cgf_upperbound", ()),
    ):
        bound = getattr(rdp_acct, name)(lambda _: math.inf, 4, rate, *further)
        yield f"{name} of no privacy", math.inf, float(bound), math.inf
        if name.startswith("fast"):
            yield f"{name}, order 1", 0.0, float(getattr(rdp_acct, name)(curve, 1, rate, *further)), 0.0


def _few_terms(random):
    """Check the closed forms of bounds with a few exact terms."""
    sigma, rate = random.uniform(1, 3), random.uniform(0.05, 0.4)
    curve = gaussian_divergence(sigma)
    for order in (2, 4, 9):
        whole = 1 - rate + rate * math.exp(curve(order))
        exact = order * math.log(whole)
        if order >= 3:
            ratio = rate / (1 - rate)
            # of the second order twice the term of the theorem, on the safe side
            sides = 1 + order * ratio + order * (order - 1) * ratio**2 * math.exp(curve(2))
            third = math.comb(order, 3) * ratio**3 * math.exp(2 * curve(order))
            sides += third * (1 + ratio * math.exp(curve(order))) ** (order - 3)
            exact = min(exact, order * math.log1p(-rate) + math.log(sides))
        found = rdp_acct.fast_poission_subsampled_cgf_upperbound(curve, order, rate)
        yield f"fast Poisson bound, {sigma!r}, {rate!r}, order {order}", *close(found, exact)
        found = rdp_acct.fast_k_subsample_upperbound(curve, order, rate, 50)
        exact = (order - 1) * sampled_divergence(curve, rate, order)
        yield f"all terms, {sigma!r}, {rate!r}, order {order}", *close(found, exact)
    for order, terms in ((8, 2), (9, 3), (14, 3)):
        # terms of the middle orders are bounded by the divergence of one order for all
        at = curve(order - terms)
        exact = (order - 1) * math.log1p(-rate) + math.log1p((order - 1) * rate)
        logs = [exact]
        for j in range(2, order + 1):
            weight = math.log(math.comb(order, j)) + j * math.log(rate) + (order - j) * math.log1p(-rate)
            logs.append(weight + (j - 1) * (curve(j) if j <= terms or j > order - terms else at))
        found = rdp_acct.fast_k_subsample_upperbound(curve, order, rate, terms)
        words = f"{terms} terms, {sigma!r}, {rate!r}, order {order}"
        yield words, *close(found, float(special.logsumexp(logs)), 1e-6)


def _improved(random):
    """Check samples without replacement of mechanisms with a worst pair (Wang et al. 2018, Theorem 27)."""
    sigma, scale, rate = random.uniform(1.2, 3), random.uniform(1.2, 3), random.uniform(0.05, 0.4)
    for words, curve, pure in (
        ("Gaussian noise", gaussian_divergence(sigma), math.inf),
        ("Laplace noise", lambda o: closed_laplace_divergence(scale, o), 1 / scale),
    ):
        account = rdp_acct.anaRDPacct(m=20, m_max=40)
        account.compose_subsampled_mechanism(curve, rate, improved_bound_flag=True)

        def moment(j, curve=curve):
            """Return E[(p/q - 1)^j] under q."""
            powers = [math.exp((i - 1) * curve(i)) if i > 1 else 1.0 for i in range(j + 1)]
            return math.fsum((-1) ** (j - i) * math.comb(j, i) * powers[i] for i in range(j + 1))

        large = math.log(math.expm1(pure)) if pure < math.inf else math.inf
        second = min(math.log(4 * math.expm1(curve(2))), curve(2) + min(math.log(2), 2 * large))
        for order in (2, 3, 5, 8):
            terms = [0.0, second + 2 * math.log(rate) + math.log(math.comb(order, 2))]
            for j in range(3, order + 1):
                pair = math.log(4) + 0.5 * (math.log(moment(j - j % 2)) + math.log(moment(j + j % 2)))
                term = min(pair, min(j * large, math.log(2)) + (j - 1) * curve(j))
                terms.append(term + j * math.log(rate) + math.log(math.comb(order, j)))
            exact = float(special.logsumexp(terms)) / (order - 1)
            if pure < math.inf:
                exact = min(exact, math.log1p(rate * math.expm1(pure)))
            found = float(account.get_rdp([order])[0])
            case = f"{words}, {sigma!r}, {scale!r}, rate {rate!r}, order {order}"
            yield case, exact * (1 - 1e-5), found, exact * (1 + 1e-5)


_KINDS = (
    "compose_subsampled_mechanism",
    "compose_poisson_subsampled_mechanisms",
    "compose_poisson_subsampled_mechanisms1",
)


def _whole_and_nothing(random):
    """Check samples of everything and of nothing, and pure losses of samples."""
    sigma, scale, rate = random.uniform(1, 4), random.uniform(0.8, 3), random.uniform(0.05, 0.5)
    noisy = lambda o: closed_laplace_divergence(scale, o)  # noqa: E731  # a function that the accountant recognises again
    for name in _KINDS:
        account = rdp_acct.anaRDPacct(m=10, m_max=10)
        getattr(account, name)(noisy, rate, coeff=3)
        getattr(account, name)(noisy, rate, coeff=2)
        exact = 5 * math.log1p(rate * math.expm1(1 / scale))
        yield f"{name}, Laplace noise {scale!r}, rate {rate!r}, pure", *close(account.get_eps(0), exact)
        high = float(account.get_rdp([math.inf])[0])
        yield f"{name}, Laplace noise {scale!r}, rate {rate!r}, order infinity", *close(high, exact)
        if name != "compose_subsampled_mechanism":
            bound = lambda o, n=name: sampled_divergence(noisy, rate, o, general=n.endswith("1"))  # noqa: E731
        else:
            bound = lambda o: sampled_without_replacement(noisy, rate, o, 1 / scale)  # noqa: E731  # a formula
        for order in (1.6, 2, 4, 7, 14):  # beyond 10 the binomial coefficients are computed one by one
            exact = 5 * min(bound(max(math.ceil(order), 2)), math.log1p(rate * math.expm1(1 / scale)))
            found = float(account.get_rdp([order])[0])
            yield f"{name}, Laplace noise {scale!r}, rate {rate!r}, order {order}", *close(found, exact, 1e-6)
        for order, value in enumerate(account.RDPs_int[1:6], start=2):
            if name == "compose_subsampled_mechanism":
                exact = 5 * min(bound(order), math.log1p(rate * math.expm1(1 / scale)))
                yield f"{name}, Laplace noise {scale!r}, rate {rate!r}, stored at {order}", *close(value, exact, 1e-6)
    curve = gaussian_divergence(sigma)
    for name in _KINDS[1:]:
        account = rdp_acct.anaRDPacct(m=10, m_max=10)
        getattr(account, name)(curve, rate)
        for order in (9, 10, 13):
            exact = sampled_divergence(curve, rate, order, general=name.endswith("1"))
            found = float(account.get_rdp([order])[0])
            yield f"{name}, noise {sigma!r}, rate {rate!r}, order {order}", *close(found, exact, 1e-6)
    account = rdp_acct.anaRDPacct(m=10, m_max=10)
    account.compose_poisson_subsampled_mechanisms1(curve, 1.0)
    yield f"all of the records, noise {sigma!r}", *close(account.get_rdp([3.0])[0], curve(3.0))
    account = rdp_acct.anaRDPacct(m=10, m_max=10)
    account.compose_poisson_subsampled_mechanisms1(curve, 0)
    yield f"none of the records, noise {sigma!r}", 0.0, float(account.get_rdp([3.0])[0]), 0.0
    account = rdp_acct.anaRDPacct(m=10, m_max=10)
    account.compose_subsampled_mechanisms_lowerbound(curve, rate, coeff=2)
    exact = 2 * sampled_divergence(curve, rate, 4)
    yield f"lower bound, noise {sigma!r}, rate {rate!r}", *close(account.get_rdp([4])[0], exact)


def relations():
    """Yield the relations."""
    attained = {
        "exponential families diverge by their partition function": _families,
        "exponential families diverge at order 1 as they should": _families_at_one,
        "divergences of low and of infinite orders are right": _low_orders,
    }
    yield Relations(
        "rarer divergences",
        {
            **attained,
            "samples of pure mechanisms cost what the theorem says": _sampled_pure,
            "asymptotic divergences are those of the examples": _asymptotic,
            "smooth families diverge by at most a bound": _smooth_families,
            "sparse vectors cost at the ends what the theorem says": _sparse_at_the_ends,
            "votes cost what the theorem says": _noisy_votes,
        },
        understated=attained,
    )
    yield Relations(
        "bounds for samples",
        {
            "the bound for every mechanism is that of the theorem": _general_bound,
            "bounds of a few terms are the sums": _few_terms,
            "a worst pair costs what the theorem says": _improved,
            "samples of all and of none are right": _whole_and_nothing,
        },
    )
