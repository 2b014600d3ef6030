"""The library's own calls behind a request, as Python text to paste. Standard library only; runs inside workers.

A profiler notes every call that the code of an adapter makes into a library, with its arguments and its result, from
the moment at which the adapter is loaded. A result is then expressed by the call that made it, and so are the
arguments of that call, until only numbers, text and names remain.
"""

from __future__ import annotations

import enum
import inspect
import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import types
    from collections.abc import Callable, Collection, Mapping

__all__ = ["CallRecorder", "UnknownOriginError"]

_MOST_LENGTH = 4000
"""Longest text of a call: a longer one explains nothing."""

_MOST_DEPTH = 12
"""Calls within calls."""


class UnknownOriginError(Exception):
    """An object that no recorded call made."""


@dataclass
class _Call:
    """A call of the library: its function, the names and values of its arguments, and its result."""

    function: Any
    code: types.CodeType
    arguments: dict[str, Any]
    result: Any = None

    @property
    def receiver(self) -> Any:
        """The object whose method is called; None for functions and constructors."""
        is_method = next(iter(self.arguments), None) == "self" and self.code.co_name != "__init__"
        return self.arguments["self"] if is_method else None


class CallRecorder:
    """Records the calls from an adapter into other code.

    Parameters
    ----------
    own_files : collection of str
        Files whose calls are recorded.
    harness : collection of str
        Further files whose code is not the library's.
    """

    def __init__(self, own_files: Collection[str], harness: Collection[str]) -> None:
        self._own, self._harness = frozenset(own_files), frozenset(harness)
        self._open: dict[int, _Call] = {}
        self._made: dict[int, _Call] = {}
        self._methods: dict[int, list[_Call]] = {}
        self._calls: list[_Call] = []

    def start(self) -> None:
        """Begin to record, until the process ends."""
        sys.setprofile(self._note)

    def _note(self, frame: types.FrameType, event: str, argument: Any) -> None:
        if event == "call":
            caller = frame.f_back
            if caller is not None and caller.f_code.co_filename in self._own and self._is_foreign(frame):
                self._open[id(frame)] = _Call(*_called(frame))
        elif event == "return" and id(frame) in self._open:
            call = self._open.pop(id(frame))
            is_constructor = call.code.co_name == "__init__"
            call.result = next(iter(call.arguments.values()), None) if is_constructor else argument
            self._calls.append(call)
            if call.receiver is not None:
                self._methods.setdefault(id(call.receiver), []).append(call)
            if call.result is not None and not _is_plain(call.result):
                self._made.setdefault(id(call.result), call)

    def _is_foreign(self, frame: types.FrameType) -> bool:
        file = frame.f_code.co_filename
        return file not in self._own and file not in self._harness and frame.f_code.co_name[:1] != "<"

    def text_of(self, request: Callable[[], Any]) -> str:
        """Make a request and return its last call of the library as text, with the imports.

        The text is run, too: where the request returns a number, the text must return the same one.

        Raises
        ------
        UnknownOriginError
            If there is no call, an object in it has no text, or the text does something else.
        """
        before, pending = len(self._calls), list[_Call]()
        try:
            outcome: Any = request()
        except BaseException as error:  # noqa: BLE001  # a call that raises is worth pasting, too
            outcome, pending = error, list(self._open.values())
            self._open.clear()
        calls = self._calls[before:] + pending[-1:]
        if not calls:
            raise UnknownOriginError("no call of the library")
        writer = _Writer(self._made, self._methods)
        expression = writer.call(calls[-1], 0)
        lines = [*sorted(writer.imports), *writer.statements]
        text = "\n".join([*lines, f"print({expression})"])
        if len(text) > _MOST_LENGTH:
            raise UnknownOriginError("the text of the call is too long")
        self._require_same("\n".join(lines), expression, outcome)
        return text

    def _require_same(self, lines: str, expression: str, outcome: Any) -> None:
        """Run a text, and raise unless it ends as the request did; numbers are compared, and types of exceptions."""
        sys.setprofile(None)
        try:
            space: dict[str, Any] = {}
            exec(lines, space)  # noqa: S102  # the text was made here, of calls that were just made
            again = eval(expression, space)  # noqa: S307
        except BaseException as error:  # noqa: BLE001  # the library may raise anything
            again = error
        finally:
            self.start()
        if isinstance(outcome, BaseException) or isinstance(again, BaseException):
            same = type(outcome) is type(again)
        else:
            is_number = isinstance(outcome, (int, float)) and isinstance(again, (int, float))
            same = not is_number or outcome == again or (math.isnan(outcome) and math.isnan(again))
        if not same:
            raise UnknownOriginError(f"the text ends with {again!r}, the request with {outcome!r}")


