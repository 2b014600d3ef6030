"""The session of this process with a library: where the library runs, its open worker, and its cases.

A plan and the checks that run in its process use one session: it takes some seconds to describe the cases of a large
library.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dpassay.impl.libraries.registry import is_older_than_locked
from dpassay.impl.libraries.remote import BrokenCase, RemoteCase, open_library
from dpassay.impl.libraries.worker_process import Worker

__all__ = ["Session", "Target", "close_session", "open_session"]


@dataclass(frozen=True)
class Target:
    """Where a library runs: the interpreter, the file of the adapter, and the time limit of a request in seconds."""

    python: str
    adapter: str
    isolated: bool = False
    timeout: float = 60.0

    def worker(self, *, records: bool = False) -> Worker:
        """Return a worker that is not started yet; see there for `records`."""
        return Worker(self.python, self.adapter, timeout=self.timeout, isolated=self.isolated, records=records)


@dataclass(frozen=True)
class Session:
    """An open worker, and the cases of the library by their names, in the order of the adapter."""

    target: Target
    worker: Worker
    cases: Mapping[str, RemoteCase]


_sessions: list[Session] = []
"""The session of this process, at most one."""


def open_session(target: Target) -> Session:
    """Return the session of this process with a library; it ends a session with another one.

    Raises
    ------
    WorkerError, WorkerLostError
        If the library or its adapter cannot describe its cases.
    UsageError
        If the worker cannot be started.
    """
    if _sessions and _sessions[0].target == target:
        return _sessions[0]
    close_session()
    worker = target.worker()
    try:
        cases = {case.name: case for case in (*open_library(worker), *_not_built(target, worker))}
    except BaseException:
        worker.close()
        raise
    _sessions.append(Session(target, worker, cases))
    return _sessions[0]


def _not_built(target: Target, worker: Worker) -> list[BrokenCase]:
    """Return a broken case for each group of cases that an adapter left out, unless the version is an older one."""
    if is_older_than_locked(worker.greeting["version"], Path(target.adapter)):
        return []
    return [
        BrokenCase(worker, {"kind": "broken", "name": f"cases not built: {group}", "error": reason})
        for group, reason in worker.greeting["skipped"]
    ]


def close_session() -> None:
    """End the session of this process, if there is one."""
    while _sessions:
        _sessions.pop().worker.close()
