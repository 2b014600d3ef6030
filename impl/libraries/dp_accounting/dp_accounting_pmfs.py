"""Exact relations of losses on a grid: sums and convolutions of a few probabilities, written out.

The reference is a dictionary from the integers of the grid to probabilities, and a mass at infinity.
"""

from __future__ import annotations

import functools
import math

import numpy as np
from dp_accounting.pld import common, pld_pmf

from dpassay.adapter import Relations

__all__ = ["pmf_relations"]

_INTERVAL = 0.1
_ROUNDING = 1e-11
"""Absolute: sums of a few probabilities, and fast Fourier transforms of them."""


_LOST = 0.1
"""A mass that may be truncated: that of several losses."""


class _Losses:
    """Probabilities of the losses on a grid, and the mass at infinity."""

    def __init__(self, probabilities, infinite):
        self.probabilities, self.infinite = probabilities, infinite

    def delta(self, epsilon):
        terms = (p * -math.expm1(min(epsilon - k * _INTERVAL, 0.0)) for k, p in self.probabilities.items())
        return self.infinite + math.fsum(terms)

    def epsilon(self, delta):
        """Return the least nonnegative epsilon with this delta."""
        if self.infinite > delta:
            return math.inf
        low, high = 0.0, max(max(self.probabilities) * _INTERVAL, 0.0) + 1
        if self.delta(low) <= delta:
            return 0.0
        for _ in range(100):
            middle = (low + high) / 2
            low, high = (middle, high) if self.delta(middle) > delta else (low, middle)
        return high

    def and_then(self, other):
        composed = {}
        for one, p in self.probabilities.items():
            for two, q in other.probabilities.items():
                composed[one + two] = composed.get(one + two, 0.0) + p * q
        return _Losses(composed, 1 - (1 - self.infinite) * (1 - other.infinite))

    def times(self, count):
        composed = self
        for _ in range(count - 1):
            composed = composed.and_then(self)
        return composed


def _drawn(random):
    """Return losses of both signs; half of them have a mass at infinity."""
    places = random.sample(range(-9, 14), random.randint(3, 7))
    weights = [random.random() ** 2 for _ in places]
    infinite = random.choice([0.0, random.uniform(0, 0.05)])
    return _Losses({k: (1 - infinite) * w / sum(weights) for k, w in zip(places, weights)}, infinite)


def _both(losses, *, pessimistic=True):
    """Yield the losses in the two forms of the library."""
    sparse = pld_pmf.create_pmf(losses.probabilities, _INTERVAL, losses.infinite, pessimistic)
    yield "sparse", sparse
    yield "dense", sparse.to_dense_pmf()


def _about(losses):
    return f"{losses.probabilities!r} and {losses.infinite!r} at infinity"


def _levels(random):
    return sorted([0.0, random.uniform(-1, 0), *(random.uniform(0, 1.4) for _ in range(3))])


def _compare(words, found, exact, lost=0.0, levels=(0.0, 0.33, 0.95), *, pessimistic=True):
    """Compare the curve of delta: pessimistic losses may lose what they truncate, optimistic ones may forget it."""
    for level in levels:
        low = exact.delta(level) - _ROUNDING - (0.0 if pessimistic else lost)
        high = exact.delta(level) + _ROUNDING + (lost if pessimistic else 0.0)
        yield f"{words}, delta at {level!r}", low, float(found.get_delta_for_epsilon(level)), high


def _deltas(random):
    losses = _drawn(random)
    levels = _levels(random)
    for form, found in _both(losses):
        for level, delta in zip(levels, found.get_delta_for_epsilon(levels)):
            exact = losses.delta(level)
            yield f"{form}, {_about(losses)}, {level!r} of several", exact - _ROUNDING, float(delta), exact + _ROUNDING
        yield from _compare(f"{form}, {_about(losses)}", found, losses, levels=levels)


def _epsilons(random):
    losses = _drawn(random)
    for form, found in _both(losses):
        for delta in (random.random() * losses.delta(0), random.random(), losses.infinite / 2, losses.infinite * 1.01):
            exact, answer = losses.epsilon(delta), float(found.get_epsilon_for_delta(delta))
            words = f"{form}, {_about(losses)}, epsilon at {delta!r}"
            if math.isinf(exact) or math.isinf(answer):
                yield words, exact, answer, exact
            else:
                yield words, exact - 1e-9, answer, exact + 1e-9


def _compositions(random, *, pessimistic):
    one, two = _drawn(random), _drawn(random)
    exact, about = one.and_then(two), f"{_about(one)}, then {_about(two)}"
    for lost in (0.0, _LOST):
        for (form, first), (other, second) in (
            (first, second)
            for first in _both(one, pessimistic=pessimistic)
            for second in _both(two, pessimistic=pessimistic)
        ):
            words = f"{form}, {other}, {about}, truncated {lost}"
            found = pld_pmf.compose_pmfs(first, second, lost)
            yield from _compare(words, found, exact, lost, pessimistic=pessimistic)
            for level in (0.0, 0.41):
                delta = first.get_delta_for_epsilon_for_composed_pld(second, level)
                yield f"{words}, at once", exact.delta(level) - _ROUNDING, float(delta), exact.delta(level) + _ROUNDING


