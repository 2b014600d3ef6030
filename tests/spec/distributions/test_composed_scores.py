import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb

from dpassay.arguments import UsageError
from dpassay.spec.ball import ball, float_lower, precision
from dpassay.spec.distributions.composed_responses import composed_response_delta
from dpassay.spec.distributions.composed_scores import (
    LONGEST,
    Cell,
    ScoreDistributions,
    _merged,
    cells_of_cuts,
    composed_scores,
    pooled_scores,
)
from dpassay.spec.distributions.discrete import FiniteDistribution, hockey_stick
from dpassay.spec.distributions.gaussian import gaussian_hockey_stick
from dpassay.spec.distributions.laplace_pair import laplace_cells, laplace_hockey_stick
from dpassay.spec.distributions.subsampled_gaussian import subsampled_gaussian_cells

BITS = 128


def response_cells(epsilon: float) -> list[Cell]:
    truthful = 1 / (1 + (-ball(epsilon)).exp())
    return cells_of_cuts([truthful, 1 - truthful], [1 - truthful, truthful])


@pytest.mark.parametrize("count", [1, 2, 7, 100, 5000])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0])
def test_composed_responses_are_bounded_from_below(count: int, epsilon: float) -> None:
    with precision(BITS):
        distributions = composed_scores([(pooled_scores(response_cells(0.05)), count)])
        exact = composed_response_delta(0.05, count, epsilon)
        lower = distributions.delta_lower(epsilon)
        assert ball(lower) <= exact
        assert lower >= 0.98 * float_lower(exact)


@pytest.mark.parametrize("count", [1, 10, 1000, 30_000])
def test_composed_gaussians_are_bounded_from_below_and_nearly_attained(count: int) -> None:
    with precision(BITS):
        sigma = 2 * Fraction(math.isqrt(count))
        distributions = composed_scores([(pooled_scores(subsampled_gaussian_cells(sigma, 1)), count)])
        assert len(distributions.left) <= LONGEST
        exact = gaussian_hockey_stick(ball(count).sqrt() / ball(sigma), Fraction(1, 2))
        lower = distributions.delta_lower(Fraction(1, 2))
        assert ball(lower) <= exact
        assert lower >= 0.97 * float_lower(exact)
        epsilon = distributions.epsilon_lower(lower * (1 - 2.0**-20))
        assert 0.499 <= epsilon <= 0.5 + 2.0**-10
        # the bound on epsilon is one on the exact curve, too
        assert ball(lower * (1 - 2.0**-20)) < gaussian_hockey_stick(
            ball(count).sqrt() / ball(sigma), epsilon - 2.0**-10
        )


def test_every_error_is_taken_off_each_score_of_an_event() -> None:
    """With errors of a tenth and of 1/100 for each score; those of real compositions are 2^-40 and less."""
    distributions = ScoreDistributions(0, np.array([0.2, 0.3, 0.5]), np.array([0.7, 0.2, 0.1]), 0.1, 0.01)
    least, most = 0.8 * 0.9 - 2 * 0.01, 0.3 * 1.1 + 2 * 0.01
    assert distributions.delta_lower(0.0) == pytest.approx(least - most, rel=1e-14)
    assert distributions.delta_lower(Fraction(1, 4)) == pytest.approx(least - math.exp(0.25) * most, rel=1e-14)
    one = 0.5 * 0.9 - 0.01 - 0.05
    assert distributions.epsilon_lower(Fraction(1, 20)) == pytest.approx(math.log(one / (0.1 * 1.1 + 0.01)), rel=1e-14)


def test_a_single_laplace_mechanism_loses_little_to_the_cells() -> None:
    with precision(BITS):
        distributions = pooled_scores(laplace_cells(1))
        for epsilon in (0.0, 0.25, 0.5, 0.9):
            exact = laplace_hockey_stick(1, epsilon)
            assert ball(distributions.delta_lower(epsilon)) <= exact
            assert distributions.delta_lower(epsilon) >= 0.98 * float_lower(exact)


def test_any_cells_and_units_give_lower_bounds() -> None:
    """Random pairs of distributions on five outcomes, against the exact divergence of three independent copies."""
    rng = np.random.default_rng(0)
    with precision(BITS):
        for _ in range(20):
            left, right = (FiniteDistribution.of(*rng.integers(1, 50, 5).tolist()) for _ in range(2))
            p, q = ([ball(distribution.probability(k)) for k in range(5)] for distribution in (left, right))
            unit = float(rng.choice([0.01, 0.3, 5.0]))
            distributions = composed_scores([(pooled_scores(cells_of_cuts(p, q), unit), 3)])
            one, other = (
                FiniteDistribution({
                    (i, j, k): distribution.probability(i) * distribution.probability(j) * distribution.probability(k)
                    for i in range(5) for j in range(5) for k in range(5)
                })
                for distribution in (left, right)
            )  # fmt: skip
            for epsilon in (0.0, 0.5, 2.0):
                assert ball(distributions.delta_lower(epsilon)) <= hockey_stick(one, other, ball(epsilon))
            bound = distributions.epsilon_lower(0.01)
            assert bound == 0 or hockey_stick(one, other, ball(bound * (1 - 2.0**-40))) > 0.01


