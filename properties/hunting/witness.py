"""The witness of a violation: the event that shows it, and a simpler pair on which fresh calls show it again."""

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import UsageError
from dpassay.claims import Claim, ExPost
from dpassay.neighbours import AnyNeighbours, EncodedNeighbours
from dpassay.properties.betting.campaign import Campaign
from dpassay.properties.betting.game import FIRST_BATCH, PairGame
from dpassay.properties.betting.intervals import clopper_pearson
from dpassay.properties.drawing.call_guard import CallTimeoutError, Habit, carry_out
from dpassay.properties.drawing.global_generators import kept_global_generators
from dpassay.properties.drawing.json_protocol import makes_many
from dpassay.properties.drawing.target_process import (
    RemoteSampler,
    TargetExitError,
    WorkersLostError,
    ask,
    processor_seconds,
)
from dpassay.properties.hunting.confirming import Confirmation
from dpassay.properties.hunting.result import HuntResult, Witness
from dpassay.properties.hunting.task import Task, fresh_seed
from dpassay.properties.hunting.verdicts import HuntVerdict
from dpassay.properties.neighbours.moves import Pair
from dpassay.properties.notions.base import epsilon_delta_of
from dpassay.properties.outcomes.batch import Outcomes
from dpassay.properties.outcomes.calls import Sampler
from dpassay.properties.outcomes.events import Event, mirrored
from dpassay.properties.outcomes.numeric_features import LOWEST_BIT
from dpassay.properties.outcomes.telling_events import best_event
from dpassay.spec.notions.ex_post import ex_post_bound
from dpassay.spec.verdict import Evidence

__all__ = ["measured_witness", "shows_violation", "shrunk", "with_inputs"]

Array = NDArray[np.float64]
Archive = Sequence[tuple[Outcomes, NDArray[np.bool_]]]

MOST_CALLS = 50_000
"""Shrinking takes no more calls than the hunt did, and no more than this."""

_PATIENCE, _LEAST_PATIENCE = 3, 512
"""Calls that a simpler pair may take to refute the claim again: as a multiple of those of the pair of the hunt, and at
least. Fresh learners need some dozens to begin with."""

_MEASUREMENTS = 5
"""Times that the calls of a measurement may double: more show fainter violations and cost calls."""

_LARGEST_EPSILON = 700.0
"""From here on e^epsilon is no float64, and no interval contradicts the claim."""

_MEASURED = 1_000
"""Calls on the shrunk pair that are meant for the intervals of its probabilities."""


# --- the event ----------------------------------------------------------------------------------------------


def measured_witness(
    game: PairGame, claim: Claim, shown: Event | None = None, *, certified: bool = False, low_order: bool = False
) -> Witness:
    """Measure an event: the one given on all calls, else one chosen from the earlier batches on the later ones.

    Parameters
    ----------
    game : PairGame
        The game on the pair, with its calls.
    claim : Claim
        The claim, by which an event is chosen.
    shown : Event, optional
        The event to measure.
    certified : bool
        Whether the violation is certified; the witness says so.
    low_order : bool
        Whether the event may be one of low-order bits.
    """
    ignored = game.ignored - {LOWEST_BIT} if low_order else game.ignored
    held_out = game.archive if shown is not None else game.archive[_first_held_out(game.archive) :]
    event = (
        shown
        if shown is not None
        else _chosen_event(game, claim, game.archive[: -len(held_out)] or game.archive, ignored)
    )
    batch, is_left = _joined(game, held_out)
    hits = event.holds(batch)
    p_left, p_right = (clopper_pearson(int(hits[side].sum()), int(side.sum())) for side in (is_left, ~is_left))
    left, right = tuple(game.left.tolist()), tuple(game.right.tolist())
    if sum(p_left) < sum(p_right):
        left, right, p_left, p_right, event = right, left, p_right, p_left, mirrored(event)
    return Witness(left, right, str(event), p_left, p_right, certified)


def shows_violation(witness: Witness, claim: Claim) -> bool:
    """Return whether the intervals of the probabilities contradict the claim; true where no event alone can."""
    point = None if isinstance(claim, ExPost) else epsilon_delta_of(claim)
    if point is None:
        return True
    epsilon, delta = point
    return witness.p_left[0] > math.exp(min(epsilon, _LARGEST_EPSILON)) * witness.p_right[1] + delta


