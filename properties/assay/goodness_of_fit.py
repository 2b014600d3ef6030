"""Test of goodness of fit: an e-value against the ideal distribution, valid at any stopping time.

Every coordinate of an outcome falls into one of finitely many cells whose probabilities under the ideal distribution
are enclosed. A bet is a tilt of those probabilities by e^(theta T), T a statistic of the cell such as its side or its
distance from the location: the product of (tilted over ideal) has mean at most 1 under the distribution, after any
number of samples. Bets with statistics and theta fixed in advance are mixed, among them one that learns all cells from
the past. Further bets are on signs equal to the preceding sign and on repeated numbers; they detect noise that is
reused or lies on a coarse grid.

The null is widened: every probability may have a relative error of 2^-20, and repeated numbers are allowed as often as
on a grid of 2^-30 scales. Finer rounding is not a finding.
"""

import itertools
import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.lazy import special
from dpassay.properties.assay.fit_power import THETAS, WIDENING, smallest_distortion
from dpassay.properties.assay.ideal_distributions import IdealDistribution
from dpassay.properties.outcomes.batch import Outcomes
from dpassay.spec.ball import ball, exact, float_upper, precision
from dpassay.spec.distributions.noise import NoiseDistribution

__all__ = ["FitTest", "joint_evidence", "joint_power"]

Array = NDArray[np.float64]

FINEST_GRID = 2.0**-30
"""In noise scales: numbers on a finer grid than this count as continuous."""

_BITS = 96
"""The precision of the probabilities of cells."""

_TAILS = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2)
"""Probabilities of the tails that are cells of their own: faults of samplers show in tails."""

_AGREEMENTS = (-0.5, -0.1, -0.02, 0.02, 0.1, 0.5)
"""Excess chances of agreeing signs, of successive outcomes and of coordinates, that are bet on."""

_PERIODS = (3, 5, 7)
"""Integers are bet on by the remainders of their distance from the location: exact samplers of noise at a rational
scale draw a remainder and a quotient apart."""

_REPEATS = (2.0**-12, 0.5)
"""Chances of a repeated outcome that are bet on."""

_MOST_REMEMBERED = 2**20
"""Outcomes of an input that are compared with later ones, which bounds the memory: repeated noise repeats early."""

_MOST_INTEGERS = 400
"""Integer outcomes over a wider range are put into cells."""


@dataclass
class _Cells:
    """Cells of one coordinate: upper bounds of the probabilities, the statistics, and the counts so far."""

    edges: Array
    probabilities: Array
    statistics: Array
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, distribution: NoiseDistribution) -> "_Cells":
        edges = _edges(distribution)
        bounds = [None, *(Fraction(float(x)) for x in edges), None]
        with precision(_BITS):
            uppers = [float_upper(distribution.interval(low, high)) for low, high in itertools.pairwise(bounds)]
        probabilities = np.maximum(np.array(uppers), 1e-300)
        return cls(
            edges,
            probabilities,
            _statistics(distribution, edges, probabilities),
            np.zeros(len(uppers), dtype=np.int64),
        )

    def count(self, values: Array) -> None:
        self.counts += np.bincount(np.searchsorted(self.edges, values, side="left"), minlength=len(self.counts))

    def evidence(self) -> Array:
        return np.concatenate([tilted_evidence(self.counts, self.probabilities, self.statistics), [self.learnt()]])

    def learnt(self) -> float:
        return learnt_evidence(self.counts, self.probabilities)


def tilted_evidence(counts: NDArray[np.int64], probabilities: Array, statistics: Array) -> Array:
    """Return the logarithms of the wealth of each tilt: one for each statistic, theta and sign."""
    thetas = np.array([sign * theta for theta in THETAS for sign in (1, -1)])
    exponents = thetas[:, None, None] * statistics[None]  # theta, statistic, cell
    log_norms = special.logsumexp(exponents, b=probabilities * (1 + WIDENING), axis=2)
    gains = exponents @ counts.astype(np.float64) - counts.sum() * (log_norms + 1e-13)
    result: Array = gains.T.ravel()
    return result


