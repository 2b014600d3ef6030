"""Relations of diffprivlib that a release breaks, each a case of its own: budgets, and what the noise is made for.

They are asked beside the relations of options, which leave these calls out. Every mechanism returns its value
unchanged and is noted.
"""

from __future__ import annotations

import warnings

import numpy as np
from diffprivlib import models, tools
from diffprivlib_calls import spent, without_noise
from diffprivlib_comparisons import at_least, at_most

from dpassay.adapter import Relations

__all__ = ["fault_relations"]


def _many_columns(random):
    """Check that a cluster has one epsilon over all iterations: its count and the sum of each of its columns."""
    for columns in (5, 10, 40):
        epsilon, size = random.uniform(0.3, 3), random.randint(6, 20)
        rows = [[random.uniform(0, 1) for _ in range(columns)] for _ in range(size)]
        with without_noise() as calls:
            model = models.KMeans(n_clusters=1, epsilon=epsilon, bounds=(0.0, 1.0)).fit(rows)
        words = f"{columns} columns, {size} records, epsilon {epsilon!r}"
        yield f"{words}: calls", float(model.n_iter_ * (1 + columns)), float(len(calls)), float(len(calls))
        yield at_most(f"{words}: epsilons of a cluster", spent(calls), epsilon)


def _weights(random):
    """Check that the noise of a bin is made for a record of the largest weight."""
    weights = [float(random.randint(2, 9)) for _ in range(6)]
    places = [random.uniform(0, 1) for _ in weights]
    for name, records in (("histogram", (places,)), ("histogramdd", ([places],)), ("histogram2d", (places, places))):
        axes = 2 if name == "histogram2d" else 1
        ranges = (0.0, 1.0) if name == "histogram" else [(0.0, 1.0)] * axes
        epsilon = random.uniform(0.3, 3)
        with without_noise() as calls:
            getattr(tools, name)(*records, epsilon=epsilon, bins=2, range=ranges, weights=weights)
        words = f"{name}, weights {weights}, epsilon {epsilon!r}"
        for call in calls:
            yield at_least(f"{words}: sensitivity", call.of.sensitivity, max(weights))


def _whole_means(random):
    """Check that the noise of a mean in integers is made for its change where one record is replaced."""
    for _ in range(5):
        epsilon, size = random.uniform(0.3, 3), random.randint(5, 30)
        low, width = random.randint(0, 4), random.randint(1, 5)
        values, made = [], []
        for first in (low, low + width):
            records = np.array([first, *[low + width] * (size - 1)])
            with without_noise() as calls:
                tools.mean(records, epsilon=epsilon, bounds=(low, low + width), dtype=int)
            values.append(float(calls[0].value))
            made.append(float(calls[0].of.sensitivity))
        words = f"{size} records between {low} and {low + width}, epsilon {epsilon!r}"
        yield at_least(f"{words}: sensitivity", min(made), values[1] - values[0])


def _rows_outside(random):
    """Check that the noise of each coefficient is made for its change where one record leaves symmetric bounds."""
    for _ in range(3):
        epsilon, bound, reach = random.uniform(0.3, 3), random.uniform(0.5, 4), random.uniform(2, 5)
        values, made = [], []
        for last in (bound, reach * bound):
            with without_noise() as calls:
                models.LinearRegression(
                    epsilon=epsilon, bounds_X=(-bound, bound), bounds_y=(-bound, bound), fit_intercept=False
                ).fit([[0.3 * bound], [0.7 * bound], [last]], [0.1 * bound, 0.5 * bound, last])
            values.append([float(np.squeeze(call.value)) for call in calls])
            made.append([float(np.squeeze(call.of.sensitivity)) for call in calls])
        changes = np.abs(np.subtract(*values))
        words = f"bounds -{bound!r} and {bound!r}, a record {reach!r} times as large, epsilon {epsilon!r}"
        for place, (sensitivity, change) in enumerate(zip(made[0], changes)):
            yield at_least(f"{words}: sensitivity of coefficient {place}", sensitivity, change)


def _names_of_classes():
    """Return whether the leaves of a forest have as many records of each class as there are."""
    labels = [2, 5, 5, 7, 7, 7]
    with without_noise() as calls, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models.RandomForestClassifier(1, epsilon=1.0, bounds=(0.0, 1.0), classes=[2, 5, 7], random_state=0).fit(
            np.linspace(0.1, 0.9, 6).reshape(-1, 1), labels
        )
    return np.sum([call.value for call in calls], axis=0).tolist() == [1, 2, 3]


def fault_relations():
    """Yield the relations."""
    for name, words, relation, side in (
        ("models.KMeans, many columns", "counts and sums have one epsilon", _many_columns, "above"),
        ("tools.histogram, large weights", "noise is made for the largest weight", _weights, "below"),
        ("models.LinearRegression, records outside", "noise is made for their change", _rows_outside, "below"),
        ("tools.mean, in integers", "noise is made for the change of the truncated mean", _whole_means, "below"),
    ):
        yield Relations(name, {words: relation}, unsafe={words: side})
    names = {"each class is counted under its name": _names_of_classes}
    yield Relations("models.RandomForestClassifier, names of classes", {}, names)
