"""Exact relations of the events of dp-accounting: nested compositions, conversions of Renyi divergences, calibration.

The reference is the sum of the documented divergences of the parts, or the one Gaussian mechanism that Gaussian
mechanisms amount to; a noise multiplier may be an integer.
"""

from __future__ import annotations

import math

import dp_accounting as dp
import numpy as np
from dp_accounting import mechanism_calibration, pld, rdp
from dp_accounting.rdp import rdp_privacy_accountant as _rdp
from dp_accounting_ends import end_relations
from dp_accounting_replacements import bounds_moved, laplace_divergence, replacement_relations
from scipy import optimize, special

from dpassay.adapter import Relations
from dpassay.impl.libraries.references import gaussian_delta, near, sampled_gaussian_divergence

__all__ = ["event_relations"]

_ORDERS = [1.05, 1.5, 2.0, 2.75, 4.0, 9.0, 33.0]
_INTERVAL = 1e-2
_ADD_REMOVE, _REPLACE = dp.NeighboringRelation.ADD_OR_REMOVE_ONE, dp.NeighboringRelation.REPLACE_ONE
_SPECIAL = dp.NeighboringRelation.REPLACE_SPECIAL


_FREE = (dp.NoOpDpEvent(),)
"""Events that cost nothing."""


def _near(value, other, relative=1e-8, absolute=1e-11):
    return near(value, other, relative, absolute)


def _noise(random):
    """Return a noise multiplier; every third is an integer, which Python does not tell from a float."""
    return random.choice([random.uniform(0.7, 4), random.uniform(0.7, 4), random.randint(1, 4)])


# --- Renyi divergences --------------------------------------------------------------------------------------


def _divergence(upper, lower, order):
    return math.log(math.fsum(a**order * b ** (1 - order) for a, b in zip(upper, lower))) / (order - 1)


def _response(noise, buckets, order, relation):
    keep, other = 1 - noise * (buckets - 1) / buckets, noise / buckets
    if relation is _REPLACE:
        rest = [other] * (buckets - 2)
        return _divergence([keep, other, *rest], [other, keep, *rest], order)
    one, two = [keep, *[other] * (buckets - 1)], [1 / buckets] * buckets
    return max(_divergence(one, two, order), _divergence(two, one, order))


def _leaf(random, relation):
    """Return an event, its divergence as a function of the order, and its parameter of a Gaussian mechanism."""
    kind = random.choice(["gaussian", "laplace", "zcdp", "response" if relation is not _ADD_REMOVE else "gaussian"])
    moved = bounds_moved(kind) if relation is _REPLACE and kind in ("gaussian", "laplace") else 1
    if kind == "gaussian":
        sigma = _noise(random)
        return dp.GaussianDpEvent(sigma), lambda order: moved**2 * order / (2 * sigma**2)
    if kind == "laplace":
        scale = _noise(random)
        return dp.LaplaceDpEvent(scale), lambda order: laplace_divergence(scale / moved, order)
    if kind == "zcdp":
        rho, xi = random.uniform(0.01, 1), random.choice([0.0, random.uniform(0, 0.5)])
        return dp.ZCDpEvent(rho, xi), lambda order: xi + rho * order
    noise, buckets = random.uniform(0.1, 0.9), random.randint(2, 5)
    return (
        dp.RandomizedResponseDpEvent(noise, buckets),
        lambda order: _response(noise, buckets, order, relation),
    )


def _nested(random, leaf, depth=2, free=_FREE):
    """Return a nested composition, with events that cost nothing, and the list of its leaves with counts."""
    shape = random.choice(["leaf", "several", "composed", "built"]) if depth else "leaf"
    if shape == "leaf":
        event, *about = leaf()
        return event, [(1, *about)]
    if shape == "several":
        event, parts = _nested(random, leaf, depth - 1, free)
        count = random.randint(2, 4)
        return dp.SelfComposedDpEvent(event, count), [(count * n, *about) for n, *about in parts]
    found = [_nested(random, leaf, depth - 1, free) for _ in range(random.randint(2, 3))]
    if shape == "composed":
        events = [*free, *(event for event, _ in found)]
        return dp.ComposedDpEvent(events), [part for _, parts in found for part in parts]
    builder, every = dp.DpEventBuilder(), []
    for event, parts in found:
        count = random.randint(1, 3)
        builder.compose(event, count)
        if random.random() < 0.3:
            builder.compose(event)
            count += 1
        if random.random() < 0.3:
            builder.build()  # what is built before must not be kept
        every += [(count * n, *about) for n, *about in parts]
    return builder.build(), every


