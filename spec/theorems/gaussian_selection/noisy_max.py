"""Report noisy max with Gaussian noise is purely private on a bounded range.

Chapter after Lebensold, Precup and Balle (2024), Section 3.1 and Appendix A. Notation: d queries with values
in [a, b], width c = b - a, each of sensitivity Delta; noise of standard deviation sigma.

The ratio of the two probabilities of an index is a ratio of Gaussian expectations; Lemma 16 says in which
corner of the cube of answers it is largest; the theorem reads off its value there.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Annotated

from flint import arb

from dpassay.spec.ball import ATTAINED, Exact, Real, at_least, at_most, ball, exact, less_than, max_balls, sum_balls
from dpassay.spec.distributions.gaussian import gaussian_hockey_stick
from dpassay.spec.distributions.gaussian_race import GaussianRace, Hurdle
from dpassay.spec.distributions.noisy_max import log_report_probability, log_win_probability
from dpassay.spec.distributions.selection import block_losses
from dpassay.spec.domains.answers import AnswerPairs, Block, NeighbouringAnswers
from dpassay.spec.domains.base import Integers, Reals
from dpassay.spec.proof.comparisons import agree
from dpassay.spec.proof.figures import Figures
from dpassay.spec.proof.pins import Pin
from dpassay.spec.sources import LEBENSOLD_2024
from dpassay.spec.statement import Erratum, Severity, statement
from dpassay.spec.theorems.gaussian_selection.second_derivations import gaussian_excess, wins
from dpassay.spec.verdict import Verdict, conjunction

__all__ = ["noisy_max_epsilon", "noisy_max_losses"]

Pair = Annotated[NeighbouringAnswers, AnswerPairs("a pair of vectors of answers of neighbouring data sets")]
RelativeNoise = Annotated[
    Exact,
    Reals("a noise scale, in widths of the range", Fraction(1, 1000), 1000, (1, Fraction(1, 20)), logarithmic=True),
]
ModerateNoise = Annotated[
    Exact,
    Reals("a noise scale, in widths of the range, from a tenth on", Fraction(1, 10), 1000, (1, Fraction(1, 10)),
          logarithmic=True),
]  # fmt: skip
Size = Annotated[int, Integers("a number of queries", 2, 10**6, (2, 3, 365), logarithmic=True)]
Share = Annotated[
    Exact,
    Reals("a sensitivity, in widths of the range", Fraction(1, 10**6), 1, (1, Fraction(1, 2), Fraction(1, 10**6)),
          logarithmic=True),
]  # fmt: skip


def noisy_max_epsilon(size: int, sigma: Exact, width: Exact, sensitivity: Exact) -> arb:
    """Enclose the pure-DP parameter of Gaussian noisy max, in nats.

    epsilon = log E[Phi(z - (c - 2 Delta) / sigma)^(d-1)] - log E[Phi(z - c / sigma)^(d-1)], z standard normal,
    with Delta replaced by min(Delta, c): no query can move further than its range is wide. Thm 8 = Thm 12 with
    the logarithm that the paper omits.

    Parameters
    ----------
    size : int
        d, the number of queries.
    sigma : Exact
        Standard deviation of the noise, positive.
    width : Exact
        c, the width of the range of answers.
    sensitivity : Exact
        Delta, the largest change of an answer.
    """
    c, scale = exact("width", width), exact("sigma", sigma)
    step = min(exact("sensitivity", sensitivity), c)
    return _log_gain(lambda shift: log_win_probability((shift - c) / scale, size - 1), step)


def _log_gain(log_win: Callable[[Fraction], arb], step: Fraction) -> arb:
    """Enclose the gain of leads enlarged by 2 Delta; exactly 0 for Delta = 0, as equal balls would not cancel."""
    return log_win(2 * step) - log_win(Fraction(0)) if step else arb(0)


def noisy_max_losses(pair: NeighbouringAnswers, sigma: Exact) -> list[arb]:
    """Enclose the privacy loss of one index of each block, left over right."""
    return block_losses(pair, lambda own, rivals: log_report_probability(own, rivals, sigma))


def _worst_pair(size: int, width: Fraction, sensitivity: Fraction) -> NeighbouringAnswers:
    """All rivals rise from b - Delta to b while the reported query falls from a + Delta to a."""
    step = min(sensitivity, width)
    blocks = (Block(width - step, width, size - 1), Block(step, Fraction(0)))
    return NeighbouringAnswers(blocks, Fraction(0), width, sensitivity)


def _worst_loss(pair: NeighbouringAnswers, relative_sigma: Exact) -> arb:
    """Enclose the loss of a pair's last answer by a second derivation; `relative_sigma` is in widths of the range."""
    rivals, own = pair.blocks[:-1], pair.blocks[-1]
    sigma = exact("relative_sigma", relative_sigma) * pair.width
    left = wins(own.left, [(b.left, b.count) for b in rivals], sigma)
    return left.log() - wins(own.right, [(b.right, b.count) for b in rivals], sigma).log()


