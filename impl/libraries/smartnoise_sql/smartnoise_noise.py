"""Facts about the noise of SmartNoise SQL: its quantiles and scales, the bins of bounds that it is added to, its sum.

The noise is replaced by chosen numbers, which show what they are added to, and that each is used once.
"""

from __future__ import annotations

import importlib
import math
from collections import Counter
from contextlib import contextmanager
from statistics import NormalDist
from unittest import mock

from snsql import Privacy
from snsql.sql._mechanisms import Gaussian, Laplace
from snsql.sql._mechanisms import rand as noise
from snsql.sql._mechanisms.normal import _normal_dist_inv_cdf
from snsql.sql.odometer import Odometer, OdometerHeterogeneous

from dpassay.adapter import Relations, protects, spends, understates
from dpassay.impl.libraries.references import (
    composition_bounds,
    composition_delta,
    gaussian_delta,
    many_equal_steps,
    near,
)
from dpassay.impl.libraries.refusing import raises

__all__ = ["noise_of_the_library"]

bounds_module = importlib.import_module("snsql.sql._mechanisms.approx_bounds")


def _near(one, other):
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)


# --- quantiles -----------------------------------------------------------------------------------------------------


class _Uniform:
    """A generator whose uniform numbers and deviates lie at given parts of their range."""

    def __init__(self, *parts):
        self._parts = list(parts)

    def uniform(self, low, high):
        """Return the number at the next part of the range."""
        return low + (high - low) * self._parts.pop(0)

    def gauss(self, location, scale):
        """Return the normal quantile at the next part."""
        return NormalDist(location, scale).inv_cdf(self._parts.pop(0))


def _laplace_quantile(location, scale, part):
    centred = part - 0.5
    return location + scale * math.copysign(math.log1p(-2 * abs(centred)), centred)


def _quantiles():
    parts = (0.02, 0.3, 0.72, 0.991)

    def laplace():
        with mock.patch.object(noise, "sys_rand", _Uniform(*parts)):
            found = noise.laplace(40.0, 2.5, len(parts))
        expected = [_laplace_quantile(40.0, 2.5, part) for part in parts]
        # uniform numbers may be turned round: noise is symmetric
        turned = [_laplace_quantile(40.0, 2.5, 1 - part) for part in parts]
        return any(all(map(_near, found, one)) for one in (expected, turned))

    def normal():
        with mock.patch.object(noise, "sys_rand", _Uniform(*parts)):
            found = noise.normal(40.0, 2.5, len(parts))
        return all(_near(x, NormalDist(40.0, 2.5).inv_cdf(part)) for x, part in zip(found, parts))

    probabilities = (1e-15, 1e-9, 1e-4, 0.03, 0.074, 0.08, 0.3, 0.5, 0.8, 0.92, 0.93, 0.99, 1 - 1e-6, 1 - 1e-13)

    return Relations(
        "noise and quantiles",
        {},
        {
            "Laplace noise": laplace,
            "normal noise": normal,
            "normal quantiles": lambda: all(
                abs(_normal_dist_inv_cdf(p) - NormalDist().inv_cdf(p)) < 1e-6 for p in probabilities
            ),
            "normal quantiles of another scale": lambda: all(
                abs(_normal_dist_inv_cdf(p, 3.0, 2.5) - NormalDist(3.0, 2.5).inv_cdf(p)) < 1e-5 for p in probabilities
            ),
        },
    )


# --- scales --------------------------------------------------------------------------------------------------------


def _just_above(random, most):
    """Return a number that is above an integer by less than a half."""
    return random.randint(1, most) + random.uniform(0.05, 0.45)


def _scaled(random, *sizes):
    """Yield comparisons of scales with what bounds need, and with a larger size that they may be made for instead."""
    epsilon, delta = random.uniform(0.5, 4.0), 10 ** random.uniform(-6, -1.5)
    for make in (Laplace, Gaussian):
        base = float(make(epsilon, delta=delta, sensitivity=1.0).scale)
        for bounds, widest, larger in sizes:
            rows = random.randint(1, 3)
            scale = float(make(epsilon, delta=delta, max_contrib=rows, **bounds).scale)
            words = f"{make.__name__}({epsilon!r}, delta={delta!r}, max_contrib={rows}, {bounds})"
            if make is Laplace:
                yield spends((f"{words}, epsilon", 0.0, widest * rows / scale, epsilon * (1 + 1e-9)))
            else:
                found = gaussian_delta(scale / (widest * rows), epsilon)
                yield spends((f"{words}, delta", 0.0, found, delta * (1 + 1e-6)))
            yield words, widest * rows * base * (1 - 1e-3), scale, larger * rows * base * (1 + 1e-3)


