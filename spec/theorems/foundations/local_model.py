"""The local model: every user randomises a value of their own before anybody sees it.

Chapter after Gaboardi (2017), S11 (heavy hitters in the local model), with the two-stage responses of Erlingsson,
Pihur and Korolova (2014). The claim is made for each user, and exactly checkable.
"""

import math
from fractions import Fraction
from typing import Annotated

from flint import arb

from dpassay.spec.ball import at_most, ball
from dpassay.spec.distributions.local_responses import bloom_report_distribution, hadamard_response_distribution
from dpassay.spec.domains.base import Integers, Reals
from dpassay.spec.domains.hadamard import hadamard_sign
from dpassay.spec.proof.pins import Pin
from dpassay.spec.rational import equal_exact
from dpassay.spec.sources import ERLINGSSON_2014, GABOARDI_2017
from dpassay.spec.statement import statement
from dpassay.spec.verdict import Verdict, conjunction

__all__ = ["hadamard_estimate_tail", "rappor_ratio"]

Ratio = Annotated[Fraction, Reals("e^epsilon", Fraction(101, 100), 100, (2, 3, Fraction(3, 2)), logarithmic=True)]
Values = Annotated[int, Integers("a number of values", 1, 15, (1, 3, 7, 15))]
Users = Annotated[int, Integers("a number of users", 1, 60, (1, 2, 60))]


@statement(GABOARDI_2017, "local_heavy_hitters", cases=20)
def pure_dp_of_hadamard_response(values: Values, ratio: Ratio) -> Verdict:
    """A column index, chosen from the half where the row of the user's value is +1 with probability
    e^epsilon/(1 + e^epsilon), is epsilon-DP in that value; attained by every pair of values.
    """
    distributions = [hadamard_response_distribution(value, values, Fraction(ratio)) for value in range(values)]
    largest = [
        [max(left.weights[o] / right.weights[o] for o in left.weights) for right in distributions]
        for left in distributions
    ]
    expected = [[Fraction(1) if i == j else Fraction(ratio) for j in range(values)] for i in range(values)]
    return equal_exact(largest, expected, "the largest ratio of each pair")


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
    distribution = hadamard_response_distribution(value, values, ratio)
    return sum(
        (w * hadamard_sign(asked + 1, o) for o, w in distribution.weights.items() if isinstance(o, int)), Fraction(0)
    )


def hadamard_estimate_tail(users: int, holders: int, ratio: Fraction, error: Fraction) -> Fraction:
    """Return the chance that the estimated share of a value is off by more than `error`, exactly.

    Of n users m hold the value; the entry of its row is +1 with probability e^epsilon/(1 + e^epsilon) for them and
    1/2 for the others.

    Parameters
    ----------
    users : int
        n.
    holders : int
        m, at most n.
    ratio : Fraction
        e^epsilon, above 1.
    error : Fraction
        The distance of the estimated share from m/n.
    """
    truth, gain = ratio / (1 + ratio), (ratio + 1) / (ratio - 1)
    own = [math.comb(holders, a) * truth**a * (1 - truth) ** (holders - a) for a in range(holders + 1)]
    rest = users - holders
    total = Fraction(0)
    for b in range(rest + 1):
        far = [p for a, p in enumerate(own) if abs(gain * (2 * (a + b) - users) - holders) > error * users]
        total += math.comb(rest, b) * sum(far, Fraction(0))
    return total / Fraction(2) ** rest


def hoeffding_exponent(users: int, ratio: Fraction, error: Fraction) -> Fraction:
    """Return n t^2 (e^epsilon - 1)^2 / (2 (e^epsilon + 1)^2)."""
    return users * error**2 * ((ratio - 1) / (ratio + 1)) ** 2 / 2


def _chernoff_bound(users: int, ratio: Fraction, error: Fraction) -> arb:
    """Enclose 2 min E e^(lambda (X - t n)), X a sum of n numbers +-1/tanh(epsilon/2) with E e^(lambda X) replaced by
    e^(n lambda^2/(2 tanh(epsilon/2)^2)): at lambda = t tanh(epsilon/2)^2.
    """
    gain = (ball(ratio).log() / 2).tanh()
    rate = ball(error) * gain * gain
    return 2 * (users * (rate / gain) * (rate / gain) / 2 - rate * users * ball(error)).exp()


