"""Finding the mechanism that a user names."""

import importlib
import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from dpassay.claims import Mechanism, UsageError

__all__ = ["describe_target", "load_target"]


def load_target(name: str) -> Any:
    """Import what ``package.module:object`` or ``path/to/file.py:object`` names; a file's code is run.

    The folder of a file is put on ``sys.path``, so that it finds its neighbours.

    Raises
    ------
    UsageError
        In one line: if the form is wrong, the file or module is missing or fails, or the object is not there or
        cannot be sampled.

    Examples
    --------
    >>> load_target("nowhere:thing")
    Traceback (most recent call last):
    ...
    dpassay.claims.UsageError: target 'nowhere:thing': ModuleNotFoundError: No module named 'nowhere'
    """
    place, separator, attribute = name.rpartition(":")
    if not (separator and place and attribute):
        raise UsageError(f"target {name!r} must have the form package.module:object or path/to/file.py:object")
    found: Any = _module_of(name, place)
    for part in attribute.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise UsageError(f"target {name!r}: {place} has no attribute {attribute!r}") from None
    if isinstance(found, type):
        raise UsageError(f"target {name!r} is a class: name an object made from it")
    if not (callable(found) or isinstance(found, Mechanism)):
        raise UsageError(f"target {name!r} must be a Mechanism or a callable, got {type(found).__name__}")
    return found


def describe_target(target: Any) -> str:
    """Return the name under which a result lists a target: as given, or where the object was defined."""
    if isinstance(target, str):
        return target
    if hasattr(target, "__qualname__"):
        return f"{target.__module__}:{target.__qualname__}"
    return repr(target)


def _module_of(name: str, place: str) -> ModuleType:
    is_file = place.endswith(".py")
    if is_file and not Path(place).is_file():
        raise UsageError(f"target {name!r}: there is no file {place}")
    try:
        return _run_file(Path(place).resolve()) if is_file else importlib.import_module(place)
    except (UsageError, KeyboardInterrupt):
        raise
    except BaseException as error:  # whatever a user's module raises, sys.exit included, becomes one line
        first_line = str(error).splitlines()[0] if str(error) else ""
        raise UsageError(f"target {name!r}: {type(error).__name__}: {first_line}") from error


@cache
def _run_file(path: Path) -> ModuleType:
    folder = str(path.parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    alias = f"_dpassay_target_{path.stem}"
    spec = importlib.util.spec_from_file_location(alias, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"target file {path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[alias] = module  # dataclasses and pickles look their module up
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[alias]
        raise
    return module
