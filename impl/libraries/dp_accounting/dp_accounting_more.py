"""The same mechanisms in the other words of dp-accounting: other constructors, sensitivities, roundings, events.

Noise of a scale and a sensitivity that grow together costs the same; a mixture with one component is that component;
a tree costs as much as one Gaussian mechanism for each of its levels; a buffer that is never full truncates nothing.
"""

from __future__ import annotations

import math

import dp_accounting as dp
import numpy as np
from dp_accounting import pld, rdp
from dp_accounting.pld import accountant as composition
from dp_accounting.rdp import rdp_privacy_accountant as _rdp
from dp_accounting_replacements import bounds_moved

from dpassay.adapter import Answer, Nonsense, Relations

__all__ = ["identities", "more_answers", "more_refusals"]

_INTERVAL = 1e-3
_COARSE = 2e-2
"""Between losses of a mixture, which are searched for one by one."""

_ROUNDING, _CONVOLUTION = 1e-9, 1e-14
_SENSITIVITY = 3.5
_DOMAIN = {
    "count": (1, 20),
    "sigma": (1.0, 100.0),
    "scale": (0.5, 100.0),
    "rate": (0.01, 1.0),
    "epsilon0": (1e-2, 3.0),
    "delta": (1e-12, 0.5),
    "epsilon": (0.0, 10.0),
}
_distributions = pld.privacy_loss_distribution
_ADD_REMOVE = dp.NeighboringRelation.ADD_OR_REMOVE_ONE


def _gaussian(sigma, rate=1.0, interval=_INTERVAL, **more):
    return _distributions.from_gaussian_mechanism(
        _SENSITIVITY * sigma,
        sensitivity=_SENSITIVITY,
        value_discretization_interval=interval,
        sampling_prob=rate,
        **more,
    )


def _laplace(scale, interval=_INTERVAL, **more):
    return _distributions.from_laplace_mechanism(
        _SENSITIVITY * scale, sensitivity=_SENSITIVITY, value_discretization_interval=interval, **more
    )


def _mixture(sigma, rate=1.0, interval=_INTERVAL, **more):
    sensitivities, chances = ([_SENSITIVITY], [1.0]) if rate == 1 else ([0.0, _SENSITIVITY], [1 - rate, rate])
    return _distributions.from_mixture_gaussian_mechanism(
        _SENSITIVITY * sigma, sensitivities, chances, value_discretization_interval=interval, **more
    )


def _masses(epsilon0, *, symmetric=True):
    """Return binary randomised response by its probabilities; a negative epsilon0 would exchange the two outcomes."""
    if epsilon0 < 0:
        raise ValueError(f"epsilon0={epsilon0} says nothing about the library")
    keep = 1 / (1 + math.exp(-epsilon0))
    lower, upper = {0: math.log(keep), 1: math.log1p(-keep)}, {0: math.log1p(-keep), 1: math.log(keep)}
    return _distributions.from_two_probability_mass_functions(
        lower, upper, value_discretization_interval=_INTERVAL, symmetric=symmetric
    )


def _response(epsilon0):
    return _distributions.from_randomized_response(
        2 / (1 + math.exp(epsilon0)), 2, value_discretization_interval=_INTERVAL
    )


def _discrete(scale):
    return _distributions.from_discrete_laplace_mechanism(1 / scale, value_discretization_interval=_INTERVAL)


def _tree(sigma, count):
    """Return a tree so high that a record is in `count` of its nodes."""
    return dp.SingleEpochTreeAggregationDpEvent(sigma, [2 ** (count - 1)] if count > 1 else 1)


def _truncated(sigma, rate):
    return dp.TruncatedSubsampledGaussianDpEvent(
        dataset_size=60, sampling_probability=rate, truncated_batch_size=60, noise_multiplier=sigma
    )


def _whole(count):
    if count != int(count) or count < 1:
        raise ValueError("count must be a positive integer")
    return int(count)


