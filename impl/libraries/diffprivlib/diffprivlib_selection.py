"""Families of the mechanisms of diffprivlib that select or respond, and of its noise for vectors and directions."""

from __future__ import annotations

import itertools
import math

import numpy as np
from diffprivlib import mechanisms
from scipy.special import gammainc, gammaincinv

from dpassay.adapter import Family, Mechanism

__all__ = [
    "CATEGORIES",
    "categorical",
    "exponential",
    "flipped",
    "hierarchical",
    "response",
    "selection_families",
    "vector",
]

_ALONE = "vector:size=1,linf=1,low=0,high=0,integer"
"""No two inputs are neighbours: only the distribution is tested."""

_CELLS = 8
_QUADRANTS = 4


def _case(neighbours, epsilon, sample_many, distribution):
    return Mechanism(
        "",
        neighbours,
        f"pure:{epsilon!r}",
        sample_many=sample_many,
        distribution=distribution,
        slow=True,
        relative_error=1e-9,
    )


def _finite(symbols, probabilities):
    return {"family": "finite", "symbols": list(symbols), "probabilities": list(probabilities)}


def exponential(epsilon, sensitivity, monotonic, measure, state=None):
    """Return the exponential mechanism on four candidates, with a measure or without."""
    weights = [2.0, 0.5, 3.0, 1.5] if measure else [1.0] * 4
    words = ["no", "yes", "maybe", "never"]

    def sample_many(data, size):
        mechanism = mechanisms.Exponential(
            epsilon=epsilon,
            sensitivity=sensitivity,
            utility=list(data),
            monotonic=monotonic,
            measure=weights if measure else None,
            candidates=words,
            random_state=state,
        )
        return [mechanism.randomise() for _ in range(size)]

    rate = epsilon / sensitivity / (1 if monotonic else 2)

    def distribution(data):
        return _finite(words, [w * math.exp(rate * (u - max(data))) for w, u in zip(weights, data)])

    return _case(_utilities(sensitivity, monotonic), epsilon, sample_many, distribution)


def _utilities(sensitivity, monotonic):
    reach = 3 * sensitivity
    return f"vector:size=4,linf={sensitivity!r},low={-reach!r},high={reach!r}" + (",monotone" if monotonic else "")


def flipped(epsilon, sensitivity, monotonic, state=None):
    """Return permute and flip on four candidates."""
    words = ["no", "yes", "maybe", "never"]

    def sample_many(data, size):
        mechanism = mechanisms.PermuteAndFlip(
            epsilon=epsilon,
            sensitivity=sensitivity,
            utility=list(data),
            monotonic=monotonic,
            candidates=words,
            random_state=state,
        )
        return [mechanism.randomise() for _ in range(size)]

    rate = epsilon / sensitivity / (1 if monotonic else 2)

    def distribution(data):
        heads = [math.exp(rate * (u - max(data))) for u in data]
        chances = [0.0] * len(heads)
        for order in itertools.permutations(range(len(heads))):
            rest = 1.0 / math.factorial(len(heads))
            for place in order:
                chances[place] += rest * heads[place]
                rest *= 1 - heads[place]
        return _finite(words, chances)

    return _case(_utilities(sensitivity, monotonic), epsilon, sample_many, distribution)


def response(epsilon, state=None):
    """Return a randomised response."""

    def sample_many(data, size):
        mechanism = mechanisms.Binary(epsilon=epsilon, value0="no", value1="yes", random_state=state)
        return [mechanism.randomise("yes" if data[0] else "no") for _ in range(size)]

    def distribution(data):
        truth, other = ("yes", "no") if data[0] else ("no", "yes")
        return _finite([truth, other], [math.exp(epsilon), 1.0])

    return _case("vector:size=1,linf=1,low=0,high=1,integer", epsilon, sample_many, distribution)


_DISTANCES = {
    "balanced": (1.5, 4.0, 4.0, 4.0, 4.0, 1.5),
    "unbalanced": (1.5, 4.0, 4.0, 4.0, 4.0, 3.0),
    "equal ends": (1.5, 4.0, 3.0, 2.0, 4.0, 1.5),
}
"""Distances of pairs of four labels; with equal ends they are balanced for the first and the last label alone."""

CATEGORIES = list(_DISTANCES)
"""Kinds of distances for `categorical`."""


def categorical(epsilon, kind, state=None):
    """Return the mechanism on labels at distances; balanced distances need no factor of 2."""
    labels, sides = ["a", "b", "c", "d"], _DISTANCES[kind]
    far = dict(zip(itertools.combinations(labels, 2), sides))
    factor = 1 if kind == "balanced" else 2

    def sample_many(data, size):
        distances = [[one, two, distance] for (one, two), distance in far.items()]
        mechanism = mechanisms.ExponentialCategorical(epsilon=epsilon, utility_list=distances, random_state=state)
        return [mechanism.randomise(labels[int(data[0])]) for _ in range(size)]

    def distribution(data):
        value = labels[int(data[0])]
        distances = [0.0 if value == to else far[min(value, to), max(value, to)] for to in labels]
        return _finite(labels, [math.exp(-epsilon * d / factor / max(sides)) for d in distances])

    return _case("vector:size=1,linf=3,low=0,high=3,integer", epsilon, sample_many, distribution)


