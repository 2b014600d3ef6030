"""DualQuery: synthetic records that answer many queries, by a game between queries and records."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import UsageError, require_positive, rounded_up
from dpassay.claims import Claim, PureDP
from dpassay.impl.catalogue import catalogue
from dpassay.impl.mechanisms.noisy_mean import records_of
from dpassay.impl.mechanisms.sampling import in_chunks
from dpassay.impl.validation import require_count
from dpassay.neighbours import RecordNeighbours

__all__ = ["DualQuery", "dual_query"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class DualQuery:
    """One synthetic record per round, the best answer to queries drawn where the synthetic data have large errors.

    Gaboardi, Gallego Arias, Hsu, Roth and Wu 2014. In round t every query has the weight exp(eta sum_{t' < t}
    (q(D) - q(x_t'))): an exponential mechanism whose score moves by (t - 1)/n, n the number of records. `samples`
    queries are drawn from it, and the element of the universe with the largest sum of them is published.

    Parameters
    ----------
    queries : tuple of tuples
        A row for each query, its value in [0, 1] on each element of the universe; closed under q -> 1 - q, so that
        errors are found on both sides.
    records : int
        n, at least 1: a record in [0, 1] is the element floor(record * universe).
    rounds, samples : int
        At least 1.
    eta : float
        Learning rate, positive.

    Raises
    ------
    UsageError
        If a parameter is out of its domain.
    """

    queries: tuple[tuple[float, ...], ...]
    records: int
    rounds: int
    samples: int = 1
    eta: float = 1.0

    def __post_init__(self) -> None:
        for name in ("records", "rounds", "samples"):
            require_count(name, getattr(self, name))
        require_positive("eta", self.eta)
        rows = {len(row) for row in self.queries}
        if len(rows) != 1 or 0 in rows or not all(0 <= q <= 1 for row in self.queries for q in row):
            raise UsageError(f"queries must be rows of one length with values in [0, 1], got {self.queries!r}")
        given = {tuple(float(q) for q in row) for row in self.queries}
        complements = {tuple(1 - q for q in row) for row in given}
        # 1 - (1 - q) may round to another number than q
        if not all(row in complements or tuple(1 - q for q in row) in given for row in given):
            raise UsageError("queries must contain 1 - q with every q")

    @cached_property
    def table(self) -> Array:
        """The queries as an array, one a row."""
        return np.array(self.queries, dtype=np.float64)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Pure DP with samples eta rounds (rounds - 1) / records, rounded up: composed exponential mechanisms."""
        exact = self.samples * Fraction(self.eta) * self.rounds * (self.rounds - 1) / self.records
        return (PureDP(rounded_up(exact)),)

    @property
    def neighbours(self) -> RecordNeighbours:
        """One record replaced."""
        return RecordNeighbours(0.0, 1.0, self.records)

    def elements(self, data: Array) -> NDArray[np.int64]:
        """Return the element of the universe that each record is."""
        records = records_of(data, 0.0, 1.0)
        if len(records) != self.records:
            raise UsageError(f"data must hold {self.records} records, got {len(records)}")
        universe = self.table.shape[1]
        return np.asarray(np.minimum((records * universe).astype(np.int64), universe - 1))

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` rows of `rounds` elements of the universe."""
        truth = self.table[:, self.elements(data)].mean(axis=1)

        def draw(rows: int) -> NDArray[Any]:
            scores, answers = np.zeros((rows, len(truth))), np.empty((rows, self.rounds), dtype=np.int64)
            for t in range(self.rounds):
                noise = rng.gumbel(size=(rows, self.samples, len(truth)))
                drawn = np.argmax(self.eta * scores[:, None, :] + noise, axis=2)
                answers[:, t] = np.argmax(self.table[drawn].sum(axis=1), axis=1)
                scores += truth - self.table[:, answers[:, t]].T
            return answers

        return in_chunks(draw, size, self.rounds * self.samples * len(self.queries))

    def largest_error(self, data: Array, synthetic: NDArray[Any]) -> Array:
        """Return, for each row of published elements, the largest error of a query on them."""
        truth = self.table[:, self.elements(data)].mean(axis=1)
        return np.asarray(np.abs(self.table[:, synthetic].mean(axis=2) - truth[:, None]).max(axis=0))


dual_query = catalogue(
    __name__,
    DualQuery(queries=((1, 0, 0), (0, 1, 1), (0, 1, 0), (1, 0, 1)), records=2, rounds=3),
    items=(("gaboardi2017", "dual_query"),),
)
