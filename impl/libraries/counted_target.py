"""A number that a search aims at and that counts its comparisons, so that a search without an end raises.

This module runs in a worker: Python 3.9, the standard library.
"""

from __future__ import annotations

from typing import Any

__all__ = ["CountedTarget", "EndlessSearchError"]

_MOST_COMPARISONS = 10_000
"""A bisection of float64 compares its target at most some 1,100 times (from 1e308 down to 5e-324)."""


class EndlessSearchError(ValueError):
    """A search compares its target again and again."""


class CountedTarget(float):
    """A number that may be compared, or subtracted from another one, ten thousand times.

    Equality is not counted: libraries use it for special values, not for searches.

    Raises
    ------
    EndlessSearchError
        At the next comparison.

    Examples
    --------
    >>> 0.25 < CountedTarget(0.5) < 1.0, 0.75 - CountedTarget(0.5)
    (True, 0.25)
    """

    __array_ufunc__ = None  # numbers of numpy leave the comparison to this class
    left = _MOST_COMPARISONS

    def _compared(self) -> float:
        self.left -= 1
        if self.left < 0:
            raise EndlessSearchError(f"the target was compared {_MOST_COMPARISONS} times")
        return float(self)

    def __rsub__(self, other: Any) -> float:
        return float(other) - self._compared()

    def __lt__(self, other: Any) -> bool:
        return self._compared() < float(other)

    def __le__(self, other: Any) -> bool:
        return self._compared() <= float(other)

    def __gt__(self, other: Any) -> bool:
        return self._compared() > float(other)

    def __ge__(self, other: Any) -> bool:
        return self._compared() >= float(other)
