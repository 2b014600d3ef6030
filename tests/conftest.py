"""The suite is deterministic: hypothesis draws the same examples in every run; and it can be interrupted anywhere."""

import gc
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("deterministic", derandomize=True, deadline=None)
settings.load_profile("deterministic")

# A shell starts what it puts into the background deaf to Ctrl-C, and so would be the processes that tests interrupt.
if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


SLOW = frozenset(
    line
    for line in (Path(__file__).parent / "slow_tests.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that the list names, before the selection by markers."""
    for item in items:
        if item.nodeid in SLOW:
            item.add_marker(pytest.mark.slow)


def pytest_collection_finish() -> None:
    """Leave what was collected out of later garbage collections, which took an eighth of the time of the tests."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _sampled_unless_traced(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let hunts sample: most targets of the tests are simple enough to be decided without a sample.

    Tests of decisions from traced code are marked `traced`.
    """
    if request.node.get_closest_marker("traced") is None:
        from dpassay.properties.drawing.opened import OpenedTarget
        from dpassay.properties.hunting.decision import Decision

        monkeypatch.setattr(OpenedTarget, "traced", lambda *_: Decision())
        monkeypatch.setattr(OpenedTarget, "refuted_exactly", lambda *_: None)


@pytest.fixture
def own_registries(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Forget the statements, items and modules that a test registers: other tests count those of the repository."""
    from dpassay.spec import sources
    from dpassay.spec import statement as registry

    registry.all_statements()
    monkeypatch.setattr(registry._STATEMENTS, "_entries", dict(registry._STATEMENTS._entries))
    monkeypatch.setattr(sources, "_OTHER_ITEMS", {})
    before, path = set(sys.modules), list(sys.path)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None) and "pytest-of" in str(sys.modules[name].__file__):
            del sys.modules[name]