def learnt_evidence(counts: NDArray[np.int64], probabilities: Array) -> float:
    """Return the log wealth of the bet whose tilt is the past frequencies (Krichevsky and Trofimov 1981)."""
    cells = len(counts)
    log_mixture = special.gammaln(cells / 2) - special.gammaln(counts.sum() + cells / 2)
    log_mixture += float((special.gammaln(counts + 0.5) - special.gammaln(0.5)).sum())
    return float(log_mixture - counts @ np.log(probabilities * (1 + WIDENING)) - 1e-12 * counts.sum() - 1e-6)


def _edges(distribution: NoiseDistribution) -> Array:
    location, scale = float(exact("location", distribution.location)), float(exact("scale", distribution.scale))
    chances = np.concatenate([_TAILS, np.arange(1, 17) / 32])
    lower = special.ndtri(chances) if distribution.family.endswith("gaussian") else np.log(2 * chances)  # quantiles
    values = location + scale * np.unique(np.concatenate([lower, -lower]))
    if distribution.is_discrete:
        low, high = math.floor(values.min()), math.ceil(values.max())
        if high - low <= _MOST_INTEGERS:
            return np.arange(low - 1, high + 1, dtype=np.float64)
        values = np.floor(values)
    if distribution.low is not None and distribution.high is not None:
        low, high = float(exact("low", distribution.low)), float(exact("high", distribution.high))
        ends = [math.nextafter(low, -math.inf), low, math.nextafter(high, -math.inf), high]
        values = np.concatenate([ends, np.linspace(low, high, 18)[1:-1], values[(values > low) & (values < high)]])
    return np.unique(values)


def _statistics(distribution: NoiseDistribution, edges: Array, probabilities: Array) -> Array:
    """Return statistics of the cells, with mean 0 and deviation 1 under the distribution."""
    location, scale = float(exact("location", distribution.location)), float(exact("scale", distribution.scale))
    ends = np.concatenate([[2 * edges[0] - edges[1]], edges, [2 * edges[-1] - edges[-2]]])
    if distribution.is_discrete and len(edges) == edges[-1] - edges[0] + 1:
        centres = np.concatenate([edges, [edges[-1] + 1]])
    else:
        centres = (ends[1:] + ends[:-1]) / 2
    z = (centres - location) / scale
    low = np.cumsum(probabilities)
    raw = [np.sign(z), np.abs(z), z, z * z, (np.abs(z) < 0.15).astype(float)]
    raw += [(low <= 2 * tail).astype(float) for tail in (1e-2, 1e-4)]
    raw += [(low >= 1 - tail / 2).astype(float) for tail in (1e-2, 1e-4)]
    if distribution.is_discrete:
        raw.append(np.abs(centres) % 2)
        distance = np.floor(np.abs(centres - location))
        raw += [(distance % period == rest).astype(float) for period in _PERIODS for rest in range(period)]
    return _standardised(raw, probabilities)


def _standardised(raw: Sequence[Array], probabilities: Array) -> Array:
    """Bring statistics to mean 0 and deviation 1; constants become 0."""
    weights = probabilities / probabilities.sum()
    rows = []
    for values in raw:
        centred = values - weights @ values
        deviation = math.sqrt(max(0.0, float(weights @ centred**2)))
        rows.append(centred / deviation if deviation > 1e-12 else np.zeros_like(centred))
    return np.array(rows)


