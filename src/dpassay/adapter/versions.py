"""Cases that a version of the library has."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from dpassay.adapter.answers import Answer
    from dpassay.adapter.auditors import Auditor
    from dpassay.adapter.mechanisms import Family, Mechanism
    from dpassay.adapter.refusals import Nonsense
    from dpassay.adapter.relations import Relations

    Case = Mechanism | Family | Answer | Relations | Auditor | Nonsense

__all__ = ["present_cases"]


def present_cases(
    *groups: Callable[[], Iterable[Case]],
    lacking: tuple[type[Exception], ...] = (AttributeError, TypeError, ValueError),
) -> Iterator[Case]:
    """Yield the cases of all groups that this version of a library can build.

    A group ends at the first case that an older version cannot build, with a line on standard error.

    Parameters
    ----------
    *groups : callable
        Functions that return cases, the newest features of the library last.
    lacking : tuple of exceptions
        Exceptions that indicate a missing feature.

    Examples
    --------
    >>> from dpassay.adapter import Nonsense
    >>> def refusals():
    ...     yield Nonsense("first", {})
    >>> [case.name for case in present_cases(refusals)]
    ['first']
    """
    for group in groups:
        try:
            yield from group()
        except lacking as error:
            sys.stderr.write(f"skipped the remaining cases of {group.__name__}: {error}\n")
