r"""Renyi privacy of AboveThreshold with Gaussian noise, also on infinite streams.

Chapter after Zhu and Wang (2020) as restated by Lebensold, Precup and Balle (2024), Thms 6 and 7. With
w = Delta/sigma_X, k = sigma_Z/sigma_X, r = (rho - a)/sigma_X and v(x) = (x + r)/k:

- Thm 6 (general): alpha w^2 gamma/(2 (gamma - 1)) + 2 alpha w^2/k^2 + log(E[E[T|x]^gamma])/(gamma (alpha - 1));
- Thm 7 (closed form), for r >= 0 and k >= sqrt(3);
- Thm 7+ (direct, new): alpha w^2/2 + log(E[V(x)])/(alpha - 1) with x normal of mean m = (alpha - 1) w and
  V = (Phi(-v)/Phi(-v - s))^(alpha - 1), s = 2 w/k; no condition on k, no factor E[T|x] and no Hoelder step.

Proof of Thm 7+. Condition on the noise x of the threshold and shift it by w on the second data set: every answer
that stays below is then at most as likely to do so, and the one that passes is off by 2 Delta at most. By joint
convexity of (P, Q) -> P^alpha Q^(1-alpha), exp((alpha - 1) D_alpha) is at most the integral of
p(x)^alpha p(x + w)^(1-alpha) times sum_t F_t Phi(-v_t) V(v_t), where F_t is the chance that t - 1 answers stay
below, v_t <= v(x), and V rises in v because the normal hazard does. The sum of F_t Phi(-v_t) telescopes to 1, never
halting included. Completing the square leaves the normal density of mean m and the factor e^(alpha (alpha-1) w^2/2).

That Thm 7+ implies Thm 7 is proved in `renyi_scalar_inequality`.
"""

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Annotated

from flint import acb, arb, ctx

from dpassay.lazy import sympy as sp
from dpassay.spec.ball import Exact, at_least, at_most, ball, exact, log_normal_sf, max_balls, precision, sum_balls
from dpassay.spec.distributions.discrete import renyi_divergence
from dpassay.spec.domains.answers import Block
from dpassay.spec.domains.base import Reals
from dpassay.spec.domains.streams import NeighbouringStreams, StreamPairs, ThresholdSetting
from dpassay.spec.numerics.adaptive_quadrature import complex_normal_cdf, normal_mean
from dpassay.spec.numerics.complex_normal import log_complex_normal_sf, log_complex_normal_sf_fall
from dpassay.spec.numerics.convex_quadrature import CELL_BITS, ConvexExponent, log_normal_mean
from dpassay.spec.proof.pins import Pin
from dpassay.spec.proof.steps import Proof, checked, lemma, proof, prose
from dpassay.spec.proof.symbolic import identity
from dpassay.spec.sources import LEBENSOLD_2024
from dpassay.spec.statement import statement
from dpassay.spec.theorems.gaussian_selection.normal_hazard import (
    hazard,
    normal_hazard,
    normal_hazard_slope_between_0_and_1,
    survival,
)
from dpassay.spec.theorems.gaussian_selection.second_renyi import (
    log_direct_moment,
    log_moment_of_worst_time,
    stream_divergence,
)
from dpassay.spec.verdict import Verdict

__all__ = ["log_stopping_moment", "rdp_direct", "rdp_general", "rdp_general_of_stream", "rdp_nonneg"]

Short = Annotated[NeighbouringStreams, StreamPairs("a pair of streams of at most 24 queries", 24)]
ShortAbove = Annotated[
    NeighbouringStreams,
    StreamPairs(
        "a pair of streams of at most 24 queries, rho >= a, sigma_Z >= sqrt(3) sigma_X", 24, non_negative=True
    ),
]
Order = Annotated[
    Exact, Reals("a Renyi order", Fraction(101, 100), 1000, (2, 4, Fraction(101, 100)), logarithmic=True)
]
Hoelder = Annotated[Exact, Reals("the position of gamma between 1 and k^2", Fraction(1, 100), Fraction(3, 4))]

