"""Preprocessing of dpmm: bounds and bins from records with noise, the split of epsilon, and columns of a table."""

from __future__ import annotations

import functools
import itertools
import logging
import math

import numpy as np
import pandas as pd
from dpmm.pipelines import MSTPipeline
from dpmm.processing import binners, utils
from dpmm.processing.table_binner import TableBinner
from opendp.mod import enable_features
from opendp.prelude import absolute_distance, atom_domain

from dpassay.adapter import Mechanism, Nonsense, Relations
from dpassay.impl.libraries.references import near

logging.getLogger("dpmm").setLevel(logging.CRITICAL)


class _Noise:
    """Laplace noise of the library, through one function."""

    make = staticmethod(utils.make_laplace)

    @staticmethod
    def add(value, scale):
        """Return a value with noise."""
        enable_features("floating-point", "contrib")
        return _Noise.make(atom_domain(T=float), absolute_distance(T=float), scale)(float(value))


def _measurement(*_, scale):
    """Stand for the constructor that bounds are made with, and pass noise through one function."""
    return lambda value: _Noise.add(value, scale)


utils.make_laplace = _measurement


_FAR = 1e4
"""Noise that alone decides about a bin: counts and thresholds of the relation are far below."""


def _bins_of_bounds(random):
    """Compare what reaches the noise on neighbours: one bin moves by 1, and all have noise of one scale.

    The noise is known, and exceeds the threshold in a few bins: the bounds are their outer edges.
    """
    epsilon, size = random.uniform(0.3, 5), random.randint(1, 9)
    values = [random.choice([-1.0, 1.0]) * 2 ** random.uniform(-3, 36) for _ in range(size + 1)]
    edges = [*(-(2.0**k) for k in reversed(range(32))), 0.0, *(2.0**k for k in range(32))]
    above = sorted(random.sample(range(len(edges) - 1), 3))
    noises, bounds = [], []
    for table in (values, values[1:]):
        seen = []

        def add(value, scale, seen=seen):
            seen.append((value, scale))
            return value + (_FAR if len(seen) - 1 in above else -_FAR)

        kept, _Noise.add = _Noise.add, staticmethod(add)
        try:
            bounds.append(utils.approx_bounds(np.array(table), epsilon))
        finally:
            _Noise.add = staticmethod(kept)
        noises.append(seen)
    words = f"epsilon {epsilon!r}, {values!r}"
    moved = [abs(x - y) for (x, _), (y, _) in zip(*noises)]
    yield f"bins that move, {words}", 0.0, math.fsum(moved), 1.0
    yield f"bins with noise, {words}", 64, len(noises[0]), 64
    for scale in sorted({scale for seen in noises for _, scale in seen}):
        yield (f"scale, {words}", *near(scale, 1 / epsilon))
    exact = edges[above[0]], edges[above[-1] + 1]
    for number, ends in enumerate(bounds):
        for name, end, edge in zip(("lower", "upper"), ends, exact):
            found = math.nan if end is None else float(end)
            yield f"{name} bound {number}, much noise in the bins {above}, {words}", edge, found, edge


# --- trees of bins ----------------------------------------------------------------------------------------------


def _above(scale, distance):
    """Return the probability that Laplace noise exceeds a distance."""
    return 0.5 * math.exp(-distance / scale) if distance > 0 else 1 - 0.5 * math.exp(distance / scale)


def _leaves(data, low, width, epsilon, bins):
    """Return the probabilities of the bins of a tree that splits at most twice (Zhang and others 2016)."""
    scale = 3 / epsilon
    decay, threshold = scale * math.log(2), len(data) / bins

    def splits(records, depth):
        biased = max(len(records) - depth * decay, threshold - decay)
        return _above(scale, threshold - biased)

    root = splits(data, 0)
    ends = np.array([low, low + width], np.float32)  # as the library rounds them
    middle = ends[0] + (ends[1] - ends[0]) / np.float32(2)
    first = splits([x for x in data if x < middle], 1)
    second = splits([x for x in data if x >= middle], 1)
    quarters = [a + (b - a) / np.float32(2) for a, b in ((ends[0], middle), (middle, ends[1]))]
    # with at most three bins the right half may split only if the left one did not
    return {
        (ends[0], ends[1]): 1 - root,
        (ends[0], quarters[0], middle, ends[1]): root * first,
        (ends[0], middle, quarters[1], ends[1]): root * (1 - first) * second,
        (ends[0], middle, ends[1]): root * (1 - first) * (1 - second),
    }


