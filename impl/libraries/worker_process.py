"""The process of a worker: another interpreter that has loaded an adapter and answers requests in JSON lines.

It may crash or hang, which loses a request and is no observation; what the library raises comes back as an exception
with the name of the library's own.
"""

import builtins
import json
import math
import os
import queue
import subprocess
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from dpassay.arguments import UsageError, require_positive
from dpassay.mechanism import SamplerLostError

__all__ = ["PORTION_SECONDS", "Worker", "WorkerError", "WorkerLostError", "error_named"]

PORTION_SECONDS = 1.0
"""Time that the requests of one message take, about: many slow ones are no hung worker."""

_WORKER = Path(__file__).with_name("worker.py")
_STARTUP_SECONDS = 120.0  # a library may import for a long time when its files are cold
_KEPT_LINES = 20
_LEAST_PATIENCE = 1.0
_FIRST_TOGETHER, _MOST_TOGETHER = 16, 256  # requests in one message


class WorkerError(Exception):
    """The library, or its adapter, raised.

    Attributes
    ----------
    type, message : str
        The name of its exception, and what it says.
    is_own : bool
        Whether the exception tells of a mistake in the adapter's own code.
    is_unasked : bool
        Whether the adapter raised on purpose, in place of the library.
    """

    def __init__(
        self,
        type: str,  # noqa: A002  # the word of the protocol
        message: str,
        is_own: bool = False,
        is_unasked: bool = False,
    ) -> None:
        super().__init__(message)
        self.type = type
        self.message = message
        self.is_own = is_own
        self.is_unasked = is_unasked

    def __str__(self) -> str:
        return f"{self.type}: {self.message}"


class WorkerLostError(SamplerLostError):
    """The worker crashed or did not answer in time; nothing was observed. The next request starts another worker.

    Parameters
    ----------
    reason : str
        How it was lost.
    is_late : bool
        Whether the deadline alone caused it.
    """

    def __init__(self, reason: str, is_late: bool = False) -> None:
        super().__init__(reason, is_late)
        self.reason, self.is_late = reason, is_late

    def __str__(self) -> str:
        return self.reason


