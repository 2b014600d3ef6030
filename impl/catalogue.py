"""The catalogue of mechanisms: every one that can be listed, hunted or sampled by name.

A mechanism enters it by :func:`catalogue`, as a module-level object with concrete parameters, so that
``dpassay hunt dpassay.impl.mechanisms.noisy_max:gaussian_noisy_max`` finds it.
"""

from dataclasses import dataclass
from typing import TypeVar

from dpassay.claims import Item, Mechanism
from dpassay.discovery import import_all_below

__all__ = ["Entry", "Mutation", "catalogue", "entries"]

M = TypeVar("M", bound=Mechanism)


@dataclass(frozen=True)
class Mutation:
    """What is wrong with a deliberately broken mechanism, and which laws must notice.

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
    """One mechanism of the catalogue: where it lives, which items it implements, how it is broken if it is."""

    where: str
    mechanism: Mechanism
    items: tuple[Item, ...]
    mutation: Mutation | None


_ENTRIES: dict[str, Entry] = {}


def catalogue(where: str, mechanism: M, *, items: tuple[Item, ...] = (), mutation: Mutation | None = None) -> M:
    """Enter `mechanism` under `where` (``module:object``) and return it.

    Raises
    ------
    ValueError
        If the place is taken.
    """
    if where in _ENTRIES:
        raise ValueError(f"{where} is in the catalogue already")
    _ENTRIES[where] = Entry(where, mechanism, items, mutation)
    return mechanism


def entries() -> tuple[Entry, ...]:
    """Return the whole catalogue, in order of place; imports every module of mechanisms first."""
    for package_name in ("dpassay.impl.mechanisms", "dpassay.impl.broken"):
        import_all_below(package_name)
    return tuple(_ENTRIES[where] for where in sorted(_ENTRIES))