def _printed_epsilon_is_weaker(size: int, width: Fraction, sensitivity: Fraction, sigma: Fraction) -> Verdict:
    pair = _worst_pair(size, width, sensitivity)
    epsilon = lambda: noisy_max_epsilon(size, sigma, width, sensitivity)
    printed = lambda: noisy_max_epsilon(size, sigma, width, sensitivity).exp()
    return conjunction([
        at_most(lambda: max_balls(noisy_max_losses(pair, sigma)), printed),
        less_than(epsilon, printed),
    ])  # fmt: skip


def _corrected_epsilon_suffices(size: int, width: Fraction, sensitivity: Fraction, sigma: Fraction) -> Verdict:
    pair = _worst_pair(size, width, sensitivity)
    return pure_dp_of_gaussian_noisy_max(pair=pair, relative_sigma=sigma / width)


LOGARITHM_MISSING = Erratum(
    kind="loose",
    severity=Severity.MINOR,
    location="Section 3.1, Theorem 8, and Appendix A.1, Theorem 12, eq. (1)",
    printed_text="epsilon is stated as the ratio of the two expectations, without the logarithm: at least "
    "1 + epsilon, so that the claim is true and weaker; Thm 10 and Thm 17 lack it as well",
    answer="The logarithm of the ratio is meant, and the figures show it.",
    witness={"size": 5, "width": Fraction(1), "sensitivity": Fraction(1, 5), "sigma": Fraction(1)},
    printed=_printed_epsilon_is_weaker,
    corrected=_corrected_epsilon_suffices,
    figures=Figures(
        published=("0.6525 <= 1.920", "0.6525 <= 1.920"),
        corrected=("0.6525 <= 0.6525",),
    ),
)


@statement(
    LEBENSOLD_2024,
    "rnm_pure_dp",
    "gaussian_rnm",
    errata=(LOGARITHM_MISSING,),
    examples=(
        {"pair": _worst_pair(4, Fraction(1), Fraction(3, 10)), "relative_sigma": Fraction(1, 5)},
        {"pair": _worst_pair(3, Fraction(1), Fraction(13, 10)), "relative_sigma": Fraction(1, 2)},
        {"pair": _worst_pair(365, Fraction(1), Fraction(1, 6946)), "relative_sigma": Fraction(1, 20)},
    ),
    pins=tuple(
        Pin(
            {"pair": _worst_pair(size, Fraction(1), step), "relative_sigma": sigma},
            "both sides of the worst pair, integrated over the largest noisy rival",
            both=_worst_loss,
        )
        for size, step, sigma in (
            (2, Fraction(3, 10), Fraction(1, 2)),
            (7, Fraction(1, 5), Fraction(1, 3)),
            (3, Fraction(13, 10), Fraction(1)),
        )
    ),
)
def pure_dp_of_gaussian_noisy_max(pair: Pair, relative_sigma: RelativeNoise) -> Verdict:
    """Gaussian noisy max over d queries with range [a, b] and sensitivity Delta is epsilon-DP for
    epsilon = log E[Phi(z - (c - 2 Delta)/sigma)^(d-1)] - log E[Phi(z - c/sigma)^(d-1)], c = b - a.

    The condition Delta <= c of the worst case is not needed with min(Delta, c) for Delta.
    """
    sigma = exact("relative_sigma", relative_sigma) * pair.width
    return at_most(
        lambda: max_balls(noisy_max_losses(pair, sigma)),
        lambda: noisy_max_epsilon(pair.size, sigma, pair.width, pair.sensitivity),
        slack=ATTAINED,
    )


