"""Monotone ratios: the lemmas from which the worst case of noisy max follows.

Lebensold, Precup and Balle (2024), Appendix A: l'Hopital's monotone rule (Lemma 14), the ratio of a moment
generating function to its translate (Lemma 15), and their use for noisy max (Lemma 16). Each lemma is stated
twice: as the steps of its proof, by computer algebra, which reach every parameter; and as a predicate that is
decided at points.
"""

import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any

import sympy as sp
from flint import arb

from dpassay.spec.ball import ATTAINED, Exact, at_most, ball, exact, normal_cdf, normal_pdf, sum_balls
from dpassay.spec.distributions.gaussian_race import GaussianRace, Hurdle
from dpassay.spec.domains import Choices, Domain, Integers, Reals
from dpassay.spec.proof.box import prove_on_box
from dpassay.spec.proof.symbolic import (
    identity,
    nonnegative,
    positive,
    proof,
    symbolic_normal_cdf,
    symbolic_normal_pdf,
)
from dpassay.spec.sources import LEBENSOLD_2024
from dpassay.spec.statement import Erratum, statement
from dpassay.spec.verdict import Evidence, Holds, Scope, Undecided, Verdict, Violated

__all__ = ["AtomLists", "SlopeLists"]


# --- Lemma 14 -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SlopeLists(Domain):
    """Pieces (rise of f, rise of g), rise of g positive, in ascending order of their quotient."""

    def contains(self, value: Any) -> bool:
        """Whether `value` is a non-empty tuple of such pieces."""
        return (
            isinstance(value, tuple)
            and len(value) > 0
            and all(rise > 0 for _, rise in value)
            and all(f1 * g2 <= f2 * g1 for (f1, g1), (f2, g2) in itertools.pairwise(value))
        )


@statement(LEBENSOLD_2024, "lhopital_monotone_rule")
def ratio_monotone_of_derivative_ratio_monotone(
    pieces: Annotated[tuple[tuple[Fraction, Fraction], ...], SlopeLists("pieces with ascending slope ratios")],
    end: Annotated[str, Choices("the end where both functions vanish", ("left", "right"))],
) -> Verdict:
    """If f and g vanish at one end of an interval, g' keeps its sign and f'/g' is non-decreasing, then f/g is
    non-decreasing. (With -f for f: the same for non-increasing.)

    Decided exactly for piecewise linear f and g: between two breakpoints f/g is a Moebius function of the position,
    hence monotone, so that the breakpoints decide. g' > 0, which the signs of both functions leave open.
    """
    return _ratios_ascend(pieces, Fraction(0), end)


def _ratios_ascend(pieces: tuple[tuple[Fraction, Fraction], ...], start: Fraction, end: str = "left") -> Verdict:
    """Decide whether f/g ascends from breakpoint to breakpoint, f being `start` and g 0 at the given end."""
    sign = 1 if end == "left" else -1
    f, g, ratios = start, Fraction(0), []
    for rise_f, rise_g in pieces[::sign]:
        f, g = f + sign * rise_f, g + sign * rise_g
        ratios.append(f / g)
    for before, after in itertools.pairwise(ratios[::sign]):
        if after < before:
            return Violated(evidence=Evidence.EXACT, detail=f"f/g falls from {before} to {after}")
    return Holds(evidence=Evidence.EXACT)


@statement(LEBENSOLD_2024, "lhopital_monotone_rule")
def ratio_monotone_of_derivative_ratio_monotone_by_proof() -> Verdict:
    """(f/g)' = (g'/g) (f'/g' - f/g); by Cauchy's mean value theorem f/g(x) is f'/g'(xi), or a limit of such values,
    with xi between x and the end where both vanish. At the left end xi < x and g'/g > 0; at the right end, finite or
    not, xi > x and g'/g < 0: the product is not negative either way. Where f'/g' falls, take -f for f.
    """
    x = sp.Symbol("x", real=True)
    f, g = sp.Function("f")(x), sp.Function("g")(x)
    derivative = sp.diff(f / g, x)
    rate = sp.Symbol("rate", positive=True)  # |g'/g|
    here, there, gap = sp.Symbol("here", real=True), sp.Symbol("there", real=True), sp.Symbol("gap", nonnegative=True)
    bracket = here - there  # f'/g'(x) - f'/g'(xi), `gap` apart since f'/g' does not fall
    return proof(
        identity(derivative, g.diff(x) / g * (f.diff(x) / g.diff(x) - f / g), "quotient rule"),
        nonnegative((rate * bracket).subs(here, there + gap), "the sign where both vanish at the left end"),
        nonnegative((-rate * bracket).subs(there, here + gap), "and at the right end"),
        identity(sp.diff(-f / g, x), -derivative, "for a falling quotient, -f for f"),
    )


