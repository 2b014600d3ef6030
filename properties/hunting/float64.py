"""The second verdict of a hunt: on the low-order bits of floats, and on inputs at which rounding is visible."""

import math
import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dpassay.arguments import UsageError
from dpassay.mechanism import SamplerLostError
from dpassay.properties.betting.campaign import Campaign
from dpassay.properties.betting.game import PairGame
from dpassay.properties.drawing.call_guard import CallTimeoutError, carry_out
from dpassay.properties.drawing.draws import Draw
from dpassay.properties.drawing.global_generators import kept_global_generators
from dpassay.properties.drawing.target_process import RemoteSampler, WorkersLostError, ask
from dpassay.properties.hunting.decision import Decision
from dpassay.properties.hunting.result import Float64Result, HuntResult
from dpassay.properties.hunting.task import Task, fresh_seed
from dpassay.properties.hunting.verdicts import HuntVerdict, Questions
from dpassay.properties.hunting.witness import measured_witness
from dpassay.properties.neighbours.moves import Pair
from dpassay.properties.outcomes.batch import Outcomes
from dpassay.properties.outcomes.calls import Sampler
from dpassay.properties.outcomes.numeric_features import LOWEST_BIT
from dpassay.spec.verdict import Evidence

__all__ = ["float64_result", "sampled_float64", "with_certified_float64"]

_MOST_CALLS = 1 << 12
"""Calls for the float64 question alone, beside an exact verdict: low-order bits leak grossly or not at all."""

_PAIRS = 8
"""Pairs that share these calls."""


def float64_result(task: Task, campaign: Campaign) -> Float64Result | None:
    """Return the verdict of a campaign on the floats; None if it made no call.

    Bets on the low-order bits see coarse differences as well: of outcomes 0 and 1, one has a lowest bit. Where the
    ideal mechanism is refuted, the outcomes that refute it are floats: the floats violate the claim as well. If that
    is not shown by an event of low-order bits, or on a pair at which rounding shows, the two violations are the same.
    """
    if not campaign.calls:
        return None
    lower = campaign.float64.epsilon_lower(task.float64_alpha)
    is_ideal = campaign.evidence.log_value() >= -math.log(task.ideal_alpha)
    if campaign.float64.log_value() < -math.log(task.float64_alpha):
        if is_ideal:
            lower = max(lower, campaign.evidence.epsilon_lower(task.ideal_alpha))
        verdict = HuntVerdict.VIOLATED if is_ideal else HuntVerdict.NOT_REFUTED
        return Float64Result(verdict, lower, Evidence.SAMPLED, campaign.calls, None, is_ideal)
    game = campaign.float64.best_game()
    witness = measured_witness(game, task.claim, low_order=True)
    is_same = is_ideal and not game.is_about_rounding and not _is_of_bits(witness.event, game)
    return Float64Result(HuntVerdict.VIOLATED, lower, Evidence.SAMPLED, campaign.calls, witness, is_same)


def _is_of_bits(event: str, game: PairGame) -> bool:
    """Return whether an event is one of the low-order bits of numbers, which integers do not have."""
    bits = (outcomes.features.get(LOWEST_BIT, np.empty(0)) for outcomes, _ in game.archive)
    return LOWEST_BIT in event and any((values < 0).any() for values in bits)


def sampled_float64(task: Task, sampler: Sampler | RemoteSampler, pairs: Sequence[Pair]) -> Float64Result | None:
    """Return the verdict on the floats of a target whose claim holds in real arithmetic, from few calls.

    Parameters
    ----------
    task : Task
        The task of the hunt; it limits the calls and the time.
    sampler : Sampler or RemoteSampler
        The target.
    pairs : sequence of (left, right)
        Pairs, the most promising first.

    Returns
    -------
    Float64Result or None
        Undecided if the target failed or the time was over before the calls were made.
    """
    calls = _MOST_CALLS if task.calls is None else min(task.calls, _MOST_CALLS)
    campaign = Campaign(task.claim, pairs[:_PAIRS], seed=fresh_seed(task.seed), low_order="alone")
    deadline = time.monotonic() + task.seconds_left()

    def run(draws: Sequence[Draw]) -> list[Outcomes | None]:
        return [ask(sampler, carry_out, draw, task.call_timeout_seconds)[0] for draw in draws]

    with kept_global_generators():
        try:
            while campaign.play_round(run, most_calls=calls - campaign.calls) and time.monotonic() < deadline:
                pass
        except (UsageError, CallTimeoutError, SamplerLostError, WorkersLostError):
            return Float64Result(HuntVerdict.UNDECIDED, 0.0, Evidence.SAMPLED, campaign.calls)
    found = float64_result(task, campaign)
    is_short = found is not None and not found.is_violated and campaign.calls < calls
    return found if found is None or not is_short else replace(found, verdict=HuntVerdict.UNDECIDED)


def with_certified_float64(result: HuntResult, task: Task, decision: Decision) -> HuntResult:
    """Add a violation that a trace certified of the floats, where exact arithmetic on the same data has none."""
    found = decision.float64
    if found is None or task.questions is not Questions.BOTH:
        return result
    lower = next((bound.lower for bound in found.bounds if bound.quantity == "epsilon"), None)
    own = Float64Result(HuntVerdict.VIOLATED, lower or 0.0, Evidence.ENCLOSED, 0, found.witness)
    return replace(result, float64=own)