def _first_held_out(archive: Archive) -> int:
    """Return where the last batches begin that hold a quarter of the calls: the very last one may be tiny."""
    sizes = [len(outcomes) for outcomes, _ in archive]
    first = len(sizes) - 1
    while first > 1 and sum(sizes[first:]) < sum(sizes) / 4:
        first -= 1
    return first


def _chosen_event(game: PairGame, claim: Claim, archive: Archive, ignored: frozenset[str]) -> Event:
    outcomes, is_left = _joined(game, archive)
    if isinstance(claim, ExPost):
        bounds = np.array([ex_post_bound(claim, symbol) for symbol in outcomes.symbols()])
        return best_event(outcomes, is_left, bounds, 0.0, ignored)
    return best_event(outcomes, is_left, *(epsilon_delta_of(claim) or (0.0, 0.0)), ignored)


def _joined(game: PairGame, archive: Archive) -> tuple[Outcomes, NDArray[np.bool_]]:
    outcomes = Outcomes.joined([batch for batch, _ in archive]).with_inputs(game.left, game.right)
    return outcomes, np.concatenate([is_left for _, is_left in archive])


def with_inputs(result: HuntResult, relation: AnyNeighbours) -> HuntResult:
    """Return the result with what the target received, where the witness has the codes of it."""
    if result.witness is None or not isinstance(relation, EncodedNeighbours):
        return result
    sides = (result.witness.left, result.witness.right)
    left, right = (_input_words(relation.decoded(np.array(side))) for side in sides)
    return replace(result, witness=replace(result.witness, inputs=(left, right)))


def _input_words(data: Any) -> str:
    """Return an input on one line; a data frame by its columns."""
    return " ".join(repr(data.to_dict(orient="list") if hasattr(data, "to_dict") else data).split())


# --- the pair -----------------------------------------------------------------------------------------------


def shrunk(result: HuntResult, task: Task, sampler: Sampler | RemoteSampler) -> HuntResult:
    """Return the result with the simplest pair on which fresh calls refute the claim by themselves.

    The verdict and the bounds stand before. What a witness claims besides is tested anew: the pair of the hunt and
    then each simpler one get a bettor and calls of their own, the k-th at level ``alpha / (k (k + 1))``: that any
    pair is `certified` on which the claim is true has probability at most alpha over all that were tried. Where the
    claim is not refuted again, or the calls run out, the witness stays as the hunt left it.

    Parameters
    ----------
    result : HuntResult
        Of a hunt that sampled.
    task : Task
        Of the same hunt.
    sampler : Sampler or RemoteSampler
        The target.

    Returns
    -------
    HuntResult
        With `shrink_calls`: at most as many as the hunt spent, and at most `MOST_CALLS`. The number of workers makes
        no difference. The time makes one where the hunt has no limit of calls: what is left of its budget is for
        shrinking, a quarter at least.
    """
    cut_short = result.stopped is not None and result.stopped.cuts_short
    if (
        result.verdict is not HuntVerdict.VIOLATED
        or result.witness is None
        or result.evidence is not Evidence.SAMPLED
        or cut_short
    ):
        return result
    from dpassay.properties.hunting.shrinking import simplest_pair  # hypothesis takes a while to import

    clock, cpu = time.perf_counter(), processor_seconds(sampler)
    apart = Habit.SHARES_NOISE.value in result.notes
    trials = _Trials(task, sampler, min(result.calls, MOST_CALLS), apart=apart)
    witness = result.witness
    first = np.array(witness.left), np.array(witness.right)
    try:
        if trials.is_refuted(*first):
            witness = replace(witness, certified=True)
            trials.settle_patience()
            simplest = simplest_pair(task.neighbours, first, trials.is_refuted, seed=fresh_seed(task.seed))
            if simplest is not first and trials.depends_on_rounding(simplest):
                simplest = first
            if simplest is not first or not shows_violation(witness, task.claim):
                measured = trials.measured(simplest)
                is_better = simplest is not first or shows_violation(measured, task.claim)
                witness = measured if is_better else witness
    except KeyboardInterrupt:
        pass  # the pair of the hunt is a witness all the same
    return replace(
        result,
        witness=witness,
        shrink_calls=trials.spent,
        confirm_calls=result.confirm_calls + trials.confirmed_by,
        seconds=result.seconds + time.perf_counter() - clock,
        cpu_seconds=result.cpu_seconds + processor_seconds(sampler) - cpu,
    )


