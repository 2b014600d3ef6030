"""The exact bounds against quadrature in ball arithmetic: within 1e-9, and never below."""

from collections.abc import Callable
from itertools import pairwise

import flint
import numpy as np
import pytest
from flint import acb, arb
from scipy.special import log_ndtr

from dpassay.impl.accounting.above_threshold import (
    gaussian_above_threshold_all_below_loss,
    gaussian_above_threshold_loss,
)
from dpassay.impl.accounting.noisy_max import gaussian_noisy_max_epsilon

BITS = 300
NARROW = 2.0**-40  # relative width that a reference must have to count


@pytest.fixture(autouse=True)
def precision(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flint.ctx, "prec", BITS)


def log_expectation(p: int, a: arb, b: arb, q: int, c: arb, e: arb) -> arb:
    """Enclose log E[Phi(a + b x)^p Phi(c - e x)^q] but for truncation, which is e^-150 of it."""
    fa, fb, fc, fe = (float(v.mid()) for v in (a, b, c, e))

    def log_f(x: float) -> float:
        return -x * x / 2 + p * float(log_ndtr(fa + fb * x)) + q * float(log_ndtr(fc - fe * x))

    low, high = -1e8, 1e8
    for _ in range(200):
        third = (high - low) / 3
        low, high = (low + third, high) if log_f(low + third) < log_f(high - third) else (low, high - third)
    mode = (low + high) / 2

    def edge(side: float) -> float:
        inner, outer = 0.0, 20.0
        for _ in range(40):
            middle = (inner + outer) / 2
            inner, outer = (inner, middle) if log_f(mode) - log_f(mode + side * middle) > 150 else (middle, outer)
        return mode + side * outer

    def f(z: acb, _: bool) -> acb:
        root = arb(2).sqrt()
        return (-z * z / 2).exp() * ((-a - b * z) / root).erfc() ** p * ((e * z - c) / root).erfc() ** q

    cuts = np.linspace(edge(-1), edge(1), 9)
    tolerance = arb(2) ** int((log_f(mode) + (p + q) * np.log(2)) / np.log(2) - 140)
    cells = [
        acb.integral(f, acb(float(u)), acb(float(v)), rel_tol=arb(2) ** -110, abs_tol=tolerance, eval_limit=100_000)
        for u, v in pairwise(cuts)
    ]
    return sum(cells, acb(0)).real.log()


def noisy_max(d: int, sigma: arb, width: arb, step: arb) -> arb:
    gap, one, zero = width / sigma, arb(1), arb(0)
    lift = 2 * step / sigma
    return log_expectation(d - 1, lift - gap, one, 0, zero, zero) - log_expectation(d - 1, -gap, one, 0, zero, zero)


def halted(t: int, rho: arb, x: arb, z: arb, low: arb, high: arb, step: arb) -> arb:
    lifted = log_expectation(t - 1, (rho - high + step) / z, x / z, 1, (low - rho + step) / z, x / z)
    return lifted - log_expectation(t - 1, (rho - high) / z, x / z, 1, (low - rho) / z, x / z)


def all_below(k: int, rho: arb, x: arb, z: arb, _: arb, high: arb, step: arb) -> arb:
    zero = arb(0)
    lifted = log_expectation(k, (rho - high + step) / z, x / z, 0, zero, zero)
    return lifted - log_expectation(k, (rho - high) / z, x / z, 0, zero, zero)


def assert_just_above(bound: float, truth: arb) -> None:
    assert float(truth.rel_accuracy_bits()) > -np.log2(NARROW), "the reference itself is too wide"
    excess = arb(bound) / truth - 1
    assert excess > 0
    assert excess < 1e-9


@pytest.mark.parametrize("seed", range(20))
def test_noisy_max_over_the_whole_domain(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size, sigma, step = int(10 ** rng.uniform(0.31, 6)), 10 ** rng.uniform(-3, 3), 10 ** rng.uniform(-6, 0)
    bound = float(gaussian_noisy_max_epsilon(size, sigma, 1.0, step))
    assert_just_above(bound, noisy_max(size, arb(sigma), arb(1), arb(step)))


@pytest.mark.parametrize("corner", [(2, 1e-3, 1e-6), (1_000_000, 1e-3, 1e-6), (2, 1e3, 1.0), (1_000_000, 1e3, 1e-6)])
def test_noisy_max_at_the_corners(corner: tuple[int, float, float]) -> None:
    size, sigma, step = corner
    bound = float(gaussian_noisy_max_epsilon(size, sigma, 1.0, step))
    assert_just_above(bound, noisy_max(size, arb(sigma), arb(1), arb(step)))


@pytest.mark.parametrize(
    ("bound", "truth"),
    [(gaussian_above_threshold_loss, halted), (gaussian_above_threshold_all_below_loss, all_below)],
)
@pytest.mark.parametrize("seed", range(16))
def test_above_threshold_over_the_whole_domain(
    seed: int, bound: Callable[..., np.ndarray], truth: Callable[..., arb]
) -> None:
    rng = np.random.default_rng(100 + seed)
    low = float(rng.normal())
    high = low + 10 ** rng.uniform(-3, 3)
    width = high - low
    rho = low + width * float(rng.choice([rng.uniform(-0.5, 1.5), 0.0, 1.0]))
    noises = width * 10 ** rng.uniform(-2.5, 2.5, 2)
    real = (rho, float(noises[0]), float(noises[1]), low, high, width * 10 ** rng.uniform(-6, -0.01))
    time = int(10 ** rng.uniform(0, 6)) if seed else 1
    assert_just_above(float(bound(time, *real)), truth(time, *(arb(v) for v in real)))
