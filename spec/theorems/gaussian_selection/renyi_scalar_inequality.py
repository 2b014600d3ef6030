r"""The direct Renyi bound of AboveThreshold implies the printed one: a scalar inequality, proved on a box.

With k = sigma_Z/sigma_X, b = 1/k, r = (rho - a)/sigma_X, m = (alpha - 1) Delta/sigma_X and B(r) = 1 + C (1 + 9 r^2)
e^(r^2), C = 2 sqrt(3) pi, the inequality is, for all m >= 0, r >= 0 and k >= sqrt(3),

    G = m^2/2 + 2 m^2 b^2 + log(B(r))/2 - 2 sqrt(2/pi) m b - log(1 + e^E) > 0,
    E = 2 m^2 b^2 + 2 m^2 b^4 + 2 m r b^2.

It closes the gap in the printed proof of Lebensold, Precup and Balle (2024), Thm 7, for rho < 0.355 sigma_X.

*Why it suffices.* In Thm 7+ (`above_threshold_renyi`), log(Phi(-v)/Phi(-v - s)) is the integral of the hazard over
[v, v + s]; with h(u) <= sqrt(2/pi) + max(u, 0) it is at most sqrt(2/pi) s + s^2/2 + s max(v, 0). Take
max(1, e^z) <= 1 + e^z; the mean of e^(2 m b^2 (x + r)) is e^E. What is left, times alpha - 1, is G > 0 with m^2/2
enlarged to alpha/(alpha - 1) m^2/2. For rho < a the direct bound is below its value at rho = a, since V rises.

*The smallest k is the worst.* Let y = sqrt(2) m b. As E >= y^2 and 1 + e^(y^2) >= 2 + y^2 >= 2 sqrt(2) y, the
derivative of G in b is at most 4 m^2 b/(1 + e^E) - 2 sqrt(2/pi) m <= (1 - 2 sqrt(2/pi)) m <= 0. From here b^2 = 1/3.

*A parabola in m.* log(1 + e^E) = E + log(1 + e^-E); with A = 1/2 - 2 b^4, L = 2 b^2 r + 2 sqrt(2/pi) b, the vertex
v(r) = L/(2A) and F(r) = r^2/2 - L^2/(4A) + log(e^(-r^2) + C (1 + 9 r^2))/2, G = A (m - v)^2 + F(r) - log(1 + e^-E).
As E grows with m, G at any m > v is at least G at v: it is enough to look at m = t v(r), 0 <= t <= 1.

*The tail.* F(r) = p r^2 - q r - c + log(...)/2. For r >= R >= q/p the first two terms are not negative, and
log(1 + e^-E) <= log 2: G >= log(C (1 + 9 R^2))/2 - c - log 2. The box t in [0, 1], r in [0, R] is left.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from flint import arb

from dpassay.arguments import UsageError
from dpassay.lazy import sympy as sp
from dpassay.spec.ball import at_least, ball, float_upper, precision
from dpassay.spec.proof.box import prove_on_box
from dpassay.spec.proof.rules import at_least_by, nonnegative_from_zero
from dpassay.spec.proof.steps import Proof, Step, checked, computed, lemma, proof, prose
from dpassay.spec.proof.symbolic import identity, positive
from dpassay.spec.sources import LEBENSOLD_2024
from dpassay.spec.statement import statement
from dpassay.spec.theorems.gaussian_selection.above_threshold_renyi import direct_rdp_by_a_shift_of_the_threshold
from dpassay.spec.theorems.gaussian_selection.normal_hazard import normal_hazard_slope_between_0_and_1
from dpassay.spec.verdict import Evidence, Outcome, Scope, Verdict, conjunction

__all__ = ["ScalarInequality", "prove_gap"]


@dataclass(frozen=True)
class ScalarInequality:
    """The family of inequalities G > 0; the default member is the one that is needed.

    Parameters
    ----------
    factor : Fraction
        Multiplies C = 2 sqrt(3) pi; positive.
    squared_ratio : Fraction
        The least k^2, above sqrt(8): from there down G is unbounded below, whatever C is.
    """

    factor: Fraction = Fraction(1)
    squared_ratio: Fraction = Fraction(3)

    def __post_init__(self) -> None:
        if self.factor <= 0:
            raise UsageError(f"factor must be positive, got {self.factor}")
        if self.squared_ratio <= 0 or self.squared_ratio**2 <= 8:
            raise UsageError(f"squared_ratio must be above sqrt(8), got {self.squared_ratio}")

    @property
    def constant(self) -> arb:
        """C, the constant of B."""
        return ball(self.factor) * 2 * arb(3).sqrt() * arb.pi()

    @property
    def squared_inverse(self) -> Fraction:
        """b^2 at the least k."""
        return 1 / self.squared_ratio

    @property
    def curvature(self) -> Fraction:
        """A, the coefficient of m^2."""
        return Fraction(1, 2) - 2 * self.squared_inverse**2

    @property
    def hazard_term(self) -> arb:
        """2 sqrt(2/pi) b, the part of L(r) that does not depend on r."""
        return 2 * (2 * ball(self.squared_inverse) / arb.pi()).sqrt()

    def parabola(self) -> tuple[arb, arb, arb]:
        """Return the coefficients (p, q, c) of F(r) = p r^2 - q r - c + log(...)/2."""
        quadratic = ball(Fraction(1, 2) - self.squared_inverse**2 / self.curvature)
        linear = ball(self.squared_inverse / self.curvature) * self.hazard_term
        return quadratic, linear, self.hazard_term * self.hazard_term / ball(4 * self.curvature)

    def vertex(self, r: arb) -> arb:
        """Return v(r), where the parabola in m is least."""
        return (ball(2 * self.squared_inverse) * r + self.hazard_term) / ball(2 * self.curvature)

    def valley(self, r: arb) -> arb:
        """Return F(r); the square is completed, so that r enters its parabola once."""
        quadratic, linear, fixed = self.parabola()
        centre, squared = linear / (2 * quadratic), r * r
        grown = ((-squared).exp() + self.constant * (1 + 9 * squared)).log() / 2
        return quadratic * ((r - centre) * (r - centre) - centre * centre) - fixed + grown

    def gap(self, t: arb, r: arb) -> arb:
        """Return G at m = t v(r)."""
        vertex = self.vertex(r)
        m, missing, b2 = t * vertex, (1 - t) * vertex, ball(self.squared_inverse)
        exponent = 2 * b2 * m * ((1 + b2) * m + r)
        return ball(self.curvature) * missing * missing + self.valley(r) - (-exponent).exp().log1p()

    @property
    def tail_start(self) -> int:
        """An integer R >= q/p from which the tail lemma speaks."""
        with precision(64):
            quadratic, linear, _ = self.parabola()
            return math.ceil(float_upper(linear / quadratic))

    def tail_gap(self) -> arb:
        """Return the lower bound of G over r >= R."""
        _, _, fixed = self.parabola()
        grown = self.constant * (1 + 9 * self.tail_start**2)
        return grown.log() / 2 - fixed - arb.const_log2()


def prove_gap(inequality: ScalarInequality, margin: Fraction = Fraction(1, 20), *, leaves: int = 20_000) -> Verdict:
    """Prove that G >= `margin` for all m, r >= 0 and all k from the least ratio upwards, or find a point where not.

    The infimum of G is 0.084168 (at k = sqrt(3), m = 6.935, r = 4.397); the number of boxes grows as the margin
    comes near it.

    Returns
    -------
    Verdict
        Evidence `BOX` and scope `ALL`, since the box is completed by the tail lemma; the witness of a violation is
        (t, r), m = t v(r).
    """
    box = {"t": (Fraction(0), Fraction(1)), "r": (Fraction(0), Fraction(inequality.tail_start))}
    inside = prove_on_box(lambda t, r: inequality.gap(t, r) - ball(margin), box, leaves=leaves)
    tail = at_least(inequality.tail_gap, lambda: ball(margin))
    verdict = conjunction([inside, replace(tail, evidence=Evidence.BOX)])
    return replace(verdict, scope=Scope.ALL) if verdict.outcome is Outcome.HOLDS else verdict


@statement(LEBENSOLD_2024, "at_rdp_nonneg", "at_rdp_direct")
def closed_rdp_follows_from_direct_rdp() -> Proof:
    """Thm 7+ implies Thm 7: G > 0 for all m >= 0, r >= 0 and k >= sqrt(3), where
    G = m^2/2 + 2 m^2/k^2 + log(1 + 2 sqrt(3) pi (1 + 9 r^2) e^(r^2))/2 - 2 sqrt(2/pi) m/k
    - log(1 + exp(2 m^2/k^2 + 2 m^2/k^4 + 2 m r/k^2)).
    """
    return proof(
        *_reduction(),
        *_least_ratio(),
        *_completed_square(),
        computed(
            "gap",
            "G >= 1/20 on the box t in [0, 1], r in [0, R], and beyond R by the tail lemma, at k = sqrt(3).",
            lambda: prove_gap(ScalarInequality()),
        ),
        prose(
            "Thm 7",
            "G > 0 for all m, r >= 0 and k >= sqrt(3), so that Thm 7 follows.",
            given=["reduction", "least ratio", "box", "gap"],
        ),
    )


def _reduction() -> tuple[Step, ...]:
    """Thm 7 minus the bound of Thm 7+ is (G + m^2/(2 (alpha - 1)))/(alpha - 1) at least."""
    alpha, w, k = sp.symbols("alpha w k", positive=True)
    r = sp.Symbol("r", nonnegative=True)
    s, m = 2 * w / k, (alpha - 1) * w
    shifts = (alpha - 1) * (alpha * w**2 + 2 * alpha * w**2 / k**2 - alpha * w**2 / 2 - s**2 / 2)
    tilt = 2 * m / k**2
    return (
        lemma("Thm 7+", "The direct bound of the Renyi divergence.", direct_rdp_by_a_shift_of_the_threshold),
        lemma(
            "hazard",
            "h(u) <= sqrt(2/pi) + max(u, 0) for the normal hazard h.",
            normal_hazard_slope_between_0_and_1,
        ),
        checked(
            "shifts",
            "Times alpha - 1 the shifts leave alpha/(alpha - 1) m^2/2 + 2 m^2/k^2.",
            identity,
            shifts,
            alpha / (alpha - 1) * m**2 / 2 + 2 * m**2 / k**2,
        ),
        checked("surplus", "alpha/(alpha - 1) m^2/2 is m^2/2 and m^2/(2 (alpha - 1)) more.", *_surplus()),
        checked(
            "moment",
            "The mean of e^(2 m b^2 (x + r)) is e^E.",
            identity,
            tilt * (m + r) + tilt**2 / 2,
            _exponent(m, 1 / k, r),
        ),
        checked("linear term", "(alpha - 1) s v = 2 m b^2 (x + r).", identity, (alpha - 1) * s / k, tilt),
        checked("hazard term", "(alpha - 1) s = 2 m b.", identity, (alpha - 1) * s, 2 * m / k),
        prose(
            "reduction",
            "The integral of the hazard over [v, v + s] is at most sqrt(2/pi) s + s^2/2 + s max(v, 0), and max(1, "
            "e^z) <= 1 + "
            "e^z: Thm 7 minus Thm 7+ is at least G/(alpha - 1). For rho < a the direct bound is below its value at a.",
            given=["Thm 7+", "hazard", "shifts", "surplus", "moment", "linear term", "hazard term"],
        ),
    )


def _surplus() -> tuple[Any, ...]:
    """Return the arguments of the step: alpha/(alpha - 1) is 1 + 1/(alpha - 1), alpha = 1 + e."""
    excess, m = sp.symbols("e m", positive=True)
    return at_least_by, (1 + excess) / excess * m**2 / 2, m**2 / 2, m**2 / (2 * excess)


def _least_ratio() -> tuple[Step, ...]:
    """The derivative of G in b is not positive."""
    m, b, r, y = sp.symbols("m b r y", positive=True)
    exponent, c = _exponent(m, b, r), sp.sqrt(2 / sp.pi)
    varying = 2 * m**2 * b**2 - 2 * c * m * b - sp.log(1 + sp.exp(exponent))
    share = sp.exp(exponent) / (1 + sp.exp(exponent))
    dropped = share * (8 * m**2 * b**3 + 4 * m * r * b)
    derivative = 4 * m**2 * b / (1 + sp.exp(exponent)) - 2 * c * m - dropped
    return (
        checked(
            "derivative",
            "The derivative of G in b is 4 m^2 b/(1 + e^E) - 2 sqrt(2/pi) m less a term.",
            identity,
            sp.diff(varying, b),
            derivative,
        ),
        checked("dropped term", "That term is positive.", positive, dropped),
        checked("E", "E >= y^2, y = sqrt(2) m b.", positive, exponent - 2 * m**2 * b**2),
        checked(
            "exponential",
            "e^z >= 1 + z.",
            nonnegative_from_zero,
            sp.exp(y) - 1 - y,
            y,
            2 * sp.exp(y / 2) * sp.sinh(y / 2),
        ),
        checked(
            "in terms of y",
            "4 m^2 b/(2 + y^2) = m 2 sqrt(2) y/(2 + y^2).",
            identity,
            4 * m**2 * b / (2 + y**2),
            2 * sp.sqrt(2) * m * (sp.sqrt(2) * m * b) / (2 + y**2),
        ),
        checked("square", "2 + y^2 >= 2 sqrt(2) y.", at_least_by, 2 + y**2, 2 * sp.sqrt(2) * y, (y - sp.sqrt(2)) ** 2),
        checked("constant", "2 sqrt(2/pi) > 1.", positive, 2 * c - 1),
        prose(
            "least ratio",
            "The derivative of G in b is at most m - 2 sqrt(2/pi) m < 0: G is least at the smallest k.",
            given=["derivative", "dropped term", "E", "exponential", "in terms of y", "square", "constant"],
        ),
    )


def _completed_square() -> tuple[Step, ...]:
    """G at fixed b is a parabola in m and a remainder."""
    m, b, r = sp.symbols("m b r", positive=True)
    c, curvature = sp.sqrt(2 / sp.pi), sp.Rational(1, 2) - 2 * b**4
    slope = 2 * b**2 * r + 2 * c * b
    polynomial = m**2 / 2 + 2 * m**2 * b**2 - 2 * c * m * b - _exponent(m, b, r)
    square = curvature * (m - slope / (2 * curvature)) ** 2 - slope**2 / (4 * curvature)
    fixed = (2 * c * b) ** 2 / (4 * curvature)
    linear = b**2 * 2 * c * b / curvature
    return (
        checked("square in m", "G is A (m - v)^2 + F(r) - log(1 + e^-E).", identity, polynomial, square),
        checked(
            "parabola in r",
            "F(r) is p r^2 - q r - c and a logarithm.",
            identity,
            r**2 / 2 - slope**2 / (4 * curvature),
            (sp.Rational(1, 2) - b**4 / curvature) * r**2 - linear * r - fixed,
        ),
        checked("E grows", "E grows with m.", positive, sp.diff(_exponent(m, b, r), m)),
        prose(
            "box",
            "G at any m above the vertex v is at least G at v, as -log(1 + e^-E) grows: m = t v(r) with t in [0, 1] "
            "is left.",
            given=["square in m", "parabola in r", "E grows"],
        ),
    )


def _exponent(m: "sp.Expr", b: "sp.Expr", r: "sp.Expr") -> "sp.Expr":
    return 2 * m**2 * b**2 + 2 * m**2 * b**4 + 2 * m * r * b**2
