"""The unified filter on Brownian paths of the real sessions: at exhaustion the privacy loss is N(rho, 2 rho).

An adaptive analyst runs noise reduction at least four times, with up to three looks each. Grids, stopping rules and
queries depend on all that was released; the last run spends what is left. However she chooses, the loss between an
answer and one that is 1 larger is N(rho, 2 rho) exactly (Rogers and others 2023, Lem 6.2 and Thm 6). The empirical
distribution of independent paths is held against it by the inequality of Dvoretzky, Kiefer, Wolfowitz and Massart.
"""

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import norm

from dpassay.impl.accounting.filters import NoiseReductionOffer, UnifiedFilter
from dpassay.impl.mechanisms.brownian_noise_reduction import BrownianRun

RHO, PATHS, FALSE_ALARM = 1.5, 2000, 1e-10
FARTHEST = math.sqrt(math.log(2 / FALSE_ALARM) / (2 * PATHS))
"""How far the empirical distribution function is from the true one, except with the probability of a false alarm."""

Stop = Callable[[float], bool]


def run_once(answer: float, precisions: list[float], stop: Stop, rng: np.random.Generator) -> tuple[float, float]:
    """Refine along a grid until the rule stops; return the last release and the precision 1/time there."""
    run = BrownianRun(answer, rng)
    for precision in precisions:
        if stop(float(run.refine(1 / precision))):
            break
    assert run.value is not None
    return float(run.value), 1 / run.time


def one_path(rng: np.random.Generator) -> tuple[float, int]:
    """Return the privacy loss of a whole interaction against answers that are 1 larger, and the number of runs."""
    budget, loss, last, runs = UnifiedFilter(RHO), 0.0, 0.0, 0
    while not runs or budget.precision_left > 0:
        left = budget.precision_left
        share = 1.0 if runs >= 4 else 0.5 if last > 0.5 else 0.25
        answer = round(last)  # the next query, too, depends on the past
        looks = [0.2, 0.6, 1.0] if last > answer else [0.5, 1.0]
        stop: Stop = (lambda y: y > 0.5) if runs % 2 else (lambda y: abs(y) < 1)
        end = share * left
        offer = NoiseReductionOffer.of_time(1 / end)
        while budget.would_exceed(offer):  # 1/(1/u) may be the next float
            end = math.nextafter(end, 0)
            offer = NoiseReductionOffer.of_time(1 / end)
        grid = [end] if share == 1 else [part * end for part in looks[:-1]] + [end]
        last, reached = run_once(answer, grid, stop, rng)
        budget.spend(offer, min(reached, offer.precision))
        loss += reached * (1 - 2 * (last - answer)) / 2
        runs += 1
        if share == 1:
            break
    return loss, runs


def distance(rho: float) -> float:
    """Return the largest distance of the distribution of the losses from N(rho, 2 rho)."""
    rng = np.random.default_rng(20230601)
    paths = [one_path(rng) for _ in range(PATHS)]
    assert min(runs for _, runs in paths) >= 4
    losses = np.sort([loss for loss, _ in paths])
    known = norm.cdf(losses, rho, math.sqrt(2 * rho))
    steps = np.arange(PATHS + 1) / PATHS
    return float(max(np.max(known - steps[:-1]), np.max(steps[1:] - known)))


def test_the_loss_at_exhaustion_is_normal() -> None:
    assert distance(RHO) <= FARTHEST


def test_half_of_the_charge_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    right = NoiseReductionOffer.cost
    monkeypatch.setattr(NoiseReductionOffer, "cost", lambda self, precision: right(self, precision) / 2)
    assert distance(RHO) > FARTHEST
