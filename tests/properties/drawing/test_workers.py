"""The same hunt on every backend, each of them a real one."""

import logging
import os
import subprocess
import sys
import threading
import time
import types
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpassay.arguments import UsageError
from dpassay.properties.drawing.draws import Draw
from dpassay.properties.drawing.workers import BACKENDS, jobs_of, on_workers
from dpassay.properties.hunting.hunt import hunt
from dpassay.properties.hunting.result import HuntResult

Array = NDArray[np.float64]
LINE = "vector:size=1,linf=1"
FILE = "def noisy(data, size, rng):\n    return data[0] + rng.laplace(0, 0.5, size)\n"

SCALE = 0.5


def in_this_module(data: Array, size: int, rng: np.random.Generator) -> Array:
    return np.asarray(data[0] + rng.laplace(0, SCALE, size))


def closure(scale: float) -> Callable[[Array, int, np.random.Generator], Array]:
    return lambda data, size, rng: np.asarray(data[0] + rng.laplace(0, scale, size))


def timeless(result: HuntResult) -> HuntResult:
    return replace(result, seconds=0, cpu_seconds=0)


TARGETS: dict[str, Any] = {"function": in_this_module, "closure": closure(0.5), "file": "mine.py:noisy"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("targets")
    (path / "mine.py").write_text(FILE, encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def relative_paths_are_found(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


@cache
def alone(target: str) -> HuntResult:
    return hunt(TARGETS[target], "pure:1", LINE, calls=2_000, seed=5, alpha=1e-3)


def assert_same_everywhere(backend: str) -> None:
    for name, target in TARGETS.items():
        together = hunt(target, "pure:1", LINE, calls=2_000, seed=5, alpha=1e-3, jobs=2, backend=backend)
        assert timeless(alone(name)) == timeless(together)
        assert together.verdict == "violated"


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_the_result_is_the_same_on_workers(backend: str) -> None:
    assert_same_everywhere(backend)


@pytest.fixture
def dask_client() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with cluster, distributed.Client(cluster) as client:
        yield client


def test_the_dask_client_of_the_caller_is_used(dask_client: Any) -> None:
    assert_same_everywhere("dask")
    counts = dask_client.run(lambda dask_worker: dask_worker.state.executed_count)
    assert all(count > 0 for count in counts.values())


@pytest.fixture
def local_ray(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    pytest.importorskip("ray")
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    import ray

    ray.init(
        num_cpus=2,
        include_dashboard=False,
        object_store_memory=100 << 20,
        log_to_driver=False,
        logging_level=logging.ERROR,
    )
    yield ray
    ray.shutdown()


def test_the_ray_of_the_caller_is_used(local_ray: Any) -> None:
    assert_same_everywhere("ray")
    assert local_ray.is_initialized()


@pytest.mark.slow
@pytest.mark.parametrize(("backend", "module"), [("dask", "distributed"), ("ray", "ray")])
def test_the_command_line_starts_a_cluster_and_ends_it(tmp_path: Path, backend: str, module: str) -> None:
    pytest.importorskip(module)
    command = [sys.executable, "-m", "dpassay.cli", "hunt", "mine.py:noisy", "--claim", "pure:1", "--neighbours", LINE]
    command += ["--calls", "2000", "--alpha", "0.001", "--backend", backend, "--jobs", "2", "--json", "--no-trace"]
    environment = {name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"}
    done = subprocess.run(
        command, env=environment | {"HOME": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.count("\n") == 1


# --- what cannot be done ------------------------------------------------------------------------------------


def test_workers_by_default_are_one_here_and_all_of_a_cluster() -> None:
    assert [jobs_of(None, backend) for backend in BACKENDS] == [1, 1, -1, -1]
    for jobs in (0, 1.5, "2"):
        with pytest.raises(UsageError, match="jobs must be an integer"):
            jobs_of(jobs, "loky")  # type: ignore[arg-type]


@pytest.mark.parametrize("backend", ["dask", "ray"])
@pytest.mark.parametrize("jobs", [None, 1, 2])
def test_a_backend_that_is_not_installed_is_named_with_its_remedy(
    backend: str, jobs: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ray", "ray.util.joblib", "distributed"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(UsageError, match=rf"backend '{backend}' cannot be used: .*pip install 'dpassay\[cluster\]'"):
        hunt(in_this_module, "pure:2", LINE, calls=64, jobs=jobs, backend=backend)


def test_a_cluster_that_does_not_come_up_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def init(**_: object) -> None:
        raise ConnectionError("nobody listens")

    ray = types.ModuleType("ray")
    ray.__dict__.update(is_initialized=lambda: False, init=init)
    monkeypatch.setitem(sys.modules, "ray", ray)
    with pytest.raises(UsageError, match="backend 'ray' cannot be started: ConnectionError: nobody listens"):
        hunt(in_this_module, "pure:2", LINE, calls=64, backend="ray")


def test_a_target_that_cannot_travel_is_named() -> None:
    lock = threading.Lock()

    def locked(data: Array, size: int, rng: np.random.Generator) -> Array:
        with lock:
            return rng.random(size)

    with pytest.raises(UsageError, match="target cannot be sent to the workers of backend 'loky': TypeError"):
        hunt(locked, "pure:1", LINE, calls=64, jobs=2)


def test_a_function_of_a_module_that_workers_cannot_import_takes_its_code_along(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = types.ModuleType("nowhere_to_be_found")
    module.__file__ = "nowhere_to_be_found.py"
    exec(FILE, module.__dict__)  # noqa: S102  # a module that is nowhere on the path
    monkeypatch.setitem(sys.modules, module.__name__, module)
    assert hunt(module.noisy, "pure:1", LINE, calls=500, jobs=2).calls == 500


def leaves(data: Array, size: int, rng: np.random.Generator) -> Array:
    if size > 64:
        os._exit(3)
    return rng.random(size)


def dies(data: Array, size: int, rng: np.random.Generator) -> Array:
    os._exit(3)


def test_when_a_worker_dies_what_is_known_is_reported() -> None:
    result = hunt(leaves, "pure:1", LINE, calls=20_000, jobs=2)
    assert result.stopped == "workers lost"
    assert 0 < result.calls < 20_000
    assert "TerminatedWorkerError" in result.notes[0]
    with pytest.raises(UsageError, match="TerminatedWorkerError"):
        hunt(dies, "pure:1", LINE, calls=1_000, jobs=2)


def test_workers_begin_with_the_longest_draws_and_results_keep_their_order() -> None:
    began: list[int] = []

    def target(data: Array, size: int, rng: np.random.Generator) -> Array:
        began.append(size)
        time.sleep(0.02 * size)
        return np.asarray(data[0] + rng.laplace(0, 1, size))

    sizes = [1, 9, 2, 7]
    draws = [Draw(np.zeros(1), size, np.random.SeedSequence(size), one_by_one=False) for size in sizes]
    with on_workers(None, target, jobs=2, backend="threading", call_timeout=float("inf")) as drawing:
        found = list(drawing(draws))
    assert [len(outcomes) for outcomes in found if outcomes is not None] == sizes
    assert {*began[:2]} == {9, 7}
    assert began[2:] == [2, 1]
