"""The search where a mechanism can only be sampled: the loop around a campaign of games."""

import importlib
import math
import time
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Protocol

import joblib
import numpy as np
from numpy.typing import NDArray

from dpassay.claims import Claim, ExPost, UsageError
from dpassay.properties.audit.campaign import Bounds, Campaign, RunDraws
from dpassay.properties.audit.events import Event, best_event
from dpassay.properties.audit.game import Draw, PairGame, sample_side
from dpassay.properties.audit.hypotheses import epsilon_delta_of, ex_post_bound
from dpassay.properties.audit.intervals import clopper_pearson
from dpassay.properties.audit.outcomes import LOWEST_BIT, CallFailedError, Outcomes, Sampler, call, sampler_of
from dpassay.properties.search.pairs import Pair
from dpassay.properties.search.result import HuntResult, Witness
from dpassay.properties.search.target import describe_target, load_target
from dpassay.properties.search.task import Task
from dpassay.properties.search.words import claim_words

__all__ = ["Progress", "sample_pairs"]


Archive = Sequence[tuple[Outcomes, NDArray[np.bool_]]]


class Progress(Protocol):
    """Something that is told how far a hunt is."""

    def __call__(self, *, calls: int, seconds: float, e_value_log10: float) -> None:
        """Show it."""
        ...


def sample_pairs(
    task: Task,
    sampler: Sampler,
    pairs: Sequence[Pair],
    *,
    jobs: int = 1,
    backend: str = "loky",
    progress: Progress | None = None,
    shown: Event | None = None,
) -> HuntResult:
    """Play on the pairs until the calls or the time are spent, or the claim is refuted and the bounds are sharpened.

    Parameters
    ----------
    task : Task
        What is asked for.
    sampler : Sampler
        The target.
    pairs : sequence of (left, right)
        The pairs, the most promising first.
    jobs, backend, progress
        As for `hunt`.
    shown : event, optional
        The event of the witness, if it is known beforehand.

    Returns
    -------
    HuntResult
        With sampled evidence; also after an interruption from the keyboard.
    """
    clock, cpu = time.perf_counter(), time.process_time()
    ignored = frozenset[str]() if task.low_bits else frozenset({LOWEST_BIT})
    campaign = Campaign(task.claim, pairs, seed=task.seed, ignored=ignored)
    threshold, refuted_after = -math.log(task.alpha), None

    def is_over() -> bool:
        return time.perf_counter() - clock >= task.budget_seconds

    with ExitStack() as stack:
        run = _runner(task, sampler, jobs, backend, stack)
        try:
            while True:  # at least one batch, so that there is something to report
                left_over = None if task.calls is None else task.calls - campaign.calls
                if not campaign.play_round(run, most_calls=left_over, is_over=is_over):
                    break
                if campaign.is_hopeless:
                    _complain(sampler, campaign.games[0])
                evidence = campaign.log_evidence()
                if refuted_after is None and evidence >= threshold:
                    refuted_after = campaign.calls
                if progress is not None:
                    progress(
                        calls=campaign.calls,
                        seconds=time.perf_counter() - clock,
                        e_value_log10=evidence / math.log(10),
                    )
                sharpened = refuted_after is not None and campaign.calls >= 2 * refuted_after
                if is_over() or (task.calls is None and sharpened):
                    break
        except KeyboardInterrupt:
            pass  # what is known stays valid: no game keeps half a batch
    seconds, cpu_seconds = time.perf_counter() - clock, time.process_time() - cpu
    return _report(task, campaign, shown, seconds=seconds, cpu_seconds=cpu_seconds)


def _complain(sampler: Sampler, game: PairGame) -> None:
    """Call once more, for the message of the exception."""
    try:
        call(sampler, game.left, 1, np.random.default_rng(0))
    except CallFailedError as error:
        raise UsageError(f"target, called as f(data, size, rng), raises on every input: {error}") from error


