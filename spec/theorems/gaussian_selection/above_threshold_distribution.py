"""AboveThreshold with Gaussian noise: its exact distribution, and how long it runs.

Chapter after Lebensold, Precup and Balle (2024), Alg 1 = Alg 3 and Section 3.2. The threshold rho receives noise
of standard deviation sigma_X once, each answer fresh noise of standard deviation sigma_Z; the mechanism halts at
the first noisy answer that reaches the noisy threshold. On a finite stream it may never halt, an outcome that
the paper does not treat although every experiment can end in it.
"""

from fractions import Fraction
from typing import Annotated

from flint import arb

from dpassay.spec.ball import ATTAINED, Exact, Real, at_least, at_most, ball, exact, normal_cdf, sum_balls
from dpassay.spec.domains.answers import Block
from dpassay.spec.domains.base import Integers, Reals
from dpassay.spec.domains.streams import AnyStreams, NeighbouringStreams, StreamPairs, ThresholdSetting
from dpassay.spec.proof.pins import Pin
from dpassay.spec.sources import LEBENSOLD_2024
from dpassay.spec.statement import statement
from dpassay.spec.theorems.gaussian_selection.second_derivations import never_halts
from dpassay.spec.verdict import Verdict, conjunction

__all__ = ["log_survival_of_constant_stream"]

Short = Annotated[NeighbouringStreams, StreamPairs("a pair of streams of at most 5 queries", 5)]


_SHORT = NeighbouringStreams(
    ThresholdSetting.of("0 1 1/2 1/2 3/5 4/5"),
    (Block(Fraction(1, 3), Fraction(1, 2)), Block(Fraction(1), Fraction(1, 2))),
)


@statement(
    LEBENSOLD_2024,
    "gaussian_above_threshold",
    cases=25,
    pins=(
        Pin(
            {"stream": _SHORT},
            "a sum of 1; the first answer in closed form",
            both=lambda: [1, 1, *[normal_cdf(-ball(1) / 6)] * 4],
        ),
    ),
)
def above_threshold_distribution_is_a_distribution(stream: Short) -> Verdict:
    """The probabilities of halting at t = 1, ..., k,

        Pr[M(D) = t] = E_x[prod_(i<t) Phi((sigma_X x + rho - q_i)/sigma_Z) Phi((-sigma_X x - rho + q_t)/sigma_Z)],

    and of never halting, E_x[prod_(i<=k) Phi((sigma_X x + rho - q_i)/sigma_Z)], sum to 1; they are unchanged when
    range and threshold are shifted, and when all are scaled; and Pr[M(D) = 1] = Phi((q_1 - rho)/s) with
    s^2 = sigma_X^2 + sigma_Z^2. (Equalities: agreement to 60 bits.)
    """
    setting, (distribution, _) = stream.setting, stream.distributions()
    answers = [answer for answer, count in stream.left for _ in range(count)]
    shift, scale = Fraction(-17, 3), Fraction(5, 7)
    moved = setting.shifted(shift).scaled(scale).distribution(scale * (answer + shift) for answer in answers)
    middle = (len(answers) + 1) // 2
    return conjunction([
        *_agree(lambda: sum_balls(distribution.log_probability(o).exp() for o in distribution.outcomes), lambda:
        arb(1)), *_agree(lambda: distribution.log_probability(middle).exp(), lambda:
        moved.log_probability(middle).exp()), *_agree(lambda: distribution.log_probability(1).exp(), lambda:
        _first_chance(setting, answers[0])),
    ])  # fmt: skip


def _agree(left: Real, right: Real) -> tuple[Verdict, Verdict]:
    return at_most(left, right, slack=ATTAINED).without_tightness(), at_least(left, right, slack=ATTAINED)


def _first_chance(setting: ThresholdSetting, answer: Fraction) -> arb:
    """Enclose Phi((q_1 - rho)/s): the closed form of the integral of the distribution."""
    spread = ball(setting.sigma_threshold**2 + setting.sigma_query**2).sqrt()
    return normal_cdf(ball(answer - setting.threshold) / spread)


Noise = Annotated[
    Exact, Reals("sigma_Z / sigma_X", Fraction(1, 1000), 1000, (1, Fraction(1, 20), 20), logarithmic=True)
]
Time = Annotated[int, Integers("a time", 1, 10**6, (1, 2, 100), logarithmic=True)]


@statement(
    LEBENSOLD_2024,
    "gaussian_above_threshold",
    cases=20,
    pins=(
        Pin(
            {"time": 3, "noise": Fraction(2)},
            "one of four equal noises; the angle between sqrt(24) and 1",
            both=lambda: [*[Fraction(1, 4)] * 2, *[(1 + 2 * (1 / arb(24).sqrt()).atan() / arb.pi()) / 4] * 2],
        ),
    ),
)
def stream_at_the_threshold_halts_in_closed_form(time: Time, noise: Noise) -> Verdict:
    """On answers that all equal rho: with sigma_X = sigma_Z, the threshold's noise is one of t + 1 equal ones and
    Pr[T > t] = 1/(t + 1); in general, Pr[T > 2] = 1/4 + arcsin(sigma_X^2/(sigma_X^2 + sigma_Z^2))/(2 pi). (Equalities:
    agreement to 60 bits.)
    """
    ratio = exact("noise", noise)
    zero, one, correlation = Fraction(0), Fraction(1), 1 / (1 + ratio**2)
    equal, general = (ThresholdSetting(zero, one, one, zero, one, scale) for scale in (one, ratio))
    return conjunction([
        *_agree(lambda: equal.log_halts([(zero, time)], None).exp(), lambda: ball(Fraction(1, time + 1))),
        *_agree(
            lambda: general.log_halts([(zero, 2)], None).exp(),
            lambda: ball(Fraction(1, 4)) + ball(correlation).asin() / (2 * arb.pi()),
        ),
    ])  # fmt: skip


def log_survival_of_constant_stream(setting: ThresholdSetting, answer: Fraction, size: int) -> arb:
    """Enclose log Pr[T > size] on the stream whose answers are all equal to `answer`."""
    return setting.log_halts([(answer, size)], None)


NEGATIVE_ANSWERS = NeighbouringStreams(
    ThresholdSetting.of("-1 1 1/10 1/2 3/20 13/50"),
    (Block(Fraction(-1), Fraction(-9, 10), 3),),
)


@statement(
    LEBENSOLD_2024,
    "at_stopping_time_worst_case",
    examples=({"stream": NEGATIVE_ANSWERS},),
    pins=(
        Pin(
            {"stream": NEGATIVE_ANSWERS},
            "survival, integrated over the largest noisy answer",
            both=lambda: never_halts(NEGATIVE_ANSWERS.setting, [(Fraction(-1), 3)]),
        ),
    ),
)
def lowest_stream_runs_longest(stream: AnyStreams) -> Verdict:
    """The halting time T is stochastically largest on the stream of answers that are all a: Pr[T > n] is at most
    its value there. (Given the noise of the threshold, each step passes with a probability that grows with the
    answer.) The paper says so of non-negative answers, for which a = 0.
    """
    setting = stream.setting
    return at_most(
        lambda: setting.log_halts(stream.left, None).exp(),
        lambda: log_survival_of_constant_stream(setting, setting.low, stream.size).exp(),
        slack=ATTAINED,
    )