def _sums(random):
    """Check that the divergence of a composition is the sum of those of its parts."""
    for relation in (_ADD_REMOVE, _REPLACE, _SPECIAL):
        event, parts = _nested(random, lambda r=relation: _leaf(random, r))
        outer = random.randint(1, 3)
        accountant = rdp.RdpAccountant(_ORDERS, relation).compose(event, outer)
        built = rdp.RdpAccountant(_ORDERS, relation).compose(accountant.ledger)
        for order, found, again in zip(_ORDERS, accountant.rdp, built.rdp):
            exact = outer * math.fsum(count * divergence(order) for count, divergence in parts)
            yield (f"{outer} times {event!r}, {relation}, order {order}", *_near(float(found), exact))
            yield (f"the ledger of {outer} times {event!r}, order {order}", *_near(float(again), exact))


def _effective(parts):
    return math.fsum(count / sigma**2 for count, sigma in parts) ** -0.5


def _gaussians(random, noise=lambda random: random.uniform(0.7, 4)):
    """Gaussian mechanisms on the same sample amount to one."""

    def leaf():
        sigma = noise(random)
        return dp.GaussianDpEvent(sigma), sigma

    event, parts = _nested(random, leaf, free=())  # inside a sample nothing else is supported
    one = dp.GaussianDpEvent(_effective(parts))
    orders = [2.0, 5.0, 16.0]
    for relation, around in (
        (_ADD_REMOVE, lambda inner: dp.PoissonSampledDpEvent(0.2, inner)),
        (_ADD_REMOVE, lambda inner: dp.PoissonSampledDpEvent(1.0, inner)),
        (_REPLACE, lambda inner: dp.SampledWithoutReplacementDpEvent(20, 5, inner)),
    ):
        both = [rdp.RdpAccountant(orders, relation).compose(around(inner)).rdp for inner in (event, one)]
        for order, found, exact in zip(orders, *both):
            yield (f"{around(event)!r}, order {order}", *_near(found, float(exact)))


def _losses_of_gaussians(random):
    """Check that the losses of Gaussian mechanisms add up to those of one; what costs nothing costs nothing."""

    def leaf():
        sigma = _noise(random)
        return dp.GaussianDpEvent(sigma), sigma

    event, parts = _nested(random, leaf)
    sigma = _effective(parts) / 2**0.5
    free = [dp.NoOpDpEvent(), dp.PoissonSampledDpEvent(0.0, dp.GaussianDpEvent(1.0))]
    for relation, sensitivity in ((_ADD_REMOVE, 1), (_REPLACE, 2), (_SPECIAL, 1)):
        accountant = pld.PLDAccountant(relation, _INTERVAL)
        accountant.compose(event, 2)
        for one in free:
            accountant.compose(one)
        steps = sum(count for count, _ in parts) * 2
        for level in (0.0, random.uniform(0, 3)):
            exact, aside = (gaussian_delta(sigma / sensitivity, at) for at in (level, level - steps * _INTERVAL))
            found = accountant.get_delta(level)
            yield (
                f"2 times {event!r}, {relation}, delta at {level!r}",
                exact * (1 - 1e-9) - 1e-13,
                found,
                aside + 1e-10,  # sums of probabilities near 1 are rounded
            )
            epsilon = accountant.get_epsilon(found) if 0 < found < 1 else level
            yield f"2 times {event!r}, {relation}, back to epsilon", -math.inf, epsilon, level + 1e-6


def _events_and_distributions(random):
    """Check that an event costs as much as its distribution of losses, as often as it is composed."""
    for relation in (_ADD_REMOVE, _REPLACE, _SPECIAL):
        for event, losses, count in _of_one_distribution(random, relation):
            accountant = pld.PLDAccountant(relation, _INTERVAL).compose(dp.SelfComposedDpEvent(event, count))
            exact = losses if count == 1 else losses.self_compose(count)
            for level in (0.0, 0.8):
                found = accountant.get_delta(level)
                yield (
                    f"{count} times {event!r}, {relation}, delta at {level}",
                    *_near(found, exact.get_delta_for_epsilon(level), 1e-9),
                )


