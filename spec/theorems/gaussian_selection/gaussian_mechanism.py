"""The Gaussian mechanism: its Renyi divergence, its exact delta, and how loose the conversions are for it.

After Lebensold, Precup and Balle (2024), Section 2, with Balle and Wang (2018), Thm 8. Notation: q has l2
sensitivity Delta, the noise standard deviation sigma, and m = Delta / sigma is the shift of the worst pair,
N(m, 1) against N(0, 1), along the line through the two means.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Annotated, Any

from flint import arb

from dpassay.lazy import sympy as sp
from dpassay.spec.ball import ATTAINED, Exact, Real, at_least, at_most, ball, exact, normal_cdf
from dpassay.spec.distributions.gaussian import (
    gaussian_hockey_stick,
    gaussian_loss_tail,
    gaussian_probabilistic_epsilon,
    gaussian_renyi_divergence,
)
from dpassay.spec.domains.base import Reals
from dpassay.spec.notions.zcdp_conversions import optimal_probabilistic_epsilon
from dpassay.spec.proof.comparisons import agree
from dpassay.spec.proof.pins import Pin
from dpassay.spec.proof.rules import same_sign
from dpassay.spec.proof.steps import Proof, all_of, checked, proof, prose
from dpassay.spec.proof.symbolic import identity, nonnegative, symbolic_normal_cdf, symbolic_normal_pdf
from dpassay.spec.sources import LEBENSOLD_2024
from dpassay.spec.statement import statement
from dpassay.spec.theorems.gaussian_selection.second_derivations import gaussian_excess
from dpassay.spec.verdict import Verdict, conjunction

__all__ = ["best_half_line", "gaussian_renyi_curve"]

Shift = Annotated[
    Exact, Reals("a shift, in noise scales", Fraction(1, 1000), 20, (Fraction(1, 10), HALF := Fraction(1, 2), 2), True)
]
Epsilon = Annotated[Exact, Reals("a privacy parameter", 0, 50, (0, 1, HALF))]
SmallDelta = Annotated[
    Exact, Reals("a probability", Fraction(1, 10**300), Fraction(999, 1000), (Fraction(1, 10**5), HALF), True)
]
Position = Annotated[Exact, Reals("the end of a half-line, in noise scales from the best one", -8, 8, (0, 1, -1))]
Order = Annotated[Exact, Reals("an order", Fraction(1001, 1000), 1000, (2,), logarithmic=True)]


# --- Renyi --------------------------------------------------------------------------------------------------


def gaussian_renyi_curve(alpha: Any, distance: Any, sigma: Any) -> Any:
    """Return alpha distance^2 / (2 sigma^2), for numbers and for symbols alike."""
    return alpha * distance**2 / (2 * sigma**2)


@statement(LEBENSOLD_2024, "gaussian_mechanism_rdp")
def renyi_dp_of_gaussian_mechanism() -> Proof:
    """D_alpha(N(mu, sigma^2 I) || N(0, sigma^2 I)) = alpha |mu|^2 / (2 sigma^2) for every alpha > 1: the Gaussian
    mechanism is (alpha, alpha Delta^2 / (2 sigma^2))-RDP, with equality for a pair at distance Delta.

    By completing the square; the exponents of several coordinates add. (Mironov 2017, Prop. 7.)
    """
    x, mu, nu = sp.symbols("x mu nu", real=True)
    sigma, excess = sp.symbols("sigma s", positive=True)
    step, less = sp.Symbol("Delta", positive=True), sp.Symbol("w", nonnegative=True)
    alpha = 1 + excess
    log_density: Callable[[Any], Any] = lambda centre: -((x - centre) ** 2) / (2 * sigma**2)
    log_moment = excess * gaussian_renyi_curve(alpha, mu, sigma)
    density = sp.exp(log_density(alpha * mu)) / (sigma * sp.sqrt(2 * sp.pi))
    return proof(
        checked(
            "completed square",
            "p^alpha q^(1-alpha) is a normal density, centred at alpha mu, times e^((alpha-1) D_alpha).",
            identity,
            alpha * log_density(mu) + (1 - alpha) * log_density(0),
            log_density(alpha * mu) + log_moment,
        ),
        checked("mass", "The normal density integrates to 1.", identity, sp.integrate(density, (x, -sp.oo, sp.oo)), 1),
        checked(
            "coordinates",
            "The squares of two coordinates add up to the squared distance.",
            identity,
            gaussian_renyi_curve(alpha, mu, sigma) + gaussian_renyi_curve(alpha, nu, sigma),
            gaussian_renyi_curve(alpha, sp.sqrt(mu**2 + nu**2), sigma),
        ),
        checked(
            "smaller distance",
            "A smaller distance has a smaller divergence.",
            nonnegative,
            sp.factor(
                gaussian_renyi_curve(alpha, step, sigma) - gaussian_renyi_curve(alpha, step / (1 + less), sigma)
            ),
        ),
        prose(
            "RDP",
            "Renyi divergences of products add up, coordinate by coordinate; so D_alpha = alpha |mu|^2/(2 sigma^2), "
            "which is "
            "largest at the distance Delta.",
            given=["completed square", "mass", "coordinates", "smaller distance"],
        ),
    )


@statement(LEBENSOLD_2024, "gaussian_mechanism_rdp")
def gaussian_renyi_divergence_is_moment_of_normal_loss(shift: Shift, alpha: Order) -> Verdict:
    """The loss is normal with mean m^2/2 and variance m^2 under the left distribution, so that
    (alpha - 1) D_alpha = (alpha - 1) m^2/2 + (alpha - 1)^2 m^2/2: agreement to 60 bits.
    """
    m, s = exact("shift", shift), exact("alpha", alpha) - 1
    return agree(
        lambda: ball(s) * gaussian_renyi_divergence(m, s + 1),
        lambda: ball(s * m**2 / 2 + s**2 * m**2 / 2),
        "closed form and cumulant of the normal loss",
    )


def best_half_line(shift: Any, epsilon: Any) -> Any:
    """Return t = epsilon/m + m/2, beyond which the loss of N(m, 1) against N(0, 1) exceeds epsilon."""
    return epsilon / shift + shift / 2


# --- the exact delta ----------------------------------------------------------------------------------------


@statement(LEBENSOLD_2024, "analytic_gaussian_dp", also=(("cesar2020", "analytic_gaussian"),))
def best_event_against_gaussian_is_half_line() -> Proof:
    """The loss m x - m^2/2 of N(m, 1) against N(0, 1) at x increases with x and exceeds epsilon exactly for
    x > t = epsilon/m + m/2, a half-line of probabilities Phi(m/2 - epsilon/m) and Phi(-m/2 - epsilon/m).
    """
    x, epsilon = sp.symbols("x epsilon", real=True)
    m = sp.symbols("m", positive=True)
    at = sp.Symbol("z", real=True)
    log_density: Callable[[Any], Any] = lambda centre: -((x - centre) ** 2) / 2
    loss = m * x - m**2 / 2
    end = best_half_line(m, epsilon)
    return proof(
        checked("loss", "m x - m^2/2 is log p/q.", identity, log_density(m) - log_density(0), loss),
        checked(
            "half-line",
            "The loss exceeds epsilon exactly for x > t: loss - epsilon is m (x - t).",
            same_sign,
            loss - epsilon,
            x - end,
            m,
            given=["loss"],
        ),
        checked(
            "tail",
            "Pr[Z > z] is Phi(-z) for a standard normal Z; under N(m, 1), x > t is Z > t - m.",
            identity,
            sp.integrate(symbolic_normal_pdf(x), (x, at, sp.oo)),
            symbolic_normal_cdf(-at),
        ),
        checked(
            "left",
            "Phi(m - t) has the argument m/2 - epsilon/m.",
            identity,
            m - end,
            m / 2 - epsilon / m,
            given=["tail"],
        ),
        checked(
            "right", "Phi(-t) has the argument -m/2 - epsilon/m.", identity, -end, -m / 2 - epsilon / m, given=["tail"]
        ),
        all_of("the event and its probabilities", "half-line", "left", "right"),
    )


@statement(
    LEBENSOLD_2024,
    "analytic_gaussian_dp",
    also=(("cesar2020", "analytic_gaussian"),),
    examples=({"shift": Fraction(2), "epsilon": Fraction(3), "position": Fraction(0)},),
    pins=(
        Pin(
            {"shift": Fraction(2), "epsilon": Fraction(3), "position": Fraction(0)},
            "the densities' difference, integrated",
            both=lambda: gaussian_excess(arb(2), arb(3)),
        ),
    ),
)
def approximate_dp_of_gaussian_mechanism(shift: Shift, epsilon: Epsilon, position: Position) -> Verdict:
    """Pr[M(D) in S] - e^epsilon Pr[M(D') in S] <= Phi(m/2 - epsilon/m) - e^epsilon Phi(-m/2 - epsilon/m) for every
    half-line S, with equality at the best one; so the mechanism is (epsilon, delta)-DP if and only if delta is
    at least that (Balle and Wang 2018, Thm 8).
    """
    m, level = exact("shift", shift), exact("epsilon", epsilon)
    end = best_half_line(m, level) + exact("position", position)
    return at_most(
        lambda: normal_cdf(ball(m - end)) - ball(level).exp() * normal_cdf(ball(-end)),
        lambda: gaussian_hockey_stick(m, level),
        slack=ATTAINED,
    )


@statement(
    LEBENSOLD_2024,
    "analytic_gaussian_dp",
    pins=(
        Pin(
            {"shift": Fraction(3, 2), "epsilon": Fraction(1, 2)},
            "the positive part of the difference of the densities, by adaptive integration",
            both=lambda: gaussian_excess(arb(3) / 2, arb(1) / 2),
        ),
    ),
)
def gaussian_delta_is_attained(shift: Shift, epsilon: Epsilon) -> Verdict:
    """The best half-line attains the analytic delta: no smaller delta is true."""
    m, level = exact("shift", shift), exact("epsilon", epsilon)
    end = best_half_line(m, level)
    return at_least(
        lambda: normal_cdf(ball(m - end)) - ball(level).exp() * normal_cdf(ball(-end)),
        lambda: gaussian_hockey_stick(m, level),
        slack=ATTAINED,
    )


# --- the privacy loss and the conversions -------------------------------------------------------------------


@statement(LEBENSOLD_2024, "pdp", "gaussian_mechanism_rdp")
def probabilistic_dp_of_gaussian_mechanism(shift: Shift, delta: SmallDelta) -> Verdict:
    """The loss exceeds m^2/2 - m Phi^-1(delta) with probability exactly delta (an agreement to 60 bits)."""
    m, tail = exact("shift", shift), exact("delta", delta)
    quotient: Real = lambda: gaussian_loss_tail(m, gaussian_probabilistic_epsilon(m, tail)) / ball(tail)
    return agree(quotient, lambda: ball(1), "tail of the loss, over delta, and 1")


@statement(
    LEBENSOLD_2024,
    "rdp_to_pdp",
    examples=tuple({"shift": m, "delta": Fraction(1, 10**5)} for m in (Fraction(1, 10), Fraction(1, 2), Fraction(2))),
    pins=(
        Pin(
            {"shift": Fraction(1, 2), "delta": Fraction(1, 10**5)},
            "Phi^-1(1e-5) = -4.26489079392...; sqrt(5 log(10)/2)",
            smaller=lambda: Fraction(1, 8) + Fraction("4.264890793923") / 2,
            larger=lambda: ball(Fraction(1, 8)) + (5 * arb(10).log() / 2).sqrt(),
        ),
    ),
)
def gaussian_conversion_to_probabilistic_dp_is_sound(shift: Shift, delta: SmallDelta) -> Verdict:
    """The optimal conversion of the Gaussian RDP curve, m^2/2 + m sqrt(2 log(1/delta)), is at least the exact
    epsilon of probabilistic privacy, m^2/2 - m Phi^-1(delta).
    """
    m, tail = exact("shift", shift), exact("delta", delta)
    converted: Real = lambda: optimal_probabilistic_epsilon(m**2 / 2, tail)
    return at_most(lambda: gaussian_probabilistic_epsilon(m, tail), converted)


@statement(
    LEBENSOLD_2024,
    "pdp_implies_dp",
    "analytic_gaussian_dp",
    pins=(
        Pin(
            {"shift": Fraction(2), "epsilon": Fraction(3)},
            "the densities' difference, integrated; Phi(-1/2) = erfc(1/sqrt(8))/2",
            smaller=lambda: [gaussian_excess(arb(2), arb(3)), gaussian_excess(arb(2), ball(Fraction(301, 100)))],
            larger=lambda: [(1 / arb(8).sqrt()).erfc() / 2, gaussian_excess(arb(2), arb(3))],
        ),
    ),
)
def gaussian_delta_at_most_loss_tail(shift: Shift, epsilon: Epsilon) -> Verdict:
    """The exact delta of the Gaussian mechanism is below the tail of its loss, and falls as epsilon grows."""
    m, level = exact("shift", shift), exact("epsilon", epsilon)
    delta: Real = lambda: gaussian_hockey_stick(m, level)
    return conjunction([
        at_most(delta, lambda: gaussian_loss_tail(m, level)),
        at_most(lambda: gaussian_hockey_stick(m, level + Fraction(1, 100)), delta),
    ])  # fmt: skip
