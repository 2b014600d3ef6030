"""gdpnum: the mu of Gaussian differential privacy and the trade-off function of a privacy loss distribution."""

from __future__ import annotations

import functools
import math
import statistics
import warnings

import numpy as np
from dp_accounting.pld import privacy_loss_distribution as pld
from gdpnum import CTDAccountant, PLDConverter, get_worst_case_regret
from gdpnum.dpsgd import get_mu_and_regret_for_dpsgd
from gdpnum_samples import STEP, certainly_lost, sampled

from dpassay.adapter import Answer, Nonsense, Relations
from dpassay.impl.libraries.directed_curves import crossing_rates, directed_curves
from dpassay.impl.libraries.phases import drawn_phases, stepped
from dpassay.impl.libraries.references import (
    gaussian_delta,
    gaussian_epsilon,
    gaussian_rate,
    near,
    normal_cdf,
    short_of,
)

LIBRARY = "gdpnum"

warnings.simplefilter("ignore")

_EXACT_STEP = 2.0**-10
"""A step of which multiples are exact, so that a loss is on the grid."""

_SCALED = 1e-6
"""Absolute, in rates: probabilities on a grid are scaled so that they sum to 1."""


def _gaussian(random):
    """Compare Gaussian noise with its own mu: the bound is pessimistic, and near the truth."""
    sigma = random.uniform(0.6, 4)
    mu = 1 / sigma
    found = PLDConverter(pld.from_gaussian_mechanism(sigma, value_discretization_interval=STEP))
    words = f"Gaussian noise {sigma!r}"
    for name, stated in (("mu", found.get_mu_and_regret()[0]), ("get_mu", found.get_mu())):
        yield f"{name}, {words}", mu * (1 - 1e-6), float(stated), mu * 1.05
    exact = 2 * normal_cdf(mu / 2) - 1
    yield f"advantage, {words}", exact - 1e-9, float(found.get_advantage()), exact + 2 * STEP
    for rate in (1e-6, 0.01, 0.3, random.random()):
        exact = gaussian_rate(mu, rate)
        yield short_of(1, f"get_beta({rate!r}), {words}", exact - 3 * STEP, found.get_beta(rate), exact + _SCALED)


def _regret_of_gaussian(random):
    """Check that Gaussian noise has nearly the curve of a mu, with the regret of the other function for it."""
    sigma = random.uniform(0.6, 4)
    found = PLDConverter(pld.from_gaussian_mechanism(sigma, value_discretization_interval=STEP))
    stated, regret = found.get_mu_and_regret()
    yield f"regret, Gaussian noise {sigma!r}", 0.0, float(regret), 0.01
    yield (f"get_mu, Gaussian noise {sigma!r}", *near(float(found.get_mu()), float(stated)))


def _response(random):
    """Compare randomised response with the mu of its corner."""
    epsilon = random.uniform(0.3, 3)
    noise = 2 / (1 + math.exp(epsilon))
    found = PLDConverter(pld.from_randomized_response(noise, 2, value_discretization_interval=STEP))
    exact = -2 * statistics.NormalDist().inv_cdf(1 / (1 + math.exp(epsilon)))
    yield f"mu of a response of epsilon {epsilon!r}", exact * (1 - 1e-6), float(found.get_mu()), exact * 1.01


def _directed(random):
    """Compare curves that depend on the direction, and that of a leak, with the supporting lines of their divergences.

    The lower curve holds. Where a sample is removed in place of added the library documents the larger one, which is
    the upper bound then. Compositions where both cross are asked by `_crossing`.
    """
    for curve in directed_curves(random, pld):
        found, exchanged, exact = PLDConverter(curve.losses), PLDConverter(curve.exchanged), max(curve.deltas(0.0))
        yield f"advantage, {curve.words}", exact - 1e-9, float(found.get_advantage()), exact + 1e-4
        for rate in (0.0, *curve.rates(random)):
            removed, added, both = curve.error_rates(rate)
            at = f"({rate!r}), {curve.words}"
            yield short_of(1, f"tradeoff_function{at}", *near(found.tradeoff_function(rate), removed, 0, 1e-4))
            back = near(found.inverse_tradeoff_function(rate), added, 0, 1e-4)
            yield short_of(1, f"inverse_tradeoff_function{at}", *back)
            yield short_of(1, f"get_beta{at}", *near(found.get_beta(rate), both, 0, 1e-4))
            there = near(exchanged.tradeoff_function(rate), added, 0, 1e-4)
            yield short_of(1, f"tradeoff_function{at}, exchanged", *there)
            ends = both - 1e-4, exchanged.get_beta(rate), max(removed, added) + 1e-4
            yield short_of(1, f"get_beta{at}, exchanged", *ends)