def _runner(task: Task, sampler: Sampler, jobs: int, backend: str, stack: ExitStack) -> RunDraws:
    if jobs == 1:
        return lambda draws: (sample_side(sampler, draw) for draw in draws)
    # workers import a named target themselves: code from a file cannot be sent by reference
    source = task.target if isinstance(task.target, str) else sampler
    pool = stack.enter_context(_pool(jobs, backend))
    return lambda draws: list(pool(joblib.delayed(_draw_remotely)(source, draw) for draw in draws))


def _pool(jobs: int, backend: str) -> joblib.Parallel:
    try:
        if backend == "ray":
            importlib.import_module("ray.util.joblib").register_ray()
        elif backend == "dask":
            joblib.parallel_config(backend="dask").unregister()  # entering it makes joblib look dask up
        return joblib.Parallel(n_jobs=jobs, backend=backend)
    except (ImportError, ValueError) as error:
        raise UsageError(f"backend {backend!r} cannot be used: {error}") from error


def _draw_remotely(source: str | Sampler, draw: Draw) -> Outcomes | None:
    return sample_side(sampler_of(load_target(source)) if isinstance(source, str) else source, draw)


def _report(task: Task, campaign: Campaign, shown: Event | None, *, seconds: float, cpu_seconds: float) -> HuntResult:
    evidence = campaign.log_evidence()
    violated = evidence >= -math.log(task.alpha)
    bounds: Bounds = campaign.bounds(task.alpha)
    return HuntResult(
        target=describe_target(task.target),
        claim=claim_words(task.claim),
        verdict="violated" if violated else "not refuted",
        epsilon_lower=bounds.epsilon,
        delta_lower=bounds.delta,
        rho_lower=bounds.rho,
        renyi_epsilon_lower=bounds.renyi_epsilon,
        evidence="sampled",
        scope="samples",
        alpha=task.alpha,
        e_value_log10=evidence / math.log(10),
        calls=campaign.calls,
        seconds=seconds,
        cpu_seconds=cpu_seconds,
        witness=_witness(campaign.best_game(), task.claim, shown) if violated else None,
        seed=task.seed,
        replay=task.replay_command(campaign.calls or None),
    )


def _witness(game: PairGame, claim: Claim, shown: Event | None) -> Witness:
    """Measure an event: the one given on all calls, else one chosen from the earlier batches on the later ones."""
    held_out = game.archive if shown is not None else game.archive[_first_held_out(game) :]
    event = (
        shown
        if shown is not None
        else _chosen_event(game.archive[: -len(held_out)] or game.archive, claim, game.ignored)
    )
    batch, is_left = _joined(held_out)
    hits = event.holds(batch)
    p_left, p_right = (clopper_pearson(int(hits[side].sum()), int(side.sum())) for side in (is_left, ~is_left))
    left, right = tuple(game.left.tolist()), tuple(game.right.tolist())
    if sum(p_left) < sum(p_right):
        left, right, p_left, p_right = right, left, p_right, p_left
    return Witness(left, right, str(event), p_left, p_right)


def _first_held_out(game: PairGame) -> int:
    """Return where the last batches begin that hold a quarter of the calls: the very last one may be tiny."""
    sizes = [len(outcomes) for outcomes, _ in game.archive]
    first = len(sizes) - 1
    while first > 1 and sum(sizes[first:]) < sum(sizes) / 4:
        first -= 1
    return first


def _chosen_event(archive: Archive, claim: Claim, ignored: frozenset[str]) -> Event:
    outcomes, is_left = _joined(archive)
    if isinstance(claim, ExPost):
        bounds = np.array([ex_post_bound(claim, symbol) for symbol in outcomes.symbols()])
        return best_event(outcomes, is_left, bounds, 0.0, ignored)
    return best_event(outcomes, is_left, *(epsilon_delta_of(claim) or (0.0, 0.0)), ignored)


def _joined(archive: Archive) -> tuple[Outcomes, NDArray[np.bool_]]:
    return Outcomes.joined([batch for batch, _ in archive]), np.concatenate([is_left for _, is_left in archive])
