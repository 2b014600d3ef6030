"""Mutants of the noisy-max chapter: wrong bounds, wrong laws, wrong lemmas. Each must be refuted."""

from collections.abc import Callable
from fractions import Fraction

import pytest
import sympy as sp
from flint import arb

from dpassay.properties.verify import verify_statement
from dpassay.spec.ball import ball
from dpassay.spec.distributions.gaussian import gaussian_hockey_stick
from dpassay.spec.distributions.gaussian_race import GaussianRace
from dpassay.spec.distributions.noisy_max import log_report_probability, log_win_probability
from dpassay.spec.proof.symbolic import identity
from dpassay.spec.statement import find_statement
from dpassay.spec.theorems.gaussian_selection import monotone_ratios, noisy_max
from dpassay.spec.verdict import Outcome

Bound = Callable[[int, Fraction, Fraction, Fraction], arb]

# wrong forms of log E[Phi(z - (c - 2 Delta)/sigma)^(d-1)] - log E[Phi(z - c/sigma)^(d-1)]
TOO_SMALL: dict[str, Bound] = {
    "sensitivity halved: c - Delta in place of c - 2 Delta": lambda d, s, c, x: (
        log_win_probability((x - c) / s, d - 1) - log_win_probability(-c / s, d - 1)
    ),
    "noise scale too large": lambda d, s, c, x: (
        log_win_probability((2 * x - c) / s * Fraction(5, 7), d - 1)
        - log_win_probability(-c / s * Fraction(5, 7), d - 1)
    ),
    "numerator and denominator swapped": lambda d, s, c, x: (
        log_win_probability(-c / s, d - 1) - log_win_probability((2 * x - c) / s, d - 1)
    ),
    "one rival forgotten": lambda d, s, c, x: (
        log_win_probability((2 * x - c) / s, max(d - 2, 0)) - log_win_probability(-c / s, max(d - 2, 0))
    ),
    "range ignored": lambda d, s, c, x: log_win_probability(2 * x / s, d - 1) - log_win_probability(0, d - 1),
}


def mutate_bound(monkeypatch: pytest.MonkeyPatch, mutant: Bound) -> None:
    def bound(size: int, sigma: Fraction, width: Fraction, sensitivity: Fraction) -> arb:
        sigma, width, sensitivity = Fraction(sigma), Fraction(width), Fraction(sensitivity)
        return mutant(size, sigma, width, min(sensitivity, width))

    monkeypatch.setattr(noisy_max, "noisy_max_epsilon", bound)


def outcome_of(name: str) -> Outcome:
    return verify_statement(find_statement(name)).outcome


