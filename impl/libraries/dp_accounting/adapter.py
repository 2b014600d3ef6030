"""dp-accounting: accountants by privacy loss distributions and by Renyi divergences, and what calibrates with them.

Neighbours are of the add-remove kind, for randomised response of the replace-one kind.
"""

from __future__ import annotations

import math

import dp_accounting as dp
import numpy as np
from dp_accounting import pld, rdp
from dp_accounting.pld import accountant as composition
from dp_accounting_events import event_relations
from dp_accounting_losses import loss_relations
from dp_accounting_more import identities, more_answers, more_refusals
from dp_accounting_outcomes import outcome_relations
from dp_accounting_pmfs import pmf_relations
from dp_accounting_points import point_relations
from dp_accounting_refusals import further_refusals
from dp_accounting_searches import search_relations

from dpassay.adapter import Answer, Nonsense

LIBRARY = "dp-accounting"

_COUNTS = {
    "count": (0, 50),  # more takes the convolutions minutes where the noise is small
    "sigma": (1.0, 1e3),
    "scale": (0.5, 1e3),
    "rate": (1e-3, 1.0),
    "epsilon0": (1e-3, 5.0),
}
_REPEATED = {**_COUNTS, "count": (2, 50), "epsilon0": (0.2, 5.0), "epsilon": (0.0, 0.1), "delta": (0.0, 0.01)}
"""For responses that are composed once, a known finding: here the cost of all is a bounded multiple of that of one."""

_ROUNDING = 1e-9
"""Relative; nothing is promised of the last digits of float64."""

_CONVOLUTION = 1e-14
"""Absolute, in delta: the rounding of fast Fourier transforms."""

_SERIES = 1e-12
"""Absolute: the series for fractional orders ends where its terms are below e^-30 of the sum."""

_INTERVAL = 1e-3
"""Between the losses that are convolved. The default is a tenth of it, which takes ten times as long."""

_ADD_REMOVE, _REPLACE = dp.NeighboringRelation.ADD_OR_REMOVE_ONE, dp.NeighboringRelation.REPLACE_ONE


def _repeated(event, count):
    if isinstance(count, tuple):
        return dp.ComposedDpEvent([dp.SelfComposedDpEvent(event, part) for part in count])
    return dp.SelfComposedDpEvent(event, count)


def _gaussian(sigma, count):
    return _repeated(dp.GaussianDpEvent(sigma), count)


def _laplace(scale, count):
    return _repeated(dp.LaplaceDpEvent(scale), count)


def _require_an_end(*numbers):
    """Refuse in place of the library, or of its older versions, what it computes with for ever."""
    if any(map(math.isnan, numbers)):
        raise ValueError("the library would compute without end")


def _sampled(sigma, rate, count):
    _require_an_end(rate, sigma if sigma >= 0 else math.nan)  # before 0.5 a negative scale, too
    return _repeated(dp.PoissonSampledDpEvent(rate, dp.GaussianDpEvent(sigma)), count)


def _response(epsilon0, count):
    """Binary randomised response: with probability `noise` the answer is drawn anew from both."""
    noise = 2 / (1 + math.exp(epsilon0))
    return _repeated(dp.RandomizedResponseDpEvent(noise, 2), count)


def _one_by_one(epsilon0, count):
    """Return responses that are events of their own; the library must refuse what is no count."""
    return _response(epsilon0, (1,) * count if isinstance(count, int) and count >= 0 else count)


def _with_pld(event, *, relation=_ADD_REMOVE, **asked):
    return _ask(pld.PLDAccountant(relation, _INTERVAL).compose(event), **asked)


def _with_rdp(event, *, relation=_ADD_REMOVE, **asked):
    return _ask(rdp.RdpAccountant(None, relation).compose(event), **asked)


def _ask(accountant, *, delta=None, epsilon=None):
    return accountant.get_delta(epsilon) if delta is None else accountant.get_epsilon(delta)


def _renyi(event, order, relation=_ADD_REMOVE):
    return float(rdp.RdpAccountant([order], relation).compose(event).rdp[0])


def _sampled_renyi(sigma, rate, order):
    _require_an_end(order)
    return _renyi(_sampled(sigma, rate, 1), order)


