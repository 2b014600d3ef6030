"""Mutants of noise reduction: wrong e-values, wrong losses, wrong bounds. Each must be refuted."""

from collections.abc import Callable
from fractions import Fraction
from types import ModuleType
from typing import Any

import pytest
import sympy as sp
from flint import arb

from dpassay.properties.verify import verify_statement
from dpassay.spec.ball import ball, normal_quantile
from dpassay.spec.distributions import laplace_process, stopped_brownian
from dpassay.spec.distributions.brownian_density import last_log_ratio
from dpassay.spec.distributions.laplace_process import ScaledExponential, laplace_density
from dpassay.spec.distributions.stopped_brownian import StoppedRun
from dpassay.spec.interactions.released_paths import ReleasedPath, Vector
from dpassay.spec.numerics.smoothing import Entire, exponential
from dpassay.spec.statement import find_statement
from dpassay.spec.theorems.accuracy_first import (
    base_mechanisms,
    brownian_filter,
    brownian_martingale,
    brownian_privacy_loss,
    laplace_noise_reduction,
    odometer,
    time_uniform_loss,
)
from dpassay.spec.verdict import Outcome


def outcome_of(name: str) -> Outcome:
    return verify_statement(find_statement(name)).outcome


# --- the martingale -----------------------------------------------------------------------------------------

COMPENSATORS: dict[str, Callable[[Any, Any], Any]] = {
    "no half": lambda tilt, precision: tilt**2 * precision,
    "a quarter": lambda tilt, precision: tilt**2 * precision / 4,
    "times instead of precisions": lambda tilt, precision: tilt**2 / precision / 2,
    "the rate unsquared": lambda tilt, precision: tilt * precision / 2,
}


@pytest.mark.kills("stopped_evalue_has_mean_one", "evalue_along_a_direction_has_mean_one")
@pytest.mark.parametrize("name", ["stopped_evalue_has_mean_one", "evalue_along_a_direction_has_mean_one"])
@pytest.mark.parametrize("fault", COMPENSATORS)
def test_a_wrong_compensator_is_refuted(monkeypatch: pytest.MonkeyPatch, fault: str, name: str) -> None:
    monkeypatch.setattr(brownian_martingale, "compensator", COMPENSATORS[fault])
    assert outcome_of(name) is Outcome.VIOLATED


