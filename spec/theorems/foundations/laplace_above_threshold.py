"""AboveThreshold with Laplace noise is epsilon-DP, however long the stream.

Chapter after Gaboardi (2017), S7 to S9. The threshold has noise of scale 2 Delta/epsilon, drawn once; every answer has
fresh noise of scale 4 Delta/epsilon; the mechanism halts at the first noisy answer that reaches the noisy threshold.
The slides treat the outcomes at which it halts; that it never does, on a finite stream, costs epsilon/2 only.

The proof fixes the noise of the answers before the last one, and moves the other two. With g the largest of the
earlier noisy answers, the mechanism halts at k if the noisy threshold lies in (g, q_k + nu_k]; the substitution moves
the threshold by at most Delta and the last noise by at most 2 Delta, each for e^(epsilon/2).
"""

import itertools
from fractions import Fraction
from typing import Annotated

from flint import arb

from dpassay.spec.ball import ATTAINED, Exact, Real, at_least, at_most, ball, exact, max_balls, sum_balls
from dpassay.spec.distributions.above_threshold import ALL_BELOW
from dpassay.spec.distributions.laplace_above_threshold import (
    LaplaceAboveThresholdDistribution,
    PublicThresholdDistribution,
)
from dpassay.spec.distributions.noisy_threshold import LaplaceThreshold
from dpassay.spec.domains.answers import Block
from dpassay.spec.domains.base import Integers, Reals
from dpassay.spec.domains.laplace_streams import Answers, NoisyRun, NoisyRuns, ThresholdStream, ThresholdStreams
from dpassay.spec.proof.comparisons import agree
from dpassay.spec.proof.pins import Pin
from dpassay.spec.rational import at_most_exact, equal_exact
from dpassay.spec.sources import GABOARDI_2017
from dpassay.spec.statement import statement
from dpassay.spec.verdict import Verdict, conjunction

__all__ = ["calibrated", "halts_at", "largest_loss"]

Stream = Annotated[ThresholdStream, ThresholdStreams("a pair of streams of answers of neighbouring data sets")]
ShortStream = Annotated[ThresholdStream, ThresholdStreams("a pair of short streams", 8)]
MonotoneStream = Annotated[
    ThresholdStream, ThresholdStreams("a pair of streams whose answers all move the same way", monotone=True)
]
Run = Annotated[NoisyRun, NoisyRuns("a pair of short streams with the noise of one run")]
Epsilon = Annotated[Exact, Reals("a privacy parameter", Fraction(1, 100), 20, (1, Fraction(1, 10)), logarithmic=True)]
Halvings = Annotated[int, Integers("a number of halvings", 1, 40, (1, 10, 40))]
Shift = Annotated[Exact, Reals("a shift", -(10**6), 10**6, (0, Fraction(1, 3)))]
Factor = Annotated[Exact, Reals("a factor", Fraction(1, 1000), 1000, (1, Fraction(1, 3)), logarithmic=True)]

THRESHOLD_SHARE, QUERY_SHARE = Fraction(1, 2), Fraction(1, 4)
"""The costs of one step of the sensitivity, of the noisy threshold and of a noisy answer, in units of epsilon."""

ONE = Fraction(1)


def calibrated(stream: ThresholdStream, epsilon: Exact) -> LaplaceThreshold:
    """Return the noise of the algorithm: scales 2 Delta/epsilon and 4 Delta/epsilon."""
    budget = exact("epsilon", epsilon)
    return stream.noise(THRESHOLD_SHARE * budget, QUERY_SHARE * budget)


def largest_loss(stream: ThresholdStream, noise: LaplaceThreshold) -> arb:
    """Enclose the largest privacy loss of any halting time, and of never halting, in either order."""
    distributions = [LaplaceAboveThresholdDistribution(answers, noise) for answers in stream.sides]
    losses = [
        distributions[0].log_probability(o) - distributions[1].log_probability(o) for o in distributions[0].outcomes
    ]
    return max_balls(map(abs, losses))


def _rising_then_falling(count: int, height: Fraction, threshold: Fraction, step: Fraction = ONE) -> ThresholdStream:
    """All answers but the last one rise at `height`, while the last one falls to 0."""
    return ThresholdStream((Block(height - step, height, count), Block(step, Fraction(0))), threshold, step)