@dataclass
class FitTest:
    """Collects the outcomes on one input and returns the evidence against the distribution there.

    Attributes
    ----------
    impossible : object
        An outcome that the distribution cannot produce, once one was seen.
    calls : int
        Outcomes entered.
    only_failures : bool
        Whether all of them stand for calls that raised.
    """

    distribution: IdealDistribution
    impossible: Any = None
    _cells: list[_Cells] = field(default_factory=list)
    _symbols: dict[Hashable, int] = field(default_factory=dict)
    _agreements: NDArray[np.int64] = field(default_factory=lambda: np.zeros((2, 2), dtype=np.int64))
    _seen: set[float] = field(default_factory=set)
    _repeats: list[int] = field(default_factory=lambda: [0, 0])
    _last_signs: Array | None = None
    calls: int = 0
    only_failures: bool = True

    def __post_init__(self) -> None:
        self._cells = [_Cells.of(distribution) for distribution in self.distribution.coordinates]
        if self.distribution.finite is not None:
            self._symbols = dict.fromkeys(self.distribution.finite.outcomes, 0)

    def enter(self, outcomes: Outcomes) -> None:
        """Take account of a batch."""
        self.calls += len(outcomes)
        self.only_failures = self.only_failures and outcomes.failures == len(outcomes)
        if self.distribution.finite is not None:
            self._enter_symbols(outcomes)
        else:
            self._enter_numbers(outcomes)

    def _enter_symbols(self, outcomes: Outcomes) -> None:
        assert self.distribution.finite is not None
        for symbol in outcomes.atoms():
            if not self.distribution.finite.probability(symbol):
                self.impossible = self.impossible if self.impossible is not None else repr(symbol)
            else:
                self._symbols[symbol] += 1

    def _enter_numbers(self, outcomes: Outcomes) -> None:
        rows = self._rows(outcomes)
        if rows is None:
            return
        for place, cells in enumerate(self._cells):
            cells.count(rows[:, place])
        self._enter_signs(rows)
        self._enter_repeats(rows)

    def _rows(self, outcomes: Outcomes) -> Array | None:
        """Return the outcomes as rows of numbers; None, and an impossible outcome, where one is none."""
        width = len(self._cells)
        if self.distribution.is_vector:
            positions, rows = outcomes.vectors(width)
        else:
            values = outcomes.features.get("outcome", np.full(len(outcomes), np.nan))
            positions, rows = np.arange(len(outcomes)), values[:, None]
        wrong = np.ones(len(outcomes), dtype=bool)
        wrong[positions] = ~np.isfinite(rows).all(axis=1)
        if self.distribution.coordinates[0].is_discrete:
            wrong[positions] |= (rows != np.floor(rows)).any(axis=1)
        if wrong.any():
            self.impossible = repr(outcomes.symbols()[int(np.argmax(wrong))])
            return None
        return rows

    def _enter_signs(self, rows: Array) -> None:
        """Count how often a sign agrees with that of the draw before, and with that of the coordinate before."""
        if not self._is_symmetric:
            return
        centres = np.array(
            [float(exact("location", distribution.location)) for distribution in self.distribution.coordinates]
        )
        signs = np.sign(rows - centres)
        before = signs[:-1] if self._last_signs is None else np.vstack([self._last_signs, signs[:-1]])
        now = signs[1:] if self._last_signs is None else signs
        # one coordinate only: the signs of one draw may depend on each other, which is bet on apart
        for way, products in enumerate((before[:, 0] * now[:, 0], (signs[:, :-1] * signs[:, 1:]).ravel())):
            self._agreements[way] += [int((products > 0).sum()), int((products < 0).sum())]
        self._last_signs = signs[-1:]

    @property
    def _is_symmetric(self) -> bool:
        """Return whether every coordinate is as likely above its location as below."""
        if any(distribution.has_ends for distribution in self.distribution.coordinates):
            return False
        places = [
            exact("location", distribution.location)
            for distribution in self.distribution.coordinates
            if distribution.is_discrete
        ]
        return all(place.denominator == 1 for place in places)

    def _enter_repeats(self, rows: Array) -> None:
        if self.distribution.coordinates[0].is_discrete or self.distribution.coordinates[0].has_ends:
            return  # atoms repeat
        if len(self._seen) >= _MOST_REMEMBERED:
            return
        for value in rows[:, 0].tolist():
            self._repeats[int(value in self._seen)] += 1
            self._seen.add(value)

    # --- evidence -------------------------------------------------------------------------------------------

    def evidence(self) -> Array:
        """Return the logarithms of the wealth of all bets, in an order that the form of the distribution fixes."""
        if self.impossible is not None:
            return np.array([math.inf])
        if self.distribution.finite is not None:
            return self._evidence_of_symbols()
        parts = [cells.evidence() for cells in self._cells]
        # the coordinates are independent: the same bet on all of them, and each on its own
        together = np.sum(parts, axis=0)
        own = special.logsumexp(np.array(parts), axis=0) - math.log(len(parts))
        return np.concatenate([together, own, self._evidence_of_signs(), self._evidence_of_repeats()])

    def _evidence_of_symbols(self) -> Array:
        counts, uppers, statistics = self._symbol_cells()
        return np.append(tilted_evidence(counts, uppers, statistics), learnt_evidence(counts, uppers))

    def _symbol_cells(self) -> tuple[NDArray[np.int64], Array, Array]:
        """Return the counts of the possible symbols, upper bounds of their probabilities, and the statistics."""
        assert self.distribution.finite is not None
        symbols = list(self._symbols)
        with precision(_BITS):
            uppers = np.array([float_upper(ball(self.distribution.finite.probability(s))) for s in symbols])
        positive = uppers > 0
        counts, uppers = np.array([self._symbols[s] for s in symbols])[positive], uppers[positive]
        first = [0, 1, 2, len(uppers) - 1]
        raw = [np.eye(len(uppers))[min(k, len(uppers) - 1)] for k in first]
        return counts, uppers, _standardised(raw, uppers)

    def power(self, needed: float) -> float:
        """Return the smallest distortion of this distribution, in total variation, that these calls show on average.

        Parameters
        ----------
        needed : float
            Evidence that a bet on this input alone needs, nats; the shares of the bets come on top.
        """
        if self.calls == 0:
            return math.inf
        needed += math.log(len(self.evidence()))
        if self.distribution.finite is not None:
            _, uppers, statistics = self._symbol_cells()
            return smallest_distortion(uppers, statistics, calls=self.calls, needed=needed)
        needed += math.log(len(self._cells))
        return max(
            smallest_distortion(cells.probabilities, cells.statistics, calls=self.calls, needed=needed)
            for cells in self._cells
        )

    def _evidence_of_signs(self) -> Array:
        # given the past, a sign is symmetric: it agrees with probability at most 1/2, and disagrees likewise
        agree, differ = self._agreements[:, 0], self._agreements[:, 1]
        bets = [agree * math.log1p(x) + differ * math.log1p(-x) for x in _AGREEMENTS]
        slack = (agree + differ) * 2 * WIDENING
        result: Array = np.array([bet - slack for bet in bets]).ravel()
        return result

    def _evidence_of_repeats(self) -> Array:
        new, again = self._repeats
        allowed = min(0.5, max(1, new) * FINEST_GRID * self._coarseness())
        return np.array([
            again * (math.log(x) - math.log(allowed)) + new * math.log1p(-x) if x > allowed else -math.inf
            for x in _REPEATS
        ])  # fmt: skip

    def _coarseness(self) -> float:
        """Return how many of the finest grid's steps float64 itself takes near the location."""
        distribution = self.distribution.coordinates[0]
        size = abs(float(exact("location", distribution.location))) / float(exact("scale", distribution.scale)) + 40
        return max(1.0, size * 2.0**-52 / FINEST_GRID)


def joint_evidence(tests: Sequence[FitTest]) -> float:
    """Return the logarithm of the e-value against the distribution on all inputs together.

    Half of the wealth makes the same bet on every input, half is spread over the inputs.
    """
    parts = [test.evidence() for test in tests]
    if any(np.isinf(part).any() for part in parts):
        return math.inf

    def mixed(logs: Array) -> float:
        return float(special.logsumexp(logs)) - math.log(len(logs))

    alone = mixed(np.array([mixed(part) for part in parts]))
    together = mixed(np.sum(parts, axis=0)) if len({len(part) for part in parts}) == 1 else alone
    return float(np.logaddexp(alone, together)) - math.log(2)


def joint_power(tests: Sequence[FitTest], alpha: float) -> float:
    """Return the smallest distortion of the distribution on any one input that is seen on average.

    Parameters
    ----------
    tests : sequence of FitTest
        One for each input.
    alpha : float
        Level.
    """
    needed = -math.log(alpha) + math.log(2) + math.log(len(tests))
    return max(test.power(needed) for test in tests)