@statement(LEBENSOLD_2024, "rnm_worst_case_pair")
def noisy_max_epsilon_is_attained(size: Size, relative_sigma: ModerateNoise, relative_sensitivity: Share) -> Verdict:
    """The loss is largest when all rivals rise from b - Delta to b while the reported query falls from a + Delta
    to a; there it equals epsilon (an agreement to 60 bits). Needs Delta <= c.

    The loss is integrated over the largest noisy rival, epsilon over the noise of the reported answer.
    """
    sigma, step = exact("relative_sigma", relative_sigma), exact("relative_sensitivity", relative_sensitivity)
    pair = _worst_pair(size, Fraction(1), step)
    return agree(
        lambda: _worst_loss(pair, sigma) / noisy_max_epsilon(size, sigma, 1, step),
        lambda: arb(1),
        "loss of the worst pair over epsilon, and 1",
    )


@statement(
    LEBENSOLD_2024,
    "rnm_scale_dependence",
    pins=(
        Pin(
            {"size": 3, "relative_sigma": Fraction(1, 2), "relative_sensitivity": Fraction(3, 10)},
            "both sides of the worst pair, integrated over the largest noisy rival",
            smaller=lambda: _worst_loss(_worst_pair(3, Fraction(1), Fraction(3, 10)), Fraction(1, 2)),
            larger=lambda: _worst_loss(_worst_pair(3, Fraction(2), Fraction(3, 10)), Fraction(1, 4)),
        ),
    ),
)
def noisy_max_epsilon_depends_on_the_width(
    size: Size, relative_sigma: ModerateNoise, relative_sensitivity: Share
) -> Verdict:
    """At a fixed ratio Delta / sigma, which is all that the standard analysis sees, epsilon grows with the width
    c; and it depends on (d, c/sigma, Delta/sigma) only, so that it is unchanged when all three are scaled.
    """
    sigma, step = exact("relative_sigma", relative_sigma), exact("relative_sensitivity", relative_sensitivity)
    pair = _worst_pair(size, Fraction(7), 7 * step)
    epsilon: Real = lambda: noisy_max_epsilon(size, sigma, 1, step)
    return conjunction([
        less_than(epsilon, lambda: noisy_max_epsilon(size, sigma, 2, step)),
        agree(lambda: _worst_loss(pair, sigma) / epsilon(), lambda: arb(1), "loss at 7 times the scale over epsilon"),
    ]).without_tightness()  # fmt: skip


@statement(
    LEBENSOLD_2024,
    "rnm_no_pure_dp_unbounded",
    pins=(
        Pin(
            {"size": 3, "relative_sigma": Fraction(1, 2), "relative_sensitivity": Fraction(3, 10)},
            "4/3 times 3/10 times 7/10 times 4; both sides of the worst pair",
            smaller=lambda: Fraction(28, 25),
            larger=lambda: _worst_loss(_worst_pair(3, Fraction(1), Fraction(3, 10)), Fraction(1, 2)),
        ),
    ),
)
def noisy_max_epsilon_grows_linearly_in_the_width(
    size: Size, relative_sigma: RelativeNoise, relative_sensitivity: Share
) -> Verdict:
    """Epsilon >= (2 (d-1)/d) Delta (c - Delta) / sigma^2: no pure bound survives as the range grows.

    The paper says only that there is none. For d = 2 the inequality is the integral of Phi'/Phi(u) >= -u; the
    constant is the right one, since the quotient of both sides tends to 1 as c grows.
    """
    sigma, step = exact("relative_sigma", relative_sigma), exact("relative_sensitivity", relative_sensitivity)
    growth = Fraction(2 * (size - 1), size) * step * (1 - step) / sigma**2
    return at_least(lambda: noisy_max_epsilon(size, sigma, 1, step), lambda: ball(growth))


def _noisy_max_hockey_stick(pair: NeighbouringAnswers, sigma: Exact, epsilon: Fraction) -> arb:
    """Enclose the least delta of the pair, left over right: every block stands for as many equal outcomes."""
    excess = []
    for own, loss in zip(pair.blocks, noisy_max_losses(pair, sigma), strict=True):
        rivals = [(block.right, block.count) for block in pair.others(own)]
        weight = log_report_probability(own.right, rivals, sigma).exp()
        excess.append(own.count * weight * (loss.exp() - ball(epsilon).exp()).max(arb(0)))
    return sum_balls(excess)


def _crossing_excess() -> arb:
    """Enclose Phi(1/sqrt 2) - e^(1/2) Phi(-1/sqrt 2)."""
    gap, growth = ball(Fraction(1, 2)).erf(), ball(Fraction(1, 2)).exp()
    return (1 + gap) / 2 - growth * (1 - gap) / 2


