"""Relations of diffprivlib: answers without noise, and what the noise of each aggregate is made for.

Every mechanism returns its value unchanged and is noted. Then an aggregate is that of numpy on clipped records, the
epsilons of its mechanisms add up to at most the one that was asked for, no sensitivity is below the exact one, and
what the noise is made for does not depend on the records. Entries of one answer must have noise of their own.
"""

from __future__ import annotations

import contextlib
import math
from types import SimpleNamespace

import numpy as np
from diffprivlib import mechanisms, tools, validation
from diffprivlib.accountant import BudgetAccountant
from diffprivlib_comparisons import accounted, at_least, at_most, charged, protecting, protects, spends, understates

from dpassay.adapter import Relations
from dpassay.impl.libraries.references import composition_bounds, composition_delta, many_equal_steps, near
from dpassay.impl.libraries.refusing import raises

__all__ = ["call_relations", "spent", "without_noise"]

_NOTED = (
    "Laplace",
    "LaplaceTruncated",
    "LaplaceFolded",
    "LaplaceBoundedDomain",
    "Geometric",
    "GeometricTruncated",
    "GeometricFolded",
    "Exponential",
    "PermuteAndFlip",
    "Bingham",
    "Vector",
)
_EXACT = {name: getattr(np, name) for name in ("mean", "sum", "var", "std", "nanmean", "nansum", "nanvar", "nanstd")}


@contextlib.contextmanager
def without_noise():
    """Yield the list of calls of mechanisms, which return what is the most probable without noise.

    A call has the `name` of its class, its `value` (the utilities of a selection) and the mechanism itself, `of`.
    """
    calls, kept = [], {}

    def noted(name):
        def randomise(mechanism, value=None):
            chosen = value
            if name in ("Exponential", "PermuteAndFlip"):
                value = list(mechanism.utility)
                chosen = int(np.argmax(value))
                chosen = mechanism.candidates[chosen] if mechanism.candidates else chosen
            elif name == "Bingham":
                chosen = np.linalg.eigh(value)[1][:, -1]
            calls.append(SimpleNamespace(name=name, value=value, of=mechanism))
            return chosen

        return randomise

    for name in _NOTED:
        cls = getattr(mechanisms, name)
        kept[cls] = cls.randomise
        cls.randomise = noted(name)
    try:
        yield calls
    finally:
        for cls, randomise in kept.items():
            cls.randomise = randomise


def spent(calls):
    """Return the sum of the epsilons of calls that see the same records."""
    return math.fsum(call.of.epsilon for call in calls)


def _made_for(calls):
    """Return what the noise of each call is made for: it must not depend on the records."""
    names = ("epsilon", "delta", "sensitivity", "lower", "upper", "monotonic")
    return [(call.name, *(getattr(call.of, name, None) for name in names)) for call in calls]


# --- aggregates ---------------------------------------------------------------------------------------------


def _clipped(array, bounds, by_column):
    low, high = (np.asarray(bound) if by_column else bound for bound in bounds)
    return np.clip(array, low, high)


_SHAPES = (((6,), None, {}), ((5, 3), None, {}), ((6, 3), 0, {}), ((4, 3), 1, {}), ((3, 4, 2), (0, 2), {}))
_SHAPES += (((3, 4, 2), -1, {}), ((4, 2, 3), 1, {"keepdims": True}), ((3, 4), None, {"keepdims": True}))


def _sensitivity(name, width, size):
    """Return by how much an aggregate of `size` numbers in an interval changes with one of them."""
    if "mean" in name:
        return width / size
    return width if "sum" in name else (width / size) ** 2 * (size - 1)