def _scales(random):
    """Check that noise is as large as sensitivities and bounds that are no integers need, and not much larger."""
    low, high, size = -_just_above(random, 8), _just_above(random, 8), _just_above(random, 8)
    # Gaussian noise is made for the next integers; a difference of records is at most that of the bounds
    yield from _scaled(
        random,
        ({"sensitivity": size}, size, math.ceil(size)),
        ({"lower": low, "upper": high}, max(-low, high), math.ceil(high) - math.floor(low)),
    )


def _scales_below_1(random):
    """Check the same of a sensitivity below 1, of which nothing is left if it is rounded down."""
    size = random.uniform(0.3, 0.95)
    yield from _scaled(random, ({"sensitivity": size}, size, 1))


@contextmanager
def _counted(module, name):
    """Replace what makes noise by numbers 1, 2, ..., and yield lists of what they are added to, and of scales."""
    seen, scales = [], []

    def make(_domain, _metric, scale):
        def add(value):
            seen.append(float(value))
            return value + len(seen)

        scales.append(float(scale))
        return add

    with mock.patch.object(module, name, make):
        yield seen, scales


def _releases(random):
    """Check that a release adds noise of its own to each value, of the scale of the mechanism."""
    values = [random.uniform(-9, 9)] * 2 + [random.uniform(-9, 9) for _ in range(4)]
    for kind, name in ((Laplace, "make_laplace"), (Gaussian, "make_gaussian")):
        mechanism = kind(1.3, delta=1e-3, sensitivity=2.0, max_contrib=2)
        with _counted(importlib.import_module(kind.__module__), name) as (seen, scales):
            found = mechanism.release(values)
        words = f"{kind.__name__}.release of {values!r}"
        yield f"{words}, noise is added to each value once", 1.0, float(seen == values), 1.0
        for place, (one, value) in enumerate(zip(found, values)):
            yield (f"{words}, value {place}", *near(one, value + place + 1))
        drawn = {round(one - value, 6) for one, value in zip(found, values)} - {0.0}
        yield spends((f"{words}, values without noise of their own", 0.0, len(values) - len(drawn), 0.0))
        for scale in scales:
            yield protects((f"{words}, scale", *near(scale, float(mechanism.scale))))


def _sizes():
    return Relations(
        "scales and releases of mechanisms",
        {
            "noise is as large as bounds that are no integers need": _scales,
            "noise is as large as a sensitivity below 1 needs": _scales_below_1,
            "each value has its own noise": _releases,
        },
    )


# --- approximate bounds ------------------------------------------------------------------------------------------


def _bin(value):
    """Return the ends of the bin of a number: powers of 2, 0 and their opposites."""
    if value < 0:
        low = -(2.0 ** max(math.ceil(math.log2(-value)), 0))
        return low, low / 2 if low < -1 else -0.0
    high = 2.0 ** (math.floor(math.log2(value)) + 1) if value >= 1 else 1.0
    return (high / 2 if high > 1 else 0.0), high


def _bins(random):
    """Check that the noise of a bin is drawn for it, and decides on it alone."""
    values = [random.uniform(-40, 90) for _ in range(random.randint(8, 30))] + [0.0, 0.4]
    counts = sorted(Counter(map(_bin, values)).values())

    def found(*chosen):
        """Return the bounds where these draws are large, and what the noise is added to."""
        seen = []

        def make(_domain, _metric, _scale):
            def add(value):
                seen.append(float(value))
                return 1e9 if len(seen) - 1 in chosen else -1e9

            return add

        with mock.patch.object(bounds_module, "make_laplace", make):
            return bounds_module.approx_bounds(values, 1.5), seen

    draws = random.sample(range(2 * 64), 6)
    alone = []
    for draw in draws:
        ends, seen = found(draw)
        words = f"approx_bounds, draw {draw} is large"
        yield f"{words}, draws", 128.0, float(len(seen)), 128.0
        yield f"{words}, counts of bins", 1.0, float(sorted(filter(None, seen)) == counts), 1.0
        middle = math.nan if ends[0] is None else sum(ends) / 2
        yield f"{words}, one bin", 1.0, float(not math.isnan(middle) and ends == _bin(middle)), 1.0
        alone.append(ends)
    yield "approx_bounds, different bins", 6.0, float(len(set(alone))), 6.0
    both, _ = found(*draws[:2])
    ends = [end for one in alone[:2] for end in one if end is not None]
    wanted = min(ends, default=None), max(ends, default=None)
    yield "approx_bounds, two draws are large", 1.0, float(both == wanted), 1.0


