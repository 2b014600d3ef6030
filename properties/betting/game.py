"""One game: a pair of neighbouring inputs, the learners that watch it, and the wealth won against every claim."""

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import ExPost
from dpassay.properties.betting.bets import (
    ERROR_PER_CALL,
    LEVELS,
    WEIGHTS,
    Ledger,
    best_weight,
    log_factors,
    log_wealth,
    to_levels,
)
from dpassay.properties.learners.mixture import Ensemble
from dpassay.properties.learners.threads import one_thread
from dpassay.properties.outcomes.symbols import CallFailedError, Outcomes, Sampler, call
from dpassay.spec.notions.ex_post import ex_post_bound

__all__ = ["Batch", "Draw", "ExPostLedger", "PairGame", "sample_side"]

Array = NDArray[np.float64]

FIRST_BATCH = 32
"""The first batch of a game is drawn call by call, so that an exception stands for one outcome."""

LARGEST_BATCH, MOST_NUMBERS = 1 << 18, 1 << 22
"""Calls in one batch at most, and numbers in the outcomes of one batch, if that allows `FIRST_BATCH` calls."""

LARGEST_CHUNK = 1 << 16
ARCHIVED_CALLS = 200_000

_FIRST_UNFAIR, _LOOKS_REFUTED = 1 << 12, 8.0
_STEEP = np.arange(1.0, 16.0, 0.25)
"""Sides stay fair until some of these epsilons looks refuted, by this much evidence: below, little can be gained."""

_LOG_STAKE, _LOG_RESERVE = math.log1p(-(2.0**-6)), math.log(2.0**-6)


@dataclass(frozen=True)
class Draw:
    """A task for a worker: `size` outcomes on one input from a seed of its own, call by call or at once."""

    data: Array
    size: int
    seed: np.random.SeedSequence
    one_by_one: bool


def sample_side(sampler: Sampler, draw: Draw) -> Outcomes | None:
    """Carry out a task; None if a call of many outcomes raised.

    Call by call an exception is an outcome like any other. Of a call for many outcomes that raised, nobody knows
    how many of them would have; see `PairGame.enter`. A sampler may have a function `apart` that goes call by call
    itself, with the symbols of exceptions among the outcomes.
    """
    rng = np.random.default_rng(draw.seed)
    apart: Sampler | None = getattr(sampler, "apart", None) if draw.one_by_one else None
    if draw.one_by_one and apart is None:
        outcomes: list[Outcomes] = []
        for _ in range(draw.size):
            try:
                outcomes.append(call(sampler, draw.data, 1, rng))
            except CallFailedError as failure:
                outcomes.append(Outcomes.of([failure.symbol]))
        return Outcomes.joined(outcomes)
    try:
        return call(apart or sampler, draw.data, draw.size, rng)
    except CallFailedError:
        return None


@dataclass(frozen=True)
class Batch:
    """The draws of a batch, left ones and right ones; their numbers were decided by coins of this weight."""

    left: tuple[Draw, ...]
    right: tuple[Draw, ...]
    weight: float = 0.5

    @property
    def calls(self) -> int:
        """How many outcomes are asked for."""
        return sum(draw.size for draw in self.left + self.right)


@dataclass
class ExPostLedger:
    """A `Ledger` whose calls are also told apart by the bound that the claim sets for their outcome."""

    counts: dict[tuple[float, int], tuple[int, int]] = field(default_factory=dict)

    def record(self, bounds: Array, levels: NDArray[np.int64], is_left: NDArray[np.bool_]) -> None:
        """Enter a batch; an infinite bound forbids nothing, so it is not entered."""
        for bound, level, left in zip(bounds.tolist(), levels.tolist(), is_left.tolist(), strict=True):
            if math.isfinite(bound):
                a, b = self.counts.get((bound, level), (0, 0))
                self.counts[bound, level] = (a + left, b + (not left))

    def log_wealth(self) -> float:
        """Return the logarithm of the wealth against the claim, rounded down."""
        if not self.counts:
            return 0.0
        bounds, levels = (np.array(part) for part in zip(*self.counts, strict=True))
        counts = np.array(list(self.counts.values()), dtype=np.float64)
        on_left, on_right = log_factors(LEVELS[levels.astype(np.int64)], bounds)
        return float(on_left @ counts[:, 0] + on_right @ counts[:, 1] - ERROR_PER_CALL * counts.sum())


