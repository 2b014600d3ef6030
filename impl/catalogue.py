"""The catalogue of mechanisms that `list`, `hunt` and tests access by name.

A mechanism enters it by :func:`catalogue`, as a module-level object with concrete parameters, so that
``dpassay hunt dpassay.impl.mechanisms.noisy_max:gaussian_noisy_max`` finds it.
"""

from dataclasses import dataclass
from typing import TypeVar

from dpassay.claims import Item, Mechanism
from dpassay.registry import Registry, place_of

__all__ = ["Entry", "Mutation", "catalogue", "entries"]

M = TypeVar("M", bound=Mechanism)


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
    """One mechanism of the catalogue: its address, the items that it implements, and its fault if it is broken."""

    where: str
    mechanism: Mechanism
    items: tuple[Item, ...]
    mutation: Mutation | None


_ENTRIES: Registry[str, Entry] = Registry(
    "mechanism", "dpassay.impl.mechanisms", "dpassay.impl.broken", where=lambda entry: place_of(entry.mechanism)
)


def catalogue(where: str, mechanism: M, *, items: tuple[Item, ...] = (), mutation: Mutation | None = None) -> M:
    """Enter `mechanism` under `where` (``module:object``) and return it.

    Parameters
    ----------
    where : str
        Address, ``module:object``.
    mechanism : Mechanism
        The mechanism.
    items : tuple of (str, str)
        Items that the mechanism implements.
    mutation : Mutation, optional
        The fault, for a deliberately broken mechanism.

    Raises
    ------
    ValueError
        If the place is taken.
    """
    _ENTRIES.enter(where, Entry(where, mechanism, items, mutation))
    return mechanism


def entries() -> tuple[Entry, ...]:
    """Return the whole catalogue, in order of place; imports every module of mechanisms first."""
    return tuple(sorted(_ENTRIES, key=lambda entry: entry.where))
