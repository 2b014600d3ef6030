"""Public functions of a library and the calls of cases that reach them. Standard library only; runs inside workers."""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import types
    from collections.abc import Callable, Sequence

__all__ = ["PublicFunctions"]


class PublicFunctions:
    """The public functions and classes of some modules of a library.

    A module's names are those of its ``__all__``, or all that begin with no underscore. Objects of other packages, and
    exceptions, do not count. An object with several public names has the shortest one.

    Attributes
    ----------
    missing : list of str
        Modules that cannot be imported, with the reason.

    Parameters
    ----------
    modules : sequence of str
        Names of modules, all of one package.
    """

    def __init__(self, modules: Sequence[str]) -> None:
        self.missing: list[str] = []
        self._names: dict[int, str] = {}
        self._objects: list[Any] = []
        for name in modules:
            try:
                module = importlib.import_module(name)
            except Exception as error:  # noqa: BLE001  # an import may raise anything
                self.missing.append(f"{name}: {type(error).__name__}: {error}")
            else:
                self._add(module, name)
        self._codes = {code: self._names[id(one)] for one in self._objects for code in _codes_of(one)}

    def _add(self, module: types.ModuleType, name: str) -> None:
        package = name.partition(".")[0]
        public = getattr(module, "__all__", None) or [key for key in vars(module) if not key.startswith("_")]
        for key in public:
            one = _unwrapped(getattr(module, key, None))
            if not _counts(one, package):
                continue
            full = f"{name}.{key}"
            known = self._names.get(id(one))
            if known is None:
                self._objects.append(one)
            self._names[id(one)] = full if known is None else min(known, full, key=len)

    def kinds(self) -> dict[str, str]:
        """Return the names of all functions with their kinds, `function` or `class`."""
        return {self._names[id(one)]: "class" if inspect.isclass(one) else "function" for one in self._objects}

    def reached(self, call: Callable[[], Any]) -> list[str]:
        """Return the names of the functions and classes that a call reaches, even if it raises."""
        found: set[str] = set()

        def note(frame: types.FrameType, event: str, argument: Any) -> None:
            if event == "call":
                name = self._codes.get(frame.f_code)
                if name is not None:
                    found.add(name)
                receiver = self._names.get(id(type(frame.f_locals.get("self"))))
                if receiver is not None:
                    found.add(receiver)
            elif event == "c_call":
                receiver = self._names.get(id(type(getattr(argument, "__self__", None))))
                if receiver is not None:
                    found.add(receiver)

        before = sys.getprofile()
        sys.setprofile(note)
        try:
            call()
        except BaseException:  # noqa: BLE001  # a case may be refused; what it reached counts
            return sorted(found)
        finally:
            sys.setprofile(before)
        return sorted(found)


def _unwrapped(one: Any) -> Any:
    """Return the function behind wrappers and partial calls."""
    while isinstance(one, functools.partial):
        one = one.func
    try:
        return inspect.unwrap(one)
    except ValueError:  # a cycle of wrappers
        return one


def _counts(one: Any, package: str) -> bool:
    """Return whether an object is a function or class of a package, and no exception."""
    if inspect.isclass(one) and issubclass(one, BaseException):
        return False
    where = getattr(one, "__module__", None) or ""
    is_own = isinstance(where, str) and where.partition(".")[0].lstrip("_") == package.lstrip("_")
    return is_own and (inspect.isclass(one) or inspect.isroutine(one))


def _codes_of(one: Any) -> list[types.CodeType]:
    """Return the code of a function, or of the functions that a class defines."""
    members = list(vars(one).values()) if inspect.isclass(one) else [one]
    found = []
    for member in members:
        inner = _unwrapped(getattr(member, "__func__", getattr(member, "fget", member)))
        code = getattr(inner, "__code__", None)
        if code is not None:
            found.append(code)
    return found