def test_tiny_probabilities_keep_their_digits() -> None:
    with precision(BITS):
        distributions = composed_scores([(pooled_scores(response_cells(20.0)), 12)])
        exact = composed_response_delta(20.0, 12, 200.0)
        assert ball(distributions.delta_lower(200.0)) <= exact
        assert distributions.delta_lower(200.0) >= (1 - 1e-9) * float_lower(exact)


def test_rounding_is_accounted_for() -> None:
    """The probabilities of all scores are lower bounds on the left, and upper bounds on the right."""
    with precision(BITS):
        distributions = composed_scores([(pooled_scores(response_cells(0.1)), 3000)])
        assert 0 < distributions.relative < 1e-6
        assert distributions.left.sum() * (1 - distributions.relative) <= 1
        assert (
            distributions.right.sum() * (1 + distributions.relative)
            + len(distributions.right) * distributions.absolute
            >= 1
        )


def test_nothing_to_compose_is_refused() -> None:
    with pytest.raises(UsageError, match="cells"):
        pooled_scores([])
    with pytest.raises(UsageError, match="at least once"):
        composed_scores([])
    with pytest.raises(UsageError, match="at least once"):
        composed_scores([(pooled_scores(cells_of_cuts([arb(1)], [arb(1)])), 0)])


def test_equal_distributions_lose_nothing() -> None:
    distributions = composed_scores([(pooled_scores(cells_of_cuts([arb(0.5)] * 2, [arb(0.5)] * 2)), 1000)])
    assert distributions.delta_lower(0) == pytest.approx(0, abs=1e-9)
    assert distributions.epsilon_lower(1e-6) == 0


def test_merged_scores_are_as_wrong_as_all_their_parts() -> None:
    """Each probability may be off by the stated errors: the sum of a group by those of all its parts."""
    rng = np.random.default_rng(0)
    left, right = (rng.dirichlet(np.ones(60)) for _ in range(2))
    relative, absolute = 1e-6, 1e-5
    stated = ScoreDistributions(
        0, (left + absolute) / (1 - relative), (right - absolute) / (1 + relative), relative, absolute
    )
    groups = np.minimum(np.arange(60) // 7, 5)
    merged = _merged(stated, groups, 3)
    assert merged.first == 3
    assert bool(np.all(np.bincount(groups, left) >= merged.left * (1 - merged.relative) - merged.absolute))
    assert bool(np.all(np.bincount(groups, right) <= merged.right * (1 + merged.relative) + merged.absolute))
    assert merged.absolute == pytest.approx(np.bincount(groups).max() * absolute)


def test_an_outcome_that_never_happens_joins_no_event() -> None:
    """Its errors would be taken off the probability of the event."""
    one = ScoreDistributions(0, np.array([0.2, 0.3, 0.5]), np.array([0.7, 0.2, 0.1]), 0.1, 0.01)
    more = ScoreDistributions(0, np.array([0.0, 0.2, 0.3, 0.0, 0.5]), np.array([0.0, 0.7, 0.2, 0.0, 0.1]), 0.1, 0.01)
    for delta in (Fraction(1, 20), Fraction(3, 10)):
        assert more.epsilon_lower(delta) == one.epsilon_lower(delta) > 0


def test_the_rounding_of_a_sum_grows_with_the_shorter_list() -> None:
    """Each probability of a sum has as many terms as the shorter list has scores."""
    one = ScoreDistributions(0, np.array([1.0]), np.array([1.0]), 0.0, 0.0)
    many = ScoreDistributions(0, np.full(1000, 0.001), np.full(1000, 0.001), 0.0, 0.0)
    for parts in (((one, 1), (many, 1)), ((many, 1), (one, 1))):
        assert composed_scores(parts).relative == pytest.approx(3 * 2.0**-53, rel=1e-2, abs=0)
    assert composed_scores([(many, 2)]).relative == pytest.approx(1002 * 2.0**-53, rel=1e-2, abs=0)


def test_scores_without_mass_do_not_deviate() -> None:
    assert ScoreDistributions(0, np.zeros(3), np.array([0.5, 0.25, 0.25]), 0.0, 0.0).deviation == 0


@pytest.mark.parametrize("halvings", [1, 30, 100, 1000])
def test_an_epsilon_is_rounded_down(halvings: int) -> None:
    """A score of probability 1 on the left and 2^-k on the right: the loss is k log 2."""
    one = ScoreDistributions(0, np.array([1.0]), np.array([2.0**-halvings]), 0.0, 0.0)
    with precision(BITS):
        assert ball(one.epsilon_lower(0)) <= halvings * arb(2).log()
    assert one.epsilon_lower(0) == pytest.approx(halvings * math.log(2), rel=1e-14)
