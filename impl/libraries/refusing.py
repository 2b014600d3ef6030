"""A check that a call raises, for facts of adapters; it runs inside workers: Python 3.9, the standard library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["raises"]


def raises(kinds: type[Exception] | tuple[type[Exception], ...], call: Callable[[], Any]) -> bool:
    """Return whether a call raises one of these exceptions; any other one passes through.

    Examples
    --------
    >>> raises(ValueError, lambda: int("one")), raises(ValueError, lambda: int("1"))
    (True, False)
    """
    try:
        call()
    except kinds:
        return True
    return False