def _aggregates(name):
    """Return the relation of an aggregate."""

    def relation(random):
        generator = np.random.RandomState(random.getrandbits(31))
        for shape, axis, more in _SHAPES:
            low, width = random.uniform(-9, 5), random.uniform(2, 9)
            by_column = axis == 0 and len(shape) == 2
            lows = [low - k for k in range(shape[-1])] if by_column else low
            widths = [width + 2 * k for k in range(shape[-1])] if by_column else width
            bounds = (lows, np.add(lows, widths).tolist() if by_column else lows + widths)
            epsilon, account = random.uniform(0.3, 3), BudgetAccountant()
            made, words = [], f"{name}, shape {shape}, axis {axis}, {more}, bounds {bounds}, epsilon {epsilon!r}"
            for spread in (1.5, 0.2):
                array = low + width * generator.uniform(-spread, 1 + spread, shape)
                account = BudgetAccountant()
                with without_noise() as calls:
                    found = getattr(tools, name)(
                        array, epsilon=epsilon, bounds=bounds, axis=axis, accountant=account, **more
                    )
                exact = _EXACT[name](_clipped(array, bounds, by_column), axis=axis, **more)
                apart = np.max(np.abs(found - exact)) if np.shape(found) == np.shape(exact) else math.inf
                yield at_most(f"{words}: distance from the exact answer", apart, 1e-9 * (1 + np.max(np.abs(exact))))
                made.append(_made_for(calls))
            size = array.size // max(np.size(exact), 1)
            yield spends(at_most(f"{words}: epsilons of all entries", spent(calls), epsilon))
            yield charged(words, account.total()[0], epsilon)
            yield f"{words}: calls", float(np.size(exact)), float(len(calls)), float(np.size(exact))
            for call, one in zip(calls, np.ravel(widths) if by_column else [width] * len(calls)):
                exact = _sensitivity(name, one, size)
                yield protects(at_least(f"{words}: sensitivity of {call.name}", call.of.sensitivity, exact))
            yield protects((f"{words}: noise of other records", 1.0, float(made[0] == made[1]), 1.0))

    return relation


def _counts(random):
    """Check counts of records that are not 0, of text that is not empty, and sums of integers."""
    epsilon, size = random.uniform(0.3, 3), random.randint(4, 9)
    numbers = np.array([random.choice([0.0, -2.5, 7.0]) for _ in range(size)])
    text = np.array([random.choice(["", "a", "bc"]) for _ in range(size)])
    for words, array, exact in (
        (f"{numbers.tolist()}", numbers, np.count_nonzero(numbers)),
        (f"{text.tolist()}", text, np.count_nonzero(text != "")),
    ):
        account = BudgetAccountant()
        with without_noise() as calls:
            found = tools.count_nonzero(array, epsilon=epsilon, accountant=account)
        yield f"count_nonzero({words})", float(exact), float(found), float(exact)
        yield spends(at_most(f"count_nonzero, epsilon {epsilon!r}", spent(calls), epsilon))
        yield protects(at_least("count_nonzero, sensitivity", calls[0].of.sensitivity, 1.0))
        yield charged("count_nonzero", account.total()[0], epsilon)
    low, width = random.randint(-5, 2), random.randint(2, 6)
    whole = np.array([random.randint(low - 9, low + width + 9) for _ in range(size)])
    with without_noise() as calls:
        found = tools.sum(whole, epsilon=epsilon, bounds=(low, low + width), dtype=int, accountant=BudgetAccountant())
    exact = float(np.clip(whole, low, low + width).sum())
    yield f"sum of {whole.tolist()} in [{low}, {low + width}]", exact, float(found), exact
    yield spends(at_most(f"sum of integers, epsilon {epsilon!r}", spent(calls), epsilon))
    yield protects(at_least("sum of integers, sensitivity", calls[0].of.sensitivity, width))
    yield "sum of integers has integer noise", 1.0, float(calls[0].name.startswith("Geometric")), 1.0