def _composed_events():
    events = (
        ("gaussian", _gaussian, ("sigma",), _ADD_REMOVE),
        ("laplace", _laplace, ("scale",), _ADD_REMOVE),
        ("subsampled_gaussian", _sampled, ("sigma", "rate"), _ADD_REMOVE),
        ("randomised_response", _response, ("epsilon0",), _REPLACE),
    )
    for name, accountant in (("PLDAccountant", _with_pld), ("RdpAccountant", _with_rdp)):
        for stem, make, parameters, relation in events:
            for asked in ("epsilon", "delta"):
                given = "delta" if asked == "epsilon" else "epsilon"

                def compute(a=accountant, m=make, p=parameters, r=relation, g=given, **arguments):
                    event = m(*(arguments[key] for key in p), arguments["count"])
                    return a(event, relation=r, **{g: arguments[g]})

                convolves = accountant is _with_pld
                # repetitions of Gaussian noise are one Gaussian to the library, sampled ones a convolution on a grid;
                # the epsilon of a response lies outside the narrow bounds of its delta, which cannot be asked back
                accounts = {"subsampled_gaussian": f"{name}, sampled", "randomised_response": f"{name}, once, {asked}"}
                yield Answer(
                    f"{name}, {stem}, {asked}",
                    f"{stem}_{asked}",
                    compute,
                    domain=_REPEATED if convolves and make is _response else _COUNTS,
                    relative_error=_ROUNDING,
                    absolute_error=_CONVOLUTION if convolves and asked == "delta" else 0.0,
                    delta_error=_CONVOLUTION if convolves and asked == "epsilon" else 0.0,
                    account=accounts.get(stem) if convolves else None,
                    splits=not convolves,
                )


def _separate_responses():
    """Yield what the known finding, of repeated responses, would hide: a response once, or as several events."""
    for asked in ("epsilon", "delta"):
        yield Answer(
            f"PLDAccountant, one by one, randomised_response, {asked}",
            f"randomised_response_{asked}",
            lambda epsilon0, count, **given: _with_pld(_one_by_one(epsilon0, count), relation=_REPLACE, **given),
            domain=_COUNTS,
            relative_error=_ROUNDING,
            absolute_error=_CONVOLUTION if asked == "delta" else 0.0,
            delta_error=_CONVOLUTION if asked == "epsilon" else 0.0,
        )


def _discrete_laplace(scale, delta, count):
    losses = pld.privacy_loss_distribution.from_discrete_laplace_mechanism(1 / scale)
    return losses.self_compose(count).get_epsilon_for_delta(delta)


def _discrete_gaussian(sigma, count, *, delta=None, epsilon=None):
    one = pld.privacy_loss_distribution.from_discrete_gaussian_mechanism(
        sigma, value_discretization_interval=_INTERVAL
    )
    losses = one.self_compose(count)
    return losses.get_delta_for_epsilon(epsilon) if delta is None else losses.get_epsilon_for_delta(delta)


def _parameters(epsilon0, delta0, count, delta):
    one = pld.privacy_loss_distribution.from_privacy_parameters(
        pld.common.DifferentialPrivacyParameters(epsilon0, delta0)
    )
    return one.self_compose(count).get_epsilon_for_delta(delta)


def _advanced(epsilon0, delta0, count, delta):
    one = pld.common.DifferentialPrivacyParameters(epsilon0, delta0)
    total = composition.advanced_composition(one, count, delta)
    return math.inf if total is None else total


def _smallest_noise(epsilon, delta):
    _require_an_end(epsilon, delta)
    return composition.get_smallest_gaussian_noise(pld.common.DifferentialPrivacyParameters(epsilon, delta))


