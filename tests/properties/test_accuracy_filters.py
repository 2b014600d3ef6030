"""The filters of accuracy-first privacy, driven at random against exact models, and models against the rules of spec.

The models are sums of rationals and the inequality of the theorem decided by balls. An implementation may refuse a
little early, by a relative 2^-40 of the budget; it must never admit what the model refuses.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from dpassay.impl.accounting.filters import (
    BudgetExceeded,
    ConcentratedOffer,
    ExPostFilter,
    ExPostOffer,
    NoiseReductionOffer,
    TwoBudgetFilter,
    UnifiedFilter,
    ZCDPFilter,
)
from dpassay.impl.accounting.zcdp_budget import epsilon_of_rho, largest_rho
from dpassay.impl.mechanisms.doubling import RelativeError
from dpassay.spec.ball import ball, precision
from dpassay.spec.interactions.budget_rules import concentrated_epsilon
from dpassay.spec.theorems.accuracy_first.relative_error import stops

EARLY = 1 - Fraction(1, 2**40)
SHARES = st.one_of(st.floats(0, 1.2), st.sampled_from([1.0, 0.5, 0.25, 1 + 2**-52, 2**-60]))
DELTAS = st.one_of(st.sampled_from([0.0, 0.125, 0.01, 1e-12, 1e-300]), st.floats(0, 0.2))
SLACKS = st.sampled_from([1e-5, 0.01, 0.5, 1e-300, 0.999])


def within(rho: Fraction, epsilon: Fraction, slack: float) -> bool:
    """Decide rho + 2 sqrt(rho log(1/slack)) <= epsilon."""
    if not rho:
        return True
    with precision(400):
        needed, allowed = concentrated_epsilon(ball(rho), ball(Fraction(slack))), ball(epsilon)
        assert needed <= allowed or needed > allowed
        return bool(needed <= allowed)


@settings(max_examples=60, deadline=None)
@given(st.floats(1e-9, 1e6), st.floats(1e-300, 0.999))
def test_the_largest_rho_is_on_the_safe_side_and_close(epsilon: float, slack: float) -> None:
    rho = Fraction(largest_rho(epsilon, slack))
    assert within(rho, Fraction(epsilon), slack)
    assert not within(rho * (1 + Fraction(1, 2**44)), Fraction(epsilon), slack)
    assert not within(rho, Fraction(epsilon_of_rho(float(rho), slack)) * (1 - Fraction(1, 2**44)), slack)
    assert within(rho, Fraction(epsilon_of_rho(float(rho), slack)), slack)


class UnifiedMachine(RuleBasedStateMachine):
    """Concentrated mechanisms and noise reduction on one exact budget of rho."""

    make: Any = UnifiedFilter

    @initialize(rho=st.sampled_from([1.0, 0.1, 1e-9, 17.3]), delta=DELTAS)
    def begin(self, rho: float, delta: float) -> None:
        self.real = type(self).make(rho, delta)
        self.rho, self.delta = Fraction(rho), Fraction(delta)
        self.spent, self.deltas = Fraction(0), Fraction(0)

    def attempt(self, offer: Any, charge: float, cost: Fraction, fits: bool) -> None:
        assert self.real.would_exceed(offer) == (not fits)
        before = self.real.remaining
        if fits:
            self.real.spend(offer, charge)
            self.spent += cost
            return
        with pytest.raises(BudgetExceeded) as refusal:
            self.real.spend(offer, charge)
        assert refusal.value.remaining == before == self.real.remaining

    @rule(share=SHARES, delta=DELTAS)
    def concentrated(self, share: float, delta: float) -> None:
        offer = ConcentratedOffer(share * self.real.remaining.rho, delta)
        rho = Fraction(offer.rho)
        fits = self.spent + rho <= self.rho and self.deltas + Fraction(delta) <= self.delta
        self.attempt(offer, math.nan, rho, fits)
        self.deltas += Fraction(delta) * fits

    @rule(share=SHARES, stop=st.floats(2**-20, 1), sensitivity=st.sampled_from([1.0, 0.5, 3.0]))
    def noise_reduction(self, share: float, stop: float, sensitivity: float) -> None:
        grid = share * 2 * self.real.remaining.rho / sensitivity**2
        if not grid > 1e-250:
            return
        offer = NoiseReductionOffer(grid, sensitivity)
        unit = Fraction(sensitivity) ** 2 / 2
        fits = self.spent + unit * Fraction(grid) <= self.rho
        self.attempt(offer, stop * grid, unit * Fraction(stop * grid), fits)

    @rule()
    def all_that_is_left_fits(self) -> None:
        left = self.real.remaining
        assert not self.real.would_exceed(ConcentratedOffer(left.rho, left.delta))

    @invariant()
    def never_overspent(self) -> None:
        assert self.spent <= self.rho
        assert self.deltas <= self.delta
        left = self.real.remaining
        assert 0 <= Fraction(left.rho) <= self.rho - self.spent
        assert Fraction(left.rho) >= (self.rho - self.spent) * EARLY
        assert 0 <= Fraction(left.delta) <= self.delta - self.deltas


class ZCDPMachine(RuleBasedStateMachine):
    """The filter of Thm 2 against its inequality, decided by balls."""

    make: Any = ZCDPFilter

    @initialize(epsilon=st.sampled_from([1.0, 0.1, 10.0, 1e-3, 300.0]), slack=SLACKS, delta=DELTAS)
    def begin(self, epsilon: float, slack: float, delta: float) -> None:
        self.real = type(self).make(epsilon, slack, delta)
        self.epsilon, self.slack, self.delta = Fraction(epsilon), slack, Fraction(delta)
        self.spent, self.deltas = Fraction(0), Fraction(0)

    @rule(share=SHARES, delta=DELTAS)
    def run(self, share: float, delta: float) -> None:
        offer = ConcentratedOffer(share * self.real.remaining.rho, delta)
        rho, deltas = self.spent + Fraction(offer.rho), self.deltas + Fraction(delta)
        before = self.real.remaining
        if self.real.would_exceed(offer):
            assert deltas > self.delta or not within(rho, self.epsilon * EARLY, self.slack)
            with pytest.raises(BudgetExceeded):
                self.real.spend(offer)
            assert self.real.remaining == before
        else:
            assert deltas <= self.delta
            assert within(rho, self.epsilon, self.slack)
            self.real.spend(offer)
            self.spent, self.deltas = rho, deltas


class ExPostMachine(RuleBasedStateMachine):
    """The filter of Lemma 5.2, and beside it the one of Thm 3 that contains it."""

    make: Any = ExPostFilter

    @initialize(epsilon=st.sampled_from([1.0, 0.3, 20.0]), delta=DELTAS)
    def begin(self, epsilon: float, delta: float) -> None:
        self.real = type(self).make(epsilon, delta)
        self.both = TwoBudgetFilter(ZCDPFilter(1.0, 1e-5), type(self).make(epsilon, delta))
        self.epsilon, self.delta = Fraction(epsilon), Fraction(delta)
        self.spent, self.deltas = Fraction(0), Fraction(0)

    @rule(share=SHARES, part=st.floats(0, 1), delta=DELTAS)
    def run(self, share: float, part: float, delta: float) -> None:
        offer = ExPostOffer(share * max(0.0, self.real.remaining.epsilon), delta)
        loss = part * offer.epsilon
        fits = self.spent + Fraction(offer.epsilon) <= self.epsilon and self.deltas + Fraction(delta) <= self.delta
        before = self.real.remaining
        assert self.real.would_exceed(offer) == self.both.would_exceed(offer) == (not fits)
        if fits:
            self.real.spend(offer, loss)
            self.both.spend(offer, loss)
            self.spent, self.deltas = self.spent + Fraction(loss), self.deltas + Fraction(delta)
        else:
            with pytest.raises(BudgetExceeded):
                self.real.spend(offer, loss)
            assert self.real.remaining == before

    @invariant()
    def never_overspent(self) -> None:
        assert self.spent <= self.epsilon
        assert self.deltas <= self.delta
        assert self.real.remaining == self.both.remaining.ex_post


TestUnifiedFilter = UnifiedMachine.TestCase
TestZCDPFilter = ZCDPMachine.TestCase
TestExPostFilter = ExPostMachine.TestCase
TestUnifiedFilter.settings = settings(max_examples=40, stateful_step_count=15, deadline=None)
TestZCDPFilter.settings = settings(max_examples=40, stateful_step_count=15, deadline=None)
TestExPostFilter.settings = settings(max_examples=40, stateful_step_count=15, deadline=None)


class LooksBackOnly(ExPostFilter):
    def would_exceed(self, offer: ExPostOffer) -> bool:
        return super().would_exceed(ExPostOffer(0.0, offer.delta))


class RestoresAfterRefusal(ExPostFilter):
    def would_exceed(self, offer: ExPostOffer) -> bool:
        refused = super().would_exceed(offer)
        if refused:
            self._spent = Fraction(0)
        return refused


class FloatSums(UnifiedFilter):
    """Sums in float64: the rounding lets a little too much through, or refuses what fits."""

    def would_exceed(self, offer: ConcentratedOffer | NoiseReductionOffer) -> bool:
        cost = offer.cost(offer.precision) if isinstance(offer, NoiseReductionOffer) else Fraction(offer.rho)
        return float(self._spent) + float(cost) > self.rho


class ChargesTheGrid(UnifiedFilter):
    def spend(self, offer: ConcentratedOffer | NoiseReductionOffer, loss: float = math.nan) -> None:
        super().spend(offer, offer.precision if isinstance(offer, NoiseReductionOffer) else loss)


class WithoutRoot(ZCDPFilter):
    def __init__(self, epsilon: float, delta_slack: float, delta_mechanisms: float = 0.0) -> None:
        super().__init__(epsilon, delta_slack, delta_mechanisms)
        self.rho = epsilon


class WasteHalf(ZCDPFilter):
    def __init__(self, epsilon: float, delta_slack: float, delta_mechanisms: float = 0.0) -> None:
        super().__init__(epsilon, delta_slack, delta_mechanisms)
        self.spend(ConcentratedOffer(self.rho / 2))


@pytest.mark.parametrize(
    ("machine", "mutant"),
    [
        (ExPostMachine, LooksBackOnly),
        (ExPostMachine, RestoresAfterRefusal),
        (UnifiedMachine, FloatSums),
        (UnifiedMachine, ChargesTheGrid),
        (ZCDPMachine, WithoutRoot),
        (ZCDPMachine, WasteHalf),
    ],
)
def test_the_machines_catch_broken_filters(machine: type[RuleBasedStateMachine], mutant: type) -> None:
    broken = type("BrokenMachine", (machine,), {"make": mutant})
    quick = settings(
        max_examples=200, deadline=None, database=None, phases=(Phase.generate,), report_multiple_bugs=False
    )
    with pytest.raises((AssertionError, BudgetExceeded, pytest.fail.Exception)):
        run_state_machine_as_test(broken, settings=quick)


@settings(max_examples=100, deadline=None)
@given(st.fractions(-400, 400), st.fractions(Fraction(1, 100), 10), st.sampled_from(["1/10", "1/2", "1/100"]))
def test_the_rule_that_runs_is_the_printed_one(noisy: Fraction, deviation: Fraction, accuracy: str) -> None:
    value, scale, wanted = float(noisy), float(deviation), float(Fraction(accuracy))
    exact = stops(Fraction(value), Fraction(scale), Fraction(wanted))
    margin = abs(abs(value) / scale * wanted - (2 + wanted)), abs(abs(value) / scale * wanted - (2 - wanted))
    if min(margin) > 1e-9:
        assert bool(RelativeError(wanted).content(np.array([scale]), np.array([value]))[0]) == exact