def _of_one_distribution(random, relation):
    """Yield events that are accounted for in this relation, the distributions of their losses, and counts."""
    make = pld.privacy_loss_distribution
    grid = {"value_discretization_interval": _INTERVAL}
    scale, rate, count = random.uniform(1, 4), random.uniform(0.1, 0.9), random.randint(1, 4)
    a, moved = random.uniform(0.3, 1), random.randint(1, 3)
    shifts, chances = [0.0, 1.0, random.uniform(1, 2)], [1 - rate, rate / 2, rate / 2]
    related = {**grid, "neighboring_relation": relation}
    sampled = dp.PoissonSampledDpEvent(rate, dp.GaussianDpEvent(scale))
    yield sampled, make.from_gaussian_mechanism(scale, sampling_prob=rate, **related), count
    truncated = (30, rate, round(30 * rate), scale)  # every other batch is full
    yield (
        dp.dp_event.TruncatedSubsampledGaussianDpEvent(*truncated),
        make.from_truncated_subsampled_gaussian_mechanism(*truncated, **related),
        count,
    )
    if relation is not _ADD_REMOVE:
        response = (rate, moved + 1)  # several are composed once, a finding of its own
        yield dp.RandomizedResponseDpEvent(*response), make.from_randomized_response(*response, **related), 1
    if relation is not _REPLACE:
        yield dp.LaplaceDpEvent(scale), make.from_laplace_mechanism(scale, **grid), count
        discrete = make.from_discrete_laplace_mechanism(a, moved, **grid)
        yield dp.dp_event.DiscreteLaplaceDpEvent(a, moved), discrete, count
        losses = make.from_laplace_mechanism(scale, sampling_prob=rate, **grid)
        yield dp.PoissonSampledDpEvent(rate, dp.LaplaceDpEvent(scale)), losses, count
        mixture = (scale, shifts, chances)
        losses = make.from_mixture_gaussian_mechanism(*mixture, **grid)
        yield dp.dp_event.MixtureOfGaussiansDpEvent(*mixture), losses, count


def _without_privacy(random):
    """Events without noise are not private in any accountant; others after them do not help."""
    release = dp.NonPrivateDpEvent()
    for make in (lambda: pld.PLDAccountant(_ADD_REMOVE, _INTERVAL), rdp.RdpAccountant):
        for event in (
            release,
            dp.ComposedDpEvent([dp.GaussianDpEvent(5.0), release]),
            dp.SelfComposedDpEvent(dp.GaussianDpEvent(0.0), 3),
            dp.PoissonSampledDpEvent(0.5, dp.GaussianDpEvent(0.0)),
        ):
            accountant = make().compose(event).compose(dp.GaussianDpEvent(random.uniform(1, 3)))
            words = f"{type(accountant).__name__}, {event!r}"
            yield f"{words}, epsilon", math.inf, accountant.get_epsilon(1e-3), math.inf
            yield f"{words}, delta", 1.0, accountant.get_delta(1.0), 1.0
        fresh = make()
        yield "nothing, epsilon", 0.0, float(fresh.get_epsilon(1e-6)), 0.0
        yield "nothing, delta", 0.0, float(fresh.get_delta(1.0)), 0.0


def _supported():
    """Return whether accountants know which events they support, and asking costs nothing."""
    for make in (lambda: pld.PLDAccountant(_ADD_REMOVE, _INTERVAL), rdp.RdpAccountant):
        fresh = make()
        supported = (
            (dp.GaussianDpEvent(1.0), True),
            (dp.UnsupportedDpEvent(), False),
            (dp.ComposedDpEvent([dp.GaussianDpEvent(1.0), dp.UnsupportedDpEvent()]), False),
            (dp.SelfComposedDpEvent(dp.UnsupportedDpEvent(), 2), False),
        )
        if any(fresh.supports(event) != answer for event, answer in supported) or fresh.get_epsilon(1e-6) != 0:
            return False
    return True


# --- sampling, trees, repetitions ---------------------------------------------------------------------------


