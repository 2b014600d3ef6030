"""Preprocessing of dpmm: trees of bins, the split of epsilon among columns, and the columns of a table."""

from __future__ import annotations

import copy
import functools
import itertools
import logging
import math
from contextlib import contextmanager
from unittest import mock

import numpy as np
import pandas as pd
from dpmm.pipelines import MSTPipeline
from dpmm.processing import binners, utils
from dpmm.processing.table_binner import TableBinner
from dpmm_bounds import KINDS, as_number, column, decided, far_record, of_kind, some_bins, some_bounds
from dpmm_noise import agrees

from dpassay.adapter import Mechanism, Nonsense, Relations
from dpassay.impl.libraries.references import near

logging.getLogger("dpmm").setLevel(logging.CRITICAL)


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


def _grown(data, epsilon, bins, depth, path):
    """Return a tree that is split everywhere up to a depth, and in its first cell `path` times more."""
    cells = 2**depth
    splits = [True] * cells + [False] * (cells - 1) + [True, False] * (path - 1) + [False] * 2
    noise = (1e9 if split else -1e9 for split in splits)
    binner = binners.PrivTreeBinner(n_bins=bins, epsilon=epsilon, lower=0.0, upper=1.0)
    with mock.patch.object(binners, "laplace_noise", side_effect=noise):
        binner.fit(data)
    return binner


def _logarithm(binner):
    """Return the logarithm of the probability of the bins of a tree that its largest number does not stop."""
    parts = []
    for node, records in binner.counts.items():
        biased = max(records - binner.depths[node] * binner.decay, binner.theta - binner.decay)
        above = _above(binner.scale, binner.theta - biased)
        parts.append(math.log(above if node in binner.children else 1 - above))
    return math.fsum(parts)


def _loss_of_a_tree():
    """Return the loss over epsilon of the bins of a deep tree, where one record is added in its deepest cell.

    The path to this cell is as long as the bias of each depth allows, and other leaves are above the threshold. It is
    NaN where the bins are not those, so that nothing is known.
    """
    epsilon, bins, threshold, depth, path = 0.1, 71, 1160, 6, 6
    cells, decay = 2**depth, 3 / epsilon * math.log(2)
    first = math.ceil(threshold + (depth + path - 2) * decay)
    others = np.arange(bins * threshold - first) % (cells - 1) + 1.5  # the middles of the other cells
    data = np.concatenate([np.zeros(first), others / cells])
    one, other = (_grown(values, epsilon, bins, depth, path) for values in (data, np.append(data, 0.0)))
    same = one.bins == other.bins and len(one.bins) - 1 == cells + path < bins
    return (_logarithm(other) - _logarithm(one)) / epsilon if same else math.nan


def _loses_at_most(most):
    return lambda _: [("loss over epsilon", 0.0, _loss_of_a_tree(), most)]


# --- budgets ----------------------------------------------------------------------------------------------------


def _column(random, size=60):
    low = random.uniform(-500, 400)
    return np.array([low + random.uniform(0, 90) for _ in range(size)])


def _in_words(values):
    """Return a column in few words."""
    return f"{len(values)} records from {values.min()!r} to {values.max()!r}"


def _budget_of_a_tree(random):
    """Compare the noise, the bias by depth and the ends of a tree with their definitions."""
    epsilon, values = random.uniform(0.5, 8), _column(random)
    more = {"enforce_bins": random.random() < 0.5, "lower": -500.0, "upper": 500.0}
    binner = binners.PrivTreeBinner(n_bins=6, epsilon=epsilon, **more)
    binner.fit(values)
    words = f"epsilon {epsilon!r}, {more!r}, {_in_words(values)}"
    yield (f"cost of the noise, {words}", *near(3 / binner.scale, epsilon))
    yield agrees(f"decay, {words}", binner.decay, 3 / epsilon * math.log(2))
    ends = [(binner.bins[0], -500.0), (binner.bins[-1], 500.0)]
    for found, exact in ends:
        yield agrees(f"end, {words}", found, exact)


def _tables(random):
    """Yield fitted tables with the epsilon and the noise of each column; the first one spends: a bound is missing."""
    epsilon, columns = random.uniform(3, 30), random.randint(2, 4)
    for binner_type in ("priv-tree", "uniform"):
        table, domain = {"kind": ["u", "v"] * 40}, {"kind": {"categories": ["u", "v", "w"]}}
        for place in range(columns):
            kind = random.choice(KINDS)
            table[f"n{place}"] = column(kind, [random.uniform(-500, 500) for _ in range(80)])
            domain[f"n{place}"] = some_bounds(random, kind)
        domain["n0"].pop(random.choice(["lower", "upper"]), None)
        above = some_bins(random, "m")  # those that all kinds can have
        binner = TableBinner(binner_type, {"epsilon": epsilon, "n_bins": 6}, domain=domain)
        words = f"{binner_type}, epsilon {epsilon!r}, domain {domain!r}, bins {above}"
        _, [_, *spent] = decided(functools.partial(binner.fit, pd.DataFrame(table)), above, columns)
        yield words, epsilon, columns, binner, domain, [one.epsilon() for one in spent]


def _budget_of_a_table(random):
    """Check that columns share the epsilon of the table."""
    for words, epsilon, columns, binner, domain, costs in _tables(random):
        yield agrees(f"columns, {words}", len(costs), columns)
        for place, cost in enumerate(costs):
            is_known = binner.binner_type == "uniform" and len(domain[f"n{place}"]) == 2
            yield agrees(f"cost of column {place}, {words}", cost, 0.0 if is_known else epsilon / columns)
        yield f"cost of all columns, {words}", 0.0, math.fsum(costs), epsilon * (1 + 1e-9)
        yield agrees(f"size of the categories, {words}", binner.bin_domain["kind"], 3)


