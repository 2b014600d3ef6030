"""The search where a mechanism can only be sampled: the loop around a campaign of games."""

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

import numpy as np

from dpassay.arguments import UsageError
from dpassay.mechanism import SamplerLostError
from dpassay.properties.betting.campaign import Campaign
from dpassay.properties.betting.game import PairGame
from dpassay.properties.betting.power import Power, power_of
from dpassay.properties.drawing.call_guard import (
    NOT_FRESH,
    PROBED_CALLS,
    PROBES,
    CallTimeoutError,
    Habit,
    habits_of,
    is_constant,
    notes_on_reading,
)
from dpassay.properties.drawing.global_generators import kept_global_generators
from dpassay.properties.drawing.json_protocol import makes_many
from dpassay.properties.drawing.sessions import generators_of
from dpassay.properties.drawing.target import describe_target, is_program
from dpassay.properties.drawing.target_process import RemoteSampler, WorkersLostError, ask, processor_seconds
from dpassay.properties.drawing.workers import Drawing, on_workers
from dpassay.properties.hunting.confirming import Attribution, Exactly
from dpassay.properties.hunting.float64 import float64_result
from dpassay.properties.hunting.formatting import relation_words, weakness_words
from dpassay.properties.hunting.idle import (
    CONSTANT_OUTCOME,
    ROUNDING_EVERYWHERE,
    is_one_exception,
    only_outcome,
    raise_exception_of,
)
from dpassay.properties.hunting.result import Float64Result, HuntResult, is_void, refuted_claims
from dpassay.properties.hunting.task import Task
from dpassay.properties.hunting.verdicts import HuntVerdict, Questions, StopReason
from dpassay.properties.hunting.witness import measured_witness
from dpassay.properties.neighbours.moves import Pair
from dpassay.properties.neighbours.pairs import nearby_pairs
from dpassay.properties.notions.base import bounds_of
from dpassay.properties.outcomes.calls import Sampler
from dpassay.properties.outcomes.events import Event
from dpassay.properties.outcomes.resolution import ROUNDING_SHOWS, step_of_pair
from dpassay.spec.verdict import Evidence, Scope

__all__ = ["Progress", "sample_pairs"]

_WORTH_A_PROBE = 10 * PROBES * PROBED_CALLS
"""Hunts of fewer calls are not probed: the calls of a target may be expensive."""

_SHARE_FOR_DISPLAY = 1 / 32
"""The part of the running time that may go to bounds for the progress display."""


_SLOW = 0.01
"""Seconds that a call takes from which on a user is told: a budget of a minute then pays a few thousand calls."""


@dataclass(frozen=True)
class _Refutation:
    """The evidence at the moment at which the claim was refuted.

    The level holds for the first time at which the evidence suffices, whenever that is. Calls that sharpen the bounds
    afterwards may lose it: a bet that an outcome never occurs on one side is lost with the first that does.
    """

    calls: int
    log_value: float
    bounds: dict[str, float]
    game: PairGame
    draws_apart: bool

    @classmethod
    def at_present(cls, task: Task, campaign: Campaign) -> "_Refutation":
        """Return the state of a campaign that refutes the claim."""
        evidence = campaign.evidence
        return cls(
            campaign.calls,
            evidence.log_value(),
            evidence.bounds(task.ideal_alpha),
            campaign.best_game(),
            campaign.draws_apart,
        )


class _Watch:
    """Notes the first refutation of the ideal mechanism."""

    def __init__(self, task: Task, attribution: Attribution) -> None:
        self._task, self._attribution = task, attribution
        self._first: _Refutation | None = None

    def known(self, campaign: Campaign) -> _Refutation | None:
        """Return the first refutation that was noted, unless the outcomes that it rests on count no more."""
        first = self._first
        if first is not None and (first.draws_apart != campaign.draws_apart or first.game.is_about_rounding):
            self._first = None  # outcomes of a call shared noise, or the pair was found to depend on rounding
        return self._first

    def look(self, campaign: Campaign) -> _Refutation | None:
        """Return the first refutation up to now."""
        if self.known(campaign) is None and self._attribution.is_refuted(campaign):
            self._first = _Refutation.at_present(self._task, campaign)
        return self._first