def _histograms(random):
    """Check that each bin has noise for one record; what lies outside of the range is in no bin."""
    generator = np.random.RandomState(random.getrandbits(31))
    epsilon, low, width = random.uniform(0.3, 3), random.uniform(-5, 3), random.uniform(2, 7)
    array = low + width * generator.uniform(-0.5, 1.5, (40, 2))
    ranges = [(low, low + width), (low - 1, low + width + 1)]
    edges = [low, low + 0.3 * width, low + width]
    quiet = {"epsilon": epsilon, "accountant": BudgetAccountant()}
    pairs = (
        (tools.histogram, (array[:, 0],), {"bins": 4, "range": ranges[0]}, np.histogram),
        (tools.histogram, (array[:, 0],), {"bins": edges}, np.histogram),
        (tools.histogramdd, (array,), {"bins": [2, 3], "range": ranges}, np.histogramdd),
        (tools.histogram2d, (array[:, 0], array[:, 1]), {"bins": 3, "range": ranges}, np.histogram2d),
        (tools.histogram2d, (array[:, 0], array[:, 1]), {"bins": [edges, edges]}, np.histogram2d),
    )
    for function, records, more, reference in pairs:
        words = f"{function.__name__}, {more}, epsilon {epsilon!r}"
        for density in (False, True):
            account = quiet["accountant"] = BudgetAccountant()
            with without_noise() as calls:
                found = function(*records, density=density, **more, **quiet)[0]
            exact = reference(*records, density=density, **more)[0]
            yield at_most(f"{words}, density {density}: distance", np.max(np.abs(found - exact)), 1e-9)
            yield f"{words}: calls", float(exact.size), float(len(calls)), float(exact.size)
            yield spends(at_most(f"{words}: largest epsilon", max(call.of.epsilon for call in calls), epsilon))
            yield protects(at_least(f"{words}: least sensitivity", min(call.of.sensitivity for call in calls), 1.0))
            yield charged(words, account.total()[0], epsilon)


def _quantiles(random):
    """Check the utilities, which are distances in rank, and the measure: the lengths of the intervals."""
    size, epsilon, quant = random.randint(4, 8), random.uniform(0.3, 3), random.uniform(0.2, 0.8)
    low, width = random.uniform(-9, 5), random.uniform(2, 9)
    bounds, other = (low, low + width), random.uniform(0.1, 0.9)
    array = np.array([low + width * random.uniform(-0.3, 1.3) for _ in range(size)])
    ends = np.sort([*bounds, *np.clip(array, *bounds)])
    for words, ask, quants in (
        ("quantile", lambda **more: tools.quantile(array, quant, **more), [quant]),
        ("quantile, two", lambda **more: tools.quantile(array, [quant, other], **more), [quant, other]),
        ("percentile", lambda **more: tools.percentile(array, 100 * quant, **more), [quant]),
        ("median", lambda **more: tools.median(array, **more), [0.5]),
        ("median, axis", lambda **more: tools.median(array.reshape(-1, 1), axis=0, **more), [0.5]),
    ):
        account = BudgetAccountant()
        with without_noise() as calls:
            found = np.ravel(ask(epsilon=epsilon, bounds=bounds, accountant=account))
        case = f"{words} of {array.tolist()}, bounds {bounds}, {quants}, epsilon {epsilon!r}"
        yield spends(at_most(f"{case}: epsilons", spent(calls), epsilon))
        yield charged(case, account.total()[0], epsilon)
        yield f"{case}: calls", float(len(quants)), float(len(calls)), float(len(quants))
        for call, one, answer in zip(calls, quants, found):
            exact = -np.abs(np.arange(size + 1) - one * size)
            yield at_most(f"{case}: utilities", np.max(np.abs(np.subtract(call.value, exact))), 1e-9)
            yield at_most(f"{case}: measure", np.max(np.abs(np.subtract(call.of.measure, np.diff(ends)))), 1e-9)
            # the utility moves by 1 at most where a record is replaced, up or down
            yield protects(at_least(f"{case}: sensitivity", call.of.sensitivity * (2 - call.of.monotonic), 2.0))
            place = int(np.argmax(exact))
            yield f"{case}: answer", ends[place] - 1e-9, float(answer), ends[place + 1] + 1e-9


# --- validation ---------------------------------------------------------------------------------------------