def hierarchical(epsilon, state=None):
    """Return the mechanism on the eight leaves of a tree."""
    leaves = ["ab", "cd"], ["ef", "gh"]
    names = "abcdefgh"

    def sample_many(data, size):
        tree = [[list(pair) for pair in side] for side in leaves]
        mechanism = mechanisms.ExponentialHierarchical(epsilon=epsilon, hierarchy=tree, random_state=state)
        return [mechanism.randomise(names[int(data[0])]) for _ in range(size)]

    def distribution(data):
        value = int(data[0])
        heights = [(value ^ to).bit_length() for to in range(8)]
        return _finite(names, [math.exp(-epsilon * height / 3) for height in heights])

    return _case("vector:size=1,linf=7,low=0,high=7,integer", epsilon, sample_many, distribution)


def vector(epsilon, function, data, dimension, alpha, n, state=None):
    """Return the quadrant of the first two entries of the noise and the cell of its norm, which are independent.

    A last cell stands for curvatures and slopes that are not those of the paper.
    """
    rest = epsilon - 2 * math.log1p(function * data / alpha)
    curvature = 0.0
    if rest <= 0:
        curvature, rest = (function * data / math.expm1(epsilon / 4) - alpha) / n, epsilon / 2
    scale = 2 * data / rest
    edges = [0.0, *(gammaincinv(dimension, np.arange(1, _CELLS) / _CELLS) * scale), math.inf]

    def sample_many(_data, size):
        mechanism = mechanisms.Vector(
            epsilon=epsilon,
            function_sensitivity=function,
            data_sensitivity=data,
            dimension=dimension,
            alpha=alpha,
            n=n,
            random_state=state,
        )
        zero, found = np.zeros(dimension), []
        for _ in range(size):
            perturbed = mechanism.randomise(lambda x: (0.0, np.zeros_like(x)))
            noise = perturbed(zero)[1] * n
            values = [perturbed(sign * np.ones(dimension))[0] for sign in (1, -1)]
            agrees = math.isclose(sum(values) / dimension, curvature, rel_tol=1e-6, abs_tol=1e-9)
            linear = math.isclose(values[0] - values[1], 2 * noise.sum() / n, rel_tol=1e-6, abs_tol=1e-9)
            quadrant = 2 * int(noise[0] > 0) + int(noise[1] > 0)
            cell = _CELLS * quadrant + int(np.searchsorted(edges[1:-1], np.linalg.norm(noise)))
            found.append(cell if agrees and linear else _QUADRANTS * _CELLS)
        return found

    masses = np.diff([gammainc(dimension, edge / scale) for edge in edges]) / _QUADRANTS
    symbols = range(_QUADRANTS * _CELLS)
    return _case(_ALONE, epsilon, sample_many, lambda _: _finite(symbols, masses.tolist() * _QUADRANTS))


def _bingham(epsilon, sensitivity, strength, angle):
    """Return the octant of the half circle into which the direction falls."""
    turned = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    matrix = turned @ np.diag([strength, 0.1]) @ turned.T

    def sample_many(_data, size):
        mechanism = mechanisms.Bingham(epsilon=epsilon, sensitivity=sensitivity)
        drawn = np.array([mechanism.randomise(matrix) for _ in range(size)])
        angles = np.arctan2(drawn[:, 1], drawn[:, 0]) % math.pi
        return np.minimum((angles / math.pi * _CELLS).astype(int), _CELLS - 1)

    fine = 512
    middle = (np.arange(_CELLS * fine) + 0.5) * math.pi / (_CELLS * fine)
    points = np.stack([np.cos(middle), np.sin(middle)], axis=1)
    weights = np.exp(epsilon / 4 / sensitivity * ((points @ matrix) * points).sum(axis=1))
    masses = weights.reshape(_CELLS, fine).sum(axis=1).tolist()
    return _case(_ALONE, epsilon, sample_many, lambda _: _finite(range(_CELLS), masses))


def selection_families():
    """Yield the mechanisms over their parameters."""
    pure = {"epsilon": (0.6, 4.0), "sensitivity": (0.25, 7.0)}
    flags = {"monotonic": [False, True]}
    budget = {"epsilon": (0.6, 4.0)}
    yield Family("mechanisms.Exponential, family", exponential, {**pure, **flags, "measure": [False, True]})
    yield Family("mechanisms.PermuteAndFlip, family", flipped, {**pure, **flags})
    yield Family("mechanisms.Binary, family", response, budget)
    yield Family("mechanisms.ExponentialCategorical, family", categorical, {**budget, "kind": CATEGORIES})
    yield Family("mechanisms.ExponentialHierarchical, family", hierarchical, budget)
    noisy = {"function": (0.3, 2.0), "data": (0.4, 5.0), "dimension": (2, 5), "alpha": (0.2, 30.0), "n": (2, 9)}
    yield Family("mechanisms.Vector, family", vector, {**budget, **noisy})
    yield Family(
        "mechanisms.Bingham, family",
        _bingham,
        {"epsilon": (2.0, 12.0), "sensitivity": (0.5, 2.0), "strength": (2.0, 5.0), "angle": (0.3, 2.0)},
    )
