"""The discrete Gaussian for differential privacy: what C. Canonne, G. Kamath and T. Steinke (2020) show of it.

Verify with ``dpassay verify examples/discrete_gaussian/theorems.py``. Every statement decides its claim rigorously at
a point of its domain, or proves it; `test_theorems.py` shows for each a fault that it detects.
"""

import math
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import sympy as sp
from flint import arb
from integers import DiscreteGaussian, discrete_laplace

from dpassay.statements import (
    ATTAINED,
    Integers,
    Pin,
    Proof,
    Reals,
    Source,
    Verdict,
    agree,
    at_least,
    at_most,
    at_most_exact,
    ball,
    checked,
    conjunction,
    equal_exact,
    exact,
    identity,
    normal_cdf,
    proof,
    prose,
    register_items,
    statement,
    sum_balls,
)

CANONNE_2020 = Source(
    key="canonne2020",
    authors="C. L. Canonne, G. Kamath and T. Steinke",
    title="The Discrete Gaussian for Differential Privacy",
    year=2020,
    venue="NeurIPS; arXiv 2004.00010",
    url="https://arxiv.org/abs/2004.00010",
)
register_items(CANONNE_2020, Path(__file__).with_name("items.csv"))

Variance = Annotated[
    Fraction, Reals("the parameter sigma^2", Fraction(1, 20), 400, (1, Fraction(1, 4), 100), logarithmic=True)
]
Order = Annotated[Fraction, Reals("an order alpha > 1", Fraction(11, 10), 20, (2, 10), logarithmic=True)]
Sensitivity = Annotated[int, Integers("an integer sensitivity", 1, 10, (1, 2))]
Level = Annotated[Fraction, Reals("epsilon", 0, 5, (0, 1))]
Slope = Annotated[Fraction, Reals("an exponent t", -3, 3, (1, Fraction(1, 10)))]
Threshold = Annotated[int, Integers("a positive integer", 1, 60, (1, 2))]
Ratio = Annotated[Fraction, Reals("e^(1/t) of a discrete Laplace distribution", Fraction(11, 10), 20, (2,))]
Shift = Annotated[int, Integers("a shift", 1, 12, (1, 2))]
Exponent = Annotated[Fraction, Reals("gamma in [0, 1]", 0, 1, (0, 1, Fraction(1, 2)))]


# --- the normalising constant and the moments ---------------------------------------------------------------


def poisson_sum(variance: Fraction, terms: int = 40) -> arb:
    """Enclose sum_k e^(-2 pi^2 sigma^2 k^2); the remainder is below twice its first term."""
    rate = 2 * arb.pi() ** 2 * ball(variance)
    terms = max(terms, math.ceil(20 / math.sqrt(variance)))
    beyond = 4 * (-rate * (terms + 1) ** 2).exp()
    return 1 + 2 * sum_balls((-rate * k * k).exp() for k in range(1, terms + 1)) + arb(0).union(beyond)


@statement(CANONNE_2020, "poisson_summation")
def normaliser_by_poisson_summation(variance: Variance) -> Verdict:
    """sum_x e^(-x^2/(2 sigma^2)) = sqrt(2 pi sigma^2) sum_k e^(-2 pi^2 sigma^2 k^2), over all integers x and k
    (agreement to 60 bits).
    """
    return agree(
        DiscreteGaussian(variance).total,
        lambda: (2 * arb.pi() * ball(variance)).sqrt() * poisson_sum(variance),
        "both sums",
    )


@statement(CANONNE_2020, "normaliser_bounds")
def normaliser_is_close_to_the_integral(variance: Variance) -> Verdict:
    """max(1, sqrt(2 pi sigma^2)) <= sum_x e^(-x^2/(2 sigma^2)) <= sqrt(2 pi sigma^2) + 1."""
    distribution = DiscreteGaussian(variance)

    def integral() -> arb:
        return (2 * arb.pi() * ball(variance)).sqrt()

    return conjunction([
        at_least(distribution.total, integral, slack=ATTAINED),  # the difference falls as e^(-2 pi^2 sigma^2)
        at_least(distribution.total, lambda: arb(1)),
        at_most(distribution.total, lambda: integral() + 1),
    ])  # fmt: skip


def variance_bound(variance: Fraction) -> arb:
    """Enclose sigma^2 (1 - 4 pi^2 sigma^2 / (e^(4 pi^2 sigma^2) - 1))."""
    rate = 4 * arb.pi() ** 2 * ball(variance)
    return ball(variance) * (1 - rate / rate.expm1())


@statement(CANONNE_2020, "variance_of_discrete_gaussian")
def variance_is_below_the_parameter(variance: Variance) -> Verdict:
    """The variance of the discrete Gaussian is at most sigma^2 (1 - 4 pi^2 sigma^2/(e^(4 pi^2 sigma^2) - 1)), which is
    below sigma^2: it is at least as accurate as the continuous one.
    """
    distribution = DiscreteGaussian(variance)
    return at_most(
        lambda: distribution.mean_of(lambda x: arb(x * x)), lambda: variance_bound(variance), slack=ATTAINED
    )