def _clips(random):
    generator = np.random.RandomState(random.getrandbits(31))
    array, norm = generator.uniform(-4, 4, (7, 3)), random.uniform(1, 4)
    norms = np.linalg.norm(array, axis=1, keepdims=True)
    found = validation.clip_to_norm(array, norm)
    yield at_most(f"clip_to_norm, {norm!r}", np.max(np.abs(found - array * np.minimum(1, norm / norms))), 1e-9)
    yield spends(at_most(f"clip_to_norm, {norm!r}: norms", np.linalg.norm(found, axis=1).max(), norm))
    low, high = generator.uniform(-3, 0, 3), generator.uniform(0, 3, 3)
    for words, bounds in (("of each column", (low, high)), ("of all columns", (low[0], high[0]))):
        found = validation.clip_to_bounds(array, bounds)
        yield at_most(f"clip_to_bounds, {words}", np.max(np.abs(found - np.clip(array, *bounds))), 1e-9)
        beyond = np.maximum(np.subtract(bounds[0], found), np.subtract(found, bounds[1]))
        yield spends((f"clip_to_bounds, {words}: distance beyond them", -math.inf, float(beyond.max()), 1e-9))
    for words, one, two in (("lower", low, np.full(3, 3.0)), ("upper", np.full(3, -3.0), high)):
        found = validation.clip_to_bounds(array, (one, two))
        yield at_most(f"clip_to_bounds, {words} ends differ", np.max(np.abs(found - np.clip(array, one, two))), 1e-9)
    middle, apart = random.uniform(-3, 3), random.uniform(0.5, 2)
    found = validation.check_bounds((middle, middle), 0, min_separation=apart)
    yield ("check_bounds, lower", *near(found[0], middle - apart / 2))
    yield ("check_bounds, upper", *near(found[1], middle + apart / 2))
    found = validation.check_bounds((middle, middle + 2 * apart), 3, min_separation=apart)
    yield at_most("check_bounds, three", np.max(np.abs(np.subtract(found[0], middle))), 1e-9)
    yield at_most("check_bounds, three, upper", np.max(np.abs(np.subtract(found[1], middle + 2 * apart))), 1e-9)


_REFUSALS = (TypeError, ValueError)


def _bounds_refused():
    check = validation.check_bounds
    wrong = [((1, 0), 0), ([0, 1], 0), (([0, 0], [1, 1]), 3), ((0, 1), 1.5), (([0, 0], [1, 1, 1]), 2)]
    wrong += [(([[0]], [[1]], 1), 1), (([0, 2], [1, 1]), 2), (([[0, 0], [0, 0]], [[1, 1], [1, 1]]), 2)]
    return all(raises(_REFUSALS, lambda b=bounds, s=shape: check(b, s)) for bounds, shape in wrong)


def _clips_refused():
    clip, norm = validation.clip_to_bounds, validation.clip_to_norm
    square = np.ones((2, 2))
    calls = [lambda: clip([1.0], (0, 1)), lambda: clip(np.ones(2), ([0, 0], [1, 2])), lambda: norm([[1.0]], 1.0)]
    calls += [lambda: norm(np.ones(2), 1.0), lambda: norm(square, "1"), lambda: norm(square, 0.0)]
    calls += [lambda: norm(square, -1.0)]
    return all(raises(_REFUSALS, call) for call in calls)


