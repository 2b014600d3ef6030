"""Monotone ratios: the lemmas from which the worst case of noisy max follows.

Lebensold, Precup and Balle (2024), Appendix A: l'Hopital's monotone rule (Lemma 14), the ratio of a moment
generating function to its translate (Lemma 15), and their use for noisy max (Lemma 16). Each lemma is stated
twice: as the steps of its proof, by computer algebra, which reach every parameter; and as a predicate that is
decided at points.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any

from flint import arb

from dpassay.lazy import sympy as sp
from dpassay.spec.ball import ATTAINED, Exact, at_most, ball, exact, normal_cdf, normal_pdf, sum_balls
from dpassay.spec.distributions.gaussian_race import GaussianRace, Hurdle
from dpassay.spec.domains.base import Choices, Domain, Integers, Reals
from dpassay.spec.proof.box import prove_on_box
from dpassay.spec.proof.pins import Pin
from dpassay.spec.proof.rules import at_least_by, nonnegative_from_zero
from dpassay.spec.proof.steps import Proof, all_of, checked, computed, lemma, proof, prose, suppose
from dpassay.spec.proof.steps import Step as ProofStep
from dpassay.spec.proof.symbolic import (
    identity,
    nonnegative,
    positive,
    symbolic_normal_cdf,
    symbolic_normal_pdf,
)
from dpassay.spec.sources import LEBENSOLD_2024
from dpassay.spec.statement import Erratum, Severity, statement
from dpassay.spec.theorems.gaussian_selection.second_derivations import wins
from dpassay.spec.verdict import Evidence, Holds, Scope, Undecided, Verdict, Violated, conjunction

__all__ = ["AtomLists", "SlopeLists"]


# --- Lemma 14 -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SlopeLists(Domain):
    """Pieces (rise of f, rise of g), rise of g positive, in ascending order of their quotient."""

    def contains(self, value: Any) -> bool:
        """Return whether `value` is a non-empty tuple of such pieces."""
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
def ratio_monotone_of_derivative_ratio_monotone_by_proof() -> Proof:
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
        suppose("quotient", "f and g vanish at one end, g' does not vanish, and f'/g' does not fall."),
        checked(
            "quotient rule",
            "(f/g)' = (g'/g) (f'/g' - f/g).",
            identity,
            derivative,
            g.diff(x) / g * (f.diff(x) / g.diff(x) - f / g),
        ),
        prose(
            "mean value",
            "f/g(x) is f'/g'(xi), or a limit of such values, with xi between x and that end (Cauchy's mean value "
            "theorem); "
            "g'/g is positive if it is the left end, and negative if it is the right end.",
            given=["quotient"],
        ),
        checked(
            "left end",
            "With xi < x the product rate (f'/g'(x) - f'/g'(xi)) is not negative.",
            nonnegative,
            (rate * bracket).subs(here, there + gap),
            given=["quotient", "mean value"],
        ),
        checked(
            "right end",
            "With xi > x the product -rate (f'/g'(x) - f'/g'(xi)) is not negative.",
            nonnegative,
            (-rate * bracket).subs(there, here + gap),
            given=["quotient", "mean value"],
        ),
        checked("falling quotient", "(-f/g)' = -(f/g)': take -f for f.", identity, sp.diff(-f / g, x), -derivative),
        prose(
            "monotone ratio",
            "(f/g)' is not negative, and f/g does not fall; where f'/g' falls, -f/g does not fall.",
            given=["quotient rule", "left end", "right end", "falling quotient"],
        ),
    )


# --- Lemma 15 -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AtomLists(Domain):
    """Finite distributions on the line: (value, positive weight), weights not normalised."""

    def contains(self, value: Any) -> bool:
        """Return whether `value` is a non-empty tuple of atoms with positive weights."""
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


def _mgf_quotient_ascends_inside(shift: int, s: Fraction) -> Verdict:  # noqa: ARG001  # the witness of the paper
    """Laplace(1) has mgf 1/(1 - s^2) on (-1, 1): where both are finite, s and s + t in (-1, 1), the quotient rises."""
    s_, t = sp.symbols("s t", real=True)
    log_derivative = sp.diff(sp.log(1 - s_**2) - sp.log(1 - (s_ + t) ** 2), s_)
    x, y = sp.symbols("x y", real=True)  # x = s + t and y = s
    slope = 2 * x / (1 - x**2)
    gap = slope - slope.subs(x, y)
    weight = 2 * (1 + x * y) / ((1 - x**2) * (1 - y**2))
    p, q = sp.symbols("p q", positive=True)
    inside = {x: (p - 1) / (p + 1), y: (q - 1) / (q + 1)}  # all of (-1, 1)
    return conjunction(
        [
            identity(
                log_derivative, slope.subs(x, s_ + t) - slope.subs(x, s_), "logarithmic derivative of the quotient"
            ),
            identity(gap, (x - y) * weight, "x - y = t times a weight"),
            positive(sp.factor(weight.subs(inside)), "which is positive for |x| < 1 and |y| < 1"),
        ]
    )


EXPONENTIAL_TAILS_DO_NOT_SUFFICE = Erratum(
    kind="false",
    severity=Severity.MINOR,
    location="Appendix A.1, Lemma 15 and the definition before it",
    printed_text="for tails that decay exponentially the quotient is claimed to be non-decreasing for all "
    "real s, but such a variable has a moment generating function on an interval only",
    answer="The lemma is applied to a density with Gaussian tails, whose moment generating function is "
    "finite everywhere.",
    witness={"shift": 1, "s": Fraction(3, 2)},
    printed=_mgf_quotient_exists,
    corrected=_mgf_quotient_ascends_inside,
)


@statement(
    LEBENSOLD_2024,
    "mgf_ratio_monotone",
    errata=(EXPONENTIAL_TAILS_DO_NOT_SUFFICE,),
    cases=60,
    pins=(
        Pin(
            {
                "atoms": ((Fraction(0), Fraction(2)), (Fraction(1), Fraction(1))),
                "shift": Fraction(1),
                "s": Fraction(0),
                "step": Fraction(2),
            },
            "2 + e^k for the exponent k: from 0 to 1, and from 2 to 3",
            smaller=lambda: (2 + arb(1).exp()) / 3,
            larger=lambda: (2 + arb(3).exp()) / (2 + arb(2).exp()),
        ),
    ),
)
def mgf_ratio_monotone(atoms: Atoms, shift: Shift, s: Place, step: Step) -> Verdict:
    """E[e^((t+s)Z)] / E[e^(sZ)] is non-decreasing in s for t > 0, on the set where both expectations are finite.

    The paper asks for exponentially decaying tails and claims it on the whole line, where the expectations may be
    infinite. In its only use the density is at most a Gaussian times a constant, so that all are finite.
    """
    t, a, b = exact("shift", shift), exact("s", s), exact("s", s) + exact("step", step)

    def quotient(at: Fraction) -> arb:  # not its logarithm, which may be 0: a relative slack is none there
        return (_log_mgf(atoms, at + t) - _log_mgf(atoms, at)).exp()

    return at_most(lambda: quotient(a), lambda: quotient(b), slack=ATTAINED).without_tightness()


def covariance_form_steps() -> list[ProofStep]:
    """Prove that Cov(Z, h(Z)) >= 0 for h(z) = e^(tz), t > 0; the last step is that."""
    z, z2 = sp.symbols("z z'", real=True)
    t, d = sp.symbols("t d", positive=True)
    h, h2 = sp.exp(t * z), sp.exp(t * z2)
    kernel = (z - z2) * (h - h2)
    spread = z * h + z2 * h2 - z * h2 - z2 * h  # integrates to 2 (E[Z h] - E[Z] E[h]) under p x p
    return [
        checked("spread", "(z - z')(h - h') = z h + z' h' - z h' - z' h.", identity, kernel, spread),
        checked(
            "z above z'",
            "For z = z' + d it is d e^(t z') (e^(t d) - 1).",
            identity,
            kernel.subs(z, z2 + d),
            d * sp.exp(t * z2) * (sp.exp(t * d) - 1),
        ),
        checked(
            "z' above z",
            "For z' = z + d it is d e^(t z) (e^(t d) - 1).",
            identity,
            kernel.subs(z2, z + d),
            d * sp.exp(t * z) * (sp.exp(t * d) - 1),
        ),
        checked("e^d - 1", "e^d >= 1 for d >= 0.", nonnegative_from_zero, sp.exp(d) - 1, d, sp.exp(d)),
        prose(
            "covariance",
            "Cov(Z, h(Z)) is half the mean of (Z - Z')(h - h') over independent Z, Z', and not negative.",
            given=["spread", "z above z'", "z' above z", "e^d - 1"],
        ),
    ]


@statement(LEBENSOLD_2024, "mgf_ratio_monotone")
def mgf_ratio_monotone_by_proof() -> Proof:
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
        suppose("finite", "M = E[e^(s Z)] is finite near s and s + t, t > 0."),
        checked(
            "log-derivative",
            "The logarithmic derivative of M(s + t)/M(s) is K'(s + t) - K'(s).",
            identity,
            derivative,
            shifted - sp.diff(m(s), s) / m(s),
        ),
        checked("K''", "K'' is M''/M - (M'/M)^2.", identity, curvature, variance),
        checked("square", "z^2 + z'^2 - 2 z z' is (z - z')^2.", at_least_by, z**2 + z2**2, 2 * z * z2, (z - z2) ** 2),
        prose(
            "rises",
            "M''/M - (M'/M)^2 is E[Z^2] - E[Z]^2 under the distribution tilted by e^(s z), half the mean of (Z - "
            "Z')^2, and "
            "not negative; so K' does not fall, and the quotient rises.",
            given=["finite", "log-derivative", "K''", "square"],
        ),
    )


def _is_infinite(value: Any, name: str) -> Verdict:
    kind = Holds if value == sp.oo else Undecided
    return kind(evidence=Evidence.SYMBOLIC, scope=Scope.ALL, detail=name)


@statement(LEBENSOLD_2024, "exponential_tails")
def mgf_of_laplace_is_finite_inside_its_rates_only() -> Proof:
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
        checked(
            "tail",
            "1 - F(s) = e^(-s)/2 for s > 0, and F(-s) by symmetry: c1 = c2 = 1.",
            identity,
            tail,
            sp.exp(-s) / 2,
        ),
        checked(
            "inside",
            "E[e^(s Z)] = 1/(1 - s^2) for |s| < 1, s = 1 - u.",
            identity,
            (right + left).subs(v, 2 - u),
            1 / (1 - (1 - u) ** 2),
        ),
        checked("boundary", "At |s| = 1 the half of the mean where s z > 0 is infinite.", _is_infinite, boundary),
        prose("outside", "For |s| > 1 the integrand is larger there: the mean is infinite.", given=["boundary"]),
        all_of("finite inside only", "tail", "inside", "outside"),
    )


# --- Lemma 16 -----------------------------------------------------------------------------------------------

Offsets = Annotated[
    tuple[tuple[Fraction, Fraction], ...], AtomLists("offsets c_i of the other factors, with their exponents")
]


def _log_race(mean: Fraction, x: Fraction, offsets: tuple[tuple[Fraction, Fraction], ...]) -> arb:
    """Enclose log E[Phi(z - x) prod Phi(z - c_i)^(n_i)] for z normal with the given mean and variance 1."""
    others = (Hurdle.of(1, mean - c, n) for c, n in offsets)
    return GaussianRace(Hurdle.of(1, mean - x), *others).log_expectation()


_OFFSETS = ((Fraction(1, 3), 1),)


def _gain_of_a_shift(x: Fraction) -> arb:
    rivals = [(x, 1), *_OFFSETS]
    return wins(Fraction(1), rivals, Fraction(1)).log() - wins(Fraction(0), rivals, Fraction(1)).log()


@statement(
    LEBENSOLD_2024,
    "rnm_ratio_monotone",
    pins=(
        Pin(
            {"offsets": _OFFSETS, "shift": Fraction(1), "x": Fraction(0), "step": Fraction(1, 2)},
            "chances to beat all rivals, integrated over the largest of them",
            smaller=lambda: _gain_of_a_shift(Fraction(0)),
            larger=lambda: _gain_of_a_shift(Fraction(1, 2)),
        ),
    ),
)
def noisy_max_ratio_monotone(offsets: Offsets, shift: Shift, x: Place, step: Step) -> Verdict:
    """F(x) = E_{z ~ N(t,1)}[Phi(z - x) prod Phi(z - c_i)] / E_{z ~ N(0,1)}[the same] is non-decreasing in x, t > 0."""
    t, a, b = exact("shift", shift), exact("x", x), exact("x", x) + exact("step", step)
    zero = Fraction(0)
    return at_most(
        lambda: _log_race(t, a, offsets) - _log_race(zero, a, offsets),
        lambda: _log_race(t, b, offsets) - _log_race(zero, b, offsets),
    ).without_tightness()


@statement(LEBENSOLD_2024, "rnm_ratio_monotone")
def noisy_max_ratio_monotone_by_proof() -> Proof:
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
        checked(
            "derivative of a factor", "d/dx Phi(z - x) = -phi(z - x).", identity, sp.diff(cdf(z - x), x), -phi(z - x)
        ),
        checked(
            "(18)",
            "phi(z - t) phi(z - x) is e^(-z^2) e^(z (x + t)) times a constant.",
            identity,
            product,
            split,
        ),
        checked("(23)", "Without shift it is phi(z) phi(z - x).", identity, split.subs(t, 0), phi(z) * phi(z - x)),
        checked(
            "(24)",
            "The quotient of the constants does not depend on x.",
            identity,
            prefactors,
            sp.exp(-(t**2) / 2),
            given=["(18)", "(23)"],
        ),
        *covariance_form_steps(),
        prose(
            "derivatives",
            "So f'/g' is, up to a constant, E[e^((x+t) Z)]/E[e^(x Z)] for the density proportional to e^(-z^2) prod "
            "Phi(z - "
            "c_i); its log-derivative is the covariance of Z and e^(t Z), over the mean of e^(t Z), under a tilt of "
            "that "
            "density, and not negative.",
            given=["derivative of a factor", "(18)", "(23)", "(24)", "covariance"],
        ),
        checked("end", "f and g vanish as x grows: Phi does.", identity, sp.limit(cdf(-x), x, sp.oo), 0),
        lemma(
            "Lemma 14",
            "If f'/g' rises and f and g vanish at an end, f/g rises.",
            ratio_monotone_of_derivative_ratio_monotone_by_proof,
        ),
        prose(
            "noisy max",
            "f and g tend to 0 by dominated convergence, and Lemma 14 gives the claim.",
            given=["derivatives", "end", "Lemma 14"],
        ),
    )


def _reversed_hazard(u: arb) -> arb:
    return normal_pdf(u) / normal_cdf(u)


@statement(LEBENSOLD_2024, "rnm_ratio_monotone")
def noisy_max_ratio_monotone_on_a_box() -> Proof:
    """Without other factors F(x) = Phi((t - x)/sqrt 2) / Phi(-x/sqrt 2); its logarithmic derivative, divided by t, is
    positive for all t in [1/4, 2] and x in [-2, 2]: a demonstration of the proof on a box.
    """

    def margin(t: arb, x: arb) -> arb:
        root = arb(2).sqrt()
        return (_reversed_hazard(-x / root) - _reversed_hazard((t - x) / root)) / t

    x, t = sp.symbols("x t", real=True)
    ratio = symbolic_normal_cdf((t - x) / sp.sqrt(2)) / symbolic_normal_cdf(-x / sp.sqrt(2))
    reversed_hazard: Callable[[Any], Any] = lambda u: symbolic_normal_pdf(u) / symbolic_normal_cdf(u)
    return proof(
        checked(
            "log-derivative",
            "sqrt(2) (log F)' is the reversed hazard at -x/sqrt 2 minus that at (t - x)/sqrt 2.",
            identity,
            sp.sqrt(2) * sp.diff(sp.log(ratio), x),
            reversed_hazard(-x / sp.sqrt(2)) - reversed_hazard((t - x) / sp.sqrt(2)),
        ),
        computed(
            "positive",
            "Over t it is positive for all t in [1/4, 2] and x in [-2, 2].",
            lambda: prove_on_box(margin, {"t": (Fraction(1, 4), 2), "x": (-2, 2)}),
            given=["log-derivative"],
        ),
    )


# --- the mechanism's distribution ------------------------------------------------------------------------------------

Count = Annotated[int, Integers("a number of equal rivals", 1, 10**6, (1, 2), logarithmic=True)]


@statement(
    LEBENSOLD_2024,
    "gaussian_rnm",
    pins=(Pin({"rivals": 3}, "one of four", both=lambda: [Fraction(1, 4)] * 2),),
)
def equal_answers_win_equally_often(rivals: Count) -> Verdict:
    """With equal answers each of d indices is reported with probability 1/d (an agreement to 60 bits)."""
    log_win = lambda: GaussianRace(Hurdle.of(1, 0, rivals)).log_expectation().exp()
    fair = lambda: ball(Fraction(1, rivals + 1))
    return conjunction(
        [at_most(log_win, fair, slack=ATTAINED), at_most(fair, log_win, slack=ATTAINED)]
    ).without_tightness()


@statement(
    LEBENSOLD_2024,
    "gaussian_rnm",
    pins=(
        Pin(
            {"lead": 1},
            "chances to beat the rival, integrated over it",
            both=lambda: [wins(Fraction(1), [(Fraction(0), 1)], Fraction(1))] * 2,
        ),
    ),
)
def two_answers_race_in_closed_form(
    lead: Annotated[Exact, Reals("a lead in units of sigma", -1000, 1000, (0, 1000, -1000))],
) -> Verdict:
    """With two answers the first wins with probability Phi((q_1 - q_2)/(sigma sqrt 2)) (an agreement to 60 bits)."""
    race = lambda: GaussianRace(Hurdle.of(1, lead)).log_expectation().exp()
    closed = lambda: normal_cdf(ball(lead) / arb(2).sqrt())
    return conjunction(
        [at_most(race, closed, slack=ATTAINED), at_most(closed, race, slack=ATTAINED)]
    ).without_tightness()
