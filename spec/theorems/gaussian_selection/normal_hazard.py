"""The normal distribution's hazard: log-concavity, slope and convexity, by symbolic proof.

h(u) = phi(u) / Phi(-u) is the hazard rate of the standard normal distribution. Its monotonicity is the
log-concavity of Phi (Lebensold, Precup and Balle 2024 use it in Appendix A); that its slope lies between 0 and 1
and that it is convex (M. R. Sampford, Some inequalities on Mill's ratio and related functions, Annals of
Mathematical Statistics 24 (1953), 130-132) is what the direct Renyi bound of AboveThreshold rests on.
"""

from flint import arb

from dpassay.lazy import sympy as sp
from dpassay.spec.ball import reversed_hazard
from dpassay.spec.proof.rules import at_least_by, positive_integral
from dpassay.spec.proof.steps import Proof, all_of, checked, proof, prose
from dpassay.spec.proof.symbolic import identity, positive, symbolic_normal_cdf, symbolic_normal_pdf
from dpassay.spec.sources import LEBENSOLD_2024
from dpassay.spec.statement import statement

__all__ = ["hazard", "normal_hazard", "survival"]


def normal_hazard(u: arb) -> arb:
    """Enclose h(u) = phi(u) / Phi(-u), accurate relative to itself."""
    return reversed_hazard(-u)


def survival(u: "sp.Expr") -> "sp.Expr":
    """Return Phi(-u), symbolically."""
    return symbolic_normal_cdf(-u)


def hazard(u: "sp.Expr") -> "sp.Expr":
    """Return h(u), symbolically."""
    return symbolic_normal_pdf(u) / survival(u)


def _symbols() -> "tuple[sp.Expr, ...]":
    """Return u, w > 0, phi(u), Phi(-u) and h(u); not at the top of the module, which is imported for a list, too."""
    u, w = sp.Symbol("u", real=True), sp.Symbol("w", positive=True)
    return u, w, symbolic_normal_pdf(u), survival(u), hazard(u)


def _mean_excess() -> "sp.Expr":
    """phi(u) - u Phi(-u): the integral of w phi(u + w) over w > 0."""
    u, _, phi, tail, _ = _symbols()
    return phi - u * tail


@statement(LEBENSOLD_2024, "mlr_ratio_monotone", "at_sup_location")
def normal_cdf_is_log_concave() -> Proof:
    """u Phi(u) + phi(u) > 0, being the integral of w phi(u - w) over w > 0; hence (log Phi)'' < 0, and the
    quotient Phi(u + h)/Phi(u) falls in u for h > 0.
    """
    u, w, phi, tail, _ = _symbols()
    cdf = tail.subs(u, -u)
    concavity = -phi * (u * cdf + phi) / cdf**2
    return proof(
        checked(
            "integral",
            "u Phi(u) + phi(u) > 0: it is the integral of w phi(u - w) over w > 0.",
            positive_integral,
            u * cdf + phi,
            w * phi.subs(u, u - w),
            w,
        ),
        checked(
            "second derivative",
            "(log Phi)'' = -phi (u Phi + phi)/Phi^2.",
            identity,
            sp.diff(sp.log(cdf), u, 2),
            concavity,
        ),
        prose(
            "log-concave",
            "So (log Phi)'' < 0, and log Phi(u + h) - log Phi(u) falls: its derivative is "
            "(log Phi)'(u + h) - (log Phi)'(u).",
            given=["integral", "second derivative"],
        ),
    )


@statement(LEBENSOLD_2024, "at_rdp_direct")
def normal_hazard_slope_between_0_and_1() -> Proof:
    """0 < h'(u) < 1: h' = h (h - u), where h - u is the mean and 1 - h' the variance of the excess over u of a
    normal variable beyond u. It follows that h(u) <= sqrt(2/pi) + max(u, 0) = h(0) + max(u, 0), and that
    h(u) < (u + sqrt(u^2 + 4))/2.
    """
    u, w, phi, tail, rate = _symbols()
    weight = phi.subs(u, u + w)
    excess = w * weight
    first = sp.integrate(excess, (w, 0, sp.oo))
    second = sp.integrate(w**2 * weight, (w, 0, sp.oo))
    variance = second / tail - (first / tail) ** 2
    h = sp.Symbol("h", positive=True)
    roots = (u + sp.sqrt(u**2 + 4)) / 2, (u - sp.sqrt(u**2 + 4)) / 2
    return proof(
        checked("slope", "h' = h (h - u).", identity, sp.diff(rate, u), rate * (rate - u)),
        checked(
            "mean",
            "The mean of the excess, times Phi(-u), is phi - u Phi(-u), and positive.",
            positive_integral,
            _mean_excess(),
            excess,
            w,
        ),
        checked("h - u", "phi - u Phi(-u) is Phi(-u) (h - u).", identity, _mean_excess(), tail * (rate - u)),
        checked(
            "variance",
            "The variance of the excess is 1 - h'.",
            identity,
            variance,
            1 - rate * (rate - u),
            given=["slope"],
        ),
        prose(
            "between 0 and 1",
            "h - u is the mean of a positive variable, so that h' > 0; 1 - h' is a variance, and positive.",
            given=["slope", "mean", "h - u", "variance"],
        ),
        checked("h(0)", "h(0) = sqrt(2/pi).", identity, rate.subs(u, 0), sp.sqrt(2 / sp.pi)),
        prose(
            "tangent",
            "h(u) <= sqrt(2/pi) + max(u, 0): h rises, and at most at the rate 1.",
            given=["between 0 and 1", "h(0)"],
        ),
        checked(
            "quadratic",
            "h (h - u) - 1 is (h - (u + sqrt(u^2 + 4))/2) (h - (u - sqrt(u^2 + 4))/2).",
            identity,
            h * (h - u) - 1,
            (h - roots[0]) * (h - roots[1]),
        ),
        checked(
            "other root", "The product of the roots is -1: one of them is negative.", identity, roots[0] * roots[1], -1
        ),
        prose(
            "root",
            "h (h - u) < 1, so that h is below the positive root (u + sqrt(u^2 + 4))/2.",
            given=["between 0 and 1", "quadratic", "other root"],
        ),
        all_of("the hazard's slope and bounds", "between 0 and 1", "tangent", "root"),
    )


