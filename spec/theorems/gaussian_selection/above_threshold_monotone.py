"""Location of the largest ex-post loss of AboveThreshold.

Chapter after Lebensold, Precup and Balle (2024), Appendix A (Lemma 18 and its closing claim). The paper takes the
location of the supremum from "the same argument" as for noisy max; it needs a second distribution, and thereby a lemma
of its own, on two distributions with a monotone likelihood ratio, which is proved here.
"""

from fractions import Fraction
from typing import Annotated

from flint import arb

from dpassay.lazy import sympy as sp
from dpassay.spec.ball import ATTAINED, Exact, Real, at_most, ball, exact, sum_balls
from dpassay.spec.domains.base import Reals
from dpassay.spec.domains.streams import AnyStreams, ThresholdSetting, last_apart
from dpassay.spec.proof.pins import Pin
from dpassay.spec.proof.steps import Proof, checked, lemma, proof, prose, suppose
from dpassay.spec.proof.symbolic import identity, nonnegative, positive
from dpassay.spec.sources import LEBENSOLD_2024
from dpassay.spec.statement import statement
from dpassay.spec.theorems.gaussian_selection.above_threshold_expost import (
    NEGATIVE_RANGE,
    halting_epsilon,
    worst_halting_pair,
)
from dpassay.spec.theorems.gaussian_selection.monotone_ratios import (
    ratio_monotone_of_derivative_ratio_monotone_by_proof,
)
from dpassay.spec.theorems.gaussian_selection.normal_hazard import normal_cdf_is_log_concave, survival
from dpassay.spec.theorems.gaussian_selection.second_derivations import halting_loss, halts_at
from dpassay.spec.verdict import Verdict, conjunction

__all__ = ["log_enlarged_ratio", "log_tilted_ratio"]

Move = Annotated[
    Exact, Reals("a move of an answer, in widths of the range", Fraction(1, 1000), 10, (1,), logarithmic=True)
]


# --- Lemma 18 and the location of its supremum --------------------------------------------------------------


def log_enlarged_ratio(setting: ThresholdSetting, answers: tuple[tuple[Fraction, int], ...]) -> arb:
    """Enclose the logarithm of Lemma 18's ratio at answers y: every factor enlarged by Delta, over the same without.

    The answers need not lie in the range.
    """
    below, last = last_apart(answers)
    eased = [(answer - setting.step, count) for answer, count in below]
    return setting.log_halts(eased, last + setting.step) - setting.log_halts(below, last)


@statement(
    LEBENSOLD_2024,
    "at_ratio_sup",
    examples=({"stream": worst_halting_pair(NEGATIVE_RANGE, 4)},),
    pins=(
        Pin(
            {"stream": worst_halting_pair(NEGATIVE_RANGE, 4)},
            "chances as differences of survival, integrated over the largest noisy answer",
            both=lambda stream: [halting_loss(stream).exp()] * 2,
        ),
    ),
    cases=20,
)
def above_threshold_ratio_at_most_its_enlargement(stream: AnyStreams) -> Verdict:
    """Pr[M(D) = t]/Pr[M(D') = t] <= E[prod Phi((sigma_X x + rho - y_i + Delta)/sigma_Z) Phi((-sigma_X x - rho +
    y_t + Delta)/sigma_Z)] / E[the same with Delta = 0] at y_i = q_i(D'), which is at most its value at
    y_1 = ... = y_(t-1) = b, y_t = a.

    The paper asks for rho >= 0 and for y_i in [a + Delta, b], y_t in [a, b - Delta]; neither is needed.
    """

    def enlarged() -> arb:  # ratios, not their logarithms: those may be tiny beyond any precision
        return log_enlarged_ratio(stream.setting, stream.right).exp()

    return conjunction([
        at_most(lambda: stream.halting_loss().exp(), enlarged, slack=ATTAINED),
        at_most(enlarged, lambda: halting_epsilon(stream.setting, stream.size).exp(), slack=ATTAINED),
    ])  # fmt: skip


_WIDE_NOISE = ThresholdSetting.of("0 1 1/4 1/2 3/5 4/5")


def _apart(below: Fraction, last: Fraction) -> arb:
    step = _WIDE_NOISE.step
    sides = [halts_at(_WIDE_NOISE, [(below - move, 1)], last + move) for move in (step, Fraction(0))]
    return sides[0] / sides[1]


