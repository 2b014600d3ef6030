"""Query release by two players, posterior sampling, and the accountants of private learning.

Chapter after Gaboardi (2017), S11, the project ideas. DualQuery is that of Gaboardi, Gallego Arias, Hsu, Roth and
Wu (2014), posterior sampling that of Dimitrakakis, Nelson, Mitrokotsa and Rubinstein (2014).
"""

import itertools
from fractions import Fraction
from typing import Annotated

from flint import arb

from dpassay.spec.ball import Exact, Real, at_most, ball, exact, max_balls, normal_cdf, sum_balls
from dpassay.spec.distributions.discrete import max_divergence
from dpassay.spec.distributions.dual_query import DualQueryDistribution
from dpassay.spec.domains.base import Integers, Reals
from dpassay.spec.domains.tables import RationalTables, Table
from dpassay.spec.proof.pins import Pin
from dpassay.spec.rational import at_most_exact, equal_exact
from dpassay.spec.sources import GABOARDI_2017
from dpassay.spec.statement import statement
from dpassay.spec.theorems.foundations.second_derivations import sampled_gaussian_delta_of_order_three
from dpassay.spec.theorems.gaussian_selection.second_derivations import gaussian_excess
from dpassay.spec.verdict import Verdict, conjunction

__all__ = [
    "dual_query_epsilon",
    "posterior",
    "reversed_hockey_stick",
    "sampled_gaussian_hockey_stick",
    "sampled_gaussian_log_moment",
]

# --- DualQuery ----------------------------------------------------------------------------------------------

Eta = Annotated[Exact, Reals("a learning rate", Fraction(1, 100), 4, (1, Fraction(1, 4)))]
SMALL_QUERIES = ((1, 0, 0), (0, 1, 1), (0, 1, 0), (1, 0, 1))
Records = Annotated[int, Integers("a number of records", 1, 50, (1, 2, 10))]
Rounds = Annotated[int, Integers("a number of rounds", 1, 4, (1, 2, 4))]


def dual_query_epsilon(rounds: int, samples: int, eta: Exact, records: int) -> Fraction:
    """Return s eta T (T - 1)/n: in round t each of s draws is an exponential mechanism that costs 2 eta (t - 1)/n.

    Parameters
    ----------
    rounds : int
        T.
    samples : int
        s.
    eta : Exact
        The learning rate.
    records : int
        n.
    """
    return samples * exact("eta", eta) * rounds * (rounds - 1) / records


