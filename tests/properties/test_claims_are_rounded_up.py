"""Claims that are computed in float64 are not below what they stand for, by a single bit."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import pytest
from flint import arb

from dpassay.arguments import rounded_up
from dpassay.impl.mechanisms.dual_query import DualQuery
from dpassay.impl.mechanisms.laplace_sums import LaplaceParallel
from dpassay.impl.mechanisms.posterior_sampling import PosteriorSample
from dpassay.impl.mechanisms.truncated_geometric import TruncatedGeometric
from dpassay.spec.ball import Real, at_most, ball
from dpassay.spec.verdict import Outcome

EPSILONS = (0.1, 0.3, 0.7, 1.1, 2.3)
BIASES = (0.1, 0.25, 0.3, 0.55, 0.9)
NEXT = Fraction(1, 2**48)


def parallel() -> Iterator[tuple[Any, Fraction]]:
    for epsilon in EPSILONS:
        for copies in (1, 3, 7, 39):
            yield LaplaceParallel(copies=copies, epsilon=epsilon), copies * Fraction(epsilon)


def dual_query() -> Iterator[tuple[Any, Fraction]]:
    for eta in EPSILONS:
        for samples in (3, 7):
            mechanism = DualQuery(((0.0, 1.0), (1.0, 0.0)), records=3, rounds=4, samples=samples, eta=eta)
            yield mechanism, samples * Fraction(eta) * 4 * 3 / 3


def _logarithm(number: Fraction, factor: int) -> arb:
    return factor * ball(number).log()


def geometric() -> Iterator[tuple[Any, Real]]:
    for bits in range(12):
        yield TruncatedGeometric(5, bits), partial(_logarithm, 1 + Fraction(1, 2**bits), 1)


def posterior() -> Iterator[tuple[Any, Real]]:
    for bias in BIASES:
        rarer = min(Fraction(bias), 1 - Fraction(bias))
        for relation, factor in (("replace", 4), ("add-remove", 2)):
            mechanism = PosteriorSample(grid=(bias, 0.5), relation=relation)
            yield mechanism, partial(_logarithm, rarer, -factor)


@pytest.mark.parametrize("cases", [parallel, dual_query])
def test_a_claim_is_the_next_number_above_a_rational_one(cases: Callable[[], Iterator[tuple[Any, Fraction]]]) -> None:
    for mechanism, exact in cases():
        assert mechanism.claims[0].epsilon == rounded_up(exact)


@pytest.mark.parametrize("cases", [geometric, posterior])
def test_a_claim_is_not_below_its_formula_and_next_to_it(cases: Callable[[], Iterator[tuple[Any, Real]]]) -> None:
    for mechanism, exact in cases():
        assert _holds(exact, mechanism.claims[0].epsilon, Fraction(0))
        assert not _holds(exact, mechanism.claims[0].epsilon, NEXT)


def _holds(exact: Real, epsilon: float, part: Fraction) -> bool:
    """Return whether a number, enlarged by a part of it, is at most epsilon."""
    return at_most(lambda: exact() * (1 + ball(part)), lambda: ball(epsilon)).outcome is Outcome.HOLDS