@statement(
    LEBENSOLD_2024,
    "at_sup_location",
    cases=30,
    pins=(
        Pin(
            {"stream": worst_halting_pair(_WIDE_NOISE, 2), "move": Fraction(1, 4)},
            "chances of halting as differences of survival, with all answers moved against each other",
            smaller=lambda: [_apart(Fraction(1), Fraction(0)), _apart(Fraction(1), Fraction(1, 4))],
            larger=lambda: [_apart(Fraction(5, 4), Fraction(0)), _apart(Fraction(1), Fraction(0))],
        ),
    ),
)
def enlarged_ratio_moves_with_the_answers(stream: AnyStreams, move: Move) -> Verdict:
    """Lemma 18's ratio does not decrease when one of y_1, ..., y_(t-1) rises, and does not increase when y_t rises;
    for every rho, Delta and noise, and all real y. (Compared with a relative slack of 2^-60: it may stand still.)
    """
    setting, rise = stream.setting, exact("move", move) * stream.setting.width
    *below, (last, count) = stream.right
    first, raised_last = [*below, (last, count - 1)], last + rise
    raised = [(first[0][0] + rise, first[0][1]), *first[1:]]
    return conjunction([
        at_most(_ratio(setting, first, last), _ratio(setting, raised, last), slack=ATTAINED),
        at_most(_ratio(setting, first, raised_last), _ratio(setting, first, last), slack=ATTAINED),
    ]).without_tightness()  # fmt: skip


def _ratio(setting: ThresholdSetting, below: list[tuple[Fraction, int]], last: Fraction) -> Real:
    return lambda: log_enlarged_ratio(setting, (*below, (last, 1))).exp()


@statement(LEBENSOLD_2024, "at_sup_location")
def enlarged_ratio_is_a_ratio_of_tilted_means() -> Proof:
    """Proof of the location. By Lemma 14 the ratio moves as the quotient of its derivatives in y. With x shifted by
    Delta/sigma_X, the enlarged Gaussian factor phi((sigma_X x + rho - y + Delta)/sigma_Z) is the other one; y enters
    it through e^(y sigma_X x/sigma_Z^2) up to factors free of x or of y; the density of x gains a tilt
    e^(x Delta/sigma_X), and the last factor keeps 2 Delta. Lemma 16+ then applies with p1/p0 = Phi(u + 2 Delta/
    sigma_Z)/Phi(u), which rises as u falls (log-concavity of Phi), as it does with x. Reflected, w = -x, the same
    holds for y_t, with the roles of the factors exchanged and the tilt reversed. Numerator and denominator vanish
    where y grows, y_t falls.
    """
    x, y, rho, other = sp.symbols("x y rho other", real=True)
    step, noise, scale = sp.symbols("Delta sigma_X sigma_Z", positive=True)
    shifted = x - step / noise
    below = (noise * x + rho - y) / scale
    above = (-noise * x - rho + y) / scale
    mirrored_below, mirrored_above = below.subs(x, -x), above.subs(x, -x)
    return proof(
        checked(
            "shift",
            "With x shifted by Delta/sigma_X the enlarged factor below is the other one.",
            identity,
            (noise * shifted + rho - y + step) / scale,
            below,
        ),
        checked(
            "last factor",
            "The shift leaves 2 Delta in the last factor.",
            identity,
            (-noise * shifted - rho + other + step) / scale,
            (-noise * x - rho + other) / scale + 2 * step / scale,
        ),
        checked(
            "tilt",
            "y enters the Gaussian factor through e^(y sigma_X x/sigma_Z^2), up to factors free of x or of y.",
            identity,
            sp.diff(-(below**2) / 2, x, y),
            noise / scale**2,
        ),
        checked(
            "density",
            "The density of x gains the tilt e^(x Delta/sigma_X).",
            identity,
            sp.diff(-(shifted**2) / 2 + x**2 / 2, x),
            step / noise,
        ),
        checked("last argument", "The last factor's argument falls in x.", positive, -sp.diff(above, x)),
        checked(
            "reflected shift",
            "Reflected, w = -x, the shift undoes the enlargement of the last factor.",
            identity,
            mirrored_above.subs(x, shifted) + step / scale,
            mirrored_above,
        ),
        checked(
            "reflected factors",
            "It leaves 2 Delta in the others.",
            identity,
            mirrored_below.subs(x, shifted) + step / scale,
            mirrored_below + 2 * step / scale,
        ),
        checked(
            "reflected tilt",
            "y_t enters through e^(-y sigma_X w/sigma_Z^2).",
            identity,
            sp.diff(-(mirrored_above**2) / 2, x, y),
            -noise / scale**2,
        ),
        checked(
            "reflected arguments", "The other factors' arguments fall in w.", positive, -sp.diff(mirrored_below, x)
        ),
        lemma("log-concavity", "Phi(u + h)/Phi(u) falls in u for h > 0.", normal_cdf_is_log_concave),
        lemma("Lemma 16+", "With a rising likelihood ratio the tilted means are ordered.", tilted_means_are_ordered),
        prose(
            "quotient below",
            "In y_i the quotient of the derivatives is a ratio of transforms of Lemma 16+: p1/p0 = Phi(u + 2 "
            "Delta/sigma_Z)/"
            "Phi(u) in the last factor, which rises with x. So it is monotone in y_i.",
            given=["shift", "last factor", "tilt", "density", "last argument", "log-concavity", "Lemma 16+"],
        ),
        prose(
            "quotient last",
            "In y_t it is so after the reflection, with the roles of the factors exchanged and the tilt reversed.",
            given=[
                "reflected shift",
                "reflected factors",
                "reflected tilt",
                "density",
                "reflected arguments",
                "log-concavity",
                "Lemma 16+",
            ],
        ),
        checked("a factor below", "Its argument falls linearly as its answer grows.", positive, -sp.diff(below, y)),
        checked("the last factor", "Its argument falls as its answer falls.", positive, sp.diff(above, y)),
        checked("limit", "Phi vanishes at minus infinity.", identity, sp.limit(survival(x), x, sp.oo), 0),
        prose(
            "ends",
            "Numerator and denominator vanish where y_i grows, and where y_t falls.",
            given=["a factor below", "the last factor", "limit"],
        ),
        lemma(
            "Lemma 14",
            "If f'/g' is monotone and f and g vanish at an end, f/g is monotone.",
            ratio_monotone_of_derivative_ratio_monotone_by_proof,
        ),
        prose(
            "location",
            "The ratio is monotone in every y: its supremum is at y_1 = ... = y_(t-1) = b, y_t = a.",
            given=["quotient below", "quotient last", "ends", "Lemma 14"],
        ),
    )


