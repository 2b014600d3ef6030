"""Bounds and bins of single columns of dpmm, whose noise is known: what it costs, and that nothing else moves them.

Columns are of floating-point numbers, integers, dates or durations, and each bound is given or not.
"""

from __future__ import annotations

import bisect
import collections
import itertools
import math
from typing import NamedTuple

import numpy as np
import pandas as pd
from dpmm.processing import binners, utils
from dpmm_noise import agrees
from opendp.mod import enable_features
from opendp.prelude import absolute_distance, atom_domain

from dpassay.adapter import Relations
from dpassay.impl.libraries.references import near


class Noise:
    """Laplace noise of bounds, through one function."""

    make = staticmethod(utils.make_laplace)

    @staticmethod
    def add(value, scale):
        """Return a value with noise."""
        enable_features("floating-point", "contrib")
        return Noise.make(atom_domain(T=float), absolute_distance(T=float), scale)(float(value))


def _measurement(*_, scale):
    """Stand for the constructor that bounds are made with, and pass noise through one function."""
    return lambda value: Noise.add(value, scale)


utils.make_laplace = _measurement

_EDGES = [*(-(2.0**k) for k in reversed(range(32))), 0.0, *(2.0**k for k in range(32))]
"""Edges of the bins in which bounds are sought."""

BINS = len(_EDGES) - 1

_FAR = 1e4
"""Noise that alone decides about a bin: counts and thresholds of the relations are far below."""


class Spent(NamedTuple):
    """Noise of one column: counts of bounds with their scales, and scales of the splits of a tree."""

    bounds: list
    splits: list

    def epsilon(self):
        """Return the cost: a record is in one bin of the bounds, and a tree has three times the scale of its cost."""
        bounds = len(self.bounds) / BINS * max((1 / scale for _, scale in self.bounds), default=0.0)
        return bounds + (3 / min(self.splits) if self.splits else 0.0)


def decided(call, above, number):
    """Return what a call returns whose noise alone decides, and the noise outside of fits and of each fitted column.

    Bounds exceed their threshold in the bins `above`; a tree splits at random, in the same way for the same number.
    """
    splits, columns = np.random.RandomState(number), [Spent([], [])]
    kept = Noise.add, binners.laplace_noise, binners.Binner.fit

    def add(value, scale):
        bounds = columns[-1].bounds
        bounds.append((value, float(scale)))
        return value + (_FAR if (len(bounds) - 1) % BINS in above else -_FAR)

    def draw(scale, size=None):
        columns[-1].splits.append(float(scale))
        noise = splits.choice([-1, 1], size=size, p=[0.3, 0.7]) * _FAR
        return noise if size is None else list(noise)

    def fit(binner, values):
        columns.append(Spent([], []))
        return kept[2](binner, values)

    Noise.add, binners.laplace_noise, binners.Binner.fit = staticmethod(add), draw, fit
    try:
        found = call()
    finally:
        Noise.add, binners.laplace_noise, binners.Binner.fit = staticmethod(kept[0]), *kept[1:]
    return found, columns


# --- kinds of columns -------------------------------------------------------------------------------------------

KINDS = "fiMm"
"""Floating-point numbers, integers, dates and durations, as numpy names them."""

_EPOCH, _HOUR = pd.Timestamp("1990-01-01"), pd.Timedelta(hours=1)
"""The library counts dates in hours from this one, and durations in hours."""


def of_kind(kind, number):
    """Return a value of a kind of columns."""
    if kind in "fi":
        return float(number) if kind == "f" else round(number)
    duration = pd.Timedelta(round(number * 3600), "s")
    return duration if kind == "m" else _EPOCH + duration


def column(kind, numbers):
    """Return a column of a kind."""
    return pd.Series([of_kind(kind, number) for number in numbers]).to_numpy()


def as_number(kind, value):
    """Return the number of a value: that of its hours, for dates and durations."""
    if kind in "fi":
        return math.nan if value is None else float(value)
    return (pd.Timestamp(value) - _EPOCH) / _HOUR if kind == "M" else pd.Timedelta(value) / _HOUR


def some_bins(random, kind, count=3):
    """Return the numbers of some bins; those of dates and durations, and of casts to 32 bits, end near 2^20."""
    reach = 31 if kind == "f" else 20
    return sorted(random.sample(range(31 - reach, 33 + reach), count))


# --- bounds -----------------------------------------------------------------------------------------------------


