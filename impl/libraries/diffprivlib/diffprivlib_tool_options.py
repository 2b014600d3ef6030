"""Relations of diffprivlib: budgets and sensitivities of tools whose options are off their defaults.

Every mechanism returns its value unchanged and is noted. For each combination of axis, `keepdims`, type and bounds the
entries of an answer share the epsilon that was asked for, no less and no more; the deltas are 0; sensitivities are
those of the bounds, or of what is read from the data where bounds are omitted.
"""

from __future__ import annotations

import itertools
import math
import warnings

import numpy as np
from diffprivlib import tools
from diffprivlib.accountant import BudgetAccountant
from diffprivlib_calls import spent, without_noise
from diffprivlib_comparisons import accounted, apart, at_least, at_most, charged, enough, protecting, protects, spends

from dpassay.adapter import Relations
from dpassay.impl.libraries.references import near

__all__ = ["tool_option_relations"]

_BOTH = (False, True)
_AXES = (((3, 4), None), ((3, 4), 0), ((4, 3), -1), ((3, 2, 2), (0, 2)), ((2, 3, 2), 1))
_AGGREGATES = ("mean", "sum", "var", "std", "nanmean", "nansum", "nanvar", "nanstd")
_OF_FLOAT32 = 1e-5
"""Slack, relative and absolute, where numbers are rounded to float32."""


def _asked(name, *given, **more):
    """Return the answer of a tool without noise, the calls of mechanisms, and what is spent."""
    account = BudgetAccountant()
    with without_noise() as calls, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # bounds that are omitted, and parameters that are not used
        found = getattr(tools, name)(*given, accountant=account, **more)
    return found, calls, account.total()[0]


def _shared(words, calls, paid, epsilon, count):
    """Compare `count` calls that see the same records with one epsilon."""
    yield charged(words, paid, epsilon)
    yield f"{words}: calls", float(count), float(len(calls)), float(count)
    yield spends((f"{words}: epsilons", *near(spent(calls), epsilon)))
    yield spends((f"{words}: delta", 0.0, max(float(call.of.delta) for call in calls), 0.0))


def _sensitivity(name, width, size):
    """Return by how much an aggregate of `size` numbers in an interval changes with one of them."""
    if "mean" in name:
        return width / size
    return width if "sum" in name else (width / size) ** 2 * (size - 1)


