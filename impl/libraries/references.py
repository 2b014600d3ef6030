"""Reference values that adapters of accountants share, and the comparison of a number with one.

It runs inside workers, in the interpreter of a library: Python 3.9 or newer, with the standard library; what needs
scipy imports it, which every accountant brings along. The formulas are written apart from those of the libraries.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from random import Random

    Deltas = Callable[[float], tuple[float, float]]
    Row = tuple[str, float, float, float]
    Marked = tuple[str, float, float, float, str]

__all__ = [
    "composition_bounds",
    "composition_delta",
    "deltas_with_response",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_rate",
    "gaussian_sigma",
    "least_error_rate",
    "many_equal_steps",
    "marked",
    "near",
    "no_deltas",
    "normal_cdf",
    "sampled_gaussian_deltas",
    "sampled_gaussian_divergence",
    "short_of",
]


def near(
    value: float, other: float, relative: float = 1e-9, absolute: float = 1e-11
) -> tuple[float, float, float]:  # fmt: skip
    """Return a comparison of `dpassay.adapter.Relations`: bounds around the reference `other`, and the number.

    Parameters
    ----------
    value, other : float
        The number of the library, and its reference.
    relative, absolute : float
        How far the number may lie from the reference: a part of it, and a distance, added up.

    Examples
    --------
    >>> near(1.5, 2.0, relative=0.0, absolute=0.25)
    (1.75, 1.5, 2.25)
    """
    slack = relative * abs(other) + absolute
    return other - slack, float(value), other + slack


def short_of(most: float, words: str, low: float, value: float, high: float) -> Row:
    """Return a comparison of what a number leaves of `most`: one that is too large leaves too little.

    A false negative rate above its bounds understates an attack, as an epsilon below its own does.

    Parameters
    ----------
    most : float
        What the number is taken from, such as 1 for a rate.
    words, low, value, high
        The comparison of the number itself.

    Examples
    --------
    >>> short_of(1.0, "rate", 0.25, 0.5, 0.375)
    ('rate', 0.625, 0.5, 0.75)
    """
    return words, most - high, most - float(value), most - low


def marked(
    relation: Callable[[Random], Iterable[Row]], mark: Callable[[Row], Marked], *starts: str
) -> Callable[[Random], Iterator[Row | Marked]]:
    """Return a relation of `dpassay.adapter.Relations` of whose comparisons some say that they cost privacy.

    Parameters
    ----------
    relation : callable
        The relation.
    mark : callable
        What they say: `dpassay.adapter.protects`, `spends` or `understates`.
    *starts : str
        With what their words begin.

    Examples
    --------
    >>> def both(_):
    ...     yield "noise of a sum", 2.0, 2.0, 2.0
    ...     yield "a sum", 5.0, 5.0, 5.0
    >>> list(marked(both, lambda row: (*row, "below"), "noise")(None))
    [('noise of a sum', 2.0, 2.0, 2.0, 'below'), ('a sum', 5.0, 5.0, 5.0)]
    """

    def rows(random: Random) -> Iterator[Row | Marked]:
        for row in relation(random):
            yield mark(row) if row[0].startswith(starts) else row

    return rows


def normal_cdf(x: float) -> float:
    """Return the distribution function of the standard normal distribution."""
    return 0.5 * math.erfc(-x / math.sqrt(2))


def gaussian_rate(mu: float, rate: float) -> float:
    """Return the false negative rate of Gaussian noise at a false positive rate (Dong and others 2019).

    Examples
    --------
    >>> gaussian_rate(0.0, 0.25)
    0.75
    """
    return normal_cdf(-NormalDist().inv_cdf(rate) - mu)


def gaussian_delta(sigma: float, epsilon: float) -> float:
    """Return the delta of Gaussian noise with sensitivity 1 (Balle and Wang 2018, Thm 8)."""
    return normal_cdf(0.5 / sigma - epsilon * sigma) - math.exp(epsilon) * normal_cdf(-0.5 / sigma - epsilon * sigma)


def gaussian_epsilon(sigma: float, delta: float) -> float:
    """Return the epsilon of Gaussian noise with sensitivity 1, to 1e-12; at least 0, at most 500."""
    from scipy import optimize

    if gaussian_delta(sigma, 0.0) <= delta:
        return 0.0
    return float(optimize.brentq(lambda epsilon: gaussian_delta(sigma, epsilon) - delta, 0.0, 500.0, xtol=1e-12))


def gaussian_sigma(epsilon: float, delta: float) -> float:
    """Return the least standard deviation for sensitivity 1, between 1e-3 and 1e4, to a relative 1e-12."""
    from scipy import optimize

    return float(
        optimize.brentq(lambda sigma: gaussian_delta(sigma, epsilon) - delta, 1e-3, 1e4, xtol=1e-15, rtol=1e-12)
    )


def composition_bounds(epsilons: Sequence[float], slack: float) -> tuple[float, float, float]:
    """Return three epsilons that hold for a composition at a slack in delta, of which the least is stated.

    The sum, and the two of Kairouz, Oh and Viswanath (2015, Theorem 3.5; 2017, Theorem 3.4).

    Parameters
    ----------
    epsilons : sequence of float
        Those of the parts.
    slack : float
        What is added to the deltas of the parts, in (0, 1); at 0 the sum alone is finite.

    Examples
    --------
    >>> [round(bound, 4) for bound in composition_bounds([0.1] * 100, 0.01)]
    [10.0, 3.5433, 3.5344]
    """
    plain = math.fsum(epsilons)
    if not slack:
        return plain, math.inf, math.inf
    drift = math.fsum(epsilon * math.tanh(epsilon / 2) for epsilon in epsilons)
    squares = math.fsum(epsilon**2 for epsilon in epsilons)
    logarithms = math.log(math.e + math.sqrt(squares) / slack), math.log(1 / slack)
    by_squares, by_slack = (drift + math.sqrt(2 * squares * logarithm) for logarithm in logarithms)
    return plain, by_squares, by_slack


def sampled_gaussian_divergence(sigma: float, rate: float, order: float) -> float:
    """Return the Renyi divergence of a Gaussian mechanism on a Poisson sample by an integral; the order exceeds 1."""
    from scipy import integrate

    def integrand(x: float) -> float:
        ratio = (1 - rate) + rate * math.exp((2 * x - 1) / (2 * sigma**2))
        return math.exp(-0.5 * (x / sigma) ** 2 + order * math.log(ratio)) / (sigma * math.sqrt(2 * math.pi))

    ends = (-12 * sigma, order + 12 * sigma)
    value, _ = integrate.quad(integrand, *ends, limit=500, points=[0.0, 0.5, order])
    return math.log(value) / (order - 1)


def no_deltas(epsilon: float) -> tuple[float, float]:
    """Return the deltas, both ways, of a mechanism that ignores its data, at any epsilon."""
    delta = max(0.0, -math.expm1(epsilon))
    return delta, delta


def sampled_gaussian_deltas(sigma: float, rate: float, epsilon: float) -> tuple[float, float]:
    """Return the deltas of a Gaussian mechanism on a Poisson sample, a record removed and one added, at any epsilon.

    The rate is below 1. The mixture of both distributions exceeds exp(epsilon) times the noise alone where the noise
    around 1 exceeds (exp(epsilon) - 1 + rate) / rate times the one around 0.
    """

    def of_mixture(level: float) -> float:
        return rate * gaussian_delta(sigma, math.log1p(math.expm1(level) / rate))

    least = math.log1p(-rate)  # of the losses of the mixture
    removed = of_mixture(epsilon) if epsilon > least else -math.expm1(epsilon)
    added = math.exp(epsilon) * of_mixture(-epsilon) - math.expm1(epsilon) if -epsilon > least else 0.0
    return removed, added


def deltas_with_response(deltas: Deltas, epsilon0: float, delta0: float) -> Deltas:
    """Return the deltas of a mechanism composed with the worst one that is (epsilon0, delta0)-DP.

    That one tells the neighbours apart with probability delta0, and is a randomised response otherwise.

    Examples
    --------
    >>> removed, added = deltas_with_response(no_deltas, 1.0, 0.25)(2.0)
    >>> (removed, added)
    (0.25, 0.25)
    """
    share = 1 / (1 + math.exp(-epsilon0))

    def composed(epsilon: float) -> tuple[float, float]:
        beside_most, beside_least = deltas(epsilon - epsilon0), deltas(epsilon + epsilon0)
        removed, added = (
            delta0 + (1 - delta0) * (share * beside_most[way] + (1 - share) * beside_least[way]) for way in (0, 1)
        )
        return removed, added

    return composed


def least_error_rate(curve: Iterable[tuple[float, float]], rate: float) -> float:
    """Return the least false negative rate at a false positive rate that pairs (epsilon, delta) allow one way."""
    return max(0.0, *(1 - delta - math.exp(epsilon) * rate for epsilon, delta in curve))


def many_equal_steps(
    random: Random, least: int = 60, largest: float = 0.25
) -> Iterator[list[tuple[float, float, int]]]:
    """Yield steps (epsilon, delta, times) of one epsilon and of two, whose sum is not the least epsilon of all.

    The defaults are enough for that at a slack of 5e-7.

    Parameters
    ----------
    random : Random
        The source of the parameters.
    least : int
        The least number of steps; the largest is 20 more.
    largest : float
        The largest epsilon of a step.
    """
    delta, count = 1e-6, random.randint(least, least + 20)
    few = random.randint(count // 4, count // 2)
    one, other = random.uniform(0.05, largest / 2), random.uniform(largest / 2, largest)
    yield [(one, delta, count)]
    yield [(one, delta, count - few), (other, delta, few)]


def composition_delta(steps: list[tuple[float, float, int]], epsilon: float) -> float:
    """Return the least delta at an epsilon of steps of (epsilon, delta), each taken some number of times.

    The worst step has a loss of plus or minus its epsilon, and its delta apart (Kairouz, Oh and Viswanath 2015;
    Murtagh and Vadhan 2016). The time is the product of the numbers of times.

    Examples
    --------
    >>> round(composition_delta([(1.0, 0.0, 1)], 0.0), 6)  # (e - 1) / (e + 1)
    0.462117
    """
    losses = [(0.0, 1.0)]
    hidden = 0.0  # the logarithm of the probability that no step gives itself away
    for own, delta, count in steps:
        worse = 1 / (1 + math.exp(-own))
        chances = [math.comb(count, k) * worse**k * (1 - worse) ** (count - k) for k in range(count + 1)]
        losses = [
            (loss + (2 * k - count) * own, weight * chance)
            for loss, weight in losses
            for k, chance in enumerate(chances)
        ]
        hidden += count * (math.log1p(-delta) if delta < 1 else -math.inf)
    excess = math.fsum(-math.expm1(epsilon - loss) * weight for loss, weight in losses if loss > epsilon)
    return -math.expm1(hidden) + math.exp(hidden) * excess
