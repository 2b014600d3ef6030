"""The program of a process that holds a target: it loads the target and answers requests about it.

The parent's side is :mod:`dpassay.properties.drawing.target_process`. Requests come in on standard input and answers
go out on standard output, both as pickles; an answer has the processor time of the process so far. The target itself
has an empty standard input, and its standard output is standard error.
"""

import os
import pickle
import queue
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from enum import Enum
from io import BytesIO
from typing import Any, BinaryIO

__all__ = ["ALIVE_SECONDS", "MessageKind", "main"]

ALIVE_SECONDS = 1.0
"""Interval at which the process says that it is alive while it works on a request."""

_PLAIN: dict[type, Callable[[Any], Any]] = {
    int: int.__int__, float: float.__float__, str: str.__str__, bytes: lambda value: value[:],
}  # fmt: skip


class MessageKind(Enum):
    """Kinds of messages to the parent."""

    ALIVE = "alive"
    ANSWER = "answer"
    REFUSAL = "refusal"
    """An error of use: raised again by the parent."""
    FAULT = "fault"
    """An unexpected exception, as text with its traceback."""


def main() -> None:
    """Load the target that the first message names and answer requests until the parent closes the input."""
    requests, answers = _private_streams()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interruption is the parent's to handle: it ends this process
    inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(requests, inbox), daemon=True).start()
    outbox = _Outbox(answers)
    target: Any = None
    while True:
        function, arguments = inbox.get()
        with outbox.working():
            kind, value = _outcome_of(function, (target, *arguments))
        if function is load and kind is MessageKind.ANSWER:
            target, value = value, None
        outbox.send(kind, value)


def load(_: Any, loader: Callable[[], Any]) -> Any:
    """Return the target that a loader makes; the request with which a parent begins."""
    return loader()


def _private_streams() -> tuple[BinaryIO, BinaryIO]:
    """Separate the code of the target from standard input and output."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    return requests, answers


def _receive(requests: BinaryIO, inbox: "queue.SimpleQueue[Any]") -> None:
    """Queue the requests of the parent; without a parent the process ends, whatever the target is doing."""
    while True:
        try:
            message = pickle.load(requests)  # noqa: S301  # made by the process that asks
        except (EOFError, OSError):
            os._exit(0)
        inbox.put(message)


def _outcome_of(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[MessageKind, Any]:
    from dpassay.arguments import UsageError
    from dpassay.mechanism import SamplerLostError
    from dpassay.properties.drawing.call_guard import CallTimeoutError

    try:
        return MessageKind.ANSWER, function(*arguments)
    except (UsageError, CallTimeoutError, SamplerLostError) as error:
        return MessageKind.REFUSAL, error
    except BaseException:  # noqa: BLE001  # the parent raises it again
        return MessageKind.FAULT, traceback.format_exc()


class _Outbox:
    """Sends messages; while a request is worked on, also that the process is alive."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self._lock, self._busy = stream, threading.Lock(), threading.Event()
        threading.Thread(target=self._beat, daemon=True).start()

    def working(self) -> "_Working":
        return _Working(self._busy)

    def send(self, kind: MessageKind, value: Any) -> None:
        try:
            message = _packed((kind, value, time.process_time()))
        except Exception as error:  # noqa: BLE001  # whatever foreign objects raise when they are pickled
            words = f"an answer cannot be sent: {type(error).__name__}: {error}"
            message = _packed((MessageKind.FAULT, words, time.process_time()))
        try:
            with self._lock:
                self._stream.write(message)
                self._stream.flush()
        except OSError:  # the parent is gone
            os._exit(0)

    def _beat(self) -> None:
        while True:
            self._busy.wait()
            threading.Event().wait(ALIVE_SECONDS)
            if self._busy.is_set():
                self.send(MessageKind.ALIVE, None)


class _Working:
    def __init__(self, busy: threading.Event) -> None:
        self._busy = busy

    def __enter__(self) -> None:
        self._busy.set()

    def __exit__(self, *_: object) -> None:
        self._busy.clear()


class _Pickler(pickle.Pickler):
    """Sends words and numbers of the target's own types as plain ones: the parent does not have these types.

    Verdicts and other enumerations of this package keep their type.
    """

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, Enum) and type(obj).__module__.startswith("dpassay."):
            return NotImplemented
        plain = next((kind for kind in _PLAIN if isinstance(obj, kind)), None)
        return NotImplemented if plain is None else (plain, (_PLAIN[plain](obj),))


def _packed(message: tuple[MessageKind, Any, float]) -> bytes:
    stream = BytesIO()
    _Pickler(stream, protocol=pickle.HIGHEST_PROTOCOL).dump(message)
    return stream.getvalue()


if __name__ == "__main__":
    sys.exit("this program is started by dpassay.properties.drawing.target_process")