def _stated_of_a_table(random):
    """Compare the epsilon that columns state as spent with the cost of their noise."""
    for words, epsilon, _, binner, _, costs in _tables(random):
        stated = math.fsum(part or 0.0 for part in binner.spent_epsilon.values())
        yield f"stated as spent, {words}", math.fsum(costs) * (1 - 1e-9), stated, epsilon * (1 + 1e-9)


# --- columns ----------------------------------------------------------------------------------------------------

_DOMAIN = {"a": {"categories": ["x", "y"]}, "b": {"categories": ["u", "v"]}, "n": {"lower": 0.0, "upper": 8.0}}


def _columns(values):
    """Return the columns and sizes of a fitted table: the model, and so what it releases, has them."""
    table = pd.DataFrame({"a": values, "b": ["u", "v"] * 3, "n": np.arange(6.0)})
    binner = TableBinner("uniform", {"epsilon": 0.7, "n_bins": 4}, domain=dict(_DOMAIN))
    binner.fit(table)
    return sorted(f"{name}: {size}" for name, size in binner.bin_domain.items())


@contextmanager
def _warnings():
    """Note the warnings of the library."""
    noted, logger = [], logging.getLogger("dpmm")
    handler = logging.Handler(logging.WARNING)
    handler.emit = noted.append
    kept = logger.level, logger.propagate
    logger.setLevel(logging.WARNING)
    logger.propagate = False
    logger.addHandler(handler)
    try:
        yield noted
    finally:
        logger.removeHandler(handler)
        logger.setLevel(kept[0])
        logger.propagate = kept[1]


def _fixed_bins(random):
    """Check that a record far out, and a category that is missing, change no bin where noise alone decides.

    Categories that are not given are read from the records, with a warning.
    """
    far = far_record(random)
    for binner_type, is_given in itertools.product(("priv-tree", "uniform"), (False, True)):
        kind = random.choice(KINDS)
        left = pd.DataFrame({
            "a": [*"xyxyxy"],
            "b": [*"uvwuvu"],
            "n": column(kind, [random.uniform(-500, 500) for _ in range(6)]),
        })  # fmt: skip
        right = left.copy()
        right.loc[0, "n"] = of_kind(kind, far)
        right.loc[2, "b"] = "u"  # no other record has this category
        domain = {"a": {"categories": ["x", "y"]}, "n": some_bounds(random, kind)}
        domain["b"] = {"categories": ["u", "v", "w"]} if is_given else {}
        above, fitted = some_bins(random, "m"), []
        with _warnings() as warnings:
            for table in (left, right):
                binner = TableBinner(binner_type, {"epsilon": 0.7, "n_bins": 4}, domain=copy.deepcopy(domain))
                codes, _ = decided(functools.partial(binner.fit_transform, table), above, 0)
                fitted.append((binner, codes))
        words = f"{binner_type}, domain {domain!r}, bins {above}, {right.to_dict('list')!r}"
        edges = [[as_number(kind, edge) for edge in binner.binners["n"].bins] for binner, _ in fitted]
        yield f"edges move, {words}", 0.0, float(edges[0] != edges[1]), 0.0
        one, other = (binner.bin_domain for binner, _ in fitted)
        for name in ("a", "b") if is_given else ("a",):
            yield f"size of {name} moves, {words}", 0.0, abs(one[name] - other[name]), 0.0
        yield agrees(f"records with categories that are read, and warnings, {words}", bool(warnings), not is_given)
        for name, codes in fitted[1][1].items():
            are_codes = 0 <= codes.min() <= codes.max() < other[name]
            yield f"codes of {name}, {codes.tolist()}, below {other[name]}, {words}", 1.0, float(are_codes), 1.0
        kept = [place for place in range(6) if place not in (0, 2)]
        names = ["a", "b", "n"] if is_given else ["a", "n"]
        unchanged = bool((fitted[0][1].loc[kept, names] == fitted[1][1].loc[kept, names]).all().all())
        yield f"other records keep their codes, {words}", 1.0, float(unchanged), 1.0


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
    budgets = {
        "a tree has its thresholds": _budget_of_a_tree,
        "columns share the epsilon": _budget_of_a_table,
        "pipelines hand budgets on": _pipeline_budgets,
        "a given domain is kept": _fixed_bins,
    }
    stated = {"columns state what they spend": _stated_of_a_table}
    yield Relations(
        "dpmm.processing, budgets",
        {**budgets, **stated},
        unsafe=dict.fromkeys(budgets, "above"),
        understated=[*stated],
    )
    yield _tree(2.5, -12.5, 20.0, 6)
    losses = {
        "a record loses at most epsilon": _loses_at_most(1 + 1e-9),
        "a record loses less than 1.127 epsilon": _loses_at_most(1.127),
    }
    columns = {
        "a column with one value is kept": lambda: _columns([*"xxxxxx"]) == _columns([*"xxxxxy"]),
        "a missing value adds no column": lambda: _columns([*"xxxyy", None]) == _columns([*"xxxyyy"]),
    }
    yield Relations("PrivTreeBinner, a deep tree", losses, unsafe=dict.fromkeys(losses, "above"))
    yield Relations("TableBinner, columns", {}, columns, unsafe=dict.fromkeys(columns, "either"))


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