Gamma = Annotated[Exact, Reals("Hoelder's exponent gamma", Fraction(101, 100), 8, (2,))]
FarLead = Annotated[
    Exact, Reals("rho / sigma_X, from 0.3553 on", Fraction(3553, 10**4), 20, (Fraction(3553, 10**4), 2))
]


# --- the bounds, in nats ------------------------------------------------------------------------------------


def rdp_direct(setting: ThresholdSetting, alpha: Exact) -> arb:
    """Enclose Thm 7+'s bound on the Renyi divergence of order alpha > 1; any threshold, any noise."""
    order, w, ratio, lead = exact("alpha", alpha), _step(setting), _ratio(setting), _lead(setting)
    power, reach, bits = order - 1, _reach(), _accurate_bits()
    m, steepest = power * w, 2 * power * w / ratio**2  # the hazard's slope is below 1
    window = m - reach, m + steepest + reach
    largest = (window[1] + abs(lead) + 2 * w) / ratio
    with precision(ctx.prec + 4 * math.ceil(math.log2(2 + largest))):  # log Phi spends them before its point
        exponent = _direct_exponent(ball(power), ball(1 / ratio), ball(lead / ratio), ball(2 * w / ratio))
        mean = log_normal_mean(exponent, ball(m), (ball(window[0]), ball(window[1])), bits)
    return ball(order * w * w / 2) + mean / ball(power)


def _direct_exponent(power: arb, slope: arb, lead: arb, s: arb) -> ConvexExponent:
    """Return log V(x) = power (log Phi(-v) - log Phi(-v - s)), v = slope x + lead; convex, since the hazard is."""

    def value(x: arb) -> arb:
        v = slope * x + lead
        return power * (log_normal_sf(v) - log_normal_sf(v + s))

    def rise(x: arb) -> arb:
        v = slope * x + lead
        return power * slope * (normal_hazard(v + s) - normal_hazard(v))

    def continued(x: acb, analytic: bool) -> acb:
        return power * log_complex_normal_sf_fall(slope * x + lead, s, analytic)

    return ConvexExponent(value, rise, lambda _: power * slope * s, arb(0), continued)


def log_stopping_moment(gamma: arb, slope: arb, lead: arb) -> arb:
    """Enclose log E_x[Phi(-v(x))^(-gamma)], v(x) = slope x + lead: E_x[E[T|x]^gamma] if all answers are a.

    Parameters
    ----------
    gamma : arb
        At least 1.
    slope : arb
        sigma_X/sigma_Z; the moment is finite if gamma slope^2 < 1.
    lead : arb
        (rho - a)/sigma_Z.
    """
    curvature = gamma * slope * slope  # bounds the second derivative, since the hazard's slope is below 1
    remaining = 1 - curvature

    def rise(x: arb) -> arb:
        return gamma * slope * normal_hazard(slope * x + lead)

    def continued(x: acb, analytic: bool) -> acb:
        return -gamma * log_complex_normal_sf(slope * x + lead, analytic)

    exponent = ConvexExponent(lambda x: -gamma * log_normal_sf(slope * x + lead), rise, rise, curvature, continued)
    peak = (gamma * slope * lead / remaining).max(arb(0))
    reach = _reach()
    return log_normal_mean(exponent, arb(0), (ball(-reach), peak + reach / remaining.sqrt()), _accurate_bits())


def rdp_general(setting: ThresholdSetting, alpha: Exact, gamma: Exact) -> arb:
    """Enclose Thm 6's bound, with the moment of the stopping time on the stream of answers that are all a.

    gamma > 1; finite for gamma sigma_X^2 < sigma_Z^2.
    """
    order, power, ratio = exact("alpha", alpha), exact("gamma", gamma), _ratio(setting)
    moment = log_stopping_moment(ball(power), ball(1 / ratio), ball(_lead(setting) / ratio))
    return _by_hoelder(setting, order, power, moment)