def _crossing(random):
    """Compare true positive rates where the curves of both directions cross: the larger one holds."""
    for words, losses, rate, least in crossing_rates(random, pld):
        yield (words, *near(1 - PLDConverter(losses).get_beta(rate), 1 - least, 0, 1e-4))


def _arrays(random):
    """Check that an array of rates, in whatever order, gets the error rates of its entries, and None a default."""
    sigma, share = random.uniform(0.8, 2), random.uniform(0.05, 0.6)
    low, *rest = sorted(random.random() for _ in range(4))
    rates, step = np.array([*rest, low]), 0.01  # an order whose inverse is another one; a step as large as any
    account = CTDAccountant()
    for _ in range(2):
        account.step(noise_multiplier=sigma, sample_rate=share)
    symmetric = PLDConverter(pld.from_gaussian_mechanism(sigma, value_discretization_interval=step))
    for words, get_beta, advantage in (
        (f"PLDConverter, noise {sigma!r}", symmetric.get_beta, symmetric.get_advantage()),
        (
            f"CTDAccountant, noise {sigma!r}, sample {share!r}",
            functools.partial(account.get_beta, grid_step=step),
            account.get_pld(grid_step=step).get_delta_for_epsilon(0.0),
        ),
    ):
        default = [*(10.0**power for power in (-10, -8, -6, -4, -3, -2, -1)), (1 - advantage) / 2]
        for asked, entries in ((rates, rates), (None, default)):
            answers = np.ravel(get_beta(asked))
            yield f"number of error rates of {asked!r}, {words}", len(entries), answers.size, len(entries)
            for place, (entry, answer) in enumerate(zip(entries, answers)):
                yield (f"entry {place} of {asked!r}, {words}", *near(answer, get_beta(float(entry)), 1e-9, 1e-12))


def _regret(random):
    """Check that the curve of mu regrets nothing, and that of perfect privacy half the advantage of mu."""
    mu = random.uniform(0.3, 2)
    alphas = np.linspace(0, 1, 20_001)
    betas = np.array([gaussian_rate(mu, a) if 0 < a < 1 else 1 - a for a in alphas])
    yield f"no regret, mu={mu!r}", 0.0, get_worst_case_regret(alphas, betas, mu), 1e-4
    flat = get_worst_case_regret(np.array([0.0, 1.0]), np.array([1.0, 0.0]), mu)
    exact = (2 * normal_cdf(mu / 2) - 1) / 2  # half the advantage: the curve moves down and left
    yield f"regret of perfect privacy, mu={mu!r}", exact - 1e-3, flat, exact + 1e-3


def _accounts(random):
    """Compare accounts of parts on full batches with Gaussian noise."""
    parts = drawn_phases(random, *((random.uniform(1, 4), 1.0) for _ in range(3)))
    account, words = stepped(CTDAccountant(), parts), f"CTDAccountant, {parts!r}"
    mu = math.sqrt(math.fsum(count / sigma**2 for sigma, _, count, _ in parts))
    yield f"{words}, mu", mu * (1 - 1e-6), float(account.get_mu_and_regret(grid_step=STEP)[0]), mu * 1.05
    delta, rate = 10 ** random.uniform(-6, -2), random.uniform(0.01, 0.5)
    exact = gaussian_epsilon(1 / mu, delta)
    yield (
        f"{words}, epsilon at {delta!r}",
        exact - 1e-9,
        account.get_epsilon(delta=delta, grid_step=STEP),
        exact + 0.05,
    )
    exact = gaussian_rate(mu, rate)
    found = account.get_beta(rate, grid_step=STEP)
    yield short_of(1, f"{words}, beta at {rate!r}", exact - 0.01, found, exact + _SCALED)


def _accounts_of_samples(random):
    """Compare accounts of parts with composed losses, and their lengths with the number of steps.

    Neighbouring parts have one parameter in common: steps must be merged only where both agree.
    """
    delta = 10 ** random.uniform(-6, -2)
    (one, other), (low, high) = ([random.uniform(*ends) for _ in range(2)] for ends in ((1, 4), (0.05, 0.6)))
    parts = drawn_phases(random, (one, low), (one, high), (other, high), (other, low))
    steps = [
        pld.from_gaussian_mechanism(sigma, sampling_prob=share, value_discretization_interval=STEP)
        for sigma, share, count, _ in parts
        for _ in range(count)
    ]
    exact = functools.reduce(lambda one, other: one.compose(other), steps).get_epsilon_for_delta(delta)
    account = stepped(CTDAccountant(), parts)
    found = account.get_epsilon(delta=delta, grid_step=STEP)
    yield (f"CTDAccountant, {parts!r}, epsilon at {delta!r}", *near(found, exact, 1e-6, 1e-6))
    yield f"CTDAccountant, {parts!r}, len", len(steps), len(account), len(steps)


