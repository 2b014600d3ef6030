"""Comparisons of discrete distributions against sums in mpmath, and their corners."""

from fractions import Fraction

import mpmath
import pytest
from flint import arb

from dpassay.arguments import UsageError
from dpassay.spec.ball import ball
from dpassay.spec.distributions.discrete import (
    FiniteDistribution,
    hockey_stick,
    hockey_stick_exact,
    loss_range,
    loss_tail,
    max_divergence,
    privacy_loss,
    relative_entropy,
    renyi_divergence,
    renyi_moment_exact,
)

LEFT, RIGHT = FiniteDistribution.of(6, 3, 1), FiniteDistribution.of(2, 3, 5)
LEAKY = FiniteDistribution({"a": Fraction(0), "b": Fraction(1)})


def test_the_worked_example_of_the_renyi_divergence() -> None:
    left, right = FiniteDistribution.of(6, 4), FiniteDistribution.of(4, 6)
    assert float(renyi_divergence(left, right, arb(2))) == pytest.approx(0.15415, abs=1e-5)
    assert renyi_moment_exact(left, right, 2) == Fraction(7, 6)


@pytest.mark.parametrize("alpha", [1.001, 1.5, 2, 7, 40])
def test_renyi_divergence_is_the_sum(alpha: float) -> None:
    moment = mpmath.fsum(
        mpmath.mpf(float(p)) ** alpha * mpmath.mpf(float(RIGHT.probability(o))) ** (1 - alpha)
        for o, p in LEFT.weights.items()
    )
    assert float(renyi_divergence(LEFT, RIGHT, ball(alpha))) == pytest.approx(float(mpmath.log(moment)) / (alpha - 1))


def test_enclosed_and_exact_hockey_stick_agree() -> None:
    exact = hockey_stick_exact(LEFT, RIGHT, Fraction(3, 2))
    assert hockey_stick(LEFT, RIGHT, ball(Fraction(3, 2)).log()).contains(ball(exact).mid())


def test_an_outcome_of_one_side_only_has_infinite_loss() -> None:
    other = FiniteDistribution({"a": Fraction(1, 3), "b": Fraction(2, 3)})
    assert privacy_loss(other, LEAKY, "a") == arb.pos_inf()
    assert privacy_loss(LEAKY, other, "a") == arb.neg_inf()
    assert max_divergence(other, LEAKY) == arb.pos_inf()
    assert renyi_divergence(other, LEAKY, arb(2)) == arb.pos_inf()
    assert relative_entropy(other, LEAKY) == arb.pos_inf()
    assert renyi_moment_exact(other, LEAKY, 3) is None
    assert float(loss_tail(other, LEAKY, arb(100))) == pytest.approx(1 / 3)
    assert not loss_range(other, LEAKY).is_finite()


def test_an_outcome_of_neither_side_has_no_loss() -> None:
    with pytest.raises(UsageError, match="'a'"):
        privacy_loss(LEAKY, LEAKY, "a")
    assert max_divergence(LEAKY, LEAKY) == 0


@pytest.mark.parametrize("weights", [{0: Fraction(1, 2)}, {0: Fraction(3, 2), 1: Fraction(-1, 2)}, {}])
def test_weights_must_be_probabilities(weights: dict[object, Fraction]) -> None:
    with pytest.raises(UsageError, match="weights"):
        FiniteDistribution(weights)


class HalfKnown:
    """A fair coin, one side of which could not be enclosed."""

    outcomes = (0, 1)

    def log_probability(self, outcome: object) -> arb:
        return arb(2).log() * -1 if outcome == 0 else arb.nan()


def test_an_outcome_of_indeterminate_probability_is_not_left_out() -> None:
    coin = FiniteDistribution.of(1, 1)
    assert max_divergence(HalfKnown(), coin).is_nan()
    assert hockey_stick(HalfKnown(), coin, arb(0)).is_nan()
    assert renyi_divergence(HalfKnown(), coin, arb(2)).is_nan()
    assert not loss_tail(HalfKnown(), coin, arb(1)) <= arb("0.49")
