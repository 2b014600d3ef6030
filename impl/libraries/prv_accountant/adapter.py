"""prv-accountant: composition by numerical convolution, which states a lower bound, an estimate and an upper bound.

The upper bound is what a user must take; it is asked with the errors that the library calls typical: 0.1 in epsilon
and a thousandth of delta.
"""

from __future__ import annotations

import functools
import math
import warnings

import numpy as np
from prv_accountant import Accountant, PRVAccountant, composers
from prv_accountant import privacy_random_variables as variables
from prv_accountant.discrete_privacy_random_variable import DiscretePrivacyRandomVariable
from prv_accountant.domain import Domain
from prv_accountant.dpsgd import DPSGDAccountant
from prv_accountant.other_accountants import RDP
from prv_accounts import account_relations
from prv_relations import relations

from dpassay.adapter import Answer, Nonsense

LIBRARY = "prv-accountant"

warnings.simplefilter("ignore")
_DOMAIN = {
    "count": (1, 200),
    "sigma": (0.7, 100.0),
    "scale": (0.5, 100.0),
    "epsilon0": (0.01, 3.0),
    "rate": (1e-3, 1.0),
    "delta": (1e-12, 0.5),
    "epsilon": (0.0, 20.0),
}
_SMALL = {**_DOMAIN, "count": (1, 20), "epsilon0": (0.01, 0.9)}
"""Losses of pure mechanisms add up to 18 at most, which any delta leaves in the domain of the convolution."""

_EPSILON_ERROR, _DELTA_ERROR = 0.1, 1e-10


def _sampled(sigma, rate):
    if math.isnan(sigma) or math.isnan(rate):
        raise ValueError("the library would compute without end")
    return variables.PoissonSubsampledGaussianMechanism(sampling_probability=rate, noise_multiplier=sigma)


def _makers():
    yield "gaussian", variables.GaussianMechanism, ("sigma",)
    yield "laplace", lambda scale: variables.LaplaceMechanism(1 / scale), ("scale",)
    yield "pure_composition", variables.PureDPMechanism, ("epsilon0",)
    yield (
        "subsampled_gaussian",
        _sampled,
        ("sigma", "rate"),
    )
    yield (
        "approximate_composition",
        lambda epsilon0, delta0: variables.ApproximateDPMechanism(epsilon=epsilon0, delta=delta0),
        ("epsilon0", "delta0"),
    )


def _accountant(variable, count, delta_error):
    return PRVAccountant(variable, eps_error=_EPSILON_ERROR, delta_error=delta_error, max_self_compositions=count)


def _epsilon(variable, count, delta):
    return _accountant(variable, count, delta / 1000).compute_epsilon(delta, count)[2]


def _delta(variable, count, epsilon):
    return _accountant(variable, count, _DELTA_ERROR).compute_delta(epsilon, count)[2]


def _answers():
    for stem, make, parameters in _makers():
        for asked, compute in (("epsilon", _epsilon), ("delta", _delta)):
            if stem == "approximate_composition" and asked == "delta":
                continue
            given = "delta" if asked == "epsilon" else "epsilon"

            # an upper delta is that of a smaller epsilon, of which it is at most the difference of the epsilons larger
            loose = 2 * (_EPSILON_ERROR if asked == "epsilon" else _EPSILON_ERROR + _DELTA_ERROR)

            def answer(m=make, p=parameters, c=compute, g=given, **arguments):
                return float(c(m(*(arguments[key] for key in p)), arguments["count"], arguments[g]))

            domains = {stem: _DOMAIN}
            if stem.endswith("_composition"):  # larger losses are a known finding
                domains[f"{stem} of small losses"] = _SMALL
            for name, domain in domains.items():
                yield Answer(
                    f"PRVAccountant, {name}, upper {asked}", f"{stem}_{asked}", answer, domain=domain, looseness=loose
                )


def _accounts():
    """Return accounts of at most two uses of each of two and three mechanisms, and their ways to be asked."""
    for number in (2, 3):
        mechanisms = [variables.GaussianMechanism(4.0 + k) for k in range(number)]
        account = functools.cache(lambda m=mechanisms, n=number: PRVAccountant(m, 0.5, 1e-6, [2] * n))
        yield f"{number} mechanisms, epsilon", number, lambda times, a=account: a().compute_epsilon(1e-3, times)
        yield f"{number} mechanisms, delta", number, lambda times, a=account: a().compute_delta(0.3, times)


