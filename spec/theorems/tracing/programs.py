"""Programs to quantify over: decision trees about noisy answers, as leaf models on symbolic data."""

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpassay.neighbours import VectorNeighbours
from dpassay.spec.leaves.model import Affine, Constraint, Leaf, LeafModel, Noise, NoiseKind
from dpassay.spec.leaves.polyhedra import negated

__all__ = ["half_moves", "noisy_max_by_loop", "random_answers", "random_program", "sparse_vector"]

ONE = Fraction(1)
STEPS = tuple(Fraction(k, 2) for k in range(-2, 3))
SCALES = (Fraction(1, 2), ONE, Fraction(2), Fraction(3))


def _difference(left: Affine, right: Affine) -> Affine:
    noise, data = dict(left.noise), dict(left.data)
    for name, value in right.noise.items():
        noise[name] = noise.get(name, Fraction(0)) - value
    for index, value in right.data.items():
        data[index] = data.get(index, Fraction(0)) - value
    return Affine(
        left.constant - right.constant,
        {name: value for name, value in noise.items() if value},
        {index: value for index, value in data.items() if value},
    )


def _score(index: int, noise: Noise, scale: Fraction, weight: Fraction = ONE) -> Affine:
    return Affine(Fraction(0), {noise: scale}, {index: weight})


def noisy_max_by_loop(size: int, kind: NoiseKind, scale: Fraction) -> LeafModel:
    """Return the index of the largest noisy answer as a loop finds it: one leaf for each sequence of improvements."""
    scores = [_score(i, Noise(kind, i), scale) for i in range(size)]
    leaves = []
    for answers in itertools.product((False, True), repeat=size - 1):
        best, taken = 0, list[Constraint]()
        for i, better in enumerate(answers, start=1):
            lead = _difference(scores[i], scores[best])
            taken.append(Constraint(lead if better else negated(lead)))
            best = i if better else best
        leaves.append(Leaf(tuple(taken), ONE, best))
    return LeafModel(tuple(leaves), size=size)


def sparse_vector(size: int, threshold_scale: Fraction, query_scale: Fraction) -> LeafModel:
    """Return the place of the first noisy answer that is at least a noisy threshold; Laplace noise."""
    level = Affine(Fraction(0), {Noise(NoiseKind.LAPLACE, 0): threshold_scale})
    leads = [_difference(_score(i, Noise(NoiseKind.LAPLACE, i + 1), query_scale), level) for i in range(size)]
    below = tuple(Constraint(negated(lead)) for lead in leads)
    first = (Leaf((*below[:i], Constraint(lead)), ONE, i) for i, lead in enumerate(leads))
    return LeafModel((*first, Leaf(below, ONE, size)), size=size)


@dataclass(frozen=True)
class _Tree:
    """A random decision tree: answers one after the other, each with noise of its own, against one noisy level."""

    rng: random.Random
    size: int
    kinds: Sequence[NoiseKind]

    def leaves(self) -> Iterator[Leaf]:
        noise = Noise(self.rng.choice(self.kinds), 0)
        level = Affine(Fraction(self.rng.randint(-2, 2)), {noise: self.rng.choice(SCALES)})
        yield from self._below(level, 0, ())

    def _below(self, level: Affine, index: int, taken: tuple[Constraint, ...]) -> Iterator[Leaf]:
        if index == self.size or (taken and self.rng.random() < 0.25):
            yield Leaf(taken, ONE, self.rng.randint(0, 2))
            return
        noise = Noise(self.rng.choice(self.kinds), index + 1)
        weight = Fraction(self.rng.choice((-1, 1)))
        lead = _difference(_score(index, noise, self.rng.choice(SCALES), weight), level)
        yield from self._below(level, index + 1, (*taken, Constraint(lead)))
        yield from self._below(level, index + 1, (*taken, Constraint(negated(lead))))


def random_program(number: int, size: int, kinds: Sequence[NoiseKind]) -> LeafModel:
    """Return a random decision tree about `size` noisy answers, with outcomes 0, 1 and 2.

    Parameters
    ----------
    number : int
        Seed: a number is one program.
    size : int
        Length of the data.
    kinds : sequence of NoiseKind
        The noise that may occur.
    """
    return LeafModel(tuple(_Tree(random.Random(number), size, kinds).leaves()), size=size)  # noqa: S311


def random_answers(number: int, size: int) -> list[Fraction]:
    """Return answers between -3 and 3, the same for the same number."""
    rng = random.Random(~number)  # noqa: S311
    return [Fraction(rng.randint(-12, 12), 4) for _ in range(size)]


def half_moves(relation: VectorNeighbours) -> Iterator[tuple[Fraction, ...]]:
    """Yield moves of a relation with linf = 1 in steps of a half, by its own definition of neighbours."""
    for move in itertools.product(STEPS, repeat=relation.size):
        sizes = [abs(step) for step in move if step]
        if relation.l0 is not None and len(sizes) > relation.l0:
            continue
        if relation.l1 is not None and sum(sizes) > Fraction(relation.l1):
            continue
        if relation.monotone and min(move) < 0 < max(move):
            continue
        yield move
