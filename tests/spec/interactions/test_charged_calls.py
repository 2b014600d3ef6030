"""Calls that are charged: what they are made of."""

from fractions import Fraction

from dpassay.spec.interactions.charged_calls import HIT, not_prior_response, with_leak


def test_a_call_that_leaks_names_its_data_set_and_is_the_offer_otherwise() -> None:
    offer, delta = not_prior_response(Fraction(3)), Fraction(1, 5)
    call = with_leak(offer, delta)
    for name, leaky, plain in (("left", call.left, offer.left), ("right", call.right, offer.right)):
        assert leaky.probability(name) == delta
        assert leaky.probability(HIT) == (1 - delta) * plain.probability(HIT)
