"""Numbers recomputed independently, for the set-wise bounds and truncated noise; domains that refuse."""

import math
from fractions import Fraction

import pytest

from dpassay.arguments import UsageError
from dpassay.spec.ball import ball
from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.distributions.peeling import PeelingDistribution, peeling_probability_exact
from dpassay.spec.distributions.truncated_gaussian import (
    conditional_renyi_divergence,
    overlap_probability,
    truncated_hockey_stick,
    truncated_upper_tail,
)
from dpassay.spec.interactions.setwise import Parameter, RegisteredRound, SetwiseGame, SetwiseGames
from dpassay.spec.interactions.transcripts import chain
from dpassay.spec.theorems.composition.concentrated_bounded_range import curvature_coefficient
from dpassay.spec.theorems.composition.setwise import (
    _given_a_union,
    fixed_order,
    mixed_epsilon,
    setwise_approximate_epsilon,
    setwise_epsilon,
    setwise_total_delta,
)
from dpassay.spec.theorems.composition.subgaussian import worst_tail
from dpassay.spec.theorems.composition.top_k import count_mle
from dpassay.spec.theorems.composition.truncated_gaussian import truncation_delta
from dpassay.spec.verdict import Outcome

PURE, RANGE = Parameter("pure", Fraction(3)), Parameter("range", Fraction(2))


def test_the_bounds_of_eq_2_and_lemma_3_4_agree() -> None:
    parameters = [PURE, RANGE, RANGE]
    means, scales = zip(*(p.cdp() for p in parameters), strict=True)
    by_cdp = setwise_epsilon(list(means), list(scales), Fraction(1, 100))
    by_zcdp = setwise_approximate_epsilon([p.zcdp() for p in parameters], Fraction(1, 100))
    assert by_cdp.overlaps(by_zcdp)
    mixed = mixed_epsilon((1, *PURE.cdp()), (2, *RANGE.cdp()), (0, ball(0), ball(0)), Fraction(1, 100))
    assert mixed.overlaps(by_cdp)


def test_the_total_delta_of_five_leaks() -> None:
    assert float(setwise_total_delta([Fraction(1, 100)] * 5, Fraction(0))) == pytest.approx(0.04900995)


def test_worst_adaptive_tails() -> None:
    assert worst_tail((Fraction(1), Fraction(1)), Fraction(2), lambda b: b) == Fraction(1, 4)
    # 1 first, and 2 after a loss; 2 first gains nothing from 1; without stopping both orders have 1/2
    assert worst_tail((Fraction(2), Fraction(1)), Fraction(1), lambda b: b) == Fraction(3, 4)
    # first passage of 2 in five equal steps, by reflection: Pr[S >= 2] + Pr[S > 2] = 12/32
    assert worst_tail((Fraction(1),) * 5, Fraction(2), lambda b: b) == Fraction(3, 8)


def test_truncated_noise() -> None:
    # sigma = 2, T for delta = 10^-3, from eq (10) in high precision
    assert float(conditional_renyi_divergence(2, Fraction(17, 10), 1)) < 1
    half_width = Fraction("6.930")
    share = float(truncation_delta(half_width, 2, 1))
    at_threshold = float(truncated_upper_tail((half_width - 1) / 2, half_width / 2))
    assert at_threshold == pytest.approx(share)
    assert float(truncated_upper_tail((half_width - Fraction(3, 2)) / 2, half_width / 2)) > 2.2 * share
    assert float(overlap_probability(half_width / 2, Fraction(1, 2))) == pytest.approx(1 - share)
    assert float(truncated_hockey_stick(Fraction(1), Fraction(2), ball(3))) == 1


def test_the_conditional_renyi_divergence_against_quadrature() -> None:
    from scipy.integrate import quad
    from scipy.stats import norm

    width, shift, alpha = 2.0, 1.0, 3.0
    mass = norm.cdf(width) - norm.cdf(shift - width)
    integral, _ = quad(
        lambda x: (norm.pdf(x - shift) / mass) ** alpha * (norm.pdf(x) / mass) ** (1 - alpha), shift - width, width
    )
    expected = math.log(integral) / (alpha - 1)
    assert float(conditional_renyi_divergence(3, 2, 1)) == pytest.approx(expected, rel=1e-8)


def test_games_refuse_offers_outside_their_class() -> None:
    domain = SetwiseGames("games")
    assert domain.contains(fixed_order(PURE, RANGE))
    assert not domain.contains(fixed_order(*[PURE] * 4))
    assert not domain.contains(fixed_order(Parameter("pure", Fraction(2), Fraction(1, 10))))
    strong = FiniteDistribution.of(9, 1), FiniteDistribution.of(1, 9)
    assert not domain.contains(SetwiseGame((PURE,), chain(RegisteredRound.of(0, PURE, strong))))
    with pytest.raises(UsageError, match="ratio"):
        Parameter("pure", Fraction(1))


def test_a_used_parameter_is_refused() -> None:
    offer = RegisteredRound.of(0, PURE, PURE.response())
    twice = SetwiseGame((PURE,), chain(offer, offer))
    assert twice.losses().masses == fixed_order(PURE).losses().masses


def test_peeling() -> None:
    distribution = PeelingDistribution((Fraction(0), Fraction(1), Fraction(5, 2)), 2, Fraction(1, 2))
    assert len(distribution.outcomes) == 6
    assert float(
        sum((distribution.log_probability(o).exp() for o in distribution.outcomes), ball(0))
    ) == pytest.approx(1)
    assert peeling_probability_exact([Fraction(1), Fraction(2), Fraction(3)], (2, 0)) == Fraction(1, 2) * Fraction(
        1, 3
    )


def test_cutting_off_comes_after_pooling() -> None:
    assert list(count_mle(tuple(map(Fraction, (1, -3, 2))))) == [1, 0, 0]
    assert count_mle((Fraction(1), Fraction(2))) == (Fraction(3, 2), Fraction(3, 2))


def test_the_first_coefficients_of_the_concavity_proof() -> None:
    assert [curvature_coefficient(n) for n in range(6)] == [0, 0, 0, 0, 420, 2100]


def test_what_two_leaks_show_given_that_one_of_them_did_not_happen() -> None:
    """2 c (1 - c)/(1 - c^2) = 2 c/(1 + c): the 0.18 that the erratum states for c = 1/10."""
    chance = Fraction(1, 10)
    shown = 2 * chance / (1 + chance)
    assert float(shown) == pytest.approx(0.18, abs=0.002)
    assert _given_a_union(chance, shown).outcome is Outcome.HOLDS
    assert _given_a_union(chance, shown - Fraction(1, 10**12)).outcome is Outcome.VIOLATED