@pytest.mark.kills("product_of_stopped_evalues_is_martingale", "unbounded_stopping_loses_mass")
@pytest.mark.parametrize("name", ["product_of_stopped_evalues_is_martingale", "unbounded_stopping_loses_mass"])
def test_a_supermartingale_is_no_martingale(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(brownian_martingale, "compensator", COMPENSATORS["no half"])
    assert outcome_of(name) is Outcome.VIOLATED


@pytest.mark.kills("backward_martingale_by_the_bridge", "forward_martingale_in_information_time")
@pytest.mark.parametrize("name", ["backward_martingale_by_the_bridge", "forward_martingale_in_information_time"])
def test_a_wrong_compensator_is_not_proved(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(brownian_martingale, "compensator", COMPENSATORS["no half"])
    assert outcome_of(name) is not Outcome.HOLDS


def looks_ahead(run: StoppedRun, payoff: Callable[[Fraction], Entire]) -> arb:
    """Stop at the first time if W at the *second* lies in the window; given that, W at the first is a bridge."""
    share = run.first / run.second
    bridge = payoff(run.first).smoothed(ball(run.first * (1 - share)))
    squeezed = Entire(
        lambda z: bridge.value(z * ball(share)), bridge.level, bridge.slope * ball(share), bridge.bend * ball(share**2)
    )
    low, high = (ball(end) for end in run.window)
    last, variance = payoff(run.second), ball(run.second)
    goes_on = last.mean_between(variance, None, low) + last.mean_between(variance, high, None)
    return squeezed.mean_between(variance, low, high) + goes_on


@pytest.mark.kills("stopped_evalue_has_mean_one")
def test_stopping_on_the_future_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(brownian_martingale, "stopped_mean", looks_ahead)
    assert outcome_of("stopped_evalue_has_mean_one") is Outcome.VIOLATED


@pytest.mark.kills("product_of_stopped_evalues_is_martingale")
def test_a_lambda_of_its_own_in_each_round_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    original, calls = brownian_martingale.evalue, []

    def drifting(tilt: Fraction) -> Callable[[Fraction], Entire]:
        calls.append(tilt)
        right = original(tilt)
        grown = Fraction(11, 10)  # e^(1.1 lambda w) against the compensator of lambda

        def value(precision: Fraction) -> Entire:
            factor, base = ball(tilt * (grown - 1)), right(precision)
            return Entire(
                lambda z: base.value(z) * (factor * z).exp(), base.level, base.slope + abs(factor), base.bend
            )

        return value

    monkeypatch.setattr(brownian_martingale, "evalue", drifting)
    assert outcome_of("product_of_stopped_evalues_is_martingale") is Outcome.VIOLATED
    assert calls


# --- the loss of Brownian runs ------------------------------------------------------------------------------


def fresh_noise_ratio(path: ReleasedPath) -> Fraction:
    """The loss of independent noise at each time."""
    total = Fraction(0)
    for residual, time in zip(path.noise, path.times, strict=True):
        v = tuple(a - b for a, b in zip(path.left, path.right, strict=True))
        total += brownian_privacy_loss.brownian_loss(v, residual, time)
    return total


def first_release_ratio(path: ReleasedPath) -> Fraction:
    first = ReleasedPath(path.times[:1], path.left, path.right, path.noise[:1])
    return last_log_ratio(first)


def bridge_without_its_variance(path: ReleasedPath) -> Fraction:
    """The bridge with variance s (t - s)/t^2."""
    total = first_release_ratio(path)
    for k in range(1, len(path.times)):
        t, s = path.times[k - 1], path.times[k]
        logs = []
        for answer in (path.left, path.right):
            before, after = path.residuals(answer)[k - 1 : k + 1]
            squares = sum(((y - s / t * x) ** 2 for x, y in zip(before, after, strict=True)), Fraction(0))
            logs.append(-squares / (2 * s * (t - s) / t**2))
        total += logs[0] - logs[1]
    return total


@pytest.mark.kills("loss_of_brownian_run_is_that_of_its_last_release")
@pytest.mark.parametrize("mutant", [fresh_noise_ratio, bridge_without_its_variance, first_release_ratio])
def test_another_joint_law_is_refuted(
    monkeypatch: pytest.MonkeyPatch, mutant: Callable[[ReleasedPath], Fraction]
) -> None:
    monkeypatch.setattr(brownian_privacy_loss, "bridge_log_ratio", mutant)
    assert outcome_of("loss_of_brownian_run_is_that_of_its_last_release") is Outcome.VIOLATED


@pytest.mark.kills("charges_of_gaussian_increments_telescope")
def test_charging_the_first_release_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ReleasedPath, "last_time", property(lambda path: path.times[0]))
    assert outcome_of("charges_of_gaussian_increments_telescope") is Outcome.VIOLATED


right_loss = brownian_privacy_loss.brownian_loss
LOSSES: dict[str, Callable[[Vector, Vector, Fraction], Fraction]] = {
    "the printed sign": lambda v, noise, t: right_loss(tuple(-x for x in v), noise, t),
    "no half": lambda v, noise, t: right_loss(v, noise, t) + sum((x * x for x in v), Fraction(0)) / (2 * t),
    "noise not divided by the time": lambda v, noise, t: right_loss(v, tuple(t * x for x in noise), t),
}


@pytest.mark.kills("brownian_loss_is_quadratic_in_the_distance")
@pytest.mark.parametrize("fault", LOSSES)
def test_a_wrong_loss_is_refuted(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    monkeypatch.setattr(brownian_privacy_loss, "brownian_loss", LOSSES[fault])
    assert outcome_of("brownian_loss_is_quadratic_in_the_distance") is Outcome.VIOLATED


@pytest.mark.kills("brownian_loss_is_quadratic_in_the_distance")
def test_a_bound_without_the_positive_part_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    def bound(sensitivity: Fraction, projected: Fraction, time: Fraction) -> Fraction:
        return sensitivity**2 / (2 * time) + sensitivity / time * projected

    monkeypatch.setattr(brownian_privacy_loss, "brownian_loss_bound", bound)
    assert outcome_of("brownian_loss_is_quadratic_in_the_distance") is Outcome.VIOLATED


@pytest.mark.kills("stopped_loss_changes_the_measure")
def test_the_printed_sign_does_not_change_the_measure(monkeypatch: pytest.MonkeyPatch) -> None:
    def printed(distance: Fraction, precision: Fraction) -> Entire:
        """The other sign of the noise: its mean is 1, too, but it is no likelihood ratio."""
        g = ball(distance)
        return exponential(g, -g * g * ball(precision) / 2)

    monkeypatch.setattr(brownian_privacy_loss, "likelihood", printed)
    assert outcome_of("stopped_loss_changes_the_measure") is Outcome.VIOLATED


@pytest.mark.kills("sign_of_the_loss_matters_under_stopping")
def test_a_rule_that_ignores_the_release_shows_no_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    fixed = StoppedRun(Fraction(1), Fraction(4), Fraction(10**6), Fraction(10**6 + 1))
    monkeypatch.setattr(brownian_privacy_loss, "STOPS_IF_POSITIVE", fixed)
    assert outcome_of("sign_of_the_loss_matters_under_stopping") is Outcome.VIOLATED


@pytest.mark.kills("stopping_on_the_noise_reveals_the_data")
def test_a_rule_on_the_release_reveals_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def on_the_release(release: Fraction, answer: Fraction, half_width: Fraction) -> bool:
        return abs(release) < half_width

    monkeypatch.setattr(brownian_privacy_loss, "stops_on_the_noise", on_the_release)
    assert outcome_of("stopping_on_the_noise_reveals_the_data") is Outcome.VIOLATED


# --- time-uniform bounds ------------------------------------------------------------------------------------


@pytest.mark.kills("time_uniform_bound_on_brownian_loss")
def test_the_printed_bound_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_uniform_loss, "loss_threshold", time_uniform_loss.printed_loss_threshold)
    assert outcome_of("time_uniform_bound_on_brownian_loss") is Outcome.VIOLATED


def at_a_fixed_time(information: Fraction, tuning: Fraction, delta: Fraction) -> arb:  # the mistake
    return -ball(information).sqrt() * normal_quantile(ball(delta) / 2)


def tuned_afterwards(information: Fraction, tuning: Fraction, delta: Fraction) -> arb:  # the mistake
    """No union over the times is paid for: Hoeffding's bound at each of them."""
    return (2 * ball(information) * (1 / ball(delta)).log()).sqrt() * ball(Fraction(9, 10))


@pytest.mark.kills("mixture_bound_holds_at_all_looks")
@pytest.mark.parametrize("mutant", [at_a_fixed_time, tuned_afterwards])
def test_a_bound_for_fixed_times_is_refuted(monkeypatch: pytest.MonkeyPatch, mutant: Callable[..., arb]) -> None:
    monkeypatch.setattr(time_uniform_loss, "mixture_boundary", mutant)
    assert outcome_of("mixture_bound_holds_at_all_looks") is Outcome.VIOLATED


@pytest.mark.kills("mixture_of_evalues_has_closed_form", "time_uniform_bound_covers_every_fixed_time")
@pytest.mark.parametrize("name", ["mixture_of_evalues_has_closed_form", "time_uniform_bound_covers_every_fixed_time"])
def test_another_power_of_the_level_is_not_proved(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    def square(v: Any, g: Any, d: Any) -> Any:
        return (v + g) * sp.log((v + g) / (d * g))

    monkeypatch.setattr(time_uniform_loss, "symbolic_boundary_square", square)
    assert outcome_of(name) is not Outcome.HOLDS


@pytest.mark.kills("half_normal_boundary_is_sharper")
def test_a_boundary_at_half_the_level_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    original = time_uniform_loss.half_normal_boundary
    monkeypatch.setattr(time_uniform_loss, "half_normal_boundary", lambda v, g, d: original(v, g, d / 4))
    assert outcome_of("half_normal_boundary_is_sharper") is Outcome.VIOLATED


@pytest.mark.kills("odometer_covers_brownian_rounds", "odometer_covers_randomised_responses")
@pytest.mark.parametrize("name", ["odometer_covers_brownian_rounds", "odometer_covers_randomised_responses"])
def test_an_odometer_for_a_fixed_time_is_refuted(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(odometer, "odometer_reading", lambda v, g, d: odometer.fixed_time_reading(v, d))
    assert outcome_of(name) is Outcome.VIOLATED


@pytest.mark.kills("mixture_bound_holds_at_all_looks", "time_uniform_bound_on_brownian_loss")
@pytest.mark.parametrize("name", ["mixture_bound_holds_at_all_looks", "time_uniform_bound_on_brownian_loss"])
def test_nine_tenths_of_the_boundary_do_not_follow(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    original = time_uniform_loss.mixture_boundary
    monkeypatch.setattr(time_uniform_loss, "mixture_boundary", lambda v, g, d: 9 * original(v, g, d) / 10)
    assert outcome_of(name) is Outcome.VIOLATED


@pytest.mark.kills(
    "mixture_bound_holds_at_all_looks", "time_uniform_bound_on_brownian_loss", "half_normal_boundary_is_sharper"
)
@pytest.mark.parametrize("percent", [103, 97])
@pytest.mark.parametrize(
    ("module", "boundary", "name"),
    [
        (time_uniform_loss, "mixture_boundary", "mixture_bound_holds_at_all_looks"),
        (time_uniform_loss, "loss_threshold", "time_uniform_bound_on_brownian_loss"),
        (time_uniform_loss, "half_normal_boundary", "half_normal_boundary_is_sharper"),
        (odometer, "odometer_reading", "odometer_covers_brownian_rounds"),
    ],
)
def test_a_boundary_that_is_three_percent_off_is_refuted(
    monkeypatch: pytest.MonkeyPatch, module: ModuleType, boundary: str, name: str, percent: int
) -> None:
    original = getattr(module, boundary)
    monkeypatch.setattr(module, boundary, lambda v, g, d: percent * original(v, g, d) / 100)
    assert outcome_of(name) is Outcome.VIOLATED


@pytest.mark.kills("mixture_bounds_hold_at_many_looks")
@pytest.mark.parametrize("crossing", ["two_sided_crossing_probability", "loss_crossing_probability"])
@pytest.mark.parametrize("factor", [-1, Fraction(103, 100), Fraction(97, 100)])
def test_a_wrong_crossing_probability_is_refuted(
    monkeypatch: pytest.MonkeyPatch, crossing: str, factor: Fraction | int
) -> None:
    original = getattr(time_uniform_loss, crossing)
    monkeypatch.setattr(time_uniform_loss, crossing, lambda *arguments: ball(factor) * original(*arguments))
    assert find_statement("mixture_bounds_hold_at_many_looks")(**MANY_LOOKS).outcome is Outcome.VIOLATED


@pytest.mark.kills("mixture_bounds_hold_at_many_looks")
@pytest.mark.parametrize("boundary", ["mixture_boundary", "loss_threshold"])
def test_half_of_a_boundary_fails_at_one_of_many_looks(monkeypatch: pytest.MonkeyPatch, boundary: str) -> None:
    original = getattr(time_uniform_loss, boundary)
    monkeypatch.setattr(time_uniform_loss, boundary, lambda v, g, d: original(v, g, d) / 2)
    assert find_statement("mixture_bounds_hold_at_many_looks")(**MANY_LOOKS).outcome is Outcome.VIOLATED


MANY_LOOKS = find_statement("mixture_bounds_hold_at_many_looks").examples[0]


@pytest.mark.kills("odometer_covers_brownian_rounds")
def test_an_odometer_at_a_larger_level_does_not_follow(monkeypatch: pytest.MonkeyPatch) -> None:
    original = odometer.odometer_reading
    monkeypatch.setattr(odometer, "odometer_reading", lambda v, g, d: original(v, g, 3 * d / 2))
    assert outcome_of("odometer_covers_brownian_rounds") is Outcome.VIOLATED


@pytest.mark.kills("odometer_covers_brownian_rounds")
def test_an_odometer_without_the_drift_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(odometer, "odometer_reading", time_uniform_loss.half_normal_boundary)
    assert outcome_of("odometer_covers_brownian_rounds") is Outcome.VIOLATED


@pytest.mark.kills("fixed_time_quantiles_are_no_odometer")
def test_the_odometer_itself_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(odometer, "fixed_time_reading", lambda v, d: odometer.odometer_reading(v, Fraction(1), d))
    assert outcome_of("fixed_time_quantiles_are_no_odometer") is Outcome.VIOLATED


@pytest.mark.kills("zcdp_rounds_are_subgaussian_above_the_mean")
@pytest.mark.parametrize("mutant", [lambda rho: rho, lambda rho: rho**2 / 2], ids=["rho itself", "rho for epsilon"])
def test_counting_less_than_twice_rho_is_not_proved(
    monkeypatch: pytest.MonkeyPatch, mutant: Callable[[Any], Any]
) -> None:
    monkeypatch.setattr(odometer, "information_of_zcdp", mutant)
    assert outcome_of("zcdp_rounds_are_subgaussian_above_the_mean") is not Outcome.HOLDS


right_epsilon = brownian_filter.converted_epsilon


# --- the filter ---------------------------------------------------------------------------------------------


@pytest.mark.kills("budget_precondition_keeps_the_budget")
@pytest.mark.parametrize(
    "mutant",
    [
        lambda spent, precisions, budget: precisions[0] / 2 <= budget - spent,
        lambda spent, precisions, budget: precisions[-1] / 2 <= budget,
        lambda spent, precisions, budget: precisions[-1] / 4 <= budget - spent,
        lambda spent, precisions, budget: precisions[-1] <= budget - spent,
        lambda spent, precisions, budget: spent < budget,
    ],
    ids=["first time", "forgets what was spent", "a quarter", "no half", "checks what is spent only"],
)
def test_a_wrong_precondition_is_refuted(monkeypatch: pytest.MonkeyPatch, mutant: Callable[..., bool]) -> None:
    monkeypatch.setattr(brownian_filter, "admits_grid", mutant)
    assert outcome_of("budget_precondition_keeps_the_budget") is Outcome.VIOLATED


@pytest.mark.kills("loss_at_exhaustion_is_normal")
@pytest.mark.parametrize(
    "mutant", [lambda level, rho: level, lambda level, rho: level - 2 * rho], ids=["no drift", "twice the drift"]
)
def test_a_wrong_drift_is_refuted(
    monkeypatch: pytest.MonkeyPatch, mutant: Callable[[Fraction, Fraction], Fraction]
) -> None:
    monkeypatch.setattr(brownian_filter, "loss_end", mutant)
    assert outcome_of("loss_at_exhaustion_is_normal") is Outcome.VIOLATED


@pytest.mark.kills("approximate_dp_of_brownian_filter")
@pytest.mark.parametrize(
    "mutant",
    [
        lambda rho, delta: right_epsilon(rho / 2, delta),
        lambda rho, delta: 2 * (ball(rho) * -ball(delta).log()).sqrt() / 3 + ball(rho),
        lambda rho, delta: ball(rho),
        lambda rho, delta: ball(rho) + 19 * (right_epsilon(rho, delta) - ball(rho)) / 20,
    ],
    ids=["charges 1/(4t)", "a third of the deviation", "the mean alone", "1.9 in place of 2"],
)
def test_a_conversion_that_is_too_small_is_refuted(
    monkeypatch: pytest.MonkeyPatch, mutant: Callable[..., arb]
) -> None:
    monkeypatch.setattr(brownian_filter, "converted_epsilon", mutant)
    assert outcome_of("approximate_dp_of_brownian_filter") is Outcome.VIOLATED


@pytest.mark.kills("brownian_rounds_keep_the_moments_down")
def test_another_charge_is_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    original = brownian_filter.log_moment_excess
    monkeypatch.setattr(brownian_filter, "log_moment_excess", lambda tilt, s, u: original(tilt, s, u) + tilt * u / 4)
    assert outcome_of("brownian_rounds_keep_the_moments_down") is not Outcome.HOLDS


# --- the Laplace process ------------------------------------------------------------------------------------


@pytest.mark.kills("laplace_increment_is_flat_or_laplace")
def test_the_unsquared_probability_is_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laplace_noise_reduction, "symbolic_flat_probability", lambda s, t: s / t)
    assert outcome_of("laplace_increment_is_flat_or_laplace") is not Outcome.HOLDS


@pytest.mark.kills("backward_laplace_kernel_reverses_the_process", "stopped_laplace_distribution_has_mass_one")
@pytest.mark.parametrize(
    "name", ["backward_laplace_kernel_reverses_the_process", "stopped_laplace_distribution_has_mass_one"]
)
def test_the_unsquared_probability_is_refuted(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(laplace_process, "flat_probability", lambda s, t: s / t)
    assert outcome_of(name) is Outcome.VIOLATED


@pytest.mark.kills("backward_laplace_kernel_has_mass_one")
def test_a_backward_kernel_with_a_larger_atom_is_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    original = laplace_noise_reduction.symbolic_backward_mass
    monkeypatch.setattr(
        laplace_noise_reduction, "symbolic_backward_mass", lambda z, s, t: original(z, s, t) + (1 - s / t)
    )
    assert outcome_of("backward_laplace_kernel_has_mass_one") is not Outcome.HOLDS


@pytest.mark.kills("backward_laplace_kernel_has_mass_one")
def test_a_backward_kernel_of_mass_one_with_exchanged_pieces_is_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    original = laplace_noise_reduction.symbolic_backward_kernel

    def exchanged(z: Any, s: Any, t: Any, y: Any) -> tuple[Any, Any, Any, Any]:
        atom, below, between, beyond = original(z, s, t, y)
        return atom, beyond, between, below

    monkeypatch.setattr(laplace_noise_reduction, "symbolic_backward_kernel", exchanged)
    assert outcome_of("backward_laplace_kernel_has_mass_one") is not Outcome.HOLDS


def without_the_turn(y: Fraction, z: Fraction, s: Fraction, t: Fraction) -> ScaledExponential:
    """A backward kernel that decays at one rate on both sides of z."""
    right = laplace_process.laplace_density(y, s)
    if y == z:
        return ScaledExponential(s / t)
    return ScaledExponential(1 - s / t) * right


@pytest.mark.kills("backward_laplace_kernel_reverses_the_process", "loss_of_laplace_run_is_that_of_its_last_release")
@pytest.mark.parametrize(
    "name", ["backward_laplace_kernel_reverses_the_process", "loss_of_laplace_run_is_that_of_its_last_release"]
)
def test_a_wrong_backward_kernel_is_refuted(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(laplace_process, "backward_density", without_the_turn)
    assert outcome_of(name) is Outcome.VIOLATED


@pytest.mark.kills("loss_of_laplace_run_is_that_of_its_last_release")
@pytest.mark.parametrize(
    "mutant",
    [
        lambda v, noise, t: laplace_noise_reduction.printed_laplace_loss(2 * abs(v[0]), noise[0], t),
        lambda v, noise, t: sum((abs(x) - abs(x + a) for x, a in zip(noise, v, strict=True)), Fraction(0)) / t,
        lambda v, noise, t: sum((abs(x - a) - abs(x) for x, a in zip(noise, v, strict=True)), Fraction(0)) / t,
    ],
    ids=["the sensitivity", "the other order", "the other orientation"],
)
def test_a_wrong_laplace_loss_is_refuted(monkeypatch: pytest.MonkeyPatch, mutant: Callable[..., Fraction]) -> None:
    monkeypatch.setattr(laplace_noise_reduction, "laplace_loss", mutant)
    assert outcome_of("loss_of_laplace_run_is_that_of_its_last_release") is Outcome.VIOLATED


@pytest.mark.kills("ex_post_privacy_of_laplace_noise_reduction")
@pytest.mark.parametrize(
    "mutant",
    [
        lambda v, t: max(abs(x) for x in v) / t,
        lambda v, t: sum((x * x for x in v), Fraction(0)) / t,
        lambda v, t: sum((abs(x) for x in v), Fraction(0)) / (2 * t),
    ],
    ids=["largest coordinate", "squares", "half"],
)
def test_a_wrong_ex_post_bound_is_refuted(monkeypatch: pytest.MonkeyPatch, mutant: Callable[..., Fraction]) -> None:
    monkeypatch.setattr(laplace_noise_reduction, "laplace_ex_post_bound", mutant)
    assert outcome_of("ex_post_privacy_of_laplace_noise_reduction") is Outcome.VIOLATED


def with_constant(factor: Fraction) -> Callable[..., arb]:
    def mean(looks: tuple[Fraction, Fraction], threshold: Fraction, order: Fraction, constant: Fraction) -> arb:
        return laplace_process.stopped_laplace_mean(looks, threshold, order, factor * constant)

    return mean


@pytest.mark.kills("laplace_loss_is_subgaussian_at_fixed_times", "twice_the_constant_bounds_two_looks")
@pytest.mark.parametrize("name", ["laplace_loss_is_subgaussian_at_fixed_times", "twice_the_constant_bounds_two_looks"])
def test_half_of_the_constant_is_refuted(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(laplace_noise_reduction, "stopped_laplace_mean", with_constant(Fraction(1, 2)))
    assert outcome_of(name) is Outcome.VIOLATED


@pytest.mark.kills("stopped_laplace_loss_exceeds_the_constant_of_zcdp")
def test_twice_the_constant_is_not_exceeded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laplace_noise_reduction, "stopped_laplace_mean", with_constant(Fraction(2)))
    assert outcome_of("stopped_laplace_loss_exceeds_the_constant_of_zcdp") is Outcome.VIOLATED


# --- the base mechanisms ------------------------------------------------------------------------------------


@pytest.mark.kills("pure_dp_of_laplace_noise_on_each_coordinate")
@pytest.mark.parametrize(
    "mutant",
    [
        lambda left, right, epsilon: epsilon * max(abs(a - b) for a, b in zip(left, right, strict=True)),
        lambda left, right, epsilon: sum(abs(a - b) for a, b in zip(left, right, strict=True)) / epsilon,
    ],
    ids=["largest coordinate", "scale epsilon"],
)
def test_a_wrong_laplace_epsilon_is_refuted(monkeypatch: pytest.MonkeyPatch, mutant: Callable[..., Fraction]) -> None:
    monkeypatch.setattr(base_mechanisms, "laplace_mechanism_epsilon", mutant)
    assert outcome_of("pure_dp_of_laplace_noise_on_each_coordinate") is Outcome.VIOLATED


@pytest.mark.kills("zcdp_of_gaussian_noise_by_its_precision")
@pytest.mark.parametrize("mutant", [lambda gap, p: gap**2 * p], ids=["the precision"])
def test_the_precision_is_not_the_zcdp_parameter(monkeypatch: pytest.MonkeyPatch, mutant: Callable[..., Any]) -> None:
    monkeypatch.setattr(base_mechanisms, "gaussian_zcdp_parameter", mutant)
    assert outcome_of("zcdp_of_gaussian_noise_by_its_precision") is not Outcome.HOLDS


def test_mutants_leave_the_originals_alone() -> None:
    assert laplace_density(Fraction(0), Fraction(1)) == ScaledExponential(Fraction(1, 2))
    assert callable(stopped_brownian.stopped_mean)
