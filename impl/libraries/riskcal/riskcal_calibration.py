"""Calibration of riskcal: risks of a training, and the noise that is found for a target, in each of its ways."""

from __future__ import annotations

import functools
import math
import warnings
from statistics import NormalDist

from riskcal import calibration
from riskcal.accountants import CTDAccountant
from riskcal.calibration import CalibrationConfig, CalibrationTarget, PrivacyMetrics, blackbox, dpsgd
from riskcal_analysis import STEP, approximate_rate
from riskcal_curves import composed, error_rate, least_composed, lower_ends

from dpassay.adapter import Relations
from dpassay.impl.libraries.references import gaussian_epsilon, gaussian_rate, near, normal_cdf, short_of

_COARSE = 0.05
"""Between losses in searches, which ask for many distributions; the reference has the same grid."""

_TOLERANCE = 1e-3
"""Default of searches, in what is searched for as in the noise."""


def _risks_of_training(losses_of, random):
    """Compare risks of a training on samples with its losses, composed one by one."""
    sigma, share, count = random.uniform(0.8, 2), random.uniform(0.05, 0.6), random.randint(2, 4)
    delta = 10 ** random.uniform(-6, -2)
    words = f"noise {sigma!r}, sample {share!r}, {count} times"
    losses = losses_of(sigma, share, count, STEP)
    advantage, epsilon = losses.get_delta_for_epsilon(0.0), losses.get_epsilon_for_delta(delta)
    found = dpsgd.get_advantage_for_dpsgd(sigma, share, count, STEP)
    yield (f"get_advantage_for_dpsgd, {words}", *near(found, advantage, 1e-6, 1e-9))
    for alpha in (random.uniform(0.01, 0.4), random.uniform(0.6, 0.95)):  # one direction decides for each
        beta = error_rate(losses, alpha)
        found = dpsgd.get_beta_for_dpsgd(sigma, share, count, alpha, STEP)
        yield short_of(1, f"get_beta_for_dpsgd, {words}, at {alpha!r}", *near(found, beta, 0, 1e-4))
        metrics = calibration.create_dpsgd_evaluator(share, count, STEP, alpha)(sigma)
        yield (f"create_dpsgd_evaluator, {words}, advantage", *near(metrics.advantage, advantage, 1e-6, 1e-9))
        found = near(metrics.beta, beta, 0, 1e-4)
        yield short_of(1, f"create_dpsgd_evaluator, {words}, beta at {alpha!r}", *found)
    metrics = calibration.create_dpsgd_epsilon_evaluator(share, count, delta, STEP)(sigma)
    yield (f"create_dpsgd_epsilon_evaluator, {words}, {delta!r}", *near(metrics.epsilon, epsilon, 1e-6, 1e-6))
    make = calibration.create_accountant_evaluator
    metrics = make(CTDAccountant, share, count, delta, alpha, grid_step=STEP)(sigma)
    yield (f"create_accountant_evaluator, {words}, {delta!r}", *near(metrics.epsilon, epsilon, 1e-6, 1e-6))
    found = near(metrics.beta, approximate_rate(epsilon, delta, alpha), 0, 1e-5)
    yield short_of(1, f"create_accountant_evaluator, {words}, beta at {alpha!r}", *found)


def _evaluators(random):
    """Check that evaluators keep the false positive rate and the delta that they are given."""
    sigma, share, count = random.uniform(0.8, 2), random.uniform(0.05, 0.6), random.randint(2, 4)
    delta, alpha = 10 ** random.uniform(-6, -2), random.uniform(0.01, 0.95)
    words = f"noise {sigma!r}, sample {share!r}, {count} times"
    metrics = calibration.create_dpsgd_evaluator(share, count, STEP, alpha)(sigma)
    yield (f"create_dpsgd_evaluator, {words}, alpha", *near(metrics.alpha, alpha))
    metrics = calibration.create_dpsgd_epsilon_evaluator(share, count, delta, STEP)(sigma)
    yield (f"create_dpsgd_epsilon_evaluator, {words}, delta", *near(metrics.delta, delta))
    make = calibration.create_accountant_evaluator
    metrics = make(CTDAccountant, share, count, delta, alpha, grid_step=STEP)(sigma)
    yield (f"create_accountant_evaluator, {words}, delta", *near(metrics.delta, delta))
    yield (f"create_accountant_evaluator, {words}, alpha", *near(metrics.alpha, alpha))