# --- Lemma 15 -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AtomLists(Domain):
    """Finite distributions on the line: (value, positive weight), weights not normalised."""

    def contains(self, value: Any) -> bool:
        """Whether `value` is a non-empty tuple of atoms with positive weights."""
        return isinstance(value, tuple) and len(value) > 0 and all(weight > 0 for _, weight in value)


Atoms = Annotated[tuple[tuple[Fraction, Fraction], ...], AtomLists("a finite distribution on the line")]
Shift = Annotated[Exact, Reals("a positive shift", Fraction(1, 1000), 20, (1, Fraction(1, 1000)), logarithmic=True)]
Place = Annotated[Exact, Reals("a real number", -12, 12, (0,))]
Step = Annotated[
    Exact, Reals("a step to the right", Fraction(1, 10**6), 10, (Fraction(1, 10**6), 1), logarithmic=True)
]


def _log_mgf(atoms: tuple[tuple[Fraction, Fraction], ...], s: Fraction) -> arb:
    return sum_balls(ball(weight) * ball(s * value).exp() for value, weight in atoms).log()


def _mgf_quotient_exists(shift: int, s: Fraction) -> Verdict:
    """Decide whether E[e^((s+t)Z)] / E[e^(sZ)] is not infinity over itself, for Z ~ Laplace(1)."""
    z = sp.Symbol("z", positive=True)
    rate = sp.Rational(s.numerator, s.denominator)
    halves = [sp.integrate(sp.exp(r * z) * sp.exp(-z) / 2, (z, 0, sp.oo)) for r in (rate + shift, rate)]
    if halves == [sp.oo, sp.oo]:
        detail = f"E[exp({rate + shift} Z)] and E[exp({rate} Z)] are infinite for Z ~ Laplace(1): no quotient"
        return Violated(evidence=Evidence.SYMBOLIC, detail=detail)
    known = all(half == sp.oo or half.is_finite for half in halves)
    return Holds(evidence=Evidence.SYMBOLIC) if known else Undecided(evidence=Evidence.SYMBOLIC)


def _mgf_quotient_ascends_inside(shift: int, s: Fraction) -> Verdict:  # noqa: ARG001  # the witness of the print
    """Laplace(1) has mgf 1/(1 - s^2) on (-1, 1): where both are finite, s and s + t in (-1, 1), the quotient rises."""
    s_, t = sp.symbols("s t", real=True)
    log_derivative = sp.diff(sp.log(1 - s_**2) - sp.log(1 - (s_ + t) ** 2), s_)
    x, y = sp.symbols("x y", real=True)  # x = s + t and y = s
    slope = 2 * x / (1 - x**2)
    gap = slope - slope.subs(x, y)
    weight = 2 * (1 + x * y) / ((1 - x**2) * (1 - y**2))
    p, q = sp.symbols("p q", positive=True)
    inside = {x: (p - 1) / (p + 1), y: (q - 1) / (q + 1)}  # all of (-1, 1)
    return proof(
        identity(log_derivative, slope.subs(x, s_ + t) - slope.subs(x, s_), "logarithmic derivative of the quotient"),
        identity(gap, (x - y) * weight, "x - y = t times a weight"),
        positive(sp.factor(weight.subs(inside)), "which is positive for |x| < 1 and |y| < 1"),
    )


EXPONENTIAL_TAILS_DO_NOT_SUFFICE = Erratum(
    kind="false",
    printed_text=(
        "for tails that decay exponentially the quotient is claimed to be non-decreasing for all real s, but such "
        "a variable has a moment generating function on an interval only"
    ),
    witness={"shift": 1, "s": Fraction(3, 2)},
    printed=_mgf_quotient_exists,
    corrected=_mgf_quotient_ascends_inside,
)


@statement(LEBENSOLD_2024, "mgf_ratio_monotone", errata=(EXPONENTIAL_TAILS_DO_NOT_SUFFICE,), cases=60)
def mgf_ratio_monotone(atoms: Atoms, shift: Shift, s: Place, step: Step) -> Verdict:
    """E[e^((t+s)Z)] / E[e^(sZ)] is non-decreasing in s for t > 0, on the set where both expectations are finite.

    The print asks for exponentially decaying tails and claims it on the whole line, where the expectations may be
    infinite. In its only use the density is at most a Gaussian times a constant, so that all are finite.
    """
    t, a, b = exact("shift", shift), exact("s", s), exact("s", s) + exact("step", step)

    def quotient(at: Fraction) -> arb:  # not its logarithm, which may be 0: a relative slack is none there
        return (_log_mgf(atoms, at + t) - _log_mgf(atoms, at)).exp()

    return at_most(lambda: quotient(a), lambda: quotient(b), slack=ATTAINED).with_(tightness=None)


