"""Mechanisms of Tumult Core whose loss differs from record to record: draws from given bits, and their quantiles."""

from __future__ import annotations

import importlib
import math
from statistics import NormalDist

from flint import arb
from tmlt.core.random import rng
from tmlt_core_bits import drawing

from dpassay.adapter import Relations
from dpassay.impl.libraries.references import near, normal_cdf

__all__ = ["records"]

_PARTS = (0.02, 0.31, 0.5, 0.77, 0.996)
"""Probabilities that the random bits stand for."""


def _transformed(random, module):
    """Compare draws with what the back-transformed quantile of Gaussian noise on a transformed number is."""
    for name, there, back in (
        ("square_root_transformation_mechanism", math.sqrt, lambda y: y**2),
        ("fourth_root_transformation_mechanism", lambda y: y**0.25, lambda y: y**4),
        ("log_transformation_mechanism", math.log, math.exp),
    ):
        for x in (0.0, random.uniform(0.5, 40)):
            offset, sigma = random.uniform(0.3, 20), random.uniform(0.1, 2.5)
            for part in _PARTS:
                with drawing(part, 0.5):
                    found = getattr(module, name)(x, offset, sigma)
                exact = back(NormalDist(there(x + offset), sigma).inv_cdf(part)) - offset
                # of a sum that nearly cancels few digits are left
                yield (f"{name}({x!r}, {offset!r}, {sigma!r}), {part}", *near(found, exact, absolute=1e-9 * offset))


def _root_tail(y, sigma):
    """Return how likely noise with a density in proportion to exp(-sqrt(|y| / sigma)) is beyond y > 0."""
    root = math.sqrt(y / sigma)
    return 0.5 * (1 + root) * math.exp(-root)


def _polylogarithmic_tail(y, d, a, sigma):
    """Return how likely noise with a density in proportion to exp(-d log(|y| / sigma + a)^2) is beyond y > 0.

    The logarithm has a density in proportion to exp(v - d v^2), of a normal deviate from log(a) on.
    """
    mean, deviation = 1 / (2 * d), 1 / math.sqrt(2 * d)

    def beyond(value):
        return normal_cdf(-(math.log(value) - mean) / deviation)

    return 0.5 * beyond(y / sigma + a) / beyond(a)


def _tails(random, module):
    """Compare quantiles with the probabilities that lie beyond them, and draws with quantiles."""
    d, a, sigma = random.uniform(0.2, 3), random.uniform(1.1, 4), random.uniform(0.3, 8)
    for name, arguments, tail in (
        ("square_root_gaussian", (sigma,), lambda y: _root_tail(y, sigma)),
        ("exponential_polylogarithmic", (d, a, sigma), lambda y: _polylogarithmic_tail(y, d, a, sigma)),
    ):
        quantile, mechanism = (getattr(module, f"{name}_{kind}") for kind in ("inverse_cdf", "mechanism"))
        for part in _PARTS:
            found = float(quantile(arb(part), *map(arb, arguments)))
            words = f"{name}{arguments!r}, {part}"
            if part == 0.5:
                yield f"{words}, the median", 0.0, found, 0.0
            else:
                yield f"{words}, its side", 1.0, float((found > 0) == (part > 0.5)), 1.0
                yield (f"{words}, what is beyond", *near(tail(abs(found)), min(part, 1 - part)))
            with drawing(part, 0.5):
                drawn = mechanism(*arguments)
            # half of the least step of 2^-63 beside the part decides; the density has a peak at 0
            yield (f"{words}, a draw", *near(drawn, found, absolute=1e-6 * sigma))


def records():
    """Yield the cases."""
    module = importlib.import_module("tmlt.core.utils.prdp")
    rng._core_privacy_prng  # noqa: B018  # older versions have none
    yield Relations(
        "per-record mechanisms",
        {
            "noise is added to roots and logarithms": lambda random: _transformed(random, module),
            "quantiles are those of the densities": lambda random: _tails(random, module),
        },
    )