def _others():
    at_least_one = {**_COUNTS, "count": (1, 100)}
    discrete = {**_COUNTS, "sigma": (0.5, 50.0), "scale": (0.5, 50.0)}
    losses = "privacy_loss_distribution"
    yield Answer(
        f"{losses}, discrete laplace",
        "discrete_laplace_epsilon",
        _discrete_laplace,
        domain=discrete,
        relative_error=_ROUNDING,
    )
    for asked in ("epsilon", "delta"):
        name = f"{losses}, discrete gaussian, {asked}"
        yield Answer(
            name,
            f"discrete_gaussian_{asked}",
            _discrete_gaussian,
            domain=discrete,
            relative_error=_ROUNDING,
            absolute_error=_CONVOLUTION if asked == "delta" else 0.0,
            delta_error=_CONVOLUTION if asked == "epsilon" else 0.0,
        )
    yield Answer(
        f"{losses}.from_privacy_parameters", "approximate_composition_epsilon", _parameters, domain=at_least_one
    )
    yield Answer("accountant.advanced_composition", "approximate_composition_epsilon", _advanced, domain=at_least_one)
    yield Answer(
        "accountant.advanced_composition, pure",
        "pure_composition_epsilon",
        lambda epsilon0, count, delta: _advanced(epsilon0, 0.0, count, delta),
        domain=at_least_one,
    )
    yield Answer(
        "get_epsilon_gaussian",
        "gaussian_epsilon",
        lambda sigma, delta, count: float(dp.get_epsilon_gaussian(sigma / math.sqrt(count), delta)),
        domain={**at_least_one, "count": (1, 1)},
        claims_exact=True,
        absolute_error=1e-12,
        relative_error=1e-9,
        notes="documented tolerance 1e-12",
    )
    # near epsilon 0 the search loses its digits, a known finding, which must not hide another one elsewhere
    for name, epsilons in (("get_sigma_gaussian", (0.1, 700.0)), ("get_sigma_gaussian, small epsilon", (0.0, 0.1))):
        yield Answer(
            name,
            "gaussian_sigma",
            lambda epsilon, delta: float(dp.get_sigma_gaussian(epsilon, delta)),
            domain={"epsilon": epsilons},
            claims_exact=True,
            absolute_error=1e-12,
            relative_error=1e-9,
            notes="documented tolerance 1e-12",
        )
    yield Answer(
        "accountant.get_smallest_gaussian_noise",
        "gaussian_sigma",
        _smallest_noise,
        domain={"epsilon": (1e-8, 700.0)},  # the search for larger noise does not end: `searches for noise`
    )
    yield Answer(
        "calibrate_dp_mechanism, sampled",
        "subsampled_gaussian_sigma",
        lambda rate, count, epsilon, delta: dp.calibrate_dp_mechanism(
            lambda: rdp.RdpAccountant(range(2, 65)), lambda sigma: _sampled(sigma, rate, count), epsilon, delta
        ),
        domain={"count": (1, 50), "rate": (0.01, 0.5), "epsilon": (0.3, 10.0), "delta": (1e-9, 0.1)},
        notes="documented tolerance of the noise multiplier 1e-6",
        absolute_error=1e-6,
    )
    for stem, make, parameter, relation in (
        ("gaussian", _gaussian, "sigma", _ADD_REMOVE),
        ("laplace", _laplace, "scale", _ADD_REMOVE),
        ("randomised_response", _response, "epsilon0", _REPLACE),
    ):
        yield Answer(
            f"RdpAccountant, {stem}, order",
            f"{stem}_renyi",
            lambda m=make, p=parameter, r=relation, **arguments: _renyi(m(arguments[p], 1), arguments["order"], r),
            domain={**_COUNTS, "order": (1.01, 1e3)},  # nearer to 1 a difference is divided by next to nothing
            relative_error=_ROUNDING,
        )
    yield Answer(
        "RdpAccountant, subsampled gaussian, order",
        "subsampled_gaussian_renyi",
        _sampled_renyi,
        domain={**_COUNTS, "order": (1.01, 1e3)},
        relative_error=_ROUNDING,
        absolute_error=_SERIES,
    )
    yield Answer(
        "rdp.compute_epsilon",
        "renyi_epsilon",
        lambda order, renyi, delta: rdp.compute_epsilon([order], [renyi], delta)[0],
    )
    yield Answer(
        "RdpAccountant, zCDP, epsilon",
        "zcdp_epsilon",
        lambda rho, delta: _with_rdp(dp.ZCDpEvent(rho), delta=delta),
    )
    yield Answer(
        "RdpAccountant, zCDP, delta",
        "zcdp_delta",
        lambda rho, epsilon: _with_rdp(dp.ZCDpEvent(rho), epsilon=epsilon),
    )


