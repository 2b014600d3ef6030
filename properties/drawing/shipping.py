"""Targets on their way to another process: by name, or pickled with the code of their functions."""

import pickle
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import cloudpickle

from dpassay.arguments import UsageError
from dpassay.properties.drawing.target import absolute, load_target

__all__ = ["Named", "Shipped", "pickled"]


@dataclass(frozen=True)
class Named:
    """A target by its name, on its way to a process with the same folder and the same paths."""

    name: str

    def __call__(self) -> Any:
        """Return the target."""
        return load_target(self.name)


@dataclass(frozen=True)
class Shipped:
    """A target on its way to another process, which calls this to load it.

    Parameters
    ----------
    name : str or None
        ``package.module:object`` or ``/absolute/path.py:object``.
    content : bytes
        For a target without a name.
    paths : tuple of str
        Where modules are found here.
    """

    name: str | None
    content: bytes
    paths: tuple[str, ...]

    @classmethod
    def of(cls, target: Any, place: str) -> "Shipped":
        """Prepare a target, a name or an object; `place` says for messages where it goes.

        Raises
        ------
        UsageError
            If an object cannot be pickled.
        """
        paths = tuple(str(Path(path).resolve()) for path in sys.path)
        if not isinstance(target, str):
            return cls(None, pickled(target, target, place), paths)
        return cls(absolute(target), b"", paths)

    def __call__(self) -> Any:
        """Return the target."""
        sys.path.extend(path for path in self.paths if path not in sys.path and Path(path).exists())
        if self.name is not None:
            return load_target(self.name)
        try:
            return pickle.loads(self.content)  # noqa: S301  # made by the process that asks
        except Exception as error:
            raise UsageError(f"target cannot be loaded by a worker: {type(error).__name__}: {error}") from error


def pickled(thing: Any, owner: Any, place: str) -> bytes:
    """Pickle the parts of a target, with the code of functions that the other process could not import.

    Parameters
    ----------
    thing : object
        The object to pickle.
    owner : object
        The target: closures, notebooks and test modules are sent with their code.
    place : str
        Where it goes, for messages.

    Raises
    ------
    UsageError
        If it cannot be pickled.
    """
    try:
        with _by_value(_modules_of(owner)):
            content: bytes = cloudpickle.dumps(thing)
    except Exception as error:
        raise UsageError(f"target cannot be sent to {place}: {type(error).__name__}: {error}") from error
    return content


def _modules_of(target: Any) -> list[ModuleType]:
    """Return the modules that define a target and that another process cannot import."""
    owner = getattr(target, "__self__", target)
    names = {getattr(thing, "__module__", None) for thing in (target, owner, type(owner))}
    found = (sys.modules.get(name) for name in names if isinstance(name, str))
    return [module for module in found if module is not None and not _can_be_imported(module)]


@contextmanager
def _by_value(modules: list[ModuleType]) -> Iterator[None]:
    try:
        for module in modules:
            cloudpickle.register_pickle_by_value(module)
        yield
    finally:
        for module in modules:
            if module.__name__ in cloudpickle.list_registry_pickle_by_value():
                cloudpickle.unregister_pickle_by_value(module)


def _can_be_imported(module: ModuleType) -> bool:
    """Return whether the name of a module leads to its file in a fresh process with the same paths."""
    file = getattr(module, "__file__", None)
    if file is None:
        return True  # built in, or __main__ of a notebook, which is pickled by value anyway
    spec, path, name = None, None, ""
    for part in module.__name__.split("."):
        name = f"{name}.{part}" if name else part
        found = (finder.find_spec(name, path) for finder in sys.meta_path if hasattr(finder, "find_spec"))
        spec = next((one for one in found if one is not None), None)
        if spec is None:
            return False
        path = spec.submodule_search_locations
    return spec is not None and spec.origin is not None and Path(spec.origin).resolve() == Path(file).resolve()
