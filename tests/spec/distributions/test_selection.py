"""Exact distributions of the selection baselines against sums over orders, quadrature and closed forms."""

import itertools
import math
from fractions import Fraction

import mpmath
import pytest
from flint import arb

from dpassay.arguments import UsageError
from dpassay.spec.ball import ATTAINED, Exact, at_most, enclosure, sum_balls
from dpassay.spec.distributions.discrete import max_divergence
from dpassay.spec.distributions.exponential import ExponentialMechanismDistribution
from dpassay.spec.distributions.laplace_noisy_max import LaplaceNoisyMaxDistribution
from dpassay.spec.distributions.permute_and_flip import PermuteAndFlipDistribution
from dpassay.spec.distributions.selection import SelectionDistribution, selection_rate
from dpassay.spec.verdict import Outcome

LAWS: tuple[type[SelectionDistribution], ...] = (
    ExponentialMechanismDistribution,
    PermuteAndFlipDistribution,
    LaplaceNoisyMaxDistribution,
)
SCORES: tuple[tuple[Exact, ...], ...] = (
    (0,),
    (1, 1),
    (0, 1, Fraction(5, 2)),
    (0, 0, 3, 3, 1),
    (-2, 10**6, 3),
    tuple(range(12)),
    (0,) * 40 + (1,) * 20 + (Fraction(7, 3),),
)


def probabilities(distribution: SelectionDistribution) -> list[float]:
    return [float(distribution.log_probability(o).exp()) for o in distribution.outcomes]


@pytest.mark.parametrize("distribution", LAWS)
@pytest.mark.parametrize("scores", SCORES, ids=lambda s: f"d={len(s)}")
def test_probabilities_sum_to_one(distribution: type[SelectionDistribution], scores: tuple[Exact, ...]) -> None:
    made = distribution(scores, 2, 1)
    total = enclosure(lambda: sum_balls(made.log_probability(o).exp() for o in made.outcomes), relative_bits=60)
    assert total.contains(1)


@pytest.mark.parametrize("distribution", LAWS)
def test_distributions_are_unmoved_by_shifts_and_move_with_permutations(
    distribution: type[SelectionDistribution],
) -> None:
    base = probabilities(distribution((0, 1, 4), 1, 1))
    assert probabilities(distribution((7, 8, 11), 1, 1)) == pytest.approx(base, rel=1e-15)
    assert probabilities(distribution((4, 0, 1), 1, 1)) == pytest.approx([base[2], base[0], base[1]], rel=1e-15)
    assert probabilities(distribution((0, 2, 8), 1, 2)) == pytest.approx(base, rel=1e-15)
    assert probabilities(distribution((0, 1, 4), Fraction(1, 2), 1, monotone=True)) == pytest.approx(base, rel=1e-15)


def test_exponential_mechanism_is_the_softmax() -> None:
    weights = [math.exp(score / 2) for score in (0, 1, 4)]
    assert probabilities(ExponentialMechanismDistribution((0, 1, 4), 1, 1)) == pytest.approx(
        [w / sum(weights) for w in weights]
    )


@pytest.mark.parametrize("scores", [(0, 1), (0, 0, 0), (0, 1, 4, 4), (3, 1, 4, 1, 5)])
def test_permute_and_flip_is_the_mean_over_orders(scores: tuple[int, ...]) -> None:
    accept = [math.exp((score - max(scores)) / 2) for score in scores]
    means = [0.0] * len(scores)
    for order in itertools.permutations(range(len(scores))):
        reached = 1 / math.factorial(len(scores))
        for candidate in order:
            means[candidate] += reached * accept[candidate]
            reached *= 1 - accept[candidate]
    assert probabilities(PermuteAndFlipDistribution(scores, 1, 1)) == pytest.approx(means, rel=1e-12)