def _tree(epsilon, low, width, size):
    def bins(data):
        binner = binners.PrivTreeBinner(n_bins=3, epsilon=epsilon, lower=low, upper=low + width)
        binner.fit(np.array(data))
        return " ".join(repr(float(edge)) for edge in binner.bins)

    def distribution(data):
        found = _leaves(data, low, width, epsilon, 3)
        symbols = [" ".join(repr(float(edge)) for edge in edges) for edges in found]
        return {"family": "finite", "symbols": symbols, "probabilities": list(found.values())}

    return Mechanism(
        f"PrivTreeBinner({epsilon=}, {low=}, {width=}, {size=})",
        f"records:low={low - width!r},high={low + 2 * width!r},size={size},max-size={size + 1},relation=add-remove",
        f"pure:{epsilon!r}",
        sample_one=bins,
        distribution=distribution,
        floats=False,
        slow=True,
        call=(
            "import numpy as np\nfrom dpmm.processing.binners import PrivTreeBinner\n"
            f"tree = PrivTreeBinner(n_bins=3, epsilon={epsilon!r}, lower={low!r}, upper={low + width!r})\n"
            "tree.fit(np.array({data}))\nprint(tree.bins)"
        ),
    )


# --- budgets ----------------------------------------------------------------------------------------------------


def _scales(call):
    """Return what a call returns, and the scales of its Laplace noise."""
    scales = []
    kept = _Noise.add, binners.laplace_noise

    def add(value, scale):
        scales.append(float(scale))
        return kept[0](value, scale)

    def draw(scale, size=None):
        scales.append(float(scale))
        return kept[1](scale, size)

    _Noise.add, binners.laplace_noise = staticmethod(add), draw
    try:
        return call(), scales
    finally:
        _Noise.add, binners.laplace_noise = staticmethod(kept[0]), kept[1]


def _column(random, size=60):
    low = random.uniform(-500, 400)
    return np.array([low + random.uniform(0, 90) for _ in range(size)])


def _budget_of_a_column(random):
    """Compare the noise of bounds and trees, which share the epsilon, with what each is made for."""
    epsilon, values = random.uniform(0.5, 8), _column(random)
    low, high = float(values.min()), float(values.max())
    words = f"epsilon {epsilon!r}, {_in_words(values)}"
    for name, binner, exact in (
        ("PrivTreeBinner", binners.PrivTreeBinner(n_bins=6, epsilon=epsilon), [2 / epsilon, 6 / epsilon]),
        (
            "PrivTreeBinner, bounds given",
            binners.PrivTreeBinner(n_bins=6, epsilon=epsilon, lower=low, upper=high),
            [3 / epsilon],
        ),
        ("UniformBinner", binners.UniformBinner(n_bins=6, epsilon=epsilon), [1 / epsilon]),
    ):
        try:
            _, scales = _scales(functools.partial(binner.fit, values))
        except (TypeError, ValueError):  # no bin exceeds the threshold: bounds are not found
            continue
        yield f"{name}, spent, {words}", 0.0, binner.spent_epsilon, epsilon * (1 + 1e-9)
        for scale in exact:
            found = min(scales, key=lambda one: abs(one - scale))
            yield (f"{name}, a scale of {scale:.6g}, {words}", *near(found, scale))
        for found in sorted(set(scales)):
            yield f"{name}, no other scale than {exact}, {words}", min(exact) * (1 - 1e-9), found, math.inf
    uniform = binners.UniformBinner(n_bins=6, epsilon=epsilon, lower=low, upper=high)
    _, scales = _scales(lambda: uniform.fit(values))
    yield f"UniformBinner, bounds given, noises, {words}", 0, len(scales), 0
    for place, edge in enumerate(uniform.bins):
        exact = low + (high - low) * place / 6
        yield (f"UniformBinner, edge {place}, {words}", *near(float(edge), exact, 1e-5, 1e-4))