WORST = {"stream": _rising_then_falling(9, ONE, Fraction(-20)), "epsilon": ONE}
INTERIOR = {"stream": _rising_then_falling(2, ONE, Fraction(-3, 20)), "epsilon": ONE}
FAR_BELOW = {"stream": _rising_then_falling(39, Fraction(1000), Fraction(0)), "epsilon": Fraction(20)}
FAR_BELOW_SWAPPED = {
    "stream": ThresholdStream((Block(Fraction(1000), Fraction(999), 39), Block(Fraction(0), ONE)), Fraction(0), ONE),
    "epsilon": Fraction(20),
}


# --- the distribution ------------------------------------------------------------------------------------------------


@statement(GABOARDI_2017, "laplace_above_threshold", examples=(WORST, FAR_BELOW), cases=30)
def laplace_above_threshold_distribution_sums_to_one(stream: Stream, epsilon: Epsilon) -> Verdict:
    """Pr[halts at k] = int f(t - T) prod_(i < k) F(t - q_i) (1 - F(t - q_k)) dt, k = 1, 2, ..., and Pr[never halts] =
    int f(t - T) prod_i F(t - q_i) dt sum to 1 (agreement to 60 bits).
    """
    distribution = LaplaceAboveThresholdDistribution(stream.sides[0], calibrated(stream, epsilon))
    return agree(
        lambda: sum_balls(distribution.log_probability(o).exp() for o in distribution.outcomes),
        lambda: arb(1),
        "total",
    )


@statement(GABOARDI_2017, "laplace_above_threshold", examples=({**INTERIOR, "shift": -7, "factor": 3},), cases=20)
def laplace_above_threshold_distribution_is_invariant(
    stream: ShortStream, epsilon: Epsilon, shift: Shift, factor: Factor
) -> Verdict:
    """The distribution does not change when threshold and answers are shifted alike, or they and the noise are scaled
    alike (agreement of the logarithms to 60 bits).
    """
    noise, (answers, _) = calibrated(stream, epsilon), stream.sides
    by, times = exact("shift", shift), exact("factor", factor)
    distribution = LaplaceAboveThresholdDistribution(answers, noise)
    moved = LaplaceAboveThresholdDistribution(
        tuple(times * (q + by) for q in answers), noise.shifted(by).scaled(times)
    )
    return conjunction(
        agree(
            lambda o=outcome: distribution.log_probability(o),  # type: ignore[misc]  # a default binds the loop variable
            lambda o=outcome: moved.log_probability(o),  # type: ignore[misc]
            f"log-probabilities of {outcome}",
        )
        for outcome in distribution.outcomes
    )


# --- privacy ------------------------------------------------------------------------------------------------


@statement(
    GABOARDI_2017,
    "pure_dp_of_laplace_above_threshold",
    "laplace_above_threshold",
    examples=(WORST, INTERIOR, FAR_BELOW),
    pins=(
        Pin(FAR_BELOW, "attained far above the threshold, up to e^-490", both=lambda: 20),
        Pin(FAR_BELOW_SWAPPED, "the same loss in the other order", both=lambda: 20),
    ),
)
def pure_dp_of_laplace_above_threshold(stream: Stream, epsilon: Epsilon) -> Verdict:
    """AboveThreshold with Lap(2 Delta/epsilon) on the threshold and Lap(4 Delta/epsilon) on every answer is
    epsilon-DP, whatever the length of the stream, also for the outcome that it never halts.
    """
    return at_most(
        lambda: largest_loss(stream, calibrated(stream, epsilon)),
        lambda: ball(exact("epsilon", epsilon)),
        slack=ATTAINED,
    )


@statement(
    GABOARDI_2017,
    "pure_dp_of_laplace_above_threshold",
    cases=20,
    pins=(
        Pin(
            {"epsilon": 2, "halvings": 12},
            "epsilon itself, which is approached",
            both=lambda: 2,
            within=Fraction(1, 4000),
        ),
    ),
)
def epsilon_of_laplace_above_threshold_is_approached(epsilon: Epsilon, halvings: Halvings) -> Verdict:
    """No smaller epsilon will do: nine queries lose more than (1 - 2^-n) epsilon, where eight answers at height
    4 n Delta/epsilon above the threshold rise while the ninth one, at the threshold, falls.

    The height is needed: with all answers equal at first, many queries are needed besides (k = 5: 0.9217 epsilon).
    """
    budget = exact("epsilon", epsilon)
    stream = _rising_then_falling(8, 4 * halvings / budget, Fraction(0))
    noise = calibrated(stream, budget)
    left, right = (LaplaceAboveThresholdDistribution(answers, noise) for answers in stream.sides)
    return at_least(
        lambda: left.log_probability(stream.size) - right.log_probability(stream.size),
        lambda: ball(budget * (1 - Fraction(1, 2**halvings))),
    )


