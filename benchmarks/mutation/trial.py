"""One trial: the checks that reach a mutant, in a child process, until the first that fails.

The parent has collected all checks. A mutant of code that has not run yet is put into the modules that the child
inherits; for one that takes part in imports or in the collection, the child forgets these modules and imports the
changed copy of the tree. The child says through a pipe which check it starts, so that the parent knows which one a
dead or hanging child was running.
"""

import importlib
import os
import resource
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from types import FunctionType

import pytest

from benchmarks.mutation.mutants import Mutant
from benchmarks.mutation.overlay import Overlay
from benchmarks.mutation.patching import patch
from benchmarks.mutation.reach import Check

__all__ = ["OPTIONS", "Bench", "slack_of"]

LOG = "trial.log"
QUICK = 1.0
OPTIONS = ["-x", "-q", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
LARGEST_MEMORY = 8 * 2**30


def slack_of(check: Check) -> float:
    """Return the CPU seconds after which a check counts as hanging: five times what it takes, and five more."""
    return 5 + 5 * check.seconds


@dataclass(frozen=True)
class Bench:
    """A copy of the tree, the checks that were collected there, and the functions that its modules have made."""

    overlay: Overlay
    items: Mapping[str, pytest.Item]
    functions: Mapping[str, Sequence[FunctionType]]

    def run_trial(self, mutant: Mutant | None, anew: bool, checks: Sequence[Check], report: Connection) -> None:
        """Run checks of a mutant, or of the tree as it is, in a child process; never returns.

        With `anew` the modules are imported and the checks collected once more.
        """
        self._prepare()
        try:
            if mutant is not None and (anew or not self._patch(mutant)):
                _forget(self.overlay.root)
                failed = _broken_import(mutant.path) or _first_failure_anew(checks, report)
            else:
                failed = self._first_failure(checks, report)
            report.send(("end", failed))
        except BaseException:  # noqa: BLE001  # the parent is told, and the process ends here
            report.send(("error", traceback.format_exc()))
        report.close()
        os._exit(0)

    def _prepare(self) -> None:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_AS, (LARGEST_MEMORY, LARGEST_MEMORY))
        with (self.overlay.root / LOG).open("w") as silent:
            os.dup2(silent.fileno(), 1)
            os.dup2(silent.fileno(), 2)

    def _patch(self, mutant: Mutant) -> int:
        file = f"{self.overlay.root}/src/dpassay/{mutant.path}"
        return patch(self.functions.get(file, ()), file, self.overlay.texts[mutant.path], mutant.changed)

    def _first_failure(self, checks: Sequence[Check], report: Connection) -> str | None:
        """Run checks that were collected before the fork; return the first that fails."""
        chosen = [self.items[each.name] for each in checks]
        watch = _Watch(checks, report)
        chosen[0].config.pluginmanager.register(watch)
        for item, following in zip(chosen, [*chosen[1:], None], strict=True):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if watch.failed is not None:
                return watch.failed
        return None


def _forget(root: Path) -> None:
    """Drop every module of the copy, so that the next import reads its file."""
    for name, module in list(sys.modules.items()):
        if (getattr(module, "__file__", None) or "").startswith(f"{root}/"):
            del sys.modules[name]
    importlib.invalidate_caches()


def _broken_import(path: str) -> str | None:
    """Import every statement and the mutated module; return the error, if any."""
    try:
        importlib.import_module("dpassay.spec.statement").all_statements()
        importlib.import_module("dpassay." + path.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
    except Exception as error:  # noqa: BLE001  # whatever a mutant raises
        return f"import ({type(error).__name__})"
    return None


def _first_failure_anew(checks: Sequence[Check], report: Connection) -> str | None:
    """Collect checks and run them: quick statements first, as all of them stand in one file; then quick tests."""
    statements = [each for each in checks if each.seconds < QUICK and "mutation_statements" in each.name]
    tests = [each for each in checks if each.seconds < QUICK and each not in set(statements)]
    for stage in (statements, tests, [each for each in checks if each.seconds >= QUICK]):
        plugin = _Stage(stage, report)
        files = sorted({each.path for each in stage})
        if files:
            status = pytest.main([*OPTIONS, *files], plugins=[plugin])
            if status != pytest.ExitCode.OK and plugin.failed is None:
                raise RuntimeError(f"pytest ended with {status!r}; {LOG} of the copy says why")
            if plugin.failed is not None:
                return plugin.failed
    return None


class _Watch:
    """A pytest plugin: announces each check, limits its CPU time, and keeps the first failure."""

    def __init__(self, checks: Sequence[Check], report: Connection) -> None:
        self.order = {each.name: each for each in checks}
        self.report = report
        self.failed: str | None = None

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.report.send(("start", nodeid))
        limit = int(time.process_time() + slack_of(self.order[nodeid])) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.outcome == "failed" and self.failed is None:
            self.failed = report.nodeid


class _Stage(_Watch):
    """Chooses and orders the checks, besides."""

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        chosen = {item.nodeid: item for item in items if item.nodeid in self.order}
        missing = self.order.keys() - chosen
        if missing:  # parameters come from the code under test: a test that is gone does not pass
            self.failed = f"{min(missing)} (not collected)"
            items[:] = []
            raise _GoneError(self.failed)
        items[:] = [chosen[name] for name in self.order]

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed and self.failed is None:
            self.failed = f"{report.nodeid} (collection)"


class _GoneError(Exception):
    """A check is not there any more."""
