"""Accounting of jax-privacy by samples: bounds on delta against their formulas, and calibration with known deltas."""

from __future__ import annotations

import math

import numpy as np
from jax_privacy.experimental.monte_carlo import delta_calculation
from scipy import optimize, stats

from dpassay.adapter import Nonsense, Relations
from dpassay.impl.libraries.references import divided, gaussian_delta, near

_SEARCHED = 1e-3
"""Relative: the library minimises over a tail factor with a tolerance, and states a little more than the minimum."""

_STRATA = 20_000
"""Samples, one in the middle of each part of the distribution: the mean of values from 0 to 1 that grow is off by less
than 1 over their number."""

_LOST, _KEPT = 50.0, -1.0
"""Losses far above any epsilon that is asked for, so that the excess is 1, and below, so that it is 0."""


def _tail(samples, base, delta):
    """Return the bound of Chernoff on the probability that samples of mean `delta` have a mean of `base` or less."""
    divergence = base * math.log(base / delta) + (1 - base) * math.log((1 - base) / (1 - delta))
    return math.exp(-samples * divergence)


def _overall(samples, base):
    """Return the delta of a mechanism that passed, at the best threshold: it exceeds that, or passed by chance."""

    def total(logarithm):
        delta = min(math.exp(logarithm), 1 - 1e-12)
        return delta + _tail(samples, base, delta) * (1 - delta)

    ends = math.log(base), 0.0
    grid = np.linspace(*ends, 400)
    best = int(np.argmin([total(one) for one in grid]))
    sides = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    return min(optimize.minimize_scalar(total, bounds=sides, method="bounded", options={"xatol": 1e-9}).fun, 1.0)


def _base(samples, target):
    """Return the delta that samples may show for a target."""
    return optimize.brentq(lambda base: _overall(samples, base) - target, target * 1e-3, target, rtol=1e-7)


def _bounds(random):
    """Compare the overall delta with the minimum of its formula, and check what inverts it on both sides."""
    for hits in (random.uniform(20, 60), random.uniform(60, 500)):
        base = 10 ** random.uniform(-7, -2)
        samples = round(hits / base)
        exact = _overall(samples, base)
        found = delta_calculation.get_overall_delta(samples, base)
        yield f"get_overall_delta({samples}, {base!r})", exact * (1 - 1e-7), found, exact * (1 + _SEARCHED)
        base = delta_calculation.get_base_delta(samples, exact)
        words = f"get_base_delta({samples}, {exact!r}) is {base!r}"
        yield f"target of {words}", _overall(samples, base) * (1 - 1e-7), exact, math.inf
        yield f"{words}, overall delta of more", exact, _overall(samples, base * 1.01), 1.0
    base = 10 ** random.uniform(-5, -2)
    target = base * random.uniform(1.3, 2.5)
    samples = delta_calculation.minimum_samples_to_calibrate(base, target)
    words = f"minimum_samples_to_calibrate({base!r}, {target!r}) is {samples}"
    yield f"target of {words}", _overall(samples, base) * (1 - 1e-7), target, math.inf
    yield f"{words}, overall delta of fewer", target, _overall(round(samples * 0.98), base), 1.0


def _deltas(random):
    """Compare deltas of Gaussian losses with exact numbers, and of a few losses with sums."""
    for _ in range(3):
        sigma = random.uniform(0.5, 3)
        epsilon = random.uniform(0, 1) / sigma
        middle = 0.5 / sigma**2
        exact, words = gaussian_delta(sigma, epsilon), f"noise {sigma!r}, epsilon {epsilon!r}"
        losses = stats.norm.ppf((np.arange(_STRATA) + 0.5) / _STRATA, middle, 1 / sigma)
        found = delta_calculation.delta_from_epsilon_and_samples(epsilon, losses)
        yield (f"losses of a Gaussian, {words}", *near(found, exact, 0.0, 1 / _STRATA))
        grid = np.linspace(middle - 9 / sigma, middle + 9 / sigma, _STRATA)
        counts = random.uniform(2, 9) * stats.norm.pdf(grid, middle, 1 / sigma)
        found = delta_calculation.delta_from_epsilon_and_samples(epsilon, grid, counts)
        yield (f"densities of a Gaussian, {words}", *near(found, exact, 0.0, 1 / _STRATA))
        few, weights = [random.uniform(-3, 5) for _ in range(7)], [random.randint(1, 9) for _ in range(7)]
        excess = math.fsum(w * max(0.0, 1 - math.exp(epsilon - x)) for w, x in zip(weights, few, strict=True))
        found = delta_calculation.delta_from_epsilon_and_samples(epsilon, few, weights)
        yield (f"losses {few!r}, {weights}, {words}", *near(found, excess / sum(weights)))


def _losses(delta, samples):
    """Return losses, and how often there is each, whose excess over an epsilon is delta."""
    return [_LOST, _KEPT], [delta * samples, (1 - delta) * samples]


