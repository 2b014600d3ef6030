"""One outcome at a time against many at once: a trace asks a target for one, production asks for many.

A target that takes `size` for something else, or has a faster way for many outcomes, may be private one at a time and
leak in a batch. Both ways are two inputs of one sampler here, and the claim that no test tells them apart (epsilon 0)
is bet against. Data and arithmetic are the same on both sides, so that rounding tells nothing.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import UsageError
from dpassay.claims import PureDP
from dpassay.mechanism import SamplerLostError
from dpassay.properties.betting.campaign import Campaign
from dpassay.properties.drawing.call_guard import CallTimeoutError, carry_out
from dpassay.properties.drawing.decoding import through
from dpassay.properties.drawing.draws import Draw
from dpassay.properties.drawing.global_generators import kept_global_generators
from dpassay.properties.drawing.target_process import RemoteSampler, WorkersLostError, ask
from dpassay.properties.hunting.result import HuntResult
from dpassay.properties.hunting.task import Task, fresh_seed
from dpassay.properties.hunting.verdicts import HuntVerdict
from dpassay.properties.neighbours.moves import Pair
from dpassay.properties.outcomes.batch import Outcomes
from dpassay.properties.outcomes.calls import Sampler, WrongCountError
from dpassay.spec.verdict import Evidence, Scope

__all__ = ["DIFFERS_IN_BATCHES", "asked_for_many"]

DIFFERS_IN_BATCHES = (
    "asked for many outcomes at once, the target returns others than asked for one at a time: the trace proves the "
    "claim for one at a time only; check that every outcome is a fresh release, whatever `size` is"
)
"""The note of a proof that says nothing about outcomes in a batch."""

_MOST_CALLS = 2048
"""Outcomes for this question: twice or half the noise in a batch is told apart in nine of ten cases."""

_BATCHES = (2, 16, 128)
"""Outcomes in a batch, at random: what is special about the first, the last or a large number of them shows."""

_MOST_SECONDS = 5.0
"""Time after which no further batch begins."""


def asked_for_many(
    result: HuntResult, task: Task, sampler: Sampler | RemoteSampler, pairs: Sequence[Pair]
) -> HuntResult:
    """Return a result that holds as undecided if many outcomes at once differ from as many one at a time.

    Parameters
    ----------
    result : HuntResult
        The result of a trace.
    task : Task
        The task of the hunt; its level bounds the probability that equal outcomes are told apart.
    sampler : Sampler or RemoteSampler
        The target.
    pairs : sequence of (left, right)
        Pairs, the most promising first; the second input of the first one is asked for.
    """
    if result.verdict is not HuntVerdict.HOLDS or ask(sampler, _goes_call_by_call):
        return result
    data, needed = pairs[0][1], -math.log(task.ideal_alpha)
    both_ways = (np.append(data, 0.0), np.append(data, 1.0))
    # few large rounds: the bets of a round take far longer than the calls of most targets
    campaign = Campaign(PureDP(0.0), [both_ways], seed=fresh_seed(task.seed), makes_many=True)
    either = through(sampler, _InEitherWay())
    deadline = time.monotonic() + min(task.seconds_left(), _MOST_SECONDS)

    def run(draws: Sequence[Draw]) -> list[Outcomes | None]:
        return [ask(either, carry_out, draw, task.call_timeout_seconds)[0] for draw in draws]

    with kept_global_generators():
        try:
            while campaign.evidence.log_value() < needed and time.monotonic() < deadline:
                if not campaign.play_round(run, most_calls=_MOST_CALLS - campaign.calls):
                    break
        except (UsageError, CallTimeoutError, SamplerLostError, WorkersLostError) as error:
            return _undecided(result, f"{DIFFERS_IN_BATCHES}: {error}")
    return result if campaign.evidence.log_value() < needed else _undecided(result, DIFFERS_IN_BATCHES)


def _undecided(result: HuntResult, note: str) -> HuntResult:
    bounds = tuple(replace(bound, upper=None) for bound in result.bounds)  # they are of one outcome at a time
    return replace(
        result,
        verdict=HuntVerdict.UNDECIDED,
        evidence=Evidence.SAMPLED,
        scope=Scope.SAMPLES,
        bounds=bounds,
        notes=(*result.notes, note),
        certificate=None,
    )


def _goes_call_by_call(sampler: Any) -> bool:
    return bool(getattr(sampler, "never_raises_for_many", False))


class _EitherWay:
    """A sampler whose last number says whether an outcome is one of many at once (1), or was asked for alone (0).

    Of each batch one outcome is taken, so that those of both sides are independent.
    """

    def __init__(self, sampler: Sampler) -> None:
        self._sampler = sampler

    def __call__(self, data: NDArray[np.float64], size: int, rng: np.random.Generator) -> list[Any]:
        *_, is_of_many = data
        return [self._outcome(data[:-1], rng, is_of_many=bool(is_of_many)) for _ in range(size)]

    def _outcome(self, data: NDArray[np.float64], rng: np.random.Generator, *, is_of_many: bool) -> Any:
        count = int(rng.choice(_BATCHES)) if is_of_many else 1
        places = [0, count - 1, int(rng.integers(count))]
        try:
            found = self._sampler(data.copy(), count, rng)
        except Exception:  # one exception stands for the whole batch: what the others would have been is not known
            if count == 1:
                raise
            found, count, places = self._sampler(data.copy(), 1, rng), 1, [0]
        if len(found) != count:
            raise UsageError(WrongCountError(count, found).complaint)
        outcome = found[places[int(rng.integers(len(places)))]]
        return outcome.item() if isinstance(outcome, np.generic) else outcome


@dataclass(frozen=True)
class _InEitherWay:
    def __call__(self, sampler: Sampler) -> Sampler:
        return _EitherWay(sampler)
