"""Relations of diffprivlib: draws of noise for vectors and of directions, of one random state each."""

from __future__ import annotations

import math

import numpy as np
from diffprivlib import mechanisms
from diffprivlib_comparisons import DRAWS, compared
from diffprivlib_selection import vector

__all__ = ["bingham_directions", "vectors"]

_CELLS, _FINE = 16, 256


def vectors(random):
    """Check the norm and the direction of the noise of `Vector`, one apart from the other."""
    for alpha, function in ((30.0, random.uniform(2, 6)), (0.5, random.uniform(1, 2))):
        given = {
            "epsilon": random.uniform(0.8, 2),
            "function": function,
            "data": random.uniform(2, 4),
            "dimension": random.randint(2, 5),
            "alpha": alpha,
            "n": random.randint(3, 9),
        }
        state = random.getrandbits(31)
        case = vector(**given, state=np.random.RandomState(state))
        drawn, exact = np.array(case.sample_many([0.0], DRAWS // 4)), case.distribution([0.0])["probabilities"]
        words = f"Vector, {given}, random state {state}"
        # a last cell stands for curvatures and slopes that are not those of the paper
        yield f"{words}: wrong curvatures", 0.0, float(np.sum(drawn >= len(exact))), 0.0
        quadrants = np.reshape(exact, (4, -1))
        count = quadrants.shape[1]
        norms = np.where(drawn < len(exact), drawn % count, count)
        yield from compared(f"{words}: norms", norms, quadrants.sum(axis=0))
        yield from compared(f"{words}: quadrants", drawn // count, quadrants.sum(axis=1))


def bingham_directions(random):
    """Check directions in the plane: exp(-x'Ax) is documented, and drawn is exp(-x'Ax) / (x' Omega x)^2 so far.

    Proposals have the density (x' Omega x)^(-d/2), by which the acceptance divides where it must multiply. Here A is
    epsilon / 4 / sensitivity times the largest eigenvalue less the matrix, and Omega = I + 2A / b. Noise that is as
    much too wide as the acceptance makes it too narrow is taken for that of the documentation; a smaller one is not.
    """
    given = {"epsilon": random.uniform(2, 4), "sensitivity": random.uniform(2, 3)}
    rate = given["epsilon"] / 4 / given["sensitivity"]
    # the smaller eigenvalue of A is 0; its multiples by 2 and more are far apart where the larger one is about 1
    larger, least, angle = random.uniform(0.9, 1.4), random.uniform(0.5, 3), random.uniform(0, math.pi)
    turned = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    matrix = turned @ np.diag([least + larger / rate, least]) @ turned.T
    state = random.getrandbits(31)
    mechanism = mechanisms.Bingham(**given, random_state=state)
    drawn = np.array([mechanism.randomise(matrix) for _ in range(DRAWS // 4)])
    drawn = (np.arctan2(drawn[:, 1], drawn[:, 0]) - angle) % math.pi
    middle = (np.arange(_CELLS * _FINE) + 0.5) * math.pi / (_CELLS * _FINE)
    exponent = larger * np.sin(middle) ** 2
    # b solves 1 / b + 1 / (b + 2 * larger) = 1
    b = 1 - larger + math.hypot(1, larger)
    densities = [np.exp(-exponent), np.exp(-exponent) / (1 + 2 * exponent / b) ** 2]
    masses = [one.reshape(_CELLS, _FINE).sum(axis=1) / one.sum() for one in densities]
    cells = np.minimum((drawn / math.pi * _CELLS).astype(int), _CELLS - 1)
    words = f"Bingham, {given}, matrix {matrix.tolist()}, random state {state}"
    yield from compared(f"{words}: angles", cells, *masses)
    # an angle on either side of the axis counts as one, which doubles the distance of noise that is too small
    folded = [one[: _CELLS // 2] + one[: _CELLS // 2 - 1 : -1] for one in masses]
    yield from compared(f"{words}: angles from the axis", np.minimum(cells, _CELLS - 1 - cells), *folded)
