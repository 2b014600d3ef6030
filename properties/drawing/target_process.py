"""A target in a process of its own: a target that exits, crashes or hangs does not take the program with it.

The process loads the target once and then carries out functions of this package on it; see
:mod:`dpassay.properties.drawing.target_worker` for its program. It costs about half a second of processor time to
start.
"""

import math
import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, TypeVar

import cloudpickle

from dpassay.arguments import UsageError
from dpassay.mechanism import SamplerLostError
from dpassay.properties.drawing.call_guard import CALL_TIMEOUT, CallTimeoutError
from dpassay.properties.drawing.target_worker import ALIVE_SECONDS, MessageKind, load
from dpassay.properties.outcomes.calls import Sampler, sampler_of

__all__ = [
    "IMPORT_TIMEOUT",
    "RemoteSampler",
    "TargetExitError",
    "TargetProcess",
    "WorkersLostError",
    "ask",
    "processor_seconds",
]

IMPORT_TIMEOUT = 60.0
"""Seconds that importing the target may take unless stated otherwise."""

_GRACE_SECONDS = 10.0
"""Seconds beyond the time limit of a call after which a silent process counts as hanging: its code lets no other
thread run."""

_EXIT_SECONDS = 5.0
"""Time that the process gets to end by itself before it is killed."""


T = TypeVar("T")


class WorkersLostError(Exception):
    """A process that draws is lost: it ended, it was killed, or the cluster was lost."""


class TargetExitError(SamplerLostError):
    """A target in this very process tried to end it."""


