import math
from fractions import Fraction

import pytest

from dpassay.spec.ball import ball
from dpassay.spec.distributions.dual_query import DualQueryDistribution
from dpassay.spec.distributions.local_responses import bloom_report_distribution, hadamard_response_distribution
from dpassay.spec.distributions.posterior import PosteriorDistribution
from dpassay.spec.theorems.foundations.local_model import hadamard_estimate_tail, rappor_ratio
from dpassay.spec.theorems.foundations.projects import (
    dual_query_epsilon,
    posterior,
    sampled_gaussian_hockey_stick,
    sampled_gaussian_log_moment,
)
from dpassay.spec.theorems.foundations.truncated_geometric import geometric_cumulative


def test_the_claims_of_the_benchmark() -> None:
    assert math.log(rappor_ratio(4, Fraction(3, 4), Fraction(11, 20))) == pytest.approx(0.400083, abs=1e-6)
    assert math.log(rappor_ratio(4, Fraction(19, 20), Fraction(1))) == pytest.approx(0.800668, abs=1e-6)
    assert geometric_cumulative(2, 5, 3)[-1] == 17 * 9**4
    assert dual_query_epsilon(4, 3, Fraction(1, 2), 10) == Fraction(9, 5)


def test_without_subsampling_the_accountant_is_that_of_the_gaussian_mechanism() -> None:
    assert float(sampled_gaussian_log_moment(5, 1, 2)) == pytest.approx(20 / 8)
    assert float(sampled_gaussian_hockey_stick(ball(1), 1, 1)) == pytest.approx(0.126936737507, rel=1e-10)


def test_subsampling_amplifies() -> None:
    whole, part = (float(sampled_gaussian_hockey_stick(ball(1), q, 1)) for q in (1, Fraction(1, 10)))
    assert 0 < part < whole / 10


def test_posteriors() -> None:
    assert posterior((Fraction(1), Fraction(1)), (Fraction(1, 4), Fraction(3, 4))) == [Fraction(1, 4), Fraction(3, 4)]
    distribution = PosteriorDistribution((0.25, 0.5), (1, 0.0))
    assert float(distribution.log_probability(0).exp()) == pytest.approx((3 / 16) / (3 / 16 + 1 / 4))
    assert [float(distribution.log_probability(none)) for none in (-1, 2, "0")] == [-math.inf] * 3


def test_the_first_round_of_dual_query_does_not_see_the_data() -> None:
    queries = ((1, 0), (0, 1))
    for counts in ((3, 0), (0, 3)):
        distribution = DualQueryDistribution(queries, counts, 1, Fraction(1))
        assert [float(distribution.log_probability(o).exp()) for o in distribution.outcomes] == pytest.approx(
            [0.5, 0.5]
        )
    assert float(DualQueryDistribution(queries, (3, 0), 1, Fraction(1)).log_probability((7,))) == -math.inf
    two = DualQueryDistribution(queries, (3, 0), 2, Fraction(1))
    # after x = 1 the first query has error 1 and the second -1: odds e^2; after x = 0 both have error 0
    assert float(two.log_probability((1, 0)).exp()) == pytest.approx(0.5 / (1 + math.exp(-2)))
    assert float(two.log_probability((0, 0)).exp()) == pytest.approx(0.25)


def test_single_users() -> None:
    assert hadamard_response_distribution(0, 1, Fraction(3)).weights == {0: Fraction(3, 4), 1: Fraction(1, 4)}
    assert bloom_report_distribution((1,), Fraction(1), Fraction(1)).weights == {
        (0,): Fraction(1, 2),
        (1,): Fraction(1, 2),
    }
    # one user, who holds the value: the estimate is +2 or -2 for e^epsilon = 3, never within 1/2 of 1
    assert hadamard_estimate_tail(1, 1, Fraction(3), Fraction(1, 2)) == 1
    assert hadamard_estimate_tail(1, 1, Fraction(3), Fraction(1)) == Fraction(1, 4)
