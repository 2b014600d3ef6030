"""OpenDP: measurements, combinators, conversions, of every release since 0.8; 0.6 through its older interface."""

from __future__ import annotations

import os
from typing import Any

LIBRARY = "opendp"

_LATER = [
    "partial",
    "context",
    "budget",
    "unit",
    "frame",
    "refusal",
    "promise",
    "truncation",
    "extra",
    "model",
    "direction",
    "origin",
    "column",
    "feature",
]
"""Chapters of newer releases, or in need of Polars and scikit-learn."""

os.environ["RUST_BACKTRACE"] = "0"  # to trace a refusal takes the library 300 times as long as to refuse


def cases() -> list[Any]:
    """Return the cases that this release can build."""
    try:
        import opendp.prelude  # noqa: F401  # releases before 0.7 have none
    except ImportError:
        from opendp_before_domains import old_cases

        return old_cases()
    from opendp_aggregates import aggregate_cases
    from opendp_building import Collector
    from opendp_composition import composition_cases
    from opendp_conversions import conversion_answers
    from opendp_families import family_cases
    from opendp_histograms import histogram_cases
    from opendp_maps import map_cases
    from opendp_noise import noise_cases
    from opendp_nonsense import nonsense_cases
    from opendp_response import response_cases
    from opendp_selection import selection_cases
    from opendp_stability import stability_cases

    collect = Collector()
    for chapter in (
        family_cases,
        noise_cases,
        selection_cases,
        response_cases,
        histogram_cases,
        aggregate_cases,
        composition_cases,
        conversion_answers,
        stability_cases,
        map_cases,
        nonsense_cases,
    ):
        chapter(collect)
    for name in _LATER:
        collect.add_chapter(name)
    return collect.cases
