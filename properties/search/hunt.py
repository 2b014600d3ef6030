"""The hunt for a pair of neighbouring inputs on which a mechanism breaks its claim."""

import time
from typing import Any

from dpassay.claims import Claim, Mechanism, NeighbourRelation, require_at_least, require_positive
from dpassay.properties.audit.outcomes import Sampler, sampler_of
from dpassay.properties.audit.watching import CALL_TIMEOUT, require_call_timeout
from dpassay.properties.search.black_box import Progress, sample_pairs
from dpassay.properties.search.pairs import adversarial_pairs
from dpassay.properties.search.result import HuntResult
from dpassay.properties.search.target import describe_target, load_target
from dpassay.properties.search.task import Task, claim_of, neighbours_of, require_level, require_seed
from dpassay.properties.search.white_box import has_law, hunt_white_box
from dpassay.properties.search.witness import shrunk
from dpassay.properties.search.words import claim_words
from dpassay.properties.search.workers import jobs_of

__all__ = ["hunt"]


def hunt(
    target: str | Mechanism | Sampler,
    claim: Claim | str | None = None,
    neighbours: NeighbourRelation | str | None = None,
    *,
    budget_seconds: float = 60.0,
    calls: int | None = None,
    alpha: float = 1e-6,
    seed: int = 0,
    jobs: int | None = None,
    backend: str = "loky",
    call_timeout_seconds: float = CALL_TIMEOUT,
    progress: Progress | None = None,
    white_box: bool = True,
    low_bits: bool = True,
    shrink: bool = True,
) -> HuntResult:
    """Look for a violation of a privacy claim.

    Where the exact output distribution of the target is known, figures are certified; otherwise it is sampled, and
    a betting e-process decides at level `alpha`, whatever was looked at and whenever it stopped.

    Parameters
    ----------
    target : str, Mechanism or callable
        ``package.module:object``, ``path/to/file.py:object``, or the object: a Mechanism, or a callable
        ``f(data, size, rng)`` that returns `size` independent outcomes.
    claim, neighbours : optional
        Objects or their words on the command line; by default the first claim and the relation of the Mechanism.
    budget_seconds : float
        Time after which no further batch begins.
    calls : int, optional
        Number of calls to spend (a hunt of some hundred or more makes at most 48 besides, to see what the target
        makes of its rng). Without it a hunt that refutes the claim spends as many calls again to sharpen its
        bounds, then stops.
    alpha : float
        Probability of a false alarm, in (0, 1).
    seed : int
        At least 0. The same seed and `calls` give the same result with any number of jobs.
    jobs : int, optional
        Workers that sample, -1 for one per core; by default one here, and all that a cluster of dask or ray has.
    backend : {"loky", "threading", "dask", "ray"}
        The joblib backend. A dask client or a ray that the caller has set up is used; otherwise a local one with
        `jobs` workers runs until the end of the hunt. Functions travel with their code, a target named by its file
        by its absolute path.
    call_timeout_seconds : float
        Time that each call of the target may take, inf for no limit. Calls with a limit are made in threads of their
        own; a call that hangs ends the hunt, and what was found before is reported.
    progress : callable, optional
        Called after every round.
    white_box : bool
        Whether to use the exact law where it is known.
    low_bits : bool
        Whether to look at the low-order bits of numbers, by which noise computed in float64 gives answers away
        (Mironov 2012). Without them the test is one of the ideal mechanism.
    shrink : bool
        Whether to look for a simpler pair that shows a violation as well, with at most as many calls again; see
        :func:`dpassay.properties.search.witness.shrunk`. Verdict and bounds do not depend on it.

    Returns
    -------
    HuntResult
        Also after an interruption from the keyboard, a call that hangs or the loss of a worker, with what is known
        by then.

    Raises
    ------
    UsageError
        If a parameter is out of its domain, the target cannot be loaded, fails on every call or returns a wrong
        number of outcomes.
    """
    loaded = load_target(target) if isinstance(target, str) else target
    task = Task(
        target,
        claim_of(loaded, claim),
        neighbours_of(loaded, neighbours),
        require_level(alpha),
        require_seed(seed),
        calls if calls is None else int(require_at_least("calls", calls, 1)),
        require_positive("budget_seconds", budget_seconds),
        own_claim=claim is None,
        low_bits=low_bits,
        call_timeout_seconds=require_call_timeout(call_timeout_seconds),
    )
    workers = jobs_of(jobs, backend)
    if white_box and has_law(loaded, task.neighbours, seed=task.seed):
        return _certify(task, loaded)
    pairs = adversarial_pairs(task.neighbours, seed=task.seed)
    result = sample_pairs(task, sampler_of(loaded), pairs, jobs=workers, backend=backend, progress=progress)
    return shrunk(result, task, sampler_of(loaded)) if shrink else result


def _certify(task: Task, mechanism: Any) -> HuntResult:
    clock, cpu = time.perf_counter(), time.process_time()
    found = hunt_white_box(mechanism, task.claim, task.neighbours, seed=task.seed)
    return HuntResult(
        target=describe_target(task.target),
        claim=claim_words(task.claim),
        verdict=found.verdict,
        epsilon_lower=found.epsilon_lower,
        delta_lower=found.delta_lower,
        rho_lower=found.rho_lower,
        renyi_epsilon_lower=found.renyi_epsilon_lower,
        evidence=found.evidence,
        scope=found.scope,
        alpha=task.alpha,
        e_value_log10=None,
        calls=0,
        seconds=time.perf_counter() - clock,
        cpu_seconds=time.process_time() - cpu,
        witness=found.witness if found.verdict == "violated" else None,
        seed=task.seed,
        replay=task.replay_command(None),
        epsilon_upper=found.epsilon_upper,
    )
