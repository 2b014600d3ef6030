"""A campaign: one claim, many pairs, one error budget.

The calls go in rounds to the games that promise most, and a screening finds further pairs. What the games prove says
:mod:`dpassay.properties.betting.evidence`; the weights of its mixture are fixed here, before the first call. They fall
with the place of a pair in the list, slowly enough that the last pair pays little more than with equal ones.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import UsageError
from dpassay.claims import Claim, ExPost
from dpassay.properties.betting.allocation import Allocation
from dpassay.properties.betting.evidence import CampaignEvidence, Float64Evidence, claimed_row
from dpassay.properties.betting.exchangeability import shares_noise
from dpassay.properties.betting.game import FIRST_BATCH, Batch, LowOrder, PairGame
from dpassay.properties.betting.pool import POOL_SHARE, Pool
from dpassay.properties.betting.screening import Point, Screening
from dpassay.properties.drawing.draws import Draw
from dpassay.properties.learners.moves import CommonLearner, unit_of
from dpassay.properties.outcomes.batch import Outcomes

__all__ = ["Campaign", "RunDraws"]

Array = NDArray[np.float64]
RunDraws = Callable[[Sequence[Draw]], Iterable[Outcomes | None]]
"""Carries out draws, in any order and anywhere, and returns the results in the order of the draws."""

_TOGETHER = 8
"""Pairs that are played in one round. Those of the first round show whether the target always raises or returns
outcomes that cannot be read."""

_GROWTH = 1.5
"""The factor by which a round lets the number of calls grow: larger rounds learn later, smaller ones cost time."""

_OPEN_PLACES = 24
"""Pairs that the screening may add."""

_OPEN_SHARE = 1 / 4
"""The part of the wealth that is set aside for these pairs, in equal shares: it costs the other pairs 0.29 nats. The
share of a place that stays empty is not bet."""

_FLATNESS = 3
"""The weight of pair k = 0, 1, ... falls as 1 / (k + 3): of 8 the first pays 1.5 nats and the last 2.7, not 2.1."""

_REFERENCES = 48
"""Claims at which pairs are compared if delta = 0: more rank the pairs at more levels and take more time."""

_COSTLY_REFERENCES = 16
"""Claims at which pairs are compared if delta > 0, where each takes far longer."""

_FIRST_LOOK = 64
"""Calls before the first test of whether calls share noise."""

_LOOK_AGAIN = 1.5
"""The test is repeated when the calls have grown by this factor, or the evidence by more than a nat."""

_LOOKED_AT = 4
"""Games that the test looks at."""

_FRESH_INDEX = 1 << 20
"""The offset of the indices of games that draw outcomes one by one: their seeds are fresh."""

_FEW_PAIRS = 2
"""With at most this many pairs the first batches stay small: their outcomes are the only ones to learn from."""

_UNHURRIED = 1024
"""Calls up to which such batches stay small."""

_SLOW_GROWTH, _SMALLEST_BATCH = 8, 8
"""Such a batch has one call for this many before it, and at least this number: fewer and larger batches take less time
and refute after more calls; batches of 4 calls took more of both."""


def _falling_weights(count: int) -> Array:
    """Return the share of the wealth that each pair begins with."""
    weights = 1 / (np.arange(count) + _FLATNESS)
    return np.asarray(weights / weights.sum())


class Campaign:
    """Games on all pairs against one claim.

    Parameters
    ----------
    claim : Claim
        The claim.
    pairs : sequence of (left, right)
        Pairs to play on, the most promising first: a pair's weight and its part of the calls that look for a leak
        fall with its place. If there are `further` ones, the first eight are played on, and the screening looks at the
        others before those: a game takes far more calls and time than a look.
    seed : int
        Determines every random number.
    ignored : frozenset of str
        Features of the outcomes that are not bet on.
    further : iterator of (left, right), optional
        More pairs, which a screening looks at with few calls each; the most promising are added to the games.
    nearby : callable, optional
        Returns variations of a pair; the screening looks at those of a pair that leads beyond the claim.
    low_order : {"none", "beside", "alone"}
        Whether the low-order bits of floats are a question of their own: see `PairGame`. Those of `evidence` then
        speak of the ideal mechanism, those of `float64` of the floats.
    apart : bool
        Whether every outcome is drawn by a call of its own. A campaign decides so itself when outcomes of one call
        turn out to share noise, and then begins anew: what was won before is not evidence.
    makes_many : bool
        Whether a call takes as long for one outcome as for many: see `PairGame`.
    begins_small : bool
        Whether the first batches on few pairs are small, so that gross violations show within some dozens of calls;
        every batch takes time, however small it is.

    Raises
    ------
    UsageError
        If there are no pairs.
    """

    def __init__(
        self,
        claim: Claim,
        pairs: Sequence[tuple[Array, Array]],
        *,
        seed: int,
        ignored: frozenset[str] = frozenset(),
        further: Iterator[tuple[Array, Array]] | None = None,
        nearby: Callable[[tuple[Array, Array]], Iterable[tuple[Array, Array]]] = lambda _: (),
        apart: bool = False,
        low_order: LowOrder = "none",
        makes_many: bool = False,
        begins_small: bool = True,
    ) -> None:
        if not pairs:
            raise UsageError("neighbours admits no pair of different inputs")
        self.claim = claim
        self._seed, self._ignored, self.draws_apart, self._low_order = seed, ignored, apart, low_order
        self._makes_many, self._begins_small = makes_many, begins_small
        first_further = None if further is None else next(further, None)
        at_once = len(pairs) if first_further is None else _TOGETHER
        self._compares = len(pairs) > 1 or first_further is not None
        self._pools = len(pairs) > 1 and not isinstance(claim, ExPost) and low_order != "alone"
        self._common = CommonLearner(unit_of(pairs))
        self._void_calls, self._look_at, self._looked_at = 0, _FIRST_LOOK, 0.0
        self.weights = _falling_weights(len(pairs[:at_once]))
        if first_further is not None:
            open_weights = np.full(_OPEN_PLACES, _OPEN_SHARE / _OPEN_PLACES)
            self.weights = np.concatenate([(1 - _OPEN_SHARE) * self.weights, open_weights])
        self.weights = (1 - self.pool_share) * self.weights
        self._begin(pairs[:at_once])
        self._screening: Screening | None = None
        self._nearby, self._varied = nearby, set[int]()
        if further is not None and first_further is not None:
            candidates = chain(pairs[at_once:], [first_further], further)
            self._screening = Screening(candidates, self._points(), seed=seed, ignored=ignored)

    def _begin(self, pairs: Sequence[tuple[Array, Array]]) -> None:
        """Open the games on the first pairs, and their books."""
        self._pool = Pool()
        self.games = [self._new_game(k, pair) for k, pair in enumerate(pairs)]
        self.evidence = CampaignEvidence(self.claim, self.games, self.weights, self._pool if self._pools else None)
        self.float64 = Float64Evidence(self.claim, self.evidence)
        self._plan = self._plan_pilot()
        self._to_compare: set[int] = set()
        self._references = self._spread_references()
        self._allocation = Allocation(self.weights, max(1, self._references.size if self._compares else 0))
        self._allocation.add(len(self.games))

    @property
    def pool_share(self) -> float:
        """The share of the wealth that bets on all pairs together; none on a single pair or for ex-post claims."""
        return POOL_SHARE if self._pools else 0.0

    @property
    def ideal_calls(self) -> int:
        """Calls that count for the ideal mechanism: all but those on pairs whose evidence is about rounding."""
        return self.calls - sum(game.calls for game in self.games if game.is_about_rounding)

    @property
    def calls(self) -> int:
        """Calls spent on all pairs, those of the screening included, and those that turned out to share noise."""
        screened = self._screening.calls if self._screening else 0
        return sum(game.calls for game in self.games) + screened + self._void_calls

    # --- pairs that the screening adds --------------------------------------------------------------------------

    def _new_game(self, index: int, pair: tuple[Array, Array]) -> PairGame:
        ex_post = self.claim if isinstance(self.claim, ExPost) else None
        place = index + _FRESH_INDEX if self.draws_apart else index
        return PairGame(
            *pair,
            seed=self._seed,
            index=place,
            ex_post=ex_post,
            ignored=self._ignored,
            apart=self.draws_apart,
            low_order=self._low_order,
            makes_many=self._makes_many,
            common=self._common if self._pools else None,
        )

    def _points(self) -> list[Point]:
        """Return a few points of the curve that the claim implies; an ex-post claim is compared with equality."""
        claimed = self.evidence.claimed
        if claimed is None:
            return [(0.0, 0.0)]
        epsilon, delta = claimed.epsilon[claimed.claimed], claimed.delta[claimed.claimed]
        chosen = dict.fromkeys((0, len(epsilon) // 2, len(epsilon) - 1))
        return [(float(epsilon[k]), float(delta[k])) for k in chosen]

    def _screen(self, run: RunDraws, most_calls: float, is_over: Callable[[], bool]) -> bool:
        """Carry out the next round of the screening, if it is due and can be paid; return whether it was.

        Once `is_over` says so, the round is given up, as if it had not been due.
        """
        if self._screening is None or len(self.games) == len(self.weights):
            return False
        for leader in set(self._allocation.beyond(self.evidence.ideal)) - self._varied:
            self._varied.add(leader)
            self._screening.look_near(self._nearby((self.games[leader].left, self.games[leader].right)))
        draws = self._screening.due(self.calls)
        if not draws or sum(draw.size for draw in draws) > most_calls:
            return False
        results = []
        for result in run(draws):
            results.append(result)
            if is_over():
                break
        if len(results) < len(draws):
            return False
        for pair in self._screening.observe(results):
            if len(self.games) < len(self.weights):
                self._add(pair)
        return True

    def _add(self, pair: tuple[Array, Array]) -> None:
        index = len(self.games)
        self.games.append(self._new_game(index, pair))
        self._allocation.add()
        self._plan.append([index])

    # --- playing ------------------------------------------------------------------------------------------------

    def play_round(
        self, run: RunDraws, *, most_calls: int | None = None, is_over: Callable[[], bool] = lambda: False
    ) -> bool:
        """Play the next round of at most `most_calls` calls; return whether there was any left to spend.

        Once `is_over` says so, no further batch of the round is settled; then no further round may be played. The
        same result follows from `most_calls` alone.

        The rounds depend on what was seen and on the seed, never on time or on the number of workers. After an
        interruption each game stands as it was before or after its batch, so that bounds and evidence are valid.
        """
        left_over = math.inf if most_calls is None else most_calls
        if not self._plan and self._screen(run, left_over, is_over):
            return True
        if self.calls and is_over():
            return True
        orders = self._next_orders()
        prepared = []
        for index, size in orders:
            affordable = int(min(size, left_over))
            if affordable > 0:
                prepared.append((index, self.games[index].prepare(affordable)))
                left_over -= affordable
        results = iter(run([draw for _, batch in prepared for draw in batch.draws]))
        for index, batch in prepared:
            self._enter(index, batch, list(islice(results, len(batch.draws))))
            self._rate(index)
            if is_over():
                break
        self._look_for_shared_noise()
        return bool(prepared)

    def _enter(self, index: int, batch: Batch, results: list[Outcomes | None]) -> None:
        game = self.games[index]
        self._pool.stake(batch.calls, self.calls + batch.calls, lost=any(result is None for result in results))
        game.enter(batch, results)

    def _look_for_shared_noise(self) -> None:
        """Begin anew with calls of size 1 where the outcomes of one call are not independent."""
        if self.draws_apart or self.calls < _FIRST_LOOK:
            return
        evidence = max(self.evidence.claim_wealth(k) for k in range(len(self.games)))
        if self.calls < self._look_at and evidence < self._looked_at + 1:
            return
        self._look_at, self._looked_at = math.ceil(_LOOK_AGAIN * self.calls), max(evidence, 0.0)
        foremost = self._allocation.foremost(_LOOKED_AT)
        if shares_noise([self.games[k] for k in foremost if self.games[k].calls]):
            self._begin_apart()

    def _begin_apart(self) -> None:
        self._common = CommonLearner(self._common.unit)
        self._void_calls, self.draws_apart = sum(game.calls for game in self.games), True
        self._begin([(game.left, game.right) for game in self.games])

    @property
    def is_hopeless(self) -> bool:
        """Return whether every call on the first pairs raised: the target is then reported as faulty."""
        return all(game.calls and game.only_failures for game in self.games[:_TOGETHER])

    @property
    def is_blind(self) -> bool:
        """Return whether all outcomes on the first pairs have one unreadable type: further calls are then useless."""
        first = self.games[:_TOGETHER]
        types = {kind for game in first for kind in game.unread.values()}
        return len(types) == 1 and all(game.calls and game.blanks == game.calls for game in first)

    def _plan_pilot(self) -> list[list[int]]:
        everyone = list(range(len(self.games)))
        return [everyone[k : k + _TOGETHER] for k in range(0, len(everyone), _TOGETHER)]

    def _next_orders(self) -> list[tuple[int, int]]:
        """Return (pair, calls) for the next round: everyone once, then each pair up to its share."""
        if self._plan:
            return [(k, self._next_size(self.games[k])) for k in self._plan.pop(0)]
        wanted = _GROWTH * self.calls * self._shares()
        lag = wanted / [max(game.calls, 1) for game in self.games]
        orders = []
        for index in np.argsort(-lag, kind="stable").tolist():  # who lags behind most comes first
            game = self.games[index]
            size, missing = self._next_size(game), int(wanted[index]) - game.calls
            if missing >= size // 2:
                orders.append((index, min(size, max(missing, FIRST_BATCH))))
        leader = int(np.argmax(wanted))
        # a new leader may find that all others had more than their shares
        return orders[:_TOGETHER] or [(leader, self._next_size(self.games[leader]))]

    def _next_size(self, game: PairGame) -> int:
        """Return half of the calls so far: the learners never lag behind by more than a third.

        On few pairs batches begin small, if wanted: see `Campaign`. A target that makes many
        outcomes in the time of one is asked for more at once.
        """
        if self._makes_many and game.calls > FIRST_BATCH:
            return min(2 * game.calls, game.largest_batch)
        if self._begins_small and len(self.games) <= _FEW_PAIRS and game.calls < _UNHURRIED:
            return max(_SMALLEST_BATCH, game.calls // _SLOW_GROWTH)
        wanted = game.calls // 2 if game.calls > FIRST_BATCH else 2 * FIRST_BATCH
        return max(FIRST_BATCH, min(wanted, game.largest_batch))

    def _spread_references(self) -> NDArray[np.intp]:
        """Return rows of the claimed family at which pairs are compared, none for an ex-post claim."""
        if self.evidence.claimed is None:
            return np.empty(0, dtype=np.intp)
        count = _COSTLY_REFERENCES if self.evidence.claimed.delta.any() else _REFERENCES
        return np.unique(np.linspace(0, len(self.evidence.claimed.grid) - 1, count).astype(np.intp))

    def _rate(self, index: int) -> None:
        """Note the evidence of a game against the claim and against equality; what compares it may wait."""
        game = self.games[index]
        told = float(game.rough_log_wealth(np.zeros(1), np.zeros(1))[0]) if self._compares else 0.0
        self._allocation.note(index, game.calls, self.evidence.claim_wealth(index), told)
        self._to_compare.add(index)

    def _shares(self) -> Array:
        """Return the share of the calls that each pair is to have, once all that were played are compared."""
        for index in sorted(self._to_compare):
            game = self.games[index]
            wealth = np.array([self.evidence.claim_wealth(index)])
            if self._compares and self.evidence.claimed is not None:
                wealth = self.evidence.family_wealth(self.evidence.claimed, game, self._references, is_rough=True)
            foremost = self._foremost_wealth(game) if self._compares else 0.0
            self._allocation.compare(index, game.calls, wealth, foremost)
        self._to_compare.clear()
        return self._allocation.shares(self.calls, self._leads)

    def _foremost_wealth(self, game: PairGame) -> float:
        """Return the largest wealth of a kind of bets against the claim, without its share: a guide, no evidence."""
        if self.evidence.claimed is None:
            return 0.0
        part = self.evidence.claimed.rows(claimed_row(self.evidence.claimed))
        found = game.rough_log_wealths(part.epsilon.ravel(), part.delta.ravel())
        return max(float(part.mix(logs)[0]) for logs in found)

    @property
    def _leads(self) -> list[int]:
        """Return the places of the games that may have most of the calls."""
        return [k for k, game in enumerate(self.games) if not game.is_about_rounding]

    def best_game(self) -> PairGame:
        """Return the game with the most evidence."""
        return self.games[self._allocation.best(self.evidence.ideal)]