def rdp_general_of_stream(stream: NeighbouringStreams, alpha: Exact, gamma: Exact) -> arb:
    """Enclose Thm 6's bound with the moment of the left stream's own stopping time, k + 1 if it never halts.

    gamma > 1; any threshold, any noise.
    """
    order, power = exact("alpha", alpha), exact("gamma", gamma)
    return _by_hoelder(stream.setting, order, power, _log_moment_of_stream(stream, ball(power)))


def _by_hoelder(setting: ThresholdSetting, order: Fraction, power: Fraction, log_moment: arb) -> arb:
    w, ratio = _step(setting), _ratio(setting)
    shifts = order * w * w * power / (2 * (power - 1)) + 2 * order * w * w / ratio**2
    return ball(shifts) + log_moment / ball(power * (order - 1))


def _log_moment_of_stream(stream: NeighbouringStreams, gamma: arb) -> arb:
    """Enclose log E_x[E[T|x]^gamma], E[T|x] = sum_t prod_(i<t) Phi(v_i(x)): at most (k + 1)^gamma."""
    setting = stream.setting
    slope = ball(1 / _ratio(setting))
    offsets = [(ball((setting.threshold - answer) / setting.sigma_query), count) for answer, count in stream.left]

    def mean_time_to_the_power(x: acb) -> acb:
        running, total = acb(1), acb(1)
        for offset, count in offsets:
            stays = complex_normal_cdf(slope * x + offset)
            for _ in range(count):
                running = running * stays
                total = total + running
        if not total.real > 0:
            return acb(arb.nan())  # the power has a branch point where the mean is 0
        return (gamma * total.log()).exp()

    return normal_mean(mean_time_to_the_power, largest=ball(stream.size + 1) ** gamma).log()


def rdp_nonneg(setting: ThresholdSetting, alpha: Exact) -> arb:
    """Enclose Thm 7's bound, the printed one with max(rho - a, 0) for rho: needs sigma_Z >= sqrt(3) sigma_X."""
    order, w, ratio = exact("alpha", alpha), _step(setting), _ratio(setting)
    r = max(_lead(setting), Fraction(0))
    shifts = order * w * w + 2 * order * w * w / ratio**2
    return ball(shifts) + _printed_log_moment(ball(r)) / ball(2 * (order - 1))


def _printed_log_moment(r: arb) -> arb:
    """Enclose log(1 + 2 sqrt(3) pi (1 + 9 r^2) e^(r^2))."""
    squared = r * r
    return squared + ((-squared).exp() + 2 * arb(3).sqrt() * arb.pi() * (1 + 9 * squared)).log()


def _step(setting: ThresholdSetting) -> Fraction:
    return setting.step / setting.sigma_threshold


def _ratio(setting: ThresholdSetting) -> Fraction:
    return setting.sigma_query / setting.sigma_threshold


def _lead(setting: ThresholdSetting) -> Fraction:
    return (setting.threshold - setting.low) / setting.sigma_threshold


def _reach() -> int:
    """Return the number of standard deviations that hold all but 2^-p of a normal distribution, and a little more."""
    return math.isqrt(2 * ctx.prec) + 2


def _accurate_bits() -> int:
    """Return the bits of accuracy of a mean: few at first, which are cheap; all but 96 of them later."""
    return max(CELL_BITS, ctx.prec - 96)


# --- the statements -----------------------------------------------------------------------------------------


def _divergence_at_most(stream: NeighbouringStreams, alpha: Exact, bound: Callable[[], arb]) -> Verdict:
    left, right = stream.distributions()
    order = exact("alpha", alpha)
    orders = (left, right), (right, left)
    return at_most(lambda: max_balls(renyi_divergence(*both, ball(order)) for both in orders), bound)


def _pair(setting: str, *blocks: str) -> NeighbouringStreams:
    return NeighbouringStreams(ThresholdSetting.of(setting), tuple(_block(*block.split()) for block in blocks))