@statement(
    GABOARDI_2017,
    "pure_dp_of_laplace_above_threshold",
    examples=(
        {
            "stream": ThresholdStream((Block(ONE, ONE, 30), Block(ONE, Fraction(0))), Fraction(-20), ONE),
            "epsilon": ONE,
        },
        {
            "stream": ThresholdStream((Block(Fraction(19), Fraction(20), 9), Block(ONE, ONE)), Fraction(-9), ONE),
            "epsilon": ONE,
        },
    ),
    pins=(
        Pin(
            {
                "stream": ThresholdStream((Block(Fraction(19), Fraction(20), 9), Block(ONE, ONE)), Fraction(-9), ONE),
                "epsilon": ONE,
            },
            "epsilon/2 for the threshold, and a quarter or a half for the last answer",
            both=lambda: [Fraction(3, 4), 1],
        ),
    ),
)
def pure_dp_of_laplace_above_threshold_for_monotone_streams(stream: MonotoneStream, epsilon: Epsilon) -> Verdict:
    """Where every neighbour moves all answers the same way the same noise costs 3 epsilon/4 only, and noise of scale
    2 Delta/epsilon on the answers is enough for epsilon. (Not on the slides.)
    """
    budget = exact("epsilon", epsilon)
    less_noise = stream.noise(THRESHOLD_SHARE * budget, 2 * QUERY_SHARE * budget)
    return conjunction([
        at_most(
            lambda: largest_loss(stream, calibrated(stream, budget)), lambda: ball(3 * budget / 4), slack=ATTAINED
        ),
        at_most(lambda: largest_loss(stream, less_noise), lambda: ball(budget), slack=ATTAINED),
    ])  # fmt: skip


@statement(
    GABOARDI_2017,
    "pure_dp_of_laplace_above_threshold",
    examples=({"stream": ThresholdStream((Block(Fraction(39), Fraction(40), 9),), Fraction(0), ONE), "epsilon": ONE},),
    pins=(
        Pin(
            {"stream": ThresholdStream((Block(Fraction(39), Fraction(40), 9),), Fraction(0), ONE), "epsilon": ONE},
            "the threshold's noise alone moves",
            both=lambda: Fraction(1, 2),
        ),
    ),
)
def never_halting_costs_half_of_epsilon(stream: Stream, epsilon: Epsilon) -> Verdict:
    """The privacy loss of the outcome that no answer reaches the threshold is at most epsilon/2 in modulus: the
    threshold alone pays.
    """
    noise, (left, right) = calibrated(stream, epsilon), stream.sides

    def loss() -> arb:
        distributions = LaplaceAboveThresholdDistribution(left, noise), LaplaceAboveThresholdDistribution(right, noise)
        return abs(distributions[0].log_probability(ALL_BELOW) - distributions[1].log_probability(ALL_BELOW))

    return at_most(loss, lambda: ball(exact("epsilon", epsilon) / 2), slack=ATTAINED)


# --- the proof, step by step --------------------------------------------------------------------------------


def halts_at(answers: Answers, noises: Answers, noisy_threshold: Fraction) -> int:
    """Run the algorithm: the first place, from 1, at which a noisy answer reaches the noisy threshold; or 0."""
    reached = (answer + noise >= noisy_threshold for answer, noise in zip(answers, noises, strict=True))
    return next((place for place, hit in enumerate(reached, start=1) if hit), ALL_BELOW)


def _largest_before_last(answers: Answers, noises: Answers) -> Fraction | None:
    """Return g, the largest noisy answer before the last one; None if there is none."""
    noisy = [answer + noise for answer, noise in zip(answers, noises, strict=True)]
    return max(noisy[:-1], default=None)


