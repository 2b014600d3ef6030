"""Families: noise at drawn scales, and aggregates of records within drawn bounds far from 0."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from opendp_aggregates import clamped, named
from opendp_building import Collector
from opendp_noise import vectors

from dpassay.adapter import Family

if TYPE_CHECKING:
    from dpassay.adapter import Mechanism

__all__ = ["family_cases"]

_CALLS = 60_000
"""Outcomes of noise on integers, of which a hundred thousand are drawn in a second."""


def _noise(noise: str, kind: type) -> Family:
    """Return noise on a vector, over its scale, its length and the distance of neighbours."""

    def make(numerator: int, denominator: int, size: int, step: int) -> Mechanism:
        # scales are exact fractions to the samplers
        found = vectors(noise, kind, numerator / denominator, size, d_in=kind(step))
        return dataclasses.replace(found, calls=_CALLS) if kind is int else found

    domain = {"numerator": (3, 7), "denominator": (1, 4), "size": (1, 3), "step": (2, 3)}
    family = Family(f"make_{noise} of {kind.__name__}, family", make, domain)
    family.member({"numerator": 5, "denominator": 2, "size": 1, "step": 2})  # raises where this release cannot
    return family


def _aggregate(name: str) -> Family:
    """Return an aggregate of bounded records of a known number."""

    def make(low: float, width: float, size: int) -> Mechanism:
        return named(name, float, size, (low, low + width))

    family = Family(f"make_{name}, family", make, {"low": (-40.0, 30.0), "width": (0.25, 60.0), "size": (2, 7)})
    family.member({"low": 2.5, "width": 3.0, "size": 3})
    return family


def _clamped(name: str) -> Family:
    """Return an aggregate behind a clamp, of records outside its bounds."""

    def make(low: float, width: float, size: int) -> Mechanism:
        return clamped(name, size, (low, low + width), (low - 2 * width, low + 3 * width))

    family = Family(
        f"make_clamp >> make_{name}, family", make, {"low": (-40.0, 30.0), "width": (0.25, 60.0), "size": (2, 7)}
    )
    family.member({"low": 2.5, "width": 3.0, "size": 3})
    return family


def family_cases(collect: Collector) -> None:
    """Add the families that this release can build."""
    kinds: tuple[Any, ...] = (int, float)
    for noise in ("laplace", "gaussian"):
        for kind in kinds:
            collect.add(_noise, noise, kind)
    for name in ("sum", "mean", "variance"):
        collect.add(_aggregate, name)
    for name in ("sum", "mean"):
        collect.add(_clamped, name)
