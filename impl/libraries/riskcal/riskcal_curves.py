"""Error rates that riskcal reads from loss distributions both ways, with leaks, and from arrays of rates."""

from __future__ import annotations

import functools
import math

import numpy as np
from dp_accounting.pld import privacy_loss_distribution as pld
from riskcal import analysis
from riskcal.accountants import CTDAccountant
from riskcal.analysis import _plrv
from riskcal.analysis.rdp import pure
from riskcal.calibration import dpsgd

from dpassay.adapter import Relations
from dpassay.impl.libraries.directed_curves import EXACT_STEP, crossing_rates, directed_curves
from dpassay.impl.libraries.references import least_error_rate, near, short_of


def composed(sigma, share, count, step):
    """Return the losses of Gaussian noise on samples, composed one by one."""
    losses = pld.from_gaussian_mechanism(sigma, sampling_prob=share, value_discretization_interval=step)
    return functools.reduce(lambda one, other: one.compose(other), [losses] * count)


def least_composed(sigma, share, count, step):
    """Return an optimistic estimate of the losses: whatever is below it understates them."""
    losses = pld.from_gaussian_mechanism(
        sigma,
        sampling_prob=share,
        value_discretization_interval=step,
        pessimistic_estimate=False,
        use_connect_dots=False,
    )
    return functools.reduce(lambda one, other: one.compose(other), [losses] * count)


def lower_ends(relation):
    """Return the relation without the upper ends of its bounds."""

    def rows(random):
        for words, low, value, _ in relation(random):
            yield words, low, value, math.inf

    return rows


def error_rate(losses, rate):
    """Return the false negative rate that the divergences of losses allow, the larger ones of both directions."""
    levels = np.arange(-6000, 6001) * 1e-3
    return least_error_rate(zip(levels, losses.get_delta_for_epsilon(levels)), rate)


def _directed(random):
    """Compare curves that depend on the direction, and that of a leak, with the supporting lines of their divergences.

    The lower curve holds. Where a sample is removed in place of added the library documents the larger one, which is
    the upper bound then. Compositions where both cross are asked by `_crossing`.
    """
    for curve in directed_curves(random, pld):
        variables = analysis.pld_to_plrvs(curve.losses)
        yield from _of_variables(curve.words, variables, curve.deltas)
        for rate in (1e-6, *curve.rates(random)):
            removed, added, both = curve.error_rates(rate)
            at = f"({rate!r}), {curve.words}"
            found = float(_plrv._tradeoff_function(variables, np.array([rate]))[0])
            yield short_of(1, f"tradeoff function{at}", *near(found, removed, 0, 1e-4))
            found = float(_plrv._inverse_tradeoff_function(variables, np.array([rate]))[0])
            yield short_of(1, f"inverse trade-off function{at}", *near(found, added, 0, 1e-4))
            found = near(analysis.get_beta_from_pld(curve.losses, rate), both, 0, 1e-4)
            yield short_of(1, f"get_beta_from_pld{at}", *found)
            found, most = analysis.get_beta_from_pld(curve.exchanged, rate), max(removed, added)
            yield short_of(1, f"get_beta_from_pld{at}, exchanged", both - 1e-4, found, most + 1e-4)


def _crossing(random):
    """Compare true positive rates where the curves of both directions cross: the larger one holds."""
    for words, losses, rate, least in crossing_rates(random, pld):
        yield (words, *near(1 - float(analysis.get_beta_from_pld(losses, rate)), 1 - least, 0, 1e-4))
        found = float(analysis.get_beta_from_plrvs(analysis.pld_to_plrvs(losses), rate))
        yield (f"{words}, of variables", *near(1 - found, 1 - least, 0, 1e-4))