@statement(LEBENSOLD_2024, "at_rdp_direct")
def normal_hazard_is_convex() -> Proof:
    """h'' = h ((2h - u)(h - u) - 1) > 0. For u <= -1 the terms of 2h^2 - 3uh + u^2 - 1 are not negative. For u > -1
    it is positive because h > b = (3u + R)/4, R = sqrt(u^2 + 8), the larger root: b > 0, and D = Phi(-u) - phi/b
    tends to 0 at infinity while D' = phi (b' - b (b - u))/b^2 > 0, so that D < 0.
    """
    u, _, phi, tail, rate = _symbols()
    h, y, mirrored = sp.Symbol("h", positive=True), sp.Symbol("y"), sp.Symbol("m", nonnegative=True)
    root = sp.sqrt(u**2 + 8)
    bound = (3 * u + root) / 4
    bernoulli = sp.diff(bound, u) - bound * (bound - u)
    deficit = (2 + u**2) * root - u * (u**2 + 6)
    quadratic = (2 * h - u) * (h - u) - 1
    other = (3 * u - root) / 4
    return proof(
        checked(
            "second derivative",
            "h'' = h ((2h - u)(h - u) - 1).",
            identity,
            sp.diff(rate, u, 2),
            rate * quadratic.subs(h, rate),
        ),
        checked(
            "far left",
            "For u <= -1 the second factor is positive.",
            positive,
            sp.expand(quadratic.subs(u, -1 - mirrored)),
        ),
        checked(
            "roots", "It is 2 (h - b)(h - b'), b' = (3u - R)/4.", identity, quadratic, 2 * (h - bound) * (h - other)
        ),
        checked("larger root", "b - b' = R/2 > 0.", at_least_by, bound, other, root / 2),
        checked(
            "b > 0",
            "R^2 - (3u)^2 = 8 (1 - u)(1 + u): for u > -1, R > |3u| or u >= 0, so that b > 0.",
            identity,
            root**2 - (3 * u) ** 2,
            8 * (1 - u) * (1 + u),
        ),
        checked(
            "D'",
            "With D = Phi(-u) - phi/b, D' = phi (b' - b (b - u))/b^2, b' the derivative of b.",
            identity,
            sp.diff(tail - phi / bound, u),
            phi * bernoulli / bound**2,
        ),
        checked(
            "sign of D'",
            "Times 8 R the last factor is (2 + u^2) R - u (u^2 + 6).",
            identity,
            8 * root * bernoulli,
            deficit,
        ),
        checked(
            "right",
            "For u > 0, y = u^2, the squares of the two terms are 32 apart.",
            identity,
            (2 + y) ** 2 * (y + 8) - y * (y + 6) ** 2,
            32,
        ),
        checked("left", "For u <= 0 no term is negative.", positive, deficit.subs(u, -mirrored)),
        checked("limit of phi/b", "phi/b tends to 0 as u grows.", identity, sp.limit(phi / bound, u, sp.oo), 0),
        checked("limit of the tail", "So does Phi(-u).", identity, sp.limit(tail, u, sp.oo), 0),
        prose(
            "h > b",
            "For u > -1, D' > 0 and D tends to 0 at infinity, so that D < 0: h = phi/Phi(-u) > b.",
            given=["b > 0", "D'", "sign of D'", "right", "left", "limit of phi/b", "limit of the tail"],
        ),
        prose(
            "convex",
            "For u <= -1 the factor is positive; for u > -1 it is, as h is above both roots. So h'' > 0.",
            given=["second derivative", "far left", "roots", "larger root", "h > b"],
        ),
    )
