"""Where the versions of a library run: environments that are built, or an interpreter that exists."""

import sys
from collections.abc import Callable, Iterator, Sequence

from dpassay.claims import UsageError
from dpassay.impl.libraries.environments import build_environment, newest_version
from dpassay.impl.libraries.registry import Library
from dpassay.properties.assay.suite import Target

__all__ = ["targets_of"]


def targets_of(
    library: Library, versions: Sequence[str], python: str | None, report: Callable[[str], None] = print
) -> Iterator[Target]:
    """Yield where each version of a library runs, building environments.

    Parameters
    ----------
    library : Library
        The library.
    versions : sequence of str
        Releases; without any, and without `python`, the newest one, or this interpreter for an adapter that is not
        one of dpassay's own.
    python : str, optional
        An interpreter that has the library.
    report : callable
        Told in a line what takes long.

    Raises
    ------
    UsageError
        If the options contradict each other, or an environment cannot be built.
    """
    if versions and python is not None:
        raise UsageError("--version builds an environment and --python uses one that exists: give one of them")
    if not library.recipes and versions:
        raise UsageError(
            f"--version needs an environment, and no library.toml with one lies beside {str(library.adapter)!r}; "
            "give --python"
        )
    adapter = str(library.adapter)
    if python is not None or not (versions or library.shipped):
        yield Target(python or sys.executable, adapter)
        return
    for version in versions or (newest_version(library),):
        interpreter = build_environment(library, version, report)
        yield Target(str(interpreter), adapter, isolated=True)
