"""Mutants of the AboveThreshold chapter: wrong laws, wrong bounds, wrong steps of proofs. Each must be refuted.

Equivalent mutants, which no check can tell from the mechanism: ">" in place of ">=" when an answer is compared with
the threshold (noise has no atoms), and a constant factor on all noise with the same factor on all answers. The Renyi
bounds are some three times the largest divergence known, so that a mutant of theirs that is off by less, say
s = Delta/sigma_Z for 2 Delta/sigma_Z, may be valid still; such ones are caught by the figures and by the float
computation in the tests of the chapter.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction

import pytest
import sympy as sp
from flint import arb

from dpassay.properties.verify import verify_statement
from dpassay.spec.ball import ball, sum_balls
from dpassay.spec.distributions import above_threshold
from dpassay.spec.distributions.gaussian_race import GaussianRace, Hurdle
from dpassay.spec.domains import streams
from dpassay.spec.domains.answers import Block
from dpassay.spec.domains.streams import NeighbouringStreams, ThresholdSetting
from dpassay.spec.proof.symbolic import identity
from dpassay.spec.statement import find_statement
from dpassay.spec.theorems.gaussian_selection import (
    above_threshold_distribution,
    above_threshold_expost,
    above_threshold_monotone,
    above_threshold_moves,
    above_threshold_renyi,
    normal_hazard,
)
from dpassay.spec.theorems.gaussian_selection.renyi_scalar_inequality import ScalarInequality, prove_gap
from dpassay.spec.verdict import Outcome

Grouped = Iterable[tuple[Fraction, int]]


def outcome_of(name: str) -> Outcome:
    return verify_statement(find_statement(name)).outcome


# --- the law ------------------------------------------------------------------------------------------------


def race(slope: Fraction, below: Grouped, above: Fraction | None, rho: Fraction, scale: Fraction) -> arb:
    hurdles = [Hurdle.of(slope, (rho - q) / scale, n) for q, n in below]
    last = [] if above is None else [Hurdle.of(-slope, (above - rho) / scale)]
    return GaussianRace(*hurdles, *last).log_expectation()


def resampled(below: Grouped, above: Fraction | None, rho: Fraction, x: Fraction, z: Fraction) -> arb:
    steps = [ball(n) * race(x / z, [(q, 1)], None, rho, z) for q, n in below if n]
    return sum_balls(steps) + (race(x / z, [], above, rho, z) if above is not None else arb(0))


WRONG_LAWS: dict[str, Callable[..., arb]] = {
    "threshold noise drawn anew at every step": resampled,
    "no noise on the threshold": lambda b, a, rho, x, z: race(Fraction(0), b, a, rho, z),
    "the two noise scales swapped": lambda b, a, rho, x, z: race(z / x, b, a, rho, x),
    "the last factor's noise with the sign of the others": lambda b, a, rho, x, z: (
        race(x / z, b, None, rho, z) + (race(x / z, [], a, rho, z) if a is not None else arb(0))
    ),
    "one noise for all answers": lambda b, a, rho, x, z: race(x / z, [(q, min(n, 1)) for q, n in b], a, rho, z),
}


SKEWED = ThresholdSetting.of("-1 1 1/10 1/5 3/20 13/50")
PAIR = NeighbouringStreams(SKEWED, (Block(Fraction(0), Fraction(1, 10), 2), Block(Fraction(1), Fraction(1))))


@pytest.mark.kills("above_threshold_distribution_is_a_distribution", "stream_at_the_threshold_halts_in_closed_form")
@pytest.mark.parametrize("fault", WRONG_LAWS)
def test_another_mechanism_has_another_law(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    for module in (above_threshold, streams):
        monkeypatch.setattr(module, "log_halting_probability", WRONG_LAWS[fault])
    sums = find_statement("above_threshold_distribution_is_a_distribution")(stream=PAIR)
    closed = find_statement("stream_at_the_threshold_halts_in_closed_form")(time=2, noise=Fraction(2))
    assert Outcome.VIOLATED in {sums.outcome, closed.outcome}


@pytest.mark.kills("above_threshold_distribution_is_a_distribution")
def test_a_law_without_the_all_below_outcome_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    law = above_threshold.GaussianAboveThresholdDistribution
    monkeypatch.setattr(law, "outcomes", property(lambda self: tuple(range(1, len(self.answers) + 1))))
    assert outcome_of("above_threshold_distribution_is_a_distribution") is Outcome.VIOLATED


@pytest.mark.kills("lowest_stream_runs_longest")
@pytest.mark.parametrize("end", ["high", "threshold"])
def test_another_constant_stream_is_not_the_longest(monkeypatch: pytest.MonkeyPatch, end: str) -> None:
    longest = above_threshold_distribution.log_survival_of_constant_stream
    monkeypatch.setattr(
        above_threshold_distribution,
        "log_survival_of_constant_stream",
        lambda s, _, size: longest(s, getattr(s, end), size),
    )
    assert outcome_of("lowest_stream_runs_longest") is Outcome.VIOLATED


# --- ex-post ------------------------------------------------------------------------------------------------


def halting(s: ThresholdSetting, below: Fraction, above: Fraction, step: tuple[Fraction, Fraction], count: int) -> arb:
    """The loss of answers `below`, `count` of them, and one `above`, eased by the two steps."""
    eased = s.log_halts([(below - step[0], count)], above + step[1])
    return eased - s.log_halts([(below, count)], above)


WRONG_HALTING: dict[str, Callable[[ThresholdSetting, int], arb]] = {
    "b + a in place of b": lambda s, t: halting(s, s.high + s.low, s.low, (s.step, s.step), t - 1),
    "b - a in place of b": lambda s, t: halting(s, s.width, s.low, (s.step, s.step), t - 1),
    "the sensitivity in the first factors only": lambda s, t: halting(s, s.high, s.low, (s.step, Fraction(0)), t - 1),
    "the sensitivity in the last factor only": lambda s, t: halting(s, s.high, s.low, (Fraction(0), s.step), t - 1),
    "half the sensitivity": lambda s, t: halting(s, s.high, s.low, (s.step / 2, s.step / 2), t - 1),
    "a and b swapped": lambda s, t: halting(s, s.low, s.high, (s.step, s.step), t - 1),
    "the sign of the threshold": lambda s, t: halting(
        replace(s, threshold=-s.threshold), s.high, s.low, (s.step, s.step), t - 1
    ),
    "the noise scales swapped": lambda s, t: halting(
        replace(s, sigma_threshold=s.sigma_query, sigma_query=s.sigma_threshold),
        s.high,
        s.low,
        (s.step, s.step),
        t - 1,
    ),
    "the sign of x in the last factor": above_threshold_expost.main_text_log_ratio,
    "one step forgotten": lambda s, t: halting(s, s.high, s.low, (s.step, s.step), max(t - 2, 0)),
    "the formula of the all-below outcome": above_threshold_expost.all_below_epsilon,
}


@pytest.mark.kills("expost_dp_of_above_threshold")
@pytest.mark.parametrize("fault", WRONG_HALTING)
def test_a_wrong_loss_of_halting_is_refuted(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    monkeypatch.setattr(above_threshold_expost, "halting_epsilon", WRONG_HALTING[fault])
    assert outcome_of("expost_dp_of_above_threshold") is Outcome.VIOLATED


WRONG_ALL_BELOW: dict[str, Callable[[ThresholdSetting, int], arb]] = {
    "nothing is charged": lambda s, k: arb(0),
    "the formula of halting": above_threshold_expost.halting_epsilon,
    "one step forgotten": lambda s, k: (
        s.log_halts([(s.high - s.step, k - 1)], None) - s.log_halts([(s.high, k - 1)], None)
    ),
}


@pytest.mark.kills("expost_dp_of_never_halting")
@pytest.mark.parametrize("fault", WRONG_ALL_BELOW)
def test_a_wrong_loss_of_never_halting_is_refuted(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    monkeypatch.setattr(above_threshold_expost, "all_below_epsilon", WRONG_ALL_BELOW[fault])
    assert outcome_of("expost_dp_of_never_halting") is Outcome.VIOLATED


@pytest.mark.kills("expost_epsilons_are_attained")
def test_valid_bounds_that_are_too_large_are_not_attained(monkeypatch: pytest.MonkeyPatch) -> None:
    def doubled(s: ThresholdSetting, t: int) -> arb:
        return halting(s, s.high, s.low, (2 * s.step, 2 * s.step), t - 1)

    monkeypatch.setattr(above_threshold_expost, "halting_epsilon", doubled)
    assert outcome_of("expost_epsilons_are_attained") is Outcome.VIOLATED


@pytest.mark.kills("expost_epsilons_are_attained")
def test_a_wrong_chance_of_halting_behind_both_sides_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound and the loss of a pair by `log_halts` change alike: only a second derivation tells."""
    right = ThresholdSetting.log_halts

    def swapped(self: ThresholdSetting, below: Iterable[tuple[Fraction, int]], above: Fraction | None) -> arb:
        return right(replace(self, sigma_threshold=self.sigma_query, sigma_query=self.sigma_threshold), below, above)

    setting = ThresholdSetting.of("1 2 1/10 3/2 3/20 13/50")
    monkeypatch.setattr(ThresholdSetting, "log_halts", swapped)
    verdict = above_threshold_expost.expost_epsilons_are_attained(setting=setting, time=3)
    assert verdict.outcome is Outcome.VIOLATED


