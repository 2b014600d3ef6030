"""Calls that a library must refuse, also by not answering in time."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["Nonsense", "Refused", "answer_in_time"]


class Refused(ValueError):  # noqa: N818  # a word of adapters
    """Raised by an adapter where the answer of the library is as good as a refusal, such as an infinite loss.

    Any other exception from the adapter's own lines says that the library was not asked, except those of compiled
    functions of the library that a case names in its `refused_by`.
    """


@dataclass(frozen=True)
class Nonsense:
    """Invalid calls that a library must reject; each attempt that returns without raising is a finding.

    Parameters
    ----------
    name : str
        Unique in the adapter, such as ``Laplace``.
    attempts : mapping
        Description such as ``epsilon=-1``, to a function without arguments that makes the call (and uses the result,
        because a parameter may be checked late). The library must raise, or the adapter `Refused`.
    refused_by : tuple of str
        Names of the exceptions by which compiled functions of the library refuse, such as ``ValueError``. Compiled
        code leaves no frame in a traceback, so that its exceptions are not told from those of the adapter's line.
    """

    name: str
    attempts: Mapping[str, Callable[[], Any]]
    refused_by: tuple[str, ...] = ()

    def describe(self) -> dict[str, Any]:
        """Return the description that the parent process reads."""
        return {"kind": "nonsense", "name": self.name, "attempts": list(self.attempts)}


def answer_in_time(ask: Callable[[], Any], *, seconds: int = 2) -> Any:
    """Make a call that may hang, first in a child process with a time limit.

    Parameters
    ----------
    ask : callable
        An attempt of `Nonsense`.
    seconds : int
        Time limit.

    Returns
    -------
    object
        The answer, or text that states that there was none.

    Raises
    ------
    Exception
        The exception of `ask`, which is a refusal.
    """
    child = os.fork()
    if not child:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(seconds)
        try:
            ask()
        except BaseException:  # noqa: BLE001  # any exception is a refusal; none may leave the child
            os._exit(1)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        return f"no answer in {seconds} s" if os.WTERMSIG(status) == signal.SIGALRM else "the process died"
    return ask()
