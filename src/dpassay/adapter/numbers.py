"""Checks of the numbers that an adapter gives."""

from __future__ import annotations

__all__ = ["require_finite"]


def require_finite(name: str, what: str, number: float) -> None:
    """Raise `ValueError` unless a number is finite and at least 0."""
    if not 0 <= number < float("inf"):
        raise ValueError(f"{name}: {what} must be a finite number of at least 0, got {number!r}")
