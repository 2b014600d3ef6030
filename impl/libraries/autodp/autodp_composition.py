"""Exact relations of the accountant of epsilons and deltas of autodp, by the theorem of Kairouz, Oh and Viswanath."""

from __future__ import annotations

import math

from autodp import dp_acct
from autodp_formulas import close

from dpassay.adapter import Relations
from dpassay.impl.libraries.references import composition_bounds

__all__ = ["composed_epsilon", "relations"]


def composed_epsilon(epsilons, deltas, delta):
    """Return the epsilon that the library states for mechanisms with an epsilon and a delta each."""
    account = dp_acct.DP_acct()
    for epsilon, part in zip(epsilons, deltas):
        account.update_DPlosses(epsilon, part)
    return float(account.get_eps(delta))


def _bounds(epsilons, deltas, delta):
    """Return the sum of the epsilons, and the two bounds of Kairouz et al. 2015, Theorem 3.5, at a total delta."""
    slack = -math.expm1(math.log1p(-delta) - math.fsum(math.log1p(-part) for part in deltas))
    return composition_bounds(epsilons, slack)


def _many_parts(random):
    """Check the composition of some hundred parts, in cases of which each has another least bound."""
    for least, epsilon, delta in (
        (0, random.uniform(1.5, 2.5), 10 ** random.uniform(-7, -4)),
        (1, random.uniform(0.01, 0.03), 10 ** random.uniform(-6, -3)),
        (2, random.uniform(0.1, 0.15), random.uniform(0.1, 0.4)),
    ):
        count = random.randint(90, 110)
        deltas = [delta / count * random.uniform(0.2, 0.6)] * count
        bounds = _bounds([epsilon] * count, deltas, delta)
        words = f"{count} parts ({epsilon!r}, {deltas[0]!r}), {delta!r}"
        yield f"{words}, the bound that is least", least, bounds.index(min(bounds)), least
        yield words, *close(composed_epsilon([epsilon] * count, deltas, delta), bounds[least])
    epsilons = [random.uniform(0.02, 0.2) for _ in range(100)]
    deltas = [random.uniform(0, 1e-6) for _ in epsilons]
    delta = random.uniform(0.001, 0.3)
    words = f"100 different parts, the first {epsilons[0]!r}, {deltas[0]!r}, {delta!r}"
    yield words, *close(composed_epsilon(epsilons, deltas, delta), min(_bounds(epsilons, deltas, delta)))
    yield f"{words}, too small a delta", math.inf, composed_epsilon(epsilons, deltas, sum(deltas) * 0.9), math.inf


def _pure_account(random):
    """Return epsilons, and an account of them without deltas; the zeros are integers, as people write them."""
    epsilons = [random.uniform(0.05, 0.7) for _ in range(random.randint(3, 60))]
    account = dp_acct.DP_acct()
    for epsilon in epsilons:
        account.update_DPlosses(epsilon, 0)
    return epsilons, account, f"{len(epsilons)} pure parts, the first {epsilons[0]!r}"


def _pure_parts(random):
    """Check the epsilon of pure parts at a delta of 0, where no bound but their sum is finite."""
    epsilons, account, words = _pure_account(random)
    yield f"{words}, delta 0", *close(float(account.get_eps(0)), math.fsum(epsilons))


def _about_pure_parts(random):
    """Check what else is said of pure parts, and that a part with a delta has no pure epsilon."""
    epsilons, account, words = _pure_account(random)
    total, leak = map(float, account.get_eps_delta_naive())
    yield f"{words}, get_eps_delta_naive, epsilon", *close(total, math.fsum(epsilons))
    yield f"{words}, get_eps_delta_naive, delta", 0.0, leak, 0.0
    least = float(account.get_minimum_possible_delta())
    yield f"{words}, get_minimum_possible_delta", 0.0, least, 0.0
    delta = 10 ** random.uniform(-12, -3)
    expected = min(_bounds(epsilons, [0.0] * len(epsilons), delta))
    # 1 - delta has the rounding of float64, which the logarithm of a small slack hardly shows
    yield f"{words}, delta {delta!r}", *close(float(account.get_eps(delta)), expected, 1e-5)
    parts = [10 ** random.uniform(-6, -3) for _ in range(2)]
    for part in parts:
        account.update_DPlosses(random.uniform(0.1, 2), part)
    yield f"{words}, two of deltas {parts!r}, delta 0", math.inf, float(account.get_eps(0)), math.inf
    yield f"{words}, two of deltas {parts!r}, sum of deltas", *close(account.get_eps_delta_naive()[1], sum(parts))
    least = -math.expm1(math.fsum(math.log1p(-part) for part in parts))
    yield f"{words}, two of deltas {parts!r}, least delta", *close(account.get_minimum_possible_delta(), least)


def relations():
    """Yield the relations."""
    yield Relations("DP_acct, many parts", {"many parts cost what the theorem says": _many_parts})
    attained = {"pure parts cost their sum at a delta of 0": _pure_parts}
    yield Relations(
        "DP_acct, pure parts",
        {**attained, "a part with a delta has no pure epsilon": _about_pure_parts},
        understated=attained,
    )
