"""A sampled violation in other modes of rounding: what depends on the mode is no violation of the ideal mechanism.

A mechanism may compute from its data alone, in floats, and branch on a rounded result. In real arithmetic the branch
may be the same for all data. Calls in another mode of rounding round otherwise: a difference between two inputs that
they do not show again is one of float64, and so is one that inputs close by do not show, where rounding decides.
"""

import math
from collections.abc import Callable

import numpy as np

from dpassay.arguments import UsageError
from dpassay.mechanism import SamplerLostError
from dpassay.neighbours import EncodedNeighbours
from dpassay.properties.betting.campaign import Campaign
from dpassay.properties.betting.game import FIRST_BATCH, PairGame
from dpassay.properties.drawing.call_guard import CallTimeoutError, carry_out
from dpassay.properties.drawing.decoding import through
from dpassay.properties.drawing.draws import Draw
from dpassay.properties.drawing.global_generators import kept_global_generators
from dpassay.properties.drawing.json_protocol import makes_many
from dpassay.properties.drawing.rounding_modes import RoundingMode, in_rounding_mode, modes_are_known
from dpassay.properties.drawing.target_process import RemoteSampler, WorkersLostError, ask
from dpassay.properties.hunting.close_by import agree_but_for_rounding, pairs_next_to
from dpassay.properties.hunting.task import Task, fresh_seed
from dpassay.properties.neighbours.moves import Pair
from dpassay.properties.outcomes.batch import Outcomes
from dpassay.properties.outcomes.calls import Sampler

__all__ = ["Attribution", "Confirmation", "Exactly"]

Exactly = Callable[[Pair], bool | None]

_SEEN_AGAIN = math.log(20)
"""Nats against the claim that show a violation again: it was refuted before, at its own level."""

_LEAST_CALLS, _MOST_CALLS = 512, 50_000
"""Calls of a trial: more show weaker violations again, and take more time where there is none."""

_PATIENCE = 2
"""Calls in each mode: a multiple of those of the game, within limits. More leave fewer violations in doubt."""

_COUPLED = 4
"""Runs on each input with the same random numbers in each mode: more find rarer branches that rounding decides."""

_PLACE = 1 << 20
"""The place of the seeds: no other part of a hunt draws these samples."""


