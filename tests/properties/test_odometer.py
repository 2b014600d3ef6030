"""The odometer against interactions of many rounds, by simulation (false alarms below 1e-10 for each test), and driven
at random against an exact model.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from numpy.typing import NDArray
from scipy.special import ndtri

from dpassay.impl.accounting.filters import BudgetExceeded, ConcentratedOffer, NoiseReductionOffer
from dpassay.impl.accounting.odometers import Odometer, half_normal_boundary
from dpassay.impl.mechanisms.brownian_noise_reduction import BrownianRun, brownian_noise
from dpassay.properties.betting.intervals import clopper_pearson
from dpassay.spec.theorems.accuracy_first.odometer import odometer_reading

Array = NDArray[np.float64]
ALPHA = 1e-10
RUNS, DELTA = 40_000, 0.05
LOOKS = np.geomspace(0.05, 500.0, 60)
"""Information at which the analyst looks; stopping there is what every sequence of rounds comes down to."""


def losses(seed: int) -> Array:
    """Draw the losses of queries that move by 1, at all looks: u/2 + W(u)."""
    noise = brownian_noise(1 / LOOKS, RUNS, np.random.default_rng(seed))[..., 0]
    return LOOKS * (0.5 + noise)


def crossed(reading: Array, seed: int) -> tuple[float, float]:
    """Return an interval for the probability that the loss reaches the reading at some look."""
    count = int((losses(seed) >= reading).any(axis=1).sum())
    return clopper_pearson(count, RUNS, 1 - ALPHA)


@pytest.mark.parametrize("tuning", [0.1, 1.0, 30.0])
def test_the_reading_is_kept_at_all_times(tuning: float) -> None:
    reading = LOOKS / 2 + half_normal_boundary(LOOKS, tuning, DELTA)
    low, high = crossed(reading, seed=1)
    assert low <= DELTA
    assert high > DELTA / 4  # nor is it idle: with more looks the probability tends to DELTA


def test_a_quantile_for_a_fixed_time_is_not() -> None:
    low, _ = crossed(LOOKS / 2 - np.sqrt(LOOKS) * ndtri(DELTA), seed=2)
    assert low > 2 * DELTA


def test_the_printed_bound_of_thm_5_is_not() -> None:
    low, _ = crossed(np.sqrt((LOOKS + 1) * np.log((LOOKS + 1) / DELTA**2)), seed=3)
    assert low > 0.9


def test_an_analyst_who_refines_while_the_odometer_allows_it() -> None:
    """Rounds are run online: refine while the reading after the step stays below a limit, then take the next query."""
    rng, limit = np.random.default_rng(5), 6.0
    odometer = Odometer(delta=1e-3, tuning=1.0, limit=limit)
    rounds = 0
    while not odometer.would_exceed(ConcentratedOffer(0.05)):
        run = BrownianRun(float(rounds), rng)
        for time in (10.0, 5.0, 2.0, 1.0):
            if odometer.would_exceed(NoiseReductionOffer.of_time(time)):
                break
            run.refine(time)
        odometer.spend(NoiseReductionOffer.of_time(run.time), run.precision)
        rounds += 1
        assert odometer.reading <= limit
    assert rounds >= 1
    assert odometer.reading_after(0.05) > limit


# --- the object, driven at random ---------------------------------------------------------------------------

CLOSE = 1 - 2.0**-40


class OdometerMachine(RuleBasedStateMachine):
    """The odometer with a limit against the enclosed reading of an exact V."""

    make: Any = Odometer

    @initialize(
        delta=st.sampled_from([0.1, 1e-6]), tuning=st.sampled_from([1.0, 0.01]), limit=st.sampled_from([12.0, 40.0])
    )
    def begin(self, delta: float, tuning: float, limit: float) -> None:
        self.real = type(self).make(delta, tuning, limit)
        self.delta, self.tuning, self.limit = Fraction(delta), Fraction(tuning), limit
        self.information = Fraction(0)

    def attempt(self, offer: Any, loss: float, dearest: Fraction, charged: Fraction) -> None:
        before = self.real.information
        if self.real.would_exceed(offer):
            assert self.truth(self.information + dearest) > self.limit * CLOSE
            with pytest.raises(BudgetExceeded):
                self.real.spend(offer, loss)
            assert self.real.information == before
        else:
            assert self.truth(self.information + dearest) <= self.limit
            self.real.spend(offer, loss)
            self.information += charged

    def truth(self, information: Fraction) -> Any:
        return odometer_reading(information, self.tuning, self.delta) if information else 0

    @rule(share=st.sampled_from([0.1, 0.5, 1.0, 1 + 1e-9, 2.0]))
    def concentrated(self, share: float) -> None:
        offer = ConcentratedOffer(share * self.real.remaining.rho)
        self.attempt(offer, 0.0, 2 * Fraction(offer.rho), 2 * Fraction(offer.rho))

    @rule(share=st.sampled_from([0.1, 0.9, 1.1]), stop=st.sampled_from([2.0**-10, 0.5, 1.0]))
    def noise_reduction(self, share: float, stop: float) -> None:
        grid = share * 2 * self.real.remaining.rho / 9
        if grid > 1e-9:
            offer, ended = NoiseReductionOffer(grid, 3.0), stop * grid
            self.attempt(offer, ended, 9 * Fraction(grid), 9 * Fraction(ended))

    @invariant()
    def reads_the_truth_and_keeps_the_limit(self) -> None:
        assert self.truth(self.information) <= self.real.reading <= self.limit
        assert self.truth(self.information) >= self.real.reading * CLOSE
        assert not self.real.would_exceed(ConcentratedOffer(self.real.remaining.rho))


TestOdometer = OdometerMachine.TestCase
TestOdometer.settings = settings(max_examples=8, stateful_step_count=10, deadline=None)


class LooksBackOnly(Odometer):
    def would_exceed(self, offer: ConcentratedOffer | NoiseReductionOffer) -> bool:  # noqa: ARG002  # that is the fault
        return self.reading > self.limit


class ChargesTheGrid(Odometer):
    def spend(self, offer: ConcentratedOffer | NoiseReductionOffer, loss: float = math.nan) -> None:
        super().spend(offer, offer.precision if isinstance(offer, NoiseReductionOffer) else loss)


class CountsRhoOnce(Odometer):
    def spend(self, offer: ConcentratedOffer | NoiseReductionOffer, loss: float = math.nan) -> None:
        super().spend(offer, loss)
        self._information -= offer.charge(loss)


@pytest.mark.parametrize("mutant", [LooksBackOnly, ChargesTheGrid, CountsRhoOnce])
def test_the_machine_catches_broken_odometers(mutant: type[Odometer]) -> None:
    broken = type("BrokenMachine", (OdometerMachine,), {"make": mutant})
    quick = settings(
        max_examples=60, deadline=None, database=None, phases=(Phase.generate,), report_multiple_bugs=False
    )
    with pytest.raises((AssertionError, BudgetExceeded, pytest.fail.Exception)):
        run_state_machine_as_test(broken, settings=quick)