def _own_log_moment(stream: NeighbouringStreams) -> arb:
    """Enclose log E[E[T|x]^2] by races: E[T|x]^2 is the sum of Pr[T > s|x] Pr[T > t|x] over all s and t."""
    answers = [answer for answer, count in stream.left for _ in range(count)]
    pairs = itertools.product(range(len(answers) + 1), repeat=2)
    return sum_balls(_both_last(stream.setting, answers[:s], answers[:t]) for s, t in pairs).log()


def _both_last(setting: ThresholdSetting, first: list[Fraction], second: list[Fraction]) -> arb:
    return setting.log_halts([(answer, 1) for answer in (*first, *second)], None).exp()


def _worst_log_moment() -> arb:
    """Enclose the log-moment of order 2 of the halting time in the pinned setting: slope 1/2, lead 1.1."""
    return log_moment_of_worst_time(arb(1) / 2, ball(Fraction(11, 10)), 2)


def _pinned_printed_moment() -> arb:
    """Enclose log(1 + 2 sqrt(3) pi (1 + 9 r^2) e^(r^2)) at r = 2.2: 2 (1 + 9 r^2) = 89.12."""
    return (1 + ball(Fraction(2228, 25)) * arb(3).sqrt() * arb.pi() * ball(Fraction(121, 25)).exp()).log()


def _block(left: str, right: str, count: str) -> Block:
    return Block(Fraction(left), Fraction(right), int(count))


PINNED = _pair("-1 1 1/5 1/10 1/2 1", "0 1/5 1", "1/5 0 1")
"""alpha w^2 = 4 alpha/25, alpha Delta^2/sigma_Z^2 = alpha/25 and rho - a = 2.2 sigma_X = 1.1 sigma_Z."""

UP_THEN_DOWN = _pair("0 1 1/10 0 3/10 5197/10000", "0 1/10 12", "1/10 0 12")
LOUD = _pair("0 1 1/2 0 1/5 3465/10000", "0 1/2 3", "1/2 0 2")


@statement(
    LEBENSOLD_2024,
    "at_rdp_direct",
    examples=({"stream": UP_THEN_DOWN, "alpha": 10}, {"stream": LOUD, "alpha": 4}),
    pins=(
        Pin(
            {"stream": PINNED, "alpha": 3},
            "the mean by adaptive integration; chances as differences of survival",
            smaller=lambda stream, alpha: max_balls(stream_divergence(s, alpha) for s in (stream, stream.swapped)),
            larger=lambda: ball(Fraction(6, 25)) + log_direct_moment(PINNED.setting, 2) / 2,
        ),
    ),
    cases=12,
)
def direct_rdp_of_above_threshold(stream: Short, alpha: Order) -> Verdict:
    """D_alpha <= alpha w^2/2 + log(E[(Phi(-v(x))/Phi(-v(x) - s))^(alpha - 1)])/(alpha - 1), x normal of mean
    (alpha - 1) w and variance 1, w = Delta/sigma_X, s = 2 Delta/sigma_Z, v(x) = (sigma_X x + rho - a)/sigma_Z; for
    answers >= a, any rho and any noise scales, on finite and on infinite streams.
    """
    return _divergence_at_most(stream, alpha, lambda: rdp_direct(stream.setting, alpha))


@statement(
    LEBENSOLD_2024,
    "at_rdp_general",
    examples=({"stream": UP_THEN_DOWN, "alpha": 10, "share": Fraction(1, 2)},),
    pins=(
        Pin(
            {"stream": PINNED, "alpha": 3, "share": Fraction(1, 3)},  # gamma = 2
            "12/25 and 6/25 for the shifts; the moment by adaptive integration",
            larger=lambda: ball(Fraction(18, 25)) + _worst_log_moment() / 4,
        ),
    ),
    cases=12,
)
def general_rdp_of_above_threshold(stream: ShortAbove, alpha: Order, share: Hoelder) -> Verdict:
    """D_alpha <= alpha w^2 gamma/(2 (gamma - 1)) + 2 alpha w^2/k^2 + log(E_x[E[T|x]^gamma])/(gamma (alpha - 1)) for
    gamma > 1, where E[T|x] <= 1/Phi(-v(x)) for answers >= a; the moment is finite for gamma < k^2.

    Zhu and Wang (2020), cited. (Its derivation gives ((alpha - 1) gamma/(gamma - 1) + 1) w^2/2 for the first term,
    which is smaller.)
    """
    gamma = 1 + (_ratio(stream.setting) ** 2 - 1) * exact("share", share)
    return _divergence_at_most(stream, alpha, lambda: rdp_general(stream.setting, alpha, gamma))


