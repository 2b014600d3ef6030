"""Target charging: exact laws of its mechanisms on bits."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpassay.impl.broken.target_charging import CountedResponses, CountsByValue, EpsilonForItsInverse, FinishedLevel
from dpassay.impl.mechanisms.individual_svt import RepeatedSums
from dpassay.impl.mechanisms.one_shot_top_k import ResponseTopK, SweptTopK
from dpassay.impl.mechanisms.target_charging import ChargedResponses
from dpassay.properties.search.laws import register_law
from dpassay.spec.distributions.charged_responses import charged_responses_law, response_top_k_law, truthful_count_law
from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.distributions.repeated_sums import RepeatedSumsLaw, one_for_each_record

Array = NDArray[np.float64]


def _bits(data: Array) -> list[int]:
    return [int(bit) for bit in data]


def _charged_law(mechanism: ChargedResponses, data: Array) -> FiniteDistribution:
    return charged_responses_law(_bits(data), Fraction(mechanism.truth), mechanism.hits, both=mechanism.both)


def _top_k_law(mechanism: ResponseTopK, data: Array) -> FiniteDistribution:
    return response_top_k_law(_bits(data), Fraction(mechanism.truth), mechanism.k)


def _sums_law(mechanism: RepeatedSums, data: Array) -> RepeatedSumsLaw:
    records = tuple(Fraction(record) for record in data.tolist())
    scale = 1 / Fraction(mechanism.epsilon)
    return RepeatedSumsLaw(records, mechanism.queries, mechanism.hits, scale, mechanism.threshold)


register_law(RepeatedSums, _sums_law)
register_law(ChargedResponses, _charged_law)
register_law(ResponseTopK, _top_k_law)
register_law(SweptTopK, _top_k_law)


# --- mutants whose law is known -----------------------------------------------------------------------------


def _counted_law(mechanism: CountedResponses, data: Array) -> FiniteDistribution:
    truth = Fraction(mechanism.truth)
    return truthful_count_law(mechanism.hits, truth if data[0] else 1 - truth)


def _finished_law(mechanism: FinishedLevel, data: Array) -> FiniteDistribution:
    truth = Fraction(mechanism.truth)
    return truthful_count_law(mechanism.size, truth if data[0] else 1 - truth)


def _shared_counters(records: Sequence[Fraction], left: Sequence[int]) -> list[int]:
    costs = one_for_each_record(records, left)
    return [cost * records.count(record) for cost, record in zip(costs, records, strict=True)]


def _law_of_shared_counters(mechanism: CountsByValue, data: Array) -> RepeatedSumsLaw:
    return replace(_sums_law(mechanism, data), charge=_shared_counters)


def _law_of_the_wrong_scale(mechanism: EpsilonForItsInverse, data: Array) -> RepeatedSumsLaw:
    return replace(_sums_law(mechanism, data), scale=Fraction(mechanism.epsilon))


register_law(CountsByValue, _law_of_shared_counters)
register_law(EpsilonForItsInverse, _law_of_the_wrong_scale)
register_law(CountedResponses, _counted_law)
register_law(FinishedLevel, _finished_law)
