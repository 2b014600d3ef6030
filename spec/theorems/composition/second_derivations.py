"""Values of the chapter's bounds by a second derivation, for pins."""

from fractions import Fraction

from flint import arb

from dpassay.spec.ball import ball, normal_cdf
from dpassay.spec.theorems.foundations.second_derivations import responses_delta_by_beta

__all__ = [
    "loss_of_21",
    "many_responses_delta",
    "mean_of_range_441",
    "renyi_of_21",
    "slice_of_truncated_normal",
    "two_laplace_counts_delta",
]


def two_laplace_counts_delta(ratio: Fraction, level: Fraction) -> arb:
    """Enclose the exact delta of two counts with Laplace noise of scale tau/epsilon, both moved by tau.

    `level` is epsilon_g over epsilon = log(ratio), in [0, 2]. The loss of a count is epsilon with probability 1/2,
    and has the density e^(-(epsilon - l)/2)/4 below. The delta of one count at t, 1 - e^((t - epsilon)/2), integrated
    over the loss of the other one, gives 1 - x - (2 epsilon - epsilon_g) x/4 with x = e^(epsilon_g/2 - epsilon).
    """
    epsilon = ball(ratio).log()
    x = (ball(level / 2 - 1) * epsilon).exp()
    return 1 - x - ball(2 - level) * epsilon * x / 4


def loss_of_21() -> arb:
    """Enclose epsilon = log(21/20), of the response with odds of 21 to 20."""
    return ball(Fraction(21, 20)).log()


def renyi_of_21() -> arb:
    """Enclose log E[e^L] of that response, its divergence of order 2."""
    return ball(Fraction(441, 820) + Fraction(400, 861)).log()


def mean_of_range_441() -> arb:
    """Enclose kappa(a) = x - 1 - log x, x = a/(e^a - 1), for e^a = 441/400."""
    x = ball(Fraction(441, 400)).log() * 400 / 41
    return x - 1 - x.log()


def many_responses_delta() -> arb:
    """Enclose the delta of 200 responses at epsilon = 1/5, at 40 tanh(1/10) + 4 sqrt(log 2).

    4 sqrt(log 2) is sqrt(2 * 200 epsilon^2 log 2), for delta = 1/2.
    """
    return responses_delta_by_beta(
        200, ball(Fraction(1, 5)), 40 * ball(Fraction(1, 10)).tanh() + 4 * arb(2).log().sqrt()
    )


def slice_of_truncated_normal(low: Fraction, width: Fraction) -> arb:
    """Enclose the mass above `low` of a standard normal variable on [-width, width]."""
    top = normal_cdf(ball(width))
    return (top - normal_cdf(ball(low))) / (2 * top - 1)
