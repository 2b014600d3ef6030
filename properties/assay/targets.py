"""Interpreters for the versions of a library: new environments, or an existing interpreter."""

import sys
from collections.abc import Callable, Iterator, Sequence

from dpassay.arguments import UsageError
from dpassay.impl.libraries.environments import build_environment, newest_version
from dpassay.impl.libraries.registry import Library
from dpassay.properties.assay.suite import Target

__all__ = ["targets_of"]


def targets_of(
    library: Library, versions: Sequence[str], python: str | None, report: Callable[[str], None] = print
) -> Iterator[Target]:
    """Yield the target of each version of a library, building environments as needed.

    Parameters
    ----------
    library : Library
        The library.
    versions : sequence of str
        Releases. By default, without `python`, the newest release; for an adapter outside dpassay, the current
        interpreter.
    python : str, optional
        Interpreter in which the library is installed.
    report : callable
        Receives one-line messages about slow steps.

    Raises
    ------
    UsageError
        If the options contradict each other, or an environment cannot be built.
    """
    if versions and python is not None:
        raise UsageError("--version builds an environment and --python uses an existing one; give only one of them")
    if not library.recipes and versions:
        raise UsageError(
            f"--version needs a library.toml with an environment beside {str(library.adapter)!r}; use --python instead"
        )
    adapter = str(library.adapter)
    if python is not None or not (versions or library.shipped):
        yield Target(python or sys.executable, adapter)
        return
    for version in versions or (newest_version(library),):
        interpreter = build_environment(library, version, report)
        yield Target(str(interpreter), adapter, isolated=True)