# --- where the loss is largest ------------------------------------------------------------------------------


@pytest.mark.kills("above_threshold_ratio_at_most_its_enlargement")
def test_an_enlargement_of_the_first_factors_only_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    def half(s: ThresholdSetting, answers: tuple[tuple[Fraction, int], ...]) -> arb:
        below, last = streams.last_apart(answers)
        return s.log_halts([(q - s.step, n) for q, n in below], last) - s.log_halts(below, last)

    monkeypatch.setattr(above_threshold_monotone, "log_enlarged_ratio", half)
    assert outcome_of("above_threshold_ratio_at_most_its_enlargement") is Outcome.VIOLATED


@pytest.mark.kills("enlarged_ratio_moves_with_the_answers")
def test_factors_that_shrink_move_the_ratio_the_other_way(monkeypatch: pytest.MonkeyPatch) -> None:
    def shrunk(s: ThresholdSetting, answers: tuple[tuple[Fraction, int], ...]) -> arb:
        below, last = streams.last_apart(answers)
        return s.log_halts([(q + s.step, n) for q, n in below], last - s.step) - s.log_halts(below, last)

    monkeypatch.setattr(above_threshold_monotone, "log_enlarged_ratio", shrunk)
    assert outcome_of("enlarged_ratio_moves_with_the_answers") is Outcome.VIOLATED