def _of_losses(name, stem, make, parameters, **more):
    """Yield epsilon and delta of a composed privacy loss distribution."""
    for asked in ("epsilon", "delta"):

        def compute(m=make, a=asked, **arguments):
            losses = m(*(arguments[key] for key in parameters))
            count = _whole(arguments["count"])
            if count > 1:
                losses = losses.self_compose(count)
            if a == "epsilon":
                return float(losses.get_epsilon_for_delta(arguments["delta"]))
            return float(losses.get_delta_for_epsilon(arguments["epsilon"]))

        yield Answer(
            f"{name}, {asked}",
            f"{stem}_{asked}",
            compute,
            domain=_DOMAIN,
            relative_error=_ROUNDING,
            absolute_error=_CONVOLUTION if asked == "delta" else 0.0,
            account=name,
            calls=16,
            **more,
        )


def _composed_delta(sigma, epsilon, count):
    """Return delta of two distributions that are composed where delta is asked for."""
    count = _whole(count)
    if count < 2:
        raise ValueError("two parts at least")
    rest = _gaussian(sigma)
    rest = rest.self_compose(count - 1) if count > 2 else rest
    return float(_gaussian(sigma).get_delta_for_epsilon_for_composed_pld(rest, epsilon))


def _one_by_one(sigma, delta, count):
    losses = _distributions.identity(_INTERVAL)
    for _ in range(_whole(count)):
        losses = losses.compose(_gaussian(sigma))
    return float(losses.get_epsilon_for_delta(delta))


def _of_event(event, *, relation=_ADD_REMOVE, delta=None, epsilon=None, accountant=None):
    accountant = accountant or rdp.RdpAccountant(None, relation)
    accountant.compose(event)
    return float(accountant.get_epsilon(delta) if epsilon is None else accountant.get_delta(epsilon))


def _parameters(epsilon, delta):
    return pld.common.DifferentialPrivacyParameters(epsilon, delta)


def more_answers():
    """Yield the answers."""
    buckets = {"use_connect_dots": False}
    losses = "privacy_loss_distribution"
    yield from _of_losses(f"{losses}, gaussian, sensitivity", "gaussian", _gaussian, ("sigma",))
    yield from _of_losses(f"{losses}, gaussian, buckets", "gaussian", lambda s: _gaussian(s, **buckets), ("sigma",))
    yield from _of_losses(f"{losses}, gaussian, sampled", "subsampled_gaussian", _gaussian, ("sigma", "rate"))
    yield from _of_losses(f"{losses}, laplace, sensitivity", "laplace", _laplace, ("scale",))
    yield from _of_losses(f"{losses}, laplace, buckets", "laplace", lambda b: _laplace(b, **buckets), ("scale",))
    yield from _of_losses(
        f"{losses}, mixture of gaussians, sampled", "subsampled_gaussian", _mixture, ("sigma", "rate")
    )
    yield from _of_losses(f"{losses}, two mass functions", "randomised_response", _masses, ("epsilon0",))
    yield from _of_losses(
        f"{losses}, two mass functions, each way",
        "randomised_response",
        lambda e: _masses(e, symmetric=False),
        ("epsilon0",),
    )
    yield from _of_losses(f"{losses}, randomised response", "randomised_response", _response, ("epsilon0",))
    yield Answer(
        f"{losses}.get_delta_for_epsilon_for_composed_pld",
        "gaussian_delta",
        _composed_delta,
        domain={**_DOMAIN, "count": (2, 6)},
        relative_error=_ROUNDING,
        absolute_error=_CONVOLUTION,
    )
    yield Answer(f"{losses}.compose", "gaussian_epsilon", _one_by_one, domain={**_DOMAIN, "count": (1, 6)})
    yield Answer(
        "RdpAccountant, tree aggregation",
        "gaussian_epsilon",
        lambda sigma, delta, count: _of_event(
            _tree(sigma, _whole(count)), delta=delta, relation=dp.NeighboringRelation.REPLACE_SPECIAL
        ),
        domain={**_DOMAIN, "count": (1, 12)},
        relative_error=_ROUNDING,
    )
    yield Answer(
        "RdpAccountant, all of the records sampled",
        "gaussian_renyi",
        lambda sigma, order: float(
            rdp.RdpAccountant([order], dp.NeighboringRelation.REPLACE_ONE)
            # by how much the replaced record moves the sum is a finding of its own
            .compose(dp.SampledWithoutReplacementDpEvent(7, 7, dp.GaussianDpEvent(bounds_moved("sample") * sigma)))
            .rdp[0]
        ),
        domain={**_DOMAIN, "order": (1.01, 1e3)},
        relative_error=_ROUNDING,
    )
    yield Answer(
        "RdpAccountant, gaussians of different noise",
        "gaussian_epsilon",
        lambda sigma, delta, count: _of_event(
            dp.PoissonSampledDpEvent(
                1.0, dp.ComposedDpEvent([dp.SelfComposedDpEvent(dp.GaussianDpEvent(sigma), _whole(count))])
            ),
            delta=delta,
        ),
        domain=_DOMAIN,
        relative_error=_ROUNDING,
    )
    yield Answer(
        "PLDAccountant, truncated sampled gaussian",
        "subsampled_gaussian_epsilon",
        lambda sigma, rate, count, delta: _of_event(
            dp.SelfComposedDpEvent(_truncated(sigma, rate), _whole(count)),
            delta=delta,
            accountant=pld.PLDAccountant(_ADD_REMOVE, _INTERVAL),
        ),
        domain={**_DOMAIN, "count": (1, 4), "rate": (0.05, 0.9)},
        relative_error=_ROUNDING,
        calls=12,
    )
    yield from _calibrations()