def _epsilon(sigma, count, delta, rate=1.0):
    parts = count if isinstance(count, tuple) else (count,)
    if any(part != int(part) for part in parts):
        raise ValueError("steps are counted one by one")
    account = CTDAccountant()
    account.history = [(sigma, rate, int(part)) for part in parts]
    return float(account.get_epsilon(delta=delta, grid_step=STEP))


def _account():
    account = CTDAccountant()
    account.step(noise_multiplier=2.0, sample_rate=1.0)
    return account


def _between_losses():
    """Return whether a randomised response whose loss is not on the grid keeps its curve, but for the grid."""
    epsilon, rate = 2.5 + STEP / 3, 0.05
    found = PLDConverter(
        pld.from_randomized_response(2 / (1 + math.exp(epsilon)), 2, value_discretization_interval=STEP)
    )
    return found.get_beta(rate) >= 1 - math.exp(epsilon) * rate - 2 * STEP


def _covers_leaks():
    """Return whether a mu admits that neighbours are told apart with probability 0.1, or is refused."""
    losses = pld.from_privacy_parameters(pld.common.DifferentialPrivacyParameters(1.0, 0.1), STEP)
    try:
        mu = float(PLDConverter(losses).get_mu())
    except ValueError:
        return True
    return 1 - gaussian_rate(mu, 1e-3) >= 0.1


def _covers_training():
    """Return whether the mu of a training, at the default grid, covers a lower bound of its delta.

    The bound is the optimistic estimate of dp-accounting, 6.3e-5; certified by this project: at least 6.56e-5.
    """
    sigma, share, count, epsilon = 0.8, 0.02, 500, 4.0
    mu, _ = get_mu_and_regret_for_dpsgd(sigma, share, count)
    least = pld.from_gaussian_mechanism(sigma, sampling_prob=share, pessimistic_estimate=False, use_connect_dots=False)
    return gaussian_delta(1 / float(mu), epsilon) >= least.self_compose(count).get_delta_for_epsilon(epsilon)


def _works(call):
    """Return whether a documented call returns."""
    try:
        call()
    except NameError:
        return False
    return True


def cases():
    """Return all cases."""
    domain = {"count": (1, 20), "sigma": (0.7, 50.0), "rate": (0.01, 1.0), "delta": (1e-9, 0.5)}
    facts = {
        "get_advantage returns": lambda: _works(lambda: _account().get_advantage(grid_step=STEP)),
        "state_dict returns": lambda: _works(lambda: _account().state_dict()),
    }
    bounds = {
        "Gaussian noise has its own mu": _gaussian,
        "randomised response has the mu of its corner": _response,
        "samples admit what is certainly lost": certainly_lost,
        "each direction has its curve, and leaks count": _directed,
    }
    crossing, of_parts = {"error rates hold for both directions": _crossing}, "accounts of full batches are Gaussian"
    leaks = {"mu admits attacks without false positives": _covers_leaks}
    training = {"mu covers the delta of training": _covers_training}
    return [
        Relations(
            "PLDConverter, relations",
            {
                **bounds,
                "samples have the curve of their divergences": sampled,
                "arrays have the error rates of their entries": _arrays,
                "regret is the distance of two curves": _regret,
                "Gaussian noise has no regret": _regret_of_gaussian,
            },
            understated=list(bounds),
        ),
        Relations("PLDConverter, crossing curves", crossing, understated=list(crossing)),
        Relations("PLDConverter, facts", {}, {"losses between points of the grid keep the curve": _between_losses}),
        Relations("PLDConverter, leaks", {}, leaks, understated=list(leaks)),
        Relations("CTDAccountant, facts", {}, facts),
        Relations(
            "CTDAccountant, relations",
            {of_parts: _accounts, "accounts are those of their parts": _accounts_of_samples},
            understated=[of_parts],
        ),
        Relations("CTDAccountant, training", {}, training, understated=list(training)),
        *(
            Answer(
                f"CTDAccountant, {stem}",
                f"{stem}_epsilon",
                _epsilon,
                domain=domain,
                looseness=40 * STEP,
                relative_error=1e-9,
                calls=40,
            )
            for stem in ("gaussian", "subsampled_gaussian")
        ),
        Nonsense("CTDAccountant, states", {"an empty state": lambda: CTDAccountant().load_state_dict({})}),
    ]
