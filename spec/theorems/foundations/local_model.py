"""The local model: every user randomises a value of their own before anybody sees it.

Chapter after Gaboardi (2017), S11 (heavy hitters in the local model), with the two-stage responses of Erlingsson,
Pihur and Korolova (2014). The claim is made for each user, and exactly checkable.
"""

import math
from fractions import Fraction
from typing import Annotated

from dpassay.spec.ball import at_most, ball
from dpassay.spec.distributions.local_responses import bloom_report_law, hadamard_response_law
from dpassay.spec.domains import Integers, Reals
from dpassay.spec.hadamard import hadamard_sign
from dpassay.spec.rational import equal_exact
from dpassay.spec.sources import ERLINGSSON_2014, GABOARDI_2017
from dpassay.spec.statement import statement
from dpassay.spec.verdict import Verdict

__all__ = ["hadamard_estimate_tail", "rappor_ratio"]

Ratio = Annotated[Fraction, Reals("e^epsilon", Fraction(101, 100), 100, (2, 3, Fraction(3, 2)), logarithmic=True)]
Values = Annotated[int, Integers("a number of values", 1, 15, (1, 3, 7, 15))]
Users = Annotated[int, Integers("a number of users", 1, 60, (1, 2, 60))]


@statement(GABOARDI_2017, "local_heavy_hitters", cases=20)
def pure_dp_of_hadamard_response(values: Values, ratio: Ratio) -> Verdict:
    """A column index, chosen from the half where the row of the user's value is +1 with probability
    e^epsilon/(1 + e^epsilon), is epsilon-DP in that value; attained by every pair of values.
    """
    laws = [hadamard_response_law(value, values, Fraction(ratio)) for value in range(values)]
    pairs = [(left, right) for left in laws for right in laws if left is not right]
    largest = {max(left.weights[o] / right.weights[o] for o in left.weights) for left, right in pairs}
    return equal_exact(largest, {Fraction(ratio)} if values > 1 else set(), "the largest ratio of each pair")


@statement(GABOARDI_2017, "local_heavy_hitters", cases=20)
def hadamard_response_estimates_without_bias(values: Values, ratio: Ratio) -> Verdict:
    """(e^epsilon + 1)/(e^epsilon - 1) times the entry of row v at the reported index has expectation 1 for users
    whose value is v and 0 for all others, since different rows are orthogonal.
    """
    gain = (Fraction(ratio) + 1) / (Fraction(ratio) - 1)
    means = [[gain * _mean_entry(asked, value, values, Fraction(ratio)) for asked in range(values)]
             for value in range(values)]  # fmt: skip
    units = [[Fraction(asked == value) for asked in range(values)] for value in range(values)]
    return equal_exact(means, units, "means of the estimates")


def _mean_entry(asked: int, value: int, values: int, ratio: Fraction) -> Fraction:
    law = hadamard_response_law(value, values, ratio)
    return sum((w * hadamard_sign(asked + 1, o) for o, w in law.weights.items() if isinstance(o, int)), Fraction(0))


def hadamard_estimate_tail(users: int, holders: int, ratio: Fraction, error: Fraction) -> Fraction:
    """Return the chance that the estimated share of a value is off by more than `error`, exactly.

    Of n users m hold the value; the entry of its row is +1 with probability e^epsilon/(1 + e^epsilon) for them and
    1/2 for the others.
    """
    truth, gain = ratio / (1 + ratio), (ratio + 1) / (ratio - 1)
    own = [math.comb(holders, a) * truth**a * (1 - truth) ** (holders - a) for a in range(holders + 1)]
    rest = users - holders
    total = Fraction(0)
    for b in range(rest + 1):
        far = [p for a, p in enumerate(own) if abs(gain * (2 * (a + b) - users) - holders) > error * users]
        total += math.comb(rest, b) * sum(far, Fraction(0))
    return total / Fraction(2) ** rest


@statement(GABOARDI_2017, "local_heavy_hitters")
def hadamard_response_is_accurate(
    users: Users,
    ratio: Ratio,
    share: Annotated[Fraction, Reals("a share of users", 0, 1, (0, 1, Fraction(1, 2)))],
    error: Annotated[Fraction, Reals("an error", Fraction(1, 100), 2, (1, Fraction(1, 4)))],
) -> Verdict:
    """The estimated share of a value among n users is off by more than t with probability at most
    2 exp(-n t^2 (e^epsilon - 1)^2 / (2 (e^epsilon + 1)^2)); a union over all values gives the heavy hitters.
    """
    e_eps, off = Fraction(ratio), Fraction(error)
    exponent = users * off**2 * ((e_eps - 1) / (e_eps + 1)) ** 2 / 2
    tail = hadamard_estimate_tail(users, int(share * users), e_eps, off)
    return at_most(lambda: ball(tail), lambda: 2 * ball(-exponent).exp())


def rappor_ratio(hashes: int, permanent: Fraction, high: Fraction) -> Fraction:
    """Return e^epsilon = ((1 + g)/(1 - g))^(2 h), g = (1 - f)(2 q - 1)."""
    gain = (1 - permanent) * (2 * high - 1)
    return ((1 + gain) / (1 - gain)) ** (2 * hashes)


@statement(
    ERLINGSSON_2014,
    "RAPPOR",
    examples=(
        {"hashes": 4, "permanent": Fraction(3, 4), "high": Fraction(11, 20)},
        {"hashes": 4, "permanent": Fraction(19, 20), "high": Fraction(1)},
    ),
)
def pure_dp_of_rappor(
    hashes: Annotated[int, Integers("a number of hashes", 1, 4, (4, 1))],
    permanent: Annotated[Fraction, Reals("a probability f of a fair coin", Fraction(1, 100), 1, (1,))],
    high: Annotated[Fraction, Reals("a probability q of the truth", Fraction(1, 2), 1, (1, Fraction(1, 2)))],
) -> Verdict:
    """A Bloom filter with h hashes, each bit replaced by a fair coin with probability f and then told truly with
    probability q, is epsilon-DP in the value for epsilon = 2 h log((1 + g)/(1 - g)), g = (1 - f)(2 q - 1).

    Attained by two values whose h bits have no overlap; q = 1 is the permanent response alone.
    """
    bits = (1,) * hashes + (0,) * hashes
    left, right = (bloom_report_law(side, Fraction(permanent), Fraction(high)) for side in (bits, bits[::-1]))
    largest = max(left.weights[o] / right.weights[o] for o in left.weights)
    return equal_exact(largest, rappor_ratio(hashes, Fraction(permanent), Fraction(high)), "the largest ratio")