def _moves(run: NoisyRun) -> tuple[Fraction, Fraction]:
    """Return g(D) - g(D') and f_k(D') - f_k(D), of which the substitution consists."""
    left, right = run.stream.sides
    before, after = (_largest_before_last(side, run.noises) for side in (left, right))
    gap = Fraction(0) if before is None or after is None else before - after
    return gap, right[-1] - left[-1]


_HALF_A_MOVE = NoisyRun(
    ThresholdStream(
        (Block(Fraction(0), Fraction(1, 2)), Block(Fraction(1), Fraction(0)), Block(Fraction(0), Fraction(0))),
        Fraction(0),
        ONE,
    ),
    (Fraction(2), Fraction(0), Fraction(3)),
    Fraction(1, 2),
)


@statement(
    GABOARDI_2017,
    "pure_dp_of_laplace_above_threshold",
    pins=(
        Pin(
            {"run": _HALF_A_MOVE},
            "the larger noisy answer rises from 2 to 5/2",
            smaller=lambda: Fraction(1, 2),
            larger=lambda: 1,
        ),
    ),
)
def largest_noisy_answer_moves_by_at_most_the_sensitivity(run: Run) -> Verdict:
    """Step 1: for fixed noise, |g(D) - g(D')| <= Delta, where g is the largest noisy answer before the last one.

    For g at the first query, where nothing comes before, the difference counts as 0.
    """
    return at_most_exact(abs(_moves(run)[0]), run.stream.sensitivity, "move of the largest noisy answer")


_TIE = Fraction(1, 2)
TIED_BEFORE = NoisyRun(
    ThresholdStream((Block(Fraction(0), ONE), Block(Fraction(0), Fraction(0))), Fraction(0), ONE),
    (_TIE, Fraction(2)),
    _TIE,
)
"""The first noisy answer is the noisy threshold, on the left: the mechanism halts there, and the interval is open."""


FALLS_LAST = NoisyRun(
    ThresholdStream((Block(ONE, ONE), Block(Fraction(0), Fraction(0))), Fraction(0), ONE),
    (-ONE, Fraction(0)),
    Fraction(1, 2),
)
"""The noise alone keeps the first answer below the noisy threshold, and the last answer lies below it as well."""


@statement(GABOARDI_2017, "pure_dp_of_laplace_above_threshold", examples=({"run": TIED_BEFORE}, {"run": FALLS_LAST}))
def halting_last_is_an_interval_of_the_noisy_threshold(run: Run) -> Verdict:
    """Step 2: the mechanism halts at the last query if and only if the noisy threshold lies in (g, q_k + nu_k]."""
    halves = []
    for answers in run.stream.sides:
        before = _largest_before_last(answers, run.noises)
        inside = (before is None or before < run.noisy_threshold) and (
            run.noisy_threshold <= answers[-1] + run.noises[-1]
        )
        halted = halts_at(answers, run.noises, run.noisy_threshold) == len(answers)
        halves.append(equal_exact(halted, inside, "halting at the last query"))
    return conjunction(halves)


RISES_BEFORE = NoisyRun(
    ThresholdStream((Block(Fraction(0), ONE), Block(Fraction(0), Fraction(0))), Fraction(0), ONE),
    (Fraction(0), Fraction(2)),
    Fraction(1, 2),
)


@statement(
    GABOARDI_2017,
    "pure_dp_of_laplace_above_threshold",
    examples=({"run": RISES_BEFORE},),
    pins=(
        Pin(
            {
                "run": NoisyRun(
                    ThresholdStream((Block(Fraction(0), ONE), Block(ONE, Fraction(0))), Fraction(0), ONE),
                    (Fraction(0), Fraction(2)),
                    Fraction(1, 2),
                )
            },
            "the first answer rises by 1 and the last one falls by 1",
            both=lambda: [2, 1],
        ),
    ),
)
def substitution_carries_one_data_set_to_the_other(run: Run) -> Verdict:
    """Step 3: with nu^ = nu + g(D) - g(D') + f_k(D') - f_k(D) for the last noise and t^ = t + g(D) - g(D') for the
    noisy threshold, D halts at k under (nu^, t^) if and only if D' does under (nu, t); |nu^ - nu| <= 2 Delta, |t^ - t|
    <= Delta.
    """
    left, right = run.stream.sides
    gap, last = _moves(run)
    moved = (*run.noises[:-1], run.noises[-1] + gap + last)
    return conjunction([
        equal_exact(
            halts_at(left, moved, run.noisy_threshold + gap) == len(left),
            halts_at(right, run.noises, run.noisy_threshold) == len(right),
            "halting at the last query",
        ),
        at_most_exact(abs(gap + last), 2 * run.stream.sensitivity, "move of the last noise"),
        at_most_exact(abs(gap), run.stream.sensitivity, "move of the noisy threshold"),
    ])  # fmt: skip


