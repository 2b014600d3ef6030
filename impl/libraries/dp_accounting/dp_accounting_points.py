"""Relations of dp-accounting at the points of known findings, which random points meet in some runs only."""

from __future__ import annotations

import math

import dp_accounting as dp
from dp_accounting import rdp
from dp_accounting.pld import accountant, common

from dpassay.adapter import Relations
from dpassay.impl.libraries.references import composition_delta, near

__all__ = ["point_relations"]

_ROUNDING = 1e-9
"""Absolute, of an epsilon that is searched for."""


def _gaussian_scale(_):
    """Check the scale at epsilon 0: a tiny delta, 2 F(1 / (2 sigma)) - 1, is the density at 0 over sigma."""
    delta = 1.722368382647643e-15
    yield (
        f"get_sigma_gaussian(0.0, {delta!r})",
        *near(dp.get_sigma_gaussian(0.0, delta), 1 / (math.sqrt(2 * math.pi) * delta), 1e-6),
    )


def _advanced_composition(_):
    """Check that the epsilon has at most the total delta."""
    one, count, delta = 0.15, 94, 1e-20
    epsilon = accountant.advanced_composition(common.DifferentialPrivacyParameters(one, 0), count, delta)
    too_small, enough = 0.0, one * count
    while enough - too_small > _ROUNDING:
        middle = (too_small + enough) / 2
        is_enough = composition_delta([(one, 0.0, count)], middle) <= delta
        too_small, enough = (too_small, middle) if is_enough else (middle, enough)
    yield f"advanced_composition of {count} times {one} at {delta!r}", too_small, epsilon, math.inf


def _fractional_orders(_):
    """Check that a divergence does not fall as the order grows."""
    event = dp.PoissonSampledDpEvent(0.0985690980134234, dp.GaussianDpEvent(24.47491871419803))
    smaller, greater = rdp.RdpAccountant([1.01, 1.5]).compose(event).rdp
    yield f"{event!r}, order 1.5 after 1.01", smaller * (1 - 1e-9), greater, math.inf


def point_relations():
    """Yield the relations, each a case of its own."""
    attained = {"the scale is that of the formula": _gaussian_scale}
    yield Relations("get_sigma_gaussian, tiny delta", attained, understated=attained)
    attained = {"epsilon has the total delta": _advanced_composition}
    yield Relations("advanced_composition, tiny delta", attained, understated=attained)
    yield Relations("RdpAccountant, order 1.01", {"divergences grow with the order": _fractional_orders})