@statement(CANONNE_2020, "discrete_gaussian_is_subgaussian", examples=({"variance": 1, "slope": 1},))
def discrete_gaussian_is_subgaussian(variance: Variance, slope: Slope) -> Verdict:
    """E[e^(t X)] <= e^(t^2 sigma^2/2); attained where t sigma^2 is an integer."""
    distribution = DiscreteGaussian(variance)

    def transform() -> arb:
        # the weights are completed to a square: the sum is that of a Gaussian about t sigma^2
        centre = exact("slope", slope) * variance
        nearest = round(centre)
        shifted = DiscreteGaussian(variance)
        around = sum_balls(
            ball(-(Fraction(x + nearest - centre) ** 2) / (2 * variance)).exp()
            for x in range(-shifted.last, shifted.last + 1)
        )
        beyond = arb(0).union(4 * shifted.weight(shifted.last))
        return ball(exact("slope", slope) * centre / 2).exp() * (around + beyond) / distribution.total()

    return at_most(transform, lambda: ball(Fraction(slope) ** 2 * variance / 2).exp(), slack=ATTAINED)


@statement(CANONNE_2020, "upper_tail")
def tail_is_below_that_of_the_rounded_gaussian(variance: Variance, threshold: Threshold) -> Verdict:
    """Pr[X >= m] <= Pr[N(0, sigma^2) >= m - 1] for integers m >= 1."""
    distribution = DiscreteGaussian(variance)
    return at_most(
        lambda: distribution.at_least(threshold),
        lambda: normal_cdf(-ball(threshold - 1) / ball(variance).sqrt()),
    )


# --- privacy ------------------------------------------------------------------------------------------------


def renyi_divergence(variance: Fraction, shift: int, order: Fraction) -> arb:
    """Enclose the Renyi divergence of a discrete Gaussian and the same one moved by an integer.

    e^((alpha - 1) D) is sum_x w(x)^alpha w(x - mu)^(1 - alpha) / sum_x w(x); the exponent of a term is
    -(x - (1 - alpha) mu)^2/(2 sigma^2) + alpha (alpha - 1) mu^2/(2 sigma^2).
    """
    distribution = DiscreteGaussian(variance)
    centre = (1 - order) * shift
    nearest = round(centre)
    around = sum_balls(
        ball(-(Fraction(x + nearest - centre) ** 2) / (2 * variance)).exp()
        for x in range(-distribution.last, distribution.last + 1)
    )
    beyond = arb(0).union(4 * distribution.weight(distribution.last))
    log_ratio = ((around + beyond) / distribution.total()).log()
    return log_ratio / ball(order - 1) + ball(order * shift * shift / (2 * variance))


@statement(
    CANONNE_2020,
    "concentrated_dp",
    pins=(
        Pin(
            {"variance": Fraction(4), "sensitivity": 2, "order": Fraction(3)},
            "attained at integer orders: 3 * 2^2 / (2 * 4)",
            both=lambda: Fraction(3, 2),
        ),
    ),
)
def zcdp_of_discrete_gaussian(variance: Variance, sensitivity: Sensitivity, order: Order) -> Verdict:
    """Integer answers of sensitivity Delta with discrete Gaussian noise satisfy Delta^2/(2 sigma^2)-zCDP: the Renyi
    divergence of order alpha is at most alpha Delta^2/(2 sigma^2), with equality for integer orders.
    """
    return at_most(
        lambda: renyi_divergence(exact("variance", variance), sensitivity, exact("order", order)),
        lambda: ball(Fraction(order) * sensitivity**2 / (2 * Fraction(variance))),
        slack=ATTAINED,
    )


def hockey_stick(variance: Fraction, sensitivity: int, level: Fraction) -> arb:
    """Enclose the hockey-stick divergence at epsilon, summed outcome by outcome where the loss exceeds epsilon."""
    distribution = DiscreteGaussian(variance)
    total = distribution.total()
    factor = ball(level).exp()
    # the loss of x, with the noise about 0 and about Delta, is (Delta^2 - 2 x Delta) / (2 sigma^2)
    worse = [
        x
        for x in range(-distribution.last, distribution.last + 1)
        if sensitivity**2 - 2 * x * sensitivity > 2 * variance * level
    ]
    terms = (distribution.weight(x) - factor * distribution.weight(x - sensitivity) for x in worse)
    beyond = arb(0).union(4 * distribution.weight(distribution.last))
    return (sum_balls(terms) + beyond) / total


