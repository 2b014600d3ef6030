"""Advanced composition: rounded to the safe side, against the formula in ball arithmetic."""

import numpy as np
import pytest
from flint import arb

from dpassay.impl.accounting.advanced_composition import advanced_composition_epsilon, best_share
from dpassay.spec.ball import ball, precision

RNG = np.random.default_rng(20261123)
POINTS = [
    (int(r), float(epsilon), float(delta))
    for r, epsilon, delta in zip(
        np.geomspace(1, 1e6, 40), RNG.permutation(np.geomspace(1e-6, 8, 40)), RNG.uniform(1e-12, 1, 40), strict=True
    )
]


def formula(copies: int, epsilon: float, delta: float) -> arb:
    """Enclose the smaller one of r epsilon^2/2 + epsilon sqrt(2 r log(1/delta)) and r epsilon."""
    advanced = copies * ball(epsilon) ** 2 / 2 + ball(epsilon) * (-2 * copies * ball(delta).log()).sqrt()
    return advanced.min(copies * ball(epsilon))


@pytest.mark.parametrize(("copies", "epsilon", "delta"), POINTS)
def test_the_epsilon_of_a_composition_is_rounded_up_and_little(copies: int, epsilon: float, delta: float) -> None:
    with precision(200):
        found, exact = (
            ball(float(advanced_composition_epsilon(copies, epsilon, delta))),
            formula(copies, epsilon, delta),
        )
        assert exact < found < exact * (1 + arb(2) ** -44)


@pytest.mark.parametrize(("copies", "epsilon", "delta"), POINTS)
def test_the_share_is_rounded_down_and_little(copies: int, epsilon: float, delta: float) -> None:
    with precision(200):
        share = float(best_share(copies, epsilon, delta))
        assert formula(copies, share, delta) < ball(epsilon) < formula(copies, share * (1 + 2.0**-42), delta)
