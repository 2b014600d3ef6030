"""The lock files of the libraries: `python .ci/locks.py [LIBRARY[==VERSION] ...]` writes them, with uv.

`impl/libraries/<name>/locks/<version>.txt` holds every distribution of the environment in which `dpassay assay` runs a
version of a library, with the hashes of its files for all platforms. Without arguments the newest release of each
library is locked and its older locks are deleted.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from dpassay.impl.libraries.environments import newest_version
from dpassay.impl.libraries.registry import Library, find_library, known_libraries

PYTHON = "3.11"
"""The oldest Python of the locks."""

ACCEPTED = ">=3.11,<3.14"
"""The versions of Python for which the locks are used: those that dpassay is tested with."""


def locked(library: Library, version: str) -> str:
    """Return the text of the lock file of a version."""
    recipe = library.recipe_for(version)
    this, further = f"{library.name}=={version}", [*recipe.pins, *recipe.extra]
    text = resolved([this], "--no-deps") + resolved(further) if recipe.no_deps else resolved([this, *further])
    return f"# python {ACCEPTED}\n{text}"


def resolved(requirements: list[str], *options: str) -> str:
    """Return pins and hashes that meet requirements, with what they require in turn."""
    if not requirements:
        return ""
    with tempfile.TemporaryDirectory() as folder:
        wanted = Path(folder) / "requirements.in"
        wanted.write_text("\n".join(requirements), encoding="utf-8")
        layout = ["--quiet", "--no-header", "--no-annotate", "--no-emit-index-url"]
        content = ["--universal", "--generate-hashes", "--python-version", PYTHON]
        done = subprocess.run(  # noqa: S603  # the uv of this environment
            [uv(), "pip", "compile", *layout, *content, *options, str(wanted)],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
    return done.stdout


def uv() -> str:
    """Return the path of uv, of this environment or of the search path."""
    found = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
    if found is None:
        sys.exit("uv is not installed: pip install uv")
    return found


def write(library: Library, version: str) -> None:
    """Write the lock file of a version."""
    folder = library.adapter.parent / "locks"
    folder.mkdir(exist_ok=True)
    (folder / f"{version}.txt").write_text(locked(library, version), encoding="utf-8")
    sys.stdout.write(f"{library.name} {version}\n")


def main(wanted: list[str]) -> None:
    """Lock the libraries that are named, or the newest release of each."""
    for text in wanted:
        name, _, version = text.partition("==")
        library = find_library(name)
        write(library, version or newest_version(library))
    if wanted:
        return
    for library in known_libraries().values():
        version = newest_version(library)
        for old in library.adapter.parent.glob("locks/*.txt"):
            old.unlink()
        write(library, version)


if __name__ == "__main__":
    main(sys.argv[1:])