def _repetitions(random, *, pessimistic):
    losses, count = _drawn(random), random.randint(2, 4)
    exact = losses.times(count)
    for lost in (0.0, 1e-15, _LOST):
        for form, found in _both(losses, pessimistic=pessimistic):
            words = f"{form}, {count} times {_about(losses)}, truncated {lost}, pessimistic {pessimistic}"
            # many sparse losses become dense; the Fourier transform wraps around what a dense repetition truncates,
            # which is at infinity in any case
            repeated = found.self_compose(count, lost)
            for at, low, value, high in _compare(words, repeated, exact, 2 * lost, pessimistic=pessimistic):
                yield at, low, value, high + 2 * lost


def _mixtures(random):
    one, two, weight = _drawn(random), _drawn(random), random.uniform(0.1, 0.9)
    for (form, first), (_, second) in zip(_both(one), _both(two)):
        found = first.compute_mixture(second, weight)
        for level in _levels(random):
            exact = weight * one.delta(level) + (1 - weight) * two.delta(level)
            words = f"{form}, {weight!r} of {_about(one)}, else {_about(two)}, delta at {level!r}"
            yield words, exact - _ROUNDING, float(found.get_delta_for_epsilon(level)), exact + _ROUNDING


def _dots(random):
    """Losses through points of a curve have the curve there, and lie above it between them."""
    losses = _drawn(random)
    low, high = min(losses.probabilities), max(losses.probabilities)
    every = list(range(low, high + 1))
    some = sorted({low, high, *random.sample(every, min(len(every), 6))})
    curves = [
        ("through some", some, pld_pmf.create_pmf_pessimistic_connect_dots),
        (
            "through all",
            every,
            lambda interval, points, deltas: pld_pmf.create_pmf_pessimistic_connect_dots_fixed_gap(
                interval, points[0], points[-1], deltas
            ),
        ),
    ]
    for words, points, make in curves:
        found = make(_INTERVAL, points, [losses.delta(k * _INTERVAL) for k in points])
        for place, k in enumerate(points):
            exact = losses.delta(k * _INTERVAL)
            at = f"{words}, {_about(losses)}, delta at {k} intervals"
            yield at, exact - 1e-10, float(found.get_delta_for_epsilon(k * _INTERVAL)), exact + 1e-10
            if place and k - points[place - 1] > 1:
                between = (k + points[place - 1]) / 2 * _INTERVAL
                exact = losses.delta(between)
                yield f"{at}, before it", exact - 1e-10, float(found.get_delta_for_epsilon(between)), 1.0


def _dictionaries(random):
    one, two, count = _drawn(random), _drawn(random), random.randint(2, 4)
    for words, found, exact in (
        ("convolve_dictionary", common.convolve_dictionary(one.probabilities, two.probabilities), one.and_then(two)),
        ("self_convolve_dictionary", common.self_convolve_dictionary(one.probabilities, count), one.times(count)),
        (
            "list_to_dictionary",
            common.list_to_dictionary(*reversed(common.dictionary_to_list(one.probabilities))),
            one,
        ),
    ):
        for k in sorted({*found, *exact.probabilities}):
            p = exact.probabilities.get(k, 0.0)
            yield f"{words}, {_about(one)}, at {k}", p - _ROUNDING, float(found.get(k, 0.0)), p + _ROUNDING
    for lost in (1e-3, 0.1):
        offset, values = common.dictionary_to_list(one.probabilities)
        kept = sum(common.list_to_dictionary(values, offset, lost).values())
        total = sum(values)
        yield f"list_to_dictionary, {_about(one)}, truncated {lost}", total - lost - _ROUNDING, kept, total
        composed = common.convolve_dictionary(one.probabilities, two.probabilities, lost)
        exact = one.and_then(two).probabilities
        kept, whole = math.fsum(composed.values()), math.fsum(exact.values())
        words = f"convolve_dictionary, {_about(one)}, {_about(two)}, truncated {lost}"
        yield words, whole - lost - _ROUNDING, kept, whole + _ROUNDING
        for k, p in composed.items():
            at = exact.get(k, 0.0)
            yield f"{words}, at {k}", at - _ROUNDING, float(p), at + _ROUNDING
        repeated = _Losses(dict(enumerate(values)), 0.0).times(count).probabilities
        for orders in (None, [-random.uniform(0.2, 2), -0.1, 0.1, random.uniform(0.2, 2)]):
            low, high = common.compute_self_convolve_bounds(values, count, lost, orders)
            inside = math.fsum(p for k, p in repeated.items() if low <= k <= high)
            yield (
                f"compute_self_convolve_bounds, {values}, {count}, {lost}, {orders}",
                total**count - lost - _ROUNDING,
                inside,
                1.0 + _ROUNDING,
            )