def _calibrated(random):
    """Full batches are Gaussian noise, whose risks are known; the search ends within its tolerance."""
    count = random.randint(1, 6)
    advantage, rate = random.uniform(0.1, 0.6), random.uniform(0.02, 0.3)
    target = (1 - rate) * random.uniform(0.3, 0.9)
    sigma = dpsgd.find_noise_multiplier_for_advantage(advantage, 1.0, count, grid_step=STEP)
    exact = 2 * normal_cdf(math.sqrt(count) / sigma / 2) - 1
    words = f"find_noise_multiplier_for_advantage({advantage!r}, 1.0, {count})"
    yield short_of(advantage, words, advantage - _TOLERANCE - 1e-6, exact, advantage + 1e-9)
    # the search asks again and again for the risk of its least noise, which takes seconds on a fine grid
    sigma = dpsgd.find_noise_multiplier_for_err_rates(rate, target, 1.0, count, grid_step=0.01, noise_min=0.3)
    exact = gaussian_rate(math.sqrt(count) / sigma, rate)
    words = f"find_noise_multiplier_for_err_rates({rate!r}, {target!r}, 1.0, {count})"
    yield words, target - _TOLERANCE - 1e-4, exact, target + _TOLERANCE + 1e-4


def _calibrated_on_samples(random):
    """Compare the risk of samples at the noise that is found with the target, on the same grid."""
    share, count = random.uniform(0.3, 0.7), random.randint(2, 4)
    advantage, rate = random.uniform(0.1, 0.4), random.uniform(0.02, 0.3)
    target = (1 - rate) * random.uniform(0.6, 0.9)
    epsilon, delta = random.uniform(0.3, 3), 10 ** random.uniform(-5, -2)
    sample, search = {"sample_rate": share, "num_steps": count}, {"noise_min": 0.3, "noise_max": 20.0}
    sigma = dpsgd.find_noise_multiplier_for_advantage(advantage, **sample, **search, grid_step=_COARSE)
    found = composed(sigma, share, count, _COARSE).get_delta_for_epsilon(0.0)
    words = f"find_noise_multiplier_for_advantage({advantage!r}, {share!r}, {count})"
    yield words, advantage - _TOLERANCE - 1e-6, found, advantage + 1e-6
    sigma = dpsgd.find_noise_multiplier_for_err_rates(rate, target, **sample, **search, grid_step=_COARSE)
    found = error_rate(composed(sigma, share, count, _COARSE), rate)
    words = f"find_noise_multiplier_for_err_rates({rate!r}, {target!r}, {share!r}, {count})"
    yield words, target - _TOLERANCE - 1e-4, found, target + _TOLERANCE + 1e-4
    sigma = blackbox.find_noise_multiplier_for_epsilon_delta(
        CTDAccountant, share, count, epsilon, delta, mu_min=0.3, mu_max=20.0, grid_step=_COARSE
    )
    found = composed(sigma, share, count, _COARSE).get_epsilon_for_delta(delta)
    words = f"find_noise_multiplier_for_epsilon_delta({share!r}, {count}, {epsilon!r}, {delta!r})"
    yield words, epsilon - _TOLERANCE - 1e-6, found, epsilon + 1e-6


class _Accountant:
    """An accountant in closed form: the mu of a step is its rate over its noise."""

    def __init__(self):
        self.squares = 0.0

    def step(self, *, noise_multiplier, sample_rate):
        """Add a step."""
        self.squares += (sample_rate / noise_multiplier) ** 2

    def get_epsilon(self, *, delta):
        """Return epsilon."""
        return gaussian_epsilon(self.squares**-0.5, delta)


def _searched(random):
    """Compare noise that is found for an accountant in closed form with the targets, at the rate 1 and below."""
    for share in (1.0, random.uniform(0.2, 0.8)):
        count, delta = random.randint(2, 6), 10 ** random.uniform(-6, -1)
        of_noise = share * math.sqrt(count)  # mu times the noise
        epsilon, advantage = random.uniform(0.3, 3), random.uniform(0.05, 0.6)
        words = f"rate {share!r}, {count} steps"
        sigma = blackbox.find_noise_multiplier_for_epsilon_delta(_Accountant, share, count, epsilon, delta)
        found = gaussian_epsilon(sigma / of_noise, delta)
        name = f"find_noise_multiplier_for_epsilon_delta, {words}, {epsilon!r}, {delta!r}"
        yield short_of(epsilon, name, epsilon - _TOLERANCE - 1e-9, found, epsilon + 1e-9)
        sigma = blackbox.find_noise_multiplier_for_advantage(_Accountant, advantage, share, count)
        # the noise that is just enough, and one that is too small
        enough, less = (2 * normal_cdf(of_noise / noise / 2) - 1 for noise in (sigma, sigma - 2 * _TOLERANCE))
        name = f"find_noise_multiplier_for_advantage, {words}, {advantage!r}"
        yield short_of(advantage, name, 0.0, enough, advantage + 1e-9)
        yield short_of(advantage, f"the same for less noise, {words}, {advantage!r}", advantage, less, 1.0)
        alpha = random.uniform(0.02, 0.3)
        beta = (1 - alpha) * random.uniform(0.3, 0.9)
        result = blackbox.find_noise_multiplier_for_err_rates(_Accountant, alpha, beta, share, count)
        name = f"find_noise_multiplier_for_err_rates, {words}, {alpha!r}, {beta!r}"
        found = gaussian_rate(of_noise / result.noise_multiplier, alpha)
        yield name, beta - 1e-9, found, beta + 0.02
        found = approximate_rate(result.calibration_epsilon, result.calibration_delta, alpha)
        yield (f"{name}, its epsilon and delta", *near(found, beta))
        found = gaussian_epsilon(result.noise_multiplier / of_noise, result.calibration_delta)
        most = result.calibration_epsilon
        yield short_of(most, f"{name}, epsilon at the noise", most - _TOLERANCE - 1e-9, found, most + 1e-9)


