"""Import modules: those below a package, which fills the registries, or the code of others by name or file."""

import importlib
import importlib.util
import os
import pkgutil
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from zlib import crc32

from dpassay.arguments import UsageError
from dpassay.keyboard import noting_interruptions

__all__ = ["import_all_below", "import_below_mentioning", "load_module"]


def import_all_below(package_name: str) -> None:
    """Import the package and every module below it, in alphabetical order."""
    for module in _modules_below(package_name):
        importlib.import_module(module.name)


@cache
def import_below_mentioning(package_name: str, word: str) -> None:
    """Import the modules below a package whose source contains a word; those without a source are imported too.

    A registry with entries for hundreds of types is asked about one type: the module that enters it mentions it.
    """
    for module in _modules_below(package_name):
        source = _source_of(module)
        if source is None or word in source:
            importlib.import_module(module.name)


def _modules_below(package_name: str) -> Iterator[pkgutil.ModuleInfo]:
    package = importlib.import_module(package_name)
    return pkgutil.walk_packages(package.__path__, package_name + ".")


def _source_of(module: pkgutil.ModuleInfo) -> str | None:
    spec = importlib.util.find_spec(module.name)
    read = getattr(spec.loader if spec is not None else None, "get_source", None)
    source: str | None = read(module.name) if read is not None else None
    return source


def load_module(
    place: str, what: str, *, by_name: bool = False, accepted: str = "a module, or a file with the ending .py"
) -> ModuleType:
    """Import ``package.module`` or ``path/to/file.py``; the code of the module is run.

    The folder of a file is put on ``sys.path``, so that it finds its neighbours. A file is run once in a process.

    Parameters
    ----------
    place : str
        The module or the file.
    what : str
        Subject of the error message, such as ``target 'x.py:f'``.
    by_name : bool
        Whether a file gets the name under which its folder can import it, where it has one; an alias otherwise.
    accepted : str
        Places that the caller accepts, for the message that there is no such module.

    Raises
    ------
    UsageError
        In one line, if the file or module does not exist or raises an exception.
    """
    is_file = place.endswith(".py")
    if is_file and not Path(place).is_file():
        raise UsageError(f"{what}: file {place} does not exist")
    with noting_interruptions() as is_interrupted:
        try:
            return _run_file(Path(place).resolve(), by_name=by_name) if is_file else importlib.import_module(place)
        except UsageError:
            raise
        except BaseException as error:  # any exception of the module, SystemExit included, becomes one line
            if is_interrupted():
                raise KeyboardInterrupt from error
            first_line = str(error).splitlines()[0] if str(error) else ""
            hint = f"; expected {accepted}" if not is_file and _is_absent(place, error) else ""
            raise UsageError(f"{what}: {type(error).__name__}: {first_line}{hint}") from error


def _is_absent(place: str, error: BaseException) -> bool:
    """Return whether an import failed because there is no such module, and not for a module that it imports."""
    return isinstance(error, ModuleNotFoundError) and f"{place}.".startswith(f"{error.name}.")


@cache
def _run_file(path: Path, *, by_name: bool) -> ModuleType:
    folder = str(path.parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    if by_name and _is_importable(path):
        return importlib.import_module(path.stem)
    alias = f"_dpassay_{path.stem}_{crc32(os.fsencode(path)):08x}"  # two files may have the same name
    spec = importlib.util.spec_from_file_location(alias, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[alias] = module  # dataclasses and pickles look up their module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[alias]
        raise
    return module


def _is_importable(path: Path) -> bool:
    """Return whether the stem of a file is the name of a module that is this file: no other module hides it."""
    loaded = sys.modules.get(path.stem)
    if loaded is not None:
        return getattr(loaded, "__file__", None) == str(path)
    found = importlib.util.find_spec(path.stem) if path.stem.isidentifier() else None
    return found is not None and found.origin == str(path)
