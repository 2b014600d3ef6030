"""Responses of single users, noisy counts, and samples of posteriors and of synthetic data: exact distributions."""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import Claim, PureDP
from dpassay.impl.broken.foundations import (
    AnswersRepeatedly,
    ClaimsTheLastRound,
    DoubledExponent,
    HalvesTheLikelihoodBound,
)
from dpassay.impl.mechanisms.dual_query import DualQuery
from dpassay.impl.mechanisms.hadamard_response import HadamardResponse
from dpassay.impl.mechanisms.posterior_sampling import PosteriorSample
from dpassay.impl.mechanisms.randomised_response import RandomisedResponse, truth_probability
from dpassay.impl.mechanisms.rappor import Rappor
from dpassay.impl.mechanisms.truncated_geometric import TruncatedGeometric
from dpassay.properties.outcomes.events import AllOf, Interval
from dpassay.properties.pairing.registry import (
    DistributionPair,
    PushedForward,
    register_distribution,
    register_pair_distribution,
    register_worst_case,
)
from dpassay.spec.ball import Real, ball
from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.distributions.dual_query import DualQueryDistribution
from dpassay.spec.distributions.exponential import ExponentialMechanismDistribution
from dpassay.spec.distributions.local_responses import bloom_report_distribution, hadamard_response_distribution
from dpassay.spec.distributions.posterior import PosteriorDistribution
from dpassay.spec.distributions.randomised_response import responses
from dpassay.spec.distributions.truncated_geometric import truncated_geometric_distribution
from dpassay.spec.theorems.foundations.local_model import rappor_ratio
from dpassay.spec.theorems.foundations.projects import dual_query_epsilon

Array = NDArray[np.float64]

MOST_BITS = 8
"""Bits of a response whose distribution is enumerated."""

MOST_PATHS = 5_000
"""Sequences of chosen queries that are enumerated."""


def _whole(data: Array, size: int, low: float, high: float) -> bool:
    """Return whether the data are `size` integers in [low, high]; the mechanism refuses all others."""
    return data.shape == (size,) and bool(np.all((data >= low) & (data <= high) & (data == np.floor(data))))


# --- bits ---------------------------------------------------------------------------------------------------


def _bits_of(data: Array) -> tuple[int, ...]:
    return tuple(int(bit) for bit in data)


def _response_distribution(mechanism: RandomisedResponse, data: Array) -> FiniteDistribution | None:
    if mechanism.size > MOST_BITS or not _whole(data, mechanism.size, 0.0, 1.0):
        return None
    distribution = responses(_bits_of(data), Fraction(truth_probability(mechanism.epsilon)))
    if mechanism.size > 1:
        return distribution
    return FiniteDistribution(
        {outcome[0]: w for outcome, w in distribution.weights.items() if isinstance(outcome, tuple)}
    )


def _two_responses_distribution(mechanism: AnswersRepeatedly, data: Array) -> FiniteDistribution | None:
    if 2 * mechanism.size > MOST_BITS or not _whole(data, mechanism.size, 0.0, 1.0):
        return None
    return responses(_bits_of(data) * 2, Fraction(truth_probability(mechanism.epsilon)))


def _response_worst_case(mechanism: RandomisedResponse, claim: Claim) -> Real | None:
    """Return the log-odds of the truth, for one bit that changes: exact."""
    truth = Fraction(truth_probability(mechanism.epsilon))
    return (lambda: ball(truth / (1 - truth)).log()) if isinstance(claim, PureDP) else None


register_distribution(RandomisedResponse, _response_distribution)
register_worst_case(RandomisedResponse, _response_worst_case)
register_distribution(AnswersRepeatedly, _two_responses_distribution)


# --- counts and values --------------------------------------------------------------------------------------


def _geometric_distribution(mechanism: TruncatedGeometric, data: Array) -> FiniteDistribution | None:
    if not _whole(data, 1, 0.0, float(mechanism.largest)):
        return None
    return truncated_geometric_distribution(
        int(data[0]), mechanism.largest, Fraction(2**mechanism.bits, 2**mechanism.bits + 1)
    )


def _geometric_worst_case(mechanism: TruncatedGeometric, claim: Claim) -> Real | None:
    """Return log(1 + 2^-k), attained by every pair (Balcer and Vadhan 2018)."""
    inverse_decay = 1 + Fraction(1, 2**mechanism.bits)
    return (lambda: ball(inverse_decay).log()) if isinstance(claim, PureDP) else None


register_distribution(TruncatedGeometric, _geometric_distribution)
register_worst_case(TruncatedGeometric, _geometric_worst_case)


def _hadamard_ratio(mechanism: HadamardResponse) -> Fraction:
    truth = Fraction(truth_probability(mechanism.epsilon))
    return truth / (1 - truth)


def _hadamard_distribution(mechanism: HadamardResponse, data: Array) -> FiniteDistribution | None:
    if not _whole(data, 1, 0.0, float(mechanism.values - 1)):
        return None
    return hadamard_response_distribution(int(data[0]), mechanism.values, _hadamard_ratio(mechanism))


