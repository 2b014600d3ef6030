"""Survivors sorted by hand: ``survivors.toml`` has the class of each and the reason for it.

Classes: ``equivalent`` (no behaviour that the module promises changes; with the reason), ``point`` (another test
point or another search setting: as good as the original, and counted as equivalent), ``weaker`` (what is claimed stays
true, or is checked less) and ``unsafe`` (a certified figure on the unsafe side, or a claim too strong).
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

__all__ = ["EQUIVALENT", "SURVIVORS", "Sorted", "read_sorting"]

SURVIVORS = Path(__file__).with_name("survivors.toml")
Class = Literal["equivalent", "point", "weaker", "unsafe"]
EQUIVALENT = ("equivalent", "point")


@dataclass(frozen=True)
class Sorted:
    """The class of a survivor, and why."""

    place: str
    change: str
    kind: Class
    reason: str


def read_sorting(path: Path = SURVIVORS) -> Mapping[str, Sorted]:
    """Return the sorted survivors by the key of the mutant.

    Raises
    ------
    ValueError
        If an entry has no reason, or a class that is not known.
    """
    found = {}
    for key, entry in tomllib.loads(path.read_text("utf-8")).items():
        if entry["class"] not in get_args(Class) or not entry["reason"].strip():
            raise ValueError(f"{path.name}: {key} needs a class of {get_args(Class)} and a reason, got {entry!r}")
        found[key] = Sorted(entry["place"], entry["change"], entry["class"], entry["reason"])
    return found