# --- Lemma 16+ ----------------------------------------------------------------------------------------------

Weight = Annotated[Exact, Reals("a weight relative to the first", Fraction(1, 1000), 1000, (1,), logarithmic=True)]
Growth = Annotated[Exact, Reals("growth of the likelihood ratio between atoms", 0, 100, (0, 1))]
Gap = Annotated[Exact, Reals("a distance of atoms", Fraction(1, 100), 10, (1,), logarithmic=True)]
Tilt = Annotated[Exact, Reals("a tilt", -20, 20, (0, -20, 20))]
Step = Annotated[Exact, Reals("an increase of a tilt", 0, 10, (0, 1))]


def log_tilted_ratio(
    atoms: tuple[Fraction, ...],
    base: tuple[Fraction, ...],
    other: tuple[Fraction, ...],
    tilt: Fraction,
    lead: Fraction,
) -> arb:
    """Enclose log(sum other_j e^((tilt + lead) atom_j)) - log(sum base_j e^(tilt atom_j)).

    Parameters
    ----------
    atoms : tuple of Fraction
        The support, common to both measures.
    base, other : tuple of Fraction
        Weight of each atom.
    tilt : Fraction
        Exponent of the base measure.
    lead : Fraction
        The exponent of the other measure, less the tilt.
    """

    def log_sum(weights: tuple[Fraction, ...], s: Fraction) -> arb:
        return sum_balls(ball(w) * ball(s * z).exp() for z, w in zip(atoms, weights, strict=True)).log()

    return log_sum(other, tilt + lead) - log_sum(base, tilt)


def _weighed(low: int, middle: int, high: int, tilt: Fraction) -> arb:
    return low * (-ball(tilt)).exp() + middle + high * (3 * ball(tilt)).exp()