def _calibrations():
    yield Answer(
        "accountant.get_smallest_laplace_noise",
        "laplace_scale",
        lambda epsilon: (
            composition.get_smallest_laplace_noise(_parameters(epsilon, 0.0), 1, _SENSITIVITY) / _SENSITIVITY
        ),
        domain={"epsilon": (0.05, 10.0)},
        relative_error=1e-5,
    )
    yield Answer(
        "accountant.get_smallest_subsampled_gaussian_noise",
        "subsampled_gaussian_sigma",
        lambda rate, count, epsilon, delta: (
            composition.get_smallest_subsampled_gaussian_noise(
                _parameters(epsilon, delta), _whole(count), _SENSITIVITY, rate
            )
            / _SENSITIVITY
        ),
        # where delta is at least the rate any noise is enough, and the search for the least takes more than a minute
        domain={"count": (1, 10), "rate": (0.05, 0.5), "epsilon": (0.5, 5.0), "delta": (1e-8, 0.04)},
        relative_error=1e-5,
        calls=10,
    )
    yield Answer(
        "calibrate_dp_mechanism, gaussian",
        "gaussian_sigma",
        lambda epsilon, delta: dp.calibrate_dp_mechanism(
            lambda: rdp.RdpAccountant(range(2, 65)), dp.GaussianDpEvent, epsilon, delta
        ),
        domain={"epsilon": (0.3, 10.0), "delta": (1e-9, 0.1)},
        absolute_error=1e-6,
    )


def identities():
    """Yield what must be true of the numbers of this library among themselves."""
    yield Relations(
        "identities",
        {},
        {
            "advanced composition is inverted": _inverts_composition,
            "discrete Laplace noise suffices": _suffices,
            "optimistic bounds lie below pessimistic ones": _is_ordered,
            "repeating once costs no less than once": _repeats,
            "a sample without replacement costs less than all, more than nothing": _samples,
            "a mixture of a distribution with itself is itself": _mixes,
        },
        seconds=30.0,
    )


def _inverts_composition():
    for epsilon, delta, count, part in ((1.0, 1e-6, 5, 0.0), (3.0, 1e-3, 20, 1e-6), (0.5, 0.1, 7, 1e-3)):
        found = composition.get_smallest_epsilon_from_advanced_composition(_parameters(epsilon, delta), count, part)
        back = composition.advanced_composition(_parameters(found, part), count, delta)
        more = composition.advanced_composition(_parameters(found * 1.01, part), count, delta)
        if not back <= epsilon * (1 + 1e-6) < more * (1 + 1e-5):
            return False
    return composition.get_smallest_epsilon_from_advanced_composition(_parameters(1.0, 0.01), 5, 0.1) is None


def _suffices():
    for epsilon, delta, count, sensitivity in ((1.0, 1e-5, 1, 1), (2.0, 0.01, 4, 2)):
        found = composition.get_smallest_discrete_laplace_noise(_parameters(epsilon, delta), count, sensitivity)
        for factor, suffices in ((1 - 1e-4, True), (1.05, False)):
            parameter = found * factor
            # every loss is a multiple of the parameter: another interval would round it
            losses = _distributions.from_discrete_laplace_mechanism(
                parameter, sensitivity, value_discretization_interval=parameter
            )
            if (losses.self_compose(count).get_delta_for_epsilon(epsilon) <= delta) != suffices:
                return False
    return True