class _Trials:
    """Tests of single pairs, each with calls of its own, within a budget of calls and of time."""

    def __init__(self, task: Task, sampler: Sampler | RemoteSampler, most_calls: int, *, apart: bool) -> None:
        self._task, self._sampler, self._most = task, sampler, most_calls
        self._patience, self._apart = most_calls, apart
        self._deadline = math.inf if task.calls is not None else time.monotonic() + task.seconds_left()
        self._refuted: dict[tuple[bytes, bytes], Campaign] = {}
        self._number = 0
        self.spent = self.confirmed_by = 0

    @property
    def _is_over(self) -> bool:
        return self.spent >= self._most or time.monotonic() >= self._deadline

    def is_refuted(self, left: Array, right: Array) -> bool:
        """Play on the pair until the claim is refuted at the level of this trial, or it seems idle to go on."""
        if self._is_over:
            return False
        self._number += 1
        campaign = Campaign(
            self._task.claim,
            [(left, right)],
            seed=fresh_seed(self._task.seed, self._number),
            ignored=self._task.ignored_features,
            low_order=self._task.low_order,
            apart=self._apart,
            makes_many=ask(self._sampler, makes_many),
        )
        needed = math.log(self._number * (self._number + 1) / self._task.ideal_alpha)
        try:
            refuted = self._play(campaign, needed)
        except (
            UsageError,
            CallTimeoutError,
            TargetExitError,
            WorkersLostError,
        ):  # a target or a bound may accept fewer inputs than the relation admits
            refuted = False
        if refuted:
            self._refuted[left.tobytes(), right.tobytes()] = campaign
        return refuted

    def depends_on_rounding(self, pair: Pair) -> bool:
        """Return whether a refuted pair shows its violation in some modes of rounding only."""
        confirmation = Confirmation(self._task, self._sampler, apart=self._apart)
        calls = self._refuted[pair[0].tobytes(), pair[1].tobytes()].calls
        found = confirmation.depends_on_rounding(pair, calls)
        self.confirmed_by += confirmation.spent
        return found

    def settle_patience(self) -> None:
        """Let the next trials take as many calls as the last one, times a factor."""
        self._patience = max(_PATIENCE * self.spent, _LEAST_PATIENCE)

    def measured(self, pair: Pair) -> Witness:
        """Return the witness on a pair that was refuted, from the calls that refuted it and some more.

        As many calls again are made while the event does not show the violation by itself and the budget lasts.
        """
        game = self._refuted[pair[0].tobytes(), pair[1].tobytes()].games[0]
        for _ in range(_MEASUREMENTS):
            self._enter(game, min(max(_MEASURED, game.calls), game.largest_batch))
            witness = measured_witness(game, self._task.claim, certified=True)
            if self._is_over or shows_violation(witness, self._task.claim):
                break
        return witness

    def _play(self, campaign: Campaign, needed: float) -> bool:
        game = campaign.games[0]
        while game.calls < self._patience and not self._is_over:
            size = max(FIRST_BATCH, min(game.calls // 2, game.largest_batch))
            self._enter(game, min(size, self._patience - game.calls))
            evidence = campaign.evidence.log_value()
            if evidence >= needed:
                return True
            # with half of its calls a pair has to have an eighth of what it needs, or it is given up
            if 2 * game.calls >= self._patience and self._patience < self._most and evidence < needed / 8:
                return False
        return False

    def _enter(self, game: PairGame, size: int) -> None:
        size = min(size, self._most - self.spent)
        if size > 0:
            self.spent += size
            batch = game.prepare(size)
            with kept_global_generators():
                drawn = [
                    ask(self._sampler, carry_out, draw, self._task.call_timeout_seconds)[0] for draw in batch.draws
                ]
            game.enter(batch, drawn)
