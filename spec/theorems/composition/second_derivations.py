"""Values of the chapter's bounds by a second derivation, for pins."""

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

from flint import arb

from dpassay.spec.ball import ball, normal_cdf
from dpassay.spec.theorems.foundations.second_derivations import responses_delta_by_beta

__all__ = [
    "Masses",
    "batch_excess",
    "best_batch_delta",
    "best_plan_delta",
    "best_strategy_delta",
    "bounded_range_masses",
    "loss_of_21",
    "many_responses_delta",
    "mean_of_range_441",
    "renyi_of_21",
    "response_masses",
    "slice_of_truncated_normal",
    "two_laplace_counts_delta",
]

Masses = tuple[tuple[Fraction, Fraction], ...]
"""The probabilities of each outcome of a mechanism, on the left and on the right."""


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


def best_plan_delta(first: Sequence[Masses], second: Sequence[Masses], budget: Fraction) -> Fraction:
    """Return the largest delta at e^epsilon_g = `budget` of all plans for two rounds, by trying each of them.

    A plan is a mechanism for the first round, and one for the second after each outcome. The delta is the sum of
    [P - e^epsilon_g Q]_+ over all pairs of outcomes.
    """

    def delta(one: Masses, others: tuple[Masses, ...]) -> Fraction:
        pairs = ((p * a, q * b) for (p, q), other in zip(one, others, strict=True) for a, b in other)
        return sum((max(left - budget * right, Fraction(0)) for left, right in pairs), Fraction(0))

    return max(delta(one, others) for one in first for others in itertools.product(second, repeat=len(one)))


def best_strategy_delta(
    offers: Sequence[Sequence[Masses]], budget: Fraction, left: Fraction = Fraction(1), right: Fraction = Fraction(1)
) -> Fraction:
    """Return the largest delta of all strategies that choose from each list in turn, knowing what came before.

    Parameters
    ----------
    offers : sequence
        The mechanisms of each round.
    budget : Fraction
        e^epsilon_g.
    left, right : Fraction
        The probabilities of what came before.
    """
    if not offers:
        return max(left - budget * right, Fraction(0))
    return max(
        sum((best_strategy_delta(offers[1:], budget, left * p, right * q) for p, q in masses), Fraction(0))
        for masses in offers[0]
    )


def batch_excess(responses: Sequence[Masses], budget: Fraction) -> Fraction:
    """Return the sum of [P - e^epsilon_g Q]_+ over all vectors of outcomes of independent mechanisms."""
    vectors = itertools.product(*responses)
    sides = ([math.prod(masses) for masses in zip(*vector, strict=True)] for vector in vectors)
    return sum((max(left - budget * right, Fraction(0)) for left, right in sides), Fraction(0))


def best_batch_delta(offers: Sequence[Sequence[Masses]], budget: Fraction) -> Fraction:
    """Return the largest delta of batches with one mechanism of each list, by trying all of them."""
    return max(batch_excess(batch, budget) for batch in itertools.product(*offers))


def bounded_range_masses(base: Fraction, steps: int) -> list[Masses]:
    """Return the responses of range steps log(base) whose likelihood ratios are whole powers of the base."""
    return [response_masses(base**steps, base**top) for top in range(1, steps)]


def response_masses(ratio: Fraction, raised: Fraction) -> Masses:
    """Return the response with the likelihood ratios `raised` and raised / ratio: both sides sum to 1."""
    kept = (1 - raised / ratio) / (raised - raised / ratio)  # of the right side
    return (raised * kept, kept), (1 - raised * kept, 1 - kept)