def _crossing_pair(sensitivity: Fraction) -> NeighbouringAnswers:
    """Two answers change places about a tie: there noisy max reveals all that the noisy answers do."""
    low, high = (1 - sensitivity) / 2, (1 + sensitivity) / 2
    return NeighbouringAnswers((Block(low, high), Block(high, low)), Fraction(0), Fraction(1), sensitivity)


@statement(
    LEBENSOLD_2024,
    "gaussian_rnm_postprocessing_bound",
    examples=(
        {"pair": _crossing_pair(Fraction(1, 10)), "relative_sigma": Fraction(1, 2), "epsilon": 0},
        {"pair": _crossing_pair(Fraction(1)), "relative_sigma": Fraction(1), "epsilon": Fraction(1, 2)},
    ),
    pins=(
        Pin(
            {"pair": _crossing_pair(Fraction(1, 10)), "relative_sigma": Fraction(1, 2), "epsilon": 0},
            "the difference of two normal answers has the total variation erf(1/10)",
            both=lambda: ball(Fraction(1, 10)).erf(),
        ),
        Pin(
            {"pair": _crossing_pair(Fraction(1)), "relative_sigma": Fraction(1), "epsilon": Fraction(1, 2)},
            "Phi(+-1/sqrt 2) for the winner; the densities' difference at distance sqrt 2, integrated",
            smaller=_crossing_excess,
            larger=lambda: gaussian_excess(arb(2).sqrt(), ball(Fraction(1, 2))),
        ),
    ),
    cases=25,
)
def approximate_dp_of_gaussian_noisy_max_by_post_processing(
    pair: Pair, relative_sigma: RelativeNoise, epsilon: Annotated[Exact, Reals("epsilon in nats", 0, 3, (0, 1))]
) -> Verdict:
    """Noisy max is a function of the d noisy answers, so that it inherits the (epsilon, delta) of the Gaussian
    mechanism with l2 sensitivity Delta sqrt(d): delta = Phi(m/2 - epsilon/m) - e^epsilon Phi(-m/2 - epsilon/m),
    m = Delta sqrt(d) / sigma.

    Probabilistic DP is not inherited: it does not survive post-processing.
    """
    sigma, level = exact("relative_sigma", relative_sigma) * pair.width, exact("epsilon", epsilon)
    shift = min(pair.sensitivity, pair.width) / sigma
    return at_most(
        lambda: _noisy_max_hockey_stick(pair, sigma, level),
        lambda: gaussian_hockey_stick(ball(shift) * arb(pair.size).sqrt(), level),
        slack=ATTAINED,
    )


@statement(
    LEBENSOLD_2024,
    "rnm_ratio_sup",
    pins=(
        Pin(
            {"pair": _worst_pair(4, Fraction(1), Fraction(3, 10)), "relative_sigma": Fraction(1, 2)},
            "both sides of the worst pair, integrated over the largest noisy rival",
            both=lambda pair, relative_sigma: [_worst_loss(pair, relative_sigma).exp()] * 2,
        ),
    ),
)
def noisy_max_ratio_at_most_its_enlargement(pair: Pair, relative_sigma: RelativeNoise) -> Verdict:
    """Pr[M(D) = o] / Pr[M(D') = o] <= E[prod Phi(z - (y_i - 2 Delta)/sigma)] / E[prod Phi(z - y_i/sigma)] with
    y_i = q_i(D') - q_o(D'), and the right side is at most its value at y_i = b - a.

    The paper takes the supremum over y_i in [a - b + 2 Delta, b - a] only, where the enlargement is attained; the
    inequality holds for every y and both suprema sit at b - a. (In its proof q'_d - Delta stands for q_d - Delta.)
    """
    sigma = exact("relative_sigma", relative_sigma) * pair.width
    step = min(pair.sensitivity, pair.width)
    own = pair.blocks[-1]
    gaps = [(block.right - own.right, block.count) for block in pair.others(own)]

    def log_win(shift: Fraction) -> arb:
        return GaussianRace(*(Hurdle.of(1, (shift - y) / sigma, n) for y, n in gaps)).log_expectation()

    # ratios are compared, not their logarithms, which may be tiny beyond any precision
    def ratio() -> arb:
        return noisy_max_losses(pair, sigma)[-1].exp()

    def enlarged() -> arb:
        return _log_gain(log_win, step).exp()

    return conjunction([
        at_most(ratio, enlarged, slack=ATTAINED),
        at_most(enlarged, lambda: noisy_max_epsilon(pair.size, sigma, pair.width, step).exp(), slack=ATTAINED),
    ])  # fmt: skip
