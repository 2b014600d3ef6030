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

__all__ = ["SKIPPED", "present_cases"]

SKIPPED: list[tuple[str, str]] = []
"""Groups whose remaining cases were left out in this process, each with the reason."""


def present_cases(
    *groups: Callable[[], Iterable[Case]],
    lacking: tuple[type[Exception], ...] = (AttributeError, TypeError, ValueError),
) -> Iterator[Case]:
    """Yield the cases of all groups that this version of a library can build.

    A group ends at the first case that an older version cannot build, with a line on standard error. An assay reports
    such a group as undecided, unless the version is older than the newest one that is locked beside the adapter.

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
            SKIPPED.append((group.__name__, f"{type(error).__name__}: {error}"))
            sys.stderr.write(f"skipped the remaining cases of {group.__name__}: {error}\n")
