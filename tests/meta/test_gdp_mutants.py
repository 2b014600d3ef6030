"""Mutants of Gaussian DP: wrong trade-off functions, wrong duals and wrong conversions. Each must be refuted."""

from fractions import Fraction

from flint import arb

from dpassay.properties.verify import verify_statement
from dpassay.spec.ball import ball, max_balls, normal_quantile
from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.distributions.gaussian import gaussian_hockey_stick
from dpassay.spec.notions import gdp_conversions
from dpassay.spec.notions.gdp import TradeOff, gaussian_dp_of, trade_off
from dpassay.spec.statement import Statement
from dpassay.spec.verdict import Outcome

Finite = FiniteDistribution


def swapped(left: Finite, right: Finite) -> TradeOff:
    return trade_off(right, left)


def without_order(left: Finite, right: Finite) -> TradeOff:
    """Reject outcomes in the order in which they are listed."""
    alpha, beta, vertices = Fraction(0), Fraction(1), [(Fraction(0), Fraction(1))]
    for outcome in left.outcomes:
        alpha, beta = alpha + left.probability(outcome), beta - right.probability(outcome)
        vertices.append((alpha, beta))
    return TradeOff(tuple(vertices))


def without_inner_vertices(left: Finite, right: Finite) -> TradeOff:
    """Join the first and the last vertex by a line."""
    vertices = trade_off(left, right).vertices
    return TradeOff((vertices[0], vertices[-1]))


def smallest_separation(left: Finite, right: Finite) -> arb:
    """Take only the first inner vertex."""
    vertices = [v for v in trade_off(left, right).vertices if 0 < v[0] < 1][:1]
    return max_balls([arb(0), *(-normal_quantile(ball(a)) - normal_quantile(ball(b)) for a, b in vertices)])


def half(left: Finite, right: Finite) -> arb:
    return gaussian_dp_of(left, right) / 2


def squared(left: Finite, right: Finite) -> arb:
    return gaussian_dp_of(left, right) ** 2


def one_sided_mu(epsilon: arb) -> arb:
    return -normal_quantile((-epsilon).exp() / (1 + (-epsilon).exp()))


def delta_of_half_the_shift(shift: arb, epsilon: arb) -> arb:
    return gaussian_hockey_stick(shift / 2, epsilon)


DUAL, BACK = (
    "deltas_are_the_conjugate_of_the_trade_off_function",
    "the_trade_off_function_is_the_supremum_of_its_deltas",
)
REFUTED = [
    (DUAL, "the pair is swapped", gdp_conversions, "trade_off", swapped),
    (DUAL, "outcomes are rejected in any order", gdp_conversions, "trade_off", without_order),
    (DUAL, "inner vertices are left out", gdp_conversions, "trade_off", without_inner_vertices),
    (BACK, "the pair is swapped", gdp_conversions, "trade_off", swapped),
    (BACK, "inner vertices are left out", gdp_conversions, "trade_off", without_inner_vertices),
    (
        "the_trade_off_function_of_the_swapped_pair_is_the_inverse",
        "outcomes are rejected in any order",
        gdp_conversions,
        "trade_off",
        without_order,
    ),
    ("gaussian_dp_of_pure_dp", "mu counts one side", gdp_conversions, "gaussian_mu_of_pure", one_sided_mu),
    ("approximate_dp_of_gaussian_dp", "mu is halved", gdp_conversions, "gaussian_dp_of", half),
    ("approximate_dp_of_gaussian_dp", "one vertex only", gdp_conversions, "gaussian_dp_of", smallest_separation),
    (
        "approximate_dp_of_gaussian_dp",
        "delta of half the shift",
        gdp_conversions,
        "gaussian_hockey_stick",
        delta_of_half_the_shift,
    ),
    ("zcdp_of_gaussian_dp", "mu is halved", gdp_conversions, "gaussian_dp_of", half),
    ("gaussian_dp_composes_by_squares", "mu is squared", gdp_conversions, "gaussian_dp_of", squared),
    ("gaussian_dp_of_groups_is_linear", "mu is squared", gdp_conversions, "gaussian_dp_of", squared),
    ("gaussian_dp_does_not_follow_from_zcdp", "mu is halved", gdp_conversions, "gaussian_dp_of", half),
    (
        "gaussian_dp_does_not_follow_from_approximate_dp",
        "a one-sided event is overlooked",
        gdp_conversions,
        "gaussian_dp_of",
        lambda left, right: arb(0),
    ),
]


def test_the_mutant_is_refuted(refuted: Statement) -> None:
    assert verify_statement(refuted).outcome is Outcome.VIOLATED