def _far_from_the_start(random):
    """Check repetitions of a list with its mass at the end, of which the truncated result is shorter than the list."""
    size, count, lost = random.randint(40, 90), random.randint(2, 4), 10 ** random.uniform(-4, -2)
    values = [0.0] * size
    for place in (size - 3, size - 2, size - 1):
        values[place] = random.uniform(0.2, 0.5)
    values = [value / sum(values) for value in values]
    exact = [1.0]
    for _ in range(count):
        exact = np.convolve(exact, values)
    start, found = common.self_convolve(values, count, lost)
    words = f"self_convolve of {values[-3:]} at {size - 3}, {count} times, truncated {lost}"
    yield f"{words}: mass", 1 - lost - _ROUNDING, float(np.sum(found)), 1 + _ROUNDING
    for k, value in enumerate(found):
        yield (
            f"{words}, at {start + k}",
            exact[start + k] - _ROUNDING,
            float(value),
            exact[start + k] + lost + _ROUNDING,
        )
    moved = random.randint(-30, 30)
    by_place = common.self_convolve_dictionary({k + moved: p for k, p in enumerate(values)}, count, lost)
    for k in sorted(by_place):
        place = k - count * moved
        at = exact[place] if 0 <= place < len(exact) else 0.0
        yield f"{words}, as a dictionary from {moved}, at {k}", at - _ROUNDING, by_place[k], at + lost + _ROUNDING
    yield f"{words}, as a dictionary: mass", 1 - lost - _ROUNDING, sum(by_place.values()), 1 + _ROUNDING


def _functions(random):
    """Functions that avoid overflow agree with their formulas where nothing overflows."""
    a, b, c = random.uniform(0.1, 3), random.uniform(-3, 3), random.uniform(0.01, 3)
    for words, found, exact in (
        ("a exp(b) + c", common.log_a_times_exp_b_plus_c(a, b, c), math.log(a * math.exp(b) + c)),
        (
            "a exp(b) - c",
            common.log_a_times_exp_b_plus_c(a, b, -c * a * math.exp(b) / 4),
            math.log(a * math.exp(b) * (1 - c / 4)),
        ),
        ("c - a exp(b)", common.log_a_times_exp_b_plus_c(-a, b, a * math.exp(b) + c), math.log(c)),
        ("a", common.log_a_times_exp_b_plus_c(a, 0, c), math.log(a + c)),
        ("log sinh", common.log_sinh(a), math.log(math.sinh(a))),
        ("asinh", common.asinh_exp(b, c), math.asinh(c * math.exp(b))),
        ("asinh of a negative number", common.asinh_exp(b, -c), math.asinh(-c * math.exp(b))),
    ):
        slack = 1e-9 * max(abs(exact), 1)
        yield f"{words}, a={a!r}, b={b!r}, c={c!r}", exact - slack, float(found), exact + slack
    for increasing in (True, False):
        for guess in (None, random.uniform(0.5, 2)):
            search = common.BinarySearchParameters(0.0, 50.0, initial_guess=guess, tolerance=1e-6)
            curve = (lambda x: x**3) if increasing else (lambda x: 1e6 - x**3)
            level = curve(a)
            found = common.inverse_monotone_function(curve, level, search, increasing=increasing)
            low, high = (a - 2e-6, a + 1e-12) if increasing else (a - 1e-12, a + 2e-6)
            yield f"inverse_monotone_function of a cube at {a!r}, {increasing}, {guess}", low, found, high
        steps = common.BinarySearchParameters(0, 60, discrete=True, initial_guess=random.choice([None, 3]))
        number = random.randint(5, 40)
        found = common.inverse_monotone_function(
            (lambda n: n) if increasing else (lambda n: 100 - n),
            number if increasing else 100 - number,
            steps,
            increasing,
        )
        yield f"inverse_monotone_function at the integer {number}, {increasing}", number, found, number


def pmf_relations():
    """Yield the relations."""
    sided = {"composition adds losses": _compositions, "repetitions add losses": _repetitions}
    attained = {
        "delta is a sum": _deltas,
        "epsilon is the least with its delta": _epsilons,
        "a mixture averages": _mixtures,
        "losses through points of a curve lie above it": _dots,
        **{words: functools.partial(check, pessimistic=True) for words, check in sided.items()},
    }
    optimistic = {
        f"{words}, rounded down": functools.partial(check, pessimistic=False) for words, check in sided.items()
    }
    yield Relations("pld_pmf", attained | optimistic, understated=attained)
    yield Relations(
        "pld.common",
        {
            "dictionaries are convolved": _dictionaries,
            "lists with their mass at the end are convolved": _far_from_the_start,
            "functions that avoid overflow agree": _functions,
        },
    )