class Progress(Protocol):
    """Something that is told how far a hunt is."""

    def __call__(self, *, calls: int, seconds: float, e_value_log10: float, epsilon_lower: float) -> None:
        """Show it; the bound is the last one that was computed."""
        ...


def sample_pairs(
    task: Task,
    sampler: Sampler | RemoteSampler,
    pairs: Sequence[Pair],
    *,
    jobs: int = 1,
    backend: str = "loky",
    progress: Progress | None = None,
    shown: Event | None = None,
    further: Iterator[Pair] | None = None,
    exactly: Exactly | None = None,
) -> HuntResult:
    """Play on the pairs until the calls or the time are spent, or the claim is refuted and the bounds are sharpened.

    Parameters
    ----------
    task : Task
        What is asked for.
    sampler : Sampler or RemoteSampler
        The target.
    pairs : sequence of (left, right)
        The pairs, the most promising first.
    jobs, backend, progress
        As for `hunt`.
    shown : event, optional
        The event of the witness, if it is known beforehand.
    further : iterator of (left, right), optional
        More pairs, the simplest first, of which a screening chooses.
    exactly : callable, optional
        Returns whether exact arithmetic refutes the claim at a pair that floats refute; None where that is not known.

    Returns
    -------
    HuntResult
        With sampled evidence; also after an interruption from the keyboard, a call that hangs or the loss of the
        workers, if anything was drawn before.
    """
    clock, cpu = time.perf_counter(), processor_seconds(sampler)
    campaign = Campaign(
        task.claim,
        pairs,
        seed=task.seed,
        ignored=task.ignored_features,
        further=further,
        nearby=partial(nearby_pairs, task.neighbours, seed=task.seed),
        low_order=task.low_order,
        makes_many=ask(sampler, makes_many),
        begins_small=task.begins_small,
    )
    name = task.target if isinstance(task.target, str) else None
    attribution = Attribution(task, sampler, exactly)
    watch = _Watch(task, attribution)
    notes: list[str] = []
    with ExitStack() as stack:
        stack.enter_context(kept_global_generators())
        drawing = stack.enter_context(
            on_workers(name, sampler, jobs=jobs, backend=backend, call_timeout=task.call_timeout_seconds)
        )
        try:
            drawing.habits |= ask(sampler, generators_of)
            stopped = _play(task, sampler, campaign, drawing, clock, progress, watch)
            attribution.is_refuted(campaign)
        except KeyboardInterrupt:
            stopped = StopReason.INTERRUPTED  # what is known stays valid: no game keeps half a batch
        except (CallTimeoutError, SamplerLostError, WorkersLostError) as error:
            if not campaign.calls:
                raise UsageError(f"target {describe_target(task.target)!r}: {error}") from error
            stopped = StopReason.CALL_TIMEOUT if isinstance(error, CallTimeoutError) else StopReason.WORKERS_LOST
            notes.append(str(error))
    seconds, cpu_seconds = time.perf_counter() - clock, processor_seconds(sampler) - cpu
    refuted = watch.known(campaign)
    notes += _habits_of_outcomes(campaign, drawing, may_be_constant=shown is not None)
    result = replace(
        _report(task, campaign, shown, refuted, seconds=seconds, cpu_seconds=cpu_seconds),
        confirm_calls=attribution.spent,
    )
    if NOT_FRESH & drawing.habits:
        result = replace(result, verdict=HuntVerdict.NOT_REFUTED, witness=None, also_refutes=(), float64=None)
    if result.verdict is not HuntVerdict.NOT_REFUTED or not campaign.calls:
        return replace(result, stopped=stopped, notes=tuple(notes))
    _require_outcomes(sampler, campaign)
    if not campaign.evidence.ideal:
        notes.append(ROUNDING_EVERYWHERE)
    if is_void(stopped, notes):
        return replace(result, verdict=HuntVerdict.UNDECIDED, stopped=stopped, notes=tuple(notes))
    notes += _on_slow_calls(task, campaign, seconds, stopped)
    failures = sum(game.failures for game in campaign.games)
    power = _power_of(task, campaign, failures)
    weakness = weakness_words(power, result.claim, failures=failures)
    notes += [] if weakness is None else [weakness]
    verdict = HuntVerdict.UNDECIDED if power.is_blind else result.verdict
    return replace(result, verdict=verdict, stopped=stopped, notes=tuple(notes), power=power)