def _samples(random):
    sigma, rate, count = random.uniform(0.8, 4), random.uniform(0.01, 0.6), random.randint(1, 5)
    orders = [1.3, 2.0, 3.0, 3.7, 6.0]
    for relation in (_ADD_REMOVE, _SPECIAL):
        event = dp.SelfComposedDpEvent(dp.PoissonSampledDpEvent(rate, dp.GaussianDpEvent(sigma)), count)
        found = rdp.RdpAccountant(orders, relation).compose(event).rdp
        for order, value in zip(orders, found):
            exact = count * sampled_gaussian_divergence(sigma, rate, order)
            # the series for fractional orders adds its terms in absolute value, or it does not converge
            high = exact * (1 + 1e-6) if order == int(order) else math.inf
            yield f"{event!r}, order {order}", exact * (1 - 1e-6) - 1e-11, float(value), high


def _trees(random):
    """Check that a record is in one node of each level of its tree."""
    sigma, count = _noise(random), random.randint(1, 3)
    power = 2 ** random.randint(2, 20)
    around = (power - 1, power, power + 1)  # a full tree; the next ones are a level higher
    lists = [[random.randint(1, 40) for _ in range(3)], [3, power, power // 2]]
    for steps in (1, 2, random.randint(1, 40), *around, *lists):
        event = dp.SelfComposedDpEvent(dp.SingleEpochTreeAggregationDpEvent(sigma, steps), count)
        levels = max(steps if isinstance(steps, list) else [steps]).bit_length()
        found = rdp.RdpAccountant(_ORDERS, _SPECIAL).compose(event).rdp
        for order, value in zip(_ORDERS, found):
            yield (f"{event!r}, order {order}", *_near(value, count * levels * order / (2 * sigma**2)))


def _mean_of_repetitions(gamma, shape):
    if gamma == 1:
        return 1.0
    if shape == 0:
        return (1 / gamma - 1) / math.log(1 / gamma)
    return shape * (1 - gamma) / (gamma * (1 - gamma**shape))


def _repetitions(random):
    """Check the best of a random number of runs: Theorems 2 and 6 of Papernot and Steinke 2022."""
    sigma, count, before = random.uniform(1.5, 4), random.randint(1, 2), random.uniform(0, 0.3)
    mean = random.choice([random.uniform(1.2, 8), 10 ** random.uniform(2, 3)])
    orders = [1.5, 2.0, 3.0, 6.0, 15.0, 40.0]
    single = [order / (2 * sigma**2) for order in orders]
    for shape in (0.0, 0.5, 1.0, 2.0, 14.0, math.inf):
        if shape == math.inf:
            exact = []
            for order, one in zip(orders, single):
                level = math.log1p(1 / (order - 1))
                delta = min(_delta_of(o, r, level) for o, r in zip(orders, single))
                exact.append(one + mean * delta + math.log(mean) / (order - 1))
        else:
            gamma = optimize.brentq(lambda g, s=shape: _mean_of_repetitions(g, s) - mean, 1e-9, 1 - 1e-9, xtol=1e-14)
            least = min((1 - 1 / o) * r + math.log(1 / gamma) / o for o, r in zip(orders, single))
            every = [one + math.log(mean) / (order - 1) + (1 + shape) * least for order, one in zip(orders, single)]
            exact = [min(every[k:]) for k in range(len(every))]  # a divergence grows with its order
        event = dp.dp_event.RepeatAndSelectDpEvent(dp.GaussianDpEvent(sigma), mean, shape)
        found = rdp.RdpAccountant(orders).compose(dp.ZCDpEvent(before)).compose(event, count).rdp
        for order, value, one in zip(orders, found, exact):
            yield (f"{count} times {event!r}, order {order}", *_near(value, before * order + count * one, 1e-6))


# --- conversions --------------------------------------------------------------------------------------------


def _delta_of(order, divergence, epsilon):
    """Return delta by Proposition 12 of Canonne, Kamath and Steinke 2020, or by the bound of Bretagnolle and Huber."""
    second = math.sqrt(-math.expm1(-divergence))
    if order <= 1.01:
        return min(second, 1.0)
    log = (order - 1) * (divergence - epsilon + math.log1p(-1 / order)) - math.log(order)
    return min(math.exp(min(log, 0.0)), second, 1.0)


def _epsilon_of(order, divergence, delta):
    if delta**2 > -math.expm1(-divergence):
        return 0.0
    if order <= 1.01:
        return math.inf
    return max(divergence + math.log1p(-1 / order) - math.log(delta * order) / (order - 1), 0.0)


def _conversions(random):
    orders = sorted([1.001, *(random.uniform(1.02, 30) for _ in range(5)), random.uniform(30, 200)])
    scale = math.exp(random.uniform(math.log(1e-4), math.log(2)))
    divergences = [scale * order * random.uniform(0.8, 1.2) for order in orders]
    # the bound of Bretagnolle and Huber: the square of the last delta is below it, and the delta itself above it
    least = -math.expm1(-min(divergences))
    for delta in (10 ** random.uniform(-9, -2), random.uniform(0.01, 0.9), least ** random.uniform(0.6, 0.99)):
        found, order = rdp.compute_epsilon(orders, divergences, delta)
        exact = min(_epsilon_of(o, r, delta) for o, r in zip(orders, divergences))
        words = f"compute_epsilon({orders}, {divergences}, {delta!r})"
        yield (words, *_near(found, exact))
        best = _epsilon_of(order, divergences[orders.index(order)], delta)
        yield (f"{words}, at its order", *_near(best, exact))
    for epsilon in (0.0, random.uniform(0, 4)):
        found, _ = _rdp.compute_delta(orders, divergences, epsilon)
        exact = min(_delta_of(o, r, epsilon) for o, r in zip(orders, divergences))
        yield (f"compute_delta({orders}, {divergences}, {epsilon!r})", *_near(found, exact, 1e-8, 1e-15))
    accountant = rdp.RdpAccountant(orders).compose(dp.ZCDpEvent(scale))
    delta = 10 ** random.uniform(-9, -2)
    epsilon, order = accountant.get_epsilon_and_optimal_order(delta)
    yield ("get_epsilon_and_optimal_order", *_near(epsilon, min(_epsilon_of(o, scale * o, delta) for o in orders)))
    yield ("get_epsilon", *_near(accountant.get_epsilon(delta), epsilon))
    found, _ = accountant.get_delta_and_optimal_order(1.0)
    yield ("get_delta_and_optimal_order", *_near(found, min(_delta_of(o, scale * o, 1.0) for o in orders)))
    yield ("get_delta", *_near(accountant.get_delta(1.0), found))


# --- calibration --------------------------------------------------------------------------------------------


def _calibrations(random):
    """Check that a parameter that is found meets the target, and one that is a little less private does not."""
    epsilon, delta, count = random.uniform(0.5, 4), 10 ** random.uniform(-8, -3), random.randint(1, 6)

    def epsilon_of(event):
        return rdp.RdpAccountant(_ORDERS).compose(event).get_epsilon(delta)

    def many(sigma):
        return dp.SelfComposedDpEvent(dp.GaussianDpEvent(sigma), count)

    low, guess, tolerance = random.uniform(0.01, 0.1), random.uniform(0.1, 60), random.choice([1e-6, 1e-2])
    for bracket in (None, dp.ExplicitBracketInterval(low, 1e4), dp.LowerEndpointAndGuess(low, guess)):
        sigma = dp.calibrate_dp_mechanism(
            lambda: rdp.RdpAccountant(_ORDERS), many, epsilon, delta, bracket, tol=tolerance
        )
        words = (
            f"calibrate_dp_mechanism of {count} Gaussian mechanisms, {epsilon!r}, {delta!r}, {bracket}, {tolerance}"
        )
        yield f"{words}: epsilon", 0.0, epsilon_of(many(sigma)), epsilon
        yield f"{words}: epsilon with less noise", epsilon, epsilon_of(many(sigma - 2 * tolerance)), math.inf
    sigma = sigma * random.uniform(2, 9)
    steps = dp.calibrate_dp_mechanism(
        lambda: rdp.RdpAccountant(_ORDERS),
        lambda n: dp.SelfComposedDpEvent(dp.GaussianDpEvent(sigma), max(round(n), 0)) if n >= 1 else dp.NoOpDpEvent(),
        epsilon,
        delta,
        dp.LowerEndpointAndGuess(0, 2),
        discrete=True,
    )
    words = f"calibrate_dp_mechanism of the steps with noise {sigma!r}, {epsilon!r}, {delta!r}: {steps}"
    yield f"{words}, epsilon", 0.0, epsilon_of(dp.SelfComposedDpEvent(dp.GaussianDpEvent(sigma), steps)), epsilon
    more = dp.SelfComposedDpEvent(dp.GaussianDpEvent(sigma), steps + 2)
    yield f"{words}, epsilon of two more", epsilon, epsilon_of(more), math.inf


def _bisections(random):
    """Check a search that must end at a value of at most 0, within a tolerance of the root, whatever the direction."""
    root, tolerance = random.uniform(2, 5), random.choice([1e-6, 1e-3])
    low, high = root - random.uniform(0.1, 2), root + random.uniform(0.1, 2)
    for way in (1, -1):
        function = lambda x, w=way: w * (x**3 - root**3)  # noqa: E731  # a formula
        for ends in ({}, {"lower_value": function(low), "upper_value": function(high)}):
            found = mechanism_calibration._bisect(function, low, high, tolerance, **ends)
            words = (
                f"_bisect, root {root!r}, [{low!r}, {high!r}], direction {way}, tolerance {tolerance}, {list(ends)}"
            )
            yield f"{words}: value", -math.inf, function(found), 0.0
            yield f"{words}: distance", 0.0, abs(found - root), tolerance
        for one, two in ((root, high), (low, root)):
            exact = mechanism_calibration._bisect(function, one, two, tolerance)
            yield f"_bisect with the root at an end of [{one!r}, {two!r}]", 0.0, abs(exact - root), 0.0


def _logarithms(random):
    """Check the logarithm of the complementary error function, also far out, where it is a series."""
    for x in (random.uniform(-5, 5), random.uniform(5, 20), random.uniform(28, 200), random.uniform(1e3, 1e5)):
        exact = math.log(2) + float(special.log_ndtr(-x * math.sqrt(2)))
        yield (f"_log_erfc({x!r})", *_near(float(_rdp._log_erfc(x)), exact, 1e-9))


def _calibrated_rates(random):
    """Check parameters that cost more the larger they are: the search ends on either side of the target."""
    orders = [2.0, 4.0, 9.0]
    for tolerance in (1e-3, 1e-4, 1e-5):
        sigma, epsilon, delta = random.uniform(1, 3), random.uniform(0.8, 2), 10 ** random.uniform(-5, -2)

        def sampled(rate, sigma=sigma):
            return dp.PoissonSampledDpEvent(min(rate, 1.0), dp.GaussianDpEvent(sigma))

        def epsilon_of(event, delta=delta):
            return rdp.RdpAccountant(orders).compose(event).get_epsilon(delta)

        if epsilon_of(sampled(0.9)) < epsilon + 0.01 or epsilon_of(sampled(1e-3)) > epsilon - 0.01:
            continue
        rate = dp.calibrate_dp_mechanism(
            lambda: rdp.RdpAccountant(orders),
            sampled,
            epsilon,
            delta,
            dp.ExplicitBracketInterval(1e-3, 0.9),
            tol=tolerance,
        )
        words = (
            f"calibrate_dp_mechanism of the rate with noise {sigma!r}, {epsilon!r}, {delta!r}, {tolerance}: {rate!r}"
        )
        yield f"{words}, epsilon", 0.0, epsilon_of(sampled(rate)), epsilon
        yield f"{words}, epsilon at a larger rate", epsilon, epsilon_of(sampled(rate + 2 * tolerance)), math.inf


def event_relations():
    """Yield the relations."""
    np.seterr(all="ignore")
    attained = {
        "divergences of parts add up": _sums,
        "Gaussian mechanisms on one sample amount to one": _gaussians,
        "on a sample an integer counts like a float": lambda random: _gaussians(random, lambda r: r.randint(1, 4)),
        "samples have the divergence of their densities": _samples,
        "trees cost a node for each level": _trees,
    }
    yield Relations(
        "RdpAccountant, compositions",
        {
            **attained,
            "the best of several runs costs as the theorems say": _repetitions,
            "conversions take the best order": _conversions,
            "logarithms of small probabilities": _logarithms,
        },
        understated=attained,
    )
    attained = {
        "losses of Gaussian mechanisms add up": _losses_of_gaussians,
        "what is not private has no guarantee": _without_privacy,
    }
    yield Relations(
        "PLDAccountant, compositions",
        {**attained, "an event costs as much as its distribution": _events_and_distributions},
        {"accountants know which events they support": _supported},
        understated=attained,
    )
    yield from replacement_relations()
    yield from end_relations()
    yield Relations(
        "calibrate_dp_mechanism, relations",
        {
            "a parameter meets its target and is no larger": _calibrations,
            "a rate meets its target and is no smaller": _calibrated_rates,
            "a bisection ends on the safe side": _bisections,
        },
    )
