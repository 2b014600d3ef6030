"""Families of Tumult Core: noise and quantiles at drawn parameters; identities of measurements and budgets."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pandas as pd
from tmlt.core.domains.numpy_domains import NumpyFloatDomain
from tmlt.core.domains.pandas_domains import PandasSeriesDomain
from tmlt.core.measurements import noise_mechanisms
from tmlt.core.measurements.composition import Composition
from tmlt.core.measurements.converters import PureDPToApproxDP, PureDPToRhoZCDP, RhoZCDPToApproxDP
from tmlt.core.measurements.pandas_measurements.series import NoisyQuantile
from tmlt.core.measures import (
    ApproxDP,
    ApproxDPBudget,
    InsufficientBudgetError,
    PureDP,
    PureDPBudget,
    RhoZCDP,
    RhoZCDPBudget,
)
from tmlt.core.utils.parameters import calculate_noise_scale

from dpassay.adapter import Family, Mechanism

__all__ = ["families", "identities"]

_ALONE = "vector:size=1,linf=1,low=0,high=0,integer"
_CELLS = 4
_DRAWS = 6000
"""Outcomes of a quantile, of which a thousand are drawn in a second."""


def _noise(name, family, *, integer, gaussian):
    make_noise = getattr(noise_mechanisms, name)

    def make(numerator, denominator, step):
        size = Fraction(numerator, denominator)
        domain = () if integer else (NumpyFloatDomain(),)
        measurement = make_noise(*domain, size)
        scale = math.sqrt(size) if gaussian else float(size)
        loss = step**2 / (2 * float(size)) if gaussian else step / float(size)
        stated = float(measurement.privacy_function(step).to_float(round_up=True))

        def sample_many(data, size):
            value = int(data[0]) if integer else float(data[0])
            return [measurement(value) for _ in range(size)]

        return Mechanism(
            "",
            f"vector:size=1,linf={step}" + (",integer" if integer else ""),
            f"zcdp:{min(loss, stated)!r}" if gaussian else f"pure:{min(loss, stated)!r}",
            sample_many=sample_many,
            law=lambda data: {"family": family, "location": data[0], "scale": scale},
            floats=False,
            slow=True,
            relative_error=1e-9,
            calls=12_000 if integer else None,
        )

    return Family(f"{name}, family", make, {"numerator": (3, 19), "denominator": (1, 4), "step": (2, 5)})


def _masses(data, quantile, rate, low, high):
    """Return the probability of each quarter of the bounds: the exponential mechanism on ranks."""
    target = quantile * len(data)
    inside = {min(max(value, low), high) for value in data}
    ends = sorted(inside | {low + (high - low) * cell / _CELLS for cell in range(_CELLS + 1)})
    weights = [0.0] * _CELLS
    for start, end in itertools.pairwise(ends):
        rank = sum(min(max(value, low), high) <= start for value in data)
        cell = min(int(((start + end) / 2 - low) / (high - low) * _CELLS), _CELLS - 1)
        weights[cell] += (end - start) * math.exp(-rate * abs(rank - target))
    return weights


def _quantile(quantile, epsilon, low, width):
    high = low + width
    measurement = NoisyQuantile(PandasSeriesDomain(NumpyFloatDomain()), PureDP(), quantile, low, high, epsilon)
    rate = epsilon / (2 * max(quantile, 1 - quantile))

    def sample_one(data):
        return min(int((measurement(pd.Series(data, dtype=float)) - low) / width * _CELLS), _CELLS - 1)

    return Mechanism(
        "",
        f"records:low={low - width!r},high={high + width!r},size=3,max-size=4,relation=add-remove",
        f"pure:{float(epsilon)!r}",
        sample_one=sample_one,
        law=lambda data: {
            "family": "finite",
            "symbols": list(range(_CELLS)),
            "probabilities": _masses(data, quantile, rate, low, high),
        },
        slow=True,
        relative_error=1e-9,
        calls=_DRAWS,
    )


def families():
    """Yield the families."""
    yield _noise("AddLaplaceNoise", "laplace", integer=False, gaussian=False)
    yield _noise("AddGeometricNoise", "discrete laplace", integer=True, gaussian=False)
    yield _noise("AddDiscreteGaussianNoise", "discrete gaussian", integer=True, gaussian=True)
    yield _noise("AddGaussianNoise", "gaussian", integer=False, gaussian=True)
    domain = {"quantile": (0.2, 0.9), "epsilon": (2, 5), "low": (-40.0, 30.0), "width": (0.5, 60.0)}
    yield Family("NoisyQuantile, family", _quantile, domain)


# --- what adds up ------------------------------------------------------------------------------------------------


def _laplace(scale):
    return noise_mechanisms.AddLaplaceNoise(NumpyFloatDomain(), scale)


def _gaussian(variance):
    return noise_mechanisms.AddGaussianNoise(NumpyFloatDomain(), variance)


def _states_losses():
    """Compare stated losses with those of the noise: step over scale, and step squared over twice the variance."""
    for size, step in itertools.product((Fraction(1, 3), Fraction(7, 2), Fraction(12)), (1, 2, 5)):
        pairs = [
            (_laplace(size), Fraction(step) / size),
            (noise_mechanisms.AddGeometricNoise(size), Fraction(step) / size),
            (_gaussian(size), Fraction(step) ** 2 / (2 * size)),
            (noise_mechanisms.AddDiscreteGaussianNoise(size), Fraction(step) ** 2 / (2 * size)),
        ]
        if any(measurement.privacy_function(step) != loss for measurement, loss in pairs):
            return False
    free = (_laplace(0), _gaussian(0), noise_mechanisms.AddGeometricNoise(0))
    return all(one.privacy_function(0) == 0 and one.privacy_function(1) == float("inf") for one in free)


def _composes():
    parts = [_laplace(2), _laplace(Fraction(1, 2)), _laplace(5)]
    whole = Composition(parts)
    concentrated = Composition([_gaussian(2), _gaussian(8), PureDPToRhoZCDP(_laplace(2))])
    mixed = Composition([PureDPToApproxDP(part) for part in parts])
    return (
        whole.privacy_function(3) == Fraction(3, 2) + 6 + Fraction(3, 5)
        and concentrated.privacy_function(2) == 1 + Fraction(1, 4) + Fraction(1, 2)
        and tuple(mixed.privacy_function(1)) == (Fraction(1, 2) + 2 + Fraction(1, 5), 0)
        and whole.privacy_relation(1, Fraction(27, 10))
        and not whole.privacy_relation(1, Fraction(26, 10))
        and len(whole(1.0)) == len(parts)
        and len(set(whole(1.0))) == len(parts)
    )


def _converts():
    concentrated = RhoZCDPToApproxDP(_gaussian(2))  # rho is 1/4
    # the exact epsilon of this noise at a delta of 1/1000 is about 2; rho + 2 sqrt(rho log(1/delta)) is 2.88
    return (
        PureDPToRhoZCDP(_laplace(2)).privacy_function(1) == Fraction(1, 8)
        and PureDPToRhoZCDP(_laplace(2)).privacy_relation(1, Fraction(1, 8))
        and not PureDPToRhoZCDP(_laplace(2)).privacy_relation(1, Fraction(1, 9))
        and tuple(PureDPToApproxDP(_laplace(2)).privacy_function(1)) == (Fraction(1, 2), 0)
        and PureDPToApproxDP(_laplace(2)).privacy_relation(1, (Fraction(1, 2), 0))
        and not PureDPToApproxDP(_laplace(2)).privacy_relation(1, (Fraction(1, 3), 0))
        and concentrated.privacy_relation(1, (3, Fraction(1, 1000)))
        and not concentrated.privacy_relation(1, (Fraction(3, 2), Fraction(1, 1000)))
        and not concentrated.privacy_relation(1, (3, 0))
    )


def _calibrates():
    return (
        calculate_noise_scale(3, 2, PureDP()) == Fraction(3, 2)
        and calculate_noise_scale(3, 2, RhoZCDP()) == Fraction(3, 2)
        and calculate_noise_scale(5, Fraction(1, 8), RhoZCDP()) == 10
        and calculate_noise_scale(1, 0, PureDP()) == float("inf")
    )


def _overspends(budget, spent):
    try:
        budget.subtract(spent)
    except InsufficientBudgetError:
        return False
    return True


def _accounts():
    half = Fraction(1, 2)
    left = ApproxDPBudget((2, half)).subtract((half, Fraction(1, 8)))
    return (
        PureDPBudget(2).subtract(half).epsilon == Fraction(3, 2)
        and RhoZCDPBudget(2).subtract(half).rho == Fraction(3, 2)
        and (left.epsilon, left.delta) == (Fraction(3, 2), Fraction(3, 8))
        and _overspends(PureDPBudget(2), 2)
        and not _overspends(PureDPBudget(2), Fraction(21, 10))
        and not _overspends(RhoZCDPBudget(2), Fraction(21, 10))
        and not _overspends(ApproxDPBudget((1, half)), (2, 0))
        and not _overspends(ApproxDPBudget((2, Fraction(1, 10))), (1, half))
        and PureDPBudget(2).is_finite()
        and not PureDPBudget(float("inf")).is_finite()
        and PureDP().compare(1, 2)
        and not PureDP().compare(2, 1)
        and RhoZCDP().compare(1, 1)
        and not RhoZCDP().compare(2, 1)
        and ApproxDP().compare((1, 0), (1, half))
        and not ApproxDP().compare((1, half), (1, 0))
        and not ApproxDP().compare((2, 0), (1, half))
    )


def identities():
    """Yield what must be true of the exact numbers of this library; no sample is drawn."""
    for name, check in (
        ("losses of noise", _states_losses),
        ("losses of compositions", _composes),
        ("losses of conversions", _converts),
        ("scales of calibrations", _calibrates),
        ("budgets that are spent", _accounts),
    ):
        yield Mechanism(
            name,
            _ALONE,
            "pure:0.0",
            sample_one=lambda _, c=check: bool(c()),
            law=lambda _: {"family": "finite", "symbols": [True, False], "probabilities": [1.0, 0.0]},
            calls=8,
        )