def covariance_form_steps() -> list[Verdict]:
    """Prove that Cov(Z, h(Z)) >= 0 for h(z) = e^(tz), t > 0: the form whose positivity Lemmas 15 and 16 need."""
    z, z2 = sp.symbols("z z'", real=True)
    t, d = sp.symbols("t d", positive=True)
    h, h2 = sp.exp(t * z), sp.exp(t * z2)
    kernel = (z - z2) * (h - h2)
    spread = z * h + z2 * h2 - z * h2 - z2 * h  # integrates to 2 (E[Z h] - E[Z] E[h]) under p x p
    return [
        identity(kernel, spread, "the covariance as a double integral"),
        identity(kernel.subs(z, z2 + d), d * sp.exp(t * z2) * (sp.exp(t * d) - 1), "kernel for z = z' + d"),
        identity(kernel.subs(z2, z + d), d * sp.exp(t * z) * (sp.exp(t * d) - 1), "kernel for z' = z + d"),
        # e^u - 1 > 0 for u > 0: it vanishes at 0 and its derivative is positive
        identity((sp.exp(z) - 1).subs(z, 0), 0, "e^u - 1 vanishes at 0"),
        positive(sp.diff(sp.exp(z) - 1, z), "and increases"),
    ]


@statement(LEBENSOLD_2024, "mgf_ratio_monotone")
def mgf_ratio_monotone_by_proof() -> Verdict:
    """With K the cumulant generating function, the logarithmic derivative is K'(s+t) - K'(s); K'' is a variance."""
    s, t = sp.symbols("s t", real=True)
    m = sp.Function("M")
    log_ratio = sp.log(m(s + t)) - sp.log(m(s))
    derivative = sp.diff(log_ratio, s)
    shifted = sp.Subs(sp.diff(m(s), s), s, s + t).doit() / m(s + t)
    curvature = sp.diff(sp.log(m(s)), s, 2)
    variance = sp.diff(m(s), s, 2) / m(s) - (sp.diff(m(s), s) / m(s)) ** 2
    z, z2 = sp.symbols("z z'", real=True)
    return proof(
        identity(derivative, shifted - sp.diff(m(s), s) / m(s), "logarithmic derivative of the quotient"),
        identity(curvature, variance, "K'' is E[Z^2] - E[Z]^2 under the tilted law"),
        identity(z**2 + z2**2 - 2 * z * z2, (z - z2) ** 2, "which is half the mean of (Z - Z')^2"),
        nonnegative((z - z2) ** 2, "and is not negative"),
    )


@statement(LEBENSOLD_2024, "exponential_tails")
def mgf_of_laplace_is_finite_inside_its_rates_only() -> Verdict:
    """A variable has tails majorised by exponential decay if F(z) = O(e^(c1 z)) at -inf and 1 - F(z) = O(e^(-c2 z)) at
    +inf. Laplace(1) has them with c1 = c2 = 1, and E[e^(sZ)] = 1/(1 - s^2) for |s| < 1, infinite from |s| = 1 on.
    """
    z, s = sp.symbols("z s", positive=True)
    tail = sp.integrate(sp.exp(-z) / 2, (z, s, sp.oo))
    u = sp.Symbol("u", positive=True)  # s = 1 - u, inside; both halves of the density by symmetry
    right = sp.integrate(sp.exp(-u * z) / 2, (z, 0, sp.oo))
    v = sp.Symbol("v", positive=True)  # 1 + s
    left = sp.integrate(sp.exp(-v * z) / 2, (z, 0, sp.oo))
    boundary = sp.integrate(sp.Rational(1, 2), (z, 0, sp.oo))
    return proof(
        identity(tail, sp.exp(-s) / 2, "1 - F(s) = e^(-s)/2"),
        identity((right + left).subs(v, 2 - u), 1 / (1 - (1 - u) ** 2), "the moment generating function inside"),
        Holds(evidence=Evidence.SYMBOLIC, scope=Scope.ALL, detail="infinite at |s| = 1")
        if boundary == sp.oo
        else Undecided(evidence=Evidence.SYMBOLIC, detail="divergence at |s| = 1 not derived"),
    )


# --- Lemma 16 -----------------------------------------------------------------------------------------------

Offsets = Annotated[
    tuple[tuple[Fraction, Fraction], ...], AtomLists("offsets c_i of the other factors, with their exponents")
]


def _log_race(mean: Fraction, x: Fraction, offsets: tuple[tuple[Fraction, Fraction], ...]) -> arb:
    """Enclose log E[Phi(z - x) prod Phi(z - c_i)^(n_i)] for z normal with the given mean and variance 1."""
    others = (Hurdle.of(1, mean - c, n) for c, n in offsets)
    return GaussianRace(Hurdle.of(1, mean - x), *others).log_expectation()


