"""The sparse vector technique with individual charges per record.

Cohen and Lyu 2023, Alg 5. Sums over the records are released with noise where they reach a threshold; a record that
takes part in `hits` released queries leaves the data. Queries that concern other records go on for ever. The variant
with two thresholds charges its answers only where they lie between.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpassay.arguments import UsageError, require_at_least, require_positive
from dpassay.claims import ApproximateDP, Claim
from dpassay.impl.accounting.target_charging import ChargingAccount, target_charging_account
from dpassay.impl.accounting.target_quality import between_thresholds_quality, not_prior_quality
from dpassay.impl.catalogue import catalogue
from dpassay.impl.mechanisms.between_thresholds import ABOVE, BELOW, BETWEEN
from dpassay.impl.mechanisms.conditional_release import WITHHELD
from dpassay.impl.mechanisms.sampling import in_chunks
from dpassay.impl.validation import require_count, require_range, require_vector
from dpassay.neighbours import RecordNeighbours

__all__ = ["IndividualBetween", "IndividualSVT", "RepeatedSums", "individual_svt"]

Array = NDArray[np.float64]
Contribution = Callable[[NDArray[Any]], ArrayLike]


class _ChargedRecords:
    """Noisy sums over records that leave when they have no hits left."""

    def __init__(self, records: ArrayLike, hits: int, epsilon: float, rng: np.random.Generator) -> None:
        self._records = np.asarray(records)
        if self._records.ndim == 0:
            raise UsageError(f"records must be an array with one record a row, got {records!r}")
        self.hits = require_count("hits", hits)
        self.epsilon = require_positive("epsilon", epsilon)
        self._left = np.full(len(self._records), self.hits, dtype=np.int64)  # hits that a record has left
        self._rng = rng

    @property
    def quality(self) -> float:
        """The quality of the target that is charged, rounded down."""
        return float(not_prior_quality(self.epsilon))

    def account(self, delta: float) -> ChargingAccount:
        """Return the guarantee of any number of queries at a delta in (0, 1) (Thm 2.10 with its missing term)."""
        return target_charging_account(self.hits, self.epsilon, self.quality, delta)

    def _parts(self, contribution: Contribution) -> Array:
        return require_vector("contribution", np.asarray(contribution(self._records)), len(self._records), 0, 1)

    def _noisy_sum(self, parts: Array) -> float:
        return float(parts[self._left > 0].sum()) + float(self._rng.laplace(scale=1 / self.epsilon))

    def _charge(self, parts: Array) -> None:
        self._left[(parts > 0) & (self._left > 0)] -= 1


class IndividualSVT(_ChargedRecords):
    """An interactive session over a data set; neighbours have one record more or less.

    Parameters
    ----------
    records : array_like
        One record a row. Equal records are different records, with a counter each.
    hits : int
        tau, in how many released queries a record may take part; at least 1.
    epsilon : float
        Privacy parameter of one query, in nats, positive: the noise is Lap(1/epsilon).
    rng : numpy.random.Generator
        Source of the noise.

    Raises
    ------
    UsageError
        If a parameter is out of its domain.
    """

    def ask(self, contribution: Contribution, threshold: float) -> Any:
        """Publish the noisy sum of the contributions of the active records, or `WITHHELD` below the threshold.

        Parameters
        ----------
        contribution : callable
            From the records to their contributions, each in [0, 1] and a function of the record alone.
        threshold : float
            The least noisy sum that is published.

        Raises
        ------
        UsageError
            If the threshold is not a number, or a contribution is outside [0, 1]; nothing is published or charged.
        """
        require_at_least("threshold", threshold, -np.inf)
        parts = self._parts(contribution)
        noisy = self._noisy_sum(parts)
        if not noisy >= threshold:
            return WITHHELD
        self._charge(parts)
        return noisy


class IndividualBetween(_ChargedRecords):
    """Comparisons with two thresholds: only "between" is charged, "below" and "above" are free.

    Cohen and Lyu 2023, Sections 2.6 and 2.8.

    Parameters
    ----------
    records, hits, epsilon, rng
        As for `IndividualSVT`.
    gap : float
        The least distance of the two thresholds of a query, positive; the wider, the better the account.

    Raises
    ------
    UsageError
        If a parameter is out of its domain.
    """

    def __init__(self, records: ArrayLike, hits: int, epsilon: float, gap: float, rng: np.random.Generator) -> None:
        super().__init__(records, hits, epsilon, rng)
        self.gap = require_positive("gap", gap)

    @property
    def quality(self) -> float:
        """The quality of "between" as a target, rounded down."""
        return float(between_thresholds_quality(self.epsilon, self.gap))

    def ask(self, contribution: Contribution, low: float, high: float) -> int:
        """Return `BELOW`, `BETWEEN` or `ABOVE`, the position of the noisy sum of the contributions.

        Parameters
        ----------
        contribution : callable
            From the records to their contributions, each in [0, 1] and a function of the record alone.
        low, high : float
            The thresholds, finite, at least `gap` apart.

        Raises
        ------
        UsageError
            If the thresholds are out of their domain, or a contribution is outside [0, 1]; nothing is published or
            charged.
        """
        require_range(low, high)
        if Fraction(high) - Fraction(low) < Fraction(self.gap):
            raise UsageError(f"low and high must be at least {self.gap!r} apart, got low={low!r}, high={high!r}")
        parts = self._parts(contribution)
        noisy = self._noisy_sum(parts)
        if noisy < low:
            return BELOW
        if noisy > high:
            return ABOVE
        self._charge(parts)
        return BETWEEN


@dataclass(frozen=True)
class RepeatedSums:
    """The queries, out of `queries` with one threshold, at which the sum of all records is released.

    Parameters
    ----------
    size : int
        Least number of records, each in [0, 1]; neighbours have one more.
    queries : int
        Number of queries of the sum.
    hits : int
        tau.
    epsilon : float
        Privacy parameter of a query, in nats, positive.
    threshold : float
        The least noisy sum that is released.
    delta : float
        At which the guarantee is claimed, in (0, 1).

    Raises
    ------
    UsageError
        If a parameter is out of its domain.
    """

    size: int
    queries: int
    hits: int
    epsilon: float
    threshold: float
    delta: float

    def __post_init__(self) -> None:
        require_count("size", self.size, low=0)
        require_count("queries", self.queries)
        require_count("hits", self.hits)
        require_positive("epsilon", self.epsilon)
        require_at_least("threshold", self.threshold, -np.inf)

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """Approximate DP for any number of queries."""
        quality = float(not_prior_quality(self.epsilon))
        return (
            ApproximateDP(target_charging_account(self.hits, self.epsilon, quality, self.delta).epsilon, self.delta),
        )

    @property
    def neighbours(self) -> RecordNeighbours:
        """One record more or less."""
        return RecordNeighbours(low=0.0, high=1.0, size=self.size, relation="add-remove")

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> Sequence[Any]:
        """Draw `size` runs on the records `data`; an outcome lists the queries, from 1, that were released."""
        records = require_vector("data", data, len(data), 0, 1)
        drawn = in_chunks(lambda rows: self.run(records, self.noise(rows, rng)), size, self.queries + len(records))
        return [tuple((np.flatnonzero(row) + 1).tolist()) for row in drawn]

    def noise(self, rows: int, rng: np.random.Generator) -> Array:
        """Draw the noise of `rows` runs, one row a run."""
        return rng.laplace(scale=1 / self.epsilon, size=(rows, self.queries))

    def run(self, records: Array, noise: Array) -> NDArray[np.bool_]:
        """Return which queries are released, for given noises, one row a run."""
        left = np.full((len(noise), len(records)), self.hits, dtype=np.int64)
        released = np.zeros(noise.shape, dtype=np.bool_)
        for query in range(self.queries):
            sums = (records * (left > 0)).sum(axis=1)
            released[:, query] = sums + noise[:, query] >= self.threshold
            left -= self.charges(records, left) * released[:, query, None]
        return released

    def charges(self, records: Array, left: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the charge of a released query to each record: one hit for each active record above 0."""
        return ((records > 0) & (left > 0)).astype(np.int64)


individual_svt = catalogue(
    __name__,
    RepeatedSums(size=3, queries=5, hits=2, epsilon=0.5, threshold=3.0, delta=1e-3),
    items=(("cohen2023", "individual_svt"),),
)
