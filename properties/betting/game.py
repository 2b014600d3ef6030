"""One game: a pair of neighbouring inputs, the learners that watch it, and the wealth won against every claim."""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import ExPost
from dpassay.properties.betting.bets import WEIGHTS, to_levels
from dpassay.properties.betting.books import KEPT, LOG_SHARES, Books, ExPostLedger
from dpassay.properties.betting.moments import log_moment_wealth
from dpassay.properties.betting.wealth import Ledger, best_weight, log_wealth, log_wealths
from dpassay.properties.drawing.draws import Draw
from dpassay.properties.learners.mixture import Ensemble
from dpassay.properties.learners.moves import CommonLearner, MovesView
from dpassay.properties.learners.structural import KINDS, LowOrderLearner, StructuralLearners
from dpassay.properties.learners.threads import one_thread
from dpassay.properties.log_domain import logsumexp
from dpassay.properties.outcomes.batch import Outcomes
from dpassay.properties.outcomes.resolution import LATTICE_SHOWS, ROUNDING_SHOWS, rounding_step

__all__ = ["Batch", "LowOrder", "PairGame"]

LowOrder = Literal["none", "beside", "alone"]

Array = NDArray[np.float64]

FIRST_BATCH = 32
"""The first batch of a game is drawn call by call, so that an exception stands for one outcome."""

LARGEST_BATCH = 1 << 18
"""Calls in one batch at most: larger batches need more memory and learn later."""

MOST_NUMBERS = 1 << 22
"""Numbers in the outcomes of one batch at most, if that allows `FIRST_BATCH` calls: it bounds the memory."""

LARGEST_CHUNK = 1 << 16
"""Outcomes that one call of the target returns at most: workers share larger batches."""

ARCHIVED_CALLS = 200_000
"""Calls that are kept to find events for the witness: more find rarer events and take more memory."""

_FIRST_UNFAIR = 1 << 12
"""Calls before the sides may become unfair: the growth of a bet is estimated from the calls so far."""

_LOOKS_REFUTED = 8.0
"""Nats of evidence against some epsilon of `_STEEP` before the sides may become unfair."""

_STEEP = np.arange(1.0, 16.0, 0.25)
"""The epsilons at which unfair sides can gain much; below them fair sides are nearly as good."""

_LOW_ORDER_SHARE, _ALL_SHARE, _LATTICE_SHARE = 1 / 2, 1 / 4, 1 / 4
"""The shares of the wealth of the float64 question: bets on the lowest bits, all bets where rounding shows, bets on
structural events where the lattice of floats shows."""

_ENOUGH_FOR_SPREAD = 1 << 10
"""Calls after which the spread of the outcomes is not measured again."""

_MAY_WAIT = 1 << 10
"""Calls of a batch up to which its lesson may wait until the game goes on: what waits takes memory."""

CALLS_APART = 1 << 10
"""Calls of size 1 in one draw at most."""


@dataclass(frozen=True)
class Batch:
    """The draws of a batch in their order, which coins decided, and the side of each outcome.

    Calls one by one change between the sides at random, so that what depends on the order of the calls alone tells
    nothing of the side. Of calls for many outcomes, the order of the two sides is tossed for the batch.
    """

    draws: tuple[Draw, ...]
    is_left: NDArray[np.bool_]
    weight: float = 0.5

    @property
    def calls(self) -> int:
        """The number of outcomes that the target is asked for."""
        return len(self.is_left)

    def groups(self) -> NDArray[np.intp]:
        """Return for each outcome the number of its call, of those in the batch."""
        sizes = [np.ones(d.size, dtype=np.intp) if d.one_by_one else np.array([d.size]) for d in self.draws]
        joined = np.concatenate(sizes)
        return np.repeat(np.arange(len(joined)), joined)


@dataclass(frozen=True)
class _Lesson:
    """A batch that the learners of a game have not seen; `is_shared`: the one that all games have in common has."""

    outcomes: Outcomes
    is_left: NDArray[np.bool_]
    weight: float
    is_shared: bool