def _is_ordered():
    for make, parameters in ((_gaussian, (2.0,)), (_gaussian, (1.5, 0.2)), (_laplace, (2.0,)), (_mixture, (1.5, 0.3))):
        for dots in (True, False):
            # only buckets have a rounding on the other side
            high = make(*parameters, interval=_COARSE, use_connect_dots=dots)
            low = make(*parameters, interval=_COARSE, use_connect_dots=False, pessimistic_estimate=False)
            for epsilon in (0.0, 0.2, 0.7):
                below, above = (losses.get_delta_for_epsilon(epsilon) for losses in (low, high))
                if not below <= above <= below + 2 * _COARSE:
                    return False
    return True


def _repeats():
    for shape in (0.0, 0.5, 1.0, math.inf):
        costs = [
            rdp.RdpAccountant().compose(dp.dp_event.RepeatAndSelectDpEvent(dp.GaussianDpEvent(2.0), mean, shape))
            for mean in (1.0, 1.5, 4.0)
        ]
        once = rdp.RdpAccountant().compose(dp.GaussianDpEvent(2.0)).get_epsilon(1e-6)
        found = [one.get_epsilon(1e-6) for one in costs]
        # Theorem 2 of Papernot and Steinke 2022 at the best order, and Theorem 6 for Poisson numbers
        if not once <= found[0] * (1 + 1e-9) or sorted(found) != found or not all(map(math.isfinite, found)):
            return False
        if shape == 1 and any(
            abs(one.rdp[place] - _repeated_renyi(one.orders, place, mean)) > 1e-6
            for one, mean in zip(costs[1:], (1.5, 4.0))
            for place in (3, 10)
        ):
            return False
    return True


def _repeated_renyi(orders, place, mean):
    """Return the Renyi divergence of the best of a geometric number of runs: gamma is the reciprocal of the mean."""
    orders = np.asarray(orders, dtype=float)
    single = orders / 8
    constant = 2 * np.min((1 - 1 / orders) * single + math.log(mean) / orders)
    every = single + math.log(mean) / (orders - 1) + constant
    return float(np.min(every[orders >= orders[place]]))


def _samples():
    relation = dp.NeighboringRelation.REPLACE_ONE
    found = [
        rdp.RdpAccountant(None, relation)
        .compose(dp.SampledWithoutReplacementDpEvent(50, part, dp.GaussianDpEvent(3.0)))
        .get_epsilon(1e-6)
        for part in (1, 5, 25, 50)
    ]
    # one record of fifty: the mechanism on a mixture of the two worlds with weights 49/50 and 1/50
    losses = _distributions.from_mixture_gaussian_mechanism(3.0, [0.0, 1.0], [0.98, 0.02])
    return losses.get_epsilon_for_delta(1e-6) <= found[0] and sorted(found) == found and found[-1] < 10


def _mixes():
    one = _gaussian(2.0)
    mixed = one.compute_mixture([one, one], [0.25, 0.75]) if _is_static() else one.compute_mixture(one, 0.25)
    return all(
        math.isclose(one.get_delta_for_epsilon(e), mixed.get_delta_for_epsilon(e), rel_tol=1e-9, abs_tol=1e-12)
        for e in (0.0, 0.3, 1.0)
    )


def _is_static():
    return isinstance(vars(_distributions.PrivacyLossDistribution).get("compute_mixture"), staticmethod)