@statement(
    LEBENSOLD_2024,
    "at_rdp_general",
    examples=({"stream": UP_THEN_DOWN, "alpha": 10, "gamma": 2}, {"stream": LOUD, "alpha": 4, "gamma": 2}),
    pins=(
        Pin(
            {"stream": PINNED, "alpha": Fraction(11, 10), "gamma": 2},
            "22/125 and 11/125 for the shifts; the second moment as a sum of races",
            larger=lambda: ball(Fraction(33, 125)) + 5 * _own_log_moment(PINNED),
        ),
        Pin(
            {"stream": PINNED, "alpha": 30, "gamma": 2},
            "24/5 and 12/5 for the shifts; the second moment as a sum of races",
            larger=lambda: ball(Fraction(36, 5)) + _own_log_moment(PINNED) / 58,
        ),
    ),
    cases=12,
)
def general_rdp_with_the_own_stopping_time(stream: Short, alpha: Order, gamma: Gamma) -> Verdict:
    """The same with the moment of the stream's own stopping time (k + 1 if none of its k answers passes), for every
    gamma > 1, any threshold and any noise: the theorem before E[T|x] is bounded.
    """
    return _divergence_at_most(stream, alpha, lambda: rdp_general_of_stream(stream, alpha, gamma))


def _stopping_moment(r: Fraction) -> arb:
    return log_stopping_moment(arb(2), 1 / arb(3).sqrt(), ball(r) / arb(3).sqrt()).exp()


def _printed_moment_bound(r: Fraction) -> Verdict:
    return at_most(lambda: _stopping_moment(r), lambda: _printed_log_moment(ball(r)).exp())


@statement(
    LEBENSOLD_2024,
    "at_rdp_nonneg",
    pins=(
        Pin(
            {"lead": 2},
            "the moment by adaptive integration",
            smaller=lambda: log_moment_of_worst_time(1 / arb(3).sqrt(), 2 / arb(3).sqrt(), 2).exp(),
            larger=lambda: 1 + 74 * arb(3).sqrt() * arb.pi() * arb(4).exp(),
            within=Fraction(1, 10**4),
        ),
    ),
    cases=12,
)
def printed_stopping_moment_bound_from_r_0_3553(lead: FarLead) -> Verdict:
    """A step of the cited proof, E_x[Phi(-(x + r)/sqrt(3))^-2] <= 1 + 2 sqrt(3) pi (1 + 9 r^2) e^(r^2) for x
    standard normal and r = rho/sigma_X, holds for r >= 0.3553 (decided at points).
    """
    return _printed_moment_bound(exact("lead", lead))


NearLead = Annotated[Exact, Reals("rho / sigma_X below 0.3552", 0, Fraction(3552, 10**4), (0, Fraction(1, 5)))]


@statement(
    LEBENSOLD_2024,
    "at_rdp_nonneg",
    cases=12,
    pins=(
        Pin(
            {"lead": 0},
            "1 + 2 sqrt(3) pi; E[Phi(-x/sqrt 3)^-2] by mpmath.quad with 30 digits",
            smaller=lambda: 1 + 2 * arb(3).sqrt() * arb.pi(),
            larger=lambda: Fraction("12.964361602524076181"),
        ),
    ),
)
def cited_stopping_moment_bound_fails_below_r_0_3552(lead: NearLead) -> Verdict:
    """The same step fails for 0 <= r <= 0.3552 (decided at points); Thm 7 does not depend on it.

    It belongs to the proof of Zhu and Wang (2020), which Lebensold, Precup and Balle (2024) cite and do not restate.
    """
    r = exact("lead", lead)
    return at_least(lambda: _stopping_moment(r), lambda: _printed_log_moment(ball(r)).exp())