@pytest.mark.parametrize("scores", [(0, 1), (0, 1, 2.5), (2, 2, 0, 5)])
def test_laplace_noisy_max_is_the_integral(scores: tuple[float, ...]) -> None:
    def cdf(x: mpmath.mpf) -> mpmath.mpf:
        return mpmath.exp(x) / 2 if x < 0 else 1 - mpmath.exp(-x) / 2

    units = [mpmath.mpf(score) / 2 for score in scores]
    for o, own in enumerate(units):
        others = [score - own for i, score in enumerate(units) if i != o]
        kinks = sorted({mpmath.mpf(0), *others})
        integrand = lambda z, others=others: mpmath.exp(-abs(z)) / 2 * mpmath.fprod(cdf(z - x) for x in others)
        truth = mpmath.quad(integrand, [-mpmath.inf, *kinks, mpmath.inf])
        assert float(LaplaceNoisyMaxDistribution(scores, 1, 1).log_probability(o).exp()) == pytest.approx(float(truth))


@pytest.mark.parametrize("gap", [0, Fraction(1, 3), 2, 500])
def test_two_candidates_race_in_closed_form(gap: Exact) -> None:
    """The difference of two unit Laplace variables exceeds g with probability e^-g (1 + g/2) / 2."""
    distribution, g = (
        LaplaceNoisyMaxDistribution((0, gap), 2, 1),
        mpmath.mpf(Fraction(gap).numerator) / Fraction(gap).denominator,
    )
    truth = mpmath.log1p(g / 2) - g - mpmath.log(2)
    assert float(distribution.log_probability(0)) == pytest.approx(float(truth), rel=1e-14)


@pytest.mark.parametrize("distribution", LAWS)
def test_the_factor_two_is_needed(distribution: type[SelectionDistribution]) -> None:
    low, high = (20,) * 5 + (0,), (19,) * 5 + (1,)
    loss = lambda: max_divergence(distribution(high, 1, 1), distribution(low, 1, 1))
    assert at_most(loss, lambda: arb(1), slack=ATTAINED).outcome is Outcome.HOLDS
    assert float(max_divergence(distribution(high, 1, 1), distribution(low, 1, 1))) == pytest.approx(1, rel=1e-3)
    assert max_divergence(distribution(high, 1, 1, monotone=True), distribution(low, 1, 1, monotone=True)) > 1.99


@pytest.mark.parametrize("distribution", LAWS)
def test_a_thousand_tied_candidates_are_no_burden(distribution: type[SelectionDistribution]) -> None:
    made = distribution((0,) * 999 + (1,), 1, 1)
    assert float(sum_balls(made.log_probability(o).exp() for o in made.outcomes)) == pytest.approx(1)


@pytest.mark.parametrize("distribution", LAWS)
@pytest.mark.parametrize(
    ("scores", "epsilon", "sensitivity", "blamed"),
    [((), 1, 1, "answers"), ((float("nan"),), 1, 1, "answers"), ((0,), 0, 1, "epsilon"), ((0,), 1, 0, "sensitivity"),
     ((0,), float("inf"), 1, "epsilon"), ((float("-inf"), 0), 1, 1, "answers")],
)  # fmt: skip
def test_bad_settings_are_refused(
    distribution: type[SelectionDistribution],
    scores: tuple[Exact, ...],
    epsilon: Exact,
    sensitivity: Exact,
    blamed: str,
) -> None:
    with pytest.raises(UsageError, match=blamed):
        distribution(scores, epsilon, sensitivity)


@pytest.mark.parametrize("outcome", [-1, 2, "0"])
def test_unknown_outcomes_are_refused(outcome: object) -> None:
    with pytest.raises(UsageError, match="outcome"):
        ExponentialMechanismDistribution((0, 1), 1, 1).log_probability(outcome)


def test_sizes_that_cannot_be_expanded_are_refused() -> None:
    zero, rate = Fraction(0), selection_rate(1, 1)
    for distribution in (PermuteAndFlipDistribution, LaplaceNoisyMaxDistribution):
        with pytest.raises(UsageError, match="candidates"):
            distribution.log_report_probability(zero, ((zero, 10**6),), rate)
    assert float(ExponentialMechanismDistribution.log_report_probability(zero, ((zero, 10**6),), rate)) < -13
