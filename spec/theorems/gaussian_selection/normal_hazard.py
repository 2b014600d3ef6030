"""The normal distribution's hazard: log-concavity, slope and convexity, by symbolic proof.

h(u) = phi(u) / Phi(-u) is the hazard rate of the standard normal distribution. Its monotonicity is the
log-concavity of Phi (Lebensold, Precup and Balle 2024 use it in Appendix A); that its slope lies between 0 and 1
and that it is convex (M. R. Sampford, Some inequalities on Mill's ratio and related functions, Annals of
Mathematical Statistics 24 (1953), 130-132) is what the direct Renyi bound of AboveThreshold rests on.
"""

import sympy as sp
from flint import arb

from dpassay.spec.ball import reversed_hazard
from dpassay.spec.proof.symbolic import identity, positive, proof, symbolic_normal_cdf, symbolic_normal_pdf
from dpassay.spec.sources import LEBENSOLD_2024
from dpassay.spec.statement import statement
from dpassay.spec.verdict import Verdict

__all__ = ["hazard", "normal_hazard", "survival"]

U = sp.Symbol("u", real=True)
GAP = sp.Symbol("w", positive=True)


def normal_hazard(u: arb) -> arb:
    """Enclose h(u) = phi(u) / Phi(-u), accurate relative to itself."""
    return reversed_hazard(-u)


def survival(u: sp.Expr) -> sp.Expr:
    """Return Phi(-u), symbolically."""
    return symbolic_normal_cdf(-u)


def hazard(u: sp.Expr) -> sp.Expr:
    """Return h(u), symbolically."""
    return symbolic_normal_pdf(u) / survival(u)


DENSITY, SURVIVAL, HAZARD = symbolic_normal_pdf(U), survival(U), hazard(U)


def _mean_excess() -> sp.Expr:
    """phi(u) - u Phi(-u): the integral of w phi(u + w) over w > 0."""
    return DENSITY - U * SURVIVAL


@statement(LEBENSOLD_2024, "mlr_ratio_monotone", "at_sup_location")
def normal_cdf_is_log_concave() -> Verdict:
    """u Phi(u) + phi(u) > 0, being the integral of w phi(u - w) over w > 0; hence (log Phi)'' < 0, and the
    quotient Phi(u + h)/Phi(u) falls in u for h > 0.
    """
    cdf = SURVIVAL.subs(U, -U)
    integral = sp.integrate(GAP * DENSITY.subs(U, U - GAP), (GAP, 0, sp.oo))
    concavity = -DENSITY * (U * cdf + DENSITY) / cdf**2
    return proof(
        identity(integral, U * cdf + DENSITY, "u Phi(u) + phi(u) is the integral of w phi(u - w)"),
        positive(GAP * DENSITY.subs(U, U - GAP), "its integrand is positive"),
        identity(sp.diff(sp.log(cdf), U, 2), concavity, "(log Phi)'' = -phi (u Phi + phi)/Phi^2"),
    )


@statement(LEBENSOLD_2024, "at_rdp_direct")
def normal_hazard_slope_between_0_and_1() -> Verdict:
    """0 < h'(u) < 1: h' = h (h - u), where h - u is the mean and 1 - h' the variance of the excess over u of a
    normal variable beyond u. It follows that h(u) <= sqrt(2/pi) + max(u, 0) = h(0) + max(u, 0), and that
    h(u) < (u + sqrt(u^2 + 4))/2.
    """
    weight = DENSITY.subs(U, U + GAP)
    first = sp.integrate(GAP * weight, (GAP, 0, sp.oo))
    second = sp.integrate(GAP**2 * weight, (GAP, 0, sp.oo))
    variance = second / SURVIVAL - (first / SURVIVAL) ** 2
    return proof(
        identity(sp.diff(HAZARD, U), HAZARD * (HAZARD - U), "h' = h (h - u)"),
        identity(first, _mean_excess(), "the mean of the excess, times Phi(-u), is phi - u Phi(-u)"),
        positive(GAP * weight, "its integrand is positive"),
        identity(variance, 1 - HAZARD * (HAZARD - U), "the variance of the excess is 1 - h'"),
        identity(HAZARD.subs(U, 0), sp.sqrt(2 / sp.pi), "h(0) = sqrt(2/pi)"),
    )


@statement(LEBENSOLD_2024, "at_rdp_direct")
def normal_hazard_is_convex() -> Verdict:
    """h'' = h ((2h - u)(h - u) - 1) > 0. For u <= -1 the terms of 2h^2 - 3uh + u^2 - 1 are not negative. For u > -1
    it is positive because h > b = (3u + R)/4, R = sqrt(u^2 + 8), the larger root: b > 0, and D = Phi(-u) - phi/b
    tends to 0 at infinity while D' = phi (b' - b (b - u))/b^2 > 0, so that D < 0.
    """
    h, y, mirrored = sp.Symbol("h", positive=True), sp.Symbol("y", positive=True), sp.Symbol("m", nonnegative=True)
    root = sp.sqrt(U**2 + 8)
    bound = (3 * U + root) / 4
    bernoulli = sp.diff(bound, U) - bound * (bound - U)
    deficit = (2 + U**2) * root - U * (U**2 + 6)
    quadratic = (2 * h - U) * (h - U) - 1
    return proof(
        identity(sp.diff(HAZARD, U, 2), HAZARD * quadratic.subs(h, HAZARD), "h'' = h ((2h - u)(h - u) - 1)"),
        positive(sp.expand(quadratic.subs(U, -1 - mirrored)), "positive for u <= -1"),
        identity(quadratic, 2 * (h - bound) * (h - (3 * U - root) / 4), "b is the larger root"),
        identity(root**2 - (3 * U) ** 2, 8 * (1 - U) * (1 + U), "b > 0 for u > -1: there R > |3u| or u >= 0"),
        identity(
            sp.diff(SURVIVAL - DENSITY / bound, U), DENSITY * bernoulli / bound**2, "D' = phi (b' - b (b - u))/b^2"
        ),
        identity(8 * root * bernoulli, deficit, "its sign is that of (2 + u^2) R - u (u^2 + 6)"),
        identity((2 + y) ** 2 * (y + 8) - y * (y + 6) ** 2, 32, "for u > 0, y = u^2, the squares are 32 apart"),
        positive(deficit.subs(U, -mirrored), "for u <= 0 no term is negative"),
        identity(sp.limit(DENSITY / bound, U, sp.oo), 0, "D tends to 0"),
    )
