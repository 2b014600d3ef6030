"""Which checks reach which blocks: measured once in an instrumented copy of the tree, and kept.

Every check is a test of pytest; statements and errata are tests of their own (`statement_checks.py`). A measurement
that was interrupted is completed; one of other sources is made anew. Code that runs at import only is reached by
all checks that enter its file, or a file that imports its file.
"""

import ast
import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.mutation.mutants import Mutant, read_sources
from benchmarks.mutation.overlay import STATEMENT_CHECKS, Overlay

__all__ = ["Check", "Reach", "load", "measure"]


@dataclass(frozen=True)
class Check:
    """A test that passes on the unchanged tree, and the CPU seconds that it takes there."""

    name: str
    seconds: float

    @property
    def path(self) -> str:
        """The file of the test."""
        return self.name.partition("::")[0]


@dataclass
class Reach:
    """The checks of each block and of each file."""

    by_block: dict[str, set[Check]] = field(default_factory=lambda: defaultdict(set))
    by_file: dict[str, set[Check]] = field(default_factory=lambda: defaultdict(set))
    importers: dict[str, set[str]] = field(default_factory=dict)

    def add(self, check: Check, blocks: Iterable[str]) -> None:
        """Enter what a check reaches."""
        for block in blocks:
            self.by_block[block].add(check)
            self.by_file[block.partition("::")[0]].add(check)

    def checks(self, mutant: Mutant) -> list[Check]:
        """Return the checks that reach a mutant, fastest first."""
        return sorted(self._reaching(mutant), key=lambda check: (check.seconds, check.name))

    def _reaching(self, mutant: Mutant) -> set[Check]:
        file = self.by_file.get(mutant.path, set())
        if mutant.block is None:
            return file.union(*(self.by_file.get(path, set()) for path in self.importers.get(mutant.path, ())))
        return self.by_block.get(f"{mutant.path}::{mutant.block}", set())


def importers(root: Path) -> dict[str, set[str]]:
    """Return for each file of the sources the files of the sources that import it."""
    found: dict[str, set[str]] = defaultdict(set)
    for source in read_sources(root):
        for node in ast.walk(source.tree):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("dpassay."):
                below = node.module.removeprefix("dpassay.").replace(".", "/")
                for candidate in (f"{below}.py", *(f"{below}/{alias.name}.py" for alias in node.names)):
                    found[candidate].add(source.path)
    return found


def measure(overlay: Overlay, tests: Sequence[str], store: Path) -> None:
    """Run the tests in an instrumented copy, one line of `store` for each; those that stand there are not repeated.

    The names of the blocks, and a digest of the sources and tests, lie beside it.
    """
    digest = overlay.digest()
    kept = store.with_suffix(".names.json")
    if kept.exists() and json.loads(kept.read_text("utf-8"))["digest"] != digest:
        store.unlink(missing_ok=True)
    kept.write_text(json.dumps({"digest": digest, "names": overlay.instrument()}), encoding="utf-8")
    environment = {**overlay.environment(os.environ), "MUTATION_REACH": str(store)}
    plugin = ["-p", "benchmarks.mutation.reach_plugin", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", "-q", *plugin, STATEMENT_CHECKS, *tests]
    subprocess.run(command, cwd=overlay.root, env=environment, check=False)  # noqa: S603


def load(root: Path, store: Path) -> tuple[Reach, int]:
    """Read measurements; return them and the number of checks that did not pass, which are left out."""
    names = json.loads(store.with_suffix(".names.json").read_text("utf-8"))["names"]
    reach, failed = Reach(importers=importers(root)), 0
    for line in store.read_text("utf-8").splitlines():
        record = json.loads(line)
        failed += not record["passed"]
        if record["passed"]:
            reach.add(Check(record["check"], record["seconds"]), (names[hit] for hit in record["hits"]))
    return reach, failed