@dataclass(frozen=True)
class _Books:
    """All that the wealth of a game depends on, replaced as a whole: an interruption never leaves half a batch."""

    ledger: Ledger = field(default_factory=Ledger)
    duels: Ledger = field(default_factory=Ledger)
    ex_post: ExPostLedger = field(default_factory=ExPostLedger)
    failed: bool = False


class PairGame:
    """The game on one pair.

    The stake is 63/64 of the wealth; the rest is a reserve for the case that a call for many outcomes raises,
    which loses the stake (to leave such a batch out would bias what remains). From then on the reserve is played
    call by call.

    Parameters
    ----------
    left, right : ndarray
        The inputs.
    seed : int
        Seed of the hunt.
    index : int
        Which pair of the hunt this is; together they determine every random number of the game.
    ex_post : ExPost, optional
        The claim, if its bound depends on the outcome.
    ignored : frozenset of str
        Features of the outcomes that are not to be bet on.
    """

    def __init__(
        self,
        left: Array,
        right: Array,
        *,
        seed: int,
        index: int,
        ex_post: ExPost | None = None,
        ignored: frozenset[str] = frozenset(),
    ) -> None:
        self.left, self.right = left, right
        self._books = _Books()
        self.archive: list[tuple[Outcomes, NDArray[np.bool_]]] = []
        self.calls = 0
        self.failures = 0
        self.unread: dict[str, str] = {}
        self.blanks = 0
        self._types: set[Any] = set()
        self._arrays_differ = False
        self._ex_post = ex_post
        self.ignored, self._ensemble = ignored, Ensemble(ignored)
        self._seed, self._index, self._batches = seed, index, 0
        self._one_by_one = True
        self.largest_batch = LARGEST_BATCH

    def prepare(self, size: int) -> Batch:
        """Toss the coins of the next batch; their weight follows from what the game saw before."""
        weight = self._next_weight()
        children = np.random.SeedSequence(self._seed, spawn_key=(self._index, self._batches)).spawn(3)
        heads = int(np.random.default_rng(children[0]).binomial(size, weight))
        self._batches += 1

        def draws(data: Array, count: int, seed: np.random.SeedSequence) -> tuple[Draw, ...]:
            chunks = [LARGEST_CHUNK] * (count // LARGEST_CHUNK) + [count % LARGEST_CHUNK] * (count % LARGEST_CHUNK > 0)
            seeds = seed.spawn(len(chunks))
            return tuple(Draw(data, n, s, self._one_by_one) for n, s in zip(chunks, seeds, strict=True))

        return Batch(draws(self.left, heads, children[1]), draws(self.right, size - heads, children[2]), weight)

    def _next_weight(self) -> float:
        """Return the weight that serves the largest epsilon that looks refuted, once the learners are beyond it.

        While the bound is held back by what the learners can tell, they need calls of both sides.
        """
        if self._ex_post is not None or self.calls < _FIRST_UNFAIR or self._books.failed:
            return WEIGHTS[0]
        ledger = self._books.ledger
        refuted = np.flatnonzero(log_wealth(ledger, _STEEP) >= _LOOKS_REFUTED)
        return best_weight(ledger, float(_STEEP[refuted[-1]])) if refuted.size else WEIGHTS[0]

    def enter(self, batch: Batch, results: list[Outcomes | None]) -> None:
        """Settle the bets on a batch, then let the learners see it."""
        self.calls += batch.calls
        if any(result is None for result in results):
            self.failures += batch.calls
            self._books, self._one_by_one = _Books(failed=True), True
            return
        parts = [result for result in results if result is not None]
        is_left = np.repeat([True, False], [sum(d.size for d in batch.left), sum(d.size for d in batch.right)])
        outcomes = replace(Outcomes.joined(parts), inputs=(self.left, self.right), typed=self.sees_types)
        with one_thread():
            self._settle(outcomes, is_left, batch.weight)
            self._ensemble.observe(*_balanced(outcomes, is_left, batch.weight))
        self._note_types(parts)
        self._remember(outcomes, is_left)

    @property
    def only_failures(self) -> bool:
        """Whether no call returned."""
        return self.failures == self.calls

    @property
    def sees_types(self) -> bool:
        """Whether the type of an outcome is bet on: it is once outcomes of different types have come."""
        return len(self._types) > 1

    def _note_types(self, parts: list[Outcomes]) -> None:
        """Note the types of outcomes. An array of many has one type, which tells nothing of a single outcome.

        Where types differ and such arrays come, the calls are made one by one from then on.
        """
        arrays = [part for part in parts if part.types is None]
        for part in parts:
            self._types |= {part.array_type} if part.types is None else set(part.types)
        self._arrays_differ = self._arrays_differ or (bool(arrays) and self.sees_types)

    def _settle(self, outcomes: Outcomes, is_left: NDArray[np.bool_], weight: float) -> None:
        logits = self._ensemble.logits(outcomes)
        levels = to_levels(logits)
        singles, duels, ex_post = Ledger(), Ledger(), ExPostLedger(dict(self._books.ex_post.counts))
        singles.record(levels, is_left, weight)
        pairs = min(int(is_left.sum()), int((~is_left).sum()))
        # a hidden order of one left and one right outcome is told with the difference of their logits
        won = to_levels(logits[is_left][:pairs] - logits[~is_left][:pairs])
        duels.record(won, np.ones(pairs, dtype=np.bool_))
        if self._ex_post is not None:
            bounds = np.array([_rounded_up(ex_post_bound(self._ex_post, symbol)) for symbol in outcomes.symbols()])
            ex_post.record(bounds, levels, is_left)
        books = self._books
        self._books = _Books(books.ledger + singles, books.duels + duels, ex_post, books.failed)

    def _remember(self, outcomes: Outcomes, is_left: NDArray[np.bool_]) -> None:
        failures = outcomes.failures
        self.failures += failures
        self.unread |= outcomes.unread
        self.blanks += outcomes.blanks
        self._one_by_one = self._books.failed or failures > 0 or self.calls < FIRST_BATCH or self._arrays_differ
        self.largest_batch = max(FIRST_BATCH, min(LARGEST_BATCH, MOST_NUMBERS // max(outcomes.width, 1)))
        self.archive.append((outcomes if self._ex_post is not None else outcomes.condensed(), is_left))
        while len(self.archive) > 2 and sum(len(o) for o, _ in self.archive[1:]) > ARCHIVED_CALLS:
            del self.archive[0]

    # --- wealth -------------------------------------------------------------------------------------------------

    def log_wealth(self, epsilon: Array | float, delta: Array | float) -> Array:
        """Return the logarithm of the wealth against (epsilon, delta)-DP."""
        return self._with_reserve(log_wealth(self._books.ledger, epsilon, delta))

    def log_wealth_bounded_range(self, epsilon: Array | float) -> Array:
        """Return the logarithm of the wealth against bounded range epsilon: half by pairs of calls, half by pure DP.

        The order of a left and a right outcome is a pure epsilon-DP game of its own, on products; its factor is
        the same whichever order was hidden, so the coin need not be tossed.
        """
        parts = np.logaddexp(log_wealth(self._books.ledger, epsilon), log_wealth(self._books.duels, epsilon))
        return self._with_reserve(parts - math.log(2) - 2.0**-44)

    def log_wealth_ex_post(self) -> float:
        """Return the logarithm of the wealth against the ex-post claim."""
        return float(self._with_reserve(np.array([self._books.ex_post.log_wealth()]))[0])

    def _with_reserve(self, logs: Array) -> Array:
        if self._books.failed:
            return logs + _LOG_RESERVE
        combined: Array = np.logaddexp(logs + _LOG_STAKE, _LOG_RESERVE) - 2.0**-44
        return combined


def _balanced(outcomes: Outcomes, is_left: NDArray[np.bool_], weight: float) -> tuple[Outcomes, NDArray[np.bool_]]:
    """Return a batch as fair sides would have made it: what learners say of it is then the likelihood ratio.

    The calls of the rarer side count as often as the other side is more likely, after all of the others.
    """
    if weight == WEIGHTS[0]:
        return outcomes, is_left
    is_rare = is_left if weight < WEIGHTS[0] else ~is_left
    times = round(max(weight, 1 - weight) / min(weight, 1 - weight))
    order = np.concatenate([np.flatnonzero(~is_rare), np.repeat(np.flatnonzero(is_rare), times)])
    return outcomes.taken(order), is_left[order]


def _rounded_up(bound: float) -> float:
    """Round an ex-post bound up to 20 bits: a weaker claim, and few different ones to keep apart."""
    if bound <= 0 or math.isinf(bound):
        return max(0.0, bound)
    mantissa, exponent = math.frexp(bound)
    return math.ldexp(math.ceil(mantissa * 2**20), exponent - 20)