class PairGame:
    """The game on one pair.

    A call for many outcomes that raises loses what was staked on its batch: to leave the batch out would bias what
    remains. A small part of the wealth, fixed before each batch, is kept from the bets on it; what is kept plays on,
    call by call from then on. What was kept from batches that were settled is given up.

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
    apart : bool
        Whether every outcome is drawn by a call of its own.
    low_order : {"none", "beside", "alone"}
        Whether the low-order bits of floats are a question of their own, with a wealth of its own. "beside": evidence
        that may come from rounding, by the step of float64 at the numbers of the pair, counts for that question only.
        "alone": nothing else is bet on, which takes far less time.
    makes_many : bool
        Whether a call takes as long for one outcome as for many: no batch is then drawn call by call until one raised.
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
        apart: bool = False,
        low_order: LowOrder = "none",
        makes_many: bool = False,
        common: CommonLearner | None = None,
    ) -> None:
        self.left, self.right = left, right
        self._view = None if common is None else MovesView(common, left, right)
        self._low_order = None if low_order == "none" else LowOrderLearner()
        self._only_low_order = low_order == "alone"
        self._step, self._measured_at, self._blames_rounding = 0.0, 0, False
        self._apart, self._first_batch = apart, 0 if makes_many else FIRST_BATCH
        self._books = Books()
        self.archive: list[tuple[Outcomes, NDArray[np.bool_]]] = []
        self.groups: list[NDArray[np.intp]] = []
        self.calls = 0
        self.failures = 0
        self._left_calls = 0
        self.unread: dict[str, str] = {}
        self.partly: dict[str, str] = {}
        self.blanks = 0
        self._types: set[Any] = set()
        self._arrays_differ = False
        self._ex_post = ex_post
        self.ignored = ignored
        self._waiting: _Lesson | None = None
        self._seed, self._index, self._batches = seed, index, 0
        self._one_by_one = apart or not makes_many
        self.largest_batch = LARGEST_BATCH

    @cached_property
    def _ensemble(self) -> Ensemble:
        """The learners of ordinary bets, from the first batch on: most games of a short hunt have none."""
        return Ensemble(self.ignored)

    @cached_property
    def _structural(self) -> StructuralLearners:
        return StructuralLearners(self.ignored)

    def prepare(self, size: int) -> Batch:
        """Toss the coins of the next batch; their weight follows from the past of the game."""
        weight = self._next_weight()
        children = np.random.SeedSequence(self._seed, spawn_key=(self._index, self._batches)).spawn(3)
        coins = np.random.default_rng(children[0])
        heads = int(coins.binomial(size, weight))
        self._batches += 1
        if self._one_by_one:
            is_left = coins.permutation(np.arange(size) < heads)
            return Batch(self._draws_apart(is_left, children[1]), is_left, weight)
        sides = [(self.left, heads, children[1], True), (self.right, size - heads, children[2], False)]
        draws, is_left_parts = [], []
        for data, count, seed, side in sides[:: 1 if coins.random() < 1 / 2 else -1]:
            sizes = _chunks(count, LARGEST_CHUNK)
            seeds = seed.spawn(len(sizes))
            draws += [Draw(data, n, s, one_by_one=False) for n, s in zip(sizes, seeds, strict=True)]
            is_left_parts.append(np.full(count, side))
        return Batch(tuple(draws), np.concatenate(is_left_parts), weight)

    def _draws_apart(self, is_left: NDArray[np.bool_], seed: np.random.SeedSequence) -> tuple[Draw, ...]:
        sizes = _chunks(len(is_left), CALLS_APART)
        parts = np.split(~is_left, np.cumsum(sizes)[:-1])
        seeds = seed.spawn(len(sizes))
        return tuple(
            Draw(self.left, len(part), own, one_by_one=True, other=self.right, on_other=part)
            for part, own in zip(parts, seeds, strict=True)
        )

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
        """Settle the bets on a batch, then let the learners see it; on the first one that returns none are made."""
        self.calls += batch.calls
        self._left_calls += int(np.count_nonzero(batch.is_left))
        kept = KEPT * batch.calls / self.calls
        if any(result is None for result in results):
            self.failures += batch.calls
            self._books = replace(self._books.keeping(kept), failed=True)
            self._one_by_one = True
            return
        self._books = self._books.keeping(1 - kept)  # first: an interruption leaves no bets without their price
        parts = [result for result in results if result is not None]
        is_left = batch.is_left
        outcomes = replace(Outcomes.joined(parts), inputs=(self.left, self.right), typed=self.sees_types)
        is_first = not self.archive  # nothing is known yet to bet on
        self._learn_what_waits()
        if not is_first:
            self._bet(outcomes, is_left, batch.weight)
        self._waiting = _Lesson(outcomes, is_left, batch.weight, is_shared=not is_first)
        if batch.calls > _MAY_WAIT:
            self._learn_what_waits()
        self._note_types(parts)
        self._remember(outcomes, is_left)
        self.groups = [*self.groups, batch.groups()][-len(self.archive) :]

    def _learn_what_waits(self) -> None:
        """Let the learners see the last batch: most games are left at some time, and never learn from theirs."""
        if self._waiting is None:
            return
        lesson, self._waiting = self._waiting, None
        with one_thread():
            balanced = _balanced(lesson.outcomes, lesson.is_left, lesson.weight)
            if not lesson.is_shared:
                self._share(*balanced)
            self._learn(*balanced)

    def _bet(self, outcomes: Outcomes, is_left: NDArray[np.bool_], weight: float) -> None:
        if self._only_low_order:
            low_order, ex_post = self._low_order_ledgers(outcomes, is_left, weight, self._bounds(outcomes))
            self._books = replace(self._books, low_order=low_order, low_order_ex_post=ex_post)
            return
        with one_thread():
            self._settle(outcomes, is_left, weight)
            self._share(*_balanced(outcomes, is_left, weight))

    def _share(self, outcomes: Outcomes, is_left: NDArray[np.bool_]) -> None:
        """Let the learner see a batch that all games have in common."""
        if self._view is not None and not self._only_low_order and not self.is_about_rounding:
            self._view.observe(outcomes, is_left, self._ensemble.combining)

    def _learn(self, outcomes: Outcomes, is_left: NDArray[np.bool_]) -> None:
        if not self._only_low_order:
            self._ensemble.observe(outcomes, is_left)
            self._structural.observe(outcomes, is_left)
        if self._low_order is not None:
            self._low_order.observe(outcomes, is_left)

    @property
    def only_failures(self) -> bool:
        """Return whether no call returned."""
        return self.failures == self.calls

    @property
    def called_both(self) -> bool:
        """Return whether both inputs were called: the side of each call is random."""
        return 0 < self._left_calls < self.calls

    @property
    def sees_types(self) -> bool:
        """Return whether the type of an outcome is bet on: it is as soon as types differ."""
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
        common = Ledger()
        if self._view is not None and not self.is_about_rounding:
            common.record(to_levels(self._view.logits(outcomes, self._ensemble.combining)), is_left, weight)
        structural = [Ledger() for _ in KINDS]
        for ledger, opinion in zip(structural, self._structural.logits(outcomes), strict=True):
            ledger.record(to_levels(opinion), is_left, weight)
        pairs = min(int(is_left.sum()), int((~is_left).sum()))
        # a hidden order of one left and one right outcome is told with the difference of their logits
        won = to_levels(logits[is_left][:pairs] - logits[~is_left][:pairs])
        duels.record(won, np.ones(pairs, dtype=np.bool_))
        bounds = self._bounds(outcomes)
        if bounds is not None:
            ex_post.record(bounds, levels, is_left)
        books = self._books
        kinds = tuple(one + new for one, new in zip(books.structural, structural, strict=True))
        low_order = self._low_order_ledgers(outcomes, is_left, weight, bounds)
        self._books = replace(
            books,
            ledger=books.ledger + singles,
            structural=kinds,
            common=books.common + common,
            duels=books.duels + duels,
            ex_post=ex_post,
            low_order=low_order[0],
            low_order_ex_post=low_order[1],
        )

    def _bounds(self, outcomes: Outcomes) -> Array | None:
        """Return the ex-post bound of each outcome; None for other claims."""
        if self._ex_post is None:
            return None
        from dpassay.spec.notions.ex_post import ex_post_bound  # with its interval arithmetic it slows the start

        return np.array([_rounded_up(ex_post_bound(self._ex_post, symbol)) for symbol in outcomes.symbols()])

    def _low_order_ledgers(
        self, outcomes: Outcomes, is_left: NDArray[np.bool_], weight: float, bounds: Array | None
    ) -> tuple[Ledger, ExPostLedger]:
        """Return the books of the bets on low-order bits with those on a batch entered."""
        new, ex_post = Ledger(), ExPostLedger(dict(self._books.low_order_ex_post.counts))
        if self._low_order is not None:
            levels = to_levels(self._low_order.logits(outcomes))
            new.record(levels, is_left, weight)
            if bounds is not None:
                ex_post.record(bounds, levels, is_left)
        return self._books.low_order + new, ex_post

    def _remember(self, outcomes: Outcomes, is_left: NDArray[np.bool_]) -> None:
        failures = outcomes.failures
        self.failures += failures
        self.unread |= outcomes.unread
        self.partly |= outcomes.partly
        self.blanks += outcomes.blanks
        raised_or_differs = self._books.failed or failures > 0 or self._arrays_differ
        self._one_by_one = self._apart or raised_or_differs or self.calls < self._first_batch
        self.largest_batch = max(FIRST_BATCH, min(LARGEST_BATCH, MOST_NUMBERS // max(outcomes.width, 1)))
        self.archive.append((outcomes if self._ex_post is not None else outcomes.condensed(), is_left))
        while len(self.archive) > 2 and sum(len(o) for o, _ in self.archive[1:]) > ARCHIVED_CALLS:
            del self.archive[0]

    # --- the two questions --------------------------------------------------------------------------------------

    @property
    def step(self) -> float:
        """The step of float64 at the numbers of the pair, in spreads of the outcomes; see `rounding_step`."""
        if self.archive and self._measured_at < min(self.calls, _ENOUGH_FOR_SPREAD):
            kept = Outcomes.joined([outcomes for outcomes, _ in self.archive])
            self._step, self._measured_at = rounding_step(kept, self.left, self.right), 2 * self.calls
        return self._step

    def blame_rounding(self) -> None:
        """Let all evidence of the pair count for the float64 question only: it depends on how floats are rounded."""
        self._blames_rounding = True

    @property
    def is_about_rounding(self) -> bool:
        """Return whether the evidence of the pair is none on the ideal mechanism, where the questions are apart."""
        return self._low_order is not None and (self._blames_rounding or self.step > ROUNDING_SHOWS)

    @property
    def _shows_lattice(self) -> bool:
        return self._low_order is not None and self.step > LATTICE_SHOWS

    def log_wealth_float64(self, epsilon: Array | float, delta: Array | float) -> Array:
        """Return the logarithm of the wealth of the float64 question against (epsilon, delta)-DP, or ex-post bounds.

        Its parts have fixed shares; parts that do not count are left out, on the safe side.
        """
        books = self._books
        parts = [log_wealth(books.low_order, epsilon, delta) + math.log(_LOW_ORDER_SHARE)]
        if self.is_about_rounding:
            parts.append(self._of_all_kinds(epsilon, delta) + math.log(_ALL_SHARE))
        if self._shows_lattice or self.is_about_rounding:
            share = math.log(_LATTICE_SHARE / len(KINDS))
            parts += [log_wealth(ledger, epsilon, delta) + share for ledger in books.structural]
        return self._at_stake(np.logaddexp.reduce(parts, axis=0) - 2.0**-44)

    def log_wealth_float64_ex_post(self) -> float:
        """Return the logarithm of the wealth of the float64 question against the ex-post claim."""
        parts = [self._books.low_order_ex_post.log_wealth() + math.log(_LOW_ORDER_SHARE)]
        if self.is_about_rounding:
            parts.append(self._books.ex_post.log_wealth() + math.log(1 - _LOW_ORDER_SHARE))
        return float(self._at_stake(np.array([np.logaddexp.reduce(parts)]))[0])

    @property
    def common_ledger(self) -> Ledger:
        """The bets on what all pairs have in common."""
        return self._books.common

    # --- wealth -------------------------------------------------------------------------------------------------

    def log_wealth(self, epsilon: Array | float, delta: Array | float) -> Array:
        """Return the logarithm of the wealth against (epsilon, delta)-DP: of ordinary bets and of structural ones."""
        return self._at_stake(self._of_all_kinds(epsilon, delta))

    def rough_log_wealth(self, epsilon: Array, delta: Array) -> Array:
        """Return about `log_wealth`, in less time, to compare pairs by: it is no evidence."""
        return self._of_all_kinds(epsilon, delta, is_rough=True)

    def rough_log_wealths(self, epsilon: Array | float, delta: Array | float) -> Array:
        """Return about the logarithms of the wealth of each kind of bets by itself, shape (kinds, claims)."""
        return log_wealths([ledger.rough() for ledger in self._kinds_of_bets()], epsilon, delta)

    def _kinds_of_bets(self) -> list[Ledger]:
        """Return the books of ordinary bets and of structural ones, unless these may show rounding."""
        common = [] if self._view is None else [self._books.common]
        return [self._books.ledger, *common, *(() if self._shows_lattice else self._books.structural)]

    def _of_all_kinds(self, epsilon: Array | float, delta: Array | float, *, is_rough: bool = False) -> Array:
        """Mix the e-processes in their fixed shares; those that may show rounding are left out, on the safe side."""
        ledgers = self._kinds_of_bets()
        logs = self.rough_log_wealths(epsilon, delta) if is_rough else log_wealths(ledgers, epsilon, delta)
        mixed: Array = logsumexp(logs + LOG_SHARES[self._view is not None][: len(ledgers), None], axis=0) - 2.0**-44
        return mixed

    def log_wealth_bounded_range(self, epsilon: Array | float) -> Array:
        """Return the logarithm of the wealth against bounded range epsilon: half by pairs of calls, half by pure DP.

        The order of a left and a right outcome is a pure epsilon-DP game of its own, on products; its factor is
        the same whichever order was hidden, so the coin need not be tossed.
        """
        parts = np.logaddexp(self._of_all_kinds(epsilon, 0.0), log_wealth(self._books.duels, epsilon))
        return self._at_stake(parts - math.log(2) - 2.0**-44)

    def log_wealth_moment(self, alpha: float, epsilon: float) -> float:
        """Return the logarithm of the wealth against RDP(alpha, epsilon) by bets on the moment itself."""
        return float(self._at_stake(np.array([log_moment_wealth(self._books.ledger, alpha, epsilon)]))[0])

    def log_wealth_ex_post(self) -> float:
        """Return the logarithm of the wealth against the ex-post claim."""
        return float(self._at_stake(np.array([self._books.ex_post.log_wealth()]))[0])

    def _at_stake(self, logs: Array) -> Array:
        return logs + (self._books.log_stake - 2.0**-44)


def _chunks(count: int, most: int) -> list[int]:
    return [most] * (count // most) + [count % most] * (count % most > 0)


def _balanced(outcomes: Outcomes, is_left: NDArray[np.bool_], weight: float) -> tuple[Outcomes, NDArray[np.bool_]]:
    """Return a batch with fair sides: the opinions of learners are then likelihood ratios.

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