def _bins_of_bounds(random):
    """Compare what reaches the noise on neighbours: one bin moves by 1, and all have noise of one scale.

    The noise is known, and exceeds the threshold in a few bins: the bounds are their outer edges.
    """
    epsilon, size = random.uniform(0.3, 5), random.randint(1, 9)
    for kind in KINDS:
        largest = 36 if kind in "fi" else 20
        numbers = [random.choice([-1.0, 1.0]) * 2 ** random.uniform(-3, largest) for _ in range(size + 1)]
        above = some_bins(random, kind)
        words = f"kind {kind}, epsilon {epsilon!r}, {numbers!r}"
        noises, bounds = [], []
        for table in (numbers, numbers[1:]):
            values = column(kind, table)
            ends, [spent, *_] = decided(lambda values=values: utils.approx_bounds(values, epsilon), above, 0)
            bounds.append(ends)
            noises.append(spent.bounds)
            counts = collections.Counter(bisect.bisect(_EDGES, as_number(kind, value)) - 1 for value in values)
            right = [value for value, _ in spent.bounds] == [counts[place] for place in range(BINS)]
            yield f"counts are those of the bins, {words}", 1.0, float(right), 1.0
        moved = [abs(x - y) for (x, _), (y, _) in zip(*noises)]
        yield f"bins that move, {words}", 0.0, math.fsum(moved), 1.0
        yield f"bins without noise, {words}", 0.0, BINS - len(noises[0]), 0.0
        for scale in sorted({scale for seen in noises for _, scale in seen}):
            yield (f"epsilon of a bin, {words}", *near(1 / scale, epsilon))
        exact = _EDGES[above[0]], _EDGES[above[-1] + 1]
        for name, ends, edge in zip(("lower", "upper"), zip(*bounds), exact):
            found = [as_number(kind, end) for end in ends]
            about = f"{name} bound {found!r} for {edge!r}, much noise in the bins {above}, {words}"
            yield f"moves, {about}", 0.0, _apart(*found), 0.0
            yield about, 1.0, float(found == [edge, edge]), 1.0


# --- bins -------------------------------------------------------------------------------------------------------

_BINNERS = {"UniformBinner": binners.UniformBinner, "PrivTreeBinner": binners.PrivTreeBinner}
_SIZE, _BOUNDS = 60, (-512.0, 640.0)


def some_bounds(random, kind, bounds=_BOUNDS):
    """Return each bound or not, as the arguments of a binner."""
    return {name: of_kind(kind, bound) for name, bound in zip(("lower", "upper"), bounds) if random.random() < 0.5}


def _settings(random):
    """Yield the names and the kinds of binners, with their bounds: all, none, and each one alone."""
    for name, kind, is_given in itertools.product(_BINNERS, KINDS, itertools.product((False, True), repeat=2)):
        given = {side: of_kind(kind, bound) for side, bound, has in zip(("lower", "upper"), _BOUNDS, is_given) if has}
        numbers = [random.uniform(*_BOUNDS) for _ in range(_SIZE)]
        yield name, kind, given, numbers, some_bins(random, kind)


def _fitted(name, kind, given, numbers, above, **more):
    """Return a binner and its noise."""
    binner = _BINNERS[name](**given, **more)
    _, [_, spent] = decided(lambda: binner.fit(column(kind, numbers)), above, len(above))
    return binner, spent


def _budget_of_a_column(random):
    """Compare the cost of the noise of bounds and trees, which share the epsilon, with the epsilon."""
    epsilon = random.uniform(0.5, 8)
    for name, kind, given, numbers, above in _settings(random):
        words = f"{name}, kind {kind}, epsilon {epsilon!r}, bounds {given!r}, bins {above}"
        _, spent = _fitted(name, kind, given, numbers, above, n_bins=6, epsilon=epsilon)
        exact = 0.0 if name == "UniformBinner" and len(given) == 2 else epsilon
        yield f"cost of the noise, {words}", 0.0, spent.epsilon(), epsilon * (1 + 1e-9)
        yield agrees(f"cost of the noise, {words}", spent.epsilon(), exact)


def _stated_of_a_column(random):
    """Compare the epsilon that a column states as spent with the cost of its noise."""
    epsilon = random.uniform(0.5, 8)
    for name, kind, given, numbers, above in _settings(random):
        words = f"{name}, kind {kind}, epsilon {epsilon!r}, bounds {given!r}, bins {above}"
        binner, spent = _fitted(name, kind, given, numbers, above, n_bins=6, epsilon=epsilon)
        stated = binner.spent_epsilon or 0.0
        yield f"stated as spent, {words}", spent.epsilon() * (1 - 1e-9), stated, epsilon * (1 + 1e-9)


def far_record(random):
    """Return a number outside of all bounds."""
    return random.choice([-1.0, 1.0]) * 10 ** random.uniform(3.5, 5.5)


