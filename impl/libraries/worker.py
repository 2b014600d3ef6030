"""The worker: runs an adapter in the interpreter of its library and answers requests in JSON lines.

Started as ``python worker.py ADAPTER.py``. It needs the standard library, and what the adapter imports. Requests and
replies carry an ``id``; the first line that it writes is a greeting with the versions. What the library prints goes
to standard error: standard output belongs to the protocol.

Requests: ``describe``; ``sample`` (case, data, size, seed or null, one_by_one); ``draw`` (case, data: one outcome,
with what it raises as the error); ``distribution`` and ``noiseless`` (case, data); ``replay`` (case, pairs, shifts);
``member`` (case: the name of a member of a family); ``answer`` (case, arguments); ``attempt`` (case, attempt);
``relate`` (case, relation, seed); ``audit`` (case, scores, numbers, seed);
``public`` (modules: their public functions) and ``reached`` (a request about a case: the public functions that it
reaches); ``call`` (a request about a case: the library's own call behind it, if the worker was started with
``--record``); ``each`` (requests: a list of requests without ids; the value is a list of replies). A reply
holds ``value`` or ``error`` (type, message, `is_own`: whether the adapter's own code is broken, and `is_unasked`:
whether the adapter's own code raised, so that the library was not asked or did not refuse).
"""

from __future__ import annotations

import ast
import dis
import importlib.util
import inspect
import json
import math
import os
import platform
import queue
import re
import signal
import sys
import threading
import time
import types
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

HERE = Path(__file__).resolve().parent
_ADAPTER = Path(__file__).absolute().parents[2] / "adapter"  # not resolved: `impl` may be a link


def install_adapter_modules() -> None:
    """Make ``dpassay.adapter`` and ``dpassay.impl.libraries.codec`` importable if dpassay is not installed."""
    try:
        import dpassay.adapter
        import dpassay.impl.libraries.codec  # noqa: F401  # an adapter may live where dpassay does
    except Exception:  # noqa: BLE001  # absent, or made for another version of Python: as good as absent
        for name in [name for name in sys.modules if name.split(".")[0] == "dpassay"]:
            del sys.modules[name]
        for name in ("dpassay", "dpassay.impl", "dpassay.impl.libraries"):
            package = types.ModuleType(name)
            package.__path__ = [str(HERE)] if name.endswith("libraries") else []
            sys.modules[name] = package
        _load("dpassay.adapter", _ADAPTER / "__init__.py", [str(_ADAPTER)])


def _load(name: str, path: Path, folders: list[str] | None = None) -> types.ModuleType:
    """Run a file as a module of this name, or as a package with modules in some folders."""
    spec = importlib.util.spec_from_file_location(name, path, submodule_search_locations=folders)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def load_adapter(path: Path) -> tuple[str, list[Any]]:
    """Run the file of the adapter and return its distribution (``LIBRARY``) and its cases.

    Raises
    ------
    ValueError
        If the file has not the names of an adapter, or two cases have one name, or there is no case.
    """
    sys.path.insert(0, str(path.parent))
    module = _load("dpassay_adapter", path)
    if not hasattr(module, "LIBRARY") or not (hasattr(module, "CASES") or hasattr(module, "cases")):
        raise ValueError(
            f"{path.name} is no adapter: it needs LIBRARY, the name of a distribution, and CASES, a list of cases; "
            "`dpassay init adapter` writes one"
        )
    cases = list(module.cases() if hasattr(module, "cases") else module.CASES)
    names = [case.name for case in cases]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated or not names:
        raise ValueError(f"the cases of an adapter must have different names, got {repeated or 'none'}")
    return str(module.LIBRARY), cases


def skipped_groups() -> list[tuple[str, str]]:
    """Return the groups of cases that the adapter left out, each with the reason."""
    versions = sys.modules.get("dpassay.adapter.versions")
    return list(getattr(versions, "SKIPPED", ()))  # a dpassay that is installed there may be an older release


def installed_version(library: str) -> str | None:
    """Return the version of a distribution, None if it is not installed as one."""
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return None