@statement(
    LEBENSOLD_2024,
    "at_rdp_nonneg",
    examples=({"stream": UP_THEN_DOWN, "alpha": 10}, {"stream": LOUD, "alpha": 4}),
    pins=(
        Pin(
            {"stream": PINNED, "alpha": 3},
            "12/25 and 6/25 for the shifts, r^2 = 4.84",
            larger=lambda: ball(Fraction(18, 25)) + _pinned_printed_moment() / 4,
        ),
    ),
    cases=12,
)
def closed_rdp_of_above_threshold(stream: ShortAbove, alpha: Order) -> Verdict:
    """For sigma_Z >= sqrt(3) sigma_X and answers >= a, D_alpha <= alpha w^2 + 2 alpha Delta^2/sigma_Z^2 +
    log(1 + 2 sqrt(3) pi (1 + 9 r^2) e^(r^2))/(2 (alpha - 1)), r = max(rho - a, 0)/sigma_X.

    Zhu and Wang (2020), cited. True for every rho, though a bound on a moment in the cited proof fails for small r.
    """
    return _divergence_at_most(stream, alpha, lambda: rdp_nonneg(stream.setting, alpha))


@statement(LEBENSOLD_2024, "at_rdp_direct")
def direct_rdp_by_a_shift_of_the_threshold() -> Proof:
    """Steps of Thm 7+'s proof: the shift by Delta leaves an answer that stays below at most as likely on D as on D',
    and the answer that passes within 2 Delta; the densities of the noise combine to a normal one of mean m; each
    term of the sum over t telescopes; V rises where the hazard does.
    """
    x, q, rho = sp.symbols("x q rho", real=True)
    alpha = sp.Symbol("alpha", positive=True)
    step, noise, scale, stay, passes = sp.symbols("Delta sigma_X sigma_Z F p", positive=True)
    w, m = step / noise, (alpha - 1) * step / noise
    v = (noise * x + rho - q) / scale
    shifted = v.subs(x, x + w)
    log_value = (alpha - 1) * (sp.log(survival(x)) - sp.log(survival(x + 2 * step / scale)))
    return proof(
        checked(
            "stays below",
            "Shifted, an answer raised by Delta is where it was: any other is less likely to stay below.",
            identity,
            shifted.subs(q, q + step),
            v,
        ),
        checked(
            "passes",
            "An answer lowered by Delta is 2 Delta off.",
            identity,
            shifted.subs(q, q - step),
            v + 2 * step / scale,
        ),
        checked(
            "densities",
            "p(x)^alpha p(x + w)^(1-alpha) = e^(alpha (alpha-1) w^2/2) times the density of mean m.",
            identity,
            -alpha * x**2 / 2 - (1 - alpha) * (x + w) ** 2 / 2,
            alpha * (alpha - 1) * w**2 / 2 - (x - m) ** 2 / 2,
        ),
        checked(
            "telescope",
            "F_t - F_(t+1) = F_t Phi(-v_t).",
            identity,
            stay - stay * (1 - passes),
            stay * passes,
        ),
        checked(
            "V'",
            "(log V)' is (alpha - 1) (h(x + 2 Delta/sigma_Z) - h(x)).",
            identity,
            sp.diff(log_value, x),
            (alpha - 1) * (hazard(x + 2 * step / scale) - hazard(x)),
        ),
        lemma("hazard", "The normal hazard rises.", normal_hazard_slope_between_0_and_1),
        prose(
            "Thm 7+",
            "Given the threshold's noise, the shift bounds each outcome's ratio; by joint convexity of P^alpha "
            "Q^(1-alpha) "
            "the moment is at most the integral of the densities times sum_t F_t Phi(-v_t) V(v_t). The sum of F_t "
            "Phi(-v_t) telescopes to 1, and V(v_t) <= V(v(x)), as V rises.",
            given=["stays below", "passes", "densities", "telescope", "V'", "hazard"],
        ),
    )
