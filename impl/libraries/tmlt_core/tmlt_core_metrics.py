"""Metrics of Tumult Core: distances of values, and of lists of them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from tmlt.core.domains.collections import ListDomain
from tmlt.core.domains.numpy_domains import NumpyIntegerDomain
from tmlt.core.metrics import (
    AbsoluteDifference,
    DictMetric,
    HammingDistance,
    NullMetric,
    OnColumn,
    OnColumns,
    RootSumOfSquared,
    SumOf,
    SymmetricDifference,
)
from tmlt_core_numbers import exactly

from dpassay.adapter import Relations
from dpassay.impl.libraries.refusing import raises

__all__ = ["metrics"]


def _distances(random):
    """Compare distances of values, and of lists of them, with their definitions."""
    left, right = [[random.randint(-9, 9) for _ in range(4)] for _ in range(2)]
    moves = [abs(x - y) for x, y in zip(left, right)]
    domain = NumpyIntegerDomain()
    several = ListDomain(domain, length=4)
    boxed = [[np.int64(value) for value in values] for values in (left, right)]
    words = f"{left} and {right}"
    yield exactly(
        f"AbsoluteDifference, {words}", AbsoluteDifference().distance(*(b[0] for b in boxed), domain), moves[0]
    )
    yield exactly(f"SumOf, {words}", SumOf(AbsoluteDifference()).distance(*boxed, several), sum(moves))
    found = RootSumOfSquared(AbsoluteDifference()).distance(*boxed, several)
    yield exactly(f"RootSumOfSquared, {words}", found**2, sum(move**2 for move in moves))
    yield "NullMetric has no distances", 1.0, float(raises(Exception, lambda: NullMetric().compare(1, 2))), 1.0


def _comparisons(random):
    """Check which distances are at most others: one that is not, and passes, is above its bounds."""
    one, other = Fraction(random.randint(1, 9), 4), Fraction(random.randint(1, 9), 4)
    for metric in (AbsoluteDifference(), SymmetricDifference(), HammingDistance(), SumOf(AbsoluteDifference())):
        whole = isinstance(metric, (SymmetricDifference, HammingDistance))
        a, b = (int(4 * one), int(4 * other)) if whole else (one, other)
        yield f"{metric} compares {a} and {b}", float(a <= b), float(metric.compare(a, b)), float(a <= b)
    both = DictMetric({"x": AbsoluteDifference(), "y": SymmetricDifference()})
    agrees = both.compare({"x": one, "y": 3}, {"x": other, "y": 2})
    yield f"{both} compares every part, {one}, {other}", 0.0, float(agrees), 0.0
    agrees = both.compare({"x": one, "y": 2}, {"x": other, "y": 2})
    yield f"{both} compares {one} and {other}", float(one <= other), float(agrees), float(one <= other)
    on = OnColumns([OnColumn(name, SumOf(AbsoluteDifference())) for name in "xy"])
    agrees = on.compare((one, one), (other, one))
    yield f"{on} compares {one} and {other}", float(one <= other), float(agrees), float(one <= other)


def metrics():
    """Yield the case."""
    distances, compared = "distances are those of their definitions", "larger distances are not allowed"
    yield Relations("metrics", {distances: _distances, compared: _comparisons}, unsafe={compared: "above"})
