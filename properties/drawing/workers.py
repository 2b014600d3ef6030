"""Carrying out the draws of a hunt: in this process, or on workers of joblib or dask.

Only draws travel to the workers, and outcomes back; bets are settled here, in the order of the draws, so that the
number of workers changes nothing.
"""

import importlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from dpassay.arguments import UsageError, shown
from dpassay.mechanism import SamplerLostError
from dpassay.properties.drawing.call_guard import CallTimeoutError, Habit, carry_out
from dpassay.properties.drawing.draws import Draw
from dpassay.properties.drawing.shipping import Shipped
from dpassay.properties.drawing.target_process import RemoteSampler, WorkersLostError, ask
from dpassay.properties.outcomes.batch import Outcomes
from dpassay.properties.outcomes.calls import Sampler, sampler_of

__all__ = ["BACKENDS", "Drawing", "backend_in_use", "jobs_of", "most_jobs", "on_workers"]

BACKENDS = ("loky", "threading", "dask", "ray")

_CLUSTERS = ("dask", "ray")
_MOST_OF_A_CLUSTER = 10_000
"""The largest accepted number of jobs on a cluster: a larger one is a typing error."""

_QUIET_DASK = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
}
"""Settings of a dask cluster of our own: its statistics would take a quarter of a core from the draws."""

_OBJECT_STORE = 100 << 20  # bytes: outcomes of a round are all that it holds


@dataclass
class Drawing:
    """Carries out draws and collects the behaviour that is noticed.

    Parameters
    ----------
    run : callable
        Carries out draws and yields the results in their order.
    habits : set of Habit
        The behaviour noticed so far.
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
    most = _MOST_OF_A_CLUSTER if backend in _CLUSTERS else most_jobs()
    if isinstance(jobs, bool) or not isinstance(jobs, int) or not (jobs == -1 or 1 <= jobs <= most):
        raise UsageError(f"jobs must be an integer from 1 to {most}, or -1 for one per core, got {shown(jobs)}")
    return jobs


def most_jobs() -> int:
    """Return how many workers one machine may be asked for: some for each core."""
    return max(32, 4 * (os.cpu_count() or 1))


@contextmanager
def on_workers(
    target: str | None, sampler: Sampler | RemoteSampler, *, jobs: int, backend: str, call_timeout: float
) -> Iterator[Drawing]:
    """Yield the function that carries out draws.

    Parameters
    ----------
    target : str, optional
        The name of the target, which workers load themselves: code from a file cannot be sent by reference.
    sampler : Sampler or RemoteSampler
        The target.
    jobs, backend, call_timeout
        As for `hunt`. A cluster that the caller has set up is used; otherwise a local one runs for as long as this.

    Raises
    ------
    UsageError
        If the backend is not installed or does not start, or the target cannot be sent to workers.
    """
    if jobs == 1 and backend not in _CLUSTERS:
        yield Drawing(lambda draws: (ask(sampler, carry_out, draw, call_timeout) for draw in draws))
        return
    load = _loader(target, sampler, backend)
    with ExitStack() as stack:
        try:
            pool = _pool(jobs, backend, stack)
        except UsageError:
            raise
        except Exception as error:  # whatever a cluster raises that does not come up
            raise UsageError(f"backend {backend!r} cannot be started: {type(error).__name__}: {error}") from error

        def run(draws: Sequence[Draw]) -> list[_Result]:
            # the longest first, so that no worker is left with a long one at the end
            order = sorted(range(len(draws)), key=lambda place: -draws[place].size)
            try:
                found = pool([(load, draws[place], call_timeout) for place in order])
            except Exception as error:  # errors of the target come as values: this one is the backend's
                first_line = str(error).strip().partition("\n")[0]
                raise WorkersLostError(f"backend {backend!r}: {type(error).__name__}: {first_line}") from error
            by_place = dict(zip(order, found, strict=True))
            return [by_place[place] for place in range(len(draws))]

        yield Drawing(run)


def _loader(target: str | None, sampler: Sampler | RemoteSampler, backend: str) -> Callable[[], Sampler]:
    """Return the function that gives a worker the sampler."""
    if backend == "threading" and not isinstance(sampler, RemoteSampler):
        return lambda: sampler
    place = f"the workers of backend {backend!r}"
    if target is None:
        return _LoadSampler(Shipped.of(sampler, place))
    return _LoadSampler(Shipped.of(target, place), getattr(sampler, "wrap", None))  # a name says nothing of a wrapper


# --- at the workers -----------------------------------------------------------------------------------------

_Result = tuple[Outcomes | None, set[Habit]] | CallTimeoutError | SamplerLostError | UsageError


@dataclass(frozen=True)
class _LoadSampler:
    shipped: Shipped
    wrap: Callable[[Sampler], Sampler] | None = None

    def __call__(self) -> Sampler:
        sampler = sampler_of(self.shipped())
        return sampler if self.wrap is None else self.wrap(sampler)


def _draw_remotely(load: Callable[[], Sampler], draw: Draw, call_timeout: float) -> "_Result":
    """Carry out a draw; an error of the target returns as a value, as backends wrap those raised in their own."""
    try:
        return carry_out(load(), draw, call_timeout)
    except (CallTimeoutError, SamplerLostError, UsageError) as error:
        return error


def _unwrapped(result: "_Result") -> tuple[Outcomes | None, set[Habit]]:
    if isinstance(result, Exception):
        raise result
    return result


# --- backends -----------------------------------------------------------------------------------------------


_Pool = Callable[[Sequence[tuple[Callable[[], Sampler], Draw, float]]], Sequence[_Result]]
"""Carries out `_draw_remotely` with each of some arguments, the first ones first."""


def _pool(jobs: int, backend: str, stack: ExitStack) -> _Pool:
    _use_cluster(jobs, backend, stack)
    if backend == "dask":
        return _dask_pool()
    import joblib  # with its asyncio and ssl it takes a third of the time until the first draw

    # joblib would join draws that were fast so far into one task: the next ones may be long
    with joblib.parallel_config(backend=backend, n_jobs=jobs):
        parallel = stack.enter_context(joblib.Parallel(batch_size=1, pre_dispatch="all"))
    return lambda tasks: parallel(joblib.delayed(_draw_remotely)(*task) for task in tasks)


def _dask_pool() -> _Pool:
    """Return a pool of the client of dask: a round of joblib's backend for dask waits twice as long."""
    distributed: Any = _imported("distributed", "dask")
    client = distributed.get_client()

    def run(tasks: Sequence[tuple[Callable[[], Sampler], Draw, float]]) -> Sequence[_Result]:
        futures = [client.submit(_draw_remotely, *task, pure=False) for task in tasks]
        try:
            results: list[_Result] = client.gather(futures)
        finally:
            client.cancel(futures)  # a hunt that was stopped leaves no draws behind
        return results

    return run


