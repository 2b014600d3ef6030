"""opacus: its accountants for stochastic gradient descent with Poisson sampling. Nothing is trained.

The package imports PyTorch for everything else; the accountants alone need numpy and scipy.
"""

from __future__ import annotations

import functools
import math
import warnings

import opacus_without_torch  # noqa: F401  # before the library
from opacus import accountants
from opacus.accountants.analysis import rdp
from opacus.accountants.analysis.prv import Domain, compose_heterogeneous
from opacus.accountants.utils import get_noise_multiplier
from opacus_accounts import account_relations
from opacus_relations import relations

from dpassay.adapter import Answer, Nonsense

LIBRARY = "opacus"

warnings.simplefilter("ignore")
_DOMAIN = {
    "count": (1, 200),
    "sigma": (1.0, 100.0),
    "rate": (1e-3, 1.0),
    "delta": (1e-12, 0.5),
}
_CONVOLVED = {**_DOMAIN, "count": (1, 50)}
"""For what takes seconds with more."""

_PRV_ERROR = 0.01
"""The error in epsilon that the accountant of privacy random variables allows itself by default."""

_LARGEST_FRACTIONAL = 10.9
"""The largest fractional order of the accountant; those of a user may be larger, and are a known finding."""

_TERMS = math.exp(-30)
"""Relative to 1: the series for fractional orders end where their terms are below. A divergence is the logarithm of
their sum over the order - 1, which is .01 at least."""

_CALIBRATED = {"count": (1, 50), "rate": (0.01, 0.3), "epsilon": (0.5, 8.0), "delta": (1e-9, 0.1)}


def _require_an_end(*numbers):
    """Refuse in place of the library what it computes with for ever: not even a wrong answer comes."""
    if not all(0 < number < math.inf for number in numbers):
        raise ValueError("the library would compute without end")


def _divergence(sigma, order, rate=1.0):
    _require_an_end(rate, order, *((sigma,) if order > _LARGEST_FRACTIONAL else ()))
    return float(rdp.compute_rdp(q=rate, noise_multiplier=sigma, steps=1, orders=order))


def _multiplier(name, rate, count, epsilon, delta):
    _require_an_end(rate, count, delta)
    return float(
        get_noise_multiplier(
            target_epsilon=epsilon, target_delta=delta, sample_rate=rate, steps=count, accountant=name
        )
    )


def _epsilon(name, sigma, rate, count, delta):
    _require_an_end(sigma, rate)
    parts = count if isinstance(count, tuple) else (count,)
    if any(part != int(part) for part in parts):
        raise ValueError("steps are counted one by one")
    accountant = accountants.create_accountant(name)
    accountant.history = [(sigma, rate, int(part)) for part in parts]
    return float(accountant.get_epsilon(delta))


def _answers():
    for name, certainty in (("rdp", "upper"), ("prv", "upper"), ("gdp", "estimate")):
        notes = "warns that it may understate" if name == "gdp" else ""
        for stem in ("subsampled_gaussian", "gaussian"):

            def compute(sigma, count, delta, rate=1.0, n=name):
                return _epsilon(n, sigma, rate, count, delta)

            yield Answer(
                f"{name} accountant, {stem}",
                f"{stem}_epsilon",
                compute,
                domain=_CONVOLVED if name == "prv" else _DOMAIN,
                certainty=certainty,
                looseness=2 * _PRV_ERROR if name == "prv" else 0.0,
                notes=notes,
                splits=name == "rdp",
            )
    for name, orders in (("order", (1.01, _LARGEST_FRACTIONAL)), ("large orders", (11.0, 1e3))):
        yield Answer(
            f"analysis.rdp, {name}",
            "subsampled_gaussian_renyi",
            _divergence,
            domain={**_DOMAIN, "order": orders},
            relative_error=1e-9,
            absolute_error=_TERMS / 0.01,
            notes="the series for fractional orders ends where its terms are below e^-30",
            account="analysis.rdp",
        )
    yield Answer(
        "analysis.rdp, order, no sampling",
        "gaussian_renyi",
        _divergence,
        domain=_DOMAIN,
        account="analysis.rdp",
    )
    yield Answer(
        "analysis.rdp.get_privacy_spent",
        "renyi_epsilon",
        lambda order, renyi, delta: float(rdp.get_privacy_spent(orders=[order], rdp=[renyi], delta=delta)[0]),
    )
    for name in ("rdp", "prv"):
        yield Answer(
            f"get_noise_multiplier, {name}",
            "subsampled_gaussian_sigma",
            functools.partial(_multiplier, name),
            account=f"{name} accountant",
            domain={**_CALIBRATED, "epsilon": (0.5, 2.0)} if name == "prv" else _CALIBRATED,
        )


def cases():
    """Return all cases."""
    nan = math.nan
    attempts = {
        f"{name}, {words}": lambda n=name, a=arguments: _epsilon(n, *a)
        for name in ("rdp", "prv")
        for words, arguments in (
            ("rate=2", (1.0, 2.0, 10, 1e-5)),
            ("delta=nan", (1.0, 0.1, 10, nan)),
            ("delta=-1", (1.0, 0.1, 10, -1.0)),
        )
    }
    lengths = {
        "get_privacy_spent, lengths": lambda: rdp.get_privacy_spent(orders=[2.0, 3.0], rdp=[1.0], delta=1e-5),
        "compose_heterogeneous, lengths": lambda: compose_heterogeneous([], [1]),
        "Domain, an odd size": lambda: Domain(-1.0, 1.0, 3),
        "get_noise_multiplier, steps and epochs": lambda: get_noise_multiplier(
            target_epsilon=1.0, target_delta=1e-5, sample_rate=0.1, steps=1, epochs=1
        ),
        "get_noise_multiplier, neither steps nor epochs": lambda: get_noise_multiplier(
            target_epsilon=1.0, target_delta=1e-5, sample_rate=0.1
        ),
        "a state of another accountant": lambda: accountants.create_accountant("rdp").load_state_dict(
            {"history": [], "mechanism": "prv"}
        ),
        "an empty state": lambda: accountants.create_accountant("rdp").load_state_dict({}),
        "a state without a history": lambda: accountants.create_accountant("rdp").load_state_dict(
            {"mechanism": "rdp"}
        ),
        "an unknown accountant": lambda: accountants.create_accountant("unknown"),
    }
    return [
        *relations(),
        *account_relations(),
        *_answers(),
        Nonsense("accountants", attempts),
        Nonsense("accountants, arguments that do not fit", lengths),
    ]