def more_refusals():
    """Yield invalid events and parameters."""
    nan = math.nan
    gaussian = dp.GaussianDpEvent(1.0)
    events = {
        "sampled without replacement, more than all": dp.SampledWithoutReplacementDpEvent(5, 6, gaussian),
        "repeated, mean 0.5": dp.dp_event.RepeatAndSelectDpEvent(gaussian, 0.5, 1.0),
        "repeated, shape -1": dp.dp_event.RepeatAndSelectDpEvent(gaussian, 2.0, -1.0),
        "repeated, shape nan": dp.dp_event.RepeatAndSelectDpEvent(gaussian, 2.0, nan),
        "tree, noise -1": dp.SingleEpochTreeAggregationDpEvent(-1.0, 4),
        "tree, no steps": dp.SingleEpochTreeAggregationDpEvent(1.0, []),
        "tree, steps -1": dp.SingleEpochTreeAggregationDpEvent(1.0, [-1]),
    }
    replace_one, replace_special = dp.NeighboringRelation.REPLACE_ONE, dp.NeighboringRelation.REPLACE_SPECIAL
    relations = {"sampled": replace_one, "tree": replace_special}
    yield Nonsense(
        "RdpAccountant, events",
        {
            words: lambda e=event, w=words: _of_event(
                e, delta=1e-5, relation=relations.get(w.split()[0].rstrip(","), _ADD_REMOVE)
            )
            for words, event in events.items()
        },
    )
    yield Nonsense(
        "privacy_loss_distribution",
        {
            "gaussian, 0": lambda: _distributions.from_gaussian_mechanism(0.0),
            "gaussian, sensitivity 0": lambda: _distributions.from_gaussian_mechanism(1.0, sensitivity=0.0),
            "gaussian, sensitivity -1": lambda: _distributions.from_gaussian_mechanism(1.0, sensitivity=-1.0),
            "gaussian, rate 0": lambda: _distributions.from_gaussian_mechanism(1.0, sampling_prob=0.0),
            "gaussian, rate 1.5": lambda: _distributions.from_gaussian_mechanism(1.0, sampling_prob=1.5),
            "laplace, 0": lambda: _distributions.from_laplace_mechanism(0.0),
            "laplace, sensitivity -1": lambda: _distributions.from_laplace_mechanism(1.0, sensitivity=-1.0),
            "discrete laplace, 0": lambda: _distributions.from_discrete_laplace_mechanism(0.0),
            "discrete laplace, sensitivity 1.5": lambda: _distributions.from_discrete_laplace_mechanism(1.0, 1.5),
            "discrete gaussian, 0": lambda: _distributions.from_discrete_gaussian_mechanism(0.0),
            "discrete gaussian, sensitivity 1.5": lambda: _distributions.from_discrete_gaussian_mechanism(1.0, 1.5),
            "mixture, noise 0": lambda: _distributions.from_mixture_gaussian_mechanism(0.0, [1.0], [1.0]),
            "mixture, lengths": lambda: _distributions.from_mixture_gaussian_mechanism(1.0, [1.0, 2.0], [1.0]),
            "mixture, chances": lambda: _distributions.from_mixture_gaussian_mechanism(1.0, [0.0, 1.0], [0.5, 0.6]),
            "mixture, a chance of -1": lambda: _distributions.from_mixture_gaussian_mechanism(
                1.0, [0.0, 1.0, 2.0], [-1.0, 1.0, 1.0]
            ),
            "randomised response, noise 2": lambda: _distributions.from_randomized_response(2.0, 2),
            "randomised response, noise 0": lambda: _distributions.from_randomized_response(0.0, 2),
            "randomised response, one bucket": lambda: _distributions.from_randomized_response(0.5, 1),
            "two intervals": lambda: _gaussian(1.0).compose(_distributions.from_gaussian_mechanism(1.0)),
            "parameters, epsilon -1": lambda: _parameters(-1.0, 0.0),
            "parameters, delta 2": lambda: _parameters(1.0, 2.0),
        },
    )
    yield Nonsense(
        "rdp.compute_epsilon, refusals",
        {
            "order 0.5": lambda: rdp.compute_epsilon([0.5], [1.0], 1e-5),
            "delta -1": lambda: rdp.compute_epsilon([2.0], [1.0], -1.0),
            "lengths": lambda: rdp.compute_epsilon([2.0, 3.0], [1.0], 1e-5),
            "delta, epsilon -1": lambda: _rdp.compute_delta([2.0], [1.0], -1.0),
            "delta, order 0.5": lambda: _rdp.compute_delta([0.5], [1.0], 1.0),
            "delta, lengths": lambda: _rdp.compute_delta([2.0, 3.0], [1.0], 1.0),
        },
    )
    yield Nonsense(
        "calibrate_dp_mechanism, refusals",
        {
            words: lambda e=epsilon, d=delta: dp.calibrate_dp_mechanism(rdp.RdpAccountant, dp.GaussianDpEvent, e, d)
            for words, epsilon, delta in (("epsilon -1", -1.0, 1e-5), ("delta -1", 1.0, -1.0), ("delta 2", 1.0, 2.0))
        },
    )