def _of_variables(words, variables, deltas):
    """Compare the losses of two distributions, each with its own probabilities, with the divergences both ways."""
    for level in (-0.25, 0.0, 0.5):
        place, (removed, added) = level / EXACT_STEP, deltas(level)
        losses = variables.y0 + np.arange(len(variables.pmf_Y))
        kept = np.maximum(-np.expm1((place - losses) * EXACT_STEP), 0)
        found = variables.infinity_mass_Y + float(np.dot(kept, variables.pmf_Y))
        yield (f"pld_to_plrvs, delta of Y at {level}, {words}", *near(found, removed, 0, 1e-5))
        losses = variables.x0 + np.arange(len(variables.pmf_X))
        kept = np.maximum(-np.expm1((place + losses) * EXACT_STEP), 0)
        found = variables.minus_infinity_mass_X + float(np.dot(kept, variables.pmf_X))
        yield (f"pld_to_plrvs, delta of X at {level}, {words}", *near(found, added, 0, 1e-5))


def _arrays(random):
    """Check that an array, in whatever order, gets the risks of its entries."""
    low, *rest = sorted(random.random() for _ in range(4))
    entries, step = np.array([*rest, low]), 0.01  # an order whose inverse is another one; a step as large as any
    sigma, share, epsilon = random.uniform(0.8, 2), random.uniform(0.05, 0.6), random.uniform(0.1, 3)
    symmetric = pld.from_gaussian_mechanism(sigma, value_discretization_interval=step)
    sampled = pld.from_gaussian_mechanism(sigma, sampling_prob=share, value_discretization_interval=step)
    exchanged = pld.PrivacyLossDistribution(sampled._pmf_add, sampled._pmf_remove)
    account = CTDAccountant()
    account.step(noise_multiplier=sigma, sample_rate=share)
    functions = {
        f"{name}, {words}": functools.partial(function, losses)
        for words, losses in (("symmetric", symmetric), ("sampled", sampled), ("exchanged", exchanged))
        for name, function in (
            ("get_beta_from_pld", analysis.get_beta_from_pld),
            ("get_beta_from_plrvs", lambda losses, x: analysis.get_beta_from_plrvs(analysis.pld_to_plrvs(losses), x)),
            ("get_bayes_risk_from_pld", analysis.get_bayes_risk_from_pld),
        )
    }
    functions |= {
        f"{name}, order {order}": function
        for order in (0.7, 1.0, 3.0)
        for name, function in (
            ("get_beta_from_rdp", functools.partial(analysis.get_beta_from_rdp, epsilon, order=order)),
            ("get_FNR in Python", functools.partial(pure.get_FNR, order=order, epsilon=epsilon)),
        )
    }
    functions |= {
        "get_beta_from_gdp": functools.partial(analysis.get_beta_from_gdp, 1 / sigma),
        "get_bayes_risk_from_gdp": functools.partial(analysis.get_bayes_risk_from_gdp, 1 / sigma),
        "get_advantage_from_gdp": analysis.get_advantage_from_gdp,
        "get_beta_from_adp": functools.partial(analysis.get_beta_from_adp, epsilon, 0.02),
        "get_beta_from_zcdp": functools.partial(analysis.get_beta_from_zcdp, epsilon / 3, grid_size=60),
        "get_beta_for_dpsgd": functools.partial(dpsgd.get_beta_for_dpsgd, sigma, share, 2, grid_step=step),
        "CTDAccountant.get_beta": lambda x: account.get_beta(alpha=x, grid_step=step),
    }
    for name, function in functions.items():
        answers, words = np.ravel(function(entries)), f"noise {sigma!r}, sample {share!r}, epsilon {epsilon!r}"
        yield f"{name}, size, {words}, {entries!r}", 4, answers.size, 4
        for place, (entry, answer) in enumerate(zip(entries, answers)):
            exact = float(function(float(entry)))
            yield (f"{name}, entry {place} of {entries!r}, {words}", *near(answer, exact, 1e-9, 1e-12))


def curve_relations():
    """Yield relations of curves, and of the functions that take an array."""
    curves, crossing = "each direction has its curve, and leaks count", "error rates hold for both directions"
    yield Relations(
        "riskcal.analysis, curves",
        {curves: _directed, "arrays have the risks of their entries": _arrays},
        understated=[curves],
    )
    yield Relations("riskcal.analysis, crossing curves", {crossing: _crossing}, understated=[crossing])
