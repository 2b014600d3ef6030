"""Errors of Laplace noise: rounded up, against the formulas in ball arithmetic."""

import numpy as np
import pytest
from flint import arb

from dpassay.impl.accounting.laplace_accuracy import largest_laplace_error, split_budget_error
from dpassay.spec.ball import ball, precision

RNG = np.random.default_rng(20261123)
POINTS = [
    (int(n), float(scale), float(failure))
    for n, scale, failure in zip(
        np.geomspace(1, 1e12, 40),
        RNG.permutation(np.geomspace(1e-6, 1e6, 40)),
        RNG.permutation([*np.geomspace(1e-12, 0.5, 30), *(1 - np.geomspace(2.0**-20, 0.5, 10))]),
        strict=True,
    )
]


def quantile(queries: int, failure: float) -> arb:
    """Enclose -log(1 - (1 - failure)^(1/n))."""
    return -(1 - ((1 - ball(failure)).log() / queries).exp()).log()


@pytest.mark.parametrize(("queries", "scale", "failure"), POINTS)
def test_the_largest_error_is_rounded_up_and_little(queries: int, scale: float, failure: float) -> None:
    with precision(300):
        exact = ball(scale) * quantile(queries, failure)
        assert exact < ball(float(largest_laplace_error(queries, scale, failure))) < exact * (1 + arb(2) ** -44)


@pytest.mark.parametrize(("queries", "budget", "failure"), POINTS)
def test_a_budget_in_equal_shares_pays_the_number_of_queries(queries: int, budget: float, failure: float) -> None:
    with precision(300):
        exact = queries / ball(budget) * quantile(queries, failure)
        assert exact < ball(float(split_budget_error(queries, budget, failure))) < exact * (1 + arb(2) ** -43)