def _bins_of_columns(random):
    """Check that a record far out moves no bin where noise alone decides."""
    epsilon = random.uniform(0.5, 8)
    for name, kind, given, numbers, above in _settings(random):
        far = far_record(random)
        for n_bins in (6, "auto"):
            neighbours = {"one record replaced": [far, *numbers[1:]]}
            if n_bins != "auto":  # the number of bins depends on that of the records
                neighbours.update({"one record more": [far, *numbers], "one record less": numbers[1:]})
            more = {"n_bins": n_bins, "epsilon": epsilon}
            words = f"{name}, kind {kind}, {more!r}, bounds {given!r}, bins {above}"
            edges = _edges(name, kind, given, numbers, above, more)
            for neighbour, others in neighbours.items():
                found = _edges(name, kind, given, others, above, more)
                moved = max(map(_apart, edges, found)) if len(edges) == len(found) else math.inf
                yield f"edges that move, {neighbour}, {far!r}, {words}", 0.0, moved, 0.0


def _edges_of_columns(random):
    """Compare edges of bins with their definition."""
    epsilon = random.uniform(0.5, 8)
    for name, kind, given, numbers, above in _settings(random):
        for n_bins in (6, "auto"):
            more = {"n_bins": n_bins, "epsilon": epsilon}
            words = f"{name}, kind {kind}, {more!r}, bounds {given!r}, bins {above}"
            edges = _edges(name, kind, given, numbers, above, more)
            yield from _ends(edges, given, above, words)
            if name == "UniformBinner":
                bins = 6 if n_bins == 6 else math.ceil(max(2 * _SIZE ** (1 / 3) / (1 + math.exp(-epsilon)), 5))
                yield f"bins, {words}", bins, len(edges) - 1, bins
                for place, edge in enumerate(edges):
                    exact = edges[0] + (edges[-1] - edges[0]) * place / bins
                    yield (f"edge {place}, {words}", *near(edge, exact, 0.0, _rounding(edges)))


def _apart(one, other):
    return abs(one - other)


def _rounding(edges):
    """Return the error of edges, which are in single precision; those of dates and durations are whole seconds."""
    return 1e-3 + 1e-6 * max(map(abs, edges))


def _edges(name, kind, given, numbers, above, more):
    """Return the edges of the bins of a column, as numbers."""
    binner, _ = _fitted(name, kind, given, numbers, above, **more)
    return [as_number(kind, edge) for edge in binner.bins]


def _ends(edges, given, above, words):
    """Compare the ends of the bins with the bounds: given ones if both are, and else those of the noise."""
    noisy = _EDGES[above[0]], _EDGES[above[-1] + 1]
    for side, found, bound, other in zip(("lower", "upper"), (edges[0], edges[-1]), _BOUNDS, noisy):
        allowed = [bound] if len(given) == 2 else [bound, other] if side in given else [other]
        yield f"{side} end, {allowed}, {words}", 0.0, min(abs(found - one) for one in allowed), _rounding(edges)


def _numbers_of_bins(name, size, fits):
    """Return how often a binner of epsilon 1, with given bounds and by default, has some number of bins."""
    numbers, seen = np.linspace(0, 100, size), collections.Counter()
    for _ in range(fits):
        binner = _BINNERS[name](n_bins="auto", epsilon=1.0, lower=0.0, upper=100.0)
        binner.fit(numbers)
        seen[len(binner.bins) - 1] += 1
    return seen


def _number_is_noisy(name, fits=100):
    """Return whether no number of bins that most fits have is impossible with one record more or less.

    The sizes are those at which even bins change their number. Of 100 fits with an epsilon of 1, 50 and none have a
    number with a probability below 1e-8.
    """
    single = [next(iter(_numbers_of_bins("UniformBinner", size, 1))) for size in range(30, 121)]
    for size, (one, other) in enumerate(itertools.pairwise(single), 30):
        if one != other:
            seen = [_numbers_of_bins(name, records, fits) for records in (size, size + 1)]
            for often, also in (seen, seen[::-1]):
                if any(2 * times >= fits and not also[number] for number, times in often.items()):
                    return False
    return True


def bound_cases():
    """Yield the cases of bounds and of bins of columns."""
    numbers = {f"{name}, auto: the number is noisy": lambda name=name: _number_is_noisy(name) for name in _BINNERS}
    yield Relations("dpmm.processing.binners, number of bins", {}, numbers, unsafe=dict.fromkeys(numbers, "either"))
    bounds = {"a record is in one bin": _bins_of_bounds}
    yield Relations("approx_bounds", bounds, unsafe=dict.fromkeys(bounds, "above"))
    bins = {"a column spends its epsilon": _budget_of_a_column, "a record far out moves no bin": _bins_of_columns}
    stated = {"a column states what it spends": _stated_of_a_column}
    yield Relations(
        "dpmm.processing.binners",
        {**bins, **stated, "edges of bins are those of the bounds": _edges_of_columns},
        unsafe=dict.fromkeys(bins, "above"),
        understated=[*stated],
    )
