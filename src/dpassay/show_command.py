"""The command ``dpassay show``: one statement or mechanism with all that is known about it."""

from typing import Any

import click

from dpassay import completion
from dpassay.command_line import json_option, print_records
from dpassay.verify_command import module_option, statements_of

__all__ = ["show"]


@click.command()
@click.argument("name", shell_complete=completion.names)
@module_option
@json_option
def show(name: str, modules: tuple[str, ...], as_json: bool) -> None:
    """Show a statement, or a mechanism with its code and the largest loss that a search finds.

    NAME is that of a statement or an item, the address of a mechanism, or a name of the common benchmark, such as
    SVT3 or NoisyMax4.
    """
    from dpassay.properties.contract import as_dictionary
    from dpassay.properties.show import show_record

    if modules:
        statements_of(modules)
    record = show_record(name)
    if as_json:
        print_records([record])
    else:
        _print_card(as_dictionary(record))


def _print_card(record: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.markup import escape

    console = Console()
    for key, value in record.items():
        if key == "schema" or value in (None, [], {}):
            continue
        console.print(f"[bold]{escape(key.replace('_', ' '))}[/bold]")
        for line in _card_lines(key, value):
            console.print(f"  {line}", markup=False, highlight=False, soft_wrap=True)


def _card_lines(key: str, value: Any) -> list[str]:
    from dpassay.properties.hunting.formatting import event_words

    if key == "ratio":
        return [f"within [{value[0]}, {value[1]}]"]
    if isinstance(value, dict):
        shown = {name: event_words(part) if name == "event" else part for name, part in value.items()}
        return [f"{name}: {part}" for name, part in shown.items() if part is not None]
    if isinstance(value, list):
        return [", ".join(map(str, part)) if isinstance(part, tuple | list) else str(part) for part in value]
    return str(value).splitlines()
