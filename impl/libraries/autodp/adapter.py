"""autodp: the zoo of mechanisms, the composition and amplification of its transformers, its calibrators and banks."""

from __future__ import annotations

import math
import warnings

import autodp_banks
import autodp_composition
import autodp_conversions
import autodp_relations
import autodp_screens
import autodp_targets
import autodp_transformers
import autodp_zoo
import numpy as np
from autodp import calibrator_zoo, converter, dp_bank, mechanism_zoo, rdp_bank, transformer_zoo

from dpassay.adapter import Answer, Nonsense, present_cases

LIBRARY = "autodp"

warnings.simplefilter("ignore")
_ORDINARY = {
    "sigma": (0.1, 1e3),
    "scale": (0.1, 1e3),
    "epsilon0": (1e-3, 10.0),
    "rate": (1e-4, 0.5),
    "count": (1, 100),
}
_ROUNDING = 1e-9
"""Relative; nothing is promised of the last digits of float64."""

_DELTAS = {
    "epsilon": {"delta": (1e-12, 1e-3)},
    "epsilon, tiny delta": {"delta": (1e-300, 1e-12)},
    "epsilon, large delta": {"delta": (1e-3, 1.0)},
}
"""Cases of pure mechanisms: at a tiny delta some compositions cost nothing, and at a large one two may cost less than
one, which is bounded in another way. Neither is excused between."""

_MINIMISED = 1e-10
"""Absolute, in delta: a minimum over orders is as near to 0 as the search came."""


_EXACT_GAUSSIAN = "exact curve of the Gaussian mechanism"
"""The account of the calibrators: epsilon and delta of the exact curve, not delta from Renyi divergences."""


def _composed(mechanism, count):
    if isinstance(count, tuple):
        return transformer_zoo.Composition()([mechanism] * len(count), list(count))
    return mechanism if count == 1 else transformer_zoo.Composition()([mechanism], [count])


def _response(epsilon0):
    return mechanism_zoo.RandresponseMechanism(p=1 / (1 + math.exp(-epsilon0)))


def _ask(mechanism, *, delta=None, epsilon=None):
    return mechanism.get_approx_delta(epsilon) if delta is None else mechanism.get_approxDP(delta)


def _pure_loss(epsilon0, delta, count):
    if not 0 <= delta <= 1:
        raise ValueError("the library is not told a delta")
    return float(_composed(mechanism_zoo.PureDP_Mechanism(epsilon0), count).eps_pureDP)


def _sampled(sigma, rate, count):
    gaussian = mechanism_zoo.GaussianMechanism(sigma)
    gaussian.neighboring = "add_remove"
    sampled = transformer_zoo.AmplificationBySampling(PoissonSampling=True)(gaussian, rate, improved_bound_flag=True)
    return _composed(sampled, count)