@statement(
    GABOARDI_2017,
    "pure_dp_of_laplace_above_threshold",
    pins=(
        Pin(
            {
                "run": NoisyRun(
                    ThresholdStream((Block(ONE, Fraction(0)), Block(Fraction(0), ONE)), Fraction(0), ONE),
                    (Fraction(-7), Fraction(5)),
                    Fraction(9, 2),
                ),
                "epsilon": Fraction(3, 10),
            },
            "both noises are positive and move away from 0, by 2 and by 1",
            both=lambda: [Fraction(3, 20), Fraction(3, 20), Fraction(3, 10)],
        ),
    ),
)
def densities_pay_half_of_epsilon_twice(run: Run, epsilon: Epsilon) -> Verdict:
    """Step 4: under the substitution the density of the last noise changes by at most e^(epsilon/2), and so does that
    of the noisy threshold; the product is e^epsilon. (In exponents, exact.)
    """
    budget, (gap, last) = exact("epsilon", epsilon), _moves(run)
    noise = calibrated(run.stream, budget)
    nu, t = run.noises[-1], run.noisy_threshold - run.stream.threshold
    last_payment = noise.query_rate * (abs(nu + gap + last) - abs(nu))
    threshold_payment = noise.threshold_rate * (abs(t + gap) - abs(t))
    return conjunction([
        at_most_exact(abs(last_payment), budget / 2, "payment of the last noise"),
        at_most_exact(abs(threshold_payment), budget / 2, "payment of the noisy threshold"),
        at_most_exact(abs(last_payment + threshold_payment), budget, "both payments"),
    ])  # fmt: skip


# --- comparing one by one -----------------------------------------------------------------------------------


def _comparisons_loss(stream: ThresholdStream, scale: Fraction) -> Real:
    distributions = [PublicThresholdDistribution(answers, stream.threshold, scale) for answers in stream.sides]
    patterns = list(itertools.product((False, True), repeat=stream.size))
    return lambda: max_balls(abs(distributions[0].log_pattern(p) - distributions[1].log_pattern(p)) for p in patterns)


@statement(
    GABOARDI_2017,
    "naive_above_threshold_cost",
    examples=({"stream": ThresholdStream((Block(Fraction(9), Fraction(10), 5),), Fraction(0), ONE), "epsilon": ONE},),
    cases=20,
    pins=(
        Pin(
            {"stream": ThresholdStream((Block(Fraction(9), Fraction(10), 5),), Fraction(0), ONE), "epsilon": ONE},
            "five comparisons of 1/4 each",
            both=lambda: [Fraction(5, 4)] * 2,
        ),
    ),
)
def naive_above_threshold_cost_is_linear(
    stream: Annotated[ThresholdStream, ThresholdStreams("a pair of streams of up to six answers", 6)], epsilon: Epsilon
) -> Verdict:
    """Releasing n comparisons with a public threshold, each with noise Lap(4 Delta/epsilon), is (n epsilon/4)-DP by
    basic composition; the threshold costs nothing. This is attained where all answers exceed the threshold by Delta,
    rise, and stay below.
    """
    budget = exact("epsilon", epsilon)
    noise = calibrated(stream, budget)
    bound, step, n = stream.size * budget / 4, stream.sensitivity, stream.size
    above = ThresholdStream((Block(stream.threshold + step, stream.threshold + 2 * step, n),), stream.threshold, step)
    return conjunction([
        at_most(_comparisons_loss(stream, 1 / noise.query_rate), lambda: ball(bound), slack=ATTAINED),
        at_least(_comparisons_loss(above, 1 / noise.query_rate), lambda: ball(bound), slack=ATTAINED),
    ])  # fmt: skip