@statement(
    GABOARDI_2017,
    "dual_query",
    cases=16,
    pins=(
        Pin(
            {"records": 31, "rounds": 4, "eta": 1},
            "0 + 1 + 2 + 3 steps, each twice 1/31",
            larger=lambda: Fraction(12, 31),
        ),
    ),
)
def pure_dp_of_dual_query(records: Records, rounds: Rounds, eta: Eta) -> Verdict:
    """DualQuery with T rounds of s draws is epsilon-DP for epsilon = s eta T (T - 1)/n when one of n records is
    replaced: round t draws a query by an exponential mechanism whose scores have sensitivity (t - 1)/n.

    Decided for s = 1 on a universe of 3 elements and 4 queries, exactly: one record is any of the three, the others
    are all alike or evenly spread.
    """
    bound, others = dual_query_epsilon(rounds, 1, eta, records), records - 1
    pairs: list[tuple[DualQueryDistribution, DualQueryDistribution]] = []
    for base in {(others, 0, 0), (0, others, 0), (others - 2 * (others // 3), others // 3, others // 3)}:
        distributions = [
            DualQueryDistribution(SMALL_QUERIES, _with_one_more(base, element), rounds, exact("eta", eta))
            for element in range(3)
        ]
        pairs += itertools.permutations(distributions, 2)
    if rounds == 1:
        return equal_exact(bound, Fraction(0), "the cost of one round, in which all queries are equally likely")
    return at_most(lambda: max_balls(itertools.starmap(max_divergence, pairs)), lambda: ball(bound))


def _with_one_more(counts: tuple[int, ...], element: int) -> tuple[int, ...]:
    return tuple(count + (place == element) for place, count in enumerate(counts))


Losses = Annotated[
    Table,
    RationalTables("losses of up to 4 queries in up to 6 rounds", tuple(range(1, 7)), 4, Fraction(-1), Fraction(1)),
]
Rate = Annotated[Exact, Reals("a learning rate", Fraction(1, 100), 1, (1, Fraction(1, 4)))]


ONE_ROUND: Table = ((Fraction(1), Fraction(-1)),)
TWO_ROUNDS: Table = ((Fraction(1), Fraction(-1, 2)), (Fraction(1, 4), Fraction(3, 4)))
SMALL, LARGE = Fraction(1, 10), Fraction(2, 3)


def _two_rounds_in_closed_form() -> list[arb]:
    """Return eta max_q S_q, the potential, and the bound of `TWO_ROUNDS` at the rate `LARGE`.

    The first weights are equal; the second are those of a logistic function of the first difference 3/2.
    """
    eta = ball(LARGE)
    weight = 1 / (1 + (-eta * 3 / 2).exp())
    errors = arb(1) / 4 + weight / 4 + (1 - weight) * 3 / 4
    potential = ((eta * 5 / 4).exp() + (eta / 4).exp()).log()
    return [potential, arb(2).log() + eta * errors + eta**2]


def errors_of_player(losses: Table, rate: Fraction) -> arb:
    """Enclose the sum of the query player's mean errors, with weights proportional to e^(rate S_q)."""
    means, sums = arb(0), [Fraction(0)] * len(losses[0])
    for row in losses:
        raw = [ball(rate * (s - max(sums))).exp() for s in sums]
        means = means + sum_balls(w * ball(x) for w, x in zip(raw, row, strict=True)) / sum_balls(raw)
        sums = [s + x for s, x in zip(sums, row, strict=True)]
    return means


@statement(
    GABOARDI_2017,
    "dual_query",
    pins=(
        Pin({"losses": TWO_ROUNDS, "eta": LARGE}, "both rounds in closed form",
            larger=_two_rounds_in_closed_form),
        Pin({"losses": ONE_ROUND, "eta": SMALL}, "log cosh eta, which is eta^2/2 to the first order: attained",
            larger=lambda: [None, (2 * ball(SMALL).cosh()).log()], within=Fraction(1, 100)),
    ),
)  # fmt: skip
def dual_query_error_at_most_its_regret(losses: Losses, eta: Rate) -> Verdict:
    """However the data player answers, the largest mean error q(D) - q(x) over all queries q is at most the query
    player's mean error plus eta/2 plus log(number of queries)/(eta T).

    With T = 4 log|Q| / alpha^2 and eta of order alpha the synthetic data err by little more than the data player's
    answers to the drawn queries. The two steps: eta times the largest sum S_q of errors is at most the potential
    log sum_q e^(eta S_q), and that is at most log|Q| plus eta times the player's errors plus eta^2/2 for each round
    (Hoeffding's lemma: errors lie in [-1, 1]), which is attained for small rates.
    """
    rate, rounds, queries = exact("eta", eta), len(losses), len(losses[0])

    totals = [sum((row[q] for row in losses), Fraction(0)) for q in range(queries)]
    potential: Real = lambda: sum_balls(ball(rate * total).exp() for total in totals).log()

    def bound() -> arb:
        return ball(queries).log() + ball(rate) * errors_of_player(losses, rate) + ball(rate**2 * rounds / 2)

    if queries == 1:
        return at_most_exact(Fraction(0), rate / 2, "the regret of a single query").without_tightness()
    return conjunction([
        at_most(lambda: ball(rate * max(totals)), potential),
        at_most(potential, bound),
    ]).without_tightness()  # fmt: skip


# --- posterior sampling -------------------------------------------------------------------------------------

LARGEST = Fraction(4)
Likelihoods = Annotated[
    Table,
    RationalTables("weights of the other records, and the likelihoods of two records", (3,), 6, 1 / LARGEST, LARGEST),
]
EXTREME: Table = (
    (Fraction(1, 4), *([Fraction(4)] * 5)), (LARGEST, *([1 / LARGEST] * 5)), (1 / LARGEST, *([LARGEST] * 5)),
)  # fmt: skip


def posterior(weights: tuple[Fraction, ...], *records: tuple[Fraction, ...]) -> list[Fraction]:
    """Return the posterior on a grid, of prior weights and the likelihoods of further records."""
    raw = list(weights)
    for likelihood in records:
        raw = [w * p for w, p in zip(raw, likelihood, strict=True)]
    return [w / sum(raw) for w in raw]


@statement(
    GABOARDI_2017,
    "posterior_sampling",
    examples=({"table": EXTREME},),
    pins=(
        Pin(
            {"table": EXTREME},
            "odds of 1 to 80, times 4^4 between the two records, and times 4^2 for one",
            smaller=lambda: [Fraction(256 * 1281, 16 * 96), Fraction(427, 27)],
            larger=lambda: [256, 16],
        ),
    ),
)
def pure_dp_of_posterior_sample(table: Likelihoods) -> Verdict:
    """One sample of the posterior on a finite grid is 4 B-DP when a record is replaced and 2 B-DP when one is added
    or removed, if the log-likelihood of a record is at most B in modulus: an exponential mechanism, exactly.

    Numerator and normaliser each move by a factor of at most e^(2 B) or e^B; approached where one parameter of small
    weight gains what all others lose. B is the least one that the two records obey.
    """
    weights, first, second = table
    bound = max(max(x, 1 / x) for row in (first, second) for x in row)
    without, one, other = posterior(weights), posterior(weights, first), posterior(weights, second)
    replaced = max(max(p / q, q / p) for p, q in zip(one, other, strict=True))
    added = max(max(p / q, q / p) for after in (one, other) for p, q in zip(after, without, strict=True))
    return conjunction([
        at_most_exact(replaced, bound**4, "the ratio under replacement"),
        at_most_exact(added, bound**2, "the ratio under addition"),
    ])  # fmt: skip


# --- accountants --------------------------------------------------------------------------------------------

Sigma = Annotated[Exact, Reals("a noise multiplier", Fraction(1, 2), 20, (1, Fraction(11, 10)), logarithmic=True)]
Sampling = Annotated[Exact, Reals("a sampling rate", Fraction(1, 10**4), 1, (1, Fraction(1, 100)), logarithmic=True)]
Order = Annotated[int, Integers("an order", 2, 64, (2, 3, 32))]
Level = Annotated[Exact, Reals("a privacy parameter", Fraction(1, 100), 5, (1,), logarithmic=True)]


def sampled_gaussian_log_moment(order: int, sampling: Exact, sigma: Exact) -> arb:
    """Enclose log E_Q[(P/Q)^alpha] for Q = N(0, sigma^2), P = (1 - q) Q + q N(1, sigma^2), integer alpha.

    log sum_k C(alpha, k) (1 - q)^(alpha - k) q^k exp((k^2 - k)/(2 sigma^2)).
    """
    rate, variance = exact("sampling", sampling), exact("sigma", sigma) ** 2
    terms, binomial = [], 1
    for k in range(order + 1):
        weight = binomial * (1 - rate) ** (order - k) * rate**k
        terms.append(ball(weight) * ball(Fraction(k * k - k) / (2 * variance)).exp())
        binomial = binomial * (order - k) // (k + 1)
    return sum_balls(terms).log()


def sampled_gaussian_hockey_stick(level: arb, sampling: Exact, sigma: Exact) -> arb:
    """Enclose the least delta of P over Q at epsilon = level > 0: the ratio rises with x, the event is a half-line.

    1 - q + q e^((2 x - 1)/(2 sigma^2)) > e^epsilon beyond x = 1/2 + sigma^2 log((e^epsilon - 1 + q)/q).
    """
    rate, scale = ball(exact("sampling", sampling)), ball(exact("sigma", sigma))
    cut = arb(1) / 2 + scale * scale * ((level.expm1() + rate) / rate).log()
    far, near = normal_cdf(-cut / scale), normal_cdf(-(cut - 1) / scale)
    return rate * (near - far) - level.expm1() * far


def reversed_hockey_stick(level: arb, sampling: Exact, sigma: Exact) -> arb:
    """Enclose the least delta of Q over P: the half-line below x = 1/2 + sigma^2 log((e^-epsilon - 1 + q)/q), if any.

    The ratio Q/P never reaches 1/(1 - q): beyond log 1/(1 - q) delta is 0.
    """
    rate, scale = ball(exact("sampling", sampling)), ball(exact("sigma", sigma))
    room = (-level).expm1() + rate
    if room <= 0:
        return arb(0)
    cut = arb(1) / 2 + scale * scale * (room / rate).log()  # not a number while the sign of `room` is open
    far, near = normal_cdf(cut / scale), normal_cdf((cut - 1) / scale)
    return far - level.exp() * ((1 - rate) * far + rate * near)


@statement(
    GABOARDI_2017,
    "dp_deep_learning_accountants",
    examples=(
        {"sampling": Fraction(1, 100), "sigma": Fraction(11, 10), "order": 32, "epsilon": 1},
        {"sampling": 1, "sigma": Fraction(1, 2), "order": 2, "epsilon": 5},
    ),
    pins=(
        Pin(
            {"sampling": 1, "sigma": Fraction(1, 2), "order": 2, "epsilon": 5},
            "the Gaussian mechanism by adaptive integration; log-moment 4, so that delta = e^-1/4",
            smaller=lambda: [gaussian_excess(arb(2), arb(5))] * 2,
            larger=lambda: [arb(-1).exp() / 4] * 2,
        ),
        Pin(
            {"sampling": Fraction(1, 4), "sigma": 1, "order": 3, "epsilon": 1},
            "the moment of (3 + x)/4 with E[x] = 1, E[x^2] = e, E[x^3] = e^3",
            larger=lambda: [sampled_gaussian_delta_of_order_three()] * 2,
        ),
    ),
)
def renyi_accountant_of_sampled_gaussian_is_sound(
    sampling: Sampling, sigma: Sigma, order: Order, epsilon: Level
) -> Verdict:
    """The delta that the moments accountant of private learning states for one step of the sampled Gaussian mechanism,
    e^(A - (alpha - 1) epsilon) (1 - 1/alpha)^(alpha - 1)/alpha with A the log-moment of order alpha, is at least the
    exact one at every order, whether the record is added or removed (conversion of Balle et al. 2020).
    """
    level = exact("epsilon", epsilon)

    def stated() -> arb:
        exponent = sampled_gaussian_log_moment(order, sampling, sigma) - ball((order - 1) * level)
        return exponent.exp() * ball(Fraction(order - 1, order)) ** (order - 1) / order

    return conjunction([
        at_most(lambda: sampled_gaussian_hockey_stick(ball(level), sampling, sigma), stated),
        at_most(lambda: reversed_hockey_stick(ball(level), sampling, sigma), stated),
    ])  # fmt: skip