def _out_of_reach(random):
    """Check that no noise is found where all of the range is too small, by a search or by its parts."""
    share, count = random.uniform(0.2, 1), random.randint(2, 6)
    of_noise = share * math.sqrt(count)
    alpha = random.uniform(0.02, 0.3)
    beta = (1 - alpha) * random.uniform(0.5, 0.9)
    needed = of_noise / (NormalDist().inv_cdf(1 - alpha) - NormalDist().inv_cdf(beta))
    largest = needed * random.uniform(0.3, 0.8)
    words = f"find_noise_multiplier_for_err_rates, rate {share!r}, {count} steps, {alpha!r}, {beta!r}, {largest!r}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # each part of the search that fails is told
        try:
            result = blackbox.find_noise_multiplier_for_err_rates(
                _Accountant, alpha, beta, share, count, mu_min=largest / 4, mu_max=largest
            )
        except (RuntimeError, ValueError):
            yield f"{words}, refused", 1.0, 1.0, 1.0
        else:
            yield f"{words}, noise", needed * (1 - 1e-9), float(result.noise_multiplier), math.inf


def _targets(random):
    """Compare the risk at the value that the general search finds, of noise and of its inverse, with each target."""
    alpha, delta, tolerance = random.uniform(0.02, 0.5), 10 ** random.uniform(-6, -1), 10 ** random.uniform(-4, -2)
    mu = random.uniform(0.3, 3)

    def risks(mu):
        return PrivacyMetrics(
            advantage=2 * normal_cdf(mu / 2) - 1,
            alpha=alpha,
            beta=gaussian_rate(mu, alpha),
            epsilon=gaussian_epsilon(1 / mu, delta),
            delta=delta,
        )

    wanted = risks(mu)
    for target, name in (
        (CalibrationTarget("advantage", advantage=wanted.advantage), "advantage"),
        (CalibrationTarget("err_rates", alpha=alpha, beta=wanted.beta), "beta"),
        (CalibrationTarget("epsilon_delta", epsilon=wanted.epsilon, delta=delta), "epsilon"),
    ):
        for kind, of_parameter in (("noise", lambda noise: risks(1 / noise)), ("mu", risks)):
            is_increasing = (name == "beta") == (kind == "noise")
            config = CalibrationConfig(is_increasing, 0.1, 20.0, tolerance)
            result = calibration.calibrate_parameter(of_parameter, target, config, kind)
            reached, exact = of_parameter(result.parameter_value), getattr(wanted, name)
            words = f"calibrate_parameter, {kind} for {target!r}, tolerance {tolerance!r}"
            found = near(getattr(result, f"achieved_{name}"), getattr(reached, name))
            if name == "beta":
                yield words, exact - tolerance - 1e-9, reached.beta, exact + tolerance + 1e-9
                yield short_of(1, f"{words}, achieved", *found)
            else:
                yield short_of(exact, words, exact - tolerance - 1e-9, getattr(reached, name), exact + 1e-9)
                yield (f"{words}, achieved", *found)
            named = result.parameter_name == kind and result.noise_multiplier == result.parameter_value
            yield f"{words}, another name", 0.0, float(not named), 0.0


def calibration_relations():
    """Yield relations of calibration."""
    bounds = {
        "risks of training admit what is certainly lost": lower_ends(
            functools.partial(_risks_of_training, least_composed)
        ),
        "noise meets the target": _calibrated,
        "noise for an accountant meets the target": _searched,
        "noise out of reach is not found": _out_of_reach,
        "each target is met by noise and by its inverse": _targets,
    }
    yield Relations(
        "riskcal.calibration",
        {
            **bounds,
            "risks of training are those of composed losses": functools.partial(_risks_of_training, composed),
            "evaluators keep what they are given": _evaluators,
            "noise for samples meets the target": _calibrated_on_samples,
        },
        seconds=120.0,
        understated=list(bounds),
    )
