"""Emptiness of polyhedra: constraints with variables of their own are left out, and it makes no difference."""

import random
from fractions import Fraction
from typing import Any

import pytest

from dpassay.spec.leaves import merging, polyhedra
from dpassay.spec.leaves.merging import reduced
from dpassay.spec.leaves.model import Affine, Constraint, Leaf, Noise, NoiseKind, Relation
from dpassay.spec.leaves.polyhedra import has_interior

KINDS = (NoiseKind.LAPLACE, NoiseKind.EXPONENTIAL, NoiseKind.UNIFORM)


def constraints(seed: int) -> tuple[Constraint, ...]:
    """Return random constraints on four noises and two data."""
    rng = random.Random(seed)  # noqa: S311
    noises = [Noise(rng.choice(KINDS), k) for k in range(4)]

    def one() -> Constraint:
        noise = {name: Fraction(rng.choice((-2, -1, 1, 2))) for name in rng.sample(noises, rng.randint(0, 2))}
        data = {
            index: Fraction(rng.choice((-1, 1))) for index in rng.sample(range(2), rng.randint(0 if noise else 1, 1))
        }
        return Constraint(Affine(Fraction(rng.randint(-2, 2)), noise, data), rng.choice(list(Relation)))

    return tuple(one() for _ in range(rng.randint(1, 5)))


@pytest.mark.parametrize("seed", range(60))
def test_constraints_with_variables_of_their_own_make_no_difference(seed: int, monkeypatch: Any) -> None:
    leaf = Leaf(constraints(seed), Fraction(1), "outcome")
    found = has_interior(leaf.constraints), reduced(leaf)
    monkeypatch.setattr(polyhedra, "_bound_together", list)
    monkeypatch.setattr(merging, "shared", tuple)
    assert (has_interior(leaf.constraints), reduced(leaf)) == found


def test_both_answers_occur() -> None:
    assert {has_interior(constraints(seed)) for seed in range(60)} == {True, False}