def _aggregates(random):
    """Check aggregates over axes, whose dimensions are kept or not, in types, with and without bounds."""
    generator = np.random.RandomState(random.getrandbits(31))
    for name, (shape, axis), kept, given in itertools.product(_AGGREGATES, _AXES, _BOTH, ("one", "each", "omitted")):
        epsilon, low, width = random.uniform(0.3, 3), random.uniform(-9, 5), random.uniform(2, 9)
        dtype = random.choice([None, float, np.float32])
        array = low + width * generator.uniform(-0.5, 1.5, shape)
        exact = getattr(np, name)(array, axis=axis, keepdims=kept)
        if given == "each" and np.ndim(exact) != 1:
            continue  # bounds of entries are for answers of one dimension
        lows, widths, more = low, width, {}
        if given == "each":
            lows, widths = low - np.arange(exact.size), width + 2 * np.arange(exact.size)
        if given == "omitted":
            lows, widths = array.min(), np.ptp(array)
        else:
            more = {"bounds": (lows, lows + widths)}
        words = f"{name}, {shape}, axis {axis}, keepdims {kept}, dtype {dtype}, bounds {given}, epsilon {epsilon!r}"
        found, calls, paid = _asked(name, array, epsilon=epsilon, axis=axis, keepdims=kept, dtype=dtype, **more)
        ends = lows, lows + widths
        if given == "each":
            along = array.mean(axis=axis, keepdims=True).shape
            ends = [np.reshape(one, along) for one in ends]
        exact = getattr(np, name)(np.clip(array, *ends), axis=axis, keepdims=kept)
        yield from _shared(words, calls, paid, epsilon, np.size(exact))
        yield apart(f"{words}: answer", found, exact, _OF_FLOAT32)
        least = _sensitivity(name, np.broadcast_to(widths, np.size(exact)), array.size // np.size(exact))
        made_for = [float(call.of.sensitivity) for call in calls]
        yield apart(f"{words}: sensitivities", made_for, least, _OF_FLOAT32)
        yield enough(f"{words}: sensitivities", made_for, least, _OF_FLOAT32)
        # parameters of numpy that are documented as not used change neither the answer nor the noise
        _, others, _ = _asked(
            name, array, epsilon=epsilon, axis=axis, keepdims=kept, dtype=dtype, ddof=1, out=None, **more
        )
        made = [[(c.value, c.of.epsilon, c.of.sensitivity) for c in one] for one in (others, calls)]
        yield apart(f"{words}: with parameters that are not used", *made)


def _whole_numbers(random):
    """Check sums of integers and counts over axes: their noise is that of integers."""
    generator = np.random.RandomState(random.getrandbits(31))
    for (shape, axis), kept, dtype in itertools.product(_AXES, _BOTH, (int, np.int64)):
        epsilon, low, width = random.uniform(0.3, 3), random.randint(-5, 2), random.randint(2, 6)
        numbers = generator.randint(low - 3, low + width + 3, shape)
        options = {"epsilon": epsilon, "axis": axis, "keepdims": kept}
        words = f"{shape}, axis {axis}, keepdims {kept}, epsilon {epsilon!r}"
        sums = np.clip(numbers, low, low + width).sum(axis=axis, keepdims=kept)
        counts = np.count_nonzero(numbers, axis=axis, keepdims=kept)
        summed = _asked("sum", numbers, bounds=(low, low + width), dtype=dtype, **options)
        for name, (found, calls, paid), exact, least in (
            ("sum", summed, sums, width),
            ("nansum", _asked("nansum", numbers, bounds=(low, low + width), dtype=dtype, **options), sums, width),
            ("count_nonzero", _asked("count_nonzero", numbers, **options), counts, 1),
        ):
            yield from _shared(f"{name}, {words}", calls, paid, epsilon, np.size(exact))
            yield apart(f"{name}, {words}: answer", found, exact)
            of = [float(call.of.sensitivity) for call in calls]
            yield apart(f"{name}, {words}: sensitivities", of, [float(least)] * len(calls))
            yield enough(f"{name}, {words}: sensitivities", of, [float(least)] * len(calls))
            whole = sum(call.name.startswith("Geometric") for call in calls)
            yield f"{name}, {words}: integer noise", float(len(calls)), float(whole), float(len(calls))


def _quantiles(random):
    """Check quantiles over axes: entries and quantiles share epsilon, and measures have the length of the bounds."""
    generator = np.random.RandomState(random.getrandbits(31))
    names = ("quantile", "percentile", "median")
    for name, (shape, axis), kept, given in itertools.product(names, _AXES, _BOTH, ("one", "omitted")):
        epsilon, low, width = random.uniform(0.3, 3), random.uniform(-9, 5), random.uniform(2, 9)
        array = low + width * generator.uniform(-0.5, 1.5, shape)
        quants = [0.5] if name == "median" else [random.uniform(0.1, 0.9) for _ in range(random.randint(2, 3))]
        asked = () if name == "median" else (np.multiply(quants, 100 if name == "percentile" else 1),)
        bounds = (low, low + width) if given == "one" else (array.min(), array.max())
        more = {"bounds": bounds} if given == "one" else {}
        words = f"{name} {quants}, {shape}, axis {axis}, keepdims {kept}, bounds {given}, epsilon {epsilon!r}"
        found, calls, paid = _asked(name, array, *asked, epsilon=epsilon, axis=axis, keepdims=kept, **more)
        entries = array.mean(axis=axis, keepdims=kept)
        of_all = (len(quants), *np.shape(entries)) if len(quants) > 1 else np.shape(entries)
        yield apart(f"{words}: shape", [*np.shape(found), 0], [*of_all, 0])
        yield from _shared(words, calls, paid, epsilon, len(quants) * np.size(entries))
        size = array.size // np.size(entries)
        for place, call in enumerate(calls):
            one = quants[min(place // np.size(entries), len(quants) - 1)]
            yield apart(f"{words}: utilities {place}", call.value, -np.abs(np.arange(size + 1) - one * size))
            # the utility moves by 1 at most where a record is replaced, up or down
            yield protects(
                at_least(f"{words}: sensitivity {place}", call.of.sensitivity * (2 - call.of.monotonic), 2.0)
            )
            yield (f"{words}: measure {place}", *near(math.fsum(call.of.measure), bounds[1] - bounds[0], 1e-8))


def _histograms(random):
    """Check that each bin has the whole epsilon, for weights of at most 1 and in each form of bins.

    The noise is made for records that count once at most: larger weights, which need more, are a known fault.
    """
    generator = np.random.RandomState(random.getrandbits(31))
    low, width = random.uniform(-5, 3), random.uniform(2, 7)
    array = low + width * generator.uniform(-0.4, 1.4, (30, 3))
    limits = [(low - k, low + width + k) for k in range(3)]
    edges = [np.array([low, low + 0.3 * width, low + width]), np.array([low - 1, low, low + 0.6 * width, low + width])]
    weighted = (None, np.ones(30), generator.randint(0, 2, 30).astype(float), generator.uniform(0, 1, 30))
    square, uneven = {"bins": 2, "range": limits}, {"bins": [2, 3, 1], "range": limits}
    for name, records, forms in (
        ("histogram", (array[:, 0],), ({"bins": 4, "range": limits[1]}, {"bins": edges[1]}, {"bins": 3})),
        (
            "histogramdd",
            (array,),
            (square, uneven, {"bins": [*edges, edges[0]]}, {"bins": 2}),
        ),
        (
            "histogram2d",
            (array[:, 0], array[:, 1]),
            ({"bins": [2, 3], "range": limits[:2]}, {"bins": edges}, {"bins": edges[1]}, {"bins": [2, edges[0]]}),
        ),
    ):  # fmt: skip
        for more, density, (kind, weights) in itertools.product(forms, (None, *_BOTH), enumerate(weighted)):
            epsilon = random.uniform(0.3, 3)
            words = f"{name}, {more}, density {density}, weights {kind}, epsilon {epsilon!r}"
            found, calls, paid = _asked(name, *records, epsilon=epsilon, density=density, weights=weights, **more)
            exact, *cuts = getattr(np, name)(*records, weights=weights, **more)
            exact = np.floor(exact)  # counts are integers
            yield charged(words, paid, epsilon)
            yield spends((f"{words}: delta", 0.0, max(float(call.of.delta) for call in calls), 0.0))
            yield apart(f"{words}: counts", [call.value for call in calls], exact.ravel())
            made = [(call.of.epsilon, float(call.of.sensitivity), call.of.lower) for call in calls]
            yield apart(f"{words}: what the noise is made for", made, [(epsilon, 1.0, 0.0)] * exact.size)
            yield spends(at_most(f"{words}: largest epsilon", max(own for own, _, _ in made), epsilon))
            yield protects(at_least(f"{words}: least sensitivity", min(own for _, own, _ in made), 1.0))
            if density:
                cuts = cuts[0] if name == "histogramdd" else cuts
                sizes = np.diff(cuts[0])
                for cut in cuts[1:]:
                    sizes = np.multiply.outer(sizes, np.diff(cut))
                exact = exact / sizes / max(exact.sum(), 1.0)
            yield apart(f"{words}: answer", found[0], exact)


def tool_option_relations():
    """Yield the relations."""
    answers = {
        "aggregates": _aggregates,
        "sums of integers and counts": _whole_numbers,
        "quantiles": _quantiles,
        "histograms": _histograms,
    }
    kept, accounts = protecting(answers), accounted(answers)
    yield Relations(
        "tools, options off their defaults",
        {**answers, **kept, **accounts},
        unsafe=dict.fromkeys(kept, "either"),
        understated=list(accounts),
    )
