"""Exact relations of the noisy screens of autodp: divergences of two answers, of all orders and of order infinity."""

from __future__ import annotations

import math

from autodp import mechanism_zoo, rdp_bank
from autodp_formulas import close, finite_divergence

from dpassay.adapter import Relations
from dpassay.impl.libraries.references import normal_cdf

__all__ = ["every_count", "one_of_the_counts", "relations"]


def _cases(threshold, neighbours, sigma, order):
    """Return the divergences of the four cases that the library goes through."""
    cases = []
    for count in (neighbours // 10, threshold):
        for step in (1, -1):
            p, q = (normal_cdf(-(threshold - count + by) / sigma) for by in (0, step))
            cases.append(finite_divergence([p, 1 - p], [q, 1 - q], order))
    return cases


def one_of_the_counts(random):
    """Check that a noisy screen without knowledge of the data costs as much as at one of the counts."""
    threshold, neighbours, sigma = random.randint(60, 100), 200, random.uniform(20, 40)
    for order in (1.0, 3.0, 20.0):
        found = float(
            rdp_bank.RDP_independent_noisy_screen({"thresh": threshold, "k": neighbours, "sigma": sigma}, order)
        )
        cases = _cases(threshold, neighbours, sigma, order)
        nearest = min(cases, key=lambda case: abs(case - found))
        words = f"threshold {threshold}, noise {sigma!r}, order {order}, one of {cases}"
        yield (words, *close(found, nearest, 1e-6))


def every_count(random):
    """Check that a noisy screen without knowledge of the data costs as much as at each count that is searched."""
    threshold, neighbours = random.randint(60, 100), 200
    sigma = (threshold - neighbours // 10) / random.uniform(2.2, 3)  # the lower count is in the tail of the noise
    for order in (3.0, 60.0, 100.0):
        found = rdp_bank.RDP_independent_noisy_screen({"thresh": threshold, "k": neighbours, "sigma": sigma}, order)
        for count in (neighbours // 10, threshold):
            for step in (1, -1):
                p, q = (normal_cdf(-(threshold - count + by) / sigma) for by in (0, step))
                low = finite_divergence([p, 1 - p], [q, 1 - q], order)
                words = f"threshold {threshold}, noise {sigma!r}, count {count}, one vote {step}, order {order}"
                yield words, low * (1 - 1e-6) - 1e-12, float(found), math.inf


def _of_order_infinity(random):
    """Check the largest loss of a noisy screen: the greater of the two log ratios of its answers."""
    p, q = random.uniform(0.2, 0.3), random.uniform(0.65, 0.8)  # the ratio p / q is less than the loss
    for upper, lower in ((p, q), (q, p)):
        parameters = {"logp": math.log(upper), "logq": math.log(lower)}
        exact = finite_divergence([upper, 1 - upper], [lower, 1 - lower], math.inf)
        found = rdp_bank.RDP_noisy_screen(parameters, math.inf)
        yield f"RDP_noisy_screen({parameters}, inf)", *close(found, exact)
        found = mechanism_zoo.NoisyScreenMechanism(parameters).get_approxDP(0)
        yield f"NoisyScreenMechanism({parameters}), epsilon at 0", *close(found, exact)
    threshold, neighbours, sigma = random.randint(60, 100), 200, random.uniform(20, 40)
    given = {"thresh": threshold, "k": neighbours, "sigma": sigma}
    found = float(rdp_bank.RDP_independent_noisy_screen(given, math.inf))
    cases = _cases(threshold, neighbours, sigma, math.inf)
    nearest = min(cases, key=lambda case: abs(case - found))
    yield f"RDP_independent_noisy_screen({given}, inf), one of {cases}", *close(found, nearest, 1e-6)


def relations():
    """Yield the relation of order infinity; those of other orders belong to the bank."""
    attained = {"order infinity is the largest loss": _of_order_infinity}
    yield Relations("noisy screens", attained, understated=attained)