@pytest.mark.kills("tilted_ratio_moves_with_the_tilt")
def test_a_falling_likelihood_ratio_reverses_the_lemma(monkeypatch: pytest.MonkeyPatch) -> None:
    ratio = above_threshold_monotone.log_tilted_ratio
    monkeypatch.setattr(
        above_threshold_monotone, "log_tilted_ratio", lambda atoms, p0, p1, s, tau: ratio(atoms, p1, p0, s, tau)
    )
    assert outcome_of("tilted_ratio_moves_with_the_tilt") is Outcome.VIOLATED


@pytest.mark.kills("late_loss_falls_in_the_threshold")
@pytest.mark.parametrize("early", [1, 2])
def test_early_losses_do_not_fall(monkeypatch: pytest.MonkeyPatch, early: int) -> None:
    pair = above_threshold_expost.worst_halting_pair
    monkeypatch.setattr(above_threshold_moves, "worst_halting_pair", lambda s, t: pair(s, early))
    assert outcome_of("late_loss_falls_in_the_threshold") is Outcome.VIOLATED


# --- Renyi --------------------------------------------------------------------------------------------------


RENYI = {
    "direct_rdp_of_above_threshold": "rdp_direct",
    "closed_rdp_of_above_threshold": "rdp_nonneg",
    "general_rdp_of_above_threshold": "rdp_general",
}


@pytest.mark.kills("general_rdp_with_the_own_stopping_time")
def test_a_general_bound_for_a_tenth_of_the_sensitivity_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    bound = above_threshold_renyi.rdp_general_of_stream

    def quieter(stream: NeighbouringStreams, *rest: Fraction) -> arb:
        return bound(replace(stream, setting=replace(stream.setting, sensitivity=stream.setting.step / 10)), *rest)

    monkeypatch.setattr(above_threshold_renyi, "rdp_general_of_stream", quieter)
    assert outcome_of("general_rdp_with_the_own_stopping_time") is Outcome.VIOLATED


