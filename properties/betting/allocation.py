"""The shares of the calls of a campaign that its pairs are to have, from the evidence that they brought so far.

Where to play next depends on the past only, so that no share can invalidate a test.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["EVERYONES", "Allocation"]

Array = NDArray[np.float64]

_LOOKING = 0.3
"""The part of the calls that looks for better pairs than the leaders, whatever the leaders have shown: a leak on rare
outcomes needs 10^4 calls or more to show at all."""

_RANK_POWER = 3.0
"""The shares of the leaders fall with this power of the rank: a smaller power finds the best pair more surely and
gives it fewer calls."""

_OPEN_RANK_POWER = 2.0
"""The same while no pair promises a bound above 0: the order of the list ranks them, and the leak may be on any."""

_MOST_LIKELY = 100.0
"""The largest factor by which wealth against the claim raises the part of a pair in the calls that look: the odds of a
leak are that wealth times those before, but a wealth that chance brought must not take all."""

_LOOKED_LONG = 1 << 20
"""Calls after which `_LOOKING` falls with the square root of the calls while some pair is proven: the number of calls
that look still grows."""

_LOOKING_AT_LEAST = 0.15
"""The smallest part of the calls that looks for better pairs."""

EVERYONES = 512
"""Minimum calls per pair, paid in equal shares from at most half of all calls: gross leaks show in as many calls."""

_PROMISED = math.log(20)
"""Nats that the weighted wealth of a pair is projected to reach; the bound at this level ranks the pairs."""

_HINT = 2.0
"""Nats against the claim itself from which on a pair is a leader beyond the claim: fewer come by chance on most pairs
of some dozens."""

_BEYOND = 1 / 2
"""The part of the leaders' calls that goes to leaders beyond the claim, if there are any. The rest goes to the pairs
that promise the largest bound: ordinary signals below the claim rank high there, and rare leaks beyond it low."""


_ROUNDING_PART = 1 / 4
"""Calls on a pair that says nothing of the ideal mechanism, as a part of those that it would have otherwise: more find
rarer leaks of floats and leave fewer calls for the verdict."""


def _looking_share(total: int) -> float:
    """Return the part of this number of calls that looks for better pairs than the proven ones."""
    return max(_LOOKING_AT_LEAST, _LOOKING * math.sqrt(min(1.0, _LOOKED_LONG / max(total, 1))))


def _by_rank(values: Array, power: float = _RANK_POWER) -> Array:
    """Return shares that fall with a power of the rank, from the largest value down; none for minus infinity."""
    shares = np.zeros(len(values))
    ranks = np.arange(1, len(values) + 1)
    shares[np.argsort(-values, kind="stable")] = ranks**-power
    shares[np.isneginf(values)] = 0
    return np.asarray(shares / shares.sum())


def _proven(gains: Array) -> Array:
    """Take a standard deviation from what was won: the variance of a log-likelihood ratio is twice its mean."""
    proven: Array = gains - np.sqrt(2 * np.maximum(gains, 0.0) + 1)
    return proven


class Allocation:
    """The evidence that each pair brought, and the shares of the calls that follow from it.

    Parameters
    ----------
    weights : ndarray
        The share of the wealth of each pair, also of those that are still to come.
    references : int
        Number of claims of growing weakness at which pairs are compared.
    """

    def __init__(self, weights: Array, references: int) -> None:
        self._weights, self._nothing = weights, np.zeros(references)
        self._records: list[list[tuple[int, Array]]] = []
        self._won: list[tuple[int, Array]] = []
        self._rates: list[float] = []
        self._scores: list[float] = []
        self._odds: list[float] = []

    def add(self, pairs: int = 1) -> None:
        """Let in pairs that were not played yet."""
        self._records += [[(0, self._nothing)] for _ in range(pairs)]
        self._won += [(1, self._nothing)] * pairs
        self._rates += [-math.inf] * pairs
        self._scores += [0.0] * pairs
        self._odds += [1.0] * pairs

    def note(self, index: int, calls: int, claimed: float, told: float) -> None:
        """Note the evidence of a pair in all its calls.

        Parameters
        ----------
        index : int
            Which pair.
        calls : int
            Its calls so far.
        claimed, told : float
            The logarithms of its wealth against the claim, and against equality of the two sides.
        """
        # the rate at which sides are told tells pairs apart that have no evidence
        self._scores[index] = claimed + 3 * told / max(calls, 1)
        self._rates[index] = float(_proven(np.array(claimed))) / calls if claimed >= _HINT else -math.inf

    def compare(self, index: int, calls: int, wealth: Array, foremost: float = 0.0) -> None:
        """Note what the shares of a pair depend on.

        Parameters
        ----------
        index, calls : int
            As for `note`.
        wealth : ndarray
            The logarithms of its wealth against the references.
        foremost : float
            The logarithm of the largest wealth against the claim that a kind of bets has by itself, whatever its
            share: it rises with the first rare events.
        """
        self._odds[index] = math.exp(min(foremost, math.log(_MOST_LIKELY)))
        self._records[index].append((calls, wealth))
        self._won[index] = self._later_half(index)

    def best(self, among: Sequence[int]) -> int:
        """Return the one of some pairs with the most evidence."""
        return max(among, key=self._scores.__getitem__)

    def foremost(self, count: int) -> list[int]:
        """Return the pairs with the most evidence, the first one first."""
        order: list[int] = np.argsort(-np.array(self._scores), kind="stable")[:count].tolist()
        return order

    def beyond(self, among: Sequence[int]) -> list[int]:
        """Return the one of some pairs that wins fastest beyond the claim, if there is one."""
        leaders = [index for index in among if not math.isinf(self._rates[index])]
        return [max(leaders, key=self._rates.__getitem__)] if leaders else []

    def shares(self, total: int, among: Sequence[int]) -> Array:
        """Return the share of all calls that each pair is to have.

        The proven pairs share most, above all the one that promises the largest bound, and those with evidence beyond
        the claim; while there are none, the likeliest: weak evidence shows nowhere if the calls are spread. The rest
        looks for others, half of it by the weights, and more where something was won of late.

        Parameters
        ----------
        total : int
            Calls so far.
        among : sequence of int
            The pairs that may lead; the others say nothing of the ideal mechanism, and have a part of their calls.
        """
        part = np.full(len(self._won), _ROUNDING_PART)
        part[list(among)] = 1.0
        may_lead = part == 1
        promises = np.array(
            [self._promise(index, total) if leads else -math.inf for index, leads in enumerate(may_lead)]
        )
        is_open = np.isneginf(promises)
        won = np.array([float(gain[0]) for _, gain in self._won])
        likely = self._odds + np.where(is_open, np.maximum(won, 0.0), 0.0)
        # half of them by equal weights: what the screening chose has small ones
        own = self._weights[: len(won)]
        looking: Array = part * (own / own.sum() + 1 / len(won)) * likely
        looking /= looking.sum()
        if promises.max() < 0:  # none would push the bound above 0 with all calls so far
            leaders, share = _by_rank(looking, _OPEN_RANK_POWER), _LOOKING
        else:
            leaders, share = _by_rank(promises), _looking_share(total)
        rates = np.where(may_lead, self._rates, -math.inf)
        if not np.isneginf(rates).all():
            leaders = (1 - _BEYOND) * leaders + _BEYOND * _by_rank(rates)
        shares = share * looking + (1 - share) * leaders
        return np.asarray(np.maximum(shares, part * min(1 / (2 * len(shares)), EVERYONES / total)))

    def _later_half(self, index: int) -> tuple[int, Array]:
        """Return how many calls the later half of a game had, and the evidence won in them."""
        calls, wealth = self._records[index][-1]
        earlier = next(entry for entry in reversed(self._records[index]) if entry[0] <= calls / 2)
        return max(calls - earlier[0], 1), wealth - earlier[1]

    def _promise(self, index: int, total: int) -> float:
        """Return how far a pair would push the lower bound if it had as many calls again as were made so far.

        It would win at the rate of its later half, beyond what it has won: of two pairs that win alike the one with
        fewer calls is behind, and calls are not spread over both. In steps of the references, interpolated; minus
        infinity if it is not proven.
        """
        needed = _PROMISED - math.log(float(self._weights[index]))
        calls, gain = self._won[index]
        proven = _proven(gain)
        if proven[0] <= 0:
            return -math.inf
        won = self._records[index][-1][1]
        projected = np.maximum(won, 0.0) + proven * (total / calls)
        falling = np.flatnonzero(projected < needed)
        if not falling.size:
            return len(projected) - float(needed / projected[-1])
        first = int(falling[0])
        if first == 0:
            return float(projected[0] / needed) - 1
        above, below = float(projected[first - 1]), float(projected[first])
        return first - 1 + (above - needed) / (above - below)