@statement(CANONNE_2020, "approximate_dp")
def approximate_dp_is_a_difference_of_tails(variance: Variance, sensitivity: Sensitivity, level: Level) -> Verdict:
    """The smallest delta at epsilon is Pr[X > epsilon sigma^2/Delta - Delta/2] - e^epsilon Pr[X > epsilon
    sigma^2/Delta + Delta/2] (agreement to 60 bits).
    """
    distribution = DiscreteGaussian(variance)
    middle = Fraction(level) * variance / sensitivity
    near = math.floor(middle - Fraction(sensitivity, 2)) + 1
    far = math.floor(middle + Fraction(sensitivity, 2)) + 1
    return agree(
        lambda: hockey_stick(exact("variance", variance), sensitivity, exact("level", level)),
        lambda: distribution.at_least(near) - ball(level).exp() * distribution.at_least(far),
        "the two forms of delta",
    )


@statement(CANONNE_2020, "discrete_laplace")
def pure_dp_of_discrete_laplace(ratio: Ratio, shift: Shift) -> Verdict:
    """Discrete Laplace noise of scale t on integer answers of sensitivity Delta is Delta/t-DP: with r = e^(1/t) no
    likelihood ratio exceeds r^Delta, and that of 0 attains it. Exact.
    """
    base = Fraction(ratio)
    noise = discrete_laplace(base, range(-60, 61))
    ratios = [noise[x] / noise[x - shift] for x in range(-60 + shift, 61)]
    return conjunction([
        equal_exact(max(ratios), base**shift, "the largest likelihood ratio"),
        *(at_most_exact(one, base**shift, "a likelihood ratio") for one in ratios),
    ])  # fmt: skip


# --- exact sampling -----------------------------------------------------------------------------------------


@statement(CANONNE_2020, "rejection_sampler")
def rejection_from_discrete_laplace_is_exact() -> Proof:
    """An integer Y from the discrete Laplace distribution of scale t, kept with probability
    e^(-(|Y| - sigma^2/t)^2/(2 sigma^2)), follows the discrete Gaussian of parameter sigma^2.
    """
    y, t, variance = sp.symbols("y t sigma2", positive=True)
    kept = -y / t - (y - variance / t) ** 2 / (2 * variance)
    constant = -variance / (2 * t**2)
    return proof(
        checked(
            "exponents",
            "With y = |Y|: -y/t - (y - sigma^2/t)^2/(2 sigma^2) = -y^2/(2 sigma^2) - sigma^2/(2 t^2).",
            identity,
            kept,
            -(y**2) / (2 * variance) + constant,
        ),
        prose(
            "proportional",
            "Pr[Y = x and kept] is a constant times e^(-x^2/(2 sigma^2)), because the exponents differ by a constant "
            "that does not depend on x.",
            given=("exponents",),
        ),
        prose(
            "the kept integer",
            "Conditioned on being kept, Y follows the discrete Gaussian: both are probabilities on the integers, "
            "proportional to each other.",
            given=("proportional",),
        ),
    )


@statement(CANONNE_2020, "rejection_sampler")
def rejection_keeps_one_of_few(variance: Variance) -> Verdict:
    """With t = floor(sigma) + 1 an iteration is kept with probability (r - 1)/(r + 1) e^(-sigma^2/(2 t^2))
    sum_x e^(-x^2/(2 sigma^2)), r = e^(1/t): the sum over the integers y of Pr[Y = y] times the probability that it is
    kept (agreement to 60 bits).
    """
    distribution = DiscreteGaussian(variance)
    scale = math.isqrt(math.floor(variance)) + 1

    def one_by_one() -> arb:
        ratio = ball(Fraction(1, scale)).exp()
        reach = range(-distribution.last, distribution.last + 1)
        proposals = ((ratio - 1) / (ratio + 1) * ball(-Fraction(abs(y), scale)).exp() for y in reach)
        kept = (ball(-((abs(y) - Fraction(variance) / scale) ** 2) / (2 * Fraction(variance))).exp() for y in reach)
        beyond = arb(0).union(4 * distribution.weight(distribution.last))
        return sum_balls(p * q for p, q in zip(proposals, kept, strict=True)) + beyond

    def closed() -> arb:
        ratio = ball(Fraction(1, scale)).exp()
        return (ratio - 1) / (ratio + 1) * ball(-Fraction(variance) / (2 * scale**2)).exp() * distribution.total()

    return agree(one_by_one, closed, "the probabilities of keeping")


@statement(CANONNE_2020, "bernoulli_of_exponential")
def odd_run_of_coins_has_exponential_probability(exponent: Exponent) -> Verdict:
    """Toss coins of probability gamma, gamma/2, gamma/3, ... until one fails: the number of tosses is odd with
    probability e^(-gamma). The partial sums of the exact probabilities enclose it.
    """
    gamma = Fraction(exponent)
    reached, odd = Fraction(1), Fraction(0)
    for toss in range(1, 60):
        stops = reached * (1 - gamma / toss)
        odd += stops if toss % 2 else 0
        reached *= gamma / toss
    return conjunction([
        at_most(lambda: ball(odd), lambda: ball(-gamma).exp(), slack=ATTAINED),
        at_most(lambda: ball(-gamma).exp(), lambda: ball(odd + reached), slack=ATTAINED),
    ])  # fmt: skip
