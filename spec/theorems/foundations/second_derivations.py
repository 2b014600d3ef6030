"""Values of the chapter's bounds by a second derivation, for pins."""

from fractions import Fraction

from flint import arb

from dpassay.spec.ball import ball, midpoint

__all__ = ["advanced_responses_delta", "responses_delta_by_beta", "sampled_gaussian_delta_of_order_three"]


def advanced_responses_delta(copies: int, epsilon: Fraction, delta: Fraction) -> arb:
    """Enclose the exact delta of randomised responses at the epsilon of advanced composition.

    That epsilon is r epsilon^2/2 + epsilon sqrt(2 r L) = (sqrt(r/2) epsilon + sqrt(L))^2 - L, L = log(1/delta).
    """
    step, log_inverse = ball(epsilon), -ball(delta).log()
    level = ((ball(copies) / 2).sqrt() * step + log_inverse.sqrt()) ** 2 - log_inverse
    return responses_delta_by_beta(copies, step, level)


def responses_delta_by_beta(copies: int, step: arb, level: arb) -> arb:
    """Enclose the delta at `level` of randomised responses with epsilon = `step`.

    The worst event is a tail of the number of truthful answers: an incomplete beta function on either side.
    """
    needed = int(midpoint((level / step + copies) / 2)) + 1
    truthful, untruthful = (
        (1 / (1 + (sign * step).exp())).beta_lower(needed, copies - needed + 1, regularized=1) for sign in (-1, 1)
    )
    return truthful - level.exp() * untruthful


def sampled_gaussian_delta_of_order_three() -> arb:
    """Enclose e^(A - 2) (2/3)^2/3 for sampling 1/4, sigma 1, order 3 and epsilon 1.

    A is the logarithm of E[((3 + x)/4)^3] = (27 + 27 + 9 e + e^3)/64, x the likelihood ratio of N(1, 1) over N(0, 1),
    whose moments are e^(k (k - 1)/2).
    """
    moment = (54 + 9 * arb(1).exp() + arb(3).exp()) / 64
    return moment * arb(-2).exp() * ball(Fraction(4, 27))