def _mechanisms():
    makers = (
        ("gaussian", "GaussianMechanism", mechanism_zoo.GaussianMechanism, "sigma"),
        ("gaussian", "ExactGaussianMechanism", mechanism_zoo.ExactGaussianMechanism, "sigma"),
        ("laplace", "LaplaceMechanism", lambda scale: mechanism_zoo.LaplaceMechanism(b=scale), "scale"),
        ("randomised_response", "RandresponseMechanism", _response, "epsilon0"),
        (
            "pure_composition",
            "PureDP_Mechanism",
            mechanism_zoo.PureDP_Mechanism,
            "epsilon0",
        ),
    )
    for stem, name, make, parameter in makers:
        for asked in ("epsilon", "delta"):
            given = "delta" if asked == "epsilon" else "epsilon"

            def compute(m=make, p=parameter, g=given, **arguments):
                return float(_ask(_composed(m(arguments[p]), arguments["count"]), **{g: arguments[g]}))

            domain = {**_ORDINARY, "count": (1, 1)} if name.startswith("Exact") else _ORDINARY
            parts = _DELTAS if f"{name}, {asked}" == "PureDP_Mechanism, epsilon" else {asked: {}}
            for part, within in parts.items():
                yield Answer(
                    f"{name}, {part}",
                    f"{stem}_{asked}",
                    compute,
                    domain={**domain, **within},
                    relative_error=_ROUNDING,
                    looseness=_MINIMISED if asked == "delta" else 0.0,
                    splits=True,
                )
    yield Answer(
        "PureDP_Mechanism, eps_pureDP",
        "pure_composition_epsilon",
        _pure_loss,
        domain=_ORDINARY,
        relative_error=_ROUNDING,
        notes="an attribute, which holds at every delta",
        account="pure composition",
        splits=True,
    )
    yield Answer(
        "DP_acct, epsilon",
        "heterogeneous_composition_epsilon",
        autodp_composition.composed_epsilon,
        domain={"delta": (1e-12, 1.0)},  # below 1e-16 float64 has no 1 - delta, and the answer is infinite
        relative_error=_ROUNDING,
        account="DP_acct",
    )
    yield Answer(
        "ComposedGaussianMechanism, epsilon",
        "gaussian_epsilon",
        lambda sigma, delta, count: float(
            mechanism_zoo.ComposedGaussianMechanism({"sigma": sigma, "coeff": count}).get_approxDP(delta)
        ),
        domain=_ORDINARY,
        relative_error=_ROUNDING,
    )
    yield Answer(
        "ComposeGaussian, epsilon",
        "gaussian_epsilon",
        lambda sigma, delta, count: float(
            transformer_zoo.ComposeGaussian()([mechanism_zoo.ExactGaussianMechanism(sigma)], [count]).get_approxDP(
                delta
            )
        ),
        domain=_ORDINARY,
        relative_error=_ROUNDING,
    )
    for asked in ("epsilon", "delta"):
        given = "delta" if asked == "epsilon" else "epsilon"
        yield Answer(
            f"AmplificationBySampling, gaussian, {asked}",
            f"subsampled_gaussian_{asked}",
            lambda sigma, rate, count, g=given, **asks: float(_ask(_sampled(sigma, rate, count), **{g: asks[g]})),
            domain={**_ORDINARY, "sigma": (0.5, 10.0), "rate": (1e-3, 0.5)},
            relative_error=_ROUNDING,
            looseness=_MINIMISED if asked == "delta" else 0.0,
        )
        yield Answer(
            f"zCDP_Mechanism, {asked}",
            f"zcdp_{asked}",
            lambda rho, g=given, **asks: float(_ask(mechanism_zoo.zCDP_Mechanism(rho), **{g: asks[g]})),
            relative_error=_ROUNDING,
            looseness=_MINIMISED if asked == "delta" else 0.0,
        )
    yield Answer(
        "DiscreteGaussianMechanism, epsilon",
        "discrete_gaussian_epsilon",
        lambda sigma, delta, count: float(
            _composed(mechanism_zoo.DiscreteGaussianMechanism(sigma), count).get_approxDP(delta)
        ),
        domain=_ORDINARY,
        relative_error=_ROUNDING,
    )


def _analytic(epsilon, delta):
    if not (epsilon > 0 and 0 < delta < 1):
        raise ValueError("the calibrator would search without end")
    return autodp_targets.analytic_sigma(epsilon, delta)


