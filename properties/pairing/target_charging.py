"""Target charging: exact distributions of its mechanisms on bits."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpassay.impl.broken.target_charging import CountedResponses, CountsByValue, EpsilonForItsInverse, FinishedLevel
from dpassay.impl.mechanisms.individual_svt import RepeatedSums
from dpassay.impl.mechanisms.one_shot_top_k import ResponseTopK, SweptTopK
from dpassay.impl.mechanisms.target_charging import ChargedResponses
from dpassay.properties.pairing.registry import register_distribution
from dpassay.spec.distributions.charged_responses import (
    charged_responses_distribution,
    response_top_k_distribution,
    truthful_count_distribution,
)
from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.distributions.repeated_sums import RepeatedSumsDistribution, one_for_each_record

Array = NDArray[np.float64]


def _bits(data: Array) -> list[int]:
    return [int(bit) for bit in data]


def _charged_distribution(mechanism: ChargedResponses, data: Array) -> FiniteDistribution:
    return charged_responses_distribution(_bits(data), Fraction(mechanism.truth), mechanism.hits, both=mechanism.both)


def _top_k_distribution(mechanism: ResponseTopK, data: Array) -> FiniteDistribution:
    return response_top_k_distribution(_bits(data), Fraction(mechanism.truth), mechanism.k)


def _sums_distribution(mechanism: RepeatedSums, data: Array) -> RepeatedSumsDistribution:
    records = tuple(Fraction(record) for record in data.tolist())
    scale = 1 / Fraction(mechanism.epsilon)
    return RepeatedSumsDistribution(records, mechanism.queries, mechanism.hits, scale, mechanism.threshold)


register_distribution(RepeatedSums, _sums_distribution)
register_distribution(ChargedResponses, _charged_distribution)
register_distribution(ResponseTopK, _top_k_distribution)
register_distribution(SweptTopK, _top_k_distribution)


# --- mutants whose distribution is known -----------------------------------------------------------------------------


def _counted_distribution(mechanism: CountedResponses, data: Array) -> FiniteDistribution:
    truth = Fraction(mechanism.truth)
    return truthful_count_distribution(mechanism.hits, truth if data[0] else 1 - truth)


def _finished_distribution(mechanism: FinishedLevel, data: Array) -> FiniteDistribution:
    truth = Fraction(mechanism.truth)
    return truthful_count_distribution(mechanism.size, truth if data[0] else 1 - truth)


def _shared_counters(records: Sequence[Fraction], left: Sequence[int]) -> list[int]:
    costs = one_for_each_record(records, left)
    number = Counter(records)
    return [cost * number[record] for cost, record in zip(costs, records, strict=True)]


def _distribution_of_shared_counters(mechanism: CountsByValue, data: Array) -> RepeatedSumsDistribution:
    return replace(_sums_distribution(mechanism, data), charge=_shared_counters)


def _distribution_of_the_wrong_scale(mechanism: EpsilonForItsInverse, data: Array) -> RepeatedSumsDistribution:
    return replace(_sums_distribution(mechanism, data), scale=Fraction(mechanism.epsilon))


register_distribution(CountsByValue, _distribution_of_shared_counters)
register_distribution(EpsilonForItsInverse, _distribution_of_the_wrong_scale)
register_distribution(CountedResponses, _counted_distribution)
register_distribution(FinishedLevel, _finished_distribution)