class Adapter:
    """Answers requests about the cases of an adapter, whose own files tell its mistakes from refusals."""

    def __init__(self, cases: list[Any], recorder: Any = None, own_files: set[str] | None = None) -> None:
        self._own_files = own_files or set()
        self._cases = {case.name: case for case in cases}
        self._functions: Any = None
        self._recorder = recorder

    def _case(self, name: str) -> Any:
        """Return a case, or a member of a family by its name, which says its parameters."""
        if name not in self._cases:
            family, _, words = name.partition("(")
            call = ast.parse(f"f({words}", mode="eval").body
            assert isinstance(call, ast.Call)
            arguments = {str(one.arg): ast.literal_eval(one.value) for one in call.keywords}
            self._cases[name] = self._cases[family].member(arguments)
        return self._cases[name]

    def refused_by(self, request: dict[str, Any]) -> tuple[str, ...]:
        """Return the names of the exceptions by which compiled functions of the library refuse in this case."""
        return tuple(getattr(self._cases.get(request.get("case")), "refused_by", ()))

    def answer(self, request: dict[str, Any]) -> Any:  # noqa: PLR0911, PLR0912  # a line for each request
        """Handle one request and return its value as JSON."""
        from dpassay.impl.libraries.codec import decode, encode

        what = request["do"]
        if what == "describe":
            return [_described(case) for case in self._cases.values()]
        if what == "public":
            from dpassay.impl.libraries.public_functions import PublicFunctions

            self._functions = PublicFunctions(request["modules"])
            return {"kinds": self._functions.kinds(), "missing": self._functions.missing}
        if what == "reached":
            return self._functions.reached(lambda: self.answer(request["request"]))
        if what == "call":
            return self._recorder.text_of(lambda: decode(self.answer(request["request"])))
        case = self._case(request["case"])
        if what == "replay":
            from dpassay.impl.libraries.replaying import replay

            pairs = [(list(decode(left)), list(decode(right))) for left, right in request["pairs"]]
            return encode([replay(case, *pair, shift) for pair in pairs for shift in request["shifts"]])
        if what == "member":
            return case.describe()
        if what == "sample":
            if request.get("seed") is not None and case.seed is not None:
                case.seed(request["seed"])
            return encode(case.draw(list(decode(request["data"])), request["size"], request.get("one_by_one", False)))
        if what == "draw":
            return encode(case.draw_one(list(decode(request["data"]))))
        if what in {"distribution", "noiseless"}:
            return encode(getattr(case, what)(list(decode(request["data"]))))
        if what == "answer":
            return encode(case.compute(**decode(request["arguments"])))
        if what == "relate":
            return encode(_related(case, request["relation"], request["seed"], request.get("until_broken", False)))
        if what == "audit":
            from dpassay.impl.libraries.audits import audits

            def is_mistake(error: Exception) -> bool:
                return blame_for(error, self._own_files, self.refused_by(request))["is_own"]

            return encode(audits(case.bound, request["scores"], request["numbers"], request["seed"], is_mistake))
        if what == "attempt":
            return encode(case.attempts[request["attempt"]]())
        raise ValueError(f"unknown request {what!r}")


def _related(case: Any, relation: str, seed: int, until_broken: bool) -> dict[str, Any]:
    """Return what a relation compares; one that takes more than its processor time is broken."""
    from dpassay.impl.libraries.processor_time import EndlessError, within

    try:
        found: dict[str, Any] = within(case.seconds, lambda: case.compare(relation, seed, until_broken=until_broken))
    except EndlessError:
        words = "seconds of processor time, at which it had not ended"
        # no number of the library, whatever the others cost
        return {"compared": 1, "broken": [[words, 0.0, math.nextafter(case.seconds, math.inf), case.seconds, "time"]]}
    return found


_BROKEN = (NameError, AttributeError, ImportError)
_WRONG_CALLS = (
    "unexpected keyword argument",
    "required positional argument",
    "required keyword-only argument",
    "missing a required argument",
    "missing a required keyword-only argument",
    "too many positional arguments",
    "invalid keyword argument",
    "positional argument but",
    "positional arguments but",
    "takes no arguments",
    "is not callable",
)
"""Words by which Python, or `inspect.Signature.bind`, refuses a call that does not fit a signature."""
_UNEXPECTED = re.compile(r"unexpected keyword argument '(\w+)'")