class Confirmation:
    """Trials of pairs in modes of rounding.

    Parameters
    ----------
    task : Task
        The task of the hunt.
    sampler : Sampler or RemoteSampler
        The target.
    apart : bool
        Whether every outcome is drawn by a call of its own.
    """

    def __init__(self, task: Task, sampler: Sampler | RemoteSampler, *, apart: bool) -> None:
        self._task, self._sampler, self._apart = task, sampler, apart
        self._trials = 0
        self.spent = 0

    def depends_on_rounding(self, pair: Pair, calls: int) -> bool:
        """Return whether a violation on a pair seems to come from rounding of what is computed from data alone.

        Runs with the same random numbers in other modes of rounding tell where rounding decides. If it does on the
        pair, the violation has to show in each mode. If it does next to the pair, the violation has to show there: an
        equation that floats satisfy on the pair by chance does not hold close by. Fresh calls on the pair itself have
        to show the violation again; otherwise nothing is known, and the verdict stands.

        Parameters
        ----------
        pair : (left, right)
            The pair.
        calls : int
            The calls that showed the violation.
        """
        if not modes_are_known() or self._task.low_order == "none":
            return False
        most = min(max(_PATIENCE * calls, _LEAST_CALLS), _MOST_CALLS)
        try:
            return self._is_lost(pair, most) and self._shows(pair, most, None)
        except (UsageError, CallTimeoutError, SamplerLostError, WorkersLostError):
            return False

    def _is_lost(self, pair: Pair, most: int) -> bool:
        if self._is_sensitive(pair) and not all(self._shows(pair, most, mode) for mode in RoundingMode):
            return True
        if isinstance(self._task.neighbours, EncodedNeighbours):
            return False  # codes have no other codes next to them
        close_by = pairs_next_to(pair, self._task.neighbours, fresh_seed(self._task.seed, _PLACE))
        if not any(map(self._is_sensitive, close_by)):
            return False
        return not all(self._shows(other, most, None) for other in close_by)

    def _is_sensitive(self, pair: Pair) -> bool:
        """Return whether a mode of rounding changes an outcome by more than rounding, for the same random numbers."""
        self._trials += 1
        for data in pair:
            seed = np.random.SeedSequence(fresh_seed(self._task.seed, _PLACE, self._trials))
            draw = Draw(data, _COUPLED, seed, one_by_one=True)
            plain, *others = (self._drawn(draw, mode).symbols() for mode in (None, *RoundingMode))
            if any(
                not agree_but_for_rounding(one, two) for other in others for one, two in zip(plain, other, strict=True)
            ):
                return True
        return False

    def _drawn(self, draw: Draw, mode: RoundingMode | None) -> Outcomes:
        self.spent += draw.size
        sampler = self._sampler if mode is None else through(self._sampler, in_rounding_mode(mode))
        with kept_global_generators():
            outcomes = ask(sampler, carry_out, draw, self._task.call_timeout_seconds)[0]
        assert outcomes is not None  # call by call, an exception is an outcome
        return outcomes

    def _shows(self, pair: Pair, most: int, mode: RoundingMode | None) -> bool:
        """Return whether calls in a mode of rounding, None for the usual one, speak against the claim on a pair."""
        task, self._trials = self._task, self._trials + 1
        sampler = self._sampler if mode is None else through(self._sampler, in_rounding_mode(mode))
        campaign = Campaign(
            task.claim,
            [pair],
            seed=fresh_seed(task.seed, _PLACE, self._trials),
            ignored=task.ignored_features,
            low_order=task.low_order,
            apart=self._apart,
            makes_many=ask(sampler, makes_many),
        )
        game = campaign.games[0]
        while game.calls < most:
            size = min(max(FIRST_BATCH, game.calls // 2), game.largest_batch, most - game.calls)
            batch = game.prepare(size)
            with kept_global_generators():
                drawn = [ask(sampler, carry_out, draw, task.call_timeout_seconds)[0] for draw in batch.draws]
            game.enter(batch, drawn)
            self.spent += size
            if campaign.evidence.log_value() >= _SEEN_AGAIN:
                return True
        return False


class Attribution:
    """Tells evidence on the ideal mechanism from evidence on rounding.

    Parameters
    ----------
    task : Task
        The task of the hunt.
    sampler : Sampler or RemoteSampler
        The target.
    exactly : callable, optional
        Returns whether exact arithmetic refutes the claim at a pair that floats refute; None where that is not known.
    """

    def __init__(self, task: Task, sampler: Sampler | RemoteSampler, exactly: Exactly | None = None) -> None:
        self._task, self._sampler, self._exactly = task, sampler, exactly
        self._confirmed: PairGame | None = None
        self.spent = 0

    def is_refuted(self, campaign: Campaign) -> bool:
        """Return whether the ideal mechanism is refuted; the strongest pair is tried in other modes of rounding first.

        The evidence of a pair that depends on rounding counts for float64 only from then on; the next one is tried.
        """
        needed = -math.log(self._task.ideal_alpha)
        while campaign.evidence.log_value() >= needed:
            game = campaign.best_game()
            if game is self._confirmed:
                return True
            if not self._depends_on_rounding(game, apart=campaign.draws_apart):
                self._confirmed = game
                return True
            game.blame_rounding()
        return False

    def _depends_on_rounding(self, game: PairGame, *, apart: bool) -> bool:
        pair = game.left, game.right
        asked = self._exactly is not None and self._task.low_order != "none"
        refuted = self._exactly(pair) if asked and self._exactly is not None else None
        if refuted is not None:
            return not refuted
        trials = Confirmation(self._task, self._sampler, apart=apart)
        depends = trials.depends_on_rounding(pair, game.calls)
        self.spent += trials.spent
        return depends
