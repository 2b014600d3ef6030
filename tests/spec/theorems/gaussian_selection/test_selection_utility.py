from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import norm

from dpassay.arguments import UsageError
from dpassay.properties.verify import verify_statement
from dpassay.spec.ball import float_lower, float_upper
from dpassay.spec.statement import find_statement
from dpassay.spec.theorems.gaussian_selection.quadrature_claims import (
    default_quadrature_epsilon,
    windowed_quadrature_epsilon,
)
from dpassay.spec.theorems.gaussian_selection.selection_utility import f1_score, noisy_max_accuracy

STATEMENTS = (
    "noisy_max_is_no_worse_than_a_uniform_choice",
    "f1_score_is_a_share",
    "f1_score_is_the_harmonic_mean_of_precision_and_recall",
    "windowed_quadrature_agrees_with_enclosure",
)


@pytest.mark.parametrize("name", STATEMENTS)
def test_statement_holds_with_nothing_undecided(name: str) -> None:
    assert verify_statement(find_statement(name)).as_expected


def test_default_quadrature_misses_a_narrow_peak() -> None:
    point = (365, Fraction(1, 20), Fraction(1, 6946))
    assert float(default_quadrature_epsilon(*point)) == 0
    assert float(windowed_quadrature_epsilon(*point)) == pytest.approx(0.126527336904, rel=1e-11)


def test_accuracy_of_two_answers_in_closed_form() -> None:
    accuracy = noisy_max_accuracy([(Fraction(1), 1), (Fraction(1, 2), 1)], Fraction(1, 4))
    expected = 1 - 0.5 * norm.cdf(-0.5 / (0.25 * np.sqrt(2)))
    assert float(accuracy.mid()) == pytest.approx(expected, rel=1e-13)


def test_accuracy_against_simulation() -> None:
    rng = np.random.default_rng(3)
    answers = np.array([1.0, 0.75, 0.75, 0.25])
    blocks = [(Fraction(1), 1), (Fraction(3, 4), 2), (Fraction(1, 4), 1)]
    chosen = answers[np.argmax(answers + 0.5 * rng.standard_normal((200_000, 4)), axis=1)]
    accuracy = noisy_max_accuracy(blocks, Fraction(1, 2))
    # Hoeffding: a share in [0, 1] misses its mean by 0.008 with probability below 2 exp(-2 n 0.008^2) = 2e-11
    assert float_lower(accuracy) - 0.008 < chosen.mean() < float_upper(accuracy) + 0.008


def test_accuracy_at_the_two_ends_of_the_noise() -> None:
    blocks = [(Fraction(1), 1), (Fraction(0), 3)]
    assert float_lower(noisy_max_accuracy(blocks, Fraction(1, 100))) > 1 - 1e-15
    assert float(noisy_max_accuracy(blocks, 10**6).mid()) == pytest.approx(0.25, abs=1e-5)


@pytest.mark.parametrize("blocks", [[(Fraction(0), 2)], [(Fraction(-1), 1), (Fraction(1), 1)]])
def test_accuracy_needs_non_negative_answers(blocks: list[tuple[Fraction, int]]) -> None:
    with pytest.raises(UsageError, match="blocks"):
        noisy_max_accuracy(blocks, 1)


def test_f1_scores_by_hand() -> None:
    assert f1_score(0, 0, 0) == 1
    assert f1_score(0, 2, 0) == 0
    assert f1_score(4, 0, 0) == 1
    assert f1_score(2, 1, 1) == Fraction(2, 3)


@pytest.mark.parametrize(
    ("size", "sigma", "sensitivity", "epsilon", "default"),
    [
        (365, "1/20", "1/6946", 0.1265273369037203, 0.0),
        (100, "1/10", "1/1000", 0.232416280, 0.003996),
        (100, "1/10", "1/100", 2.30707436, 0.0301966),
    ],
)
def test_quadratures_of_the_catalogue(size: int, sigma: str, sensitivity: str, epsilon: float, default: float) -> None:
    point = size, Fraction(sigma), Fraction(sensitivity)
    assert float(windowed_quadrature_epsilon(*point)) == pytest.approx(epsilon, rel=2e-9)
    assert float(default_quadrature_epsilon(*point)) == pytest.approx(default, rel=2e-4, abs=1e-15)