@pytest.mark.kills("printed_stopping_moment_bound_from_r_0_3553")
def test_three_r_squared_for_nine_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    def sharp(r: arb) -> arb:  # the asymptote, which is no upper bound at any finite r
        return r * r + ((-r * r).exp() + 2 * arb(3).sqrt() * arb.pi() * (1 + 3 * r * r)).log()

    monkeypatch.setattr(above_threshold_renyi, "_printed_log_moment", sharp)
    assert outcome_of("printed_stopping_moment_bound_from_r_0_3553") is Outcome.VIOLATED


@pytest.mark.kills(*RENYI)
@pytest.mark.parametrize("name", RENYI)
def test_a_renyi_bound_for_a_tenth_of_the_sensitivity_is_refuted(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    bound = getattr(above_threshold_renyi, RENYI[name])
    monkeypatch.setattr(
        above_threshold_renyi, RENYI[name], lambda s, *rest: bound(replace(s, sensitivity=s.step / 10), *rest)
    )
    assert outcome_of(name) is Outcome.VIOLATED


@pytest.mark.kills("closed_rdp_follows_from_direct_rdp")
@pytest.mark.parametrize(
    "inequality",
    [
        ScalarInequality(factor=Fraction(4, 5)),
        ScalarInequality(factor=Fraction(84506, 10**5)),
        ScalarInequality(squared_ratio=Fraction(299, 100)),
    ],
)
def test_a_smaller_constant_or_ratio_is_refuted(inequality: ScalarInequality) -> None:
    verdict = prove_gap(inequality, Fraction(0))
    assert verdict.outcome is Outcome.VIOLATED
    assert set(verdict.witness) == {"t", "r"}


# --- proofs -------------------------------------------------------------------------------------------------


@pytest.mark.kills("normal_cdf_is_log_concave", "normal_hazard_slope_between_0_and_1", "normal_hazard_is_convex")
@pytest.mark.parametrize(
    "name", ["normal_cdf_is_log_concave", "normal_hazard_slope_between_0_and_1", "normal_hazard_is_convex"]
)
def test_the_proofs_do_not_go_through_for_another_function(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    # that of variance 1/2, beside the density of variance 1
    monkeypatch.setattr(normal_hazard, "survival", lambda u: sp.erfc(u) / 2)
    assert outcome_of(name) is not Outcome.HOLDS


@pytest.mark.kills("first_loss_rises_and_second_is_symmetric", "direct_rdp_by_a_shift_of_the_threshold")
@pytest.mark.parametrize(
    ("module", "name"),
    [
        (above_threshold_moves, "first_loss_rises_and_second_is_symmetric"),
        (above_threshold_renyi, "direct_rdp_by_a_shift_of_the_threshold"),
    ],
)
def test_a_hazard_of_the_wrong_sign_is_noticed(monkeypatch: pytest.MonkeyPatch, module: object, name: str) -> None:
    monkeypatch.setattr(module, "hazard", lambda u: -normal_hazard.hazard(u))
    assert outcome_of(name) is not Outcome.HOLDS


@pytest.mark.kills("enlarged_ratio_is_a_ratio_of_tilted_means", "tilted_means_are_ordered")
@pytest.mark.parametrize("name", ["enlarged_ratio_is_a_ratio_of_tilted_means", "tilted_means_are_ordered"])
def test_a_proof_with_a_wrong_step_does_not_go_through(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(above_threshold_monotone, "identity", lambda left, right, step: identity(left, -right, step))
    assert outcome_of(name) is not Outcome.HOLDS


@pytest.mark.kills("cited_stopping_moment_bound_fails_below_r_0_3552")
def test_a_cited_bound_that_is_enlarged_no_longer_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    statement = find_statement("cited_stopping_moment_bound_fails_below_r_0_3552")
    assert statement(lead=0).outcome is Outcome.HOLDS
    own = above_threshold_renyi._printed_log_moment
    monkeypatch.setattr(above_threshold_renyi, "_printed_log_moment", lambda r: own(r) + 1)
    assert statement(lead=0).outcome is Outcome.VIOLATED
