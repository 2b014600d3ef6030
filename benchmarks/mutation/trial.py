"""One trial: the checks that reach a mutant, in a child process, until the first that fails.

The parent has the libraries of others in memory; the child imports the copy of the tree, mutant and all. It says
through a pipe which check it starts, so that the parent knows which one a dead or hanging child was running.
"""

import importlib
import os
import resource
import sys
import time
import traceback
from collections.abc import Sequence
from multiprocessing.connection import Connection

from benchmarks.mutation.overlay import Overlay
from benchmarks.mutation.reach import Check

__all__ = ["run_trial", "slack_of"]

LOG = "trial.log"
QUICK = 1.0
OPTIONS = ["-x", "-q", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
LARGEST_MEMORY = 8 * 2**30


def slack_of(check: Check) -> float:
    """Return the CPU seconds after which a check counts as hanging: ten times what it takes, and ten more."""
    return 10 + 10 * check.seconds


def run_trial(overlay: Overlay, path: str, checks: Sequence[Check], report: Connection) -> None:
    """Run the checks of a mutant of the file `path`; never returns."""
    os.setsid()
    os.chdir(overlay.root)
    os.environ.update(overlay.environment(os.environ))
    sys.path[:0] = [str(overlay.root / "src"), str(overlay.root)]
    sys.dont_write_bytecode = True
    resource.setrlimit(resource.RLIMIT_AS, (LARGEST_MEMORY, LARGEST_MEMORY))
    with (overlay.root / LOG).open("w") as silent:
        os.dup2(silent.fileno(), 1)
        os.dup2(silent.fileno(), 2)
    try:
        report.send(("end", _broken_import(path) or _first_failure(checks, report)))
    except BaseException:  # noqa: BLE001  # the parent is told, and the process ends here
        report.send(("error", traceback.format_exc()))
    report.close()
    os._exit(0)


def _broken_import(path: str) -> str | None:
    """Import every statement and the mutated module; return the error, if any."""
    try:
        importlib.import_module("dpassay.spec.statement").all_statements()
        importlib.import_module("dpassay." + path.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
    except Exception as error:  # noqa: BLE001  # whatever a mutant raises
        return f"import ({type(error).__name__})"
    return None


def _first_failure(checks: Sequence[Check], report: Connection) -> str | None:
    """Return the first check that fails, the fastest statements first, then the fastest tests, then the others."""
    import pytest

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


class _Stage:
    """A pytest plugin: runs the chosen checks in the chosen order, each with a limit of CPU time."""

    def __init__(self, checks: Sequence[Check], report: Connection) -> None:
        self.order = {each.name: each for each in checks}
        self.report = report
        self.failed: str | None = None

    def pytest_collection_modifyitems(self, items: list["object"]) -> None:
        chosen = {item.nodeid: item for item in items if item.nodeid in self.order}  # type: ignore[attr-defined]
        missing = self.order.keys() - chosen
        if missing:  # parameters come from the code under test: a test that is gone does not pass
            self.failed = f"{min(missing)} (not collected)"
            items[:] = []
            raise _GoneError(self.failed)
        items[:] = [chosen[name] for name in self.order]

    def pytest_collectreport(self, report: "object") -> None:
        if report.failed and self.failed is None:  # type: ignore[attr-defined]
            self.failed = f"{report.nodeid} (collection)"  # type: ignore[attr-defined]

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        check = self.order[nodeid]
        self.report.send(("start", nodeid))
        limit = int(time.process_time() + slack_of(check)) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))

    def pytest_runtest_logreport(self, report: "object") -> None:
        if report.outcome == "failed" and self.failed is None:  # type: ignore[attr-defined]
            self.failed = report.nodeid  # type: ignore[attr-defined]


class _GoneError(Exception):
    """A check is not there any more."""