class _Writer:
    """Writes objects as expressions."""

    def __init__(self, made: Mapping[int, _Call], methods: Mapping[int, list[_Call]]) -> None:
        self._made, self._methods = made, methods
        self._variables: dict[int, str] = {}
        self.imports: set[str] = set()
        self.statements: list[str] = []

    def call(self, call: _Call, depth: int) -> str:
        """Return an expression of a call."""
        if depth > _MOST_DEPTH:
            raise UnknownOriginError("too many calls within calls")
        arguments = dict(call.arguments)
        code = call.code
        if code.co_name == "__init__":
            name = self._name(type(arguments.pop(next(iter(arguments)))))
        elif next(iter(arguments), None) == "self":
            name = f"{self._receiver(arguments.pop('self'), call, depth)}.{code.co_name}"
        elif inspect.isclass(arguments.get("cls")):
            name = f"{self._name(arguments.pop('cls'))}.{code.co_name}"
        else:
            name = self._name(call.function)
        return f"{name}({', '.join(self._arguments(code, arguments, depth))})"

    def _receiver(self, one: Any, call: _Call, depth: int) -> str:
        """Return the object of a method; a variable if other methods of it were called before, which may change it."""
        if id(one) in self._variables:
            return self._variables[id(one)]
        earlier = []
        for other in self._methods.get(id(one), ()):
            if other is call:
                break
            earlier.append(other)
        origin = self.value(one, depth + 1)
        if not earlier:
            return origin
        name = f"{type(one).__name__.lower()}_{len(self._variables) + 1}"
        self._variables[id(one)] = name
        self.statements.append(f"{name} = {origin}")
        self.statements += [self.call(other, depth + 1) for other in earlier]
        return name

    def _arguments(self, code: types.CodeType, arguments: dict[str, Any], depth: int) -> list[str]:
        names = code.co_varnames
        positions = code.co_argcount + code.co_kwonlyargcount
        rest = names[positions] if code.co_flags & inspect.CO_VARARGS else None
        more = names[positions + (rest is not None)] if code.co_flags & inspect.CO_VARKEYWORDS else None
        words = []
        for name, value in arguments.items():
            if name == rest:
                words += [self.value(one, depth + 1) for one in value]
            elif name == more:
                words += [f"{key}={self.value(one, depth + 1)}" for key, one in value.items()]
            else:
                plain = rest is not None and arguments[rest] and name in names[: code.co_argcount]
                words.append(self.value(value, depth + 1) if plain else f"{name}={self.value(value, depth + 1)}")
        return words

    def value(self, value: Any, depth: int) -> str:  # noqa: PLR0911  # a form for each type
        """Return an expression of a value."""
        if id(value) in self._variables:
            return self._variables[id(value)]
        if value is None or (isinstance(value, (bool, int, str, bytes)) and type(value).__module__ == "builtins"):
            return repr(value)
        if isinstance(value, float):
            number = repr(float(value))
            return number if number.strip("-") not in {"nan", "inf"} else f"float({number!r})"
        if isinstance(value, enum.Enum):
            return f"{self._name(type(value))}.{value.name}"
        if type(value) in (list, tuple):
            parts = ", ".join(self.value(one, depth + 1) for one in value)
            return f"[{parts}]" if type(value) is list else f"({parts},)" if len(value) == 1 else f"({parts})"
        if type(value) is dict:
            pairs = (f"{self.value(k, depth + 1)}: {self.value(v, depth + 1)}" for k, v in value.items())
            return f"{{{', '.join(pairs)}}}"
        if inspect.isclass(value) or inspect.isfunction(value):
            return self._name(value)
        if id(value) in self._made:
            return self.call(self._made[id(value)], depth + 1)
        if hasattr(value, "tolist") and type(value).__module__ == "numpy":
            self.imports.add("import numpy as np")
            return f"np.array({value.tolist()!r})" if getattr(value, "ndim", 0) else repr(value.item())
        raise UnknownOriginError(f"an object of type {type(value).__name__}")

    def _name(self, one: Any) -> str:
        """Return the name of a function or class, and note its import."""
        module, name = getattr(one, "__module__", None), getattr(one, "__qualname__", None)
        if not isinstance(module, str) or not isinstance(name, str) or "<" in name:
            raise UnknownOriginError("a function without a name")
        if module != "builtins":
            self.imports.add(f"from {module} import {name.partition('.')[0]}")
        return name


def _is_plain(value: Any) -> bool:
    return isinstance(value, (bool, int, float, str, bytes))


def _called(frame: types.FrameType) -> tuple[Any, types.CodeType, dict[str, Any]]:
    """Return the function of a frame, its code, and the arguments as they were passed."""
    code = frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    arguments = {name: frame.f_locals[name] for name in code.co_varnames[:count] if name in frame.f_locals}
    module = sys.modules.get(frame.f_globals.get("__name__", ""))
    function = getattr(module, code.co_name, None)
    return function, code, arguments