def _one_other(number, common, other):
    """Yield lists in which one entry is another one, at each place in turn."""
    for place in range(number):
        yield [*[common] * place, other, *[common] * (number - place - 1)]


def _misfits():
    """Yield lists of counts that do not fit, of several entries too, of which one at most is wrong."""
    gaussian = variables.GaussianMechanism(1.0)
    one = DiscretePrivacyRandomVariable(np.ones(2) / 2, Domain(-1.0, 1.0, 2))
    beyond = {
        f"{words}, {times} of at most 2 each": lambda a=ask, t=times: a(t)
        for words, number, ask in _accounts()
        for common in (1, 2)
        for times in _one_other(number, common, 3)
    }
    lengths = {
        f"{words}, {times}": lambda a=ask, t=times: a(t)
        for words, number, ask in _accounts()
        for times in ([1], [1] * (number - 1), [1] * (number + 1), 1)
    }
    repeated = {
        f"ConvolutionTree, {times}": lambda n=number, t=times: composers.ConvolutionTree(
            [one] * n
        ).compute_composition(t)
        for number in (2, 3)
        for times in _one_other(number, 1, 2)
    }
    sampled = {"noise_multiplier": 3.0, "sampling_probability": 0.2}
    yield Nonsense("PRVAccountant, counts beyond the announced ones", beyond)
    yield Nonsense(
        "PRVAccountant, arguments that do not fit",
        {
            **lengths,
            **repeated,
            "DPSGDAccountant, more steps than announced": lambda: DPSGDAccountant(
                **sampled, max_steps=4, eps_error=0.5
            ).compute_epsilon(1e-3, 5),
            "DPSGDAccountant, more steps than announced, delta": lambda: DPSGDAccountant(
                **sampled, max_steps=4, eps_error=0.5
            ).compute_delta(0.3, 5),
            "Accountant, more steps than announced": lambda: Accountant(
                **sampled, delta=1e-3, max_compositions=4, eps_error=0.5
            ).compute_epsilon(5),
            "Fourier, no count": lambda: composers.Fourier([one]).compute_composition([]),
            "Heterogeneous, one count of two": lambda: composers.Heterogeneous([one, one]).compute_composition([2]),
            "Heterogeneous, three counts of two": lambda: composers.Heterogeneous([one, one]).compute_composition(
                [1, 2, 1]
            ),
            "RDP, one count of two": lambda: RDP([gaussian, gaussian]).compute_epsilon(1e-5, [2]),
            "RDP, three counts of two": lambda: RDP([gaussian, gaussian]).compute_epsilon(1e-5, [2, 1, 2]),
            "counts of other mechanisms": lambda: PRVAccountant([gaussian], 0.1, 1e-9, [1, 2]),
            "more repetitions than announced": lambda: PRVAccountant([gaussian], 0.1, 1e-9, [2]).compute_epsilon(
                1e-5, [3]
            ),
            "Fourier, two mechanisms": lambda: composers.Fourier([one, one]),
            "Fourier, two counts": lambda: composers.Fourier([one]).compute_composition([1, 1]),
            "Heterogeneous, two counts": lambda: composers.Heterogeneous([one]).compute_composition([1, 1]),
            "ConvolutionTree, repetitions": lambda: composers.ConvolutionTree([one]).compute_composition([2]),
            "Domain, an odd size": lambda: Domain(-1.0, 1.0, 3),
            "Domain, a size that is no integer": lambda: Domain(-1.0, 1.0, 2.0),
            "RDP, two counts": lambda: RDP([gaussian]).compute_epsilon(1e-5, [1, 1]),
        },
    )


def cases():
    """Return all cases."""
    nan = math.nan
    found = [*relations(), *account_relations(), *_answers()]
    found.append(
        Nonsense(
            "PRVAccountant",
            {
                f"{name}({value})": lambda n=name, v=value: _epsilon(getattr(variables, n)(v), 1, 1e-5)
                for name in ("GaussianMechanism", "LaplaceMechanism", "PureDPMechanism")
                for value in (-1.0, nan)
            }
            | {
                "delta=-1": lambda: _epsilon(variables.GaussianMechanism(1.0), 1, -1.0),
                "delta=nan": lambda: _epsilon(variables.GaussianMechanism(1.0), 1, nan),
            },
        )
    )
    found.extend(_misfits())
    return found
