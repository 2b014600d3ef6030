"""The libraries with an adapter here, adapters in other places, and the environments that they require."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from dpassay.arguments import UsageError
from dpassay.registry import similar_words

__all__ = [
    "EnvironmentRecipe",
    "Library",
    "Type",
    "find_library",
    "is_older_than_locked",
    "known_libraries",
    "parse_specifier",
    "parse_version",
    "read_table",
    "require_fields",
]

_HERE = Path(__file__).parent
_LOCKED_FOR = "# python "
Type = type | tuple[type, ...]
"""Accepted types of a value in a file."""


@dataclass(frozen=True)
class EnvironmentRecipe:
    """Additional requirements of some versions of a library.

    Parameters
    ----------
    versions : str
        Which versions, a PEP 440 specifier such as ``">=0.5,<0.6"``; empty for all.
    pins : tuple of str
        Requirements that pip resolves together with the library.
    no_deps : bool
        Whether the library is installed without what it says it needs; `pins` and `extra` come with theirs.
    extra : tuple of str
        Further packages that the adapter imports.
    python : str
        Versions of Python that it works with, a specifier; empty for all.
    """

    versions: str = ""
    pins: tuple[str, ...] = ()
    no_deps: bool = False
    extra: tuple[str, ...] = ()
    python: str = ""

    def suits(self, version: str) -> bool:
        """Return whether the recipe applies to a version of the library."""
        return parse_specifier(self.versions).contains(version, prereleases=True)


@dataclass(frozen=True)
class Library:
    """An adapter and the files beside it.

    Parameters
    ----------
    name : str
        The distribution; for an adapter without ``library.toml`` the name of its file.
    adapter : Path
        The adapter's file.
    recipes : tuple of EnvironmentRecipe
        The first that suits a version is used; empty where no environment can be built.
    shipped : bool
        Whether the adapter is one of dpassay's own; others run in this interpreter unless told otherwise.
    modules : tuple of str
        The modules of the library whose public functions concern privacy.
    """

    name: str
    adapter: Path
    recipes: tuple[EnvironmentRecipe, ...] = ()
    shipped: bool = False
    modules: tuple[str, ...] = ()

    @property
    def expected_failures(self) -> Path:
        """The file of expected failures, which need not exist."""
        return self.adapter.with_name("expected_failures.toml")

    def recipe_for(self, version: str) -> EnvironmentRecipe:
        """Return the recipe for a version.

        Raises
        ------
        UsageError
            If there is none.
        """
        for recipe in self.recipes:
            if recipe.suits(version):
                return recipe
        accepted = ", ".join(recipe.versions for recipe in self.recipes) or "none; use --python"
        raise UsageError(f"--version {version!r} of {self.name} has no environment; versions with one: {accepted}")

    def lock_for(self, version: str, python: str) -> Path | None:
        """Return the lock file of a version for a version of Python, or None if there is none.

        Its first line is a comment with a specifier of the accepted versions of Python, such as ``# python >=3.11``.
        """
        lock = self.adapter.parent / "locks" / f"{version}.txt"
        if not lock.is_file():
            return None
        first = lock.read_text(encoding="utf-8").partition("\n")[0]
        if not first.startswith(_LOCKED_FOR):
            raise UsageError(f"{lock}: the first line must be '{_LOCKED_FOR}SPECIFIER', got {first!r}")
        accepted = parse_specifier(first.removeprefix(_LOCKED_FOR), f"{lock}: ")
        return lock if accepted.contains(python, prereleases=True) else None


def known_libraries() -> dict[str, Library]:
    """Return the libraries with an adapter here by the names of their distributions, in alphabetical order."""
    found = [replace(_read_library(path), shipped=True) for path in _HERE.glob("*/adapter.py")]
    return {library.name: library for library in sorted(found, key=lambda library: library.name)}


def find_library(name: str) -> Library:
    """Return a library by its name in any normalised spelling, or the adapter in a file.

    Raises
    ------
    UsageError
        If there is neither.
    """
    libraries = known_libraries()
    for known, library in libraries.items():
        if _normal(name) in {_normal(known), _normal(library.adapter.parent.name)}:
            return library
    path = Path(name)
    if path.is_file():
        return _read_library(path.resolve())
    known = ", ".join(libraries) or "none"
    hint = similar_words(name, libraries)
    raise UsageError(f"LIBRARY {name!r} is not one of {known}, nor the file of an adapter{hint}")


def is_older_than_locked(version: str | None, adapter: Path) -> bool:
    """Return whether a version is known to be older than the newest one with a lock file beside an adapter.

    Parameters
    ----------
    version : str or None
        The version of the library; None where it is not installed as a distribution.
    adapter : Path
        The file of the adapter.
    """
    own = None if version is None else _parsed(version)
    locked = [one for lock in adapter.parent.glob("locks/*.txt") if (one := _parsed(lock.stem)) is not None]
    return own is not None and bool(locked) and own < max(locked)


def _parsed(name: str) -> Version | None:
    try:
        return Version(name)
    except InvalidVersion:
        return None


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _read_library(adapter: Path) -> Library:
    description = adapter.with_name("library.toml")
    if not description.is_file():
        return Library(adapter.stem, adapter)
    table = read_table(description, {"distribution": str, "environment": list, "modules": list})
    if "distribution" not in table:
        raise UsageError(f"{description}: distribution is missing")
    recipes = tuple(_read_recipe(description, entry) for entry in table.get("environment", []))
    return Library(table["distribution"], adapter, recipes, modules=tuple(table.get("modules", ())))


def _read_recipe(path: Path, entry: Mapping[str, Any]) -> EnvironmentRecipe:
    fields = {"versions": str, "pins": list, "no_deps": bool, "extra": list, "python": str}
    require_fields(path, "environment", entry, fields)
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in entry.items()
    }
    recipe = EnvironmentRecipe(**values)
    for specifier in (recipe.versions, recipe.python):
        parse_specifier(specifier, f"{path}: ")
    return recipe


def read_table(path: Path, fields: Mapping[str, Type]) -> dict[str, Any]:
    """Read a TOML file whose top-level keys are among `fields`.

    Raises
    ------
    UsageError
        If it is no TOML, or a key is unknown or of another type.
    """
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not TOML: {error}") from None
    require_fields(path, "the top level", table, fields)
    return table


def require_fields(path: Path, where: str, entry: Any, fields: Mapping[str, Type]) -> None:
    """Raise `UsageError` if a table of a file has an unknown key or a value of another type.

    Parameters
    ----------
    path : Path
        File, for the message.
    where : str
        Name of the table, for the message.
    entry : object
        The table.
    fields : mapping
        Accepted keys and the types of their values.
    """
    if not isinstance(entry, dict):
        raise UsageError(f"{path}: {where} must be a table, got {entry!r}")
    for name, value in entry.items():
        if name not in fields:
            raise UsageError(f"{path}: {where} has the key {name!r}; accepted are {', '.join(fields)}")
        accepted = fields[name]
        kinds = accepted if isinstance(accepted, tuple) else (accepted,)
        if not isinstance(value, kinds):
            raise UsageError(f"{path}: {name} must be a {' or '.join(kind.__name__ for kind in kinds)}, got {value!r}")


def parse_specifier(text: str, where: str = "") -> SpecifierSet:
    """Read a PEP 440 specifier, raising `UsageError` if it is invalid."""
    try:
        return SpecifierSet(text)
    except InvalidSpecifier:
        raise UsageError(f"{where}{text!r} is not a version specifier such as '>=1.2,<2'") from None


def parse_version(text: str) -> str:
    """Return a version in its normal form, raising `UsageError` if it is invalid."""
    try:
        return str(Version(text))
    except InvalidVersion:
        raise UsageError(f"--version {text!r} is not a version such as 1.2.3") from None