def _refusals():
    nan = math.nan
    yield Nonsense(
        "PLDAccountant",
        {
            f"{kind} of {value}": lambda k=kind, v=value: _with_pld(getattr(dp, k)(v), delta=1e-5)
            for kind in ("GaussianDpEvent", "LaplaceDpEvent")
            for value in (-1.0, nan)
        }
        | {
            "delta=nan": lambda: _with_pld(_gaussian(1.0, 1), delta=nan),
            "delta=-1": lambda: _with_pld(_gaussian(1.0, 1), delta=-1.0),
            "delta=2": lambda: _with_pld(_gaussian(1.0, 1), delta=2.0),
            "rate=2": lambda: _with_pld(_sampled(1.0, 2.0, 1), delta=1e-5),
            "rate=-1": lambda: _with_pld(_sampled(1.0, -1.0, 1), delta=1e-5),
        },
    )
    yield Nonsense(
        "RdpAccountant",
        {
            f"{kind} of {value}": lambda k=kind, v=value: _with_rdp(getattr(dp, k)(v), delta=1e-5)
            for kind in ("GaussianDpEvent", "LaplaceDpEvent", "ZCDpEvent")
            for value in (-1.0, nan)
        }
        | {
            "delta=nan": lambda: _with_rdp(_gaussian(1.0, 1), delta=nan),
            "delta=-1": lambda: _with_rdp(_gaussian(1.0, 1), delta=-1.0),
            "delta=2": lambda: _with_rdp(_gaussian(1.0, 1), delta=2.0),
            "rate=2": lambda: _with_rdp(_sampled(1.0, 2.0, 1), delta=1e-5),
            "order=1/2": lambda: _renyi(_gaussian(1.0, 1), 0.5),
            "order=nan": lambda: _renyi(_gaussian(1.0, 1), nan),
        },
    )
    yield Nonsense(
        "get_sigma_gaussian, refusals",
        {
            "epsilon=-1": lambda: dp.get_sigma_gaussian(-1.0, 1e-5),
            "epsilon=nan": lambda: dp.get_sigma_gaussian(nan, 1e-5),
            "delta=nan": lambda: dp.get_sigma_gaussian(1.0, nan),
            "delta=2": lambda: dp.get_sigma_gaussian(1.0, 2.0),
        },
    )
    yield Nonsense(
        "get_epsilon_gaussian, refusals",
        {
            "sigma=-1": lambda: dp.get_epsilon_gaussian(-1.0, 1e-5),
            "sigma=nan": lambda: dp.get_epsilon_gaussian(nan, 1e-5),
            "delta=nan": lambda: dp.get_epsilon_gaussian(1.0, nan),
        },
    )


_YOUNGER = {
    "randomised_response": "RandomizedResponseDpEvent",
    "zCDP": "ZCDpEvent",
    "get_epsilon_gaussian": "get_epsilon_gaussian",
    "get_sigma_gaussian": "get_sigma_gaussian",
}
"""Parts of the names of cases, and what the library must have for them: older versions lack it."""


def _exists(case):
    return all(hasattr(dp, needed) for part, needed in _YOUNGER.items() if part in case.name)


def _relations():
    """Yield the relations, for releases that have every event: 0.6 and later."""
    if hasattr(dp, "get_epsilon_gaussian"):
        for group in (
            loss_relations,
            pmf_relations,
            outcome_relations,
            event_relations,
            search_relations,
            point_relations,
        ):
            yield from group()


def _documented_refusals():
    """Yield the refusals of releases that have every event: 0.6 and later."""
    if hasattr(dp, "get_epsilon_gaussian"):
        yield from further_refusals()


def cases():
    """Return all cases that this version of the library has."""
    np.seterr(all="ignore")
    groups = (
        _relations,
        identities,
        _composed_events,
        _separate_responses,
        _others,
        _refusals,
        more_answers,
        more_refusals,
        _documented_refusals,
    )
    return [case for group in groups for case in group() if _exists(case)]