def _in_words(values):
    """Return a column in few words."""
    return f"{len(values)} records from {values.min()!r} to {values.max()!r}"


def _budget_of_a_tree(random):
    """Compare the scale, the bias by depth and the ends of a tree with their definitions."""
    epsilon, values = random.uniform(0.5, 8), _column(random)
    binner = binners.PrivTreeBinner(n_bins=6, epsilon=epsilon, lower=-500.0, upper=500.0)
    binner.fit(values)
    words = f"epsilon {epsilon!r}, {_in_words(values)}"
    yield (f"scale, {words}", *near(binner.scale, 3 / epsilon))
    yield (f"decay, {words}", *near(binner.decay, 3 / epsilon * math.log(2)))
    ends = [(binner.bins[0], -500.0), (binner.bins[-1], 500.0)]
    for found, exact in ends:
        yield (f"end {exact}, {words}", *near(float(found), exact))


def _budget_of_a_table(random):
    """Check that columns share the epsilon of the table."""
    epsilon, columns = random.uniform(3, 30), random.randint(2, 4)
    table = pd.DataFrame({f"n{place}": _column(random, 80) for place in range(columns)})
    table["kind"] = ["u", "v"] * 40
    kind = random.choice(["priv-tree", "uniform"])
    known = random.random() < 0.5
    domain = {"kind": {"categories": ["u", "v", "w"]}}
    if known:
        domain.update({f"n{place}": {"lower": -500.0, "upper": 500.0} for place in range(columns)})
    binner = TableBinner(kind, {"epsilon": epsilon, "n_bins": 6}, domain=domain)
    words = f"{kind}, epsilon {epsilon!r}, {columns} columns, bounds given {known}"
    try:
        _, scales = _scales(lambda: binner.fit(table))
    except (TypeError, ValueError):
        return
    spent = math.fsum(part or 0.0 for part in binner.spent_epsilon.values())
    yield f"spent, {words}", 0.0, spent, epsilon * (1 + 1e-9)
    if kind == "uniform" and known:
        yield f"noises, {words}", 0, len(scales), 0
    else:
        factor = 3 if known else 2 if kind == "priv-tree" else 1
        yield f"least scale, {words}", factor * columns / epsilon * (1 - 1e-9), min(scales), math.inf
    yield f"size of the categories, {words}", 3, binner.bin_domain["kind"], 3


# --- columns ----------------------------------------------------------------------------------------------------

_DOMAIN = {"a": {"categories": ["x", "y"]}, "b": {"categories": ["u", "v"]}, "n": {"lower": 0.0, "upper": 8.0}}


def _table(data, value):
    return pd.DataFrame({
        "a": [value(x) for x in data],
        "b": ["u" if place % 2 else "v" for place in range(len(data))],
        "n": [float(place % 7) for place in range(len(data))],
    })  # fmt: skip


def _columns(values):
    """Return the columns and sizes of a fitted table: the model, and so what it releases, has them."""
    table = pd.DataFrame({"a": values, "b": ["u", "v"] * 3, "n": np.arange(6.0)})
    binner = TableBinner("uniform", {"epsilon": 0.7, "n_bins": 4}, domain=dict(_DOMAIN))
    binner.fit(table)
    return sorted(f"{name}: {size}" for name, size in binner.bin_domain.items())