def _hadamard_worst_case(mechanism: HadamardResponse, claim: Claim) -> Real | None:
    """Return the log-odds of the wanted half, attained by any two values: exact."""
    return (lambda: ball(_hadamard_ratio(mechanism)).log()) if isinstance(claim, PureDP) else None


register_distribution(HadamardResponse, _hadamard_distribution)
register_worst_case(HadamardResponse, _hadamard_worst_case)


def _rappor_pair(mechanism: Rappor, left: Array, right: Array) -> DistributionPair | None:
    """Return the distributions of the bits in which two filters differ: the others are equally distributed."""
    if not all(_whole(data, 1, mechanism.low_value, mechanism.high_value) for data in (left, right)):
        return None
    filters = [mechanism.filter_of(int(data[0])) for data in (left, right)]
    places = np.flatnonzero(filters[0] != filters[1]).tolist()
    if len(places) > MOST_BITS:
        return None
    if not places:  # a collision of all hashes
        whole = PushedForward({Interval("outcome[0]", -1.0, 1.0): lambda: ball(1).log()})
        return whole, whole
    distributions = [
        bloom_report_distribution(
            tuple(bits[places].tolist()), Fraction(mechanism.permanent), Fraction(mechanism.high)
        )
        for bits in filters
    ]
    cells = {told: AllOf(tuple(_bit(p, b) for p, b in zip(places, told, strict=True)))
             for told in distributions[0].outcomes if isinstance(told, tuple)}  # fmt: skip
    pushed = [
        PushedForward({cell: _log_weight(distribution, told) for told, cell in cells.items()}, cost=0.005)
        for distribution in distributions
    ]
    return pushed[0], pushed[1]


def _bit(place: int, told: int) -> Interval:
    return Interval(f"outcome[{place}]", told - 0.5, told + 0.5)


def _log_weight(distribution: FiniteDistribution, told: tuple[int, ...]) -> Real:
    return lambda: distribution.log_probability(told)


def _rappor_worst_case(mechanism: Rappor, claim: Claim) -> Real | None:
    """Return 2 h log((1 + g)/(1 - g)), attained by two values whose bits have no overlap."""
    ratio = rappor_ratio(mechanism.hashes, Fraction(mechanism.permanent), Fraction(mechanism.high))
    return (lambda: ball(ratio).log()) if isinstance(claim, PureDP) else None


register_pair_distribution(Rappor, _rappor_pair)
register_worst_case(Rappor, _rappor_worst_case)


# --- exponential mechanisms in disguise ---------------------------------------------------------------------


def _posterior_distribution(mechanism: PosteriorSample, data: Array) -> PosteriorDistribution | None:
    if not bool(np.all((data >= 0) & (data <= 1))):
        return None
    return PosteriorDistribution(mechanism.grid, tuple(data.tolist()))


def _posterior_worst_case(mechanism: PosteriorSample, claim: Claim) -> Real | None:
    """Return 4 B or 2 B: an upper bound, not attained on a given grid."""
    sides = [Fraction(side) for bias in mechanism.grid for side in (Fraction(bias), 1 - Fraction(bias))]
    factor = 4 if mechanism.relation == "replace" else 2
    return (lambda: -factor * ball(min(sides)).log()) if isinstance(claim, PureDP) else None


register_distribution(PosteriorSample, _posterior_distribution)
register_worst_case(PosteriorSample, _posterior_worst_case)
register_distribution(HalvesTheLikelihoodBound, _posterior_distribution)


def _dual_query_distribution(mechanism: DualQuery, data: Array) -> DualQueryDistribution | None:
    queries = tuple(tuple(int(q) for q in row) for row in mechanism.queries)
    whole = all(q == int(q) for row in mechanism.queries for q in row)
    inside = len(data) == mechanism.records and bool(np.all((data >= 0) & (data <= 1)))
    if mechanism.samples > 1 or not (whole and inside) or len(queries) ** mechanism.rounds > MOST_PATHS:
        return None
    counts = np.bincount(mechanism.elements(data), minlength=len(queries[0]))
    return DualQueryDistribution(queries, tuple(counts.tolist()), mechanism.rounds, Fraction(mechanism.eta))


def _dual_query_worst_case(mechanism: DualQuery, claim: Claim) -> Real | None:
    """Return the sum of the costs of the rounds: an upper bound, approached with many queries."""
    bound = dual_query_epsilon(mechanism.rounds, mechanism.samples, mechanism.eta, mechanism.records)
    return (lambda: ball(bound)) if isinstance(claim, PureDP) else None


register_distribution(DualQuery, _dual_query_distribution)
register_worst_case(DualQuery, _dual_query_worst_case)
register_distribution(ClaimsTheLastRound, _dual_query_distribution)


def _doubled_distribution(mechanism: DoubledExponent, data: Array) -> ExponentialMechanismDistribution | None:
    if data.size != mechanism.size:
        return None
    return ExponentialMechanismDistribution(
        tuple(data.tolist()), 2 * Fraction(mechanism.epsilon), mechanism.sensitivity
    )


register_distribution(DoubledExponent, _doubled_distribution)