def _budgets(random):
    """Check totals with slack (Kairouz, Oh and Viswanath 2017, Theorem 3.4) and what remains."""
    parts = [(random.uniform(0.01, 0.4), random.choice([0.0, random.uniform(0.001, 0.05)])) for _ in range(30)]
    slack = random.choice([random.uniform(1e-6, 1e-3), random.uniform(0.01, 0.3)])
    account = BudgetAccountant(slack=slack, spent_budget=parts)
    bounds = composition_bounds([epsilon for epsilon, _ in parts], slack)
    plain, exact = bounds[0], min(bounds)
    delta = 1 - (1 - slack) * math.prod(1 - part for _, part in parts)
    yield ("epsilon with slack", *near(account.total()[0], exact))
    yield ("delta with slack", *near(account.total()[1], delta))
    yield understates(("epsilon without slack", *near(account.total(slack=0.0)[0], plain)))
    yield "parts", float(len(parts)), float(len(account)), float(len(parts))
    count = random.randint(2, 5)
    for slack in (0.0, 0.05):
        ceiling = BudgetAccountant(epsilon=plain + 1.5, delta=0.999, slack=slack, spent_budget=parts)
        epsilon, _ = ceiling.remaining(count)
        whole = ceiling.total(spent_budget=[*parts, *[(epsilon, 0.0)] * count])[0]
        yield (f"what remains for {count}, slack {slack}", *near(whole, plain + 1.5, 1e-6))


def _many_steps(random):
    """Compare totals of steps with one or two epsilons with the least that is true, and with the formula."""
    slack = 5e-7
    for steps in many_equal_steps(random):
        parts = [(own, leak) for own, leak, times in steps for _ in range(times)]
        epsilon, stated = map(float, BudgetAccountant(slack=slack, spent_budget=parts).total())
        formula = min(composition_bounds([own for own, _ in parts], slack))
        yield (f"epsilon of {steps!r}", *near(epsilon, formula))
        yield (f"delta of {steps!r}", *near(stated, 1 - (1 - slack) * math.prod(1 - leak for _, leak in parts)))
        yield understates(at_least(f"least delta of {steps!r}", stated, composition_delta(steps, epsilon)))


# --- noise of each entry ------------------------------------------------------------------------------------


def _own_noise(random):
    """Entries of equal columns and bins are equal, but for their noise."""
    state, epsilon = random.getrandbits(31), 0.02
    column = np.array([random.uniform(0.4, 0.6) for _ in range(5)])
    array = np.repeat(column[:, np.newaxis], 4, axis=1)
    wide = {"bounds": (-100.0, 100.0), "epsilon": 50.0}
    quiet = {"random_state": state, "accountant": BudgetAccountant()}
    for name in _EXACT:
        found = getattr(tools, name)(array, axis=0, **wide, **quiet)
        yield f"{name} of equal columns: different entries", 4.0, float(len(set(found.tolist()))), 4.0
    points = np.repeat(np.linspace(0.1, 0.9, 9), 3000)
    for name, records, ranges in (
        ("histogram", points, (0, 1)),
        ("histogramdd", np.stack([points, points[::-1]], axis=1), [(0, 1)] * 2),
    ):
        found = getattr(tools, name)(records, epsilon=epsilon, bins=3, range=ranges, **quiet)[0]
        exact = getattr(np, name)(records, bins=3, range=ranges)[0]
        noise = np.ravel(found - exact)[np.ravel(exact) > 1000]
        yield f"{name}: different noises", 2.0, float(len(set(noise.tolist()))), math.inf


def call_relations():
    """Yield the relations."""
    answers = {
        **{f"{name} of clipped records": _aggregates(name) for name in _EXACT},
        "counts": _counts,
        "histograms": _histograms,
        "quantiles": _quantiles,
    }
    own = "entries have noise of their own"
    kept, accounts = protecting(answers), accounted(answers)
    yield Relations(
        "tools, without noise",
        {**answers, own: _own_noise, **kept, **accounts},
        unsafe={own: "below", **dict.fromkeys(kept, "either")},
        understated=list(accounts),
    )
    clips = {"records are clipped": _clips}
    budgets = {"budgets add up": _budgets, "many steps cost as much as the theorem says": _many_steps}
    kept, accounts = protecting(clips), accounted(budgets)
    yield Relations(
        "validation and accounts",
        {**clips, **budgets, **kept, **accounts},
        {"wrong bounds are refused": _bounds_refused, "wrong clips are refused": _clips_refused},
        unsafe=dict.fromkeys(kept, "either"),
        understated=list(accounts),
    )