class Worker:
    """A process of another interpreter that has loaded an adapter.

    A worker that crashes or hangs loses the request, which raises `WorkerLostError`, and is started again by the next
    request. One thread at a time may use it.

    Parameters
    ----------
    python : str or Path
        The interpreter of the library.
    adapter : str or Path
        The adapter's file.
    timeout : float
        Seconds after which a request counts as hung.
    isolated : bool
        Whether the interpreter ignores the environment's ``PYTHON...`` variables and the user's packages.
    records : bool
        Whether the worker records the calls of the adapter, for the request ``call``; it is slower then.

    Attributes
    ----------
    greeting : dict
        ``library``, ``version`` (None where it is not installed as a distribution), ``python``, and ``skipped``: the
        groups of cases that the adapter left out, each with the reason.
    losses : list of str
        The reason of each loss of the worker.
    waits : list of float
        Seconds for which each lost request was waited for; infinite if the process ended. Of one that was given up
        at the deadline while it computed, the seconds of processor time that it had.
    deadline : float
        On the clock of `time.monotonic`; a request that takes longer is given up like one that hangs, and later ones
        raise `WorkerLostError` without being sent.
    """

    def __init__(
        self,
        python: str | Path,
        adapter: str | Path,
        *,
        timeout: float = 60.0,
        isolated: bool = False,
        records: bool = False,
    ) -> None:
        self._command = [
            str(python),
            *(["-I"] if isolated else []),
            "-u",
            str(_WORKER),
            str(Path(adapter).resolve()),
            *(["--record"] if records else []),
        ]
        self._path = str(Path(adapter).resolve())
        self._timeout = require_positive("timeout", timeout)
        self._process: _Process | None = None
        self._next_id = 0
        self.greeting: dict[str, Any] = {}
        self.losses: list[str] = []
        self.waits: list[float] = []
        self.deadline = math.inf

    def __enter__(self) -> Self:
        self._start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process = None

    def request(self, do: str, **fields: Any) -> Any:
        """Send a request (see the worker) and return its value as JSON.

        Raises
        ------
        WorkerError
            If the library raised.
        WorkerLostError
            If the worker crashed or did not answer in time, or the deadline has passed.
        UsageError
            If it cannot be restarted.
        """
        if time.monotonic() > self.deadline:
            raise WorkerLostError("the time limit of the check was reached", is_late=True)
        if self._process is None:
            self._start()
        assert self._process is not None
        self._next_id += 1
        patience = min(self._timeout, max(self.deadline - time.monotonic(), _LEAST_PATIENCE))
        before = self._process.processor_time()
        try:
            reply = self._process.exchange({"id": self._next_id, "do": do, **fields}, patience)
        except _LostError as error:
            about = f" ({fields['case']})" if "case" in fields else ""
            reason = f"the worker {error} during {do}{about}"
            self.losses.append(reason)
            is_waiting = isinstance(error, _NoAnswerError)
            is_late = is_waiting and patience < self._timeout
            after = self._process.processor_time()
            # a busy machine gives little time to a process that would answer
            had = after[1] - before[1] if before and after and after[0] and is_late else patience
            self.waits.append(had if is_waiting else math.inf)
            self.close()
            raise WorkerLostError(reason, is_late=is_late) from None
        except BaseException:  # interrupted between request and reply: the next reply would be the wrong one
            self.close()
            raise
        if "error" in reply:
            raise error_named(**reply["error"])
        return reply["value"]

    def each(self, requests: Sequence[Mapping[str, Any]]) -> Iterator[Any]:
        """Send several requests together and yield the value of each, or the `WorkerError` that it raised.

        They are sent in portions of about a second: many slow requests are no hung worker.

        Parameters
        ----------
        requests : sequence of mapping
            The fields of each request, ``do`` included.

        Raises
        ------
        WorkerLostError, UsageError
            As for `request`.
        """
        waiting, portion = list(requests), _FIRST_TOGETHER
        while waiting:
            start = time.perf_counter()
            for reply in self._replies_to(waiting[:portion]):
                yield error_named(**reply["error"]) if "error" in reply else reply["value"]
            seconds, waiting = max(time.perf_counter() - start, 1e-6), waiting[portion:]
            portion = max(1, min(int(portion * PORTION_SECONDS / seconds), 4 * portion, _MOST_TOGETHER))

    def _replies_to(self, requests: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        about = {"case": requests[0]["case"]} if "case" in requests[0] else {}
        return list(self.request("each", requests=list(requests), **about))

    def _start(self) -> None:
        python = self._command[0]
        try:
            self._process = _Process(self._command)
        except OSError as error:
            raise UsageError(
                f"--python {python!r} is not an interpreter that can be started: {error.strerror}"
            ) from None
        try:
            greeting = self._process.read(max(self._timeout, _STARTUP_SECONDS))["greeting"]
        except (_LostError, KeyError) as error:
            self.close()
            raise UsageError(f"{python!r} does not run the worker: it {error}") from None
        if "error" in greeting:
            self.close()
            kind, message = greeting["error"]["type"], greeting["error"]["message"]
            remedy = "; install the library there" if kind in {"ImportError", "ModuleNotFoundError"} else ""
            raise UsageError(
                f"the adapter {self._path!r} does not load in {python!r} (Python {greeting['python']}): "
                f"{kind}: {message}{remedy}"
            )
        self.greeting = greeting


class _LostError(Exception):
    """A lost process; the message is the predicate of a sentence about it."""


class _NoAnswerError(_LostError):
    """A process that did not answer in time."""


class _Process:
    """A process with a JSON-lines protocol, read by threads so that reading can time out."""

    def __init__(self, command: Sequence[str]) -> None:
        self._popen = subprocess.Popen(  # noqa: S603  # the interpreter that the user named
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,  # an interruption from the keyboard is for the parent, which ends the worker
        )
        assert self._popen.stdin is not None
        self._requests = self._popen.stdin
        self._replies: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._complaints: deque[str] = deque(maxlen=_KEPT_LINES)
        self._threads = [
            threading.Thread(target=self._forward, args=(self._popen.stdout,), daemon=True),
            threading.Thread(target=self._keep, args=(self._popen.stderr,), daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def _forward(self, stream: IO[str]) -> None:
        for line in stream:
            self._replies.put(line)
        self._replies.put(None)

    def _keep(self, stream: IO[str]) -> None:
        for line in stream:
            if line.strip():
                self._complaints.append(line.strip()[:500])

    def exchange(self, request: Mapping[str, Any], timeout: float) -> dict[str, Any]:
        """Send a request and return the reply to it."""
        try:
            self._requests.write(json.dumps(request) + "\n")
            self._requests.flush()
        except OSError:
            raise _LostError(self._ending()) from None
        reply = self.read(timeout)
        if reply.get("id") != request["id"]:
            raise _LostError("sent an unexpected answer")
        return reply

    def read(self, timeout: float) -> dict[str, Any]:
        """Return the next line that the process writes."""
        try:
            line = self._replies.get(timeout=timeout)
        except queue.Empty:
            raise _NoAnswerError(f"did not answer within {timeout:.3g} s") from None
        if line is None:
            raise _LostError(self._ending())
        try:
            reply = json.loads(line)
        except ValueError:
            reply = None
        if not isinstance(reply, dict):
            raise _LostError(f"wrote {line.strip()[:100]!r}, which is not a protocol message")
        return reply

    def processor_time(self) -> tuple[bool, float] | None:
        """Return whether the process computes, or would, and the seconds that it had; None where nothing tells."""
        try:
            told = Path(f"/proc/{self._popen.pid}/stat").read_text(encoding="utf-8", errors="replace")
        except OSError:  # it has ended, or the system has no such files
            return None
        # after the name, which is in parentheses: the state, and ten places later the times in user and system mode
        state, *numbers = told.rpartition(")")[2].split()
        return state == "R", sum(map(int, numbers[10:12])) / os.sysconf("SC_CLK_TCK")

    def _ending(self) -> str:
        try:
            status = self._popen.wait(timeout=10)
        except subprocess.TimeoutExpired:
            return "closed its output"
        self._threads[1].join(timeout=1)
        last = f": {self._complaints[-1]}" if self._complaints else ""
        return f"was killed by signal {-status}{last}" if status < 0 else f"ended with status {status}{last}"

    def kill(self) -> None:
        """End the process and its reading thread."""
        self._popen.kill()
        self._popen.wait()
        for thread in self._threads:
            thread.join(timeout=1)  # a grandchild may hold the other end of a pipe
        for stream in (self._popen.stdin, self._popen.stdout, self._popen.stderr):
            if stream is not None:
                _close(stream)


def _close(stream: IO[str]) -> None:
    try:
        stream.close()
    except OSError:
        return  # what was left to flush has no reader any more


def error_named(
    type: str,  # noqa: A002  # as above
    message: str,
    is_own: bool = False,
    is_unasked: bool = False,
) -> WorkerError:
    """Return a `WorkerError` whose class has the name of the exception of the library.

    Parameters
    ----------
    type, message, is_own, is_unasked
        As for `WorkerError`.
    """
    error_class = builtins.type(type, (WorkerError,), {})
    error: WorkerError = error_class(type, message, is_own, is_unasked)
    return error