@statement(
    LEBENSOLD_2024,
    "mlr_ratio_monotone",
    pins=(
        Pin(
            {
                "gap": Fraction(1),
                "middle": Fraction(2),
                "last": Fraction(1),
                "rise": Fraction(1),
                "further": Fraction(2),
                "tilt": Fraction(0),
                "lead": Fraction(1, 2),
                "move": Fraction(1),
            },
            "atoms -1, 0 and 3 with weights 1, 2 and 1 below, 1, 4 and 4 above: tilts 1/2 and 0, 3/2 and 1",
            smaller=lambda: _weighed(1, 4, 4, Fraction(1, 2)) / 4,
            larger=lambda: _weighed(1, 4, 4, Fraction(3, 2)) / _weighed(1, 2, 1, Fraction(1)),
        ),
    ),
)
def tilted_ratio_moves_with_the_tilt(
    *, gap: Gap, middle: Weight, last: Weight, rise: Growth, further: Growth, tilt: Tilt, lead: Step, move: Step
) -> Verdict:
    """If p1/p0 does not decrease and tau >= 0, then s -> E_p1[e^((s + tau) Z)]/E_p0[e^(s Z)] does not decrease:
    here for distributions on three atoms, compared with a relative slack of 2^-60.
    """
    g, base = exact("gap", gap), (Fraction(1), exact("middle", middle), exact("last", last))
    growth = (Fraction(1), 1 + exact("rise", rise), 1 + exact("rise", rise) + exact("further", further))
    atoms, other = (Fraction(-1), g - 1, 3 * g), tuple(w * r for w, r in zip(base, growth, strict=True))
    s, tau = exact("tilt", tilt), exact("lead", lead)
    return at_most(
        lambda: log_tilted_ratio(atoms, base, other, s, tau).exp(),
        lambda: log_tilted_ratio(atoms, base, other, s + exact("move", move), tau).exp(),
        slack=ATTAINED,
    ).without_tightness()


@statement(LEBENSOLD_2024, "mlr_ratio_monotone")
def tilted_means_are_ordered() -> Proof:
    """Proof of Lemma 16+. The derivative of log E_p1[e^((s + tau) Z)] - log E_p0[e^(s Z)] is the mean of the
    distribution ~ p1 e^((s + tau) z) minus that of the distribution ~ p0 e^(s z). The likelihood ratio r of the two
    does not decrease, so that with two independent draws z, z' of the second distribution, E[z r] - E[z] E[r] =
    E[(z - z')(r - r')]/2 >= 0.
    """
    s, tau, first, second = sp.symbols("s tau z z2", real=True)
    w1, w2, r1, r2 = sp.symbols("w1 w2 r1 r2", positive=True)
    apart, growth = sp.symbols("d e", nonnegative=True)
    transform = w1 * r1 * sp.exp((s + tau) * first) + w2 * r2 * sp.exp((s + tau) * second)
    mean = (first * w1 * r1 * sp.exp((s + tau) * first) + second * w2 * r2 * sp.exp((s + tau) * second)) / transform
    product = (first - second) * (r1 - r2)
    return proof(
        suppose("likelihood ratio", "r = p1 e^(tau z)/p0 does not decrease in z: p1/p0 does not, and tau >= 0."),
        checked(
            "log-derivative",
            "The log-derivative of E_p1[e^((s + tau) Z)] in s is the mean of the tilted distribution (two atoms).",
            identity,
            sp.diff(sp.log(transform), s),
            mean,
        ),
        prose(
            "any distribution", "So it is for every distribution whose transform is finite.", given=["log-derivative"]
        ),
        checked(
            "covariance",
            "(z - z')(r - r') is (z r + z' r') - (z r' + z' r), with mean 2 (E[z r] - E[z] E[r]).",
            identity,
            product,
            (first * r1 + second * r2) - (first * r2 + second * r1),
        ),
        checked(
            "z >= z'",
            "It is not negative where z >= z'.",
            nonnegative,
            product.subs({first: second + apart}).subs({r1: r2 + growth}),
            given=["likelihood ratio"],
        ),
        checked(
            "z' >= z",
            "Nor where z' >= z.",
            nonnegative,
            product.subs({second: first + apart}).subs({r2: r1 + growth}),
            given=["likelihood ratio"],
        ),
        prose(
            "ordered means",
            "The derivative of log E_p1[e^((s + tau) Z)] - log E_p0[e^(s Z)] is E[z r]/E[r] - E[z] under p0 tilted "
            "by s, "
            "half the mean of (z - z')(r - r') over E[r], and not negative.",
            given=["any distribution", "covariance", "z >= z'", "z' >= z"],
        ),
    )