@statement(LEBENSOLD_2024, "rnm_ratio_monotone")
def noisy_max_ratio_monotone(offsets: Offsets, shift: Shift, x: Place, step: Step) -> Verdict:
    """F(x) = E_{z ~ N(t,1)}[Phi(z - x) prod Phi(z - c_i)] / E_{z ~ N(0,1)}[the same] is non-decreasing in x, t > 0."""
    t, a, b = exact("shift", shift), exact("x", x), exact("x", x) + exact("step", step)
    zero = Fraction(0)
    return at_most(
        lambda: _log_race(t, a, offsets) - _log_race(zero, a, offsets),
        lambda: _log_race(t, b, offsets) - _log_race(zero, b, offsets),
    ).with_(tightness=None)


@statement(LEBENSOLD_2024, "rnm_ratio_monotone")
def noisy_max_ratio_monotone_by_proof() -> Verdict:
    """The steps of the proof of Lemma 16, for every number k of other factors.

    (18): phi(z - t) phi(z - x) is e^(z (x + t)) times a Gaussian factor of z and a constant; so f'/g' is, up to a
    constant, the quotient of Lemma 15 for the density proportional to e^(-z^2) prod Phi(z - c_i), and rises with x;
    f and g vanish as x grows, so that Lemma 14 gives the claim.
    """
    z, t, x = sp.symbols("z t x", real=True)
    phi, cdf = symbolic_normal_pdf, symbolic_normal_cdf
    product = phi(z - t) * phi(z - x)
    split = sp.exp(-(z**2)) * sp.exp(z * (x + t)) * sp.exp(-(t**2 + x**2) / 2) / (2 * sp.pi)
    prefactors = sp.exp(-(t**2 + x**2) / 2) / sp.exp(-(x**2) / 2)
    return proof(
        identity(sp.diff(cdf(z - x), x), -phi(z - x), "d/dx Phi(z - x)"),
        identity(product, split, "(18): the product of the densities"),
        identity(split.subs(t, 0), phi(z) * phi(z - x), "(23): the same without shift"),
        identity(prefactors, sp.exp(-(t**2) / 2), "(24): the constant does not depend on x"),
        identity(sp.limit(cdf(-x), x, sp.oo), 0, "f and g vanish as x grows"),
        covariance_form_steps(),
        ratio_monotone_of_derivative_ratio_monotone_by_proof(),
    )


def _reversed_hazard(u: arb) -> arb:
    return normal_pdf(u) / normal_cdf(u)


@statement(LEBENSOLD_2024, "rnm_ratio_monotone")
def noisy_max_ratio_monotone_on_a_box() -> Verdict:
    """Without other factors F(x) = Phi((t - x)/sqrt 2) / Phi(-x/sqrt 2); its logarithmic derivative, divided by t, is
    positive for all t in [1/4, 2] and x in [-2, 2]: a demonstration of the proof on a box.
    """

    def margin(t: arb, x: arb) -> arb:
        root = arb(2).sqrt()
        return (_reversed_hazard(-x / root) - _reversed_hazard((t - x) / root)) / t

    return prove_on_box(margin, {"t": (Fraction(1, 4), 2), "x": (-2, 2)})


# --- the mechanism's law ------------------------------------------------------------------------------------

Count = Annotated[int, Integers("a number of equal rivals", 1, 10**6, (1, 2), logarithmic=True)]


@statement(LEBENSOLD_2024, "gaussian_rnm")
def equal_answers_win_equally_often(rivals: Count) -> Verdict:
    """With equal answers each of d indices is reported with probability 1/d (an agreement to 60 bits)."""
    log_win = lambda: GaussianRace(Hurdle.of(1, 0, rivals)).log_expectation().exp()
    fair = lambda: ball(Fraction(1, rivals + 1))
    return proof(at_most(log_win, fair, slack=ATTAINED), at_most(fair, log_win, slack=ATTAINED)).with_(tightness=None)


@statement(LEBENSOLD_2024, "gaussian_rnm")
def two_answers_race_in_closed_form(
    lead: Annotated[Exact, Reals("a lead in units of sigma", -1000, 1000, (0, 1000, -1000))],
) -> Verdict:
    """With two answers the first wins with probability Phi((q_1 - q_2)/(sigma sqrt 2)) (an agreement to 60 bits)."""
    race = lambda: GaussianRace(Hurdle.of(1, lead)).log_expectation().exp()
    closed = lambda: normal_cdf(ball(lead) / arb(2).sqrt())
    return proof(at_most(race, closed, slack=ATTAINED), at_most(closed, race, slack=ATTAINED)).with_(tightness=None)