def _bounds():
    def found(values, epsilon=2.0, added=0.0):
        scales = []

        def make(_domain, _metric, scale):
            scales.append(scale)
            return lambda value: value + added

        with mock.patch.object(bounds_module, "make_laplace", make):
            result = bounds_module.approx_bounds(values, epsilon)
        return result, set(scales)

    def are(values, expected):
        return lambda: found(values)[0] == expected

    def scale(_):
        yield protects(("smallest scale", *near(min(found([5.0] * many, 0.25)[1]), 4.0)))

    many = 60
    return Relations(
        "approximate bounds without noise",
        {"each bin has noise of its own": _bins, "the scale of the noise": scale},
        {
            "between 4 and 8": are([5.0] * many, (4.0, 8.0)),
            "a power of 2": are([4.0] * many, (4.0, 8.0)),
            "below 1": are([0.5] * many, (0.0, 1.0)),
            "negative": are([-5.0] * many, (-8.0, -4.0)),
            "above -1": are([-0.5] * many, (-1.0, 0.0)),
            "mixed": are([-100.0] * many + [3.0] * many, (-128.0, 4.0)),
            "beyond all bins": are([1e30] * many, (2.0**62, 2.0**63)),
            "below all bins": are([-1e30] * many, (-(2.0**63), -(2.0**62))),
            "no numbers": are([math.inf, -math.inf, math.nan] * many + [5.0] * many, (4.0, 8.0)),
            "too few": are([5.0], (None, None)),
        },
    )


# --- odometers -----------------------------------------------------------------------------------------------------


def _many_steps(random):
    """Compare the cost of many steps with the least that is true, and with the formula that the odometers are for."""
    for least, largest in ((60, 0.25), (20, 0.5)):
        for steps in many_equal_steps(random, least, largest):
            (one, delta, _), count = steps[0], sum(times for _, _, times in steps)
            odometers = {"OdometerHeterogeneous": OdometerHeterogeneous(Privacy(epsilon=1.0, delta=delta))}
            for own, leak, times in steps:
                for _ in range(times):
                    odometers["OdometerHeterogeneous"].spend(Privacy(epsilon=own, delta=leak))
            if len(steps) == 1:
                odometers["Odometer"] = Odometer(Privacy(epsilon=one, delta=delta))
                odometers["Odometer"].spend(count)
            for name, odometer in odometers.items():
                epsilon, stated = map(float, odometer.spent)
                bounds = composition_bounds([own for own, _, times in steps for _ in range(times)], delta / 2)
                words = f"{name}, steps {steps!r}"
                # half of the delta of a step is the slack
                yield (f"{words}, epsilon", *near(epsilon, min(bounds), 1e-5))
                whole = 1 - (1 - delta / 2) * (1 - delta) ** count
                yield (f"{words}, delta", *near(stated, whole, 1e-3, 0.0))
                least_delta = composition_delta(steps, epsilon) * (1 - 1e-9)
                yield understates((f"{words}, delta over the least", least_delta, stated, 1.0))


def _odometers():
    def homogeneous():
        odometer = Odometer(Privacy(epsilon=0.3, delta=1e-6))
        odometer.spend()
        odometer.spend(2)
        epsilon, _ = odometer.spent
        odometer.reset()
        return _near(float(epsilon), 3 * 0.3) and odometer.spent == (0.0, 0.0)

    def heterogeneous():
        odometer = OdometerHeterogeneous(Privacy(epsilon=0.3, delta=1e-6))
        odometer.spend()
        odometer.spend(Privacy(epsilon=0.5, delta=0.01))
        epsilon, delta = odometer.spent
        count = odometer.k
        odometer.reset()
        least = 1 - (1 - 0.01) * (1 - 1e-6)
        return _near(float(epsilon), 0.8) and delta >= least and count == 2 and odometer.spent == (0.0, 0.0)

    return Relations(
        "odometers",
        {"many steps cost as much as the theorem says": _many_steps},
        {
            "homogeneous": homogeneous,
            "heterogeneous": heterogeneous,
            "nothing to spend": lambda: raises(ValueError, lambda: OdometerHeterogeneous(None).spend()),
        },
    )


def _one_more_query(_):
    """Check that one more query costs more, where a known finding appears in every run."""
    spent = []
    for count in (24, 25):
        odometer = Odometer(Privacy(epsilon=0.001, delta=0.01))
        odometer.spend(count)
        spent.append(float(odometer.spent[0]))
    yield "Odometer(Privacy(epsilon=0.001, delta=0.01)), epsilon of 25 queries after 24", *spent, math.inf


def noise_of_the_library():
    """Yield facts about the noise of this library."""
    yield _quantiles()
    yield _sizes()
    yield _bounds()
    yield _odometers()
    yield Relations("Odometer.spent, one more query", {"epsilon grows with the queries": _one_more_query})
