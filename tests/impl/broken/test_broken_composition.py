"""Every broken accountant of composition claims visibly less than the right one; every broken sampler differs."""

import math

import numpy as np
import pytest

from dpassay.claims import ApproximateDP, BoundedRange
from dpassay.impl.accounting.adaptive_composition import AdaptiveComposition, bounded_range_mechanism
from dpassay.impl.accounting.composition import CompositionAccountant
from dpassay.impl.accounting.mixed_composition import BoundedRangeBatch, MixedBatch
from dpassay.impl.broken import composition
from dpassay.impl.catalogue import entries

RIGHT: dict[str, CompositionAccountant] = {
    "looks_at_one_half": MixedBatch(pure=2, bounded_range=4, mechanism_epsilon=1.0),
    "counts_the_bounded_range_mechanisms": MixedBatch(pure=2, bounded_range=1, mechanism_epsilon=1.0),
    "takes_the_batch_for_adaptive": AdaptiveComposition([bounded_range_mechanism(1.0)] * 2),
    "takes_bounded_range_for_half_of_it": BoundedRangeBatch(4, 3.0),
    "ignores_the_other_direction": BoundedRangeBatch(1, 1.0),
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_broken_accountant_claims_too_little(name: str) -> None:
    [claim] = getattr(composition, name).claims
    assert isinstance(claim, ApproximateDP)
    assert claim.delta < 0.98 * RIGHT[name].delta(claim.epsilon)


def test_the_range_of_randomised_response_is_twice_what_is_claimed() -> None:
    broken = composition.takes_randomized_response_for_bounded_range
    assert broken.claims == (BoundedRange(broken.epsilon / 2),)


def test_the_broken_sampler_answers_input_1_wrongly_too_often() -> None:
    broken = composition.samples_with_p_for_q
    draws = broken.sample(np.ones(1), 50_000, np.random.default_rng(3))
    right = math.expm1(-broken.top) / math.expm1(-broken.epsilon)
    assert draws.mean() > right + 0.2  # it is 0.297 more, and 0.002 the standard deviation


def test_scores_that_move_both_ways_have_twice_the_range() -> None:
    assert not composition.divides_by_the_sensitivity.neighbours.monotone


def test_every_mutant_is_catalogued() -> None:
    prefix = "dpassay.impl.broken.composition:"
    places = {e.where.removeprefix(prefix) for e in entries() if e.where.startswith(prefix)}
    assert places == {n for n in composition.__all__ if not isinstance(getattr(composition, n), type)}
