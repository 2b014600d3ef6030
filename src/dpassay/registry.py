"""Registries: entries that modules make when they are imported, looked up by key."""

import difflib
import sys
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Generic, TypeVar

from dpassay.arguments import UsageError
from dpassay.discovery import import_all_below, import_below_mentioning

__all__ = ["Item", "Registry", "address_in", "place_of", "similar_words"]

Item = tuple[str, str]
"""An item of a document: (source key, item name), a row of the shipped table of items."""

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Registry(Generic[K, V]):
    """Entries by key, which modules make when they are imported.

    Parameters
    ----------
    noun : str
        A word for an entry, for messages.
    packages : str
        Packages whose modules make the entries; they are imported before all entries are listed or one is missed.
    where : callable, optional
        ``where(entry)``: its place in the code; by default that of a function or class.
    """

    def __init__(self, noun: str, *packages: str, where: Callable[[V], str] | None = None) -> None:
        self._noun, self._packages, self._where = noun, packages, where or place_of
        self._entries: dict[K, V] = {}
        self._is_complete = False

    def enter(self, key: K, entry: V) -> V:
        """Enter and return an entry, raising `ValueError` with both places if the key is taken."""
        if key in self._entries:
            places = f"{self._where(self._entries[key])} and {self._where(entry)}"
            raise ValueError(f"two entries for the {self._noun} {_words(key)}: {places}")
        self._entries[key] = entry
        return entry

    def get(self, key: K) -> V | None:
        """Return an entry, or None if there is none."""
        if key not in self._entries:
            self._import_for(key)
        return self._entries.get(key)

    def find(self, key: K) -> V:
        """Return an entry, raising `UsageError` with the most similar keys if there is none."""
        found = self.get(key)
        if found is None:
            raise UsageError(
                f"there is no {self._noun} {_words(key)!r}{similar_words(_words(key), map(_words, self._entries))}"
            )
        return found

    def __iter__(self) -> Iterator[V]:
        self._import()
        return iter(tuple(self._entries.values()))

    @property
    def present(self) -> tuple[V, ...]:
        """The entries made so far, without an import."""
        return tuple(self._entries.values())

    def _import_for(self, key: K) -> None:
        """Import the modules that may enter a key: for a type of dpassay or a name, those that mention it.

        The modules of all entries take seconds to import. Other code has entered its own types.
        """
        if not isinstance(key, type):
            if isinstance(key, str) and key.isidentifier():
                self._import_mentioning(key)
            if key not in self._entries:
                self._import()
        elif key.__module__.partition(".")[0] == "dpassay":
            self._import_mentioning(key.__name__)

    def _import_mentioning(self, word: str) -> None:
        for package in self._packages:
            import_below_mentioning(package, word)

    def _import(self) -> None:
        if not self._is_complete:
            for package in self._packages:
                import_all_below(package)
            self._is_complete = True


def similar_words(given: str, known: Iterable[str]) -> str:
    """Return the question whether one of the most similar names was meant, for an error message; empty without one.

    >>> similar_words("svt33", ["SVT3", "SVT4", "Laplace"])
    '; did you mean SVT3?'
    """
    by_folded = {name.casefold(): name for name in known}
    near = difflib.get_close_matches(given.casefold(), by_folded, n=3, cutoff=0.7)
    return f"; did you mean {' or '.join(by_folded[one] for one in near)}?" if near else ""


def place_of(entry: object) -> str:
    """Return the address of a function or class, ``module:name``; of any other object that of its class."""
    named = entry if hasattr(entry, "__qualname__") else type(entry)
    return f"{named.__module__}:{named.__qualname__}"


def address_in(module: str, entry: object) -> str:
    """Return the address of a module-level object, ``module:NAME``; the module alone while it has no name there."""
    names = (name for name, value in vars(sys.modules[module]).items() if value is entry)
    name = next(names, None)
    return module if name is None else f"{module}:{name}"


def _words(key: Hashable) -> str:
    return key.__name__ if isinstance(key, type) else str(key)