def _calibrations(random):
    """Check which of some parameters are accepted: those before the first with too large a delta, on either side."""
    epsilon, target = random.uniform(0.1, 5), 10 ** random.uniform(-5, -2)
    least = round(random.uniform(80, 400) / target)
    base = _base(least, target)
    number = random.randint(4, 6)
    for positive, negative in (
        (number, None),
        (random.randint(1, number - 1), None),
        (0, None),
        (random.randint(2, number - 1), 1),
        (number, random.randint(1, number - 1)),
        (number, 0),
        (1, number),
        (number, number),
    ):
        # the deltas of accepted parameters come again after the first that is not
        sides = {"positive": positive, "negative": negative}
        asked, fewest = {}, random.choice([side for side, place in sides.items() if place is not None])
        for side, failing in sides.items():
            if failing is None:
                continue
            shares = [
                random.uniform(1.1, 2) if place == failing else random.uniform(0.2, 0.9) for place in range(number)
            ]
            counts = [random.randint(least, 2 * least) for _ in range(number)]
            if side == fewest:
                counts[random.randrange(number)] = least
            made = [_losses(share * base, count) for share, count in zip(shares, counts, strict=True)]
            asked[f"{side}_samples"], asked[f"{side}_counts"] = map(list, zip(*made, strict=True))
        passed, found = delta_calculation.perform_calibration_from_samples(epsilon, target, **asked)
        first = min(place for place in sides.values() if place is not None)
        words = f"perform_calibration_from_samples({epsilon!r}, {target!r}, {asked})"
        yield (f"{words}, passed", *near(passed, float(first > 0)))
        if first:
            yield (f"{words}, place", *near(found, first - 1))
        else:
            yield f"{words}, delta to fall back on", base * 0.99, found, base * (1 + 1e-6)


def _uncounted(random):
    """Check the same for samples without counts, which are one each; the parameter with the fewest samples counts."""
    target, samples = random.uniform(0.01, 0.03), random.randint(9000, 12_000)
    base, epsilon = _base(samples, target), random.uniform(0.1, 5)
    sweep = []
    for share, size in ((0.5, 2 * samples), (0.8, samples), (1.2, 3 * samples), (0.3, 2 * samples)):
        sweep.append(np.where(np.arange(size) < share * base * size, _LOST, _KEPT))
    for order, accepted in (((0, 1, 2, 3), 1), ((3, 0, 1), 2), ((3, 1, 2), 1)):
        found = delta_calculation.perform_calibration_from_samples(
            epsilon, target, positive_samples=[sweep[place] for place in order]
        )
        words = f"{samples} samples, delta {target!r}, order {order}"
        yield (f"{words}, passed", *near(found[0], 1.0))
        yield (f"{words}, place", *near(found[1], accepted))


def monte_carlo_relations():
    """Yield the relations of deltas that are found from samples."""
    bounds = "bounds are those of Chernoff"
    yield Relations(
        "monte_carlo, deltas",
        {
            **divided(_bounds, bounds, "no lower delta or fewer samples meet a target", "get_overall_delta", "target"),
            "deltas are those of the losses": _deltas,
            "the last accepted parameter is chosen": _calibrations,
            "samples without counts are one each": _uncounted,
        },
        understated=[bounds],
    )


def monte_carlo_refusals():
    """Yield invalid calls of the functions of deltas."""
    nan, functions = math.nan, delta_calculation
    losses = {"positive_samples": [[1.0, 2.0]] * 2}
    yield Nonsense(
        "monte_carlo, deltas, refusals",
        {
            "get_overall_delta, base_delta=0": lambda: functions.get_overall_delta(100, 0.0),
            "get_overall_delta, base_delta=1.5": lambda: functions.get_overall_delta(100, 1.5),
            "get_overall_delta, num_samples=0": lambda: functions.get_overall_delta(0, 0.1),
            "get_base_delta, target_delta=1.5": lambda: functions.get_base_delta(100, 1.5),
            "get_base_delta, too few samples": lambda: functions.get_base_delta(3, 1e-6),
            "minimum_samples_to_calibrate, target_delta=base_delta": lambda: functions.minimum_samples_to_calibrate(
                0.1, 0.1
            ),
            "delta_from_epsilon_and_samples, epsilon=-1": lambda: functions.delta_from_epsilon_and_samples(
                -1.0, [1.0]
            ),
            "delta_from_epsilon_and_samples, a count is missing": lambda: functions.delta_from_epsilon_and_samples(
                1.0, [1.0, 2.0], [1.0]
            ),
            "perform_calibration_from_samples, none": lambda: functions.perform_calibration_from_samples(
                1.0, 0.1, positive_samples=[]
            ),
            "perform_calibration_from_samples, a side is short": lambda: functions.perform_calibration_from_samples(
                1.0, 0.1, **losses, negative_samples=[[1.0]]
            ),
            "perform_calibration_from_samples, delta=nan": lambda: functions.perform_calibration_from_samples(
                1.0, nan, **losses
            ),
        },
    )
