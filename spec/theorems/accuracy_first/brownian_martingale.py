"""The backward martingale of Brownian noise, and the e-values that come of it.

After Rogers, Samorodnitsky, Wu and Ramdas (2023), Section 6. B is a standard Brownian motion watched at falling
times t, u = 1/t is information time, W(u) = u B(1/u). Then

    M(t) = exp(lambda B(t)/t - lambda^2/(2t)) = exp(lambda W(u) - lambda^2 u/2)

is a martingale as t falls. Two derivations stand side by side: the Brownian bridge backwards in time, and independent
increments forwards in information time.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Annotated, Any

from flint import acb, arb

from dpassay.lazy import sympy as sp
from dpassay.spec.ball import Exact, at_most, ball, exact, less_than, normal_cdf
from dpassay.spec.distributions.stopped_brownian import StoppedRun, StoppedRuns, stopped_mean
from dpassay.spec.domains.base import Reals
from dpassay.spec.numerics.smoothing import Entire, exponential
from dpassay.spec.proof.comparisons import agree
from dpassay.spec.proof.figures import Figures
from dpassay.spec.proof.pins import Pin
from dpassay.spec.proof.steps import Proof, all_of, checked, proof, prose, suppose
from dpassay.spec.proof.symbolic import identity
from dpassay.spec.sources import DPASSAY, ROGERS_2023
from dpassay.spec.statement import Erratum, Severity, statement
from dpassay.spec.verdict import Verdict, conjunction

__all__ = ["compensator", "evalue"]

Tilt = Annotated[Exact, Reals("a real rate lambda", -2, 2, (Fraction(1, 2), -1, Fraction(3, 2)))]
Run = Annotated[StoppedRun, StoppedRuns("a run of two looks, stopped on its releases")]
Level = Annotated[Exact, Reals("a level c in (0, 1)", Fraction(1, 50), Fraction(49, 50), (Fraction(1, 2),))]
PositiveTilt = Annotated[Exact, Reals("a positive rate lambda", Fraction(1, 10), 4, (1,))]

LOW_WINDOW = StoppedRun(Fraction(1), Fraction(4), Fraction(3, 10), Fraction(30))
NEAR_ZERO = StoppedRun(Fraction(1, 4), Fraction(1), Fraction(-1), Fraction(1))
NEAR_THE_TRUTH = StoppedRun(Fraction(1), Fraction(4), Fraction(1, 2), Fraction(3, 2), answer=Fraction(1))


def compensator(tilt: Any, precision: Any) -> Any:
    """Return lambda^2 u / 2, the logarithm of the mean of e^(lambda W(u))."""
    return tilt**2 * precision / 2


def evalue(tilt: Fraction) -> Callable[[Fraction], Entire]:
    """Return u -> (w -> exp(lambda w - lambda^2 u / 2)), the e-value of a run that ends at precision u."""
    return lambda precision: exponential(ball(tilt), -ball(compensator(tilt, precision)))


# --- the martingale, symbolically ---------------------------------------------------------------------------


@statement(ROGERS_2023, "backward_brownian_martingale", "multivariate_martingale")
def backward_martingale_by_the_bridge() -> Proof:
    """E[M(s) | B(u), u >= t] = M(t) for s < t: given B(t) = b the value B(s) is normal with mean (s/t) b and variance
    s (t - s)/t (the Brownian bridge), and no earlier release matters; so E[M(t)] = 1.

    In d dimensions and along a unit vector v, <v, B> is such a motion: its variance at t is |v|^2 t. (The published
    Rem 3 conditions M(t) on the later of the two sigma-fields, which knows it.)
    """
    x, b = sp.symbols("x b", real=True)
    tilt = sp.symbols("lambda", real=True)
    s, gap = sp.symbols("s gap", positive=True)
    t = s + gap
    log_value: Callable[[Any, Any], Any] = lambda at, time: tilt * at / time - compensator(tilt, 1 / time)
    mean, variance = s / t * b, s * gap / t
    exponent: Callable[[Any], Any] = lambda centre: -((x - centre) ** 2) / (2 * variance)
    density: Callable[[Any], Any] = lambda centre: sp.exp(exponent(centre)) / sp.sqrt(2 * sp.pi * variance)
    shifted = mean + tilt / s * variance  # e^(lambda x / s) shifts the bridge
    return proof(
        suppose("motion", "B is a Brownian motion: Gaussian, with mean 0 and covariances min(s, t)."),
        checked(
            "uncorrelated",
            "B(s) - (s/t) B(t) is uncorrelated with B(u) for all u >= t.",
            identity,
            s - s / t * t,
            0,
            given=["motion"],
        ),
        checked(
            "variance",
            "Its variance is s (t - s)/t.",
            identity,
            s - 2 * s / t * s + (s / t) ** 2 * t,
            variance,
            given=["motion"],
        ),
        prose(
            "bridge",
            "Given B(u) for all u >= t, B(s) is normal with mean (s/t) B(t) and that variance: uncorrelated Gaussian "
            "variables are independent.",
            given=["uncorrelated", "variance"],
        ),
        checked(
            "mass",
            "The bridge has a density.",
            identity,
            sp.integrate(density(mean), (x, -sp.oo, sp.oo)),
            1,
            given=["bridge"],
        ),
        checked(
            "completed square",
            "M(s) times the density of the bridge is M(t) times a shifted one.",
            identity,
            log_value(x, s) + exponent(mean),
            log_value(b, t) + exponent(shifted),
            given=["mass"],
        ),
        checked(
            "shifted mass",
            "The shifted density integrates to 1: E[M(s) | B(u), u >= t] = M(t).",
            identity,
            sp.integrate(density(shifted), (x, -sp.oo, sp.oo)),
            1,
            given=["completed square"],
        ),
        checked(
            "mean",
            "E[M(t)] = 1.",
            identity,
            sp.integrate(sp.exp(log_value(b, t) - b**2 / (2 * t)) / sp.sqrt(2 * sp.pi * t), (b, -sp.oo, sp.oo)),
            1,
            given=["motion"],
        ),
        all_of("backward martingale", "shifted mass", "mean"),
    )


@statement(ROGERS_2023, "backward_brownian_martingale")
def forward_martingale_in_information_time() -> Proof:
    """W(u) = u B(1/u) is a Brownian motion in u: its covariances are min(u, u'), and the mean of exp(lambda D), D an
    increment over h, is exp(lambda^2 h / 2). So M is a forward martingale in u = 1/t: the second derivation.
    """
    u, h = sp.symbols("u h", positive=True)
    tilt, d = sp.symbols("lambda d", real=True)
    w = sp.symbols("w", real=True)
    covariance = u * (u + h) * (1 / (u + h))  # of u B(1/u) and u' B(1/u'), u < u': the smaller time is 1/u'
    mean = sp.integrate(sp.exp(tilt * d - d**2 / (2 * h)) / sp.sqrt(2 * sp.pi * h), (d, -sp.oo, sp.oo))
    value: Callable[[Any, Any], Any] = lambda at, precision: sp.exp(tilt * at - compensator(tilt, precision))
    return proof(
        suppose("motion", "B is a Brownian motion: Gaussian, with mean 0 and covariances min(s, t)."),
        checked("covariance", "The covariance of W(u) and W(u + h) is u.", identity, covariance, u, given=["motion"]),
        prose(
            "increments",
            "W is a Gaussian process with covariances min(u, u'), so that the increment D over h is N(0, h) and "
            "independent of the past.",
            given=["covariance"],
        ),
        checked("moment", "The mean of e^(lambda D) is e^(lambda^2 h/2).", identity, mean, sp.exp(tilt**2 * h / 2)),
        checked(
            "martingale",
            "E[M(u + h) | W(u) = w] = M(u).",
            identity,
            value(w, u + h) * mean,
            value(w, u),
            given=["increments", "moment"],
        ),
    )


# --- the e-value, stopped -----------------------------------------------------------------------------------


@statement(
    ROGERS_2023,
    "backward_brownian_martingale",
    "analyst_filtration",
    cases=8,
    examples=(
        {"run": LOW_WINDOW, "tilt": Fraction(2)},
        {"run": NEAR_ZERO, "tilt": Fraction(-3, 2)},
        {"run": NEAR_THE_TRUTH, "tilt": Fraction(1, 2)},
    ),
)
def stopped_evalue_has_mean_one(run: Run, tilt: Tilt) -> Verdict:
    """E[M(tau)] = 1 for a stopping time tau that is bounded away from 0 (agreement to 60 bits).

    The second step is integrated at every outcome of the first, without the martingale property. The rule sees the
    release f + B(t); since f is fixed, what it can do is what a rule that sees B(t) can do, with the window moved
    (Rem 2; the strict inequality of its sigma-field is a slip).
    """
    rate = exact("tilt", tilt)
    return agree(lambda: stopped_mean(run, evalue(rate)), lambda: arb(1), "mean of the stopped e-value, and 1")


@statement(
    ROGERS_2023,
    "product_of_stopped_evalues",
    cases=3,
    examples=(
        {"run": LOW_WINDOW, "if_stopped": NEAR_ZERO, "if_not": NEAR_THE_TRUTH, "tilt": Fraction(1)},
        {"run": NEAR_ZERO, "if_stopped": LOW_WINDOW, "if_not": NEAR_THE_TRUTH, "tilt": Fraction(-1)},
    ),
)
def product_of_stopped_evalues_is_martingale(run: Run, if_stopped: Run, if_not: Run, tilt: Tilt) -> Verdict:
    """For independent runs, the second one (times, rule, query) chosen from the outcome of the first, and with the
    same lambda in both, the product of the stopped e-values has mean 1: E_n = prod M_i(tau_i) is a forward martingale.
    """
    rate = exact("tilt", tilt)

    def with_factor(precision: Fraction) -> Entire:
        second = if_stopped if precision == run.first else if_not
        return evalue(rate)(precision).times(stopped_mean(second, evalue(rate)))

    return agree(lambda: stopped_mean(run, with_factor), lambda: arb(1), "mean of the product, and 1")


@statement(
    DPASSAY,
    "loss of mass",
    examples=({"level": Fraction(1, 2), "tilt": Fraction(1)},),
    also=(("rogers2023", "backward_brownian_martingale"),),
    pins=(
        Pin(
            {"level": Fraction(1, 2), "tilt": Fraction(1)},
            "all paths have stopped, and the stopped value is c",
            smaller=lambda: [None, Fraction(1, 2)],
            larger=lambda: [Fraction(1, 2**60), 1],
        ),
    ),
)
def unbounded_stopping_loses_mass(level: Level, tilt: PositiveTilt) -> Verdict:
    """For an unbounded tau the mean may lie below 1: stop when M <= c < 1. That happens surely, so the stopped value
    has mean c; at a finite horizon the missing 1 - c still sits on the paths that have not stopped.

    By the distribution of first passage of Bachelier and Levy, for log M with drift -lambda^2/2, and with drift
    +lambda^2/2 after the change of measure by M: E[M(tau); tau <= u] = P_lambda(tau <= u) must be c P(tau <= u).
    """
    c, rate = exact("level", level), exact("tilt", tilt)
    horizon = 4000 * max(Fraction(1), 1 / rate**2)

    def passage(drift: int) -> arb:
        """Probability that a + drift lambda^2 u/2 + lambda W(u) falls to 0 before the horizon, a = log(1/c)."""
        depth, scale = -ball(c).log(), ball(rate) * ball(horizon).sqrt()
        speed = drift * ball(compensator(rate, Fraction(1)))
        mean, mirrored = speed * ball(horizon), (-2 * speed * depth / ball(rate) ** 2).exp()
        return normal_cdf((-depth - mean) / scale) + mirrored * normal_cdf((-depth + mean) / scale)

    return conjunction([
        agree(lambda: passage(1), lambda: ball(c) * passage(-1), "mass of the stopped paths, two ways"),
        at_most(lambda: 1 - passage(-1), lambda: arb(2) ** -60).without_tightness(),
        less_than(lambda: passage(1), lambda: arb(1)).without_tightness(),
    ])  # fmt: skip


# --- Rem 3 --------------------------------------------------------------------------------------------------


def conditional_value(tilt: Fraction, time: Fraction, motion: Fraction) -> Fraction:
    """Return log E[M(t) | B(s) for all s >= r], r <= t: the value of log M(t) itself, which is known."""
    value: Fraction = tilt * motion / time - compensator(tilt, 1 / time)
    return value


def _mean_along_a_direction(tilt: Fraction, time: Fraction, motion: Fraction) -> Verdict:  # noqa: ARG001  # averaged
    unit = {"first": Fraction(3, 5), "second": Fraction(4, 5)}
    return evalue_along_a_direction_has_mean_one(**unit, tilt=tilt, time=time)


CONDITIONING_REVERSED = Erratum(
    kind="false",
    severity=Severity.MINOR,
    location="Section 6.1, Remark 3, the two displays of conditional means",
    printed_text="Rem 3 bounds E[M(t) | G(s)] by 1 for s < t; G(s) contains B(t), so that it is M(t) "
    "itself. The intended claim is E[M(s) | G(t)] = M(t), or E[M(t)] = 1.",
    answer="s and t are exchanged; only the unconditional mean is used.",
    witness={"tilt": Fraction(1), "time": Fraction(1), "motion": Fraction(1)},
    printed=lambda tilt, time, motion: at_most(
        lambda: ball(conditional_value(tilt, time, motion)).exp(), lambda: arb(1)
    ),
    corrected=_mean_along_a_direction,
    figures=Figures(published=("1.649 > 1.000",), corrected=("1.000 = 1.000",)),
    item="multivariate_martingale",
)

Coordinate = Annotated[Exact, Reals("a coordinate of a direction", -2, 2, (Fraction(3, 5), Fraction(4, 5), 0))]
Time = Annotated[Exact, Reals("a time", Fraction(1, 20), 20, (1, Fraction(1, 4)), logarithmic=True)]


@statement(ROGERS_2023, "multivariate_martingale", errata=(CONDITIONING_REVERSED,), cases=20)
def evalue_along_a_direction_has_mean_one(first: Coordinate, second: Coordinate, tilt: Tilt, time: Time) -> Verdict:
    """For a planar Brownian motion and a vector v, E[exp(lambda <v, B(t)>/t - lambda^2 |v|^2/(2t))] = 1: coordinate by
    coordinate, by quadrature; with |v| = 1 it is the e-value of Rem 3 (agreement to 60 bits).
    """
    rate, t = exact("tilt", tilt), exact("time", time)
    v = exact("first", first), exact("second", second)
    zero = arb(0)

    def mean() -> arb:
        product = arb(1)
        for x in v:  # one coordinate of W(u) = u B(1/u), with variance u
            product = product * arb(exponential(ball(rate * x), zero).smoothed(ball(1 / t)).value(acb(0)).real)
        return product * (-ball(compensator(rate, (v[0] ** 2 + v[1] ** 2) / t))).exp()

    return agree(mean, lambda: arb(1), "mean along a direction, and 1")