def is_own_error(error: BaseException, own_files: set[str], refused_by: Sequence[str] = ()) -> bool:
    """Return whether an exception indicates a mistake in the adapter, not a refusal by the library.

    It does if it would end the process, or if it is a name that does not exist or a call that does not fit a
    signature, and the line that raised it is in one of the adapter's own files, or in a function of the library that
    only passes on what the adapter asks for: a decorated function, a class whose functions take any arguments, or a
    module that looks up its names.

    Parameters
    ----------
    error : BaseException
        The exception.
    own_files : set of str
        Files of the adapter.
    refused_by : sequence of str
        Names of the exceptions by which compiled functions of the library refuse.
    """
    if isinstance(error, (SystemExit, KeyboardInterrupt)):
        return type(error).__name__ not in refused_by
    if _own_instruction(error, own_files) is None:
        return _is_passed_on(error, own_files)
    if is_compiled_refusal(error, own_files, refused_by):
        return False
    return isinstance(error, _BROKEN) or _is_wrong_call(error)


def _is_passed_on(error: BaseException, own_files: set[str]) -> bool:
    """Return whether the library raised about a name, or the arguments of a call, that the adapter wrote."""
    frames = _frames_below(error, own_files)
    if not frames:
        return False
    if isinstance(error, AttributeError):
        return all(frame.f_code.co_name in {"__getattr__", "__getattribute__"} for frame in frames)
    if not _is_wrong_call(error):
        return False
    unexpected = _UNEXPECTED.search(str(error))
    if unexpected is not None:
        return unexpected[1] in _any_keywords(frames[0])
    return all(_passes_any_arguments(frame) for frame in frames)


def _frames_below(error: BaseException, own_files: set[str]) -> list[types.FrameType]:
    """Return the frames of the library that the last line of the adapter called; none if no such line is known."""
    frames, is_below, place = list[types.FrameType](), False, error.__traceback__
    while place is not None:
        if place.tb_frame.f_code.co_filename in own_files:
            frames, is_below = [], True
        elif is_below:
            frames.append(place.tb_frame)
        place = place.tb_next
    return frames


def _any_keywords(frame: types.FrameType) -> dict[str, Any]:
    """Return what a function got for its ``**`` parameter."""
    code = frame.f_code
    if not code.co_flags & inspect.CO_VARKEYWORDS:
        return {}
    place = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & inspect.CO_VARARGS)
    found = frame.f_locals.get(code.co_varnames[place])
    return found if isinstance(found, dict) else {}


def _passes_any_arguments(frame: types.FrameType) -> bool:
    """Return whether a function takes any arguments, or is the one that compares them with a signature."""
    both = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
    return frame.f_code.co_flags & both == both or frame.f_code.co_filename == inspect.__file__


def is_unasked(error: BaseException, own_files: set[str], refused_by: Sequence[str] = ()) -> bool:
    """Return whether the adapter's own code raised, on purpose or not: then the library did not refuse.

    A refusal comes out of the library: a frame of its code lies below that of the adapter. Compiled code has no
    frames; an adapter names the exceptions by which it refuses. An adapter that reads a refusal from an answer of the
    library raises `dpassay.adapter.Refused`. The parameters are those of :func:`is_own_error`.
    """
    from dpassay.adapter import Refused

    if isinstance(error, Refused) or _own_instruction(error, own_files) is None:
        return False
    return not is_compiled_refusal(error, own_files, refused_by)


def is_compiled_refusal(error: BaseException, own_files: set[str], refused_by: Sequence[str]) -> bool:
    """Return whether a call in the adapter's line raised an exception by which compiled functions refuse."""
    instruction = _own_instruction(error, own_files)
    is_call = instruction is not None and instruction.startswith("CALL")
    return is_call and type(error).__name__ in refused_by and not _is_wrong_call(error)


def _is_wrong_call(error: BaseException) -> bool:
    return isinstance(error, TypeError) and any(words in str(error) for words in _WRONG_CALLS)


