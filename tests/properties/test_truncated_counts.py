"""The calibration of TruncatedGaussianCounts against the enclosures of spec: T is enough, and no larger."""

from fractions import Fraction

import pytest

from dpassay.impl.mechanisms.truncated_gaussian_histogram import TruncatedGaussianCounts
from dpassay.spec.ball import Real, at_least, at_most, ball
from dpassay.spec.distributions.truncated_gaussian import overlap_probability, singular_mass, truncated_upper_tail
from dpassay.spec.verdict import Outcome

NEARLY = 1 - Fraction(1, 10**7)
POINTS = [
    TruncatedGaussianCounts(size=size, sigma=sigma, delta=delta, l0=l0, linf=linf)
    for size, l0 in ((1, 1), (3, 2), (100, 10), (100, 100))
    for sigma, delta, linf in ((2.0, 0.05, 1.0), (0.5, 1e-6, 3.0), (20.0, 1e-12, 0.25))
]


def scaled(mechanism: TruncatedGaussianCounts) -> tuple[Fraction, Fraction]:
    """T and linf, in noise scales."""
    scale = Fraction(mechanism.linf) * Fraction(mechanism.sigma)
    return Fraction(mechanism.half_width) / scale, Fraction(mechanism.linf) / scale


@pytest.mark.parametrize("mechanism", POINTS, ids=str)
def test_l0_moved_counts_leave_the_overlap_with_probability_delta(mechanism: TruncatedGaussianCounts) -> None:
    """l0 Pr[one count leaves] is delta within 1e-7, and Pr[any of them leaves] = 1 - Pr[overlap]^l0 is at most it."""
    width, shift = scaled(mechanism)
    one: Real = lambda: singular_mass(width, shift)
    delta: Real = lambda: ball(mechanism.delta)
    assert at_most(lambda: mechanism.l0 * one(), delta).outcome is Outcome.HOLDS
    assert at_least(lambda: mechanism.l0 * one(), lambda: delta() * ball(NEARLY)).outcome is Outcome.HOLDS
    any_leaves: Real = lambda: 1 - overlap_probability(width, shift) ** mechanism.l0
    assert at_most(any_leaves, delta).outcome is Outcome.HOLDS
    assert mechanism.l0 > 1 or at_least(any_leaves, lambda: delta() * ball(NEARLY)).outcome is Outcome.HOLDS


@pytest.mark.parametrize("mechanism", POINTS, ids=str)
def test_new_labels_stay_below_the_threshold(mechanism: TruncatedGaussianCounts) -> None:
    """A count of linf never exceeds linf + T; any threshold from T on would be private (`truncated_gaussian`)."""
    width, shift = scaled(mechanism)
    scale = Fraction(mechanism.linf) * Fraction(mechanism.sigma)
    needed = (Fraction(mechanism.threshold) - Fraction(mechanism.linf)) / scale
    assert needed == pytest.approx(width, rel=1e-12)
    appears: Real = lambda: truncated_upper_tail(width - shift, width)
    assert at_most(lambda: mechanism.l0 * appears(), lambda: ball(mechanism.delta)).outcome is Outcome.HOLDS
