"""Leaf models written by hand, for tests."""

import itertools
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TypeVar

from dpassay.spec.leaves.model import Affine, Constraint, Leaf, LeafModel, Noise, NoiseKind

Number = int | Fraction
K = TypeVar("K", Noise, int)


def noise(kind: NoiseKind, position: int, scale: Number = 1) -> Affine:
    return Affine(Fraction(0), {Noise(kind, position): Fraction(scale)})


def number(value: Number) -> Affine:
    return Affine(Fraction(value))


def datum(index: int) -> Affine:
    return Affine(Fraction(0), {}, {index: Fraction(1)})


def _joined(left: Mapping[K, Fraction], right: Mapping[K, Fraction], sign: int) -> dict[K, Fraction]:
    total = dict(left)
    for key, value in right.items():
        total[key] = total.get(key, Fraction(0)) + sign * value
    return {key: value for key, value in total.items() if value}


def plus(left: Affine, right: Affine, sign: int = 1) -> Affine:
    return Affine(
        left.constant + sign * right.constant,
        _joined(left.noise, right.noise, sign),
        _joined(left.data, right.data, sign),
    )


def minus(left: Affine, right: Affine) -> Affine:
    return plus(left, right, -1)


def at_least(left: Affine, right: Affine) -> Constraint:
    return Constraint(minus(left, right))


def inputs(data: Sequence[Number] | int) -> list[Affine]:
    return [datum(i) for i in range(data)] if isinstance(data, int) else [number(x) for x in data]


def model(leaves: Sequence[Leaf], data: Sequence[Number] | int) -> LeafModel:
    return LeafModel(tuple(leaves), size=data if isinstance(data, int) else 0)


def leaf(outcome: object, *constraints: Constraint, weight: Number = 1) -> Leaf:
    return Leaf(constraints, Fraction(weight), outcome)


def noisy_max(data: Sequence[Number] | int, kind: NoiseKind, scale: Number) -> LeafModel:
    """The argmax of data plus noise, one leaf for each index."""
    scores = [plus(x, noise(kind, i, scale)) for i, x in enumerate(inputs(data))]
    rows = [[at_least(own, other) for other in scores if other is not own] for own in scores]
    return model([leaf(i, *row) for i, row in enumerate(rows)], data)


def noisy_max_loop(data: Sequence[Number] | int, kind: NoiseKind, scale: Number) -> LeafModel:
    """The same by a loop that keeps the best so far: 2^(d-1) leaves."""
    scores = [plus(x, noise(kind, i, scale)) for i, x in enumerate(inputs(data))]
    leaves = []
    for answers in itertools.product([False, True], repeat=len(scores) - 1):
        best = 0
        taken: list[Constraint] = []
        for i, wins in enumerate(answers, start=1):
            taken.append(at_least(*((scores[i], scores[best]) if wins else (scores[best], scores[i]))))
            best = i if wins else best
        leaves.append(leaf(best, *taken))
    return model(leaves, data)


def sparse_vector(
    data: Sequence[Number] | int,
    threshold_scale: Number,
    query_scale: Number,
    cutoff: int | None,
    threshold: Number = 0,
) -> LeafModel:
    """Sparse vector with Laplace noise; it stops after `cutoff` answers above."""
    kind = NoiseKind.LAPLACE
    level = plus(number(threshold), noise(kind, 0, threshold_scale))
    answers = inputs(data)
    leaves: list[Leaf] = []

    def run(done: tuple[bool, ...], taken: tuple[Constraint, ...]) -> None:
        if len(done) == len(answers) or (cutoff is not None and sum(done) == cutoff):
            leaves.append(leaf(done, *taken))
            return
        query = (
            plus(answers[len(done)], noise(kind, len(done) + 1, query_scale)) if query_scale else answers[len(done)]
        )
        run((*done, True), (*taken, at_least(query, level)))
        run((*done, False), (*taken, at_least(level, query)))

    run((), ())
    return model(leaves, data)


def ranking(data: Sequence[Number] | int, kind: NoiseKind, scale: Number, top: int) -> LeafModel:
    """The indices of the `top` largest noisy scores, unordered; a leaf is a full order."""
    scores = [plus(x, noise(kind, i, scale)) for i, x in enumerate(inputs(data))]
    leaves = []
    for order in itertools.permutations(range(len(scores))):
        chain = [at_least(scores[i], scores[j]) for i, j in itertools.pairwise(order)]
        leaves.append(leaf(frozenset(order[:top]), *chain))
    return model(leaves, data)


def partial_sums(data: Sequence[Number] | int, kind: NoiseKind, scale: Number, threshold: Number) -> LeafModel:
    """The first index whose partial sum of noisy data is at least the threshold, or None."""
    total = number(0)
    taken: list[Constraint] = []
    leaves: list[Leaf] = []
    for i, x in enumerate(inputs(data)):
        total = plus(total, plus(x, noise(kind, i, scale)))
        leaves.append(leaf(i, *taken, at_least(total, number(threshold))))
        taken.append(at_least(number(threshold), total))
    return model([*leaves, leaf(None, *taken)], data)
