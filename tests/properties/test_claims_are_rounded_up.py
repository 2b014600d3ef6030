"""Claims that are computed in float64 are not below what they stand for, by a single bit."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import pytest

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


def geometric() -> Iterator[tuple[Any, Real]]:
    for bits in range(12):
        yield TruncatedGeometric(5, bits), lambda part=Fraction(1, 2**bits): (1 + ball(part)).log()


def posterior() -> Iterator[tuple[Any, Real]]:
    for bias in BIASES:
        rarer = min(Fraction(bias), 1 - Fraction(bias))
        for relation, factor in (("replace", 4), ("add-remove", 2)):
            mechanism = PosteriorSample(grid=(bias, 0.5), relation=relation)
            yield mechanism, lambda rarer=rarer, factor=factor: -factor * ball(rarer).log()


@pytest.mark.parametrize("cases", [parallel, dual_query])
def test_a_claim_is_the_next_number_above_a_rational_one(cases: Callable[[], Iterator[tuple[Any, Fraction]]]) -> None:
    for mechanism, exact in cases():
        assert mechanism.claims[0].epsilon == rounded_up(exact)


@pytest.mark.parametrize("cases", [geometric, posterior])
def test_a_claim_is_not_below_its_formula_and_next_to_it(cases: Callable[[], Iterator[tuple[Any, Real]]]) -> None:
    for mechanism, exact in cases():
        epsilon = ball(mechanism.claims[0].epsilon)
        assert at_most(exact, lambda epsilon=epsilon: epsilon).outcome is Outcome.HOLDS
        assert (
            at_most(lambda epsilon=epsilon: epsilon, lambda exact=exact: exact() * (1 + ball(NEXT))).outcome
            is Outcome.HOLDS
        )