def _habits_of_outcomes(campaign: Campaign, drawing: Drawing, *, may_be_constant: bool) -> list[str]:
    """Return the notes on the behaviour of the target; all outcomes of a replay may lie outside the event."""
    played = [game for game in campaign.games if game.calls]
    constant = []
    habits = drawing.habits
    is_fixed = (
        not may_be_constant
        and campaign.calls > 1
        and bool(played)
        and all(map(is_constant, played))
        and not any(game.blanks for game in played)
    )
    draws_once = {Habit.DRAWS, Habit.DRAWS_NOTHING} <= habits
    draws_by_itself = Habit.OWN_GENERATOR in habits and Habit.DRAWS not in habits
    habits -= {Habit.DRAWS, Habit.DRAWS_NOTHING, Habit.OWN_GENERATOR}
    if is_fixed and only_outcome(played) is not None:
        constant = [CONSTANT_OUTCOME]
    elif is_fixed and draws_once:
        habits.add(Habit.RELEASES_ONCE)
    elif is_fixed and draws_by_itself:
        habits.add(Habit.REPEATS_OWN)
    elif is_fixed and not NOT_FRESH & habits:
        habits.add(Habit.NOT_RANDOM)
    elif campaign.draws_apart and not NOT_FRESH & habits:
        habits.add(Habit.SHARES_NOISE)
    return [*(habit.value for habit in Habit if habit in drawing.habits), *constant, *notes_on_reading(played)]


def _on_slow_calls(task: Task, campaign: Campaign, seconds: float, stopped: StopReason) -> list[str]:
    """Return a note if the time was over after few calls, since each takes long."""
    each = seconds / campaign.calls
    if stopped is not StopReason.BUDGET or seconds < 1 or each < _SLOW:
        return []
    is_single = isinstance(task.target, str) and is_program(task.target) and "{size}" not in task.target
    cures = ["many releases in one run of the program ({size})"] * is_single
    cures += ["a smaller relation (fewer inputs to choose from, or shorter ones)", "a larger budget"]
    told = f"an outcome takes {each:.2g} s, so that only {campaign.calls:,} were drawn"
    return [f"{told}: {' or '.join(cures)} would test more"]


def _power_of(task: Task, campaign: Campaign, failures: int) -> Power:
    """Return the power of a campaign, without the calls that raised and those that tested float64 only."""
    power = power_of(
        task.claim,
        calls=campaign.ideal_calls - failures,
        alpha=task.ideal_alpha,
        log_weight=math.log(float(campaign.weights.max())),
        pairs=len(campaign.games),
        least_log_weight=math.log(float(campaign.weights.min())),
    )
    if power.calls_needed is None or task.low_order == "none":
        return power
    at_large_data = np.mean([step_of_pair(game.left, game.right) > ROUNDING_SHOWS for game in campaign.games])
    lost = max(float(at_large_data), 1 - campaign.ideal_calls / campaign.calls)
    return replace(power, calls_needed=math.ceil(power.calls_needed / (1 - lost))) if lost < 1 else power


def _require_outcomes(sampler: Sampler | RemoteSampler, campaign: Campaign) -> None:
    """Raise `EveryCallRaisesError` if no call of any game returned."""
    played = [game for game in campaign.games if game.calls]
    if all(game.only_failures for game in played):
        ask(sampler, raise_exception_of, played[0].left)


