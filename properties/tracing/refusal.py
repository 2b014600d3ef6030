"""Refusals: operations on noise that have no exact counterpart, named with file and line.

A refusal is not an exception of the mechanism. It derives from BaseException, so that ``except Exception`` does not
swallow it, and it is sticky: the run in which it was raised counts as refused, whatever the code does afterwards.
"""

import sys
import sysconfig
import threading
from pathlib import Path
from types import FrameType, FunctionType
from typing import Any, NoReturn

import numpy as np

from dpassay.properties.outcomes.raised import raised_words

__all__ = [
    "Refusal",
    "active",
    "caller",
    "forget_frames",
    "original_of",
    "place_of",
    "placed",
    "refuse",
    "require_exception",
]

_PACKAGE = str(Path(__file__).parents[2])
_TARGETS = str(Path(__file__).parents[2] / "impl")
"""The mechanisms of the package are code under test, too."""
_NUMPY = str(Path(np.__file__).parent)
_STANDARD = sysconfig.get_paths()["stdlib"]
_INSTALLED = "site-packages"


class Refusal(BaseException):
    """An operation that tracing does not answer.

    Parameters
    ----------
    operation : str
        The operation, in words.
    place : str
        File and line of the code under test; empty if it is not a matter of one line.

    Attributes
    ----------
    on_lattice : bool
        Whether geometric noise was drawn as noise on a lattice: drawn trial by trial, it may support the operation.
    is_final : bool
        Whether no other input and no other way to trace helps.
    """

    def __init__(self, operation: str, place: str) -> None:
        super().__init__(placed(operation, place))
        self.operation = operation
        self.place = place
        self.on_lattice = False
        self.is_final = False


class _Active(threading.local):
    """The run that is under way in this thread, and the tape that it draws from: on numbers there is no run."""

    run: Any = None
    tape: Any = None


active = _Active()


def refuse(operation: str, place: str | None = None) -> NoReturn:
    """Raise a refusal, and mark the run that is under way as refused."""
    refusal = Refusal(operation, caller() if place is None else place)
    if active.run is not None and active.run.refusal is None:
        active.run.refusal = refusal
    raise refusal


def require_exception(error: BaseException) -> None:
    """Refuse what the code under test raises to end more than a function, such as `SystemExit`.

    Samples say how a call that exits looks from outside. Ctrl-C, which Python raises in the main thread, passes.
    """
    if isinstance(error, Exception):
        return
    if isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread():
        raise error
    refuse(f"raises {raised_words(error)}", place_of(error))


def original_of(function: Any) -> Any:
    """Return what a function replaces that a trace put in its place; other values as they are.

    A trace that was left behind, because its target hangs, or that was interrupted while it ended, may leave some.
    """
    while isinstance(function, FunctionType) and "replaces" in vars(function):
        function = vars(function)["replaces"]
    return function


def forget_frames(error: BaseException | None) -> None:
    """Remove the frames from an exception that is kept: they refer to noisy values, and these to their run.

    The garbage collector does not look into arrays, so that such a cycle would live for ever.
    """
    if error is not None:
        error.__traceback__ = error.__context__ = None


def placed(words: str, place: str) -> str:
    """Return words behind the place that they are about, if there is one."""
    return f"{place}: {words}" if place else words


def caller() -> str:
    """Return file and line of the innermost frame of the code under test; empty if none of it is on the stack.

    That is neither our own code, nor numpy's, nor the standard library's; that of installed packages only if nothing
    else is there.
    """
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - the documented way to the stack
    installed = ""
    while frame is not None:
        name = frame.f_code.co_filename
        if not _is_foreign(name):
            place = f"{Path(name).name}:{frame.f_lineno}"
            if _INSTALLED not in name:
                return place
            installed = installed or place
        frame = frame.f_back
    return installed


def place_of(error: BaseException) -> str:
    """Return file and line of the innermost frame of the code under test that an exception went through, if any."""
    place, step = "", error.__traceback__
    while step is not None:
        name = step.tb_frame.f_code.co_filename
        if not _is_foreign(name) and _INSTALLED not in name:
            place = f"{Path(name).name}:{step.tb_lineno}"
        step = step.tb_next
    return place


def _is_foreign(name: str) -> bool:
    if name.startswith(_PACKAGE):
        return not name.startswith(_TARGETS)
    if name.startswith((_NUMPY, "<frozen", "<__array_function__")):
        return True
    return name.startswith(_STANDARD) and _INSTALLED not in name
