"""Import the modules below a package, all of them or those that mention a name; importing fills the registries."""

import importlib
import importlib.util
import pkgutil
from collections.abc import Iterator
from functools import cache

__all__ = ["import_all_below", "import_below_mentioning"]


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
