"""Which checks reach which blocks: measured once in an instrumented copy of the tree, and kept.

Every check is a test of pytest; statements and errata are tests of their own (`statement_checks.py`). A measurement
that was interrupted is completed; after a change of the tree, the checks whose own file changed, or that enter a
changed file, are measured anew. Code that runs at import, or while tests are collected, is reached by all checks that
enter its file, or a file that imports its file, besides those that run it themselves.
"""

import ast
import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.mutation.mutants import Mutant, read_sources
from benchmarks.mutation.overlay import STATEMENT_CHECKS, Overlay
from benchmarks.mutation.probes import COLLECTION

__all__ = ["Check", "Reach", "load", "measure"]


@dataclass(frozen=True)
class Check:
    """A test that passes on the unchanged tree, and the CPU seconds that it takes there."""

    name: str
    seconds: float
    blocks: int
    """How many blocks it enters."""

    @property
    def cost(self) -> float:
        """Return the CPU seconds that it takes in a trial, its share in what pytest does included."""
        return 0.02 + self.seconds

    @property
    def promise(self) -> float:
        """Return a figure that is small for quick checks of little code, which find a mutant there soonest."""
        return self.cost * self.blocks

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
    early: set[str] = field(default_factory=set)
    """The blocks that run at import, or while tests are collected."""

    def add(self, check: Check, blocks: Iterable[str]) -> None:
        """Enter what a check reaches."""
        for block in blocks:
            self.by_block[block].add(check)
            self.by_file[block.partition("::")[0]].add(check)

    def runs_early(self, mutant: Mutant) -> bool:
        """Return whether imports, or the collection of tests, depend on a mutant."""
        return mutant.block is None or f"{mutant.path}::{mutant.block}" in self.early

    def checks(self, mutant: Mutant) -> list[Check]:
        """Return the checks that reach a mutant: those that enter its block first, the most promising foremost."""
        own = self.by_block.get(f"{mutant.path}::{mutant.block}", set())
        others = self._of_importers(mutant.path) - own if self.runs_early(mutant) else set()
        return [check for some in (own, others) for check in sorted(some, key=lambda x: (x.promise, x.name))]

    def _of_importers(self, path: str) -> set[Check]:
        return set().union(*(self.by_file.get(each, ()) for each in (path, *self.importers.get(path, ()))))


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

    The names of the blocks, and digests of the sources and tests, lie beside it.
    """
    digests, kept = overlay.digests(), _names_file(store)
    names = overlay.instrument()
    if store.exists():
        before = json.loads(kept.read_text("utf-8"))
        lines = _still_valid(store, before, digests, names)
        store.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    kept.write_text(json.dumps({"digests": digests, "names": names}), encoding="utf-8")
    environment = {**overlay.environment(os.environ), "MUTATION_REACH": str(store)}
    plugin = ["-p", "benchmarks.mutation.reach_plugin", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", "-q", *plugin, STATEMENT_CHECKS, *tests]
    subprocess.run(command, cwd=overlay.root, env=environment, check=False)  # noqa: S603


def _names_file(store: Path) -> Path:
    return store.with_suffix(".names.json")


def _still_valid(
    store: Path, before: Mapping[str, Any], digests: Mapping[str, str], names: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Yield the measurements that no change of a file concerns, in terms of the blocks of today."""
    changed = {path for path, digest in before["digests"].items() if digests.get(path) != digest}
    numbers = {name: k for k, name in enumerate(names)}
    old: Sequence[str] = before["names"]
    for record in list(_lines(store)):
        entered = {old[hit].partition("::")[0] for hit in record["hits"]}
        if not changed & {record["check"].partition("::")[0], *entered}:
            yield {**record, "hits": [numbers[old[hit]] for hit in record["hits"]]}


def _lines(store: Path) -> Iterator[dict[str, Any]]:
    return map(json.loads, store.read_text("utf-8").splitlines())


def load(root: Path, store: Path) -> tuple[Reach, int]:
    """Read measurements; return them and the number of checks that did not pass, which are left out."""
    names = json.loads(_names_file(store).read_text("utf-8"))["names"]
    reach, failed = Reach(importers=importers(root)), 0
    for record in _lines(store):
        blocks = [names[hit] for hit in record["hits"]]
        failed += not record["passed"]
        if record["check"] == COLLECTION:
            reach.early.update(blocks)
        elif record["passed"]:
            reach.add(Check(record["check"], record["seconds"], len(blocks)), blocks)
    return reach, failed
