"""The catalogue of mechanisms that `list`, `hunt` and tests access by name.

A mechanism enters it by :func:`catalogue`, as a module-level object with concrete parameters, so that
``dpassay hunt dpassay.impl.mechanisms.noisy_max:gaussian_noisy_max`` finds it.
"""

from dataclasses import dataclass
from typing import TypeVar

from dpassay.discovery import import_below_mentioning
from dpassay.mechanism import ClaimedMechanism
from dpassay.registry import Item, Registry, address_in

__all__ = ["Entry", "Mutation", "catalogue", "entries", "entry_named"]

M = TypeVar("M", bound=ClaimedMechanism)


@dataclass(frozen=True)
class Mutation:
    """The fault of a deliberately broken mechanism, and the laws that must detect it.

    Parameters
    ----------
    fault : str
        The fault, in one sentence.
    caught_by : tuple of str
        Names of statements or laws that must refute it.
    """

    fault: str
    caught_by: tuple[str, ...]


@dataclass(frozen=True)
class Entry:
    """One mechanism of the catalogue: its module, the items that it implements, and its fault if it is broken."""

    module: str
    mechanism: ClaimedMechanism
    items: tuple[Item, ...]
    mutation: Mutation | None

    @property
    def where(self) -> str:
        """The address of the mechanism, ``module:name``."""
        return address_in(self.module, self.mechanism)


_PACKAGES = ("dpassay.impl.mechanisms", "dpassay.impl.broken")

_ENTRIES: Registry[int, Entry] = Registry("mechanism", *_PACKAGES, where=lambda entry: entry.where)


def catalogue(module: str, mechanism: M, *, items: tuple[Item, ...] = (), mutation: Mutation | None = None) -> M:
    """Enter a mechanism and return it; its address is the module and the name that the module gives it.

    Parameters
    ----------
    module : str
        ``__name__`` of the module.
    mechanism : ClaimedMechanism
        The mechanism.
    items : tuple of (str, str)
        Items that the mechanism implements.
    mutation : Mutation, optional
        The fault, for a deliberately broken mechanism.

    Raises
    ------
    ValueError
        If the mechanism is in the catalogue already (both places are named).
    """
    _ENTRIES.enter(id(mechanism), Entry(module, mechanism, items, mutation))
    return mechanism


def entry_named(name: str) -> Entry | None:
    """Return the mechanism with an address, ``module:name``, or with the name after the colon; None if there is none.

    Only the modules that mention the name are imported; all of them take a second.
    """
    own = name.rpartition(":")[2]
    if own.isidentifier():
        for package in _PACKAGES:
            import_below_mentioning(package, own)
    found = (entry for entry in _ENTRIES.present if name in {entry.where, entry.where.partition(":")[2]})
    return min(found, key=lambda entry: entry.where, default=None)


def entries() -> tuple[Entry, ...]:
    """Return the whole catalogue, in order of place; imports every module of mechanisms first."""
    return tuple(sorted(_ENTRIES, key=lambda entry: entry.where))
