"""Defaults of the options of commands, from the table ``[tool.dpassay]`` of a pyproject.toml.

The file is that of the current folder, or of the nearest one above that has the table:

    [tool.dpassay]
    seed = 7              # every command that has the option
    level = 1e-9          # --alpha of hunt and assay
    seconds = 120         # --budget of hunt and assay

    [tool.dpassay.verify]
    jobs = 1              # one command

Options on the command line take precedence.
"""

import tomllib
from pathlib import Path
from typing import Any

import click

from dpassay.arguments import UsageError, shown
from dpassay.command_line import seconds_of
from dpassay.registry import similar_words

__all__ = ["defaults_of", "read_defaults"]

_OTHER_NAMES = {"level": "alpha", "seconds": "budget"}
_TIMES = frozenset({"budget", "call_timeout", "import_timeout", "limit", "trace_limit"})
_TABLE = "tool.dpassay"


def read_defaults(group: click.Group, folder: Path) -> dict[str, dict[str, Any]]:
    """Return the defaults of each command, as the default map of click.

    Parameters
    ----------
    group : click.Group
        The commands, which decide what is accepted.
    folder : Path
        Where the search begins.

    Raises
    ------
    UsageError
        If a key is no option of a command, or a value is not accepted; the message names the file and the key.
    """
    for parent in (folder, *folder.parents):
        path = parent / "pyproject.toml"
        if path.is_file():
            table = _table(path)
            if table is not None:
                return defaults_of(table, group, str(path))
    return {}


def defaults_of(table: dict[str, Any], group: click.Group, file: str) -> dict[str, dict[str, Any]]:
    """Return the defaults of a table, as `read_defaults` does; `file` is named in messages."""
    options = {name: _options(command) for name, command in group.commands.items()}
    everywhere = {key: value for key, value in table.items() if not isinstance(value, dict)}
    defaults: dict[str, dict[str, Any]] = {name: {} for name in options}
    for key, value in everywhere.items():
        having = [name for name, known in options.items() if _option(key) in known]
        if not having:
            known = {_shown(option) for each in options.values() for option in each} | set(_OTHER_NAMES)
            raise UsageError(f"{file}: [{_TABLE}] {key} is no option of a command{similar_words(key, known)}")
        for name in having:
            defaults[name][_option(key)] = _checked(options[name][_option(key)], value, f"{file}: [{_TABLE}] {key}")
    for name, values in table.items():
        if not isinstance(values, dict):
            continue
        if name not in options:
            raise UsageError(f"{file}: [{_TABLE}.{name}] is no command{similar_words(name, options)}")
        for key, value in values.items():
            where = f"{file}: [{_TABLE}.{name}] {key}"
            if _option(key) not in options[name]:
                known = set(map(_shown, options[name]))
                raise UsageError(f"{where} is no option of {name}{similar_words(key, known)}")
            defaults[name][_option(key)] = _checked(options[name][_option(key)], value, where)
    return defaults


def _table(path: Path) -> dict[str, Any] | None:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not TOML: {error}") from None
    table = content.get("tool", {}).get("dpassay")
    if table is not None and not isinstance(table, dict):
        raise UsageError(f"{path}: {_TABLE} must be a table, got {shown(table)}")
    return table


def _options(command: click.Command) -> dict[str, click.Option]:
    found = {one.name: one for one in command.params if isinstance(one, click.Option)}
    return {name: option for name, option in found.items() if name is not None}


def _option(key: str) -> str:
    return _OTHER_NAMES.get(key, key).replace("-", "_")


def _shown(option: str) -> str:
    return option.replace("_", "-")


def _checked(option: click.Option, value: Any, where: str) -> Any:
    """Return the value as the option takes it; words on the command line are text."""
    if option.is_flag:
        if not isinstance(value, bool):
            raise UsageError(f"{where} must be true or false, got {shown(value)}")
        return value
    values = value if isinstance(value, list) else [value]
    if any(isinstance(one, bool | dict | list) for one in values) or (isinstance(value, list) and not option.multiple):
        raise UsageError(f"{where} must be a number or text, got {shown(value)}")
    if option.name in _TIMES and value != "inf":
        seconds_of(where, str(value))
    try:
        checked = [option.type.convert(str(one), option, None) for one in values]
    except click.BadParameter as error:
        raise UsageError(f"{where}: {error.message}") from None
    return checked if option.multiple else checked[0]
