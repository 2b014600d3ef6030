"""The e-values and lower bounds of a campaign, on the ideal mechanism and on floats where these are a question apart.

The wealth against a claim is the mixture of the games on all pairs with weights fixed in advance, so nothing is paid
for choosing where to play, nor for stopping. One more share bets on the calls of all pairs, by what they have in
common (:mod:`dpassay.properties.betting.pool`). Against a stronger claim than the one at issue the wealth is mixed
once more, one part its own and fifteen the claim's, so that a refuted claim refutes every stronger one at the same
level; the evidence against the claim itself is those fifteen parts.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import Claim, ExPost
from dpassay.properties.betting.bounds import OWN_SHARE, lower_bound
from dpassay.properties.betting.families import ClaimFamily
from dpassay.properties.betting.game import PairGame
from dpassay.properties.betting.pool import POOL_SHARE, Pool
from dpassay.properties.betting.wealth import Ledger
from dpassay.properties.log_domain import logsumexp
from dpassay.properties.notions.base import audited, families_of

__all__ = ["MOMENTS_SHARE", "CampaignEvidence", "Float64Evidence", "claimed_row"]

Array = NDArray[np.float64]

_POOR = 6.0
"""Nats below the best pair from which on a pair is left out of a bound: some dozens of such pairs add 0.1 nats."""

MOMENTS_SHARE = 1 / 4
"""The share of the wealth that bets on Renyi moments, if the claim bounds some."""


class CampaignEvidence:
    """The evidence of all games against a claim.

    Parameters
    ----------
    claim : Claim
        The claim.
    games : sequence of PairGame
        The games; further ones may join.
    weights : ndarray
        The share of the wealth of each game, and of those that may join.
    pool : Pool, optional
        The stake of the bets on all pairs together; its share is none of the weights.
    """

    def __init__(self, claim: Claim, games: Sequence[PairGame], weights: Array, pool: Pool | None) -> None:
        self._claim, self._games, self._weights, self._pool = claim, games, weights, pool
        self._families, self._compares_pairs = families_of(claim), audited(claim).compares_pairs
        self._moments = audited(claim).moments(claim.in_float64())
        self.claimed = next((family for family in self._families if family.claimed >= 0), None)
        self._claim_wealths: dict[int, tuple[int, float]] = {}

    @property
    def played(self) -> list[tuple[int, PairGame]]:
        """The games that were played, with their places."""
        return [(place, game) for place, game in enumerate(self._games) if game.calls]

    # --- the wealth of a game -----------------------------------------------------------------------------------

    def claim_wealth(self, place: int) -> float:
        """Return the logarithm of the wealth of a game against the claim, computed once for its calls so far."""
        game = self._games[place]
        calls, wealth = self._claim_wealths.get(place, (0, 0.0))
        if calls != game.calls:
            wealth = self.claim_wealth_of(game)
            self._claim_wealths[place] = game.calls, wealth
        return wealth

    def claim_wealth_of(self, game: PairGame) -> float:
        """Return the logarithm of the wealth of a game against the claim."""
        if isinstance(self._claim, ExPost):
            return game.log_wealth_ex_post()
        assert self.claimed is not None
        wealth = float(self.family_wealth(self.claimed, game, claimed_row(self.claimed))[0])
        if not self._moments:
            return wealth
        shares = [math.log1p(-MOMENTS_SHARE), *[math.log(MOMENTS_SHARE / len(self._moments))] * len(self._moments)]
        parts = [wealth, *(game.log_wealth_moment(alpha, epsilon) for alpha, epsilon in self._moments)]
        return float(logsumexp(np.add(parts, shares))) - 2.0**-44

    def family_wealth(
        self,
        family: ClaimFamily,
        game: PairGame,
        rows: slice | NDArray[np.intp] = slice(None),
        *,
        is_rough: bool = False,
    ) -> Array:
        """Return the logarithm of the wealth of a game against some claims of a family.

        Parameters
        ----------
        family : ClaimFamily
            The family.
        game : PairGame
            The game.
        rows : slice or ndarray of int
            The claims, by their places in the family.
        is_rough : bool
            Whether about the wealth is enough, to compare pairs by: it is no evidence.
        """
        part = family.rows(rows)
        if self._compares_pairs and not part.delta.any():
            return part.mix(game.log_wealth_bounded_range(part.epsilon.ravel()))
        wealth = game.rough_log_wealth if is_rough else game.log_wealth
        return part.mix(wealth(part.epsilon.ravel(), part.delta.ravel()))

    # --- the mixture of all games -------------------------------------------------------------------------------

    @property
    def ideal(self) -> list[int]:
        """The places of the games whose evidence counts for the ideal mechanism; the others are left out."""
        return [place for place, game in self.played if not game.is_about_rounding]

    def log_value(self) -> float:
        """Return the logarithm of the e-value against the claim: 15/16 of the wealth, see the module."""
        played = {k: np.array([self.claim_wealth(k)]) for k in self.ideal}
        if not played:
            return 0.0
        wealth = self.mixed(played)
        if self.claimed is not None:
            wealth = self._with_pool(wealth, self.claimed.rows(claimed_row(self.claimed)))
        return float(wealth[0]) + math.log1p(-OWN_SHARE)

    def mixed(self, wealth: Mapping[int, Array]) -> Array:
        """Mix the wealth of games by their places.

        One that was not played yet keeps its share; it is left out, on the safe side.
        """
        weights = np.log(self._weights[list(wealth)])[:, None]
        mixture: Array = logsumexp(np.array(list(wealth.values())) + weights, axis=0) - 2.0**-40
        return mixture

    def pool_log_wealth(self, epsilon: Array, delta: Array) -> Array:
        """Return the logarithm of the wealth that bets on all pairs, without its share, against each claim."""
        assert self._pool is not None
        ledgers, aside = list[Ledger](), list[Ledger]()
        for _, game in self.played:
            if game.common_ledger.calls:
                (aside if game.is_about_rounding else ledgers).append(game.common_ledger)
        return self._pool.log_wealth(epsilon, delta, ledgers, aside)

    def _with_pool(self, wealth: Array, part: ClaimFamily) -> Array:
        """Add the share of the pool to the wealth of the pairs by themselves, against some claims."""
        if self._pool is None:
            return wealth
        pool = part.mix(self.pool_log_wealth(part.epsilon.ravel(), part.delta.ravel()))
        return np.asarray(np.logaddexp(wealth, pool + math.log(POOL_SHARE)) - 2.0**-44)

    # --- bounds -------------------------------------------------------------------------------------------------

    def bounds(self, alpha: float) -> dict[str, float]:
        """Return the lower confidence bound on each quantity at this moment, each valid at level 1 - alpha.

        For a claim that is not of the form (epsilon, delta), `epsilon` is the bound at delta 0.
        """
        return {family.parameter: self._bound(family, -math.log(alpha)) for family in self._families}

    def epsilon_lower(self, alpha: float) -> float:
        """Return the lower confidence bound on epsilon alone, which takes far less time than all `bounds`."""
        return self._bound(self.epsilon_family, -math.log(alpha))

    @property
    def epsilon_family(self) -> ClaimFamily:
        """The claims of other epsilons."""
        return next(each for each in self._families if each.parameter == "epsilon")

    def _bound(self, family: ClaimFamily, needed: float) -> float:
        if not self.ideal:
            return 0.0

        def own(rows: slice) -> Array:
            rich = self._rich(family, rows)
            wealth = self.mixed({k: self.family_wealth(family, self._games[k], rows) for k in rich})
            return self._with_pool(wealth, family.rows(rows))

        return lower_bound(family, needed, self.log_value(), own)

    def _rich(self, family: ClaimFamily, rows: slice) -> list[int]:
        """Return the games that matter to a bound at some claims: the others are left out, on the safe side.

        They are as good as the best one, but for `_POOR`, at the first, the middle or the last of the claims.
        """
        played = self.ideal
        some = np.unique([rows.start, (rows.start + rows.stop - 1) // 2, rows.stop - 1])
        if len(played) == 1 or rows.stop - rows.start <= len(some):
            return played
        rough = np.array([self.family_wealth(family, self._games[k], some, is_rough=True) for k in played])
        rough += np.log(self._weights[played])[:, None]
        return [
            k for k, matters in zip(played, (rough >= rough.max(axis=0) - _POOR).any(axis=1), strict=True) if matters
        ]


class Float64Evidence:
    """The evidence of all games against the claim in float64, where that is a question of its own.

    Parameters
    ----------
    claim : Claim
        The claim.
    of_ideal : CampaignEvidence
        The evidence on the ideal mechanism, of the same games.
    """

    def __init__(self, claim: Claim, of_ideal: CampaignEvidence) -> None:
        self._claim, self._of_ideal = claim, of_ideal

    def log_value(self) -> float:
        """Return the logarithm of the e-value against the claim."""
        played = {k: self._claim_wealth(game) for k, game in self._of_ideal.played}
        return float(self._of_ideal.mixed(played)[0]) + math.log1p(-OWN_SHARE) if played else 0.0

    def epsilon_lower(self, alpha: float) -> float:
        """Return the lower confidence bound on epsilon at level 1 - alpha."""
        family = self._of_ideal.epsilon_family
        played = self._of_ideal.played

        def own(rows: slice) -> Array:
            return self._of_ideal.mixed({k: _float64_wealth(family, game, rows) for k, game in played})

        return lower_bound(family, -math.log(alpha), self.log_value(), own) if played else 0.0

    def best_game(self) -> PairGame:
        """Return the game with the most evidence."""
        return max((game for _, game in self._of_ideal.played), key=lambda game: float(self._claim_wealth(game)[0]))

    def _claim_wealth(self, game: PairGame) -> Array:
        if isinstance(self._claim, ExPost):
            return np.array([game.log_wealth_float64_ex_post()])
        claimed = self._of_ideal.claimed
        assert claimed is not None
        return _float64_wealth(claimed, game, claimed_row(claimed))


def _float64_wealth(family: ClaimFamily, game: PairGame, rows: slice) -> Array:
    part = family.rows(rows)
    return part.mix(game.log_wealth_float64(part.epsilon.ravel(), part.delta.ravel()))


def claimed_row(family: ClaimFamily) -> slice:
    """Return the row of a family that is the claim itself."""
    return slice(family.claimed, family.claimed + 1)
