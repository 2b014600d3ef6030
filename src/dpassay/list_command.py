"""The command ``dpassay list``: the items of the documents and their coverage, or the mechanisms."""

from collections.abc import Sequence

import click

from dpassay.arguments import UsageError
from dpassay.command_line import json_option, print_records, print_table
from dpassay.verify_command import modules_argument, require_source, source_option, statements_of

__all__ = ["list_command"]


@click.command("list")
@modules_argument
@source_option
@click.option("--mechanisms", is_flag=True, help="List the mechanisms, correct and broken, instead of the items.")
@json_option
def list_command(modules: tuple[str, ...], source: str | None, mechanisms: bool, as_json: bool) -> None:
    """List the items of the documents and their coverage, or the mechanisms.

    With modules, packages or .py files of your own statements: the items of the documents that they cite.
    """
    from dpassay.properties.contract import Record, as_dictionary
    from dpassay.properties.coverage import coverage, coverage_by
    from dpassay.properties.mechanisms import mechanism_records

    if mechanisms and modules:
        raise UsageError("--mechanisms lists the mechanisms of dpassay; omit the modules")
    statements = statements_of(modules) if modules else ()
    require_source(source, statements)
    records: Sequence[Record]
    if mechanisms:
        records = mechanism_records(source)
        columns: tuple[str, ...] = ("where", "claims", "neighbours", "exact_distribution", "fault")
    else:
        items = coverage_by(statements, source) if modules else coverage(source)
        records = [item.record() for item in items]
        columns = ("source", "item", "name", "kind", "covered_by", "where")
    if as_json:
        print_records(records)
    else:
        print_table([as_dictionary(record) for record in records], columns)
