"""Renamed leaves: the names change, each noise keeps a name of its own and its kind."""

import random
from fractions import Fraction

import pytest

from dpassay.spec.leaves.model import Affine, Leaf, Noise, NoiseKind
from dpassay.spec.leaves.renaming import forms_of, renamed

from .models import at_least, datum, leaf, noise, number, plus

X, Y = datum(0), datum(1)
Z, W = noise(NoiseKind.LAPLACE, 0), noise(NoiseKind.LAPLACE, 1)
KINDS = [(NoiseKind.LAPLACE, Fraction(0)), (NoiseKind.GUMBEL, Fraction(0)), *(
    (NoiseKind.GEOMETRIC, Fraction(1, ratio)) for ratio in (2, 3)
)]  # fmt: skip


def drawn(generator: random.Random) -> Leaf:
    """Three forms in few noises and few data, so that several noises stand beside the same data."""
    noises = [
        Noise(kind, position, ratio) for kind, ratio in KINDS[: generator.randint(1, 4)] for position in range(4)
    ]
    forms = [
        Affine(
            Fraction(generator.randint(-2, 2)),
            {one: Fraction(generator.choice((-2, -1, 1, 2))) for one in generator.sample(noises, 3)},
            {0: Fraction(1)} if generator.random() < 0.7 else {0: Fraction(1), 1: Fraction(-1)},
        )
        for _ in range(3)
    ]
    return leaf((forms[0],), *(at_least(form, number(0)) for form in forms[1:]))


def names_given(source: Leaf, found: Leaf) -> dict[Noise, Noise]:
    """Return the new name of each noise; the two leaves must be equal but for the names."""
    names: dict[Noise, Noise] = {}
    for before, after in zip(forms_of(source), forms_of(found), strict=True):
        assert (before.constant, before.data) == (after.constant, after.data)
        assert list(before.noise.values()) == list(after.noise.values())  # two noises with one name would be one entry
        for old, new in zip(before.noise, after.noise, strict=True):
            assert names.setdefault(old, new) == new
    return names


@pytest.mark.parametrize("seed", range(40))
def test_names_are_injective_and_keep_the_kind(seed: int) -> None:
    generator = random.Random(seed)  # noqa: S311
    source, target = drawn(generator), drawn(generator)
    names = names_given(source, renamed(source, target))
    assert len(set(names.values())) == len(names)
    assert all((old.kind, old.ratio) == (new.kind, new.ratio) for old, new in names.items())


def test_noises_of_one_kind_beside_the_same_datum_keep_different_names() -> None:
    """x + z, x + w released: under other names they are still independent, and take those of the target."""
    own = [noise(NoiseKind.LAPLACE, i) for i in range(4)]
    source, target = (leaf((plus(X, first), plus(X, second))) for first, second in (own[2:], own[:2]))
    assert renamed(source, target) == target


def test_noises_take_the_names_of_those_beside_the_same_data() -> None:
    second = leaf(plus(Y, Z), at_least(plus(Y, Z), number(3)))
    both = leaf("both", at_least(plus(X, Z), number(3)), at_least(plus(Y, W), number(3)))
    assert renamed(second, both) == leaf(plus(Y, W), at_least(plus(Y, W), number(3)))
    assert renamed(both, second).constraints[1] == at_least(plus(Y, Z), number(3))
    first = renamed(both, second).constraints[0]
    assert set(first.form.noise) not in ({*Z.noise}, {*W.noise})  # a name that neither leaf uses
