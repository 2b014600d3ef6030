"""A pytest plugin for an instrumented tree: what each test entered, how long it took and whether it passed.

A line of JSON for each test, and one for the collection, goes to the file named by the environment variable
MUTATION_REACH. Caches are emptied
before each test, so that a test that would find a value there is seen to need it.
"""

import functools
import gc
import json
import os
import sys
import time
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from benchmarks.mutation.probes import COLLECTION, PROBE_MODULE


class _Recorder:
    def __init__(self, target: Path) -> None:
        self.target = target
        self.passed = True
        done = target.read_text(encoding="utf-8").splitlines() if target.exists() else []
        self.done = {json.loads(line)["check"] for line in done}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        self._write(COLLECTION, 0.0)
        items[:] = [item for item in items if item.nodeid not in self.done]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        for cache in _caches():
            cache.cache_clear()
        sys.modules[PROBE_MODULE].HITS.clear()
        self.passed, start = True, time.process_time()
        result = yield
        self._write(item.nodeid, time.process_time() - start)
        return result

    def _write(self, check: str, seconds: float) -> None:
        hits = sorted(sys.modules[PROBE_MODULE].HITS)
        line = {"check": check, "seconds": round(seconds, 4), "passed": self.passed, "hits": hits}
        with self.target.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.passed &= report.outcome == "passed"


_CACHE = type(functools.cache(len))


def _caches() -> Iterator["functools._lru_cache_wrapper[object]"]:
    if not _KNOWN:
        _KNOWN.extend(x for x in gc.get_objects() if isinstance(x, _CACHE) and _is_ours(x))
    return iter(_KNOWN)


_KNOWN: list["functools._lru_cache_wrapper[object]"] = []


def _is_ours(cache: "functools._lru_cache_wrapper[object]") -> bool:
    return str(getattr(cache, "__module__", "")).startswith(("dpassay.spec", "dpassay.impl"))


def pytest_configure(config: pytest.Config) -> None:
    """Start to record."""
    config.pluginmanager.register(_Recorder(Path(os.environ["MUTATION_REACH"])), "mutation-reach")