def _own_instruction(error: BaseException, own_files: set[str]) -> str | None:
    """Return the instruction that raised, by its name in :mod:`dis`; None if it is not in one of the files."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    if place is None or place.tb_frame.f_code.co_filename not in own_files:
        return None
    return dis.opname[place.tb_frame.f_code.co_code[place.tb_lasti]]


def harness_files() -> set[str]:
    """Return the modules of dpassay that run in a worker: their exceptions are not refusals of the library."""
    folders = {HERE, Path(__file__).parent, _ADAPTER, *map(Path, sys.modules["dpassay.adapter"].__path__)}
    return {str(module) for folder in folders for module in folder.glob("*.py")}


def files_of(adapter: Path) -> set[str]:
    """Return the files of an adapter: its own, and the modules of its folder if that is not a package."""
    path = adapter.resolve()
    if (path.parent / "__init__.py").exists():
        return {str(adapter), str(path)}
    return {str(adapter), *(str(module) for module in path.parent.glob("*.py"))}


def blame_for(error: BaseException, own_files: set[str], refused_by: Sequence[str]) -> dict[str, bool]:
    """Return `is_own` and `is_unasked` of an exception, as a reply says them."""
    files = own_files | harness_files()
    return {
        "is_own": is_own_error(error, files, refused_by),
        "is_unasked": is_unasked(error, files, refused_by),
    }


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


def serve(adapter: Adapter, requests: queue.SimpleQueue[str | None], replies: Any, own_files: set[str]) -> None:
    """Answer requests line by line until the input ends.

    Parameters
    ----------
    adapter : Adapter
        The adapter.
    requests : queue
        Lines of requests, None after the last one.
    replies : file
        Stream to which replies are written.
    own_files : set of str
        Files of the adapter, which tell its errors from refusals by the library.
    """
    for line in iter(requests.get, None):
        request = json.loads(line)
        if request["do"] == "each":
            reply = {"value": [answered(adapter, one, own_files) for one in request["requests"]]}
        else:
            reply = answered(adapter, request, own_files)
        replies.write(json.dumps({"id": request["id"], **reply}) + "\n")
        replies.flush()


def answered(adapter: Adapter, request: dict[str, Any], own_files: set[str]) -> dict[str, Any]:
    """Return the ``value`` of a request, or the ``error`` that its answer raised.

    Parameters
    ----------
    adapter, own_files
        As for `serve`.
    request : dict
        The request.
    """
    try:
        return {"value": adapter.answer(request)}
    except BaseException as error:  # noqa: BLE001  # whatever a library raises goes to the parent, a panic too
        told = {"type": type(error).__name__, "message": str(error)[:2000]}
        return {"error": {**told, **blame_for(error, own_files, adapter.refused_by(request))}}


def _recorder_of(adapter: Path) -> Any:
    """Return a recorder of the calls of an adapter, which records from now on."""
    from dpassay.impl.libraries.call_recording import CallRecorder

    recorder = CallRecorder(files_of(adapter), harness_files())
    recorder.start()
    return recorder


def main(arguments: list[str]) -> int:
    """Load the adapter, send the greeting, and serve requests."""
    # the folder of this script holds folders named like libraries, which must not shadow them
    sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != HERE]
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print must not come between the lines of the protocol
    requests = os.fdopen(os.dup(0), encoding="utf-8")
    with open(os.devnull) as nothing:  # noqa: PTH123  # nor may they read, or close, what the parent writes
        os.dup2(nothing.fileno(), 0)
    install_adapter_modules()
    greeting: dict[str, Any] = {"python": platform.python_version()}
    # Ctrl-C is for the parent, which ends this process: a KeyboardInterrupt is raised by the library
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    adapter = None
    try:
        recorder = _recorder_of(Path(arguments[0])) if "--record" in arguments else None
        library, cases = load_adapter(Path(arguments[0]))
        greeting |= {"library": library, "version": installed_version(library)}
        greeting["skipped"] = skipped_groups()
        adapter = Adapter(cases, recorder, files_of(Path(arguments[0])))
    except BaseException as error:  # noqa: BLE001  # an import may do anything; the parent tells the user
        greeting["error"] = {"type": type(error).__name__, "message": str(error)[:2000]}
    replies.write(json.dumps({"greeting": greeting}) + "\n")
    replies.flush()
    if adapter is None:
        return 1
    serve(adapter, arriving(requests), replies, files_of(Path(arguments[0])))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
