"""Calls that are charged: what they are made of."""

from collections.abc import Callable
from fractions import Fraction

import pytest

from dpassay.spec.interactions.charged_calls import (
    HIT,
    ChargedRound,
    not_prior_response,
    two_target_response,
    whole_range_response,
    with_leak,
)


def test_a_call_that_leaks_names_its_data_set_and_is_the_offer_otherwise() -> None:
    offer, delta = not_prior_response(Fraction(3)), Fraction(1, 5)
    call = with_leak(offer, delta)
    for name, leaky, plain in (("left", call.left, offer.left), ("right", call.right, offer.right)):
        assert leaky.probability(name) == delta
        assert leaky.probability(HIT) == (1 - delta) * plain.probability(HIT)


@pytest.mark.parametrize("response", [not_prior_response, whole_range_response, two_target_response])
def test_a_mirrored_response_has_its_sides_exchanged(response: Callable[..., ChargedRound]) -> None:
    plain, mirrored = response(Fraction(3)), response(Fraction(3), mirrored=True)
    assert (mirrored.left, mirrored.right) == (plain.right, plain.left) != (plain.left, plain.right)
