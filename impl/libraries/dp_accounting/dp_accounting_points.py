"""Relations of dp-accounting at the points of known findings, which random points meet in some runs only."""

from __future__ import annotations

import math

import dp_accounting as dp
from dp_accounting import rdp
from dp_accounting.pld import accountant, common

from dpassay.adapter import Relations
from dpassay.impl.libraries.references import composition_delta, near

__all__ = ["point_relations"]


def _gaussian_scale(_):
    """Check the scale at epsilon 0: a tiny delta, 2 F(1 / (2 sigma)) - 1, is the density at 0 over sigma."""
    delta = 1.722368382647643e-15
    yield (
        f"get_sigma_gaussian(0.0, {delta!r})",
        *near(dp.get_sigma_gaussian(0.0, delta), 1 / (math.sqrt(2 * math.pi) * delta), 1e-6),
    )


def _advanced_composition(_):
    """Check that the epsilon has the total delta."""
    count, delta = 94, 1e-20
    epsilon = accountant.advanced_composition(common.DifferentialPrivacyParameters(0.15, 0), count, delta)
    words = f"advanced_composition of {count} times 0.15: delta at its epsilon for {delta!r}"
    yield words, 0.0, composition_delta([(0.15, 0.0, count)], epsilon), delta * (1 + 1e-9)


def _fractional_orders(_):
    """Check that a divergence does not fall as the order grows."""
    event = dp.PoissonSampledDpEvent(0.0985690980134234, dp.GaussianDpEvent(24.47491871419803))
    smaller, greater = rdp.RdpAccountant([1.01, 1.5]).compose(event).rdp
    yield f"{event!r}, order 1.5 after 1.01", smaller * (1 - 1e-9), greater, math.inf


def point_relations():
    """Yield the relations, each a case of its own."""
    yield Relations("get_sigma_gaussian, tiny delta", {"the scale is that of the formula": _gaussian_scale})
    yield Relations("advanced_composition, tiny delta", {"epsilon has the total delta": _advanced_composition})
    yield Relations("RdpAccountant, order 1.01", {"divergences grow with the order": _fractional_orders})