def _banks():
    yield Answer(
        "RDP_gaussian", "gaussian_renyi", lambda sigma, order: float(rdp_bank.RDP_gaussian({"sigma": sigma}, order))
    )
    yield Answer(
        "RDP_laplace",
        "laplace_renyi",
        lambda scale, order: float(rdp_bank.RDP_laplace({"b": scale}, order)),
        domain=_ORDINARY,
        relative_error=_ROUNDING,
        absolute_error=1e-12,  # as of randomised response
    )
    yield Answer(
        "RDP_randresponse",
        "randomised_response_renyi",
        lambda epsilon0, order: float(rdp_bank.RDP_randresponse({"p": 1 / (1 + math.exp(-epsilon0))}, order)),
        domain=_ORDINARY,
        relative_error=_ROUNDING,
        absolute_error=1e-12,  # near order 1 a logarithm of nearly 1 is divided by a small number
    )
    yield Answer(
        "get_eps_ana_gaussian",
        "gaussian_epsilon",
        lambda sigma, delta, **_: float(dp_bank.get_eps_ana_gaussian(sigma, delta)),
        domain={**_ORDINARY, "count": (1, 1)},
        claims_exact=True,
        relative_error=1e-9,
        absolute_error=1e-9,
        account=_EXACT_GAUSSIAN,
    )
    yield Answer(
        "get_logdelta_ana_gaussian",
        "gaussian_delta",
        lambda sigma, epsilon, **_: float(np.exp(dp_bank.get_logdelta_ana_gaussian(sigma, epsilon))),
        domain={**_ORDINARY, "count": (1, 1)},
        claims_exact=True,
        relative_error=1e-6,  # rounding of two logarithms of some hundreds that nearly cancel
        account=_EXACT_GAUSSIAN,
    )
    yield Answer(
        "get_eps_randresp_optimal",
        "randomised_response_epsilon",
        lambda epsilon0, delta, **_: float(dp_bank.get_eps_randresp_optimal(1 / (1 + math.exp(-epsilon0)), delta)),
        domain={**_ORDINARY, "count": (1, 1)},
        relative_error=_ROUNDING,
    )
    yield Answer(
        "ana_gaussian_calibrator",
        "gaussian_sigma",
        _analytic,
        domain={"epsilon": (1e-3, 20.0)},
        relative_error=_ROUNDING,
        account=_EXACT_GAUSSIAN,
    )
    yield Answer(
        "eps_delta_calibrator",
        "gaussian_sigma",
        lambda epsilon, delta: float(
            calibrator_zoo.eps_delta_calibrator()(
                mechanism_zoo.ExactGaussianMechanism, epsilon, delta, [0.1, 100.0]
            ).params["sigma"]
        ),
        domain={"epsilon": (0.1, 10.0), "delta": (1e-9, 0.1)},
        notes="a tolerance of 1e-3 in epsilon is written in the code, not documented",
        account=_EXACT_GAUSSIAN,
    )
    yield Answer(
        "rdp_to_approxdp, one order",
        "renyi_epsilon",
        lambda order, renyi, delta: float(
            converter.rdp_to_approxdp(lambda alpha: renyi if alpha <= order else math.inf, alpha_max=order)(delta)
        ),
    )


def _refusals():
    nan = math.nan

    def epsilon_of(make, *parameters):
        return lambda: make(*parameters).get_approxDP(1e-5)

    yield Nonsense(
        "mechanism_zoo",
        {
            f"{name}({value})": epsilon_of(getattr(mechanism_zoo, name), value)
            for name in (
                "GaussianMechanism",
                "ExactGaussianMechanism",
                "LaplaceMechanism",
                "PureDP_Mechanism",
                "zCDP_Mechanism",
            )
            for value in (-1.0, nan)
        }
        | {
            "RandresponseMechanism(2)": epsilon_of(mechanism_zoo.RandresponseMechanism, 2.0),
            "delta=nan": lambda: mechanism_zoo.GaussianMechanism(1.0).get_approxDP(nan),
            "delta=-1": lambda: mechanism_zoo.GaussianMechanism(1.0).get_approxDP(-1.0),
            "epsilon=nan": lambda: mechanism_zoo.GaussianMechanism(1.0).get_approx_delta(nan),
        },
    )


_RELATIONS = (
    autodp_banks.relations,
    autodp_composition.relations,
    autodp_transformers.relations,
    autodp_conversions.relations,
    autodp_zoo.relations,
    autodp_relations.relations,
    autodp_screens.relations,
    autodp_targets.relations,
    autodp_zoo.searches,
    autodp_relations.searches,
    autodp_targets.searches,
)
"""The fast ones come first: a short run asks most of them."""


def cases():
    """Return all cases; what this version lacks raises when it is asked."""
    np.seterr(all="ignore")
    return list(present_cases(*_RELATIONS, _mechanisms, _banks, _refusals, lacking=(AttributeError,)))