def _play(
    task: Task,
    sampler: Sampler | RemoteSampler,
    campaign: Campaign,
    drawing: Drawing,
    clock: float,
    progress: Progress | None,
    watch: _Watch,
) -> StopReason:
    """Play to the end and return the reason of the end."""
    bound, seconds = _ThriftyBound(campaign, task.ideal_alpha), task.sampling_seconds

    def is_over() -> bool:
        return time.perf_counter() - clock >= seconds

    while True:  # at least one batch, so that there is something to report
        is_first = not campaign.calls
        left_over = None if task.calls is None else task.calls - campaign.calls
        if not campaign.play_round(drawing, most_calls=left_over, is_over=is_over):
            return StopReason.CALLS
        if campaign.is_hopeless and is_one_exception([game for game in campaign.games if game.calls]):
            return StopReason.CALLS
        if campaign.is_blind:
            raise UsageError(*notes_on_reading(campaign.games))
        evidence = campaign.evidence.log_value()
        refuted = watch.look(campaign)
        if progress is not None:
            progress(
                calls=campaign.calls,
                seconds=time.perf_counter() - clock,
                e_value_log10=evidence / math.log(10),
                epsilon_lower=bound.now(),
            )
        if is_over():
            return StopReason.BUDGET
        if task.calls is None and refuted is not None and campaign.calls >= 2 * refuted.calls:
            return StopReason.REFUTED
        if is_first and (task.calls is None or task.calls >= _WORTH_A_PROBE):
            probed = campaign.games[0].left, task.seed, task.call_timeout_seconds
            drawing.habits |= ask(sampler, habits_of, *probed)


class _ThriftyBound:
    """The bound of a campaign for a display, computed again when that takes no more than a small share of the time."""

    def __init__(self, campaign: Campaign, alpha: float) -> None:
        self._campaign, self._alpha = campaign, alpha
        self._began, self._spent, self._bound = time.perf_counter(), 0.0, 0.0

    def now(self) -> float:
        before = time.perf_counter()
        if self._spent <= _SHARE_FOR_DISPLAY * (before - self._began):
            self._bound = self._campaign.evidence.epsilon_lower(self._alpha)
            self._spent += time.perf_counter() - before
        return self._bound


def _report(
    task: Task, campaign: Campaign, shown: Event | None, refuted: _Refutation | None, *, seconds: float,
    cpu_seconds: float,
) -> HuntResult:  # fmt: skip
    evidence, needed = campaign.evidence.log_value(), -math.log(task.ideal_alpha)
    floats = float64_result(task, campaign) if task.questions is Questions.BOTH else None
    violated, witness = evidence >= needed or refuted is not None, None
    if refuted is None or evidence >= needed:
        lower = campaign.evidence.bounds(task.ideal_alpha)
        witness = measured_witness(campaign.best_game(), task.claim, shown) if violated else None
    else:
        evidence, lower = refuted.log_value, refuted.bounds
        witness = measured_witness(refuted.game, task.claim, shown)
        if floats is not None and not floats.is_violated:  # the outcomes that refuted the ideal mechanism are floats
            floats = Float64Result(HuntVerdict.VIOLATED, lower["epsilon"], Evidence.SAMPLED, refuted.calls, None, True)
    return HuntResult(
        target=describe_target(task.target),
        claim=str(task.claim),
        verdict=HuntVerdict.VIOLATED if violated else HuntVerdict.NOT_REFUTED,
        bounds=bounds_of(task.claim, lower),
        evidence=Evidence.SAMPLED,
        scope=Scope.SAMPLES,
        alpha=task.alpha,
        e_value_log10=evidence / math.log(10),
        calls=campaign.calls,
        seconds=seconds,
        cpu_seconds=cpu_seconds,
        witness=witness,
        seed=task.seed,
        replay=task.replay_command(campaign.calls or None, trace=False),
        session=task.session,
        neighbours=relation_words(task.neighbours),
        also_refutes=refuted_claims(task.claim) if violated else (),
        float64=floats,
    )
