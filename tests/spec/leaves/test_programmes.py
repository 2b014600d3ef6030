"""The exact dual simplex method against its certificates and against a solver in float64."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from dpassay.spec.leaves.programmes import Infeasible, Optimum, contradiction, interior_point, minimum

Rows = list[tuple[dict[int, Fraction], Fraction]]


def random_programme(seed: int) -> tuple[list[Fraction], Rows]:
    rng = np.random.default_rng(seed)
    count, height = int(rng.integers(1, 6)), int(rng.integers(1, 8))
    cost = [Fraction(int(x)) for x in rng.integers(0, 4, count)]
    rows: Rows = []
    for _ in range(height):
        row = {j: Fraction(int(x), 2) for j, x in enumerate(rng.integers(-3, 4, count)) if x}
        rows.append((row, Fraction(int(rng.integers(-3, 4)))))
    return cost, rows


def dot(row: dict[int, Fraction], point: tuple[Fraction, ...]) -> Fraction:
    return sum((a * point[j] for j, a in row.items()), Fraction(0))


@pytest.mark.parametrize("seed", range(40))
def test_answers_are_proved_by_their_certificates_and_agree_with_floats(seed: int) -> None:
    cost, rows = random_programme(seed)
    found = minimum(cost, rows)
    matrix = np.array([[float(row.get(j, 0)) for j in range(len(cost))] for row, _ in rows])
    floats = linprog([float(c) for c in cost], -matrix, [-float(b) for _, b in rows])
    multipliers = found.multipliers if isinstance(found, Infeasible) else found.duals
    assert min(multipliers) >= 0
    combined = [
        sum((y * row.get(j, Fraction(0)) for y, (row, _) in zip(multipliers, rows, strict=True)), Fraction(0))
        for j in range(len(cost))
    ]
    bound = sum((y * b for y, (_, b) in zip(multipliers, rows, strict=True)), Fraction(0))
    if isinstance(found, Infeasible):
        assert bound > 0
        assert max(combined) <= 0
        assert floats.status == 2
    else:
        assert all(total <= c for total, c in zip(combined, cost, strict=True))
        assert bound == found.value == dot(dict(enumerate(cost)), found.point)
        assert min(found.point) >= 0
        assert all(dot(row, found.point) >= b for row, b in rows)
        assert float(found.value) == pytest.approx(floats.fun, abs=1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_strict_systems_have_a_point_or_a_contradiction(seed: int) -> None:
    cost, rows = random_programme(seed)
    point, proof = interior_point(rows, len(cost)), contradiction(rows, len(cost))
    if point is not None:
        assert proof is None
        assert all(dot(row, point) + constant > 0 for row, constant in rows)
        return
    assert proof is not None
    assert min(proof) >= 0
    assert max(proof) > 0
    for j in range(len(cost)):
        assert sum((y * row.get(j, Fraction(0)) for y, (row, _) in zip(proof, rows, strict=True)), Fraction(0)) == 0
    assert sum((y * constant for y, (_, constant) in zip(proof, rows, strict=True)), Fraction(0)) <= 0


def test_a_system_that_touches_in_a_point_has_no_interior() -> None:
    touching: Rows = [({0: Fraction(1)}, Fraction(0)), ({0: Fraction(-1)}, Fraction(0))]
    assert interior_point(touching, 1) is None
    assert interior_point([touching[0], ({0: Fraction(-1)}, Fraction(1, 10**9))], 1) is not None


def test_negative_costs_are_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        minimum([Fraction(-1)], [])


def test_the_cheapest_cover_of_a_triangle_is_a_half_each() -> None:
    edges: Rows = [({i: Fraction(1), (i + 1) % 3: Fraction(1)}, Fraction(1)) for i in range(3)]
    found = minimum([Fraction(1)] * 3, edges)
    assert isinstance(found, Optimum)
    assert found.value == Fraction(3, 2)