def _fixed_bins(random):
    """Check that records outside the bounds, or without a category, change no bin of a given domain."""
    left = _table([0.2, 0.9, 0.1, 0.8], lambda x: "x" if x < 0.5 else "y")
    right = left.copy()
    right.loc[0, "n"] = random.choice([-1.0, 1.0]) * 10 ** random.uniform(1, 9)
    right.loc[1, "b"] = right.loc[3, "b"]
    fitted = []
    for table in (left, right):
        binner = TableBinner("uniform", {"epsilon": 0.7, "n_bins": 4}, domain=dict(_DOMAIN))
        codes = binner.fit_transform(table)
        fitted.append((binner, codes))
    words = repr(right.to_dict("list"))
    edges = [list(map(float, binner.binners["n"].bins)) for binner, _ in fitted]
    for place, (one, other) in enumerate(itertools.zip_longest(*edges, fillvalue=math.nan)):
        yield (f"edge {place}, {words}", *near(other, one))
    for name in "ab":
        one, other = (binner.bin_domain[name] for binner, _ in fitted)
        yield f"size of {name}, {words}", one, other, one
    codes = fitted[1][1]
    for name in codes:
        yield f"codes of {name}, {words}", 0, int(codes[name].min()), 9
        yield f"codes of {name} below the size, {words}", 0, int(codes[name].max()), fitted[1][0].bin_domain[name] - 1
    unchanged = int((fitted[0][1].iloc[2:] == codes.iloc[2:]).all().all())
    yield f"other records keep their codes, {words}", 1, unchanged, 1


def _pipeline_budgets(random):
    """Check that the pipeline hands its two budgets on."""
    epsilon, delta, part = random.uniform(0.3, 5), 10 ** random.uniform(-9, -3), random.uniform(0.1, 3)
    pipeline = MSTPipeline(epsilon=epsilon, delta=delta, proc_epsilon=part, n_jobs=1)
    words = f"epsilon {epsilon!r}, delta {delta!r}, proc_epsilon {part!r}"
    yield (f"epsilon, {words}", *near(pipeline.gen.generator.epsilon, epsilon))
    yield (f"delta, {words}", *near(pipeline.gen.generator.delta, delta, 1e-9, 0.0))
    yield (f"proc_epsilon, {words}", *near(pipeline.proc.binner_settings["epsilon"], part))
    yield f"binner, {words}", 1.0, float(pipeline.proc.binner_type == "priv-tree"), 1.0


def processing_cases():
    """Yield the cases of preprocessing."""
    yield Relations(
        "dpmm.processing, budgets",
        {
            "a column spends its epsilon": _budget_of_a_column,
            "a tree has its thresholds": _budget_of_a_tree,
            "columns share the epsilon": _budget_of_a_table,
            "pipelines hand budgets on": _pipeline_budgets,
            "a given domain is kept": _fixed_bins,
        },
    )
    yield Relations("approx_bounds", {"a record is in one bin": _bins_of_bounds})
    yield _tree(2.5, -12.5, 20.0, 6)
    yield Relations(
        "TableBinner, columns",
        {},
        {
            "a column with one value is kept": lambda: _columns([*"xxxxxx"]) == _columns([*"xxxxxy"]),
            "a missing value adds no column": lambda: _columns([*"xxxyy", None]) == _columns([*"xxxyyy"]),
        },
    )


def processing_refusals():
    """Yield invalid calls."""
    values, nan = np.arange(40.0), math.nan

    def bounds(epsilon):
        return lambda: utils.approx_bounds(values, epsilon)

    def tree(**named):
        return lambda: binners.PrivTreeBinner(**{"n_bins": 4, "epsilon": 1.0, **named}).fit(values)

    yield Nonsense(
        "dpmm.processing, invalid",
        {
            **{f"approx_bounds, epsilon={value}": bounds(value) for value in (0.0, -1.0, nan)},
            **{f"PrivTreeBinner, epsilon={value}": tree(epsilon=value, lower=0.0, upper=9.0) for value in (-1.0, nan)},
            "PrivTreeBinner, bounds in the wrong order": tree(lower=9.0, upper=0.0),
            "n_bins=0": tree(n_bins=0, lower=0.0, upper=9.0),
        },
    )
