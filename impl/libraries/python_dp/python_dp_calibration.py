"""The standard deviation of Gaussian noise that the library's search may end at."""

from __future__ import annotations

from dpassay.impl.libraries.references import gaussian_sigma

__all__ = ["sigma_ends"]

_SEARCH = 2e-3
"""Relative; the search for a standard deviation ends, on the safe side, within 1e-3 of the smallest one."""


def sigma_ends(epsilon, delta, sensitivity):
    """Return the smallest standard deviation that suffices, and the largest one at which the search may end."""
    least = sensitivity * gaussian_sigma(epsilon, delta)
    return least, least * (1 + _SEARCH)