def _use_cluster(jobs: int, backend: str, stack: ExitStack) -> None:
    if backend == "dask":
        _use_dask(jobs, stack)
    elif backend == "ray":
        _use_ray(jobs, stack)


@contextmanager
def backend_in_use(backend: str, jobs: int) -> Iterator[None]:
    """Make a backend the one of joblib, with a local cluster if the caller has set up none.

    Raises
    ------
    UsageError
        If the backend is not installed or does not start.
    """
    import joblib

    with ExitStack() as stack:
        try:
            _use_cluster(jobs, backend, stack)
        except UsageError:
            raise
        except Exception as error:  # whatever a cluster raises that does not come up
            raise UsageError(f"backend {backend!r} cannot be started: {type(error).__name__}: {error}") from error
        stack.enter_context(joblib.parallel_config(backend=backend, n_jobs=jobs))
        yield


def _local_workers(jobs: int) -> int:
    """Return the number of workers of a cluster on this machine alone."""
    return _cores() if jobs == -1 else jobs_of(jobs, "loky")


def _cores() -> int:
    """Return the number of cores that this process may use."""
    import joblib

    return joblib.cpu_count()


def _use_dask(jobs: int, stack: ExitStack) -> None:
    """Find the client of the caller, or start a local cluster until the end of the hunt."""
    distributed: Any = _imported("distributed", "dask")
    try:
        distributed.get_client()
    except ValueError:
        count = _local_workers(jobs)
        stack.enter_context(_imported("dask", "dask").config.set(_QUIET_DASK))
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
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # a hunt sends no reports
            options |= {"num_cpus": _local_workers(jobs), "include_dashboard": False}
            options |= {"object_store_memory": _OBJECT_STORE}
        ray.init(**options)
        stack.callback(ray.shutdown)
    _imported("ray.util.joblib", "ray").register_ray()


def _imported(module: str, backend: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise UsageError(f"backend {backend!r} cannot be used: {error}: pip install 'dpassay[cluster]'") from error