@pytest.mark.kills("pure_dp_of_gaussian_noisy_max")
@pytest.mark.parametrize("fault", TOO_SMALL)
def test_a_bound_that_is_too_small_is_refuted(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    mutate_bound(monkeypatch, TOO_SMALL[fault])
    assert outcome_of("pure_dp_of_gaussian_noisy_max") is Outcome.VIOLATED


def all_rivals(d: int, s: Fraction, c: Fraction, x: Fraction) -> arb:
    return log_win_probability((2 * x - c) / s, d) - log_win_probability(-c / s, d)


@pytest.mark.kills("noisy_max_epsilon_is_attained", "noisy_max_epsilon_depends_on_the_width")
@pytest.mark.parametrize("name", ["noisy_max_epsilon_is_attained", "noisy_max_epsilon_depends_on_the_width"])
def test_a_wrong_chance_of_winning_behind_both_sides_is_seen(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The noise is 7/5 as large wherever a race is run: only a second derivation of the loss tells."""
    factor = Fraction(7, 5)
    monkeypatch.setattr(
        noisy_max, "log_win_probability", lambda lead, rivals: log_win_probability(lead / factor, rivals)
    )
    monkeypatch.setattr(
        noisy_max,
        "log_report_probability",
        lambda own, rivals, sigma: log_report_probability(own, rivals, sigma * factor),
    )
    assert outcome_of(name) is Outcome.VIOLATED


@pytest.mark.kills("noisy_max_epsilon_is_attained")
def test_a_bound_that_is_too_large_is_not_attained(monkeypatch: pytest.MonkeyPatch) -> None:
    mutate_bound(monkeypatch, all_rivals)  # valid, but with d in place of d - 1
    assert outcome_of("noisy_max_epsilon_is_attained") is Outcome.VIOLATED


@pytest.mark.kills("noisy_max_epsilon_depends_on_the_width")
def test_a_bound_that_does_not_see_the_width_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    mutate_bound(monkeypatch, TOO_SMALL["range ignored"])
    statement = find_statement("noisy_max_epsilon_depends_on_the_width")
    verdict = statement(size=3, relative_sigma=Fraction(1, 2), relative_sensitivity=Fraction(1, 10))
    assert verdict.outcome is not Outcome.HOLDS  # two equal numbers: strictly less is refuted or undecided


@pytest.mark.kills("noisy_max_epsilon_grows_linearly_in_the_width")
def test_a_bound_that_stays_finite_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    mutate_bound(monkeypatch, lambda d, s, c, x: ball(1))
    assert outcome_of("noisy_max_epsilon_grows_linearly_in_the_width") is Outcome.VIOLATED


@pytest.mark.kills("noisy_max_ratio_at_most_its_enlargement")
def test_a_loss_above_the_enlargement_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    losses = noisy_max.noisy_max_losses
    monkeypatch.setattr(noisy_max, "noisy_max_losses", lambda pair, sigma: [2 * x for x in losses(pair, sigma)])
    assert outcome_of("noisy_max_ratio_at_most_its_enlargement") is Outcome.VIOLATED


@pytest.mark.kills("equal_answers_win_equally_often", "two_answers_race_in_closed_form")
@pytest.mark.parametrize("name", ["equal_answers_win_equally_often", "two_answers_race_in_closed_form"])
def test_shared_noise_is_not_the_law(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    class Shared(GaussianRace):
        """The race of the mutant that adds one and the same noise to every answer: its slopes vanish."""

        def log_expectation(self) -> arb:
            return sum((h.exponent * ball(1).log() if h.offset >= 0 else arb(-1) for h in self.hurdles), arb(0))

    monkeypatch.setattr(monotone_ratios, "GaussianRace", Shared)
    assert outcome_of(name) is Outcome.VIOLATED


@pytest.mark.kills("ratio_monotone_of_derivative_ratio_monotone")
@pytest.mark.parametrize("end", ["left", "right"])
def test_the_rule_fails_when_the_functions_do_not_vanish(end: str) -> None:
    pieces = ((Fraction(1), Fraction(1)),) * 3  # f = x + 1, g = x about the end: f'/g' is constant and f/g falls
    assert monotone_ratios._ratios_ascend(pieces, Fraction(1), end).outcome is Outcome.VIOLATED


@pytest.mark.kills("ratio_monotone_of_derivative_ratio_monotone")
@pytest.mark.parametrize("end", ["left", "right"])
def test_the_rule_fails_for_falling_slopes(end: str) -> None:
    pieces = tuple((Fraction(-k), Fraction(1)) for k in range(3))
    assert monotone_ratios._ratios_ascend(pieces, Fraction(0), end).outcome is Outcome.VIOLATED


@pytest.mark.kills("ratio_monotone_of_derivative_ratio_monotone_by_proof")
def test_a_wrong_quotient_rule_is_not_proved() -> None:
    x = sp.Symbol("x", real=True)
    f, g = sp.exp(x), 1 + x**2
    wrong = g.diff(x) / g * (f.diff(x) / g.diff(x) + f / g)
    assert identity(sp.diff(f / g, x), wrong, "sign flipped").outcome is not Outcome.HOLDS


@pytest.mark.kills("mgf_ratio_monotone")
def test_a_negative_shift_reverses_the_ratio(monkeypatch: pytest.MonkeyPatch) -> None:
    log_mgf = monotone_ratios._log_mgf
    monkeypatch.setattr(monotone_ratios, "_log_mgf", lambda atoms, s: -log_mgf(atoms, s))
    assert outcome_of("mgf_ratio_monotone") is Outcome.VIOLATED


@pytest.mark.kills("noisy_max_ratio_monotone")
def test_a_mean_shift_the_other_way_reverses_the_ratio(monkeypatch: pytest.MonkeyPatch) -> None:
    race = monotone_ratios._log_race
    monkeypatch.setattr(monotone_ratios, "_log_race", lambda mean, x, offsets: race(-mean, x, offsets))
    assert outcome_of("noisy_max_ratio_monotone") is Outcome.VIOLATED


@pytest.mark.kills(
    "mgf_ratio_monotone_by_proof",
    "noisy_max_ratio_monotone_by_proof",
    "mgf_of_laplace_is_finite_inside_its_rates_only",
)
@pytest.mark.parametrize(
    "name",
    [
        "mgf_ratio_monotone_by_proof",
        "noisy_max_ratio_monotone_by_proof",
        "mgf_of_laplace_is_finite_inside_its_rates_only",
    ],
)
def test_a_proof_with_a_wrong_step_does_not_go_through(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(monotone_ratios, "identity", lambda left, right, step: identity(left, right + 1, step))
    assert outcome_of(name) is not Outcome.HOLDS


@pytest.mark.kills("noisy_max_ratio_monotone_on_a_box")
def test_a_falling_ratio_is_refuted_on_the_box(monkeypatch: pytest.MonkeyPatch) -> None:
    hazard = monotone_ratios._reversed_hazard
    monkeypatch.setattr(monotone_ratios, "_reversed_hazard", lambda u: -hazard(u))
    assert outcome_of("noisy_max_ratio_monotone_on_a_box") is Outcome.VIOLATED


@pytest.mark.kills("approximate_dp_of_gaussian_noisy_max_by_post_processing")
@pytest.mark.parametrize("factor", [Fraction(1, 2), Fraction(9, 10)])
def test_a_smaller_shift_of_the_gaussian_mechanism_is_refuted(
    monkeypatch: pytest.MonkeyPatch, factor: Fraction
) -> None:
    shrunk = lambda shift, epsilon: gaussian_hockey_stick(shift * ball(factor), epsilon)
    monkeypatch.setattr("dpassay.spec.theorems.gaussian_selection.noisy_max.gaussian_hockey_stick", shrunk)
    assert outcome_of("approximate_dp_of_gaussian_noisy_max_by_post_processing") is Outcome.VIOLATED
