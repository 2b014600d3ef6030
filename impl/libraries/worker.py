"""The worker: runs an adapter in the interpreter of its library and answers requests, a JSON line each.

Started as ``python worker.py ADAPTER.py``. It needs the standard library, and what the adapter imports. Requests and
replies carry an ``id``; the first line that it writes is a greeting with the versions. What the library prints goes
to standard error: standard output belongs to the protocol.

Requests: ``describe``; ``sample`` (case, data, size, seed or null, apart); ``law`` and ``noiseless`` (case, data);
``answer`` (case, arguments); ``attempt`` (case, attempt). A reply holds ``value`` or ``error`` (type and message).
"""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import queue
import sys
import threading
import time
import types
from importlib import metadata
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent


def install_adapter_modules() -> None:
    """Let ``dpassay.impl.libraries.kit`` and ``.wire`` be imported where dpassay is not installed."""
    try:
        import dpassay.impl.libraries.wire  # noqa: F401  # an adapter may live where dpassay does
    except Exception:  # noqa: BLE001  # absent, or made for another version of Python: as good as absent
        for name in [name for name in sys.modules if name.split(".")[0] == "dpassay"]:
            del sys.modules[name]
        for name in ("dpassay", "dpassay.impl", "dpassay.impl.libraries"):
            package = types.ModuleType(name)
            package.__path__ = [str(HERE)] if name.endswith("libraries") else []
            sys.modules[name] = package


def load_adapter(path: Path) -> tuple[str, list[Any]]:
    """Run the adapter's file and return the distribution that it adapts (its ``LIBRARY``) and its cases.

    Raises
    ------
    ValueError
        If two cases have one name, or there is none.
    """
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location("dpassay_adapter", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["dpassay_adapter"] = module
    spec.loader.exec_module(module)
    cases = list(module.cases() if hasattr(module, "cases") else module.CASES)
    names = [case.name for case in cases]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated or not names:
        raise ValueError(f"an adapter needs cases of different names, got {repeated or 'none'}")
    return str(module.LIBRARY), cases


def installed_version(library: str) -> str | None:
    """Return the version of a distribution, None where it is not installed as one."""
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return None


class Adapter:
    """Answers requests about the cases of an adapter."""

    def __init__(self, cases: list[Any]) -> None:
        self._cases = {case.name: case for case in cases}

    def answer(self, request: dict[str, Any]) -> Any:
        """Carry out one request and return its value as JSON."""
        from dpassay.impl.libraries.wire import decode, encode

        what = request["do"]
        if what == "describe":
            return [_described(case) for case in self._cases.values()]
        case = self._cases[request["case"]]
        if what == "sample":
            if request.get("seed") is not None and case.seed is not None:
                case.seed(request["seed"])
            return encode(case.draw(list(decode(request["data"])), request["size"], request.get("apart", False)))
        if what in {"law", "noiseless"}:
            return encode(getattr(case, what)(list(decode(request["data"]))))
        if what == "answer":
            return encode(case.compute(**decode(request["arguments"])))
        if what == "attempt":
            return encode(case.attempts[request["attempt"]]())
        raise ValueError(f"unknown request {what!r}")


def _described(case: Any) -> dict[str, Any]:
    try:
        described: dict[str, Any] = case.describe()
    except BaseException as error:  # noqa: BLE001  # a claim that the library cannot state is reported, the others go on
        return {"kind": "broken", "name": case.name, "error": f"{type(error).__name__}: {error}"}
    return described


def arriving(requests: Any) -> queue.SimpleQueue[str | None]:
    """Return a queue of the lines that arrive, with None after the last one.

    A worker must not outlive its parent, also while the library computes: when the parent is gone, so is the worker.
    """
    lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    parent = os.getppid()

    def forward() -> None:
        for line in requests:
            lines.put(line)
        lines.put(None)
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=forward, daemon=True).start()
    return lines


def serve(adapter: Adapter, requests: queue.SimpleQueue[str | None], replies: Any) -> None:
    """Answer line by line until the input ends."""
    for line in iter(requests.get, None):
        request = json.loads(line)
        try:
            reply: dict[str, Any] = {"id": request["id"], "value": adapter.answer(request)}
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001  # whatever a library raises goes to the parent, a panic too
            reply = {"id": request["id"], "error": {"type": type(error).__name__, "message": str(error)[:2000]}}
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


def main(arguments: list[str]) -> int:
    """Load the adapter, greet, serve."""
    # the folder of this script holds folders named like libraries, which must not shadow them
    sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != HERE]
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print must not come between the lines of the protocol
    requests = os.fdopen(os.dup(0), encoding="utf-8")
    with open(os.devnull) as nothing:  # noqa: PTH123  # nor may they read, or close, what the parent writes
        os.dup2(nothing.fileno(), 0)
    install_adapter_modules()
    greeting: dict[str, Any] = {"python": platform.python_version()}
    adapter = None
    try:
        library, cases = load_adapter(Path(arguments[0]))
        greeting |= {"library": library, "version": installed_version(library)}
        adapter = Adapter(cases)
    except BaseException as error:  # noqa: BLE001  # an import may do anything; the parent tells the user
        greeting["error"] = {"type": type(error).__name__, "message": str(error)[:2000]}
    replies.write(json.dumps({"greeting": greeting}) + "\n")
    replies.flush()
    if adapter is None:
        return 1
    serve(adapter, arriving(requests), replies)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
