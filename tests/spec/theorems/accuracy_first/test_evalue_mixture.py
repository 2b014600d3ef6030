"""The numerical mixture of e-values: its closed form, and the tails that the integral leaves out."""

from fractions import Fraction

import pytest
from flint import arb

from dpassay.spec.ball import ball
from dpassay.spec.theorems.accuracy_first import evalue_mixture
from dpassay.spec.theorems.accuracy_first.evalue_mixture import mixture_of_evalues

V, G = Fraction(3), Fraction(5, 4)


@pytest.mark.parametrize("value", [Fraction(-2), Fraction(0), Fraction(7, 2)])
@pytest.mark.parametrize("drift", [0, 1])
def test_the_mixture_over_a_normal_rate_has_a_closed_form(value: Fraction, drift: int) -> None:
    slope, curvature = ball(value - drift * V / 2), ball(V + G)
    expected = (ball(G) / curvature).sqrt() * (slope * slope / (2 * curvature)).exp()
    found = mixture_of_evalues(ball(value), V, G, drift=drift)
    assert found.overlaps(expected)
    assert found.rel_accuracy_bits() > 30


@pytest.mark.parametrize("one_sided", [False, True])
def test_the_mass_of_the_tails_is_inside_the_ball(one_sided: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tails are smaller than the rounding, so that their bound is made large here: 1 for each that is left out.

    Two tails at the density of the normal distribution weigh as much as one at that of its modulus.
    """
    plain = mixture_of_evalues(arb(0), V, G, one_sided=one_sided).mid()
    monkeypatch.setattr(evalue_mixture, "_beyond", lambda *_: arb(1))
    mass = (2 * (ball(G) / (2 * arb.pi())).sqrt()).mid()
    wide = mixture_of_evalues(arb(0), V, G, one_sided=one_sided)
    assert wide.contains(plain + mass * arb("0.99"))
    assert not wide.contains(plain + mass * arb("1.01"))
