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


@pytest.mark.parametrize(
    ("kind", "constant", "sign", "is_implied"),
    [
        (NoiseKind.EXPONENTIAL, 1, 1, True),
        (NoiseKind.EXPONENTIAL, -1, 1, False),
        (NoiseKind.EXPONENTIAL, 1, -1, False),
        (NoiseKind.UNIFORM, 0, 1, True),
        (NoiseKind.UNIFORM, 2, -1, True),
        (NoiseKind.UNIFORM, 0.5, -1, False),
        (NoiseKind.LAPLACE, 1, 1, False),
    ],
)
def test_the_support_of_a_noise_implies_constraints(
    kind: NoiseKind, constant: float, sign: int, is_implied: bool
) -> None:
    """constant + sign Z > 0, with a noise Z that stands in no other constraint."""
    one = Constraint(Affine(Fraction(constant), {Noise(kind, 0): Fraction(sign)}))
    assert reduced(Leaf((one,), Fraction(1), "outcome")).constraints == (() if is_implied else (one,))
