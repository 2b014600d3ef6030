import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpassay.arguments import UsageError
from dpassay.claims import ZCDP
from dpassay.impl.mechanisms.doubling import DoublingMethod, RelativeError, doubled_precisions
from dpassay.impl.mechanisms.noise_reduction import never_stops


def test_every_release_is_charged() -> None:
    [claim] = DoublingMethod(size=1, times=(4.0, 2.0, 1.0)).claims
    assert isinstance(claim, ZCDP)
    assert claim.rho == pytest.approx((0.25 + 0.5 + 1) / 2)
    assert claim.rho > 0.875


def test_releases_are_independent() -> None:
    runs = 20_000
    rows = DoublingMethod(size=1, times=(2.0, 1.0), stop=never_stops).sample(
        np.zeros(1), runs, np.random.default_rng(1)
    )
    values = rows[:, 1:] / np.sqrt([2.0, 1.0])
    # a sum of products of independent standard normals: beyond seven standard errors with probability below 1e-10
    assert abs((values[:, 0] * values[:, 1]).mean()) < 7 / math.sqrt(runs)
    assert abs((values**2).mean(axis=0) - 1).max() < 7 * math.sqrt(2 / runs)


def test_precisions_double_as_long_as_they_fit() -> None:
    assert doubled_precisions(1.0, 7.0).tolist() == [1.0, 2.0, 4.0]
    assert doubled_precisions(1.0, 6.99).tolist() == [1.0, 2.0]
    assert doubled_precisions(1.0, 0.5).size == 0
    with pytest.raises(UsageError, match="smallest"):
        doubled_precisions(0.0, 1.0)
    with pytest.raises(UsageError, match="budget"):
        doubled_precisions(1.0, math.nan)


@pytest.mark.parametrize(("smallest", "budget"), [(5e-324, 1e308), (1e-4, 1.7e308), (0.1, 0.3), (0.1, 0.7), (3.0, 45)])
def test_the_number_of_doublings_is_exact(smallest: float, budget: float) -> None:
    precisions = [Fraction(x) for x in doubled_precisions(smallest, budget).tolist()]
    assert sum(precisions) <= Fraction(budget) < sum(precisions) + 2 * precisions[-1]
    assert all(b == 2 * a for a, b in itertools.pairwise(precisions))


@pytest.mark.parametrize(("accuracy", "above", "below"), [(0.1, 21.0, 19.0), (0.01, 201.0, 199.0)])
def test_the_rule_is_not_symmetric(accuracy: float, above: float, below: float) -> None:
    rule = RelativeError(accuracy)
    values = np.array([above + 1e-9, above - 1e-9, -below - 1e-9, -below + 1e-9, 0.0])
    assert rule.content(np.ones(5), values).tolist() == [True, False, True, False, False]
    assert rule(np.array([9.0, 4.0]), np.array([[[0.0], [2 * above + 1]]])).tolist() == [True]


def test_the_rule_looks_at_the_first_coordinate_of_the_latest_release() -> None:
    values = np.zeros((3, 2, 2))
    values[0, -1, 0] = values[1, -1, 1] = values[2, 0, 0] = 100.0
    assert RelativeError(0.5)(np.array([2.0, 1.0]), values).tolist() == [True, False, False]


@pytest.mark.parametrize("accuracy", [0.0, 1.0, -0.1, math.nan, "0.1", None])
def test_bad_accuracies(accuracy: Any) -> None:
    with pytest.raises(UsageError, match="accuracy"):
        RelativeError(accuracy)
