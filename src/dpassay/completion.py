"""Completion of names in a shell: statements, mechanisms, libraries, experiments.

Click prints the script: ``eval "$(_DPASSAY_COMPLETE=bash_source dpassay)"`` (``zsh_source``, ``fish_source``).
"""

from collections.abc import Iterable

import click

__all__ = ["experiments", "libraries", "mechanisms", "names", "sources", "statements"]


def statements(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
    """Return the names of statements."""
    from dpassay.spec.statement import all_statements

    return _beginning(begun, (one.name for one in all_statements()))


def mechanisms(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
    """Return the names of the common benchmark, or addresses of mechanisms if the word begins like one."""
    from dpassay.impl.benchmark_names import all_names

    if begun.startswith("dpassay."):
        from dpassay.impl.catalogue import entries

        return _beginning(begun, (entry.where for entry in entries()))
    return _beginning(begun, all_names())


def names(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    """Return the names that `show` knows."""
    return [*mechanisms(context, parameter, begun), *statements(context, parameter, begun)]


def libraries(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
    """Return the names of libraries."""
    from dpassay.impl.libraries.registry import known_libraries

    return _beginning(begun, known_libraries())


def sources(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
    """Return the keys of documents."""
    from dpassay.spec.sources import SOURCES

    return _beginning(begun, SOURCES)


def experiments(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
    """Return the names of experiments."""
    from dpassay.properties.experiments.base import all_experiments

    return _beginning(begun, (one.name for one in all_experiments()))


def _beginning(begun: str, known: Iterable[str]) -> list[str]:
    return sorted(name for name in known if name.casefold().startswith(begun.casefold()))
