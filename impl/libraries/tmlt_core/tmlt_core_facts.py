"""Facts about Tumult Core that need no samples: losses, budgets, quantiles of noise, and draws from given random bits.

A draw becomes a number of its random bits once the generator of the library is replaced by a list of numbers. It is
then compared with the quantile function of its noise, or, for a selection, with the largest of the noisy scores.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pandas as pd
from tmlt.core.domains.numpy_domains import NumpyFloatDomain
from tmlt.core.domains.pandas_domains import PandasSeriesDomain
from tmlt.core.measurements import noise_mechanisms
from tmlt.core.measurements.composition import Composition
from tmlt.core.measurements.converters import PureDPToApproxDP, PureDPToRhoZCDP, RhoZCDPToApproxDP
from tmlt.core.measurements.pandas_measurements.series import AddNoiseToSeries, NoisyQuantile
from tmlt.core.measures import (
    ApproxDP,
    ApproxDPBudget,
    InsufficientBudgetError,
    PureDP,
    PureDPBudget,
    RhoZCDP,
    RhoZCDPBudget,
)
from tmlt.core.random import rng
from tmlt.core.utils.parameters import calculate_noise_scale
from tmlt_core_bits import drawing, gaussian_quantile, laplace_quantile
from tmlt_core_numbers import agrees, exactly, protected

from dpassay.adapter import Relations
from dpassay.impl.libraries.refusing import raises

__all__ = ["facts_of_the_library"]

_HALF = Fraction(1, 2)
_SIZES = (Fraction(1, 3), Fraction(7, 2), Fraction(12))
_CLOSE = 1e-9
"""Relative difference of numbers that float64 rounds."""


def _laplace(scale):
    return noise_mechanisms.AddLaplaceNoise(NumpyFloatDomain(), scale)


def _gaussian(variance):
    return noise_mechanisms.AddGaussianNoise(NumpyFloatDomain(), variance)


# --- exact numbers -----------------------------------------------------------------------------------------------


def _each(*rows):
    """Return a relation of some comparisons, each of which is made when it is asked."""
    return lambda _random: (exactly("", found(), exact) for found, exact in rows)


def _states_losses(make, loss):
    """Return the comparison of losses that a measurement states with those of its noise, also without noise."""

    def compare(_random):
        for size, step in itertools.product(_SIZES, (1, 2, 5)):
            yield exactly(f"noise {size}, distance {step}", make(size).privacy_function(step), loss(size, step))
        for step, exact in ((0, 0), (1, float("inf"))):
            yield exactly(f"no noise, distance {step}", make(0).privacy_function(step), exact)

    return compare


def _losses():
    def linear(size, step):
        return Fraction(step) / size

    def squared(size, step):
        return Fraction(step) ** 2 / (2 * size)

    makers = {
        "AddLaplaceNoise": (_laplace, linear),
        "AddGeometricNoise": (noise_mechanisms.AddGeometricNoise, linear),
        "AddGaussianNoise": (_gaussian, squared),
        "AddDiscreteGaussianNoise": (noise_mechanisms.AddDiscreteGaussianNoise, squared),
    }
    losses = {name: _states_losses(make, loss) for name, (make, loss) in makers.items()}
    losses |= {
        f"AddNoiseToSeries of {name}": _states_losses(lambda size, m=make: AddNoiseToSeries(m(size)), loss)
        for name, (make, loss) in makers.items()
    }
    for epsilon, step in ((Fraction(3, 2), 1), (5, 2), (Fraction(1, 3), 4)):
        losses[f"NoisyQuantile, pure, {epsilon}, {step}"] = _each(
            (lambda e=epsilon, s=step: _quantile(0.3, e).privacy_function(s), epsilon * step)
        )
        losses[f"NoisyQuantile, zCDP, {epsilon}, {step}"] = _each(
            (
                lambda e=epsilon, s=step: _quantile(0.3, e, measure=RhoZCDP()).privacy_function(s),
                Fraction(epsilon * step) ** 2 / 8,
            )
        )
    return Relations("losses of noise and quantiles", losses, unsafe=dict.fromkeys(losses, "below"))


def _compositions():
    parts = [_laplace(2), _laplace(_HALF), _laplace(5)]
    whole = Composition(parts)
    concentrated = Composition([_gaussian(2), _gaussian(8), PureDPToRhoZCDP(_laplace(2))])
    mixed = Composition([PureDPToApproxDP(part) for part in parts])

    def hinted(*hint):
        return Composition([RhoZCDPToApproxDP(_gaussian(2)), RhoZCDPToApproxDP(_gaussian(8))], hint=lambda *_: hint)

    # rho is 1/4 and 1/16: the conversion gives epsilons below 3 and 1.6 at a delta of 1/1000, and above 2.8 and 1.3
    small = Fraction(1, 1000)
    good = hinted((3, small), (Fraction(8, 5), small))
    total, twice = Fraction(23, 5), 2 * small
    losses = {
        "pure": _each((lambda: whole.privacy_function(3), Fraction(3, 2) + 6 + Fraction(3, 5))),
        "zCDP": _each((lambda: concentrated.privacy_function(2), 1 + Fraction(1, 4) + _HALF)),
        "approximate": _each(
            (lambda: mixed.privacy_function(1)[0], _HALF + 2 + Fraction(1, 5)),
            (lambda: mixed.privacy_function(1)[1], 0),
        ),
    }
    too_small = {
        "a relation that does not": lambda: not whole.privacy_relation(1, Fraction(26, 10)),
        "hints that add up to more epsilon": lambda: not good.privacy_relation(1, (total - _HALF, twice)),
        "hints that add up to more delta": lambda: not good.privacy_relation(1, (total, small)),
        "a hint that the first part exceeds": lambda: (
            not hinted((2, small), (2, small)).privacy_relation(1, (total, twice))
        ),
        "a hint that the second part exceeds": lambda: (
            not hinted((3, small), (1, small)).privacy_relation(1, (total, twice))
        ),
    }
    return Relations(
        "losses of compositions",
        losses,
        {
            **too_small,
            "a relation that holds": lambda: whole.privacy_relation(1, Fraction(27, 10)),
            "answers of all parts": lambda: len(set(whole(1.0))) == len(parts),
            "hints that hold": lambda: good.privacy_relation(1, (total, twice)),
            "too few hints": lambda: raises(
                RuntimeError, lambda: hinted((3, small)).privacy_relation(1, (total, twice))
            ),
            "no measurements": lambda: raises(ValueError, lambda: Composition([])),
            "different measures": lambda: raises(Exception, lambda: Composition([_laplace(1), _gaussian(1)])),
            "different domains": lambda: raises(
                Exception, lambda: Composition([_laplace(1), noise_mechanisms.AddGeometricNoise(1)])
            ),
        },
        unsafe=dict.fromkeys([*losses, *too_small], "below"),
    )


def _conversions():
    concentrated = RhoZCDPToApproxDP(_gaussian(2))  # rho is 1/4
    # the exact epsilon of this noise at a delta of 1/1000 is about 2; rho + 2 sqrt(rho log(1/delta)) is 2.88
    small = Fraction(1, 1000)
    # at a rho of 50 the exact epsilon is above 79, and the conversion gives 87.2
    large = RhoZCDPToApproxDP(_gaussian(Fraction(1, 100)))
    half = _laplace(2)
    to_zcdp, to_approximate = PureDPToRhoZCDP(half), PureDPToApproxDP(half)
    losses = {
        "pure to zCDP": _each((lambda: to_zcdp.privacy_function(3), Fraction(9, 8))),
        "pure to approximate": _each(
            (lambda: to_approximate.privacy_function(3)[0], Fraction(3, 2)),
            (lambda: to_approximate.privacy_function(3)[1], 0),
        ),
    }
    too_small = {
        "pure to zCDP, one that does not": lambda: not to_zcdp.privacy_relation(1, Fraction(1, 9)),
        "pure to approximate, one that does not": lambda: not to_approximate.privacy_relation(1, (Fraction(1, 3), 0)),
        "zCDP to approximate, epsilon too small": lambda: (
            not concentrated.privacy_relation(1, (Fraction(3, 2), small))
        ),
        "zCDP to approximate, epsilon too small for a large rho": lambda: not large.privacy_relation(1, (79, small)),
        "zCDP to approximate, no delta": lambda: not concentrated.privacy_relation(1, (3, 0)),
    }
    return Relations(
        "losses of conversions",
        losses,
        {
            **too_small,
            "pure to zCDP, a relation that holds": lambda: to_zcdp.privacy_relation(1, Fraction(1, 8)),
            "pure to approximate, a relation that holds": lambda: to_approximate.privacy_relation(1, (_HALF, 0)),
            "zCDP to approximate, a relation that holds": lambda: concentrated.privacy_relation(1, (3, small)),
            "zCDP to approximate, a large rho": lambda: large.privacy_relation(1, (88, small)),
            "zCDP to approximate, a delta of 1": lambda: concentrated.privacy_relation(1, (0, 1)),
            "pure to zCDP of zCDP": lambda: raises(Exception, lambda: PureDPToRhoZCDP(_gaussian(1))),
            "pure to approximate of zCDP": lambda: raises(Exception, lambda: PureDPToApproxDP(_gaussian(1))),
            "zCDP to approximate of pure": lambda: raises(Exception, lambda: RhoZCDPToApproxDP(_laplace(1))),
        },
        understated=[*losses, *too_small],
    )


def _calibrations():
    scales = {
        "pure": _each((lambda: calculate_noise_scale(3, 2, PureDP()), Fraction(3, 2))),
        "zCDP": _each((lambda: calculate_noise_scale(3, 2, RhoZCDP()), Fraction(3, 2))),
        "zCDP, a small budget": _each((lambda: calculate_noise_scale(5, Fraction(1, 8), RhoZCDP()), 10)),
        "no budget": _each((lambda: calculate_noise_scale(1, 0, PureDP()), float("inf"))),
        "an infinite budget": _each((lambda: calculate_noise_scale(2, float("inf"), RhoZCDP()), 0)),
    }
    return Relations("scales of calibrations", scales, understated=[*scales])


def _allows(make, measure, values):
    """Return the comparison of what a budget allows to spend, and what it takes for it, on all pairs of values."""

    def compare(_random):
        for have, spent in itertools.product(values, repeat=2):
            words, allowed = f"{spent} of {have}", all(one <= other for one, other in zip(spent, have))
            state = agrees if allowed else protected
            yield state(f"compare, {words}", measure.compare(_value(spent), _value(have)) == allowed)
            refused = raises(InsufficientBudgetError, lambda h=have, s=spent: make(_value(h)).subtract(_value(s)))
            yield state(f"subtract, {words}", refused != allowed)
            if allowed and not refused:
                left = make(_value(have)).subtract(_value(spent)).value
                for one, exact, rest in zip(have, spent, left if len(have) > 1 else [left]):
                    yield exactly(f"taken, {words}", one - rest, exact)

    return compare


def _value(parts):
    return parts if len(parts) > 1 else parts[0]


def _budgets():
    numbers = [(Fraction(0),), (Fraction(1, 4),), (_HALF,), (Fraction(2),)]
    pairs = list(itertools.product((Fraction(1, 4), Fraction(2)), (Fraction(0), Fraction(1, 8), _HALF)))
    spent = {
        "pure": _allows(PureDPBudget, PureDP(), numbers),
        "zCDP": _allows(RhoZCDPBudget, RhoZCDP(), numbers),
        "approximate": _allows(ApproxDPBudget, ApproxDP(), pairs),
    }
    infinite = float("inf")
    return Relations(
        "budgets that are spent",
        spent,
        {
            "finite": lambda: all(
                budget.is_finite() for budget in (PureDPBudget(2), RhoZCDPBudget(2), ApproxDPBudget((2, _HALF)))
            ),
            "infinite": lambda: (
                not any(
                    budget.is_finite()
                    for budget in (
                        PureDPBudget(infinite),
                        RhoZCDPBudget(infinite),
                        ApproxDPBudget((infinite, 0)),
                        ApproxDPBudget((2, 1)),
                    )
                )
            ),
            "an infinite budget stays": lambda: PureDPBudget(infinite).subtract(5).value == infinite,
        },
        unsafe=dict.fromkeys(spent, "below"),
    )


# --- quantiles of noise ------------------------------------------------------------------------------------------


def _near(one, other):
    return one == other or math.isclose(one, other, rel_tol=_CLOSE, abs_tol=_CLOSE)


_FAR = 200
"""Integers beyond which the discrete noise of these facts has no mass that float64 shows."""


def _discrete_quantile(exponent, probability):
    """Return the least integer up to which the noise has a probability."""
    weights = [math.exp(exponent(k)) for k in range(-_FAR, _FAR + 1)]
    total, below = math.fsum(weights), 0.0
    for k, weight in zip(range(-_FAR, _FAR + 1), weights):
        below += weight / total
        if below >= probability:
            return k
    return _FAR


def _has_quantiles(owner, sizes, exact):
    ends = all(
        owner.inverse_cdf(size, 0) == -math.inf
        and owner.inverse_cdf(size, 1) == math.inf
        and raises(ValueError, lambda s=size: owner.inverse_cdf(s, -0.1))
        and raises(ValueError, lambda s=size: owner.inverse_cdf(s, 1.1))
        for size in sizes
    )
    probabilities = (0.0123, 0.21, 0.4, 0.6123, 0.9, 0.9987)
    inside = all(_near(owner.inverse_cdf(size, p), exact(size, p)) for size in sizes for p in probabilities)
    extreme = (
        owner.inverse_cdf(0, 0.3) == 0
        and owner.inverse_cdf(math.inf, 0.3) == -math.inf
        and owner.inverse_cdf(math.inf, 0.7) == math.inf
    )
    return ends and inside and extreme


def _quantiles_of_noise():
    return Relations(
        "quantiles of noise",
        {},
        {
            "Laplace": lambda: _has_quantiles(noise_mechanisms.AddLaplaceNoise, (0.25, 3.0), laplace_quantile),
            "geometric": lambda: _has_quantiles(
                noise_mechanisms.AddGeometricNoise,
                (0.75, 3.5),
                lambda scale, p: _discrete_quantile(lambda k: -abs(k) / scale, p),
            ),
            "discrete Gaussian": lambda: _has_quantiles(
                noise_mechanisms.AddDiscreteGaussianNoise,
                (0.5, 7.0),
                lambda variance, p: _discrete_quantile(lambda k: -(k**2) / (2 * variance), p),
            ),
        },
    )


# --- draws from given bits ---------------------------------------------------------------------------------------


def _follows_bits(make, exact):
    """Compare draws at given bits with the quantiles at the probabilities that they stand for."""
    for size, value, part in itertools.product((Fraction(1, 4), Fraction(9)), (-3.0, 40.0), (0.03, 0.37, 0.7, 0.995)):
        with drawing(part, 0.5):
            if not _near(make(size)(value), value + exact(float(size), part)):
                return False
    return True


def _quantile(quantile, epsilon, *, low=0.0, high=1.0, measure=None):
    return NoisyQuantile(PandasSeriesDomain(NumpyFloatDomain()), measure or PureDP(), quantile, low, high, epsilon)


_STEPS = 2**15
"""Values of the first random bits of a score."""

_DATASETS = ([], [4.0], [-9.0, -1.0, 2.0], [-2.0, -1.5, 3.0, 5.0, 6.5], [5.5, 6.0, 6.5, 6.9], [9.0, 9.0, -2.5, 11.0])


def _scores(data, quantile, epsilon, low, high):
    """Return the intervals between the records, with their scores before noise."""
    ends = sorted({low, high, *(value for value in data if low < value < high)})
    target, rate = quantile * len(data), epsilon / (2 * max(quantile, 1 - quantile))
    found = []
    for left, right in itertools.pairwise(ends):
        rank = sum(value <= left for value in data)
        found.append((left, right, math.log(right - left) - rate * abs(rank - target)))
    return found


def _selects(quantile, epsilon, *, seed):
    """Compare the selected interval with that of the largest noisy score, for given noise."""
    low, high = -3.0, 7.0
    measurement = _quantile(quantile, epsilon, low=low, high=high)
    generator = np.random.default_rng(seed)
    for data in _DATASETS:
        intervals = _scores(data, quantile, float(epsilon), low, high)
        for _ in range(4):
            parts = (generator.integers(1, _STEPS - 1, size=len(intervals)) + 0.5) / _STEPS
            noisy = [score - math.log(-math.log(part)) for (_, _, score), part in zip(intervals, parts)]
            best, *others = sorted(range(len(noisy)), key=lambda k: -noisy[k])
            if others and noisy[best] - noisy[others[0]] < 0.05:
                continue  # the further bits decide
            left, right, _ = intervals[best]
            with drawing(*([parts.tolist()] if others else []), 0.5):
                found = measurement(pd.Series(data, dtype=float))
            if not left <= found <= right:
                return False
    return True


def _draws_integers():
    """Compare integers beyond 63 bits with the bits that they are made of; one that is too large is drawn again."""
    stop = 5 * 2**62 + 3  # the first 63 bits, then two more
    top = 2**63
    first = Fraction(stop // 4 + 10, top)  # at least the end of the range
    with drawing(first, 0, Fraction(1, 8), Fraction(3, 4)) as bits:
        value = rng.RNGWrapper(bits).randrange(stop)
    again = len(bits.ranges) == 4
    return again and value == (top // 8 << 2) + 3 and bits.ranges == [top, 4, top, 4]


def _in_small_range():
    with drawing(0.0, 0.35, 0.999) as bits:
        wrapper = rng.RNGWrapper(bits)
        return [wrapper.randrange(10) for _ in range(3)] == [0, 3, 9] and bits.ranges == [10] * 3


def _draws():
    facts = {
        "AddLaplaceNoise": lambda: _follows_bits(_laplace, laplace_quantile),
        "AddGaussianNoise": lambda: _follows_bits(_gaussian, gaussian_quantile),
        "integers of a small range": _in_small_range,
        "integers beyond 63 bits": _draws_integers,
        "a quantile without records is uniform": lambda: all(_is_uniform(part) for part in (0.1, 0.6, 0.97)),
    }
    for seed, (quantile, epsilon) in enumerate(itertools.product((0.0, 0.3, 0.5, 0.9), (Fraction(1, 2), 3))):
        facts[f"NoisyQuantile({quantile}, epsilon={epsilon})"] = lambda q=quantile, e=epsilon, s=seed: _selects(
            q, e, seed=s
        )
    facts["a quantile without noise"] = lambda: all(
        low <= _quantile(q, float("inf"), low=0.0, high=10.0)(pd.Series([1.0, 2.0, 4.0, 7.0, 8.0])) <= high
        for q, low, high in ((0.2, 1.0, 2.0), (0.6, 4.0, 7.0), (0.8, 7.0, 8.0))
    )
    own = "every value of a series has noise of its own"
    facts[own] = lambda: all(
        len(set(AddNoiseToSeries(make)(pd.Series([value] * 12)).tolist())) > 3
        for make, value in (
            (_laplace(40), 1.0),
            (_gaussian(900), 1.0),
            (noise_mechanisms.AddGeometricNoise(40), 1),
            (noise_mechanisms.AddDiscreteGaussianNoise(900), 1),
        )
    )
    facts["values without noise"] = lambda: all(
        make(0)(value) == value
        for make, value in (
            (_laplace, 2.5),
            (_gaussian, 2.5),
            (noise_mechanisms.AddGeometricNoise, 3),
            (noise_mechanisms.AddDiscreteGaussianNoise, 3),
        )
    )
    return Relations("draws from given bits", {}, facts, unsafe={own: "either"})


def _is_uniform(part):
    with drawing(part, 0.5):
        return _near(_quantile(0.5, 1, low=-3.0, high=7.0)(pd.Series([], dtype=float)), -3 + 10 * part)


def facts_of_the_library():
    """Yield facts about the numbers of this library."""
    yield _losses()
    yield _compositions()
    yield _conversions()
    yield _calibrations()
    yield _budgets()
    yield _quantiles_of_noise()
    if hasattr(rng, "_core_privacy_prng"):
        yield _draws()
