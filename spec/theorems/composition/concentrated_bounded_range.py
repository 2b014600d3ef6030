"""An a-bounded-range mechanism is kappa(a)-zCDP: its largest mean loss bounds its Renyi divergences of all orders.

Cesar and Rogers (2020), Section 3, give (kappa(a) - a^2/8, a^2/8)-zCDP, and with xi = 0 only a^2/8. That kappa(a)
alone suffices, for every a > 0 and every order, is proved here. With s = alpha - 1:

1. (P/Q)^(s+1) is convex, and P/Q has Q-mean 1 and values in [e^(t-a), e^t]: its mean is largest for the two-point
   distribution on the ends, the generalised randomised response.
2. For that, e^(s D) = u^s (A - B u)/(1 - e^-a) with u = e^t, A = 1 - e^(-(s+1) a) and B = e^-a - e^(-(s+1) a); the
   largest value over all u > 0 is at u = s A/((s+1) B).
3. There, with h(x) = log(sinh(x/2)/(x/2)) and F(x) = x h(x), it is a s D = F(s a + a) - F(s a) - F(a); and
   kappa = F'.
4. So the claim is F(x + y) - F(x) - F(y) <= x (x + y) kappa(y)/y. Both sides vanish at x = 0, and so do, twice, the
   differences of the derivatives in x if kappa'(x + y) - kappa'(x) <= kappa'(y) <= 2 kappa(y)/y, which holds where
   kappa' is concave with kappa'(0) = 0.
5. kappa' is concave: -8 sinh(a/2)^4 (a/2)^3 kappa'''(a) is a power series in a without negative coefficients.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Annotated, Any

from flint import arb

from dpassay.lazy import sympy as sp
from dpassay.spec.ball import ATTAINED, Exact, at_most, ball, exact, less_than
from dpassay.spec.distributions.discrete import renyi_divergence
from dpassay.spec.distributions.pairs import FinitePairs, PairAtRatio
from dpassay.spec.domains.base import Integers, Reals
from dpassay.spec.notions.concentrated_conversions import mean_loss_of_bounded_range
from dpassay.spec.notions.pure_conversions import zcdp_rho_of_pure
from dpassay.spec.proof.figures import Figures
from dpassay.spec.proof.pins import Pin
from dpassay.spec.proof.rules import nonnegative_from_zero
from dpassay.spec.proof.steps import Proof, all_of, checked, lemma, proof, prose
from dpassay.spec.proof.symbolic import identity, positive
from dpassay.spec.rational import at_most_exact, equal_exact
from dpassay.spec.sources import CESAR_2020, DPASSAY
from dpassay.spec.statement import Erratum, Severity, statement
from dpassay.spec.theorems.composition.concentrated import (
    SYMMETRIC,
    VACUOUS,
    loss_ratios,
    response,
    zcdp_of_cdp_parameters,
)
from dpassay.spec.theorems.composition.second_derivations import loss_of_21, mean_of_range_441, renyi_of_21
from dpassay.spec.theorems.gaussian_selection.fully_adaptive_filter import binomial_hockey_stick
from dpassay.spec.verdict import Verdict, conjunction

__all__ = ["curvature_coefficient", "response_moment"]

LABEL = "bounded range gives kappa-zCDP"

Pair = Annotated[
    PairAtRatio, FinitePairs("a pair of different rational distributions, the right one positive", positive=True)
]
Order = Annotated[
    Exact, Reals("an order", Fraction(100001, 100000), 1000, (2, Fraction(100001, 100000), 10), logarithmic=True)
]
EXTREMAL = response(1718, 632, 1000)  # e^a = 2.718, at the t of the largest mean


# --- the affine curves of the paper -------------------------------------------------------------------------


def _weaker_through_lemma_3_4(ratio: Fraction, count: int, delta: Fraction) -> Verdict:
    """Compose `count` mechanisms through Lemma 3.4 with (0, epsilon^2/2): valid, and weaker than eq (3)."""

    def printed() -> arb:
        rho = count * ball(ratio).log() ** 2 / 2
        return rho + 2 * (-rho * ball(delta).log()).sqrt()

    return conjunction([
        at_most(lambda: binomial_hockey_stick(ratio, count, printed()), lambda: ball(delta)),
        less_than(lambda: _equation_3(ratio, count, delta), printed),
    ])  # fmt: skip


def _equation_3(ratio: Fraction, count: int, delta: Fraction) -> arb:
    xi, rho = _pure_curve(ball(ratio).log())
    return count * (xi + rho) + 2 * (-count * rho * ball(delta).log()).sqrt()


def _equation_3_is_recovered(ratio: Fraction, count: int, delta: Fraction) -> Verdict:
    return at_most(lambda: binomial_hockey_stick(ratio, count, _equation_3(ratio, count, delta)), lambda: ball(delta))


def _pure_curve(epsilon: arb) -> tuple[arb, arb]:
    return zcdp_of_cdp_parameters(zcdp_rho_of_pure(epsilon), epsilon)


def _range_curve(width: arb) -> tuple[arb, arb]:
    return zcdp_of_cdp_parameters(mean_loss_of_bounded_range(width), width / 2)


INTERCEPT_DROPPED = Erratum(
    kind="loose",
    severity=Severity.INTERPRETATION,
    location="Section 3, the last two sentences",
    printed_text="eq. (3) is said to follow from Lemma 3.4, and epsilon-DP to be (0, epsilon^2/2)-zCDP; "
    "both are true, but the second does not give the first: with xi = 0 one gets 62.17 where eq. (3) has 60.28",
    answer="The offset of Lemma 2.2 gives eq. (3); the sentence with (0, epsilon^2/2) states a weaker "
    "fact, which is true.",
    witness={"ratio": Fraction(2718281828, 10**9), "count": 50, "delta": Fraction(1, 10**6)},
    printed=_weaker_through_lemma_3_4,
    corrected=_equation_3_is_recovered,
    figures=Figures(
        published=("0 <= 1.000e-6", "60.28 <= 62.17"),
        corrected=("0 <= 1.000e-6",),
    ),
)


@statement(
    CESAR_2020,
    "dp_br_to_zcdp",
    errata=(INTERCEPT_DROPPED,),
    examples=tuple({"pair": response(p, q, 4), "alpha": a} for p, q in ((5, 3), (40, 1)) for a in (Fraction(3, 2), 2)),
    pins=(
        Pin(
            {"pair": SYMMETRIC, "alpha": 2},
            "e^epsilon = 21/20 and e^a = 441/400",
            smaller=lambda: [renyi_of_21()] * 2,
            larger=lambda: [v + loss_of_21() ** 2 / 2 for v in (loss_of_21() / 41, mean_of_range_441())],
        ),
    ),
)
def affine_zcdp_of_pure_dp_and_bounded_range(pair: Pair, alpha: Order) -> Verdict:
    """epsilon-DP implies (epsilon tanh(epsilon/2) - epsilon^2/2, epsilon^2/2)-zCDP, hence epsilon^2/2-zCDP; a-bounded
    range implies (kappa(a) - a^2/8, a^2/8)-zCDP with kappa(a) <= a^2/8.
    """
    if pair.left == pair.right or not all(pair.left.weights.values()):
        return VACUOUS
    least, most = loss_ratios(pair)
    order = exact("alpha", alpha)
    divergence = lambda: renyi_divergence(pair.left, pair.right, ball(order))

    def bound(curve: Any, ratio: Fraction) -> arb:
        xi, rho = curve(ball(ratio).log())
        return arb(xi + ball(order) * rho)

    return conjunction([
        at_most(divergence, lambda: bound(_pure_curve, max(most, 1 / least)), slack=ATTAINED),
        at_most(divergence, lambda: bound(_range_curve, most / least), slack=ATTAINED),
    ])  # fmt: skip


# --- kappa alone --------------------------------------------------------------------------------------------


@statement(
    DPASSAY,
    LABEL,
    examples=({"pair": EXTREMAL, "alpha": Fraction(100001, 100000)}, {"pair": EXTREMAL, "alpha": 2}),
    cases=60,
    pins=(
        Pin(
            {"pair": SYMMETRIC, "alpha": 2},
            "log E[e^L], and kappa for e^a = 441/400",
            smaller=renyi_of_21,
            larger=lambda: 2 * mean_of_range_441(),
        ),
    ),
)
def zcdp_of_bounded_range(pair: Pair, alpha: Order) -> Verdict:
    """a-bounded range implies kappa(a)-zCDP, kappa(a) = a/(e^a - 1) - 1 - log(a/(e^a - 1)); attained as alpha -> 1."""
    if pair.left == pair.right or not all(pair.left.weights.values()):
        return VACUOUS
    least, most = loss_ratios(pair)
    order = exact("alpha", alpha)
    return at_most(
        lambda: renyi_divergence(pair.left, pair.right, ball(order)),
        lambda: ball(order) * mean_loss_of_bounded_range(ball(most / least).log()),
    )


def response_moment(u: Any, width: Any, s: Any) -> Any:
    """Return u^s (A - B u)/(1 - e^-a): E_P[(P/Q)^s] of the response with losses t = log u and t - a."""
    high, low = 1 - sp.exp(-(s + 1) * width), sp.exp(-width) - sp.exp(-(s + 1) * width)
    return u**s * (high - low * u) / (1 - sp.exp(-width))


def log_sinh_quotient(x: Any) -> Any:
    """Return h(x) = log(sinh(x/2)/(x/2)) for a symbol."""
    return sp.log(sp.sinh(x / 2) / (x / 2))


@statement(DPASSAY, LABEL)
def bounded_range_moment_is_superadditivity_gap() -> Proof:
    """Over all t, the largest log E_P[(P/Q)^s] of a response of range a is (s+1) h((s+1) a) - s h(s a) - h(a), with
    h(x) = log(sinh(x/2)/(x/2)); its derivative at s = 0 is h(a) + a h'(a) = kappa(a).
    """
    a, s, u, t = sp.symbols("a s u t", positive=True)
    rare = (sp.exp(t - a) - sp.exp(-a)) / (1 - sp.exp(-a))
    moment = (1 - rare) * sp.exp(s * t) + rare * sp.exp(s * (t - a))
    high, low = 1 - sp.exp(-(s + 1) * a), sp.exp(-a) - sp.exp(-(s + 1) * a)
    best = s * high / ((s + 1) * low)
    value = sp.log(s) * s - (s + 1) * sp.log(s + 1) + (s + 1) * sp.log(high) - s * sp.log(low) - sp.log(1 - sp.exp(-a))
    slope = sp.simplify(sp.diff(sp.log(u**s * (high - low * u)), u))
    h = log_sinh_quotient(a)
    kappa = a / (sp.exp(a) - 1) - 1 - sp.log(a / (sp.exp(a) - 1))
    # log sinh(x/2) = x/2 + log(1 - e^-x) - log 2, put in so that exponentials can cancel
    split: Callable[[Any], Any] = lambda x: x / 2 + sp.log(1 - sp.exp(-x)) - sp.log(x)
    gap = (s + 1) * split((s + 1) * a) - s * split(s * a) - split(a)
    reduced = value.subs(sp.log(low), sp.log(1 - sp.exp(-s * a)) - a)
    joined = (
        sp.log(s) * s + s * sp.log(high) - s * sp.log(s + 1) - s * sp.log(low)
        + sp.log(high) - sp.log(s + 1) - sp.log(1 - sp.exp(-a))
    )  # fmt: skip
    b, room = sp.symbols("B room", positive=True)
    curvature = s / u**2 + b**2 / room**2
    return proof(
        checked(
            "moment",
            "E_P[(P/Q)^s] is u^s (A - B u)/(1 - e^-a), u = e^t.",
            identity,
            moment,
            response_moment(sp.exp(t), a, s),
        ),
        checked("stationary", "Its logarithm is stationary at u = s A/((s+1) B).", identity, slope.subs(u, best), 0),
        checked(
            "second derivative",
            "Minus the second derivative of its logarithm in u is s/u^2 + B^2/(A - B u)^2.",
            identity,
            -sp.diff(s * sp.log(u) + sp.log(high - low * u), u, 2),
            curvature.subs({b: low, room: high - low * u}),
        ),
        checked("concave", "s/u^2 + B^2/(A - B u)^2 is positive.", positive, curvature),
        checked("left end", "The moment is 1 at t = 0.", identity, response_moment(sp.Integer(1), a, s), 1),
        checked("right end", "The moment is 1 at t = a.", identity, response_moment(sp.exp(a), a, s), 1),
        prose(
            "largest",
            "A concave function with equal values at both ends is largest at its stationary point, between them.",
            given=["moment", "stationary", "second derivative", "concave", "left end", "right end"],
        ),
        checked(
            "value", "There u^s (A - B u) is (s A/((s+1) B))^s A/(s+1).", identity, joined, value, given=["largest"]
        ),
        checked("B", "B = e^-a (1 - e^(-s a)).", identity, low, sp.exp(-a) * (1 - sp.exp(-s * a))),
        checked(
            "h",
            "h(x) = x/2 + log(1 - e^-x) - log x.",
            identity,
            sp.exp(split(a)),
            sp.sinh(a / 2).rewrite(sp.exp) / (a / 2),
        ),
        checked(
            "gap",
            "The largest logarithm is (s+1) h((s+1) a) - s h(s a) - h(a), h written out.",
            identity,
            sp.expand_log(sp.expand(reduced - gap), force=True),
            0,
            given=["value", "B", "h"],
        ),
        checked(
            "product rule",
            "With F(x) = x h(x), F'(a) = h(a) + a h'(a).",
            identity,
            sp.diff(a * h, a),
            h + a * sp.diff(h, a),
        ),
        checked(
            "kappa",
            "h(a) + a h'(a) = kappa(a), with a = log(u + 1).",
            identity,
            (h + a * sp.diff(h, a) - kappa).rewrite(sp.exp).subs(a, sp.log(u + 1)),
            0,
        ),
        checked("h(0)", "h vanishes at 0.", identity, sp.limit(sp.exp(h), a, 0), 1),
        prose(
            "slope",
            "The gap is (F((s+1) a) - F(s a) - F(a))/a, whose derivative at s = 0 is F'(a) - F'(0), and F'(0) = "
            "h(0) = 0.",
            given=["gap", "product rule", "kappa", "h(0)"],
        ),
        all_of("moment and slope", "gap", "slope"),
    )


def curvature_coefficient(n: int) -> int:
    """Return (2n)! times the coefficient of w^(2n), w = 2z, in 8 (sinh(z)^4 - z^3 (2 sinh 2z - 2z - z cosh 2z))."""
    m = 2 * n
    falling: Callable[[int], int] = lambda k: 0 if m < k else int(sp.ff(m, k))
    special = 3 if n == 0 else 24 if n == 2 else 0
    return int(4**n - 4 + special - 2 * falling(3) + Fraction(falling(4), 2))


@statement(DPASSAY, LABEL)
def largest_mean_loss_has_concave_derivative() -> Proof:
    """kappa' is concave on a > 0 with kappa'(0) = 0, so that kappa'(x + y) <= kappa'(x) + kappa'(y) and
    y kappa'(y) <= 2 kappa(y): F(x + y) - F(x) - F(y) <= x (x + y) kappa(y)/y, which is kappa(a)-zCDP.

    -8 z^3 sinh(z)^4 k''(z), k(z) = kappa'(2z), is a series in w = 2z: the coefficients up to w^6 vanish, and from w^8
    on (2n)! times them is 4^n - 4 + n (2n-1) (2n-2) (2n-7) > 0.
    """
    z = sp.symbols("z", positive=True)
    a = sp.symbols("a", positive=True)
    n = sp.symbols("n", integer=True, nonnegative=True)
    kappa = sp.log(sp.sinh(a / 2) / (a / 2)) + (a / 2) * sp.coth(a / 2) - 1
    slope = sp.coth(z) - 1 / (2 * z) - z / (2 * sp.sinh(z) ** 2)
    vanishing = z * sp.sinh(2 * z) - sp.sinh(z) ** 2 - z**2
    tail = sp.sinh(z) ** 4 - z**3 * (2 * sp.sinh(2 * z) - 2 * z - z * sp.cosh(2 * z))
    multiple = 8 * tail - (sp.cosh(4 * z) - 4 * sp.cosh(2 * z) + 3 - 8 * z**3 * (
        2 * sp.sinh(2 * z) - 2 * z - z * sp.cosh(2 * z)))  # fmt: skip
    general = 4**n - 4 - 2 * (2 * n) * (2 * n - 1) * (2 * n - 2) + n * (2 * n - 1) * (2 * n - 2) * (2 * n - 3)
    later = general.subs(n, n + 4)
    w, growth = sp.Symbol("w", nonnegative=True), sp.Symbol("g", nonnegative=True)
    x, y, kappa_y = sp.symbols("x y kappa_y", positive=True)
    fact = sp.factorial(2 * n)
    series = fact * (4**n / fact - 4 / fact - 2 / sp.factorial(2 * n - 3) + 1 / (2 * sp.factorial(2 * n - 4)))
    rest = (n + 4) * (2 * n + 7) * (2 * n + 6) * (2 * n + 1)
    zeros = [
        checked(
            f"order {k}",
            f"Derivative {k} of the numerator vanishes at 0.",
            identity,
            sp.diff(vanishing, z, k).subs(z, 0),
            0,
        )
        for k in range(4)
    ]
    low_terms = [
        checked(f"w^{2 * k}", f"The coefficient of w^{2 * k} vanishes.", identity, curvature_coefficient(k), 0)
        for k in range(4)
    ]
    return proof(
        checked(
            "kappa", "kappa is the derivative of F(x) = x h(x).", identity, sp.diff(a * log_sinh_quotient(a), a), kappa
        ),
        checked(
            "slope",
            "kappa'(2z) is coth z - 1/(2z) - z/(2 sinh^2 z).",
            identity,
            sp.diff(kappa, a).subs(a, 2 * z).rewrite(sp.exp),
            slope.rewrite(sp.exp),
            given=["kappa"],
        ),
        checked(
            "fraction",
            "Times 2 z sinh^2 z it is z sinh 2z - sinh^2 z - z^2.",
            identity,
            slope * 2 * z * sp.sinh(z) ** 2,
            vanishing,
        ),
        *zeros,
        prose(
            "kappa'(0)",
            "kappa' tends to 0 at 0: a function that vanishes to order 4 over one of order 3.",
            given=["slope", "fraction", *(step.name for step in zeros)],
        ),
        checked(
            "curvature",
            "-k''(z) z^3 sinh^4 z is sinh^4 z - z^3 (2 sinh 2z - 2z - z cosh 2z), where k(z) = kappa'(2z).",
            identity,
            (-sp.diff(slope, z, 2) * z**3 * sp.sinh(z) ** 4).rewrite(sp.exp),
            tail.rewrite(sp.exp),
            given=["slope"],
        ),
        checked(
            "multiples",
            "8 times that is cosh 4z - 4 cosh 2z + 3 - 8 z^3 (2 sinh 2z - 2z - z cosh 2z).",
            identity,
            multiple.rewrite(sp.exp),
            0,
        ),
        *low_terms,
        prose(
            "series",
            "By the series of cosh and sinh, (2n)! times the coefficient of w^(2n), w = 2z, is (2n)! (4^n/(2n)! - "
            "4/(2n)! "
            "- 2/(2n-3)! + 1/(2 (2n-4)!)) for n >= 4; there are no odd powers.",
            given=["curvature", "multiples"],
        ),
        checked(
            "coefficient",
            "That is 4^n - 4 - 2 (2n)(2n-1)(2n-2) + n (2n-1)(2n-2)(2n-3).",
            identity,
            sp.gammasimp(series),
            general,
            given=["series"],
        ),
        checked(
            "polynomial",
            "With n + 4 for n, it is 4^(n+4) - 4 + (n+4)(2n+7)(2n+6)(2n+1).",
            identity,
            sp.expand(later - 4 ** (n + 4) + 4),
            sp.expand(rest),
            given=["coefficient"],
        ),
        checked("powers", "4^n >= 1 for n >= 0.", nonnegative_from_zero, 4**w - 1, w, 4**w * sp.log(4)),
        checked("split power", "4^(n+4) = 256 4^n.", identity, 4 ** (n + 4), 256 * 4**n),
        checked(
            "later terms",
            "256 (1 + g) - 4 + (n+4)(2n+7)(2n+6)(2n+1) is positive for n >= 0 and g >= 0: all later coefficients are.",
            positive,
            (256 * (1 + growth) - 4 + rest).subs(n, w).expand(),
            given=["polynomial", "powers", "split power"],
        ),
        prose(
            "concave",
            "A power series without negative coefficients, and some positive, is positive for w > 0: kappa' is "
            "concave.",
            given=["curvature", "multiples", "series", "later terms", *(step.name for step in low_terms)],
        ),
        prose(
            "subadditive",
            "A concave function that vanishes at 0 is subadditive, kappa'(x + y) <= kappa'(x) + kappa'(y), and lies "
            "above "
            "its chords: y kappa'(y)/2 <= int_0^y kappa' = kappa(y), as kappa(0) = 0.",
            given=["kappa'(0)", "concave"],
        ),
        checked(
            "integral",
            "int_0^x (kappa(y) + 2 v kappa(y)/y) dv = x (x + y) kappa(y)/y.",
            identity,
            sp.integrate(kappa_y + 2 * w * kappa_y / y, (w, 0, x)),
            x * (x + y) * kappa_y / y,
        ),
        prose(
            "superadditivity gap",
            "kappa(y + v) - kappa(v) is kappa(y) at v = 0 and grows at most at the rate kappa'(y) <= 2 kappa(y)/y; "
            "its "
            "integral over v from 0 to x is F(x + y) - F(x) - F(y), as F(0) = 0.",
            given=["kappa", "subadditive", "integral"],
        ),
        lemma(
            "moment",
            "The largest log-moment is (F((s+1) a) - F(s a) - F(a))/a.",
            bounded_range_moment_is_superadditivity_gap,
        ),
        prose(
            "zCDP",
            "With x = s a and y = a the log-moment is at most s (s + 1) kappa(a); every pair of range a is "
            "dominated by "
            "such a response, since the moment is convex in P/Q, whose values lie in an interval [e^(t-a), e^t].",
            given=["superadditivity gap", "moment"],
        ),
    )


@statement(
    DPASSAY,
    LABEL,
    examples=({"index": 4},),
    cases=30,
    pins=(Pin({"index": 4}, "2^8 - 4 - 2 * 8!/5! + 8!/(2 * 4!)", smaller=lambda: 0, larger=lambda: 252 - 672 + 840),),
)
def curvature_series_has_no_negative_coefficient(
    index: Annotated[int, Integers("n", 0, 500, (0, 1, 2, 3, 4))],
) -> Verdict:
    """(2n)! times the coefficient of w^(2n) in cosh 2w - 4 cosh w + 3 - w^3 (2 sinh w - w - (w/2) cosh w), put
    together from the Taylor series of its parts, is the number of the concavity proof, and not negative.
    """
    m = 2 * index
    inverse: Callable[[int], Fraction] = lambda k: Fraction(1, math.factorial(k)) if k >= 0 else Fraction(0)
    even = (2**m - 4) * inverse(m) + 3 * (index == 0)
    odd = -2 * inverse(m - 3) + (index == 2) + inverse(m - 4) / 2
    coefficient = (even + odd) * math.factorial(m)
    return conjunction([
        equal_exact(coefficient, Fraction(curvature_coefficient(index)), "the coefficient"),
        at_most_exact(Fraction(0), coefficient, "0"),
    ])  # fmt: skip
