"""Relations of diffprivlib: the density of the coefficients of a logistic regression, on neighbours.

The noise is a vector with a density that falls by a factor of e for each `scale` of its norm, and the fit is where the
gradient of the noisy objective is 0. So each point is the fit for one noise, minus the gradient there, and the density
at the point is that of this noise times the determinant of the second derivatives (Chaudhuri, Monteleoni and Sarwate
2011, proof of Theorem 9). The privacy loss at a point, the difference of the logarithms of two densities, is at most
epsilon. The library's own objective is asked for its gradients, and its noise for its scale, both without noise. The
solver is left out: nothing here depends on where it stops.
"""

from __future__ import annotations

import math
from unittest import mock

import numpy as np
from diffprivlib import models
from diffprivlib.models import logistic_regression
from diffprivlib_comparisons import at_most

from dpassay.adapter import Relations

__all__ = ["density_relations"]

_PAIRS = 30
"""The number of pairs of tables of which the greatest loss is taken."""


class _Norms(np.random.RandomState):
    """A random state that keeps the scales and shapes of gamma noise, and draws a norm in its place."""

    def __init__(self, norm):
        super().__init__(0)
        self.scales, self.shapes, self._norm = [], [], norm

    def gamma(self, shape, scale=1.0, size=None):
        self.scales.append(float(scale))
        self.shapes.append(float(shape) * int(np.prod(size or 1)))
        return np.full(size, self._norm / int(np.prod(size or 1)))


def _gradients(features, labels, norm, **parameters):
    """Return the gradients of the objectives with noise of a norm, one of each class, and the random state."""
    gradients, norms = [], _Norms(norm)

    def solved(function, start, *, args, **_):
        gradients.append(lambda place: np.array(function(np.asarray(place), *args)[1]))
        return np.asarray(start), 0.0, {"warnflag": 0, "nit": 1}

    with mock.patch.object(logistic_regression.optimize, "fmin_l_bfgs_b", solved):
        models.LogisticRegression(random_state=norms, **parameters).fit(features, labels)
    return gradients, norms


def _objectives(features, labels, **parameters):
    """Return the gradients of the objectives without noise, one of each class, and the scales of noise in them."""
    gradients, norms = _gradients(features, labels, 0.0, **parameters)
    noisy, _ = _gradients(features, labels, 1.0, **parameters)
    dimension = features.shape[1] + parameters["fit_intercept"]
    if norms.shapes != [dimension] * len(gradients):
        raise AssertionError(f"the norms of the noise have gamma shapes {norms.shapes}, and not {dimension}")
    origin = np.zeros(dimension)
    # noise of norm 1 moves the gradient by less where the objective is a mean over the records
    units = [np.linalg.norm(one(origin) - other(origin)) for one, other in zip(noisy, gradients)]
    return gradients, [scale * unit for scale, unit in zip(norms.scales, units)]


def _log_densities(gradients, scales, place):
    """Return the logarithm of the density of all coefficients at a place, up to a constant of the scales."""
    total, step = 0.0, 1e-4 / (1 + np.max(np.abs(place)))
    for gradient, scale in zip(gradients, scales):
        columns = [
            (gradient(place + step * unit) - gradient(place - step * unit)) / (2 * step) for unit in np.eye(len(place))
        ]
        total += np.linalg.slogdet(np.array(columns))[1] - np.linalg.norm(gradient(place)) / scale
        total -= len(place) * math.log(scale)
    return total


def _tables(random, norm, columns, classes):
    """Return two tables of features that differ in their last row, the labels, and a direction.

    The last row is long in one of them. In the other it is short or opposite, so that curvatures differ. It may also
    be turned about the direction, so that gradients differ by nearly two rows, or one of them is orthogonal to it, so
    that this one has the greatest curvature and the other one has none far from 0; then the other rows are as long and
    beside the direction. They may also all be equal, so that far from 0 the last row alone has a curvature.
    """
    size = random.randint(classes + 1, 80)
    generator = np.random.RandomState(random.getrandbits(31))
    labels = generator.permutation(np.r_[np.arange(classes), np.full(size - classes, random.randrange(classes))])
    rows = generator.standard_normal((size, columns))
    rows *= norm / np.linalg.norm(rows, axis=1, keepdims=True)
    along = rows[-1] / norm
    if columns == 2 and random.random() < 0.7:
        angle, across = random.uniform(1, 1.5), np.array([-along[1], along[0]]) * random.choice([-1, 1])
        rows[:] = norm * (math.cos(angle) * along + math.sin(angle) * across)
        other = rows.copy()
        other[-1] = norm * random.choice([-1, 1]) * (math.cos(angle) * along - math.sin(angle) * across)
        if random.random() < 0.5:
            rows[-1] = norm * across * random.choice([-1, 1])
        return rows, other, labels, along
    rows[:-1] *= random.choice([0.0, 0.1, 1.0])
    if random.random() < 0.5:
        rows[:] = norm * along
    other = rows.copy()
    other[-1] *= random.choice([0.0, -1.0, 0.1])
    return rows, other, labels, along


def _losses(random, norm, intercept, reach, least=0.1):
    """Compare losses at points between two tables with epsilon.

    `reach` is how far the points may lie from 0: the product with the longest row. Each class has a part of epsilon
    that is `least` or more.
    """
    for classes, columns in ((2, 1), (2, 2), (3, 2)):
        epsilon = random.uniform(least, 3) * (1 if classes == 2 else classes)
        strength = random.choice([1.0, random.uniform(0.1, 1)])
        parameters = {"epsilon": epsilon, "data_norm": norm, "C": strength, "fit_intercept": intercept}
        greatest = -math.inf
        for _ in range(_PAIRS):
            one, two, labels, along = _tables(random, norm, columns, classes)
            sides = [_objectives(features, labels, **parameters) for features in (one, two)]
            nearer = [sign * reach * math.exp(-random.uniform(0, 4)) for sign in (-1, 1)]
            for distance in (0.0, reach, -reach, *nearer):
                place = distance / norm * along
                if intercept:  # the differing row is where its label is open, the others are far from it
                    place = np.append(place, -distance)
                first, second = (_log_densities(*side, place) for side in sides)
                greatest = max(greatest, abs(first - second))
        words = f"{classes} classes, {columns} columns, norm {norm!r}, C {strength!r}, intercept {intercept}"
        # derivatives are differences, with an error that is far below the slack
        yield at_most(f"{words}, epsilon {epsilon!r}: loss at a point", greatest, epsilon + 1e-6)


def _short_rows(random):
    """Check rows of norms up to 2, for which the library's bound on the curvature holds (and at 2 it is tight)."""
    yield from _losses(random, random.choice([random.uniform(0.3, 2), 2.0]), False, 20.0)


def _long_rows(random):
    """Check rows whose norm is far above 1: the curvature of the loss grows with its square."""
    yield from _losses(random, random.uniform(20, 100), False, 3.0, 0.5)


def _intercepts(random):
    """Check fits with an intercept, of rows that are short enough for the bound on the curvature.

    Where epsilon is small the mechanism regularises all coefficients itself.
    """
    yield from _losses(random, random.uniform(0.5, 1.5), True, 8.0, 1.0)


def density_relations():
    """Yield the relations."""
    words = "the loss at each point is at most epsilon"
    for name, losses in (
        ("density", _short_rows),
        ("density for long rows", _long_rows),
        ("density with an intercept", _intercepts),
    ):
        yield Relations(f"models.LogisticRegression, {name}", {words: losses}, unsafe={words: "above"})