@statement(
    GABOARDI_2017,
    "local_heavy_hitters",
    pins=(
        Pin(
            {"users": 37, "ratio": Fraction(5, 2), "share": Fraction(1, 2), "error": Fraction(3, 10)},
            "Chernoff's bound with the optimal rate, and the tail by enumeration of all numbers of agreements",
            larger=lambda: _chernoff_bound(37, Fraction(5, 2), Fraction(3, 10)),
            smaller=lambda: _tail_by_convolution(37, 18, Fraction(5, 2), Fraction(3, 10)),
        ),
    ),
)
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
    exponent = hoeffding_exponent(users, e_eps, off)
    tail = hadamard_estimate_tail(users, int(share * users), e_eps, off)
    return at_most(lambda: ball(tail), lambda: 2 * ball(-exponent).exp())


def _tail_by_convolution(users: int, holders: int, ratio: Fraction, error: Fraction) -> Fraction:
    """Return the tail of the estimate by adding one user after the other."""
    distribution = {0: Fraction(1)}
    for user in range(users):
        plus = ratio / (1 + ratio) if user < holders else Fraction(1, 2)
        moved: dict[int, Fraction] = {}
        for place, mass in distribution.items():
            for step, p in ((1, plus), (-1, 1 - plus)):
                moved[place + step] = moved.get(place + step, Fraction(0)) + mass * p
        distribution = moved
    unit = (ratio + 1) / (ratio - 1)
    return sum((p for place, p in distribution.items() if abs(unit * place - holders) > error * users), Fraction(0))


LargeCrowd = Annotated[int, Integers("a number of users, in millions", 4, 64, (4, 64), logarithmic=True)]
SmallError = Annotated[Fraction, Reals("an error, in multiples of 1/gain", Fraction(2, 100), Fraction(4, 100))]


def _tail_of_four_million() -> arb:
    """Enclose twice the probability that more than 51 % of four million fair coins show heads."""
    users, heads = 4 * 10**6, 2_040_001
    term = (arb(users + 1).lgamma() - arb(heads + 1).lgamma() - arb(users - heads + 1).lgamma()).exp() / arb(
        2
    ) ** users
    total = arb(0)
    for k in range(heads, heads + 4000):  # the rest is smaller by a factor of e^-160
        total += term
        term *= arb(users - k) / (k + 1)
    return 2 * total


@statement(
    GABOARDI_2017,
    "local_heavy_hitters",
    cases=6,
    pins=(
        Pin(
            {"crowd": 4, "ratio": 3, "error": Fraction(1, 50)},
            "a tail of fair coins, term by term; n error^2/2 = 800",
            smaller=lambda: [_tail_of_four_million(), 2 * (-arb(808)).exp()],
            larger=lambda: [2 * (-arb(800)).exp(), _tail_of_four_million()],
        ),
    ),
)
def hadamard_accuracy_has_the_best_exponent(crowd: LargeCrowd, ratio: Ratio, error: SmallError) -> Verdict:
    """For a value that no user holds, many users and small errors, the tail is at least 2 exp(-1.01 E) where the bound
    is 2 exp(-E): a constant that is 1 % better is false, and one that is 1 % worse is not the published one.

    The tail is a binomial one, enclosed by the incomplete beta function.
    """
    users = crowd * 10**6
    e_eps = Fraction(ratio)
    off = Fraction(error) * (e_eps + 1) / (e_eps - 1)
    least = math.floor(users * (1 + Fraction(error)) / 2) + 1  # agreements that are more than t n gain too many
    half = arb(1) / 2

    def tail() -> arb:
        return 2 * half.beta_lower(arb(least), arb(users - least + 1), regularized=True)

    exponent = hoeffding_exponent(users, e_eps, off)
    return conjunction([
        at_most(tail, lambda: 2 * ball(-exponent).exp()),
        at_most(lambda: 2 * ball(-exponent * Fraction(101, 100)).exp(), tail),
    ]).without_tightness()  # fmt: skip


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
    left, right = (bloom_report_distribution(side, Fraction(permanent), Fraction(high)) for side in (bits, bits[::-1]))
    largest = max(left.weights[o] / right.weights[o] for o in left.weights)
    return equal_exact(largest, rappor_ratio(hashes, Fraction(permanent), Fraction(high)), "the largest ratio")
