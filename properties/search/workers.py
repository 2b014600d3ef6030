"""Carrying out the draws of a hunt: in this process, or on the workers of a joblib backend.

Only draws travel to the workers, and outcomes back; bets are settled here, in the order of the draws, so that the
number of workers changes nothing.
"""

import importlib
import os
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import cloudpickle
import joblib

from dpassay.claims import UsageError
from dpassay.properties.audit.game import Draw
from dpassay.properties.audit.outcomes import Outcomes, Sampler, sampler_of
from dpassay.properties.audit.watching import CallTimeoutError, Habit, carry_out
from dpassay.properties.search.target import load_target

__all__ = ["BACKENDS", "Drawing", "WorkersLostError", "jobs_of", "on_workers"]

BACKENDS = ("loky", "threading", "dask", "ray")

_CLUSTERS = ("dask", "ray")
_OBJECT_STORE = 100 << 20  # bytes: outcomes of a round are all that it holds


class WorkersLostError(Exception):
    """The backend failed: a worker process died, or the cluster went away."""


@dataclass
class Drawing:
    """Carries out draws and collects what is noticed on the way.

    Parameters
    ----------
    run : callable
        Carries out draws and yields the results in their order.
    habits : set of Habit
        What was noticed so far.
    """

    run: Callable[[Sequence[Draw]], Iterable["_Result"]]
    habits: set[Habit] = field(default_factory=set)

    def __call__(self, draws: Sequence[Draw]) -> Iterator[Outcomes | None]:
        """Yield the outcomes of each draw, None if a call of many outcomes raised.

        Raises
        ------
        CallTimeoutError, UsageError, WorkersLostError
            See `carry_out`; also if workers cannot load the target, or die.
        """
        for outcomes, habits in map(_unwrapped, self.run(draws)):
            self.habits |= habits
            yield outcomes


def jobs_of(jobs: int | None, backend: str) -> int:
    """Return how many workers are meant: by default one process here, and all that a cluster has.

    Raises
    ------
    UsageError
        If `backend` is unknown or `jobs` is no number of workers.
    """
    if backend not in BACKENDS:
        raise UsageError(f"backend must be one of {', '.join(BACKENDS)}, got {backend!r}")
    if jobs is None:
        return -1 if backend in _CLUSTERS else 1
    if not isinstance(jobs, int) or jobs == 0:
        raise UsageError(f"jobs must be an integer, at least 1, or -1 for one per core, got {jobs!r}")
    return jobs


@contextmanager
def on_workers(
    target: str | None, sampler: Sampler, *, jobs: int, backend: str, call_timeout: float
) -> Iterator[Drawing]:
    """Yield what carries out draws.

    Parameters
    ----------
    target : str, optional
        The name of the target, which workers load themselves: code from a file cannot be sent by reference.
    sampler : Sampler
        The target.
    jobs, backend, call_timeout
        As for `hunt`. A cluster that the caller has set up is used; otherwise a local one runs for as long as this.

    Raises
    ------
    UsageError
        If the backend is not installed or does not start, or the target cannot be sent to workers.
    """
    if jobs == 1 and backend not in _CLUSTERS:
        yield Drawing(lambda draws: (carry_out(sampler, draw, call_timeout) for draw in draws))
        return
    load: Callable[[], Sampler] = (
        (lambda: sampler) if backend == "threading" else _Shipped.of(target, sampler, backend)
    )
    with ExitStack() as stack:
        try:
            pool = stack.enter_context(_pool(jobs, backend, stack))
        except UsageError:
            raise
        except Exception as error:  # whatever a cluster raises that does not come up
            raise UsageError(f"backend {backend!r} cannot be started: {type(error).__name__}: {error}") from error

        def run(draws: Sequence[Draw]) -> list[_Result]:
            try:
                return list(pool(joblib.delayed(_draw_remotely)(load, draw, call_timeout) for draw in draws))
            except Exception as error:  # errors of the target come as values: this one is the backend's
                first_line = str(error).strip().partition("\n")[0]
                raise WorkersLostError(f"backend {backend!r}: {type(error).__name__}: {first_line}") from error

        yield Drawing(run)


# --- at the workers -----------------------------------------------------------------------------------------

_Result = tuple[Outcomes | None, set[Habit]] | CallTimeoutError | UsageError


def _draw_remotely(load: Callable[[], Sampler], draw: Draw, call_timeout: float) -> "_Result":
    """Carry out a draw; an error of the target returns as a value, as backends wrap those raised in their own."""
    try:
        return carry_out(load(), draw, call_timeout)
    except (CallTimeoutError, UsageError) as error:
        return error


def _unwrapped(result: "_Result") -> tuple[Outcomes | None, set[Habit]]:
    if isinstance(result, Exception):
        raise result
    return result


