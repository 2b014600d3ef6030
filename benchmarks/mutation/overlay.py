"""A copy of the tree that mutants may change: the user's own files are never touched."""

import compileall
import hashlib
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.mutation.mutants import Mutant, read_sources
from benchmarks.mutation.probes import PROBE_MODULE, instrumented

__all__ = ["STATEMENT_CHECKS", "Overlay"]

STATEMENT_CHECKS = "tests/test_mutation_statements.py"
_PROBE = '''"""Blocks that were entered since the last call of clear."""

HITS: set[int] = set()
reached = HITS.add
'''


@dataclass(frozen=True)
class Overlay:
    """A directory with a copy of every file that git knows or would add, and the statements as tests."""

    root: Path
    texts: Mapping[str, str] = field(repr=False)
    """The files that may be mutated, as they were copied."""
    times: Mapping[str, tuple[int, int]] = field(repr=False)
    """When they were read and changed, in nanoseconds."""

    @classmethod
    def of(cls, tree: Path, root: Path) -> "Overlay":
        """Copy a tree, links as links."""
        command = ["git", "-C", str(tree), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603
        shutil.rmtree(root, ignore_errors=True)
        for name in filter(None, listed.split("\0")):
            if (tree / name).exists():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(tree / name, root / name, follow_symlinks=False)
        shutil.copy2(Path(__file__).with_name("statement_checks.py"), root / STATEMENT_CHECKS)
        for folder in ("src", "spec", "impl", "properties"):
            compileall.compile_dir(root / folder, maxlevels=20, quiet=2)
        texts = {source.path: source.text for source in read_sources(root)}
        return cls(root, texts, {path: _times(root / path) for path in texts})

    def plant(self, mutant: Mutant) -> None:
        """Put a mutant into its file."""
        (self.root / mutant.path).write_text(mutant.changed, encoding="utf-8")

    def restore(self, path: str) -> None:
        """Take a mutant out of its file, which is then as old as its compiled form says."""
        file = self.root / path
        file.write_text(self.texts[path], encoding="utf-8")
        os.utime(file, ns=self.times[path])

    def digests(self) -> dict[str, str]:
        """Return a digest of each file of the code that is mutated and of the tests."""
        files = (path for folder in ("spec", "impl", "tests") for path in (self.root / folder).rglob("*.py"))
        return {str(path.relative_to(self.root)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}

    def environment(self, inherited: Mapping[str, str]) -> dict[str, str]:
        """Return an environment in which python imports the copy and leaves no compiled files."""
        single = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        path = f"{self.root / 'src'}:{self.root}:{Path(__file__).parents[2]}"
        return {**inherited, **single, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}

    def instrument(self) -> list[str]:
        """Make the mutated folders report the blocks that they enter; return the names of the blocks."""
        names: list[str] = []
        for source in read_sources(self.root):
            text, found = instrumented(source.text, len(names))
            (self.root / source.path).write_text(text, encoding="utf-8")
            names += [f"{source.path}::{name}" for name in found]
        (self.root / "src" / f"{PROBE_MODULE}.py").write_text(_PROBE, encoding="utf-8")
        return names


def _times(file: Path) -> tuple[int, int]:
    status = file.stat()
    return status.st_atime_ns, status.st_mtime_ns
