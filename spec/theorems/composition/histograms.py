"""Laplace against Gaussian noise on histograms: Cesar and Rogers (2020), Section 6, Lemmas 6.1 to 6.3, Figs 4 to 6.

One user changes at most Delta counts (l0) by at most tau each (l_infinity), all the same way when a user is added.
Laplace noise has scale tau/epsilon, Gaussian noise standard deviation tau sigma: sigma is a multiplier. The remark
after Lemma 6.3, "which can be optimized over alpha", is left over: its statement has no alpha.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Annotated, Any

from flint import arb, arb_poly, ctx

from dpassay.lazy import sympy as sp
from dpassay.spec.ball import Exact, Real, at_least, at_most, ball, exact, less_than, sum_balls
from dpassay.spec.distributions.gaussian import gaussian_hockey_stick
from dpassay.spec.domains.base import Choices, Integers, Reals
from dpassay.spec.notions.pure_conversions import zcdp_rho_of_pure
from dpassay.spec.numerics.smoothing import loss_excess
from dpassay.spec.proof.figures import Figures
from dpassay.spec.proof.pins import Pin
from dpassay.spec.proof.steps import Proof, all_of, checked, lemma, proof, prose, suppose
from dpassay.spec.proof.symbolic import identity
from dpassay.spec.sources import CESAR_2020
from dpassay.spec.statement import Erratum, Severity, statement
from dpassay.spec.theorems.accuracy_first.base_mechanisms import zcdp_of_gaussian_noise_by_its_precision
from dpassay.spec.theorems.accuracy_first.second_derivations import converted_delta
from dpassay.spec.theorems.composition.concentrated import cdp_of_gaussian_mechanism
from dpassay.spec.theorems.composition.second_derivations import two_laplace_counts_delta
from dpassay.spec.theorems.foundations.second_derivations import responses_delta_by_beta
from dpassay.spec.theorems.target_charging.second_derivations import responses_delta
from dpassay.spec.verdict import Verdict, conjunction

__all__ = [
    "equal_variance_multiplier",
    "gaussian_histogram_epsilon",
    "gaussian_histogram_shift",
    "laplace_composition_upper",
    "laplace_histogram_delta",
]

Delta = Annotated[
    Exact, Reals("delta", Fraction(1, 10**12), 1, (Fraction(1, 10**6), Fraction(9, 10)), logarithmic=True)
]
Counts = Annotated[int, Integers("Delta", 1, 200, (1, 2, 10, 25), logarithmic=True)]
Multiplier = Annotated[Exact, Reals("a noise multiplier sigma", Fraction(1, 2), 100, (1, 14), logarithmic=True)]
RatioOf = Annotated[Exact, Reals("e^epsilon", Fraction(5, 4), 8, (Fraction(3, 2), 2), logarithmic=True)]
CELLS = 256


# --- Lemma 6.2 ----------------------------------------------------------------------------------------------


def laplace_histogram_delta(base: arb, size: int, epsilon: arb) -> arb:
    """Enclose delta_OPT(DP(epsilon_0)^Delta; epsilon), `base` = epsilon_0: Delta randomised responses.

    sum_j C(Delta, j) Q^j (1 - Q)^(Delta - j) (1 - e^(epsilon - (2 j - Delta) epsilon_0))_+, 1 - Q = 1/(1 +
    e^epsilon_0).
    """
    odds, total = base.exp(), arb(0)
    mass = (-size * (-base).exp().log1p()).exp()  # Q^Delta, the mass of no lie at all
    for lies in range(size + 1):
        hinge = 1 - (epsilon - (size - 2 * lies) * base).exp()
        if hinge < 0:
            break
        total = total + mass * hinge.max(arb(0))
        mass = mass * (size - lies) / (lies + 1) / odds
    return total


def laplace_composition_upper(ratio: Fraction, size: int, epsilon: arb, cells: int = CELLS) -> arb:
    """Bound the exact delta of `size` counts with Laplace noise from above, all moved by tau.

    The loss of one count is at most l with probability e^(-(epsilon_0 - l)/2)/2 for l < epsilon_0, an atom of 1/2 at
    epsilon_0. Rounded up to a grid of [-epsilon_0, epsilon_0], what (1 - e^(epsilon - loss))_+ gains is the error.

    Parameters
    ----------
    ratio : Fraction
        e^epsilon_0, epsilon_0 = tau over the scale of the noise.
    size : int
        Number of counts.
    epsilon : arb
        The level at which delta is bounded.
    cells : int
        Number of cells of the grid.
    """
    step = 2 * ball(ratio).log() / cells
    masses = _convolved_losses(ratio, size, cells, ctx.prec)
    excess = (
        m * (1 - (epsilon - (k * step - size * ball(ratio).log())).exp()).max(arb(0)) for k, m in enumerate(masses)
    )
    return sum_balls(excess)


@lru_cache(maxsize=64)
def _convolved_losses(ratio: Fraction, size: int, cells: int, _bits: int) -> tuple[arb, ...]:
    top = ball(ratio).log()
    below = [(-top * (cells - k) / cells).exp() / 2 for k in range(cells)]  # Pr[L <= -top + k step]
    single = [below[0], *(b - a for a, b in pairwise(below)), 1 - below[-1]]
    product = arb_poly(single) ** size
    return tuple(product[k] for k in range(size * cells + 1))


@statement(
    CESAR_2020,
    "laplace_l0_bound",
    "lp_sensitivity",
    examples=(
        {"ratio": Fraction(271828, 10**5), "size": 1, "share": Fraction(3, 10)},
        {"ratio": Fraction(3, 2), "size": 5, "share": Fraction(1, 2)},
    ),
    pins=(
        Pin(
            {"ratio": Fraction(3, 2), "size": 2, "share": Fraction(3, 10)},
            "the loss of one count integrated in closed form; tails of truthful answers",
            smaller=lambda: two_laplace_counts_delta(Fraction(3, 2), Fraction(3, 5)),
            larger=lambda: responses_delta(2, Fraction(3, 2), ball(Fraction(3, 2)).log() * 3 / 5),
            within=Fraction(1, 100),
        ),
        Pin(
            {"ratio": Fraction(3, 2), "size": 1, "share": Fraction(3, 10)},
            "one count has delta 1 - e^((epsilon_g - epsilon)/2) = 1 - (2/3)^(7/20)",
            smaller=lambda: [1 - ball(Fraction(2, 3)) ** ball(Fraction(7, 20))] * 2,
            larger=lambda: [responses_delta(1, Fraction(3, 2), ball(Fraction(3, 2)).log() * 3 / 10)] * 2,
            within=Fraction(1, 100),
        ),
    ),
)
def approximate_dp_of_laplace_histogram(
    ratio: RatioOf,
    size: Annotated[int, Integers("Delta", 1, 5, (1, 2))],
    share: Annotated[Exact, Reals("epsilon_g over Delta epsilon", 0, Fraction(9, 10), (0, Fraction(1, 2)))],
) -> Verdict:
    """A histogram of l0-sensitivity Delta with Laplace noise of scale tau/epsilon on every count is (epsilon_g,
    delta)-DP for delta = delta_OPT(DP(epsilon)^Delta; epsilon_g), any epsilon_g >= 0. Not attained: Laplace noise on
    one count has delta = 1 - e^((epsilon_g - epsilon)/2).
    """
    base = exact("ratio", ratio)
    level: Real = lambda: ball(exact("share", share)) * size * ball(base).log()
    bound: Real = lambda: laplace_histogram_delta(ball(base).log(), size, level())
    rounded = at_most(lambda: laplace_composition_upper(base, size, level()), bound)
    if size > 1:
        return rounded
    return conjunction([rounded, at_most(lambda: 1 - ((level() - ball(base).log()) / 2).exp(), bound)])


# --- Lemma 6.3 ----------------------------------------------------------------------------------------------


def gaussian_histogram_shift(size: Any, tau: Any, sigma: Any) -> Any:
    """Return ||f(x) - f(x')||_2 over the standard deviation, sqrt(Delta) tau/(tau sigma), for symbols and balls."""
    return size ** sp.Rational(1, 2) * tau / (tau * sigma) if isinstance(size, sp.Expr) else arb(size).sqrt() / sigma


def gaussian_histogram_epsilon(size: int, sigma: arb, delta: arb) -> arb:
    """Enclose Delta/(2 sigma^2) + sqrt(2 Delta log(1/delta))/sigma."""
    return size / (2 * sigma**2) + (-2 * size * delta.log()).sqrt() / sigma


@statement(
    CESAR_2020,
    "gaussian_l0_zcdp_bound",
    "analytic_gaussian",
    examples=(
        {"size": 10, "sigma": 14, "delta": Fraction(1, 10**6)},
        {"size": 25, "sigma": Fraction(131, 10), "delta": Fraction(1, 100)},
    ),
    pins=(
        Pin(
            {"size": 10, "sigma": 14, "delta": Fraction(1, 10**6)},
            "adaptive integration at a completed square",
            smaller=lambda: converted_delta(Fraction(10, 392), Fraction(1, 10**6)),
            larger=lambda: Fraction(1, 10**6),
        ),
    ),
)
def approximate_dp_of_gaussian_histogram(size: Counts, sigma: Multiplier, delta: Delta) -> Verdict:
    """Gaussian noise of standard deviation tau sigma on every count is (Delta/(2 sigma^2) + sqrt(2 Delta
    log(1/delta))/sigma, delta)-DP for 0 < delta <= 1: the exact delta there, of a shift sqrt(Delta)/sigma, is smaller.

    It is integrated over the noise of one of the counts that differ.
    """
    scale, tail = exact("sigma", sigma), exact("delta", delta)
    epsilon: Real = lambda: gaussian_histogram_epsilon(size, ball(scale), ball(tail))
    return at_most(lambda: _histogram_delta(size, scale, epsilon()), lambda: ball(tail))


def _histogram_delta(size: int, sigma: Fraction, epsilon: arb) -> arb:
    """Enclose the delta at `epsilon` of `size` counts that differ by tau, all but one of them taken together."""
    if size == 1:
        return gaussian_hockey_stick(1 / sigma, epsilon)
    others = gaussian_histogram_shift(size - 1, 1, ball(sigma))
    variance = ball(1 / sigma**2)  # of the loss of one count, whose mean is half of that
    return loss_excess(epsilon - variance / 2, others).mean_between(variance, None, None)


@statement(CESAR_2020, "gaussian_histogram_zcdp", "lp_sensitivity", "two_phase_topk_gaussian")
def zcdp_of_gaussian_histogram() -> Proof:
    """Gaussian noise of standard deviation tau sigma on a histogram is Delta/(2 sigma^2)-zCDP and
    (Delta/(2 sigma^2), sqrt(Delta)/sigma)-CDP, with equality if Delta counts move by tau each: the losses of the
    counts add up, each with mean 1/(2 sigma^2) and variance 1/sigma^2. For k discovered elements Delta is k; it is
    neither the number of all counts nor the l1 sensitivity Delta tau that enters.
    """
    size, tau, sigma = sp.symbols("Delta tau sigma", positive=True)
    alpha = sp.symbols("alpha", positive=True)
    shift = gaussian_histogram_shift(size, tau, sigma)
    return proof(
        suppose("histogram", "At most Delta counts move, each by at most tau."),
        checked(
            "distance",
            "Over the standard deviation tau sigma their l2 distance is sqrt(Delta tau^2)/(tau sigma).",
            identity,
            shift,
            sp.sqrt(size * tau**2) / (tau * sigma),
        ),
        checked("rho", "Half its square is Delta/(2 sigma^2).", identity, shift**2 / 2, size / (2 * sigma**2)),
        checked("scale", "It is sqrt(Delta)/sigma, the scale of the loss.", identity, shift, sp.sqrt(size) / sigma),
        checked(
            "counts add up",
            "alpha shift^2/2 is Delta times the divergence alpha (1/sigma)^2/2 of one count.",
            identity,
            alpha * shift**2 / 2,
            size * (alpha * (tau / (tau * sigma)) ** 2 / 2),
        ),
        lemma(
            "one count",
            "A Gaussian pair at distance m, in standard deviations, is (m^2/2, m)-CDP with equality.",
            cdp_of_gaussian_mechanism,
        ),
        lemma(
            "one count, Renyi",
            "Its Renyi divergence of order alpha is alpha m^2/2, and those of coordinates add up.",
            zcdp_of_gaussian_noise_by_its_precision,
        ),
        prose(
            "zCDP and CDP",
            "The coordinates are independent, so that a pair is, along the line through the means, a Gaussian pair at "
            "its l2 distance; that is at most the distance above.",
            given=["histogram", "distance", "rho", "scale", "counts add up", "one count", "one count, Renyi"],
        ),
    )


# --- equal variances, crossovers ----------------------------------------------------------------------------


def equal_variance_multiplier(epsilon: Any) -> Any:
    """Return sigma = sqrt(2)/epsilon: Gaussian noise tau sigma has the variance of Laplace noise tau/epsilon."""
    return sp.sqrt(2) / epsilon if isinstance(epsilon, sp.Expr) else arb(2).sqrt() / epsilon


@statement(CESAR_2020, "equal_variance_convention")
def laplace_and_gaussian_noise_of_equal_variance() -> Proof:
    """Laplace noise of scale b = tau/epsilon has variance 2 b^2, so that sigma = sqrt(2)/epsilon equalises the
    variances; then the Gaussian mean loss of a count is epsilon^2/4.
    """
    x, tau, epsilon = sp.symbols("x tau epsilon", positive=True)
    scale = tau / epsilon
    variance = 2 * sp.integrate(x**2 * sp.exp(-x / scale) / (2 * scale), (x, 0, sp.oo))
    sigma = equal_variance_multiplier(epsilon)
    return proof(
        checked("Laplace", "Laplace noise of scale b has variance 2 b^2.", identity, variance, 2 * scale**2),
        checked("Gaussian", "The Gaussian noise has the same variance.", identity, (tau * sigma) ** 2, variance),
        checked(
            "mean loss", "The mean loss 1/(2 sigma^2) is epsilon^2/4.", identity, 1 / (2 * sigma**2), epsilon**2 / 4
        ),
        all_of("equal variance", "Laplace", "Gaussian", "mean loss"),
    )


def _gaussian_overtakes(epsilon: Fraction, size: int, level: Fraction, delta: Fraction) -> Verdict:
    """Decide that Gaussian noise of the same variance is (level, delta)-DP."""
    return at_most(lambda: gaussian_delta(epsilon, size, level), lambda: ball(delta))


def _laplace_keeps_the_lead(epsilon: Fraction, size: int, level: Fraction, **_delta: Fraction) -> Verdict:
    """Decide that Laplace noise is (level, 0)-DP there, by basic composition, and that its mean loss is smaller."""
    return conjunction([
        at_most(lambda: ball(size * epsilon), lambda: ball(level)),
        at_most(lambda: zcdp_rho_of_pure(ball(epsilon)), lambda: ball(epsilon**2 / 4)),
    ])  # fmt: skip


GAUSSIAN_NEED_NOT_WIN = Erratum(
    kind="false",
    severity=Severity.INTERPRETATION,
    location="Section 6.1, last sentence of the paragraph on Figure 4",
    printed_text="Laplace noise is said to win for small l0-sensitivities and Gaussian noise as they "
    "grow: at equal variances that depends on epsilon. For epsilon = 4 and Delta = 600, Laplace noise is (2400, "
    "0)-DP while Gaussian noise is not even (2400, 10^-6)-DP",
    answer="The sentence describes the figure, for the parameters shown there.",
    witness={"epsilon": Fraction(4), "size": 600, "level": Fraction(2400), "delta": Fraction(1, 10**6)},
    printed=_gaussian_overtakes,
    corrected=_laplace_keeps_the_lead,
    figures=Figures(
        published=("0.4942 > 1.000e-6",),
        corrected=("2400 <= 2400", "3.856 <= 4.000"),
    ),
    item="fig4_one_shot",
)


@statement(
    CESAR_2020,
    "equal_variance_convention",
    "fig4_one_shot",
    "fig5_composed",
    errata=(GAUSSIAN_NEED_NOT_WIN,),
    examples=tuple(
        {"epsilon": e} for e in (Fraction(3829, 1000), Fraction(3831, 1000), Fraction(1, 10), Fraction(10))
    ),
    pins=(
        Pin(
            {"epsilon": Fraction(1)},
            "1/4, and tanh(1/2) = (e - 1)/(e + 1)",
            smaller=lambda: Fraction(1, 4),
            larger=lambda: (arb(1).exp() - 1) / (arb(1).exp() + 1),
        ),
    ),
)
def mean_losses_cross_at_3_83(
    epsilon: Annotated[Exact, Reals("epsilon", Fraction(1, 100), 20, (1, 4), logarithmic=True)],
) -> Verdict:
    """At equal variances the mean loss of Gaussian noise, epsilon^2/4 a count, is below that of randomised response,
    epsilon tanh(epsilon/2), if and only if epsilon < 3.830: only there does Gaussian noise win for many counts,
    against the composition bound for Laplace noise.
    """
    level = exact("epsilon", epsilon)
    gaussian, response = lambda: ball(level**2 / 4), lambda: zcdp_rho_of_pure(ball(level))
    return at_most(gaussian, response) if level <= Fraction(3830, 1000) else at_least(gaussian, response)


# --- the crossovers at delta = 10^-6 ------------------------------------------------------------------------

TARGET = Fraction(1, 10**6)
CROSSOVERS = ((Fraction(1, 20), 8), (Fraction(1, 10), 9), (Fraction(1, 5), 10), (Fraction(1, 2), 13), (Fraction(1),
19),
              (Fraction(2), 44))  # fmt: skip


def gaussian_delta(base: Fraction, size: int, level: Fraction) -> arb:
    """Enclose the exact delta of Gaussian noise with the variance of Laplace noise of scale tau/base."""
    return gaussian_hockey_stick(gaussian_histogram_shift(size, 1, equal_variance_multiplier(ball(base))), ball(level))


def _epsilon_at(delta: Callable[[Fraction], arb], top: Fraction) -> Fraction:
    """Find, at the working precision, where a falling delta passes `TARGET`: a place to look, no more."""
    low, high = Fraction(0), top
    for _ in range(40):
        middle = Fraction(float(low + high) / 2)
        low, high = (middle, high) if delta(middle) > ball(TARGET) else (low, middle)
    return high


@statement(
    CESAR_2020, "fig4_one_shot", "fig5_composed", examples=tuple({"point": point} for point in CROSSOVERS), cases=2
)
def gaussian_overtakes_laplace_at_the_crossover(
    point: Annotated[tuple[Fraction, int], Choices("epsilon with its crossover", CROSSOVERS)],
) -> Verdict:
    """For delta = 10^-6 and equal variances the exact Gaussian epsilon_g is below that of optimally composed
    responses from Delta = 8, 9, 10, 13, 19, 44 on, for epsilon = 0.05, 0.1, 0.2, 0.5, 1, 2: there it is, and one
    count before it is not.

    The composed curves depend on the product of the numbers of mechanisms and of counts only, so that it stands for
    both.
    """
    base, size = point
    laplace: Callable[[int], Callable[[Fraction], arb]] = lambda count: (
        lambda level: laplace_histogram_delta(ball(base), count, ball(level))
    )
    gaussian: Callable[[int], Callable[[Fraction], arb]] = lambda count: (
        lambda level: gaussian_delta(base, count, level)
    )
    return conjunction([
        _separated(gaussian(size), laplace(size), 2 * size * base),
        _separated(laplace(size - 1), gaussian(size - 1), 2 * size * base),
    ]).without_tightness()  # fmt: skip


def _separated(less: Callable[[Fraction], arb], more: Callable[[Fraction], arb], top: Fraction) -> Verdict:
    """Decide, at an epsilon between the two, that the one keeps delta and the other does not."""
    level = (_epsilon_at(less, top) + _epsilon_at(more, top)) / 2
    return conjunction([
        at_most(lambda: less(level), lambda: ball(TARGET)),
        less_than(lambda: ball(TARGET), lambda: more(level)),
    ])  # fmt: skip


def _delta_of_25(level: str) -> arb:
    return responses_delta_by_beta(25, ball(Fraction(1, 10)), ball(Fraction(level)))


def _epsilon_of_25(sigma: str) -> arb:
    rho = Fraction(25, 2) / Fraction(sigma) ** 2
    return ball(rho) + 2 * (ball(rho) * arb(10**6).log()).sqrt()


@statement(
    CESAR_2020,
    "fig6_macbeth_counts",
    examples=({"digits": 4},),
    cases=3,
    pins=(
        Pin(
            {"digits": 4},
            "25 responses by the beta function; rho + 2 sqrt(rho log(10^6)), rho = 25/(2 sigma^2)",
            smaller=lambda: [_delta_of_25("2.0792"), TARGET, _epsilon_of_25("13.1005"), Fraction("2.0790")],
            larger=lambda: [TARGET, _delta_of_25("2.0790"), Fraction("2.0792"), _epsilon_of_25("13.1003")],
        ),
    ),
)
def constants_of_the_word_counts(digits: Annotated[int, Integers("decimal places", 1, 4, (2,))]) -> Verdict:
    """25 counts with Laplace noise of scale 10 are optimally composed to epsilon' = 2.0791 at delta = 10^-6, and
    Lemma 6.3 gives that epsilon' for sigma = 13.1005: printed are 2.08 and 13.1. (The word counts themselves are not
    shipped.)
    """
    unit = Fraction(1, 10**digits)
    base, size = Fraction(1, 10), 25
    epsilon, sigma = round(Fraction(20790566, 10**7), digits), round(Fraction(1310045, 10**5), digits)
    laplace: Callable[[Fraction], Real] = lambda level: lambda: laplace_histogram_delta(ball(base), size, ball(level))
    gaussian: Callable[[Fraction], Real] = lambda s: lambda: gaussian_histogram_epsilon(size, ball(s), ball(TARGET))
    target = lambda: ball(TARGET)
    return conjunction([
        at_most(laplace(epsilon + unit), target),
        less_than(target, laplace(epsilon - unit)),
        at_most(gaussian(sigma + unit), lambda: ball(epsilon + unit)),
        at_least(gaussian(sigma - unit), lambda: ball(epsilon - unit)),
    ]).without_tightness()  # fmt: skip
