"""Stand-ins for a library that is not installed: a module of its adapter is imported beside them."""

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import MagicMock

import dpassay.impl.libraries

FOLDER = Path(str(dpassay.impl.libraries.__file__)).parent
SEEDS = 2


class StandIn(ModuleType):
    """A module that has every name: what a test does not define is never called."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return MagicMock()


@contextmanager
def adapter_module(library: str, name: str, modules: dict[str, dict[str, Any]]) -> Iterator[ModuleType]:
    """Import a module of an adapter beside stand-ins for the modules of its library."""
    path, before = list(sys.path), dict(sys.modules)
    sys.path.insert(0, str(FOLDER / library))
    try:
        for dotted, content in modules.items():
            module = StandIn(dotted)
            module.__path__ = []
            vars(module).update(content)
            sys.modules[dotted] = module
            parent, _, last = dotted.rpartition(".")
            if parent:
                setattr(sys.modules[parent], last, module)
        yield importlib.import_module(name)
    finally:
        sys.path[:] = path
        for dotted in set(sys.modules) - set(before):
            del sys.modules[dotted]
        sys.modules |= before


def broken(cases: Any) -> set[str]:
    """Return the names of the relations that do not hold."""
    return {
        words
        for case in cases
        for words in case.relations
        for seed in range(SEEDS)
        if case.compare(words, seed)["broken"]
    }