@dataclass(frozen=True)
class _Shipped:
    """A target on its way to workers: by its name if it has one, else pickled with the code of its function.

    Parameters
    ----------
    name : str or None
        ``package.module:object`` or ``/absolute/path.py:object``.
    pickled : bytes
        For a target without a name.
    paths : tuple of str
        Where modules are found here.
    """

    name: str | None
    pickled: bytes
    paths: tuple[str, ...]

    @classmethod
    def of(cls, name: str | None, sampler: Sampler, backend: str) -> "_Shipped":
        paths = tuple(str(Path(path).resolve()) for path in sys.path)
        if name is None:
            return cls(None, _pickled(sampler, backend), paths)
        place, _, attribute = name.rpartition(":")
        return cls(f"{Path(place).resolve()}:{attribute}" if place.endswith(".py") else name, b"", paths)

    def __call__(self) -> Sampler:
        sys.path.extend(path for path in self.paths if path not in sys.path and Path(path).exists())
        if self.name is not None:
            return sampler_of(load_target(self.name))
        try:
            sampler: Sampler = pickle.loads(self.pickled)  # noqa: S301  # made by the process that asks
        except Exception as error:
            raise UsageError(f"target cannot be loaded by a worker: {type(error).__name__}: {error}") from error
        return sampler


def _pickled(sampler: Sampler, backend: str) -> bytes:
    """Pickle a function with its code where workers could not import it: closures, notebooks, test modules."""
    owner = getattr(sampler, "__self__", sampler)
    modules = {getattr(thing, "__module__", None) for thing in (sampler, owner, type(owner))}
    by_value = [
        module
        for module in (sys.modules.get(name) for name in modules if isinstance(name, str))
        if module is not None and not _can_be_imported(module)
    ]
    try:
        for module in by_value:
            cloudpickle.register_pickle_by_value(module)
        pickled: bytes = cloudpickle.dumps(sampler)
    except Exception as error:
        raise UsageError(
            f"target cannot be sent to the workers of backend {backend!r}: {type(error).__name__}: {error}"
        ) from error
    finally:
        for module in by_value:
            if module.__name__ in cloudpickle.list_registry_pickle_by_value():
                cloudpickle.unregister_pickle_by_value(module)
    return pickled


def _can_be_imported(module: ModuleType) -> bool:
    """Return whether the name of a module leads to its file in a fresh process with the same paths."""
    file = getattr(module, "__file__", None)
    if file is None:
        return True  # built in, or __main__ of a notebook, which is pickled by value anyway
    spec, path, name = None, None, ""
    for part in module.__name__.split("."):
        name = f"{name}.{part}" if name else part
        found = (finder.find_spec(name, path) for finder in sys.meta_path if hasattr(finder, "find_spec"))
        spec = next((one for one in found if one is not None), None)
        if spec is None:
            return False
        path = spec.submodule_search_locations
    return spec is not None and spec.origin is not None and Path(spec.origin).resolve() == Path(file).resolve()


# --- backends -----------------------------------------------------------------------------------------------


def _pool(jobs: int, backend: str, stack: ExitStack) -> AbstractContextManager[Any]:
    if backend == "dask":
        _use_dask(jobs, stack)
    elif backend == "ray":
        _use_ray(jobs, stack)
    # by its name alone, Parallel would hand dask an option of joblib's own
    with joblib.parallel_config(backend=backend, n_jobs=jobs):
        pool: AbstractContextManager[Any] = joblib.Parallel()
    return pool


def _use_dask(jobs: int, stack: ExitStack) -> None:
    """Find the client of the caller, or start a local cluster until the end of the hunt."""
    distributed: Any = _imported("distributed", "dask")
    try:
        distributed.get_client()
    except ValueError:
        count = joblib.effective_n_jobs(jobs)
        cluster = stack.enter_context(
            distributed.LocalCluster(n_workers=count, threads_per_worker=1, dashboard_address=None)
        )
        stack.enter_context(distributed.Client(cluster))


def _use_ray(jobs: int, stack: ExitStack) -> None:
    """Find the ray of the caller, connect to the one in RAY_ADDRESS, or start a local one until the end."""
    ray: Any = _imported("ray", "ray")
    if not ray.is_initialized():
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
        if not os.environ.get("RAY_ADDRESS"):
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # a hunt reports to nobody
            options |= {"num_cpus": joblib.effective_n_jobs(jobs), "include_dashboard": False}
            options |= {"object_store_memory": _OBJECT_STORE}
        ray.init(**options)
        stack.callback(ray.shutdown)
    _imported("ray.util.joblib", "ray").register_ray()


def _imported(module: str, backend: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise UsageError(f"backend {backend!r} cannot be used: {error}: pip install 'dpassay[cluster]'") from error
