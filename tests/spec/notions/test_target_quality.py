"""The exact quality of a target, and the validator of explicit decompositions."""

from fractions import Fraction
from typing import Any

import pytest

from dpassay.arguments import UsageError
from dpassay.spec.ball import ball
from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.notions.target_quality import (
    Mixture,
    best_mixture,
    enclosed_target_quality,
    normalised,
    target_quality,
)
from dpassay.spec.proof.comparisons import agree
from dpassay.spec.verdict import Outcome

HIT: frozenset[Any] = frozenset({1})
LEFT, RIGHT = FiniteDistribution.of(3, 1), FiniteDistribution.of(1, 3)
RARE = FiniteDistribution({0: Fraction(99, 100), 1: Fraction(1, 100)})
LESS_RARE = FiniteDistribution({0: Fraction(98, 100), 1: Fraction(2, 100)})


def test_randomised_response_has_nothing_in_common() -> None:
    assert target_quality(LEFT, RIGHT, HIT, Fraction(3)) == Fraction(1, 4)
    assert best_mixture(LEFT, RIGHT, HIT, Fraction(3)).weight == 0


def test_a_rare_hit_is_charged_rarely_and_has_the_same_quality() -> None:
    mixture = best_mixture(RARE, LESS_RARE, HIT, Fraction(2))
    assert mixture.quality(HIT) == target_quality(RARE, LESS_RARE, HIT, Fraction(2)) == Fraction(1, 3)
    assert mixture.weight == Fraction(97, 100)


def test_equal_distributions_touch_nothing() -> None:
    assert target_quality(RARE, RARE, HIT, Fraction(2)) == 1
    mixture = best_mixture(RARE, RARE, HIT, Fraction(2))
    assert mixture.weight == 1
    assert mixture.shows(RARE, RARE, HIT, Fraction(2), Fraction(1)).outcome is Outcome.HOLDS


def test_a_target_that_is_never_hit_has_quality_0() -> None:
    left, right = FiniteDistribution.of(2, 1, 0), FiniteDistribution.of(1, 2, 0)
    assert target_quality(left, right, frozenset({2}), Fraction(2)) == 0


@pytest.mark.parametrize(
    ("left", "right", "ratio"), [(LEFT, RIGHT, Fraction(5)), (RARE, LESS_RARE, Fraction(3))], ids=["response", "rare"]
)
def test_the_enclosure_agrees_with_the_exact_quality(
    left: FiniteDistribution, right: FiniteDistribution, ratio: Fraction
) -> None:
    exact = target_quality(left, right, HIT, ratio)
    verdict = agree(
        lambda: enclosed_target_quality(left, right, HIT, ball(ratio).log()), lambda: ball(exact), "qualities"
    )
    assert verdict.outcome is Outcome.HOLDS, verdict.detail


@pytest.mark.parametrize(
    ("left", "right", "target", "ratio", "blamed"),
    [
        (LEFT, RIGHT, HIT, Fraction(1), "ratio"),
        (LEFT, RIGHT, frozenset(), Fraction(3), "target"),
        (LEFT, RIGHT, frozenset({7}), Fraction(3), "target"),
        (LEFT, RIGHT, HIT, Fraction(2), "indistinguishable"),
    ],
)
def test_what_has_no_quality_is_refused(
    left: FiniteDistribution, right: FiniteDistribution, target: Any, ratio: Fraction, blamed: str
) -> None:
    for oracle in (target_quality, best_mixture):
        with pytest.raises(UsageError, match=blamed):
            oracle(left, right, target, ratio)


# --- explicit decompositions --------------------------------------------------------------------------------


def test_the_validator_wants_the_smaller_side_not_the_average() -> None:
    whole = Mixture(Fraction(0), LEFT, LEFT, RIGHT)
    assert whole.shows(LEFT, RIGHT, HIT, Fraction(3), Fraction(1, 4)).outcome is Outcome.HOLDS
    assert whole.shows(LEFT, RIGHT, HIT, Fraction(3), Fraction(1, 2)).outcome is Outcome.VIOLATED


def test_the_validator_wants_epsilon_not_twice_epsilon() -> None:
    whole = Mixture(Fraction(0), LEFT, LEFT, RIGHT)
    assert whole.shows(LEFT, RIGHT, HIT, Fraction(2), Fraction(0)).outcome is Outcome.VIOLATED


def test_the_validator_adds_up() -> None:
    good = best_mixture(RARE, LESS_RARE, HIT, Fraction(2))
    assert good.shows(RARE, LESS_RARE, HIT, Fraction(2), Fraction(1, 3)).outcome is Outcome.HOLDS
    assert good.shows(LESS_RARE, RARE, HIT, Fraction(2), Fraction(1, 3)).outcome is Outcome.VIOLATED
    off = Mixture(good.weight - Fraction(1, 100), good.common, good.left, good.right)
    assert off.shows(RARE, LESS_RARE, HIT, Fraction(2), Fraction(1, 3)).outcome is Outcome.VIOLATED


def test_bad_weights_are_refused() -> None:
    with pytest.raises(UsageError, match="weight"):
        Mixture(Fraction(2), LEFT, LEFT, RIGHT)
    with pytest.raises(UsageError, match="delta"):
        Mixture(Fraction(0), LEFT, LEFT, RIGHT, Fraction(1), LEFT, LEFT)
    with pytest.raises(UsageError, match="left_error"):
        Mixture(Fraction(0), LEFT, LEFT, RIGHT, Fraction(1, 2))
    with pytest.raises(UsageError, match="sum to 1"):
        FiniteDistribution({0: Fraction(1, 2)})


def test_normalising_keeps_the_proportions() -> None:
    assert normalised({"a": Fraction(1), "b": Fraction(3)}).probability("b") == Fraction(3, 4)