class TargetProcess:
    """A process that holds one target.

    Parameters
    ----------
    loader : callable
        Makes the target; a value that can be pickled.
    description : str
        The target, for messages.
    import_timeout, call_timeout : float
        Seconds that the loader and each call of the target may take.

    Raises
    ------
    UsageError
        If the target cannot be loaded, or not in time, or ends the process meanwhile.
    """

    def __init__(
        self,
        loader: Callable[[], Any],
        description: str,
        *,
        import_timeout: float = IMPORT_TIMEOUT,
        call_timeout: float = CALL_TIMEOUT,
    ) -> None:
        self._description, self._call_timeout = description, call_timeout
        self._loader, self._import_timeout = loader, import_timeout
        self._spent, self._spent_before = 0.0, 0.0
        self._start()

    def _start(self) -> None:
        self._process = subprocess.Popen(  # noqa: S603  # our own interpreter and program
            _command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._inbox: queue.SimpleQueue[tuple[MessageKind, Any, float] | None] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._receive, daemon=True)
        self._reader.start()
        try:
            self._load(self._loader, self._import_timeout)
        except BaseException:
            self.close()
            raise

    def restart(self) -> None:
        """End the process and load the target in a new one.

        Raises
        ------
        UsageError
            If the target cannot be loaded again.
        """
        self.close()
        self._start()

    @property
    def processor_seconds(self) -> float:
        """The processor time of the process, and of those that it took the place of, up to the last answer."""
        return self._spent_before + self._spent

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def ask(self, function: Callable[..., T], *arguments: Any) -> T:
        """Return ``function(target, *arguments)``, computed by the process.

        Raises
        ------
        UsageError, CallTimeoutError
            If the function raises it.
        WorkersLostError
            If the process ends or does not answer.
        """
        self._send(function, arguments)
        result: T = self._answer(_Deadline(silence=self._call_timeout + _GRACE_SECONDS))
        return result

    def close(self) -> None:
        """End the process, whatever it is doing."""
        self._spent_before, self._spent = self.processor_seconds, 0.0
        self._process.kill()
        self._process.wait()
        self._reader.join(_EXIT_SECONDS)
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None and not (stream is self._process.stdout and self._reader.is_alive()):
                _close_quietly(stream)

    def _load(self, loader: Callable[[], Any], import_timeout: float) -> None:
        try:
            self._send(load, (loader,))
            self._answer(_Deadline(total=import_timeout))
        except CallTimeoutError:
            raise UsageError(
                f"target {self._description!r}: import did not finish within {import_timeout:g} s "
                "(--import-timeout, import_timeout_seconds)"
            ) from None
        except WorkersLostError as error:
            raise UsageError(f"target {self._description!r}: during import, {error}") from None

    def _send(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        message = cloudpickle.dumps((function, arguments))
        try:
            assert self._process.stdin is not None
            self._process.stdin.write(message)
            self._process.stdin.flush()
        except (OSError, ValueError):  # the pipe is broken, or was closed here
            raise self._lost() from None

    def _receive(self) -> None:
        assert self._process.stdout is not None
        while True:
            try:
                self._inbox.put(pickle.load(self._process.stdout))  # noqa: S301  # made by the process started here
            except Exception:  # noqa: BLE001  # the process ended, maybe in the middle of a message
                self._inbox.put(None)
                return

    def _answer(self, deadline: "_Deadline") -> Any:
        try:
            kind, value = self._next_message(deadline)
        except BaseException:  # later answers would belong to other questions
            self._process.kill()
            raise
        if kind is MessageKind.REFUSAL:
            raise value
        if kind is MessageKind.FAULT:
            raise RuntimeError(f"target {self._description!r}: {value.rstrip()}")
        return value

    def _next_message(self, deadline: "_Deadline") -> tuple[MessageKind, Any]:
        while True:
            try:
                message = self._inbox.get(timeout=ALIVE_SECONDS)
            except queue.Empty:
                deadline.check()
                if self._process.poll() is not None and self._inbox.empty():
                    raise self._lost() from None
                continue
            if message is None:
                raise self._lost()
            deadline.heard()
            kind, value, self._spent = message
            if kind is not MessageKind.ALIVE:
                return kind, value
            deadline.check()

    def _lost(self) -> WorkersLostError:
        try:
            status = self._process.wait(_EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            return WorkersLostError("the target closed the connection of its process")
        if status >= 0:
            return WorkersLostError(f"the target exited its process with status {status}")
        return WorkersLostError(f"the process of the target was killed by {_signal_name(-status)}")


class _Deadline:
    """The time for an answer: in total, or for which the process may be silent."""

    def __init__(self, *, total: float = math.inf, silence: float = math.inf) -> None:
        self._end, self._silence = time.monotonic() + total, silence
        self._last = time.monotonic()

    def heard(self) -> None:
        self._last = time.monotonic()

    def check(self) -> None:
        now = time.monotonic()
        if now >= self._end:
            raise CallTimeoutError
        if now - self._last >= self._silence:
            raise CallTimeoutError(
                f"the target hangs: its process did not respond for {self._silence:g} s, and its code "
                "blocks all other threads"
            )


@dataclass(frozen=True)
class RemoteSampler:
    """The sampler of a target that another process holds.

    Parameters
    ----------
    process : TargetProcess
        Holds the target.
    wrap : callable, optional
        Made from its sampler, the one that is meant; a value that can be pickled.
    """

    process: TargetProcess
    wrap: Callable[[Sampler], Sampler] | None = None

    def ask(self, function: Callable[..., T], *arguments: Any) -> T:
        """Return ``function(sampler, *arguments)``, computed by the process."""
        answer: T = self.process.ask(_on_sampler, self.wrap, function, *arguments)
        return answer


def ask(sampler: Sampler | RemoteSampler, function: Callable[..., T], *arguments: Any) -> T:
    """Return ``function(sampler, *arguments)``, computed where the sampler is."""
    if isinstance(sampler, RemoteSampler):
        return sampler.ask(function, *arguments)
    return function(sampler, *arguments)


def processor_seconds(sampler: Sampler | RemoteSampler) -> float:
    """Return the processor time of this process and of the one that holds the sampler, up to its last answer."""
    return time.process_time() + (sampler.process.processor_seconds if isinstance(sampler, RemoteSampler) else 0.0)


def _on_sampler(
    target: Any, wrap: Callable[[Sampler], Sampler] | None, function: Callable[..., T], *arguments: Any
) -> T:
    sampler = sampler_of(target)
    return function(sampler if wrap is None else wrap(sampler), *arguments)


def _command() -> list[str]:
    """Return the command of a process that finds modules where this one does, and warns as this one does."""
    paths = [path for path in sys.path if isinstance(path, str)]
    program = f"import sys; sys.path[:] = {paths!r}; from dpassay.properties.drawing.target_worker import main; main()"
    return [sys.executable, *(f"-W{option}" for option in sys.warnoptions), "-c", program]


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _close_quietly(stream: Any) -> None:
    try:
        stream.close()
    except OSError:  # what was not sent cannot be sent any more
        return
